//! The write-intent bitmap of a set: which regions may differ between its members, and what of that stands on them.
//!
//! A write marks its regions before its data leave. A bit that was clear makes its page *dirty*: the page has to be on the
//! members first. Bits are cleared by a daemon, which looks at them every so often: the second time that it finds nothing
//! under way since the last write, it clears the bit, and the page is written with the round after. So Linux md has it
//! (`drivers/md/md-bitmap.c`: `md_bitmap_startwrite`, `md_bitmap_endwrite`, `md_bitmap_daemon_work`).
//!
//! Nothing wakes the daemon: its rounds are made up for as soon as a write begins or ends. Until then nobody could tell.
//!
//! **Invariant:** a region with a write under way is set, and no more regions are kept than the members have.

use std::collections::{BTreeMap, BTreeSet};

use units::{Instant, Lba, Nanos, SECTOR_BYTES, Sectors};

use crate::raid::{Extent, Geometry};
use crate::topology::BitmapParams;

/// What a bitmap is written in.
pub const PAGE: Sectors = Sectors(8);

/// Bits of a page.
const PAGE_BITS: u64 = PAGE.0 * SECTOR_BYTES * 8;

/// Bits' room that the bitmap's own superblock takes of the first page (`sizeof(bitmap_super_t)` in md-bitmap.c).
const SUPERBLOCK_BITS: u64 = 256 * 8;

/// Where the bitmap lies on each member: behind the superblock of version 1.2, which is 4 KiB from the start (md(4)). LVM
/// has it on a volume of its own, in front of the data.
const AT: Lba = Lba(16);

/// Rounds of the daemon without a write until a bit is clear.
const ROUNDS: u8 = 2;

/// A region whose bit is set.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    /// Writes under way.
    writes: u32,
    /// Rounds since the last one ended.
    rounds: u8,
    /// A member missed what was written.
    needed: bool,
}

/// First and last region of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    first: u64,
    last: u64,
}

/// The bitmap of one set.
#[derive(Debug)]
pub struct Bitmap {
    /// Sectors of a region.
    region: u64,
    sleep: Nanos,
    /// Whether regions are of each member, rather than of the set.
    of_members: bool,
    set: BTreeMap<u64, Region>,
    /// Pages that have to be written before the writes that set a bit in them go on.
    dirty: BTreeSet<u64>,
    /// Pages with bits that a round has cleared.
    cleared: BTreeSet<u64>,
    /// Those of the round before: they are written when there is time.
    stale: BTreeSet<u64>,
    next_round: Instant,
}

impl Bitmap {
    /// All clear. Regions are of the members where there is parity, of the set where there are copies: raid5.c marks the
    /// sector of a stripe, raid1.c and raid10.c the sector of the array.
    pub fn new(params: BitmapParams, geometry: &Geometry) -> Bitmap {
        Bitmap {
            region: (params.region.get() / SECTOR_BYTES).max(1),
            sleep: params.sleep,
            of_members: geometry.spec().level.parity() > 0,
            set: BTreeMap::new(),
            dirty: BTreeSet::new(),
            cleared: BTreeSet::new(),
            stale: BTreeSet::new(),
            next_round: Instant::START + params.sleep,
        }
    }

    /// The regions of a write of `extents`, ascending.
    pub fn regions(&self, geometry: &Geometry, extents: &[Extent]) -> Regions {
        let span = |extent: &Extent| match self.of_members {
            true => geometry.member_span(extent.lba, extent.sectors),
            false => (extent.lba, extent.lba + extent.sectors),
        };
        let spans = extents.iter().map(span);
        let (from, to) =
            spans.fold((u64::MAX, 0), |(low, high), (from, to)| (low.min(from.0), high.max(to.0)));
        debug_assert!(from < to, "a write must have a length");
        Regions { first: from / self.region, last: (to - 1) / self.region }
    }

    /// A write to `regions` begins: their bits are set.
    pub fn begin(&mut self, regions: Regions) {
        for number in regions.first..=regions.last {
            let region = self.set.entry(number).or_insert_with(|| {
                self.dirty.insert(page_of(number));
                Region::default()
            });
            (region.writes, region.rounds) = (region.writes + 1, 0);
        }
    }

    /// A write to `regions` has ended; whether all members have it.
    pub fn end(&mut self, regions: Regions, is_complete: bool) {
        for number in regions.first..=regions.last {
            let Some(region) = self.set.get_mut(&number) else {
                unreachable!("a region with a write under way is set");
            };
            debug_assert!(region.writes > 0, "a write must end once");
            region.writes -= 1;
            region.rounds = 0;
            region.needed |= !is_complete;
        }
    }

    /// Makes up for the rounds of the daemon that are due at `now`; `is_whole` is whether no member is missing.
    pub fn catch_up(&mut self, now: Instant, is_whole: bool) {
        // The last has the pages written that the rounds before have left.
        let mut left = ROUNDS + 1;
        while now >= self.next_round {
            if left == 0 {
                // It has been quiet since: they have been written, and the daemon has slept until now.
                self.stale.clear();
                self.next_round = now.saturating_add(self.sleep);
                return;
            }
            self.round(is_whole);
            self.next_round += self.sleep;
            left -= 1;
        }
    }

    fn round(&mut self, is_whole: bool) {
        self.stale.append(&mut self.cleared);
        let cleared = &mut self.cleared;
        self.set.retain(|&number, region| {
            region.needed &= !is_whole;
            if region.writes > 0 || region.needed {
                return true;
            }
            region.rounds += 1;
            let stays = region.rounds < ROUNDS;
            if !stays {
                cleared.insert(page_of(number));
            }
            stays
        });
    }

    /// Whether a write must wait for a page.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Whether pages wait until there is time to write them.
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// Pages that are written now, by number: all that have to be, and those that may.
    pub fn take_pages(&mut self, pages: &mut Vec<u64>) {
        self.dirty.append(&mut self.stale);
        self.cleared.retain(|page| !self.dirty.contains(page));
        pages.clear();
        pages.extend(std::mem::take(&mut self.dirty));
    }

    /// After a rest: what nobody needs is clear.
    pub fn settle(&mut self) {
        self.set.retain(|_, region| region.writes > 0 || region.needed);
        self.cleared.clear();
        self.stale.clear();
    }
}

/// The page that has the bit of a region.
fn page_of(region: u64) -> u64 {
    (region + SUPERBLOCK_BITS) / PAGE_BITS
}

/// Where a page lies on each member.
pub fn place_of(page: u64) -> Lba {
    Lba(AT.0 + page * PAGE.0)
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use crate::raid::{Level, SetSpec};

    fn bitmap() -> Bitmap {
        let spec = SetSpec::new(Level::Raid1, 2, Sectors(128), Sectors(1 << 30));
        let geometry = Geometry::new(spec).expect("the set is possible");
        Bitmap::new(BitmapParams { region: Bytes::MIB, sleep: Nanos::from_secs(5) }, &geometry)
    }

    fn at(seconds: u64) -> Instant {
        Instant::START + Nanos::from_secs(seconds)
    }

    fn one(region: u64) -> Regions {
        Regions { first: region, last: region }
    }

    /// Whether a write to `region` at `seconds` has a page written.
    fn write(bitmap: &mut Bitmap, seconds: u64, region: u64) -> bool {
        bitmap.catch_up(at(seconds), true);
        bitmap.begin(one(region));
        let waits = bitmap.is_dirty();
        bitmap.take_pages(&mut Vec::new());
        bitmap.end(one(region), true);
        waits
    }

    #[test]
    fn a_bit_stays_set_until_the_second_round_without_a_write() {
        let mut bitmap = bitmap();
        assert!(write(&mut bitmap, 1, 7));
        // Rounds are due at 5, 10, 15 ...
        assert!(!write(&mut bitmap, 4, 7) && !write(&mut bitmap, 9, 7) && !write(&mut bitmap, 14, 7));
        assert!(!write(&mut bitmap, 19, 7), "one round");
        assert!(write(&mut bitmap, 31, 7), "two");
        assert!(write(&mut bitmap, 31, 8), "another region");
    }

    #[test]
    fn what_a_member_missed_stays_set_until_it_is_back() {
        let mut bitmap = bitmap();
        bitmap.begin(one(3));
        bitmap.end(one(3), false);
        bitmap.take_pages(&mut Vec::new());
        bitmap.catch_up(at(100), false);
        bitmap.catch_up(at(200), false);
        bitmap.begin(one(3));
        assert!(!bitmap.is_dirty());
        bitmap.end(one(3), true);
        for seconds in [300, 400] {
            bitmap.catch_up(at(seconds), true);
        }
        assert!(bitmap.set.is_empty());
    }

    #[test]
    fn a_page_of_cleared_bits_is_written_a_round_later_or_with_another() {
        let mut pages = Vec::new();
        let mut bitmap = bitmap();
        write(&mut bitmap, 1, 0);
        write(&mut bitmap, 1, PAGE_BITS);
        bitmap.catch_up(at(10), true);
        assert!(bitmap.set.is_empty() && !bitmap.is_stale());
        bitmap.catch_up(at(15), true);
        assert!(bitmap.is_stale() && !bitmap.is_dirty());
        bitmap.take_pages(&mut pages);
        assert_eq!(pages, [0, 1]);
        assert!(!bitmap.is_stale());
    }

    #[test]
    fn bits_lie_behind_the_superblock_of_the_bitmap() {
        assert_eq!([0, PAGE_BITS - SUPERBLOCK_BITS - 1, PAGE_BITS - SUPERBLOCK_BITS].map(page_of), [0, 0, 1]);
        assert_eq!([place_of(0), place_of(1)], [Lba(16), Lba(24)]);
        assert_eq!(BitmapParams::least_region(Sectors(1 << 33)), Bytes::MIB * 2);
    }
}
