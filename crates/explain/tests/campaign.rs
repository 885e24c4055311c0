//! The state that a cell of a campaign is about.

use explain::compare::{MARGIN, by, compare};
use record::sample::{self, Stream};
use record::{Basis, CampaignCell, Run, Severity, StateProof};

use crate::{find, found, reads};

fn with(proofs: &[(&str, &str)]) -> Run {
    let proof = |(when, found): &(&str, &str)| StateProof {
        factor: "firmware".into(),
        by: "`cli version`".into(),
        when: (*when).into(),
        expected: "3.88".into(),
        found: (*found).into(),
    };
    let cell = CampaignCell { proofs: proofs.iter().map(proof).collect(), ..sample::cell(Vec::new()) };
    Run { cell: Some(cell), ..reads() }
}

#[test]
fn a_state_that_does_not_hold_makes_the_run_invalid_and_one_that_holds_says_nothing() {
    assert!(find(&reads(), "state-not-held").is_none());
    let held = with(&[("before", "3.88"), ("after", "3.88")]);
    assert!(find(&held, "state-not-held").is_none());
    assert!(held.counts() && !reads().counts());
    let mut failed = held.clone();
    failed.ending.code = 5;
    let mut cut_short = held;
    cut_short.ending.complete = false;
    assert!(!failed.counts() && !cut_short.counts());
    let finding = found(&with(&[("before", "3.88"), ("after", "3.86")]), "state-not-held");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(!with(&[("before", "3.88"), ("after", "3.86")]).counts());
    let told = "firmware was to be 3.88, and `cli version` said 3.86 (after): the cell is void.";
    assert_eq!(finding.sentence, told);
    assert!(finding.remedy.starts_with("Set firmware to 3.88"), "{}", finding.remedy);
    let silent = found(&with(&[("before", "")]), "state-not-held");
    assert!(silent.sentence.contains("said nothing (before)"), "{}", silent.sentence);
}

/// A run of a cell at this rate.
fn cell(raid: u32, disks: u32, block: u32, per_s: u64) -> Run {
    let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
    let points = vec![sample::point(0, "4k", vec![sample::workload("main", &[stream])])];
    let level = |factor: &str, level: u32| sample::level(factor, &level.to_string(), u32::from(level > 5));
    let mut run = Run { cell: with(&[]).cell, ..sample::run("quick", points) };
    run.cell.iter_mut().for_each(|cell| {
        cell.block = block;
        cell.levels = vec![level("raid", raid), level("disks", disks)];
    });
    run.tags.insert("raid".into(), raid.to_string());
    run
}

#[test]
fn cells_that_other_factors_set_apart_are_compared_at_the_same_setting_and_are_no_repeats_of_each_other() {
    let rate = |raid, disks| match (raid, disks) {
        (5, 4) => 4_000,
        (5, _) => 16_000,
        // Twice as fast on few disks, and no faster on many.
        (_, 4) => 8_000,
        _ => 16_000,
    };
    let mut runs = Vec::new();
    for block in 1..=3 {
        for (raid, disks) in [(5, 4), (5, 16), (10, 4), (10, 16)] {
            runs.push(cell(raid, disks, block, rate(raid, disks) + u64::from(block)));
        }
    }
    let held = compare(Some("raid"), &by("raid", &runs), MARGIN);
    let iops: Vec<_> = held.rows.iter().filter(|row| row.metric == "iops" && row.total).collect();
    let told: Vec<(&str, [u32; 2], Basis)> =
        iops.iter().map(|row| (row.cell.as_str(), row.repeats, row.basis)).collect();
    assert_eq!(told, [("4k, disks 4", [3, 3], Basis::Repeats), ("4k, disks 16", [3, 3], Basis::Repeats)]);
    assert!((iops[0].ratio - 2.0).abs() < 0.01 && (iops[1].ratio - 1.0).abs() < 0.01);
    // Three equal measurements are sure of it, where four times as many disks are no noise.
    assert!(iops[0].low.unwrap() > 1.9, "{:?}", iops[0]);
    assert!(
        held.notes[0].starts_with("Cells of a campaign are compared at the same disks;"),
        "{:?}",
        held.notes
    );
    // A setting that one side lacks is told and not compared.
    runs.retain(|run| {
        run.cell.as_ref().is_none_or(|cell| cell.levels[1].level == "4" || cell.levels[0].level == "5")
    });
    let held = compare(Some("raid"), &by("raid", &runs), MARGIN);
    let unmatched: Vec<&str> = held.unmatched.iter().map(|one| one.cell.as_str()).collect();
    assert_eq!(unmatched, ["4k, disks 16"]);
    // With nothing else varied there is nothing to tell.
    runs.retain(|run| run.cell.as_ref().is_none_or(|cell| cell.levels[1].level == "4"));
    let held = compare(Some("raid"), &by("raid", &runs), MARGIN);
    assert!(
        held.rows.iter().all(|row| row.cell == "4k")
            && !held.notes.iter().any(|note| note.contains("campaign"))
    );
}
