//! One file, by the descriptor it was first opened with: opened again and removed without trusting its name a second
//! time.
//!
//! Between two looks at a name somebody may put another file or a symbolic link in its place. What is opened here is the
//! file behind a descriptor, whatever its name leads to by then.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, fstat, openat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use crate::random;

/// The file that `first` is open on, opened once more with `flags`: access mode, `O_DIRECT` and the like.
///
/// By `/proc/self/fd` (proc(5)), which leads to the open file and not to a name. Where procfs is absent `path` is opened
/// without following a link, and compared. An error of kind [`io::ErrorKind::NotFound`] where that leads elsewhere.
pub fn reopen(first: impl AsFd, path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC;
    let own = format!("/proc/self/fd/{}", first.as_fd().as_raw_fd());
    let again = match rustix::fs::open(&own, flags, Mode::empty()) {
        Err(Errno::NOENT) => rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty()),
        opened => opened,
    }?;
    let (one, other) = (fstat(&first)?, fstat(&again)?);
    match (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) {
        true => Ok(again.into()),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Whether `path` itself, not the end of a link there, is the file that `file` is open on. An error where nothing is.
pub fn is_at(path: &Path, file: impl AsFd) -> io::Result<bool> {
    let (there, ours) = (statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?, fstat(file)?);
    Ok((there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino))
}

/// The path of the directory that `path` lies in.
pub fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The directory that `path` lies in, and its name there.
pub fn folder_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let folder = parent_of(path);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((openat(CWD, folder, flags, Mode::empty())?, name))
}

/// How names end that files have between being put aside and being removed.
pub(crate) const ASIDE: &str = ".removed";

/// Removes the name `path` of the file that `file` is open on; `false`, and nothing is removed, where it is another
/// file's by now.
///
/// The name is first put aside and looked at there, so that a file that takes its place between the look and the removal
/// is not lost. Where the file system cannot rename without replacing, the look comes just before.
pub fn remove(path: &Path, file: &File) -> io::Result<bool> {
    let (folder, name) = folder_of(path)?;
    if !leads_to(&folder, name, file)? {
        return Ok(false);
    }
    let mut aside = name.to_owned();
    aside.push(format!(".{:016x}{ASIDE}", random()));
    match renameat_with(&folder, name, &folder, &aside, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            unlinkat(&folder, name, AtFlags::empty())?;
            return Ok(true);
        }
        Err(error) => return Err(error.into()),
    }
    let removed = match leads_to(&folder, &aside, file)? {
        true => unlinkat(&folder, &aside, AtFlags::empty()).map(|()| true).map_err(io::Error::from),
        false => Ok(false),
    };
    if !matches!(removed, Ok(true)) {
        renameat_with(&folder, &aside, &folder, name, RenameFlags::NOREPLACE)?;
    }
    removed
}

fn leads_to(folder: impl AsFd, name: &OsStr, file: impl AsFd) -> io::Result<bool> {
    let there = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(false),
        there => there?,
    };
    let ours = fstat(file)?;
    Ok((there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_again_by_its_descriptor_whatever_its_name_leads_to() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let (path, other) = (folder.path().join("own"), folder.path().join("other"));
        std::fs::write(&path, "own").expect("the folder is ours");
        std::fs::write(&other, "other").expect("the folder is ours");
        let first = File::open(&path).expect("it is there");
        std::fs::remove_file(&path).expect("it is there");
        std::os::unix::fs::symlink(&other, &path).expect("the folder is ours");
        let again = reopen(&first, &path, OFlags::RDWR).expect("the descriptor is open");
        std::os::unix::fs::FileExt::write_all_at(&again, b"mine", 0).expect("it is open for writing");
        assert_eq!(std::fs::read(&other).expect("it is there"), b"other");
        assert!(!is_at(&path, &first).expect("it can be looked at"));
    }

    #[test]
    fn only_the_name_of_the_file_itself_is_removed() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("own");
        std::fs::write(&path, "own").expect("the folder is ours");
        let file = File::open(&path).expect("it is there");
        std::fs::rename(&path, folder.path().join("moved")).expect("the folder is ours");
        assert!(!remove(&path, &file).expect("there is nothing to remove"));
        std::fs::write(&path, "a stranger's").expect("the folder is ours");
        assert!(!remove(&path, &file).expect("it can be looked at"));
        assert!(path.exists());
        assert!(remove(&folder.path().join("moved"), &file).expect("it is ours"));
        let left = std::fs::read_dir(folder.path()).expect("it is there").count();
        assert_eq!(left, 1, "nothing is left aside");
    }
}
