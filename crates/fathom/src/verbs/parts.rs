//! `--parts FILE`: what the user knows of the path to the media.

use std::path::Path;

use record::PathPart;

use crate::ending::Failure;

/// Puts the parts of `file` into `paths`; without a file nothing is done.
pub fn apply(file: Option<&Path>, paths: &mut [PathPart]) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Usage(format!("{name}: the file of parts cannot be read: {error}")))?;
    Ok(explain::Parts::read(&name, &text)?.apply(paths)?)
}
