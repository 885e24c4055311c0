//! What a device stands on, and what stands on it.

use crate::sysroot::{DevNo, SysRoot, names};
use crate::target::device::{Device, DeviceKind, devno_of_name, devno_of_node};
use crate::target::mounts::{Mount, holding};

/// How an upper device uses a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The upper is a part of the lower.
    PartOf,
    /// The upper is a map or an array, and the lower its member.
    MemberOf,
    /// The upper is a loop whose file lies on the lower.
    FileOn,
}

/// A device and the way it was reached from the one below or above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The device.
    pub device: Device,
    /// How the upper one of the pair uses the lower.
    pub link: Link,
}

/// Every device that `devno` stands on, nearest first: the disk of a partition, the members of a map or an
/// array, the devices under a loop's file. Each once.
pub fn below(root: &SysRoot, mounts: &[Mount], devno: DevNo) -> Vec<Relative> {
    walk(root, devno, |device| lower(root, mounts, device))
}

/// Every device that stands on `devno`, nearest first: its partitions, and the maps and arrays that hold it. Each
/// once.
pub fn above(root: &SysRoot, devno: DevNo) -> Vec<Relative> {
    walk(root, devno, |device| upper(root, device))
}

fn walk(root: &SysRoot, start: DevNo, next: impl Fn(&Device) -> Vec<(DevNo, Link)>) -> Vec<Relative> {
    let mut found: Vec<Relative> = Vec::new();
    let mut waiting: Vec<Device> = Device::read(root, start).into_iter().collect();
    while let Some(device) = (!waiting.is_empty()).then(|| waiting.remove(0)) {
        for (devno, link) in next(&device) {
            let known = devno == start || found.iter().any(|relative| relative.device.devno == devno);
            let Some(device) = (!known).then(|| Device::read(root, devno)).flatten() else { continue };
            waiting.push(device.clone());
            found.push(Relative { device, link });
        }
    }
    debug_assert!(found.iter().all(|it| it.device.devno != start), "no device stands on itself");
    found
}

fn lower(root: &SysRoot, mounts: &[Mount], device: &Device) -> Vec<(DevNo, Link)> {
    let slaves = names(&device.folder.join("slaves"));
    let members = slaves.iter().filter_map(|name| Some((devno_of_name(root, name)?, Link::MemberOf)));
    let mut lower: Vec<(DevNo, Link)> = members.collect();
    match &device.kind {
        DeviceKind::Partition { of, .. } => lower.push((*of, Link::PartOf)),
        DeviceKind::Loop { backing: Some(file), .. } => {
            if let Some(devno) = file.to_str().and_then(|file| devno_of_node(root, file)) {
                lower.push((devno, Link::FileOn));
            } else if let Some(mount) = holding(mounts, file) {
                lower.extend(under_mount(root, mount).into_iter().map(|devno| (devno, Link::FileOn)));
            }
        }
        _ => {}
    }
    lower
}

fn upper(root: &SysRoot, device: &Device) -> Vec<(DevNo, Link)> {
    let parts = names(&device.folder);
    let parts = parts.iter().filter(|name| device.folder.join(name).join("partition").exists());
    let parts = parts.filter_map(|name| Some((devno_of_name(root, name)?, Link::PartOf)));
    let holders = names(&device.folder.join("holders"));
    let holders = holders.iter().filter_map(|name| Some((devno_of_name(root, name)?, Link::MemberOf)));
    parts.chain(holders).collect()
}

/// The devices under a mounted file system: one, or every member of a btrfs. None for a network or memory
/// file system, or where the kernel does not tell (ZFS).
pub fn under_mount(root: &SysRoot, mount: &Mount) -> Vec<DevNo> {
    if !mount.devno.is_anonymous() {
        return vec![mount.devno];
    }
    let Some(source) = devno_of_node(root, &mount.source) else { return Vec::new() };
    let sets = btrfs_sets(root);
    sets.into_iter().find(|set| set.contains(&source)).unwrap_or_else(|| vec![source])
}

/// The members of every btrfs that is mounted in any mount namespace, one list each
/// (`Documentation/ABI/testing/sysfs-fs-btrfs`).
pub fn btrfs_sets(root: &SysRoot) -> Vec<Vec<DevNo>> {
    let folder = root.sys.join("fs/btrfs");
    let members = |uuid: &String| {
        let names = names(&folder.join(uuid).join("devices"));
        names.iter().filter_map(|name| devno_of_name(root, name)).collect::<Vec<DevNo>>()
    };
    names(&folder).iter().map(members).filter(|set| !set.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::target::mounts::mounts;

    fn listed(relatives: &[Relative]) -> Vec<(&str, Link)> {
        relatives.iter().map(|relative| (relative.device.name.as_str(), relative.link)).collect()
    }

    #[test]
    fn a_map_over_an_array_of_partitions_stands_on_all_of_them_and_their_disks() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", 4096);
        machine.disk("sdb", "8:16", 4096);
        machine.partition("sda", "sda1", "8:1", 1);
        machine.partition("sdb", "sdb1", "8:17", 1);
        machine.disk("md0", "9:0", 4096);
        let dm = machine.disk("dm-0", "252:0", 4096);
        machine.hold("sda1", "md0");
        machine.hold("sdb1", "md0");
        machine.hold("md0", "dm-0");
        let root = machine.root();
        use Link::{MemberOf, PartOf};
        let below = below(&root, &[], dm);
        assert_eq!(
            listed(&below),
            [("md0", MemberOf), ("sda1", MemberOf), ("sdb1", MemberOf), ("sda", PartOf), ("sdb", PartOf)]
        );
        let above = above(&root, sda);
        assert_eq!(listed(&above), [("sda1", PartOf), ("md0", MemberOf), ("dm-0", MemberOf)]);
    }

    #[test]
    fn a_loop_stands_on_the_device_of_its_file() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        machine.partition("sda", "sda1", "8:1", 1);
        let devno = machine.disk("loop0", "7:0", 8);
        machine.write("sys/block/loop0/loop/backing_file", "/data/x.img\n");
        machine.mount("8:1", "/data", "ext4", "/dev/sda1");
        let root = machine.root();
        let below = below(&root, &mounts(&root), devno);
        assert_eq!(listed(&below), [("sda1", Link::FileOn), ("sda", Link::PartOf)]);
    }

    #[test]
    fn a_btrfs_mount_stands_on_every_member() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", 4096);
        let sdb = machine.disk("sdb", "8:16", 4096);
        for name in ["sda", "sdb"] {
            machine.node(name);
            machine.write(&format!("sys/fs/btrfs/0000-uuid/devices/{name}"), "");
        }
        machine.mount("0:50", "/pool", "btrfs", "/dev/sdb");
        let root = machine.root();
        assert_eq!(under_mount(&root, &mounts(&root)[0]), [sda, sdb]);
    }

    #[test]
    fn devices_that_hold_each_other_in_a_circle_are_listed_once() {
        let machine = Fixture::new();
        let a = machine.disk("dm-0", "252:0", 8);
        machine.disk("dm-1", "252:1", 8);
        machine.hold("dm-0", "dm-1");
        machine.hold("dm-1", "dm-0");
        assert_eq!(above(&machine.root(), a).len(), 1);
    }
}
