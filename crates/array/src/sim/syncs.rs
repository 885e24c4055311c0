//! Who waits until the dirty pages of a file are written: fsync(2).
//!
//! **Invariant:** who comes waits for what was dirty then, and for nothing that comes after.

use std::collections::VecDeque;

/// The writes of one file's pages that are under way, by the waits between which they began.
#[derive(Debug, Default)]
pub struct Syncs {
    /// Of writes that begin now.
    age: u64,
    /// Age and number of those that have not ended, the oldest first.
    under_way: VecDeque<(u64, u32)>,
    /// Who waits, and for writes up to which age.
    waiting: VecDeque<(u32, u64)>,
}

impl Syncs {
    /// A write begins: the age to end it with.
    pub fn begin(&mut self) -> u64 {
        match self.under_way.back_mut() {
            Some((age, count)) if *age == self.age => *count += 1,
            _ => self.under_way.push_back((self.age, 1)),
        }
        self.age
    }

    /// Has `place` wait for all that are under way. `false`: none is.
    pub fn wait(&mut self, place: u32) -> bool {
        if self.under_way.is_empty() {
            return false;
        }
        self.waiting.push_back((place, self.age));
        self.age += 1;
        true
    }

    /// A write of that age has ended.
    pub fn end(&mut self, age: u64) {
        let found = self.under_way.iter_mut().find(|(own, _)| *own == age);
        debug_assert!(found.is_some(), "what ends has begun");
        if let Some((_, count)) = found {
            *count -= 1;
        }
        while self.under_way.front().is_some_and(|(_, count)| *count == 0) {
            self.under_way.pop_front();
        }
    }

    /// The next that need not wait any more, each once.
    pub fn release(&mut self) -> Option<u32> {
        let oldest = self.under_way.front().map_or(u64::MAX, |(age, _)| *age);
        let (place, _) = *self.waiting.front().filter(|(_, age)| *age < oldest)?;
        self.waiting.pop_front();
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_does_so_for_what_had_begun_and_not_for_what_began_later() {
        let mut syncs = Syncs::default();
        assert!(!syncs.wait(1), "nothing is dirty");
        let (first, second) = (syncs.begin(), syncs.begin());
        assert!(syncs.wait(1));
        let third = syncs.begin();
        assert!(syncs.wait(2));
        syncs.end(third);
        assert_eq!(syncs.release(), None, "the third ended, and both wait for the first two");
        syncs.end(first);
        assert_eq!(syncs.release(), None);
        syncs.end(second);
        assert_eq!([syncs.release(), syncs.release(), syncs.release()], [Some(1), Some(2), None]);
        assert!(!syncs.wait(3));
    }
}
