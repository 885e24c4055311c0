//! What must be known whatever the log says.

use std::io;

use units::convert::narrow;

use super::Owner;
use super::range::SectorRange;
use super::state::{MOST_PIECES, Settings};
use crate::medium::Medium;
use crate::tag::crc32c;

/// Bytes of one place for the table of what was lost.
pub(super) const TABLE: u64 = 8 << 20;
/// Where the log begins.
pub(super) const LOG: u64 = 2 * TABLE;
const MAGIC: &[u8; 8] = b"fathomC3";
/// Bytes of the table before its ranges, and of a range.
const HEAD: usize = 64;
const RANGE: usize = 24;
/// Settings, and what was lost before the log began.
pub(super) struct Table {
    pub number: u64,
    pub array: String,
    /// The number of the start that wrote it.
    pub session: u64,
    /// That of the start whose cache it was before, 0 for none: what that one had is in it, too.
    pub before: u64,
    /// Bytes of the log.
    pub room: u64,
    pub settings: Settings,
    pub lost: Vec<SectorRange>,
}

impl Table {
    /// Whether it says what may be nowhere else: a copy from an earlier start does not.
    pub fn is_needed(&self, owner: &Owner) -> bool {
        self.array == owner.array
            && owner.needed.is_some_and(|needed| needed == self.session || needed == self.before)
    }

    pub fn encode(&self) -> Vec<u8> {
        let Settings { is_write_back, is_forced, has_battery } = self.settings;
        assert!(self.array.len() <= 16, "an array's number has 16 characters");
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.number.to_le_bytes());
        let mut array = [0; 16];
        array.iter_mut().zip(self.array.bytes()).for_each(|(to, from)| *to = from);
        bytes.extend_from_slice(&array);
        bytes.extend_from_slice(&self.session.to_le_bytes());
        bytes.extend_from_slice(&self.room.to_le_bytes());
        bytes.extend_from_slice(&self.before.to_le_bytes());
        bytes.extend([u8::from(is_write_back), u8::from(is_forced), u8::from(has_battery), 0]);
        bytes.extend_from_slice(&narrow::<u32>(self.lost.len()).to_le_bytes());
        debug_assert_eq!(bytes.len(), HEAD, "ranges follow the head");
        for place in &self.lost {
            bytes.extend_from_slice(&u64::from(place.set).to_le_bytes());
            bytes.extend_from_slice(&place.lba.to_le_bytes());
            bytes.extend_from_slice(&place.sectors.to_le_bytes());
        }
        bytes.extend_from_slice(&crc32c(&bytes).to_le_bytes());
        assert!(bytes.len() as u64 <= TABLE, "the pieces are few enough");
        bytes
    }

    fn read(medium: &dyn Medium, at: u64) -> io::Result<Option<Table>> {
        let mut head = [0; HEAD];
        medium.read(at, &mut head)?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let count = head.last_chunk().map_or(0, |count| u32::from_le_bytes(*count)) as usize;
        if !head.starts_with(MAGIC) || count > 2 * MOST_PIECES {
            return Ok(None);
        }
        let mut bytes = vec![0; HEAD + count * RANGE + 4];
        medium.read(at, &mut bytes)?;
        let (body, crc) = bytes.split_at(HEAD + count * RANGE);
        if crc != crc32c(body).to_le_bytes() {
            return Ok(None);
        }
        let lost = body[HEAD..].chunks(RANGE).map(|range| SectorRange {
            set: u32::try_from(word(range)).unwrap_or(u32::MAX),
            lba: word(&range[8..]),
            sectors: word(&range[16..]),
        });
        let settings =
            Settings { is_write_back: head[56] == 1, is_forced: head[57] == 1, has_battery: head[58] == 1 };
        let array = String::from_utf8_lossy(&head[16..32]).trim_end_matches('\0').to_owned();
        let (session, room, before) = (word(&head[32..]), word(&head[40..]), word(&head[48..]));
        Ok(Some(Table {
            number: word(&head[8..]),
            array,
            session,
            before,
            room,
            settings,
            lost: lost.collect(),
        }))
    }
}

pub(super) fn newest_table(medium: &dyn Medium) -> io::Result<Option<Table>> {
    let tables = [Table::read(medium, 0)?, Table::read(medium, TABLE)?];
    Ok(tables.into_iter().flatten().max_by_key(|table| table.number))
}
