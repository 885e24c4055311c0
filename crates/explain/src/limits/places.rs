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
struct TargetSpread {
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
            let Some(TargetSpread { load, files, luns, pattern }) = TargetSpread::of(run, point) else {
                continue;
            };
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

impl TargetSpread {
    fn of(run: &Run, point: &Point) -> Option<TargetSpread> {
        let [workload] = point.workloads.as_slice() else { return None };
        let pattern = workload.spec.texts().into_iter().filter(|(key, _)| !LOOSE.contains(key));
        Some(TargetSpread {
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
    let own = TargetSpread::of(run, point)?;
    let peers = places.0.get(&own.pattern)?;
    let alike = &peers.get(&(own.files, own.luns))?.loads;
    let lighter = alike.partition_point(|other| other.in_flight * STEP <= own.load.in_flight);
    let lighter = alike.get(lighter.checked_sub(1)?)?;
    debug_assert!(lighter.in_flight < own.load.in_flight);
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
        debug_assert!(many > of(here), "a wider place has more of them");
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

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    /// Points of one worker with so many files, LUNs and requests in flight, and their rates.
    fn run(loads: &[(u64, &str, f64, u64)]) -> Run {
        let point = |(index, (files, on, in_flight, per_s)): (u32, &(u64, &str, f64, u64))| {
            let stream =
                Stream { op: "read", size_bytes: 4096, per_s: *per_s, median_ns: 1_000_000, spread: 0.0 };
            let mut workload = sample::workload("main", &[stream]);
            workload.mean_in_flight = *in_flight;
            workload.spec.files = spec::Files::PerWorker(u32::try_from(*files).unwrap());
            workload.spec.set("on", on).unwrap();
            sample::point(index, "p", vec![workload])
        };
        sample::run("sweep", (0..).zip(loads).map(point).collect())
    }

    /// What the second of these points shows.
    fn second(run: &Run) -> Option<Spread> {
        spread(run, &Places::of(run), &run.points[1])
    }

    fn of(loads: &[(u64, &str, f64, u64)]) -> Option<Spread> {
        second(&run(loads))
    }

    #[test]
    fn files_are_counted_by_what_the_key_says() {
        let counted = |workers: usize, text: &str| {
            let mut workload = run(&[(1, "all", 8.0, 1_000)]).points.remove(0).workloads.remove(0);
            workload.workers = vec![workload.workers[0].clone(); workers];
            workload.spec.set("files", text).unwrap();
            files(&workload)
        };
        assert_eq!(counted(4, "shared"), Some(1));
        assert_eq!((counted(4, "per_worker(3)"), counted(0, "per_worker(3)")), (Some(12), Some(3)));
        assert_eq!(counted(8, "workers_per_file(3)"), Some(3));
    }

    #[test]
    fn luns_are_counted_by_the_numbers_that_are_named() {
        let counted = |on: &str, targets: usize| {
            let mut run = run(&[(1, "all", 8.0, 1_000)]);
            run.targets = vec![run.targets[0].clone(); targets];
            run.points[0].workloads[0].spec.set("on", on).unwrap();
            luns(&run, &run.points[0].workloads[0])
        };
        assert_eq!((counted("all", 2), counted("all", 0)), (2, 1));
        assert_eq!((counted("1,3-5, 9", 2), counted("2-2", 2)), (5, 1));
    }

    #[test]
    fn a_point_has_a_place_where_it_is_one_closed_loop_that_ended() {
        let placed = |change: fn(&mut Point)| {
            let mut run = run(&[(2, "all", 8.0, 1_000)]);
            change(&mut run.points[0]);
            TargetSpread::of(&run, &run.points[0]).map(|place| (place.files, place.luns, place.pattern.len()))
        };
        let keys = run(&[(2, "all", 8.0, 1_000)]).points[0].workloads[0].spec.texts();
        let fixed = keys.iter().filter(|(key, _)| !LOOSE.contains(key)).count();
        assert!(fixed < keys.len());
        assert_eq!(placed(|_| {}), Some((2, 1, fixed)));
        assert_eq!(placed(|point| point.complete = false), None);
        assert_eq!(placed(|point| point.kind = PointKind::State), None);
        assert_eq!(placed(|point| point.workloads.push(point.workloads[0].clone())), None);
        assert_eq!(placed(|point| point.workloads[0].mean_in_flight = 0.0), None);
    }

    #[test]
    fn of_equal_rates_the_last_is_the_best_of_a_place_and_its_loads_are_in_order() {
        let run = run(&[
            (1, "all", 32.0, 1_000),
            (1, "all", 8.0, 2_000),
            (1, "all", 16.0, 2_000),
            (1, "all", 4.0, 10),
        ]);
        let places = Places::of(&run);
        let cell = places.0.values().next().and_then(|cells| cells.get(&(1, 1))).expect("all have one place");
        let in_flight: Vec<f64> = cell.loads.iter().map(|load| load.in_flight).collect();
        assert_eq!(in_flight, [4.0, 8.0, 16.0, 32.0]);
        assert_eq!(cell.best.map(|(at, best)| (at, best.in_flight)), Some((2, 16.0)));
    }

    #[test]
    fn more_files_show_a_bottleneck_of_one_where_more_in_flight_gain_nothing() {
        let light = (1, "all", 8.0, 1_000);
        let wide = (4, "all", 32.0, 4_000);
        let found = of(&[light, (1, "all", 32.0, 1_010), wide]).expect("four files do four times as much");
        assert_eq!((found.noun, found.few, found.many), ("file", 1, 4));
        assert_eq!(
            found.in_words(),
            "With 1 file the rate changes by 1.0 % from 8 to 32 in flight; with 4 files it is 3.96 times as high."
        );
        let finding = found.finding().about_run();
        assert!(finding.sentence.starts_with("Each file is a bottleneck: the requests to one file share"));
        assert!(finding.sentence.ends_with(" 3.96 times as high.") && finding.remedy.contains("more files"));
        let numbers: Vec<(&str, f64)> =
            finding.numbers.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        assert_eq!(
            numbers,
            [
                ("more_in_flight_rate_times", 1.01),
                ("more_places", 4.0),
                ("more_places_rate_times", 4_000.0 / 1_010.0),
                ("places", 1.0),
            ]
        );
        // From 8 to 32 in flight an exponent of 0.15 makes 1.231 times.
        assert!(of(&[light, (1, "all", 32.0, 1_230), wide]).is_some());
        assert!(of(&[light, (1, "all", 32.0, 1_232), wide]).is_none(), "the depth gains by itself");
        // Four times the files with an exponent of a half make twice the rate.
        assert!(of(&[light, (1, "all", 32.0, 1_000), (4, "all", 32.0, 2_000)]).is_none());
        assert!(of(&[light, (1, "all", 32.0, 1_000), (4, "all", 32.0, 2_001)]).is_some());
    }

    #[test]
    fn loads_and_places_are_others_from_half_as_many_more_on() {
        let wide = (8, "all", 32.0, 9_000);
        assert!(of(&[(2, "all", 8.0, 1_000), (2, "all", 12.0, 1_000), wide]).is_some());
        assert!(of(&[(2, "all", 8.0, 1_000), (2, "all", 11.9, 1_000), wide]).is_none());
        let lighter = (2, "all", 4.0, 1_000);
        assert!(of(&[lighter, (2, "all", 12.0, 1_000), (3, "all", 12.0, 9_000)]).is_some());
        assert!(of(&[(3, "all", 4.0, 1_000), (3, "all", 12.0, 1_000), (4, "all", 12.0, 9_000)]).is_none());
        // The nearest lighter load counts: between it and this one the rate does not grow.
        let nearest = of(&[lighter, (2, "all", 12.0, 3_000), wide, (2, "all", 8.0, 3_000)]);
        assert_eq!(nearest.map(|found| found.from.in_flight), Some(8.0));
        let mut other = run(&[lighter, (2, "all", 12.0, 1_000), wide]);
        other.points[2].workloads[0].spec.pattern = spec::Pattern::Sequential;
        assert!(second(&other).is_none(), "another access pattern");
    }

    #[test]
    fn luns_are_told_apart_from_files_and_of_equal_rates_the_last_point_is_compared() {
        let (light, own) = ((1, "1", 8.0, 1_000), (1, "1", 32.0, 1_000));
        let found = of(&[light, own, (1, "1-4", 32.0, 4_000)]).expect("four LUNs do more");
        assert_eq!((found.noun, found.few, found.many), ("LUN", 1, 4));
        let finding = found.finding().about_run();
        assert!(
            finding.sentence.starts_with("Each LUN is a bottleneck") && finding.remedy.contains("more LUNs")
        );
        assert!(of(&[light, own, (4, "1-4", 32.0, 4_000)]).is_none(), "both are more: neither is told apart");
        let last = of(&[light, own, (4, "1", 32.0, 4_000), (8, "1", 32.0, 4_000), (6, "1", 32.0, 3_999)]);
        assert_eq!(last.map(|found| found.many), Some(8));
        let last = of(&[light, own, (8, "1", 32.0, 4_000), (4, "1", 32.0, 4_000)]);
        assert_eq!(last.map(|found| found.many), Some(4));
    }

    #[test]
    fn files_of_none_for_each_worker_or_of_no_workers_are_not_counted() {
        let mut workload = run(&[(1, "all", 8.0, 1_000)]).points.remove(0).workloads.remove(0);
        for files_of in [spec::Files::PerWorker(0), spec::Files::WorkersPerFile(0)] {
            workload.spec.files = files_of;
            assert_eq!(files(&workload), None);
        }
    }
}
