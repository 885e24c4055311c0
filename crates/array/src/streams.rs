//! One random stream per purpose.
//!
//! **Invariant:** a stream depends on the seed and its name alone, so a draw added in one place shifts nothing
//! elsewhere.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers for one purpose.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream called `name` under `seed`.
    ///
    /// The name enters by FNV-1a (64 bit); the generator spreads the sum of both by SplitMix64.
    pub fn open(seed: u64, name: &str) -> Stream {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Stream(Xoshiro256PlusPlus::seed_from_u64(hash ^ seed.rotate_left(32)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly from `[0, 1)`, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly from `0..limit`; zero where `limit` is zero. The bias is below `limit / 2^64` (Lemire 2019).
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// Exponentially distributed with that mean, in the unit of the mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        debug_assert!(mean >= 0.0, "a mean time must not be negative");
        -(1.0 - self.unit()).ln() * mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        assert_eq!(Stream::open(1, "seek").bits(), Stream::open(1, "seek").bits());
        assert_ne!(Stream::open(1, "seek").bits(), Stream::open(2, "seek").bits());
        assert_ne!(Stream::open(1, "seek").bits(), Stream::open(1, "think").bits());
    }

    #[test]
    fn an_exponential_draw_has_its_mean_and_a_standard_deviation_equal_to_it() {
        let mut stream = Stream::open(7, "exponential");
        let draws: Vec<f64> = (0..200_000).map(|_| stream.exponential(5.0)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        // Four standard errors: 5 / sqrt(200,000) for the mean.
        assert!((mean - 5.0).abs() < 0.045, "{mean}");
        assert!((variance.sqrt() - 5.0).abs() < 0.09, "{}", variance.sqrt());
    }
}
