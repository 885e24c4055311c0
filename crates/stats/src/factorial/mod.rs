//! Which of several factors change a figure, by how much, and which of their changes could have been found.
//!
//! Every combination of levels that is measured is a cell, and every cell is measured once in each block. A factor that
//! is hard to change keeps its level over a whole plot: the cells of a block that share the levels of all such factors
//! are measured one after the other. What varies from plot to plot is then another error than what varies from one
//! measurement to the next, and each term is held against its own. Source of the method: Yates, *Complex experiments*,
//! Supplement to the Journal of the Royal Statistical Society 2 (1935); Montgomery, *Design and Analysis of
//! Experiments*, chapters 5, 8 and 14.
//!
//! Where the cells of a block have one chance, as simulations with the same random numbers do, each effect is estimated in
//! each block, and held against how it differs between them (`by_block`).
//!
//! **Invariant:** errors come from repeating blocks alone, never from interactions that are taken to be nil; no term is
//! tested that cannot be told from another that is.

mod alias;
mod analysis;
mod anova;
mod balance;
mod by_block;
mod design;
mod family;
mod noncentral;
mod power;
mod refusal;
#[cfg(test)]
mod simulated;
mod spread;
mod term;

pub use alias::Alias;
pub use analysis::{Analysis, Contrast, StratumError, Tested, analyse};
pub use design::{CELLS_MOST, Design, Factor};
pub use family::holm;
pub use power::{Noise, power, smallest};
pub use refusal::{DesignError, Refusal};
pub use term::{Stratum, Term};

/// What deviates by less than this part is taken not to deviate at all: a model without chance gives equal figures in
/// each block but for the rounding of sums of logarithms, some 1e-13, and no measurement is so exact.
pub const EXACT: f64 = 1e-9;
