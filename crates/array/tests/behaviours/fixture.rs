//! Small loads on shipped arrays.

use array::sim::{Client, Sim};
use array::spec::Shipped;
use array::spec::case::{Activity, ActivityKind, Load, Metric, Pattern, Subject};
use array::validate::measure;
use units::{Bytes, Nanos, Share};
use workload::spec::{OpMix, Pace, Sequence, SizeSplit};
use workload::{FileMap, Job, JobSpec, Region, RegionShare};

pub fn part(part: f64) -> Share {
    Share::new(part).expect("a share")
}

pub fn kib(kib: u64) -> Bytes {
    Bytes::KIB * kib
}

pub fn gib(gib: u64) -> Bytes {
    Bytes::GIB * gib
}

/// Random reads on all of the first LUN.
pub fn random(size: Bytes, depth: u32) -> Load {
    Load { depth, run: Nanos::from_secs(5), ..Load::plain(Pattern::Random, size) }
}

/// Sequential reads of the first LUN's beginning.
pub fn stream(size: Bytes, depth: u32) -> Load {
    Load { pattern: Pattern::Sequential, span: Some(gib(32)), ..random(size, depth) }
}

/// The same load as writes.
pub fn writing(load: Load) -> Load {
    Load { reads: Share::NONE, ..load }
}

/// 8 KiB, two reads to a write, long enough for a write cache to fill.
pub fn oltp(depth: u32) -> Load {
    Load {
        reads: part(2.0 / 3.0),
        warmup: Nanos::from_secs(30),
        run: Nanos::from_secs(10),
        ..random(kib(8), depth)
    }
}

fn of(array: &str, loads: &[Load], occasion: Option<Activity>, metric: Metric) -> f64 {
    let subject = Subject { array: array.into(), loads: loads.to_vec(), occasion, within: None };
    let value = measure(&Shipped, &subject, metric, 1).unwrap_or_else(|error| panic!("{array}: {error}"));
    println!("{array}: {} {value:.4e}", metric.name());
    value
}

pub fn iops(array: &str, load: &Load) -> f64 {
    of(array, std::slice::from_ref(load), None, Metric::Iops)
}

pub fn rate(array: &str, load: &Load) -> f64 {
    rate_of(array, std::slice::from_ref(load))
}

/// MB/s of loads together.
pub fn rate_of(array: &str, loads: &[Load]) -> f64 {
    of(array, loads, None, Metric::Throughput) / 1e6
}

/// Milliseconds.
pub fn latency(array: &str, load: &Load) -> f64 {
    of(array, std::slice::from_ref(load), None, Metric::LatencyMean) * 1e3
}

/// The share of requests that end within a limit.
pub fn share_within(array: &str, load: &Load, limit: Nanos) -> f64 {
    let loads = vec![load.clone()];
    let subject = Subject { array: array.into(), loads, occasion: None, within: Some(limit) };
    measure(&Shipped, &subject, Metric::ShareWithin, 1).unwrap_or_else(|error| panic!("{array}: {error}"))
}

/// IOPS with the work going on beside.
pub fn iops_during(array: &str, load: &Load, work: ActivityKind) -> f64 {
    let occasion = Activity { work, disk: 3, from: Share::NONE, to: Share::ALL };
    of(array, std::slice::from_ref(load), Some(occasion), Metric::Iops)
}

/// Minutes that the work on disk 3 takes from one percent to another, beside the loads.
pub fn minutes(array: &str, loads: &[Load], work: ActivityKind, from: f64, to: f64) -> f64 {
    let occasion = Activity { work, disk: 3, from: part(from / 100.0), to: part(to / 100.0) };
    of(array, loads, Some(occasion), Metric::Time) / 60.0
}

/// MB/s of the work on disk 3 on each member that it fills, up to a percent.
pub fn work_rate(array: &str, work: ActivityKind, to: f64) -> f64 {
    let occasion = Activity { work, disk: 3, from: Share::NONE, to: part(to / 100.0) };
    of(array, &[], Some(occasion), Metric::WorkRate) / 1e6
}

/// Whether two figures agree within `tolerance` of the second.
#[track_caller]
pub fn assert_equal(one: f64, other: f64, tolerance: f64) {
    assert!((one / other - 1.0).abs() <= tolerance, "{one} against {other}");
}

/// Whether the first figure is at least `factor` times the second.
#[track_caller]
pub fn assert_more(one: f64, other: f64, factor: f64) {
    assert!(one >= factor * other, "{one} is not {factor} times {other}");
}

/// Operations a second of one worker of the load that does `ops` of them on the first LUN: for arrays in a state of
/// their own.
pub fn worker(sim: &mut Sim, load: &Load, ops: u64) -> f64 {
    let size = load.span.unwrap_or(sim.lun_sizes()[0] - load.offset);
    let spec = JobSpec {
        name: "test".into(),
        // A second pass is not the first one again.
        seed: 7 + sim.now().nanos(),
        worker: RegionShare { index: 0, of: 1 },
        pattern: match load.pattern {
            Pattern::Sequential => workload::spec::Pattern::Sequential,
            Pattern::Random => workload::spec::Pattern::RandomWithRepeats,
        },
        sizes: SizeSplit::one(load.size),
        mix: OpMix { reads: load.reads, trims: Share::NONE, flushes: Share::NONE },
        lines: Vec::new(),
        rewrites: Share::NONE,
        align: Bytes::new(512),
        region: Region { start: load.offset, len: size.round_down(load.size) },
        part: RegionShare { index: 0, of: 1 },
        files: FileMap::One,
        zones: None,
        depth: load.depth,
        submit_batch: 64,
        complete_batch: 1,
        pace: Pace::Closed,
        sequence: Sequence::PLAIN,
        start: Nanos::ZERO,
        warmup: Nanos::ZERO,
        warmup_bytes: None,
        wall: None,
        run: None,
        cooldown: Nanos::ZERO,
        ops: Some(ops),
        ops_after_warmup: false,
        bytes: None,
        flush_every: None,
        flush: workload::spec::FlushKind::Fsync,
        flush_at_end: false,
        exit_all: false,
        with_others: false,
    };
    let client = Client {
        job: Job::new(spec),
        files: vec![array::sim::FilePlace::whole(0)],
        host: 0,
        buffered: !load.direct,
        durable: false,
    };
    let outcome = sim.run(vec![client]);
    assert_eq!((outcome.tallies[0].completed, outcome.tallies[0].errors), (ops, 0));
    ops as f64 / (outcome.until - outcome.from).as_secs_f64()
}
