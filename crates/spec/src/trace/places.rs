//! Where the requests of a trace go on targets of other lengths.
//!
//! Each request is placed as it is issued, so that a trace of millions is held in memory once.

use units::Bytes;
use units::convert::narrow;

use super::TraceRequest;

/// The part of a target that a trace may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Where it begins.
    pub start: Bytes,
    /// How long it is.
    pub len: Bytes,
}

/// The targets' rooms, and what becomes of a request that lies beyond its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    rooms: Vec<Room>,
    unit: u64,
    folds: bool,
}

impl Places {
    /// Requests of file `n` go to target `n` modulo the number of `rooms`, at least one. Where it `folds`, what lies
    /// beyond its room comes round again from the room's start, by whole `unit`s, at least a byte.
    pub fn new(rooms: Vec<Room>, unit: Bytes, folds: bool) -> Places {
        assert!(!rooms.is_empty() && !unit.is_zero(), "a request goes to some target, by some unit");
        Places { rooms, unit: unit.get(), folds }
    }

    /// The room of the target that file number `file` of the trace goes to.
    pub fn room_of(&self, file: u16) -> Room {
        self.rooms[usize::from(file) % self.rooms.len()]
    }

    /// Whether any request goes elsewhere than where the trace says.
    pub fn moves(&self) -> bool {
        self.folds || self.rooms.iter().any(|room| !room.start.is_zero())
    }

    /// The request at its place; `None` where there is no room for it.
    #[inline]
    pub fn place(&self, request: TraceRequest) -> Option<TraceRequest> {
        let file = usize::from(request.file) % self.rooms.len();
        let Room { start, len: room } = self.rooms[file];
        let (offset, len) = (request.offset.get(), u64::from(request.len));
        let within = match room.get().checked_sub(len)? {
            last if offset <= last => offset,
            // The last place where the request fits comes before the first one again.
            last if self.folds => {
                offset / self.unit % (last / self.unit + 1) * self.unit + offset % self.unit
            }
            _ => return None,
        };
        let offset = Bytes::new(start.get() + within);
        debug_assert!(within <= room.get(), "a request is placed within its room");
        Some(TraceRequest { file: narrow::<u16>(file), offset, ..request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use units::Nanos;

    fn request(file: u16, offset: u64, len: u32) -> TraceRequest {
        TraceRequest { at: Nanos::ZERO, op: Op::Read, file, offset: Bytes::new(offset), len, line: 1 }
    }

    fn places(lengths: &[(u64, u64)], folds: bool) -> Places {
        let rooms =
            lengths.iter().map(|(start, len)| Room { start: Bytes::new(*start), len: Bytes::new(*len) });
        Places::new(rooms.collect(), Bytes::new(512), folds)
    }

    #[test]
    fn what_lies_beyond_its_room_comes_round_again_by_whole_sectors_or_has_no_place() {
        let place = |folds, offset, len| {
            places(&[(0, 4096)], folds).place(request(0, offset, len)).map(|placed| placed.offset.get())
        };
        assert_eq!(place(false, 3584, 512), Some(3584), "the last sector");
        assert_eq!(place(false, 3584, 1024), None);
        assert_eq!(place(true, 3584, 1024), Some(0), "seven places for two sectors");
        assert_eq!(place(true, 4096, 512), Some(0));
        assert_eq!(place(true, 4608, 512), Some(512));
        assert_eq!(place(true, 0, 8192), None, "longer than all of the room");
    }

    #[test]
    fn files_share_the_targets_in_turns_each_behind_its_offset() {
        let places = places(&[(1024, 4096), (0, 8192)], false);
        let placed =
            |file| places.place(request(file, 512, 512)).map(|placed| (placed.file, placed.offset.get()));
        assert_eq!([placed(0), placed(1), placed(2)], [Some((0, 1536)), Some((1, 512)), Some((0, 1536))]);
        assert!(places.moves());
    }
}
