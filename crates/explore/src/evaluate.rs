//! Simulations of designs: each once, whoever of the designs that are the same to it asks, and what was known before.

use std::collections::BTreeMap;

use array::spec::{self, Source};
use modelled::lab::spot::{Spot, State, rebuild_alone, spot};
use modelled::lab::{Effort, LabError, Setting};
use record::Point;
use serde::{Deserialize, Serialize};
use stats::Histogram;
use workload::plan::{LatencyFigure, Slo, Time};

use crate::design::Design;
use crate::exact::Candidate;
use crate::requirement::{Figure, LoadFigure};
use crate::workers::{WorkItem, Workers};

/// What is to be simulated of a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// A load at one depth of a workload, by their numbers.
    Load {
        /// Of the designs that are the same to it.
        key: u64,
        /// Number of the workload.
        workload: usize,
        /// Requests in flight.
        depth: u32,
        /// How the array is.
        state: State,
    },
    /// A rebuild without a load.
    Rebuild {
        /// Of the designs that are the same to it.
        key: u64,
    },
}

/// What a simulation gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Figures.
    Figures {
        /// Requests a second.
        #[serde(default)]
        iops: f64,
        /// Bytes a second.
        #[serde(default)]
        bytes_per_s: f64,
        /// Hours of the rebuild, where there is one that gets on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rebuild_h: Option<f64>,
        /// Times in nanoseconds by the text of the figure, `p99` or `read.p99`.
        #[serde(default)]
        times_ns: BTreeMap<String, f64>,
        /// Whether writes met free room of a write cache: the rate of the long run is lower.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        is_filling: bool,
        /// Half the 95 % interval of the rate as a part of it, of the seconds that it was measured for; `None` where they are too few.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        half_width: Option<f64>,
        /// Requests that the times are from: of several operations that are asked for, the fewest; 0 where none are, and where an
        /// earlier version simulated.
        #[serde(skip_serializing_if = "is_zero", default)]
        requests: u64,
    },
    /// None, and why: such a design meets no requirement about it.
    Refused(String),
}

/// How sure a figure has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// A short simulation.
    Coarse,
    /// As long as `fathom array lab` simulates.
    Fine,
    /// As long, with the first or the second of other seeds: what differs is chance.
    Again(bool),
}

/// Other seeds that a sample is simulated with.
pub const AGAIN: [Depth; 2] = [Depth::Again(false), Depth::Again(true)];

impl Depth {
    /// As it stands in a checkpoint.
    pub fn name(self) -> &'static str {
        match self {
            Depth::Coarse => "coarse",
            Depth::Fine => "fine",
            Depth::Again(false) => "again",
            Depth::Again(true) => "again-2",
        }
    }

    /// The seed of a simulation, where that of the study is `seed`.
    fn seed(self, seed: u64) -> u64 {
        match self {
            Depth::Coarse | Depth::Fine => seed,
            Depth::Again(is_second) => seed.wrapping_add(1 + u64::from(is_second)),
        }
    }

    fn effort(self) -> Effort {
        match self {
            Depth::Coarse => Effort::Quick,
            Depth::Fine | Depth::Again(_) => Effort::Full,
        }
    }
}

/// Everything that was simulated so far.
pub struct Evaluator<'a> {
    design: &'a Design,
    library: &'a (dyn Source + Sync),
    workers: &'a dyn Workers,
    /// Figures of times that requirements ask for, by workload.
    times: Vec<Vec<Slo>>,
    /// What was known before, by the text of its key.
    known: &'a BTreeMap<String, Outcome>,
    done: BTreeMap<(Depth, Task), Outcome>,
    fresh: [u64; 2],
}

/// A simulation that was carried out, and how far that is.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// Short or long.
    pub depth: Depth,
    /// Those of this batch that have ended, this one among them.
    pub done: usize,
    /// Those of this batch.
    pub of: usize,
    /// What a checkpoint keeps it by.
    pub key: &'a str,
    /// What it gave.
    pub outcome: &'a Outcome,
}

impl<'a> Evaluator<'a> {
    /// One that knows what `known` says.
    pub fn new(
        design: &'a Design,
        library: &'a (dyn Source + Sync),
        workers: &'a dyn Workers,
        known: &'a BTreeMap<String, Outcome>,
    ) -> Evaluator<'a> {
        let mut times: Vec<Vec<Slo>> = vec![Vec::new(); design.workloads.len()];
        for requirement in &design.requirements {
            if let Figure::Load { workload, of, .. } = &requirement.figure {
                let slo = match of {
                    LoadFigure::Iops(slo) | LoadFigure::Throughput(slo) => slo.as_ref(),
                    LoadFigure::Latency(slo) => Some(slo),
                };
                times[*workload].extend(slo.copied());
            }
        }
        Evaluator { design, library, workers, times, known, done: BTreeMap::new(), fresh: [0, 0] }
    }

    /// Simulations that were carried out and not known before: short ones and long ones.
    pub fn fresh(&self) -> [u64; 2] {
        self.fresh
    }

    /// What the simulation gave, if it is known.
    pub fn outcome(&self, depth: Depth, task: &Task) -> Option<&Outcome> {
        self.done.get(&(depth, *task))
    }

    /// What `figure` of `candidate` takes.
    pub fn tasks(&self, candidate: &Candidate, figure: &Figure) -> Vec<Task> {
        let load = |workload: usize, state: State| {
            let key = match state {
                State::Rebuilding => candidate.rebuilding_key,
                State::Healthy | State::Degraded => candidate.load_key,
            };
            let depths = self.design.workloads[workload].depths.iter();
            depths.map(|depth| Task::Load { key, workload, depth: *depth, state }).collect()
        };
        match figure {
            Figure::Price | Figure::Watts | Figure::Usable => Vec::new(),
            Figure::Loss | Figure::Rebuild(None) => vec![Task::Rebuild { key: candidate.rebuild_key }],
            Figure::Rebuild(Some(workload)) => load(*workload, State::Rebuilding),
            Figure::Load { workload, state, .. } => load(*workload, *state),
        }
    }

    /// Carries out what is not known of `wanted`, each with a design that asks for it; `ended` hears of each that was
    /// not known before, in an order that does not depend on the threads. Stops where `ended` says so; whether it went to
    /// its end.
    pub fn run(
        &mut self,
        depth: Depth,
        wanted: &BTreeMap<Task, u64>,
        ended: &mut dyn FnMut(Ended<'_>) -> bool,
    ) -> bool {
        let mut open: Vec<(Task, u64, String)> = Vec::new();
        for (task, number) in wanted {
            if self.done.contains_key(&(depth, *task)) {
                continue;
            }
            let key = self.key(depth, task);
            match self.known.get(&key) {
                Some(outcome) => {
                    self.done.insert((depth, *task), outcome.clone());
                }
                None => open.push((*task, *number, key)),
            }
        }
        // Tasks of one design follow each other: the array of the last one is at hand.
        open.sort_by_key(|(task, number, _)| (*number, *task));
        let item = |(task, number, _): &(Task, u64, String)| WorkItem { depth, task: *task, number: *number };
        let work_items: Vec<WorkItem> = open.iter().map(item).collect();
        let work = |at: usize| self.execute(&work_items[at]);
        let mut outcomes = Vec::new();
        let mut take = |at: usize, outcome: Outcome| {
            let ended =
                ended(Ended { depth, done: at + 1, of: open.len(), key: &open[at].2, outcome: &outcome });
            assert_eq!(at, outcomes.len(), "outcomes are taken in the order of their tasks");
            outcomes.push(outcome);
            ended
        };
        self.workers.execute(&work_items, &work, &mut take);
        debug_assert!(outcomes.len() <= open.len(), "no task has two outcomes");
        let is_whole = outcomes.len() == open.len();
        self.fresh[usize::from(depth != Depth::Coarse)] += outcomes.len() as u64;
        for ((task, ..), outcome) in open.iter().zip(outcomes) {
            self.done.insert((depth, *task), outcome);
        }
        is_whole
    }

    /// Everything that the outcome depends on, in one line.
    fn key(&self, depth: Depth, task: &Task) -> String {
        let (depth, seed) = (depth.name(), self.design.seed);
        match task {
            Task::Rebuild { key } => format!("{depth} {key:016x} rebuild seed {seed}"),
            Task::Load { key, workload, depth: in_flight, state } => {
                let mut times: Vec<String> = self.times[*workload].iter().map(time_name).collect();
                times.sort();
                times.dedup();
                let (times, state) = (times.join(","), state.name());
                let workload = self.design.workloads[*workload].key();
                format!("{depth} {key:016x} {workload} depth {in_flight} {state} {times} seed {seed}")
            }
        }
    }

    /// Carries one simulation out. The outcome depends on the study and the item alone.
    pub fn execute(&self, item: &WorkItem) -> Outcome {
        let WorkItem { depth, task, number } = item;
        assert!(*number < self.design.space.count(), "design {number} is one of the space");
        self.simulated(*depth, task, *number).unwrap_or_else(|error| Outcome::Refused(error.to_string()))
    }

    fn simulated(&self, depth: Depth, task: &Task, number: u64) -> Result<Outcome, LabError> {
        assert!(number < self.design.space.count(), "design {number} is one of the space");
        let address = self.design.space.address(number);
        let mut array = spec::array(self.library, &address)?;
        // Designs that differ in hot spares alone have one simulation, whichever of them asks: a rebuild onto a spare takes as long as
        // onto a disk in the place of the failed one, but for where platters stand.
        array.topology.spares.clear();
        let seed = depth.seed(self.design.seed);
        let setting =
            |load| Setting { array: format!("array:{address}"), workload: load, fail: Vec::new(), seed };
        Ok(match task {
            Task::Rebuild { .. } => Outcome::Figures {
                iops: 0.0,
                bytes_per_s: 0.0,
                rebuild_h: Some(rebuild_alone(&address, &array, seed)? / 3_600.0),
                times_ns: BTreeMap::new(),
                is_filling: false,
                half_width: None,
                requests: 0,
            },
            Task::Load { workload, depth: in_flight, state, .. } => {
                let load = self.design.workloads[*workload].load;
                let found = spot(&setting(load), &array, *state, *in_flight, depth.effort())?;
                self.figures(&found, *workload)
            }
        })
    }

    fn figures(&self, found: &Spot, workload: usize) -> Outcome {
        let total = |of: fn(&record::OpSummary) -> f64| -> f64 {
            found.point.workloads.iter().filter_map(|workload| workload.total()).map(of).sum()
        };
        let mut requests = None;
        let mut times_ns = BTreeMap::new();
        for slo in &self.times[workload] {
            let Some(all) = responses(&found.point, slo) else { continue };
            requests = Some(requests.map_or(all.count(), |least: u64| least.min(all.count())));
            times_ns.extend(time_ns(&all, slo).map(|time| (time_name(slo), time)));
        }
        Outcome::Figures {
            iops: total(|total| total.ops_per_s.value),
            bytes_per_s: total(|total| total.bytes_per_s.value),
            rebuild_h: found.rebuild_s.map(|seconds| seconds / 3_600.0),
            times_ns,
            is_filling: found.is_filling,
            half_width: half_width(&found.point),
            requests: requests.unwrap_or(0),
        }
    }
}

/// Half the interval of the rate of `point` as a part of it; of several workloads the widest.
fn half_width(point: &Point) -> Option<f64> {
    let totals = point.workloads.iter().filter_map(|workload| workload.total());
    let widths = totals.map(|total| total.ops_per_s.relative_half_width());
    widths.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// The figure that an SLO is about, without its limit.
pub fn time_name(slo: &Slo) -> String {
    let text = slo.to_string();
    text.split('<').next().unwrap_or_default().to_owned()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Times of all requests that `slo` is about and that ended in the window; `None` where it is about no time.
fn responses(point: &Point, slo: &Slo) -> Option<Histogram> {
    let Slo::Latency { of, time, .. } = slo else { return None };
    let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
    let mut all = Histogram::new();
    for class in classes.filter(|class| of.is_none_or(|op| class.op.name() == op.name())) {
        let own = match time {
            Time::Service => class.service.as_ref().unwrap_or(&class.response),
            Time::Response => &class.response,
        };
        all.merge(&own.to_stats()?);
    }
    Some(all)
}

/// The time that `slo` is about, of requests that took `all`; `None` where there are none.
///
/// Quantiles of few requests are what they are: a short simulation is only a first look.
fn time_ns(all: &Histogram, slo: &Slo) -> Option<f64> {
    let Slo::Latency { figure, .. } = slo else { return None };
    match figure {
        LatencyFigure::Mean => all.mean(),
        LatencyFigure::Quantile(share) => all.quantile(share.get()).map(|value| value.get() as f64),
    }
}
