//! What of a design is balanced: how often levels come, alone, by twos and in whole plots.

use std::collections::BTreeMap;

use super::{Design, Refusal, Term};

impl Design {
    /// The whole plot that each cell is in, counted from zero in the order of their first cells: cells of one whole
    /// plot share the levels of all factors that are hard to change. Without such a factor all are in one.
    pub fn whole_plots(&self) -> Vec<usize> {
        let hard = |cell: &Vec<usize>| -> Vec<usize> {
            let levels = cell.iter().zip(self.factors()).filter(|(_, factor)| factor.hard);
            levels.map(|(level, _)| *level).collect()
        };
        let mut places = BTreeMap::new();
        let mut place = |levels| {
            let next = places.len();
            *places.entry(levels).or_insert(next)
        };
        self.cells().iter().map(|cell| place(hard(cell))).collect()
    }

    /// The whole plot of each cell, and how many there are, where plots are a stratum of their own: all cells are in
    /// one where each would have one alone.
    pub(super) fn plots(&self) -> (Vec<usize>, usize) {
        let plots = self.whole_plots();
        match plots.iter().max().map_or(0, |most| most + 1) {
            count if count < self.cells().len() => (plots, count),
            _ => (vec![0; self.cells().len()], 1),
        }
    }

    /// Nothing, where effects are differences of means of equally many cells.
    ///
    /// # Errors
    ///
    /// Levels of a factor, or of two together, that are in unequally many cells; whole plots of unequally many cells; a
    /// factor that is neither constant in each whole plot nor balanced in it.
    pub fn balance(&self) -> Result<(), Refusal> {
        for term in Term::all(self.factors().len()) {
            let places = self.cells().iter().map(|cell| self.place(term, cell));
            if !is_even(places, self.combinations(term)) {
                return Err(Refusal::Unbalanced(term));
            }
        }
        let (plots, count) = self.plots();
        if !is_even(plots.into_iter(), count) {
            return Err(Refusal::Plots);
        }
        match (0..self.factors().len()).find(|factor| self.stratum(Term::Main(*factor)).is_none()) {
            Some(factor) => Err(Refusal::Mixed(factor)),
            None => Ok(()),
        }
    }
}

/// Whether each of so many places comes equally often; some place comes.
fn is_even(places: impl Iterator<Item = usize>, count: usize) -> bool {
    let mut counts = vec![0usize; count];
    places.for_each(|place| counts[place] += 1);
    counts.iter().all(|one| *one == counts[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::Factor;

    fn factors(levels: &[usize], hard: usize) -> Vec<Factor> {
        levels.iter().enumerate().map(|(at, levels)| Factor { levels: *levels, hard: at < hard }).collect()
    }

    #[test]
    fn whole_plots_are_counted_as_they_come() {
        let cells = [[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]].map(|cell| cell.to_vec());
        assert_eq!(Design::of(factors(&[2, 2, 2], 1), cells.to_vec()).unwrap().whole_plots(), [0, 1, 0, 1]);
    }

    #[test]
    fn what_is_not_balanced_is_told_by_its_factors() {
        let balance = |hard: usize, cells: &[[usize; 3]]| {
            let cells = cells.iter().map(|cell| cell.to_vec()).collect();
            Design::of(factors(&[2, 2, 2], hard), cells).unwrap().balance()
        };
        assert_eq!(
            balance(0, &[[0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 0, 0]]),
            Err(Refusal::Unbalanced(Term::Main(0)))
        );
        // The second follows the first.
        let tied = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]];
        assert_eq!(balance(0, &tied), Err(Refusal::Unbalanced(Term::Pair(0, 1))));
        assert_eq!(
            balance(0, &[[0, 0, 0], [0, 1, 1]]),
            Err(Refusal::Unbalanced(Term::Main(0))),
            "one has no cell"
        );
        let half = Design::fraction(factors(&[2, 2, 2], 1), 2).unwrap();
        assert_eq!(half.balance(), Ok(()));
    }

    #[test]
    fn whole_plots_are_as_large_as_each_other_and_hold_each_level_as_often() {
        // Every pair of factors is balanced, but whole plots with an even sum have two levels of the last, others one.
        let two = [[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1]];
        let one = [[0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1], [1, 0, 0, 1]];
        let lacking = |lacks: [usize; 4]| {
            (0..3).map(move |level| (level, lacks)).filter(|(level, lacks)| *level != lacks[3])
        };
        let evens = two.into_iter().flat_map(lacking).map(|(level, [a, b, c, _])| vec![a, b, c, level]);
        let cells = evens.chain(one.map(|cell| cell.to_vec())).collect();
        assert_eq!(Design::of(factors(&[2, 2, 2, 3], 3), cells).unwrap().balance(), Err(Refusal::Plots));
        // Two hard factors decide the parity of the third.
        let all = Design::full(factors(&[2, 2, 4], 2)).unwrap();
        let even =
            all.cells().iter().filter(|cell| cell.iter().sum::<usize>().is_multiple_of(2)).cloned().collect();
        assert_eq!(Design::of(all.factors().to_vec(), even).unwrap().balance(), Err(Refusal::Mixed(2)));
    }
}
