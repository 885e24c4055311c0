//! The file system of a host: requests for names in, requests for blocks out.
//!
//! It stands between tree jobs and the array, and is to the array a job like any other: it plans block requests and
//! takes their completions. What is in memory costs processor time alone; what is changed gathers in the running
//! transaction, which is committed to the journal every few seconds or when somebody flushes, all waiting together;
//! content is written back when it is old, when there is much of it, or when its file is flushed.
//!
//! Not modelled: content that is removed before it was written is written all the same, and directories read from the
//! storage when they are not in memory cost one block for each file that is looked at.
//!
//! **Invariant:** each request of a tree job ends exactly once, after every block request that it waits for.

mod journal;
mod params;
mod place;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos};
use workload::tally::Tally;
use workload::tree::{FileOp, TreeJob, TreeJobSpec, TreeRequest};
use workload::{Completion, Errno, Op, Outcome, Request, Token, Wake, WearOut};

use crate::meter::Class;
use crate::meter::Metered;
use crate::station::Station;

use journal::Journal;
pub use params::FilesParams;
use place::{BLOCK, Places};

/// Requests of the writeback in flight. Source: a request queue of Linux has 64 to 256; half of the smallest is one
/// thread's.
const WRITEBACK_DEPTH: u32 = 32;
/// Neighbours are written back together up to this size.
const WRITEBACK_MOST: u64 = 1 << 20;
/// How often the writeback looks for what is old. Source: Linux, `vm.rst`, `dirty_writeback_centisecs`: 5 s.
const WRITEBACK_WAKES: Nanos = Nanos::from_secs(5);

/// What has not yet reached the storage; it outlives a run.
#[derive(Clone, Debug, Default)]
pub struct Unwritten {
    journal: Journal,
    /// Content: when it was changed, where it belongs, and how much.
    content: VecDeque<(Instant, u64, u64)>,
    content_bytes: u64,
}

impl Unwritten {
    /// Content that is in memory alone.
    pub fn unwritten(&self) -> Bytes {
        Bytes::new(self.content_bytes)
    }
}

/// A tree job to be run: what a workload compiles to, and its tree.
#[derive(Clone, Debug)]
pub struct FileClient {
    /// What it does to which names.
    pub job: TreeJobSpec,
    /// Whether each of its requests is reported, for a log.
    pub is_logged: bool,
    /// Workers of its workload.
    pub workers: u32,
    /// Whether content is on stable storage when it has been written: `O_DSYNC`.
    pub durable: bool,
    /// What the workers of its workload share where that wears out.
    pub wear_out: Arc<WearOut>,
}

/// The file system of a host at work.
#[derive(Debug)]
pub struct FileSystem {
    params: FilesParams,
    processors: Station,
    workers: Vec<Worker>,
    held: Unwritten,
    /// Until when each directory is locked by who changes it.
    locks: BTreeMap<(u32, u32), Instant>,
    later: BinaryHeap<Reverse<(Instant, u64, TimedEvent)>>,
    entered: u64,
    block_requests: Vec<Option<BlockPurpose>>,
    free: Vec<u32>,
    in_flight: u32,
    writing_back: u32,
    /// Who waits for less unwritten content, and who for all of it to be written.
    throttled: Vec<usize>,
    draining: Vec<usize>,
    looks_again: bool,
    commits_later: bool,
    planned: Vec<Request>,
}

/// A tree job at work.
#[derive(Debug)]
struct Worker {
    job: TreeJob,
    places: Places,
    /// Memory for all names and content of its tree, over what they need: shares that are found there.
    names_held: f64,
    content_held: f64,
    request: Option<TreeRequest>,
    pending: u32,
    failed: Option<Errno>,
    /// Whether it goes on to a commit once nothing is pending.
    commits: bool,
    /// Whether all content that it writes is to last.
    durable: bool,
    done: bool,
}

/// Something that happens later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TimedEvent {
    /// The processor's part of a worker's request ends.
    Ready(usize),
    /// A worker that waits for others looks again.
    Ask(usize),
    /// The running transaction is old.
    Commit,
    /// Content may be old.
    Writeback,
}

/// What a block request is for.
#[derive(Clone, Copy, Debug)]
enum BlockPurpose {
    /// A worker waits for it.
    Worker(usize),
    /// The commit in progress does.
    Journal,
    /// Nobody but those who are throttled.
    Writeback(u64),
}

impl FileSystem {
    /// A file system on a volume of `capacity`, with what an earlier run has left unwritten.
    pub fn new(
        params: FilesParams,
        processors: u32,
        capacity: Bytes,
        clients: &[FileClient],
        held: Unwritten,
    ) -> FileSystem {
        let worker = |client: &FileClient| {
            let mut job = TreeJob::new(client.job.clone());
            job.share_wear_out(&client.wear_out);
            if client.is_logged {
                job.keep_journal(client.job.worker);
            }
            let (shape, sizes) = (&client.job.shape, &client.job.sizes);
            let files: u64 = (0..client.workers).map(|worker| shape.files_of(worker)).sum();
            let names = files as f64 * params.name.as_f64();
            let content = files as f64 * sizes.mean();
            let share =
                |memory: f64, needed: f64| if needed > memory { memory.max(0.0) / needed } else { 1.0 };
            let memory = params.memory.as_f64();
            Worker {
                job,
                places: Places::new(shape, client.workers, sizes.largest(), capacity),
                names_held: share(memory, names),
                content_held: share(memory - names, content),
                request: None,
                pending: 0,
                failed: None,
                commits: false,
                durable: client.durable,
                done: false,
            }
        };
        FileSystem {
            params,
            processors: Station::new(processors),
            workers: clients.iter().map(worker).collect(),
            held,
            locks: BTreeMap::new(),
            later: BinaryHeap::new(),
            entered: 0,
            block_requests: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            writing_back: 0,
            throttled: Vec::new(),
            draining: Vec::new(),
            looks_again: false,
            commits_later: false,
            planned: Vec::new(),
        }
    }

    /// Starts all jobs.
    pub fn start(&mut self, now: Instant) {
        self.processors.meter().restart(now);
        for worker in 0..self.workers.len() {
            self.workers[worker].job.start(now);
            self.ask(worker, now);
        }
        self.arm(now);
    }

    /// Appends the block requests that are due.
    pub fn plan(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        while let Some(Reverse((at, _, later))) = self.later.peek().copied() {
            if at > now {
                break;
            }
            self.later.pop();
            match later {
                TimedEvent::Ready(worker) => self.ready(worker, now),
                TimedEvent::Ask(worker) => self.ask(worker, now),
                TimedEvent::Commit => {
                    self.commits_later = false;
                    self.commit();
                }
                TimedEvent::Writeback => {
                    self.looks_again = false;
                    self.write_back(now);
                }
            }
        }
        self.arm(now);
        out.append(&mut self.planned);
        let next = self.later.peek().map(|Reverse((at, ..))| *at);
        match next {
            _ if self.is_over() => Wake::Done,
            Some(at) if !self.workers.iter().all(|worker| worker.done) => Wake::At(at),
            _ => Wake::OnCompletion,
        }
    }

    /// Takes the end of a block request.
    pub fn complete(&mut self, done: Completion) {
        let now = done.finished_at;
        let flight =
            self.block_requests[done.token.0 as usize].take().expect("only what was planned is completed");
        self.free.push(done.token.0);
        self.in_flight -= 1;
        let failed = done.outcome.result().err();
        match flight {
            BlockPurpose::Worker(worker) => {
                self.workers[worker].pending -= 1;
                self.workers[worker].failed = self.workers[worker].failed.or(failed);
                self.go_on(worker, now);
            }
            BlockPurpose::Journal => self.journal_moved(failed, now),
            BlockPurpose::Writeback(bytes) => {
                self.writing_back -= 1;
                self.held.content_bytes -= bytes;
                self.write_back(now);
            }
        }
        self.assert_counts();
    }

    /// Whether some job has closed an interval.
    pub fn has_interval(&self) -> bool {
        self.workers.iter().any(|worker| worker.job.has_interval())
    }

    /// The jobs, in the order given.
    pub fn jobs(&mut self) -> impl Iterator<Item = &mut TreeJob> {
        self.workers.iter_mut().map(|worker| &mut worker.job)
    }

    /// Stops all jobs; what is in flight ends.
    pub fn stop(&mut self) {
        self.jobs().for_each(TreeJob::stop);
    }

    /// The processors that its work passes through.
    pub fn processors(&mut self) -> &mut Station {
        &mut self.processors
    }

    /// What the jobs saw, and what has not yet reached the storage.
    pub fn into_tallies(self) -> (Vec<Tally>, Unwritten) {
        let written_back = self.block_requests.iter().flatten().map(|purpose| match purpose {
            BlockPurpose::Writeback(bytes) => *bytes,
            BlockPurpose::Worker(_) | BlockPurpose::Journal => 0,
        });
        let waiting = self.held.content.iter().map(|(_, _, bytes)| bytes).sum::<u64>();
        debug_assert_eq!(
            self.held.content_bytes,
            waiting + written_back.sum::<u64>(),
            "what is unwritten waits, or is being written"
        );
        let tally = |worker: Worker| {
            let tally = worker.job.into_tally();
            assert!(
                !worker.done || tally.planned == tally.completed,
                "a job that is done has nothing in flight"
            );
            tally
        };
        (self.workers.into_iter().map(tally).collect(), self.held)
    }

    fn assert_counts(&self) {
        debug_assert_eq!(
            self.in_flight as usize + self.free.len(),
            self.block_requests.len(),
            "a number is free, or of a request in flight"
        );
        debug_assert!(self.writing_back <= self.in_flight, "what is written back is in flight");
    }

    fn is_over(&self) -> bool {
        self.in_flight == 0 && self.planned.is_empty() && self.workers.iter().all(|worker| worker.done)
    }

    fn enter(&mut self, at: Instant, later: TimedEvent) {
        self.entered += 1;
        self.later.push(Reverse((at, self.entered, later)));
    }

    /// Sees to it that what is old will be looked at.
    fn arm(&mut self, now: Instant) {
        if !self.commits_later && self.held.journal.has_changes() {
            self.commits_later = true;
            self.enter(now.saturating_add(self.params.commit), TimedEvent::Commit);
        }
        let has_work = !self.held.content.is_empty() || self.held.journal.has_checkpoint();
        if !self.looks_again && has_work {
            self.looks_again = true;
            self.enter(now.saturating_add(WRITEBACK_WAKES), TimedEvent::Writeback);
        }
    }

    /// Asks a job for its next request, and gives it to the processor.
    fn ask(&mut self, index: usize, now: Instant) {
        let mut batch = Vec::with_capacity(1);
        let worker = &mut self.workers[index];
        debug_assert!(worker.request.is_none() && worker.pending == 0, "a worker does one thing at a time");
        let wake = worker.job.plan(now, &mut batch);
        worker.done = wake == Wake::Done;
        let Some(request) = batch.pop() else {
            if let Wake::At(later) = wake {
                self.enter(later, TimedEvent::Ask(index));
            }
            return;
        };
        worker.request = Some(request);
        let names_changed = request.op.changes() && request.op != FileOp::Write;
        let tree = worker.job.spec().shape.tree_of(request.owner);
        let work = self.cost(index, &request);
        let class = if request.op.changes() { Class::HostWrite } else { Class::HostRead };
        let end = if names_changed {
            // Who changes a directory holds it alone.
            let free = self.locks.entry((tree, request.node)).or_insert(now);
            let end = self.processors.book(now, (*free).max(now), work, class);
            *free = end;
            end
        } else {
            self.processors.book(now, now, work, class)
        };
        self.enter(end, TimedEvent::Ready(index));
    }

    fn cost(&self, index: usize, request: &TreeRequest) -> Nanos {
        let params = &self.params;
        let copy = params.copy.time_for(Bytes::new(request.size.into()));
        match request.op {
            FileOp::Stat | FileOp::Statdir => params.stat,
            FileOp::Open | FileOp::Sync => params.open,
            FileOp::Read | FileOp::Write => params.open + copy,
            FileOp::Create => params.create + copy,
            FileOp::Mkdir | FileOp::Mknod | FileOp::Link | FileOp::Symlink => params.create,
            FileOp::Rename | FileOp::Renamedir => params.rename,
            FileOp::Delete | FileOp::Rmdir => params.remove,
            FileOp::Readdir => {
                let worker = &self.workers[index];
                let spec = worker.job.spec();
                let names = match spec.shape.holds_files(request.node) {
                    true => worker.places.files_in(spec.worker),
                    false => 0,
                };
                params.open + params.entry * names
            }
        }
    }

    /// The processor's part of a request is done: what it changes is changed, what it needs is asked for.
    fn ready(&mut self, index: usize, now: Instant) {
        let mut request = self.workers[index].request.expect("it is at work on one");
        let writes = matches!(request.op, FileOp::Create | FileOp::Write) && request.size > 0;
        request.durable |= writes && self.workers[index].durable;
        if writes && self.held.content_bytes > self.limit(self.params.dirty_limit) && !request.durable {
            self.throttled.push(index);
            return self.write_back(now);
        }
        if request.op == FileOp::Sync {
            self.draining.push(index);
            return self.write_back(now);
        }
        let number = request.owner;
        let places = &self.workers[index].places;
        let (inode, content) = (places.inode(number, &request), places.content(number, &request));
        let key = places.number(number, request.file).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 11;
        let drawn = key as f64 / (1u64 << 53) as f64;
        let changed = places.changed(number, &request);
        let bytes = u64::from(request.size).div_ceil(BLOCK) * BLOCK;
        self.workers[index].commits = request.durable;
        self.held.journal.change(&changed);
        let is_new = matches!(request.op, FileOp::Create | FileOp::Mknod | FileOp::Mkdir);
        if !is_new && drawn >= self.workers[index].names_held {
            self.send(Op::Read, inode, BLOCK, BlockPurpose::Worker(index));
            self.workers[index].pending += 1;
        }
        if request.op == FileOp::Read && bytes > 0 && drawn >= self.workers[index].content_held {
            self.send(Op::Read, content, bytes, BlockPurpose::Worker(index));
            self.workers[index].pending += 1;
        }
        if writes && request.durable {
            self.send(Op::Write, content, bytes, BlockPurpose::Worker(index));
            self.workers[index].pending += 1;
        } else if writes {
            self.held.content.push_back((now, content, bytes));
            self.held.content_bytes += bytes;
            if self.held.content_bytes > self.limit(self.params.dirty_background) {
                self.write_back(now);
            }
        }
        self.go_on(index, now);
    }

    fn limit(&self, share: units::Share) -> u64 {
        truncated::<u64>(self.params.memory.as_f64() * share.get())
    }

    /// The next step of a worker's request, if nothing is pending.
    fn go_on(&mut self, index: usize, now: Instant) {
        let worker = &mut self.workers[index];
        if worker.pending > 0 {
            return;
        }
        if std::mem::take(&mut worker.commits) && worker.failed.is_none() {
            self.held.journal.wait(index);
            return self.commit();
        }
        self.finish(index, now);
    }

    fn finish(&mut self, index: usize, now: Instant) {
        let worker = &mut self.workers[index];
        let request = worker.request.take().expect("it is at work on one");
        debug_assert_eq!(worker.pending, 0, "a request ends after all that it waits for");
        let outcome = worker.failed.take().map_or(Outcome::moved(request.size), Outcome::failed);
        worker.job.complete(Completion { token: request.token, outcome, finished_at: now });
        self.ask(index, now);
    }

    /// Begins a commit, if there is something to commit and none is in progress.
    fn commit(&mut self) {
        if let Some((op, at, len)) = self.held.journal.begin() {
            self.send(op, at, len, BlockPurpose::Journal);
        }
    }

    /// A step of the commit in progress has ended.
    fn journal_moved(&mut self, failed: Option<Errno>, now: Instant) {
        let expires = now.saturating_add(self.params.expire);
        if let Some((op, at, len)) = self.held.journal.step(failed, expires) {
            return self.send(op, at, len, BlockPurpose::Journal);
        }
        let (waited, failed) = self.held.journal.ended();
        for index in waited {
            self.workers[index].failed = self.workers[index].failed.or(failed);
            self.finish(index, now);
        }
        if self.held.journal.is_wanted() {
            self.commit();
        }
    }

    /// Writes content back that is old, too much, or waited for; then blocks whose journal may be used again.
    fn write_back(&mut self, now: Instant) {
        let all_done = self.workers.iter().all(|worker| worker.done);
        while self.writing_back < WRITEBACK_DEPTH && !all_done {
            let is_much = self.held.content_bytes > self.limit(self.params.dirty_background);
            let Some((since, at, mut bytes)) = self.held.content.front().copied() else { break };
            let is_old = now.saturating_since(since) >= self.params.expire;
            let is_wanted = !self.draining.is_empty() || !self.throttled.is_empty();
            if !(is_old || is_much || is_wanted) {
                break;
            }
            self.held.content.pop_front();
            while let Some((_, next, more)) = self.held.content.front().copied() {
                if next != at + bytes || bytes + more > WRITEBACK_MOST {
                    break;
                }
                self.held.content.pop_front();
                bytes += more;
            }
            self.writing_back += 1;
            self.send(Op::Write, at, bytes, BlockPurpose::Writeback(bytes));
        }
        while self.writing_back < WRITEBACK_DEPTH && !all_done {
            let Some(block) = self.held.journal.checkpoint(now) else { break };
            self.writing_back += 1;
            self.send(Op::Write, block, BLOCK, BlockPurpose::Writeback(0));
        }
        if self.held.content_bytes <= self.limit(self.params.dirty_limit) {
            for index in std::mem::take(&mut self.throttled) {
                self.ready(index, now);
            }
        }
        if self.held.content_bytes == 0 && !self.draining.is_empty() {
            for index in std::mem::take(&mut self.draining) {
                self.held.journal.wait(index);
            }
            self.commit();
        }
    }

    fn send(&mut self, op: Op, at: u64, len: u64, flight: BlockPurpose) {
        let token = self.free.pop().unwrap_or_else(|| {
            self.block_requests.push(None);
            narrow::<u32>(self.block_requests.len()) - 1
        });
        self.block_requests[token as usize] = Some(flight);
        self.in_flight += 1;
        self.assert_counts();
        let len = u32::try_from(len).expect("files are at most 1 GiB and the journal is smaller");
        self.planned.push(Request { offset: Bytes::new(at), len, token: Token(token), file: 0, op });
    }
}
