//! Makes the loads of a search in a world, and keeps each as a point.

use record::{Point, PointKind, Recovery, WriteCache};
use stats::exceedance::relaxation;
use units::convert::narrow;
use units::{Bytes, Nanos, OpsPerSecond};
use workload::plan::{self, Load, Plan, Slo, State, Task};
use workload::spec::{Pace, Workload};

use super::budget::Budget;
use super::choose::{check, load_of};
use super::drive_depths::counts_from;
use super::evidence::{Cause, Evidence, Verdict, broken, is_tail};
use super::ladder::{Bracket, Prober, Purpose, Rung, SearchResult, Settings, Trial, search};
use super::settle::BehindCache;
use crate::event::Event;
use crate::result::{load_point, state_point};
use crate::run::Outcome;
use crate::world::{World, WorldError};

/// What the user says about a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// What must be kept; never empty.
    pub slos: Vec<Slo>,
    /// How near the rates above and below the edge have to come.
    pub within: f64,
    /// The first look at a rate; whole seconds, at least ten.
    pub look: Nanos,
    /// All looks at a rate together, before it stays undecided.
    pub longest: Nanos,
    /// Requests in flight at most, all workers together; `None` is worked out of the SLO.
    pub depth: Option<u32>,
    /// What a cache takes of writes before the storage behind it is seen: zero has none filled; `None` asks the world,
    /// and where it does not know looks whether writes become slower.
    pub write_cache: Option<Bytes>,
    /// The name of the load in the plan; `None` where it has one.
    pub load: Option<String>,
    /// No rate below is tried.
    pub from: Option<OpsPerSecond>,
    /// No rate above is offered, in whatever part of the search.
    pub to: Option<OpsPerSecond>,
    /// How long the whole search may take, from its first load on; `None` for as long as it needs.
    pub budget: Option<Nanos>,
}

impl SearchOptions {
    /// All looks at a rate together, where nobody says how long: four minutes, and sixteen where an SLO is about a
    /// percentile beyond p99, of which the same time shows a tenth as many requests.
    pub fn longest_for(slos: &[Slo]) -> Nanos {
        Nanos::from_secs(if slos.iter().any(is_tail) { 960 } else { 240 })
    }

    /// A search for the highest rate that keeps `slos`, to 2 %, with looks of fifteen seconds to those of
    /// [`SearchOptions::longest_for`].
    pub fn of(slos: Vec<Slo>) -> SearchOptions {
        SearchOptions {
            longest: SearchOptions::longest_for(&slos),
            slos,
            within: 0.02,
            look: Nanos::from_secs(15),
            depth: None,
            write_cache: None,
            load: None,
            from: None,
            to: None,
            budget: None,
        }
    }
}

/// The shortest first look: as many seconds as there must be batches.
pub const LOOK_LEAST: Nanos = Nanos::from_secs(stats::exceedance::BATCHES_LEAST as u64);

/// The lowest rate worth trying, as a part of the ceiling and in requests a second.
const LOWEST: (f64, f64) = (0.01, 10.0);

/// Load before a look that is not counted, at least.
const WARM_UP: Nanos = Nanos::from_secs(1);

/// Requests in flight at most, all workers together, where nothing says how many are enough.
pub(super) const DEPTH_LEAST: u32 = 64;

/// Left alone before a look after a rest.
const REST: Nanos = Nanos::from_secs(5);

/// Carries a search out: the plan's states first, then its load at rates of the search's choice.
///
/// The outcome holds a point for each state and each look; the search is `None` where the plan failed before it.
pub fn run_search(
    plan: &Plan,
    options: &SearchOptions,
    world: &mut dyn World,
    watch: &mut dyn FnMut(Event<'_>),
) -> (Outcome, Option<record::Search>) {
    Driver::carried_out(plan, options, world, watch, Driver::whole)
}

pub(super) struct Driver<'a, 'w> {
    plan: &'a Plan,
    pub(super) options: &'a SearchOptions,
    pub(super) world: &'w mut dyn World,
    pub(super) watch: &'w mut dyn FnMut(Event<'_>),
    pub(super) outcome: Outcome,
    /// The point of the plan whose load it is.
    searched: &'a plan::Point,
    pub(super) base: Load,
    /// Each workload's part of the rate.
    pub(super) parts: Vec<f64>,
    /// Requests in flight at most, each worker.
    pub(super) depth: u32,
    pub(super) warm_up: Nanos,
    /// What the target can do, or may be asked for.
    pub(super) top_per_s: f64,
    /// The depth of the closed loop that did the most.
    pub(super) deepest: u32,
    pub(super) light_per_s: f64,
    /// The mean response time of the light load before the first rate.
    pub(super) quiet_ns: Option<f64>,
    pub(super) relaxation_s: Option<f64>,
    pub(super) write_cache: Option<WriteCache>,
    /// What is known of the storage behind it, where it was filled.
    pub(super) behind_cache: Option<BehindCache>,
    pub(super) rungs: Vec<record::Rung>,
    /// The first point of the rate that is being looked at.
    pub(super) rung_from: usize,
    pub(super) budget: Budget,
}

impl<'a, 'w> Driver<'a, 'w> {
    /// A driver of that search, having done `all`, with what came of it.
    pub(super) fn carried_out(
        plan: &'a Plan,
        options: &'a SearchOptions,
        world: &'w mut dyn World,
        watch: &'w mut dyn FnMut(Event<'_>),
        all: impl FnOnce(&mut Self) -> Result<Option<record::Search>, WorldError>,
    ) -> (Outcome, Option<record::Search>) {
        world.keep_seconds();
        let mut driver = match Driver::new(plan, options, world, watch, Outcome::begin()) {
            Ok(driver) => driver,
            Err(error) => return (Outcome { complete: false, error: Some(error), ..Outcome::begin() }, None),
        };
        let found = all(&mut driver);
        let mut outcome = driver.outcome;
        match found {
            Ok(found) => {
                // A search whose time is over has done what was asked for.
                outcome.complete = found.as_ref().is_some_and(|found| found.complete || found.out_of_time);
                (outcome, found)
            }
            Err(error) => {
                outcome.complete = false;
                outcome.error = Some(error);
                (outcome, None)
            }
        }
    }

    fn new(
        plan: &'a Plan,
        options: &'a SearchOptions,
        world: &'w mut dyn World,
        watch: &'w mut dyn FnMut(Event<'_>),
        outcome: Outcome,
    ) -> Result<Driver<'a, 'w>, WorldError> {
        let point = load_of(plan, options.load.as_deref()).map_err(WorldError::unfit)?;
        let has_percentiles = world.has_percentiles();
        let check = |slo| check(slo, point, has_percentiles);
        options.slos.iter().try_for_each(check).map_err(WorldError::unfit)?;
        let Task::Load(base) = &point.task else { unreachable!("`load_of` gives loads") };
        let warm_up = base.workloads[0].stop.warmup.max(WARM_UP);
        if options.to.is_some() && base.workloads.len() > 1 && !base.workloads.iter().all(has_rate) {
            return Err(WorldError::Unfit(
                "with --to no closed loop runs first, which would show how several workloads share the \
                 rate; give each of them a pace, such as pace = \"rate(100/s)\": the search keeps their \
                 proportions"
                    .into(),
            ));
        }
        // What is in flight of a light load, until the ceiling is known.
        let workers: u32 = base.workloads.iter().map(|workload| workload.workers).sum();
        assert!(workers > 0, "a workload has a worker");
        assert!(!options.slos.is_empty(), "a search has an SLO");
        let depth = DEPTH_LEAST.div_ceil(workers).max(1);
        Ok(Driver {
            plan,
            options,
            world,
            watch,
            outcome,
            searched: point,
            base: base.clone(),
            parts: vec![1.0; base.workloads.len()],
            depth,
            warm_up,
            top_per_s: 0.0,
            deepest: 1,
            light_per_s: 0.0,
            quiet_ns: None,
            relaxation_s: None,
            write_cache: None,
            behind_cache: None,
            rungs: Vec::new(),
            rung_from: 0,
            budget: Budget::of(options.budget),
        })
    }

    fn whole(&mut self) -> Result<Option<record::Search>, WorldError> {
        self.states()?;
        self.reach()?;
        if self.is_over() || self.top_per_s <= 0.0 {
            return Ok(self.without_rates());
        }
        self.overrun()?;
        // Closed loops and writes as fast as they go are overloads too.
        self.recover()?;
        if self.is_over() {
            return Ok(self.without_rates());
        }
        self.rung_from = self.outcome.points.len();
        let (part, least) = LOWEST;
        let lowest_per_s = (self.top_per_s * part).max(least).min(self.top_per_s / 2.0);
        let lowest_per_s = self.options.from.map_or(lowest_per_s, OpsPerSecond::get);
        let settings = Settings {
            slos: self.options.slos.clone(),
            within: self.options.within,
            look_s: self.options.look.as_secs_f64().ceil(),
            longest_s: self.options.longest.as_secs_f64().ceil(),
            lowest_per_s,
            highest_per_s: self.top_per_s.max(lowest_per_s),
            bound_per_s: self.options.to.map(OpsPerSecond::get),
            seed: self.plan.seed,
        };
        debug_assert!(settings.lowest_per_s <= settings.highest_per_s, "a search has room");
        let result = search(&settings, self)?;
        Ok(Some(self.found(&result)))
    }

    /// What there is to say before a rate was tried: that the time was over, or nothing.
    fn without_rates(&self) -> Option<record::Search> {
        let out_of_time = self.is_out_of_time() && !self.world.is_stopped();
        out_of_time.then(|| record::Search { out_of_time, ..self.so_far() })
    }

    /// The states that stand before the load.
    pub(super) fn states(&mut self) -> Result<(), WorldError> {
        let before = self.plan.points().iter().take_while(|point| point.index < self.searched.index);
        for point in before {
            if let Task::State(state) = &point.task {
                self.state(&point.name, state)?;
            }
        }
        Ok(())
    }

    fn state(&mut self, name: &str, state: &State) -> Result<(), WorldError> {
        let index = self.outcome.points.len();
        let frame = frame(index, name, PointKind::State, "");
        let of = index + 1;
        (self.watch)(Event::PointStarted { index, of, name, expected: None, expected_after: Nanos::ZERO });
        let watch = &mut *self.watch;
        let answer = self.world.state(state, &mut |live| watch(Event::Live { index, live, so_far: None }))?;
        let point = state_point(frame, answer, self.world.since());
        (self.watch)(Event::PointEnded { point: &point });
        self.outcome.points.push(point);
        Ok(())
    }

    /// Makes a load, keeps it as a point and gives what it showed.
    pub(super) fn load(&mut self, name: &str, load: &Load) -> Result<Evidence, WorldError> {
        let load = &self.budget.cut(self.world.now(), load);
        let index = self.outcome.points.len();
        let headline = self.base.headlines.first().map(ToString::to_string).unwrap_or_default();
        let expected = load.workloads[0].stop;
        (self.watch)(Event::PointStarted {
            index,
            of: index + 1,
            name,
            expected: Some(expected.warmup + expected.run.unwrap_or_default()),
            expected_after: Nanos::ZERO,
        });
        let watch = &mut *self.watch;
        let answer = self.world.load(load, &mut |live| watch(Event::Live { index, live, so_far: None }))?;
        self.budget.begin(counts_from(answer.started, load));
        let evidence = self.evidence(load, &answer);
        let point = load_point(frame(index, name, PointKind::Load, &headline), load, answer, self.world);
        (self.watch)(Event::PointEnded { point: &point });
        self.outcome.points.push(point);
        Ok(evidence)
    }

    /// Keeps what was decided of a rate, or of a queue depth with the rate that it came to, by the points since the last.
    pub(super) fn keep_rung(
        &mut self,
        (rate_per_s, depth): (f64, Option<u32>),
        purpose: &str,
        evidence: &Evidence,
        verdict: &Verdict,
    ) {
        let slos = &self.options.slos;
        let (verdict, cause) = match verdict {
            Verdict::Pass => ("pass", None),
            Verdict::Fail(cause) => ("fail", Some(causes_words(*cause, evidence, slos))),
            Verdict::Undecided => ("undecided", None),
        };
        let points = (self.rung_from..self.outcome.points.len()).map(|index| narrow::<u32>(index));
        self.rungs.push(record::Rung {
            rate_per_s,
            depth,
            purpose: purpose.into(),
            verdict: verdict.into(),
            cause,
            seconds: evidence.seconds,
            requests: evidence.completed,
            figures: slos.iter().enumerate().map(|(n, slo)| evidence.figure(n, slo)).collect(),
            points: points.collect(),
            recovery: None,
        });
        self.rung_from = self.outcome.points.len();
    }

    /// What broke at the lowest rate that failed.
    fn cause_at(&self, violated_per_s: Option<f64>) -> Option<String> {
        self.rungs
            .iter()
            .filter(|rung| Some(rung.rate_per_s) == violated_per_s)
            .find_map(|rung| rung.cause.clone())
    }

    fn found(&self, result: &SearchResult) -> record::Search {
        record::Search {
            met_per_s: result.met_per_s,
            violated_per_s: result.violated_per_s,
            edge_per_s: result.edge_per_s,
            violated_by: self.cause_at(result.violated_per_s),
            confirmed: result.confirmed,
            confirmed_per_s: result.confirmed_per_s,
            confirm_needs_s: result.confirm_needs_s,
            after_overload_per_s: result.after_overload_per_s,
            complete: result.complete,
            out_of_time: !result.complete && !self.world.is_stopped(),
            ..self.so_far()
        }
    }

    /// The search without an answer.
    pub(super) fn so_far(&self) -> record::Search {
        let recoveries = self.rungs.iter().filter_map(|rung| rung.recovery);
        record::Search {
            slos: self.options.slos.iter().map(ToString::to_string).collect(),
            load: Some(self.searched.name.clone()),
            tolerance: self.options.within,
            from_per_s: self.options.from.map(OpsPerSecond::get),
            to_per_s: self.options.to.map(OpsPerSecond::get),
            ceiling_per_s: if self.options.to.is_some() { 0.0 } else { self.top_per_s },
            met_per_s: None,
            violated_per_s: None,
            edge_per_s: None,
            violated_by: None,
            confirmed: false,
            confirmed_per_s: None,
            confirm_needs_s: None,
            after_overload_per_s: None,
            quiet_ns: self.quiet_ns,
            recovery_s: recoveries.map(|recovery| recovery.seconds).reduce(f64::max),
            write_cache: self.write_cache.clone(),
            relaxation_s: self.relaxation_s,
            complete: false,
            budget_s: self.options.budget.map(Nanos::as_secs_f64),
            out_of_time: false,
            depths: None,
            ladder: self.rungs.clone(),
        }
    }
}

impl Prober for Driver<'_, '_> {
    type Error = WorldError;

    fn look(&mut self, trial: Trial) -> Result<Option<Evidence>, WorldError> {
        if self.is_over() {
            return Ok(None);
        }
        if trial.purpose == Purpose::AfterRest && self.outcome.points.len() == self.rung_from {
            let left = self.budget.left(self.world.now()).unwrap_or(REST);
            self.state("rest", &State::Idle(REST.min(left)))?;
        }
        let after_overload = trial.purpose == Purpose::AfterOverload;
        if self.outcome.points.len() == self.rung_from && !after_overload {
            self.prepare_cache(trial.rate_per_s)?;
        }
        if self.is_over() {
            return Ok(None);
        }
        // What is left of an overload is what is looked for.
        let warm_up = if after_overload { self.warm_up } else { self.relaxed_warm_up() };
        let load = self.at_rate(trial.rate_per_s, trial.seconds, warm_up);
        let name = format!("{}/s, {}", OpsPerSecond::new(trial.rate_per_s), trial.purpose.words());
        let evidence = self.load(&name, &load)?;
        Ok((!self.world.is_stopped()).then_some(evidence))
    }

    fn decided(&mut self, rung: &Rung, (met_per_s, violated_per_s): Bracket) {
        self.keep_rung((rung.rate_per_s, None), rung.purpose.words(), &rung.evidence, &rung.verdict);
        let relaxed = rung.evidence.batches.iter().filter_map(|batches| relaxation(batches));
        // Half a batch is what independent ones have: they are too long to see more.
        let relaxed = relaxed
            .filter(|batches| *batches > 0.5)
            .fold(None, |most: Option<f64>, one| Some(most.map_or(one, |most| most.max(one))));
        if rung.verdict != Verdict::Pass {
            self.overrun_cache();
        }
        if rung.verdict == Verdict::Pass && relaxed.is_some() {
            self.relaxation_s = relaxed;
        }
        let search = record::Search { met_per_s, violated_per_s, ..self.so_far() };
        (self.watch)(Event::RateDecided { search: &search });
    }

    fn rest(&mut self) -> Result<(), WorldError> {
        let recovery: Option<Recovery> = self.recover()?;
        if let Some(rung) = self.rungs.last_mut() {
            rung.recovery = recovery;
        }
        Ok(())
    }
}

fn has_rate(workload: &Workload) -> bool {
    matches!(workload.pace, Pace::Open(_))
}

/// A cause, and where the rate itself was not reached the SLO that broke with it.
fn causes_words(cause: Cause, evidence: &Evidence, slos: &[Slo]) -> String {
    let words = cause_words(cause, slos);
    match (cause, broken(evidence, slos)) {
        (Cause::Short | Cause::Lost, Some(index)) => format!("{words}, {}", slos[index]),
        _ => words,
    }
}

pub(super) fn cause_words(cause: Cause, slos: &[Slo]) -> String {
    match cause {
        Cause::Slo(index) => slos[index].to_string(),
        Cause::Short => "rate not reached".into(),
        Cause::Lost => "requests not issued".into(),
        Cause::Errors => "errors".into(),
        Cause::Client => record::names::search::GENERATOR.into(),
    }
}

fn frame(index: usize, name: &str, kind: PointKind, headline: &str) -> Point {
    Point { name: name.into(), ..Point::before(narrow::<u32>(index), "search", kind, headline) }
}
