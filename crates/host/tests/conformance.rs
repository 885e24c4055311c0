//! One body for every engine: each request ends once, errors map alike, the stream is the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod served;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::clock::Clock;
use host::engine::{EngineChoice, EngineError, FileRef};
use host::load::{Assignment, LoadEvent, WorkerOutcome, run};
use host::safety::{Consent, Permit, permit};
use host::{SysRoot, Target};
use units::{Bytes, Instant, Nanos, OpsPerSecond, Share};
use workload::spec::*;
use workload::tally::{Failure, Tally};
use workload::{Errno, compile, files_needed};

const BLOCKS: u64 = 1024;
const LEN: Bytes = Bytes::new(BLOCKS * 4096);

/// Every engine at the depths it can serve. `Auto` stands for an export of an NBD server, whose engine has no other name.
const ENGINES: [(EngineKind, u32); 11] = [
    (EngineKind::Null, 16),
    (EngineKind::Pread, 1),
    (EngineKind::Pread, 8),
    (EngineKind::Preadv2, 1),
    (EngineKind::Preadv2, 8),
    (EngineKind::Mmap, 1),
    (EngineKind::Stdio, 1),
    (EngineKind::IoUring, 1),
    (EngineKind::IoUring, 16),
    (EngineKind::Auto, 1),
    (EngineKind::Auto, 16),
];

/// Random reads of 4 KiB, as many as a file has blocks.
fn workload(engine: EngineKind, depth: u32) -> Workload {
    let (ops, depth) = (BLOCKS.to_string(), depth.to_string());
    let keys = [("size", "4KiB"), ("depth", &depth), ("ops", &ops), ("direct", "false"), ("seed", "7")];
    let plain = workload::plan::from_texts("conformance", keys).unwrap();
    Workload { engine: EngineSpec { kind: engine, ..plain.engine }, ..plain }
}

fn reading(share: f64) -> OpMix {
    OpMix { reads: Share::new(share).unwrap(), trims: Share::NONE, flushes: Share::NONE }
}

/// A directory with files of real data, gone when dropped.
struct Bed {
    _dir: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

fn bed(files: u64) -> Bed {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths: Vec<PathBuf> = (0..files).map(|file| dir.path().join(format!("f{file}"))).collect();
    for path in &paths {
        let block: Vec<u8> = (0..4096u32).map(|i| (i * 7 % 251) as u8).collect();
        let mut file = File::create(path).unwrap();
        (0..BLOCKS).for_each(|_| file.write_all(&block).unwrap());
        file.sync_all().unwrap();
    }
    Bed { _dir: dir, paths }
}

fn refs(paths: &[PathBuf]) -> Vec<FileRef> {
    paths.iter().map(|path| FileRef { path: path.clone(), permit: permitted(path) }).collect()
}

/// Leave to write to a file that this test made.
fn permitted(path: &Path) -> Option<Arc<Permit>> {
    let target = Target::parse(path.to_str()?).ok()?;
    // An export is known by its name, and this one is not blank.
    let consent = match target.path() {
        Some(path) => Consent::parse(path.to_str()?).ok()?,
        None => Consent::parse(&format!("data:{}", target.name)).ok()?,
    };
    Some(Arc::new(permit(&SysRoot::real(), &target, Some(&consent)).unwrap()))
}

/// The export that a server has of `path`, with the leave to write to it.
fn exported(path: &Path) -> FileRef {
    let server = served::Server::unix(path, served::GOOD);
    FileRef { path: server.uri.clone().into(), permit: permitted(&PathBuf::from(server.uri)) }
}

fn outcomes(workload: &Workload, paths: &[PathBuf]) -> Vec<WorkerOutcome> {
    outcomes_with(workload, paths, &mut |_| ())
}

fn outcomes_with(
    workload: &Workload,
    paths: &[PathBuf],
    event: &mut dyn FnMut(LoadEvent),
) -> Vec<WorkerOutcome> {
    outcomes_on(workload, refs(paths), event)
}

fn outcomes_on(
    workload: &Workload,
    files: Vec<FileRef>,
    event: &mut dyn FnMut(LoadEvent),
) -> Vec<WorkerOutcome> {
    loaded(workload, files, event).unwrap()
}

fn loaded(
    workload: &Workload,
    files: Vec<FileRef>,
    event: &mut dyn FnMut(LoadEvent),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let jobs = compile(workload, &vec![LEN; files.len()]).unwrap();
    let assignment = Assignment::new(workload.clone(), jobs, files);
    run(&[assignment], &Clock::start(), &AtomicBool::new(false), event)
}

fn refusal(workload: &Workload, files: Vec<FileRef>) -> String {
    loaded(workload, files, &mut |_| ()).unwrap_err().to_string()
}

fn tally(workload: &Workload, path: &Path) -> Tally {
    tally_with(workload, path, &mut |_| ())
}

fn tally_with(workload: &Workload, path: &Path, event: &mut dyn FnMut(LoadEvent)) -> Tally {
    let file = match workload.engine.kind {
        EngineKind::Auto => exported(path),
        _ => refs(&[path.to_path_buf()]).remove(0),
    };
    outcomes_on(workload, vec![file], event).remove(0).tally
}

#[test]
fn every_engine_carries_each_request_out_once_and_asks_for_the_same_stream() {
    let bed = bed(1);
    let digests: Vec<u64> = ENGINES
        .into_iter()
        .map(|(engine, depth)| {
            let tally = tally(&workload(engine, depth), &bed.paths[0]);
            assert_eq!((tally.planned, tally.completed, tally.ops()), (BLOCKS, BLOCKS, BLOCKS), "{engine:?}");
            assert_eq!(tally.errors, 0, "{engine:?}: {:?}", tally.error_samples);
            assert_eq!(tally.classes[0].response.count(), BLOCKS);
            tally.digest
        })
        .collect();
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn every_engine_really_writes_each_block() {
    for (engine, depth) in ENGINES.into_iter().filter(|(engine, _)| *engine != EngineKind::Null) {
        let bed = bed(1);
        let before = fs::read(&bed.paths[0]).unwrap();
        let durability = Durability { every: Some(100), ..workload(engine, depth).durability };
        let tally =
            tally(&Workload { mix: reading(0.0), durability, ..workload(engine, depth) }, &bed.paths[0]);
        assert_eq!(tally.errors, 0, "{engine:?}: {:?}", tally.error_samples);
        assert_eq!(tally.planned, BLOCKS + BLOCKS / 100, "a flush after each hundred writes");
        let after = fs::read(&bed.paths[0]).unwrap();
        assert_eq!(after.len(), before.len());
        for (block, (old, new)) in before.chunks(4096).zip(after.chunks(4096)).enumerate() {
            assert_ne!(old, new, "{engine:?} at depth {depth} left block {block} alone");
        }
    }
}

#[test]
fn every_engine_punches_holes_that_read_as_zeros() {
    for (engine, depth) in ENGINES.into_iter().filter(|(engine, _)| *engine != EngineKind::Null) {
        let bed = bed(1);
        let mix = OpMix { reads: Share::NONE, trims: Share::ALL, flushes: Share::NONE };
        let tally = tally(&Workload { mix, ..workload(engine, depth) }, &bed.paths[0]);
        assert_eq!((tally.errors, tally.ops()), (0, BLOCKS), "{engine:?}: {:?}", tally.error_samples);
        assert!(fs::read(&bed.paths[0]).unwrap().iter().all(|byte| *byte == 0), "{engine:?}");
    }
}

#[test]
fn a_file_cut_short_meanwhile_gives_counted_failures_and_no_crash() {
    for (engine, depth) in ENGINES.into_iter().filter(|(engine, _)| *engine != EngineKind::Null) {
        let bed = bed(1);
        let path = bed.paths[0].clone();
        let mut cut = false;
        let stop = Stop { ops: Some(BLOCKS), ..workload(engine, depth).stop };
        let asked = Workload { stop, ..workload(engine, depth) };
        let tally = tally_with(&asked, &path.clone(), &mut |event| {
            if matches!(event, LoadEvent::Started(..)) && !cut {
                cut = true;
                File::options().write(true).open(&path).unwrap().set_len(LEN.get() / 2).unwrap();
            }
        });
        assert_eq!(tally.errors, BLOCKS / 2, "{engine:?} at depth {depth}: {:?}", tally.error_samples);
        assert_eq!(tally.completed, BLOCKS);
        assert!(tally.error_samples.iter().all(|sample| sample.offset.get() >= LEN.get() / 2));
        let expected = |failure: &Failure| match engine {
            EngineKind::Mmap | EngineKind::Auto => *failure == Failure::Errno(Errno(libc_eio())),
            _ => *failure == Failure::Short { moved: 0 },
        };
        assert!(tally.error_samples.iter().all(|sample| expected(&sample.failure)), "{engine:?}");
    }
}

const fn libc_eio() -> i32 {
    5
}

#[test]
fn an_error_of_the_system_comes_back_with_its_number_from_every_engine() {
    // Reading at an odd offset is refused by direct I/O where the file system asks for alignment.
    let bed = bed(1);
    for (engine, depth) in [(EngineKind::Pread, 1), (EngineKind::Preadv2, 4), (EngineKind::IoUring, 4)] {
        let asked =
            Workload { direct: true, sizes: SizeSplit::one(Bytes::new(1000)), ..workload(engine, depth) };
        let probe = File::open(&bed.paths[0]).unwrap();
        assert!(probe.read_at(&mut [0; 16], 0).is_ok());
        let tally = tally(&asked, &bed.paths[0]);
        if tally.errors == 0 {
            let _closed = writeln!(
                std::io::stderr(),
                "skipped: the file system of {} accepts any alignment",
                bed.paths[0].display()
            );
            return;
        }
        assert_eq!(tally.error_samples[0].failure, Failure::Errno(Errno(22)), "{engine:?}");
    }
}

#[test]
fn workers_on_files_of_their_own_do_not_meet() {
    let asked = Workload {
        workers: 3,
        files: Files::PerWorker(2),
        mix: reading(0.5),
        stop: Stop { ops: Some(600), ..workload(EngineKind::IoUring, 4).stop },
        ..workload(EngineKind::IoUring, 4)
    };
    let bed = bed(files_needed(&asked));
    let outcomes = outcomes(&asked, &bed.paths);
    assert_eq!(outcomes.len(), 3);
    for outcome in outcomes {
        assert_eq!((outcome.tally.ops(), outcome.tally.errors), (200, 0));
        assert_eq!(outcome.engine.choice, Some(EngineChoice::Uring));
    }
}

#[test]
fn every_arrival_of_an_even_rate_is_planned_and_none_is_early() {
    // Load goes on after the window, so that a machine that stalls at its end plans what was due then all the same.
    let half = Nanos::from_millis(500);
    let stop = Stop { run: Some(half), cooldown: half, ops: None, ..workload(EngineKind::Auto, 1).stop };
    for (engine, depth) in [(EngineKind::Pread, 1), (EngineKind::IoUring, 4), (EngineKind::Pread, 4)] {
        let pace = Pace::even(OpsPerSecond::new(1000.0));
        let bed = bed(1);
        let asked = Workload { pace, stop, ..workload(engine, depth) };
        let mut started = Instant::START;
        let outcome = outcomes_with(&asked, &bed.paths, &mut |event| {
            if let LoadEvent::Started(at, _) = event {
                started = at;
            }
        })
        .remove(0);
        let tally = outcome.tally;
        assert_eq!(tally.planned, tally.completed, "{engine:?}");
        assert_eq!(tally.classes[0].response.count(), 500, "{engine:?}");
        assert!(tally.measured_from >= started);
        let lag = tally.classes[0].lag.as_ref().unwrap();
        let service = tally.classes[0].service.as_ref().unwrap();
        let response = &tally.classes[0].response;
        assert_eq!(lag.sum_ns() + service.sum_ns(), response.sum_ns(), "response is lag and service");
    }
}

#[test]
fn a_file_that_is_neither_scratch_nor_permitted_is_not_written() {
    let bed = bed(1);
    let asked = Workload { mix: reading(0.5), ..workload(EngineKind::Auto, 1) };
    let error = refusal(&asked, vec![FileRef { path: bed.paths[0].clone(), permit: None }]);
    assert!(error.contains("no permit"), "{error}");
}

#[test]
fn setting_stop_ends_the_load_and_keeps_what_was_measured() {
    let bed = bed(1);
    let stop = Stop { run: Some(Nanos::from_secs(60)), ops: None, ..workload(EngineKind::Auto, 8).stop };
    let asked = Workload { stop, ..workload(EngineKind::Auto, 8) };
    let jobs = compile(&asked, &[LEN]).unwrap();
    let (clock, flag) = (Clock::start(), AtomicBool::new(false));
    let assignment = Assignment::new(asked, jobs, refs(&bed.paths));
    let outcomes = run(&[assignment], &clock, &flag, &mut |event| {
        if matches!(event, LoadEvent::Progress(progress) if progress.ops > 0) {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap();
    assert!(clock.now() < Instant::from_nanos(20_000_000_000));
    assert!(outcomes[0].tally.ops() > 0);
}

#[test]
fn the_first_worker_that_has_done_its_part_ends_the_load_of_all() {
    let bed = bed(1);
    let ends_after = |name: &str, ops, exit_all| {
        let stop = Stop { ops: Some(ops), exit_all, ..workload(EngineKind::Auto, 1).stop };
        Workload { name: name.into(), stop, ..workload(EngineKind::Auto, 1) }
    };
    // The one that ends before it would not end the others.
    let asked = [
        ends_after("short", 50, true),
        ends_after("endless", u64::MAX, true),
        ends_after("bystander", u64::MAX, false),
        ends_after("shortest", 1, false),
    ];
    let assign = |workload: &Workload| {
        Assignment::new(workload.clone(), compile(workload, &[LEN]).unwrap(), refs(&bed.paths))
    };
    let assignments: Vec<Assignment> = asked.iter().map(assign).collect();
    let outcomes = run(&assignments, &Clock::start(), &AtomicBool::new(false), &mut |_| ()).unwrap();
    let ops: Vec<u64> = outcomes.iter().map(|outcome| outcome.tally.ops()).collect();
    assert_eq!((ops[0], ops[3]), (50, 1));
    assert!(outcomes[1..3].iter().all(|outcome| outcome.tally.measured_until < Instant::NEVER));
}

#[test]
fn processor_time_of_threads_that_carry_requests_out_is_the_workers() {
    let bed = bed(1);
    // Content of 256 MiB is made, and copied into the page cache, by threads of the worker.
    let sizes = SizeSplit::one(Bytes::MIB);
    let stop = Stop { ops: Some(256), ..workload(EngineKind::Pread, 4).stop };
    let asked = Workload { mix: reading(0.0), sizes, stop, ..workload(EngineKind::Pread, 4) };
    let outcome = outcomes(&asked, &bed.paths).remove(0);
    assert_eq!((outcome.tally.ops(), outcome.tally.errors), (256, 0));
    assert!(outcome.time.user + outcome.time.system >= Nanos::from_millis(20), "{:?}", outcome.time);
}

#[test]
fn intervals_reach_the_listener_each_second() {
    let bed = bed(1);
    let stop = Stop { run: Some(Nanos::from_millis(1500)), ops: None, ..workload(EngineKind::Auto, 8).stop };
    let mut heard = 0;
    let outcome =
        outcomes_with(&Workload { stop, ..workload(EngineKind::Auto, 8) }, &bed.paths, &mut |event| {
            if let LoadEvent::Intervals(_, intervals) = event {
                heard += intervals.len();
            }
        })
        .remove(0);
    assert_eq!(heard + outcome.tally.intervals.len(), 2);
}

#[test]
fn polling_a_device_without_poll_queues_is_refused_with_a_reason() {
    let bed = bed(1);
    let mut asked = workload(EngineKind::IoUring, 4);
    asked.engine.iopoll = true;
    let error = refusal(&asked, refs(&bed.paths));
    assert!(error.contains("poll queues"), "{error}");
}

#[test]
fn a_target_that_is_not_there_is_an_error_that_names_it() {
    let nowhere = FileRef { path: "/nonexistent/target".into(), permit: None };
    let error = refusal(&workload(EngineKind::Auto, 4), vec![nowhere]);
    assert!(error.contains("/nonexistent/target"), "{error}");
}
