//! Calibration: from measured points to the array file of a model that answers alike.
//!
//! [`fit()`] takes runs that hold the points of the plans `calibrate` and `calibrate-writes`, or others that are
//! enough, reads off what shows by itself (the way to the cache and back, members and chunk, cache sizes), and then has
//! the model answer the same points, through [`Ask`], until its members answer as the measured ones did.
//!
//! **Invariant:** knows no world: measured points come in as records, and whoever calls runs the model. What the points
//! do not tell is said to be not fitted; it is never invented.

mod caches;
mod concatenation;
mod front;
mod geometry;
mod identified;
mod least;
mod lines;
mod members;
mod model;
mod parts;
mod pieces;
mod probe;
mod refine;
mod said;
mod statement;
mod trust;
mod writes;

pub use concatenation::Concatenated;
pub use identified::{Counted, Ground, Identification, Identified, Unknown};
pub use least::{Least, least};
pub use model::{Access, Cache, Dies, Level, Model};
pub use refine::{Ask, Wanted, by_run};
pub use statement::{Fit, FitError, fit, layout};
pub use trust::{PREDICTED, PREDICTED_P99};
