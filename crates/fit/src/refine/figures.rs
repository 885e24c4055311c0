//! Figures of writes, each corrected by what the points in the long run say of it.

use units::convert::truncated;

use crate::model::{Dies, Level, Model};
use crate::refine::STEP;
use crate::refine::lasting::Lasting;

/// Corrects every figure of writes once, by what the points left.
pub(super) fn correct_writes(model: &mut Model, excess: &Lasting) {
    let on_before = model.write_on;
    if let Some(on) = excess.on {
        model.write_on = (model.write_on * (-on * STEP).clamp(-1.0, 1.0).exp()).clamp(1e6, 1e12);
    }
    if let (Some(room), Some(cache)) = (excess.room, &mut model.cache)
        && let Some(part) = &mut cache.write_part
    {
        *part = (*part * room).clamp(0.001, 1.0);
    }
    match model.dies {
        Dies::Arm => correct_arm(model, excess),
        Dies::Usual | Dies::Identification(_) => correct_dies(model, excess, on_before),
    }
    correct_beside(model, excess);
}

/// Time and rate of an arm's write together, from small writes and large ones in the long run: of both it is known how
/// long a member is busy with one in the model, and by which factor that is wrong.
fn correct_arm(model: &mut Model, excess: &Lasting) {
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
}

/// What dies do of bytes, by large writes in the long run, and how long it takes until a write is taken, by small ones.
///
/// Small writes share programs, so that dies do as many bytes of them. Fewer than that leave a cache where it waits for
/// each of those that it has under way. More of them than the dies of the model do say that these are too slow.
fn correct_dies(model: &mut Model, excess: &Lasting, on_before: f64) {
    let before = model.write.times[0].1;
    let window = model.cache.as_ref().map_or(1, |cache| cache.destage_window);
    let small = excess.small.unwrap_or(0.0).clamp(-1.0, 1.0);
    let late = f64::from(window) * excess.small_ns * (1.0 - (-small).exp());
    let time = (before + STEP * late).clamp(AT_ONCE_NS, LONGEST_PROGRAM_NS);
    // With parity they wait for what is read before them.
    let starved =
        Some(small).filter(|small| model.level == Level::Raid0 && before <= 2.0 * AT_ONCE_NS && *small < 0.0);
    let by_large = excess.large.map(|large| slower_where_it_begins(model, excess.size, large, on_before));
    let slower = match (by_large, starved) {
        (Some(large), Some(small)) => (large + small) / 2.0,
        (large, small) => large.or(small).unwrap_or(0.0),
    };
    model.write.times.iter_mut().for_each(|(_, each)| *each = time);
    model.write.rate = (model.write.rate * (-slower).clamp(-1.0, 1.0).exp()).clamp(1e3, 1e12);
}

/// How much slower dies must be where a write begins, as a logarithm, for large ones of `size` to leave as much slower
/// as `large` says: the larger part of them may go on where another ended, and `model` has that corrected from
/// `on_before` already.
fn slower_where_it_begins(model: &Model, size: f64, large: f64, on_before: f64) -> f64 {
    let begins = (model.stripe() / size).min(1.0);
    let (begun, gone_on) = (begins / model.write.rate, (1.0 - begins) / on_before.max(1.0));
    let wanted = (begun + gone_on) * large.exp() - (1.0 - begins) / model.write_on.max(1.0);
    (wanted / begun).max(SLOWEST_STEP).ln()
}

/// A part of what it was, below which no time falls at once.
const SLOWEST_STEP: f64 = 0.37;

/// A write that is taken in this time is taken at once.
pub(crate) const AT_ONCE_NS: f64 = 1e3;

/// What reads wait for beside writes, and what the members' buffers take.
fn correct_beside(model: &mut Model, excess: &Lasting) {
    match (model.dies, excess.late_ns, excess.waits) {
        (Dies::Arm, Some(late), _) => model.beside = (model.beside - late).max(0.0),
        (_, _, Some(waits)) => {
            let waits = excess.once.unwrap_or(waits);
            model.program = (model.program * (-waits).clamp(-1.5, 1.5).exp()).clamp(1e3, LONGEST_PROGRAM_NS);
        }
        _ => {}
    }
    if let (Some(left), true) = (excess.left, model.dies != Dies::Arm) {
        let each = left / f64::from(model.members);
        model.buffer = truncated::<u64>((model.buffer as f64 + each).clamp(0.0, LARGEST_BUFFER));
    }
    // As long as the wait of one read is not known, or what dies have to do, that of several says nothing.
    let known = |excess: Option<f64>| excess.is_none_or(|excess| excess.abs() < KNOWN);
    let one = excess.once.or(excess.waits);
    let is_known = one.is_some() && [one, excess.large, excess.taken].into_iter().all(known);
    if let (Some(crowd), true) = (excess.crowd, is_known) {
        // Where it is known how long a read waits once, all that reads wait too long is for want of dies.
        let crowd = crowd + excess.once.and(excess.waits).unwrap_or(0.0);
        spread_over(model, (f64::from(model.dies.count()) * crowd.clamp(-0.7, 0.7).exp()).round());
    }
}

/// Gives a member so many dies, that together do as much as those it had.
fn spread_over(model: &mut Model, dies: f64) {
    let dies = dies.clamp(FEWEST_DIES, MOST_DIES);
    let more = dies / f64::from(model.dies.count());
    model.dies = Dies::Identification(truncated::<u32>(dies));
    model.write.rate /= more;
    model.write_on /= more;
}

/// A wait that is nearer than this is known.
const KNOWN: f64 = 0.2;

/// Dies of a drive that are believed.
const FEWEST_DIES: f64 = 2.0;
const MOST_DIES: f64 = 1024.0;

/// Bytes of a drive's buffer that are believed.
const LARGEST_BUFFER: f64 = 16.0 * 1024.0 * 1024.0 * 1024.0;

/// No die is at one thing for longer: to erase a block takes some ten milliseconds.
const LONGEST_PROGRAM_NS: f64 = 1e8;
