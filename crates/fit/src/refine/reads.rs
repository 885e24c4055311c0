//! Figures of reads, each corrected by the points that it governs.

use crate::front::{FULL, Front};
use crate::members::has_wire;
use crate::model::{Dies, Model};
use crate::probe::Pattern;
use crate::refine::{Pair, STEP};

/// Corrects every figure of reads once.
pub(super) fn correct_reads(model: &mut Model, front: &Front, pairs: &[Pair<'_>]) {
    let free = |pair: &&Pair<'_>| {
        pair.measured.rate < FULL * front.most.seen().map_or(f64::INFINITY, |most| most.value)
            && pair.measured.bytes_per_s() < FULL * front.link.value
    };
    let random = |pair: &&Pair<'_>| pair.measured.is_everywhere();
    let smallest = pairs.iter().filter(random).map(|pair| pair.measured.size).fold(f64::INFINITY, f64::min);
    let deepest = deepest(pairs, smallest);
    let mut curve: Vec<(f64, f64, f64)> = pairs
        .iter()
        .filter(random)
        .filter(free)
        .filter(|pair| pair.measured.size == smallest && pair.measured.depth <= deepest)
        .map(|pair| (pair.measured.depth.ln(), pair.excess(), pair.modelled.response_ns))
        .collect();
    curve.sort_by(|one, two| one.0.total_cmp(&two.0));
    correct_times(model, &curve);
    keep_rising(model);
    correct_bytes(model, smallest, pairs, &|pair| free(&pair));
    if has_wire(model.servers, model.members, front) {
        correct_wire(model, smallest, pairs, &|pair| free(&pair));
    }
    let stream = pairs
        .iter()
        .filter(|pair| pair.measured.pattern == Pattern::Sequential)
        .filter(free)
        .max_by(|one, two| one.measured.bytes_per_s().total_cmp(&two.measured.bytes_per_s()));
    if let Some(pair) = stream {
        let factor = (-pair.excess()).exp().clamp(0.5, 2.0);
        // Where something else holds the model's stream up, no rate of its members makes it faster.
        let most = PASSING * pair.measured.bytes_per_s() / f64::from(model.data());
        model.read_on = (model.read_on * factor).min(most.max(model.read_on)).max(1e6);
    }
}

/// The depth from which on more in flight brings less.
///
/// A drive that has commands wait long stops choosing the nearest, and gives less with more of them. That depends on
/// how long they wait, not on how many they are: as a table of counts it would have one member fill up and the others
/// run dry.
fn deepest(pairs: &[Pair<'_>], smallest: f64) -> f64 {
    let curve = pairs
        .iter()
        .map(|pair| pair.measured)
        .filter(|probe| probe.is_everywhere() && probe.size == smallest);
    let most = curve.max_by(|one, two| one.rate.total_cmp(&two.rate));
    most.map_or(f64::INFINITY, |most| most.depth)
}

/// Has no member give less with more commands.
fn keep_rising(model: &mut Model) {
    let at_work = |count: u32| f64::from(count.min(model.servers));
    let times = &mut model.read.times;
    for later in 1..times.len() {
        let (fewer, before) = times[later - 1];
        let most = before * at_work(times[later].0) / at_work(fewer);
        times[later].1 = times[later].1.min(most);
    }
    debug_assert!(
        times
            .windows(2)
            .all(|pair| { pair[1].1 * at_work(pair[0].0) <= pair[0].1 * at_work(pair[1].0) * (1.0 + 1e-9) }),
        "more at once are served no slower together: {times:?}"
    );
}

/// Each access time by the rate at as many requests as put so many on each member.
fn correct_times(model: &mut Model, curve: &[(f64, f64, f64)]) {
    let way = model.read_command + 2.0 * model.latency;
    for (count, time) in &mut model.read.times {
        let depth = if *count == 1 { 0.0 } else { (f64::from(*count) * f64::from(model.members)).ln() };
        let near = |point: &(f64, f64, f64)| (-((point.0 - depth) / REACH).powi(2) / 2.0).exp();
        let weight: f64 = curve.iter().map(near).sum();
        if weight < 0.05 {
            continue;
        }
        let excess = curve.iter().map(|point| near(point) * point.1).sum::<f64>() / weight;
        // Of a short access the way there is a large part, which does not change with it.
        let whole = (1.0 + way / *time).min(3.0);
        *time = (*time * (STEP * excess * whole).clamp(-0.7, 0.7).exp()).max(1.0);
    }
}

/// What a byte costs one command of a member.
fn correct_bytes(model: &mut Model, smallest: f64, pairs: &[Pair<'_>], free: &dyn Fn(&Pair<'_>) -> bool) {
    if model.dies == Dies::Arm {
        return correct_passing(model, smallest, pairs, free);
    }
    // More than a piece is the work of several dies at once: what it takes longer is the way's, and shows there.
    let alone = pairs.iter().filter(|pair| pair.measured.is_everywhere() && pair.measured.depth == 1.0);
    let more = alone.filter(|pair| pair.measured.size > smallest && free(pair));
    let Some(pair) = more.min_by(|one, two| one.measured.size.total_cmp(&two.measured.size)) else { return };
    let late = pair.measured.response_ns - pair.modelled.response_ns;
    let moved = pair.measured.size.min(model.piece as f64) - smallest;
    let each = 1e9 / model.read.rate + late / moved.max(smallest);
    model.read.rate = (1e9 / each.max(0.001)).clamp(model.read.rate / 2.0, model.read.rate * 2.0);
}

/// What all commands of a member together move, by the reads that one member has to answer alone; by large ones all
/// over the target where there are none.
fn correct_wire(model: &mut Model, smallest: f64, pairs: &[Pair<'_>], free: &dyn Fn(&Pair<'_>) -> bool) {
    let on_one = || {
        let random = pairs.iter().filter(|pair| pair.measured.pattern == Pattern::Random);
        random.filter(|pair| !pair.measured.is_everywhere() && free(pair))
    };
    // The larger the requests, the more of their time is their bytes.
    let most = on_one().map(|pair| pair.measured.size).fold(0.0, f64::max);
    let excesses: Vec<f64> = on_one().filter(|pair| pair.measured.size == most).map(Pair::excess).collect();
    let beside = pairs.iter().filter(|pair| pair.measured.is_everywhere() && pair.measured.depth > 1.0);
    let large = beside.filter(|pair| pair.measured.size > smallest && free(pair));
    let large = large.max_by(|one, two| one.measured.size.total_cmp(&two.measured.size));
    let excess = match (excesses.is_empty(), large) {
        (false, _) => excesses.iter().sum::<f64>() / excesses.len() as f64,
        (true, Some(pair)) => pair.excess(),
        (true, None) => return,
    };
    model.member_link = (model.member_link * (-excess).exp().clamp(0.5, 1.5)).clamp(1e6, 1e12);
}

/// How fast bytes pass below a head: by how much longer members are busy with larger requests than with small ones.
///
/// Requests that lie on one member alone. A stream says how fast they pass too, as far as nothing else holds it up: it
/// is believed within a factor.
fn correct_passing(model: &mut Model, smallest: f64, pairs: &[Pair<'_>], free: &dyn Fn(&Pair<'_>) -> bool) {
    let busy = || {
        let deep = pairs.iter().filter(|pair| pair.measured.is_everywhere() && pair.measured.depth > 1.0);
        deep.filter(|pair| pair.measured.size <= model.chunk as f64 && free(pair))
    };
    let largest = busy().max_by(|one, two| one.measured.size.total_cmp(&two.measured.size));
    let Some(large) = largest.filter(|large| large.measured.size > smallest) else {
        model.read.rate = model.read_on;
        return;
    };
    let beside =
        |pair: &&Pair<'_>| pair.measured.size == smallest && pair.measured.depth == large.measured.depth;
    let Some(small) = busy().find(beside) else { return };
    let late = |pair: &Pair<'_>| {
        f64::from(model.members) * 1e9 * (pair.measured.rate.recip() - pair.modelled.rate.recip())
    };
    let each = 1e9 / model.read.rate + STEP * (late(large) - late(small)) / (large.measured.size - smallest);
    model.read.rate = (1e9 / each.max(0.001)).clamp(model.read_on / PASSING, model.read_on * PASSING);
}

/// So many times faster or slower than a stream, or its part of one, may bytes pass.
const PASSING: f64 = 2.0;

/// So far, in logarithms of the depth, does a point speak for its neighbours.
const REACH: f64 = 0.55;

/// Root mean square of the logarithms of the ratios at places all over the target, as far as members give more with
/// more in flight.
pub(super) fn misfit(pairs: &[Pair<'_>]) -> f64 {
    let everywhere = || pairs.iter().filter(|pair| pair.measured.is_everywhere());
    let smallest = everywhere().map(|pair| pair.measured.size).fold(f64::INFINITY, f64::min);
    let deepest = deepest(pairs, smallest);
    let rising = everywhere().filter(|pair| pair.measured.depth <= deepest);
    let squares: Vec<f64> = rising.map(|pair| pair.excess().powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}
