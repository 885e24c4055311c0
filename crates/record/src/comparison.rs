//! What is different between runs: figures, settings, and what could not be compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SCHEMA_VERSION;
use crate::grade::Grade;
use crate::judgement::Culprit;
use crate::words::Ops;

/// The deviation from one measurement of real storage to the next, as a part, that is reckoned with where nothing was
/// repeated: placement, caches, clocks and neighbours change between measurements, and a single one cannot show it.
/// Fitted: runs of a virtual disk deviated by 2.9 % (benches/RESULTS.md, "Equal runs of a real file").
pub const RUN_TO_RUN: f64 = 0.03;

/// Runs held against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of this shape; the same as a run's.
    pub schema_version: u32,
    /// By what runs were put together, as `firmware`; absent where they were named one by one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// What is compared; the first is what the others are held against.
    pub sides: Vec<Side>,
    /// Settings, facts and versions that are not the same on every side.
    pub settings: Vec<Setting>,
    /// Every figure of every cell that two sides have, in the order of the first side.
    pub rows: Vec<Compared>,
    /// Cells that only some sides have.
    pub unmatched: Vec<Unmatched>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
    /// A change of no more than this part, up or down, counts as none.
    #[serde(default)]
    pub margin: f64,
    /// Which part became slower, by a model of the array; absent where none was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub culprit: Option<Culprit>,
}

impl Comparison {
    /// Which sides are no measurement of what they seem to be, and why; `None` where all are: `Not comparable: B was
    /// answered by the page cache (grade E).`
    pub fn doubted(&self) -> Option<String> {
        let doubted: Vec<String> = self.sides.iter().filter_map(Side::doubted).collect();
        (!doubted.is_empty()).then(|| format!("Not comparable: {}.", doubted.join("; ")))
    }

    /// Whether one of the two sides of `row` is no measurement of what it seems to be: a difference is then no verdict.
    pub fn is_doubted(&self, row: &Compared) -> bool {
        let of = |side: u32| self.sides.get(side as usize).is_some_and(|side| side.doubted().is_some());
        of(0) || of(row.side)
    }

    /// Whether any figure of the second side is worse than that of the first, and both are measurements of what they seem
    /// to be.
    pub fn is_worse(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Worse && !self.is_doubted(row))
    }

    /// The keys of loads whose values are not the same on every side, but for what sides are parted by.
    pub fn load_settings(&self) -> impl Iterator<Item = &Setting> {
        let is_by = |key: &str| self.by.as_deref() == Some(key);
        self.settings.iter().filter(move |one| one.load().is_some_and(|key| !is_by(key)))
    }

    /// In what the loads differ, where the storage does as well: `depth 1 → 32`. A ratio is then none of the storage. `None`
    /// where one of the two is the same on all sides.
    pub fn mixed(&self) -> Option<String> {
        let is_storage = |one: &Setting| one.option().is_some() || one.key == Setting::TARGET;
        let loads: Vec<String> =
            self.load_settings().filter_map(|one| Some(format!("{} {}", one.load()?, one.told()))).collect();
        (!loads.is_empty() && self.settings.iter().any(is_storage)).then(|| loads.join(", "))
    }

    /// One that holds nothing yet.
    pub fn of(by: Option<String>, sides: Vec<Side>) -> Comparison {
        Comparison {
            schema_version: SCHEMA_VERSION,
            by,
            sides,
            settings: Vec::new(),
            rows: Vec::new(),
            unmatched: Vec::new(),
            notes: Vec::new(),
            margin: 0.0,
            culprit: None,
        }
    }
}

/// `B was answered by the page cache (grade E)`; `None` where the grade leaves no doubt about what was measured.
pub fn doubted(name: &str, grade: Grade, doubts: &[String]) -> Option<String> {
    let why = if doubts.is_empty() { "is in doubt".to_owned() } else { doubts.join(", ") };
    grade.is_doubtful().then(|| format!("{name} {why} (grade {grade})"))
}

/// One run, or several that count as repeats of each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// `A`, `B`, or the value that its runs have in common.
    pub name: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Its runs in words: plan and targets.
    pub about: String,
    /// The worst grade of its runs; absent where none was judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grade: Option<Grade>,
    /// Why it is in doubt what its runs measured; empty for a grade of C and better.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

impl Side {
    /// What puts it in doubt, in words; `None` where it is a measurement of what it seems to be, or was not judged.
    fn doubted(&self) -> Option<String> {
        doubted(&self.name, self.grade?, &self.doubts)
    }
}

/// Something that is not the same on every side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// `plan depth`, `target firmware`, `kernel`, `fathom`.
    pub key: String,
    /// One for each side; absent where it has none. Several values of one side stand apart by ` or `.
    pub values: Vec<Option<String>>,
}

impl Setting {
    /// How the key of an option in the address of a virtual array begins.
    pub const OPTION: &str = "target option ";

    /// How a key of the plan begins.
    pub const PLAN: &str = "plan ";

    /// How the key of a figure of a virtual array's description begins, where the address is the same.
    pub const DESCRIPTION: &str = "description: ";

    /// The key of the address of what was measured.
    pub const TARGET: &str = "target";

    /// The key of a workload, where it is one that says what is asked.
    pub fn load(&self) -> Option<&str> {
        self.key.strip_prefix(Setting::PLAN).filter(|key| spec::is_of_load(key))
    }

    /// The option, where it is one.
    pub fn option(&self) -> Option<&str> {
        self.key.strip_prefix(Setting::OPTION)
    }

    /// The values in order: `290MB/s → 145MB/s`.
    pub fn told(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|value| value.as_deref().unwrap_or("none")).collect();
        values.join(" → ")
    }
}

/// One figure of one cell, held against the same of the first side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The phase with its swept values.
    pub cell: String,
    /// The workload in it.
    pub workload: String,
    /// `all`, or one operation.
    pub op: Ops,
    /// Whether these are all operations of the workload together.
    pub total: bool,
    /// `iops`, `mb_per_s`, `mean`, `p50`, `p99`, …; of two searches `met_per_s`
    pub metric: String,
    /// `per_s`, `bytes_per_s` or `ns`.
    pub unit: String,
    /// Which side is held against the first, from 1.
    pub side: u32,
    /// The first side's figure.
    pub base: f64,
    /// This side's.
    pub value: f64,
    /// This side's over the first side's.
    pub ratio: f64,
    /// The range that holds the true ratio with 95 % confidence; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Its upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
    /// The range that holds this side's figure itself with 95 % confidence; where requests depend on each other too much
    /// for one, what all stretches of its window lie between; absent where not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value_low: Option<f64>,
    /// Its upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value_high: Option<f64>,
    /// The probability of such a ratio where there is no difference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p_value: Option<f64>,
    /// The same, raised for the number of figures that were compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub adjusted_p: Option<f64>,
    /// The change that equal measurements show by chance once in twenty times, as a part: the A/A noise floor. Absent
    /// where nothing was repeated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise_floor: Option<f64>,
    /// The smallest true change, as a part, that would have been found nine times of ten.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detectable_effect: Option<f64>,
    /// Measurements of the cell on the first side and on this one.
    pub repeats: [u32; 2],
    /// Where the interval comes from.
    pub basis: Basis,
    /// What follows.
    pub verdict: Verdict,
}

/// Where an interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Repeats on both sides: everything that differs from one measurement to the next is in it.
    Repeats,
    /// One measurement on a side, with the noise that repeats of other cells or of the other side show.
    Noise,
    /// The seconds within single measurements, and on real storage a deviation from one measurement to the next:
    /// a single one does not show its own.
    Seconds,
    /// The highest rates that two searches saw kept and broken.
    Search,
    /// Nothing says how sure the figures are.
    Nothing,
}

/// What a comparison of two figures says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// More requests or less time.
    Better,
    /// Fewer requests or more time.
    Worse,
    /// The whole interval of the change lies within the margin of the comparison.
    Equivalent,
    /// Neither: what was measured does not decide it. Longer or more measurements would.
    Inconclusive,
    /// A rate that the plan set on a side, where it was reached: a figure of the plan, which says nothing of the storage.
    Offered,
}

/// A cell that some sides do not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unmatched {
    /// The phase with its swept values, and the workload where there are several.
    pub cell: String,
    /// The sides that have it, from 0.
    pub sides: Vec<u32>,
}
