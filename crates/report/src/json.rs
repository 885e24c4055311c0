//! A record as it is stored, and in lines.

use record::{Finding, Point, Run};
use serde::Serialize;

use crate::ReportError;

/// The record itself, indented, with a line end.
pub fn json(run: &Run) -> Result<String, ReportError> {
    serde_json::to_string_pretty(run).map(|text| text + "\n").map_err(|error| unwritable(run, &error))
}

/// One line of JSON for the run, each point and each finding.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    /// Everything but points and findings, whose arrays are empty here.
    Run {
        /// As in every line.
        run_id: &'a str,
        #[serde(flatten)]
        run: &'a Run,
    },
    /// As in the record, histograms included.
    Point {
        run_id: &'a str,
        #[serde(flatten)]
        point: &'a NamedPoint<'a>,
    },
    /// As in the record.
    Finding {
        run_id: &'a str,
        #[serde(flatten)]
        finding: &'a Finding,
    },
}

/// A point whose own `kind` would hide that of the line.
#[derive(Serialize)]
struct NamedPoint<'a> {
    point: &'a Point,
}

/// A line of JSON each for the run, its points and its findings, in this order, and a line end after each.
///
/// Every line has `kind` (`run`, `point` or `finding`) and `run_id`. The line of the run is the record without
/// points and findings; a point stands under the key `point`, as in the record; the keys of a finding stand in
/// its line.
pub fn json_lines(run: &Run) -> Result<String, ReportError> {
    let head = Run { findings: Vec::new(), ..run.without_points() };
    let points: Vec<NamedPoint<'_>> = run.points.iter().map(|point| NamedPoint { point }).collect();
    let run_id = run.id.as_str();
    let lines = std::iter::once(Line::Run { run_id, run: &head })
        .chain(points.iter().map(|point| Line::Point { run_id, point }))
        .chain(run.findings.iter().map(|finding| Line::Finding { run_id, finding }));
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(&line).map_err(|error| unwritable(run, &error))?;
        text.push('\n');
    }
    Ok(text)
}

fn unwritable(run: &Run, error: &serde_json::Error) -> ReportError {
    ReportError::Unwritable { id: run.id.clone(), format: "JSON", why: error.to_string() }
}
