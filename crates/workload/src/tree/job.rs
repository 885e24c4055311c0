//! The tree job: one worker's share of a tree, as a state machine.
//!
//! One request is in flight at a time: a worker is a thread that makes one system call after the other, and more of
//! them is what `workers` is for.
//!
//! **Invariants:** each file or directory is visited once before any comes again; planned equals settled plus in
//! flight.

use units::convert::narrow;
use units::{Bytes, Instant, Nanos};

use super::books::Books;
use super::sizes::DrawnSizes;
use super::{FileOp, FileSizes, Fsync, Order, Shape};
use crate::tally::{Action, Class, ErrorSample, Failure, Interval, Tally};
use crate::{Completion, ERRORS_MAX, Permutation, Progress, Streams, Token, Wake};

/// Failed requests that are kept with their file and error number.
const ERROR_SAMPLES_MAX: usize = 16;

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

/// One worker's share of a tree.
#[derive(Debug)]
pub struct TreeJob {
    spec: TreeJobSpec,
    sizes: DrawnSizes,
    order: Option<Permutation>,
    /// Directories in the order in which they are visited, where directories are.
    nodes: Vec<u32>,
    items: u64,
    visits_left: u64,
    next: u64,
    sync_due: bool,
    books: Books,
    in_flight: Option<(TreeRequest, usize, Instant)>,
    stopped: bool,
    planned: u64,
    settled: u64,
    errors: u64,
    moved: u64,
    last_finish: Instant,
    digest: u64,
    error_samples: Vec<ErrorSample>,
}

impl TreeJob {
    /// A job ready to start. The specification comes from [`super::compile_tree`], which has checked it.
    pub fn new(spec: TreeJobSpec) -> TreeJob {
        let streams = Streams::new(spec.seed);
        let nodes = nodes(&spec);
        let items =
            if spec.op.is_of_directories() { nodes.len() as u64 } else { spec.shape.files_of(spec.worker) };
        let is_drawn = spec.order == Order::Random && !matches!(spec.op, FileOp::Mkdir | FileOp::Rmdir);
        let key = streams.key(&format!("tree/order/{}/{}", spec.op.name(), spec.worker));
        let most = if spec.op.repeats() { u64::MAX } else { items };
        TreeJob {
            sizes: DrawnSizes::new(spec.sizes.clone(), streams, spec.worker),
            order: (is_drawn && items > 0).then(|| Permutation::new(items, key)),
            nodes,
            items,
            visits_left: if items == 0 { 0 } else { spec.visits.unwrap_or(u64::MAX).min(most) },
            next: 0,
            sync_due: spec.fsync == Fsync::End,
            books: Books::open(&classes(&spec), Instant::START, spec.warmup, spec.run),
            in_flight: None,
            stopped: false,
            planned: 0,
            settled: 0,
            errors: 0,
            moved: 0,
            last_finish: Instant::START,
            digest: 0,
            error_samples: Vec::new(),
            spec,
        }
    }

    /// What the job was made of.
    pub fn spec(&self) -> &TreeJobSpec {
        &self.spec
    }

    /// Starts the clock of the window.
    pub fn start(&mut self, now: Instant) {
        self.books = Books::open(&classes(&self.spec), now, self.spec.warmup, self.spec.run);
        self.last_finish = now;
    }

    /// Appends the next request if none is in flight.
    pub fn plan(&mut self, now: Instant, out: &mut Vec<TreeRequest>) -> Wake {
        if self.in_flight.is_some() {
            return Wake::OnCompletion;
        }
        let Some((request, class)) = self.next_request(now) else { return Wake::Done };
        self.digest = fold(self.digest, &request);
        self.planned += 1;
        self.in_flight = Some((request, class, now));
        out.push(request);
        Wake::OnCompletion
    }

    fn next_request(&mut self, now: Instant) -> Option<(TreeRequest, usize)> {
        let is_over = self.stopped || self.visits_left == 0 || now >= self.books.window.until;
        if is_over {
            let syncs = std::mem::take(&mut self.sync_due) && !self.stopped;
            return syncs.then(|| (self.sync(), self.books.ledgers.len() - 1));
        }
        self.visits_left -= 1;
        let turn = self.next;
        self.next = if turn + 1 == self.items { 0 } else { turn + 1 };
        let item = self.order.as_ref().map_or(turn, |order| order.at(turn));
        let (op, durable) = (self.spec.op, self.spec.fsync == Fsync::Each);
        let token = Token(0);
        if op.is_of_directories() {
            let node = self.nodes[narrow::<usize>(item)];
            let durable = durable && op != FileOp::Readdir;
            return Some((TreeRequest { token, op, file: 0, node, size: 0, durable }, 0));
        }
        let node = self.spec.shape.node_of(self.spec.worker, item);
        let (size, class) = if op.moves_content() { self.sizes.of(item) } else { (Bytes::ZERO, 0) };
        let size = u32::try_from(size.get()).expect("files of a tree are at most 1 GiB");
        let durable = durable && op.changes();
        Some((TreeRequest { token, op, file: item, node, size, durable }, class))
    }

    fn sync(&self) -> TreeRequest {
        TreeRequest { token: Token(0), op: FileOp::Sync, file: 0, node: 0, size: 0, durable: true }
    }

    /// Books the completion of what is in flight.
    pub fn settle(&mut self, done: Completion) {
        let (request, class, issued) = self.in_flight.take().expect("only what was planned is settled");
        self.settled += 1;
        let last_finish = std::mem::replace(&mut self.last_finish, done.finished_at);
        let moved = match done.outcome.result() {
            Ok(moved) if moved == request.size => Ok(moved),
            Ok(moved) => Err(Failure::Short { moved }),
            Err(errno) => Err(Failure::Errno(errno)),
        };
        let bytes = moved.as_ref().ok().map(|moved| u64::from(*moved));
        self.books.settle(class, last_finish, (issued, done.finished_at), bytes);
        self.moved += bytes.unwrap_or(0);
        if let Err(failure) = moved {
            self.fail(&request, done.finished_at, failure);
        }
    }

    #[cold]
    fn fail(&mut self, request: &TreeRequest, at: Instant, failure: Failure) {
        self.errors += 1;
        if self.error_samples.len() < ERROR_SAMPLES_MAX {
            let op = Action::File(request.op);
            // Whoever knows the paths puts the path's number in the place of these.
            let is_directory = request.op.is_of_directories();
            let offset = Bytes::new(if is_directory { request.node.into() } else { request.file });
            self.error_samples.push(ErrorSample { at, op, file: 0, offset, len: request.size, failure });
        }
        self.stopped |= self.errors >= ERRORS_MAX;
    }

    /// Plans nothing more; the job is done once what is in flight has ended.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Counts so far.
    pub fn progress(&self) -> Progress {
        let in_flight = u32::from(self.in_flight.is_some());
        Progress { ops: self.settled - self.errors, bytes: self.moved, errors: self.errors, in_flight }
    }

    /// Whether a closed interval waits to be taken.
    pub fn has_interval(&self) -> bool {
        !self.books.intervals.is_empty()
    }

    /// Takes the intervals closed since the last call.
    pub fn take_intervals(&mut self) -> Vec<Interval> {
        std::mem::take(&mut self.books.intervals)
    }

    /// All that the job saw. A window without a set end ends with the last completion.
    pub fn into_tally(mut self) -> Tally {
        let early = self.stopped || self.visits_left == 0;
        self.books.end(self.last_finish, early);
        let Books { ledgers, window, intervals, in_flight_ns, edges, gaps } = self.books;
        Tally {
            classes: ledgers.into_iter().map(|ledger| ledger.total).collect(),
            intervals,
            logged: Vec::new(),
            begun: window.begun,
            measured_from: window.from,
            measured_until: window.until,
            late: None,
            dropped: 0,
            not_issued: 0,
            planned: self.planned,
            settled: self.settled,
            in_flight_ns,
            edges,
            gaps,
            digest: self.digest,
            errors: self.errors,
            error_samples: self.error_samples,
            gave_up: self.errors >= ERRORS_MAX,
        }
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
fn classes(spec: &TreeJobSpec) -> Vec<Class> {
    let op = Action::File(spec.op);
    let sizes = if spec.op.moves_content() { spec.sizes.told_apart() } else { vec![Bytes::ZERO] };
    let mut classes: Vec<Class> = sizes.into_iter().map(|size| Class { op, size }).collect();
    if spec.fsync == Fsync::End {
        classes.push(Class { op: Action::File(FileOp::Sync), size: Bytes::ZERO });
    }
    classes
}

/// Takes one request into the digest. Order matters.
fn fold(digest: u64, request: &TreeRequest) -> u64 {
    let what = (u64::from(request.node) << 32) | (u64::from(request.size) << 1) | u64::from(request.durable);
    let mixed = (request.file ^ what.rotate_left(23) ^ ((request.op as u64) << 56))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (digest.rotate_left(29) ^ mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
