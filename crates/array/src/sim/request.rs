//! A host request on its way.

use units::Instant;
use workload::{Errno, Op, Token};

use crate::meter::Class;
use crate::readahead::Fetch;

/// No parent.
pub const NONE: u32 = u32::MAX;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A job asked for it.
    Job,
    /// A page cache fetches pages of what jobs know by that number.
    Pages(u32, Fetch),
    /// A page cache fetches what the present step of a read needs, and nothing ahead of it.
    Step(u32),
    /// A page cache writes pages back.
    Writeback,
}

/// Where a request is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// To its controller.
    Out,
    /// From one controller to the other, which serves it.
    Across,
    /// A copy of its data to the partner's cache.
    Mirror,
    /// To its host.
    Back,
}

/// A request, or one of the parts that a long one is sent in.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest {
    /// Whose it is.
    pub client: u32,
    /// Its slot there.
    pub token: Token,
    /// What is asked.
    pub op: Op,
    /// For the meters.
    pub class: Class,
    /// The volume.
    pub lun: u32,
    /// Bytes from the volume's start.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// The request that this is a part of, or [`NONE`].
    pub parent: u32,
    /// Parts or back-end operations that have not ended.
    pub pending: u32,
    /// Why it will fail, if it will.
    pub failed: Option<Errno>,
    /// The session it goes in.
    pub session: u32,
    /// The link it takes.
    pub link: u32,
    /// How often that link had been cut when it was sent.
    pub cuts: u32,
    /// The controller it goes to.
    pub controller: u32,
    /// Bytes of a buffered request that are copied between page cache and user.
    pub copied: u32,
    /// What for.
    pub purpose: Purpose,
    /// Whether it counts as outstanding at its host.
    pub outstanding: bool,
    /// Whether it is at a controller.
    pub arrived: bool,
    /// Whether its controller has accepted it.
    pub accepted: bool,
    /// When it was sent.
    pub sent: Instant,
    /// Where it is going.
    pub leg: Leg,
    /// Wires that carry it there.
    pub wires: u8,
    /// When it is there at the earliest.
    pub due: Instant,
    /// Whether it is the last part of what was asked, or all of it.
    pub last: bool,
    /// Whether it is a write that must be on stable storage when it ends: SCSI's FUA.
    pub durable: bool,
    /// Whether the members are to be flushed once it is written.
    pub stable: bool,
}

impl Default for HostRequest {
    fn default() -> HostRequest {
        HostRequest {
            client: 0,
            token: Token(0),
            op: Op::Read,
            class: Class::HostRead,
            lun: 0,
            offset: 0,
            len: 0,
            parent: NONE,
            pending: 0,
            failed: None,
            session: 0,
            link: 0,
            cuts: 0,
            controller: 0,
            copied: 0,
            purpose: Purpose::Job,
            outstanding: false,
            arrived: false,
            accepted: false,
            sent: Instant::START,
            leg: Leg::Out,
            wires: 0,
            due: Instant::START,
            last: true,
            durable: false,
            stable: false,
        }
    }
}
