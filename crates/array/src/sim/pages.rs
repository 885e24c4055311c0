//! A host's page cache: buffered reads with read-ahead, buffered writes with writeback.
//!
//! A long read goes through the cache in steps no longer than a read-ahead window: it copies what has come while the
//! next window is on its way.
//!
//! **Invariant:** dirty bytes never exceed the limit by more than one write, and each is written back once.

use std::collections::VecDeque;

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos, SECTOR_BYTES};
use workload::{Errno, Op};

use crate::host::PageCacheParams;
use crate::latency::Stage;
use crate::meter::Class;
use crate::readahead::{Fetch, Growth, Lookup, ReadAhead, Rule};
use crate::tags::Tags;

use super::Sim;
use super::event::Event;
use super::request::{HostRequest, Purpose};

/// Streams that a host tells apart: one per open file, in effect.
const STREAMS: u32 = 64;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// What writeback joins neighbouring dirty pages to.
const RUN_MAX: u64 = 1 << 20;

/// A page cache.
pub struct Pages {
    params: PageCacheParams,
    tags: Tags,
    ahead: Option<ReadAhead>,
    /// Longest part of a read that is looked up, waited for and copied at once.
    step: u64,
    dirty: u64,
    /// The run of dirty bytes that is still growing: client, LUN, from, to.
    run: Option<(u32, u32, u64, u64)>,
    writers: VecDeque<u32>,
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
            step: if max > 0 { window.max(SECTOR_BYTES) } else { u64::MAX },
            dirty: 0,
            run: None,
            writers: VecDeque::new(),
        }
    }

    fn copy(&self, bytes: u32) -> Nanos {
        self.params.copy.time_for(Bytes::new(u64::from(bytes)))
    }

    fn keep(&mut self, lun: u32, from: u64, len: u64) {
        for line in self.tags.lines_of(lun, from, len) {
            self.tags.insert(line);
        }
    }

    fn holds(&self, lun: u32, from: u64, len: u64) -> bool {
        self.tags.lines_of(lun, from, len).all(|line| self.tags.holds(line))
    }

    fn limit(&self) -> u64 {
        truncated::<u64>(self.params.dirty_limit.get() * self.params.size.as_f64())
    }

    /// Drops all clean pages, as `echo 3 > /proc/sys/vm/drop_caches` does.
    pub fn drop_clean(&mut self) {
        self.tags.clear();
    }
}

impl Sim {
    /// Carries a request out through the page cache of its host.
    pub(super) fn buffered(&mut self, place: u32, host: u32, ready: Instant) {
        match self.requests[place].op {
            Op::Read => self.buffered_read(place, host, ready),
            Op::Write => self.buffered_write(place, host, ready),
            Op::Flush if self.only_sets_out(place) => {
                self.write_back_run(host, ready);
                self.copy_out(place, host, ready);
            }
            Op::Trim | Op::Flush => {
                self.write_back_run(host, ready);
                self.dispatch(place, host, ready);
            }
        }
    }

    /// Sends what the page cache cannot answer by itself.
    fn dispatch(&mut self, place: u32, host: u32, ready: Instant) {
        let class = self.requests[place].class;
        let trace = &mut self.traces[place as usize];
        let ready = self.hosts[host as usize].dispatch(self.now, ready, class, trace);
        self.split(place, host, ready);
    }

    /// The next step of a read that goes through the page cache.
    pub(super) fn buffered_read(&mut self, place: u32, host: u32, ready: Instant) {
        let HostRequest { client, lun, class, .. } = self.requests[place];
        let (offset, len) = self.step_of(place, host);
        let whole = len == u64::from(self.requests[place].len);
        let end = self.sizes[lun as usize].get() / SECTOR_BYTES;
        let (from, to) = (offset / SECTOR_BYTES, (offset + len).div_ceil(SECTOR_BYTES));
        let mut fetches = std::mem::take(&mut self.page_fetches);
        fetches.clear();
        let Some(pages) = &mut self.hosts[host as usize].pages else { return };
        let here = pages.holds(lun, offset, len);
        let verdict = match &mut pages.ahead {
            Some(ahead) => ahead.access(lun, from, to, end, &mut fetches),
            None => Lookup::Stranger,
        };
        if let (Lookup::Coming(stream), Some(ahead)) = (verdict, &mut pages.ahead) {
            ahead.wait(stream, to, place);
        }
        for &fetch in &fetches {
            let (at, bytes) = (fetch.from * SECTOR_BYTES, (fetch.to - fetch.from) * SECTOR_BYTES);
            let held =
                self.hosts[host as usize].pages.as_ref().is_some_and(|pages| pages.holds(lun, at, bytes));
            if held {
                self.pages_came(host, lun, fetch, None, None);
            } else {
                let class = if fetch.from < to { class } else { Class::Prefetch };
                self.fetch_pages(client, lun, fetch, host, class, ready);
            }
        }
        if let Some(pages) = &mut self.hosts[host as usize].pages {
            pages.keep(lun, offset, len);
        }
        self.page_fetches = fetches;
        match verdict {
            Lookup::Ready => self.copy_out(place, host, ready),
            Lookup::Stranger if here => self.copy_out(place, host, ready),
            Lookup::Stranger if whole => self.dispatch(place, host, ready),
            Lookup::Stranger => {
                let part = HostRequest {
                    client,
                    class,
                    lun,
                    offset,
                    len: narrow::<u32>(len),
                    ..HostRequest::default()
                };
                self.fetch_for(part, Purpose::Step(place), host, ready);
            }
            Lookup::Coming(_) => {}
        }
    }

    /// Where the present step of a buffered read begins, and its length.
    fn step_of(&self, place: u32, host: u32) -> (u64, u64) {
        let HostRequest { offset, len, copied, .. } = self.requests[place];
        let longest = self.hosts[host as usize].pages.as_ref().map_or(u64::MAX, |pages| pages.step);
        (offset + u64::from(copied), u64::from(len - copied).min(longest))
    }

    /// Copies between page cache and user: the present step of a read, which ends with the last, or a whole write.
    pub(super) fn copy_out(&mut self, place: u32, host: u32, ready: Instant) {
        let HostRequest { op, len, class, .. } = self.requests[place];
        let bytes = if op == Op::Read { narrow::<u32>(self.step_of(place, host).1) } else { len };
        let host = &mut self.hosts[host as usize];
        let copy = host.pages.as_ref().map_or(Nanos::ZERO, |pages| pages.copy(bytes));
        let done = host.operation(self.now, ready, copy, class, &mut self.traces[place as usize]);
        let request = &mut self.requests[place];
        debug_assert!(request.copied + bytes <= len, "no more can be copied than the request has");
        request.copied += bytes;
        let next = if request.copied < len { Event::Pages(place) } else { Event::Answer(place) };
        self.events.push(done, next.pack());
    }

    fn fetch_pages(&mut self, client: u32, lun: u32, fetch: Fetch, host: u32, class: Class, ready: Instant) {
        let (offset, len) =
            (fetch.from * SECTOR_BYTES, narrow::<u32>((fetch.to - fetch.from) * SECTOR_BYTES));
        let part = HostRequest { client, class, lun, offset, len, ..HostRequest::default() };
        self.fetch_for(part, Purpose::Pages(lun, fetch), host, ready);
    }

    /// Sends a read of the host's own.
    fn fetch_for(&mut self, part: HostRequest, purpose: Purpose, host: u32, ready: Instant) {
        let place = self.place(ready);
        self.requests[place] = HostRequest { op: Op::Read, purpose, ..part };
        self.dispatch(place, host, ready);
    }

    /// Pages that were fetched have come, or will not: those who waited for them copy, or fail. `by`: the request that
    /// fetched them, unless they were held.
    pub(super) fn pages_came(
        &mut self,
        host: u32,
        lun: u32,
        fetch: Fetch,
        failed: Option<Errno>,
        by: Option<u32>,
    ) {
        let mut released = Vec::new();
        let Some(pages) = &mut self.hosts[host as usize].pages else { return };
        if let Some(ahead) = &mut pages.ahead {
            ahead.fetched(fetch, &mut released);
        }
        if failed.is_none() {
            pages.keep(lun, fetch.from * SECTOR_BYTES, (fetch.to - fetch.from) * SECTOR_BYTES);
        }
        for place in released {
            self.requests[place].failed = self.requests[place].failed.or(failed);
            if let Some(by) = by {
                self.follow_request(place, by, Stage::PageCache);
            }
            self.traces[place as usize].wait(Stage::PageCache, self.now);
            self.copy_out(place, host, self.now);
        }
    }

    fn buffered_write(&mut self, place: u32, host: u32, ready: Instant) {
        let HostRequest { client, lun, offset, len, durable, .. } = self.requests[place];
        self.traces[place as usize].wait(Stage::PageCache, self.now);
        if durable {
            return self.write_through(place, host, ready);
        }
        let Some(pages) = &mut self.hosts[host as usize].pages else { return };
        if pages.dirty > 0 && pages.dirty + u64::from(len) > pages.limit() {
            pages.writers.push_back(place);
            self.write_back_run(host, ready);
            return;
        }
        pages.dirty += u64::from(len);
        pages.keep(lun, offset, u64::from(len));
        let end = offset + u64::from(len);
        match &mut pages.run {
            Some((_, run_lun, from, to)) if *run_lun == lun && *to == offset && end - *from <= RUN_MAX => {
                *to = end;
            }
            _ => {
                self.write_back_run(host, ready);
                if let Some(pages) = &mut self.hosts[host as usize].pages {
                    pages.run = Some((client, lun, offset, end));
                }
            }
        }
        self.copy_out(place, host, ready);
    }

    /// Copies a write into the page cache and sends it on at once: it ends when the storage has it.
    fn write_through(&mut self, place: u32, host: u32, ready: Instant) {
        let HostRequest { lun, offset, len, class, .. } = self.requests[place];
        self.write_back_run(host, ready);
        let computer = &mut self.hosts[host as usize];
        let Some(pages) = &mut computer.pages else { return };
        pages.keep(lun, offset, u64::from(len));
        let copy = pages.copy(len);
        let copied = computer.operation(self.now, ready, copy, class, &mut self.traces[place as usize]);
        self.dispatch(place, host, copied);
    }

    /// Sends the growing run of dirty pages on its way.
    pub(super) fn write_back_run(&mut self, host: u32, ready: Instant) {
        let Some(pages) = &mut self.hosts[host as usize].pages else { return };
        let Some((client, lun, from, to)) = pages.run.take() else { return };
        let place = self.place(ready);
        self.requests[place] = HostRequest {
            client,
            op: Op::Write,
            class: Class::HostWrite,
            lun,
            offset: from,
            len: narrow::<u32>(to - from),
            purpose: Purpose::Writeback,
            ..HostRequest::default()
        };
        self.dispatch(place, host, ready);
    }

    /// Dirty pages are on the array: writers that waited for room go on.
    pub(super) fn pages_left(&mut self, host: u32, bytes: u32) {
        let now = self.now;
        let Some(pages) = &mut self.hosts[host as usize].pages else { return };
        debug_assert!(u64::from(bytes) <= pages.dirty, "dirty pages must be written back once");
        pages.dirty -= u64::from(bytes);
        while let Some(pages) = &mut self.hosts[host as usize].pages
            && let Some(&place) = pages.writers.front()
        {
            if pages.dirty > 0 && pages.dirty + u64::from(self.requests[place].len) > pages.limit() {
                break;
            }
            pages.writers.pop_front();
            self.buffered_write(place, host, now);
        }
    }

    /// Drops the clean pages of all hosts: part of preparing a measurement.
    pub fn drop_caches(&mut self) {
        for pages in self.hosts.iter_mut().filter_map(|host| host.pages.as_mut()) {
            pages.drop_clean();
        }
    }
}
