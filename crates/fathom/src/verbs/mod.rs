//! One file for each verb.

pub mod completions;
pub mod doctor;
pub mod keep;
pub mod plan;
pub mod run;
