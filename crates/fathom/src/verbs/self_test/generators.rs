//! Addresses, sizes, operations and arrivals against the laws that they claim to follow.

use super::{Check, Extent, Family, Section};

/// As long in both extents: it takes a second.
pub fn section(_extent: Extent) -> Section {
    let made = workload::selftest::run();
    let families = vec![family(&made)];
    let checks = made.into_iter().map(|check| Check {
        what: check.what.into(),
        measure: check.measure.into(),
        found: check.found,
        low: None,
        high: Some(check.limit),
    });
    Section {
        title: "generators follow their laws".into(),
        checks: checks.collect(),
        families,
        notes: vec!["Limits lie about five standard deviations from the law.".into()],
    }
}

/// How near each statistic is to its limit. Below zero it is smaller than the law expects.
fn family(checks: &[workload::selftest::Check]) -> Family {
    let share = |check: &workload::selftest::Check| 100.0 * check.found / check.limit;
    let (best, worst) = checks
        .iter()
        .map(share)
        .fold((f64::INFINITY, 0.0f64), |(best, worst), one| (best.min(one), worst.max(one)));
    let name =
        checks.iter().max_by(|one, other| share(one).total_cmp(&share(other))).map_or("", |one| one.what);
    Family {
        what: format!("{} laws", checks.len()),
        told: format!("at {best:.0} to {worst:.0} % of their limits; nearest: {name}"),
        passed: checks.iter().all(workload::selftest::Check::passed),
    }
}
