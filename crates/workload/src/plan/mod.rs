//! The plan language: one TOML file becomes the ordered points that are measured.
//!
//! Reading goes in steps: text to tree (`document`), `--set` over phase over `[defaults]` (`layers`),
//! each key by its entry (`keys`), sweeps to points (`expand`), contradictions (`check`).
//!
//! **Invariant:** a [`Plan`] that exists can be carried out, once its traces are attached: every default is filled in,
//! every point is known, and no text whatever makes the reader panic. Every mistake has its file, line and column.

mod baseline;
mod check;
mod commands;
mod estimate;
mod expand;
mod foreign;
pub mod keys;
mod layers;
mod metric;
mod outline;
pub mod ready;
pub mod reference;
mod replay;
mod rounds;
mod settle;
mod slo;
mod state;
mod suggest;
mod summary;
mod sweep;
pub(crate) mod synonyms;
mod template;
mod trees;
mod vars;
mod zones;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use baseline::Baseline;
pub use check::{Fault, faults};
pub use document::{Errors, Mistake, SourceText, TextSpan, Weight, slips_within};
pub use estimate::{Estimate, Written};
pub use metric::{Flat, Gain, Metric, Until};
pub use outline::MOST_WORKLOADS;
pub use rounds::{ROUND, Rounds, Tracked};
pub use settle::{PointOrder, SETTLE_IDLE, Settle};
pub use slo::{LatencyFigure, Objective, PromiseError, Rate, Slo, Time};
pub use spec::text;
pub use state::{Background, Prepare, State, StateWord, Watch, Work};
pub use summary::{Summary, describe};
pub use sweep::MOST_POINTS;

use units::Share;

use crate::spec::{Workload, title_without_set};

/// A plan, read, complete and expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is called; the file's name without its ending where it does not say.
    pub name: String,
    /// What it is for; may be empty.
    pub about: String,
    /// The user's own words about it, in the order written, `--tag` last.
    pub tags: Vec<(String, String)>,
    /// Where every random choice comes from.
    pub seed: u64,
    /// What it is for where the command line names nothing: targets as `--on` takes them. No consent to destroy follows
    /// from them.
    pub targets: Vec<String>,
    /// What has to hold for the run to pass, in the order written.
    pub objectives: Vec<Promised>,
    /// What the run is held against.
    pub baseline: Option<Baseline>,
    /// How much worse than the baseline a figure may be.
    pub tolerance: Share,
    /// A model of the array that is measured, as `array:md3000`.
    pub model: Option<String>,
    /// Its phases in order.
    pub phases: Vec<Phase>,
    /// The text as typed, without what `--set` changed.
    pub text: String,
    /// What to beware of, although the plan can be carried out.
    pub cautions: Vec<Mistake>,
    points: Vec<Point>,
}

/// An objective, and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Promised {
    /// What has to hold.
    pub objective: Objective,
    /// The phase that it is about, from 0; none where it is about every load.
    pub phase: Option<usize>,
    /// The line of the plan; 0 where it was not written there.
    pub line: usize,
}

/// One `[[phase]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name as typed, with `{key}` still in it; `phase 1` and so on where it has none.
    pub name: String,
    /// What it is for; may be empty.
    pub about: String,
    /// How often each of its points is measured; 1 for a state.
    pub repeat: u32,
    /// When its innermost sweep ends early.
    pub until: Option<Until>,
    /// How often it is gone through; once for a state.
    pub rounds: Rounds,
    /// What stands before each of its loads that follows another.
    pub settle: Settle,
    /// In which order its points are measured.
    pub order: PointOrder,
    /// The keys that are swept, outermost first.
    pub swept: Vec<String>,
    /// The numbers of its points.
    pub points: Range<usize>,
}

/// One cell of a plan: a set of workloads that run together, or a state to bring the target into.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number in the plan, from 0, in the order in which points are carried out.
    pub index: usize,
    /// The number of its phase, from 0.
    pub phase: usize,
    /// The name of its phase, with values filled in and what `--set` changed behind it; unique among the points of the phase
    /// apart from repeats.
    pub name: String,
    /// What `--set` changed of what it asks, and its name does not fill in: keys and values. With several workloads
    /// `oltp.depth`.
    pub set: Vec<(String, String)>,
    /// The swept keys and their values here, outermost first. With several workloads `oltp.workers`.
    pub swept: Vec<(String, String)>,
    /// Which repeat this is, from 1.
    pub repeat: u32,
    /// Which round through its phase, from 1.
    pub round: u32,
    /// Points with the same number differ only in the innermost sweep and the repeat: one curve. `until` leaves it.
    pub group: usize,
    /// What is to be done.
    pub task: Task,
}

/// What a point does.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Asks.
    Load(Load),
    /// Brings the target into a state.
    State(State),
}

/// Workloads that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Each of them; never empty, names unique. All have the same warm-up, run and cool-down.
    pub workloads: Vec<Workload>,
    /// The headline of each, in the same order.
    pub headlines: Vec<Metric>,
    /// When to leave the sweep of the point's group.
    pub until: Option<Until>,
}

impl Load {
    /// Whether anything on the target is written, trimmed or made: a tree is made before it can be read.
    pub fn changes_data(&self) -> bool {
        self.workloads.iter().any(|workload| workload.tree.is_some() || workload.changes_data())
    }
}

/// What the command line changes in a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `KEY=VALUE`: a key of the plan, or of all workloads; `vars.NAME=VALUE` of a variable; `phase.NAME.KEY=VALUE` of one phase, by name or by
    /// number from 1; `phase.NAME.workload.NAME.KEY=VALUE` of one workload.
    pub set: Vec<String>,
    /// `KEY=VALUE`.
    pub tags: Vec<String>,
}

impl Plan {
    /// The plan in `text`, changed by `overrides`; `label` is what messages call the text, usually its path.
    ///
    /// Opens nothing and depends on nothing else. Fails with every mistake that can be told apart in one reading.
    pub fn parse(label: &str, text: &str, overrides: &Overrides) -> Result<Plan, Errors> {
        expand::plan(label, text, overrides)
    }

    /// What to do, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The plan with those of its points alone that `keep` wants, perhaps changed by it. They keep their numbers.
    pub fn only(mut self, mut keep: impl FnMut(&mut Point) -> bool) -> Plan {
        self.points.retain_mut(&mut keep);
        for (number, phase) in self.phases.iter_mut().enumerate() {
            let first = self.points.partition_point(|point| point.phase < number);
            phase.points = first..self.points.partition_point(|point| point.phase <= number);
        }
        self
    }
}

impl Point {
    /// The workloads of a load; none of a state.
    pub fn workloads(&self) -> &[Workload] {
        match &self.task {
            Task::Load(load) => &load.workloads,
            Task::State(_) => &[],
        }
    }

    /// Whether `name` means it: its name, or that without what `--set` changed.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || title_without_set(&self.name, &self.set) == name
    }
}

/// The workload called `name` that has these keys, as [`Workload::texts`] gives them, defaults filled in; or what is
/// wrong with them.
pub fn from_texts<'a>(
    name: &str,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Workload, Errors> {
    expand::from_texts(name, texts)
}
