//! What writes say in the long run, measured and modelled side by side.

use crate::model::{Dies, Model};
use crate::probe::{Pattern, Probe};
use crate::refine::Pair;
use crate::writes;

/// Logarithms of modelled over measured, where nothing else is said; `None` where the points do not show it.
pub(super) struct Lasting {
    /// Of small writes.
    pub small: Option<f64>,
    /// Nanoseconds from one of them to the next as measured.
    pub small_ns: f64,
    /// Of writes of 256 KiB and more.
    pub large: Option<f64>,
    /// Of the bytes that a cache takes of them, measured over modelled; no logarithm.
    pub room: Option<f64>,
    /// Logarithm of modelled over measured bytes that small writes come to, where something else tells the room: what
    /// a cache keeps of small writes is larger than they are where it keeps account of larger pieces.
    pub fill: Option<f64>,
    /// Bytes of a burst that the members' buffers take as measured and not yet in the model, and the logarithm of what
    /// is taken in all, modelled over measured; `None` where the burst tells of the cache.
    pub left: Option<f64>,
    pub taken: Option<f64>,
    /// Of writes that go on.
    pub on: Option<f64>,
    /// Of all requests where reads and writes are mixed: the root mean square.
    pub mixed: Option<f64>,
    /// Of what reads wait longer there than without writes: where the fewest reads are in flight, or the mean.
    pub waits: Option<f64>,
    /// Of what a read waits there that waits at all.
    pub once: Option<f64>,
    /// How much more it is where the most are in flight.
    pub crowd: Option<f64>,
    /// How many nanoseconds later reads end there in the model than as measured: the mean.
    pub late_ns: Option<f64>,
    /// How many of these the measured points show and the model's do not.
    pub unshown: u32,
    /// Bytes of a large write.
    pub size: f64,
}

impl Lasting {
    /// Sum of the squares of what is left.
    ///
    /// Of two models the one that does not show what the array shows would else have less left, for want of it.
    pub fn misfit(&self) -> f64 {
        let room = self.room.map(f64::ln);
        let all = [self.small, self.large, room, self.taken, self.mixed, self.waits, self.crowd];
        let left: f64 = all.into_iter().flatten().map(|excess| excess * excess).sum();
        left + f64::from(self.unshown) * UNSHOWN * UNSHOWN
    }

    /// The same of what no figure is corrected by, so that it speaks for a level or against it.
    pub fn unexplained(&self) -> f64 {
        self.fill.map_or(0.0, |fill| fill * fill)
    }
}

/// What the model does not show at all is off as if by so much: a half.
const UNSHOWN: f64 = 0.5;

/// Logarithm of how much longer reads wait beside writes in the model than as measured.
fn waits(pair: &Pair<'_>, quiet_ns: f64) -> Option<f64> {
    let wait = |probe: &Probe| Some((probe.read_ns? - quiet_ns).max(0.05 * quiet_ns));
    Some((wait(&pair.modelled)? / wait(pair.measured)?).ln())
}

/// What `pairs` say.
pub(super) fn lasting(pairs: &[Pair<'_>], model: &Model) -> Lasting {
    let stripe = model.stripe();
    let everywhere = |pair: &&Pair<'_>| pair.measured.is_write() && pair.measured.is_everywhere();
    let is_large = |pair: &Pair<'_>| pair.measured.size >= 262_144.0;
    let small = pairs.iter().filter(everywhere).find(|pair| !is_large(pair));
    let on =
        pairs.iter().find(|pair| pair.measured.is_write() && pair.measured.pattern == Pattern::Sequential);
    let (mixed, by_turns) = beside(pairs, model);
    let late: Vec<f64> =
        mixed.iter().filter_map(|pair| Some(pair.modelled.read_ns? - pair.measured.read_ns?)).collect();
    let squares: Vec<f64> = mixed.iter().map(|pair| pair.excess().powi(2)).collect();
    let (waits, crowd) = waiting(&mixed, &by_turns, model);
    let mark = pairs.iter().find_map(marked).filter(|_| model.dies != Dies::Arm);
    let mut found = Lasting {
        small: small.map(Pair::excess),
        small_ns: small.map_or(0.0, |pair| 1e9 / pair.measured.rate),
        large: None,
        room: room(mark, small),
        fill: mark.and_then(|_| Some(-small.and_then(filled)?.ln())),
        left: None,
        taken: None,
        on: on.map(Pair::excess),
        mixed: mean(&squares).map(f64::sqrt),
        waits,
        once: once(&mixed, model),
        crowd,
        late_ns: mean(&late),
        unshown: u32::from(crowd.is_none() && by_turns.iter().any(|pair| is_shown_by_the_array_alone(pair))),
        size: 1_048_576.0,
    };
    let Some(burst) = pairs.iter().filter(everywhere).find(|pair| is_large(pair)) else { return found };
    found.size = burst.measured.size;
    let measured = writes::fit_burst(burst.measured, stripe);
    let both = measured.zip(writes::fit_burst(&burst.modelled, stripe));
    let Some((measured, modelled)) = both else {
        found.large = Some(burst.excess());
        found.unshown += u32::from(measured.is_some());
        return found;
    };
    found.large = Some((modelled.after / measured.after).ln());
    let (was, is) = (measured.room.value, modelled.room.value);
    match mark {
        Some(_) => (found.left, found.taken) = (Some(was - is), Some((is / was).ln())),
        None => found.room = found.room.or(Some(was / is)),
    }
    found
}

/// Whether a load reads and writes side by side, and not from empty caches on.
pub(super) fn is_beside(probe: &Probe) -> bool {
    probe.is_mixed() && probe.warmup > 0.0
}

/// Whether a load reads so little that a cache is full all along.
pub(super) fn has_few_reads(probe: &Probe) -> bool {
    probe.reads < FEW_READS
}

/// With a smaller part of reads a cache is full all along.
const FEW_READS: f64 = 0.35;

/// Loads that read beside writes: those whose means tell, and of flash those with more reads, where a cache writes out
/// by turns.
fn beside<'a, 'p>(pairs: &'a [Pair<'p>], model: &Model) -> (Vec<&'a Pair<'p>>, Vec<&'a Pair<'p>>) {
    let all = || pairs.iter().filter(|pair| is_beside(pair.measured));
    let apart = model.dies != Dies::Arm && all().any(|pair| has_few_reads(pair.measured));
    all().partition(|pair| !apart || has_few_reads(pair.measured))
}

/// Of what reads wait beside writes that dies are put on: the excess where the fewest reads are in flight, and how much
/// more it is where the most are.
///
/// What most requests write keeps the cache full, but leaves few reads in flight. With more of them the cache writes
/// out by turns, and as all that is in flight then waits to be read, the rate is as much less as the wait is more.
fn waiting(mixed: &[&Pair<'_>], by_turns: &[&Pair<'_>], model: &Model) -> (Option<f64>, Option<f64>) {
    if model.dies == Dies::Arm {
        return (None, None);
    }
    let reading =
        |pair: &Pair<'_>| pair.measured.read_ns.unwrap_or(0.0) * pair.measured.rate * pair.measured.reads;
    let mut waits: Vec<(f64, f64)> =
        mixed.iter().filter_map(|pair| Some((reading(pair), waits(pair, model.quiet_ns())?))).collect();
    waits.sort_by(|one, two| one.0.total_cmp(&two.0));
    let (Some(few), Some(many)) = (waits.first(), waits.last()) else { return (None, None) };
    let is_many = |pair: &&Pair<'_>| pair.measured.depth * pair.measured.reads > CROWD * few.0 / 1e9;
    let slower: Vec<f64> =
        by_turns.iter().copied().filter(is_many).filter_map(slower_while_it_writes_out).collect();
    if many.0 > CROWD * few.0 {
        return (Some(few.1), Some(many.1 - few.1));
    }
    let alike = mean(&waits.iter().map(|wait| wait.1).collect::<Vec<_>>());
    (alike, mean(&slower))
}

/// Of what a read waits for one die: the median of those that wait, where the fewest reads are in flight.
fn once(mixed: &[&Pair<'_>], model: &Model) -> Option<f64> {
    let few = |pair: &&&Pair<'_>| pair.measured.reads * pair.measured.depth;
    let pair = mixed.iter().min_by(|one, two| few(one).total_cmp(&few(two)))?;
    let wait = |probe: &Probe| writes::wait(probe, model.quiet_ns()).filter(|wait| *wait > 0.0);
    Some((wait(&pair.modelled)? / wait(pair.measured)?).ln()).filter(|_| model.dies != Dies::Arm)
}

/// Logarithm of how much slower the model is than the array while a cache writes out.
fn slower_while_it_writes_out(pair: &Pair<'_>) -> Option<f64> {
    let slow = writes::while_it_writes_out;
    Some((slow(pair.measured)? / slow(&pair.modelled)?).ln())
}

/// Whether the array writes out by turns under a load, and the model does not.
fn is_shown_by_the_array_alone(pair: &Pair<'_>) -> bool {
    writes::while_it_writes_out(pair.measured).is_some()
        && writes::while_it_writes_out(&pair.modelled).is_none()
}

fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// So many times more reads in flight wait for each other noticeably more.
const CROWD: f64 = 1.5;

/// Measured over modelled bytes that are written from an empty cache on until it writes out. What the model has
/// written by the end counts where it does not get there.
fn marked(pair: &Pair<'_>) -> Option<f64> {
    let measured = writes::mark(pair.measured)?.bytes;
    let all = pair.modelled.rate * (1.0 - pair.modelled.reads) * pair.modelled.size * pair.modelled.seconds;
    let ratio = measured / writes::mark(&pair.modelled).map_or(all, |mark| mark.bytes).max(1.0);
    Some(if ratio.ln().abs() < SAME { 1.0 } else { ratio })
}

/// A second of the course is not cut more finely: what is nearer is the same.
const SAME: f64 = 0.025;

/// Measured over modelled bytes that a cache takes: by when it began to write out, or else by what `small` writes come to.
///
/// Caches begin to write out what is old by a clock too, and do so at the same moment then whatever their room is. Small
/// writes tell it where next to nothing of them leaves.
fn room(mark: Option<f64>, small: Option<&Pair<'_>>) -> Option<f64> {
    match mark {
        None => small.and_then(filled),
        Some(1.0) => small.filter(|small| hardly_leaves(small.measured)).and_then(filled).or(mark),
        Some(_) => mark,
    }
}

/// Whether so little leaves a cache of what is written that what it came to is what the cache took.
fn hardly_leaves(probe: &Probe) -> bool {
    let most = probe.course.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    probe.bytes_per_s() < HARDLY * most
}

/// Of small writes that leave at this part of the rate at which they came.
const HARDLY: f64 = 0.1;

/// Measured over modelled bytes that small writes come to before they wait.
///
/// They leave slowly, so that what they came to is what the cache took; of large ones as much may have left meanwhile.
fn filled(pair: &Pair<'_>) -> Option<f64> {
    let room = |probe: &Probe| Some(writes::fit_burst(probe, 0.0)?.room.value);
    Some(room(pair.measured)? / room(&pair.modelled)?)
}
