//! What the cache holds, and how it is set.

use std::time::Duration;

use units::SECTOR_BYTES;
use units::convert::narrow;

use super::pieces::{Contents, Piece, Pieces};
use super::range::{SectorRange, joined};
use crate::set::Fault;
use crate::tag::{SECTOR, crc32c};

/// Most pieces that the cache is in: what of them is lost must have room in the table.
pub(super) const MOST_PIECES: usize = 150_000;

/// What an operator sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether writes are to be acknowledged from the cache.
    pub is_write_back: bool,
    /// Whether that is wanted without a battery, too.
    pub is_forced: bool,
    /// Whether what the cache holds survives a loss of power.
    pub has_battery: bool,
}

impl Settings {
    /// Whether writes are acknowledged from the cache.
    pub fn takes_writes(self) -> bool {
        self.is_write_back && (self.has_battery || self.is_forced)
    }
}

pub(super) struct State {
    pub sets: Vec<Pieces>,
    pub settings: Settings,
    /// Bytes of data.
    pub dirty: u64,
    /// Grows with each write.
    pub generation: u64,
    /// The number of the next table.
    pub table: u64,
    /// The number of the start whose cache it was, until the labels say that it is this one's; 0 from then on.
    pub before: u64,
    /// Whether another controller has a copy of what is taken, or need not have one.
    pub has_partner: bool,
    /// Whether nothing is taken for now, whatever is set.
    pub is_paused: bool,
}

impl State {
    /// Whether writes are acknowledged from the cache now.
    pub fn takes_writes(&self) -> bool {
        self.settings.takes_writes() && self.has_partner && !self.is_paused
    }

    pub fn pieces(&self) -> usize {
        self.sets.iter().map(|set| set.len()).sum()
    }

    pub fn carve(&mut self, place: SectorRange, is_wanted: impl Fn(&Piece) -> bool) -> Vec<(u64, Piece)> {
        let SectorRange { set, lba, sectors } = place;
        let taken = self.sets[set as usize].carve(lba, lba + sectors, is_wanted);
        let data = taken.iter().filter(|(_, piece)| matches!(piece.held, Contents::Data(..)));
        let bytes = data.map(|(_, piece)| piece.sectors * SECTOR_BYTES).sum::<u64>();
        assert!(bytes <= self.dirty, "what is taken out was counted in");
        self.dirty -= bytes;
        taken
    }

    pub fn insert(&mut self, place: SectorRange, held: Contents, since: Duration) {
        self.carve(place, |_| true);
        self.generation += 1;
        if matches!(held, Contents::Data(..)) {
            self.dirty += place.sectors * SECTOR_BYTES;
        }
        let piece = Piece { sectors: place.sectors, generation: self.generation, since, held };
        self.sets[place.set as usize].insert(place.lba, piece);
    }

    pub fn all(&self) -> impl Iterator<Item = (SectorRange, &Piece)> {
        (0_u32..).zip(&self.sets).flat_map(|(set, pieces)| {
            pieces.iter().map(move |(lba, piece)| (SectorRange { set, lba, sectors: piece.sectors }, piece))
        })
    }
}

/// Forgets all data: what the members have as well is theirs, the rest is lost. What was lost by this comes back.
pub(super) fn give_up(
    state: &mut State,
    below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>,
) -> Vec<SectorRange> {
    let pieces: Vec<(SectorRange, Piece)> =
        state.all().map(|(place, piece)| (place, piece.clone())).collect();
    let mut lost = Vec::new();
    let mut found = [0; SECTOR];
    for (place, piece) in pieces.iter().filter(|(_, piece)| !piece.is_lost()) {
        state.carve(*place, |_| true);
        for at in 0..place.sectors {
            let lba = place.lba + at;
            let is_there = below(place.set, lba, &mut found).is_ok()
                && match &piece.held {
                    Contents::Data(bytes, from) => {
                        bytes[from + narrow::<usize>(at) * SECTOR..].starts_with(&found)
                    }
                    Contents::Tags(tags, from) => tags[from + narrow::<usize>(at)] == crc32c(&found),
                    Contents::Lost => true,
                };
            if !is_there {
                lost.push(SectorRange { set: place.set, lba, sectors: 1 });
            }
        }
    }
    let mut lost = joined(lost.into_iter());
    if lost.len() > MOST_PIECES {
        // Too finely strewn for the table: rather too much is called lost than too little.
        lost = joined(pieces.iter().filter(|(_, piece)| !piece.is_lost()).map(|(place, _)| *place));
    }
    for &place in &lost {
        state.insert(place, Contents::Lost, Duration::ZERO);
    }
    assert!(state.dirty == 0, "nothing that was not saved is taken for data");
    lost
}
