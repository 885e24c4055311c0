//! Devices with zones of their own, as shingled disks and NVMe namespaces with zones: what the kernel reports of each zone,
//! and how one is reset.
//!
//! Source: include/uapi/linux/blkzoned.h; Documentation/ABI/stable/sysfs-block.

use std::fmt::{self, Display};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES as SECTOR};
use workload::{DeviceZone, ZoneAccess, ZoneAction, ZoneCall};

use crate::engine::{EngineError, OpenFile};
use crate::sysroot::number;
use crate::target::Device;

/// `BLKREPORTZONE`, `_IOWR(0x12, 130, struct blk_zone_report)`.
const REPORT: libc::Ioctl = 0xC010_1282;
/// `BLKRESETZONE`, `_IOW(0x12, 131, struct blk_zone_range)`.
const RESET: libc::Ioctl = 0x4010_1283;

/// Words of 64 bits of `struct blk_zone_report` and of each `struct blk_zone` after it.
const HEAD_WORDS: usize = 2;
const ZONE_WORDS: usize = 8;
/// Zones of one report: 64 KiB.
const ZONES_AT_ONCE: u32 = 1024;

/// Who answers for writes that are not in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The device: writes must be at write pointers.
    HostManaged,
    /// Writes should be at write pointers, and the device takes all others.
    HostAware,
}

impl Display for Model {
    /// The kernel's own word.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::HostManaged => "host-managed",
            Model::HostAware => "host-aware",
        })
    }
}

/// A device with zones of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedDevice {
    /// Who keeps to the order.
    pub model: Model,
    /// From the start of one zone to the start of the next.
    pub zone: Bytes,
    /// Zones that may be open at a time; `None` where the device has no limit.
    pub open_most: Option<u32>,
    /// Zones that may be open or closed, neither empty nor full; `None` where the device has no limit.
    pub active_most: Option<u32>,
}

impl ZonedDevice {
    /// What the kernel says of a device; `None` where it has no zones.
    pub fn of(device: &Device) -> Option<ZonedDevice> {
        let model = match device.queue.zoned.as_deref()? {
            "host-managed" => Model::HostManaged,
            "host-aware" => Model::HostAware,
            _ => return None,
        };
        let queue = |name: &str| number(&device.folder.join("queue").join(name)).filter(|value| *value > 0);
        let limit = |name: &str| queue(name).and_then(|most| u32::try_from(most).ok());
        let zone = Bytes::new(queue("chunk_sectors")?.checked_mul(SECTOR)?);
        let (open_most, active_most) = (limit("max_open_zones"), limit("max_active_zones"));
        Some(ZonedDevice { model, zone, open_most, active_most })
    }

    /// Zones that may be written in part at a time; `None` where the device has no limit.
    pub fn limit(&self) -> Option<u32> {
        [self.open_most, self.active_most].into_iter().flatten().min()
    }

    /// All zones of the device that `file` is, in order. An error where the device reports none, or some of another size.
    pub fn report(&self, file: &File) -> io::Result<Vec<DeviceZone>> {
        self.report_by(&mut |words| ask(file, REPORT, words.as_mut_ptr().cast()))
    }

    /// Resets each zone of the device that `file` is, which is open for writing, that begins in a range and is written in order and
    /// not empty. What it held is lost.
    pub fn reset(&self, file: &File, from: Bytes, until: Bytes) -> io::Result<()> {
        let zones = self.report(file)?;
        for (at, zone) in (0..).map(|number| self.zone * number).zip(zones) {
            let holds = zone.access == ZoneAccess::InOrder && !zone.written.is_zero();
            if holds && at >= from && at < until {
                reset_zone(file, at, self.zone)?;
            }
        }
        Ok(())
    }

    /// Asks for reports, which are written into the words, until all zones are known.
    fn report_by(&self, ask: &mut dyn FnMut(&mut [u64]) -> io::Result<()>) -> io::Result<Vec<DeviceZone>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        assert!(
            !self.zone.is_zero(),
            "zones must have a length, or the second would begin where the first does"
        );
        let mut zones = Vec::new();
        let mut words = vec![0; HEAD_WORDS + ZONE_WORDS * ZONES_AT_ONCE as usize];
        loop {
            let at = self.zone * zones.len() as u64;
            let reported = reported(&mut words, at, ZONES_AT_ONCE, ask)?;
            if reported.is_empty() {
                break;
            }
            for zone in &reported {
                let expected = self.zone * zones.len() as u64;
                // The last one may be smaller.
                if zone.start != expected || zone.len > self.zone {
                    let (start, len) = (zone.start, zone.len);
                    return Err(invalid(format!("it reports a zone of {len} at {start}, not at {expected}")));
                }
                zones.push(zone.known(self.active_most.is_some()));
            }
            if reported.len() < ZONES_AT_ONCE as usize {
                break;
            }
        }
        if zones.is_empty() { Err(invalid("it reports no zones".into())) } else { Ok(zones) }
    }
}

/// Carries out what a job asks of a zone of `open`: its report, or `None` after a reset.
pub fn execute(open: &OpenFile, call: &ZoneCall) -> Result<Option<DeviceZone>, EngineError> {
    let refused = |what, source: io::Error| EngineError::Incapable {
        path: open.path.clone(),
        what,
        reason: format!("zone at {}: {source}; `blkzone report` shows it", call.at),
    };
    match call.action {
        ZoneAction::Reset => reset_zone(&open.file, call.at, call.len)
            .map_err(|error| refused("a reset", error))
            .map(|()| None),
        ZoneAction::Report => {
            let mut words = vec![0; HEAD_WORDS + ZONE_WORDS];
            let mut by = |words: &mut [u64]| ask(&open.file, REPORT, words.as_mut_ptr().cast());
            let zones =
                reported(&mut words, call.at, 1, &mut by).map_err(|error| refused("a report", error))?;
            let missing = || io::Error::from(io::ErrorKind::UnexpectedEof);
            zones.first().map(|zone| Some(zone.known(false))).ok_or_else(|| refused("a report", missing()))
        }
    }
}

fn reset_zone(file: &File, at: Bytes, len: Bytes) -> io::Result<()> {
    assert!(!len.is_zero() && at.get().is_multiple_of(len.get()), "a reset is of a whole zone");
    let mut range = [at.get() / SECTOR, len.get() / SECTOR];
    ask(file, RESET, range.as_mut_ptr().cast())
}

/// Asks a device with the structure behind a pointer, which is as large as the call says.
fn ask(file: &File, call: libc::Ioctl, argument: *mut libc::c_void) -> io::Result<()> {
    // SAFETY: both calls read their structure, and a report writes as many zones as its head says there is room for;
    // whoever calls has that memory, which lives through the call.
    crate::answered(unsafe { libc::ioctl(file.as_raw_fd(), call, argument) }).map(drop)
}

/// One `struct blk_zone`.
#[derive(Clone, Copy, Debug)]
struct Reported {
    start: Bytes,
    len: Bytes,
    /// From the start of the device; of some conditions no place.
    pointer: Bytes,
    kind: u8,
    condition: u8,
    capacity: Bytes,
}

impl Reported {
    /// What a job needs to know; `counts_closed` where zones that are closed count towards a limit of the device.
    fn known(&self, counts_closed: bool) -> DeviceZone {
        /// `BLK_ZONE_TYPE_SEQWRITE_REQ`.
        const IN_ORDER: u8 = 2;
        /// `BLK_ZONE_COND_…`.
        const EMPTY: u8 = 1;
        const OPEN: [u8; 2] = [2, 3];
        const CLOSED: u8 = 4;
        const READ_ONLY: u8 = 0xD;
        const OFFLINE: u8 = 0xF;
        let access = match self.condition {
            READ_ONLY => ZoneAccess::ReadOnly,
            OFFLINE => ZoneAccess::Offline,
            _ if self.kind == IN_ORDER => ZoneAccess::InOrder,
            // Where writes in order are only preferred, all are taken.
            _ => ZoneAccess::Anywhere,
        };
        let has_pointer = OPEN.contains(&self.condition) || self.condition == CLOSED;
        let written = match (access, self.condition) {
            (ZoneAccess::InOrder, EMPTY) => Bytes::ZERO,
            (ZoneAccess::InOrder, _) if has_pointer => {
                self.pointer.saturating_sub(self.start).min(self.capacity)
            }
            _ => self.capacity,
        };
        let is_open = OPEN.contains(&self.condition) || (counts_closed && self.condition == CLOSED);
        let is_open = is_open && access == ZoneAccess::InOrder;
        DeviceZone { capacity: self.capacity, written, access, is_open }
    }
}

/// At most `most` zones from the one at `at` on, for which there is room in `words`.
fn reported(
    words: &mut [u64],
    at: Bytes,
    most: u32,
    ask: &mut dyn FnMut(&mut [u64]) -> io::Result<()>,
) -> io::Result<Vec<Reported>> {
    /// `BLK_ZONE_REP_CAPACITY`.
    const HAS_CAPACITY: u32 = 1;
    assert!(
        words.len() >= HEAD_WORDS + ZONE_WORDS * most as usize,
        "there is room for each zone of a report"
    );
    words.fill(0);
    words[0] = at.get() / SECTOR;
    words[1] = word_of([most, 0]);
    ask(words)?;
    let [count, flags] = halves_of(words[1]);
    let sectors = |count: u64| Bytes::new(count.saturating_mul(SECTOR));
    let zone = |words: &[u64]| {
        let [kind, condition, ..] = words[3].to_ne_bytes();
        Reported {
            start: sectors(words[0]),
            len: sectors(words[1]),
            pointer: sectors(words[2]),
            kind,
            condition,
            capacity: sectors(if flags & HAS_CAPACITY == 0 { words[1] } else { words[4].min(words[1]) }),
        }
    };
    let zones = words[HEAD_WORDS..].chunks_exact(ZONE_WORDS).take(narrow::<usize>(count.min(most)));
    Ok(zones.map(zone).collect())
}

/// Two numbers that follow each other in memory, and back.
fn word_of(halves: [u32; 2]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&halves[0].to_ne_bytes());
    bytes[4..].copy_from_slice(&halves[1].to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

fn halves_of(word: u64) -> [u32; 2] {
    [0, 4].map(|at| u32::from_ne_bytes(crate::bytes_at(&word.to_ne_bytes(), at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// A zone in the kernel's own bytes.
    fn zone_bytes(start: u64, len: u64, pointer: u64, kind: u8, condition: u8, capacity: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [start, len, pointer] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend([kind, condition, 0, 0, 0, 0, 0, 0]);
        bytes.extend(capacity.to_ne_bytes());
        bytes.resize(64, 0);
        bytes
    }

    /// A device in memory that reports these zones as the kernel does.
    fn device(zones: Vec<Vec<u8>>, flags: u32) -> impl FnMut(&mut [u64]) -> io::Result<()> {
        move |words| {
            let first = words[0];
            let [most, _] = halves_of(words[1]);
            let start = |zone: &Vec<u8>| u64::from_ne_bytes(zone[..8].try_into().expect("eight"));
            let some: Vec<&Vec<u8>> =
                zones.iter().filter(|zone| start(zone) >= first).take(most as usize).collect();
            let mut bytes = first.to_ne_bytes().to_vec();
            bytes.extend(narrow::<u32>(some.len()).to_ne_bytes());
            bytes.extend(flags.to_ne_bytes());
            some.iter().for_each(|zone| bytes.extend(zone.iter()));
            for (word, eight) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_ne_bytes(eight.try_into().expect("eight"));
            }
            Ok(())
        }
    }

    fn zoned(active_most: Option<u32>) -> ZonedDevice {
        ZonedDevice { model: Model::HostManaged, zone: Bytes::MIB, open_most: None, active_most }
    }

    #[test]
    fn each_kind_and_condition_of_a_zone_says_what_may_be_done_to_it() {
        let half = Bytes::KIB * 512;
        let cases = [
            (1, 0x0, 0, ZoneAccess::Anywhere, Bytes::MIB, false),
            (2, 0x1, 0, ZoneAccess::InOrder, Bytes::ZERO, false),
            (2, 0x2, 1024, ZoneAccess::InOrder, half, true),
            (2, 0x3, 1024, ZoneAccess::InOrder, half, true),
            (2, 0x4, 1024, ZoneAccess::InOrder, half, false),
            (2, 0xE, u64::MAX >> 9, ZoneAccess::InOrder, Bytes::MIB, false),
            (2, 0xD, u64::MAX >> 9, ZoneAccess::ReadOnly, Bytes::MIB, false),
            (2, 0xF, 0, ZoneAccess::Offline, Bytes::MIB, false),
            (3, 0x2, 1024, ZoneAccess::Anywhere, Bytes::MIB, false),
        ];
        let zone = |(number, case): (u64, &(u8, u8, u64, ZoneAccess, Bytes, bool))| {
            let start = number * 2048;
            zone_bytes(start, 2048, start.saturating_add(case.2), case.0, case.1, 2048)
        };
        let zones: Vec<Vec<u8>> = (0..).zip(&cases).map(zone).collect();
        let told = zoned(None).report_by(&mut device(zones.clone(), 1)).expect("it reports");
        for (zone, (kind, condition, _, access, written, is_open)) in told.iter().zip(cases) {
            let expected = DeviceZone { capacity: Bytes::MIB, written, access, is_open };
            assert_eq!(*zone, expected, "type {kind}, condition {condition:#x}");
        }
        assert_eq!(told.len(), cases.len());
        let limited = zoned(Some(9)).report_by(&mut device(zones, 1)).expect("it reports");
        assert!(limited[4].is_open, "where active zones are limited, a closed one is one of them");
    }

    #[test]
    fn a_zone_holds_its_capacity_where_that_is_told_and_else_all_of_it() {
        let zones = vec![zone_bytes(0, 2048, 0, 2, 1, 1536)];
        let capacity =
            |flags| zoned(None).report_by(&mut device(zones.clone(), flags)).expect("it reports")[0].capacity;
        assert_eq!((capacity(1), capacity(0)), (Bytes::KIB * 768, Bytes::MIB));
    }

    #[test]
    fn many_zones_come_in_several_reports_and_the_last_may_be_smaller() {
        let last = u64::from(ZONES_AT_ONCE) * 2 + 6;
        let zone = |number: u64| {
            let len = if number == last { 100 } else { 2048 };
            zone_bytes(number * 2048, len, number * 2048, 2, 1, len)
        };
        let told = zoned(None).report_by(&mut device((0..=last).map(zone).collect(), 1)).expect("it reports");
        assert_eq!(told.len() as u64, last + 1);
        assert_eq!(told.last().map(|zone| zone.capacity), Some(Bytes::new(51_200)));
    }

    #[test]
    fn zones_that_are_not_where_they_should_be_are_an_error() {
        let gap = vec![zone_bytes(0, 2048, 0, 2, 1, 2048), zone_bytes(4096, 2048, 4096, 2, 1, 2048)];
        let larger = vec![zone_bytes(0, 4096, 0, 2, 1, 4096)];
        for (zones, said) in [(gap, "at 2 MiB"), (larger, "of 2 MiB"), (Vec::new(), "no zones")] {
            let error = zoned(None).report_by(&mut device(zones, 1)).expect_err("it is odd").to_string();
            assert!(error.contains(said), "{error}");
        }
        let mut broken = |_: &mut [u64]| Err(io::Error::from_raw_os_error(libc::EIO));
        assert!(zoned(None).report_by(&mut broken).is_err());
    }

    #[test]
    fn a_file_has_no_zones_to_report_or_reset() {
        let open = OpenFile {
            path: "a file".into(),
            file: tempfile::tempfile().expect("there is room"),
            is_block_device: false,
            addressing: None,
        };
        assert!(zoned(None).report(&open.file).is_err());
        for (action, word) in [(ZoneAction::Reset, "a reset"), (ZoneAction::Report, "a report")] {
            let call = ZoneCall { file: 0, at: Bytes::MIB * 3, len: Bytes::MIB, action };
            let error = execute(&open, &call).expect_err("it is a file").to_string();
            assert!(error.starts_with(&format!("a file: {word} was refused: zone at 3 MiB")), "{error}");
        }
    }

    #[test]
    fn sysfs_tells_how_large_zones_are_and_how_many_may_be_open() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", 1 << 20);
        let read = || ZonedDevice::of(&Device::read(&machine.root(), sda).expect("the fixture has it"));
        assert_eq!(read(), None, "an older kernel says nothing");
        machine.write("sys/block/sda/queue/zoned", "none\n");
        assert_eq!(read(), None);
        machine.write("sys/block/sda/queue/zoned", "host-managed\n");
        machine.write("sys/block/sda/queue/chunk_sectors", "524288\n");
        machine.write("sys/block/sda/queue/max_open_zones", "0\n");
        let zone = Bytes::MIB * 256;
        let plain = ZonedDevice { zone, ..zoned(None) };
        assert_eq!((read(), plain.limit()), (Some(plain), None));
        machine.write("sys/block/sda/queue/zoned", "host-aware\n");
        machine.write("sys/block/sda/queue/max_open_zones", "128\n");
        machine.write("sys/block/sda/queue/max_active_zones", "14\n");
        let limited = read().expect("it has zones");
        assert_eq!((limited.model, limited.limit()), (Model::HostAware, Some(14)));
    }
}
