//! A controller's cache at work: reads kept and read ahead, writes gathered by stripe and destaged.
//!
//! **Invariant:** dirty and destaging bytes never exceed the part of the cache that writes may take, but for what has
//! been taken over from the partner: that was in the mirror's half already.
//! **Invariant:** a stripe is destaged whole, as far as it is dirty, by one operation.
//! **Invariant:** a flush ends when all that was dirty of its volume as it came is with the members, and waits for
//! nothing newer.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors};

use crate::controller::CacheParams;
use crate::raid::{Extent, Geometry};
use crate::readahead::{Fetch, Growth, Lookup, ReadAhead, Rule};
use crate::slab::Slab;
use crate::tags::Tags;

/// Parts of a stripe that are dirty or not, apart.
const GRAINS: u64 = 128;

/// A stripe: its set and its number there.
type Key = (u32, u64);

/// The sectors of a set that a volume lies on, first and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRange {
    /// The set.
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
        /// Bytes of cache that become free.
        bytes: u64,
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
        CacheTransfer::Destage { bytes: 0, reads_first: false, stripe: (0, 0), since: 0 }
    }
}

/// How a set's sectors are cut into stripes for gathering.
#[derive(Clone, Copy, Debug)]
struct StripeCut {
    stripe: u64,
    grain: u64,
    /// Whether stripes have parity.
    parity: bool,
    /// How many stripes that have passed are kept.
    kept: usize,
}

/// What is known of the stripes that have passed last.
#[derive(Debug, Default)]
struct Passed {
    grains: BTreeMap<Key, u128>,
    order: VecDeque<Key>,
}

impl Passed {
    fn known(&self, key: Key) -> u128 {
        self.grains.get(&key).copied().unwrap_or(0)
    }

    /// Keeps what has passed of a stripe, of at most `kept` of them.
    fn keep(&mut self, key: Key, grains: u128, kept: usize) {
        if kept == 0 {
            return;
        }
        match self.grains.entry(key) {
            Entry::Occupied(mut known) => *known.get_mut() |= grains,
            Entry::Vacant(place) => {
                place.insert(grains);
                self.order.push_back(key);
            }
        }
        while self.order.len() > kept {
            let Some(oldest) = self.order.pop_front() else { break };
            self.grains.remove(&oldest);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Dirty {
    grains: u128,
    /// When the first of it was written.
    born: Instant,
    touched: Instant,
    /// How many flushes had come before the first of it was written.
    since: u64,
}

/// A flush that waits.
#[derive(Clone, Debug)]
struct PendingFlush {
    place: u32,
    /// How many flushes had come before it.
    number: u64,
    stripes: RangeInclusive<Key>,
    /// Stripes that it waits for.
    left: usize,
}

/// A stripe on its way to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestageBatch {
    /// The set.
    pub set: u32,
    /// The transfer it is.
    pub transfer: u32,
    /// Bytes.
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
    dirty: BTreeMap<Key, Dirty>,
    /// Stripes that became full, in that order; some may be gone since.
    full: VecDeque<Key>,
    /// Stripes in the order in which the first of each was written; some may be gone since.
    ages: VecDeque<(Instant, Key)>,
    dirty_bytes: u64,
    destaging_bytes: u64,
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
    /// Flushes so far, and those that wait.
    flushes: u64,
    drains: Vec<PendingFlush>,
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
        let size = params.size.get();
        Cache {
            cuts: sets.map(|geometry| cut(geometry, params.stripes)).collect(),
            tags: Tags::new(if params.read { size } else { 0 }, params.line.get()),
            ahead: (params.read && rule.streams > 0 && rule.max > 0).then(|| ReadAhead::new(rule)),
            dirty: BTreeMap::new(),
            full: VecDeque::new(),
            ages: VecDeque::new(),
            dirty_bytes: 0,
            destaging_bytes: 0,
            destaging: 0,
            reading: 0,
            room: params.write_room().get(),
            cursor: (0, 0),
            pressing: false,
            passed: Passed::default(),
            urgent: VecDeque::new(),
            hurried: VecDeque::new(),
            released: 0,
            flushes: 0,
            drains: Vec::new(),
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
        self.hurried.extend(self.dirty.range(stripes).map(|(&stripe, _)| stripe));
        self.wait_until_left(volume, place)
    }

    fn wait_until_left(&mut self, volume: VolumeRange, place: u32) -> bool {
        let stripes = self.stripes_of(volume);
        let left = self.dirty.range(stripes.clone()).count()
            + self.under_way.iter().filter(|stripe| stripes.contains(stripe)).count();
        if left == 0 {
            return false;
        }
        debug_assert!(
            self.drains.last().is_none_or(|last| last.number < self.flushes),
            "flushes must be numbered in the order they came",
        );
        self.drains.push(PendingFlush { place, number: self.flushes, stripes, left });
        self.flushes += 1;
        true
    }

    /// The flushes that need wait no longer go to `released`.
    pub fn drained(&mut self, released: &mut Vec<u32>) {
        if self.dirty.is_empty() {
            self.urgent.clear();
            self.hurried.clear();
        }
        released.extend(self.drains.iter().filter(|drain| drain.left == 0).map(|drain| drain.place));
        self.drains.retain(|drain| drain.left > 0);
    }

    /// Has what is dirty of a volume leave before anything else but full stripes.
    pub fn urge(&mut self, volume: VolumeRange) {
        let stripes = self.stripes_of(volume);
        self.urgent.extend(self.dirty.range(stripes).map(|(&stripe, _)| stripe));
    }

    /// Whether anything of a volume is dirty or on its way to the members.
    pub fn is_leaving(&self, volume: VolumeRange) -> bool {
        let stripes = self.stripes_of(volume);
        self.dirty.range(stripes.clone()).next().is_some()
            || self.under_way.iter().any(|stripe| stripes.contains(stripe))
    }

    /// Takes over what is dirty of a volume in `partner`, as far as it is not on its way to the members.
    pub fn take_over(&mut self, partner: &mut Cache, volume: VolumeRange) {
        let stripes = partner.stripes_of(volume);
        let StripeCut { stripe, grain, .. } = self.cuts[volume.set as usize];
        while let Some((&key, &Dirty { grains, touched, born, .. })) =
            partner.dirty.range(stripes.clone()).next()
        {
            partner.dirty.remove(&key);
            let bytes = |grains: u128| u64::from(grains.count_ones()) * grain * SECTOR_BYTES;
            partner.dirty_bytes -= bytes(grains);
            let since = self.flushes;
            let entry = self.dirty.entry(key).or_insert_with(|| {
                self.ages.push_back((born, key));
                Dirty { grains: 0, born, touched, since }
            });
            self.dirty_bytes += bytes(grains & !entry.grains);
            entry.grains |= grains;
            if entry.grains == ones(stripe.div_ceil(grain)) {
                self.full.push_back(key);
            }
        }
        self.assert_counts();
        partner.assert_counts();
        self.press();
    }

    /// Flushes that wait here and will wait in vain, to `released`: the controller has failed.
    pub fn forsake(&mut self, released: &mut Vec<u32>) {
        released.extend(self.drains.drain(..).map(|drain| drain.place));
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
        let verdict =
            self.ahead.as_mut().map_or(Lookup::Stranger, |ahead| ahead.access(set, from, to, end, fetches));
        match verdict {
            Lookup::Stranger if here => Some(Lookup::Ready),
            Lookup::Stranger => None,
            Lookup::Coming(_) if here => Some(Lookup::Ready),
            verdict => Some(verdict),
        }
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
        let lacks = |number: u64| {
            self.tags.lines_of(set, number * line * SECTOR_BYTES, 1).any(|line| !self.tags.holds(line))
        };
        let cut = |number: u64| (from > number * line || to < (number + 1) * line) && lacks(number);
        match (cut(first), cut(last)) {
            (true, true) if last <= first + 1 => Some((first * line, (last + 1) * line)),
            (true, _) => Some((first * line, (first + 1) * line)),
            (false, true) => Some((last * line, (last + 1) * line)),
            (false, false) => None,
        }
    }

    /// Keeps what was read or written.
    pub fn keep(&mut self, set: u32, from: u64, to: u64) {
        if self.params.read {
            for line in self.tags.lines_of(set, from * SECTOR_BYTES, (to - from) * SECTOR_BYTES) {
                self.tags.insert(line);
            }
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
            CacheTransfer::Destage { bytes, reads_first, stripe, since } => {
                debug_assert!(self.under_way.contains(&stripe), "what ends must have been under way");
                if let Some(at) = self.under_way.iter().position(|other| *other == stripe) {
                    self.under_way.swap_remove(at);
                }
                for drain in &mut self.drains {
                    drain.left -= usize::from(since <= drain.number && drain.stripes.contains(&stripe));
                }
                self.destaging_bytes -= bytes;
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
        if self.dirty_bytes + self.destaging_bytes + (to - from) * SECTOR_BYTES > self.room
            && self.dirty_bytes + self.destaging_bytes > 0
        {
            self.pressing = true;
            return false;
        }
        debug_assert!(from < to, "a write must have a length");
        let StripeCut { stripe, grain, .. } = self.cuts[set as usize];
        let mut at = from;
        while at < to {
            let number = at / stripe;
            let until = to.min((number + 1) * stripe);
            let first = (at - number * stripe) / grain;
            let last = (until - 1 - number * stripe) / grain;
            let grains = ones(last + 1) & !ones(first);
            let since = self.flushes;
            let entry = self.dirty.entry((set, number)).or_insert_with(|| {
                self.ages.push_back((now, (set, number)));
                Dirty { grains: 0, born: now, touched: now, since }
            });
            let new = grains & !entry.grains;
            entry.grains |= grains;
            entry.touched = now;
            self.dirty_bytes += u64::from(new.count_ones()) * grain * SECTOR_BYTES;
            if new != 0 && entry.grains == ones(stripe.div_ceil(grain)) {
                self.full.push_back((set, number));
            }
            at = until;
        }
        self.keep(set, from, to);
        let high = self.params.dirty_high.get() * self.room as f64;
        self.pressing |= self.dirty_bytes as f64 >= high;
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
        self.pressing &= self.dirty_bytes as f64 > low;
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
        let dirty = self.dirty.remove(&key)?;
        let StripeCut { stripe, grain, parity, kept } = self.cuts[key.0 as usize];
        let all = ones(stripe.div_ceil(grain));
        let is_known = parity && (dirty.grains | self.passed.known(key)) == all;
        let reads_first = parity && !is_known;
        self.passed.keep(key, dirty.grains, kept);
        self.reading += u32::from(reads_first);
        runs(dirty.grains, grain, key.1 * stripe, stripe, extents);
        let grains = u64::from(dirty.grains.count_ones());
        let bytes = grains * grain * SECTOR_BYTES;
        self.dirty_bytes -= bytes;
        self.destaging_bytes += bytes;
        self.destaging += 1;
        self.under_way.push(key);
        let since = dirty.since;
        let transfer = self.begin(CacheTransfer::Destage { bytes, reads_first, stripe: key, since });
        debug_assert!(bytes > 0, "a stripe must not be destaged of which nothing is dirty");
        self.assert_counts();
        Some(DestageBatch { set: key.0, transfer, bytes, is_known })
    }

    /// Has what was first written longer ago than data may wait leave, however little is dirty.
    pub fn expire(&mut self, now: Instant) {
        while let Some(&(born, key)) = self.ages.front() {
            let is_here = self.dirty.get(&key).is_some_and(|dirty| dirty.born == born);
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
        while let Some(key) = self.full.pop_front() {
            if self.dirty.contains_key(&key) {
                return Some(key);
            }
        }
        None
    }

    fn next_hurried(&mut self) -> Option<Key> {
        let Cache { hurried, released, dirty, under_way, passed, cuts, .. } = self;
        hurried.retain(|key| dirty.contains_key(key));
        // Linux md holds stripes that read first back while others read, and then starts all of them together
        // (`raid5_activate_delayed`).
        *released = if self.reading == 0 { hurried.len() } else { (*released).min(hurried.len()) };
        let reads_nothing = |key: &Key| {
            let StripeCut { stripe, grain, .. } = cuts[key.0 as usize];
            (dirty[key].grains | passed.known(*key)) == ones(stripe.div_ceil(grain))
        };
        let mut each = hurried.iter().enumerate();
        let free = each
            .position(|(index, key)| (index < *released || reads_nothing(key)) && !under_way.contains(key))?;
        *released -= usize::from(free < *released);
        hurried.remove(free)
    }

    fn next_urgent(&mut self) -> Option<Key> {
        while let Some(key) = self.urgent.pop_front() {
            if self.dirty.contains_key(&key) {
                return Some(key);
            }
        }
        None
    }

    /// The next stripe upwards from the last one, from the lowest again at the end.
    fn next_in_turn(&mut self) -> Option<Key> {
        let next = self.dirty.range(self.cursor..).next().or_else(|| self.dirty.iter().next());
        let key = *next?.0;
        self.cursor = (key.0, key.1 + 1);
        Some(key)
    }

    /// The same, if it has been left alone for a while.
    fn next_settled(&mut self, now: Instant) -> Option<Key> {
        let key = self.next_in_turn()?;
        let quiet = now.saturating_since(self.dirty[&key].touched);
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

    /// How old dirty data may get.
    pub fn age_limit(&self) -> Nanos {
        self.params.dirty_age
    }
}

/// How long a stripe must have been left alone before an idle array destages it.
pub const SETTLED: Nanos = Nanos::from_millis(20);

fn ones(count: u64) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// Full stripes where they make sense as units of work; else half a mebibyte, which one seek is worth.
fn cut(geometry: &Geometry, stripes: Bytes) -> StripeCut {
    let full = geometry.full_stripe().0;
    let stripe = if (64..=16_384).contains(&full) { full } else { 1024 };
    assert!(stripe > 0, "a stripe must have sectors");
    assert!(stripe.div_ceil(stripe.div_ceil(GRAINS)) <= GRAINS, "a stripe must have a bit for each grain");
    let (parity, chunk) = (geometry.spec().level.parity() > 0, geometry.spec().chunk.0.max(1));
    // What is no stripe of the set cannot be kept as one.
    let kept = if parity && stripe == full { stripes.get() / (chunk * SECTOR_BYTES) } else { 0 };
    StripeCut {
        stripe,
        grain: stripe.div_ceil(GRAINS),
        parity,
        kept: usize::try_from(kept).unwrap_or(usize::MAX),
    }
}

/// The runs of set grains of a stripe as sectors of the set.
fn runs(grains: u128, grain: u64, start: u64, stripe: u64, extents: &mut Vec<Extent>) {
    extents.clear();
    let mut at = 0;
    while at < 128 {
        let left = grains >> at;
        if left == 0 {
            break;
        }
        let from = at + u64::from(left.trailing_zeros());
        let length = u64::from((!(grains >> from)).trailing_zeros());
        let (first, end) = (from * grain, ((from + length) * grain).min(stripe));
        extents.push(Extent { lba: Lba(start + first), sectors: Sectors(end - first) });
        at = from + length;
    }
    debug_assert!(
        extents.windows(2).all(|pair| pair[0].lba + pair[0].sectors < pair[1].lba),
        "the runs of a stripe must ascend, with a gap between them",
    );
    debug_assert!(
        extents.last().is_none_or(|last| last.lba.0 + last.sectors.0 <= start + stripe),
        "the runs of a stripe must end within it",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::PrefetchParams;
    use crate::raid::{Level, SetSpec};
    use units::Share;

    fn geometry() -> Geometry {
        Geometry::new(SetSpec::new(Level::Raid5, 5, Sectors(128), Sectors(1 << 20)))
            .expect("five members make a RAID 5")
    }

    fn cache(size: Bytes) -> Cache {
        let geometry = geometry();
        let share = |part| Share::new(part).expect("a share");
        let params = CacheParams {
            size,
            line: Bytes::KIB * 16,
            write_part: Share::ALL,
            read: true,
            fills: false,
            write_back: true,
            protected: false,
            mirrored: false,
            dirty_high: share(0.8),
            dirty_low: share(0.4),
            dirty_age: Nanos::from_secs(10),
            destage_window: 4,
            partial_window: 4,
            stripes: Bytes::ZERO,
            prefetch: PrefetchParams { streams: 8, confirm: 2, start: Bytes::KIB * 256, max: Bytes::MIB },
        };
        Cache::new(&params, std::iter::once(&geometry))
    }

    /// All of set 0.
    const ALL: VolumeRange = VolumeRange { set: 0, from: 0, to: 1 << 20 };

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "bytes are dirty where stripes are")]
    fn bytes_that_are_dirty_in_no_stripe_are_a_mistake() {
        let mut cache = cache(Bytes::MIB);
        cache.dirty_bytes = 512;
        cache.assert_counts();
    }

    #[test]
    fn small_writes_of_one_stripe_leave_as_one_full_stripe() {
        let mut cache = cache(Bytes::MIB * 64);
        let now = Instant::START;
        let mut extents = Vec::new();
        for n in 0..31 {
            assert!(cache.write(now, 0, n * 16, (n + 1) * 16));
            assert_eq!(cache.destage(now, true, &mut extents), None);
        }
        cache.write(now, 0, 31 * 16, 512);
        let batch = cache.destage(now, false, &mut extents).expect("the stripe is full");
        assert_eq!(batch.bytes, 512 * 512);
        assert_eq!(extents, [Extent { lba: Lba(0), sectors: Sectors(512) }]);
    }

    #[test]
    fn a_full_cache_refuses_writes_until_something_has_left() {
        let mut cache = cache(Bytes::KIB * 64);
        let (now, mut extents) = (Instant::START, Vec::new());
        for n in 0..8 {
            assert!(cache.write(now, 0, n * 512, n * 512 + 16));
        }
        assert!(!cache.write(now, 0, 9 * 512, 9 * 512 + 16));
        let batch = cache.destage(now, false, &mut extents).expect("room is short");
        assert!(!cache.write(now, 0, 9 * 512, 9 * 512 + 16));
        cache.end(batch.transfer, &mut Vec::new());
        assert!(cache.write(now, 0, 9 * 512, 9 * 512 + 16));
    }

    #[test]
    fn stripes_leave_upwards_under_pressure_and_rest_below_the_low_mark() {
        let mut cache = cache(Bytes::KIB * 80);
        let (now, mut extents) = (Instant::START, Vec::new());
        for n in [5, 1, 9, 3, 7, 2, 8, 4] {
            cache.write(now, 0, n * 512, n * 512 + 16);
        }
        let mut order = Vec::new();
        while let Some(batch) = cache.destage(now, false, &mut extents) {
            order.push(extents[0].lba.0 / 512);
            cache.end(batch.transfer, &mut Vec::new());
        }
        assert_eq!(order, [1, 2, 3, 4]);
    }

    #[test]
    fn what_is_rewritten_takes_no_more_room() {
        let mut cache = cache(Bytes::MIB);
        for _ in 0..1_000 {
            assert!(cache.write(Instant::START, 0, 0, 16));
        }
        assert_eq!(cache.dirty_bytes(), 16 * 512);
    }

    #[test]
    fn a_flush_waits_for_what_was_dirty_and_not_for_what_came_later() {
        let mut cache = cache(Bytes::MIB * 64);
        cache.params.destage_window = 1;
        let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
        assert!(!cache.drain(ALL, 7), "nothing is dirty");
        cache.write(now, 0, 0, 16);
        cache.write(now, 0, 512, 528);
        assert!(cache.drain(ALL, 7));
        cache.write(now, 0, 1024, 1040);
        for end in [false, true] {
            cache.drained(&mut released);
            assert!(released.is_empty());
            let batch = cache.destage(now, false, &mut extents).expect("the flush calls for it");
            assert_eq!(extents[0].lba.0, if end { 512 } else { 0 });
            cache.end(batch.transfer, &mut Vec::new());
        }
        cache.drained(&mut released);
        assert_eq!(released, [7]);
        assert_eq!(cache.destage(now, false, &mut extents), None, "what came later may rest");
        assert_eq!(cache.dirty_bytes(), 16 * 512);
    }

    #[test]
    fn a_flush_of_a_volume_waits_for_nothing_of_another_and_once_for_each_stripe() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
        let volumes = [0u64, 4096].map(|from| VolumeRange { set: 0, from, to: from + 4096 });
        cache.write(now, 0, 0, 512);
        let other = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
        cache.write(now, 0, 4096, 4112);
        assert!(cache.drain(volumes[1], 7));
        let own = cache.destage(now, false, &mut extents).expect("the flush calls for it");
        // Written again while it is on its way: that is newer than the flush.
        cache.write(now, 0, 4096, 4112);
        cache.end(own.transfer, &mut Vec::new());
        cache.drained(&mut released);
        assert_eq!(released, [7], "the other volume's stripe is still on its way");
        assert!(cache.is_leaving(volumes[0]));
        cache.end(other.transfer, &mut Vec::new());
        assert!(!cache.is_leaving(volumes[0]) && cache.is_leaving(volumes[1]));
    }

    #[test]
    fn what_a_partner_takes_over_is_dirty_there_and_here_no_more() {
        let (mut old, mut new) = (cache(Bytes::MIB), cache(Bytes::MIB));
        let now = Instant::START;
        assert!(old.write(now, 0, 0, 64) && old.write(now, 0, 4096, 4128) && new.write(now, 0, 32, 80));
        new.take_over(&mut old, VolumeRange { set: 0, from: 0, to: 4096 });
        assert_eq!((old.dirty_bytes(), new.dirty_bytes()), (32 * 512, 80 * 512));
    }

    #[test]
    fn a_flush_waits_for_a_destage_that_is_under_way() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
        cache.write(now, 0, 0, 512);
        let batch = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
        assert!(cache.drain(ALL, 7));
        cache.drained(&mut released);
        assert!(released.is_empty());
        cache.end(batch.transfer, &mut Vec::new());
        cache.drained(&mut released);
        assert_eq!(released, [7]);
    }

    #[test]
    fn parts_of_stripes_that_read_first_are_limited_by_themselves_and_writes_by_their_part() {
        let mut cache = cache(Bytes::MIB * 64);
        cache.params.partial_window = 1;
        cache.params.dirty_low = Share::NONE;
        let now = Instant::START;
        let mut extents = Vec::new();
        let stripe = cache.cuts[0].stripe;
        for n in 0..4 {
            assert!(cache.write(now, 0, n * stripe, n * stripe + 8));
        }
        cache.press();
        assert!(cache.destage(now, false, &mut extents).is_some());
        assert!(cache.destage(now, false, &mut extents).is_none(), "one at a time");
        assert!(cache.write(now, 0, 10 * stripe, 11 * stripe));
        assert!(cache.destage(now, false, &mut extents).is_some(), "a full stripe reads nothing");
        let small = CacheParams { write_part: Share::new(0.25).unwrap(), ..cache.params };
        let geometry = geometry();
        let mut small = Cache::new(&small, std::iter::once(&geometry));
        assert!(small.write(now, 0, 0, Bytes::MIB.get() * 16 / SECTOR_BYTES));
        assert!(!small.write(now, 0, 1 << 20, (1 << 20) + 8), "a quarter of 64 MiB is full");
    }

    #[test]
    fn lines_that_are_kept_answer_reads_until_they_are_forgotten() {
        let mut cache = cache(Bytes::MIB * 64);
        cache.ahead = None;
        let line = |number: u64| (number * 32, number * 32 + 32);
        let read = |cache: &mut Cache, number: u64| {
            let (from, to) = line(number);
            cache.read(0, from, to, 1 << 20, &mut Vec::new())
        };
        cache.keep(0, line(1_000).0, line(1_001).1);
        let found = [1_001, 999, 3_000, 1_000, 5_000, 1_002].map(|number| read(&mut cache, number).is_some());
        assert_eq!(found, [true, false, false, true, false, false]);
        assert_eq!(cache.read(0, line(8_000).0, line(8_000).1 + 1, 1 << 20, &mut Vec::new()), None);
        cache.keep(0, line(8_000).0, line(8_000).1);
        assert_eq!(cache.read(0, line(8_000).0, line(8_000).1 + 1, 1 << 20, &mut Vec::new()), None, "a part");
        cache.forget_reads();
        assert_eq!(read(&mut cache, 1_001), None);
        cache.params.read = false;
        cache.keep(0, 0, 32);
        assert_eq!(read(&mut cache, 0), None, "it keeps nothing for reads");
    }

    #[test]
    fn a_write_is_filled_at_its_ends_where_it_covers_a_line_in_part_that_is_not_here() {
        let mut cache = cache(Bytes::MIB * 64);
        assert_eq!(cache.to_fill(0, 1, 9), None, "it does not fill");
        cache.params.fills = true;
        let line = cache.tags.line_bytes() / SECTOR_BYTES;
        assert_eq!(cache.to_fill(0, line, 3 * line), None);
        assert_eq!(cache.to_fill(0, line + 1, line + 2), Some((line, 2 * line)));
        assert_eq!(cache.to_fill(0, line + 1, 2 * line + 1), Some((line, 3 * line)), "side by side");
        assert_eq!(cache.to_fill(0, line + 1, 4 * line + 1), Some((line, 2 * line)), "the first of two");
        cache.keep(0, line, 2 * line);
        assert_eq!(cache.to_fill(0, line + 1, 4 * line + 1), Some((4 * line, 5 * line)));
        assert!(cache.write(Instant::START, 0, line + 1, 2 * line + 1));
        assert_eq!(cache.dirty_bytes(), 2 * line * SECTOR_BYTES, "lines are dirty whole");
    }

    #[test]
    fn a_stripe_whose_other_parts_have_just_passed_reads_nothing_first() {
        let reads_first = |stripes: Bytes, between: u64| {
            let mut params = cache(Bytes::MIB * 64).params;
            params.stripes = stripes;
            let geometry = geometry();
            let mut cache = Cache::new(&params, std::iter::once(&geometry));
            let (now, mut extents) = (Instant::START, Vec::new());
            let mut write = |cache: &mut Cache, from: u64, to: u64| {
                assert!(cache.write(now, 0, from, to));
                assert!(cache.hurry(VolumeRange { set: 0, from, to }, 1));
                let batch = cache.destage(now, false, &mut extents).expect("somebody waits for it");
                let transfer = cache.end(batch.transfer, &mut Vec::new());
                assert!(
                    matches!(transfer, CacheTransfer::Destage { reads_first, .. } if reads_first != batch.is_known)
                );
                !batch.is_known
            };
            assert!(write(&mut cache, 0, 384), "the rest of the stripe is not known");
            for stripe in 1..=between {
                assert!(!write(&mut cache, stripe * 512, (stripe + 1) * 512), "it is full");
            }
            write(&mut cache, 384, 512)
        };
        assert!(!reads_first(Bytes::MIB, 0) && !reads_first(Bytes::MIB, 15));
        // A mebibyte of each member are 16 chunks.
        assert!(reads_first(Bytes::MIB, 16) && reads_first(Bytes::ZERO, 0));
    }

    #[test]
    fn stripes_that_read_first_gather_while_another_reads_and_leave_together() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, stripe, mut extents) = (Instant::START, cache.cuts[0].stripe, Vec::new());
        let hurry = |cache: &mut Cache, number: u64, place: u32| {
            let (from, to) = (number * stripe, number * stripe + 8);
            assert!(cache.write(now, 0, from, to));
            assert!(cache.hurry(VolumeRange { set: 0, from, to }, place));
        };
        hurry(&mut cache, 0, 1);
        let first = cache.destage(now, false, &mut extents).expect("somebody waits for it");
        hurry(&mut cache, 1, 2);
        hurry(&mut cache, 2, 3);
        assert!(cache.destage(now, false, &mut extents).is_none(), "one reads");
        cache.end(first.transfer, &mut Vec::new());
        let together = std::iter::from_fn(|| cache.destage(now, false, &mut extents)).count();
        assert_eq!(together, 2);
    }

    #[test]
    fn what_is_kept_is_not_waited_for_although_it_is_read_ahead() {
        let mut cache = cache(Bytes::MIB * 64);
        let read = |cache: &mut Cache, from: u64| cache.read(0, from, from + 32, 1 << 20, &mut Vec::new());
        assert_eq!(read(&mut cache, 0), None);
        assert!(matches!(read(&mut cache, 32), Some(Lookup::Coming(_))));
        cache.keep(0, 64, 96);
        assert_eq!(read(&mut cache, 64), Some(Lookup::Ready));
    }

    #[test]
    fn what_it_is_follows_from_its_figures() {
        let mut cache = cache(Bytes::MIB);
        assert_eq!((cache.is_protected(), cache.mirrors()), (false, false));
        assert_eq!((cache.age_limit(), cache.is_dirty()), (Nanos::from_secs(10), false));
        assert!(cache.takes_writes(true));
        (cache.params.protected, cache.params.mirrored) = (true, true);
        assert!(cache.is_protected() && cache.mirrors());
        cache.params.write_back = false;
        assert!(!cache.takes_writes(true) && !cache.takes_writes(false));
        cache.write(Instant::START, 0, 0, 32);
        assert!(cache.is_dirty());
        assert_eq!(cache.dirty_bytes(), 32 * 512);
        cache.urge(ALL);
        assert!(cache.destage(Instant::START, false, &mut Vec::new()).is_some());
        assert!(!cache.is_dirty());
        assert_eq!(cache.dirty_bytes(), 32 * 512, "on its way");
    }

    #[test]
    fn what_is_old_leaves_in_the_order_it_was_written_however_little_is_dirty() {
        let mut cache = cache(Bytes::MIB * 64);
        let (start, mut extents) = (Instant::START, Vec::new());
        assert!(cache.write(start, 0, 5 * 512, 5 * 512 + 8));
        assert!(cache.write(start + Nanos::from_secs(1), 0, 512, 520));
        let mut leave = |cache: &mut Cache, seconds: u64| {
            let now = start + Nanos::from_secs(seconds);
            cache.expire(now);
            cache.destage(now, false, &mut extents).map(|_| extents[0].lba.0 / 512)
        };
        assert_eq!(leave(&mut cache, 9), None, "the members have other work");
        assert_eq!(leave(&mut cache, 10), Some(5));
        assert_eq!(leave(&mut cache, 10), None, "the other is a second younger");
        assert_eq!(leave(&mut cache, 11), Some(1));
        assert!(cache.ages.is_empty());
    }

    #[test]
    fn a_controller_that_fails_leaves_no_flush_waiting() {
        let mut cache = cache(Bytes::MIB);
        let mut released = Vec::new();
        cache.write(Instant::START, 0, 0, 32);
        assert!(cache.drain(ALL, 7));
        cache.forsake(&mut released);
        assert_eq!(released, [7]);
        cache.forsake(&mut released);
        assert_eq!(released, [7]);
    }

    #[test]
    fn runs_of_a_stripe_leave_apart_once_it_was_left_alone_and_nothing_else_is_to_be_done() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, mut extents) = (Instant::START, Vec::new());
        for (from, to) in [(8, 24), (40, 48), (500, 512)] {
            cache.write(now, 0, 3 * 512 + from, 3 * 512 + to);
        }
        assert_eq!(cache.dirty_bytes(), 36 * 512);
        assert_eq!(cache.destage(now + SETTLED, false, &mut extents), None, "the members have work");
        assert_eq!(cache.destage(now + Nanos::from_millis(19), true, &mut extents), None);
        let batch = cache.destage(now + SETTLED, true, &mut extents).expect("it has settled");
        let wanted = [(8, 16), (40, 8), (500, 12)]
            .map(|(from, sectors)| Extent { lba: Lba(3 * 512 + from), sectors: Sectors(sectors) });
        assert_eq!((batch.bytes, &extents[..]), (36 * 512, &wanted[..]));
    }

    #[test]
    fn a_stripe_that_is_written_again_waits_for_its_turn() {
        let mut cache = cache(Bytes::MIB * 64);
        cache.params.dirty_low = Share::NONE;
        let (now, mut extents) = (Instant::START, Vec::new());
        let mut next = |cache: &mut Cache| {
            cache.press();
            cache.destage(now, false, &mut extents).expect("it is pressed");
            extents[0].lba.0 / 512
        };
        cache.write(now, 0, 512, 528);
        cache.write(now, 0, 5 * 512, 5 * 512 + 16);
        assert_eq!(next(&mut cache), 1);
        cache.write(now, 0, 512, 528);
        assert_eq!((next(&mut cache), next(&mut cache)), (5, 1));
    }

    #[test]
    fn halves_of_a_stripe_in_two_caches_are_a_full_one_after_the_take_over() {
        let (mut old, mut new) = (cache(Bytes::MIB * 64), cache(Bytes::MIB * 64));
        let (now, mut extents) = (Instant::START, Vec::new());
        new.params.dirty_low = Share::NONE;
        assert!(old.write(now, 0, 0, 256) && old.write(now, 0, 1024, 1040) && new.write(now, 0, 256, 512));
        new.take_over(&mut old, ALL);
        let full = new.destage(now, false, &mut extents).expect("it is full");
        assert_eq!((full.bytes, extents[0].sectors), (512 * 512, Sectors(512)));
        let other = new.destage(now, false, &mut extents).expect("what was taken over is pressed");
        assert_eq!((other.bytes, extents[0].lba), (16 * 512, Lba(1024)));
        assert!(!old.is_dirty());
    }

    #[test]
    fn a_write_larger_than_all_room_is_taken_where_there_is_nothing_else() {
        let now = Instant::START;
        let mut empty = cache(Bytes::KIB * 64);
        assert!(empty.write(now, 0, 0, 256));
        assert!(!empty.write(now, 0, 1024, 1032));
        let mut nearly = cache(Bytes::KIB * 64);
        assert!(nearly.write(now, 0, 0, 120));
        assert!(!nearly.write(now, 0, 1024, 1040) && nearly.write(now, 0, 1024, 1032));
        // What is on its way takes room as well.
        let batch = nearly.destage(now, false, &mut Vec::new()).expect("room is short");
        assert!(!nearly.write(now, 0, 2048, 2056));
        nearly.end(batch.transfer, &mut Vec::new());
        assert!(nearly.write(now, 0, 2048, 2056));
    }

    #[test]
    fn from_its_high_mark_on_stripes_leave_although_the_members_have_work() {
        // Four fifths of 80 KiB are 128 sectors.
        let pressed = |sectors: u64| {
            let mut cache = cache(Bytes::KIB * 80);
            assert!(cache.write(Instant::START, 0, 0, sectors));
            cache.destage(Instant::START, false, &mut Vec::new()).is_some()
        };
        assert!(pressed(128) && !pressed(124));
    }

    #[test]
    fn what_was_written_after_a_flush_ends_none_of_its_stripes_nor_does_another_volume() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
        cache.write(now, 0, 0, 16);
        cache.write(now, 0, 5 * 512, 5 * 512 + 16);
        assert!(cache.drain(ALL, 7));
        let first = cache.destage(now, false, &mut extents).expect("the flush calls for it");
        cache.end(first.transfer, &mut Vec::new());
        cache.write(now, 0, 0, 16);
        let second = cache.destage(now, false, &mut extents).expect("the flush calls for it");
        cache.urge(ALL);
        let newer = cache.destage(now, false, &mut extents).expect("it is urged");
        cache.end(newer.transfer, &mut Vec::new());
        cache.drained(&mut released);
        assert!(released.is_empty(), "the stripe at 5 is still on its way");
        cache.end(second.transfer, &mut Vec::new());
        cache.drained(&mut released);
        cache.drained(&mut released);
        assert_eq!(released, [7], "once");
        // A flush of the second volume while one of the first is on its way.
        cache.write(now, 0, 0, 512);
        cache.write(now, 0, 4096, 4112);
        let other = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
        assert!(cache.drain(VolumeRange { set: 0, from: 4096, to: 8192 }, 8));
        cache.end(other.transfer, &mut Vec::new());
        cache.drained(&mut released);
        assert_eq!(released, [7]);
    }

    #[test]
    fn no_more_stripes_are_on_their_way_than_the_window_and_full_ones_read_nothing() {
        let mut cache = cache(Bytes::MIB * 64);
        (cache.params.destage_window, cache.params.partial_window) = (2, 1);
        let (now, mut extents) = (Instant::START, Vec::new());
        assert!(
            cache.write(now, 0, 0, 512) && cache.write(now, 0, 1024, 1040) && cache.write(now, 0, 2048, 2560)
        );
        cache.urge(ALL);
        let batches: Vec<u64> =
            std::iter::from_fn(|| cache.destage(now, false, &mut extents)).map(|batch| batch.bytes).collect();
        assert_eq!(batches, [512 * 512, 512 * 512]);
        assert!(cache.is_dirty());
    }

    #[test]
    fn without_parity_a_part_of_a_stripe_reads_nothing_first() {
        let reads_first = |level: Level, members: u32| {
            let geometry =
                Geometry::new(SetSpec::new(level, members, Sectors(128), Sectors(1 << 20))).unwrap();
            let mut cache = Cache::new(&cache(Bytes::MIB).params, std::iter::once(&geometry));
            cache.write(Instant::START, 0, 0, 16);
            cache.urge(ALL);
            let batch = cache.destage(Instant::START, false, &mut Vec::new()).expect("it is urged");
            match cache.end(batch.transfer, &mut Vec::new()) {
                CacheTransfer::Destage { reads_first, .. } => reads_first,
                CacheTransfer::Fetch { .. } => panic!("nothing was read"),
            }
        };
        assert!(reads_first(Level::Raid5, 5) && !reads_first(Level::Raid0, 4));
    }
}
