//! Where every directory and file of a tree is, by arithmetic alone.
//!
//! Directories are numbered level by level from the top, which is 0: the children of `k` are `k·b + 1` to
//! `k·b + b`. Each worker's files are spread evenly over the directories that hold files, one directory full before
//! the next begins.

use std::fmt::Write;

use units::convert::narrow;

use super::{FilesIn, Tree};
use crate::address::RegionShare;

/// The most directories that a workload may have, all workers together.
pub const MOST_NODES: u64 = 1 << 20;

/// Where every directory and file of a tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    levels: u32,
    fanout: u64,
    nodes: u64,
    /// The first directory that holds files.
    first_holder: u64,
    unique_dirs: bool,
    workers: u32,
    count: u64,
}

/// A name that stands beside a file's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// The file's own name.
    Own,
    /// What it is called once it was renamed; the next time it has its own name again.
    Renamed,
    /// A hard link to it.
    Link,
    /// A symbolic link to it.
    Symlink,
}

impl Shape {
    /// The shape of `tree` with so many workers; `None` where it has more directories than [`MOST_NODES`].
    pub fn of(tree: &Tree, workers: u32) -> Option<Shape> {
        let fanout = u64::from(tree.fanout.max(1));
        let (mut nodes, mut leaves) = (1u64, 1u64);
        for _ in 0..tree.levels {
            leaves = leaves.checked_mul(fanout)?;
            nodes = nodes.checked_add(leaves).filter(|nodes| *nodes <= MOST_NODES)?;
        }
        let tops = if tree.unique_dirs { u64::from(workers) } else { 1 };
        nodes.checked_mul(tops).filter(|all| *all <= MOST_NODES)?;
        let first_holder = match tree.files_in {
            FilesIn::Leaves => nodes - leaves,
            FilesIn::All => 0,
        };
        let (levels, unique_dirs, count) = (tree.levels, tree.unique_dirs, tree.count);
        debug_assert!(first_holder < nodes, "some directory holds the files");
        Some(Shape { levels, fanout, nodes, first_holder, unique_dirs, workers: workers.max(1), count })
    }

    /// Directories of one tree, its top among them.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Workers that have shares of it.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Trees: one, or one for each worker.
    pub fn trees(&self) -> u32 {
        if self.unique_dirs { self.workers } else { 1 }
    }

    /// The tree that `worker` works in.
    pub fn tree_of(&self, worker: u32) -> u32 {
        if self.unique_dirs { worker } else { 0 }
    }

    /// How many files `worker` has; the first workers have one more where it does not divide.
    pub fn files_of(&self, worker: u32) -> u64 {
        RegionShare { index: worker, of: self.workers }.share_of(self.count)
    }

    /// The directory that holds file `index` of `worker`.
    pub fn node_of(&self, worker: u32, index: u64) -> u32 {
        debug_assert!(index < self.files_of(worker).max(1), "worker {worker} has no file {index}");
        let holders = u128::from(self.nodes - self.first_holder);
        let files = u128::from(self.files_of(worker).max(1));
        let node = self.first_holder + narrow::<u64>(u128::from(index) * holders / files);
        debug_assert!(node < self.nodes, "a tree of {} directories has no {node}", self.nodes);
        narrow::<u32>(node)
    }

    /// The directory above `node`; `None` above the top.
    pub fn parent(&self, node: u32) -> Option<u32> {
        debug_assert!(u64::from(node) < self.nodes, "a tree of {} directories has no {node}", self.nodes);
        (node > 0).then(|| narrow::<u32>((u64::from(node) - 1) / self.fanout))
    }

    /// Whether `node` holds files.
    pub fn holds_files(&self, node: u32) -> bool {
        u64::from(node) >= self.first_holder
    }

    /// The directories that `worker` makes, reads and removes, parents before children.
    ///
    /// In a tree of its own all of them; in a shared tree those below every so-many-th directory of the first level,
    /// so that no worker waits for another's parent. `with_top` adds the top, for the first worker of a shared tree.
    pub fn nodes_of(&self, worker: u32, with_top: bool) -> Vec<u32> {
        let mine = |node: &u32| {
            let first = self.first_level(*node);
            match first {
                None => with_top && (self.unique_dirs || worker == 0),
                Some(_) if self.unique_dirs => true,
                Some(first) => (first - 1) % self.workers == worker,
            }
        };
        (0..narrow::<u32>(self.nodes)).filter(mine).collect()
    }

    /// The directory of the first level that `node` is or lies below.
    fn first_level(&self, node: u32) -> Option<u32> {
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            if parent == 0 {
                return Some(at);
            }
            at = parent;
        }
        None
    }

    /// The path of a directory below the top of the trees, without a slash at either end; empty for a shared top.
    pub fn node_path(&self, worker: u32, node: u32) -> String {
        let mut path = String::new();
        self.write_node(worker, node, &mut path);
        path
    }

    fn write_node(&self, worker: u32, node: u32, path: &mut String) {
        if self.unique_dirs {
            write!(path, "w{worker}").expect("a string takes everything");
        }
        let mut ways = Vec::with_capacity(self.levels as usize);
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            ways.push(at);
            at = parent;
        }
        for way in ways.into_iter().rev() {
            let slash = if path.is_empty() { "" } else { "/" };
            write!(path, "{slash}d{way}").expect("a string takes everything");
        }
    }

    /// The name of file `index` of `worker` in its directory, written over what `name` held.
    pub fn file_name(&self, worker: u32, index: u64, extra: Extra, name: &mut String) {
        name.clear();
        let suffix = match extra {
            Extra::Own => "",
            Extra::Renamed => "r",
            Extra::Link => ".link",
            Extra::Symlink => ".sym",
        };
        write!(name, "f{worker:03}-{index:07}{suffix}").expect("a string takes everything");
    }

    /// The path of file `index` of `worker`, for messages.
    pub fn file_path(&self, worker: u32, index: u64) -> String {
        let (mut path, mut name) = (self.node_path(worker, self.node_of(worker, index)), String::new());
        self.file_name(worker, index, Extra::Own, &mut name);
        if !path.is_empty() {
            path.push('/');
        }
        path + &name
    }
}
