//! What the workers of a workload saw while they ran, in stretches that are the longer the older they are.
//!
//! What is shown over time is kept second by second for two hours, minute by minute for eight days, and by the hour
//! before that. What intervals are taken from is kept in equally long stretches of the measured window, a second each at
//! first: when they are many, two become one. So a load of a year needs little more memory than one of a day.
//!
//! **Invariant:** counts are exact whatever is put together, and percentiles are taken of all requests of a stretch: no
//! figure is an average of percentiles.

mod equal;
mod level;
mod pile;
mod stretch;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use units::Instant;
use workload::tally::{Class, ClassTally, Interval};

pub(crate) use self::equal::Equal;
use self::equal::{UNITS_MOST, Units, class_second};
use self::level::Level;
pub(crate) use self::stretch::Stretch;

const SECOND_NS: u64 = 1_000_000_000;

/// How long the stretches are that are shown, and for how long before the newest they are kept; a divisor of the next.
const LEVELS: [(u64, Option<u64>); 3] = [
    (SECOND_NS, Some(2 * 3600 * SECOND_NS)),
    (60 * SECOND_NS, Some(8 * 86_400 * SECOND_NS)),
    (3600 * SECOND_NS, None),
];

const _: () = assert!(LEVELS[1].0.is_multiple_of(LEVELS[0].0) && LEVELS[2].0.is_multiple_of(LEVELS[1].0));

/// What was seen of a workload so far.
#[derive(Clone, Debug)]
pub struct History {
    /// What is left over of a second where stretches begin, of the warm-up and of the window.
    phases: [Option<u64>; 2],
    levels: [Level; LEVELS.len()],
    units: Units,
    /// All that was heard, for whoever judges each second by itself.
    intervals: Option<Vec<Interval>>,
}

impl History {
    /// An empty history. With `keeps` it stores every interval, so that its memory grows with the duration of the load.
    pub fn new(keeps: bool) -> History {
        History {
            phases: [None; 2],
            levels: LEVELS.map(|(step, keep)| Level::new(step, keep)),
            units: Units::default(),
            intervals: keeps.then(Vec::new),
        }
    }

    /// Of these intervals alone.
    pub fn of(intervals: Vec<Interval>) -> History {
        let mut history = History::new(false);
        history.take(intervals);
        history
    }

    /// Adds what workers have closed, in any order.
    pub fn take(&mut self, intervals: Vec<Interval>) {
        for interval in &intervals {
            let phase =
                *self.phases[usize::from(interval.measured)].get_or_insert(interval.from.nanos() % SECOND_NS);
            let since = interval.from.nanos().saturating_sub(phase);
            let newest = self.levels[0].newest().unwrap_or(0).max(since / SECOND_NS * SECOND_NS);
            self.levels.iter_mut().for_each(|level| level.add(interval, since, newest));
            if interval.measured {
                self.units.add(interval, since);
            }
        }
        if let Some(all) = &mut self.intervals {
            all.extend(intervals);
        }
    }

    /// Every interval; none unless they were to be kept.
    pub fn intervals(&self) -> &[Interval] {
        self.intervals.as_deref().unwrap_or_default()
    }

    /// When the load and its window began, and when the last stretch ended that was heard of; `None` before the first.
    pub fn extent(&self) -> Option<(Instant, (Instant, Instant))> {
        let first = |measured: bool| {
            let (_, hours) = LEVELS.iter().zip(&self.levels).next_back()?;
            let row = hours.rows.range((measured, 0)..=(measured, u64::MAX)).next()?.1;
            Some(row.from)
        };
        let until = self.levels[0].rows.values().map(|row| row.until).max()?;
        let from = first(true).unwrap_or(until);
        debug_assert!(from <= until, "a window begins before its last stretch ends");
        Some((first(false).unwrap_or(from).min(from), (from, until)))
    }

    /// What ended in the window, by class: as far as it was heard of.
    pub fn classes(&self) -> Vec<ClassTally> {
        let mut classes: BTreeMap<Class, ClassTally> = BTreeMap::new();
        for cell in self.units.rows.values().flatten() {
            let tally = classes.entry(cell.class).or_insert_with(|| ClassTally::new(cell.class));
            tally.ops += cell.counts.ops;
            tally.ended += cell.counts.ops;
            tally.bytes += units::Bytes::new(cell.counts.bytes);
            tally.ended_bytes = tally.bytes;
            cell.responses.pour_into(&mut tally.response);
        }
        classes.into_values().collect()
    }

    /// The stretches that are shown of a load from `begun` on with that measured window, in order. They cover it without
    /// gap or overlap, silent ones are among them.
    pub(crate) fn shown(&self, begun: Instant, window: (Instant, Instant)) -> Vec<Stretch> {
        let cuts = self.cuts();
        let mut stretches = Vec::new();
        for (from, until) in [(begun, window.0.min(window.1)), window] {
            let phase = from.nanos() % SECOND_NS;
            let mut at = from;
            while at < until {
                let since = at.nanos() - phase.min(at.nanos());
                let step = LEVELS[level_of(since, cuts)].0;
                let next = Instant::from_nanos(phase + (since / step + 1) * step).min(until);
                stretches.push(Stretch { from: at, until: next, cells: Vec::new() });
                at = next;
            }
        }
        debug_assert!(
            stretches.windows(2).all(|pair| pair[0].until == pair[1].from)
                && stretches.last().is_none_or(|last| last.until == window.1),
            "stretches cover the load without gap or overlap"
        );
        for (number, level) in self.levels.iter().enumerate() {
            let own = level.rows.iter().filter(|((_, start), _)| level_of(*start, cuts) == number);
            for (_, row) in own {
                let after = stretches.partition_point(|stretch| stretch.from <= row.from);
                if let Some(stretch) = after.checked_sub(1).and_then(|place| stretches.get_mut(place)) {
                    row.cells.iter().for_each(|cell| stretch.add(cell));
                }
            }
        }
        stretches
    }

    /// Before which instants stretches are longer than those of each level.
    fn cuts(&self) -> [u64; LEVELS.len() - 1] {
        let newest = self.levels[0].newest().unwrap_or(0);
        let mut cuts = [0; LEVELS.len() - 1];
        for (cut, pair) in cuts.iter_mut().zip(LEVELS.windows(2)) {
            *cut = cut_of(newest, pair[0].1, pair[1].0);
        }
        cuts
    }

    /// For each of equally long stretches that lie wholly in `window`, what ended in it of each of `classes`; and how
    /// long they are in seconds.
    pub(crate) fn equal(&self, classes: &[Class], (from, until): (Instant, Instant)) -> Equal {
        let phase = self.phases[1].unwrap_or(from.nanos() % SECOND_NS);
        let since = |at: Instant| at.nanos().saturating_sub(phase);
        let mut each_s = self.units.each_s.max(1);
        while until.saturating_since(from).get() / SECOND_NS / each_s > UNITS_MOST as u64 {
            each_s *= 2;
        }
        assert!(each_s.is_power_of_two(), "stretches are put together in pairs");
        let each = each_s * SECOND_NS;
        let (first, last) = (since(from).div_ceil(each), since(until) / each);
        let of = |number: u64| {
            let cells = self.units.together(number, each_s);
            classes.iter().map(|class| class_second(&cells, class)).collect()
        };
        let from_ns = phase + first * each;
        debug_assert!(from_ns >= from.nanos() || first >= last, "stretches lie wholly in the window");
        Equal { from_ns, each_s: each_s as f64, rows: (first..last).map(of).collect() }
    }
}

/// Where stretches of a level that is kept for so long give way to those of `step`.
fn cut_of(newest: u64, keep: Option<u64>, step: u64) -> u64 {
    keep.map_or(0, |keep| newest.saturating_sub(keep) / step * step)
}

fn level_of(since: u64, cuts: [u64; LEVELS.len() - 1]) -> usize {
    cuts.iter().take_while(|cut| since < **cut).count()
}

/// What ended in a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    ops: u64,
    bytes: u64,
}
