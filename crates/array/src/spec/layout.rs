//! Which devices there are, how they form RAID sets, and which LUNs are cut from the sets.
//!
//! Disks are numbered from 0 in the order of the bays. Sets take them in turn from 0, hot spares follow.

use std::str::FromStr;

use units::convert::narrow;
use units::{Bytes, Sectors};

use super::device::{self, DeviceSpec};
use super::error::{Fault, SourceLocation, SpecError};
use super::fields::{Fields, Read};
use super::source::{self, Shelf, Source};
use super::tree::{Node, Scalar, Table, Value};
use crate::raid::{Geometry, GeometryError, Layout, Level, SetSpec, WriteRule};
use crate::topology::{LunPlacement, SetTopology};

/// Disks are numbered in 16 bits where sets are planned, spares among them.
const MOST_DISKS: u64 = 1 << 15;

impl Read for Level {
    const WANT: &'static str = "a RAID level: jbod, 0, 1, 1e, 10, 5, 6, 50 or 60";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Text(_) | Scalar::Whole(_) => {
                Level::from_str(&what.text()).map_err(|error| error.to_string())
            }
            other => Err(format!("`{}` is not {}", other.text(), Self::WANT)),
        }
    }
}

impl Read for Layout {
    const WANT: &'static str = "a parity layout such as \"left-symmetric\"";
    fn read(what: &Scalar) -> Result<Self, String> {
        Layout::from_str(&what.text()).map_err(|error| error.to_string())
    }
}

/// The models of `[devices]`, and the model of each disk.
pub(super) fn devices(
    library: &dyn Source,
    fields: Fields<'_>,
) -> Result<(Vec<DeviceSpec>, Vec<u32>), SpecError> {
    let changes = match fields.table("with")? {
        Some(with) => with.all().map(|(key, node)| (key.to_string(), node.clone())).collect(),
        None => Vec::new(),
    };
    let mut groups: Vec<(String, u32, SourceLocation)> = Vec::new();
    let mix = fields.tables("mix")?;
    let (model, count): (Option<String>, Option<u32>) = (fields.unless_none("model")?, fields.get("count")?);
    match model {
        Some(model) => {
            let count = count.map_or_else(|| fields.need("count"), Ok)?;
            groups.push((model, count, fields.place_of("model")));
        }
        None if mix.is_empty() => {
            return Err(fields
                .need::<String>("model")
                .err()
                .unwrap_or_else(|| fields.wrong("model", "name a device, or give a `mix`")));
        }
        None => {
            for table in mix {
                groups.push((table.need("model")?, table.need("count")?, table.place_of("model")));
                table.finish()?;
            }
        }
    }
    let all: u64 = groups.iter().map(|(_, count, _)| u64::from(*count)).sum();
    if all == 0 || all > MOST_DISKS {
        return Err(fields.wrong("count", format!("an array has 1 to {MOST_DISKS} disks, not {all}")));
    }
    fields.finish()?;
    let mut models: Vec<DeviceSpec> = Vec::new();
    let mut disks = Vec::new();
    for (model, count, at) in groups {
        let index = match models.iter().position(|known| known.model == model) {
            Some(index) => index,
            None => {
                models.push(read_device(library, &model, &at, &changes)?);
                models.len() - 1
            }
        };
        disks.extend(std::iter::repeat_n(narrow::<u32>(index), count as usize));
    }
    Ok((models, disks))
}

fn read_device(
    library: &dyn Source,
    model: &str,
    at: &SourceLocation,
    changes: &[(String, Node)],
) -> Result<DeviceSpec, SpecError> {
    let mut table = source::load(library, Shelf::Device, model, at)?;
    let kind = table.get("kind").map(|entry| &entry.node);
    let kind = match kind {
        Some(Node::Value(Value { what: Scalar::Text(kind), .. })) => kind.clone(),
        _ => String::new(),
    };
    let mut over = Table::empty(at.clone());
    for (key, node) in changes {
        match node {
            // A table named by a kind changes devices of that kind alone.
            Node::Table(of_kind) if device::KINDS.contains(&key.as_str()) => {
                if *key == kind {
                    over.overlay(of_kind.clone());
                }
            }
            _ => {
                let at = node.at().clone();
                let mut one = Table::empty(at.clone());
                one.entries.push(super::tree::Entry { key: key.clone(), at, node: node.clone() });
                over.overlay(one);
            }
        }
    }
    table.overlay(over);
    device::read(model, Fields::new("", &table))
}

/// The RAID sets of `[raid]`, and its hot spares by disk number.
pub(super) fn sets(
    raid: &Fields<'_>,
    models: &[DeviceSpec],
    disks: &[u32],
) -> Result<(Vec<SetTopology>, Vec<u32>), SpecError> {
    let spares_wanted: u32 = raid.or("spares", 0)?;
    let level: Level = raid.need("level")?;
    let chunk: Bytes = raid.or("chunk", Bytes::KIB * 64)?;
    let layout = raid.or("layout", Layout::default())?;
    let rules = [
        ("fewer-reads", WriteRule::FewerReads),
        ("prefer-modify", WriteRule::PreferModify),
        ("reconstruct", WriteRule::Reconstruct),
    ];
    let rule = raid.one_of("partial_writes", Some(WriteRule::FewerReads), &rules)?;
    let groups: u32 = raid.or("groups", if level.is_nested() { 2 } else { 1 })?;
    // An option may leave a file's count of groups standing beside a level that has none.
    let groups = if level.is_nested() { groups } else { 1 };
    if !chunk.is_multiple_of(Bytes::new(units::SECTOR_BYTES)) {
        return Err(raid.wrong("chunk", format!("{chunk} is not a whole number of 512-byte sectors")));
    }
    let members = members(raid, disks.len())?;
    let mut sets = Vec::with_capacity(members.len());
    for members in members {
        let smallest = members.iter().map(|disk| models[disks[*disk as usize] as usize].capacity).min();
        let spec = SetSpec {
            groups,
            layout,
            rule,
            ..SetSpec::new(
                level,
                narrow::<u32>(members.len()),
                Sectors(chunk.get() / units::SECTOR_BYTES),
                smallest.unwrap_or(Sectors(0)),
            )
        };
        let geometry =
            Geometry::new(spec).map_err(|why| SpecError::at(blame(raid, &why), Fault::Raid { why }))?;
        sets.push(SetTopology { members, geometry });
    }
    let spares: Vec<u32> = (0..narrow::<u32>(disks.len()))
        .filter(|disk| !sets.iter().any(|set| set.members.contains(disk)))
        .take(spares_wanted as usize)
        .collect();
    if spares.len() < spares_wanted as usize {
        return Err(raid.wrong(
            "spares",
            format!("{spares_wanted} hot spares are configured, {} disks are left over", spares.len()),
        ));
    }
    Ok((sets, spares))
}

/// The disk numbers of each set: `members` in full, or `sets` sets of `disks` disks from disk 0 on.
fn members(raid: &Fields<'_>, there_are: usize) -> Result<Vec<Vec<u32>>, SpecError> {
    let sets: u32 = raid.or("sets", 1)?;
    let each: Option<u32> = raid.get("disks")?;
    if let Some(lists) = raid.get::<Vec<Vec<i64>>>("members")? {
        let at = raid.place_of("members");
        let lists: Vec<Vec<u32>> = lists
            .iter()
            .map(|list| list.iter().map(|disk| in_range(*disk, there_are, &at)).collect())
            .collect::<Result<_, _>>()?;
        let mut all: Vec<u32> = lists.concat();
        all.sort_unstable();
        return match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(raid.wrong("members", format!("disk {} is in it twice", pair[0]))),
            None => Ok(lists),
        };
    }
    let each = each.map_or_else(|| raid.need("disks"), Ok)?;
    let wanted = u64::from(sets) * u64::from(each);
    if sets == 0 || wanted > there_are as u64 {
        let of = if sets == 1 { format!("{each} disks") } else { format!("{sets} sets of {each} disks") };
        let why = format!("{of} are more than the {there_are} the array has; give at most {there_are}");
        return Err(raid.wrong(if sets > 1 { "sets" } else { "disks" }, why));
    }
    Ok((0..sets).map(|set| (set * each..(set + 1) * each).collect()).collect())
}

/// Those of `there_are` disks that have failed before the run.
pub(super) fn failed(raid: &Fields<'_>, there_are: usize) -> Result<Vec<u32>, SpecError> {
    let at = raid.place_of("failed");
    let list = match raid.get::<OneOrMore>("failed")? {
        None => return Ok(Vec::new()),
        Some(OneOrMore(list)) => list,
    };
    list.iter().map(|disk| in_range(*disk, there_are, &at)).collect()
}

struct OneOrMore(Vec<i64>);

impl Read for OneOrMore {
    const WANT: &'static str = "a disk number, or a list of them";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Whole(number) => Ok(OneOrMore(vec![*number])),
            Scalar::Text(text) if text == "none" => Ok(OneOrMore(Vec::new())),
            list => Vec::<i64>::read(list).map(OneOrMore),
        }
    }
}

fn in_range(disk: i64, there_are: usize, at: &SourceLocation) -> Result<u32, SpecError> {
    let count = narrow::<u32>(there_are);
    u32::try_from(disk)
        .ok()
        .filter(|number| *number < count)
        .ok_or(SpecError::at(at.clone(), Fault::NoSuchDisk { disk, count }))
}

/// The key that a geometry's error is about: the one typed, where one was.
fn blame(raid: &Fields<'_>, why: &GeometryError) -> SourceLocation {
    let key = match why {
        GeometryError::NoChunk { .. } | GeometryError::ChunkNoPowerOfTwo { .. } => "chunk",
        GeometryError::TooFewGroups { .. }
        | GeometryError::UnevenGroups { .. }
        | GeometryError::NotNested { .. } => "groups",
        _ => "disks",
    };
    let typed = |key: &str| raid.all().any(|(name, node)| name == key && node.at().line == 0);
    match ["level", "disks", "chunk"].into_iter().find(|key| typed(key)) {
        Some(key) => raid.place_of(key),
        None => raid.place_of(key),
    }
}

/// The volumes of `[raid]`, cut from `sets` in turn.
pub(super) fn luns(
    raid: &Fields<'_>,
    sets: &[SetTopology],
    controllers: u32,
) -> Result<Vec<LunPlacement>, SpecError> {
    let count: u32 = raid.or("luns", narrow::<u32>(sets.len()))?;
    let wanted: Option<Bytes> = raid.unless_none("lun_size")?;
    let owner: Option<u32> = raid.unless_none("owner")?;
    if count == 0 || count > 4096 {
        return Err(raid.wrong("luns", "give 1 to 4096"));
    }
    if owner.is_some_and(|owner| owner >= controllers) {
        return Err(raid.wrong("owner", format!("controllers are numbered 0 to {}", controllers - 1)));
    }
    let many = narrow::<u32>(sets.len());
    let mut luns = Vec::with_capacity(count as usize);
    for lun in 0..count {
        let (set, nth) = (lun % many, lun / many);
        let on_this_set = count / many + u32::from(set < count % many);
        let whole = sets[set as usize].geometry.capacity().0;
        let part = whole / u64::from(on_this_set);
        let size = wanted.map_or(part, |size| size.get() / units::SECTOR_BYTES);
        if size == 0 || size > part {
            let most = Sectors(part).bytes();
            return Err(
                raid.wrong("lun_size", format!("{on_this_set} LUNs on a set have room for {most} each"))
            );
        }
        let start = Sectors(u64::from(nth) * part);
        debug_assert!(start.0 + size <= whole, "a volume must lie on its set");
        luns.push(LunPlacement {
            set,
            start,
            size: Sectors(size),
            owner: owner.unwrap_or(lun % controllers),
        });
    }
    Ok(luns)
}
