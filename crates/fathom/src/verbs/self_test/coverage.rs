//! How often the 95 % intervals of rates, means and percentiles hold the truth, on queues whose truth is known.

use stats::selftest::{Coverage, QUEUES, Queue, SERVICE_S, coverage};

use super::{Check, Extent, Family, Section};

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
    Section {
        title: format!("95 % intervals hold the truth, in {runs} runs of {seconds} s each"),
        checks: all.iter().map(check).collect(),
        families: KINDS.into_iter().filter_map(|kind| family(kind, &all)).collect(),
        notes,
    }
}

/// Queues of one kind.
type Kind = (&'static str, fn(Queue) -> bool);

/// Every queue is of one of them.
const KINDS: [Kind; 3] = [
    ("M/M/1", |queue| matches!(queue, Queue::Open(_))),
    ("M/D/1", |queue| matches!(queue, Queue::OpenConstant(_))),
    ("closed loops", |queue| matches!(queue, Queue::Thinking(..) | Queue::Closed(_))),
];

/// The worst and the best figure of the queues of that kind; `None` where there are none.
fn family((name, is_of): Kind, all: &[Coverage]) -> Option<Family> {
    let own: Vec<&Coverage> = all.iter().filter(|one| is_of(one.queue)).collect();
    let (few, many): (Vec<&Coverage>, Vec<&Coverage>) = own.iter().partition(|one| is_sparse(one));
    let checks: Vec<Check> = own.iter().map(|one| check(one)).collect();
    let range = |of: &[&Coverage]| {
        let found = of.iter().map(|one| check(one).found);
        found.fold(None, |range: Option<(f64, f64)>, one| {
            Some(range.map_or((one, one), |(low, high)| (low.min(one), high.max(one))))
        })
    };
    let held = range(&many).map(|(low, high)| {
        let (asked_low, asked_high) = ASKED;
        format!("{low:.1} to {high:.1} % hold it ({asked_low} to {asked_high} and chance asked)")
    });
    let missed = range(&few)
        .map(|(_, most)| format!("{} with few intervals: {most:.1} % of all runs miss at most", few.len()));
    (!own.is_empty()).then(|| Family {
        what: format!("{name}, {} figures", own.len()),
        told: held.into_iter().chain(missed).collect::<Vec<_>>().join("; "),
        passed: checks.iter().all(Check::passed),
    })
}

/// Too few of its runs give an interval for those that do to be a fair sample.
fn is_sparse(one: &Coverage) -> bool {
    one.given * 2 < one.runs
}

fn check(one: &Coverage) -> Check {
    let what = format!("{} of {}", one.figure, one.queue);
    if is_sparse(one) {
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
