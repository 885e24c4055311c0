//! What the evidence supports, in one sentence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The figure may not mean what it seems to.
    Warning,
    /// The figure does not mean what it seems to.
    Invalid,
}

/// One sentence the evidence supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable name, as in the guide: `cache-suspected`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What was found, with its numbers, in words.
    pub sentence: String,
    /// What to do about it; empty when nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub remedy: String,
    /// The numbers, with units in their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub numbers: BTreeMap<String, f64>,
    /// The point it is about; absent when it is about the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<u32>,
}

impl Finding {
    /// The part that its sentence names as the bottleneck: `disks`, `Each file`; `None` for a finding of another code.
    pub fn bottleneck(&self) -> Option<&str> {
        let before = |words: &str| self.sentence.split_once(words).map(|(part, _)| part);
        let named =
            [" is the bottleneck", " are the bottleneck", " is a bottleneck"].into_iter().filter_map(before);
        named.min_by_key(|part| part.len()).filter(|_| self.code == "bottleneck")
    }
}
