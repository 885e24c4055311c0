//! A tag for each sector of a member: CRC-32C of its bytes, mixed with its address.
//!
//! What T10 protection information does with eight bytes a sector: contents that have changed, and contents that have
//! gone to the wrong address, are told from right ones. The polynomial is that of iSCSI (RFC 3720, appendix B.4).
//!
//! **Invariant:** no tag that was computed is [`NEVER_WRITTEN`]; a sector with that tag holds zeros, or what it held and its tag are lost.

use units::SECTOR_BYTES;

/// The tag of a sector that nothing has been written to.
pub const NEVER_WRITTEN: u32 = 0;

/// Bytes of a sector.
pub const SECTOR: usize = 512;
const _: () = assert!(SECTOR as u64 == SECTOR_BYTES);

/// The tags of consecutive sectors from `lba` on. `tags` has one for each.
///
/// # Panics
///
/// Where `data` is not as many whole sectors.
pub fn compute(lba: u64, data: &[u8], tags: &mut [u32]) {
    assert_eq!(data.len(), tags.len() * SECTOR, "there is one tag for each sector");
    for ((lba, sector), tag) in (lba..).zip(data.chunks_exact(SECTOR)).zip(tags) {
        *tag = mixed(lba, crc32c(sector));
    }
}

/// The first sector of `data` that is not what its tag says, counted from its start; `None` where all are.
///
/// # Panics
///
/// Where `data` is not as many whole sectors as there are tags.
pub fn first_wrong(lba: u64, data: &[u8], tags: &[u32]) -> Option<usize> {
    assert_eq!(data.len(), tags.len() * SECTOR, "there is one tag for each sector");
    let mut sectors = (lba..).zip(data.chunks_exact(SECTOR)).zip(tags);
    sectors.position(|((lba, sector), &tag)| match tag {
        NEVER_WRITTEN => sector.iter().any(|&byte| byte != 0),
        tag => tag != mixed(lba, crc32c(sector)),
    })
}

/// A tag that no reader takes for that of a sector of zeros at `lba`: what could not be recovered is an error there,
/// and never wrong data.
pub fn unreadable(lba: u64) -> u32 {
    let right = mixed(lba, crc32c(&[0; SECTOR]));
    if right == u32::MAX { u32::MAX - 1 } else { u32::MAX }
}

/// The checksum of a tag: it tells a damaged tag from a damaged sector. 0 for [`NEVER_WRITTEN`], so that what was never written is
/// zeros, tag and all.
#[inline]
pub fn seal(lba: u64, tag: u32) -> u32 {
    if tag == NEVER_WRITTEN {
        return 0;
    }
    scattered(lba, tag)
}

/// The checksum of [`NEVER_WRITTEN`] where the others of its group have tags: one that is gone is told from one that was never written.
#[inline]
pub fn seal_of_unwritten(lba: u64) -> u32 {
    scattered(lba, NEVER_WRITTEN).max(1)
}

#[inline]
fn scattered(lba: u64, tag: u32) -> u32 {
    // As SplitMix64 ends: G. Steele and others, "Fast splittable pseudorandom number generators", 2014.
    let mut mixed = lba.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(tag);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    low_half(mixed ^ (mixed >> 31))
}

#[inline]
fn mixed(lba: u64, crc: u32) -> u32 {
    // An odd factor tells all addresses below 2^32 apart, and neighbours in many bits.
    let address = (lba ^ (lba >> 32)).wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF;
    match crc ^ low_half(address) {
        NEVER_WRITTEN => 1,
        tag => tag,
    }
}

/// CRC-32C of any bytes.
///
/// By `crc-fast`, which goes through memory in one stream: eight sectors side by side by the instruction of SSE 4.2 are
/// as fast from a cache and fifteen times as slow from memory (`benches/RESULTS.md`).
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    low_half(crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes))
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
#[inline]
const fn low_half(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long division by the polynomial: the definition itself.
    fn by_definition(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
        !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
    }

    #[test]
    fn a_sector_of_zeros_at_another_place_is_told_from_an_unreadable_one() {
        for lba in [0, 1, 4711, u64::from(u32::MAX)] {
            assert_eq!(first_wrong(lba, &[0; SECTOR], &[unreadable(lba)]), Some(0));
            assert_eq!(first_wrong(lba, &[0; SECTOR], &[NEVER_WRITTEN]), None);
        }
        assert_eq!(first_wrong(0, &[1; SECTOR], &[NEVER_WRITTEN]), Some(0), "never written, and not zeros");
    }

    #[test]
    fn a_tag_that_was_never_written_is_all_zeros() {
        assert_eq!(seal(4711, NEVER_WRITTEN), 0);
    }

    proptest! {
        #[test]
        fn any_other_tag_and_any_other_address_has_another_seal(tag in 1..u32::MAX, lba in 0..u64::from(u32::MAX), bit in 0..32_u32) {
            prop_assert_ne!(seal(lba, tag), seal(lba, tag ^ (1_u32 << bit)));
            prop_assert_ne!(seal(lba, tag), seal(lba + 1, tag));
        }

        #[test]
        fn the_checksum_of_any_bytes_is_the_remainder_bit_by_bit(data in prop::collection::vec(any::<u8>(), 0..2 * SECTOR)) {
            prop_assert_eq!(crc32c(&data), by_definition(&data));
        }

        #[test]
        fn any_changed_byte_and_any_other_address_is_found(
            data in prop::collection::vec(any::<u8>(), 11 * SECTOR),
            lba in 0..u64::from(u32::MAX),
            at in 0..11 * SECTOR,
            change in 1..=u8::MAX,
            away in 1_u64..1 << 20,
        ) {
            let mut tags = [0; 11];
            compute(lba, &data, &mut tags);
            prop_assert_eq!(first_wrong(lba, &data, &tags), None);
            prop_assert!(first_wrong(lba + away, &data, &tags).is_some());
            let mut changed = data;
            changed[at] ^= change;
            prop_assert_eq!(first_wrong(lba, &changed, &tags), Some(at / SECTOR));
        }
    }
}
