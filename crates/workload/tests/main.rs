//! The job through its seam: what it asks for, and what it says it saw.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod compiling;
mod driving;
mod following;
mod going_on;
mod logging;
mod mixing;
mod pacing;
mod placing;
mod saying;
mod sharing;
mod traces;
mod trees;
mod world;
