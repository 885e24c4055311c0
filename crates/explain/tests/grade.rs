//! Grades follow from the evidence, and an absence costs the A.

use record::names::{fact, series};
use record::sample::ends;
use record::{Cache, Check, CpuUse, Grade, Outcome, PointKind, Run, Series, World};

use crate::{point, reads, set, workload, writes};

/// A run of which everything is known, and all of it is good.
fn known(mut run: Run) -> Run {
    run.targets[0].caches = vec![Cache { name: "drive".into(), size_bytes: 256 << 20 }];
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "yes".into());
    point(&mut run).series.push(Series {
        name: series::CPU_FREQUENCY.into(),
        unit: "hz".into(),
        workload: None,
        source: "test".into(),
        from_ns: None,
        at_ns: ends(),
        values: vec![3e9; 30],
        absent: None,
    });
    run
}

fn judged(mut run: Run) -> Run {
    explain::judge(&mut run);
    run
}

fn grade(run: Run) -> Grade {
    judged(run).grading.unwrap().grade
}

/// The check of the run's only point.
fn check(run: Run, name: &str) -> Check {
    let grading = judged(run).points[0].grading.clone().unwrap();
    grading.checks.into_iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_run_of_which_everything_is_known_and_good_has_an_a() {
    let run = judged(known(reads()));
    let grading = run.grading.unwrap();
    assert!(grading.checks.iter().all(|check| check.outcome == Outcome::Passed), "{grading:?}");
    assert_eq!(grading.grade, Grade::A);
    assert_eq!(run.points[0].grading.as_ref().unwrap().grade, Grade::A);
    assert_eq!(grade(known(writes())), Grade::A);
}

/// Takes a piece of evidence away.
type Spoil = fn(&mut Run);

#[test]
fn no_a_follows_from_the_absence_of_evidence() {
    let without: [(&str, Spoil); 7] = [
        ("direct", |run| point(run).devices.clear()),
        ("cache", |run| run.targets[0].caches.clear()),
        ("content", |run| run.targets[0].kind = "block device".into()),
        ("generator", |run| workload(run).workers[0].cpu = None),
        ("steady", |run| point(run).series.retain(|series| !series.name.ends_with(" ops"))),
        ("external-io", |run| point(run).devices.clear()),
        ("cpu-clock", |run| point(run).series.retain(|series| series.name != series::CPU_FREQUENCY)),
    ];
    for (name, spoil) in without {
        let mut run = known(reads());
        spoil(&mut run);
        let found = check(run.clone(), name);
        assert_eq!((found.outcome, found.grade), (Outcome::NotChecked, Grade::B), "{name}");
        assert!(!found.why.is_empty(), "{name}");
        assert_eq!(grade(run), Grade::B, "{name}");
    }
    let mut run = known(writes());
    run.targets[0].facts.remove(fact::ROTATIONAL);
    assert_eq!(check(run, "preconditioned").outcome, Outcome::NotChecked);
}

#[test]
fn two_main_checks_that_were_not_made_cost_more_than_one() {
    let mut run = known(reads());
    run.targets[0].caches.clear();
    run.targets[0].kind = "file".into();
    assert_eq!(grade(run), Grade::C);
}

#[test]
fn a_failed_check_costs_by_what_it_puts_in_doubt() {
    let mut run = known(reads());
    let drifting = &mut point(&mut run).series[0].values;
    drifting.iter_mut().enumerate().for_each(|(second, value)| *value += 500.0 * second as f64);
    assert_eq!(check(run.clone(), "steady").codes, ["drift"]);
    assert_eq!(grade(run.clone()), Grade::C);
    run.targets[0].caches[0].size_bytes = 128 << 30;
    assert_eq!(check(run.clone(), "cache").outcome, Outcome::Failed);
    assert_eq!(grade(run.clone()), Grade::D);
    workload(&mut run).workers[0].cpu = Some(CpuUse { user_s: 31.0, system_s: 0.0, ..CpuUse::default() });
    assert_eq!(grade(run.clone()), Grade::E, "what was measured is in doubt for two reasons");
    workload(&mut run).completed -= 1;
    assert_eq!(grade(run), Grade::F);
}

#[test]
fn a_note_leaves_a_check_passed() {
    let mut run = known(writes());
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "no".into());
    let found = check(run.clone(), "preconditioned");
    assert_eq!((found.outcome, found.grade), (Outcome::Passed, Grade::B));
    assert_eq!(found.codes, ["not-preconditioned"]);
    let mut filled = record::sample::point(0, "fill", Vec::new());
    filled.kind = PointKind::State;
    filled.state =
        [("state", "prepare"), ("fill", "2")].map(|(key, value)| (key.into(), value.into())).into();
    run.points[0].index = 1;
    run.points.insert(0, filled);
    let run = judged(run);
    assert_eq!(run.points[0].grading, None, "a state has no figures");
    assert_eq!(run.points[1].grading.as_ref().unwrap().grade, Grade::A);
}

#[test]
fn the_run_has_the_grade_of_its_worst_point_and_names_it() {
    let mut run = known(reads());
    let mut second = run.points[0].clone();
    (second.index, second.name) = (1, "second".into());
    second.workloads[0].workers[0].cpu = Some(CpuUse { user_s: 31.0, system_s: 0.0, ..CpuUse::default() });
    run.points.push(second);
    let run = judged(run);
    let grades: Vec<Grade> = run.points.iter().map(|point| point.grading.as_ref().unwrap().grade).collect();
    assert_eq!(grades, [Grade::A, Grade::D]);
    let grading = run.grading.unwrap();
    assert_eq!(grading.grade, Grade::D);
    let client = grading.checks.iter().find(|check| check.name == "generator").unwrap();
    assert_eq!(client.points, ["second"]);
}

#[test]
fn what_asked_no_storage_has_no_grade() {
    let mut run = known(reads());
    run.targets[0].kind = "null".into();
    assert_eq!(judged(run).grading, None);
}

#[test]
fn a_virtual_array_is_held_to_what_applies_to_it() {
    let mut run = reads();
    run.world = World::Array;
    let run = judged(run);
    let names: Vec<&str> =
        run.points[0].grading.as_ref().unwrap().checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["requests", "accounting", "steady", "samples"]);
}

#[test]
fn a_run_that_did_not_end_is_graded_by_what_is_there() {
    let mut run = known(reads());
    run.ending.code = 130;
    let run = judged(run);
    assert_eq!(run.points[0].grading.as_ref().unwrap().grade, Grade::A);
    assert_eq!(run.grading.unwrap().grade, Grade::C);
}

#[test]
fn flash_is_told_to_be_filled_first() {
    let mut run = writes();
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "no".into());
    assert!(crate::found(&run, "not-preconditioned").remedy.contains("fill = 2"));
    set(&mut run, "pattern", "sequential");
    assert!(crate::find(&run, "not-preconditioned").is_some());
    run.environment.facts.insert(fact::HYPERVISOR.into(), "kvm".into());
    assert!(crate::find(&run, "not-preconditioned").is_none(), "a virtual disk does not say what it is");
}

#[test]
fn caches_that_are_known_stay_where_none_was_looked_for() {
    let mut run = known(crate::reads());
    let cache = |name: &str| record::Cache { name: name.into(), size_bytes: 1 << 30 };
    run.targets[0].caches = vec![cache("controller cache"), cache("measured cache"), cache("cache")];
    let before = run.targets[0].caches.clone();
    assert_eq!(judged(run).targets[0].caches, before);
}
