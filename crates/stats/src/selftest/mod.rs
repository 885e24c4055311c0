//! How often intervals hold the truth, for a user who wants to see it.
//!
//! Queues whose long-run figures are known are run again and again; each run gives its intervals as a measurement
//! would, and those that hold the long-run figure are counted.

mod queue;

use units::Nanos;
use units::convert::narrow;

use crate::Histogram;
use crate::dependent::{Stretches, mean_interval};

pub use queue::Queue;

/// Service time of every queue here, in seconds: ten thousand requests a second at most.
pub const SERVICE_S: f64 = 0.0001;

/// The percentiles that are tried.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// How often the interval of one figure of one queue held the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// Which queue.
    pub queue: Queue,
    /// `rate`, `mean`, `p50`, …
    pub figure: String,
    /// Each with a seed of its own.
    pub runs: u32,
    /// Runs that gave an interval.
    pub given: u32,
    /// Intervals that held the truth.
    pub held: u32,
}

impl Coverage {
    /// The part of the intervals that held the truth; `None` without any.
    pub fn share(&self) -> Option<f64> {
        (self.given > 0).then(|| f64::from(self.held) / f64::from(self.given))
    }

    /// Whether less than half of the runs gave an interval. Those that did met less that is slow than the others.
    pub fn is_sparse(&self) -> bool {
        self.given * 2 < self.runs
    }
}

/// The queues of a self-test: 30 to 95 % busy, and closed loops.
pub const QUEUES: [Queue; 10] = [
    Queue::Open(0.3),
    Queue::Open(0.8),
    Queue::Open(0.9),
    Queue::Open(0.95),
    Queue::OpenConstant(0.5),
    Queue::OpenConstant(0.8),
    Queue::OpenConstant(0.95),
    Queue::Thinking(32, 96.0),
    Queue::Thinking(32, 33.7),
    Queue::Closed(32),
];

/// Runs `queue` so often, each for so many seconds, and counts which intervals hold the long-run figure.
///
/// The long-run figures of an M/M/1 queue are its closed forms, of the others those of all runs together.
pub fn coverage(queue: Queue, service_s: f64, seconds: u32, runs: u32) -> Vec<Coverage> {
    let mut each = Vec::with_capacity(runs as usize);
    let mut all = Histogram::new();
    for seed in 1..=u64::from(runs) {
        let stretches = queue.seconds(service_s, seconds, seed);
        let pooled = Stretches::of(&stretches);
        pooled.buckets().for_each(|bucket| all.record_n(bucket.high(), bucket.count));
        let counts: Vec<f64> = stretches.iter().map(|one| one.count() as f64).collect();
        let mut found = vec![mean_interval(&counts).ok().map(|range| (range.low, range.high))];
        let mean = pooled.mean_ns().and_then(|mean| pooled.mean_interval(mean).ok());
        found.push(mean.map(|range| (range.low, range.high)));
        let ns = |value: Nanos| value.get() as f64;
        for q in QUANTILES {
            found.push(pooled.quantile_interval(q).ok().map(|range| (ns(range.low), ns(range.high))));
        }
        each.push(found);
    }
    let truths = truths(queue, service_s, f64::from(runs) * f64::from(seconds), &all);
    let names =
        ["rate".into(), "mean".into()].into_iter().chain(QUANTILES.map(|q| format!("p{}", q * 100.0)));
    let of = |(place, figure): (usize, String)| {
        let given: Vec<(f64, f64)> = each.iter().filter_map(|found| found[place]).collect();
        let held = given.iter().filter(|(low, high)| (*low..=*high).contains(&truths[place])).count();
        Coverage { queue, figure, runs, given: narrow::<u32>(given.len()), held: narrow::<u32>(held) }
    };
    names.enumerate().map(of).collect()
}

/// In the order of the figures. Source of the closed forms: Kleinrock, *Queueing Systems* 1, section 3.2 and 5.7.
fn truths(queue: Queue, service_s: f64, seconds: f64, all: &Histogram) -> Vec<f64> {
    if let Queue::Open(busy) = queue {
        let mean = service_s / (1.0 - busy) * 1e9;
        let quantiles = QUANTILES.map(|q| -(1.0 - q).ln() * mean);
        return [busy / service_s, mean].into_iter().chain(quantiles).collect();
    }
    let quantiles = QUANTILES.map(|q| all.quantile(q).map_or(0.0, |value| value.get() as f64));
    let mean = all.mean().unwrap_or(0.0);
    [all.count() as f64 / seconds, mean].into_iter().chain(quantiles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependent::Stretch;
    use units::convert::truncated;

    #[test]
    fn intervals_of_a_queue_that_is_80_per_cent_busy_hold_the_closed_forms() {
        for one in coverage(Queue::Open(0.8), 0.001, 30, 200) {
            if one.figure == "p99" {
                continue;
            }
            assert!(one.given > 190, "{one:?}");
            // 95 % of 200, and three standard errors.
            assert!((0.904..=0.996).contains(&one.share().unwrap()), "{one:?}");
        }
    }

    #[test]
    fn the_part_that_held_is_that_of_the_intervals_given_and_half_of_the_runs_is_not_sparse() {
        let of = |given: u32, held: u32| Coverage {
            queue: Queue::Closed(1),
            figure: "rate".into(),
            runs: 10,
            given,
            held,
        };
        assert_eq!((of(8, 6).share(), of(0, 0).share()), (Some(0.75), None));
        assert_eq!([4, 5, 6].map(|given| of(given, 0).is_sparse()), [true, false, false]);
    }

    #[test]
    fn each_figure_of_a_queue_has_its_name() {
        let all = coverage(Queue::Open(0.3), 0.001, 5, 2);
        let names: Vec<&str> = all.iter().map(|one| one.figure.as_str()).collect();
        assert_eq!(names, ["rate", "mean", "p50", "p90", "p99"]);
        assert!(all.iter().all(|one| one.runs == 2 && one.held <= one.given && one.given <= 2));
    }

    #[test]
    fn the_rate_of_a_closed_loop_is_held_against_that_of_all_its_runs_together() {
        let all = coverage(Queue::Closed(4), 0.001, 8, 6);
        assert!(all[0].given == 6 && all[0].held >= 4, "{all:?}");
    }

    #[test]
    fn a_tail_that_few_groups_of_requests_are_in_has_no_interval() {
        let all = coverage(Queue::Open(0.95), 0.001, 20, 40);
        let p99 = all.iter().find(|one| one.figure == "p99").unwrap();
        assert!(p99.given <= 2, "{p99:?}");
    }

    /// Where the groups that a run found decide, not those that there surely are, these hold it in 86 %.
    #[test]
    fn intervals_that_few_of_the_runs_give_hold_the_truth_as_well() {
        let cells = [(0.93, 0.0013, 20), (0.94, 0.001, 15)];
        let all = cells
            .into_iter()
            .flat_map(|(busy, service_s, seconds)| coverage(Queue::Open(busy), service_s, seconds, 250));
        let few: Vec<Coverage> = all.filter(|one| one.is_sparse() && one.figure != "p99").collect();
        let (held, given) =
            few.iter().fold((0, 0), |(held, given), one| (held + one.held, given + one.given));
        assert!(few.len() >= 4 && given >= 100, "{few:?}");
        assert!(f64::from(held) / f64::from(given) > 0.9, "{few:?}");
    }

    #[test]
    fn the_requests_of_each_queue_are_those_of_its_recursion() {
        // Requests in two seconds, sums of their ends and of their times, computed apart from this program.
        for (queue, count, ends, times) in [
            (Queue::Open(0.8), 1599, 1_605.358_526_505_6, 7.815_949_150_967_5),
            (Queue::OpenConstant(0.5), 968, 936.181_271_137_9, 1.441_997_695_599),
            (Queue::Thinking(4, 3.0), 1563, 1_570.732_522_060_5, 3.317_429_416_474_2),
            (Queue::Closed(4), 1973, 2_000.827_569_667_7, 7.999_517_168_846),
        ] {
            let mut found = (0, 0.0, 0.0);
            queue.run(0.001, 2.0, 3, |end, time| {
                found = (found.0 + 1, found.1 + end, found.2 + time);
            });
            assert_eq!(found.0, count, "{queue}");
            assert!((found.1 - ends).abs() < 1e-3 && (found.2 - times).abs() < 1e-3, "{queue}: {found:?}");
            let seconds = queue.seconds(0.001, 2, 3);
            assert_eq!(seconds.iter().map(Stretch::count).sum::<u64>(), count, "{queue}");
        }
    }

    #[test]
    fn the_long_run_of_an_open_queue_is_its_closed_form_and_of_another_what_was_seen() {
        let near = |found: &[f64], wanted: [f64; 5]| {
            found.iter().zip(wanted).for_each(|(one, other)| {
                assert!((one / other - 1.0).abs() < 1e-9, "{found:?} in place of {wanted:?}");
            });
        };
        let mut all = Histogram::new();
        (1..=100).for_each(|value| all.record(Nanos::new(value)));
        // 800 a second, 5 ms, and that times ln 2, ln 10, ln 100.
        let open = truths(Queue::Open(0.8), 0.001, 20.0, &all);
        near(&open, [800.0, 5e6, 3_465_735.902_8, 11_512_925.464_97, 23_025_850.929_94]);
        near(&truths(Queue::Closed(8), 0.001, 20.0, &all), [5.0, 50.5, 50.0, 90.0, 99.0]);
    }

    #[test]
    fn queues_follow_their_closed_forms() {
        let mut all = Histogram::new();
        for seed in 1..=50 {
            Queue::OpenConstant(0.8).run(0.001, 100.0, seed, |_, response| {
                all.record(Nanos::new(truncated(response * 1e9)));
            });
        }
        // Pollaczek and Khinchine: 1 + 0.8 / (2 x 0.2) services.
        assert!((all.mean().unwrap() / 3e6 - 1.0).abs() < 0.02, "{all:?}");
        let mut count = 0;
        Queue::Closed(8).run(0.001, 100.0, 1, |_, _| count += 1);
        assert!((f64::from(count) / 100_000.0 - 1.0).abs() < 0.015, "{count}");
    }

    /// `cargo test --release -p fathom-stats -- --ignored coverage --nocapture`; minutes.
    #[test]
    #[ignore = "minutes; prints the table of benches/RESULTS.md"]
    #[allow(clippy::print_stdout, reason = "a table for whoever runs it")]
    fn coverage_of_intervals_by_queue_and_length() {
        println!(
            "| queue | service | seconds | rate | mean | p50 | p90 | p99 |\n|---|---|---|---|---|---|---|---|"
        );
        let mut all: Vec<Vec<Coverage>> = Vec::new();
        for (service_s, seconds) in [(0.0005, 30), (0.001, 30), (0.0005, 10)] {
            for queue in QUEUES {
                let row = coverage(queue, service_s, seconds, 400);
                let cells: Vec<String> = row.iter().map(cell).collect();
                println!("| {queue} | {} ms | {seconds} | {} |", service_s * 1e3, cells.join(" | "));
                all.push(row);
            }
        }
        let pooled: Vec<String> =
            (0..all[0].len()).map(|place| few(all.iter().map(|row| &row[place]))).collect();
        println!("| all where less than half give one | | | {} |", pooled.join(" | "));
    }

    /// `95.3 of 412`: what those of one figure hold together that few runs gave.
    fn few<'a>(all: impl Iterator<Item = &'a Coverage>) -> String {
        let sparse = all.filter(|one| one.is_sparse());
        let (held, given) = sparse.fold((0, 0), |(held, given), one| (held + one.held, given + one.given));
        if given == 0 {
            return "-".into();
        }
        format!("{:.1} of {given}", 100.0 * f64::from(held) / f64::from(given))
    }

    /// `95.3 (100)`: of the intervals so many per cent hold the truth, and so many per cent of the runs gave one.
    fn cell(one: &Coverage) -> String {
        let held = one.share().map_or(String::from("-"), |share| format!("{:.1}", share * 100.0));
        format!("{held} ({:.0})", 100.0 * f64::from(one.given) / f64::from(one.runs))
    }
}
