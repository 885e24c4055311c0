//! Every instruction set against the byte-at-a-time field, and every loss against the strips that were lost.

use proptest::prelude::*;

use super::*;

/// Strips of equal length, long enough to reach the four-lane loop, the one-lane loop and the tail of each set; under
/// Miri, which takes a thousand times as long, few and short ones that still do.
fn strips() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let (most, longest) = if cfg!(miri) { (4, 300) } else { (16, 5000) };
    (1usize..=most, prop_oneof![0usize..700, Just(512), Just(4096), Just(5000)]).prop_flat_map(
        move |(count, len)| {
            prop::collection::vec(prop::collection::vec(any::<u8>(), len.min(longest)), count)
        },
    )
}

fn slices(strips: &[Vec<u8>]) -> Vec<&[u8]> {
    strips.iter().map(Vec::as_slice).collect()
}

/// P and Q by their definitions.
fn slow_pq(strips: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let (mut p, mut q) = (vec![0; strips[0].len()], vec![0; strips[0].len()]);
    for (index, strip) in strips.iter().enumerate() {
        for (at, &byte) in strip.iter().enumerate() {
            p[at] ^= byte;
            q[at] ^= field::mul(coefficient(index), byte);
        }
    }
    (p, q)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    #[test]
    fn every_instruction_set_gives_the_parity_of_the_definition(strips in strips()) {
        let (p, q) = slow_pq(&strips);
        for kernel in Kernel::available() {
            let (mut p1, mut p2, mut q2) = (vec![0xaa; p.len()], vec![0xbb; p.len()], vec![0xcc; p.len()]);
            kernel.xor(&slices(&strips), &mut p1);
            kernel.pq(&slices(&strips), &mut p2, &mut q2);
            prop_assert!(p == p1, "{} xor", kernel.name());
            prop_assert!(p == p2, "{} p", kernel.name());
            prop_assert!(q == q2, "{} q", kernel.name());
        }
    }

    #[test]
    fn every_instruction_set_multiplies_as_the_definition(
        target in prop::collection::vec(any::<u8>(), 0..300), seed: u8, by: u8, a: u8, b: u8,
    ) {
        let other = |salt: u8| -> Vec<u8> {
            target.iter().map(|byte| byte.wrapping_mul(31) ^ seed.wrapping_add(salt)).collect()
        };
        let (old, new) = (other(1), other(77));
        for kernel in Kernel::available() {
            let mut added = target.clone();
            kernel.add(&mut added, &old, by);
            let mut changed = target.clone();
            kernel.add_change(&mut changed, &old, &new, by);
            let (mut x, mut y) = (target.clone(), old.clone());
            kernel.solve(&mut x, &mut y, a, b);
            for at in 0..target.len() {
                prop_assert_eq!(added[at], target[at] ^ field::mul(by, old[at]), "{}", kernel.name());
                prop_assert_eq!(changed[at], target[at] ^ field::mul(by, old[at] ^ new[at]), "{}", kernel.name());
                prop_assert_eq!(x[at], field::mul(a, target[at]) ^ field::mul(b, old[at]), "{}", kernel.name());
                prop_assert_eq!(y[at], target[at] ^ x[at], "{}", kernel.name());
            }
        }
    }

    #[test]
    fn any_one_or_two_lost_strips_come_back(strips in strips()) {
        let (p, q) = slow_pq(&strips);
        let all: Vec<Strip> = (0..strips.len()).map(Strip::Data).chain([Strip::P, Strip::Q]).collect();
        for &first in &all {
            for &second in &all {
                let (mut data, mut p2, mut q2) = (strips.clone(), p.clone(), q.clone());
                for strip in [first, second] {
                    match strip {
                        Strip::Data(at) => data[at].fill(0xee),
                        Strip::P => p2.fill(0xee),
                        Strip::Q => q2.fill(0xee),
                    }
                }
                let mut views: Vec<&mut [u8]> = data.iter_mut().map(Vec::as_mut_slice).collect();
                recover(&mut views, &mut p2, Some(&mut q2), &[first, second]).unwrap();
                prop_assert!(data == strips, "{first:?} {second:?}");
                prop_assert!(p2 == p, "{first:?} {second:?}");
                prop_assert!(q2 == q, "{first:?} {second:?}");
            }
        }
    }

    #[test]
    fn following_a_rewritten_strip_equals_computing_anew(
        strips in strips(), which: prop::sample::Index, seed: u8,
    ) {
        let (mut p, mut q) = slow_pq(&strips);
        let at = which.index(strips.len());
        let mut rewritten = strips.clone();
        rewritten[at].iter_mut().for_each(|byte| *byte = byte.rotate_left(3) ^ seed);
        add_change(&mut p, &strips[at], &rewritten[at], 1);
        add_change(&mut q, &strips[at], &rewritten[at], coefficient(at));
        prop_assert_eq!((p, q), slow_pq(&rewritten));
    }
}

#[test]
fn a_stripe_of_255_strips_survives_the_loss_of_the_first_and_the_last() {
    let strips: Vec<Vec<u8>> =
        (0..255u8).map(|n| (0..96u8).map(|at| n.wrapping_mul(at) ^ at).collect()).collect();
    let (mut p, mut q) = slow_pq(&strips);
    let mut data = strips.clone();
    data[0].fill(1);
    data[254].fill(2);
    let mut views: Vec<&mut [u8]> = data.iter_mut().map(Vec::as_mut_slice).collect();
    recover(&mut views, &mut p, Some(&mut q), &[Strip::Data(254), Strip::Data(0)]).unwrap();
    assert_eq!(data, strips);
}

#[test]
fn raid_5_recovers_one_strip_and_refuses_two() {
    let strips = [vec![1, 2, 3], vec![4, 5, 6]];
    let (mut p, _) = slow_pq(&strips);
    let mut data = strips.clone();
    data[1].fill(0);
    let mut views: Vec<&mut [u8]> = data.iter_mut().map(Vec::as_mut_slice).collect();
    recover(&mut views, &mut p, None, &[Strip::Data(1), Strip::Data(1)]).unwrap();
    let refused = recover(&mut views, &mut p, None, &[Strip::Data(1), Strip::P]);
    assert_eq!(refused, Err(RecoverError::TooManyLost { lost: 2, parity: 1 }));
    assert_eq!(data, strips);
}

#[test]
fn a_third_loss_and_a_strip_that_is_not_there_are_refused_in_words() {
    let (mut one, mut p, mut q) = (vec![0; 4], vec![0; 4], vec![0; 4]);
    let lost = [Strip::Data(0), Strip::P, Strip::Q];
    let error = recover(&mut [&mut one], &mut p, Some(&mut q), &lost).unwrap_err().to_string();
    assert!(error.starts_with("recovering 3 strips needs 3 parity strips, the stripe has 2"), "{error}");
    let error = recover(&mut [&mut one], &mut p, None, &[Strip::Q]).unwrap_err().to_string();
    assert_eq!(error, "the stripe has no strip Q: it has 1 data strips and P");
    assert!(recover(&mut [&mut one], &mut p, None, &[Strip::Data(1)]).is_err());
}
