//! What each rank did, where several processes drove the load together.

use std::collections::BTreeSet;

use record::{Point, RankResult, Run, ranks};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::style::Style;
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, wrap};

/// Where more rows would not fit one screen, a first look has the slowest of them.
const ROWS_IN_BRIEF: usize = 8;

/// A sentence on ranks and hosts, and a row for each rank of each point; without `full` of the point at which the ranks differ
/// most, the slowest ones where there are many. Nothing of a run in one process.
pub(crate) fn lines(run: &Run, style: Style, full: bool) -> Vec<String> {
    let of_ranks: Vec<&Point> = points(run).collect();
    let Some(most) = of_ranks.iter().copied().min_by(|one, other| evenness(one).total_cmp(&evenness(other)))
    else {
        return Vec::new();
    };
    let mut lines = wrap(&style.spell(&sentence(most)), style.width, "", "  ");
    let shown = if full { of_ranks } else { vec![most] };
    let mut table = table_of(&shown);
    if !full && table.rows.len() > ROWS_IN_BRIEF {
        table.rows = in_brief(most).into_iter().map(|rank| row(most, rank, false)).collect();
    }
    lines.extend(table.draw(style).lines);
    lines
}

/// The slowest ranks, and where it is none of them the one that answered slowest.
fn in_brief(point: &Point) -> Vec<&RankResult> {
    let mut shown: Vec<&RankResult> = by_rate(point).into_iter().take(ROWS_IN_BRIEF).collect();
    let slow = point.ranks.iter().filter(|rank| rank.is_counted()).max_by_key(|rank| rank.response_p99_ns);
    if let Some(slow) = slow.filter(|slow| shown.iter().all(|one| one.rank != slow.rank)) {
        shown.pop();
        shown.push(slow);
    }
    shown
}

/// A row for each rank of each point; `None` of a run in one process.
pub(crate) fn table(run: &Run) -> Option<Table> {
    let of_ranks: Vec<&Point> = points(run).collect();
    (!of_ranks.is_empty()).then(|| table_of(&of_ranks))
}

fn points(run: &Run) -> impl Iterator<Item = &Point> {
    run.points.iter().filter(|point| point.ranks.len() > 1)
}

fn table_of(points: &[&Point]) -> Table {
    let several = points.len() > 1;
    let mut columns = vec![
        Column::words("rank"),
        Column::words("host"),
        Column::figures("workers", 4),
        Column::figures("IOPS", 0),
        Column::figures("MB/s", 1),
        Column::figures("p99", 2),
        Column::figures("done after", 2),
        Column::figures("CPU", 5),
        Column::figures("start late by", 6),
        Column::words(""),
    ];
    if several {
        columns.insert(0, Column::words("point"));
    }
    let rows = points.iter().flat_map(|point| point.ranks.iter().map(|rank| row(point, rank, several)));
    Table { columns, rows: rows.collect() }
}

fn row(point: &Point, rank: &RankResult, with_point: bool) -> Vec<Cell> {
    let rates = ranks::rates(point, rank);
    let ops = rates.map(|(ops, _)| OpsPerSecond::new(ops).to_string());
    let bytes =
        rates.map(|(_, bytes)| BytesPerSecond::new(bytes).to_string().trim_end_matches(" MB/s").to_owned());
    let p99 = rank.response_p99_ns.map(|ns| Nanos::new(ns).to_string());
    let done = rank.ended_ns.map(|at| Nanos::new(at.saturating_sub(point.started_ns)).to_string());
    let late = Some(rank.late_ns).filter(|late| *late > 0).map(|late| Nanos::new(late).to_string());
    let cpu = rank.cpu.map(|cpu| Nanos::from_secs_f64(cpu.total_s()).to_string());
    let mark = match (&rank.lost, slowest(point)) {
        (Some(_), _) => lost(point, rank),
        (None, Some(slow)) if slow.rank == rank.rank => "slowest".into(),
        _ => String::new(),
    };
    let mut cells: Vec<Cell> = [
        rank.rank.to_string(),
        harmless(&rank.host),
        // Of one that was lost they are not known in records of versions that did not keep them.
        Some(rank.workers)
            .filter(|workers| rank.lost.is_none() || *workers > 0)
            .map(|workers| workers.to_string())
            .unwrap_or_default(),
        ops.unwrap_or_default(),
        bytes.unwrap_or_default(),
        p99.unwrap_or_default(),
        done.unwrap_or_default(),
        cpu.unwrap_or_default(),
        late.unwrap_or_default(),
        mark,
    ]
    .into_iter()
    .map(Cell::plain)
    .collect();
    if with_point {
        cells.insert(0, Cell::plain(harmless(&point.name)));
    }
    cells
}

/// `4 ranks on 2 hosts at 4KiB random; first done: …; slowest: rank 3 on host-b, at 98 % of the fastest.`
fn sentence(point: &Point) -> String {
    let hosts: BTreeSet<&str> = point.ranks.iter().map(|rank| rank.host.as_str()).collect();
    let hosts = if hosts.len() == 1 { "1 host".into() } else { format!("{} hosts", hosts.len()) };
    let mut text = format!("{} ranks on {hosts} at {}", point.ranks.len(), harmless(&point.name));
    let driving = point.ranks.iter().filter(|rank| rank.workers > 0);
    let done = driving.filter_map(|rank| Some((rank.ended_ns?, rank.rank)));
    if let (Some(first), Some(last)) = (done.clone().min(), done.max()) {
        let after = |at: u64| Nanos::new(at.saturating_sub(point.started_ns));
        text += &format!(
            "; first done: rank {} after {}, last done: rank {} after {}",
            first.1,
            after(first.0),
            last.1,
            after(last.0)
        );
    }
    if let Some(slow) = slowest(point) {
        // The figure says whether it matters.
        text += &format!(
            "; slowest: rank {} on {}, at {:.0} % of the fastest",
            slow.rank,
            harmless(&slow.host),
            evenness(point) * 100.0
        );
    }
    text + "."
}

/// `lost; last heard of at 2.00 s`
fn lost(point: &Point, rank: &RankResult) -> String {
    let heard = rank.heard_until_ns.and_then(|at| at.checked_sub(point.started_ns));
    heard.map_or_else(|| "lost".into(), |ns| format!("lost; last heard of at {}", Nanos::new(ns)))
}

fn by_rate(point: &Point) -> Vec<&RankResult> {
    ranks::by_rate(&point.ranks)
}

fn slowest(point: &Point) -> Option<&RankResult> {
    ranks::slowest(point)
}

fn evenness(point: &Point) -> f64 {
    ranks::evenness(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    const STYLE: Style = Style { colour: false, unicode: true, width: 120 };

    fn run_of(ops: &[u64]) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };
        let mut point = sample::point(0, "one", vec![sample::workload("load", &[stream])]);
        let rank = |(rank, ops): (u32, &u64)| RankResult {
            rank,
            host: format!("host-{}", rank / 2),
            workers: 2,
            ops: *ops,
            bytes: ops * 4096,
            ended_ns: Some(point.started_ns + 8_000_000_000 + u64::from(rank) * 1_000_000),
            ..RankResult::default()
        };
        point.ranks = (0..).zip(ops).map(rank).collect();
        sample::run("ranks", vec![point])
    }

    #[test]
    fn each_rank_has_a_row_with_its_host_and_rate_and_the_slowest_is_named() {
        let text = lines(&run_of(&[40_000, 41_000, 40_500, 2_000]), STYLE, false).join("\n");
        assert!(text.contains("4 ranks on 2 hosts at one"), "{text}");
        assert!(text.contains("first done: rank 0 after 8.00 s"), "{text}");
        assert!(
            text.contains("slowest: rank 3 on host-1") && text.contains("at 5 % of the fastest"),
            "{text}"
        );
        assert!(text.lines().any(|line| line.starts_with('3') && line.ends_with("slowest")), "{text}");
        assert_eq!(text.matches("host-0").count(), 2, "{text}");
    }

    #[test]
    fn no_rank_is_the_slowest_where_ranks_drive_different_workloads() {
        let mut run = run_of(&[40_000, 41_000, 40_500, 2_000]);
        let mut second = run.points[0].workloads[0].clone();
        second.name = "beside".into();
        // One worker of it, which one of the four ranks drives.
        second.workers.truncate(1);
        run.points[0].workloads.push(second);
        let text = lines(&run, STYLE, false).join("\n");
        assert!(text.contains("4 ranks on 2 hosts at one") && !text.contains("slowest"), "{text}");
    }

    #[test]
    fn a_rank_that_was_lost_has_its_workers_and_the_rate_of_the_time_for_which_it_was_heard() {
        let mut run = run_of(&[40_000, 41_000, 2_000]);
        let point = &mut run.points[0];
        let heard = point.started_ns + 2_000_000_000;
        let lost = Some("it showed no sign of life".into());
        point.ranks[2] =
            RankResult { ended_ns: None, heard_until_ns: Some(heard), lost, ..point.ranks[2].clone() };
        let row = |run: &Run| -> Vec<String> {
            let text = lines(run, STYLE, true);
            text.iter()
                .find(|line| line.starts_with('2'))
                .map(|line| line.split_whitespace().map(String::from).collect())
                .unwrap_or_default()
        };
        let told: Vec<String> =
            ["2", "host-1", "2", "1,000", "4.10", "lost;", "last", "heard", "of", "at", "2.00", "s"]
                .map(String::from)
                .to_vec();
        assert_eq!(row(&run), told);
        run.points[0].ranks[2].heard_until_ns = None;
        assert_eq!(row(&run)[3..], ["lost"], "of one that was never heard of no rate is known");
    }

    #[test]
    fn one_process_has_no_rows_and_many_ranks_have_those_of_the_slowest_at_first() {
        assert!(lines(&run_of(&[1]), STYLE, true).is_empty() && table(&run_of(&[])).is_none());
        let many: Vec<u64> = (0..40).map(|rank| 1000 + rank).collect();
        let (brief, full) = (lines(&run_of(&many), STYLE, false), lines(&run_of(&many), STYLE, true));
        assert_eq!(full.len() - brief.len(), 40 - ROWS_IN_BRIEF);
    }
}
