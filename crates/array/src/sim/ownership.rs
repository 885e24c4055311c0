//! Which controller serves a volume, and what becomes of dirty data when that changes.
//!
//! **Invariant:** a volume is served by one controller at a time, and by none while its old one has to write out what
//! is dirty of it.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::controller::{Handover, Ownership};
use crate::latency::Stage;

use super::array::Array;
use super::traffic::Traffic;
use super::volume::OwnershipMove;

impl Array {
    /// The controller that serves a volume.
    #[inline]
    pub fn owner(&self, lun: u32) -> u32 {
        self.volumes[lun].owner
    }

    /// Stops a controller: see [`Sim::fail_controller`](super::Sim::fail_controller).
    pub fn fail_controller(&mut self, traffic: &mut Traffic, controller: u32) {
        let now = traffic.time.now();
        let Some(node) = self.nodes.get_mut(controller as usize) else { return };
        node.alive = false;
        let writers = node.cache.as_mut().map(|cache| std::mem::take(&mut cache.writers));
        for place in writers.into_iter().flatten() {
            traffic.requests.trace(place).wait(Stage::CacheRoom, now);
            traffic.lose(place);
        }
        if let Some(partner) = self.partner_of(controller) {
            for lun in 0..narrow::<u32>(self.volumes.each().len()) {
                self.take_over_dirty(traffic, lun, controller, partner);
                if self.owner(lun) == controller {
                    self.volumes.give(lun, partner, now + self.params.takeover);
                }
            }
        }
        let mut forsaken = Vec::new();
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            cache.forsake(&mut forsaken);
        }
        // What they wait for is gone.
        forsaken.into_iter().for_each(|place| self.drained(traffic, place));
        self.end_moves(traffic);
        debug_assert!(
            self.partner_of(controller).is_none()
                || self.volumes.each().all(|volume| volume.owner != controller),
            "a controller that has failed must serve nothing that its partner can",
        );
    }

    /// Brings a controller back, with its volumes.
    pub fn mend_controller(&mut self, traffic: &mut Traffic, controller: u32) {
        if let Some(node) = self.nodes.get_mut(controller as usize) {
            node.alive = true;
            self.keep_ticking(traffic, controller);
        }
        self.fail_back(traffic);
    }

    /// Gives volumes that have moved back to the controllers they belong to, where these work.
    pub fn fail_back(&mut self, traffic: &mut Traffic) {
        for lun in 0..narrow::<u32>(self.volumes.each().len()) {
            let home = self.volumes[lun].home;
            if self.owner(lun) != home && self.is_alive(home) {
                self.move_volume(traffic, lun, home);
            }
        }
    }

    /// Moves a volume to `controller`; nothing is served meanwhile, and its dirty data leave first, or move along.
    ///
    /// Writes that wait for room at the old controller are refused, and the host sends them again.
    pub(super) fn move_volume(&mut self, traffic: &mut Traffic, lun: u32, controller: u32) {
        let from = std::mem::replace(&mut self.volumes[lun].owner, controller);
        debug_assert_ne!(from, controller, "a volume must move from one controller to the other");
        if self.volumes.is_moving(lun) || self.params.ownership == Ownership::Symmetric {
            return;
        }
        if self.params.handover == Handover::Mirror {
            self.take_over_dirty(traffic, lun, from, controller);
        }
        let range = self.volumes[lun].range;
        let mut refused = Vec::new();
        if let Some(cache) = &mut self.nodes[from as usize].cache {
            cache.urge(range);
            let theirs = |place: &u32| traffic.requests[*place].lun == lun;
            refused.extend(cache.writers.iter().copied().filter(theirs));
            cache.writers.retain(|place| !theirs(place));
        }
        for place in refused {
            traffic.refuse(place, Stage::CacheRoom);
        }
        self.volumes.begin_move(lun, from);
        self.destage(traffic, from);
    }

    /// Goes on with the moves of volumes of which their old controllers hold nothing dirty any more.
    pub(super) fn end_moves(&mut self, traffic: &mut Traffic) {
        let mut number = 0;
        while let Some(&OwnershipMove { lun, from, .. }) = self.volumes.moving(number) {
            if self.is_leaving(from, lun) {
                number += 1;
                continue;
            }
            let time = match self.params.ownership {
                Ownership::Transfer { time } => time,
                Ownership::Symmetric | Ownership::Forward => Nanos::ZERO,
            };
            let at: Instant = traffic.time.now() + time;
            self.volumes.end_move(traffic, number, at);
        }
    }

    /// Whether a working controller has dirty data of a volume.
    fn is_leaving(&self, controller: u32, lun: u32) -> bool {
        let (node, range) = (&self.nodes[controller as usize], self.volumes[lun].range);
        node.alive && node.cache.as_ref().is_some_and(|cache| cache.is_leaving(range))
    }

    /// Gives what is dirty of a volume at one controller to the other, which has it in its mirror.
    fn take_over_dirty(&mut self, traffic: &mut Traffic, lun: u32, from: u32, to: u32) {
        let range = self.volumes[lun].range;
        let Ok([from, to_node]) = self.nodes.get_disjoint_mut([from as usize, to as usize]) else { return };
        let (Some(old), Some(new)) = (&mut from.cache, &mut to_node.cache) else { return };
        if !old.mirrors() {
            return;
        }
        new.take_over(old, range);
        let mut flushes = Vec::new();
        old.forsake(&mut flushes);
        // What they wait for may be with the one now or with the other.
        for place in flushes {
            let range = self.volumes[traffic.requests[place].lun].range;
            let waits = self.working_caches().map(|cache| u32::from(cache.drain(range, place))).sum::<u32>();
            traffic.requests[place].pending += waits;
            self.drained(traffic, place);
        }
        self.keep_ticking(traffic, to);
    }
}
