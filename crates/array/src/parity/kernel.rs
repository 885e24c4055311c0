//! Which instruction set does the arithmetic, chosen once.
//!
//! **Invariant:** a [`Kernel`] of an instruction set exists only where that set was detected, so its methods are
//! safe to call.

use std::sync::OnceLock;

use super::lane::Words;
use super::loops;

/// One way of doing the arithmetic on this machine.
///
/// All give the same bytes; they differ in speed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Words,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Gfni,
}

/// Calls a loop with the instruction set switched on for it and everything inlined into it.
macro_rules! dispatch {
    ($kernel:expr, $loop:ident($($name:ident: $type:ty),*)) => {
        match $kernel.0 {
            // SAFETY: plain words need no instruction set; lengths were checked by the caller.
            Set::Words => unsafe { loops::$loop::<Words>($($name),*) },
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => {
                #[target_feature(enable = "avx2")]
                unsafe fn with_avx2($($name: $type),*) {
                    // SAFETY: this function has AVX2; lengths were checked by the caller.
                    unsafe { loops::$loop::<super::x86::Avx2>($($name),*) }
                }
                // SAFETY: such a kernel exists only where AVX2 was detected.
                unsafe { with_avx2($($name),*) }
            }
            #[cfg(target_arch = "x86_64")]
            Set::Gfni => {
                #[target_feature(enable = "avx512f,avx512bw,gfni")]
                unsafe fn with_gfni($($name: $type),*) {
                    // SAFETY: this function has AVX-512 and GFNI; lengths were checked by the caller.
                    unsafe { loops::$loop::<super::x86::Gfni>($($name),*) }
                }
                // SAFETY: such a kernel exists only where AVX-512 and GFNI were detected.
                unsafe { with_gfni($($name),*) }
            }
        }
    };
}

impl Kernel {
    /// The fastest one that this machine can run. Detected at the first call.
    pub fn best() -> Kernel {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| *Kernel::available().last().expect("plain words are always available"))
    }

    /// All that this machine can run, slowest first. Never empty.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel(Set::Words)];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Kernel(Set::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("gfni")
            {
                kernels.push(Kernel(Set::Gfni));
            }
        }
        kernels
    }

    /// `words`, `avx2` or `avx512-gfni`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Words => "words",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Gfni => "avx512-gfni",
        }
    }

    /// `p` becomes the XOR of the strips of `data`; of none, zeros.
    ///
    /// Panics where lengths differ.
    pub fn xor(self, data: &[&[u8]], p: &mut [u8]) {
        assert!(data.iter().all(|strip| strip.len() == p.len()), "strips and P differ in length");
        if data.is_empty() {
            return p.fill(0);
        }
        dispatch!(self, xor(data: &[&[u8]], p: &mut [u8]));
    }

    /// `p` becomes the XOR of the strips of `data` and `q` their sum weighted by powers of 2, strip 0 by 1.
    ///
    /// Panics where lengths differ or there are more strips than [`MAX_DATA_STRIPS`](super::MAX_DATA_STRIPS).
    pub fn pq(self, data: &[&[u8]], p: &mut [u8], q: &mut [u8]) {
        assert!(data.iter().all(|strip| strip.len() == p.len()), "strips and P differ in length");
        assert!(p.len() == q.len(), "P and Q differ in length");
        assert!(data.len() <= super::MAX_DATA_STRIPS, "Q tells at most 255 strips apart");
        if data.is_empty() {
            p.fill(0);
            return q.fill(0);
        }
        dispatch!(self, pq(data: &[&[u8]], p: &mut [u8], q: &mut [u8]));
    }

    /// `target` gains `by · source`. With `by` 1 it is the plain XOR.
    ///
    /// Panics where lengths differ.
    pub fn add(self, target: &mut [u8], source: &[u8], by: u8) {
        assert!(target.len() == source.len(), "target and source differ in length");
        dispatch!(self, add(target: &mut [u8], source: &[u8], by: u8));
    }

    /// `target` gains `by · (old + new)`: a parity strip follows one rewritten data strip.
    ///
    /// For P `by` is 1, for Q the [`coefficient`](super::coefficient) of the strip. Panics where lengths differ.
    pub fn add_change(self, target: &mut [u8], old: &[u8], new: &[u8], by: u8) {
        assert!(target.len() == old.len(), "target and old data differ in length");
        assert!(target.len() == new.len(), "target and new data differ in length");
        dispatch!(self, add_change(target: &mut [u8], old: &[u8], new: &[u8], by: u8));
    }

    /// `x` becomes `a · x + b · y`, and `y` the old `x` plus the new one.
    ///
    /// Panics where lengths differ.
    pub(super) fn solve(self, x: &mut [u8], y: &mut [u8], a: u8, b: u8) {
        assert!(x.len() == y.len(), "the two unknowns differ in length");
        dispatch!(self, solve(x: &mut [u8], y: &mut [u8], a: u8, b: u8));
    }
}
