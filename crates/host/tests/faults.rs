//! Real devices that fail, and the kernel's own counters as witness of what was asked.
//!
//! Needs root and losetup; says so and skips where they are missing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod loops;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::SysRoot;
use host::clock::Clock;
use host::engine::FileRef;
use host::load::{Assignment, run};
use host::monitor::DeviceCounters;
use host::safety::{Consent, Permit, Reason, SafetyError, judge, permit};
use loops::Loop;
use units::convert::narrow;
use units::{Bytes, Share};
use workload::spec::*;
use workload::tally::{Failure, Tally};
use workload::{Errno, Op, compile};

const BLOCK: Bytes = Bytes::new(4096);
/// Each is asked for once; few enough that a worker does not give up before all have failed.
const BLOCKS: u64 = 512;
const SIZE: Bytes = Bytes::new(BLOCKS * BLOCK.get());

const ENGINES: [(EngineKind, u32); 4] =
    [(EngineKind::Pread, 1), (EngineKind::Pread, 8), (EngineKind::Preadv2, 8), (EngineKind::IoUring, 16)];

/// Random requests that ask for each block once.
fn workload(engine: EngineKind, depth: u32, reads: &str) -> Workload {
    let (size, ops, depth) = (BLOCK.to_string(), BLOCKS.to_string(), depth.to_string());
    let keys = [("size", &*size), ("reads", reads), ("depth", &depth), ("ops", &ops), ("seed", "7")];
    let plain = workload::plan::from_texts("faults", keys).unwrap();
    Workload { engine: EngineSpec { kind: engine, ..plain.engine }, ..plain }
}

fn load(workload: &Workload, device: &Loop, permit: Option<Arc<Permit>>) -> Tally {
    let jobs = compile(workload, &[SIZE]).unwrap();
    let files = vec![FileRef { path: device.node.clone().into(), permit }];
    let assignment = Assignment::new(workload.clone(), jobs, files);
    run(&[assignment], &Clock::start(), &AtomicBool::new(false), &mut |_| ()).unwrap().remove(0).tally
}

fn allowed(device: &Loop) -> Arc<Permit> {
    let consent = Consent::parse(&format!("data:loop:{}", device.image.display())).unwrap();
    // Whoever else looks for a free loop device, in any process, may claim this one for a moment.
    let is_busy = |refused: &SafetyError| match refused {
        SafetyError::Refused(refusal) => {
            refusal.reasons.iter().all(|reason| matches!(reason, Reason::Busy { .. }))
        }
        _ => false,
    };
    for _ in 0..20 {
        match permit(&SysRoot::real(), &device.target(), Some(&consent)) {
            Err(refused) if is_busy(&refused) => drop(loops::run("sleep", &["0.1"])),
            settled => return Arc::new(settled.unwrap()),
        }
    }
    panic!("{} is busy for two seconds", device.node);
}

#[test]
fn the_kernel_counts_the_same_requests_and_sectors_as_the_record() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let (root, devno) = (SysRoot::real(), device.devno());
    for (engine, depth) in ENGINES {
        let permit = allowed(&device);
        let before = DeviceCounters::read(&root, devno).unwrap();
        let tally = load(&workload(engine, depth, "70%"), &device, Some(permit));
        let counted = DeviceCounters::read(&root, devno).unwrap().since(&before);
        assert_eq!((tally.errors, tally.completed), (0, BLOCKS), "{engine:?}: {:?}", tally.error_samples);
        let asked = |op: Op| {
            tally.classes.iter().filter(|class| class.class.op == op).map(|class| class.ended).sum::<u64>()
        };
        // Neighbouring requests may be merged on the way, never split; sectors must agree to the last one.
        assert_eq!(counted.writes + counted.write_merges, asked(Op::Write), "{engine:?} at depth {depth}");
        assert_eq!(counted.write_sectors.0, asked(Op::Write) * 8, "{engine:?} at depth {depth}");
        assert!(counted.read_sectors.0 >= asked(Op::Read) * 8, "{engine:?} at depth {depth}");
        // Where udev runs it reads from every device that was closed after writing, at a moment of its own.
        if !Path::new("/run/udev/control").exists() {
            assert_eq!(counted.reads + counted.read_merges, asked(Op::Read), "{engine:?} at depth {depth}");
            assert_eq!(counted.read_sectors.0, asked(Op::Read) * 8, "{engine:?} at depth {depth}");
        }
    }
}

#[test]
fn trims_are_counted_by_the_kernel_as_discards_to_the_last_sector() {
    let content = vec![1; narrow::<usize>(SIZE.get())];
    for (engine, depth) in ENGINES {
        let Some(device) = Loop::make(SIZE, &[], &[(0, &content)]) else { return };
        let (root, devno) = (SysRoot::real(), device.devno());
        if host::target::Device::read(&root, devno).unwrap().queue.largest_discard.is_none_or(Bytes::is_zero)
        {
            loops::skipped("the file system of the tests cannot punch holes, so its loops cannot discard");
            return;
        }
        let permit = allowed(&device);
        let mix = OpMix { reads: Share::NONE, trims: Share::ALL, flushes: Share::NONE };
        let trims = Workload { mix, ..workload(engine, depth, "0%") };
        let before = DeviceCounters::read(&root, devno).unwrap();
        let tally = load(&trims, &device, Some(permit));
        let counted = DeviceCounters::read(&root, devno).unwrap().since(&before);
        assert_eq!((tally.errors, tally.ops()), (0, BLOCKS), "{engine:?}: {:?}", tally.error_samples);
        // Neighbours in flight at once may be merged; never at depth 1.
        assert!((1..=BLOCKS).contains(&counted.discards), "{engine:?} at depth {depth}: {counted:?}");
        assert!(depth > 1 || counted.discards == BLOCKS, "{engine:?}: {counted:?}");
        assert_eq!(counted.discard_sectors.0, BLOCKS * 8, "{engine:?} at depth {depth}");
        assert_eq!((counted.writes, counted.write_sectors.0), (0, 0), "{engine:?} at depth {depth}");
        let mut left = content.clone();
        File::open(&device.node).unwrap().read_exact_at(&mut left, 0).unwrap();
        assert!(left.iter().all(|byte| *byte == 0), "{engine:?} at depth {depth}");
    }
}

#[test]
fn a_device_that_returns_errors_is_counted_with_place_and_number_by_every_engine() {
    for (engine, depth) in ENGINES {
        let content = vec![1; narrow::<usize>(SIZE.get())];
        let Some(device) = Loop::make(SIZE, &[], &[(0, &content)]) else { return };
        let half = SIZE.get() / 2;
        // The loop keeps its size; what lies behind the new end can no longer be read.
        File::options().write(true).open(&device.image).unwrap().set_len(half).unwrap();
        let tally = load(&workload(engine, depth, "100%"), &device, None);
        assert_eq!(tally.completed, BLOCKS, "{engine:?} at depth {depth}");
        assert_eq!(
            tally.errors,
            BLOCKS / 2,
            "{engine:?} at depth {depth}: {:?}",
            tally.error_samples.first()
        );
        assert_eq!(tally.ops(), BLOCKS / 2, "{engine:?} at depth {depth}");
        for sample in &tally.error_samples {
            assert!(sample.offset.get() >= half, "{sample:?}");
            assert_eq!(sample.failure, Failure::Errno(Errno(libc::EIO)), "{engine:?} at depth {depth}");
        }
    }
}

#[test]
fn a_device_that_cannot_be_read_is_not_written_either() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    File::options().write(true).open(&device.image).unwrap().set_len(0).unwrap();
    let consent = Consent::parse(&format!("data:loop:{}", device.image.display())).unwrap();
    let reasons = judge(&SysRoot::real(), &device.target(), Some(&consent)).reasons;
    assert!(matches!(reasons[..], [Reason::Unreadable { .. }]), "{reasons:?}");
}

#[test]
fn a_target_that_vanishes_behind_its_name_is_not_replaced_by_what_comes_after_it() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let file = device.image.with_file_name("file");
    std::fs::write(&file, "data").unwrap();
    let target = host::Target::parse(file.to_str().unwrap()).unwrap();
    let consent = Consent::parse(file.to_str().unwrap()).unwrap();
    let permit = permit(&SysRoot::real(), &target, Some(&consent)).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(permit.open(0), Err(SafetyError::Os { .. })));
    // A node of the same name that is a device now.
    std::os::unix::fs::symlink(&device.node, &file).unwrap();
    assert!(matches!(permit.open(0), Err(SafetyError::Exchanged { .. })));
    let mut start = [1; 16];
    File::open(&device.node).unwrap().read_exact_at(&mut start, 0).unwrap();
    assert_eq!(start, [0; 16]);
}
