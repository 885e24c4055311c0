//! Which part of a virtual array is the bottleneck by its record: busy, with requests queued at it.
//!
//! Busy time alone does not show it. A part may be busy with work that nothing waits for, such as a device that writes
//! its own cache out, reads ahead, or a rebuild; and one that bounds the load may be idle whenever the parts before it
//! are uneven. In a closed loop what is in flight gathers before the part that bounds it (Denning and Buzen, *The
//! operational analysis of queueing network models*, 1978), and so its queue shows it. What a cache issues on its own
//! is no more than the requests that may wait for it, which are those that are at no other part.

use super::curve::{Answer, Load};
use super::usage::Use;
use crate::draft::percent;

/// What the record of a point shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// That part, by its place among the uses.
    Limit(usize),
    /// Requests wait for nothing but their own way.
    Latency,
    /// Several parts may be the limit, or something that is not counted.
    Open,
}

/// A part on average so busy is saturated, where requests queue at it.
pub(super) const BUSY: f64 = 0.90;

/// A limit has so many times the queue of any other part.
const LONGER: f64 = 2.0;

/// Of what is in flight, so much waits at a part that is the limit although it is not always busy.
pub(super) const GATHERED: f64 = 0.5;

/// Of what is in flight, so much waits at a part that is the limit although background work takes much of its time.
const BESIDE_WORK: f64 = 0.7;

/// As far as that is not most of its time: then deeper queues may well get more of it.
const MOSTLY: f64 = 0.5;

/// Where less of what is in flight waits at parts that are counted, requests do not wait for each other.
const UNCROWDED: f64 = 0.3;

/// More of a part's busy time than this for background work, and it is not the load that fills it.
pub(super) const BACKGROUND: f64 = 0.3;

/// Held while others work, hence no part of its own.
const LOCKS: &str = "stripe locks";

/// What `uses` show of a load with `in_flight` requests; `load` and `answer` where it is a closed loop and has a next
/// load, `waited` the part of the response time that is waiting, for whatever it is, where the record has it.
pub(super) fn shown(
    uses: &[Use],
    in_flight: f64,
    load: Option<&Load>,
    answer: Option<Answer>,
    waited: Option<f64>,
) -> Shown {
    let waiting = |one: &Use| one.queue.map_or(0.0, |queue| queue.load);
    let follows = answer.is_some_and(|answer| answer.follows());
    let longest = |except: Option<usize>| {
        let others = uses.iter().enumerate().filter(|(place, _)| Some(*place) != except);
        others.max_by(|one, other| waiting(one.1).total_cmp(&waiting(other.1)))
    };
    let Some((place, part)) = longest(None) else { return Shown::Open };
    let second = longest(Some(place)).map_or(0.0, |(_, other)| waiting(other));
    let own = waiting(part);
    debug_assert!(own >= second, "none is longer than the longest");
    let stands_alone = own >= LONGER * second && part.part != LOCKS;
    let most = if own >= BESIDE_WORK * in_flight { MOSTLY } else { BACKGROUND };
    let for_load = part.queue.is_none_or(|queue| queue.background < most);
    let is_fullest =
        uses.iter().enumerate().all(|(other, one)| other == place || one.share < part.share.min(BUSY));
    let is_full = part.share >= BUSY && own >= 1.0;
    let gathers = part.share >= super::FAR && own >= GATHERED * in_flight && own >= 1.0;
    if stands_alone && is_fullest && for_load && !follows && (is_full || gathers) {
        return Shown::Limit(place);
    }
    let (Some(load), true) = (load, uses.iter().all(|one| one.share < super::FAR)) else {
        return Shown::Open;
    };
    let waits: f64 = uses.iter().map(waiting).sum();
    let hardly_waits = load.in_flight <= super::ONE || waited.is_some_and(|part| part < UNCROWDED);
    let alone = answer.is_none() && hardly_waits;
    let uncrowded = waits < UNCROWDED * load.in_flight;
    match alone || follows && uncrowded {
        true => Shown::Latency,
        false => Shown::Open,
    }
}

/// Why the fullest part is not named although it is saturated; nothing where none is.
pub(super) fn why_not(uses: &[Use], answer: Option<Answer>) -> Option<String> {
    let full = |one: &&Use| one.share >= super::FULL && one.queue.is_some();
    let part = uses.iter().filter(full).max_by(|one, other| one.share.total_cmp(&other.share))?;
    let queue = part.queue?;
    let others = || uses.iter().filter(|one| one.part != part.part);
    let as_full = others().find(|one| one.share >= BUSY);
    let waiting = |one: &Use| one.queue.map_or(0.0, |queue| queue.load);
    let longest = others().max_by(|one, other| waiting(one).total_cmp(&waiting(other)));
    let why = match (as_full, longest) {
        _ if part.part == LOCKS => "they are held while other parts work".into(),
        _ if queue.background >= BACKGROUND => {
            format!("{} of that is background work, for which no request waits", percent(queue.background))
        }
        _ if answer.is_some_and(|answer| answer.follows()) => {
            "the rate still grows with the queue depth".into()
        }
        (Some(other), _) => {
            let verb = if other.is_even { "are" } else { "is" };
            format!("{} {verb} {} busy as well", other.part, percent(other.share))
        }
        _ if queue.load < 1.0 => format!(
            "{:.1} requests wait for it on average, so that its work may be that of a cache, for which no request waits",
            queue.load
        ),
        (_, Some(other)) => {
            format!("{:.1} requests wait for {} and {:.1} for it", waiting(other), other.part, queue.load)
        }
        _ => return None,
    };
    let verb = if part.is_even { "are" } else { "is" };
    Some(format!("{} {verb} saturated and may be the bottleneck, but {why}.", part.part))
}

#[cfg(test)]
mod tests {
    use super::super::curve::with_gain;
    use super::super::usage::busy;
    use super::*;

    const LOAD: Load = Load { in_flight: 8.0, rate: 1_000.0, response_s: 0.008 };

    /// Of a part with that use, queue and background work, and of another one, with 16 in flight.
    fn of(part: &str, own: (f64, f64, f64), other: (f64, f64)) -> Shown {
        let uses = [busy(part, own.0, own.1, own.2), busy("bus", other.0, other.1, 0.0)];
        shown(&uses, 16.0, None, None, None)
    }

    #[test]
    fn a_limit_is_full_has_twice_the_queue_of_any_other_and_is_the_fullest() {
        assert_eq!(of("disks", (0.95, 8.0, 0.0), (0.2, 1.0)), Shown::Limit(0));
        assert_eq!(of("disks", (0.95, 4.0, 0.0), (0.2, 2.0)), Shown::Limit(0));
        assert_eq!(of("disks", (0.95, 3.9, 0.0), (0.2, 2.0)), Shown::Open);
        assert_eq!(of("disks", (0.95, 8.0, 0.0), (0.2, 4.5)), Shown::Open, "more than its half");
        assert_eq!(of("disks", (0.95, 8.0, 0.0), (0.89, 1.0)), Shown::Limit(0));
        assert_eq!(of("disks", (0.95, 8.0, 0.0), (0.90, 1.0)), Shown::Open, "another one is full");
        assert_eq!(of("disks", (0.95, 8.0, 0.29), (0.2, 1.0)), Shown::Limit(0));
        assert_eq!(of("disks", (0.95, 11.1, 0.30), (0.2, 1.0)), Shown::Open, "not the load fills it");
        assert_eq!(of("disks", (0.95, 11.2, 0.30), (0.2, 1.0)), Shown::Limit(0), "most of the load waits");
        assert_eq!(of("disks", (0.95, 11.2, 0.50), (0.2, 1.0)), Shown::Open, "it works for others");
        assert_eq!(of("stripe locks", (0.95, 8.0, 0.0), (0.2, 1.0)), Shown::Open);
        assert_eq!(of("disks", (0.95, 0.9, 0.0), (0.2, 0.1)), Shown::Open, "nothing queues");
        assert_eq!(of("disks", (0.70, 8.0, 0.0), (0.2, 1.0)), Shown::Limit(0), "half of all gathers");
        assert_eq!(of("disks", (0.70, 7.9, 0.0), (0.2, 1.0)), Shown::Open);
        assert_eq!(shown(&[], 16.0, Some(&LOAD), None, None), Shown::Open);
    }

    #[test]
    fn a_saturated_part_that_is_not_named_says_why_not() {
        let of = |own: (f64, f64, f64), other: (f64, f64), gain: Option<f64>| {
            let uses = [busy("controller 0 xor", own.0, own.1, own.2), busy("bus", other.0, other.1, 0.0)];
            let answer = gain.map(with_gain);
            assert_eq!(shown(&uses, 16.0, None, answer, None), Shown::Open, "{own:?} {other:?}");
            why_not(&uses, answer).unwrap_or_default()
        };
        let begins = "controller 0 xor is saturated and may be the bottleneck, but ";
        for (told, own, other, gain) in [
            ("0.3 requests wait for it on average, so that", (0.99, 0.3, 0.0), (0.2, 0.1), None),
            ("9.0 requests wait for bus and 8.0 for it.", (0.99, 8.0, 0.0), (0.2, 9.0), None),
            ("40 % of that is background work", (0.99, 7.9, 0.4), (0.2, 1.0), None),
            ("bus is 93 % busy as well.", (0.99, 8.0, 0.0), (0.93, 1.0), None),
            ("the rate still grows with the queue depth.", (0.99, 8.0, 0.0), (0.2, 1.0), Some(0.8)),
        ] {
            let why = of(own, other, gain);
            assert!(why.starts_with(begins) && why[begins.len()..].starts_with(told), "{why}");
        }
        assert_eq!(of((0.94, 0.3, 0.0), (0.2, 0.1), None), "", "nothing is saturated");
    }

    #[test]
    fn a_rate_that_follows_the_depth_is_not_at_its_limit() {
        let uses = [busy("disks", 0.95, 8.0, 0.0), busy("bus", 0.2, 1.0, 0.0)];
        let of = |gain: f64| shown(&uses, 16.0, Some(&LOAD), Some(with_gain(gain)), None);
        assert_eq!((of(0.70), of(0.71)), (Shown::Limit(0), Shown::Open));
    }

    #[test]
    fn requests_that_follow_the_depth_and_hardly_wait_are_bound_by_their_own_way() {
        // Eight in flight, of which less than 2.4 wait.
        let of = |share: f64, waits: f64, gain: f64| {
            shown(&[busy("disks", share, waits, 0.0)], 8.0, Some(&LOAD), Some(with_gain(gain)), None)
        };
        assert_eq!((of(0.69, 2.3, 0.71), of(0.69, 2.4, 0.71)), (Shown::Latency, Shown::Open));
        assert_eq!(of(0.69, 2.5, 0.71), Shown::Open);
        assert_eq!(of(0.70, 2.3, 0.71), Shown::Open, "a part is too busy");
        assert_eq!(of(0.69, 2.3, 0.70), Shown::Open);
        let alone = |in_flight: f64| {
            shown(&[busy("disks", 0.5, 0.0, 0.0)], in_flight, Some(&Load { in_flight, ..LOAD }), None, None)
        };
        assert_eq!((alone(1.5), alone(1.6)), (Shown::Latency, Shown::Open));
        let traced = |waited| shown(&[busy("disks", 0.5, 0.0, 0.0)], 8.0, Some(&LOAD), None, Some(waited));
        assert_eq!((traced(0.29), traced(0.31)), (Shown::Latency, Shown::Open), "where each wait is known");
    }
}
