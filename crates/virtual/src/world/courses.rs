//! How busy the parts of an array were over time, as series of a record.

use array::sim::Courses;
use record::Series;
use record::names::series::{BUSY, PART};
use units::Instant;

/// Fewer stretches are no course.
const LEAST: usize = 8;
/// Parts that a record has room for.
const PARTS: usize = 20;
/// A part that was never busier does not matter.
const IDLE: f64 = 0.01;

/// A series for each of the busiest parts: the part of each stretch in which it served.
pub(super) fn series(courses: &Courses) -> Vec<Series> {
    if courses.ends.len() < LEAST {
        return Vec::new();
    }
    let all = courses.parts.iter().enumerate().map(|(number, part)| (part, courses.utilisation(number)));
    let mut busy: Vec<_> = all.filter(|(_, shares)| shares.iter().any(|share| *share >= IDLE)).collect();
    let mut sums: Vec<f64> = busy.iter().map(|(_, shares)| shares.iter().sum()).collect();
    sums.sort_by(|one, other| other.total_cmp(one));
    let least = sums.get(PARTS - 1).copied().unwrap_or(0.0);
    busy.retain(|(_, shares)| shares.iter().sum::<f64>() >= least);
    busy.truncate(PARTS);
    let at_ns: Vec<u64> = courses.ends.iter().copied().map(Instant::nanos).collect();
    let series = busy.into_iter().map(|(part, shares)| Series {
        from_ns: Some(courses.from.nanos()),
        at_ns: at_ns.clone(),
        // A hundredth of a per cent: more is not read, and a record has many of them.
        values: shares.iter().map(|share| (share * 1e4).round() / 1e4).collect(),
        ..Series::new(format!("{PART}{}.{BUSY}", part.name), "share", "the model")
    });
    series.collect()
}
