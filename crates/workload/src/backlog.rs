//! Reads of what was written, after so many writes and at the end.
//!
//! They are made of writes that have ended well, in their order, and are no part of the stream that the specification
//! asks for: no digest holds them, and no count ends with them.

use std::collections::VecDeque;

/// Reads, with their classes, of what was written.
#[derive(Debug)]
pub(crate) struct Backlog<R> {
    every: usize,
    written: Vec<(R, u16)>,
    due: VecDeque<(R, u16)>,
}

impl<R> Backlog<R> {
    /// Reads back after every so many writes.
    pub(crate) fn new(every: u32) -> Backlog<R> {
        assert!(every > 0, "something is written before it is read back");
        // A backlog that is read back at the end alone grows as it is written.
        let kept = (every as usize).min(4096);
        Backlog {
            every: every as usize,
            written: Vec::with_capacity(kept),
            due: VecDeque::with_capacity(kept),
        }
    }

    /// Adds the read of what a write that has ended well wrote.
    pub(crate) fn push(&mut self, read: (R, u16)) {
        self.written.push(read);
        if self.written.len() >= self.every {
            self.due.extend(self.written.drain(..));
        }
        debug_assert!(self.written.len() < self.every, "what is complete is due");
    }

    /// The next read that is due.
    pub(crate) fn pop(&mut self) -> Option<(R, u16)> {
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
        let block = |offset: u64| (offset, 0);
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
