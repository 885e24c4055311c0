//! A real target by its name: what is known of it, what speaks against writing to it, and the way to its media.

use std::sync::Arc;

use conduct::WorldError;
use host::safety::{Judgement, Permit, consent_for, judge};
use host::target::{Direct, Stored, TargetKind};
use host::zoned::ZonedDevice;
use host::{Facts, SysRoot, Target};
use record::PathPart;
use units::Bytes;

use crate::failure::HostError;
use crate::options::RealOptions;
use crate::path;

/// One target with what is known of it.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub target: Target,
    pub facts: Facts,
    pub permit: Option<Arc<Permit>>,
    /// What it holds, where somebody looked.
    pub stored: Option<Stored>,
    /// Its zones, where it is a device that has zones of its own.
    pub zoned: Option<ZonedDevice>,
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
    /// A block device, an export of an NBD server, or `null:`.
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
        let (target, facts) = find(&SysRoot::real(), name)?;
        let kind = match target.kind {
            TargetKind::Null { .. } | TargetKind::Block { .. } | TargetKind::Nbd(_) => LookKind::Device,
            TargetKind::File(_) => LookKind::File,
            TargetKind::NewFile(_) => LookKind::NewFile,
            TargetKind::Directory(_) => LookKind::Directory,
        };
        let direct_unit = facts.direct.as_ref().and_then(Direct::offset);
        Ok(Look { kind, size: facts.size, direct_unit, remote: facts.remote.is_some() })
    }
}

/// The target of that name, and what is known of it. Opens nothing for writing.
pub fn find(root: &SysRoot, name: &str) -> Result<(Target, Facts), WorldError> {
    let target = Target::parse(name).map_err(HostError::told)?;
    let facts = Facts::read(root, &target).map_err(HostError::told)?;
    Ok((target, facts))
}

/// What speaks against writing to each target of `options`, by their names. Opens nothing for writing.
pub fn judgements(options: &RealOptions) -> Result<Vec<(&str, Judgement)>, WorldError> {
    let root = SysRoot::real();
    let mut judged = Vec::with_capacity(options.targets.len());
    for name in &options.targets {
        let target = Target::parse(name).map_err(HostError::told)?;
        let consent = consent_for(&root, &target, &options.consents);
        judged.push((name.as_str(), judge(&root, &target, consent)));
    }
    Ok(judged)
}

/// The way from a target on this machine to its media. Opens nothing for writing.
pub fn path_of(root: &SysRoot, target: &Target, facts: &Facts) -> PathPart {
    path::part(host::topology::read(root, target, facts))
}
