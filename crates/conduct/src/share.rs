//! What some of the workers of a load saw, apart from the others: those of one rank.

use record::Silence;
use stats::Interval;
use stats::dependent::{Stretch, Stretches};
use units::{Instant, Nanos};
use workload::tally::{Class, Tally};

use crate::history::History;
use crate::silence::longest_gap;

/// The spread and the gaps of what some workers of one workload saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The 95 % interval of the 99th percentile of their response times; `None` where the window has too little for one.
    pub p99: Option<Interval<Nanos>>,
    /// The longest stretch of the window in which nothing of theirs completed.
    pub longest_gap: Option<Silence>,
}

/// Of workers with these tallies, of whom `history` holds the intervals that are no longer in the tallies.
pub fn share_of<'a>(tallies: impl Iterator<Item = &'a Tally> + Clone, mut history: History) -> Share {
    let from = tallies.clone().map(|tally| tally.measured_from).min();
    let until = tallies.clone().map(|tally| tally.measured_until).max();
    let Some(window) = from.zip(until).filter(|(from, until)| from < until) else { return Share::default() };
    tallies.clone().for_each(|tally| history.take(tally.intervals.clone()));
    let ops = tallies.clone().map(Tally::ops).sum();
    Share {
        p99: p99_interval(&history, window),
        longest_gap: longest_gap(tallies.map(|tally| tally.gaps.as_slice()), window, ops),
    }
}

/// All operations together.
fn p99_interval(history: &History, window: (Instant, Instant)) -> Option<Interval<Nanos>> {
    let classes: Vec<Class> = history.classes().iter().map(|tally| tally.class).collect();
    let rows = history.equal(&classes, window).rows;
    let of = |row: &Vec<record::ClassSecond>| {
        Stretch::of(row.iter().flat_map(|class| class.responses.iter().copied()))
    };
    let stretches: Vec<Stretch> = rows.iter().map(of).collect();
    Stretches::of(&stretches).quantile_interval(0.99).ok()
}

#[cfg(test)]
mod tests {
    use stats::{Bucket, Histogram};
    use units::Bytes;
    use workload::Op;
    use workload::tally::{Action, ClassInterval, Interval as Cut};

    use super::*;

    fn second(number: u64) -> Instant {
        Instant::from_nanos(number * 1_000_000_000)
    }

    /// Five hundred requests in a second, one in fifty of them slow; another part of them where the second is odd.
    fn cut(number: u64, slow_us: u64) -> Cut {
        let slow = 10 + number % 2;
        let mut responses = Histogram::new();
        (0..500).for_each(|request| {
            let us = if request < slow { slow_us + request } else { 100 + request % 50 };
            responses.record(Nanos::from_micros(us));
        });
        let response: Vec<Bucket> = responses.buckets().collect();
        let class = Class { op: Action::Block(Op::Read), size: Bytes::KIB };
        let longest = Nanos::from_micros(slow_us + slow);
        let cell = ClassInterval {
            class,
            ops: 500,
            bytes: Bytes::KIB * 500,
            response,
            service: Vec::new(),
            longest,
        };
        Cut { from: second(number), until: second(number + 1), measured: true, classes: vec![cell] }
    }

    fn of_seconds(slow_us: impl Fn(u64) -> u64) -> Option<Interval<Nanos>> {
        let cuts = (0..40).map(|number| cut(number, slow_us(number))).collect();
        p99_interval(&History::of(cuts), (second(0), second(40)))
    }

    #[test]
    fn a_percentile_has_an_interval_where_each_second_is_like_the_others_and_none_from_one_bad_time() {
        let known = of_seconds(|_| 1000).expect("slow requests come all the time");
        assert!(known.low <= Nanos::from_micros(1010) && known.high >= Nanos::from_micros(1000), "{known:?}");
        assert!(known.low > Nanos::from_micros(500), "{known:?}");
        assert_eq!(
            of_seconds(|number| if number == 7 { 90_000_000 } else { 150 })
                .map(|known| known.high > Nanos::from_secs(1)),
            Some(false)
        );
    }
}
