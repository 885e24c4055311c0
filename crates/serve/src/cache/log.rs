//! The log of the cache: what was taken, before it is acknowledged, and what has gone to the members.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::pieces::Contents;
use super::range::SectorRange;
use super::state::State;
use crate::medium::Medium;
use crate::nvram::{Change, Nvram, Record};
use crate::tag::{SECTOR, crc32c};

/// What an entry of the log says of a range; it stands where the journal has the member.
pub(super) mod said {
    /// The data of it follow.
    pub const DATA: u16 = 0;
    /// It is not here any more.
    pub const GONE: u16 = 1;
    /// Its data are in memory alone; their checksums follow.
    pub const UNSAVED: u16 = 2;
    /// The checksums.
    pub const TAGS: u16 = 3;
}

/// What is kept beside memory.
pub(super) struct Kept {
    pub medium: Arc<dyn Medium>,
    pub log: Nvram,
    pub room: u64,
}

impl Kept {
    pub fn has_room_for(&self, record: &Record, reserve: u64) -> bool {
        self.log.used() + record.encoded_len() + reserve <= self.room
    }

    pub fn append(&self, set: u32, record: &Record) -> io::Result<()> {
        if record.is_empty() {
            return Ok(());
        }
        debug_assert!(self.log.used() <= self.room, "the log keeps to its room");
        // What is in the log may be nowhere else, so that it cannot be begun anew from here.
        self.log.append(set, record, || Err(io::Error::other("the log of the write cache is full")))?.done();
        Ok(())
    }
}

pub(super) fn saved(lba: u64, data: &[u8]) -> Record {
    debug_assert!(data.len().is_multiple_of(SECTOR), "the cache takes whole sectors");
    let mut record = Record::default();
    record.write(said::DATA, lba, data);
    record
}

pub(super) fn unsaved(lba: u64, data: &[u8]) -> Record {
    let mut tags: Vec<u8> = data.chunks(SECTOR).flat_map(|sector| crc32c(sector).to_le_bytes()).collect();
    tags.resize(tags.len().next_multiple_of(SECTOR), 0);
    let mut record = Record::default();
    record.discard(said::UNSAVED, lba, (data.len() / SECTOR) as u64);
    record.write(said::TAGS, 0, &tags);
    record
}

/// Does to the state what a record of the log says.
pub(super) fn apply(state: &mut State, set: u32, record: &Record) {
    let mut awaited = None;
    for (kind, lba, change) in record.changes() {
        match (kind, change) {
            (said::DATA, Change::Write(data)) => {
                let place = SectorRange { set, lba, sectors: (data.len() / SECTOR) as u64 };
                state.insert(place, Contents::Data(Arc::new(data.to_vec()), 0), Duration::ZERO);
            }
            (said::GONE, Change::Discard(sectors)) => {
                state.carve(SectorRange { set, lba, sectors }, |_| true);
            }
            (said::UNSAVED, Change::Discard(sectors)) => awaited = Some(SectorRange { set, lba, sectors }),
            (said::TAGS, Change::Write(bytes)) => {
                let Some(place) = awaited.take() else { continue };
                let tags = bytes.as_chunks().0.iter().map(|tag| u32::from_le_bytes(*tag)).collect();
                state.insert(place, Contents::Tags(Arc::new(tags), 0), Duration::ZERO);
            }
            _ => {}
        }
    }
}
