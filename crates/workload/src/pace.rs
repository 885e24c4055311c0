//! When the next request is due.

use std::collections::VecDeque;

use units::{Instant, Nanos, OpsPerSecond};

use crate::address::Part;
use crate::rng::{Stream, unit};
use crate::spec::Pace;
use crate::{Token, Wake};

/// Tells which slot may be used next and since when.
#[derive(Debug)]
pub(crate) enum Pacer {
    /// A free slot is due at once.
    Closed,
    /// A slot is due so long after its last request ended. Equal delays keep the queue in order of time.
    Think { delay: Nanos, resting: VecDeque<(Instant, Token)> },
    /// A slot is due at once, but not while the worker pauses between bursts.
    Bursts(Bursts),
    /// Due by a schedule that does not wait for anyone.
    Schedule { start: Instant, due: Instant, arrivals: Arrivals },
}

/// Requests that follow each other at once, then a pause of the whole worker.
#[derive(Debug)]
pub(crate) struct Bursts {
    /// Requests and pause of each burst; `None` where the lines of the workload say so for each.
    every: Option<(u32, Nanos)>,
    /// Requests of this burst that are still to come.
    left: u32,
    /// The pause before the next request; zero within a burst.
    pause: Nanos,
    /// When the pause ends, once it has begun.
    ready: Option<Instant>,
}

impl Bursts {
    /// `requests` at a time; when all of them have ended, `delay`.
    pub(crate) fn every(requests: u32, delay: Nanos) -> Bursts {
        Bursts { every: Some((requests, delay)), left: requests, pause: Nanos::ZERO, ready: None }
    }

    /// Bursts that lines say for themselves; they pause from when a slot is free, whatever is in flight.
    pub(crate) fn of_lines(first: Nanos) -> Bursts {
        Bursts { every: None, left: 0, pause: first, ready: None }
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
        if self.pause.is_zero() {
            return Ok(now);
        }
        if self.every.is_some() && in_flight > 0 {
            return Err(Wake::OnCompletion);
        }
        let begins = if self.every.is_some() { last_finish } else { now };
        let ready = *self.ready.get_or_insert(begins.saturating_add(self.pause));
        if ready > now {
            return Err(Wake::At(ready));
        }
        self.pause = Nanos::ZERO;
        self.ready = None;
        Ok(ready)
    }

    /// Counts a request; `pause` is what its line wants after it.
    #[inline]
    fn drew(&mut self, pause: Nanos) {
        let Some((requests, delay)) = self.every else {
            self.pause = pause;
            return;
        };
        self.left -= 1;
        if self.left == 0 {
            (self.left, self.pause) = (requests, delay);
        }
    }
}

/// The distances between scheduled requests.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// Every `gap_ns` from `first_ns`; computed by multiplication, so that rounding does not add up.
    Even { first_ns: f64, gap_ns: f64, count: u64 },
    /// Exponential with mean `gap_ns`. The superposition of the workers' processes is exactly Poisson again.
    Poisson { gap_ns: f64, at_ns: f64, stream: Stream },
}

impl Pacer {
    /// The pace of one of the workers that share it; a rate is shared out, even arrivals are dealt in turn.
    pub(crate) fn new(pace: Pace, part: Part, depth: u32, stream: Stream) -> Pacer {
        let gap_ns = |rate: OpsPerSecond| 1e9 * f64::from(part.of) / rate.get();
        let schedule = |arrivals| Pacer::Schedule { start: Instant::START, due: Instant::START, arrivals };
        match pace {
            Pace::Closed => Pacer::Closed,
            Pace::Bursts { delay, requests } => Pacer::Bursts(Bursts::every(requests, delay)),
            Pace::Think(delay) => Pacer::Think { delay, resting: VecDeque::with_capacity(depth as usize) },
            Pace::Even(rate) => {
                let first_ns = f64::from(part.index) * 1e9 / rate.get();
                schedule(Arrivals::Even { first_ns, gap_ns: gap_ns(rate), count: 0 })
            }
            Pace::Poisson(rate) => schedule(Arrivals::Poisson { gap_ns: gap_ns(rate), at_ns: 0.0, stream }),
        }
    }

    /// Counts a request that was drawn; `pause` is what its line wants after it.
    #[inline]
    pub(crate) fn drew(&mut self, pause: Nanos) {
        if let Pacer::Bursts(bursts) = self {
            bursts.drew(pause);
        }
    }

    /// Whether requests fall due by a schedule, so that response and service may differ.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self, Pacer::Schedule { .. })
    }

    /// Fixes the schedule to the world's clock.
    pub(crate) fn start(&mut self, now: Instant) {
        if let Pacer::Schedule { start, due, arrivals } = self {
            *start = now;
            *due = now + Nanos::new(arrivals.next_ns() as u64);
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
                (end.saturating_since(*due).get() as f64 / arrivals.gap_ns()).ceil() as u64
            }
            _ => 0,
        }
    }

    /// Moves a schedule on by `count` arrivals, at least 1; all but the last of them at their mean distance.
    pub(crate) fn skip(&mut self, count: u64) {
        if let Pacer::Schedule { arrivals, .. } = self {
            arrivals.skip(count - 1);
        }
        self.advance();
    }

    /// Moves a scheduled pace to its next arrival.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if let Pacer::Schedule { start, due, arrivals } = self {
            *due = start.saturating_add(Nanos::new(arrivals.next_ns() as u64));
        }
    }
}

impl Arrivals {
    /// The mean distance.
    fn gap_ns(&self) -> f64 {
        match self {
            Arrivals::Even { gap_ns, .. } | Arrivals::Poisson { gap_ns, .. } => *gap_ns,
        }
    }

    fn skip(&mut self, arrivals: u64) {
        match self {
            Arrivals::Even { count, .. } => *count += arrivals,
            Arrivals::Poisson { gap_ns, at_ns, .. } => *at_ns += *gap_ns * arrivals as f64,
        }
    }

    #[inline]
    pub(crate) fn next_ns(&mut self) -> f64 {
        match self {
            Arrivals::Even { first_ns, gap_ns, count } => {
                *count += 1;
                *first_ns + (*count - 1) as f64 * *gap_ns
            }
            Arrivals::Poisson { gap_ns, at_ns, stream } => {
                // 1 - u lies in (0, 1], so the logarithm is finite.
                *at_ns += -(1.0 - unit(stream)).ln() * *gap_ns;
                *at_ns
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    fn arrivals(pace: Pace, part: Part, count: usize) -> Vec<u64> {
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
        let pace = Pace::Even(OpsPerSecond::new(1000.0));
        assert_eq!(arrivals(pace, Part { index: 0, of: 2 }, 3), [0, 2_000_000, 4_000_000]);
        assert_eq!(arrivals(pace, Part { index: 1, of: 2 }, 3), [1_000_000, 3_000_000, 5_000_000]);
    }

    #[test]
    fn an_even_pace_does_not_drift() {
        let due = arrivals(Pace::Even(OpsPerSecond::new(3.0)), Part::WHOLE, 3_000_001);
        assert_eq!(due[3_000_000], 1_000_000_000_000_000);
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_asked_mean() {
        let due = arrivals(Pace::Poisson(OpsPerSecond::new(1000.0)), Part::WHOLE, 1_000_001);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.005, "mean {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.005, "the deviation of an exponential is its mean");
        let long = gaps.iter().filter(|gap| **gap > 1e6).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0f64).exp()).abs() < 0.003, "{long} of the gaps are longer than the mean");
    }
}
