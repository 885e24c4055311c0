//! Data that a drive has acknowledged and not yet put on its media.
//!
//! **Invariant:** what it holds never exceeds its size, but for a single write that is larger.

use std::collections::VecDeque;

use units::{Bytes, Instant};

/// Memory in front of the media that takes writes.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    size: u64,
    held: u64,
    leaving: VecDeque<(Instant, u64)>,
}

impl WriteBuffer {
    /// An empty one.
    pub fn new(size: Bytes) -> WriteBuffer {
        WriteBuffer { size: size.get(), held: 0, leaving: VecDeque::new() }
    }

    /// Whether it can hold as much at all.
    pub fn fits(&self, bytes: u64) -> bool {
        self.size >= bytes
    }

    /// When `bytes` more have room; what has left by `now` is forgotten.
    pub fn room(&mut self, now: Instant, bytes: u64) -> Instant {
        let mut at = now;
        while let Some(&(leaves, amount)) = self.leaving.front() {
            if leaves > now && self.held + bytes <= self.size {
                break;
            }
            at = at.max(leaves);
            debug_assert!(amount <= self.held, "what leaves must have been held");
            self.held -= amount;
            self.leaving.pop_front();
        }
        debug_assert!(at >= now, "room must not be found in the past");
        debug_assert!(
            self.held + bytes <= self.size || self.leaving.is_empty(),
            "no more may be held than fits, but for a single write that is larger",
        );
        at
    }

    /// Holds `bytes` until they are on the media at `leaves`.
    pub fn hold(&mut self, bytes: u64, leaves: Instant) {
        self.held += bytes;
        self.leaving.push_back((leaves, bytes));
    }

    /// Of what it holds, what is not on the media at `now`.
    pub fn held_at(&self, now: Instant) -> Bytes {
        Bytes::new(self.leaving.iter().filter(|(leaves, _)| *leaves > now).map(|(_, bytes)| bytes).sum())
    }

    /// When the last of what it holds is on the media; `None` where it is empty.
    pub fn last(&self) -> Option<Instant> {
        self.leaving.iter().map(|&(leaves, _)| leaves).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_finds_no_room_waits_for_what_leaves_first() {
        let at = Instant::from_nanos;
        let mut buffer = WriteBuffer::new(Bytes::new(100));
        for leaves in [10, 20, 30] {
            assert_eq!(buffer.room(at(0), 30), at(0));
            buffer.hold(30, at(leaves));
        }
        assert_eq!(buffer.room(at(5), 30), at(10), "90 are held");
        buffer.hold(30, at(40));
        assert_eq!((buffer.room(at(25), 30), buffer.last()), (at(25), Some(at(40))));
        assert_eq!(buffer.room(at(26), 1_000), at(40), "larger than all of it: once it is empty");
    }
}
