//! Values of one thing over time.

use units::{Instant, Nanos};

/// One thing watched.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// As `disk.sda.read_bytes_per_s`: what, which, how.
    pub name: String,
    /// Of the values: `per_s`, `bytes_per_s`, `share`, `ns`, `bytes`, `hz`, `celsius`, `events`, `count`.
    pub unit: &'static str,
    /// The file of the kernel it comes from.
    pub source: String,
    /// In order of time. A rate, a share or a mean is that of the time since the sample before.
    ///
    /// What is older than two hours has a point for each minute, their mean.
    pub points: Vec<(Instant, f64)>,
}

/// For how long each sample is kept by itself.
const KEPT: Nanos = Nanos::from_secs(2 * 3600);
/// What takes the place of older ones is so long.
const LONGER_NS: u64 = 60_000_000_000;
/// Samples that are put together at once, at least.
const TOGETHER: usize = 600;

/// Something that could not be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The series or the group of series.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// Where samplers put what they see.
#[derive(Debug, Default)]
pub(super) struct Sink {
    pub(super) series: Vec<Series>,
    pub(super) absent: Vec<Absent>,
    /// For each series, how many of its points stand for a minute each.
    minutes: Vec<usize>,
}

/// A series of a sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(usize);

/// Reads one source and appends points.
pub(super) trait Sampler {
    fn sample(&mut self, now: Instant, out: &mut Sink);
}

impl Sink {
    pub(super) fn open(&mut self, name: impl Into<String>, unit: &'static str, source: &str) -> Slot {
        self.series.push(Series { name: name.into(), unit, source: source.into(), points: Vec::new() });
        self.minutes.push(0);
        assert_eq!(self.series.len(), self.minutes.len(), "each series must have its count of minutes");
        Slot(self.series.len() - 1)
    }

    /// The last value of the series of that name.
    #[cfg(test)]
    pub(super) fn last(&self, name: &str) -> Option<f64> {
        let series = self.series.iter().find(|series| series.name == name);
        series.and_then(|series| series.points.last()).map(|point| point.1)
    }

    pub(super) fn miss(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.absent.push(Absent { name: name.into(), reason: reason.into() });
    }

    pub(super) fn push(&mut self, slot: Slot, now: Instant, value: f64) {
        let (points, minutes) = (&mut self.series[slot.0].points, &mut self.minutes[slot.0]);
        debug_assert!(
            points.last().is_none_or(|(at, _)| *at <= now),
            "the points of a series must be in order of time"
        );
        points.push((now, value));
        let old = Instant::from_nanos(
            now.saturating_since(Instant::default()).saturating_sub(KEPT).get() / LONGER_NS * LONGER_NS,
        );
        if points.get(*minutes + TOGETHER).is_some_and(|(at, _)| *at <= old) {
            debug_assert!(*minutes < points.len(), "there must be points to put together");
            *minutes = put_together(points, *minutes, old);
        }
    }
}

/// Puts the points up to `old` that follow the first `from` together by the minute they end in; how many there are then
/// up to `old`. Each weighs as much as its stretch is long, which begins where the one before it ended.
fn put_together(points: &mut Vec<(Instant, f64)>, from: usize, old: Instant) -> usize {
    let until = points.partition_point(|(at, _)| *at <= old);
    assert!(from <= until && until <= points.len(), "only points that are there can be put together");
    let mut minutes: Vec<(Instant, f64)> = Vec::new();
    let (mut number, mut weight) = (None, 0.0);
    for place in from..until {
        let (at, value) = points[place];
        let began = place.checked_sub(1).map(|before| points[before].0);
        let length = began.map_or(1.0, |began| at.saturating_since(began).as_secs_f64()).max(1e-9);
        let own = Some(at.nanos().saturating_sub(1) / LONGER_NS);
        match minutes.last_mut() {
            Some((end, mean)) if number == own => {
                weight += length;
                *mean += (value - *mean) * length / weight;
                *end = at;
            }
            _ => {
                (number, weight) = (own, length);
                minutes.push((at, value));
            }
        }
    }
    let count = minutes.len();
    assert!(count <= until - from, "minutes must be no more than their points");
    points.splice(from..until, minutes);
    from + count
}

/// The last reading of a source, to take differences from.
#[derive(Debug)]
pub(super) struct Last<T>(Option<(Instant, T)>);

impl<T> Default for Last<T> {
    fn default() -> Last<T> {
        Last(None)
    }
}

impl<T> Last<T> {
    /// The reading before, if there is one.
    pub(super) fn reading(&self) -> Option<&T> {
        self.0.as_ref().map(|(_, reading)| reading)
    }

    /// Puts `reading` in the place of the one before, and gives that with the seconds in between; `None` for the first
    /// and where no time has passed.
    pub(super) fn replace(&mut self, now: Instant, reading: T) -> Option<(T, f64)> {
        let (then, before) = self.0.replace((now, reading))?;
        let seconds = now.saturating_since(then).as_secs_f64();
        (seconds > 0.0).then_some((before, seconds))
    }
}

/// `after - before`; zero where the counter went back, as when a device or a thread was replaced.
pub(super) fn grown(before: u64, after: u64) -> f64 {
    after.saturating_sub(before) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_samples_become_minutes_whose_means_are_those_of_their_samples() {
        let mut sink = Sink::default();
        let slot = sink.open("x", "share", "test");
        let seconds = 86_400;
        for second in 1..=seconds {
            sink.push(slot, Instant::from_nanos(second * 1_000_000_000), (second % 60) as f64);
        }
        let points = &sink.series[0].points;
        assert!(points.len() < 7_200 + TOGETHER + 1_440, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let (first, last) = (points[0], points[points.len() - 1]);
        assert_eq!(first.0, Instant::from_nanos(60_000_000_000));
        assert!((first.1 - 29.5).abs() < 1e-9, "{}", first.1);
        assert_eq!(last, (Instant::from_nanos(seconds * 1_000_000_000), 0.0));
        let fine = points.iter().rev().take(7_200).map(|(_, value)| *value).sum::<f64>() / 7_200.0;
        assert!((fine - 29.5).abs() < 1e-9);
    }

    #[test]
    fn a_short_run_keeps_every_sample() {
        let mut sink = Sink::default();
        let slot = sink.open("x", "share", "test");
        (1..=7_200).for_each(|second| sink.push(slot, Instant::from_nanos(second * 1_000_000_000), 1.0));
        assert_eq!(sink.series[0].points.len(), 7_200);
    }
}
