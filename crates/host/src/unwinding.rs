//! What a panic must not leave going on.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a lock guards: all that is guarded in this crate is whole wherever a thread that held it panicked.
pub(crate) fn whole<G>(held: Result<G, PoisonError<G>>) -> G {
    held.unwrap_or_else(PoisonError::into_inner)
}

/// Sets the flag where the thread that dropped it panics: others that wait for it or work with it stop.
pub(crate) struct StopOnPanic<'a>(pub &'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
