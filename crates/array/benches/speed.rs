//! Requests a second of CPU time, with the record's histograms on: `cargo bench -p fathom-array --bench speed`.
//!
//! T1, T2 and W3 are the loads of the comparison with DiskSim 4.0 and MQSim on the same kind of machine: there they
//! ran at 77,700, 28,600 and 19,000 requests a second, and 4 KiB flash reads at 122,000.
//!
//! Rates differ between machines, and on one machine from hour to hour: the last column is the rate as a part of that
//! of a loop of plain work beside it, and compares programs. Words after `--` choose loads by their beginning.
//!
//! Instructions instead of seconds, of a hundredth of each load: `valgrind --tool=callgrind` on the executable that
//! `cargo bench --no-run` names, with such a word and without `--bench`.

#![allow(clippy::print_stdout)]

#[path = "../tests/model/fixture/mod.rs"]
#[allow(dead_code)]
mod fixture;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use array::device::rotating::Order;
use array::device::{DeviceParams, RotatingParams};
use array::raid::Level;
use array::sim::{Sim, Topology, Watch};
use array::spec::Shipped;
use units::{Bytes, Sectors};
use workload::JobSpec;
use workload::spec::{Pattern, SizeSplit};

use fixture::topology::{Ask, bare, client_of, job};
use fixture::{cheetah_9lp, tagged};

fn main() {
    // `cargo test` runs benches once to see that they work; the full length is for `cargo bench`.
    let scale = if std::env::args().any(|argument| argument == "--bench") { 1 } else { 100 };
    println!(
        "{:<34} {:>10} {:>12} {:>12} {:>8} {:>10}",
        "load", "requests", "CPU s", "requests/s", "events/r", "of plain"
    );
    let drive = cheetah_9lp();
    let one = bare(Level::Raid0, 1, 128, drive.capacity, DeviceParams::Rotating(drive.clone()));
    let eight = bare(Level::Raid5, 8, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive.clone()));
    let ask = Ask {
        pattern: Pattern::RandomWithRepeats,
        size: Bytes::KIB * 4,
        reads: 1.0,
        depth: 4096,
        ops: 3_000_000 / scale,
        rate: Some(60.0),
        seed: 1,
    };
    let halves = SizeSplit(vec![(Bytes::KIB * 4, 0.5), (Bytes::KIB * 8, 0.5)]);
    let measure_t1 = |name, traces| measure_sizes(name, &one, &ask, &halves, traces);
    measure_t1("T1 random read, one disk", false);
    let t2 = Ask {
        size: Bytes::KIB * 8,
        reads: 2.0 / 3.0,
        ops: 1_000_000 / scale,
        rate: Some(200.0),
        ..ask.clone()
    };
    measure("T2 8 KiB 2:1, RAID 5 of 8", &eight, &t2);
    let closed = Ask { rate: None, depth: 1, ..ask.clone() };
    let w3 =
        Ask { pattern: Pattern::Sequential, size: Bytes::KIB * 64, ops: 3_000_000 / scale, ..closed.clone() };
    measure("W3 sequential 64 KiB read", &one, &w3);
    let flash = array::spec::device(&Shipped, "nvme-1920").expect("the shipped drive is sound").0;
    let flash = bare(Level::Raid0, 1, 128, flash.capacity, flash.params);
    let flash_ask = Ask { depth: 32, ops: 3_000_000 / scale, ..closed.clone() };
    measure("4 KiB flash read, depth 32", &flash, &flash_ask);
    for depth in [1, 4, 16, 64, 256, 1024, 4096] {
        let queued = RotatingParams { queue: tagged(Order::Sptf, 32), ..drive.clone() };
        let topology = bare(Level::Raid0, 1, 128, drive.capacity, DeviceParams::Rotating(queued));
        measure(
            &format!("SPTF, depth {depth}"),
            &topology,
            &Ask { depth, ops: 500_000 / scale, ..closed.clone() },
        );
    }
    measure_t1("T1, traces kept", true);
    for (name, topology, ask) in [("T2", &eight, &t2), ("W3", &one, &w3), ("flash", &flash, &flash_ask)] {
        measure_sizes(&format!("{name}, traces kept"), topology, ask, &SizeSplit::one(ask.size), true);
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak}");
    }
}

fn measure(name: &str, topology: &Topology, ask: &Ask) {
    measure_sizes(name, topology, ask, &SizeSplit::one(ask.size), false);
}

/// The same of requests of several sizes, which begin at multiples of `ask.size`.
fn measure_sizes(name: &str, topology: &Topology, ask: &Ask, sizes: &SizeSplit, traces: bool) {
    // Words of the command line choose loads by their beginning, as in other benches.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
    if words.peek().is_some() && !words.any(|word| name.starts_with(&word)) {
        return;
    }
    let before = plain_work(ask.ops / 4);
    let start = cpu_seconds();
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    if traces {
        sim.trace_latency();
    }
    let size = sim.lun_sizes()[0];
    let ready = cpu_seconds();
    // A run of millions of requests spans days of the array's time: its intervals are written out as they close.
    let asked = client_of(JobSpec { sizes: sizes.clone(), ..job(ask, size) });
    let outcome = sim.run_watched(vec![asked], |_, job| {
        drop(job.take_intervals());
        Watch::GoOn
    });
    let spent = cpu_seconds() - ready;
    assert_eq!(outcome.tallies[0].completed, ask.ops);
    let (rate, events) = (ask.ops as f64 / spent, outcome.events as f64 / ask.ops as f64);
    let part = rate / (before + plain_work(ask.ops / 4)) * 2.0;
    println!(
        "{name:<34} {:>10} {spent:>12.3} {rate:>12.0} {events:>8.2} {part:>10.3}  start {:.1} ms",
        ask.ops,
        (ready - start) * 1e3
    );
}

/// How many times a second the barest loop of a simulator goes round: a drawn time into a heap of 256, the least out of
/// it, and a division.
fn plain_work(rounds: u64) -> f64 {
    let (mut drawn, mut sum) = (88_172_645_463_325_252_u64, 0_u64);
    let mut heap: BinaryHeap<Reverse<u64>> = (0..256).map(Reverse).collect();
    let start = cpu_seconds();
    for _ in 0..rounds {
        // Marsaglia's xorshift64 (Journal of Statistical Software 8(14), 2003).
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        let Some(mut least) = heap.peek_mut() else { break };
        let Reverse(now) = *least;
        *least = Reverse(now + drawn % 1_000_000);
        sum = sum.wrapping_add(now / (1 + drawn % 1_000));
    }
    std::hint::black_box(sum);
    rounds as f64 / (cpu_seconds() - start)
}

/// CPU time of this process: the machine's other work does not count.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is our own, and its zeros are a time should the call fail. By libc, because valgrind, which
    // counts the instructions of this benchmark, does not bear rustix's own look for the vDSO.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The largest resident size so far, as Linux tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_string())
}
