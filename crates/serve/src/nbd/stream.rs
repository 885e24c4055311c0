//! Bytes in and out, with few calls of the system.

use std::io::{self, Read, Write};

/// What comes in. Many small requests come with one call.
pub struct Incoming<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Incoming<R> {
    pub fn new(from: R) -> Incoming<R> {
        Incoming { from, buffer: vec![0; 64 << 10], start: 0, end: 0 }
    }

    /// Whether `count` bytes are there without waiting.
    pub fn has(&self, count: usize) -> bool {
        self.end - self.start >= count
    }

    /// The next `count` bytes, which must be no more than the buffer; `None` at the end of the stream.
    pub fn take(&mut self, count: usize) -> io::Result<Option<&[u8]>> {
        debug_assert!(count <= self.buffer.len(), "only headers and small data are taken from the buffer");
        while !self.has(count) {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) if self.start == self.end => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => self.end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.start += count;
        Ok(Some(&self.buffer[self.start - count..self.start]))
    }

    /// Fills `into`.
    pub fn fill(&mut self, into: &mut [u8]) -> io::Result<()> {
        let there = into.len().min(self.end - self.start);
        into[..there].copy_from_slice(&self.buffer[self.start..self.start + there]);
        self.start += there;
        self.from.read_exact(&mut into[there..])
    }

    /// Lets `count` bytes go by.
    pub fn skip(&mut self, mut count: u64) -> io::Result<()> {
        let mut rest = [0; 16 << 10];
        while count > 0 {
            let part = usize::try_from(count).unwrap_or(usize::MAX).min(rest.len());
            self.fill(&mut rest[..part])?;
            count -= part as u64;
        }
        Ok(())
    }
}

/// What goes out, gathered. Its memory is kept.
pub struct Outgoing<W> {
    to: W,
    buffer: Vec<u8>,
    used: usize,
}

/// So much is gathered before it is sent.
const GATHERED: usize = 256 << 10;

impl<W: Write> Outgoing<W> {
    pub fn new(to: W) -> Outgoing<W> {
        Outgoing { to, buffer: vec![0; 16 << 10], used: 0 }
    }

    /// Adds bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Room for `count` bytes more, to be filled by the caller. What it holds before means nothing.
    #[inline]
    pub fn room(&mut self, count: usize) -> &mut [u8] {
        let end = self.used + count;
        if end > self.buffer.len() {
            self.buffer.resize(end.next_power_of_two(), 0);
        }
        let room = &mut self.buffer[self.used..end];
        self.used = end;
        room
    }

    /// Where the next byte goes.
    pub fn mark(&self) -> usize {
        self.used
    }

    /// Forgets what was added since `mark`.
    pub fn back_to(&mut self, mark: usize) {
        self.used = mark;
    }

    /// Whether enough is gathered to be sent.
    pub fn is_full(&self) -> bool {
        self.used >= GATHERED
    }

    /// Sends what is gathered.
    pub fn send(&mut self) -> io::Result<()> {
        let used = std::mem::take(&mut self.used);
        self.to.write_all(&self.buffer[..used])?;
        // A request of many mebibytes is no reason to keep as many.
        if self.buffer.len() > 8 * GATHERED {
            self.buffer = vec![0; GATHERED];
        }
        Ok(())
    }

    /// Gives what is gathered away instead.
    pub fn take(&mut self) -> Vec<u8> {
        self.buffer[..std::mem::take(&mut self.used)].to_vec()
    }
}
