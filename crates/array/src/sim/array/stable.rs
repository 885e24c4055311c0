//! What makes data stable: flushes of caches and members, the log of a file, transactions of a journal.

use units::{Instant, Nanos};

use crate::controller::JournalParams;
use crate::latency::Stage;
use crate::protocol::ProtocolKind;
use crate::sim::cache::VolumeRange;
use crate::sim::request::{Doing, HostRequest};
use crate::sim::traffic::Traffic;

use super::Array;

impl Array {
    /// Whether a write that goes through is on stable storage only after a flush of the members.
    ///
    /// A cache that loses what it holds is written through so that nothing is lost, which the members' caches would. A
    /// host that asks for stable storage gets it without any cache, too: Linux follows such a write with a flush where
    /// a drive's FUA is not used, and libata does not use it unless told so (`libata.fua`). An SMB client writes in
    /// parts and asks for the whole to be stable.
    pub(super) fn must_be_stable(
        &self,
        &HostRequest { controller, last, durable, .. }: &HostRequest,
    ) -> bool {
        let cache = self.nodes[controller as usize].cache.as_ref();
        let volatile = cache.is_some_and(|cache| !cache.is_protected());
        let whole = last || !matches!(self.protocol.kind, ProtocolKind::Smb1 | ProtocolKind::Smb2);
        let forces = self.params.journal.is_some_and(|journal| journal.force.is_some());
        (volatile || durable) && whole && (self.params.flush_members || forces)
    }

    /// Has all that was acknowledged of a volume reach stable storage, then answers.
    ///
    /// Whichever controller holds it, and nothing of other volumes: SYNCHRONIZE CACHE is addressed to a logical unit
    /// (SBC-4), NVMe's Flush to a namespace.
    pub(super) fn flush(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let volume = self.volumes[traffic.requests[place].lun].range;
        let volatile = self.working_caches().filter(|cache| !cache.is_protected());
        let waits = volatile.map(|cache| u32::from(cache.drain(volume, place))).sum();
        traffic.requests[place].pending = waits;
        if waits == 0 {
            return self.flush_members(traffic, place, ready);
        }
        self.destage_all(traffic);
    }

    /// A cache has been emptied for a flush: the members are next once all have.
    pub(in crate::sim) fn drained(&mut self, traffic: &mut Traffic, place: u32) {
        let now = traffic.time.now();
        traffic.requests.trace(place).wait(Stage::Flush, now);
        let pending = &mut traffic.requests[place].pending;
        debug_assert!(*pending > 0, "a flush must wait for each cache once");
        *pending -= 1;
        if *pending > 0 {
            return;
        }
        match traffic.requests[place].doing {
            Doing::Asked => self.flush_members(traffic, place, now),
            doing => {
                self.next_step(traffic, place, doing);
            }
        }
    }

    /// Passes a flush on to the members, where the array does that, and answers.
    ///
    /// A volume has its share of every member of its set, and a drive empties all of its buffer: ATA's FLUSH CACHE
    /// knows no addresses.
    fn flush_members(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let set = self.volumes[traffic.requests[place].lun].range.set;
        let spec = Self::operation(traffic, place, set, ready);
        if !self.params.flush_members || !self.back.flush(&mut traffic.time, spec) {
            traffic.respond(place, ready);
        }
    }

    /// Has the members put a write on their media that the host has forced there, and answers.
    fn force_members(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let set = self.volumes[traffic.requests[place].lun].range.set;
        let spec = Self::operation(traffic, place, set, ready);
        if !self.params.flush_members || !self.back.force(&mut traffic.time, spec) {
            traffic.respond(place, ready);
        }
    }

    /// A step of a write has ended. Whether it was the last: [`Array::deliver`] is next.
    pub(super) fn next_step(&mut self, traffic: &mut Traffic, place: u32, ended: Doing) -> bool {
        let now = traffic.time.now();
        traffic.requests[place].doing = Doing::Asked;
        match (ended, self.params.journal) {
            (Doing::Filling, _) => self.filled(traffic, place),
            (Doing::Stable, None) if traffic.requests[place].durable => {
                self.force_members(traffic, place, now);
            }
            (Doing::Stable, None) => self.flush_members(traffic, place, now),
            (Doing::Stable, Some(JournalParams { force: Some(force), .. })) => {
                self.force_log(traffic, place, force);
            }
            (Doing::Stable, Some(journal)) => {
                let set = self.volumes[traffic.requests[place].lun].range.set;
                if self.commits[set as usize].join(place) {
                    self.begin_commit(traffic, place, journal);
                }
            }
            (Doing::Recording, _) => self.flush_commit(traffic, place),
            (Doing::Committing, _) => {
                self.end_commit(traffic, place);
                return true;
            }
            (Doing::Asked, _) => return true,
        }
        false
    }

    /// Has the log of the file that a volume is forced for a write to it, after those before it, and answers.
    fn force_log(&mut self, traffic: &mut Traffic, place: u32, force: Nanos) {
        let now = traffic.time.now();
        let ended = self.files[traffic.requests[place].lun as usize].force(now, force);
        traffic.requests.trace(place).pass(Stage::Journal, ended, force);
        traffic.respond(place, ended);
    }

    /// Begins the transaction that `leader` stands for: its record, and then the flush that makes it stable.
    fn begin_commit(&mut self, traffic: &mut Traffic, leader: u32, journal: JournalParams) {
        let now = traffic.time.now();
        let VolumeRange { set, from, to } = self.volumes[traffic.requests[leader].lun].range;
        let Some(record) = self.commits[set as usize].record(journal, from, to) else {
            return self.flush_commit(traffic, leader);
        };
        traffic.requests[leader].doing = Doing::Recording;
        let spec = Self::operation(traffic, leader, set, now);
        if self.back.write(&mut traffic.time, spec, &[record]).is_err() {
            traffic.fail(leader, now);
            self.end_commit(traffic, leader);
        }
    }

    /// Flushes the members for a transaction whose record is written.
    fn flush_commit(&mut self, traffic: &mut Traffic, leader: u32) {
        let now = traffic.time.now();
        let set = self.volumes[traffic.requests[leader].lun].range.set;
        let spec = Self::operation(traffic, leader, set, now);
        traffic.requests[leader].doing = Doing::Committing;
        if !self.back.flush(&mut traffic.time, spec) {
            traffic.respond(leader, now);
            self.end_commit(traffic, leader);
        }
    }

    /// A transaction has ended: answers those that `leader` stood for, and begins the next if any wait for it.
    fn end_commit(&mut self, traffic: &mut Traffic, leader: u32) {
        let now = traffic.time.now();
        let set = self.volumes[traffic.requests[leader].lun].range.set;
        let commits = &mut self.commits[set as usize];
        let (stable, next) = commits.end();
        for &place in stable.iter().filter(|&&place| place != leader) {
            traffic.requests.trace(place).wait(Stage::Journal, now);
            traffic.respond(place, now);
        }
        if let (Some(next), Some(journal)) = (next, self.params.journal) {
            traffic.requests.trace(next).wait(Stage::Journal, now);
            self.begin_commit(traffic, next, journal);
        }
    }
}
