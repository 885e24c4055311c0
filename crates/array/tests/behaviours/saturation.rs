//! Where more load gives no more, and what the limit is.

use array::spec::case::Load;
use units::{Bytes, Nanos};

use crate::fixture::*;

#[test]
fn a_worker_asks_no_faster_than_its_thread_and_another_worker_as_much_again() {
    let load = |workers| Load { workers, ..random(kib(4), 256) };
    // 4 us of the host and 1 us of md for each request.
    let one = iops("nvme-raid0-4", &load(1));
    assert!((one / 200e3 - 1.0).abs() < 0.02, "{one}");
    let two = iops("nvme-raid0-4", &load(2));
    assert!((two / one - 2.0).abs() < 0.04, "{two} against {one}");
    let shared = iops("nvme-raid0-4?host.threads=false", &load(1));
    assert!(shared > 3.0 * one, "{shared} against {one}");
}

#[test]
fn a_mirror_that_the_host_keeps_costs_each_request_more_than_a_stripe() {
    let load = Load { workers: 1, ..random(kib(4), 256) };
    let of = |options: &str| iops(&format!("nvme-raid0-4?disks=2{options}"), &load);
    // 4 us of the host, 1 us of md and 1.56 us of its mirror.
    let mirror = of("&raid=1");
    assert!((mirror / 152.4e3 - 1.0).abs() < 0.02, "{mirror}");
    assert_equal(of("&raid=1&host.mirroring=0us"), of("&raid=0"), 0.02);
    assert_equal(of("&raid=0&host.mirroring=0us"), of("&raid=0"), 0.0);
}

#[test]
fn past_the_knee_more_readers_add_latency_and_no_operations() {
    let readers = |workers| Load { workers, ..random(kib(8), 1) };
    let (few, many) = (readers(120), readers(240));
    assert_equal(iops("md3000", &many), iops("md3000", &few), 0.1);
    assert_more(latency("md3000", &many), latency("md3000", &few), 1.8);
}

#[test]
fn small_random_requests_follow_the_number_of_drives_and_large_streams_do_not() {
    // As many outstanding for each drive. Three LUNs, as the host queues no more than 64 on one.
    let of = |disks: u32| {
        let small = Load { luns: 3, ..random(kib(8), 4 * disks) };
        iops(&format!("md3000?raid=0&luns=3&disks={disks}"), &small)
    };
    let ratio = of(14) / of(7);
    assert!((1.85..2.15).contains(&ratio), "{ratio}");
    let large = stream(kib(1024), 4);
    assert_equal(rate("md3000?raid=0&disks=14", &large), rate("md3000?raid=0&disks=8", &large), 0.05);
}

#[test]
fn large_requests_reach_a_plateau_of_megabytes_that_small_ones_rise_to_more_slowly() {
    let large = [1, 8, 16, 32].map(|depth| rate("md3000", &random(kib(1024), depth)));
    let small = [1, 8, 16, 32].map(|depth| rate("md3000", &random(kib(8), depth)));
    assert_more(large[1], large[0], 1.5);
    assert_equal(large[3], large[2], 0.1);
    assert_more(small[3], small[2], 1.2);
    assert!(small[3] < large[0], "{small:?} {large:?}");
}

#[test]
fn a_flat_line_that_moves_with_files_and_not_with_threads_is_a_limit_of_the_file() {
    let threads = |workers, luns| Load { workers, luns, span: Some(gib(1)), ..random(kib(8), 8) };
    let one_file = iops("dsi3500?luns=4", &threads(4, 1));
    assert_equal(iops("dsi3500?luns=4", &threads(8, 1)), one_file, 0.05);
    assert_more(iops("dsi3500?luns=4", &threads(1, 4)), one_file, 2.0);
}

#[test]
fn each_further_file_adds_less_because_what_all_files_share_goes_round_among_processors() {
    let of = |contention: &str, files: u32| {
        let load = Load { workers: 2, luns: files, span: Some(Bytes::MIB * 16), ..random(kib(8), 8) };
        let load = Load { warmup: Nanos::from_millis(500), run: Nanos::from_millis(100), ..load };
        iops(&format!("dsi3500?luns={files}&host.contention={contention}"), &load)
    };
    let [one, two, six, ten] = [1, 2, 6, 10].map(|files| of("5.5%", files));
    let gains = [two - one, (six - two) / 4.0, (ten - six) / 4.0];
    assert!(gains[0] > gains[1] && gains[1] > gains[2], "{gains:?}");
    // Gunther's law: n / (1 + contention (n - 1)).
    assert_equal(ten / one, 10.0 / (1.0 + 0.055 * 9.0), 0.03);
    assert_equal(of("0%", 10) / of("0%", 1), 10.0, 0.03);
}

#[test]
fn many_faster_disks_show_behind_a_processor_that_takes_busy_commands_along() {
    let of = |interrupt: &str, drive: &str| {
        iops(
            &format!("perc-3-qc?raid=0&disks=32&drive={drive}&controller.interrupt={interrupt}"),
            &Load { workers: 4, ..oltp(64) },
        )
    };
    let gain = |interrupt: &str| of(interrupt, "cheetah-x15") / of(interrupt, "cheetah-18lp");
    assert_more(gain("70us"), 1.15, 1.0);
    assert_equal(gain("0us"), 1.0, 0.05);
}

#[test]
fn every_layer_of_the_host_costs_small_requests_their_share() {
    let load = Load {
        span: Some(Bytes::MIB * 64),
        warmup: Nanos::from_secs(40),
        run: Nanos::from_secs(1),
        ..random(kib(8), 1)
    };
    let of = |layers: u32| iops(&format!("md3000?host.layers={layers}"), &load);
    let [raw, one, three] = [0, 1, 3].map(of);
    assert!(raw > one && one > three, "{raw}, {one}, {three}");
    // 12 us each, where the controller's cache answers; `layers` of the published cases has what was said of it.
    assert_equal(1e6 / three - 1e6 / raw, 36.0, 0.02);
}

#[test]
fn a_flat_line_that_neither_threads_nor_files_move_is_at_the_links_own_ceiling() {
    let large = |workers, luns| Load { workers, luns, span: Some(gib(4)), ..random(kib(256), 8) };
    let eight_links = 8.0 * 413.0;
    for load in [large(4, 1), large(8, 1), large(4, 4)] {
        assert_equal(rate("dsi3500?luns=4", &load), eight_links, 0.03);
    }
    assert_equal(rate("dsi3500?luns=4&ports=4", &large(4, 4)), eight_links / 2.0, 0.03);
}

#[test]
fn for_large_requests_a_thread_and_a_file_are_worth_the_same_and_for_small_ones_a_file_is_worth_more() {
    let load = |size, workers, luns| Load { workers, luns, span: Some(gib(1)), ..random(kib(size), 8) };
    let array = "dsi3500?luns=4";
    assert_equal(rate(array, &load(256, 2, 1)), rate(array, &load(256, 1, 2)), 0.02);
    assert_more(iops(array, &load(8, 1, 4)), iops(array, &load(8, 4, 1)), 1.5);
}

#[test]
fn four_workers_reading_sequentially_make_disks_seek_and_reach_half_of_the_channel_where_one_goes_faster() {
    let streams = |workers, depth| Load { workers, span: None, ..stream(kib(64), depth) };
    let array = "perc-3-qc?raid=0&disks=8&channels=1";
    let four = rate(array, &streams(4, 1));
    assert!((0.35..0.65).contains(&(four / 160.0)), "{four} of 160 MB/s");
    assert_more(rate(array, &streams(1, 4)), four, 1.1);
}

#[test]
fn few_disks_hide_a_controllers_generation_and_many_show_it() {
    let compare = |options: &str, load: &Load| {
        iops(&format!("perc-3-qc?{options}"), load) / iops(&format!("perc-2-qc?{options}"), load)
    };
    let few = compare("raid=0&disks=4&drive=cheetah-18lp", &oltp(16));
    let many = compare("raid=0&disks=32&drive=cheetah-18lp", &oltp(256));
    assert!((0.9..1.15).contains(&few) && many > 1.5, "{few}, {many}");
}

#[test]
fn bins_of_a_millisecond_hide_what_tells_cached_flash_from_flash() {
    let load = |span| Load { span: Some(span), warmup: Nanos::from_secs(20), ..random(kib(8), 1) };
    let (cached, flash) = (load(gib(1)), load(gib(40)));
    for load in [&cached, &flash] {
        let first_bin = share_within("dsi3500", load, Nanos::from_millis(1));
        assert!(first_bin > 0.99, "{first_bin}");
    }
    assert_more(latency("dsi3500", &flash), latency("dsi3500", &cached), 2.0);
}
