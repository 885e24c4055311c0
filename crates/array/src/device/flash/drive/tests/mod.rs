//! Against closed forms: one command, limits, laws of long runs.

mod collection;
mod exact;
mod flushes;

use units::BytesPerSecond;

use super::super::{Translation, Victims, Written};
use super::*;
use crate::device::flash::map::write_amplification;
use crate::streams::Stream;

/// An enterprise NVMe drive of 2021 in round figures.
fn nvme() -> FlashParams {
    FlashParams {
        capacity: Bytes::GIB * 1800,
        over_provisioning: 0.12,
        channels: 8,
        dies_per_channel: 8,
        planes: 1,
        read_planes: 1,
        page: Bytes::KIB * 16,
        mapping: Bytes::KIB * 4,
        keeps_page: false,
        read_ahead: Bytes::ZERO,
        pages_per_block: 256,
        read_page: vec![Nanos::from_micros(62)],
        program_page: Nanos::from_micros(400),
        erase_block: Nanos::from_millis(3),
        suspend: None,
        channel: BytesPerSecond::new(1.2e9),
        command: Nanos::from_micros(14),
        write_command: Nanos::from_micros(14),
        command_gap: Nanos::new(700),
        write_gap: Nanos::new(700),
        link: BytesPerSecond::new(6.9e9),
        link_command: Nanos::ZERO,
        write_buffer: Bytes::MIB * 4,
        protected: true,
        flush: None,
        fua: None,
        flushes_alone: false,
        translation: Translation::Steady,
        victims: Victims::Greedy,
        state: Written::Steady,
        incremental: false,
        write_path: None,
        slc_cache: None,
    }
}

fn command(first: u64, sectors: u32, write: bool) -> Command {
    let class = if write { Class::HostWrite } else { Class::HostRead };
    Command { first, sectors, tag: 0, write, class, ready: Instant::START, given: Instant::START }
}

/// Operations per second with `depth` always outstanding.
fn closed(params: &FlashParams, depth: usize, count: u64, sectors: u32, write: bool, random: bool) -> f64 {
    let mut drive = FlashDrive::new(params, 1);
    let mut draws = Stream::open(2, "test");
    let slots = params.capacity.get() / SECTOR_BYTES / u64::from(sectors);
    let mut ends = std::collections::BinaryHeap::new();
    let mut now = Instant::START;
    for n in 0..count {
        if ends.len() == depth {
            let std::cmp::Reverse(end) = ends.pop().expect("depth is at least one");
            now = end;
        }
        let slot = if random { draws.below(slots) } else { n % slots };
        let end = drive.submit(now, command(slot * u64::from(sectors), sectors, write));
        ends.push(std::cmp::Reverse(end));
    }
    count as f64 / now.since_start().as_secs_f64()
}
#[test]
fn a_write_has_a_time_and_a_largest_rate_of_its_own() {
    let params = FlashParams {
        write_command: Nanos::from_micros(4),
        write_gap: Nanos::from_micros(10),
        write_buffer: Bytes::GIB,
        ..nvme()
    };
    let rate = |params: &FlashParams, write| closed(params, 64, 20_000, 8, write, true);
    assert!((rate(&params, true) / 100_000.0 - 1.0).abs() < 0.02, "one in ten microseconds");
    assert_eq!(rate(&params, false), rate(&nvme(), false), "reads are as they were");
    let alone =
        |params: &FlashParams| FlashDrive::new(params, 1).submit(Instant::START, command(0, 8, true)).nanos();
    let plain = FlashParams { write_buffer: Bytes::GIB, ..nvme() };
    let (gap_ns, command_ns) = (10_000 - 700, 14_000 - 4_000);
    assert_eq!(alone(&plain) + gap_ns - command_ns, alone(&params), "the gap is waited for as well");
}

#[test]
fn one_small_read_is_command_page_channel_and_link() {
    let mut drive = FlashDrive::new(&nvme(), 1);
    let end = drive.submit(Instant::START, command(8, 8, false));
    // 0.7 + 14 + 62 + 4096/1.2e9 + 4096/6.9e9 = 80.7 µs
    assert!(end.nanos().abs_diff(80_700) < 300, "{}", end.nanos());
}

#[test]
fn deep_random_reads_meet_the_limit_of_the_dies() {
    let limit = 64.0 / 65.4e-6;
    let reached = closed(&nvme(), 512, 200_000, 8, false, true);
    assert!(reached < limit && reached > 0.85 * limit, "{reached} of {limit}");
}

#[test]
fn planes_that_read_by_themselves_are_as_many_times_as_fast_at_small_reads_and_no_faster_at_writes() {
    let planes =
        |read_planes| FlashParams { planes: 4, read_planes, channels: 4, dies_per_channel: 2, ..nvme() };
    let reads = |read_planes| closed(&planes(read_planes), 512, 100_000, 8, false, true);
    let (limit, reached) = (8.0 / 62e-6, reads(1));
    assert!(reached < limit && reached > 0.9 * limit, "{reached} of {limit}");
    assert!((reads(4) / reached - 4.0).abs() < 0.2, "{} of {reached}", reads(4));
    let writes = |read_planes| closed(&planes(read_planes), 32, 100_000, 32, true, true);
    assert!((writes(4) / writes(1) - 1.0).abs() < 0.001, "a program takes all planes of its die");
    let mut drive = FlashDrive::new(&planes(4), 1);
    drive.restart_meter(at_micros(0));
    let ends: Vec<Instant> =
        (0..400).map(|n| drive.submit(at_micros(n * 5), command(n * 4_096, 8, n % 5 == 0))).collect();
    let last = ends.into_iter().fold(Instant::START, Instant::max);
    assert_eq!(drive.servers(), 32, "four planes of each of eight dies");
    drive.close_meter(last);
    assert!(
        drive.dies().utilisation_gap().is_some_and(|gap| gap < 0.01),
        "each is busy as long as it serves"
    );
}

fn at_micros(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

#[test]
fn large_reads_meet_the_link() {
    let bytes = closed(&nvme(), 8, 5_000, 2048, false, true) * 1_048_576.0;
    assert!((bytes / 6.9e9 - 1.0).abs() < 0.05, "{bytes}");
}

#[test]
fn sustained_random_writes_pay_the_write_amplification() {
    let params = nvme();
    let rate = closed(&params, 32, 400_000, 32, true, true);
    let amplification = write_amplification(params.over_provisioning);
    let page_us = amplification * 400.0 + (amplification - 1.0) * 62.0 + 13.7;
    let expected = 64.0 / page_us * 1e6;
    assert!((rate / expected - 1.0).abs() < 0.15, "{rate} against {expected}");
}

#[test]
fn sequential_writes_do_not() {
    let params = nvme();
    let (random, sequential) =
        (closed(&params, 32, 200_000, 32, true, true), closed(&params, 32, 200_000, 32, true, false));
    assert!(sequential > 2.5 * random, "{sequential} against {random}");
}

#[test]
fn a_buffer_takes_a_burst_at_the_rate_of_the_interface_until_it_is_full() {
    let params = FlashParams {
        link: BytesPerSecond::new(4e9),
        write_buffer: Bytes::MIB * 64,
        command: Nanos::ZERO,
        write_command: Nanos::ZERO,
        command_gap: Nanos::ZERO,
        write_gap: Nanos::ZERO,
        ..nvme()
    };
    let flash = 64.0 * 16_384.0 / 400e-6;
    let absorbed = 64.0 * 1_048_576.0 / (1.0 - flash / 4e9);
    let mut drive = FlashDrive::new(&params, 1);
    let mut now = Instant::START;
    let mut taken = 0;
    loop {
        let end = drive.submit(now, command(taken / SECTOR_BYTES, 256, true));
        // 131,072 bytes take the interface 33 us.
        if (end - now).get() > 60_000 {
            break;
        }
        taken += 131_072;
        now = end;
    }
    assert!((taken as f64 / absorbed - 1.0).abs() < 0.05, "{taken} of {absorbed}");
}

#[test]
fn dies_are_busy_for_throughput_times_service_whatever_reads_and_writes_do_to_each_other() {
    for (suspend, writes) in [(None, 3), (Some(Nanos::from_micros(100)), 3), (None, 1), (None, 0)] {
        let params = FlashParams { suspend, ..nvme() };
        let mut drive = FlashDrive::new(&params, 1);
        let mut draws = Stream::open(2, "test");
        let mut now = Instant::START;
        for n in 0..60_000 {
            if n == 20_000 {
                drive.restart_meter(now);
            }
            now += Nanos::new(draws.below(60_000));
            let write = draws.below(6) < writes;
            drive.submit(now, command(draws.below(1 << 30) * 8, 8 << draws.below(4), write));
        }
        drive.close_meter(now);
        let gap = drive.dies().utilisation_gap();
        assert!(gap.is_some_and(|gap| gap < 1e-9), "{gap:?}");
        assert!(drive.dies().total().count >= 40_000 * (6 - writes) / 6);
    }
}

#[test]
fn the_busiest_part_of_a_drive_is_what_bounds_it() {
    let busiest = |params: &FlashParams, write: bool| {
        let mut drive = FlashDrive::new(params, 1);
        let mut draws = Stream::open(2, "test");
        let mut now = Instant::START;
        // 64 are always under way.
        let mut ends = std::collections::BinaryHeap::new();
        for n in 0..30_000 {
            if n == 20_000 {
                drive.restart_meter(now);
            }
            if ends.len() == 64
                && let Some(std::cmp::Reverse(end)) = ends.pop()
            {
                now = now.max(end);
            }
            ends.push(std::cmp::Reverse(drive.submit(now, command(draws.below(1 << 26) * 8, 8, write))));
        }
        let waited = drive.meter().total().wait_ns;
        let share = drive.busiest(now).each().get() as f64 / (now - drive.meter().since()).get() as f64;
        assert!((0.95..1.01).contains(&share), "{share} of {}", drive.busiest(now).name);
        assert!(waited > 0, "commands wait for what bounds them");
        drive.busiest(now).name
    };
    let path = Some(BytesPerSecond::new(50e6));
    assert_eq!(busiest(&FlashParams { write_path: path, ..nvme() }, true), "flash write path");
    assert_eq!(busiest(&nvme(), true), "flash dies");
    let slow = FlashParams { command_gap: Nanos::from_micros(10), ..nvme() };
    assert_eq!(busiest(&slow, false), "drive controller");
    let both = FlashParams { write_path: path, ..slow };
    assert_eq!(busiest(&both, false), "drive controller", "reads wait for no page");
    let narrow = FlashParams { link: BytesPerSecond::new(0.3e9), ..nvme() };
    assert_eq!(busiest(&narrow, false), "link from the drive");
}

#[test]
fn a_kept_page_answers_the_small_reads_that_follow_in_it() {
    let forgets = closed(&nvme(), 1, 3200, 1, false, false);
    let keeps = closed(&FlashParams { keeps_page: true, ..nvme() }, 1, 3200, 1, false, false);
    // One page read in 32, the command alone for the rest.
    assert!(keeps > 4.0 * forgets, "{keeps} {forgets}");
    let random = closed(&FlashParams { keeps_page: true, ..nvme() }, 1, 3200, 1, false, true);
    assert!((random / forgets - 1.0).abs() < 0.02, "{random} {forgets}");
}

#[test]
fn a_stream_that_is_read_ahead_of_waits_for_no_page_and_what_is_random_for_as_long_as_before() {
    let ahead = FlashParams { read_ahead: Bytes::KIB * 256, ..nvme() };
    // Of 81 us the command and its data over the link are left.
    let (with, without) =
        (closed(&ahead, 1, 4_000, 8, false, false), closed(&nvme(), 1, 4_000, 8, false, false));
    let alone = 1e6 / (0.7 + 14.0 + 4096.0 / 6_900.0);
    assert!((with / alone - 1.0).abs() < 0.01, "{with} for {alone}");
    assert!(without < 13_000.0, "{without}");
    let random = |params: &FlashParams| closed(params, 4, 4_000, 8, false, true);
    assert!((random(&ahead) / random(&nvme()) - 1.0).abs() < 0.005);
    // Where the link is the limit it stays.
    let deep = |params: &FlashParams| closed(params, 32, 4_000, 256, false, false);
    assert!((deep(&ahead) / deep(&nvme()) - 1.0).abs() < 0.02, "{} {}", deep(&ahead), deep(&nvme()));
}

#[test]
fn a_stream_that_leaves_out_what_lies_ahead_of_it_is_still_read_ahead_of() {
    // The member of a set with parity: five pieces of 64 KiB, and the sixth is not asked for.
    let mut drive = FlashDrive::new(&FlashParams { read_ahead: Bytes::KIB * 256, ..nvme() }, 1);
    let mut now = Instant::START;
    let mut longest = Nanos::ZERO;
    for piece in (0..600_u64).filter(|piece| piece % 6 != 5) {
        let end = drive.submit(now, command(piece * 128, 128, false));
        if piece >= 5 {
            longest = longest.max(end.saturating_since(now));
        }
        now = end;
    }
    assert!(longest < Nanos::from_micros(60), "no page of 62 us is waited for whole: {longest}");
}
