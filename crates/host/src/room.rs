//! Whether this machine has room for what a load asks of it: memory, threads, and the mappings that threads take.
//!
//! An allocation or a thread that fails in the middle of a load aborts the process. So what is needed is estimated
//! before, and refused with its figures where it cannot fit.

use rustix::process::{Resource, getrlimit};
use units::Bytes;
use workload::room::{Need, Room};
use workload::spec::Workload;

use crate::buffers::Buffers;
use crate::engine::{EngineChoice, EngineError, choose};
use crate::environment::cgroup::memberships;
use crate::monitor::memory_line;
use crate::sysroot::{SysRoot, first, number, text, times};

/// Mappings of a thread: its stack, its stack for signals, a guard page before each, and its buffers.
const MAPPINGS: u64 = 5;
/// Mappings of the rest of the program.
const OWN_MAPPINGS: u64 = 1_000;

/// What the workers of `workload` need on real storage. `refusal` is why io_uring cannot be used, where it cannot.
///
/// Fails where there is no engine for it.
pub fn need(workload: &Workload, refusal: Option<&str>) -> Result<Need, EngineError> {
    let (chosen, _) = choose(workload, refusal)?;
    let depth = u64::from(workload.depth);
    let pieces = if workload.changes_data() { 2 * depth } else { depth };
    let buffers = match chosen {
        EngineChoice::Null => Bytes::ZERO,
        _ => times(pieces, Buffers::piece_of(workload.sizes.largest())),
    };
    let io_threads = if matches!(chosen, EngineChoice::Pool(_)) { depth } else { 0 };
    Ok(Need::of_workers(workload, buffers, io_threads))
}

/// What this process may still take now. A limit that cannot be read is none.
pub fn read(root: &SysRoot) -> Room {
    let mut room = Room::default();
    let meminfo = text(&root.proc.join("meminfo")).unwrap_or_default();
    if let Some(kib) = memory_line(&meminfo, "MemAvailable:") {
        room.memory.push((times(kib, Bytes::KIB), "available (MemAvailable)".into()));
    }
    if let Some(left) = address_space(root) {
        room.memory.push((left, "left of this process's address space (`ulimit -v`)".into()));
    }
    for group in groups(root) {
        room.memory.extend(group.memory());
        room.threads.extend(group.threads());
    }
    let system = |file: &str| number(&root.proc.join("sys").join(file));
    if let Some(most) = system("vm/max_map_count") {
        let threads = most.saturating_sub(OWN_MAPPINGS) / MAPPINGS;
        room.threads.push((threads, format!("a process has {most} mappings (sysctl vm.max_map_count)")));
    }
    if let Some(most) = system("kernel/threads-max") {
        room.threads.push((most, "the system's limit (sysctl kernel.threads-max)".into()));
    }
    room
}

/// What is left of `RLIMIT_AS`; `None` where there is no such limit.
fn address_space(root: &SysRoot) -> Option<Bytes> {
    let most = getrlimit(Resource::As).current?;
    let pages: u64 = first(&root.proc.join("self/statm"))?;
    Some(Bytes::new(most.saturating_sub(pages.saturating_mul(rustix::param::page_size() as u64))))
}

/// A control group that holds for this process, by the names of its files.
struct Group {
    folder: std::path::PathBuf,
    most: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

/// Those of this process and all above, of version 2 and of version 1 (`Documentation/admin-guide/cgroup-v2.rst`,
/// `cgroup-v1/memory.rst`).
fn groups(root: &SysRoot) -> Vec<Group> {
    let mut groups = Vec::new();
    for own in memberships(root) {
        let [most, used, reclaimable] = match own.controllers.as_str() {
            "" => ["memory.max", "memory.current", "inactive_file "],
            _ if own.has("memory") || own.has("pids") => {
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "]
            }
            _ => continue,
        };
        groups.extend(own.folders.into_iter().map(|folder| Group { folder, most, used, reclaimable }));
    }
    groups
}

impl Group {
    fn memory(&self) -> Option<(Bytes, String)> {
        let most = number(&self.folder.join(self.most))?;
        let used = number(&self.folder.join(self.used)).unwrap_or(0);
        // Pages of files that nobody uses are given up first.
        let stat = text(&self.folder.join("memory.stat")).unwrap_or_default();
        let reclaimable = memory_line(&stat, self.reclaimable).unwrap_or(0);
        let left = most.saturating_sub(used.saturating_sub(reclaimable));
        Some((
            Bytes::new(left),
            format!("left in this control group ({})", self.folder.join(self.most).display()),
        ))
    }

    fn threads(&self) -> Option<(u64, String)> {
        let most = number(&self.folder.join("pids.max"))?;
        let used = number(&self.folder.join("pids.current")).unwrap_or(0);
        let left = most.saturating_sub(used);
        Some((left, format!("of this control group ({})", self.folder.join("pids.max").display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, workload};

    fn needed(keys: &str) -> Need {
        need(&workload(keys), None).unwrap()
    }

    #[test]
    fn buffers_of_all_requests_in_flight_are_needed_those_of_reads_and_of_writes() {
        let reads = needed("size = '1MiB'\ndepth = 64\nworkers = 4");
        assert!((Bytes::MIB * 256..Bytes::MIB * 260).contains(&reads.memory), "{reads}");
        assert_eq!(reads.threads, 4);
        let writes = needed("size = '1MiB'\ndepth = 64\nworkers = 4\nreads = '0%'");
        assert!((Bytes::MIB * 512..Bytes::MIB * 516).contains(&writes.memory), "{writes}");
    }

    #[test]
    fn without_a_ring_each_request_in_flight_needs_a_thread() {
        let pool = needed("size = '4KiB'\ndepth = 32\nworkers = 4\nengine = 'pread'");
        assert_eq!(pool.threads, 4 * 33);
        assert_eq!(needed("size = '4KiB'\ndepth = 1\nworkers = 4\nengine = 'pread'").threads, 4);
    }

    #[test]
    fn every_limit_is_read_and_the_tightest_is_named() {
        let machine = Fixture::new();
        machine.write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8388608 kB\n");
        machine.write("proc/self/cgroup", "0::/batch/job\n");
        machine.write("proc/sys/vm/max_map_count", "65530\n");
        machine.write("proc/sys/kernel/threads-max", "192730\n");
        machine.write("sys/fs/cgroup/batch/job/memory.max", "max\n");
        machine.write("sys/fs/cgroup/batch/memory.max", "1073741824\n");
        machine.write("sys/fs/cgroup/batch/memory.current", "805306368\n");
        machine.write("sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file 268435456\n");
        machine.write("sys/fs/cgroup/batch/job/pids.max", "100\n");
        machine.write("sys/fs/cgroup/batch/job/pids.current", "40\n");
        let room = read(&machine.root());
        assert!(room.memory.iter().any(|(left, _)| *left == Bytes::GIB * 8), "{room:?}");
        let fits = Need { memory: Bytes::MIB * 512, threads: 60 };
        assert_eq!(room.check(fits), Ok(()));
        let error = room.check(Need { memory: Bytes::MIB * 513, ..fits }).unwrap_err().to_string();
        assert!(
            error.contains("513 MiB") && error.contains("512 MiB") && error.contains("batch/memory.max"),
            "{error}"
        );
        let error = room.check(Need { threads: 61, ..fits }).unwrap_err().to_string();
        assert!(error.contains("61 threads") && error.contains("room for 60"), "{error}");
    }

    #[test]
    fn threads_are_limited_by_the_mappings_of_a_process() {
        let machine = Fixture::new();
        machine.write("proc/sys/vm/max_map_count", "65530\n");
        let error = read(&machine.root()).check(Need { memory: Bytes::ZERO, threads: 32_769 });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("32769 threads") && error.contains("vm.max_map_count"), "{error}");
    }
}
