//! Streams of commands, told from random ones.
//!
//! **Invariant:** memory is fixed; the oldest of more streams is forgotten.

/// Streams told apart, to know sequential requests from random ones.
const STREAMS: usize = 16;

/// Where the latest streams ended.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    ends: [u64; STREAMS],
    next: usize,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams { ends: [u64::MAX; STREAMS], next: 0 }
    }
}

impl Streams {
    /// Whether a request continues where an earlier one ended.
    pub(super) fn continues(&mut self, offset: u64, bytes: u64) -> bool {
        match self.ends.iter().position(|&end| end == offset) {
            Some(stream) => {
                self.ends[stream] = offset + bytes;
                true
            }
            None => {
                self.ends[self.next] = offset + bytes;
                self.next = (self.next + 1) % STREAMS;
                false
            }
        }
    }
}
