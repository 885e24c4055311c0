//! What becomes of tasks behind a stonewall (`-D`), by directives alone.

use super::TOOL;
use super::options::{Command, Offsets, Shape};
use crate::Refusal;

/// What stands beside `-D` by name alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WearOut {
    /// `stoneWallingWearOut`: behind `-D` each task goes on to as many transfers as the furthest one had done.
    pub is_on: bool,
    /// `stoneWallingWearOutIterations`: no task does more transfers.
    pub transfers: Option<u64>,
    /// `stoneWallingStatusFile`: holds how many each has done, for a later call that reads.
    pub status_file: Option<String>,
}

impl Shape {
    /// Bytes that a task moves: all, or those of so many transfers.
    pub fn moved_by_task(&self) -> u64 {
        let most = self.wear_out.transfers.map(|transfers| transfers.saturating_mul(self.transfer));
        most.unwrap_or(u64::MAX).min(self.of_task())
    }

    /// How far a file of so many bytes is read.
    pub fn reads_to(&self, bytes: u64) -> u64 {
        let moved = self.moved_by_task();
        if self.offsets != Offsets::InOrder || moved == self.of_task() {
            return bytes;
        }
        if self.file_per_task {
            return moved;
        }
        // The last task has its block last in each segment.
        assert!(self.block > 0, "a block has a byte at least");
        let before = moved.saturating_sub(1) / self.block;
        let tasks = u64::from(self.tasks);
        (before * tasks + tasks - 1) * self.block + (moved - before * self.block)
    }
}

impl Command {
    /// What the original refuses of a wear-out, and what is not known in time here.
    pub(super) fn check_wear_out(&self) -> Result<(), Refusal> {
        let WearOut { is_on, status_file, .. } = &self.shape.wear_out;
        let reads = self.reads || self.checks_writes;
        let wrong = [
            (
                *is_on && self.shape.stonewall.is_none(),
                "`stoneWallingWearOut` is of a phase that `-D` ends; say it, too",
            ),
            (
                *is_on && reads,
                "how much is there to read is known once `stoneWallingWearOut` has written it; write with `-w -k` alone, and \
                 read in a call with `stoneWallingStatusFile` or `stoneWallingWearOutIterations`",
            ),
            (
                *is_on && self.is_over_ranks,
                "`stoneWallingWearOut` counts the tasks of one process; say `-N` in place of `mpirun`",
            ),
            (
                status_file.is_some() && !self.keeps,
                "`stoneWallingStatusFile` is for a later call that reads; say `-k` too",
            ),
            (
                status_file.is_some() && self.writes && !is_on,
                "`stoneWallingStatusFile` is written by `stoneWallingWearOut`; say that, too",
            ),
        ];
        Refusal::check(TOOL, &wrong)
    }

    /// The same with so many transfers of each task, as the file of `stoneWallingStatusFile` says.
    pub fn with_transfers(mut self, transfers: u64) -> Command {
        self.shape.wear_out.transfers = Some(transfers);
        self
    }
}
