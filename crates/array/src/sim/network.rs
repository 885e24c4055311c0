//! Adapters, links and the ways between controllers: the wires they consist of, and which of the links are cut.
//!
//! Links are numbered over those of the first controller, then of the second.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::latency::Stage;
use crate::link::Link;
use crate::meter::Metered;
use crate::wire::{Carried, Transfer, Wire};

use super::Topology;
use super::event::Event;
use super::timeline::Timeline;

/// Whether a link carries anything.
#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// When it failed, if it has.
    failed_at: Option<Instant>,
    /// When it was cut last.
    cut_at: Instant,
    /// How often it has been cut: what was sent before the last time has lost its connection.
    cuts: u32,
}

/// What carries requests between hosts and controllers, and between controllers.
#[derive(Debug)]
pub struct Network {
    /// One direction each of every link, adapter and way to a partner.
    wires: Vec<Wire>,
    /// What each of them belongs to.
    stages: Vec<Stage>,
    links: Vec<Link>,
    states: Vec<LinkState>,
    links_each: u32,
    controllers: u32,
    /// Those of each host, host after host.
    adapters: Vec<Link>,
    adapters_each: usize,
    /// Each controller's way to its partner.
    partners: Vec<Link>,
    /// From a link's failure until hosts have noticed.
    timeout: Nanos,
}

impl Network {
    /// That of `topology`, idle and whole.
    pub fn new(topology: &Topology) -> Network {
        let mut wires = Vec::new();
        let (controllers, links_each) = (topology.controllers.max(1), topology.links.max(1));
        let mut lay = |params: Option<_>, count: u32, stage: Stage, stages: &mut Vec<Stage>| -> Vec<Link> {
            let laid = params.iter().flat_map(|params| std::iter::repeat_n(params, count as usize));
            let links = laid.map(|params| Link::lay(params, &mut wires)).collect();
            stages.resize(wires.len(), stage);
            links
        };
        let mut stages = Vec::new();
        let partners = lay(topology.controller.partner, controllers, Stage::Mirror, &mut stages);
        let links = lay(topology.link, links_each * controllers, Stage::Link, &mut stages);
        let (adapters_each, adapter) = topology.adapter.unzip();
        let adapters_each = adapters_each.unwrap_or(0);
        let adapters = lay(adapter, adapters_each * topology.hosts.max(1), Stage::Adapter, &mut stages);
        assert_eq!(wires.len(), stages.len(), "every wire must belong to something");
        Network {
            states: vec![LinkState::default(); links.len()],
            wires,
            stages,
            links,
            links_each,
            controllers,
            adapters,
            adapters_each: adapters_each as usize,
            partners,
            timeout: topology.host.path_timeout,
        }
    }

    /// How many links there are.
    pub fn links(&self) -> u32 {
        narrow::<u32>(self.links.len())
    }

    /// A link; `None` where hosts hold the devices themselves.
    #[inline]
    pub fn link(&self, link: u32) -> Option<Link> {
        self.links.get(link as usize).copied()
    }

    /// The adapter of `host` that `link` hangs on.
    #[inline]
    pub fn adapter(&self, host: u32, link: u32) -> Option<Link> {
        let count = self.adapters_each;
        (count > 0).then(|| self.adapters[host as usize * count + link as usize % count])
    }

    /// The way from a controller to its partner.
    pub fn partner(&self, controller: u32) -> Option<Link> {
        self.partners.get(controller as usize).copied()
    }

    /// The controller at the end of a link.
    pub fn end_of(&self, link: u32) -> u32 {
        let controller = if self.links_each > 1 { link / self.links_each } else { link };
        controller.min(self.controllers - 1)
    }

    /// The link at `controller` that number `own` of those to it is, counted round.
    pub fn link_at(&self, controller: u32, own: u32) -> u32 {
        controller * self.links_each + own % self.links_each
    }

    /// Links to each controller.
    pub fn links_each(&self) -> u32 {
        self.links_each
    }

    /// Work that waits or is under way on a link, both ways.
    pub fn booked(&self, link: u32) -> Nanos {
        let wires = self.links.get(link as usize).into_iter().flat_map(Link::ways);
        wires
            .map(|(_, wire)| self.wires[wire as usize].booked())
            .fold(Nanos::ZERO, |sum, booked| sum + booked)
    }

    /// Puts a transfer on a wire.
    pub fn carry(&mut self, time: &mut Timeline, wire: u32, transfer: Transfer) {
        debug_assert!(!transfer.work.is_zero(), "what takes no time must not be put on a wire");
        self.wires[wire as usize].join(time.now(), transfer);
        self.arm(time, wire);
    }

    /// A transfer may have ended on a wire: those that have are added to `carried`. What the wire belongs to.
    pub fn advance(&mut self, time: &mut Timeline, wire: u32, carried: &mut Vec<Carried>) -> Stage {
        self.wires[wire as usize].advance(time.now(), carried);
        self.arm(time, wire);
        self.stages[wire as usize]
    }

    fn arm(&mut self, time: &mut Timeline, wire: u32) {
        if let Some(at) = self.wires[wire as usize].arm() {
            time.at(at, Event::Wire(wire));
        }
    }

    /// Cuts a link at `now`, with what is on its way there.
    pub fn cut(&mut self, link: u32, now: Instant) {
        if let Some(state) = self.states.get_mut(link as usize) {
            debug_assert!(state.cut_at <= now, "cuts must be made in order of time");
            (state.failed_at, state.cut_at) = (Some(now), now);
            state.cuts += 1;
        }
    }

    /// Mends a link.
    pub fn mend(&mut self, link: u32) {
        if let Some(state) = self.states.get_mut(link as usize) {
            debug_assert!(state.cuts > 0 || state.failed_at.is_none(), "what has failed must have been cut");
            state.failed_at = None;
        }
    }

    /// How often a link has been cut.
    pub fn cuts(&self, link: u32) -> u32 {
        self.states.get(link as usize).map_or(0, |state| state.cuts)
    }

    /// When hosts notice at `now` at the earliest that a link was cut last.
    pub fn noticed(&self, link: u32, now: Instant) -> Instant {
        let cut_at = self.states.get(link as usize).map_or(now, |state| state.cut_at);
        (cut_at + self.timeout).max(now)
    }

    /// From a failure until hosts have noticed.
    pub fn timeout(&self) -> Nanos {
        self.timeout
    }

    /// How much longer the failure of a link goes unnoticed, where it has failed.
    #[inline]
    pub fn detection(&self, link: u32, now: Instant) -> Option<Nanos> {
        let failed_at = self.states.get(link as usize)?.failed_at?;
        Some((failed_at + self.timeout).saturating_since(now))
    }

    /// Every direction of the adapters of a host, with its name.
    pub fn each_adapter(
        &mut self,
        host: usize,
        mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered),
    ) {
        let own = self.adapters.iter().skip(host * self.adapters_each).take(self.adapters_each);
        each_way(
            own,
            &mut self.wires,
            |number, way| format!("host {host} adapter {number} {way}"),
            &mut visit,
        );
    }

    /// The same of every link.
    pub fn each_link(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        each_way(&self.links, &mut self.wires, |number, way| format!("link {number} {way}"), &mut visit);
    }

    /// The same of every way between controllers.
    pub fn each_partner(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        let name = |number: usize, way: &str| format!("controller {number} mirror {way}");
        each_way(&self.partners, &mut self.wires, name, &mut visit);
    }
}

fn each_way<'l>(
    links: impl IntoIterator<Item = &'l Link>,
    wires: &mut [Wire],
    name: impl Fn(usize, &str) -> String,
    visit: &mut impl FnMut(&dyn Fn() -> String, &mut dyn Metered),
) {
    for (number, link) in links.into_iter().enumerate() {
        for (way, wire) in link.ways() {
            visit(&|| name(number, way), &mut wires[wire as usize]);
        }
    }
}
