//! How a trace is asked again.

use std::collections::BTreeMap;
use std::sync::Arc;

use units::convert::truncated;
use units::{Bytes, Nanos, Share};

use super::{Entry, Trace};
use crate::Op;
use crate::text::{MOST_SIZES, SHARE_SLACK};
use crate::{OpMix, SizeSplit};

/// The most that offsets are divided by.
pub const MOST_SCALE: u32 = 1_000_000;

/// Which trace is asked again, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The file it is in.
    pub file: String,
    /// How many times faster than it was recorded, where it sets the pace; above zero.
    pub speed: f64,
    /// Offsets are divided by this; at least 1.
    pub scale: u32,
    /// Operations that are left out.
    pub skip: Vec<Op>,
    /// What all reads, writes and trims that are left in become; `None` leaves them as they were.
    pub as_op: Option<Op>,
    /// What lies beyond the target, or on a file that is not there, comes round again from the start.
    pub fold: bool,
    /// What was read from the file, without what is left out; `None` until whoever opens files has read it.
    pub requests: Option<Arc<Trace>>,
}

impl Default for Replay {
    fn default() -> Replay {
        let (file, skip) = (String::new(), Vec::new());
        Replay { file, speed: 1.0, scale: 1, skip, as_op: None, fold: false, requests: None }
    }
}

impl Replay {
    /// How long asking it takes where it sets the pace; `None` where it has not been read.
    pub fn lasts(&self) -> Option<Nanos> {
        assert!(self.speed > 0.0, "a trace at {} times its speed", self.speed);
        let lasts = self.requests.as_ref()?.duration().get() as f64 / self.speed;
        Some(Nanos::new(truncated(lasts)))
    }

    /// What of `trace` is asked: offsets scaled, and rounded down to `align`, and operations changed; the same one where
    /// nothing changes.
    pub fn part_of(&self, trace: &Arc<Trace>, align: Option<Bytes>) -> Arc<Trace> {
        let align = align.map_or(1, Bytes::get).max(1);
        let scale = u64::from(self.scale.max(1));
        if self.skip.is_empty() && self.as_op.is_none() && scale == 1 && align == 1 {
            return trace.clone();
        }
        let kept = trace.entries.iter().filter(|entry| !self.skip.contains(&entry.request().op));
        let placed = |entry: &Entry| {
            let scaled = entry.offset / scale;
            let placed = Entry { offset: scaled - scaled % align, ..*entry };
            match (self.as_op, entry.request().op) {
                (None, _) | (_, Op::Flush) => placed,
                (Some(op), _) => placed.with_op(op),
            }
        };
        debug_assert!(self.as_op != Some(Op::Flush), "requests that move data become none that does not");
        Arc::new(Trace::packed(kept.map(placed).collect(), trace.files.clone()).with_thinks(trace.thinks()))
    }
}

/// Size and operation of the requests of a trace, as far as a split has room: the most frequent sizes and the largest.
/// What has another size is counted as of size zero, sizes that vary.
pub fn asked(trace: &Trace) -> (SizeSplit, OpMix) {
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    let mut ops = [0u64; 4];
    for (op, len, count) in trace.kinds() {
        ops[op as usize] += count;
        if op != Op::Flush {
            *sizes.entry(len).or_insert(0) += count;
        }
    }
    let total = ops.iter().sum::<u64>().max(1) as f64;
    let part = |op: Op| Share::new(ops[op as usize] as f64 / total).unwrap_or(Share::ALL);
    let mix = OpMix { reads: part(Op::Read), trims: part(Op::Trim), flushes: part(Op::Flush) };
    debug_assert_eq!(
        sizes.values().sum::<u64>() + ops[Op::Flush as usize],
        ops.iter().sum::<u64>(),
        "each request has a size or is a flush"
    );
    assert!(
        mix.reads.get() + mix.trims.get() + mix.flushes.get() <= 1.0 + SHARE_SLACK,
        "parts of all requests are more than all"
    );
    (split(sizes), mix)
}

fn split(sizes: BTreeMap<u32, u64>) -> SizeSplit {
    let entry = |(size, count): (u32, u64)| (Bytes::new(size.into()), count as f64);
    let Some(largest) = sizes.last_key_value().map(|(size, _)| *size) else {
        return SizeSplit::one(Bytes::KIB * 4);
    };
    if sizes.len() <= MOST_SIZES {
        return SizeSplit(sizes.into_iter().map(entry).collect());
    }
    let all: u64 = sizes.values().sum();
    let mut by_count: Vec<(u32, u64)> = sizes.into_iter().collect();
    by_count.sort_by_key(|(size, count)| (*size != largest, std::cmp::Reverse(*count), *size));
    let others: u64 = by_count.drain(MOST_SIZES - 1..).map(|(_, count)| count).sum();
    by_count.push((0, others));
    by_count.sort_unstable();
    assert_eq!(by_count.iter().map(|(_, count)| count).sum::<u64>(), all, "a request has left its split");
    assert!(by_count.len() <= MOST_SIZES, "{} sizes in one split", by_count.len());
    SizeSplit(by_count.into_iter().map(entry).collect())
}
