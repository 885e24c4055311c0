//! What the figure of a cell is made of: effects of single factors and of two together.

use std::fmt;

/// A main effect or an interaction of two factors, by their places in the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// One factor, whatever the levels of the others.
    Main(usize),
    /// What the levels of the one change about the effect of the other; the lower place first.
    Pair(usize, usize),
}

impl Term {
    /// The interaction of two factors in either order.
    ///
    /// # Panics
    ///
    /// Where they are the same.
    pub fn pair(one: usize, other: usize) -> Term {
        assert_ne!(one, other, "a factor does not interact with itself");
        Term::Pair(one.min(other), one.max(other))
    }

    /// The places of its factors, in ascending order.
    pub fn factors(self) -> Vec<usize> {
        match self {
            Term::Main(factor) => vec![factor],
            Term::Pair(one, other) => vec![one, other],
        }
    }

    /// All of so many factors: main effects first, then the interactions in the order of their factors.
    pub(super) fn all(factors: usize) -> Vec<Term> {
        let pairs = (0..factors).flat_map(|one| (one + 1..factors).map(move |other| Term::Pair(one, other)));
        (0..factors).map(Term::Main).chain(pairs).collect()
    }
}

impl fmt::Display for Term {
    /// `factor 2`, `factors 1 and 3`: counted from one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Main(factor) => write!(f, "factor {}", factor + 1),
            Term::Pair(one, other) => write!(f, "factors {} and {}", one + 1, other + 1),
        }
    }
}

/// Where a term varies, and so which error it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stratum {
    /// From one whole plot to the next: only factors that are hard to change.
    WholePlots,
    /// From one measurement of a whole plot to the next; or of a block, where no plot has more than one or all.
    Within,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_all_main_effects_and_then_all_pairs() {
        let wanted = [
            Term::Main(0),
            Term::Main(1),
            Term::Main(2),
            Term::Pair(0, 1),
            Term::Pair(0, 2),
            Term::Pair(1, 2),
        ];
        assert_eq!(Term::all(3), wanted);
        assert_eq!(Term::all(1), [Term::Main(0)]);
        assert_eq!(Term::pair(2, 1), Term::Pair(1, 2));
        assert_eq!((Term::pair(0, 3).factors(), Term::Main(4).factors()), (vec![0, 3], vec![4]));
        assert_eq!(
            [Term::Main(1), Term::Pair(0, 2)].map(|term| term.to_string()),
            ["factor 2", "factors 1 and 3"]
        );
    }
}
