//! What of a topology the data depend on: disks, sets, LUNs, and how hosts reach them.

use array::device::DeviceParams;
use array::raid::{Geometry, SetSpec};
use array::sim::{LunPlacement, Topology};
use units::convert::narrow;

use super::FrontShape;

/// What of a topology the data depend on.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The array's address in the library.
    pub name: String,
    /// Sectors of the disk in each bay.
    pub bays: Vec<u64>,
    /// The sets.
    pub sets: Vec<SetShape>,
    /// Bays of the hot spares.
    pub spares: Vec<u32>,
    /// The LUNs.
    pub luns: Vec<Lun>,
    /// Whether some of the disks rotate.
    pub is_rotating: bool,
    /// Bytes that the controllers' write-back caches have room for; 0 where there is none.
    pub cache: u64,
    /// Controllers and paths.
    pub front: FrontShape,
}

/// A set.
#[derive(Clone, Debug)]
pub struct SetShape {
    /// With every other bay as a possible spare.
    pub geometry: Geometry,
    /// The bay of each member and of each possible spare.
    pub bays: Vec<u32>,
}

/// A LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lun {
    /// Its set.
    pub set: u32,
    /// Its first sector there.
    pub start: u64,
    /// Its sectors.
    pub sectors: u64,
    /// The controller that it belongs to.
    pub owner: u32,
}

impl Shape {
    /// That of `topology`; `Err` where a set has more disks beside it than can be numbered.
    pub fn of(name: &str, topology: &Topology) -> Result<Shape, array::raid::GeometryError> {
        // A disk in no set is as large as the largest member, so that it can stand in for any.
        let sizes = topology.sets.iter().map(|set| set.geometry.spec().member_size.0);
        let mut bays = vec![sizes.max().unwrap_or(0); topology.disks.len()];
        for set in &topology.sets {
            for &bay in &set.members {
                bays[bay as usize] = set.geometry.spec().member_size.0;
            }
        }
        let mut sets = Vec::new();
        for set in &topology.sets {
            let own = set.geometry.spec();
            let others = (0..narrow::<u32>(bays.len())).filter(|bay| {
                !set.members.contains(bay) && bays[*bay as usize] >= set.geometry.member_used().0
            });
            let all: Vec<u32> = set.members.iter().copied().chain(others).collect();
            assert!(all.len() >= own.members as usize, "each member has a bay");
            debug_assert!(
                all.iter().all(|bay| (*bay as usize) < bays.len()),
                "members are in bays that there are"
            );
            let spares = narrow::<u32>(all.len()) - own.members;
            let geometry = Geometry::new(SetSpec { spares, ..own.clone() })?;
            sets.push(SetShape { geometry, bays: all });
        }
        let luns = topology.luns.iter();
        let of = |lun: &LunPlacement| Lun {
            set: lun.set,
            start: lun.start.0,
            sectors: lun.size.0,
            owner: lun.owner,
        };
        let luns = luns.map(of).collect();
        let is_rotating = topology.models.iter().any(|model| matches!(model, DeviceParams::Rotating(_)));
        let write_back = topology.controller.cache.as_ref().filter(|cache| cache.write_back);
        let room = write_back.map_or(0, |cache| cache.write_room().get());
        let cache = room * u64::from(topology.controllers.max(1));
        let front = FrontShape {
            controllers: topology.controllers.max(1),
            links: if topology.link.is_some() { topology.links.max(1) } else { 0 },
            is_mirrored: write_back.is_some_and(|cache| cache.mirrored) && topology.controllers > 1,
        };
        let (name, spares) = (name.to_owned(), topology.spares.clone());
        Ok(Shape { name, bays, sets, spares, luns, is_rotating, cache, front })
    }

    /// Groups of all sets together.
    pub(super) fn groups(&self) -> usize {
        self.sets.iter().map(|set| set.geometry.groups() as usize).sum()
    }

    /// Slots of all sets together.
    pub(super) fn slots(&self) -> usize {
        self.sets.iter().map(|set| set.geometry.spec().members as usize).sum()
    }

    /// In one line, all that must be the same for data to make sense.
    pub(super) fn text(&self) -> String {
        let set = |set: &SetShape| {
            let SetSpec { level, members, groups, chunk, layout, .. } = set.geometry.spec();
            let used = set.geometry.member_used();
            let bays = &set.bays[..*members as usize];
            format!("{level} of bays {bays:?} in {groups} groups, chunk {chunk:?}, {layout}, {used:?} used")
        };
        let lun = |lun: &Lun| format!("LUN of {} sectors of set {} from {}", lun.sectors, lun.set, lun.start);
        let all: Vec<String> = self.sets.iter().map(set).chain(self.luns.iter().map(lun)).collect();
        all.join("; ")
    }
}
