//! A point of a virtual array gives the same figures alone and after others.

#![allow(clippy::print_stderr, reason = "the figures of a long test are its result")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that meets an error has failed")]

use std::collections::HashMap;
use std::sync::Arc;

use modelled::ModelledWorld;
use record::{Point, PointKind};
use workload::plan::{Overrides, Plan, Settle, ready};

/// The points of `plan` on the array at `address`, measured one after the other.
fn measured(plan: &Plan, address: &str) -> Vec<Point> {
    let mut world = ModelledWorld::shipped(plan, address, Arc::default()).unwrap();
    let outcome = conduct::run(plan, &mut world, &mut |_| ());
    assert!(outcome.complete && outcome.error.is_none(), "{address}: {:?}", outcome.error);
    outcome.points
}

/// The ready plan of that name, its loads no longer than so many seconds each.
fn short(name: &str, seconds: u32) -> Plan {
    let set = [format!("run={seconds}s"), "warmup=1s".into()];
    let overrides = Overrides { set: set.into(), tags: Vec::new() };
    ready::find(name).unwrap().plan(&overrides).unwrap()
}

/// Those points of a plan whose place in it `keep` wants.
fn only(plan: &Plan, keep: impl Fn(usize) -> bool) -> Plan {
    plan.clone().only(|point| keep(point.index))
}

fn rate(point: &Point) -> f64 {
    point.workloads.iter().map(|workload| workload.total().unwrap().ops_per_s.value).sum()
}

/// Half the interval of the rate.
fn half(point: &Point) -> f64 {
    let half = |workload: &record::WorkloadResult| {
        let rate = &workload.total().unwrap().ops_per_s;
        rate.high.unwrap_or(f64::INFINITY) - rate.value
    };
    point.workloads.iter().map(half).sum()
}

/// How many of the points lie further from the same points alone than their interval, or a fiftieth.
fn apart(name: &str, seconds: u32, address: &str, every: usize) -> Vec<String> {
    let plan = short(name, seconds);
    let keep = |index: usize| index.is_multiple_of(every) || index + 1 == plan.points().len();
    let swept = measured(&only(&plan, keep), address);
    let alone =
        |point: &Point| measured(&only(&plan, |index| index == point.index as usize), address).swap_remove(0);
    let differs = |point: &&Point| {
        let (swept, alone) = (rate(point), rate(&alone(point)));
        let told =
            format!("{name} on {address}, \"{}\": {swept:.0}/s in its sweep, {alone:.0}/s alone", point.name);
        ((swept - alone).abs() > half(point).max(0.02 * alone)).then_some(told)
    };
    swept.iter().filter(|point| point.kind == PointKind::Load).filter_map(|point| differs(&point)).collect()
}

#[test]
fn a_point_in_its_sweep_is_the_point_alone() {
    let mut found = Vec::new();
    // A write-back cache of half a gibibyte before disks; a cache before flash.
    for (name, address) in [("random", "array:md3000"), ("corners", "array:md3000?raid=5")] {
        found.extend(apart(name, 3, address, 3));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
#[ignore = "every point of four plans on five arrays, alone and in its sweep: minutes"]
fn every_point_of_four_ready_plans_is_the_point_alone() {
    let arrays =
        ["array:md3000", "array:md3000?raid=10", "array:nvme-jbof-8", "array:nearline-60", "array:ix4-200d"];
    let (mut found, mut plans) = (Vec::new(), HashMap::new());
    for name in ["random", "oltp", "mixed", "corners"] {
        for address in arrays {
            let apart = apart(name, 10, address, 1);
            eprintln!("{name} on {address}: {} apart", apart.len());
            *plans.entry(name).or_insert(0) += apart.len();
            found.extend(apart);
        }
    }
    assert_eq!(found, Vec::<String>::new(), "{plans:?}");
}

/// Writes for long enough to fill the cache, then reads and writes.
const AFTER_WRITES: &str = "[defaults]\npattern = 'random'\nsize = '4KiB'\nrun = '5s'\n\
     [[phase]]\nname = 'fill'\nreads = '0%'\ndepth = 64\nrun = '30s'\n\
     [[phase]]\nname = 'after'\nreads = '0%'\ndepth = 1\nrun = '1s'\n";

#[test]
fn without_coming_to_rest_a_point_depends_on_what_ran_before_it() {
    let plan = |settle: &str| {
        let overrides = Overrides { set: vec![format!("settle={settle}")], tags: Vec::new() };
        Plan::parse("test.toml", AFTER_WRITES, &overrides).unwrap()
    };
    let after = |settle: &str| measured(&plan(settle), "array:md3000").swap_remove(1);
    let (rested, at_once, waited) = (after("auto"), after("none"), after("5m"));
    assert!(rate(&rested) > 2.0 * rate(&at_once), "{} {}", rate(&rested), rate(&at_once));
    assert!((rate(&waited) / rate(&rested) - 1.0).abs() < 0.1, "{} {}", rate(&waited), rate(&rested));
    let settled = rested.settled.expect("what was done is kept");
    assert!(settled.left_bytes == Some(0) && settled.seconds > 1.0, "{settled:?}");
    assert_eq!(at_once.settled, None);
    assert!(waited.settled.unwrap().done.ends_with(" without I/O"));
}

#[test]
fn nothing_stands_before_the_first_load_and_beside_a_state_of_the_plan() {
    let text = "[[phase]]\nname = 'a'\nreads = '0%'\nrun = '1s'\n[[phase]]\nstate = 'idle'\nrun = '1s'\n\
                [[phase]]\nname = 'b'\nreads = '0%'\nrun = '1s'\n[[phase]]\nname = 'c'\nreads = '0%'\nrun = '1s'\n";
    let plan = Plan::parse("test.toml", text, &Overrides::default()).unwrap();
    assert_eq!(plan.phases[0].settle, Settle::Auto);
    let points = measured(&plan, "array:md3000");
    let settled: Vec<bool> = points.iter().map(|point| point.settled.is_some()).collect();
    assert_eq!(settled, [false, false, false, true]);
}
