//! Division by a number that is fixed when a set or a drive is made.
//!
//! A chunk, a member count and a track need not be powers of two, and a 64-bit division costs more than all the rest of
//! a small plan's arithmetic; one multiplication and one shift do the same.
//!
//! Source: T. Granlund, P. L. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
//!
//! **Invariant:** exact for every dividend below 2^62, which a set guarantees for its addresses; of nanoseconds that is
//! 146 years.

/// A divisor prepared for many divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    divisor: u64,
    reciprocal: u64,
    /// The logarithm of the largest power of two that is not above the divisor.
    log: u32,
}

impl Divisor {
    /// Prepares `divisor`, which must not be zero.
    ///
    /// With shift `s = 63 + floor(log2 d)` the reciprocal `ceil(2^s / d)` fits 64 bits and is too large by less
    /// than one part in `2^s / d`, hence the quotient of any `n` with `n · d <= 2^s`, so of any `n < 2^62`, is exact.
    #[expect(clippy::cast_possible_truncation, reason = "fits, as said; constants convert by `as`")]
    pub const fn new(divisor: u64) -> Divisor {
        assert!(divisor != 0 && divisor < 1 << 62, "a divisor is between 1 and 2^62");
        let log = divisor.ilog2();
        let reciprocal = (1u128 << (63 + log)).div_ceil(divisor as u128) as u64;
        Divisor { divisor, reciprocal, log }
    }

    /// Quotient and remainder.
    #[inline]
    pub const fn divide(self, dividend: u64) -> (u64, u64) {
        let quotient = self.quotient(dividend);
        (quotient, dividend - quotient * self.divisor)
    }

    /// The quotient alone.
    ///
    /// Twice the dividend, so that the first 64 bits of the shift are those of the product that nobody needs.
    #[inline]
    pub const fn quotient(self, dividend: u64) -> u64 {
        debug_assert!(dividend < 1 << 62, "a quotient is exact below 2^62");
        ((((dividend << 1) as u128 * self.reciprocal as u128) >> 64) as u64).wrapping_shr(self.log)
    }

    /// The number divided by.
    #[inline]
    pub const fn get(self) -> u64 {
        self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_divides_as_the_machine_does(
            dividend in 0u64..1 << 62, divisor in prop_oneof![1u64..1000, 1u64..1 << 40, 1u64..1 << 62],
        ) {
            prop_assert_eq!(Divisor::new(divisor).divide(dividend), (dividend / divisor, dividend % divisor));
        }

        #[test]
        fn it_is_exact_next_to_every_multiple(quotient in 0u64..1 << 30, divisor in 1u64..1 << 31) {
            let multiple = quotient * divisor;
            let by = Divisor::new(divisor);
            prop_assert_eq!(by.divide(multiple), (quotient, 0));
            prop_assert_eq!(by.divide(multiple + divisor - 1), (quotient, divisor - 1));
        }
    }
}
