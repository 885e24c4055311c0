//! Which effects a design can tell from each other.

use super::{Design, Stratum, Term};

/// An effect that cannot be told from others: where it seems to be there, it may be one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The effect.
    pub term: Term,
    /// The main effects and interactions of two factors that are wholly or partly the same differences of cells.
    pub with: Vec<Term>,
    /// Whether it is partly a difference of whole plots and partly one within them, and so has no error of its own.
    pub is_mixed: bool,
}

impl Design {
    /// The effects that can be estimated: all main effects, then the interactions of two factors that are the same
    /// differences of cells as no other such effect.
    ///
    /// Interactions of three and more factors are not looked at: in a fraction a main effect or an interaction of two
    /// may be one of three.
    pub fn terms(&self) -> Vec<Term> {
        let given_up: Vec<Term> = self.aliases().into_iter().map(|alias| alias.term).collect();
        let stays = |term: &Term| matches!(term, Term::Main(_)) || !given_up.contains(term);
        Term::all(self.factors().len()).into_iter().filter(stays).collect()
    }

    /// What the design does not tell apart, in the order of the terms: nothing where every combination of levels is
    /// measured.
    pub fn aliases(&self) -> Vec<Alias> {
        if self.cells().len() == self.factors().iter().map(|factor| factor.levels).product::<usize>() {
            return Vec::new();
        }
        let all = Term::all(self.factors().len());
        let columns: Vec<Vec<Vec<f64>>> = all.iter().map(|term| self.columns(*term)).collect();
        let alias = |(at, term): (usize, &Term)| {
            let others = all.iter().zip(&columns).filter(|(other, _)| *other != term);
            let with =
                others.filter(|(_, column)| meet(&columns[at], column)).map(|(other, _)| *other).collect();
            Alias { term: *term, with, is_mixed: self.stratum(*term).is_none() }
        };
        let all = all.iter().enumerate().map(alias);
        all.filter(|alias| alias.is_mixed || !alias.with.is_empty()).collect()
    }

    /// Where `term` varies; `None` where it does so partly between whole plots and partly within them.
    ///
    /// Not all factors of a term of whole plots need be hard to change: in a fraction the interaction of two others may
    /// be one of three that are.
    pub fn stratum(&self, term: Term) -> Option<Stratum> {
        let (plots, count) = self.plots();
        let mut members = vec![Vec::new(); count];
        plots.iter().enumerate().for_each(|(cell, plot)| members[*plot].push(cell));
        let columns = self.columns(term);
        let every = |test: &dyn Fn(&[usize], &[f64]) -> bool| {
            columns.iter().all(|column| members.iter().all(|cells| test(cells, column)))
        };
        let sums_to_nil =
            |cells: &[usize], column: &[f64]| cells.iter().map(|cell| column[*cell]).sum::<f64>() == 0.0;
        let is_constant =
            |cells: &[usize], column: &[f64]| cells.iter().all(|cell| column[*cell] == column[cells[0]]);
        if every(&sums_to_nil) {
            return Some(Stratum::Within);
        }
        every(&is_constant).then_some(Stratum::WholePlots)
    }

    fn columns(&self, term: Term) -> Vec<Vec<f64>> {
        self.corners(term).iter().map(|corner| self.weights(term, corner)).collect()
    }
}

/// Whether some difference of the one is partly one of the other. Sums of whole numbers, so nil is nil.
fn meet(one: &[Vec<f64>], other: &[Vec<f64>]) -> bool {
    let product = |first: &[f64], second: &[f64]| first.iter().zip(second).map(|(a, b)| a * b).sum::<f64>();
    one.iter().any(|first| other.iter().any(|second| product(first, second) != 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::Factor;

    fn factors(levels: &[usize], hard: usize) -> Vec<Factor> {
        levels.iter().enumerate().map(|(at, levels)| Factor { levels: *levels, hard: at < hard }).collect()
    }

    /// `A = BC` for each term that is not told from others; factors by letters.
    fn aliases(design: &Design) -> Vec<String> {
        let name = |term: &Term| -> String {
            term.factors().iter().map(|factor| ["A", "B", "C", "D", "E"][*factor]).collect()
        };
        let names = |with: &[Term]| with.iter().map(name).collect::<Vec<_>>().join(" ");
        design
            .aliases()
            .iter()
            .map(|alias| format!("{} = {}", name(&alias.term), names(&alias.with)))
            .collect()
    }

    #[test]
    fn all_combinations_tell_everything_apart() {
        let design = Design::full(factors(&[2, 3, 2, 4], 2)).unwrap();
        assert_eq!(design.aliases(), []);
        assert_eq!(design.terms(), Term::all(4));
    }

    #[test]
    fn half_of_three_factors_of_two_levels_has_each_effect_in_an_interaction() {
        let design = Design::fraction(factors(&[2, 2, 2], 0), 2).unwrap();
        assert_eq!(aliases(&design), ["A = BC", "B = AC", "C = AB", "AB = C", "AC = B", "BC = A"]);
        assert_eq!(design.terms(), [Term::Main(0), Term::Main(1), Term::Main(2)]);
    }

    #[test]
    fn half_of_four_factors_of_two_levels_has_interactions_in_pairs() {
        let design = Design::fraction(factors(&[2, 2, 2, 2], 0), 2).unwrap();
        let wanted = ["AB = CD", "AC = BD", "AD = BC", "BC = AD", "BD = AC", "CD = AB"];
        assert_eq!(aliases(&design), wanted);
        assert_eq!(design.terms(), (0..4).map(Term::Main).collect::<Vec<_>>());
    }

    #[test]
    fn half_of_five_factors_of_two_levels_tells_all_pairs_apart() {
        let design = Design::fraction(factors(&[2, 2, 2, 2, 2], 0), 2).unwrap();
        assert_eq!(design.aliases(), []);
        assert_eq!(design.terms(), Term::all(5));
    }

    #[test]
    fn a_third_of_three_factors_of_three_levels_has_parts_of_interactions_in_main_effects() {
        let design = Design::fraction(factors(&[3, 3, 3], 0), 3).unwrap();
        let wanted = ["A = BC", "B = AC", "C = AB", "AB = C AC BC", "AC = B AB BC", "BC = A AB AC"];
        assert_eq!(aliases(&design), wanted);
    }

    #[test]
    fn a_factor_outside_the_sum_keeps_its_interactions() {
        let design = Design::fraction(factors(&[2, 2, 2, 3], 0), 2).unwrap();
        assert_eq!(aliases(&design), ["A = BC", "B = AC", "C = AB", "AB = C", "AC = B", "BC = A"]);
        let pairs = [Term::Pair(0, 3), Term::Pair(1, 3), Term::Pair(2, 3)];
        assert_eq!(design.terms(), [(0..4).map(Term::Main).collect(), pairs.to_vec()].concat());
    }

    #[test]
    fn four_levels_in_a_half_share_their_parity_alone() {
        let design = Design::fraction(factors(&[2, 2, 4], 0), 2).unwrap();
        let wanted = ["A = BC", "B = AC", "C = AB", "AB = C", "AC = B BC", "BC = A AC"];
        assert_eq!(aliases(&design), wanted);
    }

    #[test]
    fn a_term_varies_between_whole_plots_where_all_of_it_is_hard_to_change() {
        let design = Design::full(factors(&[2, 3, 2, 2], 2)).unwrap();
        for term in Term::all(4) {
            let is_hard = term.factors().iter().all(|factor| *factor < 2);
            let wanted = if is_hard { Stratum::WholePlots } else { Stratum::Within };
            assert_eq!(design.stratum(term), Some(wanted), "{term}");
        }
        // With no whole plots, or plots of one cell each, there is one stratum.
        for hard in [0, 2] {
            let design = Design::full(factors(&[2, 3], hard)).unwrap();
            assert!(Term::all(2).iter().all(|term| design.stratum(*term) == Some(Stratum::Within)));
        }
    }

    #[test]
    fn an_interaction_that_is_one_of_three_hard_factors_varies_between_whole_plots() {
        let design = Design::fraction(factors(&[2, 2, 2, 2, 2], 3), 2).unwrap();
        assert_eq!(design.stratum(Term::Pair(3, 4)), Some(Stratum::WholePlots));
        assert_eq!(design.stratum(Term::Main(3)), Some(Stratum::Within));
        assert!(design.terms().contains(&Term::Pair(3, 4)));
        let halves = Design::fraction(factors(&[2, 2, 2, 3], 2), 2).unwrap();
        assert_eq!(
            halves.stratum(Term::Main(2)),
            Some(Stratum::WholePlots),
            "two hard factors decide the third"
        );
    }

    #[test]
    fn an_interaction_that_is_partly_one_of_whole_plots_is_given_up() {
        let design = Design::fraction(factors(&[3, 3, 3, 3, 3], 3), 3).unwrap();
        assert_eq!(design.stratum(Term::Pair(3, 4)), None);
        assert_eq!(design.aliases(), [Alias { term: Term::Pair(3, 4), with: Vec::new(), is_mixed: true }]);
        assert_eq!(design.terms().len(), 5 + 9);
    }
}
