//! What is under way at the back end: operations, their chains, and the commands of these on channels and at disks.
//!
//! Plain records of it; [`BackEnd`](super::back::BackEnd) alone moves them on.

use units::{Instant, Nanos};

use crate::device::{Command, Steps};
use crate::latency::{LatencyTrace, Stage};
use crate::meter::Class;

use super::back::{OperationSpec, Owner};

/// What somebody waits for: chains side by side.
#[derive(Clone, Debug)]
pub struct Operation {
    pub owner: Owner,
    pub chains: u32,
    pub controller: u32,
    pub class: Class,
    /// The set on which background work must know when it ends.
    pub beside_work: Option<u32>,
    /// How long its data had flowed when the last of them were there: those of a write when it began, those of a read when it
    /// ended. What follows keeps pace with them.
    pub flow: Nanos,
    /// The regions that it has marked in the bitmap of its set, by their number there.
    pub mark: Option<u32>,
    /// The way of the chain that has ended last.
    pub trace: LatencyTrace,
}

impl Default for Operation {
    fn default() -> Operation {
        let (owner, class) = (Owner::Request(0), Class::HostRead);
        Operation {
            owner,
            chains: 0,
            controller: 0,
            class,
            beside_work: None,
            flow: Nanos::ZERO,
            mark: None,
            trace: LatencyTrace::default(),
        }
    }
}

impl Operation {
    /// One of `chains` chains begins, and its trace where it has one.
    #[inline]
    pub fn begin(&mut self, spec: OperationSpec, chains: u32, has_trace: bool) {
        debug_assert_eq!(self.chains, 0, "an operation that is used again must have ended");
        (self.owner, self.chains) = (spec.owner, chains);
        (self.controller, self.class) = (spec.controller, spec.class);
        (self.beside_work, self.flow, self.mark) = (None, spec.flow, spec.mark);
        if has_trace {
            self.trace.begin(spec.ready);
        }
    }
}

/// What a chain is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    #[default]
    Reads,
    Arithmetic,
    Writes,
    Checks,
}

/// One member command before it is given out.
#[derive(Clone, Copy, Debug)]
pub struct MemberCommand {
    pub disk: u32,
    pub first: u64,
    pub sectors: u32,
}

/// A command whose data cross its disk's channel: those of a write on their way to it, those of a read from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crossing {
    pub disk: u32,
    pub command: Option<Command>,
    /// What has been at the disk on its way out.
    pub at_disk: AtDisk,
}

/// How a command spent its time at its disk.
#[derive(Clone, Copy, Debug, Default)]
pub enum AtDisk {
    /// It has not been there.
    #[default]
    NotYet,
    /// It ended at an instant, and would have taken so long alone.
    Whole(Instant, Nanos),
    /// It was a flush that ended at an instant.
    Flushed(Instant),
    /// The drive tells of its steps: when its service began, what it did, and when it ended.
    Steps(Instant, Steps, Instant),
}

impl AtDisk {
    /// Adds it to the way of the command.
    #[inline]
    pub fn pass(self, trace: &mut LatencyTrace) {
        match self {
            AtDisk::NotYet => {}
            AtDisk::Whole(end, alone) => trace.pass(Stage::Disk, end, alone),
            AtDisk::Flushed(end) => trace.serve(Stage::DiskFlush, end),
            AtDisk::Steps(started, Steps { processed, free, on_track, on_sector }, end) => {
                trace.wait(Stage::Disk, started);
                trace.serve(Stage::DiskOverhead, processed);
                trace.pass(Stage::DiskSeek, on_track, on_track.saturating_since(free));
                trace.serve(Stage::DiskRotation, on_sector);
                trace.serve(Stage::DiskTransfer, end);
            }
        }
    }
}

/// What one stripe needs: its reads, the arithmetic, its writes, and what is read back.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    pub operation: u32,
    pub pending: u32,
    pub phase: Phase,
    pub arithmetic: Nanos,
    /// Of a chain that waits for its stripe: what it begins with, and when it may.
    pub reads: Vec<MemberCommand>,
    pub ready: Instant,
    pub writes: Vec<MemberCommand>,
    pub checks: Vec<MemberCommand>,
    /// Whether it has a lock to give back.
    pub locks: bool,
    /// How long what it writes had flowed when the last of it was there; nothing where it is computed first, or held.
    pub flow: Nanos,
    /// Its way so far, and from there that of the command of the present phase that will end last, of several whose
    /// ends are known.
    pub trace: LatencyTrace,
    pub last: LatencyTrace,
}

impl Chain {
    /// Whether all there was to do was to read: most chains of most loads.
    pub fn has_nothing_left(&self) -> bool {
        self.phase == Phase::Reads
            && self.arithmetic.is_zero()
            && self.writes.is_empty()
            && self.checks.is_empty()
    }
}
