//! What a set of measured values says, and how sure it is.
//!
//! Histograms are merged by adding, percentiles are never averaged, and a quantile is never below the truth.
//!
//! **Invariant:** this crate does not know where its numbers come from, nor how they are shown.

mod average;
mod batch;
mod bucket;
pub mod dependent;
pub mod difference;
mod draws;
pub mod exceedance;
pub mod factorial;
mod forecast;
pub mod gate;
mod histogram;
mod interval;
mod open;
pub mod saturation;
pub mod selftest;
pub mod steady;
pub mod trend;
pub mod working_set;

pub use average::{geometric_mean, median};
pub use batch::{BatchMean, batch_mean};
pub use bucket::Bucket;
pub use forecast::{Forecast, forecast, part_at};
pub use histogram::{Histogram, SUB_BUCKET_BITS};
pub use interval::Interval;
pub use open::OpenHistogram;
