//! What one job saw: counts, histograms, intervals and errors.
//!
//! A request is *measured* when it was in flight at any time of the measured window: it finished in it, or was due in
//! it and finished later, or was due in it and never issued. So a stall at either edge is never lost. Rates count what
//! finished within the window, over the window.

use stats::{Bucket, Histogram};
use units::{Bytes, Instant, Nanos};

pub use spec::Action;

use crate::{Errno, Logged};

/// Operation and size: the unit in which latencies are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// What was asked.
    pub op: Action,
    /// How much of it; zero for a flush, for what moves no content, and for files whose sizes vary.
    pub size: Bytes,
}

/// What the requests of one class did.
#[derive(Clone, Debug)]
pub struct ClassTally {
    /// Which class.
    pub class: Class,
    /// Requests that finished within the measured window without an error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Requests that ended without an error from the start, warm-up and cool-down included.
    pub ended: u64,
    /// Bytes that those moved.
    pub ended_bytes: Bytes,
    /// Measured requests by response time, from due to finished. Failed requests are not among them.
    pub response: Histogram,
    /// By service time, from issued to finished. `None` in a closed loop, where it equals `response`.
    pub service: Option<Histogram>,
    /// By how late they were issued. `None` in a closed loop, where it is always zero.
    pub lag: Option<Histogram>,
    /// Those of them that finished after the window, and so are not among `ops`, by service time.
    pub after: Histogram,
}

impl ClassTally {
    /// Nothing was seen of it.
    pub fn new(class: Class) -> ClassTally {
        ClassTally {
            class,
            ops: 0,
            bytes: Bytes::ZERO,
            ended: 0,
            ended_bytes: Bytes::ZERO,
            response: Histogram::new(),
            service: None,
            lag: None,
            after: Histogram::new(),
        }
    }
}

/// One second, or what was left of a phase, of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassInterval {
    /// Which class.
    pub class: Class,
    /// Requests that finished.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Their response times.
    pub response: Vec<Bucket>,
    /// Their service times; empty where they equal the response times, as in every closed loop.
    pub service: Vec<Bucket>,
    /// The longest of them, exact.
    pub longest: Nanos,
}

/// A stretch of the run, a second long, or what is left of a phase, in which something ended.
///
/// All workers of a workload cut theirs at the same instants: each second from the start of the window, and at its end.
/// A stretch without a completion has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub until: Instant,
    /// Whether it belongs to the measured window.
    pub measured: bool,
    /// Classes that finished something.
    pub classes: Vec<ClassInterval>,
}

/// A second or more in which nothing of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The completion before it, or the start of the measured window.
    pub from: Instant,
    /// The completion that ended it; never after the last one.
    pub until: Instant,
    /// Since when a request was in flight, at or after `from` or before it; never where none was.
    pub waiting_since: Instant,
}

impl Gap {
    /// Shorter ones are no gaps.
    pub const LEAST: Nanos = Nanos::from_secs(1);

    /// How long nothing ended.
    pub fn length(&self) -> Nanos {
        self.until.saturating_since(self.from)
    }

    /// How long nothing ended although something was in flight.
    pub fn waited(&self) -> Nanos {
        self.until.saturating_since(self.from.max(self.waiting_since))
    }
}

/// The gaps of a job, in order of time; of very many the longest.
///
/// A worker whose every request takes seconds has a gap with each. Where there are 65,536 of them, the least length that
/// is kept doubles, so that memory does not grow with the duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    list: Vec<Gap>,
    least: Nanos,
}

impl Gaps {
    const MOST: usize = 1 << 16;

    /// Adds the next; what is shorter than the least length is none.
    pub fn push(&mut self, gap: Gap) {
        if gap.length() < self.least {
            return;
        }
        self.list.push(gap);
        while self.list.len() >= Gaps::MOST {
            self.least = Nanos::new(self.least.get() * 2);
            let least = self.least;
            self.list.retain(|gap| gap.length() >= least);
        }
    }

    /// All that are kept, in order of time.
    pub fn as_slice(&self) -> &[Gap] {
        &self.list
    }
}

impl Default for Gaps {
    fn default() -> Gaps {
        Gaps { list: Vec::new(), least: Gap::LEAST }
    }
}

/// How many requests of a job were in flight together, went out together and came back together, over the measured
/// window; of one that ended within its warm-up over all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// Requests by how many were in flight as each was handed over, itself among them: 1, 2 to 3, 4 to 7 and so on, and 64
    /// and more.
    pub in_flight: [u64; 7],
    /// Times that some were handed over, by how many: 1, 2, 3 to 4, 5 to 8 and so on, and more than 64.
    pub submitted: [u64; 8],
    /// Times that some were found to have ended, by how many, in the same steps.
    pub completed: [u64; 8],
}

impl Together {
    /// The place of a count among steps that begin with a power of two.
    #[inline]
    pub fn at_least(count: u64) -> usize {
        ((count | 1).ilog2() as usize).min(6)
    }

    /// The place of a count among steps that end with a power of two.
    #[inline]
    pub fn at_most(count: u64) -> usize {
        // One more than the place of the highest bit of what is below the power of two.
        ((u64::BITS - count.saturating_sub(1).leading_zeros()) as usize).min(7)
    }
}

/// What the edges of the measured window cut: with it, the sum of all service times is the integral of requests in
/// flight to the nanosecond, whatever hung over an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Time that measured requests had been in service before the window began.
    pub before_ns: u128,
    /// Time that measured requests were in service after the window had ended.
    pub after_ns: u128,
    /// Measured requests that ended after the window.
    pub ended_after: u64,
    /// Time within the window that requests were in service that failed, which are in no histogram.
    pub failed_ns: u128,
    /// Time from due to issued of measured requests without a schedule, which their response times hold: after a
    /// pause whoever drives the job may wake late.
    pub lag_ns: u128,
}

/// Why a request counts as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The system said so.
    Errno(Errno),
    /// Fewer bytes were moved than asked for, as at the end of a file that shrank.
    Short {
        /// Bytes that were moved.
        moved: u32,
    },
    /// Other data came back than was written.
    Corrupt,
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        if errno == Errno::CORRUPT { Failure::Corrupt } else { Failure::Errno(errno) }
    }
}

/// One failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// When it ended.
    pub at: Instant,
    /// What was asked.
    pub op: Action,
    /// Which of the job's files or LUNs; of what is done to directories, which directory of the tree.
    pub file: u64,
    /// Where in it; zero where all of it is meant.
    pub offset: Bytes,
    /// How much.
    pub len: u32,
    /// What happened.
    pub failure: Failure,
}

/// All that one job saw.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By class, classes without any request included.
    pub classes: Vec<ClassTally>,
    /// Closed intervals not yet taken.
    pub intervals: Vec<Interval>,
    /// Requests of its journal not yet taken.
    pub logged: Vec<Logged>,
    /// Start of the load.
    pub begun: Instant,
    /// Start of the measured window.
    pub measured_from: Instant,
    /// End of the measured window: the end that was set, or the last completion where none was.
    pub measured_until: Instant,
    /// Requests planned from the start.
    pub planned: u64,
    /// Requests completed from the start; equal to `planned` once the job is done.
    pub completed: u64,
    /// The integral of requests in flight over the measured window, from the changes of their number.
    pub in_flight_ns: u128,
    /// How many were in flight, went out and came back together.
    pub together: Together,
    /// What the edges of the window cut of service times.
    pub edges: Edges,
    /// Stretches of a second or more without a completion; the last one has no end.
    pub gaps: Gaps,
    /// Requests that fell due in the window while all slots were taken and were left out, as the pace asked for.
    /// They are in no histogram.
    pub dropped: u64,
    /// Requests that were due in the window and were never issued, because the target was behind until long after
    /// it. Their response times are in the histograms as the time they had waited by then: the least it can be.
    pub not_issued: u64,
    /// Requests of a schedule that were due in the window, by the part of their lag for which whoever drives the job is
    /// to blame: a slot was free, and they were not issued. `None` without a schedule.
    pub late: Option<Histogram>,
    /// Digest of (op, file, offset, length) of all planned requests, in order.
    pub digest: u64,
    /// Requests that failed, from the start.
    pub errors: u64,
    /// The first of them.
    pub error_samples: Vec<ErrorSample>,
    /// Whether the job gave up because too many failed.
    pub gave_up: bool,
    /// Zones that it reset.
    pub zone_resets: u64,
}

impl Tally {
    /// The measured window.
    pub fn measured(&self) -> Nanos {
        self.measured_until.saturating_since(self.measured_from)
    }

    /// Requests that finished within the window.
    pub fn ops(&self) -> u64 {
        self.classes.iter().map(|class| class.ops).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_gaps_the_longest_stay_in_order() {
        let mut gaps = Gaps::default();
        let mut at = Instant::from_nanos(0);
        for number in 0..1_000_000_u64 {
            let ms = if number % 1000 == 7 { 60_000 + number / 1000 } else { 500 + number % 2001 };
            let until = at.saturating_add(Nanos::from_millis(ms));
            gaps.push(Gap { from: at, until, waiting_since: at });
            at = until;
        }
        let kept = gaps.as_slice();
        assert!(kept.len() < Gaps::MOST, "{}", kept.len());
        let long = kept.iter().filter(|gap| gap.length() >= Nanos::from_secs(60)).count();
        assert_eq!(long, 1000);
        assert!(kept.is_sorted_by_key(|gap| gap.from));
        assert!(kept.iter().all(|gap| gap.length() >= Gap::LEAST));
    }
}
