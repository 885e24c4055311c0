//! Paths, controllers and caches of a shipped dual-controller array.

use array::controller::Ownership;
use array::host::Multipath;
use array::sim::{RunOutcome, Sim, Topology};
use array::spec::Shipped;
use units::{Bytes, BytesPerSecond, Nanos};
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, client};

fn md3000() -> Topology {
    array::spec::array(&Shipped, "md3000").expect("the shipped array is sound").topology
}

fn ask(pattern: Pattern, kib: u64, reads: f64, depth: u32, ops: u64) -> Ask {
    Ask { pattern, size: Bytes::KIB * kib, reads, depth, ops, rate: None, seed: 9 }
}

fn rate(outcome: &RunOutcome, ops: u64) -> f64 {
    assert_eq!((outcome.tallies[0].completed, outcome.tallies[0].errors), (ops, 0));
    ops as f64 / (outcome.until - outcome.from).as_secs_f64()
}

fn run(sim: &mut Sim, ask: &Ask) -> f64 {
    let size = sim.lun_sizes()[0];
    rate(&sim.run(vec![client(ask, size)]), ask.ops)
}

#[test]
fn two_live_paths_without_multipath_make_ownership_thrash() {
    let small = ask(Pattern::RandomWithRepeats, 8, 1.0, 32, 400);
    let managed = run(&mut Sim::new(&md3000(), 1).expect("possible"), &small);
    let mut topology = md3000();
    topology.host.multipath = Multipath::None;
    assert!(matches!(topology.controller.ownership, Ownership::Transfer { .. }));
    let thrashing = run(&mut Sim::new(&topology, 1).expect("possible"), &small);
    println!("managed {managed:.0} IOPS, thrashing {thrashing:.0}");
    assert!(thrashing < managed / 10.0, "{thrashing} of {managed}");
}

#[test]
fn a_path_that_fails_moves_its_requests_to_its_twin_and_gets_them_back() {
    let mut sim = Sim::new(&md3000(), 1).expect("possible");
    let small = ask(Pattern::RandomWithRepeats, 8, 1.0, 16, 2_000);
    let before = run(&mut sim, &small);
    sim.fail_link(0);
    let during = sim.run(vec![client(&small, sim.lun_sizes()[0])]);
    let used = |outcome: &RunOutcome, name: &str| {
        let part = outcome.breakdown.iter().find(|part| part.name.starts_with(name));
        !part.expect("a part beside one that works is told of").visits.is_empty()
    };
    assert!(!used(&during, "link 0 tx") && used(&during, "link 1 tx"));
    sim.mend_link(0);
    let after = run(&mut sim, &small);
    assert!((after / before - 1.0).abs() < 0.1, "{after} against {before}");
}

#[test]
fn round_robin_of_a_host_takes_all_its_paths_whatever_other_hosts_do() {
    let address = "dsi3500?ports=4&luns=4&host.count=2";
    let spec = array::spec::array(&Shipped, address).expect("the shipped array is sound");
    let topology = spec.topology.clone();
    assert!(matches!(topology.host.multipath, Multipath::RoundRobin { .. }));
    let mut sim = Sim::new(&topology, 1).expect("possible");
    // Two hosts that ask alike ask by turns.
    let reads = ask(Pattern::RandomWithRepeats, 4, 1.0, 8, 4_000);
    let size = sim.lun_sizes()[0];
    let of_host = |host: u32| array::sim::Client { host, ..client(&reads, size) };
    let outcome = sim.run(vec![of_host(0), of_host(1)]);
    for host in 0..2 {
        let adapters = outcome.breakdown.iter().filter(|part| {
            part.name.starts_with(&format!("host {host} adapter")) && part.name.ends_with(" tx")
        });
        let came = adapters.map(|part| part.visits.iter().map(|(_, visits)| visits.count).sum::<u64>());
        let came: Vec<u64> = came.filter(|count| *count > 0).collect();
        assert_eq!(came, [2_000, 2_000], "of host {host}");
    }
}

#[test]
fn without_its_partner_a_mirrored_cache_writes_through() {
    let writes = ask(Pattern::RandomWithRepeats, 8, 0.0, 4, 300);
    let mut sim = Sim::new(&md3000(), 1).expect("possible");
    let both = run(&mut sim, &writes);
    sim.fail_controller(1);
    let alone = run(&mut sim, &writes);
    assert!(alone < both / 5.0, "{alone} against {both}");
    sim.mend_controller(1);
    sim.idle_until(sim.now() + units::Nanos::from_secs(60));
    let again = run(&mut sim, &writes);
    assert!(again > both / 2.0, "{again} against {both}");
}

#[test]
fn without_the_read_cache_a_sequential_reader_loses_its_read_ahead_over_many_drives() {
    let stream = ask(Pattern::Sequential, 128, 1.0, 1, 4_000);
    let with = run(&mut Sim::new(&md3000(), 1).expect("possible"), &stream);
    let mut topology = md3000();
    topology.controller.cache.as_mut().expect("it has a cache").read = false;
    let without = run(&mut Sim::new(&topology, 1).expect("possible"), &stream);
    println!("read cache on {:.0} MB/s, off {:.0} MB/s", with * 0.131, without * 0.131);
    assert!(without < 0.75 * with, "{without} of {with}");
}

#[test]
fn past_the_knee_more_readers_add_latency_and_no_throughput() {
    let at = |depth| {
        run(
            &mut Sim::new(&md3000(), 1).expect("possible"),
            &ask(Pattern::RandomWithRepeats, 8, 1.0, depth, 6_000),
        )
    };
    let rates = [1, 16, 64, 256, 1024].map(at);
    println!("{rates:?}");
    assert!(rates[1] > 4.0 * rates[0]);
    assert!((rates[4] / rates[3] - 1.0).abs() < 0.1);
}

#[test]
fn the_cliff_of_a_full_write_cache_ends_at_the_rate_of_the_members() {
    let mut sim = Sim::new(&md3000(), 1).expect("possible");
    let burst = run(&mut sim, &ask(Pattern::RandomWithRepeats, 8, 0.0, 16, 4_000));
    run(&mut sim, &ask(Pattern::RandomWithRepeats, 8, 0.0, 16, 60_000));
    let sustained = run(&mut sim, &ask(Pattern::RandomWithRepeats, 8, 0.0, 16, 10_000));
    println!("burst {burst:.0}, sustained {sustained:.0} IOPS, dirty {}", sim.dirty());
    assert!(sustained < burst / 3.0, "{sustained} of {burst}");
}

#[test]
fn read_ahead_of_the_host_moves_buffered_readers_and_leaves_direct_ones_alone() {
    let stream = ask(Pattern::Sequential, 64, 1.0, 1, 8_000);
    let rate_with = |read_ahead: Bytes, buffered| {
        let mut topology = md3000();
        let pages = topology.host.page_cache.as_mut().expect("its host has a page cache");
        pages.read_ahead = read_ahead;
        // One lane at a time, as its cable is used, would hide what more read-ahead gives.
        let link = topology.link.as_mut().expect("its host is at a distance");
        (link.rate, link.lanes) = (BytesPerSecond::new(1.1e9), 4);
        let mut sim = Sim::new(&topology, 1).expect("possible");
        let size = sim.lun_sizes()[0];
        rate(&sim.run(vec![array::sim::Client { buffered, ..client(&stream, size) }]), 8_000) * 0.0655
    };
    let sizes = [16, 128, 4096].map(|kib| Bytes::KIB * kib);
    let buffered = sizes.map(|size| rate_with(size, true));
    let direct = sizes.map(|size| rate_with(size, false));
    println!("buffered {buffered:.0?} MB/s, direct {direct:.0?} MB/s");
    assert!(buffered[1] > 1.2 * buffered[0] && buffered[2] > 1.2 * buffered[1], "{buffered:?}");
    assert!(direct.iter().all(|rate| (rate / direct[0] - 1.0).abs() < 0.01), "{direct:?}");
}

#[test]
fn what_is_read_ahead_may_outlast_the_load_it_was_read_for() {
    let mut sim = Sim::new(&md3000(), 1).expect("possible");
    let size = sim.lun_sizes()[0];
    let stream = ask(Pattern::Sequential, 64, 1.0, 1, 10);
    let reader = || array::sim::Client { buffered: true, ..client(&stream, size) };
    sim.run(vec![reader(), reader(), reader()]);
    // Its data comes while nobody reads, and while fewer do.
    let later = sim.now().saturating_add(Nanos::from_micros(100));
    sim.idle_until(later);
    let outcome = sim.run(vec![reader()]);
    assert_eq!(outcome.tallies[0].completed, 10);
    sim.idle_until(sim.now().saturating_add(Nanos::from_secs(1)));
}

#[test]
fn a_file_that_fits_the_hosts_memory_is_read_at_memory_speed_the_second_time() {
    let mut sim = Sim::new(&md3000(), 1).expect("possible");
    let small = ask(Pattern::Sequential, 64, 1.0, 1, 1_000);
    let mut pass = || {
        let region = Bytes::MIB * 62 + Bytes::KIB * 512;
        rate(&sim.run(vec![array::sim::Client { buffered: true, ..client(&small, region) }]), 1_000)
    };
    let (cold, warm) = (pass(), pass());
    assert!(warm > 3.0 * cold, "{warm} against {cold}");
}

#[test]
fn two_luns_on_two_controllers_striped_by_the_host_do_better_but_less_than_twice() {
    let stream = ask(Pattern::Sequential, 4096, 1.0, 4, 1_000);
    let one = run(&mut Sim::new(&md3000(), 1).expect("possible"), &stream);
    let spec = array::spec::array(&Shipped, "md3000?luns=2&stripe=on").expect("the options are known");
    let mut sim = Sim::new(&spec.topology, 1).expect("possible");
    assert_eq!(sim.lun_sizes().len(), 1);
    let two = run(&mut sim, &stream);
    println!("one LUN {:.0} MB/s, two striped {:.0} MB/s", one * 4.19, two * 4.19);
    assert!(two > 1.1 * one && two < 2.0 * one, "{two} against {one}");
}
