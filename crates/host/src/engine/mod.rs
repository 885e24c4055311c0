//! Ways into the kernel, behind one small trait.
//!
//! An engine takes batches of requests and gives completions back; it decides nothing. Which one is used is
//! chosen once for each worker, and the driver is compiled for it.

mod at_once;
mod choice;
mod files;
#[cfg(test)]
mod fixture;
mod flush;
mod locked;
mod mmap;
mod nbd;
mod null;
mod nvme;
mod payload;
mod pool;
mod priorities;
mod scsi;
mod sigbus;
mod splice;
mod stdio;
mod sync;
mod trim;
mod uring;
mod verifying;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use units::convert::narrow;
use units::{Bytes, Instant};

use crate::monitor::CpuTime;
use crate::sysroot::{SysRoot, number, times};
use crate::target::Device;
use workload::spec::{EngineKind, IoPriority};
use workload::{Completion, Errno, Outcome, Request};

pub use at_once::{AtOnce, Carrier};
pub use choice::{EngineChoice, URING_DEPTH_MAX, choose};
pub(crate) use files::sync_flag;
pub use files::{Addressing, FileRef, OpenFile, OpenFiles, open_files};
pub(crate) use flush::flush;
pub use mmap::Mmap;
pub use nbd::{Nbd, serves as serves_exports};
pub use null::Null;
pub use payload::{HasPayload, Payload};
pub use pool::ThreadPool;
pub use priorities::Priorities;
pub use stdio::Stdio;
pub use sync::{Call, Sync};
pub use uring::{NvmeCommands, Uring, UringOptions, UringRing};
pub use verifying::Verifying;

/// Says no to a device that takes no commands of an engine of that kind, to requests larger than one command, and to any device
/// where the engine sends none.
///
/// `largest` is that of the requests but trims, of which a device takes longer ones than it can move data.
pub fn takes_commands(
    root: &SysRoot,
    kind: EngineKind,
    device: &Device,
    largest: Bytes,
) -> Result<(), String> {
    let blocks = match kind {
        EngineKind::Sg => scsi::serves(device).map(|()| u64::from(u32::MAX))?,
        EngineKind::Nvme => nvme::serves(root, device).map(|()| nvme::BLOCKS_MAX)?,
        _ => return Err("it sends no commands".into()),
    };
    let in_blocks = times(blocks, device.logical_block);
    // What the adapter can move with one command (`Documentation/ABI/stable/sysfs-block`).
    let moved = number(&device.folder.join("queue/max_hw_sectors_kb")).map(|kib| times(kib, Bytes::KIB));
    let most = moved.map_or(in_blocks, |moved| moved.min(in_blocks));
    match largest > most {
        true => Err(format!("a command of this device is of {most} at most, not of {largest}")),
        false => Ok(()),
    }
}

/// For how long an engine waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: requests are handed over, completions taken if there are any.
    No,
    /// Until at least so many have ended, or all that are in flight if they are fewer. With nothing in flight, not at
    /// all.
    For(u32),
    /// Likewise, but not past that instant. With nothing in flight, until then.
    Until(Instant, u32),
}

/// Carries requests out. One thread, one job.
pub trait Engine<R = Request> {
    /// Takes over `requests`, which reach the kernel at the next [`Engine::wait`] at the latest. Their buffers belong to
    /// the kernel until they complete.
    fn submit(&mut self, requests: &[R]) -> Result<(), EngineError>;

    /// Waits as `wait` says and hands over all completions there are. No request that was submitted is held back, and no
    /// completion beyond what `wait` asks for.
    ///
    /// Returns a reading of the clock that is not earlier than any completion handed over.
    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError>;

    /// Goes on with `files`, which are the same ones opened anew, in place of those that it has; nothing is in flight.
    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        keeps_files(files)
    }

    /// Processor time of other threads that carry requests out for this one. None by default.
    fn helpers_cpu(&self) -> CpuTime {
        CpuTime::default()
    }
}

/// How a request ended of which a call says how much it moved.
#[inline]
fn outcome(moved: rustix::io::Result<usize>) -> Outcome {
    match moved {
        Ok(moved) => Outcome::moved(narrow::<u32>(moved)),
        Err(errno) => Outcome::failed(Errno(errno.raw_os_error())),
    }
}

fn keeps_files(_files: Arc<OpenFiles>) -> Result<(), EngineError> {
    let why = "it keeps its files open; `reopen_every` needs io_uring or `depth = 1`".into();
    Err(EngineError::Unfit { engine: "of this workload", why })
}

/// Why an engine could not be set up, or could not go on. The failure of a single request is its outcome.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The target could not be opened.
    #[error("{path}: cannot open for {mode}: {source}; {remedy}")]
    Open {
        /// What.
        path: PathBuf,
        /// Reading or writing, direct or buffered.
        mode: String,
        /// What to do.
        remedy: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The server of an export does not answer as it should.
    #[error(transparent)]
    Nbd(crate::nbd::NbdError),
    /// It may not be written, or is no longer what was looked at.
    #[error(transparent)]
    Unsafe(#[from] crate::safety::SafetyError),
    /// Neither Fathom's own nor permitted.
    #[error("{path}: not one of Fathom's scratch files, and no permit to write to it was given")]
    NoPermit {
        /// What.
        path: PathBuf,
    },
    /// No memory for buffers.
    #[error(
        "cannot allocate {need} of memory for buffers{}: {source}; lower `depth` or the request size{}",
        if *huge_pages { " in huge pages" } else { "" },
        if *huge_pages { ", or reserve pages: `sysctl vm.nr_hugepages=N`, 2 MiB each" } else { "" },
    )]
    Memory {
        /// How much.
        need: Bytes,
        /// In huge pages.
        huge_pages: bool,
        /// The system's reason.
        source: io::Error,
    },
    /// io_uring is there, but not with what was asked of it.
    #[error("io_uring with {feature} was refused: {source}; {remedy}")]
    Feature {
        /// SQPOLL, IOPOLL.
        feature: &'static str,
        /// What to do.
        remedy: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// io_uring was asked for by name and is not there.
    #[error("io_uring was refused: {reason}; use `engine = \"auto\"` to fall back to pread")]
    NoUring {
        /// Why.
        reason: String,
    },
    /// The engine and the workload do not go together.
    #[error("engine {engine}: {why}")]
    Unfit {
        /// Which engine.
        engine: &'static str,
        /// Why, and what would do.
        why: String,
    },
    /// The ring itself failed.
    #[error("{call} failed: {source}")]
    System {
        /// The system call.
        call: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A mistake of Fathom's own.
    #[error("internal error: {thread} panicked")]
    Internal {
        /// Which thread.
        thread: &'static str,
    },
    /// An I/O priority that the kernel does not give.
    #[error("I/O priority {priority} was refused: {source}; `rt` needs CAP_SYS_ADMIN or CAP_SYS_NICE")]
    Priority {
        /// Which.
        priority: IoPriority,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or device cannot do what was asked of it.
    #[error("{path}: {what} was refused: {reason}")]
    Incapable {
        /// Which.
        path: PathBuf,
        /// The key, and what it asks.
        what: &'static str,
        /// Why, and what would do.
        reason: String,
    },
    /// Processor or node that is not there.
    #[error("cannot run on {what}: {source}; online are {online}")]
    Placement {
        /// `cpu 7`, `node 1`.
        what: String,
        /// Those that are there.
        online: String,
        /// The system's reason.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_no_command_can_move_is_refused_before_it_fails() {
        let machine = crate::fixture::Fixture::new();
        let sda = machine.disk("sda", "8:0", 4096);
        machine.write("sys/block/sda/device/scsi_level", "6\n");
        let takes = |kind, largest| {
            let device = Device::read(&machine.root(), sda).expect("the fixture has it");
            takes_commands(&machine.root(), kind, &device, largest)
        };
        assert_eq!(takes(EngineKind::Sg, Bytes::GIB), Ok(()), "nothing tells a limit");
        machine.write("sys/block/sda/queue/max_hw_sectors_kb", "512\n");
        assert_eq!(takes(EngineKind::Sg, Bytes::KIB * 512), Ok(()));
        assert!(takes(EngineKind::Sg, Bytes::MIB).expect_err("it is more").contains("512 KiB at most"));
        assert!(
            takes(EngineKind::Pread, Bytes::KIB).is_err() && takes(EngineKind::Nvme, Bytes::KIB).is_err()
        );
    }
}
