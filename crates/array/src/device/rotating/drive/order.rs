//! Which command is next.

use super::super::mechanics::Access;
use super::super::waiting::Entry;
use super::super::{FastWrite, Order};
use super::Drive;
use crate::meter::Class;

impl Drive {
    /// Takes the next command by the drive's rule, the arm being free from `ready`.
    pub(super) fn choose(&mut self, ready: u64, now: u64) -> Entry {
        let ordered = if self.ordered { self.waiting.first_of(Class::Background) } else { u64::MAX };
        let coming = self.coming();
        let index = match self.waiting.overdue(now) {
            Some(index) => index,
            None if ordered < u64::MAX => {
                self.waiting.least(|entry, above| match entry.arrived.cmp(&ordered) {
                    std::cmp::Ordering::Less => self.cost(entry, coming, ready, above),
                    std::cmp::Ordering::Equal => u64::MAX - 1,
                    std::cmp::Ordering::Greater => u64::MAX,
                })
            }
            None => self.waiting.least(|entry, above| self.cost(entry, coming, ready, above)),
        };
        let index =
            if self.takes_to_buffer(self.waiting.seen(index)) { self.first_for_buffer() } else { index };
        self.waiting.take(index, now)
    }

    /// Whether a command is a write that the buffer answers, wherever the arm is.
    fn takes_to_buffer(&self, entry: &Entry) -> bool {
        let is_fast = self.params.cache.is_some_and(|cache| cache.fast_write == FastWrite::All);
        is_fast && entry.command.write && u64::from(entry.command.sectors) <= self.dirty_limit
    }

    /// The oldest of such writes: where on the media each goes is decided as it leaves the buffer, and a stream that came out of
    /// order would have holes there.
    fn first_for_buffer(&self) -> usize {
        self.waiting.least(|entry, _| if self.takes_to_buffer(entry) { entry.arrived } else { u64::MAX })
    }

    /// What the drive's rule goes by: the least is served next. Where it is above `above`, perhaps less, but still above.
    #[inline]
    fn cost(&self, entry: &Entry, coming: Option<Coming>, ready: u64, above: u64) -> u64 {
        match self.params.queue.order {
            Order::Fcfs => entry.arrived,
            Order::CLook => {
                // The lowest cylinder not below the arm's, or the lowest of all.
                let wrapped = entry.place.cylinder < self.mechanics.arm.cylinder;
                u64::from(wrapped) << 62
                    | u64::from(entry.place.cylinder) << 24
                    | entry.command.first & 0xff_ffff
            }
            Order::Sstf => u64::from(entry.place.cylinder.abs_diff(self.mechanics.arm.cylinder)),
            Order::Sptf => match coming.and_then(|coming| coming.reaches(entry)) {
                Some(instant) => instant.saturating_sub(ready),
                None => self.positioning(entry, ready, above),
            },
        }
    }

    /// What the read-ahead under way has and comes to, where a read may wait for it.
    fn coming(&self) -> Option<Coming> {
        let (ahead, buffer) = self.ahead.zip(self.buffer.as_ref())?;
        self.params.cache.is_some_and(|cache| cache.almost_hits).then(|| Coming {
            from: buffer.segment(ahead.segment).start,
            limit: ahead.limit,
            since: ahead.since,
            clock: ahead.clock,
        })
    }

    #[inline]
    fn positioning(&self, entry: &Entry, ready: u64, above: u64) -> u64 {
        let access = if entry.command.write { Access::WRITE } else { Access::Read };
        self.mechanics.reach_within(entry.place, access, ready, above.saturating_add(1))
    }
}

/// Sectors `from..limit`, over which the head passes without being sent: at `since` it was at stream clock `clock`.
#[derive(Clone, Copy)]
struct Coming {
    from: u64,
    limit: u64,
    since: u64,
    clock: u64,
}

impl Coming {
    /// When the head is at the first sector of a read, where that is among them.
    #[inline]
    fn reaches(self, entry: &Entry) -> Option<u64> {
        let Coming { from, limit, since, clock } = self;
        let is_among = !entry.command.write && (from..limit).contains(&entry.command.first);
        is_among.then(|| since + entry.place.clock.saturating_sub(clock))
    }
}
