//! What is wrong with a set, a member or a request, with what would be right.

use units::{Lba, Sectors};

use super::level::Level;

/// Why a set cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// Fewer members than the level can work with.
    #[error("{level} of {members} disks is impossible: it needs at least {least}{}", fewer(*.level, *.members))]
    TooFewMembers {
        /// The level.
        level: Level,
        /// Members given.
        members: u32,
        /// Fewest that work.
        least: u32,
    },
    /// A RAID 10 that leaves one disk without a partner.
    #[error(
        "RAID 10 of {members} disks leaves one without a partner; give {} or {}, or use RAID 1E, which takes an odd number",
        .members - 1, .members + 1
    )]
    OddMembers {
        /// Members given.
        members: u32,
    },
    /// More members than can be numbered or told apart by Q.
    #[error(
        "{level} of {members} disks is impossible: at most {most} are supported; use more than one set or groups"
    )]
    TooManyMembers {
        /// The level.
        level: Level,
        /// Members given.
        members: u32,
        /// Most that work.
        most: u32,
    },
    /// Groups on a level without groups.
    #[error("{level} has no groups, {groups} were given; leave `groups` out, or use RAID 50 or RAID 60")]
    NotNested {
        /// The level.
        level: Level,
        /// Groups given.
        groups: u32,
    },
    /// A nested level with one group or none.
    #[error("{level} of {groups} groups stripes over nothing; give at least 2 groups, or use {}", plain(*.level))]
    TooFewGroups {
        /// The level.
        level: Level,
        /// Groups given.
        groups: u32,
    },
    /// Members that do not divide into the groups.
    #[error(
        "{level}: {members} disks do not make {groups} equal groups; give {} or {} disks",
        .members / .groups * .groups, (.members / .groups + 1) * .groups
    )]
    UnevenGroups {
        /// The level.
        level: Level,
        /// Members given.
        members: u32,
        /// Groups given.
        groups: u32,
    },
    /// Groups with too few members each.
    #[error(
        "{level} of {members} disks in {groups} groups is impossible: {} disks a group, at least {least} are needed; \
         give {} disks or fewer groups",
        .members / .groups, .least * .groups
    )]
    GroupTooSmall {
        /// The level.
        level: Level,
        /// Members given.
        members: u32,
        /// Groups given.
        groups: u32,
        /// Fewest members of a group.
        least: u32,
    },
    /// A chunk of nothing.
    #[error("{level} stripes, so its chunk cannot be 0; give at least 512B, commonly 64KiB")]
    NoChunk {
        /// The level.
        level: Level,
    },
    /// A chunk that a parity level cannot have.
    ///
    /// Stripe caches cut chunks into power-of-two pieces, so that a piece of parity never covers the end of one
    /// chunk and the start of the next: Linux md's `raid5.c` and the controllers modelled here refuse others.
    #[error(
        "{level} with a chunk of {} is impossible: levels with parity need a power of two; give {} or {}",
        .chunk.bytes(), .below.bytes().exact(), .above.bytes().exact()
    )]
    ChunkNoPowerOfTwo {
        /// The level.
        level: Level,
        /// Chunk given.
        chunk: Sectors,
        /// The next right one below.
        below: Sectors,
        /// The next right one above.
        above: Sectors,
    },
    /// A member that holds no whole chunk.
    #[error("{level}: a disk of {} holds no whole row; at least {} are needed", .member_size.bytes(), .least.bytes())]
    MemberTooSmall {
        /// The level.
        level: Level,
        /// Size given.
        member_size: Sectors,
        /// Smallest that works.
        least: Sectors,
    },
    /// More sectors than an address can count.
    #[error("{members} disks of {} sectors are more than can be addressed (2^62 sectors); give smaller disks", .member_size.0)]
    TooLarge {
        /// Members given.
        members: u32,
        /// Size given.
        member_size: Sectors,
    },
}

/// The level that would work with so few disks, as the end of a sentence.
fn fewer(level: Level, members: u32) -> &'static str {
    match (level, members) {
        (Level::Raid6, 3) => "; with 3 use RAID 5 or RAID 1E",
        (_, 2) => "; with 2 use RAID 1",
        (Level::Raid10, 3) => "; with 3 use RAID 1E",
        _ => "",
    }
}

fn plain(level: Level) -> Level {
    if level == Level::Raid60 { Level::Raid6 } else { Level::Raid5 }
}

/// Why a member cannot fail, be replaced or be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HealthError {
    /// A number that no disk has.
    #[error("there is no disk {member}: the set has disks 0 to {last}, hot spares among them")]
    NoSuchMember {
        /// Number given.
        member: u32,
        /// Highest number.
        last: u16,
    },
    /// A disk that is in use or waiting already.
    #[error("disk {member} is {state}; {advice}")]
    WrongState {
        /// The disk.
        member: u16,
        /// What it is now.
        state: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A disk that was pulled and put back with the set's old data on it.
    #[error(
        "disk {member} still carries data of this set from before it failed, which is out of date; clear it first"
    )]
    NotCleared {
        /// The disk.
        member: u16,
    },
    /// No disk to rebuild on.
    #[error(
        "disk {member} is lost and there is no hot spare; put it back, or insert a cleared or new one first"
    )]
    NoSpare {
        /// The failed disk.
        member: u16,
    },
}

/// Why a request cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A request that ends beyond the set.
    #[error("{} sectors at sector {} end beyond the set, which has {} sectors", .sectors.0, .lba.0, .capacity.0)]
    OutOfRange {
        /// Start of the request.
        lba: Lba,
        /// Its length.
        sectors: Sectors,
        /// Sectors of the set.
        capacity: Sectors,
    },
    /// More members are lost than the redundancy covers.
    #[error(
        "the data is lost: in group {group} of the {level} set more disks have failed than it survives; \
         restore from a backup"
    )]
    DataLost {
        /// The level.
        level: Level,
        /// The group.
        group: u32,
    },
    /// Background work on a set or member that it has no meaning for.
    #[error("cannot {task}: {reason}")]
    NothingToDo {
        /// The work, as a verb with its object.
        task: &'static str,
        /// Why not, and what would be right.
        reason: &'static str,
    },
}
