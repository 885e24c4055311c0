//! The reports of `-R`, as text and as a workbook.

use units::convert::narrow;

use super::children::{TESTS, Test};
use super::options::Command;
use super::pass::Pass;
use super::table::Table;
use super::{Unit, grid::Pair};

/// One cell of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// In quotes where it is printed.
    Text(String),
    /// A figure.
    Number(f64),
}

/// One report: its heading, and rows with their own first cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Lines above the rows.
    pub heading: Vec<String>,
    /// Sizes of records, as a row of their own.
    pub columns: Vec<u64>,
    /// File sizes, each with what was measured with each record size, as far as records fit.
    pub rows: Vec<(String, Vec<f64>)>,
}

/// The reports of a single stream: one for each pass that was made.
pub fn single(table: &Table, files_kib: &[u64], records_kib: &[u64]) -> Vec<Report> {
    let report = |pass: Pass| Report {
        heading: vec![pass.report().into()],
        columns: records_kib.to_vec(),
        rows: files_kib.iter().map(|file| row(table, pass, *file, records_kib)).collect(),
    };
    table.passes().into_iter().map(report).collect()
}

/// The reports of processor time of a single stream, from a table of hundredths of a percent (`-+u`).
pub fn processors(table: &Table, files_kib: &[u64], records_kib: &[u64]) -> Vec<Report> {
    let mut reports = single(table, files_kib, records_kib);
    for report in &mut reports {
        let heading = report.heading.join(" ");
        let heading = heading.trim_end_matches(" report");
        report.heading = vec![format!("{heading} CPU utilization report (Zero values should be ignored)")];
        report.rows.iter_mut().flat_map(|(_, figures)| figures).for_each(|figure| *figure /= 100.0);
    }
    reports
}

/// What is left out stands as zero up to the largest record that fits.
fn row(table: &Table, pass: Pass, file_kib: u64, records_kib: &[u64]) -> (String, Vec<f64>) {
    debug_assert!(file_kib > 0, "a file has a KiB at least");
    let fits = records_kib.iter().filter(|record| **record <= file_kib);
    let figure = |record: &u64| table.get(pass, Pair { file_kib, record_kib: *record }).unwrap_or(0) as f64;
    (file_kib.to_string(), fits.map(figure).collect())
}

/// `-R` of a single stream.
pub fn text(reports: &[Report]) -> String {
    let mut text = "Excel output is below:\n".to_string();
    for report in reports {
        text += &format!("\n\"{}\"\n       ", report.heading.join(" "));
        report.columns.iter().for_each(|column| text += &format!(" \"{column}\" "));
        text.push('\n');
        for (name, figures) in &report.rows {
            text += &format!("\"{name}\"  ");
            figures.iter().for_each(|figure| text += &format!(" {figure} "));
            text.push('\n');
        }
    }
    text
}

/// What the throughput tests came to: the sum of all children, for each test and number of children.
pub type Throughputs = Vec<(&'static Test, Vec<f64>)>;

/// The report of the throughput tests.
pub fn several(command: &Command, sums: &Throughputs) -> Report {
    let record = command.grid.pairs().first().map_or(0, |pair| pair.record_kib);
    let rows = TESTS.iter().filter_map(|test| sums.iter().find(|(with, _)| *with == test));
    let output = match command.unit {
        Unit::Kilobytes => Unit::Kilobytes.sentence(),
        Unit::Operations => "Output is in ops/sec",
        Unit::Microseconds => "Output is in usec/op",
    };
    Report {
        heading: vec![
            "Throughput report Y-axis is type of test X-axis is number of processes".into(),
            format!("Record size = {record} kBytes "),
            output.into(),
        ],
        columns: Vec::new(),
        rows: rows.map(|(test, sums)| (test.row.to_owned(), sums.clone())).collect(),
    }
}

/// `-R` of the throughput tests.
pub fn several_text(report: &Report) -> String {
    let mut text = String::new();
    report.heading.iter().for_each(|line| text += &format!("\"{line}\"\n"));
    for (name, sums) in &report.rows {
        text += &format!("\n\"{name}\" ");
        sums.iter().for_each(|sum| text += &format!("{sum:.2} "));
        text.push('\n');
    }
    text
}

/// The reports as a workbook of Excel 2.1 (BIFF2), one below the other: what `-b` writes.
///
/// Records are a type, a length and so many bytes, little-endian; a cell begins with its row, its column and three
/// bytes of attributes. Source: OpenOffice.org's documentation of the Excel file format, 5.8, 5.63 and 5.71.
/// Rows beyond those that the format has are left out.
pub fn workbook(reports: &[Report]) -> Vec<u8> {
    let mut sheet = Sheet { bytes: Vec::new(), row: 0 };
    sheet.record(0x0009, &[2, 0, 0x10, 0]);
    for report in reports {
        for line in &report.heading {
            sheet.row(&[Value::Text(line.clone())]);
        }
        // Sizes are labels of the axes, as in the text, not figures.
        let columns = report.columns.iter().map(|column| Value::Text(column.to_string()));
        if !report.columns.is_empty() {
            let first = Value::Text(String::new());
            sheet.row(&std::iter::once(first).chain(columns).collect::<Vec<_>>());
        }
        for (name, figures) in &report.rows {
            let name = Value::Text(name.trim().into());
            let figures = figures.iter().map(|figure| Value::Number(*figure));
            sheet.row(&std::iter::once(name).chain(figures).collect::<Vec<_>>());
        }
        sheet.row += 1;
    }
    sheet.record(0x000A, &[]);
    sheet.bytes
}

struct Sheet {
    bytes: Vec<u8>,
    row: u32,
}

impl Sheet {
    fn record(&mut self, kind: u16, content: &[u8]) {
        assert!(content.len() <= usize::from(u16::MAX), "the length of a record has two bytes");
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(narrow::<u16>(content.len()).to_le_bytes());
        self.bytes.extend(content);
    }

    fn row(&mut self, values: &[Value]) {
        let Ok(row) = u16::try_from(self.row) else { return };
        self.row += 1;
        for (column, value) in (0..256u16).zip(values) {
            let mut cell = Vec::with_capacity(64);
            cell.extend(row.to_le_bytes());
            cell.extend(column.to_le_bytes());
            cell.extend([0; 3]);
            match value {
                Value::Number(number) => {
                    cell.extend(number.to_le_bytes());
                    self.record(0x0003, &cell);
                }
                Value::Text(text) if text.is_empty() => {}
                Value::Text(text) => {
                    let text: Vec<u8> = text.bytes().take(255).collect();
                    cell.push(narrow::<u8>(text.len()));
                    cell.extend(text);
                    self.record(0x0004, &cell);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        table.add(Pair { file_kib: 64, record_kib: 4 }, Pass::Write, 1_734_015);
        table.add(Pair { file_kib: 64, record_kib: 64 }, Pass::Write, 639_427);
        table.add(Pair { file_kib: 32_768, record_kib: 64 }, Pass::Write, 5);
        table
    }

    #[test]
    fn a_row_ends_with_the_largest_record_that_fits_and_what_is_skipped_is_zero() {
        let reports = single(&table(), &[64, 32_768], &[4, 64, 16_384]);
        assert_eq!(
            text(&reports),
            "Excel output is below:\n\n\"Writer report\"\n        \"4\"  \"64\"  \"16384\" \n\
             \"64\"   1734015  639427 \n\"32768\"   0  5  0 \n"
        );
    }

    #[test]
    fn processor_time_is_a_report_of_its_own_in_percent() {
        let text = text(&processors(&table(), &[64], &[4, 64]));
        assert!(
            text.contains("\"Writer CPU utilization report (Zero values should be ignored)\"\n"),
            "{text}"
        );
        assert!(text.ends_with("\"64\"   17340.15  6394.27 \n"), "{text}");
    }

    #[test]
    fn the_throughput_report_has_a_line_for_each_test_and_a_blank_one_before_it() {
        let words: Vec<String> = "-t 2 -s 4m -r 64k".split(' ').map(str::to_owned).collect();
        let command = Command::parse(&words).unwrap();
        let sums = vec![(&TESTS[0], vec![6_479_979.0]), (&TESTS[3], vec![1.5])];
        assert_eq!(
            several_text(&several(&command, &sums)),
            "\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\
             \"Record size = 64 kBytes \"\n\"Output is in kBytes/sec\"\n\n\"  Initial write \" 6479979.00 \n\n\
             \"        Re-read \" 1.50 \n"
        );
    }

    /// Cells of a workbook by row and column, read as the format's documentation has them.
    fn cells(bytes: &[u8]) -> Vec<(u16, u16, Value)> {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!((word(0), word(2), word(4), word(6)), (9, 4, 2, 16));
        let (mut at, mut cells) = (8, Vec::new());
        while word(at) != 0x000A {
            let content = &bytes[at + 4..at + 4 + usize::from(word(at + 2))];
            let value = match word(at) {
                3 => Value::Number(f64::from_le_bytes(content[7..].try_into().unwrap())),
                4 => {
                    assert_eq!(usize::from(content[7]), content.len() - 8);
                    Value::Text(String::from_utf8(content[8..].to_vec()).unwrap())
                }
                other => panic!("record {other}"),
            };
            cells.push((word(at + 4), word(at + 6), value));
            at += 4 + content.len();
        }
        assert_eq!(bytes.len(), at + 4);
        cells
    }

    #[test]
    fn a_workbook_holds_what_the_text_says() {
        let reports = single(&table(), &[64, 32_768], &[4, 64]);
        let cells = cells(&workbook(&reports));
        let number = |row, column, number| (row, column, Value::Number(number));
        let label = |row, column, text: &str| (row, column, Value::Text(text.into()));
        assert_eq!(
            cells,
            [
                (0, 0, Value::Text("Writer report".into())),
                label(1, 1, "4"),
                label(1, 2, "64"),
                label(2, 0, "64"),
                number(2, 1, 1_734_015.0),
                number(2, 2, 639_427.0),
                label(3, 0, "32768"),
                number(3, 1, 0.0),
                number(3, 2, 5.0),
            ]
        );
    }
}
