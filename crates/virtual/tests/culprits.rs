//! A part that became slower is named, by the pattern that it leaves on the points of a plan; what no part explains is
//! unknown.
//!
//! Ten causes, each with the array, its options and its degree drawn from a seed; five runs of the array as it is, two
//! with the cause. No two runs share a seed, nor does the model with any of them, and each has noise of its own besides. Where a cause does not slow the plan by so much that the gate fails, it is made twice as strong.
//!
//! Of each case also what is named where nothing is slower, where the array stands still at times, and where the model does
//! not have the part.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![expect(clippy::print_stdout, reason = "it tells how many are named, and which are not")]

use std::sync::Arc;

use array::sim::Resource;
use array::spec::Shipped;
use array::streams::Stream;
use conduct::{Machine, in_order, processors};
use explain::compare::{
    ComparisonInput, FALSE_ALARMS, Shift, Suspicion, culprit, gate, likely, modelled, shifts,
};
use modelled::suspects::{Study, StudyResult, Suspect};
use record::judgement::{Culprit, Verdict};
use record::{Run, sample};
use units::convert::narrow;
use workload::plan::{Overrides, Plan, Work};

const PLAN: &str = r#"
name = "gate"
[defaults]
pattern = "random"
size    = "4KiB"
reads   = "100%"
warmup  = "2s"
run     = "8s"
settle  = "auto"
[[phase]]
name  = "read x{depth}"
depth = { sweep = [1, 16] }
[[phase]]
name  = "cached"
span  = "64MiB"
depth = 4
[[phase]]
name  = "write"
reads = "0%"
depth = 8
[[phase]]
name  = "mixed"
size  = "16KiB"
reads = "70%"
depth = 16
[[phase]]
name    = "stream read"
pattern = "sequential"
size    = "256KiB"
depth   = 4
[[phase]]
name    = "stream write"
pattern = "sequential"
size    = "256KiB"
reads   = "0%"
depth   = 4
"#;

/// Causes, and the part that has to be named.
const CAUSES: [(Suspect, &str); 10] = [
    (Suspect::Seeks, "disks"),
    (Suspect::Slower(Resource::ControllerProcessor), "controller processor"),
    (Suspect::Slower(Resource::Link), "link"),
    (Suspect::Slower(Resource::HostProcessor), "host processor"),
    (Suspect::NoWriteCache, "write cache"),
    (Suspect::Failed, "failed disk"),
    (Suspect::Busy(Work::Rebuild), "rebuild"),
    (Suspect::Rotation, "disks"),
    (Suspect::AddedLatency, "distance"),
    (Suspect::LinkCommand, "link"),
];

const ARRAYS: [&str; 3] = ["array:md3000?raid=5", "array:md3000?raid=10", "array:px6-300d?raid=5"];

/// Requests of each load.
const REQUESTS: u32 = 1_500;

/// Deviation of a figure from one run to the next besides that of its seed.
const NOISE: f64 = 0.01;

/// That of the host's processor time for each request, which differs by more on real hosts.
const HOST_NOISE: f64 = 0.2;

fn plan() -> Plan {
    Plan::parse("gate.toml", PLAN, &Overrides::default()).unwrap()
}

/// Draws of the standard normal distribution, by Box and Muller.
fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = (stream.unit().max(1e-300), stream.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A run with seed and noise of its own.
fn run(study: &Study<'_>, change: Option<(Suspect, f64)>, seed: u32, draws: &mut Stream) -> Option<Run> {
    let points = study.points(change, seed)?;
    let mut run = sample::run("gate", points);
    for summary in
        run.points.iter_mut().flat_map(|point| &mut point.workloads).flat_map(|one| &mut one.summary)
    {
        let slower = (NOISE * normal(draws)).exp();
        distort(summary, slower, slower);
    }
    let mut of_host = Stream::open(u64::from(seed), "hosts of culprits");
    for point in &mut run.points {
        let longer = (HOST_NOISE * normal(&mut of_host)).exp();
        let parts = point.breakdown.iter_mut().flat_map(|breakdown| &mut breakdown.components);
        for part in parts.filter(|part| part.name.starts_with("host ") && part.name.ends_with(" processor")) {
            part.service_ns = units::convert::truncated(part.service_ns as f64 * longer);
        }
    }
    Some(run)
}

fn distort(summary: &mut record::OpSummary, mean: f64, quantiles: f64) {
    summary.ops_per_s.value /= mean;
    if let Some(response) = &mut summary.response {
        response.mean_ns *= mean;
        for quantile in &mut response.quantiles {
            quantile.value_ns = units::convert::truncated(quantile.value_ns as f64 * quantiles);
        }
    }
}

/// What a case came to.
struct PlantedCase {
    cause: usize,
    address: &'static str,
    times: f64,
    found: Culprit,
    /// Of five runs of the array as it is the last two against the first three.
    equal: Culprit,
    /// The same where those two stand still for a sixth of the time.
    stalled: Culprit,
    /// The case by a model without the part that was planted.
    unmodelled: Culprit,
}

fn suspicions(like: &Run, found: &StudyResult) -> Vec<(Suspect, Suspicion)> {
    let each = found.each(|unchanged, changed| modelled(like, unchanged, changed));
    let told = |(suspect, tried): (Suspect, _)| {
        let (part, change) = (suspect.part().into(), suspect.change().into());
        (suspect, Suspicion { part, change, tried })
    };
    each.into_iter().map(told).collect()
}

fn measured(base: &[Run], runs: &[Run]) -> Vec<Shift> {
    shifts(&base.iter().collect::<Vec<_>>(), &runs.iter().collect::<Vec<_>>())
}

/// What the model does with each change, and its verdict on `runs` against `base`.
fn traced(study: &Study<'_>, base: &[Run], runs: &[Run]) -> (Vec<Suspicion>, Culprit) {
    let measured = measured(base, runs);
    let again = |found: &StudyResult| {
        let (suspects, all): (Vec<_>, Vec<_>) = suspicions(&runs[0], found).into_iter().unzip();
        likely(&measured, &all, 4).into_iter().map(|(at, times)| (suspects[at], times)).collect()
    };
    let found = study.search(again).unwrap();
    let all: Vec<Suspicion> = suspicions(&runs[0], &found).into_iter().map(|(_, one)| one).collect();
    let found = culprit("the model", &measured, &all);
    (all, found)
}

/// Rates and means suffer where the array stands still at times, while the middle and the 99th percentile are those of the
/// other requests.
fn stand_still(runs: &mut [Run]) {
    for one in runs.iter_mut().flat_map(|run| &mut run.points).flat_map(|point| &mut point.workloads) {
        one.summary.iter_mut().for_each(|summary| distort(summary, 1.2, 1.0));
    }
}

/// The verdicts on a case.
fn judged(
    (cause, address, times): (usize, &'static str, f64),
    study: &Study<'_>,
    base: &[Run],
    runs: &[Run],
) -> PlantedCase {
    let (all, found) = traced(study, base, runs);
    let (first, last) = base.split_at(3);
    let mut still = last.to_vec();
    stand_still(&mut still);
    let others: Vec<Suspicion> = all.iter().filter(|one| one.part != CAUSES[cause].1).cloned().collect();
    let of = |base: &[Run], runs: &[Run], all: &[Suspicion]| culprit("the model", &measured(base, runs), all);
    let (equal, stalled) = (of(first, last, &all), of(first, &still, &all));
    PlantedCase { cause, address, times, found, equal, stalled, unmodelled: of(base, runs, &others) }
}

fn fails(base: &[Run], runs: &[Run]) -> bool {
    let (baseline, equal) = ("tag:release".into(), Vec::new());
    let asked = ComparisonInput {
        baseline,
        base: base.iter().collect(),
        runs: runs.iter().collect(),
        equal,
        tolerance: 0.05,
        false_alarms: FALSE_ALARMS,
    };
    gate(&asked).verdict == Verdict::Violated
}

/// The case of that number: the cause by turns, all else drawn; `None` where no draw slows the plan.
fn case(number: u64) -> Option<PlantedCase> {
    let plan = plan();
    let mut draws = Stream::open(number, "culprits");
    let cause = narrow::<usize>(number % CAUSES.len() as u64);
    let (suspect, _) = CAUSES[cause];
    // What seeds make of a figure by chance is another thing in each case.
    let own = 1_000 * (narrow::<u32>(number) + 1);
    for _ in 0..6 {
        let address = ARRAYS[narrow::<usize>(draws.below(ARRAYS.len() as u64))];
        let (machine, stop) = (Machine::default(), Arc::default());
        let study = Study::open(&plan, (address, &Shipped), REQUESTS, &machine, &stop).unwrap().unwrap();
        let mut times = 1.3 + draws.unit();
        let base: Vec<Run> = (0..5).filter_map(|seed| run(&study, None, own + seed, &mut draws)).collect();
        for _ in 0..5 {
            let change = Some((suspect, times));
            let runs: Vec<Run> =
                (0..2).filter_map(|seed| run(&study, change, own + 100 + seed, &mut draws)).collect();
            if !runs.is_empty() && fails(&base, &runs) {
                return Some(judged((cause, address, times), &study, &base, &runs));
            }
            if suspect.degrees().len() < 2 {
                break;
            }
            times *= 2.0;
        }
    }
    None
}

fn told(one: &PlantedCase) -> String {
    let (suspect, _) = CAUSES[one.cause];
    let said = one.found.part.as_deref().unwrap_or("unknown");
    format!(
        "{} {:.1} on {}: {said}; {} {:?}",
        suspect.part(),
        one.times,
        one.address,
        one.found.why,
        one.found.suspects
    )
}

fn all(numbers: std::ops::Range<u64>) -> Vec<PlantedCase> {
    let mut all = Vec::new();
    let count = narrow::<usize>(numbers.end - numbers.start);
    in_order(
        count,
        processors(),
        &|at| case(numbers.start + at as u64),
        &mut |_, one: Option<PlantedCase>| {
            one.iter().for_each(|one| println!("{}", told(one)));
            all.extend(one);
            true
        },
    );
    all
}

/// A plan whose patterns tell the parts of an array apart that matter most.
const SHORT: &str = r#"
name = "gate"
[defaults]
pattern = "random"
warmup  = "1s"
run     = "5s"
[[phase]]
name  = "read"
size  = "4KiB"
[[phase]]
name  = "write x{depth}"
size  = "4KiB"
reads = "0%"
depth = { sweep = [1, 8] }
[[phase]]
name    = "stream"
pattern = "sequential"
size    = "256KiB"
depth   = 4
"#;

#[test]
fn a_part_that_became_slower_is_named_and_what_no_part_does_is_unknown() {
    let plan = Plan::parse("gate.toml", SHORT, &Overrides::default()).unwrap();
    let (machine, stop, mut draws) = (Machine::default(), Arc::default(), Stream::open(1, "culprits"));
    let study = Study::open(&plan, ("array:md3000?raid=5", &Shipped), 400, &machine, &stop).unwrap().unwrap();
    let mut of = |change, seeds: std::ops::Range<u32>| -> Vec<Run> {
        seeds.map(|seed| run(&study, change, seed, &mut draws).unwrap()).collect()
    };
    let (base, mut equal) = (of(None, 100..104), of(None, 104..106));
    let slower = of(Some((Suspect::NoWriteCache, 1.0)), 200..202);
    assert!(fails(&base, &slower));
    let (suspicions, found) = traced(&study, &base, &slower);
    assert_eq!(found.part.as_deref(), Some("write cache"), "{found:#?}");
    // One of six seconds.
    stand_still(&mut equal);
    assert!(fails(&base, &equal));
    let found = culprit("the model", &measured(&base, &equal), &suspicions);
    assert!(found.part.is_none() && found.why.contains("that were tried ("), "{found:#?}");
}

#[test]
fn a_part_that_takes_little_of_a_request_is_named_where_it_is_thirty_times_as_slow() {
    let plan = Plan::parse("gate.toml", SHORT, &Overrides::default()).unwrap();
    let (machine, stop, mut draws) = (Machine::default(), Arc::default(), Stream::open(2, "culprits"));
    let study = Study::open(&plan, ("array:md3000?raid=5", &Shipped), 400, &machine, &stop).unwrap().unwrap();
    let mut of = |change, seeds: std::ops::Range<u32>| -> Vec<Run> {
        seeds.map(|seed| run(&study, change, seed, &mut draws).unwrap()).collect()
    };
    let base = of(None, 100..104);
    let slower = of(Some((Suspect::Slower(Resource::HostProcessor), 30.0)), 200..202);
    assert!(fails(&base, &slower));
    let found = traced(&study, &base, &slower).1;
    assert_eq!(found.part.as_deref(), Some("host processor"), "{found:#?}");
}

#[test]
fn a_longer_way_is_named_by_what_it_adds_where_there_was_none() {
    let plan = Plan::parse("gate.toml", SHORT, &Overrides::default()).unwrap();
    let (machine, stop, mut draws) = (Machine::default(), Arc::default(), Stream::open(3, "culprits"));
    let study = Study::open(&plan, ("array:md3000?raid=5", &Shipped), 400, &machine, &stop).unwrap().unwrap();
    let mut of = |change, seeds: std::ops::Range<u32>| -> Vec<Run> {
        seeds.map(|seed| run(&study, change, seed, &mut draws).unwrap()).collect()
    };
    let base = of(None, 100..104);
    // A millisecond more.
    let slower = of(Some((Suspect::AddedLatency, 11.0)), 200..202);
    assert!(fails(&base, &slower));
    let found = traced(&study, &base, &slower).1;
    assert_eq!(found.part.as_deref(), Some("distance"), "{found:#?}");
    let change = &found.suspects[0].change;
    assert!(change.starts_with("with ") && change.contains(" more latency there and back"), "{change}");
}

#[test]
#[ignore = "a table for benches/RESULTS.md"]
fn planted_causes_are_named() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let first = number("FIRST", 0);
    let cases = all(first..first + number("CASES", 80));
    let mut table = [[0u32; 3]; CAUSES.len()];
    for one in &cases {
        let named = one.found.part.as_deref();
        let column = match named {
            Some(part) if part == CAUSES[one.cause].1 => 0,
            None => 1,
            Some(_) => 2,
        };
        table[one.cause][column] += 1;
    }
    for ((suspect, _), [right, unknown, wrong]) in CAUSES.iter().zip(table) {
        println!(
            "{} {}: {right} named, {unknown} unknown, {wrong} another",
            suspect.part(),
            suspect.change()
        );
    }
    let right: u32 = table.iter().map(|row| row[0]).sum();
    println!("{right} of {} named", cases.len());
    let named = |of: fn(&PlantedCase) -> &Culprit| cases.iter().filter(|one| of(one).part.is_some()).count();
    println!("a part is named in {} of equal runs", named(|one| &one.equal));
    println!("a part is named in {} of runs that stand still at times", named(|one| &one.stalled));
    println!(
        "another part is named in {} where the model lacks the one that was planted",
        named(|one| &one.unmodelled)
    );
}
