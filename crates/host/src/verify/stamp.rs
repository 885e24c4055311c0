//! The stamp at the beginning of a block: which block it is, and which write of it.
//!
//! 32 bytes, little-endian: a mark (8), the run's key (8), the offset in the file (8), the number of the write (4), and
//! a CRC-32 (4) of these and of the CRC-32 of the rest of the block. The latter is known before the request is
//! planned, so that stamping costs a request a few nanoseconds.

use units::Bytes;

use crate::bytes_at;

/// The smallest block with a stamp: what storage writes whole.
pub const LEAST_BLOCK: Bytes = Bytes::new(512);

/// The largest.
pub const MOST_BLOCK: Bytes = Bytes::new(4096);

/// Where the content begins.
const HEAD: usize = 32;

const MARK: [u8; 8] = *b"fathom\0\x01";

/// What a stamp says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub offset: u64,
    pub number: u32,
}

/// Why a block has no stamp of this run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// There is none.
    None,
    /// It is another run's.
    OtherKey,
    /// Stamp and content do not fit.
    Checksum(Stamp),
}

/// The sum of a block's content, for [`put`].
pub(super) fn sum_of(block: &[u8]) -> u32 {
    crc32fast::hash(&block[HEAD..])
}

/// Stamps a block whose content has that sum.
pub(super) fn put(block: &mut [u8], key: u64, Stamp { offset, number }: Stamp, sum: u32) {
    debug_assert_eq!(sum, sum_of(block), "the sum must be that of the content");
    block[..8].copy_from_slice(&MARK);
    block[8..16].copy_from_slice(&key.to_le_bytes());
    block[16..24].copy_from_slice(&offset.to_le_bytes());
    block[24..28].copy_from_slice(&number.to_le_bytes());
    let check = checksum(&block[..28], sum);
    block[28..HEAD].copy_from_slice(&check.to_le_bytes());
    debug_assert_eq!(
        read(block, key),
        Ok(Stamp { offset, number }),
        "a stamp must be read back as it is put"
    );
}

/// What the stamp of a block says, if it is this run's and fits the content.
pub(super) fn read(block: &[u8], key: u64) -> Result<Stamp, Flaw> {
    let eight = |at: usize| u64::from_le_bytes(bytes_at(block, at));
    let four = |at: usize| u32::from_le_bytes(bytes_at(block, at));
    if block[..8] != MARK {
        return Err(Flaw::None);
    }
    let stamp = Stamp { offset: eight(16), number: four(24) };
    if four(28) != checksum(&block[..28], sum_of(block)) {
        return Err(Flaw::Checksum(stamp));
    }
    if eight(8) == key { Ok(stamp) } else { Err(Flaw::OtherKey) }
}

fn checksum(head: &[u8], sum: u32) -> u32 {
    let mut whole = crc32fast::Hasher::new();
    whole.update(head);
    whole.update(&sum.to_le_bytes());
    whole.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::convert::narrow;

    fn stamped(len: usize, stamp: Stamp) -> Vec<u8> {
        let mut block: Vec<u8> = (0..len).map(|i| narrow::<u8>(i * 7 % 251)).collect();
        let sum = sum_of(&block);
        put(&mut block, 9, stamp, sum);
        block
    }

    proptest! {
        #[test]
        fn a_stamp_reads_back_and_any_flipped_bit_shows(
            offset: u64, number: u32, large: bool, at in 0usize..4096, bit in 0u32..8,
        ) {
            let len = if large { 4096 } else { 512 };
            let stamp = Stamp { offset, number };
            let mut block = stamped(len, stamp);
            prop_assert_eq!(read(&block, 9), Ok(stamp));
            prop_assert_eq!(read(&block, 8), Err(Flaw::OtherKey));
            block[at % len] ^= 1 << bit;
            prop_assert!(read(&block, 9).is_err());
        }

        #[test]
        fn blocks_that_were_never_stamped_are_told(block in proptest::collection::vec(any::<u8>(), 512)) {
            prop_assert_eq!(read(&block, 9), Err(Flaw::None));
        }
    }
}
