//! Where the library lies unless the user says otherwise.

use std::path::PathBuf;

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

use crate::LibraryError;

/// `$XDG_DATA_HOME/fathom/runs.sqlite`, or `~/.local/share/fathom/runs.sqlite` where that is not set.
///
/// Nothing is created. Fails where this user has no home.
/// Source: XDG Base Directory Specification 0.8.
pub fn default_path() -> Result<PathBuf, LibraryError> {
    let base = Xdg::new().map_err(|_| LibraryError::NoHome)?;
    Ok(base.data_dir().join("fathom").join("runs.sqlite"))
}
