//! The order in which rates are tried until the highest one that keeps every SLO is known.
//!
//! A grid in shuffled order finds between which rates the edge lies, halving on the logarithm finds it, and more
//! looks at the winner confirm it: as it is, and after a rest. Then the edge is approached from above, after overloads.
//!
//! **Invariant:** knows no world and no clock; what it decides follows from what it was shown, and the order of its
//! grid from the seed.

use super::evidence::{Cause, Evidence, Rule, Verdict, judge};
use units::convert::{narrow, truncated};
use workload::plan::Slo;

/// How a search goes about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What must be kept; never empty.
    pub slos: Vec<Slo>,
    /// The edge is searched until the rates above and below it differ by no more than this part.
    pub within: f64,
    /// Seconds of the first look at a rate.
    pub look_s: f64,
    /// Seconds of all looks at a rate together after which it stays undecided.
    pub longest_s: f64,
    /// The lowest rate worth having.
    pub lowest_per_s: f64,
    /// The highest rate that the target may reach; more is tried where it keeps its SLOs there.
    pub highest_per_s: f64,
    /// No rate above this one is ever offered, for an overload neither; `None` lets the search go as far as it must.
    pub bound_per_s: Option<f64>,
    /// Shuffles the grid.
    pub seed: u64,
}

/// Points of the grid, at most.
const GRID: usize = 7;

/// The grid ends a little above what the target can do, so that one point of it should fail.
const BEYOND: f64 = 1.05;

/// How often the grid is extended upwards where all of it passes.
const EXTENSIONS: u32 = 8;

/// An overload is so much above the edge.
const OVERLOAD: f64 = 1.2;

/// How often a winner that is not confirmed gives way to a lower rate, and how many rates are tried after overloads.
const STEPS_DOWN: u32 = 12;

/// How many rates below a winner that its looks left open are tried for one that they confirm, each step down twice the one
/// before.
const LOWER_TRIED: u32 = 3;

/// What a look is for: how the driver has to prepare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// One of the grid.
    Grid,
    /// Between two rates.
    Halving,
    /// Again, as it is.
    Confirm,
    /// Again, after the target was left alone for a while.
    AfterRest,
    /// Pushes the target over its edge; its verdict does not matter.
    Overload,
    /// Again, straight after an overload.
    AfterOverload,
}

impl Purpose {
    /// Whether a rate that stays undecided is looked at again. What an overload leaves behind is only there at once.
    fn is_prolonged(self) -> bool {
        !matches!(self, Purpose::Overload | Purpose::AfterOverload)
    }

    /// In a few words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            Purpose::Grid => "grid",
            Purpose::Halving => "bisection",
            Purpose::Confirm => "confirm",
            Purpose::AfterRest => "after a rest",
            Purpose::Overload => "overload",
            Purpose::AfterOverload => "after overload",
        }
    }
}

/// One load to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second.
    pub rate_per_s: f64,
    /// Measured seconds.
    pub seconds: f64,
    /// What for.
    pub purpose: Purpose,
}

/// Who makes the loads.
pub trait Prober {
    /// Why it cannot.
    type Error;

    /// Makes one load and says what it showed. What is `None` ends the search: the user asked for it.
    fn look(&mut self, trial: Trial) -> Result<Option<Evidence>, Self::Error>;

    /// Tells what was decided of a rate, with all looks of that purpose at it, and between which rates the edge lies
    /// by now.
    fn decided(&mut self, _: &Rung, _: Bracket) {}

    /// Waits after a rate that failed until the target has recovered from it.
    fn rest(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The highest rate that passed below the lowest that failed above a pass, and that one.
pub type Bracket = (Option<f64>, Option<f64>);

/// One rate and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// Requests a second.
    pub rate_per_s: f64,
    /// Why it was tried.
    pub purpose: Purpose,
    /// What all looks showed.
    pub evidence: Evidence,
    /// What follows.
    pub verdict: Verdict,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The highest rate that was seen to keep every SLO; `None` where none did.
    pub met_per_s: Option<f64>,
    /// The lowest rate above it that was seen to break one; `None` where none did.
    pub violated_per_s: Option<f64>,
    /// Where between the two the edge probably lies.
    pub edge_per_s: Option<f64>,
    /// Whether looks at the winner confirmed it: all of them passed.
    pub confirmed: bool,
    /// The highest lower rate that looks confirmed, where they left the winner open; `None` where none did.
    pub confirmed_per_s: Option<f64>,
    /// Seconds that a look takes to confirm the winner with nine chances of ten; `None` where that cannot be said. By
    /// what was seen of it before the looks that were to confirm it, which took so long but no longer than `longest_s`;
    /// where they left it open, by all that was seen.
    pub confirm_needs_s: Option<f64>,
    /// The highest rate that keeps every SLO straight after an overload, where that is less than `met_per_s`;
    /// 0 where none was found.
    pub after_overload_per_s: Option<f64>,
    /// Everything that was tried, in order.
    pub ladder: Vec<Rung>,
    /// Whether it was carried to its end.
    pub complete: bool,
}

/// Searches the highest rate that keeps every SLO.
pub fn search<P: Prober>(settings: &Settings, prober: &mut P) -> Result<SearchResult, P::Error> {
    let mut search = Search {
        settings,
        prober,
        ladder: Vec::new(),
        stopped: false,
        confirm_needs_s: None,
        confirmed_per_s: None,
    };
    search.grid()?;
    search.upwards()?;
    search.halve()?;
    let confirmation = search.confirm()?;
    // Before the overloads: what a target does after one is no answer to how it does without.
    if confirmation == Confirmation::Open {
        search.confirm_lower()?;
    }
    let after_overload_per_s =
        if confirmation == Confirmation::Failed { None } else { search.hysteresis()? };
    Ok(search.result(confirmation == Confirmation::Held, after_overload_per_s))
}

/// What looks at the winner came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confirmation {
    /// It passed again, each time.
    Held,
    /// It did not fail, and did not pass each time either: time was too short.
    Open,
    /// It failed, there is none, or the search was stopped.
    Failed,
}

struct Search<'a, P: Prober> {
    settings: &'a Settings,
    prober: &'a mut P,
    ladder: Vec<Rung>,
    stopped: bool,
    confirm_needs_s: Option<f64>,
    confirmed_per_s: Option<f64>,
}

impl<P: Prober> Search<'_, P> {
    /// Looks at a rate, longer and longer, until it is decided or has been looked at long enough.
    fn decide(&mut self, rate_per_s: f64, purpose: Purpose) -> Result<Verdict, P::Error> {
        self.decide_from(rate_per_s, purpose, self.settings.look_s)
    }

    /// The same with a first look of `first_s`.
    fn decide_from(&mut self, rate_per_s: f64, purpose: Purpose, first_s: f64) -> Result<Verdict, P::Error> {
        assert!(rate_per_s > 0.0, "a rate that is tried is above zero");
        let Settings { slos, longest_s, bound_per_s, .. } = self.settings;
        assert!(bound_per_s.is_none_or(|bound| rate_per_s <= bound), "{rate_per_s}/s is above the bound");
        let mut evidence = Evidence::default();
        let mut verdict = Verdict::Undecided;
        let mut seen_s = 0.0;
        while seen_s < *longest_s && !self.stopped {
            // Each look doubles what was seen, so that there are few of them and each has a good chance to decide.
            let seconds = seen_s.max(first_s).min((longest_s - seen_s).max(first_s));
            let Some(seen) = self.prober.look(Trial { rate_per_s, seconds, purpose })? else {
                self.stopped = true;
                break;
            };
            evidence.add(seen);
            assert!(seconds > 0.0, "a trial takes time, so that trials end");
            seen_s += seconds;
            verdict = judge(&evidence, slos, Rule::of(purpose == Purpose::Grid));
            if verdict != Verdict::Undecided || !purpose.is_prolonged() {
                break;
            }
        }
        if !self.stopped {
            let rung = Rung { rate_per_s, purpose, evidence, verdict: verdict.clone() };
            self.ladder.push(rung.clone());
            self.prober.decided(&rung, self.bracket());
            // An overload is followed at once by the look for which it was made.
            if matches!(verdict, Verdict::Fail(_)) && purpose != Purpose::Overload {
                self.prober.rest()?;
            }
        }
        Ok(verdict)
    }

    /// Log-spaced rates in shuffled order: a drift of the target must not look like an effect of the rate.
    fn grid(&mut self) -> Result<(), P::Error> {
        let Settings { lowest_per_s: low, highest_per_s, bound_per_s, .. } = *self.settings;
        let high = bound_per_s.unwrap_or(highest_per_s * BEYOND);
        let range = (high / low).max(1.0);
        // Bounds that are near to each other leave no room for more rates than are to be told apart.
        let apart = truncated::<usize>((range.ln() / (1.0 + self.settings.within).ln()).ceil());
        let points = GRID.min(apart + 1).max(2);
        assert!((2..=GRID).contains(&points), "a grid has both of its ends");
        let ratio = range.powf(1.0 / (points - 1) as f64);
        let mut rates: Vec<f64> = (0..narrow::<i32>(points) - 1).map(|step| low * ratio.powi(step)).collect();
        // Exactly, for it may be a bound.
        rates.push(high);
        shuffle(&mut rates, self.settings.seed);
        for rate in rates {
            self.decide(rate, Purpose::Grid)?;
        }
        Ok(())
    }

    /// Goes on upwards while nothing fails.
    fn upwards(&mut self) -> Result<(), P::Error> {
        let mut rate = self.settings.highest_per_s * BEYOND;
        for _ in 0..EXTENSIONS {
            let is_bound = self.settings.bound_per_s.is_some();
            if is_bound || self.stopped || self.bracket().1.is_some() || self.bracket().0.is_none() {
                break;
            }
            rate *= 1.5;
            self.decide(rate, Purpose::Grid)?;
        }
        Ok(())
    }

    fn halve(&mut self) -> Result<(), P::Error> {
        while !self.stopped
            && let Some(rate) = self.next_between()
        {
            self.decide(rate, Purpose::Halving)?;
        }
        Ok(())
    }

    /// Between which rates the edge lies.
    ///
    /// A rate that failed below every pass does not count: latency need not grow with the rate, for devices that
    /// sleep or gather requests.
    fn bracket(&self) -> Bracket {
        let rates = |wanted: fn(&Verdict) -> bool| {
            let own = self.ladder.iter().filter(|rung| is_cold(rung.purpose) && wanted(&rung.verdict));
            let mut rates: Vec<f64> = own.map(|rung| rung.rate_per_s).collect();
            rates.sort_by(f64::total_cmp);
            rates
        };
        let failed = rates(|verdict| matches!(verdict, Verdict::Fail(_)));
        // A rate that passed once and failed once has failed.
        let mut passed = rates(|verdict| *verdict == Verdict::Pass);
        passed.retain(|rate| !failed.contains(rate));
        let Some(first) = passed.first() else { return (None, failed.first().copied()) };
        let high = failed.into_iter().find(|rate| rate > first);
        let low = passed.into_iter().rfind(|rate| high.is_none_or(|high| *rate < high));
        debug_assert!(low.zip(high).is_none_or(|(low, high)| low < high), "what passes is below what fails");
        (low, high)
    }

    /// The next rate between pass and fail, or `None` once they are near enough.
    ///
    /// Undecided rates between them are taken for the edge: then both are drawn near to them.
    fn next_between(&self) -> Option<f64> {
        let (Some(low), Some(high)) = self.bracket() else { return None };
        let own = self.ladder.iter().filter(|rung| is_cold(rung.purpose));
        let between = own.map(|rung| rung.rate_per_s).filter(|rate| *rate > low && *rate < high);
        let (least, most) =
            between.fold((f64::INFINITY, 0.0f64), |(least, most), rate| (least.min(rate), most.max(rate)));
        if most == 0.0 {
            return (high / low > 1.0 + self.settings.within).then(|| (low * high).sqrt());
        }
        debug_assert!(low < least && least <= most && most < high, "undecided rates lie between the two");
        let near = 1.0 + self.settings.within / 2.0;
        let (below, above) = (least / low, high / most);
        if below.max(above) <= near {
            return None;
        }
        Some(if below > above { (low * least).sqrt() } else { (most * high).sqrt() })
    }

    /// Looks at the winner again, as long as it takes by what was seen of it; where it fails now, at the next one.
    fn confirm(&mut self) -> Result<Confirmation, P::Error> {
        for _ in 0..STEPS_DOWN {
            let Some(rate) = self.bracket().0 else { return Ok(Confirmation::Failed) };
            let Settings { slos, look_s, longest_s, .. } = self.settings;
            self.confirm_needs_s = self.seen_at(rate).needs_s(slos, Rule::of(false).confidence);
            let first_s = self.confirm_needs_s.unwrap_or(*look_s).clamp(*look_s, *longest_s).ceil();
            let found = self.look_again(rate, first_s)?;
            if found == Confirmation::Open {
                // What made it the winner was seen at its best.
                self.confirm_needs_s = self.seen_at(rate).needs_s(slos, Rule::of(false).confidence);
            }
            if self.stopped || found != Confirmation::Failed {
                return Ok(found);
            }
            self.halve()?;
        }
        Ok(Confirmation::Failed)
    }

    /// Looks at a rate as it is and after a rest.
    fn look_again(&mut self, rate: f64, first_s: f64) -> Result<Confirmation, P::Error> {
        let mut held = true;
        for purpose in [Purpose::Confirm, Purpose::AfterRest] {
            let verdict = self.decide_from(rate, purpose, first_s)?;
            if self.stopped || matches!(verdict, Verdict::Fail(_)) {
                return Ok(Confirmation::Failed);
            }
            // An undecided look takes nothing away from the one that passed, and adds nothing to it.
            held &= verdict == Verdict::Pass;
        }
        Ok(if held { Confirmation::Held } else { Confirmation::Open })
    }

    /// Looks below a winner that stayed open for a rate that is confirmed: there a look of the same time decides more.
    fn confirm_lower(&mut self) -> Result<(), P::Error> {
        let Some(winner) = self.bracket().0 else { return Ok(()) };
        let mut steps = 1;
        for _ in 0..LOWER_TRIED {
            let rate = winner / (1.0 + self.settings.within).powi(steps);
            if self.stopped || rate < self.settings.lowest_per_s {
                break;
            }
            match self.look_again(rate, self.settings.look_s)? {
                Confirmation::Held => {
                    self.confirmed_per_s = Some(rate);
                    break;
                }
                Confirmation::Open => steps *= 2,
                // What failed below the winner is the edge now.
                Confirmation::Failed => break,
            }
        }
        Ok(())
    }

    /// The edge from above: the highest rate that is kept straight after an overload, where it is less than what is
    /// kept otherwise. Steps down that double find one, halving comes as near to it as was asked.
    fn hysteresis(&mut self) -> Result<Option<f64>, P::Error> {
        let Some(kept) = self.bracket().0 else { return Ok(None) };
        let Settings { within, lowest_per_s, bound_per_s, .. } = *self.settings;
        let overload = (kept * OVERLOAD).min(bound_per_s.unwrap_or(f64::INFINITY));
        if overload <= kept * (1.0 + within) || self.keeps_after(overload, kept)? {
            return Ok(None);
        }
        let (mut low, mut high, mut step) = (0.0f64, kept, within);
        for _ in 0..STEPS_DOWN {
            let is_found = low > 0.0 && high / low <= 1.0 + within;
            let rate = if low > 0.0 { (low * high).sqrt() } else { high / (1.0 + step) };
            if self.stopped || is_found || rate < lowest_per_s {
                break;
            }
            if self.keeps_after(overload, rate)? {
                low = rate;
            } else {
                high = rate;
            }
            step *= 2.0;
            debug_assert!(low <= high, "a rate that is kept is not above one that is not");
        }
        Ok((!self.stopped).then_some(low))
    }

    /// Whether `rate` does not fail straight after an overload.
    fn keeps_after(&mut self, overload: f64, rate: f64) -> Result<bool, P::Error> {
        self.decide(overload, Purpose::Overload)?;
        Ok(!matches!(self.decide(rate, Purpose::AfterOverload)?, Verdict::Fail(_)))
    }

    /// All that was seen of a rate, but not after an overload.
    fn seen_at(&self, rate: f64) -> Evidence {
        let mut all = Evidence::default();
        let own = self.ladder.iter().filter(|rung| rung.rate_per_s == rate && is_cold(rung.purpose));
        own.for_each(|rung| all.add(rung.evidence.clone()));
        all
    }

    fn result(self, confirmed: bool, after_overload_per_s: Option<f64>) -> SearchResult {
        let (met_per_s, violated_per_s) = self.bracket();
        let cause = self.ladder.iter().find_map(|rung| match rung.verdict {
            Verdict::Fail(cause) if Some(rung.rate_per_s) == violated_per_s => Some(cause),
            _ => None,
        });
        let edge_per_s = match (met_per_s, violated_per_s) {
            (Some(low), Some(high)) => Some(self.crossing(low, high, cause)),
            _ => None,
        };
        SearchResult {
            met_per_s,
            violated_per_s,
            edge_per_s,
            confirmed,
            confirmed_per_s: self.confirmed_per_s,
            confirm_needs_s: self.confirm_needs_s,
            after_overload_per_s,
            complete: !self.stopped,
            ladder: self.ladder,
        }
    }

    /// Where the figure that broke meets its limit, between `low` and `high`, on a line of its logarithm.
    ///
    /// Near the edge a share beyond a limit grows exponentially with the rate: for one exponential server exactly so.
    fn crossing(&self, low: f64, high: f64, cause: Option<Cause>) -> f64 {
        let middle = (low * high).sqrt();
        let Some(Cause::Slo(index)) = cause else { return middle };
        let slo = &self.settings.slos[index];
        let figure = |rate: f64| self.seen_at(rate).figure(index, slo).filter(|figure| *figure > 0.0);
        let (Some(below), Some(above)) = (figure(low), figure(high)) else { return middle };
        let part = (slo.limit() / below).ln() / (above / below).ln();
        if part.is_finite() { low + (high - low) * part.clamp(0.0, 1.0) } else { middle }
    }
}

/// Whether a look met a target that had not just been overloaded.
fn is_cold(purpose: Purpose) -> bool {
    !matches!(purpose, Purpose::Overload | Purpose::AfterOverload)
}

fn shuffle(rates: &mut [f64], seed: u64) {
    let streams = workload::Streams::new(seed);
    rates.sort_by_cached_key(|rate| streams.key(&format!("search/grid/{rate}")));
}

#[cfg(test)]
mod tests {
    use stats::exceedance::Batch;

    use super::*;

    /// Keeps `p99<5ms` up to a thousand a second, and near there shows it to looks that are to confirm it only just.
    struct Close;

    impl Prober for Close {
        type Error = std::convert::Infallible;

        fn look(&mut self, trial: Trial) -> Result<Option<Evidence>, Self::Error> {
            let Trial { rate_per_s, seconds, purpose } = trial;
            let is_again = matches!(purpose, Purpose::Confirm | Purpose::AfterRest);
            let beyond = match rate_per_s {
                above if above > 1_000.0 => 0.05,
                near if is_again && near > 970.0 => 0.0099,
                _ => 0.001,
            };
            let batch = Batch { count: rate_per_s, sum: rate_per_s * beyond };
            let requests = truncated::<u64>(rate_per_s * seconds);
            Ok(Some(Evidence {
                seconds,
                asked: rate_per_s * seconds,
                completed: requests + 1,
                issued: requests + 1,
                batches: vec![vec![batch; narrow::<usize>(truncated::<u64>(seconds))]],
                ..Evidence::default()
            }))
        }
    }

    fn settings() -> Settings {
        Settings {
            slos: vec!["p99<5ms".parse().expect("an SLO")],
            within: 0.02,
            look_s: 15.0,
            longest_s: 60.0,
            lowest_per_s: 20.0,
            highest_per_s: 2_000.0,
            bound_per_s: None,
            seed: 1,
        }
    }

    #[test]
    fn below_a_winner_that_stays_open_a_rate_is_confirmed() {
        let found = search(&settings(), &mut Close).expect("it is infallible");
        let (met, lower) =
            (found.met_per_s.expect("it is kept"), found.confirmed_per_s.expect("so is a lower one"));
        assert!(!found.confirmed && (980.0..=1_000.0).contains(&met), "{found:?}");
        assert!((900.0..=970.0).contains(&lower), "{met} and {lower}");
        let again = found.ladder.iter().filter(|rung| rung.rate_per_s == lower);
        assert_eq!(
            again.map(|rung| rung.verdict.clone()).collect::<Vec<_>>(),
            [Verdict::Pass, Verdict::Pass]
        );
    }

    #[test]
    fn with_no_room_below_it_nothing_lower_is_confirmed() {
        let bound = Settings { lowest_per_s: 980.0, bound_per_s: Some(999.0), ..settings() };
        let found = search(&bound, &mut Close).expect("it is infallible");
        assert_eq!((found.met_per_s, found.confirmed_per_s), (Some(999.0), None));
    }
}
