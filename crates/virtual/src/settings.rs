//! What a load pays although no part is too slow: a setting of the array or of the plan, or work beside it, put right by trial.
//!
//! **Invariant:** what is put right leaves every part as fast as it is, and the load asks for as much.

mod alignment;

use array::controller::CacheParams;
use array::device::DeviceParams;
use array::device::rotating::{
    ContinuousRead, DriveCacheParams, DriveQueueParams, FastWrite, Order, RotatingParams,
};
use array::raid::{Geometry, Level, SetSpec};
use array::sim::{SetTopology, Topology};
use record::names::trial;
use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES, Sectors};
use workload::plan::{Plan, Point, State, Task};
use workload::spec::{OpenSync, Pattern, Workload};

pub use alignment::row_of;
use alignment::{align_luns, begin_at, crosses};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The controllers' write-back cache is on.
    WriteBack,
    /// Requests and LUNs begin where stripes begin, and so where chunks and mapping units do.
    Aligned,
    /// The work of the array that was begun before a load, and goes on beside it, is left out.
    NoWork,
    /// No set has a write-intent bitmap.
    NoBitmap,
    /// Disks that have failed are replaced and rebuilt.
    Healthy,
    /// Chunks are as large as two requests.
    Chunk,
    /// What is read sequentially is read ahead.
    ReadAhead,
    /// Flash drives have 28 % of their capacity beside it.
    SpareRoom,
    /// The controllers' cache survives a loss of power.
    Protected,
    /// The cache writes out as many parts of stripes at once as whole ones.
    PartialWindow,
    /// The disks of a set with parity hold two copies instead.
    Mirrors,
    /// Disks that are of another model than most of their set are of that of the most.
    Alike,
    /// The cache of a controller without a partner takes writes without a mirror.
    Unmirrored,
    /// The cache of one-bit cells in flash drives is never full.
    Slc,
    /// Flash drives map pieces as small as the smallest write.
    Mapping,
    /// Hosts send a request whole that writes a whole stripe.
    Transfer,
    /// Chunks are so small that what a stream has under way lies on all disks of its set.
    SmallChunk,
    /// Drives choose among the commands that wait.
    Queueing,
    /// Drives read on behind what was requested.
    DriveReadAhead,
    /// Drives acknowledge writes once these are in their own buffers.
    DriveCache,
}

/// Spare room of drives that are made for writes, as a part of their capacity: 1 TiB of flash sold as 800 GB has 37 %, as 860 GB 28 %.
const SPARE: f64 = 0.28;

/// The largest chunk that is tried.
const CHUNK_MOST: Bytes = Bytes::MIB;

/// What flash drives map at least as one.
const LEAST_MAPPING: Bytes = Bytes::new(4096);

/// More than any load writes.
const NEVER_FULL: Bytes = Bytes::new(1 << 60);

/// The smallest chunk that is tried.
const LEAST_CHUNK: Bytes = Bytes::new(16 << 10);

/// Commands that a drive with command queueing chooses among (Serial ATA: 32 tags).
const TAGS: u32 = 32;

/// Streams that a read-ahead tells apart where it is tried.
const STREAMS: u32 = 16;

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 20] = [
        Setting::WriteBack,
        Setting::Aligned,
        Setting::NoWork,
        Setting::NoBitmap,
        Setting::Healthy,
        Setting::Chunk,
        Setting::ReadAhead,
        Setting::SpareRoom,
        Setting::Protected,
        Setting::PartialWindow,
        Setting::Mirrors,
        Setting::Alike,
        Setting::Unmirrored,
        Setting::Slc,
        Setting::Mapping,
        Setting::Transfer,
        Setting::SmallChunk,
        Setting::Queueing,
        Setting::DriveReadAhead,
        Setting::DriveCache,
    ];

    /// As a trial calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::WriteBack => trial::WRITE_BACK,
            Setting::Aligned => trial::ALIGNED,
            Setting::NoWork => trial::NO_WORK,
            Setting::NoBitmap => trial::NO_BITMAP,
            Setting::Healthy => trial::HEALTHY,
            Setting::Chunk => trial::CHUNK,
            Setting::ReadAhead => trial::READ_AHEAD,
            Setting::SpareRoom => trial::SPARE_ROOM,
            Setting::Protected => trial::PROTECTED,
            Setting::PartialWindow => trial::PARTIAL_WINDOW,
            Setting::Mirrors => trial::MIRRORS,
            Setting::Alike => trial::ALIKE,
            Setting::Unmirrored => trial::UNMIRRORED,
            Setting::Slc => trial::SLC,
            Setting::Mapping => trial::MAPPING,
            Setting::Transfer => trial::TRANSFER,
            Setting::SmallChunk => trial::SMALL_CHUNK,
            Setting::Queueing => trial::QUEUEING,
            Setting::DriveReadAhead => trial::DRIVE_READ_AHEAD,
            Setting::DriveCache => trial::DRIVE_CACHE,
        }
    }

    /// To what it is put right for the load of `point` on `topology`; empty where its name says all.
    pub fn to(self, point: &Point, topology: &Topology) -> String {
        match self {
            Setting::Healthy => disks_of(topology.failed.iter().copied()),
            Setting::Alike => disks_of(odd(topology).into_iter().map(|(disk, _)| disk)),
            Setting::Mapping => least_mapping(point).to_string(),
            Setting::Transfer => longest_write(point).to_string(),
            Setting::Chunk => chunk_for(point).to_string(),
            Setting::SmallChunk => small_chunk(point, topology).unwrap_or_default().to_string(),
            Setting::SpareRoom => format!("{:.0} %", SPARE * 100.0),
            Setting::PartialWindow => {
                let cache = topology.controller.cache.as_ref();
                cache.map_or_else(String::new, |cache| cache.destage_window.to_string())
            }
            _ => String::new(),
        }
    }

    /// Whether the load of `point` in `plan` on `topology` may pay for it.
    pub fn is_in(self, plan: &Plan, point: &Point, topology: &Topology) -> bool {
        let loads = || point.workloads().iter().filter(|workload| workload.tree.is_none());
        let cache = topology.controller.cache.as_ref();
        let writes_back = cache.filter(|cache| cache.write_back);
        match self {
            Setting::WriteBack => cache.is_some() && writes_back.is_none() && loads().any(writes),
            Setting::Aligned => loads().any(|workload| crosses(workload, topology)),
            Setting::NoWork => {
                let before = plan.points().iter().filter(|other| other.index < point.index);
                loads().next().is_some() && before.into_iter().any(is_work_beside)
            }
            Setting::NoBitmap => topology.sets.iter().any(SetTopology::keeps_bitmap) && loads().any(writes),
            Setting::Healthy => !topology.failed.is_empty() && loads().next().is_some(),
            Setting::Chunk => {
                let largest = largest(point);
                let chunks = topology.sets.iter().filter(|set| is_striped(set)).map(chunk_of);
                chunks.into_iter().any(|chunk| chunk < largest && chunk < chunk_for(point))
            }
            Setting::ReadAhead => {
                let could = |cache: &&CacheParams| cache.read && !cache.prefetch.max.is_zero();
                let is_off = cache.filter(could).is_some_and(|cache| cache.prefetch.streams == 0);
                is_off && loads().any(|workload| workload.pattern == Pattern::Sequential && reads(workload))
            }
            Setting::SpareRoom => {
                let has_little = |model: &DeviceParams| matches!(model, DeviceParams::Flash(flash) if flash.over_provisioning < SPARE);
                // What is written in order leaves whole blocks behind, and nothing is copied.
                topology.models.iter().any(has_little) && loads().any(writes_about)
            }
            Setting::Protected => writes_back.is_some_and(|cache| !cache.protected) && loads().any(is_synced),
            Setting::PartialWindow => {
                let is_narrow = writes_back.is_some_and(|cache| cache.partial_window < cache.destage_window);
                is_narrow && topology.sets.iter().any(|set| writes_parts(set, loads()))
            }
            Setting::Mirrors => topology.sets.iter().any(|set| writes_parts(set, loads())),
            Setting::Alike => loads().next().is_some() && !odd(topology).is_empty(),
            Setting::Unmirrored => {
                let is_alone = topology.controllers < 2;
                is_alone && writes_back.is_some_and(|cache| cache.mirrored) && loads().any(writes)
            }
            Setting::Slc => {
                let has_one = |model: &DeviceParams| matches!(model, DeviceParams::Flash(flash) if flash.slc_cache.is_some());
                topology.models.iter().any(has_one) && loads().any(writes)
            }
            Setting::Transfer => {
                let longest = longest_write(point);
                let is_cut = |set: &SetTopology| {
                    let stripe = set.geometry.full_stripe().bytes();
                    set.geometry.spec().level.parity() > 0 && !stripe.is_zero() && longest >= stripe
                };
                let most = topology.host.max_transfer;
                !most.is_zero() && longest > most && topology.sets.iter().any(is_cut)
            }
            Setting::SmallChunk => small_chunk(point, topology).is_some(),
            Setting::Queueing | Setting::DriveReadAhead | Setting::DriveCache => {
                self.is_in_drives(point, topology)
            }
            Setting::Mapping => {
                let least = least_mapping(point);
                let is_coarse = |model: &DeviceParams| matches!(model, DeviceParams::Flash(flash) if flash.mapping > least);
                topology.models.iter().any(is_coarse) && loads().any(writes_about)
            }
        }
    }

    /// Whether the load of `point` may pay for what all rotating drives of some model can do and do not.
    fn is_in_drives(self, point: &Point, topology: &Topology) -> bool {
        let loads = || point.workloads().iter().filter(|workload| workload.tree.is_none());
        let are_some = |is_off: fn(&RotatingParams) -> bool| rotating(topology).any(is_off);
        match self {
            Setting::Queueing => {
                let slots: u64 = loads().map(|one| u64::from(one.depth) * u64::from(one.workers)).sum();
                are_some(|drive| drive.queue.window <= 1) && loads().any(goes_about) && slots > 1
            }
            Setting::DriveReadAhead => {
                let is_stream = |one: &Workload| one.pattern == Pattern::Sequential && reads(one);
                are_some(|drive| drive.cache.as_ref().is_some_and(reads_no_further)) && loads().any(is_stream)
            }
            _ => {
                debug_assert_eq!(self, Setting::DriveCache, "others are of no rotating drive");
                let is_off = |cache: &DriveCacheParams| cache.fast_write == FastWrite::None;
                // An array with a protected cache keeps those of its drives off, so that nothing is lost with the power.
                let keeps_off = topology.controller.cache.as_ref().is_some_and(|cache| cache.protected);
                let are_off = rotating(topology).any(|drive| drive.cache.as_ref().is_some_and(is_off));
                // What is synced is not to be lost with what the drives hold.
                !keeps_off && are_off && loads().any(writes) && !loads().any(is_synced)
            }
        }
    }

    /// Puts it right in the array for the load of `point`.
    pub fn apply(self, topology: &mut Topology, point: &Point) {
        let cache = topology.controller.cache.as_mut();
        match self {
            Setting::WriteBack => cache.into_iter().for_each(|cache| cache.write_back = true),
            Setting::Aligned => align_luns(topology),
            Setting::NoWork => {}
            Setting::NoBitmap => topology.sets.iter_mut().for_each(|set| set.bitmap = None),
            Setting::Healthy => topology.failed.clear(),
            Setting::Chunk => {
                let chunk = Sectors(chunk_for(point).get() / SECTOR_BYTES);
                change_sets(topology, |set, spec| {
                    is_striped(set).then(|| SetSpec { chunk: spec.chunk.max(chunk), ..spec })
                });
            }
            Setting::ReadAhead => cache.into_iter().for_each(|cache| cache.prefetch.streams = STREAMS),
            Setting::Transfer => {
                topology.host.max_transfer = topology.host.max_transfer.max(longest_write(point));
            }
            Setting::Unmirrored => cache.into_iter().for_each(|cache| cache.mirrored = false),
            Setting::SpareRoom | Setting::Alike | Setting::Slc | Setting::Mapping => {
                self.apply_to_disks(topology, point);
            }
            Setting::Queueing | Setting::DriveReadAhead | Setting::DriveCache => {
                self.apply_to_drives(topology);
            }
            Setting::SmallChunk => {
                let chunk = small_chunk(point, topology);
                let sectors = chunk.map(|chunk| Sectors(chunk.get() / SECTOR_BYTES));
                change_sets(topology, |set, spec| {
                    let chunk = sectors.filter(|_| is_striped(set))?;
                    Some(SetSpec { chunk: spec.chunk.min(chunk), ..spec })
                });
            }
            Setting::Protected => cache.into_iter().for_each(|cache| cache.protected = true),
            Setting::PartialWindow => {
                cache.into_iter().for_each(|cache| cache.partial_window = cache.destage_window);
            }
            Setting::Mirrors => change_sets(topology, |_, spec| {
                let members = spec.members & !1;
                let is_parity = spec.level.parity() > 0 && members >= 2;
                is_parity.then(|| SetSpec {
                    members,
                    spares: spec.spares,
                    ..SetSpec::new(Level::Raid10, members, spec.chunk, spec.member_size)
                })
            }),
        }
    }

    /// Puts right what members of the sets are, or how they keep what is written.
    fn apply_to_disks(self, topology: &mut Topology, point: &Point) {
        if self == Setting::Alike {
            for (disk, model) in odd(topology) {
                topology.disks[disk as usize] = model;
            }
            return;
        }
        for model in &mut topology.models {
            let DeviceParams::Flash(flash) = model else { continue };
            match self {
                Setting::SpareRoom => flash.over_provisioning = flash.over_provisioning.max(SPARE),
                Setting::Slc => flash.slc_cache.iter_mut().for_each(|slc| slc.size = NEVER_FULL),
                _ => {
                    debug_assert_eq!(self, Setting::Mapping, "others are of no disk");
                    flash.mapping = flash.mapping.min(least_mapping(point));
                }
            }
        }
    }

    /// Switches on what all rotating drives can do and do not.
    fn apply_to_drives(self, topology: &mut Topology) {
        for model in &mut topology.models {
            let DeviceParams::Rotating(drive) = model else { continue };
            match (self, &mut drive.cache) {
                (Setting::Queueing, _) if drive.queue.window <= 1 => {
                    drive.queue =
                        DriveQueueParams { order: Order::Sptf, window: TAGS, overlap: true, ..drive.queue };
                }
                (Setting::DriveReadAhead, Some(cache)) if reads_no_further(cache) => {
                    cache.read_ahead = cache.segment;
                    if cache.continuous_read == ContinuousRead::None {
                        cache.continuous_read = ContinuousRead::Segment;
                    }
                }
                (Setting::DriveCache, Some(cache)) if cache.fast_write == FastWrite::None => {
                    cache.fast_write = FastWrite::All;
                }
                _ => {}
            }
        }
    }

    /// Puts it right in `point` of a plan for an array whose row of stripes is `row`; whether the point stays.
    pub fn apply_to(self, point: &mut Point, index: usize, row: Bytes) -> bool {
        match (self, &mut point.task) {
            (Setting::Aligned, Task::Load(load)) if point.index == index => {
                load.workloads.iter_mut().for_each(|workload| begin_at(workload, row));
                true
            }
            (Setting::NoWork, _) => !is_work_beside(point) && !is_watch(point),
            _ => true,
        }
    }
}

/// The models of rotating drives.
fn rotating(topology: &Topology) -> impl Iterator<Item = &RotatingParams> {
    topology.models.iter().filter_map(|model| match model {
        DeviceParams::Rotating(drive) => Some(drive),
        _ => None,
    })
}

fn reads_no_further(cache: &DriveCacheParams) -> bool {
    cache.continuous_read == ContinuousRead::None || cache.read_ahead.0 == 0
}

/// The chunk of which what the streams of `point` have under way, requests and what is read ahead of them, covers all data disks of a
/// set; `None` where it does not read in order, and where no chunk holds all of it.
fn small_chunk(point: &Point, topology: &Topology) -> Option<Bytes> {
    let mut loads = point.workloads().iter().filter(|one| one.tree.is_none()).peekable();
    loads.peek()?;
    let prefetch = topology.controller.cache.as_ref().filter(|cache| cache.prefetch.streams > 0);
    let ahead = prefetch.map_or(0, |cache| cache.prefetch.max.get());
    let of_one = |one: &Workload| {
        let requested = one.sizes.largest().get() * u64::from(one.depth);
        (one.pattern == Pattern::Sequential && reads(one))
            .then(|| requested.max(ahead) * u64::from(one.workers))
    };
    let under_way: u64 = loads.map(of_one).sum::<Option<u64>>()?;
    let sets = topology.sets.iter().filter(|set| is_striped(set));
    let least = |set: &SetTopology| {
        let disks = (set.geometry.full_row().0 / set.geometry.spec().chunk.0.max(1)).max(1);
        let share = (under_way / disks).max(LEAST_CHUNK.get());
        // The next lower power of two.
        let chunk = Bytes::new(1 << share.ilog2());
        // What lies on several disks keeps several at work.
        (chunk_of(set).get() >= under_way && under_way >= 2 * chunk.get()).then_some(chunk)
    };
    sets.filter_map(least).min()
}

/// `disk 3`, `disks 3, 4`.
fn disks_of(disks: impl Iterator<Item = u32>) -> String {
    let disks: Vec<String> = disks.map(|disk| disk.to_string()).collect();
    format!("disk{} {}", if disks.len() == 1 { "" } else { "s" }, disks.join(", "))
}

/// Members of another model than more than half of their set, each with the number of the model that the most are of.
fn odd(topology: &Topology) -> Vec<(u32, u32)> {
    let model_of = |disk: u32| topology.disks.get(disk as usize).copied();
    let is_same =
        |one: u32, other: u32| topology.models.get(one as usize) == topology.models.get(other as usize);
    let mut found = Vec::new();
    for set in &topology.sets {
        let own: Vec<(u32, u32)> =
            set.members.iter().filter_map(|disk| Some((*disk, model_of(*disk)?))).collect();
        let count = |model: u32| own.iter().filter(|(_, other)| is_same(model, *other)).count();
        let most = own.iter().map(|(_, model)| *model).find(|model| 2 * count(*model) > own.len());
        let Some(most) = most else { continue };
        found.extend(
            own.into_iter().filter(|(_, model)| !is_same(*model, most)).map(|(disk, _)| (disk, most)),
        );
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What a drive has to map at least so that the smallest write of `point` rewrites nothing else: 4 KiB or more, as no drive maps less.
fn least_mapping(point: &Point) -> Bytes {
    let written = point.workloads().iter().filter(|one| one.tree.is_none() && writes_about(one));
    let least = written.map(|one| one.sizes.smallest()).min().unwrap_or(Bytes::MIB);
    Bytes::new(least.get().max(LEAST_MAPPING.get()))
}

fn longest_write(point: &Point) -> Bytes {
    let written = point.workloads().iter().filter(|one| one.tree.is_none() && writes(one));
    written.map(|one| one.sizes.largest()).max().unwrap_or(Bytes::ZERO)
}

fn writes_about(workload: &Workload) -> bool {
    writes(workload) && workload.pattern != Pattern::Sequential
}

/// Whether it goes from place to place.
fn goes_about(workload: &Workload) -> bool {
    workload.pattern != Pattern::Sequential
}

fn writes(workload: &Workload) -> bool {
    workload.mix.reads.get() < 1.0
}

fn reads(workload: &Workload) -> bool {
    workload.mix.reads.get() > 0.0
}

/// Whether what it writes is to be durable before it goes on.
fn is_synced(workload: &Workload) -> bool {
    writes(workload) && (workload.durability.open != OpenSync::None || workload.durability.every.is_some())
}

/// The longest request of a load that goes from place to place: what is read or written in order keeps several disks busy by it. None
/// is longer than half of the largest chunk.
fn largest(point: &Point) -> Bytes {
    let jumps = |one: &&Workload| one.tree.is_none() && one.pattern != Pattern::Sequential;
    let sizes = point.workloads().iter().filter(jumps).map(|one| one.sizes.largest());
    sizes.filter(|size| size.get() <= CHUNK_MOST.get() / 2).max().unwrap_or(Bytes::ZERO)
}

/// A chunk of which most requests of `point` need no more than one wherever they begin: twice as large.
fn chunk_for(point: &Point) -> Bytes {
    Bytes::new(largest(point).get().max(1).next_power_of_two().saturating_mul(2)).min(CHUNK_MOST)
}

fn is_striped(set: &SetTopology) -> bool {
    !matches!(set.geometry.spec().level, Level::Jbod | Level::Raid1)
}

fn chunk_of(set: &SetTopology) -> Bytes {
    set.geometry.spec().chunk.bytes()
}

/// Whether some of `loads` write less than a stripe of `set`, which has parity, here and there: what is written in order fills stripes.
fn writes_parts<'w>(set: &SetTopology, mut loads: impl Iterator<Item = &'w Workload>) -> bool {
    let stripe = set.geometry.full_stripe().bytes();
    set.geometry.spec().level.parity() > 0
        && loads.any(|one| writes(one) && one.pattern != Pattern::Sequential && one.sizes.smallest() < stripe)
}

/// Gives each set another shape where `change` has one that is possible. LUNs begin at the same part of a set and are as large a
/// part of it as before.
fn change_sets(topology: &mut Topology, change: impl Fn(&SetTopology, SetSpec) -> Option<SetSpec>) {
    for (number, set) in (0..).zip(&mut topology.sets) {
        let Some(spec) = change(set, set.geometry.spec().clone()) else { continue };
        let members = spec.members as usize;
        let Ok(geometry) = Geometry::new(spec) else { continue };
        let (old, new) = (u128::from(set.geometry.capacity().0), u128::from(geometry.capacity().0));
        let row = geometry.full_row().0.max(1);
        let part = |sectors: Sectors| {
            let scaled = narrow::<u64>(u128::from(sectors.0) * new / old);
            Sectors(scaled - scaled % row)
        };
        for lun in topology.luns.iter_mut().filter(|lun| lun.set == number) {
            (lun.start, lun.size) = (part(lun.start), part(lun.size));
        }
        set.members.truncate(members);
        set.geometry = geometry;
    }
}

fn is_work_beside(point: &Point) -> bool {
    matches!(&point.task, Task::State(State::Background(work)) if !work.wait)
}

fn is_watch(point: &Point) -> bool {
    matches!(&point.task, Task::State(State::Watch(_)))
}

#[cfg(test)]
mod tests {
    use array::spec::{Shipped, array};
    use workload::plan::Overrides;

    use super::*;

    /// Those that the load of `plan` may pay for on the array at `address`.
    fn of(plan: &str, address: &str) -> Vec<Setting> {
        let plan = Plan::parse("test", plan, &Overrides::default()).expect("the plan is sound");
        let topology = array(&Shipped, address).expect("the array is shipped").topology;
        let point = plan.points().last().expect("it has a point");
        Setting::ALL.into_iter().filter(|one| one.is_in(&plan, point, &topology)).collect()
    }

    fn writes_of(keys: &str) -> String {
        format!("name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"sequential\"\nreads = 0\n{keys}\n")
    }

    #[test]
    fn whole_stripes_beside_their_place_a_cache_that_is_off_and_a_scrub_are_what_a_load_may_pay_for() {
        let stripes = |offset: &str| writes_of(&format!("size = \"1536KiB\"\noffset = \"{offset}\""));
        // Thirteen disks: twelve chunks of 128 KiB.
        let array = "array:md3000?raid=5&raid.disks=13&host.max_transfer=2MiB";
        assert_eq!(of(&stripes("0B"), array), []);
        assert_eq!(of(&stripes("64KiB"), array), [Setting::Aligned]);
        assert_eq!(of(&stripes("3MiB"), array), [], "at the next but one");
        let cut = "array:md3000?raid=5&raid.disks=13&host.max_transfer=1MiB";
        assert_eq!(of(&stripes("0B"), cut), [Setting::Transfer]);
        let off = "array:md3000?raid=5&raid.disks=13&host.max_transfer=2MiB&write_cache=false";
        assert_eq!(of(&stripes("0B"), off), [Setting::WriteBack]);
        let small = writes_of("size = \"4KiB\"\noffset = \"4KiB\"");
        assert_eq!(of(&small, array), [], "none of them crosses anything");
        let reads = "name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"random\"\nsize = \"4KiB\"\n";
        assert_eq!(of(reads, off), []);
        let scrub = |wait: bool| {
            format!(
                "name = \"t\"\n[[phase]]\nstate = \"scrub\"\nwait = {wait}\n[[phase]]\nrun = \"1s\"\npattern = \"random\"\nsize = \"4KiB\"\n"
            )
        };
        assert_eq!((of(&scrub(false), array), of(&scrub(true), array)), (vec![Setting::NoWork], vec![]));
    }

    #[test]
    fn writes_to_a_set_with_a_bitmap_may_pay_for_it() {
        let mirror = "array:pm9a3-raid1-2?raid.bitmap.region=64MiB";
        let small = writes_of("size = \"4KiB\"");
        assert_eq!(of(&small, mirror), [Setting::NoBitmap]);
        assert_eq!(of(&small.replace("reads = 0", "reads = 1.0"), mirror), []);
        let striped = "array:pm9a3-raid0-2?raid.bitmap.region=64MiB";
        assert_eq!(of(&small, striped), [], "it keeps nothing twice");
        let mut topology = array(&Shipped, mirror).unwrap().topology;
        let plan = Plan::parse("test", &small, &Overrides::default()).unwrap();
        Setting::NoBitmap.apply(&mut topology, &plan.points()[0]);
        assert!(topology.sets.iter().all(|set| set.bitmap.is_none()));
    }

    #[test]
    fn what_an_array_has_that_costs_a_load_is_tried_put_right() {
        let random =
            |keys: &str| format!("name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"random\"\n{keys}\n");
        let reads = random("size = \"8KiB\"");
        assert_eq!(of(&reads, "array:md3000?raid=5"), []);
        assert_eq!(of(&reads, "array:md3000?raid=5&failed=3"), [Setting::Healthy]);
        let longer = random("size = \"64KiB\"");
        assert_eq!(of(&longer, "array:md3000?raid=0&raid.chunk=4KiB"), [Setting::Chunk]);
        assert_eq!(of(&longer, "array:md3000?raid=0"), []);
        let stream = "name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"sequential\"\nsize = \"16KiB\"\n";
        assert_eq!(of(stream, "array:md3000?raid=5&cache.prefetch.streams=0"), [Setting::ReadAhead]);
        assert_eq!(of(stream, "array:md3000?raid=5"), []);
        let writes = random("size = \"4KiB\"\nreads = 0");
        let flash = "array:ssd-1?drive=s3700-800&devices.with.flash.over_provisioning=0.06";
        assert_eq!(of(&writes, flash), [Setting::SpareRoom]);
        assert_eq!(of(&reads, flash), []);
        let nas = [Setting::PartialWindow, Setting::Mirrors, Setting::DriveCache];
        assert_eq!(of(&writes, "array:ix4-200d"), nas);
        assert_eq!(of(&writes, "array:md3000?raid=10"), []);
        let off = "array:md3000?raid=10&devices.with.rotating.queue.window=1";
        assert_eq!(of(&random("size = \"8KiB\"\ndepth = 8"), off), [Setting::Queueing]);
        assert_eq!(of(&reads, off), [], "one request is no choice");
        let alone = "array:md3000?raid=10&devices.with.rotating.buffer.read_ahead=0B";
        assert_eq!((of(stream, alone), of(&reads, alone)), (vec![Setting::DriveReadAhead], vec![]));
        let streams =
            "name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"sequential\"\nsize = \"1MiB\"\ndepth = 4\n";
        let large = "array:wd-red-raid5-4?raid=0&disks=4&raid.chunk=8MiB";
        assert_eq!(of(streams, large), [Setting::SmallChunk]);
        assert_eq!(
            of(streams, "array:wd-red-raid5-4?raid=0&disks=4&raid.chunk=2MiB"),
            [],
            "it lies on several disks"
        );
        let on = "array:px6-300d?devices.with.rotating.buffer.write_back=true";
        assert_eq!(of(&writes, on), nas[..2]);
        assert_eq!(of(&writes, &on.replace("true", "false")), nas);
        let synced = random("size = \"4KiB\"\nreads = 0\nsync = \"dsync\"");
        assert_eq!(of(&synced, "array:md3000?raid=10&cache.protected=false"), [Setting::Protected]);
        assert_eq!(of(&writes, "array:md3000?raid=10&luns=2&controllers=1"), [Setting::Unmirrored]);
        assert_eq!(of(&writes_of("size = \"64KiB\""), flash), [], "nothing is copied");
        let coarse = "array:ssd-1?drive=s3700-800&devices.with.flash.over_provisioning=0.3&devices.with.flash.mapping=64KiB";
        assert_eq!(of(&writes, coarse), [Setting::Mapping]);
    }

    #[test]
    fn a_disk_of_another_model_than_most_of_its_set_is_tried_as_one_of_theirs() {
        let mut topology = array(&Shipped, "array:md3000?raid=5").unwrap().topology;
        assert_eq!(odd(&topology), []);
        let mut slow = topology.models[0].clone();
        if let DeviceParams::Rotating(drive) = &mut slow {
            drive.rpm /= 2.0;
        }
        topology.models.push(topology.models[0].clone());
        topology.models.push(slow);
        (topology.disks[1], topology.disks[3]) = (1, 2);
        let plan = Plan::parse("test", &writes_of("size = \"4KiB\""), &Overrides::default()).unwrap();
        let point = &plan.points()[0];
        assert_eq!(Setting::Alike.to(point, &topology), "disk 3", "disk 1 is the same by another number");
        Setting::Alike.apply(&mut topology, point);
        assert_eq!((topology.disks[3], odd(&topology)), (topology.disks[0], Vec::new()));
    }

    #[test]
    fn mirrors_take_the_disks_of_the_set_and_leave_luns_the_same_part_of_it() {
        let mut topology = array(&Shipped, "array:md3000?raid=5&raid.disks=13&luns=2").unwrap().topology;
        let plan = Plan::parse("test", &writes_of("size = \"4KiB\""), &Overrides::default()).unwrap();
        Setting::Mirrors.apply(&mut topology, &plan.points()[0]);
        let (set, capacity) = (&topology.sets[0], topology.sets[0].geometry.capacity().0);
        assert_eq!((set.geometry.spec().level, set.members.len()), (Level::Raid10, 12));
        let end = |lun: usize| topology.luns[lun].start.0 + topology.luns[lun].size.0;
        assert!(end(0) <= topology.luns[1].start.0 && end(1) <= capacity, "{:?}", topology.luns);
        assert!(end(1) as f64 > 0.99 * capacity as f64, "{:?} of {capacity}", topology.luns);
        let mut chunks = array(&Shipped, "array:md3000?raid=5&raid.chunk=4KiB").unwrap().topology;
        let random = writes_of("size = \"64KiB\"").replace("sequential", "random");
        let longer = Plan::parse("test", &random, &Overrides::default()).unwrap();
        Setting::Chunk.apply(&mut chunks, &longer.points()[0]);
        assert_eq!(chunks.sets[0].geometry.spec().chunk.bytes(), Bytes::new(131_072));
        assert_eq!(Setting::Chunk.to(&longer.points()[0], &chunks), "128 KiB");
    }

    #[test]
    fn what_is_put_right_is_no_cost_any_more() {
        let text = writes_of("size = \"1536KiB\"\noffset = \"64KiB\"\nspan = \"1GiB\"");
        let mut topology = array(&Shipped, "array:md3000?raid=5&raid.disks=13&luns=3").unwrap().topology;
        let plan = Plan::parse("test", &text, &Overrides::default()).unwrap();
        let mut point = plan.points()[0].clone();
        assert!(Setting::Aligned.is_in(&plan, &point, &topology));
        Setting::Aligned.apply(&mut topology, &point);
        assert!(Setting::Aligned.apply_to(&mut point, 0, row_of(&topology)));
        assert!(!Setting::Aligned.is_in(&plan, &point, &topology));
    }
}
