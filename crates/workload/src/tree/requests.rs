//! Requests for files and directories: which comes next in the walk over one worker's share of a tree.
//!
//! One request is in flight at a time: a worker is a thread that makes one system call after the other, and more of
//! them is what `workers` is for.
//!
//! **Invariant:** each file or directory is visited once before any comes again.

use units::convert::narrow;
use units::{Bytes, Nanos};

use super::sizes::DrawnSizes;
use super::{FileOp, FileSizes, Fsync, Order, Shape};
use crate::job::{JobOptions, Next, RequestSource};
use crate::seam::IoRequest;
use crate::tally::{Action, Class};
use crate::{Job, Permutation, Streams, Token};

/// One worker's share of a tree.
pub type TreeJob = Job<TreeRequests>;

/// A tree workload compiled for one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeJobSpec {
    /// Seeds orders and sizes.
    pub seed: u64,
    /// Which of the workload's workers this is.
    pub worker: u32,
    /// What is done.
    pub op: FileOp,
    /// Where everything is.
    pub shape: Shape,
    /// How large files are.
    pub sizes: FileSizes,
    /// In which order they are visited.
    pub order: Order,
    /// When changes are made durable.
    pub fsync: Fsync,
    /// Load before the measured window; zero for what cannot be done twice.
    pub warmup: Nanos,
    /// The measured window; `None`: until `visits` are done.
    pub run: Option<Nanos>,
    /// Visits of this worker; `None` goes on until `run` is over.
    pub visits: Option<u64>,
}

/// One request, ready to be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRequest {
    /// The slot, returned with the completion.
    pub token: Token,
    /// What to do.
    pub op: FileOp,
    /// The file's number among the worker's own; zero where a directory is meant.
    pub file: u64,
    /// The directory, or the one that holds the file.
    pub node: u32,
    /// Bytes of content that cross; zero where none do.
    pub size: u32,
    /// Whether it must be durable before it has ended.
    pub durable: bool,
}

impl IoRequest for TreeRequest {
    fn token(&self) -> Token {
        self.token
    }

    fn in_slot(self, token: Token) -> TreeRequest {
        TreeRequest { token, ..self }
    }

    fn action(&self) -> Action {
        Action::File(self.op)
    }

    fn bytes(&self) -> u32 {
        self.size
    }

    fn file(&self) -> u64 {
        if self.op.is_of_directories() { self.node.into() } else { self.file }
    }

    fn offset(&self) -> Bytes {
        Bytes::ZERO
    }

    fn fold(&self, digest: u64) -> u64 {
        let what = (u64::from(self.node) << 32) | (u64::from(self.size) << 1) | u64::from(self.durable);
        let mixed =
            (self.file ^ what.rotate_left(23) ^ ((self.op as u64) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (digest.rotate_left(29) ^ mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}

/// Walks over one worker's share of a tree.
#[derive(Debug)]
pub struct TreeRequests {
    op: FileOp,
    worker: u32,
    shape: Shape,
    sizes: DrawnSizes,
    order: Option<Permutation>,
    /// Directories in the order in which they are visited, where directories are.
    nodes: Vec<u32>,
    items: u64,
    next: u64,
    /// Whether each change is made durable.
    durable: bool,
    sync_due: bool,
    /// The class of the sync at the end.
    sync_class: u16,
}

impl RequestSource for TreeRequests {
    type Spec = TreeJobSpec;
    type Request = TreeRequest;

    fn new(spec: &TreeJobSpec) -> (TreeRequests, JobOptions) {
        let (streams, op) = (Streams::new(spec.seed), spec.op);
        let nodes = nodes(spec);
        let of_directories = op.is_of_directories();
        let items = if of_directories { nodes.len() as u64 } else { spec.shape.files_of(spec.worker) };
        let is_drawn = spec.order == Order::Random && !matches!(op, FileOp::Mkdir | FileOp::Rmdir);
        let key = streams.key(&format!("tree/order/{}/{}", op.name(), spec.worker));
        let most = if op.repeats() { u64::MAX } else { items };
        let ops = if items == 0 { 0 } else { spec.visits.unwrap_or(u64::MAX).min(most) };
        let classes = classes(spec);
        let source = TreeRequests {
            op,
            worker: spec.worker,
            shape: spec.shape.clone(),
            sizes: DrawnSizes::new(spec.sizes.clone(), streams, spec.worker),
            order: (is_drawn && items > 0).then(|| Permutation::new(items, key)),
            nodes,
            items,
            next: 0,
            durable: spec.fsync == Fsync::Each && op.changes(),
            sync_due: spec.fsync == Fsync::End,
            sync_class: narrow::<u16>(classes.len() - 1),
        };
        let (warmup, run) = (spec.warmup, spec.run);
        (source, JobOptions { ops: Some(ops), warmup, run, ..JobOptions::closed(1, classes) })
    }

    fn next(&mut self) -> Next<TreeRequest> {
        let turn = self.next;
        debug_assert!(turn < self.items, "a name that is no item of this worker's");
        self.next = if turn + 1 == self.items { 0 } else { turn + 1 };
        let item = self.order.as_ref().map_or(turn, |order| order.at(turn));
        let TreeRequests { op, durable, .. } = *self;
        let (file, node, (size, class)) = match () {
            () if op.is_of_directories() => (0, self.nodes[narrow::<usize>(item)], (Bytes::ZERO, 0)),
            () if op.moves_content() => (item, self.shape.node_of(self.worker, item), self.sizes.of(item)),
            () => (item, self.shape.node_of(self.worker, item), (Bytes::ZERO, 0)),
        };
        let size = u32::try_from(size.get()).expect("files of a tree are at most 1 GiB");
        let request = TreeRequest { token: Token(0), op, file, node, size, durable };
        Next { request, class: narrow::<u16>(class), pause: Nanos::ZERO }
    }

    fn flush(&self) -> (TreeRequest, u16) {
        let sync =
            TreeRequest { token: Token(0), op: FileOp::Sync, file: 0, node: 0, size: 0, durable: true };
        (sync, self.sync_class)
    }

    fn last_flush(&mut self) -> Option<(TreeRequest, u16)> {
        std::mem::take(&mut self.sync_due).then(|| self.flush())
    }
}

/// The directories that the job visits, parents first, or last where they are removed.
fn nodes(spec: &TreeJobSpec) -> Vec<u32> {
    if !spec.op.is_of_directories() {
        return Vec::new();
    }
    let mut nodes = spec.shape.nodes_of(spec.worker, spec.op == FileOp::Readdir);
    if spec.op == FileOp::Rmdir {
        nodes.reverse();
    }
    nodes
}

/// The classes in the order of the sizes told apart, and last that of the sync at the end.
fn classes(spec: &TreeJobSpec) -> Vec<(Class, bool)> {
    let op = Action::File(spec.op);
    let sizes = if spec.op.moves_content() { spec.sizes.told_apart() } else { vec![Bytes::ZERO] };
    let mut classes: Vec<(Class, bool)> = sizes.into_iter().map(|size| (Class { op, size }, true)).collect();
    if spec.fsync == Fsync::End {
        classes.push((Class { op: Action::File(FileOp::Sync), size: Bytes::ZERO }, true));
    }
    classes
}
