//! What writes cost once blocks have to be emptied.

use super::super::super::SlcParams;
use super::super::super::map::Collection;
use super::*;

fn mixed(params: &FlashParams) -> f64 {
    let mut drive = FlashDrive::new(params, 1);
    let mut draws = Stream::open(3, "test");
    let mut ends = std::collections::BinaryHeap::new();
    let (mut now, count) = (Instant::START, 300_000);
    for n in 0..count {
        if ends.len() == 128 {
            let std::cmp::Reverse(end) = ends.pop().expect("there are as many as the depth");
            now = end;
        }
        let slot = draws.below(params.capacity.get() / 4096);
        ends.push(std::cmp::Reverse(drive.submit(now, command(slot * 8, 8, n % 10 < 3))));
    }
    f64::from(count) / now.since_start().as_secs_f64()
}

#[test]
fn reads_and_writes_share_one_controller() {
    let params = FlashParams {
        command_gap: Nanos::from_micros(2),
        write_gap: Nanos::from_micros(2),
        write_path: Some(BytesPerSecond::new(1.6e9)),
        over_provisioning: 0.4,
        program_page: Nanos::from_micros(100),
        incremental: true,
        ..nvme()
    };
    let amplification = write_amplification(params.over_provisioning);
    let write_us = 4096.0 / 1.6e9 * 1e6 * (1.0 + 2.0 * (amplification - 1.0));
    let expected = 1e6 / (0.7 * 2.0 + 0.3 * write_us);
    let reached = mixed(&params);
    assert!((reached / expected - 1.0).abs() < 0.05, "{reached} against {expected}");
}

#[test]
fn what_is_trimmed_is_copied_no_more() {
    let mapped = FlashParams { translation: Translation::Mapped { scale: 4_096 }, ..nvme() };
    let rate = |trimmed: bool| {
        let mut drive = FlashDrive::new(&mapped, 1);
        if trimmed {
            drive.trim(Instant::START, 0, u32::MAX);
        }
        let mut draws = Stream::open(2, "test");
        let slots = mapped.capacity.get() / mapped.page.get() / 2;
        let mut now = Instant::START;
        for _ in 0..40_000 {
            now = drive.submit(now, command(draws.below(slots) * 32, 32, true));
        }
        40_000.0 / now.since_start().as_secs_f64()
    };
    assert!(rate(true) > 1.5 * rate(false), "{} against {}", rate(true), rate(false));
}

#[test]
fn the_page_map_and_the_law_agree_on_random_writes() {
    let mut mapped = nvme();
    mapped.translation = Translation::Mapped { scale: 4096 };
    let (law, map) =
        (closed(&nvme(), 32, 300_000, 32, true, true), closed(&mapped, 32, 300_000, 32, true, true));
    assert!((map / law - 1.0).abs() < 0.05, "{map} against {law}");
}

/// Pages that a drive with a page map copies for each written, of `pages` after `before`.
fn copied(
    params: FlashParams,
    sectors: u32,
    [before, pages]: [u64; 2],
    mut first: impl FnMut(u64) -> u64,
) -> f64 {
    // Of blocks so long that no program pays for any.
    let mapped = FlashParams { pages_per_block: 1 << 20, ..params };
    let mut drive = FlashDrive::new(&mapped, 1);
    let commands = |pages: u64| pages * mapped.page.get() / u64::from(sectors) / SECTOR_BYTES;
    let mut copied = 0;
    for n in 0..commands(before + pages) {
        drive.submit(Instant::from_nanos(n * 1_000_000), command(first(n), sectors, true));
        let State::Mapped { owed, .. } = &mut drive.translation else { panic!("it has a map") };
        copied += if n >= commands(before) { u64::from(owed.copied) } else { 0 };
        *owed = Collection::default();
    }
    copied as f64 / pages as f64
}

/// A drive of the smallest map that there is at this scale, and its pages.
fn scaled(scale: u32, state: Written, over_provisioning: f64) -> (FlashParams, u64) {
    let pages = u64::from(crate::device::flash::LEAST_PAGES) * u64::from(scale);
    let translation = Translation::Mapped { scale };
    let capacity = nvme().page * pages;
    (FlashParams { capacity, translation, state, over_provisioning, ..nvme() }, pages)
}

#[test]
fn sequential_writes_copy_nothing_of_a_drive_that_they_have_gone_over_whatever_its_scale_and_state() {
    for scale in [1, 3, 11, 64] {
        for state in [Written::Fresh, Written::InOrder, Written::Steady] {
            let (params, pages) = scaled(scale, state, 0.12);
            let share = copied(params, 256, [pages * 2, pages], |n| n * 256 % (pages * 32));
            assert!(share < 0.01, "scale {scale}, {state:?}: {share}");
        }
    }
}

#[test]
fn sequential_writes_copy_nothing_where_a_block_holds_several_runs_of_a_map() {
    // Blocks of 1,024 pages: four runs that a stream would rewrite one after the other.
    for scale in [3, 11] {
        let pages = 262_144 * u64::from(scale);
        let translation = Translation::Mapped { scale };
        let params = FlashParams { capacity: nvme().page * pages, translation, ..nvme() };
        let share = copied(params, 1_024, [pages * 2, pages], |n| n * 1_024 % (pages * 32));
        assert!(share < 0.01, "scale {scale}: {share}");
    }
}

#[test]
fn sequential_writes_of_any_size_copy_nothing_of_a_page_map_that_they_have_gone_over() {
    for (sectors, planes, streams) in [(8, 1, 1), (8, 2, 3), (128, 4, 1), (200, 2, 2), (1024, 1, 4)] {
        let (params, pages) = scaled(11, Written::Steady, 0.12);
        let all = pages * 32 / streams / u64::from(sectors);
        let first = |n: u64| (n % streams * all + n / streams % all) * u64::from(sectors);
        let share = copied(FlashParams { planes, ..params }, sectors, [pages * 2, pages], first);
        assert!(share < 0.02, "{sectors} sectors, {planes} planes, {streams} streams: {share}");
    }
}

#[test]
fn sequential_writes_cost_a_drive_in_steady_state_what_they_do_whatever_its_scale() {
    // A tenth of a pass over it: its spare room has holes, as random writes leave them.
    let share = |scale: u32| {
        let (params, pages) = scaled(scale, Written::Steady, 0.28);
        copied(params, 256, [0, pages / 10], |n| n * 256)
    };
    let (all, scaled) = (share(1), share(16));
    assert!(all > 0.8 && (scaled / all - 1.0).abs() < 0.1, "{scaled} at a scale of 16, {all} of the whole");
}

#[test]
fn random_writes_follow_the_law_whatever_the_scale_and_the_state_that_a_drive_begins_in() {
    for scale in [3, 11, 64] {
        for state in [Written::Fresh, Written::InOrder, Written::Steady] {
            for over_provisioning in [0.07, 0.14, 0.28, 0.5] {
                let (params, pages) = scaled(scale, state, over_provisioning);
                let mut draws = Stream::open(2, "test");
                let first = |_| draws.below(pages) * 32;
                let programs = 1.0 + copied(params, 32, [60_000, 250_000], first);
                let law = write_amplification(over_provisioning);
                let off = programs / law - 1.0;
                assert!(off.abs() < 0.03, "{scale}, {state:?}, {over_provisioning}: {programs} of {law}");
            }
        }
    }
}

#[test]
fn a_part_of_a_drive_is_that_part_of_its_map_and_a_stream_one_of_it() {
    let mapped = FlashParams { translation: Translation::Mapped { scale: 4_096 }, ..nvme() };
    let mut drive = FlashDrive::new(&mapped, 1);
    let sectors = mapped.capacity.get() / SECTOR_BYTES;
    drive.trim(Instant::START, sectors / 2, narrow::<u32>(sectors / 2));
    let State::Mapped { map, scale, .. } = &drive.translation else { panic!("it has a map") };
    let kept = (0..map.pages()).filter(|page| map.holds(*page)).count() as f64;
    assert!((kept / f64::from(map.pages()) - 0.5).abs() < 0.02, "{kept}");
    let places: Vec<u32> = (0..RUN).map(|number| scale.page(map, 5 * 4_096 * RUN + number)).collect();
    assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{places:?}");
}

/// 1 GiB with half as much spare, whose dies program 64 pages of 16 KiB at a time.
fn little() -> FlashParams {
    FlashParams { capacity: Bytes::GIB, over_provisioning: 0.5, write_buffer: Bytes::ZERO, ..nvme() }
}

/// Writes a second of each of `parts` of `count` random writes of a page.
fn in_parts(params: &FlashParams, parts: usize, count: u64) -> Vec<f64> {
    let mut drive = FlashDrive::new(params, 1);
    let mut draws = Stream::open(2, "test");
    let pages = params.capacity.get() / params.page.get();
    let mut ends = std::collections::BinaryHeap::new();
    let mut now = Instant::START;
    let mut part = || {
        let from = now;
        for _ in 0..count {
            if ends.len() == 256 {
                let std::cmp::Reverse(end) = ends.pop().expect("some are under way");
                now = end;
            }
            let end = drive.submit(now, command(draws.below(pages) * 32, 32, true));
            ends.push(std::cmp::Reverse(end));
        }
        count as f64 / (now - from).as_secs_f64()
    };
    (0..parts).map(|_| part()).collect()
}

#[test]
fn a_drive_fresh_out_of_the_box_writes_without_collection_until_its_flash_is_used() {
    // 65,536 pages and half as many spare: nine of ten parts of 10,000, and then those of a steady drive.
    let fresh = FlashParams { state: Written::Fresh, ..little() };
    let (rates, steady) = (in_parts(&fresh, 12, 10_000), in_parts(&little(), 12, 10_000));
    let programs = 64.0 / (400e-6 + 16_384.0 / 1.2e9);
    for rate in &rates[1..9] {
        assert!((rate / programs - 1.0).abs() < 0.1, "{rate} of {programs}: {rates:?}");
    }
    assert!(rates[..9].iter().all(|rate| *rate > 1.4 * steady[5]), "{rates:?} {steady:?}");
    assert!(rates[10..].iter().all(|rate| (rate / steady[5] - 1.0).abs() < 0.1), "{rates:?} {steady:?}");
    // A page map has them fall from where the flash is used on, over more than a part.
    let translation = Translation::Mapped { scale: 1 };
    let rates = in_parts(&FlashParams { translation, ..fresh }, 24, 10_000);
    assert!(rates[..9].iter().all(|rate| *rate > 1.3 * steady[5]), "{rates:?}");
    assert!(rates[9] > rates[11], "{rates:?}");
    let late = rates[16..].iter().sum::<f64>() / 8.0;
    assert!((late / steady[5] - 1.0).abs() < 0.1, "{late} against {steady:?}");
}

#[test]
fn an_slc_cache_takes_a_burst_at_its_rate_falls_to_that_of_the_flash_and_recovers_in_idle_time() {
    // 64 dies: 16 KiB in 100 us and 14 of the channel with one bit a cell, in 1,600 us else; 256 MiB are 16,384 pages.
    let slc = SlcParams {
        size: Bytes::MIB * 256,
        program_page: Nanos::from_micros(100),
        read_page: None,
        fold_after: Nanos::from_millis(50),
    };
    let params = FlashParams {
        program_page: Nanos::from_micros(1_600),
        write_buffer: Bytes::ZERO,
        slc_cache: Some(slc),
        ..nvme()
    };
    let mut drive = FlashDrive::new(&params, 1);
    let (mut page, mut now) = (0, Instant::START);
    let mut burst = |drive: &mut FlashDrive, now: &mut Instant, pages: u64| {
        let from = *now;
        let mut last = from;
        for _ in 0..pages / 256 {
            let ends = (0..256).map(|_| {
                page += 1;
                drive.submit(*now, command(page * 32, 32, true))
            });
            last = ends.max().unwrap_or(last);
            *now = last;
        }
        (pages as f64) / (last - from).as_secs_f64()
    };
    let [cells, flash] = [100.0, 1_600.0].map(|program| 64.0 / (program * 1e-6));
    let first = burst(&mut drive, &mut now, 16_384);
    assert!(first > 0.5 * cells && first < cells, "{first} of {cells}");
    let full = burst(&mut drive, &mut now, 8_192);
    assert!((full / flash - 1.0).abs() < 0.05, "{full} of {flash}");
    // Each die moves a page in 1,662 us: 223 ms move 8,587.
    now += Nanos::from_millis(50 + 223);
    let again = burst(&mut drive, &mut now, 8_448);
    assert!((again / first - 1.0).abs() < 0.1, "{again} after {first}");
    let full = burst(&mut drive, &mut now, 4_096);
    assert!((full / flash - 1.0).abs() < 0.1, "{full} of {flash}");
    let none = FlashParams { slc_cache: None, ..params };
    let mut drive = FlashDrive::new(&none, 1);
    let without = burst(&mut drive, &mut now, 8_192);
    assert!((without / flash - 1.0).abs() < 0.1, "{without} of {flash}");
}

#[test]
fn collection_shares_the_controllers_way_to_the_flash_with_the_writes_that_cause_it() {
    // Programs would go at 2.5 GB/s.
    let path = 400e6;
    let params = FlashParams { write_path: Some(BytesPerSecond::new(path)), ..nvme() };
    let bytes = |random: bool| closed(&params, 32, 60_000, 32, true, random) * 16_384.0;
    let sequential = bytes(false);
    assert!((sequential / path - 1.0).abs() < 0.02, "{sequential}");
    let copies = write_amplification(params.over_provisioning) - 1.0;
    let (random, law) = (bytes(true), path / (1.0 + 2.0 * copies));
    assert!((random / law - 1.0).abs() < 0.05, "{random} of {law}");
    let fresh = FlashParams { state: Written::Fresh, ..params.clone() };
    let random = closed(&fresh, 32, 60_000, 32, true, true) * 16_384.0;
    assert!((random / path - 1.0).abs() < 0.02, "{random}");
}

#[test]
fn incremental_collection_costs_the_same_and_has_no_read_wait_for_a_block() {
    for translation in [Translation::Steady, Translation::Mapped { scale: 4_096 }] {
        let run = |incremental: bool| {
            let params = FlashParams { incremental, translation, ..nvme() };
            let mut drive = FlashDrive::new(&params, 1);
            let mut draws = Stream::open(2, "test");
            let mut ends = std::collections::BinaryHeap::new();
            let (mut now, mut longest) = (Instant::START, Nanos::ZERO);
            for n in 0..150_000 {
                if ends.len() == 32 {
                    let std::cmp::Reverse(end) = ends.pop().expect("some are under way");
                    now = end;
                }
                let slots = params.capacity.get() / SECTOR_BYTES / 32;
                ends.push(std::cmp::Reverse(drive.submit(now, command(draws.below(slots) * 32, 32, true))));
                if n % 100 == 0 {
                    let end = drive.submit(now, command(draws.below(slots) * 32, 8, false));
                    longest = longest.max(end - now);
                }
            }
            (150_000.0 / now.since_start().as_secs_f64(), longest)
        };
        let ((blocks, stalled), (little, longest)) = (run(false), run(true));
        assert!((little / blocks - 1.0).abs() < 0.05, "{little} and {blocks}");
        // A block of 256 pages has 205 to copy, at 462 us each; else a read waits for one program.
        assert!(stalled > Nanos::from_millis(50) && longest < Nanos::from_millis(20), "{longest} {stalled}");
    }
}

/// What a buffer takes of a burst that comes at `link` and leaves at `flash` is its size over 1 - flash/link.

#[test]
fn random_writes_smaller_than_the_mapping_cost_all_of_it() {
    let small = nvme();
    let coarse = FlashParams { mapping: Bytes::KIB * 16, ..nvme() };
    let ratio = closed(&small, 32, 200_000, 8, true, true) / closed(&coarse, 32, 200_000, 8, true, true);
    assert!((ratio / 4.0 - 1.0).abs() < 0.1, "{ratio}");
    let [small, coarse] = [small, coarse].map(|params| closed(&params, 1, 20_000, 8, true, false));
    assert_eq!(small.to_bits(), coarse.to_bits(), "in sequence nothing is rewritten");
}

#[test]
fn only_pages_that_lie_in_a_trim_whole_are_dropped() {
    // A page map is overwritten until it is steady: a small one soon is.
    let capacity = Bytes::MIB * 16;
    let params =
        FlashParams { capacity, translation: Translation::Mapped { scale: 1 }, ..super::exact::small() };
    let dropped = |first: u64, sectors: u32| -> Vec<u32> {
        let mut drive = FlashDrive::new(&params, 1);
        let end = drive.trim(Instant::START, first, sectors);
        assert_eq!(end.nanos(), 1_000 + 5_000 + 300);
        let State::Mapped { map, .. } = &drive.translation else { panic!("it has a map") };
        (0..map.pages()).filter(|page| !map.holds(*page)).collect()
    };
    assert_eq!((dropped(0, 32), dropped(64, 64)), (vec![0], vec![2, 3]));
    assert_eq!((dropped(1, 32), dropped(31, 34)), (Vec::new(), vec![1]));
    assert!(dropped(5, 0).is_empty());
}

#[test]
fn a_write_smaller_than_the_indirection_unit_rewrites_all_of_it_though_it_is_several_pages() {
    let rate = |mapping: Bytes| {
        let params = FlashParams { mapping, write_buffer: Bytes::MIB, ..nvme() };
        closed(&params, 64, 200_000, 8, true, true)
    };
    let times = rate(Bytes::KIB * 4) / rate(Bytes::KIB * 64);
    assert!((15.0..17.0).contains(&times), "{times} times slower with sixteen sectors to a unit");
}

#[test]
fn a_drive_that_was_filled_in_order_has_its_spare_room_for_the_part_that_is_written_on() {
    // A twentieth of the drive, written so often that the spare room is used twice.
    let rate = |state: Written| {
        let translation = Translation::Mapped { scale: 1 };
        let capacity = Bytes::MIB * 512;
        let program_page = Nanos::from_millis(20);
        let params =
            FlashParams { state, translation, capacity, program_page, write_buffer: Bytes::MIB, ..nvme() };
        let mut drive = FlashDrive::new(&params, 1);
        let mut draws = Stream::open(2, "test");
        let mut now = Instant::START;
        for _ in 0..30_000 {
            now = drive.submit(now, command(draws.below(6_500) * 8, 8, true));
        }
        30_000.0 / now.since_start().as_secs_f64()
    };
    let (in_order, fresh, steady) = (rate(Written::InOrder), rate(Written::Fresh), rate(Written::Steady));
    assert!(in_order > 0.9 * fresh, "{in_order} writes a second, {fresh} of a fresh drive");
    assert!(
        steady < 0.8 * in_order,
        "{steady} writes a second of a drive written at random, {in_order} in order"
    );
}

#[test]
fn by_the_law_a_drive_that_was_filled_in_order_collects_once_its_spare_room_is_used() {
    let params = FlashParams { state: Written::InOrder, ..nvme() };
    let spare = State::new(&params, 1);
    let State::Steady { fresh, .. } = spare else { panic!("a drive by the law") };
    let all = params.physical_pages();
    assert_eq!(fresh, all - params.capacity.get() / params.page.get(), "of {all} pages");
}

#[test]
fn like_drives_share_what_was_written_to_become_steady_and_no_two_collect_in_step() {
    use crate::device::{Device, DeviceParams};
    let (params, pages) = scaled(4, Written::Steady, 0.14);
    let params = DeviceParams::Flash(params);
    let first = Device::new(&params, 1);
    let map = |device: &Device| match device {
        Device::Flash(drive) => match &drive.translation {
            State::Mapped { map, .. } => map.clone(),
            State::Steady { .. } => panic!("it has a map"),
        },
        _ => panic!("a flash drive"),
    };
    let (of_first, apart) = (map(&first), map(&Device::new(&params, 2)));
    assert!(of_first.agrees(&apart) < 0.9, "{}", of_first.agrees(&apart));
    let ends = |mut device: Device| -> Vec<Instant> {
        let Device::Flash(drive) = &mut device else { panic!("a flash drive") };
        let mut draws = Stream::open(2, "test");
        let write = |_| drive.submit(Instant::START, command(draws.below(pages) * 32, 32, true));
        (0..3_000).map(write).collect()
    };
    let mut all = vec![ends(first.clone())];
    for seed in [2, 3] {
        let other = first.another(&params, seed);
        assert!(of_first.agrees(&map(&other)) > 0.95, "{}", of_first.agrees(&map(&other)));
        all.push(ends(other));
    }
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}
