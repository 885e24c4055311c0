//! The Storage Performance Council's trace format: `ASU,LBA,Size,Opcode,Timestamp`, as of the traces of OLTP and web
//! search of the UMass repository.
//!
//! The ASU is an application's unit of storage, the LBA counts blocks of 512 bytes, sizes are bytes, times seconds.
//! Source: SPC Trace File Format Specification, revision 1.0.1.

use units::SECTOR_BYTES;

use super::csv::scaled;
use super::reader::{Gathered, number, shown};
use crate::Op;

/// Whether a text with this first line is one.
pub(super) fn is_line(text: &str) -> bool {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    fields.len() >= 5
        && fields[..3].iter().all(|field| field.parse::<u64>().is_ok())
        && matches!(fields[3], "R" | "r" | "W" | "w")
        && scaled(fields[4], 1_000_000_000).is_some()
}

pub(super) fn line(text: &str, to: &mut Gathered) -> Result<(), String> {
    let mut fields = text.split(',').map(str::trim);
    let unit: u32 = number(fields.next(), "the number of an application storage unit")?;
    let block: u64 = number(fields.next(), "a block's number")?;
    let size: u64 = number(fields.next(), "a size in bytes")?;
    let op = match fields.next().unwrap_or_default() {
        "R" | "r" => Op::Read,
        "W" | "w" => Op::Write,
        other => return Err(format!("expected R or W, got `{}`", shown(other))),
    };
    let time = fields.next().ok_or("the line ends before a time")?;
    let at_ns =
        scaled(time, 1_000_000_000).ok_or_else(|| format!("expected a time in s, got `{}`", shown(time)))?;
    let offset = block.checked_mul(SECTOR_BYTES).ok_or("a block beyond any storage")?;
    to.push(at_ns, op, &unit.to_string(), offset, size)
}
