//! What a point on a virtual array would have done, had a part been faster.

use serde::Serialize;

/// A point carried out again with one thing changed at a time, each time with several seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The point's position in the plan's order.
    pub point: u32,
    /// Its name.
    pub name: String,
    /// How often each was carried out, with another seed each time; the first is the run's own.
    pub seeds: u32,
    /// How many times as fast a part was made.
    pub times: f64,
    /// The rate in the record.
    pub recorded_ops_per_s: f64,
    /// Lower end of its 95 % interval; absent where it has none.
    pub recorded_low: Option<f64>,
    /// Upper end.
    pub recorded_high: Option<f64>,
    /// The rate with nothing changed and the same seed, after all that the plan has before the point.
    pub again_ops_per_s: f64,
    /// What the rate differs by between equal runs of that many seeds in one comparison of twenty, as a part.
    pub floor_ops: f64,
    /// The same of the 99th percentile of the response, at least the width of a histogram's bucket; absent with too few
    /// requests.
    pub floor_p99: Option<f64>,
    /// What was changed, the most worth first.
    pub trials: Vec<Trial>,
}

impl WhatIf {
    /// By how much the rate of the unchanged array misses the record, as a part of the record.
    pub fn off(&self) -> f64 {
        self.again_ops_per_s / self.recorded_ops_per_s - 1.0
    }

    /// How far the rate is known: half of its interval in the record, at least what equal runs differ by.
    pub fn within(&self) -> f64 {
        let half = self.recorded_low.zip(self.recorded_high).map(|(low, high)| (high - low) / 2.0);
        self.floor_ops.max(half.map_or(0.0, |half| half / self.recorded_ops_per_s))
    }

    /// Whether the unchanged array does again what the record holds, so that a change of it says something of the record.
    pub fn is_the_record(&self) -> bool {
        self.off().abs() <= self.within()
    }

    /// Whether `trial` is worth having: its gain is beyond the interval of the rate and its own leaves nothing out, or a
    /// percentile falls by more than equal runs differ. Nothing is where the baseline is not the record.
    pub fn gains(&self, trial: &Trial) -> bool {
        let rate = trial.ops.is_there && trial.ops.low > 0.0 && trial.ops.change > self.within();
        let p99 = trial.p99.is_some_and(|p99| p99.is_there && p99.change < 0.0);
        self.is_the_record() && (rate || p99)
    }
}

/// One change and what it brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// What was changed: `disks`, `controller processor`, `depth`.
    pub change: String,
    /// To what, where that is a figure of the trial: `128 KiB`, `disk 3`; else empty.
    pub to: String,
    /// How many times as fast, or as much of it.
    pub times: f64,
    /// Of the rate.
    pub ops: Effect,
    /// Of the 99th percentile of the response; absent with too few requests.
    pub p99: Option<Effect>,
    /// Operations of disks for each request, with nothing changed and with the change; absent where they were not counted.
    pub operations: Option<[f64; 2]>,
    /// Whether writes went into free room of a write cache meanwhile: what they gain does not last.
    pub is_filling: bool,
}

/// By how much a figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// As a part of what it was: 0.05 for 5 % more.
    pub change: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether it is there: the interval leaves zero out, and it is more than equal runs differ by.
    pub is_there: bool,
}
