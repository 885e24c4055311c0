//! What a point carries over from those before it: caches that they left full, dirty or warm.

use std::collections::BTreeMap;

use record::{Point, PointKind, Rounds, Run, Severity, WorkloadResult};
use stats::batch_mean;
use units::OpsPerSecond;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::moved;
use crate::steady;

/// Halves, and the first and second measurement of a point, that differ by no more than this are alike.
const ALIKE: f64 = 0.10;

/// The load that ran directly before `point`, unless the record says that it left nothing unwritten.
fn before<'r>(run: &'r Run, point: &Point) -> Option<&'r Point> {
    if point.settled.as_ref().is_some_and(|settled| settled.left_bytes == Some(0)) {
        return None;
    }
    let at = run.points.partition_point(|other| other.index < point.index);
    let before = run.points.get(at.checked_sub(1)?)?;
    (before.kind == PointKind::Load).then_some(before)
}

/// A rate that rises while a cache empties what the load before left in it, or falls while what was free of it fills.
pub(crate) fn from_the_point_before(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let left_by = before(run, point).filter(|before| moved(before, record::Op::Write) > 0)?;
    let rates = steady::rates(point, workload);
    let (first, second) = rates.split_at(rates.len() / 2);
    let (first, second) = (batch_mean(first)?, batch_mean(second)?);
    let change = (second.mean - first.mean) / first.mean;
    let apart = first.interval?.is_apart(&second.interval?);
    if !change.is_finite() || change.abs() <= ALIKE || !apart {
        return None;
    }
    let rose = change.is_sign_positive();
    // What only reads does not fill a write cache.
    if !rose && moved(point, record::Op::Write) == 0 {
        return None;
    }
    let sentence = format!(
        "The rate {} by {}: {}/s in the first half of the window, {}/s in the second, after \"{}\" had written. \
         {}.",
        if rose { "rose" } else { "fell" },
        percent(change.abs()),
        OpsPerSecond::new(first.mean),
        OpsPerSecond::new(second.mean),
        left_by.name,
        if rose {
            "A write cache may still have been flushing that data"
        } else {
            "A write cache may have filled up sooner because of that data"
        }
    );
    let draft = Draft::new(Code::CarryOver, Severity::Warning, sentence).remedy(
        "Let the cache flush before each point (`settle = \"2m\"`), and warm up until the rate no longer changes.",
    );
    Some(draft.number("first_half_per_s", first.mean).number("second_half_per_s", second.mean))
}

/// The first point of a run, measured once more after others: what they changed shows in the difference.
pub(crate) fn first_point_again(run: &Run, point: &Point) -> Option<Draft> {
    let first = run.points.iter().find(|point| point.kind == PointKind::Load)?;
    if first.index != point.index || !point.complete || is_conditioning(&run.rounds, point) {
        return None;
    }
    let cell = |point: &Point| -> BTreeMap<String, String> {
        point
            .swept
            .iter()
            .filter(|(key, _)| *key != "round")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let own = cell(point);
    // The point itself is the first of them, and nothing came before it.
    let mut loads = run.points.iter().filter(|other| other.kind == PointKind::Load);
    let mut others_came = false;
    let again = loads.find(|other| {
        let is_same = other.phase == point.phase && cell(other) == own;
        others_came |= !is_same;
        is_same && others_came && other.complete
    })?;
    let ((value, low, high), (value_again, low_again, high_again)) = (rate(point)?, rate(again)?);
    let change = (value_again - value) / value;
    let apart = high < low_again || high_again < low;
    if !change.is_finite() || change.abs() <= ALIKE || !apart {
        return None;
    }
    let sentence = format!(
        "{}/s when measured first, {}/s when measured again after other points: {} {}.",
        OpsPerSecond::new(value),
        OpsPerSecond::new(value_again),
        percent(change.abs()),
        if change > 0.0 { "more" } else { "less" }
    );
    let draft = Draft::new(Code::CarryOver, Severity::Warning, sentence).remedy(
        "Warm read caches before the first point, let write caches flush between points (`settle = \"2m\"`), and fill \
         flash first (a `prepare` phase): the points in between changed the target.",
    );
    Some(draft.number("first_per_s", value).number("again_per_s", value_again))
}

/// Whether the rounds of the point's phase are there to bring the target into another state.
fn is_conditioning(rounds: &[Rounds], point: &Point) -> bool {
    rounds.iter().any(|rounds| rounds.phase == point.phase)
}

/// Requests a second of all workloads, with the sums of their bounds; `None` where one has none.
fn rate(point: &Point) -> Option<(f64, f64, f64)> {
    point.workloads.iter().try_fold((0.0, 0.0, 0.0), |(value, low, high), workload| {
        let own = &workload.total()?.ops_per_s;
        Some((value + own.value, low + own.low?, high + own.high?))
    })
}

/// Whether the rate of a point is not that of steady state: it drifted, varied, or carries over from points before.
pub(crate) fn is_in_doubt(run: &Run, point: &Point) -> bool {
    let of_workload = |workload: &WorkloadResult| {
        steady::drift(run, point, workload).is_some()
            || steady::window_not_steady(run, point, workload).is_some()
            || from_the_point_before(run, point, workload).is_some()
    };
    point.workloads.iter().any(of_workload) || first_point_again(run, point).is_some()
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Finding, Settled};

    use super::*;

    fn point(index: u32, op: &'static str) -> Point {
        let stream = Stream { op, size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.0 };
        let point = sample::point(index, &format!("x{index}"), vec![sample::workload("main", &[stream])]);
        Point { phase: "p".into(), ..point }
    }

    /// Has the seconds of the window these rates.
    fn seconds(point: &mut Point, rate: impl Fn(usize) -> f64) {
        point.series[0].values.iter_mut().enumerate().for_each(|(at, value)| *value = rate(at));
    }

    /// Two points of which the second does 1,000 a second in the first half of its window and `then` in the other.
    fn halves(ops: [&'static str; 2], then: f64) -> Run {
        let [mut one, mut other] = [(0, ops[0]), (1, ops[1])].map(|(index, op)| point(index, op));
        seconds(&mut one, |_| 1_000.0);
        seconds(&mut other, |at| if at < 15 { 1_000.0 } else { then });
        sample::run("sweep", vec![one, other])
    }

    fn of_halves(run: &Run) -> Option<Finding> {
        let last = run.points.last().expect("there are points");
        from_the_point_before(run, last, &last.workloads[0]).map(Draft::about_run)
    }

    #[test]
    fn halves_that_differ_by_more_than_a_tenth_after_a_load_that_wrote_carry_over() {
        for (then, differs) in [(1_100.0, false), (1_101.0, true), (900.0, false), (899.0, true), (0.0, true)]
        {
            assert_eq!(of_halves(&halves(["write", "write"], then)).is_some(), differs, "{then}");
        }
        let rose = of_halves(&halves(["write", "write"], 1_200.0)).expect("it rose");
        assert!(
            rose.sentence.starts_with(
                "The rate rose by 20 %: 1,000/s in the first half of the window, 1,200/s in the second, after \"x0\" had \
                 written. A write cache may still have been flushing"
            ),
            "{}",
            rose.sentence
        );
        assert_eq!((rose.numbers["first_half_per_s"], rose.numbers["second_half_per_s"]), (1_000.0, 1_200.0));
        let fell = of_halves(&halves(["write", "write"], 800.0)).expect("it fell").sentence;
        assert!(
            fell.starts_with("The rate fell by 20 %") && fell.contains("A write cache may have filled up"),
            "{fell}"
        );
    }

    #[test]
    fn a_rate_that_varies_more_than_its_halves_differ_carries_nothing_over() {
        for then in [1_150.0, 850.0] {
            let mut run = halves(["write", "write"], then);
            let half = |at: usize| if at < 15 { 1_000.0 } else { then };
            seconds(&mut run.points[1], |at| half(at) * if at % 2 == 0 { 0.5 } else { 1.5 });
            assert_eq!(of_halves(&run), None, "{then}");
        }
    }

    #[test]
    fn only_a_load_that_wrote_and_left_it_unwritten_is_carried_over() {
        assert!(of_halves(&halves(["write", "read"], 1_200.0)).is_some());
        assert_eq!(of_halves(&halves(["write", "read"], 800.0)), None, "what reads fills no write cache");
        assert_eq!(of_halves(&halves(["read", "write"], 1_200.0)), None, "nothing was written before");
        let mut run = halves(["write", "write"], 1_200.0);
        run.points[1].settled = Some(Settled { done: "clean".into(), seconds: 1.0, left_bytes: Some(1) });
        assert!(of_halves(&run).is_some());
        run.points[1].settled = Some(Settled { done: "clean".into(), seconds: 1.0, left_bytes: Some(0) });
        assert_eq!(of_halves(&run), None);
        let mut run = halves(["write", "write"], 1_200.0);
        run.points[0].kind = PointKind::State;
        assert_eq!(of_halves(&run), None);
        assert_eq!(before(&run, &run.points[0]).map(|point| point.index), None);
        run.points.remove(0);
        assert_eq!(of_halves(&run), None, "it is the first");
    }

    /// The first point with a rate of 1,000 ± 10, another, and the first again with `again` ± 10.
    fn again(again: f64) -> Run {
        let mut points: Vec<Point> = (0..3).map(|index| point(index, "read")).collect();
        for (point, (depth, rate)) in points.iter_mut().zip([("1", 1_000.0), ("2", 1_500.0), ("1", again)]) {
            point.swept =
                [("depth".to_owned(), depth.to_owned()), ("round".into(), point.index.to_string())].into();
            rated(point, rate, 10.0);
        }
        sample::run("sweep", points)
    }

    fn rated(point: &mut Point, rate: f64, half: f64) {
        for workload in &mut point.workloads {
            let ops = &mut workload.summary[0].ops_per_s;
            (ops.value, ops.low, ops.high) = (rate, Some(rate - half), Some(rate + half));
        }
    }

    fn of_first(run: &Run) -> Option<Finding> {
        first_point_again(run, &run.points[0]).map(Draft::about_run)
    }

    #[test]
    fn a_first_point_carries_over_where_it_differs_by_more_than_a_tenth_when_measured_again() {
        for (rate, differs) in [(1_100.0, false), (1_101.0, true), (900.0, false), (899.0, true)] {
            assert_eq!(of_first(&again(rate)).is_some(), differs, "{rate}");
        }
        let more = of_first(&again(1_200.0)).expect("it did more");
        assert_eq!(
            more.sentence,
            "1,000/s when measured first, 1,200/s when measured again after other points: 20 % more."
        );
        assert_eq!((more.numbers["first_per_s"], more.numbers["again_per_s"]), (1_000.0, 1_200.0));
        assert!(of_first(&again(800.0)).is_some_and(|less| less.sentence.ends_with(": 20 % less.")));
    }

    #[test]
    fn intervals_that_touch_are_no_difference() {
        for rate in [1_200.0, 800.0] {
            let mut run = again(rate);
            rated(&mut run.points[0], 1_000.0, 190.0);
            assert_eq!(of_first(&run), None, "{rate}");
            rated(&mut run.points[0], 1_000.0, 189.0);
            assert!(of_first(&run).is_some(), "{rate}");
            run.points[2].workloads[0].summary[0].ops_per_s.low = None;
            assert_eq!(of_first(&run), None, "without an interval nothing is known");
        }
    }

    #[test]
    fn a_first_point_is_held_against_the_same_point_after_others_and_nothing_else() {
        let without = |change: fn(&mut Run)| {
            let mut run = again(1_200.0);
            change(&mut run);
            of_first(&run)
        };
        assert!(without(|_| {}).is_some());
        assert_eq!(without(|run| run.points[0].complete = false), None);
        assert_eq!(without(|run| run.points[2].complete = false), None);
        assert_eq!(without(|run| run.points[2].phase = "q".into()), None);
        assert_eq!(without(|run| run.points[2].kind = PointKind::State), None);
        assert_eq!(
            without(|run| run.points[0].kind = PointKind::State),
            None,
            "the load after it is the first"
        );
        assert_eq!(without(|run| drop(run.points.remove(1))), None, "nothing came between");
        assert!(
            without(|run| run.points[1].phase = "q".into()).is_some(),
            "what came between may be of another phase"
        );
        assert_eq!(
            without(|run| {
                run.points[1].phase = "q".into();
                run.points[1].kind = PointKind::State;
            }),
            None,
            "a state between is no load"
        );
        let run = again(1_200.0);
        assert!(first_point_again(&run, &run.points[2]).is_none(), "it is not the first");
        let rounds = |phase: &str| Rounds {
            phase: phase.into(),
            figure: "iops".into(),
            at: BTreeMap::new(),
            values: Vec::new(),
            most: 25,
            steady: false,
            window: None,
        };
        let with_rounds = |phase: &str| Run { rounds: vec![rounds(phase)], ..again(1_200.0) };
        assert!(of_first(&with_rounds("q")).is_some());
        assert_eq!(of_first(&with_rounds("p")), None, "its rounds change the target on purpose");
    }

    #[test]
    fn the_rate_of_a_point_is_that_of_all_its_workloads() {
        let mut one = point(0, "read");
        rated(&mut one, 1_000.0, 10.0);
        one.workloads.push(one.workloads[0].clone());
        assert_eq!(rate(&one), Some((2_000.0, 1_980.0, 2_020.0)));
        one.workloads[1].summary[0].ops_per_s.high = None;
        assert_eq!(rate(&one), None);
        one.workloads[1].summary.clear();
        assert_eq!(rate(&one), None);
    }

    #[test]
    fn each_sign_of_an_unsteady_rate_alone_puts_a_point_in_doubt() {
        let doubted = |run: &Run| is_in_doubt(run, &run.points[0]);
        let steady = again(1_000.0);
        assert!(!doubted(&steady));
        assert!(doubted(&again(1_200.0)), "it was different when measured again");
        let mut drifts = steady.clone();
        seconds(&mut drifts.points[0], |at| 1_000.0 + 20.0 * at as f64);
        assert!(doubted(&drifts));
        let mut varies = steady.clone();
        seconds(&mut varies.points[0], |at| if at / 6 % 2 == 0 { 1_000.0 } else { 1_500.0 });
        assert!(doubted(&varies));
        // The thirds and the fifths are alike, the halves are not.
        let mut carries = halves(["write", "write"], 1_000.0);
        seconds(&mut carries.points[1], |at| match at {
            10..15 => 800.0,
            15..20 => 1_190.0,
            _ => 1_000.0,
        });
        let last = &carries.points[1];
        assert!(steady::drift(&carries, last, &last.workloads[0]).is_none());
        assert!(steady::window_not_steady(&carries, last, &last.workloads[0]).is_none());
        assert!(is_in_doubt(&carries, last));
    }
}
