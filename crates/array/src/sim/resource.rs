//! What an array could have more of: one kind of part made faster, everything else left as it is.
//!
//! **Invariant:** a part that is made faster is faster in all it does: rates are multiplied, times divided.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

use crate::device::queue::Service;
use crate::device::rotating::{AfterRw, DetachedWrite, Overheads, Seek, Zones};
use crate::device::{
    CachedFlashParams, DeviceParams, FittedParams, FlashParams, QueueParams, RotatingParams,
};
use crate::files::FilesParams;
use crate::link::LinkParams;

use super::Topology;

/// A kind of part that can be had faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// What a file or LUN of the host costs each request: the way through a lock.
    HostFile,
    /// The host's processors.
    HostProcessor,
    /// The host's adapters.
    Adapter,
    /// The links between hosts and controllers, without their length.
    Link,
    /// Cables, switches and hops.
    Distance,
    /// What a connection may have under way: a larger window, as none is faster.
    Window,
    /// The controllers' processors.
    ControllerProcessor,
    /// The controllers' buses.
    Bus,
    /// The way between controllers.
    Mirror,
    /// The controllers' caches: larger, as none is faster.
    Cache,
    /// The controllers' look-up of where the data are.
    Locate,
    /// Parity arithmetic.
    Xor,
    /// Back-end channels.
    Channel,
    /// Member devices.
    Disks,
}

impl Resource {
    /// All of them, in the order in which a request meets them.
    pub const ALL: [Resource; 14] = [
        Resource::HostFile,
        Resource::HostProcessor,
        Resource::Adapter,
        Resource::Link,
        Resource::Distance,
        Resource::Window,
        Resource::ControllerProcessor,
        Resource::Bus,
        Resource::Mirror,
        Resource::Cache,
        Resource::Locate,
        Resource::Xor,
        Resource::Channel,
        Resource::Disks,
    ];

    /// The name used in records: that of the part, where it is one.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::HostFile => "host file",
            Resource::HostProcessor => "host processor",
            Resource::Adapter => "host adapter",
            Resource::Link => "link",
            Resource::Distance => "distance",
            Resource::Window => "connection window",
            Resource::ControllerProcessor => "controller processor",
            Resource::Bus => "controller bus",
            Resource::Mirror => "controller mirror",
            Resource::Cache => "cache size",
            Resource::Locate => "locate",
            Resource::Xor => "controller xor",
            Resource::Channel => "channel",
            Resource::Disks => "disks",
        }
    }

    /// Whether `topology` has any of it that costs something.
    pub fn is_in(self, topology: &Topology) -> bool {
        let mut faster = topology.clone();
        self.speed_up(&mut faster, 2.0);
        faster != *topology
    }

    /// Makes it `times` as fast, or large.
    pub fn speed_up(self, topology: &mut Topology, times: f64) {
        assert!(times > 0.0, "a part works at some speed");
        let by = Faster(times);
        let (host, protocol, controller) =
            (&mut topology.host, &mut topology.protocol, &mut topology.controller);
        match self {
            Resource::HostFile => by.time(&mut host.per_file),
            Resource::HostProcessor => {
                [&mut host.request, &mut host.file_system, &mut protocol.client]
                    .into_iter()
                    .for_each(|time| by.time(time));
                host.page_cache.iter_mut().for_each(|pages| by.rate(&mut pages.copy));
                by.file_system(&mut host.files);
            }
            Resource::Adapter => topology.adapter.iter_mut().for_each(|(_, link)| by.link(link)),
            Resource::Link => topology.link.iter_mut().for_each(|link| by.link(link)),
            Resource::Distance => {
                by.time(&mut protocol.hop);
                topology.link.iter_mut().for_each(|link| by.time(&mut link.latency));
                topology.adapter.iter_mut().for_each(|(_, link)| by.time(&mut link.latency));
            }
            Resource::Window => protocol.window.iter_mut().for_each(|window| by.size(window)),
            Resource::ControllerProcessor => {
                let times = [
                    &mut controller.read_command,
                    &mut controller.write_command,
                    &mut controller.member_command,
                    // A part of the commands.
                    &mut controller.interrupt,
                    &mut protocol.server_read,
                    &mut protocol.server_write,
                ];
                times.into_iter().for_each(|time| by.time(time));
                let rates =
                    [&mut controller.copy, &mut protocol.server_read_copy, &mut protocol.server_write_copy];
                rates.into_iter().flatten().for_each(|rate| by.rate(rate));
            }
            Resource::Bus => controller.bus.iter_mut().for_each(|rate| by.rate(rate)),
            Resource::Mirror => controller.partner.iter_mut().for_each(|link| {
                by.link(link);
                by.time(&mut link.latency);
            }),
            Resource::Cache => controller.cache.iter_mut().for_each(|cache| by.size(&mut cache.size)),
            Resource::Locate => {
                by.time(&mut controller.locate);
                by.time(&mut controller.place);
            }
            Resource::Xor => controller.xor.iter_mut().for_each(|rate| by.rate(rate)),
            Resource::Channel => topology.channel.iter_mut().for_each(|(_, link)| by.link(link)),
            Resource::Disks => topology.models.iter_mut().for_each(|model| by.device(model)),
        }
    }
}

/// How much faster.
#[derive(Clone, Copy)]
struct Faster(f64);

impl Faster {
    fn time(self, time: &mut Nanos) {
        *time = Nanos::new(truncated((time.get() as f64 / self.0).round()));
    }

    fn rate(self, rate: &mut BytesPerSecond) {
        *rate = BytesPerSecond::new(rate.get() * self.0);
    }

    fn size(self, size: &mut Bytes) {
        *size = Bytes::new(truncated(size.as_f64() * self.0));
    }

    /// All but its length.
    fn link(self, link: &mut LinkParams) {
        self.rate(&mut link.rate);
        self.rate(&mut link.write_rate);
        self.time(&mut link.command);
    }

    /// What its calls take of a processor.
    fn file_system(self, files: &mut FilesParams) {
        let FilesParams { stat, open, create, rename, remove, entry, copy, .. } = files;
        [stat, open, create, rename, remove, entry].into_iter().for_each(|time| self.time(time));
        self.rate(copy);
    }

    fn device(self, model: &mut DeviceParams) {
        match model {
            DeviceParams::Rotating(drive) => self.rotating(drive),
            DeviceParams::Flash(drive) => self.flash(drive),
            DeviceParams::CachedFlash(CachedFlashParams {
                hit,
                read,
                write,
                bandwidth,
                flash_bandwidth,
                ..
            }) => {
                [hit, read, write].into_iter().for_each(|time| self.time(time));
                [bandwidth, flash_bandwidth].into_iter().for_each(|rate| self.rate(rate));
            }
            DeviceParams::Queue(QueueParams { service, .. }) => match service {
                Service::Fixed(time) | Service::Exponential(time) => self.time(time),
            },
            DeviceParams::Fitted(device) => self.fitted(device),
        }
    }

    /// Arm, spindle, processor and interface; what a track holds stays, and passes faster.
    fn rotating(self, drive: &mut RotatingParams) {
        drive.rpm *= self.0;
        match &mut drive.seek {
            Seek::ThreeNumbers { track_to_track, average, full } => {
                [track_to_track, average, full].into_iter().for_each(|time| self.time(time));
            }
            Seek::Measured(points) => points.iter_mut().for_each(|(_, time)| self.time(time)),
        }
        if let Zones::Rates { outer, inner } = &mut drive.zones {
            self.rate(outer);
            self.rate(inner);
        }
        let overhead = &mut drive.overhead;
        let by_kind = [
            &mut overhead.read_hit,
            &mut overhead.read_miss,
            &mut overhead.write_hit,
            &mut overhead.write_miss,
        ];
        for AfterRw { after_read, after_write } in by_kind {
            self.time(after_read);
            self.time(after_write);
        }
        let Overheads { read_completion, write_completion, data, reselect, least_write_seek, .. } = overhead;
        [read_completion, write_completion, data, reselect, least_write_seek, &mut drive.head_switch]
            .into_iter()
            .for_each(|time| self.time(time));
        if let Some(DetachedWrite { command, seek, data, reselect }) = &mut overhead.detached_write {
            [command, seek, data, reselect].into_iter().for_each(|time| self.time(time));
        }
        drive.write_settle_ns = truncated((drive.write_settle_ns as f64 / self.0).round());
        self.rate(&mut drive.link);
    }

    fn fitted(self, device: &mut FittedParams) {
        let FittedParams { read, write, read_on, write_on, beside, link, link_command, follow, .. } = device;
        let accesses = [&mut *read, &mut *write].into_iter().flat_map(|access| &mut access.times);
        accesses.for_each(|(_, time)| self.time(time));
        [beside, link_command, follow].into_iter().for_each(|time| self.time(time));
        [&mut read.rate, &mut write.rate, read_on, write_on, link]
            .into_iter()
            .for_each(|rate| self.rate(rate));
    }

    fn flash(self, drive: &mut FlashParams) {
        drive.read_page.iter_mut().for_each(|time| self.time(time));
        let times = [
            &mut drive.program_page,
            &mut drive.erase_block,
            &mut drive.command,
            &mut drive.write_command,
            &mut drive.command_gap,
            &mut drive.write_gap,
            &mut drive.link_command,
        ];
        times.into_iter().for_each(|time| self.time(time));
        let slc = drive.slc_cache.iter_mut();
        let times = slc.flat_map(|slc| [Some(&mut slc.program_page), slc.read_page.as_mut()]);
        let flushes = [drive.flush.as_mut(), drive.fua.as_mut()];
        times.chain(flushes).flatten().for_each(|time| self.time(time));
        drive.write_path.iter_mut().for_each(|rate| self.rate(rate));
        self.rate(&mut drive.channel);
        self.rate(&mut drive.link);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{self, Shipped};

    fn topology(address: &str) -> Topology {
        spec::array(&Shipped, address).unwrap().topology
    }

    #[test]
    fn what_an_array_does_not_have_cannot_be_had_faster() {
        let array = topology("array:md3000?raid=5");
        let has = |resource: Resource| resource.is_in(&array);
        assert!(has(Resource::Disks) && has(Resource::ControllerProcessor) && has(Resource::Link));
        for resource in Resource::ALL {
            let mut same = array.clone();
            resource.speed_up(&mut same, 1.0);
            assert_eq!(same, array, "{}", resource.name());
        }
    }

    #[test]
    fn a_faster_processor_takes_interrupts_as_much_faster_as_commands() {
        let (slow, mut fast) = (topology("array:perc-3-qc"), topology("array:perc-3-qc"));
        Resource::ControllerProcessor.speed_up(&mut fast, 2.0);
        let busy = |topology: &Topology| topology.controller.read_command - topology.controller.interrupt;
        assert_eq!(busy(&fast).get() * 2, busy(&slow).get());
        assert!(!slow.controller.interrupt.is_zero(), "it has such a part");
    }

    #[test]
    fn a_faster_drive_turns_moves_and_reads_faster() {
        let (slow, mut fast) = (topology("array:md3000?raid=5"), topology("array:md3000?raid=5"));
        Resource::Disks.speed_up(&mut fast, 2.0);
        let (DeviceParams::Rotating(slow), DeviceParams::Rotating(fast)) = (&slow.models[0], &fast.models[0])
        else {
            panic!("the MD3000 has drives with arms")
        };
        assert_eq!(fast.revolution().get(), slow.revolution().get() / 2);
        assert_ne!((&fast.seek, &fast.zones, fast.overhead), (&slow.seek, &slow.zones, slow.overhead));
    }
}
