//! Where names, attributes and content lie on the volume: block groups, one directory's things near each other.
//!
//! Directories are spread over the groups and files lie in the group of their directory, as the Orlov allocator of
//! ext4 has it. Source: Linux, `Documentation/filesystems/ext4/allocators.rst`; mke2fs(8) for the sizes.

use units::Bytes;
use units::convert::narrow;
use workload::tree::{FileOp, Shape, TreeRequest};

/// The unit in which the file system reads and writes.
pub const BLOCK: u64 = 4096;
/// A block group: as many blocks as one block of bitmap has bits.
const GROUP: u64 = BLOCK * 8 * BLOCK;
/// The journal. Source: mke2fs(8), for volumes of 128 GiB and more it is 1 GiB, for smaller ones at least 64 MiB.
pub const JOURNAL: u64 = 128 << 20;
/// Inodes of 256 bytes in a block.
const INODES: u64 = 16;
/// Names in a block of a directory: 8 bytes and about 20 of name each, blocks three quarters full.
const NAMES: u64 = 100;
/// Blocks of a group before those of content: bitmaps, inode table, directories.
const FIXED: u64 = 1024 * BLOCK;

/// Where the things of one tree lie on a volume.
#[derive(Clone, Debug)]
pub struct Places {
    shape: Shape,
    workers: u64,
    /// Directories of a tree that hold files.
    holders: u64,
    groups: u64,
    group: u64,
    /// Room for the largest file, rounded up to blocks.
    slot: u64,
}

impl Places {
    /// Of a tree of `shape` with files of at most `largest`, on a volume of `capacity`.
    pub fn new(shape: &Shape, workers: u32, largest: Bytes, capacity: Bytes) -> Places {
        let rest = capacity.get().saturating_sub(JOURNAL).max(GROUP);
        let slot = largest.get().div_ceil(BLOCK).max(1) * BLOCK;
        // A volume smaller than a group is one group.
        let (groups, group) = ((rest / GROUP).max(1), GROUP.min(rest));
        let nodes = 0..narrow::<u32>(shape.nodes());
        let holders = nodes.filter(|node| shape.holds_files(*node)).count() as u64;
        Places { shape: shape.clone(), workers: workers.into(), holders, groups, group, slot }
    }

    /// Where the group of a directory begins. The journal comes before all of them.
    fn group_of(&self, worker: u32, node: u32) -> u64 {
        let tree = u64::from(self.shape.tree_of(worker));
        let all = self.shape.nodes() * u64::from(self.shape.trees());
        let number = tree * self.shape.nodes() + u64::from(node);
        JOURNAL + number * self.groups / all.max(1) * self.group
    }

    /// The number of a file among all of the tree.
    pub fn number(&self, worker: u32, file: u64) -> u64 {
        file * self.workers + u64::from(worker)
    }

    /// The block of a file's attributes.
    pub fn inode(&self, worker: u32, request: &TreeRequest) -> u64 {
        let number = self.number(worker, request.file) / INODES;
        self.group_of(worker, request.node) + (4 + number % 512) * BLOCK
    }

    /// Where a file's content begins.
    pub fn content(&self, worker: u32, request: &TreeRequest) -> u64 {
        let room = self.group.saturating_sub(FIXED).max(self.slot) / self.slot;
        let at = self.number(worker, request.file) % room;
        self.group_of(worker, request.node)
            + FIXED.min(self.group - self.slot.min(self.group))
            + at * self.slot
    }

    /// The blocks that a request changes besides content.
    pub fn changed(&self, worker: u32, request: &TreeRequest) -> Vec<u64> {
        let group = self.group_of(worker, request.node);
        // The hash of its name puts an entry into any block of its directory.
        let held = self.files_in(worker).div_ceil(NAMES).max(1);
        let hash = self.number(worker, request.file).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let entry = group + (600 + hash % held % 400) * BLOCK;
        let (bitmaps, inode) = ([group, group + BLOCK], self.inode(worker, request));
        match request.op {
            FileOp::Create | FileOp::Mknod | FileOp::Delete | FileOp::Symlink => {
                vec![bitmaps[0], bitmaps[1], inode, entry]
            }
            FileOp::Mkdir | FileOp::Rmdir => vec![bitmaps[0], bitmaps[1], group + 2 * BLOCK, entry],
            FileOp::Link | FileOp::Rename | FileOp::Renamedir => vec![inode, entry],
            FileOp::Write => vec![inode],
            _ => Vec::new(),
        }
    }

    /// Names in each directory that holds files.
    pub fn files_in(&self, worker: u32) -> u64 {
        let sharers = if self.shape.trees() > 1 { 1 } else { self.workers };
        self.shape.files_of(worker) * sharers / self.holders.max(1)
    }
}
