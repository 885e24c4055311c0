//! Hosts and targets in the words of a record.

use std::collections::BTreeMap;

use host::DevNo;
use host::environment::UringState;
use host::monitor::{self, Observations};
use host::target::{Device, DeviceKind, Direct, TargetKind};
use record::names::fact;
use units::{Bytes, Instant};

use crate::plain_set::PlainSet;
use crate::scratch_set::ScratchSet;
use crate::target::Resolved;

/// The machine, as it is stored.
pub(crate) fn environment(found: &host::environment::Environment) -> record::Environment {
    let mut facts = BTreeMap::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(key.to_owned(), value);
        }
    };
    put(fact::HYPERVISOR, found.hypervisor.clone());
    put("container", found.container.map(Into::into));
    put("governor", Some(found.governors.join(", ")).filter(|text| !text.is_empty()));
    put("clock source", found.clock_source.clone());
    put("transparent huge pages", found.transparent_huge_pages.clone());
    put("io_uring", Some(uring_words(&found.uring)));
    put(fact::IO_MAX, Some(found.io_max.join("; ")).filter(|text| !text.is_empty()));
    let quota =
        found.cpu_quota.map(|quota| format!("{} CPUs in each period of {}", quota.cpus, quota.period));
    put(fact::CPU_QUOTA, quota);
    put("load average at start", found.load.map(|load| load.to_string()));
    record::Environment {
        hostname: found.hostname.clone(),
        kernel: found.kernel.clone(),
        cpu_model: found.cpu_model.clone(),
        cpus: found.cpus,
        ram_bytes: found.ram.get(),
        facts,
    }
}

fn uring_words(state: &UringState) -> String {
    match state {
        UringState::Allowed { deferred: true } => "allowed, with deferred task work".into(),
        UringState::Allowed { deferred: false } => "allowed".into(),
        UringState::Refused { why } => format!("refused: {why}"),
    }
}

/// A target, as it is stored.
pub(crate) fn target(
    each: &Resolved,
    (scratch, plain): (&ScratchSet, &PlainSet),
    number: usize,
) -> record::Target {
    let (kind, own) = match &each.target.kind {
        TargetKind::Null { .. } => ("null", None),
        TargetKind::File(path) => ("file", Some(path)),
        TargetKind::NewFile(path) => ("file", Some(path)),
        TargetKind::Directory(path) => ("directory", Some(path)),
        TargetKind::Block { node, .. } => ("block device", Some(node)),
        TargetKind::Nbd(_) => ("NBD export", None),
    };
    let scratched = scratch.planned(number);
    let laid_out = scratched.is_some() || plain.is_laid_out(number);
    let size = scratched.as_ref().map_or(each.facts.size, |(_, size)| *size);
    record::Target {
        address: each.target.name.clone(),
        kind: kind.into(),
        path: scratched.map(|(path, _)| path).or_else(|| own.map(|path| path.display().to_string())),
        size_bytes: size.get(),
        caches: Vec::new(),
        facts: facts(each, scratch, laid_out),
        validation: None,
    }
}

fn facts(each: &Resolved, scratch: &ScratchSet, laid_out: bool) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(key.to_owned(), value);
        }
    };
    if let Some(device) = each.facts.devices.first() {
        device_facts(device, &mut put);
    }
    let names = |devices: Vec<&str>| Some(devices.join(","));
    put(fact::DEVICE, names(each.facts.devices.iter().map(|device| device.name.as_str()).collect()));
    put(fact::MEMBERS, names(each.facts.members.iter().map(|member| member.device.name.as_str()).collect()));
    if let Some(mount) = &each.facts.mount {
        put(fact::FILE_SYSTEM, Some(mount.fs_type.clone()));
        put(fact::MOUNT_OPTIONS, Some(mount.options.join(",")));
    }
    put(
        fact::REMOTE,
        each.facts.remote.as_ref().map(|remote| {
            format!("{} from {}", remote.protocol, remote.share.as_deref().unwrap_or("an unknown server"))
        }),
    );
    put(fact::DIRECT, each.facts.direct.as_ref().map(direct_words));
    put("scratch size", scratch.words().map(Into::into));
    put(fact::LAID_OUT, laid_out.then(|| "random".into()));
    if let Some(stored) = &each.stored {
        put(fact::UNWRITTEN, stored.unwritten.map(Bytes::exact));
        put(fact::ZEROS, Some(format!("{} of {}", stored.zeros, stored.blocks)));
        put(fact::REPEATS, Some(format!("{} of {}", stored.repeats, stored.blocks - stored.zeros)));
        put(fact::INFORMATION, stored.bits_per_byte.map(|bits| format!("{bits:.2}")));
    }
    facts
}

fn direct_words(direct: &Direct) -> String {
    match direct {
        Direct::Aligned { offset, basis, .. } => format!("in multiples of {offset} ({basis})"),
        Direct::Impossible => "impossible".into(),
    }
}

fn device_facts(device: &Device, put: &mut impl FnMut(&str, Option<String>)) {
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    put(fact::VENDOR, device.vendor.clone());
    put(fact::MODEL, device.model.clone());
    put(fact::SERIAL, device.identity.serial.clone());
    put(fact::FIRMWARE, device.firmware.clone());
    put(fact::BY_ID, device.identity.by_id.first().cloned());
    put(fact::DEVICE_SIZE, Some(device.size.exact()));
    put(fact::SCHEDULER, device.queue.scheduler.clone());
    put(fact::WRITE_CACHE, device.queue.write_cache.clone());
    put(fact::ROTATIONAL, device.queue.rotational.map(yes_or_no));
    put("read-ahead", device.queue.read_ahead.map(|size| size.exact()));
    put("queue requests", device.queue.requests.map(|count| count.to_string()));
    put("largest request", device.queue.largest_request.map(|size| size.exact()));
    if let DeviceKind::Loop { backing: Some(file), direct, .. } = &device.kind {
        put("loop file", Some(file.display().to_string()));
        put("loop bypasses page cache", Some(yes_or_no(*direct)));
    }
}

/// The kernel's counters at an instant.
#[derive(Debug)]
pub(crate) struct Counted {
    /// What the targets stand on then: names, how they are related, numbers.
    pub devices: Vec<(String, &'static str, DevNo)>,
    /// Of every device that the kernel lists, so that one that the targets stand on only later is counted from the
    /// beginning.
    pub counters: Vec<(DevNo, monitor::DeviceCounters)>,
}

impl Counted {
    fn of(&self, devno: DevNo) -> Option<monitor::DeviceCounters> {
        self.counters.iter().find(|(other, _)| *other == devno).map(|(_, counters)| *counters)
    }
}

/// Differences of the kernel's counters, for all devices that the targets stood on before or after.
///
/// None where a device that was asked first has come or gone meanwhile as far as the kernel is concerned: the sum of the
/// others would be taken for all that the targets did.
pub(crate) fn device_counters(before: &Counted, after: &Counted) -> Vec<record::DeviceCounters> {
    let is_new = |each: &&(String, &str, DevNo)| !before.devices.iter().any(|(_, _, known)| *known == each.2);
    let all = before.devices.iter().chain(after.devices.iter().filter(is_new));
    let mut counted = Vec::new();
    for (name, relation, devno) in all {
        match before.of(*devno).zip(after.of(*devno)) {
            Some((before, after)) => counted.push(difference(name, relation, &after.since(&before))),
            None if *relation == "target" => return Vec::new(),
            None => {}
        }
    }
    counted
}

fn difference(name: &str, relation: &str, counted: &monitor::DeviceCounters) -> record::DeviceCounters {
    record::DeviceCounters {
        device: name.into(),
        relation: relation.into(),
        read_requests: counted.reads,
        read_sectors: counted.read_sectors.0,
        write_requests: counted.writes,
        write_sectors: counted.write_sectors.0,
        discard_requests: counted.discards,
        discard_sectors: counted.discard_sectors.0,
        flush_requests: counted.flushes,
        waits: Some(record::DeviceWaits {
            read_merges: counted.read_merges,
            write_merges: counted.write_merges,
            read_ns: counted.read_time.get(),
            write_ns: counted.write_time.get(),
            queue_ns: counted.queue_time.get(),
        }),
    }
}

/// What the page cache held of the files of a point before and after its load.
pub(crate) fn cached_series(started: Instant, ended: Instant, held: (Bytes, Bytes)) -> record::Series {
    record::Series {
        at_ns: vec![started.nanos(), ended.nanos()],
        values: vec![held.0.get() as f64, held.1.get() as f64],
        ..record::Series::new(record::names::series::MEMORY_FILES, "bytes", "cachestat(2)")
    }
}

/// What the monitors saw, and what they could not.
pub(crate) fn series(seen: Observations) -> Vec<record::Series> {
    let present = seen.series.into_iter().map(|series| record::Series {
        at_ns: series.points.iter().map(|(at, _)| at.nanos()).collect(),
        values: series.points.iter().map(|(_, value)| *value).collect(),
        ..record::Series::new(series.name, series.unit, series.source)
    });
    let absent = seen.absent.into_iter().map(|absent| record::Series {
        absent: Some(absent.reason),
        ..record::Series::new(absent.name, "", "")
    });
    present.chain(absent).collect()
}
