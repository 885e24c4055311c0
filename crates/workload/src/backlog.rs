//! Reads of what was written, after so many writes and at the end.
//!
//! They are made of writes that have ended well, in their order, and are no part of the stream that the specification
//! asks for: no digest holds them, and no count ends with them.

use std::collections::VecDeque;

use units::Bytes;

/// A block that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub file: u16,
    pub offset: Bytes,
    pub len: u32,
    /// The position of its size among the sizes of its operation.
    pub size: u16,
}

/// What waits to be read back.
#[derive(Debug)]
pub(crate) struct Backlog {
    every: usize,
    written: Vec<Written>,
    due: VecDeque<Written>,
}

impl Backlog {
    /// Reads back after every so many writes.
    pub(crate) fn new(every: u32) -> Backlog {
        // A backlog that is read back at the end alone grows as it is written.
        let kept = (every as usize).min(4096);
        Backlog {
            every: every as usize,
            written: Vec::with_capacity(kept),
            due: VecDeque::with_capacity(kept),
        }
    }

    /// Books a write that has ended well.
    pub(crate) fn push(&mut self, written: Written) {
        self.written.push(written);
        if self.written.len() >= self.every {
            self.due.extend(self.written.drain(..));
        }
    }

    /// The next block to be read back.
    pub(crate) fn pop(&mut self) -> Option<Written> {
        self.due.pop_front()
    }

    /// Whether any is due.
    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// All that is left is due: no more is written.
    pub(crate) fn close(&mut self) {
        self.due.extend(self.written.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_so_many_at_a_time_and_the_rest_at_the_end() {
        let mut backlog = Backlog::new(2);
        let block = |offset| Written { file: 0, offset: Bytes::new(offset), len: 1, size: 0 };
        backlog.push(block(0));
        assert!(!backlog.is_due());
        backlog.push(block(1));
        backlog.push(block(2));
        let read = [backlog.pop(), backlog.pop(), backlog.pop()];
        assert_eq!(read, [Some(block(0)), Some(block(1)), None]);
        backlog.close();
        assert_eq!((backlog.pop(), backlog.pop()), (Some(block(2)), None));
    }
}
