use std::f64::consts::PI;

use units::Nanos;

use super::cosines::variance;
use super::stretches::{Sides, boundary, least_part};
use super::*;
use crate::{Bucket, Histogram};

fn stretch(values: impl IntoIterator<Item = u64>) -> Stretch {
    let mut histogram = Histogram::new();
    values.into_iter().for_each(|value| histogram.record(Nanos::new(value)));
    Stretch::of(histogram.buckets())
}

#[test]
fn stretches_that_are_all_alike_leave_no_doubt() {
    let all = Stretches::of(&vec![stretch(1..=1000); 20]);
    let median = all.quantile_interval(0.5).unwrap();
    assert!(median.low.get() <= 500 && median.high.get() <= 502, "{median:?}");
    let mean = all.mean_interval(500.5).unwrap();
    assert!((mean.high - mean.low).abs() < 1e-6, "{mean:?}");
}

#[test]
fn slow_stretches_that_come_together_widen_the_interval_or_leave_none() {
    let of = |slow: fn(u64) -> bool| {
        let each =
            |second: u64| stretch((0..1000).map(move |n| 1000 + n + if slow(second) { 500 } else { 0 }));
        Stretches::of(&(0..60).map(each).collect::<Vec<_>>())
    };
    let width = |all: &Stretches| {
        let range = all.quantile_interval(0.5).ok()?;
        Some(range.high.get() - range.low.get())
    };
    let quick = width(&of(|second| second % 2 == 0)).unwrap();
    assert!(width(&of(|second| (second / 8) % 2 == 0)).is_none_or(|slow| slow > quick));
    assert_eq!(of(|second| second < 30).quantile_interval(0.5), Err(NoInterval::TooSlow));
    assert_eq!(of(|second| second < 30).mean_interval(1.0), Err(NoInterval::TooSlow));
}

#[test]
fn groups_are_what_they_surely_are_and_surer_of_a_longer_run() {
    // The fifth percentile of chi-square with 9 and 29 degrees of freedom is 3.33 and 17.7.
    assert!((least_part(10) - 3.325 / 9.0).abs() < 1e-3, "{}", least_part(10));
    assert!((least_part(30) - 17.708 / 29.0).abs() < 1e-3, "{}", least_part(30));
    assert_eq!((least_part(0), least_part(1)), (0.0, 0.0));
}

#[test]
fn halves_are_equal_where_the_deviation_stays_what_it_is() {
    let sides = Sides::of(0.2, 2.0).unwrap();
    let at = |logarithm: f64| (-2.0 * logarithm).exp();
    let (low, high) = (at(-0.2 * sides.below), at(0.2 * sides.above));
    assert!((low - 1.4).abs() < 1e-9 && (high - 0.6).abs() < 1e-9, "{low} {high}");
    assert!(Sides::of(0.48, 2.0).is_err() && Sides::of(0.0, 2.0).is_ok());
}

#[test]
fn three_stretches_and_a_tail_of_nine_requests_have_no_interval() {
    assert_eq!(Stretches::of(&vec![stretch(1..=1000); 3]).quantile_interval(0.5), Err(NoInterval::TooShort));
    assert_eq!(mean_interval(&[5.0; 3]), Err(NoInterval::TooShort));
    assert_eq!(Stretches::default().mean_interval(1.0), Err(NoInterval::TooShort));
    let few = Stretches::of(&vec![stretch(1..=90); 10]);
    assert_eq!(few.quantile_interval(0.99), Err(NoInterval::TooFew));
    assert!(few.quantile_interval(0.9).is_ok());
}

/// Values of 100 to 110 without a pattern, each held for so many places.
fn rough(count: usize, held: usize) -> Vec<f64> {
    (0..count).map(|at| 100.0 + (((at / held) * 7_919 + 13) % 101) as f64 / 10.0).collect()
}

fn near(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-6, "{found} in place of {wanted}");
}

#[test]
fn the_interval_of_a_mean_is_that_of_the_slowest_cosines() {
    // Length, how long values are held, low, high, variance, cosines; computed apart from this program.
    for (count, held, low, high, spread, cosines) in [
        (5, 1, 99.419_909_203_657, 111.500_090_796_343, 1.970_671_989_327_5, 2.0),
        (12, 1, 103.570_541_277_865, 107.096_125_388_801, 0.518_997_804_154_94, 6.0),
        (16, 1, 103.451_452_638_595, 106.361_047_361_405, 0.398_001_625_577_91, 8.0),
        (47, 1, 104.314_910_799_486, 105.944_663_668_599, 0.124_871_507_207_012, 8.0),
        (60, 3, 103.558_897_775_398, 106.241_102_224_602, 0.338_223_362_106_394, 8.0),
    ] {
        let values = rough(count, held);
        let found = mean_interval(&values).unwrap();
        near(found.low, low);
        near(found.high, high);
        let mean = average(&values);
        let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let (variance, freedom) = variance(&residuals).unwrap();
        near(variance, spread);
        assert_eq!(freedom, cosines);
    }
    // Put together by three, and the first one, which fills no three, counts for the mean alone.
    let found = mean_interval(&rough(301, 1)).unwrap();
    near(found.low, 104.794_186_541_354);
    near(found.high, 105.202_491_199_510);
}

#[test]
fn a_run_has_cosines_by_its_length() {
    let found = [4, 5, 15, 16, 17, 63, 64, 71, 72, 128, 129, 300, 3600].map(freedom);
    let wanted = [2, 2, 7, 8, 8, 8, 8, 8, 9, 16, 8, 12, 15];
    assert_eq!(found, wanted.map(|cosines| Some(f64::from(cosines))));
}

#[test]
fn the_upper_end_is_further_by_what_deviations_grow() {
    let of = |half, power| Sides::of(half, power).map(|sides| (sides.below, sides.above));
    for (half, power, below, above) in [
        (0.3, 1.0, 0.874_547_548_224_970, 1.188_916_479_795_77),
        (0.2, 2.0, 0.841_180_591_553_032, 1.277_064_059_414_98),
    ] {
        let found = of(half, power).unwrap();
        near(found.0, below);
        near(found.1, above);
    }
    assert_eq!(of(0.0, 2.0), Ok((1.0, 1.0)));
    assert_eq!(of(0.475, 2.0), Err(NoInterval::TooFew));
    assert!(of(0.474, 2.0).is_ok());
}

#[test]
fn the_last_place_that_agrees_is_found_in_either_direction() {
    assert_eq!(boundary(5, 20, |place| place <= 13), 13);
    assert_eq!(boundary(5, 0, |place| place >= 3), 3);
    assert_eq!(boundary(5, 20, |_| true), 20);
    assert_eq!(boundary(5, 20, |_| false), 5);
    assert_eq!(boundary(5, 6, |place| place <= 5), 5);
}

#[test]
fn what_agrees_again_far_from_a_quantile_is_none_of_its_interval() {
    for again in 40..300 {
        let agrees = |place: usize| (300..=309).contains(&place) || place.abs_diff(300) >= again;
        assert_eq!(boundary(300, 700, agrees), 309);
        assert_eq!(boundary(300, 0, agrees), 300);
    }
}

#[test]
fn mean_and_percentiles_of_stretches_have_the_ranges_that_the_sources_give() {
    let times = |second: u64| {
        (0..100 + second % 7)
            .map(move |n| 100 + second % 5 * 20 + (n * 7_919 + second * 613) % 997)
            .collect::<Vec<u64>>()
    };
    let all = Stretches::of(&(0..24).map(|second| stretch(times(second))).collect::<Vec<_>>());
    // Computed apart from this program.
    near(all.groups(0.5).unwrap(), 3_803.772_393_588_666);
    let own = all.mean_ns().unwrap();
    let mean = all.mean_interval(own).unwrap();
    near(mean.low, 625.675_727_073_549);
    near(mean.high, 647.892_536_208_848);
    for (quantile, low, high) in [(0.5, 624, 647), (0.9, 1024, 1049), (0.95, 1075, 1101)] {
        let range = all.quantile_interval(quantile).unwrap();
        assert_eq!((range.low.get(), range.high.get()), (low, high), "{quantile}");
    }
    // Around another figure the interval is as wide as a part of it.
    let twice = all.mean_interval(2.0 * own).unwrap();
    near(twice.low, 2.0 * mean.low);
    near(twice.high, 2.0 * mean.high);
}

#[test]
fn the_upper_end_of_a_percentile_is_further_by_what_the_odds_of_its_share_leave() {
    let times = |second: u64| {
        (0..60 + second % 7).map(move |n| 100 + second % 7 * 40 + (n * 7_919 + second * 613) % 997)
    };
    let all = Stretches::of(&(0..24).map(|second| stretch(times(second))).collect::<Vec<_>>());
    // Computed apart from this program.
    for (quantile, low, high) in [(0.5, 662, 776), (0.75, 918, 1036), (0.9, 1067, 1261)] {
        let range = all.quantile_interval(quantile).unwrap();
        assert_eq!((range.low.get(), range.high.get()), (low, high), "{quantile}");
    }
}

#[test]
fn ten_requests_beyond_a_percentile_are_enough_and_nine_are_not() {
    let median =
        |count: usize| Stretches::of(&vec![stretch((1..=5).cycle().take(count)); 4]).quantile_interval(0.5);
    assert_eq!(median(5).map(|range| (range.low.get(), range.high.get())), Ok((3, 4)));
    assert_eq!(median(4), Err(NoInterval::TooFew));
}

#[test]
fn each_reason_for_no_interval_has_its_own_words() {
    let words = [NoInterval::TooShort, NoInterval::TooFew, NoInterval::TooSlow].map(|why| why.to_string());
    for (words, part) in words.iter().zip(["4 whole seconds", "too few groups", "more slowly"]) {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn buckets_of_several_histograms_are_put_together() {
    let bucket = |index, count| Bucket { index, count };
    let both = Stretch::of([bucket(7, 2), bucket(3, 1), bucket(7, 5), bucket(9, 0), bucket(3, 1)]);
    assert_eq!(both.buckets().collect::<Vec<_>>(), [bucket(3, 2), bucket(7, 7)]);
    assert_eq!((both.count(), both.sum_ns), (9, 55.0));
    assert_eq!((both.above(2), both.above(3), both.above(6), both.above(7)), (9.0, 7.0, 7.0, 0.0));
    // 4,096 to 4,099 share a bucket, whose middle counts.
    assert_eq!(stretch([4_096, 4_099]).sum_ns, 2.0 * 4_097.5);
    assert_eq!(Stretches::default().mean_ns(), None);
}

#[test]
fn the_first_bucket_beyond_a_share_is_found() {
    let all = Stretches::of(&vec![stretch(1..=100); 10]);
    let at = |share: f64| all.pooled.buckets[all.at_share(share)].index;
    assert_eq!((at(0.5), at(0.1), at(0.0), at(1.0)), (50, 90, 100, 1));
    let (share, residuals) = all.above(89);
    assert_eq!((share, residuals.len()), (0.1, 10));
}

#[test]
fn slow_requests_that_come_in_few_groups_leave_a_percentile_beyond_them_without_an_interval() {
    // Ten of a thousand take long in every stretch; the rest of the slowest tenth comes in some stretches alone.
    let of = |lumps: [u64; 2]| {
        let each = |second: usize| {
            let medium = lumps[second % 2];
            stretch((1..=990 - medium).chain(1_001..1_001 + medium).chain((0..10).map(|n| 1_500 + 20 * n)))
        };
        Stretches::of(&(0..24).map(each).collect::<Vec<_>>())
    };
    assert_eq!(of([20, 160]).quantile_interval(0.99), Err(NoInterval::TooFew));
    assert!(of([20, 160]).quantile_interval(0.5).is_ok(), "above the median there are enough");
    assert!(of([90, 90]).quantile_interval(0.99).is_ok());
}

#[test]
fn fifty_groups_are_enough_and_a_little_less_is_not() {
    // Shares above the median of 1/2 ± d in turn: variance of the mean d² / 23, groups 23 / 4 d² x 0.5692, which is
    // the fifth percentile of chi-square with 23 degrees of freedom, 13.0905, over 23.
    let of = |more: u64| {
        let each = |second: u64| {
            let slow = if second.is_multiple_of(2) { 5_000 + more } else { 5_000 - more };
            Stretch::of([Bucket { index: 1, count: 10_000 - slow }, Bucket { index: 2, count: slow }])
        };
        Stretches::of(&(0..24).map(each).collect::<Vec<_>>()).groups(0.5)
    };
    assert!(of(2_558).is_ok_and(|groups| (50.0..50.1).contains(&groups)), "{:?}", of(2_558));
    assert_eq!(of(2_559), Err(NoInterval::TooFew));
}

#[test]
fn nothing_in_any_stretch_and_equal_times_in_all_of_them_are_told_apart() {
    let empty = Stretches::of(&vec![Stretch::default(); 6]);
    assert_eq!(empty.mean_interval(1.0), Err(NoInterval::TooShort));
    let alike = Stretches::of(&vec![stretch([7; 100]); 6]);
    assert_eq!(alike.mean_interval(7.0), Ok(Interval { low: 7.0, high: 7.0 }));
    assert_eq!(alike.quantile_interval(0.5), Err(NoInterval::TooFew), "no request lies above");
    assert_eq!(Stretches::of(&vec![stretch(1..=1000); 3]).mean_interval(1.0), Err(NoInterval::TooShort));
    assert_eq!(mean_interval(&[]), Err(NoInterval::TooShort));
}

#[test]
fn the_slowest_cosines_are_held_against_all_that_follow_and_only_of_sixteen_stretches_and_more() {
    // One slow cosine, and one of the seven that follow the eight slowest of sixteen; powers by their squares.
    let wave = |number: f64, place: usize| (PI * number * (place as f64 + 0.5) / 16.0).cos();
    let of = |power: f64| -> Vec<f64> {
        (0..16).map(|at| power.sqrt() * wave(1.0, at) + (7.0 / 8.0f64).sqrt() * wave(12.0, at)).collect()
    };
    // Their means stand to each other as `power` to 1.
    assert!(variance(&of(4.9)).is_ok());
    assert_eq!(variance(&of(5.1)), Err(NoInterval::TooSlow));
    let rising = |count: u32| mean_interval(&(0..count).map(f64::from).collect::<Vec<_>>());
    assert!(rising(15).is_ok() && rising(12).is_ok() && rising(4).is_ok());
    assert_eq!(rising(16), Err(NoInterval::TooSlow));
}

#[test]
fn an_hour_of_seconds_is_put_together_and_keeps_its_figures() {
    let hour: Vec<f64> = (0..3600).map(|second| 100.0 + f64::from(second % 7)).collect();
    let range = mean_interval(&hour).unwrap();
    assert!((range.low..range.high).contains(&103.0) && range.high - range.low < 0.2, "{range:?}");
    assert_eq!((freedom(3), freedom(4), freedom(10), freedom(60)), (None, Some(2.0), Some(5.0), Some(8.0)));
    assert_eq!(freedom(3600), Some(15.0));
}
