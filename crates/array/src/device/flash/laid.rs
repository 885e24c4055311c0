//! What of a drive that was fresh lies in its cells of one bit.
//!
//! What a test reads of such a drive it has written before, from the lowest address up: the last of it, as far as the cache
//! has room, is read as one bit a cell is.
//!
//! **Invariant:** what lies there is the highest of what was touched, and never more than the room.

use units::Bytes;
use units::convert::narrow;

/// Parts of a drive that are told apart.
const PARTS: u64 = 4096;

/// Which parts of the drive have anything on them, and from which on that lies in the cache.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Bytes of a part.
    part: u64,
    touched: Vec<bool>,
    /// Bytes that the cache holds of it, at the most.
    room: u64,
    /// The first part that lies in the cache.
    from: usize,
}

impl Laid {
    /// Nothing yet, on a drive of `capacity` whose cache takes `room`.
    pub fn new(capacity: Bytes, room: Bytes) -> Laid {
        let part = capacity.get().div_ceil(PARTS).max(1);
        Laid { part, touched: vec![false; narrow(PARTS)], room: room.get(), from: 0 }
    }

    /// Bytes that are there for the first time, now that something at `offset` is read or written: a part, or none.
    pub fn touch(&mut self, offset: u64) -> u64 {
        let index = self.index(offset);
        if std::mem::replace(&mut self.touched[index], true) {
            return 0;
        }
        self.settle();
        self.part
    }

    /// Whether what lies at `offset`, if anything, lies in the cache.
    pub fn is_in_cache(&self, offset: u64) -> bool {
        self.index(offset) >= self.from
    }

    /// Leaves `bytes` less in the cache: they were moved to the rest of the flash.
    pub fn moved(&mut self, bytes: u64) {
        self.room = self.room.saturating_sub(bytes);
        self.settle();
    }

    fn index(&self, offset: u64) -> usize {
        narrow::<usize>((offset / self.part).min(PARTS - 1))
    }

    /// Finds the lowest part that the room reaches down to.
    fn settle(&mut self) {
        let places = self.room / self.part;
        let in_cache = (0..self.touched.len()).rev().filter(|&index| self.touched[index]);
        self.from = match places {
            0 => self.touched.len(),
            // Where all that was touched has room, nothing lies below it.
            _ => in_cache.take(narrow(places)).last().unwrap_or(0),
        };
        debug_assert!(
            self.touched.iter().skip(self.from).filter(|&&is| is).count() as u64 <= places,
            "what lies in the cache has room there"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_what_was_written_lies_in_the_cache_as_far_as_it_has_room() {
        let mut laid = Laid::new(Bytes::new(4096 * 100), Bytes::new(250));
        assert_eq!([laid.touch(1000), laid.touch(1099), laid.touch(1100)], [100, 0, 100]);
        assert!(laid.is_in_cache(1050) && laid.is_in_cache(1150), "two parts are two hundred bytes");
        assert_eq!(laid.touch(5000), 100);
        assert_eq!([1050, 1150, 5050].map(|at| laid.is_in_cache(at)), [false, true, true]);
        laid.moved(100);
        assert_eq!([1050, 1150, 5050].map(|at| laid.is_in_cache(at)), [false, false, true]);
        laid.moved(1_000_000);
        assert!(!laid.is_in_cache(5050));
    }
}
