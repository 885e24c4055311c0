//! Draws that a seed decides, for drawing again and for trying out what is known.

use units::convert::narrow;

/// SplitMix64: fast, and sound for every seed. Source: Steele, Lea & Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Above 0 and below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53) + 2f64.powi(-54)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        narrow::<usize>((u128::from(self.next()) * bound as u128) >> 64)
    }

    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -self.uniform().ln() * mean
    }
}

/// For trying out: what no measure draws.
#[cfg(test)]
impl Draws {
    /// Around 0 with a deviation of 1. Source: Box & Muller, Annals of Mathematical Statistics 29 (1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// All orders are as likely.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_splitmix64_in_the_middles_of_their_steps() {
        // The first six of seed 42, computed apart from this program.
        let mut draws = Draws(42);
        let wanted = [
            0.741_564_878_771_823_4,
            0.159_910_392_876_920_16,
            0.278_601_130_255_138_7,
            0.344_190_716_523_637_6,
            0.038_030_168_540_246_27,
            0.868_228_076_546_532_4,
        ];
        assert_eq!(wanted.map(|_| draws.uniform()), wanted);
    }

    #[test]
    fn places_are_drawn_in_an_order_that_the_seed_decides() {
        let mut draws = Draws(42);
        let drawn: Vec<usize> = (0..12).map(|_| draws.below(10)).collect();
        assert_eq!(drawn, [7, 1, 2, 3, 0, 8, 2, 8, 3, 6, 2, 4]);
        // The lower bits as well.
        assert_eq!(Draws(42).below(1 << 60), 854_966_095_797_204_713);
    }
}
