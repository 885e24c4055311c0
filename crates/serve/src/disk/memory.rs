//! The sectors of a disk that is memory.
//!
//! **Invariant:** what was lent stays as it was, whatever is written afterwards.

use std::ops::{Deref, Range};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use units::convert::narrow;

use super::{DiskError, checked, parts};
use crate::tag::{self, NEVER_WRITTEN, SECTOR};

/// Sectors of one piece of memory.
const EXTENT: u64 = EXTENT_SECTORS as u64;
const EXTENT_SECTORS: usize = 512;
const BYTES: usize = EXTENT_SECTORS * SECTOR;
/// Bytes that are copied and checked together: they stay in the first-level cache between the two.
const PIECE: usize = 8 << 10;

/// Extents that come into being when they are first written to.
pub(super) struct Memory {
    extents: Vec<RwLock<Option<Arc<Extent>>>>,
}

#[derive(Clone)]
struct Extent {
    data: Box<[u8]>,
    tags: Box<[u32]>,
}

/// Bytes of a disk that is memory, as they were when they were lent.
pub struct Lent {
    /// None where nothing was ever written.
    extent: Option<Arc<Extent>>,
    part: Range<usize>,
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        static ZEROS: [u8; BYTES] = [0; BYTES];
        let all = self.extent.as_ref().map_or(&ZEROS[..], |extent| &extent.data);
        &all[self.part.clone()]
    }
}

impl Memory {
    pub(super) fn new(sectors: u64) -> Memory {
        Memory { extents: (0..sectors.div_ceil(EXTENT)).map(|_| RwLock::default()).collect() }
    }

    #[inline]
    pub(super) fn read(&self, lba: u64, into: &mut [u8]) -> Result<(), DiskError> {
        for (lba, part) in parts(lba, into.len(), EXTENT) {
            let into = &mut into[part];
            let extent = self.held(lba);
            let Some(extent) = extent.as_ref() else {
                into.fill(0);
                continue;
            };
            let at = narrow::<usize>(lba % EXTENT);
            for (n, piece) in into.chunks_mut(PIECE).enumerate() {
                let skipped = n * (PIECE / SECTOR);
                let from = at + skipped;
                piece.copy_from_slice(&extent.data[from * SECTOR..][..piece.len()]);
                checked(lba + skipped as u64, piece, &extent.tags[from..from + piece.len() / SECTOR])?;
            }
        }
        Ok(())
    }

    pub(super) fn lend(&self, lba: u64, bytes: usize, lent: &mut Vec<Lent>) -> Result<(), DiskError> {
        for (lba, part) in parts(lba, bytes, EXTENT) {
            let first = narrow::<usize>(lba % EXTENT);
            let place = first * SECTOR..first * SECTOR + part.len();
            debug_assert!(place.end <= BYTES, "what is lent lies in one extent");
            let extent = self.held(lba).clone();
            if let Some(extent) = &extent {
                let tags = &extent.tags[first..place.end / SECTOR];
                checked(lba, &extent.data[place.clone()], tags)?;
            }
            lent.push(Lent { extent, part: place });
        }
        Ok(())
    }

    #[inline]
    pub(super) fn write(&self, lba: u64, from: &[u8]) {
        for (lba, part) in parts(lba, from.len(), EXTENT) {
            let from = &from[part];
            let mut extent = self.held_mut(lba);
            let extent = changeable(&mut extent);
            let at = narrow::<usize>(lba % EXTENT);
            for (n, piece) in from.chunks(PIECE).enumerate() {
                let skipped = n * (PIECE / SECTOR);
                let to = at + skipped;
                extent.data[to * SECTOR..][..piece.len()].copy_from_slice(piece);
                let tags = &mut extent.tags[to..to + piece.len() / SECTOR];
                tag::compute(lba + skipped as u64, piece, tags);
            }
        }
    }

    pub(super) fn discard(&self, lba: u64, sectors: u64) {
        let (mut lba, end) = (lba, lba + sectors);
        while lba < end {
            let until = ((lba / EXTENT + 1) * EXTENT).min(end);
            let mut extent = self.held_mut(lba);
            if until - lba == EXTENT {
                *extent = None;
            } else if let Some(extent) = extent.as_mut() {
                let extent = Arc::make_mut(extent);
                let (from, to) = (narrow::<usize>(lba % EXTENT), narrow::<usize>(until - lba));
                extent.data[from * SECTOR..(from + to) * SECTOR].fill(0);
                extent.tags[from..from + to].fill(NEVER_WRITTEN);
            }
            debug_assert!(until > lba, "each turn discards something");
            lba = until;
        }
    }

    pub(super) fn spoil(&self, lba: u64) {
        let mut extent = self.held_mut(lba);
        let extent = changeable(&mut extent);
        extent.tags[narrow::<usize>(lba % EXTENT)] = tag::unreadable(lba);
        extent.data[narrow::<usize>(lba % EXTENT) * SECTOR..][..SECTOR].fill(0);
    }

    pub(super) fn is_hole(&self, lba: u64, sectors: u64) -> bool {
        (lba / EXTENT..=(lba + sectors - 1) / EXTENT).all(|number| {
            self.held(number * EXTENT).as_ref().is_none_or(|held| {
                let from = lba.max(number * EXTENT) - number * EXTENT;
                let to = (lba + sectors - number * EXTENT).min(EXTENT);
                let tags = &held.tags[narrow::<usize>(from)..narrow::<usize>(to)];
                tags.iter().all(|&tag| tag == NEVER_WRITTEN)
            })
        })
    }

    #[inline]
    fn held(&self, lba: u64) -> RwLockReadGuard<'_, Option<Arc<Extent>>> {
        self.extents[narrow::<usize>(lba / EXTENT)].read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn held_mut(&self, lba: u64) -> RwLockWriteGuard<'_, Option<Arc<Extent>>> {
        self.extents[narrow::<usize>(lba / EXTENT)].write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The extent, made where there is none, and copied where some of it is lent.
#[inline]
fn changeable(extent: &mut Option<Arc<Extent>>) -> &mut Extent {
    Arc::make_mut(extent.get_or_insert_with(|| Arc::new(Extent::new())))
}

impl Extent {
    fn new() -> Extent {
        Extent {
            data: vec![0; BYTES].into_boxed_slice(),
            tags: vec![NEVER_WRITTEN; EXTENT_SECTORS].into_boxed_slice(),
        }
    }
}
