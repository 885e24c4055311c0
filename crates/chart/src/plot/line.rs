//! One line of a plot: its points, the band around them, and what is written beside them.

use super::area::Area;
use crate::label::width;
use crate::svg::{Canvas, TYPE};
use crate::{HUES, hue};

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

impl Line {
    /// Where its points are drawn.
    pub(super) fn places<'a>(&'a self, area: &'a Area) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.points.iter().filter_map(|mark| place_of(mark, area))
    }

    /// Where its last point is drawn.
    pub(super) fn end(&self, area: &Area) -> Option<(f64, f64)> {
        self.points.iter().rev().find_map(|mark| place_of(mark, area))
    }

    /// Stretches without a gap.
    fn stretches(&self) -> impl Iterator<Item = &[Mark]> {
        self.points.split(|mark| mark.y.is_none()).filter(|stretch| !stretch.is_empty())
    }

    /// The class of its hue: each again for a line beyond the last, which is dotted.
    pub(super) fn class(&self) -> String {
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

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area, index: usize) {
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
            let placed = |mark| Some((mark, place_of(mark, area)?));
            let (marks, way): (Vec<&Mark>, Vec<(f64, f64)>) = stretch.iter().filter_map(placed).unzip();
            if way.len() > 1 && !self.apart {
                canvas.path(&way, self.dash(), &format!("l {class}"));
            }
            if self.marked || self.apart || way.len() == 1 {
                for (at, (mark, place)) in marks.into_iter().zip(&way).enumerate() {
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

/// Where a point is drawn; `None` where there is none, or no place for it on an axis.
fn place_of(mark: &Mark, area: &Area) -> Option<(f64, f64)> {
    Some((area.x.at(mark.x)?, area.y.at(mark.y?)?))
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
