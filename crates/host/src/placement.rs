//! Where a worker runs and where its memory lies.

use std::fs;
use std::io;

use rustix::thread::CpuSet;
use workload::spec::{EngineSpec, IoPriority};

use crate::answered;
use crate::engine::EngineError;
use crate::sysroot::ranges;

const ONLINE_CPUS: &str = "/sys/devices/system/cpu/online";
const ONLINE_NODES: &str = "/sys/devices/system/node/online";

/// Moves the calling thread to where worker `index` belongs, has its later memory come from there, and gives its
/// requests, and those of threads that it starts, their priority.
pub fn place(engine: &EngineSpec, index: u32) -> Result<(), EngineError> {
    if let Some(priority) = engine.io_priority {
        prioritise(priority)?;
    }
    if let Some(node) = engine.numa_node {
        bind_memory(node)?;
        if engine.cpus.is_empty() {
            return pin(cpus_of_node(node)?, || format!("node {node}"));
        }
    }
    match engine.cpus.get(index as usize % engine.cpus.len().max(1)) {
        Some(cpu) => pin([*cpu], || format!("cpu {cpu}")),
        None => Ok(()),
    }
}

/// ioprio_set(2) for the calling thread.
fn prioritise(priority: IoPriority) -> Result<(), EngineError> {
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: three numbers are passed.
    let result = unsafe {
        libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0 as libc::c_int, libc::c_int::from(priority.bits()))
    };
    answered(result).map(drop).map_err(|source| EngineError::Priority { priority, source })
}

fn pin(cpus: impl IntoIterator<Item = u32>, what: impl Fn() -> String) -> Result<(), EngineError> {
    let refused = |source| EngineError::Placement { what: what(), online: read_list(ONLINE_CPUS), source };
    let mut set = CpuSet::new();
    for cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(refused(io::Error::from_raw_os_error(libc::EINVAL)));
        }
        set.set(cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|errno| refused(errno.into()))
}

fn cpus_of_node(node: u32) -> Result<impl Iterator<Item = u32>, EngineError> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let list = fs::read_to_string(&path).map_err(|source| node_refused(node, source))?;
    let cpus =
        ranges(list.trim()).ok_or_else(|| node_refused(node, io::Error::from_raw_os_error(libc::EINVAL)))?;
    Ok(cpus.into_iter().flatten())
}

fn node_refused(node: u32, source: io::Error) -> EngineError {
    EngineError::Placement { what: format!("node {node}"), online: read_list(ONLINE_NODES), source }
}

fn bind_memory(node: u32) -> Result<(), EngineError> {
    let Some(mask) = 1u64.checked_shl(node) else {
        return Err(node_refused(node, io::Error::from_raw_os_error(libc::EINVAL)));
    };
    // SAFETY: set_mempolicy reads one mask of 64 bits behind the pointer; it lives through the call. The kernel
    // takes one bit less than it is told (mm/mempolicy.c, get_nodes), hence 65.
    let result = unsafe {
        libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, &raw const mask, 65 as libc::c_ulong)
    };
    answered(result).map(drop).map_err(|source| node_refused(node, source))
}

fn read_list(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |list| list.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::spec::EngineKind;

    fn engine(cpus: Vec<u32>, numa_node: Option<u32>) -> EngineSpec {
        EngineSpec {
            kind: EngineKind::Null,
            submit_batch: 1,
            complete_batch: 1,
            sqpoll: false,
            iopoll: false,
            cpus,
            numa_node,
            huge_pages: false,
            ..workload::spec::Workload::plain("placed").engine
        }
    }

    #[test]
    fn a_worker_runs_where_it_was_put() {
        std::thread::spawn(|| {
            place(&engine(vec![0], None), 5).unwrap();
            let set = rustix::thread::sched_getaffinity(None).unwrap();
            assert_eq!((set.count(), set.is_set(0)), (1, true));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_or_node_that_is_not_there_is_an_error_that_names_those_that_are() {
        let error = place(&engine(vec![1000], None), 0).unwrap_err().to_string();
        assert!(error.contains("cpu 1000") && error.contains("online are 0"), "{error}");
        assert!(place(&engine(vec![], Some(63)), 0).is_err());
    }
}
