//! Everything known about a target before it is asked.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use units::Bytes;

use crate::each_once;
use crate::nbd::{Address, Export};
use crate::sysroot::{DevNo, SysRoot};
use crate::target::device::Device;
use crate::target::direct::{Direct, direct_of};
use crate::target::mounts::{Mount, holding, mounts};
use crate::target::remote::{self, Remote};
use crate::target::stack::{Relative, below, under_mount};
use crate::target::{Target, TargetError, TargetKind};

/// What a run's record says about its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The size of the device, of the file, or of `null:`; zero for a directory and for a new file.
    pub size: Bytes,
    /// What direct I/O demands; `None` for `null:`.
    pub direct: Option<Direct>,
    /// The file system that holds a file or directory.
    pub mount: Option<Mount>,
    /// What is free there for this user.
    pub free: Option<Bytes>,
    /// Where the storage is, if it is not here.
    pub remote: Option<Remote>,
    /// The block devices asked first: the device itself, or those under the file system (several for btrfs).
    pub devices: Vec<Device>,
    /// What those stand on, nearest first: disks of partitions, members of maps and arrays.
    pub members: Vec<Relative>,
}

impl Facts {
    /// Looks at the target; opens nothing for writing.
    pub fn read(root: &SysRoot, target: &Target) -> Result<Facts, TargetError> {
        match &target.kind {
            TargetKind::Null { size } => Ok(Facts::of_null(*size)),
            TargetKind::Nbd(export) => Ok(Facts::of_export(export)),
            TargetKind::Block { node, devno } => Ok(Facts::of_device(root, node, *devno)),
            TargetKind::File(path) => Facts::of_path(root, path, true),
            TargetKind::Directory(path) => Facts::of_path(root, path, false),
            TargetKind::NewFile(path) => Facts::of_path(root, path.parent().unwrap_or(Path::new("/")), false),
        }
    }

    /// The numbers of all devices concerned: those asked first and those beneath, each once.
    pub fn devnos(&self) -> Vec<DevNo> {
        let all = self.devices.iter().chain(self.members.iter().map(|relative| &relative.device));
        each_once(all.map(|device| device.devno), |devno| *devno)
    }

    fn of_null(size: Bytes) -> Facts {
        let (direct, mount, free, remote) = (None, None, None, None);
        Facts { size, direct, mount, free, remote, devices: Vec::new(), members: Vec::new() }
    }

    fn of_export(export: &Export) -> Facts {
        let block = export.offered.block;
        let direct = Direct::Aligned { memory: block, offset: block, basis: "told by the NBD server" };
        let address = match &export.uri.address {
            Address::Tcp(host, _) => Some(host.clone()),
            Address::Unix(_) => None,
        };
        let share = Some(export.uri.to_string());
        let remote = Some(Remote { protocol: "nbd".into(), share, address });
        Facts { direct: Some(direct), remote, ..Facts::of_null(export.size()) }
    }

    fn of_device(root: &SysRoot, node: &Path, devno: DevNo) -> Facts {
        let devices: Vec<Device> = Device::read(root, devno).into_iter().collect();
        let members = members(root, &mounts(root), &devices);
        let size = devices.first().map_or(Bytes::ZERO, |device| device.size);
        let direct = Some(direct_of(node, devices.first().map(|device| device.logical_block)));
        let remote = remote_of(root, None, &devices, &members);
        Facts { size, direct, mount: None, free: None, remote, devices, members }
    }

    fn of_path(root: &SysRoot, path: &Path, is_file: bool) -> Result<Facts, TargetError> {
        let os = |source: io::Error| TargetError::Os { path: path.into(), source };
        let stat = fs::metadata(path).map_err(os)?;
        let space = rustix::fs::statvfs(path).map_err(|error| os(error.into()))?;
        let mounts = mounts(root);
        let mount = holding(&mounts, path).cloned();
        let devno = DevNo::from_raw(stat.dev());
        let devnos = match (&mount, devno.is_anonymous()) {
            (_, false) => vec![devno],
            (Some(mount), true) => under_mount(root, mount),
            (None, true) => Vec::new(),
        };
        let devices: Vec<Device> = devnos.iter().filter_map(|devno| Device::read(root, *devno)).collect();
        let members = members(root, &mounts, &devices);
        Ok(Facts {
            size: if is_file { Bytes::new(stat.len()) } else { Bytes::ZERO },
            direct: Some(direct_of(path, devices.iter().map(|device| device.logical_block).max())),
            free: Some(Bytes::new(space.f_bavail.saturating_mul(space.f_frsize))),
            remote: remote_of(root, mount.as_ref(), &devices, &members),
            mount,
            devices,
            members,
        })
    }
}

fn members(root: &SysRoot, mounts: &[Mount], devices: &[Device]) -> Vec<Relative> {
    let all = devices.iter().flat_map(|device| below(root, mounts, device.devno));
    each_once(all, |relative| relative.device.devno)
}

fn remote_of(
    root: &SysRoot,
    mount: Option<&Mount>,
    devices: &[Device],
    members: &[Relative],
) -> Option<Remote> {
    let of_mount = mount.and_then(remote::of_mount);
    let all = devices.iter().chain(members.iter().map(|relative| &relative.device));
    of_mount.or_else(|| all.into_iter().find_map(|device| remote::of_device(root, device)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn block(machine: &Fixture, name: &str, devno: DevNo) -> Target {
        Target { name: format!("/dev/{name}"), kind: TargetKind::Block { node: machine.node(name), devno } }
    }

    #[test]
    fn null_has_a_size_and_nothing_else() {
        let target = Target::parse("null:4TiB").expect("it is a target");
        let facts = Facts::read(&SysRoot::real(), &target).expect("there is nothing to fail");
        assert_eq!(facts.size, Bytes::TIB * 4);
        assert_eq!(facts.direct, None);
        assert!(facts.devnos().is_empty());
    }

    #[test]
    fn a_partition_tells_its_disk_as_member() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        let part = machine.partition("sda", "sda1", "8:1", 1);
        let facts = Facts::read(&machine.root(), &block(&machine, "sda1", part)).expect("the fixture has it");
        let names: Vec<String> = facts.devnos().iter().map(DevNo::to_string).collect();
        assert_eq!(names, ["8:1", "8:0"]);
        assert_eq!(facts.size, Bytes::KIB * 512);
        assert_eq!(facts.remote, None);
    }

    #[test]
    fn a_directory_of_this_machine_tells_its_file_system_and_free_space() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let target = Target::parse(folder.path().to_str().expect("it is text")).expect("it is there");
        let facts = Facts::read(&SysRoot::real(), &target).expect("it is there");
        assert!(facts.mount.is_some());
        assert!(facts.free.is_some());
        assert_eq!(facts.size, Bytes::ZERO);
    }
}
