//! Ranks of several hosts in a report.

use record::sample::{self, Stream};
use record::{CpuUse, RankClock, RankResult, Run};

use crate::document::{Block, Cell, Section};
use crate::{evidence, write_up};

/// A load of ten seconds of three ranks on two hosts, the last of which did half; or which was lost.
fn run(is_lost: bool) -> Run {
    let stream = Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };
    let mut point = sample::point(0, "over ranks", vec![sample::workload("load", &[stream])]);
    point.workloads[0].measured_ns = 10_000_000_000;
    let rank = |(rank, ops): (u32, u64)| RankResult {
        rank,
        host: format!("host-{}", rank / 2),
        workers: 2,
        ops,
        bytes: ops * 4096,
        response_p50_ns: Some(100_000),
        response_p99_ns: Some(900_000 + u64::from(rank)),
        ended_ns: Some(point.started_ns + 10_000_000_000 + u64::from(rank) * 5_000_000),
        late_ns: u64::from(rank) * 1_000,
        cpu: Some(CpuUse { user_s: 1.0, system_s: 0.5, ..CpuUse::default() }),
        clock: (rank > 0).then_some(RankClock {
            offset_ns: 0,
            uncertainty_ns: 40_000,
            drift_ppm: None,
            drift_uncertainty_ppm: None,
        }),
        ..RankResult::default()
    };
    point.ranks = (0..).zip([20_000, 20_000, 10_000]).map(rank).collect();
    if is_lost {
        let why = Some("it showed no sign of life, and its part is not in the figures".to_owned());
        let RankResult { rank, host, ops, bytes, .. } = point.ranks[2].clone();
        point.ranks[2] = RankResult { rank, host, ops, bytes, lost: why, ..RankResult::default() };
    }
    sample::run("ranks", vec![point])
}

fn section(run: &Run) -> Section {
    let report = write_up(&evidence(vec![run.clone()], None, None));
    let of_ranks = |section: &Section| section.heading == "Hosts and ranks";
    report.sections.into_iter().find(of_ranks).expect("ranks have a section")
}

#[test]
fn a_report_names_the_hosts_with_the_rate_and_latency_of_each_rank_and_the_slowest() {
    let section = section(&run(false));
    let [Block::Figure(figure)] = &section.blocks[..] else { panic!("one figure: {section:?}") };
    let said = figure.reading.text();
    assert!(
        said.contains("3 ranks on 2 hosts") && said.contains("rank 2 on host-1, the slowest, did 50 %"),
        "{said}"
    );
    assert!(!said.contains("p99"), "they are the same to three digits: {said}");
    assert!(said.contains("first done was rank 0 after 10.0 s, last rank 2 after 10.0 s"), "{said}");
    let rows: Vec<String> = figure
        .table
        .rows
        .iter()
        .map(|row| row.iter().map(Cell::text).collect::<Vec<_>>().join(" | "))
        .collect();
    assert_eq!(rows.len(), 3);
    assert!(rows[2].contains("2 | host-1 | 2 | 10,000 | 1,000 | 4.10 | 100 µs | 900 µs"), "{}", rows[2]);
    assert!(rows[2].ends_with("slowest"), "{}", rows[2]);
}

#[test]
fn ranks_whose_p99_differ_are_named_with_both() {
    let mut run = run(false);
    run.points[0].ranks[1].response_p99_ns = Some(2_160_000_000);
    let section = section(&run);
    let [Block::Figure(figure)] = &section.blocks[..] else { panic!("one figure: {section:?}") };
    let said = figure.reading.text();
    assert!(said.contains("; p99 is 900 µs on rank 0 on host-0 and 2.16 s on rank 1 on host-0;"), "{said}");
}

#[test]
fn a_rank_that_was_lost_has_the_rate_of_the_time_for_which_it_was_heard() {
    let mut run = run(true);
    let heard = run.points[0].started_ns + 4_000_000_000;
    let rate_of = |run: &Run| {
        let section = section(run);
        let [Block::Figure(figure)] = &section.blocks[..] else { panic!("one figure: {section:?}") };
        figure.table.rows[2][5].text()
    };
    assert_eq!(rate_of(&run), "", "it is not known for how long it ran");
    run.points[0].ranks[2].heard_until_ns = Some(heard);
    assert_eq!(rate_of(&run), "2,500");
}

#[test]
fn a_rank_that_was_lost_is_named_with_what_it_did_and_why() {
    let section = section(&run(true));
    let [Block::Figure(figure)] = &section.blocks[..] else { panic!("one figure: {section:?}") };
    let said = figure.reading.text();
    assert!(
        said.contains("rank 2 on host-1 was lost after 10,000 requests, which are not in the figures"),
        "{said}"
    );
    let row: Vec<String> = figure.table.rows[2].iter().map(Cell::text).collect();
    assert!(row[3].is_empty() && row[13].starts_with("lost: it showed no sign of life"), "{row:?}");
}

#[test]
fn every_number_of_ranks_is_read_again_from_the_record_and_one_that_was_altered_is_named() {
    let evidence = evidence(vec![run(false)], None, None);
    let page = crate::html(&write_up(&evidence), &evidence).expect("it can be drawn");
    assert!(crate::verify(&page).expect("it is as its record gives it").redrawn);
    let altered = page.replacen("10.02 s", "11.02 s", 1).replacen("50 %", "51 %", 1);
    assert!(altered != page && crate::verify(&altered).is_err());
}

#[test]
fn a_run_of_one_process_says_nothing_of_ranks() {
    let mut alone = run(false);
    alone.points[0].ranks.clear();
    let report = write_up(&evidence(vec![alone], None, None));
    assert!(report.sections.iter().all(|section| section.heading != "Hosts and ranks"));
}
