//! What the workers of a workload saw while they ran, in stretches that are the longer the older they are.
//!
//! What is shown over time is kept second by second for two hours, minute by minute for eight days, and by the hour
//! before that. What intervals are taken from is kept in equally long stretches of the measured window, a second each at
//! first: when they are many, two become one. So a load of a year needs little more memory than one of a day.
//!
//! **Invariant:** counts are exact whatever is put together, and percentiles are taken of all requests of a stretch: no
//! figure is an average of percentiles.

use std::collections::BTreeMap;

use record::{ClassSecond, ResponseMap};
use stats::{Bucket, Histogram};
use units::{Instant, Nanos};
use workload::tally::{Action, Class, ClassInterval, ClassTally, Interval};

const SECOND_NS: u64 = 1_000_000_000;

/// How long the stretches are that are shown, and for how long before the newest they are kept; a divisor of the next.
const LEVELS: [(u64, Option<u64>); 3] = [
    (SECOND_NS, Some(2 * 3600 * SECOND_NS)),
    (60 * SECOND_NS, Some(8 * 86_400 * SECOND_NS)),
    (3600 * SECOND_NS, None),
];

const _: () = assert!(LEVELS[1].0.is_multiple_of(LEVELS[0].0) && LEVELS[2].0.is_multiple_of(LEVELS[1].0));
const _: () = assert!(UNITS_LEAST < UNITS_MOST);

/// How long after its end a stretch gets its percentile. A worker that hangs reports the stretch before only when it goes
/// on; what it reports after this time can only raise the percentile.
const LATE_NS: u64 = 300 * SECOND_NS;

/// Stretches that intervals are taken from, at most. Statistics put them together to 128 or fewer.
const UNITS_MOST: usize = 512;
/// The same where each of them holds many buckets, of which there are then so many at most.
const UNITS_LEAST: usize = 256;
const BUCKETS_MOST: usize = 400_000;

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
        Some((first(false).unwrap_or(from).min(from), (from, until)))
    }

    /// What ended in the window, by class: as far as it was heard of.
    pub fn classes(&self) -> Vec<ClassTally> {
        let mut classes: BTreeMap<Class, ClassTally> = BTreeMap::new();
        for cell in self.units.rows.values().flatten() {
            let tally = classes.entry(cell.class).or_insert_with(|| ClassTally {
                class: cell.class,
                ops: 0,
                bytes: units::Bytes::ZERO,
                ended: 0,
                response: Histogram::new(),
                service: None,
                lag: None,
            });
            tally.ops += cell.counts.ops;
            tally.ended += cell.counts.ops;
            tally.bytes += units::Bytes::new(cell.counts.bytes);
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
            stretches.windows(2).all(|pair| pair[0].until <= pair[1].from),
            "stretches are in order and do not overlap"
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
        Equal { from_ns, each_s: each_s as f64, rows: (first..last).map(of).collect() }
    }
}

/// Equally long stretches of a window.
pub(crate) struct Equal {
    /// When the first begins.
    pub from_ns: u64,
    /// Seconds of each.
    pub each_s: f64,
    /// What ended in them, by class.
    pub rows: Vec<Vec<ClassSecond>>,
}

impl Equal {
    /// Response times of all classes together, stretch by stretch.
    pub fn responses(&self) -> Option<ResponseMap> {
        let of = |row: &Vec<ClassSecond>| row.iter().flat_map(|class| &class.responses).copied().collect();
        let stretches: Vec<Vec<Bucket>> = self.rows.iter().map(of).collect();
        let each = units::convert::truncated::<u64>(self.each_s) * SECOND_NS;
        ResponseMap::of(self.from_ns, each, &stretches)
    }
}

fn class_second(cells: &[&UnitCell], class: &Class) -> ClassSecond {
    let mut second = ClassSecond::default();
    for cell in cells.iter().filter(|cell| cell.class == *class) {
        second.ops += cell.counts.ops;
        second.bytes += cell.counts.bytes;
        second.responses.extend(&cell.responses.0);
    }
    second
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

/// A stretch of a load as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub until: Instant,
    cells: Vec<Cell>,
}

/// What one operation did in a stretch.
pub(crate) struct Seen {
    /// Requests that ended.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Their mean response, at most a thousandth too high; their 99th percentile, and the longest.
    pub mean_ns: f64,
    pub p99_ns: f64,
    pub longest_ns: f64,
}

impl Stretch {
    /// How long it is; not zero.
    pub fn length(&self) -> Nanos {
        debug_assert!(self.from < self.until, "a stretch has a length");
        self.until - self.from
    }

    /// What was done in it.
    pub fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        self.cells.iter().map(|cell| cell.action)
    }

    /// What `action` did; `None` where nothing of it ended.
    pub fn seen(&self, action: Action) -> Option<Seen> {
        let cell = self.cells.iter().find(|cell| cell.action == action)?;
        Some(Seen {
            ops: cell.counts.ops,
            bytes: cell.counts.bytes,
            mean_ns: cell.sum_ns as f64 / cell.times.max(1) as f64,
            p99_ns: cell.p99().get() as f64,
            longest_ns: cell.longest.get() as f64,
        })
    }

    fn add(&mut self, other: &Cell) {
        match self.cells.iter_mut().find(|cell| cell.action == other.action) {
            Some(cell) => cell.add_cell(other),
            None => self.cells.push(other.clone()),
        }
    }
}

/// Stretches of one length.
#[derive(Clone, Debug)]
struct Level {
    step: u64,
    keep: Option<u64>,
    /// By whether they are measured, and when they begin on the grid of their second.
    rows: BTreeMap<(bool, u64), Row>,
    /// Rows that begin before have their percentiles.
    sealed: u64,
}

#[derive(Clone, Debug)]
struct Row {
    from: Instant,
    until: Instant,
    cells: Vec<Cell>,
}

impl Level {
    fn new(step: u64, keep: Option<u64>) -> Level {
        Level { step, keep, rows: BTreeMap::new(), sealed: 0 }
    }

    /// When the newest row begins.
    fn newest(&self) -> Option<u64> {
        let last = |measured| self.rows.range((measured, 0)..=(measured, u64::MAX)).next_back();
        [false, true].into_iter().filter_map(last).map(|((_, start), _)| *start).max()
    }

    fn add(&mut self, interval: &Interval, since: u64, newest: u64) {
        let start = since / self.step * self.step;
        let empty = || Row { from: interval.from, until: interval.until, cells: Vec::new() };
        let is_new = !self.rows.contains_key(&(interval.measured, start));
        let row = self.rows.entry((interval.measured, start)).or_insert_with(empty);
        row.from = row.from.min(interval.from);
        row.until = row.until.max(interval.until);
        interval.classes.iter().for_each(|class| row.add(class));
        if is_new {
            self.grow_old(newest);
        }
    }

    /// Seals what is old, and drops what a longer stretch holds as well.
    fn grow_old(&mut self, newest: u64) {
        let until = newest.saturating_sub(LATE_NS + self.step);
        let from = self.sealed;
        self.sealed = from.max(until);
        debug_assert!(self.sealed >= from, "what is sealed stays sealed");
        for measured in [false, true] {
            for (_, row) in self.rows.range_mut((measured, from)..(measured, until.max(from))) {
                row.cells.iter_mut().for_each(Cell::seal);
            }
        }
        let Some(place) = LEVELS.iter().position(|(step, _)| *step == self.step) else { return };
        let Some((longer, _)) = LEVELS.get(place + 1) else { return };
        let cut = cut_of(newest, self.keep, *longer);
        for measured in [false, true] {
            while let Some((key, _)) = self.rows.range((measured, 0)..(measured, cut)).next() {
                let key = *key;
                self.rows.remove(&key);
            }
        }
    }
}

impl Row {
    fn add(&mut self, class: &ClassInterval) {
        let place = self.cells.iter().position(|cell| cell.action == class.class.op);
        let place = place.unwrap_or_else(|| {
            self.cells.push(Cell::new(class.class.op));
            self.cells.len() - 1
        });
        self.cells[place].add(class);
    }
}

/// What one operation did in a row.
#[derive(Clone, Debug)]
struct Cell {
    action: Action,
    counts: Counts,
    /// Response times, each as the end of its bucket: how many, and their sum.
    times: u64,
    sum_ns: u128,
    longest: Nanos,
    /// The 99th percentile of those that are no longer in `open`.
    sealed_p99: Nanos,
    open: Pile,
}

impl Cell {
    fn new(action: Action) -> Cell {
        Cell {
            action,
            counts: Counts::default(),
            times: 0,
            sum_ns: 0,
            longest: Nanos::ZERO,
            sealed_p99: Nanos::ZERO,
            open: Pile::default(),
        }
    }

    fn add(&mut self, class: &ClassInterval) {
        self.counts.ops += class.ops;
        self.counts.bytes += class.bytes.get();
        self.longest = self.longest.max(class.longest);
        for bucket in &class.response {
            self.times += bucket.count;
            self.sum_ns += u128::from(bucket.high().get()) * u128::from(bucket.count);
        }
        self.open.add(&class.response);
    }

    fn add_cell(&mut self, other: &Cell) {
        self.counts.ops += other.counts.ops;
        self.counts.bytes += other.counts.bytes;
        self.times += other.times;
        self.sum_ns += other.sum_ns;
        self.longest = self.longest.max(other.longest);
        self.sealed_p99 = self.sealed_p99.max(other.sealed_p99);
        self.open.add(&other.open.0);
    }

    /// A percentile of two groups together is never above the greater of theirs.
    fn p99(&self) -> Nanos {
        let mut open = Histogram::new();
        self.open.pour_into(&mut open);
        self.sealed_p99.max(open.quantile(0.99).unwrap_or_default())
    }

    fn seal(&mut self) {
        self.sealed_p99 = self.p99();
        self.open = Pile::default();
    }
}

/// Buckets of several histograms, put together when they are many.
#[derive(Clone, Debug, Default)]
struct Pile(Vec<Bucket>);

impl Pile {
    fn add(&mut self, buckets: &[Bucket]) {
        if self.0.len() + buckets.len() > self.0.capacity() && !self.0.is_empty() {
            self.put_together();
        }
        self.0.extend(buckets);
    }

    fn put_together(&mut self) {
        self.0.sort_unstable_by_key(|bucket| bucket.index);
        self.0.dedup_by(|next, kept| {
            let same = next.index == kept.index;
            kept.count += if same { next.count } else { 0 };
            same
        });
        debug_assert!(
            self.0.is_sorted_by(|one, next| one.index < next.index),
            "each bucket is there once, by rising index"
        );
    }

    fn pour_into(&self, histogram: &mut Histogram) {
        for bucket in &self.0 {
            histogram.record_n(bucket.high(), bucket.count);
        }
    }
}

/// Equally long stretches of the measured window.
#[derive(Clone, Debug, Default)]
struct Units {
    /// Seconds of each, a power of two; zero before the first.
    each_s: u64,
    /// By their number on the grid of the window's second.
    rows: BTreeMap<u64, Vec<UnitCell>>,
}

#[derive(Clone, Debug)]
struct UnitCell {
    class: Class,
    counts: Counts,
    responses: Pile,
}

impl Units {
    fn add(&mut self, interval: &Interval, since: u64) {
        self.each_s = self.each_s.max(1);
        let row = self.rows.entry(since / SECOND_NS / self.each_s).or_default();
        let was_empty = row.is_empty();
        for class in &interval.classes {
            let counts = Counts { ops: class.ops, bytes: class.bytes.get() };
            add_to(row, class.class, counts, &class.response);
        }
        if was_empty && self.is_large() {
            self.double();
        }
    }

    fn is_large(&self) -> bool {
        let buckets = || self.rows.values().flatten().map(|cell| cell.responses.0.len()).sum::<usize>();
        self.rows.len() > UNITS_MOST || (self.rows.len() > UNITS_LEAST && buckets() > BUCKETS_MOST)
    }

    fn double(&mut self) {
        self.each_s *= 2;
        assert!(self.each_s.is_power_of_two(), "a row is half of one row of the next length");
        for (number, cells) in std::mem::take(&mut self.rows) {
            let row = self.rows.entry(number / 2).or_default();
            for cell in cells {
                add_to(row, cell.class, cell.counts, &cell.responses.0);
            }
            row.iter_mut().for_each(|cell| cell.responses.put_together());
        }
    }

    /// What ended in the stretch of that number, if each were so long, a multiple of what they are.
    fn together(&self, number: u64, each_s: u64) -> Vec<&UnitCell> {
        debug_assert!(each_s.is_multiple_of(self.each_s.max(1)), "no row lies in two stretches");
        let times = each_s / self.each_s.max(1);
        self.rows.range(number * times..(number + 1) * times).flat_map(|(_, row)| row).collect()
    }
}

fn add_to(row: &mut Vec<UnitCell>, class: Class, counts: Counts, responses: &[Bucket]) {
    let place = row.iter().position(|cell| cell.class == class).unwrap_or_else(|| {
        row.push(UnitCell { class, counts: Counts::default(), responses: Pile::default() });
        row.len() - 1
    });
    let cell = &mut row[place];
    cell.counts.ops += counts.ops;
    cell.counts.bytes += counts.bytes;
    cell.responses.add(responses);
}

#[cfg(test)]
mod tests {
    use units::Bytes;
    use workload::Op;

    use super::*;
    use units::convert::truncated;

    const CLASS: Class = Class { op: Action::Block(Op::Read), size: Bytes::KIB };

    /// A second that begins so many seconds and a half after the start of time.
    fn second(number: u64, ops: u64, response: Nanos) -> Interval {
        let from = Instant::from_nanos(number * SECOND_NS + SECOND_NS / 2);
        let mut histogram = Histogram::new();
        histogram.record_n(response, ops);
        let cell = ClassInterval {
            class: CLASS,
            ops,
            bytes: Bytes::KIB * ops,
            response: histogram.buckets().collect(),
            service: Vec::new(),
            longest: response,
        };
        let until = from.saturating_add(Nanos::from_secs(1));
        Interval { from, until, measured: number >= 10, classes: vec![cell] }
    }

    fn instant(second: u64) -> Instant {
        Instant::from_nanos(second * SECOND_NS + SECOND_NS / 2)
    }

    /// Ten seconds of warm-up, then a window to that second; each has one request more than the one before, modulo 7.
    fn of(seconds: u64) -> History {
        let mut history = History::new(false);
        for number in 0..seconds {
            history.take(vec![second(number, 1 + number % 7, Nanos::from_micros(100 + number % 50))]);
        }
        history
    }

    #[test]
    fn a_short_load_is_shown_second_by_second() {
        let shown = of(600).shown(instant(0), (instant(10), instant(600)));
        assert_eq!(shown.len(), 600);
        assert!(shown.iter().enumerate().all(|(number, stretch)| {
            let seen = stretch.seen(CLASS.op).expect("something ended in each");
            stretch.from == instant(number as u64) && seen.ops == 1 + number as u64 % 7
        }));
    }

    #[test]
    fn a_long_load_is_shown_in_longer_stretches_the_older_they_are_and_loses_no_request() {
        let seconds = 10 * 86_400;
        let history = of(seconds);
        let window = (instant(10), instant(seconds));
        let shown = history.shown(instant(0), window);
        assert!(shown.windows(2).all(|pair| pair[0].until == pair[1].from));
        assert_eq!((shown[0].from, shown[shown.len() - 1].until), (instant(0), window.1));
        let lengths = |length: u64| {
            shown.iter().filter(|stretch| stretch.length() == Nanos::from_secs(length)).count() as u64
        };
        assert!((7_200..7_261).contains(&lengths(1)), "{}", lengths(1));
        assert!((8 * 1440 - 120..8 * 1440).contains(&lengths(60)), "{}", lengths(60));
        assert!((45..49).contains(&lengths(3600)), "{}", lengths(3600));
        let ops = |measured: bool| -> u64 {
            let own = shown.iter().filter(|stretch| (stretch.from >= window.0) == measured);
            own.filter_map(|stretch| stretch.seen(CLASS.op)).map(|seen| seen.ops).sum()
        };
        let saved = |range: std::ops::Range<u64>| range.map(|number| 1 + number % 7).sum::<u64>();
        assert_eq!((ops(false), ops(true)), (saved(0..10), saved(10..seconds)));
        // What it holds is bounded.
        let rows: usize = history.levels.iter().map(|level| level.rows.len()).sum();
        let open = history.levels.iter().flat_map(|level| level.rows.values()).flat_map(|row| &row.cells);
        let buckets: usize = open.map(|cell| cell.open.0.len()).sum();
        assert!(rows < 20_000 && buckets < 4_000, "{rows} rows, {buckets} buckets");
        assert!(history.units.rows.len() <= UNITS_MOST);
    }

    #[test]
    fn equal_stretches_hold_every_request_of_the_whole_ones() {
        for seconds in [40, 600, 3_000, 100_000] {
            let history = of(seconds);
            let equal = history.equal(&[CLASS], (instant(10), instant(seconds)));
            let each = truncated::<u64>(equal.each_s);
            let whole = (10_u64.div_ceil(each) * each)..(seconds / each * each);
            assert!(equal.rows.len() as u64 == (whole.end - whole.start) / each && equal.rows.len() <= 512);
            let ops: u64 = equal.rows.iter().map(|row| row[0].ops).sum();
            assert_eq!(ops, whole.map(|number| 1 + number % 7).sum::<u64>(), "{seconds} s, each {each} s");
            let counted: u64 =
                equal.rows.iter().flat_map(|row| &row[0].responses).map(|bucket| bucket.count).sum();
            assert_eq!(counted, ops);
        }
    }

    #[test]
    fn what_comes_late_is_counted_and_never_lowers_a_percentile() {
        let mut history = of(3_000);
        history.take(vec![second(1_500, 100, Nanos::from_millis(900))]);
        let shown = history.shown(instant(0), (instant(10), instant(3_000)));
        let seen = shown[1_500].seen(CLASS.op).expect("something ended in it");
        assert_eq!(seen.ops, 100 + 1 + 1_500 % 7);
        assert!(seen.p99_ns >= 900e6 && seen.longest_ns == 900e6, "{}", seen.p99_ns);
    }

    #[test]
    fn a_silent_load_has_silent_stretches() {
        let history = History::new(false);
        let window = (instant(0), instant(100_000));
        assert_eq!(history.shown(instant(0), window).len(), 100_000);
        let equal = history.equal(&[CLASS], window);
        assert!(equal.rows.len() <= 512 && equal.rows.iter().all(|row| row[0].ops == 0));
    }
}
