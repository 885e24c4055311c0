//! How a point responds to a higher queue depth.

use std::collections::BTreeMap;

use record::{Point, PointKind, Run};

use super::components::of_breakdown;
use super::lun_queue::LunQueue;
use crate::carry_over::is_in_doubt;
use crate::draft::percent;
use crate::saturation::axis;

/// What one point did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub in_flight: f64,
    pub rate: f64,
    pub response_s: f64,
}

/// From one load to the next of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    from: Load,
    to: Load,
    /// In flight at the heavier load over that at the lighter.
    pub load_times: f64,
    /// The rate likewise.
    pub rate_times: f64,
    /// The mean response likewise.
    pub response_times: f64,
    /// The exponent with which the rate follows what is in flight: 1 in proportion, 0 not at all. By Little's law the
    /// response time follows with the rest of it.
    pub gain: f64,
    /// What of the heavier load kept requests from the parts, so that these did not answer to all of it.
    pub held: Option<LunQueue>,
}

impl Answer {
    /// Whether more in flight brings next to nothing.
    pub(super) fn is_flat(&self) -> bool {
        self.gain < super::FLAT && self.held.is_none()
    }

    /// Whether the rate grows nearly as what is in flight does.
    pub(super) fn follows(&self) -> bool {
        self.gain > super::FOLLOWS
    }

    /// `From 8 to 16 in flight the rate changes by 0.3 % and the response time by a factor of 1.99: …`.
    pub(super) fn in_words(&self) -> String {
        let verdict = match (self.held, self.gain) {
            (Some(queue), _) => format!(": {}", queue.in_words()),
            (None, ..super::FLAT) => ": a higher queue depth only adds latency".into(),
            (None, super::FOLLOWS..) => ": the rate scales with the queue depth".into(),
            _ => String::new(),
        };
        format!(
            "From {:.0} to {:.0} in flight the rate changes by {} and the response time by a factor of {:.2}{verdict}.",
            self.from.in_flight,
            self.to.in_flight,
            percent(self.rate_times - 1.0),
            self.response_times
        )
    }
}

/// What a closed loop did; `None` for schedules and for points without results.
pub(super) fn load(point: &Point) -> Option<Load> {
    let stats::saturation::LoadPoint { load: in_flight, rate, response_s } = point.load()?;
    (in_flight > 0.0 && rate > 0.0 && response_s > 0.0).then_some(Load { in_flight, rate, response_s })
}

/// A phase and the values of what is swept beside the load.
type Sweep = (String, Vec<(String, String)>);

/// The points of each sweep of depth or workers, by what they had in flight: found in one pass, since a run may have
/// thousands.
#[derive(Debug)]
pub(super) struct Sweeps<'r>(BTreeMap<Sweep, Vec<(Load, &'r Point)>>);

impl<'r> Sweeps<'r> {
    /// Of the complete points of `run`.
    pub(super) fn of(run: &'r Run) -> Sweeps<'r> {
        let mut sweeps: BTreeMap<Sweep, Vec<(Load, &Point)>> = BTreeMap::new();
        for point in run.points.iter().filter(|point| point.kind == PointKind::Load && point.complete) {
            if let Some(((_, around), load)) = axis(point).zip(load(point)) {
                sweeps.entry((point.phase.clone(), around)).or_default().push((load, point));
            }
        }
        for loads in sweeps.values_mut() {
            loads.sort_by(|(one, _), (other, _)| one.in_flight.total_cmp(&other.in_flight));
        }
        Sweeps(sweeps)
    }

    /// The points of the sweep that `point` belongs to, the lightest first; none where it is in none.
    pub(super) fn with(&self, point: &Point) -> &[(Load, &'r Point)] {
        let sweep = axis(point).and_then(|(_, around)| self.0.get(&(point.phase.clone(), around)));
        sweep.map_or(&[], Vec::as_slice)
    }
}

/// The step from `point` to the next heavier load of its sweep; for the heaviest the step to it. Repetitions of a load
/// are taken together. `None` where it is in no sweep of depth or workers, and where one of the two was not steady.
pub(super) fn answer(run: &Run, sweeps: &Sweeps<'_>, point: &Point) -> Option<Answer> {
    let own = load(point)?;
    let loads = sweeps.with(point);
    let lighter = loads.partition_point(|(other, _)| other.in_flight * 1.2 < own.in_flight);
    let lighter = lighter.checked_sub(1).and_then(|last| loads.get(last));
    let heavier = loads.get(loads.partition_point(|(other, _)| other.in_flight <= own.in_flight * 1.2));
    let (from, to, beside, heavier) = match (heavier, lighter) {
        (Some((heavier, beside)), _) => (own, *heavier, *beside, *beside),
        (None, Some((lighter, beside))) => (*lighter, own, *beside, point),
        (None, None) => return None,
    };
    // A change between rates that were not in steady state is not an effect of the load.
    if [point, beside].into_iter().any(|point| is_in_doubt(run, point)) {
        return None;
    }
    let load_times = to.in_flight / from.in_flight;
    debug_assert!(load_times > 1.0, "the step is to the heavier one");
    let rate_times = to.rate / from.rate;
    Some(Answer {
        from,
        to,
        load_times,
        rate_times,
        response_times: to.response_s / from.response_s,
        gain: rate_times.ln() / load_times.ln(),
        held: LunQueue::limit(heavier, &of_breakdown(heavier)),
    })
}

/// An answer with that exponent, from 8 to 16 in flight.
#[cfg(test)]
pub(super) fn with_gain(gain: f64) -> Answer {
    let load = |in_flight: f64| Load { in_flight, rate: 1_000.0, response_s: in_flight / 1_000.0 };
    let rate_times = gain.exp2();
    let (load_times, response_times) = (2.0, 2.0 / rate_times);
    Answer { from: load(8.0), to: load(16.0), load_times, rate_times, response_times, gain, held: None }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;
    use units::convert::{narrow, truncated};

    /// A sweep of depth: each point has so many in flight and does so many a second.
    fn swept(loads: &[(u32, u64)]) -> Run {
        let point = |(index, (depth, per_s)): (usize, &(u32, u64))| {
            let median_ns = truncated::<u64>(f64::from(*depth) / *per_s as f64 * 1e9);
            let stream = Stream { op: "read", size_bytes: 4096, per_s: *per_s, median_ns, spread: 0.0 };
            let mut workload = sample::workload("main", &[stream]);
            (workload.mean_in_flight, workload.edges) = (f64::from(*depth), None);
            let point = sample::point(narrow::<u32>(index), &format!("x{depth}"), vec![workload]);
            let swept = [("depth".to_owned(), depth.to_string())].into();
            Point { swept, phase: "p".into(), ..point }
        };
        sample::run("sweep", loads.iter().enumerate().map(point).collect())
    }

    fn answer_of(run: &Run, index: usize) -> Option<Answer> {
        answer(run, &Sweeps::of(run), &run.points[index])
    }

    #[test]
    fn the_answer_is_that_of_the_next_heavier_load_and_for_the_heaviest_the_step_to_it() {
        let run = swept(&[(4, 1_000), (8, 1_800), (16, 2_000)]);
        let first = answer_of(&run, 0).expect("it has a next");
        assert_eq!((first.from.in_flight, first.to.in_flight), (4.0, 8.0));
        assert_eq!((first.load_times, first.rate_times), (2.0, 1.8));
        assert!((first.gain - 1.8f64.ln() / 2f64.ln()).abs() < 1e-9, "{first:?}");
        assert!((first.response_times - 2.0 / 1.8).abs() < 1e-3, "{first:?}");
        for last in [1, 2] {
            let found = answer_of(&run, last).expect("it has a neighbour");
            assert_eq!((found.from.in_flight, found.to.in_flight), (8.0, 16.0));
        }
        assert_eq!(answer_of(&swept(&[(4, 1_000)]), 0), None);
    }

    #[test]
    fn loads_that_hardly_differ_are_repetitions_of_one() {
        let run = swept(&[(10, 1_000), (12, 1_100), (13, 1_200)]);
        let found = answer_of(&run, 0).expect("13 is another load");
        assert_eq!(found.to.in_flight, 13.0);
        assert_eq!(answer_of(&run, 1), None, "neither 10 nor 13 is far enough from 12");
        assert_eq!(answer_of(&run, 2).map(|found| found.from.in_flight), Some(10.0));
    }

    #[test]
    fn an_answer_is_told_by_how_the_rate_follows() {
        let words = |to: u64| answer_of(&swept(&[(8, 1_000), (16, to)]), 0).expect("a step").in_words();
        assert_eq!(
            words(1_000),
            "From 8 to 16 in flight the rate changes by 0.0 % and the response time by a factor of 2.00: a higher queue \
             depth only adds latency."
        );
        assert!(words(1_109).ends_with(": a higher queue depth only adds latency."), "an exponent of 0.149");
        assert!(words(1_111).ends_with("a factor of 1.80."), "{}", words(1_111));
        assert!(!words(1_620).contains(": "), "an exponent of 0.696");
        assert!(words(1_630).ends_with(": the rate scales with the queue depth."), "an exponent of 0.705");
    }

    #[test]
    fn what_did_nothing_or_did_not_end_is_no_load() {
        let mut run = swept(&[(4, 1_000), (8, 1_800)]);
        assert!(load(&run.points[0]).is_some());
        run.points[0].workloads[0].mean_in_flight = 0.0;
        assert_eq!(load(&run.points[0]), None);
        run.points[1].complete = false;
        assert_eq!(Sweeps::of(&run).with(&run.points[1]).len(), 0);
    }

    #[test]
    fn an_answer_is_flat_below_its_bound_and_follows_above_its_own() {
        let of = |gain: f64| (with_gain(gain).is_flat(), with_gain(gain).follows());
        assert_eq!((of(0.149), of(0.15)), ((true, false), (false, false)));
        assert_eq!((of(0.70), of(0.701)), ((false, false), (false, true)));
    }

    #[test]
    fn what_asked_or_took_nothing_is_no_load() {
        let mut point = swept(&[(4, 1_000)]).points.remove(0);
        assert!(load(&point).is_some());
        point.workloads[0].summary[0].ops_per_s.value = 0.0;
        assert_eq!(load(&point), None);
        point.workloads[0].summary[0].ops_per_s.value = 1_000.0;
        let response = point.workloads[0].summary[0].response.as_mut().expect("it has times");
        response.mean_ns = 0.0;
        assert_eq!(load(&point), None);
    }
}
