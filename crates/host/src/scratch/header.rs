//! The mark by which Fathom knows its own files.
//!
//! It fills the last 4096 bytes of the file, so that the data region starts at byte 0 with the file's natural
//! alignment and no request has to be shifted. It is there from before the first byte of data, so that what a
//! killed run leaves behind is known too.
//!
//! | bytes | hold, little-endian |
//! |---|---|
//! | 0..16 | `FATHOM SCRATCH\r\n` |
//! | 16..20 | version, 1 |
//! | 20..24 | flags: 1 complete, 2 to be kept |
//! | 24..32 | bytes of data before the mark |
//! | 32..40 | seed of the data |
//! | 40..56 | creation id, random |
//! | 56..64 | FNV-1a of bytes 0..56 |
//! | 64..4096 | zeros |

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use units::Bytes;

use crate::bytes_at;

/// Size of the mark.
pub const HEADER_SIZE: Bytes = Bytes::new(4096);

const MAGIC: &[u8; 16] = b"FATHOM SCRATCH\r\n";
const VERSION: u32 = 1;
const COMPLETE: u32 = 1;
const KEEP: u32 = 2;

/// What the mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether every byte of data was written.
    pub complete: bool,
    /// Whether its maker wanted it to stay.
    pub keep: bool,
    /// The data region: bytes 0 to this.
    pub data: Bytes,
    /// What the data was drawn from.
    pub seed: u64,
    /// Random, one for each creation.
    pub creation: u128,
}

/// The mark of an open file, or `None` where it has none of this version, or one that does not fit its size.
pub fn header_of(file: &File) -> io::Result<Option<Header>> {
    let size = file.metadata()?.len();
    let Some(at) = size.checked_sub(HEADER_SIZE.get()) else { return Ok(None) };
    let mut bytes = [0; 64];
    file.read_exact_at(&mut bytes, at)?;
    Ok(Header::decode(&bytes).filter(|header| header.data.get() == at))
}

impl Header {
    /// Writes the mark behind the data.
    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        assert!(
            self.data.get().is_multiple_of(HEADER_SIZE.get()),
            "the header must begin at a block of its own"
        );
        #[expect(clippy::cast_possible_truncation, reason = "a constant, which converts by `as`: 4096")]
        let mut block = [0; HEADER_SIZE.get() as usize];
        block[..64].copy_from_slice(&self.encode());
        file.write_all_at(&block, self.data.get())
    }

    fn encode(&self) -> [u8; 64] {
        let flags = if self.complete { COMPLETE } else { 0 } | if self.keep { KEEP } else { 0 };
        let mut bytes = [0; 64];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..20].copy_from_slice(&VERSION.to_le_bytes());
        bytes[20..24].copy_from_slice(&flags.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.data.get().to_le_bytes());
        bytes[32..40].copy_from_slice(&self.seed.to_le_bytes());
        bytes[40..56].copy_from_slice(&self.creation.to_le_bytes());
        let sum = fnv1a(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        debug_assert_eq!(Header::decode(&bytes), Some(*self), "a mark must be read back as it is written");
        bytes
    }

    fn decode(bytes: &[u8; 64]) -> Option<Header> {
        let u32_at = |at: usize| u32::from_le_bytes(bytes_at(bytes, at));
        let u64_at = |at: usize| u64::from_le_bytes(bytes_at(bytes, at));
        let ours = bytes[..16] == *MAGIC && u32_at(16) == VERSION && u64_at(56) == fnv1a(&bytes[..56]);
        ours.then(|| Header {
            complete: u32_at(20) & COMPLETE != 0,
            keep: u32_at(20) & KEEP != 0,
            data: Bytes::new(u64_at(24)),
            seed: u64_at(32),
            creation: u128::from_le_bytes(bytes_at(bytes, 40)),
        })
    }
}

/// Fowler, Noll, Vo, 64 bits, variant 1a (RFC 9923): finds a torn or foreign mark, no more.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    let fold = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header =
        Header { complete: true, keep: false, data: Bytes::new(1 << 20), seed: 7, creation: 1 << 100 };

    #[test]
    fn a_mark_is_read_back_as_written_and_any_change_is_noticed() {
        let bytes = HEADER.encode();
        assert_eq!(Header::decode(&bytes), Some(HEADER));
        for at in 0..bytes.len() {
            let mut torn = bytes;
            torn[at] ^= 1;
            assert_eq!(Header::decode(&torn), None, "byte {at}");
        }
    }

    #[test]
    fn a_mark_that_does_not_fit_the_size_of_the_file_is_none() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        assert_eq!(header_of(&file).expect("it can be read"), None);
        HEADER.write(&file).expect("the file is ours");
        assert_eq!(header_of(&file).expect("it can be read"), Some(HEADER));
        file.write_all_at(b"x", HEADER.data.get() + HEADER_SIZE.get()).expect("the file is ours");
        assert_eq!(header_of(&file).expect("it can be read"), None);
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // RFC 9923, test vectors for 64 bits.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
