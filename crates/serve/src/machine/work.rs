//! One piece of background work: what it does, on what, and how far it is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use array::background::BackgroundKind;
use array::raid::Geometry;
use array::sim::WorkOrder;
use units::{Lba, Share};

use super::status::PassStatus;
use crate::config::{SetWork, WorkConfig};
use crate::pace::Pacer;
use crate::set::{Findings, Repair};

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Fills the disk of a slot from the others.
    Rebuild,
    /// Copies the disk of a slot to a spare, which takes its place.
    Clone,
    /// Compares data, checksums and parity; puts right what differs where that is said.
    Verify {
        /// Whether it is put right.
        repairs: bool,
    },
    /// As a verify that repairs, with the data taken for right: what was being written when power was lost is old or new on each drive.
    Resync,
    /// Fills the set with zeros.
    Initialise,
}

impl WorkKind {
    /// The controller's word for it.
    pub fn name(self) -> &'static str {
        match self {
            WorkKind::Rebuild => "rebuild",
            WorkKind::Clone => "clone",
            WorkKind::Verify { .. } | WorkKind::Resync => "verify",
            WorkKind::Initialise => "initialise",
        }
    }
}

impl WorkKind {
    /// What becomes of parity, or copies, that do not fit.
    pub(super) fn repair(self) -> Repair {
        match self {
            WorkKind::Verify { repairs: true } => Repair::WhereClear,
            WorkKind::Resync => Repair::FromData,
            _ => Repair::No,
        }
    }

    /// What is owed to the set where it could not be brought to its end.
    pub(super) fn owed(self) -> Option<SetWork> {
        match self {
            WorkKind::Verify { repairs: true } => Some(SetWork::Verify { repairs: true }),
            WorkKind::Resync => Some(SetWork::Resync),
            _ => None,
        }
    }

    fn of_the_model(self) -> BackgroundKind {
        match self {
            WorkKind::Rebuild => BackgroundKind::Rebuild,
            WorkKind::Clone => BackgroundKind::Clone,
            WorkKind::Verify { .. } | WorkKind::Resync => BackgroundKind::Verify,
            WorkKind::Initialise => BackgroundKind::Initialise,
        }
    }
}

impl From<SetWork> for WorkKind {
    fn from(work: SetWork) -> WorkKind {
        match work {
            SetWork::Verify { repairs } => WorkKind::Verify { repairs },
            SetWork::Resync => WorkKind::Resync,
            SetWork::Initialise => WorkKind::Initialise,
        }
    }
}

/// Whether it is a verify that repairs.
pub(super) fn is_repairing(kind: SetWork) -> bool {
    matches!(kind, SetWork::Verify { repairs: true } | SetWork::Resync)
}

/// One piece of work.
pub(super) struct Work {
    pub kind: WorkKind,
    pub set: u32,
    pub slot: Option<u16>,
    /// Where it began: an earlier server had done what lies before.
    pub from: u64,
    pub done: AtomicU64,
    pub all: u64,
    pub began: Duration,
    /// Nobody has asked for it.
    pub is_automatic: bool,
    pub is_stopped: AtomicBool,
    pub is_over: AtomicBool,
    /// It was brought to its end, or cannot be.
    pub is_done: AtomicBool,
}

impl Work {
    /// Whether it fills or copies that slot.
    pub fn is_of(&self, set: u32, slot: u16) -> bool {
        (self.set, self.slot) == (set, Some(slot))
    }

    /// Has the model do it as well: what is left of it.
    pub fn begin_in(&self, model: &Pacer, geometry: &Geometry) {
        let all = geometry.member_used().0 as f64;
        let left = self.all.saturating_sub(self.done.load(Ordering::Relaxed)) as f64;
        let from = Share::new((1.0 - left / all).max(0.0)).unwrap_or(Share::NONE);
        model.start_work(WorkOrder { kind: self.kind.of_the_model(), set: self.set, slot: self.slot }, from);
    }

    pub fn came_to(&self, number: u64, found: Findings, is_complete: bool) -> PassStatus {
        PassStatus {
            number,
            kind: self.kind.name().into(),
            set: self.set,
            slot: self.slot,
            is_complete,
            corrected_sectors: found.corrected,
            unreadable_sectors: found.unreadable,
            inconsistent_stripes: found.inconsistent,
            is_repaired: self.kind.repair() != Repair::No && found.unclear == 0,
            left_stripes: if self.kind.repair() == Repair::No { 0 } else { found.unclear },
        }
    }

    /// How far it is, where a label has to say so: that of a slot is a mark of the slot.
    pub fn config(&self) -> Option<WorkConfig> {
        let kind = match self.kind {
            WorkKind::Verify { repairs } => SetWork::Verify { repairs },
            WorkKind::Resync => SetWork::Resync,
            WorkKind::Initialise => SetWork::Initialise,
            WorkKind::Rebuild | WorkKind::Clone => return None,
        };
        let done = self.done.load(Ordering::Relaxed);
        debug_assert!(done <= self.all, "{done} sectors of {} are done", self.all);
        let done_to = self.from + done;
        Some(WorkConfig { kind, set: self.set, done_to, is_cleared: self.kind == WorkKind::Initialise })
    }
}

/// Which addresses work is done on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All, or what a slot's disk lacks.
    All,
    /// What lies behind that address.
    From(Lba),
    /// What was written while the slot's disk was away, and until the work comes there.
    Missed,
}
