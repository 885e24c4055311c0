//! The order in which queue depths are tried until the deepest one that keeps every SLO is known.
//!
//! Depths are doubled until one fails, and halved between the last that held and the first that did not, as fio does
//! with `latency_target`; the deepest that held is then tried again.
//!
//! **Invariant:** knows no world and no clock. No depth is tried above the most that is allowed, and the trials end,
//! whatever they show.

/// What a depth is tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthPurpose {
    /// Twice the one before, which held.
    Doubling,
    /// Between one that held and one that did not.
    Halving,
    /// The deepest that held, once more.
    Confirm,
}

impl DepthPurpose {
    /// In a few words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            DepthPurpose::Doubling => "doubling",
            DepthPurpose::Halving => "bisection",
            DepthPurpose::Confirm => "confirm",
        }
    }
}

/// What is known of the depths so far.
#[derive(Clone, Debug)]
pub struct DepthLadder {
    most: u32,
    passed: Vec<u32>,
    failed: Option<u32>,
    confirmed: bool,
}

impl DepthLadder {
    /// Nothing was tried yet; no depth above `most` will be.
    pub fn new(most: u32) -> DepthLadder {
        DepthLadder { most: most.max(1), passed: Vec::new(), failed: None, confirmed: false }
    }

    /// The depth to be tried next; `None` once the search is at its end.
    pub fn next_depth(&self) -> Option<(u32, DepthPurpose)> {
        if self.confirmed {
            return None;
        }
        let held = self.held().unwrap_or(0);
        let step = match self.failed {
            None => (held < self.most)
                .then(|| (held.saturating_mul(2).clamp(1, self.most), DepthPurpose::Doubling)),
            Some(failed) => (failed - held > 1).then(|| (held + (failed - held) / 2, DepthPurpose::Halving)),
        };
        let next = step.or_else(|| (held > 0).then_some((held, DepthPurpose::Confirm)));
        assert!(
            next.is_none_or(|(depth, _)| (1..=self.most).contains(&depth)),
            "no depth is tried above the most"
        );
        next
    }

    /// Takes note of what a trial of `depth` showed. A depth that held once and failed once has failed.
    pub fn decided(&mut self, depth: u32, held: bool) {
        if held {
            self.confirmed = self.held() == Some(depth)
                && self.next_depth().is_some_and(|next| next.1 == DepthPurpose::Confirm);
            self.passed.push(depth);
        } else {
            self.failed = Some(self.failed.map_or(depth, |failed| failed.min(depth)));
        }
    }

    /// The deepest that held, below any that did not.
    pub fn held(&self) -> Option<u32> {
        self.passed.iter().copied().filter(|depth| self.failed.is_none_or(|failed| *depth < failed)).max()
    }

    /// The least deep that did not.
    pub fn failed(&self) -> Option<u32> {
        self.failed
    }

    /// Whether the deepest that held did so again.
    pub fn is_confirmed(&self) -> bool {
        self.confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is tried where depths up to `edge` hold, and what was found.
    fn searched(most: u32, edge: u32) -> (Vec<u32>, DepthLadder) {
        let mut ladder = DepthLadder::new(most);
        let mut tried = Vec::new();
        while let Some((depth, _)) = ladder.next_depth() {
            tried.push(depth);
            ladder.decided(depth, depth <= edge);
        }
        (tried, ladder)
    }

    #[test]
    fn the_deepest_that_holds_is_found_wherever_it_lies() {
        for most in [1, 2, 3, 64, 100, 1024] {
            for edge in (1..=130).chain([1023, 1024]) {
                let (tried, ladder) = searched(most, edge);
                assert_eq!(ladder.held(), Some(edge.min(most)), "{most} {edge}");
                assert_eq!(ladder.failed(), (edge < most).then_some(edge + 1));
                assert!(ladder.is_confirmed() && tried.iter().all(|depth| (1..=most).contains(depth)));
                assert!(tried.len() <= 23, "{tried:?}");
            }
        }
        assert_eq!(searched(64, 12).0, [1, 2, 4, 8, 16, 12, 14, 13, 12]);
    }

    #[test]
    fn where_one_in_flight_does_not_hold_nothing_does() {
        let (tried, ladder) = searched(64, 0);
        assert_eq!((tried, ladder.held(), ladder.failed()), (vec![1], None, Some(1)));
    }

    #[test]
    fn a_depth_that_does_not_hold_again_gives_way_to_a_lower_one() {
        let mut ladder = DepthLadder::new(8);
        for (depth, held) in [(1, true), (2, true), (4, true), (8, true)] {
            assert_eq!(ladder.next_depth(), Some((depth, DepthPurpose::Doubling)));
            ladder.decided(depth, held);
        }
        assert_eq!(ladder.next_depth(), Some((8, DepthPurpose::Confirm)));
        ladder.decided(8, false);
        assert_eq!(
            (ladder.held(), ladder.failed(), ladder.next_depth()),
            (Some(4), Some(8), Some((6, DepthPurpose::Halving)))
        );
    }

    #[test]
    fn trials_end_even_where_each_depth_holds_by_chance() {
        // A generator that any reader can follow: what holds follows from the number of the trial alone.
        for pattern in 0..512u32 {
            let mut ladder = DepthLadder::new(256);
            let mut trials = 0u32;
            while let Some((depth, _)) = ladder.next_depth() {
                ladder.decided(depth, (pattern >> (trials % 9)) & 1 == 1);
                trials += 1;
                assert!(trials < 2_000, "{pattern:b}");
            }
            assert!(ladder.held().zip(ladder.failed()).is_none_or(|(held, failed)| held < failed));
        }
    }
}
