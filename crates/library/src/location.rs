//! Where a library is.

use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

use crate::{Address, LibraryError};

/// Where a library is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a SQLite file.
    File(PathBuf),
    /// In a database of a PostgreSQL server.
    Server(Address),
}

impl From<PathBuf> for Location {
    /// What begins as the address of a server is one; anything else is a file.
    fn from(path: PathBuf) -> Location {
        let address = path.to_str().and_then(Address::of);
        address.map_or(Location::File(path), Location::Server)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Location {
        path.to_path_buf().into()
    }
}

impl fmt::Display for Location {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Server(address) => address.fmt(f),
        }
    }
}

/// `$XDG_DATA_HOME/fathom/runs.sqlite`, or `~/.local/share/fathom/runs.sqlite` where that is not set.
///
/// Nothing is created. Fails where this user has no home.
/// Source: XDG Base Directory Specification 0.8.
pub fn default_path() -> Result<PathBuf, LibraryError> {
    let base = Xdg::new().map_err(|_| LibraryError::NoHome)?;
    Ok(base.data_dir().join("fathom").join("runs.sqlite"))
}
