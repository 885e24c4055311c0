//! What holds data: each device is a server whose service time is known in closed form.
//!
//! **Invariant:** one to three events per request, whatever its size: nothing here happens once per sector.

pub mod cached;
pub mod flash;
pub mod queue;
pub mod rotating;

use units::Instant;

use crate::meter::Class;

pub use cached::CachedFlashParams;
pub use flash::FlashParams;
pub use queue::QueueParams;
pub use rotating::RotatingParams;

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
}
