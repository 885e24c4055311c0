//! The search for the highest rate that keeps an SLO, held against queues whose answer is known.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::print_stderr, reason = "the figures of a long test are its result")]

mod ladder;
mod queue;
mod table;
mod world;
