//! The path that requests take: simple requests, in a closed loop or by a schedule, have loops of their own.
//!
//! What a specification needs is decided once, when the job is made; the loops repeat no question that has one answer.

use units::convert::narrow;
use units::{Instant, Share};

use crate::pace::Pacer;
use crate::spec::{Pace, Sequence};
use crate::{Request, Wake};

use super::generator::{Generator, What};
use super::slots::Slot;
use super::{Job, JobSpec, fold};

/// Which path requests take, decided once: most workloads need little, and do not pay for what others need.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    /// A closed loop of requests that all ask the same of one file.
    Uniform(What),
    /// A closed loop of requests of one kind, none of which is followed by another.
    Plain,
    /// The same by a schedule.
    Scheduled,
    /// Everything else.
    Particular,
}

impl Lane {
    /// The path of a workload's requests.
    pub fn of(spec: &JobSpec, generator: &Generator, pacer: &Pacer) -> Lane {
        let is_closed = spec.pace == Pace::Closed;
        let is_plain = (is_closed || pacer.is_scheduled())
            && spec.flush_every.is_none()
            && spec.rewrites == Share::NONE
            && spec.sequence == Sequence::PLAIN
            && spec.start.is_zero()
            && generator.lines.is_none()
            && generator.trace.is_none();
        match generator.only() {
            _ if !is_plain => Lane::Particular,
            _ if !is_closed => Lane::Scheduled,
            Some(what) => Lane::Uniform(what),
            None => Lane::Plain,
        }
    }
}

impl Job {
    /// What a closed loop wants after it has planned.
    #[inline]
    fn closed_wake(&self) -> Wake {
        match () {
            () if self.has_ended() => self.drain(),
            () if self.slots.free.is_empty() => Wake::OnCompletion,
            () => Wake::Again,
        }
    }

    /// Plans requests that all ask the same in a closed loop: how many is known before the first.
    #[inline]
    pub(super) fn plan_uniform(&mut self, what: What, now: Instant, out: &mut Vec<Request>) -> Wake {
        let What { op, size, len } = what;
        let room = self.slots.free.len().min(self.spec.submit_batch as usize) as u64;
        let mut count = room.min(self.ops_left);
        if self.spec.bytes.is_some() {
            count = count.min(self.bytes_left.div_ceil(u64::from(len)));
            self.bytes_left = self.bytes_left.saturating_sub(count * u64::from(len));
        }
        self.ops_left -= count;
        self.planned += count;
        let class = self.books.class(op, size);
        let mut digest = self.digest;
        let slots = &mut self.slots;
        self.generator.offsets(len, narrow::<u32>(count), |offset| {
            let token = slots.free.pop().expect("no more than are free");
            digest = fold(digest, op, 0, offset, len);
            slots.put(token, Slot { due: now, issued: now, offset, len, file: 0, class });
            out.push(Request { offset, len, token, file: 0, op });
        });
        self.digest = digest;
        self.closed_wake()
    }

    /// Plans requests of one kind in a closed loop.
    #[inline]
    pub(super) fn plan_plain(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        for _ in 0..self.spec.submit_batch {
            if self.has_ended() {
                break;
            }
            let Some(token) = self.slots.free.pop() else { break };
            self.ops_left -= 1;
            let what = self.generator.next();
            let place = self.generator.place(what.len);
            out.push(self.asked(now, now, token, place, what));
        }
        self.closed_wake()
    }
    /// Plans requests of one kind that are due by a schedule.
    pub(super) fn plan_scheduled(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        self.looks_at_schedule(now);
        for _ in 0..self.spec.submit_batch {
            if self.is_over(now) {
                return self.wind_up(now, out);
            }
            let (due, token) = match self.next_slot(now) {
                Ok(found) => found,
                Err(wake) => return wake,
            };
            self.ops_left -= 1;
            let what = self.generator.next();
            let place = self.generator.place(what.len);
            out.push(self.asked(due, now, token, place, what));
        }
        if self.is_over(now) { self.drain() } else { self.wake_after_batch(now) }
    }
}
