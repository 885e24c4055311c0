//! Which sectors the log has named: whoever tries one again is not told again, and thousands are no help to anybody.

use std::collections::{HashMap, HashSet};

/// Most sectors that the log calls unreadable between two passes.
const MOST_UNREADABLE: usize = 10_000;
/// Most corrections of one bay that it names between two passes.
const MOST_CORRECTED: u64 = 100;

/// What the log has named since a pass was begun last.
#[derive(Debug, Default)]
pub(super) struct Logged {
    unreadable: HashSet<(u32, u64)>,
    corrected: HashMap<u32, u64>,
}

/// What the log is to say of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// Where it is.
    Whole,
    /// That there are more of that bay.
    More,
    /// Nothing.
    Nothing,
}

impl Logged {
    /// A pass begins: it tells what it finds.
    pub fn forget(&mut self) {
        *self = Logged::default();
    }

    /// Whether the log is to say that a sector of a bay is unreadable.
    pub fn is_new(&mut self, bay: u32, lba: u64) -> bool {
        self.unreadable.len() < MOST_UNREADABLE && self.unreadable.insert((bay, lba))
    }

    /// What the log is to say of one more correction of a bay.
    pub fn corrected(&mut self, bay: u32) -> Telling {
        let count = self.corrected.entry(bay).or_default();
        *count += 1;
        match *count {
            ..=MOST_CORRECTED => Telling::Whole,
            more if more == MOST_CORRECTED + 1 => Telling::More,
            _ => Telling::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_corrections_of_a_bay_are_named_and_then_that_there_are_more() {
        let mut told = Logged::default();
        let said: Vec<Telling> = (0..103).map(|_| told.corrected(3)).collect();
        assert!(said[..100].iter().all(|telling| *telling == Telling::Whole));
        assert_eq!(said[100..], [Telling::More, Telling::Nothing, Telling::Nothing]);
        assert_eq!(told.corrected(4), Telling::Whole, "another bay");
        told.forget();
        assert_eq!(told.corrected(3), Telling::Whole, "another pass");
    }

    #[test]
    fn a_sector_is_called_unreadable_once() {
        let mut told = Logged::default();
        assert_eq!([told.is_new(0, 7), told.is_new(0, 7), told.is_new(1, 7)], [true, false, true]);
    }
}
