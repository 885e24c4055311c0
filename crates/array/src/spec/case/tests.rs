//! The shipped cases load, name arrays that build, and faults in a case are named with place and cure.

use super::*;
use std::collections::BTreeSet;

use crate::spec::{Shipped, array, fitted};

fn all() -> Vec<CaseFile> {
    shipped()
        .iter()
        .map(|(_, label, text)| cases(label, text).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// What is said about a file with one case, which has this text on its fourth line.
fn complaint(case: &str) -> String {
    let text = format!(
        "source = \"s\"\ntolerance = \"25%\"\ncase = [\n{case}\n]\n[plan.small]\npattern = \"random\"\nsize = \"8KiB\"\n"
    );
    cases("mine.toml", &text).unwrap_err().to_string()
}

fn one(case: &str) -> Case {
    let text = format!(
        "source = \"s\"\ntolerance = \"25%\"\narray = \"md3000\"\ncase = [{case}]\n\
         [plan.small]\npattern = \"random\"\nsize = \"8KiB\"\nmetric = \"iops\"\n"
    );
    cases("mine.toml", &text).unwrap().cases.remove(0)
}

#[test]
fn the_shipped_list_holds_every_file_of_its_folder() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation");
    let mut there: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_string))
        .collect();
    there.sort();
    assert_eq!(shipped().iter().map(|(name, _, _)| *name).collect::<Vec<_>>(), there);
}

#[test]
fn every_shipped_case_names_an_array_that_builds_with_room_for_its_load() {
    for case in all().iter().flat_map(|file| &file.cases) {
        for subject in case.claim.subjects() {
            let spec = array(&Shipped, &subject.array).unwrap_or_else(|error| panic!("{}: {error}", case.at));
            for load in &subject.loads {
                assert!(load.luns as usize <= spec.topology.luns.len(), "{}: `{}` LUNs", case.at, load.name);
                let used = load.offset.get() + load.span.map_or(0, units::Bytes::get);
                let lun = spec.topology.luns[0].size.bytes().get();
                assert!(used <= lun, "{}: `{}` uses {used} of {lun} bytes", case.at, load.name);
            }
            if let Some(occasion) = &subject.occasion {
                assert!((occasion.disk as usize) < spec.topology.disks.len(), "{}", case.at);
            }
        }
    }
}

#[test]
fn ids_are_unique_over_all_shipped_files_and_no_figure_is_both_a_case_and_left_out() {
    let files = all();
    let mut ids: Vec<&str> = files.iter().flat_map(|file| &file.cases).map(|case| case.id.as_str()).collect();
    ids.extend(
        files.iter().flat_map(|file| &file.omitted).flat_map(|omitted| &omitted.ids).map(String::as_str),
    );
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count > 280, "{count} figures are accounted for");
}

#[test]
fn cases_name_every_figure_with_bounds_and_no_other() {
    let known = fitted(&Shipped, &BTreeSet::new()).unwrap_or_else(|error| panic!("{error}"));
    let known: BTreeSet<&str> = known.iter().map(|figure| figure.name.as_str()).collect();
    let files = all();
    let named: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| &file.cases)
        .flat_map(|case| case.fits.iter().map(String::as_str))
        .collect();
    assert_eq!(named.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "named, without bounds");
    assert_eq!(known.difference(&named).collect::<Vec<_>>(), Vec::<&&str>::new(), "of no case's `fits`");
}

#[test]
fn the_file_of_a_fitted_figure_is_said_once() {
    let fits =
        |text: &str| one(&format!("{{ id = \"a\", plan = \"small\", value = 3, fits = {text} }}")).fits;
    assert_eq!(fits("\"md3000 link.rate, cache.line\""), ["md3000 link.rate", "md3000 cache.line"]);
    assert_eq!(fits("[\"x a.b\", \"y c\"]"), ["x a.b", "y c"]);
    assert!(complaint("{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", value = 3, fits = \"link.rate\" }")
        .contains("FILE KEY"));
}

#[test]
fn most_cases_count_and_those_that_do_not_say_why() {
    let files = all();
    let cases: Vec<&Case> = files.iter().flat_map(|file| &file.cases).collect();
    let counting = cases.iter().filter(|case| case.score == Score::Counts).count();
    assert!(counting > 120 && counting < cases.len(), "{counting} of {}", cases.len());
    for case in &cases {
        if let Score::Listed(why) = &case.score {
            assert!(why.len() > 15, "{}: {why}", case.at);
        }
    }
}

#[test]
fn what_a_case_does_not_say_its_plan_and_its_file_say() {
    let case = one("{ id = \"a\", plan = \"small\", value = 3 }");
    assert_eq!((case.metric, case.unit, case.source.as_str()), (Metric::Iops, Unit::Iops, "s"));
    let Claim::Absolute { subject, value } = &case.claim else { panic!("absolute") };
    assert_eq!((subject.array.as_str(), *value, subject.loads[0].depth), ("md3000", 3.0, 1));
    assert!(subject.loads[0].direct && subject.loads[0].reads == units::Share::ALL);
}

#[test]
fn the_claim_follows_from_the_keys() {
    let kind = |case: &str| one(case).claim.kind();
    assert_eq!(kind("{ id = \"a\", plan = \"small\", value = 3 }"), "absolute");
    assert_eq!(
        kind("{ id = \"a\", plan = \"small\", value = 3, against = { array = \"dsi3500\" } }"),
        "ratio"
    );
    assert_eq!(kind("{ id = \"a\", plan = \"small\", most = 3 }"), "bound");
    assert_eq!(
        kind("{ id = \"a\", plan = \"small\", order = [{ array = \"a\" }, { array = \"b\" }] }"),
        "ordering"
    );
    assert_eq!(
        kind("{ id = \"a\", plan = \"small\", equal = [{ array = \"a\" }, { array = \"b\" }] }"),
        "equal"
    );
    let ratio = one("{ id = \"a\", plan = \"small\", value = 3, against = { array = \"dsi3500\" } }");
    let Claim::Ratio { subject, against, .. } = &ratio.claim else { panic!("ratio") };
    assert_eq!((subject.array.as_str(), against.array.as_str()), ("md3000", "dsi3500"));
    assert_eq!(subject.loads, against.loads);
}

#[test]
fn a_phase_is_timed_from_progress_to_progress() {
    let case = one(
        "{ id = \"a\", phase = { work = \"rebuild\", disk = 3, to = \"10%\" }, metric = \"time\", unit = \"minutes\", value = 54 }",
    );
    let Claim::Absolute { subject, .. } = &case.claim else { panic!("absolute") };
    let occasion = subject.occasion.unwrap();
    assert_eq!((occasion.disk, occasion.from.get(), occasion.to.get()), (3, 0.0, 0.1));
    assert!(subject.loads.is_empty());
}

#[test]
fn faults_in_a_case_are_named_with_place_and_cure() {
    assert!(
        complaint("{ id = \"a\", plan = \"smal\", array = \"x\", metric = \"iops\", value = 3 }")
            .starts_with("mine.toml:4: `case.plan`: there is no plan `smal`; did you mean `small`?")
    );
    assert!(
        complaint("{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", valu = 3 }")
            .contains("a case has `value`, or `value` and `against`")
    );
    assert!(
        complaint("{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", value = 3, tolerence = \"5%\" }")
            .starts_with("mine.toml:4: `[case]` has no key `tolerence`; did you mean `tolerance`?")
    );
    assert!(
        complaint(
            "{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", unit = \"MB/s\", value = 3 }"
        )
        .contains("iops is published in IOPS, not in MB/s")
    );
    assert!(
        complaint("{ id = \"a\", plan = \"small\", array = \"x\", value = 3 }").contains("needs `metric`")
    );
    assert!(
        complaint("{ id = \"a\", plan = \"small\", metric = \"iops\", value = 3 }")
            .contains("say which `array`")
    );
    assert!(
        complaint(
            "{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", value = 3, score = false }"
        )
        .contains("a case that does not count says `why`")
    );
    assert!(
        complaint("{ id = \"a\", plan = \"small\", array = \"x?y\", metric = \"iops\", value = 3 }")
            .contains("`y` has no value")
    );
    let twice = "{ id = \"a\", plan = \"small\", array = \"x\", metric = \"iops\", value = 3 }";
    assert!(
        complaint(&format!("{twice},\n{twice}")).contains("`a` is also the id of the case at mine.toml:4")
    );
}
