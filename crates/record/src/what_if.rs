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
    /// The rate with nothing changed and the same seed; other points of the plan, which may have warmed caches, were
    /// not carried out before.
    pub again_ops_per_s: f64,
    /// What the rate differs by between equal runs of that many seeds in one comparison of twenty, as a part.
    pub floor_ops: f64,
    /// The same of the 99th percentile of the response, at least the width of a histogram's bucket; absent with too few
    /// requests.
    pub floor_p99: Option<f64>,
    /// What was changed, the most worth first.
    pub trials: Vec<Trial>,
}

/// One change and what it brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// What was changed: `disks`, `controller processor`, `depth`.
    pub change: String,
    /// How many times as fast, or as much of it.
    pub times: f64,
    /// Of the rate.
    pub ops: Effect,
    /// Of the 99th percentile of the response; absent with too few requests.
    pub p99: Option<Effect>,
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
