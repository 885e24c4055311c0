//! The rotating model against traces measured on real drives.
//!
//! The score is the demerit figure of Ruemmler and Wilkes (1994): the root mean square horizontal distance between
//! the two distributions of service time, as a share of the measured mean.

use std::io::Write;
use std::path::PathBuf;

use array::device::Command;
use array::device::rotating::{Drive, RotatingParams};
use array::meter::Class;
use units::Instant;
use units::convert::truncated;

use crate::fixture::diskspecs::{self, Measured};

const WORST: f64 = 0.06;
const MEDIAN: f64 = 0.05;

/// Where the traces are; they carry their own licence and so are not in this repository.
const FOLDER: &str = "FATHOM_DISK_TRACES";

#[test]
fn service_times_are_distributed_as_on_the_real_drives() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        let _closed =
            writeln!(std::io::stderr(), "skipped: {FOLDER} names no folder of measured disk traces");
        return;
    };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of traces can be read")
        .filter_map(|entry| {
            Some(entry.ok()?.file_name().into_string().ok()?.strip_suffix(".trace")?.to_owned())
        })
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} holds no *.trace", folder.display());
    let mut scores = Vec::new();
    for name in &names {
        let (params, trace) = diskspecs::load(&folder, name);
        let modelled = replay(&params, &trace);
        let score = demerit(&trace, &modelled);
        println!("{name}: demerit {:.1} %", score * 100.0);
        scores.push(score);
    }
    scores.sort_by(f64::total_cmp);
    let median = scores[(scores.len() - 1) / 2];
    assert!(
        scores.iter().all(|&score| score <= WORST),
        "worst demerit {:.1} %",
        scores[scores.len() - 1] * 100.0
    );
    assert!(median <= MEDIAN, "median demerit {:.1} %", median * 100.0);
}

/// Service times in microseconds: each request issued its measured pause after the one before has ended.
fn replay(params: &RotatingParams, trace: &[Measured]) -> Vec<f64> {
    let mut drive = Drive::new(params);
    let mut now = Instant::START;
    let mut times = Vec::with_capacity(trace.len());
    for request in trace {
        let class = if request.write { Class::HostWrite } else { Class::HostRead };
        let Measured { first, sectors, write, .. } = *request;
        let command = Command { first, sectors, tag: 0, write, class, ready: now, given: now };
        let end = drive.submit(now, command).expect("an idle drive starts at once");
        drive.finish(end);
        times.push((end - now).get() as f64 / 1e3);
        now = Instant::from_nanos(end.nanos() + truncated::<u64>(request.think_us * 1e3));
    }
    times
}

fn demerit(trace: &[Measured], modelled: &[f64]) -> f64 {
    let mut measured: Vec<f64> = trace.iter().map(|request| request.service_us).collect();
    let mut modelled = modelled.to_vec();
    measured.sort_by(f64::total_cmp);
    modelled.sort_by(f64::total_cmp);
    let squares: f64 = measured.iter().zip(&modelled).map(|(a, b)| (a - b).powi(2)).sum();
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    (squares / measured.len() as f64).sqrt() / mean
}
