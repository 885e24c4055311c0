//! The front as CSV, for a spreadsheet.

use std::collections::BTreeSet;

use explore::answer::Answer;
use explore::requirement::{Figure, LoadFigure};

use crate::ending::Failure;

/// A row for each design of the front: its address, a column for each factor, and one for each figure with its unit.
pub fn csv(answer: &Answer) -> Result<Vec<u8>, Failure> {
    let mut factors: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, _) in answer.front.iter().flat_map(|row| &row.levels) {
        if seen.insert(name.as_str()) {
            factors.push(name);
        }
    }
    let figures =
        answer.figures.iter().map(|column| format!("{} ({})", column.name, unit(answer, &column.figure)));
    let heading: Vec<String> = ["address".to_owned()]
        .into_iter()
        .chain(factors.iter().map(|name| (*name).to_owned()))
        .chain(figures)
        .collect();
    let mut table = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::System { what: "writing CSV".into(), source: error.into() };
    table.write_record(&heading).map_err(failed)?;
    for row in &answer.front {
        let level = |name: &&str| {
            let found = row.levels.iter().find(|(own, _)| own == name);
            found.map_or_else(String::new, |(_, level)| level.clone())
        };
        let cells = [row.address.clone()].into_iter().chain(factors.iter().map(level));
        let cells: Vec<String> = cells.chain(row.values.iter().map(f64::to_string)).collect();
        table.write_record(&cells).map_err(failed)?;
    }
    table
        .into_inner()
        .map_err(|error| Failure::System { what: "writing CSV".into(), source: error.into_error() })
}

/// The base unit of a figure.
fn unit<'a>(answer: &'a Answer, figure: &Figure) -> &'a str {
    match figure {
        Figure::Price => &answer.price_unit,
        Figure::Watts => "W",
        Figure::Usable => "B",
        Figure::Rebuild(_) => "h",
        Figure::Loss => "per year",
        Figure::Load { of: LoadFigure::Iops(_), .. } => "/s",
        Figure::Load { of: LoadFigure::Throughput(_), .. } => "B/s",
        Figure::Load { of: LoadFigure::Latency(_), .. } => "ns",
    }
}
