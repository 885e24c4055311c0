//! What has happened, in the words of a controller's event log.

use std::fs::File;
use std::io::Write;
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
    /// Counted from 1.
    pub number: u64,
    /// Since the server started.
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
    events: Vec<Event>,
    count: u64,
    file: Option<File>,
}

impl EventLog {
    /// A log that is also appended to `file`, one JSON object a line.
    pub fn new(file: Option<File>) -> EventLog {
        EventLog { clock: Clock::start(), kept: Mutex::new(Kept { file, ..Kept::default() }) }
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
        debug_assert!(
            kept.events.last().is_none_or(|last| last.number + 1 == event.number),
            "numbers follow each other"
        );
        if kept.events.len() == MOST {
            kept.events.remove(0);
        }
        kept.events.push(event);
        assert!(kept.events.len() <= MOST, "the log in memory is bounded");
    }

    /// Those with a number above `after`.
    pub fn since(&self, after: u64) -> Vec<Event> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.events.iter().filter(|event| event.number > after).cloned().collect()
    }
}
