//! Several runs beside each other: which is ahead, and which a sentence is about.

use super::{compared, report, run};

#[test]
fn of_a_sweep_that_is_open_at_its_best_point_a_point_that_is_decided_is_told() {
    let rates = |factor: f64| [(1, 100.0 * factor), (8, 900.0 * factor), (64, 910.0 * factor)];
    let rows = |decided: Option<&str>| {
        let row = |at: &str, rates| {
            let interval = if decided == Some(at) { (8.0, 10.0) } else { (0.6, 130.0) };
            compared(at, "iops", rates, Some(interval))
        };
        vec![
            row("8 KiB x1", (100.0, 900.0)),
            row("8 KiB x8", (900.0, 8_100.0)),
            row("8 KiB x64", (910.0, 8_190.0)),
        ]
    };
    let told = |rows| report(vec![run("5", &rates(1.0)), run("10", &rates(9.0))], Some(rows)).answer.text();
    let answer = told(rows(Some("8 KiB x8")));
    assert!(answer.starts_with("RAID 10 reaches 8,100 IOPS, 9.00× RAID 5 (8 KiB x8)."), "{answer}");
    let answer = told(rows(None));
    assert!(answer.contains("inconclusive at 8 KiB x64"), "{answer}");
    // Of several sweeps it is the best point of each that nothing is said of.
    let two = |raid: &str, factor: f64| {
        let mut own = run(raid, &[rates(factor), rates(factor)].concat());
        for (place, point) in own.points.iter_mut().enumerate() {
            let reads = if place < 3 { "100%" } else { "0%" };
            point.name = format!("{reads} {}", point.name);
            point.phase = "{reads} {workers}".into();
            point.swept.insert("reads".into(), reads.into());
        }
        own
    };
    let rows = ["100%", "0%"]
        .map(|reads| compared(&format!("{reads} 8 KiB x64"), "iops", (910.0, 8_190.0), Some((0.6, 130.0))));
    let answer = report(vec![two("5", 1.0), two("10", 9.0)], Some(rows.into())).answer.text();
    assert!(!answer.contains("In 2 of 2 points"), "{answer}");
}

#[test]
fn the_table_of_a_rebuild_has_what_its_load_got_at_each_time_and_its_sentence_names_the_run() {
    let second = 1_000_000_000u64;
    let series = |name: &str, workload: Option<&str>, from: u64, values: &[f64]| record::Series {
        name: name.into(),
        unit: "per_s".into(),
        workload: workload.map(str::to_owned),
        source: "the test's".into(),
        from_ns: workload.map(|_| from * second),
        at_ns: (1..).take(values.len()).map(|at| (from + at) * second).collect(),
        values: values.to_vec(),
        absent: None,
    };
    let mut own = run("5", &[(8, 1_800.0)]);
    let point = &mut own.points[0];
    (point.started_ns, point.ended_ns) = (90 * second, 94 * second);
    // All instants are of the run's clock. Of the warm-up the load got most.
    point.series = vec![
        series("read ops", Some("main"), 90, &[26_000.0, 1_900.0, 1_800.0, 1_700.0]),
        series("rebuild done", None, 91, &[0.1, 0.2, 0.3, 0.4]),
    ];
    let report = report(vec![own, run("10", &[(8, 1_000.0)])], None);
    let figure = report.figures().find(|figure| figure.kind == "progress").expect("a rebuild");
    let rates: Vec<String> = figure.table.rows.iter().map(|row| row[3].text()).collect();
    assert_eq!(rates, ["1,900", "1,800", "1,700", ""], "the load had ended at the last");
    assert!(figure.reading.text().starts_with("RAID 5, rebuild"), "{}", figure.reading.text());
}

#[test]
fn runs_that_differ_in_storage_and_load_have_no_ratio() {
    let deep = |raid: &str, depth: u32, rate: f64| {
        let mut own = run(raid, &[(8, rate)]);
        own.points[0].workloads[0].spec.depth = depth;
        own
    };
    let rows = || vec![compared("8 KiB x8", "iops", (320.0, 5_311.0), Some((16.0, 17.0)))];
    let told = |first, second| report(vec![first, second], Some(rows())).answer.text();
    let mixed = told(deep("10", 1, 320.0), deep("5", 32, 5_311.0));
    assert!(!mixed.contains('×') && mixed.contains("RAID 10: 320 IOPS"), "{mixed}");
    assert!(mixed.contains("the loads differ, so this is no ratio of the storage: depth 1 → 32."), "{mixed}");
    let same = told(deep("10", 32, 320.0), deep("5", 32, 5_311.0));
    assert!(same.contains("× RAID 10"), "{same}");
}
