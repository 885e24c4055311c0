//! A CSV of Fathom's own: a head that names the columns, and a line for each request.

use super::reader::{Gathered, number, shown};
use crate::Op;

/// A head with everything in it.
pub(super) const HEAD: &str = "at_s,op,file,offset_bytes,size_bytes";

/// Where each column stands. Columns may stand in any order; time and file may be left out.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The position, and how many nanoseconds its unit has.
    at: Option<(usize, u64)>,
    op: usize,
    file: Option<usize>,
    offset: usize,
    size: usize,
    count: usize,
}

impl Columns {
    /// Of the head `first`; `None` where it is none.
    pub fn of(first: &str) -> Result<Option<Columns>, String> {
        let names: Vec<&str> = first.split(',').map(str::trim).collect();
        if !names.contains(&"op") {
            return Ok(None);
        }
        let position = |wanted: &str| names.iter().position(|name| *name == wanted);
        let times = [("at_s", 1_000_000_000), ("at_ms", 1_000_000), ("at_us", 1000), ("at_ns", 1)];
        let known = |name: &&str| {
            ["op", "file", "offset_bytes", "size_bytes"].contains(name)
                || times.iter().any(|(time, _)| time == name)
        };
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let name = shown(unknown);
            return Err(format!(
                "`{name}` is not a column; there are op, offset_bytes, size_bytes, file, and at_s, at_ms, \
                 at_us or at_ns"
            ));
        }
        let wanted = |name: &str| position(name).ok_or_else(|| format!("the column `{name}` is missing"));
        let mut ats = times.iter().filter_map(|(name, unit)| Some((position(name)?, *unit)));
        let at = ats.next();
        if ats.next().is_some() || (1..names.len()).any(|index| names[..index].contains(&names[index])) {
            return Err("a column is there twice".into());
        }
        Ok(Some(Columns {
            at,
            op: wanted("op")?,
            file: position("file"),
            offset: wanted("offset_bytes")?,
            size: wanted("size_bytes")?,
            count: names.len(),
        }))
    }

    pub fn line(&self, text: &str, to: &mut Gathered) -> Result<(), String> {
        // As many columns as there are names, and none of them twice: at most eight.
        let mut fields = [""; 8];
        let mut count = 0;
        for field in text.split(',') {
            if let Some(place) = fields.get_mut(count) {
                *place = field.trim();
            }
            count += 1;
        }
        if count != self.count {
            return Err(format!("{count} fields, and the head has {}", self.count));
        }
        let op = match fields[self.op] {
            "read" | "r" | "R" => Op::Read,
            "write" | "w" | "W" => Op::Write,
            "trim" | "t" | "T" => Op::Trim,
            "flush" | "f" | "F" => Op::Flush,
            other => {
                let word = shown(other);
                return Err(format!("`{word}` is not an operation; read, write, trim and flush are"));
            }
        };
        let at_ns = match self.at {
            None => 0,
            Some((column, unit)) => {
                let field = fields[column];
                scaled(field, unit).ok_or_else(|| format!("expected a time, got `{}`", shown(field)))?
            }
        };
        let file = self.file.map_or("", |column| fields[column]);
        if op == Op::Flush {
            return to.push(at_ns, op, file, 0, 0);
        }
        let offset = number(Some(fields[self.offset]), "an offset in bytes")?;
        let size = number(Some(fields[self.size]), "a size in bytes")?;
        to.push(at_ns, op, file, offset, size)
    }
}

/// The decimal number `text` times `unit`, a power of ten, exactly; digits below one are cut. `None` where it is no
/// number or too large.
pub(super) fn scaled(text: &str, unit: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let mut sum = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut unit = unit;
    for digit in part.bytes() {
        unit /= 10;
        sum = sum.checked_add(u64::from(digit - b'0') * unit)?;
    }
    Some(sum)
}
