//! What of members, chunk and level the points identify, and how often such a statement was right.
//!
//! What a curve leaves of the rates at all distances goes back to the same few parts of the array, so that the distances
//! are not points of their own: as if they were, the next count would be 10^100 times less likely, and be the true one
//! now and then. A ratio of squares says how clearly points tell, and counting on arrays of known figures says how often
//! what is told so clearly is right; no share is stated that these are too few for.

use crate::concatenation::Concatenated;
use crate::geometry::{Geometry, Order};
use crate::model::Level;
use crate::parts::Parts;
use crate::refine::Explained;

/// How many statements of a kind were right on the arrays of the calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// True ones.
    pub right: u32,
    /// All.
    pub of: u32,
}

impl Counted {
    /// The part of such statements that is right at least, with 95 % confidence (Clopper and Pearson 1934).
    pub fn at_least(self) -> f64 {
        assert!(self.right <= self.of, "right in {} of {}", self.right, self.of);
        stats::exceedance::binomial_bounds(u64::from(self.right), u64::from(self.of), 0.95).low
    }

    /// How often such an identification was right, and what follows from so many.
    pub fn words(self) -> String {
        let Counted { right, of } = self;
        let least = self.at_least() * 100.0;
        match of < FEWEST {
            true => format!(
                "right in {right} of {of} arrays of known figures that showed it so, too few to say how often"
            ),
            false => format!(
                "right in {right} of {of} arrays of known figures that showed it as clearly, so in {least:.0} % of such \
                 at least (95 % confidence)"
            ),
        }
    }
}

/// Of fewer arrays nothing is said about others.
const FEWEST: u32 = 10;

/// What a statement rests on, with what was counted on the arrays of the calibration: `benches/RESULTS.md`,
/// "Calibration of statements", and the test that computes it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// The count of members, by distances of which only this count explains the rates.
    Members,
    /// The count of members, by reads of all sizes alone, of counts that explain the distances alike.
    MembersBySize,
    /// The chunk, by what told the members.
    Chunk,
    /// RAID 6, by the member that each row passes over.
    Skipped,
    /// RAID 0 or 5, by writes.
    Writes,
}

impl Ground {
    /// Every one.
    pub const ALL: [Ground; 5] =
        [Ground::Members, Ground::MembersBySize, Ground::Chunk, Ground::Skipped, Ground::Writes];

    /// What was counted.
    pub fn counted(self) -> Counted {
        let (right, of) = match self {
            Ground::Members => (34, 34),
            Ground::MembersBySize => (3, 3),
            Ground::Chunk => (37, 37),
            Ground::Skipped => (6, 6),
            Ground::Writes => (1, 1),
        };
        Counted { right, of }
    }
}

/// Something that the points identify.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identification<T> {
    /// What it is.
    pub value: T,
    /// By what.
    pub ground: Ground,
    /// So many times the squares that it leaves are left by the next.
    pub clearness: f64,
}

/// Why something is not identified.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown {
    /// Too few distances were measured below what the way there lets pass.
    Unmeasured,
    /// Members lie one after the other.
    Concatenated(Concatenated),
    /// No distance is slower than another.
    AllAlike,
    /// Several do about as well.
    Open,
    /// Nothing was written that tells.
    Unwritten,
}

/// What is identified, and why something is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// Members that data are spread over, a mirrored pair counted as one.
    pub members: Result<Identification<u32>, Unknown>,
    /// Bytes on one before the next.
    pub chunk: Result<Identification<u64>, Unknown>,
    /// How they are combined.
    pub level: Result<Identification<Level>, Unknown>,
}

/// What the next best explanation leaves at least, in squares of what the best one leaves, for the best to be stated.
pub const CLEAR: f64 = 2.0;

/// What `parts` and the levels that were `tried` identify.
pub fn of(parts: &Parts, level: Level, tried: &[Explained]) -> Identified {
    let layout = layout(parts.geometry.as_ref(), parts.concatenated);
    let (members, chunk) = match &layout {
        Ok((members, chunk)) => (Ok(*members), chunk.clone()),
        Err(why) => (Err(why.clone()), Err(why.clone())),
    };
    let level = match (&layout, &parts.geometry) {
        (Err(Unknown::Concatenated(found)), _) => Err(Unknown::Concatenated(*found)),
        (_, Some(geometry)) if geometry.order == Order::Skipping => skipped(geometry, &layout),
        _ => by_writes(level, tried),
    };
    Identified { members, chunk, level }
}

/// The same of levels by writes: of a mirror on the calibration's list RAID 5 leaves a sixth of what RAID 0 leaves.
pub const LEVEL_CLEAR: f64 = 10.0;

/// Writes that are farther off than this are described by no level that was tried.
pub const NEAR: f64 = 0.5;

type Layout = Result<(Identification<u32>, Result<Identification<u64>, Unknown>), Unknown>;

/// Members and chunk by distances, or by sizes where these leave them open.
pub fn layout(geometry: Option<&Geometry>, concatenated: Option<Concatenated>) -> Layout {
    if let Some(found) = concatenated {
        return Err(Unknown::Concatenated(found));
    }
    let geometry = geometry.ok_or(Unknown::Unmeasured)?;
    let chunk = geometry.chunk.ok_or(Unknown::AllAlike)?;
    let (ground, clearness) = match geometry.by_size {
        Some((own, next)) => (Ground::MembersBySize, (next / own.max(LEAST_OFF)).powi(2)),
        None => (Ground::Members, geometry.clearness()),
    };
    if clearness < CLEAR {
        return Err(Unknown::Open);
    }
    let told = Identification { value: geometry.members, ground, clearness };
    let chunk = match geometry.also {
        Some(_) => Err(Unknown::Open),
        None => Ok(Identification { value: chunk, ground: Ground::Chunk, clearness }),
    };
    Ok((told, chunk))
}

/// No model is nearer than this to times of reads, as a part of them.
const LEAST_OFF: f64 = 0.01;

fn skipped(geometry: &Geometry, layout: &Layout) -> Result<Identification<Level>, Unknown> {
    let (members, _) = layout.as_ref().map_err(Clone::clone)?;
    match geometry.also {
        Some((Order::InTurn, _)) => Err(Unknown::Open),
        _ => {
            Ok(Identification { value: Level::Raid6, ground: Ground::Skipped, clearness: members.clearness })
        }
    }
}

/// By how badly writes are explained with parity and without.
fn by_writes(level: Level, tried: &[Explained]) -> Result<Identification<Level>, Unknown> {
    let own = tried.iter().find(|tried| tried.level == level).ok_or(Unknown::Unwritten)?;
    let others = tried.iter().filter(|tried| tried.level != level);
    let next = others.map(|tried| tried.off).min_by(f64::total_cmp).ok_or(Unknown::Unwritten)?;
    let clearness = (next / own.off.max(LEAST_OFF)).powi(2);
    if clearness < LEVEL_CLEAR || own.off > NEAR {
        return Err(Unknown::Open);
    }
    Ok(Identification { value: level, ground: Ground::Writes, clearness })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(members: u32, others: &[(u32, f64)]) -> Geometry {
        Geometry {
            order: Order::InTurn,
            members,
            chunk: (members > 1).then_some(65_536),
            also: None,
            others: others.to_vec(),
            alike: vec![(Order::InTurn, members, 65_536)],
            by_size: None,
            distances: 119,
        }
    }

    #[test]
    fn a_count_is_stated_where_the_next_leaves_several_times_the_squares_and_no_more_surely_than_was_counted()
    {
        let (members, chunk) = layout(Some(&geometry(8, &[(16, 151.0)])), None).expect("told");
        assert_eq!((members.value, members.ground), (8, Ground::Members));
        assert!(chunk.is_ok());
        let words = members.ground.counted().words();
        assert!(words.contains("95 % confidence"), "{words}");
        assert!(
            Ground::ALL.iter().all(|ground| ground.counted().at_least() < 0.97),
            "no more than arrays support"
        );
    }

    /// Six sets of ten: the rates are explained best by twenty members, as if every distance were a point of its own
    /// 10^5 times better than by ten.
    #[test]
    fn a_count_that_is_hardly_better_than_the_next_is_not_identified() {
        assert_eq!(layout(Some(&geometry(20, &[(10, 24.0), (2, 26.0)])), None), Err(Unknown::Open));
    }

    #[test]
    fn one_member_is_never_stated_because_all_distances_are_alike() {
        assert_eq!(layout(Some(&geometry(1, &[(2, f64::INFINITY)])), None), Err(Unknown::AllAlike));
    }

    #[test]
    fn members_that_lie_one_after_the_other_are_not_counted() {
        let found = Concatenated { part: 0.12, rate: 0.13, depth: 256.0 };
        let clear = geometry(12, &[(15, 205.0)]);
        assert_eq!(layout(Some(&clear), Some(found)), Err(Unknown::Concatenated(found)));
        let alone = geometry(1, &[(2, f64::INFINITY)]);
        assert_eq!(layout(Some(&alone), Some(found)), Err(Unknown::Concatenated(found)));
    }

    fn tried(plain: f64, parity: f64) -> [Explained; 2] {
        [Explained { level: Level::Raid0, off: plain }, Explained { level: Level::Raid5, off: parity }]
    }

    #[test]
    fn a_level_is_stated_where_writes_are_near_with_it_and_far_without() {
        let told = |level, plain, parity| by_writes(level, &tried(plain, parity)).map(|told| told.value);
        assert_eq!(told(Level::Raid5, 1.78, 0.19), Ok(Level::Raid5));
        assert_eq!(told(Level::Raid0, 0.32, 0.35), Err(Unknown::Open), "both about as well");
        assert_eq!(told(Level::Raid5, 0.17, 0.07), Err(Unknown::Open), "a mirror of md3000");
        assert_eq!(told(Level::Raid0, 3.0, 6.0), Err(Unknown::Open), "neither describes them");
        assert_eq!(by_writes(Level::Raid0, &tried(0.1, 0.5)[..1]), Err(Unknown::Unwritten));
    }

    #[test]
    fn what_was_counted_bounds_what_is_said() {
        let bound = |right, of| (Counted { right, of }.at_least() * 1000.0).round();
        // 0.05^(1/30), and the table of Clopper and Pearson.
        assert_eq!((bound(30, 30), bound(9, 10), bound(0, 5)), (905.0, 606.0, 0.0));
    }
}
