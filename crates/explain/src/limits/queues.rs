//! Which part of a virtual array is the bottleneck by its record: busy, with requests queued at it.
//!
//! Busy time alone does not show it. A part may be busy with work that nothing waits for, such as a device that writes
//! its own cache out, reads ahead, or a rebuild; and one that bounds the load may be idle whenever the parts before it
//! are uneven. In a closed loop what is in flight gathers before the part that bounds it (Denning and Buzen, *The
//! operational analysis of queueing network models*, 1978), and so its queue shows it. What a cache issues on its own
//! is no more than the requests that may wait for it, which are those that are at no other part.

use super::ceilings::Use;
use super::curve::{Answer, Load};

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
const BUSY: f64 = 0.90;

/// A limit has so many times the queue of any other part.
const LONGER: f64 = 2.0;

/// Of what is in flight, so much waits at a part that is the limit although it is not always busy.
const GATHERED: f64 = 0.5;

/// Where less of what is in flight waits at parts that are counted, requests do not wait for each other.
const UNCROWDED: f64 = 0.3;

/// More of a part's busy time than this for background work, and it is not the load that fills it.
const BACKGROUND: f64 = 0.3;

/// Held while others work, hence no part of its own.
const LOCKS: &str = "stripe locks";

/// What `uses` show of a load with `in_flight` requests; `load` and `answer` where it is a closed loop and has a next
/// load.
pub(super) fn shown(uses: &[Use], in_flight: f64, load: Option<&Load>, answer: Option<Answer>) -> Shown {
    let waiting = |one: &Use| one.queue.map_or(0.0, |queue| queue.load);
    let follows = answer.is_some_and(|answer| answer.gain > super::FOLLOWS);
    let longest = |except: Option<usize>| {
        let others = uses.iter().enumerate().filter(|(place, _)| Some(*place) != except);
        others.max_by(|one, other| waiting(one.1).total_cmp(&waiting(other.1)))
    };
    let Some((place, part)) = longest(None) else { return Shown::Open };
    let second = longest(Some(place)).map_or(0.0, |(_, other)| waiting(other));
    let own = waiting(part);
    let stands_alone = own >= LONGER * second && part.part != LOCKS;
    let for_load = part.queue.is_none_or(|queue| queue.background < BACKGROUND);
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
    let alone = load.in_flight <= super::ONE && answer.is_none();
    let uncrowded = waits < UNCROWDED * load.in_flight;
    match alone || follows && uncrowded {
        true => Shown::Latency,
        false => Shown::Open,
    }
}
