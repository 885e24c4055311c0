//! The memory that requests in flight read and write.

use std::mem::ManuallyDrop;

use super::super::Payload;

/// The buffers that requests in flight use, and how many those are.
pub(super) struct LentPayload {
    pub(super) payload: ManuallyDrop<Payload>,
    pub(super) in_flight: u32,
}

impl LentPayload {
    pub(super) fn new(payload: Payload) -> LentPayload {
        assert!(payload.depth() > 0, "a ring must have something to lend");
        LentPayload { payload: ManuallyDrop::new(payload), in_flight: 0 }
    }
}

impl Drop for LentPayload {
    fn drop(&mut self) {
        if self.in_flight == 0 {
            // SAFETY: this is the only place that drops it, and nothing uses it after.
            unsafe { ManuallyDrop::drop(&mut self.payload) }
        }
        // Otherwise requests could not be waited for, or the engine was forgotten, and the kernel may still write:
        // the memory is leaked on purpose, since whatever would be mapped there next could be overwritten.
    }
}
