//! What speaks against writing to a block device.
//!
//! **Invariant:** looks only: opens for reading, keeps nothing open.
//!
//! What counts as the device's own: itself, its partitions and whatever holds them; the disk it is a part of and
//! the other partitions of that disk; the members it is made of. A loop device is its own; the disk its file
//! lies on is not, since writing to the loop stays inside the file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::each_once;
use crate::safety::reason::Reason;
use crate::safety::signatures::signatures;
use crate::safety::usage::{self, LoopOver, is_same, known};
use crate::safety::{blank, contents};
use crate::sysroot::{DevNo, SysRoot, names, text};
use crate::target::device::{devno_of_name, devno_of_node};
use crate::target::mounts::{self, Mount};
use crate::target::stack::{above, below, btrfs_sets, under_mount};
use crate::target::{Device, DeviceKind, Link, Relative};

/// What a look at a device has found.
pub(super) struct DeviceFindings {
    /// Every reason but those of consent; empty where nothing speaks against it.
    pub reasons: Vec<Reason>,
    /// The first byte that is not as on a blank device; `None` for a blank one.
    pub data_at: Option<Bytes>,
}

/// Looks at a device.
pub(super) fn look(root: &SysRoot, device: &Device) -> DeviceFindings {
    let mut reasons = Vec::new();
    let case = Case::of(root, device, &mut reasons);
    case.unfit(&mut reasons);
    case.mounted(&mut reasons);
    case.swapped(&mut reasons);
    case.system(&mut reasons);
    case.held(&mut reasons);
    case.btrfs(&mut reasons);
    case.looped(&mut reasons);
    case.busy(&mut reasons);
    case.carrying(&mut reasons);
    let data_at = case.data_at(&mut reasons);
    DeviceFindings { reasons, data_at }
}

/// Opens for reading, alone: `EBUSY` where a mount, an array, a map, swap or another careful program has it.
///
/// Source: open(2), `O_EXCL` without `O_CREAT` on a block device; it sees other mount namespaces too.
pub(super) fn open_alone(node: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(node)
}

struct Case<'a> {
    root: &'a SysRoot,
    device: &'a Device,
    mounts: Vec<Mount>,
    swaps: Vec<PathBuf>,
    loops: Vec<LoopOver>,
    above: Vec<Relative>,
    below: Vec<Relative>,
    /// The disk of a partition, and everything on that disk.
    neighbours: Vec<Device>,
}

impl<'a> Case<'a> {
    /// What cannot be read is a reason of its own: nothing follows from an empty table then.
    fn of(root: &'a SysRoot, device: &'a Device, reasons: &mut Vec<Reason>) -> Case<'a> {
        let mounts = known(mounts::read(root), "what is mounted", mounts::table(root), reasons);
        let (swaps, loops) = (usage::swaps(root, reasons), usage::loops(root, reasons));
        // Without the mounts, a loop ends at its file instead of leading to the disk that holds it.
        let below = below(root, &[], device.devno);
        let mut neighbours = Vec::new();
        if let DeviceKind::Partition { of, .. } = device.kind {
            neighbours.extend(Device::read(root, of));
            neighbours.extend(above(root, of).into_iter().map(|relative| relative.device));
        }
        let above = above(root, device.devno);
        Case { root, device, mounts, swaps, loops, above, below, neighbours }
    }

    /// The device and its partitions: the bytes that would be written.
    fn parts(&self) -> Vec<&Device> {
        let parts = self.above.iter().filter(|relative| relative.link == Link::PartOf);
        std::iter::once(self.device).chain(parts.map(|relative| &relative.device)).collect()
    }

    /// Everything that must not be in use, each once.
    fn family(&self) -> Vec<&Device> {
        let relatives = self.above.iter().chain(&self.below).map(|relative| &relative.device);
        let all = std::iter::once(self.device).chain(relatives).chain(&self.neighbours);
        let family = each_once(all, |device| device.devno);
        assert_eq!(family[0].devno, self.device.devno, "a device must be of its own family");
        family
    }

    fn unfit(&self, reasons: &mut Vec<Reason>) {
        let device = node(self.device);
        if self.device.size.is_zero() {
            reasons.push(Reason::NoCapacity { device: device.clone() });
        }
        if self.device.read_only {
            reasons.push(Reason::ReadOnly { device });
        }
    }

    fn mounted(&self, reasons: &mut Vec<Reason>) {
        let mounted: Vec<(DevNo, &Mount)> = self
            .mounts
            .iter()
            .flat_map(|mount| under_mount(self.root, mount).into_iter().map(move |devno| (devno, mount)))
            .collect();
        for device in self.family() {
            if let Some((_, mount)) = mounted.iter().find(|(devno, _)| *devno == device.devno) {
                reasons.push(Reason::Mounted { device: node(device), point: mount.point.clone() });
            }
        }
    }

    fn swapped(&self, reasons: &mut Vec<Reason>) {
        let swaps: Vec<DevNo> =
            self.swaps.iter().filter_map(|swap| devno_of_node(self.root, swap.to_str()?)).collect();
        for device in self.family().into_iter().filter(|device| swaps.contains(&device.devno)) {
            reasons.push(Reason::Swap { device: node(device) });
        }
    }

    fn system(&self, reasons: &mut Vec<Reason>) {
        let own: Vec<&Device> =
            std::iter::once(self.device).chain(self.below.iter().map(|relative| &relative.device)).collect();
        for (point, devno) in system_devices(self.root, &self.mounts) {
            let mut system = vec![devno];
            system.extend(below(self.root, &self.mounts, devno).iter().map(|relative| relative.device.devno));
            // The last is the lowest: the disk rather than the map on it.
            if let Some(shared) = own.iter().rev().find(|device| system.contains(&device.devno)) {
                reasons.push(Reason::SystemDisk { device: node(shared), point });
                return;
            }
        }
    }

    fn held(&self, reasons: &mut Vec<Reason>) {
        let disk = self.neighbours.first();
        for device in self.parts().into_iter().chain(disk) {
            for holder in names(&device.folder.join("holders")) {
                let holder = devno_of_name(self.root, &holder)
                    .and_then(|devno| Device::read(self.root, devno))
                    .map_or_else(|| format!("held by {holder}"), |holder| held_by(&holder));
                reasons.push(Reason::Held { device: node(device), what: holder });
            }
            if device.folder.join("bcache").exists() {
                reasons.push(Reason::Held { device: node(device), what: "a member of a bcache set".into() });
            }
        }
    }

    fn btrfs(&self, reasons: &mut Vec<Reason>) {
        let members: Vec<DevNo> = btrfs_sets(self.root).into_iter().flatten().collect();
        for device in self.family().into_iter().filter(|device| members.contains(&device.devno)) {
            reasons.push(Reason::BtrfsMember { device: node(device) });
        }
    }

    /// Loop devices over the device itself, and others over the file behind it.
    fn looped(&self, reasons: &mut Vec<Reason>) {
        let parts = self.parts();
        let own = self.loops.iter().find(|each| each.name == self.device.name);
        if let DeviceKind::Loop { backing: Some(file), .. } = &self.device.kind {
            let id = own.and_then(LoopOver::id);
            if self.swaps.iter().any(|swap| is_same(swap, file, id)) {
                reasons.push(Reason::Swap { device: file.display().to_string() });
            }
        }
        for other in self.loops.iter().filter(|other| other.name != self.device.name) {
            let shares_file = own.is_some_and(|own| other.is_over(&own.named, own.id()));
            if shares_file || parts.iter().any(|part| other.is_over_device(&part.node, part.devno)) {
                reasons.push(other.against(self.root, other.named.display().to_string()));
            }
        }
    }

    fn busy(&self, reasons: &mut Vec<Reason>) {
        if let Err(error) = open_alone(&self.device.node)
            && error.raw_os_error() == Some(libc::EBUSY)
        {
            reasons.push(Reason::Busy { device: node(self.device) });
        }
    }

    fn carrying(&self, reasons: &mut Vec<Reason>) {
        for part in self.parts() {
            let found = File::open(&part.node).and_then(|file| signatures(&file, part.size));
            reasons.extend(contents(&node(part), found));
        }
    }

    fn data_at(&self, reasons: &mut Vec<Reason>) -> Option<Bytes> {
        let looked =
            File::open(&self.device.node).and_then(|file| blank::first_data(&file, self.device.size));
        looked.unwrap_or_else(|error| {
            let reason = Reason::Unreadable { device: node(self.device), why: error.to_string() };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
            None
        })
    }
}

fn node(device: &Device) -> String {
    device.node.display().to_string()
}

/// What the running system stands on: the devices of `/`, of what it boots from, and the root the kernel was told of,
/// which an overlay may hide.
fn system_devices(root: &SysRoot, mounts: &[Mount]) -> Vec<(PathBuf, DevNo)> {
    let points = ["/", "/boot", "/boot/efi", "/efi", "/usr"].map(Path::new);
    let mut found: Vec<(PathBuf, DevNo)> = Vec::new();
    for mount in mounts.iter().filter(|mount| points.contains(&mount.point.as_path())) {
        found.extend(under_mount(root, mount).into_iter().map(|devno| (mount.point.clone(), devno)));
    }
    found.extend(told_at_boot(root).map(|devno| (PathBuf::from("/"), devno)));
    found
}

/// The device of `root=` on the kernel's command line: a node or `UUID=`, `PARTUUID=`, `LABEL=`.
fn told_at_boot(root: &SysRoot) -> Option<DevNo> {
    let line = text(&root.proc.join("cmdline"))?;
    let told = line.split_whitespace().find_map(|word| word.strip_prefix("root="))?;
    let node = match told.split_once('=') {
        Some(("UUID", uuid)) => format!("/dev/disk/by-uuid/{uuid}"),
        Some(("PARTUUID", uuid)) => format!("/dev/disk/by-partuuid/{uuid}"),
        Some(("LABEL", label)) => format!("/dev/disk/by-label/{label}"),
        _ => told.to_owned(),
    };
    devno_of_node(root, &node)
}

fn held_by(holder: &Device) -> String {
    match &holder.kind {
        DeviceKind::Md { level } => format!("a member of the md array {} ({level})", node(holder)),
        DeviceKind::Mapper { name, uuid } if uuid.starts_with("LVM-") => {
            format!("an LVM physical volume, used by the logical volume {name}")
        }
        DeviceKind::Mapper { name, uuid } if uuid.starts_with("mpath-") => {
            format!("one path of the multipath device {name}; name /dev/mapper/{name} instead")
        }
        DeviceKind::Mapper { name, uuid } if uuid.starts_with("CRYPT-") => {
            format!("opened as the encrypted volume {name}")
        }
        DeviceKind::Mapper { name, .. } => format!("used by the device-mapper map {name}"),
        _ if holder.name.starts_with("bcache") => format!("a member of the bcache set of {}", node(holder)),
        _ => format!("held by {}", node(holder)),
    }
}
