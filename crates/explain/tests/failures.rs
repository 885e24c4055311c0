//! Failures in plain sight.

use record::{ErrorSample, Severity, Verified};

use crate::{find, found, point, reads, workload};

#[test]
fn failed_requests_are_told_with_the_first_of_them() {
    let mut run = reads();
    assert!(find(&run, "errors").is_none());
    workload(&mut run).errors = 12;
    workload(&mut run).error_samples = vec![ErrorSample {
        at_ns: 1,
        op: record::Op::Read,
        file: "/dev/sdb".into(),
        offset_bytes: 8192,
        len_bytes: 4096,
        failure: "EIO (5): Input/output error".into(),
        expected: None,
        found: None,
        rank: None,
    }];
    let finding = found(&run, "errors");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.sentence.starts_with("12 requests failed"), "{}", finding.sentence);
    assert!(finding.sentence.contains("a read at byte 8192 of /dev/sdb: EIO (5)"), "{}", finding.sentence);
    workload(&mut run).errors = 6_000;
    assert_eq!(found(&run, "errors").severity, Severity::Invalid);
}

#[test]
fn what_was_checked_is_told_and_what_was_wrong_is_no_failure_of_the_device() {
    let mut run = reads();
    assert!(find(&run, "data-verified").is_none());
    let set = |run: &mut record::Run, checked_bytes, unknown_bytes, corrupt| {
        workload(run).verified = Some(Verified { checked_bytes, unknown_bytes, corrupt });
    };
    set(&mut run, 1 << 20, 0, 0);
    assert_eq!(found(&run, "data-verified").severity, Severity::Note);
    assert!(found(&run, "data-verified").sentence.starts_with("All 1 MiB"));
    set(&mut run, 0, 4096, 0);
    assert_eq!(found(&run, "data-verified").severity, Severity::Warning);
    set(&mut run, 1 << 20, 4096, 2);
    workload(&mut run).errors = 2;
    workload(&mut run).error_samples = vec![ErrorSample {
        at_ns: 1,
        op: record::Op::Read,
        file: "/dev/sdb".into(),
        offset_bytes: 8192,
        len_bytes: 4096,
        failure: "data-corrupt".into(),
        expected: Some("write 3".into()),
        found: Some("zeros".into()),
        rank: None,
    }];
    let finding = found(&run, "data-corrupt");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.sentence.contains("at byte 8192 of /dev/sdb: expected write 3, found zeros"));
    assert!(find(&run, "data-verified").is_none() && find(&run, "errors").is_none());
}

#[test]
fn a_workload_that_gave_up_is_invalid() {
    let mut run = reads();
    assert!(find(&run, "gave-up").is_none());
    workload(&mut run).gave_up = true;
    assert_eq!(found(&run, "gave-up").severity, Severity::Invalid);
}

#[test]
fn a_window_in_which_nothing_ended_is_invalid() {
    let mut run = reads();
    assert!(find(&run, "nothing-measured").is_none());
    workload(&mut run).classes.clear();
    workload(&mut run).summary.clear();
    workload(&mut run).workers.clear();
    assert_eq!(found(&run, "nothing-measured").severity, Severity::Invalid);
}

#[test]
fn an_interrupt_is_told_with_what_was_whole() {
    let mut run = reads();
    assert!(find(&run, "interrupted").is_none());
    run.ending.code = 130;
    point(&mut run).complete = false;
    let finding = found(&run, "interrupted");
    assert!(finding.sentence.contains("0 points measured to the end, 1 cut short"), "{}", finding.sentence);
    assert_eq!(finding.point, None);
    run.ending.code = 0;
    assert!(find(&run, "interrupted").is_some(), "a point that was cut short says so itself");
}

#[test]
fn nothing_checked_is_no_verification_and_one_failure_of_a_thousand_is_a_warning() {
    let mut run = reads();
    workload(&mut run).verified = Some(record::Verified::default());
    assert!(find(&run, "data-corrupt").is_none() && find(&run, "data-verified").is_none());
    let mut run = reads();
    let completed = workload(&mut run).completed;
    workload(&mut run).errors = completed / 1_000;
    assert_eq!(found(&run, "errors").severity, Severity::Warning);
    workload(&mut run).errors += 1;
    assert_eq!(found(&run, "errors").severity, Severity::Invalid);
}
