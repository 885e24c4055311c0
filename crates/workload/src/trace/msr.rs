//! The traces of Microsoft Research Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Times are Windows file times, units of 100 ns since 1601; offsets and sizes are bytes.
//! Source: the notes of the collection at SNIA's IOTTA repository (Narayanan, Donnelly & Rowstron, FAST 2008).

use units::Nanos;

use super::reader::{Gathered, number, shown};
use crate::Op;

const COLUMNS: usize = 7;
const TICK_NS: u64 = 100;

/// Whether it is the names of the columns, which some copies have.
pub(super) fn is_head(text: &str) -> bool {
    text.to_ascii_lowercase().starts_with("timestamp,hostname,disknumber,type,offset,size")
}

/// Whether it looks like a request.
pub(super) fn is_line(text: &str) -> bool {
    let mut fields = text.split(',');
    let has_time = fields.next().is_some_and(|field| field.trim().parse::<u64>().is_ok());
    has_time && fields.count() == COLUMNS - 1
}

pub(super) fn line(text: &str, to: &mut Gathered) -> Result<(), String> {
    let mut fields = text.split(',').map(str::trim);
    let ticks: u64 = number(fields.next(), "a time in units of 100 ns")?;
    let host = fields.next().unwrap_or_default();
    let disk: u32 = number(fields.next(), "the number of a disk")?;
    let kind = fields.next().unwrap_or_default();
    let op = match kind {
        _ if kind.eq_ignore_ascii_case("read") => Op::Read,
        _ if kind.eq_ignore_ascii_case("write") => Op::Write,
        _ => return Err(format!("expected Read or Write, got `{}`", shown(kind))),
    };
    let offset = number(fields.next(), "an offset in bytes")?;
    let size = number(fields.next(), "a size in bytes")?;
    // Without the last column the one before it may have been cut short too.
    let response = fields.next().filter(|field| !field.is_empty());
    let response = response.ok_or("the line ends before a response time; it was cut off")?;
    let at_ns = ticks.checked_mul(TICK_NS).ok_or("a time later than time has room for")?;
    to.push(at_ns, op, &format!("{host}.{disk}"), offset, size)?;
    if let Some(ns) = response.parse::<u64>().ok().and_then(|ticks| ticks.checked_mul(TICK_NS)) {
        to.answered(Nanos::new(ns), None);
    }
    Ok(())
}
