//! A host's page cache: buffered reads with read-ahead, buffered writes with writeback.
//!
//! A long read goes through the cache in steps no longer than a read-ahead window: it copies what has come while the
//! next window is on its way.
//!
//! **Invariant:** dirty bytes never exceed the limit by more than one write, and each is written back once.

use std::collections::{BTreeMap, VecDeque};

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos, SECTOR_BYTES};
use workload::{Errno, Op};

use crate::host::PageCacheParams;
use crate::latency::Stage;
use crate::meter::Class;
use crate::readahead::{Fetch, Growth, Lookup, ReadAhead, Rule};
use crate::tags::Tags;

use super::array::Array;
use super::event::Event;
use super::hosts::Hosts;
use super::indirect::Indirect;
use super::request::{HostRequest, Purpose};
use super::syncs::Syncs;
use super::traffic::Traffic;

/// Streams that a host tells apart: one per open file, in effect.
const STREAMS: u32 = 64;
/// Bytes of a page.
pub(super) const PAGE: u64 = 4096;
/// What writeback joins neighbouring dirty pages to.
const RUN_MAX: u64 = 1 << 20;

/// A page cache.
pub struct Pages {
    params: PageCacheParams,
    tags: Tags,
    ahead: Option<ReadAhead>,
    /// Of a file system that has them.
    indirect: Option<Indirect>,
    /// Longest part of a read that is looked up, waited for and copied at once.
    step: u64,
    dirty: u64,
    /// The run of dirty bytes that is still growing: LUN, from, to.
    run: Option<(u32, u64, u64)>,
    writers: VecDeque<u32>,
    /// By LUN.
    syncs: BTreeMap<u32, Syncs>,
}

impl Pages {
    /// An empty page cache of a host whose block layer sends no more than `max_transfer` at once.
    pub fn new(params: &PageCacheParams, max_transfer: Bytes) -> Pages {
        let max = params.read_ahead.get() / SECTOR_BYTES;
        let growth = Growth::Linux { piece: (max_transfer.get() / SECTOR_BYTES).max(1) };
        let rule = Rule { streams: STREAMS, confirm: 2, start: 0, max, growth };
        let window = (max * SECTOR_BYTES).min(max_transfer.get());
        Pages {
            params: *params,
            tags: Tags::new(params.size.get(), PAGE),
            ahead: (max > 0).then(|| ReadAhead::new(rule)),
            indirect: params.indirect_block.map(Indirect::new),
            step: if max > 0 { window.max(SECTOR_BYTES) } else { u64::MAX },
            dirty: 0,
            run: None,
            writers: VecDeque::new(),
            syncs: BTreeMap::new(),
        }
    }

    fn copy(&self, bytes: u32) -> Nanos {
        self.params.copy.time_for(Bytes::new(u64::from(bytes)))
    }

    /// Whether all bytes `from..from + len` of a LUN are held.
    pub(super) fn holds(&self, lun: u32, from: u64, len: u64) -> bool {
        self.tags.hold_all(lun, from, len)
    }

    /// Holds bytes `from..to` of a LUN as after a pass over them: of more than it has room for, the end.
    fn hold(&mut self, lun: u32, from: u64, to: u64) {
        let from = from.max(to.saturating_sub(self.params.size.get()));
        if from < to {
            self.tags.insert_all(lun, from, to - from);
        }
    }

    /// Blocks of pointers of the file system, where it has them, and the memory that holds them beside the pages.
    pub(super) fn pointers(&mut self) -> Option<(Indirect, &mut Tags)> {
        self.indirect.map(|indirect| (indirect, &mut self.tags))
    }

    fn limit(&self) -> u64 {
        truncated::<u64>(self.params.dirty_limit.get() * self.params.size.as_f64())
    }

    /// Whether a write of `len` bytes may come in: below the limit, or alone.
    fn has_room(&self, len: u32) -> bool {
        self.dirty == 0 || self.dirty + u64::from(len) <= self.limit()
    }

    /// Where the present step of a buffered read begins, and its length.
    fn step_of(&self, &HostRequest { offset, len, copied, .. }: &HostRequest) -> (u64, u64) {
        (offset + u64::from(copied), u64::from(len - copied).min(self.step))
    }

    /// Drops all clean pages, as `echo 3 > /proc/sys/vm/drop_caches` does.
    pub fn drop_clean(&mut self) {
        self.tags.clear();
    }
}

impl Hosts {
    /// Carries a request out through the page cache of its host.
    pub(super) fn buffered(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        place: u32,
        ready: Instant,
        only_sets_out: bool,
    ) {
        let HostRequest { op, host, .. } = traffic.requests[place];
        match op {
            Op::Read => self.buffered_read(traffic, array, place, ready),
            Op::Write => self.buffered_write(traffic, array, place, ready),
            Op::Trim | Op::Flush => {
                self.write_back_run(traffic, array, host, ready);
                if only_sets_out {
                    self.copy_out(traffic, place, ready);
                } else if !self.waits_for_pages(traffic, place) {
                    self.dispatch(traffic, array, place, ready);
                }
            }
        }
    }

    /// Whether a flush waits until the dirty pages of its LUN are written, before the storage hears of it.
    fn waits_for_pages(&mut self, traffic: &Traffic, place: u32) -> bool {
        let HostRequest { op, host, lun, .. } = traffic.requests[place];
        let syncs = self.pages_of(host).and_then(|pages| pages.syncs.get_mut(&lun));
        op == Op::Flush && syncs.is_some_and(|syncs| syncs.wait(place))
    }

    /// Has the page cache of a host, where it has one, hold bytes `from..to` of a LUN.
    pub fn hold_pages(&mut self, host: u32, lun: u32, from: u64, to: u64) {
        if let Some(pages) = self.pages_of(host) {
            pages.hold(lun, from, to);
        }
    }

    fn pages_of(&mut self, host: u32) -> Option<&mut Pages> {
        self.each[host as usize].pages.as_mut()
    }

    /// Sends what the page cache cannot answer by itself.
    fn dispatch(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let (now, HostRequest { op, len, .. }) = (traffic.time.now(), traffic.requests[place]);
        let by_pages = &mut self.host_of(traffic, place).traffic.by_pages;
        by_pages[usize::from(op != Op::Read)] += Bytes::new(u64::from(len));
        let ready = self.host_of(traffic, place).dispatch(now, ready, &mut traffic.requests, place);
        self.split(traffic, array, place, ready);
    }

    /// A read that goes through the page cache has been copied so far, and continues.
    pub fn read_on(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32) {
        let now = traffic.time.now();
        self.buffered_read(traffic, array, place, now);
    }

    /// The next step of a read that goes through the page cache.
    fn buffered_read(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let request = traffic.requests[place];
        debug_assert!(request.copied < request.len, "a read that continues must have something left");
        let HostRequest { host, lun, class, .. } = request;
        let end = self.sizes[lun as usize].get() / SECTOR_BYTES;
        let mut fetches = std::mem::take(&mut self.fetches);
        fetches.clear();
        let Some(pages) = self.pages_of(host) else { return };
        let (offset, len) = pages.step_of(&request);
        let whole = len == u64::from(request.len);
        let (from, to) = (offset / SECTOR_BYTES, (offset + len).div_ceil(SECTOR_BYTES));
        let here = pages.holds(lun, offset, len);
        let verdict = match &mut pages.ahead {
            Some(ahead) => ahead.access(lun, from, to, end, &mut fetches),
            None => Lookup::Stranger,
        };
        if let (Lookup::Coming(stream), Some(ahead)) = (verdict, &mut pages.ahead) {
            ahead.wait(stream, to, place);
        }
        for &fetch in &fetches {
            let (offset, bytes) = (fetch.from * SECTOR_BYTES, (fetch.to - fetch.from) * SECTOR_BYTES);
            let held = self.pages_of(host).is_some_and(|pages| pages.holds(lun, offset, bytes));
            if held {
                self.pages_came(traffic, host, lun, fetch, None, None);
            } else {
                let class = if fetch.from < to { class } else { Class::Prefetch };
                let (len, purpose) = (narrow::<u32>(bytes), Purpose::Pages(lun, fetch));
                let part = HostRequest { host, class, lun, offset, len, purpose, ..HostRequest::default() };
                self.send_own(traffic, array, part, ready);
            }
        }
        if let Some(pages) = self.pages_of(host) {
            pages.tags.insert_all(lun, offset, len);
        }
        self.fetches = fetches;
        match verdict {
            Lookup::Ready => self.copy_out(traffic, place, ready),
            Lookup::Stranger if here => self.copy_out(traffic, place, ready),
            Lookup::Stranger if whole => self.dispatch(traffic, array, place, ready),
            Lookup::Stranger => {
                let (len, purpose) = (narrow::<u32>(len), Purpose::Step(place));
                let part = HostRequest { host, class, lun, offset, len, purpose, ..HostRequest::default() };
                self.send_own(traffic, array, part, ready);
            }
            Lookup::Coming(_) => {}
        }
    }

    /// Sends a request of a host's own.
    pub(super) fn send_own(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        part: HostRequest,
        ready: Instant,
    ) {
        debug_assert!(part.purpose != Purpose::Job, "what no job issued must have a purpose");
        let place = traffic.requests.begin(ready, part);
        self.dispatch(traffic, array, place, ready);
    }

    /// Copies between page cache and user: the present step of a read, which ends with the last, or a whole write.
    pub(super) fn copy_out(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let request = traffic.requests[place];
        let host = self.host_of(traffic, place);
        let (bytes, copy) = match &host.pages {
            Some(pages) => {
                let bytes = if request.op == Op::Read {
                    narrow::<u32>(pages.step_of(&request).1)
                } else {
                    request.len
                };
                (bytes, pages.copy(bytes))
            }
            None => (request.len, Nanos::ZERO),
        };
        let done = host.operation(traffic.time.now(), ready, copy, &mut traffic.requests, place);
        let request = &mut traffic.requests[place];
        debug_assert!(request.copied + bytes <= request.len, "no more can be copied than the request has");
        request.copied += bytes;
        let next = if request.copied < request.len { Event::Pages(place) } else { Event::Answer(place) };
        traffic.time.at(done, next);
    }

    /// Pages that were fetched have come, or will not: those who waited for them copy, or fail. `by`: the request that
    /// fetched them, unless they were held.
    pub(super) fn pages_came(
        &mut self,
        traffic: &mut Traffic,
        host: u32,
        lun: u32,
        fetch: Fetch,
        failed: Option<Errno>,
        by: Option<u32>,
    ) {
        let now = traffic.time.now();
        let mut released = Vec::new();
        let Some(pages) = self.pages_of(host) else { return };
        if let Some(ahead) = &mut pages.ahead {
            ahead.fetched(fetch, &mut released);
        }
        if failed.is_none() {
            pages.tags.insert_all(lun, fetch.from * SECTOR_BYTES, (fetch.to - fetch.from) * SECTOR_BYTES);
        }
        for place in released {
            let request = &mut traffic.requests[place];
            request.failed = request.failed.or(failed);
            if let Some(by) = by {
                traffic.requests.follow(place, by, Stage::PageCache);
            }
            traffic.requests.trace(place).wait(Stage::PageCache, now);
            self.copy_out(traffic, place, now);
        }
    }

    fn buffered_write(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let HostRequest { host, lun, offset, len, durable, .. } = traffic.requests[place];
        traffic.requests.trace(place).wait(Stage::PageCache, traffic.time.now());
        if durable {
            return self.write_through(traffic, array, place, ready);
        }
        let Some(pages) = self.pages_of(host) else { return };
        if !pages.has_room(len) {
            pages.writers.push_back(place);
            return self.write_back_run(traffic, array, host, ready);
        }
        pages.dirty += u64::from(len);
        debug_assert!(
            pages.dirty <= pages.limit().max(u64::from(len)),
            "no more may be dirty than the limit, but for one write alone",
        );
        pages.tags.insert_all(lun, offset, u64::from(len));
        let end = offset + u64::from(len);
        match &mut pages.run {
            Some((run_lun, from, to)) if *run_lun == lun && *to == offset && end - *from <= RUN_MAX => {
                *to = end;
            }
            _ => {
                self.write_back_run(traffic, array, host, ready);
                if let Some(pages) = self.pages_of(host) {
                    pages.run = Some((lun, offset, end));
                }
            }
        }
        self.copy_out(traffic, place, ready);
    }

    /// Copies a write into the page cache and sends it on at once: it ends when the storage has it.
    fn write_through(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let HostRequest { host, lun, offset, len, .. } = traffic.requests[place];
        self.write_back_run(traffic, array, host, ready);
        let Some(pages) = self.pages_of(host) else { return };
        pages.tags.insert_all(lun, offset, u64::from(len));
        let (now, copy) = (traffic.time.now(), pages.copy(len));
        let copied = self.host_of(traffic, place).operation(now, ready, copy, &mut traffic.requests, place);
        self.dispatch(traffic, array, place, copied);
    }

    /// Sends the growing run of dirty pages of every host on its way.
    pub fn write_back(&mut self, traffic: &mut Traffic, array: &mut Array) {
        let now = traffic.time.now();
        for host in 0..narrow::<u32>(self.each.len()) {
            self.write_back_run(traffic, array, host, now);
        }
    }

    /// The same of one host.
    fn write_back_run(&mut self, traffic: &mut Traffic, array: &mut Array, host: u32, ready: Instant) {
        let Some(pages) = self.pages_of(host) else { return };
        let Some((lun, offset, to)) = pages.run.take() else { return };
        debug_assert!(offset < to, "a run of dirty pages must not be empty");
        debug_assert!(to - offset <= pages.dirty, "the run that grows is a part of what is dirty");
        let age = pages.syncs.entry(lun).or_default().begin();
        let part = HostRequest {
            host,
            op: Op::Write,
            class: Class::HostWrite,
            lun,
            offset,
            len: narrow::<u32>(to - offset),
            purpose: Purpose::Writeback(age),
            ..HostRequest::default()
        };
        self.send_own(traffic, array, part, ready);
    }

    /// The writeback at `place`, of that age, has ended: flushes that waited for it go on to the array, and writers that waited for
    /// room come in.
    pub(super) fn pages_left(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, age: u64) {
        let now = traffic.time.now();
        let HostRequest { host, lun, len, .. } = traffic.requests[place];
        let Some(pages) = self.pages_of(host) else { return };
        debug_assert!(u64::from(len) <= pages.dirty, "dirty pages must be written back once");
        pages.dirty -= u64::from(len);
        pages.syncs.entry(lun).or_default().end(age);
        while let Some(syncs) = self.pages_of(host).and_then(|pages| pages.syncs.get_mut(&lun))
            && let Some(flush) = syncs.release()
        {
            traffic.requests.follow(flush, place, Stage::PageCache);
            traffic.requests.trace(flush).wait(Stage::PageCache, now);
            self.dispatch(traffic, array, flush, now);
        }
        while let Some(pages) = self.pages_of(host)
            && let Some(&place) = pages.writers.front()
            && pages.has_room(traffic.requests[place].len)
        {
            pages.writers.pop_front();
            self.buffered_write(traffic, array, place, now);
        }
    }

    /// Drops the clean pages of all hosts.
    pub fn drop_caches(&mut self) {
        self.each.iter_mut().filter_map(|host| host.pages.as_mut()).for_each(Pages::drop_clean);
    }
}
