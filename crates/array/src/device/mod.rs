//! What holds data: each device is a server whose service time is known in closed form.
//!
//! **Invariant:** one to three events per request, whatever its size: nothing here happens once per sector.

pub mod cached;
pub mod fitted;
pub mod flash;
mod programs;
pub mod queue;
pub mod rotating;
mod write_buffer;

use units::convert::narrow;
use units::{Bytes, Instant, Nanos, Sectors};

use crate::meter::{Class, Meter};
use crate::streams::Stream;

pub use cached::{CachedFlash, CachedFlashParams};
pub use fitted::{Fitted, FittedParams};
pub use flash::{FlashDrive, FlashParams, SlcUse};
pub use queue::{Queue, QueueParams};
pub use rotating::{Drive, RotatingParams};

use rotating::DriveCacheParams;

/// What a device is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// First sector.
    pub first: u64,
    /// Sectors, at least one.
    pub sectors: u32,
    /// Whose it is; handed back at the end.
    pub tag: u32,
    /// Write, or read.
    pub write: bool,
    /// On whose behalf.
    pub class: Class,
    /// When the data of a write reach the device.
    pub ready: Instant,
    /// When its controller had processed it.
    pub given: Instant,
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// As it was submitted.
    pub command: Command,
    /// When it was submitted.
    pub arrived: Instant,
    /// When the device began to serve it.
    pub started: Instant,
    /// The steps of its service.
    pub steps: Steps,
}

/// When the steps of a command at a drive ended; one that did not come ended with the step before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The drive's processor had looked at it, and its data were there.
    pub processed: Instant,
    /// The arm was free for it, or the buffer had room.
    pub free: Instant,
    /// The arm was on its track.
    pub on_track: Instant,
    /// Its first sector passed.
    pub on_sector: Instant,
}

/// A device at work.
#[derive(Clone, Debug)]
pub enum Device {
    /// A disk drive.
    Rotating(Box<Drive>),
    /// A flash drive.
    Flash(Box<FlashDrive>),
    /// Flash behind a cache of its own.
    CachedFlash(Box<CachedFlash>),
    /// A plain queue.
    Queue(Box<Queue>),
    /// One that is known from outside.
    Fitted(Box<Fitted>),
}

/// When a command that was submitted will end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Then, known at once.
    Ends(Instant),
    /// The device serves commands in an order of its own. Where it had been idle, the command in service ends then;
    /// ask [`Drive::finish`] at that instant.
    Queued(Option<Instant>),
}

impl Device {
    /// A device at rest; what it draws at random comes from `seed`.
    pub fn new(params: &DeviceParams, seed: u64) -> Device {
        match params {
            DeviceParams::Rotating(params) => {
                Device::Rotating(Box::new(Drive::new(params).ahead_by(phase(params, seed))))
            }
            DeviceParams::Flash(params) => Device::Flash(Box::new(FlashDrive::new(params, seed))),
            DeviceParams::CachedFlash(params) => Device::CachedFlash(Box::new(CachedFlash::new(params))),
            DeviceParams::Queue(params) => Device::Queue(Box::new(Queue::new(params, seed))),
            DeviceParams::Fitted(params) => Device::Fitted(Box::new(Fitted::new(params))),
        }
    }

    /// A device with the same `params` as this one, which is at rest: its tables are computed, and its flash is
    /// overwritten until it is steady, once.
    pub fn another(&self, params: &DeviceParams, seed: u64) -> Device {
        match (self, params) {
            (Device::Rotating(drive), DeviceParams::Rotating(params)) => {
                Device::Rotating(Box::new(Drive::clone(drive).ahead_by(phase(params, seed))))
            }
            (Device::Flash(drive), DeviceParams::Flash(_)) => Device::Flash(Box::new(drive.another(seed))),
            _ => Device::new(params, seed),
        }
    }

    /// Takes a command, all of whose data are there when it is.
    pub fn submit(&mut self, now: Instant, command: Command) -> Submitted {
        self.submit_behind(now, command, Nanos::ZERO)
    }

    /// Takes a command; the data of a write had flowed towards it for `flow` when the last of them were there, so that what the
    /// interface of a flash drive takes for them has passed meanwhile.
    pub fn submit_behind(&mut self, now: Instant, command: Command, flow: Nanos) -> Submitted {
        match self {
            Device::Rotating(drive) => match drive.answer_beside(now, command) {
                Some(end) => Submitted::Ends(end),
                None => Submitted::Queued(drive.submit(now, command)),
            },
            Device::Flash(drive) => Submitted::Ends(drive.submit_behind(now, command, flow)),
            Device::CachedFlash(device) => Submitted::Ends(device.submit(now, command)),
            Device::Queue(queue) => Submitted::Ends(queue.submit(now, command)),
            Device::Fitted(fitted) => Submitted::Ends(fitted.submit(now, command)),
        }
    }

    /// How long the data of a read that ends have flowed from it: the transfer over the interface of a flash drive, which begins
    /// with the first page. `None`: not known of another device.
    pub fn transfer(&self, command: Command) -> Option<Nanos> {
        match self {
            Device::Flash(drive) => Some(drive.transfer(command)),
            _ => None,
        }
    }

    /// How long `command`, which was submitted last, would have taken of a device that does nothing else. A drive with
    /// an arm tells the [`Steps`] of each command that it has queued instead.
    pub fn alone(&self, command: Command) -> Nanos {
        match self {
            Device::Rotating(drive) => drive.beside(),
            Device::Flash(drive) => drive.alone(command),
            Device::CachedFlash(device) => device.alone(command),
            Device::Queue(queue) => queue.alone(),
            Device::Fitted(fitted) => fitted.alone(),
        }
    }

    /// When what it has acknowledged by `now` is safe from a loss of power. In its meter that is a visit on behalf of `class`.
    pub fn flush(&mut self, now: Instant, class: Class) -> Instant {
        match self {
            Device::Rotating(drive) => drive.flush(now, class),
            Device::Flash(drive) => drive.flush(now, class),
            // Batteries hold the memory of cached flash until it has been written; a plain queue holds nothing, and of
            // a device known from outside nobody has measured it.
            Device::CachedFlash(_) | Device::Queue(_) | Device::Fitted(_) => now,
        }
    }

    /// When the write that came last, answered by `now`, is on its media, where the host had it forced there: what knows no such
    /// write (FUA) is flushed. In its meter that is a visit on behalf of `class`.
    pub fn force(&mut self, now: Instant, class: Class) -> Instant {
        match self {
            Device::Flash(drive) => drive.force(now, class),
            other => other.flush(now, class),
        }
    }

    /// Forgets what it keeps for reads; when all that it has taken by `now` is on its media, and what that left behind
    /// is done.
    pub fn settle(&mut self, now: Instant) -> Instant {
        match self {
            Device::Rotating(drive) => drive.settle(now),
            Device::Flash(drive) => drive.settle(now),
            Device::CachedFlash(device) => device.settle(now),
            Device::Fitted(fitted) => fitted.settled().max(now),
            Device::Queue(_) => now,
        }
    }

    /// What the buffer of a flash drive has acknowledged and not written at `now`, and its size; nothing of what else has a cache.
    pub fn buffered(&self, now: Instant) -> [Bytes; 2] {
        match self {
            Device::Flash(drive) => [drive.unwritten(now), drive.buffer_size()],
            Device::Rotating(_) | Device::CachedFlash(_) | Device::Queue(_) | Device::Fitted(_) => {
                [Bytes::ZERO; 2]
            }
        }
    }

    /// Has memory before flash keep `sectors` from `first` on for reads, as far as it has room; nothing else has such.
    pub fn hold(&mut self, first: u64, sectors: Sectors) {
        if let Device::CachedFlash(device) = self {
            device.hold(first, sectors);
        }
    }

    /// When it has been told that nothing of `sectors` from `first` on is needed any more.
    pub fn trim(&mut self, now: Instant, first: u64, sectors: u32) -> Instant {
        match self {
            Device::Rotating(drive) => drive.trim(now),
            Device::Flash(drive) => drive.trim(now, first, sectors),
            Device::CachedFlash(_) | Device::Queue(_) | Device::Fitted(_) => now,
        }
    }

    /// Has background work be served in the order it came; how many commands the device takes at once.
    pub fn order_background(&mut self) -> u32 {
        match self {
            Device::Rotating(drive) => drive.order_background(),
            // They serve all in the order it comes. Serial ATA has 32 tags, and nothing here has fewer.
            Device::Flash(_) | Device::CachedFlash(_) | Device::Queue(_) | Device::Fitted(_) => 32,
        }
    }

    /// How far its arm would have to go to `sector`; zero without an arm.
    pub fn distance(&self, sector: u64) -> u32 {
        match self {
            Device::Rotating(drive) => drive.distance(sector),
            _ => 0,
        }
    }

    /// What its meter's busy time is of: arms, flash dies, regions, servers.
    pub fn servers(&self) -> u32 {
        match self {
            Device::Rotating(_) => 1,
            Device::Flash(drive) => drive.servers(),
            Device::CachedFlash(device) => device.servers(),
            Device::Queue(queue) => queue.servers(),
            Device::Fitted(fitted) => fitted.servers(),
        }
    }

    /// Among how many waiting commands at most it takes the nearest; `None` where it serves them as they came.
    pub fn chooses_among(&self) -> Option<u32> {
        match self {
            Device::Rotating(drive) => drive.chooses_among(),
            _ => None,
        }
    }

    /// What its servers do, where that is not a command each: dies that read and program pages, regions that read and
    /// write lines.
    pub fn workers(&mut self) -> Option<&mut Meter> {
        match self {
            Device::Flash(drive) => Some(drive.dies()),
            Device::CachedFlash(device) => Some(device.regions()),
            Device::Rotating(_) | Device::Queue(_) | Device::Fitted(_) => None,
        }
    }

    /// What its cache of one bit a cell took since the window of its meter began; `None` where it has none.
    pub fn slc(&self) -> Option<SlcUse> {
        match self {
            Device::Flash(drive) => drive.slc(),
            Device::CachedFlash(_) | Device::Rotating(_) | Device::Queue(_) | Device::Fitted(_) => None,
        }
    }

    /// Of a drive whose parts work side by side: the busiest kind of them from the beginning of its meter's window until `now`.
    pub fn busiest(&self, now: Instant) -> Option<Inner> {
        match self {
            Device::Flash(drive) => Some(drive.busiest(now)),
            Device::CachedFlash(_) | Device::Rotating(_) | Device::Queue(_) | Device::Fitted(_) => None,
        }
    }

    /// Begins a window of its meter.
    pub fn restart_meter(&mut self, now: Instant) {
        match self {
            Device::Flash(drive) => drive.restart_meter(now),
            Device::CachedFlash(device) => device.restart_meter(now),
            Device::Rotating(drive) => drive.restart_meter(now),
            Device::Queue(_) | Device::Fitted(_) => self.meter().restart(now),
        }
    }

    /// Nanoseconds that it was busy in the window of its meter until `now`.
    pub fn busy_by(&mut self, now: Instant) -> u64 {
        match self {
            Device::Rotating(drive) => drive.busy_by(now),
            _ => self.meter().busy_by(now),
        }
    }

    /// Ends the window of its meter.
    pub fn close_meter(&mut self, now: Instant) {
        match self {
            Device::Rotating(drive) => drive.close_meter(now),
            Device::Flash(drive) => drive.close_meter(now),
            Device::CachedFlash(device) => device.close_meter(now),
            Device::Queue(queue) => queue.meter().close(now, std::iter::empty()),
            Device::Fitted(fitted) => fitted.meter().close(now, std::iter::empty()),
        }
    }

    /// Its past.
    pub fn meter(&mut self) -> &mut Meter {
        match self {
            Device::Rotating(drive) => drive.meter(),
            Device::Flash(drive) => drive.meter(),
            Device::CachedFlash(device) => device.meter(),
            Device::Queue(queue) => queue.meter(),
            Device::Fitted(fitted) => fitted.meter(),
        }
    }
}

/// Parts of one kind inside a device, and how long they worked, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inner {
    /// The kind, in words: `flash dies`.
    pub name: &'static str,
    /// How many work at once.
    pub servers: u32,
    /// Time that they worked.
    pub busy: Nanos,
}

impl Inner {
    /// `servers` of a kind that have not worked.
    pub(crate) fn of(name: &'static str, servers: usize) -> Inner {
        Inner { name, servers: narrow::<u32>(servers), busy: Nanos::ZERO }
    }

    /// How long each of them worked, on average.
    pub fn each(self) -> Nanos {
        Nanos::new(self.busy.get() / u64::from(self.servers.max(1)))
    }
}

/// Where on its turn a drive begins.
fn phase(params: &RotatingParams, seed: u64) -> f64 {
    if params.spindle_sync { 0.0 } else { Stream::open(seed, "disk/phase").unit() }
}

/// What a device is, with its figures.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceParams {
    /// A disk drive.
    Rotating(RotatingParams),
    /// A flash drive.
    Flash(FlashParams),
    /// Flash modules behind a large DRAM cache.
    CachedFlash(CachedFlashParams),
    /// Nothing but servers and a queue.
    Queue(QueueParams),
    /// Times by the number of commands.
    Fitted(FittedParams),
}

impl DeviceParams {
    /// User capacity; `None` of what is a law and no drive.
    pub fn capacity(&self) -> Option<Bytes> {
        match self {
            DeviceParams::Rotating(drive) => Some(drive.capacity.bytes()),
            DeviceParams::Flash(drive) => Some(drive.capacity),
            DeviceParams::CachedFlash(device) => Some(device.capacity),
            DeviceParams::Queue(_) | DeviceParams::Fitted(_) => None,
        }
    }

    /// Memory in which it acknowledges writes that a loss of power would take; zero of what has none.
    pub fn volatile_buffer(&self) -> Bytes {
        match self {
            DeviceParams::Rotating(drive) => {
                let cache = drive.cache.filter(DriveCacheParams::is_write_back);
                cache.map_or(Bytes::ZERO, |cache| cache.segment.bytes() * u64::from(cache.write_segments))
            }
            DeviceParams::Flash(drive) if !drive.protected => drive.write_buffer,
            // The memory of the others has a battery, or is none.
            _ => Bytes::ZERO,
        }
    }
}
