//! The end of a load that wears out: all workers of a workload come to as many requests as the one that had issued most when
//! its time was over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::tally::{Action, ClassTally, Tally};
use crate::tree::FileOp;

/// What the workers of one workload share of it. A worker that ends before the time is over counts with what it has done.
#[derive(Debug, Default)]
pub struct WearOut {
    /// Workers whose number is not known yet.
    under_way: AtomicU32,
    most: AtomicU64,
}

/// How many requests each worker of a load that wore out came to, syncs not counted; `None` where one did not come so far as the
/// others.
pub fn worn_out<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Option<u64> {
    let is_counted = |class: &&ClassTally| class.class.op != Action::File(FileOp::Sync);
    let of = |tally: &Tally| tally.classes.iter().filter(is_counted).map(|class| class.ended).sum::<u64>();
    let counts: Vec<u64> = tallies.map(of).collect();
    let first = counts.first().copied()?;
    counts.iter().all(|count| *count == first).then_some(first)
}

/// One worker among those of its workload.
#[derive(Debug)]
pub(crate) struct Wearing {
    shared: Arc<WearOut>,
    has_told: bool,
}

impl Wearing {
    /// One more worker. All are there before the first of them tells.
    pub(crate) fn new(shared: &Arc<WearOut>) -> Wearing {
        shared.under_way.fetch_add(1, Ordering::Relaxed);
        Wearing { shared: shared.clone(), has_told: false }
    }

    /// It has issued so many requests, and its time is over. What it tells later changes nothing.
    pub(crate) fn tell(&mut self, issued: u64) {
        if !std::mem::replace(&mut self.has_told, true) {
            self.shared.most.fetch_max(issued, Ordering::AcqRel);
            let under_way = self.shared.under_way.fetch_sub(1, Ordering::AcqRel);
            debug_assert!(under_way > 0, "more workers have told than there are");
        }
    }

    /// The most of all; `None` until each has told.
    pub(crate) fn most(&self) -> Option<u64> {
        let all_told = self.shared.under_way.load(Ordering::Acquire) == 0;
        all_told.then(|| self.shared.most.load(Ordering::Acquire))
    }
}

impl Drop for Wearing {
    /// Others do not wait for one that has failed.
    fn drop(&mut self) {
        self.tell(0);
    }
}
