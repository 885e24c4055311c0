//! How often the 95 % intervals of rates, means and percentiles hold the truth, on queues whose truth is known.

use stats::selftest::{Coverage, QUEUES, SERVICE_S, coverage};

use super::{Check, Extent, Section};

/// What is asked of an interval of 95 %, in per cent.
const ASKED: (f64, f64) = (93.0, 97.0);
/// Fewer intervals than these say nothing of how many hold.
const GIVEN_LEAST: u32 = 20;
/// So many standard errors beyond what is asked are chance.
const ERRORS: f64 = 2.6;

pub fn section(extent: Extent) -> Section {
    let (seconds, runs) = match extent {
        Extent::Short => (20, 40),
        Extent::Full => (60, 200),
    };
    let all: Vec<Coverage> =
        QUEUES.into_iter().flat_map(|queue| coverage(queue, SERVICE_S, seconds, runs)).collect();
    let (told, few): (Vec<&Coverage>, Vec<&Coverage>) = all.iter().partition(|one| one.given >= GIVEN_LEAST);
    let none = few.iter().map(|one| format!("{} of {} ({} of {runs})", one.figure, one.queue, one.given));
    let mut notes = vec![format!(
        "{runs} runs of {seconds} s each; 93 to 97 % are asked, and what so many runs vary by chance is allowed besides."
    )];
    if !few.is_empty() {
        let none: Vec<String> = none.collect();
        notes.push(format!("Too few runs gave an interval, for lack of requests, of: {}.", none.join(", ")));
    }
    Section {
        title: "95 % intervals hold the truth".into(),
        checks: told.into_iter().map(check).collect(),
        notes,
    }
}

fn check(one: &Coverage) -> Check {
    let chance = 100.0 * ERRORS * (0.95 * 0.05 / f64::from(one.given)).sqrt();
    Check {
        what: format!("{} of {}", one.figure, one.queue),
        measure: format!("% of {} intervals hold it, of {} runs", one.given, one.runs),
        found: one.share().unwrap_or(0.0) * 100.0,
        low: Some(ASKED.0 - chance),
        high: Some((ASKED.1 + chance).min(100.0)),
    }
}
