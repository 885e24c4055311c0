//! What a load answered to more files or LUNs, where it no longer answered to more in flight on as many as it had.

use std::collections::BTreeMap;

use record::{Point, PointKind, Run, Severity, WorkloadResult};

use super::curve::{Load, load};
use crate::Code;
use crate::draft::{Draft, percent, several};
use crate::evidence::key;

/// Loads that differ by less are one.
const STEP: f64 = 1.5;

/// With this exponent of the number of files or more the rate follows it: half of what as many independent ones would
/// do.
const SPREADS: f64 = 0.5;

/// Keys in which two points may differ and still ask for the same, in more places or with more in flight.
const LOOSE: [&str; 6] = ["depth", "workers", "files", "on", "seed", "worker_offset"];

/// One workload in a closed loop, and over how many files and LUNs it goes.
struct Place<'a> {
    load: Load,
    files: u64,
    luns: u64,
    asks: BTreeMap<&'a str, &'a str>,
}

impl<'a> Place<'a> {
    fn of(run: &Run, point: &'a Point) -> Option<Place<'a>> {
        let [workload] = point.workloads.as_slice() else { return None };
        let asks = workload.spec.iter().filter(|(key, _)| !LOOSE.contains(&key.as_str()));
        Some(Place {
            load: load(point).filter(|_| point.kind == PointKind::Load && point.complete)?,
            files: files(workload)?,
            luns: luns(run, workload)?,
            asks: asks.map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        })
    }
}

fn files(workload: &WorkloadResult) -> Option<u64> {
    let workers = workload.workers.len().max(1) as u64;
    let text = key(workload, "files").unwrap_or("shared");
    let (kind, count) = text.split_once('(').unwrap_or((text, ""));
    let count = || count.trim_end_matches(')').parse::<u64>().ok().filter(|count| *count > 0);
    match kind {
        "shared" => Some(1),
        "per_worker" => workers.checked_mul(count()?),
        "workers_per_file" => Some(workers.div_ceil(count()?)),
        _ => None,
    }
}

/// How many numbers `1,3-4` names; all targets where it says `all`.
fn luns(run: &Run, workload: &WorkloadResult) -> Option<u64> {
    match key(workload, "on").unwrap_or("all") {
        "all" => Some(run.targets.len().max(1) as u64),
        list => {
            let count = |part: &str| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let numbers = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
                (numbers.1 + 1).checked_sub(numbers.0)
            };
            list.split(',').map(count).sum()
        }
    }
}

/// More in flight on as many files and LUNs gave nothing, and more of them did.
pub(super) struct Spread {
    noun: &'static str,
    few: u64,
    many: u64,
    from: Load,
    to: Load,
    wide: Load,
}

/// What the points of `run` that ask for the same as `point` say of it.
pub(super) fn spread(run: &Run, point: &Point) -> Option<Spread> {
    let own = Place::of(run, point)?;
    let all = run.points.iter().filter_map(|other| Place::of(run, other));
    let peers: Vec<Place<'_>> = all.filter(|other| other.asks == own.asks).collect();
    let lighter = peers
        .iter()
        .filter(|other| (other.files, other.luns) == (own.files, own.luns))
        .filter(|other| other.load.in_flight * STEP <= own.load.in_flight)
        .max_by(|one, other| one.load.in_flight.total_cmp(&other.load.in_flight))?;
    let exponent = |rate: f64, by: f64| rate.ln() / by.ln();
    let gain = exponent(own.load.rate / lighter.load.rate, own.load.in_flight / lighter.load.in_flight);
    if gain >= super::FLAT {
        return None;
    }
    let widest = |noun: &'static str, of: fn(&Place<'_>) -> u64, same: fn(&Place<'_>) -> u64| {
        let wider = peers.iter().filter(|other| of(other) as f64 >= STEP * of(&own) as f64);
        let best = wider
            .filter(|other| same(other) == same(&own))
            .max_by(|one, other| one.load.rate.total_cmp(&other.load.rate))?;
        let follows = exponent(best.load.rate / own.load.rate, of(best) as f64 / of(&own) as f64);
        (follows > SPREADS).then(|| Spread {
            noun,
            few: of(&own),
            many: of(best),
            from: lighter.load,
            to: own.load,
            wide: best.load,
        })
    };
    widest("file", |place| place.files, |place| place.luns)
        .or_else(|| widest("LUN", |place| place.luns, |place| place.files))
}

impl Spread {
    /// `On 1 file the rate changed by 0.4 % from 8 to 32 in flight; over 4 files it was 3.70 times as high.`
    pub(super) fn in_words(&self) -> String {
        format!(
            "On {} the rate changed by {} from {:.0} to {:.0} in flight; over {} it was {:.2} times as high.",
            several(self.few, self.noun),
            percent(self.to.rate / self.from.rate - 1.0),
            self.from.in_flight,
            self.to.in_flight,
            several(self.many, self.noun),
            self.wide.rate / self.to.rate
        )
    }

    /// Its numbers.
    pub(super) fn numbers(&self, draft: Draft) -> Draft {
        draft
            .number("places", self.few as f64)
            .number("more_places", self.many as f64)
            .number("more_places_rate_times", self.wide.rate / self.to.rate)
            .number("more_in_flight_rate_times", self.to.rate / self.from.rate)
    }

    /// The finding where no part that is counted is full.
    pub(super) fn finding(&self) -> Draft {
        let sentence = format!(
            "Each {0} is the limit: {1} All requests of one {0} go through something that the {0}s do not share.",
            self.noun,
            self.in_words()
        );
        let remedy = match self.noun {
            "LUN" => {
                "Spread the load over more LUNs, or look at what one has for itself: its queue depth, its path, the \
                 controller that owns it."
            }
            _ => {
                "Spread the load over more files, or look at what one has for itself: the lock of its inode under \
                 buffered or appending writes, one connection, one queue."
            }
        };
        self.numbers(Draft::new(Code::Limit, Severity::Note, sentence).remedy(remedy))
    }
}
