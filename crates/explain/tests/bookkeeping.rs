//! The record is held against itself.

use record::Severity;

use crate::{find, found, reads, workload};

#[test]
fn requests_that_were_lost_make_a_figure_invalid() {
    let mut run = reads();
    assert!(find(&run, "conservation").is_none());
    workload(&mut run).settled -= 1;
    let finding = found(&run, "conservation");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(
        finding.sentence.contains("600,000 requests planned, 599,999 requests ended"),
        "{}",
        finding.sentence
    );
}

#[test]
fn bytes_that_do_not_fit_the_requests_are_found() {
    let mut run = reads();
    workload(&mut run).classes[0].bytes -= 512;
    assert!(found(&run, "conservation").sentence.contains("4096 bytes"));
}

#[test]
fn workers_and_classes_count_the_same_requests() {
    let mut run = reads();
    workload(&mut run).workers[0].ops += 1;
    assert!(found(&run, "conservation").sentence.contains("workers"));
}

#[test]
fn rate_times_latency_must_give_the_requests_in_flight() {
    let mut run = reads();
    workload(&mut run).mean_in_flight *= 1.015;
    assert!(find(&run, "little-law").is_none());
    workload(&mut run).mean_in_flight *= 1.1;
    let finding = found(&run, "little-law");
    assert!(finding.numbers["in_flight"] > finding.numbers["in_flight_expected"]);
}

#[test]
fn a_few_requests_at_the_edges_of_a_short_window_do_not_break_the_law() {
    let mut run = reads();
    let workload = workload(&mut run);
    workload.mean_in_flight *= 1.1;
    workload.classes[0].response.max_ns = Some(workload.measured_ns / 5);
    assert!(find(&run, "little-law").is_none());
}

#[test]
fn failed_requests_excuse_from_the_law() {
    let mut run = reads();
    workload(&mut run).mean_in_flight *= 2.0;
    workload(&mut run).errors = 1;
    assert!(find(&run, "little-law").is_none());
}
