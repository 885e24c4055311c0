//! Runs a plan in a world: points in order, sweeps that end when they no longer pay, rounds that end when a figure is
//! steady, repeats, interrupts, the search for the highest rate.
//!
//! **Invariant:** nothing here knows a world. [`run`] asks the [`World`] trait alone; those who implement it are crates
//! of their own, and none of them is a dependency of this one.

pub mod checks;
mod curves;
mod event;
mod history;
mod in_order;
mod limit;
pub mod listener;
mod machine;
mod rank;
mod recent;
mod result;
mod rounds;
mod run;
pub mod search;
mod seconds;
mod share;
mod silence;
mod world;

pub use event::{Beside, Event, HostLive, Live};
pub use history::History;
pub use in_order::{Taker, in_order, processors};
pub use listener::Listener;
pub use machine::Machine;
pub use rank::{Gate, Rank, Wrote, WroteRun};
pub use recent::{Recent, Responses};
pub use result::span_of;
pub use run::{Outcome, run, run_interleaved, run_on, run_while};
pub use share::{Share, share_of};
pub use world::{
    Apart, Cause, FileNames, MeasuredLoad, MeasuredState, MeasuredWorker, MeasuredWorkload, World, WorldError,
};
