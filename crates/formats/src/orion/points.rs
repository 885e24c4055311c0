//! Which data points a command line comes to.
//!
//! What `-num_disks` gives is nowhere published; the rules here reproduce the numbers of points and the maxima in
//! every published output that is known: 8, 29 and 38 points of simple runs on 1, 4 and 8 disks, 21 of an OLTP run
//! on one LUN, and the minutes that were foretold for others.

use std::collections::BTreeSet;

use units::convert::narrow;

use super::TOOL;
use super::options::{Command, Large, MOST, Matrix, Mode};
use crate::Refusal;

/// The load of one data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Load {
    /// Small requests in flight.
    pub small: u32,
    /// Large requests in flight, or streams.
    pub large: u32,
}

/// The data points of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Them, in the order in which they are measured: first without large requests, then without small ones.
    pub points: Vec<Load>,
    /// What the summary lists as columns.
    pub listed: (Vec<u32>, Vec<u32>),
    /// How many there are, as the summary counts: the empty one is one of them.
    pub total: u32,
}

/// More make no plan.
const MOST_POINTS: usize = 9_000;

/// Small requests in flight for each disk, at most; so many steps at least.
const SMALL_PER_DISK: u32 = 5;
const SMALL_STEPS: u32 = 20;
/// Of large requests in flight.
const LARGE_PER_DISK: u32 = 2;
const LARGE_STEPS: u32 = 12;

/// Loads from 1 to `max`: each up to a step, and from there on its multiples.
fn ladder(max: u32, steps: u32) -> Vec<u32> {
    rungs(max, (max / steps).max(1))
}

fn rungs(max: u32, step: u32) -> Vec<u32> {
    assert!(step > 0, "a ladder without steps has no end");
    let first = 1..=step.min(max);
    let rungs: Vec<u32> =
        first.chain((2..).map(|times| step * times).take_while(|load| *load <= max)).collect();
    debug_assert!(rungs.is_sorted_by(|one, next| one < next), "a ladder goes up");
    rungs
}

impl Command {
    /// The data points on `luns` LUNs.
    pub fn grid(&self, luns: u32) -> Result<Grid, Refusal> {
        let disks = self.disks.unwrap_or(luns).max(1);
        let most_per_disk = if self.run == Mode::Oltp { 20 } else { 15 };
        if disks > MOST / most_per_disk {
            let what = format!("`-num_disks {disks}` means more than {MOST} requests in flight");
            return Err(Refusal::usage(TOOL, what));
        }
        let large_per_disk = if self.large == Large::Sequential { 1 } else { LARGE_PER_DISK };
        let small = ladder(SMALL_PER_DISK * disks, SMALL_STEPS);
        let large = ladder(large_per_disk * disks, LARGE_STEPS);
        let (num_small, num_large) = (self.num_small.unwrap_or(0), self.num_large.unwrap_or(0));
        let grid = match (self.run, self.matrix) {
            (Mode::Oltp, _) => multiples(disks, 20, |small| Load { small, large: 0 }),
            (Mode::Dss, _) => multiples(disks, 15, |large| Load { small: 0, large }),
            (Mode::Normal, _) | (Mode::Advanced, Matrix::Detailed) => {
                Grid::of(&with_none(&small), &with_none(&large))
            }
            (Mode::Simple, _) | (Mode::Advanced, Matrix::Basic) => Grid::axes(&small, &large),
            (Mode::Advanced, Matrix::Point) => Grid::of(&[num_small], &[num_large]),
            (Mode::Advanced, Matrix::Col) => Grid::of(&[num_small], &with_none(&large)),
            (Mode::Advanced, Matrix::Row) => Grid::of(&with_none(&small), &[num_large]),
            (Mode::Advanced, Matrix::Max) => {
                let (small, large) = (ladder(num_small, SMALL_STEPS), ladder(num_large, LARGE_STEPS));
                Grid::of(&with_none(&small), &with_none(&large))
            }
        };
        debug_assert!(
            grid.total as usize >= grid.points.len(),
            "the empty point is counted beside the others"
        );
        debug_assert!(
            grid.points.iter().collect::<BTreeSet<_>>().len() == grid.points.len(),
            "each load is measured once"
        );
        match grid.points.len() + self.warmings(&grid) {
            0 => Err(Refusal::usage(TOOL, "no requests in flight measure nothing")),
            1..=MOST_POINTS => Ok(grid),
            count => {
                let what = format!(
                    "these are {count} points with those that warm caches; at most {MOST_POINTS} make a plan"
                );
                Err(Refusal::usage(TOOL, what))
            }
        }
    }

    /// Whether random requests go before each sequential data point.
    pub(super) fn warms(&self) -> bool {
        self.large == Large::Sequential && self.cache_mib != Some(0)
    }

    fn warmings(&self, grid: &Grid) -> usize {
        if self.warms() { grid.points.iter().filter(|load| load.large > 0).count() } else { 0 }
    }
}

fn with_none(loads: &[u32]) -> Vec<u32> {
    [0].iter().chain(loads).copied().collect()
}

/// Multiples of the number of disks. The total counts every load below the first as well, as published outputs do.
fn multiples(disks: u32, times: u32, load: impl Fn(u32) -> Load) -> Grid {
    let loads: Vec<u32> = (1..=times).map(|times| disks * times).collect();
    let points: Vec<Load> = loads.iter().map(|count| load(*count)).collect();
    let is_small = points.iter().all(|point| point.large == 0);
    let listed = if is_small { (loads, vec![0]) } else { (vec![0], loads) };
    Grid { points, listed, total: narrow::<u32>(rungs(disks * times, disks).len()) + 1 }
}

impl Grid {
    /// The first row and the first column. The summary lists the columns of the large loads alone.
    fn axes(small: &[u32], large: &[u32]) -> Grid {
        let rows = small.iter().map(|small| Load { small: *small, large: 0 });
        let columns = large.iter().map(|large| Load { small: 0, large: *large });
        let points: Vec<Load> = rows.chain(columns).collect();
        let total = narrow::<u32>(points.len()) + 1;
        Grid { points, listed: (vec![0], with_none(large)), total }
    }

    /// All combinations.
    fn of(small: &[u32], large: &[u32]) -> Grid {
        let all = |chosen: fn(&Load) -> bool| {
            let loads = large
                .iter()
                .flat_map(|large| small.iter().map(|small| Load { small: *small, large: *large }));
            loads.filter(chosen).collect::<Vec<_>>()
        };
        let mut points = all(|load| load.small > 0 && load.large == 0);
        points.extend(all(|load| load.small == 0 && load.large > 0));
        points.extend(all(|load| load.small > 0 && load.large > 0));
        Grid {
            points,
            listed: (small.to_vec(), large.to_vec()),
            total: narrow::<u32>(small.len() * large.len()),
        }
    }

    /// Small loads that occur, by size.
    pub fn small(&self) -> Vec<u32> {
        self.points.iter().map(|load| load.small).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Large loads that occur, by size.
    pub fn large(&self) -> Vec<u32> {
        self.points.iter().map(|load| load.large).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The minutes that Orion foretells.
    pub fn minutes(&self, seconds: u32) -> u64 {
        (u64::from(self.total) * u64::from(seconds)).div_ceil(60) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(line: &str, luns: u32) -> Grid {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Command::parse(&words).unwrap().grid(luns).unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
    }

    #[test]
    fn simple_runs_have_the_points_of_the_published_ones() {
        for (disks, total, small, large) in [(1, 8, 5, 2), (4, 29, 20, 8), (8, 38, 40, 16)] {
            let grid = grid(&format!("-run simple -num_disks {disks}"), 1);
            assert_eq!((grid.total, narrow::<u32>(grid.points.len())), (total, total - 1), "{disks}");
            assert_eq!((grid.small().last(), grid.large().last()), (Some(&small), Some(&large)));
            assert_eq!(grid.listed, (vec![0], (0..=large).collect()));
            assert_eq!(grid.points.iter().filter(|load| load.small > 0 && load.large > 0).count(), 0);
        }
        let eight = grid("-run simple -num_disks 8", 1).small();
        assert_eq!(eight[..5], [0, 1, 2, 4, 6]);
        let many = grid("-run simple -num_disks 24", 1).large();
        assert_eq!(many, [0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48]);
        assert_eq!(grid("-run simple", 6).minutes(60), 44);
        assert_eq!(grid("-run simple -num_disks 1", 1).minutes(60), 9);
    }

    #[test]
    fn oltp_and_dss_go_by_multiples_of_the_disks() {
        let one = grid("-run oltp", 1);
        assert_eq!((one.total, one.listed.clone()), (21, ((1..=20).collect(), vec![0])));
        let four = grid("-run oltp -num_disks 4", 1);
        assert_eq!(
            (four.points[0], four.points[19]),
            (Load { small: 4, large: 0 }, Load { small: 80, large: 0 })
        );
        assert_eq!(grid("-run oltp", 3).minutes(60), 24);
        let dss = grid("-run dss -num_disks 4", 1);
        assert_eq!(dss.points.last(), Some(&Load { small: 0, large: 60 }));
        assert_eq!((dss.points.len(), dss.listed.0.as_slice()), (15, [0].as_slice()));
    }

    #[test]
    fn a_matrix_is_as_large_as_it_says() {
        let normal = grid("-run normal -num_disks 4", 1);
        assert_eq!((normal.total, normal.points.len()), (21 * 9, 21 * 9 - 1));
        let point = grid("-run advanced -matrix point -num_small 10 -num_large 3", 1);
        assert_eq!((point.points.as_slice(), point.total), ([Load { small: 10, large: 3 }].as_slice(), 1));
        let col = grid("-run advanced -matrix col -num_small 0 -num_disks 2", 1);
        assert_eq!((col.small(), col.large(), col.total), (vec![0], vec![1, 2, 3, 4], 5));
        let row = grid("-run advanced -matrix row -num_large 2", 1);
        assert_eq!((row.small(), row.large(), row.points.len()), (vec![0, 1, 2, 3, 4, 5], vec![2], 6));
        let max = grid("-run advanced -matrix max -num_small 2 -num_large 3", 1);
        assert_eq!(max.points.len(), 3 * 4 - 1);
        let streams = grid("-run advanced -type seq -num_disks 3", 1);
        assert_eq!(streams.large(), [0, 1, 2, 3]);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let refused = |line: &str| Command::parse(&words(line)).unwrap().grid(1).unwrap_err().to_string();
        assert!(refused("-run advanced -matrix point -num_small 0 -num_large 0").contains("nothing"));
        assert!(refused("-run normal -num_disks 3000").contains("make a plan"));
        assert!(refused("-run oltp -num_disks 60000").contains("in flight"));
    }
}
