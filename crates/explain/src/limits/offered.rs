//! A load that follows a schedule, and storage that keeps up with it: neither is at a limit.

use record::{Point, Severity, WorkloadResult};
use spec::Pace;
use units::OpsPerSecond;

use super::FAR;
use super::usage::Use;
use crate::Code;
use crate::draft::{Draft, percent};

/// With this part of its slots taken a schedule may soon have to wait.
const HALF: f64 = 0.5;

/// Requests that fall due at random are so much fewer in a short window now and then.
const REACHED: f64 = 0.9;

/// That the schedules of `point` bound its rate, where every workload has one, all requests were issued with slots to
/// spare, and no part of `uses` is near its ceiling; else nothing. A trial of a search is not told to search.
pub(super) fn met(point: &Point, uses: &[Use], is_searched: bool) -> Option<Draft> {
    let rates: Vec<OpsPerSecond> = point.workloads.iter().map(kept).collect::<Option<_>>()?;
    let busiest = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share))?;
    // Nobody knows what a rank that was lost has issued.
    let has_lost = point.ranks.iter().any(|rank| rank.lost.is_some());
    if rates.is_empty() || busiest.share >= FAR || has_lost {
        return None;
    }
    let rate = OpsPerSecond::new(rates.iter().map(|rate| rate.get()).sum());
    let sentence = format!(
        "Offered load: the plan schedules {rate} requests/s, and all were issued. No part is saturated; the busiest, {}, is \
         at {}.",
        busiest.part,
        percent(busiest.share)
    );
    let draft = Draft::new(Code::OfferedLoad, Severity::Note, sentence);
    let draft = match is_searched {
        true => draft,
        false => draft.remedy(
            "Find the maximum sustained rate with `fathom search`; this run says what the load costs, not what the \
             target can do.",
        ),
    };
    Some(draft.number("scheduled_per_s", rate.get()).number(&format!("{}.busy", busiest.part), busiest.share))
}

/// The rate of a schedule that was kept; `None` without one, where requests were left out, and where slots were short.
fn kept(workload: &WorkloadResult) -> Option<OpsPerSecond> {
    let Pace::Open(schedule) = workload.spec.pace else { return None };
    let slots = f64::from(workload.spec.depth) * f64::from(workload.spec.workers);
    let rate = schedule.mean_rate();
    let is_reached = workload.total().is_some_and(|all| all.ops_per_s.value >= REACHED * rate.get());
    let all_issued = workload.dropped + workload.not_issued == 0 && !workload.gave_up;
    (is_reached && all_issued && workload.mean_in_flight < HALF * slots).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};
    use spec::{Overflow, Schedule, Spacing};

    fn point() -> Point {
        let stream = Stream { op: "read", size_bytes: 8192, per_s: 200, median_ns: 5_000_000, spread: 0.1 };
        let mut workload = sample::workload("main", &[stream]);
        let rate = OpsPerSecond::new(200.0);
        workload.spec.pace =
            Pace::Open(Schedule { rate, spacing: Spacing::Poisson, overflow: Overflow::Queue });
        (workload.spec.depth, workload.mean_in_flight) = (64, 1.0);
        sample::point(0, "paced", vec![workload])
    }

    fn part(share: f64) -> Use {
        Use {
            part: "disks".into(),
            what: "busy".into(),
            share,
            amount: None,
            unit: String::new(),
            is_even: true,
            basis: String::new(),
            queue: None,
        }
    }

    #[test]
    fn a_schedule_that_is_kept_far_from_every_ceiling_is_what_bounds_the_rate() {
        let found = met(&point(), &[part(0.12)], false).expect("it is kept").about_run();
        assert_eq!(found.code, Code::OfferedLoad.name());
        assert!(
            found.sentence.contains("200 requests/s") && found.sentence.contains("12 %"),
            "{}",
            found.sentence
        );
    }

    #[test]
    fn a_full_part_a_full_queue_or_a_request_left_out_says_nothing_of_the_schedule() {
        assert!(met(&point(), &[part(0.7)], false).is_none() && met(&point(), &[], false).is_none());
        let with = |change: fn(&mut WorkloadResult)| {
            let mut point = point();
            change(&mut point.workloads[0]);
            met(&point, &[part(0.12)], false)
        };
        assert!(with(|workload| workload.dropped = 1).is_none());
        assert!(with(|workload| workload.not_issued = 1).is_none());
        assert!(with(|workload| workload.mean_in_flight = 32.0).is_none());
        assert!(with(|workload| workload.spec.pace = Pace::Closed).is_none());
    }

    #[test]
    fn nothing_is_said_of_a_schedule_where_a_rank_was_lost() {
        let mut point = point();
        point.ranks = vec![record::RankResult { lost: Some("it was killed".into()), ..Default::default() }];
        assert!(met(&point, &[part(0.12)], false).is_none());
    }
}
