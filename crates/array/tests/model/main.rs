//! The virtual world against other simulators, real drives and closed forms.
//! Figures are printed beside their bounds: `cargo test -p fathom-array --test model -- --nocapture`.
#![allow(clippy::print_stdout)]

mod background;
mod bitmap;
mod closed_form;
mod demerit;
mod disksim;
mod durability;
mod fixture;
mod indirect;
mod latency;
mod library;
mod links;
mod locks;
mod lost_paths;
mod ownership;
mod paths;
mod raid5;
