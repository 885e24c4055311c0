//! When a job begins, and what ends it.

use units::convert::truncated;

use crate::Refusal;

use super::access::{Rw, Sizes};
use super::files::Files;
use super::job::only_size;
use super::pace::asks_nothing;
use super::region::Region;
use super::settings::Options;
use super::value::{Amount, Bare};

/// How long a clone of a job runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length {
    pub run_ns: Option<u64>,
    pub ramp_ns: u64,
    /// In place of a time, of one clone; of all jobs that are reported together where they are.
    pub ramp_bytes: Option<u64>,
    pub delay_ns: u64,
    /// Of one clone.
    pub bytes: Option<u64>,
    /// Of one clone; with a ramp from its end.
    pub requests: Option<u64>,
    /// So many times all of its files, where nobody knows here how large they are.
    pub passes: Option<u64>,
    /// The end of a range of delays, of which each clone draws one; otherwise `delay_ns`.
    pub delay_most_ns: u64,
}

impl Length {
    /// As short as a job can be.
    pub(super) const ONE_REQUEST: Length = Length {
        run_ns: None,
        ramp_ns: 0,
        ramp_bytes: None,
        delay_ns: 0,
        bytes: None,
        requests: Some(1),
        passes: None,
        delay_most_ns: 0,
    };

    /// Whether there is a ramp, by time or by bytes.
    pub(super) fn is_ramped(&self) -> bool {
        self.ramp_ns > 0 || self.ramp_bytes.is_some()
    }
}

pub(super) fn length(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    region: &Region,
    files: &Files,
    notes: &mut Vec<String>,
) -> Result<Length, Refusal> {
    let run_ns = options.time_ns("runtime", Bare::Seconds)?.filter(|time| *time > 0);
    let ramp_ns = options.time_ns("ramp_time", Bare::Seconds)?.unwrap_or(0);
    let ramp_bytes = options.size("ramp_size")?.filter(|bytes| *bytes > 0);
    let ramp = options.get("ramp_size").filter(|_| ramp_bytes.is_some());
    if let Some(setting) = ramp.filter(|_| ramp_ns > 0) {
        return Err(setting.wrong("either ramp_time= or ramp_size="));
    }
    if let Some(setting) = ramp.filter(|_| options.get("latency_target").is_some()) {
        return Err(setting.unsupported("a search of latency_target= warms up by ramp_time="));
    }
    let (delay_ns, delay_most_ns) = delays(options)?;
    let requests = options.count("number_ios")?.filter(|count| *count > 0);
    let loops = options.count("loops")?.unwrap_or(1).max(1);
    // As fio, which says so and goes on.
    let is_timed = options.flag("time_based")? == Some(true) || asks_nothing(options);
    let time_based = is_timed && run_ns.is_some();
    if let (Some(_), None) = (options.get("time_based"), run_ns) {
        notes.push("time_based without runtime= has no effect".into());
    }
    let io_size = match options.amount("io_size")? {
        Some(Amount::Percent(part)) => {
            region.total.map(|total| truncated::<u64>(total as f64 * part / 100.0))
        }
        Some(Amount::Bytes(bytes)) => Some(bytes).filter(|bytes| *bytes > 0),
        None => None,
    };
    let size = pass_of(options, (rw, sizes), region, io_size.is_some())?;
    let whole = io_size.or(size).map(|bytes| bytes.saturating_mul(loops));
    if let Some(setting) = options.get("fill_device")
        && options.flag("fill_device")? == Some(true)
        && files.are_new
        && options.get("size").is_none_or(|size| size.value == "0")
    {
        return Err(setting.unsupported("files have a size: say size=, with which it writes as much"));
    }
    let mut passes = None;
    let ends_with_others = asks_nothing(options) && options.flag("exit_on_io_done")? == Some(true);
    let bytes = match whole {
        _ if time_based || ends_with_others => None,
        None if requests.is_none() => {
            passes = Some(loops.saturating_mul(files.passes as u64));
            None
        }
        whole => whole,
    };
    let ends = [run_ns, bytes, requests, passes].iter().any(Option::is_some) || ends_with_others;
    assert!(ends && delay_ns <= delay_most_ns, "a job ends, and is delayed from less to more");
    Ok(Length { run_ns, ramp_ns, ramp_bytes, delay_ns, delay_most_ns, bytes, requests, passes })
}

/// Bytes that one job moves without loops, where `io_size` says nothing.
fn pass_of(
    options: &Options,
    (rw, sizes): (Rw, &[Sizes; 3]),
    region: &Region,
    has_io_size: bool,
) -> Result<Option<u64>, Refusal> {
    // size= bounds the transfer where filesize= says how large the files are.
    let size = match options.amount("size")? {
        Some(Amount::Bytes(bytes)) if bytes > 0 => Some(bytes.min(region.total.unwrap_or(bytes))),
        _ => region.total,
    };
    // A stream that leaves something out goes over its files again, unless a pass ends with the file.
    let size = match only_size(rw, sizes) {
        Some(each) if !rw.random && rw.skip > 0 && !has_io_size => {
            size.map(|size| skipping(size, each, rw.skip.unsigned_abs()))
        }
        _ => size,
    };
    // The pass writes what the device has beyond its capacity as well.
    Ok(match super::distribution::is_aged(options)? {
        true => size.map(|size| {
            truncated::<u64>(size as f64 * (1.0 + super::distribution::spare(options).unwrap_or(0.0)))
        }),
        false => size,
    })
}

/// What a stream in requests of `each` moves of `size` bytes, of which it leaves out `skip` behind each: all of it, in several passes,
/// but no more than one where its last request ends with the file, which is then done. Source: `get_next_seq_offset` of io_u.c.
fn skipping(size: u64, each: u64, skip: u64) -> u64 {
    let step = each.saturating_add(skip);
    assert!(step > 0, "a stream moves on with each request");
    let requests = size.saturating_sub(each) / step + 1;
    let ends_at = (requests - 1).saturating_mul(step).saturating_add(each);
    if ends_at >= size { requests.saturating_mul(each) } else { size }
}

/// Says no to a ramp, by time or by bytes, for that reason.
pub(super) fn refuse_ramp(options: &Options, why: &str) -> Result<(), Refusal> {
    let asked = [
        ("ramp_time", options.time_ns("ramp_time", Bare::Seconds)?.unwrap_or(0)),
        ("ramp_size", options.size("ramp_size")?.unwrap_or(0)),
    ];
    let setting = asked.iter().filter(|(_, ramp)| *ramp > 0).find_map(|(name, _)| options.get(name));
    setting.map_or(Ok(()), |setting| Err(setting.unsupported(why)))
}

/// The delay of a job, or the range that each clone draws one from.
pub(super) fn delays(options: &Options) -> Result<(u64, u64), Refusal> {
    let read = |text: &str| super::value::time_ns(text, Bare::Seconds);
    let range = |text: &str| match text.split_once('-') {
        Some((least, most)) => {
            let (least, most) = (read(least)?, read(most)?);
            if least <= most {
                Ok((least, most))
            } else {
                Err("a range from less to more, such as 5-10".to_owned())
            }
        }
        None => read(text).map(|delay| (delay, delay)),
    };
    Ok(options.read("startdelay", range)?.unwrap_or((0, 0)))
}
