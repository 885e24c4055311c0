//! The virtual world: a modelled storage array that answers the same jobs as real storage.
//!
//! Call a function for "now", use the queue for "later": components are fields with methods; only durations go
//! through the [`events::Events`] queue. Time is integer nanoseconds since the start of the world, equal times
//! leave the queue in the order they entered, and each random stream is derived from the seed and the name of its
//! purpose, so the same seed gives the same run bit for bit.
//!
//! [`spec`] reads the description of an array, every figure with its source, into a [`sim::Topology`]; [`sim::Sim`] runs
//! jobs on that, and [`sim`] describes the path of a request. Each part is one file: its figures (`…Params`), its methods
//! for "now", its tests. To add a part, give it a [`station::Station`], a [`wire::Wire`] or a closed form, call it where a request
//! passes, and name it in `Sim::each_part`.
//!
//! **Invariant:** nothing here names the OS clock, a file or a thread; `spec` parses text that it is handed.

pub mod background;
pub mod backlog;
pub mod controller;
pub mod demerit;
pub mod device;
mod divisor;
pub mod events;
pub mod files;
pub mod host;
pub mod latency;
mod least;
pub mod link;
pub mod meter;
pub mod parity;
pub mod processor;
pub mod protocol;
pub mod raid;
pub mod readahead;
pub mod reliability;
pub mod server;
pub mod sim;
pub mod slab;
pub mod spec;
pub mod station;
pub mod streams;
pub mod tags;
mod topology;
pub mod turns;
pub mod validate;
pub mod wire;
