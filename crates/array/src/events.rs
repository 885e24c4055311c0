//! The queue of things that happen later.
//!
//! **Invariant:** events leave in order of time, and equal times in the order they entered.
//! **Invariant:** an event is 16 bytes of plain data; pushing one allocates nothing once the heap has grown to
//! the largest number of events that ever wait at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Instant;

/// Bits of a key that hold what the event is about.
const SLOT_BITS: u32 = 24;
/// Bits of a key that hold the order of entry: enough for 10^12 events.
const SEQUENCE_BITS: u32 = 40;

/// Events by due time: what is due, and about whom.
///
/// The whole event is one 128-bit number, `time << 64 | sequence << 24 | slot`, so that the heap compares two
/// registers and nothing else. What the 24 bits of a slot mean is its user's affair.
#[derive(Debug, Default)]
pub struct Events {
    heap: BinaryHeap<Reverse<u128>>,
    /// Whether the first of the heap has left: what enters next takes its place, so that the heap is put in order once for
    /// both, as most events bring another about.
    first_left: bool,
    entered: u64,
}

impl Events {
    /// An empty queue with room for `capacity` waiting events.
    pub fn with_capacity(capacity: usize) -> Events {
        Events { heap: BinaryHeap::with_capacity(capacity), first_left: false, entered: 0 }
    }

    /// Has `slot` come up at `at`.
    ///
    /// # Panics
    /// Where `slot` does not fit in 24 bits, or after 2^40 events: both are errors of this crate, not of its user.
    #[inline]
    pub fn push(&mut self, at: Instant, slot: u32) {
        assert!(slot >> SLOT_BITS == 0, "an event's slot has 24 bits");
        assert!(self.entered >> SEQUENCE_BITS == 0, "an event's sequence number has 40 bits");
        let order = self.entered << SLOT_BITS | u64::from(slot);
        self.entered += 1;
        let key = Reverse(u128::from(at.nanos()) << 64 | u128::from(order));
        if std::mem::take(&mut self.first_left)
            && let Some(mut first) = self.heap.peek_mut()
        {
            *first = key;
            return;
        }
        self.heap.push(key);
    }

    /// The earliest event and its slot, taken out; `None` where nothing waits.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, u32)> {
        if std::mem::take(&mut self.first_left) {
            self.heap.pop();
        }
        let Reverse(key) = *self.heap.peek()?;
        self.first_left = true;
        Some((due(key), (key & ((1 << SLOT_BITS) - 1)) as u32))
    }

    /// When the earliest event is due, or [`Instant::NEVER`].
    pub fn next_due(&self) -> Instant {
        // The two after the first are its children.
        let first = if self.first_left { 1..3 } else { 0..1 };
        let waiting = self.heap.as_slice().iter().take(first.end).skip(first.start);
        waiting.map(|Reverse(key)| due(*key)).min().unwrap_or(Instant::NEVER)
    }

    /// Forgets all events.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.first_left = false;
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.first_left)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events have entered since the start: the cost of a run, independent of the machine.
    pub fn entered(&self) -> u64 {
        self.entered
    }
}

fn due(key: u128) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_leave_by_time_and_equal_times_in_order_of_entry() {
        let mut events = Events::default();
        for (at, slot) in [(30, 1), (10, 7), (10, 3), (20, 9), (10, 5)] {
            events.push(Instant::from_nanos(at), slot);
        }
        let order: Vec<_> =
            std::iter::from_fn(|| events.pop()).map(|(at, slot)| (at.nanos(), slot)).collect();
        assert_eq!(order, [(10, 7), (10, 3), (10, 5), (20, 9), (30, 1)]);
    }

    proptest! {
        #[test]
        fn whatever_enters_between_two_that_leave_the_earliest_leaves_next(
            steps in proptest::collection::vec(proptest::option::of(0u64..20), 1..200),
        ) {
            let (mut events, mut waiting) = (Events::default(), BTreeSet::new());
            for (order, step) in (0..).zip(steps) {
                match step {
                    Some(at) => {
                        events.push(Instant::from_nanos(at), order);
                        waiting.insert((at, order));
                    }
                    None => {
                        let left = events.pop().map(|(at, slot)| (at.nanos(), slot));
                        prop_assert_eq!(left, waiting.pop_first());
                    }
                }
                let next = waiting.first().map_or(Instant::NEVER, |(at, _)| Instant::from_nanos(*at));
                prop_assert_eq!(events.next_due(), next);
                prop_assert_eq!((events.len(), events.is_empty()), (waiting.len(), waiting.is_empty()));
            }
        }
    }

    #[test]
    fn the_far_end_of_time_and_of_slots_survives_packing() {
        let mut events = Events::default();
        events.push(Instant::NEVER, (1 << 24) - 1);
        assert_eq!(events.next_due(), Instant::NEVER);
        assert_eq!(events.pop(), Some((Instant::NEVER, (1 << 24) - 1)));
        assert!(events.is_empty());
    }
}
