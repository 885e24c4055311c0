//! The array lab: how long a load curve takes.
//!
//! First the quantiles over 200 settings with knobs turned at random, on all arrays of the library, of the quick look that
//! a page draws first and of the whole; then divan's figures of some arrays as they are. `LAB_SLOWEST=20` also prints the
//! slowest of the settings.

#![allow(clippy::print_stdout, reason = "the quantiles are the result")]

use std::hint::black_box;

use array::spec::Shipped;
use divan::Bencher;
use modelled::lab::curve::curve;
use modelled::lab::{Effort, Setting};
use modelled::what_if::rate_of;
use rustix::time::{ClockId, clock_gettime};
use units::convert::truncated;

#[path = "../tests/turned/mod.rs"]
mod turned;

const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const CHANGES: usize = 200;

fn main() {
    quantiles("quick", Effort::Quick);
    quantiles("full", Effort::Full);
    divan::main();
}

/// A setting, how long its answer took in milliseconds of the clock and of processors, and what it was.
struct Taken {
    wall: f64,
    processor: f64,
    told: String,
}

type Column = fn(&Taken) -> f64;

fn quantiles(told: &str, effort: Effort) {
    let settings = turned::settings(CHANGES);
    let mut taken: Vec<Taken> = settings.iter().map(|setting| take(setting, effort)).collect();
    let columns: [(&str, Column); 2] = [("clock", |one| one.wall), ("processors", |one| one.processor)];
    for (name, of) in columns {
        taken.sort_by(|one, other| of(one).total_cmp(&of(other)));
        let at = |q: f64| of(&taken[truncated::<usize>(((taken.len() - 1) as f64 * q).round())]);
        let [median, p90, p99, longest] = [0.5, 0.9, 0.99, 1.0].map(at);
        println!("{told}, {name}: median {median:.1} ms, p90 {p90:.1}, p99 {p99:.1}, longest {longest:.1}");
    }
    let refused = taken.iter().filter(|one| one.told.starts_with("refused")).count();
    println!("{refused} of {CHANGES} refused with a reason");
    let shown = std::env::var("LAB_SLOWEST").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    for Taken { wall, processor, told } in taken.iter().rev().take(shown) {
        println!("{wall:.1} {processor:.1} {told}");
    }
}

fn take(setting: &Setting, effort: Effort) -> Taken {
    let now = |clock: ClockId| {
        let at = clock_gettime(clock);
        at.tv_sec as f64 * 1e3 + at.tv_nsec as f64 / 1e6
    };
    let (began, used) = (now(ClockId::Monotonic), now(ClockId::ProcessCPUTime));
    let answer = black_box(curve(setting, &DEPTHS, effort, &Shipped));
    let (wall, processor) = (now(ClockId::Monotonic) - began, now(ClockId::ProcessCPUTime) - used);
    let told = match answer {
        Err(error) => format!("refused: {error}"),
        Ok(curve) => {
            let rates: Vec<f64> = curve.loads.iter().map(|load| rate_of(&load.point).value.round()).collect();
            let completed = |load: &modelled::lab::curve::DepthLoad| {
                load.point.workloads.iter().map(|workload| workload.completed).sum::<u64>()
            };
            let count: u64 = curve.loads.iter().map(completed).sum();
            let workload = setting.workload;
            format!("{} {workload:?}: {count} requests, {rates:?}", setting.array)
        }
    };
    Taken { wall, processor, told }
}

#[divan::bench(sample_count = 20, args = ["md3000?raid=5", "px6-300d", "nvme-jbof-8", "esds-s24s-g2240"])]
fn load_curve(bencher: Bencher, array: &str) {
    let array = format!("array:{array}");
    let setting = Setting { array, workload: turned::usual(), fail: Vec::new(), seed: 1 };
    bencher.bench_local(|| curve(black_box(&setting), &DEPTHS, Effort::Full, &Shipped).expect("it answers"));
}
