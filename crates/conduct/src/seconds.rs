//! The intervals of many workers put together: one series for each operation, and what intervals are taken from.

use std::collections::BTreeSet;

use record::Series;
use units::Instant;
use workload::tally::{Action, Class};

use crate::history::{Equal, History, Stretch};

/// The load of a workload cut into stretches, workers merged: see [`History`].
///
/// **Invariant:** each stretch begins where the one before it ended, and those that are measured cover the window from
/// its start to its end: a silent one is there, and empty. The last one may be shorter.
pub struct Seconds {
    history: History,
    window: (Instant, Instant),
    rows: Vec<Stretch>,
}

impl Seconds {
    /// Cuts the load from `begun` on, whose measured window is `window`, and puts what was heard into its stretches.
    ///
    /// A worker that ended before the others has cut its last interval short; it belongs to the second that it began
    /// in. What ended at the very end of the window belongs to the last second.
    pub fn of(history: History, begun: Instant, window: (Instant, Instant)) -> Seconds {
        debug_assert!(window.0 <= window.1, "a window ends after it began");
        let rows = history.shown(begun, window);
        Seconds { history, window, rows }
    }

    /// Equally long stretches within the measured window, in order, and what ended in each of each of `classes`.
    pub fn equal(&self, classes: &[Class]) -> Equal {
        self.history.equal(classes, self.window)
    }

    /// Rate, throughput, mean (at most a thousandth too high), 99th percentile and longest response of each operation
    /// over time. Rates are there for each stretch, zero where nothing ended; response times only where something did.
    pub fn series(&self, workload: &str) -> Vec<Series> {
        let actions: BTreeSet<Action> = self.rows.iter().flat_map(Stretch::actions).collect();
        actions.into_iter().flat_map(|action| self.series_of(workload, action)).collect()
    }

    fn series_of(&self, workload: &str, op: Action) -> Vec<Series> {
        let source = "the workload's own count, warm-up included";
        let named = |what: &str, unit: &str| Series {
            workload: Some(workload.into()),
            ..Series::new(format!("{} {what}", op.name()), unit, source)
        };
        let mut rates = [named("ops", "per_s"), named("bytes", "bytes_per_s")];
        let mut times =
            [named("response mean", "ns"), named("response p99", "ns"), named("response max", "ns")];
        rates.iter_mut().for_each(|series| series.from_ns = self.rows.first().map(|row| row.from.nanos()));
        for row in &self.rows {
            let seconds = row.length().as_secs_f64();
            let seen = row.seen(op);
            let (ops, bytes) = seen.as_ref().map_or((0, 0), |seen| (seen.ops, seen.bytes));
            push(&mut rates, row.until, &[ops as f64 / seconds, bytes as f64 / seconds]);
            if let Some(seen) = seen {
                push(&mut times, row.until, &[seen.mean_ns, seen.p99_ns, seen.longest_ns]);
            }
        }
        rates.into_iter().chain(times).filter(|series| !series.values.is_empty()).collect()
    }
}

fn push(all: &mut [Series], at: Instant, values: &[f64]) {
    assert_eq!(all.len(), values.len(), "a value for each series");
    for (series, value) in all.iter_mut().zip(values) {
        debug_assert!(series.at_ns.last().is_none_or(|last| *last < at.nanos()), "time goes forwards");
        series.at_ns.push(at.nanos());
        series.values.push(*value);
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};
    use workload::Op;
    use workload::tally::{ClassInterval, Interval};

    use super::*;

    const CLASS: Class = Class { op: Action::Block(Op::Read), size: Bytes::KIB };

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn interval(from_ms: u64, until_ms: u64, ops: u64) -> Interval {
        let cell = ClassInterval {
            class: CLASS,
            ops,
            bytes: Bytes::KIB * ops,
            response: Vec::new(),
            service: Vec::new(),
            longest: Nanos::from_millis(1),
        };
        Interval { from: at(from_ms), until: at(until_ms), measured: from_ms >= 1500, classes: vec![cell] }
    }

    fn history(intervals: Vec<Interval>) -> History {
        let mut history = History::new(false);
        history.take(intervals);
        history
    }

    #[test]
    fn seconds_cover_load_and_window_without_gap_or_overlap_whoever_was_silent() {
        // Warm-up from 0.5 s, window from 1.5 s to 5.7 s; nothing ended between 2.5 s and 4.5 s, and two workers ended
        // within the last second.
        let intervals = vec![
            interval(500, 1500, 7),
            interval(1500, 2500, 10),
            interval(1500, 2500, 20),
            interval(4500, 5500, 3),
            interval(5500, 5690, 1),
            interval(5500, 5700, 2),
            interval(5700, 5700, 4),
        ];
        let seconds = Seconds::of(history(intervals), at(500), (at(1500), at(5700)));
        let ops = |row: &Stretch| row.seen(CLASS.op).map_or(0, |seen| seen.ops);
        let rows: Vec<_> = seconds.rows.iter().map(|row| (row.until.nanos() / 1_000_000, ops(row))).collect();
        assert_eq!(rows, [(1500, 7), (2500, 30), (3500, 0), (4500, 0), (5500, 3), (5700, 7)]);
        assert!(seconds.rows.windows(2).all(|pair| pair[0].until == pair[1].from));
        let equal = seconds.equal(&[CLASS]);
        let whole: Vec<u64> = equal.rows.iter().map(|second| second[0].ops).collect();
        assert_eq!((equal.each_s, &whole[..]), (1.0, &[30, 0, 0, 3][..]));
        let series = seconds.series("a");
        assert_eq!(series[0].from_ns, Some(500_000_000));
        assert_eq!(series[0].values, [7.0, 30.0, 0.0, 0.0, 3.0, 35.0]);
        let named = |name: &str| series.iter().find(|series| series.name == name).expect("it is there");
        assert_eq!(named("read response max").at_ns.len(), 4, "a silent second has no response times");
    }

    #[test]
    fn a_load_that_ended_before_its_window_has_seconds_of_warm_up_alone() {
        let seconds = Seconds::of(history(vec![interval(0, 700, 7)]), at(0), (at(1500), at(1500)));
        assert_eq!(seconds.rows.len(), 2);
        assert_eq!(seconds.equal(&[CLASS]).rows.len(), 0);
    }
}
