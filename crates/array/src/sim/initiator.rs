//! The initiator of I/O to a simulated array: a job, or the file system of a host with jobs of its own.

use units::Instant;
use workload::spec::FlushKind;
use workload::tally::Class;
use workload::{Completion, Job, Request, Token, Wake};

use crate::files::FileSystem;
use crate::sim::outside::Outside;

/// Who issues I/O. Both plan block requests and record their completions.
#[expect(clippy::large_enum_variant, reason = "there are few, and the job plans every request")]
pub(super) enum Initiator {
    /// A job that asks for blocks.
    Job(Job),
    /// A file system, whose jobs ask for names.
    Files(Box<FileSystem>),
    /// Somebody outside, who hands requests in.
    Outside(Outside),
}

impl Initiator {
    /// Starts the clock of each job's window.
    pub fn start(&mut self, now: Instant) {
        match self {
            Initiator::Job(job) => job.start(now),
            Initiator::Files(files) => files.start(now),
            Initiator::Outside(_) => {}
        }
    }

    /// Appends what is due.
    #[inline]
    pub fn plan(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        match self {
            Initiator::Job(job) => job.plan(now, out),
            Initiator::Files(files) => files.plan(now, out),
            Initiator::Outside(outside) => {
                outside.plan(out);
                Wake::OnCompletion
            }
        }
    }

    /// The class of the request in slot `token` and when it was due, if a job measures it when it ends well now. What a
    /// file system asks for is no job's request.
    pub fn measures(&self, token: Token, now: Instant) -> Option<(Class, Instant)> {
        match self {
            Initiator::Job(job) => job.measures(token, now),
            Initiator::Files(_) | Initiator::Outside(_) => None,
        }
    }

    /// Records one completion.
    #[inline]
    pub fn complete(&mut self, done: Completion) {
        match self {
            Initiator::Job(job) => job.complete(done),
            Initiator::Files(files) => files.complete(done),
            Initiator::Outside(outside) => outside.complete(done),
        }
    }

    /// How many completions it takes at a time; a file system takes each as it comes.
    #[inline]
    pub fn complete_batch(&self) -> u32 {
        match self {
            Initiator::Job(job) => job.spec().complete_batch,
            Initiator::Files(_) | Initiator::Outside(_) => 1,
        }
    }

    /// How many completions it waits for now: as many as it takes at a time, or all that are in flight.
    pub fn awaited(&self) -> u32 {
        match self {
            Initiator::Job(job) => job.spec().complete_batch.min(job.progress().in_flight),
            Initiator::Files(_) | Initiator::Outside(_) => 1,
        }
    }

    /// Whether it needs not be asked after a completion at `now`: what it asks next is due later, and it has said when.
    #[inline]
    pub fn waits_for_arrival(&self, now: Instant) -> bool {
        match self {
            Initiator::Job(job) => job.waits_for_arrival(now),
            Initiator::Files(_) => false,
            // It is asked when something is handed in.
            Initiator::Outside(_) => true,
        }
    }

    /// Plans nothing more of its own accord.
    pub fn stop(&mut self) {
        match self {
            Initiator::Job(job) => job.stop(),
            Initiator::Files(files) => files.stop(),
            Initiator::Outside(_) => {}
        }
    }

    /// Which call a flush of its is.
    pub fn flush(&self) -> FlushKind {
        match self {
            Initiator::Job(job) => job.spec().flush,
            Initiator::Files(_) | Initiator::Outside(_) => FlushKind::Fsync,
        }
    }

    /// Whether it stops all others once it has done its part.
    pub fn exit_all(&self) -> bool {
        match self {
            Initiator::Job(job) => job.spec().exit_all,
            Initiator::Files(_) | Initiator::Outside(_) => false,
        }
    }

    /// Whether a closed interval or many requests of a journal wait to be taken.
    #[inline]
    pub fn has_news(&self) -> bool {
        match self {
            Initiator::Job(job) => job.has_interval() || job.has_logged(),
            Initiator::Files(files) => files.has_interval(),
            Initiator::Outside(_) => false,
        }
    }
}
