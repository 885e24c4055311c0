//! Arrays that hold data, through failures of every kind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod caches;
mod copies;
mod crashes;
mod doubts;
mod failures;
mod faults;
mod host;
mod initialising;
mod operators;
mod returns;
mod told;
mod world;
