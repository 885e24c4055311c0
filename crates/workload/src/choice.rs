//! Which operation and which size comes next.

use rand_core::Rng;
use units::Bytes;
use units::convert::truncated;

use crate::Op;
use crate::rng::Stream;
use crate::spec::{OpMix, SizeSplit};

/// Draws one of a few alternatives by weight. Alternatives without weight are never drawn.
#[derive(Clone, Debug)]
pub struct Choice<T> {
    /// The upper end of each alternative's share of 64 bits; the last one's is not used.
    alternatives: Vec<(u64, T)>,
    by: By,
}

/// How one alternative is told from the others.
#[derive(Clone, Debug)]
enum By {
    /// Drawn.
    Draw(Stream),
    /// The one that is furthest behind its share: what each is owed, in requests.
    Turn(Vec<f64>),
}

impl<T: Copy> Choice<T> {
    /// A choice among `weighted`; weights need not sum to 1. At least one must be positive.
    pub fn new(weighted: &[(T, f64)], stream: Stream) -> Choice<T> {
        debug_assert!(
            weighted.iter().all(|(_, weight)| *weight >= 0.0 && weight.is_finite()),
            "a weight below nothing, or without a bound"
        );
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        assert!(total > 0.0, "a choice among nothing");
        let mut seen = 0.0;
        let alternatives = weighted
            .iter()
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(value, weight)| {
                seen += weight / total;
                (truncated::<u64>(seen * u64::MAX as f64), *value)
            })
            .collect();
        let choice = Choice { alternatives, by: By::Draw(stream) };
        debug_assert!(
            choice.alternatives.is_sorted_by_key(|(until, _)| *until),
            "each alternative ends where the next begins"
        );
        choice
    }

    /// The same alternatives in turn: after any number of them each has come as often as its share says, give or take
    /// one for each of the others.
    pub fn in_turn(self) -> Choice<T> {
        Choice { by: By::Turn(vec![0.0; self.alternatives.len()]), ..self }
    }

    /// The next one. Draws nothing where there is only one.
    #[inline]
    pub fn next(&mut self) -> T {
        let (last, others) = self.alternatives.split_last().expect("never empty");
        if others.is_empty() {
            return last.1;
        }
        match &mut self.by {
            By::Draw(stream) => {
                let drawn = stream.next_u64();
                others.iter().find(|(until, _)| drawn < *until).unwrap_or(last).1
            }
            By::Turn(owed) => turn(&self.alternatives, owed),
        }
    }
}

impl Choice<Op> {
    /// The operations of a mix, drawn or in turn.
    pub fn of_ops(mix: OpMix, even: bool, stream: Stream) -> Choice<Op> {
        let drawn = Choice::new(&op_weights(mix), stream);
        if even { drawn.in_turn() } else { drawn }
    }
}

/// The alternative that is owed most once each has got its share of one request; of equals the first.
fn turn<T: Copy>(alternatives: &[(u64, T)], owed: &mut [f64]) -> T {
    let (mut below, mut next) = (0, 0);
    for (index, (until, _)) in alternatives.iter().enumerate() {
        let until = if index + 1 == alternatives.len() { u64::MAX } else { *until };
        owed[index] += (until - below) as f64 / u64::MAX as f64;
        below = until;
        if owed[index] > owed[next] {
            next = index;
        }
    }
    owed[next] -= 1.0;
    debug_assert!(owed.iter().sum::<f64>().abs() < 1e-3, "each request pays for itself");
    alternatives[next].1
}

/// The operations of a mix with their weights; shares below a billionth are rounding.
pub(crate) fn op_weights(mix: OpMix) -> Vec<(Op, f64)> {
    let weights = [
        (Op::Read, mix.reads.get()),
        (Op::Write, mix.writes()),
        (Op::Trim, mix.trims.get()),
        (Op::Flush, mix.flushes.get()),
    ];
    debug_assert!(
        (weights.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-6,
        "operations make up the whole"
    );
    weights.into_iter().filter(|(_, weight)| *weight > 1e-9).collect()
}

/// The sizes of a split by their position in it, with their weights.
pub(crate) fn size_weights(split: &SizeSplit) -> Vec<((u16, u32), f64)> {
    let length =
        |size: &Bytes| u32::try_from(size.get()).expect("the plan has checked that a size is below 2 GiB");
    (0u16..).zip(&split.0).map(|(index, (size, weight))| ((index, length(size)), *weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;
    use units::Share;

    #[test]
    fn alternatives_come_in_their_shares() {
        let weighted = [(4u32, 60.0), (8, 30.0), (64, 10.0), (128, 0.0)];
        let mut choice = Choice::new(&weighted, Streams::new(5).open("sizes"));
        let mut counts = [0i64; 129];
        (0..1_000_000).for_each(|_| counts[choice.next() as usize] += 1);
        // Five standard deviations of a binomial with n = 1,000,000 are at most 2,500.
        assert!((counts[4] - 600_000).abs() < 2500 && (counts[64] - 100_000).abs() < 2500);
        assert_eq!(counts[128], 0);
    }

    #[test]
    fn alternatives_in_turn_are_never_a_request_away_from_their_shares() {
        let weighted = [(0_usize, 500.0), (1, 100.0), (2, 33.0)];
        let mut choice = Choice::new(&weighted, Streams::new(5).open("op")).in_turn();
        let mut counts = [0_u32; 3];
        for all in 1..=100_000_u32 {
            counts[choice.next()] += 1;
            for (count, (_, weight)) in counts.iter().zip(weighted) {
                let share = f64::from(all) * weight / 633.0;
                assert!((f64::from(*count) - share).abs() < 1.5, "{count} of {share} after {all}");
            }
        }
    }

    #[test]
    fn two_reads_to_a_write_leave_a_third_for_writes() {
        let mix = OpMix { reads: "2/3".parse().unwrap(), trims: Share::NONE, flushes: Share::NONE };
        let weights = op_weights(mix);
        assert_eq!(weights.len(), 2);
        assert!((weights[1].1 - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn reads_and_trims_that_fill_the_mix_leave_no_write() {
        let share = |part: &str| part.parse::<Share>().unwrap();
        let mix = OpMix { reads: share("2/3"), trims: share("1/3"), flushes: Share::NONE };
        assert!(op_weights(mix).iter().all(|(op, _)| *op != Op::Write));
    }
}
