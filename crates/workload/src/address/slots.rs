//! Places that are drawn: pieces of a region of the largest request size, and which of them is next.

use rand_core::Rng;
use rand_distr::{Distribution, Normal, Zipf};
use units::convert::truncated;

use super::aged::Aged;
use super::sequence::Sequence;
use super::{Grain, Region, RegionShare};
use crate::permutation::Permutation;
use crate::rng::{Stream, Streams, below, mix64, unit};
use crate::spec::{Extent, Pattern, Zone};

#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub slot: u64,
    pub align: u64,
    within: Stream,
    pub draw: Draw,
}

#[derive(Clone, Debug)]
pub(super) enum Draw {
    Once {
        passes: Passes,
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
    Sequence(Sequence),
    Aged(Aged),
}

/// Permutations of the same numbers, one for each pass over them: as a random map that is emptied and drawn from anew, so that
/// what was written together in one pass is not in the next.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    key: u64,
    pass: u64,
    order: Permutation,
}

impl Passes {
    /// The given pass over `0..len`, the first of which has the order that belongs to `key`.
    pub(super) fn new(len: u64, key: u64, pass: u64) -> Passes {
        let of_pass = if pass == 0 { key } else { mix64(key ^ mix64(pass)) };
        Passes { key, pass, order: Permutation::new(len, of_pass) }
    }

    /// The order of the pass under way.
    #[inline(always)]
    pub(super) fn order(&self) -> &Permutation {
        &self.order
    }

    /// The next pass begins.
    pub(super) fn turn_over(&mut self) {
        *self = Passes::new(self.order.len(), self.key, self.pass.wrapping_add(1));
    }
}

/// A zone in slots, with the upper end of its share of the draws scaled to 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Band {
    until: u64,
    first: u64,
    slots: u64,
}

impl Slots {
    pub(super) fn new(
        pattern: &Pattern,
        region: Region,
        part: RegionShare,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Slots {
        let slot = grain.largest.round_up(grain.align).get();
        let slots = region.len.get() / slot;
        assert!(slots > 0, "the region holds no request");
        assert!(part.index < part.of, "a worker is one of those that share the region");
        let own = |purpose: &str| streams.open(&format!("{purpose}/{name}/{}", part.index));
        let shared_key = |purpose: &str| streams.key(&format!("{purpose}/{name}"));
        let draw = match pattern {
            Pattern::Random => Draw::Once {
                // Of more workers than slots some begin in a later pass.
                passes: Passes::new(slots, shared_key("order"), u64::from(part.index) / slots),
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
            Pattern::Sequence { blocks, moves } => Draw::Sequence(Sequence::new(blocks, *moves, slots)),
            Pattern::Aged { spare, parts } => {
                Draw::Aged(Aged::new(*spare, *parts, Permutation::new(slots, shared_key("order")), part))
            }
            Pattern::Zones(zones) => Draw::Zones { stream: own("offset"), zones: bands(zones, slots, slot) },
            _ if grain.align.get() < slot && !grain.keeps_slots => {
                Draw::Anywhere { stream: own("offset"), region: region.len.get() }
            }
            _ => Draw::Uniform { stream: own("offset"), slots },
        };
        Slots { slot, align: grain.align.get(), within: own("within"), draw }
    }

    #[inline(always)]
    pub(super) fn next(&mut self, len: u64, align: u64) -> u64 {
        debug_assert!(
            len <= self.slot && align > 0,
            "{len} bytes at multiples of {align} in slots of {}",
            self.slot
        );
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
            Draw::Once { passes, turn, turns } => once(passes, turn, *turns),
            Draw::InTurn { turn, turns, slots } => {
                let slot = *turn;
                debug_assert!(slot < *slots, "a turn is one of the slots");
                *turn = (*turn + *turns) % *slots;
                slot
            }
            // A part x of the blocks, the hottest, gets x^(1/power) of the requests; so h gets 1 - h.
            Draw::Pareto { stream, power, place } => {
                let rank = truncated::<u64>(place.len() as f64 * unit(stream).powf(*power));
                place.at(rank.min(place.len() - 1))
            }
            Draw::Uniform { stream, slots } => below(stream, *slots),
            Draw::Anywhere { .. } => unreachable!("any place is drawn without slots"),
            Draw::Zipf { stream, law, place } => {
                let rank = truncated::<u64>(law.sample(stream));
                place.at((rank - 1).min(place.len() - 1))
            }
            Draw::Normal { stream, law, slots, place } => loop {
                let drawn = law.sample(stream);
                if (0.0..*slots as f64).contains(&drawn) {
                    return place
                        .as_ref()
                        .map_or(truncated::<u64>(drawn), |place| place.at(truncated::<u64>(drawn)));
                }
            },
            Draw::Sequence(sequence) => sequence.next(),
            Draw::Aged(aged) => aged.next(),
            Draw::Zones { stream, zones } => {
                let drawn = stream.next_u64();
                let band = zones.iter().find(|band| drawn <= band.until).unwrap_or(&zones[zones.len() - 1]);
                band.first + truncated::<u64>(unit(stream) * band.slots as f64).min(band.slots - 1)
            }
        }
    }
}

/// The slot whose turn it is in the pass under way, of which each worker takes every so many.
#[inline(always)]
fn once(passes: &mut Passes, turn: &mut u64, turns: u64) -> u64 {
    let len = passes.order().len();
    debug_assert!(*turn < len, "a turn is one of the permutation");
    let slot = passes.order().at(*turn);
    *turn += turns;
    while *turn >= len {
        *turn -= len;
        passes.turn_over();
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
        let first = truncated::<u64>(from * slots as f64).min(slots - 1);
        let end = truncated::<u64>(to * slots as f64).clamp(first + 1, slots);
        bands.push(Band { until: truncated::<u64>(requests * u64::MAX as f64), first, slots: end - first });
    };
    for zone in zones {
        requests += zone.requests.get();
        push(requests, span, span + part(zone));
        span += part(zone);
    }
    if requests < 1.0 - 1e-9 && span < 1.0 {
        push(1.0, span, 1.0);
    }
    debug_assert!(
        bands.iter().all(|band| band.slots > 0 && band.first + band.slots <= slots),
        "a zone holds a slot at least, and none beyond the region"
    );
    debug_assert!(bands.is_sorted_by_key(|band| band.until), "zones share out the requests in turn");
    bands
}
