//! Host requests on their way, and where the time of each went.
//!
//! **Invariant:** a request has as many parts on the way as it counts, and completes when the last has answered.

use std::ops::{Index, IndexMut};

use units::{Instant, Nanos};
use workload::{Errno, Op, Token};

use crate::latency::{LatencyTrace, Stage};
use crate::meter::Class;
use crate::readahead::Fetch;
use crate::slab::Slab;

/// No parent.
const NONE: u32 = u32::MAX;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A job asked for it.
    Job,
    /// A page cache fetches pages of what jobs know by that number.
    Pages(u32, Fetch),
    /// A page cache fetches what the present step of a read needs, and nothing ahead of it.
    Step(u32),
    /// A file system reads the block of pointers that maps a part of a request.
    Pointers {
        /// The request.
        whole: u32,
        /// Whether it goes through the page cache.
        buffered: bool,
    },
    /// A page cache writes pages back, of that age among those of their file.
    Writeback(u64),
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

/// What the back end does for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// What was asked, or the last step of it.
    Asked,
    /// It reads lines that a write covers in part.
    Filling,
    /// It writes what is to be made stable then.
    Stable,
    /// It writes the record of the transaction that makes this and others stable.
    Recording,
    /// It flushes the members for that transaction.
    Committing,
}

/// A request, or one of the parts that a long one is sent in.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest {
    /// The host it comes from.
    pub host: u32,
    /// The client whose it is, where a job asked for it.
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
    /// How long its data had flowed to the controller when the last of them were there, where they pass through it.
    pub flow: Nanos,
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
    /// What the back end does for it.
    pub doing: Doing,
    /// How often lines that it covers in part have been read.
    pub fills: u8,
}

impl HostRequest {
    /// Whether it is one of several parts of what was asked.
    pub fn is_part(&self) -> bool {
        self.parent != NONE
    }
}

impl Default for HostRequest {
    fn default() -> HostRequest {
        HostRequest {
            host: 0,
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
            flow: Nanos::ZERO,
            leg: Leg::Out,
            wires: 0,
            due: Instant::START,
            last: true,
            durable: false,
            doing: Doing::Asked,
            fills: 0,
        }
    }
}

/// All requests on their way, by place.
#[derive(Debug, Default)]
pub struct Requests {
    places: Slab<HostRequest>,
    /// Where the time of each went so far, by its place, where that is traced.
    traces: Vec<LatencyTrace>,
    traced: bool,
}

impl Requests {
    /// Follows each request that begins from now on.
    pub fn trace_all(&mut self) {
        debug_assert_eq!(self.places.in_use(), 0, "a request is traced from its beginning");
        self.traced = true;
    }

    /// Whether requests are followed.
    pub fn are_traced(&self) -> bool {
        self.traced
    }

    /// A place for a request whose way begins at `at`; what it holds is left from another.
    #[inline]
    pub fn take(&mut self, at: Instant) -> u32 {
        let place = self.places.take();
        if self.traces.len() <= place as usize {
            self.traces.resize_with(place as usize + 1, LatencyTrace::default);
        }
        if self.traced {
            self.traces[place as usize].begin(at);
        }
        place
    }

    /// The same with `request` in it.
    pub fn begin(&mut self, at: Instant, request: HostRequest) -> u32 {
        debug_assert_eq!(request.pending, 0, "a request begins without parts");
        let place = self.take(at);
        self.places[place] = request;
        place
    }

    /// The same for a part of the request at `whole`, which goes on from where that is.
    pub fn begin_part(&mut self, whole: u32, part: HostRequest) -> u32 {
        debug_assert_eq!(part.parent, whole, "a part must know of what");
        self.begin(self.traces[whole as usize].at(), part)
    }

    /// The answer of the part at `place` is at its host: the request that has all of its answers by it, in which it is
    /// lost unless it is that request itself.
    #[inline]
    pub fn join(&mut self, place: u32) -> Option<u32> {
        let HostRequest { parent, failed, .. } = self.places[place];
        if parent == NONE {
            return Some(place);
        }
        self.end(place);
        let whole = &mut self.places[parent];
        debug_assert_eq!(whole.parent, NONE, "a part must not be divided again");
        debug_assert!(whole.pending > 0, "a request must have as many parts on the way as it counts");
        whole.pending -= 1;
        whole.failed = whole.failed.or(failed);
        if whole.pending > 0 {
            return None;
        }
        // The parts began together; this one ended last.
        self.follow(parent, place, Stage::HostProcessor);
        Some(parent)
    }

    /// Gives a place back. What it holds may be looked at until another request begins.
    #[inline]
    pub fn end(&mut self, place: u32) {
        self.places.give(place);
    }

    /// How many are on their way.
    pub fn in_use(&self) -> usize {
        self.places.in_use()
    }

    /// The trace of a request.
    #[inline]
    pub fn trace(&mut self, place: u32) -> &mut LatencyTrace {
        &mut self.traces[place as usize]
    }

    /// Has the request at `place` go the way of the one at `other`, whose end it waited for.
    pub fn follow(&mut self, place: u32, other: u32, gap: Stage) {
        debug_assert_ne!(place, other, "no request waits for itself");
        if let Ok([own, other]) = self.traces.get_disjoint_mut([place as usize, other as usize]) {
            own.follow(other, gap);
        }
    }
}

impl Index<u32> for Requests {
    type Output = HostRequest;
    #[inline]
    fn index(&self, place: u32) -> &HostRequest {
        &self.places[place]
    }
}

impl IndexMut<u32> for Requests {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut HostRequest {
        &mut self.places[place]
    }
}
