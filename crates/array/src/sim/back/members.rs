//! Member commands: over their channel, at their disk, and back.
//!
//! **Invariant:** a command that was given out ends exactly once.

use units::{Instant, Nanos, SECTOR_BYTES};

use crate::device::{Command, Device, Finished, Submitted};
use crate::latency::{LatencyTrace, Stage};
use crate::link::Link;
use crate::meter::Class;
use crate::sim::chain::{AtDisk, Crossing};
use crate::sim::event::Event;
use crate::sim::timeline::Timeline;
use crate::wire::{Carried, Transfer};

use super::BackEnd;

impl BackEnd {
    /// Gives a command out: over the channel first where it brings data, which had flowed for `flow` when the last of them were there.
    pub(super) fn submit(&mut self, time: &mut Timeline, disk: u32, command: Command, flow: Nanos) {
        let place = &mut self.disks[disk as usize];
        debug_assert!(command.sectors > 0, "a command that moves data must have a length");
        place.outstanding += 1;
        place.moved[usize::from(command.write)].0 += u64::from(command.sectors);
        place.next = command.first + u64::from(command.sectors);
        match place.channel.filter(|_| command.write) {
            Some(channel) => {
                let Link { params, out, sector, .. } = self.channels.links[channel as usize];
                let work = params.send(u64::from(command.sectors) * SECTOR_BYTES);
                let crossing = Crossing { disk, command: Some(command), at_disk: AtDisk::NotYet };
                // It keeps pace with what comes, of which its last sector is left when the last is there.
                let ahead = flow.min(work.saturating_sub(sector));
                let ready = Instant::from_nanos(command.ready.nanos().saturating_sub(ahead.get()));
                self.cross(time, (out, ready, work), crossing);
            }
            None => self.hand_over(time, disk, command, flow),
        }
    }

    /// The disk has a command, and what it brings, which had flowed for `flow` when the last of it was there.
    fn hand_over(&mut self, time: &mut Timeline, disk: u32, command: Command, flow: Nanos) {
        let place = &mut self.disks[disk as usize];
        match place.device.submit_behind(time.now(), command, flow) {
            Submitted::Ends(end) => {
                debug_assert!(end >= time.now(), "a command must not end before it was given");
                debug_assert!(place.outstanding > 0, "a disk must end no more than it was given");
                place.outstanding -= 1;
                let alone = if self.traces_latency { place.device.alone(command) } else { Nanos::ZERO };
                let at_disk = AtDisk::Whole(end, alone);
                match self.channel_back(disk, command) {
                    Some(channel) => self.leave(time, (disk, channel), end, command, at_disk),
                    None => {
                        if !command.write {
                            let flow = self.disks[disk as usize].device.transfer(command);
                            self.flowed(command.tag, flow.unwrap_or(Nanos::ZERO));
                        }
                        self.passed(time.now(), disk, command, at_disk, None);
                        time.at(end, Event::Member(command.tag));
                    }
                }
            }
            Submitted::Queued(Some(end)) => time.at(end, Event::Disk(disk)),
            Submitted::Queued(None) => {}
        }
    }

    /// Puts data on a wire of a channel, ready at an instant, for so much work.
    fn cross(&mut self, time: &mut Timeline, (wire, ready, work): (u32, Instant, Nanos), crossing: Crossing) {
        debug_assert!(crossing.command.is_some(), "what crosses a channel must be some command's");
        let token = self.channels.crossings.take();
        self.channels.crossings[token] = crossing;
        let class = crossing.command.map_or(Class::HostRead, |command| command.class);
        self.channels.wires[wire as usize]
            .join(time.now(), Transfer { ready, work, token, class, ..Transfer::default() });
        self.arm(time, wire);
    }

    fn arm(&mut self, time: &mut Timeline, wire: u32) {
        if let Some(at) = self.channels.wires[wire as usize].arm() {
            time.at(at, Event::Channel(wire));
        }
    }

    /// A transfer may have ended on a wire of a channel.
    pub fn channel_due(&mut self, time: &mut Timeline, wire: u32) {
        let now = time.now();
        let mut crossed = std::mem::take(&mut self.channels.crossed);
        self.channels.wires[wire as usize].advance(now, &mut crossed);
        self.arm(time, wire);
        for Carried { token, work } in crossed.drain(..) {
            self.channels.crossings.give(token);
            // What is read of it is little: the whole of it is copied only where it is needed.
            let crossing = &self.channels.crossings[token];
            match &crossing.command {
                Some(command) if command.write => {
                    let (disk, command) = (crossing.disk, Command { ready: now, ..*command });
                    self.hand_over(time, disk, command, work);
                }
                Some(command) => {
                    let tag = command.tag;
                    self.flowed(tag, work);
                    if self.traces_latency
                        && let Crossing { disk, at_disk, command: Some(command) } =
                            self.channels.crossings[token]
                    {
                        self.follow(now, disk, command, at_disk, Some(work));
                    }
                    self.member_done(time, tag);
                }
                None => {}
            }
        }
        self.channels.crossed = crossed;
    }

    /// The command in service at a disk with a queue of its own has ended.
    pub fn disk_done(&mut self, time: &mut Timeline, disk: u32) {
        let Device::Rotating(drive) = &mut self.disks[disk as usize].device else { return };
        let (finished, next) = drive.finish(time.now());
        if let Some(end) = next {
            time.at(end, Event::Disk(disk));
        }
        let left = &mut self.disks[disk as usize].outstanding;
        debug_assert!(*left > 0, "a disk must end no more than it was given");
        *left -= 1;
        let now = time.now();
        let Finished { command, started, steps, .. } = finished;
        let at_disk = AtDisk::Steps(started, steps, now);
        match self.channel_back(disk, command) {
            Some(channel) => self.leave(time, (disk, channel), now, command, at_disk),
            None => {
                self.passed(now, disk, command, at_disk, None);
                self.member_done(time, command.tag);
            }
        }
    }

    /// What a command read had flowed for so long when the last of it left the disk.
    #[inline]
    fn flowed(&mut self, chain: u32, flow: Nanos) {
        if self.passes_through {
            let operation = &mut self.operations[self.chains[chain].operation];
            operation.flow = operation.flow.max(flow);
        }
    }

    /// The channel that carries what a command read; `None`: there is nothing to carry, or no channel.
    #[inline]
    fn channel_back(&self, disk: u32, command: Command) -> Option<u32> {
        self.disks[disk as usize].channel.filter(|_| !command.write)
    }

    /// Has what a command read leave its disk over a channel, `end` being its end at the disk.
    fn leave(
        &mut self,
        time: &mut Timeline,
        (disk, channel): (u32, u32),
        end: Instant,
        command: Command,
        at_disk: AtDisk,
    ) {
        let Link { params, back, sector, .. } = self.channels.links[channel as usize];
        // It keeps pace with the media, or with the drive's buffer, and has begun before now where that has.
        let work = params.fetch(u64::from(command.sectors) * SECTOR_BYTES);
        let last = end + sector;
        let ready = Instant::from_nanos(last.nanos().saturating_sub(work.get()));
        let begun = self.disks[disk as usize].device.transfer(command);
        let begun = begun.map_or(0, |flow| end.nanos().saturating_sub(flow.get()));
        let ready = ready.max(Instant::from_nanos(begun));
        let ready = if end > time.now() { ready.max(time.now()) } else { ready };
        self.cross(time, (back, ready, work), Crossing { disk, command: Some(command), at_disk });
    }

    /// Takes the way of a command, with its time at its disk and at last the time that a channel carried it, into that
    /// of its chain, where traces are kept: if it is the last of its phase, or will be, as far as is known.
    #[inline]
    pub(super) fn passed(
        &mut self,
        now: Instant,
        disk: u32,
        command: Command,
        at_disk: AtDisk,
        carried: Option<Nanos>,
    ) {
        if self.traces_latency {
            self.follow(now, disk, command, at_disk, carried);
        }
    }

    fn follow(&mut self, now: Instant, disk: u32, command: Command, at_disk: AtDisk, carried: Option<Nanos>) {
        let channel = self.disks[disk as usize].channel.filter(|_| command.write);
        let to_disk = channel.map_or(Nanos::ZERO, |channel| {
            let Link { params, .. } = self.channels.links[channel as usize];
            params.send(u64::from(command.sectors) * SECTOR_BYTES)
        });
        let place = &mut self.chains[command.tag];
        let processing = self.engines[self.operations[place.operation].controller as usize].member_work();
        let go = |trace: &mut LatencyTrace| {
            trace.pass(Stage::ControllerProcessor, command.given, processing);
            trace.pass(Stage::Channel, command.ready, to_disk);
            at_disk.pass(trace);
            if let Some(work) = carried {
                trace.pass(Stage::Channel, now, work);
            }
        };
        if place.pending == 1 {
            return go(&mut place.trace);
        }
        if let AtDisk::Whole(end, _) | AtDisk::Flushed(end) = at_disk
            && end > now.max(place.last.at())
            && carried.is_none()
        {
            place.last.begin(place.trace.at());
            go(&mut place.last);
        }
    }

    /// One command of a chain has ended.
    pub fn member_done(&mut self, time: &mut Timeline, chain: u32) {
        let place = &mut self.chains[chain];
        debug_assert!(place.pending > 0, "a command must end once");
        place.pending -= 1;
        if place.pending == 0 {
            place.trace.follow(&place.last, Stage::Unclaimed);
            self.chain_ready(time, chain);
        }
    }
}
