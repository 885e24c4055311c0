//! Flash modules behind a large DRAM cache, as one device (the RamSan-500 kind).

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Instant, Nanos, SECTOR_BYTES, Sectors};

use crate::backlog::Backlog;
use crate::device::Command;
use crate::meter::{Class, Meter};
use crate::server::Servers;
use crate::tags::Tags;

/// The figures of a cached flash array.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedFlashParams {
    /// User capacity.
    pub capacity: Bytes,
    /// DRAM, battery-backed: reads hit what is in it, writes end in it.
    pub cache: Bytes,
    /// Bytes of a cache line: what a miss fetches and a destage writes.
    pub line: Bytes,
    /// A read or write in the cache.
    pub hit: Nanos,
    /// Flash regions that work at once.
    pub regions: u32,
    /// A line from flash: what a miss adds to a hit, and how long it holds a region.
    pub read: Nanos,
    /// How long destaging a line holds a region.
    pub write: Nanos,
    /// Each direction between cache and hosts.
    pub bandwidth: BytesPerSecond,
    /// Between flash and cache, sustained.
    pub flash_bandwidth: BytesPerSecond,
    /// Share of the cache that may wait to be written to flash.
    pub dirty_limit: units::Share,
}

/// A cached flash array at work.
///
/// **Invariant:** a command's end is known when it arrives; destaging is a backlog that reads pass, one line at most
/// being in front of them in each region.
#[derive(Clone, Debug)]
pub struct CachedFlash {
    params: CachedFlashParams,
    tags: Tags,
    reads: Servers,
    from_flash: Backlog,
    to_host: Backlog,
    to_cache: Backlog,
    /// When the regions will have written all that is dirty, reads left aside.
    clean_at: Instant,
    line_write: Nanos,
    /// When the regions will have done all that was booked on them, together.
    busy_until: Instant,
    /// Nanoseconds that they have been idle, up to then.
    idle_ns: u64,
    /// What they had worked when the meter's window began.
    busy_before: u64,
    meter: Meter,
    /// What the regions do, each line a visit.
    at_regions: Meter,
    /// Whether the last read fetched anything from flash.
    missed: bool,
}

impl CachedFlash {
    /// Idle, with an empty cache.
    pub fn new(params: &CachedFlashParams) -> CachedFlash {
        let regions = u64::from(params.regions.max(1));
        CachedFlash {
            tags: Tags::new(params.cache.get(), params.line.get()),
            reads: Servers::new(params.regions),
            from_flash: Backlog::default(),
            to_host: Backlog::default(),
            to_cache: Backlog::default(),
            clean_at: Instant::START,
            busy_until: Instant::START,
            idle_ns: 0,
            busy_before: 0,
            at_regions: Meter::of_servers_apart(),
            missed: false,
            line_write: Nanos::new(params.write.get() / regions),
            meter: Meter::of_servers_apart(),
            params: params.clone(),
        }
    }

    /// Takes a command and returns when it ends.
    pub fn submit(&mut self, now: Instant, command: Command) -> Instant {
        let (offset, bytes) = (command.first * SECTOR_BYTES, u64::from(command.sectors) * SECTOR_BYTES);
        let begun = now.max(command.ready);
        let end = if command.write {
            self.write(now, begun, offset, bytes, command.class)
        } else {
            self.read(now, begun, offset, bytes, command.class)
        };
        self.meter.visit(now, now, begun.min(end), end, command.class);
        end
    }

    fn read(&mut self, now: Instant, begun: Instant, offset: u64, bytes: u64, class: Class) -> Instant {
        self.missed = false;
        let mut ready = begun + self.params.hit;
        let flash_line = self.params.flash_bandwidth.time_for(self.params.line);
        for line in offset / self.params.line.get()..(offset + bytes).div_ceil(self.params.line.get()) {
            let tag = self.tags.lines_of(0, line * self.params.line.get(), 1).start;
            if self.tags.touch(tag) {
                continue;
            }
            self.tags.insert(tag);
            self.missed = true;
            // Where regions are destaging, one of them ends its line within a region's share of it.
            let in_front = if self.clean_at > begun { self.line_write } else { Nanos::ZERO };
            let (started, fetched) = self.reads.occupy(begun + in_front, self.params.read);
            self.at_regions.visit(now, begun, started, fetched, class);
            self.work(now, self.params.read);
            self.clean_at = self.clean_at.max(begun) + self.share(self.params.read);
            ready = ready.max(self.from_flash.book(now, fetched, flash_line) + self.params.hit);
        }
        let transfer = self.params.bandwidth.time_for(Bytes::new(bytes));
        self.to_host.book(now, ready, transfer)
    }

    /// How long `command`, the last, would have taken of a device that does nothing else.
    pub fn alone(&self, command: Command) -> Nanos {
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        let from_cache = self.params.hit + self.params.bandwidth.time_for(bytes);
        match !command.write && self.missed {
            true => from_cache + self.params.read + self.params.flash_bandwidth.time_for(self.params.line),
            false => from_cache,
        }
    }

    /// Books `work` of one region on all of them together.
    fn work(&mut self, now: Instant, work: Nanos) {
        self.idle_ns += now.saturating_since(self.busy_until).get();
        self.busy_until = self.busy_until.max(now) + self.share(work);
    }

    fn share(&self, of_one_region: Nanos) -> Nanos {
        Nanos::new(of_one_region.get() / u64::from(self.params.regions.max(1)))
    }

    fn write(&mut self, now: Instant, begun: Instant, offset: u64, bytes: u64, class: Class) -> Instant {
        let transfer = self.params.bandwidth.time_for(Bytes::new(bytes));
        let arrived = self.to_cache.book(now, begun, transfer);
        let lines = (offset + bytes).div_ceil(self.params.line.get()) - offset / self.params.line.get();
        self.tags.insert_all(0, offset, bytes);
        for _ in 0..lines {
            self.work(now, self.params.write);
            self.clean_at = self.clean_at.max(arrived) + self.line_write;
            let end = self.clean_at.max(arrived + self.params.write);
            let start = Instant::from_nanos(end.nanos() - self.params.write.get());
            self.at_regions.visit(now, arrived, start, end, class);
        }
        // The cache takes writes while the time to write out what is dirty stays below that of the dirty limit.
        let limit_lines =
            self.params.dirty_limit.get() * self.params.cache.as_f64() / self.params.line.as_f64();
        let limit = Nanos::new(truncated(limit_lines * self.line_write.get() as f64));
        let room = Instant::from_nanos(self.clean_at.nanos().saturating_sub(limit.get()));
        arrived.max(room) + self.params.hit
    }

    /// Has its memory hold `sectors` from `first` on, as after a pass over them.
    pub fn hold(&mut self, first: u64, sectors: Sectors) {
        self.tags.insert_all(0, first * SECTOR_BYTES, sectors.bytes().get());
    }

    /// Forgets what its memory holds for reads; when all that it has acknowledged by `now` is on flash.
    pub fn settle(&mut self, now: Instant) -> Instant {
        self.tags.clear();
        self.clean_at.max(now)
    }

    /// Flash regions.
    pub fn servers(&self) -> u32 {
        self.params.regions.max(1)
    }

    /// Begins a window of its meters at `now`: what the regions still have to do lies in it.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
        self.at_regions.restart(now);
        self.at_regions.edge(self.left_at(now));
        self.busy_before = self.worked_by(now);
    }

    /// Ends it: what they have not done does not.
    pub fn close_meter(&mut self, now: Instant) {
        self.meter.close(now, std::iter::empty());
        self.at_regions.close(now, std::iter::empty());
        self.at_regions.edge(self.left_at(now));
        let busy = self.worked_by(now).saturating_sub(self.busy_before);
        self.at_regions.add_busy(Nanos::new(busy));
    }

    /// Nanoseconds that the regions have worked by `now`, all together: all but what they were idle.
    fn worked_by(&self, now: Instant) -> u64 {
        let busy = self.busy_until.nanos() - self.idle_ns;
        let beyond = self.busy_until.saturating_since(now).get();
        busy.saturating_sub(beyond) * u64::from(self.servers())
    }

    /// How long the regions have work after `now`, all together. Lines that are read pass those that are written, and end
    /// before the work that is then behind them: what is left over an end of the window can belong to visits on its
    /// other side.
    fn left_at(&self, now: Instant) -> Nanos {
        self.busy_until.saturating_since(now) * u64::from(self.servers())
    }

    /// What its regions did, and how long they were busy by the clock.
    pub fn regions(&mut self) -> &mut Meter {
        &mut self.at_regions
    }

    /// The commands it was given.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Stream;

    /// A RamSan-500 with 64 GiB of cache.
    fn ramsan() -> CachedFlashParams {
        CachedFlashParams {
            capacity: Bytes::GIB * 2000,
            cache: Bytes::GIB * 64,
            line: Bytes::KIB * 4,
            hit: Nanos::from_micros(15),
            regions: 20,
            read: Nanos::from_micros(200),
            write: Nanos::from_micros(2_000),
            bandwidth: BytesPerSecond::new(2e9),
            flash_bandwidth: BytesPerSecond::new(2e9),
            dirty_limit: units::Share::new(0.5).expect("a half is a share"),
        }
    }

    fn rate(span: Bytes, depth: usize, count: u64, write: bool, cache: Bytes) -> f64 {
        let mut device = CachedFlash::new(&CachedFlashParams { cache, ..ramsan() });
        let mut draws = Stream::open(2, "test");
        let mut ends = std::collections::BinaryHeap::new();
        let (mut now, mut warm) = (Instant::START, Instant::START);
        for n in 0..count {
            if ends.len() == depth {
                let std::cmp::Reverse(end) = ends.pop().expect("depth is at least one");
                now = end;
            }
            if n == count / 2 {
                warm = now;
            }
            let first = draws.below(span.get() / 4096) * 8;
            let class = if write { Class::HostWrite } else { Class::HostRead };
            let ready = Instant::START;
            let command = Command { first, sectors: 8, tag: 0, write, class, ready, given: ready };
            ends.push(std::cmp::Reverse(device.submit(now, command)));
        }
        (count - count / 2) as f64 / (now - warm).as_secs_f64()
    }

    /// Reads pass a backlog of writes: at the window's begin the regions still work for reads that have ended.
    #[test]
    fn regions_are_busy_for_throughput_times_service_whatever_passes_what() {
        let at = |micros: u64| Instant::from_nanos(micros * 1_000);
        let mut device = CachedFlash::new(&ramsan());
        let mut draws = Stream::open(2, "test");
        let mut ask = |now: Instant, write: bool| {
            let class = if write { Class::HostWrite } else { Class::HostRead };
            let first = draws.below(1 << 28) * 8;
            device.submit(now, Command { first, sectors: 8, tag: 0, write, class, ready: now, given: now });
        };
        // A tenth of a second of writes, beside and behind which half of the regions read.
        (0..1_000).for_each(|_| ask(at(0), true));
        (0..5_000).for_each(|n| ask(at(n * 20), false));
        device.restart_meter(at(105_000));
        for n in 0..1_000 {
            let first = draws.below(1 << 28) * 8;
            let (now, class) = (at(105_000 + n * 20), Class::HostRead);
            device.submit(
                now,
                Command { first, sectors: 8, tag: 0, write: false, class, ready: now, given: now },
            );
        }
        device.close_meter(at(125_000));
        let gap = device.regions().utilisation_gap();
        assert!(gap.is_some_and(|gap| gap < 1e-3), "{gap:?}");
    }

    #[test]
    fn reads_beyond_the_cache_are_bound_by_the_regions() {
        let reached = rate(Bytes::GIB * 2000, 64, 200_000, false, Bytes::GIB);
        assert!((reached / 100_000.0 - 1.0).abs() < 0.05, "{reached}");
    }

    #[test]
    fn the_cache_hides_the_flash_while_the_span_fits() {
        assert!(rate(Bytes::MIB * 256, 64, 1_000_000, false, Bytes::GIB * 64) > 300_000.0);
    }

    #[test]
    fn writes_run_at_the_cache_until_it_is_full_and_then_at_the_flash() {
        assert!(rate(Bytes::GIB * 2000, 64, 100_000, true, Bytes::GIB * 64) > 300_000.0);
        let sustained = rate(Bytes::GIB * 2000, 64, 200_000, true, Bytes::MIB * 64);
        assert!((sustained / 10_000.0 - 1.0).abs() < 0.05, "{sustained}");
    }
}
