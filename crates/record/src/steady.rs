//! A figure that was measured once a round until it was steady.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::convert::narrow;

/// The rounds of one phase and what SNIA's rule says of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rounds {
    /// The phase's name as written.
    pub phase: String,
    /// The figure: `iops`, `mb_per_s`, `mean`, `p99`; times in nanoseconds.
    pub figure: String,
    /// Of which point of a round, by its swept values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub at: BTreeMap<String, String>,
    /// The figure of every round, from the first.
    pub values: Vec<f64>,
    /// The rounds after which the test ends without steady state.
    pub most: u32,
    /// Whether steady state was reached, by the rule of SNIA's PTS.
    pub steady: bool,
    /// The last five rounds held against the rule; absent with fewer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<Window>,
}

/// Five rounds held against the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// From 1.
    pub first_round: u32,
    /// From 1.
    pub last_round: u32,
    /// Of the five.
    pub mean: f64,
    /// Largest less smallest.
    pub range: f64,
    /// A fifth of the mean.
    pub range_allowed: f64,
    /// Of the line fitted through the five, from one round to the next.
    pub slope: f64,
    /// Where that line is at round 0.
    pub intercept: f64,
    /// How far that line goes within the window, without its sign.
    pub excursion: f64,
    /// A tenth of the mean.
    pub excursion_allowed: f64,
}

impl Rounds {
    /// `iops at reads 0%, size 4KiB`.
    pub fn tracked(&self) -> String {
        let at: Vec<String> = self.at.iter().map(|(key, value)| format!("{key} {value}")).collect();
        if at.is_empty() { self.figure.clone() } else { format!("{} at {}", self.figure, at.join(", ")) }
    }
}

impl From<stats::steady::Steady> for Window {
    fn from(found: stats::steady::Steady) -> Window {
        debug_assert!(1 <= found.first_round && found.first_round <= found.last_round, "rounds count from 1");
        debug_assert!(found.range >= 0.0 && found.excursion >= 0.0, "distances have no sign");
        Window {
            first_round: narrow::<u32>(found.first_round),
            last_round: narrow::<u32>(found.last_round),
            mean: found.mean,
            range: found.range,
            range_allowed: found.range_allowed,
            slope: found.slope,
            intercept: found.intercept,
            excursion: found.excursion,
            excursion_allowed: found.excursion_allowed,
        }
    }
}
