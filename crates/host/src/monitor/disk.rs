//! Block devices, by the kernel's own counters.
//!
//! Source of the fields: `Documentation/admin-guide/iostats.rst`; sectors are of 512 bytes whatever the device's.

use std::fs;
use std::path::{Path, PathBuf};

use units::{Instant, Nanos, Sectors};

use super::series::{Last, Sampler, Sink, Slot};
use crate::sysroot::{DevNo, SysRoot, number};

/// What the kernel has counted for one device since it appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads completed, after merging.
    pub reads: u64,
    /// Reads merged into another one.
    pub read_merges: u64,
    /// Sectors read.
    pub read_sectors: Sectors,
    /// Time that reads took, all together.
    pub read_time: Nanos,
    /// Writes completed, after merging.
    pub writes: u64,
    /// Writes merged into another one.
    pub write_merges: u64,
    /// Sectors written.
    pub write_sectors: Sectors,
    /// Time that writes took, all together.
    pub write_time: Nanos,
    /// Requests in the device at this moment: not a counter.
    pub in_flight: u64,
    /// Time during which there was at least one.
    pub busy_time: Nanos,
    /// Time of all requests together, those still in flight included.
    pub queue_time: Nanos,
    /// Discards completed; zero before Linux 4.18.
    pub discards: u64,
    /// Sectors discarded.
    pub discard_sectors: Sectors,
    /// Flushes completed; zero before Linux 5.5, and for partitions.
    pub flushes: u64,
    /// Time that flushes took.
    pub flush_time: Nanos,
}

impl DeviceCounters {
    /// The counters of that device now; `None` where the kernel lists it not.
    pub fn read(root: &SysRoot, devno: DevNo) -> Option<DeviceCounters> {
        find(&fs::read_to_string(root.proc.join("diskstats")).ok()?, devno)
    }

    /// The counters of every device that the kernel lists now, in its order; none where it lists nothing.
    pub fn read_all(root: &SysRoot) -> Vec<(DevNo, DeviceCounters)> {
        let text = fs::read_to_string(root.proc.join("diskstats")).unwrap_or_default();
        text.lines().filter_map(of_line).collect()
    }

    /// What was counted since `before`; `in_flight` stays that of now.
    pub fn since(&self, before: &DeviceCounters) -> DeviceCounters {
        let sectors = |after: Sectors, before: Sectors| Sectors(after.0.saturating_sub(before.0));
        DeviceCounters {
            reads: self.reads.saturating_sub(before.reads),
            read_merges: self.read_merges.saturating_sub(before.read_merges),
            read_sectors: sectors(self.read_sectors, before.read_sectors),
            read_time: self.read_time.saturating_sub(before.read_time),
            writes: self.writes.saturating_sub(before.writes),
            write_merges: self.write_merges.saturating_sub(before.write_merges),
            write_sectors: sectors(self.write_sectors, before.write_sectors),
            write_time: self.write_time.saturating_sub(before.write_time),
            in_flight: self.in_flight,
            busy_time: self.busy_time.saturating_sub(before.busy_time),
            queue_time: self.queue_time.saturating_sub(before.queue_time),
            discards: self.discards.saturating_sub(before.discards),
            discard_sectors: sectors(self.discard_sectors, before.discard_sectors),
            flushes: self.flushes.saturating_sub(before.flushes),
            flush_time: self.flush_time.saturating_sub(before.flush_time),
        }
    }
}

fn find(text: &str, devno: DevNo) -> Option<DeviceCounters> {
    text.lines().filter_map(of_line).find(|(found, _)| *found == devno).map(|(_, counters)| counters)
}

fn of_line(line: &str) -> Option<(DevNo, DeviceCounters)> {
    let mut fields = line.split_whitespace();
    let mut number = || fields.next()?.parse::<u32>().ok();
    let found = DevNo { major: number()?, minor: number()? };
    Some((found, counters(&fields.skip(1).map(|f| f.parse().unwrap_or(0)).collect::<Vec<u64>>())))
}

fn counters(fields: &[u64]) -> DeviceCounters {
    // Older kernels give 11 or 15 fields; what they do not count is zero.
    let at = |index: usize| fields.get(index).copied().unwrap_or(0);
    let millis = |index: usize| Nanos::new(at(index).saturating_mul(1_000_000));
    DeviceCounters {
        reads: at(0),
        read_merges: at(1),
        read_sectors: Sectors(at(2)),
        read_time: millis(3),
        writes: at(4),
        write_merges: at(5),
        write_sectors: Sectors(at(6)),
        write_time: millis(7),
        in_flight: at(8),
        busy_time: millis(9),
        queue_time: millis(10),
        discards: at(11),
        discard_sectors: Sectors(at(13)),
        flushes: at(15),
        flush_time: millis(16),
    }
}

/// All devices watched, from one reading.
pub(super) struct Disks {
    path: PathBuf,
    disks: Vec<Disk>,
}

struct Disk {
    devno: DevNo,
    slots: [Slot; SERIES.len()],
    last: Last<DeviceCounters>,
}

/// The series of a device and their units, in the order in which [`Disk::values`] has their values.
const SERIES: [(&str, &str); 13] = [
    ("reads_per_s", "per_s"),
    ("writes_per_s", "per_s"),
    ("read_bytes_per_s", "bytes_per_s"),
    ("write_bytes_per_s", "bytes_per_s"),
    ("discards_per_s", "per_s"),
    ("discard_bytes_per_s", "bytes_per_s"),
    ("flushes_per_s", "per_s"),
    ("in_flight", "count"),
    ("queue_mean", "count"),
    ("busy", "share"),
    ("read_wait", "ns"),
    ("write_wait", "ns"),
    ("flush_wait", "ns"),
];

impl Disks {
    pub(super) fn start(root: &SysRoot, devices: &[DevNo], out: &mut Sink) -> Option<Disks> {
        let path = root.proc.join("diskstats");
        let disks: Vec<Disk> = devices.iter().filter_map(|devno| Disk::start(root, *devno, out)).collect();
        (!disks.is_empty()).then_some(Disks { path, disks })
    }
}

impl Disk {
    fn start(root: &SysRoot, devno: DevNo, out: &mut Sink) -> Option<Disk> {
        let folder = root.block_folder(devno);
        let name = folder.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        let name = name.map_or_else(|| devno.to_string(), str::to_owned);
        if DeviceCounters::read(root, devno).is_none() {
            out.miss(format!("disk.{name}"), "not listed in /proc/diskstats");
            return None;
        }
        if folder.and_then(|folder| number(&folder.join("queue/iostats"))) == Some(0) {
            out.miss(format!("disk.{name}"), "the kernel does not count it (queue/iostats is 0)");
            return None;
        }
        let open = |(what, unit)| out.open(format!("disk.{name}.{what}"), unit, "/proc/diskstats");
        Some(Disk { devno, slots: SERIES.map(open), last: Last::default() })
    }

    fn sample(&mut self, now: Instant, counters: DeviceCounters, out: &mut Sink) {
        let in_flight = counters.in_flight as f64;
        let values = match self.last.replace(now, counters) {
            Some((before, seconds)) => Disk::values(&counters.since(&before), seconds),
            // Before there is a difference only this is known.
            None => SERIES.map(|(name, _)| (name == "in_flight").then_some(in_flight)),
        };
        for (slot, value) in self.slots.iter().zip(values) {
            if let Some(value) = value {
                out.push(*slot, now, value);
            }
        }
    }

    /// What follows from so much in so many seconds. Of no request there is no wait.
    fn values(delta: &DeviceCounters, seconds: f64) -> [Option<f64>; SERIES.len()] {
        let rate = |count: u64| Some(count as f64 / seconds);
        let bytes = |sectors: Sectors| rate(sectors.0).map(|rate| rate * units::SECTOR_BYTES as f64);
        let wait = |time: Nanos, count: u64| (count > 0).then(|| time.get() as f64 / count as f64);
        [
            rate(delta.reads),
            rate(delta.writes),
            bytes(delta.read_sectors),
            bytes(delta.write_sectors),
            rate(delta.discards),
            bytes(delta.discard_sectors),
            rate(delta.flushes),
            Some(delta.in_flight as f64),
            Some(delta.queue_time.as_secs_f64() / seconds),
            // The kernel counts whole ticks, so that a short interval can come out a little above all of it.
            Some((delta.busy_time.as_secs_f64() / seconds).min(1.0)),
            wait(delta.read_time, delta.reads),
            wait(delta.write_time, delta.writes),
            wait(delta.flush_time, delta.flushes),
        ]
    }
}

impl Sampler for Disks {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let Ok(text) = fs::read_to_string(&self.path) else { return };
        for disk in &mut self.disks {
            // A device that has gone has no more points; what was seen stays.
            if let Some(counters) = find(&text, disk.devno) {
                disk.sample(now, counters, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const SDA: DevNo = DevNo { major: 8, minor: 0 };

    #[test]
    fn rates_come_from_differences_and_waits_only_where_there_were_requests() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        machine.write("proc/diskstats", "   8       0 sda 100 5 2000 300 10 0 80 7 0 400 307 0 0 0 0 3 9\n");
        let mut out = Sink::default();
        let mut disks = Disks::start(&machine.root(), &[SDA], &mut out).expect("it is listed");
        disks.sample(Instant::START, &mut out);
        machine.write(
            "proc/diskstats",
            "   8       0 sda 300 5 6000 900 10 0 80 7 4 1400 1307 50 0 800 0 3 9\n",
        );
        disks.sample(Instant::from_nanos(2_000_000_000), &mut out);
        let value = |name: &str| out.last(&format!("disk.sda.{name}"));
        assert_eq!(value("reads_per_s"), Some(100.0));
        assert_eq!(value("read_bytes_per_s"), Some(2000.0 * 512.0));
        assert_eq!(value("writes_per_s"), Some(0.0));
        assert_eq!(value("busy"), Some(0.5));
        assert_eq!(value("queue_mean"), Some(0.5));
        assert_eq!(value("in_flight"), Some(4.0));
        assert_eq!(value("read_wait"), Some(3e6));
        assert_eq!(value("write_wait"), None);
        assert_eq!(value("discards_per_s"), Some(25.0));
        assert_eq!(value("discard_bytes_per_s"), Some(400.0 * 512.0));
    }

    #[test]
    fn an_old_kernels_short_line_is_read_and_another_devices_is_not() {
        let text = "8 1 sda1 9 9 9 9 9 9 9 9 9 9 9\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n";
        let counters = find(text, SDA).expect("it is listed");
        assert_eq!((counters.reads, counters.writes, counters.flushes), (1, 5, 0));
        assert_eq!(counters.read_time, Nanos::from_millis(4));
        assert_eq!(find(text, DevNo { major: 8, minor: 2 }), None);
    }

    #[test]
    fn a_device_the_kernel_does_not_count_is_absent_with_the_reason() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        machine.write("sys/block/sda/queue/iostats", "0\n");
        machine.write("proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
        let mut out = Sink::default();
        assert!(Disks::start(&machine.root(), &[SDA], &mut out).is_none());
        assert!(out.absent[0].reason.contains("iostats"), "{:?}", out.absent);
    }

    proptest::proptest! {
        #[test]
        fn counters_of_any_table_are_read_without_a_crash_and_never_shrink(
            text in "[0-9a-z \n]{0,80}", before in proptest::collection::vec(proptest::num::u64::ANY, 0..20),
            after in proptest::collection::vec(proptest::num::u64::ANY, 0..20),
        ) {
            find(&text, SDA);
            let (before, after) = (counters(&before), counters(&after));
            let delta = after.since(&before);
            proptest::prop_assert!(delta.reads <= after.reads && delta.write_sectors.0 <= after.write_sectors.0);
            proptest::prop_assert_eq!(before.since(&before).queue_time, Nanos::ZERO);
        }
    }
}
