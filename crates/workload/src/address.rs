//! Where the next request goes: one generator per pattern.
//!
//! Random patterns work on *slots*: the region is cut into pieces of the largest request size, a slot is drawn,
//! and a smaller request is placed at a random aligned offset within it. So a split of sizes still covers each
//! slot once per pass. Only draws with repeats know no slots: each goes to any aligned place where it fits.
//!
//! **Invariant:** an address depends on seed, specification and count alone, never on how requests ended.

use rand_core::Rng;
use rand_distr::{Distribution, Normal, Zipf};
use units::Bytes;

use crate::permutation::Permutation;
use crate::rng::{Stream, Streams, below, unit};
use crate::spec::{Extent, Pattern, Zone};

/// The part of a file that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Distance from the start of the file; a multiple of the alignment.
    pub start: Bytes,
    /// Length; holds at least one request of the largest size.
    pub len: Bytes,
}

/// Which of several workers that share a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Part {
    /// The only one.
    pub const WHOLE: Part = Part { index: 0, of: 1 };
}

/// Sizes that place requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// Every offset within the region is a multiple of this; not zero.
    pub align: Bytes,
    /// The largest request.
    pub largest: Bytes,
    /// No request may cross a multiple of the largest one, because LUNs meet there.
    pub keeps_slots: bool,
}

/// Generates offsets from the start of the file.
#[derive(Clone, Debug)]
pub struct Addresses {
    base: u64,
    walk: Walk,
}

#[derive(Clone, Debug)]
enum Walk {
    Upwards(Run),
    Downwards(Run),
    Strided {
        run: Run,
        stride: u64,
        /// Passes begin within so much of a stride.
        width: u64,
        pass_start: u64,
    },
    /// `run` without gaps from each multiple of `step`.
    Stepped {
        run: Run,
        step: u64,
        passed: u64,
    },
    /// Downwards with gaps.
    Back {
        run: Run,
        step: u64,
    },
    Slots(Slots),
    /// Some requests go to a drawn place, the others go on where the last one ended.
    Continued {
        run: Run,
        slots: Slots,
        /// Where the last one went.
        last: u64,
    },
}

/// Where one request of a workload with several kinds of them may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where, seen from the last one.
    pub go: Go,
    /// Its offset is a multiple of this; not zero.
    pub align: u64,
}

/// Where a request goes, seen from the last one of its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// To a place that the pattern draws.
    Elsewhere,
    /// On from where it ended.
    On,
    /// Where it went, as far as the region has room there.
    Nowhere,
}

/// A worker's own stretch of the region and where it is in it.
#[derive(Clone, Copy, Debug)]
struct Run {
    next: u64,
    start: u64,
    end: u64,
}

#[derive(Clone, Debug)]
struct Slots {
    slot: u64,
    align: u64,
    within: Stream,
    draw: Draw,
}

#[derive(Clone, Debug)]
enum Draw {
    Once {
        order: Permutation,
        turn: u64,
        turns: u64,
    },
    InTurn {
        turn: u64,
        turns: u64,
        slots: u64,
    },
    Uniform {
        stream: Stream,
        slots: u64,
    },
    Pareto {
        stream: Stream,
        power: f64,
        place: Permutation,
    },
    /// Not slots but any aligned place of a region of that length.
    Anywhere {
        stream: Stream,
        region: u64,
    },
    Zipf {
        stream: Stream,
        law: Zipf<f64>,
        place: Permutation,
    },
    Normal {
        stream: Stream,
        law: Normal<f64>,
        slots: u64,
        /// Where the blocks lie that are not side by side.
        place: Option<Permutation>,
    },
    Zones {
        stream: Stream,
        zones: Vec<Band>,
    },
}

/// A zone in slots, with the upper end of its share of the draws scaled to 64 bits.
#[derive(Clone, Copy, Debug)]
struct Band {
    until: u64,
    first: u64,
    slots: u64,
}

impl Addresses {
    /// The addresses of `pattern` in `region` for one of the workers that share it.
    ///
    /// Workers take turns in one permutation (`Random`) or have stretches of their own (`Sequential`,
    /// `Reverse`, `Stride`), so that together they visit each block once; other patterns draw independently.
    /// `name` tells streams apart. The caller has checked that `region` holds a slot for every worker.
    pub fn new(
        pattern: &Pattern,
        region: Region,
        part: Part,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Addresses {
        let walk = match pattern {
            Pattern::Sequential => Walk::Upwards(Run::of(region, part, grain, false)),
            Pattern::Reverse => Walk::Downwards(Run::of(region, part, grain, true)),
            Pattern::Stride(stride) => {
                let run = Run::of(region, part, grain, false);
                Walk::Strided { run, stride: stride.get(), width: stride.get(), pass_start: run.start }
            }
            Pattern::StrideOf { step, run } => Walk::Stepped {
                run: Run::of(region, part, grain, false),
                step: step.get(),
                passed: run.get(),
            },
            Pattern::Columns { step, width } => {
                let run = Run::of(region, part, grain, false);
                Walk::Strided { run, stride: step.get(), width: width.get(), pass_start: run.start }
            }
            Pattern::ReverseStride(step) => {
                Walk::Back { run: Run::of(region, part, grain, true), step: step.get() }
            }
            _ => Walk::Slots(Slots::new(pattern, region, part, grain, streams, name)),
        };
        Addresses { base: region.start.get(), walk }
    }

    /// Addresses of which some are drawn from `pattern` and the others go on where the last one ended: from the
    /// start of the worker's own stretch at first, and again when the region ends. A pattern that draws nothing
    /// sends the former anywhere, with repeats. Ask with [`Addresses::next_of`].
    pub fn continued(
        pattern: &Pattern,
        region: Region,
        part: Part,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Addresses {
        let drawn = if pattern.is_random() { pattern } else { &Pattern::RandomWithRepeats };
        let slots = Slots::new(drawn, region, part, grain, streams, name);
        let run = Run { end: region.len.get(), ..Run::of(region, part, grain, false) };
        Addresses { base: region.start.get(), walk: Walk::Continued { run, slots, last: 0 } }
    }

    /// The offset of the next request, `len` bytes long, where requests differ in how they are placed. A pattern
    /// that always draws, or never, does so whatever `step` says.
    // Apart from `next`, which is faster the smaller it is.
    #[inline(never)]
    pub fn next_of(&mut self, len: u32, step: Step) -> Bytes {
        let within = match &mut self.walk {
            Walk::Slots(slots) => slots.next(u64::from(len), step.align),
            Walk::Continued { run, slots, last } => {
                let len = u64::from(len);
                let at = match step.go {
                    Go::Elsewhere => slots.next(len, step.align),
                    Go::On => run.on(len, step.align),
                    Go::Nowhere => {
                        let latest = run.end.saturating_sub(len).max(run.start);
                        let at = (*last).min(latest);
                        at - at % step.align
                    }
                };
                (run.next, *last) = (at + len, at);
                at
            }
            _ => return self.next(len),
        };
        Bytes::new(self.base + within)
    }

    /// Gives the offsets of the next `count` requests of `len` bytes to `take`, as [`Addresses::next`] would.
    #[inline]
    pub fn each(&mut self, len: u32, count: u32, mut take: impl FnMut(Bytes)) {
        let base = self.base;
        // The two walks that most plans ask for have loops of their own: what does not change in them stays in
        // registers, which saves 1 to 2 ns a request.
        match &mut self.walk {
            Walk::Upwards(run) => {
                let mut own = *run;
                (0..count).for_each(|_| take(Bytes::new(base + own.up(len.into()))));
                *run = own;
            }
            Walk::Slots(Slots { slot, align, draw: Draw::Once { order, turn, turns }, .. })
                if *slot - u64::from(len) < *align =>
            {
                (0..count).for_each(|_| take(Bytes::new(base + once(order, turn, *turns) * *slot)));
            }
            _ => (0..count).for_each(|_| take(self.next(len))),
        }
    }

    /// The offset of the next request, `len` bytes long.
    #[inline]
    pub fn next(&mut self, len: u32) -> Bytes {
        let len = u64::from(len);
        let within = match &mut self.walk {
            Walk::Upwards(run) => run.up(len),
            Walk::Downwards(run) => run.down(len),
            Walk::Strided { run, stride, width, pass_start } => run.stride(len, *stride, *width, pass_start),
            Walk::Stepped { run, step, passed } => run.stepped(len, *step, *passed),
            Walk::Back { run, step } => run.back(len, *step),
            Walk::Slots(slots) => slots.next(len, slots.align),
            Walk::Continued { slots, .. } => {
                let step = Step { go: Go::Elsewhere, align: slots.align };
                return self.next_of(len as u32, step);
            }
        };
        Bytes::new(self.base + within)
    }
}

impl Run {
    /// Worker `part`'s stretch, cut at multiples of the alignment so that stretches do not overlap.
    fn of(region: Region, part: Part, grain: Grain, from_end: bool) -> Run {
        let unit = grain.align.get();
        let units = u128::from(region.len.get() / unit);
        let cut = |index: u32| (units * u128::from(index) / u128::from(part.of)) as u64 * unit;
        let (start, end) = (cut(part.index), cut(part.index + 1));
        Run { next: if from_end { end } else { start }, start, end }
    }

    #[inline]
    fn up(&mut self, len: u64) -> u64 {
        if self.next + len > self.end {
            self.next = self.start;
        }
        let offset = self.next;
        self.next += len;
        offset
    }

    /// On from where the last request ended, at the next multiple of `align`; from the start after the end.
    #[inline]
    fn on(&self, len: u64, align: u64) -> u64 {
        let at = self.next.next_multiple_of(align);
        if at + len > self.end { self.start } else { at }
    }

    #[inline]
    fn down(&mut self, len: u64) -> u64 {
        if self.next < self.start + len {
            self.next = self.end;
        }
        self.next -= len;
        self.next
    }

    /// On within the first `passed` bytes of a step; behind them, to the next step.
    #[inline]
    fn stepped(&mut self, len: u64, step: u64, passed: u64) -> u64 {
        let begins = self.start + (self.next - self.start) / step * step;
        if self.next + len > begins + passed {
            self.next = begins + step;
        }
        if self.next + len > self.end {
            self.next = self.start;
        }
        let offset = self.next;
        self.next += len;
        offset
    }

    /// Down by a step from start to start; from the end again where that is too far.
    #[inline]
    fn back(&mut self, len: u64, step: u64) -> u64 {
        let at = if self.next == self.end { self.end.checked_sub(len) } else { self.next.checked_sub(step) };
        self.next = at.filter(|at| *at >= self.start).unwrap_or(self.end - len);
        self.next
    }

    /// Each pass begins one request later than the last, until the width is filled: a second pass over the
    /// same blocks would measure a cache.
    #[inline]
    fn stride(&mut self, len: u64, stride: u64, width: u64, pass_start: &mut u64) -> u64 {
        if self.next + len > self.end {
            let shifted = *pass_start + len;
            let fits = shifted + len <= self.end && shifted - self.start + len <= width;
            *pass_start = if fits { shifted } else { self.start };
            self.next = *pass_start;
        }
        let offset = self.next;
        self.next += stride;
        offset
    }
}

impl Slots {
    fn new(
        pattern: &Pattern,
        region: Region,
        part: Part,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Slots {
        let slot = grain.largest.round_up(grain.align).get();
        let slots = region.len.get() / slot;
        assert!(slots > 0, "the region holds no request");
        let own = |purpose: &str| streams.open(&format!("{purpose}/{name}/{}", part.index));
        let shared_key = |purpose: &str| streams.key(&format!("{purpose}/{name}"));
        let draw = match pattern {
            Pattern::Random => Draw::Once {
                order: Permutation::new(slots, shared_key("order")),
                turn: u64::from(part.index) % slots,
                turns: u64::from(part.of),
            },
            Pattern::Interlocked => {
                Draw::InTurn { turn: u64::from(part.index) % slots, turns: u64::from(part.of), slots }
            }
            Pattern::Pareto(h) => Draw::Pareto {
                stream: own("offset"),
                power: h.ln() / (1.0 - h).ln(),
                place: Permutation::new(slots, shared_key("place")),
            },
            Pattern::Zipf(theta) => Draw::Zipf {
                stream: own("offset"),
                law: Zipf::new(slots as f64, *theta).expect("the plan has checked that theta is above zero"),
                place: Permutation::new(slots, shared_key("place")),
            },
            Pattern::Normal(deviation) | Pattern::NormalScattered(deviation) => Draw::Normal {
                place: matches!(pattern, Pattern::NormalScattered(_))
                    .then(|| Permutation::new(slots, shared_key("place"))),
                stream: own("offset"),
                law: Normal::new(slots as f64 / 2.0, deviation.get() * slots as f64)
                    .expect("a share is finite and not negative"),
                slots,
            },
            Pattern::Zones(zones) => Draw::Zones { stream: own("offset"), zones: bands(zones, slots, slot) },
            _ if grain.align.get() < slot && !grain.keeps_slots => {
                Draw::Anywhere { stream: own("offset"), region: region.len.get() }
            }
            _ => Draw::Uniform { stream: own("offset"), slots },
        };
        Slots { slot, align: grain.align.get(), within: own("within"), draw }
    }

    #[inline(always)]
    fn next(&mut self, len: u64, align: u64) -> u64 {
        if let Draw::Anywhere { stream, region } = &mut self.draw {
            return below(stream, (*region - len) / align + 1) * align;
        }
        let start = self.draw.next() * self.slot;
        // Most workloads have one size: the test saves them a division, 5 ns.
        if self.slot - len < align {
            return start;
        }
        let spare = (self.slot - len) / align;
        start + below(&mut self.within, spare + 1) * align
    }
}

impl Draw {
    #[inline]
    fn next(&mut self) -> u64 {
        match self {
            Draw::Once { order, turn, turns } => once(order, turn, *turns),
            Draw::InTurn { turn, turns, slots } => {
                let slot = *turn;
                *turn = (*turn + *turns) % *slots;
                slot
            }
            // A part x of the blocks, the hottest, gets x^(1/power) of the requests; so h gets 1 - h.
            Draw::Pareto { stream, power, place } => {
                let rank = (place.len() as f64 * unit(stream).powf(*power)) as u64;
                place.at(rank.min(place.len() - 1))
            }
            Draw::Uniform { stream, slots } => below(stream, *slots),
            Draw::Anywhere { .. } => unreachable!("any place is drawn without slots"),
            Draw::Zipf { stream, law, place } => {
                let rank = law.sample(stream) as u64;
                place.at((rank - 1).min(place.len() - 1))
            }
            Draw::Normal { stream, law, slots, place } => loop {
                let drawn = law.sample(stream);
                if (0.0..*slots as f64).contains(&drawn) {
                    return place.as_ref().map_or(drawn as u64, |place| place.at(drawn as u64));
                }
            },
            Draw::Zones { stream, zones } => {
                let drawn = stream.next_u64();
                let band = zones.iter().find(|band| drawn <= band.until).unwrap_or(&zones[zones.len() - 1]);
                band.first + ((unit(stream) * band.slots as f64) as u64).min(band.slots - 1)
            }
        }
    }
}

/// The slot whose turn it is in a permutation, of which each worker takes every so many.
#[inline(always)]
fn once(order: &Permutation, turn: &mut u64, turns: u64) -> u64 {
    let slot = order.at(*turn);
    *turn += turns;
    while *turn >= order.len() {
        *turn -= order.len();
    }
    slot
}

/// The zones in slots; what they leave of the requests goes to what they leave of the span.
fn bands(zones: &[Zone], slots: u64, slot: u64) -> Vec<Band> {
    let part = |zone: &Zone| match zone.span {
        Extent::Part(part) => part.get(),
        Extent::Bytes(bytes) => bytes.as_f64() / (slots as f64 * slot as f64),
    };
    let (mut requests, mut span) = (0.0, 0.0);
    let mut bands = Vec::with_capacity(zones.len() + 1);
    let mut push = |requests: f64, from: f64, to: f64| {
        let first = ((from * slots as f64) as u64).min(slots - 1);
        let end = ((to * slots as f64) as u64).clamp(first + 1, slots);
        bands.push(Band { until: (requests * u64::MAX as f64) as u64, first, slots: end - first });
    };
    for zone in zones {
        requests += zone.requests.get();
        push(requests, span, span + part(zone));
        span += part(zone);
    }
    if requests < 1.0 - 1e-9 && span < 1.0 {
        push(1.0, span, 1.0);
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use units::Share;

    const KIB4: u64 = 4096;
    const DRAWS: u64 = 1_000_000;

    fn region(len: u64) -> Region {
        Region { start: Bytes::ZERO, len: Bytes::new(len) }
    }

    fn grain(align: u64, largest: u64) -> Grain {
        Grain { align: Bytes::new(align), largest: Bytes::new(largest), keeps_slots: false }
    }

    fn of(pattern: Pattern, len: u64, part: Part) -> Addresses {
        Addresses::new(&pattern, region(len), part, grain(KIB4, KIB4), Streams::new(11), "test")
    }

    fn draws(addresses: &mut Addresses, count: u64) -> Vec<u64> {
        (0..count).map(|_| addresses.next(KIB4 as u32).get() / KIB4).collect()
    }

    #[test]
    fn random_workers_together_visit_each_block_once() {
        let (blocks, workers) = (DRAWS, 7);
        let mut seen = vec![0u8; blocks as usize];
        for index in 0..workers {
            let mut worker = of(Pattern::Random, blocks * KIB4, Part { index, of: workers });
            let turns =
                blocks / u64::from(workers) + u64::from(u64::from(index) < blocks % u64::from(workers));
            draws(&mut worker, turns).into_iter().for_each(|block| seen[block as usize] += 1);
        }
        assert!(seen.iter().all(|count| *count == 1));
    }

    #[test]
    fn random_goes_round_again_after_a_full_pass() {
        let mut worker = of(Pattern::Random, 10 * KIB4, Part::WHOLE);
        let (first, second) = (draws(&mut worker, 10), draws(&mut worker, 10));
        assert_eq!(first, second);
        assert_ne!(first, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn more_workers_than_blocks_still_stay_within_the_region() {
        let mut worker = of(Pattern::Random, 2 * KIB4, Part { index: 6, of: 9 });
        assert!(draws(&mut worker, 50).into_iter().all(|block| block < 2));
    }

    #[test]
    fn draws_with_repeats_are_uniform() {
        let blocks = 1000;
        let mut counts = vec![0u64; blocks];
        let mut worker = of(Pattern::RandomWithRepeats, blocks as u64 * KIB4, Part::WHOLE);
        draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[block as usize] += 1);
        let expected = DRAWS as f64 / blocks as f64;
        let chi_square: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        // 999 degrees of freedom: mean 999, standard deviation 44.7; four of them above.
        assert!(chi_square < 1178.0, "chi-square {chi_square}");
    }

    #[test]
    fn draws_with_repeats_reach_every_aligned_place_where_the_request_fits() {
        let pattern = Pattern::RandomWithRepeats;
        let grain = grain(512, KIB4);
        let mut worker =
            Addresses::new(&pattern, region(6 * KIB4), Part::WHOLE, grain, Streams::new(11), "test");
        let mut counts = [0u64; 41];
        for _ in 0..DRAWS {
            counts[worker.next(KIB4 as u32).get() as usize / 512] += 1;
        }
        let expected = DRAWS as f64 / 41.0;
        let chi_square: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        // 40 degrees of freedom: standard deviation 8.9; four of them above.
        assert!(chi_square < 76.0, "chi-square {chi_square}");
    }

    #[test]
    fn zipf_ranks_have_the_shares_of_the_law() {
        let blocks = 1_000u64;
        let theta = 1.2;
        let mut counts: HashMap<u64, u64> = HashMap::new();
        let mut worker = of(Pattern::Zipf(theta), blocks * KIB4, Part::WHOLE);
        draws(&mut worker, DRAWS).into_iter().for_each(|block| *counts.entry(block).or_default() += 1);
        let mut ranked: Vec<u64> = counts.into_values().collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        let norm: f64 = (1..=blocks).map(|rank| (rank as f64).powf(-theta)).sum();
        for rank in [1usize, 2, 3, 10, 30] {
            let share = (rank as f64).powf(-theta) / norm;
            let expected = DRAWS as f64 * share;
            let deviation = (expected * (1.0 - share)).sqrt();
            let seen = ranked[rank - 1] as f64;
            assert!((seen - expected).abs() < 5.0 * deviation, "rank {rank}: {seen} for {expected}");
        }
    }

    #[test]
    fn a_fifth_of_the_blocks_gets_four_fifths_of_a_pareto_of_a_fifth() {
        let blocks = 1_000u64;
        let mut counts = vec![0u64; blocks as usize];
        let mut worker = of(Pattern::Pareto(0.2), blocks * KIB4, Part::WHOLE);
        draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[block as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (hottest, share) in [(200, 0.8), (40, 0.64), (8, 0.512)] {
            let seen: u64 = counts[..hottest].iter().sum();
            // Five standard deviations of a binomial with n = 1,000,000 are at most 2,500.
            assert!((seen as f64 - share * DRAWS as f64).abs() < 2500.0, "{hottest}: {seen}");
        }
    }

    #[test]
    fn interlocked_workers_take_one_stream_in_turn() {
        let mut workers: Vec<_> =
            (0..3).map(|index| of(Pattern::Interlocked, 7 * KIB4, Part { index, of: 3 })).collect();
        let all: Vec<u64> = (0..9)
            .flat_map(|_| workers.iter_mut().map(|worker| draws(worker, 1)[0]).collect::<Vec<_>>())
            .collect();
        assert_eq!(all, (0..27).map(|step| step % 7).collect::<Vec<_>>());
    }

    #[test]
    fn zipf_below_one_covers_a_large_space() {
        let blocks = 1u64 << 28;
        let mut worker = of(Pattern::Zipf(0.8), blocks * KIB4, Part::WHOLE);
        let upper = draws(&mut worker, 100_000).into_iter().filter(|block| *block >= blocks / 2).count();
        assert!((45_000..55_000).contains(&upper), "{upper} of 100,000 in the upper half");
    }

    #[test]
    fn normal_draws_have_the_asked_spread_about_the_middle() {
        let blocks = 1_000_000u64;
        let mut worker = of(Pattern::Normal(Share::new(0.1).unwrap()), blocks * KIB4, Part::WHOLE);
        let drawn = draws(&mut worker, DRAWS);
        let mean = drawn.iter().map(|block| *block as f64).sum::<f64>() / DRAWS as f64;
        let variance = drawn.iter().map(|block| (*block as f64 - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        assert!((mean / 500_000.0 - 1.0).abs() < 0.002, "mean {mean}");
        assert!((variance.sqrt() / 100_000.0 - 1.0).abs() < 0.01, "deviation {}", variance.sqrt());
    }

    #[test]
    fn the_blocks_of_a_scattered_bell_are_as_hot_and_lie_anywhere() {
        let blocks = 1_000u64;
        let [together, scattered] = [Pattern::Normal, Pattern::NormalScattered].map(|pattern| {
            let mut counts = vec![0u64; blocks as usize];
            let mut worker = of(pattern(Share::new(0.05).unwrap()), blocks * KIB4, Part::WHOLE);
            draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[block as usize] += 1);
            counts
        });
        let upper = |counts: &[u64]| counts[..100].iter().chain(&counts[900..]).sum::<u64>();
        assert_eq!(upper(&together), 0, "eight deviations from the middle");
        // A fifth of the blocks; which of them are the hottest decides how much of it.
        assert!(upper(&scattered) > 50_000, "{}", upper(&scattered));
        let ranked = |mut counts: Vec<u64>| {
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts
        };
        // The same stream, so the same counts at other places.
        assert_eq!(ranked(together), ranked(scattered));
    }

    #[test]
    fn hot_zones_get_their_share_and_the_rest_goes_to_the_rest() {
        let share = |part: f64| Share::new(part).unwrap();
        let zones = vec![
            Zone { requests: share(0.5), span: Extent::Part(share(0.05)) },
            Zone { requests: share(0.3), span: Extent::Bytes(Bytes::new(1500 * KIB4)) },
        ];
        let blocks = 10_000;
        let mut worker = of(Pattern::Zones(zones), blocks * KIB4, Part::WHOLE);
        let mut counts = [0u64; 3];
        for block in draws(&mut worker, DRAWS) {
            counts[if block < 500 {
                0
            } else if block < 2000 {
                1
            } else {
                2
            }] += 1;
        }
        for (count, expected) in counts.iter().zip([0.5, 0.3, 0.2]) {
            // Five standard deviations of a binomial with n = 1,000,000 are at most 2,500.
            assert!((*count as f64 - expected * DRAWS as f64).abs() < 2500.0, "{counts:?}");
        }
    }

    #[test]
    fn sequential_workers_have_stretches_of_their_own() {
        let first = draws(&mut of(Pattern::Sequential, 10 * KIB4, Part { index: 0, of: 2 }), 6);
        let second = draws(&mut of(Pattern::Sequential, 10 * KIB4, Part { index: 1, of: 2 }), 6);
        assert_eq!(first, [0, 1, 2, 3, 4, 0]);
        assert_eq!(second, [5, 6, 7, 8, 9, 5]);
    }

    #[test]
    fn reverse_goes_down_and_starts_again_at_the_end() {
        assert_eq!(draws(&mut of(Pattern::Reverse, 3 * KIB4, Part::WHOLE), 5), [2, 1, 0, 2, 1]);
    }

    #[test]
    fn a_stride_fills_the_gaps_in_later_passes() {
        let stride = Pattern::Stride(Bytes::new(3 * KIB4));
        assert_eq!(draws(&mut of(stride, 6 * KIB4, Part::WHOLE), 8), [0, 3, 1, 4, 2, 5, 0, 3]);
    }

    fn patterns() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            Just(Pattern::Sequential),
            Just(Pattern::Reverse),
            (1u64..20).prop_map(|blocks| Pattern::Stride(Bytes::new(blocks * 65536))),
            Just(Pattern::Random),
            Just(Pattern::RandomWithRepeats),
            Just(Pattern::Interlocked),
            (0.1f64..3.0).prop_map(Pattern::Zipf),
            (0.001f64..0.999).prop_map(Pattern::Pareto),
            (0.0f64..1.0).prop_map(|part| Pattern::Normal(Share::new(part).unwrap())),
            (0.0f64..1.0).prop_map(|part| Pattern::NormalScattered(Share::new(part).unwrap())),
            (0.0f64..1.0, 0.0f64..1.0).prop_map(|(requests, span)| Pattern::Zones(vec![Zone {
                requests: Share::new(requests).unwrap(),
                span: Extent::Part(Share::new(span).unwrap()),
            }])),
        ]
    }

    proptest! {
        #[test]
        fn every_request_lies_aligned_within_the_region(
            pattern in patterns(),
            align_shift in 9u32..14,
            slots in 4u64..5000,
            index in 0u32..4,
            seed: u64,
        ) {
            let align = 1u64 << align_shift;
            let grain = grain(align, 65536);
            let region = Region { start: Bytes::new(align * 3), len: Bytes::new(slots * 65536) };
            let mut addresses = Addresses::new(
                &pattern, region, Part { index, of: 4 }, grain, Streams::new(seed), "property",
            );
            for step in 0..200u32 {
                let len = (align as u32) << (step % 3);
                let offset = addresses.next(len.min(65536)).get();
                prop_assert!(offset.is_multiple_of(align));
                prop_assert!(offset >= region.start.get());
                prop_assert!(offset + u64::from(len.min(65536)) <= region.start.get() + region.len.get());
            }
        }
    }
}
