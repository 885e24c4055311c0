//! Ranks of several hosts.

use record::sample::{self, Stream};
use record::{CpuUse, RankClock, RankResult, Run, Severity, Silence};

/// Ranks of so many requests each, two on each host, that used so much of four processors over the load.
fn run_of(ops: &[u64], busy: f64) -> Run {
    let stream = Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };
    let mut point = sample::point(0, "one", vec![sample::workload("load", &[stream])]);
    let from = point.workloads[0].measured_from_ns;
    let rank = |(rank, ops): (u32, &u64)| RankResult {
        rank,
        host: format!("host-{}", rank / 2),
        workers: 1,
        ops: *ops,
        ended_ns: Some(from + 10_000_000_000),
        cpu: Some(CpuUse { user_s: busy * 20.0, ..CpuUse::default() }),
        processors: Some(4),
        ..RankResult::default()
    };
    point.ranks = (0..).zip(ops).map(rank).collect();
    sample::run("ranks", vec![point])
}

fn of_ranks(run: &Run) -> Vec<String> {
    let codes = ["host-limit", "unequal-paths", "straggler"];
    let found = explain::findings(run).into_iter().map(|finding| finding.code);
    found.filter(|code| codes.contains(&code.as_str())).collect()
}

#[test]
fn a_slow_host_has_a_slower_path_and_a_slow_rank_beside_quick_ones_is_a_straggler() {
    assert_eq!(of_ranks(&run_of(&[50_000, 49_000, 48_000, 51_000], 0.2)), [] as [&str; 0]);
    assert_eq!(of_ranks(&run_of(&[50_000, 49_000, 2_000, 1_900], 0.2)), ["unequal-paths"]);
    assert_eq!(of_ranks(&run_of(&[50_000, 20_000], 0.2)), ["straggler"]);
}

/// What is said of ranks, two on each host, with these p99 in microseconds, the part that each interval reaches to either side,
/// and the longest gap in milliseconds.
fn of_responses(ranks: &[(u64, Option<f64>, Option<u64>)]) -> Option<String> {
    let mut run = run_of(&vec![50_000; ranks.len()], 0.2);
    let from_ns = run.points[0].workloads[0].measured_from_ns + 3_000_000_000;
    for (rank, (p99_us, reach, gap_ms)) in run.points[0].ranks.iter_mut().zip(ranks) {
        let p99 = p99_us * 1000;
        let end = |part: f64| Some(units::convert::truncated::<u64>(p99 as f64 * part));
        rank.response_p99_ns = Some(p99);
        rank.response_p99_low_ns = reach.and_then(|reach| end(1.0 / reach));
        rank.response_p99_high_ns = reach.and_then(end);
        rank.longest_gap = gap_ms.map(|ms| Silence { from_ns, length_ns: ms * 1_000_000 });
    }
    let found = explain::findings(&run).into_iter();
    found.filter(|finding| finding.code == "unequal-responses").map(|finding| finding.sentence).next()
}

#[test]
fn a_host_that_answered_slower_than_the_others_by_more_than_chance_is_named_with_both_figures() {
    let narrow = Some(1.2);
    let quick = [(500, narrow, None), (450, narrow, None)];
    let said = of_responses(&[quick[0], quick[1], (1500, narrow, None), (1400, narrow, None)]);
    let told = "The p99 response time on host-1 is 1.40 ms, elsewhere 500 µs at most.";
    assert_eq!(said.as_deref(), Some(told));
    let said = of_responses(&[quick[0], quick[1], quick[0], (1500, narrow, None)]);
    let told = "The p99 response time on rank 3 on host-1 is 1.50 ms, elsewhere 500 µs at most.";
    assert_eq!(said.as_deref(), Some(told));
}

#[test]
fn of_hosts_that_differ_by_no_more_than_the_spread_of_their_percentiles_nothing_is_said() {
    let quick = [(500, Some(1.2), None), (450, Some(1.2), None)];
    let with = |slow: (u64, Option<f64>, Option<u64>)| of_responses(&[quick[0], quick[1], slow, slow]);
    assert_eq!(with((1500, Some(2.6), None)), None, "its interval reaches down to theirs");
    assert_eq!(with((900, Some(1.1), None)), None, "less than twice as slow");
    assert_eq!(with((1700, None, None)), None, "without an interval it may be off by a factor of three");
    assert!(with((1900, None, None)).is_some());
    assert_eq!(
        of_responses(&[(500, None, None), (500, None, None), (4400, None, None), (4400, None, None)]),
        None
    );
}

#[test]
fn a_gap_that_only_one_host_had_is_told_with_its_time() {
    let (no, long) = ((500, Some(1.2), None), (520, Some(1.2), Some(2300)));
    let told = "On host-1 no request completed for 2.30 s from 3.00 s of the window on; elsewhere there was no such gap of a second.";
    assert_eq!(of_responses(&[no, no, long, long]).as_deref(), Some(told));
    let shorter = (500, Some(1.2), Some(1200));
    assert_eq!(of_responses(&[no, shorter, long, long]), None, "others had one that is half as long");
    let both = of_responses(&[no, no, (2_160_000, None, Some(2300)), (2_160_000, None, Some(2300))]);
    assert!(both.is_some_and(|said| said.starts_with("The p99") && said.contains(" On host-1 no request")));
}

#[test]
fn a_host_without_idle_processors_is_the_limit_and_its_path_is_not_blamed() {
    assert_eq!(of_ranks(&run_of(&[50_000, 49_000, 48_000, 51_000], 0.95)), ["host-limit"]);
    let mut slow = run_of(&[50_000, 49_000, 2_000, 1_900], 0.2);
    for rank in &mut slow.points[0].ranks[2..] {
        rank.cpu = Some(CpuUse { user_s: 19.5, ..CpuUse::default() });
    }
    assert_eq!(of_ranks(&slow), ["host-limit"]);
}

/// What is said of a load of `window_ns`, of which the last rank's clock is known to `wrong_ns` and which started `late_ns` late.
fn of_clocks(window_ns: u64, wrong_ns: u64, late_ns: u64) -> Option<(Severity, String)> {
    let mut run = run_of(&[50_000, 49_000, 48_000, 51_000], 0.2);
    let point = &mut run.points[0];
    point.workloads[0].measured_ns = window_ns;
    for rank in &mut point.ranks[1..] {
        rank.clock = Some(RankClock {
            offset_ns: 5_000_000_000,
            uncertainty_ns: 60_000,
            drift_ppm: None,
            drift_uncertainty_ppm: None,
        });
    }
    point.ranks[3].late_ns = late_ns;
    point.ranks[3].clock.as_mut().unwrap().uncertainty_ns = wrong_ns;
    let found = explain::findings(&run).into_iter().find(|finding| finding.code == "rank-clocks")?;
    Some((found.severity, found.sentence))
}

#[test]
fn a_clock_that_is_known_worse_than_the_start_or_the_window_needs_is_told() {
    assert_eq!(of_clocks(10_000_000_000, 900_000, 0), None, "all started within a millisecond");
    let (severity, said) = of_clocks(33_000_000, 23_700_000, 0).unwrap();
    assert_eq!(severity, Severity::Warning);
    assert!(
        said.contains("rank 3 on host-1 is known to 23.7 ms") && said.contains("72 % of the window"),
        "{said}"
    );
    let (severity, said) = of_clocks(10_000_000_000, 23_700_000, 0).unwrap();
    assert!(severity == Severity::Note && said.contains("The figures of the whole do not show it"), "{said}");
    let (severity, said) = of_clocks(1_000_000_000, 60_000, 20_000_000).unwrap();
    assert!(severity == Severity::Warning && said.contains("started 20.0 ms late"), "{said}");
}

#[test]
fn nothing_follows_from_few_requests_nor_from_one_process() {
    assert_eq!(of_ranks(&run_of(&[90, 20, 10, 5], 0.2)), [] as [&str; 0]);
    assert_eq!(of_ranks(&run_of(&[50_000], 0.95)), [] as [&str; 0]);
    assert_eq!(of_ranks(&run_of(&[], 0.95)), [] as [&str; 0]);
}
