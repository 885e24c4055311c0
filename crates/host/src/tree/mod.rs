//! Trees of files on real storage: a folder of Fathom's own, what is in it, and the threads that work there.
//!
//! **Invariant:** nothing outside a folder that bears Fathom's mark is created, changed or removed, and in it nothing
//! whose name Fathom did not give.

mod content;
mod executor;
mod folder;
mod run;
mod store;

use std::io;
use std::path::PathBuf;

use units::Bytes;

pub use folder::{FOLDER, FolderState, MARK, look};
pub use run::TreeAssignment;
pub use store::Trees;

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// Somebody else's folder is there.
    #[error(
        "{path} exists without Fathom's mark (`{MARK}`); it was not touched: move it away or name another \
         directory"
    )]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// Something of somebody else's is in it.
    #[error("{path} lies in Fathom's folder and is not Fathom's; it was not touched: move it away")]
    Stranger {
        /// What was found.
        path: PathBuf,
    },
    /// Another process should have made it.
    #[error("{path} is not there: ranks work in one tree, so name a directory that all hosts share")]
    NotShared {
        /// The folder.
        path: PathBuf,
    },
    /// Another run uses it.
    #[error("{path} is in use by another run; wait for it or name another directory")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// It would not fit.
    #[error(
        "{path}: {files} files of together {asked} do not fit: {free} and {names} more files are free; lower `count` \
         or `file_size`"
    )]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// Files wanted.
        files: u64,
        /// Their content.
        asked: Bytes,
        /// Room there is, without what must stay free.
        free: Bytes,
        /// Files that the file system has room for.
        names: u64,
    },
    /// It was given up on request.
    #[error("{path}: laying out was interrupted")]
    Interrupted {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path}: cannot {action}: {source}")]
    Os {
        /// What.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
}

fn os<'a>(
    path: &'a std::path::Path,
    action: &'static str,
) -> impl FnOnce(rustix::io::Errno) -> TreeError + use<'a> {
    move |errno| TreeError::Os { path: path.into(), action, source: errno.into() }
}
