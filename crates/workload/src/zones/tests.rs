use super::*;
use crate::spec::{SizeSplit, Workload};
use crate::{Completion, Job, JobSpec, Outcome, Wake, compile};
use units::convert::truncated;
use units::{Instant, Nanos};

/// Workers of a workload with these keys besides 512 KiB in zones of 4 MiB, on a file of 16 MiB.
fn jobs(keys: &[(&str, &str)]) -> Vec<Job> {
    let texts = [("size", "512KiB"), ("reads", "0%"), ("zone_size", "4MiB"), ("bytes", "16MiB")];
    let own = |key: &&(&str, &str)| keys.iter().all(|(other, _)| other != &key.0);
    let texts = texts.iter().filter(own).chain(keys).copied();
    let workload: Workload = crate::plan::from_texts("x", texts).unwrap_or_else(|e| panic!("{}", e.plain()));
    let specs: Vec<JobSpec> = compile(&workload, &[Bytes::MIB * 16]).unwrap();
    assert_ne!(workload.sizes, SizeSplit(Vec::new()));
    specs.into_iter().map(Job::new).collect()
}

/// All that a job asks of storage that answers at once: the operation, and offset and length in half MiB.
fn asked(job: &mut Job) -> Vec<(Op, f64, f64)> {
    let mut all = Vec::new();
    let mut now = Instant::START;
    job.start(now);
    for _ in 0..10_000 {
        let mut batch = Vec::new();
        let wake = job.plan(now, &mut batch);
        now = now.saturating_add(Nanos::from_micros(1));
        for request in batch {
            let half = |bytes: u64| bytes as f64 / 524_288.0;
            all.push((request.op, half(request.offset.get()), half(request.len.into())));
            let outcome = Outcome::moved(request.len);
            job.complete(Completion { token: request.token, outcome, finished_at: now });
        }
        match wake {
            Wake::Done => break,
            Wake::At(due) => now = due,
            _ => {}
        }
    }
    all
}

fn places(keys: &[(&str, &str)]) -> Vec<f64> {
    asked(&mut jobs(keys)[0]).into_iter().map(|(_, at, _)| at).collect()
}

#[test]
fn a_stream_writes_zone_after_zone_and_resets_those_that_are_full() {
    let mut twice = jobs(&[("pattern", "sequential"), ("bytes", "32MiB")]);
    let halves: Vec<f64> = (0..32).chain(0..32).map(f64::from).collect();
    assert_eq!(asked(&mut twice[0]).iter().map(|(_, at, _)| *at).collect::<Vec<_>>(), halves);
    assert_eq!(twice.remove(0).into_tally().zone_resets, 4);
}

#[test]
fn what_a_zone_cannot_hold_is_left_out_of_a_pass() {
    // Five requests of each eight: as fio 3.33 with zonecapacity=2560k.
    let each = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20, 24, 25, 26, 27, 28].map(f64::from);
    let mut pass = jobs(&[("pattern", "sequential"), ("zone_capacity", "2560KiB")]).remove(0);
    assert_eq!(asked(&mut pass).iter().map(|(_, at, _)| *at).collect::<Vec<_>>(), each);
    assert_eq!(pass.into_tally().zone_resets, 0, "none is reset for a request beyond the pass");
    // fio 3.33 stays in the first zone with zonesize=4m bs=384k; later ones finish a zone whose rest is too small.
    let odd = places(&[("pattern", "sequential"), ("size", "384KiB"), ("bytes", "8MiB")]);
    assert_eq!(odd[..11], [0.0, 0.75, 1.5, 2.25, 3.0, 3.75, 4.5, 5.25, 6.0, 6.75, 8.0]);
}

#[test]
fn a_stream_leaves_zones_out_as_often_as_it_is_told() {
    let kept: Vec<f64> = (0..8).chain(16..24).chain(0..8).chain(16..24).map(f64::from).collect();
    assert_eq!(places(&[("pattern", "sequential"), ("zone_skip", "4MiB")]), kept);
}

#[test]
fn random_writes_go_to_the_write_pointer_of_their_zone() {
    let mut written = [0.0; 4];
    let places = places(&[]);
    for at in &places {
        let zone = truncated::<usize>(at / 8.0);
        assert_eq!(at - 8.0 * zone as f64, written[zone], "{places:?}");
        written[zone] += 1.0;
    }
    // Each place of a pass is drawn once, so that each zone is filled.
    assert_eq!(written, [8.0; 4]);
    assert_ne!(places, (0..32).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn only_so_many_zones_are_written_in_part() {
    let mut most = 0;
    let mut written = [0u32; 4];
    for at in places(&[("open_zones", "2"), ("bytes", "64MiB"), ("pattern", "random(repeats)")]) {
        let zone = truncated::<usize>(at / 8.0);
        let within = truncated::<u32>(at - 8.0 * zone as f64);
        assert_eq!(within, written[zone] % 8, "a write goes to the write pointer");
        written[zone] = within + 1;
        most = most.max(written.iter().filter(|written| !matches!(**written, 0 | 8)).count());
    }
    assert_eq!(most, 2);
}

#[test]
fn a_worker_opens_no_more_zones_than_its_own() {
    let keys = [("open_zones", "3"), ("worker_open_zones", "1"), ("pattern", "random(repeats)")];
    let zones: Vec<u32> = places(&keys).iter().map(|at| truncated::<u32>(*at / 8.0)).collect();
    assert!(zones.chunks(8).all(|zones| zones.iter().all(|zone| *zone == zones[0])), "{zones:?}");
}

#[test]
fn every_so_many_writes_reset_a_zone_once_enough_is_written() {
    let keys = [("zone_resets", "25%"), ("zone_resets_above", "50%"), ("bytes", "32MiB")];
    let mut resetting = jobs(&keys);
    let places: Vec<f64> = asked(&mut resetting[0]).iter().map(|(_, at, _)| *at).collect();
    let starts = places.iter().filter(|at| *at % 8.0 == 0.0).count();
    let resets = resetting.remove(0).into_tally().zone_resets;
    // 64 writes; from the 17th on a reset each fourth, as long as half is written.
    assert!((6..=12).contains(&resets), "{resets}");
    assert!(starts as u64 >= resets, "{starts} writes at the start of a zone, {resets} resets");
    let mut plain = jobs(&[("bytes", "16MiB")]);
    asked(&mut plain[0]);
    assert_eq!(plain.remove(0).into_tally().zone_resets, 0);
}

#[test]
fn reads_find_what_was_written_and_nothing_where_nothing_was() {
    assert_eq!(asked(&mut jobs(&[("reads", "100%")])[0]), []);
    assert_eq!(asked(&mut jobs(&[("reads", "100%"), ("pattern", "sequential")])[0]), []);
    let beyond = [("reads", "100%"), ("pattern", "sequential"), ("read_beyond_wp", "true")];
    assert_eq!(places(&beyond), (0..32).map(f64::from).collect::<Vec<_>>());

    let states = ZoneStates::default();
    let share = |mut job: Job| {
        job.share_zones(&states, |file| format!("file {file}"));
        job
    };
    let mut writer =
        share(jobs(&[("bytes", "3MiB"), ("pattern", "sequential"), ("offset", "4MiB")]).remove(0));
    asked(&mut writer);
    let mut stream = share(jobs(&[("reads", "100%"), ("pattern", "sequential")]).remove(0));
    assert_eq!(asked(&mut stream), [8, 9, 10, 11, 12, 13].map(|at| (Op::Read, f64::from(at), 1.0)));
    let mut random = share(jobs(&[("reads", "100%"), ("bytes", "64MiB")]).remove(0));
    let found = asked(&mut random);
    assert_eq!(found.len(), 128);
    assert!(found.iter().all(|(_, at, _)| (8.0..14.0).contains(at)), "{found:?}");
}

#[test]
fn the_last_flush_takes_the_slot_of_a_request_that_has_found_no_place() {
    let keys = [("reads", "100%"), ("run", "1ms"), ("flush_at_end", "true"), ("depth", "1")];
    assert_eq!(asked(&mut jobs(&keys)[0]), [(Op::Flush, 0.0, 0.0)]);
}

#[test]
fn the_first_of_a_mix_writes_where_nothing_can_be_read() {
    let asked = asked(&mut jobs(&[("reads", "90%"), ("bytes", "64MiB")])[0]);
    assert_eq!(asked.len(), 128);
    assert_eq!(asked[0].0, Op::Write);
    assert!(asked.iter().filter(|(op, ..)| *op == Op::Read).count() > 90);
}

#[test]
fn a_request_takes_the_largest_size_that_its_zone_has_room_for() {
    let keys = [("size", "{ 512KiB = 1, 1536KiB = 1 }"), ("bytes", "16MiB"), ("pattern", "sequential")];
    let all = asked(&mut jobs(&keys)[0]);
    assert!(all.iter().any(|(_, _, len)| *len == 3.0), "{all:?}");
    assert!(all.iter().all(|(_, at, len)| at % 8.0 + len <= 8.0), "{all:?}");
    let mut next = 0.0;
    for (_, at, len) in all {
        assert_eq!(at, next);
        next = at + len;
    }
}

#[test]
fn what_is_verified_is_never_reset() {
    let keys =
        [("verify", "written"), ("bytes", "64MiB"), ("pattern", "random(repeats)"), ("read_back", "1000")];
    let mut job = jobs(&keys).remove(0);
    let writes: Vec<f64> =
        asked(&mut job).iter().filter(|(op, ..)| *op == Op::Write).map(|(_, at, _)| *at).collect();
    let mut sorted = writes.clone();
    sorted.sort_by(f64::total_cmp);
    // All zones are filled once, and the load ends.
    assert_eq!(sorted, (0..32).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_zone_in_the_hands_of_one_worker_is_waited_for_by_others() {
    let states = ZoneStates::default();
    let keys = [("open_zones", "1"), ("depth", "2"), ("pattern", "random(repeats)")];
    let [mut one, mut other] = [(); 2].map(|()| {
        let mut job = jobs(&keys).remove(0);
        job.share_zones(&states, |_| "file".into());
        job.start(Instant::START);
        job
    });
    let (mut first, mut second, mut none) = (Vec::new(), Vec::new(), Vec::new());
    one.plan(Instant::START, &mut first);
    one.plan(Instant::START, &mut first);
    assert_eq!(first.len(), 2, "one worker may have several requests in a zone");
    assert!(matches!(other.plan(Instant::START, &mut none), Wake::At(_)));
    assert_eq!(none, []);
    let wait = other.waits_for_zone().expect("it has nothing in flight itself").clone();
    assert!(one.waits_for_zone().is_none());
    let now = Instant::START.saturating_add(Nanos::from_micros(9));
    let end = first[1].offset + Bytes::KIB * 512;
    for request in first {
        one.complete(Completion {
            token: request.token,
            outcome: Outcome::moved(request.len),
            finished_at: now,
        });
    }
    wait.block(|_, waiting, is_held| {
        assert!(!is_held(), "what was let go since is not waited for");
        waiting
    });
    other.plan(now, &mut second);
    assert_eq!(second[0].offset, end, "it goes on where the first one ended");
}
