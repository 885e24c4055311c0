//! RAID levels, parity layouts and the choice between the two ways of a partial write.

use std::fmt;
use std::str::FromStr;

use units::Share;

/// How members are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Members one after the other, without redundancy.
    Jbod,
    /// Striped, without redundancy.
    Raid0,
    /// Every member holds everything.
    Raid1,
    /// Two copies striped over any number of members from three.
    ///
    /// Each row of chunks is followed by the same row shifted by one member (IBM ServeRAID's "RAID level 1E").
    Raid1E,
    /// Striped over mirrored pairs: members 0 and 1, 2 and 3, and so on.
    Raid10,
    /// Striped with one rotating parity strip.
    Raid5,
    /// Striped with two rotating parity strips.
    Raid6,
    /// Striped over RAID 5 groups.
    Raid50,
    /// Striped over RAID 6 groups.
    Raid60,
}

/// Every level, in the order of the documentation.
pub const LEVELS: [Level; 9] = [
    Level::Jbod,
    Level::Raid0,
    Level::Raid1,
    Level::Raid1E,
    Level::Raid10,
    Level::Raid5,
    Level::Raid6,
    Level::Raid50,
    Level::Raid60,
];

impl Level {
    /// Parity strips in a stripe of one group: 0, 1 or 2.
    pub const fn parity(self) -> u32 {
        match self {
            Level::Raid5 | Level::Raid50 => 1,
            Level::Raid6 | Level::Raid60 => 2,
            _ => 0,
        }
    }

    /// Whether the set holds everything at least twice.
    pub const fn is_mirrored(self) -> bool {
        matches!(self, Level::Raid1 | Level::Raid1E | Level::Raid10)
    }

    /// Whether the set is made of groups that the user counts.
    pub const fn is_nested(self) -> bool {
        matches!(self, Level::Raid50 | Level::Raid60)
    }

    /// Fewest members of the set, or of one group of a nested set.
    pub const fn least_members(self) -> u32 {
        match self {
            Level::Jbod | Level::Raid0 => 1,
            Level::Raid1 => 2,
            Level::Raid1E | Level::Raid5 | Level::Raid50 => 3,
            Level::Raid10 | Level::Raid6 | Level::Raid60 => 4,
        }
    }

    /// Members that can be lost wherever they are, given the members of the set.
    ///
    /// Mirrored and nested sets survive some larger losses too.
    pub const fn survives(self, members: u32) -> u32 {
        match self {
            Level::Raid1 => members - 1,
            Level::Raid1E | Level::Raid10 => 1,
            _ => self.parity(),
        }
    }

    /// The name that [`FromStr`] reads: `jbod`, `0`, `1`, `1e`, `10`, `5`, `6`, `50`, `60`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Jbod => "jbod",
            Level::Raid0 => "0",
            Level::Raid1 => "1",
            Level::Raid1E => "1e",
            Level::Raid10 => "10",
            Level::Raid5 => "5",
            Level::Raid6 => "6",
            Level::Raid50 => "50",
            Level::Raid60 => "60",
        }
    }
}

impl fmt::Display for Level {
    /// `RAID 5`, `RAID 1E`, `JBOD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Jbod => f.pad("JBOD"),
            Level::Raid1E => f.pad("RAID 1E"),
            _ => f.pad(&format!("RAID {}", self.name())),
        }
    }
}

/// A word that names no level, layout or write rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}; write one of {known}")]
pub struct UnknownName {
    /// What was written.
    pub text: String,
    /// What it should have named.
    pub what: &'static str,
    /// What would be right.
    pub known: &'static str,
}

impl FromStr for Level {
    type Err = UnknownName;

    /// Reads the names of [`Level::name`], in any case, with or without `raid` before them.
    fn from_str(text: &str) -> Result<Level, UnknownName> {
        let lower = text.trim().to_ascii_lowercase();
        let name = lower.strip_prefix("raid").unwrap_or(&lower).trim_start_matches([' ', '-']);
        LEVELS.into_iter().find(|level| level.name() == name).ok_or_else(|| UnknownName {
            text: text.into(),
            what: "RAID level",
            known: "jbod, 0, 1, 1e, 10, 5, 6, 50, 60",
        })
    }
}

/// How parity rotates over the members of a group and where data continues.
///
/// The names and the formulas are those of Linux md (`drivers/md/raid5.c`, `raid5_compute_sector`); see
/// [`Geometry::place`](super::Geometry::place).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Parity moves from the last member down; data starts after parity and wraps. The default of md.
    #[default]
    LeftSymmetric,
    /// Parity moves from the last member down; data starts at the first member and steps over parity.
    LeftAsymmetric,
    /// Parity moves from the first member up; data starts after parity and wraps.
    RightSymmetric,
    /// Parity moves from the first member up; data starts at the first member and steps over parity.
    RightAsymmetric,
}

/// Every layout.
pub const LAYOUTS: [Layout; 4] =
    [Layout::LeftSymmetric, Layout::LeftAsymmetric, Layout::RightSymmetric, Layout::RightAsymmetric];

impl Layout {
    pub(super) const fn is_left(self) -> bool {
        matches!(self, Layout::LeftSymmetric | Layout::LeftAsymmetric)
    }

    pub(super) const fn is_symmetric(self) -> bool {
        matches!(self, Layout::LeftSymmetric | Layout::RightSymmetric)
    }

    /// The name that [`FromStr`] reads: `left-symmetric` and so on.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::LeftSymmetric => "left-symmetric",
            Layout::LeftAsymmetric => "left-asymmetric",
            Layout::RightSymmetric => "right-symmetric",
            Layout::RightAsymmetric => "right-asymmetric",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Layout {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Layout, UnknownName> {
        LAYOUTS.into_iter().find(|layout| layout.name() == text.trim()).ok_or_else(|| UnknownName {
            text: text.into(),
            what: "parity layout",
            known: "left-symmetric, left-asymmetric, right-symmetric, right-asymmetric",
        })
    }
}

/// How a write that covers a part of a stripe gets its new parity.
///
/// *Read-modify-write* reads the old contents of what is written and the old parity; *reconstruct-write* reads the
/// rest of the stripe. Where only one of them is possible (a lost member, parity not yet built) it is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WriteRule {
    /// The one with fewer reads; at a tie reconstruct-write.
    ///
    /// Source: Linux md, `handle_stripe_dirtying` with `rmw_level` 1.
    #[default]
    FewerReads,
    /// The one with fewer reads; at a tie read-modify-write. Source: as above with `rmw_level` 2.
    PreferModify,
    /// Always reconstruct-write. Source: as above with `rmw_level` 0, md's rule for RAID 6 on processors without a
    /// fast syndrome update.
    Reconstruct,
    /// Read-modify-write where the strips written are fewer than this share of the data strips of the stripe.
    ///
    /// Source: DiskSim 4.0 reference manual, "RMW threshold".
    ModifyBelow(Share),
}

impl WriteRule {
    /// Whether to read-modify-write, given the member reads of both ways and the strips touched.
    pub(super) fn modifies(self, modify_reads: u32, reconstruct_reads: u32, touched: u32, data: u32) -> bool {
        match self {
            WriteRule::FewerReads => modify_reads < reconstruct_reads,
            WriteRule::PreferModify => modify_reads <= reconstruct_reads,
            WriteRule::Reconstruct => false,
            WriteRule::ModifyBelow(share) => f64::from(touched) < share.get() * f64::from(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_layouts_read_the_names_they_print() {
        for level in LEVELS {
            assert_eq!(level.name().parse(), Ok(level));
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        for layout in LAYOUTS {
            assert_eq!(layout.to_string().parse(), Ok(layout));
        }
        assert_eq!("raid-50".parse(), Ok(Level::Raid50));
        let error = "7".parse::<Level>().unwrap_err().to_string();
        assert_eq!(error, "`7` is no RAID level; write one of jbod, 0, 1, 1e, 10, 5, 6, 50, 60");
    }

    #[test]
    fn levels_without_a_number_are_written_in_capitals() {
        assert_eq!((Level::Jbod.to_string(), Level::Raid1E.to_string()), ("JBOD".into(), "RAID 1E".into()));
    }

    #[test]
    fn a_level_survives_what_its_redundancy_covers_wherever_it_is_lost() {
        assert_eq!(LEVELS.map(|level| level.survives(8)), [0, 0, 7, 1, 1, 1, 2, 1, 2]);
    }

    #[test]
    fn the_rules_differ_at_a_tie_and_at_the_threshold() {
        let half = WriteRule::ModifyBelow(Share::new(0.5).unwrap());
        assert!(!WriteRule::FewerReads.modifies(3, 3, 2, 5));
        assert!(WriteRule::PreferModify.modifies(3, 3, 2, 5));
        assert!(!WriteRule::Reconstruct.modifies(2, 9, 1, 10));
        assert!(half.modifies(4, 4, 3, 7));
        assert!(!half.modifies(5, 3, 4, 8));
    }
}
