//! Requests for blocks: operation, size and place of each.
//!
//! **Invariant:** what comes next depends on the specification alone.

use std::ops::Range;

use units::convert::narrow;
use units::{Bytes, Nanos, Share};

use crate::address::{Addresses, Grain, RegionShare};
use crate::choice::{Choice, op_weights, size_weights};
use crate::lines::{Drawn, JobLine, Lines};
use crate::pace::{Bursts, Pacer};
use crate::rng::{Stream, Streams};
use crate::spec::{OpMix, Pace, Pattern};
use crate::tally::Class;
use crate::trace::{Arrivals, Cursor, Replay};
use crate::zones::{DeviceZone, Placing, ZoneCall, ZoneWait, Zoned};
use crate::{Op, Request, Token};

use super::source::{JobOptions, Next, RequestSource};
use super::spec::{FileMap, JobSpec, concatenated, striped};

/// Draws requests for blocks of devices and files.
#[derive(Debug)]
pub struct BlockRequests {
    addresses: Vec<Addresses>,
    files: FileMap,
    turn: usize,
    ops: Choice<Op>,
    sizes: Choice<(u16, u32)>,
    /// Where places are those that no request has covered yet: all sizes. What is cut has the position behind them.
    fits: Option<Vec<u32>>,
    lines: Option<Lines>,
    /// Boxed: most workers have none.
    pub(super) zoned: Option<Box<Zoned>>,
    /// All sizes in the order of their classes.
    sizes_by_class: Vec<u32>,
    /// Where the worker is in the trace that it asks again, if it does.
    trace: Option<Cursor>,
    mix: OpMix,
    /// Where the classes of each operation begin.
    base: [u16; 4],
    /// Files that are still to be flushed at the end.
    last_flushes: Range<u16>,
}

impl RequestSource for BlockRequests {
    type Spec = JobSpec;
    type Request = Request;

    fn new(spec: &JobSpec) -> (BlockRequests, JobOptions) {
        let streams = Streams::new(spec.seed);
        let own = |purpose: &str| streams.open(&format!("{purpose}/{}/{}", spec.name, spec.worker.index));
        let addresses = generators(spec, streams);
        let (classes, base) = classes(spec, addresses.first().is_some_and(Addresses::cuts));
        let source = BlockRequests {
            fits: None,
            zoned: zoned(spec),
            sizes_by_class: all_sizes(spec),
            addresses,
            trace: match &spec.pattern {
                Pattern::Trace(replay) => {
                    let cursor = Cursor::new(replay, &spec.sizes, spec.worker);
                    cursor.map(|cursor| match spec.pace {
                        Pace::Trace => cursor.with_pauses(replay),
                        _ => cursor,
                    })
                }
                _ => None,
            },
            files: spec.files.clone(),
            turn: 0,
            ops: Choice::of_ops(spec.mix, spec.sequence.even_mix, own("op")),
            sizes: Choice::new(&size_weights(&spec.sizes), own("size")),
            lines: Lines::new(&spec.lines, &spec.sizes, spec.sequence.even_mix, own),
            mix: spec.mix,
            base,
            last_flushes: if spec.flush_at_end { spec.files.numbers() } else { 0..0 },
        };
        let covers = source.addresses.first().is_some_and(Addresses::covers);
        let source = BlockRequests { fits: covers.then(|| source.sizes_by_class.clone()), ..source };
        let options = JobOptions {
            submit_batch: spec.submit_batch,
            complete_batch: spec.complete_batch,
            exit_all: spec.exit_all,
            with_others: spec.with_others,
            pacer: pacer(spec, source.lines.as_ref(), own("arrival")),
            varies: source.lines.is_some() || source.trace.is_some(),
            sequence: spec.sequence,
            is_zoned: source.zoned.is_some(),
            rewrites: spec.rewrites,
            start: spec.start,
            warmup: spec.warmup,
            warmup_bytes: spec.warmup_bytes,
            run: spec.run,
            wall: spec.wall,
            cooldown: spec.cooldown,
            ops: spec.ops,
            ops_after_warmup: spec.ops_after_warmup,
            bytes: spec.bytes,
            flush_every: spec.flush_every,
            measures_last_flush: spec.flush_at_end,
            ..JobOptions::closed(spec.depth, classes)
        };
        (source, options)
    }

    #[inline]
    fn next(&mut self) -> Next<Request> {
        let mut drawn = self.drawn();
        let (file, offset) = self.place_of(&mut drawn);
        let Drawn { op, size, len, pause, .. } = drawn;
        let request = Request { offset, len, token: Token(0), file, op };
        Next { request, class: self.class(op, size), pause }
    }

    fn flush(&self) -> (Request, u16) {
        self.flush_of(self.flush_place().0)
    }

    fn last_flush(&mut self) -> Option<(Request, u16)> {
        let file = self.last_flushes.next()?;
        Some(self.flush_of(file))
    }

    fn rewrite(&self, request: &Request, class: u16) -> Option<(Request, u16)> {
        // What is followed and writes have the same sizes in the same order.
        let size = || class - self.class(request.op, 0);
        (Some(request.op) == self.mix.followed())
            .then(|| (Request { op: Op::Write, ..*request }, self.class(Op::Write, size())))
    }

    fn place(&mut self, next: &mut Next<Request>, token: Token, budget: u64) -> Placing {
        let mut placing = self.placed(next, token, budget);
        // Of a mix the first request writes, since there is nothing to read before.
        if placing == Placing::Nothing && next.request.op == Op::Read && self.mix.has_writes() {
            while next.request.op != Op::Write {
                *next = self.next();
            }
            placing = self.placed(next, token, budget);
        }
        let len = next.request.len;
        if let Placing::Placed { at, len: fitting, .. } = placing {
            (next.request.offset, next.request.len) = (at, fitting);
            let position = |len: u32| self.sizes_by_class.iter().position(|size| *size == len).unwrap_or(0);
            if fitting != len {
                next.class = narrow::<u16>(usize::from(next.class) + position(fitting) - position(len));
            }
        }
        placing
    }

    fn ended(&mut self, token: Token, went_well: bool) {
        if let Some(zoned) = &mut self.zoned {
            zoned.ended(token, went_well);
        }
    }

    fn zone_call(&self) -> Option<ZoneCall> {
        self.zoned.as_ref()?.calls()
    }

    fn zone_answered(&mut self, told: Option<DeviceZone>) {
        if let Some(zoned) = &mut self.zoned {
            zoned.answered(told);
        }
    }

    fn waits_for_zone(&self) -> Option<&ZoneWait> {
        self.zoned.as_ref()?.wait.as_ref()
    }

    fn zone_resets(&self) -> u64 {
        self.zoned.as_ref().map_or(0, |zoned| zoned.resets)
    }

    fn read_back(&self, request: &Request, class: u16) -> Option<(Request, u16)> {
        let size = || class - self.class(Op::Write, 0);
        (request.op == Op::Write)
            .then(|| (Request { op: Op::Read, ..*request }, self.class(Op::Read, size())))
    }
}

impl BlockRequests {
    /// Where a request that was drawn goes among zones.
    fn placed(&mut self, next: &Next<Request>, token: Token, budget: u64) -> Placing {
        let zoned = self.zoned.as_mut().expect("only what has zones is placed");
        let Request { op, file, offset, len, .. } = next.request;
        zoned.place((op, file, offset, len), token, budget)
    }

    /// The class of an operation with a size, by its position among all sizes.
    #[inline]
    fn class(&self, op: Op, size: u16) -> u16 {
        self.base[op as usize] + size
    }

    fn flush_of(&self, file: u16) -> (Request, u16) {
        let request = Request { offset: Bytes::ZERO, len: 0, token: Token(0), file, op: Op::Flush };
        (request, self.class(Op::Flush, 0))
    }

    /// What the next request asks, how it is placed where they differ in it, and the pause after it.
    #[inline]
    fn drawn(&mut self) -> Drawn {
        if let Some(trace) = &mut self.trace {
            return trace.next();
        }
        if let Some(lines) = &mut self.lines {
            return lines.next();
        }
        let op = self.ops.next();
        let (size, len) = if op == Op::Flush { (0, 0) } else { self.sizes.next() };
        Drawn { op, size, len, step: None, pause: Nanos::ZERO }
    }

    /// The file and offset of the request that was drawn last.
    #[inline]
    fn place_of(&mut self, drawn: &mut Drawn) -> (u16, Bytes) {
        if let Some(trace) = &self.trace {
            return trace.place();
        }
        if drawn.len == 0 {
            return self.flush_place();
        }
        if self.fits.is_some() {
            return self.covered(drawn);
        }
        let addresses = &mut self.addresses[self.turn];
        let at = match drawn.step {
            None => addresses.next(drawn.len),
            Some(step) => addresses.next_of(drawn.len, step),
        };
        self.mapped(at)
    }

    /// The next place that was not visited in this pass, and as much of the request as there is room for.
    fn covered(&mut self, drawn: &mut Drawn) -> (u16, Bytes) {
        let sizes = self.fits.as_deref().unwrap_or_default();
        let step = drawn.step.map_or(1, |step| step.align);
        let (at, len) = self.addresses[self.turn].cover(drawn.len, step, sizes);
        if len != drawn.len {
            let position = sizes.iter().position(|size| *size == len).unwrap_or(sizes.len());
            (drawn.size, drawn.len) = (narrow::<u16>(position), len);
        }
        self.mapped(at)
    }

    /// A flush goes to the file whose turn it is.
    fn flush_place(&self) -> (u16, Bytes) {
        let file = match &self.files {
            FileMap::Turns { first, .. } => first + narrow::<u16>(self.turn),
            _ => 0,
        };
        (file, Bytes::ZERO)
    }

    /// The file of an address and the offset within it.
    #[inline]
    fn mapped(&mut self, at: Bytes) -> (u16, Bytes) {
        match &self.files {
            FileMap::One => (0, at),
            FileMap::Turns { first, count } => {
                let file = first + narrow::<u16>(self.turn);
                self.turn = if self.turn + 1 == usize::from(*count) { 0 } else { self.turn + 1 };
                (file, at)
            }
            FileMap::Concatenated(lengths) => concatenated(lengths, at),
            FileMap::Striped { unit, count } => striped(*unit, *count, at),
        }
    }
}

fn all_sizes(spec: &JobSpec) -> Vec<u32> {
    spec.sizes.0.iter().map(|(size, _)| narrow::<u32>(size.get())).collect()
}

fn zoned(spec: &JobSpec) -> Option<Box<Zoned>> {
    let place = (spec.region, spec.part);
    let zoned = |rules| Zoned::new(rules, place, all_sizes(spec), spec.files.numbers(), spec.depth);
    spec.zones.map(zoned).map(Box::new)
}

/// A generator for each file that is visited in turn, otherwise one; none where a trace says where requests go. Files
/// have orders of their own.
fn generators(spec: &JobSpec, streams: Streams) -> Vec<Addresses> {
    if matches!(spec.pattern, Pattern::Trace(_)) {
        return Vec::new();
    }
    let keeps_slots = matches!(spec.files, FileMap::Concatenated(_) | FileMap::Striped { .. });
    let continues = spec.lines.iter().any(|line| line.jumps.is_some());
    // Where zones are, places are found anew in any case.
    let mixed = spec.lines.is_empty() && spec.zones.is_none() && spec.sizes.smallest() < spec.sizes.largest();
    let grain = Grain { align: spec.align, largest: spec.sizes.largest(), keeps_slots, mixed };
    let make = if continues { Addresses::continued } else { Addresses::new };
    let generator = |name: &str| make(&spec.pattern, spec.region, spec.part, grain, streams, name);
    match spec.files {
        FileMap::Turns { first, count } => {
            (first..first + count).map(|file| generator(&format!("{}/file{file}", spec.name))).collect()
        }
        // A region of its own, and an order of its own in it.
        _ if spec.part == RegionShare::WHOLE && spec.worker.of > 1 => {
            vec![generator(&format!("{}/worker{}", spec.name, spec.worker.index))]
        }
        _ => vec![generator(&spec.name)],
    }
}

/// The workload's pace, that of its trace, or the bursts and pauses of its lines.
fn pacer(spec: &JobSpec, lines: Option<&Lines>, stream: Stream) -> Pacer {
    if let (Pace::Trace, Pattern::Trace(replay)) = (spec.pace, &spec.pattern)
        && replay.requests.as_ref().is_some_and(|trace| trace.thinks())
    {
        return Pacer::Bursts(Bursts::of_lines(Nanos::ZERO));
    }
    if let (Pace::Trace, Pattern::Trace(replay)) = (spec.pace, &spec.pattern)
        && let Some(arrivals) = Arrivals::new(replay, spec.worker)
    {
        return Pacer::of_trace(arrivals);
    }
    match lines {
        Some(lines) if spec.pace == Pace::Closed && Lines::pause(&spec.lines) => {
            Pacer::Bursts(Bursts::of_lines(lines.first_pause()))
        }
        _ => Pacer::new(spec.pace, spec.worker, spec.depth, stream),
    }
}

/// A class for each operation and size that may come, and one for what is cut, where requests are; whether any request may
/// have both, and where each operation's begin.
fn classes(spec: &JobSpec, cuts: bool) -> (Vec<(Class, bool)>, [u16; 4]) {
    let ops = op_weights(spec.mix);
    let mut classes = Vec::new();
    let mut base = [0; 4];
    for op in Op::ALL {
        base[op as usize] = narrow::<u16>(classes.len());
        let may_come = ops.iter().any(|(possible, _)| *possible == op)
            || (op == Op::Flush && (spec.flush_every.is_some() || spec.flush_at_end))
            || (op == Op::Write && spec.rewrites != Share::NONE)
            || (op == Op::Read && (spec.sequence.read_back.is_some() || spec.sequence.reread));
        if !may_come {
            continue;
        }
        let flush = [(Bytes::ZERO, 1.0)];
        let sizes = if op == Op::Flush { &flush[..] } else { &spec.sizes.0[..] };
        let class = |(size, _): &(Bytes, f64)| {
            (Class { op: op.into(), size: *size }, may_come_together(spec, op, *size))
        };
        classes.extend(sizes.iter().map(class));
        if cuts && op != Op::Flush {
            classes.push((Class { op: op.into(), size: Bytes::ZERO }, false));
        }
    }
    debug_assert!(
        (0..classes.len()).all(|at| classes[..at].iter().all(|(known, _)| *known != classes[at].0)),
        "a class that is there twice has its requests in two places"
    );
    (classes, base)
}

/// Whether any kind of requests has both the operation and the size; size zero stands for those without a class of
/// their own.
fn may_come_together(spec: &JobSpec, op: Op, size: Bytes) -> bool {
    if let Pattern::Trace(Replay { requests: Some(trace), .. }) = &spec.pattern {
        let is_known = |len: u32| spec.sizes.0.iter().any(|(known, _)| known.get() == u64::from(len));
        return op == Op::Flush
            || trace.kinds().any(|(its, len, _)| {
                its == op && (size.get() == u64::from(len) || (size.is_zero() && !is_known(len)))
            });
    }
    let has = |kind: &JobLine| {
        kind.line.sizes.0.iter().any(|(known, _)| *known == size)
            && op_weights(kind.line.mix).iter().any(|(known, _)| {
                *known == op
                    || (Some(*known) == spec.mix.followed()
                        && op == Op::Write
                        && spec.rewrites != Share::NONE)
                    || (*known == Op::Write
                        && op == Op::Read
                        && (spec.sequence.read_back.is_some() || spec.sequence.reread))
            })
    };
    op == Op::Flush || spec.lines.is_empty() || spec.lines.iter().any(has)
}
