//! A limit that somebody set: the control group of the program, or what keeps a rate the same whatever is asked.

use record::names::{fact, series};
use record::{PathPart, Point, Run, Severity};

use super::curve::{Sweeps, load};
use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::{mean, within};

/// A rate so near to a limit is held by it.
const AT: f64 = 0.95;

/// Seconds of a steady rate differ by no more where it is imposed (standard deviation over mean).
const CONSTANT: f64 = 0.005;

/// Rates of loads that are so near are one.
const SAME: f64 = 0.01;

/// Loads that are apart hold so many times as much in flight: twice, but for what the edges of the window add.
const TIMES: f64 = 1.9;

/// Fewer seconds show no constancy.
const SECONDS: usize = 10;

/// A rate so far above a limit is not held by it: several devices of a path may each take their part.
const ABOVE: f64 = 1.05;

/// The limit of the control group that the rate of a point of real storage is at.
pub(super) fn by_group(run: &Run, point: &Point) -> Option<Draft> {
    let limits = run.environment.facts.get(fact::IO_MAX)?;
    let on_path = |name: &str| run.path.iter().flat_map(PathPart::all).any(|part| part.name == name);
    for line in limits.split("; ") {
        let (device, limits) = line.split_once(' ')?;
        for (key, most) in limits.split(' ').filter_map(|one| one.split_once('=')) {
            let (Ok(most), Some(rate)) = (most.parse::<f64>(), carried(point, key)) else { continue };
            let share = rate / most;
            if !on_path(device) || !(AT..ABOVE).contains(&share) {
                continue;
            }
            let sentence = format!(
                "The control group of this program is the limit: {} of the {most:.0} {} a second that it allows on \
                 {device} ({key}).",
                percent(share),
                if key.ends_with("bps") { "bytes" } else { "requests" }
            );
            let draft = Draft::new(Code::LimitImposed, Severity::Note, sentence)
                .remedy("Measure outside of the group, or raise its limit: the storage could do more.");
            return Some(draft.number("rate_per_s", rate).number("most_per_s", most).number("share", share));
        }
    }
    None
}

/// What the point moved a second of what `key` of io.max limits.
fn carried(point: &Point, key: &str) -> Option<f64> {
    let op = match key.chars().next()? {
        'r' => "read",
        'w' => "write",
        _ => return None,
    };
    let seconds = |workload: &record::WorkloadResult| (workload.measured_ns as f64 / 1e9).max(1e-9);
    let sum = point.workloads.iter().flat_map(|workload| {
        let own = workload.classes.iter().filter(|class| class.op == op);
        own.map(move |class| if key.ends_with("bps") { class.bytes } else { class.ops } as f64 / seconds(workload))
    });
    Some(sum.sum())
}

/// Storage varies from second to second and answers to more in flight; where no counted part is full, what does neither
/// looks as if somebody keeps it so.
pub(super) fn by_constancy(sweeps: &Sweeps<'_>, point: &Point) -> Option<Draft> {
    let own = load(point)?;
    let varies = variation(point).filter(|varies| *varies <= CONSTANT)?;
    let loads = sweeps.with(point);
    let lighter = loads.partition_point(|(there, _)| there.in_flight * TIMES <= own.in_flight);
    let lighter = lighter.checked_sub(1).and_then(|last| loads.get(last));
    let heavier = loads.get(loads.partition_point(|(there, _)| there.in_flight < own.in_flight * TIMES));
    let (apart, _) = [lighter, heavier].into_iter().flatten().find(|(there, other)| {
        let same = (there.rate / own.rate - 1.0).abs() <= SAME;
        same && variation(other).is_some_and(|varies| varies <= CONSTANT)
    })?;
    let sentence = format!(
        "The rate looks imposed: {:.0}/s with {:.0} in flight and {:.0}/s with {:.0}, and its seconds differ by {}.",
        own.rate,
        own.in_flight,
        apart.rate,
        apart.in_flight,
        percent(varies)
    );
    let remedy = "Look for a limit that somebody set: a hypervisor, a cloud volume, a quality of service of the array; \
                  where there is none, it is a link that nothing here counts.";
    let draft = Draft::new(Code::LimitImposed, Severity::Note, sentence).remedy(remedy);
    Some(draft.number("rate_per_s", own.rate).number("variation", varies))
}

/// Standard deviation over mean of the rate of the whole seconds within the measured window.
fn variation(point: &Point) -> Option<f64> {
    let [workload] = point.workloads.as_slice() else { return None };
    let (from, until) = (workload.measured_from_ns, workload.measured_from_ns + workload.measured_ns);
    let own = point.series.iter().filter(|one| {
        one.workload.as_deref() == Some(workload.name.as_str()) && one.name.ends_with(series::OPS)
    });
    let all: Vec<Vec<f64>> = own.map(|one| within(one, from, until)).collect();
    let length = all.iter().map(Vec::len).min().filter(|length| *length >= SECONDS)?;
    let rates: Vec<f64> = (0..length).map(|second| all.iter().map(|one| one[second]).sum()).collect();
    let middle = mean(&rates).filter(|mean| *mean > 0.0)?;
    let squares: Vec<f64> = rates.iter().map(|rate| (rate - middle).powi(2)).collect();
    Some(mean(&squares)?.sqrt() / middle)
}

/// Fewer member commands than this part of the requests, and the cache answered.
const FEW: f64 = 0.5;

/// On a virtual array: reads that no member was asked for.
pub(crate) fn by_cache(run: &Run, point: &Point) -> Option<Draft> {
    let breakdown = point.breakdown.as_ref().filter(|_| run.world == record::World::Array)?;
    let reads: u64 = point
        .workloads
        .iter()
        .flat_map(|one| &one.totals)
        .filter(|one| one.op == "read")
        .map(|one| one.ops)
        .sum();
    let kept = breakdown.classes.iter().any(|class| class.visits > 0);
    let of_members = breakdown.classes.iter().filter(|class| class.component.starts_with("disk "));
    let asked: u64 = of_members
        .filter(|class| ["host-read", "prefetch"].contains(&class.op.as_str()))
        .map(|class| class.visits)
        .sum();
    let random =
        point.workloads.iter().all(|one| one.spec.get("pattern").is_some_and(|it| it != "sequential"));
    let share = 1.0 - asked as f64 / reads.max(1) as f64;
    if !kept || !random || reads == 0 || share < FEW {
        return None;
    }
    let sentence = format!(
        "The array's cache answered {} of the reads: its members were asked {asked} times for {reads} reads.",
        percent(share)
    );
    let draft = Draft::new(Code::CacheAnswered, Severity::Note, sentence)
        .remedy("Where the members are to be measured, use a `span` several times the cache.");
    Some(draft.number("answered_share", share).number("reads", reads as f64))
}
