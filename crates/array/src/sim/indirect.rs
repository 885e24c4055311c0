//! Blocks of pointers of a file system without extents: what maps a part of a file is read before the part is.
//!
//! A block of pointers lies where the data begin that it maps, as ext2 and ext3 place it (`ext3_alloc_branch`, which goes
//! on from the block before). Blocks that map blocks of pointers are a thousandth of these, and are taken as held.
//!
//! **Invariant:** a request continues once all blocks that map it are in memory, or one could not be read.

use units::convert::narrow;
use units::{Bytes, Instant};
use workload::{Errno, Op};

use super::array::Array;
use super::event::Event;
use super::hosts::Hosts;
use super::pages::PAGE;
use super::request::{HostRequest, Purpose};
use super::traffic::Traffic;
use crate::latency::Stage;
use crate::tags::Tags;

/// What tells the blocks of pointers of a LUN from its pages. A machine has fewer LUNs.
const POINTERS: u32 = 1 << 19;

/// How much a block of pointers maps.
#[derive(Clone, Copy, Debug)]
pub struct Indirect(u64);

impl Indirect {
    /// Blocks that each map so much.
    pub fn new(mapped: Bytes) -> Indirect {
        Indirect(mapped.get().max(PAGE))
    }

    /// Where the first block of pointers lies that maps some of the bytes `from..to` of a LUN and is not held; those that
    /// are held before it count as used.
    fn missing(self, tags: &mut Tags, lun: u32, from: u64, to: u64) -> Option<u64> {
        let blocks = from / self.0..to.div_ceil(self.0);
        blocks.map(|block| block * self.0).find(|&at| {
            let line = self.line(tags, lun, at);
            !tags.touch(line)
        })
    }

    /// Holds the block of pointers that lies at `at`.
    fn keep(self, tags: &mut Tags, lun: u32, at: u64) {
        let line = self.line(tags, lun, at);
        tags.insert(line);
    }

    fn line(self, tags: &Tags, lun: u32, at: u64) -> u64 {
        debug_assert!(lun < POINTERS, "pages of one LUN must not be pointers of another");
        tags.lines_of(lun | POINTERS, at / self.0 * tags.line_bytes(), 1).start
    }
}

impl Hosts {
    /// Has the first block of pointers read that a request needs and memory does not hold. `false`: it needs none, as a
    /// read whose pages are all held does.
    pub(super) fn reads_pointers(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        place: u32,
        ready: Instant,
        buffered: bool,
    ) -> bool {
        let HostRequest { op, host, lun, offset, len, .. } = traffic.requests[place];
        let pages = self.each[host as usize].pages.as_ref();
        let is_held = || pages.is_some_and(|pages| pages.holds(lun, offset, u64::from(len)));
        if buffered && op == Op::Read && is_held() {
            return false;
        }
        self.reads_pointers_from(traffic, array, place, offset, (ready, buffered))
    }

    /// The same of what of it lies behind `from`. Blocks in front of that have come, and may have given way to later ones:
    /// they are not read again for this request, which memory for a few of them would never let continue.
    fn reads_pointers_from(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        place: u32,
        from: u64,
        (ready, buffered): (Instant, bool),
    ) -> bool {
        let HostRequest { op, host, class, lun, offset, len, .. } = traffic.requests[place];
        let Some((indirect, tags)) = self.pointers_of(host).filter(|_| matches!(op, Op::Read | Op::Write))
        else {
            return false;
        };
        debug_assert!(from >= offset, "what is in front of a request needs no map");
        let Some(at) = indirect.missing(tags, lun, from, offset + u64::from(len)) else { return false };
        let len = narrow::<u32>(PAGE.min(self.sizes[lun as usize].get() - at));
        let purpose = Purpose::Pointers { whole: place, buffered };
        let block = HostRequest { host, class, lun, offset: at, len, purpose, ..HostRequest::default() };
        self.send_own(traffic, array, block, ready);
        true
    }

    /// A block of pointers has come, or will not: the request that has waited for it continues.
    pub(super) fn pointers_came(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        block: u32,
        (whole, buffered): (u32, bool),
    ) {
        let HostRequest { host, lun, offset, failed, .. } = traffic.requests[block];
        traffic.requests.follow(whole, block, Stage::PageCache);
        if let Some(errno) = failed {
            return Self::unmapped(traffic, whole, errno);
        }
        let mut rest = offset;
        if let Some((indirect, tags)) = self.pointers_of(host) {
            indirect.keep(tags, lun, offset);
            rest = offset + indirect.0;
        }
        let now = traffic.time.now();
        if self.reads_pointers_from(traffic, array, whole, rest, (now, buffered)) {
            return;
        }
        if buffered {
            self.buffered(traffic, array, whole, now, false);
        } else {
            self.split(traffic, array, whole, now);
        }
    }

    fn unmapped(traffic: &mut Traffic, whole: u32, errno: Errno) {
        traffic.requests[whole].failed = Some(errno);
        traffic.time.soon(Event::Answer(whole));
    }

    fn pointers_of(&mut self, host: u32) -> Option<(Indirect, &mut Tags)> {
        self.each[host as usize].pages.as_mut()?.pointers()
    }
}
