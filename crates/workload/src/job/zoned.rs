//! Requests that find their place among zones only once they have a slot.

use units::{Instant, Nanos};

use crate::seam::IoRequest;
use crate::zones::{DeviceZone, Placing, ZoneCall, ZoneStates, ZoneWait};
use crate::{Token, Wake};

use super::{BlockRequests, Job, RequestSource};

/// Who waits for a zone that is in other hands looks again after so long.
const HELD_LOOK: Nanos = Nanos::from_micros(5);

/// Who finds nothing to read looks again after so long.
const NOTHING_LOOK: Nanos = Nanos::from_micros(50);

impl Job<BlockRequests> {
    /// Lets it share the zones of its files, by their numbers under those names, with all jobs that have these states. Call before the
    /// start; without it they are its own.
    pub fn share_zones(&mut self, states: &ZoneStates, name: impl Fn(u16) -> String) {
        if let Some(zoned) = &mut self.source.zoned {
            zoned.share(states, zoned.file_numbers().map(name));
        }
    }
}

impl<S: RequestSource> Job<S> {
    /// What it waits for once it has nothing in flight itself: a zone that another job has in hand.
    pub fn waits_for_zone(&self) -> Option<&ZoneWait> {
        self.waiting.filter(|_| self.in_flight() == 0)?;
        self.source.waits_for_zone()
    }

    /// What the device of a zone is to do before the next request, after those that were planned; ask after [`Job::plan`].
    /// `None` in nearly all cases.
    #[inline]
    pub fn zone_call(&self) -> Option<ZoneCall> {
        if self.options.is_zoned { self.source.zone_call() } else { None }
    }

    /// The device has done it; `told` is its report of the zone, `None` after a reset.
    pub fn zone_answered(&mut self, told: Option<DeviceZone>) {
        self.source.zone_answered(told);
    }

    /// Finds the place of the next request, which stays drawn, and says when it was due; otherwise when to ask again, or
    /// `None` where nothing is left to ask for.
    pub(super) fn find_place(
        &mut self,
        now: Instant,
        (due, token): (Instant, Token),
    ) -> Result<Instant, Option<Wake>> {
        if self.flush_is_due() {
            return Ok(due);
        }
        let mut next = match self.drawn.take() {
            Some(next) => next,
            None => self.draw(),
        };
        let drawn = u64::from(next.request.bytes());
        let budget = self.bytes_left.saturating_add(drawn);
        let placing = self.source.place(&mut next, token, budget);
        let look = match placing {
            Placing::Placed { left_out, .. } => {
                if self.options.bytes.is_some() {
                    // What was left out counts as gone through.
                    let len = u64::from(next.request.bytes());
                    self.bytes_left = (budget - len).saturating_sub(left_out);
                }
                self.drawn = Some(next);
                // No schedule waits for a zone: a closed loop asks when it may.
                return Ok(if self.lateness.is_some() { due } else { now });
            }
            Placing::Nothing if self.options.run.is_none() => {
                self.slots.free.push(token);
                self.ops_left = 0;
                return Err(None);
            }
            Placing::Calls(_) => {
                (self.drawn, self.waiting) = (Some(next), Some((due, token)));
                return Err(Some(Wake::Again));
            }
            Placing::Nothing => NOTHING_LOOK,
            Placing::Held => HELD_LOOK,
        };
        (self.drawn, self.waiting) = (Some(next), Some((due, token)));
        // As fio, which lets its own requests end first.
        if placing == Placing::Held && self.in_flight() > 0 {
            return Err(Some(Wake::OnCompletion));
        }
        Err(Some(Wake::At(now.saturating_add(look).min(self.statistics.load_end))))
    }
}
