//! Carries a plan out in a world: points in order, sweeps that end when they no longer pay, rounds that end
//! when a figure is steady, repeats, interrupts.
//!
//! **Invariant:** [`carry_out`] asks the [`World`] trait alone and cannot tell a real world from a virtual one;
//! [`real`] is the one place that knows the host, [`modelled`] the one that knows the virtual array.

mod carry;
mod event;
mod history;
mod limit;
mod listener;
pub mod modelled;
pub mod planted;
pub mod real;
mod result;
mod rounds;
pub mod search;
mod seconds;
mod silence;
pub mod what_if;
mod world;

pub use carry::{Outcome, carry_out, take_turns};
pub use event::{Event, Live};
pub use history::History;
pub use listener::Listener;
pub use world::{LoadAnswer, StateAnswer, WorkerAnswer, WorkloadAnswer, World, WorldError};
