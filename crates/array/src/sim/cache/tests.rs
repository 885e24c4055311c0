//! A cache against what its figures say.

use super::*;
use crate::controller::PrefetchParams;
use crate::raid::{Level, SetSpec};
use units::{Bytes, Lba, Sectors, Share};

fn geometry() -> Geometry {
    Geometry::new(SetSpec::new(Level::Raid5, 5, Sectors(128), Sectors(1 << 20)))
        .expect("five members make a RAID 5")
}

fn cache(size: Bytes) -> Cache {
    let geometry = geometry();
    let share = |part| Share::new(part).expect("a share");
    let params = CacheParams {
        size,
        line: Bytes::KIB * 16,
        block: Bytes::new(512),
        write_part: Share::ALL,
        read_part: Share::ALL,
        bypass: None,
        read: true,
        fills: false,
        write_back: true,
        protected: false,
        mirrored: false,
        dirty_high: share(0.8),
        dirty_low: share(0.4),
        dirty_age: Nanos::from_secs(10),
        destage_window: 4,
        partial_window: 4,
        stripes: Bytes::ZERO,
        prefetch: PrefetchParams { streams: 8, confirm: 2, start: Bytes::KIB * 256, max: Bytes::MIB },
    };
    Cache::new(&params, std::iter::once(&geometry))
}

/// All of set 0.
const ALL: VolumeRange = VolumeRange { set: 0, from: 0, to: 1 << 20 };

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "bytes are dirty where stripes are")]
fn bytes_that_are_dirty_in_no_stripe_are_a_mistake() {
    let mut cache = cache(Bytes::MIB);
    cache.dirty_bytes = 512;
    cache.assert_counts();
}

#[test]
fn small_writes_of_one_stripe_leave_as_one_full_stripe() {
    let mut cache = cache(Bytes::MIB * 64);
    let now = Instant::START;
    let mut extents = Vec::new();
    for n in 0..31 {
        assert!(cache.write(now, 0, n * 16, (n + 1) * 16));
        assert_eq!(cache.destage(now, true, &mut extents), None);
    }
    cache.write(now, 0, 31 * 16, 512);
    let batch = cache.destage(now, false, &mut extents).expect("the stripe is full");
    assert_eq!(batch.bytes, 512 * 512);
    assert_eq!(extents, [Extent { lba: Lba(0), sectors: Sectors(512) }]);
}

#[test]
fn a_full_cache_refuses_writes_until_something_has_left() {
    let mut cache = cache(Bytes::KIB * 64);
    let (now, mut extents) = (Instant::START, Vec::new());
    for n in 0..8 {
        assert!(cache.write(now, 0, n * 512, n * 512 + 16));
    }
    assert!(!cache.write(now, 0, 9 * 512, 9 * 512 + 16));
    let batch = cache.destage(now, false, &mut extents).expect("room is short");
    assert!(!cache.write(now, 0, 9 * 512, 9 * 512 + 16));
    cache.end(batch.transfer, &mut Vec::new());
    assert!(cache.write(now, 0, 9 * 512, 9 * 512 + 16));
}

#[test]
fn stripes_leave_upwards_under_pressure_and_rest_below_the_low_mark() {
    let mut cache = cache(Bytes::KIB * 80);
    let (now, mut extents) = (Instant::START, Vec::new());
    for n in [5, 1, 9, 3, 7, 2, 8, 4] {
        cache.write(now, 0, n * 512, n * 512 + 16);
    }
    let mut order = Vec::new();
    while let Some(batch) = cache.destage(now, false, &mut extents) {
        order.push(extents[0].lba.0 / 512);
        cache.end(batch.transfer, &mut Vec::new());
    }
    assert_eq!(order, [1, 2, 3, 4]);
}

#[test]
fn what_is_rewritten_takes_no_more_room() {
    let mut cache = cache(Bytes::MIB);
    for _ in 0..1_000 {
        assert!(cache.write(Instant::START, 0, 0, 16));
    }
    assert_eq!(cache.dirty_bytes(), 16 * 512);
}

#[test]
fn what_is_written_takes_whole_blocks_until_it_is_with_the_members() {
    let size = Bytes::MIB;
    let mut cache = cache(size);
    cache.block = 128;
    let (now, mut extents) = (Instant::START, Vec::new());
    let full = (0..1_000).position(|n| !cache.write(now, 0, n * 512, n * 512 + 8));
    assert_eq!(full, Some(16), "sixteen blocks of 64 KiB, of each a sixteenth");
    assert_eq!((cache.dirty_bytes(), cache.write_room()), (16 * 4096, 16 * 4096), "room for such writes");
    let batch = cache.destage(now, false, &mut extents).expect("it is full");
    assert_eq!(batch.bytes, 4096, "no more moves than was written");
    assert!(!cache.write(now, 0, 1 << 20, (1 << 20) + 8), "what leaves is still here");
    cache.end(batch.transfer, &mut Vec::new());
    assert!(cache.write(now, 0, 1 << 20, (1 << 20) + 8));
    assert!(!cache.write(now, 0, 1 << 21, (1 << 21) + 8));
}

#[test]
fn a_flush_waits_for_what_was_dirty_and_not_for_what_came_later() {
    let mut cache = cache(Bytes::MIB * 64);
    cache.params.destage_window = 1;
    let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
    assert!(!cache.drain(ALL, 7), "nothing is dirty");
    cache.write(now, 0, 0, 16);
    cache.write(now, 0, 512, 528);
    assert!(cache.drain(ALL, 7));
    cache.write(now, 0, 1024, 1040);
    for end in [false, true] {
        cache.drained(&mut released);
        assert!(released.is_empty());
        let batch = cache.destage(now, false, &mut extents).expect("the flush calls for it");
        assert_eq!(extents[0].lba.0, if end { 512 } else { 0 });
        cache.end(batch.transfer, &mut Vec::new());
    }
    cache.drained(&mut released);
    assert_eq!(released, [7]);
    assert_eq!(cache.destage(now, false, &mut extents), None, "what came later may rest");
    assert_eq!(cache.dirty_bytes(), 16 * 512);
}

#[test]
fn a_flush_of_a_volume_waits_for_nothing_of_another_and_once_for_each_stripe() {
    let mut cache = cache(Bytes::MIB * 64);
    let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
    let volumes = [0u64, 4096].map(|from| VolumeRange { set: 0, from, to: from + 4096 });
    cache.write(now, 0, 0, 512);
    let other = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
    cache.write(now, 0, 4096, 4112);
    assert!(cache.drain(volumes[1], 7));
    let own = cache.destage(now, false, &mut extents).expect("the flush calls for it");
    // Written again while it is on its way: that is newer than the flush.
    cache.write(now, 0, 4096, 4112);
    cache.end(own.transfer, &mut Vec::new());
    cache.drained(&mut released);
    assert_eq!(released, [7], "the other volume's stripe is still on its way");
    assert!(cache.is_leaving(volumes[0]));
    cache.end(other.transfer, &mut Vec::new());
    assert!(!cache.is_leaving(volumes[0]) && cache.is_leaving(volumes[1]));
}

#[test]
fn what_a_partner_takes_over_is_dirty_there_and_here_no_more() {
    let (mut old, mut new) = (cache(Bytes::MIB), cache(Bytes::MIB));
    let now = Instant::START;
    assert!(old.write(now, 0, 0, 64) && old.write(now, 0, 4096, 4128) && new.write(now, 0, 32, 80));
    new.take_over(&mut old, VolumeRange { set: 0, from: 0, to: 4096 });
    assert_eq!((old.dirty_bytes(), new.dirty_bytes()), (32 * 512, 80 * 512));
}

#[test]
fn a_flush_waits_for_a_destage_that_is_under_way() {
    let mut cache = cache(Bytes::MIB * 64);
    let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
    cache.write(now, 0, 0, 512);
    let batch = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
    assert!(cache.drain(ALL, 7));
    cache.drained(&mut released);
    assert!(released.is_empty());
    cache.end(batch.transfer, &mut Vec::new());
    cache.drained(&mut released);
    assert_eq!(released, [7]);
}

#[test]
fn parts_of_stripes_that_read_first_are_limited_by_themselves_and_writes_by_their_part() {
    let mut cache = cache(Bytes::MIB * 64);
    cache.params.partial_window = 1;
    cache.params.dirty_low = Share::NONE;
    let now = Instant::START;
    let mut extents = Vec::new();
    let stripe = cache.cuts[0].stripe;
    for n in 0..4 {
        assert!(cache.write(now, 0, n * stripe, n * stripe + 8));
    }
    cache.press();
    assert!(cache.destage(now, false, &mut extents).is_some());
    assert!(cache.destage(now, false, &mut extents).is_none(), "one at a time");
    assert!(cache.write(now, 0, 10 * stripe, 11 * stripe));
    assert!(cache.destage(now, false, &mut extents).is_some(), "a full stripe reads nothing");
    let small = CacheParams { write_part: Share::new(0.25).unwrap(), ..cache.params };
    let geometry = geometry();
    let mut small = Cache::new(&small, std::iter::once(&geometry));
    assert!(small.write(now, 0, 0, Bytes::MIB.get() * 16 / SECTOR_BYTES));
    assert!(!small.write(now, 0, 1 << 20, (1 << 20) + 8), "a quarter of 64 MiB is full");
}

#[test]
fn reads_keep_no_more_than_their_part_and_large_writes_go_past_the_cache() {
    let params = CacheParams {
        read_part: Share::new(0.1).unwrap(),
        bypass: Some(Bytes::KIB * 1040),
        ..cache(Bytes::MIB * 64).params
    };
    assert!(!params.is_bypassed_by(1039 << 10) && params.is_bypassed_by(1040 << 10));
    let geometry = geometry();
    let mut cache = Cache::new(&params, std::iter::once(&geometry));
    let sectors = Bytes::MIB.get() * 8 / SECTOR_BYTES;
    cache.keep(0, 0, sectors);
    let held = |cache: &mut Cache, from: u64| cache.read(0, from, from + 8, 1 << 30, &mut Vec::new());
    let here = (0..sectors).step_by(8).filter(|&from| held(&mut cache, from) == Some(Lookup::Ready)).count();
    assert!((1500..=1640).contains(&here), "{here} of 2,048 pages of 4 KiB: 6.4 of 8 MiB");
}

#[test]
fn lines_that_are_kept_answer_reads_until_they_are_forgotten() {
    let mut cache = cache(Bytes::MIB * 64);
    cache.ahead = None;
    let line = |number: u64| (number * 32, number * 32 + 32);
    let read = |cache: &mut Cache, number: u64| {
        let (from, to) = line(number);
        cache.read(0, from, to, 1 << 20, &mut Vec::new())
    };
    cache.keep(0, line(1_000).0, line(1_001).1);
    let found = [1_001, 999, 3_000, 1_000, 5_000, 1_002].map(|number| read(&mut cache, number).is_some());
    assert_eq!(found, [true, false, false, true, false, false]);
    assert_eq!(cache.read(0, line(8_000).0, line(8_000).1 + 1, 1 << 20, &mut Vec::new()), None);
    cache.keep(0, line(8_000).0, line(8_000).1);
    assert_eq!(cache.read(0, line(8_000).0, line(8_000).1 + 1, 1 << 20, &mut Vec::new()), None, "a part");
    cache.forget_reads();
    assert_eq!(read(&mut cache, 1_001), None);
    cache.params.read = false;
    cache.keep(0, 0, 32);
    assert_eq!(read(&mut cache, 0), None, "it keeps nothing for reads");
}

#[test]
fn a_write_is_filled_at_its_ends_where_it_covers_a_line_in_part_that_is_not_here() {
    let mut cache = cache(Bytes::MIB * 64);
    assert_eq!(cache.to_fill(0, 1, 9), None, "it does not fill");
    cache.params.fills = true;
    let line = cache.tags.line_bytes() / SECTOR_BYTES;
    assert_eq!(cache.to_fill(0, line, 3 * line), None);
    assert_eq!(cache.to_fill(0, line + 1, line + 2), Some((line, 2 * line)));
    assert_eq!(cache.to_fill(0, line + 1, 2 * line + 1), Some((line, 3 * line)), "side by side");
    assert_eq!(cache.to_fill(0, line + 1, 4 * line + 1), Some((line, 2 * line)), "the first of two");
    cache.keep(0, line, 2 * line);
    assert_eq!(cache.to_fill(0, line + 1, 4 * line + 1), Some((4 * line, 5 * line)));
    assert!(cache.write(Instant::START, 0, line + 1, 2 * line + 1));
    assert_eq!(cache.dirty_bytes(), 2 * line * SECTOR_BYTES, "lines are dirty whole");
}

#[test]
fn a_read_brings_whole_lines_from_the_first_that_is_not_here_to_the_last() {
    let mut cache = cache(Bytes::MIB * 64);
    assert_eq!(cache.lacking(0, 1, 9), None, "it holds parts of lines");
    cache.params.fills = true;
    let line = cache.tags.line_bytes() / SECTOR_BYTES;
    assert_eq!(cache.lacking(0, line + 1, line + 2), Some((line, 2 * line)));
    assert_eq!(cache.lacking(0, line - 1, 3 * line + 1), Some((0, 4 * line)));
    cache.keep(0, 0, line);
    assert_eq!(cache.lacking(0, line - 1, 3 * line + 1), Some((line, 4 * line)));
    cache.keep(0, 2 * line, 3 * line);
    assert_eq!(cache.lacking(0, 0, 3 * line), Some((line, 2 * line)));
    assert_eq!(cache.lacking(0, 0, line), None, "all of it is here");
}

#[test]
fn a_stripe_whose_other_parts_have_just_passed_reads_nothing_first() {
    let reads_first = |stripes: Bytes, between: u64| {
        let mut params = cache(Bytes::MIB * 64).params;
        params.stripes = stripes;
        let geometry = geometry();
        let mut cache = Cache::new(&params, std::iter::once(&geometry));
        let (now, mut extents) = (Instant::START, Vec::new());
        let mut write = |cache: &mut Cache, from: u64, to: u64| {
            assert!(cache.write(now, 0, from, to));
            assert!(cache.hurry(VolumeRange { set: 0, from, to }, 1));
            let batch = cache.destage(now, false, &mut extents).expect("somebody waits for it");
            let transfer = cache.end(batch.transfer, &mut Vec::new());
            assert!(
                matches!(transfer, CacheTransfer::Destage { reads_first, .. } if reads_first != batch.is_known)
            );
            !batch.is_known
        };
        assert!(write(&mut cache, 0, 384), "the rest of the stripe is not known");
        for stripe in 1..=between {
            assert!(!write(&mut cache, stripe * 512, (stripe + 1) * 512), "it is full");
        }
        write(&mut cache, 384, 512)
    };
    assert!(!reads_first(Bytes::MIB, 0) && !reads_first(Bytes::MIB, 15));
    // A mebibyte of each member are 16 chunks.
    assert!(reads_first(Bytes::MIB, 16) && reads_first(Bytes::ZERO, 0));
}

#[test]
fn stripes_that_read_first_gather_while_another_reads_and_leave_together() {
    let mut cache = cache(Bytes::MIB * 64);
    let (now, stripe, mut extents) = (Instant::START, cache.cuts[0].stripe, Vec::new());
    let hurry = |cache: &mut Cache, number: u64, place: u32| {
        let (from, to) = (number * stripe, number * stripe + 8);
        assert!(cache.write(now, 0, from, to));
        assert!(cache.hurry(VolumeRange { set: 0, from, to }, place));
    };
    hurry(&mut cache, 0, 1);
    let first = cache.destage(now, false, &mut extents).expect("somebody waits for it");
    hurry(&mut cache, 1, 2);
    hurry(&mut cache, 2, 3);
    assert!(cache.destage(now, false, &mut extents).is_none(), "one reads");
    cache.end(first.transfer, &mut Vec::new());
    let together = std::iter::from_fn(|| cache.destage(now, false, &mut extents)).count();
    assert_eq!(together, 2);
}

#[test]
fn what_is_kept_is_not_waited_for_although_it_is_read_ahead() {
    let mut cache = cache(Bytes::MIB * 64);
    let read = |cache: &mut Cache, from: u64| cache.read(0, from, from + 32, 1 << 20, &mut Vec::new());
    assert_eq!(read(&mut cache, 0), None);
    assert!(matches!(read(&mut cache, 32), Some(Lookup::Coming(_))));
    cache.keep(0, 64, 96);
    assert_eq!(read(&mut cache, 64), Some(Lookup::Ready));
}

#[test]
fn what_is_held_is_not_read_ahead_again() {
    let mut cache = cache(Bytes::MIB * 64);
    cache.keep(0, 0, 4096);
    let mut fetches = Vec::new();
    for from in (0..2048).step_by(16) {
        assert_eq!(cache.read(0, from, from + 16, 1 << 20, &mut fetches), Some(Lookup::Ready));
    }
    assert_eq!(fetches, []);
    // Where it ends, the window ahead is fetched as ever.
    for from in (2048..4096).step_by(16) {
        cache.read(0, from, from + 16, 1 << 20, &mut fetches);
    }
    assert!(fetches.iter().all(|fetch| fetch.to > 4096), "{fetches:?}");
    assert!(!fetches.is_empty());
}

#[test]
fn what_it_is_follows_from_its_figures() {
    let mut cache = cache(Bytes::MIB);
    assert_eq!((cache.is_protected(), cache.mirrors()), (false, false));
    assert_eq!((cache.age_limit(), cache.is_dirty()), (Nanos::from_secs(10), false));
    assert!(cache.takes_writes(true));
    (cache.params.protected, cache.params.mirrored) = (true, true);
    assert!(cache.is_protected() && cache.mirrors());
    cache.params.write_back = false;
    assert!(!cache.takes_writes(true) && !cache.takes_writes(false));
    cache.write(Instant::START, 0, 0, 32);
    assert!(cache.is_dirty());
    assert_eq!(cache.dirty_bytes(), 32 * 512);
    cache.urge(ALL);
    assert!(cache.destage(Instant::START, false, &mut Vec::new()).is_some());
    assert!(!cache.is_dirty());
    assert_eq!(cache.dirty_bytes(), 32 * 512, "on its way");
}

#[test]
fn what_is_old_leaves_in_the_order_it_was_written_however_little_is_dirty() {
    let mut cache = cache(Bytes::MIB * 64);
    let (start, mut extents) = (Instant::START, Vec::new());
    assert!(cache.write(start, 0, 5 * 512, 5 * 512 + 8));
    assert!(cache.write(start + Nanos::from_secs(1), 0, 512, 520));
    let mut leave = |cache: &mut Cache, seconds: u64| {
        let now = start + Nanos::from_secs(seconds);
        cache.expire(now);
        cache.destage(now, false, &mut extents).map(|_| extents[0].lba.0 / 512)
    };
    assert_eq!(leave(&mut cache, 9), None, "the members have other work");
    assert_eq!(leave(&mut cache, 10), Some(5));
    assert_eq!(leave(&mut cache, 10), None, "the other is a second younger");
    assert_eq!(leave(&mut cache, 11), Some(1));
    assert!(cache.ages.is_empty());
}

#[test]
fn a_controller_that_fails_leaves_no_flush_waiting() {
    let mut cache = cache(Bytes::MIB);
    let mut released = Vec::new();
    cache.write(Instant::START, 0, 0, 32);
    assert!(cache.drain(ALL, 7));
    cache.forsake(&mut released);
    assert_eq!(released, [7]);
    cache.forsake(&mut released);
    assert_eq!(released, [7]);
}

#[test]
fn runs_of_a_stripe_leave_apart_once_it_was_left_alone_and_nothing_else_is_to_be_done() {
    let mut cache = cache(Bytes::MIB * 64);
    let (now, mut extents) = (Instant::START, Vec::new());
    for (from, to) in [(8, 24), (40, 48), (500, 512)] {
        cache.write(now, 0, 3 * 512 + from, 3 * 512 + to);
    }
    assert_eq!(cache.dirty_bytes(), 36 * 512);
    assert_eq!(cache.destage(now + SETTLED, false, &mut extents), None, "the members have work");
    assert_eq!(cache.destage(now + Nanos::from_millis(19), true, &mut extents), None);
    let batch = cache.destage(now + SETTLED, true, &mut extents).expect("it has settled");
    let wanted = [(8, 16), (40, 8), (500, 12)]
        .map(|(from, sectors)| Extent { lba: Lba(3 * 512 + from), sectors: Sectors(sectors) });
    assert_eq!((batch.bytes, &extents[..]), (36 * 512, &wanted[..]));
}

#[test]
fn a_stripe_that_is_written_again_waits_for_its_turn() {
    let mut cache = cache(Bytes::MIB * 64);
    cache.params.dirty_low = Share::NONE;
    let (now, mut extents) = (Instant::START, Vec::new());
    let mut next = |cache: &mut Cache| {
        cache.press();
        cache.destage(now, false, &mut extents).expect("it is pressed");
        extents[0].lba.0 / 512
    };
    cache.write(now, 0, 512, 528);
    cache.write(now, 0, 5 * 512, 5 * 512 + 16);
    assert_eq!(next(&mut cache), 1);
    cache.write(now, 0, 512, 528);
    assert_eq!((next(&mut cache), next(&mut cache)), (5, 1));
}

#[test]
fn halves_of_a_stripe_in_two_caches_are_a_full_one_after_the_take_over() {
    let (mut old, mut new) = (cache(Bytes::MIB * 64), cache(Bytes::MIB * 64));
    let (now, mut extents) = (Instant::START, Vec::new());
    new.params.dirty_low = Share::NONE;
    assert!(old.write(now, 0, 0, 256) && old.write(now, 0, 1024, 1040) && new.write(now, 0, 256, 512));
    new.take_over(&mut old, ALL);
    let full = new.destage(now, false, &mut extents).expect("it is full");
    assert_eq!((full.bytes, extents[0].sectors), (512 * 512, Sectors(512)));
    let other = new.destage(now, false, &mut extents).expect("what was taken over is pressed");
    assert_eq!((other.bytes, extents[0].lba), (16 * 512, Lba(1024)));
    assert!(!old.is_dirty());
}

#[test]
fn a_write_larger_than_all_room_is_taken_where_there_is_nothing_else() {
    let now = Instant::START;
    let mut empty = cache(Bytes::KIB * 64);
    assert!(empty.write(now, 0, 0, 256));
    assert!(!empty.write(now, 0, 1024, 1032));
    let mut nearly = cache(Bytes::KIB * 64);
    assert!(nearly.write(now, 0, 0, 120));
    assert!(!nearly.write(now, 0, 1024, 1040) && nearly.write(now, 0, 1024, 1032));
    // What is on its way takes room as well.
    let batch = nearly.destage(now, false, &mut Vec::new()).expect("room is short");
    assert!(!nearly.write(now, 0, 2048, 2056));
    nearly.end(batch.transfer, &mut Vec::new());
    assert!(nearly.write(now, 0, 2048, 2056));
}

#[test]
fn from_its_high_mark_on_stripes_leave_although_the_members_have_work() {
    // Four fifths of 80 KiB are 128 sectors.
    let pressed = |sectors: u64| {
        let mut cache = cache(Bytes::KIB * 80);
        assert!(cache.write(Instant::START, 0, 0, sectors));
        cache.destage(Instant::START, false, &mut Vec::new()).is_some()
    };
    assert!(pressed(128) && !pressed(124));
}

#[test]
fn what_was_written_after_a_flush_ends_none_of_its_stripes_nor_does_another_volume() {
    let mut cache = cache(Bytes::MIB * 64);
    let (now, mut extents, mut released) = (Instant::START, Vec::new(), Vec::new());
    cache.write(now, 0, 0, 16);
    cache.write(now, 0, 5 * 512, 5 * 512 + 16);
    assert!(cache.drain(ALL, 7));
    let first = cache.destage(now, false, &mut extents).expect("the flush calls for it");
    cache.end(first.transfer, &mut Vec::new());
    cache.write(now, 0, 0, 16);
    let second = cache.destage(now, false, &mut extents).expect("the flush calls for it");
    cache.urge(ALL);
    let newer = cache.destage(now, false, &mut extents).expect("it is urged");
    cache.end(newer.transfer, &mut Vec::new());
    cache.drained(&mut released);
    assert!(released.is_empty(), "the stripe at 5 is still on its way");
    cache.end(second.transfer, &mut Vec::new());
    cache.drained(&mut released);
    cache.drained(&mut released);
    assert_eq!(released, [7], "once");
    // A flush of the second volume while one of the first is on its way.
    cache.write(now, 0, 0, 512);
    cache.write(now, 0, 4096, 4112);
    let other = cache.destage(now, false, &mut extents).expect("a full stripe leaves");
    assert!(cache.drain(VolumeRange { set: 0, from: 4096, to: 8192 }, 8));
    cache.end(other.transfer, &mut Vec::new());
    cache.drained(&mut released);
    assert_eq!(released, [7]);
}

#[test]
fn no_more_stripes_are_on_their_way_than_the_window_and_full_ones_read_nothing() {
    let mut cache = cache(Bytes::MIB * 64);
    (cache.params.destage_window, cache.params.partial_window) = (2, 1);
    let (now, mut extents) = (Instant::START, Vec::new());
    assert!(
        cache.write(now, 0, 0, 512) && cache.write(now, 0, 1024, 1040) && cache.write(now, 0, 2048, 2560)
    );
    cache.urge(ALL);
    let batches: Vec<u64> =
        std::iter::from_fn(|| cache.destage(now, false, &mut extents)).map(|batch| batch.bytes).collect();
    assert_eq!(batches, [512 * 512, 512 * 512]);
    assert!(cache.is_dirty());
}

#[test]
fn without_parity_a_part_of_a_stripe_reads_nothing_first() {
    let reads_first = |level: Level, members: u32| {
        let geometry = Geometry::new(SetSpec::new(level, members, Sectors(128), Sectors(1 << 20))).unwrap();
        let mut cache = Cache::new(&cache(Bytes::MIB).params, std::iter::once(&geometry));
        cache.write(Instant::START, 0, 0, 16);
        cache.urge(ALL);
        let batch = cache.destage(Instant::START, false, &mut Vec::new()).expect("it is urged");
        match cache.end(batch.transfer, &mut Vec::new()) {
            CacheTransfer::Destage { reads_first, .. } => reads_first,
            CacheTransfer::Fetch { .. } => panic!("nothing was read"),
        }
    };
    assert!(reads_first(Level::Raid5, 5) && !reads_first(Level::Raid0, 4));
}

#[test]
fn what_leaves_is_what_was_written_however_many_disks_a_stripe_has() {
    for disks in 2..=16 {
        let geometry = Geometry::new(SetSpec::new(Level::Raid0, disks, Sectors(256), Sectors(1 << 20)));
        let geometry = geometry.expect("a set of these");
        let mut cache = Cache::new(&cache(Bytes::MIB * 64).params, std::iter::once(&geometry));
        let mut extents = Vec::new();
        assert!(cache.write(Instant::START, 0, 128, 256), "the second half of the first chunk");
        cache.urge(ALL);
        cache.destage(Instant::START, true, &mut extents).expect("somebody waits for it");
        assert_eq!(extents, [Extent { lba: Lba(128), sectors: Sectors(128) }], "{disks} disks");
        assert_eq!(cache.dirty_bytes(), 64 << 10, "{disks} disks");
    }
}
