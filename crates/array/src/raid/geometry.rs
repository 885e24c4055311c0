//! The fixed shape of a RAID set: what lies where.
//!
//! The host's sectors are cut into *strips* of one chunk. A *row* is one strip of every member at the same member
//! address; in a nested or mirrored-and-striped set it spans all groups, each group filling its part of the row
//! before the next one starts.
//!
//! **Invariant:** every host sector below [`Geometry::capacity`] has exactly one data place, no two share one, and
//! no place lies beyond a member's end.

use units::convert::narrow;
use units::{Lba, Sectors};

use super::error::{GeometryError, PlanError};
use super::level::{Layout, Level, WriteRule};
use crate::divisor::Divisor;
use crate::parity::MAX_DATA_STRIPS;

/// What a user says about a set; [`Geometry::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct SetSpec {
    /// How members are combined.
    pub level: Level,
    /// Members that hold data or redundancy, hot spares not among them.
    pub members: u32,
    /// Hot spares.
    pub spares: u32,
    /// Groups of a nested set; 1 for every other level.
    pub groups: u32,
    /// What one member holds of a row. Ignored by JBOD and RAID 1, which do not stripe.
    pub chunk: Sectors,
    /// How parity rotates. Ignored where there is none.
    pub layout: Layout,
    /// Size of the smallest member. What does not fill a chunk at its end is not used.
    pub member_size: Sectors,
    /// How a partial stripe is written. Ignored where there is no parity.
    pub rule: WriteRule,
}

impl SetSpec {
    /// A set without spares, left-symmetric, writing with fewer reads, with two groups where the level is nested.
    pub fn new(level: Level, members: u32, chunk: Sectors, member_size: Sectors) -> SetSpec {
        SetSpec {
            level,
            members,
            spares: 0,
            groups: if level.is_nested() { 2 } else { 1 },
            chunk,
            layout: Layout::default(),
            member_size,
            rule: WriteRule::default(),
        }
    }
}

/// A checked set, prepared for planning.
///
/// Members are numbered from 0; hot spares follow them. In a nested set group 0 has the first members.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    spec: SetSpec,
    pub(super) kind: Kind,
    pub(super) chunk: u64,
    /// Members of one group.
    pub(super) width: u32,
    /// Data strips of one group in a row.
    pub(super) data: u32,
    groups: u32,
    rows: u64,
    capacity: Sectors,
    by_chunk: Divisor,
    by_columns: Divisor,
    by_data: Divisor,
    by_width: Divisor,
}

/// How a group keeps its redundancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// That many members with the same contents; 1 is none.
    Copies,
    /// Rows in pairs, the second a copy of the first shifted by one member.
    Shifted,
    /// That many rotating parity strips.
    Parity(u32),
}

/// Where the host's sector is, in strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub group: u32,
    pub row: u64,
    pub strip: u32,
    /// Sectors into the strip.
    pub offset: u64,
}

/// One row of one group with its parity placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// First member of the group.
    pub first: u32,
    /// Address of the row on each member.
    pub base: u64,
    pub group: u32,
    pub row: u64,
    p: u32,
}

/// Where one host sector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberSector {
    /// The member, as long as no spare has taken its slot.
    pub slot: u16,
    /// Address on the member.
    pub lba: Lba,
}

/// No address of a set or member reaches this; [`Divisor`] is exact below it.
const ADDRESS_LIMIT: u64 = 1 << 62;

impl Geometry {
    /// The set that `spec` describes, or what is impossible about it.
    pub fn new(spec: SetSpec) -> Result<Geometry, GeometryError> {
        super::check::counts(&spec)?;
        let (kind, groups, data) = shape(&spec);
        let width = spec.members / groups;
        super::check::sizes(&spec, matches!(kind, Kind::Shifted))?;
        let striped = !matches!(spec.level, Level::Jbod | Level::Raid1);
        // A set that does not stripe is one row as high as its members.
        let chunk = if striped { spec.chunk.0 } else { spec.member_size.0 };
        let copies_per_row = if kind == Kind::Shifted { 2 } else { 1 };
        let rows = spec.member_size.0 / (chunk * copies_per_row);
        let columns = u64::from(groups) * u64::from(data);
        let capacity = rows
            .checked_mul(chunk)
            .and_then(|sectors| sectors.checked_mul(columns))
            .filter(|&sectors| sectors < ADDRESS_LIMIT && spec.member_size.0 < ADDRESS_LIMIT)
            .ok_or(GeometryError::TooLarge { members: spec.members, member_size: spec.member_size })?;
        assert_eq!(groups * width, spec.members, "groups must divide the members evenly");
        assert!((1..=width).contains(&data), "a row of a group must have data strips, no more than members");
        assert!(rows > 0, "a member must hold at least one row");
        Ok(Geometry {
            kind,
            chunk,
            width,
            data,
            groups,
            rows,
            capacity: Sectors(capacity),
            by_chunk: Divisor::new(chunk),
            by_columns: Divisor::new(columns),
            by_data: Divisor::new(u64::from(data)),
            by_width: Divisor::new(u64::from(width)),
            spec,
        })
    }

    /// What was asked for.
    pub fn spec(&self) -> &SetSpec {
        &self.spec
    }

    /// Sectors that the host sees.
    pub fn capacity(&self) -> Sectors {
        self.capacity
    }

    /// Sectors of each member that are used.
    pub fn member_used(&self) -> Sectors {
        let height = if self.kind == Kind::Shifted { 2 } else { 1 };
        let used = Sectors(self.rows * self.chunk * height);
        debug_assert!(used <= self.spec.member_size, "no more of a member can be used than it has");
        used
    }

    /// Sectors of host data in a full row over all groups: writes that fill it read nothing.
    ///
    /// For JBOD and RAID 1, which do not stripe, the capacity.
    pub fn full_row(&self) -> Sectors {
        Sectors(self.by_columns.get() * self.chunk)
    }

    /// Sectors of host data in a full stripe of one group.
    pub fn full_stripe(&self) -> Sectors {
        Sectors(u64::from(self.data) * self.chunk)
    }

    /// Independent groups under the striping: pairs of a RAID 10, members of a RAID 0.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Members of one group.
    pub fn group_width(&self) -> u32 {
        self.width
    }

    /// The group that slot `slot` belongs to.
    pub fn group_of(&self, slot: u16) -> u32 {
        u32::from(slot) / self.width
    }

    /// Where the host's sector lies. With copies, its first one.
    ///
    /// For parity the formulas of Linux md, `raid5_compute_sector` in `drivers/md/raid5.c`: with `n` members and
    /// row `r`, left layouts put P on member `n - 1 - r mod n`, right ones on `r mod n`, and Q on the next one;
    /// symmetric layouts put data strip `d` that many members after the last parity strip, asymmetric ones on
    /// member `d`, counting past the parity strips.
    pub fn place(&self, lba: Lba) -> Result<MemberSector, PlanError> {
        self.check(lba, Sectors(1))?;
        Ok(self.place_of(self.spot(lba)))
    }

    #[inline]
    pub(super) fn place_of(&self, spot: Spot) -> MemberSector {
        let (slot, base) = match self.kind {
            Kind::Copies => (spot.group * self.width, spot.row * self.chunk),
            Kind::Shifted => (spot.strip, 2 * spot.row * self.chunk),
            Kind::Parity(_) => {
                let row = self.row(spot.group, spot.row);
                (self.data_slot(&row, spot.strip), row.base)
            }
        };
        debug_assert!(slot < self.spec.members, "a sector must lie on a member");
        debug_assert!(
            base + spot.offset < self.member_used().0,
            "a sector must lie on what is used of its member"
        );
        MemberSector { slot: narrow::<u16>(slot), lba: Lba(base + spot.offset) }
    }

    /// Addresses on the members, first and end, that a host request can touch.
    ///
    /// Exact for a request inside one strip; otherwise the whole rows.
    pub fn member_span(&self, lba: Lba, sectors: Sectors) -> (Lba, Lba) {
        let first = self.spot(lba);
        let last = self.spot(Lba(lba.0 + sectors.0.max(1) - 1));
        let height = if self.kind == Kind::Shifted { 2 * self.chunk } else { self.chunk };
        let same_strip = (first.group, first.row, first.strip) == (last.group, last.row, last.strip);
        if same_strip && self.kind != Kind::Shifted {
            let base = first.row * height;
            return (Lba(base + first.offset), Lba(base + last.offset + 1));
        }
        (Lba(first.row * height), Lba((last.row + 1) * height))
    }

    pub(super) fn check(&self, lba: Lba, sectors: Sectors) -> Result<(), PlanError> {
        match lba.0.checked_add(sectors.0) {
            Some(end) if end <= self.capacity.0 => Ok(()),
            _ => Err(PlanError::OutOfRange { lba, sectors, capacity: self.capacity }),
        }
    }

    #[inline]
    pub(super) fn spot(&self, lba: Lba) -> Spot {
        debug_assert!(lba.0 < ADDRESS_LIMIT, "the division must be exact for every address");
        let (strip, offset) = self.by_chunk.divide(lba.0);
        let (row, column) = self.by_columns.divide(strip);
        let (group, strip) = if self.groups == 1 { (0, column) } else { self.by_data.divide(column) };
        Spot { group: narrow::<u32>(group), row, strip: narrow::<u32>(strip), offset }
    }

    /// The start of the strip that follows in the host's order.
    #[inline]
    pub(super) fn next_strip(&self, spot: &mut Spot) {
        spot.offset = 0;
        spot.strip += 1;
        if spot.strip == self.data {
            spot.strip = 0;
            spot.group += 1;
            if spot.group == self.groups {
                spot.group = 0;
                spot.row += 1;
            }
        }
    }

    /// A row of a parity group.
    #[inline]
    pub(super) fn row(&self, group: u32, row: u64) -> Row {
        debug_assert!(group < self.groups, "the set must have the group");
        let turn = narrow::<u32>(self.by_width.divide(row).1);
        let p = if self.spec.layout.is_left() { self.width - 1 - turn } else { turn };
        Row { first: group * self.width, base: row * self.chunk, group, row, p }
    }

    /// Slot of data strip `strip`.
    #[inline]
    pub(super) fn data_slot(&self, row: &Row, strip: u32) -> u32 {
        debug_assert!(strip < self.data, "a row must have the data strip");
        let parity = self.width - self.data;
        let at = if self.spec.layout.is_symmetric() {
            wrap(row.p + parity + strip, self.width)
        } else if row.p + parity > self.width {
            // P on the last member and Q on the first: data starts after Q.
            strip + 1
        } else if strip >= row.p {
            strip + parity
        } else {
            strip
        };
        debug_assert!(at < self.width, "a strip must lie on a member of its group");
        debug_assert_ne!(at, row.p, "data must not lie where P does");
        row.first + at
    }

    /// Slot of P.
    #[inline]
    pub(super) fn p_slot(&self, row: &Row) -> u32 {
        row.first + row.p
    }

    /// Slot of Q, the member after P. Only where there are two parity strips.
    #[inline]
    pub(super) fn q_slot(&self, row: &Row) -> u32 {
        row.first + wrap(row.p + 1, self.width)
    }

    /// Which power of the generator weighs data strip `strip` in Q: members are counted from the one after Q.
    ///
    /// The order of Linux md (`raid6_d0` and `raid6_idx_to_slot`); in symmetric layouts, and where there is no Q,
    /// it is `strip` itself.
    pub(super) fn power(&self, row: &Row, strip: u32) -> u32 {
        if self.spec.layout.is_symmetric() || self.kind != Kind::Parity(2) {
            return strip;
        }
        let member = self.data_slot(row, strip) - row.first;
        let after_q = wrap(row.p + 2, self.width);
        let power = wrap(member + self.width - after_q, self.width);
        debug_assert!(power < self.data, "each data strip must have a weight of its own");
        power
    }
}

#[inline]
const fn wrap(at: u32, width: u32) -> u32 {
    if at >= width { at - width } else { at }
}

/// Kind, groups, and data strips of a group in a row.
fn shape(spec: &SetSpec) -> (Kind, u32, u32) {
    match spec.level {
        Level::Jbod | Level::Raid0 => (Kind::Copies, spec.members, 1),
        Level::Raid1 => (Kind::Copies, 1, 1),
        Level::Raid10 => (Kind::Copies, spec.members / 2, 1),
        Level::Raid1E => (Kind::Shifted, 1, spec.members),
        Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
            let parity = spec.level.parity();
            (Kind::Parity(parity), spec.groups, spec.members / spec.groups - parity)
        }
    }
}

/// Most members of one group of a level with two parity strips.
#[expect(clippy::cast_possible_truncation, reason = "a constant, which converts by `as`: 255")]
pub(super) const MOST_WITH_Q: u32 = MAX_DATA_STRIPS as u32 + 2;
