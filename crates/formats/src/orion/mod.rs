//! Oracle Orion: small random and large requests at once, one data point for each number of them in flight.
//!
//! A data point keeps so many small requests and so many large ones outstanding for a fixed time. In the plan they
//! are two workloads of one phase, `small` and `large`, each with a depth of its own; large sequential streams are
//! the workers of `large`. All that Orion prints is computed from the record.
//!
//! **Invariant:** what warms caches before a data point is in no figure.

mod figures;
mod histogram;
mod job;
mod options;
mod output;
mod points;
mod summary;
mod tables;
#[cfg(test)]
mod tests;
mod trace;

pub use figures::{Cell, Figures, Flow};
pub use histogram::histograms;
pub use job::{Lun, luns};
#[cfg(test)]
pub(crate) use options::SYNTAX;
pub use options::{Command, Large, Matrix, Mode, Shape, Simulated, asks_for_help, help};
pub use output::{HISTOGRAMS, IOPS, LATENCIES, MBPS, SUMMARY};
pub use points::{Grid, Load};
pub use summary::{Test, best, summary};
pub use tables::{iops, latencies, mbps};
pub use trace::{trace, trace_of};

const TOOL: &str = "orion";

/// What the plan calls the load that fills caches before a data point.
const WARMING: &str = "cache warming";
