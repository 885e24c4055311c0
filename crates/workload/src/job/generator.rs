//! What the next request asks and where: operation, size and place.
//!
//! **Invariant:** what comes next depends on the specification alone.

use units::convert::narrow;
use units::{Bytes, Nanos};

use crate::Op;
use crate::address::{Addresses, Grain, Part, Step};
use crate::choice::{Choice, op_weights, size_weights};
use crate::lines::{Drawn, Lines};
use crate::rng::{Stream, Streams};
use crate::spec::Pattern;
use crate::trace::Cursor;

use super::spec::{FileMap, JobSpec, concatenated, striped};

/// What a request asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub op: Op,
    /// The position of its size among all sizes.
    pub size: u16,
    pub len: u32,
}

impl What {
    pub const FLUSH: What = What { op: Op::Flush, size: 0, len: 0 };
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub file: u16,
    pub offset: Bytes,
}

/// Draws what requests ask and where.
#[derive(Debug)]
pub(super) struct Generator {
    addresses: Vec<Addresses>,
    files: FileMap,
    turn: usize,
    ops: Choice<Op>,
    sizes: Choice<(u16, u32)>,
    pub lines: Option<Lines>,
    /// Where the worker is in the trace that it asks again, if it does.
    pub trace: Option<Cursor>,
}

impl Generator {
    /// The generator of a worker; `own` opens its own streams by purpose.
    pub fn new(spec: &JobSpec, streams: Streams, own: impl Fn(&str) -> Stream) -> Generator {
        Generator {
            addresses: generators(spec, streams),
            trace: match &spec.pattern {
                Pattern::Trace(replay) => Cursor::new(replay, &spec.sizes, spec.worker),
                _ => None,
            },
            files: spec.files.clone(),
            turn: 0,
            ops: Choice::new(&op_weights(spec.mix), own("op")),
            sizes: Choice::new(&size_weights(&spec.sizes), own("size")),
            lines: Lines::new(&spec.lines, &spec.sizes, own),
        }
    }

    /// What every request asks, where all ask the same of one file.
    pub fn only(&self) -> Option<What> {
        let (op, (size, len)) = (self.ops.only()?, self.sizes.only()?);
        let is_uniform = op != Op::Flush && self.lines.is_none() && self.files == FileMap::One;
        is_uniform.then_some(What { op, size, len })
    }

    /// Gives the offsets of `count` requests of `len` bytes in file 0; only where [`Generator::only`] has an answer.
    #[inline]
    pub fn offsets(&mut self, len: u32, count: u32, take: impl FnMut(Bytes)) {
        self.addresses[0].each(len, count, take);
    }

    /// What the next request asks where all are of one kind.
    #[inline]
    pub fn next(&mut self) -> What {
        let op = self.ops.next();
        if op == Op::Flush {
            return What::FLUSH;
        }
        let (size, len) = self.sizes.next();
        What { op, size, len }
    }

    /// What the next request asks, how it is placed where they differ in it, and the pause after it.
    pub fn drawn(&mut self) -> Drawn {
        if let Some(trace) = &mut self.trace {
            return trace.next();
        }
        match &mut self.lines {
            Some(lines) => lines.next(),
            None => {
                let What { op, size, len } = self.next();
                Drawn { op, size, len, step: None, pause: Nanos::ZERO }
            }
        }
    }

    /// Where a request of so many bytes goes; one of none, a flush, to the file whose turn it is.
    #[inline]
    pub fn place(&mut self, len: u32) -> Place {
        if len == 0 {
            return self.flush_place();
        }
        let at = self.addresses[self.turn].next(len);
        self.mapped(at)
    }

    /// Where a request goes that [`Generator::drawn`] gave last.
    pub fn place_of(&mut self, drawn: &Drawn) -> Place {
        match (&self.trace, drawn.step) {
            (Some(trace), _) => {
                let (file, offset) = trace.place();
                Place { file, offset }
            }
            (None, None) => self.place(drawn.len),
            (None, Some(step)) => self.place_by(drawn.len, step),
        }
    }

    fn place_by(&mut self, len: u32, step: Step) -> Place {
        if len == 0 {
            return self.flush_place();
        }
        let at = self.addresses[self.turn].next_of(len, step);
        self.mapped(at)
    }

    /// A flush goes to the file whose turn it is.
    pub fn flush_place(&self) -> Place {
        let file = match &self.files {
            FileMap::Turns { first, .. } => first + narrow::<u16>(self.turn),
            _ => 0,
        };
        Place { file, offset: Bytes::ZERO }
    }

    /// The file of an address and the offset within it.
    #[inline]
    fn mapped(&mut self, at: Bytes) -> Place {
        let (file, offset) = match &self.files {
            FileMap::One => (0, at),
            FileMap::Turns { first, count } => {
                let file = first + narrow::<u16>(self.turn);
                self.turn = if self.turn + 1 == usize::from(*count) { 0 } else { self.turn + 1 };
                (file, at)
            }
            FileMap::Concatenated(lengths) => concatenated(lengths, at),
            FileMap::Striped { unit, count } => striped(*unit, *count, at),
        };
        Place { file, offset }
    }
}

/// A generator for each file that is visited in turn, otherwise one; none where a trace says where requests go. Files
/// have orders of their own.
fn generators(spec: &JobSpec, streams: Streams) -> Vec<Addresses> {
    if matches!(spec.pattern, Pattern::Trace(_)) {
        return Vec::new();
    }
    let keeps_slots = matches!(spec.files, FileMap::Concatenated(_) | FileMap::Striped { .. });
    let grain = Grain { align: spec.align, largest: spec.sizes.largest(), keeps_slots };
    let continues = spec.lines.iter().any(|line| line.jumps.is_some());
    let make = if continues { Addresses::continued } else { Addresses::new };
    let generator = |name: &str| make(&spec.pattern, spec.region, spec.part, grain, streams, name);
    match spec.files {
        FileMap::Turns { first, count } => {
            (first..first + count).map(|file| generator(&format!("{}/file{file}", spec.name))).collect()
        }
        // A region of its own, and an order of its own in it.
        _ if spec.part == Part::WHOLE && spec.worker.of > 1 => {
            vec![generator(&format!("{}/worker{}", spec.name, spec.worker.index))]
        }
        _ => vec![generator(&spec.name)],
    }
}
