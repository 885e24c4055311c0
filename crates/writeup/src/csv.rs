//! A report as tidy CSV: one number a line, with what it is of and where it comes from.

use crate::document::{Cell, Table, WriteUp};
use crate::number::Number;

/// The columns of [`csv`].
const COLUMNS: &str = "table,row,column,value,low,high,unit,source";

/// Every number of the report's tables: its table, the words of its row, its column, its value in base units, the ends of
/// its interval, its unit, and its place in the records.
pub fn csv(report: &WriteUp) -> String {
    let mut text = format!("{COLUMNS}\r\n");
    for table in report.tables() {
        for row in &table.rows {
            text += &of_row(table, row);
        }
    }
    text
}

fn of_row(table: &Table, row: &[Cell]) -> String {
    let words: Vec<&str> = row
        .iter()
        .filter_map(|cell| match cell {
            Cell::Words(words) => Some(words.as_str()),
            _ => None,
        })
        .collect();
    let words = words.join("; ");
    let mut text = String::new();
    for (column, cell) in table.columns.iter().zip(row) {
        let Cell::Number(number, interval) = cell else { continue };
        let end = |number: Option<&Number>| number.map(|number| number.value.to_string()).unwrap_or_default();
        let ends = interval.as_deref();
        let fields = [
            quoted(&table.title),
            quoted(&words),
            quoted(&column.title),
            number.value.to_string(),
            end(ends.map(|ends| &ends.0)),
            end(ends.map(|ends| &ends.1)),
            unit(number).to_owned(),
            quoted(&number.source.to_string()),
        ];
        text += &(fields.join(",") + "\r\n");
    }
    text
}

/// The base unit of a number, as the keys of records name it.
fn unit(number: &Number) -> &'static str {
    match number.unit {
        chart::Unit::PerSecond => "per_s",
        chart::Unit::BytesPerSecond => "bytes_per_s",
        chart::Unit::Nanos => "ns",
        chart::Unit::Seconds => "s",
        chart::Unit::Bytes => "bytes",
        chart::Unit::Share => "share",
        chart::Unit::Ratio => "ratio",
        chart::Unit::Count | chart::Unit::Tail => "count",
    }
}

/// A field in quotes where it needs them. A field that a spreadsheet would take for a formula begins with an apostrophe.
fn quoted(field: &str) -> String {
    let field = if field.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_are_words() {
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("plain"), "plain");
    }
}
