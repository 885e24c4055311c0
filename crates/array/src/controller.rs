//! An array controller: processors, cache, internal bus, XOR engine, ownership.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos, Share};

use crate::link::LinkParams;

/// The figures of one controller; both of a pair are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerParams {
    /// Processors that serve commands.
    pub processors: u32,
    /// Processor time of a host read.
    pub read_command: Nanos,
    /// Processor time of a host write.
    pub write_command: Nanos,
    /// Processor time of each command to a member device.
    pub member_command: Nanos,
    /// What of a host command's processor time is interrupts, doorbells and the way into the firmware and out of it. A
    /// command that finds the processor at work is taken along with the others, and does without. Zero, or less than either
    /// command: a command that costs a busy processor nothing would have no bound.
    pub interrupt: Nanos,
    /// How long a box looks in its own file system or block table for where the data are, before members with arms are
    /// asked: once for each read or write through, and no processor's time. The drive's own overhead passes meanwhile.
    pub locate: Nanos,
    /// The same for a destage. A page cache has found its place when the write came in; who moves data to where there
    /// is room looks now.
    pub place: Nanos,
    /// Whether a flush goes on to the members, so that they write what their own caches hold.
    pub flush_members: bool,
    /// Whether volumes are files of the box's own file system, of which one write at a time looks for the pages that it
    /// covers in part, and has them read: the lock of the inode.
    ///
    /// Linux: `generic_file_aio_write` holds `i_mutex` in `mm/filemap.c`, and `block_write_begin` in `fs/buffer.c` waits
    /// for the read meanwhile. A block device is written without (`blkdev_aio_write` in `fs/block_dev.c`).
    pub file_lock: bool,
    /// The journal of the box's own file system, which makes written data stable; `None`: each write that has to be
    /// stable has the members flushed for itself.
    pub journal: Option<JournalParams>,
    /// Bytes a processor moves itself, if it does: time is added per byte of host data. `None`: hardware moves them.
    pub copy: Option<BytesPerSecond>,
    /// Host commands accepted at once; the rest wait outside. `None`: no limit.
    pub accepts: Option<u32>,
    /// The memory or internal bus that every byte crosses (twice if cached, three times if mirrored).
    pub bus: Option<BytesPerSecond>,
    /// Parity arithmetic, by bytes of its inputs. `None`: free.
    pub xor: Option<BytesPerSecond>,
    /// What an update of parity locks until it has been written: blocks of so many bytes of each member, or all of the
    /// stripe where this is `None`.
    ///
    /// Linux md works by stripes of one page of each member (`STRIPE_SECTORS` in `drivers/md/raid5.h`).
    pub stripe_lock: Option<Bytes>,
    /// The cache; `None` passes everything through.
    pub cache: Option<CacheParams>,
    /// The way to the partner; `None` for a single controller.
    pub partner: Option<LinkParams>,
    /// What happens to a command that arrives at the controller that does not own the volume.
    pub ownership: Ownership,
    /// What becomes of a volume's dirty data when it moves to the other controller.
    pub handover: Handover,
    /// From a controller's failure until its partner serves its volumes.
    pub takeover: Nanos,
}

/// The journal of a box's own file system.
///
/// At most one transaction is committed at a time. Writes that have to be stable and were written while one was under
/// way share the next, unless each has the log forced for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JournalParams {
    /// Bytes that a transaction writes; zero: it is the flush of the members alone.
    pub record: Bytes,
    /// Where on the volume the journal lies.
    pub at: Share,
    /// Bytes of the journal, which is written round and round.
    pub size: Bytes,
    /// How long it takes to force the log for one write, where that happens while the file is held: forces then follow
    /// one another, and there are neither records nor flushes to wait for. `None`: transactions are shared.
    ///
    /// Linux 2.6.33, `xfs_write` in `fs/xfs/linux-2.6/xfs_lrw.c`: a stable write waits for its data with the inode's
    /// `iolock` given back, and takes it again for `xfs_fsync`.
    pub force: Option<Nanos>,
}

/// Which controller may serve a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ownership {
    /// Both, alike.
    Symmetric,
    /// The owner; the other forwards over the partner link (ALUA).
    Forward,
    /// The owner; a command at the other moves the volume there, which takes that long, and nothing is served
    /// meanwhile (RDAC with automatic transfer).
    Transfer {
        /// Quiesce, metadata and handover, without the destage of dirty data, which comes on top.
        time: Nanos,
    },
}

/// What becomes of a volume's dirty data when it moves from one working controller to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// They are written to the members first, and the volume is served by nobody until they are.
    Flush,
    /// The other controller has them in its mirror and takes them over.
    Mirror,
}

/// A controller's cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheParams {
    /// Bytes for host data, reads and writes together.
    pub size: Bytes,
    /// Bytes of a cache line.
    pub line: Bytes,
    /// What written data take of it at the least, however little of that was written. A sector: no more than they are.
    pub block: Bytes,
    /// Part of it that written data may take; writes that find it full wait.
    pub write_part: Share,
    /// Part of it that data kept for reads may take.
    pub read_part: Share,
    /// Writes of so many bytes or more go past it, as the controller gets them; `None`: none does.
    pub bypass: Option<Bytes>,
    /// Whether reads are kept and sequential ones prefetched.
    pub read: bool,
    /// Whether a write that covers a part of a line has the rest of it read first, unless it is here: what a page cache
    /// does.
    pub fills: bool,
    /// Whether writes are acknowledged from the cache.
    pub write_back: bool,
    /// Whether what it holds survives a loss of power, so that a flush need not wait until it has been written.
    pub protected: bool,
    /// Whether each written byte is copied to the partner first. It halves what writes may take, and without a
    /// partner writes go through.
    pub mirrored: bool,
    /// Dirty share of the write part at which destaging starts to press and, when full, writes wait.
    pub dirty_high: Share,
    /// Dirty share at which pressing ends; below it, destaging happens when the members are idle or data are old.
    pub dirty_low: Share,
    /// Dirty data older than this are destaged.
    pub dirty_age: Nanos,
    /// Stripes destaged at once.
    pub destage_window: u32,
    /// Of these, parts of a stripe with parity, which read before they write.
    ///
    /// Linux md starts no more than one of them while others are under way (`IO_THRESHOLD` in `drivers/md/raid5.c`).
    pub partial_window: u32,
    /// Bytes of each member that the layer with the parity keeps of the stripes that have passed through it last: what
    /// is here needs no read when another part of its stripe is written. Zero: none.
    ///
    /// Linux md's stripe cache (`drivers/md/raid5.c`, `R5_UPTODATE`; 256 pages of each member by default).
    pub stripes: Bytes,
    /// Sequential prefetch.
    pub prefetch: PrefetchParams,
}

impl CacheParams {
    /// Whether writes may be acknowledged from it, given whether the partner is there to mirror them.
    pub fn takes_writes(&self, partner: bool) -> bool {
        self.write_back && (partner || !self.mirrored)
    }

    /// What data kept for reads may take of it.
    pub fn read_room(&self) -> Bytes {
        Bytes::new(truncated(self.read_part.get() * self.size.as_f64()))
    }

    /// Whether a write of `len` bytes goes past it.
    pub fn is_bypassed_by(&self, len: u32) -> bool {
        self.bypass.is_some_and(|least| u64::from(len) >= least.get())
    }

    /// What writes may take of it.
    pub fn write_room(&self) -> Bytes {
        // The other half holds the partner's writes.
        let own = if self.mirrored { self.size.get() / 2 } else { self.size.get() };
        Bytes::new(truncated(self.write_part.get() * own as f64))
    }
}

/// Sequential prefetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefetchParams {
    /// Streams told apart. Zero: no prefetch.
    pub streams: u32,
    /// Contiguous reads that make a stream.
    pub confirm: u32,
    /// First prefetch; doubles with each use.
    pub start: Bytes,
    /// Largest prefetch.
    pub max: Bytes,
}
