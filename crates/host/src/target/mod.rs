//! What a user names, resolved: a file, a directory, a block device, an export of an NBD server, or nothing at all (`null:`).
//!
//! **Invariant:** resolving opens nothing for writing and creates nothing.

pub mod device;
mod direct;
mod facts;
mod generic;
pub mod mounts;
pub mod remote;
pub mod stack;
mod stored;

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use units::{Bytes, UnitError};

use crate::handle;
use crate::nbd::{Export, NbdError, Uri, UriError};
use crate::sysroot::{DevNo, SysRoot};

pub use device::{Device, DeviceKind, Identity, Queue};
pub use direct::{Direct, direct_of};
pub use facts::Facts;
pub(crate) use generic::node_of as generic_of;
pub use mounts::Mount;
pub use remote::Remote;
pub use stack::{Link, Relative};
#[cfg(test)]
pub(crate) use stored::entropy;
pub use stored::{BLOCK as STORED_BLOCK, Stored, stored};

/// The size of `null:` where none is given: larger than any cache, so that no span is too wide for it.
pub const NULL_SIZE: Bytes = Bytes::TIB;

/// What is asked, named and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As the user wrote it.
    pub name: String,
    /// What it turned out to be.
    pub kind: TargetKind,
}

/// What a name stands for. Paths are absolute and free of symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Nothing: requests complete at once. Shows what the generator itself costs.
    Null {
        /// The span that addresses are drawn from.
        size: Bytes,
    },
    /// A file that is there.
    File(PathBuf),
    /// A file that is not there yet, in a directory that is.
    NewFile(PathBuf),
    /// A directory.
    Directory(PathBuf),
    /// A block device.
    Block {
        /// Its node.
        node: PathBuf,
        /// Its number.
        devno: DevNo,
    },
    /// An export of an NBD server, which is talked to without the kernel's client.
    Nbd(Export),
}

/// Why a name stands for nothing that can be asked.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing was written.
    #[error("the target is empty; name a directory, a file, a block device, or `null:`")]
    Empty,
    /// A URI that is none.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// An export that is not there, or a server that does not answer.
    #[error(transparent)]
    Nbd(#[from] NbdError),
    /// A world that is not this one.
    #[error("`{name}` is a virtual array, not storage of this host")]
    Array {
        /// As written.
        name: String,
    },
    /// `null:` with a size that is none.
    #[error("`{name}`: {source}; write `null:` or a size such as `null:4TiB`")]
    NullSize {
        /// As written.
        name: String,
        /// What is wrong with the size.
        source: UnitError,
    },
    /// `null:` of no size.
    #[error("`{name}` has no room for a request; write a size such as `null:4TiB`")]
    NullEmpty {
        /// As written.
        name: String,
    },
    /// Neither it nor its directory is there.
    #[error("{path}: there is no such file, and no directory {parent} to create it in; check the path")]
    Absent {
        /// The path.
        path: PathBuf,
        /// The directory that is missing.
        parent: PathBuf,
    },
    /// A device that is not there, as after a slip of the pen: a file of its name would lie in memory.
    #[error("{path}: there is no such device; `lsblk` shows those there are")]
    NoDevice {
        /// The path.
        path: PathBuf,
    },
    /// There, but neither file nor directory nor block device.
    #[error("{path} is a {what}; a target is a directory, a file or a block device")]
    Unsuitable {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The system would not say what it is.
    #[error("{path}: cannot be read: {source}")]
    Os {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Target {
    /// Resolves `/mnt/array`, `/dev/sdX`, `/dev/sgN` and `/dev/ngXnY` (which are the disks behind them), `/path/file`, `nbd://host/export`, `null:` and `null:4TiB`.
    ///
    /// Relative paths count from the working directory; symbolic links are followed. A path that does not
    /// exist is a new file if its directory exists.
    pub fn parse(name: &str) -> Result<Target, TargetError> {
        let kind = match name.split_once(':') {
            _ if name.trim().is_empty() => return Err(TargetError::Empty),
            Some(("null", size)) => TargetKind::Null { size: null_size(name, size)? },
            Some(("array", _)) => return Err(TargetError::Array { name: name.into() }),
            _ if Uri::is_meant(name) => TargetKind::Nbd(Export::look(&name.parse()?)?),
            _ => kind_of(&units::name::path(name))?,
        };
        let target = Target { name: name.into(), kind };
        assert!(target.path().is_none_or(Path::is_absolute), "a target must be the same from any directory");
        Ok(target)
    }

    /// The file, directory or node; `None` for `null:` and for exports.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            TargetKind::Null { .. } | TargetKind::Nbd(_) => None,
            TargetKind::File(path) | TargetKind::NewFile(path) | TargetKind::Directory(path) => Some(path),
            TargetKind::Block { node, .. } => Some(node),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn null_size(name: &str, size: &str) -> Result<Bytes, TargetError> {
    if size.is_empty() {
        return Ok(NULL_SIZE);
    }
    let size: Bytes = size.parse().map_err(|source| TargetError::NullSize { name: name.into(), source })?;
    if size.is_zero() {
        return Err(TargetError::NullEmpty { name: name.into() });
    }
    Ok(size)
}

fn kind_of(path: &Path) -> Result<TargetKind, TargetError> {
    let os = |source| TargetError::Os { path: path.into(), source };
    let resolved = match fs::canonicalize(path) {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path),
        Err(error) => return Err(os(error)),
    };
    let stat = fs::metadata(&resolved).map_err(os)?;
    let kind = stat.file_type();
    let unsuitable = |what| Err(TargetError::Unsuitable { path: path.into(), what });
    if kind.is_file() {
        Ok(TargetKind::File(resolved))
    } else if kind.is_dir() {
        Ok(TargetKind::Directory(resolved))
    } else if kind.is_block_device() {
        Ok(TargetKind::Block { node: resolved, devno: DevNo::from_raw(stat.rdev()) })
    } else if kind.is_char_device() {
        // What is asked by commands has the name of its block device, so that it is looked at, and consented to, as one.
        let root = SysRoot::real();
        let behind = generic::block_behind(&root, DevNo::from_raw(stat.rdev()));
        behind.map_or_else(
            || unsuitable("character device"),
            |(name, devno)| Ok(TargetKind::Block { node: root.node(&name), devno }),
        )
    } else if kind.is_fifo() {
        unsuitable("pipe")
    } else {
        unsuitable("socket")
    }
}

fn new_file(path: &Path) -> Result<TargetKind, TargetError> {
    let parent = handle::parent_of(path);
    let absent = || TargetError::Absent { path: path.into(), parent: parent.into() };
    // A dangling link would be created somewhere else than it says.
    if path.is_symlink() {
        return Err(TargetError::Unsuitable { path: path.into(), what: "link to nothing" });
    }
    let name = path.file_name().ok_or_else(absent)?;
    let folder = fs::canonicalize(parent).map_err(|_| absent())?;
    if !folder.is_dir() {
        return Err(absent());
    }
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        return Err(TargetError::NoDevice { path: path.into() });
    }
    Ok(TargetKind::NewFile(folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_has_a_size_even_where_none_is_given() {
        let size = |name: &str| match Target::parse(name).map(|target| target.kind) {
            Ok(TargetKind::Null { size }) => Some(size),
            _ => None,
        };
        assert_eq!(size("null:"), Some(NULL_SIZE));
        assert_eq!(size("null:4TiB"), Some(Bytes::TIB * 4));
        assert_eq!(size("null:4"), None);
        assert_eq!(size("null:0B"), None);
        assert_eq!(size("null:x"), None);
    }

    #[test]
    fn a_path_is_what_it_is_found_to_be() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let folder = fs::canonicalize(folder.path()).expect("it is there");
        let file = folder.join("file");
        fs::write(&file, "x").expect("the folder is ours");
        let place = |path: &Path| Target::parse(path.to_str().expect("it is text")).map(|target| target.kind);
        assert_eq!(place(&folder).expect("it is there"), TargetKind::Directory(folder.clone()));
        assert_eq!(place(&file).expect("it is there"), TargetKind::File(file.clone()));
        let new = folder.join("new");
        assert_eq!(place(&new).expect("it can be made"), TargetKind::NewFile(new));
        assert!(matches!(place(&folder.join("no/file")), Err(TargetError::Absent { .. })));
        assert!(matches!(place(&file.join("below a file")), Err(TargetError::Os { .. })));
    }

    #[test]
    fn a_link_is_followed_and_a_dangling_one_is_refused() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let folder = fs::canonicalize(folder.path()).expect("it is there");
        fs::write(folder.join("file"), "x").expect("the folder is ours");
        std::os::unix::fs::symlink("file", folder.join("link")).expect("the folder is ours");
        std::os::unix::fs::symlink("gone", folder.join("dangling")).expect("the folder is ours");
        let parse = |name: &str| Target::parse(folder.join(name).to_str().expect("it is text"));
        assert_eq!(parse("link").expect("it is there").kind, TargetKind::File(folder.join("file")));
        assert!(matches!(parse("dangling"), Err(TargetError::Unsuitable { .. })));
    }

    #[test]
    fn what_cannot_be_asked_is_refused_in_words() {
        assert!(matches!(Target::parse(" "), Err(TargetError::Empty)));
        assert!(matches!(Target::parse("array:md3000"), Err(TargetError::Array { .. })));
        let error = Target::parse("/dev/null").expect_err("it is a character device").to_string();
        assert_eq!(
            error,
            "/dev/null is a character device; a target is a directory, a file or a block device"
        );
    }
}
