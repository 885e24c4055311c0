//! The way from a disk to the processor: every link, host and bus that its folder in sysfs passes.

use std::path::{Path, PathBuf};

use super::component::{Limit, PathComponent, shown};
use super::{Ceiling, Reader, bus, network, scsi};
use crate::sysroot::{SysRoot, is_numbered, names, number, text};
use crate::target::Device;
use crate::target::remote;

/// One folder on the way up, nearest to the disk first.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// What lies between `device` and the processor.
pub(super) fn under_disk(reader: &mut Reader<'_>, device: &Device) -> Vec<PathComponent> {
    let steps = steps_to(reader.root, &device.folder);
    if let Some(subsystem) = steps.iter().find(|step| step.name.starts_with("nvme-subsys")) {
        let controllers = names(&subsystem.path).into_iter().filter(|name| is_numbered(name, "nvme"));
        let paths: Vec<PathBuf> =
            controllers.filter_map(|name| std::fs::canonicalize(subsystem.path.join(name)).ok()).collect();
        if !paths.is_empty() {
            let below = paths.iter().flat_map(|path| chain(reader, &own_and_above(reader.root, path)));
            return below.collect();
        }
    }
    let below = chain(reader, &steps);
    if below.is_empty()
        && let Some(remote) = remote::of_device(reader.root, device)
    {
        return network::far_end(reader, &remote);
    }
    below
}

/// The first known part among `steps`, on top of the parts among the rest.
pub(super) fn chain(reader: &mut Reader<'_>, steps: &[Step]) -> Vec<PathComponent> {
    for (at, step) in steps.iter().enumerate() {
        let rest = &steps[at + 1..];
        if let Some(part) = known(reader, step, rest) {
            return vec![part];
        }
    }
    Vec::new()
}

fn known(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> Option<PathComponent> {
    let name = step.name.as_str();
    if is_numbered(name, "session") {
        return Some(scsi::session(reader, name));
    }
    if is_numbered(name, "host") {
        return Some(scsi::host(reader, name, rest));
    }
    if is_numbered(name, "ata") {
        return Some(scsi::ata(reader, step, rest));
    }
    if name.starts_with("port-") {
        return Some(scsi::sas_port(reader, step, rest));
    }
    if name.starts_with("expander-") {
        return Some(scsi::expander(reader, name, rest));
    }
    if name.starts_with("rport-") {
        return Some(scsi::remote_port(reader, name, rest));
    }
    if is_numbered(name, "nvme") {
        return Some(nvme(reader, step, rest));
    }
    if is_numbered(name, "virtio") {
        return Some(virtio(reader, step, rest));
    }
    if bus::is_pci_address(name) {
        return Some(bus::pci(reader, step, rest));
    }
    bus::is_usb(step).then(|| bus::usb(reader, step, rest))
}

/// A controller: its queues bound what is in flight (`drivers/nvme/host/sysfs.c`).
fn nvme(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    let transport = text(&step.path.join("transport")).unwrap_or_else(|| "unknown transport".into());
    reader.once(&step.name, format!("NVMe controller, {transport}"), |reader, part| {
        let part =
            part.fact("model", text(&step.path.join("model"))).fact("state", text(&step.path.join("state")));
        let part = part.maybe(nvme_queues(reader.root, &step.path));
        if let Some(remote) = remote::of_controller(&step.path) {
            return part.on(network::far_end(reader, &remote));
        }
        part.on(chain(reader, rest))
    })
}

/// One queue is for administration; a queue holds one entry less than its size (NVMe base specification, queue full).
fn nvme_queues(root: &SysRoot, folder: &Path) -> Option<Ceiling> {
    let path = folder.join("queue_count");
    let queues = number(&path)?.checked_sub(1).filter(|count| *count > 0)?;
    let entries = number(&folder.join("sqsize")).filter(|count| *count > 0)?;
    Some(Ceiling {
        limit: Limit::InFlight,
        value: queues as f64 * entries as f64,
        each_way: false,
        basis: format!("{queues} queues of {entries} requests"),
        source: shown(root, &path),
    })
}

fn virtio(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    reader.once(&step.name, "virtio device", |reader, mut part| {
        part.unknown.push("what is below: the disks and limits of the hypervisor cannot be seen here".into());
        part.on(chain(reader, rest))
    })
}

/// The folders above `folder` up to `/sys/devices`, nearest first.
fn steps_to(root: &SysRoot, folder: &Path) -> Vec<Step> {
    folder.parent().map(|parent| own_and_above(root, parent)).unwrap_or_default()
}

/// `folder` itself and those above it; folders outside of `/sys` are none of ours.
pub(super) fn own_and_above(root: &SysRoot, folder: &Path) -> Vec<Step> {
    let sys = std::fs::canonicalize(&root.sys).unwrap_or_else(|_| root.sys.clone());
    let within = folder.ancestors().take_while(|path| path.starts_with(&sys) && **path != *sys);
    within
        .filter_map(|path| Some(Step { name: path.file_name()?.to_str()?.to_owned(), path: path.into() }))
        .collect()
}
