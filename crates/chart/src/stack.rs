//! Plots above each other over one axis to the right: what happened at the same time stands in the same place.

use crate::plot::{Frame, Plot};
use crate::svg::Canvas;

/// Plots above each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// From top to bottom, each with the same lines in the same order. The axis to the right is that of the first, over
    /// what any of them shows.
    pub plots: Vec<Plot>,
}

impl Stack {
    /// The plots, their axes to the right equally long.
    fn aligned(&self) -> Vec<Plot> {
        let extent = self.plots.iter().flat_map(Plot::xs).filter(|x| x.is_finite()).fold(
            None,
            |extent: Option<(f64, f64)>, x| {
                let (low, high) = extent.unwrap_or((x, x));
                Some((low.min(x), high.max(x)))
            },
        );
        let last = self.plots.len().saturating_sub(1);
        let each = self.plots.iter().enumerate().map(|(place, plot)| {
            let mut plot = plot.clone();
            plot.x.range = plot.x.range.or(extent);
            // Its name once, at the bottom.
            if place < last {
                plot.x.name = String::new();
            }
            plot
        });
        each.collect()
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let plots = self.aligned();
        let mut frames: Vec<Frame> = plots.iter().map(|plot| plot.frame(width)).collect();
        let most = |of: fn(&Frame) -> f64| frames.iter().map(of).fold(0.0, f64::max);
        let (left, room) = (most(|frame| frame.left), most(|frame| frame.room));
        let mut from = 0.0;
        for (place, frame) in frames.iter_mut().enumerate() {
            // One legend is enough for the same lines.
            let legend = if place == 0 { frame.legend } else { 0.0 };
            let height = legend + (width * 0.3).clamp(150.0, 210.0);
            *frame = Frame { from, height, legend, left, room, ..frame.clone() };
            from += height;
        }
        let mut canvas = Canvas::new(width, from.max(1.0));
        for (plot, frame) in plots.iter().zip(&frames) {
            plot.draw(&mut canvas, width, frame, |_, _| ());
        }
        canvas.done(described)
    }

    pub(crate) fn text(&self, width: usize, rows: usize, unicode: bool) -> String {
        let each = (rows / self.plots.len().max(1)).max(7);
        self.aligned().iter().map(|plot| plot.text(width, each, unicode)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Line, Mark, Scale, Unit};

    fn stack() -> Stack {
        let plot = |name: &str, unit, until: u32| {
            let points =
                (0..=until).map(|x| Mark { x: x.into(), y: Some(f64::from(x) * 1e5), ..Mark::default() });
            let points: Vec<Mark> = points.collect();
            let line =
                |name: &str, hue| Line { name: name.into(), hue, points: points.clone(), ..Line::default() };
            Plot {
                x: Axis::new("time", Unit::Seconds, Scale::Linear),
                y: Axis::new(name, unit, Scale::Linear),
                lines: vec![line("RAID 5", 0), line("RAID 10", 1)],
                rules: Vec::new(),
            }
        };
        Stack { plots: vec![plot("done", Unit::Count, 100), plot("rate", Unit::PerSecond, 60)] }
    }

    #[test]
    fn the_same_time_stands_in_the_same_place_of_every_plot() {
        for width in [760.0, 344.0] {
            let drawing = Chart::Stack(stack()).svg(width, "a rebuild beside its load");
            let read = roxmltree::Document::parse(&drawing).expect("it must be XML");
            let axes: Vec<(&str, &str)> = read
                .descendants()
                .filter(|node| {
                    node.attribute("class") == Some("axis") && node.attribute("y1") == node.attribute("y2")
                })
                .filter_map(|node| Some((node.attribute("x1")?, node.attribute("x2")?)))
                .collect();
            assert_eq!(axes.len(), 2, "{drawing}");
            assert_eq!(axes[0], axes[1], "{width}");
            assert_eq!(drawing.matches(">time<").count(), 1, "the axis is named once");
            let named = if width < 480.0 { 1 } else { 2 };
            assert_eq!(drawing.matches(">RAID 10<").count(), named, "{width}");
        }
    }

    #[test]
    fn in_characters_plots_stand_below_each_other() {
        let text = Chart::Stack(stack()).text(60, true);
        let row = |words: &str| text.lines().position(|line| line.contains(words));
        assert!(row("done") < row("rate, IOPS") && row("done").is_some(), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }
}
