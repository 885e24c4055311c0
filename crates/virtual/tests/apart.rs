//! Points that are measured side by side are those that are measured one after the other, to the bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::sync::Arc;

use conduct::{Event, Outcome, run_on};
use modelled::ModelledWorld;
use workload::plan::{Overrides, Plan};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

/// What `threads` threads make of it, and the names of the points that they told of.
fn run(text: &str, address: &str, threads: usize) -> (Outcome, Vec<String>) {
    let plan = plan(text);
    let mut world = ModelledWorld::shipped(&plan, address, Arc::default()).unwrap();
    let mut told = Vec::new();
    let outcome = run_on(threads, &plan, &mut world, &mut |event| match event {
        Event::PointStarted { name, .. } => told.push(format!("begins {name}")),
        Event::PointEnded { point } => told.push(format!("ends {} {}", point.name, point.repeat)),
        Event::SweepEnded { why, .. } => told.push(why),
        _ => {}
    });
    (outcome, told)
}

/// Holds two, three and more threads against one; what one gives.
fn same(text: &str, address: &str) -> Outcome {
    let (alone, told) = run(text, address, 1);
    assert!(alone.error.is_none(), "{:?}", alone.error);
    for threads in [2, 3, 8] {
        let (together, heard) = run(text, address, threads);
        assert_eq!(together.points, alone.points, "{threads} threads");
        assert_eq!((together.complete, &together.rounds), (alone.complete, &alone.rounds));
        assert_eq!(heard, told, "{threads} threads");
    }
    alone
}

#[test]
fn a_sweep_with_repeats_is_the_same_record_on_any_number_of_threads() {
    let text = "seed = 7\n[defaults]\nrun = '1s'\nwarmup = '500ms'\nspan = '20GiB'\n[[phase]]\nname = 'mix'\n\
                pattern = 'random'\nreads = '70%'\nsize = '8KiB'\nrepeat = 2\ndepth = { sweep = [1, 8] }\n\
                [[phase]]\nname = 'stream'\npattern = 'sequential'\nsize = '1MiB'\n";
    let outcome = same(text, "array:md3000?raid=5");
    assert_eq!(outcome.points.len(), 5);
    // What is written behind the load is waited for, and the next begins when it is done.
    for pair in outcome.points.windows(2) {
        let settled = pair[1].settled.as_ref().unwrap();
        let idle = (pair[1].started_ns - pair[0].ended_ns) as f64 / 1e9;
        assert!((idle - settled.seconds).abs() < 1e-6, "{idle} {settled:?}");
    }
    // A repeat is another draw.
    let rate = |at: usize| outcome.points[at].workloads[0].total().unwrap().ops_per_s.value;
    assert!(rate(0) != rate(1) && (rate(0) / rate(1) - 1.0).abs() < 0.2, "{} {}", rate(0), rate(1));
}

#[test]
fn repeats_draw_their_services_anew() {
    let text = "[defaults]\nrun = '2s'\nwarmup = '0s'\n[[phase]]\nname = 'q'\nrepeat = 3\npace = 'rate(5000/s)'\ndepth = 1000\n";
    let outcome = same(text, "array:queue?kind=queue-mm1");
    let mean =
        |at: usize| outcome.points[at].workloads[0].total().unwrap().response.as_ref().unwrap().mean_ns;
    assert!(mean(0) != mean(1) && mean(1) != mean(2));
}

#[test]
fn a_rule_that_ends_a_sweep_ends_it_at_the_same_point() {
    let text = "[defaults]\nrun = '1s'\nwarmup = '0s'\n[[phase]]\nname = 'knee'\ndepth = { sweep = [1, 2, 4, 8, 16, 32] }\n\
                until = { flat = 'iops', within = '5%', points = 2 }\n[[phase]]\nname = 'after'\n";
    let outcome = same(text, "array:queue?kind=queue-md1");
    assert!(outcome.points.len() < 7, "{}", outcome.points.len());
    assert_eq!(outcome.points.last().unwrap().name, "after");
}

#[test]
fn what_a_load_leaves_behind_is_there_for_what_is_not_to_begin_at_rest() {
    let text = "[defaults]\nrun = '1s'\nwarmup = '0s'\nspan = '256MiB'\n[[phase]]\nname = 'a'\ndepth = { sweep = [2, 4, 8] }\n\
                [[phase]]\nstate = 'idle'\nrun = '3s'\n[[phase]]\nstate = 'fail disk 2'\n\
                [[phase]]\nname = 'b'\ndepth = { sweep = [2, 4, 8] }\n\
                [[phase]]\nname = 'warm'\nsettle = 'none'\ndepth = 8\n";
    let outcome = same(text, "array:md3000?raid=5");
    assert_eq!(outcome.points.len(), 9);
    let began: Vec<u64> = outcome.points.iter().map(|point| point.started_ns).collect();
    assert!(began.is_sorted(), "{began:?}");
    for pair in outcome.points.windows(2) {
        assert!(pair[0].ended_ns <= pair[1].started_ns, "{} {}", pair[0].name, pair[1].name);
    }
}

#[test]
fn a_map_of_pages_that_remembers_is_not_measured_apart() {
    let text = "[defaults]\nrun = '200ms'\nwarmup = '0s'\nreads = '0%'\nspan = '1GiB'\n[[phase]]\nname = 'a'\ndepth = { sweep = [2, 4] }\n";
    let address = "array:sas-ssd-24?devices.with.flash.translation=mapped&devices.with.flash.map_scale=4096";
    same(text, address);
}
