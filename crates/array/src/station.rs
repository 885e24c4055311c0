//! A part that work passes through: a processor, a bus, an XOR engine.
//!
//! **Invariant:** the end of a visit is known when it is booked, so it costs no event; the station never does more
//! work than its servers can, and its past is metered by class.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::meter::{Class, Meter, Metered};

/// A part that work passes through.
///
/// Work may be booked before it is ready (data that a disk will have read): it then waits for no gap, only for the
/// work booked before it.
#[derive(Clone, Debug)]
pub struct Station {
    servers: u64,
    until: Instant,
    /// What of the work booked until then its servers, a whole nanosecond each, have not taken: less than one nanosecond of
    /// each.
    rest: u64,
    /// Recent work per visit in nanoseconds, to tell how many share the station.
    typical: u64,
    meter: Meter,
}

impl Station {
    /// An idle station of that many servers, at least one.
    pub fn new(servers: u32) -> Station {
        let servers = u64::from(servers.max(1));
        Station { servers, until: Instant::START, rest: 0, typical: 0, meter: Meter::of_servers_apart() }
    }

    /// Books `work` at `now`, ready at `ready`, in order of booking; when it ends.
    #[inline]
    pub fn book(&mut self, now: Instant, ready: Instant, work: Nanos, class: Class) -> Instant {
        let start = ready.max(now);
        if work.is_zero() {
            return start;
        }
        let queue_end = self.add(now, work);
        let end = queue_end.max(start + work);
        self.leave(now, start, end, work, class)
    }

    /// The same where those present share the station in small turns: a short transfer passes long ones.
    pub fn share(&mut self, now: Instant, ready: Instant, work: Nanos, class: Class) -> Instant {
        self.stream(now, ready, ready, work, Nanos::ZERO, class)
    }

    /// The same for data that flow from `first` on and are complete at `last`: the transfer keeps pace with its
    /// source, and `tail` of it is left when the source has ended.
    pub fn stream(
        &mut self,
        now: Instant,
        first: Instant,
        last: Instant,
        work: Nanos,
        tail: Nanos,
        class: Class,
    ) -> Instant {
        debug_assert!(first <= last, "data must begin to flow before the last of them do");
        if work.is_zero() {
            return last.max(now);
        }
        let ahead = self.until.saturating_since(now).get();
        self.typical = self.typical - self.typical / 8 + work.get() / 8;
        let present = ahead / self.typical.max(1);
        let queue_end = self.add(first.min(now), work);
        // In turns, each of those present moves as much as this one before it ends.
        let shared = work.get().saturating_add(work.get() / self.servers * present);
        let shared_end = first.max(now) + Nanos::new(shared);
        let end = queue_end.min(shared_end).max(first + work).max(last + tail.min(work));
        self.leave(now, last, end, work, class)
    }

    #[inline]
    fn add(&mut self, earliest: Instant, work: Nanos) -> Instant {
        if earliest > self.until {
            // Idle for a nanosecond at least, which has done the rest.
            (self.until, self.rest) = (earliest, 0);
        }
        let work = work.get() + self.rest;
        (self.until, self.rest) = (self.until + Nanos::new(work / self.servers), work % self.servers);
        self.until
    }

    #[inline]
    fn leave(&mut self, now: Instant, arrived: Instant, end: Instant, work: Nanos, class: Class) -> Instant {
        let started = Instant::from_nanos(end.nanos().saturating_sub(work.get()));
        self.meter.visit(now, arrived.min(started), started, end, class);
        // Data that have flowed since before the window count as far as they flow in it.
        let before = self.meter.since().saturating_since(started).min(work);
        self.meter.add_busy(Nanos::new(work.get() - before.get()));
        end
    }

    /// When all that is booked would have ended, were it ready.
    pub fn until(&self) -> Instant {
        self.until
    }

    fn left(&self, now: Instant) -> Nanos {
        match self.until >= now {
            true => self.until.saturating_since(now) * self.servers + Nanos::new(self.rest),
            false => Nanos::ZERO,
        }
    }
}

impl Metered for Station {
    fn servers(&self) -> u32 {
        narrow::<u32>(self.servers)
    }

    /// The work that is booked and not done lies in the window.
    fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
        self.meter.carry_in(self.left(now));
    }

    /// The work that is not done does not.
    fn close_meter(&mut self, now: Instant) {
        self.meter.close(now, std::iter::empty());
        let left = self.left(now);
        self.meter.serve(left);
    }

    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn busy_by(&self, now: Instant) -> u64 {
        self.meter.busy_ns().saturating_sub(self.left(now).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn work_waits_for_the_work_before_it_and_for_its_own_readiness() {
        let mut station = Station::new(1);
        assert_eq!(station.book(at(0), at(0), Nanos::new(10), Class::HostRead), at(10));
        assert_eq!(station.book(at(0), at(0), Nanos::new(10), Class::HostRead), at(20));
        assert_eq!(station.book(at(5), at(50), Nanos::new(10), Class::HostRead), at(60));
    }

    #[test]
    fn two_servers_do_twice_the_work_but_one_visit_no_faster() {
        let mut station = Station::new(2);
        let ends: Vec<u64> =
            (0..4).map(|_| station.book(at(0), at(0), Nanos::new(10), Class::HostRead).nanos()).collect();
        assert_eq!(ends, [10, 10, 15, 20]);
    }

    #[test]
    fn work_that_its_servers_do_not_divide_keeps_them_no_busier_than_all_the_time() {
        for (servers, work) in [(2, 33_333), (7, 266_666), (4, 66_667), (3, 1), (1, 33_333)] {
            let mut station = Station::new(servers);
            station.restart_meter(at(0));
            for _ in 0..1_000 {
                station.book(at(0), at(0), Nanos::new(work), Class::HostRead);
            }
            let half = Instant::from_nanos(1_000 * work / u64::from(servers) / 2);
            station.close_meter(half);
            let whole = half.nanos() * u64::from(servers);
            assert_eq!(station.meter().busy_ns(), whole, "{servers} servers, {work} ns each");
            // What was left then is done in the next window, to the nanosecond.
            station.restart_meter(half);
            station.close_meter(at(2_000 * work));
            assert_eq!(station.meter().busy_ns(), 1_000 * work - whole, "{servers} servers, {work} ns each");
        }
    }

    #[test]
    fn a_transfer_that_keeps_pace_ends_with_its_source() {
        let mut station = Station::new(1);
        let end = station.stream(at(100), at(50), at(100), Nanos::new(50), Nanos::new(5), Class::HostRead);
        assert_eq!(end, at(105));
        // The next one finds the station busy with the first until 100, and is slower than its source.
        let end = station.stream(at(110), at(90), at(110), Nanos::new(50), Nanos::new(5), Class::HostRead);
        assert_eq!(end, at(150));
    }

    #[test]
    fn a_transfer_that_flows_since_before_the_window_counts_as_far_as_it_lies_in_it() {
        let mut station = Station::new(1);
        station.restart_meter(at(100));
        let end = station.stream(at(110), at(20), at(110), Nanos::new(80), Nanos::new(5), Class::Prefetch);
        assert_eq!(end, at(115));
        station.close_meter(at(200));
        assert_eq!(station.meter().busy_ns(), 15);
        assert_eq!(station.meter().utilisation_gap(), Some(0.0));
    }

    #[test]
    fn a_short_transfer_passes_long_ones_where_the_station_is_shared() {
        let mut station = Station::new(1);
        for _ in 0..4 {
            station.share(at(0), at(0), Nanos::new(1_000), Class::HostWrite);
        }
        let end = station.share(at(0), at(0), Nanos::new(4), Class::HostRead);
        assert!(end < at(100), "{end:?}");
    }
}
