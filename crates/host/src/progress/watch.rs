//! A thread that asks again and again how far it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use units::{Instant, Nanos};

use super::{ProgressError, Reading, Source};
use crate::clock::Clock;
use crate::unwinding::whole;

const MOST_OFTEN: Nanos = Nanos::from_millis(200);
const LEAST_OFTEN: Nanos = Nanos::from_secs(10);

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When it was given.
    pub at: Instant,
    /// What was said, or why nothing was.
    pub said: Result<Reading, ProgressError>,
}

/// Asks until it is dropped. Whoever is asked may take as long as it wants: nobody waits for the thread.
#[derive(Debug)]
pub struct Watcher {
    samples: Arc<Mutex<Vec<Sample>>>,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watcher {
    /// Asks `source` at once, then after each hundredth of the time so far, but not more often than five times a second
    /// and no more seldom than every ten seconds: of an hour's work as many samples are kept as of a minute's.
    pub fn start(source: Source, clock: Clock) -> std::io::Result<Watcher> {
        let samples: Arc<Mutex<Vec<Sample>>> = Arc::default();
        let ended: Arc<AtomicBool> = Arc::default();
        let (filled, end) = (samples.clone(), ended.clone());
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || {
            let started = clock.now();
            while !end.load(Ordering::Relaxed) {
                let said = source.read();
                let at = clock.now();
                let mut filled = whole(filled.lock());
                assert!(filled.last().is_none_or(|before| before.at <= at), "answers are in order of time");
                filled.push(Sample { at, said });
                drop(filled);
                let hundredth = Nanos::new(at.saturating_since(started).get() / 100);
                clock.sleep_until(at.saturating_add(hundredth.clamp(MOST_OFTEN, LEAST_OFTEN)));
            }
        })?;
        Ok(Watcher { samples, ended, thread })
    }

    /// Every answer so far, in order of time.
    pub fn samples(&self) -> Vec<Sample> {
        whole(self.samples.lock()).clone()
    }

    /// Whether it still asks. It ends by itself where it panics, and nothing new will come.
    pub fn is_asking(&self) -> bool {
        !self.thread.is_finished()
    }

    /// The last of them.
    pub fn last(&self) -> Option<Sample> {
        whole(self.samples.lock()).last().cloned()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}
