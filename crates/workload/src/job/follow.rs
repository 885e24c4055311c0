//! Requests that follow from others: writes of what was read, and the last flushes.

use units::{Bytes, Instant};

use crate::pace::Pacer;
use crate::rewrites::Rewrites;
use crate::{Op, Request};

use super::generator::{Place, What};
use super::slots::Slot;
use super::{Job, fold};

impl Job {
    /// Appends the writes that follow reads or trims which have ended, at most a batch of them, and says how many.
    #[inline(never)]
    pub(super) fn plan_rewrites(&mut self, now: Instant, out: &mut Vec<Request>) -> u32 {
        let mut count = 0;
        while count < self.spec.submit_batch
            && let Some(request) = self.next_rewrite(now)
        {
            out.push(request);
            count += 1;
        }
        count
    }

    /// The write that follows a read or trim which has ended, while there is load.
    fn next_rewrite(&mut self, now: Instant) -> Option<Request> {
        let may = !self.stopped && now < self.books.load_end;
        let (due, token, len) = self.rewrites.as_mut().filter(|_| may)?.pop()?;
        let first = self.slots.last(token);
        // What is followed and writes have the same sizes in the same order.
        let followed = self.spec.mix.followed().unwrap_or(Op::Read);
        let class = self.books.class(Op::Write, first.class - self.books.class(followed, 0));
        self.slots.put(token, Slot { due, issued: now, len, class, ..first });
        self.planned += 1;
        Some(Request { offset: first.offset, len, token, file: first.file, op: Op::Write })
    }

    /// The flush of the next file that has not had its last one, once nothing else is in flight.
    #[cold]
    pub(super) fn last_flush(&mut self, now: Instant) -> Option<Request> {
        if self.stopped || self.in_flight() > 0 {
            return None;
        }
        let file = self.last_flushes.next()?;
        let resting = match &mut self.pacer {
            Pacer::Think { resting, .. } => resting.pop_front().map(|(_, token)| token),
            _ => None,
        };
        let unwritten = self.rewrites.as_mut().and_then(Rewrites::pop).map(|(_, token, _)| token);
        let token = self.slots.free.pop().or(resting).or(unwritten)?;
        Some(self.booked(now, now, token, Place { file, offset: Bytes::ZERO }, What::FLUSH))
    }

    /// Decides whether a read or trim is followed by a write, and counts the write as asked for from now on.
    pub(super) fn decide_rewrite(&mut self, first: &Request) {
        let Some(rewrites) = &mut self.rewrites else { return };
        if rewrites.decide(first.token, self.ops_left > 0 && self.bytes_left > 0) {
            self.ops_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(first.len));
            self.writes_since_flush += 1;
            self.digest = fold(self.digest, Op::Write, first.file, first.offset, first.len);
        }
    }
}
