//! The journal: changed blocks gather in the running transaction until it is committed; then they may be written to
//! their own places at leisure.
//!
//! A commit writes a descriptor and the changed blocks one after the other, has them made durable, and then a commit
//! block, made durable too. Who flushes while a commit is in progress waits for the next one, all of them together.
//! Source: Linux, `Documentation/filesystems/ext4/journal.rst`, and `jbd2_journal_commit_transaction`.
//!
//! **Invariant:** one commit is in progress at a time; who waits is answered by the commit that has its changes.

use std::collections::{BTreeSet, VecDeque};

use units::Instant;
use workload::{Errno, Op};

use super::place::{BLOCK, JOURNAL};

/// The journal of a file system.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// Blocks changed by the running transaction.
    changed: BTreeSet<u64>,
    /// Who waits for its commit.
    waiting: Vec<usize>,
    in_progress: Option<Commit>,
    /// Where the next commit is written.
    head: u64,
    /// Blocks that are in the journal only, and from when on they are written to their places.
    checkpoint: VecDeque<(Instant, u64)>,
}

/// A commit in progress.
#[derive(Clone, Debug)]
struct Commit {
    blocks: BTreeSet<u64>,
    waiting: Vec<usize>,
    stage: Stage,
    failed: Option<Errno>,
}

/// What is in flight for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Blocks,
    Barrier,
    Record,
    Durable,
}

impl Journal {
    /// Takes blocks into the running transaction.
    pub fn change(&mut self, blocks: &[u64]) {
        self.changed.extend(blocks);
    }

    /// Has a worker wait for the commit of the running transaction.
    pub fn wait(&mut self, worker: usize) {
        self.waiting.push(worker);
    }

    /// Whether the running transaction has changes.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Whether blocks are in the journal only.
    pub fn has_checkpoint(&self) -> bool {
        !self.checkpoint.is_empty()
    }

    /// Whether somebody waits for a commit that has not begun.
    pub fn is_wanted(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The first request of a commit, unless one is in progress or there is nothing to commit.
    pub fn begin(&mut self) -> Option<(Op, u64, u64)> {
        if self.in_progress.is_some() || (self.changed.is_empty() && self.waiting.is_empty()) {
            return None;
        }
        let (blocks, waiting) = (std::mem::take(&mut self.changed), std::mem::take(&mut self.waiting));
        // Where nothing was changed since the last commit a flush is a barrier and no more.
        let stage = if blocks.is_empty() { Stage::Durable } else { Stage::Blocks };
        let len = (blocks.len() as u64 + 1) * BLOCK;
        self.in_progress = Some(Commit { blocks, waiting, stage, failed: None });
        Some(match stage {
            Stage::Blocks => (Op::Write, self.advance(len), len),
            _ => (Op::Flush, 0, 0),
        })
    }

    /// The next request of the commit in progress; `None` when it has ended. Its blocks are written to their places
    /// from `expires` on.
    pub fn step(&mut self, failed: Option<Errno>, expires: Instant) -> Option<(Op, u64, u64)> {
        let commit = self.in_progress.as_mut()?;
        commit.failed = commit.failed.or(failed);
        let next = match commit.stage {
            Stage::Blocks => Stage::Barrier,
            Stage::Barrier => Stage::Record,
            Stage::Record => Stage::Durable,
            Stage::Durable => {
                let last = self.checkpoint.back();
                debug_assert!(
                    last.is_none_or(|last| last.0 <= expires),
                    "blocks must expire in order of their commits"
                );
                self.checkpoint.extend(commit.blocks.iter().map(|block| (expires, *block)));
                return None;
            }
        };
        commit.stage = next;
        Some(match next {
            Stage::Record => (Op::Write, self.advance(BLOCK), BLOCK),
            _ => (Op::Flush, 0, 0),
        })
    }

    /// Takes the ended commit away: who waited for it, and why it failed, if it did.
    pub fn ended(&mut self) -> (Vec<usize>, Option<Errno>) {
        let stage = self.in_progress.as_ref().map(|commit| commit.stage);
        debug_assert!(
            stage.is_none_or(|stage| stage == Stage::Durable),
            "a commit must have been made durable"
        );
        self.in_progress.take().map_or((Vec::new(), None), |commit| (commit.waiting, commit.failed))
    }

    /// The next block to be written to its place.
    pub fn checkpoint(&mut self, now: Instant) -> Option<u64> {
        let (at, _) = self.checkpoint.front()?;
        if *at > now {
            return None;
        }
        self.checkpoint.pop_front().map(|(_, block)| block)
    }

    /// Where `len` bytes of journal begin; it is written round and round.
    fn advance(&mut self, len: u64) -> u64 {
        if self.head + len > JOURNAL {
            self.head = 0;
        }
        debug_assert!(self.head <= JOURNAL, "the journal must be written within its bounds");
        let at = self.head;
        self.head += len;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Instant = Instant::from_nanos(9);

    #[test]
    fn a_commit_is_blocks_barrier_record_barrier_and_answers_those_who_waited_when_it_began() {
        let mut journal = Journal::default();
        journal.change(&[10 * BLOCK, 20 * BLOCK, 10 * BLOCK]);
        journal.wait(1);
        assert_eq!(journal.begin(), Some((Op::Write, 0, 3 * BLOCK)));
        journal.wait(2);
        assert_eq!(journal.begin(), None, "one at a time");
        assert_eq!(journal.step(None, LATER), Some((Op::Flush, 0, 0)));
        assert_eq!(journal.step(None, LATER), Some((Op::Write, 3 * BLOCK, BLOCK)));
        assert_eq!(journal.step(None, LATER), Some((Op::Flush, 0, 0)));
        assert_eq!(journal.step(None, LATER), None);
        assert_eq!(journal.ended(), (vec![1], None));
        assert!(journal.is_wanted(), "the second waits for the next");
        // It changed nothing of its own, so a barrier is all it needs.
        assert_eq!(journal.begin(), Some((Op::Flush, 0, 0)));
        assert_eq!(journal.step(None, LATER), None);
        assert_eq!(journal.ended(), (vec![2], None));
        assert_eq!(journal.checkpoint(Instant::START), None);
        assert_eq!(
            [journal.checkpoint(LATER), journal.checkpoint(LATER)],
            [Some(10 * BLOCK), Some(20 * BLOCK)]
        );
    }

    #[test]
    fn a_failure_at_any_step_fails_those_who_wait() {
        let mut journal = Journal::default();
        journal.change(&[BLOCK]);
        journal.wait(3);
        let _first = journal.begin();
        let _second = journal.step(Some(Errno(5)), LATER);
        while journal.step(None, LATER).is_some() {}
        assert_eq!(journal.ended(), (vec![3], Some(Errno(5))));
    }

    #[test]
    fn the_journal_is_written_round_and_round_within_its_bounds() {
        let mut journal = Journal::default();
        for round in 0..200_000u64 {
            journal.change(&[round * BLOCK]);
            let (_, at, len) = journal.begin().expect("there is a change");
            assert!(at + len <= JOURNAL);
            while journal.step(None, LATER).is_some() {}
            let _ended = journal.ended();
        }
    }
}
