//! The smallest world: servers that take a fixed time, on a clock that jumps to the next completion.

use units::{Bytes, Instant, Nanos, Share};
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
                job.settle(Completion { token: request.token, outcome, finished_at: finished });
                finished
            }
        };
    }
}

/// 4 KiB random reads of 1,000 blocks by one worker at depth 1, a hundred of them.
pub fn workload() -> Workload {
    Workload {
        name: "test".into(),
        pattern: Pattern::Random,
        sizes: SizeSplit::one(Bytes::KIB * 4),
        mix: OpMix { reads: Share::ALL, trims: Share::NONE, flushes: Share::NONE },
        lines: Vec::new(),
        random: None,
        rewrites: Share::NONE,
        align: None,
        offset: Extent::Bytes(Bytes::ZERO),
        span: Span::Auto,
        worker_offset: None,
        workers: 1,
        depth: 1,
        files: Files::Shared,
        on: Vec::new(),
        luns: LunLayout::Concatenated,
        pace: Pace::Closed,
        habits: Habits::PLAIN,
        stop: Stop { ops: Some(100), ..Stop::default() },
        durability: Durability { open: OpenSync::None, every: None, at_end: false, flush: FlushKind::Fsync },
        content: Content::Random { compress: 1.0, dedupe: 1.0 },
        seed: 1,
        direct: true,
        verify: Verify::None,
        tree: None,
        engine: EngineSpec {
            kind: EngineKind::Auto,
            batch: 32,
            sqpoll: false,
            iopoll: false,
            cpus: vec![],
            numa_node: None,
            huge_pages: false,
        },
    }
}

/// The specifications of `workload` on one target of 1,000 blocks.
pub fn specs(workload: &Workload) -> Vec<JobSpec> {
    compile(workload, &[Bytes::KIB * 4000]).expect("the test's workload fits")
}

/// The first worker's job.
pub fn job(workload: &Workload) -> Job {
    Job::new(specs(workload).remove(0))
}
