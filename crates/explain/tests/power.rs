//! What a comparison of two single runs finds, by their length and by how much they truly differ.

use explain::compare::{Group, MARGIN, compare};
use record::sample::{self, Stream};
use record::{ClassSecond, Run, Verdict, World, summarise};
use stats::Histogram;
use stats::selftest::Queue;

/// Requests of a closed loop of 16 users who think, at a server that is busy two thirds of the time.
const QUEUE: Queue = Queue::Thinking(16, 16.0);
const SERVICE_S: f64 = 0.0005;

/// A run of a virtual queue of that service time, its record made as by a measurement.
fn run(service_s: f64, seconds: u32, seed: u64) -> Run {
    let stretches = QUEUE.seconds(service_s, seconds, seed);
    let stream = Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 400_000, spread: 0.5 };
    let mut workload = sample::workload("main", &[stream]);
    let mut all = Histogram::new();
    stretches
        .iter()
        .flat_map(|one| one.buckets())
        .for_each(|bucket| all.record_n(bucket.high(), bucket.count));
    let class = &mut workload.classes[0];
    (class.ops, class.bytes) = (all.count(), all.count() * 4096);
    class.response = record::Histogram::from(&all);
    workload.measured_ns = u64::from(seconds) * 1_000_000_000;
    let second = |one: &stats::dependent::Stretch| ClassSecond {
        ops: one.count(),
        bytes: one.count() * 4096,
        responses: one.buckets().collect(),
    };
    workload.summary =
        summarise(&workload, 1.0, &stretches.iter().map(|one| vec![second(one)]).collect::<Vec<_>>());
    let mut point = sample::point(0, "queue", vec![workload]);
    let from = point.workloads[0].measured_from_ns;
    for series in point.series.iter_mut().filter(|series| series.workload.is_some()) {
        series.at_ns = (1..=u64::from(seconds)).map(|second| from + second * 1_000_000_000).collect();
        series.values = stretches.iter().map(|one| one.count() as f64).collect();
    }
    Run { world: World::Array, ..sample::run("queue", vec![point]) }
}

/// How often a figure was told to differ, to be equivalent, and neither, of so many pairs.
fn told(metric: &str, differ: f64, seconds: u32, pairs: u64) -> [u64; 3] {
    let mut counts = [0; 3];
    for pair in 0..pairs {
        let sides =
            [run(SERVICE_S, seconds, 2 * pair + 1), run(SERVICE_S * (1.0 + differ), seconds, 2 * pair + 2)];
        let groups: Vec<Group<'_>> =
            sides.iter().map(|run| Group { name: "side".into(), runs: vec![run] }).collect();
        let comparison = compare(None, &groups, MARGIN);
        let row = comparison.rows.iter().find(|row| row.metric == metric).unwrap();
        counts[match row.verdict {
            Verdict::Better | Verdict::Worse => 0,
            Verdict::Equivalent => 1,
            Verdict::Inconclusive | Verdict::Offered => 2,
        }] += 1;
    }
    counts
}

#[test]
fn runs_of_ten_seconds_that_truly_differ_by_a_tenth_are_not_called_equivalent() {
    for metric in ["iops", "mean", "p50"] {
        let [_, equivalent, _] = told(metric, 0.12, 10, 40);
        assert_eq!(equivalent, 0, "{metric}");
    }
}

#[test]
fn equal_virtual_runs_are_told_to_differ_in_no_more_than_one_pair_of_twenty() {
    for metric in ["iops", "mean", "p50", "p99"] {
        let [differ, ..] = told(metric, 0.0, 10, 60);
        // One of twenty and two standard errors.
        assert!(differ <= 6, "{metric}: {differ} of 60");
    }
}

/// `cargo test -p fathom-explain --test main -- --ignored power --nocapture`; some minutes.
#[test]
#[ignore = "minutes; prints the table of benches/RESULTS.md"]
#[allow(clippy::print_stdout, reason = "a table for whoever runs it")]
fn power_by_length_and_difference() {
    println!(
        "| seconds | service slower by | figure | differs | equivalent | inconclusive |\n|---|---|---|---|---|---|"
    );
    for seconds in [10, 30, 60] {
        for differ in [0.0, 0.03, 0.05, 0.1] {
            for metric in ["iops", "mean", "p50", "p99"] {
                let [told, equal, open] = told(metric, differ, seconds, 200).map(|count| count as f64 / 2.0);
                let percent = differ * 100.0;
                println!(
                    "| {seconds} | {percent:.0} % | {metric} | {told:.1} % | {equal:.1} % | {open:.1} % |"
                );
            }
        }
    }
}
