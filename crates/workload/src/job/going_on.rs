//! How a job goes on from one request to the next where it does not simply fill its slots: the pause before the first,
//! the low water mark, the part of a flow, files that are opened again, a warm-up that counts bytes,
//! and what wears out behind its time.

use std::sync::Arc;

use units::{Instant, Nanos};

use crate::flow::{Flow, FlowTotals, Member};
use crate::rewrites::Rewrites;
use crate::seam::IoRequest;
use crate::wear_out::Wearing;
use crate::{Op, Wake};
use crate::{WarmUp, WearOut};

use super::{Job, RequestSource};

/// A job that has had its part of a flow looks again after so long.
const FLOW_LOOK: Nanos = Nanos::from_micros(50);

/// What stands between a free slot and the next request.
#[derive(Debug, Default)]
pub(super) struct GoingOn {
    /// Before it nothing is asked.
    pub begins: Instant,
    /// Whether the next request is counted in its flow already.
    pub is_admitted: bool,
    pub flow: Option<Flow>,
    /// Until it ends.
    pub member: Option<Member>,
    /// Until the measured window begins, where bytes decide when.
    pub warm_up: Option<Arc<WarmUp>>,
    /// Until requests are counted anew with the measured window.
    pub counts_anew: bool,
    /// Until it is known how far it goes on behind its time.
    pub wearing: Option<Wearing>,
    /// Whether slots wait for the low water mark.
    draining: bool,
    /// Requests since files were opened.
    since_open: u32,
    /// Whether they are to be opened again before what is planned next.
    reopens: bool,
}

impl<S: RequestSource> Job<S> {
    /// Has it keep its part of the flow of all jobs with these totals, and end with them where its specification says so.
    /// Call it before any of them starts; a job without it ends by its own limits alone.
    pub fn share_flow(&mut self, totals: &Arc<FlowTotals>) {
        self.going_on.member = Some(Member::new(totals, !self.options.with_others));
        let at_once = self.options.start.is_zero();
        self.going_on.flow = self.options.sequence.flow.map(|weight| Flow::new(totals, weight, at_once));
    }

    /// Has it begin its measured window with all jobs of this warm-up, where that counts bytes; by itself it counts its own
    /// part alone. Call it before any of them starts.
    pub fn share_warm_up(&mut self, warm_up: &Arc<WarmUp>) {
        self.going_on.warm_up = self.options.warmup_bytes.map(|part| {
            warm_up.join(part);
            warm_up.clone()
        });
    }

    /// Has it wear out with all jobs that share this, where its specification says so; by itself it has come as far as it goes.
    /// Call it before any of them starts.
    pub fn share_wear_out(&mut self, shared: &Arc<WearOut>) {
        self.going_on.wearing = self.options.wall.map(|_| Wearing::new(shared));
    }

    /// Tells the others how far it has come once its time is over, and learns how far all go on; until then it waits.
    pub(super) fn wears_out(&mut self, now: Instant) -> Option<Wake> {
        let has_ended = self.has_ended();
        let issued = self.options.ops.unwrap_or(u64::MAX) - self.ops_left;
        let over = self.statistics.window.from.saturating_add(self.options.wall?);
        let wearing = self.going_on.wearing.as_mut()?;
        if now < over && !has_ended {
            return None;
        }
        wearing.tell(issued);
        match wearing.most() {
            None if !has_ended => return Some(Wake::At(now.saturating_add(FLOW_LOOK))),
            Some(most) if !has_ended => self.ops_left = self.ops_left.min(most - issued),
            _ => {}
        }
        self.going_on.wearing = None;
        None
    }

    /// Begins the measured window if the warm-up by bytes was over by `now`, and counts requests anew once any warm-up is.
    pub(super) fn looks_at_warm_up(&mut self, now: Instant) {
        self.opens_window(now);
        if self.going_on.counts_anew && now >= self.statistics.window.from {
            self.going_on.counts_anew = false;
            // What is in flight ends within the window, and so do the writes that follow.
            let under_way = self.slots.requests().filter(|request| request.action() != Op::Flush).count()
                + self.rewrites.as_ref().map_or(0, Rewrites::to_come)
                + usize::from(self.drawn.is_some());
            self.ops_left = self.options.ops.unwrap_or(u64::MAX).saturating_sub(under_way as u64);
        }
    }

    fn opens_window(&mut self, now: Instant) {
        let over = self.going_on.warm_up.as_ref().and_then(|warm_up| warm_up.over());
        let Some(over) = over.filter(|over| *over <= now) else { return };
        self.going_on.warm_up = None;
        let count = self.in_flight() as usize;
        let in_flight = self.slots.in_flight().take(count);
        self.statistics.open(over, &self.options, in_flight);
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
        self.going_on.draining |= self.options.sequence.low_water.is_some() && self.slots.free.is_empty();
        self.going_on.since_open = self.going_on.since_open.saturating_add(1);
    }

    /// Why nothing more may be asked although a slot may be free: files that are to be opened again, the low water mark, or
    /// the part of a flow.
    pub(super) fn held_back(&mut self, now: Instant) -> Option<Wake> {
        let in_flight = self.in_flight();
        let going_on = &mut self.going_on;
        if let Some(low) = self.options.sequence.low_water {
            going_on.draining = going_on.draining && in_flight > low;
            if going_on.draining {
                return Some(Wake::OnCompletion);
            }
        }
        if self.options.sequence.reopen_every.is_some_and(|every| going_on.since_open >= every) {
            // Files are closed once nothing is in flight.
            if in_flight > 0 {
                return Some(Wake::OnCompletion);
            }
            (going_on.since_open, going_on.reopens) = (0, true);
        }
        let flow = going_on.flow.as_mut().filter(|_| !going_on.is_admitted)?;
        going_on.is_admitted = flow.admit();
        let again = now.saturating_add(FLOW_LOOK).min(self.statistics.load_end);
        (!going_on.is_admitted).then_some(Wake::At(again))
    }
}
