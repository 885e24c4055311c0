//! Virtual arrays as a world: the same load in virtual time, and what a change of a part would bring.
//!
//! **Invariant:** no clock and no file of the system's. What a record says of this machine is given, see
//! [`conduct::Machine`].

pub mod lab;
pub mod planted;
pub mod settings;
mod shares;
mod simulate;
pub mod suspects;
mod validation;
pub mod what_if;
mod world;

pub use simulate::{Chosen, simulate, simulate_on};
pub use validation::validation;
pub use world::{ModelError, ModelledWorld};
