//! The three tables: a row for each large load, a column for each small one.
//!
//! The table of MB/s has no row without large requests, the others have no column without small ones. A row ends
//! with its last measured cell.

use super::figures::{Cell, Figures};
use super::options::Shape;
use super::points::Load;

/// What stands in each cell, and which loads have a row and a column.
struct Table<'a> {
    figures: &'a Figures,
    columns: Vec<u32>,
    rows: Vec<u32>,
    words: &'a [&'a str],
    cell: &'a dyn Fn(&Cell) -> Option<String>,
}

impl Table<'_> {
    fn text(&self, shape: Shape) -> String {
        debug_assert!(self.columns.is_sorted_by(|one, next| one < next), "loads grow from column to column");
        debug_assert!(self.rows.is_sorted_by(|one, next| one < next), "loads grow from row to row");
        let mut text = String::new();
        if shape == Shape::V112 {
            for line in self.words {
                text += line;
                text.push('\n');
            }
            text.push('\n');
        }
        text += "Large/Small";
        for column in &self.columns {
            text += &format!(",{column:7}");
        }
        text.push('\n');
        for row in &self.rows {
            let cells: Vec<Option<String>> = self
                .columns
                .iter()
                .map(|small| (self.cell)(self.figures.cell(Load { small: *small, large: *row })?))
                .collect();
            debug_assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
            let measured = cells.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            text += &format!("{row:11}");
            for cell in &cells[..measured] {
                text += &format!(",{:>7}", cell.as_deref().unwrap_or(""));
            }
            text.push('\n');
        }
        text
    }
}

fn without_none(loads: &[u32]) -> Vec<u32> {
    loads.iter().copied().filter(|load| *load > 0).collect()
}

/// 2^20 bytes a second of large requests, for these small and large loads.
pub fn mbps(figures: &Figures, small: &[u32], large: &[u32], shape: Shape) -> String {
    let words = ["Throughput of large requests in MB/s, for each number of small and large ones in flight."];
    let cell = |cell: &Cell| cell.large.as_ref().map(|flow| format!("{:.2}", flow.mbps()));
    Table { figures, columns: small.to_vec(), rows: without_none(large), words: &words, cell: &cell }
        .text(shape)
}

/// Small requests a second.
pub fn iops(figures: &Figures, small: &[u32], large: &[u32], shape: Shape) -> String {
    let words = ["Rate of small requests in IOPS, for each number of small and large ones in flight."];
    let cell = |cell: &Cell| cell.small.as_ref().map(|flow| format!("{:.0}", flow.iops()));
    Table { figures, columns: without_none(small), rows: large.to_vec(), words: &words, cell: &cell }
        .text(shape)
}

/// The mean response time of small requests: in milliseconds, from 11.2 on in microseconds.
pub fn latencies(figures: &Figures, small: &[u32], large: &[u32], shape: Shape) -> String {
    let words = [
        "Mean latency of small requests in microseconds, for each number of small and large ones in flight.",
    ];
    let per_unit = if shape == Shape::V112 { 1e3 } else { 1e6 };
    let cell = |cell: &Cell| Some(format!("{:.2}", cell.small.as_ref()?.latency_ns()? / per_unit));
    Table { figures, columns: without_none(small), rows: large.to_vec(), words: &words, cell: &cell }
        .text(shape)
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;

    /// A simple run: `small` requests a second at 1, 2, … in flight, then `large`.
    fn simple(small: &[u64], large: &[u64]) -> Figures {
        let one = |name: &str, size_bytes, per_s, depth: usize| {
            let stream = Stream { op: "read", size_bytes, per_s, median_ns: 430_000, spread: 0.0 };
            let mut result = workload(name, &[stream]);
            result.spec.depth = units::convert::narrow(depth);
            point(0, name, vec![result])
        };
        let small = small.iter().enumerate().map(|(at, per_s)| one("small", 8192, *per_s, at + 1));
        let large = large.iter().enumerate().map(|(at, per_s)| one("large", 1 << 20, *per_s, at + 1));
        Figures::of(&small.chain(large).collect::<Vec<_>>())
    }

    #[test]
    fn columns_stand_where_readers_of_orion_expect_them() {
        let figures = simple(&[2302, 4398, 5450, 6006, 6210], &[271, 374]);
        let (small, large) = ([0, 1, 2, 3, 4, 5], [0, 1, 2]);
        assert_eq!(
            iops(&figures, &small, &large, Shape::V11),
            "Large/Small,      1,      2,      3,      4,      5\n          0,   2302,   4398,   5450,   6006,   6210\n          \
             1\n          2\n"
        );
        assert_eq!(
            mbps(&figures, &small, &large, Shape::V11),
            "Large/Small,      0,      1,      2,      3,      4,      5\n          1, 271.00\n          2, 374.00\n"
        );
        assert_eq!(
            latencies(&figures, &[0, 1, 2], &[0], Shape::V10),
            "Large/Small,      1,      2\n          0,   0.43,   0.43\n"
        );
        let later = latencies(&figures, &[0, 1], &[0], Shape::V112);
        assert!(later.starts_with("Mean latency of small requests in microseconds"));
        assert!(later.ends_with("\n\nLarge/Small,      1\n          0, 430.00\n"), "{later}");
    }

    #[test]
    fn a_gap_in_a_row_keeps_its_place() {
        let mut figures = simple(&[100, 200, 300], &[]);
        figures = Figures::of_cells(figures.cells().filter(|(load, _)| load.small != 2));
        assert_eq!(
            iops(&figures, &[0, 1, 2, 3, 4], &[0], Shape::V11),
            "Large/Small,      1,      2,      3,      4\n          0,    100,       ,    300\n"
        );
    }
}
