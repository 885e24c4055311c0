//! A controller's cache at work: reads kept and read ahead, writes gathered by stripe and destaged.
//!
//! **Invariant:** what dirty and destaging bytes take never exceeds the part of the cache that writes may take, but for what has
//! been taken over from the partner: that was in the mirror's half already.
//! **Invariant:** a stripe is destaged whole, as far as it is dirty, by one operation.
//! **Invariant:** a flush ends when all that was dirty of its volume as it came is with the members, and waits for
//! nothing newer.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use units::convert::truncated;
use units::{Instant, Nanos, SECTOR_BYTES};

use crate::controller::CacheParams;
use crate::raid::{Extent, Geometry};
use crate::readahead::{Fetch, Growth, Lookup, ReadAhead, Rule};
use crate::slab::Slab;
use crate::tags::Tags;

use dirty::{Dirty, DirtyStripes};
use flushes::Flushes;
use runs::{NONE, Runs};
use stripes::{Key, Passed, StripeCut};

mod dirty;
mod flushes;
mod runs;
mod stripes;
#[cfg(test)]
mod tests;

/// The sectors of a set that a volume lies on, first and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRange {
    pub set: u32,
    /// First sector.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// What an operation for the cache is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTransfer {
    /// Data on their way to the members.
    Destage {
        /// Bytes of it.
        bytes: u64,
        /// Bytes of cache that become free.
        room: u64,
        /// Whether the members are read first, a part of a stripe with parity being written.
        reads_first: bool,
        /// What is destaged.
        stripe: (u32, u64),
        /// How many flushes had come before the first of it was written.
        since: u64,
    },
    /// Data on their way from the members.
    Fetch {
        /// The volume's set.
        set: u32,
        /// What for.
        fetch: Fetch,
    },
}

impl Default for CacheTransfer {
    fn default() -> CacheTransfer {
        CacheTransfer::Destage { bytes: 0, room: 0, reads_first: false, stripe: (0, 0), since: 0 }
    }
}

/// A stripe on its way to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestageBatch {
    pub set: u32,
    /// By its place among the transfers of the cache.
    pub transfer: u32,
    /// Of what is dirty of it.
    pub bytes: u64,
    /// Whether it writes a stripe with parity of which all is known.
    pub is_known: bool,
}

/// A controller's cache.
pub struct Cache {
    params: CacheParams,
    cuts: Vec<StripeCut>,
    tags: Tags,
    ahead: Option<ReadAhead>,
    dirty: DirtyStripes,
    /// Stripes that became full, in that order; some may be gone since.
    full: VecDeque<Key>,
    /// Stripes in the order in which the first of each was written; some may be gone since.
    ages: VecDeque<(Instant, Key)>,
    dirty_bytes: u64,
    destaging_bytes: u64,
    /// What these take: whole blocks.
    taken: u64,
    /// Of that, what is not on its way to the members.
    taken_dirty: u64,
    /// Sectors of a block.
    block: u64,
    destaging: u32,
    /// Of these, those that read first.
    reading: u32,
    room: u64,
    /// Where the sweep over partly dirty stripes is.
    cursor: Key,
    pressing: bool,
    passed: Passed,
    /// Stripes that somebody waits for, some of them perhaps gone since.
    urgent: VecDeque<Key>,
    /// Stripes that writes wait for which must be stable; the same.
    hurried: VecDeque<Key>,
    /// How many of these may leave, from the first.
    released: usize,
    flushes: Flushes,
    /// What is being destaged.
    under_way: Vec<Key>,
    transfers: Slab<CacheTransfer>,
    /// Writes that wait for room.
    pub writers: VecDeque<u32>,
}

impl Cache {
    /// An empty cache over sets of these geometries.
    pub fn new<'g>(params: &CacheParams, sets: impl Iterator<Item = &'g Geometry>) -> Cache {
        let rule = Rule {
            streams: params.prefetch.streams,
            confirm: params.prefetch.confirm.max(1),
            start: params.prefetch.start.get() / SECTOR_BYTES,
            max: params.prefetch.max.get() / SECTOR_BYTES,
            growth: Growth::Half,
        };
        Cache {
            cuts: sets.map(|geometry| StripeCut::of(geometry, params.stripes)).collect(),
            tags: Tags::new(if params.read { params.read_room().get() } else { 0 }, params.line.get()),
            ahead: (params.read && rule.streams > 0 && rule.max > 0).then(|| ReadAhead::new(rule)),
            dirty: DirtyStripes::default(),
            full: VecDeque::new(),
            ages: VecDeque::new(),
            dirty_bytes: 0,
            destaging_bytes: 0,
            taken: 0,
            taken_dirty: 0,
            block: (params.block.get() / SECTOR_BYTES).max(1),
            destaging: 0,
            reading: 0,
            room: params.write_room().get(),
            cursor: (0, 0),
            pressing: false,
            passed: Passed::default(),
            urgent: VecDeque::new(),
            hurried: VecDeque::new(),
            released: 0,
            flushes: Flushes::default(),
            under_way: Vec::new(),
            transfers: Slab::new(),
            writers: VecDeque::new(),
            params: params.clone(),
        }
    }

    /// Whether the layer with the parity keeps stripes that have passed.
    pub fn keeps_stripes(&self) -> bool {
        !self.params.stripes.is_zero()
    }

    /// Whether writes may be acknowledged from here, given whether the partner is there to mirror them.
    pub fn takes_writes(&self, partner: bool) -> bool {
        self.params.takes_writes(partner)
    }

    /// Whether a write of `len` bytes goes past it.
    pub fn is_bypassed_by(&self, len: u32) -> bool {
        self.params.is_bypassed_by(len)
    }

    /// Whether what it holds survives a loss of power.
    pub fn is_protected(&self) -> bool {
        self.params.protected
    }

    /// Has a flush wait until all that is dirty of a volume is with the members, which [`Cache::drained`] tells.
    /// `false`: it need not wait.
    pub fn drain(&mut self, volume: VolumeRange, place: u32) -> bool {
        self.urge(volume);
        self.wait_until_left(volume, place)
    }

    /// The same of what a write that must be stable has made dirty: its stripes leave as soon as they are not on their
    /// way already, and take along what has gathered in them meanwhile.
    pub fn hurry(&mut self, volume: VolumeRange, place: u32) -> bool {
        let stripes = self.stripes_of(volume);
        self.hurried.extend(self.dirty.range(stripes));
        self.wait_until_left(volume, place)
    }

    fn wait_until_left(&mut self, volume: VolumeRange, place: u32) -> bool {
        let stripes = self.stripes_of(volume);
        let left = self.dirty.range(stripes.clone()).count()
            + self.under_way.iter().filter(|stripe| stripes.contains(stripe)).count();
        if left == 0 {
            return false;
        }
        self.flushes.wait(place, stripes, left);
        true
    }

    /// The flushes that need wait no longer go to `released`.
    pub fn drained(&mut self, released: &mut Vec<u32>) {
        if self.dirty.is_empty() {
            self.urgent.clear();
            self.hurried.clear();
        }
        self.flushes.drained(released);
    }

    /// Has what is dirty of a volume leave before anything else but full stripes.
    pub fn urge(&mut self, volume: VolumeRange) {
        let stripes = self.stripes_of(volume);
        self.urgent.extend(self.dirty.range(stripes));
    }

    /// Whether anything of a volume is dirty or on its way to the members.
    pub fn is_leaving(&self, volume: VolumeRange) -> bool {
        let stripes = self.stripes_of(volume);
        self.dirty.first_of(stripes.clone()).is_some()
            || self.under_way.iter().any(|stripe| stripes.contains(stripe))
    }

    /// Takes over what is dirty of a volume in `partner`, as far as it is not on its way to the members.
    pub fn take_over(&mut self, partner: &mut Cache, volume: VolumeRange) {
        let stripes = partner.stripes_of(volume);
        let cut = self.cuts[volume.set as usize];
        while let Some(key) = partner.dirty.first_of(stripes.clone()) {
            let Some(Dirty { runs, touched, born, .. }) = partner.dirty.remove(key) else { break };
            let room = partner.room_of(&runs);
            partner.dirty_bytes -= runs.sectors() * SECTOR_BYTES;
            partner.taken -= room;
            partner.taken_dirty -= room;
            let block = self.block;
            let since = self.flushes.come();
            let entry = self.dirty.get_or_begin(key, || {
                self.ages.push_back((born, key));
                Dirty { runs: Runs::default(), born, touched, since }
            });
            let (new, more) = entry.runs.add_blocks(&runs, block);
            self.dirty_bytes += new * SECTOR_BYTES;
            self.taken += more * SECTOR_BYTES;
            self.taken_dirty += more * SECTOR_BYTES;
            if entry.runs.is_all(cut.stripe) {
                self.full.push_back(key);
            }
        }
        self.assert_counts();
        partner.assert_counts();
        self.press();
    }

    /// Flushes that wait here and will wait in vain, to `released`: the controller has failed.
    pub fn forsake(&mut self, released: &mut Vec<u32>) {
        self.flushes.forsake(released);
    }

    fn stripes_of(&self, VolumeRange { set, from, to }: VolumeRange) -> RangeInclusive<Key> {
        let StripeCut { stripe, .. } = self.cuts[set as usize];
        (set, from / stripe)..=(set, to.saturating_sub(1).max(from) / stripe)
    }

    /// Whether written data are copied to the partner.
    pub fn mirrors(&self) -> bool {
        self.params.mirrored
    }

    /// A read of sectors `from..to` of a set, of a volume that ends at `end`. `None`: it must be read, and
    /// [`Cache::keep`] told then.
    pub fn read(
        &mut self,
        set: u32,
        from: u64,
        to: u64,
        end: u64,
        fetches: &mut Vec<Fetch>,
    ) -> Option<Lookup> {
        if !self.params.read {
            return None;
        }
        let lines = self.tags.lines_of(set, from * SECTOR_BYTES, (to - from) * SECTOR_BYTES);
        let mut here = true;
        for line in lines {
            here &= self.tags.touch(line);
        }
        let verdict = match &mut self.ahead {
            None => Lookup::Stranger,
            Some(ahead) => {
                let verdict = ahead.access(set, from, to, end, fetches);
                Self::leave_out_held(&self.tags, ahead, set, fetches);
                verdict
            }
        };
        match verdict {
            Lookup::Stranger if here => Some(Lookup::Ready),
            Lookup::Stranger => None,
            Lookup::Coming(_) if here => Some(Lookup::Ready),
            verdict => Some(verdict),
        }
    }

    /// What is held is not read again: a fetch of nothing else has ended as it begins.
    fn leave_out_held(tags: &Tags, ahead: &mut ReadAhead, set: u32, fetches: &mut Vec<Fetch>) {
        fetches.retain(|&fetch| {
            let bytes = (fetch.to - fetch.from) * SECTOR_BYTES;
            let is_held = tags.hold_all(set, fetch.from * SECTOR_BYTES, bytes);
            if is_held {
                // Readers wait for what is under way before it, or for none.
                let mut released = Vec::new();
                ahead.fetched(fetch, &mut released);
                assert!(released.is_empty(), "who waits must wait for what is under way");
            }
            !is_held
        });
    }

    /// Has a read wait for a stream.
    pub fn wait(&mut self, stream: u32, to: u64, reader: u32) {
        if let Some(ahead) = &mut self.ahead {
            ahead.wait(stream, to, reader);
        }
    }

    /// What a write of sectors `from..to` of a set has to be read first, first sector and end: the lines that it covers
    /// in part, where they are filled and not here. Where two lie apart, the first of them.
    pub fn to_fill(&self, set: u32, from: u64, to: u64) -> Option<(u64, u64)> {
        if !(self.params.fills && self.params.read) {
            return None;
        }
        let line = self.tags.line_bytes() / SECTOR_BYTES;
        let (first, last) = (from / line, (to - 1) / line);
        let cut = |number: u64| (from > number * line || to < (number + 1) * line) && self.lacks(set, number);
        match (cut(first), cut(last)) {
            (true, true) if last <= first + 1 => Some((first * line, (last + 1) * line)),
            (true, _) => Some((first * line, (first + 1) * line)),
            (false, true) => Some((last * line, (last + 1) * line)),
            (false, false) => None,
        }
    }

    /// What a read of sectors `from..to` of a set has to bring: from the first line that is not here to the last, as first sector
    /// and end. `None` where none is lacking, and of a cache that fills no whole lines: then it is what the read asks for.
    ///
    /// Linux reads whole pages into its page cache (`do_generic_file_read` in `mm/filemap.c`).
    pub fn lacking(&self, set: u32, from: u64, to: u64) -> Option<(u64, u64)> {
        if !(self.params.fills && self.params.read) {
            return None;
        }
        let line = self.tags.line_bytes() / SECTOR_BYTES;
        let lacks = |number: &u64| self.lacks(set, *number);
        let (first, end) = (from / line, to.div_ceil(line));
        debug_assert!(first < end, "a read must have a length");
        let found = ((first..end).find(lacks)?, (first..end).rfind(lacks)?);
        Some((found.0 * line, (found.1 + 1) * line))
    }

    fn lacks(&self, set: u32, line: u64) -> bool {
        !self.tags.hold_all(set, line * self.tags.line_bytes(), 1)
    }

    /// Keeps what was read or written.
    pub fn keep(&mut self, set: u32, from: u64, to: u64) {
        if self.params.read {
            self.tags.insert_all(set, from * SECTOR_BYTES, (to - from) * SECTOR_BYTES);
        }
    }

    /// Forgets what it keeps for reads, and which of them go on. Call it when nothing is fetched.
    pub fn forget_reads(&mut self) {
        debug_assert_eq!(
            self.transfers.in_use(),
            self.destaging as usize,
            "nothing must be on its way for reads"
        );
        self.tags.clear();
        if let Some(ahead) = &mut self.ahead {
            ahead.clear();
        }
    }

    /// The number of a transfer.
    pub fn begin(&mut self, transfer: CacheTransfer) -> u32 {
        let place = self.transfers.take();
        self.transfers[place] = transfer;
        place
    }

    /// A transfer has ended; the readers it releases go to `released`. Returns it.
    pub fn end(&mut self, place: u32, released: &mut Vec<u32>) -> CacheTransfer {
        let transfer = self.transfers[place];
        self.transfers.give(place);
        match transfer {
            CacheTransfer::Destage { bytes, room, reads_first, stripe, since } => {
                debug_assert!(self.under_way.contains(&stripe), "what ends must have been under way");
                if let Some(at) = self.under_way.iter().position(|other| *other == stripe) {
                    self.under_way.swap_remove(at);
                }
                self.flushes.stripe_left(stripe, since);
                self.destaging_bytes -= bytes;
                self.taken -= room;
                self.destaging -= 1;
                self.reading -= u32::from(reads_first);
                self.assert_counts();
            }
            CacheTransfer::Fetch { set, fetch } => {
                if let Some(ahead) = &mut self.ahead {
                    ahead.fetched(fetch, released);
                }
                self.keep(set, fetch.from, fetch.to);
            }
        }
        transfer
    }

    /// Takes a write of sectors `from..to` at `now`, if there is room.
    ///
    /// Lines that are filled are dirty whole.
    pub fn write(&mut self, now: Instant, set: u32, from: u64, to: u64) -> bool {
        let line = if self.params.fills { self.tags.line_bytes() / SECTOR_BYTES } else { 1 };
        let (from, to) = (from - from % line, to.next_multiple_of(line));
        let block = self.block;
        let wanted = (to.next_multiple_of(block) - from / block * block) * SECTOR_BYTES;
        if self.taken + wanted > self.room && self.taken > 0 {
            self.pressing = true;
            return false;
        }
        debug_assert!(from < to, "a write must have a length");
        let cut = self.cuts[set as usize];
        let mut at = from;
        while at < to {
            let number = at / cut.stripe;
            let begins = number * cut.stripe;
            let until = to.min(begins + cut.stripe);
            let since = self.flushes.come();
            let entry = self.dirty.get_or_begin((set, number), || {
                self.ages.push_back((now, (set, number)));
                Dirty { runs: Runs::default(), born: now, touched: now, since }
            });
            let (new, more) = entry.runs.insert_blocks(at - begins, until - begins, block);
            entry.touched = now;
            self.dirty_bytes += new * SECTOR_BYTES;
            self.taken += more * SECTOR_BYTES;
            self.taken_dirty += more * SECTOR_BYTES;
            if new > 0 && entry.runs.is_all(cut.stripe) {
                self.full.push_back((set, number));
            }
            at = until;
        }
        self.keep(set, from, to);
        let high = self.params.dirty_high.get() * self.room as f64;
        self.pressing |= self.taken_dirty as f64 >= high;
        self.assert_counts();
        true
    }

    /// The next stripe to destage at `now`, if one should be; its runs go to `extents`, in ascending order.
    ///
    /// `idle`: the members have nothing else to do. A stripe that is still being written is left alone unless room
    /// is short, so that it may fill.
    pub fn destage(&mut self, now: Instant, idle: bool, extents: &mut Vec<Extent>) -> Option<DestageBatch> {
        if self.dirty.is_empty() || self.destaging >= self.params.destage_window.max(1) {
            return None;
        }
        let low = self.params.dirty_low.get() * self.room as f64;
        self.pressing &= self.taken_dirty as f64 > low;
        // Full stripes can gain nothing by waiting.
        let key = match self.next_full().or_else(|| self.next_hurried()) {
            Some(key) => key,
            None if self.reading >= self.params.partial_window.max(1) => return None,
            None => match self.next_urgent() {
                Some(key) => key,
                None if self.pressing => self.next_in_turn()?,
                None if idle => self.next_settled(now)?,
                None => return None,
            },
        };
        let dirty = self.dirty.remove(key)?;
        let cut = self.cuts[key.0 as usize];
        let is_known = cut.parity && dirty.runs.complete(self.passed.known(key), cut.stripe);
        let reads_first = cut.parity && !is_known;
        self.passed.keep(key, &dirty.runs, cut.kept);
        self.reading += u32::from(reads_first);
        cut.extents(&dirty.runs, key.1, extents);
        let (bytes, room) = (dirty.runs.sectors() * SECTOR_BYTES, self.room_of(&dirty.runs));
        self.dirty_bytes -= bytes;
        self.destaging_bytes += bytes;
        self.taken_dirty -= room;
        self.destaging += 1;
        self.under_way.push(key);
        let since = dirty.since;
        let transfer = self.begin(CacheTransfer::Destage { bytes, room, reads_first, stripe: key, since });
        debug_assert!(bytes > 0, "a stripe must not be destaged of which nothing is dirty");
        self.assert_counts();
        Some(DestageBatch { set: key.0, transfer, bytes, is_known })
    }

    /// Has what was first written longer ago than data may wait leave, however little is dirty.
    pub fn expire(&mut self, now: Instant) {
        while let Some(&(born, key)) = self.ages.front() {
            let is_here = self.dirty.get(key).is_some_and(|dirty| dirty.born == born);
            if is_here && (self.pressing || born + self.params.dirty_age > now) {
                return;
            }
            self.ages.pop_front();
            if is_here {
                self.urgent.push_back(key);
            }
        }
    }

    fn next_full(&mut self) -> Option<Key> {
        std::iter::from_fn(|| self.full.pop_front()).find(|key| self.dirty.contains(*key))
    }

    fn next_hurried(&mut self) -> Option<Key> {
        let Cache { hurried, released, dirty, under_way, passed, cuts, .. } = self;
        hurried.retain(|key| dirty.contains(*key));
        // Linux md holds stripes that read first back while others read, and then starts all of them together
        // (`raid5_activate_delayed`).
        *released = if self.reading == 0 { hurried.len() } else { (*released).min(hurried.len()) };
        let reads_nothing = |key: &Key| {
            let runs = dirty.get(*key).map_or(&NONE, |dirty| &dirty.runs);
            runs.complete(passed.known(*key), cuts[key.0 as usize].stripe)
        };
        let mut each = hurried.iter().enumerate();
        let free = each
            .position(|(index, key)| (index < *released || reads_nothing(key)) && !under_way.contains(key))?;
        *released -= usize::from(free < *released);
        hurried.remove(free)
    }

    fn next_urgent(&mut self) -> Option<Key> {
        std::iter::from_fn(|| self.urgent.pop_front()).find(|key| self.dirty.contains(*key))
    }

    /// The next stripe upwards from the last one, from the lowest again at the end.
    fn next_in_turn(&mut self) -> Option<Key> {
        let key = self.dirty.first_of(self.cursor..).or_else(|| self.dirty.first_of(..))?;
        self.cursor = (key.0, key.1 + 1);
        Some(key)
    }

    /// The same, if it has been left alone for a while.
    fn next_settled(&mut self, now: Instant) -> Option<Key> {
        let key = self.next_in_turn()?;
        let quiet = now.saturating_since(self.dirty.get(key)?.touched);
        (quiet >= SETTLED).then_some(key)
    }

    /// The counts and the bytes of what is dirty or being destaged belong to the same stripes: none is lost or counts
    /// twice.
    fn assert_counts(&self) {
        debug_assert_eq!(self.dirty.is_empty(), self.dirty_bytes == 0, "bytes are dirty where stripes are");
        debug_assert_eq!(
            self.under_way.is_empty(),
            self.destaging_bytes == 0,
            "bytes leave with their stripes"
        );
        debug_assert_eq!(self.under_way.len(), self.destaging as usize, "each stripe under way counts once");
        debug_assert!(self.reading <= self.destaging, "only what is destaged reads first");
        debug_assert!(self.taken_dirty >= self.dirty_bytes, "what is dirty takes at least its own room");
        debug_assert!(
            self.taken - self.taken_dirty >= self.destaging_bytes,
            "what leaves has its room until it has left"
        );
    }

    /// Makes data as old as they may get leave: called once in the age limit.
    pub fn press(&mut self) {
        self.pressing |= !self.dirty.is_empty();
    }

    /// Whether anything is dirty.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Bytes acknowledged and not yet on the members.
    pub fn dirty_bytes(&self) -> u64 {
        self.dirty_bytes + self.destaging_bytes
    }

    /// What writes like those that are dirty may be of it: where each takes a block, not all of a block is a write.
    pub fn write_room(&self) -> u64 {
        let part = self.dirty_bytes() as f64 / self.taken.max(1) as f64;
        truncated::<u64>(self.params.write_room().as_f64() * if self.taken > 0 { part } else { 1.0 })
    }

    /// Bytes of cache that runs of one stripe take.
    fn room_of(&self, runs: &Runs) -> u64 {
        runs.taken(self.block) * SECTOR_BYTES
    }

    /// How old dirty data may get.
    pub fn age_limit(&self) -> Nanos {
        self.params.dirty_age
    }
}

/// How long a stripe must have been left alone before an idle array destages it.
pub const SETTLED: Nanos = Nanos::from_millis(20);
