//! What all sets of an array have in common, and who is told of what happens to them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::Fault;
use crate::disk::{Disk, DiskError};
use crate::nvram::Nvram;

/// Who is told of what happens to members.
pub trait Reports: Sync {
    /// A write to the member failed. It must be out of use when this returns.
    fn member_failed(&self, set: u32, member: u16, why: &io::Error);

    /// A sector was computed from the other members and written again; why it had to be.
    fn corrected(&self, set: u32, member: u16, lba: u64, why: &DiskError);

    /// Sectors that a disk had lost together with their checksums were computed and written again.
    fn refilled(&self, set: u32, member: u16, lba: u64, sectors: u64);

    /// A sector is unreadable and cannot be computed.
    fn unreadable(&self, set: u32, member: u16, lba: u64);

    /// Has the labels say what is in use; whether they do.
    fn label_again(&self) -> bool;

    /// Has the labels say how far slots are filled; whether they do.
    fn label_marks(&self) -> bool;

    /// Some disks may not keep what was written to them. They must be out of use when this returns.
    fn give_up_broken(&self);

    /// What is written is refused from now on, and why; said once.
    fn refusing(&self, why: &str);

    /// What is written is taken again.
    fn taking(&self);
}

/// What all sets of an array have in common.
#[derive(Default)]
pub struct Common {
    /// The journal, and what a member missed.
    pub nvram: Option<Nvram>,
    /// Whether writes go through the journal: not where members are lost with the server.
    pub is_journaled: bool,
    /// Every disk that is in use.
    pub live: RwLock<Vec<Arc<Disk>>>,
    /// Nothing is written any more: what lies in the journal could not be brought to its members.
    pub is_frozen: AtomicBool,
    /// What is in use is not on the labels.
    pub is_unlabelled: AtomicBool,
    /// Why the last write was refused by what members and journal lie on.
    pub refusal: Refusal,
}

/// Whether what is written is refused, and why.
#[derive(Default)]
pub struct Refusal {
    is_now: AtomicBool,
    why: Mutex<String>,
}

impl Refusal {
    /// Why what is written is refused; `None` where it is taken.
    pub fn why(&self) -> Option<String> {
        let is_now = self.is_now.load(Ordering::Acquire);
        is_now.then(|| self.why.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Notes a refused write; tells `reports` if it is the first one.
    #[cold]
    pub fn refused(&self, why: String, reports: &dyn Reports) {
        if !self.is_now.swap(true, Ordering::AcqRel) {
            reports.refusing(&why);
        }
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Notes that nothing is taken any more, and tells `reports`, whatever was refused before.
    #[cold]
    pub fn refused_from_now_on(&self, why: String, reports: &dyn Reports) {
        self.is_now.store(true, Ordering::Release);
        reports.refusing(&why);
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Notes a write that succeeded; tells `reports` if the one before it was refused.
    #[inline]
    pub fn taken(&self, reports: &dyn Reports) {
        // Looked at first: most writes find what the last one did, and write to nothing that others read.
        if self.is_now.load(Ordering::Relaxed) && self.is_now.swap(false, Ordering::AcqRel) {
            reports.taking();
        }
    }
}

impl Common {
    /// Everything written to members is on stable storage.
    pub fn sync(&self) -> io::Result<()> {
        for disk in self.live.read().unwrap_or_else(PoisonError::into_inner).iter() {
            disk.flush().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Why nothing is written to members now, where that is so.
    pub fn can_write(&self) -> Result<(), Fault> {
        if self.is_frozen.load(Ordering::Relaxed) {
            Err(Fault::NoSpace)
        } else if self.is_unlabelled.load(Ordering::Acquire) {
            Err(Fault::Journal)
        } else {
            Ok(())
        }
    }

    /// Whether some disk in use may not keep what was written to it.
    pub(super) fn has_broken(&self) -> bool {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.iter().any(|disk| disk.fault().is_some())
    }

    /// Empties the journal.
    pub fn checkpoint(&self, is_clean: bool) -> io::Result<()> {
        // A frozen array keeps its journal for the next start.
        match &self.nvram {
            Some(nvram) if !self.is_frozen.load(Ordering::Relaxed) => nvram.restart(is_clean, || self.sync()),
            _ => Ok(()),
        }
    }
}
