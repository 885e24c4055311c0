//! Which part is the bottleneck, which are not, and on what evidence.
//!
//! **Invariant:** a part is named only by what was counted of it: its use against its ceiling, its utilization, or how
//! the rate responds to a higher queue depth. Where nothing was counted nothing is named.

mod ceilings;
mod curve;
pub(crate) mod imposed;
mod places;
mod queues;
pub(crate) mod settle;

use record::{Point, PointKind, Run, Severity, World};

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::on_nothing;
use ceilings::Use;
use curve::{Answer, Sweeps};
use places::Places;
use queues::Shown;

/// A part with this utilization is saturated.
const FULL: f64 = 0.95;

/// A part with less utilization is far from saturated. Requests of an open system of one server wait at 70 % for 2.3
/// times their service time (Kleinrock, *Queueing Systems*, volume 1, M/M/1): beyond it requests may well wait.
const FAR: f64 = 0.70;

/// Where the rate grows with a lower power of what is in flight, it is flat.
const FLAT: f64 = 0.15;

/// Where it grows with a higher one, it still scales.
const FOLLOWS: f64 = 0.70;

/// No more in flight than one request and what the edges of the window add.
const ONE: f64 = 1.5;

/// Parts named beside the limit.
const OTHERS: usize = 4;

/// The sweeps and the numbers of files and LUNs that the loads of a run belong to.
#[derive(Debug)]
pub(crate) struct Loads<'r> {
    sweeps: Sweeps<'r>,
    places: Places,
}

impl<'r> Loads<'r> {
    /// Of `run`, in one pass over its points.
    pub(crate) fn of(run: &'r Run) -> Loads<'r> {
        Loads { sweeps: Sweeps::of(run), places: Places::of(run) }
    }
}

/// What bounds `point`, if the evidence names it.
pub(crate) fn of_point(run: &Run, loads: &Loads<'_>, point: &Point) -> Option<Draft> {
    if point.kind != PointKind::Load || on_nothing(run) {
        return None;
    }
    if run.world == World::Host
        && let Some(imposed) = imposed::by_group(run, point)
    {
        return Some(imposed);
    }
    let uses = match run.world {
        World::Array => ceilings::of_breakdown(point),
        World::Host => ceilings::of_path(run, point),
    };
    let (first, others) = uses.split_first()?;
    let answer = curve::answer(run, &loads.sweeps, point);
    let spread = places::spread(run, &loads.places, point);
    if run.world == World::Array {
        let load = curve::load(point);
        let in_flight = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
        return Some(match queues::shown(&uses, in_flight, load.as_ref(), answer) {
            Shown::Limit(place) => {
                let mut others = uses.clone();
                let first = others.remove(place);
                with_spread(limit(&first, &others, answer), spread)
            }
            Shown::Latency => latency(first, &load?, answer),
            Shown::Open => match spread {
                Some(spread) => spread.finding(),
                None => open(&uses, in_flight, answer, settle::REMEDY),
            },
        });
    }
    if first.share >= FULL || first.is_even && first.share >= FULL - 0.05 {
        return Some(with_spread(limit(first, others, answer), spread));
    }
    if let Some(imposed) = imposed::by_constancy(&loads.sweeps, point) {
        return Some(imposed);
    }
    if let Some(spread) = spread {
        return Some(spread.finding());
    }
    let load = curve::load(point)?;
    let flat = answer.is_some_and(|answer| answer.gain < FLAT);
    let follows = answer.is_some_and(|answer| answer.gain > FOLLOWS);
    if flat && load.in_flight > ONE {
        return Some(unseen(first, answer?));
    }
    // A single request does not queue; but where the next load of the sweep gained little, a higher depth is no advice.
    let alone = load.in_flight <= ONE && answer.is_none();
    if first.share < FAR && (alone || follows) {
        return Some(latency(first, &load, answer));
    }
    (first.share >= FAR || answer.is_some()).then(|| open(&uses, load.in_flight, answer, DEEPER))
}

/// What to do on real storage where the evidence names nothing.
const DEEPER: &str = "Measure half and twice the queue depth (sweep `depth`), or name the parts that the \
                      kernel does not see with `fathom explain --parts FILE`.";

/// What to do about a bottleneck.
const MORE_OF_IT: &str =
    "Add more of that part, use a faster one, or put less load on it: nothing else raises the rate.";

/// The evidence names no bottleneck.
fn open(uses: &[Use], in_flight: f64, answer: Option<Answer>, remedy: &str) -> Draft {
    let mut near: Vec<&Use> = uses.iter().filter(|one| one.share > 0.0).collect();
    near.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    near.truncate(OTHERS);
    let uses: Vec<String> = near.iter().map(|one| one.in_short()).collect();
    let mut sentence = match uses.is_empty() {
        true => "Bottleneck not identified: no counted part did any work.".into(),
        false => format!(
            "Bottleneck not identified: no single part queues the {in_flight:.0} requests in flight; {}.",
            uses.join(", ")
        ),
    };
    if let Some(answer) = answer {
        sentence += &format!(" {}", answer.in_words());
    }
    let draft = Draft::new(Code::BottleneckUndetermined, Severity::Note, sentence).remedy(remedy);
    with_answer(with_shares(draft.number("in_flight", in_flight), near), answer)
}

fn limit(first: &Use, others: &[Use], answer: Option<Answer>) -> Draft {
    let verb = if first.is_even { "are" } else { "is" };
    let mut sentence = format!("{} {verb} the bottleneck: {}.", first.part, first.in_words());
    let not: Vec<String> = others
        .iter()
        .filter(|other| other.share < FULL && other.part != first.part)
        .take(OTHERS)
        .map(|other| format!("{} ({})", other.part, percent(other.share)))
        .collect();
    let also: Vec<&str> = others
        .iter()
        .filter(|other| other.share >= FULL && other.part != first.part)
        .map(|other| other.part.as_str())
        .collect();
    if !also.is_empty() {
        sentence += &format!(" Also saturated: {}.", also.join(", "));
    }
    if !not.is_empty() {
        sentence += &format!(" Not saturated: {}.", not.join(", "));
    }
    if let Some(answer) = answer.filter(|answer| answer.gain < FLAT) {
        sentence += &format!(" {}", answer.in_words());
    }
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(MORE_OF_IT);
    let uses = [first].into_iter().chain(others);
    with_answer(with_shares(draft, uses), answer)
}

fn latency(first: &Use, load: &curve::Load, answer: Option<Answer>) -> Draft {
    let mut sentence = format!(
        "Latency-bound: queue depth {:.1} / {:.3} ms = {:.0} IOPS. No part is saturated; the busiest, {}, is at {}.",
        load.in_flight,
        load.response_s * 1e3,
        load.rate,
        first.part,
        percent(first.share)
    );
    if let Some(answer) = answer.filter(|answer| answer.gain > FOLLOWS) {
        sentence += &format!(" {}", answer.in_words());
    }
    let draft = Draft::new(Code::LatencyBound, Severity::Note, sentence).remedy(
        "Increase the queue depth, or lower the latency of each request; more bandwidth gains nothing.",
    );
    let draft = draft
        .number("in_flight", load.in_flight)
        .number("response_ms", load.response_s * 1e3)
        .number("rate_per_s", load.rate);
    with_answer(with_shares(draft, [first]), answer)
}

fn unseen(first: &Use, answer: Answer) -> Draft {
    let sentence = format!(
        "Bottleneck not identified: no counted part is saturated; the busiest, {}, is at {}. It lies in the device \
         itself or behind it. {}",
        first.part,
        percent(first.share),
        answer.in_words()
    );
    let draft = Draft::new(Code::BottleneckUncounted, Severity::Note, sentence).remedy(
        "Name the parts below it with `fathom explain --parts FILE`, or check the storage's own counters.",
    );
    with_answer(with_shares(draft, [first]), Some(answer))
}

/// More files or LUNs gave a higher rate, and so they do not share what is saturated.
fn with_spread(draft: Draft, spread: Option<places::Spread>) -> Draft {
    match spread {
        Some(spread) => spread.numbers(draft.sentence(&format!(" {}", spread.in_words()))),
        None => draft,
    }
}

fn with_shares<'a>(draft: Draft, uses: impl IntoIterator<Item = &'a Use>) -> Draft {
    uses.into_iter().fold(draft, |draft, each| {
        let draft = draft.number(&each.key("share"), each.share);
        match each.amount {
            Some((used, most)) => draft
                .number(&each.key(&format!("used_{}", each.unit)), used)
                .number(&each.key(&format!("most_{}", each.unit)), most),
            None => draft,
        }
    })
}

fn with_answer(draft: Draft, answer: Option<Answer>) -> Draft {
    match answer {
        Some(answer) => draft
            .number("more_in_flight_times", answer.load_times)
            .number("more_rate_times", answer.rate_times)
            .number("more_response_times", answer.response_times),
        None => draft,
    }
}
