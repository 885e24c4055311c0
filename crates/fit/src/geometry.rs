//! Chunk and members, from the rate at addresses that are multiples of a distance.
//!
//! Multiples of a distance visit only some of the members: `n / gcd(m, n)` of them where the distance is `m` chunks.
//! The rate follows how many these are. Every pair of a member count and a chunk says for each distance which share of
//! the work falls upon the busiest member; the array's is the pair for which the rate is one falling curve of that
//! share. RAID 5 places data chunks on members in turn as RAID 0 does, and looks alike here; RAID 6 skips one more
//! member in each row, and is told apart. Of RAID 10 a pair is one member.

use std::collections::BTreeMap;

use units::convert::{narrow, truncated};

use crate::front::{FULL, Front};
use crate::probe::{Pattern, Probe};

/// In which order data chunks visit the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other: RAID 0, pairs of RAID 10, and RAID 5 with rotating parity (left-symmetric).
    InTurn,
    /// One is passed over after each row: RAID 6 likewise.
    Skipping,
}

impl Order {
    /// The member of a data chunk, by the formulas of Linux md (`raid5_compute_sector`), counted from where the first
    /// is.
    fn member(self, chunk: u64, members: u32) -> u64 {
        let members = u64::from(members);
        assert!(members > self.parity(), "a member is left for data");
        match self {
            Order::InTurn => chunk % members,
            Order::Skipping => {
                let (row, column) = (chunk / (members - 2), chunk % (members - 2));
                (column + members - row % members) % members
            }
        }
    }

    /// Data chunks after which everything begins again.
    /// Members of a row without data.
    fn parity(self) -> u64 {
        match self {
            Order::InTurn => 0,
            Order::Skipping => 2,
        }
    }

    fn turn(self, members: u32) -> u64 {
        let members = u64::from(members);
        match self {
            Order::InTurn => members,
            Order::Skipping => members * (members - 2),
        }
    }
}

/// What the distances told.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// How data are laid over them.
    pub order: Order,
    /// Members that requests are spread over.
    pub members: u32,
    /// Bytes on one before the next; `None` for a single member, which has none.
    pub chunk: Option<u64>,
    /// Another order and chunk of as many members, which explains the rates as well.
    pub also: Option<(Order, u64)>,
    /// By how much less likely other counts of members are, each with its best chunk: twice the difference of
    /// log-likelihoods, as if every distance were a point of its own.
    pub others: Vec<(u32, f64)>,
    /// What explains the rates about as well: every count of members with the order and the chunk that do it best, the
    /// likeliest count first.
    pub alike: Vec<(Order, u32, u64)>,
    /// How far reads of all sizes alone are from what this count lets expect, and the next best, where they tell it.
    pub by_size: Option<(f64, f64)>,
    /// How many distances were measured.
    pub distances: usize,
}

impl Geometry {
    /// Whether another count of members explains the rates about as well.
    pub fn is_doubtful(&self) -> bool {
        self.alike.len() > 1
    }

    /// So many times the squares that this count leaves are left by the next likeliest; endless where no other count
    /// gives a curve that falls.
    pub fn clearness(&self) -> f64 {
        let next = self.others.iter().map(|(_, less)| *less).fold(f64::INFINITY, f64::min);
        assert!(next >= 0.0, "no other count is likelier than the best");
        (next / self.distances.max(1) as f64).exp()
    }

    /// Every count of members that explains the rates about as well, in ascending order.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.alike.iter().map(|(_, members, _)| *members).collect();
        counts.sort_unstable();
        debug_assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "a count is named once");
        counts
    }

    /// The same with another of the counts that explain the rates alike; `by_size` where reads alone tell it.
    pub fn taken(self, (order, members, chunk): (Order, u32, u64), by_size: Option<(f64, f64)>) -> Geometry {
        assert!(
            self.alike.contains(&(order, members, chunk)),
            "{members} members do not explain the distances alike"
        );
        let also = self.also.filter(|_| members == self.members);
        Geometry { order, members, chunk: (members > 1).then_some(chunk), also, by_size, ..self }
    }
}

/// Member counts that are tried.
const MOST_MEMBERS: u32 = 24;

/// Chunks that are tried: 4 KiB to 4 MiB.
const CHUNKS: std::ops::RangeInclusive<u32> = 12..=22;

const _: () = assert!(LEAST_OF_TWO > 1 && LEAST_OF_TWO <= MOST_MEMBERS);
const _: () = assert!(LEAST_GAIN < MOST_GAIN);

/// A family of fewer distances tells nothing apart.
const FEWEST: usize = 12;

/// So many of all distances must be answered more slowly than the way there allows.
const FEWEST_OPEN: usize = 3;

/// Members and chunk, or `None` where there are too few distances.
pub fn fit(probes: &[Probe], front: &Front) -> Option<Geometry> {
    let full = |probe: &Probe| {
        let most = front.most.seen().map_or(f64::INFINITY, |most| most.value);
        if front.cached { most.min(front.link.value / probe.size) } else { most }
    };
    let families = families(probes, &full);
    let places = || families.iter().flatten();
    if places().filter(|place| !place.full).count() < FEWEST_OPEN {
        return None;
    }
    let ranked = ranked(&families);
    let least = ranked.first()?.misfit;
    // Of what explains the rates alike the fewest members: none of them is idle then.
    let alike = |each: &&Candidate| each.misfit < least + ALIKE;
    let best = *ranked.iter().filter(alike).min_by_key(|each| each.members)?;
    let mut each_count: Vec<(Order, u32, u64)> = Vec::new();
    for each in ranked.iter().filter(alike) {
        if each_count.iter().all(|(_, members, _)| *members != each.members) {
            each_count.push((each.order, each.members, each.chunk));
        }
    }
    // A multiple of the members with a smaller chunk, which requests straddle, is another name of the same.
    let others = ranked
        .iter()
        .filter(|each| each.members != best.members && (each.members == 1 || each.chunk >= best.chunk));
    let mut others: Vec<(u32, f64)> =
        others.map(|each| (each.members, (each.misfit - best.misfit).max(0.0))).collect();
    // The best of each count comes first.
    let mut named = std::collections::BTreeSet::new();
    others.retain(|(members, _)| named.insert(*members));
    let named_else = |each: &&Candidate| {
        each.members == best.members && (each.order, each.chunk) != (best.order, best.chunk)
    };
    let also = ranked.iter().filter(alike).find(named_else).filter(|_| best.members > 1);
    debug_assert!(
        each_count.iter().any(|(_, members, _)| *members == best.members),
        "the best is among its like"
    );
    debug_assert!(others.iter().all(|(_, less)| *less >= 0.0), "no other count is likelier than the best");
    Some(Geometry {
        order: best.order,
        also: also.map(|also| (also.order, also.chunk)),
        members: best.members,
        chunk: (best.members > 1).then_some(best.chunk),
        others,
        alike: each_count,
        by_size: None,
        distances: places().count(),
    })
}

/// What the rates are explained by, and how badly.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    misfit: f64,
    order: Order,
    members: u32,
    chunk: u64,
}

/// Every order, member count and chunk, what explains the rates best first.
///
/// A chunk smaller than the requests is left out: with more members it is only another name of a larger one.
fn ranked(families: &[Vec<Stride>]) -> Vec<Candidate> {
    let least = families.iter().flatten().map(|place| place.size).min().unwrap_or(0);
    let orders = (1..=MOST_MEMBERS).map(|members| (Order::InTurn, members));
    let orders = orders.chain((LEAST_OF_TWO..=MOST_MEMBERS).map(|members| (Order::Skipping, members)));
    let all = orders.flat_map(|(order, members)| {
        let chunks = CHUNKS.map(|power| 1u64 << power).filter(move |chunk| *chunk >= least);
        // A single member has no chunk: one stands for all.
        chunks.take(if members == 1 { 1 } else { usize::MAX }).map(move |chunk| (order, members, chunk))
    });
    let mut ranked: Vec<Candidate> = all
        .map(|(order, members, chunk)| Candidate {
            misfit: families.iter().map(|places| misfit(places, order, members, chunk)).sum(),
            order,
            members,
            chunk,
        })
        .collect();
    debug_assert!(ranked.iter().all(|each| !each.misfit.is_nan()), "a misfit is a number, or endless");
    ranked.sort_by(|one, two| one.misfit.total_cmp(&two.misfit));
    ranked
}

/// Candidates as near to each other as this are told apart by chance alone (Kass and Raftery 1995: "not worth more than
/// a bare mention" is below 2).
const ALIKE: f64 = 2.0;

/// RAID 6 of four has a period of two rows, as RAID 10 of as many pairs has: the least that it is told from.
const LEAST_OF_TWO: u32 = 5;

/// A distance: every offset is a multiple of it.
struct Stride {
    distance: u64,
    size: u64,
    log_rate: f64,
    /// Standard error of the logarithm.
    error: f64,
    /// Whether the way there lets no more pass, whatever the members have.
    full: bool,
}

/// Probes that differ in the distance alone, as far as there are enough of them.
fn families(probes: &[Probe], full: &dyn Fn(&Probe) -> f64) -> Vec<Vec<Stride>> {
    let mut families: BTreeMap<(u64, u64), Vec<Stride>> = BTreeMap::new();
    let random = |probe: &&Probe| probe.pattern == Pattern::Random && probe.is_whole() && probe.is_read();
    for probe in probes.iter().filter(random) {
        let place = Stride {
            distance: probe.align,
            size: truncated::<u64>(probe.size),
            log_rate: probe.rate.ln(),
            // What is in flight at the ends of a short run is left to chance.
            error: (probe.responses.count().max(1) as f64).sqrt().recip().max(0.01),
            full: probe.rate > FULL * full(probe),
        };
        families.entry((place.size, truncated::<u64>(probe.depth))).or_default().push(place);
    }
    let distances = |places: &Vec<Stride>| {
        places.iter().map(|place| place.distance).collect::<std::collections::BTreeSet<_>>().len()
    };
    families.into_values().filter(|places| distances(places) >= FEWEST).collect()
}

/// How badly the rates are explained by that pair: what is left about a curve of rate against the busiest member's
/// share, and what the curve costs; infinite where the curve does not fall.
///
/// The Bayesian information criterion where the variance is not known (Schwarz 1978); what is left is never taken to be
/// less than a twentieth of what chance leaves.
fn misfit(places: &[Stride], order: Order, members: u32, chunk: u64) -> f64 {
    assert!(!places.is_empty(), "a family has its distances");
    let count = places.len() as f64;
    match explained(places, order, members, chunk) {
        None => 0.0,
        Some(Curve { squares, terms }) => {
            count * (squares / count).max(0.05).ln() + terms as f64 * count.ln()
        }
    }
}

/// A curve through the rates.
struct Curve {
    /// Sum of the squares of what it leaves, in standard errors, and what its bend costs; infinite where it does not
    /// fall.
    squares: f64,
    /// Its coefficients.
    terms: usize,
}

/// How that pair explains the rates; `None` where the way there is full at every distance.
fn explained(places: &[Stride], order: Order, members: u32, chunk: u64) -> Option<Curve> {
    // Members that are visited alike, in logarithms: arms gain by longer queues, so that the curve need not be
    // straight. What is larger than a chunk is the work of several wherever it is.
    let several = places.iter().any(|place| place.size > chunk);
    let part = |place: &Stride| if several { 1.0 } else { busiest(place, order, members, chunk) };
    let spread: Vec<f64> = places.iter().map(|place| -part(place).ln()).collect();
    debug_assert!(spread.iter().all(|spread| *spread >= 0.0), "the busiest member has all of it at most");
    let open = |at: &usize| !places[*at].full;
    let mut levels: Vec<i64> =
        (0..places.len()).filter(open).map(|at| truncated::<i64>((spread[at] * 25.0).round())).collect();
    levels.sort_unstable();
    levels.dedup();
    let terms = levels.len().min(3);
    let rows: Vec<(f64, &Stride)> =
        (0..places.len()).filter(open).map(|at| (spread[at], &places[at])).collect();
    let never = Curve { squares: f64::INFINITY, terms };
    if rows.is_empty() {
        return None;
    }
    let Some(curve) = curve(&rows, terms) else { return Some(never) };
    let widest = rows.iter().map(|row| row.0).fold(0.0, f64::max);
    let at = |spread: f64| curve[0] + curve[1] * spread + curve[2] * spread * spread;
    let falls = |pair: &[i64]| {
        let (few, many) = (pair[0] as f64 / 25.0, pair[1] as f64 / 25.0);
        let gain = (at(many) - at(few)) / (many - few);
        (LEAST_GAIN..MOST_GAIN).contains(&gain)
    };
    if !levels.windows(2).all(falls) {
        return Some(never);
    }
    let off = |(place, spread): (&Stride, &f64)| match place.full {
        // Where the way there is full, the members may have more to give; beyond what was seen of them, as much more
        // as they are more.
        true => (place.log_rate - at(spread.min(widest)) - (spread - widest).max(0.0)).max(0.0),
        false => place.log_rate - at(*spread),
    };
    let squares: f64 = places.iter().zip(&spread).map(|both| (off(both) / both.0.error).powi(2)).sum();
    Some(Curve { squares: squares + STRAIGHT * curve[2] * curve[2], terms })
}

/// How much straighter curves are likelier: a bend is about a tenth. Without it a larger chunk with a bent curve looks
/// like a smaller one with a straight curve.
const STRAIGHT: f64 = 100.0;

/// The part of a member that each member more brings at least.
const LEAST_GAIN: f64 = 0.2;

/// And at most: drives that stop choosing the nearest command where some have waited long give half as much again with
/// shorter queues.
const MOST_GAIN: f64 = 2.0;

/// The polynomial of the logarithm of the rate with so many terms, by weighted least squares; `None` where the rows do
/// not determine it.
fn curve(rows: &[(f64, &Stride)], terms: usize) -> Option<[f64; 3]> {
    assert!((1..=3).contains(&terms), "a curve has one to three terms");
    let mut system = [[0.0f64; 4]; 3];
    for (spread, place) in rows {
        let powers = [1.0, *spread, spread * spread];
        debug_assert!(place.error > 0.0, "every rate has an error");
        let weight = place.error.powi(-2);
        for row in 0..terms {
            for column in 0..terms {
                system[row][column] += weight * powers[row] * powers[column];
            }
            system[row][3] += weight * powers[row] * place.log_rate;
        }
    }
    system[2][2] += STRAIGHT;
    // Elimination without exchange: the matrix is positive definite where the rows determine the curve.
    for pivot in 0..terms {
        if system[pivot][pivot].abs() < 1e-9 {
            return None;
        }
        for row in 0..terms {
            if row != pivot {
                let factor = system[row][pivot] / system[pivot][pivot];
                let taken = system[pivot];
                system[row].iter_mut().zip(taken).for_each(|(value, taken)| *value -= factor * taken);
            }
        }
    }
    let mut found = [0.0f64; 3];
    (0..terms).for_each(|term| found[term] = system[term][3] / system[term][term]);
    (terms > 0).then_some(found)
}

/// The part of the visits that falls upon the member that has most of them.
fn busiest(place: &Stride, order: Order, members: u32, chunk: u64) -> f64 {
    let whole = order.turn(members) * chunk;
    let step = common(place.distance, whole);
    assert!(step > 0 && whole.is_multiple_of(step), "whole turns are gone through");
    if whole / step > EXACT {
        return 1.0 / f64::from(members);
    }
    let mut visits = vec![0u32; members as usize];
    let mut all = 0;
    for at in (0..whole).step_by(narrow::<usize>(step)) {
        for piece in at / chunk..=(at + place.size - 1) / chunk {
            visits[narrow::<usize>(order.member(piece, members))] += 1;
            all += 1;
        }
    }
    let busiest = visits.into_iter().max().unwrap_or(0);
    assert!(
        busiest <= all && all <= busiest * members,
        "the busiest has its even part at least, and all at most"
    );
    f64::from(busiest) / f64::from(all.max(1))
}

/// With more places than so many before they come round again, all members are visited alike.
const EXACT: u64 = 2_048;

fn common(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(distance: u64) -> Stride {
        Stride { distance, size: 16 << 10, log_rate: 0.0, error: 0.02, full: false }
    }

    #[test]
    fn multiples_of_a_whole_stripe_lie_on_one_member() {
        let share = |distance, members, chunk| busiest(&place(distance), Order::InTurn, members, chunk);
        for members in 1..=12 {
            assert_eq!(share(u64::from(members) << 18, members, 1 << 18), 1.0, "{members}");
        }
        assert_eq!(share(2 << 16, 4, 1 << 16), 0.5);
        assert!((share(16 << 10, 5, 1 << 16) - 0.2).abs() < 1e-9);
        // RAID 6 of six: in four chunks of data each row begins one member earlier.
        let skipping = |chunks: u64| busiest(&place(chunks << 16), Order::Skipping, 6, 1 << 16);
        assert_eq!((skipping(24), skipping(12), skipping(4)), (1.0, 0.5, 1.0 / 6.0));
    }

    fn plan_distances() -> Vec<u64> {
        let mut all = Vec::new();
        for odd in [1u64, 3, 5, 7, 9, 11, 13, 15, 35, 63] {
            all.extend((14..=20).map(|power| odd << power));
        }
        all.extend([2, 4, 8, 16, 15, 17, 19, 21, 23].map(|mebibytes| mebibytes << 20));
        all
    }

    /// Half of what a member more would bring, as where arms profit from longer queues, and 2 % of noise.
    fn rates(order: Order, members: u32, chunk: u64) -> Vec<Stride> {
        let of = |(number, distance): (usize, u64)| {
            let mut place = place(distance);
            let noise = [0.02, -0.01, 0.0, -0.02, 0.01][number % 5];
            place.log_rate = -0.5 * busiest(&place, order, members, chunk).ln() + noise;
            place
        };
        plan_distances().into_iter().enumerate().map(of).collect()
    }

    #[test]
    fn every_count_and_chunk_is_told_from_rates_that_follow_the_busiest_member() {
        for members in [1u32, 2, 3, 4, 5, 6, 8, 11, 12, 13, 16] {
            for chunk in [16u64, 128, 512].map(|kib| kib << 10) {
                let best = ranked(&[rates(Order::InTurn, members, chunk)])[0];
                assert_eq!((best.members, best.order), (members, Order::InTurn), "chunk {chunk}: {best:?}");
                assert!(members == 1 || best.chunk == chunk, "{members}: {best:?}");
            }
        }
    }

    #[test]
    fn members_with_two_parities_are_told_from_members_without() {
        for members in [5, 7, 8, 9, 12] {
            let best = ranked(&[rates(Order::Skipping, members, 64 << 10)])[0];
            assert_eq!(
                (best.members, best.order, best.chunk),
                (members, Order::Skipping, 64 << 10),
                "{best:?}"
            );
        }
    }

    /// Where a row has 4 or 8 chunks of data, it looks like one chunk as large; the count of members does not suffer.
    #[test]
    fn rows_that_look_like_chunks_are_named_beside_them() {
        for (members, row) in [(6, 4), (10, 8)] {
            let ranked = ranked(&[rates(Order::Skipping, members, 64 << 10)]);
            let names = [ranked[0], ranked[1]].map(|each| (each.members, each.order, each.chunk));
            assert!(names.contains(&(members, Order::InTurn, row * (64 << 10))), "{names:?}");
            assert!(names.contains(&(members, Order::Skipping, 64 << 10)), "{names:?}");
            assert!(ranked[1].misfit < ranked[0].misfit + ALIKE, "{ranked:?}");
        }
    }
}
