//! What may have happened to an array that became slower: changes of one part each, and the points of a plan with them.
//!
//! **Invariant:** a change makes one part worse and leaves everything else as it is. The same seeds are asked of the array
//! with a change and without.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use array::device::DeviceParams;
use array::device::rotating::{FastWrite, Seek, Zones};
use array::raid::Level;
use array::sim::{Resource, Topology};
use array::spec::{self, ArraySpec, Source};
use conduct::{Machine, World, in_order, processors};
use record::Point;
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};
use workload::plan::{Background, Plan, State, Task, Work};
use workload::spec::{Extent, Span};

use crate::simulate::{lasting, shorten};
use crate::what_if::rate_of;
use crate::world::{ModelError, ModelledWorld};

/// Degrees that are tried of what may be slower by any: between them figures change evenly enough. Of a part that takes
/// a hundredth of a request the last adds half of it.
const DEGREES: [f64; 5] = [1.3, 2.0, 5.0, 16.0, 50.0];

/// Degrees that are tried of what may be smaller by any: a size takes no share of a request that has to grow to be seen.
const SMALLER: [f64; 4] = [1.3, 2.0, 5.0, 16.0];

/// What a degree of 2 adds to the way there and back, as [`Suspect::change`] says.
const ADDED: Nanos = Nanos::from_micros(100);

/// Degrees that are tried of what is added: from 30 us, a few switches, to 20 ms, a thousand miles.
const LONGER: [f64; 6] = [1.3, 2.0, 5.0, 16.0, 50.0, 200.0];

/// A session with more slots is taken to have no limit: the sixteenth part of them admits all that a plan asks for at once.
const UNLIMITED: u32 = 4096;

/// How often the array as it is, and what seems likely, are tried.
const SEEDS: u32 = 3;

/// How often what seems likely is tried at the degree that seems so.
const ROUNDS: usize = 2;

/// Load that is not counted, and load that is, last no longer than this each, whatever the number of requests.
const LONGEST: Nanos = Nanos::from_secs(20);

/// A plan whose loads last no longer than this is carried out as it is: a cache that fills meanwhile is a part of its pattern.
const KEPT: Nanos = Nanos::from_secs(5);

/// But a load that writes warms up as long as its plan says for so many requests, until which its write cache is as full as it was.
const WARM: u32 = 40_000;

/// Nor does either last less than this.
const SHORTEST: Nanos = Nanos::from_millis(200);

/// One change for the worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Suspect {
    /// A part is slower in all that it does; of a cache there is less.
    Slower(Resource),
    /// The arms of all disks.
    Seeks,
    /// The spindles of all disks, and what passes below the heads with them.
    Rotation,
    /// What passes below the heads of all disks.
    Media,
    /// One member in all that it does.
    OneMember,
    /// Writes are acknowledged once they are on the members.
    NoWriteCache,
    /// Nothing is read ahead, and what was read is not kept.
    NoReadCache,
    /// Nothing is read ahead.
    NoReadAhead,
    /// Flash drives have less room beside their capacity.
    SpareRoom,
    /// The disks acknowledge writes once they are on the media.
    NoDiskWriteCache,
    /// A command holds the links for longer.
    LinkCommand,
    /// The way between hosts and controllers is longer: a detour, a switch, a tunnel.
    AddedLatency,
    /// A host has fewer requests under way to a LUN at once.
    LunQueue,
    /// A session takes fewer requests at once.
    SessionQueue,
    /// One link of each controller is gone.
    LinkLost,
    /// A member has failed.
    Failed,
    /// The array works for itself beside the load.
    Busy(Work),
}

impl Suspect {
    /// All that can happen to `topology`.
    pub fn all(topology: &Topology) -> Vec<Suspect> {
        let parts = Resource::ALL.into_iter().map(Suspect::Slower);
        let others = [
            Suspect::Seeks,
            Suspect::Rotation,
            Suspect::Media,
            Suspect::OneMember,
            Suspect::NoWriteCache,
            Suspect::NoReadCache,
            Suspect::NoReadAhead,
            Suspect::SpareRoom,
            Suspect::NoDiskWriteCache,
            Suspect::LinkCommand,
            Suspect::AddedLatency,
            Suspect::LunQueue,
            Suspect::SessionQueue,
            Suspect::LinkLost,
            Suspect::Failed,
            Suspect::Busy(Work::Rebuild),
            Suspect::Busy(Work::Scrub),
        ];
        parts.chain(others).filter(|one| one.is_in(topology)).collect()
    }

    fn is_in(self, topology: &Topology) -> bool {
        match self {
            Suspect::Failed | Suspect::Busy(_) => topology
                .sets
                .iter()
                .any(|set| !matches!(set.geometry.spec().level, Level::Raid0 | Level::Jbod)),
            Suspect::SessionQueue if topology.protocol.outstanding > UNLIMITED => false,
            _ => {
                let mut worse = topology.clone();
                self.apply(&mut worse, 2.0);
                worse != *topology
            }
        }
    }

    /// The part, as it is named where it is the limit; a connection's window is a part of its link.
    pub fn part(self) -> &'static str {
        match self {
            // Whoever looks at the one has the other before them.
            Suspect::Slower(Resource::Window) => Resource::Link.name(),
            Suspect::Slower(part) => part.name(),
            Suspect::Seeks | Suspect::Rotation | Suspect::Media => Resource::Disks.name(),
            Suspect::LinkCommand => Resource::Link.name(),
            Suspect::AddedLatency => Resource::Distance.name(),
            Suspect::OneMember => "one disk",
            Suspect::NoWriteCache => "write cache",
            // Streams alone are seldom told from all reads.
            Suspect::NoReadCache | Suspect::NoReadAhead => "read cache",
            Suspect::SpareRoom => "spare room of the flash",
            Suspect::NoDiskWriteCache => "disk write cache",
            Suspect::LunQueue => record::names::trial::LUN_QUEUE,
            Suspect::SessionQueue => "session queue",
            Suspect::LinkLost => "link lost",
            Suspect::Failed => "failed disk",
            Suspect::Busy(Work::Rebuild) => "rebuild",
            Suspect::Busy(Work::Initialise) => "initialise",
            Suspect::Busy(Work::Clone) => "clone",
            Suspect::Busy(Work::Verify) => "verify",
            Suspect::Busy(Work::Scrub) => "scrub",
        }
    }

    /// What happened to it; `{}` stands for how many times as slow it is.
    pub fn change(self) -> &'static str {
        match self {
            Suspect::Slower(Resource::Cache)
            | Suspect::LunQueue
            | Suspect::SessionQueue
            | Suspect::SpareRoom => "{} times smaller",
            Suspect::Slower(Resource::Window) => "with a connection window {} times smaller",
            Suspect::Slower(_) | Suspect::OneMember => "{} times as slow",
            Suspect::Seeks => "with seeks {} times as slow",
            Suspect::LinkCommand => "with the time of a command {} times as long",
            Suspect::AddedLatency => "with {+100us} more latency there and back",
            Suspect::Rotation => "with rotation {} times as slow",
            Suspect::Media => "with a media rate {} times as slow",
            Suspect::NoWriteCache | Suspect::NoReadCache | Suspect::NoDiskWriteCache => "off",
            Suspect::NoReadAhead => "with nothing read ahead",
            Suspect::LinkLost => "at each controller",
            Suspect::Failed => "in a set",
            Suspect::Busy(_) => "beside the load",
        }
    }

    /// Whether `option` of an array's address, as `link.rate`, sets what changes here.
    pub fn is_set_by(self, option: &str) -> bool {
        let (part, key) = option.split_once('.').unwrap_or((option, ""));
        match self {
            Suspect::Slower(Resource::HostProcessor) => {
                (part == "host" && ["request", "file_system", "processors"].contains(&key))
                    || option == "protocol.client"
            }
            Suspect::Slower(Resource::Adapter) => part == "adapter",
            Suspect::LinkCommand => option == "link.command",
            // Its length is another part, and how many there are another change.
            Suspect::Slower(Resource::Link) => part == "link" && !["latency", "count"].contains(&key),
            Suspect::Slower(Resource::Distance) | Suspect::AddedLatency => {
                ["link.latency", "adapter.latency", "protocol.hop", "protocol.hops"].contains(&option)
            }
            Suspect::Slower(Resource::Mirror) => part == "controller" && key.starts_with("partner."),
            Suspect::Slower(Resource::Locate) => ["controller.locate", "controller.place"].contains(&option),
            Suspect::Slower(Resource::HostFile) => option == "host.per_file",
            Suspect::Slower(Resource::ControllerProcessor) => {
                part == "controller" && (key.ends_with("_command") || ["copy", "processors"].contains(&key))
                    || part == "protocol" && key.starts_with("server_")
            }
            Suspect::Slower(Resource::Bus) => option == "controller.bus",
            Suspect::Slower(Resource::Xor) => option == "controller.xor",
            Suspect::Slower(Resource::Window) => option == "protocol.window",
            Suspect::Slower(Resource::Cache) => option == "cache.size",
            Suspect::NoWriteCache => option == "cache.write_back",
            Suspect::NoReadCache => option == "cache.read",
            Suspect::NoReadAhead => option.starts_with("cache.prefetch."),
            Suspect::SpareRoom => option.ends_with("over_provisioning"),
            Suspect::Failed => ["failed", "raid.failed"].contains(&option),
            Suspect::LinkLost => option == "link.count",
            Suspect::LunQueue => option == "host.lun_depth",
            Suspect::SessionQueue => option == "protocol.outstanding",
            Suspect::Rotation => is_of_disks(option) && option.ends_with("rpm"),
            Suspect::Seeks => is_of_disks(option) && option.contains("seek"),
            Suspect::Media => is_of_disks(option) && (option.contains("zones") || option.contains("rate")),
            _ if self.part() == Resource::Disks.name() => is_of_disks(option),
            _ => part == self.part(),
        }
    }

    /// Degrees that are tried: 1 for what either happened or did not.
    pub fn degrees(self) -> &'static [f64] {
        match self {
            Suspect::Slower(Resource::Cache | Resource::Window)
            | Suspect::LunQueue
            | Suspect::SessionQueue
            | Suspect::SpareRoom => &SMALLER,
            Suspect::AddedLatency => &LONGER,
            Suspect::Slower(_)
            | Suspect::Seeks
            | Suspect::Rotation
            | Suspect::Media
            | Suspect::OneMember
            | Suspect::LinkCommand => &DEGREES,
            _ => &[1.0],
        }
    }

    /// Makes it `times` as slow. What is a state of the array changes nothing here.
    pub fn apply(self, topology: &mut Topology, times: f64) {
        match self {
            Suspect::Slower(part) => part.speed_up(topology, 1.0 / times),
            Suspect::Seeks | Suspect::Rotation | Suspect::Media | Suspect::NoDiskWriteCache => {
                topology.models.iter_mut().for_each(|model| self.of_disk(model, times));
            }
            Suspect::OneMember => one_member(topology, times),
            Suspect::NoWriteCache => {
                topology.controller.cache.iter_mut().for_each(|cache| cache.write_back = false);
            }
            Suspect::NoReadCache => topology.controller.cache.iter_mut().for_each(|cache| {
                cache.read = false;
                cache.prefetch.streams = 0;
            }),
            Suspect::NoReadAhead => {
                topology.controller.cache.iter_mut().for_each(|cache| cache.prefetch.streams = 0);
            }
            Suspect::SpareRoom => {
                for model in &mut topology.models {
                    if let DeviceParams::Flash(flash) = model {
                        flash.over_provisioning /= times;
                    }
                }
            }
            Suspect::LinkCommand => {
                topology.link.iter_mut().for_each(|link| slow(&mut link.command, times));
            }
            Suspect::AddedLatency => longer_way(topology, times),
            Suspect::LunQueue => fewer(&mut topology.host.lun_depth, times),
            Suspect::SessionQueue => fewer(&mut topology.protocol.outstanding, times),
            Suspect::LinkLost => topology.links = topology.links.saturating_sub(1).max(1),
            Suspect::Failed | Suspect::Busy(_) => {}
        }
    }

    fn of_disk(self, model: &mut DeviceParams, times: f64) {
        let DeviceParams::Rotating(drive) = model else { return };
        match self {
            Suspect::Seeks => match &mut drive.seek {
                Seek::ThreeNumbers { track_to_track, average, full } => {
                    [track_to_track, average, full].into_iter().for_each(|time| slow(time, times));
                }
                Seek::Measured(points) => points.iter_mut().for_each(|(_, time)| slow(time, times)),
            },
            Suspect::Rotation => {
                drive.rpm /= times;
                slow_media(&mut drive.zones, times);
            }
            Suspect::Media => slow_media(&mut drive.zones, times),
            Suspect::NoDiskWriteCache => drive.cache.iter_mut().for_each(|cache| {
                cache.fast_write = FastWrite::None;
            }),
            _ => {}
        }
    }

    /// Brings `world` into the state; what it cannot be brought into is no suspect.
    fn begin(self, world: &mut ModelledWorld) -> Result<(), ModelError> {
        let work = |work| State::Background(Background { work, rate: None, wait: false });
        let states = match self {
            Suspect::Failed => vec![State::FailDisk(0)],
            Suspect::Busy(Work::Rebuild) => vec![State::FailDisk(0), work(Work::Rebuild)],
            Suspect::Busy(kind) => vec![work(kind)],
            _ => Vec::new(),
        };
        for state in &states {
            world.state(state, &mut |_| {}).map_err(|error| ModelError::Unfit(error.to_string()))?;
        }
        Ok(())
    }
}

/// Whether an option is of the model of the disks: `drive.rpm`, `devices.with.rotating.rpm`.
fn is_of_disks(option: &str) -> bool {
    option.starts_with("drive.") || option.starts_with("devices.")
}

/// One is left at least.
fn fewer(slots: &mut u32, times: f64) {
    *slots = truncated::<u32>((f64::from(*slots) / times).round()).max(1);
}

fn slow(time: &mut Nanos, times: f64) {
    *time = Nanos::new(truncated((time.get() as f64 * times).round()));
}

/// Tracks of known sectors pass as fast as the spindle turns: their rate is no figure of its own.
fn slow_media(zones: &mut Zones, times: f64) {
    if let Zones::Rates { outer, inner } = zones {
        [outer, inner].into_iter().for_each(|rate| *rate = BytesPerSecond::new(rate.get() / times));
    }
}

/// Adds to the latency of the links, and where hosts hold the devices themselves of the adapters: half of it each way.
fn longer_way(topology: &mut Topology, times: f64) {
    let added = Nanos::from_secs_f64(ADDED.as_secs_f64() * (times - 1.0) / 2.0);
    let adapter = topology.adapter.as_mut().map(|(_, link)| link);
    topology.link.as_mut().or(adapter).into_iter().for_each(|link| link.latency += added);
}

/// Gives the first member of the first set a slower model of its own.
fn one_member(topology: &mut Topology, times: f64) {
    let Some(&disk) = topology.sets.first().and_then(|set| set.members.first()) else { return };
    // A disk alone is all of the disks.
    if topology.disks.len() < 2 {
        return;
    }
    let Some(place) = topology.disks.get(disk as usize).copied() else { return };
    let mut alone = Topology { models: vec![topology.models[place as usize].clone()], ..topology.clone() };
    Resource::Disks.speed_up(&mut alone, 1.0 / times);
    topology.models.extend(alone.models.pop());
    let Ok(new) = u32::try_from(topology.models.len() - 1) else { return };
    topology.disks[disk as usize] = new;
}

/// A span so many times as large as the cache may have a part of its reads answered there that is worth to be told.
const HELD_OF: u64 = 8;

/// Whether a load of `workload` fills a cache while it warms up, a write cache or one of `cache` bytes for reads.
fn fills(workload: &workload::spec::Workload, cache: Bytes) -> bool {
    let is_held = |span: Bytes| span <= cache * HELD_OF;
    let may_hit = matches!(workload.span, Span::Of(Extent::Bytes(span)) if is_held(span));
    workload.mix.reads.get() < 1.0 || may_hit
}

/// Has loads of `point` that fill a cache of that size warm up as long as they did `before`, `most` at the longest.
fn keep_warm_ups(
    point: &mut workload::plan::Point,
    before: &workload::plan::Point,
    most: Nanos,
    cache: Bytes,
) {
    let (Task::Load(load), Task::Load(before)) = (&mut point.task, &before.task) else { return };
    for (own, before) in load.workloads.iter_mut().zip(&before.workloads) {
        if fills(own, cache) {
            own.stop.warmup = own.stop.warmup.max(before.stop.warmup.min(most));
        }
    }
}

/// A plan on an array whose parts are made worse.
pub struct Study<'a> {
    /// As short as figures need it.
    plan: Plan,
    address: &'a str,
    spec: ArraySpec,
    machine: &'a Machine,
    stop: Arc<AtomicBool>,
}

/// One simulation of all points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    /// What happened, and to what degree; none for the array as it is.
    change: Option<(Suspect, f64)>,
    /// From which the seeds follow; 0 is the plan's own.
    seed: u32,
}

/// The points with a change of a degree, of each seed.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What happened.
    pub suspect: Suspect,
    /// How many times as slow.
    pub times: f64,
    /// The points, of each seed.
    pub points: Vec<Vec<Point>>,
}

/// What a study found.
#[derive(Clone, Debug, Default)]
pub struct StudyResult {
    /// The points of the array as it is, of each seed.
    pub unchanged: Vec<Vec<Point>>,
    /// Those with a change, by suspect and degree, rising; what the array refuses is left out.
    pub tried: Vec<Tried>,
}

impl StudyResult {
    /// For each suspect the degrees that were tried, rising, with what `seen` makes of the points as they are and of those
    /// with each change.
    pub fn each<S>(
        &self,
        seen: impl Fn(&[Vec<Point>], &[&[Vec<Point>]]) -> Vec<S>,
    ) -> Vec<(Suspect, Vec<(f64, S)>)> {
        let changed: Vec<&[Vec<Point>]> = self.tried.iter().map(|tried| tried.points.as_slice()).collect();
        let mut all: Vec<(Suspect, Vec<(f64, S)>)> = Vec::new();
        for (tried, seen) in self.tried.iter().zip(seen(&self.unchanged, &changed)) {
            match all.iter_mut().find(|(suspect, _)| *suspect == tried.suspect) {
                Some((_, degrees)) => degrees.push((tried.times, seen)),
                None => all.push((tried.suspect, vec![(tried.times, seen)])),
            }
        }
        all
    }
}

impl<'a> Study<'a> {
    /// The points of `plan` on the array at `address`, as `array:md3000?raid=5`. `stop` ends it early; `None` where it does,
    /// and where the array as it is cannot carry out the plan. An error says what is wrong with the address.
    ///
    /// Each load lasts for about `requests` of the array as it is, and no longer than 20 s, as does what comes before it and
    /// is not counted.
    pub fn open(
        plan: &Plan,
        (address, library): (&'a str, &dyn Source),
        requests: u32,
        machine: &'a Machine,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Study<'a>>, ModelError> {
        let Some((study, points)) = Study::of_a_second(plan, (address, library), machine, stop)? else {
            return Ok(None);
        };
        let is_kept =
            |index: usize| plan.points().iter().any(|point| point.index == index && lasting(point) <= KEPT);
        let time_of = |index: usize, requests: u32| {
            let point = points.iter().find(|point| point.index as usize == index);
            let rate = point.map_or(0.0, |point| rate_of(point).value);
            (rate > 0.0).then(|| Nanos::from_secs_f64((f64::from(requests) / rate).min(1e6)))
        };
        let most = |index: usize| {
            let time = time_of(index, requests).unwrap_or(LONGEST);
            if is_kept(index) { KEPT } else { time.clamp(SHORTEST, LONGEST) }
        };
        let cache = study.spec.topology.controller.cache.as_ref().map_or(Bytes::ZERO, |cache| cache.size);
        let plan = plan.clone().only(|point| {
            let before = point.clone();
            shorten(point, most(point.index));
            keep_warm_ups(point, &before, time_of(point.index, WARM).unwrap_or(Nanos::ZERO), cache);
            true
        });
        Ok(Some(Study { plan, ..study }))
    }

    /// The same with loads of a second, and their points, which tell the rates.
    fn of_a_second(
        plan: &Plan,
        (address, library): (&'a str, &dyn Source),
        machine: &'a Machine,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<(Study<'a>, Vec<Point>)>, ModelError> {
        let spec = spec::array(library, address)?;
        let plan = plan.clone().only(|point| {
            shorten(point, Nanos::from_secs(1));
            true
        });
        let study = Study { plan, address, spec, machine, stop: stop.clone() };
        let points = study.points(None, 0);
        Ok(points.map(|points| (study, points)))
    }

    /// The points of `plan` on the array at `address`, each load as long as the plan says, so that caches are as full as they were: as
    /// far as all loads together take no more than `requests` of the array as it is, and else each its part of them.
    pub fn open_whole(
        plan: &Plan,
        array: (&'a str, &dyn Source),
        requests: u32,
        machine: &'a Machine,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Study<'a>>, ModelError> {
        let Some((study, points)) = Study::of_a_second(plan, array, machine, stop)? else { return Ok(None) };
        let rate = |point: &workload::plan::Point| {
            points.iter().find(|one| one.index as usize == point.index).map_or(0.0, |one| rate_of(one).value)
        };
        let asked = |point: &workload::plan::Point| rate(point) * lasting(point).as_secs_f64();
        let loads: Vec<f64> = plan.points().iter().map(asked).filter(|asked| *asked > 0.0).collect();
        if loads.iter().sum::<f64>() <= f64::from(requests) {
            return Ok(Some(Study { plan: plan.clone(), ..study }));
        }
        let each = f64::from(requests) / loads.len().max(1) as f64;
        let plan = plan.clone().only(|point| {
            if asked(point) > each {
                shorten(point, Nanos::from_secs_f64(each / rate(point) / 2.0));
            }
            true
        });
        Ok(Some(Study { plan, ..study }))
    }

    /// The points of the plan with that change, and seeds that follow from `seed`; none where the array refuses it, or
    /// answers with errors.
    pub fn points(&self, change: Option<(Suspect, f64)>, seed: u32) -> Option<Vec<Point>> {
        self.once(Trial { change, seed })
    }

    /// The points of the plan on the array as it is, of so many seeds, one simulation on each processor; `None` where the array answers
    /// with errors, and where it was ended.
    pub fn seeds(&self, count: u32) -> Option<Vec<Vec<Point>>> {
        let mut all = Vec::new();
        let work = |seed: usize| self.points(None, truncated(seed as f64));
        in_order(count as usize, processors(), &work, &mut |_, points| {
            all.push(points);
            true
        });
        all.into_iter().collect()
    }

    /// The points of the plan with each change of a part, and once more, with more seeds, with those that `likely` names of
    /// what was found; this twice, as the degree becomes clearer.
    ///
    /// Simulations run side by side, one on each processor. `None` where it was ended, and where the array as it is cannot
    /// carry out the plan.
    pub fn search(&self, likely: impl Fn(&StudyResult) -> Vec<(Suspect, f64)>) -> Option<StudyResult> {
        let suspects = Suspect::all(&self.spec.topology);
        let each = suspects.iter().flat_map(|one| one.degrees().iter().map(|times| (*one, *times)));
        let as_it_is = (0..SEEDS).map(|seed| Trial { change: None, seed });
        let changed = each.map(|change| Trial { change: Some(change), seed: 0 });
        let trials: Vec<Trial> = as_it_is.chain(changed).collect();
        let mut found = StudyResult::default();
        self.add(&mut found, &trials);
        for _ in 0..ROUNDS {
            if found.unchanged.len() < SEEDS as usize {
                return None;
            }
            let trials: Vec<Trial> = likely(&found)
                .into_iter()
                .flat_map(|change| (0..SEEDS).map(move |seed| Trial { change: Some(change), seed }))
                .collect();
            self.add(&mut found, &trials);
        }
        (!self.stop.load(Ordering::Relaxed)).then_some(found)
    }

    fn add(&self, found: &mut StudyResult, trials: &[Trial]) {
        let mut all = Vec::with_capacity(trials.len());
        let work = |position: usize| self.once(trials[position]);
        in_order(trials.len(), processors(), &work, &mut |_, points| {
            all.push(points);
            true
        });
        assert_eq!(all.len(), trials.len(), "each trial has its place");
        let mut fresh: Vec<Tried> = Vec::new();
        for (trial, points) in trials.iter().zip(all) {
            let Some(points) = points else { continue };
            let Some((suspect, times)) = trial.change else {
                found.unchanged.push(points);
                continue;
            };
            match fresh.iter_mut().find(|one| one.suspect == suspect && one.times == times) {
                Some(one) => one.points.push(points),
                None => fresh.push(Tried { suspect, times, points: vec![points] }),
            }
        }
        for one in fresh {
            // More seeds of the same take the place of fewer.
            found.tried.retain(|other| other.suspect != one.suspect || other.times != one.times);
            found.tried.push(one);
        }
        found.tried.sort_by(|one, other| one.times.total_cmp(&other.times));
    }

    /// The points; none where the array refuses what happened to it, or answers with errors.
    fn once(&self, trial: Trial) -> Option<Vec<Point>> {
        let apart = u64::from(trial.seed) << 32;
        let mut plan = self.plan.clone().only(|point| {
            if let Task::Load(load) = &mut point.task {
                load.workloads.iter_mut().for_each(|one| one.seed = one.seed.wrapping_add(apart));
            }
            true
        });
        plan.seed = plan.seed.wrapping_add(apart);
        let mut topology = self.spec.topology.clone();
        if let Some((suspect, times)) = trial.change {
            suspect.apply(&mut topology, times);
        }
        let (spec, stop) = (self.spec.clone(), self.stop.clone());
        let mut world = ModelledWorld::made(&plan, self.address, spec, topology, self.machine, stop).ok()?;
        if let Some((suspect, _)) = trial.change {
            suspect.begin(&mut world).ok()?;
        }
        let outcome = conduct::run(&plan, &mut world, &mut |_| {});
        let is_whole = outcome.error.is_none() && outcome.complete && !world.is_stopped();
        let has_errors = outcome.points.iter().flat_map(|point| &point.workloads).any(|one| one.errors > 0);
        (is_whole && !has_errors).then_some(outcome.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_became_smaller_is_a_suspect_where_it_has_an_end() {
        let topology = |options: &str| {
            spec::array(&spec::Shipped, &format!("array:md3000?raid=5{options}")).unwrap().topology
        };
        let (plain, limited) = (topology(""), topology("&protocol.outstanding=64&host.lun_depth=24"));
        let all = Suspect::all(&plain);
        assert!(all.contains(&Suspect::LunQueue) && !all.contains(&Suspect::SessionQueue), "{all:?}");
        assert!(Suspect::all(&limited).contains(&Suspect::SessionQueue));
        let mut smaller = limited.clone();
        Suspect::LunQueue.apply(&mut smaller, 5.0);
        Suspect::SessionQueue.apply(&mut smaller, 100.0);
        assert_eq!((smaller.host.lun_depth, smaller.protocol.outstanding), (5, 1));
    }

    #[test]
    fn flash_may_have_less_spare_room_and_a_cache_nothing_read_ahead() {
        let topology = |address: &str| spec::array(&spec::Shipped, address).unwrap().topology;
        let (mut flash, mut array) =
            (topology("array:ssd-1?drive=s3700-800"), topology("array:md3000?raid=5"));
        assert!(Suspect::all(&flash).contains(&Suspect::SpareRoom));
        assert!(!Suspect::all(&array).contains(&Suspect::SpareRoom), "its disks rotate");
        let room = |topology: &Topology| match &topology.models[0] {
            DeviceParams::Flash(flash) => flash.over_provisioning,
            _ => 0.0,
        };
        let before = room(&flash);
        Suspect::SpareRoom.apply(&mut flash, 4.0);
        assert!((room(&flash) * 4.0 - before).abs() < 1e-12 && before > 0.0, "{before}");
        assert!(Suspect::all(&array).contains(&Suspect::NoReadAhead));
        Suspect::NoReadAhead.apply(&mut array, 1.0);
        let cache = array.controller.cache.as_ref().unwrap();
        assert!(cache.read && cache.prefetch.streams == 0);
        assert!(!Suspect::all(&array).contains(&Suspect::NoReadAhead), "there is none");
    }

    #[test]
    fn an_option_belongs_to_the_part_that_it_makes_slower() {
        let of = |option: &str| {
            let all = Suspect::all(&spec::array(&spec::Shipped, "array:px6-300d?raid=5").unwrap().topology);
            let set: Vec<&str> =
                all.iter().filter(|one| one.is_set_by(option)).map(|one| one.part()).collect();
            set.first().copied()
        };
        assert_eq!(of("link.rate"), Some("link"));
        assert_eq!((of("link.command"), of("link.latency")), (Some("link"), Some("distance")));
        assert_eq!(of("controller.read_command"), Some("controller processor"));
        assert_eq!(of("host.lun_depth"), Some("LUN queue"));
        assert_eq!((of("drive.rpm"), of("devices.with.rotating.rpm")), (Some("disks"), Some("disks")));
        assert_eq!(of("cache.write_back"), Some("write cache"));
        assert!(Suspect::Slower(Resource::Channel).is_set_by("channel.rate"));
        assert_eq!(of("cache.size"), Some("cache size"));
        assert_eq!((of("failed"), of("cache.prefetch.streams")), (Some("failed disk"), Some("read cache")));
        assert_eq!(of("host.hosts"), None);
    }
}
