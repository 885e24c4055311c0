//! The figures of a host's file system: what each thing done to a file costs the processor, and when what was changed
//! reaches the storage.
//!
//! The model is a journalling file system with delayed allocation, as ext4 is. Processor times are medians of
//! `fathom run` with the plans `files` and `mdtest` on ext4 (Linux 6.18, one CPU of a virtual server of 2025), where
//! everything was in memory.

use units::{Bytes, BytesPerSecond, Nanos, Share};

/// The figures of a host's file system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilesParams {
    /// Processor time to find a name and its attributes in memory. Measured: 1.7 µs for `stat`.
    pub stat: Nanos,
    /// To open a file and close it. Measured: 3.4 µs.
    pub open: Nanos,
    /// To make a name: a file, a directory or a link. Measured: 12 µs to 15 µs for an empty file.
    pub create: Nanos,
    /// To give a file another name. Measured: 15 µs.
    pub rename: Nanos,
    /// To remove a name. Measured: 6 µs to 14 µs, the larger files the longer.
    pub remove: Nanos,
    /// To read one name of a directory. Measured: 323 µs for 1000 of them.
    pub entry: Nanos,
    /// A copy between cache and user. Measured: files of 8.5 KiB are read in 3.4 µs more than it takes to open them.
    pub copy: BytesPerSecond,
    /// From the first change to the commit of the journal, unless a flush comes before.
    /// Source: ext4(5), `commit`: 5 s.
    pub commit: Nanos,
    /// From a change of content to its being written back.
    /// Source: Linux, `Documentation/admin-guide/sysctl/vm.rst`, `dirty_expire_centisecs`: 30 s.
    pub expire: Nanos,
    /// Memory for names, attributes and content.
    pub memory: Bytes,
    /// Memory that one name with its attributes takes. Source: sizes of `ext4_inode_cache` and `dentry` in
    /// /proc/slabinfo, about 1.1 KiB and 192 B.
    pub name: Bytes,
    /// Share of the memory with unwritten content at which it is written back before its time.
    /// Source: as `expire`, `dirty_background_ratio`: 10 %.
    pub dirty_background: Share,
    /// Share at which writers wait. Source: likewise, `dirty_ratio`: 20 %.
    pub dirty_limit: Share,
}

impl Default for FilesParams {
    /// ext4 on a server with 16 GiB of memory.
    fn default() -> FilesParams {
        let share = |part| Share::new(part).expect("a share");
        FilesParams {
            stat: Nanos::new(1_700),
            open: Nanos::new(3_400),
            create: Nanos::from_micros(12),
            rename: Nanos::from_micros(15),
            remove: Nanos::from_micros(8),
            entry: Nanos::new(300),
            copy: BytesPerSecond::new(2.5e9),
            commit: Nanos::from_secs(5),
            expire: Nanos::from_secs(30),
            memory: Bytes::GIB * 16,
            name: Bytes::new(1_300),
            dirty_background: share(0.1),
            dirty_limit: share(0.2),
        }
    }
}
