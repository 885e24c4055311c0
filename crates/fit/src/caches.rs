//! What a cache above the members holds: from regions of growing size, how much of them is answered at once.

use record::Figure;
use units::Nanos;
use units::convert::truncated;

use crate::front;
use crate::probe::{Pattern, Probe};

/// What the regions told of a cache for reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReadCache {
    /// None of the probes could tell hits from misses.
    Unknown,
    /// It holds every region that was asked; this many bytes at least.
    AtLeast(u64),
    /// So many bytes.
    Size(Figure),
}

/// A region counts as held where at least this part of it is.
const HELD: f64 = 0.97;

/// What a drive's buffer answers takes longer than what the array's cache does, by a command and a transfer more.
const SLOWER: f64 = 1.05;

/// The size of the read cache.
///
/// A cache that forgets what was used longest ago, and a region that was read once from its start to its end and is
/// then asked at random, agree in this: of a region of W bytes a cache of C holds C/W.
pub fn fit(probes: &[Probe]) -> ReadCache {
    let Some(limit) = between(probes) else { return ReadCache::Unknown };
    let regions = probes.iter().filter(|probe| {
        probe.pattern == Pattern::Random
            && probe.is_read()
            // Several at once wait for each other, and a hit takes as long as a miss then.
            && probe.depth == 1.0
            && probe.region.is_some_and(|region| region > 32 << 20)
    });
    let (mut weights, mut sum, mut held) = (0.0, 0.0, 0u64);
    for probe in regions {
        let region = probe.region.unwrap_or(0);
        let count = probe.responses.count() as f64;
        let hits = count - probe.responses.count_above(limit) as f64;
        let part = hits / count;
        debug_assert!((0.0..=1.0).contains(&part) || count == 0.0, "{hits} of {count} were hits");
        if part >= HELD {
            held = held.max(region);
        } else if hits >= 10.0 {
            let size = part * region as f64;
            // Binomial, and what the model of the cache itself may be wrong.
            let variance = (region as f64).powi(2) * part * (1.0 - part) / count + (0.02 * size).powi(2);
            weights += 1.0 / variance;
            sum += size / variance;
        }
    }
    match (weights > 0.0, held) {
        (true, _) => {
            let size = sum / weights;
            let error = 1.96 / weights.sqrt();
            ReadCache::Size(Figure { value: size, low: Some(size - error), high: Some(size + error) })
        }
        (false, 0) => ReadCache::Unknown,
        (false, held) => ReadCache::AtLeast(held),
    }
}

/// A response time between those of hits and those of misses; `None` where they overlap.
///
/// Near to the hits: drives have buffers of their own, which answer sooner than media and later than the array's cache.
fn between(probes: &[Probe]) -> Option<Nanos> {
    let hot = front::hot(probes, true).filter(|probe| probe.size <= 4096.0 && probe.depth == 1.0);
    let hit = hot.filter_map(|probe| probe.responses.quantile(0.99)).max()?.get() as f64;
    let cold = probes.iter().find(|probe| probe.is_read() && probe.is_everywhere() && probe.depth == 1.0)?;
    let miss = cold.responses.quantile(0.1)?.get() as f64;
    (miss > 1.2 * hit).then(|| Nanos::new(truncated((hit * miss).sqrt().min(hit * SLOWER))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::read_alone;

    fn point(region: Option<u64>, depth: f64, micros: u64) -> Probe {
        let mut responses = stats::Histogram::new();
        responses.record_n(Nanos::from_micros(micros), 1_000);
        Probe { region, depth, responses, ..read_alone(4096.0, micros as f64 * 1e3) }
    }

    #[test]
    fn hits_that_wait_for_each_other_are_not_taken_for_misses() {
        let region = Some(64 << 20);
        let points = [point(Some(8 << 20), 1.0, 60), point(None, 1.0, 4_000), point(region, 1.0, 60)];
        assert_eq!(fit(&points), ReadCache::AtLeast(64 << 20));
        let deep = [&points[..], &[point(region, 128.0, 3_000)]].concat();
        assert_eq!(fit(&deep), ReadCache::AtLeast(64 << 20));
    }
}
