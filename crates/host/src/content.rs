//! What writes contain.
//!
//! Each 4 KiB block is generated from a number of its own, so that no two blocks are equal unless asked for and
//! a run of them does not compress. Four xorshift generators side by side keep the cost near a copy's.

use std::cell::Cell;
use std::sync::OnceLock;

use rand_core::Rng;
use units::convert::{narrow, truncated};
use units::{Bytes, Nanos};
use workload::spec::Content;
use workload::{Stream, Streams};

use crate::monitor::thread_time;

/// The unit in which storage finds repeated and compressible data.
pub const BLOCK: Bytes = Bytes::new(4096);

const LANES: usize = 4;

/// Of so many bytes that are made, one buffer is timed: two calls of the kernel for some 250 writes of 4 KiB.
const TIMED_EVERY: u64 = 1 << 20;

thread_local! {
    /// Processor time that this thread has spent making content, in nanoseconds, as far as it was timed.
    static SPENT_NS: Cell<u64> = const { Cell::new(0) };
}

/// Processor time that the calling thread has spent making content so far, extrapolated from the buffers that were timed.
pub fn time_spent() -> Nanos {
    Nanos::new(SPENT_NS.get())
}

/// Fills buffers with content of one kind.
#[derive(Debug)]
pub struct Filler {
    content: Content,
    key: u64,
    made: u64,
    draws: Stream,
    /// Bytes made since a buffer was timed, that one not among them.
    untimed: u64,
}

impl Filler {
    /// Content for the worker called `name`; workers with other names or seeds write other data.
    pub fn new(content: Content, streams: Streams, name: &str) -> Filler {
        if let Content::Random { compress, dedupe } = content {
            assert!(compress >= 1.0 && dedupe >= 1.0, "data do not become larger by what is saved of them");
        }
        let draws = streams.open(&format!("content/{name}"));
        Filler { content, key: streams.key(&format!("blocks/{name}")), made: 0, draws, untimed: 0 }
    }

    /// Whether each write has content of its own, so that a buffer is filled again once it was written.
    pub fn renews(&self) -> bool {
        self.content != Content::Reused
    }

    /// Makes the content of the next write. The last block may be shorter. What it costs goes to [`time_spent`].
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.untimed += buffer.len() as u64;
        if self.untimed < TIMED_EVERY {
            return self.make(buffer);
        }
        let began = thread_time();
        self.make(buffer);
        let took = thread_time().get().saturating_sub(began.get()).saturating_sub(own_cost().get());
        let each = took as f64 / buffer.len().max(1) as f64;
        let all: u64 = truncated(each * self.untimed as f64);
        SPENT_NS.set(SPENT_NS.get().saturating_add(all));
        self.untimed = 0;
    }

    fn make(&mut self, buffer: &mut [u8]) {
        let (compress, dedupe) = match &self.content {
            Content::Zeros => return buffer.fill(0),
            Content::Pattern(bytes) => {
                let chunks = buffer.chunks_mut(bytes.len().max(1));
                return chunks.for_each(|chunk| chunk.copy_from_slice(&bytes[..chunk.len()]));
            }
            Content::Reused => (1.0, 1.0),
            &Content::Random { compress, dedupe } => (compress, dedupe),
        };
        for block in buffer.chunks_mut(narrow::<usize>(BLOCK.get())) {
            let number = self.next_number(dedupe);
            let random = truncated::<usize>((block.len() as f64 / compress).ceil());
            let (noise, rest) = block.split_at_mut(random.min(block.len()));
            fill_with_noise(noise, self.key ^ number);
            rest.fill(0);
        }
    }

    /// The number of the next block: a new one, or with probability 1 - 1/dedupe an earlier one.
    fn next_number(&mut self, dedupe: f64) -> u64 {
        let repeat = dedupe > 1.0 && self.made > 0 && {
            let drawn = (self.draws.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            drawn < 1.0 - 1.0 / dedupe
        };
        if repeat {
            let earlier = 1 + self.draws.next_u64() % self.made;
            debug_assert!(earlier <= self.made, "a block that is repeated must have been made");
            return earlier;
        }
        self.made += 1;
        self.made
    }
}

/// What a reading of the clock adds to what is timed by two of them: the least of some.
fn own_cost() -> Nanos {
    static COST: OnceLock<Nanos> = OnceLock::new();
    *COST.get_or_init(|| {
        let pair = |_| {
            let began = thread_time();
            thread_time().get().saturating_sub(began.get())
        };
        Nanos::new((0..32).map(pair).min().unwrap_or(0))
    })
}

/// Incompressible bytes that depend on `number` alone.
fn fill_with_noise(bytes: &mut [u8], number: u64) {
    let mut lanes = [0u64; LANES];
    let mut stream = Streams::new(number).open("");
    lanes.iter_mut().for_each(|lane| *lane = stream.next_u64() | 1);
    debug_assert!(lanes.iter().all(|lane| *lane != 0), "a generator at zero would stay there");
    let (chunks, tail) = bytes.as_chunks_mut::<{ LANES * 8 }>();
    for chunk in chunks {
        for (word, lane) in chunk.as_chunks_mut::<8>().0.iter_mut().zip(&mut lanes) {
            *word = xorshift(lane).to_le_bytes();
        }
    }
    for byte in tail {
        *byte = stream.next_u64().to_le_bytes()[0];
    }
}

/// One step of Marsaglia's xorshift64 (*Xorshift RNGs*, 2003), period 2^64 - 1; shifts that vectorise.
fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::entropy;
    use std::collections::HashSet;

    fn filled(compress: f64, dedupe: f64, blocks: usize) -> Vec<u8> {
        let mut buffer = vec![0; blocks * 4096];
        Filler::new(Content::Random { compress, dedupe }, Streams::new(1), "test").fill(&mut buffer);
        buffer
    }

    #[test]
    fn content_is_incompressible_and_without_repeats_by_default() {
        let data = filled(1.0, 1.0, 1000);
        assert!(entropy(&data) > 7.999);
        assert_eq!(data.chunks(512).collect::<HashSet<_>>().len(), 8000);
    }

    #[test]
    fn what_content_costs_is_counted_for_all_that_was_made_and_by_thread() {
        let content = Content::Random { compress: 1.0, dedupe: 1.0 };
        let mut filler = Filler::new(content, Streams::new(1), "test");
        let mut buffer = vec![0; 4096];
        let before = (time_spent(), thread_time());
        (0..20_000).for_each(|_| filler.fill(&mut buffer));
        let counted = time_spent().get() - before.0.get();
        let all = thread_time().get() - before.1.get();
        // The loop does nothing else; a sample of 78 buffers says so within a factor.
        assert!(counted > all / 4 && counted < all.saturating_mul(4), "{counted} ns of {all} ns");
        assert_eq!(std::thread::spawn(time_spent).join().unwrap(), Nanos::ZERO);
        let mut small = vec![0; 512];
        let spent = time_spent();
        Filler::new(Content::Zeros, Streams::new(1), "test").fill(&mut small);
        assert_eq!(time_spent(), spent, "too little to be timed");
    }

    #[test]
    fn a_pattern_begins_with_each_request_and_repeats() {
        let mut buffer = [0; 7];
        Filler::new(Content::Pattern(vec![1, 2, 3]), Streams::new(1), "test").fill(&mut buffer);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn two_to_one_content_is_half_zeros_in_every_block() {
        for block in filled(2.0, 1.0, 10).chunks(4096) {
            assert!(block[2048..].iter().all(|byte| *byte == 0));
            assert!(entropy(&block[..2048]) > 7.9);
        }
    }

    #[test]
    fn three_to_one_dedupable_content_has_a_third_of_distinct_blocks() {
        let data = filled(1.0, 3.0, 9000);
        let distinct = data.chunks(4096).collect::<HashSet<_>>().len();
        assert!((2800..=3200).contains(&distinct), "{distinct} distinct of 9000");
    }

    #[test]
    fn workers_write_different_data_and_a_seed_the_same() {
        let make = |seed, name| {
            let mut buffer = [0; 600];
            let content = Content::Random { compress: 1.0, dedupe: 1.0 };
            Filler::new(content, Streams::new(seed), name).fill(&mut buffer);
            buffer
        };
        assert_eq!(make(1, "a"), make(1, "a"));
        assert_ne!(make(1, "a"), make(1, "b"));
    }
}
