//! One file for each verb.

mod against;
pub mod array;
pub mod caches;
pub mod campaign;
mod charts;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod explain;
pub mod fit;
pub mod formats;
pub mod library;
pub mod loss;
pub mod man;
mod measure;
pub mod parts;
pub mod plan;
pub mod report;
pub mod run;
pub mod search;
pub mod self_test;
pub mod validate;
mod what_if;
