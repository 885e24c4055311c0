//! The path from a target to its media: every part that requests pass, and what each can do at most.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of the path, and those it stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathPart {
    /// As the kernel names it: `/mnt/array`, `dm-3`, `sda`, `host2`, `pci 0000:3b:00.0`, `eth0`. One part has one
    /// name wherever it appears.
    pub name: String,
    /// What it is, in words: `xfs file system`, `multipath`, `md raid6`, `SATA link`.
    pub kind: String,
    /// Settings and identity, in words.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, String>,
    /// What it can do at most; empty where nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ceilings: Vec<Ceiling>,
    /// How the names of its series begin, as `disk.sda`; absent where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub series: Option<String>,
    /// What could not be found out, each with its reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unknown: Vec<String>,
    /// Whether it was told before in this path, with all that lies below it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub repeated: bool,
    /// What it stands on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub below: Vec<PathPart>,
}

impl PathPart {
    /// This part and all below it, from top to bottom, repeated ones among them.
    pub fn all(&self) -> Vec<&PathPart> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(part) = all.get(at).copied() {
            all.extend(&part.below);
            at += 1;
        }
        all
    }
}

/// What a part can do at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Of what: see [`names::ceiling`](crate::names::ceiling).
    pub what: String,
    /// The most.
    pub value: f64,
    /// `bytes_per_s`, `per_s`, `count` or `bytes`.
    pub unit: String,
    /// Whether reads and writes have that much each, as on a full-duplex link.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub each_way: bool,
    /// How it follows: `4 lanes of 8 GT/s, 128b/130b`.
    pub basis: String,
    /// The file of the kernel it comes from, or who gave it.
    pub source: String,
}
