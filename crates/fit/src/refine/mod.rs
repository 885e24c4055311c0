//! Has the model answer what the measured array was asked, and corrects each figure by the point that it governs.
//!
//! Closed forms know one part at a time; in the model parts meet, as in the array. A figure is changed by the ratio of
//! measured and modelled answer of its own point, again and again, until nothing moves: the fixed-point iteration is
//! safe because each answer falls as its own figure grows, and depends little on those of other points.

mod figures;
mod lasting;
mod reads;

use record::{Point, Run};

use crate::front::{FULL, Front};
use crate::model::{Dies, Level, Model, Words};
use crate::probe::{Pattern, Probe};
use crate::writes;
pub(crate) use figures::AT_ONCE_NS;
use figures::correct_writes;
use lasting::{has_few_reads, is_beside, lasting};
use reads::{correct_reads, misfit};

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

/// `wanted` with its answers, asked run by run: `ask` gets a run and what is wanted of it, and may leave points out.
///
/// The first error of `ask`.
pub fn by_run(
    runs: &[Run],
    wanted: &[Wanted],
    mut ask: impl FnMut(&Run, &[Wanted]) -> Result<Vec<Point>, String>,
) -> Result<Vec<(Wanted, Point)>, String> {
    let mut all = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let own: Vec<Wanted> = wanted.iter().filter(|wanted| wanted.run == number).copied().collect();
        if own.is_empty() {
            continue;
        }
        for point in ask(run, &own)? {
            let same = own.iter().find(|wanted| wanted.index == point.index);
            all.extend(same.map(|wanted| (*wanted, point)));
        }
    }
    Ok(all)
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
const WRITE_ROUNDS: usize = 10;

/// Of a correction, this part is made: neighbouring depths share members' queues, and would correct the same twice.
const STEP: f64 = 0.7;

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
    let of_few = telling_reads(model, sources);
    let governs = |probe: &Probe| governs_writes(probe, of_few) && is_behind(probe, sources);
    if !sources.iter().any(|source| governs(&source.probe)) {
        return Ok(Vec::new());
    }
    let mut best: Option<(f64, Model)> = None;
    let mut tried = Vec::new();
    for level in open_levels(model) {
        let mut candidate = Model { level, ..model.clone() };
        candidate.begin_writes();
        let rival = best.as_ref().map_or(f64::INFINITY, |(off, _)| *off);
        let off = settle_writes(&mut candidate, sources, ask, &governs, rival)?;
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

/// Whether loads of few reads among writes tell what reads wait for there; else those of more reads do.
///
/// A cache that writes out now and then answers now as if nothing were written and now as if all were: the mean of both
/// says most of which of them fell into the window. The more of the requests write, the surer it writes out all along.
/// Arms fall behind with every mix, and where most requests write they are asked for more than they go on choosing from.
fn telling_reads(model: &Model, sources: &[Source]) -> bool {
    let mut beside = sources.iter().map(|source| &source.probe).filter(|probe| is_beside(probe));
    match model.dies {
        Dies::Arm => beside.all(has_few_reads),
        Dies::Usual | Dies::Identification(_) => beside.any(has_few_reads),
    }
}

/// Writes, the loads of reads beside them that tell, and those from an empty cache on that came to its mark. Where few
/// reads tell, more of them do while the cache writes out.
fn governs_writes(probe: &Probe, of_few: bool) -> bool {
    match probe.is_mixed() {
        false => probe.is_write(),
        true if writes::is_from_empty(probe) => writes::mark(probe).is_some(),
        true => has_few_reads(probe) == of_few || (of_few && writes::while_it_writes_out(probe).is_some()),
    }
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

/// A level that leaves so many times the squares of another after two corrections, or the square of it after the first,
/// is not looked at further.
const HOPELESS: f64 = 16.0;

/// Squares of which nothing more is corrected: seven figures that are a hundredth and a half off each.
const ENOUGH: f64 = 0.0015;

/// RAID 0 and RAID 5 read alike.
fn open_levels(model: &Model) -> Vec<Level> {
    match model.level {
        Level::Raid0 if model.members > 2 => vec![Level::Raid0, Level::Raid5],
        level => vec![level],
    }
}

/// Corrects what writes cost; the squares that are left, and those of what no figure of the level corrects. It ends
/// early where nothing moves any more, or where a `rival` is nearer by so much that it will not be reached.
fn settle_writes(
    model: &mut Model,
    sources: &[Source],
    ask: &mut dyn Ask,
    governs: &dyn Fn(&Probe) -> bool,
    rival: f64,
) -> Result<f64, String> {
    let mut best: Option<(f64, f64, Model)> = None;
    let mut idle = 0;
    for round in 0..WRITE_ROUNDS {
        let pairs = asked(model, sources, ask, governs, true)?;
        let found = lasting(&pairs, model);
        let off = found.misfit();
        let (least, judged) =
            best.as_ref().map_or((f64::INFINITY, f64::INFINITY), |(least, judged, _)| (*least, *judged));
        idle = if off < 0.9 * least { 0 } else { idle + 1 };
        if off < least {
            best = Some((off, off + found.unexplained(), model.clone()));
        }
        let hopeless = if round >= 2 { HOPELESS } else { HOPELESS * HOPELESS };
        let is_hopeless = round >= 1 && judged.min(off + found.unexplained()) > hopeless * rival;
        if idle >= 3 || off < ENOUGH || is_hopeless {
            break;
        }
        correct_writes(model, &found);
    }
    let Some((_, judged, found)) = best else { return Ok(f64::INFINITY) };
    *model = found;
    Ok(judged)
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
    let stream = probe.pattern == Pattern::Sequential && probe.is_whole();
    // What is larger alone tells one geometry from another, and many at once of the size that distances are asked with
    // say what smaller ones do.
    let many = probe.size == DISTANCES && probe.depth > 1.0;
    let everywhere = probe.is_everywhere() && !many && probe.size <= GOVERNING;
    probe.is_read() && (everywhere || stream || is_on_one(probe, members, chunk))
}

/// Whether no figure of the model was fitted to a point of `sources`: neither read off nor corrected by it. What the
/// distances tell is which members there are, not how fast they are.
pub(crate) fn is_held_out(probe: &Probe, sources: &[Source], model: &Model) -> bool {
    let corrected = match probe.is_read() {
        true => governs_reads(probe, model.members, model.chunk),
        false => governs_writes(probe, telling_reads(model, sources)) || !is_behind(probe, sources),
    };
    let read_off = probe.region.is_some() || (probe.is_everywhere() && probe.depth == 1.0);
    !corrected && !read_off
}

/// Bytes of the requests that are asked at distances.
const DISTANCES: f64 = 16_384.0;

/// Bytes of the largest requests by which figures are corrected.
const GOVERNING: f64 = 262_144.0;

/// Whether every request of a probe goes to the same member; a few of the many distances at which they do.
pub(crate) fn is_on_one(probe: &Probe, members: u32, chunk: u64) -> bool {
    let stripe = chunk * u64::from(members);
    let same = probe.align.is_multiple_of(stripe) && probe.align <= stripe * 4;
    probe.pattern == Pattern::Random && probe.is_whole() && !probe.is_everywhere() && same && members > 1
}

/// The model's answers to the points of `sources` that `of` takes, beside the measured ones.
///
/// `writes`: each of them is asked as long as caches take, and what else is in their runs is asked too. Of that a moment
/// does, because what follows fills the caches, or leaves them time to become empty.
fn asked<'p>(
    model: &Model,
    sources: &'p [Source],
    ask: &mut dyn Ask,
    of: &dyn Fn(&Probe) -> bool,
    writes: bool,
) -> Result<Vec<Pair<'p>>, String> {
    let runs: Vec<usize> =
        sources.iter().filter(|source| of(&source.probe)).map(|source| source.run).collect();
    let wanted: Vec<Wanted> = sources
        .iter()
        .filter(|source| of(&source.probe) || (writes && runs.contains(&source.run)))
        .map(|source| Wanted {
            run: source.run,
            index: source.probe.index,
            seconds: match writes && of(&source.probe) {
                true => seconds_of_writes(&source.probe),
                false => Some(REQUESTS / source.probe.rate),
            },
        })
        .collect();
    let answers = ask.ask(&model.text(&Words::new()), &wanted, writes)?;
    let pair = |(wanted, point): &(Wanted, Point)| {
        let same = |source: &&Source| source.run == wanted.run && source.probe.index == wanted.index;
        let source = sources.iter().find(same).filter(|source| of(&source.probe))?;
        Some(Pair { measured: &source.probe, modelled: Probe::of(point)? })
    };
    Ok(answers.iter().filter_map(pair).collect())
}

/// How long a load that writes is to be asked, warm-up and window each; `None`: as long as it was measured.
///
/// Once each second was like the one before, more of them say the same; caches of the model may take longer to come to
/// that.
fn seconds_of_writes(probe: &Probe) -> Option<f64> {
    let settled = writes::mark(probe).map(|mark| mark.seconds).or_else(|| writes::settled(probe))?;
    Some((PATIENCE * settled + LEAST_S).max(REQUESTS / probe.rate))
}

/// Seconds at least: a course has one figure for each.
const LEAST_S: f64 = 2.0;

/// So many times as long as the array took does the model get.
const PATIENCE: f64 = 2.0;

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
            seconds: match probe.is_read() || !is_behind(probe, sources) {
                true => Some(REQUESTS / probe.rate),
                false => seconds_of_writes(probe),
            },
        })
        .collect();
    let answers = ask.ask(&model.text(words), &wanted, true)?;
    Ok(answers.iter().filter_map(|(wanted, point)| Some((*wanted, Probe::of(point)?.rate))).collect())
}
