//! What a point answered to more in flight.

use record::{Point, PointKind, Run};

use crate::carry_over::is_in_doubt;
use crate::draft::percent;
use crate::saturation::{axis, figures};

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
    /// response follows with the rest of it.
    pub gain: f64,
}

impl Answer {
    /// `From 8 to 16 in flight the rate rose by 0.3 % and the response 1.99 times: they only wait.`
    pub(super) fn in_words(&self) -> String {
        let verdict = match self.gain {
            ..super::FLAT => ": what is added only waits",
            super::FOLLOWS.. => ": the rate follows",
            _ => "",
        };
        format!(
            "From {:.0} to {:.0} in flight the rate changed by {} and the response {:.2} times{verdict}.",
            self.from.in_flight,
            self.to.in_flight,
            percent(self.rate_times - 1.0),
            self.response_times
        )
    }
}

/// What a closed loop did; `None` for schedules and for points without results.
pub(super) fn load(point: &Point) -> Option<Load> {
    let (in_flight, rate, response_s) = figures(point)?;
    (in_flight > 0.0 && rate > 0.0 && response_s > 0.0).then_some(Load { in_flight, rate, response_s })
}

/// The step from `point` to the next heavier load of its sweep; for the heaviest the step to it. Repetitions of a load
/// are taken together. `None` where it is in no sweep of depth or workers, and where one of the two was not steady.
pub(super) fn answer(run: &Run, point: &Point) -> Option<Answer> {
    let (_, around) = axis(point)?;
    let own = load(point)?;
    let of_sweep = |other: &&Point| {
        let same = axis(other).is_some_and(|(_, theirs)| theirs == around);
        other.kind == PointKind::Load && other.complete && other.phase == point.phase && same
    };
    let with_load = |point| Some((load(point)?, point));
    let mut loads: Vec<(Load, &Point)> = run.points.iter().filter(of_sweep).filter_map(with_load).collect();
    loads.sort_by(|(one, _), (other, _)| one.in_flight.total_cmp(&other.in_flight));
    let heavier = loads.iter().find(|(other, _)| other.in_flight > own.in_flight * 1.2);
    let lighter = loads.iter().rev().find(|(other, _)| other.in_flight * 1.2 < own.in_flight);
    let (from, to, beside) = match (heavier, lighter) {
        (Some((heavier, beside)), _) => (own, *heavier, *beside),
        (None, Some((lighter, beside))) => (*lighter, own, *beside),
        (None, None) => return None,
    };
    // What changed between rates of no lasting state is not what the load did.
    if [point, beside].into_iter().any(|point| is_in_doubt(run, point)) {
        return None;
    }
    let load_times = to.in_flight / from.in_flight;
    let rate_times = to.rate / from.rate;
    Some(Answer {
        from,
        to,
        load_times,
        rate_times,
        response_times: to.response_s / from.response_s,
        gain: rate_times.ln() / load_times.ln(),
    })
}
