//! Lanes of x86-64: AVX2 (32 bytes, products by two table look-ups) and AVX-512 with GFNI (64 bytes, products by
//! one 8 × 8 bit matrix).
//!
//! The field instruction GF2P8MULB is of no use here: it is fixed to the polynomial 0x11b. The affine instruction
//! takes any matrix, so multiplication by a constant of our field is one instruction too.
//!
//! Sources: H. P. Anvin, "The mathematics of RAID-6" (doubling by compare and mask); J. S. Plank, K. M. Greenan,
//! E. L. Miller, "Screaming fast Galois field arithmetic using Intel SIMD instructions", FAST 2013 (nibble
//! tables); Intel SDM volume 2, GF2P8AFFINEQB (bit order of the matrix).

use std::arch::x86_64::*;

use super::field;
use super::lane::Lane;

/// 32 bytes, AVX2.
#[derive(Clone, Copy)]
pub struct Avx2(__m256i);

/// Products of one constant with the low and with the high half of a byte.
const NIBBLES: [[u8; 32]; 256] = nibbles();

#[expect(clippy::cast_possible_truncation, reason = "factors are bytes; constants convert by `as`")]
const fn nibbles() -> [[u8; 32]; 256] {
    let mut tables = [[0; 32]; 256];
    let mut by = 0;
    while by < 256 {
        let mut nibble = 0;
        while nibble < 16 {
            tables[by][nibble] = field::mul(by as u8, nibble as u8);
            tables[by][16 + nibble] = field::mul(by as u8, (nibble as u8) << 4);
            nibble += 1;
        }
        by += 1;
    }
    tables
}

impl Lane for Avx2 {
    const BYTES: usize = 32;
    type Factor = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Avx2 {
        // SAFETY: the caller promises 32 readable bytes and AVX2; the load is unaligned.
        Avx2(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller promises 32 writable bytes and AVX2; the store is unaligned.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Avx2) -> Avx2 {
        // SAFETY: the caller promises AVX2.
        Avx2(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn double(self) -> Avx2 {
        // SAFETY: the caller promises AVX2.
        unsafe {
            let carried = _mm256_cmpgt_epi8(_mm256_setzero_si256(), self.0);
            let reduced = _mm256_and_si256(carried, _mm256_set1_epi8(field::REDUCTION.cast_signed()));
            Avx2(_mm256_xor_si256(_mm256_add_epi8(self.0, self.0), reduced))
        }
    }

    #[inline(always)]
    unsafe fn factor(by: u8) -> (__m256i, __m256i) {
        let table = NIBBLES[usize::from(by)].as_ptr();
        // SAFETY: the caller promises AVX2; both loads of 16 bytes lie inside the table of 32.
        unsafe {
            let low = _mm_loadu_si128(table.cast());
            let high = _mm_loadu_si128(table.add(16).cast());
            (_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high))
        }
    }

    #[inline(always)]
    unsafe fn times(self, (low, high): (__m256i, __m256i)) -> Avx2 {
        // SAFETY: the caller promises AVX2.
        unsafe {
            let nibble = _mm256_set1_epi8(0x0f);
            let from_low = _mm256_shuffle_epi8(low, _mm256_and_si256(self.0, nibble));
            let upper = _mm256_and_si256(_mm256_srli_epi64::<4>(self.0), nibble);
            Avx2(_mm256_xor_si256(from_low, _mm256_shuffle_epi8(high, upper)))
        }
    }
}

/// 64 bytes, AVX-512 with GFNI.
#[derive(Clone, Copy)]
pub struct Gfni(__m512i);

/// Multiplication by each constant as a matrix: byte `7 - i` of the word is the row that gives bit `i`.
const MATRICES: [u64; 256] = matrices();

#[expect(clippy::cast_possible_truncation, reason = "factors are bytes; constants convert by `as`")]
const fn matrices() -> [u64; 256] {
    let mut matrices = [0; 256];
    let mut by = 0;
    while by < 256 {
        let mut column = 0;
        while column < 8 {
            let image = field::mul(by as u8, 1 << column) as u64;
            let mut row = 0;
            while row < 8 {
                matrices[by] |= (image >> row & 1) << ((7 - row) * 8 + column);
                row += 1;
            }
            column += 1;
        }
        by += 1;
    }
    matrices
}

impl Lane for Gfni {
    const BYTES: usize = 64;
    type Factor = __m512i;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Gfni {
        // SAFETY: the caller promises 64 readable bytes and AVX-512; the load is unaligned.
        Gfni(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller promises 64 writable bytes and AVX-512; the store is unaligned.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Gfni) -> Gfni {
        // SAFETY: the caller promises AVX-512.
        Gfni(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn double(self) -> Gfni {
        // SAFETY: the caller promises AVX-512 and GFNI.
        unsafe { self.times(Gfni::factor(2)) }
    }

    #[inline(always)]
    unsafe fn factor(by: u8) -> __m512i {
        // SAFETY: the caller promises AVX-512.
        unsafe { _mm512_set1_epi64(MATRICES[usize::from(by)].cast_signed()) }
    }

    #[inline(always)]
    unsafe fn times(self, factor: __m512i) -> Gfni {
        // SAFETY: the caller promises AVX-512 and GFNI.
        Gfni(unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self.0, factor) })
    }
}
