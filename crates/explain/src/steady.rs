//! Whether figures were those of steady state: over the window of a point, and over the rounds of a phase.
//!
//! SNIA's rule accepts a slow drift for ever, so a test for trends is run too, and a finding says where the two
//! disagree.

use record::{Op, Ops, Point, Rounds, Run, Severity, Silence, WorkloadResult, World, phase_title};
use stats::batch_mean;
use stats::steady::{RANGE_MAX, SLOPE_MAX, Steady, WINDOW};
use stats::trend::Trend;
use units::convert::narrow;
use units::{Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::outer_thirds;

/// A larger change from the first to the last third of the window is reported.
const DRIFT: f64 = 0.10;

pub(crate) fn drift(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    let (first, last) = outer_thirds(&rates)?;
    let (first, last) = (batch_mean(first)?, batch_mean(last)?);
    let change = (last.mean - first.mean) / first.mean;
    // Intervals that overlap may be chance.
    let apart = first.interval?.is_apart(&last.interval?);
    if !change.is_finite() || change.abs() <= DRIFT || !apart {
        return None;
    }
    let sentence = format!(
        "The rate {} by {}: {}/s in the first third of the window, {}/s in the last.",
        if change > 0.0 { "rose" } else { "fell" },
        percent(change.abs()),
        OpsPerSecond::new(first.mean),
        OpsPerSecond::new(last.mean)
    );
    let draft = Draft::new(Code::Drift, Severity::Warning, sentence);
    let draft = match joined(point, workload) {
        Some(told) => draft.sentence(&told).remedy(APART),
        None => draft.remedy(
            "Warm up longer (`warmup`), bring the device into steady state (a `prepare` phase), and measure longer.",
        ),
    };
    Some(draft.number("first_per_s", first.mean).number("last_per_s", last.mean))
}

/// Requests a second in each whole second of the window, all operations together; of a schedule that pauses in stretches that hold whole
/// periods of it, which alone may be alike.
pub(crate) fn rates(point: &Point, workload: &WorkloadResult) -> Vec<f64> {
    let seconds = workload.whole_seconds(&point.series, record::names::series::OPS);
    let period = narrow::<usize>(workload.spec.pace.whole_periods_s());
    match period {
        0 | 1 => seconds,
        _ => seconds.chunks_exact(period).map(|all| all.iter().sum::<f64>() / period as f64).collect(),
    }
}

/// With no completions for this part of the window the figure is invalid.
const SILENT_MOST: f64 = 0.5;

/// Requests were in flight, and for a second or more none completed.
pub(crate) fn silence(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let ops: u64 = workload.classes.iter().map(|class| class.ops).sum();
    // Records of earlier programs hold shorter ones.
    let least_ns = Silence::TIMES as f64 * workload.measured_ns as f64 / ops as f64;
    // A flush that lasts so long is a figure of its own, and its writes are done.
    let flushed_ns = longest_flush_ns(workload);
    let is_long = |silence: &&Silence| silence.length_ns as f64 >= least_ns && silence.length_ns > flushed_ns;
    let silent: Vec<_> = workload.stalls.iter().filter(is_long).collect();
    let longest = silent.iter().max_by_key(|silence| silence.length_ns)?;
    let sum_ns: u64 = silent.iter().map(|silence| silence.length_ns).sum();
    let share = sum_ns as f64 / workload.measured_ns as f64;
    let from_ns = longest.from_ns.saturating_sub(workload.measured_from_ns);
    let [longest_s, from_s, sum_s] = [longest.length_ns, from_ns, sum_ns].map(|time| time as f64 / 1e9);
    let others = match silent.len() {
        1 => String::new(),
        count => format!("; {count} such stalls, {sum_s:.1} s in all"),
    };
    let sentence = format!(
        "No completion for {longest_s:.1} s from {from_s:.1} s on, with requests in flight{others}: {} of the window.",
        percent(share)
    );
    let severity = if share < SILENT_MOST { Severity::Warning } else { Severity::Invalid };
    let log = if run.world == World::Host { "the kernel's log, " } else { "" };
    let draft = Draft::new(Code::Stall, severity, sentence).remedy(format!(
        "Find the cause: check {log}lost paths and members, garbage collection, and write throttling. The rate includes \
         the stall as time without completions.",
    ));
    let draft = draft.number("longest_s", longest_s).number("from_s", from_s);
    Some(draft.number("stalls", silent.len() as f64).number("silent_share", share))
}

/// How long the longest flush of the window took; zero where there was none.
fn longest_flush_ns(workload: &WorkloadResult) -> u64 {
    let flushes = workload.each_op().filter(|one| one.op == Ops::One(Op::Flush));
    flushes.filter_map(|one| one.response.as_ref()).map(|response| response.max_ns).max().unwrap_or(0)
}

/// A window is cut into so many parts. Neighbouring seconds resemble each other; parts of some seconds do so less, and
/// up to ten values are tested exactly.
const PARTS: usize = 10;

/// The significance level of the trend test.
const CHANCE: f64 = 0.01;

/// A smaller change over the window is covered by the interval of the rate.
const SLOW: f64 = 0.02;

/// Means of so many parts of `values`, of all of them, whose lengths differ by one at the most: no value lies in two parts, which
/// would make them alike. `None` with fewer values than parts.
fn parts<const N: usize>(values: &[f64]) -> Option<[f64; N]> {
    if values.len() < N {
        return None;
    }
    let from = |part: usize| part * values.len() / N;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    Some(std::array::from_fn(|part| mean(&values[from(part)..from(part + 1)])))
}

/// Whether a trend could have been seen in the rates of `workload`.
pub(crate) fn is_long_enough(point: &Point, workload: &WorkloadResult) -> bool {
    rates(point, workload).len() >= PARTS
}

/// A slow rise or fall that is not yet a [`drift`].
pub(crate) fn trend(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    // Equal parts, so that each rank rests on as much: what is left over are the first ones.
    let values = parts::<PARTS>(&rates[rates.len() % PARTS..])?;
    let trend = Trend::of(&values)?;
    let change = trend.slope * (PARTS - 1) as f64 / trend.median;
    let clear = trend.p_value < CHANCE && change.abs() > SLOW;
    if !clear || !change.is_finite() || drift(run, point, workload).is_some() {
        return None;
    }
    let snia =
        parts::<WINDOW>(&rates).and_then(|fifths| Steady::of(&fifths)).is_some_and(|fifths| fifths.reached());
    let sentence = format!(
        "The rate {} by {} over the window, a statistically significant trend (p < {CHANCE}).{}",
        if change > 0.0 { "rose" } else { "fell" },
        percent(change.abs()),
        if snia { " SNIA's rule calls it steady: it allows slow drift." } else { "" }
    );
    let draft = Draft::new(Code::Trend, Severity::Warning, sentence);
    let draft = match joined(point, workload) {
        Some(told) => draft.sentence(&told).remedy(APART),
        None => draft.remedy("Warm up longer (`warmup`), and measure until the rate no longer changes."),
    };
    Some(draft.number("change_share", change).number("p_value", trend.p_value))
}

/// What to do where another load begins meanwhile.
const APART: &str = "Give what runs before the other load begins and what runs beside it a phase each, or have both begin at once: one figure \
                     of both is of neither.";

/// ` \"log\" begins 6.00 s into its window.`: another workload of `point` that begins while `workload` is measured, after a delay.
fn joined(point: &Point, workload: &WorkloadResult) -> Option<String> {
    let until_ns = workload.measured_from_ns.saturating_add(workload.measured_ns);
    let others = point.workloads.iter().filter(|other| other.name != workload.name);
    let begins =
        others.map(|other| (&other.name, point.started_ns.saturating_add(other.spec.stop.start.get())));
    let mut inside = begins.filter(|(_, at)| (workload.measured_from_ns + 1..until_ns).contains(at));
    let (name, at) = inside.next()?;
    Some(format!(" \"{name}\" begins {} into its window.", Nanos::new(at - workload.measured_from_ns)))
}

/// What may make a rate vary: nobody else uses a virtual array.
fn varies(run: &Run) -> &'static str {
    match run.world {
        World::Host => "a cache that is flushed, external I/O",
        World::Array => "a cache that fills or is flushed, background work, garbage collection",
    }
}

/// SNIA's rule over five equal parts of the window, where no other finding reports them.
pub(crate) fn window_not_steady(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    if rates.len() < PARTS || drift(run, point, workload).is_some() {
        return None;
    }
    let fifths = Steady::of(&parts::<WINDOW>(&rates)?)?;
    if fifths.mean <= 0.0 || fifths.reached() {
        return None;
    }
    let (range, line) = (fifths.range / fifths.mean, fifths.excursion / fifths.mean);
    let sentence = format!(
        "Not in steady state: over five equal parts of the window the rate {}.",
        against_rule(range, line)
    );
    let draft = Draft::new(Code::NotSteady, Severity::Warning, sentence);
    let draft = match joined(point, workload) {
        Some(told) => draft.sentence(&told).remedy(APART),
        None => draft.remedy(format!("Measure longer, and find what makes the rate vary: {}.", varies(run))),
    };
    Some(draft.number("range_share", range).number("line_share", line))
}

/// `ranges by 34 % of its mean (SNIA: at most 20 %) and its linear fit changes by 21 % (at most 10 %)`.
fn against_rule(range: f64, line: f64) -> String {
    format!(
        "ranges by {} of its mean (SNIA: at most {}) and its linear fit changes by {} (at most {})",
        percent(range),
        percent(RANGE_MAX),
        percent(line),
        percent(SLOPE_MAX)
    )
}

/// Rounds that are steady by SNIA's rule, and still rise or fall.
pub(crate) fn rounds_drift(run: &Run) -> Option<Draft> {
    let last = |rounds: &Rounds| -> Option<(Trend, f64)> {
        let window = rounds.values.last_chunk::<WINDOW>()?;
        let trend = Trend::of(window)?;
        let change = trend.slope * (WINDOW - 1) as f64 / trend.median;
        (rounds.steady && trend.is_there() && change.abs() > SLOW).then_some((trend, change))
    };
    let (rounds, (trend, change)) = run.rounds.iter().find_map(|rounds| Some((rounds, last(rounds)?)))?;
    let sentence = format!(
        "{} meets SNIA's steady-state rule, but each of the last five rounds of \"{}\" is {} than the one before: by \
         {} in all.",
        rounds.tracked(),
        phase_title(&rounds.phase, |_| None),
        if change > 0.0 { "higher" } else { "lower" },
        percent(change.abs())
    );
    let draft = Draft::new(Code::Trend, Severity::Warning, sentence).remedy(
        "Run more rounds (`rounds`), or fill the device first (`prepare`): it has not reached steady state.",
    );
    Some(draft.number("change_share", change).number("p_value", trend.p_value))
}

/// The first phase whose figure was not steady in all the rounds that the plan gave it.
pub(crate) fn rounds_not_steady(run: &Run) -> Option<Draft> {
    let full = |rounds: &&record::Rounds| !rounds.steady && rounds.values.len() >= rounds.most as usize;
    let rounds = run.rounds.iter().find(full)?;
    let window = rounds.window?;
    let (range, line) = (window.range / window.mean, window.excursion / window.mean);
    let sentence = format!(
        "{} was not in steady state after {} rounds of \"{}\": over the last five it {}.",
        rounds.tracked(),
        rounds.values.len(),
        phase_title(&rounds.phase, |_| None),
        against_rule(range, line)
    );
    let draft = Draft::new(Code::NotSteady, Severity::Warning, sentence)
        .remedy("Run more rounds (`rounds`), or fill the device first (`prepare`).");
    Some(
        draft
            .number("range_share", range)
            .number("line_share", line)
            .number("rounds", rounds.values.len() as f64),
    )
}

#[cfg(test)]
mod tests {
    use record::Window;
    use record::sample::{self, Stream};

    use super::*;

    /// One point with these rates in the thirty seconds of its window.
    fn run(rate: impl Fn(usize) -> f64) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.0 };
        let mut run =
            sample::run("quick", vec![sample::point(0, "p", vec![sample::workload("main", &[stream])])]);
        let values = &mut run.points[0].series[0].values;
        values.iter_mut().enumerate().for_each(|(at, value)| *value = rate(at));
        run
    }

    type Check = fn(&Run, &Point, &WorkloadResult) -> Option<Draft>;

    fn of(check: Check, run: &Run) -> Option<record::Finding> {
        check(run, &run.points[0], &run.points[0].workloads[0]).map(Draft::about_run)
    }

    #[test]
    fn parts_are_equal_but_for_a_second_and_leave_nothing_of_the_window_out() {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        assert_eq!(parts::<6>(&values), Some([0.5, 2.5, 4.5, 6.5, 8.5, 10.5]));
        assert_eq!(parts::<12>(&values).map(|all| all.to_vec()), Some(values.clone()));
        assert_eq!(parts::<13>(&values), None);
        // Two, two, three, two and three seconds.
        assert_eq!(parts::<5>(&values), Some([0.5, 2.5, 5.0, 7.5, 10.0]));
    }

    #[test]
    fn a_rate_that_falls_six_fold_after_a_second_is_not_steady_whatever_the_length_of_the_window() {
        for seconds in 10..=30_u64 {
            let mut run = run(|at| if at == 0 { 15_250.0 } else { 2_656.0 });
            run.points[0].workloads[0].measured_ns = seconds * 1_000_000_000;
            assert!(of(window_not_steady, &run).is_some(), "{seconds} s");
        }
    }

    #[test]
    fn thirds_that_differ_by_more_than_a_tenth_and_more_than_chance_drift() {
        let last = |rate: f64| run(move |at| if at < 20 { 1_000.0 } else { rate });
        for (rate, drifts) in [(1_100.0, false), (1_101.0, true), (900.0, false), (899.0, true)] {
            assert_eq!(of(drift, &last(rate)).is_some(), drifts, "{rate}");
        }
        let rose = of(drift, &last(1_200.0)).expect("it rose");
        assert_eq!(
            rose.sentence,
            "The rate rose by 20 %: 1,000/s in the first third of the window, 1,200/s in the last."
        );
        assert_eq!((rose.numbers["first_per_s"], rose.numbers["last_per_s"]), (1_000.0, 1_200.0));
        assert!(
            of(drift, &last(800.0)).is_some_and(|fell| fell.sentence.starts_with("The rate fell by 20 %"))
        );
        let rough = run(|at| if at < 20 { 1_000.0 } else { 1_150.0 } * if at % 2 == 0 { 0.5 } else { 1.5 });
        assert_eq!(of(drift, &rough), None);
    }

    #[test]
    fn a_schedule_that_pauses_is_judged_by_whole_periods() {
        let paused = |rate: fn(usize) -> f64| {
            let mut run = run(rate);
            run.points[0].workloads[0].spec.pace =
                "rate(800/s, onoff(1s, 2s))".parse().expect("it is a pace");
            run
        };
        let even = paused(|at| if at % 3 == 0 { 800.0 } else { 0.0 });
        for check in [drift as Check, trend, window_not_steady] {
            assert_eq!(of(check, &even), None);
        }
        assert_eq!(rates(&even.points[0], &even.points[0].workloads[0]), [800.0 / 3.0; 10]);
        let falls = paused(|at| if at % 3 == 0 { 800.0 - 20.0 * at as f64 } else { 0.0 });
        assert!(of(drift, &falls).is_some(), "what falls from period to period drifts");
    }

    #[test]
    fn half_of_a_window_without_completions_is_invalid() {
        let stalled = |stalls: &[(u64, u64)]| {
            let mut run = run(|_| 1_000.0);
            let stall = |(from_s, length_ms): &(u64, u64)| Silence {
                from_ns: 500_000_000 + from_s * 1_000_000_000,
                length_ns: length_ms * 1_000_000,
            };
            run.points[0].workloads[0].stalls = stalls.iter().map(stall).collect();
            of(silence, &run)
        };
        assert_eq!(stalled(&[]), None);
        let least_ms = Silence::TIMES;
        assert_eq!(
            stalled(&[(2, least_ms - 1)]),
            None,
            "a request a millisecond is as long as that now and then"
        );
        assert!(stalled(&[(2, least_ms)]).is_some());
        let two = stalled(&[(2, 3_000), (7, 4_500), (20, least_ms - 1)]).expect("two are long");
        assert_eq!(
            two.sentence,
            "No completion for 4.5 s from 7.0 s on, with requests in flight; 2 such stalls, 7.5 s in all: 25 % of the \
             window."
        );
        assert_eq!((two.numbers["stalls"], two.numbers["silent_share"]), (2.0, 0.25));
        assert_eq!((two.numbers["longest_s"], two.numbers["from_s"]), (4.5, 7.0));
        let mut flushed = run(|_| 1_000.0);
        let workload = &mut flushed.points[0].workloads[0];
        workload.stalls = vec![Silence { from_ns: 500_000_000, length_ns: 20_000_000_000 }];
        let mut flush = workload.summary[0].clone();
        flush.op = Ops::One(Op::Flush);
        flush.response.as_mut().expect("it has latencies").max_ns = 20_000_000_000;
        workload.summary.push(flush);
        assert_eq!(of(silence, &flushed), None, "one flush took as long");
        let severity = |length_ms| stalled(&[(0, length_ms)]).map(|finding| finding.severity);
        assert_eq!([14_999, 15_000].map(severity), [Some(Severity::Warning), Some(Severity::Invalid)]);
    }

    #[test]
    fn a_trend_is_told_where_it_is_clear_larger_than_the_interval_and_no_drift() {
        let sloped = |by: f64| run(move |at| 1_000.0 + by * (at as f64 - 14.5) / 27.0);
        let rose = of(trend, &sloped(50.0)).expect("it rises throughout");
        assert_eq!(
            rose.sentence,
            "The rate rose by 5.0 % over the window, a statistically significant trend (p < 0.01). SNIA's rule calls it \
             steady: it allows slow drift."
        );
        assert!(!rose.remedy.contains("not reached"), "{rose:?}");
        assert!((rose.numbers["change_share"] - 0.05).abs() < 1e-9, "{rose:?}");
        assert!(
            of(trend, &sloped(-50.0)).is_some_and(|fell| fell.sentence.starts_with("The rate fell by 5.0 %"))
        );
        assert_eq!(of(trend, &sloped(19.9)), None);
        assert!(of(trend, &sloped(20.1)).is_some());
        // Tenths from 8,910 to 9,090: a fiftieth of their median.
        assert_eq!(of(trend, &run(|at| (8_910 + at / 3 * 20) as f64)), None);
        assert_eq!(of(trend, &sloped(200.0)), None, "it is a drift");
        // Five per cent and more by the median of its slopes, and chance may have made them.
        let parts = [1_000.0, 1_200.0, 950.0, 1_150.0, 1_000.0, 1_250.0, 1_000.0, 1_200.0, 1_050.0, 1_260.0];
        let rough = run(|at| parts[at / 3]);
        assert_eq!(of(trend, &rough), None);
    }

    #[test]
    fn a_window_is_held_against_the_rule_of_snia_from_ten_seconds_on() {
        // Means of fifths: the middle one is higher, which no line shows.
        let humped = |by: f64| run(move |at| if (12..18).contains(&at) { 1_000.0 + by } else { 1_000.0 });
        assert_eq!(of(window_not_steady, &humped(200.0)), None);
        let varies = of(window_not_steady, &humped(250.0)).expect("its range is 24 % of its mean");
        assert_eq!(
            varies.sentence,
            "Not in steady state: over five equal parts of the window the rate ranges by 24 % of its mean (SNIA: at most \
             20 %) and its linear fit changes by 0.0 % (at most 10 %)."
        );
        assert!((varies.numbers["range_share"] - 250.0 / 1_050.0).abs() < 1e-12, "{varies:?}");
        assert!(varies.numbers["line_share"].abs() < 1e-9, "{varies:?}");
        // The line through 1,000, 1,000, 1,000, 1,250 and 1,000 rises by 25 a fifth.
        let later = of(window_not_steady, &run(|at| if (18..24).contains(&at) { 1_250.0 } else { 1_000.0 }));
        let line = later.expect("its range is the same").numbers["line_share"];
        assert!((line - 100.0 / 1_050.0).abs() < 1e-9, "{line}");
        assert_eq!(of(window_not_steady, &run(|_| 0.0)), None, "nothing was done");
        let lasts = |seconds: u64| {
            let mut run = run(|at| if at % 2 == 0 { 1_000.0 } else { 1_500.0 });
            let workload = &mut run.points[0].workloads[0];
            workload.measured_ns = seconds * 1_000_000_000;
            run.points[0].series[0].values = vec![1_000.0, 1_000.0, 1_000.0, 1_000.0, 1_500.0, 1_500.0]
                .into_iter()
                .chain([1_000.0; 24])
                .collect();
            let long_enough = is_long_enough(&run.points[0], &run.points[0].workloads[0]);
            (of(window_not_steady, &run).is_some(), long_enough)
        };
        assert_eq!([9, 10].map(lasts), [(false, false), (true, true)]);
    }

    fn rounds(values: &[f64], steady: bool, most: u32) -> Run {
        let window = Window {
            first_round: 2,
            last_round: 6,
            mean: 1_000.0,
            range: 250.0,
            range_allowed: 200.0,
            slope: 30.0,
            intercept: 880.0,
            excursion: 120.0,
            excursion_allowed: 100.0,
        };
        let rounds = Rounds {
            phase: "random".into(),
            figure: "iops".into(),
            at: Default::default(),
            values: values.to_vec(),
            most,
            steady,
            window: Some(window),
        };
        Run { rounds: vec![rounds], ..run(|_| 1_000.0) }
    }

    #[test]
    fn rounds_that_used_up_what_the_plan_gives_are_told_with_their_distance_from_the_rule() {
        let told = |count: usize, steady| {
            rounds_not_steady(&rounds(&vec![1_000.0; count], steady, 6)).map(Draft::about_run)
        };
        assert_eq!((told(5, false), told(6, true)), (None, None));
        let finding = told(6, false).expect("all six rounds were used");
        assert!(
            finding.sentence.contains("after 6 rounds of \"random\": over the last five it ranges by 25 %")
        );
        assert!(finding.sentence.contains("its linear fit changes by 12 %"), "{}", finding.sentence);
        assert_eq!((finding.numbers["range_share"], finding.numbers["line_share"]), (0.25, 0.12));
        assert_eq!(finding.numbers["rounds"], 6.0);
    }

    #[test]
    fn steady_rounds_that_rise_each_time_by_more_than_a_fiftieth_in_all_drift() {
        let told = |by: f64, steady| {
            let values: Vec<f64> = (0..6).map(|at| 1_000.0 + by * (f64::from(at) - 3.0) / 4.0).collect();
            rounds_drift(&rounds(&values, steady, 25)).map(Draft::about_run)
        };
        assert_eq!((told(20.0, true), told(50.0, false)), (None, None));
        assert!(told(20.1, true).is_some());
        let rose = told(50.0, true).expect("each is higher");
        assert!(
            rose.sentence.ends_with("is higher than the one before: by 5.0 % in all."),
            "{}",
            rose.sentence
        );
        assert!((rose.numbers["change_share"] - 0.05).abs() < 1e-12, "{rose:?}");
        let fell = told(-50.0, true).expect("each is lower").sentence;
        assert!(fell.ends_with("is lower than the one before: by 5.0 % in all."), "{fell}");
    }
}
