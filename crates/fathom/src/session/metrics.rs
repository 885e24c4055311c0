//! What goes on now, for a monitoring system to read: `--metrics`, in the text format of Prometheus.
//!
//! One thread answers one reader after the other. It reads what the last event said and asks nothing of the load: between
//! two readers nothing is done but to keep that.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::Args;
use conduct::{Event, Live, Responses};
use units::{Instant, Nanos};
use workload::Progress;

use crate::ending::Failure;
use crate::session::sink::{self, Endpoint, Labels, Metric};
use crate::terminal::OUTPUT;

// Options of whoever measures. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// While it runs, answer http://ADDRESS/metrics with live figures for Prometheus: PORT answers this machine
    /// only, ADDRESS:PORT other hosts too
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address, help_heading = OUTPUT)]
    pub metrics: Option<SocketAddr>,
    /// While it runs, send live figures each second to this endpoint: udp://HOST:PORT or
    /// http://HOST:PORT/write?db=NAME (InfluxDB line protocol; the token is INFLUX_TOKEN), or otlp://HOST:4318
    /// (OpenTelemetry); may be given several times
    #[arg(long, value_name = "URL", help_heading = OUTPUT)]
    pub metrics_to: Vec<Endpoint>,
}

/// `9464` is a port of this machine alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse::<u16>().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    port.or_else(|_| text.parse()).map_err(|_| "use a port, such as 9464, or ADDRESS:PORT".into())
}

/// Each metric: its name, its type, and what it says.
const METRICS: [(&str, &str, &str); 14] = [
    ("fathom_info", "gauge", "1; the version, the plan and the targets as labels"),
    ("fathom_point_info", "gauge", "1; the name of the point and what it does as labels"),
    ("fathom_points", "gauge", "Points that the run has at most"),
    ("fathom_points_done_total", "counter", "Points that have ended"),
    ("fathom_point_done_ratio", "gauge", "The part of the point that is done, where its end is known"),
    ("fathom_requests_total", "counter", "Requests that ended without an error"),
    ("fathom_bytes_total", "counter", "Bytes that they moved"),
    ("fathom_errors_total", "counter", "Requests that failed"),
    ("fathom_in_flight", "gauge", "Requests in flight"),
    // Without a sum and a count: what ended in the last second is no part of what is counted.
    ("fathom_response_seconds", "summary", "Response time of the last second by quantile; 1 is the longest"),
    (
        "fathom_lag_seconds",
        "gauge",
        "Mean lag of the last second: how late requests of a schedule were handed out",
    ),
    ("fathom_time_seconds", "gauge", "The time of the world that is measured, since it began"),
    ("fathom_sampled", "gauge", "What is sampled beside the load, by the name of the series in the record"),
    ("fathom_scrapes_total", "counter", "Times that this was read"),
];

/// What the last event said.
#[derive(Default)]
struct Now {
    plan: String,
    targets: String,
    point: String,
    of: usize,
    ended: u64,
    doing: &'static str,
    /// Of all loads before the one that goes on, and of that.
    before: Progress,
    progress: Progress,
    responses: Option<Responses>,
    done: Option<f64>,
    now: Instant,
    sampled: Instant,
    beside: Vec<(String, f64)>,
    scrapes: u64,
}

static NOW: OnceLock<Mutex<Now>> = OnceLock::new();

/// How often what is sampled is asked for, at most.
const SAMPLED: Nanos = Nanos::from_secs(1);
/// A reader says what it wants in less than this, and within that time.
const REQUEST_MOST: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(2);

impl MetricsArgs {
    /// Whether live figures are asked for.
    pub fn are_wanted(&self) -> bool {
        self.metrics.is_some() || !self.metrics_to.is_empty()
    }

    /// Answers from now on to the end of the process, where that is asked for; says where.
    pub fn serve(&self) -> Result<(), Failure> {
        if NOW.get().is_some() {
            // Runs that follow one another are told of at one place.
            return Ok(());
        }
        if !self.metrics_to.is_empty() {
            NOW.get_or_init(Mutex::default);
            sink::start(&self.metrics_to, samples)?;
        }
        let Some(address) = self.metrics else { return Ok(()) };
        let told = Failure::system(format!("--metrics {address}"));
        let listener = TcpListener::bind(address).map_err(&told)?;
        let address = listener.local_addr().map_err(&told)?;
        NOW.get_or_init(Mutex::default);
        let serve = move || listener.incoming().flatten().for_each(|reader| drop(answer(reader)));
        std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(&told)?;
        crate::terminal::say_sentence(&format!("live figures: http://{address}/metrics"));
        Ok(())
    }
}

/// A run of that plan on those targets begins.
pub fn begin(plan: &str, targets: &str) {
    with(|now| {
        now.plan = plan.into();
        now.targets = targets.into();
    });
}

/// Keeps what `event` says, where somebody may read it.
pub fn hear(event: &Event<'_>) {
    with(|now| now.hear(event));
}

fn with(change: impl FnOnce(&mut Now)) {
    if let Some(now) = NOW.get() {
        change(&mut now.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Now {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::PointStarted { of, name, .. } => {
                (self.of, self.point) = (*of, (*name).to_owned());
                self.rest();
            }
            Event::Live { live, .. } => self.look(live),
            Event::PointEnded { point } => {
                self.ended += 1;
                // What ended since the last look is in the record alone.
                let totals = || point.workloads.iter().flat_map(|workload| &workload.totals);
                let errors: u64 = point.workloads.iter().map(|workload| workload.errors).sum();
                self.progress.ops = self.progress.ops.max(totals().map(|total| total.ops).sum());
                self.progress.bytes = self.progress.bytes.max(totals().map(|total| total.bytes).sum());
                self.progress.errors = self.progress.errors.max(errors);
                self.rest();
            }
            Event::Aside { .. } => self.rest(),
            Event::RateDecided { .. } | Event::SweepEnded { .. } => {}
        }
    }

    /// No load goes on.
    fn rest(&mut self) {
        self.before = [self.before, std::mem::take(&mut self.progress)].into_iter().sum();
        self.before.in_flight = 0;
        debug_assert_eq!(self.progress, Progress::default(), "what has ended is counted once");
        (self.doing, self.responses, self.done) = ("idle", None, None);
    }

    fn look(&mut self, live: &Live<'_>) {
        // What lays out or fills counts for itself.
        if live.progress.ops < self.progress.ops || live.doing != self.doing {
            self.rest();
        }
        self.doing = live.doing;
        if live.doing == "load" {
            self.progress = live.progress;
        }
        (self.responses, self.done) = (live.responses, live.done);
        self.now = live.now;
        if live.now.saturating_since(self.sampled) >= SAMPLED || live.now < self.sampled {
            self.beside = live.beside.latest();
            self.sampled = live.now;
        }
    }

    /// Each metric of [`METRICS`] with the values that it has now, labels apart.
    fn samples(&self) -> Vec<Metric> {
        let label = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let sum: Progress = [self.before, self.progress].into_iter().sum();
        let values = |name: &str| match name {
            "fathom_info" => {
                let version = label("version", env!("CARGO_PKG_VERSION"));
                let of = [version, label("plan", &self.plan), label("targets", &self.targets)];
                vec![(of.concat(), 1.0)]
            }
            "fathom_point_info" => {
                vec![([label("point", &self.point), label("doing", self.doing)].concat(), 1.0)]
            }
            "fathom_points" => one(self.of as f64),
            "fathom_points_done_total" => one(self.ended as f64),
            "fathom_point_done_ratio" => self.done.map(one).unwrap_or_default(),
            "fathom_requests_total" => one(sum.ops as f64),
            "fathom_bytes_total" => one(sum.bytes as f64),
            "fathom_errors_total" => one(sum.errors as f64),
            "fathom_in_flight" => one(f64::from(self.progress.in_flight)),
            "fathom_response_seconds" => self.responses.map_or_else(Vec::new, |seen| {
                let each = [("0.5", seen.p50), ("0.99", seen.p99), ("1", seen.longest)];
                each.map(|(q, time)| (label("quantile", q), time.as_secs_f64())).into()
            }),
            "fathom_lag_seconds" => {
                self.responses.and_then(|seen| Some(one(seen.lag?.as_secs_f64()))).unwrap_or_default()
            }
            "fathom_time_seconds" => one(self.now.nanos() as f64 / 1e9),
            "fathom_sampled" => {
                self.beside.iter().map(|(series, value)| (label("series", series), *value)).collect()
            }
            "fathom_scrapes_total" => one(self.scrapes as f64),
            other => unreachable!("{other} has a value as each metric has"),
        };
        METRICS
            .map(|(name, kind, help)| Metric { name, counts: kind == "counter", help, values: values(name) })
            .into()
    }

    /// In the text format of Prometheus, version 0.0.4, or as OpenMetrics 1.0.0.
    fn text(&self, is_open: bool) -> String {
        let mut text = String::new();
        let samples = self.samples();
        assert_eq!(samples.len(), METRICS.len(), "each metric has its samples");
        for (Metric { name, counts, help, values }, (_, kind, _)) in samples.into_iter().zip(METRICS) {
            // OpenMetrics names what is counted, and each value of it ends in `_total`.
            let family = if is_open && counts { name.trim_end_matches("_total") } else { name };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {family} {help}\n# TYPE {family} {kind}");
            for (labels, value) in values {
                let labels: Vec<String> = labels.iter().map(|(name, value)| label(name, value)).collect();
                let labels =
                    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
        if is_open {
            text.push_str("# EOF\n");
        }
        text
    }
}

/// A label as both text formats write it.
fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

/// What is known now, for whoever sends it on.
fn samples() -> Vec<Metric> {
    let mut samples = Vec::new();
    with(|now| samples = now.samples());
    samples
}

fn one(value: f64) -> Vec<(Labels, f64)> {
    vec![(Vec::new(), value)]
}

/// Answers one reader: `GET /metrics`, and nothing else.
fn answer(mut reader: TcpStream) -> std::io::Result<()> {
    reader.set_read_timeout(Some(PATIENCE))?;
    reader.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_MOST {
        match reader.read(&mut part)? {
            0 => break,
            read => request.extend(&part[..read]),
        }
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let is_it = words.next() == Some(b"GET") && words.next() == Some(b"/metrics");
    let is_open = String::from_utf8_lossy(&request).contains("application/openmetrics-text");
    let mut body = "Ask for GET /metrics.\n".to_owned();
    if is_it {
        with(|now| {
            now.scrapes += 1;
            body = now.text(is_open);
        });
    }
    let (status, kind) = match (is_it, is_open) {
        (true, true) => ("200 OK", "application/openmetrics-text; version=1.0.0"),
        (true, false) => ("200 OK", "text/plain; version=0.0.4"),
        _ => ("404 Not Found", "text/plain"),
    };
    let length = body.len();
    reader.write_all(
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .as_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(ops: u64, now_s: u64) -> Live<'static> {
        let now = Instant::from_nanos(now_s * 1_000_000_000);
        let progress = Progress { ops, bytes: ops * 4096, errors: 1, in_flight: 8 };
        let seen = Responses {
            p50: Nanos::from_millis(2),
            p99: Nanos::from_millis(9),
            longest: Nanos::from_secs(1),
            lag: None,
        };
        Live {
            progress,
            responses: Some(seen),
            done: Some(0.25),
            ..Live::beside(Instant::default(), now, "load")
        }
    }

    fn live(of: &Live<'static>) -> Event<'static> {
        Event::Live { index: 0, live: of.clone(), so_far: None }
    }

    #[test]
    fn counts_go_on_from_point_to_point_and_a_state_is_of_the_point() {
        let mut now = Now { plan: "a \"b\"\\".into(), ..Now::default() };
        now.hear(&live(&load(1_000, 1)));
        let text = now.text(false);
        for line in [
            r#"fathom_info{version=""#,
            r#",plan="a \"b\"\\",targets=""} 1"#,
            "fathom_requests_total 1000\n",
            "fathom_bytes_total 4096000\n",
            r#"fathom_response_seconds{quantile="0.99"} 0.009"#,
            "fathom_point_done_ratio 0.25\n",
            "fathom_in_flight 8\n",
            "# TYPE fathom_errors_total counter\nfathom_errors_total 1\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("\nfathom_lag_seconds "), "a closed loop has no lag: {text}");
        now.hear(&Event::PointStarted {
            index: 1,
            of: 2,
            name: "second",
            expected: None,
            expected_after: Nanos::ZERO,
        });
        assert!(!now.text(false).contains("fathom_response_seconds{"), "nothing is known of the second yet");
        now.hear(&live(&load(500, 3)));
        let text = now.text(false);
        assert!(
            text.contains("fathom_requests_total 1500\n") && text.contains("fathom_errors_total 2\n"),
            "{text}"
        );
        assert!(text.contains("fathom_points 2\n") && text.contains("point=\"second\""), "{text}");
    }

    #[test]
    fn open_metrics_name_what_is_counted_and_end_with_a_mark() {
        let mut now = Now::default();
        now.hear(&live(&load(1_000, 1)));
        let text = now.text(true);
        assert!(text.contains("# TYPE fathom_requests counter\nfathom_requests_total 1000\n"), "{text}");
        assert!(text.ends_with("\n# EOF\n"), "{text}");
    }

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        assert_eq!(address("9464"), Ok(SocketAddr::from(([127, 0, 0, 1], 9464))));
        assert_eq!(address("0.0.0.0:1"), Ok(SocketAddr::from(([0, 0, 0, 0], 1))));
        assert!(address("localhost").is_err() && address("99999").is_err());
    }
}
