//! When requests are due.

use units::convert::truncated;
use units::{BytesPerSecond, Nanos, OpsPerSecond};

/// When the next request is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as one completes.
    Closed,
    /// So long after one completes.
    Think(Nanos),
    /// So many requests of a worker, then, when all of them have ended, so long nothing.
    Bursts {
        /// The pause.
        delay: Nanos,
        /// Requests before it; at least 1.
        requests: u32,
    },
    /// Whatever fits into so long, then, when all of it has ended, so long nothing.
    Spells {
        /// The pause.
        delay: Nanos,
        /// The time before it; above zero.
        busy: Nanos,
    },
    /// As soon as one completes, but no more a second since the start than this, all workers together.
    Cap(OpsPerSecond),
    /// Likewise in bytes.
    CapBytes(BytesPerSecond),
    /// By a schedule that waits for nobody.
    Open(Schedule),
    /// When the trace says.
    Trace,
}

impl Pace {
    /// At even distances.
    pub const fn even(rate: OpsPerSecond) -> Pace {
        Pace::Open(Schedule { rate, spacing: Spacing::Even, overflow: Overflow::Queue })
    }

    /// At random instants of that mean rate.
    pub const fn poisson(rate: OpsPerSecond) -> Pace {
        Pace::Open(Schedule { rate, spacing: Spacing::Poisson, overflow: Overflow::Queue })
    }
}

/// Requests that are due by the clock, whatever has become of those before: all workers of a workload together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// How many; with [`Spacing::OnOff`] while it is on.
    pub rate: OpsPerSecond,
    /// At which instants.
    pub spacing: Spacing,
    /// What becomes of a request that falls due while all slots are taken.
    pub overflow: Overflow,
}

impl Pace {
    /// After how long a schedule that pauses is the same again; `None` of a load that is the same all the time.
    pub fn period(&self) -> Option<Nanos> {
        match self {
            Pace::Open(Schedule { spacing: Spacing::OnOff { on, off }, .. }) => Some(*on + *off),
            _ => None,
        }
    }

    /// Seconds of which one stretch of the load is as good as the next: the fewest whole ones that hold whole periods of its schedule,
    /// to a thousandth, or, where no twenty periods do, those that hold the first; 1 of a load that is the same all the time.
    pub fn whole_periods_s(&self) -> u64 {
        const PERIODS: u32 = 20;
        const NEAR: f64 = 1e-3;
        let Some(period) = self.period() else { return 1 };
        let lengths = (1..=PERIODS).map(|many| period.as_secs_f64() * f64::from(many));
        let mut whole = lengths.filter(|length| (length.round() / length - 1.0).abs() < NEAR);
        let seconds = whole.next().map_or_else(|| period.as_secs_f64().ceil(), f64::round);
        truncated::<u64>(seconds).max(1)
    }
}

impl Schedule {
    /// The rate over a time that is long against its pauses.
    pub fn mean_rate(&self) -> OpsPerSecond {
        match self.spacing {
            Spacing::OnOff { on, off } => {
                debug_assert!(!on.is_zero(), "a schedule that is never on issues nothing");
                let part = on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64());
                OpsPerSecond::new(self.rate.get() * part)
            }
            Spacing::Even | Spacing::Poisson => self.rate,
        }
    }
}

/// How a schedule spaces its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// At even distances.
    Even,
    /// At random instants: a Poisson process.
    Poisson,
    /// At random instants for the time `on`, then none for the time `off`, and so on from the start of the load.
    OnOff {
        /// How long requests fall due; above zero.
        on: Nanos,
        /// How long none does; above zero.
        off: Nanos,
    },
}

/// What becomes of a request that falls due while the job has all its requests in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It waits in the generator; its response counts from the instant it was due.
    #[default]
    Queue,
    /// It is never issued, and counted.
    Drop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_periods_of_a_schedule_take_whole_seconds_or_nearly() {
        let of = |on_ms: u64, off_ms: u64| {
            let (on, off) = (Nanos::from_millis(on_ms), Nanos::from_millis(off_ms));
            let rate = OpsPerSecond::new(500.0);
            let spacing = Spacing::OnOff { on, off };
            Pace::Open(Schedule { rate, spacing, overflow: Overflow::Queue }).whole_periods_s()
        };
        assert_eq!([of(2_000, 8_000), of(200, 800), of(300, 400), of(500, 1_000)], [10, 1, 7, 3]);
        assert_eq!(of(1_000, 1_505), 3, "no few periods are whole seconds: one is as near as it gets");
        assert_eq!((Pace::Closed.whole_periods_s(), Pace::Closed.period()), (1, None));
    }
}
