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
        let members: Vec<Vec<usize>> =
            (0..count).map(|plot| (0..plots.len()).filter(|cell| plots[*cell] == plot).collect()).collect();
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
