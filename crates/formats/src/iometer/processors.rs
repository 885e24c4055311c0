//! Processor time of the machine, as a results file has it.

use record::Point;

use crate::point;

/// Processor time of this machine in per cent, while a point was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cpu {
    pub total: f64,
    pub user: f64,
    pub privileged: f64,
    pub interrupt: f64,
}

impl Cpu {
    /// Of all processors together; nothing where that was not watched.
    pub(super) fn of(point: &Point) -> Cpu {
        Cpu::named("cpu", point).unwrap_or_default()
    }

    /// From the series whose names begin so; `None` where there are none.
    pub(super) fn named(begins: &str, point: &Point) -> Option<Cpu> {
        let mean = |state: &str| point::mean_percent(point, &format!("{begins}.{state}"));
        let (user, system, irq) = (mean("user"), mean("system"), mean("irq"));
        if user.is_none() && system.is_none() && irq.is_none() {
            return None;
        }
        let (user, system, irq) = (user.unwrap_or(0.0), system.unwrap_or(0.0), irq.unwrap_or(0.0));
        Some(Cpu { total: user + system + irq, user, privileged: system, interrupt: irq })
    }
}
