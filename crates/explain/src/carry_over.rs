//! What a point carries over from those before it: caches that they left full, dirty or warm.

use std::collections::BTreeMap;

use record::{Point, PointKind, Rounds, Run, Severity, WorkloadResult};
use stats::batch_mean;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::moved;
use crate::steady;

/// Halves, and the first and second measurement of a point, that differ by no more than this are alike.
const ALIKE: f64 = 0.10;

/// The load that ran directly before `point`, unless the record says that it left nothing unwritten.
fn before<'r>(run: &'r Run, point: &Point) -> Option<&'r Point> {
    if point.settled.as_ref().is_some_and(|settled| settled.left_bytes == Some(0)) {
        return None;
    }
    let at = run.points.partition_point(|other| other.index < point.index);
    let before = run.points.get(at.checked_sub(1)?)?;
    (before.kind == PointKind::Load).then_some(before)
}

/// A rate that rises while a cache empties what the load before left in it, or falls while what was free of it fills.
pub(crate) fn from_the_point_before(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let left_by = before(run, point).filter(|before| moved(before, "write") > 0)?;
    let rates = steady::rates(point, workload);
    let (first, second) = rates.split_at(rates.len() / 2);
    let (first, second) = (batch_mean(first)?, batch_mean(second)?);
    let change = (second.mean - first.mean) / first.mean;
    let (first_range, second_range) = (first.interval?, second.interval?);
    let apart = first_range.high < second_range.low || second_range.high < first_range.low;
    if !change.is_finite() || change.abs() <= ALIKE || !apart {
        return None;
    }
    let rose = change > 0.0;
    // What only reads does not fill a write cache.
    if !rose && moved(point, "write") == 0 {
        return None;
    }
    let sentence = format!(
        "The rate {} by {}: {:.0}/s in the first half of the window, {:.0}/s in the second, after \"{}\" had written. \
         {}.",
        if rose { "rose" } else { "fell" },
        percent(change.abs()),
        first.mean,
        second.mean,
        left_by.name,
        if rose {
            "A write cache was still flushing that data"
        } else {
            "A write cache filled up sooner because of that data"
        }
    );
    let draft = Draft::new(Code::CarryOver, Severity::Warning, sentence).remedy(
        "Let the cache flush before each point (`settle = \"2m\"`), and warm up until the rate no longer changes.",
    );
    Some(draft.number("first_half_per_s", first.mean).number("second_half_per_s", second.mean))
}

/// The first point of a run, measured once more after others: what they changed shows in the difference.
pub(crate) fn first_point_again(run: &Run, point: &Point) -> Option<Draft> {
    let first = run.points.iter().find(|point| point.kind == PointKind::Load)?;
    if first.index != point.index || !point.complete || is_conditioning(&run.rounds, point) {
        return None;
    }
    let cell = |point: &Point| -> BTreeMap<String, String> {
        point
            .swept
            .iter()
            .filter(|(key, _)| *key != "round")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let own = cell(point);
    let later = run.points.iter().filter(|other| other.index > point.index && other.kind == PointKind::Load);
    let mut others_came = false;
    let again = later.into_iter().find(|other| {
        let is_same = other.phase == point.phase && cell(other) == own;
        others_came |= !is_same;
        is_same && others_came && other.complete
    })?;
    let ((value, low, high), (value_again, low_again, high_again)) = (rate(point)?, rate(again)?);
    let change = (value_again - value) / value;
    let apart = high < low_again || high_again < low;
    if !change.is_finite() || change.abs() <= ALIKE || !apart {
        return None;
    }
    let sentence = format!(
        "{value:.0}/s when measured first, {value_again:.0}/s when measured again after other points: {} {}.",
        percent(change.abs()),
        if change > 0.0 { "more" } else { "less" }
    );
    let draft = Draft::new(Code::CarryOver, Severity::Warning, sentence).remedy(
        "Warm read caches before the first point, let write caches flush between points (`settle = \"2m\"`), and fill \
         flash first (a `prepare` phase): the points in between changed the target.",
    );
    Some(draft.number("first_per_s", value).number("again_per_s", value_again))
}

/// Whether the rounds of the point's phase are there to bring the target into another state.
fn is_conditioning(rounds: &[Rounds], point: &Point) -> bool {
    rounds.iter().any(|rounds| rounds.phase == point.phase)
}

/// Requests a second of all workloads, with the sums of their bounds; `None` where one has none.
fn rate(point: &Point) -> Option<(f64, f64, f64)> {
    point.workloads.iter().try_fold((0.0, 0.0, 0.0), |(value, low, high), workload| {
        let own = &workload.total()?.ops_per_s;
        Some((value + own.value, low + own.low?, high + own.high?))
    })
}

/// Whether the rate of a point is not that of steady state: it drifted, varied, or carries over from points before.
pub(crate) fn is_in_doubt(run: &Run, point: &Point) -> bool {
    let of_workload = |workload: &WorkloadResult| {
        steady::drift(run, point, workload).is_some()
            || steady::window_not_steady(run, point, workload).is_some()
            || from_the_point_before(run, point, workload).is_some()
    };
    point.workloads.iter().any(of_workload) || first_point_again(run, point).is_some()
}
