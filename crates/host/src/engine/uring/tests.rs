use std::fs::File;
use std::io;
use std::io::Write;

use io_uring::types::FsyncFlags;
use units::{Instant, Nanos};
use workload::{Errno, Outcome};

use super::entry::{fsync_flags, parts, user_data};
use super::setup::{Saving, first_known, is_registrable, refusal};
use super::*;
use crate::engine::HasPayload;
use crate::engine::fixture::{full_of, only, open, payload};
use crate::monitor::thread_cpu;

const DEPTH: u32 = 4;

/// A ring over these files; `None` where io_uring is refused, and there is nothing to test.
fn ring_over(files: Arc<OpenFiles>, options: UringOptions) -> Option<UringRing> {
    let payload = payload(DEPTH, 0.5);
    UringRing::new(Clock::start(), files, payload, FlushKind::Fsync, DEPTH, options).ok()
}

/// A ring that reads from a pipe, which answers when something is written to the other end.
fn ring() -> Option<(UringRing, File)> {
    let (reader, writer) = std::io::pipe().expect("a process has two descriptors left");
    let ring = ring_over(only(std::os::fd::OwnedFd::from(reader).into()), UringOptions::default())?;
    Some((ring, std::os::fd::OwnedFd::from(writer).into()))
}

/// How a request ended that is carried out alone.
fn outcome(ring: &mut UringRing, request: &Request) -> Outcome {
    let mut engine = ring.engine().expect("only one at a time");
    engine.submit(&[*request]).expect("there is room");
    let mut ended = Vec::new();
    engine.wait(Wait::For(1), &mut |done| ended.push(done.outcome)).expect("it waits");
    assert_eq!(ended.len(), 1, "it was waited for");
    ended[0]
}

fn read(slot: u32, len: u32) -> Request {
    Request { offset: Bytes::ZERO, len, token: Token(slot), file: 0, op: Op::Read }
}

#[test]
fn an_engine_dropped_with_requests_in_flight_waits_for_them() {
    let Some((mut ring, mut writer)) = ring() else { return };
    let mut engine = ring.engine().expect("the first engine");
    let place = engine.lent.payload.address(&read(1, 4096));
    engine.submit(&[read(0, 4096), read(1, 4096)]).expect("there is room");
    engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
    let answer = std::thread::spawn(move || {
        for byte in [1, 2] {
            Clock::start().sleep_until(Instant::START.saturating_add(Nanos::from_millis(50)));
            writer.write_all(&[byte; 4096]).expect("somebody reads");
        }
    });
    drop(engine);
    assert_eq!(ring.lent.in_flight, 0);
    // SAFETY: the payload is there as long as the ring.
    assert!(matches!(unsafe { place.read() }, 1 | 2), "its data came before the drop had ended");
    answer.join().expect("it wrote");
}

#[test]
fn buffers_of_a_forgotten_engine_are_never_given_back() {
    let Some((mut ring, mut writer)) = ring() else { return };
    let mut engine = ring.engine().expect("the first engine");
    let place = engine.lent.payload.address(&read(0, 4096));
    engine.submit(&[read(0, 4096)]).expect("there is room");
    engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
    std::mem::forget(engine);
    drop(ring);
    let _nobody_reads = writer.write_all(&[7; 4096]);
    // SAFETY: this is what the test is about: the memory is still mapped, and nothing else was mapped there.
    let byte = unsafe { place.read_volatile() };
    assert!(byte == 0 || byte == 7, "{byte}");
}

#[test]
fn buffers_are_kept_while_anything_is_in_flight_and_given_back_otherwise() {
    let dropped = |in_flight| {
        let payload = payload(DEPTH, 0.5);
        let (base, len) = payload.whole();
        let mut lent = LentPayload::new(payload);
        lent.in_flight = in_flight;
        drop(lent);
        (base, len)
    };
    let (base, len) = dropped(1);
    let mut resident = [0u8; 16];
    // SAFETY: mincore looks at mappings and touches no memory of them; 16 pages are more than there are.
    assert_eq!(unsafe { libc::mincore(base.cast(), len, resident.as_mut_ptr()) }, 0);
    // Given back it may be mapped by another thread by now; but what is kept is never mapped a second time.
    let mut places: Vec<usize> = (0..100).map(|_| dropped(0).0 as usize).collect();
    places.sort_unstable();
    places.dedup();
    assert!(places.len() < 100, "nothing was given back");
}

#[test]
#[should_panic(expected = "fits its piece")]
fn a_request_longer_than_its_piece_never_reaches_the_kernel() {
    let Some((mut ring, _writer)) = ring() else { panic!("fits its piece: not tested without io_uring") };
    let mut engine = ring.engine().expect("the first engine");
    let _never = engine.submit(&[read(0, 8192)]);
}

#[test]
fn what_must_be_known_of_a_request_comes_back_from_the_kernel_as_it_went() {
    for slot in [0, 1, 0x3FFF_FFFF] {
        for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
            for len in [0, 4096, u32::MAX] {
                let request = Request { op, ..read(slot, len) };
                let known = parts(user_data(&request));
                assert_eq!(known, (Token(slot), op == Op::Write, op == Op::Trim, len), "{request:?}");
            }
        }
    }
}

#[test]
fn each_kind_of_flush_and_each_refusal_is_its_own() {
    let bits = |kind| fsync_flags(kind).bits();
    assert_eq!(bits(FlushKind::Fsync), FsyncFlags::empty().bits());
    assert_eq!(bits(FlushKind::Fdatasync), FsyncFlags::DATASYNC.bits());
    let told = |sqpoll, iopoll| {
        refusal(UringOptions { sqpoll, iopoll }, io::Error::from_raw_os_error(libc::EPERM)).to_string()
    };
    assert!(told(true, false).contains("SQPOLL") && told(true, true).contains("SQPOLL"));
    assert!(told(false, true).contains("IOPOLL"));
    assert!(told(false, false).starts_with("io_uring_setup failed"));
}

#[test]
fn a_wait_ends_at_its_time_with_what_is_in_flight_still_so_and_a_completion_ends_it_before() {
    let Some((mut ring, mut writer)) = ring() else { return };
    assert!(format!("{ring:?}").contains("depth: 4"));
    let clock = ring.clock.clone();
    let mut engine = ring.engine().expect("the first engine");
    let soon = || clock.now().saturating_add(Nanos::from_millis(5));
    // Nothing is in flight: until then.
    let due = soon();
    assert!(engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing was asked")).expect("it waits") >= due);
    engine.submit(&[read(0, 4096)]).expect("there is room");
    let due = soon();
    assert!(engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing came")).expect("it waits") >= due);
    assert_eq!(engine.lent.in_flight, 1);
    writer.write_all(&[3; 4096]).expect("somebody reads");
    let never = clock.now().saturating_add(Nanos::from_secs(60));
    let mut ended = Vec::new();
    let now = engine.wait(Wait::Until(never, 1), &mut |done| ended.push(done)).expect("it waits");
    assert!(now < never && ended.len() == 1, "{ended:?}");
    assert_eq!((ended[0].token, ended[0].outcome), (Token(0), Outcome::moved(4096)));
    assert!(ended[0].finished_at <= now);
    assert_eq!(engine.lent.in_flight, 0);
    assert_eq!(engine.payload().bytes(&read(0, 4096)), [3; 4096]);
    // With nothing in flight not at all.
    engine.wait(Wait::For(1), &mut |_| panic!("nothing was asked")).expect("it does not wait");
}

#[test]
fn of_several_in_flight_only_as_many_as_are_wanted_are_waited_for() {
    let Some((mut ring, mut writer)) = ring() else { return };
    let mut engine = ring.engine().expect("the first engine");
    engine.submit(&[read(0, 4096), read(1, 4096)]).expect("there is room");
    writer.write_all(&[1; 4096]).expect("somebody reads");
    let mut count = 0;
    engine.wait(Wait::For(1), &mut |_| count += 1).expect("one is there");
    assert_eq!((count, engine.lent.in_flight), (1, 1));
    writer.write_all(&[2; 4096]).expect("somebody reads");
    // No more than are in flight.
    engine.wait(Wait::For(4), &mut |_| count += 1).expect("one is there");
    assert_eq!((count, engine.lent.in_flight), (2, 0));
}

#[test]
fn a_ring_says_how_it_was_made() {
    let Some((ring, _writer)) = ring() else { return };
    let told = ring.details().join(", ");
    assert!(told.contains("registered files and buffers") && !told.contains("POLL"), "{told}");
    assert_eq!(told.contains("single issuer"), ring.ring.params().is_setup_single_issuer());
    assert_eq!(ring.ring.params().cq_entries(), 2 * DEPTH);
    let names =
        [Saving::SingleIssuer, Saving::DeferredTaskWork, Saving::CooperativeTaskWork, Saving::NoIndexArray]
            .map(Saving::name);
    assert_eq!(names, ["single issuer", "deferred task work", "cooperative task work", "no index array"]);
}

#[test]
fn a_kernel_that_knows_less_gets_what_it_knows_and_any_other_refusal_is_told_at_once() {
    let built = |errnos: &[i32]| {
        let mut errnos = errnos.iter();
        let mut tried = Vec::new();
        let built = first_known(&["best", "good", "plain"], |level| {
            tried.push(level.to_owned());
            errnos.next().map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(*errno)))
        });
        (built.map(|((), level)| level).map_err(|error| error.raw_os_error()), tried.len())
    };
    assert_eq!(built(&[]), (Ok("best"), 1));
    assert_eq!(built(&[libc::EINVAL; 2]), (Ok("plain"), 3));
    assert_eq!(built(&[libc::EINVAL; 3]), (Err(Some(libc::EINVAL)), 3));
    assert_eq!(built(&[libc::EINVAL, libc::EPERM]), (Err(Some(libc::EPERM)), 2));
    assert_eq!(built(&[libc::ENOMEM]), (Err(Some(libc::ENOMEM)), 1));
}

#[test]
fn requests_go_by_registered_buffers_where_these_are_and_by_their_own_memory_otherwise() {
    assert!(is_registrable(Bytes::GIB) && !is_registrable(Bytes::GIB + Bytes::new(1)));
    let file = full_of(4);
    let Some(mut ring) = ring_over(open(&file), UringOptions::default()) else { return };
    let requests = [read(0, 4096), Request { op: Op::Write, ..read(1, 4096) }];
    for request in &requests {
        assert_eq!(outcome(&mut ring, request), Outcome::moved(4096));
    }
    ring.ring.submitter().unregister_buffers().expect("they were registered");
    for request in &requests {
        assert_eq!(outcome(&mut ring, request), Outcome::failed(Errno(libc::EFAULT)), "they are gone");
    }
    ring.fixed_buffers = false;
    for request in &requests {
        assert_eq!(outcome(&mut ring, request), Outcome::moved(4096));
    }
}

#[test]
fn a_flush_is_of_its_kind_and_a_file_that_is_opened_anew_is_the_one_that_is_read() {
    let Some((mut ring, _writer)) = ring() else { return };
    // A pipe has nothing to flush, and says so in another way to each call.
    for (kind, errno) in [
        (FlushKind::Fsync, libc::EINVAL),
        (FlushKind::Fdatasync, libc::EINVAL),
        (FlushKind::SyncFileRange, libc::ESPIPE),
    ] {
        ring.asks.flush = kind;
        let flush = Request { op: Op::Flush, ..read(0, 0) };
        assert_eq!(outcome(&mut ring, &flush), Outcome::failed(Errno(errno)), "{kind:?}");
    }
    let mut ring = ring_over(open(&full_of(8)), UringOptions::default()).expect("there was one before");
    let mut engine = ring.engine().expect("the first engine");
    engine.reopen(open(&full_of(9))).expect("as many as before");
    engine.submit(&[read(0, 4096)]).expect("there is room");
    engine.wait(Wait::For(1), &mut |_| ()).expect("it waits");
    assert_eq!(engine.payload().bytes(&read(0, 4096)), [9; 4096]);
}

#[test]
fn who_does_not_wait_is_told_what_has_ended_and_who_waits_for_one_is_told_of_one() {
    let Some((mut ring, mut writer)) = ring() else { return };
    let mut engine = ring.engine().expect("the first engine");
    let mut count = 0;
    engine.submit(&[read(0, 4096)]).expect("there is room");
    engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
    writer.write_all(&[1; 4096]).expect("somebody reads");
    for _ in 0..1000 {
        engine.wait(Wait::No, &mut |_| count += 1).expect("it does not wait");
    }
    assert_eq!(count, 1);
    engine.submit(&[read(1, 4096)]).expect("there is room");
    let answer = std::thread::spawn(move || {
        Clock::start().sleep_until(Instant::START.saturating_add(Nanos::from_millis(20)));
        writer.write_all(&[2; 4096]).expect("somebody reads");
    });
    engine.wait(Wait::For(1), &mut |_| count += 1).expect("it waits");
    assert_eq!(count, 2);
    answer.join().expect("it wrote");
}

#[test]
fn a_wait_takes_hardly_any_processor_time() {
    let Some((mut ring, writer)) = ring() else { return };
    let clock = ring.clock.clone();
    let mut engine = ring.engine().expect("the first engine");
    engine.submit(&[read(0, 4096)]).expect("there is room");
    let before = thread_cpu();
    for _ in 0..10 {
        let due = clock.now().saturating_add(Nanos::from_millis(10));
        let now = engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing was written"));
        assert!(now.expect("it waits") >= due);
    }
    let took = thread_cpu().since(before);
    assert!(took.user + took.system < Nanos::from_millis(30), "{took:?} of 100 ms");
    // Ends the request, which is waited for.
    drop(writer);
}

#[test]
fn a_ring_is_tried_with_whole_blocks_however_large_they_are() {
    let len = |block: u64, largest| probe_len(Some(Bytes::new(block)), largest);
    assert_eq!((len(512, 1 << 20), len(4096, 1 << 20), len(16_384, 1 << 20)), (4096, 4096, 16_384));
    assert_eq!((probe_len(None, 1 << 20), probe_len(None, 512), len(512, 512)), (4096, 512, 512));
}

#[test]
fn a_thread_of_the_kernel_that_has_gone_to_sleep_is_woken_by_the_next_request() {
    let file = full_of(6);
    let options = UringOptions { sqpoll: true, iopoll: false };
    let Some(mut ring) = ring_over(open(&file), options) else { return };
    assert!(ring.details().contains(&"SQPOLL".to_owned()), "{:?}", ring.details());
    assert_eq!(outcome(&mut ring, &read(0, 4096)), Outcome::moved(4096));
    let clock = ring.clock.clone();
    let engine = ring.engine().expect("only one at a time");
    while !engine.queue.need_wakeup() {
        clock.sleep_until(clock.now().saturating_add(Nanos::from_millis(10)));
    }
    drop(engine);
    assert_eq!(outcome(&mut ring, &read(1, 4096)), Outcome::moved(4096));
}

#[test]
fn a_ring_that_the_kernel_refuses_to_enter_is_an_error_and_not_waited_for() {
    // A ring belongs to the thread that made it, where the kernel is told so.
    let made = std::thread::spawn(|| {
        let (ring, writer) = ring()?;
        let is_own = ring.ring.params().is_setup_single_issuer();
        is_own.then_some((ring, writer))
    });
    let Some((mut ring, _writer)) = made.join().expect("its assertions hold") else { return };
    let mut engine = ring.engine().expect("the first engine");
    engine.submit(&[read(0, 4096)]).expect("there is room");
    let told = engine.wait(Wait::For(1), &mut |_| panic!("nobody reads"));
    // Nobody here can wait for what it has in flight.
    std::mem::forget(engine);
    let error = told.expect_err("it is another's");
    assert!(matches!(error, EngineError::System { call: "io_uring_enter", .. }), "{error}");
}

#[test]
fn a_device_that_fails_is_not_taken_for_one_without_poll_queues() {
    for errno in [libc::EOPNOTSUPP, libc::EINVAL] {
        let refusal = polling_refused(Outcome::failed(Errno(errno))).expect("it was refused").to_string();
        assert!(refusal.contains("poll_queues"), "{refusal}");
    }
    for errno in [libc::EIO, libc::ENODATA, libc::ETIMEDOUT] {
        assert!(polling_refused(Outcome::failed(Errno(errno))).is_none());
    }
    assert!(polling_refused(Outcome::moved(4096)).is_none());
}
