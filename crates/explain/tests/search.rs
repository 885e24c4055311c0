//! What a search found, as findings.

use record::{Run, Rung, Search, Severity};

use crate::{codes, find, found, reads, workload};

fn searched() -> Run {
    let rung = |rate_per_s: f64, verdict: &str, cause: Option<&str>, point: u32| Rung {
        rate_per_s,
        purpose: "grid".into(),
        verdict: verdict.into(),
        cause: cause.map(str::to_owned),
        seconds: 30.0,
        requests: 30_000,
        figures: vec![Some(0.004)],
        points: vec![point],
    };
    let mut run = reads();
    run.search = Some(Search {
        promises: vec!["p99<5ms".into()],
        within: 0.02,
        ceiling_per_s: 10_000.0,
        kept_per_s: Some(9_000.0),
        broken_per_s: Some(9_150.0),
        edge_per_s: Some(9_079.0),
        broken_by: Some("p99<5ms".into()),
        confirmed: true,
        after_overload_per_s: None,
        recovery_s: Some(0.0),
        relaxation_s: None,
        complete: true,
        ladder: vec![rung(9_000.0, "pass", None, 0), rung(9_150.0, "fail", Some("p99<5ms"), 1)],
    });
    run
}

fn search(run: &mut Run) -> &mut Search {
    run.search.as_mut().unwrap()
}

#[test]
fn the_edge_is_told_with_what_broke_above_it() {
    let finding = found(&searched(), "slo-edge");
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding
            .sentence
            .starts_with("p99<5ms holds up to 9,000/s and no longer at 9,150/s, where the cause is p99<5ms"),
        "{}",
        finding.sentence
    );
    assert!(
        finding.sentence.ends_with("That is 90 % of the 10,000/s of a closed loop."),
        "{}",
        finding.sentence
    );
    assert_eq!(finding.numbers["edge_per_s"], 9_079.0);
    assert_eq!(codes(&searched()), ["slo-edge"]);
}

#[test]
fn an_edge_that_did_not_hold_again_or_was_the_client_s_is_a_warning() {
    let mut run = searched();
    search(&mut run).confirmed = false;
    assert_eq!(found(&run, "slo-edge").severity, Severity::Warning);
    let mut run = searched();
    search(&mut run).broken_by = Some("client limited".into());
    assert!(found(&run, "slo-edge").remedy.contains("This machine was late"));
}

#[test]
fn no_rate_that_keeps_a_promise_is_told() {
    let mut run = searched();
    search(&mut run).kept_per_s = None;
    assert!(found(&run, "slo-unkept").sentence.contains("2 rates were tried, from 9,000/s on"));
    assert!(find(&run, "slo-edge").is_none());
}

#[test]
fn less_after_an_overload_is_told_with_the_time_to_recover() {
    let mut run = searched();
    assert!(find(&run, "slo-hysteresis").is_none());
    search(&mut run).after_overload_per_s = Some(7_000.0);
    assert!(found(&run, "slo-hysteresis").sentence.contains("only 7,000/s keeps it, not 9,000/s"));
}

#[test]
fn of_a_search_only_looks_at_the_rate_that_was_kept_are_results() {
    let mut run = searched();
    workload(&mut run).unserved = 9;
    assert!(find(&run, "never-issued").is_some());
    search(&mut run).ladder[0].points = vec![7];
    assert!(find(&run, "never-issued").is_none());
}
