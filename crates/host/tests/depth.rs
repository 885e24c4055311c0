//! `depth` means that so many requests are in the device, and a latency contains no other request.
//!
//! Needs root, FUSE and losetup; says so and skips where they are missing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::print_stdout, reason = "the figures of a measurement")]
// The helpers of loop devices serve other tests as well.
#[allow(dead_code)]
mod loops;
mod slow;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::clock::Clock;
use host::engine::FileRef;
use host::load::{Assignment, LoadEvent, WorkerOutcome, run};
use slow::{Answers, Slow};
use units::{Bytes, Nanos};
use workload::compile;
use workload::spec::{EngineKind, EngineSpec, Workload};

const SIZE: Bytes = Bytes::new(256 << 20);

/// Direct random reads of 4 KiB.
fn reads(engine: EngineKind, depth: usize, batch: u32, more: &[(&str, &str)]) -> Workload {
    let (depth, batch) = (depth.to_string(), batch.to_string());
    let keys = [
        ("pattern", "random"),
        ("size", "4KiB"),
        ("depth", &depth),
        ("submit_batch", &batch),
        ("complete_batch", &batch),
        ("direct", "true"),
    ];
    let plain = workload::plan::from_texts("depth", keys.into_iter().chain(more.iter().copied())).unwrap();
    Workload { engine: EngineSpec { kind: engine, ..plain.engine }, ..plain }
}

fn load(
    device: &Slow,
    workload: &Workload,
    clock: &Clock,
    event: &mut dyn FnMut(LoadEvent),
) -> WorkerOutcome {
    let jobs = compile(workload, &[SIZE]).unwrap();
    let files = vec![FileRef { path: device.node.clone().into(), permit: None }];
    let assignment = Assignment::new(workload.clone(), jobs, files);
    run(&[assignment], clock, &AtomicBool::new(false), event).unwrap().remove(0)
}

#[test]
fn a_slot_is_filled_again_after_each_completion_at_every_depth() {
    const OPS: u64 = 600;
    let Some(device) = Slow::make(SIZE) else { return };
    let clock = Clock::start();
    // A loop device has 128 tags. A completion is told before its tag is free again, and who waits for a tag is woken when
    // several are (wake_batch of lib/sbitmap.c): with all of them taken the kernel itself may wait for a second one.
    let engines = [(EngineKind::IoUring, &[1, 8, 32, 96][..]), (EngineKind::Pread, &[1, 8, 32])];
    for (engine, depth) in
        engines.into_iter().flat_map(|(kind, depths)| depths.iter().map(move |d| (kind, *d)))
    {
        // It answers one request whenever all slots are filled: who waits for a second completion waits for ever.
        device.answer(Answers::OneWhenFull { depth, total: OPS });
        let outcome = load(&device, &reads(engine, depth, 1, &[("ops", "600")]), &clock, &mut |_| ());
        let seen = device.seen();
        assert!(!seen.is_stuck, "{engine:?} at depth {depth} waits for more than one completion: {seen:?}");
        assert_eq!((seen.received, seen.most, outcome.tally.errors), (OPS, depth, 0), "{engine:?}");
    }
}

#[test]
fn a_batch_of_completions_is_waited_for_where_the_plan_says_so() {
    let Some(device) = Slow::make(SIZE) else { return };
    let clock = Clock::start();
    device.patience(Duration::from_millis(300));
    for engine in [EngineKind::IoUring, EngineKind::Pread] {
        // Four answers at a time, and never fewer than four slots filled at once.
        let workload = reads(engine, 8, 4, &[("ops", "64")]);
        device.answer(Answers::After(Nanos::from_millis(2)));
        let outcome = load(&device, &workload, &clock, &mut |_| ());
        assert_eq!((outcome.tally.errors, outcome.tally.ops()), (0, 64));
        // An engine that does not wait for four would be answered here until its load ends.
        device.answer(Answers::OneWhenFull { depth: 8, total: 64 });
        load(&device, &workload, &clock, &mut |_| ());
        let seen = device.seen();
        assert!(seen.is_stuck && seen.most == 8, "{engine:?} took a single completion: {seen:?}");
    }
}

#[test]
#[ignore = "measures for half a minute and wants a machine that is otherwise idle"]
fn the_kernel_sees_as_many_in_flight_as_the_depth_and_latency_is_depth_over_rate() {
    let Some(device) = Slow::make(SIZE) else { return };
    let clock = Clock::start();
    device.answer(Answers::After(Nanos::from_millis(10)));
    let mut wrong = Vec::new();
    for depth in [1, 8, 32, 128] {
        let workload = reads(EngineKind::Auto, depth, 1, &[("warmup", "500ms"), ("run", "5s")]);
        let mut marks = Vec::new();
        let outcome = load(&device, &workload, &clock, &mut |event| {
            if let LoadEvent::Progress(_) = event {
                marks.push((clock.now(), device.weighted_ms()));
            }
        });
        let begun = marks[0].0 + Nanos::from_millis(500);
        let marks: Vec<_> = marks.into_iter().filter(|mark| mark.0 > begun).collect();
        let ((from, before), (until, after)) = (marks[0], marks[marks.len() - 1]);
        let in_flight = (after - before) as f64 / 1e3 / (until - from).as_secs_f64();
        let response = &outcome.tally.classes[0].response;
        let window = (outcome.tally.measured_until - outcome.tally.measured_from).as_secs_f64();
        let (rate, mean_s) = (response.count() as f64 / window, response.mean().unwrap() / 1e9);
        let (little, depth) = (rate * mean_s, depth as f64);
        println!(
            "depth {depth}: {in_flight:.2} in flight by the kernel, {rate:.0}/s, {:.3} ms, rate x latency {little:.2}",
            mean_s * 1e3
        );
        if (in_flight / depth - 1.0).abs() > 0.01 || (little / depth - 1.0).abs() > 0.01 {
            wrong.push(depth);
        }
    }
    assert!(wrong.is_empty(), "more than 1 % off at depths {wrong:?}");
}
