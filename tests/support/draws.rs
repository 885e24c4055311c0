//! Draws that a test repeats by its seed.

use units::convert::narrow;
/// SplitMix64, Steele, Lea and Flood 2014.
pub struct Draws(pub u64);

impl Draws {
    /// A number below `below`; 0 where that is 0.
    pub fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        narrow::<usize>((mixed ^ (mixed >> 31)) % below.max(1) as u64)
    }
}
