//! Why there is no design, and why nothing can be said of what was measured by it.

use std::fmt;

use super::Term;
use super::design::CELLS_MOST;

/// What makes factors and cells no design. Factors and cells are counted from one where it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DesignError {
    /// There is no factor.
    NoFactor,
    /// The factor at this place has fewer than two levels.
    OneLevel(usize),
    /// There is no cell.
    NoCell,
    /// More than [`CELLS_MOST`] cells.
    TooMany,
    /// The cell at this place has not one level of each factor.
    Level(usize),
    /// The cell at this place was there before.
    Twice(usize),
}

impl fmt::Display for DesignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DesignError::NoFactor => write!(f, "there is no factor"),
            DesignError::OneLevel(factor) => write!(f, "factor {} has fewer than two levels", factor + 1),
            DesignError::NoCell => write!(f, "there is no cell"),
            DesignError::TooMany => write!(f, "there are more than {CELLS_MOST} cells"),
            DesignError::Level(cell) => write!(f, "cell {} has not one level of each factor", cell + 1),
            DesignError::Twice(cell) => write!(f, "cell {} is there twice", cell + 1),
        }
    }
}

impl std::error::Error for DesignError {}

/// Why values of a design are not analysed. Factors, blocks and cells are counted from one where it is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// So many blocks: fewer than two show no error.
    Blocks(usize),
    /// The block at this place has not one value of each cell.
    Uneven {
        /// Its place.
        block: usize,
        /// How many values it has.
        values: usize,
        /// How many cells the design has.
        cells: usize,
    },
    /// A value that is no figure above zero.
    Value {
        /// The place of its block.
        block: usize,
        /// The place of its cell.
        cell: usize,
        /// What it is.
        value: f64,
    },
    /// The levels of these factors are not in equally many cells.
    Unbalanced(Term),
    /// Whole plots have unequally many cells.
    Plots,
    /// The factor at this place varies within whole plots, but not equally within each.
    Mixed(usize),
    /// The term is no part of the design, or cannot be told from others.
    Term(Term),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Blocks(blocks) => {
                write!(f, "fewer than two complete blocks ({blocks}): nothing tells an effect from chance")
            }
            Refusal::Uneven { block, values, cells } => {
                write!(f, "block {} has {values} values for {cells} cells", block + 1)
            }
            Refusal::Value { block, cell, value } => {
                write!(
                    f,
                    "cell {} of block {} has the value {value}, which is not above zero",
                    cell + 1,
                    block + 1
                )
            }
            Refusal::Unbalanced(term) => write!(f, "the levels of {term} are not in equally many cells"),
            Refusal::Plots => {
                write!(f, "the levels of the factors that are hard to change are not in equally many cells")
            }
            Refusal::Mixed(factor) => {
                write!(
                    f,
                    "the levels of factor {} are not in equally many cells of each whole plot",
                    factor + 1
                )
            }
            Refusal::Term(term) => write!(f, "the effect of {term} cannot be told from others"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_a_sentence_that_counts_from_one() {
        let told = [
            Refusal::Blocks(1),
            Refusal::Uneven { block: 2, values: 3, cells: 4 },
            Refusal::Value { block: 0, cell: 4, value: -0.5 },
            Refusal::Unbalanced(Term::Pair(0, 2)),
            Refusal::Plots,
            Refusal::Mixed(1),
            Refusal::Term(Term::Main(7)),
        ]
        .map(|one| one.to_string());
        let wanted = [
            "fewer than two complete blocks (1): nothing tells an effect from chance",
            "block 3 has 3 values for 4 cells",
            "cell 5 of block 1 has the value -0.5, which is not above zero",
            "the levels of factors 1 and 3 are not in equally many cells",
            "the levels of the factors that are hard to change are not in equally many cells",
            "the levels of factor 2 are not in equally many cells of each whole plot",
            "the effect of factor 8 cannot be told from others",
        ];
        assert_eq!(told, wanted);
        let told = [
            DesignError::NoFactor,
            DesignError::OneLevel(0),
            DesignError::NoCell,
            DesignError::TooMany,
            DesignError::Level(1),
            DesignError::Twice(2),
        ]
        .map(|one| one.to_string());
        let wanted = [
            "there is no factor",
            "factor 1 has fewer than two levels",
            "there is no cell",
            "there are more than 65536 cells",
            "cell 2 has not one level of each factor",
            "cell 3 is there twice",
        ];
        assert_eq!(told, wanted);
    }
}
