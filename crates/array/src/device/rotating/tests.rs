//! Two drives that the tests of this folder share: one measured to the sector, one from its data sheet.

use units::Instant;

use super::*;
use crate::device::Command;
use crate::meter::Class;
use crate::streams::Stream;

#[path = "../../../tests/model/fixture/cheetah.rs"]
mod cheetah;
pub(crate) use cheetah::cheetah_9lp;

fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

/// A 4 TB nearline drive from data-sheet numbers alone.
pub(crate) fn nearline() -> RotatingParams {
    RotatingParams {
        capacity: Sectors(7_814_037_168),
        surfaces: 10,
        cylinders: 200_000,
        rpm: 7_200.0,
        seek: Seek::ThreeNumbers {
            track_to_track: micros(600),
            average: micros(8_000),
            full: micros(16_500),
        },
        write_settle_ns: 500_000,
        head_switch: micros(600),
        zones: Zones::Rates { outer: BytesPerSecond::new(220e6), inner: BytesPerSecond::new(105e6) },
        overhead: Overheads::uniform(micros(40)),
        link: BytesPerSecond::new(550e6),
        cache: Some(DriveCacheParams {
            read_ahead: Sectors(2048),
            ..DriveCacheParams::plain(32, Sectors(4096))
        }),
        spindle_sync: false,
        queue: DriveQueueParams {
            order: Order::Sptf,
            window: 32,
            overlap: true,
            age_limit: Some(Nanos::from_millis(500)),
        },
    }
}

/// Milliseconds per command of one that asks again as soon as it is answered, after a tenth of the commands.
fn each_ms(params: &RotatingParams, commands: impl Iterator<Item = (u64, u32, bool)>) -> f64 {
    let mut drive = Drive::new(params);
    let commands: Vec<_> = commands.collect();
    let (mut now, mut warm) = (Instant::START, Instant::START);
    for (n, &(first, sectors, write)) in commands.iter().enumerate() {
        if n == commands.len() / 10 {
            warm = now;
        }
        let class = if write { Class::HostWrite } else { Class::HostRead };
        let ready = Instant::START;
        let command = Command { first, sectors, tag: 0, write, class, ready, given: ready };
        now = drive.submit(now, command).expect("the drive is idle");
        drive.finish(now);
    }
    (now - warm).as_secs_f64() * 1e3 / (commands.len() - commands.len() / 10) as f64
}

#[test]
fn a_stream_that_leaves_sectors_out_is_answered_from_what_the_head_has_passed() {
    // As one half of a mirror sees it: every other sector.
    let each = each_ms(&nearline(), (0..2000).map(|n| (2 * n, 1, false)));
    assert!(each < 0.1, "{each} ms, where a lost revolution is 8.3");
}

#[test]
fn destaging_a_full_buffer_picks_what_the_head_reaches_first() {
    let buffered = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    let buffered = RotatingParams { cache: Some(buffered), ..nearline() };
    let mut draws = Stream::open(3, "test");
    let spread: Vec<_> = (0..40_000).map(|_| (draws.below(1_000_000) * 8, 8, true)).collect();
    let back = each_ms(&buffered, spread.iter().copied());
    let through = each_ms(&nearline(), spread.iter().copied());
    assert!(back < through / 2.0, "{back} ms against {through}");
}

#[test]
fn a_flush_ends_with_the_last_of_the_buffer_on_the_media_and_costs_next_to_nothing_after_that() {
    let buffered = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    let mut drive = Drive::new(&RotatingParams { cache: Some(buffered), ..nearline() });
    let mut draws = Stream::open(3, "test");
    let mut now = Instant::START;
    for _ in 0..50 {
        let first = draws.below(1_000_000) * 8;
        let command = Command {
            first,
            sectors: 8,
            tag: 0,
            write: true,
            class: Class::HostWrite,
            ready: Instant::START,
            given: Instant::START,
        };
        now = drive.submit(now, command).expect("the drive is idle");
        drive.finish(now);
    }
    let end = drive.flush(now);
    // Fifty extents, each a seek of less than the average, a settling and at most a revolution.
    let took = end - now;
    assert!(took > micros(50 * 1_000) && took < micros(50 * 17_000), "{took:?}");
    assert_eq!(drive.flush(end) - end, micros(40), "the overhead alone");
    assert_eq!(drive.flush(now), end, "a second flush waits for the same");
}

#[test]
fn a_spindle_of_its_own_phase_turns_as_fast_and_is_elsewhere() {
    // Reads of one sector each: where the phase differs, so does the first, and by the same again each revolution.
    let first_read = |phase: f64, at: u64| {
        let mut drive = Drive::new(&RotatingParams { cache: None, ..nearline() }).ahead_by(phase);
        let now = Instant::from_nanos(at);
        let class = crate::meter::Class::HostRead;
        let command =
            Command { first: 5_000, sectors: 1, tag: 0, write: false, class, ready: now, given: now };
        (drive.submit(now, command).expect("an idle drive starts at once") - now).get()
    };
    let revolution = nearline().revolution().get();
    let quarter = first_read(0.25, 0);
    assert_eq!(quarter, first_read(0.0, revolution / 4));
    assert_eq!(quarter, first_read(0.25, revolution));
    assert_ne!(quarter, first_read(0.0, 0));
}
