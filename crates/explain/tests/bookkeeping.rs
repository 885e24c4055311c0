//! The record is held against itself.

use record::Severity;

use crate::{find, found, reads, workload};

#[test]
fn requests_that_were_lost_make_a_figure_invalid() {
    let mut run = reads();
    assert!(find(&run, "accounting").is_none());
    workload(&mut run).completed -= 1;
    let finding = found(&run, "accounting");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(
        finding.sentence.contains("600,000 requests planned, 599,999 requests completed"),
        "{}",
        finding.sentence
    );
}

#[test]
fn bytes_that_do_not_fit_the_requests_are_found() {
    let mut run = reads();
    workload(&mut run).classes[0].bytes -= 512;
    assert!(found(&run, "accounting").sentence.contains("4096 bytes"));
}

#[test]
fn workers_and_classes_count_the_same_requests() {
    let mut run = reads();
    workload(&mut run).workers[0].ops += 1;
    assert!(found(&run, "accounting").sentence.contains("workers"));
}

#[test]
fn histograms_hold_what_ended_in_the_window_and_after_it() {
    let mut run = reads();
    workload(&mut run).edges.as_mut().unwrap().ended_after = 8;
    assert!(found(&run, "accounting").sentence.contains("8 after it"));
}

#[test]
fn times_in_service_must_sum_up_to_the_requests_in_flight() {
    let mut run = reads();
    workload(&mut run).mean_in_flight *= 1.0009;
    assert!(find(&run, "little-law").is_none());
    workload(&mut run).mean_in_flight *= 1.001;
    let finding = found(&run, "little-law");
    assert!(finding.numbers["in_flight"] > finding.numbers["in_flight_expected"]);
}

#[test]
fn latencies_that_are_off_by_half_a_percent_are_found_however_long_the_longest_was() {
    let mut run = reads();
    let workload = workload(&mut run);
    workload.classes[0].response.sum_ns -= workload.classes[0].response.sum_ns / 200;
    workload.classes[0].response.max_ns = Some(workload.measured_ns / 2);
    assert!(find(&run, "little-law").is_some());
}

#[test]
fn what_the_edges_cut_and_what_failed_is_part_of_the_law() {
    let mut run = reads();
    let workload = workload(&mut run);
    // Of eight requests that hung for 20 s, 8 s lay within the window; others failed after 10 s in all.
    workload.classes[0].response.sum_ns += 160_000_000_000;
    workload.mean_in_flight += (64.0 + 10.0) / 30.0;
    workload.errors = 3;
    assert!(find(&run, "little-law").is_some());
    let edges = self::workload(&mut run).edges.as_mut().unwrap();
    (edges.before_ns, edges.after_ns, edges.failed_ns) = (30_000_000_000, 66_000_000_000, 10_000_000_000);
    assert!(find(&run, "little-law").is_none());
}

#[test]
fn a_record_without_edges_is_not_judged_and_says_so() {
    let mut run = reads();
    workload(&mut run).edges = None;
    workload(&mut run).mean_in_flight *= 2.0;
    assert!(find(&run, "little-law").is_none());
    explain::judge(&mut run);
    let checks = &run.points[0].grading.as_ref().unwrap().checks;
    let check = checks.iter().find(|check| check.name == "accounting").unwrap();
    assert_eq!(check.outcome, record::Outcome::NotChecked);
}

#[test]
fn files_of_a_range_of_sizes_are_one_class_whose_bytes_are_no_product() {
    let mut run = reads();
    workload(&mut run).classes[0].size_bytes = 0;
    assert!(find(&run, "accounting").is_none());
}

#[test]
fn what_ended_after_the_window_and_what_was_never_issued_has_a_response_time() {
    let mut run = reads();
    workload(&mut run).classes[0].response.count += 5;
    assert!(find(&run, "accounting").is_some());
    workload(&mut run).edges.as_mut().unwrap().ended_after = 3;
    workload(&mut run).not_issued = 2;
    assert!(find(&run, "accounting").is_none());
}
