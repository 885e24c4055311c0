//! Words of a ledger in a file, so that they outlive the process that writes.
//!
//! The file is mapped and shared, and a word is stored before its write is handed over and again after it has ended: what
//! the kernel keeps of a process that was killed says which writes had ended, and which were in flight. A page goes before
//! the words; it says which run they are of.
//!
//! **Invariant:** a file is used by one run at a time, and only by one whose stamps are those of the run that made it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use rustix::fs::FallocateFlags;
use rustix::mm::{MapFlags, ProtFlags};
use units::convert::narrow;

const MAGIC: &[u8; 8] = b"fathomV1";
/// Bytes before the words.
const HEADER: usize = 4096;
const WORD: usize = size_of::<AtomicU32>();

const _: () = assert!(HEADER.is_multiple_of(WORD), "words begin where words can lie");

/// What stamps and words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    /// In every stamp.
    pub key: u64,
    /// Bytes of a block.
    pub block: u64,
    /// How many blocks there are.
    pub blocks: u64,
}

impl Meaning {
    fn encode(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let fields = [u64::from_le_bytes(*MAGIC), self.key, self.block, self.blocks];
        bytes.as_chunks_mut().0.iter_mut().zip(fields).for_each(|(into, field)| *into = field.to_le_bytes());
        bytes
    }
}

/// The words.
#[derive(Debug)]
pub(super) struct KeptWords {
    base: NonNull<u8>,
    blocks: usize,
    /// Locked for as long as it is open.
    _file: File,
}

// SAFETY: the mapping is reached through atomic words alone, and lives as long as this does.
unsafe impl Send for KeptWords {}
// SAFETY: as above.
unsafe impl Sync for KeptWords {}

impl KeptWords {
    /// Those in the file at `path`, which is made where it is not there.
    ///
    /// Its room is taken at once: a file system that is full refuses here and not under the load. Errors: another run has
    /// it; it is of a run with another seed, size of blocks or target; whatever the system says.
    pub fn open(path: &Path, meaning: Meaning) -> io::Result<KeptWords> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(refusal(path, "another run has it open")),
            Err(TryLockError::Error(why)) => return Err(why),
        }
        let blocks = narrow::<usize>(meaning.blocks);
        let len = HEADER + blocks * WORD;
        if file.metadata()?.len() == 0 {
            match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, len as u64) {
                Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(len as u64)?,
                done => done?,
            }
            file.write_all(&meaning.encode())?;
        }
        let mut header = [0; 32];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut header, 0)?;
        if header != meaning.encode() || file.metadata()?.len() != len as u64 {
            let why = "it is of a run with another seed, other sizes or another target; run the same plan on the same target, \
                       or remove the file";
            return Err(refusal(path, why));
        }
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, protection, flags, &file, 0) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| refusal(path, "it was mapped nowhere"))?;
        assert!(base.as_ptr().addr().is_multiple_of(HEADER), "a mapping begins at a page");
        Ok(KeptWords { base, blocks, _file: file })
    }

    /// All of them.
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: behind the header the mapping has that many words, all bit patterns of which are some; it is aligned to
        // a page, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(HEADER).cast::<AtomicU32>(), self.blocks) }
    }
}

impl Drop for KeptWords {
    fn drop(&mut self) {
        // SAFETY: made by `open` with this length and not used after.
        let _unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), HEADER + self.blocks * WORD) };
    }
}

fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", path.display()))
}
