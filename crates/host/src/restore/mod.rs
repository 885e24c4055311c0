//! What is changed is put back: noted before it is changed, and put back by whoever comes next where its maker cannot.
//!
//! A [`Journal`] holds what one process has changed and not yet put back. It is on storage before the change is made,
//! so that after a kill, and after a power cut, [`replay`] finds it.
//!
//! **Invariant:** nothing is put back that is not as it was left: a file is removed only if it is the one that was made,
//! a setting is written only where it still has the value that was set.
//! **Invariant:** the journal of a process that lives is not replayed: it is locked.

mod change;
mod fate;
mod journal;
mod queue;
mod replay;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use change::{Change, FileId, Knob, MadeFile, Setting};
pub(crate) use fate::unfinished;
pub use journal::{Journal, Noted};
pub use queue::{QueueSetting, QueueValue};
pub use replay::{Report, replay};

/// The folder of the journals that belong to the library at `library`: of its name with `.restore` behind it.
pub fn folder_beside(library: &Path) -> PathBuf {
    let mut name = library.file_name().map_or_else(|| OsString::from("fathom"), OsString::from);
    name.push(".restore");
    library.with_file_name(name)
}
