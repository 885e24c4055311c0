//! Bytes in and out, with few calls of the system.

use std::io::{self, IoSlice, Read, Write};

use crate::disk::Lent;

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

/// What goes out, gathered. Its memory is kept; what is lent to it goes out from where it lies.
pub struct Outgoing<W> {
    to: W,
    buffer: Vec<u8>,
    used: usize,
    /// With the place in the buffer that each goes out before, in order.
    lent: Vec<(usize, Lent)>,
    lent_bytes: usize,
}

/// So much is gathered before it is sent.
const GATHERED: usize = 256 << 10;

impl<W: Write> Outgoing<W> {
    pub fn new(to: W) -> Outgoing<W> {
        Outgoing { to, buffer: vec![0; 16 << 10], used: 0, lent: Vec::new(), lent_bytes: 0 }
    }

    /// Adds bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Adds bytes that stay where they are.
    pub fn lend(&mut self, bytes: Vec<Lent>) {
        self.lent_bytes += bytes.iter().map(|part| part.len()).sum::<usize>();
        self.lent.extend(bytes.into_iter().map(|part| (self.used, part)));
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

    /// Forgets what was added since `mark`, which must not be lent bytes.
    pub fn back_to(&mut self, mark: usize) {
        debug_assert!(mark <= self.used, "a mark lies in what is gathered");
        debug_assert!(self.lent.last().is_none_or(|(at, _)| *at <= mark), "what is lent stays");
        self.used = mark;
    }

    /// Whether enough is gathered to be sent.
    pub fn is_full(&self) -> bool {
        self.used + self.lent_bytes >= GATHERED
    }

    /// Sends what is gathered.
    pub fn send(&mut self) -> io::Result<()> {
        let used = std::mem::take(&mut self.used);
        if self.lent.is_empty() {
            self.to.write_all(&self.buffer[..used])?;
        } else {
            self.lent_bytes = 0;
            let lent = std::mem::take(&mut self.lent);
            write_all_vectored(&mut self.to, &mut slices(&self.buffer[..used], &lent))?;
        }
        // A request of many mebibytes is no reason to keep as many.
        if self.buffer.len() > 8 * GATHERED {
            self.buffer = vec![0; GATHERED];
        }
        Ok(())
    }

    /// Gives what is gathered away instead; nothing of it may be lent.
    pub fn take(&mut self) -> Vec<u8> {
        debug_assert!(self.lent.is_empty(), "what is given away is a copy");
        self.buffer[..std::mem::take(&mut self.used)].to_vec()
    }
}

/// What is gathered and what is lent, in the order in which it goes out.
fn slices<'a>(gathered: &'a [u8], lent: &'a [(usize, Lent)]) -> Vec<IoSlice<'a>> {
    let (mut slices, mut done) = (Vec::with_capacity(2 * lent.len() + 1), 0);
    for (at, part) in lent {
        if done < *at {
            slices.push(IoSlice::new(&gathered[done..*at]));
            done = *at;
        }
        slices.push(IoSlice::new(part));
    }
    if done < gathered.len() {
        slices.push(IoSlice::new(&gathered[done..]));
    }
    slices
}

fn write_all_vectored(to: &mut impl Write, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !slices.is_empty() {
        match to.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut slices, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::tag::SECTOR;

    /// Takes a few bytes at each call, as a socket may.
    struct Narrow(Vec<u8>);

    impl Write for Narrow {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            let count = from.len().min(200);
            self.0.extend_from_slice(&from[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_lent_goes_out_between_what_was_put_before_and_after_it() {
        let disk = Disk::in_memory("d".into(), 8);
        disk.write(0, &[1; SECTOR]).unwrap();
        disk.write(1, &[2; SECTOR]).unwrap();
        let mut output = Outgoing::new(Narrow(Vec::new()));
        for (lba, mark) in [(0, b"one"), (1, b"two")] {
            output.put(mark);
            let mut lent = Vec::new();
            assert!(disk.lend(lba, SECTOR, &mut lent).unwrap());
            output.lend(lent);
        }
        output.put(b"end");
        output.send().unwrap();
        let wanted = [&b"one"[..], &[1; SECTOR], b"two", &[2; SECTOR], b"end"].concat();
        assert_eq!(output.to.0, wanted);
        output.put(b"more");
        output.send().unwrap();
        assert_eq!(output.to.0[wanted.len()..], *b"more");
    }
}
