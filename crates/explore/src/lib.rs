//! A search over many virtual arrays: every possible design of a space, the front of those that meet what is required,
//! the cheapest of them, why each of its neighbours is not it, and what each requirement costs.
//!
//! **Invariant:** opens no file and keeps no clock. The answer depends on the design study alone, whatever the number of
//! threads and whatever was known before; RAID geometry is enumerated, never sampled.

mod answer;
pub mod cost;
pub mod design;
mod doubt;
pub mod evaluate;
pub mod exact;
pub mod front;
pub mod requirement;
pub mod search;
pub mod settle;
pub mod space;
pub mod value;
pub mod workers;

pub use design::Design;
pub use evaluate::Outcome;
pub use search::{Heard, Options, search, search_by};
pub use workers::{Local, WorkItem, Workers};
