//! What a workload must not ask for, although every key by itself may be read.
//!
//! Only what no target could answer is a mistake here; what depends on the target (its block size, its capacity)
//! is found where the target is known.

use units::{Bytes, SECTOR_BYTES, Share};

use super::{commands, replay, trees, zones};
use crate::spec::{
    Content, EngineKind, Extent, Files, LunLayout, Pace, Pattern, Span, Stamp, Stop, Verify, Workload,
};

/// One contradiction in a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key that should be changed.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
    /// It may be carried out, but perhaps does not do what was meant.
    pub caution: bool,
}

/// Buffers above this are worth a word of caution.
const MUCH_MEMORY: Bytes = Bytes::new(4 << 30);

/// Everything contradictory in `workload`, in the order of the keys. Empty is good.
pub fn faults(workload: &Workload) -> Vec<Fault> {
    let mut faults = Vec::new();
    log(workload, &mut faults);
    if let Some(tree) = &workload.tree {
        faults.extend(trees::faults(workload, tree));
        return faults;
    }
    if let Some(replay) = workload.replay() {
        replay::faults(workload, replay, &mut faults);
        length(workload, &mut faults);
        sequence(workload, &mut faults);
        engine(workload, &mut faults);
        memory(workload, &mut faults);
        return faults;
    }
    if workload.pace == Pace::Trace {
        let message = "only a trace has a schedule of its own".into();
        faults.push(fault("pace", message, "write `pattern = \"trace\"` and the file as `trace`"));
    }
    alignment(workload, &mut faults);
    stream(workload, &mut faults);
    lines(workload, &mut faults);
    extents(workload, &mut faults);
    stripes(workload, &mut faults);
    length(workload, &mut faults);
    sequence(workload, &mut faults);
    zones::faults(workload, &mut faults);
    engine(workload, &mut faults);
    stamps(workload, &mut faults);
    memory(workload, &mut faults);
    faults
}

/// One worker writes a log, so that its requests are in order.
fn log(workload: &Workload, faults: &mut Vec<Fault>) {
    if workload.iolog.is_none() {
        return;
    }
    if workload.tree.is_some() {
        let message = "a log has requests to blocks, and `tree` works on files".into();
        faults.push(fault("iolog", message, "leave it out"));
    } else if workload.workers > 1 {
        let message = format!("requests of {} workers would be mixed in one log", workload.workers);
        faults.push(fault("iolog", message, "write `workers = 1` and more `depth`, or several workloads"));
    }
}

pub(super) fn fault(key: &'static str, message: String, help: impl Into<String>) -> Fault {
    Fault { key, message, help: help.into(), caution: false }
}

/// The fault of a size that direct I/O cannot have; without the key `switch` it can.
pub(super) fn off_sectors(key: &'static str, size: Bytes, switch: &str) -> Fault {
    let message = format!("{} is not a multiple of 512B, which direct I/O needs", size.exact());
    let right = size.round_up(Bytes::new(SECTOR_BYTES));
    fault(key, message, format!("write {}, or `{switch} = false`", right.exact()))
}

/// The distance all offsets are a multiple of.
fn unit(workload: &Workload) -> Bytes {
    workload.align.unwrap_or(workload.sizes.smallest())
}

fn alignment(workload: &Workload, faults: &mut Vec<Fault>) {
    let sector = Bytes::new(SECTOR_BYTES);
    let align = unit(workload);
    if workload.align.is_some_and(Bytes::is_zero) {
        faults.push(fault("align", "an alignment cannot be 0".into(), "for example 4KiB, or auto"));
        return;
    }
    if !workload.direct {
        return;
    }
    let odd_size = workload.sizes.0.iter().find(|(size, _)| !size.is_multiple_of(sector));
    if let Some((size, _)) = odd_size {
        faults.push(off_sectors("size", *size, "direct"));
    } else if !align.is_multiple_of(sector) {
        faults.push(off_sectors("align", align, "direct"));
    }
    if let Extent::Bytes(offset) = workload.offset
        && !offset.is_multiple_of(sector)
    {
        faults.push(off_sectors("offset", offset, "direct"));
    }
}

/// Streams go from request to request without gaps, or in steps that leave room for each.
fn stream(workload: &Workload, faults: &mut Vec<Fault>) {
    let align = unit(workload);
    if let Pattern::Stride(step) = workload.pattern {
        let largest = workload.sizes.largest();
        if step < largest {
            let message =
                format!("steps of {} are smaller than a request of {}", step.exact(), largest.exact());
            let help = format!("write at least stride({}), or `sequential`", largest.exact());
            faults.push(fault("pattern", message, help));
        } else if !align.is_zero() && !step.is_multiple_of(align) {
            let message = format!("steps of {} leave the alignment of {}", step.exact(), align.exact());
            let help = format!("for example stride({})", step.round_up(align).exact());
            faults.push(fault("pattern", message, help));
        }
    }
    steps(workload, align, faults);
    if workload.pattern == Pattern::Interlocked && workload.sizes.0.len() > 1 {
        let message = "an interlocked stream has one block size".into();
        faults.push(fault("size", message, "write one size, or `pattern = \"sequential\"`"));
    }
    let streams = matches!(workload.pattern, Pattern::Sequential | Pattern::Reverse);
    if !streams || workload.continues() || align.is_zero() {
        return;
    }
    let odd = workload.sizes.0.iter().find(|(size, _)| !size.is_multiple_of(align));
    if let Some((size, _)) = odd {
        let (size, align) = (size.exact(), align.exact());
        let message = format!("a stream of {size} requests aligned to {align} would have gaps");
        let help = match workload.align {
            Some(_) => {
                format!("write an `align` that divides {size}, or `pattern = \"stride(...)\"` for gaps")
            }
            None => format!("write an `align` that divides {size} and {align}, such as \"512B\""),
        };
        faults.push(fault(if workload.align.is_some() { "align" } else { "size" }, message, help));
    }
}

/// Steps back leave room for each request, and so does what is passed of a step.
fn steps(workload: &Workload, align: Bytes, faults: &mut Vec<Fault>) {
    let largest = workload.sizes.largest();
    let (least, whole, example) = match workload.pattern {
        Pattern::ReverseStride(step) => (step, step, "reverse"),
        Pattern::StrideOf { step, run } => (run, step, "stride"),
        Pattern::Columns { step, width } => (width, step, "columns"),
        _ => return,
    };
    if least < largest {
        let message = format!("{} has no room for a request of {}", least.exact(), largest.exact());
        faults.push(fault("pattern", message, format!("{} or more in {example}(...)", largest.exact())));
    } else if let Some(odd) =
        [least, whole].into_iter().find(|step| !align.is_zero() && !step.is_multiple_of(align))
    {
        let message = format!("steps of {} leave the alignment of {}", odd.exact(), align.exact());
        faults.push(fault("pattern", message, format!("for example {}", odd.round_up(align).exact())));
    }
}

/// What requests of several kinds, or such that go on from the last, must not ask for.
fn lines(workload: &Workload, faults: &mut Vec<Fault>) {
    let own = match workload.random {
        Some(_) => "random",
        None if workload.sequence.consecutive > 1 => "consecutive",
        None => "mix",
    };
    if workload.continues()
        && matches!(
            workload.pattern,
            Pattern::Reverse
                | Pattern::Stride(_)
                | Pattern::StrideOf { .. }
                | Pattern::Columns { .. }
                | Pattern::ReverseStride(_)
                | Pattern::Interlocked
        )
    {
        let message =
            format!("`{}` has no share that continues where the last request ended", workload.pattern);
        faults.push(fault(own, message, "write `pattern = \"sequential\"` or a random one"));
    }
    let sector = Bytes::new(SECTOR_BYTES);
    let coarsest = workload.coarsest();
    for line in &workload.lines {
        let align = line.align.unwrap_or_else(|| workload.alignment());
        if align.is_zero() || !coarsest.is_multiple_of(align) {
            let message = format!(
                "{} does not divide {}, the alignment of another line",
                align.exact(),
                coarsest.exact()
            );
            faults.push(fault("mix", message, "let each `align` divide the largest of them"));
            return;
        }
        if workload.direct && !align.is_multiple_of(sector) {
            faults.push(off_sectors("mix", align, "direct"));
            return;
        }
    }
    let rests = workload.lines.iter().any(|line| !line.delay.is_zero());
    if rests && workload.pace != Pace::Closed {
        let message = format!("lines that wait before a burst contradict the pace `{}`", workload.pace);
        faults.push(fault("pace", message, "write `pace = \"closed\"`, or no `delay` in the mix"));
    }
}

fn extents(workload: &Workload, faults: &mut Vec<Fault>) {
    if let Some(step) = workload.worker_offset {
        let unit = if workload.direct { Bytes::new(SECTOR_BYTES) } else { Bytes::B };
        let unit = workload.align.unwrap_or(unit).max(unit);
        if !step.is_multiple_of(unit) {
            let message = format!("steps of {} leave the alignment of {}", step.exact(), unit.exact());
            faults.push(fault(
                "worker_offset",
                message,
                format!("for example {}", step.round_up(unit).exact()),
            ));
        }
        if let Files::WorkersPerFile(_) = workload.files {
            let message = "workers that share a file in groups share its span".into();
            faults.push(fault("worker_offset", message, "write `files = \"shared\"` or `per_worker(1)`"));
        }
    }
    if let Extent::Part(offset) = workload.offset
        && offset.get() >= 1.0
    {
        let message = "an offset of 100% leaves nothing of the target".into();
        faults.push(fault("offset", message, "for example 50%"));
    }
    if let (Extent::Part(offset), Span::Of(Extent::Part(span))) = (workload.offset, workload.span)
        && offset.get() + span.get() > 1.0 + 1e-9
    {
        let message = "offset and span together are more than the target".into();
        faults.push(fault("span", message, "at most 100% in all, or `span = \"auto\"` for all that is left"));
    }
    let Span::Of(Extent::Bytes(span)) = workload.span else { return };
    let largest = workload.sizes.largest();
    // Files of their own are spans of their own.
    let sharers = match workload.files {
        _ if workload.worker_offset.is_some() => 1,
        Files::Shared => workload.workers,
        Files::WorkersPerFile(group) => group.min(workload.workers),
        Files::PerWorker(_) => 1,
    };
    let stretched = workload.pattern.has_stretches() || workload.continues();
    let streams = if stretched { u64::from(sharers) } else { 1 };
    if span.get() / streams < largest.get() {
        let each = if streams > 1 { format!(" for each of {streams} workers") } else { String::new() };
        let message =
            format!("a span of {} has no room for a request of {}{each}", span.exact(), largest.exact());
        let help = match largest.get().checked_mul(streams) {
            Some(least) => format!("at least {}", Bytes::new(least).exact()),
            None => "fewer workers".into(),
        };
        faults.push(fault("span", message, help));
    }
}

fn stripes(workload: &Workload, faults: &mut Vec<Fault>) {
    let LunLayout::Striped(chunk) = workload.luns else { return };
    let align = unit(workload);
    let odd = workload.sizes.0.iter().map(|(size, _)| *size).find(|size| !chunk.is_multiple_of(*size));
    let odd = odd.or((!chunk.is_multiple_of(align)).then_some(align));
    if let Some(size) = odd {
        let message = format!("stripes of {} are not a multiple of {}", chunk.exact(), size.exact());
        let help = "each request must lie within one stripe: make the stripe a multiple of every size";
        faults.push(fault("luns", message, help));
    }
}

fn length(workload: &Workload, faults: &mut Vec<Fault>) {
    let stop = workload.stop;
    let counted = match stop {
        Stop { ops: Some(_), .. } => Some("ops"),
        Stop { bytes: Some(_), .. } => Some("bytes"),
        Stop { loops: Some(_), .. } => Some("loops"),
        _ => None,
    };
    match (stop.run, counted) {
        // A trace has an end.
        (None, None) if workload.replay().is_some() || stop.with_others => {}
        (None, None) => faults.push(fault(
            "run",
            "no stop condition".into(),
            "write `run = \"30s\"`, or `ops`, `bytes` or `loops`",
        )),
        (Some(run), _) if run.is_zero() => {
            faults.push(fault("run", "a run of zero length measures nothing".into(), "for example 30s"));
        }
        _ => {}
    }
    if stop.wear_out {
        wear_out(workload, faults);
    }
    if stop.warmup_bytes.is_some() && !stop.warmup.is_zero() {
        let message = format!("the warm-up ends after {} or by its bytes, not by both", stop.warmup.exact());
        faults.push(fault("warmup_bytes", message, "write `warmup = \"0s\"`, or `warmup_bytes = \"none\"`"));
    }
    if workload.durability.at_end && !stop.cooldown.is_zero() {
        let message = "a flush at the end is measured, and nothing can follow it".to_string();
        faults.push(fault("cooldown", message, "write `cooldown = \"0s\"`, or `flush_at_end = false`"));
    }
    if stop.ops_after_warmup && stop.ops.is_none() {
        let message = "it counts no `ops`".into();
        faults.push(fault("ops_after_warmup", message, "write `ops = 100000`, or leave it out"));
    }
    let Some(counted) = counted else { return };
    // A load that is shorter than its warm-up has nothing to measure, which its result says.
    for (key, time) in [("cooldown", stop.cooldown)] {
        if !time.is_zero() {
            let message = format!("`{counted}` counts from the start and leaves no room for a {key}");
            faults.push(fault(
                key,
                message,
                format!("write `{key} = \"0s\"`, or `run` instead of `{counted}`"),
            ));
        }
    }
}

/// What a load that wears out must not say.
fn wear_out(workload: &Workload, faults: &mut Vec<Fault>) {
    let stop = workload.stop;
    let says = [
        (stop.run.is_none(), "has no time behind which it begins", "write `run = \"30s\"`"),
        (workload.pace != Pace::Closed, "is of a closed loop", "write `pace = \"closed\"`"),
        (stop.exit_all, "and `exit_all` say both when workers end", "write `exit_all = false`"),
        (!stop.cooldown.is_zero(), "is measured, and nothing can follow it", "write `cooldown = \"0s\"`"),
    ];
    for (_, what, help) in says.into_iter().filter(|(says, ..)| *says) {
        faults.push(fault("wear_out", format!("the wear-out {what}"), help));
    }
}

fn sequence(workload: &Workload, faults: &mut Vec<Fault>) {
    let sequence = workload.sequence;
    let repeats_stream = sequence.repeat_offset && workload.pattern == Pattern::Sequential;
    if sequence.consecutive > 1
        && !workload.pattern.is_random()
        && workload.random.is_none()
        && !repeats_stream
    {
        let message = format!("`{}` draws no addresses from which requests could continue", workload.pattern);
        faults.push(fault("consecutive", message, "leave it out, or write a random pattern"));
    }
    if sequence.repeat_offset && sequence.consecutive == 1 {
        let message = "with `consecutive = 1` no request repeats an offset".into();
        let help = "it has no effect; write `consecutive = 8`, or leave it out";
        faults.push(Fault { caution: true, ..fault("repeat_offset", message, help) });
    }
    if let Some(low) = sequence.low_water.filter(|low| *low >= workload.depth) {
        let message = format!("{low} in flight is not below the queue depth of {}", workload.depth);
        let help = format!("it has no effect; give at most {}", workload.depth.saturating_sub(1));
        faults.push(Fault { caution: true, ..fault("low_water", message, help) });
    }
    let is_kept_open = matches!(workload.engine.kind, EngineKind::Mmap | EngineKind::Stdio);
    let is_pool = matches!(
        workload.engine.kind,
        EngineKind::Pread | EngineKind::Preadv2 | EngineKind::Splice | EngineKind::Locked | EngineKind::Sg
    ) && workload.depth > 1;
    if sequence.reopen_every.is_some() && (is_kept_open || is_pool) {
        let message = "this engine keeps its files open".into();
        faults.push(fault(
            "reopen_every",
            message,
            "leave it out, or write `depth = 1` or `engine = \"io_uring\"`",
        ));
    }
    if sequence.reopen_cold && (sequence.reopen_every.is_none() || workload.direct) {
        let message = "`reopen_cold` goes with `reopen_every` and the page cache".into();
        faults.push(Fault {
            caution: true,
            ..fault("reopen_cold", message, "write `reopen_every = 1000` and `direct = false`")
        });
    }
    if sequence.reread && (!workload.mix.has_writes() || workload.verify == Verify::None) {
        let message = "`reread` reads what a workload that writes has written, and checks it".into();
        faults.push(Fault {
            caution: true,
            ..fault("reread", message, "write `verify = \"written\"`, and let the workload write")
        });
    }
    if sequence.read_back.is_some() && !workload.writes() {
        let message = "nothing is written that could be read back".into();
        faults.push(Fault { caution: true, ..fault("read_back", message, "leave it out, or let it write") });
    }
}

fn engine(workload: &Workload, faults: &mut Vec<Fault>) {
    let engine = &workload.engine;
    let is_ring = matches!(engine.kind, EngineKind::IoUring | EngineKind::Auto);
    for (key, on) in [("sqpoll", engine.sqpoll), ("iopoll", engine.iopoll)] {
        if on && !is_ring && engine.kind != EngineKind::Nvme {
            let message = format!("the engine {} has no {key}", engine.kind);
            faults.push(fault(key, message, "write `engine = \"io_uring\"`"));
        }
    }
    if !engine.request_priority.0.is_empty() && !is_ring {
        let message = format!("the engine {} has one priority for all of its requests", engine.kind);
        faults.push(fault("request_priority", message, "write `engine = \"io_uring\"`, or `io_priority`"));
    }
    flags(workload, faults);
    commands::faults(workload, faults);
    if engine.iopoll && !workload.direct {
        faults.push(fault("iopoll", "only direct I/O can be polled for".into(), "write `direct = true`"));
    }
    if engine.kind.moves_no_data() && workload.verify != Verify::None {
        let message = format!("the engine {} moves no data that could be checked", engine.kind);
        faults.push(fault("verify", message, "leave it out, or write another engine"));
    }
    if engine.kind == EngineKind::Ftruncate
        && (workload.mix.reads.get() > 0.0 || workload.mix.trims.get() > 0.0)
    {
        let message = "a file is cut where a write would begin; there is nothing to read or trim".into();
        faults.push(fault("engine", message, "write `reads = \"0%\"`, or another engine"));
    }
    let what = match engine.kind {
        EngineKind::Mmap => "a mapping",
        EngineKind::Stdio => "a buffer in user space",
        _ => return,
    };
    if workload.direct {
        let message = format!("{what} always goes through the page cache");
        faults.push(fault("engine", message, "write `direct = false`, or another engine"));
    }
    if workload.depth > 1 {
        let message = format!("{what} answers one request at a time, not {}", workload.depth);
        faults.push(fault("depth", message, "write `depth = 1` and more `workers`"));
    }
    if engine.kind == EngineKind::Mmap && workload.mix.trims.get() > 0.0 {
        let message = "a mapping cannot trim".into();
        faults.push(fault("trims", message, "write another engine"));
    }
}

/// What the kernel is told of each request goes with the engine, and with the page cache.
fn flags(workload: &Workload, faults: &mut Vec<Fault>) {
    let (engine, flags) = (&workload.engine, workload.engine.flags);
    let passes = !matches!(engine.kind, EngineKind::Mmap | EngineKind::Stdio)
        && !engine.kind.moves_no_data()
        && !engine.kind.sends_commands();
    for (key, on) in [("atomic", flags.atomic), ("nowait", flags.nowait), ("uncached", flags.uncached)] {
        if on && !passes {
            let message = format!("the engine {} passes no flags of requests", engine.kind);
            faults.push(fault(key, message, "write `engine = \"io_uring\"` or `engine = \"preadv2\"`"));
        }
    }
    if flags.polled > Share::NONE && engine.kind != EngineKind::Preadv2 {
        let message = format!("the engine {} does not poll for single requests", engine.kind);
        faults.push(fault("polled", message, "write `engine = \"preadv2\"`, or `iopoll` in place of it"));
    }
    if flags.polled > Share::NONE && !workload.direct {
        faults.push(fault("polled", "only direct I/O can be polled for".into(), "write `direct = true`"));
    }
    if flags.atomic && !workload.direct {
        let message = "what goes through the page cache is written in pieces".into();
        faults.push(fault("atomic", message, "write `direct = true`"));
    }
    if flags.uncached && workload.direct {
        let message = "direct I/O leaves nothing in the page cache anyway".into();
        let help = "it has no effect; write `direct = false`, or leave it out";
        faults.push(Fault { caution: true, ..fault("uncached", message, help) });
    }
}

/// Each block that is stamped has room for a stamp, and content of its own.
fn stamps(workload: &Workload, faults: &mut Vec<Fault>) {
    if workload.verify == Verify::None {
        return;
    }
    let is_known = !matches!(workload.content, Content::Random { .. } | Content::Reused);
    if workload.verify == Verify::Content && !is_known {
        let message = "random data is not known beforehand, so that nothing can be compared with it".into();
        let help = "write `content = \"zeros\"` or a pattern, or `verify = \"written\"`";
        faults.push(fault("verify", message, help));
    }
    if let Stamp::Fio(header) = workload.stamp {
        let end = header.at + Bytes::new(header.kind.bytes() as u64);
        let mut sizes = workload.sizes.0.iter().map(|(size, _)| *size);
        let odd =
            sizes.find(|size| *size < end || header.every.is_some_and(|every| !size.is_multiple_of(every)));
        if let Some(size) = odd {
            let message = format!("requests of {} do not hold headers as {}", size.exact(), workload.stamp);
            faults.push(fault(
                "stamp",
                message,
                "let `every` divide all sizes, and let `at` and a header fit them",
            ));
        }
    }
    let sector = Bytes::new(SECTOR_BYTES);
    if let Some(odd) = workload.stamped().find(|distance| !distance.is_multiple_of(sector)) {
        let message = format!("{} is not a multiple of 512B, the smallest block with a stamp", odd.exact());
        let help = "sizes, `align` and `offset` that are multiples of 512B, or `verify = \"none\"`";
        faults.push(fault("verify", message, help));
    }
    if matches!(workload.content, Content::Random { dedupe, .. } if dedupe > 1.0) {
        let message = "blocks with stamps do not repeat".into();
        faults.push(fault("dedupe", message, "leave it out, or write `verify = \"none\"`"));
    }
    let why = match workload.engine.kind {
        EngineKind::Null => "the null engine reads nothing that could be checked",
        EngineKind::Stdio => {
            "a buffer in user space holds back what it has written, and gives what it read before"
        }
        _ => return,
    };
    faults.push(fault("verify", why.into(), "leave it out, or choose another engine"));
}

fn memory(workload: &Workload, faults: &mut Vec<Fault>) {
    let flying = u64::from(workload.workers) * u64::from(workload.depth);
    let buffers = Bytes::new(flying.saturating_mul(workload.sizes.largest().get()));
    if buffers > MUCH_MEMORY {
        let message = format!("{flying} requests in flight need buffers of {buffers}");
        let help = "fewer workers, less depth or smaller requests, unless the host has that much to spare";
        faults.push(Fault { caution: true, ..fault("depth", message, help) });
    }
}
