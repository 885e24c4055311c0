//! The clock of the real world.
//!
//! Nanoseconds since the clock was made, from the processor's time-stamp counter where it is invariant and from
//! `CLOCK_MONOTONIC` otherwise (the crate `quanta` decides and calibrates). Neither steps when somebody sets the
//! date. A reading costs 7 to 25 ns, so drivers read it once a batch.

use std::time::Duration;

use units::{Instant, Nanos};

/// Reads real time. Copies share one start, so that instants of different threads compare.
#[derive(Clone, Debug)]
pub struct Clock {
    counter: quanta::Clock,
    start: u64,
}

impl Clock {
    /// A clock that starts now. The first one of a process calibrates the counter, up to 200 ms.
    pub fn start() -> Clock {
        let counter = quanta::Clock::new();
        let start = counter.raw();
        Clock { counter, start }
    }

    /// The present.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.counter.delta_as_nanos(self.start, self.counter.raw()))
    }

    /// Returns at `due` or a little later, never earlier.
    ///
    /// Sleeps until 60 µs before, then spins: a sleeping thread wakes up to 50 µs late (the default timer slack
    /// of Linux), which would count as lag of the generator.
    pub fn sleep_until(&self, due: Instant) {
        const SPIN: Nanos = Nanos::from_micros(60);
        loop {
            let left = due.saturating_since(self.now());
            if left.is_zero() {
                return;
            }
            if left > SPIN {
                #[expect(clippy::disallowed_methods, reason = "this is the place where waiting belongs")]
                std::thread::sleep(Duration::from_nanos((left - SPIN).get()));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_never_ends_early_and_the_clock_agrees_with_the_kernels() {
        let clock = Clock::start();
        let kernel = || rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let (before, kernel_before) = (clock.now(), kernel());
        let due = before + Nanos::from_millis(200);
        clock.sleep_until(due);
        let (after, kernel_after) = (clock.now(), kernel());
        assert!(after >= due);
        let ours = (after - before).as_secs_f64();
        let theirs = (kernel_after.tv_sec - kernel_before.tv_sec) as f64
            + (kernel_after.tv_nsec - kernel_before.tv_nsec) as f64 / 1e9;
        // Two readings a few instructions apart, unless the thread is preempted between them.
        assert!((ours - theirs).abs() < 0.05, "{ours} s against {theirs} s");
    }
}
