//! Requests that follow from others: writes of what was read, reads of what was written, and the last flushes.

use units::Instant;
use units::convert::narrow;

use crate::backlog::Backlog;
use crate::pace::Pacer;
use crate::seam::IoRequest;
use crate::{Token, Wake};

use super::slots::Slot;
use super::{Job, RequestSource};

impl<S: RequestSource> Job<S> {
    /// Notes the end of a request for the journal and for those that follow it; whether its slot stays taken because
    /// one is due in it now.
    pub(super) fn is_followed(&mut self, at: Instant, ended: &Slot<S::Request>, went_well: bool) -> bool {
        let token = ended.request.token();
        if self.options.is_zoned {
            self.source.ended(token, went_well);
        }
        if let Some(journal) = &mut self.journal {
            journal.ended(token, at);
        }
        if let Some(backlog) = self.backlog.as_mut().filter(|_| went_well)
            && let Some(read) = self.source.read_back(&ended.request, ended.class)
        {
            backlog.push(read);
        }
        self.rewrites.as_mut().is_some_and(|rewrites| rewrites.ended(at, token, went_well))
    }

    /// Appends the writes that follow reads or trims which have ended, at most a batch of them, and says how many.
    pub(super) fn plan_rewrites(&mut self, now: Instant, out: &mut Vec<S::Request>) -> u32 {
        let mut count = 0;
        while count < self.options.submit_batch
            && let Some(request) = self.next_rewrite(now)
        {
            out.push(request);
            count += 1;
        }
        count
    }

    /// The write that follows a read or trim which has ended, while there is load.
    fn next_rewrite(&mut self, now: Instant) -> Option<S::Request> {
        let may = !self.stopped && now < self.statistics.load_end;
        let (due, write, class) = self.rewrites.as_mut().filter(|_| may)?.pop()?;
        Some(self.issue(due, now, write, class))
    }

    /// Decides whether a read or trim is followed by a write, and counts the write as asked for from now on.
    pub(super) fn decide_rewrite(&mut self, first: &S::Request, class: u16) {
        let (Some(rewrites), Some((write, class))) = (&mut self.rewrites, self.source.rewrite(first, class))
        else {
            return;
        };
        if rewrites.decide((write, class), self.ops_left > 0 && self.bytes_left > 0) {
            self.ops_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(write.bytes()));
            self.writes_since_flush += 1;
            self.digest = write.fold(self.digest);
        }
    }

    /// Asks for what was written and not read back yet, once nothing else is asked; the wake while any is left.
    pub(super) fn read_back_rest(&mut self, now: Instant, out: &mut Vec<S::Request>) -> Option<Wake> {
        // Others need not wait for one that has ended.
        self.going_on.flow = None;
        self.backlog.as_ref().filter(|_| !self.stopped)?;
        // As behind a load that its time has ended, where that was set.
        if self.options.run.is_some() && now < self.statistics.window.until {
            if self.in_flight() > 0 {
                return Some(Wake::OnCompletion);
            }
            self.statistics.end_early(self.last_finish);
        }
        self.backlog.as_mut()?.close();
        while narrow::<u32>(out.len()) < self.options.submit_batch
            && let Some(request) = self.next_read_back(now)
        {
            out.push(request);
        }
        let is_due = self.backlog.as_ref().is_some_and(Backlog::is_due);
        is_due.then_some(if self.slots.free.is_empty() { Wake::OnCompletion } else { Wake::Again })
    }

    /// The read of a block that was written, if one is due and a slot is free. It is in no digest and ends nothing.
    pub(super) fn next_read_back(&mut self, now: Instant) -> Option<S::Request> {
        self.backlog.as_ref().filter(|backlog| backlog.is_due())?;
        let token = self.idle_slot()?;
        let (request, class) = self.backlog.as_mut()?.pop()?;
        Some(self.issue(now, now, request.in_slot(token), class))
    }

    /// A slot that holds no request, whatever its pause.
    fn idle_slot(&mut self) -> Option<Token> {
        match (self.slots.free.pop(), &mut self.options.pacer) {
            (None, Pacer::Think { resting, .. }) => Some(resting.pop_front()?.1),
            (free, _) => free,
        }
    }

    /// The next of the last flushes, once nothing else is in flight.
    #[cold]
    pub(super) fn last_flush(&mut self, now: Instant) -> Option<S::Request> {
        if self.stopped || self.in_flight() > 0 {
            return None;
        }
        let (flush, class) = self.source.last_flush()?;
        let token = match self.idle_slot() {
            Some(token) => token,
            // That of a write which is not made any more.
            None => self.rewrites.as_mut()?.pop()?.1.token(),
        };
        let request = self.issue(now, now, flush.in_slot(token), class);
        self.digest = request.fold(self.digest);
        Some(request)
    }
}
