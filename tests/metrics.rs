//! Live figures, the dashboard that shows them, and the parsers of the systems that take them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{User, lacks, repository, skipped, wait_until};

const PLAN: &str = r#"
name = "long"

[defaults]
span  = "4MiB"
depth = 4

[[phase]]
name = "read at random"
run  = "60s"
"#;

/// What `address` answers when it is asked for `path`.
fn get(address: &str, path: &str) -> String {
    get_as(address, path, "*/*")
}

/// The same for who takes only what `accept` says.
fn get_as(address: &str, path: &str, accept: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The value of a metric without labels.
fn value(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Every metric that the dashboard asks for.
fn of_dashboard() -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository("docs/grafana/fathom.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() > 8 && dashboard["uid"] == "fathom");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let asked = targets
        .map(|target| target["expr"].as_str().unwrap())
        .chain(variables.filter_map(|variable| variable["query"].as_str()));
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = asked.flat_map(|text| text.split(move |letter| !is_letter(letter)));
    words.filter(|word| word.starts_with("fathom_")).map(str::to_owned).collect()
}

#[test]
fn a_run_tells_live_figures_and_all_that_the_dashboard_asks_for() {
    let user = User::with_plan(PLAN);
    user.directory("disk");
    let mut running = user.start("run plan.toml --on disk --scratch 4MiB --set direct=false --metrics 0");
    let line = running.wait_for("live figures: ");
    let address = line.split("http://").nth(1).unwrap().trim().trim_end_matches("/metrics").to_owned();
    let text = || get(&address, "/metrics");
    wait_until("requests of the load", || {
        let text = text();
        value(&text, "fathom_requests_total").is_some_and(|ops| ops > 100.0)
            && text.contains("quantile=\"0.99\"")
            && text.contains("{series=\"cpu.idle\"}")
    });
    let first = text();
    assert!(
        first.starts_with("HTTP/1.1 200 OK\r\n") && first.contains("text/plain; version=0.0.4"),
        "{first}"
    );
    let exposed: BTreeSet<String> = first
        .lines()
        .filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned()))
        .collect();
    let missing: Vec<String> = of_dashboard().difference(&exposed).cloned().collect();
    assert!(missing.is_empty(), "the dashboard asks for {missing:?}, and there is only {exposed:?}");
    let guide = std::fs::read_to_string(repository("docs/src/monitoring.md")).unwrap();
    for name in &exposed {
        assert!(guide.contains(&format!("`{name}`")), "the guide does not explain {name}");
    }
    assert!(
        first.contains("fathom_info{version=") && first.contains("plan=\"long\",targets=\"disk\"} 1"),
        "{first}"
    );
    assert!(
        first.contains("fathom_point_info{point=\"read at random [direct false]\",doing=\"load\"} 1"),
        "{first}"
    );
    assert!(first.contains("fathom_sampled{series=\"cpu.idle\"}"), "{first}");
    let count = |text: &str| value(text, "fathom_requests_total").unwrap();
    wait_until("more requests", || count(&text()) > count(&first));
    assert!(get(&address, "/").starts_with("HTTP/1.1 404"), "nothing else is told");
    // One that says nothing holds nobody up for long.
    let silent = TcpStream::connect(&address).unwrap();
    assert!(text().starts_with("HTTP/1.1 200"));
    drop(silent);
    running.signal(Signal::INT);
    running.end().with(130);
    assert!(TcpStream::connect(&address).is_err(), "nothing is told once the run has ended");
}

#[test]
fn an_address_that_cannot_be_had_is_refused_before_anything_runs() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on null: --metrics nowhere").with(2).saying(&["use a port, such as 9464"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended = user.fathom(&format!("run plan.toml --on null: --metrics {port}"));
    assert!(ended.code != Some(0) && ended.err.contains("--metrics 127.0.0.1:"), "{}", ended.err);
    user.fathom("run plan.toml --on null: --against null: --metrics 0")
        .with(2)
        .saying(&["--metrics and --metrics-to tell of one side"]);
}

/// Has each part of a label that some format writes behind another letter.
const NAME: &str = r#"read, all="c:\data""#;

fn reader() -> User {
    let user = User::new();
    user.write("read.toml", format!("name = '{NAME}'\n[[phase]]\nspan = \"4MiB\"\ndepth = 4\n"));
    user.directory("disk");
    user
}

/// Runs a load that sends its figures to `url`, for so long that some of them have response times and what is sampled.
fn sends_to(user: &User, url: &str) {
    let set = "--set direct=false --set run=4s --set warmup=0s";
    user.fathom(&format!("run read.toml --on disk --scratch 4MiB {set} --metrics-to {url}")).done();
}

#[test]
fn lines_of_influxdb_reach_a_udp_endpoint_and_its_parsers_read_them_alike() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    sends_to(&reader(), &format!("udp://{}", socket.local_addr().unwrap()));
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (mut text, mut datagram) = (String::new(), [0; 65536]);
    while let Ok(read) = socket.recv(&mut datagram) {
        text.push_str(std::str::from_utf8(&datagram[..read]).unwrap());
    }
    // The parser of InfluxDB 3, and that of 1 and 2.
    let lines: Vec<_> = influxdb_line_protocol::parse_lines(&text)
        .map(|line| line.unwrap_or_else(|error| panic!("{error}: {text}")))
        .collect();
    assert!(lines.iter().all(|line| line.timestamp.is_some() && !line.field_set.is_empty()), "{text}");
    let info = lines.iter().find(|line| line.series.measurement == "fathom_info").expect("its own line");
    let plan = info.series.tag_set.iter().flatten().find(|(key, _)| *key == "plan").expect("the plan");
    assert_eq!(plan.1.to_string(), NAME, "escapes are undone by the parser");
    assert!(text.contains(r#"plan=read\,\ all\="c:\data""#), "{text}");
    reads("influx", &text);
}

#[test]
fn a_collector_of_opentelemetry_is_sent_what_its_own_parser_reads() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut all, mut part) = (Vec::new(), [0; 65536]);
            loop {
                let text = String::from_utf8_lossy(&all).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head.split("Content-Length: ").nth(1).unwrap().split("\r\n").next().unwrap();
                    if body.len() >= length.parse::<usize>().unwrap() {
                        let _gone = tell.send((head.to_owned(), body.to_owned()));
                        break;
                    }
                }
                match stream.read(&mut part) {
                    Ok(read) if read > 0 => all.extend(&part[..read]),
                    _ => break,
                }
            }
            let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        }
    });
    sends_to(&reader(), &format!("otlp://{address}"));
    let all: Vec<(String, String)> = told.try_iter().collect();
    // One that came while the load lasted has more figures than the last.
    let (head, body) = all.iter().max_by_key(|(_, body)| body.len()).expect("a request").clone();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1") && head.contains("application/json"), "{head}");
    let sent: Value = serde_json::from_str(&body).unwrap();
    let metrics = sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let requests = metrics.iter().find(|one| one["name"] == "fathom_requests_total").unwrap();
    assert!(requests["sum"]["dataPoints"][0]["asDouble"].as_f64().unwrap() > 100.0, "{requests:#}");
    reads("otlp", &body);
}

#[test]
fn an_endpoint_that_does_not_answer_costs_the_run_nothing() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let user = reader();
    let line = format!(
        "run read.toml --on disk --scratch 4MiB --set direct=false --set run=1s --metrics-to http://127.0.0.1:{port}/write?db=x"
    );
    let ended = user.fathom(&line).done();
    assert_eq!(ended.err.matches("the run continues").count(), 1, "{}", ended.err);
    user.fathom("run read.toml --on disk --metrics-to https://x:1/write").with(2).saying(&["TLS"]);
}

#[test]
fn parsers_of_prometheus_read_both_texts_without_a_complaint() {
    let user = reader();
    let mut running =
        user.start("run read.toml --on disk --scratch 4MiB --set direct=false --set run=60s --metrics 0");
    let line = running.wait_for("live figures: ");
    let address = line.split("http://").nth(1).unwrap().trim().trim_end_matches("/metrics").to_owned();
    wait_until("response times and what is sampled", || {
        let text = get(&address, "/metrics");
        text.contains("quantile=\"0.99\"") && text.contains("{series=\"cpu.idle\"}")
    });
    let get = |accept: &str| {
        let answer = get_as(&address, "/metrics", accept);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    };
    let (head, open) = get("application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    let (head, plain) = get("text/plain");
    assert!(head.contains("text/plain; version=0.0.4") && !plain.contains("# EOF"), "{head}");
    running.signal(Signal::INT);
    running.wait();
    reads("openmetrics", &open);
    reads("prometheus", &plain);
    for (parser, text) in [("openmetrics.parser", &open), ("parser", &plain)] {
        let program = format!(
            "import sys\nfrom prometheus_client.{parser} import text_string_to_metric_families as read\n\
             names = [family.name for family in read(sys.stdin.read())]\nassert len(names) > 8, names"
        );
        match fed(Command::new("python3").args(["-c", &program]), text) {
            Some(Output { status, .. }) if status.success() => {}
            Some(output) if said(&output).contains("ModuleNotFoundError") => {
                skipped("python3 has no prometheus_client, by which the text would be read");
            }
            Some(output) => panic!("{}\n{text}", said(&output)),
            None => lacks("python3", "python3 is not installed"),
        }
    }
}

/// Has the parser of the system that takes `form` read `text`, and finds the figures of [`reader`] in what it has read.
///
/// Nothing is checked, which is said, where there is no Go, or the modules of those systems cannot be had.
fn reads(form: &str, text: &str) {
    let Some(program) = parsers() else { return };
    let output = fed(Command::new(program).arg(form), text).unwrap();
    assert!(output.status.success(), "{}\n{text}", said(&output));
    let lines: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    let figures: Vec<(&str, Value, f64)> = lines
        .iter()
        .map(|line| {
            let ((rest, number), name) = (line.rsplit_once(' ').unwrap(), line.split(' ').next().unwrap());
            (name, serde_json::from_str(&rest[name.len()..]).unwrap(), number.parse().unwrap())
        })
        .collect();
    let is_there = |name: &str, is_it: &dyn Fn(&Value, f64) -> bool| {
        figures.iter().any(|(of, labels, number)| *of == name && is_it(labels, *number))
    };
    for (name, label, wanted) in [
        ("fathom_info", "plan", NAME),
        ("fathom_info", "targets", "disk"),
        ("fathom_response_seconds", "quantile", "0.99"),
        ("fathom_sampled", "series", "cpu.idle"),
    ] {
        assert!(is_there(name, &|labels, _| labels[label] == wanted), "{form}: {name} {label}: {lines:#?}");
    }
    assert!(is_there("fathom_requests_total", &|_, number| number > 100.0), "{form}: {lines:#?}");
}

/// The program of `tests/metrics-parsers`.
fn parsers() -> Option<&'static str> {
    static PROGRAM: OnceLock<Result<String, String>> = OnceLock::new();
    let said = |why: &String| {
        skipped(&format!("the parsers of Prometheus, InfluxDB and OpenTelemetry are left out: {why}"));
    };
    PROGRAM.get_or_init(build_parsers).as_deref().inspect_err(|why| said(why)).ok()
}

/// Builds it, which takes a minute the first time; or why it cannot be built here.
fn build_parsers() -> Result<String, String> {
    let program = format!("{}/metrics-parsers", env!("CARGO_TARGET_TMPDIR"));
    // No other compiler is fetched, and nothing is waited for that does not answer.
    let built = Command::new("timeout")
        .args(["180", "go", "build", "-o", &program, "."])
        .env("GOTOOLCHAIN", "local")
        .current_dir(repository("tests/metrics-parsers"))
        .output()
        .unwrap();
    let why = said(&built);
    match built.status.code() {
        Some(0) => Ok(program),
        Some(124) => Err("their modules did not come within 3 minutes".to_owned()),
        Some(127) => Err("go is not installed".to_owned()),
        _ if [
            "dial tcp",
            "proxyconnect",
            "reading https://",
            "Get \"https://",
            "GOPROXY=off",
            "requires go",
            "invalid go version",
        ]
        .iter()
        .any(|missing| why.contains(missing)) =>
        {
            Err(format!("go cannot have them: {}", why.lines().last().unwrap_or_default()))
        }
        _ => panic!("{why}"),
    }
}

/// What came back of a program with that on its stdin; none where it is not there.
fn fed(command: &mut Command, input: &str) -> Option<Output> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    child.wait_with_output().ok()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}
