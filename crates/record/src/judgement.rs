//! Whether a run is good enough: its objectives, and the runs it was held against.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a plan asked of its run, and what came of it. A verdict on an objective or a figure is one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The worst of all rows.
    pub verdict: Verdict,
    /// Objectives, each in every cell that it is about, in the order of the plan.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub objectives: Vec<ObjectiveRow>,
    /// What the run was held against; absent where the plan names no baseline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gate: Option<Gate>,
}

/// What came of an objective. Worse ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies within the limit.
    Met,
    /// The interval reaches over the limit, or is not known.
    Inconclusive,
    /// The whole interval lies beyond the limit.
    Violated,
}

/// One objective in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveRow {
    /// As the plan has it: `p99<5ms`.
    pub objective: String,
    /// The line of the plan; 0 where it was not written there.
    #[serde(default)]
    pub line: u32,
    /// The phase with its swept values, and the workload where there are several; empty where no load has the figure.
    pub cell: String,
    /// `per_s`, `bytes_per_s`, `ns` or `share`.
    pub unit: String,
    /// The limit in that unit.
    pub limit: f64,
    /// The figure; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
    /// What came of it.
    pub verdict: Verdict,
    /// Why it is inconclusive, or what decided it where no interval did; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
}

/// A run, or several, held against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// As the plan has it: `tag:release`.
    pub baseline: String,
    /// Ids of its runs.
    pub baseline_runs: Vec<String>,
    /// Ids of the runs that were held against it, this one last.
    pub runs: Vec<String>,
    /// A worsening of no more than this part is allowed.
    pub tolerance: f64,
    /// The probability, at most, with which a run that is no worse than allowed is called violated, all rows together.
    pub false_alarm_rate: f64,
    /// The probability with which the `detectable` worsening of a row is found.
    pub power: f64,
    /// Where the noise of the rows comes from, in words.
    pub noise: String,
    /// Each figure that was judged.
    pub rows: Vec<GateRow>,
    /// The worst of all rows.
    pub verdict: Verdict,
    /// Whether a violation was seen again in a second run; false where there was none, and where none was measured.
    #[serde(default)]
    pub confirmed: bool,
    /// Which part became slower, by a model of the array; absent where the plan names none, and where nothing is violated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub culprit: Option<Culprit>,
    /// What else a reader has to know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// Which part of an array became slower, by what a change of each part of its model does to the same points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// The model, as `array:md3000?raid=5`.
    pub model: String,
    /// The part; absent where it is unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// Why it is unknown; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// Figures that the changes were held against.
    pub figures: u32,
    /// The most likely change of each part, the likeliest first; three at most.
    pub suspects: Vec<Suspect>,
}

/// The most likely change of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// The part: `disks`, `controller processor`, `write cache`.
    pub part: String,
    /// What happened to it: `seeks 1.8 times as slow`, `off`.
    pub change: String,
    /// Whether every figure lies where the model has it with that change, within the noise and the error of a model.
    pub fits: bool,
    /// How many times as likely the likeliest of all is.
    pub less_likely: f64,
    /// The figure that it explains worst.
    pub worst: String,
    /// The change of that figure as it was measured, as a part.
    pub measured: f64,
    /// The change of that figure on the model.
    pub modelled: f64,
}

/// One figure held against that of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// The phase with its swept values, and the workload where there are several.
    pub cell: String,
    /// `iops`, `mean`, `p99`, …
    pub metric: String,
    /// `per_s`, `bytes_per_s` or `ns`.
    pub unit: String,
    /// The baseline's figure.
    pub base: f64,
    /// The figure.
    pub value: f64,
    /// The worsening as a part, below zero where it is better: less of a rate counts as base over value less one.
    pub worse: f64,
    /// The bounds of the worsening at the row's part of the false-alarm rate; absent where its noise is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worse_low: Option<f64>,
    /// The upper one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worse_high: Option<f64>,
    /// The smallest true worsening that would be found with the power of the gate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detectable: Option<f64>,
    /// Measurements of the baseline and of this side.
    pub measurements: [u32; 2],
    /// What came of it.
    pub verdict: Verdict,
}
