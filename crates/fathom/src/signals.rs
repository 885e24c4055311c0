//! The first Ctrl-C ends the load and keeps what was measured; the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What signals have come.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> std::io::Result<Signals> {
        let signals = Signals::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set by the first and takes its usual course.
            flag::register_conditional_default(signal, signals.stop.clone())?;
            flag::register(signal, signals.stop.clone())?;
            flag::register_usize(signal, signals.last.clone(), signal as usize)?;
        }
        Ok(signals)
    }

    /// Set by the first signal.
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// The exit code that belongs to the signal that came: 130 or 143. `None` where none came.
    pub fn exit_code(&self) -> Option<u8> {
        match self.last.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(128 + signal).ok(),
        }
    }
}
