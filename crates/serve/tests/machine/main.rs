//! Arrays that hold data, through failures of every kind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod caches;
mod crashes;
mod failures;
mod operators;
mod world;
