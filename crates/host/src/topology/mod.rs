//! The path from a target to its media as a tree: file system, maps, arrays, disks, links, hosts, buses, networks.
//!
//! Each part has its ceilings with the file of the kernel they come from, and what could not be found out with the
//! reason.
//!
//! **Invariant:** nothing is opened for writing, no device is asked, and no tree of files, however odd, makes it fail:
//! what cannot be read is missing from the answer.
//! **Invariant:** a part that is reached twice is told once in full; the tree is finite even where the kernel's is not.

mod bus;
mod component;
mod fabric;
mod network;
mod queue;
mod scsi;
#[cfg(test)]
mod tests;
mod volume;

use std::collections::BTreeSet;

use crate::sysroot::SysRoot;
use crate::target::mounts::mounts;
use crate::target::{Facts, Mount, Target, TargetKind};

pub use component::{Ceiling, Limit, PathComponent};
pub(crate) use network::with_lower;

/// More parts than any machine puts below one target; a tree that goes on is cut here.
const MOST_PARTS: usize = 4096;

/// Deeper than any stack of maps.
const DEEPEST: usize = 24;

/// The path below `target`, of which `facts` are known.
pub fn read(root: &SysRoot, target: &Target, facts: &Facts) -> PathComponent {
    let mounts = mounts(root);
    let mut reader = Reader { root, mounts: &mounts, told: BTreeSet::new(), depth: 0 };
    if let TargetKind::Null { .. } = target.kind {
        return PathComponent::new("null:", "nothing: requests end at once");
    }
    if let TargetKind::Nbd(export) = &target.kind {
        let mut part = PathComponent::new(export.uri.to_string(), "export of an NBD server");
        part.unknown.push("what the server keeps it on, and the network to it".into());
        return part;
    }
    match (&facts.mount, facts.devices.as_slice()) {
        (Some(mount), devices) => volume::file_system(&mut reader, mount, devices),
        (None, [device]) => volume::device(&mut reader, device),
        (None, devices) => {
            let mut part = PathComponent::new(&target.name, "target");
            part.unknown.push("the kernel lists no device and no file system for it".into());
            part.on(devices.iter().map(|device| volume::device(&mut reader, device)).collect())
        }
    }
}

/// What reading a tree needs to know on its way down.
struct Reader<'a> {
    root: &'a SysRoot,
    mounts: &'a [Mount],
    /// Names of the parts told so far.
    told: BTreeSet<String>,
    depth: usize,
}

impl Reader<'_> {
    /// The part of that name and kind as `tell` tells it, or a mention where it was told before.
    fn once(
        &mut self,
        name: impl Into<String>,
        kind: impl Into<String>,
        tell: impl FnOnce(&mut Self, PathComponent) -> PathComponent,
    ) -> PathComponent {
        let mut part = PathComponent::new(name, kind);
        if self.depth >= DEEPEST || self.told.len() >= MOST_PARTS {
            part.unknown.push("what lies below it is left out: the tree is too deep or too large".into());
            return part;
        }
        if !self.told.insert(part.name.clone()) {
            part.repeated = true;
            return part;
        }
        let depth = self.depth;
        self.depth += 1;
        assert!(self.depth <= DEEPEST && self.told.len() <= MOST_PARTS, "the tree must be finite");
        let part = tell(self, part);
        assert_eq!(self.depth, depth + 1, "whoever has gone down must have come back");
        self.depth = depth;
        part
    }
}
