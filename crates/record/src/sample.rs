//! Records made by closed forms, for tests and examples of whatever reads records.
//!
//! A sample is sound: every count agrees with every other, Little's law holds, and nothing in it is worth a
//! warning. A test takes one and spoils what it is about.

use std::collections::BTreeMap;
use std::ops::Add;

use units::Nanos;
use units::convert::{narrow, truncated};

use crate::names::{fact, series};
use crate::{
    Behalf, CampaignCell, CheaperDesign, Class, ClassSecond, ClassShare, CloseCall, CpuUse, DesignCounts,
    DesignFigure, DesignMargins, DesignReliability, DesignUnit, DeviceCounters, Edges, Effect, Ending,
    Engine, EngineUsed, Environment, Exploration, FactorLevel, FrontDesign, Histogram, NeighbourDesign, Op,
    OpTotal, PlanSource, Point, PointKind, RequirementCost, ResponseMap, Run, SCHEMA_VERSION, Search, Series,
    Target, Tool, Trial, WhatIf, WorkerResult, WorkloadResult, World, summarise,
};

/// Requests of one kind that a sample workload makes.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// `read`, `write`, `trim` or `flush`.
    pub op: &'static str,
    /// Bytes of each.
    pub size_bytes: u64,
    /// So many a second.
    pub per_s: u64,
    /// The middle response time; half are faster.
    pub median_ns: u64,
    /// How far the tail reaches: 0 is no tail, 0.2 narrow, 1 wide.
    pub spread: f64,
}

/// Length of every sample's measured window.
pub const SECONDS: u64 = 30;

/// A run of `plan` with these points that ended well.
pub fn run(plan: &str, points: Vec<Point>) -> Run {
    let facts = [
        (fact::VENDOR, "Acme"),
        (fact::MODEL, "Acme P5 960GB"),
        (fact::SERIAL, "AC5-00042"),
        (fact::FIRMWARE, "2.1.8"),
        (fact::BY_ID, "nvme-Acme_P5_960GB_AC5-00042"),
        (fact::DEVICE, "nvme0n1"),
        (fact::DEVICE_SIZE, "960197124096B"),
        (fact::FILE_SYSTEM, "ext4"),
        (fact::SCHEDULER, "none"),
    ];
    Run {
        schema_version: SCHEMA_VERSION,
        id: "20260102-030405-1a2b".into(),
        tool: Tool { name: "fathom".into(), version: "0.1.0".into() },
        started: "2026-01-02T03:04:05Z".into(),
        ended: Some("2026-01-02T03:06:05Z".into()),
        command: vec!["fathom".into(), "run".into(), plan.into(), "--on".into(), "/mnt/array".into()],
        tags: BTreeMap::new(),
        cell: None,
        plan: PlanSource {
            name: plan.into(),
            about: String::new(),
            origin: plan.into(),
            text: format!("name = \"{plan}\"\n"),
            overrides: Vec::new(),
        },
        world: World::Host,
        targets: vec![Target {
            address: "/mnt/array".into(),
            kind: "directory".into(),
            path: Some("/mnt/array/fathom.scratch".into()),
            size_bytes: 64 << 30,
            caches: Vec::new(),
            facts: facts.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            validation: None,
        }],
        path: Vec::new(),
        environment: Environment {
            hostname: "db1".into(),
            kernel: "Linux 6.12.0 x86_64".into(),
            cpu_model: "Example 9000".into(),
            cpus: 8,
            ram_bytes: 16 << 30,
            facts: BTreeMap::new(),
        },
        consents: Vec::new(),
        search: None,
        exploration: None,
        rounds: Vec::new(),
        points,
        findings: Vec::new(),
        grading: None,
        judgement: None,
        display: None,
        ending: Ending { complete: true, code: 0, reason: "done".into() },
    }
}

/// A confirmed search for `p99<5ms` that met it at one rate and broke it at another, each where it is given; its ladder
/// is empty.
pub fn search(met_per_s: Option<f64>, violated_per_s: Option<f64>) -> Search {
    let slo = "p99<5ms";
    Search {
        slos: vec![slo.into()],
        load: None,
        tolerance: 0.02,
        from_per_s: None,
        to_per_s: None,
        ceiling_per_s: 0.0,
        met_per_s,
        violated_per_s,
        edge_per_s: None,
        violated_by: violated_per_s.map(|_| slo.into()),
        confirmed: true,
        confirmed_per_s: None,
        confirm_needs_s: None,
        after_overload_per_s: None,
        quiet_ns: None,
        recovery_s: None,
        write_cache: None,
        relaxation_s: None,
        complete: true,
        budget_s: None,
        out_of_time: false,
        depths: None,
        ladder: Vec::new(),
    }
}

/// A point of one or more workloads, its device's counters in agreement with them.
pub fn point(index: u32, name: &str, workloads: Vec<WorkloadResult>) -> Point {
    let started_ns = u64::from(index) * (SECONDS + 2) * 1_000_000_000;
    let total = |op: Op, of: fn(&OpTotal) -> u64| -> u64 {
        let totals = workloads.iter().flat_map(|workload| &workload.totals);
        totals.filter(|total| total.op == op).map(of).sum()
    };
    let devices = vec![DeviceCounters {
        device: "nvme0n1".into(),
        relation: "target".into(),
        read_requests: total(Op::Read, |total| total.ops),
        read_sectors: total(Op::Read, |total| total.bytes / 512),
        write_requests: total(Op::Write, |total| total.ops),
        write_sectors: total(Op::Write, |total| total.bytes / 512),
        discard_requests: total(Op::Trim, |total| total.ops),
        discard_sectors: total(Op::Trim, |total| total.bytes / 512),
        flush_requests: total(Op::Flush, |total| total.ops),
        waits: None,
    }];
    let cpus = workloads.iter().flat_map(|workload| &workload.workers).filter_map(|worker| worker.cpu);
    let cpu = cpus.fold(CpuUse::default(), Add::add);
    Point {
        started_ns,
        ended_ns: started_ns + (SECONDS + 1) * 1_000_000_000,
        complete: true,
        series: workloads.iter().flat_map(rates).chain([idle()]).collect(),
        workloads,
        cpu: Some(cpu),
        devices,
        ..Point::before(index, name, PointKind::Load, "iops")
    }
}

/// A closed loop of direct random requests by one worker through io_uring.
pub fn workload(name: &str, streams: &[Stream]) -> WorkloadResult {
    let classes: Vec<Class> = streams.iter().map(class).collect();
    let ops: u64 = classes.iter().map(|class| class.ops).sum();
    let bytes: u64 = classes.iter().map(|class| class.bytes).sum();
    let in_flight_ns: u64 = classes.iter().map(|class| class.response.sum_ns).sum();
    let mean_in_flight = in_flight_ns as f64 / (SECONDS as f64 * 1e9);
    let mut spec = spec::Workload::plain("");
    spec.depth = truncated::<u32>(mean_in_flight.round()).max(1);
    spec.stop.run = Some(Nanos::from_secs(30));
    let total = |class: &Class| OpTotal { op: class.op, ops: class.ops, bytes: class.bytes };
    // 5 µs a request, a fifth of it in the program.
    let cpu = CpuUse { user_s: ops as f64 * 1e-6, system_s: ops as f64 * 4e-6, ..CpuUse::default() };
    let mut result = WorkloadResult {
        name: name.into(),
        spec,
        engine: EngineUsed {
            name: Engine::IoUring,
            details: vec!["registered files".into(), "registered buffers".into()],
            fallback: None,
            clock: "batch".into(),
            submit_batch: Some(1),
            complete_batch: Some(1),
        },
        summary: Vec::new(),
        totals: classes.iter().map(total).collect(),
        span_bytes: Some(64 << 30),
        classes,
        measured_from_ns: 500_000_000,
        measured_ns: SECONDS * 1_000_000_000,
        planned: ops,
        completed: ops,
        dropped: 0,
        not_issued: 0,
        late: None,
        mean_in_flight,
        together: None,
        edges: Some(Edges::default()),
        responses_over_time: None,
        stalls: Vec::new(),
        digests: vec!["00000000deadbeef".into()],
        errors: 0,
        error_samples: Vec::new(),
        verified: None,
        gave_up: false,
        zone_resets: 0,
        device_zones: None,
        workers: vec![WorkerResult {
            index: 0,
            ops,
            bytes,
            measured_ns: None,
            cpu: Some(cpu),
            ceiling_per_s: Some(5e6),
        }],
    };
    let seconds = seconds(&result.classes);
    let responses =
        |second: &Vec<ClassSecond>| second.iter().flat_map(|class| class.responses.clone()).collect();
    let stretches: Vec<Vec<stats::Bucket>> = seconds.iter().map(responses).collect();
    result.responses_over_time = ResponseMap::of(result.measured_from_ns, 1_000_000_000, &stretches);
    result.summary = summarise(&result, 1.0, &seconds);
    result
}

fn class(stream: &Stream) -> Class {
    let ops = stream.per_s * SECONDS;
    Class {
        op: op_of(stream),
        size_bytes: stream.size_bytes,
        ops,
        bytes: ops * stream.size_bytes,
        response: responses(ops, stream.median_ns, stream.spread),
        service: None,
        lag: None,
        after: None,
    }
}

/// The operation that a sample names.
fn op_of(stream: &Stream) -> Op {
    let own = Op::ALL.iter().copied().find(|op| op.name() == stream.op);
    own.unwrap_or_else(|| panic!("`{}` is not an operation", stream.op))
}

/// `count` response times with the quantiles of a log-logistic distribution, whose inverse is elementary.
pub fn responses(count: u64, median_ns: u64, spread: f64) -> Histogram {
    let mut histogram = stats::Histogram::new();
    // Each step stands for an equal part of the requests: 4,000 reach to p99.97.
    let steps = count.min(4_000);
    for step in 0..steps {
        let rank = (step as f64 + 0.5) / steps as f64;
        let value = median_ns as f64 * (rank / (1.0 - rank)).powf(spread / 3.0);
        let share = count * (step + 1) / steps - count * step / steps;
        histogram.record_n(Nanos::new(truncated(value)), share);
    }
    Histogram::from(&histogram)
}

/// Each second a hundredth above or below the mean in turn, its responses a share of all.
fn seconds(classes: &[Class]) -> Vec<Vec<ClassSecond>> {
    let second = |number: u64, class: &Class| {
        let mean = class.ops / SECONDS;
        let ops = if number.is_multiple_of(2) { mean + mean / 100 } else { mean - mean / 100 };
        let share = |bucket: stats::Bucket| {
            let count = bucket.count * (number + 1) / SECONDS - bucket.count * number / SECONDS;
            stats::Bucket { count, ..bucket }
        };
        let responses = class.response.to_stats().map(|all| all.buckets().map(share).collect());
        ClassSecond { ops, bytes: ops * class.size_bytes, responses: responses.unwrap_or_default() }
    };
    (0..SECONDS).map(|number| classes.iter().map(|class| second(number, class)).collect()).collect()
}

fn rates(workload: &WorkloadResult) -> Vec<Series> {
    let seconds = seconds(&workload.classes);
    let of = |(index, class): (usize, &Class)| Series {
        workload: Some(workload.name.clone()),
        at_ns: ends(),
        values: seconds.iter().map(|second| second[index].ops as f64).collect(),
        ..Series::new(format!("{}{}", class.op, series::OPS), "per_s", "completions")
    };
    workload.classes.iter().enumerate().map(of).collect()
}

fn idle() -> Series {
    let values = vec![0.8; narrow::<usize>(SECONDS)];
    Series { at_ns: ends(), values, ..Series::new(series::CPU_IDLE, "share", "/proc/stat") }
}

/// What was done of a rebuild at these seconds, as a share.
pub fn rebuilt(seen: &[(u64, f64)]) -> Series {
    let (at_ns, values) = seen.iter().map(|(second, part)| (second * 1_000_000_000, *part)).unzip();
    Series { at_ns, values, ..Series::new(format!("rebuild{}", series::DONE), "share", "/proc/mdstat, md0") }
}

/// Ends of the seconds of the measured window.
pub fn ends() -> Vec<u64> {
    (1..=SECONDS).map(|second| 500_000_000 + second * 1_000_000_000).collect()
}

/// A level of a factor that has two, `place` of them.
pub fn level(factor: &str, level: &str, place: u32) -> FactorLevel {
    FactorLevel { factor: factor.into(), level: level.into(), place, of: 2, hard: false }
}

/// The first cell of a campaign that was measured, with nothing claimed and nothing proven of it.
pub fn cell(levels: Vec<FactorLevel>) -> CampaignCell {
    CampaignCell {
        campaign: "levels".into(),
        key: "1a2b3c4d".into(),
        block: 1,
        turn: 1,
        levels,
        claims: Vec::new(),
        proofs: Vec::new(),
        toml: String::new(),
        runs: 0,
        blocks: 0,
        lack: None,
    }
}

/// What a class did at a part: so many visits, with the mean times that each waited and was served.
pub fn visits(op: Behalf, component: &str, visits: u64, wait_ns: f64, service_ns: f64) -> ClassShare {
    ClassShare {
        op,
        size_bytes: 0,
        component: component.into(),
        visits,
        wait_ns,
        service_ns,
        deferred_ns: 0.0,
    }
}

/// A trial with something half as fast again, and what it changes in rate.
pub fn trial(change: &str, ops: Effect) -> Trial {
    let (change, to) = (change.into(), String::new());
    Trial { change, to, times: 1.5, ops, p99: None, operations: None, is_filling: false }
}

/// Trials of a point with three seeds, where the unchanged array repeats the 1,000 requests a second that were recorded.
pub fn what_if(point: u32, trials: Vec<Trial>) -> WhatIf {
    WhatIf {
        point,
        name: "reads".into(),
        seeds: 3,
        times: 1.5,
        recorded_ops_per_s: 1_000.0,
        recorded_low: None,
        recorded_high: None,
        again_ops_per_s: 1_000.0,
        floor_ops: 0.02,
        floor_p99: None,
        trials,
    }
}

/// What a search over designs found: a front of four, by level and disks, of which more money buys more of everything.
pub fn exploration() -> Exploration {
    const LEVELS: [&str; 2] = ["5", "10"];
    const DISKS: [&str; 2] = ["4", "6"];
    let level = |factor: &str, levels: [&str; 2], place: u32| level(factor, levels[place as usize], place);
    let design = |raid: u32, disks: u32, values: [f64; 3]| FrontDesign {
        address: format!("array:px6-300d?raid={}&disks={}", LEVELS[raid as usize], DISKS[disks as usize]),
        levels: vec![level("raid", LEVELS, raid), level("disks", DISKS, disks)],
        values: values.to_vec(),
        alike: 0,
        loss: Some(2e-3),
        loss_simulated: None,
        unsustained: Vec::new(),
        requests: None,
        half_widths: Vec::new(),
    };
    let figure = |name: &str, unit: DesignUnit, more_is_better: bool| DesignFigure {
        name: name.into(),
        unit,
        more_is_better,
        simulated: more_is_better,
    };
    Exploration {
        price_unit: "EUR".into(),
        counts: DesignCounts {
            designs: 9,
            impossible: 2,
            reasons: vec![("RAID 10 has an even number of disks".into(), 2)],
            left_out: 3,
            simulated: [14, 8],
            known: 0,
        },
        margins: DesignMargins { rate: 1.1, time: 1.2, hours: 1.05 },
        spread: None,
        model_error: 0.12,
        resolution: 0.02,
        reliability: DesignReliability { mttf_h: 1e6, unreadable: 1e-15, replace_h: 24.0 },
        figures: vec![
            figure("price", DesignUnit::Price, false),
            figure("vm iops", DesignUnit::PerSecond, true),
            figure("rebuild", DesignUnit::Seconds, false),
        ],
        front: vec![
            design(0, 0, [1_040.0, 240.0, 36_000.0]),
            design(1, 0, [1_040.0, 310.0, 43_200.0]),
            design(0, 1, [1_260.0, 350.0, 32_400.0]),
            design(1, 1, [1_260.0, 470.0, 39_600.0]),
        ],
        neighbours: vec![NeighbourDesign {
            factor: "disks".into(),
            level: "3".into(),
            address: "array:px6-300d?raid=5&disks=3".into(),
            rejected: "misses vm iops >= 220: 180".into(),
        }],
        requirements: vec![RequirementCost {
            requirement: "vm iops >= 220".into(),
            figure: 1,
            limit: 220.0,
            value: Some(240.0),
            shown: "240".into(),
            without: Some(CheaperDesign {
                address: "array:px6-300d?raid=5&disks=3".into(),
                price: 930.0,
                saves: Some(110.0),
                shown: "180".into(),
            }),
            best: "470".into(),
        }],
        close_calls: vec![CloseCall {
            address: "array:px6-300d?raid=5&disks=4".into(),
            requirement: "vm iops >= 220".into(),
            ahead: 0.09,
        }],
    }
}
