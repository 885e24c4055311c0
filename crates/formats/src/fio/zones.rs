//! `zonemode=zbd`: zones that are written in order, those of a zoned device or emulated ones.
//!
//! Without `zonesize=` they are the device's. Of a file and of a device that is not zoned fio keeps account itself: all
//! zones are empty when it starts, and resets reach no device. A plan's `zone_size` means the same.

use units::Bytes;

use crate::Refusal;
use crate::plan::{Key, Value};

use super::access::{READ, Rw, TRIM, WRITE};
use super::job::Job;
use super::section::Setting;
use super::settings::Options;

/// The setting `zonemode=zbd` and the bytes of a zone, of which only the device knows where they are not said; `None` where
/// there is no such setting.
pub(super) fn asked(options: &Options) -> Result<Option<(&Setting, Option<u64>)>, Refusal> {
    let Some(mode) = options.get("zonemode").filter(|mode| mode.value == "zbd") else { return Ok(None) };
    match options.size("zonesize")?.filter(|size| *size > 0) {
        Some(size) if !size.is_multiple_of(512) => {
            Err(options.get("zonesize").unwrap_or(mode).wrong("a multiple of 512 bytes"))
        }
        size => Ok(Some((mode, size))),
    }
}

/// The keys of a plan for the zones of a job.
pub(super) fn keys(options: &Options, rw: Rw, largest: u64) -> Result<Vec<Key>, Refusal> {
    let Some((mode, size)) = asked(options)? else { return Ok(Vec::new()) };
    check_requests(options, mode, rw)?;
    let bytes = |bytes: u64| Bytes::new(bytes).toml();
    let mut keys = match size {
        // It says itself what its zones hold.
        None => vec![("zone_size", "\"device\"".into())],
        Some(size) => {
            let capacity = options.size("zonecapacity")?.filter(|capacity| *capacity > 0);
            let is_larger = capacity.is_some_and(|own| own > size);
            if let Some(setting) = options.get("zonecapacity").filter(|_| is_larger) {
                return Err(setting.wrong("at most zonesize="));
            }
            if largest > capacity.unwrap_or(size) {
                return Err(
                    mode.unsupported("a request is larger than what a zone holds; say a larger zonesize=")
                );
            }
            check_remainders(options, capacity.unwrap_or(size))?;
            let capacity = capacity.map(|capacity| ("zone_capacity", bytes(capacity)));
            [("zone_size", bytes(size))].into_iter().chain(capacity).collect()
        }
    };
    if let Some(skip) = options.size("zoneskip")?.filter(|skip| *skip > 0 && !rw.random) {
        if size.is_some_and(|size| !skip.is_multiple_of(size)) {
            return Err(options.get("zoneskip").unwrap_or(mode).wrong("a multiple of zonesize="));
        }
        keys.push(("zone_skip", bytes(skip)));
    }
    let open = open_zones(options, size.is_none())?;
    keys.extend(open.into_iter().map(|(key, count)| (key, count.to_string())));
    if options.flag("read_beyond_wp")? == Some(true) {
        keys.push(("read_beyond_wp", "true".into()));
    }
    let part = |name: &str| options.read(name, part);
    if let Some(resets) = part("zone_reset_frequency")?.filter(|resets| *resets > 0.0 && rw.has[WRITE]) {
        keys.push(("zone_resets", share(resets)));
        keys.extend(part("zone_reset_threshold")?.map(|above| ("zone_resets_above", share(above))));
    }
    Ok(keys)
}

/// What fio does among zones in ways of its own, or not at all.
fn check_requests(options: &Options, mode: &Setting, rw: Rw) -> Result<(), Refusal> {
    let refuse = |why: &str| Err(mode.unsupported(why));
    if rw.has[TRIM] {
        return refuse(
            "a trim of zones that fio keeps account of reaches no storage; zone_reset_frequency= resets zones",
        );
    }
    if rw.is_mixed() && !rw.random {
        return refuse(
            "a stream of reads and writes ends at once, for there is nothing to read at its write pointer; say \
                       rw=randrw, or two jobs",
        );
    }
    if rw.skip != 0 || rw.consecutive > 1 {
        return refuse("it does not go with a modifier of rw=");
    }
    if options.three("percentage_random", super::value::share)?.into_iter().flatten().any(|part| part < 100.0)
    {
        return refuse("zones are written in order whatever is random; leave percentage_random= out");
    }
    let is_verified = options.text("verify").is_some_and(|verify| !["0", "none", "null"].contains(&verify));
    let has_passes = options.count("loops")?.unwrap_or(1) > 1 || options.flag("time_based")? == Some(true);
    if is_verified && rw.has[WRITE] && has_passes {
        return refuse("what is verified is written once: leave loops= and time_based out");
    }
    if is_verified && options.read("zone_reset_frequency", part)?.is_some_and(|part| part > 0.0) {
        return refuse("what a reset loses cannot be verified; leave zone_reset_frequency= out");
    }
    Ok(())
}

/// The rest of a zone that has no room for a request is left unwritten, as fio leaves it by default.
fn check_remainders(options: &Options, capacity: u64) -> Result<(), Refusal> {
    let Some(setting) = options.get("write_zone_remainder") else { return Ok(()) };
    let sizes = options.three("bs", |text| options.base.size(text))?;
    let divides = sizes[WRITE].unwrap_or(4096);
    let is_even = capacity.is_multiple_of(divides.max(1))
        && options.get("bssplit").is_none()
        && options.get("bsrange").is_none();
    match options.flag("write_zone_remainder")? == Some(true) && !is_even {
        true => Err(setting.unsupported(
            "the rest of a zone that has no room for a request stays unwritten; say a bs= that divides what a zone holds",
        )),
        false => Ok(()),
    }
}

/// How many zones may be open; 0 is any number, and as many as a device allows.
fn open_zones(options: &Options, of_device: bool) -> Result<Vec<(&'static str, u32)>, Refusal> {
    let names = [("open_zones", "max_open_zones"), ("worker_open_zones", "job_max_open_zones")];
    let mut keys = Vec::new();
    for (key, name) in names {
        let Some(count) = options.count32(name)?.filter(|count| *count > 0) else { continue };
        let setting = options.get(name).expect("it has a value");
        if count > 4096 {
            return Err(setting.wrong("at most 4096"));
        }
        if keys.is_empty() && key == "worker_open_zones" && !of_device {
            return Err(setting.wrong("it goes with max_open_zones="));
        }
        keys.push((key, count));
    }
    if let [(_, all), (_, own)] = &mut keys[..] {
        *own = (*own).min(*all);
    }
    Ok(keys)
}

/// A number from 0 to 1.
fn part(text: &str) -> Result<f64, String> {
    let part = text.trim().parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0 to 1".into())
}

fn share(part: f64) -> String {
    format!("\"{}%\"", super::access::figure(part * 100.0))
}

/// The whole zones of what a job that writes uses: from where, and how much of each file where that is known.
pub(super) fn whole(
    options: &Options,
    rw: Rw,
    (at, span): (u64, Option<u64>),
) -> Result<(u64, Option<u64>), Refusal> {
    // What only the device knows is rounded once it is there.
    let Some((mode, Some(size))) = asked(options)?.filter(|_| rw.changes()) else { return Ok((at, span)) };
    assert!(size > 0, "a zone has a size");
    let start = at.next_multiple_of(size);
    let span = span.map(|span| {
        let end = (at + span) / size * size;
        end.checked_sub(start).filter(|len| *len > 0)
    });
    match span {
        Some(None) => Err(mode.wrong("size= holds a whole zone at least, from offset= on")),
        span => Ok((start, span.flatten())),
    }
}

/// Emulated zones are empty when a run begins: a job that reads finds what another one has written. What a device is comes
/// out once it is there.
pub(super) fn check_written(jobs: &[Job]) -> Result<(), Refusal> {
    for (index, job) in jobs.iter().enumerate() {
        let Some((mode, Some(size))) = asked(&job.options)? else { continue };
        if job.files.of_clone.iter().flatten().any(|file| file.starts_with("/dev/")) {
            continue;
        }
        let reads_anything = job.rw.has[WRITE] || job.options.flag("read_beyond_wp")? == Some(true);
        if reads_anything || !job.rw.has[READ] {
            continue;
        }
        let mut files = job.files.of_clone.iter().flatten();
        let mut writes = false;
        for (other, writer) in jobs.iter().enumerate() {
            let may = other < index || !job.waits;
            let same = asked(&writer.options)?.is_some_and(|(_, other)| other == Some(size));
            let shares = files.any(|file| writer.files.of_clone.iter().flatten().any(|other| other == file));
            files = job.files.of_clone.iter().flatten();
            writes |= may && same && shares && writer.rw.has[WRITE];
        }
        if !writes {
            return Err(mode.unsupported(
                "zones of a file, and of a device that is not zoned, are empty when a run begins, so that nothing would be \
                 read; say read_beyond_wp=1, or let a job write before",
            ));
        }
    }
    Ok(())
}
