//! Equally long stretches of the measured window, from which intervals are taken.

use std::collections::BTreeMap;

use record::{ClassSecond, ResponseMap};
use stats::Bucket;
use workload::tally::{Class, Interval};

use super::pile::Pile;
use super::{Counts, SECOND_NS};

/// Stretches that intervals are taken from, at most. Statistics put them together to 128 or fewer.
pub(super) const UNITS_MOST: usize = 512;

/// The same where each of them holds many buckets, of which there are then so many at most.
const UNITS_LEAST: usize = 256;

const BUCKETS_MOST: usize = 400_000;

const _: () = assert!(UNITS_LEAST < UNITS_MOST);

/// Equally long stretches of a window.
pub(crate) struct Equal {
    /// When the first begins.
    pub from_ns: u64,
    /// Seconds of each.
    pub each_s: f64,
    /// What ended in them, by class.
    pub rows: Vec<Vec<ClassSecond>>,
}

impl Equal {
    /// Response times of all classes together, stretch by stretch.
    pub fn responses(&self) -> Option<ResponseMap> {
        let of = |row: &Vec<ClassSecond>| row.iter().flat_map(|class| &class.responses).copied().collect();
        let stretches: Vec<Vec<Bucket>> = self.rows.iter().map(of).collect();
        let each = units::convert::truncated::<u64>(self.each_s) * SECOND_NS;
        ResponseMap::of(self.from_ns, each, &stretches)
    }
}

pub(super) fn class_second(cells: &[&UnitCell], class: &Class) -> ClassSecond {
    let mut second = ClassSecond::default();
    for cell in cells.iter().filter(|cell| cell.class == *class) {
        second.ops += cell.counts.ops;
        second.bytes += cell.counts.bytes;
        second.responses.extend(&cell.responses.0);
    }
    second
}

/// Equally long stretches of the measured window.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    /// Seconds of each, a power of two; zero before the first.
    pub(super) each_s: u64,
    /// By their number on the grid of the window's second.
    pub(super) rows: BTreeMap<u64, Vec<UnitCell>>,
}

#[derive(Clone, Debug)]
pub(super) struct UnitCell {
    pub(super) class: Class,
    pub(super) counts: Counts,
    pub(super) responses: Pile,
}

impl Units {
    pub(super) fn add(&mut self, interval: &Interval, since: u64) {
        self.each_s = self.each_s.max(1);
        let row = self.rows.entry(since / SECOND_NS / self.each_s).or_default();
        let was_empty = row.is_empty();
        for class in &interval.classes {
            let counts = Counts { ops: class.ops, bytes: class.bytes.get() };
            add_to(row, class.class, counts, &class.response);
        }
        if was_empty && self.is_large() {
            self.double();
        }
    }

    pub(super) fn is_large(&self) -> bool {
        let buckets = || self.rows.values().flatten().map(|cell| cell.responses.0.len()).sum::<usize>();
        self.rows.len() > UNITS_MOST || (self.rows.len() > UNITS_LEAST && buckets() > BUCKETS_MOST)
    }

    pub(super) fn double(&mut self) {
        let before = self.ops();
        self.each_s *= 2;
        assert!(self.each_s.is_power_of_two(), "a row is half of one row of the next length");
        for (number, cells) in std::mem::take(&mut self.rows) {
            let row = self.rows.entry(number / 2).or_default();
            for cell in cells {
                add_to(row, cell.class, cell.counts, &cell.responses.0);
            }
            row.iter_mut().for_each(|cell| cell.responses.put_together());
        }
        assert_eq!(self.ops(), before, "two stretches that become one lose no request");
    }

    fn ops(&self) -> u64 {
        self.rows.values().flatten().map(|cell| cell.counts.ops).sum()
    }

    /// What ended in the stretch of that number, if each were so long, a multiple of what they are.
    pub(super) fn together(&self, number: u64, each_s: u64) -> Vec<&UnitCell> {
        debug_assert!(each_s.is_multiple_of(self.each_s.max(1)), "no row lies in two stretches");
        let times = each_s / self.each_s.max(1);
        self.rows.range(number * times..(number + 1) * times).flat_map(|(_, row)| row).collect()
    }
}

fn add_to(row: &mut Vec<UnitCell>, class: Class, counts: Counts, responses: &[Bucket]) {
    let place = row.iter().position(|cell| cell.class == class).unwrap_or_else(|| {
        row.push(UnitCell { class, counts: Counts::default(), responses: Pile::default() });
        row.len() - 1
    });
    let cell = &mut row[place];
    cell.counts.ops += counts.ops;
    cell.counts.bytes += counts.bytes;
    cell.responses.add(responses);
}
