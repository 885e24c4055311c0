//! Two drives that the tests of this folder share: one measured to the sector, one from its data sheet.

use units::convert::narrow;
use units::{Instant, Share};

use super::*;
use crate::device::Command;
use crate::meter::Class;
use crate::streams::Stream;

#[path = "../../../tests/model/fixture/cheetah.rs"]
mod cheetah;
mod depth;
mod overwrites;
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
    let end = drive.flush(now, Class::HostWrite);
    // Fifty extents, each a seek of less than the average, a settling and at most a revolution.
    let took = end - now;
    assert!(took > micros(50 * 1_000) && took < micros(50 * 17_000), "{took:?}");
    assert_eq!(drive.flush(end, Class::HostWrite) - end, micros(40), "the overhead alone");
    assert_eq!(drive.flush(now, Class::HostWrite), end, "a second flush waits for the same");
}

#[test]
fn a_flush_is_service_of_its_drive_and_what_comes_meanwhile_waits_for_it() {
    let buffered = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    let mut drive = Drive::new(&RotatingParams { cache: Some(buffered), ..nearline() });
    let command = |first: u64, write: bool| Command {
        first,
        sectors: 8,
        tag: 0,
        write,
        class: if write { Class::HostWrite } else { Class::HostRead },
        ready: Instant::START,
        given: Instant::START,
    };
    let mut now = Instant::START;
    for place in 0..20 {
        now = drive.submit(now, command(place * 40_000_000, true)).expect("the drive is idle");
        drive.finish(now);
    }
    drive.restart_meter(now);
    let end = drive.flush(now, Class::HostWrite);
    let half = now + Nanos::new((end - now).get() / 2);
    assert_eq!(drive.busy_by(half), (half - now).get(), "busy from its begin on");
    let read = drive.submit(half, command(500, false)).expect("nothing is in service");
    assert!(read > end, "the arm is at the flush");
    assert_eq!(drive.flush(half, Class::HostWrite).max(read), read, "nothing is left to be written");
    drive.finish(read);
    drive.close_meter(read);
    let meter = drive.meter();
    assert_eq!(meter.busy_ns(), (read - now).get(), "never twice, and never idle");
    let (reads, flushes) = (meter.visits(Class::HostRead), meter.visits(Class::HostWrite));
    assert_eq!((reads.wait_ns, reads.service_ns), ((end - half).get(), (read - end).get()));
    assert_eq!((flushes.count, flushes.busy_ns()), (2, (end - now).get()));
    assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
}

/// A write of eight sectors from `first` on.
fn write(first: u64) -> Command {
    let (ready, given) = (Instant::START, Instant::START);
    Command { first, sectors: 8, tag: 0, write: true, class: Class::HostWrite, ready, given }
}

#[test]
fn what_a_drive_writes_out_of_its_buffer_is_busy_time_of_it_whether_anybody_asks_for_it_or_not() {
    let buffered = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    let mut drive = Drive::new(&RotatingParams { cache: Some(buffered), ..nearline() });
    // One in twenty milliseconds: each is acknowledged at once, and seeks for some of them afterwards.
    let (mut now, gap) = (Instant::START, micros(20_000));
    for place in 0..50 {
        let end = drive.submit(now, write(place * 1_777_777_776 % 7_800_000_000)).expect("the drive is idle");
        assert!(end - now < micros(1_000), "the buffer answers");
        drive.finish(end);
        now += gap;
    }
    let media_ns = drive.busy_by(now);
    assert!((250_000_000..900_000_000).contains(&media_ns), "5 to 18 ms each: {media_ns}");
    drive.close_meter(now);
    let meter = drive.meter();
    assert_eq!(meter.busy_ns(), media_ns);
    let writes = meter.visits(Class::HostWrite);
    assert_eq!((writes.count, writes.busy_ns()), (50, media_ns), "the work of a write is not one more visit");
    assert!(writes.service_ns < 50_000_000 && writes.deferred_ns > 200_000_000, "{writes:?}");
    assert_eq!((meter.little_gap(), meter.utilisation_gap()), (Some(0.0), Some(0.0)));
}

#[test]
fn a_full_buffer_is_written_out_track_by_track() {
    let segments = (Sectors(8192), 64);
    let writes = |write_segments: u32, head_switch: Nanos| {
        let cache = nearline().cache.unwrap();
        let buffered = DriveCacheParams {
            fast_write: FastWrite::All,
            segment: segments.0,
            segments: segments.1,
            write_segments,
            ..cache
        };
        let mut drive = Drive::new(&RotatingParams { cache: Some(buffered), head_switch, ..nearline() });
        let mut draws = Stream::open(3, "test");
        let (mut now, mut from) = (Instant::START, Instant::START);
        for n in 0..100_000 {
            now = drive.submit(now, write(draws.below(2_621_440) * 8)).expect("the drive is idle");
            drive.finish(now);
            from = if n == 50_000 { now } else { from };
        }
        50_000.0 / (now - from).as_secs_f64()
    };
    let [small, large] = [1, 32].map(|segments| writes(segments, micros(600)));
    // Of 10 GiB a buffer of 4 MiB holds one write in five tracks, one of 128 MiB six on each, which pass in a revolution.
    assert!(large > 1.5 * small, "{large} of {small}");
    let revolutions_s = 120.0;
    assert!(
        large < 13.0 * revolutions_s,
        "{large}: no more than the densest tracks hold, at each revolution"
    );
    let slow = writes(32, micros(4_000));
    assert!(slow < 0.9 * large, "{slow} of {large}: each track is a head switch away");
}

#[test]
fn a_window_that_ends_in_a_flush_holds_what_of_it_has_passed() {
    let buffered = DriveCacheParams { fast_write: FastWrite::All, ..nearline().cache.unwrap() };
    let mut drive = Drive::new(&RotatingParams { cache: Some(buffered), ..nearline() });
    let written = drive.submit(Instant::START, write(0)).expect("the drive is idle");
    drive.finish(written);
    let end = drive.flush(written, Class::HostWrite);
    let third = written + Nanos::new((end - written).get() / 3);
    drive.restart_meter(third);
    let read = Command { write: false, ..write(500) };
    let waits = drive.submit(third, read).expect("nothing is in service");
    assert!(waits > end, "the arm is at the flush");
    let half = written + Nanos::new((end - written).get() / 2);
    drive.close_meter(half);
    assert_eq!(drive.meter().busy_ns(), (half - third).get());
    drive.restart_meter(half);
    drive.finish(waits);
    drive.close_meter(waits);
    assert_eq!(drive.meter().busy_ns(), (waits - half).get());
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

/// What each of `commands` takes, in microseconds; it comes so many microseconds after the one before has ended.
fn each_us(params: &RotatingParams, commands: &[(u64, u64, u32, bool)]) -> Vec<f64> {
    let mut drive = Drive::new(params);
    let mut now = Instant::START;
    let one = |&(gap_us, first, sectors, write): &(u64, u64, u32, bool)| {
        now += micros(gap_us);
        let class = if write { Class::HostWrite } else { Class::HostRead };
        let command = Command { first, sectors, tag: 0, write, class, ready: now, given: now };
        let end = drive.submit(now, command).expect("the drive is idle");
        drive.finish(end);
        let took = (end - now).get() as f64 / 1e3;
        now = end;
        took
    };
    commands.iter().map(one).collect()
}

/// The drive that was measured to the sector, with another buffer policy.
fn cheetah_with(change: impl Fn(&mut DriveCacheParams)) -> RotatingParams {
    let mut params = cheetah_9lp();
    change(params.cache.as_mut().expect("the drive has a buffer"));
    params
}

const REVOLUTION_US: f64 = 5_973.0;
/// Long enough for every read-ahead to end.
const LONG: u64 = 40_000;

#[test]
fn a_drive_of_streams_reads_ahead_of_what_goes_on_and_not_of_a_read_by_itself() {
    let next = |policy| {
        let params = cheetah_with(|cache| cache.continuous_read = policy);
        // Two reads that follow each other, and one that leaves sectors out.
        let took =
            each_us(&params, &[(0, 1_000, 4, false), (LONG, 1_004, 4, false), (LONG, 1_012, 4, false)]);
        [took[1] < 500.0, took[2] < 500.0]
    };
    assert_eq!(next(ContinuousRead::None), [false, false]);
    assert_eq!(next(ContinuousRead::Stream), [false, true]);
    assert_eq!(next(ContinuousRead::NextTrack), [true, true]);
    assert_eq!(next(ContinuousRead::Segment), [true, true]);
}

#[test]
fn a_read_ahead_ends_where_the_policy_says() {
    // The track of sector 0 ends at 254, its cylinder at 12 × 254, and a segment is 561 long.
    let reaches = |policy, sector: u64| {
        let params = cheetah_with(|cache| {
            (cache.continuous_read, cache.segment, cache.read_ahead) =
                (policy, Sectors(4_000), Sectors(4_000));
        });
        each_us(&params, &[(0, 0, 4, false), (200_000, sector - 1, 1, false)])[1] < 500.0
    };
    for (policy, end) in
        [(ContinuousRead::Track, 254), (ContinuousRead::NextTrack, 508), (ContinuousRead::Cylinder, 3_048)]
    {
        assert!(reaches(policy, end) && !reaches(policy, end + 1), "{policy:?}");
    }
    assert!(reaches(ContinuousRead::Segment, 4_000) && !reaches(ContinuousRead::Segment, 4_001));
}

#[test]
fn a_minimum_of_read_ahead_holds_where_the_policy_would_end_before() {
    let second = |least| {
        let params = cheetah_with(|cache| {
            (cache.continuous_read, cache.read_ahead_least) = (ContinuousRead::None, Sectors(least));
        });
        each_us(&params, &[(0, 1_000, 4, false), (LONG, 1_004, 4, false)])[1]
    };
    assert!(second(8) < 500.0 && second(0) > 500.0);
}

#[test]
fn which_writes_are_acknowledged_early_decides_which_overhead_they_have() {
    let overheads = |fast_write| {
        let params = cheetah_with(|cache| (cache.fast_write, cache.write_segments) = (fast_write, 3));
        // One by itself, one that appends while that is dirty, and one elsewhere.
        let commands = [(LONG, 500_000, 4, true), (1, 500_004, 4, true), (LONG, 9_000_000, 4, true)];
        each_us(&params, &commands).iter().map(|took| (took - 4.0 * 6.4).round()).collect::<Vec<_>>()
    };
    assert_eq!(overheads(FastWrite::All), [748.0, 500.0, 500.0]);
    assert_eq!(overheads(FastWrite::Appending), [907.0, 500.0, 896.0]);
    assert!(overheads(FastWrite::None).iter().all(|took| *took > 1_000.0));
}

#[test]
fn a_write_begins_once_enough_of_it_is_in_the_buffer() {
    // 200 sectors take 16 ms over a slow interface, and 5 ms under the head.
    let took = |share| {
        let mut params = cheetah_with(|cache| cache.write_after = Share::new(share).unwrap());
        params.link = BytesPerSecond::new(6.4e6);
        each_us(&params, &[(0, 0, 200, true)])[0]
    };
    let all = 907.0 + 200.0 * 80.0;
    assert!(took(0.0) < all + 1.0, "{}", took(0.0));
    assert!(took(1.0) > all + 200.0 / 254.0 * REVOLUTION_US, "{}", took(1.0));
    assert!(took(0.5) > all / 2.0 && took(0.5) < took(1.0));
}

#[test]
fn a_read_that_is_forwarded_late_and_reselected_ends_later_by_both() {
    let took = |forward, reselect, data| {
        let mut params = cheetah_with(|cache| cache.forward_after = Share::new(forward).unwrap());
        params.link = BytesPerSecond::new(6.4e6);
        (params.overhead.reselect, params.overhead.data) = (micros(reselect), micros(data));
        each_us(&params, &[(0, 0, 100, false)])[0]
    };
    let plain = took(0.0, 0, 0);
    assert!((took(0.0, 160, 25) - plain - 185.0).abs() < 1.0);
    let media = 100.0 / 254.0 * REVOLUTION_US;
    assert!((took(1.0, 0, 0) - plain - media).abs() < 1.0);
}

#[test]
fn reads_and_writes_have_completions_of_their_own() {
    let mut params = cheetah_9lp();
    (params.overhead.read_completion, params.overhead.write_completion) = (micros(241), micros(50));
    let with = each_us(&params, &[(0, 0, 4, false), (LONG, 900_000, 4, true)]);
    let without = each_us(&cheetah_9lp(), &[(0, 0, 4, false), (LONG + 241, 900_000, 4, true)]);
    assert!((with[0] - without[0] - 241.0).abs() < 0.1);
    assert!((with[1] - without[1] - 50.0).abs() < 0.1);
}

#[test]
fn a_write_that_follows_another_elsewhere_is_detached_and_its_continuation_is_not() {
    let mut params = cheetah_9lp();
    let detached = DetachedWrite { command: micros(3_000), ..DetachedWrite::default() };
    params.overhead.detached_write = Some(detached);
    params.cache.as_mut().unwrap().fast_write = FastWrite::None;
    let steps = |commands: &[(u64, u64, u32, bool)]| {
        let mut drive = Drive::new(&params);
        let mut now = Instant::START;
        let mut processed = 0;
        for &(gap, first, sectors, write) in commands {
            now += micros(gap);
            let class = Class::HostWrite;
            let command = Command { first, sectors, tag: 0, write, class, ready: now, given: now };
            let end = drive.submit(now, command).unwrap();
            processed = (drive.finish(end).0.steps.processed - now).get() / 1_000;
            now = end;
        }
        processed
    };
    assert_eq!(steps(&[(0, 500, 4, true), (LONG, 90_000, 4, true)]), 3_000);
    assert_eq!(steps(&[(0, 500, 4, true), (LONG, 504, 4, true)]), 896);
    assert_eq!(steps(&[(0, 500, 4, false), (LONG, 90_000, 4, true)]), 907);
}

#[test]
fn a_write_is_not_on_its_track_before_the_least_seek() {
    let mut params = cheetah_9lp();
    params.overhead.least_write_seek = micros(600);
    // A write that goes on where the arm stands needs no movement, and waits all the same.
    let commands = [(0, 500, 4, true), (LONG, 504, 4, true)];
    let (with, without) = (each_us(&params, &commands)[1], each_us(&cheetah_9lp(), &commands)[1]);
    let later = with - without;
    assert!(later == 0.0 || (later - REVOLUTION_US).abs() < 1.0, "{later}");
    let on_track = |params: &RotatingParams| {
        let mut drive = Drive::new(params);
        let (now, class) = (Instant::START, Class::HostWrite);
        let command = Command { first: 0, sectors: 4, tag: 0, write: true, class, ready: now, given: now };
        let end = drive.submit(now, command).unwrap();
        let steps = drive.finish(end).0.steps;
        (steps.on_track - steps.free).get() / 1_000
    };
    assert_eq!((on_track(&params), on_track(&cheetah_9lp())), (600, 0));
}

#[test]
fn a_read_on_arrival_takes_a_track_in_one_revolution_wherever_the_head_comes_to_it() {
    let worst = |on_arrival| {
        let params = cheetah_with(|cache| cache.read_on_arrival = on_arrival);
        let commands: Vec<_> = (0..40).map(|n| (LONG + n * 149, 254 * (1 + n % 2), 254, false)).collect();
        each_us(&params, &commands).into_iter().fold(0.0, f64::max)
    };
    // The interface takes a fourth of a revolution more for what came last.
    assert!(worst(false) > 1.8 * REVOLUTION_US, "{}", worst(false));
    assert!(worst(true) < 1.6 * REVOLUTION_US, "{}", worst(true));
}

#[test]
fn sectors_that_pass_before_those_asked_for_are_kept_where_the_drive_keeps_them() {
    let earlier = |keeps| {
        let params = cheetah_with(|cache| {
            (cache.free_blocks, cache.continuous_read) = (keeps, ContinuousRead::None);
        });
        // Whichever angle the first read comes at, most of the track passes in some of them.
        let hits = (0..20u64).filter(|n| {
            let took = each_us(&params, &[(n * 331, 250, 2, false), (LONG, 248, 2, false)]);
            took[1] < 500.0
        });
        hits.count()
    };
    assert_eq!(earlier(false), 0);
    assert!(earlier(true) > 15, "{}", earlier(true));
}

#[test]
fn what_is_written_empties_the_segments_that_hold_a_part_of_it() {
    let params = cheetah_with(|cache| cache.continuous_read = ContinuousRead::None);
    let before = each_us(&params, &[(0, 1_000, 8, false), (LONG, 1_002, 2, false)])[1];
    let after = each_us(&params, &[(0, 1_000, 8, false), (LONG, 1_006, 2, true), (LONG, 1_002, 2, false)])[2];
    assert!(before < 500.0 && after > 500.0, "{before}, {after}");
}

#[test]
fn reads_are_answered_from_what_was_written_only_where_the_drive_does() {
    let second = |hits| {
        let params = cheetah_with(|cache| cache.hits_on_written = hits);
        each_us(&params, &[(0, 5_000, 8, true), (LONG, 5_000, 4, false)])[1]
    };
    assert!(second(true) < 500.0 && second(false) > 500.0);
}

#[test]
fn a_segment_for_writes_leaves_those_of_reads_alone() {
    let survives = |separate| {
        let params = cheetah_with(|cache| {
            (cache.segments, cache.separate_write, cache.write_segments) = (2, separate, 2);
            cache.continuous_read = ContinuousRead::None;
        });
        let writes = [(LONG, 800_000, 4, true), (LONG, 900_000, 4, true)];
        let all = [&[(0, 1_000, 8, false)][..], &writes, &[(LONG, 1_000, 4, false)]].concat();
        each_us(&params, &all)[3] < 500.0
    };
    assert!(survives(true) && !survives(false));
}

#[test]
fn a_negative_settling_shortens_a_writes_movement_and_never_below_nothing() {
    let on_track = |settle_ns, first| {
        let params = RotatingParams { write_settle_ns: settle_ns, ..cheetah_9lp() };
        let mut drive = Drive::new(&params);
        let (now, class) = (Instant::START, Class::HostWrite);
        let command = Command { first, sectors: 4, tag: 0, write: true, class, ready: now, given: now };
        let end = drive.submit(now, command).unwrap();
        let steps = drive.finish(end).0.steps;
        (steps.on_track - steps.free).get()
    };
    // A head switch of 30 us, and a seek of one cylinder of 831 us.
    assert_eq!([on_track(-100_000, 254), on_track(-100_000, 12 * 254)], [0, 731_000]);
    assert_eq!(on_track(200_000, 254), 230_000);
}

#[test]
fn a_negative_skew_is_the_same_angle_within_the_track() {
    let stream = |skew: f64| {
        let mut params = cheetah_9lp();
        let Zones::Exact(zones) = &mut params.zones else { panic!("the drive has zones") };
        zones.iter_mut().for_each(|zone| zone.track_skew = skew);
        each_us(&params, &[(0, 200, 100, false)])[0]
    };
    assert!((stream(-20.0) - stream(234.0)).abs() < 0.1);
    assert!(stream(20.0) < stream(-20.0));
}

#[test]
fn what_the_buffer_answers_is_answered_while_the_arm_works_for_another_and_nothing_else_is() {
    let beside = |answers_beside, first, write| {
        let params = cheetah_with(|cache| {
            (cache.answers_beside, cache.fast_write) = (answers_beside, FastWrite::All);
            (cache.continuous_read, cache.write_segments) = (ContinuousRead::Track, 1);
        });
        let mut drive = Drive::new(&params);
        let command = |now, first, write| {
            let class = if write { Class::HostWrite } else { Class::HostRead };
            Command { first, sectors: 8, tag: 0, write, class, ready: now, given: now }
        };
        let kept = command(Instant::START, 1_000, false);
        assert_eq!(drive.answer_beside(Instant::START, kept), None, "an idle drive serves it in its turn");
        let read = drive.submit(Instant::START, kept).unwrap();
        drive.finish(read);
        let now = read + micros(LONG);
        let far = drive.submit(now, command(now, 9_000_000, false)).unwrap();
        let ended = drive.answer_beside(now, command(now, first, write));
        assert!(ended.is_none_or(|end| end > now && end < far && end == now + drive.beside()));
        assert_eq!(drive.present(), 1, "it never waits");
        ended.is_some()
    };
    assert!(beside(true, 1_000, false) && beside(true, 2_000_000, true));
    assert!(!beside(false, 1_000, false) && !beside(false, 2_000_000, true), "in its turn");
    assert!(!beside(true, 5_000_000, false), "the media has it");
    assert!(!beside(true, 9_000_004, false) && !beside(true, 9_000_004, true), "the arm is at it");
}

#[test]
fn whatever_is_answered_beside_the_arm_the_read_ahead_keeps_its_place() {
    for (segments, seed) in [(1u32, 1), (2, 2), (4, 3), (16, 4)] {
        let params = cheetah_with(|cache| {
            (cache.answers_beside, cache.fast_write) = (true, FastWrite::All);
            (cache.segments, cache.write_segments) = (segments, segments.div_ceil(2));
            (cache.continuous_read, cache.hits_on_written) = (ContinuousRead::Cylinder, true);
        });
        let mut drive = Drive::new(&params);
        let mut random = crate::streams::Stream::open(seed, "beside");
        let mut now = Instant::START;
        let mut ends = None;
        let mut beside = 0;
        for tag in 0..20_000 {
            // Close to each other, so that reads, writes and read-ahead meet.
            let first = 1_000_000 + random.below(600) * 8;
            let sectors = 8 * (1 + narrow::<u32>(random.below(4)));
            let write = random.below(3) == 0;
            let class = if write { Class::HostWrite } else { Class::HostRead };
            let command = Command { first, sectors, tag, write, class, ready: now, given: now };
            match drive.answer_beside(now, command) {
                Some(end) => {
                    assert!(end > now);
                    beside += 1;
                }
                None => ends = drive.submit(now, command).or(ends),
            }
            if random.below(3) > 0
                && let Some(end) = ends
            {
                now = end;
                ends = drive.finish(now).1;
            }
        }
        assert!(beside > 100, "{beside} of {segments} segments");
    }
}

#[test]
fn no_more_is_taken_beside_the_arm_than_there_is_room_for() {
    let params = cheetah_with(|cache| {
        (cache.answers_beside, cache.fast_write, cache.write_segments) = (true, FastWrite::All, 1);
    });
    let room = params.cache.unwrap().segment.0;
    let mut drive = Drive::new(&params);
    let now = Instant::START;
    let command = |first, write| Command {
        first,
        sectors: 8,
        tag: 0,
        write,
        class: Class::HostWrite,
        ready: now,
        given: now,
    };
    drive.submit(now, command(9_000_000, false)).unwrap();
    let taken =
        (0..room).take_while(|n| drive.answer_beside(now, command(n * 1_000, true)).is_some()).count();
    assert_eq!(taken as u64, room / 8);
}

#[test]
fn a_drive_gathers_writes_until_nothing_has_been_asked_of_it_for_a_while_or_half_of_its_room_is_taken() {
    // Some writes of an eighth of the room each, and how many are on their way to the media some time later.
    let written = |idle, writes: u64, gap_us| {
        let params = cheetah_with(|cache| {
            (cache.fast_write, cache.write_segments) = (FastWrite::All, 1);
            cache.write_after_idle = Nanos::from_millis(idle);
        });
        let room = params.cache.unwrap().segment.0;
        let mut drive = Drive::new(&params);
        let mut now = Instant::START;
        for n in 0..writes {
            let sectors = narrow::<u32>(room / 8);
            let first = 4_000_000 + n * 100_000;
            let class = Class::HostWrite;
            let command = Command { first, sectors, tag: 0, write: true, class, ready: now, given: now };
            now = drive.submit(now, command).unwrap();
            drive.finish(now);
        }
        now += micros(gap_us);
        writes - drive.gathered(now) as u64
    };
    assert_eq!(written(20, 2, 1_000), 0, "it gathers");
    assert!(written(0, 2, 1_000) > 0, "it writes at once");
    assert_eq!(written(20, 2, 200_000), 2, "it has been left alone");
    assert!(written(20, 5, 1_000) > 0, "half of the room is taken");
}
