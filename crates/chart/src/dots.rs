//! Values with their intervals on one axis, row by row: configurations, states, effects, claims beside measurements.

use crate::axis::{Axis, Laid};
use crate::hue;
use crate::label::{self, Entry, cut_within, width};
use crate::svg::{Anchor, Canvas, TYPE};

/// Rows of dots over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// What the dots lie on.
    pub axis: Axis,
    /// What each series is, in the order of their hues; empty where there is one.
    pub series: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// The value that changes nothing, which is marked: 0 of a change, 1 of a ratio.
    pub neutral: Option<f64>,
    /// Where the axis ends before some values, which are marked at its edge with what they are.
    pub most: Option<f64>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// Its dots.
    pub dots: Vec<Dot>,
    /// Why it has none; empty otherwise.
    pub missing: String,
    /// Where its dots lie in one line, to be held beside each other: what is written behind them in place of their
    /// values, as their ratio. Empty where each dot has a line of its own.
    pub together: String,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Which series it belongs to.
    pub series: usize,
    /// The value.
    pub value: f64,
    /// Its interval.
    pub band: Option<(f64, f64)>,
}

const ROW: f64 = 20.0;
const BOTTOM: f64 = 40.0;
const LEGEND: f64 = 18.0;
/// From one line of a name to the next.
const LINE: f64 = 14.0;
/// Between a mark in the legend and its name.
const MARK: f64 = 13.0;
/// From the end of the axis to the tip of an arrow that points beyond it.
const BEYOND: f64 = 6.0;
/// Of the room behind the names of rows, what text behind the dots takes at most.
const BEHIND: f64 = 0.6;

/// Where what is told of a row stands, and how wide it may be.
#[derive(Clone, Copy)]
enum Room {
    /// In one line with its dots.
    Behind(f64),
    /// In lines of its own.
    Below(f64),
}

/// Lines of the name of a row: no more than three, else it is cut.
fn lines(name: &str, room: f64) -> Vec<String> {
    match label::broken(name, room, TYPE) {
        lines if lines.len() <= 3 => lines,
        _ => vec![cut_within(name, room, TYPE)],
    }
}

/// The name of a row in lines around `middle`.
fn named(name: &str, room: f64, middle: f64) -> Vec<(f64, String)> {
    let lines = lines(name, room);
    let first = middle - LINE * (lines.len() as f64 - 1.0) / 2.0;
    (0..).map(|line| first + LINE * f64::from(line)).zip(lines).collect()
}

/// What is told of a row in lines from `top` on.
fn below(told: &str, room: f64, top: f64) -> Vec<(f64, String)> {
    (0..).map(|line| top + LINE * (f64::from(line) + 0.4)).zip(lines(told, room)).collect()
}

impl Dots {
    /// Whether a dot lies behind the end of the axis.
    pub(crate) fn is_beyond(&self, dot: &Dot) -> bool {
        self.most.is_some_and(|most| dot.value > most)
    }

    /// Whether there is such a dot.
    pub fn has_beyond(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.dots).any(|dot| self.is_beyond(dot))
    }

    /// The values that the axis has to reach.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let dots = self.rows.iter().flat_map(|row| &row.dots).filter(|dot| !self.is_beyond(dot));
        dots.flat_map(|dot| {
            let (low, high) = dot.band.unwrap_or((dot.value, dot.value));
            [dot.value, low, high]
        })
    }

    /// What is written behind the dots.
    pub(crate) fn told(&self) -> impl Iterator<Item = String> {
        self.rows.iter().flat_map(|row| match row.together.as_str() {
            "" => row.dots.iter().map(|dot| self.axis.unit.written(dot.value)).collect(),
            told => vec![told.to_owned()],
        })
    }

    /// The series in the legend from `left` on, or from the edge where one of them has no room there: those that are there.
    fn legend(&self, left: f64, right: f64) -> Vec<Entry> {
        let dots = || self.rows.iter().flat_map(|row| &row.dots);
        let shown = |index: &usize| dots().any(|dot| dot.series == *index);
        let names = || self.series.iter().enumerate().filter(|(index, _)| shown(index));
        // One alone needs no name where there are no others.
        if self.series.len() < 2 {
            return Vec::new();
        }
        let fits = names().all(|(_, name)| left + MARK + self::width(name, TYPE) <= right);
        label::legend(names(), (if fits { left } else { 0.0 }, right), (MARK, 18.0), TYPE)
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let names = self.rows.iter().map(|row| self::width(&row.name, TYPE)).fold(0.0, f64::max);
        let left = names.min(width * 0.36) + 14.0;
        let room = self.room(width, left);
        let lanes: Vec<f64> = self.rows.iter().map(|row| row.height(left - 13.0, room)).collect();
        let entries = self.legend(left, width);
        let legend = match entries.len() {
            0 => 4.0,
            _ => 4.0 + label::lines(&entries) as f64 * LEGEND,
        };
        let bottom = legend + lanes.iter().sum::<f64>() + 6.0;
        let mut canvas = Canvas::new(width, bottom + BOTTOM);
        let ends = self.values().map(|value| self.axis.unit.written(value));
        let behind = match room {
            Room::Below(_) => 0.0,
            Room::Behind(room) => {
                let widest = match self.rows.iter().all(|row| row.together.is_empty()) {
                    true => ends.map(|text| self::width(&text, TYPE)).fold(0.0, f64::max),
                    false => self.told().map(|text| self::width(&text, TYPE)).fold(0.0, f64::max),
                };
                widest.min(room)
            }
        };
        let arrow = if self.has_beyond() { BEYOND } else { 0.0 };
        let axis = self.axis.laid(self.values().chain(self.neutral), left, width - behind - 18.0 - arrow);
        self.draw_legend(&mut canvas, &entries);
        self.draw_axis(&mut canvas, &axis, (legend, bottom), width);
        let mut top = legend;
        for (row, lane) in self.rows.iter().zip(lanes) {
            let (from, middle) = match room {
                Room::Behind(_) => (top + (lane - row.own_height()) / 2.0, top + lane / 2.0),
                Room::Below(_) => {
                    let named = lines(&row.name, left - 13.0).len() as f64 - 1.0;
                    (top, top + (ROW + named * LINE) / 2.0)
                }
            };
            for (y, line) in named(&row.name, left - 13.0, middle) {
                canvas.text((0.0, y + 4.0), Anchor::Start, "", &line);
            }
            self.draw_row(&mut canvas, &axis, row, from, (left, room));
            top += lane;
        }
        canvas.done(described)
    }

    /// Where what is told of a row has its place: behind its dots, or below them where it would take several lines there, which
    /// run into those of the next row.
    fn room(&self, width: f64, left: f64) -> Room {
        let behind = ((width - left) * BEHIND).floor();
        match self.rows.iter().all(|row| label::broken(&row.together, behind, TYPE).len() < 2) {
            true => Room::Behind(behind),
            false => Room::Below(width - left - 4.0),
        }
    }

    fn draw_legend(&self, canvas: &mut Canvas, entries: &[Entry]) {
        for Entry { index, x, line, text } in entries {
            canvas.mark((x + 4.0, 8.0 + *line as f64 * LEGEND), *index, &hue(*index));
            for (line, words) in (*line..).zip(text) {
                let y = 12.0 + line as f64 * LEGEND;
                canvas.text((x + MARK, y), Anchor::Start, &hue(*index), words);
            }
        }
    }

    fn draw_axis(&self, canvas: &mut Canvas, axis: &Laid, (top, bottom): (f64, f64), width: f64) {
        let neutral = self.neutral.and_then(|value| Some((value, axis.at(value)?)));
        // The value that changes nothing is always named; ticks that would lie on its name are not.
        let is_free = |at: f64| neutral.is_none_or(|(_, zero)| (at - zero).abs() >= 40.0);
        for (value, text) in axis.ticks(70.0) {
            let Some(at) = axis.at(value).filter(|at| is_free(*at)) else { continue };
            canvas.line((at, top), (at, bottom), "grid");
            canvas.text((at, bottom + 16.0), Anchor::Middle, "faint", &text);
        }
        if let Some((value, zero)) = neutral {
            canvas.line((zero, top), (zero, bottom), "axis");
            canvas.text((zero, bottom + 16.0), Anchor::Middle, "faint", &self.axis.unit.tick(value));
        }
        let title = cut_within(&self.axis.title(), width - 4.0, TYPE);
        canvas.text((width - 4.0, bottom + 33.0), Anchor::End, "faint", &title);
    }

    fn draw_row(&self, canvas: &mut Canvas, axis: &Laid, row: &Row, top: f64, (left, room): (f64, Room)) {
        if row.dots.is_empty() {
            let missing = if row.missing.is_empty() { "not measured" } else { &row.missing };
            canvas.text((left, top + ROW / 2.0 + 4.0), Anchor::Start, "faint over", missing);
        }
        let (mut last, mut edged): (f64, f64) = (left, 0.0);
        for (lane, dot) in row.dots.iter().enumerate() {
            let lane = if row.together.is_empty() { lane } else { 0 };
            let y = top + ROW * (lane as f64 + 0.5);
            let Some(x) = axis.at(dot.value) else { continue };
            let class = hue(dot.series);
            let is_beyond = self.is_beyond(dot);
            let ends = dot.band.and_then(|(low, high)| Some((axis.at(low)?, axis.at(high)?)));
            let right = if is_beyond { x + BEYOND } else { ends.map_or(x, |(_, high)| high.max(x)) };
            // Of several that lie at the edge each is seen.
            let x = if is_beyond && lane == 0 { x - edged } else { x };
            edged += if is_beyond { BEYOND } else { 0.0 };
            let series = self.series.get(dot.series).map_or("", String::as_str);
            let more = if is_beyond { ", beyond the axis" } else { "" };
            let written = self.axis.unit.written(dot.value);
            canvas.told(&format!("{series} {}: {written}{more}", row.name), |canvas| {
                if is_beyond {
                    return canvas.beyond((x, y), &class);
                }
                if let Some((low, high)) = ends {
                    canvas.line((low, y), (high, y), &format!("l {class} thick"));
                }
                canvas.mark((x, y), dot.series, &class);
            });
            last = last.max(right);
            if row.together.is_empty() {
                let told = self.axis.unit.written(dot.value);
                let x = self.beside_neutral(axis, right + 9.0, &told);
                canvas.text((x, y + 4.0), Anchor::Start, "over", &told);
            }
        }
        if row.together.is_empty() || row.dots.is_empty() {
            return;
        }
        let (x, told) = match room {
            Room::Behind(room) => (
                self.beside_neutral(axis, last + 9.0, &row.together),
                named(&row.together, room, top + ROW * 0.5),
            ),
            Room::Below(room) => (left, below(&row.together, room, top + ROW)),
        };
        for (y, line) in told {
            canvas.text((x, y + 4.0), Anchor::Start, "over", &line);
        }
    }

    /// Where `told` begins that would begin at `x`: behind the line of the neutral value where that would strike it out.
    fn beside_neutral(&self, axis: &Laid, x: f64, told: &str) -> f64 {
        let zero = self.neutral.and_then(|value| axis.at(value));
        let struck = zero.filter(|zero| x - 3.0 < *zero && *zero < x + width(told, TYPE) + 3.0);
        struck.map_or(x, |zero| zero + 6.0)
    }
}

impl Row {
    /// Of its dots alone.
    fn own_height(&self) -> f64 {
        let lanes = if self.together.is_empty() { self.dots.len().max(1) } else { 1 };
        lanes as f64 * ROW
    }

    /// With room to the next one, for its name in lines of `wide` pixels, and for what is told of it in `room`.
    fn height(&self, wide: f64, room: Room) -> f64 {
        let named = lines(&self.name, wide).len() as f64 * LINE + 8.0;
        let (own, apart) = match (room, self.together.is_empty()) {
            (_, true) => (self.own_height(), 8.0),
            (Room::Behind(_), false) => (self.own_height(), 2.0),
            (Room::Below(room), false) => {
                (self.own_height() + lines(&self.together, room).len() as f64 * LINE, 10.0)
            }
        };
        (own + apart).max(if named > LINE + 8.0 { named } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, Unit};

    fn dots() -> Dots {
        let dot = |series, value: f64| Dot { series, value, band: Some((value * 0.95, value * 1.05)) };
        Dots {
            axis: Axis::new("rate", Unit::PerSecond, Scale::Linear),
            series: vec!["healthy".into(), "rebuilding".into()],
            rows: vec![
                Row {
                    name: "random read".into(),
                    dots: vec![dot(0, 2_000.0), dot(1, 900.0)],
                    ..Row::default()
                },
                Row {
                    name: "random write".into(),
                    missing: "not measured: cut short".into(),
                    ..Row::default()
                },
            ],
            neutral: None,
            most: None,
        }
    }

    #[test]
    fn dots_that_are_held_beside_each_other_lie_in_one_line_with_what_is_told_of_them() {
        let mut together = dots();
        together.rows[0].together = "0.45×".into();
        let drawing = together.svg(640.0, "states");
        let apart = dots().svg(640.0, "states");
        assert!(drawing.contains(">0.45×<") && !drawing.contains(">900<"), "{drawing}");
        let height = |drawing: &str| {
            let text = drawing
                .split_once(" height=\"")
                .and_then(|(_, rest)| rest.split_once('"'))
                .expect("it has one")
                .0;
            text.parse::<f64>().expect("a number")
        };
        assert!(height(&drawing) < height(&apart), "one line in place of two");
    }

    #[test]
    fn what_lies_beyond_the_axis_is_an_arrow_at_its_edge_and_presses_nothing_together() {
        let mut beyond = dots();
        beyond.rows[0].together = "2,000: 2.2 % of 90,000".into();
        beyond.rows[0].dots.push(Dot { series: 1, value: 90_000.0, band: None });
        let place = |drawing: &str| {
            let from = drawing.rfind("<circle cx=\"").expect("a dot") + "<circle cx=\"".len();
            drawing[from..].split('"').next().and_then(|x| x.parse::<f64>().ok()).expect("a place")
        };
        let pressed = place(&beyond.svg(640.0, "claims"));
        beyond.most = Some(5_000.0);
        let drawing = beyond.svg(640.0, "claims");
        assert!(place(&drawing) > 2.0 * pressed, "{drawing}");
        assert!(drawing.contains("rebuilding random read: 90,000, beyond the axis"), "{drawing}");
        let text = beyond.text(100, true);
        assert!(text.lines().any(|line| line.contains('●') && line.contains('▸')), "{text}");
        assert!(!dots().has_beyond() && beyond.has_beyond());
        // Also where the dot is itself at the edge, and drawn after it.
        let far = beyond.rows[0].dots[0].value;
        (beyond.most, beyond.rows) = (Some(far), vec![beyond.rows[0].clone()]);
        beyond.rows[0].dots.reverse();
        let text = beyond.text(100, true);
        assert!(text.lines().any(|line| line.contains('●') && line.contains('▸')), "{text}");
    }

    #[test]
    fn what_is_told_of_a_row_never_runs_into_the_next_one_however_narrow_the_drawing() {
        let mut told = dots();
        told.rows = ["4", "8", "14"]
            .map(|disks| Row {
                name: format!("RAID 10, disks {disks}"),
                dots: vec![Dot { series: 0, value: 2_733.0, band: None }],
                together: "2,733: 109 % of 2,500, 190 % of 1,440".into(),
                ..Row::default()
            })
            .into();
        for width in [320.0, 344.0, 400.0, 760.0] {
            let drawing = told.svg(width, "cells");
            let read = roxmltree::Document::parse(&drawing).expect("it must be XML");
            let texts = |class: Option<&str>| -> Vec<f64> {
                let own = read
                    .descendants()
                    .filter(|node| node.has_tag_name("text") && node.attribute("class") == class);
                own.filter_map(|node| node.attribute("y")?.parse().ok()).collect()
            };
            let (names, lines) = (texts(None), texts(Some("over")));
            let rows: Vec<f64> =
                told.rows.iter().zip(names.iter().step_by(names.len() / 3)).map(|(_, y)| *y).collect();
            // Within a row lines are 14 pixels apart; to the next row it is more.
            for (last, next) in lines.iter().zip(&lines[1..]) {
                let is_next = rows.iter().any(|y| last < y && y <= &(next + 1.0));
                assert!(!is_next || next - last > LINE + 4.0, "{width}: {lines:?} of {rows:?}");
            }
        }
    }

    #[test]
    fn a_legend_without_room_goes_on_in_the_next_line() {
        let mut wide = dots();
        wide.series = ["published", "modelled: foretold", "modelled: fitted", "modelled: does not count"]
            .map(str::to_owned)
            .to_vec();
        wide.rows[1].dots = (0..4).map(|series| Dot { series, value: 500.0, band: None }).collect();
        let lines = |width: f64| wide.legend(100.0, width).iter().map(|entry| entry.line).collect::<Vec<_>>();
        assert_eq!(lines(760.0), [0; 4]);
        assert_eq!(lines(344.0), [0, 0, 1, 2]);
        // Only what is there is named.
        wide.rows[1].dots.clear();
        assert_eq!(wide.legend(100.0, 760.0).len(), 2);
    }

    #[test]
    fn the_neutral_value_has_its_tick_and_strikes_out_no_label() {
        let dot = |value| Dot { series: 0, value, band: Some((value * 0.99, value * 1.01)) };
        let row = |value| Row { name: format!("at {value}"), dots: vec![dot(value)], ..Row::default() };
        let ratios = Dots {
            axis: Axis::new("ratio", Unit::Ratio, Scale::Log2),
            series: vec!["significant".into(), "not significant".into()],
            rows: [0.95, 0.97, 1.3, 1.6].map(row).into(),
            neutral: Some(1.0),
            most: None,
        };
        let drawing = ratios.svg(760.0, "effects");
        assert!(drawing.contains(">1×<"), "{drawing}");
        assert!(drawing.contains(">significant<") && !drawing.contains(">not significant<"), "{drawing}");
        let read = roxmltree::Document::parse(&drawing).expect("it must be XML");
        let place = |node: roxmltree::Node<'_, '_>, name| node.attribute(name)?.parse::<f64>().ok();
        let line = read.descendants().find(|node| node.attribute("class") == Some("axis"));
        let zero = line.and_then(|line| place(line, "x1")).expect("the line of one");
        for label in read.descendants().filter(|node| node.attribute("class") == Some("over")) {
            let (from, text) = (place(label, "x").expect("a place"), label.text().unwrap_or_default());
            assert!(from > zero || from + self::width(text, TYPE) < zero, "{text} at {from}: {zero}");
        }
    }

    #[test]
    fn a_name_that_is_wider_than_the_drawing_is_broken_and_not_cut_off() {
        let mut wide = dots();
        wide.series[0] = "array:px6-300d?raid=10&protocol=nfs3&cache=on, of the first of two runs".into();
        let drawing = wide.svg(360.0, "states");
        let named: Vec<&str> =
            drawing.split("class=\"h0\">").skip(1).map(|rest| &rest[..rest.find('<').unwrap_or(0)]).collect();
        assert_eq!(named.len(), 2, "{drawing}");
        let whole = named.join(" ").replace("&amp; ", "&amp;").replace("&amp;", "&");
        assert_eq!(whole, wide.series[0], "nothing is lost");
    }

    #[test]
    fn however_much_is_told_of_a_row_its_dots_have_room_and_a_larger_value_lies_further_right() {
        let mut dots = dots();
        dots.rows[0].dots.truncate(1);
        dots.rows[1] = Row {
            name: "random write".into(),
            dots: vec![Dot { series: 0, value: 900.0, band: None }],
            ..Row::default()
        };
        dots.rows.iter_mut().for_each(|row| row.together = "2,816: 93.9 % of 3,000, 112 % of 2,520".into());
        for width in [320.0, 400.0, 760.0] {
            let drawing = dots.svg(width, "what is claimed");
            let marks: Vec<f64> = drawing
                .split("<circle cx=\"")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
                .collect();
            // The first mark is the legend's where there is one.
            let [.., large, small] = marks.as_slice() else { panic!("{drawing}") };
            assert!(large > small && *large < width, "{width}: {marks:?}");
        }
    }

    #[test]
    fn each_value_stands_beside_its_dot_and_what_is_missing_says_why() {
        let drawing = dots().svg(640.0, "states");
        roxmltree::Document::parse(&drawing).expect("it must be XML");
        for text in [">random read<", ">2,000<", ">900<", ">not measured: cut short<", ">rebuilding<"] {
            assert!(drawing.contains(text), "{text}: {drawing}");
        }
        assert_eq!(drawing.matches("thick").count(), 2, "an interval for each dot");
    }
}
