//! Sweeps that plans spell out, matrices of two workloads, and rates that do not last.

use chart::Chart;
use record::sample::{self, Stream};
use record::{Breakdown, Point, Run, WriteCacheFill};

use serde_json::json;

use super::{comparison, reading, report, run};
use crate::document::WriteUp;

/// A load of `op` in requests of this size.
fn load(name: &str, op: &'static str, size_bytes: u64, per_s: u64) -> record::WorkloadResult {
    let stream = Stream { op, size_bytes, per_s, median_ns: 1_000_000, spread: 0.2 };
    let mut workload = sample::workload(name, &[stream]);
    workload.spec.sizes = format!("{size_bytes}B").parse().expect("a size");
    workload
}

fn point(index: u32, name: &str, headline: &str, workloads: Vec<record::WorkloadResult>) -> Point {
    let mut point = sample::point(index, name, workloads);
    (point.phase, point.headline) = (name.to_owned(), headline.to_owned());
    point
}

fn kinds(report: &WriteUp) -> Vec<&str> {
    report.figures().map(|figure| figure.kind).collect()
}

/// Orion's matrix of 0 to 3 small requests beside 0 to 3 large ones.
fn matrix() -> Run {
    let mut points = Vec::new();
    for (small, large) in
        [1, 2, 3, 0].into_iter().flat_map(|small| (0..4u64).map(move |large| (small, large)))
    {
        let own = [
            (small, load("small", "read", 8192, 300 * small.max(1))),
            (large, load("large", "read", 1 << 20, 50 * large.max(1))),
        ];
        let workloads: Vec<_> = own.into_iter().filter(|(depth, _)| *depth > 0).map(|(_, one)| one).collect();
        if workloads.is_empty() {
            continue;
        }
        let headline = if small > 0 { "iops" } else { "mb_per_s" };
        let name = format!("small {small}, large {large}");
        let mut one = point(u32::try_from(points.len()).unwrap_or(0), &name, headline, workloads);
        let key = |name: &str, depth: u64| if depth > 0 { format!("{{{name}.depth}}") } else { "0".into() };
        one.phase = format!("small {}, large {}", key("small", small), key("large", large));
        for (name, depth) in [("small", small), ("large", large)].into_iter().filter(|(_, depth)| *depth > 0)
        {
            one.swept.insert(format!("{name}.depth"), depth.to_string());
        }
        points.push(one);
    }
    sample::run("orion-normal", points)
}

#[test]
fn a_matrix_of_two_workloads_has_the_row_and_the_column_without_one_of_them_and_is_of_each_by_itself() {
    let report = report(vec![matrix()], None);
    let grids: Vec<_> = report.figures().filter(|figure| figure.kind == "grid").collect();
    assert_eq!(grids.len(), 2, "{:?}", kinds(&report));
    let Chart::Heat(small) = &grids[0].panels[0].1 else { panic!("{:?}", grids[0].panels) };
    assert_eq!(
        (&small.y_name[..], &small.rows[..]),
        ("large, 1 MiB: requests in flight", &["0", "1", "2", "3"].map(String::from)[..])
    );
    assert_eq!(
        (&small.x_name[..], &small.columns[..]),
        ("small, 8 KiB: requests in flight", &["1", "2", "3"].map(String::from)[..])
    );
    let told = grids[0].reading.text();
    assert!(
        told.starts_with("The highest rate of small") && told.contains("900 IOPS at large 0, small 3"),
        "{told}"
    );
    let told = grids[1].reading.text();
    assert!(told.contains("157 MB/s at small") && told.ends_with("large 3."), "{told}");
    assert!(report.answer.text().starts_with("Up to 900 IOPS"), "{}", report.answer.text());
    assert_eq!(report.key_figures.len(), 2, "{:?}", report.key_figures);
}

/// IOzone's tests by file and record size, as its command runs them: a flush behind each write.
fn iozone() -> Run {
    let mut points = Vec::new();
    for (file, record) in
        [(256, 4), (256, 8), (256, 16), (512, 4), (512, 8), (512, 16), (1024, 4), (1024, 8), (1024, 16)]
    {
        for test in ["write", "read"] {
            let name = format!("{file} kB, {record} kB: {test}");
            let mut workload =
                load("load", if test == "read" { "read" } else { "write" }, record << 10, 1000);
            workload.spec.sizes = format!("{record}KiB").parse().expect("a size");
            workload.spec.span = format!("{file}KiB").parse().expect("a span");
            points.push(point(0, &name, "mb_per_s", vec![workload]));
            if test == "write" {
                let mut flush = load("load", "flush", record << 10, 20);
                flush.summary.iter_mut().for_each(|summary| summary.bytes_per_s.value = 0.0);
                points.push(point(0, &format!("flush after {name}"), "mb_per_s", vec![flush]));
            }
        }
    }
    (0..).zip(&mut points).for_each(|(index, point)| point.index = index);
    sample::run("iozone", points)
}

#[test]
fn tests_by_file_and_record_size_are_surfaces_and_a_flush_is_no_row_and_no_key_figure() {
    let report = report(vec![iozone()], None);
    let grid = report.figures().find(|figure| figure.kind == "grid").expect("there is a heat map");
    let titles: Vec<&str> = grid.panels.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["write", "write", "read", "read"], "of each test a map and a surface");
    assert!(matches!(grid.panels[1].1, Chart::Surface(_)));
    let Chart::Heat(heat) = &grid.panels[0].1 else { panic!("{titles:?}") };
    assert_eq!((heat.rows.len(), heat.columns.len()), (3, 3));
    assert!(!kinds(&report).contains(&"corners"), "no list of points: {:?}", kinds(&report));
    assert!(report.key_figures.iter().all(|figure| figure.figure.value > 0.0), "{:?}", report.key_figures);
}

#[test]
fn read_ahead_is_a_curve_with_the_direct_stream_beside_it() {
    let sizes = [("4KiB", 250), ("64KiB", 400), ("1MiB", 970), ("4MiB", 1000), ("16MiB", 990)];
    let of = |(index, (name, rate)): (u32, (String, u64))| {
        let mut workload = load("load", "read", 1 << 20, rate);
        workload.spec.sizes = "1MiB".parse().expect("a size");
        workload.spec.direct = name == "direct";
        point(index, &name, "mb_per_s", vec![workload])
    };
    let named = sizes.map(|(size, rate)| (format!("read-ahead {size}"), rate));
    let points = (0..).zip(std::iter::once(("direct".to_owned(), 300)).chain(named)).map(of);
    let report = report(vec![sample::run("read-ahead", points.collect())], None);
    let told = reading(&report, "sweep");
    assert_eq!(
        told,
        "The highest is 1,049 MB/s at read-ahead 4 MiB, p99 1.36 ms, 97 % of that already at read-ahead 1 MiB, 4.00× what it is at 4 KiB."
    );
    let sweep = report.figures().find(|figure| figure.kind == "sweep").expect("there is a curve");
    let Chart::Plot(plot) = &sweep.panels[0].1 else { panic!("{:?}", sweep.panels) };
    assert_eq!(plot.x.name, "read-ahead");
    assert_eq!(plot.rules, [chart::Rule::Level(314_572_800.0, "direct: 315 MB/s".into())]);
    let names: Vec<&str> = report.key_figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["direct", "read-ahead 4MiB"]);
}

/// Has the first point write 4,096,000 bytes, of which the write cache of the model holds so many in the end.
fn leave_unwritten(run: &mut Run, unwritten_bytes: u64) {
    let point = &mut run.points[0];
    for workload in &mut point.workloads {
        let all = workload.total().expect("it has a summary").clone();
        let bytes_per_s =
            record::Figure { value: 4_096_000e9 / workload.measured_ns as f64, ..all.bytes_per_s };
        workload.summary.push(record::OpSummary {
            op: record::Ops::One(record::Op::Write),
            bytes_per_s,
            ..all
        });
    }
    let write_cache = Some(WriteCacheFill {
        unwritten_before_bytes: 0,
        unwritten_measured_bytes: None,
        unwritten_halfway_bytes: None,
        unwritten_bytes,
        room_bytes: 512 << 20,
    });
    point.breakdown = Some(Breakdown { write_cache, ..Breakdown::default() });
}

#[test]
fn a_rate_that_a_filling_write_cache_gave_is_said_not_to_last() {
    let filling = |unwritten_bytes| {
        let mut own = run("5", &[(8, 8_000.0)]);
        leave_unwritten(&mut own, unwritten_bytes);
        report(vec![own], None)
    };
    let own = filling(3_000_000);
    let words = "Not sustained, the write cache was still filling: up to 8,000 IOPS";
    assert!(own.answer.text().starts_with(words), "{}", own.answer.text());
    assert!(own.key_figures[0].note.contains("still filling"), "{:?}", own.key_figures[0]);
    assert!(filling(100_000).answer.text().starts_with("Up to 8,000 IOPS"));
}

#[test]
fn the_tile_of_a_campaign_says_what_its_finding_says_of_a_filling_write_cache() {
    let of = |raid: &str, place: u32, block: u32| {
        let mut own = run(raid, &[(8, 8_000.0 + 10.0 * f64::from(place + block))]);
        own.id = format!("{raid}-{block}");
        let level = json!({ "factor": "raid", "level": raid, "place": place, "of": 2 });
        let cell = json!({ "campaign": "levels", "key": "k", "block": block, "turn": 1, "levels": [level] });
        own.cell = Some(serde_json::from_value(cell).expect("a cell"));
        leave_unwritten(&mut own, if raid == "10" { 3_000_000 } else { 0 });
        own
    };
    let runs = vec![of("5", 0, 1), of("10", 1, 1), of("5", 0, 2), of("10", 1, 2)];
    let told = report(runs.clone(), None);
    assert!(told.key_figures[0].note.starts_with("RAID 10"), "{:?}", told.key_figures[0]);
    assert!(told.key_figures[0].note.ends_with("; not sustained, the write cache was still filling"));
    let answer = told.answer.text();
    let end = "In 2 of 4 points the write cache was still filling: not sustained. Simulated on virtual arrays, not measured.";
    assert!(answer.ends_with(end), "{answer}");
}

#[test]
fn runs_of_one_campaign_that_are_held_against_each_other_are_no_campaign() {
    let of = |raid: &str, turn: u32| {
        let mut own = run(raid, &[(8, 1_000.0)]);
        let cell = json!({ "campaign": "levels", "key": "k", "block": 1, "turn": turn, "levels": [] });
        own.cell = Some(serde_json::from_value(cell).expect("a cell"));
        own
    };
    let runs = || vec![of("5", 1), of("10", 2)];
    let compared = crate::evidence(runs(), Some(comparison(Vec::new())), None);
    assert!(!compared.is_campaign() && compared.effects().is_none());
    let title = crate::write_up(&compared).title;
    assert_eq!(title, "oltp: RAID 5 vs RAID 10");
    assert!(crate::evidence(runs(), None, None).is_campaign());
}
