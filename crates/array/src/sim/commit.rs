//! Writes that wait until a transaction of the journal makes them stable.
//!
//! **Invariant:** at most one transaction is under way on a set; who comes meanwhile shares the next. So does jbd2
//! (`jbd2_log_wait_commit`), so does the log of XFS, and so does the block layer with flushes (`block/blk-flush.c`).

use units::convert::truncated;
use units::{Lba, SECTOR_BYTES, Sectors};

use crate::controller::JournalParams;
use crate::raid::Extent;

/// The transactions on one set.
#[derive(Debug, Default)]
pub struct Commits {
    /// What the one under way makes stable, by the places of the requests; the first stands for all.
    under_way: Vec<u32>,
    waiting: Vec<u32>,
    /// Transactions so far.
    count: u64,
}

impl Commits {
    /// Takes a write in whose data are written. Whether it stands for a transaction that begins now.
    pub fn join(&mut self, place: u32) -> bool {
        let begins = self.under_way.is_empty();
        debug_assert!(!begins || self.waiting.is_empty(), "who waits does so for a transaction under way");
        debug_assert!(
            !self.under_way.contains(&place) && !self.waiting.contains(&place),
            "a write waits once"
        );
        let shared = if begins { &mut self.under_way } else { &mut self.waiting };
        shared.push(place);
        begins
    }

    /// Where the record of the transaction goes on a volume of sectors `from..to`, each after the one before; `None`
    /// where there is none.
    pub fn record(&mut self, journal: JournalParams, from: u64, to: u64) -> Option<Extent> {
        let JournalParams { record, at, size, .. } = journal;
        let (sectors, bytes) = (record.get() / SECTOR_BYTES, record.get());
        let slots = size.get().checked_div(bytes)?.max(1);
        let start = truncated::<u64>(at.get() * (to - from) as f64)
            .min((to - from).saturating_sub(size.get() / SECTOR_BYTES));
        // On whole pages, as file systems lay it out.
        let start = start - start % 8;
        let slot = self.count % slots;
        self.count += 1;
        Some(Extent { lba: Lba(from + start + slot * sectors), sectors: Sectors(sectors) })
    }

    /// The transaction under way has ended: what it has made stable, and the write that stands for the next.
    pub fn end(&mut self) -> (Vec<u32>, Option<u32>) {
        debug_assert!(!self.under_way.is_empty(), "what ends must be under way");
        let next = std::mem::take(&mut self.waiting);
        let stable = std::mem::replace(&mut self.under_way, next);
        (stable, self.under_way.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Share};

    #[test]
    fn who_comes_while_a_transaction_is_under_way_shares_the_next() {
        let mut commits = Commits::default();
        assert!(commits.join(1));
        assert!(!commits.join(2) && !commits.join(3));
        assert_eq!(commits.end(), (vec![1], Some(2)));
        assert!(!commits.join(4));
        assert_eq!(commits.end(), (vec![2, 3], Some(4)));
        assert_eq!(commits.end(), (vec![4], None));
        assert!(commits.join(5));
    }

    #[test]
    fn records_follow_one_another_round_the_journal() {
        let at = Share::new(0.5).expect("a share");
        let journal = JournalParams { record: Bytes::KIB * 4, at, size: Bytes::KIB * 8, force: None };
        let mut commits = Commits::default();
        let mut next = || commits.record(journal, 1000, 3000).expect("there is a record").lba.0;
        assert_eq!([next(), next(), next()], [2000, 2008, 2000]);
        let none = JournalParams { record: Bytes::ZERO, ..journal };
        assert_eq!(commits.record(none, 0, 1000), None);
    }
}
