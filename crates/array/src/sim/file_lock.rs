//! The lock of a volume that is a file.
//!
//! **Invariant:** one write at a time holds a file; who comes meanwhile goes on in the order of coming.

use std::collections::VecDeque;

use units::{Instant, Nanos};

/// Who holds a file, who waits for it, and its log.
#[derive(Debug, Default)]
pub struct FileLock {
    /// The write that reads what it covers in part.
    holder: Option<u32>,
    waiting: VecDeque<u32>,
    /// Until when its log is being forced.
    logged: Instant,
}

impl FileLock {
    /// Whether the write at `place` waits until another lets the file go.
    pub fn waits(&mut self, place: u32) -> bool {
        let waits = self.holder.is_some_and(|holder| holder != place);
        if waits {
            debug_assert!(!self.waiting.contains(&place), "a write waits for its file once");
            self.waiting.push_back(place);
        }
        waits
    }

    /// Gives the file to the write at `place`.
    pub fn hold(&mut self, place: u32) {
        assert!(
            self.holder.is_none_or(|holder| holder == place),
            "a file is taken from the write that holds it"
        );
        self.holder = Some(place);
    }

    /// The write at `place` needs the file no more, if it ever held it.
    pub fn let_go(&mut self, place: u32) {
        self.holder.take_if(|holder| *holder == place);
    }

    /// The next write that goes on; `None` while one holds the file, and where none waits.
    pub fn next(&mut self) -> Option<u32> {
        if self.holder.is_none() { self.waiting.pop_front() } else { None }
    }

    /// When a forced write of its log has ended that begins now, or behind the one under way.
    pub fn force(&mut self, now: Instant, force: Nanos) -> Instant {
        self.logged = self.logged.max(now) + force;
        self.logged
    }
}
