//! What published write-ups report of real arrays, shown by the shipped models of them.
//! Figures are printed beside their bounds: `cargo test -p fathom-array --test behaviours -- --nocapture`.
#![allow(clippy::print_stdout)]

mod background;
mod caches;
mod fixture;
mod levels;
mod nas;
mod paths;
mod saturation;
