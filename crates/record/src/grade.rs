//! How far figures can be relied on, and the checks from which that follows.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far figures can be relied on, from A, where every check was made and passed, to F, where a figure does not mean
/// what it seems to. Worse ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Grade {
    /// Every check was made and passed.
    A,
    /// Something could not be checked, or is to be kept in mind.
    B,
    /// How exact the figures are, or for how long they hold, is in doubt; or two things that matter most could not be
    /// checked.
    C,
    /// What was measured is in doubt.
    D,
    /// It is in doubt for several reasons.
    E,
    /// A figure does not mean what it seems to.
    F,
}

impl Grade {
    /// All of them, the best first.
    pub const ALL: [Grade; 6] = [Grade::A, Grade::B, Grade::C, Grade::D, Grade::E, Grade::F];
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The evidence was there, and nothing is wrong.
    Passed,
    /// A finding says what is wrong.
    Failed,
    /// The evidence was not there.
    NotChecked,
}

/// One question to the evidence, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Stable name, as in the guide: `direct`, `cache`, `steady`.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// The best grade that this check alone allows.
    pub grade: Grade,
    /// Why it failed, by the codes of its findings; empty otherwise. Findings that say how well it passed are among
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub codes: Vec<String>,
    /// Why it was not checked, in words; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// Of a run: names of the points where it came out so; empty for a point, and where it is about the run as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub points: Vec<String>,
}

/// A grade with the checks it follows from. Checks that do not apply are not among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grading {
    /// The worst that any check allows.
    pub grade: Grade,
    /// In the order of the guide.
    pub checks: Vec<Check>,
}

impl Grade {
    /// Whether it is in doubt what was measured, so that a comparison with it says little.
    pub fn is_doubtful(self) -> bool {
        self >= Grade::D
    }
}

impl Grading {
    /// Why it is in doubt what was measured, as what stands behind "it": each check that allows no better than D, in the
    /// order of the guide. Empty for C and better.
    pub fn doubts(&self) -> Vec<String> {
        let failed = |check: &&Check| check.outcome == Outcome::Failed && check.grade.is_doubtful();
        let failed: Vec<&Check> = self.checks.iter().filter(failed).collect();
        let is_buffered = failed.iter().any(|check| check.name == "direct");
        // What was served by the page cache fails both; one reason is enough.
        let told = failed.iter().filter(|check| !(is_buffered && check.name == "cache"));
        told.map(|check| doubt(&check.name)).collect()
    }
}

/// What the failed check `name` means for a figure.
fn doubt(name: &str) -> String {
    match name {
        "requests" => "had requests that failed or were not issued",
        "accounting" | "bookkeeping" => "has figures that do not agree",
        "direct" => "was answered by the page cache",
        "cache" => "was answered by a cache",
        "content" => "moved data that compress, repeat or were never written",
        "generator" => "was limited by the load generator or its machine",
        other => return format!("failed the check `{other}`"),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_doubt_is_told_by_the_checks_that_allow_no_better_than_d() {
        let check = |name: &str, grade| Check {
            name: name.into(),
            outcome: if grade == Grade::A { Outcome::Passed } else { Outcome::Failed },
            grade,
            codes: Vec::new(),
            why: String::new(),
            points: Vec::new(),
        };
        let checks = vec![
            check("requests", Grade::A),
            check("direct", Grade::D),
            check("cache", Grade::D),
            check("steady", Grade::C),
        ];
        let grading = Grading { grade: Grade::E, checks };
        assert_eq!(grading.doubts(), ["was answered by the page cache"]);
        assert!(Grade::D.is_doubtful() && !Grade::C.is_doubtful());
    }

    #[test]
    fn grades_order_from_the_best_to_the_worst() {
        assert!(Grade::ALL.is_sorted());
        assert_eq!(Grade::ALL.map(|grade| grade.to_string()).concat(), "ABCDEF");
    }
}
