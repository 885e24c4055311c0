//! What flushes cost a drive that loses its buffer with the power, and who waits for them.

use super::*;

/// Such a drive, whose flushes are commands like others or not.
fn volatile(flushes_alone: bool) -> FlashDrive {
    FlashDrive::new(&FlashParams { protected: false, flushes_alone, ..nvme() }, 1)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Microseconds after `now` at which a flush ends.
fn flush(drive: &mut FlashDrive, now: Instant) -> u64 {
    (drive.flush(now, Class::HostWrite) - now).get() / 1_000
}

/// 16 KiB over a channel of 1.2 GB/s, and their program.
const PROGRAM: u64 = 13_653 + 400_000;

#[test]
fn a_flush_waits_for_the_programs_unless_the_buffer_is_protected_or_nothing_was_written() {
    let mut drive = volatile(false);
    let written = drive.submit(at(0), command(0, 8, true));
    let flushed = (drive.flush(written, Class::HostWrite) - written).get();
    assert!(flushed.abs_diff(14_000 + PROGRAM) < 10, "{flushed}");
    assert_eq!(flush(&mut drive, at(5_000)), 14);
    let mut protected = FlashDrive::new(&nvme(), 1);
    protected.submit(at(0), command(0, 8, true));
    assert_eq!(flush(&mut protected, at(20)), 14, "a protected buffer needs none of it");
}

#[test]
fn over_serial_ata_a_flush_waits_for_what_is_under_way_and_all_that_comes_waits_for_it() {
    let ends = |alone| {
        let mut drive = volatile(alone);
        drive.submit(at(0), command(0, 8, true));
        let read = drive.submit(at(10), command(80_000, 8, false));
        let flushed = drive.flush(at(20), Class::HostWrite);
        let later = drive.submit(at(30), command(160_000, 8, false));
        [read, flushed, later].map(|end| end.nanos() / 1_000)
    };
    let (queued, alone) = (ends(false), ends(true));
    assert_eq!(queued[0], alone[0]);
    assert!(queued[2] < queued[1], "a read passes it: {queued:?}");
    assert!(
        (alone[1] - alone[0]).abs_diff(queued[1] - 20) <= 1,
        "it begins once the read has ended: {alone:?}"
    );
    assert!(alone[2] > alone[1], "a read waits for it: {alone:?}");
}

/// Writes of 4 KiB a second that so many writers make, each flushed before its writer writes the next.
fn committed(alone: bool, writers: u64) -> f64 {
    let mut drive = volatile(alone);
    let mut waiting: std::collections::BTreeSet<_> = (0..writers).map(|n| (at(n), n, false)).collect();
    let (mut commits, mut now) = (0, at(0));
    while now < at(1_000_000) {
        let (then, writer, is_written) = waiting.pop_first().expect("each writer waits for something");
        now = then;
        let end = if is_written {
            commits += 1;
            drive.flush(now, Class::HostWrite)
        } else {
            drive.submit(now, command((writer << 20) | (commits * 8), 8, true))
        };
        waiting.insert((end, writer, !is_written));
    }
    f64::from(narrow::<u32>(commits)) / (now - at(0)).as_secs_f64()
}

#[test]
fn over_serial_ata_writers_wait_for_the_flushes_of_others_and_share_what_those_program() {
    // A write and its program.
    let one = 1e9 / (2.0 * 14_600.0 + PROGRAM as f64);
    for alone in [false, true] {
        let [single, two, many] = [1, 2, 16].map(|writers| committed(alone, writers));
        assert!((single / one - 1.0).abs() < 0.01, "{single} of {one}");
        assert!(two < 2.001 * single && two > 1.9 * single, "{two} of {single}");
        assert!(many < 16.001 * single && many > 9.0 * single, "{many} of {single}");
    }
}

#[test]
fn a_drive_that_does_nothing_beside_a_flush_is_busy_with_it() {
    let busiest = |alone| {
        let mut drive = volatile(alone);
        drive.restart_meter(at(0));
        let mut now = at(0);
        for place in 0..20 {
            let written = drive.submit(now, command(place * 8, 8, true));
            now = drive.flush(written, Class::HostWrite);
        }
        (drive.busiest(now), now)
    };
    let (part, now) = busiest(true);
    assert_eq!((part.name, part.servers), ("flushes, one at a time", 1));
    let share = part.busy.get() as f64 / (now - at(0)).get() as f64;
    assert!(share > 0.95 && share < 1.0, "all but the writes: {share}");
    assert_ne!(busiest(false).0.name, "flushes, one at a time", "others run beside it");
}

#[test]
fn over_serial_ata_who_asks_for_a_flush_while_another_is_under_way_shares_the_next() {
    let mut drive = FlashDrive::new(&FlashParams { flushes_alone: true, ..nvme() }, 1);
    let ends: Vec<u64> = (0..6).map(|n| flush(&mut drive, at(n)) + n).collect();
    assert_eq!(ends, [14, 28, 28, 28, 28, 28], "the first alone, the others together");
    assert_eq!(flush(&mut drive, at(20)), 22, "one more, behind that which has begun");
}

#[test]
fn a_flush_takes_the_time_of_the_firmware_once_something_was_written_and_two_overlap_by_half() {
    let flush = Some(Nanos::from_millis(2));
    let mut drive = FlashDrive::new(&FlashParams { protected: false, flush, ..nvme() }, 1);
    let at = |now: u64| Instant::from_nanos(now);
    let command_ns = nvme().command.get();
    assert_eq!(drive.flush(at(0), Class::HostWrite), at(command_ns), "nothing was written");
    let write = drive.submit(at(0), command(0, 8, true));
    let first = drive.flush(write, Class::HostWrite);
    assert_eq!(first.nanos() - write.nanos(), 2_000_000 + command_ns);
    assert_eq!(drive.flush(first, Class::HostWrite).nanos(), first.nanos() + command_ns);
    // Two of which each has data of its own: the second begins when the first is at its map.
    let ends = [0, 1].map(|number| {
        let write = drive.submit(first, command(1000 * (number + 1), 8, true));
        drive.flush(write, Class::HostWrite).nanos()
    });
    assert!((990_000..1_010_000).contains(&(ends[1] - ends[0])), "{ends:?}");
}

#[test]
fn a_forced_write_takes_its_own_time_or_none_where_the_drive_answers_it_as_any_other() {
    let ended_after = |fua: Option<Nanos>, protected: bool| {
        let flush = Some(Nanos::from_millis(2));
        let mut drive = FlashDrive::new(&FlashParams { protected, flush, fua, ..nvme() }, 1);
        let write = drive.submit(Instant::START, command(0, 8, true));
        drive.force(write, Class::HostWrite).saturating_since(write)
    };
    assert_eq!(ended_after(Some(Nanos::from_millis(5)), false), Nanos::from_millis(5));
    assert_eq!(ended_after(Some(Nanos::ZERO), false), Nanos::ZERO);
    assert_eq!(ended_after(None, false), Nanos::from_millis(2) + nvme().command, "as a flush");
    assert_eq!(ended_after(Some(Nanos::from_millis(5)), true), nvme().command, "nothing can be lost");
}

#[test]
fn a_shared_flush_over_serial_ata_takes_the_firmware_once() {
    let flush = Some(Nanos::from_millis(2));
    let params = FlashParams { protected: false, flushes_alone: true, flush, ..nvme() };
    let mut drive = FlashDrive::new(&params, 1);
    let write = |drive: &mut FlashDrive, place: u64| drive.submit(Instant::START, command(place, 8, true));
    let from = write(&mut drive, 0);
    let first = drive.flush(from, Class::HostWrite);
    let second = drive.flush(from, Class::HostWrite);
    let shared = drive.flush(from, Class::HostWrite);
    assert!((2_000_000..2_100_000).contains(&(first.nanos() - from.nanos())), "{first:?}");
    // Nothing was written between the first and the second.
    assert_eq!((second.nanos() - first.nanos(), shared), (nvme().command.get(), second));
    // What is written before the second begins, by who shares it, is made to last with it.
    let mut drive = FlashDrive::new(&params, 1);
    let from = write(&mut drive, 0);
    let [first, _] = [0; 2].map(|_| drive.flush(from, Class::HostWrite));
    write(&mut drive, 1000);
    let shared = drive.flush(from, Class::HostWrite);
    assert!(shared.nanos() - first.nanos() >= 1_000_000, "{first:?} {shared:?}");
}
