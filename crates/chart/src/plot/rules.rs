//! What a plot is held against: levels, limits and events, with their names.

use super::area::Area;
use super::line::Line;
use crate::label::{cut, width};
use crate::svg::{Anchor, Canvas, TYPE};

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

/// Draws `rules` across `area` and among `lines`, with their names above all of them.
pub(super) fn draw(rules: &[Rule], lines: &[Line], canvas: &mut Canvas, area: &Area) {
    // All lines first: none strikes out a name.
    for rule in rules {
        match rule {
            Rule::Level(at, _) => area.across(canvas, *at, "rule"),
            Rule::Limit(at, _) => area.across(canvas, *at, "limit"),
            Rule::Event(at, _) => area.upwards(canvas, *at),
        }
    }
    let ways: Vec<Vec<(f64, f64)>> =
        lines.iter().filter(|line| !line.apart).map(|line| line.places(area).collect()).collect();
    let mut names = Names { area, ways: &ways, taken: Vec::new() };
    for rule in rules {
        match rule {
            Rule::Level(at, name) => names.level(canvas, *at, name, "faint over"),
            Rule::Limit(at, name) => names.level(canvas, *at, name, "limit-text over"),
            Rule::Event(..) => {}
        }
    }
    for rule in rules {
        if let Rule::Event(at, name) = rule {
            names.event(canvas, *at, name);
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
