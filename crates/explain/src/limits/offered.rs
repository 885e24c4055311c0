//! A load that follows a schedule, and storage that keeps up with it: neither is at a limit.

use record::{Point, RankResult, Severity, WorkloadResult};
use spec::Pace;
use units::{Nanos, OpsPerSecond};

use super::FULL;
use super::usage::Use;
use crate::Code;
use crate::draft::Draft;

/// With this part of its slots taken a schedule may soon have to wait.
const HALF: f64 = 0.5;

/// Requests that fall due at random are so much fewer in a short window now and then.
const REACHED: f64 = 0.9;

/// A rank whose workers ended this part of the window before the others did not issue all of its share.
const EARLY: f64 = 0.01;

/// That the schedules of `point` bound its rate, where every workload has one, all requests of the ranks that took part to the end
/// were issued with slots to spare, and no part of `uses` is saturated; else nothing. A trial of a search is not told to
/// search.
pub(super) fn met(point: &Point, uses: &[Use], is_searched: bool) -> Option<Draft> {
    let offered = Offered::of(point);
    let kept = |workload| kept(workload, offered.share);
    let rates: Vec<OpsPerSecond> = point.workloads.iter().map(kept).collect::<Option<_>>()?;
    let busiest = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share))?;
    if rates.is_empty() || busiest.share >= FULL {
        return None;
    }
    let rate: f64 = rates.iter().map(|rate| rate.get()).sum();
    let (rate, issued) = (OpsPerSecond::new(rate), OpsPerSecond::new(rate * offered.share));
    let what = match &offered.missing[..] {
        [] => "and all were issued".to_owned(),
        missing => format!(
            "and {issued} of them were offered by the ranks that are in the figures: {}",
            missing.join("; ")
        ),
    };
    let sentence = format!(
        "Offered load: the plan schedules {rate} requests/s, {what}. No part is saturated; the busiest, {}: {}.",
        busiest.part,
        busiest.in_words()
    );
    let draft = Draft::new(Code::OfferedLoad, Severity::Note, sentence);
    let draft = match is_searched {
        true => draft,
        false => draft.remedy(
            "Find the maximum sustained rate with `fathom search`; this run says what the load costs, not what the \
             target can do.",
        ),
    };
    let draft = match offered.missing[..] {
        [] => draft,
        _ => draft.number("offered_per_s", issued.get()),
    };
    Some(draft.number("scheduled_per_s", rate.get()).number(&busiest.key("share"), busiest.share))
}

/// Of a schedule, what ranks had to offer that are in the figures.
struct Offered {
    /// Of the whole schedule.
    share: f64,
    /// Who left out how much.
    missing: Vec<String>,
}

impl Offered {
    fn of(point: &Point) -> Offered {
        let all: u32 = point.workloads.iter().map(|workload| workload.spec.workers).sum();
        let from = point.workloads.iter().map(|workload| workload.measured_from_ns).min().unwrap_or(0);
        let until = point.ranks.iter().filter_map(|rank| rank.ended_ns).max();
        let (Some(until), false) = (until.filter(|until| *until > from && all > 0), point.complete) else {
            return Offered { share: 1.0, missing: Vec::new() };
        };
        let window = (until - from) as f64;
        let (mut share, mut missing) = (0.0, Vec::new());
        for rank in &point.ranks {
            let RankResult { rank: number, host, workers, ended_ns, lost, .. } = rank;
            // Of one that was lost nobody knows what it has issued.
            let ended = ended_ns.filter(|_| lost.is_none());
            let Some(ended) = ended else {
                missing
                    .push(format!("the share of rank {number} on {host}, which was lost, is not among them"));
                continue;
            };
            let early = until.saturating_sub(ended);
            share += f64::from(*workers) / f64::from(all) * (1.0 - (early as f64 / window).min(1.0));
            if *workers > 0 && early as f64 > EARLY * window {
                let early = Nanos::new(early);
                missing.push(format!("rank {number} on {host} ended {early} before the last one"));
            }
        }
        let share = if missing.is_empty() { 1.0 } else { share.min(1.0) };
        Offered { share, missing }
    }
}

/// The rate of a schedule of which that share was kept; `None` without one, where requests were left out, and where slots were
/// short.
fn kept(workload: &WorkloadResult, share: f64) -> Option<OpsPerSecond> {
    let Pace::Open(schedule) = workload.spec.pace else { return None };
    let slots = f64::from(workload.spec.depth) * f64::from(workload.spec.workers);
    let rate = schedule.mean_rate();
    let is_reached = workload.total().is_some_and(|all| all.ops_per_s.value >= REACHED * share * rate.get());
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
    fn a_schedule_that_is_kept_below_every_ceiling_is_what_bounds_the_rate() {
        assert!(met(&point(), &[part(0.94)], false).is_some(), "busy, but not saturated");
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
        assert!(met(&point(), &[part(0.95)], false).is_none() && met(&point(), &[], false).is_none());
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

    /// A load of ten seconds that four workers of two ranks drive, of which the second has ended so long before the first.
    fn cut_short(early_ns: u64) -> Point {
        let mut point = point();
        let until = point.workloads[0].measured_from_ns + 10_000_000_000;
        let rank = |rank: u32, early_ns| RankResult {
            rank,
            host: format!("host-{rank}"),
            workers: 2,
            ended_ns: Some(until - early_ns),
            ..RankResult::default()
        };
        point.ranks = vec![rank(0, 0), rank(1, early_ns)];
        point.workloads[0].spec.workers = 4;
        point.complete = false;
        point
    }

    #[test]
    fn of_a_schedule_whose_rank_ended_early_or_was_lost_it_is_not_said_that_all_was_issued() {
        let said = |point: &Point| met(point, &[part(0.12)], false).expect("it is kept").about_run();
        assert!(said(&cut_short(10_000_000)).sentence.contains("and all were issued"));
        let early = said(&cut_short(1_000_000_000)).sentence;
        assert!(!early.contains("all were issued"), "{early}");
        assert!(
            early.contains("190 of them were offered") && early.contains("rank 1 on host-1 ended 1.00 s"),
            "{early}"
        );
        let mut point = cut_short(0);
        point.ranks[1] = RankResult {
            lost: Some("it was killed".into()),
            workers: 0,
            ended_ns: None,
            ..point.ranks[1].clone()
        };
        let lost = said(&point).sentence;
        assert!(
            lost.contains("100 of them were offered") && lost.contains("rank 1 on host-1, which was lost"),
            "{lost}"
        );
    }
}
