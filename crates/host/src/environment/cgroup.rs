//! What the kernel lets the control groups of this process move to each device, and which processor time they may use:
//! `io.max` and `cpu.max` of version 2, `blkio.throttle` and `cpu.cfs_quota_us` of version 1
//! (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/blkio-controller.rst`, `scheduler/sched-bwc.rst`).

use std::path::{Path, PathBuf};

use units::Nanos;

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
    let limits = |group: Membership| match group.controllers.as_str() {
        "" => io_max(&group.folders),
        _ if group.has("blkio") => throttles(&group.folders[0]),
        _ => Vec::new(),
    };
    memberships(root).into_iter().flat_map(limits).filter_map(|line| named(root, &line)).collect()
}

/// Processor time that a control group may use of each period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuQuota {
    /// As many processors as it may use on average.
    pub cpus: f64,
    /// Once the time of a period is used up, the group stands still until the next one begins.
    pub period: Nanos,
}

/// The smallest quota of the groups of this process and of those above them; `None` where there is none, and where the
/// groups cannot be read.
pub fn cpu_quota(root: &SysRoot) -> Option<CpuQuota> {
    with_quota(root).map(|(_, quota)| quota).min_by(|one, other| one.cpus.total_cmp(&other.cpus))
}

/// The folders of groups of this process, and of those above them, that have a quota, each with it.
pub(crate) fn with_quota(root: &SysRoot) -> impl Iterator<Item = (PathBuf, CpuQuota)> {
    let read = |group: Membership| -> Vec<(PathBuf, CpuQuota)> {
        let of: fn(&Path) -> Option<CpuQuota> = match group.controllers.as_str() {
            "" => cpu_max,
            _ if group.has("cpu") => cfs_quota,
            _ => return Vec::new(),
        };
        group.folders.into_iter().filter_map(|folder| of(&folder).map(|quota| (folder, quota))).collect()
    };
    memberships(root).into_iter().flat_map(read)
}

/// `50000 100000` in microseconds, or `max 100000`.
fn cpu_max(folder: &Path) -> Option<CpuQuota> {
    let text = text(&folder.join("cpu.max"))?;
    let (most, period) = text.trim().split_once(' ')?;
    quota(most, period)
}

/// Without a quota it is -1.
fn cfs_quota(folder: &Path) -> Option<CpuQuota> {
    let file = |name: &str| text(&folder.join(name));
    quota(&file("cpu.cfs_quota_us")?, &file("cpu.cfs_period_us")?)
}

fn quota(most: &str, period: &str) -> Option<CpuQuota> {
    let (most, period): (u32, u32) = (most.trim().parse().ok()?, period.trim().parse().ok()?);
    let cpus = f64::from(most) / f64::from(period);
    (most > 0 && period > 0).then(|| CpuQuota { cpus, period: Nanos::from_micros(period.into()) })
}

/// A control group of this process.
pub(crate) struct Membership {
    /// Those of version 1 that it is for, apart by commas; empty of a group of version 2.
    pub controllers: String,
    /// Its folder, and those of all groups above it, which hold for it in version 2.
    pub folders: Vec<PathBuf>,
}

impl Membership {
    /// Whether it is one of version 1 for that controller.
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|one| one == controller)
    }
}

/// The control groups of this process, of version 2 and of version 1; beside version 1 the groups of version 2 are mounted in a
/// folder of their own. None where they cannot be read.
pub(crate) fn memberships(root: &SysRoot) -> Vec<Membership> {
    let base = root.sys.join("fs/cgroup");
    let own = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(":/")?;
        let places = match controllers {
            "" => vec![base.clone(), base.join("unified")],
            _ => vec![base.join(controllers)],
        };
        let above = |place: PathBuf| Path::new(group).ancestors().map(move |group| place.join(group));
        let folders: Vec<PathBuf> = places.into_iter().flat_map(above).collect();
        assert!(!folders.is_empty(), "a group must have a folder, if only the top's");
        Some(Membership { controllers: controllers.to_owned(), folders })
    };
    text(&root.proc.join("self/cgroup")).unwrap_or_default().lines().filter_map(own).collect()
}

/// `io.max` of a group and of those above it.
fn io_max(folders: &[PathBuf]) -> Vec<String> {
    let texts = folders.iter().filter_map(|folder| text(&folder.join("io.max")));
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The throttles of a group: those of the groups above it do not hold for it.
fn throttles(folder: &Path) -> Vec<String> {
    let throttle = |(file, key): &(&str, &str)| {
        let text = text(&folder.join(format!("blkio.throttle.{file}"))).unwrap_or_default();
        let limits = text.lines().filter_map(|line| line.split_once(' '));
        limits.map(|(number, most)| format!("{number} {key}={}", most.trim())).collect::<Vec<_>>()
    };
    THROTTLES.iter().flat_map(throttle).collect()
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
    fn the_smallest_quota_of_either_version_holds() {
        let machine = Fixture::new();
        machine.write("proc/self/cgroup", "0::/batch/job\n");
        machine.write("sys/fs/cgroup/batch/job/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota(&machine.root()), None);
        machine.write("sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
        let quota = |cpus, millis| Some(CpuQuota { cpus, period: Nanos::from_millis(millis) });
        assert_eq!(cpu_quota(&machine.root()), quota(1.5, 100));
        machine.write("proc/self/cgroup", "3:cpuset:/\n1:cpu,cpuacct:/job\n0::/batch/job\n");
        machine.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "10000\n");
        machine.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "20000\n");
        machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        assert_eq!(cpu_quota(&machine.root()), quota(0.5, 20));
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
