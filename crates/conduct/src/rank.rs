//! One of several processes that carry a plan out together.

use std::ops::Range;

use units::Instant;

/// Which of several processes this is, and how they use the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// From 0; below `of`.
    pub number: u32,
    /// How many there are; not zero.
    pub of: u32,
    /// Whose share of the workers it drives: its own, or that of another, which drives another's in turn.
    pub drives: u32,
    /// Whether each makes scratch files of its own. Otherwise number 0 makes them, and all use them.
    pub has_own_files: bool,
}

impl Rank {
    /// Which of `workers` it drives: every worker is driven by one rank, each rank drives neighbours, and the first ranks
    /// drive one more where the number does not divide. Empty where there are more ranks than workers.
    pub fn share(self, workers: u32) -> Range<u32> {
        assert!(
            self.number < self.of && self.drives < self.of,
            "a rank is one of them, and drives the share of one"
        );
        let (each, more) = (workers / self.of, workers % self.of);
        let first = self.drives * each + self.drives.min(more);
        let share = first..first + each + u32::from(self.drives < more);
        debug_assert!(share.end <= workers, "no worker is driven that there is not");
        share
    }

    /// Number `number` of `of`, which drives its own share.
    pub fn new(number: u32, of: u32, has_own_files: bool) -> Rank {
        Rank { number, of, drives: number, has_own_files }
    }

    /// Whether it makes the scratch files that it uses.
    pub fn makes_files(self) -> bool {
        self.number == 0 || self.has_own_files
    }
}

/// What a process has written since it told last, as the others hold what they read against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrote {
    /// Numbers of its writes, from the first to the one behind the last.
    pub numbers: (u32, u32),
    /// Stretches of a file, in no order.
    pub runs: Vec<WroteRun>,
    /// Bytes that each of its workers wrote in the last load that wrote, by its number, where a later load reads no more.
    pub workers: Vec<(u32, u64)>,
}

/// A stretch of a file that one process has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WroteRun {
    /// Which file: a number that all processes give it.
    pub file: u32,
    /// The first block, counted in what carries a stamp of its own.
    pub first: u64,
    /// How many blocks.
    pub blocks: u64,
    /// Whether each carries the stamp of its last write; otherwise nobody knows what is there.
    pub is_stamped: bool,
}

/// Where a process waits for the others.
pub trait Gate: Send {
    /// The target is prepared: the others may look for what was made.
    fn prepared(&mut self);

    /// All workers of this process are ready: when they start, on its own clock, which `now` reads; `None` where they do
    /// not.
    fn start(&mut self, now: &dyn Fn() -> Instant) -> Option<Instant>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_is_driven_by_one_rank_and_the_first_never_idles() {
        for of in 1..20 {
            for workers in 1..70 {
                let shares = (0..of).map(|number| Rank::new(number, of, false).share(workers));
                let all: Vec<u32> = shares.clone().flatten().collect();
                assert_eq!(all, (0..workers).collect::<Vec<_>>(), "{workers} workers, {of} ranks");
                let sizes: Vec<usize> = shares.map(|share| share.len()).collect();
                assert!(sizes[0] - sizes[sizes.len() - 1] <= 1 && sizes[0] > 0);
            }
        }
    }
}
