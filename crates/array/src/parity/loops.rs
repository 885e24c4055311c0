//! The loops over buffers, written once for every instruction set.
//!
//! Each walks its buffers lane by lane and finishes what is shorter than a lane byte by byte. The work per lane is
//! small against the cost of waiting for it, so the long loops keep four lanes in flight.
//!
//! **Invariant:** all buffers of one call have the same length; `kernel` has checked it.

use super::field;
use super::lane::Lane;

/// Lanes in flight. Doubling Q is a chain of three to five cycles a strip; four chains hide it.
const FLIGHT: usize = 4;

/// `p` becomes the XOR of `data`.
///
/// # Safety
/// The instruction set of `L` must be present, every buffer must have the length of `p`, `data` must not be empty.
#[inline(always)]
pub unsafe fn xor<L: Lane>(data: &[&[u8]], p: &mut [u8]) {
    let mut at = 0;
    while at + FLIGHT * L::BYTES <= p.len() {
        // SAFETY: `at + FLIGHT * BYTES` is inside every buffer by the loop's condition and the caller's promise.
        unsafe { xor_lanes::<L, FLIGHT>(data, p, at) };
        at += FLIGHT * L::BYTES;
    }
    while at + L::BYTES <= p.len() {
        // SAFETY: as above, for one lane.
        unsafe { xor_lanes::<L, 1>(data, p, at) };
        at += L::BYTES;
    }
    for at in at..p.len() {
        p[at] = data.iter().fold(0, |sum, strip| sum ^ strip[at]);
    }
}

#[inline(always)]
unsafe fn xor_lanes<L: Lane, const N: usize>(data: &[&[u8]], p: &mut [u8], at: usize) {
    // SAFETY: the caller keeps `at + N * BYTES` inside every buffer and `data` not empty.
    unsafe {
        let mut sum: [L; N] = load(data.get_unchecked(0), at);
        for strip in data.get_unchecked(1..) {
            let strip: [L; N] = load(strip, at);
            for n in 0..N {
                sum[n] = sum[n].xor(strip[n]);
            }
        }
        store(sum, p, at);
    }
}

/// `p` becomes the XOR of `data`, `q` the sum of strip `i` times the generator to the `i`.
///
/// Q by Horner's rule from the last strip to the first, so that each step is one doubling.
///
/// # Safety
/// As for [`xor`]; `q` has the same length too.
#[inline(always)]
pub unsafe fn pq<L: Lane>(data: &[&[u8]], p: &mut [u8], q: &mut [u8]) {
    let mut at = 0;
    while at + FLIGHT * L::BYTES <= p.len() {
        // SAFETY: `at + FLIGHT * BYTES` is inside every buffer by the loop's condition and the caller's promise.
        unsafe { pq_lanes::<L, FLIGHT>(data, p, q, at) };
        at += FLIGHT * L::BYTES;
    }
    while at + L::BYTES <= p.len() {
        // SAFETY: as above, for one lane.
        unsafe { pq_lanes::<L, 1>(data, p, q, at) };
        at += L::BYTES;
    }
    for at in at..p.len() {
        p[at] = data.iter().fold(0, |sum, strip| sum ^ strip[at]);
        q[at] = data.iter().rev().fold(0, |sum, strip| field::double(sum) ^ strip[at]);
    }
}

#[inline(always)]
unsafe fn pq_lanes<L: Lane, const N: usize>(data: &[&[u8]], p: &mut [u8], q: &mut [u8], at: usize) {
    // SAFETY: the caller keeps `at + N * BYTES` inside every buffer and `data` not empty.
    unsafe {
        let last = data.len() - 1;
        let mut sum: [L; N] = load(data.get_unchecked(last), at);
        let mut weighted = sum;
        for strip in data.get_unchecked(..last).iter().rev() {
            let strip: [L; N] = load(strip, at);
            for n in 0..N {
                sum[n] = sum[n].xor(strip[n]);
                weighted[n] = weighted[n].double().xor(strip[n]);
            }
        }
        store(sum, p, at);
        store(weighted, q, at);
    }
}

/// `target` gains `by · source`.
///
/// # Safety
/// The instruction set of `L` must be present and both buffers must have the same length.
#[inline(always)]
pub unsafe fn add<L: Lane>(target: &mut [u8], source: &[u8], by: u8) {
    let mut at = 0;
    // SAFETY: the caller promises the instruction set.
    let factor = unsafe { L::factor(by) };
    while at + L::BYTES <= target.len() {
        // SAFETY: `at + BYTES` is inside both buffers by the loop's condition and the caller's promise.
        unsafe {
            let product = L::load(source.as_ptr().add(at)).times(factor);
            let to = target.as_mut_ptr().add(at);
            L::load(to).xor(product).store(to);
        }
        at += L::BYTES;
    }
    for at in at..target.len() {
        target[at] ^= field::mul(by, source[at]);
    }
}

/// `target` gains `by · (old + new)`: the change that one rewritten strip makes to a parity strip.
///
/// # Safety
/// The instruction set of `L` must be present and the three buffers must have the same length.
#[inline(always)]
pub unsafe fn add_change<L: Lane>(target: &mut [u8], old: &[u8], new: &[u8], by: u8) {
    let mut at = 0;
    // SAFETY: the caller promises the instruction set.
    let factor = unsafe { L::factor(by) };
    while at + L::BYTES <= target.len() {
        // SAFETY: `at + BYTES` is inside the three buffers by the loop's condition and the caller's promise.
        unsafe {
            let change = L::load(old.as_ptr().add(at)).xor(L::load(new.as_ptr().add(at)));
            let to = target.as_mut_ptr().add(at);
            L::load(to).xor(change.times(factor)).store(to);
        }
        at += L::BYTES;
    }
    for at in at..target.len() {
        target[at] ^= field::mul(by, old[at] ^ new[at]);
    }
}

/// Two unknowns from two sums: `x` becomes `a · x + b · y`, and `y` the old `x` plus that.
///
/// # Safety
/// The instruction set of `L` must be present and both buffers must have the same length.
#[inline(always)]
pub unsafe fn solve<L: Lane>(x: &mut [u8], y: &mut [u8], a: u8, b: u8) {
    let mut at = 0;
    // SAFETY: the caller promises the instruction set.
    let (by_a, by_b) = unsafe { (L::factor(a), L::factor(b)) };
    while at + L::BYTES <= x.len() {
        // SAFETY: `at + BYTES` is inside both buffers by the loop's condition and the caller's promise.
        unsafe {
            let (to_x, to_y) = (x.as_mut_ptr().add(at), y.as_mut_ptr().add(at));
            let sum = L::load(to_x);
            let first = sum.times(by_a).xor(L::load(to_y).times(by_b));
            first.store(to_x);
            sum.xor(first).store(to_y);
        }
        at += L::BYTES;
    }
    for at in at..x.len() {
        let sum = x[at];
        x[at] = field::mul(a, sum) ^ field::mul(b, y[at]);
        y[at] = sum ^ x[at];
    }
}

#[inline(always)]
unsafe fn load<L: Lane, const N: usize>(from: &[u8], at: usize) -> [L; N] {
    // SAFETY: the caller keeps `at + N * BYTES` inside the buffer.
    std::array::from_fn(|n| unsafe { L::load(from.as_ptr().add(at + n * L::BYTES)) })
}

#[inline(always)]
unsafe fn store<L: Lane, const N: usize>(lanes: [L; N], to: &mut [u8], at: usize) {
    for (n, lane) in lanes.into_iter().enumerate() {
        // SAFETY: the caller keeps `at + N * BYTES` inside the buffer.
        unsafe { lane.store(to.as_mut_ptr().add(at + n * L::BYTES)) };
    }
}
