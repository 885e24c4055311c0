//! The scratch files of a run: how many, how large, and laid out before the first load.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::{Live, WorldError};
use host::clock::Clock;
use host::environment::Environment;
use host::scratch::{
    self, Budget, HEADER_SIZE, Room, Scratch, SizeEnvironment, Spec, Step, auto_size, requested_size,
};
use host::target::TargetKind;
use units::convert::narrow;
use units::{Bytes, Nanos};
use workload::plan::{Plan, Point};
use workload::spec::{Files, Workload};
use workload::{Progress, file_size_needed, files_needed};

use crate::failure::HostError;
use crate::options::RealOptions;
use crate::target::Resolved;

/// Laying out may take so long; then what is written is enough, if it is at least [`ENOUGH`].
const TIME_TO_LAY_OUT: Nanos = Nanos::from_secs(60);
const ENOUGH: Bytes = Bytes::GIB;

/// Scratch files by their numbers. Empty where devices or the user's files are asked.
#[derive(Debug, Default)]
pub(crate) struct ScratchSet {
    /// By file number; `None` for a target that is there already.
    specs: Vec<Option<Spec>>,
    made: Vec<Option<Scratch>>,
    keep: bool,
    /// Laying out may end early, see [`TIME_TO_LAY_OUT`].
    auto: bool,
    /// What must be laid out in any case: no less than a span that a plan gives in bytes.
    least: Bytes,
    words: Option<String>,
    /// Files of another process, which has laid them out by the time of the first load.
    follows: bool,
}

impl ScratchSet {
    /// Decides paths and sizes: each file as large as the largest span that any workload wants of it.
    pub(crate) fn plan(
        plan: &Plan,
        targets: &[Resolved],
        options: &RealOptions,
        environment: &Environment,
    ) -> Result<ScratchSet, WorldError> {
        if !targets.iter().any(makes_files) {
            return Ok(ScratchSet::default());
        }
        let has_directory = targets.iter().any(|each| matches!(each.target.kind, TargetKind::Directory(_)));
        if has_directory && !targets.iter().all(makes_files) {
            let why = "directories cannot be joined with devices or existing files; name targets of one kind";
            return Err(WorldError::unfit(why));
        }
        let workloads: Vec<&Workload> = plan
            .points()
            .iter()
            .flat_map(Point::workloads)
            .filter(|workload| workload.tree.is_none())
            .collect();
        let needs = Needs::of(&workloads, targets);
        let place = Folders { targets, taken: options.beside.taken };
        let Sized { sizes, words, is_auto: auto } = needs.sized(&workloads, &place, options, environment)?;
        let is_made = |number: &usize| targets.get(*number).is_none_or(makes_files);
        let spec = |(number, size): (usize, Bytes)| {
            (is_made(&number) && !size.is_zero()).then(|| Spec {
                path: place.path(number),
                size,
                seed: plan.seed,
                reserve: None,
                journal: options.journal.clone(),
            })
        };
        let least = needs.least();
        let specs = sizes.into_iter().enumerate().map(spec).collect();
        let words =
            words.into_iter().chain(new_files(targets, options.keep)).reduce(|all, more| all + "; " + &more);
        Ok(ScratchSet { specs, made: Vec::new(), keep: options.keep, auto, least, words, follows: false })
    }

    /// Uses the files that another process lays out, and makes and removes none.
    pub(crate) fn follow(&mut self) {
        (self.follows, self.words) = (true, None);
    }

    /// What the size was decided by, and which names are taken for new files.
    pub(crate) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// File number `number`, once laid out.
    pub(crate) fn file(&self, number: usize) -> Option<&Scratch> {
        self.made.get(number)?.as_ref()
    }

    /// Where file number `number` is or will be, and its size.
    pub(crate) fn planned(&self, number: usize) -> Option<(String, Bytes)> {
        match (self.file(number), self.specs.get(number)?) {
            (Some(made), _) => Some((made.path().display().to_string(), made.size())),
            (None, Some(spec)) => Some((spec.path.display().to_string(), spec.size)),
            (None, None) => None,
        }
    }

    /// All files that are or will be made.
    pub(crate) fn all_planned(&self) -> Vec<(String, Bytes)> {
        (0..self.specs.len()).filter_map(|number| self.planned(number)).collect()
    }

    /// Size of all files together.
    pub(crate) fn total(&self) -> Bytes {
        self.all_planned().into_iter().map(|(_, size)| size).sum()
    }

    /// Removes the files, unless they are to be kept; what stays behind, and why.
    pub(crate) fn remove(&mut self) -> Vec<String> {
        let made = self.made.iter_mut().flatten();
        made.filter_map(|scratch| scratch.remove().err()).map(|error| error.to_string()).collect()
    }

    /// Makes what is not there yet.
    pub(crate) fn lay_out(
        &mut self,
        clock: &Clock,
        stop: &AtomicBool,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        assert!(self.made.len() <= self.specs.len(), "no file is made that is not planned");
        let started = clock.now();
        let total = self.total();
        let mut before = Bytes::ZERO;
        while self.made.len() < self.specs.len() {
            let Some(spec) = &self.specs[self.made.len()] else {
                self.made.push(None);
                continue;
            };
            if self.follows {
                self.made.push(Some(Scratch::join(&spec.path).map_err(HostError::told)?));
                continue;
            }
            let until = started.saturating_add(TIME_TO_LAY_OUT);
            let budget = Budget { until, least: self.least.min(spec.size) };
            let mut scratch = Scratch::prepare(spec, &mut |progress| {
                let now = clock.now();
                live(layout_news(now, started, before + progress.written, total));
                match stop.load(Ordering::Relaxed) {
                    true => Step::Abort,
                    false if self.auto => budget.step(now, progress),
                    false => Step::Continue,
                }
            })
            .map_err(HostError::told)?;
            if self.keep {
                scratch.keep().map_err(HostError::told)?;
            }
            scratch.evict().map_err(HostError::told)?;
            assert!(scratch.size() <= spec.size.round_up(HEADER_SIZE), "no file is larger than was planned");
            before += scratch.size();
            self.made.push(Some(scratch));
        }
        Ok(())
    }
}

pub(crate) fn layout_news(
    now: units::Instant,
    started: units::Instant,
    written: Bytes,
    total: Bytes,
) -> Live<'static> {
    debug_assert!(written <= total, "{written} of {total} are laid out");
    let progress = Progress { bytes: written.get(), ..Progress::default() };
    let done = Some(written.as_f64() / total.as_f64().max(1.0));
    Live { progress, done, ..Live::beside(started, now, "lay out") }
}

/// A name that is not there is a new file: to be said, for it may be a directory's that was mistyped.
fn new_files(targets: &[Resolved], keep: bool) -> Option<String> {
    let is_new = |each: &&Resolved| matches!(each.target.kind, TargetKind::NewFile(_));
    let names: Vec<&str> = targets.iter().filter(is_new).map(|each| each.target.name.as_str()).collect();
    let removed = if keep { "" } else { " and removed at the end (`--keep` leaves it, as fio does)" };
    let created = match names.len() {
        0 => return None,
        1 => "does not exist and is created as a file",
        _ => "do not exist and are created as files",
    };
    Some(format!("{} {created}{removed}", names.join(", ")))
}

/// Whether files are made for it: in it, or by its name.
fn makes_files(each: &Resolved) -> bool {
    matches!(each.target.kind, TargetKind::Directory(_) | TargetKind::NewFile(_))
}

/// The numbers of the files that `workload` uses.
///
/// Files of its own are made in a directory, or are the targets it is `on`, one each.
pub(crate) fn files_of(workload: &Workload, targets: &[Resolved]) -> Vec<usize> {
    let used = || (0..targets.len()).filter(|number| workload.uses(*number)).collect();
    match workload.files == Files::Shared || owns_targets(workload, targets) {
        true => used(),
        false => (0..narrow::<usize>(files_needed(workload))).collect(),
    }
}

/// Whether the targets that `workload` is `on` are its own files: as many as it needs, and none a directory.
pub(crate) fn owns_targets(workload: &Workload, targets: &[Resolved]) -> bool {
    let used = || targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    let is_one =
        |each: &Resolved| !matches!(each.target.kind, TargetKind::Directory(_) | TargetKind::Null { .. });
    used().count() as u64 == files_needed(workload) && used().all(|(_, each)| is_one(each))
}

/// What the workloads want of each file, by its number.
#[derive(Debug, Default)]
struct Needs {
    /// Where a span is given in bytes: the largest that any workload wants.
    explicit: BTreeMap<usize, Bytes>,
    /// Where a workload leaves the size open.
    open: BTreeSet<usize>,
}

/// How large each file is, by its number.
struct Sized {
    sizes: Vec<Bytes>,
    words: Option<String>,
    is_auto: bool,
}

impl Needs {
    fn of(workloads: &[&Workload], targets: &[Resolved]) -> Needs {
        let mut needs = Needs::default();
        let is_made = |number: &usize| targets.get(*number).is_none_or(makes_files);
        for workload in workloads {
            for number in files_of(workload, targets).into_iter().filter(is_made) {
                match file_size_needed(workload) {
                    Some(size) => {
                        let largest = needs.explicit.entry(number).or_default();
                        *largest = size.max(*largest);
                    }
                    None => {
                        needs.open.insert(number);
                    }
                }
            }
        }
        needs
    }

    /// What laying out may not end below.
    fn least(&self) -> Bytes {
        self.explicit.values().copied().fold(ENOUGH, Bytes::max)
    }

    /// All numbers, with the span that is given in bytes; zero where none is.
    fn all(&self) -> BTreeMap<usize, Bytes> {
        let open = self.open.iter().map(|number| (*number, Bytes::ZERO));
        open.chain(self.explicit.iter().map(|(number, size)| (*number, *size))).collect()
    }

    /// The size of each file: as `--scratch` says, as spans say, or chosen; or why there is no room for that.
    fn sized(
        &self,
        workloads: &[&Workload],
        place: &Folders<'_>,
        options: &RealOptions,
        environment: &Environment,
    ) -> Result<Sized, WorldError> {
        let mut files = self.all();
        if files.is_empty() {
            // Trees lie beside scratch files and have no size to be given.
            let words =
                options.scratch.map(|_| "none, for no workload of the plan reads or writes blocks".into());
            return Ok(Sized { sizes: Vec::new(), words, is_auto: false });
        }
        let settled = |(number, size): (&usize, &Bytes)| (!self.open.contains(number)).then_some(*size);
        let given = SizeEnvironment {
            taken: HEADER_SIZE * files.len() as u64 + self.explicit.iter().filter_map(settled).sum::<Bytes>(),
            ram: environment.ram,
            direct: workloads.iter().all(|workload| workload.direct),
            hypervisor: environment.hypervisor.clone(),
            ..place.narrowest(&files, options.beside.shares_free)?
        };
        let mut words = None;
        let is_auto = options.scratch.is_none() && files.len() == 1 && !self.open.is_empty();
        if let Some(asked) = options.scratch {
            words = Some(asked_for(asked, &given, &mut files, place)?);
        } else if !self.open.is_empty() {
            let (each, why) = chosen(&given, self.open.len(), place)?;
            let each = match is_auto {
                true => place.kept_nearly(0, each).unwrap_or(each),
                false => each,
            };
            for number in &self.open {
                files.entry(*number).and_modify(|size| *size = each.max(*size));
            }
            words = Some(match is_auto && each > ENOUGH {
                true => format!("{why} {}", ends_early()),
                false => why,
            });
        }
        place.must_hold(&files, options.beside.shares_free)?;
        for number in files.keys() {
            scratch::can_make(&place.path(*number)).map_err(HostError::told)?;
        }
        let count = files.keys().last().map_or(0, |last| last + 1);
        let sizes = (0..count).map(|number| files.get(&number).copied().unwrap_or(Bytes::ZERO)).collect();
        Ok(Sized { sizes, words, is_auto })
    }
}

/// What becomes of a file that takes long to lay out.
fn ends_early() -> String {
    format!(
        "Laying it out stops after {TIME_TO_LAY_OUT}, at the size it has by then, but not below {ENOUGH}."
    )
}

/// Gives all `files` together the size that is asked for; the words for it, or why it cannot be.
fn asked_for(
    asked: Bytes,
    given: &SizeEnvironment,
    files: &mut BTreeMap<usize, Bytes>,
    place: &Folders<'_>,
) -> Result<String, WorldError> {
    let unfit = |why: String| Err(WorldError::unfit(format!("--scratch {}: {why}", as_typed(asked))));
    let count = files.len() as u64;
    let each = Bytes::new(asked.get() / count.max(1)).round_down(HEADER_SIZE);
    let whole = asked.round_down(HEADER_SIZE);
    if each.is_zero() {
        let least = HEADER_SIZE * count;
        return unfit(format!(
            "the size of a scratch file is a multiple of {HEADER_SIZE}; give {least} or more for {count} of \
             them"
        ));
    }
    if let Some(span) = files.values().copied().max().filter(|span| *span > each) {
        let need = span * count;
        return unfit(format!(
            "the plan uses {span} of a file, and this gives each {each}; give {} or more, or a smaller \
             `span`",
            need.exact()
        ));
    }
    // Files of spans that are given are within what is asked for, not beside it.
    let given = SizeEnvironment { taken: HEADER_SIZE * count, ..given.clone() };
    let choice = match requested_size(&given, whole) {
        Ok(choice) => choice,
        Err(_) if given.free.is_zero() => {
            return unfit(format!("{}: {}", place.name(), nothing_free(&given)));
        }
        Err(fits) => {
            let (name, free, reserve) = (place.name(), given.free, given.reserve);
            // As it can be typed.
            let unit = if fits >= Bytes::GIB * 8 { Bytes::GIB } else { Bytes::MIB };
            return unfit(format!(
                "{name} has {free} free, of which {reserve} are reserved; {} or less fits",
                fits.round_down(unit).exact()
            ));
        }
    };
    files.values_mut().for_each(|size| *size = each);
    Ok(match whole == asked {
        true => choice.why,
        false => {
            format!("{} {} was rounded down to a multiple of {HEADER_SIZE}.", choice.why, as_typed(asked))
        }
    })
}

/// `size` exactly, in a decimal unit where that is shorter: `100TB` rather than `97656250000KiB`.
fn as_typed(size: Bytes) -> String {
    let bytes = size.get();
    let units = [("TB", 12), ("GB", 9), ("MB", 6)].map(|(unit, power)| (unit, 10u64.pow(power)));
    let decimal = units.into_iter().find(|(_, scale)| bytes != 0 && bytes.is_multiple_of(*scale));
    let decimal = decimal.map(|(unit, scale)| format!("{}{unit}", bytes / scale));
    let exact = size.exact();
    decimal.filter(|text| text.len() < exact.len()).unwrap_or(exact)
}

/// Why there is no room where nothing is free: the file system is full, or has no size.
fn nothing_free(given: &SizeEnvironment) -> String {
    match given.total.is_zero() {
        true => "its file system has no size: /proc, /sys and the like hold no files; name a directory on a disk, or a device".into(),
        false => {
            format!("no space left ({} of {}); free some, or name another place", given.free, given.total)
        }
    }
}

/// The size of each of `count` files whose size is open, and the reason for it.
fn chosen(given: &SizeEnvironment, count: usize, place: &Folders<'_>) -> Result<(Bytes, String), WorldError> {
    let each = |all: Bytes| Bytes::new(all.get() / count as u64).round_down(HEADER_SIZE);
    match auto_size(given) {
        Some(choice) => Ok((each(choice.size), choice.why)),
        None if given.free.is_zero() => {
            Err(WorldError::unfit(format!("{}: {}", place.name(), nothing_free(given))))
        }
        None => Err(WorldError::unfit(format!(
            "{}: {} free, of which {} are reserved, leave no room for a scratch file of {}; free some \
             space, name another place, or give a smaller size with `--scratch`",
            place.name(),
            given.free,
            given.reserve,
            scratch::LEAST
        ))),
    }
}

/// Where scratch files go.
struct Folders<'a> {
    targets: &'a [Resolved],
    /// Numbers that are taken in a directory.
    taken: usize,
}

impl Folders<'_> {
    /// Where file number `number` lies.
    fn path(&self, number: usize) -> PathBuf {
        let target = &self.targets[number % self.targets.len()].target;
        match &target.kind {
            TargetKind::Directory(directory) => {
                scratch::path_in(directory, self.taken + number / self.targets.len())
            }
            _ => target.path().map(Into::into).unwrap_or_default(),
        }
    }

    fn name(&self) -> &str {
        self.targets.first().map_or("", |first| &first.target.name)
    }

    /// What is free and must stay so, for each file system that `files` lie on.
    fn rooms(
        &self,
        files: &BTreeMap<usize, Bytes>,
        is_shared: bool,
    ) -> Result<BTreeMap<u64, SizeEnvironment>, WorldError> {
        let mut rooms: BTreeMap<u64, (Room, Bytes)> = BTreeMap::new();
        for path in files.keys().map(|number| self.path(*number)) {
            let room = scratch::room(&path).map_err(HostError::told)?;
            let back = scratch::left_behind(&path).map_or(Bytes::ZERO, |left| left.held);
            rooms.entry(room.file_system).or_insert((room, Bytes::ZERO)).1 += back;
        }
        let surroundings = |(number, (room, back)): (u64, (Room, Bytes))| {
            let free = room.free + back;
            let free = if is_shared { Bytes::new(free.get() / 2) } else { free };
            let reserve = scratch::reserve(room.total, free);
            (number, SizeEnvironment { total: room.total, free, reserve, ..SizeEnvironment::default() })
        };
        Ok(rooms.into_iter().map(surroundings).collect())
    }

    /// The room of the file system that has least.
    fn narrowest(
        &self,
        files: &BTreeMap<usize, Bytes>,
        is_shared: bool,
    ) -> Result<SizeEnvironment, WorldError> {
        let rooms = self.rooms(files, is_shared)?;
        let narrowest = rooms.into_values().min_by_key(|room| room.free.saturating_sub(room.reserve));
        Ok(narrowest.unwrap_or_default())
    }

    /// Says no where `files` are more than a file system holds, before any of them is made.
    fn must_hold(&self, files: &BTreeMap<usize, Bytes>, is_shared: bool) -> Result<(), WorldError> {
        for (file_system, room) in self.rooms(files, is_shared)? {
            let is_there = |number: usize| {
                let of = scratch::room(&self.path(number)).map(|room| room.file_system);
                of.is_ok_and(|of| of == file_system)
            };
            let here = files.iter().filter(|(number, _)| is_there(**number));
            let need: Bytes = here.map(|(_, size)| *size + HEADER_SIZE).sum();
            let fits = room.free.saturating_sub(room.reserve);
            if need > fits {
                return Err(WorldError::unfit(format!(
                    "{}: scratch files of {need} do not fit: {} are free, of which {} are reserved; reduce \
                     the spans of the plan to {fits} together, or free some space",
                    self.name(),
                    room.free,
                    room.reserve
                )));
            }
        }
        Ok(())
    }

    /// The size of the file that an earlier run has left as number `number`, where it is `wanted` but for a tenth: what
    /// is free changes a little from run to run, and laying out anew would wear and take time for nothing.
    fn kept_nearly(&self, number: usize, wanted: Bytes) -> Option<Bytes> {
        let left = scratch::left_behind(&self.path(number)).filter(|left| left.complete)?;
        let tenth = wanted.get() / 10;
        (left.data.get().abs_diff(wanted.get()) <= tenth).then_some(left.data)
    }
}
