//! IOzone's outputs of any run that has such points.

use record::Run;

use super::excel;
use super::figure::{Cell, Unit};
use super::table::{END, Table};
use crate::{NoFigures, Output};

/// The table of a single stream.
pub const OUTPUT: Output = Output {
    name: "iozone",
    ending: "iozone.txt",
    about: "kB a second by file and record size, as IOzone prints them",
    write: table,
};

/// The reports of `-R`.
pub const EXCEL: Output = Output {
    name: "iozone-excel",
    ending: "iozone.excel.txt",
    about: "a report for each kind of pass, as `iozone -R` prints them",
    write: reports,
};

fn figures(run: &Run, format: &'static str) -> Result<Table, NoFigures> {
    let table =
        Table::of(run.points.iter().filter(|point| point.complete).filter_map(Cell::of), Unit::Kilobytes);
    NoFigures::when(
        table.pairs().is_empty(),
        format,
        "no point reads or writes with one size and one pattern that IOzone has; `fathom run iozone` has such \
                  points",
    )?;
    Ok(table)
}

fn table(run: &Run) -> Result<String, NoFigures> {
    Ok(figures(run, OUTPUT.name)?.text() + END)
}

fn reports(run: &Run) -> Result<String, NoFigures> {
    let table = figures(run, EXCEL.name)?;
    let sizes = |of: fn(&super::grid::Pair) -> u64| {
        let mut sizes: Vec<u64> = table.pairs().iter().map(of).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    Ok(excel::text(&excel::single(&table, &sizes(|pair| pair.file_kib), &sizes(|pair| pair.record_kib))))
}
