//! Caches, and how they mislead.

use array::sim::Sim;
use array::spec::Shipped;
use array::spec::case::Load;
use units::{Bytes, Nanos, Share};

use crate::fixture::*;

#[test]
fn a_load_that_finds_the_caches_filled_writes_no_faster_than_they_empty() {
    let load = Load { warmup: Nanos::ZERO, run: Nanos::from_secs(2), ..writing(random(kib(8), 64)) };
    let (empty, filled) = (iops("p2000-g3", &load), iops("p2000-g3", &Load { fills: true, ..load }));
    assert!(empty > 3.0 * filled, "{empty} against {filled}");
}

#[test]
fn a_page_cache_that_holds_the_file_answers_at_once() {
    let load = Load { direct: false, span: Some(gib(1)), ..random(kib(64), 1) };
    let array = "esds-s24s-g2240?memory=4GiB&cache.read=false";
    let (cold, held) = (iops(array, &load), iops(array, &Load { held: Share::ALL, ..load.clone() }));
    assert!(held > 5.0 * cold, "{held} against {cold}");
}

#[test]
fn a_test_file_that_fits_the_controllers_cache_measures_the_cache_alone() {
    let small = Load { span: Some(Bytes::MIB * 64), warmup: Nanos::from_secs(60), ..random(kib(8), 1) };
    assert_more(iops("md3000", &small), iops("md3000", &random(kib(8), 1)), 10.0);
}

#[test]
fn without_the_read_cache_long_sequential_reads_drop() {
    let long = stream(kib(1024), 1);
    let array = "md3000?luns=2&stripe=on";
    assert_more(rate(array, &long), rate(&format!("{array}&cache=false"), &long), 1.15);
}

#[test]
fn the_cache_of_cached_flash_hides_the_flash() {
    let one = |span| Load { span: Some(span), warmup: Nanos::from_secs(20), ..random(kib(8), 1) };
    assert_more(latency("dsi3500", &one(gib(40))), latency("dsi3500", &one(gib(1))), 2.0);
}

#[test]
fn a_2_gb_file_on_a_2_gb_cache_no_longer_follows_the_number_of_disks() {
    let file = |span| Load { span: Some(span), warmup: Nanos::from_secs(220), ..random(kib(4), 16) };
    let compare = |load: &Load| {
        iops("px6-300d?raid=0&disks=6&protocol=iscsi", load)
            / iops("px6-300d?raid=0&disks=2&protocol=iscsi", load)
    };
    let (cached, uncached) = (compare(&file(kib(512 << 10))), compare(&file(gib(200))));
    // Eight threads keep six disks less busy than two.
    assert!(cached < 1.2 && uncached > 1.7, "{cached}, {uncached}");
}

fn host(memory: &str) -> Sim {
    let spec =
        array::spec::array(&Shipped, &format!("esds-s24s-g2240?memory={memory}")).expect("it is shipped");
    Sim::new(&spec.topology, 1).expect("the shipped array is possible")
}

#[test]
fn more_memory_in_the_host_makes_seeks_look_better_and_streams_not() {
    let seen = |memory| {
        let mut sim = host(memory);
        let all = Load { direct: false, span: Some(gib(8)), ..stream(kib(1024), 1) };
        let pass = worker(&mut sim, &all, 8 * 1024);
        let seeks = Load { direct: false, span: Some(gib(8)), ..random(kib(8), 1) };
        (pass, worker(&mut sim, &seeks, 3_000))
    };
    let ((stream_less, seeks_less), (stream_more, seeks_more)) = (seen("4GiB"), seen("24GiB"));
    println!(
        "4 GiB: {stream_less:.0} MiB/s, {seeks_less:.0} IOPS; 24 GiB: {stream_more:.0} MiB/s, {seeks_more:.0} IOPS"
    );
    assert_equal(stream_more, stream_less, 0.02);
    assert_more(seeks_more, seeks_less, 1.5);
}

#[test]
fn direct_requests_do_not_see_the_hosts_memory() {
    let seeks = random(kib(8), 1);
    let array = |memory: &str| format!("esds-s24s-g2240?memory={memory}");
    assert_equal(iops(&array("24GiB"), &seeks), iops(&array("4GiB"), &seeks), 0.001);
}

#[test]
fn reading_other_data_first_takes_a_file_out_of_the_arrays_cache() {
    let mut sim = host("4GiB");
    let file = Load { span: Some(Bytes::MIB * 64), ..random(kib(8), 16) };
    let elsewhere = Load { offset: gib(100), span: Some(gib(100)), ..stream(kib(1024), 4) };
    let fill = Load { span: Some(Bytes::MIB * 64), ..stream(kib(64), 4) };
    worker(&mut sim, &fill, 1024);
    let warm = worker(&mut sim, &file, 2_000);
    worker(&mut sim, &elsewhere, 6 * 1024);
    let cold = worker(&mut sim, &file, 2_000);
    println!("in the cache {warm:.0} IOPS, after other data {cold:.0} IOPS");
    assert_more(warm, cold, 3.0);
}
