use stats::Histogram;
use units::convert::truncated;
use units::{Bytes, Nanos};
use workload::Op;
use workload::tally::{Action, ClassInterval};

use super::*;

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
