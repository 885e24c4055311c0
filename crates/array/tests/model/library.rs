//! Every array of the shipped library carries a load.

use array::sim::Sim;
use array::spec::{Shelf, Shipped, Source};
use units::Bytes;
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, client};

#[test]
fn every_shipped_array_answers_small_and_large_requests() {
    for name in Shipped.names(Shelf::Array) {
        let Ok(spec) = array::spec::array(&Shipped, &name) else {
            let file = array::spec::array_file(&Shipped, &name).expect("a shipped file is sound");
            assert!(file.part, "`{name}` is no part, so it is an array");
            continue;
        };
        let mut sim = Sim::new(&spec.topology, 1).expect("a shipped array is possible");
        let size = sim.lun_sizes()[0];
        let loads = [
            (Pattern::RandomWithRepeats, 4, 1.0, 1),
            (Pattern::RandomWithRepeats, 8, 2.0 / 3.0, 16),
            (Pattern::Sequential, 1024, 1.0, 1),
            (Pattern::Sequential, 1024, 1.0, 4),
            (Pattern::Sequential, 1024, 0.0, 4),
        ];
        for ((pattern, kib, reads, depth), seed) in loads.into_iter().zip(2..) {
            let what = format!("{name}: {pattern:?} {kib} KiB, {reads:.2} reads, depth {depth}");
            let ask = Ask { pattern, size: Bytes::KIB * kib, reads, depth, ops: 4_000, rate: None, seed };
            let outcome = sim.run(vec![client(&ask, size)]);
            let elapsed = (outcome.until - outcome.from).as_secs_f64();
            let tally = &outcome.tallies[0];
            assert_eq!((tally.planned, tally.completed, tally.errors), (4_000, 4_000, 0), "{what}");
            for part in &outcome.breakdown {
                assert!(part.utilisation <= 1.01, "{what}: {} was busy for {}", part.name, part.utilisation);
            }
            println!("{what}: {:.0} IOPS, {:.1} MB/s", 4e3 / elapsed, 4e3 * kib as f64 * 1.024e-3 / elapsed);
        }
    }
}

#[test]
fn a_large_read_of_flash_takes_its_first_page_and_then_its_slowest_stage_wherever_that_lies() {
    let spec = array::spec::array(&Shipped, "cm4-x1").expect("a shipped array");
    let (_, channel) = spec.topology.channel.expect("it has a channel");
    let link = spec.topology.link.expect("it has a link");
    let array::device::DeviceParams::Flash(flash) = &spec.topology.models[0] else {
        panic!("its drive is flash")
    };
    let first = flash.read_page.iter().min().expect("a page takes time").as_secs_f64();
    for factor in [0.1, 1.0, 10.0] {
        let mut topology = spec.topology.clone();
        let (rate, params) = (units::BytesPerSecond::new(channel.rate.get() * factor), channel);
        topology.channel = Some((1, array::link::LinkParams { rate, ..params }));
        let mut sim = Sim::new(&topology, 1).expect("possible");
        let size = sim.lun_sizes()[0];
        let ask = Ask {
            pattern: Pattern::RandomWithRepeats,
            size: Bytes::MIB,
            reads: 1.0,
            depth: 1,
            ops: 200,
            rate: None,
            seed: 1,
        };
        let outcome = sim.run(vec![client(&ask, size)]);
        let each = (outcome.until - outcome.from).as_secs_f64() / 200.0;
        let slowest = 1_048_576.0 / link.rate.get().min(rate.get());
        // Commands, processors, and of a stage behind a slower one a burst of 64 KiB.
        let rest = 65_536.0 / link.rate.get() + 250e-6;
        assert!((slowest + first..slowest + first + rest).contains(&each), "{factor}: {each} for {slowest}");
    }
}
