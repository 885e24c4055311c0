//! Makes the loads of a search in a world, and keeps each as a point.

use std::collections::BTreeMap;

use record::{Point, PointKind};
use stats::exceedance::{Batch, relaxation};
use stats::{Bucket, Histogram};
use units::{Bytes, Instant, Nanos, OpsPerSecond};
use workload::plan::{self, LatencyFigure, Load, Plan, Promise, State, Task, Time};
use workload::spec::{Overflow, Pace, Schedule, Spacing, Stop, Workload};
use workload::tally::ClassInterval;

use super::evidence::{Cause, Evidence, Verdict};
use super::ladder::{Answer, Ask, Prober, Purpose, Rung, Settings, search};
use crate::carry::Outcome;
use crate::event::Event;
use crate::result::{load_point, state_point};
use crate::world::{LoadAnswer, World, WorldError};

/// What the user says about a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// What must be kept; never empty.
    pub promises: Vec<Promise>,
    /// How near the rates above and below the edge have to come.
    pub within: f64,
    /// The first look at a rate; whole seconds, at least ten.
    pub look: Nanos,
    /// All looks at a rate together, before it stays undecided.
    pub longest: Nanos,
    /// Requests in flight at most, all workers together; `None` is worked out of the promise.
    pub depth: Option<u32>,
    /// What a cache may take of writes before the storage behind it is seen.
    pub write_cache: Bytes,
}

/// The shortest first look: as many seconds as there must be batches.
pub const LOOK_LEAST: Nanos = Nanos::from_secs(stats::exceedance::BATCHES_LEAST as u64);

/// A closed loop that gains less than this with four times the depth has reached the ceiling.
const CEILING_GAIN: f64 = 0.03;

/// The deepest closed loop, and the most in flight that is chosen without being asked for.
const DEPTH_MOST: u32 = 1024;

/// The lowest rate worth trying, as a part of the ceiling and in requests a second.
const LOWEST: (f64, f64) = (0.01, 10.0);

/// Load before a look that is not counted, at least.
const WARM_UP: Nanos = Nanos::from_secs(1);

/// Relaxation times that a warm-up takes.
const RELAXATIONS: f64 = 10.0;

/// Left alone before a look after a rest.
const REST: Nanos = Nanos::from_secs(5);

/// A light load is answered as before when its mean is no more than this above that of one request at a time.
const RECOVERED: f64 = 1.1;

/// Seconds that are waited for that at most.
const RECOVERY_MOST: u32 = 120;

/// The lateness of this program that a verdict bears, as a part of the response time that 99 % do not exceed.
const LATE: f64 = 0.05;

/// Carries a search out: the plan's states first, then its load at rates of the search's choice.
///
/// The outcome holds a point for each state and each look; the search is `None` where the plan failed before it.
pub fn carry_out_search(
    plan: &Plan,
    options: &SearchOptions,
    world: &mut dyn World,
    watch: &mut dyn FnMut(Event<'_>),
) -> (Outcome, Option<record::Search>) {
    let outcome = Outcome::begin();
    let mut driver = match Driver::new(plan, options, world, watch, outcome) {
        Ok(driver) => driver,
        Err(error) => return (Outcome { complete: false, error: Some(error), ..Outcome::begin() }, None),
    };
    let found = driver.whole();
    let mut outcome = driver.outcome;
    match found {
        Ok(found) => {
            outcome.complete = found.as_ref().is_some_and(|found| found.complete);
            (outcome, found)
        }
        Err(error) => {
            outcome.complete = false;
            outcome.error = Some(error);
            (outcome, None)
        }
    }
}

/// The one load of a plan that is searched; or why there is none.
pub fn load_of(plan: &Plan) -> Result<&plan::Point, String> {
    let mut loads = plan.points().iter().filter(|point| matches!(point.task, Task::Load(_)));
    match (loads.next(), loads.count()) {
        (None, _) => Err("the plan has no load to search with, only states".into()),
        (Some(load), 0) => Ok(load),
        (Some(_), more) => Err(format!(
            "a search varies the rate of one load, and the plan has {} points with loads; give swept keys one value with \
             --set KEY=VALUE (`--set repeat=1` too), or write a plan with one phase",
            more + 1
        )),
    }
}

struct Driver<'a, 'w> {
    plan: &'a Plan,
    options: &'a SearchOptions,
    world: &'w mut dyn World,
    watch: &'w mut dyn FnMut(Event<'_>),
    outcome: Outcome,
    base: Load,
    /// Each workload's part of the rate.
    parts: Vec<f64>,
    /// Requests in flight at most, each worker.
    depth: u32,
    warm_up: Nanos,
    /// The mean response of one request at a time, in nanoseconds.
    floor_ns: f64,
    ceiling_per_s: f64,
    recovery_s: Option<f64>,
    relaxation_s: Option<f64>,
    rungs: Vec<record::Rung>,
    /// The first point of the rate that is being looked at.
    rung_from: usize,
}

impl<'a, 'w> Driver<'a, 'w> {
    fn new(
        plan: &'a Plan,
        options: &'a SearchOptions,
        world: &'w mut dyn World,
        watch: &'w mut dyn FnMut(Event<'_>),
        outcome: Outcome,
    ) -> Result<Driver<'a, 'w>, WorldError> {
        let point = load_of(plan).map_err(WorldError::Unfit)?;
        let Task::Load(base) = &point.task else { unreachable!("`load_of` gives loads") };
        let warm_up = base.workloads[0].stop.warmup.max(WARM_UP);
        Ok(Driver {
            plan,
            options,
            world,
            watch,
            outcome,
            base: base.clone(),
            parts: Vec::new(),
            depth: 1,
            warm_up,
            floor_ns: 0.0,
            ceiling_per_s: 0.0,
            recovery_s: None,
            relaxation_s: None,
            rungs: Vec::new(),
            rung_from: 0,
        })
    }

    fn whole(&mut self) -> Result<Option<record::Search>, WorldError> {
        self.states()?;
        self.ceiling()?;
        if self.world.is_stopped() || self.ceiling_per_s <= 0.0 {
            return Ok(None);
        }
        let settings = Settings {
            promises: self.options.promises.clone(),
            within: self.options.within,
            look_s: self.options.look.as_secs_f64().ceil(),
            longest_s: self.options.longest.as_secs_f64().ceil(),
            lowest_per_s: (self.ceiling_per_s * LOWEST.0).max(LOWEST.1).min(self.ceiling_per_s / 2.0),
            highest_per_s: self.ceiling_per_s,
            seed: self.plan.seed,
        };
        let answer = search(&settings, self)?;
        Ok(Some(self.found(&answer)))
    }

    /// The states that stand before the load.
    fn states(&mut self) -> Result<(), WorldError> {
        for point in self.plan.points() {
            match &point.task {
                Task::Load(_) => break,
                Task::State(state) => self.state(&point.name, state)?,
            }
        }
        Ok(())
    }

    fn state(&mut self, name: &str, state: &State) -> Result<(), WorldError> {
        let index = self.outcome.points.len();
        let frame = frame(index, name, PointKind::State, "");
        let watch = &mut *self.watch;
        let answer = self.world.state(state, &mut |live| watch(Event::Live { index, live }))?;
        self.outcome.points.push(state_point(frame, answer));
        Ok(())
    }

    /// More and more requests in flight, until that no longer pays.
    fn ceiling(&mut self) -> Result<(), WorldError> {
        let mut depth = 1;
        loop {
            let load = self.closed(depth);
            let workers = self.workers();
            let name = format!("closed loop, {} in flight", u64::from(depth) * workers);
            self.load(&name, &load)?;
            let Some(point) = self.outcome.points.last() else { return Ok(()) };
            let totals: Vec<_> = point.workloads.iter().filter_map(|workload| workload.total()).collect();
            let rates: Vec<f64> = totals.iter().map(|total| total.ops_per_s.value).collect();
            let rate: f64 = rates.iter().sum();
            if depth == 1 {
                let means = totals.iter().filter_map(|total| total.response.as_ref());
                let (sum, count) = means.fold((0.0, 0u64), |(sum, count), response| {
                    (sum + response.mean_ns * response.count as f64, count + response.count)
                });
                self.floor_ns = sum / count.max(1) as f64;
                self.parts = rates.iter().map(|own| own / rate.max(f64::MIN_POSITIVE)).collect();
            }
            let gained = rate > self.ceiling_per_s * (1.0 + CEILING_GAIN);
            self.ceiling_per_s = self.ceiling_per_s.max(rate);
            depth *= 4;
            if !gained || self.world.is_stopped() || u64::from(depth) * workers > u64::from(DEPTH_MOST) {
                break;
            }
        }
        self.share_out();
        self.depth = self.most_in_flight().div_ceil(self.workers() as u32).max(1);
        Ok(())
    }

    fn workers(&self) -> u64 {
        self.base.workloads.iter().map(|workload| u64::from(workload.workers)).sum()
    }

    /// Where all workloads have rates in the plan, those say how the rate is shared; else what a closed loop did.
    fn share_out(&mut self) {
        let rate = |workload: &Workload| match workload.pace {
            Pace::Open(schedule) => Some(schedule.rate.get()),
            _ => None,
        };
        let rates: Option<Vec<f64>> = self.base.workloads.iter().map(rate).collect();
        if let Some(rates) = rates {
            let sum: f64 = rates.iter().sum();
            self.parts = rates.iter().map(|own| own / sum).collect();
        }
    }

    /// Enough in flight for twice the time that is promised at the ceiling: more would break the promise anyway.
    fn most_in_flight(&self) -> u32 {
        let slowest =
            self.options.promises.iter().filter_map(Promise::below).max().unwrap_or(Nanos::from_millis(100));
        let chosen = (2.0 * self.ceiling_per_s * slowest.as_secs_f64()).ceil();
        self.options.depth.unwrap_or((chosen as u32).clamp(64, DEPTH_MOST))
    }

    fn closed(&self, depth: u32) -> Load {
        let mut load = self.base.clone();
        for workload in &mut load.workloads {
            workload.pace = Pace::Closed;
            workload.depth = depth;
            workload.stop = self.stop(Nanos::from_secs(5), self.warm_up);
        }
        load
    }

    fn at_rate(&self, rate_per_s: f64, seconds: f64, warm_up: Nanos) -> Load {
        let mut load = self.base.clone();
        for (workload, part) in load.workloads.iter_mut().zip(&self.parts) {
            let (spacing, overflow) = match workload.pace {
                Pace::Open(schedule) => (schedule.spacing, schedule.overflow),
                _ => (Spacing::Poisson, Overflow::Queue),
            };
            let rate = OpsPerSecond::new((rate_per_s * part).max(1e-3));
            workload.pace = Pace::Open(Schedule { rate, spacing, overflow });
            workload.depth = self.depth;
            workload.stop = self.stop(Nanos::from_secs(seconds.ceil() as u64), warm_up);
            // Looks at one rate are only worth as much as they differ.
            workload.seed = workload.seed.wrapping_add(self.outcome.points.len() as u64);
        }
        load
    }

    fn stop(&self, run: Nanos, warmup: Nanos) -> Stop {
        Stop { warmup, run: Some(run), ..Stop::default() }
    }

    /// Long enough for what went before to be forgotten, and for a write cache to be full.
    fn warm_up(&self, rate_per_s: f64) -> Nanos {
        let written_per_s: f64 = self
            .base
            .workloads
            .iter()
            .zip(&self.parts)
            .map(|(workload, part)| {
                rate_per_s * part * workload.mix.writes() * workload.sizes.largest().as_f64()
            })
            .sum();
        let fill_s = self.options.write_cache.as_f64() / written_per_s;
        let relaxed_s = self.relaxation_s.unwrap_or(0.0) * RELAXATIONS;
        let longest_s = self.options.longest.as_secs_f64();
        let fill = if fill_s.is_finite() { Nanos::from_secs_f64(fill_s) } else { Nanos::ZERO };
        self.warm_up.max(fill).max(Nanos::from_secs_f64(relaxed_s.min(longest_s)))
    }

    /// Makes a load, keeps it as a point and gives what it showed.
    fn load(&mut self, name: &str, load: &Load) -> Result<Evidence, WorldError> {
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
        let answer = self.world.load(load, &mut |live| watch(Event::Live { index, live }))?;
        let evidence = self.evidence(load, &answer);
        let complete = !self.world.is_stopped();
        let point = load_point(frame(index, name, PointKind::Load, &headline), load, answer, complete);
        (self.watch)(Event::PointEnded { point: &point });
        self.outcome.points.push(point);
        Ok(evidence)
    }

    fn evidence(&self, load: &Load, answer: &LoadAnswer) -> Evidence {
        let tallies =
            || answer.workloads.iter().flat_map(|workload| &workload.workers).map(|worker| &worker.tally);
        let rate: f64 = load.workloads.iter().filter_map(mean_rate).sum();
        let seconds = tallies().map(|tally| tally.measured().as_secs_f64()).fold(0.0, f64::max);
        let sum = |of: fn(&workload::tally::Tally) -> u64| tallies().map(of).sum::<u64>();
        Evidence {
            seconds,
            asked: rate * seconds,
            completed: sum(|tally| tally.ops()),
            lost: sum(|tally| tally.dropped + tally.unserved),
            errors: sum(|tally| tally.errors),
            issued: sum(|tally| tally.planned),
            client_limited: self.was_late(answer),
            batches: self.options.promises.iter().map(|promise| batches(promise, answer)).collect(),
        }
    }

    /// Whether requests were issued late although they could have been issued: this program or machine was slow.
    fn was_late(&self, answer: &LoadAnswer) -> bool {
        let (mut lag, mut response) = (Histogram::new(), Histogram::new());
        let (mut in_flight_ns, mut window_ns) = (0u128, 0u64);
        for tally in
            answer.workloads.iter().flat_map(|workload| &workload.workers).map(|worker| &worker.tally)
        {
            in_flight_ns += tally.in_flight_ns;
            window_ns = window_ns.max(tally.measured().get());
            for class in &tally.classes {
                class.lag.iter().for_each(|own| lag.merge(own));
                response.merge(&class.response);
            }
        }
        let room = f64::from(self.depth) * self.workers() as f64 / 2.0;
        let had_room = (in_flight_ns as f64) < room * window_ns as f64;
        match (lag.quantile(0.99), response.quantile(0.99)) {
            (Some(lag), Some(response)) => had_room && lag.as_secs_f64() > LATE * response.as_secs_f64(),
            _ => false,
        }
    }

    /// Waits until a light load is answered as one request at a time was.
    fn recover(&mut self) -> Result<(), WorldError> {
        let light = self.ceiling_per_s * 0.02;
        for tried in 0..RECOVERY_MOST {
            if self.world.is_stopped() {
                return Ok(());
            }
            let load = self.at_rate(light.max(10.0), 1.0, Nanos::ZERO);
            let answer = self.world.load(&load, &mut |_| ())?;
            let mut response = Histogram::new();
            let workers = answer.workloads.iter().flat_map(|workload| &workload.workers);
            workers
                .flat_map(|worker| &worker.tally.classes)
                .for_each(|class| response.merge(&class.response));
            let (Some(mean), Some(spread)) = (response.mean(), response.std_dev()) else { return Ok(()) };
            let chance = 2.0 * spread / (response.count() as f64).sqrt();
            if mean - chance <= RECOVERED * self.floor_ns {
                // The first second is the measurement, not a wait.
                self.recovery_s = Some(self.recovery_s.unwrap_or(0.0).max(f64::from(tried)));
                return Ok(());
            }
        }
        self.recovery_s = Some(f64::from(RECOVERY_MOST));
        Ok(())
    }

    fn found(&mut self, answer: &Answer) -> record::Search {
        let promises: Vec<String> = self.options.promises.iter().map(ToString::to_string).collect();
        record::Search {
            within: self.options.within,
            ceiling_per_s: self.ceiling_per_s,
            kept_per_s: answer.kept_per_s,
            broken_per_s: answer.broken_per_s,
            edge_per_s: answer.edge_per_s,
            broken_by: answer.cause.map(|cause| cause_words(cause, &self.options.promises)),
            confirmed: answer.confirmed,
            after_overload_per_s: answer.after_overload_per_s,
            recovery_s: self.recovery_s,
            relaxation_s: self.relaxation_s,
            complete: answer.complete,
            ladder: std::mem::take(&mut self.rungs),
            promises,
        }
    }
}

impl Prober for Driver<'_, '_> {
    type Error = WorldError;

    fn look(&mut self, ask: Ask) -> Result<Option<Evidence>, WorldError> {
        if ask.purpose == Purpose::AfterRest && self.outcome.points.len() == self.rung_from {
            self.state("rest", &State::Idle(REST))?;
        }
        let after_overload = ask.purpose == Purpose::AfterOverload;
        // What is left of an overload is what is looked for.
        let warm_up = if after_overload { self.warm_up } else { self.warm_up(ask.rate_per_s) };
        let load = self.at_rate(ask.rate_per_s, ask.seconds, warm_up);
        let name = format!("{}, {}", OpsPerSecond::new(ask.rate_per_s), ask.purpose.words());
        let evidence = self.load(&name, &load)?;
        Ok((!self.world.is_stopped()).then_some(evidence))
    }

    fn decided(&mut self, rung: &Rung) {
        let promises = &self.options.promises;
        let (verdict, cause) = match &rung.verdict {
            Verdict::Pass => ("pass", None),
            Verdict::Fail(cause) => ("fail", Some(cause_words(*cause, promises))),
            Verdict::Undecided => ("undecided", None),
        };
        let points = (self.rung_from..self.outcome.points.len()).map(|index| index as u32);
        self.rungs.push(record::Rung {
            rate_per_s: rung.rate_per_s,
            purpose: rung.purpose.words().into(),
            verdict: verdict.into(),
            cause,
            seconds: rung.evidence.seconds,
            requests: rung.evidence.completed,
            figures: promises
                .iter()
                .enumerate()
                .map(|(n, promise)| rung.evidence.figure(n, promise))
                .collect(),
            points: points.collect(),
        });
        self.rung_from = self.outcome.points.len();
        let relaxed = rung.evidence.batches.iter().filter_map(|batches| relaxation(batches));
        // Half a batch is what independent ones have: they are too long to see more.
        let relaxed = relaxed
            .filter(|batches| *batches > 0.5)
            .fold(None, |most: Option<f64>, one| Some(most.map_or(one, |most| most.max(one))));
        if rung.verdict == Verdict::Pass && relaxed.is_some() {
            self.relaxation_s = relaxed;
        }
    }

    fn rest(&mut self) -> Result<(), WorldError> {
        self.recover()
    }
}

fn cause_words(cause: Cause, promises: &[Promise]) -> String {
    match cause {
        Cause::Promise(index) => promises[index].to_string(),
        Cause::Short => "rate not reached".into(),
        Cause::Lost => "requests never issued".into(),
        Cause::Errors => "errors".into(),
        Cause::Client => "client limited".into(),
    }
}

fn mean_rate(workload: &Workload) -> Option<f64> {
    match workload.pace {
        Pace::Open(schedule) => Some(schedule.mean_rate().get()),
        _ => None,
    }
}

/// The whole seconds of the measured window as batches, and in the last of them what ended after it.
fn batches(promise: &Promise, answer: &LoadAnswer) -> Vec<Batch> {
    let mut seconds: BTreeMap<Instant, Batch> = BTreeMap::new();
    let mut all = Batch::default();
    for workload in &answer.workloads {
        let of_workers = workload.workers.iter().flat_map(|worker| &worker.tally.intervals);
        let whole = workload.intervals.iter().chain(of_workers).filter(|interval| interval.measured);
        for interval in whole {
            let batch = seconds.entry(interval.until).or_default();
            interval.classes.iter().for_each(|class| add(batch, of_interval(promise, class)));
        }
        for class in workload.workers.iter().flat_map(|worker| &worker.tally.classes) {
            let service = class.service.as_ref().unwrap_or(&class.response);
            add(&mut all, of_histogram(promise, if is_service(promise) { service } else { &class.response }));
        }
    }
    let seen = seconds.values().fold(Batch::default(), |mut sum, one| {
        add(&mut sum, *one);
        sum
    });
    // Requests that were due in the window and ended after it waited longest; they belong to its end.
    if let Some(mut last) = seconds.last_entry()
        && all.count > seen.count
    {
        let late = Batch { count: all.count - seen.count, sum: (all.sum - seen.sum).max(0.0) };
        add(last.get_mut(), late);
    }
    seconds.into_values().collect()
}

fn is_service(promise: &Promise) -> bool {
    matches!(promise, Promise::Latency { time: Time::Service, .. })
}

fn add(batch: &mut Batch, other: Batch) {
    batch.count += other.count;
    batch.sum += other.sum;
}

fn of_interval(promise: &Promise, class: &ClassInterval) -> Batch {
    // Where nothing is late, service equals response and is not kept apart.
    let buckets =
        if is_service(promise) && !class.service.is_empty() { &class.service } else { &class.response };
    let mut batch = Batch::default();
    for bucket in buckets {
        let count = bucket.count as f64;
        add(&mut batch, Batch { count, sum: count * worth(promise, *bucket) });
    }
    batch
}

/// What one request of a bucket adds: itself where it is beyond the limit, or its time.
fn worth(promise: &Promise, bucket: Bucket) -> f64 {
    match promise {
        Promise::Errors { .. } => 0.0,
        Promise::Latency { figure: LatencyFigure::Quantile(_), below, .. } => {
            f64::from(bucket.low() > *below)
        }
        Promise::Latency { figure: LatencyFigure::Mean, .. } => {
            (bucket.low().get() as f64 + bucket.high().get() as f64) / 2.0
        }
    }
}

fn of_histogram(promise: &Promise, histogram: &Histogram) -> Batch {
    let count = histogram.count() as f64;
    let sum = match promise {
        Promise::Errors { .. } => 0.0,
        Promise::Latency { figure: LatencyFigure::Quantile(_), below, .. } => {
            histogram.count_above(*below) as f64
        }
        Promise::Latency { figure: LatencyFigure::Mean, .. } => histogram.sum_ns() as f64,
    };
    Batch { count, sum }
}

fn frame(index: usize, name: &str, kind: PointKind, headline: &str) -> Point {
    Point {
        index: index as u32,
        phase: "search".into(),
        name: name.into(),
        kind,
        repeat: 1,
        swept: BTreeMap::new(),
        state: BTreeMap::new(),
        headline: headline.into(),
        started_ns: 0,
        ended_ns: 0,
        complete: false,
        workloads: Vec::new(),
        series: Vec::new(),
        cpu: None,
        devices: Vec::new(),
        breakdown: None,
        client_limited: false,
        grading: None,
    }
}
