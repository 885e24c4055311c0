//! Mistakes of Fathom's own: said in plain words, and survived as far as anything is to be kept.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

use crate::terminal;

/// What was said by the last panic, and where.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Has panics say what they are and what to do, instead of what only a programmer understands.
pub fn speak_plainly() {
    std::panic::set_hook(Box::new(|info| {
        static ONCE: Once = Once::new();
        let said = info.payload_as_str().unwrap_or("without a message");
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let what = format!("{said}{place}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = what.clone();
        terminal::leave_full_screen();
        // One mistake may have several threads panic.
        ONCE.call_once(|| terminal::say_sentence(&how_to_report(&what)));
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            terminal::say(&trace.to_string());
        }
    }));
}

/// What the last panic said, of whatever thread; `None` where there was none.
pub fn last() -> Option<String> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (!last.is_empty()).then_some(last)
}

/// What a person can do about it.
pub fn how_to_report(what: &str) -> String {
    format!(
        "fathom: internal error: {what}\nThis is a bug in Fathom, not a fault of your storage. Completed \
         points of a run are saved: `fathom show last`. Report it where you got Fathom, and attach: this text, the \
         command line, what `fathom doctor` says, and what the same command says with RUST_BACKTRACE=1 set."
    )
}

/// What `work` gives, or what it said when it panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What is half changed by then is dropped, or was made for being half changed: a record that grows by points.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| last().unwrap_or_default())
}
