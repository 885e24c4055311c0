//! What was seen over time, for a spreadsheet: a row for each stretch of each point, a column for each series.

use std::collections::{BTreeMap, BTreeSet};

use record::{Run, Series};

use crate::ReportError;
use crate::words::csv_cell;

/// As many nanoseconds apart two ends are still of one row: stretches of different series end at almost one instant.
const ROW_NS: u64 = 100_000_000;

/// One row for each tenth of a second of a point in which something was sampled, ends rounded to it: `point`,
/// `point_name`, `repeat`, `at_s` since the start of the run, then a column for each series, `WORKLOAD: NAME (UNIT)`.
/// A cell is empty where the series has no value there. Values cover the stretch that ends there: about a second.
pub fn seconds_csv(run: &Run) -> Result<String, ReportError> {
    let title = |series: &Series| {
        let of = series.workload.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        format!("{of}{} ({})", series.name, series.unit)
    };
    let named = run.points.iter().flat_map(|point| &point.series).filter(|series| !series.at_ns.is_empty());
    let names: BTreeSet<String> = named.map(title).collect();
    let heads = ["point", "point_name", "repeat", "at_s"].map(str::to_owned).into_iter();
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let unwritable = |why: String| ReportError::Unwritable { id: run.id.clone(), format: "CSV", why };
    let mut row_of =
        |cells: Vec<String>| writer.write_record(&cells).map_err(|error| unwritable(error.to_string()));
    row_of(heads.chain(names.iter().map(|name| csv_cell(name))).collect())?;
    for point in &run.points {
        let mut rows: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
        for series in &point.series {
            for (at, value) in series.at_ns.iter().zip(&series.values) {
                if !value.is_finite() {
                    let why = format!("{} of {} is not a number", series.name, point.name);
                    return Err(unwritable(why));
                }
                let row = (at + ROW_NS / 2) / ROW_NS;
                rows.entry(row).or_default().insert(title(series), *value);
            }
        }
        for (row, values) in rows {
            let at_s = row as f64 * (ROW_NS as f64 / 1e9);
            let lead = [
                point.index.to_string(),
                csv_cell(&point.name),
                point.repeat.to_string(),
                format!("{at_s:.1}"),
            ];
            let cells = names.iter().map(|name| values.get(name).map_or_else(String::new, f64::to_string));
            row_of(lead.into_iter().chain(cells).collect())?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unwritable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    #[test]
    fn each_second_is_a_row_and_each_series_a_column() {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.1 };
        let point = sample::point(0, "4k, hot", vec![sample::workload("load", &[stream])]);
        let run = sample::run("quick", vec![point]);
        let text = seconds_csv(&run).unwrap();
        let mut lines = text.split("\r\n");
        let head = lines.next().unwrap();
        assert!(
            head.starts_with("point,point_name,repeat,at_s,") && head.contains("load: read ops (per_s)"),
            "{head}"
        );
        let first = lines.next().unwrap();
        assert!(first.starts_with("0,\"4k, hot\",1,"), "{first}");
        let most = run.points[0].series.iter().map(|series| series.at_ns.len()).max().unwrap();
        assert_eq!(text.matches("\r\n").count(), most + 1, "{text}");
    }
}
