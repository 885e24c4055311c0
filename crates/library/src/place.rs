//! Where a library is.

use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

use crate::{Address, LibraryError};

/// Where a library is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a SQLite file.
    File(PathBuf),
    /// In a database of a PostgreSQL server.
    Server(Address),
}

impl From<PathBuf> for Place {
    /// What begins as the address of a server is one; anything else is a file.
    fn from(path: PathBuf) -> Place {
        let address = path.to_str().and_then(Address::of);
        address.map_or(Place::File(path), Place::Server)
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Place {
        path.to_path_buf().into()
    }
}

impl fmt::Display for Place {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Server(address) => address.fmt(f),
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
