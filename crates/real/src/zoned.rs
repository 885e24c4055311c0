//! Targets that are devices with zones of their own: what a workload may ask of them, and what they report before a load.

use std::fs::File;

use conduct::WorldError;
use host::engine::FileRef;
use host::load::Assignment;
use host::target::TargetKind;
use host::zoned::{Model, ZonedDevice};
use host::{Facts, Target};
use record::DeviceZones;
use units::Bytes;
use workload::plan::{Plan, Point};
use workload::spec::{Verify, Workload, ZoneSize, Zones};
use workload::{DeviceZone, JobSpec, ZoneAccess};

use crate::failure::HostError;
use crate::scratch_set::files_of;
use crate::target::Resolved;
use crate::world::RealWorld;

/// The zones of a target; `None` where it has none of its own.
pub(crate) fn zoned_of(target: &Target, facts: &Facts) -> Option<ZonedDevice> {
    let device = facts.devices.first().filter(|_| matches!(target.kind, TargetKind::Block { .. }))?;
    ZonedDevice::of(device)
}

/// The targets of `workload` that have zones of their own.
fn devices<'a>(
    workload: &'a Workload,
    targets: &'a [Resolved],
) -> impl Iterator<Item = (&'a Resolved, ZonedDevice)> {
    let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    used.filter_map(|(_, each)| Some((each, each.zoned?)))
}

/// The workload with the zones and limits of its devices in place of what it says of them.
pub(crate) fn on_zones(workload: &Workload, targets: &[Resolved]) -> Workload {
    let mut workload = workload.clone();
    let zoned: Vec<ZonedDevice> = devices(&workload, targets).map(|(_, zoned)| zoned).collect();
    if let (Some(first), true) = (zoned.first(), workload.zones.are_there()) {
        let limit = zoned.iter().filter_map(ZonedDevice::limit).min();
        let Zones { open, .. } = workload.zones;
        let size = Some(ZoneSize::Of(first.zone));
        workload.zones = Zones { size, capacity: None, open: open.or(limit), ..workload.zones };
    }
    workload
}

/// Says no to zones that are not those of the targets, to requests that a zoned device does not take, and to a workload that would
/// find nothing to read.
pub(crate) fn check_zones(plan: &Plan, workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    if !workload.zones.are_there() {
        return Ok(());
    }
    let unfit = |each: &Resolved, why: String| {
        let name = &each.target.name;
        Err(WorldError::unfit(format!("{name}: workload `{}`: {why}", workload.name)))
    };
    let Some((_, first)) = devices(workload, targets).next() else {
        return check_emulated(plan, workload, targets);
    };
    let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    for (_, each) in used {
        match each.zoned {
            Some(zoned) if zoned.zone == first.zone => {
                check_device(workload, &zoned).or_else(|why| unfit(each, why))?;
            }
            _ => {
                return unfit(
                    each,
                    format!(
                        "the zones of another target are of {}; use `on`, and a workload for each",
                        first.zone
                    ),
                );
            }
        }
    }
    Ok(())
}

/// What a device with zones does not take.
fn check_device(workload: &Workload, zoned: &ZonedDevice) -> Result<(), String> {
    let (zones, zone) = (&workload.zones, zoned.zone);
    let own = "`zone_size = \"device\"` takes them as they are";
    if let Some(ZoneSize::Of(size)) = zones.size.filter(|size| *size != ZoneSize::Of(zone)) {
        return Err(format!(
            "the zones of this device are of {}, not of {}; {own}",
            zone.exact(),
            size.exact()
        ));
    }
    if workload.engine.kind.sends_commands() {
        let kind = workload.engine.kind;
        return Err(format!(
            "zones are reported and reset by the block layer, which `engine = \"{kind}\"` passes by; use io_uring or pread"
        ));
    }
    if workload.writes() && !workload.direct && zoned.model == Model::HostManaged {
        return Err("the page cache writes in an order of its own, which a host-managed device refuses; write `direct = true`".into());
    }
    let largest = workload.sizes.largest();
    if largest > zone {
        return Err(format!(
            "a request of {} is larger than a zone, which is of {}",
            largest.exact(),
            zone.exact()
        ));
    }
    if zones.skip.is_some_and(|skip| !skip.is_multiple_of(zone)) {
        return Err(format!("`zone_skip` leaves out whole zones; a multiple of {}", zone.exact()));
    }
    match (zones.open, zones.open_of_worker, zoned.limit()) {
        (Some(open), _, Some(most)) if open > most => Err(format!(
            "this device lets {most} zones be open, not {open}; lower `open_zones`, or leave it out"
        )),
        (None, Some(own), Some(most)) if own > most => {
            Err(format!("this device lets {most} zones be open, not {own}; lower `worker_open_zones`"))
        }
        (None, Some(_), None) => {
            Err("this device has no limit of open zones; `worker_open_zones` goes with `open_zones`".into())
        }
        _ => Ok(()),
    }
}

/// What emulated zones cannot be asked.
fn check_emulated(plan: &Plan, workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let used =
        || targets.iter().enumerate().filter(|(number, _)| workload.uses(*number)).map(|(_, each)| each);
    let is_device = |each: &&Resolved| matches!(each.target.kind, TargetKind::Block { .. });
    let unfit = |each: &Resolved, why: &str| {
        Err(WorldError::unfit(format!("{}: workload `{}`: {why}", each.target.name, workload.name)))
    };
    let has_part = |each: &&Resolved| {
        let mut zoned = each.facts.devices.iter().filter_map(|device| device.queue.zoned.as_deref());
        is_device(each) && zoned.any(|zoned| zoned != "none")
    };
    if let Some(each) = used().find(has_part) {
        return unfit(
            each,
            "the kernel does not say how large the zones of this device are; name the whole device",
        );
    }
    if let (Some(each), Some(ZoneSize::OfDevice)) = (used().next(), workload.zones.size) {
        return unfit(
            each,
            "it has no zones of its own; write how large they are to be (`zone_size = \"256MiB\"`; fio: zonesize=256m)",
        );
    }
    let reads_only = !workload.writes() && !workload.zones.reads_beyond;
    let mut all = plan.points().iter().flat_map(Point::workloads);
    let is_written = all.any(|each| each.zones.are_there() && each.writes());
    match used().find(is_device).filter(|_| reads_only && !is_written) {
        None => Ok(()),
        Some(each) => unfit(
            each,
            "emulated zones are empty when a run begins, so that nothing would be read; write `read_beyond_wp = true`, or let \
             a workload write before",
        ),
    }
}

impl RealWorld {
    /// Has the devices of `assignments` report their zones, after it has emptied those of which what is written is
    /// verified; for each of them what its device reported, `None` without one.
    pub(crate) fn learn_zones(
        &self,
        assignments: &[Assignment],
    ) -> Result<Vec<Option<DeviceZones>>, WorldError> {
        let learn = |assignment: &Assignment| {
            let workload = &assignment.workload;
            if !workload.zones.are_there() {
                return Ok(None);
            }
            let mut seen = None;
            let numbers = files_of(workload, self.targets());
            for (index, (number, file)) in (0..).zip(numbers.into_iter().zip(&assignment.files)) {
                let Some(zoned) = self.targets().get(number).and_then(|each| each.zoned) else { continue };
                let own = |job: &&JobSpec| job.files.numbers().contains(&index);
                let jobs: Vec<&JobSpec> = assignment.jobs.iter().filter(own).collect();
                let zones = self.reported(workload, (&zoned, &jobs), (number, file))?;
                seen = seen.or_else(|| Some(summary(&zoned, &zones)));
                self.zones().learn(file.path.display().to_string(), zones);
            }
            Ok(seen)
        };
        assignments.iter().map(learn).collect()
    }

    /// The zones of one device of a workload before its load.
    fn reported(
        &self,
        workload: &Workload,
        (zoned, jobs): (&ZonedDevice, &[&JobSpec]),
        (number, file): (usize, &FileRef),
    ) -> Result<Vec<DeviceZone>, WorldError> {
        let failed = |what: &str| WorldError::failed(format!("{}: to {what} zones", file.path.display()));
        if workload.verify != Verify::None && workload.writes() {
            let permit = self.targets()[number].permit.as_ref();
            let writable =
                permit.map(|permit| permit.open(0)).transpose().map_err(HostError::told)?.flatten();
            let writable = writable.ok_or_else(|| {
                HostError::told(host::engine::EngineError::NoPermit { path: file.path.clone() })
            })?;
            for job in jobs {
                let (from, until) = (job.region.start, job.region.start + job.region.len);
                zoned.reset(&writable, from, until).map_err(failed("reset"))?;
            }
        }
        let opened = File::open(&file.path).and_then(|device| zoned.report(&device));
        let zones = opened.map_err(failed("report"))?;
        let (size, smallest) = (zoned.zone, workload.sizes.smallest());
        let holds = |(at, zone): (Bytes, &DeviceZone)| {
            let is_used = |job: &&JobSpec| at >= job.region.start && at < job.region.start + job.region.len;
            zone.capacity >= smallest && jobs.iter().any(is_used)
        };
        match workload.writes() && !(0..).map(|number| size * number).zip(&zones).any(holds) {
            true => Err(WorldError::unfit(format!(
                "{}: workload `{}`: no zone of its span holds a request of {}; write a smaller `size`",
                file.path.display(),
                workload.name,
                smallest.exact()
            ))),
            false => Ok(zones),
        }
    }
}

/// What a record says of them.
fn summary(zoned: &ZonedDevice, zones: &[DeviceZone]) -> DeviceZones {
    let in_order = zones.iter().filter(|zone| zone.access == ZoneAccess::InOrder);
    DeviceZones {
        model: zoned.model.to_string(),
        size_bytes: zoned.zone.get(),
        capacity_bytes: in_order.map(|zone| zone.capacity.get()).min(),
        count: zones.len() as u64,
        conventional: zones.iter().filter(|zone| zone.access == ZoneAccess::Anywhere).count() as u64,
        most_open: zoned.limit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVE: ZonedDevice = ZonedDevice {
        model: Model::HostManaged,
        zone: Bytes::new(4 << 20),
        open_most: Some(8),
        active_most: Some(4),
    };

    /// What is said no to of writes with these keys to a drive.
    fn refused(keys: &[(&str, &str)], drive: ZonedDevice) -> Option<String> {
        let texts = [("size", "64KiB"), ("reads", "0%"), ("zone_size", "device")];
        let own = |key: &&(&str, &str)| keys.iter().all(|(other, _)| other != &key.0);
        let texts = texts.iter().filter(own).chain(keys).copied();
        let workload = workload::plan::from_texts("x", texts).unwrap_or_else(|e| panic!("{}", e.plain()));
        check_device(&workload, &drive).err()
    }

    #[test]
    fn what_a_drive_with_zones_does_not_take_is_refused_before() {
        assert_eq!(refused(&[], DRIVE), None);
        assert_eq!(refused(&[("zone_size", "4MiB"), ("open_zones", "4")], DRIVE), None);
        for (key, value, said) in [
            ("zone_size", "8MiB", "of 4MiB, not of 8MiB"),
            ("open_zones", "5", "lets 4 zones be open, not 5"),
            ("worker_open_zones", "5", "lets 4 zones be open, not 5"),
            ("direct", "false", "direct = true"),
            ("size", "8MiB", "larger than a zone"),
            ("engine", "sg", "passes by"),
        ] {
            let why = refused(&[(key, value)], DRIVE).unwrap_or_else(|| panic!("{key} = {value}"));
            assert!(why.contains(said), "{why}");
        }
        assert_eq!(refused(&[("direct", "false"), ("reads", "100%")], DRIVE), None, "reads may be cached");
        let aware = ZonedDevice { model: Model::HostAware, ..DRIVE };
        assert_eq!(refused(&[("direct", "false")], aware), None, "it takes all writes");
        let skips = [("zone_skip", "6MiB"), ("pattern", "sequential")];
        assert!(refused(&skips, DRIVE).is_some_and(|why| why.contains("multiple of 4MiB")));
        let unlimited = ZonedDevice { open_most: None, active_most: None, ..DRIVE };
        assert_eq!(refused(&[("open_zones", "4096")], unlimited), None);
        assert!(refused(&[("worker_open_zones", "1")], unlimited).is_some());
    }

    #[test]
    fn a_record_says_what_the_drive_reported() {
        let zone = |access, capacity| DeviceZone {
            capacity: Bytes::new(capacity),
            written: Bytes::ZERO,
            access,
            is_open: false,
        };
        let zones = [
            zone(ZoneAccess::Anywhere, 4 << 20),
            zone(ZoneAccess::InOrder, 3 << 20),
            zone(ZoneAccess::InOrder, 2 << 20),
        ];
        let said = summary(&DRIVE, &zones);
        assert_eq!((said.model.as_str(), said.count, said.conventional), ("host-managed", 3, 1));
        assert_eq!((said.size_bytes, said.capacity_bytes, said.most_open), (4 << 20, Some(2 << 20), Some(4)));
    }
}
