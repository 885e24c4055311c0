//! What holds data: each device is a server whose service time is known in closed form.
//!
//! **Invariant:** one to three events per request, whatever its size: nothing here happens once per sector.

pub mod cached;
pub mod flash;
pub mod queue;
pub mod rotating;

pub use cached::CachedFlashParams;
pub use flash::FlashParams;
pub use queue::QueueParams;
pub use rotating::RotatingParams;

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
