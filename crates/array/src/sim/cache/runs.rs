//! Sectors of a stripe as runs: what of it is dirty, or known.
//!
//! **Invariant:** runs ascend, with a gap between any two.

use units::convert::narrow;

/// Sectors of a stripe, from its first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<(u16, u16)>);

/// No sectors, to refer to.
pub(super) static NONE: Runs = Runs(Vec::new());

impl Runs {
    /// Adds sectors `first..end`; how many of them were not here.
    pub fn insert(&mut self, first: u64, end: u64) -> u64 {
        debug_assert!(first < end, "a run has a length");
        let (mut first, mut end) = (narrow::<u16>(first), narrow::<u16>(end));
        let from = self.0.partition_point(|run| run.1 < first);
        let to = from + self.0[from..].partition_point(|run| run.0 <= end);
        let held: u64 = self.0[from..to].iter().map(length).sum();
        match &self.0[from..to] {
            [] => self.0.insert(from, (first, end)),
            [near @ .., last] => {
                first = first.min(near.first().unwrap_or(last).0);
                end = end.max(last.1);
                self.0[from] = (first, end);
                self.0.drain(from + 1..to);
            }
        }
        debug_assert!(self.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "runs ascend, with gaps between");
        length(&(first, end)) - held
    }

    /// Adds all of `other`; how many sectors of it were not here.
    pub fn add(&mut self, other: &Runs) -> u64 {
        other.each().map(|(first, end)| self.insert(first, end)).sum()
    }

    /// Whether these and those of `other` are all of a stripe of so many sectors.
    pub fn complete(&self, other: &Runs, stripe: u64) -> bool {
        if other.is_empty() {
            return self.is_all(stripe);
        }
        let mut both = self.clone();
        both.add(other);
        both.is_all(stripe)
    }

    /// Whether they are all of a stripe of so many sectors.
    pub fn is_all(&self, stripe: u64) -> bool {
        self.0.first().is_some_and(|run| length(run) == stripe)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn sectors(&self) -> u64 {
        self.0.iter().map(length).sum()
    }

    /// Sectors that they take where whole blocks of so many are taken.
    pub fn taken(&self, block: u64) -> u64 {
        if block <= 1 {
            return self.sectors();
        }
        let mut behind = 0;
        let new = |(first, end): (u64, u64)| {
            let from = (first / block).max(behind);
            behind = end.div_ceil(block);
            behind - from
        };
        block * self.each().map(new).sum::<u64>()
    }

    /// Adds sectors `first..end`; how many of them were not here, and how many more are taken then, of whole blocks of so many.
    pub fn insert_blocks(&mut self, first: u64, end: u64, block: u64) -> (u64, u64) {
        if block <= 1 {
            let new = self.insert(first, end);
            return (new, new);
        }
        let before = self.taken(block);
        (self.insert(first, end), self.taken(block) - before)
    }

    /// Adds all of `other`; the same.
    pub fn add_blocks(&mut self, other: &Runs, block: u64) -> (u64, u64) {
        let each = other.each().map(|(first, end)| self.insert_blocks(first, end, block));
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// First sector and end of each run, in ascending order.
    pub fn each(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|&(first, end)| (u64::from(first), u64::from(end)))
    }
}

fn length(&(first, end): &(u16, u16)) -> u64 {
    u64::from(end - first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_the_set_of_their_sectors(parts in prop::collection::vec((0u64..100, 1u64..20), 0..40)) {
            let (mut runs, mut set) = (Runs::default(), std::collections::BTreeSet::new());
            for (first, length) in parts {
                let new = (first..first + length).filter(|sector| set.insert(*sector)).count();
                prop_assert_eq!(runs.insert(first, first + length), new as u64);
            }
            let listed: Vec<u64> = runs.each().flat_map(|(first, end)| first..end).collect();
            prop_assert_eq!(&listed, &set.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(runs.sectors(), listed.len() as u64);
            prop_assert_eq!(runs.is_all(119), listed.len() == 119);
            let blocks: std::collections::BTreeSet<u64> = listed.iter().map(|sector| sector / 8).collect();
            prop_assert_eq!(runs.taken(8), 8 * blocks.len() as u64);
            prop_assert_eq!(runs.taken(1), runs.sectors());
            let mut again = Runs::default();
            prop_assert_eq!(again.add_blocks(&runs, 8), (runs.sectors(), runs.taken(8)));
            prop_assert_eq!(again.add_blocks(&runs, 8), (0, 0));
        }
    }

    #[test]
    fn what_two_know_together_is_all_of_a_stripe_or_is_not() {
        let of = |parts: &[(u64, u64)]| {
            let mut runs = Runs::default();
            parts.iter().for_each(|&(first, end)| assert!(runs.insert(first, end) > 0));
            runs
        };
        assert!(of(&[(0, 8), (24, 32)]).complete(&of(&[(6, 24)]), 32));
        assert!(!of(&[(0, 8), (24, 32)]).complete(&of(&[(9, 24)]), 32));
        assert!(NONE.is_empty() && !NONE.is_all(32));
    }
}
