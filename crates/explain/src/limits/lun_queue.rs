//! The queue of each LUN in its host as the bottleneck: requests wait there, and with more of them the parts behind it would serve more
//! a second.
//!
//! It is no part that works, and so no part is busy where it is the limit. But what lets only so many requests through bounds what
//! the parts behind it can choose from: a disk that takes the nearest of twice as many commands does more a second, however busy it
//! is.

use record::names::trial::LUN_QUEUE;
use record::{Point, Severity};

use super::queues::{BACKGROUND, BUSY, GATHERED};
use super::usage::Use;
use crate::Code;
use crate::draft::{Draft, percent};

/// The wait for it is a large part of the response time from here on.
const LARGE: f64 = 0.3;

/// What to do about it.
pub(super) const REMEDY: &str =
    "Raise `host.lun_depth`, the queue depth of the device in the host, or spread the load over more LUNs.";

/// What waits for it at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LunQueue {
    /// Requests that one LUN takes at once.
    pub depth: u32,
    /// Whether that is of several LUNs.
    is_several: bool,
    waiting: f64,
    /// Of the response time.
    share: f64,
}

impl LunQueue {
    /// Where requests wait for it for a large part of their response time, and each of `uses` has time to spare or does more with
    /// more requests; else nothing.
    pub(super) fn limit(point: &Point, uses: &[Use]) -> Option<LunQueue> {
        let queues = point.breakdown.as_ref()?.lun_queues?;
        let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
        // By Little's law. A long request is several here, which wait one after the other.
        let all = in_flight.max(queues.mean_waiting + queues.mean_outstanding);
        let share = if all > 0.0 { queues.mean_waiting / all } else { 0.0 };
        let gains = |one: &Use| {
            one.queue.is_some_and(|queue| one.share < BUSY || queue.gains && queue.background < BACKGROUND)
        };
        // Where what is through waits at no counted part either, something else may hold it, and more would wait there.
        let at_parts: f64 = uses.iter().filter_map(|one| one.queue).map(|queue| queue.load).sum();
        let is_known = at_parts >= GATHERED * queues.mean_outstanding;
        let is_limit = share >= LARGE && is_known && uses.iter().all(gains);
        is_limit.then_some(LunQueue {
            depth: queues.depth,
            is_several: queues.queues > 1,
            waiting: queues.mean_waiting,
            share,
        })
    }

    /// `at most 64 requests reach the LUN (`host.lun_depth`)`.
    pub(super) fn in_words(self) -> String {
        reach(self.depth, self.is_several)
    }

    /// The finding that names it, with the fullest of `uses`.
    pub(super) fn finding(self, uses: &[Use]) -> Draft {
        let mut sentence = format!(
            "{LUN_QUEUE} is the bottleneck: {}; {} of the response time is the wait for it.",
            self.in_words(),
            percent(self.share)
        );
        let busiest = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share));
        if let Some(part) = busiest {
            sentence += &format!(" Behind it: {}", part.busy());
            let does_more = part.share >= BUSY && part.queue.is_some_and(|queue| queue.gains);
            sentence += match (does_more, part.is_even) {
                (true, true) => "; with more requests to choose from they serve more a second.",
                (true, false) => "; with more requests to choose from it serves more a second.",
                _ => ".",
            };
        }
        let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence)
            .remedy(format!("{REMEDY} `fathom explain --what-if` tells what twice as much gains."));
        let draft = draft.number("lun_depth", f64::from(self.depth));
        draft.number("lun_queue_waiting", self.waiting).number("lun_queue_share", self.share)
    }
}

/// `at most 64 requests reach the LUN (`host.lun_depth`)`, or each of several.
pub(super) fn reach(depth: u32, is_several: bool) -> String {
    let lun = if is_several { "each LUN" } else { "the LUN" };
    format!("at most {depth} requests reach {lun} (`host.lun_depth`)")
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Breakdown, LunQueues};

    use super::super::usage::{Queue, busy};
    use super::*;

    /// A point with so many in flight, of which that many wait for the LUN and the others are there.
    fn point(in_flight: f64, waiting: f64) -> Point {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 1_000_000, spread: 0.0 };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
        point.workloads[0].mean_in_flight = in_flight;
        let lun_queues = LunQueues { depth: 64, queues: 1, mean_outstanding: 64.0, mean_waiting: waiting };
        point.breakdown = Some(Breakdown { lun_queues: Some(lun_queues), ..Breakdown::default() });
        point
    }

    fn disks(share: f64, gains: bool, background: f64) -> Vec<Use> {
        waiting(share, gains, background, 32.0)
    }

    fn waiting(share: f64, gains: bool, background: f64, load: f64) -> Vec<Use> {
        let queue = Some(Queue { load, background, gains });
        let disks = Use { queue, is_even: true, ..busy("disks", share, load, 0.0) };
        vec![disks, busy("controller 0 bus", 0.1, 0.0, 0.0)]
    }

    fn is_limit(point: &Point, uses: &[Use]) -> bool {
        LunQueue::limit(point, uses).is_some()
    }

    #[test]
    fn it_is_the_limit_where_requests_wait_for_it_and_what_is_behind_does_more_with_more() {
        let busy = disks(0.98, true, 0.0);
        assert!(is_limit(&point(256.0, 192.0), &busy));
        assert!(is_limit(&point(100.0, 36.0), &busy) && !is_limit(&point(90.0, 26.0), &busy));
        // Of long requests each is several here.
        assert!(!is_limit(&point(16.0, 20.0), &busy), "20 of 84 parts wait");
        assert!(
            !is_limit(&point(256.0, 192.0), &disks(0.98, false, 0.0)),
            "disks that serve in order are full"
        );
        assert!(is_limit(&point(256.0, 192.0), &disks(0.89, false, 0.0)), "they have time to spare");
        assert!(!is_limit(&point(256.0, 192.0), &disks(0.98, true, 0.3)), "a rebuild fills them");
        assert!(
            !is_limit(&point(256.0, 192.0), &waiting(0.5, false, 0.0, 31.0)),
            "something else may hold them"
        );
        let unknown = Point { breakdown: None, ..point(256.0, 192.0) };
        assert!(!is_limit(&unknown, &busy), "of older records nothing follows");
    }

    #[test]
    fn the_finding_says_how_many_reach_the_lun_and_what_the_wait_is_of_the_response() {
        let finding = |point: &Point, uses: &[Use]| {
            LunQueue::limit(point, uses).expect("it is the limit").finding(uses).about_run()
        };
        let found = finding(&point(256.0, 192.0), &disks(0.98, true, 0.0));
        assert_eq!(
            found.sentence,
            "LUN queue is the bottleneck: at most 64 requests reach the LUN (`host.lun_depth`); 75 % of the response time \
             is the wait for it. Behind it: disks 98 % busy; with more requests to choose from they serve more a second."
        );
        assert!(found.remedy.starts_with("Raise `host.lun_depth`"), "{}", found.remedy);
        assert_eq!((found.bottleneck(), found.numbers["lun_queue_share"]), (Some(LUN_QUEUE), 0.75));
        let mut several = point(256.0, 192.0);
        several.breakdown.iter_mut().flat_map(|one| &mut one.lun_queues).for_each(|one| one.queues = 4);
        let told = finding(&several, &disks(0.5, false, 0.0)).sentence;
        assert!(told.contains("reach each LUN (") && told.ends_with("Behind it: disks 50 % busy."), "{told}");
    }
}
