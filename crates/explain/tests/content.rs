//! What was written, and what there was to read.

use record::names::fact;
use record::{Run, Severity};

use crate::{find, found, reads, set, writes};

/// Reads of a target of which a sample was looked at.
fn looked_at(zeros: &str, never_written: Option<&str>, bits: &str) -> Run {
    let mut run = reads();
    let facts = &mut run.targets[0].facts;
    facts.remove(fact::LAID_OUT);
    facts.insert(fact::ZEROS.into(), zeros.into());
    facts.insert(fact::INFORMATION.into(), bits.into());
    facts.extend(never_written.map(|bytes| (fact::UNWRITTEN.into(), bytes.to_owned())));
    run
}

#[test]
fn reads_of_what_was_never_written_are_told_and_of_mostly_that_invalid() {
    assert!(find(&looked_at("0 of 60", None, "7.99"), "unwritten-data").is_none());
    assert!(find(&looked_at("2 of 60", None, "7.99"), "unwritten-data").is_none(), "that may be chance");
    let some = looked_at("4 of 60", None, "7.99");
    assert_eq!(found(&some, "unwritten-data").severity, Severity::Warning);
    let mut run = looked_at("45 of 60", None, "7.99");
    let finding = found(&run, "unwritten-data").clone();
    assert_eq!(finding.severity, Severity::Warning, "zeros may be data");
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "yes".into());
    assert_eq!(found(&run, "unwritten-data").severity, Severity::Note);
    run.targets[0].size_bytes = 8 << 30;
    run.targets[0].facts.insert(fact::UNWRITTEN.into(), "6GiB".into());
    assert_eq!(found(&run, "unwritten-data").severity, Severity::Invalid);
    assert!(finding.sentence.starts_with("About 75 % of"), "{}", finding.sentence);
    assert_eq!(finding.numbers["zero_blocks"], 45.0);
}

#[test]
fn holes_count_also_where_the_sample_met_none() {
    let mut run = looked_at("0 of 60", Some("1GiB"), "7.99");
    run.targets[0].size_bytes = 8 << 30;
    let finding = found(&run, "unwritten-data");
    assert!(finding.sentence.contains("held no data for 1 GiB of 8 GiB"), "{}", finding.sentence);
}

#[test]
fn blocks_that_come_again_are_told_where_they_are_more_than_chance() {
    let repeating = |repeats: &str| {
        let mut run = looked_at("0 of 60", None, "7.99");
        run.targets[0].facts.insert(fact::REPEATS.into(), repeats.into());
        run
    };
    assert!(find(&repeating("2 of 60"), "compressible-content").is_none());
    assert!(find(&repeating("0 of 0"), "compressible-content").is_none(), "all were zeros");
    let run = repeating("12 of 60");
    let finding = found(&run, "compressible-content");
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.sentence.starts_with("The data read repeats: 12 of 60 sampled blocks"),
        "{}",
        finding.sentence
    );
    let mut writing = repeating("12 of 60");
    writing.points[0].workloads = writes().points[0].workloads.clone();
    assert!(find(&writing, "compressible-content").is_none(), "nothing of it was read");
}

#[test]
fn what_the_run_has_filled_itself_is_no_longer_empty() {
    let after = |fill: &str, complete: bool| {
        let mut run = looked_at("60 of 60", None, "7.99");
        let mut filling = run.points[0].clone();
        filling.state.insert("fill".into(), fill.into());
        filling.workloads.clear();
        filling.complete = complete;
        run.points.insert(0, filling);
        run.points[1].index = run.points[0].index + 1;
        run
    };
    assert!(find(&after("1", true), "unwritten-data").is_none());
    assert!(find(&after("1", false), "unwritten-data").is_some(), "it was interrupted");
    assert!(find(&after("0", true), "unwritten-data").is_some(), "it makes files and writes nothing");
}

#[test]
fn what_was_read_is_noted_where_it_compresses() {
    assert!(find(&looked_at("0 of 60", None, "7.95"), "compressible-content").is_none());
    let text = looked_at("0 of 60", None, "4.60");
    let finding = found(&text, "compressible-content");
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.sentence.contains("4.6 bits"), "{}", finding.sentence);
}

#[test]
fn facts_that_nobody_wrote_so_are_no_evidence() {
    for zeros in ["", "60", "60 of 0", "x of y", "60 of -1"] {
        assert!(find(&looked_at(zeros, Some("much"), "some"), "unwritten-data").is_none(), "{zeros}");
    }
}

#[test]
fn zeros_are_warned_of_and_ratios_are_noted() {
    let mut run = writes();
    assert!(find(&run, "compressible-content").is_none());
    set(&mut run, "compress", "2:1");
    assert_eq!(found(&run, "compressible-content").severity, Severity::Note);
    set(&mut run, "content", "zeros");
    assert_eq!(found(&run, "compressible-content").severity, Severity::Warning);
    let mut run = reads();
    set(&mut run, "content", "zeros");
    assert!(find(&run, "compressible-content").is_none(), "nothing was written");
}

#[test]
fn holes_of_a_twentieth_are_no_chance_on_a_rotating_disk_and_none_are_not_told_of() {
    let mut run = looked_at("45 of 60", None, "7.99");
    assert!(found(&run, "unwritten-data").sentence.contains("never been written: 45 of 60 sampled blocks"));
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "yes".into());
    run.targets[0].size_bytes = 20 << 20;
    let mut with_holes = |bytes: &str| {
        run.targets[0].facts.insert(fact::UNWRITTEN.into(), bytes.into());
        found(&run, "unwritten-data").severity
    };
    assert_eq!(with_holes("1MiB"), Severity::Warning);
    assert_eq!(with_holes("1023KiB"), Severity::Note);
}

#[test]
fn content_that_takes_a_twentieth_of_the_workers_time_is_told_with_what_a_write_of_it_costs() {
    let with = |content_s: f64, mut run: Run| {
        let point = &mut run.points[0];
        let took_s = point.workloads[0].measured_ns as f64 / 1e9;
        for worker in &mut point.workloads[0].workers {
            worker.cpu.get_or_insert_default().content_s = Some(content_s * took_s);
        }
        run
    };
    assert!(find(&with(0.01, writes()), "content-cost").is_none());
    assert!(find(&with(0.5, reads()), "content-cost").is_none(), "nothing was written");
    let finding = found(&with(0.5, writes()), "content-cost");
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.numbers["content_ns"] > 0.0 && finding.numbers["content_share"] > 0.05, "{finding:?}");
    assert!(finding.remedy.contains("reused"), "{}", finding.remedy);
}
