//! What a component keeps of its past: busy time, number present, wait and service by class.
//!
//! **Invariant:** the area under the number present equals the sum of the times present (Little's law as
//! bookkeeping), and busy time the sum of service; [`Meter::little_gap`] and [`Meter::utilisation_gap`] compare them.

use units::{Instant, Nanos};

/// On whose behalf a component works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Asked by a host, and answered with data.
    HostRead,
    /// Asked by a host, with data.
    HostWrite,
    /// Data written from a cache to the members.
    Destage,
    /// Data fetched before they are asked for.
    Prefetch,
    /// Initialise, clone, rebuild, verify, scrub.
    Background,
}

impl Class {
    /// All of them, in the order of their numbers.
    pub const ALL: [Class; 5] =
        [Class::HostRead, Class::HostWrite, Class::Destage, Class::Prefetch, Class::Background];

    /// The word used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Class::HostRead => "host-read",
            Class::HostWrite => "host-write",
            Class::Destage => "destage",
            Class::Prefetch => "prefetch",
            Class::Background => "background",
        }
    }
}

/// Visits of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// How many ended.
    pub count: u64,
    /// Nanoseconds between arrival and start, summed.
    pub wait_ns: u64,
    /// Nanoseconds between start and end, summed.
    pub service_ns: u64,
    /// Nanoseconds of work that they left to be done after their ends, summed.
    pub deferred_ns: u64,
}

impl Visits {
    /// Nanoseconds that a server was busy for them.
    pub fn busy_ns(&self) -> u64 {
        self.service_ns + self.deferred_ns
    }

    fn time_of(&mut self, deferred: bool) -> &mut u64 {
        if deferred { &mut self.deferred_ns } else { &mut self.service_ns }
    }
}

/// The past of one component, within a window of time: what lies before its begin or after its end does not count.
///
/// A component either tells of each arrival, start and departure as it happens, or, where an end is known when it is
/// booked, of whole visits. What it does on its own account afterwards is [`Meter::work`].
#[derive(Clone, Debug, Default)]
pub struct Meter {
    present: u64,
    serving: u64,
    changed_at: u64,
    /// Since when it counts.
    since: Instant,
    /// Σ number present × nanoseconds.
    area: u128,
    /// Σ number served × nanoseconds, or what the component says of its servers itself.
    busy_ns: u64,
    by_class: [Visits; Class::ALL.len()],
    /// Whole visits that have not ended, and some that have.
    booked: Vec<Booked>,
    /// How many of them are looked through next for those that have ended.
    full_at: usize,
    /// Whether the component says itself how long its servers were busy.
    apart: bool,
    /// Work over an end of the window: which part of it a server did first is not known.
    edges_ns: u64,
}

/// A part that work passes through, with its meter.
pub trait Metered {
    /// Servers that work at once.
    fn servers(&self) -> u32;
    /// Begins a window of its meter at `now`.
    fn restart_meter(&mut self, now: Instant);
    /// Ends it.
    fn close_meter(&mut self, now: Instant);
    /// Its past.
    fn meter(&mut self) -> &mut Meter;
    /// Nanoseconds that its servers together have been busy since the window began, until `now`, which is no earlier than
    /// what it was last told.
    fn busy_by(&self, now: Instant) -> u64;
}

/// A visit whose instants are all known.
#[derive(Clone, Copy, Debug)]
struct Booked {
    arrived: Instant,
    started: Instant,
    ended: Instant,
    class: Class,
    /// Whether that is work which visits have left to be done, and none of them.
    deferred: bool,
}

/// Visits that are always kept before any are looked through.
const BOOKED: usize = 64;

impl Meter {
    /// A meter of servers that say themselves how long they were busy: see [`Meter::add_busy`].
    pub fn of_servers_apart() -> Meter {
        Meter { apart: true, ..Meter::default() }
    }

    /// One more is present from `now`.
    #[inline]
    pub fn arrive(&mut self, now: Instant) {
        self.advance(now);
        self.present += 1;
    }

    /// One more is present, of which is known at `now` that it has been since `arrived`, which may be earlier.
    #[inline]
    pub fn arrive_late(&mut self, now: Instant, arrived: Instant) {
        self.arrive(now);
        self.area += u128::from(now.saturating_since(arrived.max(self.since)).get());
    }

    /// One of those present is served from `now`.
    #[inline]
    pub fn begin(&mut self, now: Instant) {
        debug_assert!(self.serving < self.present, "only who is present can be served");
        self.advance(now);
        self.serving += 1;
    }

    /// One of those served leaves at `now`, having arrived and started at those instants, in order.
    #[inline]
    pub fn leave(&mut self, now: Instant, arrived: Instant, started: Instant, class: Class) {
        self.advance(now);
        debug_assert!(self.present > 0 && self.serving > 0, "who leaves must have been served");
        debug_assert!(arrived <= started && started <= now, "a visit must go forward in time");
        self.present -= 1;
        self.serving -= 1;
        self.count(Booked { arrived, started, ended: now, class, deferred: false });
        self.by_class[class as usize].count += 1;
    }

    /// Since when it counts.
    #[inline]
    pub fn since(&self) -> Instant {
        self.since
    }

    /// The servers apart were busy for `busy` more.
    #[inline]
    pub fn add_busy(&mut self, busy: Nanos) {
        self.busy_ns += busy.get();
    }

    /// Work of `busy` that the servers apart were given before the window lies in it.
    pub fn carry_in(&mut self, busy: Nanos) {
        self.busy_ns += busy.get();
        self.edges_ns += busy.get();
    }

    /// Work of `busy` that they were given lies beyond the window.
    pub fn serve(&mut self, busy: Nanos) {
        self.busy_ns = self.busy_ns.saturating_sub(busy.get());
        self.edges_ns += busy.get();
    }

    /// Work of `busy` goes on over an end of the window, done by servers apart that keep time themselves.
    #[inline]
    pub fn edge(&mut self, busy: Nanos) {
        self.edges_ns += busy.get();
    }

    /// A whole visit that is booked at `now`.
    #[inline]
    pub fn visit(&mut self, now: Instant, arrived: Instant, started: Instant, ended: Instant, class: Class) {
        debug_assert!(arrived <= started && started <= ended, "a visit must go forward in time");
        self.by_class[class as usize].count += 1;
        self.keep(now, Booked { arrived, started, ended, class, deferred: false });
    }

    /// Work of one server from `started` to `ended` that is no visit: a part of what visits of that class left to be done.
    pub fn work(&mut self, started: Instant, ended: Instant, class: Class) {
        debug_assert!(started <= ended, "work must go forward in time");
        // Work that begins later may follow work that has not ended: what has is known only up to the last who came or left.
        self.keep(
            Instant::from_nanos(self.changed_at),
            Booked { arrived: started, started, ended, class, deferred: true },
        );
    }

    /// Books a stay at `now`, and keeps it until it has ended.
    #[inline]
    fn keep(&mut self, now: Instant, visit: Booked) {
        self.book(visit);
        if visit.ended > now {
            if self.booked.len() >= self.full_at.max(BOOKED) {
                self.booked.retain(|visit| visit.ended > now);
                // Looked through again when it has doubled: the cost of a visit does not grow with what is booked.
                self.full_at = self.booked.len() * 2;
            }
            self.booked.push(visit);
        }
    }

    #[inline]
    fn book(&mut self, visit: Booked) {
        let (wait, service) = self.count(visit);
        // A stay is its waiting and its service, each as far as it lies in the window.
        self.area += u128::from(wait + service);
        if !self.apart {
            self.busy_ns += service;
        }
    }

    /// Forgets the past at `now`; those present stay.
    pub fn restart(&mut self, now: Instant) {
        let booked = std::mem::take(&mut self.booked);
        *self = Meter {
            present: self.present,
            serving: self.serving,
            changed_at: now.nanos(),
            since: now,
            apart: self.apart,
            ..Meter::default()
        };
        for visit in booked.into_iter().filter(|visit| visit.ended > now) {
            self.book(visit);
            self.booked.push(visit);
            self.edges_ns += visit.ended.saturating_since(visit.started).get();
        }
    }

    /// Ends the window at `now`: those still present have stayed so far, and what is booked beyond does not count.
    ///
    /// `here`: those present of a component that does not book ahead, with their arrival and, where they are served,
    /// their start. Nothing may be metered between this and [`Meter::restart`].
    pub fn close(&mut self, now: Instant, here: impl Iterator<Item = (Instant, Option<Instant>, Class)>) {
        self.advance(now);
        for (arrived, started, class) in here {
            let started = started.unwrap_or(now);
            self.count(Booked { arrived, started, ended: now, class, deferred: false });
        }
        for index in 0..self.booked.len() {
            let Booked { arrived, started, ended, class, deferred } = self.booked[index];
            if ended <= now {
                continue;
            }
            let from = |begin: Instant| now.max(begin).max(self.since);
            let waited = started.max(self.since).saturating_since(from(arrived)).get();
            let served = ended.saturating_since(from(started)).get();
            self.edges_ns += ended.saturating_since(started).get();
            self.area -= u128::from(ended.saturating_since(from(arrived)).get());
            if !self.apart {
                self.busy_ns -= served;
            }
            let visits = &mut self.by_class[class as usize];
            visits.wait_ns -= waited;
            *visits.time_of(deferred) -= served;
        }
    }

    /// Share of `servers × elapsed` that was spent serving.
    pub fn utilisation(&self, elapsed: Nanos, servers: u32) -> f64 {
        let whole = elapsed.get() as f64 * f64::from(servers);
        if whole > 0.0 { self.busy_ns as f64 / whole } else { 0.0 }
    }

    /// Mean number present over `elapsed`.
    pub fn mean_present(&self, elapsed: Nanos) -> f64 {
        if elapsed.is_zero() { 0.0 } else { self.area as f64 / elapsed.get() as f64 }
    }

    /// Nanoseconds spent serving, all servers together.
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Nanoseconds spent serving until `now`, all servers together: without what is booked beyond it.
    pub fn busy_by(&self, now: Instant) -> u64 {
        if self.apart {
            return self.busy_ns;
        }
        let going_on = self.serving * now.nanos().saturating_sub(self.changed_at);
        let ends_later = self.booked.iter().filter(|visit| visit.ended > now);
        let beyond: u64 =
            ends_later.map(|visit| visit.ended.saturating_since(visit.started.max(now)).get()).sum();
        (self.busy_ns + going_on).saturating_sub(beyond)
    }

    /// Visits of one class.
    pub fn visits(&self, class: Class) -> Visits {
        self.by_class[class as usize]
    }

    /// Visits of all classes.
    pub fn total(&self) -> Visits {
        self.by_class.iter().fold(Visits::default(), |sum, visits| Visits {
            count: sum.count + visits.count,
            wait_ns: sum.wait_ns + visits.wait_ns,
            service_ns: sum.service_ns + visits.service_ns,
            deferred_ns: sum.deferred_ns + visits.deferred_ns,
        })
    }

    /// How far the mean number present is off throughput times mean time (Little's law), after [`Meter::close`]: the
    /// area is counted by the clock, the times by who left. `None` where nobody came.
    pub fn little_gap(&self) -> Option<f64> {
        let total = self.total();
        let times = u128::from(total.wait_ns) + u128::from(total.busy_ns());
        (self.area > 0).then(|| (times as f64 / self.area as f64 - 1.0).abs())
    }

    /// How far the busy time is off throughput times mean service (the utilisation law), after [`Meter::close`],
    /// beyond what visits over an end of the window explain. `None` where nobody was served.
    pub fn utilisation_gap(&self) -> Option<f64> {
        let off = self.total().busy_ns().abs_diff(self.busy_ns).saturating_sub(self.edges_ns);
        (self.busy_ns > 0).then(|| off as f64 / self.busy_ns as f64)
    }

    /// Books a stay within the window; its nanoseconds of waiting and of service there.
    #[inline]
    fn count(&mut self, visit: Booked) -> (u64, u64) {
        let Booked { arrived, started, ended, class, deferred } = visit;
        let (arrived, started) = (arrived.max(self.since), started.max(self.since));
        let (wait, service) =
            (started.saturating_since(arrived).get(), ended.saturating_since(started).get());
        let visits = &mut self.by_class[class as usize];
        visits.wait_ns += wait;
        *visits.time_of(deferred) += service;
        (wait, service)
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        let passed = now.nanos().saturating_sub(self.changed_at);
        self.area += u128::from(self.present) * u128::from(passed);
        if !self.apart {
            self.busy_ns += self.serving * passed;
        }
        self.changed_at = self.changed_at.max(now.nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn nobody() -> impl Iterator<Item = (Instant, Option<Instant>, Class)> {
        std::iter::empty()
    }

    #[test]
    fn two_overlapping_visits_give_the_mean_number_present_and_no_gap() {
        let mut meter = Meter::default();
        meter.arrive(at(0));
        meter.begin(at(0));
        assert_eq!(meter.busy_by(at(7)), 7);
        meter.arrive(at(10));
        meter.leave(at(40), at(0), at(0), Class::HostRead);
        meter.begin(at(40));
        meter.leave(at(80), at(10), at(40), Class::HostWrite);
        meter.close(at(100), nobody());
        assert!((meter.mean_present(Nanos::new(100)) - 1.1).abs() < 1e-12);
        assert!((meter.utilisation(Nanos::new(100), 1) - 0.8).abs() < 1e-12);
        assert_eq!(
            meter.visits(Class::HostWrite),
            Visits { count: 1, wait_ns: 30, service_ns: 40, deferred_ns: 0 }
        );
        assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_departure_that_is_booked_with_a_wrong_arrival_or_start_opens_a_gap() {
        let mut meter = Meter::default();
        meter.arrive(at(10));
        meter.begin(at(10));
        meter.leave(at(40), at(0), at(20), Class::HostRead);
        assert!(meter.little_gap().is_some_and(|gap| gap > 0.3));
        assert!(meter.utilisation_gap().is_some_and(|gap| gap > 0.3));
    }

    #[test]
    fn the_laws_hold_of_those_who_were_there_before_the_window_or_stay_after_it() {
        let mut meter = Meter::default();
        meter.arrive(at(0));
        meter.begin(at(20));
        meter.restart(at(50));
        meter.arrive(at(60));
        meter.leave(at(70), at(0), at(20), Class::HostRead);
        meter.begin(at(70));
        meter.arrive(at(80));
        let here = [(at(60), Some(at(70)), Class::Destage), (at(80), None, Class::HostRead)];
        meter.close(at(100), here.into_iter());
        // Twenty, forty and twenty nanoseconds of the fifty.
        assert!((meter.mean_present(Nanos::new(50)) - 1.6).abs() < 1e-12);
        assert!((meter.utilisation(Nanos::new(50), 1) - 1.0).abs() < 1e-12);
        assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_visit_that_is_booked_beyond_the_window_counts_in_both_as_far_as_it_lies_in_each() {
        let mut meter = Meter::default();
        meter.visit(at(0), at(0), at(60), at(160), Class::HostRead);
        assert_eq!((meter.busy_by(at(50)), meter.busy_by(at(100)), meter.busy_by(at(200))), (0, 40, 100));
        meter.close(at(100), nobody());
        assert_eq!(meter.busy_ns(), 40);
        assert_eq!(
            meter.visits(Class::HostRead),
            Visits { count: 1, wait_ns: 60, service_ns: 40, deferred_ns: 0 }
        );
        meter.restart(at(100));
        meter.close(at(200), nobody());
        assert_eq!(meter.busy_ns(), 60);
        assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn work_that_visits_leave_to_be_done_is_busy_time_and_no_visit() {
        let mut meter = Meter::default();
        meter.visit(at(0), at(0), at(0), at(10), Class::HostWrite);
        meter.work(at(20), at(120), Class::HostWrite);
        assert_eq!((meter.busy_by(at(50)), meter.busy_by(at(200))), (40, 110));
        meter.close(at(100), nobody());
        let writes = Visits { count: 1, wait_ns: 0, service_ns: 10, deferred_ns: 80 };
        assert_eq!((meter.visits(Class::HostWrite), meter.busy_ns()), (writes, 90));
        assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
        meter.restart(at(100));
        meter.close(at(200), nobody());
        assert_eq!((meter.visits(Class::HostWrite).deferred_ns, meter.busy_ns()), (20, 20));
    }

    #[test]
    fn work_that_begins_beyond_the_window_leaves_none_before_it_out() {
        let mut meter = Meter::default();
        // Each follows the one before it, and all were booked when the first began.
        for n in 0..1_000 {
            meter.work(at(n * 10), at(n * 10 + 10), Class::HostWrite);
        }
        meter.close(at(95), nobody());
        assert_eq!((meter.busy_ns(), meter.visits(Class::HostWrite).deferred_ns), (95, 95));
    }

    #[test]
    fn what_is_kept_of_booked_visits_does_not_grow_with_their_number() {
        let mut meter = Meter::default();
        for n in 0..100_000 {
            meter.visit(at(n * 10), at(n * 10), at(n * 10), at(n * 10 + 300), Class::HostRead);
        }
        assert!(meter.booked.len() <= 2 * BOOKED, "{}", meter.booked.len());
    }
}
