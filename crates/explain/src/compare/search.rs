//! Compares searches by the highest rate that met the SLO, not by their trials.
//!
//! **Invariant:** only searches with the same SLO are compared.

use record::{Basis, Compared, Run, Search, Verdict};

use super::Group;

/// One row for each other side whose search had the SLO and the load of the first side's.
pub(super) fn rows(groups: &[Group<'_>]) -> Vec<Compared> {
    let Some((base, others)) = groups.split_first() else { return Vec::new() };
    let of = |(side, group): (u32, &Group<'_>)| row(found(base)?, found(group)?, side);
    (1u32..).zip(others).filter_map(of).collect()
}

/// The first search of a side that kept a rate.
fn found<'a>(group: &Group<'a>) -> Option<&'a Search> {
    let searches = group.runs.iter().filter_map(|run: &&'a Run| run.search.as_ref());
    searches.into_iter().find(|search| search.met_per_s.is_some())
}

fn row(first: &Search, second: &Search, side: u32) -> Option<Compared> {
    let (base, value) = (first.met_per_s?, second.met_per_s?);
    if first.slos != second.slos || first.load != second.load || base <= 0.0 || value <= 0.0 {
        return None;
    }
    // Each edge lies between the highest rate that met the SLO and the lowest that violated it.
    let sure = first.confirmed && second.confirmed;
    let low = first.violated_per_s.filter(|_| sure).map(|broken| value / broken);
    let high = second.violated_per_s.filter(|_| sure).map(|broken| broken / base);
    let interval = low.zip(high);
    Some(Compared {
        cell: format!("search {}", first.slos.join(" and ")),
        workload: String::new(),
        op: "all".into(),
        total: true,
        metric: "met_per_s".into(),
        unit: "per_s".into(),
        side,
        base,
        value,
        ratio: value / base,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        value_low: interval.map(|_| value),
        value_high: interval.and(second.violated_per_s),
        p_value: None,
        adjusted_p: None,
        noise_floor: None,
        detectable_effect: None,
        repeats: [1, 1],
        basis: if interval.is_some() { Basis::Search } else { Basis::Nothing },
        verdict: Verdict::Inconclusive,
    })
}
