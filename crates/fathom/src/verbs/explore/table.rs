//! The front as CSV, for a spreadsheet.

use record::{DesignUnit, Exploration};
use report::distinct;

use crate::ending::Failure;

/// A row for each design of the front: its address, a column for each factor, and one for each figure with its unit.
pub fn csv(found: &Exploration) -> Result<Vec<u8>, Failure> {
    let levels = found.front.iter().flat_map(|row| &row.levels);
    let factors = distinct(levels.map(|level| level.factor.as_str()));
    let figures =
        found.figures.iter().map(|column| format!("{} ({})", column.name, unit(found, column.unit)));
    let heading: Vec<String> = ["address".to_owned()]
        .into_iter()
        .chain(factors.iter().map(|name| (*name).to_owned()))
        .chain(figures)
        .collect();
    let mut table = csv::Writer::from_writer(Vec::new());
    let failed = Failure::system("writing CSV");
    table.write_record(&heading).map_err(&failed)?;
    for row in &found.front {
        let level = |name: &&str| row.level(name).unwrap_or_default().to_owned();
        let cells = [row.address.clone()].into_iter().chain(factors.iter().map(level));
        let cells: Vec<String> = cells.chain(row.values.iter().map(f64::to_string)).collect();
        table.write_record(&cells).map_err(&failed)?;
    }
    table.into_inner().map_err(|error| failed(error.into_error().into()))
}

/// The base unit of a figure.
fn unit(found: &Exploration, unit: DesignUnit) -> &str {
    match unit {
        DesignUnit::Price => &found.price_unit,
        DesignUnit::Watts => "W",
        DesignUnit::Bytes => "B",
        DesignUnit::Seconds => "s",
        DesignUnit::PerYear => "per year",
        DesignUnit::PerSecond => "/s",
        DesignUnit::BytesPerSecond => "B/s",
        DesignUnit::Nanos => "ns",
    }
}
