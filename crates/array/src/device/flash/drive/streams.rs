//! Streams of commands, told from random ones.
//!
//! **Invariant:** memory is fixed; of the ends that share a place the oldest of more than [`WAYS`] is forgotten.

use std::array;

use units::convert::narrow;

/// Ends that one place holds.
const WAYS: usize = 4;

/// Where the latest requests ended, by the place of that in the drive: `4 * PLACES` of them, a power of two.
#[derive(Clone, Debug)]
pub(super) struct Streams<const PLACES: usize> {
    ends: Box<[[u64; WAYS]; PLACES]>,
}

impl<const PLACES: usize> Default for Streams<PLACES> {
    fn default() -> Self {
        const { assert!(PLACES.is_power_of_two() && PLACES > 1) };
        Streams { ends: Box::new(array::from_fn(|_| [u64::MAX; WAYS])) }
    }
}

impl<const PLACES: usize> Streams<PLACES> {
    /// Whether a request continues where an earlier one ended.
    pub(super) fn continues(&mut self, offset: u64, bytes: u64) -> bool {
        let ends = &mut self.ends[place::<PLACES>(offset)];
        let known = ends.iter().position(|&end| end == offset);
        if let Some(way) = known {
            ends[way] = u64::MAX;
        }
        let end = offset + bytes;
        let ends = &mut self.ends[place::<PLACES>(end)];
        ends.rotate_right(1);
        ends[0] = end;
        known.is_some()
    }
}

/// The upper bits of a product with the golden ratio, which spread what is evenly apart (Knuth, The Art of Computer Programming,
/// volume 3, section 6.4).
fn place<const PLACES: usize>(offset: u64) -> usize {
    narrow(offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.ilog2()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundreds_of_streams_are_told_from_what_is_random_beside_them() {
        let mut streams = Streams::<256>::default();
        let mut draws = crate::streams::Stream::open(1, "test");
        let mut continued = [0; 2];
        for step in 0..100 {
            for stream in 0..128_u64 {
                continued[0] += u32::from(streams.continues((stream << 32) + step * 65_536, 65_536));
                continued[1] += u32::from(streams.continues(draws.below(1 << 40) * 4_096, 4_096));
            }
        }
        assert!(continued[0] >= 99 * 128 * 98 / 100, "{continued:?}");
        assert_eq!(continued[1], 0);
    }

    #[test]
    fn an_end_is_continued_once() {
        let mut streams = Streams::<256>::default();
        assert_eq!([0, 4_096, 4_096].map(|offset| streams.continues(offset, 4_096)), [false, true, false]);
    }

    #[test]
    fn an_end_is_forgotten_behind_enough_others() {
        let mut streams = Streams::<256>::default();
        streams.continues(0, 4_096);
        for other in 1..=100_000 {
            streams.continues(other << 20, 4_096);
        }
        assert!(!streams.continues(4_096, 4_096));
        assert!(streams.continues((100_000 << 20) + 4_096, 4_096));
    }
}
