//! What processes that write to the same file tell each other: which blocks each has written.
//!
//! Each has [`super::Books`] of its own writes, which know the last write of a block by its number. Of the others it is known
//! which of them wrote a block between two exchanges, and which numbers its writes had.
//!
//! **Invariant:** a block that two of them wrote between two exchanges is not known: nobody can say who was last.

use std::collections::BTreeMap;
use std::ops::Range;

/// Blocks next to each other that one process has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenRun {
    /// The first block.
    pub first: u64,
    /// How many; not zero.
    pub blocks: u64,
    /// Whether each carries the stamp of its last write; otherwise nobody knows what is there.
    pub is_stamped: bool,
}

impl WrittenRun {
    pub(super) fn range(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.blocks)
    }
}

/// Which process it was, and the numbers of its writes, the last one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub rank: u32,
    pub from: u32,
    pub until: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    end: u64,
    /// `None` where nobody knows what is there.
    writer: Option<Writer>,
    exchange: u32,
}

/// What was told of one file.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// By the first block; they do not overlap.
    pieces: BTreeMap<u64, Piece>,
    /// In bytes: where others write in the present load.
    busy: Vec<Range<u64>>,
}

impl Others {
    /// What was told of a block: `None` where nothing was, `Some(None)` where nobody knows what is there.
    pub fn of(&self, block: u64) -> Option<Option<Writer>> {
        let (_, piece) = self.pieces.range(..=block).next_back()?;
        (block < piece.end).then_some(piece.writer)
    }

    /// Whether others write within those bytes in the present load.
    pub fn is_busy(&self, bytes: &Range<u64>) -> bool {
        self.busy.iter().any(|busy| busy.start < bytes.end && bytes.start < busy.end)
    }

    /// Where others write in the load that comes.
    pub fn set_busy(&mut self, busy: Vec<Range<u64>>) {
        self.busy = busy;
    }

    /// In that exchange `writer` told that it wrote `blocks`; `None` where nobody knows what is there now.
    pub fn lay(&mut self, blocks: Range<u64>, writer: Option<Writer>, exchange: u32) {
        let before: Vec<(u64, Piece)> = self
            .pieces
            .range(..blocks.end)
            .rev()
            .take_while(|(_, piece)| piece.end > blocks.start)
            .map(|(first, piece)| (*first, *piece))
            .collect();
        let piece = |end: u64, writer: Option<Writer>| Piece { end, writer, exchange };
        before.iter().for_each(|(first, _)| {
            self.pieces.remove(first);
        });
        self.add(blocks.start, piece(blocks.end, writer));
        for (first, old) in before {
            if first < blocks.start {
                self.add(first, Piece { end: blocks.start, ..old });
            }
            if old.end > blocks.end {
                self.add(blocks.end, old);
            }
            if old.exchange == exchange {
                self.cut(first.max(blocks.start)..old.end.min(blocks.end), piece(0, None));
            }
        }
    }

    /// Puts `as_one` in place of `within`, which lies in one piece.
    fn cut(&mut self, within: Range<u64>, as_one: Piece) {
        let Some((first, whole)) =
            self.pieces.range(..=within.start).next_back().map(|(at, piece)| (*at, *piece))
        else {
            return;
        };
        debug_assert!(within.end <= whole.end, "what is cut out must lie in one piece");
        self.pieces.remove(&first);
        self.add(first, Piece { end: within.start, ..whole });
        self.add(within.end, whole);
        self.add(within.start, Piece { end: within.end, ..as_one });
    }

    /// Adds a piece, unless it is empty.
    fn add(&mut self, first: u64, piece: Piece) {
        if piece.end > first {
            debug_assert!(
                self.pieces.range(..piece.end).next_back().is_none_or(|(_, before)| before.end <= first),
                "pieces do not overlap"
            );
            self.pieces.insert(first, piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(rank: u32) -> Option<Writer> {
        Some(Writer { rank, from: 1, until: 9 })
    }

    fn told(others: &Others, blocks: Range<u64>) -> String {
        let word = |block| match others.of(block) {
            None => '.',
            Some(None) => '?',
            Some(Some(writer)) => char::from_digit(writer.rank, 10).unwrap_or('!'),
        };
        blocks.map(word).collect()
    }

    #[test]
    fn a_block_is_of_who_told_last_and_of_nobody_where_two_told_at_once() {
        let mut others = Others::default();
        others.lay(2..8, writer(1), 1);
        assert_eq!(told(&others, 0..10), "..111111..");
        others.lay(6..10, writer(2), 1);
        assert_eq!(told(&others, 0..10), "..1111??22");
        others.lay(3..7, writer(2), 2);
        assert_eq!(told(&others, 0..10), "..12222?22");
        others.lay(0..10, None, 3);
        others.lay(4..5, writer(1), 4);
        assert_eq!(told(&others, 0..10), "????1?????");
    }

    #[test]
    fn pieces_in_any_order_agree_with_a_table() {
        // A small generator is enough: the same steps are taken in a table of blocks.
        let (mut state, mut others) = (7_u64, Others::default());
        let mut table: Vec<Option<(Option<Writer>, u32)>> = vec![None; 64];
        for step in 0..2000_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let first = (state >> 33) % 60;
            let blocks = first..(first + 1 + (state >> 20) % 9).min(64);
            let (who, exchange) = (if state & 1 << 40 == 0 { writer(1) } else { writer(2) }, step / 3);
            others.lay(blocks.clone(), who, exchange);
            for block in blocks {
                let at = &mut table[units::convert::narrow::<usize>(block)];
                let clashes = at.is_some_and(|(_, of)| of == exchange);
                *at = Some((if clashes { None } else { who }, exchange));
            }
            for (block, expected) in (0..).zip(&table) {
                assert_eq!(others.of(block), expected.map(|(who, _)| who), "block {block} at step {step}");
            }
        }
    }

    #[test]
    fn where_others_write_nothing_is_certain() {
        let mut others = Others::default();
        others.set_busy(vec![1024..2048, 2048..4096]);
        assert!(
            others.is_busy(&(4095..4097)) && !others.is_busy(&(4096..8192)) && !others.is_busy(&(0..1024))
        );
    }
}
