//! Which part of each of its files a job uses.

use units::convert::truncated;

use crate::Refusal;

use super::access::Rw;
use super::files::{Files, Service};
use super::job::refuse;
use super::settings::Options;
use super::value::Amount;

/// Which part of each file is used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Region {
    pub offset: Amount,
    /// Each clone begins so much after the one before.
    pub increment: u64,
    /// Of each file; `None` is all that is left.
    pub span: Option<Amount>,
    /// Where each file ends, as `filesize` says, also for a clone that begins further on.
    pub end: Option<u64>,
    /// What `size` says of each file, also where no whole number of requests fits it: the file is as large. `None` where it
    /// says nothing in bytes.
    pub laid: Option<u64>,
    /// Of all files of a clone, where it is known.
    pub total: Option<u64>,
    /// Of each file of a clone, where they are not equally large; empty otherwise.
    pub sizes: Vec<u64>,
}

impl Region {
    /// The part of each file that clone number `clone` uses: what `filesize` leaves of it behind its offset.
    pub(super) fn span_of(&self, clone: u32) -> Option<Amount> {
        match (self.end, self.offset, self.span) {
            (Some(end), Amount::Bytes(at), Some(Amount::Bytes(span))) => {
                let begins = at.saturating_add(self.increment.saturating_mul(clone.into()));
                Some(Amount::Bytes(span.min(end.saturating_sub(begins))))
            }
            _ => self.span,
        }
    }
}

/// How large each file of a clone is; of a range sizes are drawn, the same in every run and for every clone.
fn file_sizes(
    options: &Options,
    files: &Files,
    (smallest, largest): (u64, u64),
) -> Result<Option<Vec<u64>>, Refusal> {
    assert!(0 < smallest && smallest <= largest, "requests are from a smallest to a largest size");
    let Some((least, most)) = super::files::each_size(options)? else { return Ok(None) };
    if least == most {
        return Ok(Some(vec![most]));
    }
    let seed = options.count("randseed")?.unwrap_or(1);
    let names = files.of_clone.first().into_iter().flatten();
    // Where one file follows the other, each ends with a whole request.
    let unit = if files.each > 1 { largest } else { smallest };
    let drawn = names.map(|name| {
        let size = super::draw::drawn_within(seed, name, least, most);
        (size - size % unit).max(unit)
    });
    Ok(Some(drawn.collect()))
}

/// Files of sizes of their own: any request may go to any, or a stream passes one after the other.
fn unequal(options: &Options, sizes: Vec<u64>) -> Result<Region, Refusal> {
    for name in ["offset", "offset_increment"] {
        if let Some(other) = options.get(name).filter(|other| other.value != "0") {
            return Err(other.unsupported("files of a range of sizes are used whole"));
        }
    }
    let total = Some(sizes.iter().copied().fold(0, u64::saturating_add));
    Ok(Region { offset: Amount::Bytes(0), increment: 0, span: None, end: None, laid: None, total, sizes })
}

/// Whether a name is that of a file, which can grow.
pub(super) fn is_regular(name: &str) -> bool {
    !["/dev/", "array:", "null:", "nbd://", "nbd+unix://"].iter().any(|prefix| name.starts_with(prefix))
}

/// Which part of each of `files` the job uses; `ends` are the smallest and the largest of its requests.
pub(super) fn region(options: &Options, files: &Files, rw: Rw, ends: (u64, u64)) -> Result<Region, Refusal> {
    let (size, each, smallest) = (options.amount("size")?, (files.each * files.passes) as u64, ends.0);
    assert!(each > 0 && smallest > 0, "a clone has a file, and a request a byte at least");
    let filesize = match file_sizes(options, files, ends)? {
        None => None,
        Some(sizes) if sizes.len() > 1 => return unequal(options, sizes),
        Some(sizes) => sizes.first().copied(),
    };
    let offset = offset(options, files, smallest)?;
    let increment = increment(options, files, smallest)?;
    let span = span(options, (filesize, size), offset, (each, smallest))?;
    let (offset, span) = match (offset, span) {
        (Amount::Bytes(at), None) => (Amount::Bytes(super::zones::whole(options, rw, (at, None))?.0), None),
        (Amount::Bytes(at), Some(Amount::Bytes(len))) => {
            let (at, len) = super::zones::whole(options, rw, (at, Some(len)))?;
            (Amount::Bytes(at), len.map(Amount::Bytes))
        }
        parts => parts,
    };
    let known = |amount: Amount| match amount {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(part) => files.known_size.map(|size| truncated::<u64>(size as f64 * part / 100.0)),
    };
    let total = match span {
        Some(span) => known(span),
        None => files.known_size.zip(known(offset)).map(|(size, offset)| size.saturating_sub(offset)),
    };
    if files.are_new && known(span.unwrap_or(Amount::Percent(100.0))).is_none() {
        return Err(files.origin.refuse(format!(
            "{} does not exist yet, and no option says how large it is to be; add size=",
            files.first_name()
        )));
    }
    if span.is_some() && files.each > 1 && files.service != Service::RoundRobin && offset != Amount::Bytes(0)
    {
        return Err(refuse(options, "offset", "with several files it wants file_service_type=roundrobin"));
    }
    let total = total.map(|each_file| each_file.saturating_mul(each));
    let laid = match (filesize, size) {
        (None, Some(Amount::Bytes(size))) if size > 0 => Some(size / each),
        _ => None,
    };
    Ok(Region { offset, increment, span, end: filesize, laid, total, sizes: Vec::new() })
}

/// Where the job begins in each file.
fn offset(options: &Options, files: &Files, smallest: u64) -> Result<Amount, Refusal> {
    let mut offset = options.amount("offset")?.unwrap_or(Amount::Bytes(0));
    if let (Some(align), Amount::Bytes(at)) =
        (options.size("offset_align")?.filter(|align| *align > 0), offset)
    {
        offset = Amount::Bytes(at.next_multiple_of(align));
    }
    if options.flag("file_append")? == Some(true) && is_regular(files.first_name()) {
        // What is there stays, and what the job adds lies behind it.
        offset = Amount::Bytes(files.known_size.unwrap_or(0));
    }
    // What moves from clone to clone is said in bytes.
    if let (Amount::Percent(part), Some(size)) = (offset, files.known_size) {
        let at = truncated::<u64>(size as f64 * part.min(100.0) / 100.0);
        offset = Amount::Bytes(at - at % smallest);
    }
    // As fio, which reckons the part before it makes the file: that of nothing.
    if matches!(offset, Amount::Percent(_)) && files.are_new {
        offset = Amount::Bytes(0);
    }
    Ok(offset)
}

/// How far each clone begins behind the one before it.
fn increment(options: &Options, files: &Files, smallest: u64) -> Result<u64, Refusal> {
    match options.amount("offset_increment")? {
        None => Ok(0),
        Some(Amount::Bytes(bytes)) => Ok(bytes),
        Some(Amount::Percent(part)) => match files.known_size {
            Some(size) => Ok(truncated::<u64>(size as f64 * part / 100.0) / smallest * smallest),
            None => {
                let setting = options.get("offset_increment").expect("it has a value");
                Err(setting.wrong(format!(
                    "how large {} is, is not known here; say it in bytes, or name with --on what is there",
                    files.first_name()
                )))
            }
        },
    }
}

/// How much of each file is used, by `filesize` and `size`; `None` where nothing says it.
fn span(
    options: &Options,
    (filesize, size): (Option<u64>, Option<Amount>),
    offset: Amount,
    (each, smallest): (u64, u64),
) -> Result<Option<Amount>, Refusal> {
    Ok(match (filesize, size) {
        (Some(filesize), size) => match offset {
            Amount::Bytes(at) if at < filesize => {
                let rest = filesize - at;
                Some(Amount::Bytes(match size {
                    Some(Amount::Percent(part)) => {
                        let part = truncated::<u64>(filesize as f64 * part / 100.0).min(rest);
                        (part - part % smallest).max(smallest)
                    }
                    _ => rest,
                }))
            }
            _ => return Err(refuse(options, "offset", "it leaves nothing of filesize")),
        },
        (None, Some(Amount::Bytes(0)) | None) => None,
        (None, Some(Amount::Bytes(size))) => {
            let span = size / each - size / each % smallest;
            if span == 0 {
                return Err(refuse(options, "size", "it has no room for one request in each file"));
            }
            Some(Amount::Bytes(span))
        }
        (None, Some(Amount::Percent(part))) if part >= 100.0 && offset == Amount::Bytes(0) => None,
        (None, Some(Amount::Percent(part))) => Some(Amount::Percent(part.min(100.0))),
    })
}
