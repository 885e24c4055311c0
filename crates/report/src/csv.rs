//! A run for a spreadsheet: RFC 4180, units in the names of columns, full precision.

use record::{Figure, LATENCY_QUANTILES, LatencySummary, OpSummary, Point, Run, WorkloadResult};

use crate::ReportError;
use crate::words::csv_cell;

/// The names of the columns, in their order. A column is only ever added, at the end.
///
/// `swept` holds `key=value` pairs apart by blanks; `size` to `span_bytes` are the workload's own keys, as the
/// plan language writes them. `errors`, `cpu_*` and `settled_ops` are the workload's, from the start, and are
/// the same in each of its rows. `ranks` is empty where one process drove the load; `ranks_lost` has the numbers of those
/// whose part is not in the figures, apart by blanks.
pub const CSV_COLUMNS: [&str; 64] = [
    "run_id",
    "run_started_utc",
    "run_complete",
    "plan",
    "target",
    "hostname",
    "point",
    "point_name",
    "phase",
    "repeat",
    "swept",
    "point_complete",
    "workload",
    "op",
    "engine",
    "pattern",
    "size",
    "depth",
    "workers",
    "pace",
    "direct",
    "span_bytes",
    "measured_ns",
    "ops_per_s",
    "ops_per_s_low",
    "ops_per_s_high",
    "bytes_per_s",
    "bytes_per_s_low",
    "bytes_per_s_high",
    "response_count",
    "response_ns_mean",
    "response_ns_std_dev",
    "response_ns_min",
    "response_ns_p50",
    "response_ns_p90",
    "response_ns_p95",
    "response_ns_p99",
    "response_ns_p99_9",
    "response_ns_p99_99",
    "response_ns_max",
    "mean_in_flight",
    "settled_ops",
    "errors",
    "cpu_user_s",
    "cpu_system_s",
    "point_cpu_user_s",
    "point_cpu_system_s",
    "tags",
    "response_ns_mean_low",
    "response_ns_mean_high",
    "response_ns_p50_low",
    "response_ns_p50_high",
    "response_ns_p90_low",
    "response_ns_p90_high",
    "response_ns_p95_low",
    "response_ns_p95_high",
    "response_ns_p99_low",
    "response_ns_p99_high",
    "response_ns_p99_9_low",
    "response_ns_p99_9_high",
    "response_ns_p99_99_low",
    "response_ns_p99_99_high",
    "ranks",
    "ranks_lost",
];

/// `run` with a line of titles: one row for each operation of each workload of each point, `all` first where
/// there are several.
pub fn csv(run: &Run) -> Result<String, ReportError> {
    let unwritable = |why: String| ReportError::Unwritable { id: run.id.clone(), format: "CSV", why };
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(CSV_COLUMNS).map_err(|error| unwritable(error.to_string()))?;
    for point in &run.points {
        for workload in &point.workloads {
            for summary in &workload.summary {
                let row = row(run, point, workload, summary);
                debug_assert_eq!(row.len(), CSV_COLUMNS.len(), "a field for each column");
                writer
                    .write_record(row.iter().map(|text| csv_cell(text)))
                    .map_err(|error| unwritable(error.to_string()))?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unwritable(error.to_string()))
}

fn row(run: &Run, point: &Point, workload: &WorkloadResult, summary: &OpSummary) -> Vec<String> {
    let spec = |key: &str| workload.spec.text(key).unwrap_or_default();
    let targets: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    let cpus = || workload.workers.iter().filter_map(|worker| worker.cpu);
    let cpu = |of: fn(record::CpuUse) -> f64| {
        if cpus().next().is_some() { number(cpus().map(of).sum()) } else { String::new() }
    };
    let mut row = vec![
        run.id.clone(),
        run.started.clone(),
        run.ending.complete.to_string(),
        run.plan.name.clone(),
        targets.join(" "),
        run.environment.hostname.clone(),
        point.index.to_string(),
        point.name.clone(),
        point.phase.clone(),
        point.repeat.to_string(),
        pairs(&point.swept),
        point.complete.to_string(),
        workload.name.clone(),
        summary.op.to_string(),
        workload.engine.name.to_string(),
        spec("pattern"),
        spec("size"),
        spec("depth"),
        spec("workers"),
        spec("pace"),
        spec("direct"),
        workload.span_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        workload.measured_ns.to_string(),
    ];
    row.extend(figure(summary.ops_per_s));
    row.extend(figure(summary.bytes_per_s));
    row.extend(latency(summary.response.as_ref()));
    row.extend([
        number(workload.mean_in_flight),
        workload.completed.to_string(),
        workload.errors.to_string(),
        cpu(|cpu| cpu.user_s),
        cpu(|cpu| cpu.system_s),
        point.cpu.map(|cpu| number(cpu.user_s)).unwrap_or_default(),
        point.cpu.map(|cpu| number(cpu.system_s)).unwrap_or_default(),
        pairs(&run.tags),
    ]);
    row.extend(intervals(summary.response.as_ref()));
    row.extend(ranks(point));
    row
}

/// How many processes drove the load together, and which of them were lost.
fn ranks(point: &Point) -> [String; 2] {
    let count = Some(point.ranks.len()).filter(|count| *count > 0);
    let lost = point.ranks.iter().filter(|rank| rank.lost.is_some()).map(|rank| rank.rank.to_string());
    [count.map(|count| count.to_string()).unwrap_or_default(), lost.collect::<Vec<_>>().join(" ")]
}

fn pairs(map: &std::collections::BTreeMap<String, String>) -> String {
    map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// The shortest text that reads back to the same number.
fn number(value: f64) -> String {
    value.to_string()
}

fn figure(figure: Figure) -> [String; 3] {
    let end = |end: Option<f64>| end.map(number).unwrap_or_default();
    [number(figure.value), end(figure.low), end(figure.high)]
}

fn latency(latency: Option<&LatencySummary>) -> Vec<String> {
    let of = |value: &dyn Fn(&LatencySummary) -> String| latency.map(value).unwrap_or_default();
    let mut fields = vec![
        of(&|latency| latency.count.to_string()),
        of(&|latency| number(latency.mean_ns)),
        of(&|latency| number(latency.std_dev_ns)),
        of(&|latency| latency.min_ns.to_string()),
    ];
    fields.extend(LATENCY_QUANTILES.into_iter().map(|q| {
        let figure = latency.and_then(|latency| latency.quantile(q));
        figure.map(|figure| figure.value_ns.to_string()).unwrap_or_default()
    }));
    fields.push(of(&|latency| latency.max_ns.to_string()));
    fields
}

/// Both ends of the interval of the mean and of each quantile; empty where there is none.
fn intervals(latency: Option<&LatencySummary>) -> Vec<String> {
    let mean = latency.map_or((None, None), |latency| (latency.mean_low_ns, latency.mean_high_ns));
    let quantiles = LATENCY_QUANTILES.into_iter().map(|q| {
        let figure = latency.and_then(|latency| latency.quantile(q));
        figure.map_or((None, None), |figure| (figure.low_ns, figure.high_ns))
    });
    let text = |end: Option<u64>| end.map(|ns| ns.to_string()).unwrap_or_default();
    let mean = [mean.0, mean.1].map(|end| end.map(number).unwrap_or_default());
    mean.into_iter().chain(quantiles.flat_map(|(low, high)| [text(low), text(high)])).collect()
}
