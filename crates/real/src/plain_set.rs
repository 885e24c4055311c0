//! Plain files that a classic tool makes, cuts or expands before it measures, and leaves behind or removes.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::{Live, WorldError};
use host::SysRoot;
use host::clock::Clock;
use host::plain::{self, Looks, Made, Refused};
use host::restore::Journal;
use host::safety::{consent_for, permit};
use host::scratch::{ScratchError, Step, enough_room};
use host::target::TargetKind;
use units::Bytes;

use crate::failure::HostError;
use crate::options::RealOptions;
use crate::scratch_set::layout_news;
use crate::target::Resolved;

/// How a target that is a file is treated, in place of a scratch file of its name.
///
/// A file that is not there is made. One that is there and is not Fathom's own is cut, expanded or written with
/// consent alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainFile {
    /// The least that it holds in the end, and the size that addresses are drawn from.
    pub size: Bytes,
    /// How it is expanded to that size before the first load; otherwise it grows as it is written.
    pub expand: Option<Expansion>,
    /// First cut to this size, if it is longer.
    pub cut: Option<Bytes>,
    /// Before each load that reads, expanded to its size with zeros, without being measured: an earlier load may have
    /// ended before it was whole.
    pub whole: bool,
    /// It is written by a load whose time may end before it is whole: room for all of it is not needed, and that there is less
    /// is said.
    pub ends_early: bool,
    /// It stays; otherwise it is removed if it was made here.
    pub keep: bool,
}

/// How a file is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// It is written with zeros.
    Zeros,
    /// It is written with data that does not compress.
    Noise,
    /// Storage is set aside, and nothing written.
    Allocated,
    /// The same, and its size stays.
    Reserved,
    /// What is added is a hole.
    Hole,
}

/// The plain files of a run. Empty where none was asked for.
#[derive(Debug, Default)]
pub(crate) struct PlainSet {
    wanted: Vec<PlainFile>,
    ready: bool,
    made: Vec<Made>,
    /// The numbers of those that are this program's own and filled with data that does not compress.
    laid_out: Vec<usize>,
    journal: Journal,
    /// Files that another process of the same run makes, cuts and removes.
    follows: bool,
    words: Option<String>,
}

impl PlainSet {
    /// Looks whether the targets are files that may become what is wanted; their sizes are those wanted from now
    /// on. Changes nothing yet.
    pub(crate) fn plan(
        root: &SysRoot,
        options: &RealOptions,
        targets: &mut [Resolved],
    ) -> Result<PlainSet, WorldError> {
        let RealOptions { plain: wanted, plain_of_others: others, consents, journal, .. } = options;
        let mut words = None;
        for (number, (wanted, each)) in wanted.iter().zip(targets.iter_mut()).enumerate() {
            match &each.target.kind {
                TargetKind::NewFile(_) if others.contains(&number) => {}
                TargetKind::NewFile(path) => match enough_room(path, wanted.size, None) {
                    Err(scarce @ ScratchError::TooLarge { .. }) if wanted.ends_early => {
                        words.get_or_insert_with(|| may_fill(&each.target.name, &scarce));
                    }
                    room => room.map_err(HostError::told)?,
                },
                TargetKind::File(_) => {
                    let cuts = wanted.cut.is_some_and(|cut| cut < each.facts.size);
                    let expands = wanted.expand.is_some() && wanted.size > each.facts.size;
                    if (cuts || expands) && each.permit.is_none() {
                        let consent = consent_for(root, &each.target, consents);
                        let permit = permit(root, &each.target, consent).map_err(HostError::told)?;
                        each.permit = Some(Arc::new(permit));
                    }
                }
                TargetKind::Directory(_) => {
                    let why = format!("{} is a directory; name a file in it", each.target.name);
                    return Err(WorldError::unfit(why));
                }
                TargetKind::Block { .. } | TargetKind::Null { .. } | TargetKind::Nbd(_) => continue,
            }
            let kept = wanted.cut.map_or(each.facts.size, |cut| cut.min(each.facts.size));
            each.facts.size = kept.max(wanted.size);
        }
        let journal = journal.clone();
        Ok(PlainSet {
            wanted: wanted.to_vec(),
            ready: false,
            made: Vec::new(),
            laid_out: Vec::new(),
            journal,
            follows: false,
            words,
        })
    }

    /// Whether the time of a load may end before a file is whole.
    pub(crate) fn ends_early(&self) -> bool {
        self.wanted.iter().any(|wanted| wanted.ends_early)
    }

    /// That files may fill their file system before the time of a load ends; `None` where there is room for all of them.
    pub(crate) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// Uses the files that another process makes and cuts, and makes and removes none. An error where they are expanded:
    /// only an empty file is known as the one that was made.
    pub(crate) fn follow(&mut self) -> Result<(), WorldError> {
        if self.wanted.iter().any(|wanted| wanted.expand.is_some() || wanted.whole) {
            return Err(WorldError::unfit(
                "files that are expanded before the load are not shared among ranks; run it without `mpirun`",
            ));
        }
        self.follows = true;
        Ok(())
    }

    /// Whether targets are plain files.
    pub(crate) fn is_any(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Makes, cuts and expands, once.
    pub(crate) fn lay_out(
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
        if self.follows {
            return self.join(targets);
        }
        for (number, (wanted, each)) in self.wanted.clone().iter().zip(targets).enumerate() {
            let known = self.made.len();
            let Some(mut file) = self.open(wanted, each)? else { continue };
            let is_own = self.made.len() > known;
            if let Some(most) = wanted.cut {
                plain::cut(&file, most).map_err(|error| refused(each, error))?;
            }
            if let Some(how) = wanted.expand {
                let whole = expanded(wanted.size, how, (each, &mut file), clock, stop, live);
                if matches!(whole, Err(WorldError::Interrupted)) {
                    // Half of a file is of no use to anybody.
                    self.made.iter_mut().for_each(Made::give_up);
                }
                whole?;
                self.laid_out.extend((is_own && how == Expansion::Noise).then_some(number));
            }
        }
        Ok(())
    }

    /// Whether all that target number `number` holds was written by this program, and neither compresses nor repeats.
    pub(crate) fn is_laid_out(&self, number: usize) -> bool {
        self.laid_out.contains(&number)
    }

    /// Takes up those that were not there before, as they are by now.
    fn join(&self, targets: &mut [Resolved]) -> Result<(), WorldError> {
        for (_, each) in self.wanted.iter().zip(targets) {
            if let TargetKind::NewFile(path) = each.target.kind.clone() {
                let permit = plain::join(&path).map_err(|error| refused(each, error))?;
                each.permit = Some(Arc::new(permit));
                each.target.kind = TargetKind::File(path);
            }
        }
        Ok(())
    }

    /// Cuts all of them to nothing.
    pub(crate) fn empty(&self, targets: &[Resolved]) -> Result<(), WorldError> {
        for (_, each) in self.wanted.iter().zip(targets) {
            let Some(file) = writable(each)? else { continue };
            plain::empty(&file).map_err(|error| refused(each, error))?;
        }
        Ok(())
    }

    /// Expands those that are to be whole before they are read.
    pub(crate) fn make_whole(
        &self,
        targets: &[Resolved],
        clock: &Clock,
        stop: &AtomicBool,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        for (wanted, each) in self.wanted.iter().zip(targets).filter(|(wanted, _)| wanted.whole) {
            let Some(mut file) = writable(each)? else { continue };
            expanded(wanted.size, Expansion::Zeros, (each, &mut file), clock, stop, live)?;
        }
        Ok(())
    }

    /// The file for what is to be done before the load; `None` where nothing is, or nothing of a file's.
    fn open(&mut self, wanted: &PlainFile, each: &mut Resolved) -> Result<Option<File>, WorldError> {
        match each.target.kind.clone() {
            TargetKind::NewFile(path) => {
                let made = Made::make(&path, wanted.keep, &self.journal);
                let (made, permit) = made.map_err(|error| refused(each, error))?;
                let handle = made.handle().map_err(|error| refused(each, error))?;
                self.made.push(made);
                each.permit = Some(Arc::new(permit));
                each.target.kind = TargetKind::File(path);
                Ok(Some(handle))
            }
            TargetKind::File(path) => {
                let Some(permit) = each.permit.clone() else { return Ok(None) };
                let Some(file) = permit.open(0).map_err(HostError::told)? else { return Ok(None) };
                if let Some(mark) = permit.mark {
                    let made = Made::left(&path, &file, mark, wanted.keep, &self.journal);
                    self.made.push(made.map_err(|error| refused(each, error))?);
                }
                Ok(Some(file))
            }
            TargetKind::Directory(_)
            | TargetKind::Block { .. }
            | TargetKind::Null { .. }
            | TargetKind::Nbd(_) => Ok(None),
        }
    }
}

fn may_fill(name: &str, scarce: &ScratchError) -> String {
    format!(
        "{name} may fill its file system, and writes then fail, unless the time of the load ends before: {scarce}"
    )
}

/// That the system refused something of a plain file.
fn refused(each: &Resolved, error: Refused) -> WorldError {
    WorldError::failed(format!("{} {}", error.doing, each.target.name))(error.source)
}

/// Expands a file to `size`; an interrupt is an error.
fn expanded(
    size: Bytes,
    how: Expansion,
    (each, file): (&Resolved, &mut File),
    clock: &Clock,
    stop: &AtomicBool,
    live: &mut dyn FnMut(Live),
) -> Result<(), WorldError> {
    let started = clock.now();
    let mut filled = |noise: bool| {
        plain::fill(file, size, noise, &mut |at| {
            live(layout_news(clock.now(), started, at, size));
            if stop.load(Ordering::Relaxed) { Step::Abort } else { Step::Continue }
        })
    };
    let whole = match how {
        Expansion::Zeros => filled(false),
        Expansion::Noise => filled(true),
        Expansion::Allocated => plain::allocate(file, size, false).map(|()| true),
        Expansion::Reserved => plain::allocate(file, size, true).map(|()| true),
        Expansion::Hole => plain::stretch(file, size).map(|()| true),
    };
    match whole.map_err(WorldError::failed(format!("expanding {}", each.target.name)))? {
        true => Ok(()),
        false => Err(WorldError::Interrupted),
    }
}

/// A file that may be written, opened for it; `None` for devices, and for what is only read.
fn writable(each: &Resolved) -> Result<Option<File>, WorldError> {
    match (&each.target.kind, &each.permit) {
        (TargetKind::File(_), Some(permit)) => permit.open(0).map_err(HostError::told),
        _ => Ok(None),
    }
}

impl PlainSet {
    /// Leaves or removes the files; what stays behind that should not.
    pub(crate) fn end(&mut self) -> Vec<String> {
        let mut looks = Looks::default();
        self.made.iter_mut().filter_map(|made| made.end(&mut looks).err()).collect()
    }
}

impl Drop for PlainSet {
    fn drop(&mut self) {
        // Nobody can be told here; what stays behind is in the journal.
        let _untold = self.end();
    }
}
