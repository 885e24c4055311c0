//! How many there are of each value at each time, as colours over two axes: a latency heat map.

use crate::plot::{Area, Plot};
use crate::ramp;
use crate::svg::{Anchor, Canvas};
use crate::unit::Unit;

/// Counts over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The axes, and what is drawn over the counts.
    pub plot: Plot,
    /// What is counted, as `requests`.
    pub what: String,
    /// Where something was counted. Where there is no cell, nothing was.
    pub cells: Vec<Patch>,
}

/// What was counted within a part of both axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// From where to where to the right.
    pub x: (f64, f64),
    /// The same upwards.
    pub y: (f64, f64),
    /// How many; above zero.
    pub count: f64,
}

/// Steps of colour: more than that nobody tells apart, and each takes a path of its own.
const STEPS: usize = 16;
/// The darkest that still stands out from dark paper.
const DARKEST: f64 = 0.22;
/// Room for the ramp below the axis, and for each of its steps: beside it there is room for words on a narrow drawing.
const LEGEND: f64 = 22.0;
const EACH: f64 = 5.0;

impl Density {
    /// The largest count.
    fn most(&self) -> f64 {
        self.cells.iter().map(|cell| cell.count).fold(1.0, f64::max)
    }

    /// How far up the ramp `count` is, 0 to 1: by its logarithm, since a few slow requests among thousands matter.
    pub(crate) fn part(&self, count: f64) -> f64 {
        let part = count.max(1.0).ln() / self.most().ln();
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 1.0 }
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let frame = self.plot.frame(width);
        let mut canvas = Canvas::new(width, frame.height + LEGEND);
        self.plot.draw(&mut canvas, width, &frame, |canvas, area| self.draw_cells(canvas, area));
        self.draw_legend(&mut canvas, frame.left, frame.height + 4.0);
        canvas.done(described)
    }

    fn draw_cells(&self, canvas: &mut Canvas, area: &Area) {
        let mut steps = vec![Vec::new(); STEPS];
        for cell in &self.cells {
            let ends =
                |axis: &crate::axis::Laid, (from, to): (f64, f64)| Some((axis.at(from)?, axis.at(to)?));
            let Some(((left, right), (low, high))) = ends(&area.x, cell.x).zip(ends(&area.y, cell.y)) else {
                continue;
            };
            let step: usize = units::convert::truncated((self.part(cell.count) * (STEPS - 1) as f64).round());
            debug_assert!(step < STEPS, "a colour of the ramp");
            steps[step].push(((left, high), (right - left, low - high)));
        }
        for (step, cells) in steps.iter().enumerate().filter(|(_, cells)| !cells.is_empty()) {
            canvas.cells(cells, &colour(step as f64 / (STEPS - 1) as f64));
        }
    }

    fn draw_legend(&self, canvas: &mut Canvas, left: f64, top: f64) {
        for step in 0..STEPS {
            let place = (left + EACH * step as f64, top);
            canvas.cell(place, (EACH + 0.3, 9.0), &colour(step as f64 / (STEPS - 1) as f64));
        }
        let text = format!("1 to {} {}", Unit::PerSecond.tick(self.most()), self.what);
        canvas.text((left + EACH * STEPS as f64 + 8.0, top + 9.0), Anchor::Start, "faint", &text);
    }
}

/// The colour `part` of the way up.
fn colour(part: f64) -> String {
    ramp::colour(DARKEST + part * (1.0 - DARKEST)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Rule, Scale};

    fn density() -> Density {
        let cell = |at: f64, low: f64, count: f64| Patch { x: (at, at + 1.0), y: (low, low * 1.25), count };
        Density {
            plot: Plot {
                x: Axis { range: Some((0.0, 4.0)), ..Axis::new("time", Unit::Seconds, Scale::Linear) },
                y: Axis { range: Some((1e5, 1e8)), ..Axis::new("latency", Unit::Nanos, Scale::Log10) },
                lines: Vec::new(),
                rules: vec![Rule::Event(2.0, "disk failed".into())],
            },
            what: "requests".into(),
            cells: vec![cell(0.0, 1e6, 1_000.0), cell(1.0, 1e6, 1_000.0), cell(2.0, 5e7, 1.0)],
        }
    }

    #[test]
    fn counts_are_colours_over_a_time_and_a_logarithm_and_nothing_is_drawn_where_nothing_was() {
        let drawing = Chart::Density(density()).svg(600.0, "latency");
        let read = roxmltree::Document::parse(&drawing).expect("it must be XML");
        let filled = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name("path") && node.attribute("fill").is_some_and(|fill| fill.starts_with('#'))
        };
        let paths: Vec<_> = read.descendants().filter(filled).collect();
        assert_eq!(paths.len(), 2, "two counts, two colours");
        let cells: usize =
            paths.iter().map(|path| path.attribute("d").unwrap_or("").matches('M').count()).sum();
        assert_eq!(cells, 3);
        for text in [">disk failed<", ">1 to 1,000 requests<", ">latency<", ">time<"] {
            assert!(drawing.contains(text), "{text}: {drawing}");
        }
    }

    #[test]
    fn neighbours_share_their_edge_to_the_last_digit() {
        let cells = (0..97).map(|at| {
            let at = f64::from(at) / 97.0 * 4.0;
            Patch { x: (at, at + 4.0 / 97.0), y: (1e6, 2e6), count: 1.0 }
        });
        let drawing = Chart::Density(Density { cells: cells.collect(), ..density() }).svg(613.0, "latency");
        let way = drawing.split("<path d=\"").find(|part| part.contains('H')).expect("the cells");
        let edges: Vec<(&str, &str)> = way
            .split('M')
            .skip(1)
            .filter_map(|cell| Some((cell.split(' ').next()?, cell.split('H').nth(1)?.split('V').next()?)))
            .collect();
        assert_eq!(edges.len(), 97);
        assert!(edges.windows(2).all(|two| two[0].1 == two[1].0), "{edges:?}");
    }

    #[test]
    fn one_slow_request_among_a_thousand_is_seen() {
        let density = density();
        assert!(density.part(1.0) < 1e-9 && density.part(1_000.0) > 0.999);
        assert!((density.part(1_000f64.sqrt()) - 0.5).abs() < 1e-9);
        let single = Density { cells: vec![Patch { count: 1.0, ..density.cells[0] }], ..density };
        assert!(single.part(1.0) > 0.999, "one count is the most");
    }

    #[test]
    fn in_characters_a_slow_one_stands_above_the_others() {
        for unicode in [true, false] {
            let text = Chart::Density(density()).text(60, unicode);
            let (much, little) = if unicode { ('█', '░') } else { ('#', '.') };
            let row = |letter| text.lines().skip(1).position(|line| line.contains(letter));
            assert!(row(little) < row(much) && row(little).is_some(), "{text}");
            assert!(text.contains("latency") && text.contains("time"), "{text}");
        }
    }
}
