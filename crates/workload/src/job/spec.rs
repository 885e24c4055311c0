//! A workload compiled for one worker: numbers only.

use std::ops::Range;

use units::convert::narrow;
use units::{Bytes, Nanos, Share};

use crate::address::{Region, RegionShare};
use crate::lines::JobLine;
use crate::spec::{FlushKind, OpMix, Pace, Pattern, Sequence, SizeSplit};
use crate::zones::ZoneRules;

/// A workload compiled for one worker: numbers only.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Names the random streams; the workload's name.
    pub name: String,
    /// Seeds them.
    pub seed: u64,
    /// Which of the workload's workers this is. Shares out rate and limits.
    pub worker: RegionShare,
    /// Where requests go.
    pub pattern: Pattern,
    /// How large they are.
    pub sizes: SizeSplit,
    /// Which operations they are.
    pub mix: OpMix,
    /// Requests of several kinds, or of one kind of which some go on where the last one ended; otherwise empty.
    pub lines: Vec<JobLine>,
    /// Part of the reads that is followed by a write of the same block.
    pub rewrites: Share,
    /// Offsets are multiples of this.
    pub align: Bytes,
    /// The used part of each file, or of the joined address space.
    pub region: Region,
    /// Which of the workers that share the region this is.
    pub part: RegionShare,
    /// How addresses map to files.
    pub files: FileMap,
    /// Requests in flight at most; at least 1.
    pub depth: u32,
    /// Requests planned, and so handed over, at most at a time; at least 1.
    pub submit_batch: u32,
    /// Whoever drives the job waits for so many completions, or for all that are in flight; at least 1.
    pub complete_batch: u32,
    /// When they are due.
    pub pace: Pace,
    /// How it continues from one request to the next.
    pub sequence: Sequence,
    /// How it goes through zones; `None` where there are none.
    pub zones: Option<ZoneRules>,
    /// The pause before its first request.
    pub start: Nanos,
    /// Load before the measured window.
    pub warmup: Nanos,
    /// In place of a time, the bytes of this worker that count towards the start of the measured window.
    pub warmup_bytes: Option<Bytes>,
    /// The measured window; `None` lasts until `ops` or `bytes` are done.
    pub run: Option<Nanos>,
    /// In its place, when the worker tells how many requests it has issued and goes on to the most of all.
    pub wall: Option<Nanos>,
    /// Load after it.
    pub cooldown: Nanos,
    /// Requests of this worker, flushes by `flush_every` not counted.
    pub ops: Option<u64>,
    /// They are counted anew once the warm-up is over.
    pub ops_after_warmup: bool,
    /// Bytes of this worker.
    pub bytes: Option<Bytes>,
    /// A flush after so many writes.
    pub flush_every: Option<u32>,
    /// Which call a flush is.
    pub flush: FlushKind,
    /// A flush of each of its files after the last request; the measured window ends with it.
    pub flush_at_end: bool,
    /// Once it has done its part, whoever drives it stops all others.
    pub exit_all: bool,
    /// It ends once all jobs beside it that are not to end so have ended.
    pub with_others: bool,
}

/// How a job's addresses map to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileMap {
    /// One file, number 0.
    One,
    /// So many files from number `first`, each with the whole region, visited in turn.
    Turns {
        /// The first file's number.
        first: u16,
        /// How many.
        count: u16,
    },
    /// Files of these lengths, one after the other.
    Concatenated(Vec<Bytes>),
    /// So many files, `unit` bytes from each in turn. No request crosses a unit.
    Striped {
        /// Bytes from each.
        unit: Bytes,
        /// How many files.
        count: u16,
    },
}

impl FileMap {
    /// The numbers of the files that a worker uses.
    pub fn numbers(&self) -> Range<u16> {
        match self {
            FileMap::One => 0..1,
            FileMap::Turns { first, count } => *first..first + count,
            FileMap::Concatenated(lengths) => 0..narrow::<u16>(lengths.len()),
            FileMap::Striped { count, .. } => 0..*count,
        }
    }
}

impl JobSpec {
    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        (self.mix.has_writes() || self.rewrites != Share::NONE) && !self.sequence.reread
    }
}

/// The file that holds `at` and the offset within it. Past the end only by a bug in the region.
pub(super) fn concatenated(lengths: &[Bytes], at: Bytes) -> (u16, Bytes) {
    let mut rest = at;
    for (file, length) in (0u16..).zip(lengths) {
        if rest < *length {
            return (file, rest);
        }
        rest = rest - *length;
    }
    panic!("address {at} lies past the last file")
}

/// The file that holds `at` of stripes, and the offset within it.
#[inline]
pub(super) fn striped(unit: Bytes, count: u16, at: Bytes) -> (u16, Bytes) {
    debug_assert!(!unit.is_zero() && count > 0, "a stripe has a unit on each of some targets");
    let (stripe, within) = (at.get() / unit.get(), at.get() % unit.get());
    let file = narrow::<u16>(stripe % u64::from(count));
    (file, unit * (stripe / u64::from(count)) + Bytes::new(within))
}
