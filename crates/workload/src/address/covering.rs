//! Random requests of several sizes that together visit each aligned place once: what fio keeps its random map for.
//!
//! Workers that share a region divide its slots among them, as with one size. Within its own slots a worker goes to the
//! units of a permutation, passes over those that a request has covered, and covers as much as is free from there.
//!
//! **Invariant:** in a pass no unit is covered twice, and the pass ends when none is left.

use units::convert::narrow;

use super::{Grain, Part, Region};
use crate::permutation::Permutation;
use crate::rng::Streams;

/// Units of one worker of which more would take too much memory: a bit each, 1 GiB in all.
const MOST_UNITS: u64 = 1 << 33;

/// One worker's part of a region.
#[derive(Clone, Debug)]
pub(super) struct Covering {
    /// Bytes that are covered together.
    unit: u64,
    /// Units of a slot.
    per_slot: u64,
    /// Units of the region.
    units: u64,
    /// Which slots the workers take in turn, and every how many this one does.
    slots: Permutation,
    turn: u64,
    turns: u64,
    /// The order of its own units, and where in it the worker is.
    order: Permutation,
    place: u64,
    covered: Vec<u64>,
    left: u64,
}

/// The slots of a worker in all of `slots`.
fn own_slots(slots: u64, part: Part) -> u64 {
    assert!(
        slots > 0 && part.index < part.of,
        "worker {} of {} has a turn among {slots}",
        part.index,
        part.of
    );
    let turn = u64::from(part.index) % slots;
    (slots - turn).div_ceil(u64::from(part.of))
}

impl Covering {
    /// Whether requests of several sizes are to cover a region, and what is kept of it fits into memory.
    pub(super) fn is_for(region: Region, part: Part, grain: Grain) -> bool {
        let slot = grain.largest.round_up(grain.align).get();
        let per_slot = slot / grain.align.get();
        let slots = region.len.get().div_ceil(slot);
        grain.mixed && per_slot > 1 && own_slots(slots, part).saturating_mul(per_slot) <= MOST_UNITS
    }

    pub(super) fn new(region: Region, part: Part, grain: Grain, streams: Streams, name: &str) -> Covering {
        let (unit, slot) = (grain.align.get(), grain.largest.round_up(grain.align).get());
        let (per_slot, slots) = (slot / unit, region.len.get().div_ceil(slot));
        assert_eq!(per_slot * unit, slot, "a slot is made of whole units");
        let own = own_slots(slots, part) * per_slot;
        let key = |purpose: &str| streams.key(&format!("{purpose}/{name}"));
        let mut covering = Covering {
            unit,
            per_slot,
            units: region.len.get() / unit,
            slots: Permutation::new(slots, key("order")),
            turn: u64::from(part.index) % slots,
            turns: u64::from(part.of),
            order: Permutation::new(own, key(&format!("units/{}", part.index))),
            place: 0,
            covered: vec![0; narrow::<usize>(own.div_ceil(64))],
            left: 0,
        };
        covering.begin();
        covering
    }

    /// Nothing is covered but what lies behind the end of the region.
    fn begin(&mut self) {
        self.covered.fill(0);
        self.left = self.order.len();
        let beyond = (0..self.order.len() / self.per_slot).filter(|slot| {
            let first = self.slots.at(self.turn + slot * self.turns) * self.per_slot;
            first + self.per_slot > self.units
        });
        for own in beyond.collect::<Vec<u64>>() {
            let first = self.slots.at(self.turn + own * self.turns) * self.per_slot;
            let per_slot = self.per_slot;
            let inside = self.units.saturating_sub(first).min(per_slot);
            (inside..per_slot).for_each(|within| self.take(own * per_slot + within));
        }
    }

    fn is_covered(&self, unit: u64) -> bool {
        self.covered[narrow::<usize>(unit / 64)] >> (unit % 64) & 1 == 1
    }

    fn take(&mut self, unit: u64) {
        debug_assert!(self.left > 0, "more units are covered than there are");
        debug_assert!(!self.is_covered(unit), "no unit may be covered twice in a pass");
        self.covered[narrow::<usize>(unit / 64)] |= 1 << (unit % 64);
        debug_assert!(unit < self.order.len(), "unit {unit} is none of this worker's");
        self.left -= 1;
    }

    /// The distance from the start of the region of the next request, and which of `sizes` it has: the largest that is
    /// free there, `len` at most; the smallest where none is.
    pub(super) fn next(&mut self, len: u32, align: u64, sizes: &[u32]) -> (u64, usize) {
        if self.left == 0 {
            self.begin();
        }
        assert!(self.left > 0, "a pass over no unit has no end");
        let mut first = self.order.at(self.place);
        while self.is_covered(first) {
            self.place = (self.place + 1) % self.order.len();
            first = self.order.at(self.place);
        }
        let within = first % self.per_slot;
        let aligned = first - within % (align / self.unit).max(1);
        if !self.is_covered(aligned) {
            first = aligned;
        }
        let end = (first / self.per_slot + 1) * self.per_slot;
        let wanted = first + u64::from(len).div_ceil(self.unit);
        let free = (first..end.min(wanted)).take_while(|unit| !self.is_covered(*unit)).count() as u64;
        let fits = |size: &u32| *size <= len && u64::from(*size) <= free * self.unit;
        let smallest = || (0..sizes.len()).min_by_key(|position| sizes[*position]);
        let fitting = (0..sizes.len()).filter(|position| fits(&sizes[*position]));
        let position = fitting.max_by_key(|position| sizes[*position]).or_else(smallest).unwrap_or(0);
        let taken = u64::from(sizes[position]).div_ceil(self.unit).min(free);
        debug_assert!(taken > 0, "a request that covers nothing comes again and again");
        (first..first + taken).for_each(|unit| self.take(unit));
        let slot = self.slots.at(self.turn + first / self.per_slot * self.turns);
        (slot * self.per_slot * self.unit + first % self.per_slot * self.unit, position)
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    /// How often each unit of 512 bytes is visited by all workers in one pass of each, and what the largest request was.
    fn visits(region: u64, workers: u32, sizes: &[u32]) -> (Vec<u32>, u32) {
        let largest = Bytes::new(u64::from(*sizes.iter().max().unwrap()));
        let grain = Grain { align: Bytes::new(512), largest, keeps_slots: false, mixed: true };
        let region = Region { start: Bytes::ZERO, len: Bytes::new(region) };
        let mut units = vec![0; narrow::<usize>(region.len.get() / 512)];
        let mut most = 0;
        for index in 0..workers {
            let part = Part { index, of: workers };
            let mut covering = Covering::new(region, part, grain, Streams::new(3), "test");
            let mut draws = 0..;
            loop {
                let draw = draws.next().unwrap();
                let (at, position) = covering.next(sizes[draw % sizes.len()], 1, sizes);
                let len = u64::from(sizes[position]);
                assert!(at + len <= region.len.get(), "{at} {len}");
                most = most.max(sizes[position]);
                for unit in at / 512..(at + len) / 512 {
                    units[narrow::<usize>(unit)] += 1;
                }
                if covering.left == 0 {
                    break;
                }
            }
        }
        (units, most)
    }

    #[test]
    fn requests_of_several_sizes_cover_each_place_once_in_a_pass_whatever_the_workers_and_the_end() {
        for (region, workers) in [(1 << 20, 1), (1 << 20, 3), ((1 << 20) + 1536, 2), (4096, 5)] {
            let workers = u32::min(workers, 2 + u32::try_from(region >> 20).unwrap());
            let (units, most) =
                visits(region, workers.min(u32::try_from(region / 4096).unwrap()), &[512, 1024, 4096]);
            assert!(units.iter().all(|count| *count == 1), "{region} {workers}: {units:?}");
            assert!(most == 4096 || region == 4096, "{most}");
        }
    }

    #[test]
    fn each_pass_covers_all_of_it_again() {
        let grain =
            Grain { align: Bytes::new(512), largest: Bytes::new(2048), keeps_slots: true, mixed: true };
        let region = Region { start: Bytes::ZERO, len: Bytes::new(64 << 10) };
        let mut covering = Covering::new(region, Part::WHOLE, grain, Streams::new(1), "test");
        let mut bytes = 0;
        let sizes = [512, 2048];
        for draw in 0..10_000 {
            bytes += u64::from(sizes[covering.next(sizes[draw % 2], 1, &sizes).1]);
            if covering.left == 0 {
                assert_eq!(bytes % (64 << 10), 0);
            }
        }
    }
}
