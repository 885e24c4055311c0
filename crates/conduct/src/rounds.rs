//! Phases in rounds: the figure that is tracked, and when it is steady.

use record::{Point, WorkloadResult};
use stats::Histogram;
use stats::steady::Steady;
use workload::plan::{self, Metric, Phase, Plan, Tracked};

/// The tracked figures of a plan's phases, as far as they have come.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    phases: Vec<Followed>,
}

/// The rounds of one phase.
#[derive(Debug)]
struct Followed {
    phase: usize,
    /// For each round the values of its repeats.
    rounds: Vec<Vec<f64>>,
    /// The round with which it became steady.
    steady_since: Option<u32>,
}

impl Followed {
    /// Repeats of one round count as their mean.
    fn values(&self) -> Vec<f64> {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
        self.rounds.iter().map(mean).collect()
    }
}

impl Tracking {
    /// Whether the phase of `point` has become steady in a round before that of `point`.
    pub(crate) fn has_ended(&self, point: &plan::Point) -> bool {
        let followed = self.phases.iter().find(|followed| followed.phase == point.phase);
        followed.and_then(|followed| followed.steady_since).is_some_and(|last| point.round > last)
    }

    /// Adds a measured point; what to say where that makes its phase steady, or ends it without.
    pub(crate) fn add(&mut self, phase: &Phase, point: &plan::Point, measured: &Point) -> Option<String> {
        let tracked = phase.rounds.steady.as_ref()?;
        if !tracked.is_at(&point.swept) || !measured.complete {
            return None;
        }
        let value = figure(tracked.figure, measured)?;
        let followed = self.of(point.phase);
        assert!(point.round as usize >= followed.rounds.len().max(1), "rounds are run in order, from 1");
        followed.rounds.resize_with(point.round as usize, Vec::new);
        followed.rounds.last_mut()?.push(value);
        if point.repeat < phase.repeat {
            return None;
        }
        match Steady::of(&followed.values()) {
            Some(found) if found.reached() => {
                followed.steady_since = Some(point.round);
                Some(format!(
                    "{tracked} is steady over rounds {} to {}, by the rule of SNIA's PTS",
                    found.first_round, found.last_round
                ))
            }
            _ if point.round == phase.rounds.most => {
                Some(format!("{tracked} was not steady within {} rounds", phase.rounds.most))
            }
            _ => None,
        }
    }

    fn of(&mut self, phase: usize) -> &mut Followed {
        let at = self.phases.iter().position(|followed| followed.phase == phase).unwrap_or(self.phases.len());
        if at == self.phases.len() {
            self.phases.push(Followed { phase, rounds: Vec::new(), steady_since: None });
        }
        &mut self.phases[at]
    }

    /// For the record.
    pub(crate) fn into_record(self, plan: &Plan) -> Vec<record::Rounds> {
        let kept = |followed: Followed| {
            let phase = &plan.phases[followed.phase];
            let Tracked { figure, at } = phase.rounds.steady.as_ref()?;
            let values = followed.values();
            Some(record::Rounds {
                phase: phase.name.clone(),
                figure: figure.to_string(),
                at: at.iter().cloned().collect(),
                window: Steady::of(&values).map(record::Window::from),
                values,
                most: phase.rounds.most,
                steady: followed.steady_since.is_some(),
            })
        };
        self.phases.into_iter().filter_map(kept).collect()
    }
}

/// The figure of a point: rates of all its workloads together, times of the first. `None` where there is none.
fn figure(metric: Metric, point: &Point) -> Option<f64> {
    let totals = || point.workloads.iter().filter_map(WorkloadResult::total);
    let response = || totals().next()?.response.as_ref();
    match metric {
        Metric::Iops => Some(totals().map(|total| total.ops_per_s.value).sum()),
        Metric::MbPerS => Some(totals().map(|total| total.bytes_per_s.value).sum::<f64>() / 1e6),
        Metric::Mean => Some(response()?.mean_ns),
        Metric::Max => Some(response()?.max_ns as f64),
        Metric::Percentile(share) => {
            let classes = point.workloads.first()?.classes.iter();
            let all = Histogram::merged(classes.filter_map(|class| class.response.to_stats()))?;
            Some(all.quantile(share.get())?.get() as f64)
        }
    }
}
