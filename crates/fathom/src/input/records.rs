//! Runs in files of their own, as `-o run.json` writes them.

use std::fs;

use record::Run;

use crate::ending::Failure;

/// The run that the file at `path` holds. An error names the file, and says why it is none.
pub fn read(path: &str) -> Result<Run, Failure> {
    let text = fs::read_to_string(units::name::path(path))
        .map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    record::read(&text).map_err(|error| Failure::Usage(format!("{path}: {error}")))
}
