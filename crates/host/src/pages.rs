//! What the page cache of this machine holds of a file, and what is still to be written of it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use units::Bytes;

/// Source: linux, `include/uapi/linux/mman.h` and `scripts/syscall.tbl`: the same number on every machine that Rust
/// compiles for.
const CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    from: u64,
    /// Zero: to the end.
    length: u64,
}

/// Pages.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

const _: () = assert!(size_of::<Range>() == 16, "the kernel reads as much");
const _: () = assert!(size_of::<CacheStat>() == 40, "the kernel writes as much");

/// Bytes of the file or device at `path` that the page cache holds now. `None` where the kernel does not tell, which it
/// does from 6.5 on, or the file cannot be opened.
pub fn cached(path: &Path) -> Option<Bytes> {
    stat(path).map(|found| pages(found.cached))
}

/// Of these, those that are still to be written to the medium.
#[cfg(test)]
pub(crate) fn unwritten(path: &Path) -> Option<Bytes> {
    stat(path).map(|found| pages(found.dirty + found.writeback))
}

fn pages(count: u64) -> Bytes {
    Bytes::new(count.saturating_mul(rustix::param::page_size() as u64))
}

fn stat(path: &Path) -> Option<CacheStat> {
    let file = File::open(path).ok()?;
    let (range, mut found) = (Range { from: 0, length: 0 }, CacheStat::default());
    // SAFETY: both structures are of the kernel's layout and live through the call, which writes the second alone; a
    // kernel that does not know the number answers ENOSYS.
    let answer = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut found, 0) };
    (answer == 0).then_some(found)
}

/// Has what was written to the file or device at `path` reach its medium, and the page cache forget it.
pub fn evict(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_data()?;
    forget(&file)
}

/// Has the page cache forget what it holds of a file and what is on the medium, as far as the system lets go.
pub(crate) fn forget(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Has what was written to the file or device at `path` reach its medium, as far as a flush commands it; of a directory
/// what was written to its file system.
pub fn flush(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    match path.is_dir() {
        true => Ok(rustix::fs::syncfs(&file)?),
        false => file.sync_data(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_cached_and_what_is_not_there_is_not_known() {
        let file = tempfile::NamedTempFile::new().expect("the test has a temporary folder");
        std::fs::write(file.path(), vec![1; 1 << 20]).expect("the file is ours");
        assert!(cached(file.path()).is_none_or(|bytes| bytes == Bytes::MIB));
        assert_eq!(cached(&file.path().join("nothing")), None);
    }
}
