//! The names under which well-known facts and series are kept, so that whoever writes and whoever reads agree.
//!
//! **Invariant:** a name is only added within a version of the shape, never changed. A fact or series without
//! a name here may be stored too; it is shown, but nothing is concluded from it.

/// Keys of [`Target::facts`](crate::Target::facts).
pub mod fact {
    /// The maker of the device that is asked, as it says itself.
    pub const VENDOR: &str = "vendor";
    /// Its model.
    pub const MODEL: &str = "model";
    /// Its serial number.
    pub const SERIAL: &str = "serial";
    /// Its firmware's revision.
    pub const FIRMWARE: &str = "firmware";
    /// Its stable name in `/dev/disk/by-id`, without the folder.
    pub const BY_ID: &str = "by-id";
    /// The kernel's name of the device that is asked, as `sda`; several apart by commas.
    pub const DEVICE: &str = "device";
    /// The whole size of that device, as `Bytes` prints it exactly: `960197124096B`.
    pub const DEVICE_SIZE: &str = "device size";
    /// The kernel's names of what that device stands on; several apart by commas.
    pub const MEMBERS: &str = "members";
    /// The type of the file system that holds the file or directory: `ext4`, `tmpfs`, `nfs4`.
    pub const FILE_SYSTEM: &str = "file system";
    /// Its mount options, apart by commas.
    pub const MOUNT_OPTIONS: &str = "mount options";
    /// The I/O scheduler of the device.
    pub const SCHEDULER: &str = "scheduler";
    /// How the device's own write cache works, as the kernel says: `write back` or `write through`.
    pub const WRITE_CACHE: &str = "write cache";
    /// `yes` or `no`: whether the device says that it rotates.
    pub const ROTATIONAL: &str = "rotational";
    /// `yes` or `no`, for a loop device: whether it bypasses the page cache of the file behind it.
    pub const LOOP_DIRECT: &str = "loop bypasses page cache";
    /// In what direct I/O is possible, and how that is known: `in multiples of 512 B (logical block of the device)`.
    pub const DIRECT: &str = "direct I/O";
    /// `random` where this program has laid out what is read: data that neither compresses nor repeats.
    pub const LAID_OUT: &str = "laid out";
    /// How much of a file its file system held no data of before it was asked, as `Bytes` prints it exactly.
    pub const UNWRITTEN: &str = "never written";
    /// How many of the blocks that were looked at before the target was asked held nothing but zeros: `30 of 60`.
    pub const ZEROS: &str = "zeros in a sample";
    /// Bits of information in a byte of the other blocks, by how often each value comes: `7.98`.
    pub const INFORMATION: &str = "bits per byte in a sample";
    /// How many of the other blocks were the same as one looked at before: `12 of 60`.
    pub const REPEATS: &str = "repeats in a sample";
    /// A key of [`PathPart::facts`](crate::PathPart::facts): the memory of a part that may hold data, as `Bytes` prints
    /// it exactly.
    pub const CACHE: &str = "cache";
    /// What a model was fitted to and answers for, where it was fitted: `rates and mean response times`. Of such a model
    /// no percentile is given.
    pub const FITTED: &str = "fitted to";
    /// Of a virtual array: each figure of its files as simulated, `link.rate = 4000MB/s; drive: rpm = 15000`.
    pub const DESCRIPTION: &str = "description";
    /// Of a virtual array that does not pass flushes on to its drives: what each of these may hold of acknowledged writes in memory that
    /// a loss of power takes, as `Bytes` prints it exactly; absent where that is nothing.
    pub const VOLATILE_BEHIND_FLUSH: &str = "volatile behind a flush";
    /// Of a virtual array whose sets have members of several sizes: what is left over of the larger ones, in words; absent where nothing
    /// is.
    pub const UNUSED: &str = "unused of its disks";
    /// Where the storage is if not in this machine, in words: `nfs4 from server:/export`.
    pub const REMOTE: &str = "remote";

    /// A key of [`Environment::facts`](crate::Environment::facts): the hypervisor this machine runs under, as
    /// `kvm`; absent on real hardware.
    pub const HYPERVISOR: &str = "hypervisor";
    /// A key of [`Environment::facts`](crate::Environment::facts): what the control groups of the program may move to
    /// each device a second, as `io.max` writes it with the device by its name (`sda rbps=1048576 wiops=max`), apart by
    /// `; `; absent where nothing is limited.
    pub const IO_MAX: &str = "io limits of the control group";
    /// A key of [`Environment::facts`](crate::Environment::facts): the processor time that the control group of the program
    /// may use (`0.5 CPUs in each period of 100 ms`); absent where it has no quota.
    pub const CPU_QUOTA: &str = "cpu quota of the control group";
}

/// Names of [`Series`](crate::Series). What is sampled beside the load has dotted names: what, which, how.
pub mod series {
    /// How the name of a workload's rate ends, after the operation: `read ops`, in `per_s`.
    pub const OPS: &str = " ops";
    /// How the name of the 99th percentile of each stretch ends, after the operation: `read response p99`, in `ns`.
    pub const RESPONSE_P99: &str = " response p99";
    /// How the name of an array's own work ends, after the work: `rebuild done`, in `share`: the part that is done.
    pub const DONE: &str = " done";
    /// How the name of a series of a virtual array's part begins, before the part as its breakdown calls it:
    /// `part.disk 3.busy`.
    pub const PART: &str = "part.";
    /// How the name of the part of each stretch in which a device or part served ends, in `share`, after a dot.
    pub const BUSY: &str = "busy";
    /// The part of the time of all processors of the machine in which they had nothing to do, in `share`.
    pub const CPU_IDLE: &str = "cpu.idle";
    /// The part in which they had nothing to do but to wait for storage, in `share`.
    pub const CPU_IOWAIT: &str = "cpu.iowait";
    /// The part that the hypervisor gave to others, in `share`.
    pub const CPU_STEAL: &str = "cpu.steal";
    /// The clock of the processors on average, in `hz`.
    pub const CPU_FREQUENCY: &str = "cpu.frequency.mean";
    /// How often processors were slowed down because of heat or power since the sample before, in `events`.
    pub const CPU_THROTTLED: &str = "cpu.throttled";
    /// The part of the periods of a control group's quota in which it was used up, in `share`.
    pub const CPU_QUOTA_THROTTLED: &str = "cpu.quota_throttled";
    /// How the series of a thread that issues requests begin: `thread.worker 3.waiting`.
    pub const THREAD_OF_WORKER: &str = "thread.worker ";
    /// The share of one processor that a thread had.
    pub const RAN: &str = ".cpu";
    /// The share of the time that a thread wanted a processor and waited for it.
    pub const WAITING: &str = ".waiting";
    /// Memory that waits to be written to storage, in `bytes`.
    pub const MEMORY_DIRTY: &str = "memory.dirty";
    /// What the page cache holds of the files and devices of the point, in `bytes`: before the load and after it.
    pub const MEMORY_FILES: &str = "memory.files";
    /// Memory that is being written to storage, in `bytes`.
    pub const MEMORY_WRITEBACK: &str = "memory.writeback";
}

/// What [`Trial::change`](crate::Trial::change) says of what lets more requests through; otherwise it names a part.
pub mod trial {
    /// Twice the queue depth.
    pub const DEPTH: &str = "depth";
    /// Twice as many requests that reach each LUN.
    pub const LUN_QUEUE: &str = "LUN queue";
    /// Both.
    pub const DEPTH_AND_LUN_QUEUE: &str = "depth and LUN queue";
    /// Between the names of parts that were made faster together.
    pub const AND: &str = " and ";
    /// The controllers' write-back cache switched on.
    pub const WRITE_BACK: &str = "write-back cache";
    /// Requests and LUNs that begin where stripes begin.
    pub const ALIGNED: &str = "alignment";
    /// Without the work that the array does beside the load.
    pub const NO_WORK: &str = "background work";
    /// Without the write-intent bitmap of the sets.
    pub const NO_BITMAP: &str = "write-intent bitmap";
    /// No disk has failed.
    pub const HEALTHY: &str = "failed disk";
    /// Chunks that requests fit into.
    pub const CHUNK: &str = "chunk";
    /// Sequential reads are read ahead.
    pub const READ_AHEAD: &str = "read-ahead";
    /// Flash drives with more room than their capacity.
    pub const SPARE_ROOM: &str = "spare room";
    /// A cache that survives a loss of power, so that what is synced need not wait for the disks.
    pub const PROTECTED: &str = "protected cache";
    /// A cache that writes out more parts of stripes at once.
    pub const PARTIAL_WINDOW: &str = "partial window";
    /// Two copies instead of parity.
    pub const MIRRORS: &str = "mirrors";
    /// Disks that are slower than the others of their set are of the others' model.
    pub const ALIKE: &str = "slow disk";
    /// A cache that a controller alone cannot mirror takes writes without a mirror.
    pub const UNMIRRORED: &str = "cache mirror";
    /// The cache of one-bit cells in flash drives is never full.
    pub const SLC: &str = "SLC cache";
    /// Flash drives map pieces as small as a write.
    pub const MAPPING: &str = "mapping unit";
    /// Hosts send requests whole.
    pub const TRANSFER: &str = "max transfer";
    /// Chunks so small that what a stream has under way lies on all disks.
    pub const SMALL_CHUNK: &str = "smaller chunk";
    /// Drives that choose among the commands that wait.
    pub const QUEUEING: &str = "command queueing";
    /// Drives that read on behind what was requested.
    pub const DRIVE_READ_AHEAD: &str = "drive read-ahead";
    /// Drives that acknowledge writes once these are in their own buffers.
    pub const DRIVE_CACHE: &str = "drive write cache";
    /// What is put right rather than made faster or more.
    pub const SETTINGS: [&str; 20] = [
        WRITE_BACK,
        ALIGNED,
        NO_WORK,
        NO_BITMAP,
        HEALTHY,
        CHUNK,
        READ_AHEAD,
        SPARE_ROOM,
        PROTECTED,
        PARTIAL_WINDOW,
        MIRRORS,
        ALIKE,
        UNMIRRORED,
        SLC,
        MAPPING,
        TRANSFER,
        SMALL_CHUNK,
        QUEUEING,
        DRIVE_READ_AHEAD,
        DRIVE_CACHE,
    ];
}

/// What [`Rung::cause`](crate::Rung::cause) says.
pub mod search {
    /// The load generator, not the storage, was late.
    pub const GENERATOR: &str = "load generator saturated";
}

/// What [`Ceiling::what`](crate::Ceiling::what) says.
pub mod ceiling {
    /// Bytes a second.
    pub const BANDWIDTH: &str = "bandwidth";
    /// Requests a second.
    pub const REQUESTS: &str = "requests";
    /// Requests a second while only one is in flight.
    pub const ONE_AT_A_TIME: &str = "requests one at a time";
    /// Requests in flight.
    pub const IN_FLIGHT: &str = "in flight";
    /// Bytes of one request; larger ones are split.
    pub const REQUEST_SIZE: &str = "request size";
}
