//! What makes a set impossible, said before anything is planned on it.

use units::Sectors;

use super::error::GeometryError;
use super::geometry::{MOST_WITH_Q, SetSpec};
use super::level::Level;

/// Members are numbered in 16 bits, spares among them.
const MOST_MEMBERS: u32 = 1 << 15;

/// Whether members and groups are enough, even and not too many.
pub(super) fn counts(spec: &SetSpec) -> Result<(), GeometryError> {
    let SetSpec { level, members, groups, .. } = *spec;
    if members.saturating_add(spec.spares) > MOST_MEMBERS {
        return Err(GeometryError::TooManyMembers { level, members, most: MOST_MEMBERS });
    }
    if level.is_nested() {
        return nested(spec);
    }
    if groups != 1 {
        return Err(GeometryError::NotNested { level, groups });
    }
    let least = level.least_members();
    if members < least {
        return Err(GeometryError::TooFewMembers { level, members, least });
    }
    if level == Level::Raid10 && !members.is_multiple_of(2) {
        return Err(GeometryError::OddMembers { members });
    }
    width(spec, members)
}

fn nested(spec: &SetSpec) -> Result<(), GeometryError> {
    let SetSpec { level, members, groups, .. } = *spec;
    let least = level.least_members();
    if groups < 2 {
        return Err(GeometryError::TooFewGroups { level, groups });
    }
    if !members.is_multiple_of(groups) {
        return Err(GeometryError::UnevenGroups { level, members, groups });
    }
    if members / groups < least {
        return Err(GeometryError::GroupTooSmall { level, members, groups, least });
    }
    width(spec, members / groups)
}

fn width(spec: &SetSpec, width: u32) -> Result<(), GeometryError> {
    if spec.level.parity() == 2 && width > MOST_WITH_Q {
        return Err(GeometryError::TooManyMembers { level: spec.level, members: width, most: MOST_WITH_Q });
    }
    Ok(())
}

/// Whether the chunk suits the level and a member holds at least one (two where `paired` rows are copied).
pub(super) fn sizes(spec: &SetSpec, paired: bool) -> Result<(), GeometryError> {
    let SetSpec { level, chunk, member_size, .. } = *spec;
    if matches!(level, Level::Jbod | Level::Raid1) {
        return match member_size.0 {
            0 => Err(GeometryError::MemberTooSmall { level, member_size, least: Sectors(1) }),
            _ => Ok(()),
        };
    }
    if chunk.0 == 0 {
        return Err(GeometryError::NoChunk { level });
    }
    if level.parity() > 0 && !chunk.0.is_power_of_two() {
        let above = Sectors(chunk.0.checked_next_power_of_two().unwrap_or(1 << 63));
        return Err(GeometryError::ChunkNoPowerOfTwo { level, chunk, below: Sectors(above.0 / 2), above });
    }
    let least = chunk.0.checked_mul(if paired { 2 } else { 1 });
    match least {
        Some(least) if member_size.0 >= least => Ok(()),
        least => {
            let least = Sectors(least.unwrap_or(u64::MAX));
            Err(GeometryError::MemberTooSmall { level, member_size, least })
        }
    }
}
