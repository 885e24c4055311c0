//! What has happened, in the words of a controller's event log.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::Clock;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As intended.
    Information,
    /// Redundancy is less than it was.
    Warning,
    /// Data cannot be read, or are lost.
    Critical,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counted from 1, over all starts of a server that keeps its log in a file.
    pub number: u64,
    /// Since the server started that wrote it.
    pub at_s: f64,
    /// How much it matters.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
}

/// Most events that are kept to be shown; the file has all.
const MOST: usize = 10_000;

/// The log.
#[derive(Debug, Default)]
pub struct EventLog {
    clock: Clock,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<Event>,
    count: u64,
    file: Option<File>,
}

impl Kept {
    /// Adds the event to those that can be shown.
    fn keep(&mut self, event: Event) {
        debug_assert!(
            self.events.back().is_none_or(|last| last.number + 1 == event.number),
            "numbers follow each other"
        );
        if self.events.len() == MOST {
            self.events.pop_front();
        }
        self.events.push_back(event);
        assert!(self.events.len() <= MOST, "the log in memory is bounded");
    }
}

impl EventLog {
    /// A log in memory alone.
    pub fn new() -> EventLog {
        EventLog::default()
    }

    /// A log that continues the one in the file at `path`, one JSON object a line; a new one where there is none. What is no
    /// event there, as a last line that a kill has cut, stays and is passed over. An error where the file cannot be read or
    /// appended to.
    pub fn at(path: &Path) -> io::Result<EventLog> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut kept = Kept::default();
        let mut lines = BufReader::new(&mut file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if let Ok(event) = serde_json::from_slice::<Event>(&line) {
                kept.count += 1;
                kept.keep(Event { number: kept.count, ..event });
            }
            if !line.ends_with(b"\n") {
                lines.get_mut().write_all(b"\n")?;
            }
            line.clear();
        }
        kept.file = Some(file);
        Ok(EventLog { clock: Clock::start(), kept: Mutex::new(kept) })
    }

    /// Adds one.
    pub fn add(&self, severity: Severity, text: String) {
        let at_s = self.clock.now().as_secs_f64();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.count += 1;
        let event = Event { number: kept.count, at_s, severity, text };
        if let (Some(file), Ok(mut line)) = (&mut kept.file, serde_json::to_vec(&event)) {
            line.push(b'\n');
            // A log that cannot be written must not stop what it tells of.
            let _lost = file.write_all(&line);
        }
        kept.keep(event);
    }

    /// Those with a number above `after`.
    pub fn since(&self, after: u64) -> Vec<Event> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.events.iter().filter(|event| event.number > after).cloned().collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::{EventLog, Severity};

    #[test]
    fn a_log_is_continued_over_restarts_and_a_line_that_was_cut_is_passed_over() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("events.jsonl");
        let say = |log: &EventLog, text: &str| log.add(Severity::Warning, text.into());
        let log = EventLog::at(&path).unwrap();
        say(&log, "one");
        say(&log, "two");
        drop(log);
        let mut cut = std::fs::read(&path).unwrap();
        cut.extend(b"{\"number\":3,\"at_s\":1.5,\"sev");
        std::fs::write(&path, cut).unwrap();
        for start in 0..2 {
            let log = EventLog::at(&path).unwrap();
            assert_eq!(log.since(0).len(), 2 + start);
            say(&log, "more");
            let told: Vec<(u64, String)> =
                log.since(1).into_iter().map(|event| (event.number, event.text)).collect();
            assert_eq!(told[0], (2, "two".into()));
            assert_eq!(told.last().unwrap(), &(3 + start as u64, "more".into()));
        }
    }
}
