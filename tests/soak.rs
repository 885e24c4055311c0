//! A load of days needs no more memory than one of hours.

use std::io::Read;
use std::process::Stdio;

use crate::support::User;

const SOAK: &str = r#"
name = "soak"

[[phase]]
size  = "4KiB"
reads = "50%"
pace  = "rate(0.5/s)"
run   = "7d"
"#;

const SECOND_NS: f64 = 1e9;

/// The most that a process has had in memory so far, in KiB.
fn peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_virtual_week_needs_less_than_100_megabytes_and_its_record_covers_it_all() {
    let user = User::with_plan(SOAK);
    let mut command = user.command("run plan.toml --on array:md3000 --format json --quiet");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    // A record of megabytes does not fit the pipe: when the first byte comes all is done but for the rest of the writing.
    let mut text = vec![0; 1];
    out.read_exact(&mut text).unwrap();
    let peak = peak_kib(child.id());
    out.read_to_end(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(peak * 1024 < 100_000_000, "{peak} KiB");

    let run: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let point = &run["points"][0];
    let (mut ops, mut length) = (0.0, 0.0);
    for series in point["series"].as_array().unwrap() {
        if !series["name"].as_str().unwrap().ends_with(" ops") {
            continue;
        }
        let numbers = |key: &str| -> Vec<f64> {
            series[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let (ends, rates) = (numbers("at_ns"), numbers("values"));
        let mut from = series["from_ns"].as_f64().unwrap();
        length = (ends.last().unwrap() - from) / SECOND_NS;
        for (until, rate) in ends.iter().zip(&rates) {
            ops += rate * (until - from) / SECOND_NS;
            from = *until;
        }
        let last: Vec<f64> = ends.windows(2).rev().take(7_200).map(|pair| pair[1] - pair[0]).collect();
        assert!(last.iter().all(|length| *length == SECOND_NS), "the last two hours are there by seconds");
    }
    let counted: u64 = point["workloads"][0]["totals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| op["ops"].as_u64().unwrap())
        .sum();
    assert!((length - 604_800.0).abs() < 1.0, "{length} s");
    assert!((ops - counted as f64).abs() < 0.5, "{ops} of {counted}");
}
