//! Which run is ahead, and how far: only where the intervals of two figures are apart is one ahead of the other.

use chart::Unit;
use record::{Metric, RUN_TO_RUN, World};

use crate::document::Sentence;
use crate::measured::{self, Measured, WithInterval};

use super::{Subject, best, ratio};

/// Deviations within which 95 of 100 values lie.
const CONFIDENCE: f64 = 1.96;

/// A case in which a run is ahead of another.
struct Lead {
    name: String,
    first: (usize, WithInterval),
    last: (usize, WithInterval),
}

/// The run with the highest figure of each case, and how far it is ahead of the lowest; the widest lead first, at most
/// `most` of them. `None` where no case is one of several runs.
pub(crate) fn leads(
    subject: &Subject<'_>,
    cases: &[(String, Vec<Measured<'_>>)],
    metric: Metric,
    most: usize,
    is_whole: bool,
) -> Option<Sentence> {
    let all: Vec<Lead> = cases.iter().filter_map(|(name, case)| lead(name, case, metric)).collect();
    if all.is_empty() {
        return None;
    }
    // Seconds within single runs do not show how much runs on real storage differ.
    let is_real = subject.runs.iter().any(|run| run.world == World::Host);
    let (mut wide, close): (Vec<Lead>, Vec<Lead>) = all.into_iter().partition(|lead| lead.is_sure(is_real));
    wide.sort_by(|one, other| other.factor().total_cmp(&one.factor()));
    let mut sentence = Sentence::default();
    for lead in wide.iter().take(most) {
        let blank = if sentence.is_empty() { "" } else { " " };
        let (first, last) = (&lead.first.1.0, &lead.last.1.0);
        let case = if lead.name.is_empty() { String::new() } else { format!(" ({})", lead.name) };
        sentence = sentence
            .words(format!("{blank}{} reaches ", subject.label(lead.first.0)))
            .number(first.clone())
            .words(format!("{}, ", measured::behind(metric)))
            .number(ratio(first, last, Unit::Ratio))
            .words(format!(" {}{case}.", subject.label(lead.last.0)));
    }
    let blank = if sentence.is_empty() { "" } else { " " };
    Some(match (wide.len().saturating_sub(most), close.len()) {
        _ if !is_whole && !sentence.is_empty() => sentence,
        (0, 0) => sentence,
        (0, 1) if wide.is_empty() => {
            let name = &close[0].name;
            let case = if name.is_empty() { String::new() } else { format!(" ({name})") };
            sentence.words(format!(
                "{blank}No difference in {} is certain: the 95 % intervals overlap{case}.",
                measured::name(metric)
            ))
        }
        (0, close) => sentence.words(format!(
            "{blank}In {close} of {} points no difference in {} is certain.",
            close + wide.len(),
            measured::name(metric)
        )),
        (more, _) => {
            sentence.words(format!("{blank}{more} more of {} points differ.", close.len() + wide.len()))
        }
    })
}

fn lead(name: &str, case: &[Measured<'_>], metric: Metric) -> Option<Lead> {
    let mut runs: Vec<usize> = case.iter().map(|one| one.run).collect();
    runs.sort_unstable();
    runs.dedup();
    let of_run = |run: usize| {
        let own: Vec<Measured<'_>> = case.iter().filter(|one| one.run == run).copied().collect();
        Some((run, best(&own, metric)?.0.figure(metric)?))
    };
    let mut figures: Vec<(usize, WithInterval)> = runs.into_iter().filter_map(of_run).collect();
    figures.sort_by(|one, other| other.1.0.value.total_cmp(&one.1.0.value));
    let last = (figures.len() > 1).then(|| figures.pop()).flatten()?;
    Some(Lead { name: name.to_owned(), first: figures.into_iter().next()?, last })
}

impl Lead {
    fn factor(&self) -> f64 {
        self.first.1.0.value / self.last.1.0.value
    }

    /// Whether the lower end of the one is above the upper end of the other; without intervals a two-hundredth each way
    /// has to do. A run on real storage deviates from the next, which its own interval does not know.
    fn is_sure(&self, is_real: bool) -> bool {
        let deviation = if is_real { CONFIDENCE * RUN_TO_RUN } else { 0.005 };
        let ends = |figure: &WithInterval| {
            let value = figure.0.value;
            let (low, high) = figure.1.as_ref().map_or((value, value), |(low, high)| (low.value, high.value));
            let beyond = |end: f64| (end - value).hypot(deviation * value);
            (value - beyond(low), value + beyond(high))
        };
        ends(&self.first.1).0 > ends(&self.last.1).1
    }
}
