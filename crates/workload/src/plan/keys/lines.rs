//! The lines of a `mix`: requests of several kinds in one workload.

use document::Wrong;
use units::{Bytes, Share};

use super::draft::Draft;
use crate::plan::text::{OwnLine, SHARE_SLACK, split_of};
use crate::spec::{Line, OpMix, SizeSplit};

/// The lines with what the workload says where they say nothing.
pub(crate) fn finish(draft: &Draft) -> Result<Vec<Line>, Wrong> {
    let finish = |line: &OwnLine| {
        let (trims, flushes) =
            (line.trims.unwrap_or(draft.spec.mix.trims), line.flushes.unwrap_or(draft.spec.mix.flushes));
        Ok(Line {
            weight: line.weight,
            sizes: line.sizes.clone().unwrap_or_else(|| draft.spec.sizes.clone()),
            mix: mix(line.reads.or(draft.reads), trims, flushes)?,
            random: line.random.or(draft.spec.random),
            align: line.align,
            burst: line.burst,
            delay: line.delay,
        })
    };
    draft.lines.iter().map(finish).collect()
}

/// A mix of operations; without `reads` all that is neither trim nor flush reads.
pub(crate) fn mix(reads: Option<Share>, trims: Share, flushes: Share) -> Result<OpMix, Wrong> {
    let others = trims.get() + flushes.get();
    let part = reads.map_or((1.0 - others).max(0.0), Share::get);
    if part + others > 1.0 + SHARE_SLACK {
        let sum = ((part + others) * 1e4).round() / 1e2;
        let message = format!("reads, trims and flushes are {sum}% of the requests");
        return Err(Wrong::new(message, "at most 100% in all; what is left are writes"));
    }
    let reads = Share::new(part).expect("a share, or what shares leave of 1");
    Ok(OpMix { reads, trims, flushes })
}

/// The sizes of all lines in the order in which they first stand, with their parts of the requests.
pub(crate) fn sizes(lines: &[Line]) -> Result<SizeSplit, Wrong> {
    let total: f64 = lines.iter().map(Line::requests).sum();
    let mut all: Vec<(Bytes, f64)> = Vec::new();
    for line in lines {
        let within: f64 = line.sizes.0.iter().map(|(_, weight)| weight).sum();
        for (size, weight) in &line.sizes.0 {
            let part = line.requests() / total * (weight / within);
            match all.iter_mut().find(|(known, _)| known == size) {
                Some((_, sum)) => *sum += part,
                None => all.push((*size, part)),
            }
        }
    }
    // Percent to ten digits: what is shown should look like what was typed.
    let percent = |part: f64| ((part * 1e12).round() / 1e10).max(1e-10);
    Ok(split_of(all.into_iter().map(|(size, part)| (size, percent(part))).collect())?)
}
