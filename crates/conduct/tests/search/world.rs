//! The search in a world: the shipped plain queues.

use std::sync::Arc;

use conduct::modelled::ModelledWorld;
use conduct::search::{SearchOptions, carry_out_search};
use conduct::{Outcome, carry_out};
use units::{Bytes, Nanos};
use workload::plan::{Overrides, Plan};

use crate::queue::{cases, promise};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn options() -> SearchOptions {
    SearchOptions {
        promises: vec![promise()],
        within: 0.06,
        look: Nanos::from_secs(10),
        longest: Nanos::from_secs(20),
        depth: None,
        write_cache: Bytes::ZERO,
    }
}

const READS: &str = "[[phase]]\npattern = 'random'\nsize = '4KiB'\nrun = '1s'\n";

fn searched(text: &str, options: &SearchOptions) -> (Outcome, Option<record::Search>) {
    let plan = plan(text);
    let mut world = ModelledWorld::shipped(&plan, "array:queue", Arc::default()).unwrap();
    carry_out_search(&plan, options, &mut world, &mut |_| ())
}

#[test]
fn the_edge_of_a_shipped_queue_is_found_and_every_look_is_kept() {
    let (outcome, found) = searched(READS, &options());
    let found = found.unwrap();
    assert!(outcome.complete && outcome.error.is_none());
    assert!((found.ceiling_per_s / 10_000.0 - 1.0).abs() < 0.02, "{}", found.ceiling_per_s);
    let edge = cases()[0].edge;
    let kept = found.kept_per_s.unwrap();
    assert!((kept / edge - 1.0).abs() < 0.06 && kept < found.broken_per_s.unwrap(), "{kept} of {edge}");
    assert_eq!(found.broken_by.as_deref(), Some("p99<5ms"));
    for rung in &found.ladder {
        let points: Vec<_> = rung.points.iter().map(|index| &outcome.points[*index as usize]).collect();
        let rested = rung.purpose == "after a rest";
        assert!(points.len() > usize::from(rested), "{rung:?}");
        assert!(points.iter().rev().all(|point| point.complete));
    }
    let order = outcome.points.iter().enumerate();
    assert!(order.into_iter().all(|(position, point)| point.index as usize == position));
}

#[test]
fn a_service_time_is_judged_apart_from_the_response_time() {
    // One in flight: the service time of an exponential server of 0.1 ms stays what it is, whatever waits.
    let service =
        SearchOptions { promises: vec!["service p99<1ms".parse().unwrap()], depth: Some(1), ..options() };
    let (_, found) = searched(READS, &service);
    let found = found.unwrap();
    assert_ne!(found.broken_by.as_deref(), Some("service p99<1ms"), "the rate gives way first");
    assert!(found.kept_per_s.unwrap() > 9_300.0, "{found:?}");
}

#[test]
fn what_no_rate_keeps_is_found_without_searching_for_it() {
    let impossible = SearchOptions { promises: vec!["p99<100us".parse().unwrap()], ..options() };
    let (outcome, found) = searched(READS, &impossible);
    let found = found.unwrap();
    assert_eq!((found.kept_per_s, found.complete, outcome.complete), (None, true, true));
    assert!(found.ladder.iter().all(|rung| rung.verdict == "fail"), "{:?}", found.ladder);
}

#[test]
fn a_plan_with_several_loads_is_refused_with_what_to_do() {
    let text = format!("{READS}depth = {{ sweep = [1, 2] }}\n");
    let (outcome, found) = searched(&text, &options());
    assert!(found.is_none() && outcome.points.is_empty());
    assert!(outcome.error.unwrap().to_string().contains("--set KEY=VALUE"));
}

#[test]
fn the_rate_that_is_asked_for_is_achieved_up_to_four_fifths_of_capacity() {
    for (rate, spacing) in [(2_000, "poisson"), (5_000, "poisson"), (8_000, "poisson"), (8_000, "even")] {
        let plan = plan(&format!(
            "[[phase]]\npattern = 'random'\nsize = '4KiB'\nrun = '100s'\nwarmup = '1s'\ndepth = 1024\n\
             pace = 'rate({rate}/s, {spacing})'\n"
        ));
        let mut world = ModelledWorld::shipped(&plan, "array:queue", Arc::default()).unwrap();
        let outcome = carry_out(&plan, &mut world, &mut |_| ());
        let achieved = outcome.points[0].workloads[0].total().unwrap().ops_per_s.value;
        assert!((achieved / f64::from(rate) - 1.0).abs() < 0.005, "{achieved} of {rate}/s, {spacing}");
    }
}
