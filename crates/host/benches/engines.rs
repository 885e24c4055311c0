//! What each engine costs for a 4 KiB read of a file in the page cache, and with no storage at all.
//! `cargo bench -p fathom-host`

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use divan::Bencher;
use divan::counter::ItemsCount;
use host::clock::Clock;
use host::engine::FileRef;
use host::load::{Assignment, run};
use units::Bytes;
use units::convert::narrow;
use workload::compile;
use workload::plan::{Overrides, Plan};

fn main() {
    divan::main();
}

const REQUESTS: u64 = 50_000;
const FILE: Bytes = Bytes::new(8 << 20);

/// Reads [`REQUESTS`] blocks through `engine`, set-up included: threads, ring and buffers cost a millisecond.
fn reads(bencher: Bencher<'_, '_>, engine: &str, depth: u32) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fathom-bench.dat");
    fs::write(&path, vec![7u8; narrow::<usize>(FILE.get())]).expect("the build folder can be written");
    let text = format!(
        "[[phase]]\nname = 'bench'\npattern = 'random'\nsize = '4KiB'\ndirect = false\nengine = '{engine}'\n\
         depth = {depth}\nops = {REQUESTS}\nrun = '1h'\n"
    );
    let plan = Plan::parse("bench.toml", &text, &Overrides::default()).expect("a constant plan");
    let workload = &plan.points()[0].workloads()[0];
    let jobs = compile(workload, &[FILE]).expect("the file is large enough");
    let files = vec![FileRef { path: path.clone(), permit: None }];
    let assignment = [Assignment::new(workload.clone(), jobs, files)];
    let clock = Clock::start();
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        run(&assignment, &clock, &AtomicBool::new(false), &mut |_| ()).expect("reading a file of our own")
    });
    // The next case makes it anew.
    let _left = fs::remove_file(&path);
}

#[divan::bench(args = [1, 128])]
fn null(bencher: Bencher<'_, '_>, depth: u32) {
    reads(bencher, "null", depth);
}

#[divan::bench]
fn pread(bencher: Bencher<'_, '_>) {
    reads(bencher, "pread", 1);
}

#[divan::bench]
fn preadv2(bencher: Bencher<'_, '_>) {
    reads(bencher, "preadv2", 1);
}

#[divan::bench]
fn mmap(bencher: Bencher<'_, '_>) {
    reads(bencher, "mmap", 1);
}

#[divan::bench(args = [1, 32, 128])]
fn io_uring(bencher: Bencher<'_, '_>, depth: u32) {
    reads(bencher, "io_uring", depth);
}
