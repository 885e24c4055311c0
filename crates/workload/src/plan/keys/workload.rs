//! The keys of a workload.

use units::{Bytes, Nanos, Share};

use super::draft::Draft;
use super::{Entry, KeyDoc, Kind, Level, lines, or_none, trace, tree};
use crate::plan::mistakes::Wrong;
use crate::plan::text::{CpuList, TargetList, share_text, split_of, weight_of};
use crate::plan::tree::{Node, Value};
use crate::spec::SizeSplit;

const PATTERNS: Kind = Kind::Choice(&[
    "sequential",
    "random",
    "random(repeats)",
    "zipf(1.2)",
    "pareto(0.2)",
    "normal(10%)",
    "normal(10%, scattered)",
    "hot(90% in 10%)",
    "stride(1MiB)",
    "stride(1GiB, 64MiB)",
    "columns(128KiB, 32KiB)",
    "reverse",
    "reverse(1MiB)",
    "sequential(interlocked)",
    "trace",
]);

const ASKED: &str = "What is asked";
const WHERE: &str = "Which part of the target";
const LOAD: &str = "How much at once, and how fast";
const LENGTH: &str = "How long";
const DURABLE: &str = "What makes writes durable";
const CONTENT: &str = "What writes contain";
const ENGINE: &str = "How requests reach the kernel";
const KEPT: &str = "What is written down of it";

const fn doc(
    key: &'static str,
    section: &'static str,
    kind: Kind,
    default: &'static str,
    [short, long, example]: [&'static str; 3],
) -> KeyDoc {
    KeyDoc { key, level: Level::Workload, section, kind, default, short, long, example }
}

const fn phase_wide(doc: KeyDoc) -> KeyDoc {
    KeyDoc { level: Level::Phase, ..doc }
}

/// Keys that are the specification of a workload. They may be swept, and are kept in the record.
pub(crate) static WORKLOAD: [Entry<Draft>; 66] = [
    Entry {
        doc: doc(
            "pattern",
            ASKED,
            PATTERNS,
            "random",
            [
                "Where the next request goes.",
                "`sequential` and `reverse` let each worker pass through its own share of the span, from the start \
             again at the end. `stride(1MiB)` does so in steps of that size from start to start, `reverse(1MiB)` downwards; \
             `stride(1GiB, 64MiB)` passes through the first 64 MiB of each GiB, `columns(128KiB, 32KiB)` takes one request of every 128 KiB, then \
             the one beside each, until 32 KiB of each are passed. `random` visits \
             each block once before any comes again; `random(repeats)` draws afresh each time, from all \
             places that `align` allows. `zipf(1.2)` asks for the block of rank r in proportion to 1/r^1.2, the ranks being scattered over the span. \
             `pareto(0.2)` sends four fifths of the requests to a fifth of the blocks, and so on within that fifth, \
             the blocks being scattered likewise. \
             `normal(10%)` is bell-shaped about the middle, with a standard deviation of that part of the span; \
             `normal(10%, scattered)` scatters its blocks. \
             `hot(50% in 5%, 30% in 15%)` sends half of the requests to the first 5% of the span, 30% to the \
             next 15%, and the rest to the rest; a zone may be a size, as in `hot(50% in 10GiB)`. \
             `sequential(interlocked)` is one stream for all workers, who take its requests in turn. \
             `trace` asks what a recorded trace asked, see `trace`; workers take its requests in turn.",
                "pattern = \"hot(90% in 10%)\"",
            ],
        ),
        read: |d, n| n.read("random").map(|pattern| d.spec.pattern = pattern),
        write: |d| d.spec.pattern.to_string(),
    },
    Entry {
        doc: doc(
            "size",
            ASKED,
            Kind::Sizes,
            "4KiB",
            [
                "How large a request is.",
                "One size, or up to 64 with their weights, which need not sum to 100. Each is drawn independently.",
                "size = { \"4KiB\" = 60, \"64KiB\" = 40 }",
            ],
        ),
        read: |d, n| read_sizes(n).map(|sizes| d.spec.sizes = sizes),
        write: |d| d.spec.sizes.to_string(),
    },
    Entry {
        doc: doc(
            "reads",
            ASKED,
            Kind::Share,
            "rest",
            [
                "Which part of the requests reads.",
                "What is neither read, trim nor flush is a write. Left out (`rest`), nothing is written: all that is \
             neither trim nor flush reads, so that a plan changes data only where it says so.",
                "reads = \"2/3\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "rest" => {
                d.reads = None;
                Ok(())
            }
            _ => n.read("70%").map(|share| d.reads = Some(share)),
        },
        write: |d| d.reads.map_or("rest".into(), share_text),
    },
    Entry {
        doc: doc(
            "trims",
            ASKED,
            Kind::Share,
            "0%",
            [
                "Which part of the requests declares blocks unused.",
                "Also called discard, unmap or deallocate. What was there is lost.",
                "trims = \"10%\"",
            ],
        ),
        read: |d, n| n.read("10%").map(|share| d.spec.mix.trims = share),
        write: |d| share_text(d.spec.mix.trims),
    },
    Entry {
        doc: doc(
            "flushes",
            ASKED,
            Kind::Share,
            "0%",
            [
                "Which part of the requests makes earlier writes durable.",
                "`flush` says by which call. See `flush_every` for a flush after every so many writes.",
                "flushes = \"1%\"",
            ],
        ),
        read: |d, n| n.read("1%").map(|share| d.spec.mix.flushes = share),
        write: |d| share_text(d.spec.mix.flushes),
    },
    Entry {
        doc: doc(
            "random",
            ASKED,
            Kind::Share,
            "auto",
            [
                "Which part of the requests goes where the pattern says.",
                "The others go on where the last request of the same worker ended, and from the start of the span \
                 after its end. `auto` leaves it to the pattern: all of them for a random one, none for \
                 `sequential`. Where `sequential` is told a part, that part goes anywhere in the span, blocks \
                 being drawn afresh each time.",
                "random = \"70%\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => {
                d.spec.random = None;
                Ok(())
            }
            _ => n.read("70%").map(|share| d.spec.random = Some(share)),
        },
        write: |d| d.spec.random.map_or("auto".into(), share_text),
    },
    Entry {
        doc: doc(
            "consecutive",
            ASKED,
            Kind::Count,
            "1",
            [
                "So many requests follow each other from each place that the pattern draws.",
                "For random patterns: 8 is one request to a drawn place and seven that go on where it ended. With \
                 `random`, the part it says goes to drawn places, and each of these is followed so.",
                "consecutive = 8",
            ],
        ),
        read: |d, n| n.count32(1..=u32::MAX).map(|count| d.spec.habits.consecutive = count),
        write: |d| d.spec.habits.consecutive.to_string(),
    },
    Entry {
        doc: doc(
            "same_place",
            ASKED,
            Kind::Switch,
            "false",
            [
                "The requests that `consecutive` lets follow go to the drawn place again and again, not on from it.",
                "What is asked for once more is mostly in a cache by then: with `consecutive = 2` every second request \
                 asks for what was asked for just before.",
                "same_place = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.habits.same_place = on),
        write: |d| d.spec.habits.same_place.to_string(),
    },
    Entry {
        doc: doc(
            "mix",
            ASKED,
            Kind::Lines,
            "none",
            [
                "Requests of several kinds, as the lines of an access specification.",
                "Each line has a `share`, its weight among the lines, which need not sum to 100, and may have its \
                 own `size`, `reads`, `trims`, `flushes`, `random` and `align`; what it does not say holds from \
                 the workload. Each request draws a line. `burst = 8` lets so many requests follow from the line \
                 once it is drawn, and `delay = \"5ms\"` waits so long before them, counted from when the worker \
                 has a free slot; a line with a burst is drawn by its share among the bursts. At most 100 lines \
                 and 64 different sizes.",
                "mix = [{ share = 60, size = \"4KiB\", reads = \"80%\" }, { share = 40, size = \"64KiB\", reads = \"0%\", random = \"0%\" }]",
            ],
        ),
        read: |d, n| lines::read(n).map(|lines| d.lines = lines),
        write: |d| lines::write(&d.lines),
    },
    Entry {
        doc: doc(
            "rewrites",
            ASKED,
            Kind::Share,
            "0%",
            [
                "Which part of the reads, or of the trims where nothing is read, is followed by a write of the same \
                 block.",
                "The write begins when the read or trim has ended, in its place among the requests in flight, and \
                 counts as a request of its own. They are spread evenly: of `10%` every tenth read of a worker is \
                 followed. `100%` is what Bonnie++ calls a rewrite. One that fails is not followed.",
                "rewrites = \"10%\"",
            ],
        ),
        read: |d, n| n.read("10%").map(|share| d.spec.rewrites = share),
        write: |d| share_text(d.spec.rewrites),
    },
    Entry {
        doc: doc(
            "align",
            ASKED,
            Kind::Size,
            "auto",
            [
                "Every offset is a multiple of this.",
                "`auto` is the smallest size of the workload, counted from `offset` where that is a size. Direct I/O needs at least the block size of the device.",
                "align = \"4KiB\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => {
                d.spec.align = None;
                Ok(())
            }
            _ => n.read("4KiB").map(|align| d.spec.align = Some(align)),
        },
        write: |d| d.spec.align.map_or("auto".into(), Bytes::exact),
    },
    Entry {
        doc: doc(
            "seed",
            ASKED,
            Kind::Count,
            "auto",
            [
                "Every random choice follows from this, the name of the workload and the number of the worker.",
                "`auto` is the plan's own `seed` plus the number of the point, so that no two points ask for the \
             same addresses, which a cache would then already hold. A number makes points repeat one another.",
                "seed = 7",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => Ok(()),
            _ => n.count(0..=u64::MAX).map(|seed| d.spec.seed = seed),
        },
        write: |d| d.spec.seed.to_string(),
    },
    Entry {
        doc: doc(
            "offset",
            WHERE,
            Kind::Extent,
            "0B",
            [
                "Where the used part of the target begins.",
                "A part such as `25%` is rounded down to a multiple of the alignment.",
                "offset = \"25%\"",
            ],
        ),
        read: |d, n| n.read("1GiB or 25%").map(|offset| d.spec.offset = offset),
        write: |d| d.spec.offset.to_string(),
    },
    Entry {
        doc: doc(
            "span",
            WHERE,
            Kind::Extent,
            "auto",
            [
                "How much of the target is used, from the offset on.",
                "`auto` is all of a device or an existing file; a scratch file is made large enough to defeat the \
             caches that can be seen, within the free space.",
                "span = \"64GiB\"",
            ],
        ),
        read: |d, n| n.read("64GiB, 50% or auto").map(|span| d.spec.span = span),
        write: |d| d.spec.span.to_string(),
    },
    Entry {
        doc: doc(
            "worker_offset",
            WHERE,
            Kind::Size,
            "none",
            [
                "Each worker has a span of its own, which begins so much behind that of the worker before it.",
                "Without it, workers share one span. `span` then holds for each worker, and `auto` is all from its \
                 own offset to the end of the target; spans may overlap.",
                "worker_offset = \"1GiB\"",
            ],
        ),
        read: |d, n| n.optional(some_bytes).map(|step| d.spec.worker_offset = step),
        write: |d| or_none(d.spec.worker_offset, Bytes::exact),
    },
    Entry {
        doc: doc(
            "files",
            WHERE,
            Kind::Choice(&["shared", "per_worker(4)", "workers_per_file(2)"]),
            "shared",
            [
                "How many files there are in a directory target, and who uses which.",
                "`shared`: one file for all workers. `per_worker(4)`: each worker has four of its own and visits \
                 them in turn. `workers_per_file(2)`: two workers share each file. Offset and span hold \
                 for each file.",
                "files = \"per_worker(1)\"",
            ],
        ),
        read: |d, n| n.read("shared").map(|files| d.spec.files = files),
        write: |d| d.spec.files.to_string(),
    },
    Entry {
        doc: doc(
            "on",
            WHERE,
            Kind::Text,
            "all",
            [
                "Which of several targets, each named with --on, are used.",
                "Their numbers, from 1, in the order in which they are named, or those of a virtual array's LUNs. With \
             it, several workloads of a phase can each have a target of their own.",
                "on = \"1,3-4\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Integer(_) => n.count32(1..=65_535).map(|number| d.spec.on = vec![number]),
            _ => n.read::<TargetList>("1,3-4").map(|list| d.spec.on = list.0),
        },
        write: |d| TargetList(d.spec.on.clone()).to_string(),
    },
    Entry {
        doc: doc(
            "luns",
            WHERE,
            Kind::Choice(&["concatenated", "striped(1MiB)"]),
            "concatenated",
            [
                "How several targets, each named with --on, are used together.",
                "`concatenated`: one after the other in one address space. `striped(1MiB)`: in turn, so many bytes \
             each; no request may cross from one to the next.",
                "luns = \"striped(1MiB)\"",
            ],
        ),
        read: |d, n| n.read("concatenated").map(|luns| d.spec.luns = luns),
        write: |d| d.spec.luns.to_string(),
    },
    Entry {
        doc: doc(
            "direct",
            WHERE,
            Kind::Switch,
            "true",
            [
                "Bypass the page cache of the host.",
                "With `false` the page cache is measured as well, and usually nothing else.",
                "direct = false",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.direct = on),
        write: |d| d.spec.direct.to_string(),
    },
    Entry {
        doc: doc(
            "workers",
            LOAD,
            Kind::Count,
            "1",
            ["Identical workers, each a thread of its own on a real host.", "1 to 65536.", "workers = 4"],
        ),
        read: |d, n| n.count32(1..=65_536).map(|workers| d.spec.workers = workers),
        write: |d| d.spec.workers.to_string(),
    },
    Entry {
        doc: doc(
            "depth",
            LOAD,
            Kind::Count,
            "1",
            [
                "Requests each worker keeps in flight.",
                "1 to 65536. All together there are workers × depth in flight.",
                "depth = 32",
            ],
        ),
        read: |d, n| n.count32(1..=65_536).map(|depth| d.spec.depth = depth),
        write: |d| d.spec.depth.to_string(),
    },
    Entry {
        doc: doc(
            "low_water",
            LOAD,
            Kind::Count,
            "none",
            [
                "Once `depth` is reached, nothing more is asked before so few requests are in flight.",
                "Below `depth`. Without it each request that ends is followed by the next one at once.",
                "low_water = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(0..=65_535)).map(|low| d.spec.habits.low_water = low),
        write: |d| or_none(d.spec.habits.low_water, |low| low.to_string()),
    },
    Entry {
        doc: doc(
            "reopen_every",
            LOAD,
            Kind::Count,
            "none",
            [
                "After so many requests a worker closes its files or devices and opens them again.",
                "It first waits until all of its requests have ended, and asks nothing meanwhile; what closing and opening \
                 take is part of the next request's time. Of a virtual array the waiting is left: its LUNs do not see \
                 that they are opened. It goes with `depth = 1` or io_uring.",
                "reopen_every = 100",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.habits.reopen_every = every),
        write: |d| or_none(d.spec.habits.reopen_every, |every| every.to_string()),
    },
    Entry {
        doc: doc(
            "flow",
            LOAD,
            Kind::Count,
            "none",
            [
                "Its part of the requests, in proportion to the other workloads of the phase that have one.",
                "A workload with 8 asks for eight times as many requests as one with 1, however fast each of them could \
                 go; one that is ahead waits for the others. A workload of several workers has one part for each. It \
                 goes with a closed pace.",
                "flow = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|flow| d.spec.habits.flow = flow),
        write: |d| or_none(d.spec.habits.flow, |flow| flow.to_string()),
    },
    Entry {
        doc: doc(
            "pace",
            LOAD,
            Kind::Choice(&[
                "closed",
                "think(5ms)",
                "think(5ms, 8)",
                "think(1s, 9s)",
                "cap(500/s)",
                "cap(100MB/s)",
                "rate(500/s)",
                "rate(500/s, poisson)",
                "rate(500/s, onoff(2s, 8s))",
                "trace",
            ]),
            "closed",
            [
                "When the next request is due.",
                "`closed`: as soon as one completes. `think(5ms)`: so long after one completes. \
                 `think(5ms, 8)`: eight requests of a worker, and so long nothing once all of them have ended. \
                 `think(1s, 9s)`: whatever fits into nine seconds, and then nothing for one. \
                 `cap(500/s)` and `cap(100MB/s)`: as soon as one completes, but never more since the start than \
                 that rate allows, all workers together; a target that was slow is asked faster until it has \
                 caught up, and response times count from the issue. \
                 `rate(500/s)`: at \
                 even distances, all workers together; response times count from the due instant, so that a stall \
                 is charged to the target. `rate(500/s, poisson)`: at random instants of that mean rate. \
                 `rate(500/s, onoff(2s, 8s))`: at random instants for two seconds, then none for eight, and so on. \
                 `trace`: when the trace says, counted from its first request; response times count from then. \
                 A request that falls due while all `depth` requests of each worker are in flight waits in the \
                 generator, which shows as lag; with `drop` at the end, as in `rate(500/s, poisson, drop)`, it is \
                 left out and counted. What is due before the end of the load is issued for up to ten seconds \
                 after it.",
                "pace = \"rate(500/s)\"",
            ],
        ),
        read: |d, n| n.read("closed").map(|pace| d.spec.pace = pace),
        write: |d| d.spec.pace.to_string(),
    },
    Entry {
        doc: doc(
            "start",
            LENGTH,
            Kind::Duration,
            "0s",
            [
                "The pause before its first request.",
                "For a workload that joins others which run already. Its warm-up and run begin then.",
                "start = \"10s\"",
            ],
        ),
        read: |d, n| n.read("10s").map(|start| d.spec.stop.start = start),
        write: |d| d.spec.stop.start.exact(),
    },
    Entry {
        doc: doc(
            "warmup",
            LENGTH,
            Kind::Duration,
            "0s",
            [
                "Load that is not counted, before.",
                "Workloads that run together mostly share it.",
                "warmup = \"5s\"",
            ],
        ),
        read: |d, n| n.read("5s").map(|warmup| d.spec.stop.warmup = warmup),
        write: |d| d.spec.stop.warmup.exact(),
    },
    Entry {
        doc: doc(
            "run",
            LENGTH,
            Kind::Duration,
            "none",
            [
                "The measured time.",
                "Always exactly this long, not a limit that a small target cuts short. `none` needs `ops`, `bytes` or \
                 `passes`. Workloads that run together may have times of their own; what goes on alone is then in the \
                 figures of those that last longer.",
                "run = \"30s\"",
            ],
        ),
        read: |d, n| n.optional(|n| n.read("30s")).map(|run| d.spec.stop.run = run),
        write: |d| or_none(d.spec.stop.run, Nanos::exact),
    },
    Entry {
        doc: phase_wide(doc(
            "cooldown",
            LENGTH,
            Kind::Duration,
            "0s",
            [
                "Load that is not counted, after.",
                "The last measured requests then meet the same company as the others.",
                "cooldown = \"1s\"",
            ],
        )),
        read: |d, n| n.read("1s").map(|cooldown| d.spec.stop.cooldown = cooldown),
        write: |d| d.spec.stop.cooldown.exact(),
    },
    Entry {
        doc: doc(
            "ops",
            LENGTH,
            Kind::Count,
            "none",
            [
                "Ends after so many requests of all workers of the workload together.",
                "Counted from the start, hence without a warm-up. With `run` too, whatever is reached first ends it.",
                "ops = 100_000",
            ],
        ),
        read: |d, n| n.optional(|n| n.count(1..=u64::MAX)).map(|ops| d.spec.stop.ops = ops),
        write: |d| or_none(d.spec.stop.ops, |ops| ops.to_string()),
    },
    Entry {
        doc: doc(
            "bytes",
            LENGTH,
            Kind::Size,
            "none",
            [
                "Ends after so many bytes of all workers of the workload together.",
                "Counted from the start, hence without a warm-up.",
                "bytes = \"10GiB\"",
            ],
        ),
        read: |d, n| n.optional(some_bytes).map(|bytes| d.spec.stop.bytes = bytes),
        write: |d| or_none(d.spec.stop.bytes, Bytes::exact),
    },
    Entry {
        doc: doc(
            "passes",
            LENGTH,
            Kind::Count,
            "none",
            [
                "Ends after so many times as many bytes as the span holds, of each worker.",
                "Where a worker has several files, as all of them together hold. How large the target is need not be \
                 known beforehand.",
                "passes = 1",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|passes| d.spec.stop.passes = passes),
        write: |d| or_none(d.spec.stop.passes, |passes| passes.to_string()),
    },
    Entry {
        doc: doc(
            "first_ends",
            LENGTH,
            Kind::Switch,
            "false",
            [
                "The first of its workers that has done its part ends the load of all.",
                "Each worker has an equal part of `ops` or `bytes`; a load that ends by time alone is not changed. \
                 Without it the last figures come from slow workers whom the others no longer disturb.",
                "first_ends = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.stop.first_ends = on),
        write: |d| d.spec.stop.first_ends.to_string(),
    },
    Entry {
        doc: doc(
            "steady",
            LENGTH,
            Kind::Choice(&["iops(10%, 30s)", "throughput(10%, 30s)", "latency_slope(1%, 30s, 10s)"]),
            "none",
            [
                "Ends the load of all workloads once a figure of this one is steady, before `run` is over.",
                "`iops(10%, 30s)`: in a window of 30 seconds no second lies further than 10 % from the mean of the window. \
                 `iops_slope(1%, 30s)`: the line fitted through them rises or falls by less than 1 % of it a second. A \
                 third time, as in `iops(10%, 30s, 10s)`, is left out before the first window. `throughput` counts \
                 bytes, `latency` is the mean response time; a limit may also be a value, such as `latency(50us, 30s)`. \
                 For rounds until SNIA's rule holds see `rounds`.",
                "steady = \"iops_slope(1%, 60s)\"",
            ],
        ),
        read: |d, n| n.optional(|n| n.read("iops(10%, 30s)")).map(|steady| d.spec.stop.steady = steady),
        write: |d| or_none(d.spec.stop.steady, |steady| steady.to_string()),
    },
    Entry {
        doc: doc(
            "sync",
            DURABLE,
            Kind::Choice(&["none", "dsync", "sync"]),
            "none",
            [
                "How the target is opened.",
                "`dsync` (O_DSYNC): data is durable when a write returns. `sync` (O_SYNC): data and metadata are.",
                "sync = \"dsync\"",
            ],
        ),
        read: |d, n| n.read("none").map(|open| d.spec.durability.open = open),
        write: |d| d.spec.durability.open.to_string(),
    },
    Entry {
        doc: doc(
            "flush_every",
            DURABLE,
            Kind::Count,
            "none",
            [
                "A flush after every so many writes of a worker.",
                "Its time is counted apart from that of the writes.",
                "flush_every = 32",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.durability.every = every),
        write: |d| or_none(d.spec.durability.every, |every| every.to_string()),
    },
    Entry {
        doc: doc(
            "flush_at_end",
            DURABLE,
            Kind::Switch,
            "false",
            [
                "A flush of every file once the last request has ended, within the measured time.",
                "Each worker flushes the files that it uses, one after the other, and the measured time ends with the \
                 last of them, later than `run` says. There is no `cooldown` then. An interrupted run does not flush.",
                "flush_at_end = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.durability.at_end = on),
        write: |d| d.spec.durability.at_end.to_string(),
    },
    Entry {
        doc: doc(
            "flush",
            DURABLE,
            Kind::Choice(&["fsync", "fdatasync", "sync_file_range"]),
            "fdatasync",
            [
                "Which call a flush is.",
                "It holds for `flushes`, `flush_every` and `flush_at_end`. `sync_file_range` is Linux's with \
                 SYNC_FILE_RANGE_WRITE: what the page cache holds of the file sets out, nothing is waited for, and \
                 nothing is durable; with `direct = true` there is nothing to set out.",
                "flush = \"fsync\"",
            ],
        ),
        read: |d, n| n.read("fdatasync").map(|kind| d.spec.durability.flush = kind),
        write: |d| d.spec.durability.flush.to_string(),
    },
    Entry {
        doc: doc(
            "content",
            CONTENT,
            Kind::Choice(&["random", "zeros", "pattern(deadbeef)"]),
            "random",
            [
                "What writes contain.",
                "`random` neither compresses nor repeats unless `compress` and `dedupe` say so. Many arrays store \
             `zeros` without storing anything. `pattern(deadbeef)` repeats these bytes, up to 512 of them, from the start \
             of each request.",
                "content = \"random\"",
            ],
        ),
        read: |d, n| n.read("random").map(|content| d.content = content),
        write: |d| d.content.to_string(),
    },
    Entry {
        doc: doc(
            "compress",
            CONTENT,
            Kind::Ratio,
            "1:1",
            [
                "How far what is written compresses: size before over size after.",
                "1:1 to 1000:1. Reached within each 4 KiB.",
                "compress = \"2:1\"",
            ],
        ),
        read: |d, n| n.read("2:1").map(|ratio| d.compress = ratio),
        write: |d| d.compress.to_string(),
    },
    Entry {
        doc: doc(
            "dedupe",
            CONTENT,
            Kind::Ratio,
            "1:1",
            ["How often blocks repeat: blocks over distinct blocks.", "1:1 to 1000:1.", "dedupe = \"3:1\""],
        ),
        read: |d, n| n.read("3:1").map(|ratio| d.dedupe = ratio),
        write: |d| d.dedupe.to_string(),
    },
    Entry {
        doc: doc(
            "verify",
            CONTENT,
            Kind::Choice(&["none", "written", "all", "content"]),
            "none",
            [
                "Whether what is read is held against what was written.",
                "With `written` each block that is written is stamped with its offset, the plan's `seed`, the number \
             of the write and a checksum. A block that this run has written, in this phase or an earlier one, must come \
             back with the stamp of its last write; one that it has not written is checked where it carries a stamp of \
             the same seed, as when an earlier run has written it. With `all` every block that is read must carry a \
             stamp. Blocks whose write is in flight, or was when another one began, are not checked, and neither \
             is what a workload without `verify` has overwritten. `content` stamps nothing: whatever is read must be the \
             zeros or the pattern that `content` says. A block is 4KiB, or the largest part of it, at \
             least 512B, that divides all sizes and alignments. What is wrong counts as a failed request; the record \
             says where, what was expected and what was found, and the program ends with code 6. On real \
             storage only: a virtual array holds no data.",
                "verify = \"written\"",
            ],
        ),
        read: |d, n| n.read("written").map(|verify| d.spec.verify = verify),
        write: |d| d.spec.verify.to_string(),
    },
    Entry {
        doc: doc(
            "read_back",
            CONTENT,
            Kind::Count,
            "none",
            [
                "After so many writes a worker reads them back, and the last ones at its end.",
                "With `verify` they are checked then. These reads are figures of their own beside the writes, in no count \
                 that ends the load; those at the end lie behind the measured time of a load that ends by `run`.",
                "read_back = 32",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.habits.read_back = every),
        write: |d| or_none(d.spec.habits.read_back, |every| every.to_string()),
    },
    Entry {
        doc: doc(
            "engine",
            ENGINE,
            Kind::Choice(&["auto", "io_uring", "pread", "preadv2", "mmap", "stdio", "null"]),
            "auto",
            [
                "Which way into the kernel.",
                "`auto`: pread at depth 1, io_uring where it is allowed, otherwise pread with a thread for each \
                 request in flight. `stdio` gathers calls of a few bytes in user space, 4 KiB for each file, as a \
                 program in C does with putc. `null` does nothing at all and shows what the tool itself can do.",
                "engine = \"io_uring\"",
            ],
        ),
        read: |d, n| n.read("auto").map(|kind| d.spec.engine.kind = kind),
        write: |d| d.spec.engine.kind.to_string(),
    },
    Entry {
        doc: doc(
            "batch",
            ENGINE,
            Kind::Count,
            "32",
            [
                "At most so many requests are handed over at a time.",
                "1 to 4096. One reading of the clock stamps them all, so a larger batch is cheaper and overstates \
             response times by at most the time it takes to fill it.",
                "batch = 32",
            ],
        ),
        read: |d, n| n.count32(1..=4096).map(|batch| d.spec.engine.batch = batch),
        write: |d| d.spec.engine.batch.to_string(),
    },
    Entry {
        doc: doc(
            "sqpoll",
            ENGINE,
            Kind::Switch,
            "false",
            [
                "A thread of the kernel takes requests up (io_uring).",
                "It keeps a processor busy.",
                "sqpoll = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.sqpoll = on),
        write: |d| d.spec.engine.sqpoll.to_string(),
    },
    Entry {
        doc: doc(
            "iopoll",
            ENGINE,
            Kind::Switch,
            "false",
            [
                "Completions are polled for instead of waited for (io_uring, direct).",
                "The device must have polling queues.",
                "iopoll = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.iopoll = on),
        write: |d| d.spec.engine.iopoll.to_string(),
    },
    Entry {
        doc: doc(
            "cpus",
            ENGINE,
            Kind::Text,
            "any",
            [
                "Processors on which workers run.",
                "Worker i runs on the i-th of these, from the start again at the end. `any` leaves it to the kernel.",
                "cpus = \"0-3,8\"",
            ],
        ),
        read: |d, n| n.read::<CpuList>("0-3,8").map(|list| d.spec.engine.cpus = list.0),
        write: |d| CpuList(d.spec.engine.cpus.clone()).to_string(),
    },
    Entry {
        doc: doc(
            "numa",
            ENGINE,
            Kind::Count,
            "any",
            [
                "The NUMA node on which buffers and workers stay.",
                "`any` leaves it to the kernel.",
                "numa = 0",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "any" => {
                d.spec.engine.numa_node = None;
                Ok(())
            }
            _ => n.count32(0..=1023).map(|node| d.spec.engine.numa_node = Some(node)),
        },
        write: |d| d.spec.engine.numa_node.map_or("any".into(), |node| node.to_string()),
    },
    Entry {
        doc: doc(
            "huge_pages",
            ENGINE,
            Kind::Switch,
            "false",
            [
                "Buffers lie in huge pages.",
                "Enough of them must be reserved on the host.",
                "huge_pages = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.huge_pages = on),
        write: |d| d.spec.engine.huge_pages.to_string(),
    },
    Entry {
        doc: doc(
            "iolog",
            KEPT,
            Kind::Text,
            "none",
            [
                "A file that each request is written to as it was issued.",
                "fio's iolog of version 3: its time in microseconds since the load began, its file, operation, offset \
                 and length, in the order of issue. fio asks it again (`--read_iolog`), and so does \
                 `pattern = \"trace\"`. A path is taken from where the program runs. The file is written anew each \
                 time the load begins, so that after repeats and sweeps that of the last point stays; one that is \
                 there and is no such log is left alone. It goes with one worker of any `depth`, and not with `tree`.",
                "iolog = \"issued.iolog\"",
            ],
        ),
        read: |d, n| {
            n.optional(|n| n.scalar().ok_or_else(|| n.not("the name of a file", "issued.iolog")))
                .map(|file| d.spec.iolog = file.filter(|file| !file.is_empty()))
        },
        write: |d| or_none(d.spec.iolog.as_ref(), String::clone),
    },
    trace::TRACE,
    trace::SPEED,
    trace::SCALE,
    trace::SKIP,
    trace::AS,
    trace::FOLD,
    tree::TREE,
    tree::COUNT,
    tree::FILE_SIZE,
    tree::LEVELS,
    tree::BRANCH,
    tree::FILES_IN,
    tree::OWN_TREES,
    tree::ORDER,
    tree::FSYNC,
];

/// Keys of a workload that say something about its place among others.
pub(crate) static MEMBER: [Entry<Draft>; 2] = [
    Entry {
        doc: KeyDoc {
            key: "headline",
            level: Level::Workload,
            section: "Phases",
            kind: Kind::Choice(&["iops", "mb_per_s", "mean", "max", "p99"]),
            default: "iops",
            short: "Which figure is shown first.",
            long: "Any percentile of the response time may be named, such as `p50` or `p99.9`. The others are \
                   measured and kept as well.",
            example: "headline = \"mb_per_s\"",
        },
        read: |d, n| n.read("iops").map(|metric| d.headline = metric),
        write: |d| d.headline.to_string(),
    },
    Entry {
        doc: KeyDoc {
            key: "share",
            level: Level::WorkloadOnly,
            section: "Several workloads together",
            kind: Kind::Share,
            default: "",
            short: "This workload's part of the phase's rate.",
            long: "The phase says `pace = \"rate(...)\"`; each of its workloads asks for its part of it. Either \
                   all of them say so or none, and the parts sum to at most 100%.",
            example: "share = \"60%\"",
        },
        read: |d, n| match n.read::<Share>("60%")? {
            Share::NONE => Err(Wrong::new("a share of nothing asks for nothing", "leave the workload out")),
            share => {
                d.share = Some(share);
                Ok(())
            }
        },
        write: |d| or_none(d.share, share_text),
    },
];

fn some_bytes(node: &Node) -> Result<Bytes, Wrong> {
    match node.read::<Bytes>("10GiB")? {
        Bytes::ZERO => Err(Wrong::new("nothing would be asked", "for example 10GiB").at(&node.place)),
        bytes => Ok(bytes),
    }
}

pub(super) fn read_sizes(node: &Node) -> Result<SizeSplit, Wrong> {
    let Some(table) = node.table() else { return node.read("8KiB") };
    let mut entries = Vec::new();
    for (key, weight) in table.iter() {
        let size = key.text.parse::<Bytes>().map_err(|error| Wrong::from(error).at(&key.place))?;
        let text = weight.scalar().ok_or_else(|| weight.not("a weight", "60"))?;
        entries.push((size, weight_of(&text).map_err(|error| Wrong::from(error).at(&weight.place))?));
    }
    split_of(entries).map_err(|error| Wrong::from(error).at(&node.place))
}
