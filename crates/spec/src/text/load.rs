//! The texts of files, LUNs, paces and processors, and the single words.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond};

use super::{TextError, call, unit, unknown, words, wrong};
use crate::{EngineKind, Files, FlushKind, LunLayout, OpenSync, Overflow, Pace, Schedule, Spacing, Verify};

/// The fastest pace: one request every nanosecond, the resolution of the clock.
const FASTEST_OPS_PER_S: f64 = 1e9;

/// Every form of the use of files, with a value where it takes one.
pub const FILES: [&str; 3] = ["shared", "per_worker(4)", "workers_per_file(2)"];

impl Display for Files {
    /// `shared`, `per_worker(4)` or `workers_per_file(2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Files::Shared => f.write_str("shared"),
            Files::PerWorker(files) => write!(f, "per_worker({files})"),
            Files::WorkersPerFile(workers) => write!(f, "workers_per_file({workers})"),
        }
    }
}

impl FromStr for Files {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Files, TextError> {
        let count = |text: &str| match text.parse::<u32>() {
            // A request names its file with 16 bits.
            Ok(count) if (1..=65_535).contains(&count) => Ok(count),
            _ => wrong(
                format!("`{text}` is not a count of files or workers"),
                "a whole number from 1 to 65535",
            ),
        };
        match call(text)? {
            ("shared", None) => Ok(Files::Shared),
            ("per_worker", Some(files)) => Ok(Files::PerWorker(count(files)?)),
            ("workers_per_file", Some(workers)) => Ok(Files::WorkersPerFile(count(workers)?)),
            _ => unknown(text, "a way to share files", &FILES),
        }
    }
}

/// Every form of a layout of several targets, likewise.
pub const LAYOUTS: [&str; 2] = ["concatenated", "striped(1MiB)"];

impl Display for LunLayout {
    /// `concatenated` or `striped(1MiB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LunLayout::Concatenated => f.write_str("concatenated"),
            LunLayout::Striped(chunk) => write!(f, "striped({})", chunk.exact()),
        }
    }
}

impl FromStr for LunLayout {
    type Err = TextError;

    fn from_str(text: &str) -> Result<LunLayout, TextError> {
        match call(text)? {
            ("concatenated", None) => Ok(LunLayout::Concatenated),
            ("striped", Some(chunk)) => match unit::<Bytes>(chunk)? {
                Bytes::ZERO => wrong("a stripe of 0 bytes", "for example `striped(1MiB)`"),
                chunk => Ok(LunLayout::Striped(chunk)),
            },
            _ => unknown(text, "a way to use several targets", &LAYOUTS),
        }
    }
}

/// Every form of a pace, likewise.
pub const PACES: [&str; 11] = [
    "closed",
    "think(5ms)",
    "think(5ms, 8)",
    "think(1s, 9s)",
    "cap(500/s)",
    "cap(100MB/s)",
    "rate(500/s)",
    "rate(500/s, poisson)",
    "rate(500/s, onoff(2s, 8s))",
    "rate(500/s, poisson, drop)",
    "trace",
];

impl Display for Pace {
    /// `closed`, `think(5ms)`, `think(5ms, 8)`, `think(1s, 9s)`, `cap(500/s)`, `rate(500/s)`,
    /// `rate(500/s, onoff(2s, 8s), drop)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Closed => f.write_str("closed"),
            Pace::Think(gap) => write!(f, "think({})", gap.exact()),
            Pace::Bursts { delay, requests } => write!(f, "think({}, {requests})", delay.exact()),
            Pace::Spells { delay, busy } => write!(f, "think({}, {})", delay.exact(), busy.exact()),
            Pace::Cap(rate) => write!(f, "cap({})", rate.exact()),
            Pace::CapBytes(rate) => write!(f, "cap({})", rate.exact()),
            Pace::Open(schedule) => schedule.fmt(f),
            Pace::Trace => f.write_str("trace"),
        }
    }
}

impl Display for Schedule {
    /// `rate(500/s)`, `rate(500/s, poisson)`, `rate(500/s, onoff(2s, 8s), drop)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rate({}", self.rate.exact())?;
        match self.spacing {
            Spacing::Even => Ok(()),
            Spacing::Poisson => f.write_str(", poisson"),
            Spacing::OnOff { on, off } => write!(f, ", onoff({}, {})", on.exact(), off.exact()),
        }?;
        f.write_str(if self.overflow == Overflow::Drop { ", drop)" } else { ")" })
    }
}

impl FromStr for Pace {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Pace, TextError> {
        match call(text)? {
            ("closed", None) => Ok(Pace::Closed),
            ("trace", None) => Ok(Pace::Trace),
            ("think", Some(argument)) => think(argument),
            ("cap", Some(argument)) => cap(argument),
            ("rate", Some(argument)) => schedule(argument).map(Pace::Open),
            _ => unknown(text, "a pace", &PACES),
        }
    }
}

fn think(argument: &str) -> Result<Pace, TextError> {
    let (delay, requests) = match argument.split_once(',') {
        Some((delay, requests)) => (delay, Some(requests.trim())),
        None => (argument, None),
    };
    let delay = match unit::<Nanos>(delay)? {
        Nanos::ZERO => return wrong("a think time of 0 is no pause", "write `closed`"),
        delay => delay,
    };
    let Some(before) = requests else { return Ok(Pace::Think(delay)) };
    let busy = || unit::<Nanos>(before).ok().filter(|busy| !busy.is_zero());
    match (before.parse::<u32>(), busy()) {
        (Ok(requests), _) if requests > 0 => Ok(Pace::Bursts { delay, requests }),
        (Err(_), Some(busy)) => Ok(Pace::Spells { delay, busy }),
        _ => wrong(
            format!("`{before}` is neither a number of requests nor a time before a pause"),
            "a whole number from 1, such as think(5ms, 8), or a time, such as think(1s, 9s)",
        ),
    }
}

fn cap(argument: &str) -> Result<Pace, TextError> {
    // `1k/s` is a thousand requests: a throughput names its bytes.
    if !argument.contains('B') {
        return Ok(Pace::Cap(kept(argument)?));
    }
    match unit::<BytesPerSecond>(argument)? {
        rate if rate.get() >= 1.0 => Ok(Pace::CapBytes(rate)),
        _ => wrong(format!("`{argument}` allows no requests"), "for example cap(100MB/s)"),
    }
}

/// A rate that can be kept.
fn kept(number: &str) -> Result<OpsPerSecond, TextError> {
    let rate: OpsPerSecond = unit(number)?;
    if rate.get() > 0.0 && rate.get() <= FASTEST_OPS_PER_S {
        return Ok(rate);
    }
    wrong(
        format!("`{}` is not a rate that can be issued", number.trim()),
        format!("more than 0/s and at most {FASTEST_OPS_PER_S}/s, such as rate(500/s)"),
    )
}

fn schedule(argument: &str) -> Result<Schedule, TextError> {
    let parts = top_level_parts(argument);
    let (number, words) = parts.split_first().expect("splitting gives at least one part");
    let rate = kept(number)?;
    let mut schedule = Schedule { rate, spacing: Spacing::Even, overflow: Overflow::Queue };
    for (position, word) in words.iter().enumerate() {
        match (position, call(word)?) {
            (_, ("drop", None)) if position + 1 == words.len() => schedule.overflow = Overflow::Drop,
            (0, ("even", None)) => {}
            (0, ("poisson", None)) => schedule.spacing = Spacing::Poisson,
            (0, ("onoff", Some(times))) => schedule.spacing = on_off(times)?,
            _ => {
                let known = ["even", "poisson", "onoff(2s, 8s)", "drop"];
                return unknown(word, "a way to space requests", &known);
            }
        }
    }
    Ok(schedule)
}

fn on_off(times: &str) -> Result<Spacing, TextError> {
    let example = "for example onoff(2s, 8s): two seconds of load, eight of none";
    let Some((on, off)) = times.split_once(',') else {
        return wrong(format!("`onoff({times})` needs two times"), example);
    };
    match (unit::<Nanos>(on)?, unit::<Nanos>(off)?) {
        (Nanos::ZERO, _) | (_, Nanos::ZERO) => {
            wrong(format!("`onoff({times})` has no time to be on or off"), example)
        }
        (on, off) => Ok(Spacing::OnOff { on, off }),
    }
}

/// The parts between commas that stand in no brackets; at least one.
fn top_level_parts(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

words!(OpenSync, "a way to open",
    OpenSync::None => "none", OpenSync::Dsync => "dsync", OpenSync::Sync => "sync");
words!(FlushKind, "a kind of flush", FlushKind::Fsync => "fsync", FlushKind::Fdatasync => "fdatasync",
    FlushKind::SyncFileRange => "sync_file_range");
words!(Verify, "a way to verify", Verify::None => "none", Verify::Written => "written", Verify::All => "all",
    Verify::Content => "content");
words!(EngineKind, "an engine",
    EngineKind::Auto => "auto", EngineKind::IoUring => "io_uring", EngineKind::Pread => "pread",
    EngineKind::Preadv2 => "preadv2", EngineKind::Mmap => "mmap", EngineKind::Stdio => "stdio",
    EngineKind::Fallocate => "fallocate", EngineKind::Ftruncate => "ftruncate", EngineKind::Splice => "splice",
    EngineKind::Locked => "locked", EngineKind::Sg => "sg", EngineKind::Nvme => "nvme",
    EngineKind::Null => "null");

/// A ratio such as `2:1`, at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio(pub f64);

impl Display for Ratio {
    /// `2:1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:1", self.0)
    }
}

impl FromStr for Ratio {
    type Err = TextError;

    /// Reads `2:1`, `3:2` or the number 2; at least 1 and at most 1000.
    fn from_str(text: &str) -> Result<Ratio, TextError> {
        let (of, to) = text.split_once(':').unwrap_or((text, "1"));
        match (of.trim().parse::<f64>(), to.trim().parse::<f64>()) {
            (Ok(of), Ok(to)) if to > 0.0 && (1.0..=1000.0).contains(&(of / to)) => Ok(Ratio(of / to)),
            _ => wrong(format!("`{text}` is not a ratio"), "from 1:1 to 1000:1, such as 2:1"),
        }
    }
}

/// Numbers of processors such as `0-3,8`; empty is `any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// No machine has more processors or targets; a typing mistake must not fill the memory.
const MOST_NUMBERS: usize = 65_536;

/// Numbers of targets, from 1: `1,3-4`; empty is `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetList(pub Vec<u32>);

impl Display for CpuList {
    /// Runs of neighbours shortened: `0-3,8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&runs_text(&self.0, "any"))
    }
}

impl FromStr for CpuList {
    type Err = TextError;

    fn from_str(text: &str) -> Result<CpuList, TextError> {
        let wrong = || TextError {
            message: format!("`{text}` is not a list of processors"),
            help: "numbers and ranges such as 0-3,8, or any".into(),
        };
        runs_of(text, "any").map(CpuList).ok_or_else(wrong)
    }
}

impl Display for TargetList {
    /// Runs of neighbours shortened: `1-3,8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&runs_text(&self.0, "all"))
    }
}

impl FromStr for TargetList {
    type Err = TextError;

    fn from_str(text: &str) -> Result<TargetList, TextError> {
        let wrong = || TextError {
            message: format!("`{text}` is not a list of targets"),
            help: "numbers from 1 and ranges such as 1,3-4, or all".into(),
        };
        runs_of(text, "all").filter(|list| !list.contains(&0)).map(TargetList).ok_or_else(wrong)
    }
}

/// Numbers with runs of neighbours shortened; `none` for no number.
fn runs_text(numbers: &[u32], none: &str) -> String {
    if numbers.is_empty() {
        return none.into();
    }
    let runs: Vec<&[u32]> = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect();
    debug_assert_eq!(
        runs.iter().map(|run| run.len()).sum::<usize>(),
        numbers.len(),
        "each number stands in one run"
    );
    let shown: Vec<String> = runs
        .into_iter()
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run.iter().map(u32::to_string).collect(),
        })
        .collect();
    shown.join(",")
}

/// What [`runs_text`] wrote; `None` where it is something else.
fn runs_of(text: &str, none: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    if text.trim() == none {
        return Some(numbers);
    }
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let run = number(first)?..=number(last)?;
        if run.is_empty() || numbers.len() + (run.end() - run.start()) as usize >= MOST_NUMBERS {
            return None;
        }
        numbers.extend(run);
        assert!(numbers.len() <= MOST_NUMBERS, "a typing mistake fills the memory");
    }
    Some(numbers)
}
