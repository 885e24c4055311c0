//! How a job goes on from one request to the next where it does not simply fill its slots: the pause before the first,
//! the low water mark, the part of a flow, and reads of what was written.

use std::sync::Arc;

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::backlog::{Backlog, Written};
use crate::flow::{Flow, FlowTotals};
use crate::pace::Pacer;
use crate::{Op, Request, Wake};

use super::slots::Slot;
use super::{Job, JobSpec};

/// A job that has had its part of a flow looks again after so long.
const FLOW_LOOK: Nanos = Nanos::from_micros(50);

/// What stands between a free slot and the next request.
#[derive(Debug)]
pub(super) struct GoingOn {
    /// Before it nothing is asked.
    pub begins: Instant,
    pub backlog: Option<Backlog>,
    /// Whether the next request is counted in its flow already.
    pub is_admitted: bool,
    flow: Option<Flow>,
    /// Whether slots wait for the low water mark.
    draining: bool,
    /// Requests since files were opened.
    since_open: u32,
    /// Whether slots wait until nothing is in flight, so that files can be closed.
    closing: bool,
    /// Whether they are to be opened again before what is planned next.
    reopens: bool,
}

impl GoingOn {
    /// Before the start.
    pub fn new(spec: &JobSpec) -> GoingOn {
        GoingOn {
            begins: Instant::START,
            backlog: spec.sequence.read_back.map(Backlog::new),
            is_admitted: false,
            flow: None,
            draining: false,
            since_open: 0,
            closing: false,
            reopens: false,
        }
    }
}

impl Job {
    /// Lets it keep its part of the flow that all jobs with these totals have. Call before any of them starts; without
    /// it, and where the specification has no flow, the job goes on by itself.
    pub fn share_flow(&mut self, totals: &Arc<FlowTotals>) {
        let at_once = self.spec.start.is_zero();
        self.going_on.flow = self.spec.sequence.flow.map(|weight| Flow::new(totals, weight, at_once));
    }

    /// Asks for what was written and not read back yet, once nothing else is asked; the wake while any is left.
    pub(super) fn read_back_rest(&mut self, now: Instant, out: &mut Vec<Request>) -> Option<Wake> {
        // Others need not wait for one that has ended.
        self.going_on.flow = None;
        self.going_on.backlog.as_mut().filter(|_| !self.stopped)?.close();
        while narrow::<u32>(out.len()) < self.spec.submit_batch
            && let Some(request) = self.next_read_back(now)
        {
            out.push(request);
        }
        let is_due = self.going_on.backlog.as_ref().is_some_and(Backlog::is_due);
        is_due.then_some(if self.slots.free.is_empty() { Wake::OnCompletion } else { Wake::Again })
    }

    /// The read of a block that was written, if one is due and a slot is free. It is in no digest and ends nothing.
    pub(super) fn next_read_back(&mut self, now: Instant) -> Option<Request> {
        let backlog = self.going_on.backlog.as_mut().filter(|backlog| backlog.is_due())?;
        let token = match (self.slots.free.pop(), &mut self.pacer) {
            (Some(token), _) => token,
            (None, Pacer::Think { resting, .. }) => resting.pop_front()?.1,
            (None, _) => return None,
        };
        let Written { file, offset, len, size } = backlog.pop().expect("one is due");
        let class = self.books.class(Op::Read, size);
        self.planned += 1;
        self.slots.put(token, Slot { due: now, issued: now, offset, len, file, class });
        Some(Request { offset, len, token, file, op: Op::Read })
    }

    /// Takes a request that has ended well into the backlog, if there is one and it was a write.
    pub(super) fn book_written(&mut self, Slot { offset, len, file, class, .. }: Slot) {
        let Some(backlog) = &mut self.going_on.backlog else { return };
        if self.books.described(class).op == Op::Write {
            let size = class - self.books.class(Op::Write, 0);
            backlog.push(Written { file, offset, len, size });
        }
    }

    /// Whether whoever drives it closes its files and opens them again, before it submits what was planned last. Nothing
    /// is in flight then.
    #[inline]
    pub fn reopens(&mut self) -> bool {
        std::mem::take(&mut self.going_on.reopens)
    }

    /// Counts a request that waits for nothing any more.
    pub(super) fn goes_ahead(&mut self) {
        self.going_on.is_admitted = false;
        // Whatever ends before the next plan, the depth has been reached.
        self.going_on.draining |= self.spec.sequence.low_water.is_some() && self.slots.free.is_empty();
        self.going_on.since_open = self.going_on.since_open.saturating_add(1);
    }

    /// Why nothing more may be asked although a slot may be free: files that are to be opened again, the low water mark, or
    /// the part of a flow.
    pub(super) fn held_back(&mut self, now: Instant) -> Option<Wake> {
        let in_flight = self.in_flight();
        let going_on = &mut self.going_on;
        if let Some(low) = self.spec.sequence.low_water {
            going_on.draining = going_on.draining && in_flight > low;
            if going_on.draining {
                return Some(Wake::OnCompletion);
            }
        }
        if self.spec.sequence.reopen_every.is_some_and(|every| going_on.since_open >= every) {
            going_on.closing = in_flight > 0;
            if going_on.closing {
                return Some(Wake::OnCompletion);
            }
            (going_on.since_open, going_on.reopens) = (0, true);
        }
        let flow = going_on.flow.as_mut().filter(|_| !going_on.is_admitted)?;
        going_on.is_admitted = flow.admit();
        let again = now.saturating_add(FLOW_LOOK).min(self.books.load_end);
        (!going_on.is_admitted).then_some(Wake::At(again))
    }
}
