//! Trials: how long background work takes with no other load, from samples of a pass on arrays of their own.

use units::convert::{narrow, truncated};
use units::{Lba, Nanos, SECTOR_BYTES, Share};

use crate::background::BackgroundParams;

use super::back::BackEnd;
use super::works::{WorkError, WorkOrder};
use super::{Sim, Topology};

/// Background work to be tried on copies of an array.
pub(super) struct Trial<'s> {
    pub sim: &'s Sim,
    pub order: WorkOrder,
    pub params: BackgroundParams,
}

impl Trial<'_> {
    /// What precedes the first unit: a share of the whole work's own time.
    pub fn startup(&self) -> Result<Nanos, WorkError> {
        if self.params.startup.get() <= 0.0 {
            return Ok(Nanos::ZERO);
        }
        Ok(self.startup_of(&self.paces(10)?))
    }

    /// The same of work that is done at these paces.
    fn startup_of(&self, paces: &[f64]) -> Nanos {
        let whole = paces.iter().sum::<f64>() / paces.len().max(1) as f64;
        Nanos::new(truncated(whole * self.params.startup.get()))
    }

    /// Its pace at each of `samples` places of the pass, evenly apart.
    fn paces(&self, samples: u32) -> Result<Vec<f64>, WorkError> {
        (0..samples).map(|sample| self.pace_at((f64::from(sample) + 0.5) / f64::from(samples))).collect()
    }

    /// When each whole percent is reached, from `samples` places of the pass.
    pub fn alone(&self, samples: u32) -> Result<Vec<Nanos>, WorkError> {
        let samples = samples.clamp(1, 100);
        let pace = self.paces(samples)?;
        let mut elapsed = self.startup_of(&pace).get() as f64;
        Ok((0..100)
            .map(|percent| {
                let at = (f64::from(percent) + 0.5) / 100.0 * f64::from(samples) - 0.5;
                let left = truncated::<usize>(at.max(0.0)).min(pace.len() - 1);
                let right = (left + 1).min(pace.len() - 1);
                let part = (at - left as f64).clamp(0.0, 1.0);
                elapsed += (pace[left] + (pace[right] - pace[left]) * part) / 100.0;
                Nanos::new(truncated(elapsed))
            })
            .collect())
    }

    /// Nanoseconds that the whole pass would take at the pace it has at `at` of the way.
    fn pace_at(&self, at: f64) -> Result<f64, WorkError> {
        let Trial { sim, order, params } = *self;
        let topology = Topology { failed: Vec::new(), ..sim.topology.clone() };
        let Ok(mut trial) = Sim::new(&topology, 0) else { return Ok(0.0) };
        for (set, own) in trial.array.back.sets.iter_mut().zip(&sim.array.back.sets) {
            set.health = own.health.clone();
        }
        let number = trial.start_work_as(order, BackgroundParams { startup: Share::NONE, ..params })?;
        let used = trial.array.back.sets[order.set as usize].geometry.member_used().0;
        let unit = (params.unit.get() / SECTOR_BYTES).max(1);
        let units = (4 * u64::from(params.window)).max(48);
        let from = truncated::<u64>(used as f64 * at).min(used.saturating_sub(units * unit));
        // The members are at rest where the sample begins.
        trial.works.confine(number, Lba(from), Lba(from + units * unit));
        let sets = std::mem::take(&mut trial.array.back.sets);
        trial.array.back = BackEnd::of(&topology, sets, 0);
        trial.array.back.work_begins(order.set);
        trial.traffic.time.clear();
        trial.works.pump(&mut trial.traffic.time, &mut trial.array.back, number);
        let mut ends = Vec::with_capacity(narrow::<usize>(units));
        while trial.works.is_short_of(number, Share::ALL) {
            let before = trial.works.moved(number);
            if !trial.step() {
                break;
            }
            if trial.works.moved(number) > before {
                ends.push(trial.now());
            }
        }
        // The first units fill the window and find the arms elsewhere.
        let skipped = ends.len() / 4;
        let (Some(&first), Some(&last)) = (ends.get(skipped), ends.last()) else { return Ok(0.0) };
        let counted = (ends.len() - 1 - skipped).max(1) as f64;
        Ok((last - first).get() as f64 / counted * (used as f64 / unit as f64))
    }
}
