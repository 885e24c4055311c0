//! Plain files that a classic tool makes, cuts or expands before it measures, and leaves behind or removes.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use host::handle;
use host::plain;
use host::restore::{Change, Journal, MadeFile, Noted};
use host::safety::{Consent, Permit, consent_for, permit};
use host::scratch::{Step, enough_room};
use host::target::Place;
use host::{Facts, SysRoot, Target};
use units::{Bytes, Instant};
use workload::Progress;

use super::Resolved;
use crate::event::Live;
use crate::world::WorldError;

/// How a target that is a file is treated, in place of a scratch file of its name.
///
/// A file that is not there is made. One that is there and is not Fathom's own is cut, expanded or written with
/// consent alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainFile {
    /// The least that it holds in the end, and the size that addresses are drawn from.
    pub size: Bytes,
    /// Expanded to that size with zeros before the first load; otherwise it grows as it is written.
    pub expand: bool,
    /// First cut to this size, if it is longer.
    pub cut: Option<Bytes>,
    /// Before each load that reads, expanded to its size with zeros, without being measured: an earlier load may have
    /// ended before it was whole.
    pub whole: bool,
    /// It stays; otherwise it is removed if it was made here.
    pub keep: bool,
}

/// The plain files of a run. Empty where none was asked for.
#[derive(Debug, Default)]
pub(super) struct PlainSet {
    wanted: Vec<PlainFile>,
    ready: bool,
    made: Vec<Made>,
    journal: Journal,
}

/// A file that is Fathom's own.
#[derive(Debug)]
struct Made {
    path: PathBuf,
    file: File,
    keep: bool,
    /// That it is to be removed, where it is; `None` as well once it has been left or removed.
    noted: Option<Noted>,
}

impl Made {
    /// Leaves or removes the file, once. An error says what stays behind.
    fn end(&mut self) -> Result<(), String> {
        if self.keep {
            // A file that could not be marked counts as the user's from now on.
            let _users = plain::leave(&self.file);
            return Ok(());
        }
        let Some(noted) = self.noted.take() else { return Ok(()) };
        match handle::remove(&self.path, &self.file) {
            Ok(_) => {
                noted.done();
                Ok(())
            }
            Err(error) => Err(format!("{}: cannot remove: {error}", self.path.display())),
        }
    }
}

impl PlainSet {
    /// Looks whether the targets are files that may become what is wanted; their sizes are those wanted from now
    /// on. Changes nothing yet.
    pub(super) fn plan(
        root: &SysRoot,
        wanted: &[PlainFile],
        targets: &mut [Resolved],
        consents: &[Consent],
        journal: &Journal,
    ) -> Result<PlainSet, WorldError> {
        for (wanted, each) in wanted.iter().zip(targets.iter_mut()) {
            match &each.target.place {
                Place::NewFile(path) => {
                    enough_room(path, wanted.size, None)?;
                }
                Place::File(_) => {
                    let cuts = wanted.cut.is_some_and(|cut| cut < each.facts.size);
                    let expands = wanted.expand && wanted.size > each.facts.size;
                    if (cuts || expands) && each.permit.is_none() {
                        let consent = consent_for(root, &each.target, consents);
                        each.permit = Some(Arc::new(permit(root, &each.target, consent)?));
                    }
                }
                Place::Directory(_) => {
                    let why = format!("{} is a directory; name a file in it", each.target.name);
                    return Err(WorldError::Unfit(why));
                }
                Place::Block { .. } | Place::Null { .. } => continue,
            }
            let kept = wanted.cut.map_or(each.facts.size, |cut| cut.min(each.facts.size));
            each.facts.size = kept.max(wanted.size);
        }
        let journal = journal.clone();
        Ok(PlainSet { wanted: wanted.to_vec(), ready: false, made: Vec::new(), journal })
    }

    /// Whether targets are plain files.
    pub(super) fn is_any(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Makes, cuts and expands, once.
    pub(super) fn lay_out(
        &mut self,
        targets: &mut [Resolved],
        clock: &Clock,
        stop: &AtomicBool,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        if self.ready {
            return Ok(());
        }
        self.ready = true;
        for (wanted, each) in self.wanted.clone().iter().zip(targets) {
            let Some(mut file) = self.open(wanted, each)? else { continue };
            let what = |doing: &str| {
                let what = format!("{doing} {}", each.target.name);
                move |source| WorldError::System { what, source }
            };
            let length = || file.metadata().map(|stat| Bytes::new(stat.len()));
            if let Some(cut) = wanted.cut
                && length().map_err(what("looking at"))? > cut
            {
                file.set_len(cut.get()).map_err(what("cutting"))?;
            }
            if wanted.expand {
                let started = clock.now();
                let whole = plain::fill(&mut file, wanted.size, &mut |at| {
                    live(layout_news(clock.now(), started, at, wanted.size));
                    if stop.load(Ordering::Relaxed) { Step::Abort } else { Step::Continue }
                });
                if !whole.map_err(what("expanding"))? {
                    // Half of a file is of no use to anybody.
                    self.made.iter_mut().for_each(|made| made.keep = false);
                    return Err(WorldError::Interrupted);
                }
            }
        }
        Ok(())
    }

    /// Cuts all of them to nothing.
    pub(super) fn empty(&self, targets: &[Resolved]) -> Result<(), WorldError> {
        for (_, each) in self.wanted.iter().zip(targets) {
            let Some(file) = writable(each)? else { continue };
            let what = format!("emptying {}", each.target.name);
            file.set_len(0).map_err(|source| WorldError::System { what, source })?;
        }
        Ok(())
    }

    /// Expands those that are to be whole before they are read.
    pub(super) fn make_whole(
        &self,
        targets: &[Resolved],
        clock: &Clock,
        stop: &AtomicBool,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        for (wanted, each) in self.wanted.iter().zip(targets).filter(|(wanted, _)| wanted.whole) {
            let Some(mut file) = writable(each)? else { continue };
            let started = clock.now();
            let whole = plain::fill(&mut file, wanted.size, &mut |at| {
                live(layout_news(clock.now(), started, at, wanted.size));
                if stop.load(Ordering::Relaxed) { Step::Abort } else { Step::Continue }
            });
            let what = format!("expanding {}", each.target.name);
            if !whole.map_err(|source| WorldError::System { what, source })? {
                return Err(WorldError::Interrupted);
            }
        }
        Ok(())
    }

    /// The file for what is to be done before the load; `None` where nothing is, or nothing of a file's.
    fn open(&mut self, wanted: &PlainFile, each: &mut Resolved) -> Result<Option<File>, WorldError> {
        let system = |each: &Resolved, doing: &str| {
            let what = format!("{doing} {}", each.target.name);
            move |source| WorldError::System { what, source }
        };
        match each.target.place.clone() {
            Place::NewFile(path) => {
                let journal = if wanted.keep { &Journal::default() } else { &self.journal };
                let made = MadeFile::before(&path).map_err(system(each, "making"))?;
                let mut noted = journal.note(Change::Plain(made.clone())).map_err(system(each, "noting"))?;
                let file = match plain::create(&path) {
                    Ok(file) => file,
                    Err(error) => {
                        noted.done();
                        return Err(system(each, "making")(error));
                    }
                };
                let made = made.made(&file).map_err(system(each, "looking at"))?;
                noted.amend(Change::Plain(made)).map_err(system(each, "noting"))?;
                let leave = Permit::for_own(&path, &file, format!("the new file {}", path.display()))
                    .map_err(system(each, "looking at"))?;
                let handle = file.try_clone().map_err(system(each, "opening"))?;
                self.made.push(Made { path: path.clone(), file, keep: wanted.keep, noted: Some(noted) });
                each.permit = Some(Arc::new(leave));
                each.target.place = Place::File(path);
                Ok(Some(handle))
            }
            Place::File(path) => {
                let Some(permit) = each.permit.clone() else { return Ok(None) };
                let Some(file) = permit.open(0)? else { return Ok(None) };
                if permit.consent.is_none() && plain::is_as_left(&file) {
                    let handle = file.try_clone().map_err(system(each, "opening"))?;
                    let journal = if wanted.keep { &Journal::default() } else { &self.journal };
                    let made = MadeFile::before(&path).and_then(|made| made.made(&file));
                    let change = Change::Plain(made.map_err(system(each, "looking at"))?);
                    let noted = Some(journal.note(change).map_err(system(each, "noting"))?);
                    self.made.push(Made { path, file: handle, keep: wanted.keep, noted });
                }
                Ok(Some(file))
            }
            Place::Directory(_) | Place::Block { .. } | Place::Null { .. } => Ok(None),
        }
    }
}

/// A file that may be written, opened for it; `None` for devices, and for what is only read.
fn writable(each: &Resolved) -> Result<Option<File>, WorldError> {
    match (&each.target.place, &each.permit) {
        (Place::File(_), Some(permit)) => Ok(permit.open(0)?),
        _ => Ok(None),
    }
}

impl PlainSet {
    /// Leaves or removes the files; what stays behind that should not.
    pub(super) fn end(&mut self) -> Vec<String> {
        self.made.iter_mut().filter_map(|made| made.end().err()).collect()
    }
}

impl Drop for PlainSet {
    fn drop(&mut self) {
        // Nobody can be told here; what stays behind is in the journal.
        let _untold = self.end();
    }
}

/// What is known of one target before a plan for it is written: a tool's own words depend on sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: LookKind,
    /// Its size; zero for a new file.
    pub size: Bytes,
    /// What offsets and lengths of direct I/O are multiples of; `None` where there is none, or none is known.
    pub direct_unit: Option<Bytes>,
    /// On another machine: closing a file writes it back there.
    pub remote: bool,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookKind {
    /// A block device, or `null:`.
    Device,
    /// A file that is there.
    File,
    /// A file that is not.
    NewFile,
    /// A directory.
    Directory,
}

impl Look {
    /// Looks at a real target. Opens nothing for writing.
    pub fn at(name: &str) -> Result<Look, WorldError> {
        let target = Target::parse(name)?;
        let facts = Facts::read(&SysRoot::real(), &target)?;
        let kind = match target.place {
            Place::Null { .. } | Place::Block { .. } => LookKind::Device,
            Place::File(_) => LookKind::File,
            Place::NewFile(_) => LookKind::NewFile,
            Place::Directory(_) => LookKind::Directory,
        };
        let direct_unit = facts.direct.as_ref().and_then(host::target::Direct::offset);
        Ok(Look { kind, size: facts.size, direct_unit, remote: facts.remote.is_some() })
    }
}

fn layout_news(now: Instant, started: Instant, written: Bytes, total: Bytes) -> Live<'static> {
    let progress = Progress { ops: 0, bytes: written.get(), errors: 0, in_flight: 0 };
    let done = Some(written.as_f64() / total.as_f64().max(1.0));
    Live { now, started, doing: "lay out", progress, p99: None, done, heard: &[] }
}
