//! Samples over time, each with its place in the records: joined where several are one figure, thinned to what a drawing
//! has places for.

use std::collections::BTreeMap;

use chart::{Axis, Chart, Line, Mark, Plot, Rule, Scale, Stack, Unit};

use crate::document::{Course, CoursePlot, Samples};
use crate::number::{Number, Source};

/// Marks of a line: more than a screen has places for.
const MARKS: usize = 300;

/// What several numbers are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// What they come to.
    Sum,
    /// What they are on average.
    Mean,
    /// The largest.
    Most,
}

/// `numbers` as one; `None` where there are none.
pub(crate) fn joined(mut numbers: Vec<Number>, how: Join) -> Option<Number> {
    let unit = numbers.first()?.unit;
    if numbers.len() == 1 {
        return numbers.pop();
    }
    debug_assert!(numbers.iter().all(|number| number.unit == unit), "numbers of one unit are put together");
    let values = || numbers.iter().map(|number| number.value);
    let value = match how {
        Join::Sum => values().sum(),
        Join::Mean => values().sum::<f64>() / numbers.len() as f64,
        Join::Most => values().fold(f64::MIN, f64::max),
    };
    let sources = numbers.into_iter().map(|number| number.source).collect();
    let source = match how {
        Join::Sum => Source::Sum(sources),
        Join::Mean => Source::Mean(sources),
        Join::Most => Source::Most(sources),
    };
    Some(Number { value, unit, source })
}

/// Numbers of one instant, in nanoseconds, as one; in the order of their instants, which `since` tells in seconds.
pub(crate) fn at_once(
    numbers: impl Iterator<Item = (u64, Number)>,
    how: Join,
    since: impl Fn(u64) -> f64,
) -> Samples {
    let mut all: BTreeMap<u64, Vec<Number>> = BTreeMap::new();
    for (at_ns, number) in numbers {
        all.entry(at_ns).or_default().push(number);
    }
    let samples: Samples =
        all.into_iter().filter_map(|(at_ns, numbers)| Some((since(at_ns), joined(numbers, how)?))).collect();
    debug_assert!(samples.is_sorted_by(|one, next| one.0 <= next.0), "samples follow each other in time");
    samples
}

/// As many as a drawing has places for: of each stretch what `how` makes of it, in its middle.
pub(crate) fn thinned(samples: Samples, how: Join) -> Samples {
    let each = samples.len().div_ceil(MARKS).max(1);
    if each == 1 {
        return samples;
    }
    let one = |stretch: &[(f64, Number)]| {
        let numbers = stretch.iter().map(|(_, number)| number.clone()).collect();
        Some((stretch[stretch.len() / 2].0, joined(numbers, how)?))
    };
    let kept: Samples = samples.chunks(each).filter_map(one).collect();
    debug_assert!(kept.len() <= MARKS, "no more than a drawing has places for");
    kept
}

/// Every so manieth of `samples` and the last one: of what only grows.
pub(crate) fn every_so_often(samples: Samples) -> Samples {
    let stride = samples.len().div_ceil(MARKS).max(1);
    let last = samples.len().saturating_sub(1);
    let is_kept = |index: usize| index.is_multiple_of(stride) || index == last;
    samples.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, sample)| sample).collect()
}

/// A share that stays below this part is shown from nothing to where it ends, and one above it from nothing to all.
const HALF: f64 = 0.4;
/// A rate whose highest sample is so many times its middle one, as of a cache that fills, is shown by its logarithm.
const TOWERS: f64 = 6.0;

fn values(plot: &CoursePlot) -> Vec<f64> {
    plot.lines.iter().flat_map(|(_, samples)| samples.iter().map(|(_, number)| number.value)).collect()
}

fn is_half_full(plot: &CoursePlot) -> bool {
    values(plot).into_iter().fold(0.0, f64::max) >= HALF
}

/// Whether few samples would press all others onto the zero line.
fn towers(plot: &CoursePlot) -> bool {
    let mut all: Vec<f64> = values(plot).into_iter().filter(|value| *value > 0.0).collect();
    all.sort_by(f64::total_cmp);
    let is_rate = matches!(plot.unit, Unit::PerSecond | Unit::BytesPerSecond);
    is_rate && all.last().zip(all.get(all.len() / 2)).is_some_and(|(most, middle)| most / middle > TOWERS)
}

/// The plots of `course` above each other: a latency by its logarithm, on axes that fit what is on them.
pub(crate) fn stack(course: &Course) -> Chart {
    let plot = |plot: &CoursePlot| {
        let line = |(hue, (name, samples)): (usize, &(String, Samples))| Line {
            name: name.clone(),
            hue: course.hues.get(hue).copied().unwrap_or(hue),
            points: marks(samples),
            ..Line::default()
        };
        let scale = if plot.unit == Unit::Nanos || towers(plot) { Scale::Log10 } else { Scale::Linear };
        Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y: Axis {
                range: (plot.unit == Unit::Share && is_half_full(plot)).then_some((0.0, 1.0)),
                ..Axis::new(&plot.measure, plot.unit, scale)
            },
            lines: plot.lines.iter().enumerate().map(line).collect(),
            rules: course
                .warm_up
                .map(|at| Rule::Event(at, "measured from here".into()))
                .into_iter()
                .collect(),
        }
    };
    Chart::Stack(Stack { plots: course.plots.iter().map(plot).collect() })
}

fn marks(samples: &Samples) -> Vec<Mark> {
    samples.iter().map(|(x, number)| Mark { x: *x, y: Some(number.value), ..Mark::default() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> Number {
        Number { value, unit: Unit::Count, source: Source::At(0, format!("/{value}")) }
    }

    #[test]
    fn a_stretch_is_what_its_samples_come_to_and_names_all_of_them() {
        let samples: Samples = (0..700_u32).map(|at| (f64::from(at), number(f64::from(at)))).collect();
        let (mean, most) = (thinned(samples.clone(), Join::Mean), thinned(samples.clone(), Join::Most));
        assert_eq!((mean.len(), mean[0].0, mean[0].1.value, most[0].1.value), (234, 1.0, 1.0, 2.0));
        assert_eq!(mean[0].1.source.to_string(), "mean(0/0,0/1,0/2)");
        let kept = every_so_often(samples);
        assert_eq!((kept.len(), kept[1].0, kept[233].0), (234, 3.0, 699.0));
    }

    #[test]
    fn numbers_of_one_instant_are_one_sample() {
        let numbers = [(2, number(5.0)), (1, number(1.0)), (2, number(7.0))];
        let at = |how| at_once(numbers.clone().into_iter(), how, |at_ns| at_ns as f64);
        let values =
            |samples: Samples| samples.into_iter().map(|(x, own)| (x, own.value)).collect::<Vec<_>>();
        assert_eq!(values(at(Join::Sum)), [(1.0, 1.0), (2.0, 12.0)]);
        assert_eq!(values(at(Join::Most)), [(1.0, 1.0), (2.0, 7.0)]);
    }
}
