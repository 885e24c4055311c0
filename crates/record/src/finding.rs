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

    /// The part that it is about: the bottleneck, and where none is named the busiest part, or the one with the longest queue. `None`
    /// for other findings.
    pub fn part(&self) -> Option<&str> {
        let after = |words: &str| self.sentence.split_once(words).map(|(_, rest)| rest);
        match self.code.as_str() {
            "bottleneck" => self.bottleneck(),
            "latency-bound" | "offered-load" => {
                after("the busiest, ")?.split_once(": ").map(|(part, _)| part)
            }
            "bottleneck-undetermined" => {
                after("; ")?.split_once(" % ")?.0.rsplit_once(' ').map(|(part, _)| part)
            }
            _ => None,
        }
    }

    /// How far that part is used, 0 to 1, or of a queue what the wait for it is of the response time; `None` where the finding does
    /// not say.
    pub fn part_share(&self) -> Option<f64> {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric();
        let key = |name: &str| name.to_lowercase().replace(|letter| !is_letter(letter), "_");
        let part = key(self.part()?) + "_";
        let shares = self.numbers.iter().filter(|(name, _)| name.ends_with("_share"));
        let own = shares.filter(|(name, _)| key(name).starts_with(&part));
        own.map(|(_, share)| *share).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: &str, sentence: &str, numbers: &[(&str, f64)]) -> Finding {
        Finding {
            code: code.into(),
            severity: Severity::Note,
            sentence: sentence.into(),
            remedy: String::new(),
            numbers: numbers.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
            point: None,
        }
    }

    #[test]
    fn the_part_that_a_finding_is_about_is_read_with_its_share() {
        let numbers = [("disks_busy_share", 0.27), ("controller_0_xor_busy_share", 0.48), ("in_flight", 4.0)];
        let of = |code: &str, sentence: &str| {
            let found = finding(code, sentence, &numbers);
            (found.part().map(str::to_owned), found.part_share())
        };
        let disks = (Some("disks".to_owned()), Some(0.27));
        assert_eq!(of("bottleneck", "disks are the bottleneck, not yet saturated: utilization 27 %."), disks);
        let busiest = "No part is saturated; the busiest, controller 0 xor: utilization 48 %.";
        assert_eq!(of("offered-load", busiest), (Some("controller 0 xor".to_owned()), Some(0.48)));
        let open =
            "Bottleneck not identified: one request in flight queues nowhere; disks 27 % busy, bus 2 % busy.";
        assert_eq!(of("bottleneck-undetermined", open), disks);
        assert_eq!(of("drift", busiest), (None, None));
        assert_eq!(of("bottleneck", "Each file is a bottleneck: so."), (Some("Each file".to_owned()), None));
        let queue = finding("bottleneck", "LUN queue is the bottleneck: so.", &[("lun_queue_share", 0.75)]);
        assert_eq!(queue.part_share(), Some(0.75));
    }
}
