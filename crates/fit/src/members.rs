//! First figures of the members, from places all over the target; [`crate::refine`] makes them agree.

use units::convert::truncated;

use crate::front::Front;
use crate::model::{Access, Dies};
use crate::probe::{Pattern, Probe};
use crate::refine::is_on_one;

/// What members do, as a beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// Commands that one works on at once.
    pub servers: u32,
    /// What a read takes, by how many are at once.
    pub read: Access,
    /// Bytes that a die reads at once; `None` where it does not show.
    pub piece: Option<u64>,
    /// What one moves.
    pub link: f64,
    /// Access time of what goes on where something ended.
    pub follow: f64,
    /// Equally likely access times as parts of the mean.
    pub spread: Vec<f64>,
}

impl Members {
    /// What writes are put on: what works on several reads at once has dies, else there is an arm.
    pub fn dies(&self) -> Dies {
        if self.servers > 1 { Dies::Usual } else { Dies::Arm }
    }
}

/// Cold reads of the smallest size, by rising depth.
pub fn curve(probes: &[Probe]) -> Vec<&Probe> {
    let cold = |probe: &&Probe| probe.is_read() && probe.is_everywhere();
    let smallest = probes.iter().filter(cold).map(|probe| probe.size).fold(f64::INFINITY, f64::min);
    let mut curve: Vec<&Probe> = probes.iter().filter(cold).filter(|probe| probe.size == smallest).collect();
    curve.sort_by(|one, two| one.depth.total_cmp(&two.depth));
    debug_assert!(curve.iter().all(|probe| probe.rate > 0.0), "a probe has a rate");
    curve
}

/// A gain of rate with depth below this is an arm that chooses, not servers side by side.
const ARM: f64 = 3.0;

/// No flash takes as long for a read, and no arm is as quick: with many commands a mirrored pair of arms gains as much
/// as servers side by side.
const MECHANICAL_NS: f64 = 1e6;

/// First figures; `None` without a cold read alone.
pub fn fit(probes: &[Probe], front: &Front, members: u32, chunk: u64) -> Option<Members> {
    let curve = curve(probes);
    let alone = curve.first().filter(|probe| probe.depth == 1.0)?;
    let way = front.fixed.map_or(0.0, |fixed| fixed.value);
    let first = (alone.response_ns - way).max(0.1 * alone.response_ns);
    assert!(members > 0, "an array has a member");
    debug_assert!(first > 0.0, "an access takes time");
    let count = f64::from(members);
    let most = curve.iter().map(|probe| probe.rate).fold(0.0, f64::max);
    let gain = (most / count * first / 1e9).max(gain_of_one(probes, way, members, chunk));
    let servers =
        if gain < ARM || first > MECHANICAL_NS { 1 } else { truncated::<u32>(gain.round().min(4_096.0)) };
    let mut times = vec![(1, first)];
    let peak = curve.iter().max_by(|one, two| one.rate.total_cmp(&two.rate)).map_or(0.0, |probe| probe.depth);
    for probe in curve.iter().skip(1).filter(|probe| probe.depth <= peak) {
        let each = probe.depth / count;
        if each >= 1.9 {
            let rate = probe.rate / count;
            let busy = each.min(f64::from(servers));
            times.push((truncated::<u32>(each.round()), busy / rate * 1e9));
        }
    }
    times.dedup_by_key(|(count, _)| *count);
    debug_assert!(times.is_sorted_by(|one, next| one.0 < next.0), "times by rising depth");
    let large = |depth: &dyn Fn(f64) -> bool| {
        let cold =
            probes.iter().filter(|probe| probe.is_read() && probe.is_everywhere() && depth(probe.depth));
        cold.max_by(|one, two| one.size.total_cmp(&two.size))
    };
    let rate = large(&|depth| depth == 1.0)
        .filter(|probe| probe.size > alone.size)
        .map(|probe| (probe.size - alone.size) / (probe.response_ns - alone.response_ns).max(1.0) * 1e9);
    let link = probes.iter().filter(|probe| probe.is_read() && probe.is_everywhere()).map(Probe::bytes_per_s);
    let on_one = probes.iter().filter(|probe| probe.is_read() && is_on_one(probe, members, chunk));
    let one_moves = on_one.map(Probe::bytes_per_s).fold(0.0, f64::max);
    Some(Members {
        servers,
        piece: piece(probes, front),
        read: Access { times, rate: rate.unwrap_or(front.link.value).max(1e6) },
        link: match has_wire(servers, members, front) {
            true => (link.fold(0.0, f64::max) / count).max(one_moves * 1.1).max(1e6),
            false => FREE,
        },
        follow: if servers == 1 { 1e3 } else { first },
        spread: spread(alone, way),
    })
}

/// Bytes up to which reads alone take longer with size, as one die moves them all: of more than that the rest is moved
/// beside them by others, and costs little but its way.
fn piece(probes: &[Probe], front: &Front) -> Option<u64> {
    let alone = probes.iter().filter(|probe| probe.is_read() && probe.is_everywhere() && probe.depth == 1.0);
    let mut times: Vec<(f64, f64)> = alone.map(|probe| (probe.size, probe.response_ns)).collect();
    times.sort_by(|one, two| one.0.total_cmp(&two.0));
    let each = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) - front.byte;
    let first = each(times.get(..2)?);
    let flat = times.windows(2).find(|pair| each(pair) < BESIDE * first)?;
    (first > 0.0).then_some(truncated::<u64>(flat[0].0))
}

/// A byte that another die moves meanwhile costs so much of one that the same die moves, or less.
const BESIDE: f64 = 0.5;

/// A wire that costs nothing.
const FREE: f64 = 1e12;

/// Whether what a member's commands move together is a figure of its own.
///
/// Behind an arm nothing of it shows. A single member that no cache stands before has the wire that is the way there:
/// as a figure of the member too, each byte would pay for it twice. Else all together may have less than each for
/// itself.
pub fn has_wire(servers: u32, members: u32, front: &Front) -> bool {
    servers > 1 && (members > 1 || front.cached)
}

/// How many a member alone works on at once: its rate times the time that one alone takes there, of the same size.
fn gain_of_one(probes: &[Probe], way: f64, members: u32, chunk: u64) -> f64 {
    let on_one = probes.iter().filter(|probe| probe.is_read() && is_on_one(probe, members, chunk));
    let slowest =
        |one: &&Probe, two: &&Probe| one.size.total_cmp(&two.size).then(one.rate.total_cmp(&two.rate));
    let Some(one) = on_one.min_by(slowest) else { return 0.0 };
    let same = |probe: &&Probe| probe.is_everywhere() && probe.is_read() && probe.depth == 1.0;
    let alone = probes.iter().filter(same).find(|probe| probe.size == one.size);
    alone.map_or(0.0, |alone| one.rate * (alone.response_ns - way).max(0.0) / 1e9)
}

/// Twenty equally likely access times of a read alone, as parts of their mean.
fn spread(alone: &Probe, way: f64) -> Vec<f64> {
    const PARTS: usize = 20;
    let at = |part: usize| (part as f64 + 0.5) / PARTS as f64;
    let times: Option<Vec<f64>> = (0..PARTS)
        .map(|part| alone.responses.quantile(at(part)).map(|time| (time.get() as f64 - way).max(0.0)))
        .collect();
    let times = times.unwrap_or_default();
    let mean = times.iter().sum::<f64>() / PARTS as f64;
    if mean > 0.0 { times.iter().map(|time| time / mean).collect() } else { Vec::new() }
}

/// Whether one reader that goes on, one request at a time, is answered as from memory.
pub fn reads_ahead(probes: &[Probe]) -> bool {
    let stream = probes.iter().find(|probe| {
        probe.pattern == Pattern::Sequential && probe.is_read() && probe.depth == 1.0 && probe.is_whole()
    });
    let cold = curve(probes).first().copied().filter(|probe| probe.depth == 1.0);
    match (stream, cold) {
        (Some(stream), Some(cold)) => stream.response_ns < 0.5 * cold.response_ns,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::Ceiling;
    use crate::probe::read_alone;

    #[test]
    fn what_a_die_reads_at_once_is_where_more_bytes_begin_to_cost_little() {
        let front = Front {
            link: crate::front::around(1e9, 0.01),
            most: Ceiling::Unknown,
            fixed: None,
            byte: 1.0,
            cached: true,
        };
        let told = |die: f64, sizes: &[f64]| {
            let time = |size: f64| 1e5 + size + 4.0 * size.min(die);
            let probes: Vec<Probe> = sizes.iter().map(|size| read_alone(*size, time(*size))).collect();
            piece(&probes, &front)
        };
        let sizes = [4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0];
        assert_eq!([8192.0, 16_384.0].map(|die| told(die, &sizes)), [Some(8192), Some(16_384)]);
        assert_eq!(told(1e9, &sizes), None, "one die has all of it");
        assert_eq!(told(8192.0, &sizes[..1]), None);
    }

    #[test]
    fn a_single_member_without_a_cache_before_it_has_no_wire_of_its_own() {
        let link = crate::front::around(1e9, 0.01);
        let front = |cached| Front { link, most: Ceiling::Unknown, fixed: None, byte: 1.0, cached };
        assert!(!has_wire(8, 1, &front(false)), "the way there is its wire");
        assert!(has_wire(8, 1, &front(true)) && has_wire(8, 2, &front(false)));
        assert!(!has_wire(1, 2, &front(true)), "an arm");
    }
}
