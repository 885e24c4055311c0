//! Logs as fio stores them compressed: samples of fixed size, chunk behind chunk, each a zlib stream of its own.
//!
//! The layout of a sample is that of `struct io_sample` up to fio 3.37, in the byte order of the machine: time (8 bytes),
//! value (8), direction and flags (4), priority (2, and 2 unused), block size (8), and an offset (8) where a flag says so.
//! Later versions of fio have another layout, and nothing in the file says which it is.
//!
//! Source: the files that fio 3.33 writes with `log_store_compressed=1` and reads with `--inflate-log`.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// The sample has an offset.
const HAS_OFFSET: u32 = 1 << 31;
/// The priority is a class and a level, printed in hexadecimal.
const HAS_PRIORITY: u32 = 1 << 30;
/// So many bytes of samples make a chunk, but for the last.
const CHUNK: usize = 64 << 10;
const SAMPLE: usize = 32;

/// Lines of a log on their way into chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    /// Less than a chunk.
    samples: Vec<u8>,
}

impl Store {
    /// Takes whole lines of a log without histograms; the chunks that they have filled.
    pub(super) fn add(&mut self, lines: &str) -> Vec<u8> {
        for line in lines.lines() {
            self.samples.extend(sample(line));
        }
        if self.samples.len() < CHUNK { Vec::new() } else { self.rest() }
    }

    /// A chunk of what is left; nothing where nothing is.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let samples = std::mem::take(&mut self.samples);
        if samples.is_empty() {
            return Vec::new();
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let written = encoder.write_all(&samples).and_then(|()| encoder.finish());
        written.expect("memory takes what is written to it")
    }
}

/// The bytes of a line: time, value, direction, size, in between an offset, and a priority.
fn sample(line: &str) -> Vec<u8> {
    let fields: Vec<&str> = line.split(", ").collect();
    debug_assert!((5..=6).contains(&fields.len()), "a line of a log with one value has five or six fields");
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    let offset = (fields.len() == 6).then(|| number(4));
    let is_class = fields.last().is_some_and(|priority| priority.starts_with("0x"));
    let flags = if offset.is_some() { HAS_OFFSET } else { 0 } | if is_class { HAS_PRIORITY } else { 0 };
    let direction = fields.get(2).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
    debug_assert_eq!(direction & (HAS_OFFSET | HAS_PRIORITY), 0, "flags lie beside the direction");
    let mut bytes = Vec::with_capacity(SAMPLE + 8);
    bytes.extend(number(0).to_ne_bytes());
    bytes.extend(number(1).to_ne_bytes());
    bytes.extend((direction | flags).to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(number(3).to_ne_bytes());
    bytes.extend(offset.into_iter().flat_map(u64::to_ne_bytes));
    debug_assert_eq!(bytes.len(), SAMPLE + if offset.is_some() { 8 } else { 0 }, "samples have one size");
    bytes
}

/// Writes the lines of a log that was stored compressed to `out`, as `--inflate-log` does.
///
/// An error where the bytes are no such log, or where `out` takes no more.
pub fn inflate_log(mut stored: &[u8], out: &mut impl Write) -> io::Result<()> {
    while !stored.is_empty() {
        let mut chunk = ZlibDecoder::new(stored);
        while let Some(line) = next_line(&mut chunk)? {
            out.write_all(line.as_bytes())?;
        }
        let rest = chunk.into_inner();
        if rest.len() == stored.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it holds no zlib stream"));
        }
        stored = rest;
    }
    Ok(())
}

/// The next sample of a chunk as a line; `None` at its end.
fn next_line(chunk: &mut impl Read) -> io::Result<Option<String>> {
    let mut sample = [0; SAMPLE];
    // The end of a chunk is between two samples.
    if chunk.read(&mut sample[..1])? == 0 {
        return Ok(None);
    }
    chunk.read_exact(&mut sample[1..])?;
    let word = |at: usize| -> [u8; 8] { std::array::from_fn(|index| sample[at + index]) };
    let [time, value, size] = [0, 8, 24].map(|at| u64::from_ne_bytes(word(at)));
    let flags = u32::from_ne_bytes([sample[16], sample[17], sample[18], sample[19]]);
    let priority = u16::from_ne_bytes([sample[20], sample[21]]);
    let direction = flags & !(HAS_OFFSET | HAS_PRIORITY);
    let mut line = format!("{time}, {value}, {direction}, {size}");
    if flags & HAS_OFFSET != 0 {
        let mut offset = [0; 8];
        chunk.read_exact(&mut offset)?;
        let _infallible = write!(line, ", {}", u64::from_ne_bytes(offset));
    }
    let _infallible = match flags & HAS_PRIORITY != 0 {
        true => writeln!(line, ", 0x{priority:04x}"),
        // The highest level of real time is all that a priority without a class tells.
        false => writeln!(line, ", {}", u8::from(priority >> 13 == 1)),
    };
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflated(stored: &[u8]) -> io::Result<String> {
        let mut text = Vec::new();
        inflate_log(stored, &mut text).map(|()| String::from_utf8(text).expect("lines are text"))
    }

    #[test]
    fn lines_come_back_from_many_chunks() {
        let mut store = Store::default();
        let lines: Vec<String> =
            (0..10_000u64).map(|n| format!("{n}, {}, {}, 4096, {}, 0\n", n * 7, n % 3, n << 12)).collect();
        let mut stored = Vec::new();
        for some in lines.chunks(7) {
            stored.extend(store.add(&some.concat()));
        }
        stored.extend(store.rest());
        assert!(stored.len() < 10_000 * 40 / 2, "{} bytes", stored.len());
        assert_eq!(inflated(&stored).unwrap(), lines.concat());
        assert_eq!(store.rest(), b"");
    }

    #[test]
    fn lines_without_an_offset_and_with_a_priority_are_told_apart() {
        let mut store = Store::default();
        let mut stored = store.add("1, 2, 0, 512, 0\n3, 4, 1, 512, 9, 0x0\n");
        stored.extend(store.rest());
        assert_eq!(inflated(&stored).unwrap(), "1, 2, 0, 512, 0\n3, 4, 1, 512, 9, 0x0000\n");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_lines_or_no_such_log(bytes: Vec<u8>, cut in 0usize..200, byte: u8) {
            let _told = inflated(&bytes);
            let mut store = Store::default();
            store.add(&"1, 2, 0, 512, 7, 0\n".repeat(50));
            let mut stored = store.rest();
            if let Some(at) = stored.get_mut(cut) {
                *at = byte;
            }
            let _told = inflated(&stored);
        }
    }

    #[test]
    fn what_is_no_such_log_is_told() {
        let mut store = Store::default();
        store.add("1, 2, 0, 512, 0\n");
        let stored = store.rest();
        assert_eq!(inflated(b"").unwrap(), "");
        for broken in
            [b"1, 2, 0, 512, 0\n".as_slice(), &stored[..stored.len() - 8], &[&stored[..], b"x"].concat()]
        {
            assert!(inflated(broken).is_err(), "{broken:?}");
        }
    }
}
