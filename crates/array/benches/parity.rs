//! Parity of 10 data strips against a plain copy of the same bytes.
//!
//! All count the bytes of data that go in, so the figures compare directly. With strips of 64 KiB everything stays
//! in the second-level cache, with 1 MiB in the third; 16 MiB come from memory.

use array::parity::{Kernel, Strip, add_change, coefficient, recover};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use units::convert::narrow;

const DATA: usize = 10;
const STRIP_BYTES: [usize; 3] = [64 << 10, 1 << 20, 16 << 20];

fn main() {
    divan::main();
}

fn strips(len: usize) -> Vec<Vec<u8>> {
    (0..DATA).map(|strip| (0..len).map(|at| narrow::<u8>((at * 31 + strip * 7) % 256)).collect()).collect()
}

/// The slowest kernel of this machine first, by number, as divan wants its second argument constant.
fn kernel(number: usize) -> Option<Kernel> {
    Kernel::available().get(number).copied()
}

#[divan::bench(args = STRIP_BYTES)]
fn memcpy(bencher: Bencher, len: usize) {
    let from = strips(len);
    let mut to = strips(len);
    bencher.counter(BytesCount::new(DATA * len)).bench_local(|| {
        for (to, from) in to.iter_mut().zip(&from) {
            black_box(&mut *to).copy_from_slice(black_box(from));
        }
    });
}

#[divan::bench(args = STRIP_BYTES, consts = [0, 1, 2])]
fn p_and_q<const KERNEL: usize>(bencher: Bencher, len: usize) {
    let Some(kernel) = kernel(KERNEL) else { return };
    let data = strips(len);
    let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    let (mut p, mut q) = (vec![0; len], vec![0; len]);
    bencher
        .counter(BytesCount::new(DATA * len))
        .bench_local(|| kernel.pq(black_box(&data), black_box(&mut p), black_box(&mut q)));
}

#[divan::bench(args = STRIP_BYTES, consts = [0, 1, 2])]
fn p_alone<const KERNEL: usize>(bencher: Bencher, len: usize) {
    let Some(kernel) = kernel(KERNEL) else { return };
    let data = strips(len);
    let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    let mut p = vec![0; len];
    bencher
        .counter(BytesCount::new(DATA * len))
        .bench_local(|| kernel.xor(black_box(&data), black_box(&mut p)));
}

#[divan::bench(args = STRIP_BYTES)]
fn recover_two_data_strips(bencher: Bencher, len: usize) {
    let mut data = strips(len);
    let (mut p, mut q) = (vec![1; len], vec![2; len]);
    let mut views: Vec<&mut [u8]> = data.iter_mut().map(Vec::as_mut_slice).collect();
    let lost = [Strip::Data(2), Strip::Data(7)];
    bencher.counter(BytesCount::new(DATA * len)).bench_local(|| {
        recover(black_box(&mut views), &mut p, Some(&mut q), &lost).expect("P and Q are there");
    });
}

#[divan::bench(args = [8 << 10, 64 << 10])]
fn follow_one_rewritten_strip(bencher: Bencher, len: usize) {
    let (old, new) = (vec![3; len], vec![5; len]);
    let (mut p, mut q) = (vec![1; len], vec![2; len]);
    bencher.counter(BytesCount::new(len)).bench_local(|| {
        add_change(black_box(&mut p), &old, &new, 1);
        add_change(black_box(&mut q), &old, &new, coefficient(4));
    });
}
