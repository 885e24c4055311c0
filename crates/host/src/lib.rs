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
mod escape;
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

/// What a system call answers; below zero the error that it left behind.
fn answered<T: Default + PartialOrd>(answer: T) -> std::io::Result<T> {
    if answer < T::default() { Err(std::io::Error::last_os_error()) } else { Ok(answer) }
}

/// The number of an error of the system's.
fn errno(error: std::io::Error) -> rustix::io::Errno {
    rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO)
}

/// The bytes of a number at `at`.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("a number must lie within what it is read from")
}

/// `all` in its order, of those with the same key the first.
fn each_once<T, K: PartialEq>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for one in all {
        if !once.iter().any(|known| key(known) == key(&one)) {
            once.push(one);
        }
    }
    once
}

/// Sixty-four random bits, from the keys the standard library draws for its maps.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
