//! fio's depths of a queue that is refilled.
//!
//! fio counts at each submission how many requests it has out, and takes one completion at a time (`iodepth_batch_complete_min` where
//! that says more) before it submits the next: what has ended behind that one is out to it until its turn. So of a job that
//! submits whenever there is room each request but the first ones finds the queue full, whatever the storage does meanwhile.
//! Source: `io_u_mark_depth` and `do_io` of fio 3.33, and its output.

use super::job::Job;
use super::pace::Pace;

/// fio's table of an entry of `job` that stands for so many of its `clones`, which made so many `requests` together; `None` where it is not always refilled, and what was counted
/// says more.
pub(super) fn refilled(job: &Job, clones: u64, requests: u64) -> Option<[u64; 7]> {
    let engine = job.engine;
    let is_plain =
        job.pace == Pace::Closed && job.slo.is_none() && job.flow.is_none() && job.halves.is_none();
    let is_blocks = job.tree.is_none() && job.replay.is_none() && engine.name != "null";
    let is_full = engine.is_deep && engine.low_water.is_none() && engine.submit_batch == 1;
    (is_plain && is_blocks && is_full).then(|| {
        let first = !job.length.is_ramped();
        table(requests, clones.max(1), engine.depth.into(), engine.complete_batch.into(), first)
    })
}

/// Of so many `requests` of `workers` together: each queue of `depth` fills, where its first requests are among them, and then is
/// refilled whenever `taken` have been taken out of it.
fn table(requests: u64, workers: u64, depth: u64, taken: u64, fills: bool) -> [u64; 7] {
    assert!((1..=depth).contains(&taken) && workers > 0, "no more is taken out than is in it");
    let mut counts = [0; 7];
    let filling = if fills { depth.min(requests / workers) } else { 0 };
    for level in 1..=filling {
        counts[place(level)] += workers;
    }
    let rest = requests - filling * workers;
    for step in 0..taken {
        counts[place(depth - taken + step + 1)] += rest / taken + u64::from(step < rest % taken);
    }
    debug_assert_eq!(counts.iter().sum::<u64>(), requests, "each request is counted once");
    counts
}

/// Where a depth is counted: 1, 2 to 3, 4 to 7 and so on to 64 and more.
fn place(depth: u64) -> usize {
    assert!(depth > 0, "a request is out itself");
    depth.ilog2().min(6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_refilled_is_as_deep_as_fio_says() {
        // fio 3.33, libaio, 1024 requests at depth 64: 0.1, 0.2, 0.4, 0.8, 1.6, 3.1 and 93.8 %.
        assert_eq!(table(1024, 1, 64, 1, true), [1, 2, 4, 8, 16, 32, 961]);
        // Two jobs of as many at depth 32: 97.0 % at 32.
        assert_eq!(table(2048, 2, 32, 1, true), [2, 4, 8, 16, 32, 1986, 0]);
        // With iodepth_batch_complete_min=8: 85.2 % at 32 and 11.8 % at 64.
        assert_eq!(table(1024, 1, 64, 8, true), [1, 2, 4, 8, 16, 872, 121]);
        // Behind a ramp it is full from the first.
        assert_eq!(table(1000, 1, 64, 1, false), [0, 0, 0, 0, 0, 0, 1000]);
        // Fewer requests than room.
        assert_eq!(table(3, 1, 64, 1, true), [1, 2, 0, 0, 0, 0, 0]);
        assert_eq!(table(0, 4, 8, 1, true), [0; 7]);
    }
}
