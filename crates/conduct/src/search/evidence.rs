//! What a rate was seen to do, and what follows for an SLO: kept, broken, or not known yet.
//!
//! **Invariant:** nothing is decided by one bound alone: requests are slow together, so the bound for independent
//! requests and that of batches in time must agree.

use stats::Interval;
use stats::exceedance::{Batch, binomial_bounds, ratio_bounds, times_to_pass};
use units::convert::truncated;

use workload::plan::{Slo, Time};

/// How sure each single look must be, one-sided. A rate is looked at up to five times, each longer than the one before,
/// and each may err.
const CONFIDENCE: f64 = 0.99;

/// Of a percentile beyond p99 so many requests must be expected beyond its limit before a verdict near it counts: what
/// lies beyond comes in a few clusters, and neither bound sees those that did not come yet. Up to p99 the bounds do.
const BEYOND_LEAST: f64 = 1_000.0;

/// The share beyond p99.
const TAIL: f64 = 0.01;

/// Whether `slo` is about a percentile beyond p99.
pub(super) fn is_tail(slo: &Slo) -> bool {
    let is_share = slo.counts() && !matches!(slo, Slo::Errors { .. });
    is_share && slo.limit() < TAIL * (1.0 - 1e-9)
}

/// What a look must show to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// How sure each bound must be, one-sided.
    pub confidence: f64,
    /// Whether bounds far from the limit decide on a percentile beyond p99 before a thousand requests were
    /// expected beyond it: good enough to find where the edge may be, since rates there are looked at again. Few
    /// clusters are expected in so short a time, and near the edge none may come in it by chance.
    pub takes_clear: bool,
}

impl Rule {
    /// The rule for rates near the edge; with `is_rough`, the one for finding where the edge may be.
    pub fn of(is_rough: bool) -> Rule {
        Rule { confidence: CONFIDENCE, takes_clear: is_rough }
    }
}

/// A bound on the far side of so many times the limit, or of that part of it, needs no more requests.
const CLEAR: f64 = 2.0;

/// What of the asked rate may be missing.
const SHORT: f64 = 0.01;

/// What of the requests may never be issued.
const LOST: f64 = 0.001;

/// What one or more loads at one rate showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Measured time in seconds.
    pub seconds: f64,
    /// Requests that were asked for in it, by the rate.
    pub asked: f64,
    /// Requests that ended in it.
    pub completed: u64,
    /// Requests that fell due in it and were never issued.
    pub lost: u64,
    /// Requests that failed, and all that were issued.
    pub errors: u64,
    /// Requests that were issued.
    pub issued: u64,
    /// Whether this machine, not the target, was late.
    pub generator_saturated: bool,
    /// For each SLO the batches in order of time, all of one length; empty for errors.
    pub batches: Vec<Vec<Batch>>,
}

impl Evidence {
    /// Takes in what another load at the same rate showed.
    pub fn add(&mut self, other: Evidence) {
        self.seconds += other.seconds;
        self.asked += other.asked;
        self.completed += other.completed;
        self.lost += other.lost;
        self.errors += other.errors;
        self.issued += other.issued;
        self.generator_saturated |= other.generator_saturated;
        debug_assert!(
            self.batches.is_empty() || self.batches.len() == other.batches.len(),
            "trials at a rate have batches of the same SLOs"
        );
        self.batches.resize(other.batches.len().max(self.batches.len()), Vec::new());
        for (own, others) in self.batches.iter_mut().zip(other.batches) {
            own.extend(others);
        }
    }

    /// The figure that `slo` number `index` limits; none without a request.
    pub fn figure(&self, index: usize, slo: &Slo) -> Option<f64> {
        if let Slo::Errors { .. } = slo {
            return (self.issued > 0).then(|| self.errors as f64 / self.issued as f64);
        }
        let batches = self.batches.get(index)?;
        let (count, sum) = batches.iter().fold((0.0, 0.0), |(n, s), one| (n + one.count, s + one.sum));
        debug_assert!(count >= 0.0 && sum >= 0.0, "counts and sums of times");
        (count > 0.0).then(|| sum / count)
    }

    /// How many times as much has to be seen until a verdict near the limit counts; at most 1 where it does.
    fn times_to_count(&self, index: usize, slo: &Slo) -> f64 {
        if !is_tail(slo) {
            return 0.0;
        }
        let count: f64 = self.batches.get(index).into_iter().flatten().map(|batch| batch.count).sum();
        BEYOND_LEAST / (count * slo.limit())
    }

    /// Seconds that another look takes to pass with nine chances of ten, if the target goes on as it was seen; `None`
    /// where a figure is not below its limit, or nothing was seen of it.
    pub fn needs_s(&self, slos: &[Slo], confidence: f64) -> Option<f64> {
        let needs = slos.iter().enumerate().map(|(index, slo)| {
            let figure = self.figure(index, slo)?;
            let bounds = bounds(self, index, slo, confidence)?;
            let high = bounds.iter().map(|one| one.high).fold(0.0, f64::max);
            let times = times_to_pass(figure, high, slo.limit(), confidence)?;
            Some(self.seconds * times.max(self.times_to_count(index, slo)))
        });
        needs.reduce(|most, one| Some(most?.max(one?))).flatten()
    }
}

/// What follows for all SLOs together.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All are kept.
    Pass,
    /// One is broken, or the rate is not reached.
    Fail(Cause),
    /// More must be seen.
    Undecided,
}

/// Why a rate failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The SLO of that number is broken.
    Slo(usize),
    /// Fewer requests ended than were asked for.
    Short,
    /// Requests were never issued.
    Lost,
    /// Requests failed, and no SLO allows it.
    Errors,
    /// This machine could not ask for so much.
    Client,
}

/// Judges one rate.
pub fn judge(evidence: &Evidence, slos: &[Slo], rule: Rule) -> Verdict {
    if let Some(cause) = certain_failure(evidence, slos) {
        return Verdict::Fail(cause);
    }
    let mut undecided = false;
    for (index, slo) in slos.iter().enumerate() {
        let Some(bounds) = bounds_that_count(evidence, index, slo, rule) else {
            undecided = true;
            continue;
        };
        if bounds.iter().all(|one| one.low > slo.limit()) {
            // What this machine was late with is in the response times: they are not the target's.
            let own =
                evidence.generator_saturated && matches!(slo, Slo::Latency { time: Time::Response, .. });
            return Verdict::Fail(if own { Cause::Client } else { Cause::Slo(index) });
        }
        undecided |= !bounds.iter().all(|one| one.high < slo.limit());
    }
    if undecided { Verdict::Undecided } else { Verdict::Pass }
}

/// The bounds of an SLO's figure where a verdict may rest on them: enough was seen of it, or it is clear.
fn bounds_that_count(evidence: &Evidence, index: usize, slo: &Slo, rule: Rule) -> Option<Vec<Interval<f64>>> {
    let bounds = bounds(evidence, index, slo, rule.confidence)?;
    let is_clear = |one: &Interval<f64>| one.high < slo.limit() / CLEAR || one.low > slo.limit() * CLEAR;
    let counts = evidence.times_to_count(index, slo) <= 1.0;
    (counts || (rule.takes_clear && bounds.iter().all(is_clear))).then_some(bounds)
}

/// The first SLO that is certainly broken by what was seen, whatever else failed: a target that falls short of a rate answers
/// late too.
pub(super) fn broken(evidence: &Evidence, slos: &[Slo]) -> Option<usize> {
    let rule = Rule { takes_clear: true, ..Rule::of(false) };
    let is_broken = |(index, slo): &(usize, &Slo)| {
        bounds_that_count(evidence, *index, slo, rule)
            .is_some_and(|bounds| bounds.iter().all(|one| one.low > slo.limit()))
    };
    slos.iter().enumerate().find(is_broken).map(|(index, _)| index)
}

fn certain_failure(evidence: &Evidence, slos: &[Slo]) -> Option<Cause> {
    let allowed = slos.iter().any(|slo| matches!(slo, Slo::Errors { .. }));
    if evidence.errors > 0 && !allowed {
        return Some(Cause::Errors);
    }
    // Five standard deviations of a Poisson count may be chance: a search looks at many rates, and one that falls short
    // at a low rate is its end.
    let chance = 5.0 * evidence.asked.sqrt();
    let short = (evidence.completed as f64) < (1.0 - SHORT) * evidence.asked - chance;
    let lost = evidence.lost as f64 > LOST * evidence.asked;
    if (short || lost) && evidence.generator_saturated {
        return Some(Cause::Client);
    }
    if lost {
        return Some(Cause::Lost);
    }
    short.then_some(Cause::Short)
}

/// The bounds of an SLO's figure under each assumption; `None` where they cannot be known yet.
fn bounds(evidence: &Evidence, index: usize, slo: &Slo, confidence: f64) -> Option<Vec<Interval<f64>>> {
    if let Slo::Errors { .. } = slo {
        return (evidence.issued > 0)
            .then(|| vec![binomial_bounds(evidence.errors, evidence.issued, confidence)]);
    }
    let batches = evidence.batches.get(index)?;
    let mut bounds = vec![ratio_bounds(batches, confidence)?];
    if slo.counts() {
        let sum = |of: fn(&Batch) -> f64| truncated::<u64>(batches.iter().map(of).sum::<f64>().round());
        bounds.push(binomial_bounds(sum(|one| one.sum), sum(|one| one.count), confidence));
    }
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(beyond: u64, batches: usize) -> Evidence {
        let sum = beyond as f64 / batches as f64;
        Evidence {
            seconds: 30.0,
            asked: 30_000.0,
            completed: 30_000,
            issued: 30_000,
            batches: vec![vec![Batch { count: 30_000.0 / batches as f64, sum }; batches]],
            ..Evidence::default()
        }
    }

    const RULE: Rule = Rule { confidence: 0.95, takes_clear: true };

    fn verdict(evidence: &Evidence) -> Verdict {
        judge(evidence, &["p99<5ms".parse().unwrap()], RULE)
    }

    #[test]
    fn both_bounds_must_agree() {
        assert_eq!(verdict(&seen(200, 30)), Verdict::Pass);
        assert_eq!(verdict(&seen(300, 30)), Verdict::Undecided);
        assert_eq!(verdict(&seen(400, 30)), Verdict::Fail(Cause::Slo(0)));
        assert_eq!(verdict(&seen(200, 5)), Verdict::Undecided, "five batches say nothing of clustering");
        let mut clustered = seen(200, 30);
        for (index, batch) in clustered.batches[0].iter_mut().enumerate() {
            batch.sum = if index == 7 { 200.0 } else { 0.0 };
        }
        assert_eq!(verdict(&clustered), Verdict::Undecided);
    }

    #[test]
    fn a_percentile_beyond_p99_needs_requests_enough_beyond_it_unless_its_case_is_clear() {
        let slos = ["p99.9<5ms".parse().unwrap()];
        let of = |requests: f64, beyond: f64| Evidence {
            seconds: 30.0,
            asked: requests,
            completed: truncated::<u64>(requests),
            issued: truncated::<u64>(requests),
            batches: vec![vec![Batch { count: requests / 30.0, sum: beyond / 30.0 }; 30]],
            ..Evidence::default()
        };
        let verdict = |requests, beyond| judge(&of(requests, beyond), &slos, RULE);
        let near_edge = Rule { takes_clear: false, ..RULE };
        assert_eq!(judge(&of(200e3, 60.0), &slos, near_edge), Verdict::Undecided, "too few were expected");
        assert_eq!(judge(&of(1_200e3, 60.0), &slos, near_edge), Verdict::Pass);
        assert_eq!(verdict(200e3, 120.0), Verdict::Undecided, "200 of them are expected beyond the limit");
        assert_eq!(verdict(1_200e3, 720.0), Verdict::Pass, "1,200 are");
        assert_eq!(verdict(200e3, 60.0), Verdict::Pass, "far below it");
        assert_eq!(verdict(200e3, 500.0), Verdict::Fail(Cause::Slo(0)), "far above it");
        let needs_s = of(200e3, 120.0).needs_s(&slos, 0.95).unwrap();
        assert!((needs_s - 150.0).abs() < 1e-6, "{needs_s}");
    }

    #[test]
    fn a_rate_that_is_not_reached_fails_whatever_the_latency() {
        let short = Evidence { completed: 28_800, ..seen(0, 30) };
        assert_eq!(verdict(&short), Verdict::Fail(Cause::Short));
        let by_chance = Evidence { completed: 29_000, ..seen(0, 30) };
        assert_eq!(verdict(&by_chance), Verdict::Pass);
        let client = Evidence { completed: 28_800, generator_saturated: true, ..seen(0, 30) };
        assert_eq!(verdict(&client), Verdict::Fail(Cause::Client));
        let lost = Evidence { lost: 31, ..seen(0, 30) };
        assert_eq!(verdict(&lost), Verdict::Fail(Cause::Lost));
    }

    #[test]
    fn a_rate_that_is_not_reached_breaks_an_slo_too_where_that_is_certain() {
        let slos = ["mean<1s".parse().unwrap(), "p99<5ms".parse().unwrap()];
        let of = |beyond| {
            let mut short = Evidence { completed: 28_800, ..seen(beyond, 30) };
            let fast =
                short.batches[0].iter().map(|batch| Batch { sum: batch.count * 1e6, ..*batch }).collect();
            short.batches.insert(0, fast);
            broken(&short, &slos)
        };
        assert_eq!((of(400), of(300), of(0)), (Some(1), None, None));
    }

    #[test]
    fn response_times_that_this_machine_made_are_not_held_against_the_target() {
        let late = Evidence { generator_saturated: true, ..seen(400, 30) };
        assert_eq!(verdict(&late), Verdict::Fail(Cause::Client));
        let service = judge(&late, &["service p99<5ms".parse().unwrap()], RULE);
        assert_eq!(service, Verdict::Fail(Cause::Slo(0)));
        assert_eq!(verdict(&Evidence { generator_saturated: true, ..seen(200, 30) }), Verdict::Pass);
    }

    #[test]
    fn a_look_as_long_as_is_needed_confirms_nine_times_of_ten() {
        // Independent requests of which 0.8 % are beyond 1 %: counts are normal enough to be drawn at three heights.
        let slos = ["p99<5ms".parse().unwrap()];
        let first = Evidence { batches: vec![batches_of(240.0, 30_000.0)], ..seen(240, 30) };
        let needs_s = first.needs_s(&slos, 0.95).unwrap();
        let requests = (needs_s * 1_000.0).round();
        let at = |deviations: f64| {
            let beyond = requests * 0.008 + deviations * (requests * 0.008 * 0.992).sqrt();
            let batches = vec![batches_of(beyond.round(), requests)];
            judge(
                &Evidence {
                    seconds: needs_s,
                    asked: requests,
                    completed: truncated::<u64>(requests),
                    issued: truncated::<u64>(requests),
                    batches,
                    ..Evidence::default()
                },
                &slos,
                RULE,
            )
        };
        assert_eq!(
            [at(0.0), at(1.2), at(1.6)],
            [Verdict::Pass, Verdict::Pass, Verdict::Undecided],
            "{needs_s}"
        );
        assert_eq!(seen(300, 30).needs_s(&slos, 0.95), None, "a figure at its limit never passes");
        assert_eq!(Evidence::default().needs_s(&slos, 0.95), None);
    }

    fn batches_of(beyond: f64, requests: f64) -> Vec<Batch> {
        vec![Batch { count: requests / 30.0, sum: beyond / 30.0 }; 30]
    }

    #[test]
    fn errors_fail_unless_some_are_allowed() {
        let failed = Evidence { errors: 3, ..seen(0, 30) };
        assert_eq!(verdict(&failed), Verdict::Fail(Cause::Errors));
        let slos = ["p99<5ms".parse().unwrap(), "errors<0.1%".parse().unwrap()];
        assert_eq!(judge(&failed, &slos, RULE), Verdict::Pass);
        let worse = Evidence { errors: 300, ..seen(0, 30) };
        assert_eq!(judge(&worse, &slos, RULE), Verdict::Fail(Cause::Slo(1)));
    }

    #[test]
    fn a_mean_is_judged_by_its_batches() {
        let slos = ["mean<1us".parse().unwrap()];
        let mut evidence = seen(0, 30);
        let with = |evidence: &mut Evidence, mean: f64| {
            for (index, batch) in evidence.batches[0].iter_mut().enumerate() {
                batch.sum = batch.count * (mean + if index % 2 == 0 { 50.0 } else { -50.0 });
            }
            judge(evidence, &slos, RULE)
        };
        assert_eq!(with(&mut evidence, 900.0), Verdict::Pass);
        assert_eq!(with(&mut evidence, 1_000.0), Verdict::Undecided);
        assert_eq!(with(&mut evidence, 1_100.0), Verdict::Fail(Cause::Slo(0)));
    }
}
