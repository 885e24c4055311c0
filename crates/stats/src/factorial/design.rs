//! Factors, and the combinations of their levels that are measured.

use std::collections::BTreeSet;

use super::{DesignError, Refusal, Term};

/// No design has more cells.
pub const CELLS_MOST: usize = 1 << 16;

/// One thing that is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// How many values it takes, at least two. The first is the one that the others are held against.
    pub levels: usize,
    /// Whether it is hard to change, so that it keeps its level over a whole plot.
    pub hard: bool,
}

/// Which combinations of levels are measured, the same ones in every block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    factors: Vec<Factor>,
    cells: Vec<Vec<usize>>,
    shared_chance: bool,
}

impl Design {
    /// Every combination of levels; the last factor changes fastest.
    ///
    /// # Errors
    ///
    /// No factor, a factor with fewer than two levels, or more than [`CELLS_MOST`] cells.
    pub fn full(factors: Vec<Factor>) -> Result<Design, DesignError> {
        let product = factors.iter().try_fold(1usize, |cells, factor| cells.checked_mul(factor.levels));
        if product.is_none_or(|cells| cells > CELLS_MOST) {
            return Err(DesignError::TooMany);
        }
        let mut cells = vec![Vec::new()];
        for factor in &factors {
            let with = |cell: &Vec<usize>, level| cell.iter().copied().chain([level]).collect();
            cells = cells
                .iter()
                .flat_map(|cell| (0..factor.levels).map(move |level| with(cell, level)))
                .collect();
        }
        Design::of(factors, cells)
    }

    /// These cells, each as the level of each factor, counted from zero.
    ///
    /// A design that is not balanced is one: [`Design::balance`] tells, and nothing is analysed of it.
    ///
    /// # Errors
    ///
    /// No factor, a factor with fewer than two levels, no cell, more than [`CELLS_MOST`], one that has not one level of
    /// each factor, or one that is there twice.
    pub fn of(factors: Vec<Factor>, cells: Vec<Vec<usize>>) -> Result<Design, DesignError> {
        if factors.is_empty() {
            return Err(DesignError::NoFactor);
        }
        if let Some(at) = factors.iter().position(|factor| factor.levels < 2) {
            return Err(DesignError::OneLevel(at));
        }
        match cells.len() {
            0 => return Err(DesignError::NoCell),
            count if count > CELLS_MOST => return Err(DesignError::TooMany),
            _ => {}
        }
        let mut seen = BTreeSet::new();
        for (at, cell) in cells.iter().enumerate() {
            let fits = cell.iter().zip(&factors).all(|(level, factor)| *level < factor.levels);
            if cell.len() != factors.len() || !fits {
                return Err(DesignError::Level(at));
            }
            if !seen.insert(cell) {
                return Err(DesignError::Twice(at));
            }
        }
        Ok(Design { factors, cells, shared_chance: false })
    }

    /// A regular fraction, one of so many parts of all combinations: those whose levels, summed over the factors whose
    /// number of levels `one_of` divides, leave nothing when divided by it.
    ///
    /// All levels of a factor, and all combinations of two, are in equally many cells. `None` with fewer than three
    /// such factors, where main effects could not be told from each other; where there is no full design; and where
    /// levels of a factor are in part bound to whole plots, as those of one of four levels to the sum of two hard ones.
    pub fn fraction(factors: Vec<Factor>, one_of: usize) -> Option<Design> {
        let summed: Vec<bool> =
            factors.iter().map(|factor| one_of > 1 && factor.levels.is_multiple_of(one_of)).collect();
        if summed.iter().filter(|is| **is).count() < SUMMED_LEAST {
            return None;
        }
        let mut design = Design::full(factors).ok()?;
        let all = design.cells.len();
        design.cells.retain(|cell| {
            let levels = cell.iter().zip(&summed).filter(|(_, is)| **is).map(|(level, _)| level);
            levels.sum::<usize>().is_multiple_of(one_of)
        });
        assert_eq!(design.cells.len() * one_of, all, "every remainder is left by equally many cells");
        let balance = design.balance();
        debug_assert!(
            matches!(balance, Ok(()) | Err(Refusal::Mixed(_))),
            "three summed factors balance each pair"
        );
        balance.is_ok().then_some(design)
    }

    /// The same cells, of which those of one block were measured with the same random numbers: what is by chance in one is
    /// by chance in others too, wholly or in part.
    #[must_use]
    pub fn with_shared_chance(self) -> Design {
        Design { shared_chance: true, ..self }
    }

    /// Whether the cells of a block share what is by chance.
    pub fn has_shared_chance(&self) -> bool {
        self.shared_chance
    }

    /// What is varied.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The level of each factor, cell by cell.
    pub fn cells(&self) -> &[Vec<usize>] {
        &self.cells
    }

    /// How many combinations of levels the factors of `term` have.
    pub(super) fn combinations(&self, term: Term) -> usize {
        term.factors().into_iter().map(|factor| self.factors[factor].levels).product()
    }

    /// Which of these combinations `cell` has.
    pub(super) fn place(&self, term: Term, cell: &[usize]) -> usize {
        term.factors().into_iter().fold(0, |place, factor| place * self.factors[factor].levels + cell[factor])
    }

    /// The combinations of levels of which none is the first of its factor: as many as `term` has degrees of freedom.
    pub(super) fn corners(&self, term: Term) -> Vec<Vec<usize>> {
        let levels = |factor: usize| 1..self.factors[factor].levels;
        match term {
            Term::Main(factor) => levels(factor).map(|level| vec![level]).collect(),
            Term::Pair(one, other) => {
                levels(one).flat_map(|level| levels(other).map(move |second| vec![level, second])).collect()
            }
        }
    }

    /// By cell, what it counts in holding the levels `corner` of `term` against the first ones: 1, -1 or 0.
    pub(super) fn weights(&self, term: Term, corner: &[usize]) -> Vec<f64> {
        let factors = term.factors();
        assert_eq!(factors.len(), corner.len(), "a corner is a level of each factor of the term");
        let side = |level: usize, of: usize| f64::from(level == of) - f64::from(level == 0);
        let weight = |cell: &Vec<usize>| {
            factors.iter().zip(corner).map(|(factor, of)| side(cell[*factor], *of)).product::<f64>()
        };
        self.cells.iter().map(weight).collect()
    }
}

/// With fewer factors in the sum, the levels of one would follow from those of one other.
const SUMMED_LEAST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(levels: &[usize], hard: usize) -> Vec<Factor> {
        levels.iter().enumerate().map(|(at, levels)| Factor { levels: *levels, hard: at < hard }).collect()
    }

    #[test]
    fn the_last_factor_changes_fastest() {
        let design = Design::full(factors(&[2, 3], 1)).unwrap();
        assert_eq!(design.cells(), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(design.factors(), factors(&[2, 3], 1));
        assert_eq!(design.whole_plots(), [0, 0, 0, 1, 1, 1]);
        assert_eq!((design.plots(), design.balance()), ((vec![0, 0, 0, 1, 1, 1], 2), Ok(())));
        let alone = Design::full(factors(&[2, 2], 2)).unwrap();
        assert_eq!((alone.whole_plots(), alone.plots()), (vec![0, 1, 2, 3], (vec![0; 4], 1)));
        assert_eq!(Design::full(factors(&[2, 2], 0)).unwrap().whole_plots(), [0; 4]);
    }

    #[test]
    fn a_half_has_the_cells_whose_levels_sum_to_an_even_number() {
        let half = Design::fraction(factors(&[2, 2, 2], 0), 2).unwrap();
        assert_eq!(half.cells(), [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]);
        // The third factor is not in the sum, the four levels of the last are.
        let half = Design::fraction(factors(&[2, 2, 3, 4], 0), 2).unwrap();
        assert_eq!(half.cells().len(), 24);
        assert!(half.cells().iter().all(|cell| (cell[0] + cell[1] + cell[3]).is_multiple_of(2)));
        let square = Design::fraction(factors(&[4, 4, 4], 0), 4).unwrap();
        assert_eq!((square.cells().len(), square.balance()), (16, Ok(())));
    }

    #[test]
    fn what_would_not_tell_main_effects_apart_is_no_fraction() {
        let none = |levels: &[usize], hard: usize, one_of: usize| {
            Design::fraction(factors(levels, hard), one_of).is_none()
        };
        assert!(none(&[2, 2, 3], 0, 2));
        assert!(none(&[2, 2, 2], 0, 3));
        assert!(none(&[2, 2, 2], 0, 1) && none(&[2, 2, 2], 0, 0));
        assert!(none(&[2, 2, 2, 1], 0, 2) && none(&[2, 2, 2, 0], 0, 2));
        assert!(none(&[2, 2, 4], 2, 2), "two hard factors decide the parity of the third, not its level");
        assert!(!none(&[2, 2, 4], 0, 2) && !none(&[2, 2, 2], 2, 2));
    }

    #[test]
    fn what_is_no_design_says_why() {
        let two = || factors(&[2, 2], 0);
        assert_eq!(Design::full(Vec::new()), Err(DesignError::NoFactor));
        assert_eq!(Design::full(factors(&[2, 1], 0)), Err(DesignError::OneLevel(1)));
        assert_eq!(
            Design::full(factors(&[1 << 8, 1 << 8], 0)).map(|design| design.cells().len()),
            Ok(CELLS_MOST)
        );
        assert_eq!(Design::full(factors(&[1 << 8, 1 << 9], 0)), Err(DesignError::TooMany));
        assert_eq!(Design::full(factors(&[usize::MAX, 2], 0)), Err(DesignError::TooMany));
        assert_eq!(Design::of(two(), Vec::new()), Err(DesignError::NoCell));
        let many = (0..=CELLS_MOST).map(|level| vec![level]).collect();
        assert_eq!(Design::of(factors(&[CELLS_MOST + 1], 0), many), Err(DesignError::TooMany));
        for bad in [vec![0], vec![0, 0, 0], vec![0, 2]] {
            assert_eq!(Design::of(two(), vec![vec![0, 0], bad]), Err(DesignError::Level(1)));
        }
        let twice = vec![vec![0, 0], vec![0, 1], vec![0, 0]];
        assert_eq!(Design::of(two(), twice), Err(DesignError::Twice(2)));
    }

    #[test]
    fn a_corner_counts_its_levels_against_the_first_ones() {
        let design = Design::full(factors(&[2, 3], 0)).unwrap();
        let pair = Term::Pair(0, 1);
        assert_eq!(design.corners(Term::Main(1)), [[1], [2]]);
        assert_eq!(design.corners(pair), [[1, 1], [1, 2]]);
        assert_eq!((design.combinations(pair), design.combinations(Term::Main(1))), (6, 3));
        assert_eq!(design.weights(Term::Main(1), &[2]), [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]);
        assert_eq!(design.weights(pair, &[1, 2]), [1.0, 0.0, -1.0, -1.0, 0.0, 1.0]);
        assert_eq!(design.place(pair, &[1, 2]), 5);
    }
}
