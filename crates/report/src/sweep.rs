//! A sweep at a glance: one small curve for each phase that was swept.

use record::{Point, Run};
use units::OpsPerSecond;

use crate::style::Style;
use crate::words::{cut, harmless};

/// A curve needs more points than a look at the table takes.
const POINTS_MIN: usize = 3;

/// One phase over the values of its innermost sweep.
struct Sweep<'a> {
    phase: &'a str,
    key: &'a str,
    /// Swept value as text, and requests a second; one for each point, the best of its repetitions.
    points: Vec<(&'a str, f64)>,
}

/// One line for each phase of `run` that swept a single key over at least three values: its rates as a curve,
/// and where the best of them was.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    sweeps(run).iter().map(|sweep| line(sweep, style)).collect()
}

fn sweeps(run: &Run) -> Vec<Sweep<'_>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    for point in &run.points {
        let Some((key, value)) = only_swept(point) else { continue };
        let rate = rate(point);
        match sweeps.iter_mut().find(|sweep| sweep.phase == point.phase && sweep.key == key) {
            None => sweeps.push(Sweep { phase: &point.phase, key, points: vec![(value, rate)] }),
            Some(sweep) => match sweep.points.iter_mut().find(|(seen, _)| *seen == value) {
                Some((_, best)) => *best = best.max(rate),
                None => sweep.points.push((value, rate)),
            },
        }
    }
    sweeps.retain(|sweep| sweep.points.len() >= POINTS_MIN);
    sweeps
}

/// The key and value of a point with a single swept key.
fn only_swept(point: &Point) -> Option<(&str, &str)> {
    let mut swept = point.swept.iter();
    let (key, value) = swept.next()?;
    swept.next().is_none().then_some((key, value))
}

/// Requests a second of all workloads together.
fn rate(point: &Point) -> f64 {
    point.workloads.iter().filter_map(|workload| workload.total()).map(|total| total.ops_per_s.value).sum()
}

fn line(sweep: &Sweep<'_>, style: Style) -> String {
    let peak = sweep
        .points
        .iter()
        .copied()
        .fold(("", 0.0), |best, point| if point.1 > best.1 { point } else { best });
    let ends = |at: Option<&(&str, f64)>| at.map(|(value, _)| harmless(value)).unwrap_or_default();
    let key = harmless(sweep.key);
    let curve: String = sweep.points.iter().map(|(_, rate)| level(*rate, peak.1, style)).collect();
    let text = format!(
        "IOPS by {key} {} to {}  {curve}  most at {key} {}: {}",
        ends(sweep.points.first()),
        ends(sweep.points.last()),
        harmless(peak.0),
        OpsPerSecond::new(peak.1)
    );
    cut(&text, style.width, style.ellipsis())
}

/// The letter for `rate` where the highest letter stands for `peak` and the lowest for nothing.
fn level(rate: f64, peak: f64, style: Style) -> char {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const DIGITS: [char; 8] = ['1', '2', '3', '4', '5', '6', '7', '8'];
    let part = if peak > 0.0 { (rate / peak).clamp(0.0, 1.0) } else { 0.0 };
    let step = ((part * 8.0).ceil() as usize).clamp(1, 8) - 1;
    if style.unicode { BLOCKS[step] } else { DIGITS[step] }
}

#[cfg(test)]
mod tests {
    use super::*;

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
