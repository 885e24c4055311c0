//! Horizontal bars whose segments add up: where the time goes.

use crate::axis::Axis;
use crate::hue;
use crate::label::{self, Entry, broken, cut_within, width};
use crate::svg::{Anchor, Canvas, TYPE};
use crate::unit::Unit;

/// Bars over one axis that begins at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What their length is.
    pub axis: Axis,
    /// The kinds of segments, in the order of their hues.
    pub kinds: Vec<String>,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it is of.
    pub name: String,
    /// From left to right.
    pub segments: Vec<Segment>,
}

/// A part of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Which kind.
    pub kind: usize,
    /// How long.
    pub value: f64,
}

const HIGH: f64 = 26.0;
const ROW: f64 = 38.0;
/// Between the lines of the name of a bar.
const LINE: f64 = 14.0;

impl Bar {
    fn total(&self) -> f64 {
        self.segments.iter().map(|segment| segment.value).sum()
    }
}

impl Bars {
    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let entries = label::legend(self.kinds.iter().enumerate(), (0.0, width), (15.0, 16.0), TYPE);
        let top = label::lines(&entries) as f64 * 17.0 + 8.0;
        let names = self.bars.iter().map(|bar| self::width(&bar.name, TYPE)).fold(0.0, f64::max);
        let left = names.min(width * 0.32) + 12.0;
        let named: Vec<Vec<String>> =
            self.bars.iter().map(|bar| broken(&bar.name, left - 11.0, TYPE)).collect();
        let high = |lines: &Vec<String>| ROW.max(LINE * lines.len() as f64 + 8.0);
        let bottom = top + named.iter().map(high).sum::<f64>();
        let mut canvas = Canvas::new(width, bottom + 40.0);
        let totals = self.bars.iter().map(Bar::total);
        let widest =
            totals.clone().map(|total| self::width(&self.axis.unit.written(total), TYPE)).fold(0.0, f64::max);
        let axis = self.axis.laid(totals, left, width - widest - 14.0);
        for Entry { index, x, line, text } in &entries {
            canvas.rect((*x, 3.0 + 17.0 * *line as f64), (10.0, 10.0), &format!("f {}", hue(*index)));
            for (line, words) in (*line..).zip(text) {
                canvas.text((x + 15.0, 12.0 + 17.0 * line as f64), Anchor::Start, "", words);
            }
        }
        for (value, text) in axis.ticks(80.0) {
            let Some(at) = axis.at(value) else { continue };
            canvas.line((at, top), (at, bottom), "grid");
            canvas.text((at, bottom + 16.0), Anchor::Middle, "faint", &text);
        }
        let mut next = top;
        for (bar, named) in self.bars.iter().zip(&named) {
            let y = next + (high(named) - HIGH) / 2.0;
            next += high(named);
            let first = y + HIGH / 2.0 + 4.0 - LINE * (named.len() as f64 - 1.0) / 2.0;
            for (line, words) in (0u32..).zip(named) {
                canvas.text((0.0, first + LINE * f64::from(line)), Anchor::Start, "", words);
            }
            let end = self.draw(&mut canvas, &axis, bar, y);
            canvas.text(
                (end + 6.0, y + HIGH / 2.0 + 4.0),
                Anchor::Start,
                "",
                &self.axis.unit.written(bar.total()),
            );
        }
        let title = cut_within(&self.axis.title(), width - 4.0, TYPE);
        canvas.text((width - 4.0, bottom + 33.0), Anchor::End, "faint", &title);
        canvas.done(described)
    }

    /// Draws `bar` at `y`; returns where it ends.
    fn draw(&self, canvas: &mut Canvas, axis: &crate::axis::Laid, bar: &Bar, y: f64) -> f64 {
        let mut sum = 0.0;
        let mut from = axis.at(0.0).unwrap_or(0.0);
        for segment in &bar.segments {
            sum += segment.value;
            let Some(to) = axis.at(sum) else { continue };
            let name = self.kinds.get(segment.kind).map_or("", String::as_str);
            let share = Unit::Share.written(segment.value / bar.total());
            let told = format!("{}, {name}: {} ({share})", bar.name, self.axis.unit.written(segment.value));
            canvas.told(&told, |canvas| {
                canvas.rect((from, y), (to - from - 1.0, HIGH), &format!("f {}", hue(segment.kind)));
                // The largest are labelled in place.
                if width(name, TYPE) + 10.0 < to - from {
                    let middle = (f64::midpoint(from, to), y + HIGH / 2.0 + 4.0);
                    canvas.text(middle, Anchor::Middle, "inside", name);
                }
            });
            from = to;
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn segments_follow_each_other_and_the_largest_are_named_in_place() {
        let bars = Bars {
            axis: Axis::new("mean latency", Unit::Nanos, Scale::Linear),
            kinds: vec!["link".into(), "disk".into()],
            bars: vec![Bar {
                name: "RAID 5".into(),
                segments: vec![Segment { kind: 0, value: 2e5 }, Segment { kind: 1, value: 7.8e6 }],
            }],
        };
        let drawing = bars.svg(640.0, "time");
        roxmltree::Document::parse(&drawing).expect("it must be XML");
        assert_eq!(drawing.matches("class=\"inside\">disk<").count(), 1, "there is room for it");
        assert_eq!(drawing.matches("class=\"inside\">link<").count(), 0);
        assert!(drawing.contains(">8.00 ms<"), "their sum: {drawing}");
        assert!(drawing.contains("RAID 5, disk: 7.80 ms (97.5 %)"));
    }
}
