//! Lines over two axes: against load, size, time or percentile.

mod area;
mod line;
mod rules;

use crate::axis::Axis;
use crate::label::{broken, cut, spread};
use crate::svg::{Anchor, Canvas, TYPE};

pub(crate) use area::Area;
use area::TICKS;
pub use line::{Line, Mark};
pub use rules::Rule;

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn, in the order of its importance: beyond [`HUES`](crate::HUES) lines have the hues again and are dotted.
    pub lines: Vec<Line>,
    /// What it is held against.
    pub rules: Vec<Rule>,
}

/// Room between two labels below each other.
const APART: f64 = 15.0;
/// Between the end of a line and that of its name, apart from the name.
const BESIDE: f64 = 26.0;
/// Where names begin that stand above the plot, behind their marks.
const NAMES: f64 = 16.0;
/// Above the plot: the name of the upward axis.
const TOP: f64 = 26.0;
/// Below: ticks and the name of the other.
const BOTTOM: f64 = 40.0;
/// Pixels below which the names of lines stand above the plot instead of beside it.
const NARROW: f64 = 480.0;

/// The room that a plot takes in a drawing.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Where it begins.
    pub from: f64,
    /// How high it is, with its legend and the ticks below it.
    pub height: f64,
    /// How much of that is the legend above it.
    pub legend: f64,
    /// Room to the left of it, where ticks stand.
    pub left: f64,
    /// Room to the right of it, where the names of lines stand.
    pub room: f64,
    /// What stands in the legend: the lines of text of each name; empty where there is none.
    pub names: Vec<Vec<String>>,
    /// Whether names stand at the ends of lines.
    pub beside: bool,
}

impl Plot {
    /// Values that lie along the axis to the right, those of events with them.
    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> {
        let events = self.rules.iter().filter_map(|rule| match rule {
            Rule::Event(at, _) => Some(*at),
            _ => None,
        });
        self.lines.iter().flat_map(|line| &line.points).map(|mark| mark.x).chain(events)
    }

    /// Values that lie upwards. A ceiling far above all values would press them to the ground: it is left out.
    pub(crate) fn ys(&self) -> impl Iterator<Item = f64> {
        let marks = || self.lines.iter().flat_map(|line| &line.points);
        let bands = marks().filter_map(|mark| mark.band).flat_map(|(low, high)| [low, high]);
        let most = marks().filter_map(|mark| mark.y).fold(0.0, f64::max);
        let levels = self.rules.iter().filter_map(move |rule| match rule {
            Rule::Level(at, _) | Rule::Limit(at, _) if most == 0.0 || *at <= 2.5 * most => Some(*at),
            _ => None,
        });
        marks().filter_map(|mark| mark.y).chain(bands).chain(levels)
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let frame = self.frame(width);
        let mut canvas = Canvas::new(width, frame.height);
        self.draw(&mut canvas, width, &frame, |_, _| ());
        canvas.done(described)
    }

    /// The room that it takes by itself.
    pub(crate) fn frame(&self, width: f64) -> Frame {
        // At the ends of lines there is room for short names.
        let longest = self.lines.iter().map(|line| crate::label::width(&line.name, TYPE)).fold(0.0, f64::max);
        let beside = width >= NARROW && longest + BESIDE <= width * 0.3;
        let names: Vec<Vec<String>> = match !beside && self.lines.len() > 1 {
            true => self.lines.iter().map(|line| named(&line.name, width - NAMES)).collect(),
            false => Vec::new(),
        };
        debug_assert!(names.is_empty() || names.len() == self.lines.len(), "each line has its name");
        let lines = names.iter().flatten().count();
        let legend = if lines > 0 { lines as f64 * APART + 6.0 } else { 0.0 };
        let height = (width * 0.52).clamp(220.0, 380.0) + legend;
        let ticks = self.y.laid(self.ys(), height - BOTTOM, TOP + legend).ticks(TICKS);
        let left = ticks.iter().map(|(_, text)| crate::label::width(text, TYPE)).fold(24.0, f64::max) + 10.0;
        let room = if beside && self.lines.len() > 1 { longest + BESIDE } else { 18.0 };
        Frame { from: 0.0, height, legend, left, room, names, beside }
    }

    /// Draws it where `frame` says. What `beneath` draws lies on the grid, and below all lines.
    pub(crate) fn draw(
        &self,
        canvas: &mut Canvas,
        width: f64,
        frame: &Frame,
        beneath: impl FnOnce(&mut Canvas, &Area),
    ) {
        let area = self.area(width, frame);
        canvas.text((0.0, frame.from + TOP - 12.0 + frame.legend), Anchor::Start, "faint", &self.y.title());
        area.draw_axes(canvas, &self.x.title());
        beneath(canvas, &area);
        for (x, y) in self.lines.iter().filter(|line| line.marked).flat_map(|line| line.places(&area)) {
            canvas.keep_free((x, y));
        }
        for (index, line) in self.lines.iter().enumerate().rev() {
            line.draw(canvas, &area, index);
        }
        // Their names lie above all lines, none of which strikes them out.
        rules::draw(&self.rules, &self.lines, canvas, &area);
        if frame.legend > 0.0 {
            self.draw_legend(canvas, frame);
        } else if frame.beside {
            self.draw_names(canvas, &area);
        }
    }

    fn area(&self, width: f64, frame: &Frame) -> Area {
        let (top, bottom) = (frame.from + TOP + frame.legend, frame.from + frame.height - BOTTOM);
        let y = self.y.laid(self.ys(), bottom, top);
        let (left, right) = (frame.left, width - frame.room);
        debug_assert!(top < bottom, "a plot has a height");
        Area { x: self.x.laid(self.xs(), left, right), y, left, right, top, bottom, beyond: frame.room }
    }

    /// Names of lines at their ends, apart from each other.
    fn draw_names(&self, canvas: &mut Canvas, area: &Area) {
        if self.lines.len() < 2 {
            return;
        }
        let ends: Vec<(usize, &Line, f64)> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.name.is_empty())
            .filter_map(|(index, line)| Some((index, line, line.end(area)?.1)))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|end| end.2).collect();
        let places = spread(&wanted, APART, area.top + 4.0, area.bottom);
        for ((index, line, at), place) in ends.into_iter().zip(places) {
            let x = area.right + 8.0;
            if (place - at).abs() > 3.0 {
                canvas.line((area.right + 1.0, at), (x + 2.0, place), "grid");
            }
            canvas.mark((x + 6.0, place), index, &line.class());
            let name = cut(&line.name, area.beyond - 22.0, TYPE);
            canvas.text((x + 14.0, place + 4.0), Anchor::Start, &line.class(), &name);
        }
    }

    /// Names of lines above the plot, where there is no room beside it.
    fn draw_legend(&self, canvas: &mut Canvas, frame: &Frame) {
        let mut y = frame.from + 10.0;
        let named = self.lines.iter().zip(&frame.names).enumerate();
        for (index, (line, name)) in named.filter(|(_, (_, name))| !name.is_empty()) {
            canvas.mark((6.0, y - 4.0), index, &line.class());
            for words in name {
                canvas.text((NAMES, y), Anchor::Start, &line.class(), words);
                y += APART;
            }
        }
    }
}

/// The lines of text of a name in a legend; none of a line that has no name, as a repeat of one that is named.
fn named(name: &str, room: f64) -> Vec<String> {
    if name.is_empty() { Vec::new() } else { broken(name, room, TYPE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, Unit};

    pub(crate) fn plot() -> Plot {
        let line = |name: &str, hue: usize, factor: f64| Line {
            name: name.into(),
            hue,
            marked: true,
            points: [1.0, 2.0, 4.0, 8.0]
                .map(|x: f64| Mark { x, y: Some(factor * x.sqrt()), ..Mark::default() })
                .into(),
            ..Line::default()
        };
        Plot {
            x: Axis::new("queue depth", Unit::Count, Scale::Log2),
            y: Axis::new("rate", Unit::PerSecond, Scale::Linear),
            lines: vec![line("RAID 10", 0, 800.0), line("RAID 5", 1, 400.0)],
            rules: vec![Rule::Level(2_400.0, "14 disks: 2,400 IOPS".into())],
        }
    }

    fn count(drawing: &str, what: &str) -> usize {
        drawing.matches(what).count()
    }

    #[test]
    fn a_band_lies_only_between_neighbours_that_both_have_an_interval() {
        let areas = |known: &[usize]| {
            let mut plot = plot();
            plot.lines.truncate(1);
            for at in known {
                plot.lines[0].points[*at].band = Some((900.0, 1_100.0));
            }
            let drawing = plot.svg(640.0, "rates");
            (count(&drawing, "fill-opacity=\"0.2\"") + count(&drawing, "fill-opacity=\"0.1\""), drawing)
        };
        for (known, bands) in [(&[0, 2][..], 0), (&[0, 3], 0), (&[1, 2], 1), (&[0, 1, 2, 3], 1), (&[2], 0)] {
            let (found, drawing) = areas(known);
            assert_eq!(found, bands, "{known:?}: {drawing}");
        }
        // A point of its own has a bar.
        let bars = |drawing: &str| drawing.matches("class=\"l h0\"").count();
        assert_eq!(bars(&areas(&[2]).1), bars(&areas(&[]).1) + 1);
    }

    #[test]
    fn of_repeats_one_is_named_for_all() {
        let mut plot = plot();
        plot.lines[1].name = String::new();
        for width in [640.0, 300.0] {
            let drawing = plot.svg(width, "rates");
            let marks = |plot: &Plot| plot.svg(width, "rates").matches("<path").count();
            assert_eq!(count(&drawing, ">RAID 10<"), 1, "{drawing}");
            assert!(marks(&plot) <= marks(&super::tests::plot()), "no mark stands without a name");
        }
    }

    #[test]
    fn lines_are_named_at_their_ends_and_each_point_has_a_mark_of_its_series() {
        let drawing = plot().svg(640.0, "rates");
        roxmltree::Document::parse(&drawing).expect("it must be XML");
        assert_eq!(
            count(&drawing, "<path d"),
            2 + 4 + 1,
            "two lines, squares of the second, and one at its name"
        );
        assert_eq!(count(&drawing, "<circle"), 4 + 1);
        assert!(drawing.contains(">RAID 10</text>") && drawing.contains(">RAID 5</text>"));
        assert!(drawing.contains("14 disks: 2,400 IOPS"));
        assert!(drawing.contains("<title>RAID 5: 800 at 4</title>"), "{drawing}");
    }

    #[test]
    fn what_is_missing_is_a_gap() {
        let mut plot = plot();
        plot.lines.truncate(1);
        plot.lines[0].points[1].y = None;
        plot.lines[0].points.push(Mark { x: 16.0, y: Some(900.0), ..Mark::default() });
        let drawing = plot.svg(640.0, "rates");
        assert_eq!(count(&drawing, "class=\"l h0\""), 1, "only the stretch of three points is a line");
        assert_eq!(count(&drawing, "<circle"), 4);
    }

    #[test]
    fn a_point_without_a_place_on_an_axis_moves_none_of_those_behind_it() {
        let mut plot = plot();
        plot.lines.truncate(1);
        plot.lines[0].points[0].x = 0.0;
        let drawing = plot.svg(640.0, "rates");
        assert!(drawing.contains(" at 8</title>") && !drawing.contains(" at 0</title>"), "{drawing}");
    }

    #[test]
    fn a_ceiling_far_above_everything_does_not_press_the_lines_to_the_ground() {
        let mut plot = plot();
        plot.rules = vec![Rule::Level(1e6, "link".into())];
        let drawing = plot.svg(640.0, "rates");
        assert!(!drawing.contains(">link<"), "it is not on the plot");
        assert!(drawing.contains(">2,000<"));
    }

    #[test]
    fn the_name_of_an_event_stands_clear_of_those_of_levels() {
        let mut plot = plot();
        let most =
            plot.lines.iter().flat_map(|line| &line.points).filter_map(|mark| mark.y).fold(0.0, f64::max);
        plot.rules =
            vec![Rule::Level(most, "ceiling".into()), Rule::Event(plot.lines[0].points[0].x, "knee".into())];
        let drawing = plot.svg(640.0, "rates");
        let drawing = roxmltree::Document::parse(&drawing).expect("it must be XML");
        let y = |name: &str| -> f64 {
            let text =
                drawing.descendants().find(|node| node.has_tag_name("text") && node.text() == Some(name));
            text.and_then(|node| node.attribute("y")?.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
        };
        assert!((y("ceiling") - y("knee")).abs() >= APART, "{} and {}", y("ceiling"), y("knee"));
    }

    #[test]
    fn on_a_narrow_page_names_stand_above_the_plot() {
        let drawing = plot().svg(360.0, "rates");
        let first = drawing.find(">RAID 10<").expect("it is named");
        assert!(drawing[..first].ends_with(r#"<text x="16" y="10" class="h0""#), "{}", &drawing[..first]);
    }
}
