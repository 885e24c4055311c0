//! The host: processors, per-file and per-request cost, page cache, read-ahead, volume striping, paths.

use units::{Bytes, BytesPerSecond, Nanos, Share};

use crate::files::FilesParams;

/// The figures of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostParams {
    /// Processors that carry requests.
    pub processors: u32,
    /// Processor time of each request: system call, block layer, driver, interrupt.
    pub request: Nanos,
    /// Whether each worker issues from a thread of its own, which one processor at a time carries: one worker never has
    /// more than one over `request` and what its layers add. `false`: its requests find all processors.
    pub threads: bool,
    /// Time for which each request holds its file or LUN: one over the most requests per second of one file.
    pub per_file: Nanos,
    /// By what part of `per_file` each further file that has requests under way makes it longer: what all files share
    /// (locks, counters, lists) goes from one processor to the next.
    ///
    /// So *n* files get *n* / (1 + contention (*n* - 1)) times what one gets: the law of Gunther, "A General Theory of
    /// Computational Scalability Based on Rational Functions" (2008), with contention alone.
    pub contention: Share,
    /// What a file system adds to each request's processor time.
    pub file_system: Nanos,
    /// Layers that each request passes between file and driver: file system, volume manager, multipath.
    pub layers: u32,
    /// Processor time of each of them for a request that is sent.
    pub layer: Nanos,
    /// What the layer that mirrors adds to that, where the array's sets are mirrors that the host keeps itself: a stripe
    /// only changes the address of a request, a mirror makes one of its own of it, and asks whether a resync is in its way.
    pub mirroring: Nanos,
    /// Largest request the block layer sends; longer ones are split.
    pub max_transfer: Bytes,
    /// Requests outstanding per LUN and path; the rest wait in the host.
    pub lun_depth: u32,
    /// Requests buffered in the page cache, for jobs that do not ask for direct I/O; `None`: everything is direct.
    pub page_cache: Option<PageCacheParams>,
    /// Striping of one volume over several LUNs (md or LVM RAID 0).
    pub stripe: Option<StripeParams>,
    /// Which path a request takes.
    pub multipath: Multipath,
    /// From a path's loss until its requests are sent by another.
    pub path_timeout: Nanos,
    /// What becomes of requests that no path is left for.
    pub no_path: NoPath,
    /// Its file system, for jobs that ask for names.
    pub files: FilesParams,
}

/// The host's page cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageCacheParams {
    /// Memory it may use.
    pub size: Bytes,
    /// A copy between cache and user.
    pub copy: BytesPerSecond,
    /// Largest read-ahead window (`blockdev --setra`, in bytes); zero: none.
    pub read_ahead: Bytes,
    /// Dirty share at which writeback starts.
    pub dirty_background: Share,
    /// Dirty share at which writers wait.
    pub dirty_limit: Share,
    /// What one block of pointers of the file system maps, 4 MiB of ext2 and ext3: it is read before the data that it
    /// maps, and kept in this memory. `None`: extents, which are few and held, or no file system.
    pub indirect_block: Option<Bytes>,
}

/// Striping of one volume over all LUNs of a job's file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripeParams {
    /// Bytes on one LUN before the next.
    pub chunk: Bytes,
    /// LUNs taken together, from the first.
    pub luns: u32,
}

/// Which path a request takes to its LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multipath {
    /// None: the volume is seen once per path and jobs alternate between them, whoever owns it.
    None,
    /// The first live path to the owner; the others only when it is lost.
    Failover,
    /// Each live path to the owner in turn, that many requests each.
    RoundRobin {
        /// Requests before the next path (`rr_min_io`).
        requests: u32,
    },
    /// The live path to the owner with the fewest requests.
    LeastQueue,
}

/// What becomes of requests when no path is left: `no_path_retry` of dm-multipath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// They fail as soon as the loss of the last path is noticed: what dm-multipath does unless told otherwise.
    Fail,
    /// They are kept until a path comes back (`queue_if_no_path`).
    Queue,
    /// They are kept for so long, and then fail: as many checks as `no_path_retry` says, `polling_interval` apart.
    Retry(Nanos),
}
