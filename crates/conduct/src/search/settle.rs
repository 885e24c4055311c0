//! What stands between two rates: the target comes back to what it was when it was quiet, and its write cache is full.
//!
//! These loads are no points of the record; what follows from them is in the search.

use record::{Recovery, WriteCache};
use stats::Histogram;
use units::convert::truncated;
use units::{Bytes, Nanos, OpsPerSecond};
use workload::Op;
use workload::plan::Load;

use super::drive::Driver;
use crate::event::Event;
use crate::world::{MeasuredLoad, WorldError};

/// The light load, as a part of what one request at a time does or of the bound, and in requests a second; at most
/// the half of that.
const LIGHT: (f64, f64) = (0.05, 10.0);

/// Requests that say something of a light load, and the seconds that are taken for them at most.
const LIGHT_REQUESTS: f64 = 20.0;
const LIGHT_MOST_S: f64 = 5.0;

/// The quiet level is that of so many looks at the light load.
const QUIET_LOOKS: u32 = 5;

/// A light load is answered as before when its mean is no more than this above the quiet level.
const RECOVERED: f64 = 1.1;

/// Seconds that are waited for that at most.
const RECOVERY_MOST: u32 = 120;

/// Each stretch of writes as fast as they go.
const SLICE: Nanos = Nanos::from_secs(2);

/// Writes fall by as much when a cache is full.
const FALL: f64 = 0.8;

/// A rate of which the storage behind a full cache does twice as many does not keep the cache full: it is looked at once the
/// cache has been emptied beside it, and others right behind the filling.
const KEEPS_FULL: f64 = 0.5;

/// So much of what a cache is said to hold is written before it is believed that nothing falls.
const WRITTEN_ENOUGH: f64 = 4.0;

/// Seconds of writes in which a cache that nobody knows of is looked for.
const LOOKED_FOR_S: f64 = 60.0;

impl Driver<'_, '_> {
    /// Measures the light load of a quiet target, to which it has to come back after each rate that failed.
    pub(super) fn quieten(&mut self) -> Result<(), WorldError> {
        let (part, least) = LIGHT;
        self.light_per_s = (self.top_per_s * part).max(least).min(self.top_per_s / 2.0);
        let mut all = Histogram::new();
        for _ in 0..QUIET_LOOKS {
            if self.is_over() {
                return Ok(());
            }
            all.merge(&self.light()?.0);
        }
        self.quiet_ns = all.mean();
        Ok(())
    }

    /// Response times of the light load, and for how long it ran.
    fn light(&mut self) -> Result<(Histogram, f64), WorldError> {
        let seconds = (LIGHT_REQUESTS / self.light_per_s).ceil().clamp(1.0, LIGHT_MOST_S);
        let answer = self.apart(&self.at_rate(self.light_per_s, seconds, Nanos::ZERO))?;
        let mut response = Histogram::new();
        answer.tallies().flat_map(|tally| &tally.classes).for_each(|class| response.merge(&class.response));
        Ok((response, seconds))
    }

    /// A load that is no point.
    fn apart(&mut self, load: &Load) -> Result<MeasuredLoad, WorldError> {
        let load = &self.budget.cut(self.world.now(), load);
        let index = self.outcome.points.len();
        let watch = &mut *self.watch;
        self.world.load(load, &mut |live| watch(Event::Live { index, live, so_far: None }))
    }

    /// Waits until the light load is answered as when the target was quiet, or has been waited for long enough. `None`
    /// where that cannot be told.
    pub(super) fn recover(&mut self) -> Result<Option<Recovery>, WorldError> {
        let Some(quiet_ns) = self.quiet_ns else { return Ok(None) };
        let most = f64::from(RECOVERY_MOST);
        let mut waited_s = 0.0;
        while waited_s < most && !self.is_over() {
            let (response, seconds) = self.light()?;
            let (Some(mean), Some(spread)) = (response.mean(), response.std_dev()) else { return Ok(None) };
            let chance = 2.0 * spread / (response.count() as f64).sqrt();
            if mean - chance <= RECOVERED * quiet_ns {
                // The look that found it so is the measurement, not a wait.
                return Ok(Some(Recovery { seconds: waited_s, complete: true }));
            }
            if waited_s == 0.0 {
                let what = "waiting until the target has recovered";
                (self.watch)(Event::Aside { what, expected: Nanos::from_secs(u64::from(RECOVERY_MOST)) });
            }
            waited_s += seconds;
        }
        Ok((!self.is_over()).then_some(Recovery { seconds: waited_s, complete: false }))
    }

    /// Writes until the cache in front of the storage is full, as far as there is one: what was reached behind it is
    /// the ceiling.
    pub(super) fn overrun(&mut self) -> Result<(), WorldError> {
        if !self.base.workloads.iter().any(|workload| workload.writes()) {
            return Ok(());
        }
        let known = self.world.write_cache();
        let (bytes, basis) = match (self.options.write_cache, known) {
            // Whoever says that there is none where there is one wants to see what it does.
            (Some(given), Some(known)) if given.is_zero() && !known.is_zero() => (Some(known), "array"),
            (Some(given), _) => (Some(given), "given"),
            (None, Some(known)) => (Some(known), "array"),
            (None, None) => (None, "seen"),
        };
        let mut found = WriteCache {
            bytes: bytes.map(Bytes::get),
            basis: basis.into(),
            written_bytes: 0,
            overrun: bytes == Some(Bytes::ZERO),
            fill_s: None,
        };
        if bytes != Some(Bytes::ZERO) && self.options.write_cache != Some(Bytes::ZERO) {
            self.fill_up(&mut found)?;
        }
        self.write_cache = Some(found);
        Ok(())
    }

    fn fill_up(&mut self, found: &mut WriteCache) -> Result<(), WorldError> {
        let longest_s = self.options.longest.as_secs_f64();
        let most_s = if found.bytes.is_some() { longest_s } else { longest_s.min(LOOKED_FOR_S) };
        (self.watch)(Event::Aside {
            what: "writing as fast as it goes, to fill the write cache",
            expected: Nanos::from_secs_f64(most_s),
        });
        let mut writes = Writes::default();
        while writes.seconds() < most_s && !self.is_over() {
            let answer = self.apart(&self.fast(SLICE))?;
            writes.add(&answer);
            let enough = found.bytes.is_some_and(|bytes| writes.bytes() > bytes as f64 * WRITTEN_ENOUGH);
            if enough || writes.fell_after().is_some() {
                break;
            }
        }
        found.written_bytes = truncated::<u64>(writes.bytes());
        let fell_after = writes.fell_after();
        if let (None, Some(slices)) = (found.bytes, fell_after) {
            found.bytes =
                Some(truncated::<u64>(writes.slices[..slices].iter().map(|slice| slice.bytes).sum::<f64>()));
        }
        let enough = found.bytes.is_some_and(|bytes| writes.bytes() >= bytes as f64 * WRITTEN_ENOUGH);
        // Nobody knows of one and none was seen: the rates are those of the storage as far as can be told.
        found.overrun = fell_after.is_some() || enough || found.bytes.is_none();
        if found.overrun && found.bytes.is_some() {
            // One slice more than it took from empty.
            let slices = fell_after.unwrap_or(writes.slices.len());
            found.fill_s = Some((slices + 1) as f64 * SLICE.as_secs_f64());
        }
        if let Some(last) = writes.slices.last().filter(|_| self.options.to.is_none()) {
            self.top_per_s = self.top_per_s.min(last.ops_per_s).max(f64::MIN_POSITIVE);
        }
        if let (Some(last), Some(bytes), true) = (writes.slices.last(), found.bytes, found.fill_s.is_some()) {
            let leave_s = bytes as f64 / (last.bytes / SLICE.as_secs_f64()).max(1.0);
            self.behind_cache = Some(BehindCache { ops_per_s: last.ops_per_s, leave_s, is_full: true });
        }
        Ok(())
    }

    /// Brings the write cache into the state that a lasting load of this rate leaves it in, before a trial: full or empty.
    pub(super) fn prepare_cache(&mut self, rate_per_s: f64) -> Result<(), WorldError> {
        let Some(behind) = self.behind_cache else { return self.fill() };
        let part = rate_per_s / behind.ops_per_s.max(f64::MIN_POSITIVE);
        if part > KEEPS_FULL {
            self.overrun_cache();
            return self.fill();
        }
        if !behind.is_full || self.is_over() {
            return Ok(());
        }
        // What comes in meanwhile leaves too.
        let seconds = (behind.leave_s / (1.0 - part)).min(self.options.longest.as_secs_f64());
        let time = Nanos::from_secs_f64(seconds);
        (self.watch)(Event::Aside { what: "emptying the write cache beside the rate", expected: time });
        self.apart(&self.at_rate(rate_per_s, seconds, Nanos::ZERO))?;
        self.behind_cache = Some(BehindCache { is_full: false, ..behind });
        Ok(())
    }

    /// Notes that the write cache is full: it was filled, or the last rate was too high.
    pub(super) fn overrun_cache(&mut self) {
        if let Some(behind) = &mut self.behind_cache {
            behind.is_full = true;
        }
    }

    /// Has the write cache full before a rate is looked at.
    fn fill(&mut self) -> Result<(), WorldError> {
        let Some(fill_s) = self.write_cache.as_ref().and_then(|cache| cache.fill_s) else { return Ok(()) };
        if self.is_over() {
            return Ok(());
        }
        let time = Nanos::from_secs_f64(fill_s);
        (self.watch)(Event::Aside { what: "filling the write cache", expected: time });
        self.apart(&self.fast(time))?;
        Ok(())
    }

    /// As fast as it goes, or as the bound allows.
    fn fast(&self, time: Nanos) -> Load {
        match self.options.to {
            Some(to) => self.at_rate(OpsPerSecond::get(to), time.as_secs_f64(), Nanos::ZERO),
            None => self.closed(self.deepest, time, Nanos::ZERO),
        }
    }
}

/// What the storage does behind a write cache that is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct BehindCache {
    /// Requests a second, reads and writes.
    ops_per_s: f64,
    /// Seconds in which as much leaves it as it holds.
    leave_s: f64,
    /// Whether it has been filled and not been emptied since.
    is_full: bool,
}

/// What was written, slice by slice.
#[derive(Default)]
struct Writes {
    slices: Vec<Slice>,
}

struct Slice {
    bytes: f64,
    ops_per_s: f64,
}

impl Writes {
    fn add(&mut self, answer: &MeasuredLoad) {
        let writes =
            answer.tallies().flat_map(|tally| &tally.classes).filter(|class| class.class.op == Op::Write);
        let bytes = writes.map(|class| class.bytes.as_f64()).sum();
        let seconds =
            answer.tallies().map(|tally| tally.measured().as_secs_f64()).fold(f64::MIN_POSITIVE, f64::max);
        let ops: u64 = answer.tallies().map(workload::tally::Tally::ops).sum();
        self.slices.push(Slice { bytes, ops_per_s: ops as f64 / seconds });
    }

    fn seconds(&self) -> f64 {
        self.slices.len() as f64 * SLICE.as_secs_f64()
    }

    fn bytes(&self) -> f64 {
        self.slices.iter().map(|slice| slice.bytes).sum()
    }

    /// After how many slices the writes became slower for good: the last two are well below the best before them.
    fn fell_after(&self) -> Option<usize> {
        let (before, last) = self.slices.split_at(self.slices.len().checked_sub(2)?);
        let best = before.iter().map(|slice| slice.bytes).fold(0.0, f64::max);
        let fell = !before.is_empty() && last.iter().all(|slice| slice.bytes < FALL * best);
        fell.then_some(before.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(slices: &[f64]) -> Writes {
        Writes { slices: slices.iter().map(|bytes| Slice { bytes: *bytes, ops_per_s: 1.0 }).collect() }
    }

    #[test]
    fn a_cache_is_full_when_two_stretches_in_a_row_are_well_below_the_best() {
        assert_eq!(writes(&[100.0, 100.0, 60.0, 61.0]).fell_after(), Some(2));
        assert_eq!(writes(&[100.0, 100.0, 60.0]).fell_after(), None, "one may be chance");
        assert_eq!(writes(&[100.0, 90.0, 85.0, 88.0]).fell_after(), None);
        assert_eq!(writes(&[100.0, 40.0, 100.0]).fell_after(), None);
        assert_eq!(writes(&[60.0, 60.0]).fell_after(), None, "nothing was faster before");
        assert_eq!(writes(&[]).fell_after(), None);
    }
}
