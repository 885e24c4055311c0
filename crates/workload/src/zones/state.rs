//! What all workers on a file know of its zones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use units::Bytes;

/// The zones of all files and devices of a run, by the names that whoever drives its jobs has for them. All are empty at
/// first, but those that a device has told of. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct ZoneStates(Arc<States>);

/// A file's name, and the size and the capacity of its zones.
type Zoned = (String, u64, u64);

#[derive(Debug, Default)]
struct States {
    files: Mutex<BTreeMap<Zoned, Arc<Mutex<FileZones>>>>,
    /// Those with zones of their own, whatever size a workload takes them to have.
    devices: Mutex<BTreeMap<String, Arc<Mutex<FileZones>>>>,
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
    /// Takes over what a device with zones of its own says of all of them, in their order, in place of what was known. Call
    /// before its jobs share them.
    pub fn learn(&self, name: String, zones: impl IntoIterator<Item = DeviceZone>) {
        let mut state = FileZones { is_device: true, ..FileZones::default() };
        for (number, told) in (0..).zip(zones) {
            state.zones.push(Zone::told(told));
            if told.is_open {
                state.open.push((number, NOBODY));
            }
        }
        let mut devices = self.0.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices.insert(name, Arc::new(Mutex::new(state)));
    }

    /// The zones of a file that are so large and hold so much; those of a device are as it says.
    pub(super) fn of(&self, name: String, size: u64, capacity: u64) -> Arc<Mutex<FileZones>> {
        if let Some(device) = self.0.devices.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return device.clone();
        }
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

/// Opened zones before the run.
const NOBODY: u32 = u32::MAX;

/// The zones of one file.
#[derive(Debug, Default)]
pub(super) struct FileZones {
    pub zones: Vec<Zone>,
    /// They are a device's own: it is told of resets, and takes no write but at a write pointer.
    pub is_device: bool,
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
    /// Bytes from its start that can be written.
    pub capacity: u64,
    pub access: ZoneAccess,
    /// Bytes below its write pointer that a write in flight has not written yet; noted of a device alone.
    pub writing: u64,
    /// A write failed: only the device knows where its write pointer is.
    pub is_unsure: bool,
}

impl Zone {
    /// As its device says.
    pub fn told(told: DeviceZone) -> Zone {
        let (capacity, written) = (told.capacity.get(), told.written.get());
        Zone { written: written.min(capacity), capacity, access: told.access, ..Zone::default() }
    }

    /// What can be read of it.
    pub fn readable(&self) -> u64 {
        if self.access == ZoneAccess::Offline { 0 } else { self.written.saturating_sub(self.writing) }
    }

    /// What was written in order.
    pub fn in_order(&self) -> u64 {
        if self.access == ZoneAccess::InOrder { self.written } else { 0 }
    }

    /// Its number where one worker alone has it in hand.
    pub fn in_hand(&self, number: u32) -> Option<u32> {
        (self.access != ZoneAccess::Anywhere).then_some(number)
    }
}

/// What can be done to a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneAccess {
    /// It is written in order, from its write pointer on.
    #[default]
    InOrder,
    /// It is written and read anywhere (a conventional zone).
    Anywhere,
    /// It is read up to its write pointer, and cannot be written any more.
    ReadOnly,
    /// It can be neither read nor written (an offline zone).
    Offline,
}

/// One zone as a device that has its own reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceZone {
    /// What can be written of it.
    pub capacity: Bytes,
    /// From its start to its write pointer; all of its capacity where it is full or has no write pointer.
    pub written: Bytes,
    /// What can be done to it.
    pub access: ZoneAccess,
    /// It counts towards the zones that the device keeps open or active.
    pub is_open: bool,
}

/// What a zone's device is asked for, between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneCall {
    /// Which of the job's files.
    pub file: u16,
    /// The start of the zone.
    pub at: Bytes,
    /// From one zone to the next.
    pub len: Bytes,
    /// What is asked.
    pub action: ZoneAction,
}

/// What is asked of a zone's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneAction {
    /// To set the write pointer to the start of the zone; what was written is lost.
    Reset,
    /// To report the zone.
    Report,
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
    /// Makes room for so many zones that hold so much.
    pub fn reach(&mut self, zones: usize, capacity: u64) {
        if self.zones.len() < zones {
            self.zones.resize(zones, Zone { capacity, ..Zone::default() });
        }
    }

    /// Resets a zone, open or not.
    pub fn empty(&mut self, zone: u32) {
        self.set_written(zone, 0);
        self.zones[zone as usize].reset_due = false;
    }

    /// Moves the write pointer of a zone.
    pub fn set_written(&mut self, zone: u32, written: u64) {
        let its = &mut self.zones[zone as usize];
        // Of what a device has, some workers count a part alone.
        self.written = self.written.saturating_sub(its.written) + written;
        its.written = written;
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
