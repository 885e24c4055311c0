//! The clock of a simulation, and what happens later.
//!
//! **Invariant:** the clock never goes back, and nothing is put before it.

use units::Instant;

use crate::events::Events;

use super::event::Event;

/// The clock, and the queue of events that moves it on.
#[derive(Debug)]
pub struct Timeline {
    now: Instant,
    events: Events,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline { now: Instant::START, events: Events::with_capacity(1024) }
    }
}

impl Timeline {
    /// What time it is.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Has an event come up at `at`; those of one instant come up in the order in which they were put.
    #[inline]
    pub fn at(&mut self, at: Instant, event: Event) {
        debug_assert!(at >= self.now, "nothing may happen in the past");
        self.events.push(at, event.pack());
    }

    /// Has an event come up now, after those that are due now already.
    #[inline]
    pub fn soon(&mut self, event: Event) {
        self.at(self.now, event);
    }

    /// The next event, at which it is now; `None` where nothing will happen any more.
    #[inline]
    pub fn advance(&mut self) -> Option<Event> {
        let (now, slot) = self.events.pop()?;
        debug_assert!(now >= self.now, "events must come in order of time");
        self.now = now;
        Some(Event::unpack(slot))
    }

    /// When the next event is due, or [`Instant::NEVER`].
    pub fn next_due(&self) -> Instant {
        self.events.next_due()
    }

    /// Lets time pass until `at`, before which nothing may be due.
    pub fn pass_to(&mut self, at: Instant) {
        debug_assert!(
            self.next_due() >= at.min(self.next_due()).max(self.now),
            "an event must not be passed by"
        );
        self.now = self.now.max(at);
    }

    /// How many events have been put so far.
    pub fn entered(&self) -> u64 {
        self.events.entered()
    }

    /// Forgets what would happen later.
    pub fn clear(&mut self) {
        self.events.clear();
    }
}
