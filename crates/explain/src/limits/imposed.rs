//! A rate limit from outside: the throttle of a control group, or one that keeps the rate constant at every depth.

use record::names::{fact, series};
use record::{Behalf, Op, PathPart, Point, Run, Severity};
use spec::Pattern;
use units::OpsPerSecond;

use super::curve::{Sweeps, load};
use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::{mean, within};

/// A rate so near to a limit is bounded by it.
const AT: f64 = 0.95;

/// Seconds differ by no more from the middle one where a rate is imposed, as a share, or by a request: one falls on
/// either side of a second's end.
const CONSTANT: f64 = 0.005;

/// So many of the seconds do: in others the machine did something else.
const NEARLY_ALL: f64 = 0.8;

/// Rates of loads that are so near are one.
const SAME: f64 = 0.01;

/// Loads are compared that hold so many times as much in flight: twice, but for what the edges of the window add.
const TIMES: f64 = 1.9;

/// Fewer seconds show no constancy.
const SECONDS: usize = 10;

/// A rate so far above a limit is not held by it: several devices of a path may each take their part.
const ABOVE: f64 = 1.05;

/// The limit of the control group that the rate of a point of real storage is at.
pub(super) fn by_group(run: &Run, point: &Point) -> Option<Draft> {
    let limits = run.environment.facts.get(fact::IO_MAX)?;
    for line in limits.split("; ") {
        let (device, limits) = line.split_once(' ')?;
        let Some(part) = run.path.iter().flat_map(PathPart::all).find(|part| part.name == device) else {
            continue;
        };
        for (key, most) in limits.split(' ').filter_map(|one| one.split_once('=')) {
            let Ok(most) = most.parse::<f64>() else { continue };
            let rates = [carried(point, key), counted(point, part, key)];
            let at = |rate: &f64| (AT..ABOVE).contains(&(rate / most));
            let Some(rate) = rates.into_iter().flatten().find(at) else { continue };
            let share = rate / most;
            let sentence = format!(
                "The control group of this program limits the rate: {} of the {most:.0} {} a second that it allows on \
                 {device} ({key}).",
                percent(share),
                if key.ends_with("bps") { "bytes" } else { "requests" }
            );
            let draft = Draft::new(Code::RateLimited, Severity::Warning, sentence)
                .remedy("Measure outside the control group, or raise its limit: the storage may do more.");
            return Some(draft.number("rate_per_s", rate).number("most_per_s", most).number("share", share));
        }
    }
    None
}

/// What the point moved a second of what `key` of io.max limits.
fn carried(point: &Point, key: &str) -> Option<f64> {
    let op = match key.chars().next()? {
        'r' => Op::Read,
        'w' => Op::Write,
        _ => return None,
    };
    let seconds = |workload: &record::WorkloadResult| (workload.measured_ns as f64 / 1e9).max(1e-9);
    let sum = point.workloads.iter().flat_map(|workload| {
        let own = workload.classes.iter().filter(|class| class.op == op);
        own.map(move |class| if key.ends_with("bps") { class.bytes } else { class.ops } as f64 / seconds(workload))
    });
    Some(sum.sum())
}

/// What the kernel counted of it on the device: requests that it divided count as often as it did so, as they do for
/// the limit.
fn counted(point: &Point, part: &PathPart, key: &str) -> Option<f64> {
    let what = match key {
        "rbps" => "read_bytes_per_s",
        "wbps" => "write_bytes_per_s",
        "riops" => "reads_per_s",
        "wiops" => "writes_per_s",
        _ => return None,
    };
    let name = format!("{}.{what}", part.series.as_ref()?);
    let series = point.series.iter().find(|series| series.workload.is_none() && series.name == name)?;
    let from = point.workloads.iter().map(|workload| workload.measured_from_ns).min()?;
    let until =
        point.workloads.iter().map(|one| one.measured_from_ns.saturating_add(one.measured_ns)).max()?;
    mean(&within(series, from, until))
}

/// The rate of storage varies from second to second and grows with the queue depth; where no counted part is saturated,
/// a rate that does neither looks like a rate limit.
pub(super) fn by_constancy(sweeps: &Sweeps<'_>, point: &Point) -> Option<Draft> {
    let own = load(point)?;
    let here = Constant::of(point)?;
    let loads = sweeps.with(point);
    let lighter = loads.partition_point(|(there, _)| there.in_flight * TIMES <= own.in_flight);
    let lighter = lighter.checked_sub(1).and_then(|last| loads.get(last));
    let heavier = loads.get(loads.partition_point(|(there, _)| there.in_flight < own.in_flight * TIMES));
    let (apart, there) = [lighter, heavier].into_iter().flatten().find_map(|(load, other)| {
        let there = Constant::of(other)?;
        ((there.rate / here.rate - 1.0).abs() <= SAME).then_some((load, there))
    })?;
    let sentence = format!(
        "Rate limit suspected: {}/s with {:.0} in flight and {}/s with {:.0}; {} of the seconds are within {} of \
         that rate.",
        OpsPerSecond::new(here.rate),
        own.in_flight,
        OpsPerSecond::new(there.rate),
        apart.in_flight,
        percent(here.share),
        percent(here.within)
    );
    let remedy = "Check the hypervisor, the cloud volume, and the array's quality of service for a rate limit; if \
                  there is none, suspect a link without counters.";
    let draft = Draft::new(Code::RateLimited, Severity::Note, sentence).remedy(remedy);
    Some(draft.number("rate_per_s", here.rate).number("constant_share", here.share))
}

/// A rate that nearly all seconds have.
struct Constant {
    /// Requests of the middle second.
    rate: f64,
    /// The part of the seconds that have it.
    share: f64,
    /// To which share of the rate.
    within: f64,
}

impl Constant {
    /// Of the whole seconds within the measured window; `None` where they are too few or differ.
    fn of(point: &Point) -> Option<Constant> {
        let [workload] = point.workloads.as_slice() else { return None };
        let (from, until) = (workload.measured_from_ns, workload.measured_from_ns + workload.measured_ns);
        let own = point.series.iter().filter(|one| {
            one.workload.as_deref() == Some(workload.name.as_str()) && one.name.ends_with(series::OPS)
        });
        let all: Vec<Vec<f64>> = own.map(|one| within(one, from, until)).collect();
        let length = all.iter().map(Vec::len).min().filter(|length| *length >= SECONDS)?;
        let mut rates: Vec<f64> = (0..length).map(|second| all.iter().map(|one| one[second]).sum()).collect();
        rates.sort_by(f64::total_cmp);
        // Where the middle second did nothing, no more than half of the seconds are alike.
        let rate = *rates.get(length / 2)?;
        // Beyond rounding: a second's rate is a count over a duration that is not quite one second.
        let within = CONSTANT.max(1.001 / rate);
        let alike = rates.iter().filter(|other| (*other / rate - 1.0).abs() <= within).count();
        let share = alike as f64 / length as f64;
        (share >= NEARLY_ALL).then_some(Constant { rate, share, within })
    }
}

/// With fewer member reads than this part of the reads, the cache served most of them.
const FEW: f64 = 0.5;

/// On a virtual array: reads that caused no member read.
pub(crate) fn by_cache(run: &Run, point: &Point) -> Option<Draft> {
    let breakdown = point.breakdown.as_ref().filter(|_| run.world == record::World::Array)?;
    let (reads, _) = point.metered(Op::Read);
    let kept = breakdown.classes.iter().any(|class| class.visits > 0);
    let of_members = breakdown.classes.iter().filter(|class| class.component.starts_with("disk "));
    let member_reads: u64 = of_members
        .filter(|class| matches!(class.op, Behalf::HostRead | Behalf::Prefetch))
        .map(|class| class.visits)
        .sum();
    let random = point.workloads.iter().all(|one| one.spec.pattern != Pattern::Sequential);
    let share = 1.0 - member_reads as f64 / reads.max(1) as f64;
    if !kept || !random || reads == 0 || share < FEW {
        return None;
    }
    let sentence = format!(
        "Cache hit rate {}: the array's members did {member_reads} reads for {reads} reads of the workload.",
        percent(share)
    );
    let draft = Draft::new(Code::CacheHits, Severity::Note, sentence)
        .remedy("To measure the members, use a working set (`span`) several times the cache.");
    Some(draft.number("answered_share", share).number("reads", reads as f64))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    fn run(per_s: u64) -> Run {
        let stream = |op, size_bytes| Stream { op, size_bytes, per_s, median_ns: 400_000, spread: 0.1 };
        let workload = sample::workload("main", &[stream("read", 4096), stream("write", 512)]);
        let mut run = sample::run("quick", vec![sample::point(0, "p", vec![workload])]);
        run.path = vec![PathPart { name: "sda".into(), ..PathPart::default() }];
        run
    }

    fn with_limits(run: &mut Run, limits: &str) {
        run.environment.facts.insert(fact::IO_MAX.into(), limits.into());
    }

    #[test]
    fn what_was_carried_is_counted_by_the_keys_of_a_control_group() {
        let run = run(1_000);
        let found = ["riops", "wiops", "rbps", "wbps", "x"].map(|key| carried(&run.points[0], key));
        assert_eq!(found, [Some(1e3), Some(1e3), Some(4_096e3), Some(512e3), None]);
    }

    #[test]
    fn a_rate_from_a_twentieth_below_a_limit_to_a_twentieth_above_is_held_by_it() {
        let limited = |most: &str| {
            let mut run = run(1_000);
            with_limits(&mut run, &format!("sdz riops=1000; sda wbps=max {most}"));
            by_group(&run, &run.points[0].clone()).map(Draft::about_run)
        };
        for (most, is_held) in [
            ("riops=1053", false),
            ("riops=1052", true),
            ("riops=1000", true),
            ("riops=953", true),
            ("riops=952", false),
            ("rbps=4096000", true),
            ("wbps=512000", true),
            ("wbps=4096000", false),
        ] {
            assert_eq!(limited(most).is_some(), is_held, "{most}");
        }
        let finding = limited("riops=1020").expect("it is held");
        assert_eq!(
            finding.sentence,
            "The control group of this program limits the rate: 98 % of the 1020 requests a second that it allows on \
             sda (riops)."
        );
        assert_eq!((finding.numbers["rate_per_s"], finding.numbers["most_per_s"]), (1_000.0, 1_020.0));
        assert!(limited("wbps=512000").expect("it is held").sentence.contains("bytes a second"));
    }

    /// One point with these rates in its seconds.
    fn seconds(rates: &[f64]) -> Point {
        let mut point = run(1_000).points.remove(0);
        point.series.retain(|one| one.workload.is_some() && one.name.ends_with(series::OPS));
        point.series.truncate(1);
        let from = point.workloads[0].measured_from_ns;
        let one = &mut point.series[0];
        one.from_ns = Some(from);
        one.at_ns = (1..=rates.len() as u64).map(|second| from + second * 1_000_000_000).collect();
        one.values = rates.to_vec();
        point
    }

    #[test]
    fn a_rate_is_constant_where_nearly_all_seconds_have_it() {
        let constant = |others: usize, other: f64| {
            let rates: Vec<f64> = (0..20).map(|at| if at < others { other } else { 1_000.0 }).collect();
            Constant::of(&seconds(&rates)).map(|found| (found.rate, found.share, found.within))
        };
        assert_eq!(constant(0, 0.0), Some((1_000.0, 1.0, 0.005)));
        assert_eq!(constant(4, 900.0), Some((1_000.0, 0.8, 0.005)));
        assert_eq!(constant(5, 900.0), None);
        assert_eq!(constant(20, 0.0), None, "nothing was done");
        assert_eq!(constant(9, 1_004.9).map(|found| found.1), Some(1.0));
        assert_eq!(constant(9, 1_005.1), None);
        assert!(Constant::of(&seconds(&[1_000.0; 10])).is_some());
        assert!(Constant::of(&seconds(&[1_000.0; 9])).is_none(), "too few to tell");
        // At a low rate a request falls on either side of a second's end.
        let slow: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 10.0 } else { 11.0 }).collect();
        assert_eq!(Constant::of(&seconds(&slow)).map(|found| (found.rate, found.share)), Some((11.0, 1.0)));
    }

    #[test]
    fn a_constant_rate_is_held_against_the_nearest_load_of_twice_or_half_as_much() {
        let points = (0u32..).zip([8.0, 10.0, 15.2]).map(|(index, in_flight): (u32, f64)| {
            let mut point = seconds(&[1_000.0; 20]);
            point.index = index;
            point.workloads[0].mean_in_flight = in_flight;
            point.swept = [("depth".to_owned(), in_flight.to_string())].into();
            point
        });
        let run = sample::run("sweep", points.collect());
        let sweeps = Sweeps::of(&run);
        let of =
            |index: usize| by_constancy(&sweeps, &run.points[index]).map(|draft| draft.about_run().sentence);
        assert!(of(0).is_some_and(|it| it.contains("with 8 in flight and 1,000/s with 15;")), "{:?}", of(0));
        assert!(of(2).is_some_and(|it| it.contains("with 15 in flight and 1,000/s with 8;")), "{:?}", of(2));
        assert_eq!(of(1), None, "neither is far enough from 10");
    }

    #[test]
    fn other_series_of_a_workload_and_rates_of_others_are_not_its_rate() {
        let mut point = seconds(&[1_000.0; 20]);
        let uneven = |name: &str, workload: &str| {
            let mut one = point.series[0].clone();
            (one.name, one.workload) = (name.into(), Some(workload.into()));
            one.values = (0..20).map(|at| f64::from(at) * 700.0).collect();
            one
        };
        let others = [uneven("read bytes", "main"), uneven("read ops", "other")];
        point.series.extend(others);
        assert_eq!(Constant::of(&point).map(|found| found.rate), Some(1_000.0));
    }
}
