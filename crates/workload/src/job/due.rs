//! When a job's next request is due, and what becomes of those that nobody serves.

use units::Instant;
use units::convert::narrow;

use crate::pace::Pacer;
use crate::seam::IoRequest;
use crate::spec::Overflow;
use crate::{Token, Wake};

use super::source::Next;
use super::{Job, RequestSource};

/// Of the requests that are never served so many are booked one by one; beyond, each stands for several.
const UNSERVED_STEPS: u64 = 1_000_000;

impl<S: RequestSource> Job<S> {
    /// A plan begins: what waited for a slot until now did not wait for the driver, and what was due is given up once
    /// the time for it is over.
    #[inline]
    pub(super) fn looks_at_schedule(&mut self, now: Instant) {
        if let Some(lateness) = &mut self.lateness {
            lateness.plan(now);
        }
        if now >= self.statistics.backlog_end && !self.stopped {
            self.abandon_backlog(now);
        }
    }

    /// The next free slot and the instant it was due, or when to ask again.
    #[inline]
    pub(super) fn next_slot(&mut self, now: Instant) -> Result<(Instant, Token), Wake> {
        match &mut self.options.pacer {
            Pacer::Closed => match self.slots.free.pop() {
                Some(token) => Ok((now, token)),
                None => Err(Wake::OnCompletion),
            },
            Pacer::Think { resting, .. } => match (self.slots.free.pop(), resting.front()) {
                (Some(token), _) => Ok((now, token)),
                (None, None) => Err(Wake::OnCompletion),
                (None, Some((ready, _))) if *ready > now => {
                    Err(Wake::At((*ready).min(self.statistics.load_end)))
                }
                (None, Some((ready, token))) => {
                    let found = (*ready, *token);
                    resting.pop_front();
                    Ok(found)
                }
            },
            Pacer::Capped { due, .. } if *due > now => Err(Wake::At((*due).min(self.statistics.load_end))),
            Pacer::Capped { .. } => match self.slots.free.pop() {
                Some(token) => Ok((now, token)),
                None => Err(Wake::OnCompletion),
            },
            Pacer::Bursts(bursts) => {
                let in_flight = narrow::<u32>(self.planned - self.completed);
                match bursts.due(now, in_flight, self.last_finish, !self.slots.free.is_empty()) {
                    Err(Wake::At(ready)) => Err(Wake::At(ready.min(self.statistics.load_end))),
                    Err(wake) => Err(wake),
                    Ok(due) => {
                        Ok((due, self.slots.free.pop().expect("a burst continues only with a free slot")))
                    }
                }
            }
            Pacer::Schedule { due, .. } if *due > now => Err(Wake::At((*due).min(self.statistics.load_end))),
            Pacer::Schedule { due, overflow, .. } => match (self.slots.free.pop(), overflow) {
                (Some(token), _) => {
                    let due = *due;
                    self.options.pacer.advance();
                    if let Some(lateness) = &mut self.lateness {
                        lateness.issued(due, now, &self.statistics.window);
                    }
                    Ok((due, token))
                }
                (None, Overflow::Queue) => {
                    if let Some(lateness) = &mut self.lateness {
                        lateness.found_none();
                    }
                    Err(Wake::OnCompletion)
                }
                (None, Overflow::Drop) => Err(self.drop_due(now)),
            },
        }
    }

    /// When to ask again after a full batch: at once only if another request is due and a slot is free for it.
    #[inline]
    pub(super) fn wake_after_batch(&mut self, now: Instant) -> Wake {
        match &self.options.pacer {
            Pacer::Capped { due, .. } | Pacer::Schedule { due, .. } if *due > now => {
                Wake::At((*due).min(self.statistics.load_end))
            }
            _ if !self.slots.free.is_empty() => Wake::Again,
            Pacer::Closed | Pacer::Capped { .. } => Wake::OnCompletion,
            Pacer::Schedule { overflow: Overflow::Drop, .. } => self.drop_due(now),
            Pacer::Schedule { .. } => {
                if let Some(lateness) = &mut self.lateness {
                    lateness.found_none();
                }
                Wake::OnCompletion
            }
            Pacer::Think { .. } | Pacer::Bursts(_) => Wake::Again,
        }
    }

    /// Whether a completion at `now` makes nothing due: what comes next has its instant in a schedule, for which the last
    /// `plan` asked to be woken.
    #[inline]
    pub fn waits_for_arrival(&self, now: Instant) -> bool {
        match &self.options.pacer {
            Pacer::Schedule { due, .. } if !self.is_particular => {
                *due > now && *due < self.statistics.load_end && !self.has_ended()
            }
            _ => false,
        }
    }

    /// Leaves out what is due at `now`, because no slot is free, and says when the next request is due.
    #[cold]
    fn drop_due(&mut self, now: Instant) -> Wake {
        while let Some(due) =
            self.options.pacer.due_before(self.statistics.load_end).filter(|due| *due <= now)
        {
            self.dropped +=
                u64::from(due >= self.statistics.window.from && due < self.statistics.window.until);
            self.options.pacer.advance();
        }
        match self.options.pacer.due_before(self.statistics.load_end) {
            Some(due) => Wake::At(due),
            None => Wake::At(self.statistics.load_end.max(now)),
        }
    }

    /// Records what was due before the end of the load and will not be issued any more: each response is at least the
    /// time waited until now.
    #[cold]
    pub(super) fn abandon_backlog(&mut self, now: Instant) {
        let expected = self.options.pacer.expected_before(self.statistics.load_end).min(self.ops_left);
        let each = expected.div_ceil(UNSERVED_STEPS).max(1);
        while self.ops_left > 0
            && let Some(due) = self.options.pacer.due_before(self.statistics.load_end)
        {
            let count = each.min(self.ops_left);
            self.ops_left -= count;
            let Next { request, class, pause } = self.source.next();
            self.options.pacer.drew(request.bytes(), pause);
            if due >= self.statistics.window.from && due < self.statistics.window.until {
                self.not_issued += count;
                self.statistics.record_unserved(class, now.saturating_since(due), count);
            }
            self.options.pacer.skip(count);
        }
    }
}
