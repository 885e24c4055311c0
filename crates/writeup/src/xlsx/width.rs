//! How wide columns are, and how high their heads: a number that has no room is `###` in a spreadsheet.

use chart::Unit;
use units::convert::{narrow, truncated};

use crate::document::{Cell, Table};

use super::shown;

/// A column of numbers is no narrower, in letters.
const LEAST: f64 = 10.0;

/// The width that each number of a column of `table`, and each end of its interval, has room in.
pub(super) fn room(table: &Table, column: usize) -> f64 {
    let numbers = table.rows.iter().filter_map(|row| match row.get(column)? {
        Cell::Number(number, interval) => Some((number, interval)),
        _ => None,
    });
    let letters = numbers.flat_map(|(number, interval)| {
        let ends = interval.ends().into_iter().flat_map(|ends| [ends.0.value, ends.1.value]);
        std::iter::once(number.value).chain(ends).map(|value| letters(number.unit, value))
    });
    // A sign or a wider font beside them.
    letters.max().map_or(LEAST, |most| (f64::from(most) + 2.0).max(LEAST))
}

/// Letters of `value` as a sheet shows it.
fn letters(unit: Unit, value: f64) -> u32 {
    let (scale, format, _) = shown(unit);
    let value = value.abs() / scale * if unit == Unit::Share { 100.0 } else { 1.0 };
    if format.contains('E') || format == "General" || !value.is_finite() {
        return 8;
    }
    let whole = if value < 1.0 { 1 } else { truncated::<u32>(value.log10().floor()) + 1 };
    let apart = if format.contains(',') { (whole - 1) / 3 } else { 0 };
    let behind = format.split_once('.').map_or(0, |(_, behind)| narrow::<u32>(behind.len()) + 1);
    whole + apart + behind
}

/// Lines that `head` takes in a column of this width, in letters: broken between its words, of which bold ones are wider.
pub(super) fn lines_of(head: &str, width: f64) -> u32 {
    let (mut lines, mut used) = (1, 0.0);
    for word in head.split(' ') {
        let own = 1.15 * word.chars().count() as f64;
        if used > 0.0 && used + 1.0 + own > width {
            lines += 1;
            used = 0.0;
        }
        lines += narrow::<u32>(units::convert::truncated::<usize>(own / width));
        used += own + 1.0;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Column, Interval};
    use crate::number::{Number, Source};

    #[test]
    fn a_number_and_both_ends_of_its_interval_have_room_however_large_they_are() {
        let number = |value| Number { value, unit: Unit::Nanos, source: Source::At(0, "/a".into()) };
        let table = |value: f64| Table {
            title: "times".into(),
            columns: vec![Column::numbers("time", Unit::Nanos)],
            rows: vec![vec![Cell::Number(
                number(value),
                Interval::Ends(Box::new((number(value * 0.9), number(value * 1.2)))),
            )]],
        };
        assert_eq!(room(&table(1e6), 0), LEAST);
        // 12,000,000.000 ms at the upper end.
        assert_eq!(room(&table(1e13), 0), 16.0);
        assert_eq!(letters(Unit::Share, 0.125), 5);
        assert_eq!(letters(Unit::PerSecond, 1_234_567.0), 9);
        assert_eq!(letters(Unit::Nanos, 0.0), 5);
    }
}
