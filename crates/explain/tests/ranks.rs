//! Ranks of several hosts.

use record::sample::{self, Stream};
use record::{CpuUse, RankClock, RankResult, Run, Severity};

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
