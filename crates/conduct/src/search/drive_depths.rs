//! Makes the loads of a search for the deepest queue in a world: closed loops, each for one window.

use units::{Instant, Nanos};
use workload::plan::{Load, Plan, Slo};

use super::choose::in_flight;
use super::depths::{DepthLadder, DepthPurpose};
use super::drive::{Driver, SearchOptions};
use super::evidence::{Cause, Evidence, Verdict};
use crate::event::Event;
use crate::run::Outcome;
use crate::world::{World, WorldError};

/// What the user says about a search for the deepest queue, beside what all searches are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthOptions {
    /// For how long each depth is tried.
    pub window: Nanos,
    /// Whether the depth that was found goes on until the search's time is over, rather than for one window more.
    pub goes_on: bool,
    /// Whether the search stays at depth 1 until the window ends, where depth 1 violates the SLO too.
    pub goes_on_unmet: bool,
}

/// Searches the deepest queue, up to the plan's own depth, at which the SLOs of `options` are kept in a window, and ends
/// with its budget.
///
/// The outcome holds a point for each state and each window; the search is `None` where the plan failed before it.
pub fn run_depth_search(
    plan: &Plan,
    options: &SearchOptions,
    depths: DepthOptions,
    world: &mut dyn World,
    watch: &mut dyn FnMut(Event<'_>),
) -> (Outcome, Option<record::Search>) {
    Driver::carried_out(plan, options, world, watch, |driver| driver.depths(depths).map(Some))
}

impl Driver<'_, '_> {
    fn depths(&mut self, options: DepthOptions) -> Result<record::Search, WorldError> {
        self.states()?;
        self.rung_from = self.outcome.points.len();
        let most = self.base.workloads.iter().map(|workload| workload.depth).max().unwrap_or(1);
        let mut ladder = DepthLadder::new(most);
        let mut answer = record::Depths { met: None, violated: None, most };
        while !self.is_over()
            && let Some((depth, purpose)) = ladder.next_depth()
        {
            let (load, is_cut) = self.window(depth, purpose, options);
            let name = format!("closed loop, {} in flight, {}", in_flight(&load.workloads), purpose.words());
            let evidence = self.load(&name, &load)?;
            if self.world.is_stopped() {
                break;
            }
            let verdict = verdict(&evidence, &self.options.slos, is_cut);
            match verdict {
                Verdict::Pass => ladder.decided(depth, true),
                Verdict::Fail(_) => ladder.decided(depth, false),
                Verdict::Undecided => {}
            }
            let rate_per_s = evidence.completed as f64 / evidence.seconds.max(f64::MIN_POSITIVE);
            self.keep_rung((rate_per_s, Some(depth)), purpose.words(), &evidence, &verdict);
            answer = record::Depths { met: ladder.held(), violated: ladder.failed(), most };
            let search = self.with_depths(answer, &ladder);
            (self.watch)(Event::RateDecided { search: &search });
            if verdict == Verdict::Undecided {
                break;
            }
        }
        if options.goes_on_unmet && ladder.failed() == Some(1) && !self.world.is_stopped() {
            self.go_on_unmet(options)?;
        }
        Ok(self.with_depths(answer, &ladder))
    }

    /// One request in flight for what is left of the time, whatever it shows.
    fn go_on_unmet(&mut self, options: DepthOptions) -> Result<(), WorldError> {
        if self.is_over() || self.budget.left(self.world.now()).is_none() {
            return Ok(());
        }
        let options = DepthOptions { goes_on: true, ..options };
        let (load, _) = self.window(1, DepthPurpose::Confirm, options);
        self.load("closed loop, 1 in flight, to the end", &load).map(|_| ())
    }

    /// The load of one depth, and whether it is shorter than a window.
    fn window(&self, depth: u32, purpose: DepthPurpose, options: DepthOptions) -> (Load, bool) {
        let left = self.budget.left(self.world.now());
        let run = match left {
            Some(left) if options.goes_on && purpose == DepthPurpose::Confirm => left,
            _ => options.window,
        };
        // What the plan wants as a warm-up comes before the first window, and is not the search's time.
        let is_first = !self.budget.has_begun();
        let mut load = self.closed(depth, run, Nanos::ZERO);
        for (workload, own) in load.workloads.iter_mut().zip(&self.base.workloads) {
            workload.depth = depth.min(own.depth);
            workload.stop.warmup = if is_first { own.stop.warmup } else { Nanos::ZERO };
            // The same addresses again would be answered by whatever keeps them.
            workload.seed = workload.seed.wrapping_add(self.outcome.points.len() as u64);
        }
        (load, left.is_some_and(|left| left < run))
    }

    fn with_depths(&self, depths: record::Depths, ladder: &DepthLadder) -> record::Search {
        let last = |depth: Option<u32>, verdict: &str| {
            self.rungs
                .iter()
                .rev()
                .find(|rung| depth.is_some() && rung.depth == depth && rung.verdict == verdict)
        };
        let complete = ladder.next_depth().is_none();
        record::Search {
            met_per_s: last(depths.met, "pass").map(|rung| rung.rate_per_s),
            violated_by: last(depths.violated, "fail").and_then(|rung| rung.cause.clone()),
            confirmed: ladder.is_confirmed(),
            complete,
            out_of_time: !complete && !self.world.is_stopped(),
            depths: Some(depths),
            ..self.so_far()
        }
    }
}

/// What follows from one window, as fio judges it: each figure as it was seen is within its limit or is not.
fn verdict(evidence: &Evidence, slos: &[Slo], is_cut: bool) -> Verdict {
    if evidence.errors > 0 && !slos.iter().any(|slo| matches!(slo, Slo::Errors { .. })) {
        return Verdict::Fail(Cause::Errors);
    }
    let figures: Option<Vec<f64>> =
        slos.iter().enumerate().map(|(index, slo)| evidence.figure(index, slo)).collect();
    let Some(figures) = figures.filter(|_| !is_cut) else { return Verdict::Undecided };
    // A share is computed from counts: one request less than the limit allows is further from it than this.
    let is_beyond = |(figure, slo): (&f64, &Slo)| *figure > slo.limit() * (1.0 + 1e-9);
    match figures.iter().zip(slos).position(is_beyond) {
        Some(index) => Verdict::Fail(Cause::Slo(index)),
        None => Verdict::Pass,
    }
}

/// When the first request of a load that began at `started` counts.
pub(super) fn counts_from(started: Instant, load: &Load) -> Instant {
    started + load.workloads.iter().map(|workload| workload.stop.warmup).max().unwrap_or_default()
}
