//! The scratch files of a run: how many, how large, and laid out before the first load.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use host::environment::Environment;
use host::scratch::{self, Budget, Scratch, ScratchError, Spec, Step, Surroundings, auto_size};
use host::target::Place;
use units::{Bytes, Nanos};
use workload::plan::{Plan, Point};
use workload::spec::{Extent, Files, Span, Workload};
use workload::{Progress, files_needed};

use super::{RealOptions, Resolved};
use crate::event::Live;
use crate::world::WorldError;

/// Laying out may take so long; then what is written is enough, if it is at least [`ENOUGH`].
const TIME_TO_LAY_OUT: Nanos = Nanos::from_secs(60);
const ENOUGH: Bytes = Bytes::GIB;

/// Scratch files by their numbers. Empty where devices or the user's files are asked.
#[derive(Debug, Default)]
pub(super) struct ScratchSet {
    /// By file number; `None` for a target that is there already.
    specs: Vec<Option<Spec>>,
    made: Vec<Option<Scratch>>,
    keep: bool,
    auto: bool,
    words: Option<String>,
}

impl ScratchSet {
    /// Decides paths and sizes: each file as large as the largest span that any workload wants of it.
    pub(super) fn plan(
        plan: &Plan,
        targets: &[Resolved],
        options: &RealOptions,
        environment: &Environment,
    ) -> Result<ScratchSet, WorldError> {
        if !targets.iter().any(makes_files) {
            return Ok(ScratchSet::default());
        }
        let has_directory = targets.iter().any(|each| matches!(each.target.place, Place::Directory(_)));
        if has_directory && !targets.iter().all(makes_files) {
            let why = "directories cannot be joined with devices or existing files; name targets of one kind";
            return Err(WorldError::Unfit(why.into()));
        }
        let workloads: Vec<&Workload> = plan
            .points()
            .iter()
            .flat_map(Point::workloads)
            .filter(|workload| workload.tree.is_none())
            .collect();
        let mut sizes: Vec<Bytes> = Vec::new();
        let mut words = None;
        let is_made = |number: &usize| targets.get(*number).is_none_or(makes_files);
        for workload in &workloads {
            let numbers = files_of(workload, targets);
            if !numbers.iter().any(is_made) {
                continue;
            }
            let each = match explicit_size(workload) {
                Some(size) => size,
                None => {
                    let choice = auto(&workloads, targets, options, environment)?;
                    let each = Bytes::new(choice.size.get() / numbers.len() as u64).round_down(Bytes::MIB);
                    words = Some(choice.why);
                    each
                }
            };
            let most = numbers.iter().copied().max().unwrap_or(0);
            sizes.resize(sizes.len().max(most + 1), Bytes::ZERO);
            for number in numbers {
                sizes[number] = sizes[number].max(each);
            }
        }
        let spec = |(number, size): (usize, Bytes)| {
            let path = || path(targets, number, options.beside.taken);
            (is_made(&number) && !size.is_zero()).then(|| Spec {
                path: path(),
                size,
                seed: plan.seed,
                reserve: None,
            })
        };
        let auto = words.is_some() && options.scratch.is_none();
        let specs = sizes.into_iter().enumerate().map(spec).collect();
        let words =
            words.into_iter().chain(new_files(targets, options.keep)).reduce(|all, more| all + "; " + &more);
        Ok(ScratchSet { specs, made: Vec::new(), keep: options.keep, auto, words })
    }

    /// What the size was decided by, and which names are taken for new files.
    pub(super) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// File number `number`, once laid out.
    pub(super) fn file(&self, number: usize) -> Option<&Scratch> {
        self.made.get(number)?.as_ref()
    }

    /// Where file number `number` is or will be, and its size.
    pub(super) fn planned(&self, number: usize) -> Option<(String, Bytes)> {
        match (self.file(number), self.specs.get(number)?) {
            (Some(made), _) => Some((made.path().display().to_string(), made.size())),
            (None, Some(spec)) => Some((spec.path.display().to_string(), spec.size)),
            (None, None) => None,
        }
    }

    /// All files that are or will be made.
    pub(super) fn all_planned(&self) -> Vec<(String, Bytes)> {
        (0..self.specs.len()).filter_map(|number| self.planned(number)).collect()
    }

    /// Size of all files together.
    pub(super) fn total(&self) -> Bytes {
        self.all_planned().into_iter().map(|(_, size)| size).sum()
    }

    /// Makes what is not there yet.
    pub(super) fn lay_out(
        &mut self,
        clock: &Clock,
        stop: &AtomicBool,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        let started = clock.now();
        let total = self.total();
        let mut before = Bytes::ZERO;
        while self.made.len() < self.specs.len() {
            let Some(spec) = &self.specs[self.made.len()] else {
                self.made.push(None);
                continue;
            };
            let budget =
                Budget { until: started.saturating_add(TIME_TO_LAY_OUT), least: ENOUGH.min(spec.size) };
            let mut scratch = Scratch::prepare(spec, &mut |progress| {
                let now = clock.now();
                live(layout_news(now, started, before + progress.written, total));
                match stop.load(Ordering::Relaxed) {
                    true => Step::Abort,
                    false if self.auto && self.specs.len() == 1 => budget.step(now, progress),
                    false => Step::Continue,
                }
            })
            .map_err(interrupted)?;
            if self.keep {
                scratch.keep()?;
            }
            scratch.evict()?;
            before += scratch.size();
            self.made.push(Some(scratch));
        }
        Ok(())
    }
}

fn layout_news(now: units::Instant, started: units::Instant, written: Bytes, total: Bytes) -> Live {
    let progress = Progress { ops: 0, bytes: written.get(), errors: 0, in_flight: 0 };
    let done = Some(written.as_f64() / total.as_f64().max(1.0));
    Live { now, started, doing: "lay out", progress, p99: None, done }
}

fn interrupted(error: ScratchError) -> WorldError {
    match error {
        ScratchError::Aborted { .. } => WorldError::Interrupted,
        error => WorldError::Scratch(error),
    }
}

/// A name that is not there is a new file: to be said, for it may be a directory's that was mistyped.
fn new_files(targets: &[Resolved], keep: bool) -> Option<String> {
    let is_new = |each: &&Resolved| matches!(each.target.place, Place::NewFile(_));
    let names: Vec<&str> = targets.iter().filter(is_new).map(|each| each.target.name.as_str()).collect();
    let removed = if keep { "" } else { " and removed at the end" };
    (!names.is_empty())
        .then(|| format!("{} is not there yet and is made as a file{removed}", names.join(", ")))
}

/// Whether files are made for it: in it, or by its name.
fn makes_files(each: &Resolved) -> bool {
    matches!(each.target.place, Place::Directory(_) | Place::NewFile(_))
}

/// The numbers of the files that `workload` uses.
///
/// Files of its own are made in a directory, or are the targets it is `on`, one each.
pub(super) fn files_of(workload: &Workload, targets: &[Resolved]) -> Vec<usize> {
    let used = || (0..targets.len()).filter(|number| workload.uses(*number)).collect();
    match workload.files == Files::Shared || owns_targets(workload, targets) {
        true => used(),
        false => (0..files_needed(workload) as usize).collect(),
    }
}

/// Whether the targets that `workload` is `on` are its own files: as many as it needs, and none a directory.
pub(super) fn owns_targets(workload: &Workload, targets: &[Resolved]) -> bool {
    let used = || targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    let is_one = |each: &Resolved| !matches!(each.target.place, Place::Directory(_) | Place::Null { .. });
    used().count() as u64 == files_needed(workload) && used().all(|(_, each)| is_one(each))
}

/// The size a workload needs of each file, where its span is given in bytes.
pub(crate) fn explicit_size(workload: &Workload) -> Option<Bytes> {
    let Span::Of(Extent::Bytes(span)) = workload.span else { return None };
    match workload.offset {
        Extent::Bytes(offset) => Some((offset + span).round_up(Bytes::KIB * 4)),
        Extent::Part(_) => None,
    }
}

fn auto(
    workloads: &[&Workload],
    targets: &[Resolved],
    options: &RealOptions,
    environment: &Environment,
) -> Result<scratch::Choice, WorldError> {
    let free = targets.iter().filter_map(|each| each.facts.free).min().unwrap_or(Bytes::ZERO);
    let free = if options.beside.shares_free { Bytes::new(free.get() / 2) } else { free };
    let given = Surroundings {
        ram: environment.ram,
        free,
        reserve: scratch::reserve(free),
        known_cache: Bytes::ZERO,
        direct: workloads.iter().all(|workload| workload.direct),
        hypervisor: environment.hypervisor.clone(),
        most: options.scratch,
        time: None,
    };
    auto_size(&given).ok_or_else(|| {
        WorldError::Unfit(format!(
            "{}: {free} free do not leave room for a scratch file of {}; free some space or name another place",
            targets[0].target.name,
            scratch::LEAST
        ))
    })
}

/// Where file number `number` lies; in a directory so many names are taken.
fn path(targets: &[Resolved], number: usize, taken: usize) -> PathBuf {
    let target = &targets[number % targets.len()].target;
    match &target.place {
        Place::Directory(directory) => scratch::path_in(directory, taken + number / targets.len()),
        _ => target.path().map(Into::into).unwrap_or_default(),
    }
}
