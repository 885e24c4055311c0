//! The search in a world: the shipped plain queues.

use std::sync::Arc;

use conduct::Outcome;
use conduct::search::{DepthOptions, SearchOptions, run_depth_search, run_search};
use modelled::ModelledWorld;
use units::{Bytes, Nanos, OpsPerSecond};
use workload::plan::{Overrides, Plan};

use crate::queue::{cases, slo};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn options() -> SearchOptions {
    SearchOptions {
        within: 0.06,
        look: Nanos::from_secs(10),
        longest: Nanos::from_secs(20),
        ..SearchOptions::of(vec![slo()])
    }
}

const READS: &str = "[[phase]]\npattern = 'random'\nsize = '4KiB'\nrun = '1s'\n";

fn searched(text: &str, options: &SearchOptions) -> (Outcome, Option<record::Search>) {
    searched_on("array:queue", text, options)
}

fn searched_on(address: &str, text: &str, options: &SearchOptions) -> (Outcome, Option<record::Search>) {
    let plan = plan(text);
    let mut world = ModelledWorld::shipped(&plan, address, Arc::default()).unwrap();
    run_search(&plan, options, &mut world, &mut |_| ())
}

#[test]
fn the_edge_of_a_shipped_queue_is_found_and_every_look_is_kept() {
    let (outcome, found) = searched(READS, &options());
    let found = found.unwrap();
    assert!(outcome.complete && outcome.error.is_none());
    assert!((found.ceiling_per_s / 10_000.0 - 1.0).abs() < 0.02, "{}", found.ceiling_per_s);
    let edge = cases()[0].edge;
    let kept = found.met_per_s.unwrap();
    assert!((kept / edge - 1.0).abs() < 0.06 && kept < found.violated_per_s.unwrap(), "{kept} of {edge}");
    assert_eq!(found.violated_by.as_deref(), Some("p99<5ms"));
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
        SearchOptions { slos: vec!["service p99<1ms".parse().unwrap()], depth: Some(1), ..options() };
    let (_, found) = searched(READS, &service);
    let found = found.unwrap();
    assert_ne!(found.violated_by.as_deref(), Some("service p99<1ms"), "the rate gives way first");
    assert!(found.met_per_s.unwrap() > 9_300.0, "{found:?}");
}

#[test]
fn what_no_rate_keeps_is_found_without_searching_for_it() {
    let impossible = SearchOptions { slos: vec!["p99<100us".parse().unwrap()], ..options() };
    let (outcome, found) = searched(READS, &impossible);
    let found = found.unwrap();
    assert_eq!((found.met_per_s, found.complete, outcome.complete), (None, true, true));
    assert!(found.ladder.iter().all(|rung| rung.verdict == "fail"), "{:?}", found.ladder);
}

#[test]
fn a_plan_with_several_loads_is_refused_with_what_to_do() {
    let text = READS.replace("'4KiB'", "{ sweep = ['4KiB', '8KiB'] }");
    let (outcome, found) = searched(&text, &options());
    assert!(found.is_none() && outcome.points.is_empty());
    assert!(outcome.error.unwrap().to_string().contains("--set size=VALUE"));
}

#[test]
fn the_rate_that_is_asked_for_is_achieved_up_to_four_fifths_of_capacity() {
    for (rate, spacing) in [(2_000, "poisson"), (5_000, "poisson"), (8_000, "poisson"), (8_000, "even")] {
        let plan = plan(&format!(
            "[[phase]]\npattern = 'random'\nsize = '4KiB'\nrun = '100s'\nwarmup = '1s'\ndepth = 1024\n\
             pace = 'rate({rate}/s, {spacing})'\n"
        ));
        let mut world = ModelledWorld::shipped(&plan, "array:queue", Arc::default()).unwrap();
        let outcome = conduct::run(&plan, &mut world, &mut |_| ());
        let achieved = outcome.points[0].workloads[0].total().unwrap().ops_per_s.value;
        assert!((achieved / f64::from(rate) - 1.0).abs() < 0.005, "{achieved} of {rate}/s, {spacing}");
    }
}

#[test]
fn no_rate_outside_of_the_bounds_is_offered() {
    let bounded = SearchOptions {
        from: Some(OpsPerSecond::new(2_000.0)),
        to: Some(OpsPerSecond::new(6_000.0)),
        ..options()
    };
    let (outcome, found) = searched(READS, &bounded);
    let found = found.unwrap();
    assert_eq!((found.met_per_s, found.violated_per_s, found.ceiling_per_s), (Some(6_000.0), None, 0.0));
    assert!(found.ladder.iter().all(|rung| (2_000.0..=6_000.0).contains(&rung.rate_per_s)), "{found:?}");
    for point in &outcome.points {
        let achieved: f64 =
            point.workloads.iter().filter_map(|workload| Some(workload.total()?.ops_per_s.value)).sum();
        assert!(achieved < 6_200.0, "{}: {achieved}", point.name);
    }
}

const WRITES: &str =
    "[[phase]]\npattern = 'random'\nsize = '4KiB'\nreads = '0%'\nrun = '1s'\nspan = '64GiB'\n";

/// A disk that does 10,000 writes a second, behind a cache of 64 MiB that takes them as fast as they come.
const CACHED: &str = "array:queue?kind=queue-md1&cache.size=64MiB&cache.line=4KiB&cache.read=false";

#[test]
fn behind_a_write_cache_the_lasting_rate_is_found() {
    let (_, found) = searched_on(CACHED, WRITES, &options());
    let found = found.unwrap();
    let cache = found.write_cache.clone().unwrap();
    assert_eq!((cache.bytes, cache.basis.as_str(), cache.overrun), (Some(64 << 20), "array", true));
    assert!(cache.fill_s.is_some(), "{cache:?}");
    assert!((found.ceiling_per_s / 10_000.0 - 1.0).abs() < 0.05, "{}", found.ceiling_per_s);
    // A cache that is full lets writes in as the disk takes them: it can last no higher than that.
    let kept = found.met_per_s.unwrap();
    assert!((8_800.0..=10_000.0).contains(&kept), "{found:?}");
}

#[test]
fn a_rate_that_keeps_no_write_cache_full_is_not_held_against_the_filling_of_it() {
    // Right behind the filling its destaging made even the lowest rates late.
    let text = "[[phase]]\npattern = 'random'\nsize = '8KiB'\nreads = '70%'\nspan = '400GB'\nrun = '1s'\n";
    let low = SearchOptions {
        slos: vec!["p99<20ms".parse().unwrap()],
        look: Nanos::from_secs(15),
        longest: Nanos::from_secs(600),
        within: 0.3,
        ..SearchOptions::of(Vec::new())
    };
    let (_, found) = searched_on("array:h710p-raid6-10?raid=10&disks=12", text, &low);
    let found = found.unwrap();
    assert!(
        found.met_per_s.is_some_and(|met| (400.0..1_000.0).contains(&met)),
        "{:?} {:?}",
        found.met_per_s,
        found.ladder
    );
}

#[test]
fn a_write_cache_that_is_left_alone_answers_and_an_overload_shows_it() {
    let alone = SearchOptions { write_cache: Some(Bytes::ZERO), ..options() };
    let (_, found) = searched_on(CACHED, WRITES, &alone);
    let found = found.unwrap();
    let cache = found.write_cache.clone().unwrap();
    assert_eq!((cache.bytes, cache.overrun, cache.fill_s), (Some(64 << 20), false, None));
    let kept = found.met_per_s.unwrap();
    assert!(kept > 10_300.0, "within the cache more is kept than lasts: {found:?}");
    let after = found.after_overload_per_s.expect("a full cache keeps less");
    assert!((8_000.0..10_300.0).contains(&after), "{after} after an overload, {kept} before");
}

#[test]
fn a_rate_that_fails_is_recovered_from_before_the_next() {
    let (_, found) = searched(READS, &options());
    let found = found.unwrap();
    assert!((found.quiet_ns.unwrap() / 105_263.0 - 1.0).abs() < 0.1, "{:?}", found.quiet_ns);
    for rung in found.ladder.iter().filter(|rung| rung.verdict == "fail" && rung.purpose != "overload") {
        // A queue is empty once a load has drained.
        let recovery = rung.recovery.expect("it was waited for");
        assert!(recovery.complete && recovery.seconds <= 3.0, "{rung:?}");
    }
}

#[test]
fn a_promise_about_reads_alone_is_searched_and_one_about_what_is_not_issued_is_refused() {
    let of = |slo: &str| SearchOptions { slos: vec![slo.parse().unwrap()], ..options() };
    let mixed = "[[phase]]\npattern = 'random'\nreads = '50%'\nrun = '1s'\n";
    let (_, found) = searched(mixed, &of("read.p99<5ms"));
    let found = found.unwrap();
    assert_eq!(found.slos, ["read.p99<5ms"]);
    let kept = found.met_per_s.unwrap();
    assert!((kept / cases()[0].edge - 1.0).abs() < 0.06, "reads and writes share one queue: {kept}");
    let (outcome, found) = searched(READS, &of("write.p99<5ms"));
    assert!(found.is_none());
    assert!(outcome.error.unwrap().to_string().contains("issues none"));
}

#[test]
fn one_load_of_a_plan_with_several_is_searched_by_its_name() {
    let text = "[defaults]\npattern = 'random'\nrun = '1s'\n[[phase]]\nname = 'a x{depth}'\n\
                depth = { sweep = [1, 4] }\n[[phase]]\nstate = 'idle'\nrun = '1s'\n[[phase]]\nname = 'b'\n";
    let named = SearchOptions { load: Some("b".into()), ..options() };
    let (outcome, found) = searched(text, &named);
    assert_eq!(found.unwrap().load.as_deref(), Some("b"));
    assert_eq!(outcome.points[0].name, "idle", "the state before it, and not the load before that");
    let (outcome, _) = searched(text, &options());
    let said = outcome.error.unwrap().to_string();
    assert!(said.contains("--load NAME") && said.contains("\"a x1\", \"b\""), "{said}");
}

const DEEP: &str = "[[phase]]\npattern = 'random'\nsize = '4KiB'\nrun = '1s'\ndepth = 64\n";

fn deepest(slo: &str, budget: Option<u64>, goes_on: bool) -> (Outcome, record::Search) {
    let plan = plan(DEEP);
    let mut world = ModelledWorld::shipped(&plan, "array:queue", Arc::default()).unwrap();
    let options = SearchOptions {
        budget: budget.map(Nanos::from_millis),
        ..SearchOptions::of(vec![slo.parse().unwrap()])
    };
    let depths = DepthOptions { window: Nanos::from_millis(500), goes_on, goes_on_unmet: goes_on };
    let (outcome, found) = run_depth_search(&plan, &options, depths, &mut world, &mut |_| ());
    assert!(outcome.complete && outcome.error.is_none());
    (outcome, found.unwrap())
}

/// When the last load ended, after the first began.
fn took_s(outcome: &Outcome) -> f64 {
    let ends = outcome.points.iter().map(|point| point.ended_ns);
    let from = outcome.points.iter().map(|point| point.started_ns).min().unwrap();
    (ends.max().unwrap() - from) as f64 / 1e9
}

#[test]
fn the_deepest_queue_that_keeps_a_mean_is_that_of_littles_law() {
    // A closed loop on one server of 0.1 ms: each request waits for all before it.
    let (outcome, found) = deepest("mean<1.25ms", None, false);
    let depths = found.depths.unwrap();
    assert_eq!((depths.met, depths.violated, depths.most), (Some(12), Some(13), 64), "{:?}", found.ladder);
    assert!(found.complete && found.confirmed && !found.out_of_time);
    let tried: Vec<u32> = found.ladder.iter().filter_map(|rung| rung.depth).collect();
    assert_eq!(tried, [1, 2, 4, 8, 16, 12, 14, 13, 12]);
    assert!((found.met_per_s.unwrap() / 10_000.0 - 1.0).abs() < 0.05, "{found:?}");
    assert!((took_s(&outcome) - 4.5).abs() < 0.3, "nine windows of half a second: {}", took_s(&outcome));
}

#[test]
fn a_search_for_the_deepest_queue_ends_with_its_budget_and_says_what_is_known() {
    let (outcome, found) = deepest("mean<1.25ms", Some(2_700), false);
    let depths = found.depths.unwrap();
    assert_eq!((depths.met, depths.violated), (Some(8), Some(16)), "{:?}", found.ladder);
    assert!(found.out_of_time && !found.complete && !found.confirmed);
    assert_eq!(
        found.ladder.last().map(|rung| rung.verdict.as_str()),
        Some("undecided"),
        "the sixth is cut short"
    );
    assert!(took_s(&outcome) < 2.8, "{}", took_s(&outcome));
    let (outcome, found) = deepest("mean<1.25ms", Some(200), false);
    assert_eq!((found.depths.unwrap().met, found.met_per_s, found.out_of_time), (None, None, true));
    assert!(took_s(&outcome) < 0.3, "{}", took_s(&outcome));
}

#[test]
fn a_depth_that_was_found_goes_on_to_the_end_of_the_budget_where_that_is_asked_for() {
    let (outcome, found) = deepest("mean<1.25ms", Some(9_000), true);
    assert_eq!(found.depths.unwrap().met, Some(12));
    assert!(found.confirmed && !found.out_of_time, "{found:?}");
    let last = found.ladder.last().unwrap();
    assert!((last.seconds - 5.0).abs() < 0.2, "{last:?}");
    assert!((took_s(&outcome) - 9.0).abs() < 0.1, "{}", took_s(&outcome));
}

#[test]
fn where_one_in_flight_breaks_the_slo_no_depth_keeps_it() {
    let (_, found) = deepest("mean<20us", Some(5_000), false);
    let depths = found.depths.unwrap();
    assert_eq!(
        (depths.met, depths.violated, found.complete, found.out_of_time),
        (None, Some(1), true, false)
    );
    assert_eq!(found.violated_by.as_deref(), Some("mean<20us"));
    // Where it is to go on all the same, it does so until the time is over.
    let (outcome, found) = deepest("mean<20us", Some(5_000), true);
    assert_eq!((found.depths.unwrap().met, found.ladder.len()), (None, 1));
    assert!((took_s(&outcome) - 5.0).abs() < 0.1, "{}", took_s(&outcome));
}

#[test]
fn a_search_for_a_rate_ends_with_its_budget_too() {
    for seconds in [3, 40, 100] {
        let budget = Some(Nanos::from_secs(seconds));
        let (outcome, found) = searched(READS, &SearchOptions { budget, ..options() });
        let found = found.unwrap();
        assert!(outcome.complete && !found.complete && found.out_of_time, "{found:?}");
        assert_eq!(found.budget_s, Some(seconds as f64));
        // What is in flight when the time is over ends by itself.
        let took = took_s(&outcome);
        assert!(took < seconds as f64 + 1.5, "{took} of {seconds}");
        // Two windows are room for a verdict, less is not.
        assert_eq!(found.met_per_s.is_some(), seconds > 3, "{:?}", found.ladder);
        assert!(!found.confirmed);
    }
}
