//! What the block layer of Linux was asked, in the words of blkparse.
//!
//! A line is `8,0  3  1  0.000000000  697  Q  W 223490 + 8 [kjournald]`: device, processor, sequence, seconds, process,
//! action, kind, first sector, sectors. Requests are taken where they are queued (Q); a text without any such event is
//! taken where they are issued to the driver (D), which is after the scheduler has merged them.
//!
//! Source: blkparse(1), "Trace actions" and "Default output".

use super::Entry;
use super::reader::{Gathered, number, shown};
use crate::Op;

pub(super) const SECTOR_BYTES: u64 = 512;

/// What was issued, kept as long as nothing was seen to be queued.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    issued: Gathered,
    queued: bool,
    /// The summary that ends the text has begun.
    ended: bool,
}

/// Whether the line begins with a device's numbers, as all events do.
pub(super) fn is_line(text: &str) -> bool {
    let device = text.split_ascii_whitespace().next().and_then(|word| word.split_once(','));
    device.is_some_and(|(major, minor)| [major, minor].iter().all(|part| part.parse::<u32>().is_ok()))
}

impl Events {
    pub fn line(&mut self, text: &str, to: &mut Gathered) -> Result<(), String> {
        // After the events come sums for each processor, which begin with `CPU0 (sda):` or `Total (sda):`.
        self.ended |= text.starts_with("CPU") || text.starts_with("Total");
        if self.ended {
            return Ok(());
        }
        if !is_line(text) {
            return Err(
                "an event begins with a device such as `8,0`; expected blkparse's own output format".into()
            );
        }
        let mut fields = text.split_ascii_whitespace();
        let device = fields.next().unwrap_or_default();
        let (at, action) = (fields.nth(2), fields.nth(1));
        let is_queued = match action.ok_or_else(|| cut_off("an action such as Q"))? {
            "Q" => true,
            "D" if self.wants(false) => false,
            _ => return Ok(()),
        };
        let at_ns = nanos(at)?;
        let letters = fields.next().ok_or_else(|| cut_off("the kind of a request, such as R or WS,"))?;
        let place = place(&mut fields)?;
        let Some((op, sector, sectors)) = asked(letters, place) else { return Ok(()) };
        let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES).ok_or("a sector beyond any storage");
        let asked = (op, bytes(sector)?, bytes(sectors)?);
        self.request(is_queued, at_ns, device, asked, to)
    }

    /// Whether an event says anything: what was issued does no longer once something was queued.
    pub fn wants(&self, is_queued: bool) -> bool {
        is_queued || !self.queued
    }

    /// Takes a request that was queued or issued: its operation, offset and length.
    pub fn request(
        &mut self,
        is_queued: bool,
        at_ns: u64,
        device: &str,
        (op, offset, len): (Op, u64, u64),
        to: &mut Gathered,
    ) -> Result<(), String> {
        if is_queued && !self.queued {
            self.queued = true;
            self.issued = Gathered::default();
            // Devices below, where requests were issued, are not those that were asked.
            to.forget_files();
        }
        if is_queued {
            return to.push(at_ns, op, device, offset, len);
        }
        self.issued.at_line_of(to);
        let file = to.file(device)?;
        self.issued.push_numbered(at_ns, op, file, offset, len)
    }

    /// The requests: those queued, or else those issued.
    pub fn finish(self, queued: Vec<Entry>) -> Vec<Entry> {
        if self.queued { queued } else { self.issued.into_entries() }
    }
}

/// Where a request lies, `223490 + 8 [kjournald]`; `None` where only the process follows, as after a flush, or the
/// bytes of a command that was passed through. A line that ends before the process was cut off, and so may its numbers
/// be.
fn place<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Result<Option<(u64, u64)>, String> {
    let process = || cut_off("the process, such as [fio],");
    let first = fields.next().ok_or_else(process)?;
    if first.starts_with(['[', '(']) {
        return Ok(None);
    }
    let sector = number(Some(first), "a sector")?;
    match fields.next() {
        Some("+") => {}
        Some(other) => {
            return Err(format!("expected `+` and a number of sectors, got `{}`", shown(other)));
        }
        None => return Err(cut_off("`+` and a number of sectors")),
    }
    let sectors = number(fields.next(), "a number of sectors")?;
    match fields.next() {
        Some(_) => Ok(Some((sector, sectors))),
        None => Err(process()),
    }
}

fn cut_off(what: &str) -> String {
    format!("the line ends before {what}; it was cut off")
}

/// Seconds with nine digits behind the point, exactly.
fn nanos(field: Option<&str>) -> Result<u64, String> {
    let what = "a time in seconds such as 0.000123456";
    let text = field.ok_or_else(|| format!("the line ends before {what}"))?;
    super::csv::scaled(text, 1_000_000_000).ok_or_else(|| format!("expected {what}, got `{text}`"))
}

/// What `WS`, `RA`, `DS`, `FWFS` and so on ask of a place; `None` for what asks nothing of the media.
///
/// A flush is told as `F` before the other letters: with a place it is what is done before a write, without one it
/// stands alone.
fn asked(letters: &str, place: Option<(u64, u64)>) -> Option<(Op, u64, u64)> {
    let (flush, rest) = letters.strip_prefix('F').map_or((false, letters), |rest| (true, rest));
    let op = match rest.bytes().next() {
        Some(b'R') => Some(Op::Read),
        Some(b'W') => Some(Op::Write),
        Some(b'D') => Some(Op::Trim),
        _ => None,
    };
    match (op, place) {
        (Some(op), Some((sector, sectors))) if sectors > 0 => Some((op, sector, sectors)),
        _ => flush.then_some((Op::Flush, 0, 0)),
    }
}
