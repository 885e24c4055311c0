//! How the server ended, and which records count.

use std::io;

use units::convert::narrow;

use super::HEADER;
use crate::medium::Medium;
use crate::tag::crc32c;

const HEADER_MAGIC: &[u8; 8] = b"fathomN6";
/// The head of the memory: the newest of two counts.
pub(super) struct Header {
    pub number: u64,
    /// The number of the first record that counts.
    pub sequence: u64,
    pub is_clean: bool,
    pub boot: String,
    /// Bytes of the memory, the journal at its end.
    pub len: u64,
    pub is_synced: bool,
}

/// Bytes of the start of the machine that a header has room for: the numbers of an array and of the kernel's.
const BOOT: usize = 70;
/// Where a header has the length of the memory.
const LEN: usize = 26 + BOOT;

/// What a header has of the start of the machine.
pub(super) fn kept_of(boot: &str) -> &[u8] {
    &boot.as_bytes()[..boot.len().min(BOOT)]
}

impl Header {
    /// Whether the medium is as long as it was when this was written.
    pub fn has_all(&self, medium: &dyn Medium, from: u64) -> io::Result<bool> {
        medium.has_all(from + self.len)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = HEADER_MAGIC.to_vec();
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.push(u8::from(self.is_clean));
        let boot = kept_of(&self.boot);
        bytes.push(narrow::<u8>(boot.len()));
        bytes.extend_from_slice(boot);
        bytes.resize(LEN, 0);
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.push(u8::from(self.is_synced));
        // Within one sector, so that it is written whole or not at all.
        bytes.resize(508, 0);
        bytes.extend_from_slice(&crc32c(&bytes).to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; 512]) -> Option<Header> {
        let (body, crc) = bytes.split_at(508);
        if u32::from_le_bytes(*crc.first_chunk()?) != crc32c(body) {
            return None;
        }
        let rest = body.strip_prefix(HEADER_MAGIC)?;
        let boot = rest.get(18..18 + usize::from(rest[17]))?;
        Some(Header {
            number: u64::from_le_bytes(*rest.first_chunk()?),
            sequence: u64::from_le_bytes(*rest[8..].first_chunk()?),
            is_clean: rest[16] == 1,
            boot: String::from_utf8_lossy(boot).into_owned(),
            len: u64::from_le_bytes(*body[LEN..].first_chunk()?),
            is_synced: body[LEN + 8] == 1,
        })
    }
}

pub(super) fn newest_header(medium: &dyn Medium, from: u64) -> io::Result<Option<Header>> {
    let mut newest: Option<Header> = None;
    for place in [0, HEADER] {
        let mut bytes = [0; 512];
        medium.read(from + place, &mut bytes)?;
        if let Some(header) = Header::decode(&bytes)
            && newest.as_ref().is_none_or(|other| header.number > other.number)
        {
            newest = Some(header);
        }
    }
    Ok(newest)
}
