//! Points whose name says another value than they were measured with: a factor that is a key of the plan changes the load, and
//! not what the plan calls it.

use std::collections::BTreeSet;

use record::{CampaignCell, PointKind, Run};
use workload::plan::{Overrides, Plan, Task};

/// A sentence for each plan and key: which points were named for another value.
pub(crate) fn misnamed(of: &[(&Run, &CampaignCell)]) -> Vec<String> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut notes = Vec::new();
    for (run, cell) in of.iter().filter(|(run, _)| seen.insert(&run.plan.name)) {
        // What a plan said before anything was changed in it.
        let Ok(plan) = Plan::parse(&run.plan.origin, &run.plan.text, &Overrides::default()) else { continue };
        for level in &cell.levels {
            let key = level.factor.as_str();
            let own = || of.iter().filter(|(other, _)| other.plan.name == run.plan.name);
            let is_named_otherwise = |name: &str, said: &str| {
                own().flat_map(|(run, _)| &run.points).any(|point| {
                    let texts = point.workloads.iter().filter_map(|one| one.spec.text(key));
                    point.kind == PointKind::Load
                        && point.plain_name() == name
                        && texts.into_iter().any(|text| text != said)
                })
            };
            let mut points: Vec<&str> = Vec::new();
            for point in plan.points() {
                let Task::Load(load) = &point.task else { continue };
                let said = load.workloads.iter().filter_map(|one| one.text(key));
                let mut said = said.filter(|text| is_in(text, &point.name));
                if said.any(|text| is_named_otherwise(&point.name, &text))
                    && !points.contains(&point.name.as_str())
                {
                    points.push(&point.name);
                }
            }
            notes.extend((!points.is_empty()).then(|| {
                format!(
                    "{}: the factor {key} replaces what these points are named for, and their names stay: {}.",
                    run.plan.name,
                    points.join("; ")
                )
            }));
        }
    }
    notes
}

/// Whether a name says a value, whatever blanks it writes in it: `4KiB` in `4 KiB random read`, and no `2` in `32 at a time`.
fn is_in(value: &str, name: &str) -> bool {
    let plain: Vec<char> = name.chars().filter(|one| !one.is_whitespace()).collect();
    let wanted: Vec<char> = value.chars().filter(|one| !one.is_whitespace()).collect();
    let is_digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
    let begins = |(at, part): (usize, &[char])| {
        let before = at.checked_sub(1).and_then(|at| plain.get(at));
        part == wanted
            && !(is_digit(before) && is_digit(wanted.first()))
            && !(is_digit(plain.get(at + wanted.len())) && is_digit(wanted.last()))
    };
    is_digit(wanted.first()) && plain.windows(wanted.len()).enumerate().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;

    const PLAN: &str = "name = \"mine\"\n[defaults]\nrun = \"1s\"\n[[phase]]\nname = \"4 KiB random read\"\nsize = \"4KiB\"\n\
        [[phase]]\nname = \"32 at a time\"\ndepth = 32\n";

    fn told(factor: &str, value: &str) -> Vec<String> {
        let points = ["4 KiB random read", "32 at a time"].map(|name| {
            let mut workload = sample::workload("main", &[]);
            for (key, value) in [("size", "4KiB"), ("depth", "32"), (factor, value)] {
                workload.spec.set(key, value).expect("a key of a workload");
            }
            sample::point(0, name, vec![workload])
        });
        let mut run = sample::run("mine", points.into());
        run.plan.text = PLAN.into();
        let cell = sample::cell(vec![sample::level(factor, value, 0)]);
        misnamed(&[(&run, &cell)])
    }

    #[test]
    fn a_point_that_is_named_for_a_value_that_a_factor_replaces_is_told() {
        assert_eq!(
            told("size", "64KiB"),
            [
                "mine: the factor size replaces what these points are named for, and their names stay: 4 KiB random read."
            ]
        );
        assert_eq!(
            told("depth", "8"),
            [
                "mine: the factor depth replaces what these points are named for, and their names stay: 32 at a time."
            ]
        );
        assert_eq!(told("size", "4KiB"), Vec::<String>::new(), "it is what the name says");
        assert_eq!(told("seed", "7"), Vec::<String>::new(), "no name says it");
    }

    #[test]
    fn a_number_within_another_is_not_said() {
        assert!(is_in("4KiB", "4 KiB random read") && is_in("32", "32 at a time"));
        assert!(
            !is_in("4KiB", "64 KiB random read")
                && !is_in("2", "32 at a time")
                && !is_in("3", "32 at a time")
        );
        assert!(!is_in("random", "4 KiB random read") && !is_in("", "x"));
    }
}
