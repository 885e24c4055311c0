//! Whether a file is really on its storage, or partly a promise.
//!
//! A hole and an unwritten extent read as zeros without asking the device: a benchmark over them measures
//! nothing, at a fine rate.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::{SeekFrom, seek};
use units::Bytes;
use units::convert::narrow;

/// What the file system says about a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extents {
    /// Every byte has its place on the storage and has been written.
    Written,
    /// There is no hole; whether every extent has been written, the file system does not tell.
    NoHoles,
    /// The first byte that is in a hole or in an unwritten extent.
    Gap {
        /// Where.
        at: Bytes,
        /// Which of the two.
        what: &'static str,
    },
    /// The file system tells nothing.
    Unknown,
}

impl Extents {
    /// Whether reads of the range may be answered without the storage.
    pub fn has_gap(&self) -> bool {
        matches!(self, Extents::Gap { .. })
    }

    /// One sentence for the record.
    pub fn in_words(&self) -> String {
        match self {
            Extents::Written => "every extent is written".into(),
            Extents::NoHoles => {
                "no holes; the file system does not report whether all extents are written".into()
            }
            Extents::Gap { at, what } => {
                format!("{what} at byte {}: reads there do not reach the storage", at.get())
            }
            Extents::Unknown => "the file system does not report whether there are holes".into(),
        }
    }
}

/// What is known of bytes 0 to `length`. Waits for data that is still on its way to its place.
pub fn extents(file: &File, length: Bytes) -> io::Result<Extents> {
    match fiemap(file, length) {
        Ok(found) => Ok(found),
        Err(error) if is_unsupported(&error) => Ok(first_hole(file, length)),
        Err(error) => Err(error),
    }
}

/// How much of a file its file system holds no data of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// So many bytes are in holes and in unwritten extents.
    Bytes(Bytes),
    /// The file system does not tell.
    Unknown,
}

/// How many of bytes 0 to `length` the file system holds no data of. Waits for data that is still on its way.
pub fn gaps(file: &File, length: Bytes) -> io::Result<Gaps> {
    let (mut written, mut at) = (0, 0);
    while at < length.get() {
        let from = at;
        let (extents, mapped) = match map(file, at, length) {
            Ok(found) => found,
            Err(error) if is_unsupported(&error) => return Ok(Gaps::Unknown),
            Err(error) => return Err(error),
        };
        for extent in &extents[..mapped] {
            let (begin, end) = (extent.logical.max(at), extent.end().min(length.get()));
            if extent.flags & FIEMAP_EXTENT_UNWRITTEN == 0 {
                written += end.saturating_sub(begin);
                assert!(written <= length.get(), "no byte may be counted twice");
            }
            at = at.max(end);
        }
        // A file system that tells of nothing more has told all.
        if at == from || extents[mapped - 1].flags & FIEMAP_EXTENT_LAST != 0 {
            break;
        }
    }
    Ok(Gaps::Bytes(Bytes::new(length.get() - written)))
}

/// A stretch of a file on its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it begins in the file.
    pub at: Bytes,
    /// Where it lies in its file system, and how long it is; `None` where it has no place of its own yet.
    pub lies: Option<(Bytes, Bytes)>,
}

/// Where all of a file lies, in its order; holes are left out. Waits for data that is still on its way to its place. An error
/// where the file system does not tell.
pub fn places(file: &File) -> io::Result<Vec<FileExtent>> {
    const WITHOUT_A_PLACE: u32 = 0x2 | 0x4 | 0x100;
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        let (extents, mapped) = map(file, at, Bytes::new(u64::MAX - at))?;
        for extent in &extents[..mapped] {
            let lies = (Bytes::new(extent.physical), Bytes::new(extent.length));
            let has_place = extent.flags & WITHOUT_A_PLACE == 0;
            found.push(FileExtent { at: Bytes::new(extent.logical), lies: has_place.then_some(lies) });
            at = at.max(extent.end());
        }
        if mapped == 0 || extents[mapped - 1].flags & FIEMAP_EXTENT_LAST != 0 {
            return Ok(found);
        }
    }
}

/// Whether the file system does not know the question.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EINVAL))
}

/// Source of numbers and layout: linux, include/uapi/linux/fiemap.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 1;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
const BATCH: usize = 256;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

impl Extent {
    /// Where it ends in its file.
    fn end(&self) -> u64 {
        self.logical.saturating_add(self.length)
    }
}

const _: () = assert!(size_of::<Extent>() == 56, "the kernel's own extents are as large");
const _: () = assert!(size_of::<Fiemap>() == 32 + BATCH * 56, "they begin behind the kernel's own head");

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

fn fiemap(file: &File, length: Bytes) -> io::Result<Extents> {
    let mut covered = 0;
    while covered < length.get() {
        let (extents, mapped) = map(file, covered, length)?;
        if mapped == 0 {
            return Ok(gap(covered, "hole"));
        }
        for extent in &extents[..mapped] {
            if extent.logical > covered {
                return Ok(gap(covered, "hole"));
            }
            if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
                return Ok(gap(covered, "unwritten extent"));
            }
            covered = covered.max(extent.end());
            if covered >= length.get() {
                return Ok(Extents::Written);
            }
            if extent.flags & FIEMAP_EXTENT_LAST != 0 {
                return Ok(gap(covered, "hole"));
            }
        }
    }
    Ok(Extents::Written)
}

fn gap(at: u64, what: &'static str) -> Extents {
    Extents::Gap { at: Bytes::new(at), what }
}

/// The next extents of a file, which may reach beyond `start` and `length`.
fn map(file: &File, start: u64, length: Bytes) -> io::Result<(Box<[Extent; BATCH]>, usize)> {
    let mut request = Box::new(Fiemap {
        start,
        length: length.get(),
        flags: FIEMAP_FLAG_SYNC,
        mapped: 0,
        count: narrow::<u32>(BATCH),
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    // SAFETY: the descriptor is open; `request` has the layout of `struct fiemap` with room for `count` extents
    // behind it, and lives through the call.
    crate::answered(unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) })?;
    let mapped = (request.mapped as usize).min(BATCH);
    Ok((Box::new(request.extents), mapped))
}

/// By `SEEK_HOLE`. A file system without support for it answers with the end of the file, so that "none" proves
/// little, and unwritten extents may pass for data (lseek(2)): hence never more than [`Extents::NoHoles`].
fn first_hole(file: &File, length: Bytes) -> Extents {
    match seek(file, SeekFrom::Hole(0)) {
        Ok(at) if at < length.get() => gap(at, "hole"),
        Ok(_) => Extents::NoHoles,
        Err(_) => Extents::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use rustix::fs::{FallocateFlags, fallocate};

    use super::*;

    const LENGTH: Bytes = Bytes::new(1 << 20);

    fn file() -> File {
        tempfile::tempfile().expect("the test has a temporary folder")
    }

    #[test]
    fn a_written_file_has_no_gap_and_a_hole_is_found() {
        let file = file();
        file.write_all_at(&vec![1; narrow::<usize>(LENGTH.get())], 0).expect("the file is ours");
        file.sync_data().expect("the file is ours");
        assert!(!extents(&file, LENGTH).expect("it can be asked").has_gap());
        let before = extents(&file, LENGTH).expect("it can be asked");
        file.set_len(2 * LENGTH.get()).expect("the file is ours");
        let after = extents(&file, LENGTH * 2).expect("it can be asked");
        if before == Extents::Written {
            assert_eq!(after, gap(LENGTH.get(), "hole"));
        }
    }

    /// A file of more extents than one call tells of, each of one block and written; `None` where the file system
    /// cannot make one.
    fn shredded() -> Option<(File, Bytes)> {
        const BLOCK: u64 = 4096;
        const KEPT: u64 = BATCH as u64 + 44;
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        file.write_all_at(&vec![1; narrow::<usize>(2 * KEPT * BLOCK)], 0).expect("the file is ours");
        file.sync_data().expect("the file is ours");
        for block in (1..=KEPT).rev() {
            // Of each two blocks the second goes, and what follows moves up: neighbours in the file lie apart.
            fallocate(&file, FallocateFlags::COLLAPSE_RANGE, (2 * block - 1) * BLOCK, BLOCK).ok()?;
        }
        let length = Bytes::new(KEPT * BLOCK);
        let (_, mapped) = map(&file, 0, length).ok()?;
        (mapped == BATCH).then_some((file, length))
    }

    #[test]
    fn more_extents_than_one_call_tells_of_are_all_looked_at() {
        let Some((file, length)) = shredded() else { return };
        assert_eq!(extents(&file, length).expect("it can be asked"), Extents::Written);
        assert_eq!(gaps(&file, length).expect("it can be asked"), Gaps::Bytes(Bytes::ZERO));
        let last = length - Bytes::new(4096);
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, punch, last.get(), 4096).expect("it can collapse, so it can punch");
        assert_eq!(extents(&file, length).expect("it can be asked"), gap(last.get(), "hole"));
        assert_eq!(gaps(&file, length).expect("it can be asked"), Gaps::Bytes(Bytes::new(4096)));
        let inner = Bytes::new(280 * 4096);
        fallocate(&file, punch, inner.get(), 8192).expect("it can collapse, so it can punch");
        assert_eq!(extents(&file, length).expect("it can be asked"), gap(inner.get(), "hole"));
        assert_eq!(gaps(&file, length).expect("it can be asked"), Gaps::Bytes(Bytes::new(3 * 4096)));
    }

    #[test]
    fn what_is_reserved_and_not_written_counts_as_a_gap_and_what_is_written_within_it_does_not() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        if fallocate(&file, FallocateFlags::empty(), 0, LENGTH.get()).is_err() {
            return;
        }
        if gaps(&file, LENGTH).expect("it can be asked") != Gaps::Bytes(LENGTH) {
            return;
        }
        file.write_all_at(&[1; 8192], 65_536).expect("the file is ours");
        let left = LENGTH - Bytes::new(8192);
        assert_eq!(gaps(&file, LENGTH).expect("it can be asked"), Gaps::Bytes(left));
        // Of a part: what lies beyond it is not counted.
        assert_eq!(
            gaps(&file, Bytes::new(69_632)).expect("it can be asked"),
            Gaps::Bytes(Bytes::new(65_536))
        );
        assert_eq!(extents(&file, LENGTH).expect("it can be asked"), gap(0, "unwritten extent"));
        file.write_all_at(&[1; 65_536], 0).expect("the file is ours");
        assert_eq!(extents(&file, LENGTH).expect("it can be asked"), gap(73_728, "unwritten extent"));
        assert_eq!(extents(&file, Bytes::new(73_728)).expect("it can be asked"), Extents::Written);
    }

    #[test]
    fn a_range_without_a_byte_has_no_gap() {
        let file = file();
        assert!(!extents(&file, Bytes::ZERO).expect("it can be asked").has_gap());
        assert_eq!(fiemap(&file, Bytes::ZERO).expect("an empty range needs no call"), Extents::Written);
        assert_eq!(gaps(&file, Bytes::ZERO).expect("it can be asked"), Gaps::Bytes(Bytes::ZERO));
    }

    #[test]
    fn where_extents_are_not_told_a_hole_is_looked_for() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        file.write_all_at(&vec![1; narrow::<usize>(LENGTH.get())], 0).expect("the file is ours");
        assert_eq!(first_hole(&file, LENGTH), Extents::NoHoles);
        file.set_len(2 * LENGTH.get()).expect("the file is ours");
        assert_eq!(first_hole(&file, LENGTH), Extents::NoHoles, "the hole lies beyond");
        assert_eq!(first_hole(&file, LENGTH * 2), gap(LENGTH.get(), "hole"));
        let (pipe, _other) = std::io::pipe().expect("there is a descriptor left");
        assert_eq!(first_hole(&File::from(std::os::fd::OwnedFd::from(pipe)), LENGTH), Extents::Unknown);
    }

    #[test]
    fn only_a_question_that_the_file_system_does_not_know_is_unsupported() {
        for errno in [libc::EOPNOTSUPP, libc::ENOTTY, libc::EINVAL] {
            assert!(is_unsupported(&io::Error::from_raw_os_error(errno)), "{errno}");
        }
        assert!(!is_unsupported(&io::Error::from_raw_os_error(libc::EIO)));
        let (pipe, _other) = std::io::pipe().expect("there is a descriptor left");
        let pipe = File::from(std::os::fd::OwnedFd::from(pipe));
        assert_eq!(extents(&pipe, LENGTH).expect("it is unsupported"), Extents::Unknown);
        assert_eq!(gaps(&pipe, LENGTH).expect("it is unsupported"), Gaps::Unknown);
    }

    #[test]
    fn a_file_that_cannot_be_asked_is_an_error_and_not_one_of_which_nothing_is_told() {
        let named = tempfile::NamedTempFile::new().expect("the test has a temporary folder");
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let by_path = rustix::fs::open(named.path(), flags, rustix::fs::Mode::empty());
        let by_path = File::from(by_path.expect("it is there"));
        let errno = |error: io::Error| error.raw_os_error();
        assert_eq!(extents(&by_path, LENGTH).map_err(errno), Err(Some(libc::EBADF)));
        assert_eq!(gaps(&by_path, LENGTH).map_err(errno), Err(Some(libc::EBADF)));
    }

    #[test]
    fn each_answer_has_its_own_words_and_only_a_gap_is_one() {
        let told = [Extents::Written, Extents::NoHoles, gap(4096, "hole"), Extents::Unknown];
        let words = told.each_ref().map(Extents::in_words);
        assert_eq!(words[0], "every extent is written");
        assert!(words[1].starts_with("no holes"), "{}", words[1]);
        assert!(words[2].starts_with("hole at byte 4096"), "{}", words[2]);
        assert!(words[3].contains("does not report whether there are holes"), "{}", words[3]);
        assert_eq!(told.each_ref().map(Extents::has_gap), [false, false, true, false]);
    }

    #[test]
    fn an_unwritten_extent_is_a_gap_where_the_file_system_tells() {
        let file = file();
        if fallocate(&file, FallocateFlags::empty(), 0, LENGTH.get()).is_err() {
            return;
        }
        match extents(&file, LENGTH).expect("it can be asked") {
            Extents::Gap { at, .. } => assert_eq!(at, Bytes::ZERO),
            told => assert_ne!(told, Extents::Written),
        }
    }
}
