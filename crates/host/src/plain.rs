//! Plain files of a name of the user's choosing, made and left behind as tools such as dd and SQLIO do.
//!
//! They hold what was written to them and nothing else, no mark of Fathom's. That one of them may be written again
//! without consent is known by an extended attribute with its inode, size and time of last change. So is a file of the user's that
//! held nothing but zeros before Fathom wrote to it; it is never removed.
//!
//! **Invariant:** a file that is there is never taken for one of these unless nobody has changed it since: another
//! inode or size makes it the user's own, and so does another time of change unless all of its content is what it was.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, OFlags, SeekFrom, XattrFlags, fallocate, fgetxattr, fsetxattr, seek};
use sha2::{Digest, Sha256};
use units::Bytes;
use units::convert::narrow;

use workload::Streams;
use workload::spec::Content;

use crate::buffers::Buffers;
use crate::content::Filler;
use crate::restore::{Change, Journal, MadeFile, Noted};
use crate::safety::Permit;
use crate::scratch::Step;
use crate::{handle, pages};

const ATTRIBUTE: &str = "user.fathom.plain";

/// Whose file it is that Fathom alone has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Fathom has made it, and may remove it.
    Made,
    /// Somebody else has made it, and it stays.
    Written,
}

impl Mark {
    /// What stands behind the rest of the attribute.
    fn ending(self) -> &'static str {
        match self {
            Mark::Made => "",
            Mark::Written => " written",
        }
    }
}

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
    mark: Mark,
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
        Ok((Made { path: path.into(), file, keep, mark: Mark::Made, noted: Some(noted) }, permit))
    }

    /// Takes a file over that an earlier run has left, or that holds nothing, open as `file`. One of somebody else's stays whatever
    /// `keep` says.
    pub fn left(
        path: &Path,
        file: &File,
        mark: Mark,
        keep: bool,
        journal: &Journal,
    ) -> Result<Made, Refused> {
        let keep = keep || mark == Mark::Written;
        let journal = if keep { &Journal::default() } else { journal };
        let made = MadeFile::before(path).and_then(|made| made.made(file)).map_err(refused("looking at"))?;
        let noted = Some(journal.note(Change::Plain(made)).map_err(refused("noting"))?);
        let file = file.try_clone().map_err(refused("opening"))?;
        Ok(Made { path: path.into(), file, keep, mark, noted })
    }

    /// The file, open for reading and writing.
    pub fn handle(&self) -> Result<File, Refused> {
        self.file.try_clone().map_err(refused("opening"))
    }

    /// Has it removed at the end, whatever was said of keeping it, unless somebody else has made it.
    pub fn give_up(&mut self) {
        self.keep = self.mark == Mark::Written;
    }

    /// Leaves or removes the file, once; for what it leaves `looks` has room. An error says what stays behind.
    pub fn end(&mut self, looks: &mut Looks) -> Result<(), String> {
        if self.keep {
            // A file that could not be marked counts as the user's from now on.
            let _users = leave(&self.file, self.mark, looks);
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

/// Sets storage aside for `size` bytes of the file, of which none is written; `beyond` its end its size stays what it is. A file
/// system that cannot do so leaves it as it is.
pub fn allocate(file: &File, size: Bytes, beyond: bool) -> io::Result<()> {
    let flags = if beyond { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
    match fallocate(file, flags, 0, size.get()) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes the file as large as `size` where it is smaller, by a hole.
pub fn stretch(file: &File, size: Bytes) -> io::Result<()> {
    match file.metadata()?.len() < size.get() {
        true => file.set_len(size.get()),
        false => Ok(()),
    }
}

/// Marks the file as one that Fathom alone has written, for as long as nobody changes it. Where the file system keeps no attributes it counts
/// as the user's from now on.
pub fn leave(file: &File, mark: Mark, looks: &mut Looks) -> io::Result<()> {
    // What is still to be written back would change the time.
    file.sync_all()?;
    let stat = file.metadata()?;
    let mut print = fingerprint(&stat) + mark.ending();
    if let Some(sum) = looks.take(Bytes::new(stat.len())).and_then(|()| sum_past_cache(file)) {
        print += &format!(" {sum}");
    }
    assert!(print.len() < MARK_MOST, "a mark must fit what it is read back into");
    match fsetxattr(file, ATTRIBUTE, print.as_bytes(), XattrFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSPC) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether `file` was made here and is as it was left.
pub fn is_as_left(file: &File) -> bool {
    mark_of(file).is_some()
}

/// The mark of a `file` that was left here and is as it was left; `None` of any other.
pub fn mark_of(file: &File) -> Option<Mark> {
    let mut found = [0u8; MARK_MOST];
    let len = fgetxattr(file, ATTRIBUTE, &mut found[..]).ok()?;
    let stat = file.metadata().ok().filter(Metadata::is_file)?;
    let mut words = std::str::from_utf8(found.get(..len)?).ok()?.split(' ').peekable();
    let (inode, size, time) = (words.next()?, words.next()?, words.next()?);
    let mark = words.next_if_eq(&"written").map_or(Mark::Made, |_| Mark::Written);
    let sum = words.next();
    let is_it = inode == stat.ino().to_string() && size == stat.size().to_string() && words.next().is_none();
    let is_same = || sum.is_some_and(|sum| sum_of(file).is_ok_and(|now| now == sum));
    (is_it && (time == changed_at(&stat) || is_same())).then_some(mark)
}

/// A mark is shorter.
const MARK_MOST: usize = 256;

/// How much may still be read of files that are left, so that their content tells later that nobody has changed them: `touch`
/// changes the time as a write does.
#[derive(Clone, Copy, Debug)]
pub struct Looks(Bytes);

impl Default for Looks {
    /// What takes no time that anybody would notice.
    fn default() -> Looks {
        Looks(Bytes::new(32 << 20))
    }
}

impl Looks {
    /// Takes so much; `None` where there is not as much.
    fn take(&mut self, size: Bytes) -> Option<()> {
        self.0 = Bytes::new(self.0.get().checked_sub(size.get())?);
        Some(())
    }
}

/// The sum of all that the storage holds of `file`, of which nothing is in the page cache afterwards that was not there; `None` where
/// it cannot be read so.
fn sum_past_cache(file: &File) -> Option<String> {
    let direct = handle::reopen(file, Path::new("/proc/self/fd"), OFlags::RDONLY | OFlags::DIRECT).ok()?;
    let mut buffers = Buffers::new(1, PIECE, false).ok()?;
    sum(&direct, buffers.piece_mut(0, narrow::<usize>(PIECE.get()))).ok()
}

fn sum_of(file: &File) -> io::Result<String> {
    sum(file, &mut vec![0u8; narrow::<usize>(PIECE.get())])
}

/// SHA-256 of all of `file`, read piece by piece.
fn sum(file: &File, piece: &mut [u8]) -> io::Result<String> {
    let (size, mut at, mut hash) = (file.metadata()?.len(), 0, Sha256::new());
    while at < size {
        let got = file.read_at(piece, at)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hash.update(&piece[..got]);
        at += got as u64;
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// So much of a file is read to see that it holds zeros alone; of a larger one only holes are taken for that.
const LOOKED_THROUGH: Bytes = Bytes::GIB;

/// Whether `file` holds nothing that could be lost: it has a size, and all of it reads as zeros, be it a hole, allocated and never
/// written, or written with zeros. What cannot be read, or is too much to be read, may be something.
pub fn holds_nothing(file: &File) -> bool {
    let is_file = file.metadata().is_ok_and(|stat| stat.is_file() && stat.len() > 0);
    is_file && reads_as_zeros(file, LOOKED_THROUGH).unwrap_or(false)
}

/// Whether all bytes of `file` are zeros, of which at most so many are read; `false` where there are more.
fn reads_as_zeros(file: &File, most: Bytes) -> io::Result<bool> {
    let size = file.metadata()?.len();
    let (mut at, mut read) = (0, 0u64);
    let mut piece = vec![0u8; narrow::<usize>(PIECE.get())];
    while at < size {
        at = match seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            // There is nothing but a hole from here on.
            Err(rustix::io::Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        let end = seek(file, SeekFrom::Hole(at))?.min(size);
        read = read.saturating_add(end.saturating_sub(at));
        if read > most.get() {
            return Ok(false);
        }
        while at < end {
            let want = narrow::<usize>(PIECE.get().min(end - at));
            let got = file.read_at(&mut piece[..want], at)?;
            if got == 0 || piece[..got].iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += got as u64;
        }
    }
    if read > 0 {
        // A hint: what was looked at should not be read from memory afterwards.
        let _ = pages::forget(file);
    }
    Ok(true)
}

fn fingerprint(stat: &Metadata) -> String {
    format!("{} {} {}", stat.ino(), stat.size(), changed_at(stat))
}

fn changed_at(stat: &Metadata) -> String {
    format!("{}.{:09}", stat.mtime(), stat.mtime_nsec())
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
        // Of content that is not looked at the time alone tells.
        let mut blind = Looks(Bytes::ZERO);
        leave(&file, Mark::Made, &mut blind).unwrap();
        if fgetxattr(&file, ATTRIBUTE, &mut [0u8; 128][..]).is_err() {
            // The file system of the build keeps no attributes: then nothing is ever taken for Fathom's.
            assert!(!is_as_left(&file));
            return;
        }
        assert_eq!(mark_of(&File::open(&path).unwrap()), Some(Mark::Made));
        leave(&file, Mark::Written, &mut blind).unwrap();
        assert_eq!(mark_of(&File::open(&path).unwrap()), Some(Mark::Written));
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
    fn a_later_time_of_change_alone_makes_no_file_the_users_where_its_content_is_known() {
        let folder = folder();
        let path = folder.path().join("made");
        let mut file = create(&path).unwrap();
        assert!(fill(&mut file, Bytes::new(3 << 20 | 7), true, &mut |_| Step::Continue).unwrap());
        let mut looks = Looks(Bytes::new(4 << 20));
        leave(&file, Mark::Made, &mut looks).unwrap();
        if sum_past_cache(&file).is_none() || !is_as_left(&file) {
            // The file system of the build has no direct reads, or keeps no attributes.
            return;
        }
        let touch = |file: &File| {
            let times = std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
            file.set_times(times).unwrap();
        };
        touch(&file);
        assert_eq!(mark_of(&file), Some(Mark::Made));
        let mut kept = [0];
        file.read_exact_at(&mut kept, 2 << 20).unwrap();
        file.write_all_at(&[!kept[0]], 2 << 20).unwrap();
        assert_eq!(mark_of(&file), None, "one byte is another");
        file.write_all_at(&kept, 2 << 20).unwrap();
        assert_eq!(mark_of(&file), Some(Mark::Made));
        // There is room for no second look.
        leave(&file, Mark::Written, &mut looks).unwrap();
        assert_eq!(mark_of(&file), Some(Mark::Written));
        touch(&file);
        assert_eq!(mark_of(&file), None);
    }

    #[test]
    fn a_file_of_somebody_elses_stays_whatever_is_said_of_keeping_it() {
        let folder = folder();
        let path = folder.path().join("theirs");
        let file = create(&path).unwrap();
        file.set_len(4096).unwrap();
        let mut made = Made::left(&path, &file, Mark::Written, false, &Journal::default()).unwrap();
        made.give_up();
        made.end(&mut Looks::default()).unwrap();
        assert!(path.exists());
        let mut made = Made::left(&path, &file, Mark::Made, false, &Journal::default()).unwrap();
        made.end(&mut Looks::default()).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn holes_and_zeros_are_nothing_and_one_byte_anywhere_is_something() {
        let folder = folder();
        let file = create(&folder.path().join("zeros")).unwrap();
        assert!(!holds_nothing(&file), "an empty one may stand for something by being there");
        let size = 5 << 20;
        file.set_len(size).unwrap();
        assert!(holds_nothing(&file), "a hole");
        assert!(reads_as_zeros(&file, Bytes::ZERO).unwrap(), "of which nothing is read");
        file.write_all_at(&vec![0; 1 << 20], 2 << 20).unwrap();
        assert!(holds_nothing(&file), "zeros");
        assert!(!reads_as_zeros(&file, Bytes::KIB).unwrap(), "there is more than may be read");
        for at in [0, 1, (2 << 20) - 1, (3 << 20) + 7, size - 1] {
            file.write_all_at(b"x", at).unwrap();
            assert!(!holds_nothing(&file), "{at}");
            file.write_all_at(b"\0", at).unwrap();
            assert!(holds_nothing(&file), "{at}");
        }
        assert!(!holds_nothing(&File::open("/").unwrap()));
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
    fn room_that_is_set_aside_is_not_written() {
        let folder = folder();
        let file = create(&folder.path().join("room")).unwrap();
        allocate(&file, Bytes::MIB, true).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
        allocate(&file, Bytes::MIB, false).unwrap();
        let stat = file.metadata().unwrap();
        // A file system that sets nothing aside leaves it empty.
        if stat.len() > 0 {
            assert_eq!(stat.len(), 1 << 20);
            assert!(stat.blocks() >= 2048 && holds_nothing(&file));
        }
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
