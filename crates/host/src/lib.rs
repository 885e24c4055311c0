//! The real world: what is asked, whether it may be written, with what it is asked, and what happens beside it.
//!
//! **Invariant:** this crate knows no virtual time and never prints.
//! **Invariant:** nothing here opens a device or a user's file for writing without having asked whether it may be.

mod assignment;
mod buffers;
pub mod clock;
pub mod command;
pub mod content;
pub mod drive;
pub mod driver;
pub mod engine;
pub mod environment;
pub mod fault;
pub mod file_system;
#[cfg(test)]
mod fixture;
pub mod handle;
pub mod load;
pub mod monitor;
pub mod nbd;
pub mod niceness;
pub mod pages;
mod passthrough;
pub mod pinned;
mod placement;
pub mod plain;
pub mod progress;
pub mod restore;
pub mod room;
pub mod safety;
pub mod scratch;
mod scsi;
pub mod semaphores;
pub mod sysroot;
pub mod target;
pub mod topology;
pub mod tree;
mod unwinding;
pub mod verify;
pub mod zoned;

pub use sysroot::{DevNo, SysRoot};
pub use target::{Facts, Target};

/// Sixty-four random bits, from the keys the standard library draws for its maps.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
