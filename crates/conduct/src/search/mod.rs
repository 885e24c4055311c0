//! The highest rate at which every SLO is kept.
//!
//! [`ladder`] decides which rate is tried next and [`evidence`] what follows from what was seen; neither knows a
//! world. [`depths`] decides likewise which queue depth is tried where it is a depth that is searched. [`drive`] has the loads made: `choose` says which of a plan's, `loads` at which rates, `seen` what one showed, `settle` what stands between two.

mod budget;
mod choose;
pub mod depths;
pub mod drive;
mod drive_depths;
pub mod evidence;
pub mod ladder;
mod loads;
mod seen;
mod settle;

pub use choose::load_of;
pub use drive::{LOOK_LEAST, SearchOptions, run_search};
pub use drive_depths::{DepthOptions, run_depth_search};
pub use evidence::{Cause, Evidence, Rule, Verdict, judge};
pub use ladder::{Bracket, Prober, Purpose, Rung, SearchResult, Settings, Trial, search};
pub use workload::plan::{PromiseError, Slo};
