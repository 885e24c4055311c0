//! What is set otherwise on the sides of a comparison.

use record::{Comparison, Setting};
use unicode_width::UnicodeWidthStr;

use super::{name_of, wrapped};
use crate::style::Style;
use crate::table::{Cell, Column, Table};
use crate::words::{cut, harmless, wrap};

pub(super) fn settings(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.settings.is_empty() {
        return wrapped(&["No configuration differences are known.".into()], style);
    }
    let told = |key: &str, one: &Setting| harmless(&format!("{key} {}", one.told()));
    let options = || comparison.settings.iter().filter_map(|one| Some(told(one.option()?, one)));
    let has_options = options().next().is_some();
    let loads = comparison.load_settings().filter_map(|one| Some(told(one.load()?, one)));
    let named: Vec<String> = options().chain(loads).collect();
    let names: Vec<String> =
        (0u32..).zip(&comparison.sides).map(|(side, _)| name_of(comparison, side)).collect();
    let mut lines = Vec::new();
    // The address of an array says no more than its options.
    let mut others = comparison.clone();
    if !named.is_empty() {
        let but = comparison.mixed().map(|_| format!("; {LOADS_DIFFER}")).unwrap_or_default();
        lines = wrapped(&[format!("{} differ in: {}{but}.", names.join(" and "), named.join(", "))], style);
        others.settings.retain(|one| {
            one.option().is_none() && one.load().is_none() && (one.key != Setting::TARGET || !has_options)
        });
    }
    if others.settings.is_empty() {
        return lines;
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let keys = others.settings.iter().map(|setting| setting.key.width()).max().unwrap_or(0);
    let sides = comparison.sides.len().max(1);
    // Of two sides one may be as wide as the screen leaves it, so that both are read in full, over several lines.
    let room = style.width.saturating_sub(keys.max(DIFFERENCE.len()) + 2 * sides) / sides;
    lines.extend(settings_table(&others, room.max(VALUE_MIN)).draw(style).lines);
    lines
}

/// What is said where both storage and load differ.
pub const LOADS_DIFFER: &str = "the loads differ, so this is no ratio of the storage";

/// The heading of what differs.
const DIFFERENCE: &str = "configuration differences";
/// A value is not broken into lines shorter than this.
const VALUE_MIN: usize = 12;

/// A row for each setting, and one more for each line that a value takes in `room`.
pub(super) fn settings_table(comparison: &Comparison, room: usize) -> Table {
    let mut columns = vec![Column::words(DIFFERENCE)];
    columns
        .extend((0u32..).zip(&comparison.sides).map(|(side, _)| Column::words(&name_of(comparison, side))));
    let rows = |setting: &Setting| {
        let value = |value: &Option<String>| {
            let lines = wrap(&harmless(&short(value.as_deref().unwrap_or("-"), room)), room, "", "");
            lines.iter().flat_map(|line| pieces(line, room)).collect()
        };
        let values: Vec<Vec<String>> = setting.values.iter().map(value).collect();
        let height = values.iter().map(Vec::len).max().unwrap_or(1);
        let row = |line: usize| {
            let key = if line == 0 { harmless(&setting.key) } else { String::new() };
            let parts = values.iter().map(|lines| lines.get(line).cloned().unwrap_or_default());
            std::iter::once(key).chain(parts).map(Cell::plain).collect::<Vec<_>>()
        };
        debug_assert_eq!(values.len(), comparison.sides.len(), "a value, or none, for each side");
        (0..height).map(row).collect::<Vec<_>>()
    };
    Table { columns, rows: comparison.settings.iter().flat_map(rows).collect() }
}

/// Lines that a value takes at most.
const VALUE_LINES: usize = 3;

/// `value`, or of a text with a reason behind it what stands before that, and no more than some lines of `room`.
fn short(value: &str, room: usize) -> String {
    if room == usize::MAX {
        return value.to_owned();
    }
    let is_long = |text: &str| wrap(text, room, "", "").len() > VALUE_LINES;
    let ends = [": ", "; ", ", because ", " because ", " (", ", "];
    let before = |end: &str| value.split_once(end).map(|(before, _)| before);
    match is_long(value) {
        false => value.to_owned(),
        true => {
            let brief = ends.into_iter().filter_map(before).find(|text| !is_long(text)).unwrap_or(value);
            cut(brief, room * VALUE_LINES - 1, "…")
        }
    }
}

/// A word that is longer than a line, such as mount options, in several.
fn pieces(line: &str, room: usize) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    letters.chunks(room).map(|piece| piece.iter().collect()).collect()
}
