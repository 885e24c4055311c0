//! Live figures, and the dashboard that shows them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{User, repository, wait_until};

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
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
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
    assert!(first.contains("fathom_point_info{point=\"read at random\",doing=\"load\"} 1"), "{first}");
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
