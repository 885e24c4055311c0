//! Which of several runs of numbers one is in.
//!
//! A drive looks for the zone of a sector, and for that of a stream clock, with every command. A table of equal pieces
//! leads to the run that a piece begins in, from where it is a step or none, and spares the branches of a search by
//! halves, which no processor foresees.

use units::convert::narrow;
/// Pieces of the table, of which at least half are used.
const PIECES: u32 = 256;

/// Runs that follow each other, the last without an end.
#[derive(Clone, Debug)]
pub struct Runs {
    starts: Vec<u64>,
    /// The run in which each piece of `1 << shift` numbers begins; beyond the last piece lies the last run alone.
    pieces: Vec<u32>,
    shift: u32,
}

impl Runs {
    /// Runs that begin at `starts`: at least one, ascending, the first at zero.
    pub fn new(starts: Vec<u64>) -> Runs {
        assert_eq!(starts.first(), Some(&0), "the first run must begin at zero");
        assert!(starts.is_sorted(), "runs must ascend");
        let last = starts.last().copied().unwrap_or(0);
        let shift = (last.max(1).ilog2() + 1).saturating_sub(PIECES.ilog2());
        let begun_by = |number: u64| starts.partition_point(|&start| start <= number).saturating_sub(1);
        let pieces = (0..=last >> shift).map(|piece| narrow::<u32>(begun_by(piece << shift))).collect();
        Runs { starts, pieces, shift }
    }

    /// The run that `number` is in.
    #[inline]
    pub fn of(&self, number: u64) -> usize {
        let Some(&run) = self.pieces.get(narrow::<usize>(number >> self.shift)) else {
            return self.starts.len() - 1;
        };
        let mut run = run as usize;
        while self.starts.get(run + 1).is_some_and(|&start| start <= number) {
            run += 1;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_in_the_last_run_that_has_begun(
            lengths in prop::collection::vec(0u64..1 << 40, 0..40), numbers in prop::collection::vec(any::<u64>(), 20),
        ) {
            let mut starts = vec![0];
            starts.extend(lengths.iter().scan(0, |sum, length| { *sum += length; Some(*sum) }));
            let runs = Runs::new(starts.clone());
            let edges = starts.iter().flat_map(|start| [start.saturating_sub(1), *start, start + 1]);
            for number in edges.chain(numbers.iter().map(|number| number >> 20)).chain(numbers.iter().copied()) {
                prop_assert_eq!(runs.of(number), starts.partition_point(|start| *start <= number) - 1);
            }
        }
    }
}
