//! What the cache takes of writes, and what leaves it.

use record::Figure;

use crate::front;
use crate::probe::{Pattern, Probe};

/// What writes told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writes {
    /// Nanoseconds of a write without bytes that a cache takes.
    pub fixed: Option<f64>,
    /// Requests a second that a cache takes at most.
    pub most: Option<f64>,
    /// Whether a cache acknowledges writes.
    pub back: bool,
    /// Bytes that it takes before writers wait; `None` where it never filled.
    pub room: Option<Figure>,
    /// Small writes a second that leave in the long run.
    pub small: Option<Figure>,
    /// Bytes a second of large ones likewise.
    pub large: Option<f64>,
    /// Bytes a second of those that go on.
    pub on: Option<f64>,
}

/// What the writes among `probes` told; `None` where nothing was written. `alone_ns` is a read of a member alone,
/// `stripe` the bytes of a full stripe.
pub fn fit(probes: &[Probe], alone_ns: f64, stripe: f64) -> Option<Writes> {
    probes.iter().find(|probe| probe.is_write())?;
    let hot: Vec<&Probe> = front::hot(probes, false).collect();
    let alone: Vec<&&Probe> = hot.iter().filter(|probe| probe.depth == 1.0).collect();
    let smallest = alone.iter().min_by(|one, two| one.size.total_cmp(&two.size));
    let everywhere = |large: bool| {
        let cold = probes.iter().filter(move |probe| probe.is_write() && probe.is_everywhere());
        cold.filter(move |probe| (probe.size >= 262_144.0) == large)
    };
    let small = everywhere(false).max_by(|one, two| one.seconds.total_cmp(&two.seconds));
    let burst = everywhere(true).max_by(|one, two| one.seconds.total_cmp(&two.seconds));
    let filled = burst.and_then(|burst| fit_burst(burst, stripe));
    let on = probes.iter().filter(|probe| probe.is_write() && probe.pattern == Pattern::Sequential);
    Some(Writes {
        on: on.map(Probe::bytes_per_s).max_by(f64::total_cmp),
        fixed: smallest.map(|probe| probe.response_ns),
        most: hot.iter().map(|probe| probe.rate).max_by(f64::total_cmp),
        back: smallest.is_some_and(|probe| probe.response_ns < 0.67 * alone_ns) || filled.is_some(),
        room: filled.map(|filled| filled.room),
        small: small.map(|probe| front::around(probe.rate, probe.error)),
        large: filled.map(|filled| filled.after).or(burst.map(Probe::bytes_per_s)),
    })
}

/// A burst that was longer than the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filled {
    /// Bytes until writers waited.
    pub room: Figure,
    /// Bytes a second from then on.
    pub after: f64,
}

/// How much a cache took before writers waited: what was written less what left meanwhile.
///
/// Writes that fill whole stripes leave from the beginning, as fast as they do once the cache is full. Others stay
/// until it is full up to its high mark.
pub fn fit_burst(burst: &Probe, stripe: f64) -> Option<Filled> {
    let seconds = &burst.course;
    if burst.pattern != Pattern::Random || seconds.len() < 6 {
        return None;
    }
    let tail = &seconds[seconds.len() * 2 / 3..];
    let after = tail.iter().map(|(_, rate)| rate).sum::<f64>() / tail.len() as f64;
    let (_, first) = *seconds.first()?;
    if first < 1.5 * after {
        return None;
    }
    let (mut before, mut written) = (0.0, 0.0);
    for (until, rate) in seconds {
        written += rate * (until - before);
        before = *until;
        if *rate <= 1.25 * after {
            break;
        }
    }
    let low = written - after * before;
    // Until the high mark nothing left: at most as long as the first rate took to get there.
    let high = low + after * (low / first).min(before);
    let value = if stripe > burst.size { 0.2 * low + 0.8 * high } else { low };
    (low > 0.0)
        .then_some(Filled { room: Figure { value, low: Some(0.95 * low), high: Some(1.05 * high) }, after })
}
