//! The limit is named where the evidence names it.

use record::sample::{self, Stream};
use record::{Breakdown, Ceiling, Component, PathPart, Point, Run, Series, World};

use crate::{find, found, workload};

fn ceiling(what: &str, value: f64, unit: &str, each_way: bool) -> Ceiling {
    let (what, unit) = (what.into(), unit.into());
    Ceiling { what, value, unit, each_way, basis: "as the test says".into(), source: "test".into() }
}

fn part(name: &str, series: Option<&str>, ceilings: Vec<Ceiling>, below: Vec<PathPart>) -> PathPart {
    let series = series.map(str::to_owned);
    PathPart { name: name.into(), kind: "part".into(), series, ceilings, below, ..PathPart::default() }
}

fn series(point: &Point, name: &str, unit: &str, value: f64) -> Series {
    Series {
        name: name.into(),
        unit: unit.into(),
        workload: None,
        source: "test".into(),
        from_ns: None,
        at_ns: (1..30).map(|second| point.started_ns + second * 1_000_000_000).collect(),
        values: vec![value; 29],
        absent: None,
    }
}

/// One point of reads in a closed loop.
fn reads(in_flight: u64, per_s: u64, size_bytes: u64) -> Run {
    let median_ns = in_flight * 1_000_000_000 / per_s;
    let stream = Stream { op: "read", size_bytes, per_s, median_ns, spread: 0.1 };
    let mut run =
        sample::run("quick", vec![sample::point(0, "reads", vec![sample::workload("main", &[stream])])]);
    // The round figure; the times in service come near it.
    (workload(&mut run).mean_in_flight, workload(&mut run).edges) = (in_flight as f64, None);
    run
}

fn counted(run: &mut Run, device: &str, read_bytes: f64) {
    for point in &mut run.points {
        let made = [
            series(point, &format!("disk.{device}.read_bytes_per_s"), "bytes_per_s", read_bytes),
            series(point, &format!("disk.{device}.write_bytes_per_s"), "bytes_per_s", 0.0),
        ];
        point.series.extend(made);
    }
}

/// Two paths over one bus of 2 GB/s, each over a port of 1.2 GB/s.
fn two_paths(each: f64) -> Run {
    let bandwidth = |value| vec![ceiling("bandwidth", value, "bytes_per_s", true)];
    let bus = part("bus", None, bandwidth(2e9), Vec::new());
    let mut again = bus.clone();
    again.repeated = true;
    let path = |disk: &str, series: &str, port: &str, bus| {
        part(disk, Some(series), Vec::new(), vec![part(port, None, bandwidth(1.2e9), vec![bus])])
    };
    let mut run = reads(64, 10_000, 131_072);
    run.path = vec![part(
        "dm-0",
        None,
        Vec::new(),
        vec![path("sda", "disk.sda", "port 0", bus), path("sdb", "disk.sdb", "port 1", again)],
    )];
    counted(&mut run, "sda", each);
    counted(&mut run, "sdb", each);
    run
}

#[test]
fn a_shared_part_carries_what_all_paths_over_it_carry() {
    let finding = found(&two_paths(0.98e9), "limit");
    assert!(finding.sentence.starts_with("bus is the limit"), "{}", finding.sentence);
    assert!(finding.sentence.contains("Not the limit: port 0 (82 %)"), "{}", finding.sentence);
    assert!((finding.numbers["bus_reads_share"] - 0.98).abs() < 1e-9, "{finding:?}");
    let finding = found(&two_paths(1.19e9), "limit");
    assert!(finding.sentence.contains("As full: port"), "{}", finding.sentence);
}

#[test]
fn parts_below_their_ceilings_are_not_the_limit() {
    let run = two_paths(0.5e9);
    assert!(find(&run, "limit").is_none());
    // 64 in flight, and nothing tells what the device itself can do.
    assert!(find(&run, "latency-bound").is_none());
    let mut run = run;
    run.points[0].series.clear();
    assert!(find(&run, "limit").is_none() && find(&run, "latency-bound").is_none());
}

#[test]
fn one_request_at_a_time_far_from_every_ceiling_is_latency_bound() {
    let mut run = reads(1, 5_000, 4096);
    run.path = vec![part(
        "sda",
        Some("disk.sda"),
        vec![ceiling("bandwidth", 600e6, "bytes_per_s", false)],
        Vec::new(),
    )];
    counted(&mut run, "sda", 5_000.0 * 4096.0);
    let finding = found(&run, "latency-bound");
    assert!(
        finding.sentence.contains("No resource is saturated, you are latency-bound"),
        "{}",
        finding.sentence
    );
    assert!(finding.sentence.contains("give 5000/s"), "{}", finding.sentence);
}

#[test]
fn a_rotating_disk_that_is_always_busy_is_the_limit() {
    let mut run = reads(8, 200, 4096);
    let rotation = ceiling("requests one at a time", 240.0, "per_s", false);
    run.path = vec![part("sda", Some("disk.sda"), vec![rotation], Vec::new())];
    counted(&mut run, "sda", 200.0 * 4096.0);
    let busy = series(&run.points[0], "disk.sda.busy", "share", 0.99);
    run.points[0].series.push(busy);
    assert!(found(&run, "limit").sentence.starts_with("sda is the limit: busy 99 % of the time"));
    run.points[0].series.last_mut().unwrap().values.fill(0.5);
    assert!(find(&run, "limit").is_none());
}

/// A sweep of depth on a device that does so many requests a second with so many in flight.
fn swept(rate: impl Fn(u64) -> u64) -> Run {
    let points = (0u32..).zip([1u64, 2, 4, 8, 16, 32]).map(|(index, depth)| {
        let run = reads(depth, rate(depth), 4096);
        let mut workload = run.points[0].workloads[0].clone();
        let mut point = sample::point(index, "reads", Vec::new());
        let start = point.started_ns;
        workload.measured_from_ns = start;
        point.workloads = vec![workload];
        point.swept = [("depth".to_owned(), depth.to_string())].into();
        let read = rate(depth) as f64 * 4096.0;
        let made = [
            series(&point, "disk.sda.read_bytes_per_s", "bytes_per_s", read),
            series(&point, "disk.sda.write_bytes_per_s", "bytes_per_s", 0.0),
        ];
        point.series.extend(made);
        point
    });
    let mut run = sample::run("sweep", points.collect());
    run.path = vec![part(
        "sda",
        Some("disk.sda"),
        vec![ceiling("bandwidth", 600e6, "bytes_per_s", false)],
        Vec::new(),
    )];
    run
}

fn at(run: &Run, index: u32) -> Vec<String> {
    let of_point = explain::findings(run).into_iter().filter(|finding| finding.point == Some(index));
    of_point.map(|finding| finding.code).filter(|code| code.starts_with("l")).collect()
}

#[test]
fn a_flat_line_below_every_ceiling_has_its_limit_where_nothing_is_counted() {
    let run = swept(|depth| 4_000 * depth.min(8));
    assert_eq!(at(&run, 0), ["latency-bound"]);
    assert_eq!(at(&run, 1), ["latency-bound"]);
    assert_eq!(at(&run, 5), ["limit-unseen"]);
    let finding = found(&run, "limit-unseen");
    assert!(finding.sentence.contains("only waits"), "{}", finding.sentence);
    assert!((finding.numbers["more_response_times"] - 2.0).abs() < 0.05, "{finding:?}");
}

#[test]
fn a_flat_line_at_a_ceiling_is_evidence_for_it() {
    let run = swept(|depth| 18_000 * depth.min(8));
    assert_eq!(at(&run, 5), ["limit"]);
    let finding = found(&run, "limit");
    assert!(
        finding.sentence.contains("the rate changed by") && finding.sentence.contains("only waits"),
        "{}",
        finding.sentence
    );
}

fn modelled(parts: &[(&str, f64)]) -> Run {
    let mut run = reads(16, 2_000, 4096);
    run.world = World::Array;
    let component = |(name, utilisation): &(&str, f64)| Component {
        name: (*name).into(),
        servers: 1,
        utilisation: *utilisation,
        mean_in_system: *utilisation,
        visits: 100,
        wait_ns: 0,
        service_ns: 100,
    };
    let components = parts.iter().map(component).collect();
    run.points[0].breakdown = Some(Breakdown { components, classes: Vec::new(), shares: Vec::new() });
    run
}

#[test]
fn the_full_kind_of_part_of_an_array_is_the_limit() {
    let run =
        modelled(&[("disk 0", 0.98), ("disk 1", 0.94), ("disk 2", 0.93), ("controller 0 processor", 0.3)]);
    let finding = found(&run, "limit");
    assert!(finding.sentence.starts_with("disks are the limit"));
    assert!(
        finding.sentence.contains("Not the limit: controller 0 processor (30 %)"),
        "{}",
        finding.sentence
    );
    let one = modelled(&[("disk 0", 0.99), ("disk 1", 0.2), ("disk 2", 0.2), ("link 0 back", 0.4)]);
    assert!(found(&one, "limit").sentence.starts_with("disk 0 is the limit"));
}

#[test]
fn an_array_far_from_all_its_ends_is_latency_bound() {
    let run = modelled(&[("disk 0", 0.1), ("disk 1", 0.12), ("link 0 back", 0.05)]);
    assert!(found(&run, "latency-bound").numbers["in_flight"] > 15.0);
    assert!(find(&run, "limit").is_none());
    let between = modelled(&[("disk 0", 0.8), ("disk 1", 0.82)]);
    assert!(find(&between, "limit").is_none() && find(&between, "latency-bound").is_none());
}

/// Depths on one file and on four, at rates of `rate(files, depth)`.
fn on_files(rate: impl Fn(u64, u64) -> u64) -> Run {
    let loads = [(1u64, 1u64), (1, 8), (1, 32), (4, 1), (4, 8), (4, 32)];
    let points = (0u32..).zip(loads).map(|(index, (files, depth))| {
        let run = reads(files * depth, rate(files, depth), 4096);
        let mut workload = run.points[0].workloads[0].clone();
        let mut point = sample::point(index, "reads", Vec::new());
        workload.measured_from_ns = point.started_ns;
        workload.spec.insert("files".into(), "per_worker(1)".into());
        let worker = workload.workers[0].clone();
        workload.workers = vec![worker; files as usize];
        point.workloads = vec![workload];
        point.swept =
            [("depth".to_owned(), depth.to_string()), ("workers".to_owned(), files.to_string())].into();
        let counts = series(&point, "disk.sda.read_bytes_per_s", "bytes_per_s", 1e6);
        point.series.push(counts);
        point
    });
    let mut run = sample::run("files", points.collect());
    let bandwidth = vec![ceiling("bandwidth", 600e6, "bytes_per_s", false)];
    run.path = vec![part("sda", Some("disk.sda"), bandwidth, Vec::new())];
    run
}

#[test]
fn more_in_flight_on_a_file_gives_nothing_and_more_files_do_so_each_file_is_the_limit() {
    let run = on_files(|files, depth| files * 5_000 * depth.min(2));
    let finding = found(&run, "limit");
    assert!(
        finding
            .sentence
            .starts_with("Each file is the limit: On 1 file the rate changed by 0.0 % from 8 to 32"),
        "{}",
        finding.sentence
    );
    assert!((finding.numbers["more_places_rate_times"] - 4.0).abs() < 0.05, "{finding:?}");
    let shared = on_files(|_, depth| 5_000 * depth.min(2));
    assert!(find(&shared, "limit").is_none(), "the files share what is full");
    let deeper = on_files(|files, depth| files * 1_000 * depth);
    assert!(find(&deeper, "limit").is_none(), "a file still answers to more in flight");
}
