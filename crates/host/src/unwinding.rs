//! What a panic must not leave going on.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets the flag where the thread that dropped it panics: others that wait for it or work with it stop.
pub(crate) struct StopOnPanic<'a>(pub &'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
