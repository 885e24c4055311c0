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
    /// Bytes of a burst that it takes before writers wait; `None` where it never filled.
    pub room: Option<Figure>,
    /// The same of small writes, of which little leaves meanwhile.
    pub fill: Option<Figure>,
    /// Nanoseconds of a read where it is one of the fewest among writes.
    pub beside: Option<f64>,
    /// Bytes written beside reads until the cache began to write out; `None` where it did not show.
    pub mark: Option<f64>,
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
    let fill = small.and_then(|small| fit_burst(small, 0.0)).map(|filled| filled.room);
    let on = probes.iter().filter(|probe| probe.is_write() && probe.pattern == Pattern::Sequential);
    Some(Writes {
        on: on.map(Probe::bytes_per_s).max_by(f64::total_cmp),
        fixed: smallest.map(|probe| probe.response_ns),
        most: hot.iter().map(|probe| probe.rate).max_by(f64::total_cmp),
        back: smallest.is_some_and(|probe| probe.response_ns < 0.67 * alone_ns)
            || filled.is_some()
            || fill.is_some(),
        room: filled.map(|filled| filled.room).or(fill),
        fill,
        beside: fewest_reads(probes),
        mark: probes.iter().find_map(mark),
        small: small.map(|probe| front::around(probe.rate, probe.error)),
        large: filled.map(|filled| filled.after).or(burst.map(Probe::bytes_per_s)),
    })
}

/// Mean response time of reads where they are the smallest part of what is asked, with the fewest in flight.
fn fewest_reads(probes: &[Probe]) -> Option<f64> {
    let mixed = probes.iter().filter(|probe| probe.is_mixed() && probe.warmup > 0.0);
    let fewest = mixed.min_by(|one, two| (one.reads * one.depth).total_cmp(&(two.reads * two.depth)));
    fewest.and_then(|probe| probe.read_ns)
}

/// Bytes written beside reads, from an empty cache on, until it began to write out; `None` where it did not show.
///
/// Before that writes cost the members nothing. From then on reads wait for them, and as both are in flight together
/// there are fewer of both.
pub fn mark(probe: &Probe) -> Option<f64> {
    if !probe.is_mixed() || !probe.is_everywhere() || probe.warmup > 0.0 {
        return None;
    }
    let seconds = &probe.course;
    let (mut before, mut written, mut most) = (0.0, 0.0, 0.0f64);
    for (at, (until, rate)) in seconds.iter().enumerate() {
        if *rate < SLOWED * most {
            // What went up and down before is a cache that writes out now and then.
            if seconds[..at].iter().any(|(_, rate)| *rate < EVEN * most) {
                return None;
            }
            // Part of this second went as fast as before.
            let slow = seconds.get(at + 1).map_or(*rate, |next| next.1.min(*rate));
            let part = ((rate - slow) / (most - slow)).clamp(0.0, 1.0);
            return Some(written + part * most * (until - before));
        }
        written += rate * (until - before);
        before = *until;
        most = most.max(*rate);
    }
    None
}

/// Up to then each second brings this part of the best at least.
const EVEN: f64 = 0.8;

/// Writes beside reads are slowed to this part by what leaves a cache, or less.
const SLOWED: f64 = 0.7;

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
/// until it is full up to its high mark. The interval is that of what left, from its scatter in the long run.
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
    let squares: f64 = tail.iter().map(|(_, rate)| (rate - after).powi(2)).sum();
    let error = 1.96 * squares.sqrt() / tail.len() as f64 * before;
    let room = Figure { value, low: Some((low - error).max(0.0)), high: Some(high.max(low) + error) };
    (low > 0.0).then_some(Filled { room, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight seconds of 4 KiB beside as many reads, at these writes a second.
    fn beside_reads(rates: [f64; 8]) -> Probe {
        let course = (1u32..).zip(rates).map(|(second, rate)| (f64::from(second), rate * 4096.0)).collect();
        Probe {
            index: 0,
            name: "mixed from empty".into(),
            pattern: Pattern::Random,
            size: 4096.0,
            depth: 16.0,
            reads: 0.5,
            align: 4096,
            region: None,
            rate: 1_000.0,
            response_ns: 1e6,
            error: 0.01,
            responses: stats::Histogram::new(),
            read_ns: None,
            course,
            seconds: 8.0,
            warmup: 0.0,
        }
    }

    #[test]
    fn a_cache_begins_to_write_out_where_writes_beside_reads_become_slow() {
        let probe = beside_reads([100.0, 100.0, 100.0, 60.0, 20.0, 20.0, 100.0, 20.0]);
        // Half of the fourth second went as before.
        assert_eq!(mark(&probe).map(f64::round), Some(350.0 * 4096.0));
        assert_eq!(mark(&beside_reads([100.0; 8])), None, "it never did");
        assert_eq!(
            mark(&beside_reads([100.0, 75.0, 60.0, 20.0, 90.0, 20.0, 20.0, 20.0])),
            None,
            "up and down"
        );
        assert_eq!(mark(&Probe { warmup: 2.0, ..probe }), None, "not from an empty cache");
    }
}
