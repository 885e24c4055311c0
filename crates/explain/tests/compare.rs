//! Comparisons: what is the same is not told to differ, what differs is found, and what is not known is said.

use explain::compare::{FailOn, Group, Limit, MARGIN, Outcome, by, compare, value_of};
use record::sample::{self, Stream};
use record::{Basis, Compared, Comparison, Run, Verdict};
use units::convert::truncated;

/// Numbers that look random and are the same every time (SplitMix64).
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of mean 0 and deviation 1: twelve uniform numbers, less six.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// How much figures vary.
#[derive(Clone, Copy)]
struct Varies {
    /// From one measurement to the next.
    runs: f64,
    /// From one second to the next; each second resembles the one before.
    seconds: f64,
}

/// A run of four cells, each measured `repeat` times, whose rates are higher by `faster` than those of the template.
fn run(template: &Run, repeat: u32, varies: Varies, faster: f64, draw: &mut Draw) -> Run {
    let mut run = template.clone();
    let cells = std::mem::take(&mut run.points);
    for (cell, repeat) in cells.iter().flat_map(|cell| (1..=repeat).map(move |repeat| (cell, repeat))) {
        let mut point = cell.clone();
        point.repeat = repeat;
        let of_run = varies.runs * draw.normal();
        let workload = &mut point.workloads[0];
        let series = point.series.iter_mut().find(|series| series.workload.is_some()).unwrap();
        let rate = workload.summary[0].ops_per_s.value * (of_run + faster.ln_1p()).exp();
        let mut second = 0.0;
        for value in &mut series.values {
            second = 0.5 * second + 0.75f64.sqrt() * draw.normal();
            *value = rate * (1.0 + varies.seconds * second);
        }
        let measured = series.values.iter().sum::<f64>() / series.values.len() as f64;
        let change = measured / workload.summary[0].ops_per_s.value;
        let summary = &mut workload.summary[0];
        let range = stats::dependent::mean_interval(&series.values).ok();
        let (low, high) = (range.map(|range| range.low), range.map(|range| range.high));
        summary.ops_per_s = record::Figure { value: measured, low, high };
        let bytes = summary.bytes_per_s.value * change;
        let scaled = |end: Option<f64>| end.map(|end| end / measured * bytes);
        summary.bytes_per_s = record::Figure { value: bytes, low: scaled(low), high: scaled(high) };
        let response = summary.response.as_mut().unwrap();
        response.mean_ns /= change;
        for quantile in &mut response.quantiles {
            let slower = 1.0 / change * (varies.runs / 2.0 * draw.normal()).exp();
            let scaled = |ns: u64| truncated::<u64>(ns as f64 * slower);
            [quantile.value_ns] = [quantile.value_ns].map(scaled);
            quantile.low_ns = quantile.low_ns.map(scaled);
            quantile.high_ns = quantile.high_ns.map(scaled);
        }
        run.points.push(point);
    }
    run
}

/// Four cells of random reads.
fn template() -> Run {
    let point = |index: u32, name: &str, per_s: u64| {
        let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
        let mut point = sample::point(index, name, vec![sample::workload("main", &[stream])]);
        // Copied some thousand times, and not read by a comparison.
        point.workloads[0].classes.clear();
        // Of a histogram that stands for its 4,000 steps, not for its requests.
        point.workloads[0].measured_from_ns = 500_000_000;
        point
    };
    let cells = [("4k", 20_000), ("8k", 15_000), ("64k", 6_000), ("512k", 1_500)];
    let points = (0u32..).zip(cells).map(|(index, (name, per_s))| point(index, name, per_s));
    sample::run("cells", points.collect())
}

fn held(first: &Run, second: &Run) -> Comparison {
    let group = |name: &str, run| Group { name: name.into(), runs: vec![run] };
    compare(None, &[group("A", first), group("B", second)], MARGIN)
}

fn row<'a>(comparison: &'a Comparison, cell: &str, metric: &str) -> &'a Compared {
    let mut rows = comparison.rows.iter();
    rows.find(|row| row.cell == cell && row.metric == metric).unwrap()
}

fn differs(comparison: &Comparison) -> bool {
    comparison.rows.iter().any(|row| matches!(row.verdict, Verdict::Better | Verdict::Worse))
}

const PAIRS: u64 = 200;

/// Tells a figure to whoever runs the tests with `--nocapture`.
#[allow(clippy::print_stderr, reason = "a test has no other place to tell a figure")]
fn tell(figure: &str) {
    eprintln!("{figure}");
}

/// How many of 200 pairs are said to differ in anything, of so many repeats.
fn alarms(repeat: u32, varies: Varies) -> usize {
    let template = template();
    let differ = |seed: &u64| {
        let mut draw = Draw(seed * 7919);
        let [first, second] = [(); 2].map(|()| run(&template, repeat, varies, 0.0, &mut draw));
        differs(&held(&first, &second))
    };
    (1..=PAIRS).filter(differ).count()
}

#[test]
fn equal_runs_with_repeats_raise_an_alarm_in_no_more_than_one_pair_of_twenty() {
    let found = alarms(5, Varies { runs: 0.02, seconds: 0.01 });
    tell(&format!("five repeats: {found} of {PAIRS} equal pairs are told to differ"));
    assert!(found <= 10, "{found} of {PAIRS}");
}

#[test]
fn equal_single_runs_raise_an_alarm_in_no_more_than_one_pair_of_twenty() {
    let found = alarms(1, Varies { runs: 0.0, seconds: 0.02 });
    tell(&format!("measured once: {found} of {PAIRS} equal pairs are told to differ"));
    assert!(found <= 10, "{found} of {PAIRS}");
}

#[test]
fn a_change_of_a_twentieth_is_found_in_nine_pairs_of_ten_where_six_repeats_vary_by_a_fiftieth() {
    let template = template();
    let varies = Varies { runs: 0.02, seconds: 0.01 };
    let (mut found, mut visible) = (0, 0.0);
    for seed in 1..=PAIRS {
        let mut draw = Draw(seed * 104_729);
        let first = run(&template, 6, varies, 0.0, &mut draw);
        let second = run(&template, 6, varies, 0.05, &mut draw);
        let comparison = held(&first, &second);
        let rate = row(&comparison, "4k", "iops");
        found += usize::from(rate.verdict == Verdict::Better);
        visible += rate.detectable_effect.unwrap() / PAIRS as f64;
    }
    tell(&format!(
        "six repeats: {found} of {PAIRS} changes of 5 % are found, {visible:.4} is said to be visible"
    ));
    assert!(found >= 180, "{found} of {PAIRS}");
    // t(10) at 97.5 % and 90 %, times 2 % times the root of a third; repeats vary by what they vary.
    assert!((0.036..0.05).contains(&visible), "{visible}");
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let run = template();
    let comparison = held(&run, &run);
    assert!(!comparison.rows.is_empty() && !differs(&comparison));
    let basis = |row: &Compared| if row.low.is_some() { Basis::Seconds } else { Basis::Nothing };
    assert!(comparison.rows.iter().all(|row| row.ratio == 1.0 && row.basis == basis(row)));
    assert!(["iops", "mean", "p50"].iter().all(|metric| row(&comparison, "4k", metric).low.is_some()));
    assert!(comparison.settings.is_empty(), "{:?}", comparison.settings);
    assert!(comparison.unmatched.is_empty());
    assert!(comparison.notes.iter().any(|note| note.contains("repeat = 5")), "{:?}", comparison.notes);
}

#[test]
fn a_variation_from_run_to_run_is_assumed_of_real_storage_alone() {
    let real = template();
    let modelled = Run { world: record::World::Array, ..template() };
    let told = |one: &Run, other: &Run| {
        let notes = held(one, other).notes;
        notes.into_iter().find(|note| note.contains("repeat = 5")).unwrap()
    };
    let assumed = "from an assumed run-to-run variation of 3 %.";
    assert!(told(&real, &real).contains(&format!("between its seconds and {assumed}")));
    assert!(told(&real, &modelled).contains(&format!("between its seconds and, on real storage, {assumed}")));
    assert!(told(&modelled, &modelled).contains("between its seconds. Set `repeat = 5`"));
}

#[test]
fn less_time_is_better_and_fewer_requests_are_worse() {
    let template = template();
    let varies = Varies { runs: 0.002, seconds: 0.01 };
    let first = run(&template, 5, varies, 0.0, &mut Draw(1));
    let slower = run(&template, 5, varies, -0.2, &mut Draw(2));
    let comparison = held(&first, &slower);
    let verdict = |metric| row(&comparison, "8k", metric).verdict;
    assert_eq!(["iops", "mb_per_s", "mean", "p50", "p99"].map(verdict), [Verdict::Worse; 5]);
    let rate = row(&comparison, "8k", "iops");
    assert_eq!((rate.basis, rate.repeats), (Basis::Repeats, [5, 5]));
    assert!(rate.low.unwrap() < 0.8 && rate.high.unwrap() > 0.8 && rate.high.unwrap() < 0.83, "{rate:?}");
    assert!(rate.noise_floor.unwrap() < 0.01, "{rate:?}");
    let comparison = held(&slower, &first);
    assert_eq!(row(&comparison, "8k", "p99").verdict, Verdict::Better);
}

#[test]
fn the_noise_of_repeats_widens_what_was_measured_once() {
    let template = template();
    let once = run(&template, 1, Varies { runs: 0.0, seconds: 0.001 }, 0.0, &mut Draw(3));
    let often = run(&template, 6, Varies { runs: 0.05, seconds: 0.001 }, 0.0, &mut Draw(4));
    let comparison = held(&once, &often);
    let rate = row(&comparison, "64k", "iops");
    assert_eq!((rate.basis, rate.repeats), (Basis::Noise, [1, 6]));
    assert!(rate.detectable_effect.unwrap() > 0.1, "{rate:?}");
    assert!(!differs(&comparison));
}

#[test]
fn a_latency_without_an_interval_is_inconclusive_and_so_is_one_for_independent_requests() {
    let mut first = template();
    for point in &mut first.points {
        let response = point.workloads[0].summary[0].response.as_mut().unwrap();
        (response.mean_low_ns, response.mean_high_ns, response.no_interval) = (None, None, None);
    }
    let comparison = held(&first, &first);
    for metric in ["p50", "p99"] {
        let latency = row(&comparison, "4k", metric);
        assert_eq!(
            (latency.verdict, latency.basis, latency.low),
            (Verdict::Inconclusive, Basis::Nothing, None)
        );
    }
    // The mean of a queue that is always full is as sure as the rate.
    let (rate, mean) = (row(&comparison, "4k", "iops"), row(&comparison, "4k", "mean"));
    assert!(rate.low.is_some());
    assert_eq!((mean.low, mean.basis), (rate.low, Basis::Seconds));
}

#[test]
fn equal_is_said_only_where_the_whole_interval_is_within_the_margin() {
    let mut template = template();
    template.world = record::World::Array;
    let varies = |seconds| Varies { runs: 0.0, seconds };
    let verdict = |seconds: f64, margin: f64| {
        let mut draw = Draw(5);
        let sides = [(); 2].map(|()| run(&template, 1, varies(seconds), 0.0, &mut draw));
        let groups = sides.iter().map(|run| Group { name: "side".into(), runs: vec![run] });
        let comparison = compare(None, &groups.collect::<Vec<_>>(), margin);
        let rate = row(&comparison, "4k", "iops");
        let inside = rate.low.unwrap() >= 1.0 / (1.0 + margin) && rate.high.unwrap() <= 1.0 + margin;
        assert_eq!(inside, rate.verdict == Verdict::Equivalent, "{rate:?}");
        rate.verdict
    };
    assert_eq!(verdict(0.001, 0.05), Verdict::Equivalent);
    assert_eq!(verdict(0.5, 0.05), Verdict::Inconclusive);
    assert_ne!(verdict(0.02, 0.0), Verdict::Equivalent);
}

#[test]
fn single_measurements_of_real_storage_are_never_surer_than_runs_repeat() {
    let template = template();
    let mut draw = Draw(6);
    let sides =
        [0.0, 0.03].map(|faster| run(&template, 1, Varies { runs: 0.0, seconds: 0.0001 }, faster, &mut draw));
    let rate = held(&sides[0], &sides[1]);
    assert_eq!(row(&rate, "4k", "iops").verdict, Verdict::Inconclusive, "2 % each explain 3 %");
}

#[test]
fn where_a_rate_was_still_changing_a_difference_is_told_to_be_perhaps_of_the_moment() {
    let mut draw = Draw(17);
    let first = run(&template(), 1, Varies { runs: 0.0, seconds: 0.01 }, 0.0, &mut draw);
    let mut second = run(&template(), 1, Varies { runs: 0.0, seconds: 0.01 }, 0.5, &mut draw);
    let told = |second: &Run| {
        held(&first, second).notes.iter().any(|note| note.starts_with("Still changing within the window: "))
    };
    assert!(!told(&second), "nothing was found of it");
    let point = second.points[0].index;
    second.findings.push(record::Finding {
        code: "drift".into(),
        severity: record::Severity::Warning,
        sentence: "The rate fell by 20 %.".into(),
        remedy: String::new(),
        numbers: [].into(),
        point: Some(point),
    });
    assert!(told(&second));
}

#[test]
fn searches_are_compared_by_the_rates_that_they_found_and_not_by_their_trials() {
    let search = |kept: f64, broken: f64| record::sample::search(Some(kept), Some(broken));
    let with = |kept, broken| Run { search: Some(search(kept, broken)), ..template() };
    let comparison = held(&with(1000.0, 1020.0), &with(1500.0, 1530.0));
    let [only] = comparison.rows.as_slice() else { panic!("{:?}", comparison.rows) };
    assert_eq!(
        (only.metric.as_str(), only.verdict, only.basis),
        ("met_per_s", Verdict::Better, Basis::Search)
    );
    let equal = held(&with(1000.0, 1020.0), &with(1010.0, 1030.0));
    assert_eq!(equal.rows[0].verdict, Verdict::Equivalent);
    let unlike = held(&with(1000.0, 1020.0), &with(1000.0, 1400.0));
    assert_eq!(unlike.rows[0].verdict, Verdict::Inconclusive);
}

#[test]
fn cells_that_one_side_lacks_are_named_and_what_was_cut_short_is_left_out() {
    let (first, mut second) = (template(), template());
    second.points[0].phase = "other".into();
    second.points[0].name = "other".into();
    second.points[1].complete = false;
    let comparison = held(&first, &second);
    let cells: Vec<(&str, &[u32])> =
        comparison.unmatched.iter().map(|one| (one.cell.as_str(), one.sides.as_slice())).collect();
    assert_eq!(cells, [("4k", [0].as_slice()), ("8k", &[0]), ("other", &[1])]);
    assert!(comparison.rows.iter().all(|row| row.cell == "64k" || row.cell == "512k"));
    assert!(comparison.notes.iter().any(|note| note.contains("1 of its points were cut short")));
}

#[test]
fn the_same_phase_with_other_swept_values_is_another_cell() {
    let (mut first, mut second) = (template(), template());
    first.points[0].swept.insert("depth".into(), "4".into());
    second.points[0].swept.insert("depth".into(), "8".into());
    assert_eq!(held(&first, &second).unmatched.len(), 2);
    assert!(held(&first, &second).rows.iter().all(|row| row.cell != "4k"));
}

#[test]
fn rounds_are_repeats_and_those_before_the_steady_ones_do_not_count() {
    let mut first = template();
    let point = first.points[0].clone();
    first.points = (1..=7)
        .map(|round: u32| {
            let mut point = point.clone();
            point.name = format!("4k round {round}");
            point.swept.insert("round".into(), round.to_string());
            point
        })
        .collect();
    let window = record::Window {
        first_round: 3,
        last_round: 7,
        mean: 1.0,
        range: 0.0,
        range_allowed: 0.2,
        slope: 0.0,
        intercept: 1.0,
        excursion: 0.0,
        excursion_allowed: 0.1,
    };
    first.rounds = vec![record::Rounds {
        phase: "4k".into(),
        figure: "iops".into(),
        at: Default::default(),
        values: vec![1.0; 7],
        most: 25,
        steady: true,
        window: Some(window),
    }];
    let comparison = held(&first, &first);
    assert_eq!(row(&comparison, "4k", "iops").repeats, [5, 5]);
}

#[test]
fn what_is_set_otherwise_is_told_beside_the_figures() {
    let (first, mut second) = (template(), template());
    second.environment.kernel = "Linux 6.13.0 x86_64".into();
    second.targets[0].facts.insert("firmware".into(), "2.2.0".into());
    second.points[0].workloads[0].spec.depth = 64;
    second.points[1].workloads[0].spec.durability.open = spec::OpenSync::Dsync;
    let comparison = held(&first, &second);
    let settings: Vec<(&str, Option<&str>)> =
        comparison.settings.iter().map(|one| (one.key.as_str(), one.values[1].as_deref())).collect();
    let wanted = [
        ("target firmware", Some("2.2.0")),
        ("kernel", Some("Linux 6.13.0 x86_64")),
        ("plan depth", Some("64")),
        ("plan sync", Some("dsync")),
    ];
    assert_eq!(settings, wanted);
}

#[test]
fn runs_are_put_together_by_labels_facts_and_options() {
    let mut runs = [template(), template(), template()];
    runs[0].tags.insert("room".into(), "3".into());
    runs[1].tags.insert("room".into(), "4".into());
    runs[2].tags.insert("room".into(), "3".into());
    runs[1].targets[0].address = "array:md3000?raid=5&luns=2".into();
    let groups = by("room", &runs);
    let found: Vec<(&str, usize)> =
        groups.iter().map(|group| (group.name.as_str(), group.runs.len())).collect();
    assert_eq!(found, [("3", 2), ("4", 1)]);
    assert_eq!(value_of(&runs[0], "Firmware").as_deref(), Some("2.1.8"));
    assert_eq!(value_of(&runs[0], "file-system").as_deref(), Some("ext4"));
    assert_eq!(value_of(&runs[0], "kernel").as_deref(), Some("Linux 6.12.0 x86_64"));
    assert_eq!(value_of(&runs[0], "engine").as_deref(), Some("auto"), "a key of the plan");
    assert_eq!(value_of(&runs[1], "raid").as_deref(), Some("5"));
    // What an address does not name the array has by itself.
    let mut plain = runs[1].clone();
    plain.targets[0].address = "array:md3000".into();
    plain.targets[0]
        .facts
        .insert("description".into(), "link.rate = 290MB/s; raid.level = 10; raid.disks = 14".into());
    let of = |key| value_of(&plain, key);
    assert_eq!([of("raid"), of("disks"), of("link.rate")].map(Option::unwrap), ["10", "14", "290MB/s"]);
    assert_eq!(value_of(&runs[0], "raid"), None);
    let comparison = compare(Some("room"), &groups, MARGIN);
    assert_eq!(comparison.sides[0].runs.len(), 2);
    assert_eq!(row(&comparison, "4k", "iops").repeats, [2, 1]);
}

#[test]
fn a_limit_is_broken_only_where_the_whole_interval_is_beyond_it() {
    let template = template();
    let varies = Varies { runs: 0.002, seconds: 0.01 };
    let first = run(&template, 5, varies, 0.0, &mut Draw(1));
    let slower = run(&template, 5, varies, -0.2, &mut Draw(2));
    let comparison = held(&first, &slower);
    let outcomes = |text: &str| -> Vec<Outcome> {
        let limit: Limit = text.parse().unwrap();
        limit.judge(&comparison).into_iter().map(|(_, outcome)| outcome).collect()
    };
    assert_eq!(outcomes("iops<-5%"), [Outcome::Broken; 4]);
    assert_eq!(outcomes("iops<-50%"), [Outcome::Kept; 4]);
    assert_eq!(outcomes("iops>5%"), [Outcome::Kept; 4]);
    assert_eq!(outcomes("mean>+10%"), [Outcome::Broken; 4]);
    assert!(outcomes("iops<-20%").contains(&Outcome::Undecided));
    assert!(outcomes("p12>5%").is_empty());
    // 15,000 a second of 8 KiB were asked for, a fifth less is what the second side does.
    assert_eq!(outcomes("iops<1k"), [Outcome::Kept; 4]);
    assert_eq!(outcomes("iops<13k"), [Outcome::Kept, Outcome::Broken, Outcome::Broken, Outcome::Broken]);
    assert_eq!(outcomes("p99>1us"), [Outcome::Broken; 4]);
    assert!(outcomes("trim.p99>1us").is_empty(), "nothing was trimmed");
    assert_eq!("inconclusive".parse::<FailOn>().unwrap(), FailOn::Inconclusive);
}

#[test]
fn a_limit_is_read_as_it_is_shown_and_nothing_else_is_one() {
    for text in [
        "iops<-5%",
        "p99.9>10%",
        "mean>0.5%",
        "mb_per_s<0%",
        "p99>5ms",
        "iops<20k",
        "mb_per_s<500",
        "write.p99>10%",
    ] {
        assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "iops",
        "iops<",
        "iops<5ms",
        "p99>5",
        "iops<x%",
        "size<5%",
        "reads.p99>5%",
        "p0>1%",
        "iops<-100%",
        "iops<nan%",
        "<5%",
        "µ>é%",
    ] {
        assert!(text.parse::<Limit>().is_err(), "{text}");
    }
}

#[test]
fn an_interval_that_ends_at_a_limit_keeps_it() {
    let template = template();
    let mut comparison = held(&template, &template);
    let mut outcome = |limit: &str, at: f64| {
        comparison.rows.iter_mut().for_each(|row| (row.low, row.high) = (Some(at), Some(at)));
        limit.parse::<Limit>().unwrap().judge(&comparison)[0].1
    };
    assert_eq!(outcome("iops>5%", 1.05), Outcome::Kept);
    assert_eq!(outcome("iops>5%", 1.06), Outcome::Broken);
    assert_eq!(outcome("iops<-5%", 0.95), Outcome::Kept);
    assert_eq!(outcome("iops<-5%", 0.94), Outcome::Broken);
}

#[test]
fn a_limit_of_nothing_and_one_of_no_percentile_are_none() {
    for text in ["mean>0s", "iops<0", "iops<0/s", "p100>5ms", "p0>5ms", "mb_per_s<0", "iops>-100%"] {
        assert!(text.parse::<Limit>().is_err(), "{text}");
    }
    for text in ["mean>1ns", "p99.9>5ms", "iops>-99%"] {
        assert!(text.parse::<Limit>().is_ok(), "{text}");
    }
}

#[test]
fn runs_are_put_together_by_what_every_run_says_of_itself() {
    let mut run = template();
    for (key, value) in [
        ("target", "/mnt/array"),
        ("on", "/mnt/array"),
        ("kind", "directory"),
        ("host", "db1"),
        ("Hostname", "db1"),
        ("cpu", "Example 9000"),
        ("CPU-model", "Example 9000"),
        ("plan", "cells"),
        ("version", "0.1.0"),
        ("fathom", "0.1.0"),
        ("world", "host"),
        ("day", "2026-01-02"),
        ("date", "2026-01-02"),
    ] {
        assert_eq!(value_of(&run, key).as_deref(), Some(value), "{key}");
    }
    run.world = record::World::Array;
    assert_eq!(value_of(&run, "world").as_deref(), Some("array"));
    assert_eq!(value_of(&run, "weather"), None);
}

#[test]
fn a_side_of_a_doubtful_grade_is_named_with_its_reason_and_one_of_a_good_grade_is_not() {
    let first = run(&template(), 1, Varies { runs: 0.0, seconds: 0.02 }, 0.0, &mut Draw(3));
    let mut second = first.clone();
    let failed = |name: &str| record::Check {
        name: name.into(),
        outcome: record::Outcome::Failed,
        grade: record::Grade::D,
        codes: Vec::new(),
        why: String::new(),
        points: Vec::new(),
    };
    second.grading =
        Some(record::Grading { grade: record::Grade::E, checks: vec![failed("direct"), failed("cache")] });
    let comparison = held(&first, &second);
    assert_eq!(comparison.sides[1].grade, Some(record::Grade::E));
    assert_eq!(
        comparison.doubted().as_deref(),
        Some("Not comparable: B was answered by the page cache (grade E).")
    );
    assert_eq!(held(&first, &first).doubted(), None);
}

#[test]
fn a_rate_of_too_short_a_window_says_how_long_it_takes_and_has_the_interval_of_its_run() {
    let mut first = run(&template(), 1, Varies { runs: 0.0, seconds: 0.02 }, 0.0, &mut Draw(5));
    for point in &mut first.points {
        point.workloads[0].measured_ns = 8_000_000_000;
        let rate = &mut point.workloads[0].summary[0].ops_per_s;
        (rate.value, rate.low, rate.high) = (1_000.0, Some(900.0), Some(1_100.0));
    }
    let comparison = held(&first, &first);
    assert_eq!(row(&comparison, "4k", "iops").basis, record::Basis::Nothing);
    let least = stats::difference::BATCHES_LEAST;
    let told = |note: &&String| {
        note.contains(&format!("from {least} s of measurement on; the shortest here is 8 s"))
    };
    let note = comparison.notes.iter().find(told).unwrap_or_else(|| panic!("{:?}", comparison.notes));
    assert!(note.contains("4k: A 1,000 (900 to 1,100) IOPS, B 1,000 (900 to 1,100) IOPS"), "{note}");
}

/// A run of one point at a queue depth.
fn at_depth(depth: u32, raid: &str, index: u64) -> Run {
    let per_s = 300 * u64::from(depth) + index;
    let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 3_000_000, spread: 0.2 };
    let mut workload = sample::workload("db", &[stream]);
    workload.spec.depth = depth;
    let mut run = sample::run("fio", vec![sample::point(0, "1: db", vec![workload])]);
    run.id = format!("{raid}-{depth}-{index}");
    run.targets[0].address = format!("array:md3000?raid={raid}");
    run
}

#[test]
fn where_storage_and_load_differ_both_are_named() {
    let comparison = held(&at_depth(1, "10", 0), &at_depth(32, "5", 0));
    assert_eq!(comparison.mixed().as_deref(), Some("depth 1 → 32"));
    let same_load = held(&at_depth(1, "10", 0), &at_depth(1, "5", 0));
    assert_eq!(same_load.mixed(), None);
    let same_storage = held(&at_depth(1, "5", 0), &at_depth(32, "5", 0));
    assert_eq!(same_storage.mixed(), None, "the ratio is one of the loads");
    assert_eq!(same_storage.load_settings().count(), 1);
}

#[test]
fn runs_of_one_side_that_ask_for_different_loads_are_no_repeats() {
    let runs: Vec<Run> =
        ["10", "5"].iter().flat_map(|raid| [at_depth(1, raid, 0), at_depth(32, raid, 1)]).collect();
    let groups = by("raid", &runs);
    let comparison = compare(Some("raid"), &groups, MARGIN);
    let cells: Vec<&str> =
        comparison.rows.iter().filter(|row| row.metric == "iops").map(|row| row.cell.as_str()).collect();
    assert_eq!(cells, ["1: db, depth 1", "1: db, depth 32"]);
    assert!(comparison.rows.iter().all(|row| row.repeats == [1, 1]));
    assert!(
        comparison.notes.iter().any(|note| note.starts_with("Runs of one side differ in load (depth)")),
        "{:?}",
        comparison.notes
    );
    let alike: Vec<Run> =
        ["10", "5"].iter().flat_map(|raid| [at_depth(8, raid, 0), at_depth(8, raid, 1)]).collect();
    let comparison = compare(Some("raid"), &by("raid", &alike), MARGIN);
    assert!(comparison.rows.iter().all(|row| row.repeats == [2, 2] && row.cell == "1: db"));
}
