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
        op: record::Ops::All,
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

#[cfg(test)]
mod tests {
    use record::sample::search;

    use super::*;

    #[test]
    fn rates_are_compared_from_edge_to_edge_where_both_are_confirmed() {
        let (first, second) = (search(Some(1_000.0), Some(1_250.0)), search(Some(2_000.0), Some(2_100.0)));
        let told = row(&first, &second, 2).expect("both kept a rate");
        assert_eq!((told.base, told.value, told.ratio, told.side), (1_000.0, 2_000.0, 2.0, 2));
        assert_eq!((told.low, told.high), (Some(1.6), Some(2.1)));
        assert_eq!(
            (told.value_low, told.value_high, told.basis),
            (Some(2_000.0), Some(2_100.0), Basis::Search)
        );
        assert_eq!(told.cell, "search p99<5ms");
        for unsure in [Search { confirmed: false, ..second.clone() }, search(Some(2_000.0), None)] {
            for told in
                [row(&first, &unsure, 1), row(&unsure, &first, 1)].map(|row| row.expect("both kept a rate"))
            {
                let ends = [told.low, told.high, told.value_low, told.value_high];
                assert_eq!((ends, told.basis), ([None; 4], Basis::Nothing));
            }
        }
    }

    #[test]
    fn searches_of_another_objective_or_load_and_those_that_kept_no_rate_are_not_compared() {
        let first = search(Some(1_000.0), None);
        for other in [
            search(None, None),
            search(Some(0.0), None),
            Search { slos: vec!["mean<5ms".into()], ..first.clone() },
            Search { load: Some("oltp".into()), ..first.clone() },
        ] {
            assert!(row(&first, &other, 1).is_none() && row(&other, &first, 1).is_none(), "{other:?}");
        }
        let run = |search| Run { search, ..record::sample::run("quick", Vec::new()) };
        let (none, unkept, kept) = (run(None), run(Some(search(None, None))), run(Some(first)));
        let group = |runs| Group { name: "a".into(), runs };
        let groups = [group(vec![&kept]), group(vec![&none, &unkept]), group(vec![&unkept, &kept])];
        let sides: Vec<u32> = rows(&groups).iter().map(|row| row.side).collect();
        assert_eq!(sides, [2]);
    }
}
