//! What the command line names and the program reads: plans, job files, traces, virtual arrays, targets.

pub mod arrays;
pub mod candidates;
pub mod environment;
pub mod hosts;
pub mod plans;
pub mod records;
pub mod targets;
pub mod traces;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// A path, of which bytes that are no text have come as characters.
pub fn path_value() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new()
        .map(|name| name.to_str().map_or_else(|| PathBuf::from(&name), units::name::path))
}
