//! What trials with a faster part say, in words.

use record::{Effect, Trial, WhatIf, sample};

fn effect(change: f64, is_there: bool) -> Effect {
    Effect { change, low: change - 0.01, high: change + 0.01, is_there }
}

fn trial(change: &str, ops: Effect, p99: Option<Effect>) -> Trial {
    Trial { times: 1.1, p99, ..sample::trial(change, ops) }
}

fn tried(trials: Vec<Trial>) -> WhatIf {
    WhatIf {
        seeds: 5,
        times: 1.1,
        recorded_low: Some(998.0),
        recorded_high: Some(1_002.0),
        again_ops_per_s: 1_001.0,
        floor_ops: 0.004,
        floor_p99: Some(0.03),
        ..sample::what_if(0, trials)
    }
}

#[test]
fn what_brings_something_is_told_with_its_interval_and_the_rest_by_name() {
    let stream =
        sample::Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 1_000_000, spread: 0.1 };
    let run =
        sample::run("quick", vec![sample::point(0, "reads", vec![sample::workload("main", &[stream])])]);
    let finding = explain::what_if(
        &run,
        &tried(vec![
            trial("disks", effect(0.08, true), Some(effect(-0.05, true))),
            trial("depth", effect(0.2, true), Some(effect(0.9, true))),
            trial("link", effect(0.001, false), Some(effect(0.01, false))),
        ]),
    )
    .unwrap();
    assert_eq!(finding.code, "what-if");
    assert_eq!(
        finding.sentence,
        "Gain with one part 10 % faster (95 % CI): disks 8.0 % (7.0 % to 9.0 %) more IOPS and 5.0 % (4.0 % to 6.0 %) \
         less p99. No gain: link. Twice the queue depth: 20 % (19 % to 21 %) more IOPS and 90 % (89 % to 91 %) more \
         p99."
    );
    assert!((finding.numbers["disks_rate_change"] - 0.08).abs() < 1e-12);
    assert_eq!(finding.point, Some(0));
    let nothing = explain::what_if(&run, &tried(vec![trial("link", effect(0.001, false), None)])).unwrap();
    assert_eq!(nothing.sentence, "10 % more speed of any part gains nothing.");
    let elsewhere = WhatIf { point: 9, ..tried(Vec::new()) };
    assert_eq!(explain::what_if(&run, &elsewhere), None);
}

#[test]
fn what_is_put_right_is_a_finding_of_its_own_and_stands_beside_faster_parts() {
    let run = sample::run("quick", vec![sample::point(0, "reads", Vec::new())]);
    let trials = vec![trial("alignment", effect(0.5, true), None), trial("disks", effect(0.08, true), None)];
    let found = explain::avoidable(&run, &tried(trials.clone())).unwrap();
    assert_eq!((found.code.as_str(), found.numbers["alignment_rate_change"]), ("avoidable-cost", 0.5));
    assert!(!found.sentence.contains(['{', '}']) && !found.remedy.contains(['{', '}']), "{found:?}");
    let finding = explain::what_if(&run, &tried(trials)).unwrap();
    assert!(
        finding.remedy.contains("whole stripe") && finding.remedy.contains("more than any part"),
        "{finding:?}"
    );
    let part_first =
        vec![trial("alignment", effect(0.05, true), None), trial("disks", effect(0.08, true), None)];
    let part_first = explain::what_if(&run, &tried(part_first)).unwrap().remedy;
    assert!(part_first.starts_with("Upgrade the first of them."), "{part_first}");
    let beside = finding.sentence;
    assert!(
        beside.ends_with(" With requests that begin at stripes: 50 % (49 % to 51 %) more IOPS."),
        "{beside}"
    );
    assert!(beside.starts_with("Gain with one part 10 % faster (95 % CI): disks 8.0 %"), "{beside}");
}

#[test]
fn a_queue_of_the_lun_that_gains_more_than_any_part_comes_first() {
    let run = sample::run("quick", vec![sample::point(0, "reads", Vec::new())]);
    let finding = |wider: f64| {
        let trials = vec![
            trial("disks", effect(0.1, true), None),
            trial("LUN queue", effect(wider, true), None),
            trial("depth", effect(0.0, false), None),
        ];
        explain::what_if(&run, &tried(trials)).unwrap()
    };
    let found = finding(0.26);
    assert_eq!(
        found.sentence,
        "Gain with one part 10 % faster (95 % CI): disks 10 % (9.0 % to 11 %) more IOPS. Twice the queue depth: no gain. \
         Twice the LUN queue (`host.lun_depth`): 26 % (25 % to 27 %) more IOPS."
    );
    assert!(found.remedy.starts_with("Raise the LUN queue (`host.lun_depth`) first: "), "{}", found.remedy);
    assert!(finding(0.09).remedy.starts_with("Upgrade the first of them."), "the disks gain more");
}

#[test]
fn nothing_is_recommended_where_the_array_as_it_is_misses_the_record() {
    let run = sample::run("quick", vec![sample::point(0, "reads", Vec::new())]);
    let trials = vec![trial("cache size", effect(0.08, true), None)];
    let other = WhatIf { recorded_ops_per_s: 1_632.0, again_ops_per_s: 2_154.0, ..tried(trials) };
    let finding = explain::what_if(&run, &other).unwrap();
    assert!(finding.sentence.contains("2,154/s") && finding.sentence.contains("1,632/s"), "{finding:?}");
    assert!(finding.sentence.contains("another state"), "{finding:?}");
    assert!(!finding.remedy.contains("Upgrade"), "{finding:?}");
}

#[test]
fn a_gain_within_the_interval_of_the_recorded_rate_is_not_recommended() {
    let run = sample::run("quick", vec![sample::point(0, "reads", Vec::new())]);
    let trials = vec![trial("disks", effect(0.03, true), None)];
    let vague = WhatIf { recorded_low: Some(950.0), recorded_high: Some(1_050.0), ..tried(trials) };
    let finding = explain::what_if(&run, &vague).unwrap();
    assert!(finding.sentence.contains("gains nothing") && finding.remedy.contains("none"), "{finding:?}");
}
