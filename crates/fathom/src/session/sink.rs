//! Live figures sent on: InfluxDB's line protocol over UDP or HTTP, and OpenTelemetry's OTLP over HTTP as JSON.
//!
//! OTLP's JSON form is written with what writes records already: a client of its own would bring a runtime and the binary
//! form's compiler for one kind of message.
//!
//! **Invariant:** an endpoint that does not answer costs the load nothing and the run no result; it is said once.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::ending::Failure;
use crate::terminal;

/// How often figures are sent.
const EVERY: Duration = Duration::from_secs(1);
/// How long an endpoint may take for one sending.
const PATIENCE: Duration = Duration::from_secs(2);
/// A datagram that every path takes in one piece.
const DATAGRAM_MOST: usize = 1_400;
/// Where collectors take metrics.
const OTLP_PATH: &str = "/v1/metrics";
/// What holds the token of an InfluxDB.
const TOKEN: &str = "INFLUX_TOKEN";

/// Names and values that tell values of one metric apart.
pub(super) type Labels = Vec<(String, String)>;

/// One metric and what it is now.
pub(super) struct Metric {
    pub name: &'static str,
    /// Whether it counts; otherwise it is a state.
    pub counts: bool,
    pub help: &'static str,
    pub values: Vec<(Labels, f64)>,
}

/// Where figures are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    way: Way,
    host: String,
    /// With its query.
    path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    InfluxUdp,
    InfluxHttp,
    Otlp,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        let form = "write udp://HOST:PORT, http://HOST:PORT/write?db=NAME or otlp://HOST:PORT";
        let (scheme, rest) = text.split_once("://").ok_or(form)?;
        let way = match scheme {
            "udp" => Way::InfluxUdp,
            "http" => Way::InfluxHttp,
            "otlp" => Way::Otlp,
            "https" => return Err("TLS is not spoken; send to an agent or collector on this machine".into()),
            _ => return Err(form.into()),
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_named =
            host.rsplit_once(':').is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
        if !is_named || rest.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(form.into());
        }
        let path = match (way, path.trim_end_matches('/')) {
            (Way::Otlp, "") => OTLP_PATH,
            (Way::InfluxHttp, "") => {
                return Err(
                    "name where it takes lines: /write?db=NAME, or /api/v2/write?org=ORG&bucket=BUCKET"
                        .into(),
                );
            }
            (_, _) => path,
        };
        Ok(Endpoint { way, host: host.into(), path: path.into() })
    }
}

/// Asks for a last sending, and hears when it is done.
type Last = Sender<()>;

static LAST: OnceLock<Mutex<Sender<Last>>> = OnceLock::new();

/// Sends what `samples` gives to `endpoints` each second from now on to the end of the process.
pub(super) fn start(endpoints: &[Endpoint], samples: fn() -> Vec<Metric>) -> Result<(), Failure> {
    debug_assert!(!endpoints.is_empty(), "figures are sent somewhere");
    let endpoints = endpoints.to_vec();
    let (ask, asked) = channel::<Last>();
    let send = move || {
        let mut is_told = vec![false; endpoints.len()];
        loop {
            let last = asked.recv_timeout(EVERY);
            let figures = samples();
            let now_ns = Timestamp::now().as_nanosecond();
            for (endpoint, is_told) in endpoints.iter().zip(&mut is_told) {
                if let Err(error) = endpoint.send(&figures, now_ns)
                    && !std::mem::replace(is_told, true)
                {
                    terminal::say_sentence(&format!(
                        "--metrics-to {}: {error}; the run continues, and later figures are tried",
                        endpoint.host
                    ));
                }
            }
            match last {
                Ok(done) => drop(done.send(())),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    };
    std::thread::Builder::new()
        .name("metrics-to".into())
        .spawn(send)
        .map_err(Failure::system("--metrics-to"))?;
    LAST.get_or_init(|| Mutex::new(ask));
    Ok(())
}

/// Has the figures sent once more, where they are sent at all: a run may end between two seconds.
pub fn finish() {
    let Some(ask) = LAST.get() else { return };
    let (done, is_done) = channel();
    if ask.lock().unwrap_or_else(PoisonError::into_inner).send(done).is_ok() {
        // An endpoint that hangs holds nobody up for long.
        let _late = is_done.recv_timeout(PATIENCE * 2);
    }
}

impl Endpoint {
    fn send(&self, figures: &[Metric], now_ns: i128) -> Result<(), String> {
        match self.way {
            Way::InfluxUdp => self.datagrams(&lines(figures, now_ns)),
            Way::InfluxHttp => {
                let token = std::env::var(TOKEN).ok().filter(|token| !token.chars().any(char::is_control));
                let more = token.map(|token| format!("Authorization: Token {token}\r\n")).unwrap_or_default();
                self.post("text/plain; charset=utf-8", &more, &lines(figures, now_ns).concat())
            }
            Way::Otlp => self.post("application/json", "", &otlp(figures, now_ns).to_string()),
        }
    }

    fn address(&self) -> Result<std::net::SocketAddr, String> {
        let mut found = self.host.to_socket_addrs().map_err(|error| error.to_string())?;
        found.next().ok_or_else(|| "the host has no address".into())
    }

    fn datagrams(&self, lines: &[String]) -> Result<(), String> {
        let to = self.address()?;
        let from = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(from).map_err(|error| error.to_string())?;
        let mut part = String::new();
        for line in lines.iter().map(Some).chain([None]) {
            let is_full = line.is_none_or(|line| part.len() + line.len() > DATAGRAM_MOST);
            if is_full && !part.is_empty() {
                socket.send_to(part.as_bytes(), to).map_err(|error| error.to_string())?;
                part.clear();
            }
            debug_assert!(line.is_none_or(|line| line.ends_with('\n')), "a datagram is of whole lines");
            part.extend(line.map(String::as_str));
        }
        Ok(())
    }

    fn post(&self, kind: &str, headers: &str, body: &str) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect_timeout(&self.address()?, PATIENCE).map_err(told)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(told)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(told)?;
        let Endpoint { host, path, .. } = self;
        let length = body.len();
        debug_assert!(headers.is_empty() || headers.ends_with("\r\n"), "a header ends its line");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: fathom\r\nContent-Type: {kind}\r\n{headers}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(told)?;
        let mut answer = [0; 256];
        let read = stream.read(&mut answer).map_err(told)?;
        let answer = String::from_utf8_lossy(&answer[..read]);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        if status.starts_with('2') {
            Ok(())
        } else {
            Err(format!("it answers {}", answer.lines().next().unwrap_or("nothing")))
        }
    }
}

/// A line of InfluxDB's protocol for each value, with its line end: `fathom_requests_total,plan=oltp value=5 TIME`.
fn lines(figures: &[Metric], now_ns: i128) -> Vec<String> {
    // What separates parts of a line is written behind a backslash, and a backslash of its own as it is: InfluxDB 1 and 2 read
    // two of them as two, InfluxDB 3 as one. Before a separator, another one or the end they disagree, so there is none; a
    // tag has no line end.
    let escaped = |text: &str| {
        let mut out = String::new();
        let mut letters = text.chars().filter(|letter| !letter.is_control()).peekable();
        while let Some(letter) = letters.next() {
            let next = letters.peek();
            match letter {
                ',' | '=' | ' ' => out.extend(['\\', letter]),
                '\\' if next.is_none_or(|next| matches!(next, ',' | '=' | ' ' | '\\')) => {}
                _ => out.push(letter),
            }
        }
        out
    };
    let tags = |labels: &Labels| -> String {
        // An empty tag is no tag.
        let some = labels.iter().filter(|(_, value)| !value.is_empty());
        some.map(|(name, value)| format!(",{}={}", escaped(name), escaped(value))).collect()
    };
    let each = figures
        .iter()
        .flat_map(|figure| figure.values.iter().map(|(labels, value)| (figure.name, labels, value)));
    each.filter(|(_, _, value)| value.is_finite())
        .map(|(name, labels, value)| format!("{name}{} value={value} {now_ns}\n", tags(labels)))
        .collect()
}

/// An `ExportMetricsServiceRequest` in the JSON form of OTLP 1.x: counts as cumulative sums, states as gauges.
fn otlp(figures: &[Metric], now_ns: i128) -> serde_json::Value {
    use serde_json::{Value, json};
    let attributes = |labels: &Labels| -> Vec<Value> {
        labels.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
    };
    static BEGAN: OnceLock<String> = OnceLock::new();
    let now = now_ns.to_string();
    let began = BEGAN.get_or_init(|| now.clone());
    let metric = |figure: &Metric| {
        let points: Vec<Value> = figure
            .values
            .iter()
            .filter(|(_, value)| value.is_finite())
            .map(|(labels, value)| {
                json!({
                    "attributes": attributes(labels), "startTimeUnixNano": began, "timeUnixNano": now,
                    "asDouble": value,
                })
            })
            .collect();
        let (name, help) = (figure.name, figure.help);
        match figure.counts {
            true => json!({
                "name": name, "description": help,
                "sum": { "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": points },
            }),
            false => json!({ "name": name, "description": help, "gauge": { "dataPoints": points } }),
        }
    };
    let metrics: Vec<Value> = figures.iter().filter(|figure| !figure.values.is_empty()).map(metric).collect();
    let service = vec![("service.name".to_owned(), "fathom".to_owned())];
    json!({ "resourceMetrics": [{
        "resource": { "attributes": attributes(&service) },
        "scopeMetrics": [{ "scope": { "name": "fathom", "version": env!("CARGO_PKG_VERSION") }, "metrics": metrics }],
    }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Vec<Metric> {
        let labels = vec![("plan".to_owned(), "a b,c=\\d".to_owned()), ("targets".into(), String::new())];
        vec![
            Metric { name: "fathom_info", counts: false, help: "1", values: vec![(labels, 1.0)] },
            Metric {
                name: "fathom_requests_total",
                counts: true,
                help: "so many",
                values: vec![(Vec::new(), 5.0)],
            },
            Metric { name: "fathom_lag_seconds", counts: false, help: "late", values: Vec::new() },
        ]
    }

    #[test]
    fn a_line_has_its_separators_escaped_and_no_empty_tag() {
        assert_eq!(
            lines(&figures(), 7),
            ["fathom_info,plan=a\\ b\\,c\\=\\d value=1 7\n", "fathom_requests_total value=5 7\n"]
        );
    }

    #[test]
    fn counts_are_cumulative_sums_and_what_has_no_value_is_left_out() {
        let sent = otlp(&figures(), 7);
        let metrics = sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        assert_eq!(metrics.len(), 2);
        assert_eq!(
            metrics[0]["gauge"]["dataPoints"][0]["attributes"][0]["value"]["stringValue"],
            "a b,c=\\d"
        );
        assert_eq!(metrics[1]["sum"]["aggregationTemporality"], 2);
        assert_eq!(metrics[1]["sum"]["dataPoints"][0]["asDouble"], 5.0);
        assert_eq!(metrics[1]["sum"]["dataPoints"][0]["timeUnixNano"], "7", "64 bits are text in JSON");
    }

    #[test]
    fn an_endpoint_is_named_by_scheme_host_and_port() {
        let of = |text: &str| text.parse::<Endpoint>();
        assert_eq!(of("otlp://collector:4318").unwrap().path, "/v1/metrics");
        assert_eq!(of("http://influx:8086/write?db=lab").unwrap().path, "/write?db=lab");
        assert_eq!(of("udp://[::1]:8089").unwrap().host, "[::1]:8089");
        for wrong in [
            "influx:8086",
            "http://influx:8086",
            "https://influx:8086/write",
            "udp://influx",
            "ftp://a:1",
            "udp://:1",
            "http://a:1/w x",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
