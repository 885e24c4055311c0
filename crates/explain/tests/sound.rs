//! Nothing is said where there is nothing to say.

use record::World;
use record::sample::{self, Stream};

use crate::{codes, reads, set, workload, writes};

#[test]
fn a_sound_run_has_no_findings() {
    assert_eq!(codes(&reads()), [] as [&str; 0]);
    assert_eq!(codes(&writes()), [] as [&str; 0]);
}

#[test]
fn a_sound_mix_has_no_findings_and_each_workload_of_several_is_named() {
    let stream = |op, per_s| Stream { op, size_bytes: 8192, per_s, median_ns: 300_000, spread: 0.6 };
    let oltp = sample::workload("oltp", &[stream("read", 8_000), stream("write", 4_000)]);
    let mut backup = sample::workload("backup", &[stream("read", 2_000)]);
    let mut run = sample::run("mixed", vec![sample::point(0, "both", vec![oltp.clone(), backup.clone()])]);
    assert_eq!(codes(&run), [] as [&str; 0]);
    backup.gave_up = true;
    run.points[0].workloads = vec![oltp, backup];
    assert!(crate::found(&run, "gave-up").sentence.starts_with("backup: "));
}

#[test]
fn a_record_without_any_evidence_supports_nothing() {
    let mut run = reads();
    run.points[0].series.clear();
    run.points[0].devices.clear();
    run.targets[0].facts.clear();
    workload(&mut run).totals.clear();
    workload(&mut run).span_bytes = None;
    assert_eq!(codes(&run), [] as [&str; 0]);
    run.points.clear();
    assert_eq!(codes(&run), [] as [&str; 0]);
}

#[test]
fn what_holds_for_real_storage_is_not_said_of_a_virtual_array() {
    let mut run = reads();
    set(&mut run, "direct", "false");
    run.targets[0].facts.insert("file system".into(), "tmpfs".into());
    assert_eq!(codes(&run), ["buffered"]);
    run.world = World::Array;
    assert_eq!(codes(&run), [] as [&str; 0]);
}

#[test]
fn findings_survive_storage() {
    let mut run = reads();
    workload(&mut run).errors = 3;
    run.findings = explain::findings(&run);
    let json = record_json(&run);
    assert!(record::read(&json).unwrap() == run);
}

fn record_json(run: &record::Run) -> String {
    serde_json::to_string(run).unwrap()
}
