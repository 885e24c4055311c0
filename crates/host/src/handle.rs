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

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, Stat, flock, fstat, openat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::random;

/// The file that `first` is open on, opened once more with `flags`: access mode, `O_DIRECT` and the like.
///
/// By `/proc/self/fd` (proc(5)), which leads to the open file and not to a name. Where procfs is absent `path` is opened
/// without following a link, and compared. An error of kind [`io::ErrorKind::NotFound`] where that leads elsewhere.
pub fn reopen(first: impl AsFd, path: &Path, flags: OFlags) -> io::Result<File> {
    let own = format!("/proc/self/fd/{}", first.as_fd().as_raw_fd());
    reopen_by(&own, first, path, flags)
}

fn reopen_by(own: &str, first: impl AsFd, path: &Path, flags: OFlags) -> io::Result<File> {
    assert!(
        !flags.intersects(OFlags::CREATE | OFlags::TRUNC),
        "what is opened again is neither made nor emptied"
    );
    let flags = flags | OFlags::CLOEXEC;
    let again = match rustix::fs::open(own, flags, Mode::empty()) {
        Err(Errno::NOENT) => rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty()),
        opened => opened,
    }?;
    match is_one(&fstat(&first)?, &fstat(&again)?) {
        true => Ok(again.into()),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// What is at `path` itself, opened with that access: no link is followed, and a pipe is not waited for.
pub(crate) fn open_itself(path: &Path, access: OFlags) -> Result<File, Errno> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}

/// Takes the lock of a file for as long as it is open; whether somebody else has it. Without a lock where its file system, as some
/// network ones, has none.
pub(crate) fn is_locked_by_another(file: impl AsFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
}

/// Whether `path` itself, not the end of a link there, is the file that `file` is open on. An error where nothing is.
pub fn is_at(path: &Path, file: impl AsFd) -> io::Result<bool> {
    Ok(is_one(&statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?, &fstat(file)?))
}

/// Whether they are of one file.
pub(crate) fn is_one(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
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
    Ok(is_one(&there, &fstat(file)?))
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
    fn without_procfs_a_file_is_opened_by_its_name_and_only_where_that_still_leads_to_it() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let (path, link) = (folder.path().join("own"), folder.path().join("link"));
        std::fs::write(&path, "own").expect("the folder is ours");
        std::os::unix::fs::symlink(&path, &link).expect("the folder is ours");
        let first = File::open(&path).expect("it is there");
        let by_name = |path: &Path| reopen_by("/proc/none/fd/0", &first, path, OFlags::RDWR);
        let again = by_name(&path).expect("it is there");
        assert!(rustix::io::fcntl_getfd(&again).expect("it is open").contains(rustix::io::FdFlags::CLOEXEC));
        std::os::unix::fs::FileExt::write_all_at(&again, b"our", 0).expect("it is open for writing");
        assert_eq!(by_name(&link).expect_err("no link is followed").raw_os_error(), Some(libc::ELOOP));
        std::fs::rename(&path, folder.path().join("moved")).expect("the folder is ours");
        assert_eq!(by_name(&path).expect_err("nothing is there").kind(), io::ErrorKind::NotFound);
        std::fs::write(&path, "a stranger's").expect("the folder is ours");
        assert_eq!(by_name(&path).expect_err("it is another").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_folder_of_a_file_is_a_folder_that_need_not_be_read_and_that_no_other_program_inherits() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("own");
        std::fs::write(&path, "own").expect("the folder is ours");
        let (held, name) = folder_of(&path).expect("it is there");
        assert_eq!(name, "own");
        assert!(rustix::io::fcntl_getfd(&held).expect("it is open").contains(rustix::io::FdFlags::CLOEXEC));
        let below = folder_of(&path.join("x")).map(drop).expect_err("a file is no folder");
        assert_eq!(below.kind(), io::ErrorKind::NotADirectory);
        assert_eq!(
            folder_of(Path::new("/")).map(drop).map_err(|e| e.kind()),
            Err(io::ErrorKind::InvalidInput)
        );
        assert_eq!(
            (parent_of(Path::new("a/b")), parent_of(Path::new("b"))),
            (Path::new("a"), Path::new("."))
        );
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).expect("it is ours");
        let searched = crate::fixture::as_nobody(|| folder_of(&path).map(drop));
        assert!(searched.is_none_or(|held| held.is_ok()), "it is only gone through");
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
