//! What recording and merging cost. `cargo bench -p fathom-stats`

use divan::{Bencher, black_box};
use stats::Histogram;
use units::Nanos;

fn main() {
    divan::main();
}

const VALUES: u64 = 4096;

/// Spread over three powers of two, as the latencies of one device are.
fn latencies() -> Vec<Nanos> {
    (0..VALUES).map(|i| Nanos::new(50_000 + (i * 0x9E37_79B9) % 350_000)).collect()
}

#[divan::bench]
fn record(bencher: Bencher<'_, '_>) {
    let values = latencies();
    let mut histogram = Histogram::new();
    bencher
        .counter(divan::counter::ItemsCount::new(VALUES))
        .bench_local(|| values.iter().for_each(|value| histogram.record(black_box(*value))));
}

#[divan::bench]
fn record_in_hdrhistogram(bencher: Bencher<'_, '_>) {
    let values = latencies();
    let mut histogram =
        hdrhistogram::Histogram::<u64>::new_with_max(3_600_000_000_000, 3).expect("fixed bounds");
    bencher.counter(divan::counter::ItemsCount::new(VALUES)).bench_local(|| {
        values.iter().for_each(|value| {
            histogram.record(black_box(value.get())).expect("below an hour");
        });
    });
}

#[divan::bench]
fn merge(bencher: Bencher<'_, '_>) {
    let mut one = Histogram::new();
    latencies().into_iter().for_each(|value| one.record(value));
    let mut sum = Histogram::new();
    bencher.bench_local(|| sum.merge(black_box(&one)));
}
