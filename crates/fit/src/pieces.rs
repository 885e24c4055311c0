//! Into how many pieces a large request is cut: from how much longer it takes alone than a smaller one.
//!
//! Counts of members that distances leave open differ in the chunk. A request that is larger than a chunk is the work
//! of several members at once, and what more of it there is costs the way there alone; one that is no larger is the
//! work of one member, which moves no more than it was seen to. That holds for members without arms, which take as long
//! for one place as for another.

use crate::front::Front;
use crate::geometry::{Geometry, Order};
use crate::probe::Probe;
use crate::refine::is_on_one;

/// The count of members, of those that the distances leave open, that explains reads of all sizes alone; as it was
/// where they tell nothing.
pub fn settle(geometry: Geometry, probes: &[Probe], front: &Front) -> Geometry {
    let alone = alone(probes);
    if !geometry.is_doubtful() || alone.len() < FEWEST || alone[0].1 > MECHANICAL_NS {
        return geometry;
    }
    let off = |(_, members, chunk): &(Order, u32, u64)| {
        let on_one = probes.iter().filter(|probe| probe.is_read() && is_on_one(probe, *members, *chunk));
        let most = on_one.map(Probe::bytes_per_s).fold(0.0, f64::max);
        misfit(&alone, *chunk as f64, if most > 0.0 { most } else { f64::INFINITY }, front.byte)
    };
    let mut ranked: Vec<(f64, (Order, u32, u64))> =
        geometry.alike.iter().map(|each| (off(each), *each)).collect();
    ranked.sort_by(|one, two| one.0.total_cmp(&two.0));
    let least = ranked[0].0;
    let alike = |of: &&(f64, (Order, u32, u64))| of.0 < LIKELIER * least + CHANCE;
    let Some(&(own, best)) = ranked.iter().filter(alike).min_by_key(|of| of.1.1) else { return geometry };
    let next = ranked.iter().filter(|of| of.1 != best).map(|of| of.0).fold(f64::INFINITY, f64::min);
    let told = ranked.iter().filter(alike).count() == 1;
    geometry.taken(best, told.then_some((own, next)))
}

/// Sizes of reads alone, to begin with.
const FEWEST: usize = 4;

/// No flash takes as long, and no arm is as quick.
const MECHANICAL_NS: f64 = 1e6;

/// A count that leaves so many times more than the best, and a hundredth or two beyond it, is another.
const LIKELIER: f64 = 2.0;
const CHANCE: f64 = 0.02;

/// Bytes and mean nanoseconds of reads all over the target, one at a time, by size.
fn alone(probes: &[Probe]) -> Vec<(f64, f64)> {
    let reads = probes.iter().filter(|probe| probe.is_read() && probe.is_everywhere() && probe.depth == 1.0);
    let mut alone: Vec<(f64, f64)> = reads.map(|probe| (probe.size, probe.response_ns)).collect();
    alone.sort_by(|one, two| one.0.total_cmp(&two.0));
    alone.dedup_by(|one, two| one.0 == two.0);
    alone
}

/// How far times of that size are from what the chunk lets expect: the root mean square of logarithms.
///
/// `most` is what one member moves in a second, `byte` what a byte costs on the way there.
fn misfit(alone: &[(f64, f64)], chunk: f64, most: f64, byte: f64) -> f64 {
    let whole = alone.iter().rfind(|(size, _)| *size <= chunk);
    let off = |&(size, time): &(f64, f64)| match whole {
        Some((piece, of_piece)) if size > chunk => ((of_piece + (size - piece) * byte) / time).ln(),
        _ => (size.min(chunk) / most * 1e9 / time).ln().max(0.0),
    };
    let squares: f64 = alone.iter().map(|each| off(each).powi(2)).sum();
    (squares / alone.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 150 µs and what one member of 1 GB/s takes for its piece; the way there moves four times as much.
    fn times(chunk: f64) -> Vec<(f64, f64)> {
        let time = |size: f64| 150e3 + size.min(chunk) + (size - chunk).max(0.0) * 0.25;
        (12..=21).map(|power| f64::from(1u32 << power)).map(|size| (size, time(size))).collect()
    }

    #[test]
    fn the_chunk_is_where_more_bytes_begin_to_cost_the_way_there_alone() {
        for chunk in [65_536.0, 131_072.0, 262_144.0, 524_288.0] {
            let off = |tried: f64| misfit(&times(chunk), tried, 1e9, 0.25);
            assert!(off(chunk) < 1e-9, "{}", off(chunk));
            assert!(off(chunk / 2.0) > CHANCE && off(chunk / 4.0) > CHANCE, "{chunk}");
        }
    }

    #[test]
    fn a_request_that_ends_before_one_member_could_have_moved_it_is_the_work_of_several() {
        let off = |tried: f64| misfit(&times(262_144.0), tried, 1e9, 0.25);
        assert!(off(1_048_576.0) > CHANCE, "{}", off(1_048_576.0));
    }
}
