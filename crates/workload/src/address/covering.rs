//! Random requests of several sizes that together visit each aligned place once: what fio keeps its random map for.
//!
//! Workers that share a region divide its slots among them, which hold many requests where a request may lie across
//! others' places. Within its own slots a worker goes to the units of a permutation, passes over those that a request has
//! covered, and takes the first of the next few from which as much is free as it asks for. Where none of them has the room
//! the request is cut to what is free, as fio's random map has it.
//!
//! **Invariant:** in a pass no unit is covered twice, and the pass ends when none is left.

use units::convert::narrow;

use super::slots::Passes;
use super::{Grain, Region, RegionShare};
use crate::permutation::Permutation;
use crate::rng::Streams;

/// Units of one worker of which more would take too much memory: a bit each, 1 GiB in all.
const MOST_UNITS: u64 = 1 << 33;

/// The most requests of the largest size that a slot holds: of places drawn in it all but one in so many have room for one.
const PER_SLOT: u64 = 64;

/// Places that are tried for a request before it is cut.
const TRIES: u64 = 32;

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
    /// The order of its own units, which of them was tried last, and before which none is free.
    passes: Passes,
    tried: u64,
    place: u64,
    covered: Vec<u64>,
    left: u64,
}

/// Bytes of a slot: of one request where none may cross a multiple of its size, else of as many as leave each worker
/// some slots.
fn slot(region: Region, part: RegionShare, grain: Grain) -> u64 {
    let one = grain.largest.round_up(grain.align).get();
    if grain.keeps_slots {
        return one;
    }
    if part.of == 1 {
        return region.len.get() / grain.align.get() * grain.align.get();
    }
    let each = region.len.get() / one / u64::from(part.of);
    one * (each / 64).clamp(1, PER_SLOT)
}

/// The slots of a worker in all of `slots`.
fn own_slots(slots: u64, part: RegionShare) -> u64 {
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
    pub(super) fn is_for(region: Region, part: RegionShare, grain: Grain) -> bool {
        let slot = slot(region, part, grain);
        let per_slot = slot / grain.align.get();
        let slots = (region.len.get() / grain.align.get()).div_ceil(per_slot);
        let is_several = grain.largest > grain.align;
        grain.mixed && is_several && own_slots(slots, part).saturating_mul(per_slot) <= MOST_UNITS
    }

    pub(super) fn new(
        region: Region,
        part: RegionShare,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Covering {
        let (unit, slot) = (grain.align.get(), slot(region, part, grain));
        let (per_slot, units) = (slot / unit, region.len.get() / unit);
        let slots = units.div_ceil(per_slot);
        assert_eq!(per_slot * unit, slot, "a slot is made of whole units");
        let own = own_slots(slots, part) * per_slot;
        let key = |purpose: &str| streams.key(&format!("{purpose}/{name}"));
        let mut covering = Covering {
            unit,
            per_slot,
            units,
            slots: Permutation::new(slots, key("order")),
            turn: u64::from(part.index) % slots,
            turns: u64::from(part.of),
            passes: Passes::new(own, key(&format!("units/{}", part.index)), 0),
            tried: 0,
            place: 0,
            covered: vec![0; narrow::<usize>(own.div_ceil(64))],
            left: own,
        };
        covering.begin();
        covering
    }

    /// Nothing is covered but what lies behind the end of the region.
    fn begin(&mut self) {
        let covered: u64 = self.covered.iter().map(|units| u64::from(units.count_ones())).sum();
        assert_eq!(covered + self.left, self.passes.order().len(), "what is not covered is left");
        self.covered.fill(0);
        self.left = self.passes.order().len();
        let per_slot = self.per_slot;
        for own in 0..self.passes.order().len() / per_slot {
            let first = self.slots.at(self.turn + own * self.turns) * per_slot;
            let inside = self.units.saturating_sub(first).min(per_slot);
            (inside..per_slot).for_each(|within| self.take(own * per_slot + within));
        }
    }

    /// The unit where the next request begins, and how many are free from there, `wanted` at most: so many where one of the
    /// next [`TRIES`] places has them, else what the next unit has that is free.
    fn found(&mut self, wanted: u64, align: u64) -> (u64, u64) {
        for _ in 0..TRIES {
            self.tried = (self.tried + 1) % self.passes.order().len();
            let place = self.place_at(self.passes.order().at(self.tried), wanted, align);
            if place.1 == wanted {
                return place;
            }
        }
        while self.is_covered(self.passes.order().at(self.place)) {
            self.place = (self.place + 1) % self.passes.order().len();
        }
        self.place_at(self.begin_of_gap(self.passes.order().at(self.place), wanted), wanted, align)
    }

    /// The first of the free units before `unit` and `unit` itself, of which a request of `wanted` units from there covers
    /// `unit` too: a gap is filled at once, not cut in two.
    fn begin_of_gap(&self, unit: u64, wanted: u64) -> u64 {
        let earliest = (unit + 1).saturating_sub(wanted).max(unit - unit % self.per_slot);
        (earliest..unit).rev().take_while(|before| !self.is_covered(*before)).last().unwrap_or(unit)
    }

    /// `unit`, or the multiple of `align` units before it where that is free; and how many are free from there, `most` at most.
    fn place_at(&self, unit: u64, most: u64, align: u64) -> (u64, u64) {
        let aligned = unit - unit % self.per_slot % align;
        let first = if self.is_covered(aligned) { unit } else { aligned };
        let end = (first / self.per_slot + 1) * self.per_slot;
        (first, self.free(first, end.min(first + most)))
    }

    /// How many units from `first` on, up to `end`, are not covered.
    fn free(&self, first: u64, end: u64) -> u64 {
        let mut at = first;
        while at < end {
            let covered = self.covered[narrow::<usize>(at / 64)] >> (at % 64);
            if covered != 0 {
                return (at + u64::from(covered.trailing_zeros())).min(end) - first;
            }
            at = (at / 64 + 1) * 64;
        }
        end - first
    }

    fn is_covered(&self, unit: u64) -> bool {
        self.covered[narrow::<usize>(unit / 64)] >> (unit % 64) & 1 == 1
    }

    fn take(&mut self, unit: u64) {
        debug_assert!(self.left > 0, "more units are covered than there are");
        debug_assert!(!self.is_covered(unit), "no unit may be covered twice in a pass");
        self.covered[narrow::<usize>(unit / 64)] |= 1 << (unit % 64);
        debug_assert!(unit < self.passes.order().len(), "unit {unit} is none of this worker's");
        self.left -= 1;
    }

    /// The distance from the start of the region of the next request, a multiple of `align` if possible, and how much of
    /// its `len` bytes it asks for.
    pub(super) fn next(&mut self, len: u32, align: u64) -> (u64, u32) {
        if self.left == 0 {
            self.passes.turn_over();
            self.begin();
        }
        assert!(self.left > 0, "a pass over no unit has no end");
        let wanted = u64::from(len).div_ceil(self.unit);
        let (first, free) = self.found(wanted, (align / self.unit).max(1));
        debug_assert!(free > 0, "a request that covers nothing comes again and again");
        (first..first + free).for_each(|unit| self.take(unit));
        let slot = self.slots.at(self.turn + first / self.per_slot * self.turns);
        let at = (slot * self.per_slot + first % self.per_slot) * self.unit;
        (at, if free == wanted { len } else { narrow::<u32>(free * self.unit) })
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use std::collections::BTreeSet;

    use super::*;

    /// How often each unit of 512 bytes is visited by all workers in one pass of each, and what the largest request was.
    fn visits(region: u64, workers: u32, sizes: &[u32]) -> (Vec<u32>, u32) {
        let largest = Bytes::new(u64::from(*sizes.iter().max().unwrap()));
        let grain = Grain { align: Bytes::new(512), largest, keeps_slots: false, mixed: true };
        let region = Region { start: Bytes::ZERO, len: Bytes::new(region) };
        let mut units = vec![0; narrow::<usize>(region.len.get() / 512)];
        let mut most = 0;
        for index in 0..workers {
            let part = RegionShare { index, of: workers };
            let mut covering = Covering::new(region, part, grain, Streams::new(3), "test");
            let mut draws = 0..;
            loop {
                let draw = draws.next().unwrap();
                let (at, len) = covering.next(sizes[draw % sizes.len()], 1);
                most = most.max(len);
                let len = u64::from(len);
                assert!(at + len <= region.len.get(), "{at} {len}");
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
    fn sizes_keep_their_shares_until_most_is_covered_wherever_places_begin() {
        let (region, sizes) = (256u64 << 20, [512, 64 << 10]);
        for of in [1, 4] {
            let grain = Grain {
                align: Bytes::new(512),
                largest: Bytes::new(64 << 10),
                keeps_slots: false,
                mixed: true,
            };
            let region = Region { start: Bytes::ZERO, len: Bytes::new(region) };
            let part = RegionShare { index: 0, of };
            let mut covering = Covering::new(region, part, grain, Streams::new(1), "test");
            let own = covering.left;
            let mut bytes = 0;
            let mut draw = 0;
            while covering.left > own / 2 {
                bytes += u64::from(covering.next(sizes[draw % 2], 1).1);
                draw += 1;
            }
            let (each, asked) = (bytes as f64 / draw as f64, f64::from(sizes[0] + sizes[1]) / 2.0);
            assert!(each > 0.95 * asked, "{of} workers: {each} bytes a request, {asked} were asked for");
            while covering.left > 0 {
                bytes += u64::from(covering.next(sizes[draw % 2], 1).1);
                draw += 1;
            }
            let whole = bytes as f64 / draw as f64;
            assert!(whole > 0.3 * asked, "a request fills the gap that it finds: {whole}");
        }
    }

    #[test]
    fn no_request_crosses_a_multiple_of_the_largest_where_none_may() {
        let grain =
            Grain { align: Bytes::new(512), largest: Bytes::new(4096), keeps_slots: true, mixed: true };
        let region = Region { start: Bytes::ZERO, len: Bytes::new((1 << 20) + 2048) };
        let mut covering = Covering::new(region, RegionShare::WHOLE, grain, Streams::new(1), "test");
        for draw in 0..5_000 {
            let (at, len) = covering.next([1536, 4096][draw % 2], 1);
            assert!(at / 4096 == (at + u64::from(len) - 1) / 4096, "{len} bytes at {at}");
        }
    }

    #[test]
    fn each_pass_covers_all_of_it_again_in_an_order_of_its_own() {
        let grain =
            Grain { align: Bytes::new(512), largest: Bytes::new(2048), keeps_slots: true, mixed: true };
        let region = Region { start: Bytes::ZERO, len: Bytes::new(64 << 10) };
        let mut covering = Covering::new(region, RegionShare::WHOLE, grain, Streams::new(1), "test");
        let mut bytes = 0;
        let sizes = [512, 2048];
        let mut passes = vec![Vec::new()];
        for draw in 0..10_000 {
            let (at, len) = covering.next(sizes[draw % 2], 1);
            bytes += u64::from(len);
            passes.last_mut().unwrap().push(at);
            if covering.left == 0 {
                assert_eq!(bytes % (64 << 10), 0);
                passes.push(Vec::new());
            }
        }
        // A pass that goes on in the order of the one before has most of its neighbours.
        let neighbours = |pass: &[u64]| -> BTreeSet<(u64, u64)> {
            pass.windows(2).map(|pair| (pair[0], pair[1])).collect()
        };
        let alike = |pair: &[Vec<u64>]| neighbours(&pair[0]).intersection(&neighbours(&pair[1])).count();
        let most = passes[..20].windows(2).map(alike).max().unwrap();
        assert!(most * 5 < passes[0].len(), "{most} of {}", passes[0].len());
    }
}
