//! The program from outside: what a user types, what comes back, what is left behind.
//!
//! Every test has a home, a library and a working directory of its own, and touches no device that it did not make.
//! What needs root or a tool that is missing says so on stderr and is skipped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod support;

mod architecture;
mod arrays;
mod campaign;
mod compare;
mod completing;
mod consent;
mod display;
mod docs;
mod doctor;
mod emulate;
mod explore;
mod exports;
mod faults;
mod fitting;
mod formats;
mod imposed;
mod interrupts;
mod issued;
mod keeping;
mod kernel;
mod metrics;
mod mutations;
mod pipeline;
mod plans;
mod rebuilds;
mod reports;
mod searching;
mod serve;
mod soak;
mod stalls;
mod streams;
mod targets;
mod team;
mod terminal;
mod traces;
mod trees;
mod ui;
mod verifying;
mod worlds;
