//! Which path a request takes, and what happens when paths and controllers fail and come back.

use units::{Instant, Nanos};

use crate::controller::Ownership;
use crate::host::Multipath;
use crate::link::Link;

use super::Sim;
use super::event::Event;

/// A path's state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    /// When it failed, if it has.
    failed_at: Option<Instant>,
}

impl Sim {
    /// The session of `host` that a request to `lun` goes in.
    ///
    /// The host's multipath policy spreads requests over sessions as it would over paths.
    pub(super) fn choose_session(&mut self, host: u32, lun: u32) -> u32 {
        let Some(sessions) = self.plant.protocol.pinned() else { return 0 };
        let first = self.owners[lun as usize] * sessions;
        let host = &mut self.hosts[host as usize];
        let number = match self.plant.host.multipath {
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

    /// The link a request to `lun` takes from `host`, and when it can be sent at the earliest.
    ///
    /// A path that has failed is noticed after the host's timeout: what is sent on it until then waits that long, and
    /// what was on its way is lost and sent again.
    pub(super) fn choose_path(&mut self, host: u32, lun: u32, session: u32) -> (u32, Nanos) {
        let owner = self.owners[lun as usize];
        self.turn = self.turn.wrapping_add(1);
        let turn = self.turn;
        let first = match self.plant.host.multipath {
            // Nobody knows whose the volume is: the controllers are addressed in turn.
            Multipath::None => turn % self.plant.controllers.max(1),
            _ => owner,
        };
        let wanted = match self.plant.protocol.pinned() {
            Some(sessions) => self.link_of(host, first, session % sessions, sessions),
            None => self.own_link(host, lun, first, turn),
        };
        let delay = self.detection(wanted);
        let wanted = if delay.is_some() || !self.nodes[first as usize].alive {
            let live =
                |link: &u32| self.detection(*link).is_none() && self.nodes[self.end_of(*link) as usize].alive;
            let all = 0..self.links.len() as u32;
            // A twin to the same controller first, then any other.
            let twin = all.clone().filter(|link| self.end_of(*link) == first).find(live);
            twin.or_else(|| all.clone().find(live)).unwrap_or(wanted)
        } else {
            wanted
        };
        (wanted, delay.unwrap_or(Nanos::ZERO))
    }

    /// The link at `controller` that a session of a host is pinned to: sessions are dealt over the links in turn.
    fn link_of(&self, host: u32, controller: u32, session: u32, sessions: u32) -> u32 {
        let links = self.plant.links.max(1);
        controller * links + (host * sessions + session) % links
    }

    fn own_link(&self, host: u32, lun: u32, controller: u32, turn: u32) -> u32 {
        let (links, hosts) = (self.plant.links.max(1), self.plant.hosts.max(1));
        let own = (links / hosts).max(1);
        let link = |n: u32| controller * links + (host * own + n % own) % links;
        match self.plant.host.multipath {
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
        (link / self.plant.links.max(1)).min(self.plant.controllers.max(1) - 1)
    }

    /// How much longer the failure of `link` goes unnoticed, where it has failed.
    fn detection(&self, link: u32) -> Option<Nanos> {
        let failed_at = self.paths.get(link as usize)?.failed_at?;
        Some((failed_at + self.plant.host.path_timeout).saturating_since(self.now))
    }

    /// Whether a request's path has failed under it while another one lives; then it is sent again when the host's
    /// timeout has passed.
    pub(super) fn lost(&mut self, place: u32) -> bool {
        let link = self.requests[place].link;
        let Some(delay) = self.detection(link) else { return false };
        let live =
            |other: u32| self.detection(other).is_none() && self.nodes[self.end_of(other) as usize].alive;
        if !(0..self.paths.len() as u32).any(live) {
            return false;
        }
        self.events.push(self.now + delay, Event::Retry(place).pack());
        true
    }

    /// Cuts a link at an instant to come, with what is on its way there.
    pub fn fail_link_at(&mut self, link: u32, at: Instant) {
        self.events.push(at.max(self.now), Event::Cut(link).pack());
    }

    /// Cuts a link: numbers run over the links of the first controller, then of the second.
    pub fn fail_link(&mut self, link: u32) {
        if let Some(path) = self.paths.get_mut(link as usize) {
            path.failed_at = Some(self.now);
        }
    }

    /// Mends a link. Volumes that had moved go back to where they belong.
    pub fn mend_link(&mut self, link: u32) {
        if let Some(path) = self.paths.get_mut(link as usize) {
            path.failed_at = None;
        }
        self.fail_back();
    }

    /// Stops a controller: its partner takes its volumes over, and without a partner writes go through.
    pub fn fail_controller(&mut self, controller: u32) {
        let Some(node) = self.nodes.get_mut(controller as usize) else { return };
        node.alive = false;
        let Some(partner) = self.nodes.iter().position(|node| node.alive) else { return };
        for lun in 0..self.owners.len() {
            if self.owners[lun] == controller {
                self.owners[lun] = partner as u32;
                self.paused[lun] = self.now + self.plant.controller.takeover;
            }
        }
    }

    /// Brings a controller back, with its volumes.
    pub fn mend_controller(&mut self, controller: u32) {
        if let Some(node) = self.nodes.get_mut(controller as usize) {
            node.alive = true;
        }
        self.fail_back();
    }

    fn fail_back(&mut self) {
        for lun in 0..self.owners.len() {
            let home = self.plant.luns[lun].owner;
            if self.owners[lun] != home && self.nodes[home as usize].alive {
                self.move_lun(lun, home);
            }
        }
    }

    /// Moves a volume to `controller`; nothing is served meanwhile, and its dirty data leave first.
    pub(super) fn move_lun(&mut self, lun: usize, controller: u32) {
        let time = match self.plant.controller.ownership {
            Ownership::Transfer { time } => time,
            Ownership::Symmetric | Ownership::Forward => Nanos::ZERO,
        };
        self.owners[lun] = controller;
        self.paused[lun] = self.paused[lun].max(self.now) + time;
    }
}
