//! Storage that does not answer: seen by a thread of its own, for whoever waits for it cannot say so.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use conduct::Live;
use host::clock::Clock;
use units::{Instant, Nanos};
use workload::Progress;

use crate::terminal;
use crate::terminal::painter::Shared;

/// A target that is silent for less is said to be busy.
const SILENT: Nanos = Nanos::from_secs(3);
/// How often it is looked at.
const TICK: Duration = Duration::from_millis(500);
/// How often a plain line is printed.
const PLAIN_EVERY: Nanos = Nanos::from_secs(5);

/// Says that storage does not answer, and since when, until this is dropped.
pub struct Waiting {
    clock: Clock,
    seen: Arc<Mutex<Seen>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What was seen of the point that goes on.
#[derive(Default)]
struct Seen {
    title: String,
    /// When something was last done, or nothing was to be waited for; `None` while nothing is asked.
    moved: Option<Instant>,
    progress: Progress,
    doing: &'static str,
    said: Option<Instant>,
}

impl Waiting {
    /// Says it by whoever draws, or as plain lines. `None` where the system gives no thread.
    pub fn watch(clock: &Clock, drawn: Option<Arc<Shared>>) -> Option<Waiting> {
        let (seen, clock) = (Arc::new(Mutex::new(Seen::default())), clock.clone());
        let (end, ended) = channel();
        let (own, time) = (seen.clone(), clock.clone());
        let work = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let mut seen = lock(&own);
                let Some(text) = seen.words(time.now(), drawn.is_some()) else { continue };
                match &drawn {
                    Some(drawn) => drawn.glance().waiting = Some(text),
                    None => terminal::say(&format!("{}  {text}", seen.title)),
                }
            }
        };
        let thread = std::thread::Builder::new().name("fathom-waiting".into()).spawn(work).ok()?;
        Some(Waiting { clock, seen, end: Some(end), thread: Some(thread) })
    }

    /// Something new is begun.
    pub fn begin(&self, title: &str) {
        // Beside other ranks the first that is waited for are those.
        let moved = (!terminal::is_passed_on()).then(|| self.clock.now());
        *lock(&self.seen) = Seen { title: title.to_owned(), moved, ..Seen::default() };
    }

    /// Nothing is asked for.
    pub fn rest(&self) {
        lock(&self.seen).moved = None;
    }

    /// Takes a glance at what goes on. Whether storage is waited for, so that nothing else is to be shown.
    pub fn hear(&self, live: &Live) -> bool {
        let now = self.clock.now();
        let mut seen = lock(&self.seen);
        seen.hear(live, now);
        seen.silence(now).is_some()
    }
}

impl Seen {
    fn hear(&mut self, live: &Live, now: Instant) {
        let done = |progress: &Progress| (progress.ops, progress.bytes, progress.errors);
        let moved = done(&live.progress) != done(&self.progress) || live.doing != self.doing;
        // Between requests, and in what is no work of ours, nobody waits.
        let is_awaited = match live.doing {
            "load" => live.progress.in_flight > 0,
            "lay out" | "fill" | "trim" => true,
            _ => false,
        };
        if moved || !is_awaited || self.moved.is_none() {
            (self.moved, self.said) = (Some(now), None);
        }
        (self.progress, self.doing) = (live.progress, live.doing);
    }

    fn silence(&self, now: Instant) -> Option<Nanos> {
        self.moved.map(|moved| now.saturating_since(moved)).filter(|silence| *silence >= SILENT)
    }

    /// What is to be said now, on a line that changes or as a line of its own.
    fn words(&mut self, now: Instant, changes: bool) -> Option<String> {
        let silence = self.silence(now)?;
        if !changes && self.said.is_some_and(|said| now.saturating_since(said) < PLAIN_EVERY) {
            return None;
        }
        debug_assert!(silence >= SILENT, "a silence is shown once it is one");
        self.said = Some(now);
        let hint = terminal::ending_hint();
        let seconds = silence.get() / 1_000_000_000;
        Some(format!("waiting for storage since {seconds} s{hint}"))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It only speaks.
            let _panicked = thread.join();
        }
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::START.saturating_add(Nanos::from_secs_f64(seconds))
    }

    fn live(doing: &'static str, ops: u64, in_flight: u32) -> Live<'static> {
        let progress = Progress { ops, in_flight, ..Progress::default() };
        Live { progress, ..Live::beside(at(0.0), at(0.0), doing) }
    }

    #[test]
    fn silence_counts_from_the_last_answer_and_only_while_something_is_in_flight() {
        let mut seen = Seen { title: "[1/2] long".into(), moved: Some(at(0.0)), ..Seen::default() };
        seen.hear(&live("load", 5, 1), at(1.0));
        seen.hear(&live("load", 5, 1), at(3.9));
        assert_eq!(seen.words(at(3.9), true), None);
        seen.hear(&live("load", 5, 1), at(13.0));
        assert_eq!(seen.words(at(13.0), true).unwrap(), "waiting for storage since 12 s");
        seen.hear(&live("load", 6, 1), at(14.0));
        assert_eq!(seen.silence(at(16.0)), None, "it has answered");
        seen.hear(&live("load", 6, 0), at(60.0));
        assert_eq!(seen.silence(at(62.0)), None, "nothing was asked, as between bursts");
        seen.hear(&live("rebuild", 6, 0), at(90.0));
        assert_eq!(seen.silence(at(92.0)), None, "this is no request of ours");
    }

    #[test]
    fn a_plain_line_comes_every_five_seconds_and_a_line_that_changes_each_time() {
        let mut seen = Seen { moved: Some(at(0.0)), ..Seen::default() };
        let plain: Vec<bool> =
            (3..14).map(|second| seen.words(at(f64::from(second)), false).is_some()).collect();
        let lines: Vec<usize> = (0..plain.len()).filter(|index| plain[*index]).collect();
        assert_eq!(lines, [0, 5, 10]);
        assert!(seen.words(at(14.0), true).is_some());
        seen.moved = None;
        assert_eq!(seen.words(at(99.0), true), None);
    }
}
