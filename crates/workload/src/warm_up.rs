//! The end of a warm-up that counts bytes: one instant for all workers of a workload, whichever of them moved the last.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use units::{Bytes, Instant};

/// What the workers of one workload share of a warm-up by bytes. Those of other processes have one of their own, for their
/// part of the bytes.
#[derive(Debug, Default)]
pub struct WarmUp {
    asked: AtomicU64,
    moved: AtomicU64,
    over: OnceLock<Instant>,
}

impl WarmUp {
    /// When it was over; `None` before.
    pub fn over(&self) -> Option<Instant> {
        self.over.get().copied()
    }

    /// One more worker, with its part of the bytes. All have joined before one of them moves anything.
    pub(crate) fn join(&self, part: Bytes) {
        self.asked.fetch_add(part.get(), Ordering::Relaxed);
    }

    /// So many bytes more were moved by `at`.
    pub(crate) fn moved(&self, bytes: u32, at: Instant) {
        let moved = self.moved.fetch_add(bytes.into(), Ordering::Relaxed).saturating_add(bytes.into());
        if moved >= self.asked.load(Ordering::Relaxed) {
            self.over.get_or_init(|| at);
        }
    }
}
