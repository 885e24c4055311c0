//! DiskSim's traces of one disk: those of its default format, and those that it was validated with.
//!
//! - ASCII: `time in ms, device, first block, blocks, flags` on each line; bit 0 of the flags says read.
//! - validation: `R or W, what the drive's cache did, first block, blocks, service time in us, pause in us`; the pause
//!   passes from the end of a request to the next one, which is issued then.
//!
//! Blocks have 512 bytes. Source: DiskSim 4.0 reference manual (CMU-PDL-08-101), "Input traces", and the notes of its
//! validation set.

use units::{Nanos, SECTOR_BYTES};

use super::csv::scaled;
use super::reader::{Gathered, number, shown};
use crate::Op;

/// No longer pause: a day.
const PAUSE_MOST_NS: u64 = 86_400_000_000_000;

/// Whether a text with this first line is one of the default format.
pub(super) fn is_ascii(text: &str) -> bool {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let [time, numbers @ ..] = &fields[..] else { return false };
    numbers.len() == 4
        && time.contains('.')
        && scaled(time, 1_000_000).is_some()
        && numbers[..3].iter().all(|field| field.parse::<u64>().is_ok())
        && flags(numbers[3]).is_some()
}

/// The flags are decimal, or hexadecimal with `0x`.
fn flags(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(super) fn ascii(text: &str, to: &mut Gathered) -> Result<(), String> {
    let mut fields = text.split_ascii_whitespace();
    let time = fields.next().unwrap_or_default();
    let at_ns =
        scaled(time, 1_000_000).ok_or_else(|| format!("expected a time in ms, got `{}`", shown(time)))?;
    let device: u32 = number(fields.next(), "the number of a device")?;
    let (offset, len) = blocks(fields.next(), fields.next())?;
    let word = fields.next().ok_or("the line ends before the flags")?;
    let flags = flags(word).ok_or_else(|| format!("expected flags, got `{}`", shown(word)))?;
    to.push(at_ns, if flags & 1 == 1 { Op::Read } else { Op::Write }, &device.to_string(), offset, len)
}

/// First block and number of blocks as bytes.
fn blocks(first: Option<&str>, count: Option<&str>) -> Result<(u64, u64), String> {
    let first: u64 = number(first, "a first block")?;
    let count: u64 = number(count, "a number of blocks")?;
    let bytes = |blocks: u64| blocks.checked_mul(SECTOR_BYTES).ok_or("a block beyond any storage");
    Ok((bytes(first)?, bytes(count)?))
}

/// When the next request is due, if nothing but the pauses passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    now_ns: u64,
}

/// Whether a text with this first line is one of those that DiskSim was validated with.
pub(super) fn is_validation(text: &str) -> bool {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    matches!(fields[..], ["R" | "W", _, first, count, service, pause]
        if first.parse::<u64>().is_ok() && count.parse::<u64>().is_ok()
            && scaled(service, 1000).is_some() && scaled(pause, 1000).is_some())
}

impl Clock {
    pub fn line(&mut self, text: &str, to: &mut Gathered) -> Result<(), String> {
        let mut fields = text.split_ascii_whitespace();
        let op = match fields.next() {
            Some("R") => Op::Read,
            Some("W") => Op::Write,
            other => return Err(format!("expected R or W, got `{}`", shown(other.unwrap_or_default()))),
        };
        let _what_the_cache_did = fields.next().ok_or("the line ends before what the cache did")?;
        let (offset, len) = blocks(fields.next(), fields.next())?;
        let mut time = |what: &str| {
            let word = fields.next().ok_or_else(|| format!("the line ends before {what}"))?;
            let ns = scaled(word, 1000).filter(|ns| *ns <= PAUSE_MOST_NS);
            ns.ok_or_else(|| format!("expected {what}, at most a day, got `{}`", shown(word)))
        };
        let (service, pause) = (time("a service time in us")?, time("a pause in us")?);
        to.thinks();
        to.push(self.now_ns, op, "0", offset, len)?;
        to.answered(Nanos::new(service), Some(Nanos::new(pause)));
        self.now_ns =
            self.now_ns.checked_add(pause).ok_or("the pauses sum to more than time has room for")?;
        Ok(())
    }
}
