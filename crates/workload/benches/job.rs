//! What planning and settling one request costs, without any storage. `cargo bench -p fathom-workload`

use divan::Bencher;
use divan::counter::ItemsCount;
use units::{Bytes, Instant, Nanos, Share};
use workload::spec::{Extent, OpMix, Pace, Pattern, Sequence, SizeSplit, Zone};
use workload::{Completion, FileMap, Job, JobSpec, Outcome, Region, RegionShare};

fn main() {
    divan::main();
}

const REQUESTS: u64 = 100_000;

fn spec(pattern: Pattern, depth: u32) -> JobSpec {
    JobSpec {
        name: "bench".into(),
        seed: 1,
        worker: RegionShare::WHOLE,
        pattern,
        sizes: SizeSplit::one(Bytes::KIB * 4),
        mix: OpMix { reads: Share::ALL, trims: Share::NONE, flushes: Share::NONE },
        lines: Vec::new(),
        rewrites: Share::NONE,
        align: Bytes::KIB * 4,
        region: Region { start: Bytes::ZERO, len: Bytes::GIB * 64 },
        part: RegionShare::WHOLE,
        files: FileMap::One,
        depth,
        submit_batch: 32,
        complete_batch: 1,
        pace: Pace::Closed,
        sequence: Sequence::PLAIN,
        zones: None,
        start: Nanos::ZERO,
        warmup: Nanos::ZERO,
        warmup_bytes: None,
        wall: None,
        run: Some(Nanos::from_secs(3600)),
        cooldown: Nanos::ZERO,
        ops: None,
        ops_after_warmup: false,
        bytes: None,
        flush_every: None,
        flush: workload::spec::FlushKind::Fsync,
        flush_at_end: false,
        exit_all: false,
        with_others: false,
    }
}

/// Answers every request 50 µs after it was planned, whole batches at a time.
fn drive(bencher: Bencher<'_, '_>, spec: JobSpec) {
    let mut job: Job = Job::new(spec);
    let mut batch = Vec::with_capacity(64);
    let mut now = Instant::START;
    job.start(now);
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let mut done = 0;
        while done < REQUESTS {
            batch.clear();
            job.plan(now, &mut batch);
            now += Nanos::from_micros(50);
            for request in &batch {
                let outcome = Outcome::moved(request.len);
                job.complete(Completion { token: request.token, outcome, finished_at: now });
            }
            done += batch.len() as u64;
        }
    });
}

#[divan::bench(args = [1, 32, 128])]
fn random(bencher: Bencher<'_, '_>, depth: u32) {
    drive(bencher, spec(Pattern::Random, depth));
}

#[divan::bench]
fn sequential(bencher: Bencher<'_, '_>) {
    drive(bencher, spec(Pattern::Sequential, 32));
}

#[divan::bench]
fn random_with_repeats(bencher: Bencher<'_, '_>) {
    drive(bencher, spec(Pattern::RandomWithRepeats, 32));
}

#[divan::bench]
fn zipf(bencher: Bencher<'_, '_>) {
    drive(bencher, spec(Pattern::Zipf(1.2), 32));
}

#[divan::bench]
fn hot_zones(bencher: Bencher<'_, '_>) {
    let share = |part| Share::new(part).expect("a constant between 0 and 1");
    let zones = vec![Zone { requests: share(0.9), span: Extent::Part(share(0.1)) }];
    drive(bencher, spec(Pattern::Zones(zones), 32));
}

#[divan::bench]
fn mixed_sizes_and_operations(bencher: Bencher<'_, '_>) {
    let sizes = SizeSplit(vec![(Bytes::KIB * 4, 60.0), (Bytes::KIB * 64, 40.0)]);
    let mix = OpMix { reads: Share::new(0.7).expect("below 1"), trims: Share::NONE, flushes: Share::NONE };
    drive(bencher, JobSpec { sizes, mix, ..spec(Pattern::Random, 32) });
}

/// As fio's `rate_iops`: no more than so many a second.
#[divan::bench]
fn capped(bencher: Bencher<'_, '_>) {
    let pace: Pace = "cap(1000000/s)".parse().expect("a pace");
    drive(bencher, JobSpec { pace, ..spec(Pattern::Random, 32) });
}
