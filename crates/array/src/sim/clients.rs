//! Jobs and file systems at work: the requests that they issue, and the completions that they get.
//!
//! **Invariant:** each request that a job planned is settled exactly once.

use units::{Bytes, Instant};
use workload::spec::FlushKind;
use workload::tally::Tally;
use workload::{Completion, Job, Op, Outcome as End, Request, Wake};

use crate::files::Unwritten;
use crate::latency::{LatencyTotals, Stage};
use crate::meter::Class;

use super::event::Event;
use super::hosts::Manner;
use super::initiator::Initiator;
use super::request::HostRequest;
use super::timeline::Timeline;
use super::traffic::Traffic;

/// A job and where its files are.
#[derive(Debug)]
pub struct Client {
    /// Decides what is asked, and records what comes back.
    pub job: Job,
    /// Where each of its files lies.
    pub files: Vec<FilePlace>,
    /// The host it runs on.
    pub host: u32,
    /// Whether its requests go through the host's page cache, if it has one.
    pub buffered: bool,
    /// Whether each write is on stable storage when it ends: `O_DSYNC`.
    pub durable: bool,
}

/// Where one of a job's files lies: all of a LUN, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// By its number, from 0.
    pub lun: u32,
    /// Where on it the file begins.
    pub start: Bytes,
}

impl FilePlace {
    /// All of LUN `lun`.
    pub const fn whole(lun: u32) -> FilePlace {
        FilePlace { lun, start: Bytes::ZERO }
    }
}

/// A client at work.
pub(super) struct Running {
    job: Initiator,
    files: Vec<FilePlace>,
    host: u32,
    buffered: bool,
    durable: bool,
    done: bool,
    /// The wake-up that is already in the queue.
    wakes_at: Instant,
    /// Requests that have ended and wait for others to be taken with them.
    ended: Vec<u32>,
    /// Where the time of its measured requests went.
    latency: LatencyTotals,
}

impl Running {
    fn new(job: Initiator, files: Vec<FilePlace>, host: u32) -> Running {
        Running {
            job,
            files,
            host,
            buffered: false,
            durable: false,
            done: false,
            wakes_at: Instant::NEVER,
            ended: Vec::new(),
            latency: LatencyTotals::default(),
        }
    }

    /// A job on one of `hosts` hosts.
    pub fn job(client: Client, hosts: u32) -> Running {
        let Client { job, files, host, buffered, durable } = client;
        Running { buffered, durable, ..Running::new(Initiator::Job(job), files, host % hosts) }
    }

    /// Somebody outside, at the first host, who uses the first `luns` LUNs as they are.
    pub fn outside(luns: u32) -> Running {
        let luns = (0..luns).map(FilePlace::whole).collect();
        Running::new(Initiator::Outside(super::outside::Outside::default()), luns, 0)
    }

    /// A file system on LUN 0, at the first host.
    pub fn files(files: crate::files::FileSystem) -> Running {
        Running::new(Initiator::Files(Box::new(files)), vec![FilePlace::whole(0)], 0)
    }
}

/// All clients of a run.
#[derive(Default)]
pub struct Clients {
    running: Vec<Running>,
    /// Those that settled something at the present event and have news.
    settled: Vec<u32>,
    /// One that ends the load of all has done its part.
    first_ended: bool,
    planned: Vec<Request>,
}

impl Clients {
    /// Lets those of a run in; [`Clients::start`] is next.
    pub(super) fn enter(&mut self, running: Vec<Running>) {
        debug_assert!(self.running.is_empty(), "one run must end before the next begins");
        self.running = running;
    }

    /// Starts them at `now`, from when on their parts are metered.
    pub fn start(&mut self, now: Instant) {
        self.running.iter_mut().for_each(|client| client.job.start(now));
    }

    /// Ends the run: what the jobs saw, where the time of their requests went, and what has not reached the storage.
    pub fn finish(&mut self) -> (Vec<Tally>, Vec<LatencyTotals>, Unwritten) {
        let (mut tallies, mut latency, mut held) = (Vec::new(), Vec::new(), Unwritten::default());
        for client in std::mem::take(&mut self.running) {
            debug_assert!(
                !client.done || client.ended.is_empty(),
                "a job must be told of all that has ended"
            );
            match client.job {
                Initiator::Job(job) => {
                    let tally = job.into_tally();
                    assert!(
                        !client.done || tally.planned == tally.completed,
                        "a job that is done has nothing in flight"
                    );
                    tallies.push(tally);
                    latency.push(client.latency);
                }
                Initiator::Files(files) => {
                    let (seen, left) = files.into_tallies();
                    tallies.extend(seen);
                    held = left;
                }
                Initiator::Outside(_) => {}
            }
        }
        (tallies, latency, held)
    }

    /// The one outside, where there is one.
    pub(super) fn outside(&mut self) -> Option<&mut super::outside::Outside> {
        self.running.iter_mut().find_map(|client| match &mut client.job {
            Initiator::Outside(outside) => Some(outside),
            _ => None,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether all have done their part.
    pub fn are_done(&self) -> bool {
        self.running.iter().all(|client| client.done)
    }

    /// Whether one has done its part.
    pub fn any_is_done(&self) -> bool {
        self.running.iter().any(|client| client.done)
    }

    /// Whether, since this was last asked, one has done its part that ends the load of all.
    pub fn first_has_ended(&mut self) -> bool {
        std::mem::take(&mut self.first_ended)
    }

    /// The next client that has something to tell a watcher.
    pub(super) fn news(&mut self) -> Option<(usize, &mut Initiator)> {
        while let Some(client) = self.settled.pop() {
            if self.running[client as usize].job.has_news() {
                return Some((client as usize, &mut self.running[client as usize].job));
            }
        }
        None
    }

    /// The file systems among them.
    pub fn file_systems(&mut self) -> impl Iterator<Item = &mut crate::files::FileSystem> {
        self.running.iter_mut().filter_map(|client| match &mut client.job {
            Initiator::Files(files) => Some(&mut **files),
            Initiator::Job(_) | Initiator::Outside(_) => None,
        })
    }

    /// The requests that a client has due, and whether to call again at once; `None` if it has done its part. The list
    /// goes back to [`Clients::recycle`].
    pub fn plan(&mut self, time: &mut Timeline, client: u32) -> Option<(Vec<Request>, bool)> {
        let running = &mut self.running[client as usize];
        if running.done {
            return None;
        }
        let mut planned = std::mem::take(&mut self.planned);
        planned.clear();
        let wake = running.job.plan(time.now(), &mut planned);
        match wake {
            Wake::Again | Wake::OnCompletion => {}
            Wake::Done => {
                running.done = true;
                self.first_ended |= running.job.exit_all();
            }
            Wake::At(at) => {
                if at < running.wakes_at {
                    running.wakes_at = at;
                    time.at(at.max(time.now()), Event::Job(client));
                }
            }
        }
        Some((planned, wake == Wake::Again))
    }

    /// Takes a list that has been gone through, for the next.
    pub fn recycle(&mut self, planned: Vec<Request>) {
        self.planned = planned;
    }

    /// A client's request as one of its host: its place, and how the host takes it.
    #[inline]
    pub fn request(&self, traffic: &mut Traffic, client: u32, asked: &Request) -> (u32, Manner) {
        let running = &self.running[client as usize];
        let nowhere = FilePlace::whole(u32::MAX);
        let FilePlace { lun, start } = running.files.get(usize::from(asked.file)).copied().unwrap_or(nowhere);
        // Written where it stays: it is long, and this is done for every request.
        let place = traffic.requests.take(traffic.time.now());
        traffic.requests[place] = HostRequest {
            host: running.host,
            client,
            token: asked.token,
            op: asked.op,
            class: if asked.op == Op::Read { Class::HostRead } else { Class::HostWrite },
            lun,
            offset: start.get().saturating_add(asked.offset.get()),
            len: asked.len,
            durable: running.durable && asked.op == Op::Write,
            ..HostRequest::default()
        };
        let only_sets_out = asked.op == Op::Flush && running.job.flush() == FlushKind::SyncFileRange;
        (place, Manner { buffered: running.buffered, only_sets_out })
    }

    /// Takes the alarm of a client; whether the client still runs, for an alarm may outlast the load that it was set for.
    pub fn wake(&mut self, traffic: &mut Traffic, client: u32) -> bool {
        let Some(running) = self.running.get_mut(client as usize) else { return false };
        if running.wakes_at <= traffic.time.now() {
            running.wakes_at = Instant::NEVER;
        }
        if !running.ended.is_empty() {
            self.release(traffic, client);
        }
        true
    }

    /// Has a client plan nothing more of its own accord.
    pub fn stop(&mut self, client: u32) {
        self.running[client as usize].job.stop();
    }

    /// Hands the completion of a request to its job, at once or in batches of its `complete_batch`. The client, if it
    /// may have more to issue.
    #[inline]
    pub fn ended(&mut self, traffic: &mut Traffic, place: u32) -> Option<u32> {
        let HostRequest { client, .. } = traffic.requests[place];
        if self.running[client as usize].job.complete_batch() > 1 {
            return self.hold(traffic, client, place);
        }
        traffic.requests.end(place);
        self.tell(traffic, place);
        let waits = self.running[client as usize].job.waits_for_arrival(traffic.time.now());
        (!waits).then_some(client)
    }

    /// Keeps a request that has ended until enough have, or all that are in flight.
    #[cold]
    fn hold(&mut self, traffic: &mut Traffic, client: u32, place: u32) -> Option<u32> {
        let running = &mut self.running[client as usize];
        debug_assert!(running.job.awaited() > 0, "who has something in flight must wait for something");
        running.ended.push(place);
        let enough = running.ended.len() >= running.job.awaited() as usize;
        if enough {
            self.release(traffic, client);
        }
        enough.then_some(client)
    }

    /// Hands over what was kept: the client looks, because enough have ended or its next request is due.
    fn release(&mut self, traffic: &mut Traffic, client: u32) {
        let mut ended = std::mem::take(&mut self.running[client as usize].ended);
        for place in ended.drain(..) {
            traffic.requests.trace(place).wait(Stage::CompletionBatch, traffic.time.now());
            traffic.requests.end(place);
            self.tell(traffic, place);
        }
        self.running[client as usize].ended = ended;
    }

    /// Tells a job that its request has ended now.
    #[inline]
    fn tell(&mut self, traffic: &mut Traffic, place: u32) {
        let HostRequest { client, token, len, failed, .. } = traffic.requests[place];
        let finished_at = traffic.time.now();
        let running = &mut self.running[client as usize];
        debug_assert!(!running.done, "a job that is done must have nothing in flight");
        if traffic.requests.are_traced()
            && failed.is_none()
            && let Some((class, due)) = running.job.measures(token, finished_at)
        {
            let trace = traffic.requests.trace(place);
            trace.end(finished_at);
            running.latency.add(class, due, trace);
        }
        let outcome = failed.map_or(End::moved(len), End::failed);
        running.job.complete(Completion { token, outcome, finished_at });
        if running.job.has_news() {
            self.settled.push(client);
        }
    }
}
