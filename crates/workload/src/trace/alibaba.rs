//! The block traces of Alibaba Cloud: `device_id,opcode,offset,length,timestamp`; bytes, and microseconds.
//!
//! Source: the notes of the collection, github.com/alibaba/block-traces (Li et al., IISWC 2020).

use super::reader::{Gathered, number, shown};
use crate::Op;

const TICK_NS: u64 = 1000;

/// Whether it is the names of the columns.
pub(super) fn is_head(text: &str) -> bool {
    text.to_ascii_lowercase().starts_with("device_id,opcode,offset,length,timestamp")
}

/// Whether a text with this first line is one.
pub(super) fn is_line(text: &str) -> bool {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    matches!(fields[..], [device, "R" | "W", ..]
        if fields.len() == 5 && device.parse::<u32>().is_ok()
            && fields[2..].iter().all(|field| field.parse::<u64>().is_ok()))
}

pub(super) fn line(text: &str, to: &mut Gathered) -> Result<(), String> {
    let mut fields = text.split(',').map(str::trim);
    let device: u32 = number(fields.next(), "the number of a device")?;
    let op = match fields.next().unwrap_or_default() {
        "R" => Op::Read,
        "W" => Op::Write,
        other => return Err(format!("expected R or W, got `{}`", shown(other))),
    };
    let offset = number(fields.next(), "an offset in bytes")?;
    let len = number(fields.next(), "a length in bytes")?;
    let ticks: u64 = number(fields.next(), "a time in us")?;
    let at_ns = ticks.checked_mul(TICK_NS).ok_or("a time later than time has room for")?;
    to.push(at_ns, op, &device.to_string(), offset, len)
}
