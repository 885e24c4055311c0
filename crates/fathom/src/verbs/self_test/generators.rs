//! Addresses, sizes, operations and arrivals against the laws that they claim to follow.

use super::{Check, Extent, Section};

/// As long in both extents: it takes a second.
pub fn section(_extent: Extent) -> Section {
    let checks = workload::selftest::run().into_iter().map(|check| Check {
        what: check.what.into(),
        measure: check.measure.into(),
        found: check.found,
        low: None,
        high: Some(check.limit),
    });
    Section {
        title: "generators follow their laws".into(),
        checks: checks.collect(),
        notes: vec!["Limits lie about five standard deviations from the law.".into()],
    }
}
