//! The runs that are drawn.

use std::collections::BTreeMap;

use record::names::fact;
use record::sample::{self, Stream};
use record::{Check, Ending, ErrorSample, Finding, Grade, Grading, Outcome, PointKind, Run, Severity};
use units::convert::narrow;

fn stream(op: &'static str, size_bytes: u64, per_s: u64, median_ns: u64, spread: f64) -> Stream {
    Stream { op, size_bytes, per_s, median_ns, spread }
}

fn finding(code: &str, severity: Severity, point: Option<u32>, sentence: &str, remedy: &str) -> Finding {
    let (code, sentence, remedy) = (code.into(), sentence.into(), remedy.into());
    Finding { code, severity, sentence, remedy, numbers: BTreeMap::new(), point }
}

/// Five very different points.
pub(crate) fn corners() -> Run {
    let corner = |index, name: &str, headline: &str, stream| {
        let mut point = sample::point(index, name, vec![sample::workload("main", &[stream])]);
        point.headline = headline.into();
        point
    };
    let points = vec![
        corner(0, "512 B sequential read", "iops", stream("read", 512, 312_400, 96_000, 0.3)),
        corner(1, "4 KiB random read", "iops", stream("read", 4096, 187_212, 148_000, 0.5)),
        corner(2, "4 KiB random write", "iops", stream("write", 4096, 61_870, 430_000, 0.9)),
        corner(3, "512 KiB sequential write", "mb_per_s", stream("write", 524_288, 2_410, 3_100_000, 0.6)),
        corner(4, "512 KiB sequential read", "mb_per_s", stream("read", 524_288, 5_730, 1_390_000, 0.2)),
    ];
    let mut run = sample::run("corners", points);
    run.findings = vec![
        finding(
            "drive-write-cache",
            Severity::Note,
            Some(2),
            "The device's volatile write cache is on, and the workload never flushes: an acknowledged write may be \
             lost on power failure.",
            "To measure durable writes, set `sync = \"dsync\"` or `flush_every = 1`.",
        ),
        finding(
            "cache-suspected",
            Severity::Warning,
            Some(1),
            "12 % of the reads never reached the device: the workload read 8 GiB, the kernel counted 7.04 GiB.",
            "Set `direct = true`, or use a working set (`span`) several times the memory of this machine.",
        ),
    ];
    run
}

/// One phase over many depths, repeated once at the end.
pub(crate) fn sweep() -> Run {
    let rates = [11_900_u64, 23_100, 44_800, 84_000, 141_000, 183_000, 190_200, 189_100];
    let point = |(step, rate): (usize, &u64)| {
        let depth = 1_u64 << step;
        let median_ns = depth * 1_000_000_000 / rate;
        let load = stream("read", 4096, *rate, median_ns, 0.4);
        let mut point = sample::point(
            narrow::<u32>(step),
            &format!("4k read x{depth}"),
            vec![sample::workload("main", &[load])],
        );
        point.phase = "4k read x{depth}".into();
        point.swept.insert("depth".into(), depth.to_string());
        point
    };
    let mut run = sample::run("random", rates.iter().enumerate().map(point).collect());
    let mut again = run.points[7].clone();
    (again.index, again.repeat, again.headline) = (8, 2, "p99".into());
    run.points.push(again);
    run.tags.insert("firmware".into(), "2.1.8".into());
    run.findings = (0..9)
        .map(|index| {
            finding(
                "wide-interval",
                Severity::Warning,
                Some(index),
                "95 % CI of the rate: ± 6.2 %. It varied from second to second.",
                "Measure 2 times as long for ± 5 %, and find what makes it vary.",
            )
        })
        .collect();
    run
}

/// Two workloads at once, one of them of two operations, after a state.
pub(crate) fn mixed() -> Run {
    let oltp = sample::workload(
        "oltp",
        &[stream("read", 8192, 20_000, 310_000, 0.7), stream("write", 8192, 10_000, 620_000, 0.9)],
    );
    let backup = sample::workload("backup", &[stream("read", 1 << 20, 4, 4_200_000, 0.3)]);
    let mut state = sample::point(0, "fill", Vec::new());
    (state.kind, state.cpu) = (PointKind::State, None);
    state.devices.clear();
    let mut run =
        sample::run("mixed", vec![state, sample::point(1, "oltp beside a backup", vec![oltp, backup])]);
    run.environment.facts.insert(fact::HYPERVISOR.into(), "kvm".into());
    run
}

/// Requests failed, and the run gave up.
pub(crate) fn errored() -> Run {
    let mut workload = sample::workload("main", &[stream("read", 4096, 900, 1_050_000, 1.5)]);
    workload.errors = 1_024;
    workload.gave_up = true;
    let sample = |offset_bytes| ErrorSample {
        at_ns: 7,
        op: record::Op::Read,
        file: "/dev/sdb".into(),
        offset_bytes,
        len_bytes: 4096,
        failure: "EIO (5): Input/output error".into(),
        expected: None,
        found: None,
        rank: None,
    };
    workload.error_samples = (0..5).map(|i| sample(1_048_576 + i * 4096)).collect();
    let mut point = sample::point(0, "4k read", vec![workload]);
    point.complete = false;
    let mut run = sample::run("quick", vec![point]);
    run.ending = Ending { complete: false, code: 5, reason: "1,024 requests failed on /dev/sdb".into() };
    run.findings = vec![finding(
        "errors",
        Severity::Invalid,
        Some(0),
        "1,024 requests failed; the first with EIO (5): Input/output error.",
        "Look at `dmesg`.",
    )];
    run
}

/// Cut short by the user, with too few requests for the tail.
pub(crate) fn interrupted() -> Run {
    let mut point = sample::point(
        0,
        "1 MiB write",
        vec![sample::workload("main", &[stream("write", 1 << 20, 3, 2_100_000, 0.4)])],
    );
    point.complete = false;
    let mut run = sample::run("quick", vec![point]);
    run.ending =
        Ending { complete: false, code: 130, reason: "interrupted; what was measured is saved".into() };
    run
}

/// Two points of different grades.
pub(crate) fn graded() -> Run {
    let check = |name: &str, outcome, grade, codes: &[&str], why: &str, points: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
        Check {
            name: name.into(),
            outcome,
            grade,
            codes: texts(codes),
            why: why.into(),
            points: texts(points),
        }
    };
    let mut run = corners();
    run.points.truncate(2);
    let why = "the caches of the storage are not known";
    let cache = check("cache", Outcome::NotChecked, Grade::B, &[], why, &[]);
    let good = check("requests", Outcome::Passed, Grade::A, &[], "", &[]);
    let slow =
        check("generator", Outcome::Failed, Grade::D, &["generator-saturated"], "", &["4 KiB random read"]);
    let short = check("samples", Outcome::Passed, Grade::B, &["short-run"], "", &[]);
    let all = vec![good.clone(), cache.clone(), slow, short];
    run.points[0].grading = Some(Grading { grade: Grade::B, checks: vec![good, cache] });
    run.points[1].grading = Some(Grading { grade: Grade::D, checks: all.clone() });
    run.grading = Some(Grading { grade: Grade::D, checks: all });
    run
}

/// Nothing was measured, of a target of which nothing is known.
pub(crate) fn empty() -> Run {
    let mut run = sample::run("quick", Vec::new());
    run.targets[0].facts.clear();
    run.targets[0].size_bytes = 0;
    run.ending = Ending { complete: false, code: 3, reason: "refused: /dev/sda is mounted at /".into() };
    run
}

/// Every text a user may give tries to harm the terminal or the table.
pub(crate) fn hostile() -> Run {
    let mut run = corners();
    run.points.truncate(1);
    run.findings.clear();
    run.plan.name = "数据\x1b[2Jx".into();
    run.points[0].name = "a|b\n\"c\", d *e* 数据数据数据数据".into();
    run
}
