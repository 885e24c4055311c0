//! What reads of growing spans take, and the caches that show in it.

use record::{Point, Run};
use units::{Bytes, Nanos};

use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::warnings;
use crate::words::{harmless, wrap};

/// A line for each span that was read one request at a time, and what follows from them. Ends with a line end.
pub fn spans(run: &Run, style: Style) -> String {
    let columns = vec![
        Column::figures("span", 0),
        Column::figures("mean", 0),
        Column::figures("p50", 1),
        Column::figures("p99", 2),
    ];
    let table = Table { columns, rows: run.points.iter().filter_map(row).collect() };
    let mut lines = table.draw(style).lines;
    lines.push(String::new());
    for finding in run.findings.iter().filter(|finding| finding.code == "cache-seen") {
        let sentence = style.spell(&harmless(&finding.sentence));
        lines.extend(wrap(&sentence, style.width, "", "  "));
        lines.extend(warnings::remedy(finding, style));
    }
    if !run.ending.complete {
        let text = format!("Not complete: {}.", harmless(&run.ending.reason));
        lines.extend(wrap(&text, style.width, "", "  ").iter().map(|line| style.paint(Look::Wrong, line)));
    }
    lines.join("\n") + "\n"
}

/// `None` for loads that only bring a span into the caches.
fn row(point: &Point) -> Option<Vec<Cell>> {
    let [workload] = &point.workloads[..] else { return None };
    if workload.spec.depth != 1 {
        return None;
    }
    let latency = workload.total()?.response.as_ref()?;
    let quantile = |q: f64| latency.quantile(q).map(|figure| Nanos::new(figure.value_ns).to_string());
    Some(vec![
        Cell::plain(workload.span_bytes.map(|span| Bytes::new(span).to_string()).unwrap_or_default()),
        Cell::plain(Nanos::from_secs_f64(latency.mean_ns / 1e9).to_string()),
        Cell::plain(quantile(0.5).unwrap_or_default()),
        Cell::plain(quantile(0.99).unwrap_or_default()),
    ])
}
