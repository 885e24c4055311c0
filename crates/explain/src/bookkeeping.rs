//! Whether the record agrees with itself.

use record::{Class, Point, Run, Severity, WorkloadResult};

use crate::Code;
use crate::draft::{Draft, percent, several};

pub(crate) fn conservation(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let wrong = |sentence: String| {
        Some(Draft::new(Code::Accounting, Severity::Invalid, sentence).remedy(
            "Do not use these figures. This is a fault of Fathom or of its I/O engine: report it with the record \
             (`fathom export --format json`).",
        ))
    };
    if workload.planned != workload.completed {
        let sentence = format!(
            "{} planned, {} completed: some were lost.",
            several(workload.planned, "request"),
            several(workload.completed, "request")
        );
        let draft = wrong(sentence)?;
        return Some(
            draft.number("planned", workload.planned as f64).number("settled", workload.completed as f64),
        );
    }
    // Files of a range of sizes are one class, which has none.
    let told_apart = |class: &&Class| class.size_bytes > 0;
    let class = workload
        .classes
        .iter()
        .filter(told_apart)
        .find(|class| class.ops.checked_mul(class.size_bytes) != Some(class.bytes));
    if let Some(class) = class {
        let sentence = format!(
            "The record counts {} bytes for {} {}s of {} bytes.",
            class.bytes, class.ops, class.op, class.size_bytes
        );
        return wrong(sentence);
    }
    let by_class: u64 = workload.classes.iter().map(|class| class.ops).sum();
    let by_worker: u64 = workload.workers.iter().map(|worker| worker.ops).sum();
    if !workload.workers.is_empty() && by_class != by_worker {
        return wrong(format!("The workers count {by_worker} requests, the request classes {by_class}."));
    }
    let edges = workload.edges?;
    let timed: u64 = workload.classes.iter().map(|class| class.response.count).sum();
    let due = by_class + edges.ended_after + workload.not_issued;
    if timed != due {
        return wrong(format!(
            "{} completed in the window, {} after it and {} never; the histograms hold {}.",
            several(by_class, "request"),
            edges.ended_after,
            workload.not_issued,
            several(timed, "response time")
        ));
    }
    None
}

/// What rounding of the clock and completions that are reaped late add.
const LITTLE_MOST: f64 = 0.001;

/// Source: Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9 (1961), for a window whose edges cut
/// requests: the time that each was in service within it, summed, is the number in flight over time, summed.
pub(crate) fn little_law(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let edges = workload.edges?;
    if workload.measured_ns == 0 {
        return None;
    }
    // In flight is what was issued and has not completed: the service time, where it is not the response time.
    let times = workload.classes.iter().map(|class| class.service.as_ref().unwrap_or(&class.response));
    let in_service_ns: f64 = times.map(|histogram| histogram.sum_ns as f64).sum();
    let beyond_ns = [edges.before_ns, edges.after_ns, edges.lag_ns].map(|part| part as f64);
    let within_ns = in_service_ns - beyond_ns.iter().sum::<f64>() + edges.failed_ns as f64;
    let expected = within_ns / workload.measured_ns as f64;
    let in_flight = workload.mean_in_flight;
    let off = (in_flight - expected).abs() / in_flight.max(expected);
    // Nothing in flight at all is no contradiction.
    if !off.is_finite() || off <= LITTLE_MOST {
        return None;
    }
    let sentence = format!(
        "Little's law is off by {}: {in_flight:.3} requests were in flight on average, but their service times within \
         the window add up to {expected:.3}.",
        percent(off)
    );
    let draft = Draft::new(Code::LittleLaw, Severity::Warning, sentence).remedy(
        "Do not use the latencies and rates of this record. Report it with the record \
         (`fathom export --format json`).",
    );
    Some(draft.number("in_flight", in_flight).number("in_flight_expected", expected))
}
