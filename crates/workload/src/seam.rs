//! What crosses between a job and the world that answers it: batches of plain data.

use std::fmt::Debug;

use spec::Op;
use units::{Bytes, Instant};

use crate::Logged;
use crate::tally::Action;

/// Names one request in flight: the number of its slot, below the job's depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

/// One request, ready to be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Distance from the start of the file. Zero for a flush.
    pub offset: Bytes,
    /// Bytes asked for. Zero for a flush.
    pub len: u32,
    /// The slot, returned with the completion.
    pub token: Token,
    /// Which of the job's files or LUNs.
    pub file: u16,
    /// What to do.
    pub op: Op,
}

/// What a job needs to know of a request, whatever it is asked of.
pub trait IoRequest: Copy + Debug {
    /// Its slot.
    fn token(&self) -> Token;

    /// The same in that slot.
    fn in_slot(self, token: Token) -> Self;

    /// What is done.
    fn action(&self) -> Action;

    /// Bytes that cross when it goes well.
    fn bytes(&self) -> u32;

    /// The number of the file or LUN among those of the job; of a directory its number in the tree.
    fn file(&self) -> u64;

    /// Distance from the start of the file; zero where all of it is meant.
    fn offset(&self) -> Bytes;

    /// Takes it into the digest of all requests before it. Order matters.
    fn fold(&self, digest: u64) -> u64;

    /// Its entry in the journal of that worker once it is issued.
    fn logged(&self, issued: Instant, worker: u32) -> Logged;
}

impl IoRequest for Request {
    #[inline]
    fn token(&self) -> Token {
        self.token
    }

    #[inline]
    fn in_slot(self, token: Token) -> Request {
        Request { token, ..self }
    }

    #[inline]
    fn action(&self) -> Action {
        Action::Block(self.op)
    }

    #[inline]
    fn bytes(&self) -> u32 {
        self.len
    }

    fn file(&self) -> u64 {
        self.file.into()
    }

    fn offset(&self) -> Bytes {
        self.offset
    }

    /// Only one multiplication waits for the request before.
    #[inline]
    fn fold(&self, digest: u64) -> u64 {
        let what = (u64::from(self.len) << 32) | (u64::from(self.file) << 8) | self.op as u64;
        let request = (self.offset.get() ^ what.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (digest.rotate_left(29) ^ request ^ (request >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    fn logged(&self, issued: Instant, worker: u32) -> Logged {
        let Request { offset, len, file, op, .. } = *self;
        Logged { issued, finished: Instant::NEVER, offset, len, file, op, worker }
    }
}

/// The end of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request's slot.
    pub token: Token,
    /// How it ended.
    pub outcome: Outcome,
    /// When the world saw it end; never earlier than it really did.
    pub finished_at: Instant,
}

/// An operating-system error number, positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// Of a read that went well and gave other data than was written. No system has so high a number.
    pub const CORRUPT: Errno = Errno(1 << 30);
}

/// Bytes moved or an error number, in one word as the kernel gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome(i32);

impl Outcome {
    /// `bytes` were moved. At most 2 GiB less one, the kernel's own limit for one request.
    pub const fn moved(bytes: u32) -> Outcome {
        assert!(bytes <= i32::MAX as u32);
        Outcome(bytes.cast_signed())
    }

    /// It failed with `errno`, which must be positive.
    pub const fn failed(errno: Errno) -> Outcome {
        assert!(errno.0 > 0);
        Outcome(-errno.0)
    }

    /// It gave other data than was written there.
    pub const fn corrupt() -> Outcome {
        Outcome::failed(Errno::CORRUPT)
    }

    /// From a system call's result: bytes, or a negative error number.
    pub const fn from_raw(result: i32) -> Outcome {
        Outcome(result)
    }

    /// The bytes moved, or the error.
    pub const fn result(self) -> Result<u32, Errno> {
        if self.0 >= 0 { Ok(self.0.cast_unsigned()) } else { Err(Errno(-self.0)) }
    }
}

/// When a job wants to be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The batch is full and more is due: submit it and ask again at once.
    Again,
    /// After the next completion.
    OnCompletion,
    /// At that instant, or after the next completion if it comes first.
    At(Instant),
    /// Never: all is planned and completed.
    Done,
}
