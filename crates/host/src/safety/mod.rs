//! May this be written?
//!
//! Reading is always allowed. Fathom's own files may be written: scratch files, and plain ones as it left them; and files that
//! hold nothing but zeros.
//! Everything else needs a [`Consent`] that names exactly what was found, and nothing that speaks against it: see
//! [`Reason`].
//!
//! **Invariant:** a user's file or device is opened for writing through a [`Permit`] alone, and a permit for a device
//! holds it exclusively, so that it cannot be mounted or build an array on it before the permit is dropped.

mod blank;
mod blkid;
mod consent;
mod device;
mod export;
mod reason;
mod signatures;
#[cfg(test)]
mod tests;
mod usage;

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use units::Bytes;
use units::convert::narrow;

use crate::plain::Mark;
use crate::sysroot::{DevNo, SysRoot};
use crate::target::mounts::{self, holding};
use crate::target::{Device, Target, TargetKind};
use crate::{handle, plain, scratch};

use device::DeviceFindings;

pub use consent::{Consent, ConsentError, Subject};
pub use reason::{Reason, Refusal};
pub use signatures::{Signature, signatures};
pub(crate) use usage::loop_over;

/// Why no permit was given, or why one no longer holds.
#[derive(Debug, thiserror::Error)]
pub enum SafetyError {
    /// Something speaks against it.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The path now leads to something else than what was looked at.
    #[error(
        "{path} is no longer the file that was checked: it was replaced meanwhile; nothing was written, run again"
    )]
    Exchanged {
        /// The path.
        path: PathBuf,
    },
    /// It could not be opened.
    #[error("{path}: cannot be opened: {source}")]
    Os {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What speaks against writing, and what would be consent: what `--dry-run` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The target in words, with size, model and serial.
    pub what: String,
    /// Whether data that is not Fathom's would be lost.
    pub destroys: bool,
    /// The texts that would be consent, best first; empty where none is needed or none can be given.
    pub consents: Vec<String>,
    /// Empty where it may be written.
    pub reasons: Vec<Reason>,
}

/// Looks at the target and says what speaks against writing to it. Opens nothing for writing, keeps nothing open.
pub fn judge(root: &SysRoot, target: &Target, consent: Option<&Consent>) -> Judgement {
    match &target.kind {
        TargetKind::Null { .. } => harmless("nothing".into()),
        TargetKind::Directory(path) => harmless(format!("scratch files in {}", path.display())),
        TargetKind::NewFile(path) => harmless(format!("the new file {}", path.display())),
        TargetKind::File(path) => judge_file(root, path, &open_to_look(path), consent),
        TargetKind::Block { node, devno } => judge_device(root, node, *devno, consent),
        TargetKind::Nbd(export) => export::judge(export, consent),
    }
}

/// A file as it is looked at: for reading, and no link at the end of its path.
fn open_to_look(path: &Path) -> io::Result<File> {
    Ok(handle::open_itself(path, OFlags::RDONLY)?)
}

/// The one of several consents that is for the target. Where none is, the first, so that the refusal tells it.
pub fn consent_for<'a>(root: &SysRoot, target: &Target, given: &'a [Consent]) -> Option<&'a Consent> {
    let is_for = |consent: &&Consent| {
        let reasons = judge(root, target, Some(consent)).reasons;
        !reasons.iter().any(|reason| matches!(reason, Reason::OtherConsent { .. }))
    };
    match given {
        [] => None,
        [one] => Some(one),
        several => several.iter().find(is_for).or(several.first()),
    }
}

/// Leave to write to the target, or every reason against it.
///
/// For a device this opens it exclusively, for reading, for as long as the permit lives.
pub fn permit(root: &SysRoot, target: &Target, consent: Option<&Consent>) -> Result<Permit, SafetyError> {
    let looked_at = match &target.kind {
        TargetKind::File(path) => Some((path, open_to_look(path))),
        _ => None,
    };
    let judgement = match &looked_at {
        Some((path, file)) => judge_file(root, path, file, consent),
        None => judge(root, target, consent),
    };
    if !judgement.reasons.is_empty() {
        let Judgement { what, reasons, .. } = judgement;
        return Err(Box::new(Refusal { what, reasons }).into());
    }
    assert!(
        judgement.destroys || judgement.consents.is_empty(),
        "what destroys nothing must need no consent"
    );
    let own = looked_at.as_ref().and_then(|(_, file)| file.as_ref().ok()).filter(|_| !judgement.destroys);
    let mark = own.and_then(mark_for);
    let given = consent.filter(|_| judgement.destroys).map(Consent::to_string);
    assert!(!judgement.destroys || given.is_some(), "nothing may be destroyed without consent");
    let os = |path: &Path| {
        let path = path.to_owned();
        move |source| SafetyError::Os { path, source }
    };
    let seal = match (looked_at, &target.kind) {
        (Some((path, file)), _) => Seal::File { path: path.clone(), file: file.map_err(os(path))? },
        (None, TargetKind::Block { node, devno }) => {
            let held = device::open_alone(node).map_err(os(node))?;
            let sequence = Device::read(root, *devno).and_then(|device| device.disk_sequence);
            Seal::Block { root: root.clone(), node: node.clone(), devno: *devno, sequence, held }
        }
        (None, TargetKind::Nbd(_)) => Seal::Export,
        (None, _) => Seal::OwnFiles,
    };
    Ok(Permit { what: judgement.what, consent: given, mark, seal })
}

/// How a file that may be written without consent is left, so that it may be written so again; `None` of a scratch file, which has a
/// mark of its own.
fn mark_for(file: &File) -> Option<Mark> {
    match scratch::header_of(file) {
        Ok(Some(_)) => None,
        _ => Some(plain::mark_of(file).unwrap_or(Mark::Written)),
    }
}

/// Leave to write to one target.
#[derive(Debug)]
pub struct Permit {
    /// The target in words.
    pub what: String,
    /// The consent it rests on, for the record; `None` where none was needed.
    pub consent: Option<String>,
    /// How a plain file is left, which nobody but Fathom has written; `None` of anything else.
    pub mark: Option<Mark>,
    seal: Seal,
}

/// The first descriptor of what was looked at: what is written is opened by it and by no name.
#[derive(Debug)]
enum Seal {
    OwnFiles,
    /// What its engine connects to by itself.
    Export,
    File {
        path: PathBuf,
        file: File,
    },
    Block {
        root: SysRoot,
        node: PathBuf,
        devno: DevNo,
        sequence: Option<u64>,
        held: File,
    },
}

impl Permit {
    /// Leave to write to a file of Fathom's own, which `made` is open on: a scratch file, or one that
    /// [`plain::create`] has made and that holds nothing of anybody's.
    pub fn for_own(path: &Path, made: &File, what: String) -> io::Result<Permit> {
        let seal = Seal::File { path: path.into(), file: made.try_clone()? };
        Ok(Permit { what, consent: None, mark: None, seal })
    }

    /// The target opened for reading and writing with further `open(2)` flags such as `O_DIRECT`, or `None` where
    /// there is nothing to open because only scratch files will be written.
    ///
    /// What is opened is what was looked at, by its descriptor; a path that leads elsewhere by now is an error, since
    /// what was asked for is no longer there.
    pub fn open(&self, flags: i32) -> Result<Option<File>, SafetyError> {
        let (path, first) = match &self.seal {
            Seal::OwnFiles | Seal::Export => return Ok(None),
            Seal::File { path, file } => (path, file),
            Seal::Block { node, held, .. } => (node, held),
        };
        let fits = self.seal.fits().map_err(|source| SafetyError::Os { path: path.clone(), source })?;
        if !fits {
            return Err(SafetyError::Exchanged { path: path.clone() });
        }
        let flags = OFlags::from_bits_retain(narrow::<u32>(flags)) | OFlags::RDWR;
        // What is read beside the writes should leave no trace, where that is allowed.
        let opened = handle::reopen(first, path, flags | OFlags::NOATIME).or_else(|error| {
            match error.raw_os_error() {
                Some(libc::EPERM) => handle::reopen(first, path, flags),
                _ => Err(error),
            }
        });
        opened.map(Some).map_err(|source| not_opened(path, source))
    }
}

/// Why what a permit is for could not be opened. What is not found is there no longer.
fn not_opened(path: &Path, source: io::Error) -> SafetyError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => SafetyError::Exchanged { path },
        _ => SafetyError::Os { path, source },
    }
}

impl Seal {
    /// Whether the path still leads to what was looked at.
    fn fits(&self) -> io::Result<bool> {
        match self {
            Seal::OwnFiles | Seal::Export => Ok(true),
            Seal::File { path, file } => handle::is_at(path, file),
            Seal::Block { root, devno, sequence, held, .. } => {
                let now = Device::read(root, *devno).and_then(|device| device.disk_sequence);
                Ok(DevNo::from_raw(held.metadata()?.rdev()) == *devno && now == *sequence)
            }
        }
    }
}

fn harmless(what: String) -> Judgement {
    Judgement { what, destroys: false, consents: Vec::new(), reasons: Vec::new() }
}

fn judge_device(root: &SysRoot, node: &Path, devno: DevNo, consent: Option<&Consent>) -> Judgement {
    let Some(device) = Device::read(root, devno) else {
        let device = node.display().to_string();
        let (what, reasons) = (device.clone(), vec![Reason::Unlisted { device }]);
        return Judgement { what, destroys: true, consents: Vec::new(), reasons };
    };
    // The node that was named is the one to be opened; a node below /dev could be a copy with another name.
    let device = Device { node: node.into(), ..device };
    let mut findings = device::look(root, &device);
    let named = consent.filter(|consent| consent.names_device(&device));
    findings.reasons.extend(named.and_then(|consent| ambiguous(root, &device, consent)));
    let (what, node, names) = (device.in_words(), device.node.display().to_string(), device.consents());
    destroying(what, node, names, findings, (consent, named.is_some()))
}

/// The judgement of what is not Fathom's own: `device` is it in reasons, by `names` it is consented to, and of what was given it is
/// said whether it is for this one.
fn destroying(
    what: String,
    device: String,
    names: Vec<String>,
    DeviceFindings { mut reasons, data_at }: DeviceFindings,
    (given, is_for_it): (Option<&Consent>, bool),
) -> Judgement {
    let consents = match data_at {
        Some(_) => names.iter().map(|name| Consent::of_data(name)).collect(),
        None => names,
    };
    match given.filter(|_| is_for_it) {
        Some(consent) => {
            // Of a known content that has been said, and that is refused whatever consent says.
            let is_known = reasons.iter().any(|reason| matches!(reason, Reason::Signature { .. }));
            if let Some(at) = data_at.filter(|_| !consent.data && !is_known) {
                let name = Consent { data: true, ..consent.clone() }.to_string();
                reasons.push(Reason::NotBlank { device, at, name });
            }
            assert!(
                consent.data || data_at.is_none() || !reasons.is_empty(),
                "data may be lost only where consent speaks of it"
            );
        }
        None => add_missing(given, &consents, &mut reasons),
    }
    assert!(is_for_it || !reasons.is_empty(), "only a consent that names it may destroy it");
    Judgement { what, destroys: true, consents, reasons }
}

/// Another device that answers to the same name, as cheap disks with the same serial number do.
fn ambiguous(root: &SysRoot, device: &Device, consent: &Consent) -> Option<Reason> {
    use crate::sysroot::{names, number};
    let folder = root.sys.join("class/block");
    let below = crate::target::stack::below(root, &[], device.devno);
    let related = |devno: DevNo| devno == device.devno || below.iter().any(|it| it.device.devno == devno);
    let all = names(&folder).into_iter().filter(|name| number(&folder.join(name).join("hidden")) != Some(1));
    let other = all
        .filter_map(|name| Device::named(root, &name))
        .find(|other| !related(other.devno) && consent.names_device(other))?;
    Some(Reason::Ambiguous { consent: consent.to_string(), other: other.node.display().to_string() })
}

fn judge_file(
    root: &SysRoot,
    path: &Path,
    opened: &io::Result<File>,
    consent: Option<&Consent>,
) -> Judgement {
    let text = units::name::text(path.as_os_str());
    let mut reasons = Vec::new();
    match not_storage(root, path) {
        Ok(Some(fs_type)) => reasons.push(Reason::NoStorage { path: path.into(), fs_type }),
        Ok(None) => {}
        Err(error) => reasons.push(usage::unknown("what is mounted", mounts::table(root), &error)),
    }
    if let Ok(file) = opened {
        reasons.extend(usage::of_file(root, path, file));
    }
    let stat = opened.as_ref().ok().and_then(|file| file.metadata().ok());
    let size = stat.map_or(Bytes::ZERO, |stat| Bytes::new(stat.len()));
    if opened.as_ref().is_ok_and(plain::is_as_left) {
        let what = format!("{text} ({size}, made by Fathom and unchanged since)");
        return Judgement { what, destroys: false, consents: Vec::new(), reasons };
    }
    let mark = match opened {
        Ok(file) => scratch::header_of(file).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match mark {
        Ok(Some(_)) => {
            let what = format!("the scratch file {text} ({size})");
            return Judgement { what, destroys: false, consents: Vec::new(), reasons };
        }
        Ok(None) => reasons.extend(opened.iter().flat_map(|file| contents(&text, signatures(file, size)))),
        Err(why) => reasons.push(Reason::Unreadable { device: text.clone(), why }),
    }
    if reasons.is_empty() && opened.as_ref().is_ok_and(plain::holds_nothing) {
        let what = format!("{text} ({size}, which holds zeros alone)");
        return Judgement { what, destroys: false, consents: Vec::new(), reasons };
    }
    let what = format!("{text} ({size}, a file that is not Fathom's own)");
    let is_for_it = consent.is_some_and(|consent| consent.names_file(path));
    let (names, findings) = (vec![text.clone()], DeviceFindings { reasons, data_at: None });
    destroying(what, text, names, findings, (consent, is_for_it))
}

/// What `device`, or a file as an image of one, was found to carry: a file system, a partition table.
fn contents(device: &str, found: Result<Vec<Signature>, impl ToString>) -> Vec<Reason> {
    let of = |Signature { name, offset }| Reason::Signature { device: device.into(), name, offset };
    match found {
        Ok(found) => found.into_iter().map(of).collect(),
        Err(why) => vec![Reason::Unreadable { device: device.into(), why: why.to_string() }],
    }
}

/// Consent for something else always speaks against it; none at all only where nothing else does, since asking for
/// it would suggest that it could help.
fn add_missing(given: Option<&Consent>, consents: &[String], reasons: &mut Vec<Reason>) {
    let names = consents.to_vec();
    match given {
        Some(given) => reasons.push(Reason::OtherConsent { given: given.to_string(), names }),
        None if reasons.is_empty() => reasons.push(Reason::NoConsent { names }),
        None => {}
    }
}

/// The type of a file system whose files are the kernel's own knobs.
fn not_storage(root: &SysRoot, path: &Path) -> io::Result<Option<String>> {
    const KNOBS: [&str; 12] = [
        "proc",
        "sysfs",
        "cgroup",
        "cgroup2",
        "debugfs",
        "tracefs",
        "securityfs",
        "configfs",
        "efivarfs",
        "bpf",
        "pstore",
        "devtmpfs",
    ];
    let mounts = mounts::read(root)?;
    let fs_type = holding(&mounts, path).map(|mount| mount.fs_type.as_str());
    Ok(fs_type.filter(|fs_type| KNOBS.contains(fs_type)).map(str::to_owned))
}
