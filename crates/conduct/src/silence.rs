//! When a target was silent: no worker of a workload had a completion, although some waited for one.

use record::Silence;
use units::{Instant, Nanos};
use workload::tally::Gap;

/// The stretches of `window` in which no worker had a completion and at least one waited, in order: of a second or more,
/// and of twenty times as long as one of the `ops` completions came on average, since requests that take seconds are no
/// silence. `of_workers` holds each worker's gaps.
pub fn stalls<'a>(
    of_workers: impl Iterator<Item = &'a [Gap]>,
    window: (Instant, Instant),
    ops: u64,
) -> Vec<Silence> {
    let least = least(window, ops);
    let common = common(of_workers, window);
    let silent = common.iter().filter(|gap| gap.waited() >= least);
    silent
        .map(|gap| Silence {
            from_ns: gap.from.max(gap.waiting_since).nanos(),
            length_ns: gap.waited().get(),
        })
        .collect()
}

/// The longest stretch of `window` in which no worker had a completion, whether or not one waited, as [`stalls`] has the rest.
pub fn longest_gap<'a>(
    of_workers: impl Iterator<Item = &'a [Gap]>,
    window: (Instant, Instant),
    ops: u64,
) -> Option<Silence> {
    let least = least(window, ops);
    let longest = common(of_workers, window).into_iter().max_by_key(Gap::length)?;
    let silence = Silence { from_ns: longest.from.nanos(), length_ns: longest.length().get() };
    (longest.length() >= least).then_some(silence)
}

/// How long a stretch without one of `ops` completions is at least that is no chance.
fn least(window: (Instant, Instant), ops: u64) -> Nanos {
    let usual_ns = window.1.saturating_since(window.0).get().checked_div(ops).unwrap_or(0);
    Gap::LEAST.max(Nanos::new(usual_ns.saturating_mul(Silence::TIMES)))
}

/// Where all workers have a gap within `window`, in order.
fn common<'a>(of_workers: impl Iterator<Item = &'a [Gap]>, window: (Instant, Instant)) -> Vec<Gap> {
    let all = Gap { from: window.0, until: window.1, waiting_since: Instant::NEVER };
    let common = of_workers.fold(vec![all], |common, own| shared(&common, own));
    debug_assert!(
        common.iter().all(|gap| window.0 <= gap.from && gap.until <= window.1),
        "what all wait through lies in the window"
    );
    common
}

/// Where both have a gap. Both are in order.
fn shared(one: &[Gap], other: &[Gap]) -> Vec<Gap> {
    let in_order = |gaps: &[Gap]| gaps.windows(2).all(|pair| pair[0].until <= pair[1].from);
    debug_assert!(in_order(one) && in_order(other), "gaps of a worker follow each other");
    let (mut found, mut left, mut right) = (Vec::new(), one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let both = Gap {
            from: a.from.max(b.from),
            until: a.until.min(b.until),
            waiting_since: a.waiting_since.min(b.waiting_since),
        };
        if both.until.saturating_since(both.from) >= Gap::LEAST {
            found.push(both);
        }
        if a.until <= b.until {
            left.next()
        } else {
            right.next()
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn gap(from_ms: u64, until_ms: u64, waiting_ms: Option<u64>) -> Gap {
        let waiting_since = waiting_ms.map_or(Instant::NEVER, at);
        Gap { from: at(from_ms), until: at(until_ms), waiting_since }
    }

    fn found(of_workers: &[&[Gap]]) -> Vec<(u64, u64)> {
        let stalls = stalls(of_workers.iter().copied(), (at(1_000), at(31_000)), 30_000);
        stalls.iter().map(|one| (one.from_ns / 1_000_000, one.length_ns / 1_000_000)).collect()
    }

    #[test]
    fn a_target_is_silent_while_all_workers_wait_and_within_the_window() {
        let first = [gap(10_000, 14_000, Some(9_990)), gap(25_000, 40_000, Some(24_000))];
        let second = [gap(12_500, 20_000, Some(12_400)), gap(25_300, 40_000, Some(25_300))];
        assert_eq!(found(&[&first]), [(10_000, 4_000), (25_000, 6_000)]);
        assert_eq!(found(&[&first, &second]), [(12_500, 1_500), (25_300, 5_700)]);
    }

    #[test]
    fn a_worker_with_nothing_to_ask_neither_makes_a_silence_nor_breaks_one() {
        let idle = [gap(1_000, 31_000, None)];
        assert_eq!(found(&[&idle]), []);
        assert_eq!(found(&[&idle, &[gap(10_000, 14_000, Some(11_000))]]), [(11_000, 3_000)]);
        // Half a second of waiting is none.
        assert_eq!(found(&[&[gap(10_000, 14_000, Some(13_500))]]), []);
    }

    #[test]
    fn the_longest_gap_is_there_whether_or_not_any_waited_and_whole_seconds_are_too_few_at_a_low_rate() {
        let own = [gap(3_000, 5_300, None), gap(10_000, 11_200, Some(9_000))];
        let longest = |ops| longest_gap([&own[..]].into_iter(), (at(1_000), at(31_000)), ops);
        assert_eq!(longest(30_000), Some(Silence { from_ns: 3_000_000_000, length_ns: 2_300_000_000 }));
        assert_eq!(longest(100), None, "twenty times as long as one came on average are six seconds");
        let all = [&own[..], &[gap(1_000, 4_000, None)]];
        assert_eq!(
            longest_gap(all.into_iter(), (at(1_000), at(31_000)), 30_000).map(|gap| gap.length_ns),
            Some(1_000_000_000)
        );
    }

    #[test]
    fn nothing_is_silent_without_a_gap() {
        assert_eq!(found(&[&[], &[gap(10_000, 14_000, Some(9_000))]]), []);
    }

    #[test]
    fn requests_that_take_seconds_are_no_silence() {
        let of_a_worker: Vec<Gap> =
            (0..10).map(|n| gap(1_000 + n * 3_000, 4_000 + n * 3_000, Some(1_000))).collect();
        assert_eq!(stalls([&of_a_worker[..]].into_iter(), (at(1_000), at(31_000)), 10), []);
        let one = [gap(1_000, 31_000, Some(1_000))];
        assert_eq!(stalls([&one[..]].into_iter(), (at(1_000), at(61_000)), 60).len(), 1);
        assert_eq!(stalls([&one[..]].into_iter(), (at(1_000), at(61_000)), 0).len(), 1, "nothing ended");
    }
}
