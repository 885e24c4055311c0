//! The smallest world: servers that take a fixed time, on a clock that jumps to the next completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::{Bytes, Instant, Nanos};
use workload::spec::*;
use workload::{Completion, Job, JobSpec, Outcome, Request, Wake, compile};

/// What a request met in [`Servers`].
pub struct Answer {
    pub request: Request,
    pub issued: Instant,
    pub finished: Instant,
}

/// Identical servers, each busy `service` for a request; a request takes the server that is free first.
pub struct Servers {
    pub free_at: Vec<Instant>,
    pub service: Nanos,
    /// From then on nothing begins for so long.
    pub stall: Option<(Instant, Nanos)>,
}

impl Servers {
    pub fn new(count: usize, service: Nanos) -> Servers {
        Servers { free_at: vec![Instant::START; count], service, stall: None }
    }

    fn finish(&mut self, now: Instant) -> Instant {
        let server = self.free_at.iter_mut().min().expect("at least one server");
        let begin = (*server).max(now);
        let begin = match self.stall {
            Some((from, length)) if begin >= from => begin.max(from + length),
            _ => begin,
        };
        *server = begin + self.service;
        *server
    }
}

/// Drives `job` until it is done and returns every request with its instants, in order of planning.
pub fn drive(job: &mut Job, servers: &mut Servers) -> Vec<Answer> {
    drive_with(job, servers, |_| None)
}

/// Likewise, with outcomes of the caller's choice; `None` means the request did what it was asked.
pub fn drive_with(
    job: &mut Job,
    servers: &mut Servers,
    outcome: impl Fn(&Request) -> Option<Outcome>,
) -> Vec<Answer> {
    let mut now = Instant::START;
    let (mut answers, mut batch): (Vec<Answer>, _) = (Vec::new(), Vec::new());
    let mut open: Vec<(Instant, usize)> = Vec::new();
    job.start(now);
    loop {
        let wake = job.plan(now, &mut batch);
        for request in batch.drain(..) {
            let finished = servers.finish(now);
            open.push((finished, answers.len()));
            answers.push(Answer { request, issued: now, finished });
        }
        let next = open.iter().min().copied();
        now = match (wake, next) {
            (Wake::Done, _) => return answers,
            (Wake::Again, _) => continue,
            (Wake::At(due), Some((finished, _))) if due < finished => due,
            (Wake::At(due), None) => due,
            (_, None) => panic!("the job waits for a completion that cannot come"),
            (_, Some((finished, index))) => {
                open.retain(|entry| *entry != (finished, index));
                let request = answers[index].request;
                let outcome = outcome(&request).unwrap_or(Outcome::moved(request.len));
                job.complete(Completion { token: request.token, outcome, finished_at: finished });
                finished
            }
        };
    }
}

/// Drives several jobs on the same servers until all are done; every request with its job, in order of planning.
///
/// With `hold` the worker of that number does not run at all between two instants, as when its thread is not scheduled.
pub fn drive_all(
    jobs: &mut [Job],
    servers: &mut Servers,
    hold: Option<(usize, Instant, Instant)>,
) -> Vec<(usize, Answer)> {
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    // What comes next: its instant, its job, and the request that ends then; or a job that is to be asked.
    let mut next: BinaryHeap<Reverse<(Instant, usize, Option<usize>)>> = BinaryHeap::new();
    for (index, job) in jobs.iter_mut().enumerate() {
        job.start(Instant::START);
        next.push(Reverse((Instant::START, index, None)));
    }
    // A job that says the same instant again, as after each completion, is woken once.
    let mut armed = vec![Instant::START; jobs.len()];
    let mut batch = Vec::new();
    while let Some(Reverse((now, index, ended))) = next.pop() {
        if let Some((held, from, until)) = hold
            && held == index
            && (from..until).contains(&now)
        {
            next.push(Reverse((until, index, ended)));
            continue;
        }
        if let Some(ended) = ended {
            let request = answers[ended].1.request;
            let outcome = Outcome::moved(request.len);
            jobs[index].complete(Completion { token: request.token, outcome, finished_at: now });
        }
        loop {
            let wake = jobs[index].plan(now, &mut batch);
            for request in batch.drain(..) {
                let finished = servers.finish(now);
                next.push(Reverse((finished, index, Some(answers.len()))));
                answers.push((index, Answer { request, issued: now, finished }));
            }
            match wake {
                Wake::Again => continue,
                Wake::At(due) if armed[index] != due => {
                    armed[index] = due;
                    next.push(Reverse((due, index, None)));
                }
                Wake::At(_) => {}
                Wake::OnCompletion | Wake::Done => {}
            }
            break;
        }
    }
    answers
}

/// 4 KiB random reads of 1,000 blocks by one worker at depth 1, a hundred of them.
pub fn workload() -> Workload {
    Workload { stop: Stop { ops: Some(100), ..Stop::default() }, ..Workload::plain("test") }
}

/// The specifications of `workload` on one target of 1,000 blocks.
pub fn specs(workload: &Workload) -> Vec<JobSpec> {
    compile(workload, &[Bytes::KIB * 4000]).expect("the test's workload fits")
}

/// The first worker's job.
pub fn job(workload: &Workload) -> Job {
    Job::new(specs(workload).remove(0))
}
