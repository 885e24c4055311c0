//! Which path a request takes, and what happens when paths and controllers fail and come back.
//!
//! A path that has failed is noticed after the host's time-out: what is sent on it until then waits that long, and what
//! was on its way is lost and sent again. Where no path is left, requests are kept or fail as the host is set
//! ([`NoPath`]).
//!
//! **Invariant:** a command that was lost on its way out is not carried out; one whose answer was lost is carried out
//! again. Either way it is settled once.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::controller::{Handover, Ownership};
use crate::host::{Multipath, NoPath};
use crate::latency::Stage;
use crate::link::Link;

use super::event::Event;
use super::request::HostRequest;
use super::{LOST, Sim};

/// A path's state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    /// When it failed, if it has.
    failed_at: Option<Instant>,
    /// When it was cut last.
    cut_at: Instant,
    /// How often it has been cut: what was sent before the last time has lost its connection.
    pub cuts: u32,
}

/// A request that no path is left for.
#[derive(Clone, Copy, Debug)]
pub struct QueuedWithoutPath {
    place: u32,
    /// When it fails.
    until: Instant,
}

/// A volume on its way from one controller to the other.
#[derive(Clone, Debug)]
pub struct OwnershipMove {
    lun: usize,
    /// Who served it, and has yet to write what is dirty of it.
    from: u32,
    /// Parts that came meanwhile.
    waiting: Vec<u32>,
}

impl Sim {
    /// The session of `host` that a request to `lun` goes in.
    ///
    /// The host's multipath policy spreads requests over sessions as it would over paths.
    pub(super) fn choose_session(&mut self, host: u32, lun: u32) -> u32 {
        let Some(sessions) = self.topology.protocol.pinned() else { return 0 };
        let first = self.owners[lun as usize] * sessions;
        let host = &mut self.hosts[host as usize];
        let number = match self.topology.host.multipath {
            Multipath::None | Multipath::Failover => lun % sessions,
            Multipath::RoundRobin { requests } => {
                host.dealt = host.dealt.wrapping_add(1);
                host.dealt / requests.max(1) % sessions
            }
            Multipath::LeastQueue => {
                let present = |number: &u32| host.sessions[(first + number) as usize].present();
                (0..sessions).min_by_key(present).unwrap_or(0)
            }
        };
        first + number
    }

    /// The link a request to `lun` takes from `host`, and how long it waits before it is sent there; where no path is
    /// left, when the host has noticed.
    pub(super) fn choose_path(&mut self, host: u32, lun: u32, session: u32) -> Result<(u32, Nanos), Instant> {
        let owner = self.owners[lun as usize];
        let own = &mut self.turns[host as usize * self.owners.len() + lun as usize];
        *own = own.wrapping_add(1);
        let turn = *own;
        let first = match self.topology.host.multipath {
            // Nobody knows whose the volume is: the controllers are addressed in turn.
            Multipath::None => turn % self.topology.controllers.max(1),
            _ => owner,
        };
        let wanted = match self.topology.protocol.pinned() {
            Some(sessions) => self.link_of(host, first, session % sessions, sessions),
            None => self.own_link(host, lun, first, turn),
        };
        let delay = self.detection(wanted);
        // A host that holds the devices itself has no path to lose.
        if delay.is_none() && (self.nodes[first as usize].alive || self.links.is_empty()) {
            return Ok((wanted, Nanos::ZERO));
        }
        let all = 0..narrow::<u32>(self.links.len());
        // A twin to the same controller first, then any other.
        let twin = all.clone().filter(|&link| self.end_of(link) == first).find(|&link| self.is_live(link));
        match twin.or_else(|| all.clone().find(|&link| self.is_live(link))) {
            Some(link) => Ok((link, delay.unwrap_or(Nanos::ZERO))),
            None => Err(self.now + all.filter_map(|link| self.detection(link)).max().unwrap_or(Nanos::ZERO)),
        }
    }

    fn is_live(&self, link: u32) -> bool {
        self.detection(link).is_none() && self.nodes[self.end_of(link) as usize].alive
    }

    /// The link at `controller` that a session of a host is pinned to: sessions are dealt over the links in turn.
    fn link_of(&self, host: u32, controller: u32, session: u32, sessions: u32) -> u32 {
        let links = self.topology.links.max(1);
        controller * links + (host * sessions + session) % links
    }

    fn own_link(&self, host: u32, lun: u32, controller: u32, turn: u32) -> u32 {
        let (links, hosts) = (self.topology.links.max(1), self.topology.hosts.max(1));
        let own = if links > hosts { links / hosts } else { 1 };
        // A question with one answer is not worth two divisions for every request.
        let link = |n: u32| match links {
            1 => controller,
            _ => controller * links + (host * own + n % own) % links,
        };
        match self.topology.host.multipath {
            Multipath::None | Multipath::Failover => link(lun),
            Multipath::RoundRobin { requests } => link(turn / requests.max(1)),
            Multipath::LeastQueue => {
                (0..own).map(link).min_by_key(|&link| self.booked(link)).unwrap_or_else(|| link(0))
            }
        }
    }

    /// Work that waits or is under way on a link, both ways.
    fn booked(&self, link: u32) -> Nanos {
        let wires = self.links.get(link as usize).into_iter().flat_map(Link::ways);
        wires
            .map(|(_, wire)| self.wires[wire as usize].booked())
            .fold(Nanos::ZERO, |sum, booked| sum + booked)
    }

    /// The controller at the end of a link.
    pub(super) fn end_of(&self, link: u32) -> u32 {
        let controller = if self.topology.links > 1 { link / self.topology.links } else { link };
        controller.min(self.topology.controllers.max(1) - 1)
    }

    /// How much longer the failure of `link` goes unnoticed, where it has failed.
    fn detection(&self, link: u32) -> Option<Nanos> {
        let failed_at = self.paths.get(link as usize)?.failed_at?;
        Some((failed_at + self.topology.host.path_timeout).saturating_since(self.now))
    }

    /// Whether the path of a request has been cut since it was sent.
    pub(super) fn is_cut(&self, place: u32) -> bool {
        let HostRequest { link, cuts, .. } = self.requests[place];
        self.paths.get(link as usize).is_some_and(|path| path.cuts != cuts)
    }

    /// Sends a request again whose path has been cut under it, once the host's time-out has passed.
    pub(super) fn send_again(&mut self, place: u32) {
        let Path { cut_at, .. } = self.paths[self.requests[place].link as usize];
        let at = (cut_at + self.topology.host.path_timeout).max(self.now);
        self.events.push(at, Event::Retry(place).pack());
    }

    /// A request is lost with the controller that it had come to, and sent again after the host's time-out.
    pub(super) fn lose(&mut self, place: u32) {
        self.leave_gate(place);
        self.events.push(self.now + self.topology.host.path_timeout, Event::Retry(place).pack());
    }

    /// Keeps a request for which no path is left, as the host has noticed at `noticed`, or has it fail.
    pub(super) fn queue_without_path(&mut self, place: u32, noticed: Instant) {
        let until = match self.topology.host.no_path {
            NoPath::Fail => noticed,
            NoPath::Retry(time) => noticed.saturating_add(time),
            NoPath::Queue => Instant::NEVER,
        };
        self.without_path.push(QueuedWithoutPath { place, until });
        if until < Instant::NEVER {
            self.events.push(until.max(self.now), Event::GiveUp(place).pack());
        }
    }

    /// The time of a request that no path was left for is over, unless it has found one since.
    pub(super) fn give_up(&mut self, place: u32) {
        let over = |queued: &QueuedWithoutPath| queued.place == place && queued.until <= self.now;
        if let Some(at) = self.without_path.iter().position(over) {
            self.without_path.remove(at);
            self.fail_without_path(place);
        }
    }

    /// Has all fail that wait for a path which nothing will bring back; whether there were any.
    pub(super) fn give_all_up(&mut self) -> bool {
        let queued = std::mem::take(&mut self.without_path);
        queued.iter().for_each(|queued| self.fail_without_path(queued.place));
        !queued.is_empty()
    }

    fn fail_without_path(&mut self, place: u32) {
        let request = &mut self.requests[place];
        request.failed = Some(LOST);
        request.cuts = self.paths.get(request.link as usize).map_or(0, |path| path.cuts);
        self.events.push(self.now, Event::Answer(place).pack());
    }

    /// Sends what had no path left, in order of arrival, now that there may be one.
    fn resume(&mut self) {
        for QueuedWithoutPath { place, .. } in std::mem::take(&mut self.without_path) {
            self.traces[place as usize].wait(Stage::PathLoss, self.now);
            let host = self.host_of(self.requests[place].client);
            self.transmit(place, host, self.now);
        }
    }

    /// Cuts a link at an instant to come, with what is on its way there.
    pub fn fail_link_at(&mut self, link: u32, at: Instant) {
        self.events.push(at.max(self.now), Event::Cut(link).pack());
    }

    /// Cuts a link: numbers run over the links of the first controller, then of the second.
    pub fn fail_link(&mut self, link: u32) {
        if let Some(path) = self.paths.get_mut(link as usize) {
            path.failed_at = Some(self.now);
            path.cut_at = self.now;
            path.cuts += 1;
        }
    }

    /// Mends a link. Volumes that had moved go back to where they belong.
    pub fn mend_link(&mut self, link: u32) {
        if let Some(path) = self.paths.get_mut(link as usize) {
            path.failed_at = None;
        }
        self.fail_back();
        self.resume();
    }

    /// Mends a link at an instant to come.
    pub fn mend_link_at(&mut self, link: u32, at: Instant) {
        self.events.push(at.max(self.now), Event::Mend(link).pack());
    }

    /// Stops a controller: its partner takes its volumes over, and without a partner writes go through.
    ///
    /// What the partner has in its mirror it destages; what nobody mirrored stays where it is until the controller
    /// comes back. Writes that waited for room are lost and sent again.
    pub fn fail_controller(&mut self, controller: u32) {
        let Some(node) = self.nodes.get_mut(controller as usize) else { return };
        node.alive = false;
        if let Some(cache) = &mut node.cache {
            let writers = std::mem::take(&mut cache.writers);
            for place in writers {
                self.traces[place as usize].wait(Stage::CacheRoom, self.now);
                self.lose(place);
            }
        }
        if let Some(partner) = self.partner_of(controller) {
            for lun in 0..self.owners.len() {
                self.take_over_dirty(lun, controller, partner);
                if self.owners[lun] == controller {
                    self.owners[lun] = partner;
                    self.paused[lun] = self.now + self.topology.controller.takeover;
                }
            }
        }
        let mut forsaken = Vec::new();
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            cache.forsake(&mut forsaken);
        }
        // What they wait for is gone.
        forsaken.into_iter().for_each(|place| self.drained(place));
        self.end_moves();
    }

    /// Brings a controller back, with its volumes.
    pub fn mend_controller(&mut self, controller: u32) {
        if let Some(node) = self.nodes.get_mut(controller as usize) {
            node.alive = true;
            self.keep_ticking(controller);
        }
        self.fail_back();
        self.resume();
    }

    fn fail_back(&mut self) {
        for lun in 0..self.owners.len() {
            let home = self.topology.luns[lun].owner;
            if self.owners[lun] != home && self.nodes[home as usize].alive {
                self.move_lun(lun, home);
            }
        }
    }

    /// Moves a volume to `controller`; nothing is served meanwhile, and its dirty data leave first, or move along.
    ///
    /// Writes that wait for room at the old controller are refused, and the host sends them again.
    pub(super) fn move_lun(&mut self, lun: usize, controller: u32) {
        let from = std::mem::replace(&mut self.owners[lun], controller);
        let moves_already = self.moves.iter().any(|moving| moving.lun == lun);
        if moves_already || self.topology.controller.ownership == Ownership::Symmetric {
            return;
        }
        if self.topology.controller.handover == Handover::Mirror {
            self.take_over_dirty(lun, from, controller);
        }
        let (volume, requests) = (self.volume_range(lun), &self.requests);
        let mut refused = Vec::new();
        if let Some(cache) = &mut self.nodes[from as usize].cache {
            cache.urge(volume);
            let theirs = |place: &u32| requests[*place].lun as usize == lun;
            refused.extend(cache.writers.iter().copied().filter(theirs));
            cache.writers.retain(|place| !theirs(place));
        }
        for place in refused {
            self.leave_gate(place);
            self.traces[place as usize].wait(Stage::CacheRoom, self.now);
            self.events.push(self.now, Event::Retry(place).pack());
        }
        self.paused[lun] = Instant::NEVER;
        self.moves.push(OwnershipMove { lun, from, waiting: Vec::new() });
        self.destage(from);
    }

    /// Has a part wait until its volume is served again.
    pub(super) fn wait_for_volume(&mut self, place: u32) {
        let lun = self.requests[place].lun as usize;
        match self.moves.iter_mut().find(|moving| moving.lun == lun) {
            Some(moving) => moving.waiting.push(place),
            None => self.await_owner(place),
        }
    }

    /// Has a part look again when its volume is with its new controller.
    fn await_owner(&mut self, place: u32) {
        let at = self.paused[self.requests[place].lun as usize];
        self.traces[place as usize].wait(Stage::Ownership, at);
        self.events.push(at, Event::Arrive(place).pack());
    }

    /// Goes on with the moves of volumes of which their old controllers hold nothing dirty any more.
    pub(super) fn end_moves(&mut self) {
        let mut at = 0;
        while let Some(&OwnershipMove { lun, from, .. }) = self.moves.get(at) {
            if self.is_leaving(from, lun) {
                at += 1;
                continue;
            }
            let OwnershipMove { waiting, .. } = self.moves.remove(at);
            let time = match self.topology.controller.ownership {
                Ownership::Transfer { time } => time,
                Ownership::Symmetric | Ownership::Forward => Nanos::ZERO,
            };
            self.paused[lun] = self.now + time;
            waiting.into_iter().for_each(|place| self.await_owner(place));
        }
    }

    /// Whether a working controller has dirty data of a volume.
    fn is_leaving(&self, controller: u32, lun: usize) -> bool {
        let (node, volume) = (&self.nodes[controller as usize], self.volume_range(lun));
        node.alive && node.cache.as_ref().is_some_and(|cache| cache.is_leaving(volume))
    }

    /// Gives what is dirty of a volume at one controller to the other, which has it in its mirror.
    fn take_over_dirty(&mut self, lun: usize, from: u32, to: u32) {
        let volume = self.volume_range(lun);
        let Ok([from, to_node]) = self.nodes.get_disjoint_mut([from as usize, to as usize]) else { return };
        let (Some(old), Some(new)) = (&mut from.cache, &mut to_node.cache) else { return };
        if !old.mirrors() {
            return;
        }
        new.take_over(old, volume);
        let mut flushes = Vec::new();
        old.forsake(&mut flushes);
        // What they wait for may be with the one now or with the other.
        for place in flushes {
            let volume = self.volume_range(self.requests[place].lun as usize);
            for node in self.nodes.iter_mut().filter(|node| node.alive) {
                let waits = node.cache.as_mut().is_some_and(|cache| cache.drain(volume, place));
                self.requests[place].pending += u32::from(waits);
            }
            self.drained(place);
        }
        self.keep_ticking(to);
    }
}
