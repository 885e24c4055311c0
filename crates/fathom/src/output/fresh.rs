//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use units::convert::narrow;

use crate::ending::Failure;

/// Tells names of the same second apart. Another at every call.
pub fn salt() -> u16 {
    narrow(RandomState::new().build_hasher().finish() & 0xffff)
}

/// Writes `contents` to `path`, which holds it whole or what it held before.
///
/// It is written to a file of a fresh name beside it, which then takes its place. What is no regular file, such as a
/// pipe, a terminal or a link, is written as it is.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    let system = Failure::system(format!("writing {}", path.display()));
    let is_replaced = fs::symlink_metadata(path).map_or(true, |found| found.is_file());
    match is_replaced {
        true => {
            Fresh::beside(path).and_then(|fresh| fresh.become_whole(path, contents.as_ref())).map_err(&system)
        }
        false => fs::write(path, contents.as_ref()).map_err(&system),
    }
}

/// A file of a name that nobody had, removed when dropped unless it has taken its place.
#[derive(Debug)]
struct Fresh {
    path: PathBuf,
    file: Option<File>,
}

impl Fresh {
    /// In the same directory, so that it can take the place of `path` in one step.
    fn beside(path: &Path) -> io::Result<Fresh> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        loop {
            let mut fresh = OsString::from(".");
            fresh.push(name);
            fresh.push(format!(".{:04x}{:04x}.part", salt(), salt()));
            let path = path.with_file_name(fresh);
            match File::options().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(|file| Fresh { path, file: Some(file) }),
            }
        }
    }

    fn become_whole(mut self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.own().write_all(contents)?;
        self.take_the_place_of(path)
    }

    /// The file until it has taken its place.
    fn own(&mut self) -> &mut File {
        self.file.as_mut().expect("a fresh file takes its place once, and is written before")
    }

    fn take_the_place_of(mut self, path: &Path) -> io::Result<()> {
        self.own().sync_all()?;
        fs::rename(&self.path, path)?;
        self.file = None;
        Ok(())
    }
}

/// A file that is written over the whole run and appears under its name only when it is complete; an older file of that
/// name stays until then.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Fresh(Fresh),
    /// What is no regular file, such as a pipe, a terminal or a link, is written as it is.
    Itself(File),
}

impl Growing {
    /// Of nothing, or of what is there if it `keeps` that.
    pub fn create(path: &Path, keeps: bool) -> io::Result<Growing> {
        let found = fs::symlink_metadata(path);
        if found.as_ref().is_ok_and(|found| !found.is_file()) {
            let file = File::options().write(true).append(keeps).truncate(!keeps).create(true).open(path)?;
            return Ok(Growing { path: path.into(), kind: Kind::Itself(file) });
        }
        let mut fresh = Fresh::beside(path)?;
        if keeps && found.is_ok() {
            io::copy(&mut File::open(path)?, fresh.own())?;
        }
        Ok(Growing { path: path.into(), kind: Kind::Fresh(fresh) })
    }

    /// Gives it its name.
    pub fn finish(self) -> io::Result<()> {
        match self.kind {
            Kind::Fresh(fresh) => fresh.take_the_place_of(&self.path),
            Kind::Itself(_) => Ok(()),
        }
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Fresh(fresh) => fresh.own().write(bytes),
            Kind::Itself(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // The failure that is on its way to the user says more than one of this would.
            let _half = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_written_under_a_name_that_could_be_anybodys() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let inside = |name: &str| folder.path().join(name);
        let (path, other) = (inside("x.csv"), inside("letter"));
        fs::write(&other, "a letter").expect("the folder is ours");
        for name in ["x.csv.part", ".x.csv.part"] {
            std::os::unix::fs::symlink(&other, inside(name)).expect("the folder is ours");
        }
        fs::write(&path, "before").expect("the folder is ours");
        write_whole(&path, "after").expect("there is room");
        assert_eq!(fs::read(&path).expect("it is there"), b"after");
        assert_eq!(fs::read(&other).expect("it is there"), b"a letter");
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 4);
    }

    #[test]
    fn a_file_that_grows_has_its_name_when_it_is_whole_and_goes_where_it_is_not() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("x.log");
        let text = || fs::read_to_string(&path).expect("it is there");
        fs::write(&path, "before\n").expect("the folder is ours");
        let mut cut_short = Growing::create(&path, false).expect("there is room");
        cut_short.write_all(b"half").expect("there is room");
        drop(cut_short);
        assert_eq!(text(), "before\n");
        for (keeps, whole) in [(true, "before\nafter\n"), (false, "after\n")] {
            let mut growing = Growing::create(&path, keeps).expect("there is room");
            growing.write_all(b"after\n").expect("there is room");
            assert_eq!(text(), "before\n");
            growing.finish().expect("the folder is ours");
            assert_eq!(text(), whole);
            fs::write(&path, "before\n").expect("the folder is ours");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }

    #[test]
    fn what_cannot_take_its_place_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("x.csv");
        let fresh = Fresh::beside(&path).expect("there is room");
        // A folder that is not empty takes the name before the text is there.
        fs::create_dir_all(path.join("full")).expect("the folder is ours");
        assert!(fresh.become_whole(&path, b"text").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }
}
