//! One random stream per purpose, so that one more draw for one purpose shifts nothing for another.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator behind every choice: 64 bits a draw, period 2^256.
pub type Stream = Xoshiro256PlusPlus;

/// Opens streams by name. The same seed and name give the same stream on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// All streams of `seed`.
    pub const fn new(seed: u64) -> Streams {
        Streams { seed }
    }

    /// The stream called `name`, from its start.
    pub fn open(self, name: &str) -> Stream {
        Stream::seed_from_u64(self.key(name))
    }

    /// A 64-bit key that depends on seed and name alone.
    pub fn key(self, name: &str) -> u64 {
        name.bytes().fold(mix64(self.seed), |key, byte| mix64(key ^ u64::from(byte)))
    }
}

/// A bijection of 64 bits in which every input bit flips each output bit with probability one half.
/// Source: the finaliser of SplitMix64 (Steele, Lea & Flood 2014), after the golden-ratio step.
pub(crate) const fn mix64(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A whole number below `bound`, each as likely as the others to within `bound` / 2^64. `bound` must not be 0.
///
/// The multiply-shift without rejection: for the 2^40 blocks of a petabyte the bias is below 2^-24, far under
/// what any run could show.
#[inline]
pub(crate) fn below(stream: &mut Stream, bound: u64) -> u64 {
    debug_assert!(bound > 0, "nothing lies below zero");
    ((u128::from(stream.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// A number in 0 (included) to 1 (excluded) with 53 random bits.
#[inline]
pub(crate) fn unit(stream: &mut Stream) -> f64 {
    (stream.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::convert::narrow;

    #[test]
    fn the_same_name_gives_the_same_stream_and_another_name_another() {
        let streams = Streams::new(7);
        let draw = |name: &str| streams.open(name).next_u64();
        assert_eq!(draw("offsets/a/0"), draw("offsets/a/0"));
        assert_ne!(draw("offsets/a/0"), draw("offsets/a/1"));
        assert_ne!(draw("offsets/a/0"), Streams::new(8).open("offsets/a/0").next_u64());
    }

    #[test]
    fn numbers_below_a_bound_cover_it_evenly() {
        let mut stream = Streams::new(1).open("test");
        let mut counts = [0u32; 10];
        (0..100_000).for_each(|_| counts[narrow::<usize>(below(&mut stream, 10))] += 1);
        // Five standard deviations of a binomial with n = 100,000 and p = 0.1 are 474.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 474), "{counts:?}");
    }
}
