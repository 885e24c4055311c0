//! What one workload asks for, typed, and the one text of every part of it.
//!
//! A [`Workload`] is what a plan's phase says after sweeps are expanded. Whoever plans, carries out or stores one has
//! it from here.
//!
//! **Invariant:** what `Display` writes, `FromStr` reads back to the same. Draws nothing, and knows neither the plan
//! language nor a world.

mod about;
mod fields;
mod form;
mod load;
mod op;
mod plain;
mod priority;
mod stamp;
pub mod steady;
pub mod text;
mod title;
pub mod trace;
pub mod tree;
mod workload;

pub use about::about;
pub use fields::Value;
pub use load::is_of_load;
pub use op::{Action, Op};
pub use priority::*;
pub use stamp::{HEADER_LEN, Header, HeaderKind, Stamp};
pub use title::{readable_title, title_with_set, title_without_set};
pub use workload::*;
