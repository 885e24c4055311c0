//! The place of a run in a campaign, and the proof that the target was in the state that the run is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cell of a campaign, measured in one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignCell {
    /// The campaign's name.
    pub campaign: String,
    /// What the campaign asks, in short: runs of the same name whose files differ in what is measured differ here.
    pub key: String,
    /// In which block, from 1: each has every cell once.
    pub block: u32,
    /// Which run of the schedule it is, from 1.
    pub turn: u32,
    /// The level of each factor, in the order of the file.
    pub levels: Vec<FactorLevel>,
    /// What others say of this cell: a vendor, theory.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub claims: Vec<FigureClaim>,
    /// What the state was read back as; empty where nothing tells.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub proofs: Vec<StateProof>,
    /// The campaign's file as it was measured from; empty in records of older versions.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub toml: String,
    /// How many runs the campaign has; 0 in records of older versions.
    #[serde(skip_serializing_if = "is_none", default)]
    pub runs: u32,
    /// How many blocks it has; 0 in records of older versions.
    #[serde(skip_serializing_if = "is_none", default)]
    pub blocks: u32,
    /// Why it was not measured; absent where it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lack: Option<CellLack>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Why a cell has no figures that count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CellLack {
    /// What became of it.
    pub kind: LackKind,
    /// Why, in words.
    pub why: String,
}

/// What became of a cell that does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LackKind {
    /// The state that it is about did not hold.
    Void,
    /// A command said that it cannot be had.
    Skipped,
    /// A command, or a person, ended the campaign there.
    Aborted,
    /// Its run failed.
    Failed,
}

impl LackKind {
    /// In one word: `void`.
    pub fn word(self) -> &'static str {
        match self {
            LackKind::Void => "void",
            LackKind::Skipped => "skipped",
            LackKind::Aborted => "aborted",
            LackKind::Failed => "failed",
        }
    }
}

/// The level of one factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactorLevel {
    /// The factor.
    pub factor: String,
    /// Its level in this cell.
    pub level: String,
    /// Which one that is, from 0, in the order of the file.
    pub place: u32,
    /// How many levels there are.
    pub of: u32,
    /// Whether it is hard to change: set once for a whole plot, not for each run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub hard: bool,
}

/// A figure that somebody promises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureClaim {
    /// Who says so.
    pub by: String,
    /// How the name of the point begins that it is about; of any point where it is empty.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub point: String,
    /// Of what, as plans write it: `iops`, `mb_per_s`, `p99`. Of a published figure also `time`, `work_rate`, `share`,
    /// `count` and `ratio`.
    pub metric: String,
    /// In base units: one a second, bytes a second, nanoseconds.
    pub value: f64,
    /// Of theory: the share of reads of the points that it is about; of any point where it is absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reads: Option<f64>,
    /// Of a published figure: how a model was asked for it, and what it answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<PublishedCase>,
}

/// A published figure that a virtual array was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedCase {
    /// The group of figures that it belongs to, as the campaign names it: `md3000`.
    pub group: String,
    /// What is claimed.
    pub kind: ClaimKind,
    /// Every configuration that was asked, from the first to the last that are compared.
    pub arrays: Vec<String>,
    /// The load, or the work, in words.
    pub load: String,
    /// What the source says, and what was assumed.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub about: String,
    /// How far the model may be off, as a part of the published value.
    pub tolerance: f64,
    /// The figures of the model that were fitted with its help: it shows agreement then, not foresight. Empty for none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub fits: String,
    /// Why it does not count; empty where it does.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub listed: String,
    /// The point of the run that has the answer, where real storage was measured; empty where a model was asked.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub point: String,
    /// What the model gave, in the units of the value; absent where it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modelled: Option<f64>,
    /// Why it could not be asked; empty where it could.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub failure: String,
    /// Of a time that work of the array's own takes: the courses of it, one for each configuration.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub courses: Vec<WorkCourse>,
}

/// How work of an array's own goes on without a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkCourse {
    /// The work: `rebuild`.
    pub work: String,
    /// On which array.
    pub array: String,
    /// Up to which part the published time counts, in percent.
    pub to_percent: u32,
    /// When each percent was reached, from the first, since the work began.
    pub at_ns: Vec<u64>,
}

/// What a published figure claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// The value, within the tolerance.
    Figure,
    /// At least the value.
    Least,
    /// At most the value.
    Most,
    /// Each configuration gives more than the next, at least so many times as much.
    Order,
    /// All configurations give the same within the tolerance.
    Equal,
}

impl ClaimKind {
    /// Whether `modelled` keeps to what is claimed, `value`, within `tolerance`.
    pub fn holds(self, modelled: f64, value: f64, tolerance: f64) -> bool {
        match self {
            ClaimKind::Figure => (modelled / value - 1.0).abs() <= tolerance,
            ClaimKind::Least => modelled >= value * (1.0 - tolerance),
            ClaimKind::Most => modelled <= value * (1.0 + tolerance),
            // Where only the order is asked for, equal is not more.
            ClaimKind::Order if value > 1.0 => modelled >= value,
            ClaimKind::Order => modelled > 1.0,
            ClaimKind::Equal => modelled <= 1.0 + tolerance,
        }
    }
}

/// A state read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateProof {
    /// Of which factor.
    pub factor: String,
    /// What told: a command, or the options of a virtual array.
    pub by: String,
    /// When: `before` or `after` the measurement, or the name of a point.
    pub when: String,
    /// What was to be found.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl CampaignCell {
    /// The levels as words, `RAID 5, disks 8`; `one cell` where there are no factors.
    pub fn label(&self) -> String {
        let words: Vec<String> =
            self.levels.iter().map(|level| level_name(&level.factor, &level.level)).collect();
        if words.is_empty() { "one cell".into() } else { words.join(", ") }
    }

    /// The level of each factor by its place.
    pub fn places(&self) -> Vec<u32> {
        self.levels.iter().map(|level| level.place).collect()
    }

    /// Whether it holds published figures beside those of a model, and none of the campaign's own cells.
    pub fn is_published(&self) -> bool {
        self.claims.iter().any(|claim| claim.case.is_some())
    }

    /// Why its run does not count by what the cell itself knows: it was not measured, or its state was read back as another.
    pub fn lack(&self) -> Option<CellLack> {
        let void = |proof: &StateProof| CellLack { kind: LackKind::Void, why: proof.contradiction() };
        self.lack.clone().or_else(|| self.unproven().map(void))
    }

    /// The first state that was not as it should be.
    pub fn unproven(&self) -> Option<&StateProof> {
        self.proofs.iter().find(|proof| !proof.holds())
    }
}

/// A level with its factor as people say it: `RAID 5`, `disks 8`, and of targets themselves the target: `md3000`.
pub fn level_name(factor: &str, level: &str) -> String {
    match factor {
        "raid" => format!("RAID {level}"),
        "on" => level.strip_prefix("array:").unwrap_or(level).to_owned(),
        _ => format!("{factor} {level}"),
    }
}

impl StateProof {
    /// What was found in place of what should be: ``firmware is to be 3.88, and `cat version` says 3.86``.
    pub fn contradiction(&self) -> String {
        format!("{} is to be {}, and {} says {}", self.factor, self.expected, self.by, self.found)
    }

    /// Whether it was found as it should be.
    pub fn holds(&self) -> bool {
        self.expected == self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn cell() -> CampaignCell {
        sample::cell(vec![sample::level("raid", "5", 0), sample::level("disks", "8", 1)])
    }

    #[test]
    fn a_cell_is_called_by_the_levels_of_its_factors() {
        assert_eq!(cell().label(), "RAID 5, disks 8");
        assert_eq!(level_name("on", "array:px6-300d"), "px6-300d");
        assert_eq!(level_name("on", "/mnt/disk"), "/mnt/disk");
        assert_eq!(cell().places(), [0, 1]);
        assert_eq!(CampaignCell { levels: Vec::new(), ..cell() }.label(), "one cell");
    }

    #[test]
    fn a_state_that_was_found_otherwise_is_not_proven() {
        let proof = |found: &str| StateProof {
            factor: "firmware".into(),
            by: "cli".into(),
            when: "before".into(),
            expected: "3.88".into(),
            found: found.into(),
        };
        let with = |proofs| CampaignCell { proofs, ..cell() };
        assert_eq!(with(vec![proof("3.88")]).unproven(), None);
        assert_eq!(with(vec![proof("3.88"), proof("3.86")]).unproven(), Some(&proof("3.86")));
        let void = with(vec![proof("3.86")]).lack().expect("it is void");
        assert_eq!(
            (void.kind.word(), void.why.as_str()),
            ("void", "firmware is to be 3.88, and cli says 3.86")
        );
        let skipped = CellLack { kind: LackKind::Skipped, why: "no licence".into() };
        assert_eq!(CampaignCell { lack: Some(skipped.clone()), ..cell() }.lack(), Some(skipped));
        assert_eq!(cell().lack(), None);
    }
}
