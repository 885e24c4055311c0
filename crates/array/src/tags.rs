//! Which lines a cache holds: set-associative tags with least-recently-used replacement in each set.
//!
//! **Invariant:** memory is fixed at the start; a line is in at most one place.

use units::convert::narrow;

/// Lines in a set. With 8, hits under uniform access differ from full LRU by less than 1 % of the requests.
const WAYS: usize = 8;
/// Most lines that are told apart: 8 MiB of tags. A larger cache gets longer lines instead, which leaves the share
/// of a larger store that it holds, and so its hits under random access, as they are.
const LINES_MAX: u64 = 1 << 20;

/// Lines that follow each other lie in sets that do, up to so many: a transfer of many lines then walks through memory
/// in place of leaping.
const NEIGHBOURS: u64 = 16;

const NOTHING: u64 = u64::MAX;

/// A set's lines, most recently used first. In a line of the processor's cache: whatever is looked up in a large cache
/// costs one access to memory.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Set([u64; WAYS]);

/// The tags of a cache.
#[derive(Clone, Debug)]
pub struct Tags {
    sets: Vec<Set>,
    line_bytes: u64,
}

impl Tags {
    /// Tags for a cache of `size` bytes in lines of at least `line` bytes.
    pub fn new(size: u64, line: u64) -> Tags {
        let mut line_bytes = line.max(1);
        while size / line_bytes > LINES_MAX {
            line_bytes *= 2;
        }
        let sets = (size / line_bytes / WAYS as u64).max(1);
        assert!(sets * WAYS as u64 <= LINES_MAX.max(WAYS as u64), "memory must have a limit");
        Tags { sets: vec![Set([NOTHING; WAYS]); narrow::<usize>(sets)], line_bytes }
    }

    /// Bytes of a line as it is told apart.
    pub fn line_bytes(&self) -> u64 {
        self.line_bytes
    }

    /// The numbers of the lines that `len` bytes from `offset` of volume `volume` touch.
    #[inline]
    pub fn lines_of(&self, volume: u32, offset: u64, len: u64) -> std::ops::Range<u64> {
        debug_assert!(offset / self.line_bytes < 1 << 44, "a line of one volume must not be one of the next");
        let base = u64::from(volume) << 44;
        base + offset / self.line_bytes..base + (offset + len.max(1) - 1) / self.line_bytes + 1
    }

    /// Whether `line` is held; it counts as used.
    #[inline]
    pub fn touch(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let Some(way) = set.iter().position(|&held| held == line) else { return false };
        for way in (0..way).rev() {
            set[way + 1] = set[way];
        }
        set[0] = line;
        true
    }

    /// Whether `line` is held, without counting as use.
    #[inline]
    pub fn holds(&self, line: u64) -> bool {
        self.sets[self.set_of(line)].0.contains(&line)
    }

    /// Whether all lines are held that these bytes touch, without counting as use.
    pub fn hold_all(&self, volume: u32, offset: u64, len: u64) -> bool {
        self.lines_of(volume, offset, len).all(|line| self.holds(line))
    }

    /// Holds all lines that these bytes touch from now on.
    pub fn insert_all(&mut self, volume: u32, offset: u64, len: u64) {
        for line in self.lines_of(volume, offset, len) {
            self.insert(line);
        }
    }

    /// Holds `line` from now on; the line that gave way, if one had to.
    #[inline]
    pub fn insert(&mut self, line: u64) -> Option<u64> {
        debug_assert_ne!(line, NOTHING, "a line must be told from an empty place");
        // Each moves on by one, up to the place where the line was.
        let mut moved = line;
        for held in self.set(line) {
            moved = std::mem::replace(held, moved);
            if moved == line {
                return None;
            }
        }
        (moved != NOTHING).then_some(moved)
    }

    /// Makes `line` the next of its set to give way: its data are not expected to be asked for again.
    pub fn expire(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(way) = set.iter().position(|&held| held == line) {
            set[way..].rotate_left(1);
        }
    }

    /// Holds nothing.
    pub fn clear(&mut self) {
        self.sets.fill(Set([NOTHING; WAYS]));
    }

    #[inline]
    fn set_of(&self, line: u64) -> usize {
        // Multiplying scatters neighbouring groups over the sets (Fibonacci hashing, Knuth 6.4).
        let mixed = (line / NEIGHBOURS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = narrow::<usize>((u128::from(mixed) * self.sets.len() as u128) >> 64);
        let set = first + narrow::<usize>(line % NEIGHBOURS);
        if set < self.sets.len() { set } else { set % self.sets.len() }
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [u64; WAYS] {
        let at = self.set_of(line);
        &mut self.sets[at].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Stream;

    #[test]
    fn random_access_to_four_times_the_cache_hits_once_in_four() {
        let mut tags = Tags::new(64 << 20, 4096);
        let mut draws = Stream::open(1, "test");
        let mut hits = 0;
        for n in 0..400_000 {
            let line = draws.below(65_536);
            let hit = tags.touch(line);
            if !hit {
                tags.insert(line);
            }
            hits += u32::from(hit && n >= 200_000);
        }
        assert!((f64::from(hits) / 200_000.0 - 0.25).abs() < 0.01, "{hits}");
    }

    #[test]
    fn an_expired_line_gives_way_first() {
        let mut tags = Tags::new(8 * 4096, 4096);
        for line in 0..8 {
            tags.insert(line);
        }
        tags.expire(5);
        assert_eq!(tags.insert(100), Some(5));
    }

    #[test]
    fn a_huge_cache_gets_longer_lines_and_not_more_memory() {
        let tags = Tags::new(64 << 30, 4096);
        assert!(tags.sets.len() * WAYS <= narrow::<usize>(LINES_MAX));
        assert_eq!(tags.line_bytes(), 65_536);
    }
}
