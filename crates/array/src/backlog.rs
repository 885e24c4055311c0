//! A server that is booked ahead, out of order.
//!
//! A request that will be ready for a bus only when a flash die or a disk has ended must not hold up one that is
//! ready before it. The backlog counts the work that has been booked and never the gaps in between: work is done
//! as early as it can be, the server is never driven beyond its rate, and a booking needs no event.
//!
//! **Invariant:** the work booked from any instant on never exceeds the time that has passed since.

use units::{Instant, Nanos};

/// Work booked on one server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    until: Instant,
    busy_ns: u64,
}

impl Backlog {
    /// Books `work` at `now` for something that is ready at `ready`; when it ends.
    pub fn book(&mut self, now: Instant, ready: Instant, work: Nanos) -> Instant {
        self.until = self.until.max(now) + work;
        self.busy_ns += work.get();
        self.until.max(ready + work)
    }

    /// The same for something whose first part is ready at `first`, whose last part, `tail`, is at `last`, and whose other
    /// parts come between: a transfer that keeps pace with its source, once there is something to transfer.
    pub fn book_behind(
        &mut self,
        now: Instant,
        first: Instant,
        last: Instant,
        work: Nanos,
        tail: Nanos,
    ) -> Instant {
        debug_assert!(tail <= work, "the last part must be a part");
        debug_assert!(first <= last, "the first part must not come after the last");
        self.until = self.until.max(now) + work;
        self.busy_ns += work.get();
        self.until.max(first + work).max(last + tail)
    }

    /// The same for something of which `flow` at the most has passed before `ready`, as far as nothing else was booked then: a
    /// transfer that has kept pace with what came before it.
    pub fn book_after(&mut self, now: Instant, ready: Instant, flow: Nanos, work: Nanos) -> Instant {
        debug_assert!(flow <= work, "no more can have passed than there is");
        let begun = Instant::from_nanos(ready.nanos().saturating_sub(flow.get()));
        let passed = now.saturating_since(self.until.max(begun)).min(flow);
        self.until = self.until.max(now) + work.saturating_sub(passed);
        self.busy_ns += work.get();
        self.until.max(begun + work)
    }

    /// When all that is booked would end, were it ready.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Nanoseconds of work done by `now`.
    pub fn worked_by(&self, now: Instant) -> u64 {
        self.busy_ns.saturating_sub(self.until.saturating_since(now).get())
    }

    /// Nanoseconds of work booked since the start.
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ready_early_does_not_wait_for_what_was_booked_first_but_is_ready_late() {
        let at = Instant::from_nanos;
        let mut bus = Backlog::default();
        assert_eq!(bus.book(at(0), at(1_000), Nanos::new(10)), at(1_010));
        assert_eq!(bus.book(at(0), at(100), Nanos::new(10)), at(110));
    }

    #[test]
    fn a_transfer_begins_with_its_first_part_and_ends_after_its_last() {
        let at = Instant::from_nanos;
        let booked = |first, last| {
            Backlog::default().book_behind(at(0), at(first), at(last), Nanos::new(100), Nanos::new(10))
        };
        assert_eq!([booked(50, 60), booked(50, 140), booked(50, 200)], [at(150), at(150), at(210)]);
    }

    #[test]
    fn a_saturated_server_works_at_its_rate() {
        let at = Instant::from_nanos;
        let mut bus = Backlog::default();
        let last = (0..100).map(|n| bus.book(at(n), at(n + 5), Nanos::new(10))).last();
        assert_eq!(last, Some(at(1_000)));
    }
}
