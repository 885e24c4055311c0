//! A report as tidy CSV: one number a line, with what it is of and where it comes from.

use report::csv_cell;

use crate::document::{Cell, Column, Table, WriteUp};
use crate::number::Number;

/// The columns of [`csv`].
pub(crate) const COLUMNS: [&str; 8] = ["table", "row", "column", "value", "low", "high", "unit", "source"];

/// One number of a report's tables, with what it is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tidy {
    /// The table.
    pub table: String,
    /// The words of its row.
    pub row: String,
    /// Its column.
    pub column: String,
    /// In base units.
    pub value: f64,
    /// The ends of its interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Its base unit.
    pub unit: &'static str,
    /// Its place in the records.
    pub source: String,
}

/// Every number of the report's tables, in their order.
pub(crate) fn tidy(report: &WriteUp) -> Vec<Tidy> {
    report.tables().flat_map(|table| table.rows.iter().flat_map(|row| of_row(table, row))).collect()
}

/// Every number of the report's tables: its table, the words of its row, its column, its value in base units, the ends of
/// its interval, its unit, and its place in the records.
pub fn csv(report: &WriteUp) -> Result<String, CsvError> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    let end = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in tidy(report) {
        let Tidy { table, row, column, value, low, high, unit, source } = row;
        let cells = [table, row, column, value.to_string(), end(low), end(high), unit.to_owned(), source];
        writer.write_record(cells.iter().map(|text| csv_cell(text)))?;
    }
    let bytes = writer.into_inner().map_err(|error| CsvError(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CsvError(error.to_string()))
}

/// Why a report could not be written as CSV.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as CSV: {0}")]
pub struct CsvError(String);

impl From<csv::Error> for CsvError {
    fn from(error: csv::Error) -> CsvError {
        CsvError(error.to_string())
    }
}

/// The lines of one row of a table.
fn of_row(table: &Table, row: &[Cell]) -> Vec<Tidy> {
    let words = row.iter().filter_map(|cell| match cell {
        Cell::Words(words) => Some(words.as_str()),
        _ => None,
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let line = |(column, cell): (&Column, &Cell)| {
        let Cell::Number(number, interval) = cell else { return None };
        let ends = interval.ends();
        Some(Tidy {
            table: table.title.clone(),
            row: words.clone(),
            column: column.title.clone(),
            value: number.value,
            low: ends.map(|ends| ends.0.value),
            high: ends.map(|ends| ends.1.value),
            unit: unit(number),
            source: number.source.to_string(),
        })
    };
    table.columns.iter().zip(row).filter_map(line).collect()
}

/// The base unit of a number, as the keys of records name it.
fn unit(number: &Number) -> &'static str {
    match number.unit {
        chart::Unit::PerSecond => "per_s",
        chart::Unit::BytesPerSecond => "bytes_per_s",
        chart::Unit::Nanos => "ns",
        chart::Unit::Seconds => "s",
        chart::Unit::Bytes => "bytes",
        chart::Unit::Share | chart::Unit::Chance => "share",
        chart::Unit::Ratio => "ratio",
        chart::Unit::Count | chart::Unit::Tail => "count",
    }
}
