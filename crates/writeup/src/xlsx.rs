//! A report as a workbook: the records' figures on one sheet, a sheet for each table whose numbers are formulas over it,
//! and a chart of the spreadsheet's own beside each table that has one. What happened over time has sheets of its own:
//! [`detail`].

mod charts;
mod detail;
mod width;

use std::collections::BTreeMap;

use chart::Unit;
use rust_xlsxwriter::{Format, FormatAlign, Formula, Workbook, Worksheet, XlsxError};
use serde_json::Value;
use units::convert::narrow;

use crate::document::{Block, Cell, Figure, Interval, Table, WriteUp};
use crate::evidence::{Evidence, EvidenceError};
use crate::number::{Number, Source};
use crate::summary::meaning;

/// The sheet that formulas refer to.
const DATA: &str = "Data";
/// The height of a line of text, in points.
const LINE: f64 = 15.5;
/// Spreadsheets allow a sheet no longer name.
const NAME: usize = 31;

/// Why a workbook could not be made.
#[derive(Debug, thiserror::Error)]
pub enum XlsxFailure {
    /// It breaks a rule of the format.
    #[error("the workbook cannot be made: {0}")]
    Format(#[from] XlsxError),
    /// Its records cannot be told.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
}

/// `report` as the bytes of an `.xlsx` file. Times are in milliseconds, throughput in MB/s, shares in per cent; the sheet
/// `Data` has base units.
pub fn xlsx(report: &WriteUp, evidence: &Evidence) -> Result<Vec<u8>, XlsxFailure> {
    let mut book = Book { data: Data::default(), names: vec![DATA.to_lowercase()] };
    let mut workbook = Workbook::new();
    // The same records give the same bytes.
    workbook.set_properties(
        &rust_xlsxwriter::DocProperties::new()
            .set_title(&report.title)
            .set_creation_datetime(&rust_xlsxwriter::ExcelDateTime::from_ymd(2000, 1, 1)?),
    );
    let mut sheets = vec![book.front(report)?];
    for block in report.sections.iter().flat_map(|section| &section.blocks) {
        match block {
            Block::Figure(figure) => {
                sheets.push(book.table(&figure.table, Some(figure))?);
                for detail in &figure.details {
                    sheets.push(book.detail(figure, detail)?);
                }
            }
            Block::Table(table) => sheets.push(book.table(table, None)?),
            Block::Text(_) => {}
        }
    }
    sheets.push(book.data.sheet(evidence, &evidence.records()?)?);
    for mut sheet in sheets {
        // On paper, or as a PDF, charts stand beside their numbers.
        sheet.set_landscape().set_print_fit_to_pages(1, 0);
        workbook.push_worksheet(sheet);
    }
    Ok(workbook.save_to_buffer()?)
}

/// Figures of the records by their places, in the order in which they were first needed.
#[derive(Default)]
struct Data {
    rows: BTreeMap<String, (usize, Source)>,
}

impl Data {
    /// The cell of a figure that stands in the records.
    fn cell(&mut self, source: &Source) -> String {
        let next = self.rows.len();
        debug_assert!(
            matches!(source, Source::At(..) | Source::Quantile(..)),
            "what is computed is a formula of what stands in the records"
        );
        let (row, _) = self.rows.entry(source.to_string()).or_insert_with(|| (next, source.clone()));
        // Below the head; spreadsheets count from 1.
        format!("{DATA}!$D${}", *row + 2)
    }

    fn sheet(&self, evidence: &Evidence, records: &[Value]) -> Result<Worksheet, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(DATA)?.set_freeze_panes(1, 0)?;
        for (column, (head, width)) in
            [("run", 24.0), ("place", 28.0), ("in the record", 64.0), ("value", 20.0)].into_iter().enumerate()
        {
            let column = narrow::<u16>(column);
            sheet.write_with_format(0, column, head, &bold())?.set_column_width(column, width)?;
        }
        for (place, (row, source)) in &self.rows {
            let row = narrow::<u32>(*row + 1);
            let (run, pointer) = match source {
                Source::At(run, pointer) | Source::Quantile(run, pointer, _) => (*run, pointer.as_str()),
                _ => (0, ""),
            };
            let run = evidence.runs.get(run).map_or("the comparison", |run| run.id.as_str());
            sheet.write(row, 0, run)?.write(row, 1, place.as_str())?.write(row, 2, pointer)?;
            if let Some(value) = source.read(records) {
                sheet.write(row, 3, value)?;
            }
        }
        Ok(sheet)
    }
}

fn bold() -> Format {
    Format::new().set_bold().set_align(FormatAlign::Top).set_text_wrap()
}

/// `name` in at most `most` letters: of one that is longer both ends, since tables of one report begin or end alike, with
/// `share` of the letters for the first; in whole words, as far as they are no longer than that.
fn shortened(name: &str, most: usize, share: f64) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let head = units::convert::truncated::<usize>((most - 1) as f64 * share);
    let (first, last) = (&letters[..head], &letters[letters.len() - (most - 1 - head)..]);
    debug_assert_eq!(first.len() + 1 + last.len(), most, "both ends and what stands between them");
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let (first, last) = (text(first), text(last));
    let first = first.rsplit_once(' ').map_or(first.as_str(), |(words, _)| words);
    let last = last.split_once(' ').map_or(last.as_str(), |(_, words)| words);
    format!("{}…{}", first.trim_end_matches([' ', ',', ':']), last.trim_start())
}

/// Shares of the first end of a name that are tried, before names of several tables that are the same get numbers.
const SHARES: [f64; 5] = [0.5, 0.7, 0.3, 0.85, 0.15];

struct Book {
    data: Data,
    names: Vec<String>,
}

/// By what a base unit is divided in a sheet, its format there, and the name of the unit.
fn shown(unit: Unit) -> (f64, &'static str, &'static str) {
    match unit {
        Unit::PerSecond => (1.0, "#,##0", ""),
        Unit::BytesPerSecond => (1e6, "#,##0.0", "MB/s"),
        Unit::Nanos => (1e6, "#,##0.000", "ms"),
        Unit::Seconds => (1.0, "#,##0.0", "s"),
        Unit::Bytes => (1.0, "#,##0", "B"),
        Unit::Share => (1.0, "0.0%", ""),
        Unit::Chance => (1.0, "0.0E+00", ""),
        Unit::Ratio => (1.0, "0.00", ""),
        Unit::Count | Unit::Tail => (1.0, "General", ""),
    }
}

/// `head` with the unit of the numbers below it, where it does not say that by itself.
fn with_unit(head: &str, unit: Option<Unit>) -> String {
    let unit = unit.map_or("", |unit| shown(unit).2);
    let says = head.split([' ', ',', '(', ')']).any(|word| word == unit);
    if unit.is_empty() || says { head.to_owned() } else { format!("{head}, {unit}") }
}

impl Book {
    /// A name for a sheet that no other has, without what spreadsheets forbid.
    fn name(&mut self, wanted: &str) -> String {
        let clean: String = wanted.chars().filter(|letter| !"[]:*?/\\'".contains(*letter)).collect();
        let clean = if clean.is_empty() { "Table".to_owned() } else { clean };
        let is_free = |name: &String| !self.names.contains(&name.to_lowercase());
        let names = SHARES.map(|share| shortened(&clean, NAME, share));
        let mut name = names.iter().find(|name| is_free(name)).unwrap_or(&names[0]).clone();
        let mut turn = 2;
        while self.names.contains(&name.to_lowercase()) {
            let suffix = format!(" {turn}");
            name = shortened(&clean, NAME - suffix.len(), SHARES[0]) + &suffix;
            turn += 1;
        }
        debug_assert!(name.chars().count() <= NAME, "spreadsheets take no longer name of a sheet");
        self.names.push(name.to_lowercase());
        name
    }

    /// The formula of `source`, in base units.
    fn formula(&mut self, source: &Source) -> String {
        let list = |book: &mut Book, parts: &[Source]| {
            parts.iter().map(|part| book.formula(part)).collect::<Vec<_>>().join(",")
        };
        match source {
            Source::At(..) | Source::Quantile(..) => self.data.cell(source),
            Source::Sum(parts) => format!("SUM({})", list(self, parts)),
            Source::Most(parts) => format!("MAX({})", list(self, parts)),
            Source::Least(parts) => format!("MIN({})", list(self, parts)),
            Source::Mean(parts) => format!("AVERAGE({})", list(self, parts)),
            Source::Ratio(pair) => {
                let (above, below) = (self.formula(&pair.0), self.formula(&pair.1));
                format!("({above})/({below})")
            }
            Source::Rate(pair) => {
                let (count, ns) = (self.formula(&pair.0), self.formula(&pair.1));
                format!("({count})/(({ns})/1000000000)")
            }
            Source::Difference(pair) => {
                let (one, other) = (self.formula(&pair.0), self.formula(&pair.1));
                format!("({one})-({other})")
            }
        }
    }

    fn write(
        &mut self,
        sheet: &mut Worksheet,
        row: u32,
        column: u16,
        number: &Number,
        names_unit: bool,
    ) -> Result<(), XlsxError> {
        let (scale, format, unit) = shown(number.unit);
        // Below a head that tells none each number has its own.
        let format =
            if names_unit || unit.is_empty() { format.to_owned() } else { format!("{format}\" {unit}\"") };
        let formula = self.formula(&number.source);
        let formula = if scale == 1.0 { format!("={formula}") } else { format!("=({formula})/{scale}") };
        let result = (number.value / scale).to_string();
        sheet.write_formula_with_format(
            row,
            column,
            Formula::new(formula).set_result(result),
            &Format::new().set_num_format(&format),
        )?;
        Ok(())
    }

    /// Title, answer, grade, key figures, findings, and the commands.
    fn front(&mut self, report: &WriteUp) -> Result<Worksheet, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(self.name("Report"))?.set_column_width(0, 40.0)?.set_column_width(1, 18.0)?;
        let large = Format::new().set_bold().set_font_size(16);
        sheet.write_with_format(0, 0, &report.title, &large)?;
        sheet.write(1, 0, report.answer.text())?;
        if let Some(grade) = report.grade {
            sheet.write(2, 0, format!("Grade {grade}: {}", meaning(grade)))?;
        }
        let mut row = 4;
        for figure in &report.key_figures {
            let name = if figure.note.is_empty() {
                figure.name.clone()
            } else {
                format!("{}, {}", figure.name, figure.note)
            };
            sheet.write(row, 0, name)?;
            self.write(&mut sheet, row, 1, &figure.figure, true)?;
            sheet.write(row, 2, shown(figure.figure.unit).2)?;
            row += 1;
        }
        row += 1;
        for warning in &report.warnings {
            sheet.write(row, 0, format!("{}: {} {}", warning.code, warning.sentence, warning.remedy))?;
            row += 1;
        }
        row += 1;
        for run in &report.runs {
            sheet.write_with_format(row, 0, &run.label, &bold())?.write(row, 1, &run.id)?;
            sheet.write(row + 1, 0, &run.command)?;
            row += 2;
        }
        Ok(sheet)
    }

    /// A sheet of `table`: an interval has two columns of its own, and its distances two more where a chart needs them.
    fn table(&mut self, table: &Table, figure: Option<&Figure>) -> Result<Worksheet, XlsxError> {
        let mut sheet = Worksheet::new();
        let name = self.name(&table.title);
        sheet.set_name(&name)?.set_freeze_panes(1, 1)?;
        let places = places(table);
        assert_eq!(places.len(), table.columns.len(), "each column has its place");
        debug_assert!(places.is_sorted_by(|one, next| one.first < next.first), "columns follow each other");
        let mut lines = 1;
        for (column, place) in table.columns.iter().zip(&places) {
            let head = with_unit(&column.head(), column.unit);
            sheet.write_with_format(0, place.first, &head, &bold())?;
            let room = width::room(table, place.column);
            let width = if column.unit.is_some() { room.max(14.0) } else { 26.0 };
            sheet.set_column_width(place.first, width)?;
            lines = lines.max(width::lines_of(&head, width));
            if place.has_interval {
                for (offset, word) in (1..).zip(["low", "high", "below", "above"]) {
                    let at = place.first + offset;
                    sheet.write_with_format(0, at, with_unit(word, column.unit), &bold())?;
                    sheet.set_column_width(at, room)?;
                }
            }
        }
        // Spreadsheets make a row no higher by themselves for what is wrapped in it.
        sheet.set_row_height(0, f64::from(lines) * LINE)?;
        for (row, cells) in table.rows.iter().enumerate() {
            for (cell, place) in cells.iter().zip(&places) {
                self.cell(&mut sheet, narrow::<u32>(row + 1), place, cell)?;
            }
        }
        if let Some(note) = table.note() {
            sheet.write(narrow::<u32>(table.rows.len() + 2), 0, note)?;
        }
        if let Some(figure) = figure.filter(|figure| !figure.panels.is_empty()) {
            charts::chart(&mut sheet, &name, figure, &places)?;
        }
        Ok(sheet)
    }

    fn cell(
        &mut self,
        sheet: &mut Worksheet,
        row: u32,
        place: &SheetColumn,
        cell: &Cell,
    ) -> Result<(), XlsxError> {
        match cell {
            Cell::Empty => {}
            // A number among words, such as a queue depth, is one for the spreadsheet as well.
            Cell::Words(words) => match words.parse::<f64>() {
                Ok(number) if number.is_finite() => drop(sheet.write(row, place.first, number)?),
                _ => drop(sheet.write(row, place.first, words)?),
            },
            Cell::Number(number, interval) => {
                self.write(sheet, row, place.first, number, place.names_unit)?;
                if let Some(ends) = interval.ends().filter(|_| place.has_interval) {
                    self.write(sheet, row, place.first + 1, &ends.0, place.names_unit)?;
                    self.write(sheet, row, place.first + 2, &ends.1, place.names_unit)?;
                    let at =
                        |offset: u16| rust_xlsxwriter::utility::row_col_to_cell(row, place.first + offset);
                    let (value, low, high) = (at(0), at(1), at(2));
                    let scale = shown(number.unit).0;
                    let below = Formula::new(format!("={value}-{low}"))
                        .set_result(((number.value - ends.0.value) / scale).to_string());
                    let above = Formula::new(format!("={high}-{value}"))
                        .set_result(((ends.1.value - number.value) / scale).to_string());
                    let format = Format::new().set_num_format(shown(number.unit).1);
                    sheet.write_formula_with_format(row, place.first + 3, below, &format)?;
                    sheet.write_formula_with_format(row, place.first + 4, above, &format)?;
                }
            }
        }
        Ok(())
    }
}

/// Where a column of a table stands in its sheet.
struct SheetColumn {
    /// Which column of the table it is.
    column: usize,
    first: u16,
    has_interval: bool,
    /// Whether its head tells the unit of its numbers.
    names_unit: bool,
}

fn places(table: &Table) -> Vec<SheetColumn> {
    let mut next = 0;
    let place = |column: usize| {
        let has_interval =
            table.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Number(_, Interval::Ends(_)))));
        let first = next;
        next += if has_interval { 5 } else { 1 };
        SheetColumn { column, first, has_interval, names_unit: table.columns[column].unit.is_some() }
    };
    (0..table.columns.len()).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_unit_of_its_numbers_unless_a_word_of_it_is_that() {
        let head = |head: &str, unit| with_unit(head, Some(unit));
        assert_eq!(head("p99 latency", Unit::Nanos), "p99 latency, ms");
        assert_eq!(
            head("latency of systems", Unit::Nanos),
            "latency of systems, ms",
            "no letters within a word"
        );
        assert_eq!(head("published", Unit::Seconds), "published, s");
        assert_eq!(head("rate, MB/s", Unit::BytesPerSecond), "rate, MB/s");
        assert_eq!(head("ratio", Unit::Ratio), "ratio");
        assert_eq!(with_unit("effect", None), "effect");
    }
}
