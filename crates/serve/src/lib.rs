//! A virtual array that holds data.
//!
//! The planner and the parity of `array` do the work on members that are files or memory: reads reconstruct, writes
//! update parity, spares are filled. What is served is a block device.
//!
//! | from below | is |
//! |---|---|
//! | [`tag`] | the checksum of a sector |
//! | [`medium`] | what bytes are kept on |
//! | [`disk`] | a member: sectors with their tags, and a label |
//! | [`nvram`] | the journal that closes the write hole, and the write-intent map |
//! | [`set`] | a RAID set: requests and background work |
//! | [`cache`] | the write-back cache, and what it has lost |
//! | [`config`], [`shelf`] | what the labels say, and where disks lie |
//! | [`machine`] | the array: bays, LUNs, and what an operator does |
//! | [`events`] | what has happened |
//! | [`nbd`], [`fuse`], `ublk`, [`control`] | what clients and operators talk to |
//! | [`pace`] | when answers are given |
//!
//! **Invariant:** a request gives the data that were written or an error, whatever has failed. What was flushed is there
//! after a stop at any instant.

pub mod cache;
pub mod clock;
pub mod config;
pub mod control;
pub mod disk;
pub mod events;
pub mod fuse;
pub mod machine;
pub mod medium;
pub mod nbd;
pub mod nvram;
pub mod pace;
pub mod rows;
pub mod service;
pub mod set;
pub mod shelf;
pub mod tag;
#[cfg(feature = "ublk")]
pub mod ublk;
