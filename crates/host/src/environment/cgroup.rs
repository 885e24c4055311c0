//! What the kernel lets the control groups of this process move to each device: `io.max` of version 2 and
//! `blkio.throttle` of version 1 (`Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/blkio-controller.rst`).

use std::path::Path;

use crate::sysroot::{DevNo, SysRoot, text};

/// Files of version 1 with the name of the same limit in version 2.
const THROTTLES: [(&str, &str); 4] = [
    ("read_bps_device", "rbps"),
    ("write_bps_device", "wbps"),
    ("read_iops_device", "riops"),
    ("write_iops_device", "wiops"),
];

/// A line for each device that a group of this process limits, the device by its name, as `io.max` writes it:
/// `sda rbps=1048576 wiops=max`. Empty where nothing is limited, and where the groups cannot be read.
pub fn limits(root: &SysRoot) -> Vec<String> {
    let groups = text(&root.proc.join("self/cgroup")).unwrap_or_default();
    let own = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(":/")?;
        match controllers {
            "" => Some(version_2(root, group)),
            _ => {
                controllers.split(',').any(|one| one == "blkio").then(|| version_1(root, controllers, group))
            }
        }
    };
    groups.lines().filter_map(own).flatten().filter_map(|line| named(root, &line)).collect()
}

/// `io.max` of `group` and of those above it, each of which holds for it. Beside version 1 the groups of version 2 are
/// mounted in a folder of their own.
fn version_2(root: &SysRoot, group: &str) -> Vec<String> {
    let folders = ["fs/cgroup", "fs/cgroup/unified"].map(|folder| root.sys.join(folder));
    let files = folders
        .iter()
        .flat_map(|folder| Path::new(group).ancestors().map(move |group| folder.join(group).join("io.max")));
    files.filter_map(|file| text(&file)).flat_map(|text| lines(&text)).collect()
}

/// The throttles of `group`: those of the groups above it do not hold for it.
fn version_1(root: &SysRoot, controllers: &str, group: &str) -> Vec<String> {
    let folder = root.sys.join("fs/cgroup").join(controllers).join(group);
    let throttle = |(file, key): &(&str, &str)| {
        let text = text(&folder.join(format!("blkio.throttle.{file}"))).unwrap_or_default();
        let limits = text.lines().filter_map(|line| line.split_once(' '));
        limits.map(|(number, most)| format!("{number} {key}={}", most.trim())).collect::<Vec<_>>()
    };
    THROTTLES.iter().flat_map(throttle).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The line with the kernel's name of the device in the place of its number, where it is known.
fn named(root: &SysRoot, line: &str) -> Option<String> {
    let (number, limits) = line.trim().split_once(' ')?;
    let folder = root.block_folder(number.parse::<DevNo>().ok()?);
    let name = folder.and_then(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
    Some(format!("{} {limits}", name.unwrap_or_else(|| number.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_limits_of_the_own_group_and_of_those_above_are_read() {
        let machine = Fixture::new();
        machine.write("proc/self/cgroup", "0::/batch/job\n");
        machine.write("sys/fs/cgroup/batch/job/io.max", "250:7 rbps=max wbps=max riops=500 wiops=max\n");
        machine.write("sys/fs/cgroup/batch/io.max", "250:7 rbps=1048576 wbps=max riops=max wiops=max\n");
        let limits = limits(&machine.root());
        assert_eq!(limits.len(), 2, "{limits:?}");
        assert!(limits[0].ends_with(" rbps=max wbps=max riops=500 wiops=max"), "{limits:?}");
        assert!(limits[1].contains("rbps=1048576"), "{limits:?}");
    }

    #[test]
    fn throttles_of_version_1_are_those_of_the_own_group_alone() {
        let machine = Fixture::new();
        machine.write("proc/self/cgroup", "7:blkio:/batch/job\n4:memory:/\n0::/\n");
        machine.write("sys/fs/cgroup/blkio/batch/job/blkio.throttle.read_iops_device", "250:7 500\n");
        machine.write("sys/fs/cgroup/blkio/batch/blkio.throttle.read_bps_device", "250:7 4096\n");
        assert_eq!(limits(&machine.root()), ["250:7 riops=500"]);
        machine.write("proc/self/cgroup", "4:memory:/batch\n0::/\n");
        assert!(limits(&machine.root()).is_empty());
    }
}
