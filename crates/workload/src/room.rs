//! What a load needs of the machine that issues it, and what there is: memory and threads, as plain figures.

use std::fmt;

use units::Bytes;

use crate::spec::Workload;

/// A worker: its histograms, what its thread touches of its stack, and what its thread's allocator keeps. Measured.
const WORKER: Bytes = Bytes::new(192 << 10);
/// The histograms of each further size.
const SIZE: Bytes = Bytes::new(64 << 10);
/// A request in flight, beside its buffers. Measured: 65 to 130 bytes on real storage, 230 in an array.
const SLOT: Bytes = Bytes::new(256);
/// A thread that carries out one request at a time. Measured: 10 KiB.
const HAND: Bytes = Bytes::new(16 << 10);

/// What a load needs while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Memory: buffers, and what requests in flight and workers take. An estimate, rather too high.
    pub memory: Bytes,
    /// One for each worker, and those that engines start.
    pub threads: u64,
}

impl Need {
    /// Of the workers of `workload`, each with so many bytes of buffers, and so many threads beside its own that carry
    /// out one request at a time.
    pub fn of_workers(workload: &Workload, buffers: Bytes, hands: u64) -> Need {
        let slots = SLOT * u64::from(workload.depth);
        let each = sum([buffers, slots, HAND * hands, WORKER, sizes(workload)]);
        let workers = u64::from(workload.workers);
        Need { memory: times(workers, each), threads: (1 + hands).saturating_mul(workers) }
    }

    /// Of the workers of `workload` in a virtual array, which have no threads and no buffers.
    pub fn virtually(workload: &Workload) -> Need {
        let each = sum([WORKER, SLOT * (2 * u64::from(workload.depth)), sizes(workload)]);
        Need { memory: times(workload.workers.into(), each), threads: 1 }
    }

    /// Of workers that do something to files, one thread each.
    pub fn of_files(workload: &Workload) -> Need {
        let threads = u64::from(workload.workers);
        Need { memory: times(threads, WORKER), threads }
    }

    /// Both at once.
    pub fn and(self, other: Need) -> Need {
        Need { memory: sum([self.memory, other.memory]), threads: self.threads.saturating_add(other.threads) }
    }

    /// The greater of each.
    pub fn max(self, other: Need) -> Need {
        Need { memory: self.memory.max(other.memory), threads: self.threads.max(other.threads) }
    }
}

impl fmt::Display for Need {
    /// `131 MiB of memory and 9 threads`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads == 1 { "" } else { "s" };
        write!(f, "{} of memory and {} thread{plural}", self.memory, self.threads)
    }
}

fn sizes(workload: &Workload) -> Bytes {
    SIZE * workload.sizes.0.len() as u64
}

fn sum(all: impl IntoIterator<Item = Bytes>) -> Bytes {
    Bytes::new(all.into_iter().map(Bytes::get).fold(0, u64::saturating_add))
}

fn times(count: u64, each: Bytes) -> Bytes {
    Bytes::new(each.get().saturating_mul(count))
}

/// What this process may still take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Memory, by each limit that there is, and which limit that is.
    pub memory: Vec<(Bytes, String)>,
    /// Threads likewise.
    pub threads: Vec<(u64, String)>,
}

/// Why something does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// Too much memory.
    #[error(
        "it needs about {need} of memory, and {room} is {limit}; use fewer workers, a smaller `depth` or smaller requests"
    )]
    Memory {
        /// What the workers come to.
        need: Bytes,
        /// What there is.
        room: Bytes,
        /// What the room ends at: the free memory, a control group.
        limit: String,
    },
    /// Too many threads.
    #[error(
        "it needs {need} threads, and there is room for {room}: {limit}; use fewer workers or a smaller `depth`, or \
         `engine = \"io_uring\"`, which needs one for each worker"
    )]
    Threads {
        /// How many are needed.
        need: u64,
        /// How many may be.
        room: u64,
        /// What the room ends at.
        limit: String,
    },
}

impl Room {
    /// Whether `need` fits; the tightest limit that it does not.
    pub fn check(&self, need: Need) -> Result<(), NoRoom> {
        let memory = self.memory.iter().min_by_key(|(room, _)| *room);
        if let Some((room, limit)) = memory.filter(|(room, _)| need.memory > *room) {
            return Err(NoRoom::Memory { need: need.memory, room: *room, limit: limit.clone() });
        }
        let threads = self.threads.iter().min_by_key(|(room, _)| *room);
        match threads.filter(|(room, _)| need.threads > *room) {
            Some((room, limit)) => {
                Err(NoRoom::Threads { need: need.threads, room: *room, limit: limit.clone() })
            }
            None => Ok(()),
        }
    }
}
