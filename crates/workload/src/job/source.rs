//! Where the requests of a job come from: blocks of devices and files, or files and directories by their names.

use std::fmt::Debug;

use units::{Bytes, Nanos, Share};

use crate::Token;
use crate::pace::Pacer;
use crate::seam::IoRequest;
use crate::spec::Sequence;
use crate::tally::Class;
use crate::zones::{DeviceZone, Placing, ZoneCall, ZoneWait};

/// Draws the requests of one worker: [`BlockRequests`](super::BlockRequests) or
/// [`TreeRequests`](crate::tree::TreeRequests).
///
/// **Invariant:** what comes next depends on the specification alone.
pub trait RequestSource: Debug + Sized {
    /// A workload compiled for one worker.
    type Spec: Clone + Debug;
    /// One request.
    type Request: IoRequest;

    /// The source of a worker before its first request, and how it is asked.
    fn new(spec: &Self::Spec) -> (Self, JobOptions);

    /// The next request.
    fn next(&mut self) -> Next<Self::Request>;

    /// A flush beside the requests that are counted, and its class.
    fn flush(&self) -> (Self::Request, u16);

    /// The next of the flushes that end a load, and its class; `None` once all were asked for.
    fn last_flush(&mut self) -> Option<(Self::Request, u16)>;

    /// The write that may follow `request`, and its class; `None` where nothing ever does.
    fn rewrite(&self, _request: &Self::Request, _class: u16) -> Option<(Self::Request, u16)> {
        None
    }

    /// Where a request goes that was drawn and now has its slot, where that is found out then; `budget` is what the job may
    /// move from here on. Asked only of sources with zones.
    fn place(&mut self, _next: &mut Next<Self::Request>, _token: Token, _budget: u64) -> Placing {
        unreachable!("what is drawn has its place")
    }

    /// The request in that slot has ended. Told only to sources with zones.
    fn ended(&mut self, _token: Token, _went_well: bool) {}

    /// What a zone's device is to do before the request that waits has a place.
    fn zone_call(&self) -> Option<ZoneCall> {
        None
    }

    /// The device has done it; what it reports of the zone, where it was asked.
    fn zone_answered(&mut self, _told: Option<DeviceZone>) {}

    /// What the request waits for that found its zone in other hands.
    fn waits_for_zone(&self) -> Option<&ZoneWait> {
        None
    }

    /// Zones that were reset.
    fn zone_resets(&self) -> u64 {
        0
    }

    /// What reads back what `request` has written, and its class; `None` where it wrote nothing.
    fn read_back(&self, _request: &Self::Request, _class: u16) -> Option<(Self::Request, u16)> {
        None
    }
}

/// A request as it was drawn, not yet in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Next<R> {
    /// What is asked.
    pub request: R,
    /// The position of its class.
    pub class: u16,
    /// The pause before the request after this one.
    pub pause: Nanos,
}

/// How a worker asks, whatever it asks for.
#[derive(Debug)]
pub struct JobOptions {
    /// Requests in flight at most; at least 1.
    pub depth: u32,
    /// Requests planned, and so handed over, at most at a time; at least 1.
    pub submit_batch: u32,
    /// Whoever drives the job waits for so many completions, or for all that are in flight; at least 1.
    pub complete_batch: u32,
    /// Once it has done its part, whoever drives it stops all others.
    pub exit_all: bool,
    /// It ends once all jobs beside it that are not to end so have ended.
    pub(crate) with_others: bool,
    pub(crate) pacer: Pacer,
    /// Whether requests come from several lines, or from a trace.
    pub(crate) varies: bool,
    pub(crate) sequence: Sequence,
    /// Whether requests are placed among zones.
    pub(crate) is_zoned: bool,
    /// Part of the requests that are followed by a write.
    pub(crate) rewrites: Share,
    /// The pause before the first request.
    pub(crate) start: Nanos,
    pub(crate) warmup: Nanos,
    /// In place of a time, the worker's part of the bytes after which the window begins.
    pub(crate) warmup_bytes: Option<Bytes>,
    /// The measured window; `None` lasts until `ops` or `bytes` are done.
    pub(crate) run: Option<Nanos>,
    /// In its place, when the worker tells how many requests it has issued and goes on to the most of all.
    pub(crate) wall: Option<Nanos>,
    pub(crate) cooldown: Nanos,
    pub(crate) ops: Option<u64>,
    /// They are counted anew once the window has begun.
    pub(crate) ops_after_warmup: bool,
    pub(crate) bytes: Option<Bytes>,
    pub(crate) flush_every: Option<u32>,
    /// The measured window ends with the last flush.
    pub(crate) measures_last_flush: bool,
    /// All classes, and whether any request may be of each.
    pub(crate) classes: Vec<(Class, bool)>,
}

impl JobOptions {
    /// Of a worker with so many requests in flight, each followed by the next as it ends.
    pub(crate) fn closed(depth: u32, classes: Vec<(Class, bool)>) -> JobOptions {
        JobOptions {
            depth,
            submit_batch: 1,
            complete_batch: 1,
            exit_all: false,
            with_others: false,
            pacer: Pacer::Closed,
            varies: false,
            sequence: Sequence::PLAIN,
            is_zoned: false,
            rewrites: Share::NONE,
            start: Nanos::ZERO,
            warmup: Nanos::ZERO,
            warmup_bytes: None,
            run: None,
            wall: None,
            cooldown: Nanos::ZERO,
            ops: None,
            ops_after_warmup: false,
            bytes: None,
            flush_every: None,
            measures_last_flush: false,
            classes,
        }
    }

    /// How long is measured; `None` until it ends, or until the last flush that belongs to it.
    pub(crate) fn window(&self) -> Option<Nanos> {
        self.run.filter(|_| !self.measures_last_flush)
    }

    /// Whether requests may be held back, or followed by others.
    pub(crate) fn is_particular(&self) -> bool {
        let is_plain = (matches!(self.pacer, Pacer::Closed) || self.pacer.is_scheduled())
            && !self.varies
            && !self.is_zoned
            && !self.with_others
            && self.flush_every.is_none()
            && self.rewrites == Share::NONE
            && self.sequence == Sequence::PLAIN
            && self.start.is_zero()
            && self.warmup_bytes.is_none()
            && !self.ops_after_warmup
            && self.wall.is_none();
        !is_plain
    }
}
