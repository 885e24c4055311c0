//! What the cache holds of one set.
//!
//! **Invariant:** pieces do not overlap, and none is empty.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use units::convert::narrow;

use crate::tag::SECTOR;

/// A part of what the cache holds.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub sectors: u64,
    pub generation: u64,
    pub since: Duration,
    pub held: Contents,
}

#[derive(Clone, Debug)]
pub(super) enum Contents {
    /// From that byte on.
    Data(Arc<Vec<u8>>, usize),
    /// Checksums of what was not saved, from that one on.
    Tags(Arc<Vec<u32>>, usize),
    Lost,
}

impl Piece {
    /// The part of it that begins so many sectors later.
    pub fn from(&self, skipped: u64) -> Piece {
        debug_assert!(skipped < self.sectors, "a part of a piece has sectors");
        let by = narrow::<usize>(skipped);
        let held = match &self.held {
            Contents::Data(bytes, at) => Contents::Data(bytes.clone(), at + by * SECTOR),
            Contents::Tags(tags, at) => Contents::Tags(tags.clone(), at + by),
            Contents::Lost => Contents::Lost,
        };
        Piece { sectors: self.sectors - skipped, held, ..self.clone() }
    }

    pub fn data(&self) -> Option<&[u8]> {
        match &self.held {
            Contents::Data(bytes, at) => Some(&bytes[*at..][..narrow::<usize>(self.sectors) * SECTOR]),
            Contents::Tags(..) | Contents::Lost => None,
        }
    }

    fn is_backed(&self) -> bool {
        let sectors = narrow::<usize>(self.sectors);
        match &self.held {
            Contents::Data(bytes, at) => at + sectors * SECTOR <= bytes.len(),
            Contents::Tags(tags, at) => at + sectors <= tags.len(),
            Contents::Lost => true,
        }
    }

    pub fn is_lost(&self) -> bool {
        matches!(self.held, Contents::Lost)
    }
}

/// The pieces of a set by their first sectors; they do not overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(BTreeMap<u64, Piece>);

impl Pieces {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them by their first sectors.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Piece)> {
        self.0.iter().map(|(at, piece)| (*at, piece))
    }

    /// Adds one where nothing is.
    pub fn insert(&mut self, at: u64, piece: Piece) {
        debug_assert!(piece.sectors > 0, "a piece has sectors");
        debug_assert!(self.over(at, at + piece.sectors).next().is_none(), "pieces do not overlap");
        debug_assert!(piece.is_backed(), "a piece has data, or checksums, of all of its sectors");
        self.0.insert(at, piece);
    }

    /// Those that reach into a range.
    pub fn over(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Piece)> {
        let before = self.0.range(..from).next_back().filter(|(at, piece)| *at + piece.sectors > from);
        before.into_iter().chain(self.0.range(from..to)).map(|(at, piece)| (*at, piece))
    }

    /// Takes out what of those that `is_wanted` lies in a range.
    pub fn carve(&mut self, from: u64, to: u64, is_wanted: impl Fn(&Piece) -> bool) -> Vec<(u64, Piece)> {
        let wanted = self.over(from, to).filter(|(_, piece)| is_wanted(piece));
        let found: Vec<u64> = wanted.map(|(at, _)| at).collect();
        let mut taken = Vec::new();
        for at in found {
            let Some(piece) = self.0.remove(&at) else { continue };
            let end = at + piece.sectors;
            if at < from {
                self.0.insert(at, Piece { sectors: from - at, ..piece.clone() });
            }
            if end > to {
                self.0.insert(to, piece.from(to - at));
            }
            let (first, last) = (at.max(from), end.min(to));
            debug_assert!(from <= first && first < last && last <= to, "what is taken lies in the range");
            taken.push((first, Piece { sectors: last - first, ..piece.from(first - at) }));
        }
        taken
    }
}
