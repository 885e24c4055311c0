//! Zones that are written in order, as those of a zoned block device.

use units::{Bytes, Share};

/// How large zones are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneSize {
    /// As large as those of the device, which has zones of its own.
    OfDevice,
    /// So large; on a device with zones of its own they are.
    Of(Bytes),
}

/// How a workload goes through zones, of each of which a write pointer says how far it is written. What is `None` asks for
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Zones {
    /// From the start of one zone to the start of the next; without it there are no zones.
    pub size: Option<ZoneSize>,
    /// What can be written of each; at most its size.
    pub capacity: Option<Bytes>,
    /// Zones that are written in part, of all workers on a file.
    pub open: Option<u32>,
    /// Of these, those of one worker.
    pub open_of_worker: Option<u32>,
    /// A stream leaves out so much after each zone; a multiple of the size.
    pub skip: Option<Bytes>,
    /// Reads go anywhere, and not only where something was written.
    pub reads_beyond: bool,
    /// Part of the writes that reset their zone once more than `resets_above` is written.
    pub resets: Option<Share>,
    /// A part of what the worker uses.
    pub resets_above: Option<Share>,
}

impl Zones {
    /// No zones.
    pub const NONE: Zones = Zones {
        size: None,
        capacity: None,
        open: None,
        open_of_worker: None,
        skip: None,
        reads_beyond: false,
        resets: None,
        resets_above: None,
    };

    /// Whether there are zones.
    pub fn are_there(&self) -> bool {
        self.size.is_some()
    }

    /// The size of a zone and what can be written of it; `None` where there are no zones, and where only their device knows.
    pub fn layout(&self) -> Option<(Bytes, Bytes)> {
        let Some(ZoneSize::Of(size)) = self.size else { return None };
        Some((size, self.capacity.unwrap_or(size).min(size)))
    }
}
