//! RAID 5 over eight Cheetah 9LP, 8 KiB, two reads to a write, against DiskSim 4.0: means within 5 %.

use array::device::{Device, DeviceParams};
use array::meter::Class;
use array::raid::{Extent, Health, Level};
use array::sim::{
    BackEnd, Ended, Engine, Event, OperationSpec, Owner, RunOutcome, Set, Sim, Timeline, Topology,
};
use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Lba, Nanos, Sectors};
use workload::Op;
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client};
use crate::fixture::{SplitMix, cheetah_9lp};

fn eight_drives() -> Topology {
    let drive = cheetah_9lp();
    bare(Level::Raid5, 8, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive))
}

fn run(depth: u32, rate: Option<f64>, ops: u64) -> RunOutcome {
    let topology = eight_drives();
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
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
fn mean_ms(outcome: &RunOutcome, op: Option<Op>) -> f64 {
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

/// The requests of the trace T2 in its own order of draws: when, which, and whether it reads.
fn t2() -> impl FnMut() -> (Instant, Lba, bool) {
    let mut draws = SplitMix::new(2);
    let mut at = 0.0;
    move || {
        at += -(1.0 - draws.unit()).ln() * 1000.0 / 200.0;
        let first = 16 * truncated::<u64>(draws.unit() * 7_780_136.0);
        // The trace has six places of a millisecond.
        (Instant::from_nanos(truncated::<u64>((at * 1e6).round())), Lba(first), draws.unit() < 2.0 / 3.0)
    }
}

/// Mean responses of the first `count` requests of T2 in milliseconds: reads, writes, all.
fn t2_means(count: usize) -> [f64; 3] {
    let topology = eight_drives();
    let device = |&model: &u32| Device::new(&topology.models[model as usize], 1);
    let geometry = topology.sets[0].geometry.clone();
    let set = Set {
        health: Health::new(&geometry),
        geometry,
        is_offline: false,
        disks: topology.sets[0].members.clone(),
        bitmap: None,
        balance: array::sim::ReadBalance::Least,
    };
    let devices = topology.disks.iter().map(device).collect();
    let mut back =
        BackEnd::new(devices, vec![set], vec![Engine::new(&topology.controller)], None, &topology.controller);
    let mut time = Timeline::default();
    let (mut trace, mut requests, mut ended) = (t2(), Vec::new(), [(0.0, 0u32); 2]);
    let mut next = trace();
    time.at(next.0, Event::Job(0));
    while let Some(event) = time.advance() {
        let now = time.now();
        match event {
            Event::Job(_) => {
                let (arrived, lba, reads) = next;
                let class = if reads { Class::HostRead } else { Class::HostWrite };
                let owner = Owner::Request(narrow::<u32>(requests.len()));
                let spec = OperationSpec {
                    set: 0,
                    owner,
                    class,
                    controller: 0,
                    ready: now,
                    flow: Nanos::ZERO,
                    mark: None,
                };
                requests.push((arrived, reads));
                let started = if reads {
                    back.read(&mut time, spec, lba, Sectors(16))
                } else {
                    back.write(&mut time, spec, &[Extent { lba, sectors: Sectors(16) }])
                };
                started.expect("the trace stays within the set");
                if requests.len() < count {
                    next = trace();
                    time.at(next.0, Event::Job(0));
                }
            }
            Event::Disk(disk) => back.disk_done(&mut time, disk),
            Event::Member(chain) => back.member_done(&mut time, chain),
            Event::Chain(chain) => back.chain_ready(&mut time, chain),
            other => panic!("the back end has no {other:?}"),
        }
        while let Some(Ended { owner: Owner::Request(request), .. }) = back.done.pop() {
            let (arrived, reads) = requests[request as usize];
            let (sum, number) = &mut ended[usize::from(!reads)];
            (*sum, *number) = (*sum + (now - arrived).as_secs_f64() * 1e3, *number + 1);
        }
    }
    let [(reads, r), (writes, w)] = ended;
    assert_eq!((r + w) as usize, count);
    [reads / f64::from(r), writes / f64::from(w), (reads + writes) / f64::from(r + w)]
}

#[test]
fn the_trace_itself_takes_what_it_takes_in_disksim() {
    let table = [(10_000, [14.800, 41.167, 23.554002]), (50_000, [14.231, 39.291, 22.551286])];
    for (count, expected) in table {
        let means = t2_means(count);
        for ((what, mean), expected) in ["reads", "writes", "all"].into_iter().zip(means).zip(expected) {
            agrees(&format!("T2, first {count}, {what}"), mean, expected);
        }
    }
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
        // As many requests as there; what the seed draws is within the tolerance too.
        agrees(&format!("RAID 5 at {depth}, 8,000"), mean_ms(&run(depth, None, 8_000), None), expected);
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
