//! What is read is held against what was written: on every engine, across phases, without a false alarm.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::clock::Clock;
use host::engine::FileRef;
use host::load::{Assignment, WorkerOutcome, run};
use host::safety::{Consent, permit};
use host::verify::{Books, Verification};
use host::{SysRoot, Target};
use units::Bytes;
use workload::compile;
use workload::plan::{Overrides, Plan};
use workload::tally::Failure;

const BLOCKS: u64 = 512;
const LEN: Bytes = Bytes::new(BLOCKS * 4096);

/// Every engine that moves data, at the depths it can serve.
const ENGINES: [(&str, u32); 11] = [
    ("pread", 1),
    ("pread", 8),
    ("preadv2", 1),
    ("preadv2", 8),
    ("splice", 1),
    ("splice", 8),
    ("locked", 1),
    ("locked", 8),
    ("mmap", 1),
    ("io_uring", 1),
    ("io_uring", 16),
];

/// A file, and the books of a run on it.
struct Bed {
    _dir: tempfile::TempDir,
    path: PathBuf,
    books: Arc<Books>,
}

fn bed(block: u64) -> Bed {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("data");
    let noise: Vec<u8> = (0..LEN.get()).map(|at| (at * 7 % 251) as u8).collect();
    std::fs::write(&path, noise).unwrap();
    Bed { _dir: dir, path, books: Arc::new(Books::new(1, Bytes::new(block))) }
}

impl Bed {
    fn load(&self, keys: &str) -> Vec<WorkerOutcome> {
        let text = format!("[[phase]]\ndirect = false\nseed = 3\n{keys}\n");
        let plan = Plan::parse("test.toml", &text, &Overrides::default()).unwrap();
        let workload = plan.points()[0].workloads()[0].clone();
        let target = Target::parse(self.path.to_str().unwrap()).unwrap();
        let consent = Consent::parse(target.path().unwrap().to_str().unwrap()).unwrap();
        let permit = Some(Arc::new(permit(&SysRoot::real(), &target, Some(&consent)).unwrap()));
        let ledger = self.books.ledger(&self.path, LEN).unwrap();
        let assignment = Assignment {
            jobs: compile(&workload, &[LEN]).unwrap(),
            workload,
            files: vec![FileRef { path: self.path.clone(), permit }],
            verify: Some(Verification { books: self.books.clone(), files: vec![ledger] }),
            zones: Default::default(),
            is_logged: false,
        };
        run(&[assignment], &Clock::start(), &AtomicBool::new(false), &mut |_| ()).unwrap()
    }

    fn change(&self, at: u64, bytes: &[u8]) {
        File::options().write(true).open(&self.path).unwrap().write_all_at(bytes, at).unwrap();
    }

    fn at(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        File::open(&self.path).unwrap().read_exact_at(&mut bytes, at).unwrap();
        bytes
    }
}

/// What the workers checked, could not check, and found wrong.
fn sums(outcomes: &[WorkerOutcome]) -> (u64, u64, u64) {
    let verified = || outcomes.iter().map(|outcome| outcome.verified.as_ref().unwrap());
    let corrupt = verified().map(|each| each.corrupt).sum();
    assert_eq!(outcomes.iter().map(|outcome| outcome.tally.errors).sum::<u64>(), corrupt);
    let bytes = |of: fn(&workload::Verified) -> Bytes| verified().map(|each| of(each).get()).sum();
    (bytes(|each| each.checked), bytes(|each| each.unknown), corrupt)
}

#[test]
fn every_engine_finds_a_flipped_byte_at_its_place_and_nothing_else() {
    for (engine, depth) in ENGINES {
        let bed = bed(4096);
        let keys = format!("ops = {BLOCKS}\nengine = '{engine}'\ndepth = {depth}\nverify = 'written'");
        assert_eq!(sums(&bed.load(&format!("reads = '0%'\n{keys}"))), (0, 0, 0), "{engine}");
        assert_eq!(sums(&bed.load(&keys)), (LEN.get(), 0, 0), "{engine} at {depth}");

        let at = 77 * 4096 + 1234;
        let flipped = bed.at(at, 1)[0] ^ 0x10;
        bed.change(at, &[flipped]);
        let outcomes = bed.load(&keys);
        assert_eq!(sums(&outcomes), (LEN.get(), 0, 1), "{engine} at {depth}");
        let sample = outcomes[0].tally.error_samples[0];
        assert_eq!((sample.failure, sample.offset), (Failure::Corrupt, Bytes::new(77 * 4096)));
        let wrong = outcomes[0].verified.as_ref().unwrap().first_wrong(0, sample.offset, sample.len).unwrap();
        assert_eq!((wrong.offset, wrong.len), (Bytes::new(77 * 4096), Bytes::new(4096)));
        assert!(wrong.expected.contains("of this run, of byte 315392"), "{}", wrong.expected);
        assert!(wrong.found.contains("was changed"), "{}", wrong.found);
    }
}

#[test]
fn a_write_that_was_lost_or_went_elsewhere_is_found() {
    let bed = bed(4096);
    let write = format!("reads = '0%'\nops = {BLOCKS}\nverify = 'written'");
    bed.load(&write);
    let old = bed.at(8192, 4096);
    bed.load(&write);
    bed.change(8192, &old);
    let neighbour = bed.at(40960, 4096);
    bed.change(45056, &neighbour);
    let outcomes = bed.load(&format!("pattern = 'sequential'\nops = {BLOCKS}\nverify = 'written'"));
    assert_eq!(sums(&outcomes).2, 2);
    let wrong = &outcomes[0].verified.as_ref().unwrap().wrong;
    assert!(wrong[0].found.ends_with("of byte 8192") && wrong[0].offset == Bytes::new(8192), "{wrong:?}");
    assert!(wrong[1].found.ends_with("of byte 40960") && wrong[1].offset == Bytes::new(45056), "{wrong:?}");
}

#[test]
fn writes_and_reads_of_the_same_blocks_at_once_raise_no_false_alarm() {
    for engine in ["pread", "io_uring"] {
        let bed = bed(512);
        let outcomes = bed.load(&format!(
            "pattern = 'random(repeats)'\nsize = {{ '512B' = 1, '4KiB' = 1, '1536B' = 1 }}\nalign = '512B'\nreads = '50%'\n\
             workers = 3\ndepth = 8\nops = 30000\nspan = '256KiB'\nengine = '{engine}'\nverify = 'written'"
        ));
        let (checked, unknown, corrupt) = sums(&outcomes);
        assert_eq!(corrupt, 0, "{:?}", outcomes[0].verified);
        assert!(checked > 1 << 20, "{checked} checked, {unknown} unknown");
    }
}

#[test]
fn what_another_workload_has_overwritten_is_not_checked() {
    let bed = bed(4096);
    bed.load(&format!("reads = '0%'\nops = {BLOCKS}\nverify = 'written'"));
    bed.load("reads = '0%'\npattern = 'sequential'\nops = 100");
    let read = format!("ops = {BLOCKS}\nverify = 'written'");
    assert_eq!(sums(&bed.load(&read)), ((BLOCKS - 100) * 4096, 100 * 4096, 0));
}

#[test]
fn sizes_may_change_between_writing_and_reading() {
    let bed = bed(4096);
    bed.load("reads = '0%'\npattern = 'sequential'\nsize = '64KiB'\nbytes = '2MiB'\nverify = 'written'\ncontent = 'zeros'");
    assert_eq!(sums(&bed.load("size = '4KiB'\nops = 512\nverify = 'written'")), (LEN.get(), 0, 0));
    assert_eq!(sums(&bed.load("size = '12KiB'\nalign = '4KiB'\nops = 100\nverify = 'written'")).1, 0);
}

#[test]
fn another_run_knows_the_stamps_of_its_seed_by_themselves() {
    let mut bed = bed(4096);
    bed.load("reads = '0%'\npattern = 'sequential'\nops = 256\nverify = 'written'");
    bed.books = Arc::new(Books::new(1, Bytes::new(4096)));
    bed.change(8192 + 100, b"changed");
    let read = |verify: &str| sums(&bed.load(&format!("ops = {BLOCKS}\nverify = '{verify}'")));
    assert_eq!(read("written"), (256 * 4096, 256 * 4096, 1));
    assert_eq!(read("all"), (LEN.get(), 0, 257), "what was never written has no stamp");
}
