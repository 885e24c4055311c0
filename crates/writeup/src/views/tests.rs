//! What a whole report says, read by a person: its answer, its readings, its tables.

mod ranks;
mod several;
mod sweeps;

use record::sample::{self, Stream};
use record::{
    Basis, Breakdown, Check, Compared, Comparison, Component, DiskRole, Grade, Grading, Op, Outcome, Point,
    Run, Side, Verdict, World,
};

use crate::document::{Cell, WriteUp};
use crate::{evidence, write_up};

/// A point of the sweep of workers, with this rate and no interval unless one is given.
fn point(index: u32, workers: u32, rate: f64, interval: Option<(f64, f64)>) -> Point {
    let stream = Stream {
        op: "read",
        size_bytes: 8192,
        per_s: units::convert::truncated(rate),
        median_ns: 1_000_000 * u64::from(workers),
        spread: 0.3,
    };
    let mut point =
        sample::point(index, &format!("8 KiB x{workers}"), vec![sample::workload("main", &[stream])]);
    point.phase = "8 KiB x{workers}".into();
    point.swept.insert("workers".into(), workers.to_string());
    // One request in flight of each worker, whatever the rate came to.
    (point.workloads[0].spec.workers, point.workloads[0].spec.depth) = (workers, 1);
    for summary in &mut point.workloads[0].summary {
        summary.ops_per_s.value = rate;
        (summary.ops_per_s.low, summary.ops_per_s.high) =
            (interval.map(|(low, _)| low), interval.map(|(_, high)| high));
    }
    point
}

/// A run of an array of this level at these workers and rates.
fn run(raid: &str, rates: &[(u32, f64)]) -> Run {
    let points = (0..).zip(rates).map(|(index, (workers, rate))| point(index, *workers, *rate, None));
    let mut run = sample::run("oltp", points.collect());
    run.world = World::Array;
    run.id = format!("run-{raid}");
    run.targets[0].address = format!("array:md3000?raid={raid}");
    run
}

fn compared(cell: &str, metric: &str, (base, value): (f64, f64), interval: Option<(f64, f64)>) -> Compared {
    let verdict = match interval {
        Some((low, _)) if low > 1.0 => Verdict::Better,
        Some((_, high)) if high < 1.0 => Verdict::Worse,
        _ => Verdict::Inconclusive,
    };
    Compared {
        cell: cell.into(),
        workload: "main".into(),
        op: Op::Read.into(),
        total: true,
        metric: metric.into(),
        unit: if metric == "iops" { "per_s".into() } else { "ns".into() },
        side: 1,
        base,
        value,
        ratio: value / base,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        value_low: None,
        value_high: None,
        p_value: None,
        adjusted_p: None,
        noise_floor: None,
        detectable_effect: None,
        repeats: [1, 1],
        basis: Basis::Seconds,
        verdict,
    }
}

#[test]
fn a_table_says_once_why_figures_have_no_interval() {
    let mut long = run("5", &[(1, 100.0), (2, 200.0), (4, 300.0), (8, 310.0)]);
    for (place, point) in long.points.iter_mut().enumerate() {
        let summary = &mut point.workloads[0].summary[0];
        summary.no_interval = [None, Some("it changed slowly"), Some("it was short"), Some("it was short")]
            [place]
            .map(str::to_owned);
    }
    let figure = &mut long.points[0].workloads[0].summary[0].ops_per_s;
    (figure.low, figure.high) = (Some(90.0), Some(110.0));
    let evidence = evidence(vec![long], None, None);
    let report = write_up(&evidence);
    let told = "3 of 4 figures have no 95 % interval: it was short (2); it changed slowly (1).";
    let load = report.figures().find(|figure| figure.kind == "load").expect("it is swept");
    assert_eq!(load.table.note().as_deref(), Some(told));
    let page = crate::html(&report, &evidence).expect("it is drawn");
    assert_eq!(page.matches("it was short (2)").count(), 2, "of the chart's table and of all figures");
    assert!(!crate::markdown(&report).contains("± 95 %") && crate::markdown(&report).contains("short"));
    let quiet = report.tables().find(|table| table.title == "latency by load").expect("it is there");
    assert_eq!(quiet.note(), None, "nobody asks for intervals there");
}

fn comparison(rows: Vec<Compared>) -> Comparison {
    let side = |name: &str| Side {
        name: name.into(),
        runs: Vec::new(),
        about: String::new(),
        grade: None,
        doubts: Vec::new(),
    };
    Comparison { rows, ..Comparison::of(None, vec![side("A"), side("B")]) }
}

fn report(runs: Vec<Run>, rows: Option<Vec<Compared>>) -> WriteUp {
    write_up(&evidence(runs, rows.map(comparison), None))
}

fn reading(report: &WriteUp, kind: &str) -> String {
    let figure = report.figures().find(|figure| figure.kind == kind);
    figure.unwrap_or_else(|| panic!("no chart of {kind}")).reading.text()
}

#[test]
fn there_is_one_highest_rate_and_its_p99_is_that_of_the_same_point() {
    let mut own = run("5", &[]);
    own.points = vec![
        point(0, 64, 2_393.0, Some((1_913.0, 2_872.0))),
        point(1, 128, 2_412.0, Some((1_916.0, 2_909.0))),
        point(2, 256, 2_372.0, None),
    ];
    let p99 = own.points[1].figure(record::Metric::Quantile(0.99)).expect("it has one");
    let report = report(vec![own], None);
    assert!(report.answer.text().starts_with("Up to 2,412 IOPS (8 KiB x128)"), "{}", report.answer.text());
    assert!(reading(&report, "load").starts_with("The highest is 2,412 IOPS at workers 128"));
    assert_eq!(report.key_figures[0].figure.text(), "2,412");
    for text in [report.answer.text(), reading(&report, "load")] {
        assert!(text.contains(&chart::Unit::Nanos.written(p99)), "{text}: {p99}");
    }
}

#[test]
fn a_highest_rate_names_the_lower_load_that_reaches_as_much_sooner() {
    let answer = |before: f64| {
        let mut own = run("5", &[]);
        own.points = vec![
            point(0, 32, 2_000.0, Some((1_990.0, 2_010.0))),
            point(1, 64, before, Some((before - 13.0, before + 13.0))),
            point(2, 128, 3_415.0, Some((3_402.0, 3_428.0))),
        ];
        let p99 = own.points[1].figure(record::Metric::Quantile(0.99)).expect("it has one");
        (report(vec![own], None).answer.text(), chart::Unit::Nanos.written(p99))
    };
    let (flat, p99) = answer(3_413.0);
    assert!(flat.starts_with("Up to 3,415 IOPS (8 KiB x128) at a p99 of "), "{flat}");
    assert!(flat.contains(&format!("; 8 KiB x64 reaches as much at a p99 of {p99}.")), "{flat}");
    let (rising, _) = answer(3_300.0);
    assert!(!rising.contains("as much"), "{rising}");
}

#[test]
fn a_rate_that_no_further_trial_confirmed_is_not_said_to_be_sustained() {
    let answer = |confirmed: bool| {
        let mut own = run("5", &[(8, 2_900.0)]);
        own.search = Some(record::Search { confirmed, ..sample::search(Some(2_912.0), Some(2_948.0)) });
        report(vec![own], None).answer.text()
    };
    assert!(
        answer(true).contains("sustains 2,912 IOPS with p99<5ms; 2,948 violates p99<5ms"),
        "{}",
        answer(true)
    );
    let told = "met p99<5ms at 2,912 IOPS, which no further trial confirmed; 2,948 violates p99<5ms";
    assert!(answer(false).contains(told), "{}", answer(false));
}

#[test]
fn commands_of_a_report_are_about_its_run_and_not_about_the_last_one() {
    let mut own = run("5", &[(8, 2_900.0)]);
    own.findings = vec![record::Finding {
        code: "bottleneck-undetermined".into(),
        severity: record::Severity::Note,
        sentence: "It is open.".into(),
        remedy: "Run `fathom explain last --what-if --point 1`.".into(),
        numbers: Default::default(),
        point: None,
    }];
    let expected = format!("Run `fathom explain {} --what-if --point 1`.", own.id);
    let warnings = report(vec![own], None).warnings;
    assert!(warnings.iter().any(|warning| warning.remedy == expected), "{warnings:?}");
}

/// A run whose highest figure is its least certain one.
fn doubtful(raid: &str, rates: [(f64, f64); 3]) -> Run {
    let mut own = run(raid, &[]);
    let rates = (0..).zip([1, 8, 64]).zip(rates);
    own.points = rates
        .map(|((at, x), (rate, reach))| point(at, x, rate, Some((rate - reach, rate + reach))))
        .collect();
    own
}

#[test]
fn the_highest_rate_is_the_one_whose_interval_has_the_highest_lower_end() {
    let own = doubtful("10", [(6_750.0, 4_440.0), (3_295.0, 37.0), (3_280.0, 60.0)]);
    let other = doubtful("5", [(1_400.0, 35.0), (1_404.0, 45.0), (1_415.0, 37.0)]);
    let alone = report(vec![own.clone()], None);
    let answer = alone.answer.text();
    assert!(answer.starts_with("Reaches 3,295 IOPS (8 KiB x8)"), "{answer}");
    assert!(answer.contains("no higher one is certain"), "{answer}");
    assert!(reading(&alone, "load").starts_with("The highest that is certain is 3,295 IOPS at workers 8"));
    assert_eq!(alone.key_figures[0].figure.text(), "3,295");
    let both = report(vec![other, own], None).answer.text();
    assert!(both.starts_with("RAID 10 reaches 3,295 IOPS, 2.35× RAID 5 (8 KiB x8)."), "{both}");
}

/// The same with a disk that is half busy at every point, and one that has failed.
fn busy(mut run: Run) -> Run {
    let part = |name: &str, utilisation, role| Component {
        name: name.into(),
        servers: 1,
        utilisation,
        mean_in_system: 2.5,
        role,
        ..Component::default()
    };
    let parts = vec![part("disk 0", 0.5, None), part("disk 1", 0.0, Some(DiskRole::Failed))];
    for point in &mut run.points {
        point.breakdown = Some(Breakdown {
            components: parts.clone(),
            classes: Vec::new(),
            write_cache: None,
            lun_queues: None,
            host_traffic: None,
            slc_cache: None,
            response: Vec::new(),
            shares: Vec::new(),
            window: None,
        });
    }
    run
}

#[test]
fn a_sweep_of_a_virtual_array_shows_where_the_busiest_part_of_each_line_is_at_its_limit() {
    let mut own = run("5", &[(1, 1_000.0), (8, 2_000.0), (1, 300.0), (8, 400.0)]);
    for (point, reads) in own.points.iter_mut().zip(["100%", "100%", "0%", "0%"]) {
        point.phase = "{reads} reads x{workers}".into();
        point.swept.insert("reads".into(), reads.into());
    }
    let report = report(vec![busy(own)], None);
    let figure = report.figures().find(|figure| figure.kind == "load").expect("it is there");
    let [(_, chart::Chart::Plot(plot))] = &figure.panels[..] else { panic!("{:?}", figure.panels) };
    let told: Vec<&str> = plot
        .rules
        .iter()
        .filter_map(|rule| match rule {
            chart::Rule::Level(_, name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "100% reads: disk 100 % busy at queue depth 2.5: 4,000",
            "0% reads: disk 100 % busy at queue depth 2.5: 800"
        ]
    );
}

#[test]
fn the_utilization_of_each_load_of_each_run_has_a_row_where_its_own_rate_is_highest() {
    let swept = |raid: &str, points: &[(u32, f64)]| {
        let mut own = run(raid, points);
        for (point, reads) in own.points.iter_mut().zip(["100%", "100%", "0%", "0%"]) {
            point.phase = "{reads} reads x{workers}".into();
            point.name = format!("{reads} reads x{}", point.swept["workers"]);
            point.swept.insert("reads".into(), reads.into());
        }
        busy(own)
    };
    let runs = vec![
        swept("5", &[(1, 1_000.0), (8, 2_000.0), (1, 400.0), (8, 300.0)]),
        swept("10", &[(1, 1_000.0), (8, 2_100.0), (1, 500.0), (8, 4_000.0)]),
    ];
    let report = report(runs, None);
    let figure = report.figures().find(|figure| figure.kind == "utilization").expect("it is there");
    let rows: Vec<String> = figure.table.rows.iter().map(|row| row[0].text()).collect();
    let own = ["100% reads x8", "0% reads x1", "100% reads x8", "0% reads x8"];
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows.iter().zip(own).all(|(row, own)| row.ends_with(own)), "{rows:?}");
}

/// A curve that is flat from eight workers on, with as many requests in flight as workers and what the findings say of it.
fn saturated() -> Run {
    let mut own =
        run("5", &[(1, 100.0), (2, 200.0), (4, 400.0), (8, 800.0), (16, 810.0), (32, 815.0), (64, 816.0)]);
    for (point, load) in own.points.iter_mut().zip([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]) {
        point.workloads[0].mean_in_flight = load;
        for summary in &mut point.workloads[0].summary {
            let rate = summary.ops_per_s.value;
            summary.response.iter_mut().for_each(|response| response.mean_ns = load / rate * 1e9);
        }
    }
    own
}

/// With the finding that names this knee, of a curve whose asymptotes meet `off` times as far.
fn with_knee(mut own: Run, knee: f64, off: f64) -> Run {
    let curve: Vec<_> = own.points.iter().filter_map(Point::load).collect();
    let found = stats::saturation::saturation(&curve, 1).expect("a curve");
    let numbers = [
        ("knee".to_owned(), knee),
        ("asymptote_knee".to_owned(), off * found.asymptote_knee),
        ("two_lines_knee".to_owned(), found.two_lines.knee),
    ];
    own.findings.push(record::Finding {
        code: "knee".into(),
        severity: record::Severity::Note,
        sentence: "8 KiB x1…64: the knee is at about 8 in flight.".into(),
        remedy: String::new(),
        numbers: numbers.into(),
        point: None,
    });
    own
}

#[test]
fn the_knee_that_the_findings_tell_of_is_drawn_on_the_rate_and_marked_on_the_latency() {
    let curve: Vec<_> = saturated().points.iter().filter_map(Point::load).collect();
    let knee = stats::saturation::saturation(&curve, 1).and_then(|found| found.knee()).expect("it bends");
    let report = report(vec![with_knee(saturated(), knee, 1.0)], None);
    let plot = |kind: &str| {
        let figure = report.figures().find(|figure| figure.kind == kind).expect("it is there");
        let [(_, chart::Chart::Plot(plot))] = &figure.panels[..] else { panic!("{:?}", figure.panels) };
        plot.clone()
    };
    let [chart::Rule::Event(x, name)] = &plot("load").rules[..] else { panic!("{:?}", plot("load").rules) };
    assert!((7.0..10.0).contains(x) && (x / knee - 1.0).abs() < 1e-9, "{x}, {knee}");
    assert_eq!(*name, format!("knee, {} in flight", chart::Unit::Count.written(knee)));
    let labels: Vec<String> = plot("latency").lines[0].points.iter().map(|mark| mark.label.clone()).collect();
    assert_eq!(labels.iter().filter(|label| label.ends_with(", knee")).collect::<Vec<_>>(), ["8, knee"]);
    let told = reading(&report, "load");
    assert!(told.contains(", the knee at ") && told.contains(" in flight"), "{told}");
}

#[test]
fn no_knee_is_drawn_that_the_findings_do_not_tell_of() {
    // None, and one of another curve that begins with as much in flight.
    for own in [saturated(), with_knee(saturated(), 1.0, 1.1)] {
        let report = report(vec![own], None);
        let figure = report.figures().find(|figure| figure.kind == "load").expect("it is there");
        let [(_, chart::Chart::Plot(plot))] = &figure.panels[..] else { panic!("{:?}", figure.panels) };
        assert_eq!(plot.rules, []);
        assert!(!reading(&report, "load").contains("knee"));
    }
}

#[test]
fn utilization_is_of_the_point_of_each_run_whose_rate_is_highest() {
    let first = busy(run("5", &[(1, 1_400.0), (8, 1_404.0), (64, 1_415.0)]));
    let second = busy(run("10", &[(1, 3_100.0), (8, 3_295.0), (64, 3_280.0)]));
    let report = report(vec![first, second], None);
    let figure = report.figures().find(|figure| figure.kind == "utilization").expect("it is there");
    let names: Vec<String> = figure.table.rows.iter().map(|row| row[0].text()).collect();
    assert_eq!(names, ["RAID 5, 8 KiB x64", "RAID 10, 8 KiB x8"]);
}

#[test]
fn a_ratio_is_of_a_point_that_both_runs_have() {
    let rows = vec![compared("8 KiB x32", "iops", (1_700.0, 2_600.0), Some((1.4, 1.65)))];
    let runs = vec![run("5", &[(32, 1_700.0)]), run("10", &[(32, 2_600.0), (64, 3_801.0)])];
    let answer = report(runs, Some(rows)).answer.text();
    assert!(answer.starts_with("RAID 10 reaches 2,600 IOPS, 1.53× RAID 5 (8 KiB x32)."), "{answer}");

    let apart = vec![run("5", &[(32, 1_700.0), (16, 900.0)]), run("10", &[(64, 3_801.0), (128, 3_700.0)])];
    let answer = report(apart, Some(Vec::new())).answer.text();
    assert!(
        answer.contains("RAID 10: 3,801 IOPS (8 KiB x64)")
            && answer.contains("RAID 5: 1,700 IOPS (8 KiB x32)")
    );
    assert!(answer.contains("no point in common") && !answer.contains('×'), "{answer}");
}

#[test]
fn a_comparison_that_is_inconclusive_gives_no_ratio_but_both_figures_and_why() {
    let rates = [(64, 2_393.0), (128, 2_412.0)];
    let runs = || vec![run("5", &rates), run("10", &[(64, 3_801.0), (128, 3_782.0)])];
    let rows = vec![compared("8 KiB x64", "iops", (2_393.0, 3_801.0), Some((0.31, 8.01)))];
    let answer = report(runs(), Some(rows)).answer.text();
    assert!(answer.contains("RAID 10: 3,801 IOPS") && answer.contains("RAID 5: 2,412 IOPS"), "{answer}");
    assert!(answer.contains("inconclusive at 8 KiB x64") && answer.contains("0.31× to 8.01×"), "{answer}");
    assert!(!answer.contains("reaches"), "{answer}");
    let rows = vec![compared("8 KiB x64", "iops", (2_393.0, 3_801.0), None)];
    let answer = report(runs(), Some(rows)).answer.text();
    assert!(answer.contains("inconclusive") && !answer.contains('×'), "{answer}");
}

#[test]
fn a_run_that_the_page_cache_answered_is_not_said_to_be_faster() {
    let mut cached = run("10", &[(32, 203_704.0), (64, 200_000.0)]);
    let failed = |name: &str| Check {
        name: name.into(),
        outcome: Outcome::Failed,
        grade: Grade::D,
        codes: Vec::new(),
        why: String::new(),
        points: Vec::new(),
    };
    cached.grading = Some(Grading { grade: Grade::E, checks: vec![failed("direct"), failed("cache")] });
    let rows = vec![compared("8 KiB x32", "iops", (34_112.0, 203_704.0), Some((4.6, 7.7)))];
    let report = report(vec![run("5", &[(32, 34_112.0), (64, 30_000.0)]), cached], Some(rows));
    for text in [report.answer.text(), reading(&report, "load")] {
        assert!(
            text.starts_with("Not comparable: RAID 10 was answered by the page cache (grade E)."),
            "{text}"
        );
        assert!(!text.contains('×') && text.contains("203,704") && text.contains("34,112"), "{text}");
    }
}

#[test]
fn the_largest_change_is_one_that_is_decided_and_a_wide_interval_does_not_stretch_the_axis() {
    let rows = vec![
        compared("8 KiB x64", "iops", (2_393.0, 3_801.0), Some((0.02, 80.0))),
        compared("8 KiB x64", "p99", (200e6, 90e6), Some((0.4, 0.5))),
    ];
    let runs = vec![run("5", &[(64, 2_393.0), (128, 2_000.0)]), run("10", &[(64, 3_801.0), (128, 3_000.0)])];
    let report = report(runs, Some(rows));
    let text = reading(&report, "changes");
    assert!(text.contains("The largest change is 8 KiB x64, p99: 0.45×"), "{text}");
    let figure = report.figures().find(|figure| figure.kind == "changes").expect("it is there");
    let chart::Chart::Dots(dots) = &figure.panels[0].1 else { panic!("dots") };
    let drawn: Vec<f64> = dots.rows.iter().flat_map(|row| &row.dots).map(|dot| dot.value).collect();
    assert_eq!(drawn, [0.45], "in the form of the reading, and only what is decided");
    assert_eq!(dots.rows[1].missing, "inconclusive: 0.02× to 80.00×");
    let drawing = figure.panels[0].1.svg(640.0, "changes");
    assert!(drawing.contains(">0.45×<"), "{drawing}");
}

#[test]
fn no_bucket_is_longer_than_the_longest_request() {
    let mut own = run("5", &[(1, 500.0)]);
    let workload = &mut own.points[0].workloads[0];
    let longest = 25_300_000;
    for summary in &mut workload.summary {
        summary.response.as_mut().expect("it has times").max_ns = longest;
    }
    let stretch: Vec<stats::Bucket> = [1_000_000, longest]
        .map(|ns| {
            let mut histogram = stats::Histogram::new();
            histogram.record(units::Nanos::new(ns));
            histogram.buckets().next().expect("it has one")
        })
        .into();
    let stretches = vec![stretch; 10];
    workload.responses_over_time =
        record::ResponseMap::of(workload.measured_from_ns, 1_000_000_000, &stretches);
    let evidence = evidence(vec![own], None, None);
    let report = write_up(&evidence);
    let text = reading(&report, "heatmap");
    assert!(
        text.contains("each of the 10 stretches of 1.00 s has a p99 of at most "),
        "none is best: {text}"
    );
    let table = report.tables().find(|table| table.title == "latency over time").expect("it is there");
    assert!(table.columns[2..].iter().all(|column| column.title.ends_with('≤')), "{:?}", table.columns);
    let records = evidence.records().expect("it is JSON");
    for cell in table.rows.iter().flatten() {
        if let Cell::Number(number, _) = cell {
            assert!(number.value <= 25_300_000.0, "{number:?}");
            assert_eq!(number.source.read(&records), Some(number.value));
        }
    }
    let last = table.rows[0].last().expect("a cell").text();
    assert_eq!(last, chart::Unit::Nanos.written(25_300_000.0), "the longest is the longest of all");
}

#[test]
fn labels_keep_their_case_and_runs_stand_apart_in_a_title() {
    let mut files = vec![run("5", &[(1, 100.0), (2, 200.0)]), run("5", &[(1, 100.0), (2, 200.0)])];
    for (run, file) in files.iter_mut().zip(["f256", "g512"]) {
        run.targets[0].address = file.into();
        run.plan.overrides = vec![format!("file={file}"), "run=14s".into()];
    }
    let report = report(files, Some(Vec::new()));
    assert_eq!(report.title, "oltp: f256, file f256 vs g512, file g512");
    assert!(
        reading(&report, "latency").starts_with("workers 2: p99 latency is")
            && reading(&report, "latency").contains(" with f256, file f256 and "),
        "{}",
        reading(&report, "latency")
    );
}

#[test]
fn what_is_told_over_time_is_of_the_highest_rate_unless_something_stopped() {
    let mut own = run("5", &[(1, 100.0), (2, 900.0), (4, 500.0)]);
    let text = reading(&report(vec![own.clone()], None), "time");
    assert!(text.starts_with("8 KiB x2: 900 IOPS"), "{text}");
    for series in own.points[2].series.iter_mut().filter(|series| series.name.ends_with(" ops")) {
        series.values[4] = 0.0;
    }
    let text = reading(&report(vec![own], None), "time");
    assert!(text.starts_with("8 KiB x4: ") && text.contains("one second without any completion"), "{text}");
}

#[test]
fn repeats_have_one_name_in_a_legend_and_a_number_in_a_table() {
    let mut own = run("5", &[(1, 500.0), (1, 510.0), (1, 520.0)]);
    for (point, repeat) in own.points.iter_mut().zip(1..) {
        point.repeat = repeat;
        point.phase = "8 KiB x1".into();
        point.swept.clear();
    }
    let report = report(vec![own, run("10", &[(1, 700.0), (2, 800.0)])], Some(Vec::new()));
    let figure = report.figures().find(|figure| figure.kind == "percentiles").expect("it is there");
    let chart::Chart::Plot(plot) = &figure.panels[0].1 else { panic!("lines") };
    let names: Vec<&str> =
        plot.lines.iter().map(|line| line.name.as_str()).filter(|name| !name.is_empty()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("RAID 5")).count(), 1, "{names:?}");
    let rows: Vec<String> = figure.table.rows.iter().map(|row| row[1].text()).collect();
    assert!(rows.iter().any(|row| row.ends_with("#2")), "{rows:?}");
}

#[test]
fn a_course_of_parts_marks_where_the_warm_up_ended() {
    let course = crate::document::Course {
        hues: Vec::new(),
        title: String::new(),
        plots: vec![crate::document::CoursePlot {
            measure: "busy".into(),
            unit: chart::Unit::Share,
            lines: vec![("disk 0".into(), vec![])],
        }],
        warm_up: Some(10.0),
    };
    let chart::Chart::Stack(stack) = crate::samples::stack(&course) else { panic!("a stack") };
    assert_eq!(stack.plots[0].rules, [chart::Rule::Event(10.0, "measured from here".into())]);
}

/// A run that is a search over designs.
fn explored() -> Run {
    let mut run = sample::run("nas", Vec::new());
    run.world = World::Array;
    run.targets[0].address = "array:px6-300d".into();
    run.targets[0].size_bytes = 0;
    run.exploration = Some(sample::exploration());
    run
}

#[test]
fn a_search_over_designs_is_told_by_its_front_its_designs_and_its_requirements() {
    let report = write_up(&evidence(vec![explored()], None, None));
    let answer = report.answer.text();
    assert!(
        answer.starts_with("Of 9 designs array:px6-300d?raid=5&disks=4 is the cheapest")
            && answer.contains("1,040 EUR"),
        "{answer}"
    );
    assert_eq!(report.key_figures[0].figure.text(), "1,040");
    let kinds: Vec<&str> = report.figures().map(|figure| figure.kind).collect();
    assert_eq!(kinds, ["front", "designs"]);
    let tables: Vec<&str> = report.tables().map(|table| table.title.as_str()).collect();
    assert_eq!(tables, ["front", "designs of the front", "requirements", "designs beside it", "close calls"]);
    let front = report.tables().next().expect("it has one");
    let first: Vec<String> = front.rows[0].iter().map(Cell::text).collect();
    assert_eq!(first, ["5", "4", "1,040", "240", "10 h 00 min", "array:px6-300d?raid=5&disks=4"]);
}

#[test]
fn every_number_of_a_search_over_designs_is_read_again_from_its_record() {
    let evidence = evidence(vec![explored()], None, None);
    let page = crate::html(&write_up(&evidence), &evidence).expect("it can be drawn");
    let verified = crate::verify(&page).expect("it is as its record gives it");
    assert!(verified.numbers >= 20 && verified.redrawn, "{} numbers", verified.numbers);
}

#[test]
fn a_search_over_designs_without_a_front_and_one_with_too_few_figures_are_no_panic() {
    let mut run = explored();
    if let Some(found) = &mut run.exploration {
        found.front.iter_mut().for_each(|design| design.values.truncate(1));
    }
    let found = write_up(&evidence(vec![run.clone()], None, None));
    assert_eq!(found.figures().count(), 2);
    run.exploration.iter_mut().for_each(|found| found.front.clear());
    let none = write_up(&evidence(vec![run], None, None));
    assert!(none.answer.text().starts_with("No design of 9 meets"), "{}", none.answer.text());
    assert_eq!(none.figures().count(), 0);
}

/// A series of a part of a virtual array that is busy for this part of each of ten seconds.
fn part(part: &str, share: f64) -> record::Series {
    record::Series {
        name: format!("part.{part}.busy"),
        unit: "share".into(),
        workload: None,
        source: "simulation".into(),
        from_ns: Some(0),
        at_ns: (1..=10).map(|second| second * 1_000_000_000).collect(),
        values: vec![share; 10],
        absent: None,
    }
}

#[test]
fn of_the_parts_of_an_array_the_busiest_of_each_kind_is_shown_and_has_its_hue_in_every_panel() {
    let point = |index, name: &str, series| Point {
        name: name.into(),
        phase: name.into(),
        swept: std::collections::BTreeMap::new(),
        series,
        ..point(index, 4, 1_000.0, None)
    };
    let first = vec![part("disk 0", 0.1), part("disk 7", 0.5), part("controller 0 xor", 0.9)];
    let second = vec![part("link 0 tx", 0.3), part("disk 1", 0.2), part("disk 2", 0.1)];
    let run = sample::run("parts", vec![point(0, "one", first), point(1, "other", second)]);
    let report = write_up(&evidence(vec![run], None, None));
    let figure = report.figures().find(|figure| figure.kind == "devices").expect("parts were sampled");
    let lines: Vec<Vec<(String, usize)>> = figure
        .panels
        .iter()
        .map(|(_, chart)| {
            let chart::Chart::Stack(stack) = chart else { panic!("a stack") };
            stack.plots[0].lines.iter().map(|line| (line.name.clone(), line.hue)).collect()
        })
        .collect();
    let named = |name: &str, hue| (name.to_owned(), hue);
    assert_eq!(lines[0], [named("controller 0 xor", 0), named("disk 7", 1)]);
    assert_eq!(lines[1], [named("link 0 tx", 2), named("disk 1", 1)]);
}
