//! A lane: some bytes that are loaded, combined and stored together, on each instruction set.
//!
//! The loops in `loops` are written once over this trait. Every method is inlined into a function that switches
//! the instruction set on, which is why none carries the switch itself.
//!
//! **Invariant:** a lane never reads or writes more than [`Lane::BYTES`] bytes at the pointer it is given.

use super::field;

/// Bytes combined together.
pub trait Lane: Copy {
    /// How many bytes.
    const BYTES: usize;

    /// A constant prepared for [`Lane::times`].
    type Factor: Copy;

    /// The bytes at `from`.
    ///
    /// # Safety
    /// `from` must be valid for reading [`Lane::BYTES`] bytes; the lane's instruction set must be present.
    unsafe fn load(from: *const u8) -> Self;

    /// Puts the bytes at `to`.
    ///
    /// # Safety
    /// `to` must be valid for writing [`Lane::BYTES`] bytes; the lane's instruction set must be present.
    unsafe fn store(self, to: *mut u8);

    /// The sum in the field, byte by byte.
    ///
    /// # Safety
    /// The lane's instruction set must be present.
    unsafe fn xor(self, other: Self) -> Self;

    /// Twice this in the field, byte by byte.
    ///
    /// # Safety
    /// The lane's instruction set must be present.
    unsafe fn double(self) -> Self;

    /// Prepares the constant `by`.
    ///
    /// # Safety
    /// The lane's instruction set must be present.
    unsafe fn factor(by: u8) -> Self::Factor;

    /// The product with a prepared constant, byte by byte.
    ///
    /// # Safety
    /// The lane's instruction set must be present.
    unsafe fn times(self, factor: Self::Factor) -> Self;
}

/// Two machine words: runs everywhere.
#[derive(Clone, Copy)]
pub struct Words([u64; 2]);

const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

impl Lane for Words {
    const BYTES: usize = 16;
    type Factor = u8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Words {
        // SAFETY: the caller promises 16 readable bytes; the read makes no claim about alignment.
        Words(unsafe { from.cast::<[u64; 2]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller promises 16 writable bytes; the write makes no claim about alignment.
        unsafe { to.cast::<[u64; 2]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Words) -> Words {
        Words([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    unsafe fn double(self) -> Words {
        // Shift all bytes at once; where a top bit fell out, add the reduction to that byte. The product cannot
        // carry from byte to byte because each factor byte is 0 or 1.
        Words(self.0.map(|word| {
            ((word & (EVERY_BYTE * 0x7f)) << 1) ^ ((word >> 7 & EVERY_BYTE) * u64::from(field::REDUCTION))
        }))
    }

    #[inline(always)]
    unsafe fn factor(by: u8) -> u8 {
        by
    }

    #[inline(always)]
    unsafe fn times(self, factor: u8) -> Words {
        let (mut product, mut power) = (Words([0; 2]), self);
        for bit in 0..8 {
            let wanted = 0u64.wrapping_sub(u64::from(factor >> bit & 1));
            // SAFETY: plain words need no instruction set.
            unsafe {
                product = product.xor(Words(power.0.map(|word| word & wanted)));
                power = power.double();
            }
        }
        product
    }
}
