//! A controller's cache at work: reads kept and read ahead, writes gathered by stripe and destaged.
//!
//! **Invariant:** dirty and destaging bytes never exceed the part of the cache that writes may take.
//! **Invariant:** a stripe is destaged whole, as far as it is dirty, by one operation.
//! **Invariant:** a flush ends when all that was dirty as it came is with the members, and waits for nothing newer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use units::{Instant, Lba, Nanos, SECTOR_BYTES, Sectors};

use crate::controller::CacheParams;
use crate::raid::{Extent, Geometry};
use crate::readahead::{Fetch, Growth, ReadAhead, Rule, Verdict};
use crate::slab::Slab;
use crate::tags::Tags;

/// Parts of a stripe that are dirty or not, apart.
const GRAINS: u64 = 128;

/// What an operation for the cache is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Data on their way to the members.
    Destage {
        /// Bytes of cache that become free.
        bytes: u64,
        /// Whether the members are read first, a part of a stripe with parity being written.
        reads_first: bool,
        /// How many destages had begun before it.
        number: u64,
    },
    /// Data on their way from the members.
    Fetch {
        /// The volume's set.
        set: u32,
        /// What for.
        fetch: Fetch,
    },
}

impl Default for Transfer {
    fn default() -> Transfer {
        Transfer::Destage { bytes: 0, reads_first: false, number: 0 }
    }
}

/// How a set's sectors are cut into stripes for gathering.
#[derive(Clone, Copy, Debug)]
struct Cut {
    stripe: u64,
    grain: u64,
    /// Whether stripes have parity.
    parity: bool,
}

#[derive(Clone, Copy, Debug)]
struct Dirty {
    grains: u128,
    touched: Instant,
}

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
struct Drain {
    place: u32,
    /// It waits until so many urgent stripes have left,
    urgent: u64,
    /// and then for the destages that had begun by then.
    destages: Option<u64>,
}

/// A stripe on its way to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The set.
    pub set: u32,
    /// The transfer it is.
    pub transfer: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A controller's cache.
pub struct Cache {
    params: CacheParams,
    cuts: Vec<Cut>,
    tags: Tags,
    ahead: Option<ReadAhead>,
    dirty: BTreeMap<(u32, u64), Dirty>,
    /// Stripes that became full, in that order; some may be gone since.
    full: VecDeque<(u32, u64)>,
    dirty_bytes: u64,
    destaging_bytes: u64,
    destaging: u32,
    /// Of these, those that read first.
    reading: u32,
    room: u64,
    /// Where the sweep over partly dirty stripes is.
    cursor: (u32, u64),
    pressing: bool,
    /// Stripes that a flush waits for, some of them perhaps gone since.
    urgent: VecDeque<(u32, u64)>,
    urgent_left: u64,
    drains: VecDeque<Drain>,
    /// Destages begun so far, and which of them have not ended.
    begun: u64,
    under_way: BTreeSet<u64>,
    transfers: Slab<Transfer>,
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
            cuts: sets.map(cut).collect(),
            tags: Tags::new(if params.read { size } else { 0 }, params.line.get()),
            ahead: (params.read && rule.streams > 0 && rule.max > 0).then(|| ReadAhead::new(rule)),
            dirty: BTreeMap::new(),
            full: VecDeque::new(),
            dirty_bytes: 0,
            destaging_bytes: 0,
            destaging: 0,
            reading: 0,
            room: params.write_room().get(),
            cursor: (0, 0),
            pressing: false,
            urgent: VecDeque::new(),
            urgent_left: 0,
            drains: VecDeque::new(),
            begun: 0,
            under_way: BTreeSet::new(),
            transfers: Slab::new(),
            writers: VecDeque::new(),
            params: params.clone(),
        }
    }

    /// Whether writes may be acknowledged from here, given whether the partner is there to mirror them.
    pub fn takes_writes(&self, partner: bool) -> bool {
        self.params.takes_writes(partner)
    }

    /// Whether what it holds survives a loss of power.
    pub fn is_protected(&self) -> bool {
        self.params.protected
    }

    /// Has a flush wait until all that is dirty of a set is with the members, which [`Cache::drained`] tells. `false`:
    /// it need not wait.
    pub fn drain(&mut self, set: u32, place: u32) -> bool {
        if self.params.protected || self.dirty_bytes + self.destaging_bytes == 0 {
            return false;
        }
        self.urgent.extend(self.dirty.range((set, 0)..=(set, u64::MAX)).map(|(&key, _)| key));
        let urgent = self.urgent_left + self.urgent.len() as u64;
        self.drains.push_back(Drain { place, urgent, destages: None });
        self.mark_drains();
        true
    }

    /// The flushes that need wait no longer go to `released`.
    pub fn drained(&mut self, released: &mut Vec<u32>) {
        if self.drains.is_empty() {
            return;
        }
        if self.dirty.is_empty() {
            self.urgent_left += self.urgent.len() as u64;
            self.urgent.clear();
        }
        self.mark_drains();
        let oldest = self.under_way.first().copied().unwrap_or(u64::MAX);
        while let Some(drain) = self.drains.front()
            && drain.destages.is_some_and(|destages| destages <= oldest)
        {
            released.push(drain.place);
            self.drains.pop_front();
        }
    }

    fn mark_drains(&mut self) {
        for drain in &mut self.drains {
            if drain.destages.is_none() && drain.urgent <= self.urgent_left {
                drain.destages = Some(self.begun);
            }
        }
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
    ) -> Option<Verdict> {
        if !self.params.read {
            return None;
        }
        let lines = self.tags.lines_of(set, from * SECTOR_BYTES, (to - from) * SECTOR_BYTES);
        let mut here = true;
        for line in lines {
            here &= self.tags.touch(line);
        }
        let verdict =
            self.ahead.as_mut().map_or(Verdict::Stranger, |ahead| ahead.access(set, from, to, end, fetches));
        match verdict {
            Verdict::Stranger if here => Some(Verdict::Ready),
            Verdict::Stranger => None,
            Verdict::Coming(_) if here => Some(Verdict::Ready),
            verdict => Some(verdict),
        }
    }

    /// Has a read wait for a stream.
    pub fn wait(&mut self, stream: u32, to: u64, reader: u32) {
        if let Some(ahead) = &mut self.ahead {
            ahead.wait(stream, to, reader);
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

    /// The number of a transfer.
    pub fn begin(&mut self, transfer: Transfer) -> u32 {
        let place = self.transfers.take();
        self.transfers[place] = transfer;
        place
    }

    /// A transfer has ended; the readers it releases go to `released`. Returns it.
    pub fn end(&mut self, place: u32, released: &mut Vec<u32>) -> Transfer {
        let transfer = self.transfers[place];
        self.transfers.give(place);
        match transfer {
            Transfer::Destage { bytes, reads_first, number } => {
                self.under_way.remove(&number);
                self.destaging_bytes -= bytes;
                self.destaging -= 1;
                self.reading -= u32::from(reads_first);
            }
            Transfer::Fetch { set, fetch } => {
                if let Some(ahead) = &mut self.ahead {
                    ahead.fetched(fetch, released);
                }
                self.keep(set, fetch.from, fetch.to);
            }
        }
        transfer
    }

    /// Takes a write of sectors `from..to` at `now`, if there is room.
    pub fn write(&mut self, now: Instant, set: u32, from: u64, to: u64) -> bool {
        if self.dirty_bytes + self.destaging_bytes + (to - from) * SECTOR_BYTES > self.room
            && self.dirty_bytes + self.destaging_bytes > 0
        {
            self.pressing = true;
            return false;
        }
        let Cut { stripe, grain, .. } = self.cuts[set as usize];
        let mut at = from;
        while at < to {
            let number = at / stripe;
            let until = to.min((number + 1) * stripe);
            let first = (at - number * stripe) / grain;
            let last = (until - 1 - number * stripe) / grain;
            let grains = ones(last + 1) & !ones(first);
            let entry = self.dirty.entry((set, number)).or_insert(Dirty { grains: 0, touched: now });
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
        true
    }

    /// The next stripe to destage at `now`, if one should be; its runs go to `extents`, in ascending order.
    ///
    /// `idle`: the members have nothing else to do. A stripe that is still being written is left alone unless room
    /// is short, so that it may fill.
    pub fn destage(&mut self, now: Instant, idle: bool, extents: &mut Vec<Extent>) -> Option<Batch> {
        if self.dirty.is_empty() || self.destaging >= self.params.destage_window.max(1) {
            return None;
        }
        let low = self.params.dirty_low.get() * self.room as f64;
        self.pressing &= self.dirty_bytes as f64 > low;
        // Full stripes can gain nothing by waiting.
        let key = match self.next_full() {
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
        let Cut { stripe, grain, parity } = self.cuts[key.0 as usize];
        let reads_first = parity && dirty.grains != ones(stripe.div_ceil(grain));
        self.reading += u32::from(reads_first);
        runs(dirty.grains, grain, key.1 * stripe, stripe, extents);
        let grains = u64::from(dirty.grains.count_ones());
        let bytes = grains * grain * SECTOR_BYTES;
        self.dirty_bytes -= bytes;
        self.destaging_bytes += bytes;
        self.destaging += 1;
        let number = self.begun;
        self.begun += 1;
        self.under_way.insert(number);
        if !self.drains.is_empty() {
            self.mark_drains();
        }
        let transfer = self.begin(Transfer::Destage { bytes, reads_first, number });
        Some(Batch { set: key.0, transfer, bytes })
    }

    fn next_full(&mut self) -> Option<(u32, u64)> {
        while let Some(key) = self.full.pop_front() {
            if self.dirty.contains_key(&key) {
                return Some(key);
            }
        }
        None
    }

    fn next_urgent(&mut self) -> Option<(u32, u64)> {
        while let Some(key) = self.urgent.pop_front() {
            self.urgent_left += 1;
            if self.dirty.contains_key(&key) {
                return Some(key);
            }
        }
        None
    }

    /// The next stripe upwards from the last one, from the lowest again at the end.
    fn next_in_turn(&mut self) -> Option<(u32, u64)> {
        let next = self.dirty.range(self.cursor..).next().or_else(|| self.dirty.iter().next());
        let key = *next?.0;
        self.cursor = (key.0, key.1 + 1);
        Some(key)
    }

    /// The same, if it has been left alone for a while.
    fn next_settled(&mut self, now: Instant) -> Option<(u32, u64)> {
        let key = self.next_in_turn()?;
        let quiet = now.saturating_since(self.dirty[&key].touched);
        (quiet >= SETTLED).then_some(key)
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
fn cut(geometry: &Geometry) -> Cut {
    let full = geometry.full_stripe().0;
    let stripe = if (64..=16_384).contains(&full) { full } else { 1024 };
    Cut { stripe, grain: stripe.div_ceil(GRAINS), parity: geometry.spec().level.parity() > 0 }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::PrefetchParams;
    use crate::raid::{Level, SetSpec};
    use units::{Bytes, Share};

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
            write_back: true,
            protected: false,
            mirrored: false,
            dirty_high: share(0.8),
            dirty_low: share(0.4),
            dirty_age: Nanos::from_secs(10),
            destage_window: 4,
            partial_window: 4,
            prefetch: PrefetchParams { streams: 8, confirm: 2, start: Bytes::KIB * 256, max: Bytes::MIB },
        };
        Cache::new(&params, std::iter::once(&geometry))
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
        assert!(!cache.drain(0, 7), "nothing is dirty");
        cache.write(now, 0, 0, 16);
        cache.write(now, 0, 512, 528);
        assert!(cache.drain(0, 7));
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
    fn a_flush_waits_for_a_destage_that_is_under_way() {
        let mut cache = cache(Bytes::MIB * 64);
        let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
        cache.write(now, 0, 0, 512);
        let batch = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
        assert!(cache.drain(0, 7));
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
}
