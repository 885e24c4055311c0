//! Which devices there are, how they form RAID sets, and which LUNs are cut from the sets.
//!
//! Disks are numbered from 0 in the order of the bays. Sets take them in turn from 0, hot spares follow.

use std::str::FromStr;

use document::{Fields, Mistakes, Node, Read, Table, TextSpan, Value, Wrong};
use units::convert::narrow;
use units::{Bytes, Nanos, Sectors};

use super::device::{self, DeviceSpec};
use super::source::{self, Shelf, Source};
use super::tree::overlay;
use crate::raid::{Geometry, GeometryError, Layout, Level, SetSpec, WriteRule};
use crate::topology::{BitmapParams, LunPlacement, ReadBalance, SetTopology};

/// Disks are numbered in 16 bits where sets are planned, spares among them.
const MOST_DISKS: u64 = 1 << 15;

/// Devices, sets and volumes.
pub(super) struct Placed {
    /// The models there are.
    pub models: Vec<DeviceSpec>,
    /// The model of each disk, by disk number.
    pub disks: Vec<u32>,
    /// The RAID sets.
    pub sets: Vec<SetTopology>,
    /// Hot spares, by disk number; any set may use them.
    pub spares: Vec<u32>,
    /// Disks that have failed before the run, by disk number.
    pub failed: Vec<u32>,
    /// The volumes.
    pub luns: Vec<LunPlacement>,
}

impl Read for Level {
    const WANT: &'static str = "a RAID level: jbod, 0, 1, 1e, 10, 5, 6, 50 or 60";
    fn read(node: &Node) -> Result<Self, Wrong> {
        match &node.value {
            Value::Text(text) | Value::Integer(text) => by_text(text),
            _ => Err(Self::not(node)),
        }
    }
}

impl Read for Layout {
    const WANT: &'static str = "a parity layout such as \"left-symmetric\"";
    fn read(node: &Node) -> Result<Self, Wrong> {
        by_text(&node.shown())
    }
}

fn by_text<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Wrong> {
    text.parse().map_err(|error: T::Err| Wrong::parted(&error.to_string()))
}

/// A disk number, a list of them, or `none`.
#[derive(Default)]
struct Numbers(Vec<i64>);

impl Read for Numbers {
    const WANT: &'static str = "a disk number, or a list of them";
    fn read(node: &Node) -> Result<Self, Wrong> {
        if node.is("none") { Ok(Numbers::default()) } else { document::one_or_more(node).map(Numbers) }
    }
}

/// The models there are, and which of them each disk is.
pub(super) struct Devices {
    models: Vec<DeviceSpec>,
    disks: Vec<u32>,
}

/// Reads `[devices]`; `None` where what cannot be read leaves none.
pub(super) fn devices(library: &dyn Source, fields: Fields<'_>) -> Option<Devices> {
    let with = fields.table("with");
    let groups = groups(&fields);
    let all: u64 = groups.iter().flatten().map(|(_, count, _)| u64::from(*count)).sum();
    let possible = groups.is_none() || (1..=MOST_DISKS).contains(&all);
    fields.check(&["count"], possible, format!("an array has 1 to {MOST_DISKS} disks, not {all}"));
    fields.finish();
    let groups = groups.filter(|_| possible)?;
    let mut names: Vec<String> = Vec::new();
    let (mut models, mut disks) = (Vec::new(), Vec::new());
    for (model, count, at) in &groups {
        let model = &source::beside(library, Shelf::Device, model, at);
        let known = names.iter().position(|known| known == model);
        let index = known.unwrap_or_else(|| {
            names.push(model.clone());
            models.push(device_with(library, model, at, with.as_ref(), fields.mistakes()));
            models.len() - 1
        });
        disks.extend(std::iter::repeat_n(narrow::<u32>(index), *count as usize));
    }
    let models: Vec<DeviceSpec> = models.into_iter().collect::<Option<_>>()?;
    assert!(disks.iter().all(|model| (*model as usize) < models.len()), "each disk is of a model");
    Some(Devices { models, disks })
}

/// Model, count, and where it is named, of each group of like disks; `None` where they cannot be read.
fn groups(fields: &Fields<'_>) -> Option<Vec<(String, u32, TextSpan)>> {
    let mix = fields.tables("mix");
    let (model, count): (Option<String>, Option<u32>) = (fields.unless_none("model"), fields.get("count"));
    let is_one_way = model.is_none() || mix.is_empty();
    fields.check(
        &["model", "mix"],
        is_one_way,
        "name devices by `model` and `count`, or by a `mix`, not by both",
    );
    if let Some(model) = model {
        let count = count.or_else(|| fields.need_some("count"))?;
        return Some(vec![(model, count, fields.place_of("model"))]);
    }
    if mix.is_empty() {
        let _: String = fields.need("model");
        fields.check(&["model", "mix"], false, "name a device, or give a `mix`");
        return None;
    }
    let group = |table: Fields<'_>| {
        let group = (table.need("model"), table.need("count"), table.place_of("model"));
        table.finish();
        table.is_sound().then_some(group)
    };
    // All of them are read before one that cannot be is the end of it.
    mix.into_iter().map(group).collect::<Vec<_>>().into_iter().collect()
}

/// The device `model` with what the array changes of it; a table named by a kind changes devices of that kind alone.
fn device_with(
    library: &dyn Source,
    model: &str,
    at: &TextSpan,
    with: Option<&Fields<'_>>,
    mistakes: &Mistakes,
) -> Option<DeviceSpec> {
    let mut file = source::load(library, Shelf::Device, model, at, mistakes)?;
    let kind = file.table.get("kind").and_then(Node::scalar);
    for (key, node) in with.into_iter().flat_map(Fields::all) {
        match node.table() {
            Some(of_kind) if device::KINDS.contains(&key.text.as_str()) => {
                if kind.as_deref() == Some(&key.text) {
                    overlay(&mut file.table, of_kind.clone());
                }
            }
            _ => {
                let mut one = Table::default();
                one.put(key.clone(), node.clone());
                overlay(&mut file.table, one);
            }
        }
    }
    device::read(model, Fields::new("", &file.table, &file.at, mistakes))
}

/// What `[raid]` says, before it is known which disks there are.
pub(super) struct Wanted<'t> {
    fields: Fields<'t>,
    level: Option<Level>,
    chunk: Bytes,
    layout: Layout,
    rule: WriteRule,
    groups: Option<u32>,
    sets: u32,
    each: Option<u32>,
    members: Option<Vec<Vec<i64>>>,
    spares: u32,
    failed: Vec<i64>,
    luns: Option<u32>,
    lun_size: Option<Bytes>,
    owner: Option<u32>,
    bitmap: Option<BitmapParams>,
    balance: ReadBalance,
}

impl<'t> Wanted<'t> {
    pub(super) fn read(raid: Fields<'t>) -> Wanted<'t> {
        let rules = [
            ("fewer-reads", WriteRule::FewerReads),
            ("prefer-modify", WriteRule::PreferModify),
            ("reconstruct", WriteRule::Reconstruct),
        ];
        let balances = [("least", ReadBalance::Least), ("streams", ReadBalance::Streams)];
        let wanted = Wanted {
            level: raid.need_some("level"),
            chunk: raid.or("chunk", Bytes::KIB * 64),
            layout: raid.or("layout", Layout::default()),
            rule: raid.one_of("partial_writes", WriteRule::FewerReads, &rules),
            groups: raid.unless_none("groups"),
            sets: raid.or("sets", 1),
            each: raid.get("disks"),
            members: raid.get("members"),
            spares: raid.or("spares", 0),
            failed: raid.or("failed", Numbers::default()).0,
            luns: raid.get("luns"),
            lun_size: raid.unless_none("lun_size"),
            owner: raid.unless_none("owner"),
            bitmap: bitmap(&raid),
            balance: raid.one_of("read_balance", ReadBalance::Least, &balances),
            fields: raid,
        };
        let raid = &wanted.fields;
        if wanted.members.is_none() && !raid.says("members") {
            let _: u32 = raid.need("disks");
        }
        let whole = wanted.chunk.is_multiple_of(Bytes::new(units::SECTOR_BYTES));
        let why = format!("{} is not a whole number of 512-byte sectors", wanted.chunk);
        raid.check(&["chunk"], whole, why);
        raid.check(&["luns"], wanted.luns.is_none_or(|luns| (1..=4096).contains(&luns)), "give 1 to 4096");
        raid.finish();
        wanted
    }

    /// Sets and LUNs of `devices`; `None`, and a mistake, where they do not go together.
    pub(super) fn of(&self, devices: Devices, controllers: u32) -> Option<Placed> {
        let level = self.level.filter(|_| self.fields.is_sound())?;
        let there_are = devices.disks.len();
        let failed = self.numbered("failed", &self.failed, there_are);
        let members = self.set_members(there_are)?;
        let sets: Vec<SetTopology> =
            members.into_iter().map(|members| self.set(level, members, &devices)).collect::<Option<_>>()?;
        let unused = |disk: &u32| !sets.iter().any(|set| set.members.contains(disk));
        let spares: Vec<u32> =
            (0..narrow::<u32>(there_are)).filter(unused).take(self.spares as usize).collect();
        let (wanted, left) = (self.spares, spares.len());
        let why = format!("{wanted} hot spares are configured, {left} disks are left over");
        self.fields.check(&["spares"], left >= wanted as usize, why);
        let luns = self.cut(&sets, controllers)?;
        let Devices { models, disks } = devices;
        Some(Placed { models, disks, sets, spares, failed: failed?, luns })
    }

    fn set(&self, level: Level, members: Vec<u32>, devices: &Devices) -> Option<SetTopology> {
        let capacity = |disk: &u32| devices.models[devices.disks[*disk as usize] as usize].capacity;
        let smallest = members.iter().map(capacity).min().unwrap_or(Sectors(0));
        let chunk = Sectors(self.chunk.get() / units::SECTOR_BYTES);
        // An option may leave a file's count of groups standing beside a level that has none.
        let groups = if level.is_nested() { self.groups.unwrap_or(2) } else { 1 };
        let (layout, rule) = (self.layout, self.rule);
        let spec = SetSpec::new(level, narrow::<u32>(members.len()), chunk, smallest);
        match Geometry::new(SetSpec { groups, layout, rule, ..spec }) {
            Ok(geometry) => {
                let (bitmap, balance) = (self.bitmap_on(smallest)?, self.balance);
                Some(SetTopology { members, geometry, bitmap, balance })
            }
            Err(why) => {
                self.fields.mistakes().wrong(&self.blame(&why), Wrong::parted(&why.to_string()));
                None
            }
        }
    }

    /// The bitmap of a set whose members have so many sectors; `None`, and a mistake, where it would have too many bits.
    fn bitmap_on(&self, member: Sectors) -> Option<Option<BitmapParams>> {
        let Some(bitmap) = self.bitmap else { return Some(None) };
        let least = BitmapParams::least_region(member);
        let fits = bitmap.region >= least;
        let why = format!(
            "a bitmap has at most 2,097,152 bits: give members of {} {least} or more",
            member.bytes()
        );
        self.fields.check(&["bitmap"], fits, why);
        fits.then_some(Some(bitmap))
    }

    /// The disk numbers of each set: `members` in full, or `sets` sets of `disks` disks from disk 0 on.
    fn set_members(&self, there_are: usize) -> Option<Vec<Vec<u32>>> {
        let refuse = |key: &str, why: String| {
            self.fields.wrong(key, why);
            None
        };
        if let Some(lists) = &self.members {
            let lists: Vec<Vec<u32>> =
                lists.iter().map(|list| self.numbered("members", list, there_are)).collect::<Option<_>>()?;
            let mut all: Vec<u32> = lists.concat();
            all.sort_unstable();
            return match all.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => refuse("members", format!("disk {} is in it twice", pair[0])),
                None => Some(lists),
            };
        }
        let (sets, each) = (self.sets, self.each?);
        let wanted = u64::from(sets) * u64::from(each);
        if sets == 0 || wanted > there_are as u64 {
            let of = if sets == 1 { format!("{each} disks") } else { format!("{sets} sets of {each} disks") };
            let why = format!("{of} are more than the {there_are} the array has; give at most {there_are}");
            return refuse(if sets == 1 { "disks" } else { "sets" }, why);
        }
        Some((0..sets).map(|set| (set * each..(set + 1) * each).collect()).collect())
    }

    /// The disks with these numbers, which are those of `key`.
    fn numbered(&self, key: &str, numbers: &[i64], there_are: usize) -> Option<Vec<u32>> {
        let known = |disk: &i64| u32::try_from(*disk).ok().filter(|disk| (*disk as usize) < there_are);
        let stranger = numbers.iter().find(|disk| known(disk).is_none());
        if let Some(disk) = stranger {
            let last = there_are.saturating_sub(1);
            let why = format!("there is no disk {disk}: the array has {there_are}, numbered 0 to {last}");
            self.fields.mistakes().wrong(&self.fields.place_of(key), Wrong::said(why));
        }
        numbers.iter().map(known).collect()
    }

    /// The key that a geometry's error is about: the one typed, where one was.
    fn blame(&self, why: &GeometryError) -> TextSpan {
        let key = match why {
            GeometryError::NoChunk { .. } | GeometryError::ChunkNoPowerOfTwo { .. } => "chunk",
            GeometryError::TooFewGroups { .. }
            | GeometryError::UnevenGroups { .. }
            | GeometryError::NotNested { .. } => "groups",
            _ => "disks",
        };
        let typed = ["level", "disks", "chunk"].map(|key| self.fields.place_of(key));
        typed.into_iter().find(|place| !place.has_line()).unwrap_or_else(|| self.fields.place_of(key))
    }

    /// The LUNs, spread over the sets in turn.
    fn cut(&self, sets: &[SetTopology], controllers: u32) -> Option<Vec<LunPlacement>> {
        let many = narrow::<u32>(sets.len());
        let count = self.luns.unwrap_or(many);
        if count == 0 {
            self.fields.wrong("luns", "give 1 to 4096");
        }
        let owned = self.owner.is_none_or(|owner| owner < controllers);
        self.fields.check(&["owner"], owned, format!("controllers are numbered 0 to {}", controllers - 1));
        let lun = |lun: u32| {
            let (set, nth) = (lun % many, lun / many);
            let on_this_set = count / many + u32::from(set < count % many);
            let geometry = &sets[set as usize].geometry;
            let whole = geometry.capacity().0;
            let part = even_part(geometry, on_this_set);
            let size = self.lun_size.map_or(part, |size| size.get() / units::SECTOR_BYTES);
            if size == 0 || size > part {
                let most = Sectors(part).bytes();
                let why = format!("{on_this_set} LUNs on a set have room for {most} each");
                self.fields.wrong("lun_size", why);
                return None;
            }
            let start = Sectors(u64::from(nth) * part);
            debug_assert!(start.0 + size <= whole, "a volume must lie on its set");
            Some(LunPlacement {
                set,
                start,
                size: Sectors(size),
                owner: self.owner.unwrap_or(lun % controllers),
            })
        };
        (0..count).map(lun).collect()
    }
}

/// Sectors of each of `parts` LUNs on a set, of one size: as many whole stripes as each can have, so that a request which is aligned
/// in a LUN is aligned on the disks. What does not stripe is cut at MiB, but between disks that are only joined.
fn even_part(geometry: &Geometry, parts: u32) -> u64 {
    const MIB: u64 = (1 << 20) / units::SECTOR_BYTES;
    let part = geometry.capacity().0 / u64::from(parts);
    let spec = geometry.spec();
    let grain = match spec.level {
        Level::Jbod if part.is_multiple_of(spec.member_size.0) => spec.member_size.0,
        Level::Jbod | Level::Raid1 => MIB,
        _ => geometry.full_row().0,
    };
    // A set may have fewer rows than LUNs.
    if parts > 1 && part >= grain { part - part % grain } else { part }
}

/// `raid.bitmap`: a table, or `none`, which takes an inherited one away.
fn bitmap(raid: &Fields<'_>) -> Option<BitmapParams> {
    let fields = raid.table("bitmap")?;
    let params = BitmapParams {
        region: fields.or("region", Bytes::MIB * 64),
        sleep: fields.or("sleep", Nanos::from_secs(5)),
    };
    let whole = !params.region.is_zero() && params.region.is_multiple_of(Bytes::new(units::SECTOR_BYTES));
    fields.check(&["region"], whole, "give whole sectors, such as 64MiB");
    fields.check(&["sleep"], !params.sleep.is_zero(), "give more than 0s, such as 5s");
    fields.finish();
    Some(params)
}
