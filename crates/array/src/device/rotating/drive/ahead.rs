//! The read-ahead under way: what it has brought by an instant, and where it stops.

use super::super::layout::SectorPosition;
use super::super::mechanics::{Access, Arm, Media};
use super::Drive;

/// A read-ahead under way: at `since` the head passed stream clock `clock`; it continues up to sector `limit`, which it
/// passes after `least` nanoseconds or later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) segment: usize,
    pub(super) since: u64,
    pub(super) clock: u64,
    pub(super) limit: u64,
    pub(super) least: u64,
}

impl Drive {
    /// Moves the arm to `place` from `begin` or when it is free, waits for the angle, and passes over `sectors`.
    pub(super) fn move_to(
        &mut self,
        place: SectorPosition,
        first: u64,
        sectors: u64,
        begin: u64,
        access: Access,
    ) -> Media {
        let begin = begin.max(self.mechanics.arm.free_at);
        self.ahead = self.stop_ahead(begin);
        self.passed_last = first + sectors;
        self.mechanics.pass(place, first, sectors, begin, access)
    }

    /// Books what the read-ahead has fetched by `now`, and ends it where it has reached its limit. What a command at
    /// `first` cannot ask for is booked when the read-ahead stops.
    pub(super) fn settle_ahead(&mut self, now: u64, first: u64) {
        let Some(ahead) = self.ahead else { return };
        if now <= ahead.since {
            return;
        }
        let passed = now - ahead.since;
        let clock = ahead.clock + passed;
        if passed >= ahead.least && clock >= self.mechanics.layout.end_clock(ahead.limit - 1, 1) {
            self.ahead = None;
            self.ahead_got_to_limit(ahead);
        } else if let Some(buffer) = &self.buffer {
            // What it has passed is in the buffer, so that a stream that leaves sectors out is answered too.
            if (buffer.segment(ahead.segment).start..=ahead.limit).contains(&first) {
                self.fill_to(ahead.segment, self.mechanics.layout.reach(clock));
            }
        }
    }

    /// Stops the read-ahead at `now`; always `None`, the state that follows.
    pub(super) fn stop_ahead(&mut self, now: u64) -> Option<Ahead> {
        let ahead = self.ahead?;
        let clock = ahead.clock + now.saturating_sub(ahead.since);
        let (reached, cylinder, head) = self.mechanics.layout.reach_at(clock);
        if reached > ahead.limit {
            self.ahead_got_to_limit(ahead);
        } else {
            self.fill_to(ahead.segment, reached);
            self.mechanics.arm = Arm { cylinder, head, clock, ..self.mechanics.arm };
        }
        None
    }

    fn ahead_got_to_limit(&mut self, ahead: Ahead) {
        self.fill_to(ahead.segment, ahead.limit);
        let last = self.mechanics.layout.place(ahead.limit - 1);
        let SectorPosition { cylinder, head, clock, .. } = last;
        self.mechanics.arm = Arm { cylinder, head, clock, ..self.mechanics.arm };
    }

    /// Books what a read-ahead has brought into a segment. It may have been given away since: only one that still ends in
    /// this stream grows.
    fn fill_to(&mut self, segment: usize, reached: u64) {
        let Some(buffer) = self.buffer.as_mut() else { return };
        let held = buffer.segment(segment);
        if held.start <= reached && held.end < reached {
            buffer.extend(segment, reached);
        }
    }
}
