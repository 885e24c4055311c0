//! The record of a plan carried out.

use std::collections::BTreeMap;

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::campaign::{CellLack, LackKind};
use crate::finding::Finding;
use crate::point::Point;
use crate::upgrade;

/// The version this program writes. It reads this one and all before it.
pub const SCHEMA_VERSION: u32 = 2;

/// The exit code of a run whose storage failed.
const FAILED: u8 = 5;

/// A plan carried out: what was asked, on what, what came back, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Version of this shape.
    pub schema_version: u32,
    /// Names the run; sorts by time.
    pub id: String,
    /// What made it.
    pub tool: Tool,
    /// UTC, RFC 3339.
    pub started: String,
    /// UTC, RFC 3339; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<String>,
    /// The command line, program first.
    pub command: Vec<String>,
    /// Labels given by the user.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub tags: BTreeMap<String, String>,
    /// Its place in a campaign; absent where it belongs to none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell: Option<crate::CampaignCell>,
    /// What was to be done.
    pub plan: PlanSource,
    /// Real or virtual.
    pub world: World,
    /// What was asked, in the order given.
    pub targets: Vec<Target>,
    /// The way from each target to its media, part by part, in the order of the targets; empty where it is not known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub path: Vec<crate::PathPart>,
    /// The machine that asked.
    pub environment: Environment,
    /// The consents to destroy data that were given and used.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub consents: Vec<String>,
    /// What a search for the highest rate found; absent where none was made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub search: Option<crate::Search>,
    /// What a search over designs found; absent where none was made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exploration: Option<crate::Exploration>,
    /// Phases that were gone through in rounds until a figure was steady, or for as long as they might be.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rounds: Vec<crate::Rounds>,
    /// Results, in the order they were measured.
    pub points: Vec<Point>,
    /// What the evidence supports.
    pub findings: Vec<Finding>,
    /// How far the figures can be relied on; absent where no storage was asked or nothing was judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grading: Option<crate::Grading>,
    /// Whether it is good enough, where the plan says what is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judgement: Option<crate::judgement::Judgement>,
    /// What showing progress on a terminal cost; absent where nothing was drawn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub display: Option<DisplayCost>,
    /// How it ended.
    pub ending: Ending,
}

impl Run {
    /// The point of that index, by its place where the points are in the order of their indices.
    pub fn point(&self, index: u32) -> Option<&Point> {
        let sought = self.points.binary_search_by_key(&index, |point| point.index);
        let looked_for = || self.points.iter().find(|point| point.index == index);
        sought.ok().and_then(|place| self.points.get(place)).or_else(looked_for)
    }

    /// Whether its figures count for the cell of a campaign: measured to the end without a failure, in the state that the
    /// cell is about.
    pub fn counts(&self) -> bool {
        let is_proven = self.cell.as_ref().is_some_and(|cell| cell.unproven().is_none());
        self.ending.complete && self.ending.code == 0 && is_proven
    }

    /// Why its figures do not count for the cell of a campaign: its state, or a failure. `None` where they do, of a run of no
    /// campaign, and of one that was cut short, which says nothing of its cell.
    pub fn lack(&self) -> Option<CellLack> {
        let failed = || CellLack { kind: LackKind::Failed, why: self.ending.reason.clone() };
        let has_failed = self.ending.code != 0 && (self.ending.complete || self.ending.code == FAILED);
        self.cell.as_ref()?.lack().or_else(|| has_failed.then(failed))
    }

    /// All of it but its points.
    pub fn without_points(&self) -> Run {
        Run {
            schema_version: self.schema_version,
            id: self.id.clone(),
            tool: self.tool.clone(),
            started: self.started.clone(),
            ended: self.ended.clone(),
            command: self.command.clone(),
            tags: self.tags.clone(),
            cell: self.cell.clone(),
            plan: self.plan.clone(),
            world: self.world,
            targets: self.targets.clone(),
            path: self.path.clone(),
            environment: self.environment.clone(),
            consents: self.consents.clone(),
            search: self.search.clone(),
            exploration: self.exploration.clone(),
            rounds: self.rounds.clone(),
            points: Vec::new(),
            findings: self.findings.clone(),
            grading: self.grading.clone(),
            judgement: self.judgement.clone(),
            display: self.display.clone(),
            ending: self.ending.clone(),
        }
    }
}

/// What showing progress on a terminal cost while a run went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisplayCost {
    /// `full` for a full screen, or `line`.
    pub kind: String,
    /// Processor time that it took, in seconds.
    pub cpu_s: f64,
    /// For how long it was shown, in seconds.
    pub shown_s: f64,
}

/// What made a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `fathom`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A plan as typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanSource {
    /// Its name.
    pub name: String,
    /// Its sentence about itself.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub about: String,
    /// Where it came from: a ready plan's name or a file's path.
    pub origin: String,
    /// The text.
    pub text: String,
    /// Keys changed on the command line.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub overrides: Vec<String>,
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// Real storage, real time.
    Host,
    /// A virtual array, virtual time.
    Array,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// As typed.
    pub address: String,
    /// `file`, `directory`, `block device`, `null` or `array`.
    pub kind: String,
    /// The file or device that was used, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The size that was used.
    pub size_bytes: u64,
    /// Memory below this machine that may hold its data: of the device, of the controller, of a server.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caches: Vec<Cache>,
    /// Model, serial, firmware, file system, mount options, scheduler, caches: what could be read.
    /// Well-known keys are in [`names::fact`](crate::names::fact).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, String>,
    /// How far the model of a virtual array was from published figures; absent of real storage, of an array that is not
    /// shipped, and of one that is exact or was fitted to a measurement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Validation>,
}

/// How far models were from published figures that they were not fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Published figures of the array itself; there may be none.
    pub own_figures: u32,
    /// Whether the errors are those of the array's own figures; else those of all shipped arrays.
    pub is_own: bool,
    /// The figures that the errors are of.
    pub figures: u32,
    /// The median of the absolute errors, as a share of the published value.
    pub median_error: f64,
    /// The share of the figures that the model came within a quarter of.
    pub within_25: f64,
}

/// Memory that may hold data of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// Whose, in words: `drive`, `controller`, as the user or the device says.
    pub name: String,
    /// How much of it.
    pub size_bytes: u64,
}

/// The machine that asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Its name.
    pub hostname: String,
    /// Kernel name, release and machine.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Processors online.
    pub cpus: u32,
    /// Memory.
    pub ram_bytes: u64,
    /// Everything else that may matter, in words.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// Whether every point of the plan was carried out.
    pub complete: bool,
    /// The exit code.
    pub code: u8,
    /// The reason, in words.
    pub reason: String,
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("not a run record: {0}")]
    Shape(#[from] serde_json::Error),
    /// Written by a newer program.
    #[error("the record has version {found}, this program reads up to {SCHEMA_VERSION}; use a newer fathom")]
    TooNew {
        /// The version found.
        found: u32,
    },
}

/// Reads a record of this or any older version; what was written by an older one has the present shape and version.
pub fn read(json: &str) -> Result<Run, ReadError> {
    match version(json)? {
        SCHEMA_VERSION => Ok(serde_json::from_str(json)?),
        _ => upgraded(json, upgrade::run),
    }
}

/// Reads a point that is kept apart from its record, which has that [`version`].
pub fn read_point(json: &str, version: u32) -> Result<Point, ReadError> {
    match version {
        SCHEMA_VERSION => Ok(serde_json::from_str(json)?),
        _ => upgraded(json, upgrade::point),
    }
}

/// Which version of the shape a record has, at most [`SCHEMA_VERSION`].
pub fn version(json: &str) -> Result<u32, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let found = serde_json::from_str::<Version>(json)?.schema_version;
    if found > SCHEMA_VERSION { Err(ReadError::TooNew { found }) } else { Ok(found) }
}

fn upgraded<T: serde::de::DeserializeOwned>(json: &str, upgrade: fn(&mut Value)) -> Result<T, ReadError> {
    let mut value: Value = serde_json::from_str(json)?;
    upgrade(&mut value);
    Ok(serde_json::from_value(value)?)
}

/// The JSON Schema of a record: the same however the comments it is made of are wrapped.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Run);
    RecursiveTransform(unwrap_description).transform(&mut schema);
    schema
}

/// Joins the lines of each paragraph of a description.
fn unwrap_description(schema: &mut Schema) {
    let Some(serde_json::Value::String(description)) = schema.get_mut("description") else { return };
    let paragraphs: Vec<String> = description.split("\n\n").map(|it| it.replace('\n', " ")).collect();
    *description = paragraphs.join("\n\n");
}
