//! What bytes are kept on: a file, memory, or what a test has in their place.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
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

    /// The first byte from `at` on that may be other than a hole; `None` where nothing but holes follow.
    fn next_data(&self, at: u64) -> io::Result<Option<u64>>;
}

/// A file, as sparse as what was written to it.
#[derive(Debug)]
pub struct FileMedium(File);

impl FileMedium {
    /// The file at `path`, made where it is not there, for this user alone: it holds what hosts write. It is locked for as long as it is open.
    pub fn open(path: &Path) -> io::Result<FileMedium> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(FileMedium(file)),
            Err(std::fs::TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("{} is in use by another server", path.display()),
            )),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Medium for FileMedium {
    fn read(&self, mut at: u64, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            match self.0.read_at(into, at) {
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
        self.0.write_all_at(from, at)
    }

    fn discard(&self, at: u64, len: u64) -> io::Result<()> {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.0, punch, at, len) {
            Err(rustix::io::Errno::OPNOTSUPP) => write_zeros(self, at, len),
            done => Ok(done?),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(&self.0, SeekFrom::Data(at)) {
            Ok(at) => Ok(Some(at)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

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
