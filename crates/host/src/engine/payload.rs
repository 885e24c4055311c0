//! The buffers of a worker and what its writes contain.
//!
//! Content is made anew when a slot becomes free, not when its next request is planned: then no request's
//! latency includes it. Reads have pieces of their own, because what they fetch must not be written back.

use units::Bytes;
use units::convert::narrow;
use workload::spec::Workload;
use workload::{JobSpec, Op, Request, Streams};

use super::{Engine, EngineError};
use crate::buffers::Buffers;
use crate::content::Filler;

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
        assert!(depth > 0, "a job must have a slot");
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
            debug_assert!(slot < self.depth, "the job must have the slot");
            filler.fill(self.buffers.piece_mut(self.depth + slot, self.largest));
        }
    }

    /// Where the data of `request` is or goes, which is no longer than a piece.
    #[inline]
    pub fn address(&self, request: &Request) -> *mut u8 {
        assert!(request.len as usize <= self.largest, "a request fits its piece of the buffers");
        self.buffers.piece(self.piece_of(request))
    }

    #[inline]
    fn piece_of(&self, request: &Request) -> usize {
        let slot = request.token.0 as usize;
        debug_assert!(slot < self.depth, "the job must have the slot");
        debug_assert!(
            request.op != Op::Write || self.writes.is_some(),
            "only who writes has pieces to write"
        );
        if request.op == Op::Write { self.depth + slot } else { slot }
    }

    /// The data of `request` as bytes.
    pub fn bytes(&mut self, request: &Request) -> &mut [u8] {
        self.buffers.piece_mut(self.piece_of(request), request.len as usize)
    }

    /// Makes new content for a slot whose write has ended, unless content is made once.
    pub fn refill(&mut self, slot: usize) {
        if self.writes.as_ref().is_some_and(Filler::renews) {
            self.fill(slot);
        }
    }

    /// What the next write of a slot contains, as long as the largest request; `None` where nothing is written.
    pub fn content(&mut self, slot: usize) -> Option<&[u8]> {
        self.writes.as_ref()?;
        assert!(slot < self.depth, "the job must have the slot");
        Some(self.buffers.piece_mut(self.depth + slot, self.largest))
    }

    /// Bytes of the largest request that it has room for.
    pub fn largest(&self) -> u32 {
        narrow::<u32>(self.largest)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{payload, request};

    #[test]
    fn each_slot_has_a_piece_to_read_into_and_where_anything_is_written_another_to_write_from() {
        let mut both = payload(3, 0.5);
        assert_eq!((both.depth(), both.writes()), (3, true));
        let mut places: Vec<usize> = (0..3)
            .flat_map(|slot| [Op::Read, Op::Write].map(|op| both.address(&request(op, slot)) as usize))
            .collect();
        for (op, slot) in [(Op::Read, 0), (Op::Write, 0), (Op::Read, 2), (Op::Write, 2)] {
            let address = both.address(&request(op, slot)) as usize;
            assert_eq!(both.bytes(&request(op, slot)).as_ptr() as usize, address);
        }
        let content = both.content(1).expect("it writes").as_ptr() as usize;
        assert_eq!(content, both.address(&request(Op::Write, 1)) as usize);
        let (base, len) = both.whole();
        assert_eq!((narrow::<usize>(both.size().get()), len), (6 * 4096, 6 * 4096));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places, (0..6).map(|piece| base as usize + piece * 4096).collect::<Vec<_>>());
        let mut reads = payload(3, 1.0);
        assert_eq!((reads.writes(), reads.size()), (false, Bytes::KIB * 12));
        assert!(reads.content(0).is_none());
    }

    #[test]
    #[should_panic(expected = "fits its piece")]
    fn a_request_longer_than_its_piece_has_no_place() {
        payload(3, 1.0).address(&Request { len: 4097, ..request(Op::Read, 0) });
    }
}
