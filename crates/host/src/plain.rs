//! Plain files of a name of the user's choosing, made and left behind as tools such as dd and SQLIO do.
//!
//! They hold what was written to them and nothing else, no mark of Fathom's. That one of them may be written again
//! without consent is known by an extended attribute with its inode, size and time of last change.
//!
//! **Invariant:** a file that is there is never taken for one of these unless nobody has changed it since: another
//! inode, size or time of change makes it the user's own.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, XattrFlags, fgetxattr, fsetxattr};
use units::Bytes;
use units::convert::narrow;

use workload::Streams;
use workload::spec::Content;

use crate::content::Filler;
use crate::restore::{Change, Journal, MadeFile, Noted};
use crate::safety::Permit;
use crate::scratch::Step;
use crate::{handle, pages};

const ATTRIBUTE: &str = "user.fathom.plain";

/// What is expanded is written in pieces of this size.
const PIECE: Bytes = Bytes::MIB;

/// What the system refused of a plain file.
#[derive(Debug)]
pub struct Refused {
    /// What was tried: `making`, `cutting`.
    pub doing: &'static str,
    /// Why not.
    pub source: io::Error,
}

fn refused(doing: &'static str) -> impl FnOnce(io::Error) -> Refused {
    move |source| Refused { doing, source }
}

/// A plain file of a run's own, to be left or removed at its end.
#[derive(Debug)]
pub struct Made {
    path: PathBuf,
    file: File,
    keep: bool,
    /// That it is to be removed, where it is; `None` as well once it has been left or removed.
    noted: Option<Noted>,
}

impl Made {
    /// Makes the file, having noted that it is to be removed unless it is to be kept; with the permit to write to it.
    pub fn make(path: &Path, keep: bool, journal: &Journal) -> Result<(Made, Permit), Refused> {
        let journal = if keep { &Journal::default() } else { journal };
        let made = MadeFile::before(path).map_err(refused("making"))?;
        let noted = journal.note(Change::Plain(made.clone())).map_err(refused("noting"))?;
        let (file, mut noted) = noted.of(create(path)).map_err(refused("making"))?;
        let made = made.made(&file).map_err(refused("looking at"))?;
        noted.amend(Change::Plain(made)).map_err(refused("noting"))?;
        let permit = Permit::for_own(path, &file, format!("the new file {}", path.display()))
            .map_err(refused("looking at"))?;
        Ok((Made { path: path.into(), file, keep, noted: Some(noted) }, permit))
    }

    /// Takes a file over that an earlier run has left, open as `file`.
    pub fn left(path: &Path, file: &File, keep: bool, journal: &Journal) -> Result<Made, Refused> {
        let journal = if keep { &Journal::default() } else { journal };
        let made = MadeFile::before(path).and_then(|made| made.made(file)).map_err(refused("looking at"))?;
        let noted = Some(journal.note(Change::Plain(made)).map_err(refused("noting"))?);
        let file = file.try_clone().map_err(refused("opening"))?;
        Ok(Made { path: path.into(), file, keep, noted })
    }

    /// The file, open for reading and writing.
    pub fn handle(&self) -> Result<File, Refused> {
        self.file.try_clone().map_err(refused("opening"))
    }

    /// Has it removed at the end, whatever was said of keeping it.
    pub fn give_up(&mut self) {
        self.keep = false;
    }

    /// Leaves or removes the file, once. An error says what stays behind.
    pub fn end(&mut self) -> Result<(), String> {
        if self.keep {
            // A file that could not be marked counts as the user's from now on.
            let _users = leave(&self.file);
            return Ok(());
        }
        let Some(noted) = self.noted.take() else { return Ok(()) };
        let removed = handle::remove(&self.path, &self.file).map(|_| noted.done());
        removed.map_err(|error| format!("{}: cannot remove: {error}", self.path.display()))
    }
}

/// Leave to write to the file at `path`, which was not there when this process looked, and which another process of the same
/// run has made since. An error where there is none, or one that already holds something.
pub fn join(path: &Path) -> Result<Permit, Refused> {
    let opened = handle::open_itself(path, OFlags::RDWR);
    let file = opened.map_err(|errno| refused("opening what rank 0 has made as")(errno.into()))?;
    let stat = file.metadata().map_err(refused("looking at"))?;
    if !stat.is_file() || stat.len() > 0 {
        let why = io::Error::other("it is no empty file, and so not the one that rank 0 has made");
        return Err(refused("sharing")(why));
    }
    Permit::for_own(path, &file, format!("the new file {}", path.display())).map_err(refused("looking at"))
}

/// Cuts the file to `most` where it is longer.
pub fn cut(file: &File, most: Bytes) -> Result<(), Refused> {
    let length = Bytes::new(file.metadata().map_err(refused("looking at"))?.len());
    match length > most {
        true => file.set_len(most.get()).map_err(refused("cutting")),
        false => Ok(()),
    }
}

/// Cuts the file to nothing.
pub fn empty(file: &File) -> Result<(), Refused> {
    file.set_len(0).map_err(refused("emptying"))
}

/// Makes the file. An error where there is anything of that name, a dangling link included.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Writes zeros or noise from the end of the file to `size`, and back to the storage. `step` is asked before each MiB with
/// what is there by then. Returns whether it came to the end.
pub fn fill(
    file: &mut File,
    size: Bytes,
    noise: bool,
    step: &mut dyn FnMut(Bytes) -> Step,
) -> io::Result<bool> {
    let mut piece_of = vec![0u8; narrow::<usize>(PIECE.get())];
    let random = Content::Random { compress: 1.0, dedupe: 1.0 };
    let mut filler = noise.then(|| Filler::new(random, Streams::new(1), "plain file"));
    let mut at = Bytes::new(io::Seek::seek(file, io::SeekFrom::End(0))?);
    while at < size {
        if step(at) != Step::Continue {
            return Ok(false);
        }
        let piece = (size - at).min(PIECE);
        if let Some(filler) = &mut filler {
            filler.fill(&mut piece_of);
        }
        file.write_all(&piece_of[..narrow::<usize>(piece.get())])?;
        at += piece;
    }
    file.sync_all()?;
    // A hint: what was written here should not be read from memory afterwards.
    let _ = pages::forget(file);
    Ok(true)
}

/// Marks the file as Fathom's for as long as nobody changes it. Where the file system keeps no attributes it counts
/// as the user's from now on.
pub fn leave(file: &File) -> io::Result<()> {
    // What is still to be written back would change the time.
    file.sync_all()?;
    let print = fingerprint(&file.metadata()?);
    assert!(print.len() < 128, "a mark must fit what it is read back into");
    match fsetxattr(file, ATTRIBUTE, print.as_bytes(), XattrFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSPC) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether `file` was made here and is as it was left.
pub fn is_as_left(file: &File) -> bool {
    let mut found = [0u8; 128];
    let Ok(len) = fgetxattr(file, ATTRIBUTE, &mut found[..]) else { return false };
    let Ok(stat) = file.metadata() else { return false };
    stat.is_file() && found.get(..len) == Some(fingerprint(&stat).as_bytes())
}

fn fingerprint(stat: &Metadata) -> String {
    format!("{} {} {}.{:09}", stat.ino(), stat.size(), stat.mtime(), stat.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the disk of the build: memory file systems may keep no attributes.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn a_file_is_known_until_somebody_changes_or_copies_it() {
        let folder = folder();
        let path = folder.path().join("made");
        let mut file = create(&path).unwrap();
        assert!(fill(&mut file, Bytes::new(3 << 20 | 7), false, &mut |_| Step::Continue).unwrap());
        assert_eq!(file.metadata().unwrap().len(), 3 << 20 | 7);
        assert!(!is_as_left(&file), "not before it was left");
        leave(&file).unwrap();
        if fgetxattr(&file, ATTRIBUTE, &mut [0u8; 128][..]).is_err() {
            // The file system of the build keeps no attributes: then nothing is ever taken for Fathom's.
            assert!(!is_as_left(&file));
            return;
        }
        assert!(is_as_left(&File::open(&path).unwrap()));
        assert!(create(&path).is_err(), "it is not made twice");

        let copy = folder.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let copied = File::open(&copy).unwrap();
        fsetxattr(
            File::options().write(true).open(&copy).unwrap(),
            ATTRIBUTE,
            b"0 0 0.0",
            XattrFlags::empty(),
        )
        .unwrap();
        assert!(!is_as_left(&copied));

        let times = std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
        file.set_times(times).unwrap();
        assert!(!is_as_left(&file), "somebody wrote to it");
    }

    #[test]
    fn a_file_that_another_process_has_made_is_joined_while_it_is_empty() {
        let folder = folder();
        let path = folder.path().join("made");
        assert!(join(&path).is_err(), "nothing is there");
        let mut file = create(&path).unwrap();
        assert!(join(&path).unwrap().open(0).unwrap().is_some());
        file.write_all(b"of a user's").unwrap();
        assert!(join(&path).unwrap_err().source.to_string().contains("no empty file"));
        std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert!(join(&folder.path().join("link")).is_err(), "no link is followed");
    }

    #[test]
    fn filling_goes_on_from_the_end_and_can_be_stopped() {
        let folder = folder();
        let path = folder.path().join("grown");
        let mut file = create(&path).unwrap();
        file.write_all(b"kept").unwrap();
        assert!(fill(&mut file, Bytes::new(10), false, &mut |_| Step::Continue).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"kept\0\0\0\0\0\0");
        assert!(!fill(&mut file, Bytes::GIB, false, &mut |_| Step::Abort).unwrap());
        assert_eq!(file.metadata().unwrap().len(), 10);
    }
}
