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
            "{runs} runs of {seconds} s each; 93 to 97 % are required, give or take what so many runs vary by chance."
        ),
        "Where less than half of the runs have requests enough for an interval, those that have met less that is slow \
         than the others. As they are few, they are counted together."
            .into(),
    ];
    Section {
        title: format!("95 % intervals hold the truth, in {runs} runs of {seconds} s each"),
        checks: KINDS.into_iter().flat_map(|kind| Own::of(kind, &all).checks()).collect(),
        families: KINDS.into_iter().filter_map(|kind| Own::of(kind, &all).family()).collect(),
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

/// The figures of the queues of one kind.
struct Own<'a> {
    name: &'static str,
    /// Half of the runs gave an interval.
    many: Vec<&'a Coverage>,
    /// Less gave one.
    few: Vec<&'a Coverage>,
}

impl<'a> Own<'a> {
    fn of((name, is_of): Kind, all: &'a [Coverage]) -> Own<'a> {
        let own = all.iter().filter(|one| is_of(one.queue));
        let (few, many) = own.partition(|one| one.is_sparse());
        Own { name, many, few }
    }

    fn checks(&self) -> Vec<Check> {
        self.many.iter().map(|one| check(one)).chain(self.together()).collect()
    }

    /// The worst and the best figure; `None` where there are none.
    fn family(&self) -> Option<Family> {
        let (low, high) = ASKED;
        debug_assert!(
            self.many.iter().chain(&self.few).all(|one| one.held <= one.given && one.given <= one.runs),
            "intervals that hold the truth are some of those that runs gave"
        );
        let found = self.many.iter().map(|one| check(one).found);
        let range = found.fold(None, |range: Option<(f64, f64)>, one| {
            Some(range.map_or((one, one), |(least, most)| (least.min(one), most.max(one))))
        });
        let held = range.map(|(least, most)| {
            format!("{least:.1} to {most:.1} % hold it (required: {low} to {high}, give or take chance)")
        });
        let together = self.together().map(|one| format!("{:.1} % of those that few runs give", one.found));
        let count = self.many.len() + self.few.len();
        (count > 0).then(|| Family {
            what: format!("{}, {count} figures", self.name),
            told: held.into_iter().chain(together).collect::<Vec<_>>().join("; "),
            passed: self.checks().iter().all(Check::passed),
        })
    }

    /// All intervals of figures that less than half of the runs give; `None` where no run gives one.
    fn together(&self) -> Option<Check> {
        let sum = |of: fn(&Coverage) -> u32| self.few.iter().map(|one| of(one)).sum::<u32>();
        let given = sum(|one| one.given);
        (given > 0).then(|| Check {
            what: format!("{} of {}, where few runs give an interval", self.figures(), self.name),
            measure: format!("% of {given} intervals hold it, of {} runs", sum(|one| one.runs)),
            found: 100.0 * f64::from(sum(|one| one.held)) / f64::from(given),
            low: Some(ASKED.0 - chance(given)),
            high: Some((ASKED.1 + chance(given)).min(100.0)),
        })
    }

    fn figures(&self) -> String {
        let one = |few: &&Coverage| (few.given > 0).then(|| few.figure.clone());
        let mut names: Vec<String> = self.few.iter().filter_map(one).collect();
        names.sort();
        names.dedup();
        names.join(", ")
    }
}

fn check(one: &Coverage) -> Check {
    Check {
        what: format!("{} of {}", one.figure, one.queue),
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
