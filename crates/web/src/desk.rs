//! What the server asks of whoever knows runs, plans and arrays.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What came back: JSON, or why there is none.
pub type Answer = Result<Value, Refusal>;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Of HTTP, 400 to 599.
    pub status: u16,
    /// What was tried, and why not.
    pub error: String,
    /// What to do; absent where the error says it.
    pub help: Option<String>,
}

impl Refusal {
    /// With the advice that stands in `error` behind its first `; `.
    pub fn parted(status: u16, error: &str) -> Refusal {
        match error.split_once("; ") {
            Some((error, help)) => Refusal { status, error: error.into(), help: Some(help.into()) },
            None => Refusal { status, error: error.into(), help: None },
        }
    }
}

/// Which runs are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsWanted {
    /// Only with this in the plan, a target, a label, the host or the id, whatever its case; any where empty.
    pub search: String,
    /// Only with all of these labels, `KEY` or `KEY=VALUE`.
    pub tags: Vec<String>,
    /// Those of published figures as well, which are otherwise found by a search alone: nothing was measured in them.
    pub published: bool,
    /// At most so many, the newest; `total` counts all.
    pub limit: usize,
}

/// A file to be kept by whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// What it is called.
    pub name: String,
    /// As `Content-Type` has it.
    pub kind: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A plan to be checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its text.
    pub toml: String,
    /// On what it is to be carried out; the targets are not looked at where absent.
    #[serde(default)]
    pub on: Targets,
    /// Keys that are set over it, `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// One target or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Targets {
    /// None.
    #[default]
    None,
    /// By itself.
    One(String),
    /// Used together.
    Several(Vec<String>),
}

impl Targets {
    /// Each of them.
    pub fn list(&self) -> Vec<String> {
        match self {
            Targets::None => Vec::new(),
            Targets::One(one) => vec![one.clone()],
            Targets::Several(several) => several.clone(),
        }
    }
}

/// A run to be started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Start {
    /// A ready plan; or else `toml`.
    pub plan: Option<String>,
    /// The text of a plan.
    pub toml: Option<String>,
    /// The targets.
    pub on: Targets,
    /// Keys that are set over the plan, `KEY=VALUE`.
    pub set: Vec<String>,
    /// Labels.
    pub tags: BTreeMap<String, String>,
    /// What may be destroyed, as the command line takes it.
    pub destroy: Option<String>,
}

/// A campaign to be checked or started; one that was started before is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CampaignAsked {
    /// A ready campaign; or else `toml`.
    pub campaign: Option<String>,
    /// The text of a campaign.
    pub toml: Option<String>,
    /// The target of all cells, in place of those of the text.
    pub on: Targets,
    /// Keys of all plans, `KEY=VALUE`.
    pub set: Vec<String>,
    /// Blocks, in place of those of the text.
    pub repeats: Option<u32>,
    /// One cell of so many is measured, likewise.
    pub fraction: Option<u32>,
    /// What may be destroyed, as the command line takes it. Nobody is told it again.
    #[serde(skip_serializing)]
    pub destroy: Option<String>,
}

/// How a campaign is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignCommand {
    /// What its runs are found by.
    pub name: String,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

/// Answers what the page asks. Called from several threads at once, which may wait.
///
/// A `trusted` request has shown the token. One that has not must not make the desk open what it names.
pub trait Desk: Send + Sync {
    /// The time now: UTC, RFC 3339.
    fn now(&self) -> String;
    /// The program and its library.
    fn about(&self) -> Answer;
    /// Saved runs, the newest first.
    fn runs(&self, wanted: &RunsWanted) -> Answer;
    /// The record of a run, JSON.
    fn record(&self, selector: &str) -> Result<String, Refusal>;
    /// The report on one run, to be shown in a page.
    fn report(&self, selector: &str) -> Answer;
    /// The report on several as a file, `html` or `xlsx`.
    fn report_file(&self, runs: &[String], ending: &str) -> Result<Download, Refusal>;
    /// How runs differ; `margin` in percent.
    fn compare(&self, runs: &[String], margin: f64) -> Answer;
    /// Campaigns of which there are runs.
    fn campaigns(&self) -> Answer;
    /// One of them; `asked` as it was started last, where that is known: cells to come are then known as well.
    fn campaign(&self, name: &str, asked: Option<&CampaignAsked>) -> Answer;
    /// Names and descriptions of the ready campaigns, as JSON.
    fn ready_campaigns(&self) -> Answer;
    /// One of them with its text.
    fn ready_campaign(&self, name: &str) -> Answer;
    /// Whether a text is a campaign, and what it would do.
    fn check_campaign(&self, asked: &CampaignAsked, trusted: bool) -> Answer;
    /// The ready plans.
    fn plans(&self) -> Answer;
    /// One of them with its text.
    fn plan(&self, name: &str) -> Answer;
    /// Keys of the plan language.
    fn plan_keys(&self) -> Answer;
    /// Whether a text is a plan, and what it would do.
    fn check(&self, check: &Check, trusted: bool) -> Answer;
    /// Virtual arrays.
    fn arrays(&self) -> Answer;
    /// One of them with its options.
    fn array(&self, name: &str) -> Answer;
    /// Arrays that are served on this machine, each with its state and the end of its event log.
    fn served(&self) -> Answer;
    /// The schema of records.
    fn schema(&self) -> Answer;
    /// The knobs of the array lab.
    fn lab_arrays(&self) -> Answer;
    /// A load curve of a virtual array.
    fn lab(&self, body: Value, trusted: bool) -> Answer;
    /// A rebuild of a virtual array.
    fn lab_rebuild(&self, body: Value, trusted: bool) -> Answer;
    /// Whether runs can be started; a refusal where what they measure could not be kept.
    fn may_start(&self) -> Result<(), Refusal>;
    /// The arguments that carry a run out and print its events as lines of JSON; `plan` is the name of the plan or the
    /// file that has its text.
    fn arguments(&self, start: &Start, plan: &str) -> Result<Vec<OsString>, Refusal>;
    /// What the plan of `start` is called.
    fn plan_name(&self, start: &Start) -> String;
    /// How a campaign is carried out; `file` is its name, or the file that has its text.
    fn campaign_command(&self, asked: &CampaignAsked, file: &str) -> Result<CampaignCommand, Refusal>;
    /// What its environment has beside the server's own: what nobody is to see in the list of processes.
    fn environment(&self) -> Vec<(OsString, OsString)>;
}
