//! Where a worker is in a trace: it takes every so many of the requests, in order.

use std::sync::Arc;

use units::convert::{narrow, truncated};
use units::{Bytes, Nanos};

use super::{Replay, Trace, TraceRequest};
use crate::Op;
use crate::address::RegionShare;
use crate::lines::Drawn;
use crate::spec::SizeSplit;

/// The requests of one worker.
#[derive(Debug)]
pub(crate) struct Cursor {
    trace: Arc<Trace>,
    first: usize,
    next: usize,
    step: usize,
    /// Lengths in ascending order, each with its position among all sizes.
    sizes: Vec<(u32, u16)>,
    /// The position of the size that stands for all others.
    others: u16,
    /// Where the last request goes.
    file: u16,
    offset: Bytes,
    /// Nanoseconds to pause for one of the trace, where requests follow each other after pauses.
    pauses: Option<f64>,
}

impl Cursor {
    /// The requests of `part` of the workers; `None` where the replay has not been read, or has nothing.
    pub fn new(replay: &Replay, sizes: &SizeSplit, part: RegionShare) -> Option<Cursor> {
        assert!(part.index < part.of, "a worker is one of those that share the trace");
        let trace = replay.requests.clone().filter(|trace| !trace.is_empty())?;
        let first = part.index as usize % trace.len();
        let positions = (0u16..).zip(&sizes.0).map(|(index, (size, _))| (narrow::<u32>(size.get()), index));
        let mut sizes: Vec<(u32, u16)> = positions.collect();
        sizes.sort_unstable();
        let others = sizes.first().filter(|(size, _)| *size == 0).map_or(0, |(_, index)| *index);
        debug_assert!(
            sizes.is_sorted_by(|one, next| one.0 < next.0),
            "a size is looked for among sizes that differ"
        );
        Some(Cursor {
            trace,
            first,
            next: first,
            step: part.of as usize,
            sizes,
            others,
            file: 0,
            offset: Bytes::ZERO,
            pauses: None,
        })
    }

    /// The same with the pauses of a trace that has them, each of which begins when a request has ended.
    pub fn with_pauses(mut self, replay: &Replay) -> Cursor {
        self.pauses = self.trace.thinks().then_some(1.0 / replay.speed);
        self
    }

    /// From the request before `next` to that, after which the worker's next one is due.
    fn pause(&self, this: Nanos) -> Nanos {
        let next = self.trace.get(self.next).map(|next| next.at.saturating_sub(this));
        let pause =
            self.pauses.zip(next).map(|(stretch, pause)| truncated::<u64>(pause.get() as f64 * stretch));
        Nanos::new(pause.unwrap_or_default())
    }

    /// The worker's next request. After the last one it begins again: a job knows how many there are, and only where no
    /// storage is asked, to see what the program can do, does it go on.
    pub fn next(&mut self) -> Drawn {
        if self.next >= self.trace.len() {
            self.next = self.first;
        }
        let request =
            self.trace.get(self.next).expect("below the number of requests, of which there are some");
        let TraceRequest { at, op, file, offset, len, .. } = request;
        self.next += self.step;
        (self.file, self.offset) = (file, offset);
        let size = match self.sizes.binary_search_by_key(&len, |(size, _)| *size) {
            _ if op == Op::Flush => 0,
            Ok(found) => self.sizes[found].1,
            Err(_) => self.others,
        };
        debug_assert!(
            op == Op::Flush || self.sizes.iter().any(|(known, at)| *at == size && [0, len].contains(known)),
            "{len} bytes are counted among requests of another size"
        );
        Drawn { op, size, len, step: None, pause: self.pause(at) }
    }

    /// File and offset of the last request.
    pub fn place(&self) -> (u16, Bytes) {
        (self.file, self.offset)
    }
}

/// When the requests of one worker are due.
#[derive(Debug)]
pub(crate) struct Arrivals {
    trace: Arc<Trace>,
    next: usize,
    step: usize,
    /// Nanoseconds that pass for one of the trace.
    stretch: f64,
}

impl Arrivals {
    /// The instants of `part` of the workers; `None` where the replay has not been read.
    pub fn new(replay: &Replay, part: RegionShare) -> Option<Arrivals> {
        assert!(replay.speed > 0.0, "a trace at {} times its speed", replay.speed);
        let (next, step) = (part.index as usize, part.of as usize);
        Some(Arrivals { trace: replay.requests.clone()?, next, step, stretch: 1.0 / replay.speed })
    }

    /// The mean distance of the worker's requests, at least a nanosecond.
    pub fn gap_ns(&self) -> f64 {
        let requests = (self.trace.len() / self.step).max(1);
        (self.trace.duration().get() as f64 * self.stretch / requests as f64).max(1.0)
    }

    pub fn skip(&mut self, requests: u64) {
        self.next = self.next.saturating_add(self.step.saturating_mul(narrow::<usize>(requests)));
    }

    /// When the next request is due, since the start; never after the last.
    #[inline]
    pub fn next_ns(&mut self) -> f64 {
        let at = self.trace.get(self.next).map(|request| request.at.get() as f64 * self.stretch);
        self.next = self.next.saturating_add(self.step);
        at.unwrap_or(f64::INFINITY)
    }
}
