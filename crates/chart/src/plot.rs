//! Lines over two axes: against load, size, time or percentile.

use crate::axis::{Axis, Laid};
use crate::label::{broken, cut, spread, width};
use crate::svg::{Anchor, Canvas, TYPE};
use crate::{HUES, hue};

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

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What it is of; written at its end. Empty where another line, of which it is a repeat, is named for it.
    pub name: String,
    /// Which hue; the same configuration has the same one everywhere.
    pub hue: usize,
    /// Whether it is dashed: of a model, or of what was there before.
    pub dashed: bool,
    /// Whether each of its points has a mark; many points on a line of time have none.
    pub marked: bool,
    /// Whether its points are things of their own, which nothing joins.
    pub apart: bool,
    /// Its points, from left to right.
    pub points: Vec<Mark>,
}

/// One point of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// To the right.
    pub x: f64,
    /// Upwards; absent where nothing is known: a gap.
    pub y: Option<f64>,
    /// Its interval, or the band around it.
    pub band: Option<(f64, f64)>,
    /// What is written beside it; empty for nothing.
    pub label: String,
}

/// A straight line through the whole plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// An amount: a ceiling, a claim.
    Level(f64, String),
    /// A limit that is not to be exceeded.
    Limit(f64, String),
    /// A place on the way to the right: an event, a knee.
    Event(f64, String),
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
/// Room of a tick of the upward axis.
const TICKS: f64 = 48.0;
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

/// A plot with its axes laid.
pub(crate) struct Area {
    pub x: Laid,
    pub y: Laid,
    pub left: f64,
    right: f64,
    top: f64,
    pub bottom: f64,
    /// Room to the right of it, where the names of lines stand.
    beyond: f64,
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
        let longest = self.lines.iter().map(|line| self::width(&line.name, TYPE)).fold(0.0, f64::max);
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
        let left = ticks.iter().map(|(_, text)| self::width(text, TYPE)).fold(24.0, f64::max) + 10.0;
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
        self.draw_rules(canvas, &area);
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

    fn draw_rules(&self, canvas: &mut Canvas, area: &Area) {
        // All lines first: none strikes out a name.
        for rule in &self.rules {
            match rule {
                Rule::Level(at, _) => area.across(canvas, *at, "rule"),
                Rule::Limit(at, _) => area.across(canvas, *at, "limit"),
                Rule::Event(at, _) => area.upwards(canvas, *at),
            }
        }
        let ways: Vec<Vec<(f64, f64)>> =
            self.lines.iter().filter(|line| !line.apart).map(|line| line.places(area).collect()).collect();
        let mut names = Names { area, ways: &ways, taken: Vec::new() };
        for rule in &self.rules {
            match rule {
                Rule::Level(at, name) => names.level(canvas, *at, name, "faint over"),
                Rule::Limit(at, name) => names.level(canvas, *at, name, "limit-text over"),
                Rule::Event(..) => {}
            }
        }
        for rule in &self.rules {
            if let Rule::Event(at, name) = rule {
                names.event(canvas, *at, name);
            }
        }
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

impl Area {
    fn draw_axes(&self, canvas: &mut Canvas, name: &str) {
        for (value, text) in self.y.ticks(TICKS) {
            let Some(at) = self.y.at(value) else { continue };
            canvas.line((self.left, at), (self.right, at), "grid");
            canvas.text((self.left - 6.0, at + 4.0), Anchor::End, "faint", &text);
        }
        canvas.line((self.left, self.bottom), (self.right, self.bottom), "axis");
        let ticks = self.x.ticks(64.0);
        let last = ticks.len().saturating_sub(1);
        for (index, (value, text)) in ticks.iter().enumerate() {
            let Some(at) = self.x.at(*value) else { continue };
            canvas.line((at, self.bottom), (at, self.bottom + 4.0), "axis");
            let beyond = at + width(text, TYPE) / 2.0 > self.right + 16.0;
            let anchor = if index == last && beyond { Anchor::End } else { Anchor::Middle };
            canvas.text((at, self.bottom + 18.0), anchor, "faint", text);
        }
        canvas.text((self.right, self.bottom + 34.0), Anchor::End, "faint", name);
    }

    /// Where a level lies, if it is on the axis.
    fn height_of(&self, value: f64) -> Option<f64> {
        self.y.at(value).filter(|_| value >= self.y.from && value <= self.y.to)
    }

    fn across(&self, canvas: &mut Canvas, value: f64, class: &str) {
        if let Some(at) = self.height_of(value) {
            canvas.line((self.left, at), (self.right, at), &format!("{class} thin"));
        }
    }

    fn upwards(&self, canvas: &mut Canvas, value: f64) {
        if let Some(at) = self.x.at(value) {
            canvas.line((at, self.top), (at, self.bottom), "rule thin");
        }
    }
}

/// A box around a text: from left to right, from top to bottom.
type Room = ((f64, f64), (f64, f64));

/// Names of rules, which lie neither on each other nor, where there is a place, on a line.
struct Names<'a> {
    area: &'a Area,
    /// The lines of the plot.
    ways: &'a [Vec<(f64, f64)>],
    taken: Vec<Room>,
}

impl Names<'_> {
    /// The name of a level above its line or below it, at the left or at the right.
    fn level(&mut self, canvas: &mut Canvas, value: f64, name: &str, class: &str) {
        let Some(at) = self.area.height_of(value) else { return };
        let (left, right) = (self.area.left, self.area.right);
        let name = cut(name, right - left - 8.0, TYPE);
        let wide = width(&name, TYPE);
        let starts = [left + 6.0, right - 6.0 - wide];
        let places = [-5.0, TYPE + 2.0].into_iter().flat_map(|down| starts.map(|x| (x, at + down)));
        self.put(canvas, &places.collect::<Vec<_>>(), &name, class);
    }

    /// The name of an event beside its line, as near to the top as there is a place.
    fn event(&mut self, canvas: &mut Canvas, value: f64, name: &str) {
        let Some(at) = self.area.x.at(value).filter(|_| !name.is_empty()) else { return };
        let wide = width(name, TYPE);
        let is_beyond = at + wide + 8.0 > self.area.right;
        let x = if is_beyond { at - 5.0 - wide } else { at + 5.0 };
        let (first, last) = (self.area.top + 10.0, self.area.bottom - 4.0);
        let steps = (0..).map(|step| first + 5.0 * f64::from(step)).take_while(|y| *y <= last);
        self.put(canvas, &steps.map(|y| (x, y)).collect::<Vec<_>>(), name, "faint over");
    }

    /// Writes `name` at the first of `places` that is free of names and lines; else of names; else at the first.
    fn put(&mut self, canvas: &mut Canvas, places: &[(f64, f64)], name: &str, class: &str) {
        let wide = width(name, TYPE);
        let room = |(x, y): (f64, f64)| -> Room { ((x, x + wide), (y - TYPE, y + 3.0)) };
        let apart = |one: Room, other: &Room| {
            one.0.1 < other.0.0 || other.0.1 < one.0.0 || one.1.1 < other.1.0 || other.1.1 < one.1.0
        };
        let is_free = |place: &&(f64, f64)| self.taken.iter().all(|other| apart(room(**place), other));
        let is_clear =
            |place: &&(f64, f64)| is_free(place) && self.ways.iter().all(|way| !crosses(way, room(**place)));
        let found = places.iter().find(is_clear).or_else(|| places.iter().find(is_free)).or(places.first());
        let Some(place) = found.copied() else { return };
        self.taken.push(room(place));
        canvas.text(place, Anchor::Start, class, name);
    }
}

/// Whether a line goes through a box.
fn crosses(way: &[(f64, f64)], ((left, right), (top, bottom)): Room) -> bool {
    way.windows(2).any(|pair| {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        // The part of the stretch that lies between left and right.
        let at = |x: f64| if (x2 - x1).abs() < 1e-9 { y1 } else { y1 + (y2 - y1) * (x - x1) / (x2 - x1) };
        let (from, to) = (x1.min(x2).max(left), x1.max(x2).min(right));
        let is_upright = (x2 - x1).abs() < 1e-9;
        let (one, other) = if is_upright { (y1, y2) } else { (at(from), at(to)) };
        from <= to && one.min(other) <= bottom && one.max(other) >= top
    })
}

impl Line {
    /// Where its points are drawn.
    fn places<'a>(&'a self, area: &'a Area) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.points.iter().filter_map(|mark| Some((area.x.at(mark.x)?, area.y.at(mark.y?)?)))
    }

    /// Where its last point is drawn.
    fn end(&self, area: &Area) -> Option<(f64, f64)> {
        self.points.iter().rev().find_map(|mark| Some((area.x.at(mark.x)?, area.y.at(mark.y?)?)))
    }

    /// Stretches without a gap.
    fn stretches(&self) -> impl Iterator<Item = &[Mark]> {
        self.points.split(|mark| mark.y.is_none()).filter(|stretch| !stretch.is_empty())
    }

    /// The class of its hue: each again for a line beyond the last, which is dotted.
    fn class(&self) -> String {
        hue(self.hue % HUES)
    }

    /// How its stroke is broken.
    fn dash(&self) -> &'static str {
        match (self.dashed, self.hue < HUES) {
            (false, true) => "",
            (true, true) => "6 4",
            (false, false) => "2 3",
            (true, false) => "6 4 2 4",
        }
    }

    fn draw(&self, canvas: &mut Canvas, area: &Area, index: usize) {
        let class = self.class();
        for stretch in self.stretches() {
            // Between two points with an interval there is a band; past a point without one nothing is known.
            let banded = stretch.chunk_by(|one, next| one.band.is_some() && next.band.is_some());
            for known in banded.filter(|known| known.len() > 1 && !self.apart) {
                let band = |end: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
                    let place = |mark: &Mark| Some((area.x.at(mark.x)?, area.y.at(end(mark.band?))?));
                    known.iter().filter_map(place).collect()
                };
                let (lower, mut around) = (band(|band| band.0), band(|band| band.1));
                around.extend(lower.into_iter().rev());
                canvas.area(&around, 0.16, &format!("f {class}"));
            }
            let way: Vec<(f64, f64)> =
                stretch.iter().filter_map(|mark| Some((area.x.at(mark.x)?, area.y.at(mark.y?)?))).collect();
            if way.len() > 1 && !self.apart {
                canvas.path(&way, self.dash(), &format!("l {class}"));
            }
            if self.marked || self.apart || way.len() == 1 {
                for (at, (mark, place)) in stretch.iter().zip(&way).enumerate() {
                    self.draw_mark(canvas, area, mark, *place, index);
                    if !mark.label.is_empty() {
                        let places = beside(*place, way.get(at + 1), &mark.label, area.left);
                        canvas.label(&places, &mark.label);
                    }
                }
            }
        }
    }

    fn draw_mark(&self, canvas: &mut Canvas, area: &Area, mark: &Mark, (x, y): (f64, f64), index: usize) {
        let class = self.class();
        let ends = mark.band.and_then(|(low, high)| Some((area.y.at(low)?, area.y.at(high)?)));
        if let Some((low, high)) = ends {
            canvas.line((x, low), (x, high), &format!("l {class}"));
        }
        canvas.told(&self.told(area, mark), |canvas| canvas.mark((x, y), index, &class));
    }

    /// What is said of a point on which the pointer rests.
    fn told(&self, area: &Area, mark: &Mark) -> String {
        let (x, y) = (area.x.written(mark.x), area.y.written(mark.y.unwrap_or(f64::NAN)));
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let band =
            mark.band.map(|(low, high)| format!(" ({} to {})", area.y.written(low), area.y.written(high)));
        format!("{name}{y}{} at {x}", band.unwrap_or_default())
    }
}

/// Where the label of a point may begin, the best place first, so that the line to the `next` one does not lie on it: to the left
/// of what rises, and of the last; to the right of what goes straight upwards or falls. Not across the axis at `edge`.
fn beside((x, y): (f64, f64), next: Option<&(f64, f64)>, label: &str, edge: f64) -> Vec<(f64, f64)> {
    let beyond = x - 6.0 - width(label, TYPE);
    let (left, right) = ([(beyond, y - 7.0), (beyond, y + 16.0)], [(x + 6.0, y - 7.0), (x + 6.0, y + 16.0)]);
    let all = match next {
        Some((next_x, _)) if (next_x - x).abs() < 8.0 => [(x + 8.0, y + 4.0), left[0], right[1], left[1]],
        Some((_, next_y)) if *next_y > y => [right[0], left[1], left[0], right[1]],
        _ => [left[0], right[1], right[0], left[1]],
    };
    all.into_iter().filter(|(x, _)| *x >= edge + 2.0).collect()
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
