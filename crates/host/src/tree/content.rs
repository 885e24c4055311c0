//! What the files of a tree hold: written in pieces, read, and held against what was written where that is asked for.

use std::os::fd::BorrowedFd;

use rustix::fs::{FlockOperation, OFlags, fcntl_lock};
use rustix::io::{Errno, pread, pwrite, retry_on_intr};
use units::Bytes;
use units::convert::narrow;
use workload::spec::{EngineKind, Verify, Workload};
use workload::tree::TreeRequest;
use workload::{Streams, Verified};

use crate::content::Filler;

/// Content is written and read in pieces of at most this much.
const PIECE: usize = 1 << 20;
/// Where buffers begin, as direct I/O wants it.
const ALIGN: usize = 4096;

/// The content of one worker's files, whose own share they are in or not.
pub(super) struct Contents {
    filler: Filler,
    buffer: Vec<u8>,
    /// How many bytes of the buffer lie before its first page begins.
    begin: usize,
    verify: Verify,
    seed: u64,
    /// Whether a file is locked while its content moves.
    locks: bool,
    checked: u64,
    corrupt: u64,
    is_corrupt: bool,
}

impl Contents {
    /// For `worker` of `workload`.
    pub fn new(workload: &Workload, worker: u32) -> Contents {
        let largest = workload.tree.as_ref().map_or(0, |tree| tree.sizes.largest().get());
        let name = format!("tree/{}/{worker}", workload.name);
        let buffer = vec![0; PIECE.min(narrow::<usize>(largest)) + ALIGN];
        let begin = buffer.as_ptr().align_offset(ALIGN);
        assert!(begin < ALIGN, "a page must begin in what the buffer has before its content");
        Contents {
            filler: Filler::new(workload.content.clone(), Streams::new(workload.seed), &name),
            buffer,
            begin,
            verify: workload.verify,
            seed: workload.seed,
            locks: workload.engine.kind == EngineKind::Locked,
            checked: 0,
            corrupt: 0,
            is_corrupt: false,
        }
    }

    /// How a file is opened that content is written to.
    pub fn writing(&self) -> OFlags {
        if self.verify == Verify::All { OFlags::RDWR } else { OFlags::WRONLY }
    }

    /// Writes all that `request` asks for, and reads it back where that is to be.
    pub fn write(&mut self, file: BorrowedFd<'_>, request: &TreeRequest) -> Result<u32, Errno> {
        let lock = self.lock(file, FlockOperation::LockExclusive)?;
        let mut written = 0;
        while written < request.size {
            let len = PIECE.min((request.size - written) as usize);
            let piece = &mut self.buffer[self.begin..][..len];
            match self.verify {
                Verify::None | Verify::Content => self.filler.fill(piece),
                Verify::Written | Verify::All => stamp(self.seed, request, written, piece),
            }
            let moved = retry_on_intr(|| pwrite(file, &*piece, u64::from(written)))?;
            if moved == 0 {
                break;
            }
            written += narrow::<u32>(moved);
        }
        self.unlock(file, lock)?;
        if self.verify == Verify::All {
            self.read(file, request)?;
        }
        Ok(written)
    }

    /// Reads all that `request` asks for.
    pub fn read(&mut self, file: BorrowedFd<'_>, request: &TreeRequest) -> Result<u32, Errno> {
        let lock = self.lock(file, FlockOperation::LockShared)?;
        let mut read = 0;
        while read < request.size {
            let len = PIECE.min((request.size - read) as usize);
            let piece = &mut self.buffer[self.begin..][..len];
            let moved = retry_on_intr(|| pread(file, &mut *piece, u64::from(read)))?;
            if moved == 0 {
                break;
            }
            if matches!(self.verify, Verify::Written | Verify::All) {
                self.is_corrupt |= !is_stamped(self.seed, request, read, &piece[..moved]);
                self.checked += moved as u64;
            }
            read += narrow::<u32>(moved);
        }
        self.unlock(file, lock)?;
        // What is missing is not what was written either.
        self.is_corrupt |= self.verify != Verify::None && read < request.size;
        Ok(read)
    }

    /// Whether what was moved since this was called last was not what had been written.
    pub fn take_corrupt(&mut self) -> bool {
        self.corrupt += u64::from(self.is_corrupt);
        std::mem::take(&mut self.is_corrupt)
    }

    /// What was held against what had been written; `None` where nothing was to be.
    pub fn verified(&self) -> Option<Verified> {
        (self.verify != Verify::None).then(|| Verified {
            checked: Bytes::new(self.checked),
            corrupt: self.corrupt,
            ..Verified::default()
        })
    }

    fn lock(&self, file: BorrowedFd<'_>, how: FlockOperation) -> Result<bool, Errno> {
        if self.locks {
            retry_on_intr(|| fcntl_lock(file, how))?;
        }
        Ok(self.locks)
    }

    fn unlock(&self, file: BorrowedFd<'_>, is_locked: bool) -> Result<(), Errno> {
        if is_locked { fcntl_lock(file, FlockOperation::Unlock) } else { Ok(()) }
    }
}

/// The word at `at` of what a file holds: it follows from the seed and from which file it is.
fn word(seed: u64, request: &TreeRequest, at: u64) -> u64 {
    let file = TreeRequest::number(request.owner, request.file);
    let mut word = seed ^ file.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ at.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Writes what a file holds from `from` on into `piece`.
fn stamp(seed: u64, request: &TreeRequest, from: u32, piece: &mut [u8]) {
    let ahead = (8 - from as usize % 8) % 8;
    let (first, rest) = piece.split_at_mut(ahead.min(piece.len()));
    let begin = word(seed, request, u64::from(from) / 8).to_le_bytes();
    first.copy_from_slice(&begin[8 - ahead..][..first.len()]);
    for (chunk, at) in rest.chunks_mut(8).zip(u64::from(from).div_ceil(8)..) {
        chunk.copy_from_slice(&word(seed, request, at).to_le_bytes()[..chunk.len()]);
    }
}

/// Whether `piece` is what a file holds from `from` on.
fn is_stamped(seed: u64, request: &TreeRequest, from: u32, piece: &[u8]) -> bool {
    // A read may end anywhere; the rest of a word is looked at with the next.
    let ahead = (8 - from as usize % 8) % 8;
    let (first, rest) = piece.split_at(ahead.min(piece.len()));
    let begin = word(seed, request, u64::from(from) / 8).to_le_bytes();
    let words = u64::from(from).div_ceil(8)..;
    first == &begin[8 - ahead..][..first.len()]
        && rest
            .chunks(8)
            .zip(words)
            .all(|(chunk, at)| word(seed, request, at).to_le_bytes().starts_with(chunk))
}

#[cfg(test)]
mod tests {
    use workload::Token;
    use workload::tree::FileOp;

    use super::*;

    #[test]
    fn what_a_file_holds_is_known_from_any_byte_on_and_is_no_others() {
        let request = |owner, file| TreeRequest {
            token: Token(0),
            op: FileOp::Read,
            owner,
            file,
            node: 0,
            size: 100,
            durable: false,
        };
        let mut held = vec![0; 100];
        stamp(7, &request(1, 2), 0, &mut held);
        for from in 0..100 {
            assert!(is_stamped(7, &request(1, 2), from, &held[from as usize..]), "{from}");
            assert!(is_stamped(7, &request(1, 2), from, &held[from as usize..][..1]), "{from}");
        }
        assert!(!is_stamped(7, &request(2, 2), 0, &held) && !is_stamped(8, &request(1, 2), 0, &held));
        assert!(!is_stamped(7, &request(1, 3), 0, &held));
        held[99] ^= 1;
        assert!(!is_stamped(7, &request(1, 2), 0, &held) && is_stamped(7, &request(1, 2), 0, &held[..99]));
    }
}
