//! Paths, controllers and the layers of a host.

use array::controller::Ownership;
use array::host::Multipath;
use array::sim::Sim;
use array::spec::Shipped;
use array::spec::case::Load;
use units::Nanos;

use crate::fixture::*;

#[test]
fn two_live_paths_without_multipath_collapse_and_with_one_path_throughput_recovers() {
    let load = stream(kib(1024), 1);
    let managed = rate("md3000?multipath=failover", &load);
    assert_more(managed, rate("md3000?multipath=none", &load), 10.0);
    assert_equal(rate("md3000?multipath=none&controllers=1", &load), managed, 0.05);
}

/// Milliseconds that one read of 8 KiB takes in an array at rest.
fn one_read(multipath: Multipath) -> f64 {
    let mut topology = array::spec::array(&Shipped, "md3000").expect("it is shipped").topology;
    topology.host.multipath = multipath;
    let Ownership::Transfer { time } = topology.controller.ownership else {
        panic!("its volumes have owners")
    };
    assert_eq!(time, Nanos::from_secs(1));
    let mut sim = Sim::new(&topology, 1).expect("the shipped array is possible");
    1e3 / worker(&mut sim, &random(kib(8), 1), 1)
}

#[test]
fn reading_a_standby_path_once_moves_the_lun_to_the_other_controller() {
    let (own, ghost) = (one_read(Multipath::Failover), one_read(Multipath::None));
    println!("on its own path {own:.1} ms, on the standby path {ghost:.1} ms");
    assert!(own < 50.0 && ghost > 1_000.0, "{own}, {ghost}");
}

#[test]
fn two_luns_on_two_controllers_do_better_than_one() {
    let load = stream(kib(1024), 4);
    assert_more(rate("md3000?luns=2&stripe=on", &load), rate("md3000", &load), 1.1);
}

#[test]
fn reads_and_writes_at_once_use_both_directions_and_go_higher_than_reads_alone() {
    let read = stream(kib(1024), 4);
    let write = writing(Load { offset: gib(64), ..read.clone() });
    let one_way = rate("md3000", &read);
    assert_more(rate_of("md3000", &[read, write]), one_way, 1.1);
}

#[test]
fn buffered_reads_go_on_beside_writes_because_what_is_written_back_lets_them_pass() {
    // Behind 128 MiB of dirty pages in the host, and behind their data on the link, a read would wait half a second.
    let read = Load { direct: false, ..stream(kib(1024), 1) };
    let write = Load { offset: gib(64), ..writing(read.clone()) };
    let alone = rate("md3000", &read);
    assert_more(rate_of("md3000", &[read, write]), alone, 1.1);
}

#[test]
fn an_adapter_of_twice_the_rate_does_no_better_where_the_drives_are_the_limit() {
    let load = random(kib(64), 48);
    let of = |hba: &str| rate(&format!("esds-s24s-g2240?hba={hba}"), &load);
    assert_equal(of("sas3801e"), of("9201-16e"), 0.05);
}

#[test]
fn a_failed_path_moves_requests_to_its_twin_and_a_mended_one_takes_them_back() {
    let topology = array::spec::array(&Shipped, "md3000").expect("it is shipped").topology;
    let timeout = topology.host.path_timeout;
    let mut sim = Sim::new(&topology, 1).expect("the shipped array is possible");
    let load = random(kib(8), 16);
    let before = worker(&mut sim, &load, 4_000);
    sim.fail_link(0);
    let failing = worker(&mut sim, &load, 4_000);
    assert!(4_000.0 / failing > timeout.as_secs_f64(), "the failure is noticed after {timeout}");
    let on_the_twin = worker(&mut sim, &load, 4_000);
    sim.mend_link(0);
    sim.idle_until(sim.now() + Nanos::from_secs(5));
    let after = worker(&mut sim, &load, 4_000);
    println!("{before:.0}, failing {failing:.0}, on the twin {on_the_twin:.0}, after {after:.0} IOPS");
    assert_equal(on_the_twin, before, 0.1);
    assert_equal(after, before, 0.1);
}

#[test]
fn more_in_flight_than_the_array_accepts_waits_and_gains_nothing() {
    let mut topology = array::spec::array(&Shipped, "md3000").expect("it is shipped").topology;
    topology.host.lun_depth = 256;
    topology.controller.accepts = Some(32);
    let mut rate = |accepts, depth| {
        topology.controller.accepts = accepts;
        let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
        worker(&mut sim, &random(kib(8), depth), 6_000)
    };
    let (all, within, beyond) = (rate(None, 256), rate(Some(32), 32), rate(Some(32), 256));
    println!("all accepted {all:.0}, 32 of 32 {within:.0}, 256 for 32 {beyond:.0} IOPS");
    assert!(beyond <= 1.05 * within && beyond < 0.8 * all, "{beyond}");
}

#[test]
fn a_layer_in_the_host_costs_a_stream_of_small_requests_about_a_fifth() {
    // 25 us for file system and volume manager: a class figure. A longer request hides it.
    let layered = "md3000?host.file_system=25us";
    let small = stream(kib(8), 1);
    let ratio = rate(layered, &small) / rate("md3000", &small);
    assert!((0.7..0.9).contains(&ratio), "{ratio}");
    let large = Load { direct: false, ..stream(kib(1024), 1) };
    assert_equal(rate(layered, &large), rate("md3000", &large), 0.05);
}

#[test]
fn what_is_on_its_way_on_a_path_that_fails_is_lost_and_sent_again_after_the_timeout() {
    let topology = array::spec::array(&Shipped, "md3000").expect("it is shipped").topology;
    let timeout = topology.host.path_timeout;
    let run = |cut: bool| {
        let mut sim = Sim::new(&topology, 1).expect("the shipped array is possible");
        if cut {
            sim.fail_link_at(0, sim.now() + Nanos::from_millis(200));
        }
        // Every request is settled once, without an error: the fixture asserts it.
        4_000.0 / worker(&mut sim, &random(kib(8), 16), 4_000)
    };
    let (whole, cut) = (run(false), run(true));
    let longer = cut - whole;
    println!("{whole:.2} s, with the cut {cut:.2} s");
    assert!((0.95..1.1).contains(&(longer / timeout.as_secs_f64())), "{longer} s");
}
