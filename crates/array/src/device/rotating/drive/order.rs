//! Which command is next.

use super::super::Order;
use super::super::mechanics::Access;
use super::super::waiting::Entry;
use super::Drive;
use crate::meter::Class;

impl Drive {
    /// Takes the next command by the drive's rule, the arm being free from `ready`.
    pub(super) fn choose(&mut self, ready: u64, now: u64) -> Entry {
        let ordered = if self.ordered { self.waiting.first_of(Class::Background) } else { u64::MAX };
        let index = match self.waiting.overdue(now) {
            Some(index) => index,
            None if ordered < u64::MAX => {
                self.waiting.least(|entry, above| match entry.arrived.cmp(&ordered) {
                    std::cmp::Ordering::Less => self.cost(entry, ready, above),
                    std::cmp::Ordering::Equal => u64::MAX - 1,
                    std::cmp::Ordering::Greater => u64::MAX,
                })
            }
            None => self.waiting.least(|entry, above| self.cost(entry, ready, above)),
        };
        self.waiting.take(index)
    }

    /// What the drive's rule goes by: the least is served next. Where it is above `above`, perhaps less, but still above.
    #[inline]
    fn cost(&self, entry: &Entry, ready: u64, above: u64) -> u64 {
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
            Order::Sptf => self.positioning(entry, ready, above),
        }
    }

    #[inline]
    fn positioning(&self, entry: &Entry, ready: u64, above: u64) -> u64 {
        let access = if entry.command.write { Access::DESTAGE } else { Access::Read };
        self.mechanics.reach_within(entry.place, access, ready, above.saturating_add(1))
    }
}
