//! The back end: members behind their channels, and the operations of the RAID sets on them.
//!
//! An operation is planned at once into *chains* ([`chains`]), whose commands go to the members and come back
//! ([`members`]).
//!
//! **Invariant:** an operation ends exactly once, after every command of its chains has.

mod chains;
mod intent;
mod members;

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Lba, Nanos, Sectors, Share};

use crate::controller::ControllerParams;
use crate::device::{Command, Device};
use crate::latency::{LatencyTrace, Stage};
use crate::link::{Link, LinkParams};
use crate::meter::{Class, Meter, Metered};
use crate::raid::{
    Candidate, Extent, Geometry, GeometryError, Health, MemberState, Merger, Plan, PlanError, SetSpec,
};
use crate::slab::Slab;
use crate::wire::{Carried, Wire};

use crate::sim::chain::{AtDisk, Chain, Crossing, MemberCommand, Operation, Phase};
use crate::sim::engine::Engine;
use crate::sim::event::Event;
use crate::sim::locks::StripeLocks;
use crate::sim::timeline::Timeline;
use crate::sim::unit_locks::UnitLocks;
use crate::topology::{BitmapParams, ReadBalance, SetTopology, Topology};

use intent::Intents;

/// Longest command to one member: what controllers and block layers join neighbours to.
const JOIN_MAX: Sectors = Sectors(2048);

/// Who waits for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A host request, by its place.
    Request(u32),
    /// The cache of a controller.
    Cache {
        /// By its number, from 0.
        controller: u32,
        /// The number of the transfer.
        transfer: u32,
    },
    /// Background work, by its number.
    Background(u32),
    /// The write-intent bitmap of a set, on one of its disks.
    Bitmap {
        /// By its number, from 0.
        set: u32,
        /// By its number, from 0.
        disk: u32,
    },
}

/// What a back-end operation is for, and which controller does it.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    /// By its number, from 0.
    pub set: u32,
    /// Who waits.
    pub owner: Owner,
    /// For the meters.
    pub class: Class,
    /// Which controller does it.
    pub controller: u32,
    /// When it may begin.
    pub ready: Instant,
    /// How long what it writes had flowed to the controller when the last of it was there; nothing where the controller has to have
    /// all of it first.
    pub flow: Nanos,
    /// What a write has marked in the bitmap of its set, once it has.
    pub mark: Option<u32>,
}

/// An operation that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Who waited for it.
    pub owner: Owner,
    /// Where its time went: the way of the chain that ended last. `None` where no traces are kept.
    pub trace: Option<Box<LatencyTrace>>,
    /// How long what it read had flowed to the controller when the last of it was there; nothing where the controller has to have
    /// all of it first.
    pub flow: Nanos,
}

impl Ended {
    /// One that ended at `at`, as it began.
    pub fn at(owner: Owner, at: Instant) -> Ended {
        let mut trace = Box::<LatencyTrace>::default();
        trace.begin(at);
        Ended { owner, trace: Some(trace), flow: Nanos::ZERO }
    }
}

/// A write that waits no longer for a unit that background work held, or for the bitmap of its set.
#[derive(Clone, Copy, Debug)]
pub struct Freed {
    /// Who waits for it.
    pub owner: Owner,
    /// Whether it had nowhere to go then.
    pub is_lost: bool,
    /// What it has waited for.
    pub stage: Stage,
}

/// A set at work.
pub struct Set {
    /// What lies where.
    pub geometry: Geometry,
    /// Which members are well.
    pub health: Health,
    /// Whether it has failed for good: the controller takes it offline, and every request fails.
    pub is_offline: bool,
    /// Disk numbers of members and spares, by the geometry's numbers.
    pub disks: Vec<u32>,
    /// Its write-intent bitmap, if it has one.
    pub bitmap: Option<BitmapParams>,
    /// Which copy is read.
    pub balance: ReadBalance,
}

impl Set {
    /// One of `topology`, with its spares among the disks.
    pub fn new(topology: &Topology, set: &SetTopology) -> Result<Set, GeometryError> {
        let spec = SetSpec { spares: narrow::<u32>(topology.spares.len()), ..set.geometry.spec().clone() };
        let geometry = Geometry::new(spec)?;
        let health = Health::new(&geometry);
        let bitmap = set.bitmap.filter(|_| set.keeps_bitmap());
        let disks = set.members.iter().chain(&topology.spares).copied().collect();
        Ok(Set { geometry, health, is_offline: false, disks, bitmap, balance: set.balance })
    }

    /// The disks of its members that work.
    fn working(&self) -> impl Iterator<Item = u32> {
        let Set { geometry, health, disks, .. } = self;
        (0..narrow::<u16>(geometry.spec().members))
            .filter(|&slot| health.state(slot) != MemberState::Failed)
            .map(|slot| disks[usize::from(health.member(slot))])
    }

    /// Whether no member is missing.
    fn is_whole(&self) -> bool {
        let members = narrow::<u16>(self.geometry.spec().members);
        (0..members).all(|slot| self.health.state(slot) != MemberState::Failed)
    }
}

/// A disk in its bay.
pub struct Disk {
    /// The device itself.
    pub device: Device,
    /// Commands under way, those on its channel included.
    pub outstanding: u32,
    /// Read and written by the commands it was given since its meter began, in that order.
    pub moved: [Sectors; 2],
    /// Where the command that it was given last ends.
    next: u64,
    channel: Option<u32>,
}

/// The ways to the disks, and what is on them.
struct Channels {
    links: Vec<Link>,
    wires: Vec<Wire>,
    /// Commands whose data cross a channel.
    crossings: Slab<Crossing>,
    /// Those that have crossed, for the next: kept for its room.
    crossed: Vec<Carried>,
}

/// What turns an operation into commands, and how long a controller takes for it.
struct Planning {
    /// The last plan, for the next: boxed, because it changes hands for every operation.
    plan: Option<Box<Plan>>,
    merger: Merger,
    commands: Vec<MemberCommand>,
    /// Operations so far: who of equals serves a read.
    turn: usize,
    locate: Nanos,
    place: Nanos,
}

/// Who holds what of the sets, and who waits for it.
pub(super) struct Locking {
    stripes: StripeLocks,
    /// What an update of parity locks at least; `None`: its stripe.
    block: Option<Bytes>,
    /// By set: the units that background work holds.
    pub(super) units: Vec<UnitLocks>,
    pub(super) unit_is_free: bool,
    /// Those that wait for a lock.
    pub(super) waits: Meter,
    /// Chains that have got theirs.
    granted: Vec<u32>,
}

/// Members, channels, sets and what they are doing.
pub struct BackEnd {
    /// The disks, by number.
    pub disks: Vec<Disk>,
    /// The sets, by number.
    pub sets: Vec<Set>,
    /// The controllers' working parts.
    pub engines: Vec<Engine>,
    channels: Channels,
    pub(super) operations: Slab<Operation>,
    chains: Slab<Chain>,
    planning: Planning,
    pub(super) locking: Locking,
    intents: Intents,
    /// Operations of background work under way.
    background: usize,
    /// Operations that have ended, for the simulation to collect.
    pub done: Vec<Ended>,
    /// Writes that wait no longer: the same.
    pub freed: Vec<Freed>,
    /// Whether traces are kept of where the time goes.
    pub traces_latency: bool,
    /// Whether data pass through the controllers ([`Topology::passes_through`]), and need not be there whole before they leave.
    pub passes_through: bool,
    /// Traces that nobody needs, in the boxes in which they are handed over.
    #[expect(clippy::vec_box, reason = "the boxes are used again too: no allocation for every operation")]
    spare: Vec<Box<LatencyTrace>>,
}

impl BackEnd {
    /// That of `topology` with `sets`, at rest. What devices draw at random comes from `seed`.
    pub fn of(topology: &Topology, sets: Vec<Set>, seed: u64) -> BackEnd {
        let mut devices: Vec<Device> = Vec::with_capacity(topology.disks.len());
        for ((place, model), number) in topology.disks.iter().enumerate().zip(0u64..) {
            let (params, seed) = (&topology.models[*model as usize], seed.wrapping_add(number));
            let first = topology.disks[..place].iter().position(|other| other == model);
            devices.push(match first {
                Some(first) => devices[first].another(params, seed),
                None => Device::new(params, seed),
            });
        }
        let engines = (0..topology.controllers.max(1)).map(|_| Engine::new(&topology.controller)).collect();
        let plain = BackEnd::new(devices, sets, engines, topology.channel, &topology.controller);
        BackEnd { passes_through: topology.passes_through(), ..plain }
    }

    /// All at rest.
    pub fn new(
        disks: Vec<Device>,
        sets: Vec<Set>,
        engines: Vec<Engine>,
        channel: Option<(u32, LinkParams)>,
        controller: &ControllerParams,
    ) -> BackEnd {
        assert!(!engines.is_empty(), "there must be a controller");
        assert!(
            sets.iter().flat_map(|set| &set.disks).all(|&disk| (disk as usize) < disks.len()),
            "every member of a set must be one of the disks",
        );
        let count = channel.map_or(0, |(count, _)| count.max(1));
        let disk = |(number, device)| Disk {
            device,
            outstanding: 0,
            moved: [Sectors(0); 2],
            next: 0,
            channel: (count > 0).then(|| narrow::<u32>(number) % count),
        };
        let mut wires = Vec::new();
        let links = channel.iter().flat_map(|(_, link)| std::iter::repeat_n(link, count as usize));
        let channels = links.map(|link| Link::lay(link, &mut wires)).collect();
        BackEnd {
            disks: disks.into_iter().enumerate().map(disk).collect(),
            locking: Locking {
                stripes: StripeLocks::new(),
                block: controller.stripe_lock,
                units: sets.iter().map(|_| UnitLocks::default()).collect(),
                unit_is_free: false,
                waits: Meter::default(),
                granted: Vec::new(),
            },
            intents: Intents::new(&sets, controller.flush_members),
            sets,
            engines,
            channels: Channels { links: channels, wires, crossings: Slab::new(), crossed: Vec::new() },
            operations: Slab::new(),
            chains: Slab::new(),
            planning: Planning {
                plan: None,
                merger: Merger::new(),
                commands: Vec::new(),
                turn: 0,
                locate: controller.locate,
                place: controller.place,
            },
            background: 0,
            done: Vec::new(),
            freed: Vec::new(),
            traces_latency: false,
            passes_through: false,
            spare: Vec::new(),
        }
    }

    /// Every direction of every channel, with its name.
    pub fn each_channel(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        for (n, channel) in self.channels.links.iter().enumerate() {
            for (way, wire) in channel.ways() {
                visit(&|| format!("channel {n} {way}"), &mut self.channels.wires[wire as usize]);
            }
        }
    }

    /// Starts a read of `sectors` from `lba` of a set. After an error nothing has been started.
    pub fn read(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        lba: Lba,
        sectors: Sectors,
    ) -> Result<(), PlanError> {
        debug_assert!(sectors.0 > 0, "a read must have a length");
        let spec = self.located(time.now(), spec);
        let set = &self.sets[spec.set as usize];
        self.planning.turn = self.planning.turn.wrapping_add(1);
        if let Some((member, Lba(first))) = set.geometry.lone_read(&set.health, lba, sectors) {
            let disk = set.disks[usize::from(member)];
            self.launch_lone(time, spec, MemberCommand { disk, first, sectors: narrow::<u32>(sectors.0) });
            return Ok(());
        }
        let mut plan = self.planning.plan.take().unwrap_or_default();
        let planned = set.geometry.plan_read(
            &set.health,
            lba,
            sectors,
            |candidates| nearest(&self.disks, set, candidates, self.planning.turn),
            &mut plan,
        );
        let planned = planned.map(|()| self.launch(time, spec, &plan));
        self.planning.plan = Some(plan);
        planned.map(drop)
    }

    /// Starts a write of `extents`, ascending and apart, of a set, as soon as its bitmap says that it comes and no
    /// background work holds what it would touch. After an error nothing has been started.
    pub fn write(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
    ) -> Result<(), PlanError> {
        self.write_where(time, spec, extents, false)
    }

    /// Starts a write to a stripe of which all is known that is not written, so that parity follows without a read.
    pub fn write_known(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
    ) -> Result<(), PlanError> {
        self.write_where(time, spec, extents, true)
    }

    fn write_where(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
        is_known: bool,
    ) -> Result<(), PlanError> {
        if self.intents.has(spec.set) {
            return self.write_announced(time, spec, extents, is_known);
        }
        self.write_beside_work(time, spec, extents, is_known)
    }

    /// Starts a write that nothing stands in the way of; its operation.
    pub(super) fn write_now(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
        is_known: bool,
    ) -> Result<u32, PlanError> {
        debug_assert!(
            extents.windows(2).all(|pair| pair[0].lba + pair[0].sectors <= pair[1].lba),
            "what is written must ascend",
        );
        let spec = self.located(time.now(), spec);
        let mut plan = self.planning.plan.take().unwrap_or_default();
        let set = &self.sets[spec.set as usize];
        let planned = set.geometry.plan_gathered(&set.health, extents, &mut plan);
        if is_known {
            plan.knows_what_it_would_read();
        }
        let planned = planned.map(|()| self.launch(time, spec, &plan));
        self.planning.plan = Some(plan);
        planned
    }

    /// The operation once the box knows where on the set the data are.
    fn located(&self, now: Instant, spec: OperationSpec) -> OperationSpec {
        let set = &self.sets[spec.set as usize];
        let arms = |&disk: &u32| matches!(self.disks[disk as usize].device, Device::Rotating(_));
        let looking = if spec.class == Class::Destage { self.planning.place } else { self.planning.locate };
        if looking.is_zero() || !set.disks.first().is_some_and(arms) {
            return spec;
        }
        OperationSpec { ready: spec.ready.max(now) + looking, ..spec }
    }

    /// Has the drives of a set serve background work in the order it came; how many of it `share` of their tags are.
    pub fn background_tags(&mut self, set: u32, share: Share) -> u32 {
        let mut tags = u32::MAX;
        for &disk in &self.sets[set as usize].disks {
            tags = tags.min(self.disks[disk as usize].device.order_background());
        }
        debug_assert!(tags < u32::MAX, "a set must have disks");
        // At most as many as there are tags.
        truncated::<u32>((share.get() * f64::from(tags)).round()).max(1)
    }

    /// Has every member of a set that works write what its own cache holds. `false`: none is left to ask.
    pub fn flush(&mut self, time: &mut Timeline, spec: OperationSpec) -> bool {
        self.ask_working(spec.set);
        self.flush_those(time, spec)
    }

    /// Has them do so for a write that the host has forced to the media.
    pub fn force(&mut self, time: &mut Timeline, spec: OperationSpec) -> bool {
        self.ask_working(spec.set);
        let forced = |device: &mut Device, at: Instant, _: MemberCommand| {
            let end = device.force(at, spec.class);
            (end, AtDisk::Flushed(end))
        };
        self.instruct(time, spec, forced)
    }

    /// Puts down a command without data for each member of a set that works.
    fn ask_working(&mut self, set: u32) {
        self.planning.commands.clear();
        let working = self.sets[set as usize].working();
        self.planning.commands.extend(working.map(|disk| MemberCommand { disk, first: 0, sectors: 0 }));
    }

    /// Has one disk of a set do so.
    fn flush_disk(&mut self, time: &mut Timeline, spec: OperationSpec, disk: u32) {
        self.planning.commands.clear();
        self.planning.commands.push(MemberCommand { disk, first: 0, sectors: 0 });
        self.flush_those(time, spec);
    }

    fn flush_those(&mut self, time: &mut Timeline, spec: OperationSpec) -> bool {
        let flushed = |device: &mut Device, at: Instant, _: MemberCommand| {
            let end = device.flush(at, spec.class);
            (end, AtDisk::Flushed(end))
        };
        self.instruct(time, spec, flushed)
    }

    /// Has members that are memory before flash keep sectors `from..to` of a set, as after a pass over them.
    pub fn hold(&mut self, set: u32, from: u64, to: u64) {
        let Set { geometry, health, disks, .. } = &self.sets[set as usize];
        let has_memory = |&disk: &u32| matches!(self.disks[disk as usize].device, Device::CachedFlash(_));
        if !disks.iter().any(has_memory) {
            return;
        }
        let mut plan = self.planning.plan.take().unwrap_or_default();
        for lba in (from..to).step_by(narrow::<usize>(JOIN_MAX.0)) {
            let sectors = Sectors(JOIN_MAX.0.min(to - lba));
            if geometry.plan_read(health, Lba(lba), sectors, |_| 0, &mut plan).is_err() {
                break;
            }
            for step in plan.reads() {
                let disk = disks[usize::from(step.member)];
                self.disks[disk as usize].device.hold(step.lba.0, step.sectors);
            }
        }
        self.planning.plan = Some(plan);
    }

    /// Tells the members that hold `extent` of a set that nothing of it is needed any more. `false`: none is told.
    ///
    /// A level with parity keeps it to itself: parity covers what its members hold (Linux md passes a discard on to a
    /// RAID 5 only where `devices_handle_discard_safely` says so, and by default it does not).
    pub fn trim(&mut self, time: &mut Timeline, spec: OperationSpec, extent: Extent) -> bool {
        let mut plan = self.planning.plan.take().unwrap_or_default();
        let set = &self.sets[spec.set as usize];
        let passed_on = set.geometry.spec().level.parity() == 0
            && set.geometry.plan_gathered(&set.health, &[extent], &mut plan).is_ok();
        self.planning.commands.clear();
        if passed_on {
            self.gather(spec.set, plan.writes());
        }
        self.planning.plan = Some(plan);
        let trimmed = |device: &mut Device, at: Instant, part: MemberCommand| {
            let end = device.trim(at, part.first, part.sectors);
            (end, AtDisk::Whole(end, end.saturating_since(at)))
        };
        self.instruct(time, spec, trimmed)
    }

    /// Gives each of `commands` to its disk as something that moves no data, and ends with the last of them.
    fn instruct(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        execute: impl Fn(&mut Device, Instant, MemberCommand) -> (Instant, AtDisk),
    ) -> bool {
        if self.planning.commands.is_empty() {
            return false;
        }
        let OperationSpec { controller, class, ready, .. } = spec;
        let operation = self.operations.take();
        self.operations[operation].begin(spec, 0, self.traces_latency);
        let chain = self.new_chain(operation, Nanos::ZERO, ready);
        // There is nothing after it.
        self.chains[chain].phase = Phase::Checks;
        self.chains[chain].pending = narrow::<u32>(self.planning.commands.len());
        for index in 0..self.planning.commands.len() {
            let part = self.planning.commands[index];
            let ready = self.engines[controller as usize].member_command(time.now(), ready, class);
            let (end, at_disk) = execute(&mut self.disks[part.disk as usize].device, ready, part);
            let MemberCommand { disk, first, sectors } = part;
            let command = Command { first, sectors, tag: chain, write: true, class, ready, given: ready };
            self.passed(time.now(), disk, command, at_disk, None);
            time.at(end, Event::Member(chain));
        }
        true
    }

    /// Takes the trace of an ended operation back, for the next.
    pub fn recycle(&mut self, trace: Option<Box<LatencyTrace>>) {
        self.spare.extend(trace.filter(|_| self.traces_latency));
    }

    /// Operations under way.
    pub fn busy(&self) -> usize {
        self.operations.in_use()
    }

    /// Those of them that are not background work.
    pub fn foreground(&self) -> usize {
        debug_assert!(
            self.background <= self.operations.in_use(),
            "background work must be among the operations"
        );
        self.operations.in_use() - self.background
    }
}

/// The copy to read, by the rule of its set.
fn nearest(disks: &[Disk], set: &Set, candidates: &[Candidate], turn: usize) -> usize {
    debug_assert!(!candidates.is_empty(), "there must be a copy to read");
    let disk = |candidate: &Candidate| &disks[set.disks[usize::from(candidate.member)] as usize];
    if set.balance == ReadBalance::Streams
        && let Some(index) = candidates.iter().position(|candidate| disk(candidate).next == candidate.lba.0)
    {
        return index;
    }
    let cost = |index: usize| {
        let candidate = &candidates[index];
        let disk = disk(candidate);
        (disk.outstanding, disk.device.distance(candidate.lba.0), (index + turn) % candidates.len())
    };
    (0..candidates.len()).min_by_key(|&index| cost(index)).unwrap_or(0)
}
