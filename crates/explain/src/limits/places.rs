//! How a rate responds to more files or LUNs, where a higher queue depth on as many no longer raises it.

use std::collections::BTreeMap;

use record::{Point, PointKind, Run, Severity, WorkloadResult};
use spec::Files;

use super::curve::{Load, load};
use crate::Code;
use crate::draft::{Draft, percent, several};

/// Loads that differ by less are one.
const STEP: f64 = 1.5;

/// With this exponent of the number of files or more the rate follows it: half of what as many independent ones would
/// do.
const SPREADS: f64 = 0.5;

/// Keys in which two points may differ and still have the same access pattern, on more files or at another depth.
const LOOSE: [&str; 6] = ["depth", "workers", "files", "on", "seed", "worker_offset"];

/// The access pattern of a load, on however many files and at whatever queue depth.
type Pattern = Vec<(&'static str, String)>;

/// One workload in a closed loop, and over how many files and LUNs it goes.
struct Place {
    load: Load,
    files: u64,
    luns: u64,
    pattern: Pattern,
}

/// What loads on so many files and LUNs did.
#[derive(Debug, Default)]
struct Cell {
    /// The lightest first.
    loads: Vec<Load>,
    /// The one with the highest rate, the last of them by the order of the run, and its place there.
    best: Option<(usize, Load)>,
}

/// The loads of a run by access pattern and by the number of files and LUNs: found in one pass, since a run may have
/// thousands of points.
#[derive(Debug)]
pub(super) struct Places(BTreeMap<Pattern, BTreeMap<(u64, u64), Cell>>);

impl Places {
    /// Of the complete points of `run` that are one closed loop.
    pub(super) fn of(run: &Run) -> Places {
        let mut places: BTreeMap<Pattern, BTreeMap<(u64, u64), Cell>> = BTreeMap::new();
        for (at, point) in run.points.iter().enumerate() {
            let Some(Place { load, files, luns, pattern }) = Place::of(run, point) else { continue };
            let cell = places.entry(pattern).or_default().entry((files, luns)).or_default();
            cell.loads.push(load);
            if cell.best.is_none_or(|(_, best)| load.rate >= best.rate) {
                cell.best = Some((at, load));
            }
        }
        for cell in places.values_mut().flat_map(BTreeMap::values_mut) {
            cell.loads.sort_by(|one, other| one.in_flight.total_cmp(&other.in_flight));
        }
        Places(places)
    }
}

impl Place {
    fn of(run: &Run, point: &Point) -> Option<Place> {
        let [workload] = point.workloads.as_slice() else { return None };
        let pattern = workload.spec.texts().into_iter().filter(|(key, _)| !LOOSE.contains(key));
        Some(Place {
            load: load(point).filter(|_| point.kind == PointKind::Load && point.complete)?,
            files: files(workload)?,
            luns: luns(run, workload),
            pattern: pattern.collect(),
        })
    }
}

fn files(workload: &WorkloadResult) -> Option<u64> {
    let workers = workload.workers.len().max(1) as u64;
    match workload.spec.files {
        Files::Shared => Some(1),
        Files::PerWorker(count) => workers.checked_mul(count.into()).filter(|count| *count > 0),
        Files::WorkersPerFile(count) => (count > 0).then(|| workers.div_ceil(count.into())),
    }
}

fn luns(run: &Run, workload: &WorkloadResult) -> u64 {
    match workload.spec.on.len() {
        0 => run.targets.len().max(1) as u64,
        some => some as u64,
    }
}

/// A higher queue depth on as many files and LUNs gained nothing, and more of them did.
pub(super) struct Spread {
    noun: &'static str,
    few: u64,
    many: u64,
    from: Load,
    to: Load,
    wide: Load,
}

/// What the points of `run` with the access pattern of `point` show.
pub(super) fn spread(run: &Run, places: &Places, point: &Point) -> Option<Spread> {
    let own = Place::of(run, point)?;
    let peers = places.0.get(&own.pattern)?;
    let alike = &peers.get(&(own.files, own.luns))?.loads;
    let lighter = alike.partition_point(|other| other.in_flight * STEP <= own.load.in_flight);
    let lighter = alike.get(lighter.checked_sub(1)?)?;
    let exponent = |rate: f64, by: f64| rate.ln() / by.ln();
    let gain = exponent(own.load.rate / lighter.rate, own.load.in_flight / lighter.in_flight);
    if gain >= super::FLAT {
        return None;
    }
    let here = (own.files, own.luns);
    let widest = |noun: &'static str, of: fn((u64, u64)) -> u64, same: fn((u64, u64)) -> u64| {
        let wider = peers.iter().filter(|(there, _)| of(**there) as f64 >= STEP * of(here) as f64);
        let (many, (_, best)) = wider
            .filter(|(there, _)| same(**there) == same(here))
            .filter_map(|(there, cell)| Some((of(*there), cell.best?)))
            .max_by(|(_, (one_at, one)), (_, (other_at, other))| {
                one.rate.total_cmp(&other.rate).then(one_at.cmp(other_at))
            })?;
        let follows = exponent(best.rate / own.load.rate, many as f64 / of(here) as f64);
        (follows > SPREADS).then(|| Spread {
            noun,
            few: of(here),
            many,
            from: *lighter,
            to: own.load,
            wide: best,
        })
    };
    widest("file", |(files, _)| files, |(_, luns)| luns)
        .or_else(|| widest("LUN", |(_, luns)| luns, |(files, _)| files))
}

impl Spread {
    /// `With 1 file the rate changes by 0.4 % from 8 to 32 in flight; with 4 files it is 3.70 times as high.`
    pub(super) fn in_words(&self) -> String {
        format!(
            "With {} the rate changes by {} from {:.0} to {:.0} in flight; with {} it is {:.2} times as high.",
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

    /// The finding where no counted part is saturated.
    pub(super) fn finding(&self) -> Draft {
        let sentence = format!(
            "Each {0} is a bottleneck: the requests to one {0} share something that the {0}s do not. {1}",
            self.noun,
            self.in_words()
        );
        let remedy = match self.noun {
            "LUN" => {
                "Spread the load over more LUNs, or check what each LUN has of its own: its queue depth, its path, the \
                 controller that owns it."
            }
            _ => {
                "Spread the load over more files, or check what each file has of its own: the inode lock under \
                 buffered or appending writes, a connection, a queue."
            }
        };
        self.numbers(Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(remedy))
    }
}
