//! How often the 95 % intervals of rates, means and percentiles hold the truth, on queues whose truth is known.

use stats::selftest::{Coverage, QUEUES, SERVICE_S, coverage};

use super::{Check, Extent, Section};

/// What is asked of an interval of 95 %, in per cent.
const ASKED: (f64, f64) = (93.0, 97.0);
/// So many standard errors beyond what is asked are chance.
const ERRORS: f64 = 2.6;

pub fn section(extent: Extent) -> Section {
    let (seconds, runs) = match extent {
        Extent::Short => (20, 40),
        Extent::Full => (60, 200),
    };
    let all: Vec<Coverage> =
        QUEUES.into_iter().flat_map(|queue| coverage(queue, SERVICE_S, seconds, runs)).collect();
    let notes = vec![
        format!(
            "{runs} runs of {seconds} s each; 93 to 97 % are asked, and what so many runs vary by chance is allowed."
        ),
        "Where less than half of the runs have requests enough for an interval, those that have are no fair sample; \
         there no more than 5 % of all runs may give one that misses."
            .into(),
    ];
    Section { title: "95 % intervals hold the truth".into(), checks: all.iter().map(check).collect(), notes }
}

fn check(one: &Coverage) -> Check {
    let what = format!("{} of {}", one.figure, one.queue);
    if one.given * 2 < one.runs {
        let missed = one.given - one.held;
        return Check {
            what,
            measure: format!("% of {} runs gave an interval that misses, {} gave one", one.runs, one.given),
            found: 100.0 * f64::from(missed) / f64::from(one.runs.max(1)),
            low: None,
            high: Some(100.0 - ASKED.0.midpoint(ASKED.1) + chance(one.runs)),
        };
    }
    Check {
        what,
        measure: format!("% of {} intervals hold it, of {} runs", one.given, one.runs),
        found: one.share().unwrap_or(0.0) * 100.0,
        low: Some(ASKED.0 - chance(one.given)),
        high: Some((ASKED.1 + chance(one.given)).min(100.0)),
    }
}

/// By how much a share of 95 % in so many runs varies, in per cent.
fn chance(runs: u32) -> f64 {
    100.0 * ERRORS * (0.95 * 0.05 / f64::from(runs.max(1))).sqrt()
}
