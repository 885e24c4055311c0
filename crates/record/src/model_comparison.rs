//! A measured load beside the answer of a model, and what a model's figures rest on. Neither is stored with a run.

use crate::Figure;

/// One workload of a point, measured and modelled.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelComparison {
    /// The point's number.
    pub index: u32,
    /// Its name, with the workload's where there are several.
    pub name: String,
    /// Requests a second.
    pub measured: Figure,
    /// Requests a second of the model.
    pub modelled: f64,
    /// Measured over modelled, with the interval of what was measured.
    pub ratio: Figure,
}

/// One figure of a model in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// What it is.
    pub what: String,
    /// Its value, as people write it; `None`: not fitted.
    pub value: Option<String>,
    /// Its 95 % interval and what it rests on; where it is not fitted, the reason.
    pub words: String,
}
