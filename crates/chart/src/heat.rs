//! Values of two keys as colours, with the value in each cell where there is room.

use crate::label::{broken, cut_within, width};
use crate::ramp;
use crate::svg::{Anchor, Canvas, TYPE};
use crate::unit::Unit;

/// A grid of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The key to the right.
    pub x_name: String,
    /// Its values, from left to right.
    pub columns: Vec<String>,
    /// The key upwards.
    pub y_name: String,
    /// Its values, from bottom to top.
    pub rows: Vec<String>,
    /// What the values count.
    pub unit: Unit,
    /// Values by row and column; absent where nothing was measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// The ends of the ramp, so that grids side by side can be compared; by the values where absent.
    pub range: Option<(f64, f64)>,
    /// Whether colours follow the logarithm of the values.
    pub logarithmic: bool,
}

const BOTTOM: f64 = 40.0;
const LEGEND: f64 = 34.0;
/// Between the lines of the name of a row.
const LINE: f64 = 14.0;
/// Pixels below which names of rows leave more room to the cells, and below which numbers in cells are small.
const NARROW: f64 = 480.0;
/// Small type.
const SMALL: f64 = 9.5;
/// An upright name is no longer.
const UPRIGHT: f64 = 150.0;
/// Columns up to which each has its name, upright where it has no room otherwise.
const NAMED: usize = 12;
/// The ramp of the legend, and the blank behind it.
const RAMP: f64 = 4.0 * 32.0 + 8.0;

impl Heat {
    /// The ends of the ramp.
    fn ends(&self) -> (f64, f64) {
        let values = self.values.iter().flatten().flatten().copied();
        let fits = |value: &f64| value.abs() < 1e200 && (!self.logarithmic || *value > 1e-200);
        let extent = values.filter(fits).fold(None, |extent: Option<(f64, f64)>, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = self.range.or(extent).unwrap_or((0.0, 1.0));
        if self.logarithmic { (low, high) } else { (low.min(0.0), high) }
    }

    /// How far up the ramp `value` is, 0 to 1.
    pub(crate) fn part(&self, value: f64) -> f64 {
        let (low, high) = self.ends();
        let part = match self.logarithmic {
            true if value <= 0.0 => 0.0,
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 }
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let names = self.rows.iter().map(|row| self::width(row, TYPE)).fold(0.0, f64::max);
        let left = names.min(width * if width < NARROW { 0.3 } else { 0.4 }) + 10.0;
        let each = (width - left - 4.0) / self.columns.len().max(1) as f64;
        // Cells of a map over time are narrow, those of a table are to be read.
        let high = match self.rows.len() {
            0..=14 => (each * 0.6).clamp(22.0, 34.0),
            15..=40 => 19.0,
            _ => 9.0,
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| broken(row, left - 7.0, TYPE)).collect();
        // A table of few rows has room for whole names, in as many lines as they take.
        let is_table = rows.len() <= 14;
        let most = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
        let high = if is_table { high.max(most * LINE + 4.0) } else { high };
        let top = if self.y_name.is_empty() { 4.0 } else { 22.0 };
        let bottom = top + high * self.rows.len() as f64;
        let names = self.columns.iter().map(|name| lines(name, each - 4.0).len()).max().unwrap_or(1);
        let below = match self.is_upright(each) {
            true => self.longest_column().min(UPRIGHT) + 26.0,
            // As many lines as names of columns are broken into.
            false => BOTTOM + LINE * names.saturating_sub(1) as f64,
        };
        let mut canvas = Canvas::new(width, bottom + below + LEGEND);
        canvas.text((0.0, 12.0), Anchor::Start, "faint", &self.y_name);
        for (index, row) in self.values.iter().enumerate() {
            let y = bottom - high * (index as f64 + 1.0);
            for (column, value) in row.iter().enumerate() {
                self.draw_cell(
                    &mut canvas,
                    (left + each * column as f64, y),
                    (each, high),
                    *value,
                    (index, column),
                );
            }
        }
        let stride = (16.0 / high).ceil().max(1.0);
        for (index, name) in self.rows.iter().enumerate().step_by(units::convert::truncated(stride)) {
            let middle = bottom - high * (index as f64 + 0.5) + 4.0;
            let cut = || vec![cut_within(name, left - 7.0, TYPE)];
            let told = if is_table { rows[index].clone() } else { cut() };
            let first = middle - LINE * (told.len() as f64 - 1.0) / 2.0;
            for (line, words) in (0u32..).zip(&told) {
                canvas.text((left - 6.0, first + LINE * f64::from(line)), Anchor::End, "faint", words);
            }
        }
        self.draw_columns(&mut canvas, left, each, bottom);
        canvas.text((width - 4.0, bottom + below - 6.0), Anchor::End, "faint", &self.x_name);
        self.draw_legend(&mut canvas, left, (bottom + below + 4.0, width));
        canvas.done(described)
    }

    fn draw_cell(
        &self,
        canvas: &mut Canvas,
        (x, y): (f64, f64),
        (each, high): (f64, f64),
        value: Option<f64>,
        (row, column): (usize, usize),
    ) {
        let gap = if each > 12.0 { 1.0 } else { 0.0 };
        let (place, size) = ((x, y), (each - gap, high - gap.min(1.0)));
        let Some(value) = value.filter(|value| value.is_finite()) else {
            if gap > 0.0 {
                canvas.rect(place, size, "hole");
            }
            return;
        };
        let (colour, dark) = ramp::colour(self.part(value));
        let text = self.unit.tick(value);
        let size_of_type = Some(self.size_of_type(each)).filter(|size| width(&text, *size) + 4.0 <= each);
        let fits = size_of_type.is_some() && high >= 16.0;
        if !fits && gap == 0.0 {
            canvas.cell(place, (each + 0.2, size.1), &colour);
            return;
        }
        let name = |names: &[String], index: usize| names.get(index).cloned().unwrap_or_default();
        let told = format!(
            "{} {}, {} {}: {}",
            self.x_name,
            name(&self.columns, column),
            self.y_name,
            name(&self.rows, row),
            self.unit.written(value)
        );
        canvas.told(&told, |canvas| {
            canvas.cell(place, size, &colour);
            if let Some(size) = size_of_type.filter(|_| fits) {
                canvas.text_on((x + each / 2.0, y + high / 2.0 + 4.0), size, dark, &text);
            }
        });
    }

    /// One size for all numbers of the map: the small one as soon as one of them has no room in the other.
    fn size_of_type(&self, each: f64) -> f64 {
        let values = self.values.iter().flatten().flatten().filter(|value| value.is_finite());
        let widest = values.map(|value| width(&self.unit.tick(*value), TYPE)).fold(0.0, f64::max);
        if widest + 4.0 <= each { TYPE } else { SMALL }
    }

    fn longest_column(&self) -> f64 {
        self.columns.iter().map(|name| width(name, TYPE)).fold(0.0, f64::max)
    }

    /// Whether names of columns stand upright: there are few, and beside each other they have no room.
    fn is_upright(&self, each: f64) -> bool {
        self.columns.len() <= NAMED && each >= TYPE && self.widest(each) > each
    }

    /// What the widest name of a column takes beside the next, in as many lines as it has room for.
    fn widest(&self, each: f64) -> f64 {
        let lines = self.columns.iter().flat_map(|name| lines(name, each - 4.0));
        lines.map(|line| width(line, TYPE)).fold(0.0, f64::max) + 6.0
    }

    fn draw_columns(&self, canvas: &mut Canvas, left: f64, each: f64, bottom: f64) {
        if self.is_upright(each) {
            for (index, name) in self.columns.iter().enumerate() {
                let x = left + each * (index as f64 + 0.5) + 4.0;
                canvas.upright((x, bottom + 8.0), "faint", &cut_within(name, UPRIGHT, TYPE));
            }
            return;
        }
        // Names of words break at their blanks; values of a key are left out where they would meet.
        let broken: Vec<Vec<&str>> = self.columns.iter().map(|name| lines(name, each - 4.0)).collect();
        let stride = units::convert::truncated::<usize>((self.widest(each) / each).ceil()).max(1);
        for (index, name) in broken.iter().enumerate().step_by(stride) {
            let x = left + each * (index as f64 + 0.5);
            for (line, words) in name.iter().enumerate() {
                canvas.text((x, bottom + 16.0 + 14.0 * line as f64), Anchor::Middle, "faint", words);
            }
        }
    }

    fn draw_legend(&self, canvas: &mut Canvas, left: f64, (top, right): (f64, f64)) {
        let (low, high) = self.ends();
        let unit = match self.unit.at_axis() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let text = format!("{} to {}{unit}", self.unit.tick(low), self.unit.tick(high));
        let left = left.min(right - RAMP - width(&text, TYPE)).max(0.0);
        for step in 0..32 {
            let part = f64::from(step) / 31.0;
            canvas.cell((left + 4.0 * f64::from(step), top), (4.3, 9.0), &ramp::colour(part).0);
        }
        canvas.text((left + RAMP, top + 9.0), Anchor::Start, "faint", &text);
    }
}

/// `name` in one line where it fits into `room`, else in two at the blank nearest to its middle.
fn lines(name: &str, room: f64) -> Vec<&str> {
    let middle = name.len() / 2;
    let blank = name.match_indices(' ').min_by_key(|(at, _)| at.abs_diff(middle));
    match blank {
        Some((at, _)) if width(name, TYPE) > room => vec![&name[..at], &name[at + 1..]],
        _ => vec![name],
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn heat() -> Heat {
        Heat {
            x_name: "queue depth".into(),
            columns: ["1", "8", "64"].map(String::from).into(),
            y_name: "block size".into(),
            rows: ["4 KiB", "64 KiB"].map(String::from).into(),
            unit: Unit::PerSecond,
            values: vec![
                vec![Some(100.0), Some(700.0), Some(2_000.0)],
                vec![Some(90.0), None, Some(1_200.0)],
            ],
            range: None,
            logarithmic: false,
        }
    }

    #[test]
    fn each_cell_has_its_value_and_what_was_not_measured_is_a_hole() {
        let drawing = heat().svg(480.0, "rates");
        roxmltree::Document::parse(&drawing).expect("it must be XML");
        assert_eq!(drawing.matches("class=\"hole\"").count(), 1);
        for text in [">100<", ">2,000<", ">1,200<", ">64 KiB<", ">queue depth<", ">0 to 2,000 IOPS<"] {
            assert!(drawing.contains(text), "{text}: {drawing}");
        }
    }

    #[test]
    fn on_a_narrow_screen_each_column_keeps_its_name_and_each_cell_its_number() {
        let columns = ["disks", "controller processor", "back link", "host adapter", "channel", "out"];
        let parts = Heat {
            columns: columns.map(String::from).into(),
            rows: vec!["RAID 10, 0% reads, queue depth 128".into(); 2],
            unit: Unit::Share,
            values: vec![vec![Some(0.125); 6]; 2],
            range: Some((0.0, 1.0)),
            ..heat()
        };
        // Just before names stand upright they still have to be all there.
        for width in (344..1000).map(f64::from) {
            let drawing = parts.svg(width, "utilization");
            let words = columns.iter().flat_map(|name| name.split(' '));
            words.for_each(|word| assert!(drawing.contains(word), "{word} at {width}: {drawing}"));
        }
        let drawing = parts.svg(344.0, "utilization");
        for name in columns {
            assert!(drawing.contains(&format!(">{name}<")), "{name}: {drawing}");
        }
        assert!(!drawing.contains('…'), "rows are named in several lines: {drawing}");
        assert_eq!(drawing.matches(">12.5\u{a0}%<").count(), 12, "{drawing}");
    }

    #[test]
    fn colours_go_from_zero_to_the_most_or_by_the_logarithm() {
        let heat = heat();
        assert!((heat.part(1_000.0) - 0.5).abs() < 1e-9);
        let latencies = Heat { logarithmic: true, range: Some((1e5, 1e7)), ..heat };
        assert!((latencies.part(1e6) - 0.5).abs() < 1e-9);
        assert!(latencies.part(0.0) < 1e-9 && latencies.part(1e9) > 0.999);
        let single = Heat { values: vec![vec![Some(5.0)]], range: None, logarithmic: true, ..latencies };
        assert!((single.part(5.0) - 0.5).abs() < 1e-9, "one value is in the middle");
    }
}
