//! `fathom doctor --self-test`: whether the program's own figures are what it says of them.
//!
//! **Invariant:** every draw comes from a fixed seed, so a section passes always or never; nothing is measured here
//! that depends on the machine.

mod coverage;
mod generators;
mod limits;

use serde_json::{Value, json};

use crate::ending::{Ending, Failure};
use crate::output::{self, TreeFormat};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All sections together below a minute.
    Short,
    /// As much as the published figures rest on.
    Full,
}

/// One claim of the program, and what was found.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was tested.
    pub what: String,
    /// What the figure is, with its unit.
    pub measure: String,
    /// The figure.
    pub found: f64,
    /// The smallest that passes; `None` where only much is wrong.
    pub low: Option<f64>,
    /// The largest that passes; `None` where only little is wrong.
    pub high: Option<f64>,
}

impl Check {
    fn passed(&self) -> bool {
        self.low.is_none_or(|low| self.found >= low) && self.high.is_none_or(|high| self.found <= high)
    }

    fn line(&self) -> String {
        let asked = match (self.low, self.high) {
            (Some(low), Some(high)) => format!(", required: {low:.1} to {high:.1}"),
            (Some(low), None) => format!(", required: at least {low:.1}"),
            (None, Some(high)) => format!(", required: at most {high:.3}"),
            (None, None) => String::new(),
        };
        format!("  {} {:>8.3}  {}: {}{asked}\n", verdict(self.passed()), self.found, self.what, self.measure)
    }

    fn json(&self) -> Value {
        json!({
            "what": self.what, "measure": self.measure, "found": self.found, "low": self.low, "high": self.high,
            "passed": self.passed(),
        })
    }
}

/// Checks that belong together, in a line.
#[derive(Clone, Debug)]
pub struct Family {
    /// What they are about, and how many.
    pub what: String,
    /// The worst and the best of them, with what is asked.
    pub told: String,
    /// Whether all of them passed.
    pub passed: bool,
}

impl Family {
    fn line(&self) -> String {
        format!("  {} {}: {}\n", verdict(self.passed), self.what, self.told)
    }
}

/// As wide in either case.
fn verdict(passed: bool) -> &'static str {
    if passed { "ok    " } else { "FAILED" }
}

/// Checks of one kind.
#[derive(Clone, Debug)]
pub struct Section {
    /// What they are about.
    pub title: String,
    /// In the order in which they were made.
    pub checks: Vec<Check>,
    /// Their families: each check is in one.
    pub families: Vec<Family>,
    /// What a reader has to know of all of them.
    pub notes: Vec<String>,
}

impl Section {
    fn passed(&self) -> bool {
        self.checks.iter().all(Check::passed)
    }

    /// A line for each family and each check that failed; of the full extent every check with the notes.
    fn text(&self, extent: Extent) -> String {
        let passed = self.checks.iter().filter(|check| check.passed()).count();
        debug_assert!(
            !self.checks.is_empty(),
            "a section without checks would pass whatever the program does"
        );
        let head = format!("\n{passed} of {} passed: {}\n", self.checks.len(), self.title);
        match extent {
            Extent::Short => {
                let failed = self.checks.iter().filter(|check| !check.passed()).map(Check::line);
                std::iter::once(head).chain(self.families.iter().map(Family::line)).chain(failed).collect()
            }
            Extent::Full => {
                let checks = self.checks.iter().map(Check::line);
                let notes = self.notes.iter().map(|note| format!("  {note}\n"));
                std::iter::once(head).chain(checks).chain(notes).collect()
            }
        }
    }

    fn json(&self) -> Value {
        let checks: Vec<Value> = self.checks.iter().map(Check::json).collect();
        json!({ "title": self.title, "passed": self.passed(), "checks": checks, "notes": self.notes })
    }
}

/// What can be tried by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SelfTestPart {
    /// Addresses, sizes, operations and arrivals follow their laws.
    Generators,
    /// 95 % intervals contain the true value in 95 % of runs.
    Intervals,
    /// Bottlenecks planted in virtual arrays are identified.
    Limits,
}

impl SelfTestPart {
    /// In the order in which they are shown.
    const ALL: [SelfTestPart; 3] = [SelfTestPart::Generators, SelfTestPart::Intervals, SelfTestPart::Limits];

    fn section(self, extent: Extent) -> Section {
        match self {
            SelfTestPart::Generators => generators::section(extent),
            SelfTestPart::Intervals => coverage::section(extent),
            SelfTestPart::Limits => limits::section(extent),
        }
    }
}

/// Runs `only` these parts, or all where none is named, and prints each as it ends: by families, so that all of it fits
/// one screen, or of the full extent check by check. Exit code 1 where a check is outside of what it states.
pub fn self_test(only: &[SelfTestPart], extent: Extent, format: TreeFormat) -> Result<Ending, Failure> {
    let print = |text: &str| output::print(text);
    let mut sections = Vec::new();
    for part in SelfTestPart::ALL.into_iter().filter(|part| only.is_empty() || only.contains(part)) {
        let section = part.section(extent);
        if format == TreeFormat::Text {
            print(&section.text(extent))?;
        }
        sections.push(section);
    }
    if format == TreeFormat::Text && extent == Extent::Short {
        print(
            "\nEach figure: --format json; with as many cases as the published figures rest on: --full.\n",
        )?;
    }
    let failed = sections.iter().filter(|section| !section.passed()).count();
    if format == TreeFormat::Json {
        let all: Vec<Value> = sections.iter().map(Section::json).collect();
        let whole = json!({ "passed": failed == 0, "full": extent == Extent::Full, "sections": all });
        print(&format!("{whole:#}\n"))?;
    }
    Ok(match failed {
        0 => Ending::done(),
        failed => Ending {
            code: 1,
            reason: format!("{failed} of {} sections of the self-test failed", sections.len()),
        },
    })
}
