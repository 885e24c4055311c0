//! What of a drive that was fresh lies in its cells of one bit.
//!
//! What a test reads of such a drive it has written before, from the lowest address up: the last of it, as far as the cache
//! has room, is read as one bit a cell is.
//!
//! **Invariant:** what lies there is the highest of what was touched, and never more than the cache's size.

use units::Bytes;
use units::convert::narrow;

/// Parts into which a drive is divided: whether anything lies on it is known of a part as a whole.
const PARTS: u64 = 4096;

/// Which parts of the drive have anything on them, and from which on that lies in the cache.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Bytes of a part.
    part: u64,
    touched: Vec<bool>,
    /// Bytes that the cache takes.
    size: u64,
    /// Bytes of the drive's content that it holds, in whole parts; the rest was moved, or had no room.
    held: u64,
    /// The first part that lies in the cache.
    from: usize,
}

impl Laid {
    /// Nothing yet, on a drive of `capacity` whose cache takes `size`.
    pub fn new(capacity: Bytes, size: Bytes) -> Laid {
        let part = capacity.get().div_ceil(PARTS).max(1);
        Laid { part, touched: vec![false; narrow(PARTS)], size: size.get(), held: 0, from: narrow(PARTS) }
    }

    /// Bytes that are there for the first time, now that something at `offset` is read or written: a part, or none.
    pub fn touch(&mut self, offset: u64) -> u64 {
        let index = self.index(offset);
        if std::mem::replace(&mut self.touched[index], true) {
            return 0;
        }
        self.held = (self.held + self.part).min(self.size);
        self.settle();
        self.part
    }

    /// Whether what lies at `offset`, if anything, lies in the cache.
    pub fn is_in_cache(&self, offset: u64) -> bool {
        self.index(offset) >= self.from
    }

    /// Leaves `bytes` less in the cache: they were moved to the rest of the flash.
    pub fn moved(&mut self, bytes: u64) {
        if bytes > 0 {
            self.held = self.held.saturating_sub(bytes);
            self.settle();
        }
    }

    fn index(&self, offset: u64) -> usize {
        narrow::<usize>((offset / self.part).min(PARTS - 1))
    }

    /// Finds the lowest part that lies in the cache.
    fn settle(&mut self) {
        let parts = self.held / self.part;
        let in_cache = (0..self.touched.len()).rev().filter(|&index| self.touched[index]);
        self.from = in_cache.take(narrow(parts)).last().unwrap_or(self.touched.len());
        debug_assert!(
            self.touched.iter().skip(self.from).filter(|&&is| is).count() as u64 <= parts,
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
        assert_eq!(laid.touch(9000), 100, "what comes after that has room again");
        assert_eq!([5050, 9050].map(|at| laid.is_in_cache(at)), [false, true]);
    }
}
