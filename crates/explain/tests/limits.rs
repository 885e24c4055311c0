//! The limit is named where the evidence names it.

use record::sample::{self, Stream};
use record::{
    Breakdown, Ceiling, ClassShare, Component, Effect, PartShare, PathPart, Point, Run, Series, Trial,
    WhatIf, World,
};
use units::convert::{narrow, truncated};

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
    let finding = found(&two_paths(0.98e9), "bottleneck");
    assert!(finding.sentence.starts_with("bus is the bottleneck"), "{}", finding.sentence);
    assert!(finding.sentence.contains("Not saturated: port 0 (82 %)"), "{}", finding.sentence);
    assert!((finding.numbers["bus_reads_share"] - 0.98).abs() < 1e-9, "{finding:?}");
    let finding = found(&two_paths(1.19e9), "bottleneck");
    assert!(finding.sentence.contains("Also saturated: port"), "{}", finding.sentence);
}

#[test]
fn parts_below_their_ceilings_are_not_the_limit() {
    let run = two_paths(0.5e9);
    assert!(find(&run, "bottleneck").is_none());
    // 64 in flight, and nothing tells what the device itself can do.
    assert!(find(&run, "latency-bound").is_none());
    let mut run = run;
    run.points[0].series.clear();
    assert!(find(&run, "bottleneck").is_none() && find(&run, "latency-bound").is_none());
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
    assert!(finding.sentence.contains("Latency-bound: average queue depth"), "{}", finding.sentence);
    assert!(finding.sentence.contains("= 5,000 IOPS"), "{}", finding.sentence);
}

#[test]
fn a_rotating_disk_that_is_always_busy_is_the_limit() {
    let mut run = reads(8, 200, 4096);
    let rotation = ceiling("requests one at a time", 240.0, "per_s", false);
    run.path = vec![part("sda", Some("disk.sda"), vec![rotation], Vec::new())];
    counted(&mut run, "sda", 200.0 * 4096.0);
    let busy = series(&run.points[0], "disk.sda.busy", "share", 0.99);
    run.points[0].series.push(busy);
    assert!(found(&run, "bottleneck").sentence.starts_with("sda is the bottleneck: utilization 99 %"));
    run.points[0].series.last_mut().unwrap().values.fill(0.5);
    assert!(find(&run, "bottleneck").is_none());
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
    of_point
        .map(|finding| finding.code)
        .filter(|code| ["latency-bound", "bottleneck"].iter().any(|it| code.starts_with(it)))
        .collect()
}

#[test]
fn a_flat_line_below_every_ceiling_has_its_limit_where_nothing_is_counted() {
    let run = swept(|depth| 4_000 * depth.min(8));
    assert_eq!(at(&run, 0), ["latency-bound"]);
    assert_eq!(at(&run, 1), ["latency-bound"]);
    assert_eq!(at(&run, 5), ["bottleneck-uncounted"]);
    let finding = found(&run, "bottleneck-uncounted");
    assert!(finding.sentence.contains("only adds latency"), "{}", finding.sentence);
    assert!((finding.numbers["more_response_times"] - 2.0).abs() < 0.05, "{finding:?}");
}

#[test]
fn a_flat_line_at_a_ceiling_is_evidence_for_it() {
    let run = swept(|depth| 18_000 * depth.min(8));
    assert_eq!(at(&run, 5), ["bottleneck"]);
    let finding = found(&run, "bottleneck");
    assert!(
        finding.sentence.contains("the rate changes by") && finding.sentence.contains("only adds latency"),
        "{}",
        finding.sentence
    );
}

/// Sixteen in flight on a virtual array whose parts are so busy, with so many waiting at each.
fn modelled(parts: &[(&str, f64, f64)]) -> Run {
    let mut run = reads(16, 2_000, 4096);
    run.world = World::Array;
    let elapsed_ns = (run.points[0].ended_ns - run.points[0].started_ns) as f64;
    let component = |(name, utilisation, waiting): &(&str, f64, f64)| Component {
        name: (*name).into(),
        servers: 1,
        utilisation: *utilisation,
        mean_in_system: utilisation + waiting,
        visits: 1_000,
        wait_ns: truncated::<u64>(waiting * elapsed_ns),
        service_ns: truncated::<u64>(utilisation * elapsed_ns),
        ..Component::default()
    };
    let components = parts.iter().map(component).collect();
    run.points[0].breakdown = Some(Breakdown { components, ..Breakdown::default() });
    run
}

#[test]
fn a_schedule_that_an_array_keeps_up_with_is_not_taken_for_an_unknown_limit() {
    let mut run = modelled(&[("disk 0", 0.12, 0.0)]);
    run.points[0].workloads[0].spec.pace = spec::Pace::Open(spec::Schedule {
        rate: units::OpsPerSecond::new(2_000.0),
        spacing: spec::Spacing::Poisson,
        overflow: spec::Overflow::Queue,
    });
    run.points[0].workloads[0].spec.depth = 64;
    assert!(found(&run, "offered-load").sentence.contains("schedules 2,000 requests/s"));
    assert!(find(&run, "bottleneck-undetermined").is_none());
}

/// Divides what was done at every part: that share of the visits, of their waiting and service is background work.
fn with_background(mut run: Run, share: f64) -> Run {
    let breakdown = run.points[0].breakdown.as_mut().unwrap();
    for part in &breakdown.components {
        for (op, visits) in [(record::Behalf::HostRead, 1.0 - share), (record::Behalf::Background, share)] {
            breakdown.classes.push(ClassShare {
                op,
                size_bytes: 0,
                component: part.name.clone(),
                visits: truncated::<u64>(visits * part.visits as f64),
                wait_ns: part.wait_ns as f64 / part.visits as f64,
                service_ns: part.service_ns as f64 / part.visits as f64,
                deferred_ns: 0.0,
            });
        }
    }
    run
}

#[test]
fn the_kind_of_part_that_is_busy_and_waited_for_is_the_limit() {
    let run = modelled(&[
        ("disk 0", 0.98, 4.0),
        ("disk 1", 0.94, 3.0),
        ("disk 2", 0.93, 5.0),
        ("controller 0 processor", 0.3, 0.1),
    ]);
    let finding = found(&run, "bottleneck");
    assert!(finding.sentence.starts_with("disks are the bottleneck"));
    assert!(
        finding.sentence.contains("Not saturated: controller 0 processor (30 %)"),
        "{}",
        finding.sentence
    );
    let buses = modelled(&[("controller 0 bus", 0.98, 8.0), ("controller 1 bus", 0.97, 7.0)]);
    assert!(found(&buses, "bottleneck").sentence.starts_with("controller buses are the bottleneck"));
    let one = modelled(&[("disk 0", 0.99, 12.0), ("disk 1", 0.2, 0.0), ("link 0 rx", 0.4, 0.1)]);
    assert!(found(&one, "bottleneck").sentence.starts_with("disk 0 is the bottleneck"));
}

#[test]
fn a_part_that_is_not_quite_busy_is_the_limit_where_what_is_in_flight_gathers() {
    let run = modelled(&[("controller 0 processor", 0.79, 11.0), ("disk 0", 0.4, 0.3), ("disk 1", 0.4, 0.2)]);
    let finding = found(&run, "bottleneck");
    assert!(finding.sentence.starts_with("controller 0 processor is the bottleneck"), "{}", finding.sentence);
    let few = modelled(&[("controller 0 processor", 0.79, 2.0), ("disk 0", 0.4, 0.3), ("disk 1", 0.4, 0.2)]);
    assert!(find(&few, "bottleneck").is_none() && find(&few, "bottleneck-undetermined").is_some());
}

#[test]
fn what_inside_a_flash_drive_is_busy_is_told_and_a_full_thread_asks_for_more_workers() {
    let mut run = modelled(&[("disk 0", 0.99, 8.0), ("disk 1", 0.99, 7.0), ("controller 0 bus", 0.3, 0.1)]);
    for part in &mut run.points[0].breakdown.as_mut().unwrap().components {
        part.busiest = part.name.starts_with("disk ").then(|| "flash write path".into());
    }
    let told = found(&run, "bottleneck").sentence;
    assert!(
        told.starts_with("disks are the bottleneck: utilization 99 % (flash write path) on average of 2"),
        "{told}"
    );
    let run = modelled(&[("host 0 busiest thread", 0.99, 12.0), ("host 0 processor", 0.1, 0.0)]);
    let finding = found(&run, "bottleneck");
    assert!(finding.sentence.starts_with("host 0 busiest thread is the bottleneck"), "{}", finding.sentence);
    assert!(finding.remedy.contains("more workers"), "{}", finding.remedy);
    let open = modelled(&[("disk 0", 0.5, 0.1), ("disk 1", 0.5, 0.1)]);
    let remedy = found(&open, "bottleneck-undetermined").remedy;
    assert!(remedy.contains("`fathom explain last --what-if --point 1`"), "{remedy}");
}

/// The same where requests wait in the host for their LUN, and disks choose among so many commands.
fn behind_a_lun_queue(mut run: Run, waiting: f64, chooses_among: Option<u32>) -> Run {
    let in_flight = run.points[0].workloads[0].mean_in_flight;
    let breakdown = run.points[0].breakdown.as_mut().unwrap();
    let queues = record::LunQueues {
        depth: 8,
        queues: 1,
        mean_outstanding: in_flight - waiting,
        mean_waiting: waiting,
    };
    breakdown.lun_queues = Some(queues);
    for part in breakdown.components.iter_mut().filter(|part| part.name.starts_with("disk ")) {
        part.chooses_among = chooses_among;
    }
    run
}

#[test]
fn requests_that_wait_in_the_host_for_a_lun_of_disks_that_take_the_nearest_name_its_queue() {
    let disks = [("disk 0", 0.98, 3.0), ("disk 1", 0.98, 3.0), ("controller 0 processor", 0.1, 0.0)];
    let part = |run: &Run| found(run, "bottleneck").bottleneck().map(str::to_owned);
    let of = |waiting, among| part(&behind_a_lun_queue(modelled(&disks), waiting, among));
    assert_eq!(of(8.0, Some(64)).as_deref(), Some("LUN queue"));
    assert_eq!(of(3.0, Some(64)).as_deref(), Some("disks"), "few wait");
    assert_eq!(of(8.0, None).as_deref(), Some("disks"), "they serve in order: more gain nothing");
    assert_eq!(of(8.0, Some(3)).as_deref(), Some("disks"), "they have all that they choose among");
    let uneven = [("disk 0", 0.85, 3.0), ("disk 1", 0.85, 3.0)];
    assert_eq!(part(&behind_a_lun_queue(modelled(&uneven), 8.0, None)).as_deref(), Some("LUN queue"));
    let elsewhere = [("disk 0", 0.5, 0.1), ("disk 1", 0.5, 0.1)];
    assert!(find(&behind_a_lun_queue(modelled(&elsewhere), 8.0, None), "bottleneck").is_none());
}

#[test]
fn a_depth_that_the_lun_queue_holds_back_is_no_evidence_that_the_disks_gain_nothing_by_more() {
    let disks = [("disk 0", 0.98, 3.0), ("disk 1", 0.98, 3.0)];
    let at = |index: u32, in_flight: f64, waiting: f64| {
        let mut point = behind_a_lun_queue(modelled(&disks), waiting, Some(64)).points.remove(0);
        point.index = index;
        point.workloads[0].mean_in_flight = in_flight;
        point.swept = [("depth".to_owned(), in_flight.to_string())].into();
        point
    };
    let told = |waiting: f64| {
        let mut run = modelled(&disks);
        run.points = vec![at(0, 8.0, 0.0), at(1, 16.0, waiting)];
        found(&run, "bottleneck").sentence
    };
    assert!(told(0.0).ends_with(": a higher queue depth only adds latency."), "{}", told(0.0));
    assert!(told(8.0).ends_with(": at most 8 requests reach the LUN (`host.lun_depth`)."), "{}", told(8.0));
}

#[test]
fn disks_that_have_failed_or_wait_as_spares_count_in_no_average_and_one_that_is_filled_is_apart() {
    let parts = [
        ("disk 0", 1.0, 4.0),
        ("disk 1", 0.98, 4.0),
        ("disk 2", 0.0, 0.0),
        ("disk 3", 0.0, 0.0),
        ("disk 4", 0.06, 0.0),
    ];
    let mut run = modelled(&parts);
    let roles = [(2, record::DiskRole::Failed), (3, record::DiskRole::Spare), (4, record::DiskRole::Filling)];
    for (place, role) in roles {
        run.points[0].breakdown.as_mut().unwrap().components[place].role = Some(role);
    }
    let told = found(&run, "bottleneck").sentence;
    assert!(
        told.starts_with("disks are the bottleneck: utilization 99 % on average of 2, highest 100 %. Not saturated: disk 4 ("),
        "{told}"
    );
}

#[test]
fn a_part_that_is_saturated_while_a_phase_waits_for_a_rebuild_is_the_bottleneck_of_it() {
    let alone = |xor: f64| {
        let mut run =
            modelled(&[("disk 0", 0.08, 0.0), ("disk 1", 0.07, 0.0), ("controller 0 xor", xor, 2.0)]);
        run.points[0].kind = record::PointKind::State;
        run.points[0].workloads.clear();
        run.points[0].state = [("state".to_owned(), "watch rebuild".to_owned())].into();
        run
    };
    let finding = found(&alone(0.999), "bottleneck");
    assert_eq!(
        finding.sentence,
        "controller 0 xor is the bottleneck of the rebuild: utilization 100 %. Not saturated: disks (7.5 %)."
    );
    assert_eq!((finding.bottleneck(), finding.point), (Some("controller 0 xor"), Some(0)));
    assert!(find(&alone(0.949), "bottleneck").is_none());
}

#[test]
fn a_part_that_is_busy_with_what_nobody_waits_for_is_not_named() {
    let busy = modelled(&[("disk 0", 1.0, 0.0), ("link 0 rx", 0.4, 12.0)]);
    assert!(find(&busy, "bottleneck").is_none() && find(&busy, "bottleneck-undetermined").is_some());
    let parts = [("disk 0", 0.97, 12.0), ("link 0 rx", 0.4, 0.1)];
    let rebuilt = with_background(modelled(&parts), 0.6);
    let finding = found(&rebuilt, "bottleneck-undetermined");
    assert!(finding.sentence.contains("60 % of it background work"), "{}", finding.sentence);
    assert!(find(&rebuilt, "bottleneck").is_none());
    assert!(find(&with_background(modelled(&parts), 0.1), "bottleneck").is_some());
}

#[test]
fn reads_ahead_that_pile_up_name_a_part_only_where_requests_may_wait_for_them() {
    // The disk is busy with reads ahead alone; requests are at the processor, or at no part at all.
    let with_requests_at_the_processor = |present: f64| {
        let mut run = modelled(&[("disk 0", 1.0, 2_000.0), ("controller 0 processor", 0.4, 0.0)]);
        let elapsed_ns = (run.points[0].ended_ns - run.points[0].started_ns) as f64;
        let breakdown = run.points[0].breakdown.as_mut().unwrap();
        let class = |op: record::Behalf, component: &str, waiting: f64, served: f64| ClassShare {
            op,
            size_bytes: 0,
            component: component.into(),
            visits: 1_000,
            wait_ns: waiting * elapsed_ns / 1_000.0,
            service_ns: served * elapsed_ns / 1_000.0,
            deferred_ns: 0.0,
        };
        breakdown.classes.push(class(record::Behalf::Prefetch, "disk 0", 2_000.0, 1.0));
        breakdown.classes.push(class(record::Behalf::HostRead, "controller 0 processor", 0.0, present));
        run
    };
    assert!(find(&with_requests_at_the_processor(15.5), "bottleneck").is_none());
    assert!(find(&with_requests_at_the_processor(15.5), "bottleneck-undetermined").is_some());
    // A request that joins such a queue and is still there at the end says nothing of the rate of the others.
    let mut stuck = with_requests_at_the_processor(15.5);
    let elapsed_ns = (stuck.points[0].ended_ns - stuck.points[0].started_ns) as f64;
    let read = ClassShare {
        op: record::Behalf::HostRead,
        visits: 8,
        wait_ns: 2.0 * elapsed_ns,
        service_ns: 0.0,
        ..stuck.points[0].breakdown.as_ref().unwrap().classes[0].clone()
    };
    stuck.points[0].breakdown.as_mut().unwrap().classes.push(read);
    assert!(find(&stuck, "bottleneck").is_none() && find(&stuck, "bottleneck-undetermined").is_some());
    let waited_for = with_requests_at_the_processor(1.0);
    let finding = found(&waited_for, "bottleneck");
    assert!(finding.sentence.starts_with("disk 0 is the bottleneck"), "{}", finding.sentence);
}

#[test]
fn of_two_parts_that_are_full_the_record_names_neither() {
    let run = modelled(&[("controller 0 bus", 0.97, 9.0), ("link 0 rx", 0.96, 3.0)]);
    assert!(find(&run, "bottleneck").is_none() && find(&run, "bottleneck-undetermined").is_some());
}

#[test]
fn many_in_flight_that_wait_at_no_part_are_not_told_to_be_latency_bound_without_another_depth() {
    let run = modelled(&[("disk 0", 0.1, 0.1), ("disk 1", 0.12, 0.1), ("link 0 rx", 0.05, 0.0)]);
    assert!(find(&run, "latency-bound").is_none() && find(&run, "bottleneck").is_none());
    assert!(find(&run, "bottleneck-undetermined").is_some());
    let mut alone = run;
    workload(&mut alone).mean_in_flight = 1.0;
    assert!(!found(&alone, "latency-bound").remedy.contains("ahead"));
    // A stream that waits for disks is read too little ahead.
    workload(&mut alone).spec.pattern = spec::Pattern::Sequential;
    let disk = |ns| PartShare { part: "disk seek".into(), wait_ns: 0.0, service_ns: ns };
    alone.points[0].breakdown.as_mut().unwrap().response = vec![disk(4e6)];
    assert!(found(&alone, "latency-bound").remedy.contains("ahead"));
}

/// An effect that is there where it is not small.
fn trial(change: &str, times: f64, gain: f64) -> Trial {
    let ops = Effect { change: gain, low: gain - 0.01, high: gain + 0.01, is_there: gain.abs() > 0.02 };
    Trial { times, ..sample::trial(change, ops) }
}

fn tried(trials: Vec<Trial>) -> WhatIf {
    WhatIf { recorded_ops_per_s: 2_000.0, again_ops_per_s: 2_000.0, ..sample::what_if(0, trials) }
}

#[test]
fn trials_settle_what_the_record_leaves_open() {
    let mut run = modelled(&[("controller 0 bus", 0.97, 9.0), ("link 0 rx", 0.96, 3.0)]);
    run.findings = explain::findings(&run);
    assert_eq!(explain::open_points(&run), [0]);
    let parts = |bus, link| vec![trial("controller bus", 1.5, bus), trial("link", 1.5, link)];
    let settled = |trials| explain::settled(&run, &tried(trials));
    let bus = settled(parts(0.44, 0.01)).unwrap();
    assert_eq!(bus.bottleneck(), Some("controller bus"));
    assert!(
        bus.sentence.starts_with("controller bus is the bottleneck, by trial: 50 % more speed"),
        "{bus:?}"
    );
    // Two that bring as much, and none that brings anything, are not told apart.
    assert_eq!(settled(parts(0.3, 0.25)), None);
    assert_eq!(settled(parts(0.05, 0.01)), None);
    let deeper = [parts(0.2, 0.05), vec![trial("depth", 2.0, 0.9)]].concat();
    assert_eq!(settled(deeper.clone()).unwrap().code, "latency-bound");
    // What was tried is not what was recorded.
    let elsewhere = WhatIf { again_ops_per_s: 2_600.0, ..tried(parts(0.44, 0.01)) };
    assert_eq!(explain::settled(&run, &elsewhere), None);
}

#[test]
fn trials_that_settle_nothing_tell_what_they_brought_and_send_nobody_to_where_he_is() {
    let mut run = modelled(&[("controller 0 bus", 0.97, 9.0), ("link 0 rx", 0.96, 3.0)]);
    run.findings = explain::findings(&run);
    let open = find(&run, "bottleneck-undetermined").unwrap();
    assert!(open.remedy.contains("--what-if --point 1`"), "{}", open.remedy);
    let parts = |bus, link| vec![trial("controller bus", 1.5, bus), trial("link", 1.5, link)];
    let named = Run { id: "3".into(), ..sample::run("named", Vec::new()) };
    let after = |trials: Vec<Trial>| explain::unsettled(&named, &open, &tried(trials));
    let both = after(parts(0.3, 0.25));
    assert!(both.sentence.contains("controller bus gains 30 %, of link 25 %"), "{}", both.sentence);
    assert!(both.remedy.starts_with("Make controller bus and link faster"), "{}", both.remedy);
    let one = after(parts(0.05, 0.01));
    assert!(one.remedy.contains("controller bus faster first"), "{}", one.remedy);
    let none = after(parts(0.01, 0.01));
    assert!(none.remedy.contains("`fathom explain 3 --what-if --point 1 --seeds 20`"), "{}", none.remedy);
    let elsewhere =
        explain::unsettled(&named, &open, &WhatIf { again_ops_per_s: 2_600.0, ..tried(parts(0.44, 0.01)) });
    assert!(
        elsewhere.sentence.contains("the unchanged array gives 130 % of the recorded rate"),
        "{}",
        elsewhere.sentence
    );
    for finding in [both, one, none, elsewhere] {
        assert_eq!((finding.code.as_str(), finding.point), ("bottleneck-undetermined", Some(0)));
        assert!(finding.sentence.starts_with(&open.sentence), "{}", finding.sentence);
        assert!(!finding.remedy.starts_with(&open.remedy), "{}", finding.remedy);
    }
}

#[test]
fn what_was_not_tried_can_be_asked_for_by_its_point() {
    let asked = explain::untried("7", 2, explain::Untried::Unasked);
    assert!(asked.contains("`fathom explain 7 --what-if --point 3`"), "{asked}");
    assert!(explain::untried("7", 2, explain::Untried::Unable).contains("cannot be run again"));
}

#[test]
fn a_rate_at_the_limit_of_the_control_group_is_imposed_by_it() {
    let mut run = reads(8, 500, 4096);
    run.path = vec![part("sda", Some("disk.sda"), Vec::new(), Vec::new())];
    let held = |run: &mut Run, limit: &str| {
        run.environment.facts.insert("io limits of the control group".into(), limit.into());
        find(run, "rate-limited")
    };
    let finding = held(&mut run, "vda rbps=max riops=9; sda rbps=max wbps=max riops=502 wiops=max").unwrap();
    assert!(
        finding.sentence.contains("of the 502 requests a second") && finding.sentence.contains("sda (riops)"),
        "{finding:?}"
    );
    assert!(held(&mut run, "sda rbps=max riops=800").is_none());
    assert!(held(&mut run, "sdb rbps=max riops=502").is_none());
    // The kernel divides what is larger than a device takes at once, and counts every piece.
    let counted = series(&run.points[0], "disk.sda.reads_per_s", "per_s", 1_500.0);
    run.points[0].series.push(counted);
    let finding = held(&mut run, "sda rbps=max riops=1502").unwrap();
    assert!((finding.numbers["rate_per_s"] - 1_500.0).abs() < 1.0, "{finding:?}");
}

#[test]
fn a_rate_that_is_the_same_in_nearly_every_second_and_at_every_depth_looks_imposed() {
    // What every `nth` second does, beside the other seconds.
    let with_seconds = |usual: f64, nth: usize, other: f64| {
        let mut run = swept(|_| 3_000);
        for point in &mut run.points {
            let mut seconds = series(point, "read ops", "per_s", usual);
            seconds.workload = Some(point.workloads[0].name.clone());
            seconds.values.iter_mut().step_by(nth).for_each(|value| *value = other);
            point.series.push(seconds);
        }
        find(&run, "rate-limited")
    };
    assert!(with_seconds(3_000.0, 2, 3_001.0).is_some());
    assert!(with_seconds(2_900.0, 2, 3_100.0).is_none());
    // A second in which the machine did something else changes nothing; every third is no exception.
    assert!(with_seconds(3_000.0, 10, 2_000.0).is_some());
    assert!(with_seconds(3_000.0, 3, 2_900.0).is_none());
    // Of few requests a second one falls on either side of the second's end.
    assert!(with_seconds(64.0, 2, 65.0).is_some());
    assert!(with_seconds(64.0, 2, 68.0).is_none());
}

#[test]
fn reads_that_no_member_was_asked_for_were_answered_by_the_cache() {
    let run = with_background(modelled(&[("disk 0", 0.1, 0.0), ("link 0 rx", 0.6, 0.3)]), 0.0);
    let finding = found(&run, "cache-hits");
    assert!(finding.numbers["answered_share"] > 0.9, "{finding:?}");
    let mut asked = run;
    for class in &mut asked.points[0].breakdown.as_mut().unwrap().classes {
        class.visits *= 100;
    }
    assert!(find(&asked, "cache-hits").is_none());
}

/// Depths on one file and on four, at rates of `rate(files, depth)`.
fn on_files(rate: impl Fn(u64, u64) -> u64) -> Run {
    let loads = [(1u64, 1u64), (1, 8), (1, 32), (4, 1), (4, 8), (4, 32)];
    let points = (0u32..).zip(loads).map(|(index, (files, depth))| {
        let run = reads(files * depth, rate(files, depth), 4096);
        let mut workload = run.points[0].workloads[0].clone();
        let mut point = sample::point(index, "reads", Vec::new());
        workload.measured_from_ns = point.started_ns;
        workload.spec.files = spec::Files::PerWorker(1);
        let worker = workload.workers[0].clone();
        workload.workers = vec![worker; narrow::<usize>(files)];
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
    let finding = found(&run, "bottleneck");
    assert_eq!(finding.bottleneck(), Some("Each file"));
    assert!(
        finding.sentence.contains("With 1 file the rate changes by 0.0 % from 8 to 32"),
        "{}",
        finding.sentence
    );
    assert!((finding.numbers["more_places_rate_times"] - 4.0).abs() < 0.05, "{finding:?}");
    let shared = on_files(|_, depth| 5_000 * depth.min(2));
    assert!(find(&shared, "bottleneck").is_none(), "the files share what is full");
    let deeper = on_files(|files, depth| files * 1_000 * depth);
    assert!(find(&deeper, "bottleneck").is_none(), "a file still answers to more in flight");
}

#[test]
fn what_the_kernel_counts_is_held_against_the_limit_of_its_own_kind() {
    for (key, what) in [
        ("rbps", "read_bytes_per_s"),
        ("wbps", "write_bytes_per_s"),
        ("riops", "reads_per_s"),
        ("wiops", "writes_per_s"),
    ] {
        let mut run = reads(8, 500, 4096);
        run.path = vec![part("sda", Some("disk.sda"), Vec::new(), Vec::new())];
        let counted = series(&run.points[0], &format!("disk.sda.{what}"), "per_s", 1e7);
        run.points[0].series.push(counted);
        run.environment.facts.insert("io limits of the control group".into(), format!("sda {key}=10000000"));
        assert!(found(&run, "rate-limited").sentence.contains(&format!("sda ({key})")), "{key}");
    }
}

#[test]
fn half_of_random_reads_from_the_cache_are_told_and_less_or_sequential_ones_are_not() {
    let mut run = with_background(modelled(&[("disk 0", 0.1, 0.0), ("link 0 rx", 0.6, 0.3)]), 0.0);
    let reads = run.points[0].workloads[0].totals[0].ops;
    let asked = |run: &Run, component: &str, visits: u64| {
        let mut run = run.clone();
        let classes = &mut run.points[0].breakdown.as_mut().unwrap().classes;
        classes.truncate(1);
        (classes[0].component, classes[0].op, classes[0].visits) =
            (component.into(), record::Behalf::HostRead, visits);
        find(&run, "cache-hits").is_some()
    };
    assert!(asked(&run, "disk 0", reads / 2) && !asked(&run, "disk 0", reads / 2 + 1));
    assert!(asked(&run, "link 0 rx", 7) && !asked(&run, "link 0 rx", 0), "nothing was counted");
    run.points[0].workloads[0].spec.set("pattern", "sequential").unwrap();
    assert!(!asked(&run, "disk 0", 5));
    run.points[0].workloads[0].spec.set("pattern", "random").unwrap();
    run.points[0].workloads[0].totals.clear();
    assert!(!asked(&run, "disk 0", 0) && !asked(&run, "link 0 rx", 7), "nothing was read");
}

#[test]
fn equally_full_parts_of_a_kind_are_named_together() {
    let parts = [("disk 0", 0.97, 7.0), ("disk 1", 0.97, 5.0), ("disk 2", 0.1, 0.0), ("disk 3", 0.1, 0.0)];
    let finding = found(&modelled(&parts), "bottleneck");
    assert!(finding.sentence.starts_with("disks 0 and 1 are the bottleneck"), "{}", finding.sentence);
}
