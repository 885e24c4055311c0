//! fio's header at the beginning of a block, so that either tool reads what the other has written.
//!
//! 40 bytes, little-endian: a mark (2), the kind of check (2), the length of the block (4), a number that fio draws for
//! each write (8), the offset in the file (8), a time (4 and 4), the job (2), the number of the write (2) and a CRC-32C
//! of these (4); then what was computed of the data behind it. Fathom's number of the write stands where fio's drawn
//! one does.
//!
//! Source: blocks that fio 3.33 has written with every kind of `verify=`, each sum computed from its data. Two of the
//! kinds store something else than their names say, and are computed as they are stored: `sha256` the low byte of each
//! word of the state and the last block of the message, whose length is little-endian; `sha512` the first block of the
//! data with its last one over it.

use crc::{CRC_7_MMC, Crc};
use crc_fast::{CrcAlgorithm, checksum};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;
use units::convert::narrow;
use workload::spec::{HEADER_LEN, Header, HeaderKind};

use crate::bytes_at;

const MARK: u16 = 0xacca;

/// The checks of data, the longest of them.
const LONGEST: usize = 128;

const CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);

/// What stands behind a header: computed of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum([u8; LONGEST]);

impl Sum {
    fn of_bytes(bytes: &[u8]) -> Sum {
        let mut sum = [0; LONGEST];
        sum[..bytes.len()].copy_from_slice(bytes);
        Sum(sum)
    }

    fn of_crc<const BYTES: usize>(algorithm: CrcAlgorithm, data: &[u8]) -> Sum {
        Sum::of_bytes(&checksum(algorithm, data).to_le_bytes()[..BYTES])
    }

    /// Of the data behind the header.
    pub fn of(kind: HeaderKind, data: &[u8]) -> Sum {
        match kind {
            HeaderKind::Meta | HeaderKind::PatternHeader => Sum([0; LONGEST]),
            HeaderKind::Crc7 => Sum::of_bytes(&[CRC7.checksum(data)]),
            HeaderKind::Crc16 => Sum::of_crc::<2>(CrcAlgorithm::Crc16Arc, data),
            HeaderKind::Crc32 => Sum::of_bytes(&unfinished(CrcAlgorithm::Crc32Cksum, data)),
            HeaderKind::Crc32c => Sum::of_bytes(&unfinished(CrcAlgorithm::Crc32Iscsi, data)),
            HeaderKind::Crc64 => Sum::of_crc::<8>(CrcAlgorithm::Crc64Redis, data),
            HeaderKind::Xxhash => Sum::of_bytes(&XxHash32::oneshot(1, data).to_le_bytes()),
            HeaderKind::Md5 => Sum::of_bytes(&Md5::digest(data)),
            // Word by word, the lowest byte first.
            HeaderKind::Sha1 => {
                let mut digest: [u8; 20] = Sha1::digest(data).into();
                digest.chunks_exact_mut(4).for_each(<[u8]>::reverse);
                Sum::of_bytes(&digest)
            }
            HeaderKind::Sha3_224 => Sum::of_bytes(&Sha3_224::digest(data)),
            HeaderKind::Sha3_256 => Sum::of_bytes(&Sha3_256::digest(data)),
            HeaderKind::Sha3_384 => Sum::of_bytes(&Sha3_384::digest(data)),
            HeaderKind::Sha3_512 => Sum::of_bytes(&Sha3_512::digest(data)),
            HeaderKind::Sha256 => sha256(data),
            HeaderKind::Sha512 => sha512(data),
        }
    }
}

/// A CRC of 32 bits without its last step, which inverts all of them: fio leaves it out.
fn unfinished(algorithm: CrcAlgorithm, data: &[u8]) -> [u8; 4] {
    let [low @ .., _, _, _, _] = (!checksum(algorithm, data)).to_le_bytes();
    low
}

fn sha256(data: &[u8]) -> Sum {
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let (blocks, rest) = data.as_chunks::<64>();
    sha2::block_api::compress256(&mut state, blocks);
    let mut end = [0; 128];
    end[..rest.len()].copy_from_slice(rest);
    end[rest.len()] = 0x80;
    let len = if rest.len() < 56 { 64 } else { 128 };
    end[len - 8..len].copy_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    let (last, _) = end[..len].as_chunks::<64>();
    sha2::block_api::compress256(&mut state, last);
    let mut sum = last[last.len() - 1];
    for (byte, word) in sum.iter_mut().zip(state) {
        *byte = word.to_le_bytes()[0];
    }
    Sum::of_bytes(&sum)
}

fn sha512(data: &[u8]) -> Sum {
    let mut sum = [0; LONGEST];
    let first = data.len().min(LONGEST);
    sum[..first].copy_from_slice(&data[..first]);
    let rest = data.len() % LONGEST;
    sum[..rest].copy_from_slice(&data[data.len() - rest..]);
    Sum(sum)
}

/// Why a block has no header as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderFlaw {
    /// There is none.
    None,
    /// One of another kind or length, or one whose own sum is wrong.
    Other(String),
    /// It is not what was written there.
    Changed(String),
}

/// Marks a block, whose data behind the header has that sum, as what write `number` wrote at `offset`.
pub(super) fn put(block: &mut [u8], header: Header, offset: u64, number: u32, sum: &Sum) {
    let Header { kind, at, .. } = header;
    let len = kind.bytes();
    let mut head = [0; HEADER_LEN];
    head[..2].copy_from_slice(&MARK.to_le_bytes());
    head[2..4].copy_from_slice(&kind.number().to_le_bytes());
    head[4..8].copy_from_slice(&narrow::<u32>(block.len()).to_le_bytes());
    head[8..16].copy_from_slice(&u64::from(number).to_le_bytes());
    head[16..24].copy_from_slice(&offset.to_le_bytes());
    head[32..34].copy_from_slice(&1_u16.to_le_bytes());
    // fio's own count has 16 bits.
    head[34..36].copy_from_slice(&number.to_le_bytes()[..2]);
    let check = unfinished(CrcAlgorithm::Crc32Iscsi, &head[..36]);
    head[36..].copy_from_slice(&check);
    block[..HEADER_LEN].copy_from_slice(&head);
    block[HEADER_LEN..len].copy_from_slice(&sum.0[..kind.sum_len()]);
    swap(block, narrow::<usize>(at.get()), len);
    debug_assert_eq!(read(block, header, offset), Ok(number.into()), "a header is read back as it is put");
}

/// The first `len` bytes change places with those at `at`.
fn swap(block: &mut [u8], at: usize, len: usize) {
    if at > 0 {
        assert!(at >= len, "two places that overlap cannot change their contents");
        let (first, other) = (block[..len].to_vec(), block[at..at + len].to_vec());
        block[..len].copy_from_slice(&other);
        block[at..at + len].copy_from_slice(&first);
    }
}

/// The number of the write that a block says it is of, where its header is one for `offset` and fits its data.
pub(super) fn read(block: &[u8], header: Header, offset: u64) -> Result<u64, HeaderFlaw> {
    let Header { kind, at, .. } = header;
    let at = narrow::<usize>(at.get());
    if at == 0 {
        return read_at_start(block, kind, offset);
    }
    let mut moved = block.to_vec();
    swap(&mut moved, at, kind.bytes());
    read_at_start(&moved, kind, offset)
}

fn read_at_start(block: &[u8], kind: HeaderKind, offset: u64) -> Result<u64, HeaderFlaw> {
    let two = |at: usize| u16::from_le_bytes(bytes_at(block, at));
    let four = |at: usize| u32::from_le_bytes(bytes_at(block, at));
    let eight = |at: usize| u64::from_le_bytes(bytes_at(block, at));
    if two(0) != MARK {
        return Err(HeaderFlaw::None);
    }
    if unfinished(CrcAlgorithm::Crc32Iscsi, &block[..36]) != block[36..40] {
        // The mark is short: data that was never marked begins with it once in 65,536 times.
        return Err(HeaderFlaw::Other("a header that was changed".into()));
    }
    if two(2) != kind.number() {
        let number = two(2);
        let name =
            HeaderKind::ALL.iter().find(|(_, _, known)| *known == number).map_or("unknown", |row| row.1);
        return Err(HeaderFlaw::Other(format!("a header of kind {name}")));
    }
    if four(4) as usize != block.len() {
        return Err(HeaderFlaw::Other(format!("a header of {} bytes", four(4))));
    }
    if eight(16) != offset {
        return Err(HeaderFlaw::Changed(format!("the header of byte {}", eight(16))));
    }
    let (sum, len) = (Sum::of(kind, &block[kind.bytes()..]), kind.sum_len());
    match block[HEADER_LEN..HEADER_LEN + len] == sum.0[..len] {
        true => Ok(eight(8)),
        false => Err(HeaderFlaw::Changed("data that does not fit its header".into())),
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn header(kind: HeaderKind, at: u64) -> Header {
        Header { kind, every: None, at: Bytes::new(at) }
    }

    #[test]
    fn a_header_of_each_kind_reads_back_and_what_is_changed_shows() {
        for (kind, name, _) in HeaderKind::ALL {
            for at in [0, 300] {
                let mut block: Vec<u8> = (0..1024_u32).map(|i| (i * 7 % 251).to_le_bytes()[0]).collect();
                let sum = Sum::of(kind, &block[kind.bytes()..]);
                put(&mut block, header(kind, at), 8192, 70_000, &sum);
                assert_eq!(read(&block, header(kind, at), 8192), Ok(70_000), "{name}");
                assert!(read(&block, header(kind, at), 4096).is_err(), "{name}");
                assert!(read(&block[..512], header(kind, at), 8192).is_err(), "{name}");
                // fio's meta and pattern_hdr say nothing of the data, and its sha512 of little of it.
                if !matches!(kind, HeaderKind::Meta | HeaderKind::PatternHeader) {
                    *block.last_mut().unwrap() ^= 1;
                    assert!(read(&block, header(kind, at), 8192).is_err(), "{name}");
                }
            }
        }
        assert_eq!(read(&[0; 512], header(HeaderKind::Md5, 0), 0), Err(HeaderFlaw::None));
    }

    #[test]
    fn sums_are_those_of_the_catalogue() {
        let sum = |kind, len| Sum::of(kind, b"123456789").0[..len].to_vec();
        assert_eq!(sum(HeaderKind::Crc32c, 4), (!0xe306_9283_u32).to_le_bytes());
        assert_eq!(sum(HeaderKind::Crc32, 4), 0x89a1_897f_u32.to_le_bytes());
        assert_eq!(sum(HeaderKind::Crc64, 8), 0xe9c6_d914_c4b8_d9ca_u64.to_le_bytes());
        assert_eq!(sum(HeaderKind::Crc16, 2), 0xbb3d_u16.to_le_bytes());
        assert_eq!(sum(HeaderKind::Crc7, 1), [0x75]);
        assert_eq!(Sum::of(HeaderKind::Md5, b"").0[..4], [0xd4, 0x1d, 0x8c, 0xd9]);
    }
}
