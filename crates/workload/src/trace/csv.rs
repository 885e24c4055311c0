//! A CSV of Fathom's own: a head that names the columns, and a line for each request.

use units::Nanos;

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
    /// How long it took, and the pause after it, with the unit.
    response: Option<(usize, u64)>,
    think: Option<(usize, u64)>,
    count: usize,
    /// The pauses so far.
    now_ns: u64,
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
        let responses = [
            ("response_s", 1_000_000_000),
            ("response_ms", 1_000_000),
            ("response_us", 1000),
            ("response_ns", 1),
        ];
        let thinks =
            [("think_s", 1_000_000_000), ("think_ms", 1_000_000), ("think_us", 1000), ("think_ns", 1)];
        let known = |name: &&str| {
            let is = |known: &(&str, u64)| known.0 == *name;
            ["op", "file", "offset_bytes", "size_bytes"].contains(name)
                || times.iter().chain(&responses).chain(&thinks).any(is)
        };
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let name = shown(unknown);
            return Err(format!(
                "`{name}` is not a column; there are op, offset_bytes, size_bytes, file, and at_s, at_ms, \
                 at_us or at_ns, response_s and think_s likewise"
            ));
        }
        let wanted = |name: &str| position(name).ok_or_else(|| format!("the column `{name}` is missing"));
        let one_of = |units: &[(&str, u64)]| -> Result<Option<(usize, u64)>, String> {
            let mut there = units.iter().filter_map(|(name, unit)| Some((position(name)?, *unit)));
            let first = there.next();
            if there.next().is_some() { Err("a column is there twice".into()) } else { Ok(first) }
        };
        let (at, response, think) = (one_of(&times)?, one_of(&responses)?, one_of(&thinks)?);
        if at.is_some() && think.is_some() {
            return Err("requests are issued at times (`at_s`) or after pauses (`think_s`), not both".into());
        }
        if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
            return Err("a column is there twice".into());
        }
        Ok(Some(Columns {
            at,
            op: wanted("op")?,
            file: position("file"),
            offset: wanted("offset_bytes")?,
            size: wanted("size_bytes")?,
            response,
            think,
            count: names.len(),
            now_ns: 0,
        }))
    }

    pub fn line(&mut self, text: &str, to: &mut Gathered) -> Result<(), String> {
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
        let time = |column: Option<(usize, u64)>| {
            let time = |(column, unit): (usize, u64)| {
                let field = fields[column];
                scaled(field, unit).ok_or_else(|| format!("expected a time, got `{}`", shown(field)))
            };
            column.map(time).transpose()
        };
        let think = time(self.think)?;
        let at_ns = if think.is_some() { self.now_ns } else { time(self.at)?.unwrap_or_default() };
        if let Some(think) = think {
            to.thinks();
            self.now_ns =
                self.now_ns.checked_add(think).ok_or("the pauses sum to more than time has room for")?;
        }
        let response = time(self.response)?;
        let file = self.file.map_or("", |column| fields[column]);
        let (offset, size) = if op == Op::Flush {
            (0, 0)
        } else {
            let offset = number(Some(fields[self.offset]), "an offset in bytes")?;
            (offset, number(Some(fields[self.size]), "a size in bytes")?)
        };
        to.push(at_ns, op, file, offset, size)?;
        if let Some(response) = response {
            to.answered(Nanos::new(response), think.map(Nanos::new));
        }
        Ok(())
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
