//! The back end: members behind their channels, and the operations of the RAID sets on them.
//!
//! An operation is planned at once into *chains*. A chain is what one stripe needs: its reads, then the parity
//! arithmetic, then its writes, then what is read back; chains of one operation run side by side.
//!
//! **Invariant:** an operation ends exactly once, after every command of its chains has.

use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors, Share};

use crate::controller::ControllerParams;
use crate::device::{Command, Device, Finished, Submitted};
use crate::events::Events;
use crate::link::{Link, LinkParams};
use crate::meter::{Class, Meter, Metered};
use crate::raid::{Candidate, Extent, Geometry, Health, MemberState, Merger, Plan, PlanError, Step, Stripe};
use crate::slab::Slab;
use crate::trail::{Part as Place, Trail};
use crate::wire::{Carried, Transfer, Wire};

use super::chain::{AtDisk, Chain, Crossing, Operation, Part, Phase};
use super::engine::Engine;
use super::event::Event;
use super::locks::{Claim, StripeLocks};
use super::unit_locks::UnitLocks;

/// Longest command to one member: what controllers and block layers join neighbours to.
const JOIN_MAX: Sectors = Sectors(2048);

/// Who waits for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A host request, by its place.
    Request(u32),
    /// The cache of a controller.
    Cache {
        /// Which controller.
        controller: u32,
        /// The number of the transfer.
        transfer: u32,
    },
    /// Background work, by its number.
    Background(u32),
}

/// On whose behalf an operation works, and by which controller.
#[derive(Clone, Copy, Debug)]
pub struct Errand {
    /// The set.
    pub set: u32,
    /// Who waits.
    pub owner: Owner,
    /// For the meters.
    pub class: Class,
    /// Which controller does it.
    pub controller: u32,
    /// When it may begin.
    pub ready: Instant,
}

/// An operation that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Who waited for it.
    pub owner: Owner,
    /// Where its time went: the way of the chain that ended last. `None` where no trails are kept.
    pub trail: Option<Box<Trail>>,
}

impl Ended {
    /// One that ended at `at`, as it began.
    pub fn at(owner: Owner, at: Instant) -> Ended {
        let mut trail = Box::<Trail>::default();
        trail.begin(at);
        Ended { owner, trail: Some(trail) }
    }
}

/// A set at work.
pub struct Set {
    /// What lies where.
    pub geometry: Geometry,
    /// Which members are well.
    pub health: Health,
    /// Disk numbers of members and spares, by the geometry's numbers.
    pub disks: Vec<u32>,
}

/// A disk in its bay.
pub struct Disk {
    /// The device itself.
    pub device: Device,
    /// Commands under way, those on its channel included.
    pub outstanding: u32,
    channel: Option<u32>,
}

/// Members, channels, sets and what they are doing.
pub struct BackEnd {
    /// The disks, by number.
    pub disks: Vec<Disk>,
    /// The sets, by number.
    pub sets: Vec<Set>,
    /// The controllers' working parts.
    pub engines: Vec<Engine>,
    channels: Vec<Link>,
    wires: Vec<Wire>,
    /// Commands whose data cross a channel.
    crossings: Slab<Crossing>,
    crossed: Vec<Carried>,
    pub(super) operations: Slab<Operation>,
    chains: Slab<Chain>,
    /// The last plan, for the next: boxed, because it changes hands for every operation.
    plan: Option<Box<Plan>>,
    merger: Merger,
    parts: Vec<Part>,
    turn: usize,
    locate: Nanos,
    place: Nanos,
    locks: StripeLocks,
    /// What an update of parity locks at least; `None`: its stripe.
    lock_block: Option<Bytes>,
    /// By set: the units that background work holds.
    pub(super) units: Vec<UnitLocks>,
    pub(super) unit_is_free: bool,
    /// Those that wait for a lock.
    pub(super) waits: Meter,
    /// Chains that have got theirs.
    granted: Vec<u32>,
    /// Operations of background work under way.
    background: usize,
    /// Operations that have ended, for the simulation to collect.
    pub done: Vec<Ended>,
    /// Owners whose writes wait no longer for a unit that background work held: the same.
    pub freed: Vec<Owner>,
    /// Owners whose writes waited, and then had nowhere to go: the same.
    pub lost: Vec<Owner>,
    /// Whether trails are kept of where the time goes.
    pub keeps_trails: bool,
    /// Trails that nobody needs, in the boxes in which they are handed over.
    #[expect(clippy::vec_box, reason = "the boxes are used again too: no allocation for every operation")]
    spare: Vec<Box<Trail>>,
}

impl BackEnd {
    /// All at rest.
    pub fn new(
        disks: Vec<Device>,
        sets: Vec<Set>,
        engines: Vec<Engine>,
        channel: Option<(u32, LinkParams)>,
        controller: &ControllerParams,
    ) -> BackEnd {
        let count = channel.map_or(0, |(count, _)| count.max(1));
        let disk = |(number, device)| Disk {
            device,
            outstanding: 0,
            channel: (count > 0).then(|| number as u32 % count),
        };
        let mut wires = Vec::new();
        let links = channel.iter().flat_map(|(_, link)| std::iter::repeat_n(link, count as usize));
        let channels = links.map(|link| Link::lay(link, &mut wires)).collect();
        BackEnd {
            disks: disks.into_iter().enumerate().map(disk).collect(),
            units: sets.iter().map(|_| UnitLocks::default()).collect(),
            unit_is_free: false,
            sets,
            engines,
            channels,
            wires,
            crossings: Slab::new(),
            crossed: Vec::new(),
            operations: Slab::new(),
            chains: Slab::new(),
            plan: None,
            merger: Merger::new(),
            parts: Vec::new(),
            turn: 0,
            locate: controller.locate,
            place: controller.place,
            locks: StripeLocks::new(),
            lock_block: controller.stripe_lock,
            waits: Meter::default(),
            granted: Vec::new(),
            background: 0,
            done: Vec::new(),
            freed: Vec::new(),
            lost: Vec::new(),
            keeps_trails: false,
            spare: Vec::new(),
        }
    }

    /// Every direction of every channel, with its name.
    pub fn each_channel(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        for (n, channel) in self.channels.iter().enumerate() {
            for (way, wire) in channel.ways() {
                visit(&|| format!("channel {n} {way}"), &mut self.wires[wire as usize]);
            }
        }
    }

    /// Starts a read of `sectors` from `lba` of a set. After an error nothing has been started.
    pub fn read(
        &mut self,
        now: Instant,
        events: &mut Events,
        errand: Errand,
        lba: Lba,
        sectors: Sectors,
    ) -> Result<(), PlanError> {
        let errand = self.located(now, errand);
        let mut plan = self.plan.take().unwrap_or_default();
        let set = &self.sets[errand.set as usize];
        self.turn = self.turn.wrapping_add(1);
        let planned = set.geometry.plan_read(
            &set.health,
            lba,
            sectors,
            |candidates| nearest(&self.disks, set, candidates, self.turn),
            &mut plan,
        );
        let planned = planned.map(|()| self.launch(now, events, errand, &plan));
        self.plan = Some(plan);
        planned.map(drop)
    }

    /// Starts a write of `extents`, ascending and apart, of a set; where background work holds what it would touch, as
    /// soon as it no longer does. After an error nothing has been started.
    pub fn write(
        &mut self,
        now: Instant,
        events: &mut Events,
        errand: Errand,
        extents: &[Extent],
    ) -> Result<(), PlanError> {
        self.write_beside_work(now, events, errand, extents)
    }

    /// Starts a write that nothing stands in the way of; its operation.
    pub(super) fn write_now(
        &mut self,
        now: Instant,
        events: &mut Events,
        errand: Errand,
        extents: &[Extent],
    ) -> Result<u32, PlanError> {
        let errand = self.located(now, errand);
        let mut plan = self.plan.take().unwrap_or_default();
        let set = &self.sets[errand.set as usize];
        let planned = set.geometry.plan_gathered(&set.health, extents, &mut plan);
        let planned = planned.map(|()| self.launch(now, events, errand, &plan));
        self.plan = Some(plan);
        planned
    }

    /// The errand once the box knows where on the set the data are.
    fn located(&self, now: Instant, errand: Errand) -> Errand {
        let set = &self.sets[errand.set as usize];
        let arms = |&disk: &u32| matches!(self.disks[disk as usize].device, Device::Rotating(_));
        let looking = if errand.class == Class::Destage { self.place } else { self.locate };
        if looking.is_zero() || !set.disks.first().is_some_and(arms) {
            return errand;
        }
        Errand { ready: errand.ready.max(now) + looking, ..errand }
    }

    /// Has the drives of a set serve background work in the order it came; how many of it `share` of their tags are.
    pub fn background_tags(&mut self, set: u32, share: Share) -> u32 {
        let mut tags = u32::MAX;
        for &disk in &self.sets[set as usize].disks {
            tags = tags.min(self.disks[disk as usize].device.order_background());
        }
        // At most as many as there are tags.
        ((share.get() * f64::from(tags)).round() as u32).max(1)
    }

    /// Has every member of a set that works write what its own cache holds. `false`: none is left to ask.
    pub fn flush(&mut self, now: Instant, events: &mut Events, errand: Errand) -> bool {
        let Set { geometry, health, disks } = &self.sets[errand.set as usize];
        let working = (0..geometry.spec().members as u16)
            .filter(|&slot| health.state(slot) != MemberState::Failed)
            .map(|slot| disks[usize::from(health.member(slot))]);
        self.parts.clear();
        self.parts.extend(working.map(|disk| Part { disk, first: 0, sectors: 0 }));
        self.instruct(now, events, errand, |device, at, _| device.flush(at))
    }

    /// Tells the members that hold `extent` of a set that nothing of it is needed any more. `false`: none is told.
    ///
    /// A level with parity keeps it to itself: parity covers what its members hold (Linux md passes a discard on to a
    /// RAID 5 only where `devices_handle_discard_safely` says so, and by default it does not).
    pub fn trim(&mut self, now: Instant, events: &mut Events, errand: Errand, extent: Extent) -> bool {
        let mut plan = self.plan.take().unwrap_or_default();
        let set = &self.sets[errand.set as usize];
        let passed_on = set.geometry.spec().level.parity() == 0
            && set.geometry.plan_gathered(&set.health, &[extent], &mut plan).is_ok();
        self.parts.clear();
        if passed_on {
            self.gather(errand.set, plan.writes());
        }
        self.plan = Some(plan);
        self.instruct(now, events, errand, |device, at, part| device.trim(at, part.first, part.sectors))
    }

    /// Gives each of `parts` to its disk as something that moves no data, and ends with the last of them.
    fn instruct(
        &mut self,
        now: Instant,
        events: &mut Events,
        errand: Errand,
        carry_out: impl Fn(&mut Device, Instant, Part) -> Instant,
    ) -> bool {
        if self.parts.is_empty() {
            return false;
        }
        let Errand { controller, class, ready, .. } = errand;
        let operation = self.operations.take();
        self.operations[operation].begin(errand, 0, self.keeps_trails);
        let chain = self.new_chain(operation, Nanos::ZERO, ready);
        // There is nothing after it.
        self.chains[chain].phase = Phase::Checks;
        self.chains[chain].pending = self.parts.len() as u32;
        for index in 0..self.parts.len() {
            let part = self.parts[index];
            let ready = self.engines[controller as usize].member_command(now, ready, class);
            let end = carry_out(&mut self.disks[part.disk as usize].device, ready, part);
            let Part { disk, first, sectors } = part;
            let command = Command { first, sectors, tag: chain, write: true, class, ready, given: ready };
            self.passed(now, disk, command, AtDisk::Whole(end, end.saturating_since(ready)), None);
            events.push(end, Event::Member(chain).pack());
        }
        true
    }

    /// Starts what was planned, perhaps elsewhere: a unit of background work; its operation.
    pub fn launch(&mut self, now: Instant, events: &mut Events, errand: Errand, plan: &Plan) -> u32 {
        let operation = self.operations.take();
        let Errand { controller, class, set, ready, .. } = errand;
        // One more than its chains until all have been started: a chain may end at once.
        self.operations[operation].begin(errand, 1, self.keeps_trails);
        self.background += usize::from(class == Class::Background);
        let (mut read, mut written) = (0, 0);
        for stripe in plan.stripes() {
            let reads = plan.reads_of(stripe);
            let writes = plan.writes_of(stripe);
            // What lies between the stripes belongs to none and moves data alone.
            let (reads_at, writes_at) = (at(plan.reads(), reads), at(plan.writes(), writes));
            self.plain(now, events, operation, set, ready, plan, read..reads_at, written..writes_at);
            (read, written) = (reads_at + reads.len(), writes_at + writes.len());
            let arithmetic = self.engines[controller as usize].arithmetic(stripe.arithmetic);
            let chain = self.new_chain(operation, arithmetic, ready);
            self.fill(chain, set, writes, plan.checks_of(stripe));
            self.gather(set, reads);
            if self.lock(now, chain, set, stripe, ready) {
                self.begin(now, events, chain, ready);
            }
        }
        let (reads, writes) = (plan.reads().len(), plan.writes().len());
        self.plain(now, events, operation, set, ready, plan, read..reads, written..writes);
        self.end_chain(now, operation);
        operation
    }

    #[expect(clippy::too_many_arguments, reason = "the two ranges and their context are one thought")]
    fn plain(
        &mut self,
        now: Instant,
        events: &mut Events,
        operation: u32,
        set: u32,
        ready: Instant,
        plan: &Plan,
        reads: std::ops::Range<usize>,
        writes: std::ops::Range<usize>,
    ) {
        if reads.is_empty() && writes.is_empty() {
            return;
        }
        let chain = self.new_chain(operation, Nanos::ZERO, ready);
        // Reads and writes outside stripes come together only in a copy from disk to disk.
        self.fill(chain, set, &plan.writes()[writes], &[]);
        self.gather(set, &plan.reads()[reads]);
        self.begin(now, events, chain, ready);
    }

    fn new_chain(&mut self, operation: u32, arithmetic: Nanos, ready: Instant) -> u32 {
        self.operations[operation].chains += 1;
        let chain = self.chains.take();
        let fresh = &mut self.chains[chain];
        fresh.operation = operation;
        fresh.phase = Phase::Reads;
        fresh.arithmetic = arithmetic;
        fresh.locks = false;
        fresh.writes.clear();
        fresh.checks.clear();
        if self.keeps_trails {
            fresh.trail.begin(ready);
            fresh.last.begin(ready);
        }
        chain
    }

    fn fill(&mut self, chain: u32, set: u32, writes: &[Step], checks: &[Step]) {
        if writes.is_empty() && checks.is_empty() {
            return;
        }
        self.gather(set, writes);
        self.chains[chain].writes.extend_from_slice(&self.parts);
        self.gather(set, checks);
        self.chains[chain].checks.extend_from_slice(&self.parts);
    }

    /// Collects `steps` as commands in `parts`, neighbours joined.
    fn gather(&mut self, set: u32, steps: &[Step]) {
        self.parts.clear();
        let disks = &self.sets[set as usize].disks;
        let part = |member: u16, lba: Lba, sectors: Sectors| Part {
            disk: disks[usize::from(member)],
            first: lba.0,
            sectors: sectors.0 as u32,
        };
        match steps {
            [] => {}
            [only] => self.parts.push(part(only.member, only.lba, only.sectors)),
            _ => {
                let joined = self.merger.merge(steps, JOIN_MAX);
                self.parts
                    .extend(joined.iter().map(|command| part(command.member, command.lba, command.sectors)));
            }
        }
    }

    /// Gives out the commands in `parts`, or goes on at once where there are none.
    fn begin(&mut self, now: Instant, events: &mut Events, chain: u32, ready: Instant) {
        if self.parts.is_empty() {
            self.advance(now, events, chain, ready);
            return;
        }
        let writing = self.chains[chain].phase == Phase::Writes;
        self.chains[chain].pending = self.parts.len() as u32;
        let Operation { controller, class, .. } = self.operations[self.chains[chain].operation];
        for index in 0..self.parts.len() {
            let Part { disk, first, sectors } = self.parts[index];
            let ready = self.engines[controller as usize].member_command(now, ready, class);
            let command = Command { first, sectors, tag: chain, write: writing, class, ready, given: ready };
            self.submit(now, events, disk, command);
        }
    }

    /// The next phase of a chain whose present one has ended.
    fn advance(&mut self, now: Instant, events: &mut Events, chain: u32, ready: Instant) {
        let place = &mut self.chains[chain];
        let phase = if place.has_nothing_left() { Phase::Checks } else { place.phase };
        match phase {
            Phase::Reads => {
                place.phase = Phase::Arithmetic;
                let work = place.arithmetic;
                let Operation { controller, class, .. } = self.operations[place.operation];
                let engine = &mut self.engines[controller as usize];
                let done = engine.xor.book(now, ready, work, class);
                place.trail.pass(Place::Xor, done, work);
                if done > now && ready <= now {
                    events.push(done, Event::Chain(chain).pack());
                } else {
                    // Nothing was read: the writes are given out at once and wait for their data.
                    self.advance(now, events, chain, done);
                }
            }
            Phase::Arithmetic => {
                place.phase = Phase::Writes;
                self.parts.clear();
                self.parts.extend_from_slice(&place.writes);
                self.begin(now, events, chain, ready);
            }
            Phase::Writes => {
                place.phase = Phase::Checks;
                self.parts.clear();
                self.parts.extend_from_slice(&place.checks);
                self.begin(now, events, chain, ready);
            }
            Phase::Checks => {
                let operation = place.operation;
                let last = &mut self.operations[operation].trail;
                if place.trail.at() > last.at() {
                    std::mem::swap(&mut place.trail, last);
                }
                if place.locks {
                    self.unlock(now, events, chain);
                }
                self.chains.give(chain);
                self.end_chain(now, operation);
            }
        }
    }

    /// Whether a chain whose reads are in `parts` may begin; if not it does once it has its stripe.
    fn lock(&mut self, now: Instant, chain: u32, set: u32, stripe: &Stripe, ready: Instant) -> bool {
        let place = &mut self.chains[chain];
        let Operation { class, .. } = self.operations[place.operation];
        let claim = Claim::of(stripe, set, place.operation, self.lock_block);
        let Some(claim) = claim.filter(|_| class != Class::Background) else { return true };
        place.locks = true;
        let free = self.locks.enter(now, chain, claim, class, &mut self.waits);
        if !free {
            place.ready = ready;
            place.reads.clear();
            place.reads.extend_from_slice(&self.parts);
        }
        free
    }

    /// Gives a chain's stripe back; those that waited for it begin.
    fn unlock(&mut self, now: Instant, events: &mut Events, chain: u32) {
        let mut granted = std::mem::take(&mut self.granted);
        self.locks.leave(now, chain, &mut granted, &mut self.waits);
        for next in granted.drain(..) {
            let place = &mut self.chains[next];
            let ready = place.ready.max(now);
            place.trail.wait(Place::StripeLocks, ready);
            self.parts.clear();
            self.parts.extend_from_slice(&place.reads);
            self.begin(now, events, next, ready);
        }
        self.granted = granted;
    }

    /// Begins the window of what is metered of the locks.
    pub fn restart_locks(&mut self, now: Instant) {
        self.waits.restart(now);
    }

    /// Ends it.
    pub fn close_locks(&mut self, now: Instant) {
        let mut waits = std::mem::take(&mut self.waits);
        let here = self.locks.waiting().chain(self.waiting_for_units());
        waits.close(now, here.map(|(since, class)| (since, None, class)));
        self.waits = waits;
    }

    /// How long requests have waited for locks.
    pub fn locks_meter(&mut self) -> &mut Meter {
        &mut self.waits
    }

    fn end_chain(&mut self, now: Instant, operation: u32) {
        let place = &mut self.operations[operation];
        place.chains -= 1;
        if place.chains == 0 {
            self.background -= usize::from(place.class == Class::Background);
            let trail = self.keeps_trails.then(|| {
                let mut trail = self.spare.pop().unwrap_or_default();
                std::mem::swap(&mut *trail, &mut place.trail);
                trail.end(now.max(trail.began()));
                trail
            });
            self.done.push(Ended { owner: place.owner, trail });
            if let Some(set) = place.beside_work {
                self.write_left(set, operation);
            }
            self.operations.give(operation);
        }
    }

    /// Gives a command out: over the channel first where it brings data.
    fn submit(&mut self, now: Instant, events: &mut Events, disk: u32, command: Command) {
        let place = &mut self.disks[disk as usize];
        place.outstanding += 1;
        match place.channel.filter(|_| command.write) {
            Some(channel) => {
                let Link { params, out, .. } = self.channels[channel as usize];
                let work = params.transfer(u64::from(command.sectors) * SECTOR_BYTES);
                let crossing = Crossing { disk, command: Some(command), stay: AtDisk::NotYet };
                self.cross(events, now, (out, command.ready, work), crossing);
            }
            None => self.hand_over(now, events, disk, command),
        }
    }

    /// The disk has a command, and what it brings.
    fn hand_over(&mut self, now: Instant, events: &mut Events, disk: u32, command: Command) {
        let place = &mut self.disks[disk as usize];
        match place.device.submit(now, command) {
            Submitted::Ends(end) => {
                place.outstanding -= 1;
                let alone = if self.keeps_trails { place.device.alone(command) } else { Nanos::ZERO };
                let stay = AtDisk::Whole(end, alone);
                if !self.leaves_over_channel(now, events, disk, end, command, stay) {
                    self.passed(now, disk, command, stay, None);
                    events.push(end, Event::Member(command.tag).pack());
                }
            }
            Submitted::Queued(Some(end)) => events.push(end, Event::Disk(disk).pack()),
            Submitted::Queued(None) => {}
        }
    }

    /// Puts data on a wire of a channel, ready at an instant, for so much work.
    fn cross(
        &mut self,
        events: &mut Events,
        now: Instant,
        (wire, ready, work): (u32, Instant, Nanos),
        crossing: Crossing,
    ) {
        let token = self.crossings.take();
        self.crossings[token] = crossing;
        let class = crossing.command.map_or(Class::HostRead, |command| command.class);
        self.wires[wire as usize].join(now, Transfer { ready, work, token, class, flow: None });
        self.arm(events, wire);
    }

    fn arm(&mut self, events: &mut Events, wire: u32) {
        if let Some(at) = self.wires[wire as usize].arm() {
            events.push(at, Event::Channel(wire).pack());
        }
    }

    /// A transfer may have ended on a wire of a channel.
    pub fn channel_due(&mut self, now: Instant, events: &mut Events, wire: u32) {
        let mut crossed = std::mem::take(&mut self.crossed);
        self.wires[wire as usize].advance(now, &mut crossed);
        self.arm(events, wire);
        for Carried { token, work } in crossed.drain(..) {
            let Crossing { disk, command, stay } = self.crossings[token];
            self.crossings.give(token);
            match command {
                Some(command) if command.write => {
                    self.hand_over(now, events, disk, Command { ready: now, ..command });
                }
                Some(command) => {
                    self.passed(now, disk, command, stay, Some(work));
                    self.member_done(now, events, command.tag);
                }
                None => {}
            }
        }
        self.crossed = crossed;
    }

    /// The command in service at a disk with a queue of its own has ended.
    pub fn disk_done(&mut self, now: Instant, events: &mut Events, disk: u32) {
        let Device::Rotating(drive) = &mut self.disks[disk as usize].device else { return };
        let (finished, next) = drive.finish(now);
        if let Some(end) = next {
            events.push(end, Event::Disk(disk).pack());
        }
        self.disks[disk as usize].outstanding -= 1;
        let Finished { command, started, steps, .. } = finished;
        let stay = AtDisk::Steps(started, steps, now);
        if !self.leaves_over_channel(now, events, disk, now, command, stay) {
            self.passed(now, disk, command, stay, None);
            self.member_done(now, events, command.tag);
        }
    }

    /// Has what a command read leave over its disk's channel, `end` being its end at the disk. `false`: there is
    /// nothing to carry, or no channel.
    fn leaves_over_channel(
        &mut self,
        now: Instant,
        events: &mut Events,
        disk: u32,
        end: Instant,
        command: Command,
        stay: AtDisk,
    ) -> bool {
        let Some(channel) = self.disks[disk as usize].channel.filter(|_| !command.write) else {
            return false;
        };
        let Link { params, back, .. } = self.channels[channel as usize];
        // It keeps pace with the media, or with the drive's buffer, and has begun before now where that has.
        let work = params.transfer(u64::from(command.sectors) * SECTOR_BYTES);
        let last = end + params.transfer(SECTOR_BYTES);
        let ready = Instant::from_nanos(last.nanos().saturating_sub(work.get()));
        let ready = if end > now { ready.max(now) } else { ready };
        self.cross(events, now, (back, ready, work), Crossing { disk, command: Some(command), stay });
        true
    }

    /// Takes the way of a command, with its stay at its disk and at last the time that a channel carried it, into that
    /// of its chain: if it is the last of its phase, or will be, as far as is known.
    fn passed(&mut self, now: Instant, disk: u32, command: Command, stay: AtDisk, carried: Option<Nanos>) {
        if !self.keeps_trails {
            return;
        }
        let channel = self.disks[disk as usize].channel.filter(|_| command.write);
        let to_disk = channel.map_or(Nanos::ZERO, |channel| {
            let Link { params, .. } = self.channels[channel as usize];
            params.transfer(u64::from(command.sectors) * SECTOR_BYTES)
        });
        let place = &mut self.chains[command.tag];
        let processing = self.engines[self.operations[place.operation].controller as usize].member_work();
        let go = |trail: &mut Trail| {
            trail.pass(Place::ControllerProcessor, command.given, processing);
            trail.pass(Place::Channel, command.ready, to_disk);
            stay.pass(trail);
            if let Some(work) = carried {
                trail.pass(Place::Channel, now, work);
            }
        };
        if place.pending == 1 {
            return go(&mut place.trail);
        }
        if let AtDisk::Whole(end, _) = stay
            && end > now.max(place.last.at())
            && carried.is_none()
        {
            place.last.begin(place.trail.at());
            go(&mut place.last);
        }
    }

    /// One command of a chain has ended.
    pub fn member_done(&mut self, now: Instant, events: &mut Events, chain: u32) {
        let place = &mut self.chains[chain];
        place.pending -= 1;
        if place.pending == 0 {
            place.trail.follow(&place.last, Place::Unclaimed);
            self.advance(now, events, chain, now);
        }
    }

    /// The arithmetic of a chain has ended.
    pub fn chain_ready(&mut self, now: Instant, events: &mut Events, chain: u32) {
        self.advance(now, events, chain, now);
    }

    /// Takes the trail of an ended operation back, for the next.
    pub fn recycle(&mut self, trail: Option<Box<Trail>>) {
        self.spare.extend(trail.filter(|_| self.keeps_trails));
    }

    /// Operations under way.
    pub fn busy(&self) -> usize {
        self.operations.in_use()
    }

    /// Those of them that are not background work.
    pub fn foreground(&self) -> usize {
        self.operations.in_use() - self.background
    }
}

/// Where `part` begins in `whole`, of which it is a slice.
fn at(whole: &[Step], part: &[Step]) -> usize {
    (part.as_ptr().addr() - whole.as_ptr().addr()) / size_of::<Step>()
}

/// The copy with the fewest commands before it, then the one whose arm is nearer, then each in turn.
fn nearest(disks: &[Disk], set: &Set, candidates: &[Candidate], turn: usize) -> usize {
    let cost = |index: usize| {
        let candidate = &candidates[index];
        let disk = &disks[set.disks[usize::from(candidate.member)] as usize];
        (disk.outstanding, disk.device.distance(candidate.lba.0), (index + turn) % candidates.len())
    };
    (0..candidates.len()).min_by_key(|&index| cost(index)).unwrap_or(0)
}
