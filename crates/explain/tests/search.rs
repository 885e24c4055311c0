//! What a search found, as findings.

use record::{Recovery, Run, Rung, Search, Severity, WriteCache};

use crate::{codes, find, found, reads, workload};

fn searched() -> Run {
    let rung = |rate_per_s: f64, verdict: &str, cause: Option<&str>, point: u32| Rung {
        rate_per_s,
        depth: None,
        purpose: "grid".into(),
        verdict: verdict.into(),
        cause: cause.map(str::to_owned),
        seconds: 30.0,
        requests: 30_000,
        figures: vec![Some(0.004)],
        points: vec![point],
        recovery: None,
    };
    let mut run = reads();
    run.search = Some(Search {
        ceiling_per_s: 10_000.0,
        edge_per_s: Some(9_079.0),
        confirm_needs_s: Some(41.0),
        quiet_ns: Some(110_000.0),
        recovery_s: Some(0.0),
        ladder: vec![
            rung(9_000.0, "pass", None, 0),
            rung(9_150.0, "fail", Some("p99<5ms"), 1),
            Rung { purpose: "confirm".into(), seconds: 42.0, ..rung(9_000.0, "pass", None, 0) },
        ],
        ..record::sample::search(Some(9_000.0), Some(9_150.0))
    });
    run
}

fn search(run: &mut Run) -> &mut Search {
    run.search.as_mut().unwrap()
}

#[test]
fn the_deepest_queue_is_told_and_that_more_was_not_searched() {
    let mut run = searched();
    let depths = record::Depths { met: Some(12), violated: Some(16), most: 64 };
    *search(&mut run) = Search { depths: Some(depths), violated_per_s: None, ..search(&mut run).clone() };
    let finding = found(&run, "slo-maximum");
    assert_eq!(finding.severity, Severity::Note);
    assert_eq!(finding.sentence, "Deepest queue within the SLO p99<5ms: 12, at 9,000/s; not 16 (p99<5ms).");
    let cut = Search {
        complete: false,
        confirmed: false,
        out_of_time: true,
        budget_s: Some(5.0),
        ..search(&mut run).clone()
    };
    *search(&mut run) = cut.clone();
    let finding = found(&run, "slo-maximum");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.sentence.contains("at least 12,"), "{}", finding.sentence);
    assert!(
        finding.sentence.ends_with("not searched further: its time of 5.00 s was over."),
        "{}",
        finding.sentence
    );
    // None below the first that failed: that is what was found, and not for want of time.
    let none = record::Depths { met: None, violated: Some(1), most: 64 };
    *search(&mut run) =
        Search { depths: Some(none), met_per_s: None, complete: true, out_of_time: false, ..cut };
    let finding = found(&run, "slo-violated");
    assert!(finding.sentence.contains("not even one request in flight"), "{}", finding.sentence);
}

#[test]
fn the_edge_is_told_with_what_broke_above_it() {
    let finding = found(&searched(), "slo-maximum");
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding
            .sentence
            .starts_with("Maximum sustained rate 9,000/s within the SLO p99<5ms; not at 9,150/s (p99<5ms)"),
        "{}",
        finding.sentence
    );
    assert!(
        finding.sentence.ends_with("That is 90 % of the closed-loop ceiling of 10,000/s."),
        "{}",
        finding.sentence
    );
    assert_eq!(
        finding.remedy,
        "Plan with this rate: further trials of 42.0 s (41.0 s required) confirmed it, also after a rest."
    );
    assert_eq!(finding.numbers["edge_per_s"], 9_079.0);
    assert_eq!(codes(&searched()), ["slo-maximum"]);
}

#[test]
fn a_load_that_waits_for_its_slots_far_below_the_ceiling_is_told_as_its_limit() {
    let found_with = |ceiling_per_s: f64, late: bool| {
        let mut run = searched();
        search(&mut run).ceiling_per_s = ceiling_per_s;
        let point = run.points[0].index;
        search(&mut run).ladder[1].points = vec![point];
        for class in &mut run.points[0].workloads[0].classes {
            class.lag = late.then(|| class.response.clone());
        }
        found(&run, "slo-maximum")
    };
    let told = found_with(20_000.0, true);
    assert!(told.sentence.contains("requests waited for one of the load's "), "{}", told.sentence);
    assert!(told.remedy.contains("greater `--depth`"), "{}", told.remedy);
    for (ceiling_per_s, late) in [(20_000.0, false), (18_000.0, true)] {
        assert!(!found_with(ceiling_per_s, late).remedy.contains("--depth"), "{ceiling_per_s} {late}");
    }
}

#[test]
fn an_edge_that_did_not_hold_again_or_was_the_client_s_is_a_warning() {
    let mut run = searched();
    search(&mut run).confirmed = false;
    search(&mut run).ladder[2].verdict = "fail".into();
    assert_eq!(found(&run, "slo-maximum").severity, Severity::Warning);
    search(&mut run).ladder[2].verdict = "undecided".into();
    let open = found(&run, "slo-maximum");
    assert!(open.severity == Severity::Warning && open.remedy.contains("--max-trial"), "{}", open.remedy);
    let mut run = searched();
    search(&mut run).violated_by = Some("load generator saturated".into());
    assert!(found(&run, "slo-maximum").remedy.contains("load generator was saturated"));
}

#[test]
fn no_rate_that_keeps_a_promise_is_told() {
    let mut run = searched();
    search(&mut run).met_per_s = None;
    assert!(found(&run, "slo-violated").sentence.contains("3 rates were tried, from 9,000/s on"));
    assert!(find(&run, "slo-maximum").is_none());
    search(&mut run).complete = false;
    assert!(
        find(&run, "slo-violated").is_none(),
        "a search that was cut short has not tried enough to say so"
    );
}

#[test]
fn a_saturated_generator_is_no_reason_to_promise_less() {
    let mut run = searched();
    let own = search(&mut run);
    own.met_per_s = None;
    for rung in &mut own.ladder {
        (rung.verdict, rung.cause) = ("fail".into(), Some("load generator saturated".into()));
    }
    let finding = found(&run, "slo-violated");
    assert!(finding.sentence.contains("Load generator saturated at 9,000/s"), "{}", finding.sentence);
    assert!(
        finding.remedy.contains("more `workers`") && !finding.remedy.contains("less"),
        "{}",
        finding.remedy
    );
}

#[test]
fn a_bound_that_is_kept_is_no_edge() {
    let mut run = searched();
    let own = search(&mut run);
    (own.to_per_s, own.violated_per_s, own.edge_per_s, own.ceiling_per_s) = (Some(9_000.0), None, None, 0.0);
    let sentence = found(&run, "slo-maximum").sentence;
    assert_eq!(sentence, "At least 9,000/s is sustained within the SLO p99<5ms, the highest rate allowed.");
}

fn with_cache(bytes: Option<u64>, overrun: bool, fill_s: Option<f64>) -> Run {
    let mut run = searched();
    let basis = if bytes.is_some() { "array" } else { "seen" }.into();
    search(&mut run).write_cache = Some(WriteCache { bytes, basis, written_bytes: 3 << 30, overrun, fill_s });
    run
}

#[test]
fn whose_rate_of_writes_it_is_is_told() {
    assert!(find(&searched(), "slo-write-cache").is_none());
    let behind = found(&with_cache(Some(512 << 20), true, Some(6.0)), "slo-write-cache");
    assert!(
        behind.severity == Severity::Note && behind.sentence.contains("filled for 6.00 s"),
        "{}",
        behind.sentence
    );
    let within = found(&with_cache(Some(512 << 20), false, None), "slo-write-cache");
    assert_eq!(within.severity, Severity::Warning);
    assert!(within.sentence.contains("write cache: the cache of 512 MiB"), "{}", within.sentence);
    let unseen = found(&with_cache(None, true, None), "slo-write-cache");
    assert!(unseen.sentence.contains("3 GiB were written"), "{}", unseen.sentence);
    assert!(find(&with_cache(Some(0), true, None), "slo-write-cache").is_none());
}

#[test]
fn a_target_that_does_not_come_back_in_time_is_told() {
    let mut run = searched();
    search(&mut run).ladder[1].recovery = Some(Recovery { seconds: 70.0, complete: true });
    assert!(find(&run, "slo-recovery").is_none());
    search(&mut run).ladder[1].recovery = Some(Recovery { seconds: 120.0, complete: false });
    let sentence = found(&run, "slo-recovery").sentence;
    assert!(
        sentence.starts_with("After 9,150/s the latency of a light load did not recover within 2 min"),
        "{sentence}"
    );
}

#[test]
fn less_after_an_overload_is_told_with_the_time_to_recover() {
    let mut run = searched();
    assert!(find(&run, "slo-hysteresis").is_none());
    search(&mut run).after_overload_per_s = Some(7_000.0);
    assert!(
        found(&run, "slo-hysteresis").sentence.contains("only 7,000/s meets the SLO, before it 9,000/s does")
    );
}

#[test]
fn of_a_search_only_looks_at_the_rate_that_was_kept_are_results() {
    let mut run = searched();
    workload(&mut run).not_issued = 9;
    assert!(find(&run, "not-issued").is_some());
    search(&mut run).ladder.iter_mut().for_each(|rung| rung.points = vec![7]);
    assert!(find(&run, "not-issued").is_none());
}

#[test]
fn a_rate_that_failed_when_it_was_tried_again_is_no_result_of_it_nor_is_another_one_that_passed() {
    let mut run = searched();
    workload(&mut run).not_issued = 9;
    let mut first = |rate_per_s: f64, verdict: &str| {
        let ladder = &mut search(&mut run).ladder;
        ladder.iter_mut().for_each(|rung| rung.points = vec![7]);
        ladder[0] = Rung { rate_per_s, verdict: verdict.into(), points: vec![0], ..ladder[0].clone() };
        find(&run, "not-issued").is_some()
    };
    assert!(first(9_000.0, "pass") && !first(9_000.0, "fail") && !first(8_000.0, "pass"));
}

#[test]
fn the_end_of_a_search_without_a_failure_is_the_highest_rate_tried_or_allowed() {
    let mut run = searched();
    (search(&mut run).violated_per_s, search(&mut run).violated_by) = (None, None);
    assert!(found(&run, "slo-maximum").sentence.contains("p99<5ms, the highest rate tried"));
    search(&mut run).to_per_s = Some(9_500.0);
    assert!(found(&run, "slo-maximum").sentence.contains("p99<5ms, the highest rate tried"));
    search(&mut run).to_per_s = Some(9_000.0);
    assert!(found(&run, "slo-maximum").sentence.contains("p99<5ms, the highest rate allowed"));
}

#[test]
fn only_trials_that_confirm_a_rate_count_for_how_long_it_was_confirmed() {
    let mut run = searched();
    search(&mut run).ladder[0].seconds = 500.0;
    let mut other = search(&mut run).ladder[2].clone();
    (other.rate_per_s, other.seconds) = (8_000.0, 900.0);
    search(&mut run).ladder.push(other);
    assert!(found(&run, "slo-maximum").remedy.contains("trials of 42.0 s"));
}

#[test]
fn the_cause_at_the_lowest_rate_tells_of_whom_it_is() {
    let with = |causes: [(f64, &str); 2]| {
        let mut run = searched();
        let rung = search(&mut run).ladder[1].clone();
        search(&mut run).met_per_s = None;
        search(&mut run).ladder = causes
            .map(|(rate_per_s, cause)| Rung { rate_per_s, cause: Some(cause.into()), ..rung.clone() })
            .to_vec();
        found(&run, "slo-violated").sentence.starts_with("Load generator saturated at 5,000/s")
    };
    let client = "load generator saturated";
    assert!(with([(9_000.0, "p99<5ms"), (5_000.0, client)]));
    assert!(!with([(9_000.0, client), (5_000.0, "p99<5ms")]));
}

#[test]
fn an_overload_after_which_nothing_meets_and_the_time_to_recover_are_told() {
    let mut run = searched();
    search(&mut run).after_overload_per_s = Some(0.0);
    let sentence = found(&run, "slo-hysteresis").sentence;
    assert!(sentence.contains("no rate tried meets the SLO") && sentence.ends_with("does."), "{sentence}");
    search(&mut run).recovery_s = Some(12.0);
    assert!(found(&run, "slo-hysteresis").sentence.ends_with("recovered within 12.0 s."));
}

#[test]
fn it_is_told_who_says_how_large_the_write_cache_is() {
    for (basis, words) in [
        ("given", "(as given)"),
        ("array", "(from the array's description)"),
        ("seen", "(detected from slower writes)"),
    ] {
        let mut run = with_cache(Some(512 << 20), true, None);
        search(&mut run).write_cache.as_mut().unwrap().basis = basis.into();
        assert!(found(&run, "slo-write-cache").sentence.contains(words), "{basis}");
    }
}
