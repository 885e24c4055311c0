//! Initialise, clone, rebuild, verify, and what a host notices of them.

use array::background::BackgroundKind::{Clone, Initialise, InitialiseOnline, InitialiseVerify, Rebuild};
use array::raid::{Geometry, Health, Level, SetSpec};
use array::spec::case::ActivityKind::{Background, Degraded};
use array::spec::case::Load;
use units::{Nanos, Sectors};

use crate::fixture::*;

const OLD: &str = "esds-s24s-g2240?firmware=3.86C.09";
const NEW: &str = "esds-s24s-g2240?firmware=3.88A.03";
const WITH_SPARE: &str = "esds-s24s-g2240?sets=1&spares=1";

#[test]
fn a_rebuild_begins_with_a_start_up_worth_about_a_percent_and_is_then_nearly_linear() {
    let work = Background(Rebuild);
    let first = minutes(OLD, &[], work, 0.0, 1.0);
    let second = minutes(OLD, &[], work, 1.0, 2.0);
    assert!((1.8..2.4).contains(&(first / second)), "{first} and {second} minutes");
    assert_equal(minutes(OLD, &[], work, 1.0, 10.0) / 9.0, second, 0.05);
}

#[test]
fn a_clone_runs_at_nearly_the_drives_own_rate_and_slows_as_the_zones_go_inwards() {
    let work = Background(Clone);
    let outer = work_rate(WITH_SPARE, work, 5.0);
    assert!((0.9..=1.0).contains(&(outer / 157.0)), "{outer} of 157 MB/s");
    let first = minutes(WITH_SPARE, &[], work, 0.0, 10.0);
    let last = minutes(WITH_SPARE, &[], work, 90.0, 100.0);
    assert!((1.6..2.2).contains(&(last / first)), "{first} and {last} minutes");
}

#[test]
fn a_layer_in_the_data_path_makes_initialising_four_times_and_copies_even_more_times_slower() {
    let times = |kind, percent| {
        let arrays = [OLD, NEW].map(|array| match kind {
            Clone => array.replace('?', "?sets=1&spares=1&"),
            _ => array.to_owned(),
        });
        let [old, new] = arrays.map(|array| minutes(&array, &[], Background(kind), 0.0, percent));
        new / old
    };
    let initialise = times(InitialiseOnline, 100.0);
    assert!((3.5..4.6).contains(&initialise), "{initialise}");
    let (clone, rebuild) = (times(Clone, 1.0), times(Rebuild, 1.0));
    assert!(clone > 1.3 * initialise && rebuild > 1.3 * initialise, "{clone}, {rebuild}");
}

#[test]
fn a_layer_in_the_data_path_lowers_writes_and_leaves_reads() {
    let load = stream(kib(1024), 4);
    assert_more(rate(OLD, &writing(load.clone())), rate(NEW, &writing(load.clone())), 1.2);
    assert_equal(rate(OLD, &load), rate(NEW, &load), 0.001);
}

#[test]
fn initialising_online_takes_as_long_as_offline_without_a_host_and_verifying_much_longer() {
    let of = |kind| minutes(OLD, &[], Background(kind), 0.0, 100.0);
    let offline = of(Initialise);
    assert_equal(of(InitialiseOnline), offline, 0.1);
    assert_more(of(InitialiseVerify), offline, 1.5);
}

#[test]
fn what_is_read_back_passes_a_members_limit_twice() {
    // The data services layer lets 24 MB/s of each member through, far below what the disks do.
    let of = |kind| minutes(NEW, &[], Background(kind), 0.0, 10.0);
    assert_equal(of(InitialiseVerify) / of(Initialise), 2.0, 0.1);
    assert_equal(of(InitialiseOnline) / of(Initialise), 1.0, 0.05);
}

#[test]
fn with_the_write_cache_on_a_rebuild_takes_most_of_what_several_workers_get_of_a_degraded_set() {
    // Four workers, as the published tests have; the cache is full of what they have written.
    let array = "perc-3-qc?raid=5&disks=12";
    let load = Load { workers: 4, ..oltp(4) };
    let [degraded, rebuilding] = [Degraded, Background(Rebuild)].map(|work| iops_during(array, &load, work));
    assert_more(degraded, rebuilding, 2.0);
}

#[test]
fn under_oltp_a_healthy_set_is_faster_than_a_degraded_one_and_that_than_a_rebuilding_one() {
    let array = "perc-3-qc?raid=5&disks=12";
    let load = oltp(2);
    let healthy = iops(array, &load);
    let degraded = iops_during(array, &load, Degraded);
    let rebuilding = iops_during(array, &load, Background(Rebuild));
    println!("healthy {healthy:.0}, degraded {degraded:.0}, rebuilding {rebuilding:.0} IOPS");
    assert_more(healthy, degraded, 1.03);
    assert_more(degraded, rebuilding, 1.03);
}

#[test]
fn a_rebuild_that_favours_the_application_takes_most_of_a_single_requests_rate() {
    // One request at a time, as the published 120 healthy and 100 degraded operations a second suggest. The rebuild's
    // 30 % are of the drives' tags: what it has there already goes first.
    let load = |cache: &str, work| {
        let array = format!("perc-3-qc?raid=5&disks=12&write_cache={cache}");
        let load = oltp(1);
        match work {
            Some(work) => iops_during(&array, &load, work),
            None => iops(&array, &load),
        }
    };
    for (cache, collapse) in [("false", 3.0), ("true", 1.3)] {
        let [healthy, degraded, rebuilding] =
            [None, Some(Degraded), Some(Background(Rebuild))].map(|work| load(cache, work));
        println!("healthy {healthy:.0}, degraded {degraded:.0}, rebuilding {rebuilding:.0} IOPS");
        assert_more(healthy, degraded, 1.0);
        assert_more(degraded, rebuilding, collapse);
    }
}

#[test]
fn a_rebuild_takes_longer_under_load_and_less_long_at_a_higher_rate() {
    let of = |rate: &str, loads: &[_]| {
        minutes(&format!("perc-3-qc?raid=5&disks=12&rate={rate}"), loads, Background(Rebuild), 0.0, 2.0)
    };
    let load = oltp(8);
    let (alone, low, high) =
        (of("10%", &[]), of("10%", std::slice::from_ref(&load)), of("60%", std::slice::from_ref(&load)));
    assert_more(low, alone, 2.0);
    assert_more(low, high, 1.5);
    // Without a host nothing has to be shared.
    assert_equal(of("60%", &[]), alone, 0.02);
}

#[test]
fn a_rebuild_takes_longer_on_slower_drives_on_larger_ones_and_in_a_larger_set() {
    let of = |disks: u32, drive: &str| {
        let array = format!("perc-3-qc?raid=5&disks={disks}&drive={drive}");
        minutes(&array, &[], Background(Rebuild), 0.0, 100.0)
    };
    // 18 GB at 15,000 and 10,000 rpm, 36 GB at 10,000 rpm.
    let fast = of(4, "cheetah-x15");
    assert_more(of(4, "cheetah-18lp"), fast, 1.1);
    assert_more(of(4, "cheetah-36es"), fast, 1.5);
    assert_more(of(12, "cheetah-x15"), fast, 1.3);
}

#[test]
fn a_priority_only_matters_with_a_host_at_work() {
    let load = [array::spec::case::Load { run: Nanos::from_secs(5), ..oltp(8) }];
    let of = |rate: &str, loads: &[_]| {
        minutes(&format!("perc-3-qc?raid=10&disks=12&rate={rate}"), loads, Background(Rebuild), 0.0, 1.0)
    };
    // Six commands at a time keep two disks nearly as busy as sixty.
    assert_equal(of("10%", &[]), of("90%", &[]), 0.05);
    assert_more(of("10%", &load), of("90%", &load), 1.5);
}

#[test]
fn a_disk_that_was_pulled_is_refused_until_it_is_cleared() {
    let spec = SetSpec::new(Level::Raid5, 4, Sectors(128), Sectors(1_000_000));
    let geometry = Geometry::new(spec).expect("the set is possible");
    let mut health = Health::new(&geometry);
    health.fail(2).expect("the disk is in the set");
    assert!(health.rebuild_on(2, 2).is_err());
    health.clear(2).expect("the disk has failed");
    health.rebuild_on(2, 2).expect("a cleared disk is as good as a new one");
}
