//! Requests for files and directories: which comes next in the walk over one worker's share of a tree.
//!
//! One request is in flight at a time: a worker is a thread that makes one system call after the other, and more of
//! them is what `workers` is for.
//!
//! **Invariant:** each file or directory is visited once before any comes again.

use units::convert::narrow;
use units::{Bytes, Instant, Nanos};

use super::sizes::DrawnSizes;
use super::{FileOp, FileSizes, Fsync, Order, Shape, Visitors};
use crate::job::{JobOptions, Next, RequestSource};
use crate::seam::IoRequest;
use crate::tally::{Action, Class};
use crate::{Job, Logged, Op, Permutation, Streams, Token};

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
    /// Whose share this worker visits.
    pub visitors: Visitors,
    /// In which order they are visited.
    pub order: Order,
    /// When changes are made durable.
    pub fsync: Fsync,
    /// Load before the measured window; zero for what cannot be done twice.
    pub warmup: Nanos,
    /// The measured window; `None`: until `visits` are done.
    pub run: Option<Nanos>,
    /// In its place, when the worker tells how many names it has visited and goes on to the most of all.
    pub wall: Option<Nanos>,
    /// Visits of this worker; `None` goes on until `run` is over.
    pub visits: Option<u64>,
    /// How many files of each share are there, where what made them ended before all were.
    pub each: Option<u64>,
}

/// One request, ready to be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRequest {
    /// The slot, returned with the completion.
    pub token: Token,
    /// What to do.
    pub op: FileOp,
    /// The worker in whose share it is.
    pub owner: u32,
    /// The file's number in that share; where a directory is meant that whose name it gets, itself to be put aside, or zero.
    pub file: u64,
    /// The directory, or the one that holds the file.
    pub node: u32,
    /// Bytes of content that cross; zero where none do.
    pub size: u32,
    /// Whether it must be durable before it has ended.
    pub durable: bool,
}

/// Bits of a number below those of the owner.
const OWN_BITS: u32 = 40;

impl TreeRequest {
    /// The number by which a file, or directory, of a share is told of.
    pub const fn number(owner: u32, own: u64) -> u64 {
        debug_assert!(own >> OWN_BITS == 0, "no share has so many");
        (owner as u64) << OWN_BITS | own
    }

    /// The share, and the number in it, of what is told of by `number`.
    pub const fn numbered(number: u64) -> (u32, u64) {
        ((number >> OWN_BITS) as u32, number & ((1 << OWN_BITS) - 1))
    }
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
        TreeRequest::number(
            self.owner,
            if self.op.is_of_directories() { self.node.into() } else { self.file },
        )
    }

    fn offset(&self) -> Bytes {
        Bytes::ZERO
    }

    fn logged(&self, issued: Instant, worker: u32) -> Logged {
        let op = match self.op {
            FileOp::Sync => Op::Flush,
            op if op.changes() => Op::Write,
            _ => Op::Read,
        };
        let (finished, offset) = (Instant::NEVER, Bytes::ZERO);
        Logged { issued, finished, offset, len: self.size, file: 0, op, worker }
    }

    fn fold(&self, digest: u64) -> u64 {
        let what = (u64::from(self.node) << 32) | (u64::from(self.size) << 1) | u64::from(self.durable);
        let what = what ^ u64::from(self.owner).rotate_right(16);
        let mixed =
            (self.file ^ what.rotate_left(23) ^ ((self.op as u64) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (digest.rotate_left(29) ^ mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}

/// Walks over one worker's share of a tree, or over those of others.
#[derive(Debug)]
pub struct TreeRequests {
    op: FileOp,
    shape: Shape,
    /// The shares that it visits, one after the other.
    shares: Vec<OfOwner>,
    order: Option<Permutation>,
    /// Directories in the order in which they are visited, each with its share, where directories are.
    nodes: Vec<(u32, u32)>,
    items: u64,
    next: u64,
    /// Whether each change is made durable.
    durable: bool,
    sync_due: bool,
    /// The class of the sync at the end.
    sync_class: u16,
}

/// The files of one worker's share.
#[derive(Debug)]
struct OfOwner {
    owner: u32,
    /// How many items come before its first.
    before: u64,
    sizes: DrawnSizes,
}

impl TreeJobSpec {
    /// The same where only so many files of each share are there: once through is once through these.
    pub fn of_each(self, each: Option<u64>) -> TreeJobSpec {
        let once = self.visits == Some(self.items());
        let spec = TreeJobSpec { each, ..self };
        let visits = if once { Some(spec.items()) } else { spec.visits };
        TreeJobSpec { visits, ..spec }
    }

    /// The files of a share that are there, or are to be made.
    fn files_of(&self, owner: u32) -> u64 {
        self.shape.files_of(owner).min(self.each.unwrap_or(u64::MAX))
    }

    /// Files or directories that the worker visits once.
    pub fn items(&self) -> u64 {
        let owners = self.visitors.owners(self.worker, self.shape.workers());
        let of = |owner: u32| match self.op.is_of_directories() {
            true => self.shape.nodes_of(owner, self.op == FileOp::Readdir).len() as u64,
            false => self.files_of(owner),
        };
        match owners.map(of).sum() {
            // The only one of all has its name already.
            1 if self.op == FileOp::Renamedir => 0,
            items => items,
        }
    }
}

impl RequestSource for TreeRequests {
    type Spec = TreeJobSpec;
    type Request = TreeRequest;

    fn new(spec: &TreeJobSpec) -> (TreeRequests, JobOptions) {
        let (streams, op) = (Streams::new(spec.seed), spec.op);
        let items = spec.items();
        let in_turn = matches!(op, FileOp::Mkdir | FileOp::Rmdir | FileOp::Renamedir);
        let is_drawn = spec.order == Order::Random && !in_turn;
        let key = streams.key(&format!("tree/order/{}/{}", op.name(), spec.worker));
        let most = if op.repeats() { u64::MAX } else { items };
        let ops = if items == 0 { 0 } else { spec.visits.unwrap_or(u64::MAX).min(most) };
        let classes = classes(spec);
        let source = TreeRequests {
            op,
            shape: spec.shape.clone(),
            shares: shares(spec),
            order: (is_drawn && items > 0).then(|| Permutation::new(items, key)),
            nodes: nodes(spec),
            items,
            next: 0,
            durable: spec.fsync == Fsync::Each && op.changes(),
            sync_due: spec.fsync == Fsync::End,
            sync_class: narrow::<u16>(classes.len() - 1),
        };
        let (warmup, run, wall) = (spec.warmup, spec.run, spec.wall);
        (source, JobOptions { ops: Some(ops), warmup, run, wall, ..JobOptions::closed(1, classes) })
    }

    fn next(&mut self) -> Next<TreeRequest> {
        let turn = self.next;
        debug_assert!(turn < self.items, "a name that is no item of this worker's");
        self.next = if turn + 1 == self.items { 0 } else { turn + 1 };
        let item = self.order.as_ref().map_or(turn, |order| order.at(turn));
        let op = self.op;
        let (owner, file, node, (size, class)) = match op.is_of_directories() {
            true => self.directory(narrow::<usize>(item)),
            false => self.file(item),
        };
        let size = u32::try_from(size.get()).expect("files of a tree are at most 1 GiB");
        let durable = self.durable;
        let request = TreeRequest { token: Token(0), op, owner, file, node, size, durable };
        Next { request, class: narrow::<u16>(class), pause: Nanos::ZERO }
    }

    fn flush(&self) -> (TreeRequest, u16) {
        let sync = TreeRequest {
            token: Token(0),
            op: FileOp::Sync,
            owner: 0,
            file: 0,
            node: 0,
            size: 0,
            durable: true,
        };
        (sync, self.sync_class)
    }

    fn last_flush(&mut self) -> Option<(TreeRequest, u16)> {
        std::mem::take(&mut self.sync_due).then(|| self.flush())
    }
}

impl TreeRequests {
    /// The share, number and directory of a file that is visited, its size where that moves, and its class.
    fn file(&self, item: u64) -> (u32, u64, u32, (Bytes, usize)) {
        let share = &self.shares[self.shares.partition_point(|share| share.before <= item) - 1];
        let (owner, file) = (share.owner, item - share.before);
        let size = if self.op.moves_content() { share.sizes.of(file) } else { (Bytes::ZERO, 0) };
        (owner, file, self.shape.node_of(owner, file), size)
    }

    /// The same of a directory. One that is renamed gets the name of the one before it: the first is put aside, and in the end
    /// gets that of the last.
    fn directory(&self, item: usize) -> (u32, u64, u32, (Bytes, usize)) {
        let (owner, node) = self.nodes[item];
        let none = (Bytes::ZERO, 0);
        if self.op != FileOp::Renamedir {
            return (owner, 0, node, none);
        }
        let before = self.nodes[item.saturating_sub(1)].1;
        let node = if item + 1 == self.nodes.len() { self.nodes[0].1 } else { node };
        (owner, before.into(), node, none)
    }
}

/// The shares that the job visits, where files are.
fn shares(spec: &TreeJobSpec) -> Vec<OfOwner> {
    let mut before = 0;
    let owners = spec.visitors.owners(spec.worker, spec.shape.workers());
    let with = |owner: u32| {
        let sizes = DrawnSizes::new(spec.sizes.clone(), Streams::new(spec.seed), owner);
        let share = OfOwner { owner, before, sizes };
        before += spec.files_of(owner);
        share
    };
    owners.map(with).collect()
}

/// The directories that the job visits, parents first, or last where they are removed.
fn nodes(spec: &TreeJobSpec) -> Vec<(u32, u32)> {
    if !spec.op.is_of_directories() {
        return Vec::new();
    }
    let owners = spec.visitors.owners(spec.worker, spec.shape.workers());
    let of = |owner: u32| {
        let nodes = spec.shape.nodes_of(owner, spec.op == FileOp::Readdir);
        nodes.into_iter().map(move |node| (owner, node))
    };
    let mut nodes: Vec<(u32, u32)> = owners.flat_map(of).collect();
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
