//! One plan carried out in one world: what `fathom run` and every emulated tool have in common.

pub mod dry_run;
pub mod guard;
pub mod iologs;
pub mod launched;
pub mod memory;
pub mod metrics;
pub mod panics;
pub mod ranks;
pub mod recorder;
pub mod restore;
pub mod signals;
pub mod sink;
pub mod store;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use conduct::search::{DepthOptions, SearchOptions, run_depth_search, run_search};
use conduct::{Event, Listener, Outcome, World, WorldError, run_interleaved};
use library::Library;
use modelled::ModelledWorld;
use real::{RealOptions, RealWorld};
use record::Point;
use units::Nanos;
use workload::plan::Plan;

use crate::ending::{Ending, Failure};
use crate::input::arrays::{self, LIBRARY};
use crate::input::plans::Planned;
use crate::terminal;
use crate::terminal::Display;
use crate::terminal::progress::Progress;
use iologs::{Iologs, Trouble};
use recorder::{Judge, ReadBack, Recorded, Recorder};
use signals::Signals;

/// How a plan is carried out, told whatever happens.
type Runner<'a> = dyn FnMut(&Plan, &mut dyn World, &mut dyn FnMut(Event<'_>)) -> Outcome + 'a;

/// A world that is open, and a record that has begun.
pub struct Session {
    planned: Planned,
    signals: Signals,
    world: Box<dyn World>,
    recorder: Recorder,
    /// Of logs that are written while the plan is carried out.
    trouble: Trouble,
    /// What a scratch file's size was decided by, and what becomes of what an earlier run has left behind.
    notes: Vec<String>,
    /// What trims do to a target that is a file; `None` where nothing trims one.
    pub trim_words: Option<String>,
}

/// Opens a session as [`Session::open`] does, and the progress that a person sees of it; says what is worth knowing before
/// the load starts.
pub fn open(
    planned: Planned,
    options: &RealOptions,
    library: Option<Library>,
    display: Display,
) -> Result<(Session, Progress), Failure> {
    let head = format!("{} on {}", planned.plan.name, options.targets.join(", "));
    metrics::begin(&planned.plan.name, &options.targets.join(", "));
    let mut session = Session::open(planned, options, library)?;
    let mut progress = Progress::new(display);
    progress.of(&head);
    session.recorder.is_shown_at(progress.cost());
    // Of the runs of a campaign each would say the same.
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    session.notes().filter(|note| said.insert((*note).to_owned())).for_each(|note| progress.say(note));
    drop(said);
    progress.of_world(session.kind());
    Ok((session, progress))
}

impl Session {
    /// Opens the world that the targets belong to. Nothing is written yet.
    pub fn open(
        planned: Planned,
        options: &RealOptions,
        library: Option<Library>,
    ) -> Result<Session, Failure> {
        let signals = Signals::listen()?;
        ranks::can_tell_all(&planned.plan)?;
        let logs = Iologs::of(&planned.plan, &options.targets)?;
        let options = &RealOptions { journal: restore::journal(), ..options.clone() };
        let Opened { world, consents, scratch_words, other_words, trim_words } =
            open_world(&planned.plan, options, &signals)?;
        let mut world = ranks::headed(world, &planned.plan, &signals)?;
        let trouble = logs.map(|(logs, trouble)| {
            world.tell(Box::new(logs));
            trouble
        });
        let trouble = trouble.unwrap_or_default();
        let Planned { plan, origin, overrides } = &planned;
        if scratch_words.is_some() && !options.journal.is_kept() {
            terminal::say_sentence(
                "fathom: cannot write a recovery journal beside the library, so a kill would leave the \
                 scratch file behind; give another place with `--store`",
            );
        }
        let recorder = Recorder::start(plan, origin, overrides, &*world, consents, library);
        let scratch = scratch_words.map(|words| format!("scratch file: {words}"));
        let notes = scratch.into_iter().chain(other_words).collect();
        Ok(Session { planned, signals, world, recorder, trouble, notes, trim_words })
    }

    /// What is worth knowing before the load starts.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().chain(&self.trim_words).map(String::as_str)
    }

    /// Real or virtual.
    pub fn kind(&self) -> record::World {
        self.world.kind()
    }

    /// What is carried out.
    pub fn plan(&self) -> &Plan {
        &self.planned.plan
    }

    /// Has the record tell where the time of each request went, where the world can know.
    pub fn keep_breakdown(&mut self) {
        self.world.keep_shares();
    }

    /// Records the run as this cell of a campaign; `read_back` reads the state once the load has ended.
    pub fn in_cell(&mut self, cell: record::CampaignCell, read_back: ReadBack) {
        self.recorder.set_cell(cell, read_back);
    }

    /// Has `judge` say at the end whether the run is good enough.
    pub fn judged_by(&mut self, judge: Judge) {
        self.recorder.set_judge(judge);
    }

    /// Tells `listener` of each request that it wants to hear of.
    pub fn tell(&mut self, listener: Box<dyn Listener>) {
        self.world.tell(listener);
    }

    /// Set once the user interrupts, for whoever waits before or within the measuring.
    pub fn stop(&self) -> std::sync::Arc<std::sync::atomic::AtomicBool> {
        self.signals.stop()
    }

    /// What is asked, as it was found.
    pub fn targets(&self) -> Vec<record::Target> {
        self.world.targets()
    }

    /// The run before anything of it is measured.
    pub fn begun(&self) -> &record::Run {
        self.recorder.run()
    }

    /// Carries the plan out, and keeps the record after each point where there is a library.
    pub fn measure(self, watch: &mut dyn FnMut(&Event<'_>)) -> Recorded {
        self.measured(watch, &mut conduct::run)
    }

    /// The same for as long as `goes_on` says so before a point: with its name, and how long the run has gone on.
    pub fn measure_while(
        self,
        goes_on: &mut dyn FnMut(&str, Nanos) -> bool,
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> Recorded {
        self.measured(watch, &mut |plan, world, watch| conduct::run_while(plan, world, goes_on, watch))
    }

    fn measured(mut self, watch: &mut dyn FnMut(&Event<'_>), run: &mut Runner<'_>) -> Recorded {
        let recorder = &mut self.recorder;
        let outcome = panics::caught(|| {
            run(&self.planned.plan, &mut *self.world, &mut |event| {
                host::fault::here("main");
                watch(&event);
                metrics::hear(&event);
                recorder.hear(&event);
            })
        });
        let outcome = outcome.unwrap_or_else(|what| self.recorder.cut_short(what));
        self.end(outcome)
    }

    /// Carries this session's plan out here and in `other`, interleaved; what happens is told with the side, 0 or 1.
    pub fn measure_by_turns(
        mut self,
        mut other: Session,
        watch: &mut dyn FnMut(usize, &Event<'_>),
    ) -> [Recorded; 2] {
        let mut recorders = [&mut self.recorder, &mut other.recorder];
        let worlds: [&mut dyn World; 2] = [&mut *self.world, &mut *other.world];
        let outcomes = panics::caught(|| {
            run_interleaved(&self.planned.plan, worlds, &mut |side, event| {
                watch(side, &event);
                recorders[side].hear(&event);
            })
        });
        let [here, there] = outcomes
            .unwrap_or_else(|what| [self.recorder.cut_short(what.clone()), other.recorder.cut_short(what)]);
        [self.end(here), other.end(there)]
    }

    fn end(mut self, outcome: Outcome) -> Recorded {
        sink::finish();
        let ending = self.settled(ending(&outcome, &self.signals, self.world.lost()));
        self.recorder.set_targets(self.world.targets());
        self.recorder.set_rounds(outcome.rounds);
        self.recorder.finish(outcome.complete, ending)
    }

    /// Puts back what was changed: `ending`, unless all went well but for that, or for a log.
    fn settled(&mut self, ending: Ending) -> Ending {
        let left = self.world.put_back();
        for sentence in &left {
            terminal::say_sentence(&format!("fathom: not restored: {sentence}"));
        }
        // Of a thread that nobody waits for, too.
        let internal =
            panics::last().map(|what| Ending { code: 8, reason: format!("internal error: {what}") });
        let told = internal.or_else(|| self.trouble.ending()).or_else(|| {
            let first = left.first()?;
            Some(Ending { code: 5, reason: format!("a change of the run could not be restored: {first}") })
        });
        if ending.code == 0 { told.unwrap_or(ending) } else { ending }
    }

    /// Searches the highest rate at which the plan's load keeps its SLOs; likewise.
    pub fn search(self, options: &SearchOptions, watch: &mut dyn FnMut(&Event<'_>)) -> Recorded {
        self.searched(watch, |plan, world, watch| run_search(plan, options, world, watch))
    }

    /// Searches the deepest queue with which it does; likewise.
    pub fn search_depth(
        self,
        options: &SearchOptions,
        depths: DepthOptions,
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> Recorded {
        self.searched(watch, |plan, world, watch| run_depth_search(plan, options, depths, world, watch))
    }

    fn searched(
        mut self,
        watch: &mut dyn FnMut(&Event<'_>),
        search: impl FnOnce(&Plan, &mut dyn World, &mut dyn FnMut(Event<'_>)) -> (Outcome, Option<record::Search>),
    ) -> Recorded {
        let recorder = &mut self.recorder;
        let searched = panics::caught(|| {
            search(&self.planned.plan, &mut *self.world, &mut |event| {
                watch(&event);
                metrics::hear(&event);
                recorder.hear(&event);
            })
        });
        let (outcome, found) = searched.unwrap_or_else(|what| (self.recorder.cut_short(what), None));
        let mut ending = ending(&outcome, &self.signals, self.world.lost());
        if let (0, Some(reason)) = (ending.code, found.as_ref().and_then(unkept)) {
            ending = Ending { code: 1, reason };
        }
        let ending = self.settled(ending);
        self.recorder.set_targets(self.world.targets());
        // Cut short before the first rate there is nothing; after it the ladder so far is kept already.
        if let Some(found) = found {
            self.recorder.set_search(found);
        }
        self.recorder.finish(outcome.complete, ending)
    }
}

/// Why a search that ended by itself has no answer; `None` where it has one.
fn unkept(found: &record::Search) -> Option<String> {
    if found.met_per_s.is_some() {
        return None;
    }
    let slos = found.slos.join(" and ");
    if found.is_generator_late() {
        // A grid that the budget cut short has not seen its lowest rates.
        let but = if found.complete { "; more time will not help" } else { ", and not all rates were tried" };
        return Some(format!(
            "at every rate tried this machine, not the storage, was late, so that nothing is known of {slos}{but}: \
             stop what else runs here (`fathom doctor`), give the load more `workers`, search lower rates with `--to`, or search \
             from a faster machine"
        ));
    }
    let what = if found.depths.is_some() { "queue depth" } else { "rate" };
    match found.budget_s.filter(|_| found.out_of_time) {
        Some(budget_s) => Some(format!(
            "no {what} was seen to meet {slos} within the {} that the search was allowed; give it more time",
            Nanos::from_secs_f64(budget_s)
        )),
        None if found.is_undecided() => Some(format!(
            "it is not known whether a {what} meets {slos}: no trial decided; allow longer ones with `--max-trial`"
        )),
        None => found.complete.then(|| format!("no {what} meets {slos}")),
    }
}

/// A world, and what of the user's data may be destroyed in it.
struct Opened {
    world: Box<dyn World>,
    consents: Vec<String>,
    scratch_words: Option<String>,
    /// What becomes of what an earlier run has left behind, and what may become of a file system.
    other_words: Vec<String>,
    /// What trims do to a file.
    trim_words: Option<String>,
}

fn open_world(plan: &Plan, options: &RealOptions, signals: &Signals) -> Result<Opened, Failure> {
    if let Some(address) = arrays::address(&options.targets)? {
        let world =
            Box::new(ModelledWorld::open(plan, address, &LIBRARY, &real::this_machine(), signals.stop())?);
        return Ok(Opened {
            world,
            consents: Vec::new(),
            scratch_words: None,
            other_words: Vec::new(),
            trim_words: None,
        });
    }
    if !options.create {
        arrays::check_real(&options.targets)?;
    }
    let world = RealWorld::open(plan, options, signals.stop())?;
    Ok(Opened {
        consents: world.consents(),
        scratch_words: world.scratch_words().map(str::to_owned),
        other_words: [world.leftover_words(), world.room_words()]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect(),
        trim_words: world.trim_words().map(str::to_owned),
        world: Box::new(world),
    })
}

/// How the measuring ended.
fn ending(outcome: &Outcome, signals: &Signals, lost: Option<String>) -> Ending {
    if let Some(lost) = lost {
        let left = match outcome.points.is_empty() {
            true => "nothing was measured",
            false => "what the other ranks measured is in the results",
        };
        return Ending { code: 7, reason: format!("{lost}; {left}") };
    }
    if let Some(code) = signals.exit_code() {
        return Ending { code, reason: interrupted(&outcome.points, signals::watcher_was_killed()) };
    }
    if let Some(error) = &outcome.error {
        // Code 2 SLOs that nothing was touched, which no longer holds: what fitted before and does not now
        // has changed beneath the run.
        let code = match error.exit_code() {
            2 if !outcome.points.is_empty() => 5,
            code => code,
        };
        return Ending { code, reason: format!("{error}{}", kept(error, &outcome.points)) };
    }
    let corrupt: u64 = outcome
        .points
        .iter()
        .flat_map(|point| &point.workloads)
        .filter_map(|workload| workload.verified)
        .map(|verified| verified.corrupt)
        .sum();
    if corrupt > 0 {
        let reads = if corrupt == 1 { "a read" } else { &format!("{corrupt} reads") };
        let reason = format!("{reads} returned wrong data{}", first_wrong(&outcome.points));
        return Ending { code: 6, reason };
    }
    let errors: u64 =
        outcome.points.iter().flat_map(|point| &point.workloads).map(|workload| workload.errors).sum();
    let reason = match errors {
        0 => return Ending::done(),
        1 => format!("a request failed{}", first_error(&outcome.points)),
        errors => format!("{errors} requests failed{}", first_error(&outcome.points)),
    };
    Ending { code: 5, reason }
}

/// What a run keeps of which a rank has gone before the load under way had begun.
fn kept(error: &WorldError, points: &[Point]) -> &'static str {
    match error {
        WorldError::Lost(_) if points.is_empty() => "; nothing had been measured",
        WorldError::Lost(_) => "; what was measured before is saved",
        _ => "",
    }
}

/// What became of a run that a signal ended, which is that of the end of its watcher where nobody else sent one.
fn interrupted(points: &[Point], watcher_was_killed: bool) -> String {
    let by = match watcher_was_killed {
        true => "interrupted: the process that watches over this one was killed",
        false => launched::interrupted(),
    };
    match points.iter().any(|point| point.kind == record::PointKind::Load) {
        true => format!("{by}; what was measured so far is a valid partial run"),
        false => format!("{by} before anything was measured"),
    }
}

fn first_wrong(points: &[Point]) -> String {
    let samples =
        points.iter().flat_map(|point| &point.workloads).flat_map(|workload| &workload.error_samples);
    let first =
        samples.filter_map(|each| each.expected.as_ref().zip(each.found.as_ref()).map(|said| (each, said)));
    first
        .take(1)
        .map(|(sample, (expected, found))| {
            let (offset, file) = (sample.offset_bytes, &sample.file);
            let rank = of_rank(sample);
            format!(", the first at byte {offset} of {file}{rank}: expected {expected}, found {found}")
        })
        .collect()
}

/// Which of several ranks asked.
fn of_rank(sample: &record::ErrorSample) -> String {
    sample.rank.map(|rank| format!(" (issued by rank {rank})")).unwrap_or_default()
}

fn first_error(points: &[Point]) -> String {
    let mut samples =
        points.iter().flat_map(|point| &point.workloads).flat_map(|workload| &workload.error_samples);
    samples.next().map_or_else(String::new, |first| {
        let place = if first.file.is_empty() { String::new() } else { format!(" of {}", first.file) };
        format!(
            ", the first a {} of {} bytes at {}{place}{}: {}",
            first.op,
            first.len_bytes,
            first.offset_bytes,
            of_rank(first),
            first.failure
        )
    })
}

/// The ending of the record, unless all went well but for the library.
pub fn final_ending(recorded: Recorded) -> Ending {
    let record::Ending { code, reason, .. } = recorded.run.ending;
    match recorded.lost {
        Some(lost) if code == 0 => Ending { code: 8, reason: lost.to_string() },
        _ => Ending { code, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_before_a_rank_was_lost_is_said_to_be_saved_where_there_is_some() {
        let lost = WorldError::Lost("rank 1 has gone".into());
        let load = [Point::before(0, "one", record::PointKind::Load, "iops")];
        assert_eq!(kept(&lost, &[]), "; nothing had been measured");
        assert_eq!(kept(&lost, &load), "; what was measured before is saved");
        assert_eq!(kept(&WorldError::Interrupted, &load), "");
    }

    #[test]
    fn a_search_in_which_the_machine_was_late_at_every_rate_does_not_ask_for_more_time() {
        let rung = |cause: &str| {
            serde_json::json!({ "rate_per_s": 1e3, "purpose": "grid", "verdict": "fail", "cause": cause, "seconds": 1.0,
                "requests": 1, "figures": [], "points": [] })
        };
        let told = |second: &str| {
            let found = serde_json::json!({ "slos": ["p99<1ms"], "tolerance": 0.02, "ceiling_per_s": 1e4, "confirmed": false,
                "complete": false, "budget_s": 90.0, "out_of_time": true,
                "ladder": [rung("load generator saturated"), rung(second)] });
            unkept(&serde_json::from_value(found).expect("a search")).expect("no rate was kept")
        };
        let late = told("load generator saturated");
        assert!(
            late.contains("this machine, not the storage, was late") && !late.contains("give it more time"),
            "{late}"
        );
        assert!(told("p99<1ms").ends_with("give it more time"));
    }

    #[test]
    fn a_run_that_was_interrupted_says_whether_anything_was_measured_and_who_ended_it() {
        let load = [Point::before(0, "one", record::PointKind::Load, "iops")];
        let state = [Point::before(0, "fill", record::PointKind::State, "iops")];
        assert_eq!(interrupted(&[], false), "interrupted before anything was measured");
        assert_eq!(interrupted(&state, false), "interrupted before anything was measured");
        let valid = "interrupted; what was measured so far is a valid partial run";
        assert_eq!(interrupted(&load, false), valid);
        let told = interrupted(&load, true);
        assert!(
            told.starts_with("interrupted: the process that watches over this one was killed; "),
            "{told}"
        );
    }
}
