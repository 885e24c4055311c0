//! The buffers of a worker and what its writes contain.
//!
//! Content is made anew when a slot becomes free, not when its next request is planned: then no request's
//! latency includes it. Reads have pieces of their own, because what they fetch must not be written back.

use units::convert::narrow;
use units::{Bytes, Instant};
use workload::spec::Workload;
use workload::{Completion, JobSpec, Op, Outcome, Request, Streams};

use super::{Engine, EngineError, Wait};
use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::content::Filler;

/// Requests that a synchronous engine carried out as they were handed over, until they are asked for.
#[derive(Debug, Default)]
pub(super) struct Ended(Vec<(Request, Outcome)>);

impl Ended {
    pub(super) fn push(&mut self, request: &Request, outcome: Outcome) {
        self.0.push((*request, outcome));
    }

    /// Hands all of them over, stamped after the last one ended, and makes new content for slots that wrote.
    pub(super) fn hand_over(
        &mut self,
        clock: &Clock,
        wait: Wait,
        payload: &mut Payload,
        done: &mut impl FnMut(Completion),
    ) -> Instant {
        if let (true, Wait::Until(due, _)) = (self.0.is_empty(), wait) {
            clock.sleep_until(due);
        }
        let finished_at = clock.now();
        let mut wrote = false;
        for (request, outcome) in self.0.drain(..) {
            done(Completion { token: request.token, outcome, finished_at });
            if request.op == Op::Write {
                payload.refill(request.token.0 as usize);
                wrote = true;
            }
        }
        if wrote { clock.now() } else { finished_at }
    }
}

/// An engine that has the data of all its requests in one place.
pub trait HasPayload: Engine {
    /// The data.
    fn payload(&mut self) -> &mut Payload;
}

/// A read piece for each slot and, if the workload writes, a write piece with content ready.
#[derive(Debug)]
pub struct Payload {
    buffers: Buffers,
    depth: usize,
    largest: usize,
    writes: Option<Filler>,
}

impl Payload {
    /// Memory and content for one worker.
    pub fn new(workload: &Workload, job: &JobSpec) -> Result<Payload, EngineError> {
        let depth = job.depth as usize;
        let writes = job.writes();
        let largest = job.sizes.largest();
        let pieces = if writes { 2 * depth } else { depth };
        let buffers = Buffers::new(pieces, largest, workload.engine.huge_pages)?;
        let name = format!("{}/{}", job.name, job.worker.index);
        let filler = writes.then(|| Filler::new(workload.content.clone(), Streams::new(job.seed), &name));
        let mut payload = Payload { buffers, depth, largest: narrow::<usize>(largest.get()), writes: filler };
        if writes {
            (0..depth).for_each(|slot| payload.fill(slot));
        }
        Ok(payload)
    }

    fn fill(&mut self, slot: usize) {
        if let Some(filler) = &mut self.writes {
            filler.fill(self.buffers.piece_mut(self.depth + slot, self.largest));
        }
    }

    /// Where the data of `request` is or goes, which is no longer than a piece.
    #[inline]
    pub fn address(&self, request: &Request) -> *mut u8 {
        assert!(request.len as usize <= self.largest, "a request fits its piece of the buffers");
        let slot = request.token.0 as usize;
        self.buffers.piece(if request.op == Op::Write { self.depth + slot } else { slot })
    }

    /// The data of `request` as bytes.
    pub fn bytes(&mut self, request: &Request) -> &mut [u8] {
        let slot = request.token.0 as usize;
        let piece = if request.op == Op::Write { self.depth + slot } else { slot };
        self.buffers.piece_mut(piece, request.len as usize)
    }

    /// Makes new content for a slot whose write has ended.
    pub fn refill(&mut self, slot: usize) {
        self.fill(slot);
    }

    /// What the next write of a slot contains, as long as the largest request; `None` where nothing is written.
    pub fn content(&mut self, slot: usize) -> Option<&[u8]> {
        self.writes.as_ref()?;
        Some(self.buffers.piece_mut(self.depth + slot, self.largest))
    }

    /// Slots.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether slots need new content after a write.
    pub fn writes(&self) -> bool {
        self.writes.is_some()
    }

    /// The whole memory, for registration with the kernel.
    pub fn whole(&self) -> (*mut u8, usize) {
        self.buffers.whole()
    }

    /// Size of the whole memory.
    pub fn size(&self) -> Bytes {
        Bytes::new(self.buffers.whole().1 as u64)
    }
}
