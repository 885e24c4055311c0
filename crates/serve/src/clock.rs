//! Time since the server started.

use std::time::{Duration, Instant};

/// A clock that never goes back.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Default for Clock {
    fn default() -> Clock {
        Clock::start()
    }
}

impl Clock {
    /// One that begins now.
    #[expect(clippy::disallowed_methods, reason = "the one place of this crate where time is read")]
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Time since it began.
    pub fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Has this thread wait so long.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this crate where a thread waits for time alone"
)]
pub fn wait(time: Duration) {
    std::thread::sleep(time);
}

/// Has this thread come after those that somebody waits for, where processors are short.
pub fn give_way() {
    // SAFETY: a plain number is set, for the calling thread alone.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 10) };
}
