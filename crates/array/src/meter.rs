//! What a component keeps of its past: busy time, number present, wait and service by class.
//!
//! **Invariant:** the area under the number present equals the sum of the times present (Little's law as
//! bookkeeping); [`Meter::little_gap`] compares the two, which are counted apart.

use units::{Instant, Nanos};

/// On whose behalf a component works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A host's read.
    HostRead,
    /// A host's write.
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
}

/// The past of one component.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    present: u64,
    changed_at: u64,
    /// Since when it counts.
    since: Instant,
    /// Σ number present × nanoseconds.
    area: u128,
    /// Σ nanoseconds during which something was served (or servers × nanoseconds for several).
    busy_ns: u64,
    by_class: [Visits; Class::ALL.len()],
    /// Σ nanoseconds present of those that left.
    times_ns: u128,
    /// The area and the times when nobody was present last: then the two must be equal.
    settled: (u128, u128),
}

impl Meter {
    /// One more is present from `now`.
    pub fn arrive(&mut self, now: Instant) {
        self.advance(now);
        self.present += 1;
    }

    /// One of those present leaves at `now`, having arrived and started at those instants, in order.
    pub fn leave(&mut self, now: Instant, arrived: Instant, started: Instant, class: Class) {
        self.advance(now);
        self.present -= 1;
        self.times_ns += u128::from(now.saturating_since(arrived.max(self.since)).get());
        if self.present == 0 {
            self.settled = (self.area, self.times_ns);
        }
        let visits = &mut self.by_class[class as usize];
        visits.count += 1;
        visits.wait_ns += started.saturating_since(arrived).get();
        visits.service_ns += now.saturating_since(started).get();
    }

    /// `busy` more was spent serving.
    pub fn add_busy(&mut self, busy: Nanos) {
        self.busy_ns += busy.get();
    }

    /// A whole visit whose instants are all known: for servers in order of arrival.
    pub fn visit(&mut self, arrived: Instant, started: Instant, ended: Instant, class: Class) {
        self.area += u128::from(ended.saturating_since(arrived).get());
        self.busy_ns += ended.saturating_since(started).get();
        let visits = &mut self.by_class[class as usize];
        visits.count += 1;
        visits.wait_ns += started.saturating_since(arrived).get();
        visits.service_ns += ended.saturating_since(started).get();
    }

    /// Forgets the past at `now`; those present stay.
    pub fn restart(&mut self, now: Instant) {
        *self = Meter { present: self.present, changed_at: now.nanos(), since: now, ..Meter::default() };
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
        })
    }

    /// Relative gap between the area under the number present and the sum of times present, when nobody was present
    /// last: zero where Little's law holds. `None` where that has not happened.
    pub fn little_gap(&self) -> Option<f64> {
        let (area, times) = self.settled;
        (area > 0).then(|| (times as f64 / area as f64 - 1.0).abs())
    }

    fn advance(&mut self, now: Instant) {
        self.area += u128::from(self.present) * u128::from(now.nanos().saturating_sub(self.changed_at));
        self.changed_at = self.changed_at.max(now.nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn two_overlapping_visits_give_the_mean_number_present_and_no_gap() {
        let mut meter = Meter::default();
        meter.arrive(at(0));
        meter.arrive(at(10));
        meter.leave(at(40), at(0), at(0), Class::HostRead);
        meter.leave(at(80), at(10), at(40), Class::HostWrite);
        assert!((meter.mean_present(Nanos::new(100)) - 1.1).abs() < 1e-12);
        assert_eq!(meter.visits(Class::HostWrite), Visits { count: 1, wait_ns: 30, service_ns: 40 });
        assert!(meter.little_gap().is_some_and(|gap| gap < 1e-12));
    }

    #[test]
    fn a_departure_that_is_booked_with_a_wrong_arrival_opens_a_gap() {
        let mut meter = Meter::default();
        meter.arrive(at(10));
        meter.leave(at(40), at(0), at(20), Class::HostRead);
        assert!(meter.little_gap().is_some_and(|gap| gap > 0.3));
    }
}
