//! File systems, partitions, maps, arrays and loops: what is made of other devices.

use units::Bytes;

use super::bus;
use super::component::{PathComponent, yes_no};
use super::network;
use super::queue;
use super::{Reader, fabric};
use crate::sysroot::{names, number, text};
use crate::target::device::devno_of_node;
use crate::target::mounts::holding;
use crate::target::stack::under_mount;
use crate::target::{Device, DeviceKind, Mount, remote};

/// A mounted file system and what it lies on.
pub(super) fn file_system(reader: &mut Reader<'_>, mount: &Mount, devices: &[Device]) -> PathComponent {
    let name = mount.point.display().to_string();
    reader.once(name, format!("{} file system", mount.fs_type), |reader, part| {
        let part = part.fact("source", Some(&mount.source)).fact("options", Some(mount.options.join(",")));
        if let Some(remote) = remote::of_mount(mount) {
            return network::file_system(reader, part, mount, &remote);
        }
        let mut part = if mount.fs_type == "btrfs" { btrfs(reader, part, devices) } else { part };
        if devices.is_empty() {
            let reason = match mount.fs_type.as_str() {
                "tmpfs" | "ramfs" => "it lies in memory, not on a device",
                _ => "the kernel does not report what it is on",
            };
            part.unknown.push(reason.into());
        }
        part.on(devices.iter().map(|each| device(reader, each)).collect())
    })
}

/// How a btrfs lays out data and metadata (`Documentation/ABI/testing/sysfs-fs-btrfs`, `allocation/`).
fn btrfs(reader: &Reader<'_>, mut part: PathComponent, devices: &[Device]) -> PathComponent {
    let folder = reader.root.sys.join("fs/btrfs");
    let holds = |uuid: &&String| {
        let members = names(&folder.join(uuid).join("devices"));
        devices.iter().any(|device| members.contains(&device.name))
    };
    let sets = names(&folder);
    let Some(uuid) = sets.iter().find(holds) else {
        part.unknown.push("layout: /sys/fs/btrfs lists no set with its devices".into());
        return part;
    };
    for what in ["data", "metadata"] {
        let folder = folder.join(uuid).join("allocation").join(what);
        let profiles: Vec<String> =
            names(&folder).into_iter().filter(|name| folder.join(name).is_dir()).collect();
        part = part.fact(what, (!profiles.is_empty()).then(|| profiles.join(",")));
    }
    part
}

/// A block device and what it stands on.
pub(super) fn device(reader: &mut Reader<'_>, device: &Device) -> PathComponent {
    reader.once(&device.name, kind(device), |reader, mut part| {
        part.series = Some(format!("disk.{}", device.name));
        part = part.fact("size", Some(device.size.as_sold()));
        match &device.kind {
            DeviceKind::Partition { of, .. } => {
                let disk = Device::read(reader.root, *of);
                if disk.is_none() {
                    part.unknown.push(format!("its disk {of} is not listed in /sys/dev/block"));
                }
                part.on(disk.iter().map(|disk| self::device(reader, disk)).collect())
            }
            DeviceKind::Mapper { name, .. } => {
                let part = queue::with_queue(reader.root, part.fact("map", Some(name)), device);
                members(reader, part, device)
            }
            DeviceKind::Md { .. } => {
                let part = md(queue::with_queue(reader.root, part, device), device);
                members(reader, part, device)
            }
            DeviceKind::Loop { .. } => {
                let part = queue::with_queue(reader.root, part, device);
                loop_over(reader, part, device)
            }
            DeviceKind::Ram => part.fact("lies in", Some("memory of this machine")),
            DeviceKind::Disk => disk(reader, part, device),
        }
    })
}

fn kind(device: &Device) -> String {
    match &device.kind {
        DeviceKind::Partition { .. } => "partition".into(),
        DeviceKind::Mapper { uuid, .. } => match uuid.split('-').next() {
            Some("LVM") => "logical volume".into(),
            Some("mpath") => "multipath".into(),
            Some("CRYPT") => "encryption".into(),
            _ => "map".into(),
        },
        DeviceKind::Md { level } => format!("md {level}"),
        DeviceKind::Loop { .. } => "loop".into(),
        DeviceKind::Ram => "memory disk".into(),
        DeviceKind::Disk => match device.queue.rotational {
            // A LUN, a virtual disk and a bridge say what they like; only those on a bus of drives are believed.
            Some(true) if bus::is_of_drives(&device.folder) => "disk, rotating".into(),
            _ => "disk".into(),
        },
    }
}

fn members(reader: &mut Reader<'_>, mut part: PathComponent, device: &Device) -> PathComponent {
    let slaves = names(&device.folder.join("slaves"));
    if slaves.is_empty() {
        part.unknown.push("members: its folder `slaves` in sysfs is empty or absent".into());
    }
    for name in slaves {
        match Device::named(reader.root, &name) {
            Some(member) => part.below.push(self::device(reader, &member)),
            None => part.unknown.push(format!("member {name}: not listed in /sys/class/block")),
        }
    }
    part
}

/// Source of the attributes: `Documentation/admin-guide/md.rst`.
fn md(part: PathComponent, device: &Device) -> PathComponent {
    let folder = device.folder.join("md");
    let fact = |name: &str| text(&folder.join(name));
    let chunk = number(&folder.join("chunk_size")).filter(|size| *size > 0);
    let degraded = number(&folder.join("degraded")).filter(|count| *count > 0);
    let busy = fact("sync_action").filter(|action| action != "idle");
    part.fact("disks", fact("raid_disks"))
        .fact("chunk", chunk.map(|size| Bytes::new(size).to_string()))
        .fact("stripe cache", fact("stripe_cache_size"))
        .fact("missing disks", degraded.map(|count| count.to_string()))
        .fact("at work", busy)
}

fn loop_over(reader: &mut Reader<'_>, part: PathComponent, device: &Device) -> PathComponent {
    let DeviceKind::Loop { backing, direct, .. } = &device.kind else { return part };
    let mut part = part.fact("bypasses page cache", Some(yes_no(*direct)));
    let Some(file) = backing else {
        part.unknown.push("its file: the loop is not set up".into());
        return part;
    };
    part = part.fact("file", Some(file.display().to_string()));
    if let Some(node) = file.to_str().and_then(|file| devno_of_node(reader.root, file)) {
        let below = Device::read(reader.root, node);
        return part.on(below.iter().map(|below| self::device(reader, below)).collect());
    }
    let Some(mount) = holding(reader.mounts, file) else {
        part.unknown.push("the file system of its file: no mount holds it".into());
        return part;
    };
    let devices: Vec<Device> = under_mount(reader.root, mount)
        .into_iter()
        .filter_map(|devno| Device::read(reader.root, devno))
        .collect();
    part.on(vec![file_system(reader, mount, &devices)])
}

/// A whole disk, LUN or namespace, and the way from it to the processor.
fn disk(reader: &mut Reader<'_>, part: PathComponent, device: &Device) -> PathComponent {
    let model = match (&device.vendor, &device.model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (_, model) => model.clone(),
    };
    let part = part.fact("model", model).fact("firmware", device.firmware.clone());
    let path = device.folder.join("device");
    let part = part
        .fact("state", text(&path.join("state")))
        .fact("device handler", text(&path.join("dh_state")).filter(|handler| handler != "detached"))
        .fact("access", text(&path.join("access_state")))
        .fact("preferred", text(&path.join("preferred_path")).map(|flag| yes_no(flag == "1")));
    let part = part.fact("cache", queue::buffer(device).map(Bytes::exact));
    let mut part = queue::with_queue(reader.root, part, device);
    if device.queue.rotational == Some(true) && bus::is_of_drives(&device.folder) {
        part = part.ceiling(queue::rotation(reader.root, device));
    }
    let below = fabric::under_disk(reader, device);
    if below.is_empty() {
        part.unknown.push("how it is attached: its folder in sysfs names no bus that is known".into());
    }
    part.on(below)
}
