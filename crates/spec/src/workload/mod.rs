//! What one workload asks for, every default filled in.
//!
//! A [`Workload`] is what a plan's phase says after sweeps are expanded: still without a target, so `span` may
//! be a part of something whose size is not yet known.

mod command;
mod data;
mod engine;
mod pace;
mod pattern;
mod requests;
mod sequence;
mod target;
mod zones;

use units::{Bytes, Share};

pub use self::command::*;
pub use self::data::*;
pub use self::engine::*;
pub use self::pace::*;
pub use self::pattern::*;
pub use self::requests::*;
pub use self::sequence::*;
pub use self::target::*;
pub use self::zones::*;
use crate::stamp::Stamp;
use crate::trace::Replay;
use crate::tree::Tree;

/// What a group of identical workers requests.
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
    /// Part of the requests that goes where the pattern says; the others continue where the worker's last one ended.
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
    /// Over ranks: each drives the workers of a rank so many hosts further on, which on one host and in one process is the
    /// same.
    pub hosts_on: Option<u32>,
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
    /// How a worker continues from one request to the next.
    pub sequence: Sequence,
    /// Zones that it writes in order.
    pub zones: Zones,
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

    /// The size that all requests have; `None` where there are several.
    pub fn only_size(&self) -> Option<Bytes> {
        Some(self.sizes.smallest()).filter(|size| *size == self.sizes.largest())
    }

    /// The span in bytes; `None` where it is a part of the target, or follows from it.
    pub fn span_bytes(&self) -> Option<Bytes> {
        match self.span {
            Span::Of(Extent::Bytes(bytes)) => Some(bytes),
            Span::Of(Extent::Part(_)) | Span::Auto => None,
        }
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
        let zones = [self.zones.layout().map(|(size, _)| size), self.worker_offset].into_iter().flatten();
        sizes.chain(aligns).chain([self.alignment()]).chain(begins).chain(zones)
    }

    /// The trace that is asked again, if one is.
    pub fn replay(&self) -> Option<&Replay> {
        match &self.pattern {
            Pattern::Trace(replay) => Some(replay),
            _ => None,
        }
    }

    /// Whether some requests continue where the last one of their worker ended, and others may not.
    pub fn continues(&self) -> bool {
        let own = |line: &Line| line.random.is_some() || (line.align.is_some() && !self.pattern.is_random());
        self.random.is_some() || self.sequence.consecutive > 1 || self.lines.iter().any(own)
    }
}
