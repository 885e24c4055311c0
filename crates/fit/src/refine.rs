//! Has the model answer what the measured array was asked, and corrects each figure by the point that it governs.
//!
//! Closed forms know one part at a time; in the model parts meet, as in the array. A figure is changed by the ratio of
//! measured and modelled answer of its own point, again and again, until nothing moves: the fixed-point iteration is
//! safe because each answer falls as its own figure grows, and depends little on those of other points.

use record::Point;

use crate::front::{FULL, Front};
use crate::model::{Level, Model, Words};
use crate::probe::{Pattern, Probe};
use crate::writes;

/// A point that the model is to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Which of the runs it is from, in the order given.
    pub run: usize,
    /// Its number there.
    pub index: u32,
    /// No more than so many seconds of it are needed, warm-up apart; `None`: all.
    pub seconds: Option<f64>,
}

/// Whoever can run a model: the world that the fit does not know.
pub trait Ask {
    /// The answers of the array that `text` describes to `wanted`, those that could be asked. `whole`: what else is in
    /// their runs is asked too, so that caches are as they were.
    ///
    /// An error in words where the array cannot be built or the points cannot be asked.
    fn ask(&mut self, text: &str, wanted: &[Wanted], whole: bool) -> Result<Vec<(Wanted, Point)>, String>;
}

/// A probe with where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub run: usize,
    pub probe: Probe,
}

/// How often figures are corrected; the best of the rounds is taken.
const ROUNDS: usize = 6;

/// The same for writes, which take long: caches have to fill.
const WRITE_ROUNDS: usize = 7;

/// Of a correction, this part is made: neighbouring depths share members' queues, and would correct the same twice.
const STEP: f64 = 0.7;

/// So far, in logarithms of the depth, does a point speak for its neighbours.
const REACH: f64 = 0.55;

/// Requests that a model answers for one point: a part in a hundred at a deviation as large as the mean.
const REQUESTS: f64 = 12_000.0;

/// Measured and modelled answers side by side.
struct Pair<'p> {
    measured: &'p Probe,
    modelled: Probe,
}

impl Pair<'_> {
    /// Logarithm of the modelled rate over the measured one.
    fn excess(&self) -> f64 {
        (self.modelled.rate / self.measured.rate).ln()
    }
}

/// Corrects what reads cost in `model` by the points of `sources`.
pub(crate) fn refine_reads(
    model: &mut Model,
    front: &Front,
    sources: &[Source],
    ask: &mut dyn Ask,
) -> Result<(), String> {
    let mut best: Option<(f64, Model)> = None;
    for _ in 0..ROUNDS {
        let (members, chunk) = (model.members, model.chunk);
        let governs = |probe: &Probe| governs_reads(probe, members, chunk);
        let pairs = asked(model, sources, ask, &governs, false)?;
        let off = misfit(&pairs);
        if best.as_ref().is_none_or(|(least, _)| off < *least) {
            best = Some((off, model.clone()));
        }
        correct_reads(model, front, &pairs);
    }
    if let Some((_, found)) = best {
        // Streams are no part of what the rounds are compared by, and come nearer with each of them.
        *model = Model { read_on: model.read_on, ..found };
    }
    Ok(())
}

/// Corrects what writes cost, under each level that reads leave open, and keeps the one that explains the writes best;
/// how well each does.
pub(crate) fn refine_writes(
    model: &mut Model,
    sources: &[Source],
    ask: &mut dyn Ask,
) -> Result<Vec<Explained>, String> {
    let behind = |probe: &Probe| !probe.is_read() && is_behind(probe, sources);
    if !sources.iter().any(|source| behind(&source.probe)) {
        return Ok(Vec::new());
    }
    let mut best: Option<(f64, Model)> = None;
    let mut tried = Vec::new();
    for level in open_levels(model) {
        let mut candidate = Model { level, ..model.clone() };
        candidate.begin_writes();
        let rival = best.as_ref().map_or(f64::INFINITY, |(off, _)| *off);
        let off = settle_writes(&mut candidate, sources, ask, &behind, rival)?;
        tried.push(Explained { level, off: off.sqrt() });
        if best.as_ref().is_none_or(|(least, _)| off < LIKELIER * *least) {
            best = Some((off, candidate));
        }
    }
    if let Some((_, found)) = best {
        *model = found;
    }
    Ok(tried)
}

/// How well the writes are explained under a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Explained {
    pub level: Level,
    /// Root of the sum of squares of the logarithms of what is left.
    pub off: f64,
}

/// A level with parity is taken where it leaves this part of the squares that the plainer one leaves, or less.
const LIKELIER: f64 = 0.7;

/// A level that leaves so many times the squares of another after some rounds, or the square of it after the first, is
/// not looked at further.
const HOPELESS: f64 = 16.0;

/// RAID 0 and RAID 5 read alike.
fn open_levels(model: &Model) -> Vec<Level> {
    match model.level {
        Level::Raid0 if model.members > 2 => vec![Level::Raid0, Level::Raid5],
        level => vec![level],
    }
}

/// Corrects what writes cost; the squares that are left. It ends early where nothing moves any more, or where a `rival`
/// is nearer by so much that it will not be reached.
fn settle_writes(
    model: &mut Model,
    sources: &[Source],
    ask: &mut dyn Ask,
    behind: &dyn Fn(&Probe) -> bool,
    rival: f64,
) -> Result<f64, String> {
    let mut best: Option<(f64, Model)> = None;
    let mut idle = 0;
    for round in 0..WRITE_ROUNDS {
        let pairs = asked(model, sources, ask, behind, true)?;
        let off = lasting(&pairs, model).misfit();
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        idle = if off < 0.9 * least { 0 } else { idle + 1 };
        if best.as_ref().is_none_or(|(least, _)| off < *least) {
            best = Some((off, model.clone()));
        }
        let hopeless = if round >= 3 { HOPELESS } else { HOPELESS * HOPELESS };
        if idle >= 2 || (round >= 1 && off.min(least) > hopeless * rival) {
            break;
        }
        correct_writes(model, &pairs);
    }
    let (off, found) = best.unwrap_or((f64::INFINITY, model.clone()));
    *model = found;
    Ok(off)
}

/// Root mean square of the logarithms of the ratios at places all over the target, as far as members give more with
/// more in flight.
fn misfit(pairs: &[Pair<'_>]) -> f64 {
    let everywhere = || pairs.iter().filter(|pair| pair.measured.is_everywhere());
    let smallest = everywhere().map(|pair| pair.measured.size).fold(f64::INFINITY, f64::min);
    let deepest = deepest(pairs, smallest);
    let rising = everywhere().filter(|pair| pair.measured.depth <= deepest);
    let squares: Vec<f64> = rising.map(|pair| pair.excess().powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

/// Whether writes got slower than what a cache takes at most, so that they tell of what is behind it.
fn is_behind(probe: &Probe, sources: &[Source]) -> bool {
    let hot =
        sources.iter().map(|source| &source.probe).filter(|probe| probe.is_write() && !probe.is_everywhere());
    let (mut most, mut bytes) = (f64::INFINITY, f64::INFINITY);
    for one in hot {
        most = if most.is_finite() { most.max(one.rate) } else { one.rate };
        bytes = if bytes.is_finite() { bytes.max(one.bytes_per_s()) } else { one.bytes_per_s() };
    }
    probe.rate < FULL * most && probe.bytes_per_s() < FULL * bytes
}

/// Cold reads, streams, and reads that one member has to answer alone.
fn governs_reads(probe: &Probe, members: u32, chunk: u64) -> bool {
    let stream = probe.pattern == Pattern::Sequential && probe.region.is_none();
    // What is larger alone tells one geometry from another.
    let everywhere = probe.is_everywhere() && probe.size != 16_384.0 && probe.size <= GOVERNING;
    probe.is_read() && (everywhere || stream || is_on_one(probe, members, chunk))
}

/// Bytes of the largest requests by which figures are corrected.
const GOVERNING: f64 = 262_144.0;

/// Whether every request of a probe goes to the same member; a few of the many distances at which they do.
pub(crate) fn is_on_one(probe: &Probe, members: u32, chunk: u64) -> bool {
    let stripe = chunk * u64::from(members);
    let same = probe.align.is_multiple_of(stripe) && probe.align <= stripe * 4;
    probe.pattern == Pattern::Random
        && probe.region.is_none()
        && !probe.is_everywhere()
        && same
        && members > 1
}

fn asked<'p>(
    model: &Model,
    sources: &'p [Source],
    ask: &mut dyn Ask,
    of: &dyn Fn(&Probe) -> bool,
    writes: bool,
) -> Result<Vec<Pair<'p>>, String> {
    let chosen: Vec<&Source> = sources.iter().filter(|source| of(&source.probe)).collect();
    let wanted: Vec<Wanted> = chosen
        .iter()
        .map(|source| Wanted {
            run: source.run,
            index: source.probe.index,
            seconds: (!writes).then_some(REQUESTS / source.probe.rate),
        })
        .collect();
    let answers = ask.ask(&model.text(&Words::new()), &wanted, writes)?;
    let find = |wanted: &Wanted| {
        let same = |source: &&&Source| source.run == wanted.run && source.probe.index == wanted.index;
        chosen.iter().find(same).map(|source| &source.probe)
    };
    let pair = |(wanted, point): &(Wanted, Point)| {
        Some(Pair { measured: find(wanted)?, modelled: Probe::of(point)? })
    };
    Ok(answers.iter().filter_map(pair).collect())
}

fn correct_reads(model: &mut Model, front: &Front, pairs: &[Pair<'_>]) {
    let free = |pair: &&Pair<'_>| {
        pair.measured.rate < FULL * front.most.map_or(f64::INFINITY, |most| most.value)
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

fn correct_bytes(model: &mut Model, smallest: f64, pairs: &[Pair<'_>], free: &dyn Fn(&Pair<'_>) -> bool) {
    let large = |alone: bool| {
        pairs
            .iter()
            .filter(move |pair| pair.measured.is_everywhere() && pair.measured.size > smallest)
            .filter(move |pair| (pair.measured.depth == 1.0) == alone)
            .filter(|pair| free(pair))
            .max_by(|one, two| one.measured.size.total_cmp(&two.measured.size))
    };
    match model.servers {
        1 => correct_passing(model, smallest, pairs, free),
        _ => {
            if let Some(pair) = large(true) {
                let pieces = (pair.measured.size / model.chunk as f64).max(1.0).min(f64::from(model.members));
                let late = pair.measured.response_ns - pair.modelled.response_ns;
                let each = 1e9 / model.read.rate + late / (pair.measured.size / pieces);
                model.read.rate = (1e9 / each.max(0.001)).clamp(model.read.rate / 2.0, model.read.rate * 2.0);
            }
        }
    }
    let on_one = || {
        let random = pairs.iter().filter(|pair| pair.measured.pattern == Pattern::Random);
        random.filter(|pair| !pair.measured.is_everywhere() && free(pair))
    };
    // The larger the requests, the more of their time is their bytes.
    let largest = on_one().map(|pair| pair.measured.size).fold(0.0, f64::max);
    let excesses: Vec<f64> =
        on_one().filter(|pair| pair.measured.size == largest).map(Pair::excess).collect();
    let excess = match (excesses.is_empty(), large(false)) {
        (false, _) => excesses.iter().sum::<f64>() / excesses.len() as f64,
        (true, Some(pair)) => pair.excess(),
        (true, None) => return,
    };
    if model.servers > 1 {
        model.member_link = (model.member_link * (-excess).exp().clamp(0.5, 1.5)).clamp(1e6, 1e12);
    }
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

/// Time and rate of a member's write together, from small writes and large ones in the long run: of both it is known
/// how long a member is busy with one in the model, and by which factor that is wrong.
fn correct_writes(model: &mut Model, pairs: &[Pair<'_>]) {
    let excess = lasting(pairs, model);
    if let (Some(room), Some(cache)) = (excess.room, &mut model.cache)
        && let Some(part) = &mut cache.write_part
    {
        *part = (*part * room).clamp(0.001, 1.0);
    }
    // A cache keeps account of hundred-and-twenty-eighths of what it gathers, and writes no less.
    let little = (model.gathered() / 128.0).max(4096.0);
    let pieces = (excess.size / model.chunk as f64).clamp(1.0, f64::from(model.data()));
    let much = (excess.size / pieces).max(little * 2.0);
    let before = model.write.times[0].1;
    let busy = |bytes: f64| before + bytes / model.write.rate * 1e9;
    let corrected =
        |bytes: f64, excess: Option<f64>| busy(bytes) * excess.unwrap_or(0.0).clamp(-1.0, 1.0).exp();
    let (short, long) = (corrected(little, excess.small), corrected(much, excess.large));
    let each = ((long - short) / (much - little)).max(1e-3);
    let time = match excess.small {
        Some(_) => (short - each * little).max(0.02 * short),
        None => before,
    };
    model.write.times.iter_mut().for_each(|(_, each)| *each *= time / before);
    model.write.rate = (1e9 / each).clamp(1e6, 1e12);
    if let Some(on) = excess.on {
        model.write_on = (model.write_on * (-on * STEP).clamp(-1.0, 1.0).exp()).clamp(1e6, 1e12);
    }
    correct_beside(model, &excess);
}

/// What reads wait for beside writes, and what the members' buffers take.
fn correct_beside(model: &mut Model, excess: &Lasting) {
    match (model.dies, excess.late_ns, excess.waits) {
        (0, Some(late), _) => model.beside = (model.beside - late).max(0.0),
        (_, _, Some(waits)) => {
            model.program = (model.program * (-waits).clamp(-1.5, 1.5).exp()).clamp(1e3, LONGEST_PROGRAM_NS);
        }
        _ => {}
    }
    if let (Some(left), true) = (excess.left, model.dies > 0) {
        let each = left / f64::from(model.members);
        model.buffer = (model.buffer as f64 + each).clamp(0.0, LARGEST_BUFFER) as u64;
    }
    if let Some(crowd) = excess.crowd {
        spread_over(model, (f64::from(model.dies) * (crowd * CROWDED).clamp(-0.7, 0.7).exp()).round());
    }
}

/// Gives a member so many dies, that together do as much as those it had.
fn spread_over(model: &mut Model, dies: f64) {
    let dies = dies.clamp(FEWEST_DIES, MOST_DIES);
    let more = dies / f64::from(model.dies);
    model.dies = dies as u32;
    model.write.times.iter_mut().for_each(|(_, ns)| *ns *= more);
    model.write.rate /= more;
    model.write_on /= more;
}

/// What reads of one die wait for each other is a part of what they wait: the dies are as many times more.
const CROWDED: f64 = 1.5;

/// Dies of a drive that are believed.
const FEWEST_DIES: f64 = 2.0;
const MOST_DIES: f64 = 1024.0;

/// Bytes of a drive's buffer that are believed.
const LARGEST_BUFFER: f64 = 16.0 * 1024.0 * 1024.0 * 1024.0;

/// No die is at one thing for longer: to erase a block takes some ten milliseconds.
const LONGEST_PROGRAM_NS: f64 = 1e8;

/// Logarithms of modelled over measured rates of writes in the long run, and measured over modelled room.
struct Lasting {
    small: Option<f64>,
    large: Option<f64>,
    room: Option<f64>,
    /// Bytes of a burst that the members' buffers take as measured and not yet in the model, and the logarithm of what
    /// is taken in all, modelled over measured; `None` where the burst tells of the cache.
    left: Option<f64>,
    taken: Option<f64>,
    /// Of writes that go on.
    on: Option<f64>,
    /// Of all requests where reads and writes are mixed: the root mean square.
    mixed: Option<f64>,
    /// Of what reads wait longer there than without writes: where the fewest reads are in flight, or the mean.
    waits: Option<f64>,
    /// How much more it is where the most are in flight.
    crowd: Option<f64>,
    /// How many nanoseconds later reads end there in the model than as measured: the mean.
    late_ns: Option<f64>,
    /// Bytes of a large write.
    size: f64,
}

impl Lasting {
    fn misfit(&self) -> f64 {
        let all = [self.small, self.large, self.room.map(f64::ln), self.taken, self.mixed, self.waits];
        all.into_iter().flatten().map(|excess| excess * excess).sum()
    }
}

/// Logarithm of how much longer reads wait beside writes in the model than as measured.
fn waits(pair: &Pair<'_>, quiet_ns: f64) -> Option<f64> {
    let wait = |probe: &Probe| Some((probe.read_ns? - quiet_ns).max(0.05 * quiet_ns));
    Some((wait(&pair.modelled)? / wait(pair.measured)?).ln())
}

fn lasting(pairs: &[Pair<'_>], model: &Model) -> Lasting {
    let stripe = model.stripe();
    let everywhere = |pair: &&Pair<'_>| pair.measured.is_write() && pair.measured.is_everywhere();
    let is_large = |pair: &Pair<'_>| pair.measured.size >= 262_144.0;
    let small = pairs.iter().filter(everywhere).find(|pair| !is_large(pair));
    let on =
        pairs.iter().find(|pair| pair.measured.is_write() && pair.measured.pattern == Pattern::Sequential);
    let mixed = mixed(pairs, model);
    let late: Vec<f64> =
        mixed.iter().filter_map(|pair| Some(pair.modelled.read_ns? - pair.measured.read_ns?)).collect();
    let mean = |all: &[f64]| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    let squares: Vec<f64> = mixed.iter().map(|pair| pair.excess().powi(2)).collect();
    let (waits, crowd) = waiting(&mixed, model);
    let mark = pairs.iter().find_map(marked).filter(|_| model.dies > 0);
    let mut found = Lasting {
        small: small.map(Pair::excess),
        large: None,
        room: mark.or_else(|| small.and_then(filled)),
        left: None,
        taken: None,
        on: on.map(Pair::excess),
        mixed: mean(&squares).map(f64::sqrt),
        waits,
        crowd,
        late_ns: mean(&late),
        size: 1_048_576.0,
    };
    let Some(burst) = pairs.iter().filter(everywhere).find(|pair| is_large(pair)) else { return found };
    found.size = burst.measured.size;
    let both = writes::fit_burst(burst.measured, stripe).zip(writes::fit_burst(&burst.modelled, stripe));
    let Some((measured, modelled)) = both else {
        found.large = Some(burst.excess());
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

/// Reads beside writes; of flash those with the fewest reads among the writes, of arms the others.
///
/// A cache that writes out now and then answers now as if nothing were written and now as if all were: the mean of both
/// says most of which of them fell into the window. The more of the requests write, the surer it writes out all along.
/// Arms fall behind with every mix, and where most requests write they are asked for more than they go on choosing from.
fn mixed<'a, 'p>(pairs: &'a [Pair<'p>], model: &Model) -> Vec<&'a Pair<'p>> {
    let few = |pair: &&Pair<'_>| pair.measured.reads < FEW_READS;
    let all = || pairs.iter().filter(|pair| pair.measured.is_mixed() && pair.measured.warmup > 0.0);
    let some = if model.dies > 0 { all().any(|pair| few(&pair)) } else { all().all(|pair| few(&pair)) };
    all().filter(|pair| few(pair) == some).collect()
}

/// With a smaller part of reads a cache is full all along.
const FEW_READS: f64 = 0.35;

/// Of what reads wait beside writes that dies are put on: the excess where the fewest reads are in flight, and how much
/// more it is where the most are.
fn waiting(mixed: &[&Pair<'_>], model: &Model) -> (Option<f64>, Option<f64>) {
    if model.dies == 0 {
        return (None, None);
    }
    let reading =
        |pair: &Pair<'_>| pair.measured.read_ns.unwrap_or(0.0) * pair.measured.rate * pair.measured.reads;
    let mut waits: Vec<(f64, f64)> =
        mixed.iter().filter_map(|pair| Some((reading(pair), waits(pair, model.quiet_ns())?))).collect();
    waits.sort_by(|one, two| one.0.total_cmp(&two.0));
    match (waits.first(), waits.last()) {
        (Some(few), Some(many)) if many.0 > CROWD * few.0 => {
            // As long as the wait for one is not known, that for several says nothing.
            (Some(few.1), Some(many.1 - few.1).filter(|_| few.1.abs() < 0.2))
        }
        (Some(_), _) => (Some(waits.iter().map(|wait| wait.1).sum::<f64>() / waits.len() as f64), None),
        _ => (None, None),
    }
}

/// So many times more reads in flight wait for each other noticeably more.
const CROWD: f64 = 1.5;

/// Measured over modelled bytes that are written from an empty cache on until it writes out. What the model has
/// written by the end counts where it does not get there.
fn marked(pair: &Pair<'_>) -> Option<f64> {
    let measured = writes::mark(pair.measured)?;
    let all = pair.modelled.rate * (1.0 - pair.modelled.reads) * pair.modelled.size * pair.modelled.seconds;
    let ratio = measured / writes::mark(&pair.modelled).unwrap_or(all).max(1.0);
    Some(if ratio.ln().abs() < SAME { 1.0 } else { ratio })
}

/// A second of the course is not cut more finely: what is nearer is the same.
const SAME: f64 = 0.025;

/// Measured over modelled bytes that small writes come to before they wait.
///
/// They leave slowly, so that what they came to is what the cache took; of large ones as much may have left meanwhile.
fn filled(pair: &Pair<'_>) -> Option<f64> {
    let room = |probe: &Probe| Some(writes::fit_burst(probe, 0.0)?.room.value);
    Some(room(pair.measured)? / room(&pair.modelled)?)
}

/// The rate of the model at every point.
pub(crate) fn check(
    model: &Model,
    words: &Words,
    sources: &[Source],
    ask: &mut dyn Ask,
) -> Result<Vec<(Wanted, f64)>, String> {
    let wanted: Vec<Wanted> = sources
        .iter()
        .map(|Source { run, probe }| Wanted {
            run: *run,
            index: probe.index,
            seconds: (probe.is_read() || !is_behind(probe, sources)).then_some(2.0 * REQUESTS / probe.rate),
        })
        .collect();
    let answers = ask.ask(&model.text(words), &wanted, true)?;
    Ok(answers.iter().filter_map(|(wanted, point)| Some((*wanted, Probe::of(point)?.rate))).collect())
}
