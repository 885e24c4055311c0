//! When the next request is due.

use std::collections::VecDeque;

use units::convert::truncated;
use units::{Instant, Nanos};

use crate::address::RegionShare;
use crate::rng::{Stream, unit};
use crate::spec::{Overflow, Pace, Schedule, Spacing};
use crate::trace;
use crate::{Token, Wake};

/// Tells which slot may be used next and since when.
#[derive(Debug)]
pub(crate) enum Pacer {
    /// A free slot is due at once.
    Closed,
    /// A slot is due so long after its last request ended. Equal delays keep the queue in order of time.
    Think { delay: Nanos, resting: VecDeque<(Instant, Token)> },
    /// A slot is due at once, but not before the cap allows it.
    Capped { start: Instant, due: Instant, cap: Cap },
    /// A slot is due at once, but not while the worker pauses between bursts.
    Bursts(Bursts),
    /// Due by a schedule that does not wait for anyone.
    Schedule { start: Instant, due: Instant, arrivals: Arrivals, overflow: Overflow },
}

/// So much since the start and no more.
#[derive(Debug)]
pub(crate) struct Cap {
    /// Whether bytes are counted, not requests.
    counts_bytes: bool,
    ns_each: f64,
    first_ns: f64,
    sent: u64,
}

impl Cap {
    /// When what was sent so far, and `len` bytes in one request more, allow the next one; since the start.
    #[inline]
    fn next_ns(&mut self, len: u32) -> Nanos {
        self.sent += if self.counts_bytes { u64::from(len) } else { 1 };
        Nanos::new(truncated(self.first_ns + self.sent as f64 * self.ns_each))
    }
}

/// Requests that follow each other at once, then a pause of the whole worker.
#[derive(Debug)]
pub(crate) struct Bursts {
    every: Every,
    /// Requests of this burst that are still to come.
    left: u32,
    /// The pause before the next request; zero within a burst.
    pause: Nanos,
    /// When the pause ends, once it has begun.
    ready: Option<Instant>,
}

/// How long each burst is.
#[derive(Clone, Copy, Debug)]
enum Every {
    /// So many requests, then the pause.
    Requests(u32, Nanos),
    /// So long, then the pause; when the present one ends.
    Time { busy: Nanos, delay: Nanos, ends: Instant },
    /// As the lines of the workload say.
    Lines,
}

impl Bursts {
    /// `requests` at a time; when all of them have ended, `delay`.
    pub(crate) fn every(requests: u32, delay: Nanos) -> Bursts {
        assert!(requests > 0, "a burst has a request");
        let every = Every::Requests(requests, delay);
        Bursts { every, left: requests, pause: Nanos::ZERO, ready: None }
    }

    /// Whatever fits into `busy`; when all of it has ended, `delay`.
    pub(crate) fn spells(busy: Nanos, delay: Nanos) -> Bursts {
        assert!(!busy.is_zero(), "a spell has time for a request");
        let every = Every::Time { busy, delay, ends: Instant::START };
        Bursts { every, left: 0, pause: Nanos::ZERO, ready: None }
    }

    /// The first burst begins.
    fn start(&mut self, now: Instant) {
        if let Every::Time { busy, ends, .. } = &mut self.every {
            *ends = now.saturating_add(*busy);
        }
    }

    /// Bursts that lines say for themselves; they pause from when a slot is free, whatever is in flight.
    pub(crate) fn of_lines(first: Nanos) -> Bursts {
        Bursts { every: Every::Lines, left: 0, pause: first, ready: None }
    }

    /// When the next request is due, or when to ask again.
    #[inline]
    pub(crate) fn due(
        &mut self,
        now: Instant,
        in_flight: u32,
        last_finish: Instant,
        has_slot: bool,
    ) -> Result<Instant, Wake> {
        if !has_slot {
            return Err(Wake::OnCompletion);
        }
        if let Every::Time { delay, ends, .. } = self.every
            && now >= ends
        {
            self.pause = delay;
        }
        if self.pause.is_zero() {
            return Ok(now);
        }
        let waits_for_all = !matches!(self.every, Every::Lines);
        if waits_for_all && in_flight > 0 {
            return Err(Wake::OnCompletion);
        }
        let begins = if waits_for_all { last_finish } else { now };
        let ready = *self.ready.get_or_insert(begins.saturating_add(self.pause));
        if ready > now {
            return Err(Wake::At(ready));
        }
        self.pause = Nanos::ZERO;
        self.ready = None;
        self.start(now);
        Ok(ready)
    }

    /// Counts a request; `pause` is what its line wants after it.
    #[inline]
    fn drew(&mut self, pause: Nanos) {
        match self.every {
            Every::Lines => self.pause = pause,
            Every::Time { .. } => {}
            Every::Requests(requests, delay) => {
                self.left -= 1;
                if self.left == 0 {
                    (self.left, self.pause) = (requests, delay);
                }
            }
        }
    }
}

/// The distances between scheduled requests.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// The shared schedule's arrivals number `next`, `next + step` and so on, one every `gap_ns`; computed by
    /// multiplication, so that rounding does not add up and all workers together are one even schedule.
    Even { gap_ns: f64, next: u64, step: u64 },
    /// Exponential with mean `gap_ns`. The superposition of the workers' processes is exactly Poisson again.
    Poisson { gap_ns: f64, at_ns: f64, stream: Stream },
    /// Poisson on a clock that stands still in every pause: `at_ns` counts the time that was on.
    OnOff { gap_ns: f64, at_ns: f64, on_ns: f64, off_ns: f64, stream: Stream },
    /// As a trace was recorded.
    Trace(trace::Arrivals),
}

impl Pacer {
    /// The pace of one of the workers that share it; a rate is shared out, even arrivals are dealt in turn.
    pub(crate) fn new(pace: Pace, part: RegionShare, depth: u32, stream: Stream) -> Pacer {
        assert!(part.index < part.of, "a worker is one of those that share the pace");
        let is_kept = |rate: f64| rate > 0.0 && rate.is_finite();
        assert!(
            match pace {
                Pace::Cap(rate) => is_kept(rate.get()),
                Pace::CapBytes(rate) => is_kept(rate.get()),
                Pace::Open(schedule) => is_kept(schedule.rate.get()),
                _ => true,
            },
            "{pace:?} has no request fall due"
        );
        let gap_ns = |rate: f64| 1e9 * f64::from(part.of) / rate;
        let capped = |cap| Pacer::Capped { start: Instant::START, due: Instant::START, cap };
        match pace {
            // A trace's own pace comes from the trace, see `of_trace`.
            Pace::Closed | Pace::Trace => Pacer::Closed,
            Pace::Cap(rate) => {
                let first_ns = f64::from(part.index) * 1e9 / rate.get();
                capped(Cap { counts_bytes: false, ns_each: gap_ns(rate.get()), first_ns, sent: 0 })
            }
            Pace::CapBytes(rate) => {
                let ns_each = gap_ns(rate.get());
                capped(Cap { counts_bytes: true, ns_each, first_ns: 0.0, sent: 0 })
            }
            Pace::Bursts { delay, requests } => Pacer::Bursts(Bursts::every(requests, delay)),
            Pace::Spells { delay, busy } => Pacer::Bursts(Bursts::spells(busy, delay)),
            Pace::Think(delay) => Pacer::Think { delay, resting: VecDeque::with_capacity(depth as usize) },
            Pace::Open(schedule) => Pacer::Schedule {
                start: Instant::START,
                due: Instant::START,
                arrivals: Arrivals::new(schedule, part, stream),
                overflow: schedule.overflow,
            },
        }
    }

    /// The pace of a worker that asks when a trace says.
    pub(crate) fn of_trace(arrivals: trace::Arrivals) -> Pacer {
        Pacer::Schedule {
            start: Instant::START,
            due: Instant::START,
            arrivals: Arrivals::Trace(arrivals),
            overflow: Overflow::Queue,
        }
    }

    /// Counts a request of `len` bytes that was drawn; `pause` is what its line wants after it.
    #[inline]
    pub(crate) fn drew(&mut self, len: u32, pause: Nanos) {
        match self {
            Pacer::Bursts(bursts) => bursts.drew(pause),
            Pacer::Capped { start, due, cap } => {
                let before = std::mem::replace(due, start.saturating_add(cap.next_ns(len)));
                debug_assert!(before <= *due, "a cap goes back from {before:?} to {due:?}");
            }
            _ => {}
        }
    }

    /// Whether requests fall due by a schedule, so that response and service may differ.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self, Pacer::Schedule { .. })
    }

    /// Fixes the schedule to the world's clock.
    pub(crate) fn start(&mut self, now: Instant) {
        if let Pacer::Bursts(bursts) = self {
            bursts.start(now);
        }
        if let Pacer::Capped { start, due, cap } = self {
            *start = now;
            *due = now + Nanos::new(truncated(cap.first_ns));
        }
        if let Pacer::Schedule { start, due, arrivals, .. } = self {
            *start = now;
            *due = now.saturating_add(Nanos::new(truncated(arrivals.next_ns())));
        }
    }

    /// The next arrival of a schedule if it is due before `end`.
    pub(crate) fn due_before(&self, end: Instant) -> Option<Instant> {
        match self {
            Pacer::Schedule { due, .. } => Some(*due).filter(|due| *due < end),
            _ => None,
        }
    }

    /// Whether a schedule has an arrival that is due before `end`.
    #[inline]
    pub(crate) fn is_due_before(&self, end: Instant) -> bool {
        self.due_before(end).is_some()
    }

    /// How many arrivals of a schedule are due before `end`, on average.
    pub(crate) fn expected_before(&self, end: Instant) -> u64 {
        match self {
            Pacer::Schedule { due, arrivals, .. } => {
                truncated::<u64>((end.saturating_since(*due).get() as f64 / arrivals.gap_ns()).ceil())
            }
            _ => 0,
        }
    }

    /// Moves a schedule on by `count` arrivals, at least 1; all but the last of them at their mean distance.
    pub(crate) fn skip(&mut self, count: u64) {
        assert!(count > 0, "a schedule moves on");
        if let Pacer::Schedule { arrivals, .. } = self {
            arrivals.skip(count - 1);
        }
        self.advance();
    }

    /// Moves a scheduled pace to its next arrival.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if let Pacer::Schedule { start, due, arrivals, .. } = self {
            let before = *due;
            *due = start.saturating_add(Nanos::new(truncated(arrivals.next_ns())));
            debug_assert!(before <= *due, "a schedule goes back from {before:?} to {due:?}");
        }
    }
}

impl Arrivals {
    fn new(schedule: Schedule, part: RegionShare, stream: Stream) -> Arrivals {
        let together_ns = 1e9 / schedule.rate.get();
        let gap_ns = together_ns * f64::from(part.of);
        match schedule.spacing {
            Spacing::Even => {
                Arrivals::Even { gap_ns: together_ns, next: part.index.into(), step: part.of.into() }
            }
            Spacing::Poisson => Arrivals::Poisson { gap_ns, at_ns: 0.0, stream },
            Spacing::OnOff { on, off } => {
                let (on_ns, off_ns) = (on.get() as f64, off.get() as f64);
                assert!(on_ns > 0.0, "requests fall due in no time at all");
                Arrivals::OnOff { gap_ns, at_ns: 0.0, on_ns, off_ns, stream }
            }
        }
    }

    /// The mean distance, pauses included.
    fn gap_ns(&self) -> f64 {
        match self {
            Arrivals::Even { gap_ns, step, .. } => *gap_ns * *step as f64,
            Arrivals::Poisson { gap_ns, .. } => *gap_ns,
            Arrivals::OnOff { gap_ns, on_ns, off_ns, .. } => *gap_ns * (on_ns + off_ns) / on_ns,
            Arrivals::Trace(arrivals) => arrivals.gap_ns(),
        }
    }

    fn skip(&mut self, arrivals: u64) {
        match self {
            Arrivals::Even { next, step, .. } => *next += arrivals * *step,
            Arrivals::Poisson { gap_ns, at_ns, .. } | Arrivals::OnOff { gap_ns, at_ns, .. } => {
                *at_ns += *gap_ns * arrivals as f64;
            }
            Arrivals::Trace(own) => own.skip(arrivals),
        }
    }

    #[inline]
    pub(crate) fn next_ns(&mut self) -> f64 {
        match self {
            Arrivals::Even { gap_ns, next, step } => {
                let at_ns = *next as f64 * *gap_ns;
                *next += *step;
                at_ns
            }
            Arrivals::Poisson { gap_ns, at_ns, stream } => {
                *at_ns += exponential(stream) * *gap_ns;
                *at_ns
            }
            Arrivals::OnOff { gap_ns, at_ns, on_ns, off_ns, stream } => {
                *at_ns += exponential(stream) * *gap_ns;
                *at_ns + (*at_ns / *on_ns).floor() * *off_ns
            }
            Arrivals::Trace(own) => own.next_ns(),
        }
    }
}

/// Exponentially distributed with mean 1.
#[inline]
fn exponential(stream: &mut Stream) -> f64 {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    -(1.0 - unit(stream)).ln()
}

#[cfg(test)]
mod tests {
    use units::OpsPerSecond;

    use super::*;
    use crate::rng::Streams;

    fn arrivals(pace: Pace, part: RegionShare, count: usize) -> Vec<u64> {
        let mut pacer = Pacer::new(pace, part, 1, Streams::new(3).open("arrivals"));
        pacer.start(Instant::START);
        let mut next = || {
            let Pacer::Schedule { due, .. } = &pacer else { panic!("not a schedule") };
            let due = due.nanos();
            pacer.advance();
            due
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn workers_are_dealt_even_arrivals_in_turn() {
        let pace = Pace::even(OpsPerSecond::new(1000.0));
        assert_eq!(arrivals(pace, RegionShare { index: 0, of: 2 }, 3), [0, 2_000_000, 4_000_000]);
        assert_eq!(arrivals(pace, RegionShare { index: 1, of: 2 }, 3), [1_000_000, 3_000_000, 5_000_000]);
    }

    #[test]
    fn an_on_off_pace_is_poisson_while_it_is_on_and_silent_while_it_is_off() {
        let spacing = Spacing::OnOff { on: Nanos::from_millis(200), off: Nanos::from_millis(800) };
        let schedule = Schedule { rate: OpsPerSecond::new(10_000.0), spacing, overflow: Overflow::Queue };
        let due = arrivals(Pace::Open(schedule), RegionShare::WHOLE, 200_000);
        assert!(due.iter().all(|due| due % 1_000_000_000 < 200_000_001), "none in a pause");
        let seconds = *due.last().unwrap() as f64 / 1e9;
        let mean = due.len() as f64 / seconds;
        assert!((mean / schedule.mean_rate().get() - 1.0).abs() < 0.02, "{mean}/s of 2,000/s");
        // The count of a burst is Poisson: its variance is its mean.
        let bursts: Vec<f64> = due
            .chunk_by(|one, next| one / 1_000_000_000 == next / 1_000_000_000)
            .map(|burst| burst.len() as f64)
            .collect();
        let bursts = &bursts[..bursts.len() - 1];
        let mean = bursts.iter().sum::<f64>() / bursts.len() as f64;
        let variance = bursts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / bursts.len() as f64;
        assert!((0.6..1.6).contains(&(variance / mean)), "variance {variance} of mean {mean}");
    }

    #[test]
    fn an_even_pace_does_not_drift() {
        let due = arrivals(Pace::even(OpsPerSecond::new(3.0)), RegionShare::WHOLE, 3_000_001);
        assert_eq!(due[3_000_000], 1_000_000_000_000_000);
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_asked_mean() {
        let due = arrivals(Pace::poisson(OpsPerSecond::new(1000.0)), RegionShare::WHOLE, 1_000_001);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.005, "mean {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.005, "the deviation of an exponential is its mean");
        let long = gaps.iter().filter(|gap| **gap > 1e6).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0f64).exp()).abs() < 0.003, "{long} of the gaps are longer than the mean");
    }
}
