//! Whether the record agrees with itself.

use record::{Class, Histogram, Point, Run, Severity, WorkloadResult};
use units::Nanos;

use crate::Code;
use crate::draft::{Draft, percent, several};

pub(crate) fn conservation(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let wrong = |sentence: String| {
        Some(Draft::new(Code::Conservation, Severity::Invalid, sentence).remedy(
            "This is a fault of the program or of the engine: please report it with the record \
             (`fathom export --format json`).",
        ))
    };
    if workload.planned != workload.settled {
        let sentence = format!(
            "{} planned, {} ended: some were lost.",
            several(workload.planned, "request"),
            several(workload.settled, "request")
        );
        let draft = wrong(sentence)?;
        return Some(
            draft.number("planned", workload.planned as f64).number("settled", workload.settled as f64),
        );
    }
    // Files of a range of sizes are one class, which has none.
    let told_apart = |class: &&Class| class.size_bytes > 0 || class.bytes == 0;
    let class = workload
        .classes
        .iter()
        .filter(told_apart)
        .find(|class| class.ops.checked_mul(class.size_bytes) != Some(class.bytes));
    if let Some(class) = class {
        let sentence = format!(
            "{} {}s of {} bytes are said to have moved {} bytes.",
            class.ops, class.op, class.size_bytes, class.bytes
        );
        return wrong(sentence);
    }
    let by_class: u64 = workload.classes.iter().map(|class| class.ops).sum();
    let by_worker: u64 = workload.workers.iter().map(|worker| worker.ops).sum();
    if !workload.workers.is_empty() && by_class != by_worker {
        return wrong(format!("The workers did {by_worker} requests, the classes count {by_class}."));
    }
    None
}

/// Source: Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9 (1961).
const LITTLE_MOST: f64 = 0.02;

pub(crate) fn little_law(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    // A failed request was in flight and is in no histogram.
    if workload.errors > 0 || workload.measured_ns == 0 || workload.mean_in_flight <= 0.0 {
        return None;
    }
    let ops: u64 = workload.classes.iter().map(|class| class.ops).sum();
    // In flight is what was issued and has not ended: the service time, where it is not the response time.
    let times: Vec<&Histogram> =
        workload.classes.iter().map(|class| class.service.as_ref().unwrap_or(&class.response)).collect();
    let count: u64 = times.iter().map(|histogram| histogram.count).sum();
    let sum_ns: f64 = times.iter().map(|histogram| histogram.sum_ns as f64).sum();
    if count == 0 {
        return None;
    }
    let window_ns = workload.measured_ns as f64;
    let mean_ns = sum_ns / count as f64;
    let rate_per_s = ops as f64 / window_ns * 1e9;
    let expected = rate_per_s * mean_ns / 1e9;
    let off = (workload.mean_in_flight - expected).abs() / workload.mean_in_flight;
    // Requests cut by the edges of the window weigh as much as the longest of them is part of it.
    let longest = times.iter().filter_map(|histogram| histogram.max_ns).max().unwrap_or(0) as f64;
    if off <= LITTLE_MOST + longest / window_ns {
        return None;
    }
    let sentence = format!(
        "{:.2} requests were in flight on average, but rate times mean latency ({:.0}/s × {}) gives {expected:.2}: \
         {} apart.",
        workload.mean_in_flight,
        rate_per_s,
        Nanos::from_secs_f64(mean_ns / 1e9),
        percent(off)
    );
    let draft = Draft::new(Code::LittleLaw, Severity::Warning, sentence)
        .remedy("Measure longer; if it stays, latencies or rates of this record are not to be trusted.");
    Some(draft.number("in_flight", workload.mean_in_flight).number("in_flight_expected", expected))
}
