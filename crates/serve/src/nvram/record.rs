//! A record of the journal: what is kept of a write to members before it is done.

use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::tag::crc32c;

const RECORD_MAGIC: u32 = 0x4A4C_4E52;
/// Bytes of a record before its entries.
pub(super) const RECORD: usize = 32;
pub(super) const ENTRY: usize = 16;

/// What is kept of a write to members before it is done.
#[derive(Debug, Default)]
pub struct Record {
    entries: Vec<Entry>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    member: u16,
    is_discard: bool,
    sectors: u32,
    lba: u64,
}

/// One write to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Bytes from a sector on.
    Write(&'a [u8]),
    /// That many sectors become zeros.
    Discard(u64),
}

impl Change<'_> {
    /// How many sectors it is of.
    pub fn sectors(&self) -> u64 {
        match self {
            Change::Write(bytes) => bytes.len() as u64 / SECTOR_BYTES,
            Change::Discard(sectors) => *sectors,
        }
    }
}

impl Record {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.data.clear();
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the write of `from`, whole sectors.
    pub fn write(&mut self, member: u16, lba: u64, from: &[u8]) {
        let sectors = narrow::<u32>(from.len() as u64 / SECTOR_BYTES);
        self.entries.push(Entry { member, is_discard: false, sectors, lba });
        self.data.extend_from_slice(from);
    }

    /// Adds that sectors become zeros.
    pub fn discard(&mut self, member: u16, lba: u64, sectors: u64) {
        self.entries.push(Entry { member, is_discard: true, sectors: narrow::<u32>(sectors), lba });
    }

    /// Each change in the order in which it was added: member, first sector, what.
    pub fn changes(&self) -> impl Iterator<Item = (u16, u64, Change<'_>)> {
        let mut at = 0;
        self.entries.iter().map(move |entry| {
            if entry.is_discard {
                return (entry.member, entry.lba, Change::Discard(entry.sectors.into()));
            }
            let len = narrow::<usize>(u64::from(entry.sectors) * SECTOR_BYTES);
            at += len;
            (entry.member, entry.lba, Change::Write(&self.data[at - len..at]))
        })
    }

    /// Bytes that it takes in a journal.
    pub fn encoded_len(&self) -> u64 {
        padded((RECORD + self.entries.len() * ENTRY + self.data.len()) as u64)
    }

    pub(super) fn encode(&self, sequence: u64, set: u32, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&RECORD_MAGIC.to_le_bytes());
        into.extend_from_slice(&[0; 4]);
        into.extend_from_slice(&sequence.to_le_bytes());
        into.extend_from_slice(&set.to_le_bytes());
        into.extend_from_slice(&narrow::<u32>(self.entries.len()).to_le_bytes());
        into.extend_from_slice(&(self.data.len() as u64).to_le_bytes());
        for entry in &self.entries {
            into.extend_from_slice(&entry.member.to_le_bytes());
            into.extend_from_slice(&u16::from(entry.is_discard).to_le_bytes());
            into.extend_from_slice(&entry.sectors.to_le_bytes());
            into.extend_from_slice(&entry.lba.to_le_bytes());
        }
        into.extend_from_slice(&self.data);
        let crc = crc32c(&into[8..]);
        into[4..8].copy_from_slice(&crc.to_le_bytes());
    }

    /// The record that `bytes` are, if they are the whole of the one with that number: it and its set.
    pub(super) fn decode(bytes: &[u8], sequence: u64) -> Option<(u32, Record)> {
        let crc = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?);
        let found = u64::from_le_bytes(*bytes.get(8..)?.first_chunk()?);
        let set = u32::from_le_bytes(*bytes.get(16..)?.first_chunk()?);
        let count = u32::from_le_bytes(*bytes.get(20..)?.first_chunk()?) as usize;
        if found != sequence || crc32c(bytes.get(8..)?) != crc {
            return None;
        }
        let (entries, data) = bytes.get(RECORD..)?.split_at_checked(count.checked_mul(ENTRY)?)?;
        let entries: Vec<Entry> = (entries.as_chunks::<ENTRY>().0.iter())
            .map(|bytes| Entry {
                member: u16::from_le_bytes([bytes[0], bytes[1]]),
                is_discard: bytes[2] != 0,
                sectors: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
                lba: u64::from_le_bytes(*bytes[8..].first_chunk().unwrap_or(&[0; 8])),
            })
            .collect();
        let written = entries.iter().filter(|entry| !entry.is_discard);
        let wanted: u64 = written.map(|entry| u64::from(entry.sectors) * SECTOR_BYTES).sum();
        (wanted == data.len() as u64).then(|| (set, Record { entries, data: data.to_vec() }))
    }
}

/// How long a record with that header is, header included; `None` where it is none.
pub(super) fn encoded_len(header: &[u8; RECORD]) -> Option<u64> {
    if header[..4] != RECORD_MAGIC.to_le_bytes() {
        return None;
    }
    let count = u32::from_le_bytes(*header[20..].first_chunk()?);
    let data = u64::from_le_bytes(*header[24..].first_chunk()?);
    data.checked_add(u64::from(count) * ENTRY as u64 + RECORD as u64)
}

/// Records begin at whole sectors, so that a torn one harms no other.
pub(super) fn padded(len: u64) -> u64 {
    len.next_multiple_of(SECTOR_BYTES)
}
