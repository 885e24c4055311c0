//! Sweeps that a rule of the plan ends early, by the figures of their points so far.

use std::collections::HashMap;

use record::Point;
use workload::plan::{self, Load, Task};

use crate::limit;

/// The curves of the sweeps so far, and which of them have ended.
#[derive(Default)]
pub(crate) struct Curves {
    groups: HashMap<usize, Curve>,
}

/// One sweep: the figure that is watched, for each value of the innermost swept key.
#[derive(Default)]
struct Curve {
    values: Vec<(String, Vec<f64>)>,
    ended: bool,
}

impl Curves {
    pub(crate) fn has_ended(&self, group: usize) -> bool {
        self.groups.get(&group).is_some_and(|curve| curve.ended)
    }

    /// Adds a measured point; the reason where that ends its sweep.
    ///
    /// Repeats of one value count as their mean, and the rule is asked after the last of them.
    pub(crate) fn add(&mut self, point: &plan::Point, repeat: u32, measured: &Point) -> Option<String> {
        let Task::Load(Load { until: Some(until), .. }) = &point.task else { return None };
        let swept = point.swept.last().map(|(_, value)| value.clone()).unwrap_or_default();
        let flat = until.gain.map_or(plan::Flat::Iops, |gain| gain.flat);
        let figure: f64 = measured.workloads.iter().filter_map(|workload| watched(workload, flat)).sum();
        let curve = self.groups.entry(point.group).or_default();
        match curve.values.iter_mut().find(|(value, _)| *value == swept) {
            Some((_, figures)) => figures.push(figure),
            None => curve.values.push((swept, vec![figure])),
        }
        assert!(
            curve.values.iter().all(|(_, figures)| figures.len() <= repeat as usize),
            "a point was measured more often than its phase says"
        );
        if curve.values.last().is_some_and(|(_, figures)| figures.len() < repeat as usize) {
            return None;
        }
        let means: Vec<f64> = curve
            .values
            .iter()
            .map(|(_, figures)| figures.iter().sum::<f64>() / figures.len() as f64)
            .collect();
        let no_gain = until.gain.filter(|gain| gain.ended(&means)).map(|gain| {
            format!("{} has not grown by more than {} over {} points", gain.flat, gain.within, gain.points)
        });
        let why = no_gain.or_else(|| limit::broken(until, measured));
        curve.ended = why.is_some();
        why
    }
}

fn watched(workload: &record::WorkloadResult, flat: plan::Flat) -> Option<f64> {
    let total = workload.total()?;
    Some(match flat {
        plan::Flat::Throughput => total.bytes_per_s.value,
        plan::Flat::Iops => total.ops_per_s.value,
    })
}
