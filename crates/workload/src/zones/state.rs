//! What all workers on a file know of its zones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The zones of all files and devices of a run, by the names that whoever drives its jobs has for them. All are empty at
/// first. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct ZoneStates(Arc<States>);

/// A file's name, and the size and the capacity of its zones.
type Zoned = (String, u64, u64);

#[derive(Debug, Default)]
struct States {
    files: Mutex<BTreeMap<Zoned, Arc<Mutex<FileZones>>>>,
    workers: AtomicU32,
    /// How often a zone was let go.
    released: AtomicU64,
    /// Workers that wait for one.
    waiting: Mutex<u32>,
    released_one: Condvar,
}

/// That a worker waits until another one lets go of a zone.
#[derive(Clone, Debug)]
pub struct ZoneWait {
    states: ZoneStates,
    /// How often zones had been let go when it found its own in other hands.
    seen: u64,
}

impl ZoneWait {
    /// Has `wait` wait on the condition, with the lock that belongs to it, while its last argument says that no zone was let
    /// go since, or until the caller's own time is over. For drivers whose workers have threads of their own: one that
    /// looks again and again takes the processor from the worker that it waits for.
    pub fn block<W>(&self, wait: W)
    where
        W: for<'a> FnOnce(&Condvar, MutexGuard<'a, u32>, &dyn Fn() -> bool) -> MutexGuard<'a, u32>,
    {
        let states = &self.states.0;
        let mut waiting = states.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting += 1;
        let is_held = || states.released.load(Ordering::SeqCst) == self.seen;
        *wait(&states.released_one, waiting, &is_held) -= 1;
    }
}

impl ZoneStates {
    /// The zones of a file that are so large and hold so much.
    pub(super) fn of(&self, name: String, size: u64, capacity: u64) -> Arc<Mutex<FileZones>> {
        let mut files = self.0.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry((name, size, capacity)).or_default().clone()
    }

    /// What waits for the next zone that is let go.
    pub(super) fn wait(&self) -> ZoneWait {
        ZoneWait { states: self.clone(), seen: self.0.released.load(Ordering::SeqCst) }
    }

    /// Tells those that wait that a zone was let go.
    pub(super) fn release(&self) {
        self.0.released.fetch_add(1, Ordering::SeqCst);
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if *waiting > 0 {
            self.0.released_one.notify_all();
        }
    }

    /// A number that no other worker has.
    pub(super) fn next_worker(&self) -> u32 {
        self.0.workers.fetch_add(1, Ordering::Relaxed)
    }
}

/// The zones of one file.
#[derive(Debug, Default)]
pub(super) struct FileZones {
    pub zones: Vec<Zone>,
    /// Those that are open, each with the worker that opened it, in the order in which they were.
    pub open: Vec<(u32, u32)>,
    /// Bytes below all write pointers.
    pub written: u64,
    /// Of the next reset.
    pub towards_reset: f64,
}

/// One zone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Zone {
    /// Bytes from its start to its write pointer.
    pub written: u64,
    /// Who has it in hand, while requests are in flight.
    pub holder: u32,
    pub in_flight: u32,
    /// Its next write resets it.
    pub reset_due: bool,
}

/// How many zones may be open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of all workers.
    pub most: u32,
    /// Of one.
    pub of_worker: u32,
}

impl FileZones {
    /// Makes room for so many zones.
    pub fn reach(&mut self, zones: usize) {
        if self.zones.len() < zones {
            self.zones.resize(zones, Zone::default());
        }
    }

    /// Resets a zone, open or not.
    pub fn empty(&mut self, zone: u32) {
        let its = &mut self.zones[zone as usize];
        self.written -= its.written;
        (its.written, its.reset_due) = (0, false);
    }

    pub fn is_open(&self, zone: u32) -> bool {
        self.open.iter().any(|(open, _)| *open == zone)
    }

    /// Opens a zone for a worker where the limits allow it.
    pub fn open(&mut self, zone: u32, worker: u32, limits: Limits) -> bool {
        debug_assert!(!self.is_open(zone), "a zone is opened once");
        let may = self.has_room(worker, limits);
        if may {
            self.open.push((zone, worker));
        }
        may
    }

    /// Whether a worker may open one more.
    pub fn has_room(&self, worker: u32, limits: Limits) -> bool {
        let own = self.open.iter().filter(|(_, opener)| *opener == worker).count();
        self.open.len() < limits.most as usize && own < limits.of_worker as usize
    }

    /// Closes a zone, if it is open.
    pub fn close(&mut self, zone: u32) {
        self.open.retain(|(open, _)| *open != zone);
    }
}
