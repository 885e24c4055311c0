//! RAID 5 over eight Cheetah 9LP, 8 KiB, two reads to a write, against DiskSim 4.0: means within 5 %.

use array::device::DeviceParams;
use array::raid::Level;
use array::sim::{Outcome, Sim};
use units::{Bytes, Sectors};
use workload::Op;
use workload::spec::Pattern;

use crate::fixture::cheetah_9lp;
use crate::fixture::plant::{Ask, bare, client};

fn run(depth: u32, rate: Option<f64>, ops: u64) -> Outcome {
    let drive = cheetah_9lp();
    let plant = bare(Level::Raid5, 8, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive));
    let mut sim = Sim::new(&plant, 1).expect("the plant is possible");
    let size = sim.lun_sizes()[0];
    let ask = Ask {
        pattern: Pattern::RandomWithRepeats,
        size: Bytes::KIB * 8,
        reads: 2.0 / 3.0,
        depth,
        ops,
        rate,
        seed: 2,
    };
    sim.run(vec![client(&ask, size)])
}

/// Mean response in milliseconds of one operation, or of all.
fn mean_ms(outcome: &Outcome, op: Option<Op>) -> f64 {
    let classes = outcome.tallies[0].classes.iter().filter(|class| op.is_none_or(|op| class.class.op == op));
    let (sum, count) = classes.fold((0.0, 0), |(sum, count), class| {
        (sum + class.response.sum_ns() as f64 / 1e6, count + class.response.count())
    });
    sum / count as f64
}

fn agrees(what: &str, modelled: f64, disksim: f64) {
    let error = modelled / disksim - 1.0;
    println!("{what}: {modelled:.3} ms, DiskSim {disksim:.3} ms ({:+.1} %)", error * 100.0);
    assert!(
        error.abs() <= 0.05,
        "{what}: {modelled:.3} ms, DiskSim {disksim:.3} ms ({:+.1} %)",
        error * 100.0
    );
}

#[test]
fn two_hundred_requests_a_second_take_what_they_take_in_disksim() {
    let outcome = run(4096, Some(200.0), 400_000);
    agrees("T2 reads", mean_ms(&outcome, Some(Op::Read)), 14.231);
    agrees("T2 writes", mean_ms(&outcome, Some(Op::Write)), 39.291);
    agrees("T2", mean_ms(&outcome, None), 22.551286);
}

#[test]
fn a_closed_loop_saturates_as_in_disksim() {
    let table = [
        (1, 11.597),
        (2, 14.171),
        (4, 18.928),
        (8, 28.471),
        (16, 48.186),
        (32, 87.958),
        (64, 169.979),
        (128, 325.033),
    ];
    for (depth, expected) in table {
        agrees(&format!("RAID 5 at {depth}"), mean_ms(&run(depth, None, 24_000), None), expected);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_bit_for_bit() {
    let runs = [run(16, None, 20_000), run(16, None, 20_000)];
    let [first, second] = &runs;
    assert_eq!((first.until, first.events), (second.until, second.events));
    assert_eq!(first.breakdown, second.breakdown);
    for (a, b) in first.tallies[0].classes.iter().zip(&second.tallies[0].classes) {
        assert_eq!(a.response, b.response);
    }
}
