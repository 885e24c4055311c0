//! The keys that say how long a load lasts.

use units::{Bytes, Nanos};

use super::some_bytes;
use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};

const SECTION: Section = Section("Duration");

pub(super) const ENTRIES: [Entry<Draft>; 9] = [
    Entry {
        doc: SECTION.key(
            "start",
            Kind::Duration,
            "0s",
            [
                "Delay before the first request.",
                "For a workload that joins others that already run. Its warm-up and run begin then.",
                "start = \"10s\"",
            ],
        ),
        read: |d, n| n.read("10s").map(|start| d.spec.stop.start = start),
        write: |d| d.spec.stop.start.exact(),
    },
    Entry {
        doc: SECTION.key(
            "warmup",
            Kind::Duration,
            "0s",
            [
                "Load before the measured window, not counted.",
                "Workloads that run together mostly share it.",
                "warmup = \"5s\"",
            ],
        ),
        read: |d, n| n.read("5s").map(|warmup| d.spec.stop.warmup = warmup),
        write: |d| d.spec.stop.warmup.exact(),
    },
    Entry {
        doc: SECTION.key(
            "run",
            Kind::Duration,
            "none",
            [
                "Measured window.",
                "Always exactly this long, as with fio's `time_based`. `none` needs `ops`, `bytes` or \
                 `loops`. Workloads that run together may have times of their own; the figures of those that last longer then include the time without the others.",
                "run = \"30s\"",
            ],
        ),
        read: |d, n| n.optional(|n| n.read("30s")).map(|run| d.spec.stop.run = run),
        write: |d| or_none(d.spec.stop.run, Nanos::exact),
    },
    Entry {
        doc: SECTION.phase_key(
            "cooldown",
            Kind::Duration,
            "0s",
            [
                "Load after the measured window, not counted.",
                "The last measured requests then compete with the same load as the others.",
                "cooldown = \"1s\"",
            ],
        ),
        read: |d, n| n.read("1s").map(|cooldown| d.spec.stop.cooldown = cooldown),
        write: |d| d.spec.stop.cooldown.exact(),
    },
    Entry {
        doc: SECTION.key(
            "ops",
            Kind::Count,
            "none",
            [
                "Stops after so many requests of all workers of the workload together.",
                "Counted from the start, hence without a warm-up. With `run` too, whatever is reached first ends it.",
                "ops = 100_000",
            ],
        ),
        read: |d, n| n.optional(|n| n.count(1..=u64::MAX)).map(|ops| d.spec.stop.ops = ops),
        write: |d| or_none(d.spec.stop.ops, |ops| ops.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "bytes",
            Kind::Size,
            "none",
            [
                "Stops after so many bytes of all workers of the workload together.",
                "Counted from the start, hence without a warm-up.",
                "bytes = \"10GiB\"",
            ],
        ),
        read: |d, n| n.optional(some_bytes).map(|bytes| d.spec.stop.bytes = bytes),
        write: |d| or_none(d.spec.stop.bytes, Bytes::exact),
    },
    Entry {
        doc: SECTION.key(
            "loops",
            Kind::Count,
            "none",
            [
                "Stops after so many times as many bytes as the span holds, for each worker.",
                "Where a worker has several files, as all of them together hold. How large the target is need not be \
                 known beforehand.",
                "loops = 1",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|loops| d.spec.stop.loops = loops),
        write: |d| or_none(d.spec.stop.loops, |loops| loops.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "exit_all",
            Kind::Switch,
            "false",
            [
                "The first worker that completes its share stops all of them.",
                "Each worker has an equal part of `ops` or `bytes`; a load that ends by time alone is not changed. \
                 Without it the last figures come from slow workers without the load of the others.",
                "exit_all = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.stop.exit_all = on),
        write: |d| d.spec.stop.exit_all.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "steady",
            Kind::Choice(&["iops(10%, 30s)", "throughput(10%, 30s)", "latency_slope(1%, 30s, 10s)"]),
            "none",
            [
                "Stops all workloads once a figure of this one is steady, before `run` is over.",
                "`iops(10%, 30s)`: in a window of 30 seconds no second lies further than 10 % from the mean of the \
                 window. `iops_slope(1%, 30s)`: the line fitted through them rises or falls by less than 1 % of it a \
                 second. A third time, as in `iops(10%, 30s, 10s)`, is left out before the first window. `throughput` \
                 counts bytes, `latency` is the mean response time; a limit may also be a value, such as \
                 `latency(50us, 30s)`. fio: `steadystate`. For rounds until SNIA's steady state see `rounds`.",
                "steady = \"iops_slope(1%, 60s)\"",
            ],
        ),
        read: |d, n| n.optional(|n| n.read("iops(10%, 30s)")).map(|steady| d.spec.stop.steady = steady),
        write: |d| or_none(d.spec.stop.steady, |steady| steady.to_string()),
    },
];
