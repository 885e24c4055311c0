use super::*;
use crate::spec::{Extent, Zone};
use proptest::prelude::*;
use std::collections::HashMap;
use units::Share;
use units::convert::narrow;

const KIB4: u64 = 4096;
const DRAWS: u64 = 1_000_000;

fn region(len: u64) -> Region {
    Region { start: Bytes::ZERO, len: Bytes::new(len) }
}

fn grain(align: u64, largest: u64) -> Grain {
    Grain { align: Bytes::new(align), largest: Bytes::new(largest), keeps_slots: false, mixed: false }
}

fn of(pattern: Pattern, len: u64, part: RegionShare) -> Addresses {
    Addresses::new(&pattern, region(len), part, grain(KIB4, KIB4), Streams::new(11), "test")
}

fn draws(addresses: &mut Addresses, count: u64) -> Vec<u64> {
    (0..count).map(|_| addresses.next(narrow::<u32>(KIB4)).get() / KIB4).collect()
}

#[test]
fn random_workers_together_visit_each_block_once() {
    let (blocks, workers) = (DRAWS, 7);
    let mut seen = vec![0u8; narrow::<usize>(blocks)];
    for index in 0..workers {
        let mut worker = of(Pattern::Random, blocks * KIB4, RegionShare { index, of: workers });
        let turns = blocks / u64::from(workers) + u64::from(u64::from(index) < blocks % u64::from(workers));
        draws(&mut worker, turns).into_iter().for_each(|block| seen[narrow::<usize>(block)] += 1);
    }
    assert!(seen.iter().all(|count| *count == 1));
}

#[test]
fn each_pass_of_random_visits_all_blocks_in_an_order_of_its_own_whoever_takes_turns_in_it() {
    let mut worker = of(Pattern::Random, 100 * KIB4, RegionShare::WHOLE);
    let passes: Vec<Vec<u64>> = (0..4).map(|_| draws(&mut worker, 100)).collect();
    for (number, pass) in passes.iter().enumerate() {
        let mut sorted = pass.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100), "pass {number}");
        // Of two orders one place in a hundred is the same by chance.
        let alike = |other: &[u64]| pass.iter().zip(other).filter(|(one, other)| one == other).count();
        assert!(passes[..number].iter().all(|before| alike(before) < 8), "pass {number}");
    }
    // Three workers, of whose requests each hundred are a pass, and more workers than there are blocks.
    for of_all in [3, 130] {
        let worker = |index| of(Pattern::Random, 100 * KIB4, RegionShare { index, of: of_all });
        let mut workers: Vec<_> = (0..of_all).map(worker).collect();
        let together: Vec<u64> =
            (0..400).flat_map(|at: usize| draws(&mut workers[at % of_all as usize], 1)).collect();
        assert!(together.chunks(100).eq(passes.iter().map(Vec::as_slice)), "{of_all} workers");
    }
}

#[test]
fn more_workers_than_blocks_still_stay_within_the_region() {
    let mut worker = of(Pattern::Random, 2 * KIB4, RegionShare { index: 6, of: 9 });
    assert!(draws(&mut worker, 50).into_iter().all(|block| block < 2));
}

#[test]
fn draws_with_repeats_are_uniform() {
    let blocks = 1000;
    let mut counts = vec![0u64; blocks];
    let mut worker = of(Pattern::RandomWithRepeats, blocks as u64 * KIB4, RegionShare::WHOLE);
    draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[narrow::<usize>(block)] += 1);
    let expected = DRAWS as f64 / blocks as f64;
    let chi_square: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    // 999 degrees of freedom: mean 999, standard deviation 44.7; four of them above.
    assert!(chi_square < 1178.0, "chi-square {chi_square}");
}

#[test]
fn draws_with_repeats_reach_every_aligned_place_where_the_request_fits() {
    let pattern = Pattern::RandomWithRepeats;
    let grain = grain(512, KIB4);
    let mut worker =
        Addresses::new(&pattern, region(6 * KIB4), RegionShare::WHOLE, grain, Streams::new(11), "test");
    let mut counts = [0u64; 41];
    for _ in 0..DRAWS {
        counts[narrow::<usize>(worker.next(narrow::<u32>(KIB4)).get()) / 512] += 1;
    }
    let expected = DRAWS as f64 / 41.0;
    let chi_square: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    // 40 degrees of freedom: standard deviation 8.9; four of them above.
    assert!(chi_square < 76.0, "chi-square {chi_square}");
}

#[test]
fn zipf_ranks_have_the_shares_of_the_law() {
    let blocks = 1_000u64;
    let theta = 1.2;
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let mut worker = of(Pattern::Zipf(theta), blocks * KIB4, RegionShare::WHOLE);
    draws(&mut worker, DRAWS).into_iter().for_each(|block| *counts.entry(block).or_default() += 1);
    let mut ranked: Vec<u64> = counts.into_values().collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let norm: f64 = (1..=blocks).map(|rank| (rank as f64).powf(-theta)).sum();
    for rank in [1usize, 2, 3, 10, 30] {
        let share = (rank as f64).powf(-theta) / norm;
        let expected = DRAWS as f64 * share;
        let deviation = (expected * (1.0 - share)).sqrt();
        let seen = ranked[rank - 1] as f64;
        assert!((seen - expected).abs() < 5.0 * deviation, "rank {rank}: {seen} for {expected}");
    }
}

#[test]
fn a_fifth_of_the_blocks_gets_four_fifths_of_a_pareto_of_a_fifth() {
    let blocks = 1_000u64;
    let mut counts = vec![0u64; narrow::<usize>(blocks)];
    let mut worker = of(Pattern::Pareto(0.2), blocks * KIB4, RegionShare::WHOLE);
    draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[narrow::<usize>(block)] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    for (hottest, share) in [(200, 0.8), (40, 0.64), (8, 0.512)] {
        let seen: u64 = counts[..hottest].iter().sum();
        // Five standard deviations of a binomial with n = 1,000,000 are at most 2,500.
        assert!((seen as f64 - share * DRAWS as f64).abs() < 2500.0, "{hottest}: {seen}");
    }
}

#[test]
fn interlocked_workers_take_one_stream_in_turn() {
    let mut workers: Vec<_> =
        (0..3).map(|index| of(Pattern::Interlocked, 7 * KIB4, RegionShare { index, of: 3 })).collect();
    let all: Vec<u64> = (0..9)
        .flat_map(|_| workers.iter_mut().map(|worker| draws(worker, 1)[0]).collect::<Vec<_>>())
        .collect();
    assert_eq!(all, (0..27).map(|step| step % 7).collect::<Vec<_>>());
}

#[test]
fn zipf_below_one_covers_a_large_space() {
    let blocks = 1u64 << 28;
    let mut worker = of(Pattern::Zipf(0.8), blocks * KIB4, RegionShare::WHOLE);
    let upper = draws(&mut worker, 100_000).into_iter().filter(|block| *block >= blocks / 2).count();
    assert!((45_000..55_000).contains(&upper), "{upper} of 100,000 in the upper half");
}

#[test]
fn normal_draws_have_the_asked_spread_about_the_middle() {
    let blocks = 1_000_000u64;
    let mut worker = of(Pattern::Normal(Share::new(0.1).unwrap()), blocks * KIB4, RegionShare::WHOLE);
    let drawn = draws(&mut worker, DRAWS);
    let mean = drawn.iter().map(|block| *block as f64).sum::<f64>() / DRAWS as f64;
    let variance = drawn.iter().map(|block| (*block as f64 - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    assert!((mean / 500_000.0 - 1.0).abs() < 0.002, "mean {mean}");
    assert!((variance.sqrt() / 100_000.0 - 1.0).abs() < 0.01, "deviation {}", variance.sqrt());
}

#[test]
fn the_blocks_of_a_scattered_bell_are_as_hot_and_lie_anywhere() {
    let blocks = 1_000u64;
    let [together, scattered] = [Pattern::Normal, Pattern::NormalScattered].map(|pattern| {
        let mut counts = vec![0u64; narrow::<usize>(blocks)];
        let mut worker = of(pattern(Share::new(0.05).unwrap()), blocks * KIB4, RegionShare::WHOLE);
        draws(&mut worker, DRAWS).into_iter().for_each(|block| counts[narrow::<usize>(block)] += 1);
        counts
    });
    let upper = |counts: &[u64]| counts[..100].iter().chain(&counts[900..]).sum::<u64>();
    assert_eq!(upper(&together), 0, "eight deviations from the middle");
    // A fifth of the blocks; which of them are the hottest decides how much of it.
    assert!(upper(&scattered) > 50_000, "{}", upper(&scattered));
    let ranked = |mut counts: Vec<u64>| {
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    };
    // The same stream, so the same counts at other places.
    assert_eq!(ranked(together), ranked(scattered));
}

#[test]
fn a_sequence_repeats_its_blocks_or_moves_on_by_as_many() {
    let sequence = |moves, blocks: &[u64], len: u64| {
        of(Pattern::Sequence { blocks: blocks.to_vec(), moves }, len * KIB4, RegionShare::WHOLE)
    };
    assert_eq!(draws(&mut sequence(false, &[2, 0, 1], 12), 6), [2, 0, 1, 2, 0, 1]);
    assert_eq!(draws(&mut sequence(true, &[2, 0, 1], 12), 6), [2, 0, 1, 5, 3, 4]);
    assert_eq!(draws(&mut sequence(true, &[2, 0, 1], 6), 7), [2, 0, 1, 5, 3, 4, 2]);
    assert_eq!(draws(&mut sequence(false, &[7, 1], 5), 2), [2, 1], "what lies beyond the end begins again");
}

#[test]
fn what_is_aged_is_written_as_a_whole_and_parts_keep_what_cleaning_in_order_leaves() {
    let (blocks, parts, spare) = (100_000u64, 50u64, 0.15);
    let pattern = Pattern::Aged { spare: Share::new(spare).unwrap(), parts: narrow::<u32>(parts) };
    let mut worker = of(pattern, blocks * KIB4, RegionShare::WHOLE);
    let size = 115_000 / parts;
    let drawn = draws(&mut worker, 115_000);
    // Where each block was written last: what is valid of each part.
    let mut last = vec![u64::MAX; narrow::<usize>(blocks)];
    (0u64..).zip(&drawn).for_each(|(turn, block)| last[narrow::<usize>(*block)] = turn / size);
    assert!(last.iter().all(|part| *part != u64::MAX), "every block is written");
    let valid = |part: u64| last.iter().filter(|at| **at == part).count() as f64 / size as f64;
    // (1 - exp(-k)) / k = 1 / 1.15 at k = 0.2928: the oldest part keeps exp(-k) of its blocks, the newest all.
    let k = 0.2928;
    for part in [0, 10, 25, 40, 48] {
        let age = 1.0 - (part as f64 + 0.5) / parts as f64;
        assert!((valid(part) - (-k * age).exp()).abs() < 0.01, "part {part}: {}", valid(part));
    }
}

#[test]
fn hot_zones_get_their_share_and_the_rest_goes_to_the_rest() {
    let share = |part: f64| Share::new(part).unwrap();
    let zones = vec![
        Zone { requests: share(0.5), span: Extent::Part(share(0.05)) },
        Zone { requests: share(0.3), span: Extent::Bytes(Bytes::new(1500 * KIB4)) },
    ];
    let blocks = 10_000;
    let mut worker = of(Pattern::Zones(zones), blocks * KIB4, RegionShare::WHOLE);
    let mut counts = [0u64; 3];
    for block in draws(&mut worker, DRAWS) {
        counts[if block < 500 {
            0
        } else if block < 2000 {
            1
        } else {
            2
        }] += 1;
    }
    for (count, expected) in counts.iter().zip([0.5, 0.3, 0.2]) {
        // Five standard deviations of a binomial with n = 1,000,000 are at most 2,500.
        assert!((*count as f64 - expected * DRAWS as f64).abs() < 2500.0, "{counts:?}");
    }
}

#[test]
fn sequential_workers_have_stretches_of_their_own() {
    let first = draws(&mut of(Pattern::Sequential, 10 * KIB4, RegionShare { index: 0, of: 2 }), 6);
    let second = draws(&mut of(Pattern::Sequential, 10 * KIB4, RegionShare { index: 1, of: 2 }), 6);
    assert_eq!(first, [0, 1, 2, 3, 4, 0]);
    assert_eq!(second, [5, 6, 7, 8, 9, 5]);
}

#[test]
fn reverse_goes_down_and_starts_again_at_the_end() {
    assert_eq!(draws(&mut of(Pattern::Reverse, 3 * KIB4, RegionShare::WHOLE), 5), [2, 1, 0, 2, 1]);
}

#[test]
fn a_stride_fills_the_gaps_in_later_passes() {
    let stride = Pattern::Stride(Bytes::new(3 * KIB4));
    assert_eq!(draws(&mut of(stride, 6 * KIB4, RegionShare::WHOLE), 8), [0, 3, 1, 4, 2, 5, 0, 3]);
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Reverse),
        (1u64..20).prop_map(|blocks| Pattern::Stride(Bytes::new(blocks * 65536))),
        Just(Pattern::Random),
        Just(Pattern::RandomWithRepeats),
        Just(Pattern::Interlocked),
        (0.1f64..3.0).prop_map(Pattern::Zipf),
        (0.001f64..0.999).prop_map(Pattern::Pareto),
        (0.0f64..1.0).prop_map(|part| Pattern::Normal(Share::new(part).unwrap())),
        (0.0f64..1.0).prop_map(|part| Pattern::NormalScattered(Share::new(part).unwrap())),
        (proptest::collection::vec(0u64..9000, 1..9), any::<bool>())
            .prop_map(|(blocks, moves)| Pattern::Sequence { blocks, moves }),
        (0.01f64..0.38, 2u32..2000)
            .prop_map(|(part, parts)| Pattern::Aged { spare: Share::new(part).unwrap(), parts }),
        (0.0f64..1.0, 0.0f64..1.0).prop_map(|(requests, span)| Pattern::Zones(vec![Zone {
            requests: Share::new(requests).unwrap(),
            span: Extent::Part(Share::new(span).unwrap()),
        }])),
    ]
}

proptest! {
    #[test]
    fn every_request_lies_aligned_within_the_region(
        pattern in patterns(),
        align_shift in 9u32..14,
        slots in 4u64..5000,
        index in 0u32..4,
        seed: u64,
    ) {
        let align = 1u64 << align_shift;
        let grain = grain(align, 65536);
        let region = Region { start: Bytes::new(align * 3), len: Bytes::new(slots * 65536) };
        let mut addresses = Addresses::new(
            &pattern, region, RegionShare { index, of: 4 }, grain, Streams::new(seed), "property",
        );
        for step in 0..200u32 {
            let len = narrow::<u32>(align) << (step % 3);
            let offset = addresses.next(len.min(65536)).get();
            prop_assert!(offset.is_multiple_of(align));
            prop_assert!(offset >= region.start.get());
            prop_assert!(offset + u64::from(len.min(65536)) <= region.start.get() + region.len.get());
        }
    }
}
