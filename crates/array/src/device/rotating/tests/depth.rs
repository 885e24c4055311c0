//! Many commands at once.

use super::*;

/// Milliseconds that each of `count` reads takes with `depth` of them at the drive at any instant, after half of them;
/// `first` says where each begins.
fn each_ms_at(
    params: &RotatingParams,
    depth: u64,
    count: u64,
    sectors: u32,
    mut first: impl FnMut(u64) -> u64,
) -> f64 {
    let mut drive = Drive::new(params);
    let (ready, class) = (Instant::START, Class::HostRead);
    let mut read =
        |n: u64| Command { first: first(n), sectors, tag: 0, write: false, class, ready, given: ready };
    let mut end = None;
    for n in 0..depth {
        end = end.or(drive.submit(Instant::START, read(n)));
    }
    let (mut now, mut half) = (Instant::START, Instant::START);
    for n in 0..count {
        now = end.expect("a command is in service as long as one waits");
        let next = drive.finish(now).1;
        end = next.or(drive.submit(now, read(depth + n)));
        if n == count / 2 {
            half = now;
        }
    }
    (now - half).as_secs_f64() * 1e3 / (count - count / 2 - 1) as f64
}

/// Milliseconds that the media takes for a read at the outer edge.
fn media_ms(params: &RotatingParams, sectors: u32) -> f64 {
    let Zones::Rates { outer, .. } = params.zones else { panic!("a drive by its rates") };
    outer.time_for(Sectors(sectors.into()).bytes()).as_secs_f64() * 1e3
}

#[test]
fn a_stream_passes_at_the_rate_of_the_media_however_many_of_its_reads_wait() {
    for depth in [1, 2, 8, 32] {
        let (params, sectors) = (nearline(), 512);
        let each = each_ms_at(&params, depth, 4_000, sectors, |n| n * 512);
        let media = media_ms(&params, sectors);
        assert!(
            (each / media - 1.0).abs() < 0.01,
            "{each} ms with {depth} at once, where the media takes {media}"
        );
    }
}

#[test]
fn a_read_longer_than_what_is_read_ahead_goes_on_with_the_stream() {
    let unqueued = DriveQueueParams { window: 1, overlap: false, order: Order::Fcfs, age_limit: None };
    let params = RotatingParams { queue: unqueued, ..nearline() };
    let each = each_ms_at(&params, 2, 500, 4096, |n| n * 4096);
    let media = media_ms(&params, 4096);
    assert!(
        (each / media - 1.0).abs() < 0.02,
        "{each} ms, where the media takes {media} and a revolution 8.3"
    );
}

#[test]
fn a_command_ages_from_when_the_drive_sees_it() {
    let mut draws = Stream::open(5, "test");
    let mut random = |depth| each_ms_at(&nearline(), depth, 4_000, 8, |_| draws.below(900_000_000) * 8);
    // Of 32 none waits for half a second; what a host keeps in front of them does not make the drive give up its order.
    let (seen, more) = (random(32), random(256));
    assert!(more < seen * 1.05, "{more} ms with 256 at once, {seen} with the 32 that the drive sees");
}
