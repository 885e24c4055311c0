//! Which path a request takes, and what becomes of those that no path is left for.
//!
//! A path that has failed is noticed after the host's time-out: what is sent on it until then waits that long, and what
//! was on its way is lost and sent again. Where no path is left, requests are kept or fail as the host is set
//! ([`NoPath`]).
//!
//! **Invariant:** a command that was lost on its way out is not carried out; one whose answer was lost is carried out
//! again. Either way it is settled once.

use units::{Instant, Nanos};

use crate::host::{Multipath, NoPath};

use super::array::Array;
use super::event::Event;
use super::host::Host;
use super::network::Network;
use super::request::HostRequest;
use super::traffic::Traffic;
use super::{LOST, Topology};

/// A request that no path is left for.
#[derive(Clone, Copy, Debug)]
struct QueuedWithoutPath {
    place: u32,
    /// When it fails.
    until: Instant,
}

/// How hosts choose among paths, and who waits for one.
#[derive(Debug)]
pub struct Paths {
    multipath: Multipath,
    no_path: NoPath,
    /// Sessions of a host at each controller; `None` where each command may take any link.
    pinned: Option<u32>,
    controllers: u32,
    luns: usize,
    /// Links to each controller that a host takes for its own, where it is not pinned to one.
    own: u32,
    /// Paths that each host chose for each LUN, LUN after LUN: round robin is a matter of one map of one host.
    turns: Vec<u32>,
    /// Requests that no path is left for, in order of arrival.
    queued: Vec<QueuedWithoutPath>,
}

impl Paths {
    /// Those of `topology`; nobody waits.
    pub fn new(topology: &Topology) -> Paths {
        let (hosts, links, luns) = (topology.hosts.max(1), topology.links.max(1), topology.luns.len());
        Paths {
            multipath: topology.host.multipath,
            no_path: topology.host.no_path,
            pinned: topology.protocol.pinned(),
            controllers: topology.controllers.max(1),
            luns,
            own: if links > hosts { links / hosts } else { 1 },
            turns: vec![0; hosts as usize * luns],
            queued: Vec::new(),
        }
    }

    /// The session of `host` that a request to `lun` goes in, which controller `owner` serves.
    ///
    /// The host's multipath policy spreads requests over sessions as it would over paths.
    pub fn choose_session(&self, host: &mut Host, owner: u32, lun: u32) -> u32 {
        let Some(sessions) = self.pinned else { return 0 };
        let first = owner * sessions;
        let number = match self.multipath {
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

    /// The link a request takes, and how long it waits before it is sent there; where no path is left, when the host
    /// has noticed.
    pub fn choose(
        &mut self,
        network: &Network,
        array: &Array,
        now: Instant,
        &HostRequest { host, lun, session, .. }: &HostRequest,
    ) -> Result<(u32, Nanos), Instant> {
        let own = &mut self.turns[host as usize * self.luns + lun as usize];
        *own = own.wrapping_add(1);
        let turn = *own;
        let first = match self.multipath {
            // Nobody knows whose the volume is: the controllers are addressed in turn.
            Multipath::None => turn % self.controllers,
            _ => array.owner(lun),
        };
        let wanted = match self.pinned {
            // Sessions are dealt over the links in turn.
            Some(sessions) => network.link_at(first, host * sessions + session % sessions),
            None => self.own_link(network, host, lun, first, turn),
        };
        debug_assert!(wanted < network.links() || network.links() == 0, "a path must be one that there is");
        let delay = network.detection(wanted, now);
        // A host that holds the devices itself has no path to lose.
        if delay.is_none() && (array.is_alive(first) || network.links() == 0) {
            return Ok((wanted, Nanos::ZERO));
        }
        let all = 0..network.links();
        let is_live =
            |&link: &u32| network.detection(link, now).is_none() && array.is_alive(network.end_of(link));
        // A twin to the same controller first, then any other.
        let twin = all.clone().filter(|&link| network.end_of(link) == first).find(is_live);
        match twin.or_else(|| all.clone().find(is_live)) {
            Some(link) => Ok((link, delay.unwrap_or(Nanos::ZERO))),
            None => {
                let unnoticed = all.filter_map(|link| network.detection(link, now)).max();
                Err(now + unnoticed.unwrap_or(Nanos::ZERO))
            }
        }
    }

    fn own_link(&self, network: &Network, host: u32, lun: u32, controller: u32, turn: u32) -> u32 {
        let own = self.own;
        // A question with one answer is not worth two divisions for every request.
        let link = |n: u32| match network.links_each() {
            1 => controller,
            _ => network.link_at(controller, host * own + n % own),
        };
        match self.multipath {
            Multipath::None | Multipath::Failover => link(lun),
            Multipath::RoundRobin { requests } => link(turn / requests.max(1)),
            Multipath::LeastQueue => {
                (0..own).map(link).min_by_key(|&link| network.booked(link)).unwrap_or_else(|| link(0))
            }
        }
    }

    /// Keeps a request for which no path is left, as the host has noticed at `noticed`, or has it fail.
    pub fn queue(&mut self, traffic: &mut Traffic, place: u32, noticed: Instant) {
        debug_assert!(
            self.queued.iter().all(|queued| queued.place != place),
            "a request must wait for a path once"
        );
        let until = match self.no_path {
            NoPath::Fail => noticed,
            NoPath::Retry(time) => noticed.saturating_add(time),
            NoPath::Queue => Instant::NEVER,
        };
        self.queued.push(QueuedWithoutPath { place, until });
        if until < Instant::NEVER {
            traffic.time.at(until.max(traffic.time.now()), Event::GiveUp(place));
        }
    }

    /// The time of a request that no path was left for is over, unless it has found one since.
    pub fn give_up(&mut self, traffic: &mut Traffic, place: u32) {
        let now = traffic.time.now();
        let over = |queued: &QueuedWithoutPath| queued.place == place && queued.until <= now;
        if let Some(at) = self.queued.iter().position(over) {
            self.queued.remove(at);
            fail_without_path(traffic, place);
        }
    }

    /// Has all fail that wait for a path which nothing will bring back; whether there were any.
    pub fn give_all_up(&mut self, traffic: &mut Traffic) -> bool {
        let any = !self.queued.is_empty();
        self.take_queued().for_each(|place| fail_without_path(traffic, place));
        any
    }

    /// Those that wait for a path, in order of arrival; they wait no longer.
    pub fn take_queued(&mut self) -> impl Iterator<Item = u32> + use<> {
        std::mem::take(&mut self.queued).into_iter().map(|queued| queued.place)
    }
}

fn fail_without_path(traffic: &mut Traffic, place: u32) {
    let cuts = traffic.network.cuts(traffic.requests[place].link);
    let request = &mut traffic.requests[place];
    (request.failed, request.cuts) = (Some(LOST), cuts);
    traffic.time.soon(Event::Answer(place));
}
