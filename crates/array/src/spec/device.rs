//! Reads a device's figures.

use document::{Fields, Node, Read, Value, Wrong};
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos, Sectors, Share};

use super::parts::check_lines;
use crate::device::fitted::{Access, PIECE};
use crate::device::flash::{LEAST_PAGES, MOST_PAGES, SlcParams, Translation, Victims, Written};
use crate::device::queue::Service;
use crate::device::rotating::{
    AfterRw, ContinuousRead, DetachedWrite, DriveCacheParams, DriveQueueParams, FastWrite, Order, Overheads,
    RotatingParams, Seek, Zone, Zones,
};
use crate::device::{CachedFlashParams, DeviceParams, FittedParams, FlashParams, QueueParams};

/// A device of the library.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// The name it was asked for by.
    pub model: String,
    /// What it is, in a sentence.
    pub about: String,
    /// User capacity.
    pub capacity: Sectors,
    /// What the model takes.
    pub params: DeviceParams,
}

/// As written in `kind`. `queue` is left out: it is a table of a rotating device too.
pub(super) const KINDS: [&str; 3] = ["rotating", "flash", "cached-flash"];

#[derive(Clone, Copy)]
enum Kind {
    Rotating,
    Flash,
    CachedFlash,
    Queue,
    Fitted,
}

/// Addresses in sectors, and in clocks of a revolution, stay exact far below it.
const MOST: Bytes = Bytes::new(1 << 50);
/// Nothing that a device does for one command takes longer, so that sums of times stay far below 2^64 nanoseconds.
const LONGEST: Nanos = Nanos::from_secs(3_600);
/// No arm takes longer: a table of seeks has 32 bits for each.
const LONGEST_MOVE: Nanos = Nanos::from_secs(4);
/// What moves less in a second is no rate of a device.
const SLOWEST: BytesPerSecond = BytesPerSecond::new(1_000.0);
/// Seconds that reading a whole disk takes at most: its clock counts them in 64 bits of nanoseconds, with room to spare.
const LONGEST_PASS: f64 = 1e9;

/// Reads the whole file, every key of which must be known. `None` where what cannot be read leaves no device.
pub(super) fn read(model: &str, fields: Fields<'_>) -> Option<DeviceSpec> {
    if !fields.says("kind") && fields.says("devices") {
        let help = "give a device of the library, such as disk-sata, or the file of one";
        fields.wrong("devices", format!("`{model}` describes an array, not a device; {help}"));
        return None;
    }
    let _: Option<String> = fields.get("name");
    let _: Option<bool> = fields.get("part");
    let about = fields.or("about", String::new());
    let capacity: Bytes = fields.need("capacity");
    let possible = (Bytes::new(units::SECTOR_BYTES)..=MOST).contains(&capacity);
    fields.check(&["capacity"], possible, "a device holds one sector to 1024TiB");
    let kinds = [
        ("rotating", Kind::Rotating),
        ("flash", Kind::Flash),
        ("cached-flash", Kind::CachedFlash),
        ("queue", Kind::Queue),
        ("fitted", Kind::Fitted),
    ];
    let Some(kind) = fields.need_choice("kind", &kinds) else {
        fields.abandon();
        return None;
    };
    let params = match kind {
        Kind::Rotating => DeviceParams::Rotating(rotating(&fields, capacity)),
        Kind::Flash => DeviceParams::Flash(flash(&fields, capacity)),
        Kind::CachedFlash => DeviceParams::CachedFlash(cached_flash(&fields, capacity)),
        Kind::Queue => DeviceParams::Queue(queue(&fields)),
        Kind::Fitted => DeviceParams::Fitted(fitted(&fields)),
    };
    fields.finish();
    Some(DeviceSpec { model: model.into(), about, capacity: sectors(capacity), params })
}

/// Whole sectors in `bytes`.
fn sectors(bytes: Bytes) -> Sectors {
    Sectors(bytes.get() / units::SECTOR_BYTES)
}

fn rotating(fields: &Fields<'_>, capacity: Bytes) -> RotatingParams {
    let rpm: f64 = fields.need("rpm");
    fields.check(
        &["rpm"],
        (100.0..=100_000.0).contains(&rpm),
        "revolutions a minute lie between 100 and 100000",
    );
    let surfaces = at_least_one(fields, "surfaces", None);
    let (zones, counted) = zones(fields);
    let stated = fields.get::<u32>("cylinders");
    let possible = stated.is_none_or(|cylinders| (2..=100_000_000).contains(&cylinders));
    fields.check(&["cylinders"], possible, "an arm moves over 2 to 100000000 cylinders");
    let cylinders = match (stated, counted, &zones) {
        (Some(cylinders), _, _) | (None, Some(cylinders), _) => cylinders,
        (None, None, Zones::Rates { outer, inner }) => {
            // The mean track holds what passes under a head in one revolution at the mean rate.
            let track = (outer.get() + inner.get()) / 2.0 * 60.0 / rpm;
            truncated::<u32>((capacity.as_f64() / (track * f64::from(surfaces))).round().max(2.0))
        }
        (None, None, Zones::Exact(_)) => {
            fields.check(&["zones"], false, "give `cylinders` too");
            2
        }
    };
    check_pass(fields, rpm, capacity, &zones);
    let buffer = fields.table("buffer").map(buffer);
    let seek = seek(fields);
    RotatingParams {
        capacity: sectors(capacity),
        surfaces,
        cylinders,
        rpm,
        write_settle_ns: write_settle(fields, &seek),
        seek,
        head_switch: movement(fields, "head_switch", Nanos::ZERO),
        zones,
        overhead: overheads(fields, buffer.is_some_and(|buffer| buffer.is_write_back())),
        link: moving(fields, "link"),
        cache: buffer,
        queue: drive_queue(fields),
        spindle_sync: fields.or("spindle_sync", false),
    }
}

/// Notes that tracks hold less than a sector, or that the disk could not be read to its end within decades.
fn check_pass(fields: &Fields<'_>, rpm: f64, capacity: Bytes, zones: &Zones) {
    let Zones::Rates { inner, .. } = zones else { return };
    let least = (units::SECTOR_BYTES as f64 * rpm / 60.0).max(capacity.as_f64() / LONGEST_PASS);
    let why = format!("a track holds a sector at least; give {} or more", BytesPerSecond::new(least));
    fields.check(&["rate_inner", "rate_outer", "rpm", "capacity"], inner.get() >= least, why);
}

/// How much longer a write takes to settle than a read; a movement and this together are never less than nothing.
fn write_settle(fields: &Fields<'_>, seek: &Seek) -> i64 {
    let Settle(settle) = fields.or("write_settle", Settle::default());
    let shortest = match seek {
        Seek::ThreeNumbers { track_to_track, .. } => *track_to_track,
        Seek::Measured(points) => points.first().map_or(Nanos::ZERO, |(_, time)| *time),
    };
    let why = format!(
        "a write moves as a read does and settles by so much more; give -{shortest} to {LONGEST_MOVE}"
    );
    let possible = -truncated_to_i64(shortest)..=truncated_to_i64(LONGEST_MOVE);
    fields.check(&["write_settle"], possible.contains(&settle), why);
    settle
}

fn truncated_to_i64(time: Nanos) -> i64 {
    i64::try_from(time.get()).unwrap_or(i64::MAX)
}

/// A duration, or `otherwise`.
fn time(fields: &Fields<'_>, key: &'static str, otherwise: Nanos) -> Nanos {
    let time = fields.or(key, otherwise);
    check_time(fields, key, [time]);
    time
}

/// A duration that must be there.
fn needed_time(fields: &Fields<'_>, key: &'static str) -> Nanos {
    let time = fields.need(key);
    check_time(fields, key, [time]);
    time
}

/// A duration, if it is there.
fn possible_time(fields: &Fields<'_>, key: &'static str) -> Option<Nanos> {
    fields.says(key).then(|| needed_time(fields, key))
}

fn check_time(fields: &Fields<'_>, key: &'static str, times: impl IntoIterator<Item = Nanos>) {
    let possible = times.into_iter().all(|time| time <= LONGEST);
    fields.check(&[key], possible, "a device takes at most an hour");
}

/// A duration of the arm's, or `otherwise`.
fn movement(fields: &Fields<'_>, key: &'static str, otherwise: Nanos) -> Nanos {
    let time = fields.or(key, otherwise);
    fields.check(&[key], time <= LONGEST_MOVE, "an arm moves for at most 4s");
    time
}

/// What a memory holds: at most a TiB.
fn memory(fields: &Fields<'_>, key: &'static str, size: Bytes) -> Bytes {
    fields.check(&[key], size <= Bytes::new(1 << 40), "a device has at most 1TiB of it");
    size
}

/// 1 to 65535: above it nothing real lies, and products of counts stay below 2^32.
fn at_least_one(fields: &Fields<'_>, key: &'static str, otherwise: Option<u32>) -> u32 {
    fields.count(key, otherwise, 65_535)
}

fn seek(fields: &Fields<'_>) -> Seek {
    if let Some(points) = fields.get::<Vec<(u32, Nanos)>>("seek_curve") {
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let sound = points.len() >= 2 && rising && points[0].0 != 0;
        fields.check(&["seek_curve"], sound, "give two or more pairs [cylinders, time], rising from 1 on");
        let possible = points.iter().all(|(_, time)| *time <= LONGEST_MOVE);
        fields.check(&["seek_curve"], possible, "an arm moves for at most 4s");
        return Seek::Measured(points);
    }
    let average: Nanos = fields.need("seek_average");
    // Source: ten measured drives, where the first is 0.08 to 0.22 and the last 1.8 to 2.05 of the average.
    let scaled = |factor: f64| Nanos::new(truncated(average.get() as f64 * factor));
    let track_to_track = fields.or("seek_track", scaled(0.15));
    let full = movement(fields, "seek_full", scaled(1.9));
    let rising = track_to_track <= average && average <= full;
    fields.check(
        &["seek_average", "seek_track", "seek_full"],
        rising,
        "it lies between `seek_track` and `seek_full`",
    );
    Seek::ThreeNumbers { track_to_track, average, full }
}

/// The zones, and the cylinders they count up to where they do.
fn zones(fields: &Fields<'_>) -> (Zones, Option<u32>) {
    let tables = fields.tables("zones");
    if tables.is_empty() {
        let (outer, inner): (BytesPerSecond, BytesPerSecond) =
            (fields.need("rate_outer"), fields.need("rate_inner"));
        let falling = inner <= outer && inner.get() > 0.0;
        fields.check(&["rate_inner", "rate_outer"], falling, "it lies above zero and not above `rate_outer`");
        return (Zones::Rates { outer, inner }, None);
    }
    let mut first_cylinder = 0u32;
    let mut zones = Vec::with_capacity(tables.len());
    for table in tables {
        let cylinders = at_least_one(&table, "cylinders", None);
        zones.push(Zone {
            first_cylinder,
            sectors_per_track: at_least_one(&table, "sectors", None),
            track_skew: skew(&table, "track_skew"),
            cylinder_skew: skew(&table, "cylinder_skew"),
        });
        first_cylinder = first_cylinder.saturating_add(cylinders);
        table.finish();
    }
    (Zones::Exact(zones), Some(first_cylinder))
}

fn skew(zone: &Fields<'_>, key: &'static str) -> f64 {
    let skew: f64 = zone.or(key, 0.0);
    zone.check(&[key], skew.abs() <= 65_535.0, "give sectors, fewer than a track has");
    skew
}

/// A duration, or a negative one, in nanoseconds.
#[derive(Default)]
struct Settle(i64);

impl Read for Settle {
    const WANT: &'static str = "a duration such as \"0.5ms\", or \"-0.2ms\"";
    fn read(node: &Node) -> Result<Self, Wrong> {
        let signed = |time: Nanos| i64::try_from(time.get()).map_err(|_| Self::not(node));
        match &node.value {
            Value::Text(text) if text.starts_with('-') => {
                let time: Nanos = text[1..].trim().parse().map_err(|_| Self::not(node))?;
                signed(time).map(|time| Settle(-time))
            }
            _ => signed(Nanos::read(node)?).map(Settle),
        }
    }
}

/// `overhead` for all, `hit_overhead` for what the buffer answers, or `[overheads]` in full.
fn overheads(fields: &Fields<'_>, write_back: bool) -> Overheads {
    let each = time(fields, "overhead", Nanos::ZERO);
    let hit = time(fields, "hit_overhead", each);
    let mut overheads = Overheads::uniform(each);
    overheads.read_hit = AfterRw { after_read: hit, after_write: hit };
    overheads.write_hit = overheads.read_hit;
    if write_back {
        // The buffer answers every write.
        overheads.write_miss = overheads.write_hit;
    }
    let Some(detail) = fields.table("overheads") else { return overheads };
    for (key, slot) in [
        ("read_hit", &mut overheads.read_hit),
        ("read_miss", &mut overheads.read_miss),
        ("write_hit", &mut overheads.write_hit),
        ("write_miss", &mut overheads.write_miss),
    ] {
        if let Some((after_read, after_write)) = detail.get::<(Nanos, Nanos)>(key) {
            check_time(&detail, key, [after_read, after_write]);
            *slot = AfterRw { after_read, after_write };
        }
    }
    let completion = time(&detail, "completion", Nanos::ZERO);
    overheads.read_completion = time(&detail, "read_completion", completion);
    overheads.write_completion = time(&detail, "write_completion", completion);
    overheads.data = time(&detail, "data", Nanos::ZERO);
    overheads.reselect = time(&detail, "reselect", Nanos::ZERO);
    overheads.least_write_seek = time(&detail, "least_write_seek", Nanos::ZERO);
    overheads.detached_write = detail.table("detached_write").map(|table| {
        let time = |key| time(&table, key, Nanos::ZERO);
        let detached = DetachedWrite {
            command: time("command"),
            seek: time("seek"),
            data: time("data"),
            reselect: time("reselect"),
        };
        table.finish();
        detached
    });
    detail.finish();
    overheads
}

fn buffer(fields: Fields<'_>) -> DriveCacheParams {
    let size = memory(&fields, "size", fields.need("size"));
    let segments = at_least_one(&fields, "segments", Some(16));
    let segment = Bytes::new(size.get() / u64::from(segments));
    fields.check(
        &["segments", "size"],
        segment.get() >= units::SECTOR_BYTES,
        "a segment holds at least one sector",
    );
    let plain = DriveCacheParams::plain(segments, sectors(segment));
    let continuous_reads = [
        ("none", ContinuousRead::None),
        ("track", ContinuousRead::Track),
        ("cylinder", ContinuousRead::Cylinder),
        ("segment", ContinuousRead::Segment),
        ("next-track", ContinuousRead::NextTrack),
        ("stream", ContinuousRead::Stream),
        ("bounded", ContinuousRead::Bounded),
    ];
    let params = DriveCacheParams {
        continuous_read: fields.one_of("continuous_read", plain.continuous_read, &continuous_reads),
        // What lies farther ahead has no room in a segment.
        read_ahead: sectors(fields.or("read_ahead", segment).min(segment)),
        read_ahead_least: sectors(fields.or("read_ahead_least", Bytes::ZERO).min(segment)),
        keeps_read: fields.or("keeps_read", plain.keeps_read),
        tops_up: fields.or("tops_up", plain.tops_up),
        almost_hits: fields.or("almost_hits", plain.almost_hits),
        hits_on_written: fields.or("hits_on_written", plain.hits_on_written),
        free_blocks: fields.or("free_blocks", plain.free_blocks),
        read_on_arrival: fields.or("read_on_arrival", plain.read_on_arrival),
        write_on_arrival: fields.or("write_on_arrival", plain.write_on_arrival),
        forward_after: fields.or("forward_after", plain.forward_after),
        write_after: fields.or("write_after", plain.write_after),
        fast_write: fields.or("write_back", FastWrite::None),
        write_segments: at_least_one(&fields, "write_segments", Some(plain.write_segments)),
        separate_write: fields.or("separate_write", plain.separate_write),
        write_after_idle: time(&fields, "write_after_idle", plain.write_after_idle),
        answers_beside: fields.or("answers_beside", plain.answers_beside),
        ..plain
    };
    fields.finish();
    params
}

impl Read for FastWrite {
    const WANT: &'static str = "true, false or \"appending\"";
    fn read(node: &Node) -> Result<Self, Wrong> {
        match node.shown().trim_matches('"') {
            "false" => Ok(FastWrite::None),
            "appending" => Ok(FastWrite::Appending),
            "true" => Ok(FastWrite::All),
            _ => Err(Self::not(node)),
        }
    }
}

/// How long a command waits at most for nearer ones, where nothing is said. A class figure: drives do not let commands
/// starve, and data sheets do not say by what rule.
const AGE_LIMIT: Nanos = Nanos::from_millis(500);

fn drive_queue(fields: &Fields<'_>) -> DriveQueueParams {
    let Some(queue) = fields.table("queue") else {
        return DriveQueueParams { order: Order::Fcfs, window: 1, age_limit: None, overlap: false };
    };
    let orders =
        [("fcfs", Order::Fcfs), ("c-look", Order::CLook), ("sstf", Order::Sstf), ("sptf", Order::Sptf)];
    let order = queue.one_of("order", Order::Fcfs, &orders);
    // What lies far from the rest is never the nearest.
    let starves = matches!(order, Order::Sstf | Order::Sptf);
    let age_limit =
        if starves && !queue.says("age_limit") { Some(AGE_LIMIT) } else { queue.unless_none("age_limit") };
    check_time(&queue, "age_limit", age_limit);
    let params = DriveQueueParams {
        order,
        window: at_least_one(&queue, "window", Some(1)),
        age_limit,
        overlap: queue.or("overlap", true),
    };
    queue.finish();
    params
}

/// One time for every page, or a list by kind of page.
#[derive(Default)]
struct PageTimes(Vec<Nanos>);

impl Read for PageTimes {
    const WANT: &'static str = "a duration such as \"50us\", or a list of them";
    fn read(node: &Node) -> Result<Self, Wrong> {
        let times = document::one_or_more(node)?;
        if times.is_empty() { Err(Wrong::said("give at least one")) } else { Ok(PageTimes(times)) }
    }
}

/// How many planes of a die read by themselves: 1, or as many as it programs together at the most.
fn read_planes(fields: &Fields<'_>, planes: u32) -> u32 {
    let read_planes = at_least_one(fields, "read_planes", Some(1));
    let possible = read_planes <= planes;
    fields.check(
        &["read_planes", "planes"],
        possible,
        "no more planes of a die read by themselves than it has",
    );
    read_planes
}

fn flash(fields: &Fields<'_>, capacity: Bytes) -> FlashParams {
    let page: Bytes = fields.need("page");
    fields.check(&["page"], page.get().is_power_of_two(), "a page is a power of two, such as 4KiB or 16KiB");
    fields.check(&["page"], page <= Bytes::MIB * 16, "a page holds at most 16MiB");
    let Spare(over_provisioning) = fields.need("over_provisioning");
    let possible = over_provisioning > 0.0 && over_provisioning <= 1.0;
    fields.check(
        &["over_provisioning"],
        possible,
        "a share of the user capacity, above 0 and not above 1; write 7 % as \"7%\" or 0.07",
    );
    let channels = at_least_one(fields, "channels", None);
    let dies_per_channel = at_least_one(fields, "dies_per_channel", None);
    let dies = u64::from(channels) * u64::from(dies_per_channel);
    fields.check(&["dies_per_channel", "channels"], dies <= 65_536, "a drive has at most 65536 dies");
    let translations = [("steady", false), ("mapped", true)];
    let serial_ata = serial_ata(fields);
    let planes = at_least_one(fields, "planes", Some(1));
    let (command, command_gap) = (needed_time(fields, "command"), time(fields, "command_gap", Nanos::ZERO));
    let rest = FlashParams {
        capacity,
        over_provisioning,
        channels,
        dies_per_channel,
        planes,
        read_planes: read_planes(fields, planes),
        page,
        mapping: mapping(fields, page),
        keeps_page: fields.or("keeps_page", false),
        read_ahead: read_ahead(fields),
        pages_per_block: at_least_one(fields, "pages_per_block", None),
        read_page: read_page(fields),
        program_page: needed_time(fields, "program_page"),
        erase_block: needed_time(fields, "erase_block"),
        suspend: fields.unless_none("suspend"),
        channel: moving(fields, "channel"),
        command,
        write_command: time(fields, "write_command", command),
        command_gap,
        write_gap: time(fields, "write_gap", command_gap),
        link: moving(fields, "link"),
        link_command: time(fields, "link_command", frames(serial_ata)),
        write_buffer: memory(fields, "write_buffer", fields.or("write_buffer", Bytes::ZERO)),
        protected: fields.or("protected", false),
        flush: possible_time(fields, "flush"),
        fua: possible_time(fields, "fua"),
        flushes_alone: serial_ata.is_some(),
        translation: match fields.one_of("translation", false, &translations) {
            false => Translation::Steady,
            true => Translation::Mapped { scale: map_scale(fields, capacity.get() / page.get().max(1)) },
        },
        victims: fields.one_of(
            "collection",
            Victims::Greedy,
            &[("greedy", Victims::Greedy), ("fifo", Victims::Fifo)],
        ),
        state: fields.one_of(
            "state",
            Written::Steady,
            &[("steady", Written::Steady), ("in-order", Written::InOrder), ("fob", Written::Fresh)],
        ),
        incremental: fields.or("incremental", true),
        write_path: fields.get::<BytesPerSecond>("write_path").map(|_| moving(fields, "write_path")),
        slc_cache: None,
    };
    FlashParams { slc_cache: fields.table("slc_cache").map(|table| slc_cache(table, &rest)), ..rest }
}

/// Flash beyond the user capacity, as a part of it: a text such as "7%", or a number such as 0.07.
#[derive(Default)]
struct Spare(f64);

impl Read for Spare {
    const WANT: &'static str = "a share such as \"7%\" or 0.07";
    fn read(node: &Node) -> Result<Self, Wrong> {
        match &node.value {
            Value::Text(_) => Share::read(node).map(|share| Spare(share.get())),
            Value::Integer(_) | Value::Float(_) => f64::read(node).map(Spare),
            _ => Err(Self::not(node)),
        }
    }
}

/// The time of a page's read, or of each kind of page.
fn read_page(fields: &Fields<'_>) -> Vec<Nanos> {
    let PageTimes(times) = fields.need("read_page");
    check_time(fields, "read_page", times.iter().copied());
    times
}

/// What lies ahead of a stream of reads in a drive's memory: none where nothing is said.
fn read_ahead(fields: &Fields<'_>) -> Bytes {
    let ahead = fields.or("read_ahead", Bytes::ZERO);
    fields.check(&["read_ahead"], ahead <= Bytes::MIB * 64, "a drive reads at most 64MiB ahead of a stream");
    ahead
}

/// Gigabits a second of a drive's interface, where that is Serial ATA.
fn serial_ata(fields: &Fields<'_>) -> Option<f64> {
    let kinds = [("other", None), ("sata-1.5", Some(1.5)), ("sata-3", Some(3.0)), ("sata-6", Some(6.0))];
    fields.one_of("interface", None, &kinds)
}

/// What an interface of Serial ATA takes of a command beyond its data, which it carries for one command at a time.
///
/// A queued read over Serial ATA is five frames, of 20 dwords together: the command, its acceptance, the DMA setup, the
/// data's header, the status (Serial ATA 2.6, 10.3). Each has three dwords around it and waits for the other side twice,
/// 20 dwords at most, which is what that standard allows an answer to HOLD. A dword is 40 bits of the line.
fn frames(gigabits: Option<f64>) -> Nanos {
    const DWORDS: u64 = 20 + 5 * (3 + 2 * 20);
    gigabits.map_or(Nanos::ZERO, |gigabits| Nanos::new(truncated((DWORDS * 40) as f64 / gigabits)))
}

/// What a page takes that is programmed with one bit a cell, where nothing is said: a class figure, and no more than lets all
/// dies together take in what the controller moves to them, which is what a data sheet has of writes into such a cache.
fn slc_program(drive: &FlashParams) -> Nanos {
    const CLASS: Nanos = Nanos::new(400_000);
    let dies = u64::from(drive.channels) * u64::from(drive.dies_per_channel);
    let at_once = drive.page * u64::from(drive.planes) * dies;
    drive.write_path.map_or(CLASS, |path| path.time_for(at_once).min(CLASS))
}

fn slc_cache(fields: Fields<'_>, drive: &FlashParams) -> SlcParams {
    let params = SlcParams {
        size: fields.need("size"),
        program_page: time(&fields, "program_page", slc_program(drive)),
        read_page: possible_time(&fields, "read_page"),
        fold_after: time(&fields, "fold_after", Nanos::ZERO),
    };
    fields.check(&["size"], params.size <= drive.capacity, "it holds at most what the drive does");
    fields.finish();
    params
}

/// How many pages of a drive one of its page map stands for: 64, or the nearest that its size allows.
/// What a drive moves as one: 4 KiB or a page where nothing is said; of drives of much capacity several pages.
fn mapping(fields: &Fields<'_>, page: Bytes) -> Bytes {
    let mapping: Bytes = fields.or("mapping", page.min(Bytes::KIB * 4));
    let possible = (Bytes::new(units::SECTOR_BYTES)..=Bytes::MIB * 16).contains(&mapping);
    fields.check(
        &["mapping"],
        possible,
        "give 512B to 16MiB, such as 4KiB, or 64KiB for a large indirection unit",
    );
    mapping
}

fn map_scale(fields: &Fields<'_>, pages: u64) -> u32 {
    let (least, most) = (pages.div_ceil(MOST_PAGES.into()).max(1), (pages / u64::from(LEAST_PAGES)).max(1));
    let usual = u32::try_from(64.clamp(least, most)).unwrap_or(u32::MAX);
    let scale = at_least_one(fields, "map_scale", Some(usual));
    let why = format!("give {least} to {most}: a map has {LEAST_PAGES} to {MOST_PAGES} pages");
    fields.check(&["map_scale"], (least..=most).contains(&scale.into()), why);
    scale
}

fn cached_flash(fields: &Fields<'_>, capacity: Bytes) -> CachedFlashParams {
    let (cache, line) = (fields.need("cache"), fields.need("line"));
    check_lines(fields, cache, line);
    CachedFlashParams {
        capacity,
        cache,
        line,
        hit: needed_time(fields, "hit"),
        regions: at_least_one(fields, "regions", None),
        read: needed_time(fields, "read"),
        write: needed_time(fields, "write"),
        bandwidth: moving(fields, "bandwidth"),
        flash_bandwidth: moving(fields, "flash_bandwidth"),
        dirty_limit: fields.need("dirty_limit"),
    }
}

fn queue(fields: &Fields<'_>) -> QueueParams {
    let service = needed_time(fields, "service");
    let is_fixed = fields.need_choice("law", &[("fixed", true), ("exponential", false)]).unwrap_or_default();
    QueueParams {
        servers: at_least_one(fields, "servers", None),
        service: if is_fixed { Service::Fixed(service) } else { Service::Exponential(service) },
    }
}

fn fitted(fields: &Fields<'_>) -> FittedParams {
    let (read, write) = (access(fields, "read", "read_rate"), access(fields, "write", "write_rate"));
    let params = FittedParams {
        servers: at_least_one(fields, "servers", Some(1)),
        read_on: moving_or(fields, "read_on_rate", read.rate),
        write_on: moving_or(fields, "write_on_rate", write.rate),
        read,
        write,
        dies: fields.or("dies", 0),
        program: time(fields, "program", Nanos::from_millis(1)),
        piece: fields.or("piece", PIECE),
        buffer: memory(fields, "buffer", fields.or("buffer", Bytes::ZERO)),
        beside: time(fields, "beside", Nanos::ZERO),
        link: moving(fields, "link"),
        link_command: time(fields, "link_command", Nanos::ZERO),
        follow: time(fields, "follow", Nanos::ZERO),
        spread: fields.or("spread", Vec::new()),
    };
    fields.check(&["piece"], !params.piece.is_zero(), "a die reads at least something");
    fields.check(&["dies"], params.dies <= 4_096, "give at most 4096");
    let sound = params.spread.iter().all(|part| (0.0..=1e6).contains(part)) && params.spread.len() <= 1_000;
    fields.check(&["spread"], sound, "give at most 1000 parts of the mean, such as [0.5, 1.0, 1.5]");
    params
}

fn access(fields: &Fields<'_>, times: &'static str, rate: &'static str) -> Access {
    let list: Vec<(u32, Nanos)> = fields.need(times);
    let rising =
        list.windows(2).all(|pair| pair[0].0 < pair[1].0) && list.first().is_some_and(|first| first.0 > 0);
    fields.check(&[times], rising, "give pairs [commands, time], the commands rising from 1 on");
    check_time(fields, times, list.iter().map(|(_, time)| *time));
    Access { times: list, rate: moving(fields, rate) }
}

fn moving(fields: &Fields<'_>, key: &'static str) -> BytesPerSecond {
    let rate: BytesPerSecond = fields.need(key);
    fields.check(&[key], rate >= SLOWEST, "it moves at least 1kB/s");
    rate
}

fn moving_or(fields: &Fields<'_>, key: &'static str, otherwise: BytesPerSecond) -> BytesPerSecond {
    if fields.get::<BytesPerSecond>(key).is_some() { moving(fields, key) } else { otherwise }
}
