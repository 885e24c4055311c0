//! How much each unit of a stratum deviates by itself, and what that leaves of the degrees of freedom.
//!
//! Units are cells, or whole plots. Where a few of them deviate far more than the others, the mean square is that of those
//! few, and so are its degrees of freedom: after Satterthwaite, *An approximate distribution of estimates of variance
//! components*, Biometrics Bulletin 2 (1946). Squares of variances that are themselves known by a few blocks are too large
//! on average, which one more degree of each makes up for in part: of campaigns whose cells deviate alike, and of such of
//! which half the cells hardly deviate, at most one in twenty names an effect (`simulated`), but of four cells in two
//! blocks. The variance of a unit, its group's common deviation taken off: Shukla, *Some statistical aspects of partitioning
//! genotype-environmental components of variability*, Heredity 29 (1972). Numerators: Box, *Some theorems on quadratic forms
//! applied in the study of analysis of variance problems*, Annals of Mathematical Statistics 25 (1954).

use super::anova::by_place;
use super::{Design, StratumError, Term};

/// What the units of a stratum deviate by.
pub(super) struct Spread {
    /// The unit of each cell.
    units: Vec<usize>,
    /// The variance of each unit: the mean of them is the mean square of the stratum.
    variances: Vec<f64>,
    /// How many units have one deviation in common, which is taken off.
    group: f64,
    blocks: f64,
    error: StratumError,
}

impl Spread {
    /// Of units whose squared deviations from that of their group are `squares`, summed over `blocks`.
    ///
    /// `units` are those of the cells, `groups` those of the units; groups are of equally many units, two at least.
    pub(super) fn of(
        units: Vec<usize>,
        squares: &[f64],
        groups: &[usize],
        blocks: usize,
        error: StratumError,
    ) -> Spread {
        let count = groups.iter().max().map_or(1, |most| most + 1);
        let group = (squares.len() / count) as f64;
        debug_assert!(group >= 2.0, "one unit deviates from nothing");
        let common = by_place(squares, groups, count);
        let own = |(square, of): (&f64, &usize)| match group > 2.0 {
            true => ((square - common[*of] / (group - 1.0)) * group / (group - 2.0)).max(0.0),
            // Of two, nothing tells which deviates.
            false => common[*of],
        };
        let found: Vec<f64> = squares.iter().zip(groups).map(own).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let scale = if mean > 0.0 { error.mean_square / mean } else { 0.0 };
        let variances = found.iter().map(|one| one * scale).collect();
        Spread { units, variances, group, blocks: blocks as f64, error }
    }

    /// The error of the stratum as if all units deviated alike.
    pub(super) fn error(&self) -> StratumError {
        self.error
    }

    /// The degrees of freedom of the mean square.
    pub(super) fn freedom(&self) -> f64 {
        self.freedom_of(&vec![1.0; self.units.len()])
    }

    /// Those of the sum of variances of which each cell has that share.
    fn freedom_of(&self, shares: &[f64]) -> f64 {
        let shares = by_place(shares, &self.units, self.variances.len());
        let parts = || shares.iter().zip(&self.variances).map(|(share, variance)| share * variance);
        let (sum, squares): (f64, f64) = (parts().sum(), parts().map(|part| part.powi(2)).sum());
        if squares <= 0.0 {
            return self.error.freedom;
        }
        let independent = sum.powi(2) / squares * (self.group - 1.0) / self.group;
        (self.blocks * independent).clamp(1.0, self.error.freedom)
    }

    /// The variance of the sum of the cells' means by these weights, and its degrees of freedom: as the stratum has them, or
    /// as the cells that count have them by themselves, whichever is the wider.
    pub(super) fn contrast(&self, weights: &[f64]) -> (f64, f64) {
        let shares: Vec<f64> = weights.iter().map(|weight| weight.powi(2)).collect();
        let of = |variance: &dyn Fn(usize) -> f64| {
            shares.iter().enumerate().map(|(cell, share)| share * variance(cell)).sum::<f64>() / self.blocks
        };
        let pooled = (of(&|_| self.error.mean_square), self.freedom());
        let own = (of(&|cell| self.variances[self.units[cell]]), self.freedom_of(&shares));
        // Rounding makes no cells wider than all of them.
        if own.0 > pooled.0 * (1.0 + 1e-9) { (own.0, own.1.min(pooled.1)) } else { pooled }
    }

    /// By how much the square of the mean variance of the cells at `place` is too large on average: by what the variances of its
    /// units deviate, which so many blocks tell of.
    fn excess(&self, place: usize, places: &[usize]) -> f64 {
        let at = |(_, of): &(&usize, &usize)| **of == place;
        let mut cells = vec![0.0; self.variances.len()];
        self.units.iter().zip(places).filter(at).for_each(|(unit, _)| cells[*unit] += 1.0);
        let count: f64 = cells.iter().sum();
        let parts = cells.iter().zip(&self.variances).map(|(cells, variance)| cells / count * variance);
        2.0 / (self.blocks + 1.0) * parts.map(|part| part.powi(2)).sum::<f64>()
    }

    /// How many independent contrasts deviate as those of `term` do together: one to as many as it has.
    pub(super) fn independent(&self, design: &Design, term: Term) -> f64 {
        let most = design.corners(term).len() as f64;
        let combinations = design.combinations(term);
        let places: Vec<usize> = design.cells().iter().map(|cell| design.place(term, cell)).collect();
        let each: Vec<f64> = self.units.iter().map(|unit| self.variances[*unit]).collect();
        let means = by_place(&each, &places, combinations);
        let levels: Vec<usize> =
            term.factors().into_iter().map(|factor| design.factors()[factor].levels).collect();
        // What of a deviation of one combination the other has, in what the term adds.
        let shared = |one: usize, other: usize| {
            let (mut one, mut other, mut shared) = (one, other, 1.0);
            for &count in levels.iter().rev() {
                shared *= f64::from(one % count == other % count) - 1.0 / count as f64;
                (one, other) = (one / count, other / count);
            }
            shared
        };
        let (mut trace, mut squares) = (0.0, 0.0);
        for (one, variance) in means.iter().enumerate() {
            trace += shared(one, one) * variance;
            squares -= shared(one, one).powi(2) * self.excess(one, &places);
            squares += means
                .iter()
                .enumerate()
                .map(|(other, with)| shared(one, other).powi(2) * variance * with)
                .sum::<f64>();
        }
        if squares > 0.0 { (trace.powi(2) / squares).clamp(1.0, most) } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::Factor;

    fn spread(squares: &[f64], blocks: usize) -> Spread {
        let count = squares.len();
        let freedom = (count - 1) as f64 * (blocks - 1) as f64;
        let mean_square = squares.iter().sum::<f64>() / freedom;
        let error = StratumError { mean_square, freedom, deviation: mean_square.sqrt() };
        Spread::of((0..count).collect(), squares, &vec![0; count], blocks, error)
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-9), "{found} in place of {wanted}");
    }

    #[test]
    fn cells_that_deviate_alike_have_nearly_all_degrees_of_freedom_and_one_that_alone_does_has_its_own() {
        // Seven degrees of eight cells in two blocks: 2 x 8 x 7/8 are no fewer.
        near(spread(&[1.0; 8], 2).freedom(), 7.0);
        near(spread(&[1.0; 8], 5).freedom(), 28.0);
        // What one deviates by, all others deviate from the mean of it.
        let alone: Vec<f64> = (0..8).map(|cell| if cell == 0 { 49.0 / 64.0 } else { 1.0 / 64.0 }).collect();
        let found = spread(&alone, 5);
        near(found.variances[0], found.error.mean_square * 8.0);
        near(found.freedom(), 5.0 * 7.0 / 8.0);
        near(spread(&[0.0; 8], 5).freedom(), 28.0);
    }

    #[test]
    fn a_contrast_is_as_wide_as_its_own_cells_or_as_all_of_them() {
        let mut squares = vec![1e-6; 8];
        squares[6..].fill(1.0);
        let found = spread(&squares, 3);
        let weights = |of: [usize; 2]| (0..8).map(|cell| f64::from(of.contains(&cell))).collect::<Vec<f64>>();
        let (variance, freedom) = found.contrast(&weights([6, 7]));
        near(variance, (found.variances[6] + found.variances[7]) / 3.0);
        assert!(
            variance > 2.0 * 2.0 * found.error.mean_square / 3.0 && freedom < 6.0,
            "{variance} {freedom}"
        );
        let quiet = found.contrast(&weights([0, 1]));
        near(quiet.0, 2.0 * found.error.mean_square / 3.0);
        near(quiet.1, found.freedom());
    }

    #[test]
    fn levels_of_which_one_alone_deviates_are_as_one_contrast() {
        let factor = |levels| Factor { levels, hard: false };
        let design = Design::full(vec![factor(4), factor(2)]).unwrap();
        near(spread(&[1.0; 8], 3).independent(&design, Term::Main(0)), 3.0);
        near(spread(&[1.0; 8], 3).independent(&design, Term::Pair(0, 1)), 3.0);
        near(spread(&[1.0; 8], 3).independent(&design, Term::Main(1)), 1.0);
        let mut squares = vec![1e-9; 8];
        squares[6..].fill(1.0);
        let found = spread(&squares, 3).independent(&design, Term::Main(0));
        assert!((1.0..1.5).contains(&found), "{found}");
    }
}
