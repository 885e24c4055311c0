//! Parity: XOR (P) and the weighted sum (Q) of strips, kept up to date and used to recover what is lost.
//!
//! | to | call |
//! |---|---|
//! | write a full RAID 5 stripe | [`xor`] |
//! | write a full RAID 6 stripe | [`pq`] |
//! | follow one rewritten strip (read-modify-write) | [`add_change`] on P with 1, on Q with [`coefficient`] |
//! | recover any strips that can be | [`recover`] |
//!
//! The arithmetic is that of Linux md (see [`field`]), so that P and Q of the same strips are the same bytes.
//!
//! **Invariant:** every instruction set gives the same bytes as the byte-at-a-time field; tests hold each to it.

pub mod field;
mod kernel;
mod lane;
mod loops;
mod recover;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub use field::MAX_DATA_STRIPS;
pub use kernel::Kernel;
pub use recover::{RecoverError, Strip, recover};

/// The weight of data strip `strip` in Q: 2 to that power in the field.
pub const fn coefficient(strip: usize) -> u8 {
    field::power(strip)
}

/// `p` becomes the XOR of the strips of `data`. See [`Kernel::xor`].
pub fn xor(data: &[&[u8]], p: &mut [u8]) {
    Kernel::best().xor(data, p);
}

/// `p` and `q` become the two parities of the strips of `data`. See [`Kernel::pq`].
pub fn pq(data: &[&[u8]], p: &mut [u8], q: &mut [u8]) {
    Kernel::best().pq(data, p, q);
}

/// `target` gains `by · (old + new)`. See [`Kernel::add_change`].
pub fn add_change(target: &mut [u8], old: &[u8], new: &[u8], by: u8) {
    Kernel::best().add_change(target, old, new, by);
}
