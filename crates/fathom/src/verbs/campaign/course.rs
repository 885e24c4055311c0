//! The course of a campaign: the runs that are left, one after the other; resumed after any end.

use campaign::Turn;
use conduct::{Taker, in_order, processors};
use host::clock::Clock;
use library::Library;
use real::{Beside, RealOptions};
use record::{CellLack, LackKind, Run};
use units::{Instant, Nanos};

use super::CampaignArgs;
use super::kept::Kept;
use super::lacking::{self, is_same_lack, unmeasured};
use super::lock::{is_running, lock_in_time};
use super::published::{self, BlockGroup};
use super::state::{Prepared, State, readings};
use super::subject::{Request, Subject, distinct};
use super::workers::{Ahead, Workers};
use crate::ending::{Ending, Failure};
use crate::input::plans::Planned;
use crate::input::targets;
use crate::output;
use crate::session::recorder::Recorded;
use crate::session::signals::Signals;
use crate::session::store::Store;
use crate::session::{self, final_ending, ranks};
use crate::terminal::{self, Display};

/// So many runs that fail one after the other end the campaign: what is wrong will not go away by itself.
const FAILURES_MOST: usize = 3;

/// Exit codes of a cell that end the campaign, for no later one would fare better: it does not fit, or is unsafe; a rank has gone;
/// Fathom itself is wrong.
const ENDS_ALL: [u8; 4] = [2, 3, 7, 8];

/// Measures what is left, and prints what all of it says.
pub fn execute(subject: &Subject, arguments: &CampaignArgs, store: &Store) -> Result<Ending, Failure> {
    // Made where it is not there: what is measured is to be kept.
    store.open_to_save(false)?;
    let _lock = lock_in_time(subject, store)?;
    let kept = Kept::of(subject, store)?;
    let left = kept.left(subject);
    let workers = Workers::open(subject, arguments)?;
    let published = published::left(subject, &kept);
    say_begin(subject, &kept, left.len() + published.len());
    let mut course = Course::new(subject, arguments, store, left.len());
    course.known = kept.lacks;
    let ended = match course.published(&published) {
        Ok(None) => course.measure(&left, &workers),
        ended => ended,
    };
    drop(workers);
    let Course { void, skipped, failed, .. } = course;
    conclude(subject, arguments, store)?;
    if let Some(ending) = ended? {
        return Ok(ending);
    }
    let runs = |count: usize| if count == 1 { "a run".to_owned() } else { format!("{count} runs") };
    let reason = |what: String| format!("{what}; start the campaign again to measure what is missing");
    Ok(match (void.len(), failed.len(), skipped.len()) {
        (0, 0, _) => Ending::done(),
        (0, count, _) => Ending { code: 5, reason: reason(format!("{} failed", runs(count))) },
        (count, ..) => Ending { code: 4, reason: reason(format!("{} void", runs(count))) },
    })
}

/// Prints how far the campaign is, and what is known so far.
pub fn status(subject: &Subject, arguments: &CampaignArgs, store: &Store) -> Result<Ending, Failure> {
    let kept = Kept::of(subject, store)?;
    let all = subject.schedule().len() + published::all(subject).len();
    let running = if is_running(subject, store)? { "running" } else { "not running" };
    let void = lacking::counts(&kept.lacks);
    output::print(&format!(
        "{}: {} of {all} runs measured{void}; {running}\n",
        report::harmless(&subject.campaign.name),
        kept.done.len()
    ))?;
    kept.say_others();
    conclude(subject, arguments, store)?;
    Ok(Ending::done())
}

/// What the runs so far say.
fn conclude(subject: &Subject, arguments: &CampaignArgs, store: &Store) -> Result<(), Failure> {
    let mut kept = Kept::of(subject, store)?;
    if kept.runs.is_empty() && kept.lacks.is_empty() {
        return Ok(());
    }
    // Claims may have been added since.
    for run in &mut kept.runs {
        let mixes = distinct(run.points.iter().filter_map(campaign::mix));
        if let Some(cell) = run.cell.as_mut().filter(|cell| !cell.is_published()) {
            cell.claims = subject.claims_of(cell, &mixes);
        }
    }
    let has_figures = !kept.runs.is_empty();
    kept.runs.extend(kept.lacks);
    let effects = campaign::effects(&kept.runs);
    let style = terminal::style(&arguments.appearance);
    let text = report::effects(&effects, style);
    let rest = next_command(&subject.campaign.name, has_figures, store);
    output::print(&(text + "\n" + &rest))?;
    Ok(())
}

/// The command that shows more: the report, or where no run counts, of which there is none, the list of runs with their reasons.
fn next_command(name: &str, has_figures: bool, store: &Store) -> String {
    let word = |name: String| report::shell_word(&name);
    let option = store.option();
    match has_figures {
        true => {
            format!("The whole: fathom{option} report {} -o report.html\n", word(format!("campaign:{name}")))
        }
        false => format!("The runs: fathom{option} ls --tag {}\n", word(format!("campaign={name}"))),
    }
}

fn say_begin(subject: &Subject, kept: &Kept, left: usize) {
    let name = &subject.campaign.name;
    let all = kept.done.len() + left;
    debug_assert!(kept.runs.len() <= all, "runs that count are of turns or of published figures");
    let resumed = match kept.done.len() {
        0 => format!("{name}: {all} runs"),
        done => format!("{name}: {left} of {all} runs are left, {done} are in the library"),
    };
    terminal::say_sentence(&resumed);
    kept.say_others();
}

/// The runs one after the other.
struct Course<'a> {
    subject: &'a Subject,
    arguments: &'a CampaignArgs,
    store: &'a Store,
    clock: Clock,
    state: State,
    left: usize,
    /// Time of each run so far.
    took: Vec<(usize, Nanos)>,
    void: Vec<String>,
    skipped: Vec<String>,
    failed: Vec<String>,
    /// What was lacking before, and why.
    known: Vec<Run>,
}

impl<'a> Course<'a> {
    fn new(subject: &'a Subject, arguments: &'a CampaignArgs, store: &'a Store, left: usize) -> Course<'a> {
        Course {
            subject,
            arguments,
            store,
            clock: Clock::start(),
            state: State::default(),
            left,
            took: Vec::new(),
            void: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Asks for published figures; the ending where something ends all of it.
    fn published(&mut self, left: &[BlockGroup<'_>]) -> Result<Option<Ending>, Failure> {
        for (index, asked) in left.iter().enumerate() {
            // From the first of them on a signal ends the campaign in order.
            interrupted()?;
            let label = asked.label();
            terminal::say_sentence(&format!("[published figures, {} of {}] {label}", index + 1, left.len()));
            if self.subject.is_virtual() {
                published::ask(self.subject, asked, self.arguments, self.store)?;
            } else {
                let request = asked.request(self.subject, &self.arguments.change.tags)?;
                ranks::comes_next(&published_name(asked));
                let (run, ending) = self.run(request, Vec::new(), Box::new(|_| Vec::new()))?;
                if ENDS_ALL.contains(&ending.code) {
                    return Ok(Some(ending));
                }
                if !run.ending.complete || ending.code != 0 {
                    self.failed.push(format!("{label}: {}", ending.reason));
                }
            }
            if let Some(code) = interrupted()? {
                return Ok(Some(interrupted_by(code)));
            }
        }
        Ok(None)
    }

    /// Measures `turns`; the ending where something ends all of it.
    fn measure(&mut self, turns: &[Turn], workers: &Workers) -> Result<Option<Ending>, Failure> {
        // From now on a signal ends the campaign in order.
        interrupted()?;
        let (subject, arguments) = (self.subject, self.arguments);
        // Virtual arrays know nothing of each other; what is real, or is changed by a command, is one after the other.
        let threads = if subject.is_apart() && !arguments.metrics.are_wanted() { processors() } else { 1 };
        let ahead = |at: usize| Some(Ahead::of(subject, arguments, &turns[at]));
        let since = self.clock.now();
        let mut taker = Turns { course: self, turns, in_a_row: 0, since, ended: Ok(None) };
        match workers.measure(turns, &mut |index, ahead| taker.take(index, Some(ahead))) {
            None => in_order(turns.len(), threads, &ahead, &mut taker),
            Some(Ok(())) => {}
            Some(Err(lost)) => return Ok(Some(lost)),
        }
        taker.ended
    }

    /// One run: the state, the load, the state again; or what was measured ahead of it.
    fn one(&mut self, turn: &Turn, began: Instant, ahead: Option<Ahead>) -> Result<Option<Ending>, Failure> {
        let label = self.subject.label(turn);
        let request = self.subject.request(turn, &self.arguments.change.tags)?;
        let proofs = match self.state.prepare(self.subject, turn) {
            Prepared::Ready(proofs) => proofs,
            // A signal, for which a person gave no answer.
            Prepared::Not(CellLack { kind: LackKind::Aborted, .. }) if interrupted()?.is_some() => {
                return Ok(None);
            }
            Prepared::Not(lack) => return self.lacking(label, request, lack),
        };
        ranks::comes_next(&label);
        let (run, ending) = match ahead {
            None => self.run(request, proofs, self.subject.proof_of(turn))?,
            Some(Ahead::Failed(ending)) => return Ok(Some(ending)),
            Some(Ahead::Ended(recorded)) => kept_now((*recorded)?, self.store)?,
        };
        if ENDS_ALL.contains(&ending.code) {
            return Ok(Some(ending));
        }
        let is_whole = run.ending.complete;
        debug_assert!(run.cell.is_some(), "the run of a turn is recorded as its cell");
        let is_void = is_whole && run.cell.as_ref().is_some_and(|cell| cell.unproven().is_some());
        if is_void {
            terminal::say_sentence(&format!("void: {label}: {}", ending.reason));
            self.void.push(label);
            self.state = State::default();
        } else if (!is_whole || ending.code != 0) && interrupted()?.is_none() {
            terminal::say_sentence(&format!("failed: {label}: {}", ending.reason));
            self.failed.push(format!("{label}: {}", ending.reason));
        }
        self.took.push((turn.plan, self.clock.now().saturating_since(began)));
        Ok(None)
    }

    /// What becomes of a cell that is not measured: the library has its reason, and where that is new. The ending where
    /// it ends the campaign.
    fn lacking(
        &mut self,
        label: String,
        request: Request,
        lack: CellLack,
    ) -> Result<Option<Ending>, Failure> {
        terminal::say_sentence(&format!("{}: {label}: {}", lack.kind.word(), lack.why));
        debug_assert!(!lack.why.is_empty(), "what is not measured has a reason");
        let run = unmeasured(request, lack.clone());
        let is_known = self.known.iter().any(|own| is_same_lack(own, &run));
        if let Some(mut library) = self.store.open_to_save(false)?.filter(|_| !is_known) {
            library.save(&run)?;
        }
        match lack.kind {
            LackKind::Aborted => {
                return Ok(Some(Ending { code: 1, reason: format!("the campaign was ended: {}", lack.why) }));
            }
            LackKind::Skipped => self.skipped.push(label),
            LackKind::Void | LackKind::Failed => self.void.push(label),
        }
        Ok(None)
    }

    fn run(
        &self,
        request: Request,
        proofs: Vec<record::StateProof>,
        read_back: session::recorder::ReadBack,
    ) -> Result<(Run, Ending), Failure> {
        let library = self.store.open_to_save(false)?;
        let display = self.arguments.showing.wanted();
        let recorded = measured(request, proofs, read_back, self.arguments, library, display)?;
        let run = recorded.run.clone();
        Ok((run, final_ending(recorded)))
    }

    fn say_turn(&self, turn: &Turn, ahead: &[Turn]) {
        let all = self.subject.schedule().len();
        debug_assert!((1..=all).contains(&self.left), "a turn is counted among those that the campaign has");
        let eta = self.remaining(ahead).map(|time| format!(", about {time} left")).unwrap_or_default();
        let label = self.subject.label(turn);
        terminal::say_sentence(&format!("[{} of {all}{eta}] {label}", all - self.left + 1));
    }

    /// How long the runs `ahead` will take, by those of the same plan so far; `None` before the first.
    fn remaining(&self, ahead: &[Turn]) -> Option<Nanos> {
        let mean = |times: &mut dyn Iterator<Item = Nanos>| {
            let times: Vec<u64> = times.map(Nanos::get).collect();
            let sum: u64 = times.iter().sum();
            (!times.is_empty()).then(|| sum / times.len() as u64)
        };
        let of_any = mean(&mut self.took.iter().map(|(_, time)| *time))?;
        let of_plan = |plan: usize| {
            mean(&mut self.took.iter().filter(|(own, _)| *own == plan).map(|(_, time)| *time))
                .unwrap_or(of_any)
        };
        let sum: u64 = ahead.iter().map(|turn| of_plan(turn.plan)).sum();
        // Whole seconds: it is a forecast.
        Some(Nanos::from_secs(sum.div_ceil(1_000_000_000)))
    }
}

/// Measures a cell, and keeps it in `library` where there is one.
pub fn measured(
    request: Request,
    proofs: Vec<record::StateProof>,
    read_back: session::recorder::ReadBack,
    arguments: &CampaignArgs,
    library: Option<Library>,
    display: Display,
) -> Result<Recorded, Failure> {
    let Request { planned, targets, mut cell, proofs: of_options } = request;
    cell.proofs = [of_options, proofs].concat();
    let options = options(targets, arguments)?;
    let (mut session, mut progress) = session::open(planned, &options, library, display)?;
    session.in_cell(cell, read_back);
    let recorded = session.measure(&mut |event| progress.show(event));
    progress.finish();
    Ok(recorded)
}

fn options(targets: Vec<String>, arguments: &CampaignArgs) -> Result<RealOptions, Failure> {
    Ok(RealOptions {
        targets,
        consents: targets::consents(&arguments.destroy)?,
        keep: arguments.keep,
        scratch: arguments.scratch,
        beside: Beside { taken: ranks::files_taken(arguments.file_per_rank), shares_free: false },
        looks_inside: true,
        ..RealOptions::default()
    })
}

/// What ranks call the measuring of published figures.
fn published_name(asked: &BlockGroup<'_>) -> String {
    format!("published figures, {}", asked.label())
}

/// On a rank other than 0: the plan of the cell that rank 0 has named, and what its targets are opened with. Rank 0 alone brings
/// them into their states.
pub fn cell(
    subject: &Subject,
    arguments: &CampaignArgs,
    name: &str,
) -> Result<(Planned, RealOptions), Failure> {
    let tags = &arguments.change.tags;
    let turn = subject.schedule().into_iter().find(|turn| subject.label(turn) == name);
    let asked = published::all(subject).into_iter().find(|asked| published_name(asked) == name);
    let request = match (turn, asked) {
        (Some(turn), _) => subject.request(&turn, tags)?,
        (None, Some(asked)) => asked.request(subject, tags)?,
        (None, None) => {
            let what =
                format!("the campaign has no cell `{name}` here; give all ranks the same file and options");
            return Err(Failure::Usage(what));
        }
    };
    Ok((request.planned, options(request.targets, arguments)?))
}

/// The run of a cell that was measured before its turn, which `store` has from now on.
fn kept_now(recorded: Recorded, store: &Store) -> Result<(Run, Ending), Failure> {
    let (run, is_refused) = (recorded.run.clone(), recorded.is_refused);
    let ending = final_ending(recorded);
    if let Some(mut library) = store.open_to_save(false)?.filter(|_| !is_refused) {
        library.save(&run)?;
    }
    Ok((run, ending))
}

/// The turns of a campaign in order.
struct Turns<'t, 'a> {
    course: &'t mut Course<'a>,
    turns: &'t [Turn],
    in_a_row: usize,
    /// When the last one ended: what is measured ahead takes no time in its turn.
    since: Instant,
    ended: Result<Option<Ending>, Failure>,
}

impl Turns<'_, '_> {
    fn one(&mut self, index: usize, ahead: Option<Ahead>) -> Result<Option<Ending>, Failure> {
        assert!(index < self.turns.len(), "a turn is one of those that are left");
        let (course, turn) = (&mut *self.course, &self.turns[index]);
        debug_assert!(self.in_a_row < FAILURES_MOST, "a campaign ends with the last failure that it allows");
        course.left = self.turns.len() - index;
        course.say_turn(turn, &self.turns[index..]);
        let began = std::mem::replace(&mut self.since, course.clock.now());
        let failures = course.failed.len();
        if let Some(ending) = course.one(turn, began, ahead)? {
            return Ok(Some(ending));
        }
        self.since = course.clock.now();
        if let Some(code) = interrupted()? {
            return Ok(Some(interrupted_by(code)));
        }
        self.in_a_row = if course.failed.len() > failures { self.in_a_row + 1 } else { 0 };
        Ok((self.in_a_row == FAILURES_MOST).then(|| {
            let last = course.failed.last().cloned().unwrap_or_default();
            let reason = format!("{} runs failed one after the other, the last: {last}", self.in_a_row);
            Ending { code: 5, reason }
        }))
    }
}

impl Taker<Option<Ahead>> for Turns<'_, '_> {
    /// The foremost is measured where it is seen, as it is taken.
    fn next(&mut self, _: usize, is_free: bool) -> Option<Option<Ahead>> {
        is_free.then_some(None)
    }

    fn take(&mut self, index: usize, ahead: Option<Ahead>) -> bool {
        self.ended = self.one(index, ahead);
        matches!(self.ended, Ok(None))
    }
}

impl Subject {
    /// What reads the state back once the load of `turn` has ended.
    pub fn proof_of(&self, turn: &Turn) -> session::recorder::ReadBack {
        let healths: Vec<(String, String)> = self.healths(turn);
        let readings = readings(self, turn);
        Box::new(move |run| {
            let health = healths.iter().map(|(factor, level)| campaign::health_proof(factor, level, run));
            health.chain(readings.iter().map(|reading| reading.read("after"))).collect()
        })
    }
}

/// The ending by the signal of that exit code.
fn interrupted_by(code: u8) -> Ending {
    Ending { code, reason: "interrupted; the runs so far are kept, and the next start resumes".into() }
}

/// The exit code of the signal that has come.
fn interrupted() -> Result<Option<u8>, Failure> {
    let signals = Signals::listen()?;
    Ok(signals.exit_code())
}
