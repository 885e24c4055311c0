//! fio's own log of requests, as `write_iolog` writes it and `read_iolog` reads it.
//!
//! Source: fio's manual, "Trace file format v2" and "v3", and `log_io_u` in its `iolog.c`, which gives the unit of
//! time that the manual leaves out: microseconds since the job's start.

use std::fmt::Write;

use units::Instant;

use super::reader::{Gathered, number, shown};
use crate::spec::FlushKind;
use crate::{Logged, Op};

/// Writes requests as a log of version 3, which fio 3.33 reads.
#[derive(Clone, Debug)]
pub struct IologWriter {
    /// Names of the files by their numbers.
    files: Vec<String>,
    since: Instant,
    flush: &'static str,
}

impl IologWriter {
    /// For requests to `files` of a load that began at `since`, whose flushes are calls of that kind. Blanks, which end
    /// a name in the log, become `_`.
    pub fn new(files: &[String], since: Instant, flush: FlushKind) -> IologWriter {
        let one_word = |name: &String| name.replace(char::is_whitespace, "_");
        let flush = match flush {
            FlushKind::Fsync => "sync",
            FlushKind::Fdatasync => "datasync",
            FlushKind::SyncFileRange => "sync_file_range",
        };
        IologWriter { files: files.iter().map(one_word).collect(), since, flush }
    }

    /// What a log begins with.
    pub fn head(&self) -> String {
        let mut text = "fio version 3 iolog\n".to_owned();
        for action in ["add", "open"] {
            self.of_files(0, action, &mut text);
        }
        text
    }

    /// Adds the lines of `requests` to `text`.
    pub fn lines(&self, requests: &[Logged], text: &mut String) {
        for Logged { issued, offset, len, file, op, .. } in requests {
            let at_us = issued.saturating_since(self.since).get() / 1000;
            let action = if *op == Op::Flush { self.flush } else { op.name() };
            let file = self.files.get(usize::from(*file)).map_or("unknown", String::as_str);
            let _ = writeln!(text, "{at_us} {file} {action} {} {len}", offset.get());
        }
    }

    /// What a log ends with, the load having ended at `at`.
    pub fn tail(&self, at: Instant) -> String {
        let mut text = String::new();
        self.of_files(at.saturating_since(self.since).get() / 1000, "close", &mut text);
        text
    }

    fn of_files(&self, at_us: u64, action: &str, text: &mut String) {
        for file in &self.files {
            let _ = writeln!(text, "{at_us} {file} {action}");
        }
    }
}

/// Whether a text that begins so may be a log of fio.
pub fn is_iolog(head: &[u8]) -> bool {
    head.starts_with(b"fio version ")
}

/// How a version tells the time.
#[derive(Clone, Debug)]
pub(super) enum Clock {
    /// Version 2: `wait` lines, each from the one before.
    Waits { now_us: u64 },
    /// Version 3: each line begins with its time.
    Stamps,
}

impl Clock {
    /// Of the text whose first line this is; `None` where it is no log of fio.
    pub fn of(first: &str) -> Result<Option<Clock>, String> {
        let Some(rest) = first.strip_prefix("fio version ") else { return Ok(None) };
        match rest.strip_suffix(" iolog").map(str::trim) {
            Some("2") => Ok(Some(Clock::Waits { now_us: 0 })),
            Some("3") => Ok(Some(Clock::Stamps)),
            _ => Err(format!("`{}` is not known; versions 2 and 3 of fio's iolog are", shown(first))),
        }
    }

    pub fn line(&mut self, text: &str, to: &mut Gathered) -> Result<(), String> {
        let mut fields = text.split_ascii_whitespace();
        let mut field = || fields.next();
        let at_us = match self {
            Clock::Stamps => number(field(), "a time in microseconds")?,
            Clock::Waits { now_us } => *now_us,
        };
        let file = field().unwrap_or_default();
        let action = field().ok_or_else(|| format!("`{}` says nothing about its file", shown(text)))?;
        let op = match (action, &mut *self) {
            ("add" | "open" | "close", _) => return Ok(()),
            ("wait", Clock::Waits { now_us }) => {
                let wait: u64 = number(field(), "a number of microseconds")?;
                *now_us = now_us.checked_add(wait).ok_or("the waits sum to more than time has room for")?;
                return Ok(());
            }
            ("read", _) => Op::Read,
            ("write", _) => Op::Write,
            ("trim", _) => Op::Trim,
            ("sync" | "datasync" | "syncfs" | "sync_file_range", _) => Op::Flush,
            _ => {
                return Err(format!(
                    "`{}` is not an action; one of read, write, trim, sync, datasync, wait (version 2), \
                     add, open, close",
                    shown(action)
                ));
            }
        };
        let at_ns = at_us.checked_mul(1000).ok_or("a time later than time has room for")?;
        if op == Op::Flush {
            return to.push(at_ns, op, file, 0, 0);
        }
        let offset = number(field(), "an offset in bytes")?;
        let len = number(field(), "a length in bytes")?;
        to.push(at_ns, op, file, offset, len)
    }
}
