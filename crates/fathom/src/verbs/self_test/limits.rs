//! Limits that were planted in arrays of the library, against what is said of them.

use modelled::planted::{self, Case};
use record::{Finding, Point};
use units::convert::narrow;

use super::{Check, Extent, Family, Section};
use crate::verbs::bare::run_of;
use crate::verbs::what_if::settle_with;

/// Cases of the short extent.
const SHORT: u64 = 24;

/// Cases of the full one, of which those with a clear limit count.
const FULL: u64 = 330;

/// As many are to be named first, in per cent. Of few cases one may be missed.
const NAMED: f64 = 97.0;

/// Draws cases from their numbers, makes a part of each the limit, and asks as `fathom explain` does.
pub fn section(extent: Extent) -> Section {
    let cases = if extent == Extent::Full { FULL } else { SHORT };
    let tally = planted::judge(1_000..1_000 + cases, verdict);
    let count = f64::from(tally.cases.max(1));
    debug_assert!(tally.named <= tally.cases, "limits that are named are some of those that were planted");
    let low = if extent == Extent::Full { NAMED } else { 100.0 - 100.0 / count };
    let checks = vec![
        Check {
            what: format!("{} limits in arrays of the library", tally.cases),
            measure: "per cent named first".into(),
            found: 100.0 * f64::from(tally.named) / count,
            low: Some(low),
            high: None,
        },
        Check {
            what: format!("{} parts that are the limit", tally.limited),
            measure: "called latency-bound".into(),
            found: f64::from(tally.false_latency_bound),
            low: None,
            high: Some(0.0),
        },
    ];
    let about =
        "A part is the limit where the rate follows its speed and no other's; caches, flash, failed disks, \
                 rebuilds and several hosts are among the cases."
            .into();
    let families = vec![
        Family {
            what: format!("{} limits in arrays of the library", tally.cases),
            told: format!(
                "{} named first, {} said to be not identified, {} named wrongly; {low:.1} % required",
                tally.named,
                tally.silent,
                tally.cases - tally.named - tally.silent
            ),
            passed: checks[0].passed(),
        },
        Family {
            what: format!("{} of them parts", tally.limited),
            told: format!("{} called latency-bound wrongly, none allowed", tally.false_latency_bound),
            passed: checks[1].passed(),
        },
    ];
    Section {
        title: "planted limits are named".into(),
        checks,
        families,
        notes: std::iter::once(about).chain(tally.missed).collect(),
    }
}

/// The first finding about the limit of the point that `case` is about.
fn verdict(case: &Case, points: Vec<Point>) -> Option<Finding> {
    let mut run = run_of(points);
    run.findings = explain::findings(&run);
    let index = narrow::<u32>(case.index);
    if explain::open_points(&run).contains(&index)
        && let Some(tried) = case.tried(&run.points, |tried| explain::settled(&run, tried).is_some())
    {
        settle_with(&mut run, &tried);
    }
    let about = ["bottleneck", "latency-bound", "bottleneck-uncounted", "bottleneck-undetermined"];
    run.findings.into_iter().find(|one| one.point == Some(index) && about.contains(&one.code.as_str()))
}
