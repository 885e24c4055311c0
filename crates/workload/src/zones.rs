//! Zones that are written in order: how far each is written, which of them are open, and who has one in hand.
//!
//! The rules are those of fio's `zonemode=zbd`. Addresses are drawn as without zones; a write then goes to the write pointer
//! of its zone, a read to what is written. Of a device with zones of its own, states are what it has reported, and a
//! reset is a [`ZoneCall`] that whoever drives the job carries out between two requests.
//!
//! **Invariants:** a write begins at the write pointer of its zone and does not pass its capacity. While requests of one
//! worker are in flight in a zone, no other worker has any there; of a device's zone one write alone is in flight, since
//! nothing below keeps two in order.

#[cfg(test)]
mod device_tests;
mod reads;
mod state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use units::Bytes;
use units::convert::narrow;

use crate::address::{Region, RegionShare};
use crate::spec::Zones;
use crate::{Op, Token};

pub use state::{DeviceZone, ZoneAccess, ZoneAction, ZoneCall, ZoneStates, ZoneWait};
use state::{FileZones, Limits, Zone};

/// The most zones of a target that are kept account of.
pub(crate) const MOST_ZONES: u64 = 1_000_000;

/// How one worker goes through zones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoneRules {
    /// What the workload says; it has a size.
    pub zones: Zones,
    /// What it writes stays: its zones are empty when it begins, and none that is full is written again.
    pub keeps: bool,
    /// One zone after the other, whatever was drawn.
    pub streams: bool,
}

/// What becomes of a request that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// It goes there. A stream has passed over `left_out` bytes before it.
    Placed {
        /// Distance from the start of the file.
        at: Bytes,
        /// Its length, at most the one that was drawn.
        len: u32,
        /// Bytes.
        left_out: u64,
    },
    /// Its zone is in other hands, or has to end what it does first.
    Held,
    /// There is nothing to read, or no zone that may be written.
    Nothing,
    /// The zone's device is to do that first; [`crate::Job::zone_answered`] takes what it says.
    Calls(ZoneCall),
}

/// One worker among the zones of its files.
#[derive(Debug)]
pub(crate) struct Zoned {
    rules: ZoneRules,
    size: u64,
    capacity: u64,
    /// Ascending.
    sizes: Vec<u32>,
    /// Of the used part of each file; whole zones.
    region: (u64, u64),
    first_file: u16,
    files: Vec<File>,
    states: ZoneStates,
    /// Where its zone was in other hands when it was placed last.
    pub wait: Option<ZoneWait>,
    /// Tells it from the others on the same zones.
    worker: u32,
    /// The file and zone of the request in each slot, and whether it writes.
    in_hand: Vec<Option<(u16, u32, bool)>>,
    /// What its device is asked for, and the zone.
    calling: Option<(ZoneCall, u32)>,
    /// Whether the request that waits has been counted towards the next reset.
    is_counted: bool,
    pub resets: u64,
}

#[derive(Debug)]
struct File {
    state: Arc<Mutex<FileZones>>,
    /// Where a stream goes on, and what it has left out to get there.
    cursor: u64,
    left_out: u64,
}

impl Zoned {
    /// Of a worker that is `part` of those that share `region`, with requests of these sizes in files of these numbers. Its
    /// zones are its own until they are shared.
    pub(crate) fn new(
        rules: ZoneRules,
        (region, part): (Region, RegionShare),
        mut sizes: Vec<u32>,
        files: std::ops::Range<u16>,
        depth: u32,
    ) -> Zoned {
        let (size, capacity) = rules.zones.layout().expect("a worker among zones has zones");
        let (start, zones) = (region.start.get(), region.len.get() / size.get());
        let cut = |index: u32| {
            start + narrow::<u64>(u128::from(zones) * u128::from(index) / u128::from(part.of)) * size.get()
        };
        let own = if rules.streams { (cut(part.index), cut(part.index + 1)) } else { (cut(0), cut(part.of)) };
        assert!(own.0 < own.1 && own.0.is_multiple_of(size.get()), "a worker has whole zones");
        sizes.sort_unstable();
        assert!(sizes.first().is_some_and(|size| *size > 0), "a request of no size fills no zone");
        let mut zoned = Zoned {
            rules,
            size: size.get(),
            capacity: capacity.get(),
            sizes,
            region: own,
            first_file: files.start,
            files: Vec::new(),
            states: ZoneStates::default(),
            wait: None,
            worker: 0,
            in_hand: vec![None; depth as usize],
            calling: None,
            is_counted: false,
            resets: 0,
        };
        zoned.share(&ZoneStates::default(), files.map(|file| file.to_string()));
        zoned
    }

    /// From now on its zones are those of `states` under these names, one for each of its files.
    pub(crate) fn share(&mut self, states: &ZoneStates, names: impl Iterator<Item = String>) {
        let is_idle = self.calling.is_none() && self.in_hand.iter().all(Option::is_none);
        assert!(is_idle, "zones are shared before the first request");
        self.worker = states.next_worker();
        self.states = states.clone();
        let zones = narrow::<usize>(self.region.1 / self.size);
        // What is verified begins with empty zones: none of them may be reset later.
        let emptied = if self.rules.keeps { self.own_zones() } else { 0..0 };
        let own = narrow::<usize>(self.region.0 / self.size)..zones;
        let file = |name: String| {
            let shared = states.of(name, self.size, self.capacity);
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            state.reach(zones, self.capacity);
            match state.is_device {
                // Whoever has told of it has emptied them. Of the others nothing counts, as in fio.
                true => state.written = state.zones[own.clone()].iter().map(Zone::in_order).sum(),
                false => emptied.clone().for_each(|zone| state.empty(zone)),
            }
            drop(state);
            File { state: shared, cursor: self.region.0, left_out: 0 }
        };
        self.files = names.map(file).collect();
    }

    /// The numbers of its files in requests.
    pub(crate) fn file_numbers(&self) -> std::ops::Range<u16> {
        self.first_file..self.first_file + narrow::<u16>(self.files.len())
    }

    /// Where the request goes that was drawn for `drawn`, of `len` bytes; a flush goes where it would. Placed, it has its
    /// zone in hand until [`Zoned::ended`]. A stream that would leave out all of `budget` before it finds nothing.
    pub(crate) fn place(&mut self, request: (Op, u16, Bytes, u32), token: Token, budget: u64) -> Placing {
        // Noted before zones are looked at: what is let go meanwhile is not waited for.
        let wait = self.states.wait();
        let placing = self.placed(request, token, budget);
        self.wait = (placing == Placing::Held).then_some(wait);
        placing
    }

    fn placed(
        &mut self,
        (op, file, drawn, len): (Op, u16, Bytes, u32),
        token: Token,
        budget: u64,
    ) -> Placing {
        if op == Op::Flush {
            return Placing::Placed { at: drawn, len, left_out: 0 };
        }
        let own = usize::from(file - self.first_file);
        let shared = self.files[own].state.clone();
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, left_out) = match self.rules.streams {
            true => (self.files[own].cursor, self.files[own].left_out),
            false => (drawn.get(), 0),
        };
        // Before a zone is reset for what is not written any more.
        if left_out > 0 && left_out >= budget {
            return Placing::Nothing;
        }
        let found = match op {
            Op::Read if self.rules.zones.reads_beyond => {
                // A device reads no two zones at a time.
                let room = if state.is_device { self.end_of(from) - from } else { u64::MAX };
                Ok(ZonedRequest { at: from, len: self.fitting(len, room), left_out, zone: None })
            }
            Op::Read if self.rules.streams => self.next_written(&state, from, (len, left_out)),
            Op::Read => self.near(&state, from, len),
            _ => self.write(&mut state, from, (len, left_out)),
        };
        let found = match found {
            Ok(found) if found.left_out > 0 && found.left_out >= budget => return Placing::Nothing,
            Ok(found) => found,
            Err(Miss::Calls(zone, action)) => {
                return Placing::Calls(self.call(&mut state, (file, zone), action));
            }
            Err(Miss::Held) => return Placing::Held,
            Err(Miss::Nothing) => return Placing::Nothing,
        };
        let (at, len) = (found.at, found.len);
        if let Some(zone) = found.zone {
            let is_device = state.is_device;
            let its = &mut state.zones[zone as usize];
            debug_assert!(its.in_flight == 0 || its.holder == self.worker, "a zone is in one worker's hands");
            (its.holder, its.in_flight) = (self.worker, its.in_flight + 1);
            let before = self.in_hand[token.0 as usize].replace((file, zone, op == Op::Write));
            debug_assert!(before.is_none(), "a request has one zone in hand");
            if op == Op::Write {
                let end = at - u64::from(zone) * self.size + u64::from(len);
                debug_assert_eq!(its.written + u64::from(len), end, "a write begins at the write pointer");
                debug_assert!(end <= its.capacity, "a write passes the capacity of its zone");
                debug_assert_eq!(its.writing, 0, "of a device's zone one write alone is in flight");
                its.writing = if is_device { len.into() } else { 0 };
                state.set_written(zone, end);
            }
        }
        let usable = state.zones[self.zone_of(at) as usize].capacity;
        drop(state);
        self.is_counted = false;
        self.go_on(own, (op, usable), at + u64::from(len));
        Placing::Placed { at: Bytes::new(at), len, left_out: found.left_out }
    }

    /// Takes a zone in hand while its device is asked.
    fn call(&mut self, state: &mut FileZones, (file, zone): (u16, u32), action: ZoneAction) -> ZoneCall {
        debug_assert!(state.is_device && self.calling.is_none(), "a worker has one call at a time");
        let its = &mut state.zones[zone as usize];
        debug_assert!(its.in_flight == 0, "a zone is reset and reported between its requests");
        (its.holder, its.in_flight) = (self.worker, 1);
        let call = ZoneCall { file, at: Bytes::new(self.start_of(zone)), len: Bytes::new(self.size), action };
        self.calling = Some((call, zone));
        call
    }

    /// What its device is asked for, if it is.
    pub(crate) fn calls(&self) -> Option<ZoneCall> {
        self.calling.map(|(call, _)| call)
    }

    /// The device has done what it was asked for; what it reports of the zone, where that is more than that it is empty.
    pub(crate) fn answered(&mut self, told: Option<DeviceZone>) {
        let Some((call, zone)) = self.calling.take() else { return };
        let shared = &self.files[usize::from(call.file - self.first_file)].state;
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        self.resets += u64::from(call.action == ZoneAction::Reset);
        match told.map(Zone::told) {
            None => state.empty(zone),
            Some(told) => {
                state.set_written(zone, told.written);
                state.zones[zone as usize].access = told.access;
            }
        }
        let its = &mut state.zones[zone as usize];
        debug_assert!(
            its.holder == self.worker && its.in_flight == 1,
            "a zone whose state is read belongs to one worker"
        );
        (its.is_unsure, its.in_flight) = (false, 0);
        drop(state);
        self.states.release();
    }

    /// The request in that slot has ended: its zone may go to others, and is closed where it is full.
    pub(crate) fn ended(&mut self, token: Token, went_well: bool) {
        let Some((file, zone, writes)) = self.in_hand[token.0 as usize].take() else { return };
        let mut state = self.files[usize::from(file - self.first_file)]
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let its = &mut state.zones[zone as usize];
        debug_assert!(its.holder == self.worker && its.in_flight > 0, "who ends a request has its zone");
        its.in_flight -= 1;
        if writes {
            its.is_unsure |= its.writing > 0 && !went_well;
            its.writing = 0;
        }
        let is_free = its.in_flight == 0;
        if is_free && is_full(its, u64::from(self.sizes[0])) {
            state.close(zone);
        }
        drop(state);
        if is_free {
            self.states.release();
        }
    }

    fn smallest(&self) -> u64 {
        u64::from(self.sizes[0])
    }

    /// Whether a zone has no room for a write.
    fn is_full(&self, its: &Zone) -> bool {
        is_full(its, self.smallest())
    }

    /// The largest request that `len` and `room` have room for.
    fn fitting(&self, len: u32, room: u64) -> u32 {
        if u64::from(len) <= room {
            return len;
        }
        let fits = |size: &&u32| u64::from(**size) <= room && **size <= len;
        self.sizes.iter().rev().find(fits).copied().unwrap_or(self.sizes[0])
    }

    /// The zone of an address within the region.
    fn zone_of(&self, at: u64) -> u32 {
        narrow::<u32>(at.clamp(self.region.0, self.region.1 - 1) / self.size)
    }

    fn start_of(&self, zone: u32) -> u64 {
        u64::from(zone) * self.size
    }

    /// The end of the zone of an address.
    fn end_of(&self, at: u64) -> u64 {
        self.start_of(self.zone_of(at)) + self.size
    }

    fn own_zones(&self) -> std::ops::Range<u32> {
        narrow::<u32>(self.region.0 / self.size)..narrow::<u32>(self.region.1 / self.size)
    }

    /// Where a stream is next, after a request that ended at `end` of a zone that holds `capacity`: behind the zone where that
    /// has no room for another.
    fn go_on(&mut self, own: usize, (op, capacity): (Op, u64), end: u64) {
        let zone = self.zone_of(end - 1);
        // Only what is written, or read where it was, ends with the capacity.
        let reads_all = op == Op::Read && self.rules.zones.reads_beyond;
        let usable = if reads_all { self.size } else { capacity };
        let (next, passed) = match end + self.smallest() > self.start_of(zone) + usable {
            true => self.behind(zone, end),
            false => (end, 0),
        };
        debug_assert!(
            (self.region.0..self.region.1).contains(&next),
            "a stream leaves the zones of its worker"
        );
        let file = &mut self.files[own];
        (file.cursor, file.left_out) = (next, passed);
    }

    /// Where a stream goes on behind a zone in which it is at `at`, and what it leaves out of that zone.
    fn behind(&self, zone: u32, at: u64) -> (u64, u64) {
        let end = self.start_of(zone) + self.size;
        let next = end.saturating_add(self.rules.zones.skip.map_or(0, Bytes::get));
        (if next >= self.region.1 { self.region.0 } else { next }, end - at)
    }

    /// The write pointer of the zone that a write goes to, which is reset where it is full or its turn has come.
    fn write(
        &mut self,
        state: &mut FileZones,
        from: u64,
        (len, left_out): (u32, u64),
    ) -> Result<ZonedRequest, Miss> {
        let zone = self.writable(state, from)?;
        if state.zones[zone as usize].access == ZoneAccess::Anywhere {
            return Ok(self.anywhere(from, (len, left_out)));
        }
        self.is_free(state, zone)?;
        self.count_towards_reset(state, zone);
        let its = state.zones[zone as usize];
        let is_reset = self.is_full(&its) || its.reset_due;
        if its.in_flight > 0 && (is_reset || its.writing > 0) {
            return Err(Miss::Held);
        }
        match is_reset {
            true if state.is_device && its.written > 0 => {
                return Err(Miss::Calls(zone, ZoneAction::Reset));
            }
            true => {
                self.resets += u64::from(its.written > 0);
                state.empty(zone);
            }
            false => {}
        }
        let its = &state.zones[zone as usize];
        let (at, len) = (self.start_of(zone) + its.written, self.fitting(len, its.capacity - its.written));
        // What another has written of a zone is passed over.
        let passed =
            if self.rules.streams && self.zone_of(from) == zone { at.saturating_sub(from) } else { 0 };
        Ok(ZonedRequest { at, len, left_out: left_out + passed, zone: Some(zone) })
    }

    /// Of the writes beyond the threshold each so many resets its zone.
    fn count_towards_reset(&mut self, state: &mut FileZones, zone: u32) {
        let Some(part) = self.rules.zones.resets.map(units::Share::get).filter(|part| *part > 0.0) else {
            return;
        };
        let above = self.rules.zones.resets_above.map_or(0.0, units::Share::get);
        let is_above = state.written as f64 >= (self.region.1 - self.region.0) as f64 * above;
        if self.is_counted || !is_above {
            return;
        }
        self.is_counted = true;
        state.towards_reset += part;
        // Eight eighths are one reset, whatever they sum to.
        if state.towards_reset > 1.0 - 1e-9 {
            state.towards_reset -= 1.0;
            debug_assert!(state.towards_reset < 1.0, "a write owes one reset at most");
            state.zones[zone as usize].reset_due = true;
        }
    }

    /// That no other worker has the zone in hand, and that it is known where its write pointer is.
    fn is_free(&self, state: &FileZones, zone: u32) -> Result<(), Miss> {
        let its = &state.zones[zone as usize];
        match its.in_flight > 0 {
            true if its.holder != self.worker || its.is_unsure => Err(Miss::Held),
            false if its.is_unsure => Err(Miss::Calls(zone, ZoneAction::Report)),
            _ => Ok(()),
        }
    }

    /// The zone that a write for an address goes to: its own where that may be written, otherwise one that is open.
    fn writable(&self, state: &mut FileZones, from: u64) -> Result<u32, Miss> {
        let drawn = self.zone_of(from);
        if state.zones[drawn as usize].access == ZoneAccess::Anywhere || self.admits(state, drawn) {
            return Ok(drawn);
        }
        let own = self.own_zones();
        let candidate = self.open_zone(state, from);
        match candidate {
            Some(zone) if !self.is_full(&state.zones[zone as usize]) => return Ok(zone),
            Some(zone) if state.zones[zone as usize].in_flight == 0 => state.close(zone),
            // It closes once its last write has ended.
            Some(_)
                if state.open.len() == own.len()
                    || !self.limits().is_some_and(|most| state.has_room(self.worker, most)) =>
            {
                return Err(Miss::Held);
            }
            Some(_) => {}
            None if !state.open.is_empty() => return Err(Miss::Nothing),
            None => {}
        }
        let from = candidate.unwrap_or(drawn) - own.start;
        let count = narrow::<u32>(own.len());
        let mut others = (1..=count).map(|far| own.start + (from + far) % count);
        let next = others.find(|zone| !state.is_open(*zone) && self.admits(state, *zone));
        let with_room = |zone: &u32| own.contains(zone) && !self.is_full(&state.zones[*zone as usize]);
        next.or_else(|| state.open.iter().map(|(zone, _)| *zone).find(with_room)).ok_or(Miss::Nothing)
    }

    /// Whether a zone may be written; it is open then, where only so many may be.
    fn admits(&self, state: &mut FileZones, zone: u32) -> bool {
        let its = &state.zones[zone as usize];
        let is_full = self.is_full(its);
        let may = its.access == ZoneAccess::InOrder && its.capacity >= self.smallest();
        if !may || (self.rules.keeps && is_full) {
            return false;
        }
        match self.limits() {
            None => true,
            Some(_) if state.is_open(zone) => !is_full,
            Some(limits) => state.open(zone, self.worker, limits),
        }
    }

    /// How many zones may be open; `None` is any number.
    fn limits(&self) -> Option<Limits> {
        let most = self.rules.zones.open?;
        Some(Limits { most, of_worker: self.rules.zones.open_of_worker.unwrap_or(most) })
    }

    /// Of the open zones that the worker may use the one that belongs to an address.
    fn open_zone(&self, state: &FileZones, from: u64) -> Option<u32> {
        let (start, end) = self.region;
        let count = state.open.len();
        let begin = u128::from(from.clamp(start, end - 1) - start) * count as u128 / u128::from(end - start);
        let own = self.own_zones();
        let mut zones =
            state.open.iter().map(|(zone, _)| *zone).cycle().skip(narrow::<usize>(begin)).take(count);
        zones.find(|zone| own.contains(zone))
    }
}

/// Whether a zone has no room for a write of so many bytes.
fn is_full(its: &Zone, smallest: u64) -> bool {
    !its.is_unsure && its.written + smallest > its.capacity
}

/// Why a request has no place yet.
enum Miss {
    Held,
    Nothing,
    /// That is to be done to a zone before.
    Calls(u32, ZoneAction),
}

/// Where a request goes.
struct ZonedRequest {
    at: u64,
    len: u32,
    left_out: u64,
    /// `None` has none in hand.
    zone: Option<u32>,
}
