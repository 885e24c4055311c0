//! The loads of a search: closed loops up to the ceiling, and rates.

use units::convert::{narrow, truncated};
use units::{Nanos, OpsPerSecond};
use workload::plan::{Load, Slo};
use workload::spec::{Overflow, Pace, Schedule, Spacing, Stop, Workload};

use super::drive::{DEPTH_LEAST, Driver};
use crate::world::WorldError;

/// A closed loop that gains less than this with four times the depth has reached the ceiling.
const CEILING_GAIN: f64 = 0.03;

/// The deepest closed loop, and the most in flight that is chosen without being asked for.
const DEPTH_MOST: u32 = 1024;

/// Each closed loop takes so long.
const CLOSED: Nanos = Nanos::from_secs(5);

/// Relaxation times that a warm-up takes.
const RELAXATIONS: f64 = 10.0;

impl Driver<'_, '_> {
    /// How far the target can go: by closed loops, or where a bound forbids them as far as it.
    pub(super) fn reach(&mut self) -> Result<(), WorldError> {
        match self.options.to {
            Some(to) => {
                self.parts = self.planned_parts().unwrap_or_else(|| vec![1.0]);
                self.top_per_s = to.get();
                self.quieten()?;
            }
            None => self.ceiling()?,
        }
        self.depth = self.most_in_flight().div_ceil(narrow::<u32>(self.workers())).max(1);
        Ok(())
    }

    /// More and more requests in flight, until that no longer pays.
    fn ceiling(&mut self) -> Result<(), WorldError> {
        let mut depth = 1;
        loop {
            let workers = self.workers();
            let name = format!("closed loop, {} in flight", u64::from(depth) * workers);
            self.load(&name, &self.closed(depth, CLOSED, self.warm_up))?;
            let Some(point) = self.outcome.points.last() else { return Ok(()) };
            let totals: Vec<_> = point.workloads.iter().filter_map(|workload| workload.total()).collect();
            let rates: Vec<f64> = totals.iter().map(|total| total.ops_per_s.value).collect();
            let rate: f64 = rates.iter().sum();
            let gained = rate > self.top_per_s * (1.0 + CEILING_GAIN);
            if rate > self.top_per_s {
                (self.top_per_s, self.deepest) = (rate, depth);
            }
            if depth == 1 {
                let seen = rates.iter().map(|own| own / rate.max(f64::MIN_POSITIVE)).collect();
                self.parts = self.planned_parts().unwrap_or(seen);
                self.quieten()?;
            }
            depth *= 4;
            if !gained || self.is_over() || u64::from(depth) * workers > u64::from(DEPTH_MOST) {
                return Ok(());
            }
        }
    }

    pub(super) fn workers(&self) -> u64 {
        self.base.workloads.iter().map(|workload| u64::from(workload.workers)).sum()
    }

    /// Each workload's part of the rate, where all have rates in the plan. Otherwise a closed loop says it.
    fn planned_parts(&self) -> Option<Vec<f64>> {
        let rate = |workload: &Workload| match workload.pace {
            Pace::Open(schedule) => Some(schedule.rate.get()),
            _ => None,
        };
        let rates: Vec<f64> = self.base.workloads.iter().map(rate).collect::<Option<_>>()?;
        let sum: f64 = rates.iter().sum();
        debug_assert!(sum > 0.0, "a schedule has a rate");
        Some(rates.iter().map(|own| own / sum).collect())
    }

    /// Enough in flight for twice the time that is promised at the ceiling: more would break the SLO anyway.
    fn most_in_flight(&self) -> u32 {
        let slowest =
            self.options.slos.iter().filter_map(Slo::below).max().unwrap_or(Nanos::from_millis(100));
        let chosen = (2.0 * self.top_per_s * slowest.as_secs_f64()).ceil();
        self.options.depth.unwrap_or(truncated::<u32>(chosen).clamp(DEPTH_LEAST, DEPTH_MOST))
    }

    pub(super) fn closed(&self, depth: u32, run: Nanos, warm_up: Nanos) -> Load {
        let mut load = self.afresh();
        for workload in &mut load.workloads {
            workload.pace = Pace::Closed;
            workload.depth = depth;
            workload.stop = stop(run, warm_up);
        }
        load
    }

    pub(super) fn at_rate(&self, rate_per_s: f64, seconds: f64, warm_up: Nanos) -> Load {
        let mut load = self.afresh();
        for (workload, part) in load.workloads.iter_mut().zip(&self.parts) {
            let (spacing, overflow) = match workload.pace {
                Pace::Open(schedule) => (schedule.spacing, schedule.overflow),
                _ => (Spacing::Poisson, Overflow::Queue),
            };
            let rate = OpsPerSecond::new((rate_per_s * part).max(1e-3));
            workload.pace = Pace::Open(Schedule { rate, spacing, overflow });
            workload.depth = self.depth;
            workload.stop = stop(Nanos::from_secs(truncated::<u64>(seconds.ceil())), warm_up);
        }
        load
    }

    /// The load with addresses that no point before has asked: looks are only worth as much as they differ, and a cache
    /// that still has those of the point before would make the next one look faster than the storage is.
    pub(super) fn afresh(&self) -> Load {
        let mut load = self.base.clone();
        for workload in &mut load.workloads {
            workload.seed = workload.seed.wrapping_add(self.outcome.points.len() as u64);
        }
        load
    }

    /// Long enough for what went before to be forgotten.
    pub(super) fn relaxed_warm_up(&self) -> Nanos {
        let relaxed_s = self.relaxation_s.unwrap_or(0.0) * RELAXATIONS;
        self.warm_up.max(Nanos::from_secs_f64(relaxed_s.min(self.options.longest.as_secs_f64())))
    }
}

fn stop(run: Nanos, warmup: Nanos) -> Stop {
    Stop { warmup, run: Some(run), ..Stop::default() }
}
