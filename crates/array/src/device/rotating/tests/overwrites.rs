//! Writes to what lies dirty in the buffer, and reads of it.

use super::*;

/// The drive of the data sheet, with its cache on, and the segments that it keeps for what was read or written.
fn write_back(segments: u32) -> RotatingParams {
    let cache = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    RotatingParams { cache: Some(DriveCacheParams { segments, ..cache }), ..nearline() }
}

/// Writes of 16 KiB a second, in order round and round a span.
fn rate(params: &RotatingParams, span_kib: u64) -> f64 {
    let count = span_kib / 16;
    1e3 / each_ms(params, (0..40_000).map(|n| (n % count * 32, 32, true)))
}

#[test]
fn what_lies_dirty_is_written_again_at_the_speed_of_the_interface() {
    let through = rate(&nearline(), 16);
    assert!((through / 120.0 - 1.0).abs() < 0.01, "once a revolution: {through}");
    let interface = 1e6 / (40.0 + 16_384.0 / 550.0);
    for span_kib in [16, 64, 1_024] {
        let back = rate(&write_back(32), span_kib);
        assert!((back / interface - 1.0).abs() < 0.01, "{back} a second round {span_kib} KiB");
    }
    // Each of them has to be on the media before it comes again.
    let media = 220e6 / 16_384.0;
    let large = rate(&write_back(32), 262_144);
    assert!(large < 1.01 * media && large > 0.8 * media, "{large}");
}

#[test]
fn what_is_written_again_needs_no_more_room_and_is_written_once() {
    let mut drive = Drive::new(&write_back(32));
    let command = |now, first, sectors| Command {
        first,
        sectors,
        tag: 0,
        write: true,
        class: Class::HostWrite,
        ready: now,
        given: now,
    };
    let mut now = Instant::START;
    let mut write = |drive: &mut Drive, first, sectors| {
        now = drive.submit(now, command(now, first, sectors)).unwrap();
        drive.finish(now);
        drive.gathered(now)
    };
    // The first is on its way to the media at once.
    assert_eq!([0, 4_000_000, 6_000_000].map(|first| write(&mut drive, first, 64)), [0, 1, 2]);
    assert_eq!([4_000_000, 6_000_032].map(|first| write(&mut drive, first, 32)), [2, 2], "parts of them");
    assert_eq!(write(&mut drive, 5_999_968, 128), 4, "what comes before it and behind it is new");
    assert_eq!(write(&mut drive, 0, 64), 5, "what is on its way follows once more");
}

#[test]
fn what_lies_dirty_is_read_from_the_buffer_whatever_its_segments_hold() {
    let read_us = |hits, segments| {
        let mut params = write_back(segments);
        params.cache.as_mut().unwrap().hits_on_written = hits;
        let writes = (0..40).map(|n| (1, 1_000_000 * n + 8, 64, true));
        let all: Vec<_> = writes.chain([(1, 30_000_016, 8, false)]).collect();
        each_us(&params, &all)[40]
    };
    let one = 40.0 + 4_096.0 / 550.0;
    assert!((read_us(true, 4) - one).abs() < 1.0, "{} us", read_us(true, 4));
    assert!(read_us(false, 4) > 1_000.0, "where the drive does not answer from it, the media has to");
}

#[test]
fn what_is_written_again_beside_the_arm_needs_no_more_room() {
    let params = cheetah_with(|cache| {
        (cache.answers_beside, cache.fast_write, cache.write_segments) = (true, FastWrite::All, 1);
    });
    let room = params.cache.unwrap().segment.0;
    let mut drive = Drive::new(&params);
    let (now, class) = (Instant::START, Class::HostWrite);
    let command = |first, write| Command { first, sectors: 8, tag: 0, write, class, ready: now, given: now };
    drive.submit(now, command(9_000_000, false)).unwrap();
    let mut takes = |first| drive.answer_beside(now, command(first, true)).is_some();
    assert!((0..room / 8).all(|n| takes(n * 1_000)) && !takes(room * 1_000), "it is full");
    assert!(takes(1_000) && !takes(1_004), "what lies there has room, and half of it has not");
}
