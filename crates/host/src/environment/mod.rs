//! The machine that asks: what of it may matter to a result.

pub(crate) mod cgroup;
mod uring;

use std::fs;

use units::convert::truncated;
use units::{Bytes, Nanos};

use crate::monitor::memory_line;
use crate::sysroot::{SysRoot, chosen, first, is_numbered, names, number, ranges, text, times};

pub use cgroup::CpuQuota;
pub use uring::{UringState, uring};

/// Facts of a host. Each `None` where this machine does not tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Its name.
    pub hostname: String,
    /// Kernel name, release and machine, as `Linux 6.12.3 x86_64`.
    pub kernel: String,
    /// The processors' model.
    pub cpu_model: String,
    /// Processors online, hardware threads counted.
    pub cpus: u32,
    /// Whether two of them share a core.
    pub smt: Option<bool>,
    /// Memory.
    pub ram: Bytes,
    /// The frequency governors in use, each once.
    pub governors: Vec<String>,
    /// The hypervisor beneath: its name, or `unknown`; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Whether this runs in a container, as far as can be seen.
    pub container: Option<&'static str>,
    /// NUMA nodes with their processors, as (`node0`, `0-15`).
    pub numa_nodes: Vec<(String, String)>,
    /// The clock the kernel keeps time by.
    pub clock_source: Option<String>,
    /// Huge pages set aside, by size.
    pub huge_pages: Vec<HugePages>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// What this process may lock in memory; `None` for no limit.
    pub memlock: Option<Bytes>,
    /// Whether io_uring can be used.
    pub uring: UringState,
    /// How long the machine has been up.
    pub uptime: Option<Nanos>,
    /// Processes that want a processor, mean over the last minute.
    pub load: Option<f64>,
    /// What the control groups of this process may move to each device a second: `sda rbps=1048576 wiops=max`.
    pub io_max: Vec<String>,
    /// The processor time that the control groups of this process let it use; `None` where they do not limit it.
    pub cpu_quota: Option<CpuQuota>,
}

/// Huge pages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HugePages {
    /// Of one page.
    pub size: Bytes,
    /// Set aside.
    pub total: u64,
    /// Of those, not in use.
    pub free: u64,
}

impl Environment {
    /// Looks at this machine. Sets up one small ring and tears it down again, to know whether that is allowed.
    pub fn read(root: &SysRoot) -> Environment {
        let name = rustix::system::uname();
        let word = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let cpuinfo = fs::read_to_string(root.proc.join("cpuinfo")).unwrap_or_default();
        let meminfo = fs::read_to_string(root.proc.join("meminfo")).unwrap_or_default();
        let cpus = root.sys.join("devices/system/cpu");
        Environment {
            hostname: word(name.nodename()),
            kernel: [name.sysname(), name.release(), name.machine()].map(word).join(" "),
            cpu_model: cpu_model(&cpuinfo),
            cpus: cpu_count(&text(&cpus.join("online")).unwrap_or_default()).unwrap_or(1),
            smt: number(&cpus.join("smt/active")).map(|active| active == 1),
            ram: times(memory_line(&meminfo, "MemTotal:").unwrap_or(0), Bytes::KIB),
            governors: governors(root),
            hypervisor: hypervisor(root, &cpuinfo),
            container: container(root),
            numa_nodes: numa_nodes(root),
            clock_source: text(&root.sys.join("devices/system/clocksource/clocksource0/current_clocksource")),
            huge_pages: huge_pages(root),
            transparent_huge_pages: text(&root.sys.join("kernel/mm/transparent_hugepage/enabled"))
                .and_then(|line| chosen(&line).map(str::to_owned)),
            memlock: memlock(),
            uring: uring(root),
            uptime: first(&root.proc.join("uptime")).map(Nanos::from_secs_f64),
            load: first(&root.proc.join("loadavg")),
            io_max: cgroup::limits(root),
            cpu_quota: cgroup::cpu_quota(root),
        }
    }
}

pub(crate) fn memlock() -> Option<Bytes> {
    rustix::process::getrlimit(rustix::process::Resource::Memlock).current.map(Bytes::new)
}

/// Cycles a second of the fastest processor at the moment; `None` where the system does not say.
pub fn cpu_hz(root: &SysRoot) -> Option<u64> {
    let cpuinfo = text(&root.proc.join("cpuinfo"))?;
    let lines = cpuinfo.lines().filter(|line| line.starts_with("cpu MHz"));
    let mhz = lines.filter_map(|line| line.split_once(':')?.1.trim().parse::<f64>().ok());
    let fastest = mhz.fold(0.0, f64::max);
    (fastest > 0.0).then(|| truncated(fastest * 1e6))
}

/// x86 says `model name`; others say `Processor`, `cpu` or nothing.
fn cpu_model(cpuinfo: &str) -> String {
    let value = |key: &str| {
        let line =
            cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_owned()).filter(|value| !value.is_empty())
    };
    ["model name", "Processor", "cpu", "CPU part"]
        .iter()
        .find_map(|key| value(key))
        .unwrap_or_else(|| std::env::consts::ARCH.into())
}

/// The number of processors in a list such as `0-3,8,10-11`; `None` where it is none.
fn cpu_count(list: &str) -> Option<u32> {
    let count: usize = ranges(list)?.into_iter().map(Iterator::count).sum();
    u32::try_from(count).ok().filter(|count| *count > 0)
}

fn governors(root: &SysRoot) -> Vec<String> {
    let folder = root.sys.join("devices/system/cpu/cpufreq");
    let mut governors: Vec<String> = names(&folder)
        .iter()
        .filter_map(|policy| text(&folder.join(policy).join("scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    governors
}

/// By the processor's own flag, by Xen's folder, and by the names that hypervisors write into the firmware tables.
fn hypervisor(root: &SysRoot, cpuinfo: &str) -> Option<String> {
    let flagged = cpuinfo
        .lines()
        .any(|line| line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor"));
    let xen = text(&root.sys.join("hypervisor/type"));
    let firmware = ["sys_vendor", "product_name", "bios_vendor"]
        .iter()
        .filter_map(|name| text(&root.sys.join("class/dmi/id").join(name)))
        .collect::<Vec<String>>()
        .join(" ");
    const KNOWN: [(&str, &str); 10] = [
        ("KVM", "kvm"),
        ("QEMU", "kvm"),
        ("Amazon EC2", "kvm"),
        ("Google", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Microsoft Corporation Virtual", "hyper-v"),
        ("Parallels", "parallels"),
        ("bhyve", "bhyve"),
    ];
    let named = KNOWN.iter().find(|(mark, _)| firmware.contains(mark)).map(|(_, name)| (*name).to_owned());
    let virtio = root
        .sys
        .join("bus/virtio/devices")
        .exists()
        .then(|| "of an unknown kind, with virtio devices".to_owned());
    // The firmware's names alone are not enough: clouds sell bare machines under them too.
    match (xen, flagged) {
        (Some(xen), _) => Some(xen),
        (None, true) => Some(named.or(virtio).unwrap_or_else(|| "unknown".into())),
        (None, false) => None,
    }
}

fn container(root: &SysRoot) -> Option<&'static str> {
    let environ = fs::read(root.proc.join("1/environ")).unwrap_or_default();
    let told = environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"container="));
    let cgroup = fs::read_to_string(root.proc.join("1/cgroup")).unwrap_or_default();
    let root_mount =
        crate::target::mounts::mounts(root).into_iter().rfind(|mount| mount.point.as_os_str() == "/");
    if told || ["docker", "kubepods", "containerd", "lxc"].iter().any(|mark| cgroup.contains(mark)) {
        Some("yes: the first process is a container's")
    } else if root_mount.is_some_and(|mount| mount.fs_type == "overlay") {
        Some("likely: the root is an overlay")
    } else {
        None
    }
}

fn numa_nodes(root: &SysRoot) -> Vec<(String, String)> {
    let folder = root.sys.join("devices/system/node");
    let nodes = names(&folder).into_iter().filter(|name| is_numbered(name, "node"));
    nodes.map(|node| (node.clone(), text(&folder.join(&node).join("cpulist")).unwrap_or_default())).collect()
}

fn huge_pages(root: &SysRoot) -> Vec<HugePages> {
    let folder = root.sys.join("kernel/mm/hugepages");
    let pages = names(&folder).into_iter().filter_map(|name| {
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let count = |file: &str| number(&folder.join(&name).join(file));
        Some(HugePages {
            size: times(kib, Bytes::KIB),
            total: count("nr_hugepages")?,
            free: count("free_hugepages")?,
        })
    });
    let mut pages: Vec<HugePages> = pages.collect();
    pages.sort_by_key(|pages| pages.size);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn this_machine_tells_who_it_is() {
        let environment = Environment::read(&SysRoot::real());
        assert!(environment.kernel.starts_with("Linux "), "{}", environment.kernel);
        assert!(environment.cpus >= 1);
        assert!(environment.ram > Bytes::MIB * 64, "{}", environment.ram);
        assert!(!environment.cpu_model.is_empty());
    }

    #[test]
    fn a_made_up_server_is_described() {
        let machine = Fixture::new();
        machine.write("proc/cpuinfo", "processor : 0\nmodel name : Fast 9000\ncpu MHz : 2300.5\ncpu MHz : 800.0\nflags : fpu hypervisor sse\n");
        machine.write("proc/meminfo", "MemTotal: 1024 kB\n");
        machine.write("sys/devices/system/cpu/online", "0-3,8\n");
        machine.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
        machine.write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
        machine.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
        machine.write("sys/devices/system/node/node0/cpulist", "0-3\n");
        machine.write("sys/devices/system/node/node1/cpulist", "8\n");
        machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64\n");
        machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "60\n");
        machine.write("proc/1/environ", "PATH=/\0container=podman\0");
        let environment = Environment::read(&machine.root());
        assert_eq!(environment.cpu_model, "Fast 9000");
        assert_eq!(cpu_hz(&machine.root()), Some(2_300_500_000));
        assert_eq!(environment.cpus, 5);
        assert_eq!(environment.ram, Bytes::MIB);
        assert_eq!(environment.governors, ["powersave"]);
        assert_eq!(environment.hypervisor.as_deref(), Some("kvm"));
        assert_eq!(environment.numa_nodes, [("node0".into(), "0-3".into()), ("node1".into(), "8".into())]);
        let pages = HugePages { size: Bytes::MIB * 2, total: 64, free: 60 };
        assert_eq!(environment.huge_pages, [pages]);
        assert!(environment.container.is_some());
    }

    #[test]
    fn a_list_of_processors_is_counted() {
        assert_eq!(cpu_count("0-1"), Some(2));
        assert_eq!(cpu_count("0,2-3,7"), Some(4));
        for text in ["", "x", "3-1", "0-"] {
            assert_eq!(cpu_count(text), None, "{text}");
        }
    }
}
