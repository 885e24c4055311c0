//! What is asked of storage: the plan language, the generators, and the job that asks.
//!
//! A [`Job`] plans requests and takes completions. It is the same in the real world and in a virtual one,
//! so the stream it asks for depends on seed and specification alone.
//!
//! **Invariant:** this crate names no clock, no file and no thread.

mod address;
mod backlog;
mod choice;
mod compile;
mod flow;
mod job;
mod lines;
mod pace;
mod permutation;
pub mod plan;
mod rewrites;
mod rng;
pub mod room;
mod seam;
pub mod selftest;
mod status;
pub mod steady;
pub mod tally;
pub mod trace;
pub mod tree;
mod verified;
mod warm_up;
mod wear_out;
mod window;
mod zones;

pub use address::{Addresses, Grain, Region, RegionShare, Step};
pub use compile::{CompileError, compile, file_size_needed, files_needed};
pub use flow::FlowTotals;
pub use job::{
    BlockRequests, ERRORS_MAX, FileMap, Job, JobOptions, JobSpec, Logged, Next, Progress, RequestSource,
};
pub use lines::JobLine;
pub use permutation::Permutation;
pub use rng::{Stream, Streams};
pub use seam::{Completion, Errno, IoRequest, Outcome, Request, Token, Wake};
pub use spec::{self, Op};
pub use status::DeviceStatus;
pub use verified::{Verified, Wrong};
pub use warm_up::WarmUp;
pub use wear_out::{WearOut, worn_out};
pub use zones::{DeviceZone, Placing, ZoneAccess, ZoneAction, ZoneCall, ZoneRules, ZoneStates, ZoneWait};
