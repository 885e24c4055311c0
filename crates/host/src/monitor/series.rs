//! Values of one thing over time.

use units::Instant;

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
    pub points: Vec<(Instant, f64)>,
}

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
        Slot(self.series.len() - 1)
    }

    pub(super) fn miss(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.absent.push(Absent { name: name.into(), reason: reason.into() });
    }

    pub(super) fn push(&mut self, slot: Slot, now: Instant, value: f64) {
        self.series[slot.0].points.push((now, value));
    }
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
