//! A tag for each sector of a member: CRC-32C of its bytes, mixed with its address.
//!
//! What T10 protection information does with eight bytes a sector: contents that have changed, and contents that have
//! gone to the wrong address, are told from right ones. The polynomial is that of iSCSI (RFC 3720, appendix B.4).
//!
//! **Invariant:** no tag that was computed is [`NEVER_WRITTEN`]; a sector with that tag holds zeros.

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
    let kernel = Kernel::best();
    for (at, (data, tags)) in data.chunks(LANES * SECTOR).zip(tags.chunks_mut(LANES)).enumerate() {
        let first = lba + (at * LANES) as u64;
        let crcs = kernel.crcs(data);
        for (n, (tag, crc)) in tags.iter_mut().zip(crcs).enumerate() {
            *tag = mixed(first + n as u64, crc);
        }
    }
}

/// The first sector of `data` that is not what its tag says, counted from its start; `None` where all are.
///
/// # Panics
///
/// Where `data` is not as many whole sectors as there are tags.
pub fn first_wrong(lba: u64, data: &[u8], tags: &[u32]) -> Option<usize> {
    assert_eq!(data.len(), tags.len() * SECTOR, "there is one tag for each sector");
    let kernel = Kernel::best();
    for (at, (data, tags)) in data.chunks(LANES * SECTOR).zip(tags.chunks(LANES)).enumerate() {
        let first = lba + (at * LANES) as u64;
        let crcs = kernel.crcs(data);
        for (n, (&tag, crc)) in tags.iter().zip(crcs).enumerate() {
            let is_right = match tag {
                NEVER_WRITTEN => data[n * SECTOR..][..SECTOR].iter().all(|&byte| byte == 0),
                tag => tag == mixed(first + n as u64, crc),
            };
            if !is_right {
                return Some(at * LANES + n);
            }
        }
    }
    None
}

/// A tag that no reader takes for that of a sector of zeros at `lba`: what could not be recovered is an error there,
/// and never wrong data.
pub fn unreadable(lba: u64) -> u32 {
    let right = mixed(lba, Kernel::best().crcs(&[0; SECTOR])[0]);
    if right == u32::MAX { u32::MAX - 1 } else { u32::MAX }
}

#[inline]
fn mixed(lba: u64, crc: u32) -> u32 {
    // An odd factor tells all addresses below 2^32 apart, and neighbours in many bits.
    let address = (lba ^ (lba >> 32)).wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF;
    match crc ^ truncated_32(address) {
        NEVER_WRITTEN => 1,
        tag => tag,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
#[inline]
const fn truncated_32(number: u64) -> u32 {
    number as u32
}

/// Sectors whose checksums are computed together: one alone would wait for itself at each step.
const LANES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Table,
    #[cfg(target_arch = "x86_64")]
    Sse42,
}

impl Kernel {
    #[inline]
    fn best() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sse4.2") {
            return Kernel::Sse42;
        }
        Kernel::Table
    }

    /// Checksums of up to [`LANES`] sectors; the rest of the answer means nothing.
    #[inline]
    fn crcs(self, data: &[u8]) -> [u32; LANES] {
        match self {
            Kernel::Table => {
                let mut crcs = [0; LANES];
                crcs.iter_mut().zip(data.chunks_exact(SECTOR)).for_each(|(crc, data)| *crc = table_crc(data));
                crcs
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Sse42 => {
                if let Ok(all) = data.try_into() {
                    // SAFETY: SSE 4.2 was detected.
                    return unsafe { crcs_sse42(all) };
                }
                let mut crcs = [0; LANES];
                for (crc, data) in crcs.iter_mut().zip(data.chunks_exact(SECTOR)) {
                    // SAFETY: SSE 4.2 was detected.
                    *crc = unsafe { crc_sse42(data) };
                }
                crcs
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crcs_sse42(data: &[u8; LANES * SECTOR]) -> [u32; LANES] {
    use std::arch::x86_64::_mm_crc32_u64;
    let mut crcs = [u64::from(u32::MAX); LANES];
    for at in (0..SECTOR).step_by(8) {
        for (lane, crc) in crcs.iter_mut().enumerate() {
            *crc = _mm_crc32_u64(*crc, word(&data[lane * SECTOR + at..]));
        }
    }
    crcs.map(|crc| !truncated_32(crc))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc_sse42(data: &[u8]) -> u32 {
    use std::arch::x86_64::_mm_crc32_u64;
    let crc = data.chunks_exact(8).fold(u64::from(u32::MAX), |crc, bytes| _mm_crc32_u64(crc, word(bytes)));
    !truncated_32(crc)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn word(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(eight)
}

/// CRC-32C of any bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if Kernel::best() == Kernel::Sse42 {
        let whole = bytes.len() / 8 * 8;
        // SAFETY: SSE 4.2 was detected.
        let crc = unsafe { crc_sse42(&bytes[..whole]) };
        return !bytes[whole..].iter().fold(!crc, |crc, &byte| table_step(crc, byte));
    }
    table_crc(bytes)
}

fn table_crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| table_step(crc, byte))
}

fn table_step(crc: u32, byte: u8) -> u32 {
    TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8)
}

static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = truncated_32(at as u64);
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn all_ways_of_computing_give_the_same(data in prop::collection::vec(any::<u8>(), LANES * SECTOR)) {
            prop_assert_eq!(Kernel::best().crcs(&data), Kernel::Table.crcs(&data));
            prop_assert_eq!(Kernel::best().crcs(&data[..SECTOR])[0], table_crc(&data[..SECTOR]));
            prop_assert_eq!(crc32c(&data[..613]), table_crc(&data[..613]));
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
