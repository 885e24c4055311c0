//! A sweep at a glance: one small curve for each phase that was swept.

use std::collections::BTreeMap;

use record::{Estimate, Metric, Point, Run};
use units::convert::truncated;
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::style::Style;
use crate::words::{cut, harmless};

/// A curve needs more points than a look at the table takes.
const POINTS_MIN: usize = 3;

/// One phase over the values of its innermost sweep, at one set of values of the sweeps around it.
struct Sweep<'a> {
    key: &'a str,
    around: Vec<(&'a str, &'a str)>,
    /// The main figure of its first point.
    metric: Metric,
    /// Swept value as text, and that figure; one for each point, the best of its repetitions.
    points: Vec<(&'a str, Estimate)>,
}

/// One line for each innermost sweep of `run` over at least three values: its main figures as a curve, and where the best
/// of them was.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    sweeps(run).iter().map(|sweep| line(sweep, style)).collect()
}

fn sweeps(run: &Run) -> Vec<Sweep<'_>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    // A run may have thousands of points: each is looked up, none is looked for.
    let (mut keys, mut places, mut spots) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    // What goes round by round has a table of its own; of a single cell the rounds are a curve.
    let in_table =
        |point: &Point| point.swept.len() > 1 && run.rounds.iter().any(|rounds| rounds.phase == point.phase);
    for point in run.points.iter().filter(|point| !in_table(point)) {
        let phase = point.phase.as_str();
        let Some(key) = *keys.entry(phase).or_insert_with(|| innermost(run, phase)) else { continue };
        let Some(value) = point.swept.get(key) else { continue };
        let pairs = point.swept.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let around: Vec<(&str, &str)> = pairs.filter(|(other, _)| *other != key).collect();
        let place = *places.entry((phase, around.clone())).or_insert(sweeps.len());
        if place == sweeps.len() {
            sweeps.push(Sweep { key, around, metric: Metric::of(&point.headline), points: Vec::new() });
        }
        let Sweep { points, metric, .. } = &mut sweeps[place];
        let figure = point.estimate(*metric).unwrap_or(Estimate::of(0.0));
        let spot = *spots.entry((place, value)).or_insert(points.len());
        match points.get_mut(spot) {
            Some((_, best)) => {
                *best = metric.best([*best, figure], |one| Some(*one)).map_or(*best, |(one, _)| one);
            }
            None => points.push((value, figure)),
        }
    }
    debug_assert!(sweeps.iter().all(|sweep| !sweep.points.is_empty()), "a sweep begins with a point");
    sweeps.retain(|sweep| sweep.points.len() >= POINTS_MIN);
    sweeps
}

/// The swept key of a phase that changes from one value to the next while all others stay: sweeps nest, and the
/// record does not keep in which order.
fn innermost<'a>(run: &'a Run, phase: &str) -> Option<&'a str> {
    let points: Vec<&Point> = run.points.iter().filter(|point| point.phase == phase).collect();
    points.windows(2).find_map(|pair| {
        let [before, after] = pair else { return None };
        let mut changed = after.swept.iter().filter(|(key, value)| before.swept.get(*key) != Some(*value));
        let (key, _) = changed.next()?;
        changed.next().is_none().then_some(key.as_str())
    })
}

/// A figure with its unit: `3,085`, `12.6 MB/s`, `4.79 ms`.
fn written(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => OpsPerSecond::new(value).to_string(),
        Metric::Throughput => BytesPerSecond::new(value).to_string(),
        Metric::Mean | Metric::Max | Metric::Quantile(_) => Nanos::from_secs_f64(value / 1e9).to_string(),
    }
}

fn line(sweep: &Sweep<'_>, style: Style) -> String {
    let metric = sweep.metric;
    let best = metric.flat_from(sweep.points.iter(), |(_, one)| Some(*one));
    let (at, told) = best.map_or(("", 0.0), |((at, _), value)| (*at, value));
    let values = || sweep.points.iter().map(|(_, one)| one.value);
    let highest = values().fold(0.0, f64::max);
    let ends = |at: Option<&(&str, Estimate)>| at.map(|(value, _)| harmless(value)).unwrap_or_default();
    let key = harmless(sweep.key);
    let curve: String = sweep.points.iter().map(|(_, one)| level(one.value, highest, style)).collect();
    let around: Vec<String> =
        sweep.around.iter().map(|(key, value)| format!(", {} {}", harmless(key), harmless(value))).collect();
    let (at, told) = (harmless(at), written(metric, told));
    let (most, more, peak) = match metric.more_is_better() {
        true => ("most", "more", highest),
        false => ("least", "less", values().fold(f64::INFINITY, f64::min)),
    };
    // A better one, by less than can be told, is in the table, for everyone to see.
    let peak = if told == written(metric, peak) {
        format!("{most} at {key} {at}: {told}")
    } else {
        format!("{told} at {key} {at}, none significantly {more}")
    };
    let name = match metric {
        Metric::Iops => "IOPS".to_owned(),
        Metric::Throughput => "MB/s".to_owned(),
        _ => metric.name(),
    };
    let text = format!(
        "{name} by {key} {} to {}{}  {curve}  {peak}",
        ends(sweep.points.first()),
        ends(sweep.points.last()),
        around.concat()
    );
    cut(&text, style.width, style.ellipsis())
}

/// The letter for `rate` where the highest letter stands for `peak` and the lowest for nothing.
fn level(rate: f64, peak: f64, style: Style) -> char {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const DIGITS: [char; 8] = ['1', '2', '3', '4', '5', '6', '7', '8'];
    let part = if peak > 0.0 { (rate / peak).clamp(0.0, 1.0) } else { 0.0 };
    let step = truncated::<usize>((part * 8.0).ceil()).clamp(1, 8) - 1;
    if style.unicode { BLOCKS[step] } else { DIGITS[step] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };

    #[test]
    fn nested_sweeps_give_a_curve_for_each_value_of_the_outer_one() {
        let first = sample::point(0, "p", vec![sample::workload("load", &[STREAM])]);
        let mut run = sample::run("random", Vec::new());
        for reads in ["100%", "0%"] {
            for depth in ["1", "2", "4"] {
                let swept = [("reads".to_owned(), reads.to_owned()), ("depth".to_owned(), depth.to_owned())];
                run.points.push(Point { swept: swept.into(), ..first.clone() });
            }
        }
        let style = Style { colour: false, unicode: true, width: 80 };
        let lines = lines(&run, style);
        let [reads, writes] = &lines[..] else { panic!("{lines:?}") };
        assert!(reads.starts_with("IOPS by depth 1 to 4, reads 100%  ███  most at depth 1: "), "{reads}");
        assert!(writes.starts_with("IOPS by depth 1 to 4, reads 0%  ███  most at depth 1: "), "{writes}");
    }

    #[test]
    fn the_first_point_that_none_exceeds_significantly_is_where_a_curve_is_flat() {
        let first = sample::point(0, "p", vec![sample::workload("load", &[STREAM])]);
        let mut run = sample::run("random", Vec::new());
        let points = [("1", 900.0, 5.0), ("2", 999.0, 10.0), ("4", 1_020.0, 100.0), ("8", 1_005.0, 8.0)];
        for (depth, rate, half) in points {
            let swept = [("depth".to_owned(), depth.to_owned())];
            let mut point = Point { swept: swept.into(), ..first.clone() };
            for summary in &mut point.workloads[0].summary {
                summary.ops_per_s =
                    record::Figure { value: rate, low: Some(rate - half), high: Some(rate + half) };
            }
            run.points.push(point);
        }
        let style = Style { colour: false, unicode: true, width: 80 };
        assert_eq!(
            lines(&run, style),
            ["IOPS by depth 1 to 8  ████  999 at depth 2, none significantly more"],
        );
    }

    #[test]
    fn a_curve_is_of_the_main_figure_of_its_points() {
        let of = |headline: &str| {
            let mut run = sample::run("sequential", Vec::new());
            for (index, (size, bytes, per_s)) in
                (0..).zip([("4KiB", 4096, 20_000), ("64KiB", 65_536, 4_000), ("1MiB", 1 << 20, 300)])
            {
                let median_ns = 1_000_000_000 / per_s;
                let stream = Stream { size_bytes: bytes, per_s, median_ns, ..STREAM };
                let mut point = sample::point(index, "p", vec![sample::workload("load", &[stream])]);
                (point.swept, point.headline) =
                    ([("size".to_owned(), size.to_owned())].into(), headline.into());
                run.points.push(point);
            }
            lines(&run, Style { colour: false, unicode: true, width: 80 }).remove(0)
        };
        assert_eq!(of("iops"), "IOPS by size 4KiB to 1MiB  █▂▁  most at size 4KiB: 20,000");
        assert_eq!(of("mb_per_s"), "MB/s by size 4KiB to 1MiB  ▃▇█  most at size 1MiB: 315 MB/s");
        let p99 = of("p99");
        assert!(p99.starts_with("p99 by size 4KiB to 1MiB  ▁▁█  least at size 4KiB: "), "{p99}");
    }

    #[test]
    fn the_highest_letter_is_the_peak_and_the_lowest_is_nothing() {
        let style = Style { colour: false, unicode: true, width: 80 };
        let letters: String =
            [0.0, 12.0, 13.0, 50.0, 100.0].map(|rate| level(rate, 100.0, style)).iter().collect();
        assert_eq!(letters, "▁▁▂▄█");
        assert_eq!(level(0.0, 0.0, style), '▁');
        assert_eq!(level(100.0, 100.0, Style { unicode: false, ..style }), '8');
    }
}
