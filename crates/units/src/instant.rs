//! A point in a world's time.

use std::ops::{Add, AddAssign, Sub};

use crate::Nanos;

/// A point in time, counted in nanoseconds from the start of the world it belongs to.
///
/// Real or virtual: nothing that holds an `Instant` can tell. Two instants do not add; their difference is
/// a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the world.
    pub const START: Instant = Instant(0);
    /// Later than everything: "never".
    pub const NEVER: Instant = Instant(u64::MAX);

    /// That many nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The span since the start.
    pub const fn since_start(self) -> Nanos {
        Nanos::new(self.0)
    }

    /// The span since `earlier`, or zero where `earlier` is in fact later.
    pub const fn saturating_since(self, earlier: Instant) -> Nanos {
        Nanos::new(self.0.saturating_sub(earlier.0))
    }

    /// This point moved `by` later, at most to [`Instant::NEVER`].
    pub const fn saturating_add(self, by: Nanos) -> Instant {
        Instant(self.0.saturating_add(by.get()))
    }
}

impl Add<Nanos> for Instant {
    type Output = Instant;
    fn add(self, by: Nanos) -> Instant {
        Instant(self.0 + by.get())
    }
}

impl AddAssign<Nanos> for Instant {
    fn add_assign(&mut self, by: Nanos) {
        self.0 += by.get();
    }
}

impl Sub for Instant {
    type Output = Nanos;
    fn sub(self, earlier: Instant) -> Nanos {
        Nanos::new(self.0 - earlier.0)
    }
}
