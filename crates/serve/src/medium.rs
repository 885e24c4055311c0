//! What bytes are kept on: a file, memory, or what a test has in their place.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{FallocateFlags, SeekFrom};
use units::convert::narrow;

/// Bytes by address. What was never written, and what lies beyond the end, reads as zeros.
pub trait Medium: Send + Sync {
    /// Fills `into` with what is kept from byte `at` on.
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Keeps `from` at byte `at`. Until [`Medium::sync`] it may be lost with the machine, in whole or in part.
    fn write(&self, at: u64, from: &[u8]) -> io::Result<()>;

    /// Has `len` bytes from `at` on read as zeros, and gives back their room where that can be done.
    fn discard(&self, at: u64, len: u64) -> io::Result<()>;

    /// Everything written before is kept whatever happens to the machine.
    fn sync(&self) -> io::Result<()>;

    /// Why what was written to it may be lost, where that is so: nothing is written any more. A sync that has failed is one reason, which
    /// the next one would not tell.
    fn fault(&self) -> Option<&'static str> {
        None
    }

    /// The first byte from `at` on that may be other than a hole; `None` where nothing but holes follow.
    fn next_data(&self, at: u64) -> io::Result<Option<u64>>;

    /// Has it be `len` bytes long, as sparse as it was, where it has an end.
    fn extend(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Has one that was cut short be `len` bytes long again, and empty: no instant has it long with what it had before its cut.
    fn renew(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Whether it is `len` bytes long, which it is to be from now on: where it ends earlier, what lies beyond is an error and no zeros.
    fn has_all(&self, _len: u64) -> io::Result<bool> {
        Ok(true)
    }
}

/// A file, as sparse as what was written to it.
#[derive(Debug)]
pub struct FileMedium {
    file: File,
    /// How long it is to be; 0: as long as it is.
    len: AtomicU64,
    /// A sync has failed. The system tells that once, and takes what it could not write for written.
    is_broken: AtomicBool,
}

impl FileMedium {
    /// The file at `path`, made where it is not there, for this user alone: it holds what hosts write. It is locked for as long as it is open.
    pub fn open(path: &Path) -> io::Result<FileMedium> {
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file =
            opened.map_err(|why| io::Error::new(why.kind(), format!("opening {}: {why}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(FileMedium { file, len: AtomicU64::new(0), is_broken: AtomicBool::new(false) }),
            Err(std::fs::TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("{} is in use by another server, or is the file of another bay, too", path.display()),
            )),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn check(&self) -> io::Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(io::Error::other(fault)))
    }
}

impl Medium for FileMedium {
    fn read(&self, mut at: u64, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            match self.file.read_at(into, at) {
                Ok(0) if at < self.len.load(Ordering::Relaxed) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, CUT_SHORT));
                }
                Ok(0) => {
                    into.fill(0);
                    return Ok(());
                }
                Ok(count) => {
                    at += count as u64;
                    into = &mut into[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.check()?;
        self.file.write_all_at(from, at)
    }

    fn discard(&self, at: u64, len: u64) -> io::Result<()> {
        self.check()?;
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, punch, at, len) {
            Err(rustix::io::Errno::OPNOTSUPP) => write_zeros(self, at, len),
            done => Ok(done?),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.check()?;
        self.file.sync_data().inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.is_broken.store(true, Ordering::Release);
            }
        })
    }

    fn fault(&self) -> Option<&'static str> {
        if self.is_broken.load(Ordering::Acquire) {
            return Some("an earlier sync has failed, and what was written before it may be lost");
        }
        let len = self.len.load(Ordering::Relaxed);
        let is_short = || rustix::fs::fstat(&self.file).is_ok_and(|now| now.st_size.unsigned_abs() < len);
        // A write would make it long again, with zeros for what was cut off.
        (len > 0 && is_short()).then_some(CUT_SHORT)
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(&self.file, SeekFrom::Data(at)) {
            Ok(at) => Ok(Some(at)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn extend(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len.max(self.file.metadata()?.len()))?;
        self.len.store(len, Ordering::Relaxed);
        Ok(())
    }

    fn renew(&self, len: u64) -> io::Result<()> {
        if self.file.metadata()?.len() < len {
            self.file.set_len(0)?;
        }
        self.extend(len)
    }

    fn has_all(&self, len: u64) -> io::Result<bool> {
        self.len.store(len, Ordering::Relaxed);
        Ok(self.file.metadata()?.len() >= len)
    }
}

const CUT_SHORT: &str = "the file is cut short";

/// What of another medium lies behind an address.
pub struct Window {
    /// The other.
    pub medium: Arc<dyn Medium>,
    /// The address.
    pub from: u64,
}

impl Medium for Window {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.medium.read(self.from + at, into)
    }

    fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.medium.write(self.from + at, from)
    }

    fn discard(&self, at: u64, len: u64) -> io::Result<()> {
        self.medium.discard(self.from + at, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.medium.sync()
    }

    fn fault(&self) -> Option<&'static str> {
        self.medium.fault()
    }

    fn extend(&self, len: u64) -> io::Result<()> {
        self.medium.extend(self.from + len)
    }

    fn has_all(&self, len: u64) -> io::Result<bool> {
        self.medium.has_all(self.from + len)
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        let found = self.medium.next_data(self.from + at)?;
        debug_assert!(
            found.is_none_or(|found| found >= self.from + at),
            "what is found lies behind where it was looked"
        );
        Ok(found.map(|found| found - self.from))
    }
}

/// For media that cannot give room back.
fn write_zeros(medium: &dyn Medium, mut at: u64, mut len: u64) -> io::Result<()> {
    let zeros = vec![0; narrow::<usize>(len.min(1 << 20))];
    while len > 0 {
        let part = len.min(zeros.len() as u64);
        medium.write(at, &zeros[..narrow::<usize>(part)])?;
        (at, len) = (at + part, len - part);
    }
    Ok(())
}

/// Memory, for what a server that keeps nothing keeps beside its members, and for tests.
#[derive(Debug, Default)]
pub struct MemoryMedium(RwLock<Vec<u8>>);

impl Medium for MemoryMedium {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let from = narrow::<usize>(at).min(held.len());
        let count = into.len().min(held.len() - from);
        into[..count].copy_from_slice(&held[from..from + count]);
        into[count..].fill(0);
        Ok(())
    }

    fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let at = narrow::<usize>(at);
        if held.len() < at + from.len() {
            held.resize(at + from.len(), 0);
        }
        held[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn discard(&self, at: u64, len: u64) -> io::Result<()> {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let end = narrow::<usize>(at.saturating_add(len).min(held.len() as u64));
        let at = narrow::<usize>(at).min(end);
        held[at..end].fill(0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let rest = held.get(narrow::<usize>(at)..).unwrap_or_default();
        Ok(rest.iter().position(|&byte| byte != 0).map(|found| at + found as u64))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::{FileMedium, Medium};

    #[test]
    fn nothing_is_written_to_a_file_of_which_a_sync_has_failed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("pipe");
        // What cannot be synced.
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let medium = FileMedium::open(&path).unwrap();
        assert!(medium.fault().is_none());
        assert!(medium.sync().is_err() && medium.fault().is_some());
        for refused in [medium.write(0, &[0]), medium.discard(0, 1), medium.sync()] {
            assert!(refused.unwrap_err().to_string().contains("an earlier sync has failed"));
        }
    }

    #[test]
    fn nothing_is_written_to_a_file_that_was_cut_short() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("disk");
        let medium = FileMedium::open(&path).unwrap();
        medium.extend(8192).unwrap();
        medium.write(0, &[1; 8192]).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        for refused in [medium.write(8191, &[2]), medium.write(0, &[2]), medium.read(8191, &mut [0])] {
            assert!(refused.unwrap_err().to_string().contains("cut short"));
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 4096);
        medium.renew(8192).unwrap();
        let mut all = [1; 8192];
        medium.read(0, &mut all).unwrap();
        assert!(all.iter().all(|byte| *byte == 0), "nothing of it comes back");
    }
}
