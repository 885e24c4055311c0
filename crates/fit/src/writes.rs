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
    /// Nanoseconds that a read waits where it waits for writes at all.
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
        beside: fewest_reads(probes).and_then(|probe| wait(probe, alone_ns)),
        mark: probes.iter().find_map(mark).map(|mark| mark.bytes),
        small: small.map(|probe| front::around(probe.rate, probe.error)),
        large: filled.map(|filled| filled.after).or(burst.map(Probe::bytes_per_s)),
    })
}

/// Reads where they are the smallest part of what is asked, with the fewest in flight.
fn fewest_reads(probes: &[Probe]) -> Option<&Probe> {
    let mixed = probes.iter().filter(|probe| probe.is_mixed() && probe.warmup > 0.0);
    mixed.min_by(|one, two| (one.reads * one.depth).total_cmp(&(two.reads * two.depth)))
}

/// How long a read waits that waits, beyond the `alone_ns` that it takes alone: the median, as some wait twice.
///
/// Some find their die free, and others have it leave what it is at after a time that is always the same.
pub fn wait(probe: &Probe, alone_ns: f64) -> Option<f64> {
    let took = probe.reads_took.as_ref()?;
    let at = |part: f64| took.quantile(part).map_or(0.0, |time| time.get() as f64);
    let late = alone_ns + (probe.read_ns? - alone_ns) / 2.0;
    let first = (0..=20).map(|part| f64::from(part) / 20.0).find(|part| at(*part) > late)?;
    (late > alone_ns).then(|| at((1.0 + first) / 2.0) - alone_ns)
}

/// When a cache began to write out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Bytes written until then.
    pub bytes: f64,
    /// Seconds from the start to the end of the second in which it was.
    pub seconds: f64,
}

/// When a cache that was empty began to write out beside reads; `None` where it did not show.
///
/// Before that writes cost the members nothing. From then on reads wait for them, and as both are in flight together
/// there are fewer of both.
pub fn mark(probe: &Probe) -> Option<Mark> {
    if !is_from_empty(probe) {
        return None;
    }
    let seconds = &probe.course;
    let mut at = slowed(seconds).or_else(|| stepped(seconds))?;
    let most = seconds[..at].iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    // It may have begun in the last part of the second before.
    at -= usize::from(at > 1 && seconds[at - 1].1 < EVEN * most);
    let before = &seconds[..at];
    // What went up and down before is a cache that writes out now and then.
    if before.iter().any(|(_, rate)| *rate < EVEN * most) {
        return None;
    }
    let (mut begun, mut written) = (0.0, 0.0);
    debug_assert!(before.is_sorted_by(|one, next| one.0 < next.0), "seconds follow each other");
    for (until, rate) in before {
        written += rate * (until - begun);
        begun = *until;
    }
    // Part of this second went as fast as before.
    let (until, rate) = seconds[at];
    let slow = seconds.get(at + 1).map_or(rate, |next| next.1.min(rate));
    debug_assert!(slow <= rate, "what follows is no faster");
    let part = ((rate - slow) / (most - slow)).clamp(0.0, 1.0);
    Some(Mark { bytes: written + part * most * (until - begun), seconds: until })
}

/// Whether a load reads and writes from an empty cache on.
pub fn is_from_empty(probe: &Probe) -> bool {
    probe.is_mixed() && probe.is_everywhere() && probe.warmup <= 0.0
}

/// Where writes first are a good deal slower than at their best: a cache that empties itself by turns goes up and down
/// from then on.
fn slowed(seconds: &[(f64, f64)]) -> Option<usize> {
    let mut most = 0.0f64;
    seconds.iter().position(|(_, rate)| {
        most = most.max(*rate);
        *rate < SLOWED * most
    })
}

/// Where an even course comes down to another even one: what writes out all along costs those that wait a little.
fn stepped(seconds: &[(f64, f64)]) -> Option<usize> {
    let rates: Vec<f64> = seconds.iter().map(|(_, rate)| *rate).collect();
    let level = |rates: &[f64]| {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        (mean, rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>())
    };
    let split = |at: &usize| level(&rates[..*at]).1 + level(&rates[*at..]).1;
    let inside = 2..rates.len().saturating_sub(2);
    let at = inside.min_by(|one, two| split(one).total_cmp(&split(two)))?;
    let ((before, _), (after, _)) = (level(&rates[..at]), level(&rates[at..]));
    let scatter = (split(&at) / (rates.len() - 2) as f64).sqrt();
    (before - after > STEPS * scatter && after < STEPPED * before).then_some(at)
}

/// Bytes a second beside reads while a cache writes out, where it does so by turns; `None` where it does not, or where
/// too few seconds show it.
pub fn while_it_writes_out(probe: &Probe) -> Option<f64> {
    let rates = || probe.course.iter().map(|(_, rate)| *rate);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let middle = (least * most).sqrt();
    let mut slow: Vec<f64> = rates().filter(|rate| *rate < middle).collect();
    slow.sort_by(f64::total_cmp);
    // The median: a second in which it began or ended is a mean of both.
    (least < SLOWED * most && slow.len() >= FEWEST_SLOW).then(|| slow[slow.len() / 2])
}

/// Seconds that show how slow it is.
const FEWEST_SLOW: usize = 3;

/// Seconds from the start after which the bytes of each second are those of all that follow; `None` where they never
/// are, as behind a cache that empties itself by turns, or so late that it may be chance.
pub fn settled(probe: &Probe) -> Option<f64> {
    let seconds = &probe.course;
    let tail = &seconds[seconds.len() * 2 / 3..];
    let mean = tail.iter().map(|(_, rate)| rate).sum::<f64>() / tail.len() as f64;
    let even = |(_, rate): &(f64, f64)| (rate / mean - 1.0).abs() < SETTLED;
    match seconds.iter().rposition(|second| !even(second)) {
        _ if tail.is_empty() => None,
        None => Some(0.0),
        Some(last) if last < seconds.len() / 2 => Some(seconds[last].0),
        Some(_) => None,
    }
}

/// A second that is nearer to the mean than this is like the others.
const SETTLED: f64 = 0.08;

/// Up to then each second brings this part of the best at least.
const EVEN: f64 = 0.8;

/// Writes beside reads are slowed to this part by what leaves a cache, or less.
const SLOWED: f64 = 0.7;

/// A step to this part or less is one if both sides are even: so many times as high as single seconds scatter.
const STEPPED: f64 = 0.95;
const STEPS: f64 = 4.0;

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
    // Dies that had nothing to copy at first become slower once more, much later: that is no cache.
    let waits = (first * after).sqrt();
    let (mut before, mut written) = (0.0, 0.0);
    for (until, rate) in seconds {
        written += rate * (until - before);
        before = *until;
        if *rate <= waits {
            break;
        }
    }
    debug_assert!(before > 0.0 && after <= first, "a burst that was faster than what followed took time");
    let low = written - after * before;
    // Until the high mark nothing left: at most as long as the first rate took to get there.
    let high = low + after * (low / first).min(before);
    let value = if stripe > burst.size { 0.2 * low + 0.8 * high } else { low };
    let squares: f64 = tail.iter().map(|(_, rate)| (rate - after).powi(2)).sum();
    let error = 1.96 * squares.sqrt() / tail.len() as f64 * before;
    debug_assert!(error >= 0.0 && high >= low, "an interval has its ends in order");
    let room = Figure { value, low: Some((low - error).max(0.0)), high: Some(high.max(low) + error) };
    (low > 0.0).then_some(Filled { room, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe;

    /// Eight seconds of 4 KiB beside as many reads, at these writes a second.
    fn beside_reads(rates: [f64; 8]) -> Probe {
        let course = (1u32..).zip(rates).map(|(second, rate)| (f64::from(second), rate * 4096.0)).collect();
        Probe { depth: 16.0, reads: 0.5, course, ..probe::read_alone(4096.0, 1e6) }
    }

    #[test]
    fn what_a_read_waits_is_told_by_those_that_wait() {
        // Half of them find their die free; the others wait 1,300 us, and some of these twice.
        let mut took = stats::Histogram::new();
        for (micros, times) in [(160, 50), (1_460, 40), (2_760, 10)] {
            took.record_n(units::Nanos::from_micros(micros), times);
        }
        let probe = Probe { read_ns: took.mean(), reads_took: Some(took), ..beside_reads([1.0; 8]) };
        let told = wait(&probe, 160e3).map(|wait| (wait / 1e3).round());
        assert!(told.is_some_and(|told| (1_250.0..1_350.0).contains(&told)), "{told:?}");
        assert_eq!(wait(&probe, 1e9), None, "none is late");
    }

    #[test]
    fn a_burst_is_over_where_it_first_falls_whatever_becomes_slower_later() {
        let course = |rates: &[f64]| (1u32..).map(f64::from).zip(rates.iter().copied()).collect();
        let room = |rates: &[f64]| {
            let burst = Probe { course: course(rates), ..probe::read_alone(1_048_576.0, 1e6) };
            fit_burst(&burst, 0.0).map(|filled| filled.room.value)
        };
        assert_eq!(room(&[1_000.0, 150.0, 100.0, 100.0, 100.0, 100.0]), Some(950.0));
        assert_eq!(room(&[1_000.0, 150.0, 150.0, 150.0, 150.0, 150.0, 100.0, 100.0, 100.0]), Some(950.0));
    }

    #[test]
    fn a_cache_begins_to_write_out_where_writes_beside_reads_become_slow() {
        let probe = beside_reads([100.0, 100.0, 100.0, 60.0, 20.0, 20.0, 100.0, 20.0]);
        // Half of the fourth second went as before.
        assert_eq!(mark(&probe).map(|mark| mark.bytes.round()), Some(350.0 * 4096.0));
        let late = beside_reads([100.0, 100.0, 100.0, 75.0, 20.0, 20.0, 100.0, 20.0]);
        let written = mark(&late).map(|mark| (mark.bytes / 4096.0).round());
        assert_eq!(written, Some(369.0), "late in the fourth second");
        assert_eq!(mark(&beside_reads([100.0; 8])), None, "it never did");
        assert_eq!(
            mark(&beside_reads([100.0, 75.0, 100.0, 75.0, 60.0, 20.0, 90.0, 20.0])),
            None,
            "up and down"
        );
        assert_eq!(mark(&Probe { warmup: 2.0, ..probe }), None, "not from an empty cache");
    }

    #[test]
    fn a_cache_that_writes_out_by_turns_shows_how_slow_writes_are_meanwhile() {
        let slow = |rates| while_it_writes_out(&beside_reads(rates)).map(|bytes| (bytes / 4096.0).round());
        assert_eq!(slow([100.0, 20.0, 21.0, 70.0, 100.0, 30.0, 20.0, 22.0]), Some(21.0));
        assert_eq!(slow([100.0, 90.0, 95.0, 90.0, 100.0, 90.0, 95.0, 90.0]), None, "never");
        assert_eq!(slow([100.0, 100.0, 20.0, 100.0, 100.0, 100.0, 100.0, 100.0]), None, "once");
    }

    #[test]
    fn a_small_step_counts_where_both_sides_of_it_are_even() {
        let step = beside_reads([100.0, 101.0, 99.0, 100.0, 86.0, 85.0, 87.0, 85.0]);
        // Nearly nothing of the fifth second went as before.
        let written = mark(&step).map(|mark| mark.bytes / 4096.0);
        assert!(written.is_some_and(|written| (400.0..410.0).contains(&written)), "{written:?}");
        assert_eq!(mark(&beside_reads([100.0, 90.0, 99.0, 100.0, 86.0, 95.0, 87.0, 85.0])), None, "scatter");
        assert_eq!(mark(&beside_reads([100.0, 99.0, 98.0, 97.0, 96.0, 95.0, 94.0, 93.0])), None, "a drift");
    }
}
