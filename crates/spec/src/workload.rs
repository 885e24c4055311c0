//! What one workload asks for, every default filled in.
//!
//! A [`Workload`] is what a plan's phase says after sweeps are expanded: still without a target, so `span` may
//! be a part of something whose size is not yet known.

use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::Op;
use crate::priority::{IoPriority, Priorities, RequestFlags, WriteHint};
use crate::stamp::Stamp;
use crate::steady::Steady;
use crate::trace::Replay;
use crate::tree::Tree;

/// What a group of identical workers asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Shown in tables; unique within its phase.
    pub name: String,
    /// Where the next request goes.
    pub pattern: Pattern,
    /// How large it is.
    pub sizes: SizeSplit,
    /// Which operation it is.
    pub mix: OpMix,
    /// Requests of several kinds by weight; empty where all are of one kind. `sizes` and `mix` are then their sum.
    pub lines: Vec<Line>,
    /// Part of the requests that goes where the pattern says; the others go on where the worker's last one ended.
    /// `None` leaves it to the pattern.
    pub random: Option<Share>,
    /// Part of the reads, or of the trims where nothing is read, that is followed by a write of the same block, on the
    /// same slot.
    pub rewrites: Share,
    /// Every offset is a multiple of this; `None` means the smallest size.
    pub align: Option<Bytes>,
    /// Where the used part of the target begins.
    pub offset: Extent,
    /// How much of the target is used.
    pub span: Span,
    /// Each worker has a span of its own, which begins so much behind that of the worker before it.
    pub worker_offset: Option<Bytes>,
    /// Identical workers, each a thread in the real world.
    pub workers: u32,
    /// Requests each worker keeps in flight.
    pub depth: u32,
    /// How many files there are for a directory target, and who uses which.
    pub files: Files,
    /// Which of the run's targets are used, by their numbers from 1; empty means all of them.
    pub on: Vec<u32>,
    /// How several targets are used together.
    pub luns: LunLayout,
    /// When the next request is due.
    pub pace: Pace,
    /// How a worker goes on from one request to the next.
    pub sequence: Sequence,
    /// When it begins and ends.
    pub stop: Stop,
    /// What makes writes durable.
    pub durability: Durability,
    /// What writes contain.
    pub content: Content,
    /// Whether writes are stamped, and reads held against the stamps.
    pub verify: Verify,
    /// How written blocks are marked where they are.
    pub stamp: Stamp,
    /// Every random choice follows from this, the workload's name and the worker's number.
    pub seed: u64,
    /// Bypass the page cache.
    pub direct: bool,
    /// How requests reach the kernel; no part of what is asked.
    pub engine: EngineSpec,
    /// The file that its requests are written to one by one, as a log of fio; `None` writes none.
    pub iolog: Option<String>,
    /// Names of files and directories are asked for instead of blocks; of the fields above, `workers`, `stop`,
    /// `durability`, `content` and `seed` hold then.
    pub tree: Option<Tree>,
}

impl Workload {
    /// Whether it uses the target of number `index`, from 0.
    pub fn uses(&self, index: usize) -> bool {
        self.on.is_empty() || self.on.iter().any(|number| *number as usize == index + 1)
    }

    /// The distance all offsets are a multiple of where no line says otherwise; at least a byte.
    pub fn alignment(&self) -> Bytes {
        let own = || match self.replay().and_then(|replay| replay.requests.as_ref()) {
            Some(trace) => trace.alignment(),
            None => self.sizes.smallest(),
        };
        self.align.unwrap_or_else(own).max(Bytes::B)
    }

    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        let writes = self.mix.has_writes() || (self.rewrites != Share::NONE && self.mix.followed().is_some());
        writes && !self.sequence.reread
    }

    /// Whether data is trimmed away.
    pub fn discards(&self) -> bool {
        self.mix.trims.get() > 0.0 && !self.sequence.reread
    }

    /// Whether anything on the target changes.
    pub fn changes_data(&self) -> bool {
        self.writes() || self.discards()
    }

    /// The coarsest of all alignments.
    pub fn coarsest(&self) -> Bytes {
        self.lines.iter().filter_map(|line| line.align).max().unwrap_or(Bytes::B).max(self.alignment())
    }

    /// All distances that the size of a stamped block must divide: sizes, alignments, and where spans begin.
    pub fn stamped(&self) -> impl Iterator<Item = Bytes> {
        let begins = match self.offset {
            Extent::Bytes(offset) => Some(offset),
            Extent::Part(_) => None,
        };
        let sizes = self.sizes.0.iter().map(|(size, _)| *size);
        let aligns = self.lines.iter().filter_map(|line| line.align);
        sizes.chain(aligns).chain([self.alignment()]).chain(begins).chain(self.worker_offset)
    }

    /// The trace that is asked again, if one is.
    pub fn replay(&self) -> Option<&Replay> {
        match &self.pattern {
            Pattern::Trace(replay) => Some(replay),
            _ => None,
        }
    }

    /// Whether some requests go on where the last one of their worker ended, and others may not.
    pub fn continues(&self) -> bool {
        let own = |line: &Line| line.random.is_some() || (line.align.is_some() && !self.pattern.is_random());
        self.random.is_some() || self.sequence.consecutive > 1 || self.lines.iter().any(own)
    }
}

impl Pattern {
    /// Whether each request goes to a place of its own, not beside the one before.
    pub fn is_random(&self) -> bool {
        !self.has_stretches() && *self != Pattern::Interlocked
    }

    /// Whether workers that share a region have parts of it for themselves.
    pub fn has_stretches(&self) -> bool {
        matches!(
            self,
            Pattern::Sequential
                | Pattern::Reverse
                | Pattern::Stride(_)
                | Pattern::StrideOf { .. }
                | Pattern::Columns { .. }
                | Pattern::ReverseStride(_)
        )
    }
}

/// Where the next request goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Upwards, each worker through its own share of the span, from the start again at the end.
    Sequential,
    /// Downwards, likewise.
    Reverse,
    /// Upwards, one stream for all workers, who take its requests in turn. Wants a single size.
    Interlocked,
    /// Upwards in steps of this many bytes from start to start, at least the request's size.
    Stride(Bytes),
    /// Upwards: `run` bytes without gaps, then on to where the next `step` begins.
    StrideOf {
        /// From start to start, at least `run`.
        step: Bytes,
        /// How much of it is passed through, at least a request's size.
        run: Bytes,
    },
    /// Upwards in steps, as [`Pattern::Stride`]; each pass begins one request later than the last, within so many bytes
    /// of each step.
    Columns {
        /// From start to start, at least `width`.
        step: Bytes,
        /// How much of each step is visited in the end, at least a request's size.
        width: Bytes,
    },
    /// Downwards in steps of this many bytes from start to start, at least the request's size.
    ReverseStride(Bytes),
    /// Uniform, each block once before any comes again: a keyed permutation, workers take turns in it.
    Random,
    /// Uniform, drawn afresh each time, so blocks repeat.
    RandomWithRepeats,
    /// Rank r is drawn in proportion to 1/r^θ, θ > 0; ranks are scattered over the span by a keyed permutation.
    Zipf(f64),
    /// Part 1 - h of the requests goes to part h of the blocks, and so on within them, 0 < h < 1; the blocks are
    /// scattered over the span by a keyed permutation.
    Pareto(f64),
    /// Bell-shaped about the middle of the span; the standard deviation as a part of the span.
    Normal(Share),
    /// The same of ranks, which are scattered over the span by a keyed permutation.
    NormalScattered(Share),
    /// Zones from the start of the span; uniform within each.
    Zones(Vec<Zone>),
    /// Blocks of the largest size by their numbers from the start of the span, over and over; every worker for itself.
    Sequence {
        /// At least one.
        blocks: Vec<u64>,
        /// Each round begins as many blocks further as there are in it.
        moves: bool,
    },
    /// What random writes come to that have gone on for long, in one pass that writes `1 + spare` times the span: parts
    /// of it in turn, each with new blocks in random order and with blocks of the part before once more, so many that
    /// what stays valid of each part is what cleaning in the order of writing would have left of it.
    Aged {
        /// What a flash device has beyond the span, as a part of it.
        spare: Share,
        /// In how many parts; at least 2.
        parts: u32,
    },
    /// Requests of a trace, as they were asked; workers take them in turn.
    Trace(Replay),
}

/// A part of the span and the part of the requests that goes there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Part of the requests.
    pub requests: Share,
    /// How much of the span.
    pub span: Extent,
}

/// Request sizes and their weights. Never empty; at most 64 entries; weights are positive.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSplit(pub Vec<(Bytes, f64)>);

impl SizeSplit {
    /// One size always.
    pub fn one(size: Bytes) -> SizeSplit {
        SizeSplit(vec![(size, 1.0)])
    }

    /// The smallest size.
    pub fn smallest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).min().unwrap_or(Bytes::ZERO)
    }

    /// The largest size.
    pub fn largest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO)
    }
}

/// Requests of one kind among several: a line of what Iometer calls an access specification.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How often it is drawn, in proportion to the weights of the others; positive.
    pub weight: f64,
    /// How large its requests are.
    pub sizes: SizeSplit,
    /// Which operations they are.
    pub mix: OpMix,
    /// Part of them that goes where the pattern says; `None` leaves it to the pattern.
    pub random: Option<Share>,
    /// Their offsets are multiples of this; `None` means the workload's alignment.
    pub align: Option<Bytes>,
    /// Requests that follow each other from this line once it is drawn; at least 1.
    pub burst: u32,
    /// The pause before them.
    pub delay: Nanos,
}

impl Line {
    /// Its part of the requests, in proportion to those of the other lines: each draw brings a whole burst.
    pub fn requests(&self) -> f64 {
        self.weight * f64::from(self.burst)
    }
}

/// The most lines of one workload. The same limit as in Iometer.
pub const MOST_LINES: usize = 100;

/// Shares of the operations. What is neither read, trim nor flush is a write; the shares sum to at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpMix {
    /// Part that reads.
    pub reads: Share,
    /// Part that trims.
    pub trims: Share,
    /// Part that flushes.
    pub flushes: Share,
}

impl OpMix {
    /// The operations of several mixes together, each with its weight; their sum must be positive.
    pub fn sum<'a>(parts: impl Iterator<Item = (f64, &'a OpMix)> + Clone) -> OpMix {
        let total: f64 = parts.clone().map(|(weight, _)| weight).sum();
        let part = |share: fn(&OpMix) -> Share| {
            let sum: f64 = parts.clone().map(|(weight, mix)| weight * share(mix).get()).sum();
            Share::new((sum / total).clamp(0.0, 1.0)).expect("between 0 and 1")
        };
        OpMix { reads: part(|mix| mix.reads), trims: part(|mix| mix.trims), flushes: part(|mix| mix.flushes) }
    }

    /// Part that writes.
    pub fn writes(self) -> f64 {
        (1.0 - self.reads.get() - self.trims.get() - self.flushes.get()).max(0.0)
    }

    /// The operation that writes of the same block may follow: reads, or trims where nothing is read.
    pub fn followed(self) -> Option<Op> {
        let has = |share: Share, op: Op| (share != Share::NONE).then_some(op);
        has(self.reads, Op::Read).or(has(self.trims, Op::Trim))
    }

    /// Whether anything is written. Shares such as 2/3 and 1/3 do not sum to 1 exactly in binary.
    pub fn has_writes(self) -> bool {
        self.writes() > 1e-9
    }
}

/// A distance: bytes, or a part of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// So many bytes.
    Bytes(Bytes),
    /// That part of the target.
    Part(Share),
}

/// How much of the target is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// A device or file: all of it after the offset. A scratch file: large enough to defeat known caches.
    Auto,
    /// So much.
    Of(Extent),
}

/// Files in a directory target. One file shared by all workers unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// So many workers share each file; at least 1.
    WorkersPerFile(u32),
    /// All workers share one file.
    Shared,
    /// Each worker has so many files of its own and visits them in turn; at least 1.
    PerWorker(u32),
}

/// How several targets are used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunLayout {
    /// One after the other in one address space.
    Concatenated,
    /// In turn, so many bytes each.
    Striped(Bytes),
}

/// When the next request is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as one completes.
    Closed,
    /// So long after one completes.
    Think(Nanos),
    /// So many requests of a worker, then, when all of them have ended, so long nothing.
    Bursts {
        /// The pause.
        delay: Nanos,
        /// Requests before it; at least 1.
        requests: u32,
    },
    /// Whatever fits into so long, then, when all of it has ended, so long nothing.
    Spells {
        /// The pause.
        delay: Nanos,
        /// The time before it; above zero.
        busy: Nanos,
    },
    /// As soon as one completes, but no more a second since the start than this, all workers together.
    Cap(OpsPerSecond),
    /// Likewise in bytes.
    CapBytes(BytesPerSecond),
    /// By a schedule that waits for nobody.
    Open(Schedule),
    /// When the trace says.
    Trace,
}

/// Requests that are due by the clock, whatever has become of those before: all workers of a workload together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// How many; with [`Spacing::OnOff`] while it is on.
    pub rate: OpsPerSecond,
    /// At which instants.
    pub spacing: Spacing,
    /// What becomes of a request that falls due while all slots are taken.
    pub overflow: Overflow,
}

impl Schedule {
    /// The rate over a time that is long against its pauses.
    pub fn mean_rate(&self) -> OpsPerSecond {
        match self.spacing {
            Spacing::OnOff { on, off } => {
                let part = on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64());
                OpsPerSecond::new(self.rate.get() * part)
            }
            Spacing::Even | Spacing::Poisson => self.rate,
        }
    }
}

/// How a schedule spaces its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// At even distances.
    Even,
    /// At random instants: a Poisson process.
    Poisson,
    /// At random instants for the time `on`, then none for the time `off`, and so on from the start of the load.
    OnOff {
        /// How long requests fall due; above zero.
        on: Nanos,
        /// How long none does; above zero.
        off: Nanos,
    },
}

/// What becomes of a request that falls due while the job has all its requests in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It waits in the generator; its response counts from the instant it was due.
    #[default]
    Queue,
    /// It is never issued, and counted.
    Drop,
}

impl Pace {
    /// At even distances.
    pub const fn even(rate: OpsPerSecond) -> Pace {
        Pace::Open(Schedule { rate, spacing: Spacing::Even, overflow: Overflow::Queue })
    }

    /// At random instants of that mean rate.
    pub const fn poisson(rate: OpsPerSecond) -> Pace {
        Pace::Open(Schedule { rate, spacing: Spacing::Poisson, overflow: Overflow::Queue })
    }
}

/// How a worker goes on from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// So many requests follow each other from each place that the pattern draws; at least 1.
    pub consecutive: u32,
    /// They go to that place again and again, not on from it.
    pub repeat_offset: bool,
    /// Once all slots are taken, none is filled again before so few requests are in flight; below the depth.
    pub low_water: Option<u32>,
    /// Its part of the requests, in proportion to those of the phase's other workloads that have one; at least 1.
    pub flow: Option<u32>,
    /// After so many writes of a worker they are read back, and the last ones at the end; at least 1.
    pub read_back: Option<u32>,
    /// After so many requests of a worker, and once all of them have ended, it closes its files and opens them again; at
    /// least 1.
    pub reopen_every: Option<u32>,
    /// The page cache forgets a worker's files whenever it opens them again.
    pub reopen_cold: bool,
    /// Only those of its requests that write are asked, and they read; the others are left out.
    pub reread: bool,
}

impl Sequence {
    /// Nothing particular.
    pub const PLAIN: Sequence = Sequence {
        consecutive: 1,
        repeat_offset: false,
        low_water: None,
        flow: None,
        read_back: None,
        reopen_every: None,
        reopen_cold: false,
        reread: false,
    };
}

/// When a workload begins and ends. Whatever is set first reached ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// The pause before its first request, beside others that have begun.
    pub start: Nanos,
    /// Load that is not counted, before.
    pub warmup: Nanos,
    /// The measured time; `None` means until `ops` or `bytes` are done.
    pub run: Option<Nanos>,
    /// Load that is not counted, after, so that the last measured requests meet the same company.
    pub cooldown: Nanos,
    /// Requests of all workers together, from the start.
    pub ops: Option<u64>,
    /// Bytes of all workers together, from the start.
    pub bytes: Option<Bytes>,
    /// So many times as many bytes of each worker as its files or span hold.
    pub loops: Option<u32>,
    /// The first of its workers that has done its part ends the load of all others, whichever workload they belong to.
    pub exit_all: bool,
    /// Ends the load of all once a figure of this workload is steady.
    pub steady: Option<Steady>,
}

/// What makes writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durability {
    /// Flag given when the target is opened.
    pub open: OpenSync,
    /// A flush after every so many writes of a worker.
    pub every: Option<u32>,
    /// A flush of each file of a worker after its last request, within the measured time.
    pub at_end: bool,
    /// What a flush is.
    pub flush: FlushKind,
}

/// Flag given when the target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSync {
    /// None.
    None,
    /// O_DSYNC: data is durable when a write returns.
    Dsync,
    /// O_SYNC: data and metadata are.
    Sync,
}

/// What a flush is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2) of a whole file with SYNC_FILE_RANGE_WRITE: what the page cache holds of it is on its way, and
    /// nothing is waited for.
    SyncFileRange,
}

/// What writes contain.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing but zero bytes.
    Zeros,
    /// Neither compresses nor repeats when both ratios are 1.
    Random {
        /// Size before over size after compression, at least 1.
        compress: f64,
        /// Blocks over distinct blocks, at least 1.
        dedupe: f64,
    },
    /// Random data made once for each request in flight, and written again and again: it does not compress, and repeats.
    Reused,
    /// These bytes from the start of each request, again and again; 1 to [`MOST_PATTERN`] of them.
    Pattern(Vec<u8>),
}

/// The longest pattern that writes repeat, in bytes.
pub const MOST_PATTERN: usize = 64 << 10;

/// Whether what is read is held against what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing is stamped or looked at.
    None,
    /// Writes are stamped. Of what is read, blocks are checked that the run has written, or that carry its stamp.
    Written,
    /// Likewise, and every block that is read must carry a stamp.
    All,
    /// Nothing is stamped: all that is read must be zeros, or the pattern that writes repeat.
    Content,
}

/// How requests reach the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// Which.
    pub kind: EngineKind,
    /// At most so many requests are handed over in one call, and stamped with one clock reading.
    pub submit_batch: u32,
    /// A worker that waits for requests to end waits for so many of them, or for all that are in flight.
    pub complete_batch: u32,
    /// A kernel thread submits (io_uring).
    pub sqpoll: bool,
    /// Completions are polled for (io_uring, direct).
    pub iopoll: bool,
    /// Worker i runs on the i-th of these, from the start again at the end; empty means anywhere.
    pub cpus: Vec<u32>,
    /// Buffers and workers stay on this node.
    pub numa_node: Option<u32>,
    /// Buffers lie in huge pages.
    pub huge_pages: bool,
    /// What requests have that no rule gives another; `None` is what the process has.
    pub io_priority: Option<IoPriority>,
    /// Which requests have a priority of their own (io_uring).
    pub request_priority: Priorities,
    /// What the kernel is told of each request.
    pub flags: RequestFlags,
    /// How long written data is said to live; `None` says nothing.
    pub write_hint: Option<WriteHint>,
}

/// Which way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// pread at depth 1, io_uring where it is allowed, otherwise pread with a thread per request in flight.
    Auto,
    /// io_uring(7).
    IoUring,
    /// pread(2) and pwrite(2).
    Pread,
    /// preadv2(2) and pwritev2(2).
    Preadv2,
    /// Loads and stores on a mapping.
    Mmap,
    /// pread(2) and pwrite(2) of what calls of a few bytes come to in a buffer of 4 KiB, as in C's stdio.
    Stdio,
    /// fallocate(2) in place of data: a write allocates its range and lets the file grow, a read allocates and does not.
    Fallocate,
    /// ftruncate(2) in place of data: a write cuts the file where it would begin.
    Ftruncate,
    /// Nothing at all: what the tool itself can do.
    Null,
}

impl EngineKind {
    /// Whether requests only change what a file has, and move no data.
    pub fn moves_no_data(self) -> bool {
        matches!(self, EngineKind::Fallocate | EngineKind::Ftruncate)
    }
}
