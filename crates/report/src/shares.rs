//! Where the response time went in a virtual array: a table for each class of requests, the largest part first.

use record::{PartShare, Point, ResponseShare, Run, Shares};
use units::convert::truncated;
use units::{Bytes, Nanos};

use crate::figures::name_of;
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, thousands, wrap};

/// Parts with less than this of the mean and of the tail are told together.
const SMALL: f64 = 0.005;

/// How the mean response of every class of `run` divides over the parts that it met, and that of its slowest hundredth.
/// Empty where no point says.
pub fn shares(run: &Run, style: Style) -> String {
    let points = run.points.iter().filter_map(|point| Some((point, point.breakdown.as_ref()?)));
    let mut text = String::new();
    for (point, breakdown) in points.filter(|(_, breakdown)| !breakdown.shares.is_empty()) {
        text += if text.is_empty() { "" } else { "\n" };
        text += &style.paint(Look::Title, &format!("Where the time went: {}", harmless(&name_of(point))));
        text.push('\n');
        for share in &breakdown.shares {
            text += &of_class(point, share, style);
        }
    }
    text
}

fn of_class(point: &Point, share: &ResponseShare, style: Style) -> String {
    let workload = if point.workloads.len() > 1 { format!("{}: ", share.workload) } else { String::new() };
    let size =
        if share.size_bytes > 0 { format!(" of {}", Bytes::new(share.size_bytes)) } else { String::new() };
    let mut title = format!(
        "{workload}{} {}{size}, {} on average",
        thousands(share.all.requests),
        if share.all.requests == 1 { share.op.to_string() } else { format!("{}s", share.op) },
        duration(share.all.mean_ns)
    );
    if let Some(tail) = &share.tail {
        title += &format!(
            "; the slowest {} took at least {}, {} on average",
            thousands(tail.requests),
            duration(tail.from_ns as f64),
            duration(tail.mean_ns)
        );
    }
    let mut text = String::new();
    for line in wrap(&style.spell(&harmless(&title)), style.width, "  ", "    ") {
        text += &line;
        text.push('\n');
    }
    for line in table(share).draw(style).lines {
        text += &format!("    {line}\n");
    }
    text
}

fn table(share: &ResponseShare) -> Table {
    let columns = vec![
        Column::words("part"),
        Column::figures("waits", 2),
        Column::figures("served", 2),
        Column::figures("of mean", 0),
        Column::figures("tail waits", 3),
        Column::figures("tail served", 3),
        Column::figures("of tail", 1),
    ];
    let tail_of = |name: &str| share.tail.as_ref().map(|tail| (tail, part_of(tail, name)));
    let mut names: Vec<&str> = share.all.parts.iter().map(|part| part.part.as_str()).collect();
    let tail_only = share.tail.iter().flat_map(|tail| &tail.parts).map(|part| part.part.as_str());
    names.extend(tail_only.filter(|name| part_of(&share.all, name).is_none()).collect::<Vec<_>>());
    let size = |name: &str| part_of(&share.all, name).map_or(0.0, |part| of(part, &share.all));
    let in_tail =
        |name: &str| tail_of(name).map_or(0.0, |(tail, part)| part.map_or(0.0, |part| of(part, tail)));
    names.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let (shown, small): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| size(name) >= SMALL || in_tail(name) >= SMALL);
    debug_assert!(small.iter().all(|name| !shown.contains(name)), "each part is shown or among the others");
    let mut rows: Vec<Vec<Cell>> = shown.iter().map(|name| row(share, name, &[*name])).collect();
    if !small.is_empty() {
        rows.push(row(share, &format!("{} others", small.len()), &small));
    }
    Table { columns, rows }
}

/// The parts of these names together.
fn row(share: &ResponseShare, title: &str, names: &[&str]) -> Vec<Cell> {
    let sums = |shares: &Shares| {
        let parts = shares.parts.iter().filter(|part| names.contains(&part.part.as_str()));
        parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.wait_ns, sum.1 + part.service_ns))
    };
    let cells = |shares: Option<&Shares>| {
        let Some(shares) = shares else { return [Cell::default(), Cell::default(), Cell::default()] };
        let (wait, service) = sums(shares);
        let share = format!("{:.1} %", 100.0 * (wait + service) / shares.mean_ns);
        [some(wait), some(service), Cell::plain(share)]
    };
    let mut row = vec![Cell::plain(harmless(title))];
    row.extend(cells(Some(&share.all)));
    row.extend(cells(share.tail.as_ref()));
    row
}

fn part_of<'a>(shares: &'a Shares, name: &str) -> Option<&'a PartShare> {
    shares.parts.iter().find(|part| part.part == name)
}

fn of(part: &PartShare, shares: &Shares) -> f64 {
    (part.wait_ns + part.service_ns) / shares.mean_ns
}

fn some(nanos: f64) -> Cell {
    if nanos > 0.0 { Cell::plain(duration(nanos)) } else { Cell::default() }
}

fn duration(nanos: f64) -> String {
    Nanos::new(truncated(nanos.round())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};
    use record::{Breakdown, World};

    fn part(part: &str, wait_ns: f64, service_ns: f64) -> PartShare {
        PartShare { part: part.into(), wait_ns, service_ns }
    }

    fn run() -> Run {
        let stream =
            Stream { op: "read", size_bytes: 8192, per_s: 1_000, median_ns: 10_000_000, spread: 0.1 };
        let point = sample::point(0, "reads", vec![sample::workload("main", &[stream])]);
        let mut run = sample::run("quick", vec![point]);
        run.world = World::Array;
        let all = Shares {
            requests: 30_000,
            from_ns: 0,
            mean_ns: 10e6,
            parts: vec![
                part("link", 0.0, 1e6),
                part("controller bus", 0.0, 0.01e6),
                part("disk", 5.99e6, 0.0),
                part("disk seek", 0.0, 3e6),
            ],
        };
        let tail = Shares {
            requests: 310,
            from_ns: 30_000_000,
            mean_ns: 40e6,
            parts: vec![part("disk", 37e6, 0.0), part("disk seek", 0.0, 3e6)],
        };
        let share = ResponseShare {
            workload: "main".into(),
            op: record::Op::Read,
            size_bytes: 8192,
            all,
            tail: Some(tail),
        };
        run.points[0].breakdown = Some(Breakdown { shares: vec![share], ..Breakdown::default() });
        run
    }

    #[test]
    fn the_largest_part_comes_first_and_small_ones_are_told_together() {
        let text = shares(&run(), Style { colour: false, unicode: true, width: 100 });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Where the time went: reads");
        assert_eq!(
            lines[1..3].join(" "),
            "  30,000 reads of 8 KiB, 10.0 ms on average; the slowest 310 took at least 30.0 ms, 40.0 ms on     average"
        );
        let table: Vec<String> =
            lines[3..].iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(table[0], "part waits served of mean tail waits tail served of tail");
        assert_eq!(table[1], "disk 5.99 ms 59.9 % 37.0 ms 92.5 %");
        assert_eq!(table[2], "disk seek 3.00 ms 30.0 % 3.00 ms 7.5 %");
        assert_eq!(table[3], "link 1.00 ms 10.0 % 0.0 %");
        assert_eq!(table[4], "1 others 10.0 µs 0.1 % 0.0 %");
        let mut none = run();
        none.points[0].breakdown = None;
        assert_eq!(shares(&none, Style { colour: false, unicode: true, width: 100 }), "");
    }
}
