//! The knee of a sweep of depth or workers.

use std::collections::BTreeMap;

use record::{Finding, Point, PointKind, Run, Severity, is_named, phase_title};
use spec::title_with_set;
use stats::saturation::{LoadPoint, Saturation, saturation};
use units::Nanos;

use crate::Code;
use crate::carry_over;
use crate::draft::{Draft, percent};

/// What the rate may fall from its best before the curve is called retrograde.
const FALL: f64 = 0.05;

/// With such a gain in its last step a sweep has not reached saturation.
const STILL_GROWS: f64 = 0.10;

/// The Universal Scalability Law is reported where it explains so much of the rates.
const LAW_FITS: f64 = 0.9;

/// Where the lightest load reaches so much of the highest rate, a higher load gains nothing.
const FULL: f64 = 0.97;

/// A phase over its loads, at one set of values of all other swept keys.
struct Curve {
    /// As written, with what `--set` changed behind it.
    phase: String,
    around: Vec<(String, String)>,
    loads: Vec<Load>,
}

/// All repetitions of one load.
#[derive(Default)]
struct Load {
    /// As the plan says it.
    value: String,
    /// The names of those that were not in steady state.
    in_doubt: Vec<String>,
    in_flight: Vec<f64>,
    rate: Vec<f64>,
    response_s: Vec<f64>,
}

/// One or more findings for each sweep of depth or workers over at least four loads in a closed loop.
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    curves(run).iter().flat_map(of_curve).map(Draft::about_run).collect()
}

fn curves(run: &Run) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    // A run may have thousands of points: each is looked up, none is looked for.
    let (mut places, mut spots) = (BTreeMap::new(), BTreeMap::new());
    for point in run.points.iter().filter(|point| point.kind == PointKind::Load && point.complete) {
        let Some(((value, around), one)) = axis(point).zip(point.load()) else { continue };
        let place = *places.entry((point.phase.clone(), around.clone())).or_insert(curves.len());
        if place == curves.len() {
            let phase = title_with_set(point.phase.clone(), &point.set);
            curves.push(Curve { phase, around, loads: Vec::new() });
        }
        let loads = &mut curves[place].loads;
        let spot = *spots.entry((place, value.clone())).or_insert(loads.len());
        if spot == loads.len() {
            loads.push(Load { value, ..Load::default() });
        }
        loads[spot].in_flight.push(one.load);
        loads[spot].rate.push(one.rate);
        loads[spot].response_s.push(one.response_s);
        loads[spot].in_doubt.extend(carry_over::is_in_doubt(run, point).then(|| point.name.clone()));
    }
    curves
}

/// The value of the swept key that makes the load, and all other swept keys. `None` where none or several do.
pub(crate) fn axis(point: &Point) -> Option<(String, Vec<(String, String)>)> {
    let is_load = |key: &str| matches!(key.rsplit('.').next(), Some("depth" | "workers"));
    let mut loads = point.swept.iter().filter(|(key, _)| is_load(key));
    let (_, value) = loads.next()?;
    let around = point.swept.iter().filter(|(key, _)| !is_load(key));
    let around = around.map(|(key, value)| (key.clone(), value.clone())).collect();
    loads.next().is_none().then(|| (value.clone(), around))
}

fn of_curve(curve: &Curve) -> Vec<Draft> {
    let mean = |figures: &[f64]| figures.iter().sum::<f64>() / figures.len() as f64;
    debug_assert!(
        curve.loads.iter().all(|load| {
            let count = load.rate.len();
            count > 0 && load.in_flight.len() == count && load.response_s.len() == count
        }),
        "a load has all figures of each time that it was measured"
    );
    let mut points: Vec<LoadPoint> = curve
        .loads
        .iter()
        .map(|load| LoadPoint {
            load: mean(&load.in_flight),
            rate: mean(&load.rate),
            response_s: mean(&load.response_s),
        })
        .collect();
    points.sort_by(|one, other| one.load.total_cmp(&other.load));
    let Some(found) = saturation(&points, 1) else { return Vec::new() };
    let name = name(curve);
    let in_doubt: Vec<&str> =
        curve.loads.iter().flat_map(|load| &load.in_doubt).map(String::as_str).collect();
    if !in_doubt.is_empty() {
        return vec![unsteady(&name, curve, &in_doubt)];
    }
    let mut drafts = vec![bend(&name, &points, &found)];
    drafts.extend(retrograde(&name, &points, &found));
    drafts.extend(superlinear(&name, &points, &found));
    drafts
}

/// A curve through points that were not in steady state has no shape of its own.
fn unsteady(name: &str, curve: &Curve, in_doubt: &[&str]) -> Draft {
    let points: usize = curve.loads.iter().map(|load| load.rate.len()).sum();
    debug_assert!((1..=points).contains(&in_doubt.len()), "each point is doubted once");
    let sentence = format!(
        "{name}: the knee is not known: {} of the {points} points were not in steady state or carry over from the \
         point before them, {} first.",
        in_doubt.len(),
        in_doubt.first().map_or_else(String::new, |first| format!("\"{first}\""))
    );
    Draft::new(Code::CurveUnsteady, Severity::Note, sentence)
        .remedy("Warm up until the rate no longer changes (`warmup`), so that each point is in steady state.")
        .number("points_in_doubt", in_doubt.len() as f64)
}

/// The phase with the values of the sweeps around, and from which load to which: `8 KiB x1…256`.
fn name(curve: &Curve) -> String {
    let ends =
        [curve.loads.first(), curve.loads.last()].map(|load| load.map_or("", |load| load.value.as_str()));
    let mut filled: Vec<&str> = Vec::new();
    let name = phase_title(&curve.phase, |named| {
        if let Some((key, value)) = curve.around.iter().find(|(key, _)| is_named(key, named)) {
            filled.push(key);
            return Some(value.clone());
        }
        ["depth", "workers"].iter().any(|key| is_named(named, key)).then(|| ends.join("…"))
    });
    let unnamed = curve.around.iter().filter(|(key, _)| !filled.contains(&key.as_str()));
    let around: Vec<String> = unnamed.map(|(key, value)| format!("{key} {value}")).collect();
    if around.is_empty() { name } else { format!("{name} at {}", around.join(", ")) }
}

fn bend(name: &str, points: &[LoadPoint], found: &Saturation) -> Draft {
    let [.., before, last] = points else { unreachable!("a curve has at least four points") };
    let gain = last.rate / before.rate - 1.0;
    let most = points.iter().map(|point| point.rate).fold(0.0, f64::max);
    let draft = match found.knee() {
        _ if points[0].rate >= FULL * most => {
            let sentence = format!(
                "{name}: {:.1} in flight already reach {} of the highest rate.",
                points[0].load,
                percent(points[0].rate / most)
            );
            let draft = Draft::new(Code::Knee, Severity::Note, sentence);
            draft
                .remedy("Do not increase the queue depth: it only adds latency.")
                .number("knee", points[0].load)
        }
        Some(knee) => knee_at(name, points, found, knee),
        None if gain > STILL_GROWS && found.fall <= 0.0 => {
            let sentence = format!(
                "{name}: the last step, to {:.1} in flight, still gained {}: the sweep ends before saturation.",
                last.load,
                percent(gain)
            );
            Draft::new(Code::NoSharpKnee, Severity::Note, sentence)
                .remedy("Extend the sweep to a higher queue depth.")
        }
        None => {
            let sentence = format!("{name}: no sharp knee: {}.{}", estimates(found), law(found));
            Draft::new(Code::NoSharpKnee, Severity::Note, sentence)
                .remedy("Choose the load by the response time that you accept: `fathom search` finds it.")
        }
    };
    let draft = draft
        .number("power_knee", found.power_knee)
        .number("asymptote_knee", found.asymptote_knee)
        .number("kneedle", found.kneedle.unwrap_or(f64::NAN))
        .number("two_lines_knee", found.two_lines.knee)
        .number("two_lines_low", found.two_lines.interval.low)
        .number("two_lines_high", found.two_lines.interval.high);
    match found.scaling {
        Some(fit) => draft
            .number("usl_sigma", fit.sigma)
            .number("usl_kappa", fit.kappa)
            .number("usl_peak", fit.peak.unwrap_or(f64::NAN))
            .number("usl_explained", fit.explained),
        None => draft,
    }
}

/// `Estimates: 16.0 in flight by power (rate / response time), 16.0 by …`: each estimator with its load.
/// The range that the estimates of the knee span; each of them is a number of the finding.
fn estimates(found: &Saturation) -> String {
    let all = [found.power_knee, found.asymptote_knee, found.two_lines.knee].into_iter().chain(found.kneedle);
    let (low, high, count) = all.fold((f64::INFINITY, 0.0_f64, 0), |(low, high, count), knee| {
        (low.min(knee), high.max(knee), count + 1)
    });
    let (low, high) = (format!("{low:.1}"), format!("{high:.1}"));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!("{count} estimates give {range} in flight")
}

/// The Universal Scalability Law, where it fits.
fn law(found: &Saturation) -> String {
    let Some(fit) = found.scaling.filter(|fit| fit.explained > LAW_FITS) else { return String::new() };
    let peak =
        fit.peak.map_or_else(|| "no peak".to_owned(), |peak| format!("its peak at {peak:.0} in flight"));
    format!(" The Universal Scalability Law fits with R\u{b2} = {:.3}, with {peak}.", fit.explained)
}

fn knee_at(name: &str, points: &[LoadPoint], found: &Saturation, knee: f64) -> Draft {
    let most = points.iter().map(|point| point.rate).fold(0.0, f64::max);
    let near = points
        .iter()
        .min_by(|one, other| (one.load / knee).ln().abs().total_cmp(&(other.load / knee).ln().abs()));
    let near = near.expect("a curve has points");
    let sentence = format!(
        "{name}: the knee is at about {knee:.1} in flight. At {:.1} the rate is {} of the highest, and the response \
         time {}; {}.{}",
        near.load,
        percent(near.rate / most),
        Nanos::from_secs_f64(near.response_s),
        estimates(found),
        law(found),
    );
    Draft::new(Code::Knee, Severity::Note, sentence)
        .remedy("Keep the queue depth at the knee: a higher one mostly adds latency.")
        .number("knee", knee)
}

fn retrograde(name: &str, points: &[LoadPoint], found: &Saturation) -> Option<Draft> {
    if found.fall <= FALL {
        return None;
    }
    let best = points.iter().copied().reduce(|best, one| if one.rate > best.rate { one } else { best })?;
    let last = points.last()?;
    debug_assert!(best.rate > last.rate, "a fall is one from the best");
    let peak = found.scaling.and_then(|fit| fit.peak.filter(|_| fit.explained > LAW_FITS));
    let law = peak.map_or_else(String::new, |peak| {
        format!(" The Universal Scalability Law puts the peak at {peak:.0}.")
    });
    let sentence = format!(
        "{name}: with {:.1} in flight the rate is {} lower than with {:.1}: more load makes it slower.{law}",
        last.load,
        percent(found.fall),
        best.load
    );
    let draft = Draft::new(Code::Retrograde, Severity::Warning, sentence)
        .remedy("Limit the queue depth, in the application or at the device.");
    Some(draft.number("fall_share", found.fall).number("best_in_flight", best.load))
}

fn superlinear(name: &str, points: &[LoadPoint], found: &Saturation) -> Option<Draft> {
    if !found.superlinear {
        return None;
    }
    let sentence = format!(
        "{name}: from {:.1} in flight on the rate grows faster than the load: requests are merged or reordered, sleep \
         states are avoided, or the first point was too slow.",
        points[0].load
    );
    let draft = Draft::new(Code::Superlinear, Severity::Note, sentence);
    Some(draft.remedy("Measure the lightest load again: caches, sleep states and read-ahead affect it most."))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    fn curve(phase: &str, around: &[(&str, &str)], values: &[&str]) -> Curve {
        let around = around.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let loads = values.iter().map(|value| Load { value: (*value).into(), ..Load::default() }).collect();
        Curve { phase: phase.into(), around, loads }
    }

    #[test]
    fn a_curve_is_named_by_its_phase_its_ends_and_what_is_swept_around_it() {
        let name = |phase: &str, around: &[(&str, &str)]| name(&curve(phase, around, &["1", "8", "256"]));
        assert_eq!(name("reads", &[]), "reads");
        assert_eq!(name("reads x{depth}", &[]), "reads x1…256");
        assert_eq!(name("{size} x{workers}", &[("size", "8 KiB")]), "8 KiB x1…256");
        assert_eq!(
            name("{size} x{depth}", &[("size", "8 KiB"), ("reads", "70%"), ("align", "4k")]),
            "8 KiB x1…256 at reads 70%, align 4k"
        );
    }

    #[test]
    fn figures_of_several_workloads_are_their_sums_and_the_mean_over_all_requests() {
        let stream =
            |per_s, median_ns| Stream { op: "read", size_bytes: 4096, per_s, median_ns, spread: 0.0 };
        let workloads = vec![
            sample::workload("a", &[stream(1_000, 1_000)]),
            sample::workload("b", &[stream(3_000, 2_000)]),
        ];
        let mut point = sample::point(0, "p", workloads);
        (point.workloads[0].mean_in_flight, point.workloads[1].mean_in_flight) = (4.0, 12.0);
        let LoadPoint { load, rate, response_s } = point.load().expect("both are closed loops");
        assert_eq!((load, rate), (16.0, 4_000.0));
        assert!((response_s - 1_750e-9).abs() < 1e-12, "{response_s}");
        point.workloads[1].classes[0].service = Some(point.workloads[1].classes[0].response.clone());
        assert_eq!(point.load(), None, "one of them has a schedule");
        point.workloads.clear();
        assert_eq!(point.load(), None);
    }

    #[test]
    fn a_load_is_swept_by_depth_or_by_workers_and_not_by_both() {
        let axis_of = |swept: &[(&str, &str)]| {
            let mut point = sample::point(0, "p", Vec::new());
            point.swept = swept.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
            axis(&point)
        };
        assert_eq!(axis_of(&[("depth", "8")]), Some(("8".into(), vec![])));
        let around = vec![("size".to_owned(), "4k".to_owned())];
        assert_eq!(axis_of(&[("size", "4k"), ("oltp.workers", "2")]), Some(("2".into(), around)));
        assert_eq!((axis_of(&[("depth", "8"), ("workers", "2")]), axis_of(&[("size", "4k")])), (None, None));
    }

    fn points(rates: &[f64]) -> Vec<LoadPoint> {
        let point = |(step, rate): (u32, &f64)| {
            let load = f64::from(1u32 << step);
            LoadPoint { load, rate: *rate, response_s: load / rate }
        };
        (0..).zip(rates).map(point).collect()
    }

    fn told(rates: &[f64]) -> Vec<Finding> {
        let points = points(rates);
        let found = saturation(&points, 1).expect("they are enough");
        let drafts = [Some(bend("x", &points, &found)), retrograde("x", &points, &found)];
        drafts.into_iter().flatten().map(Draft::about_run).collect()
    }

    #[test]
    fn what_the_last_step_gains_and_the_first_load_does_decide_what_is_said_of_a_bend() {
        let sentence = |rates: &[f64]| told(rates).remove(0).sentence;
        let last = sentence(&[1_000.0, 2_000.0, 4_000.0, 8_000.0, 12_000.0]);
        assert!(last.contains("to 16.0 in flight, still gained 50 %"), "{last}");
        assert!(
            sentence(&[970.0, 990.0, 1_000.0, 995.0]).starts_with("x: 1.0 in flight already reach 97 % of")
        );
        assert!(!sentence(&[969.0, 990.0, 1_000.0, 995.0]).contains("already reach"));
        let slow = sentence(&[1_000.0, 1_300.0, 1_700.0, 2_200.0, 2_419.0]);
        assert!(slow.contains("no sharp knee"), "less than a tenth is no longer growth: {slow}");
    }

    #[test]
    fn loads_that_were_repeated_are_their_means_and_what_was_cut_short_or_is_no_load_does_not_count() {
        let point = |index: u32, depth: u32, rate: f64| {
            let stream =
                Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.0 };
            let mut point = sample::point(index, "p", vec![sample::workload("main", &[stream])]);
            point.swept = [("depth".to_owned(), depth.to_string())].into();
            point.workloads[0].mean_in_flight = f64::from(depth);
            point.workloads[0].summary[0].ops_per_s.value = rate;
            point
        };
        let once = [(1, 1_000.0), (2, 1_900.0), (4, 2_000.0), (8, 1_500.0)];
        let run = |points: Vec<Point>| sample::run("sweep", points);
        let alone: Vec<Point> =
            (0..).zip(once).map(|(index, (depth, rate))| point(index, depth, rate)).collect();
        let again = once.iter().flat_map(|(depth, rate)| [(*depth, rate - 30.0), (*depth, rate + 30.0)]);
        let again = (4..).zip(again).map(|(index, (depth, rate))| point(index, depth, rate));
        let twice: Vec<Point> = alone.iter().cloned().chain(again).collect();
        let findings_of =
            |run: &Run| curves(run).iter().flat_map(of_curve).map(Draft::about_run).collect::<Vec<_>>();
        let found = findings_of(&run(alone.clone()));
        assert!(found.iter().any(|finding| finding.numbers.get("best_in_flight") == Some(&4.0)), "{found:?}");
        assert_eq!(findings_of(&run(twice)), found);
        let mut others = alone.clone();
        others.push(Point { complete: false, ..point(4, 16, 9_000.0) });
        others.push(Point { kind: PointKind::State, ..point(5, 32, 9_000.0) });
        assert_eq!(findings_of(&run(others)), found);
        let mut silent = point(0, 1, 1_000.0);
        silent.workloads[0].summary.clear();
        assert_eq!(silent.load(), None, "nothing completed");
    }

    #[test]
    fn the_load_that_is_told_of_a_knee_is_the_nearest_by_its_part() {
        let points = points(&[1_000.0, 1_900.0, 3_000.0, 3_100.0, 3_150.0]);
        let found = saturation(&points, 1).expect("they are enough");
        for (knee, near) in
            [(0.9, "1.0"), (2.9, "4.0"), (4.4, "4.0"), (5.6, "4.0"), (5.7, "8.0"), (15.0, "16.0")]
        {
            let told = knee_at("x", &points, &found, knee).about_run().sentence;
            assert!(told.contains(&format!("At {near} the rate is")), "{knee}: {told}");
        }
    }

    #[test]
    fn a_law_that_explains_no_more_than_nine_tenths_is_not_told_and_of_equal_rates_the_first_is_best() {
        let points = points(&[1_000.0, 1_900.0, 1_900.0, 1_500.0]);
        let mut found = saturation(&points, 1).expect("they are enough");
        let mut told = |explained: f64| {
            let fit = stats::saturation::Scaling {
                single: 1_000.0,
                sigma: 0.01,
                kappa: 0.001,
                peak: Some(3.0),
                explained,
            };
            found.scaling = Some(fit);
            let fall = retrograde("x", &points, &found).expect("it falls").about_run();
            assert_eq!(fall.numbers["best_in_flight"], 2.0);
            (!law(&found).is_empty(), fall.sentence.contains("puts the peak at 3"))
        };
        assert_eq!([0.9, 0.91].map(&mut told), [(false, false), (true, true)]);
    }

    #[test]
    fn a_fall_is_told_beyond_a_twentieth() {
        assert_eq!(told(&[1_000.0, 1_900.0, 2_000.0, 1_901.0]).len(), 1);
        let falls = told(&[1_000.0, 1_900.0, 2_000.0, 1_890.0]).remove(1);
        assert!(
            falls.sentence.starts_with("x: with 8.0 in flight the rate is 5.5 % lower than with 4.0"),
            "{falls:?}"
        );
        assert_eq!(falls.numbers["best_in_flight"], 4.0);
        assert!((falls.numbers["fall_share"] - 0.055).abs() < 1e-12);
    }
}
