//! Failed requests, wrong data, and runs that were cut short.

use record::{Point, Run, Severity, WorkloadResult, World};
use units::{Bytes, Nanos};

use crate::Code;
use crate::draft::{Draft, percent, several};

/// More failures than this part of the requests change every figure.
const ERRORS_INVALID: f64 = 0.001;

pub(crate) fn data_corrupt(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let verified = workload.verified.filter(|verified| verified.corrupt > 0)?;
    let first = workload.error_samples.iter().find_map(|sample| {
        let (expected, found) = (sample.expected.as_ref()?, sample.found.as_ref()?);
        let (offset, file) = (sample.offset_bytes, &sample.file);
        let rank = sample.rank.map(|rank| format!(" (read by rank {rank})")).unwrap_or_default();
        Some(format!(", the first at byte {offset} of {file}{rank}: expected {expected}, found {found}"))
    });
    let reads = several(verified.corrupt, "read");
    let sentence = format!("{reads} returned wrong data{}.", first.unwrap_or_default());
    let draft = Draft::new(Code::DataCorrupt, Severity::Invalid, sentence).remedy(
        "Keep the target as it is and inspect the blocks that the record names. Suspect memory, cables, firmware, and \
         other programs that write to the target.",
    );
    let draft = draft.number("corrupt", verified.corrupt as f64);
    Some(draft.number("checked_bytes", verified.checked_bytes as f64))
}

pub(crate) fn data_verified(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let verified = workload.verified.filter(|verified| verified.corrupt == 0)?;
    let (checked, unknown) = (verified.checked_bytes, verified.unknown_bytes);
    let draft = match (checked, unknown) {
        (0, 0) => return None,
        (0, _) => {
            let sentence =
                format!("None of the {} read could be verified against written data.", Bytes::new(unknown));
            let draft = Draft::new(Code::DataVerified, Severity::Warning, sentence);
            draft.remedy(
                "Write with `verify` in an earlier phase, or read data that a run with the same seed wrote.",
            )
        }
        (_, 0) => {
            let sentence = format!("All {} read were verified against written data.", Bytes::new(checked));
            Draft::new(Code::DataVerified, Severity::Note, sentence).remedy("No action needed.")
        }
        _ => {
            let (checked, unknown) = (Bytes::new(checked), Bytes::new(unknown));
            let sentence = format!(
                "{checked} of the data read were verified against written data; {unknown} could not be verified."
            );
            Draft::new(Code::DataVerified, Severity::Note, sentence)
                .remedy("To verify the rest, write all of it with `verify` in an earlier phase.")
        }
    };
    Some(draft.number("checked_bytes", checked as f64).number("unknown_bytes", unknown as f64))
}

pub(crate) fn errors(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    // Reads of wrong data completed, and have a finding of their own.
    let errors = workload.errors - workload.verified.map_or(0, |verified| verified.corrupt);
    if errors == 0 {
        return None;
    }
    let share = errors as f64 / workload.completed.max(errors) as f64;
    let severity = if share > ERRORS_INVALID { Severity::Invalid } else { Severity::Warning };
    let first = workload.error_samples.iter().find(|sample| sample.expected.is_none()).map(|sample| {
        format!(
            ", the first a {} at byte {} of {}: {}",
            sample.op, sample.offset_bytes, sample.file, sample.failure
        )
    });
    let sentence =
        format!("{} failed ({}){}.", several(errors, "request"), percent(share), first.unwrap_or_default());
    let remedy = match run.world {
        World::Host => {
            "Check `dmesg` and the health of the device. The record keeps the place of the first failures."
        }
        _ => {
            "`fathom array check ADDRESS` says which set has failed. The record keeps the place of the first failures."
        }
    };
    let draft = Draft::new(Code::Errors, severity, sentence).remedy(remedy);
    Some(draft.number("errors", errors as f64).number("errors_share", share))
}

pub(crate) fn gave_up(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    workload.gave_up.then(|| {
        let sentence = format!(
            "The workload stopped after {}, before its run time was over.",
            several(workload.errors, "failure")
        );
        Draft::new(Code::GaveUp, Severity::Invalid, sentence)
            .remedy("Fix what fails, then measure again.")
            .number("errors", workload.errors as f64)
    })
}

pub(crate) fn nothing_measured(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let ended: u64 = workload.classes.iter().map(|class| class.ops).sum();
    if ended > 0 {
        return None;
    }
    let (sentence, remedy) = match point.complete {
        true if workload.ended_in_warmup() => (
            ended_in_warmup(point, workload),
            "Warm up for less (`warmup`), or issue more (`ops`, `bytes`, `loops`).",
        ),
        true => ("No request completed within the measured window.".into(), LONGER),
        false => {
            ("The point was cut short before any request completed in its measured window.".into(), LONGER)
        }
    };
    let draft = Draft::new(Code::NothingMeasured, Severity::Invalid, sentence);
    Some(draft.remedy(remedy).number("settled", workload.completed as f64))
}

const LONGER: &str = "Measure longer (`run`), or find what delays the requests.";

fn ended_in_warmup(point: &Point, workload: &WorkloadResult) -> String {
    let stop = workload.spec.stop;
    let begun_ns = point.started_ns.saturating_add(stop.start.get());
    let warmup = stop.warmup_bytes.map_or_else(|| stop.warmup.to_string(), |bytes| bytes.to_string());
    format!(
        "The load had done its work after {}, within its warm-up of {warmup}, so that nothing was measured.",
        Nanos::new(workload.measured_from_ns.saturating_sub(begun_ns))
    )
}

/// Exit codes of interrupts, 128 and the number of the signal: SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXFSZ.
const INTERRUPTS: [u8; 6] = [129, 130, 131, 141, 143, 153];

pub(crate) fn interrupted(run: &Run) -> Option<Draft> {
    let cut_short = run.points.iter().filter(|point| !point.complete).count() as u64;
    if !INTERRUPTS.contains(&run.ending.code) && cut_short == 0 {
        return None;
    }
    let whole = run.points.len() as u64 - cut_short;
    let sentence =
        format!("Incomplete run: {} measured to the end, {cut_short} cut short.", several(whole, "point"));
    let draft = Draft::new(Code::Interrupted, Severity::Warning, sentence)
        .remedy("Measure again to get the rest. A point that was cut short is valid for the time it ran.");
    Some(draft.number("points_whole", whole as f64).number("points_cut_short", cut_short as f64))
}
