//! What the kernel's block layer was asked, by its own tracing: one instance for each test, of one device.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Loop, skipped};

/// A request as it entered the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Otherwise it reads.
    pub writes: bool,
    /// Bytes from the start of the device.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

impl Asked {
    /// Where the next one begins, if the two make a stream.
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }
}

/// A trace of one device; switched off and removed when dropped.
pub struct Trace {
    instance: PathBuf,
}

impl Trace {
    /// `None`, and it is said why, where the kernel does not let us.
    pub fn of(device: &Loop) -> Option<Trace> {
        let root = Path::new("/sys/kernel/tracing/instances");
        let instance = root.join(format!("fathom-test-{}-{}", std::process::id(), device.name()));
        if fs::create_dir(&instance).is_err() {
            skipped("needs root and tracefs at /sys/kernel/tracing, to trace the block layer");
            return None;
        }
        let trace = Trace { instance };
        let number: u32 = device.name().trim_start_matches("loop").parse().unwrap();
        // Loop devices have the major number 7; the kernel keeps 20 bits for the minor one.
        let filter = format!("dev == {}", 7 << 20 | number);
        let set = |file: &str, text: &str| fs::write(trace.instance.join(file), text);
        let event = "events/block/block_bio_queue";
        let begun = set("buffer_size_kb", "16384")
            .and_then(|()| set(&format!("{event}/filter"), &filter))
            .and_then(|()| set(&format!("{event}/enable"), "1"));
        if begun.is_err() {
            skipped("needs the kernel's event block_bio_queue");
            return None;
        }
        Some(trace)
    }

    /// Every read and write so far, in the order of their times.
    pub fn read(&self) -> Vec<Asked> {
        let text = fs::read_to_string(self.instance.join("trace")).unwrap();
        let head = text.lines().find(|line| line.contains("entries-in-buffer/entries-written:")).unwrap();
        let counts = head.split_whitespace().nth(2).unwrap().split_once('/').unwrap();
        assert_eq!(counts.0, counts.1, "the buffer of the trace was too small");
        let events = text.lines().filter_map(|line| line.split_once("block_bio_queue: "));
        without_retries(events.filter_map(|(_, event)| parse(event)))
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _gone = fs::write(self.instance.join("events/block/block_bio_queue/enable"), "0");
        let _removed = fs::remove_dir(&self.instance);
    }
}

/// What a program asked for. A request that the kernel would have to wait for, such as one that it has to split, is
/// sent back to io_uring, which has a thread of its own ask again: that is one request, seen twice.
fn without_retries(events: impl Iterator<Item = (Asked, bool)>) -> Vec<Asked> {
    let (mut asked, mut open) = (Vec::new(), Vec::new());
    for (one, by_worker) in events {
        let first = open.iter().position(|tried| *tried == one).filter(|_| by_worker);
        match first {
            Some(first) => drop(open.swap_remove(first)),
            None => {
                asked.push(one);
                open.push(one);
            }
        }
    }
    asked
}

/// `7,0 RS 1024 + 8 [fathom]`, and whether a thread of io_uring asked: `[iou-wrk-77]`.
/// Source: Linux, include/trace/events/block.h, `block_bio`.
fn parse(text: &str) -> Option<(Asked, bool)> {
    let mut words = text.split_whitespace().skip(1);
    let (kind, sector) = (words.next()?, words.next()?.parse::<u64>().ok()?);
    let sectors: u64 = words.nth(1)?.parse().ok()?;
    // Flushes ask for nothing; discards are neither read nor written.
    let moves = sectors > 0 && (kind.starts_with('R') || kind.starts_with('W') || kind.starts_with("FW"));
    let by_worker = text.contains("[iou-wrk");
    moves.then(|| {
        (Asked { writes: !kind.starts_with('R'), offset: sector * 512, len: sectors * 512 }, by_worker)
    })
}

#[test]
fn events_are_read_as_the_kernel_writes_them() {
    let asked = |writes, offset, len| Asked { writes, offset, len };
    assert_eq!(parse("7,0 RS 1024 + 8 [fathom]"), Some((asked(false, 524_288, 4096), false)));
    assert_eq!(parse("7,0 WS 8 + 1 [iou-wrk-77]"), Some((asked(true, 4096, 512), true)));
    assert_eq!(parse("7,0 FF 0 + 0 [fathom]"), None);
    assert_eq!(parse("7,0 DS 0 + 64 [fathom]"), None);
}

#[test]
fn a_request_that_is_tried_again_is_one() {
    let one = Asked { writes: false, offset: 0, len: 512 };
    let other = Asked { offset: 512, ..one };
    let events = [(one, false), (other, false), (one, true), (one, false), (other, true)];
    assert_eq!(without_retries(events.into_iter()), [one, other, one]);
}
