//! What a simulation is made of: every part with its figures, and how they hang together.

use units::{Bytes, Nanos, SECTOR_BYTES, Sectors};

use crate::background::BackgroundParams;
use crate::controller::ControllerParams;
use crate::device::DeviceParams;
use crate::host::{HostParams, StripeParams};
use crate::link::LinkParams;
use crate::protocol::{ProtocolKind, ProtocolParams};
use crate::raid::Geometry;

/// Every part of an array and its hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Hosts, all alike; at least one.
    pub hosts: u32,
    /// Each of them.
    pub host: HostParams,
    /// Links to each controller; at least one.
    pub links: u32,
    /// Each of them; `None` for hosts that hold the devices themselves.
    pub link: Option<LinkParams>,
    /// Adapters in each host, over which the links are spread evenly; `None` where they limit nothing.
    pub adapter: Option<(u32, LinkParams)>,
    /// What is spoken over the links.
    pub protocol: ProtocolParams,
    /// Controllers, 1 or 2.
    pub controllers: u32,
    /// Each of them.
    pub controller: ControllerParams,
    /// Back-end channels, and each of them; disk `d` hangs on channel `d mod channels`.
    pub channel: Option<(u32, LinkParams)>,
    /// Models of devices.
    pub models: Vec<DeviceParams>,
    /// The model of each disk.
    pub disks: Vec<u32>,
    /// RAID sets.
    pub sets: Vec<SetTopology>,
    /// Hot spares by disk number; any set may use them.
    pub spares: Vec<u32>,
    /// Disks that have failed before the start.
    pub failed: Vec<u32>,
    /// Volumes.
    pub luns: Vec<LunPlacement>,
    /// What each kind of background work does.
    pub background: Vec<BackgroundParams>,
}

impl Topology {
    /// Sizes of what a job can use: the LUNs, or where the hosts stripe a volume over some of them, that volume and
    /// then the other LUNs.
    pub fn lun_sizes(&self) -> Vec<Bytes> {
        let sizes = self.luns.iter().map(LunPlacement::bytes);
        let Some(StripeParams { luns, .. }) = self.host.stripe else { return sizes.collect() };
        let all: Vec<Bytes> = sizes.collect();
        let (striped, others) = all.split_at((luns as usize).clamp(1, all.len()));
        let smallest = striped.iter().copied().min().unwrap_or(Bytes::ZERO);
        std::iter::once(smallest * striped.len() as u64).chain(others.iter().copied()).collect()
    }

    /// Holds the numbers by which its parts refer to each other against what there is: an error of whoever made it.
    pub fn assert_whole(&self) {
        let controllers = self.controllers.max(1);
        assert!(
            self.disks.iter().all(|&model| (model as usize) < self.models.len()),
            "every disk must have a model",
        );
        let (disks, members) = (self.disks.len(), self.sets.iter().flat_map(|set| &set.members));
        assert!(
            members.chain(&self.spares).all(|&disk| (disk as usize) < disks),
            "every member and every spare must be one of the disks",
        );
        assert!(
            self.luns.iter().all(|lun| (lun.set as usize) < self.sets.len()),
            "every volume must lie on one of the sets",
        );
        assert!(
            self.luns.iter().all(|lun| lun.owner < controllers),
            "every volume must be owned by one of the controllers",
        );
    }

    /// What a drive may lose of writes that were acknowledged and flushed, at most, where the array does not pass flushes on to drives that
    /// acknowledge writes from memory without protection; `None` where it does, and where they have no such memory.
    pub fn volatile_behind_flush(&self) -> Option<Bytes> {
        let members = self.sets.iter().flat_map(|set| &set.members);
        let models = members.filter_map(|disk| self.models.get(*self.disks.get(*disk as usize)? as usize));
        let most = models.map(DeviceParams::volatile_buffer).max()?;
        (!self.controller.flush_members && !most.is_zero()).then_some(most)
    }

    /// Members of which their sets use no more than a part, with what is left over of each: a set uses as much of each member as of the
    /// smallest. What is less than a hundredth is left out, as rows end where chunks do.
    pub fn unused_of_members(&self) -> Vec<(u32, Bytes)> {
        let left = |set: &SetTopology, disk: u32| {
            let model = self.models.get(*self.disks.get(disk as usize)? as usize)?;
            let (size, used) = (model.capacity()?, set.geometry.member_used().bytes());
            let unused = size.saturating_sub(used);
            (unused.get() > size.get() / 100).then_some((disk, unused))
        };
        self.sets.iter().flat_map(|set| set.members.iter().filter_map(move |disk| left(set, *disk))).collect()
    }

    /// Sessions of a host at all controllers; one at each where nothing is a session.
    pub fn sessions(&self) -> u32 {
        self.protocol.pinned().unwrap_or(1) * self.controllers.max(1)
    }

    /// Whether data only pass through the controllers on their way between members and links, as those of a drive on its own port, a
    /// plain adapter and a host's own layer of volumes do: there is no cache to have all of them in first, no processor moves
    /// them, and no network brings messages, each of which is there whole first.
    pub fn passes_through(&self) -> bool {
        let ControllerParams { cache, copy, .. } = &self.controller;
        cache.is_none() && copy.is_none() && self.protocol.kind == ProtocolKind::Block
    }

    /// Whether a request that its LUN admits is at the one controller as soon as the host is done with it, and its
    /// answer at the host: no link, no way to choose, nothing spoken that takes time or limits anything.
    pub fn is_direct(&self) -> bool {
        let ProtocolParams { kind, outstanding, hop, hops, client, .. } = &self.protocol;
        let costs = *hop * u64::from(*hops) + *client;
        let admitted = u64::from(self.host.lun_depth.max(1)) * self.luns.len() as u64;
        let is_alone = self.controllers <= 1 && self.controller.accepts.is_none();
        let has_a_way = self.link.is_some() || self.adapter.is_some() || *kind != ProtocolKind::Block;
        is_alone && !has_a_way && costs.is_zero() && admitted <= u64::from(*outstanding)
    }
}

/// A RAID set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetTopology {
    /// Disk numbers, in the order of the geometry's slots.
    pub members: Vec<u32>,
    /// What lies where.
    pub geometry: Geometry,
    /// The write-intent bitmap on its members; `None`: there is none. A level that keeps nothing twice has none in any case.
    pub bitmap: Option<BitmapParams>,
    /// Which copy is read.
    pub balance: ReadBalance,
}

/// Which of several copies a read goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBalance {
    /// The one with the fewest commands before it, then the one whose arm is nearer, then each in turn.
    Least,
    /// The one whose last command ended where the read begins, so that a stream stays with one drive; else as [`Least`](Self::Least).
    ///
    /// Linux md: `read_balance` of `drivers/md/raid1.c` and `raid10.c`, of drives that name no optimal I/O size.
    Streams,
}

impl SetTopology {
    /// Whether it keeps a bitmap: it has one, and copies or parity that may differ from the data.
    pub fn keeps_bitmap(&self) -> bool {
        let level = self.geometry.spec().level;
        self.bitmap.is_some() && (level.parity() > 0 || level.is_mirrored())
    }
}

/// A write-intent bitmap: which regions of a set may differ between its members, noted on them before they do.
///
/// Linux md's (`man md`, "BITMAP WRITE-INTENT LOGGING"), which LVM's RAID goes through as well (lvmraid(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitmapParams {
    /// Bytes that one bit stands for: of each member where there is parity, of the set where there are copies.
    pub region: Bytes,
    /// How often bits are looked at that nobody writes under any more. The second look clears them.
    pub sleep: Nanos,
}

impl BitmapParams {
    /// The smallest region on members of `member` sectors: of more than 2^21 bits dm-raid makes none (`validate_region_size`
    /// in `drivers/md/dm-raid.c`), and no array here.
    pub fn least_region(member: Sectors) -> Bytes {
        const MOST: u64 = 1 << 21;
        Bytes::new(member.0.div_ceil(MOST) * SECTOR_BYTES)
    }
}

/// A volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LunPlacement {
    /// By its number, from 0.
    pub set: u32,
    /// First sector on the set.
    pub start: Sectors,
    /// Of the LUN.
    pub size: Sectors,
    /// The controller that owns it.
    pub owner: u32,
}

impl LunPlacement {
    /// Its size in bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.size.0 * SECTOR_BYTES)
    }
}
