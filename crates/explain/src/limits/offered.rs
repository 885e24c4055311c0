//! A load whose rate the plan bounds, by a schedule, a cap or time to think, and storage that keeps up with it: neither is
//! at a limit.

use record::{Point, RankResult, Severity, WorkloadResult};
use spec::Pace;
use units::convert::truncated;
use units::{Nanos, OpsPerSecond};

use super::FULL;
use super::queues::BUSY;
use super::usage::Use;
use crate::Code;
use crate::draft::{Draft, percent};

/// With this part of its slots taken a schedule may soon have to wait.
const HALF: f64 = 0.5;

/// Requests that fall due at random are so much fewer in a short window now and then.
const REACHED: f64 = 0.9;

/// A rank whose workers ended this part of the window before the others did not issue all of its share.
const EARLY: f64 = 0.01;

/// From this part of each cycle on thinking is what bounds the rate as much as the storage.
const THINKS: f64 = 0.2;

/// That the plan bounds the rate of `point`, where it does for every workload, all requests of the ranks that took part to the end
/// were issued with slots to spare, and no part of `uses` is saturated; else nothing. A trial of a search is not told to
/// search.
pub(super) fn met(point: &Point, uses: &[Use], is_searched: bool) -> Option<Draft> {
    let offered = Offered::of(point);
    let bounds: Vec<Bound> =
        point.workloads.iter().map(|one| Bound::of(one, offered.share)).collect::<Option<_>>()?;
    let busiest = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share));
    let is_full = busiest.is_some_and(|busiest| busiest.share >= FULL);
    // A rate that is kept with slots to spare is kept, whatever is busy behind the caches; one of a cache that fills does not last.
    if bounds.is_empty() || is_full && (point.is_filling() || !bounds.iter().all(Bound::is_rate)) {
        return None;
    }
    let scheduled: f64 = bounds.iter().map(Bound::scheduled).sum();
    let mut told: Vec<String> = bounds.iter().filter_map(|bound| bound.in_words()).collect();
    let has_own = !told.is_empty();
    told.dedup();
    if scheduled > 0.0 {
        told.insert(0, offered.in_words(scheduled));
    }
    let mut sentence = format!("Offered load: {}.", told.join("; "));
    if let Some(busiest) = busiest {
        sentence += &match busiest.share >= BUSY {
            true if is_full => {
                format!(" It takes all that {} can do, or nearly: {}.", busiest.part, busiest.in_words())
            }
            true => format!(" The load nearly saturates {}: {}.", busiest.part, busiest.in_words()),
            false => format!(" No part is saturated; the busiest, {}: {}.", busiest.part, busiest.in_words()),
        };
    }
    let draft = Draft::new(Code::OfferedLoad, Severity::Note, sentence);
    let draft = match (is_searched, has_own) {
        (true, _) => draft,
        (false, false) => draft.remedy(
            "Find the maximum sustained rate with `fathom search`; this run says what the load costs, not what the \
             target can do.",
        ),
        (false, true) => draft.remedy(
            "Set `pace = \"closed\"` to find what the target can do; this run says what the load costs.",
        ),
    };
    let draft = match offered.missing[..] {
        [] => draft,
        _ => draft.number("offered_per_s", scheduled * offered.share),
    };
    let draft = if scheduled > 0.0 { draft.number("scheduled_per_s", scheduled) } else { draft };
    let draft = bounds.iter().fold(draft, |draft, bound| bound.number(draft));
    Some(busiest.into_iter().fold(draft, |draft, busiest| draft.number(&busiest.key("share"), busiest.share)))
}

/// The rate that the plan sets for a workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetRate {
    /// `2,000/s`, `20 MB/s`.
    pub told: String,
    /// The rate that came of it, over that one.
    pub share: f64,
    /// Whether it was reached.
    pub is_reached: bool,
}

impl SetRate {
    /// That of `workload`, by a schedule or a cap, of which the part `offered` was offered; `None` where the plan sets none.
    pub(crate) fn of(workload: &WorkloadResult, offered: f64) -> Option<SetRate> {
        let (figure, most) = workload.set_rate()?;
        let told = match workload.spec.pace {
            Pace::Open(schedule) => format!("{}/s", schedule.mean_rate()),
            Pace::Cap(most) => format!("{most}/s"),
            Pace::CapBytes(most) => most.to_string(),
            _ => return None,
        };
        let is_reached = workload.reaches_set_rate(offered)?;
        Some(SetRate { told, share: figure.value / (most * offered), is_reached })
    }
}

/// What of the plan bounds the rate of a workload.
enum Bound {
    /// A schedule of that rate, which was kept.
    Schedule(OpsPerSecond),
    /// A cap that was reached.
    Cap {
        most: String,
        /// The rate over the cap.
        share: f64,
    },
    /// Time to think, as the plan has it.
    Think {
        pace: Pace,
        /// The part of each cycle.
        share: f64,
        response: Nanos,
    },
}

impl Bound {
    /// Of `workload`, in a load of which that share was offered; `None` where the plan bounds nothing.
    fn of(workload: &WorkloadResult, share: f64) -> Option<Bound> {
        let total = workload.total()?;
        let (pace, rate) = (workload.spec.pace, total.ops_per_s);
        let workers = f64::from(workload.spec.workers);
        let thinking = |share: f64| {
            let response = total.response.as_ref().map(|response| Nanos::new(truncated(response.mean_ns)))?;
            (share >= THINKS).then_some(Bound::Think { pace, share: share.min(1.0), response })
        };
        match pace {
            Pace::Open(_) => kept(workload, share).map(Bound::Schedule),
            Pace::Cap(_) | Pace::CapBytes(_) => {
                let SetRate { told, share, .. } =
                    SetRate::of(workload, share).filter(|set| set.is_reached)?;
                Some(Bound::Cap { most: told, share })
            }
            // Of what a slot or a worker does again and again, so long is the pause.
            Pace::Think(pause) => {
                let slots = f64::from(workload.spec.depth) * workers;
                thinking(pause.as_secs_f64() * rate.value / slots)
            }
            Pace::Bursts { delay, requests } => {
                thinking(delay.as_secs_f64() * rate.value / workers / f64::from(requests))
            }
            Pace::Spells { delay, busy } => {
                thinking(delay.as_secs_f64() / (delay.as_secs_f64() + busy.as_secs_f64()))
            }
            Pace::Closed | Pace::Trace => None,
        }
    }

    /// Whether the plan sets a rate, and not a pause.
    fn is_rate(&self) -> bool {
        !matches!(self, Bound::Think { .. })
    }

    fn scheduled(&self) -> f64 {
        if let Bound::Schedule(rate) = self { rate.get() } else { 0.0 }
    }

    /// Of what is no schedule.
    fn in_words(&self) -> Option<String> {
        match self {
            Bound::Schedule(_) => None,
            Bound::Cap { most, share } => {
                Some(format!("the plan's cap of {most} is the limit, {} of it was reached", percent(*share)))
            }
            Bound::Think { pace, share, response } => Some(format!(
                "the plan's `{pace}` pauses for {} of each cycle; the mean response is {response}",
                percent(*share)
            )),
        }
    }

    fn number(&self, draft: Draft) -> Draft {
        match self {
            Bound::Schedule(_) => draft,
            Bound::Cap { share, .. } => draft.number("cap_share", *share),
            Bound::Think { share, .. } => draft.number("think_share", *share),
        }
    }
}

/// Of a schedule, what ranks had to offer that are in the figures.
struct Offered {
    /// Of the whole schedule.
    share: f64,
    /// Who left out how much.
    missing: Vec<String>,
}

impl Offered {
    /// `the plan schedules 200 requests/s, and all were issued`.
    fn in_words(&self, scheduled: f64) -> String {
        let what = match &self.missing[..] {
            [] => "and all were issued".to_owned(),
            missing => format!(
                "and {} of them were offered by the ranks that are in the figures: {}",
                OpsPerSecond::new(scheduled * self.share),
                missing.join("; ")
            ),
        };
        format!("the plan schedules {} requests/s, {what}", OpsPerSecond::new(scheduled))
    }

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
    let is_reached = workload.set_rate().is_some_and(|(all, set)| all.value >= REACHED * share * set);
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
            most: share,
            is_even: true,
            basis: String::new(),
            inside: None,
            idle: None,
            is_slow: false,
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
    fn a_schedule_that_is_kept_is_the_offered_load_beside_a_full_part_and_not_with_a_full_queue_or_a_request_left_out()
     {
        let full = met(&point(), &[part(0.95)], false).expect("it is kept all the same").about_run();
        assert!(full.sentence.contains("It takes all that disks can do, or nearly:"), "{}", full.sentence);
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
    fn where_no_part_is_counted_a_schedule_that_is_kept_is_told_without_one() {
        let found = met(&point(), &[], false).expect("it is kept").about_run().sentence;
        assert_eq!(found, "Offered load: the plan schedules 200 requests/s, and all were issued.");
    }

    #[test]
    fn a_cap_that_is_reached_is_the_limit_and_one_that_is_not_says_nothing() {
        let with = |pace: Pace, high: Option<f64>| {
            let mut point = point();
            point.workloads[0].spec.pace = pace;
            point.workloads[0].summary[0].ops_per_s.high = high;
            met(&point, &[part(0.12)], false).map(|draft| draft.about_run())
        };
        let cap = |rate: f64| Pace::Cap(OpsPerSecond::new(rate));
        let found = with(cap(200.0), None).expect("it is reached");
        assert!(found.sentence.contains("cap of 200/s is the limit, 100 % of it"), "{}", found.sentence);
        assert!(found.remedy.contains("closed"), "{}", found.remedy);
        assert!(with(cap(204.0), None).is_some() && with(cap(205.0), None).is_none());
        // Further below it only where the interval of the rate holds it.
        assert!(with(cap(210.0), Some(211.0)).is_some() && with(cap(210.0), Some(209.0)).is_none());
        assert!(with(cap(230.0), Some(240.0)).is_none());
        let bytes = |rate: f64| with(Pace::CapBytes(units::BytesPerSecond::new(rate)), None);
        assert!(bytes(200.0 * 8192.0).is_some() && bytes(210.0 * 8192.0).is_none());
    }

    #[test]
    fn time_to_think_is_told_as_the_part_of_a_cycle_that_it_takes() {
        let with = |pace: Pace| {
            let mut point = point();
            let spec = &mut point.workloads[0].spec;
            (spec.pace, spec.depth, spec.workers) = (pace, 1, 4);
            met(&point, &[part(0.12)], false).map(|draft| draft.about_run())
        };
        // Fifty requests a second of each worker: cycles of 20 ms.
        let think = |ms: u64| with(Pace::Think(Nanos::from_millis(ms)));
        let found = think(15).expect("it thinks for most of its time");
        assert!(found.sentence.contains("`think(15ms)` pauses for 75 %"), "{}", found.sentence);
        assert!((found.numbers["think_share"] - 0.75).abs() < 1e-9);
        assert!(think(4).is_some() && think(3).is_none());
        let bursts = |ms: u64| with(Pace::Bursts { delay: Nanos::from_millis(ms), requests: 8 });
        assert!(bursts(33).is_some() && bursts(31).is_none());
        let spells = |s: u64| with(Pace::Spells { delay: Nanos::from_secs(s), busy: Nanos::from_secs(9) });
        assert!(spells(3).is_some() && spells(2).is_none());
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
