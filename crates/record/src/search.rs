//! What a search for the highest rate that keeps its SLOs found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest rate that keeps every SLO, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What was to be kept, as typed: `p99<5ms`.
    pub slos: Vec<String>,
    /// The load that was searched, by the name of its point in the plan.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<String>,
    /// The edge was searched until the rates above and below it differed by no more than this part.
    pub tolerance: f64,
    /// No rate below was tried, as the user asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_per_s: Option<f64>,
    /// No rate above was offered, as the user asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_per_s: Option<f64>,
    /// What the target did in a closed loop with more and more requests in flight, of a load that writes behind its
    /// write cache; 0 where no closed loop was made, because `to_per_s` forbids it.
    pub ceiling_per_s: f64,
    /// The highest rate that was seen to keep every SLO; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub met_per_s: Option<f64>,
    /// The lowest rate above it that was seen to break one; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub violated_per_s: Option<f64>,
    /// Where between the two the edge probably lies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_per_s: Option<f64>,
    /// What broke there: an SLO, `rate not reached`, `requests not issued`, `errors` or `load generator saturated`. Behind the
    /// second and third the first SLO that broke as well: `rate not reached, p99<50ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub violated_by: Option<String>,
    /// Whether `met_per_s` held again, as it was and after a rest.
    pub confirmed: bool,
    /// The highest lower rate that held again, as it was and after a rest, where trials left it open whether `met_per_s` does;
    /// absent where none was tried or none held.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confirmed_per_s: Option<f64>,
    /// Seconds that a look at `met_per_s` takes to confirm it with nine chances of ten, by what was seen before;
    /// absent where that cannot be said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confirm_needs_s: Option<f64>,
    /// The highest rate that was kept straight after an overload, where it is less than `met_per_s`; 0 where none was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_overload_per_s: Option<f64>,
    /// The mean response time of a light load before the first rate, in nanoseconds: what a target recovers to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quiet_ns: Option<f64>,
    /// The longest time that the target took after a rate that failed until a light load was answered as before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_s: Option<f64>,
    /// The write cache in front of the storage; absent where nothing is written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub write_cache: Option<WriteCache>,
    /// For how long a slow second shows in those after it, at the rate that was kept; absent where it cannot be seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relaxation_s: Option<f64>,
    /// Whether it was carried to its end.
    pub complete: bool,
    /// How long the whole search was allowed to take, in seconds; absent where it took what it needed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub budget_s: Option<f64>,
    /// Whether it ended because that time was over: what is not known then was not searched further.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub out_of_time: bool,
    /// The queue depths, where these were searched and not rates; the rates are then those that were reached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depths: Option<Depths>,
    /// Every rate that was tried, in order.
    pub ladder: Vec<Rung>,
}

impl Search {
    /// Whether nothing is known of the storage because requests were issued late, at every rate that failed, by this machine.
    pub fn is_generator_late(&self) -> bool {
        let mut failed = self.ladder.iter().filter(|rung| rung.verdict == "fail").peekable();
        self.met_per_s.is_none()
            && failed.peek().is_some()
            && failed.all(|rung| rung.cause.as_deref() == Some(crate::names::search::GENERATOR))
    }

    /// Whether it was carried to its end and no rate was decided: none met the SLOs, and none violated one.
    pub fn is_undecided(&self) -> bool {
        self.complete && !self.ladder.is_empty() && self.ladder.iter().all(|rung| rung.verdict == "undecided")
    }

    /// For how long it was waited after rates that failed until the target had recovered, in all.
    pub fn waited_s(&self) -> f64 {
        self.ladder.iter().filter_map(|rung| rung.recovery).map(|recovery| recovery.seconds).sum()
    }
}

/// What lies between a load that writes and the media, and whether it was full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteCache {
    /// What it holds; absent where nobody knows of one and none was seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// How that is known: `given` by the user, by the description of the `array`, or `seen`: the rate of writes fell
    /// when so much was written.
    pub basis: String,
    /// What was written as fast as it went, to fill it or to see whether there is one.
    pub written_bytes: u64,
    /// Whether it was full before each rate that keeps it full was looked at, so that the rates are those of the storage
    /// behind it. True where none was seen.
    pub overrun: bool,
    /// For how long it was filled before each of those rates; absent where it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fill_s: Option<f64>,
}

/// Between which queue depths the edge lies: requests in flight of each worker at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Depths {
    /// The deepest that was seen to keep every SLO; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub met: Option<u32>,
    /// The least deep that was seen to break one; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub violated: Option<u32>,
    /// The deepest that was allowed.
    pub most: u32,
}

/// How a target came back from a rate that failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recovery {
    /// How long that took, or how long it was waited for.
    pub seconds: f64,
    /// Whether a light load was then answered as before.
    pub complete: bool,
}

/// One rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Requests a second that were asked for; those that were reached where queue depths were searched.
    pub rate_per_s: f64,
    /// Requests in flight of each worker at most; absent where rates were searched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// Why it was tried: `grid`, `doubling`, `bisection`, `confirm`, `after a rest`, `overload`, `after overload`.
    pub purpose: String,
    /// `pass`, `fail` or `undecided`.
    pub verdict: String,
    /// What failed; absent where nothing did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// Measured seconds of all looks together.
    pub seconds: f64,
    /// Requests that ended in them.
    pub requests: u64,
    /// The figure of each SLO, in its order: the part of the requests beyond the limit, the mean in nanoseconds, or
    /// the part that failed. Absent where nothing was seen.
    pub figures: Vec<Option<f64>>,
    /// The points of its looks.
    pub points: Vec<u32>,
    /// How the target recovered from it; absent where it was not waited for that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery: Option<Recovery>,
}
