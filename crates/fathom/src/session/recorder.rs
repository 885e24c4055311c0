//! Puts a run together while it goes on, and keeps it after each point: what was measured is never lost.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use conduct::{Event, Outcome, World, WorldError};
use host::clock::Clock;
use jiff::{Timestamp, Unit};
use library::{Address, Durability, Filter, Kept, Library, LibraryError, Location, Selector, default_path};
use record::names::fact;
use record::{
    Cache, CampaignCell, Finding, PlanSource, Point, Run, SCHEMA_VERSION, Severity, StateProof, Target, Tool,
};
use units::{Instant, Nanos};
use workload::plan::{Overrides, Plan};

use crate::ending::Ending;
use crate::output::salt;
use crate::terminal::progress::Cost;

/// A run that goes on.
pub struct Recorder {
    run: Run,
    library: Option<Library>,
    /// What the library holds of the run.
    kept: Kept,
    clock: Clock,
    /// When all that is kept was on storage.
    durable_at: Option<Instant>,
    /// When the point that goes on began, or was last kept as far as it had come.
    grown_at: Instant,
    /// The library of this machine, while a server does not take the run.
    aside: Option<Library>,
    /// The server is not asked again before.
    patient_until: Instant,
    /// Why the last save failed; none where it went well or nothing is to be kept.
    lost: Option<Lost>,
    /// Reads back the state that a cell of a campaign is about.
    read_back: Option<ReadBack>,
    /// Says whether it is good enough.
    judge: Option<Judge>,
    /// What showing progress costs.
    cost: Option<Arc<Cost>>,
}

/// Judges the run once it is whole; gives its ending where it is not good enough.
pub type Judge = Box<dyn FnOnce(&mut Run) -> Ending>;

/// Tells what the state is at the end of a run.
pub type ReadBack = Box<dyn FnOnce(&Run) -> Vec<StateProof>>;

/// A run that has ended.
pub struct Recorded {
    pub run: Run,
    /// Why it is not in the library although it should be.
    pub lost: Option<Lost>,
    /// Whether nothing was measured because what was asked cannot be: there is no result, and nothing is kept.
    pub is_refused: bool,
}

/// Why a run is not in the library that it was meant for.
pub struct Lost {
    error: LibraryError,
    /// Where it is instead, and the command that brings it from there.
    pub aside: Option<(PathBuf, String)>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lost { error, aside } = self;
        match aside {
            None => write!(f, "the run could not be saved: {error}"),
            Some((path, command)) => {
                write!(
                    f,
                    "the run is kept in {}, from where `{command}` brings it in: {error}",
                    path.display()
                )
            }
        }
    }
}

impl Recorder {
    /// A record without points yet.
    pub fn start(
        plan: &Plan,
        origin: &str,
        overrides: &Overrides,
        world: &dyn World,
        consents: Vec<String>,
        library: Option<Library>,
    ) -> Recorder {
        let plan_source = PlanSource {
            name: plan.name.clone(),
            about: plan.about.clone(),
            origin: origin.into(),
            text: plan.text.clone(),
            overrides: overrides.set.clone(),
        };
        let run = Run {
            targets: world.targets(),
            path: world.path(),
            environment: world.environment(),
            consents,
            ..begun(plan_source, plan.tags.iter().cloned().collect(), world.kind())
        };
        let clock = Clock::start();
        let grown_at = clock.now();
        Recorder {
            run,
            library,
            kept: Kept::default(),
            clock,
            durable_at: None,
            grown_at,
            aside: None,
            patient_until: grown_at,
            lost: None,
            read_back: None,
            judge: None,
            cost: None,
        }
    }

    /// Records what showing progress costs; nothing where none is drawn.
    pub fn is_shown_at(&mut self, cost: Option<Arc<Cost>>) {
        self.cost = cost;
    }

    /// Records the run as this cell of a campaign; `read_back` reads the state at its end.
    pub fn set_cell(&mut self, cell: CampaignCell, read_back: ReadBack) {
        self.run.cell = Some(cell);
        self.read_back = Some(read_back);
    }

    /// Has `judge` say at the end whether the run is good enough.
    pub fn set_judge(&mut self, judge: Judge) {
        self.judge = Some(judge);
    }

    /// The run as far as it is recorded.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Keeps what `event` tells.
    pub fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::PointStarted { .. } => self.grown_at = self.clock.now(),
            Event::Live { so_far: Some(so_far), .. } => self.grow(so_far),
            Event::PointEnded { point } => self.add(point),
            Event::RateDecided { search } => self.add_search(search),
            _ => {}
        }
    }

    /// Keeps a point that takes long as far as it has come, so that the end of this process does not lose it.
    fn grow(&mut self, so_far: &dyn Fn() -> Point) {
        let now = self.clock.now();
        if self.library.is_none() || now.saturating_since(self.grown_at) < GROWN_EVERY {
            return;
        }
        self.grown_at = now;
        debug_assert!(self.run.ended.is_none(), "no point grows in a record that is closed");
        self.run.points.push(so_far());
        // The next save puts what has become of it in its place.
        let kept = self.kept.clone();
        self.save(Durability::Now);
        self.kept = kept;
        self.run.points.pop();
    }

    /// Adds a point and keeps the run so far. A library that fails costs no result: it is asked again after the
    /// next point.
    fn add(&mut self, point: &Point) {
        debug_assert!(self.run.ended.is_none(), "no point is added to a record that is closed");
        self.run.points.push(point.clone());
        self.keep();
    }

    /// What has become of a plan that a mistake of Fathom's own has cut short: the points so far.
    pub fn cut_short(&self, what: String) -> Outcome {
        let (points, error) = (self.run.points.clone(), Some(WorldError::Internal(what)));
        Outcome { points, complete: false, error, rounds: Vec::new() }
    }

    /// What is known of the targets once scratch files are laid out.
    pub fn set_targets(&mut self, targets: Vec<record::Target>) {
        self.run.targets = targets;
    }

    /// What a search found.
    pub fn set_search(&mut self, search: record::Search) {
        self.run.search = Some(search);
    }

    /// A search as far as it has come, and keeps it.
    fn add_search(&mut self, search: &record::Search) {
        self.run.search = Some(search.clone());
        self.keep();
    }

    /// What became of rounds that should become steady.
    pub fn set_rounds(&mut self, rounds: Vec<record::Rounds>) {
        self.run.rounds = rounds;
    }

    /// Closes the record: the end, findings, and the last save.
    pub fn finish(mut self, complete: bool, ending: Ending) -> Recorded {
        assert!(self.run.ended.is_none(), "a record is closed once");
        let stored = |Ending { code, reason }| record::Ending { complete, code, reason };
        self.run.ended = Some(now().to_string());
        self.run.display = self.cost.as_ref().map(|cost| cost.read());
        self.run.ending = stored(ending.clone());
        self.recall_caches();
        if let Some(read_back) = self.read_back.take() {
            let proofs = read_back(&self.run);
            self.run.cell.iter_mut().for_each(|cell| cell.proofs.extend(proofs.iter().cloned()));
        }
        explain::judge(&mut self.run);
        let mut ending = judged(&self.run.findings, ending);
        // What was cut short has nothing to be judged by.
        if let Some(judge) = self.judge.take().filter(|_| complete) {
            let own = judge(&mut self.run);
            if ending.code == 0 {
                ending = own;
            }
        }
        self.run.ending = stored(ending);
        debug_assert!(!complete || !self.run.ending.reason.is_empty(), "an ending says why");
        let is_refused = self.run.points.is_empty()
            && self.run.search.is_none()
            && self.durable_at.is_none()
            && REFUSED.contains(&self.run.ending.code);
        if !is_refused {
            self.keep();
        }
        Recorded { run: self.run, lost: self.lost, is_refused }
    }

    /// What an earlier run has seen of the caches of a target, by `fathom doctor TARGET --caches`.
    fn recall_caches(&mut self) {
        // One that did not take the run is not asked.
        let is_asked = self.run.plan.name != CACHES_PLAN && self.lost.is_none();
        let Some(library) = self.library.as_ref().filter(|_| is_asked) else { return };
        for number in 0..self.run.targets.len() {
            if self.run.targets[number].caches.is_empty() {
                self.run.targets[number].caches = recalled(library, &self.run, number);
            }
        }
    }

    /// Keeps the run so far. Points that follow each other fast are put on storage together.
    fn keep(&mut self) {
        let is_young =
            self.durable_at.is_some_and(|at| self.clock.now().saturating_since(at) < DURABLE_EVERY);
        let later = is_young && self.run.ended.is_none();
        self.save(if later { Durability::Later } else { Durability::Now });
    }

    /// Saves what the library lacks of the run. Where a server does not take it, a library of this machine does until it
    /// does again.
    fn save(&mut self, durability: Durability) {
        let Some(library) = &mut self.library else { return };
        let now = self.clock.now();
        if now >= self.patient_until || self.run.ended.is_some() {
            let error = library.extend(&self.run, &mut self.kept, durability).err();
            self.lost = error.map(|error| Lost { error, aside: None });
        }
        match &mut self.lost {
            None => {
                if let Some(mut aside) = self.aside.take() {
                    // Twice is not lost.
                    let _left = aside.remove(&[Selector::Id(self.run.id.clone())]);
                }
            }
            Some(lost) if lost.error.is_of_the_server() => {
                self.patient_until = now.saturating_add(PATIENCE);
                lost.aside = kept_aside(&mut self.aside, library, &self.run, durability);
            }
            Some(_) => {}
        }
        let is_kept = self.lost.as_ref().is_none_or(|lost| lost.aside.is_some());
        if is_kept && durability == Durability::Now {
            self.durable_at = Some(now);
        }
    }
}

/// Saves `run` in the default library, as `library` does not take it: where that is, and the command that brings it from
/// there; `None` where it could not be saved there.
fn kept_aside(
    aside: &mut Option<Library>,
    library: &Library,
    run: &Run,
    durability: Durability,
) -> Option<(PathBuf, String)> {
    let path = default_path().ok()?;
    if aside.is_none() {
        *aside = Some(Library::open(&Location::File(path.clone())).ok()?);
    }
    // All of it: a point may have grown since.
    aside.as_mut()?.extend(run, &mut Kept::default(), durability).ok()?;
    let command = format!("fathom --store {} import {} {}", library.place(), path.display(), run.id);
    Some((path, command))
}

/// The name of the plan of `fathom doctor --caches`, by which later runs on the same target find what it saw.
pub const CACHES_PLAN: &str = "caches";

/// The codes of a command line or a plan that cannot be, and of a target that must not be written.
const REFUSED: [u8; 2] = [2, 3];

/// What the end of the process may cost of a point that goes on. A save takes some milliseconds: too little of a minute
/// to be seen in it.
const GROWN_EVERY: Nanos = Nanos::from_secs(60);

/// How long a server that has not taken the run is left alone.
const PATIENCE: Nanos = Nanos::from_secs(30);

/// What a power cut may cost of a run that goes on.
const DURABLE_EVERY: Nanos = Nanos::from_secs(1);

/// So many looks back are read: a record is large, and the newest one that fits is nearly always the first.
const LOOKS_BACK: u64 = 3;

/// The caches of target number `number` of `run`, as the newest look of this machine at the same device found them.
/// A library that cannot be read knows of none.
fn recalled(library: &Library, run: &Run, number: usize) -> Vec<Cache> {
    debug_assert!(number < run.targets.len(), "what is recalled is of a target of the run");
    debug_assert!(run.targets[number].caches.is_empty(), "what a run saw itself is not recalled");
    let target = &run.targets[number];
    let looks = Filter {
        plan: Some(CACHES_PLAN.into()),
        target: Some(target.address.clone()),
        limit: Some(LOOKS_BACK),
        ..Filter::default()
    };
    let entries = library.list(&looks).unwrap_or_default();
    let of_here =
        entries.iter().filter(|entry| entry.hostname == run.environment.hostname && entry.id != run.id);
    let same = |other: &&Target| {
        let fact = |key: &str| target.facts.get(key) == other.facts.get(key);
        other.address == target.address
            && [fact::SERIAL, fact::DEVICE, fact::DEVICE_SIZE, fact::REMOTE].into_iter().all(fact)
    };
    let caches = of_here.filter_map(|entry| {
        let look = library.get(entry.id.as_str()).ok()?;
        let found = look.targets.iter().find(same)?;
        let name = |cache: &Cache| Cache {
            name: format!("{} of run {}", cache.name, entry.number),
            ..cache.clone()
        };
        Some(found.caches.iter().map(name).collect::<Vec<Cache>>())
    });
    caches.into_iter().find(|caches| !caches.is_empty()).unwrap_or_default()
}

/// A run that went through may still be invalid.
fn judged(findings: &[Finding], ending: Ending) -> Ending {
    let invalid = findings.iter().find(|finding| finding.severity == Severity::Invalid);
    match invalid {
        Some(finding) if ending.code == 0 => {
            Ending { code: 4, reason: format!("the result is invalid: {}", finding.sentence) }
        }
        _ => ending,
    }
}

/// A record of `plan` that begins now, of nothing yet.
pub fn begun(plan: PlanSource, tags: BTreeMap<String, String>, world: record::World) -> Run {
    let started = now();
    Run {
        schema_version: SCHEMA_VERSION,
        id: format!("{}-{:04x}", started.strftime("%Y%m%d-%H%M%S"), salt()),
        tool: Tool { name: "fathom".into(), version: env!("CARGO_PKG_VERSION").into() },
        started: started.to_string(),
        ended: None,
        command: std::env::args_os().map(|word| Address::hidden_in(&units::name::text(&word))).collect(),
        tags,
        cell: None,
        plan,
        world,
        targets: Vec::new(),
        path: Vec::new(),
        environment: record::Environment::default(),
        consents: Vec::new(),
        search: None,
        exploration: None,
        rounds: Vec::new(),
        points: Vec::new(),
        findings: Vec::new(),
        grading: None,
        judgement: None,
        display: None,
        ending: record::Ending {
            complete: false,
            code: 130,
            reason: "still running, or ended without a reason".into(),
        },
    }
}

/// Closes `run`: it went through, and now is its end.
pub fn ended(mut run: Run) -> Run {
    run.ended = Some(now().to_string());
    run.ending = record::Ending { complete: true, code: 0, reason: Ending::done().reason };
    run
}

fn now() -> Timestamp {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now)
}
