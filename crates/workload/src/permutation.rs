//! A keyed permutation: visit each of `n` numbers once, in an order that looks random, without a map.
//!
//! An unbalanced Feistel network over the next power of two, with cycle walking back into range (Black &
//! Rogaway, *Ciphers with Arbitrary Finite Domains*, 2002). Any position can be computed at once, so workers
//! can take turns in one permutation and a reader can recompute what a writer wrote.

use crate::rng::mix64;

const ROUNDS: usize = 4;

/// A bijection of the numbers below `len`.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..len` that belongs to `key`. `len` must not be zero.
    pub fn new(len: u64, key: u64) -> Permutation {
        assert!(len > 0, "a permutation of nothing");
        let bits = (u64::BITS - (len - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mut keys = [0; ROUNDS];
        let mut state = key;
        for slot in &mut keys {
            state = mix64(state);
            *slot = state;
        }
        let (low, high) = (1u64 << low_bits, 1u64 << (bits - low_bits));
        assert!(u128::from(low) * u128::from(high) >= u128::from(len), "two halves hold each position");
        Permutation { len, low_bits, low_mask: low - 1, high_mask: high - 1, keys }
    }

    /// How many numbers are permuted.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing to permute: never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number at `position`, which must be below `len`. Fewer than two walks on average.
    #[inline]
    pub fn at(&self, position: u64) -> u64 {
        debug_assert!(position < self.len);
        let mut value = self.shuffle(position);
        while value >= self.len {
            value = self.shuffle(value);
        }
        value
    }

    #[inline]
    fn shuffle(&self, value: u64) -> u64 {
        let (mut low, mut high) = (value & self.low_mask, value >> self.low_bits);
        for pair in self.keys.chunks_exact(2) {
            high ^= scramble(low, pair[0]) & self.high_mask;
            low ^= scramble(high, pair[1]) & self.low_mask;
        }
        (high << self.low_bits) | low
    }
}

/// The round function: the high half of a multiplication, which every bit of the input reaches.
#[inline]
const fn scramble(half: u64, key: u64) -> u64 {
    let product = (half ^ key).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    (product >> 32) ^ (product >> 47)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::convert::narrow;

    proptest! {
        #[test]
        fn every_number_comes_once(len in 1u64..5_000, key: u64) {
            let permutation = Permutation::new(len, key);
            let mut seen = vec![false; narrow::<usize>(len)];
            for position in 0..len {
                let value = permutation.at(position);
                prop_assert!(value < len);
                prop_assert!(!std::mem::replace(&mut seen[narrow::<usize>(value)], true), "{} came twice", value);
            }
        }
    }

    #[test]
    fn neighbours_are_scattered_evenly() {
        const LEN: u64 = 1_000_003;
        let permutation = Permutation::new(LEN, 42);
        // The distance between the images of neighbours, in 20 bins, is as even as chance allows.
        let mut bins = [0u64; 20];
        for position in 0..LEN - 1 {
            let step = (permutation.at(position + 1) + LEN - permutation.at(position)) % LEN;
            bins[(step * 20 / LEN) as usize] += 1;
        }
        let expected = LEN as f64 / 20.0;
        let chi_square: f64 = bins.iter().map(|bin| (*bin as f64 - expected).powi(2) / expected).sum();
        // 19 degrees of freedom: 43.8 is exceeded once in a thousand.
        assert!(chi_square < 43.8, "chi-square {chi_square}");
    }

    #[test]
    fn the_largest_domain_is_walked() {
        let permutation = Permutation::new(u64::MAX, 3);
        assert_ne!(permutation.at(0), permutation.at(u64::MAX - 1));
    }
}
