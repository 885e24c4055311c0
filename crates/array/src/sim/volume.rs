//! Volumes, and the controllers that serve them.
//!
//! **Invariant:** a part that waits for a volume looks again once, when its new controller serves it.

use std::ops::{Index, IndexMut};

use units::Instant;

use crate::latency::Stage;

use super::cache::VolumeRange;
use super::event::Event;
use super::traffic::Traffic;
use crate::topology::LunPlacement;

/// A volume at work.
#[derive(Clone, Copy, Debug)]
pub struct Volume {
    /// Where it lies.
    pub range: VolumeRange,
    /// The controller it belongs to.
    pub home: u32,
    /// The controller that serves it.
    pub owner: u32,
    /// Until when it is not served, while it changes hands.
    pub paused: Instant,
}

/// A volume on its way from one controller to the other.
#[derive(Clone, Debug)]
pub struct OwnershipMove {
    /// Which.
    pub lun: u32,
    /// Who served it, and has yet to write what is dirty of it.
    pub from: u32,
    /// Parts that came meanwhile.
    waiting: Vec<u32>,
}

/// All volumes, by number.
#[derive(Debug)]
pub struct Volumes {
    volumes: Vec<Volume>,
    /// Those that change hands and have something dirty at the old controller.
    moves: Vec<OwnershipMove>,
}

impl Volumes {
    /// Each served by the controller it belongs to.
    pub fn new(luns: &[LunPlacement]) -> Volumes {
        let volume = |&LunPlacement { set, start, size, owner }: &LunPlacement| Volume {
            range: VolumeRange { set, from: start.0, to: start.0 + size.0 },
            home: owner,
            owner,
            paused: Instant::START,
        };
        Volumes { volumes: luns.iter().map(volume).collect(), moves: Vec::new() }
    }

    /// Each of them, by number.
    pub fn each(&self) -> std::slice::Iter<'_, Volume> {
        self.volumes.iter()
    }

    /// Gives a volume to `controller`, which serves it from `at` on.
    pub fn give(&mut self, lun: u32, controller: u32, at: Instant) {
        let volume = &mut self[lun];
        (volume.owner, volume.paused) = (controller, at);
    }

    /// Whether a volume is on its way already.
    pub fn is_moving(&self, lun: u32) -> bool {
        self.moves.iter().any(|moving| moving.lun == lun)
    }

    /// Begins the way of a volume from controller `from`: nobody serves it.
    pub fn begin_move(&mut self, lun: u32, from: u32) {
        debug_assert!(!self.is_moving(lun), "a volume must be on one way at a time");
        self[lun].paused = Instant::NEVER;
        self.moves.push(OwnershipMove { lun, from, waiting: Vec::new() });
    }

    /// The way with that number, of those that have not ended.
    pub fn moving(&self, number: usize) -> Option<&OwnershipMove> {
        self.moves.get(number)
    }

    /// Ends it: the volume is served from `at` on.
    pub fn end_move(&mut self, traffic: &mut Traffic, number: usize, at: Instant) {
        let OwnershipMove { lun, waiting, .. } = self.moves.remove(number);
        self[lun].paused = at;
        waiting.into_iter().for_each(|place| self.await_owner(traffic, place));
    }

    /// Has a part wait until its volume is served again.
    pub fn wait(&mut self, traffic: &mut Traffic, place: u32) {
        let lun = traffic.requests[place].lun;
        match self.moves.iter_mut().find(|moving| moving.lun == lun) {
            Some(moving) => moving.waiting.push(place),
            None => self.await_owner(traffic, place),
        }
    }

    /// Has a part look again when its volume is with its new controller.
    fn await_owner(&self, traffic: &mut Traffic, place: u32) {
        let at = self[traffic.requests[place].lun].paused;
        debug_assert!(at < Instant::NEVER, "a volume without waiting writes must be served");
        traffic.requests.trace(place).wait(Stage::Ownership, at);
        traffic.time.at(at, Event::Arrive(place));
    }
}

impl Index<u32> for Volumes {
    type Output = Volume;
    fn index(&self, lun: u32) -> &Volume {
        &self.volumes[lun as usize]
    }
}

impl IndexMut<u32> for Volumes {
    fn index_mut(&mut self, lun: u32) -> &mut Volume {
        &mut self.volumes[lun as usize]
    }
}
