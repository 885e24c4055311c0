//! The field of 256 elements in which Q is computed, one byte at a time.
//!
//! Slow and obvious on purpose: the fast paths are tested against it, and it finishes the last few bytes of a
//! buffer whose length is no multiple of a vector.
//!
//! Source: H. P. Anvin, "The mathematics of RAID-6": polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d), generator 2,
//! the same as Linux md.
//!
//! **Invariant:** every table here is computed at compile time from the polynomial; none is typed in.

/// The reduction of x^8: the polynomial 0x11d without its top bit.
pub const REDUCTION: u8 = 0x1d;

/// Most data strips that Q can tell apart: the powers of the generator repeat after 255.
pub const MAX_DATA_STRIPS: usize = 255;

const TABLES: ([u8; 256], [u8; 256]) = tables();

/// Powers of the generator and, from the same walk, their logarithms.
#[expect(clippy::cast_possible_truncation, reason = "exponents are below 255; constants convert by `as`")]
const fn tables() -> ([u8; 256], [u8; 256]) {
    let (mut power, mut log) = ([0; 256], [0; 256]);
    let mut value = 1;
    let mut exponent = 0;
    while exponent < 255 {
        power[exponent] = value;
        log[value as usize] = exponent as u8;
        value = double(value);
        exponent += 1;
    }
    power[255] = 1;
    (power, log)
}

/// `2 · value`.
pub const fn double(value: u8) -> u8 {
    (value << 1) ^ (if value & 0x80 == 0 { 0 } else { REDUCTION })
}

/// The generator to that power, taken modulo 255: the coefficient of data strip `exponent` in Q.
pub const fn power(exponent: usize) -> u8 {
    TABLES.0[exponent % 255]
}

/// The product.
pub const fn mul(left: u8, right: u8) -> u8 {
    if left == 0 || right == 0 {
        return 0;
    }
    power(TABLES.1[left as usize] as usize + TABLES.1[right as usize] as usize)
}

/// The element that gives 1 when multiplied with `value`. Zero has none and gives zero.
pub const fn inverse(value: u8) -> u8 {
    if value == 0 { 0 } else { power(255 - TABLES.1[value as usize] as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long multiplication of polynomials with reduction after each step: the definition itself.
    fn by_definition(mut left: u8, right: u8) -> u8 {
        let mut product = 0;
        for bit in 0..8 {
            if right >> bit & 1 == 1 {
                product ^= left;
            }
            left = double(left);
        }
        product
    }

    #[test]
    fn products_from_logarithms_equal_long_multiplication() {
        for left in 0..=255 {
            for right in 0..=255 {
                assert_eq!(mul(left, right), by_definition(left, right), "{left} x {right}");
            }
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse_and_its_own_logarithm() {
        let mut seen = [false; 256];
        for exponent in 0..255 {
            assert!(!std::mem::replace(&mut seen[usize::from(power(exponent))], true));
        }
        for value in 1..=255 {
            assert_eq!(mul(value, inverse(value)), 1);
        }
        assert_eq!(inverse(0), 0);
    }

    #[test]
    fn the_powers_are_those_of_linux_md() {
        // The start of raid6_gfexp as the kernel's mktables.c prints it.
        let expected = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1d, 0x3a, 0x74, 0xe8, 0xcd, 0x87];
        let found: Vec<u8> = (0..expected.len()).map(power).collect();
        assert_eq!(found, expected);
    }
}
