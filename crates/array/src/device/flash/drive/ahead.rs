//! Read-ahead: the pages that streams of reads have had fetched before they ask for them.
//!
//! **Invariant:** memory is fixed; of more than [`READERS`] streams the one that was read longest ago is forgotten.

use std::collections::VecDeque;
use std::ops::Range;

use units::Instant;

/// Streams that are read ahead of at once.
const READERS: usize = 32;

/// What is read ahead of, and how far.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    readers: Vec<Reader>,
    /// The most pages that lie ahead of a reader; zero reads nothing ahead.
    window: u64,
    /// Pages of the drive: nothing lies behind the last.
    pages: u64,
    clock: u64,
}

/// A stream of reads, and the pages around where it is.
#[derive(Clone, Debug)]
struct Reader {
    /// The first page of which it is known when it came, and when it and those behind it did.
    low: u64,
    there: VecDeque<Instant>,
    /// Pages to have ahead of it: twice as many with each read, up to the window.
    window: u64,
    used: u64,
}

impl Ahead {
    pub(super) fn new(window: u64, pages: u64) -> Ahead {
        Ahead { readers: Vec::new(), window, pages, clock: 0 }
    }

    /// Whether anything is read ahead at all.
    pub(super) fn is_on(&self) -> bool {
        self.window > 0
    }

    /// The reader who has page `first` fetched or would have next: one may leave out what lies ahead of it, as the member
    /// of a set with parity does, and reads of one may pass each other.
    pub(super) fn find(&mut self, first: u64) -> Option<usize> {
        let found = self.readers.iter().position(|reader| (reader.low..=reader.end()).contains(&first))?;
        self.clock += 1;
        self.readers[found].used = self.clock;
        Some(found)
    }

    /// A reader whose first read ahead of time begins on page `first`, in the place of the one that read longest ago.
    pub(super) fn begin(&mut self, first: u64) -> usize {
        self.clock += 1;
        let reader = Reader { low: first, there: VecDeque::new(), window: 0, used: self.clock };
        if self.readers.len() < READERS {
            self.readers.push(reader);
            return self.readers.len() - 1;
        }
        let oldest = crate::least::first_of_least(self.readers.iter().map(|reader| reader.used)).unwrap_or(0);
        self.readers[oldest] = reader;
        oldest
    }

    /// When page `number` is in memory, where it has been fetched for `reader`.
    pub(super) fn there(&self, reader: usize, number: u64) -> Option<Instant> {
        let reader = &self.readers[reader];
        reader.there.get(units::convert::narrow::<usize>(number.checked_sub(reader.low)?)).copied()
    }

    /// Page `number`, the next behind those that `reader` has, comes `at`.
    pub(super) fn came(&mut self, reader: usize, number: u64, at: Instant) {
        let reader = &mut self.readers[reader];
        assert_eq!(number, reader.end(), "a reader's pages must come without a gap");
        reader.there.push_back(at);
    }

    /// The pages to fetch now that `reader` reads from page `first` to page `last`; what lies more than a window behind is
    /// forgotten.
    pub(super) fn wanted(&mut self, reader: usize, first: u64, last: u64) -> Range<u64> {
        let reader = &mut self.readers[reader];
        reader.window = (reader.window * 2).max(last - first + 1).min(self.window);
        while reader.low + self.window < first && reader.there.pop_front().is_some() {
            reader.low += 1;
        }
        debug_assert!(last < reader.end(), "what is read must have been fetched");
        reader.end()..(last + 1 + reader.window).min(self.pages)
    }
}

impl Reader {
    /// The page behind those it has.
    fn end(&self) -> u64 {
        self.low + self.there.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(ahead: &mut Ahead, reader: usize, first: u64, last: u64) -> Range<u64> {
        for number in first..=last {
            if ahead.there(reader, number).is_none() {
                ahead.came(reader, number, Instant::from_nanos(number));
            }
        }
        let wanted = ahead.wanted(reader, first, last);
        wanted.clone().for_each(|number| ahead.came(reader, number, Instant::from_nanos(number)));
        wanted
    }

    #[test]
    fn the_window_doubles_with_each_read_and_ends_with_the_drive() {
        let mut ahead = Ahead::new(8, 30);
        let reader = ahead.begin(2);
        assert_eq!(fetch(&mut ahead, reader, 2, 2), 3..4);
        assert_eq!(fetch(&mut ahead, reader, 3, 3), 4..6);
        assert_eq!(fetch(&mut ahead, reader, 4, 4), 6..9);
        assert_eq!(fetch(&mut ahead, reader, 5, 5), 9..14);
        assert_eq!(fetch(&mut ahead, reader, 6, 6), 14..15);
        assert_eq!(fetch(&mut ahead, reader, 14, 25), 26..30);
    }

    #[test]
    fn a_reader_is_found_on_its_pages_and_right_behind_them_and_nowhere_else() {
        let mut ahead = Ahead::new(4, 1_000);
        let reader = ahead.begin(100);
        fetch(&mut ahead, reader, 100, 103);
        assert_eq!(
            [99, 100, 107, 108, 109].map(|page| ahead.find(page)),
            [None, Some(0), Some(0), Some(0), None]
        );
        assert_eq!(ahead.there(0, 107), Some(Instant::from_nanos(107)));
        assert_eq!(ahead.there(0, 108), None);
    }

    #[test]
    fn what_lies_a_window_behind_is_forgotten_and_so_is_the_oldest_of_many_readers() {
        let mut ahead = Ahead::new(4, u64::MAX);
        for n in 0..=READERS as u64 {
            let reader = ahead.begin(n * 1_000);
            fetch(&mut ahead, reader, n * 1_000, n * 1_000);
        }
        assert_eq!(ahead.find(0), None);
        assert_eq!(ahead.readers.len(), READERS);
        let reader = ahead.find(1_000).unwrap();
        for page in 1_001..1_500 {
            fetch(&mut ahead, reader, page, page);
        }
        assert_eq!(ahead.find(1_000), None);
        assert!(ahead.readers[reader].there.len() <= 4 + 1 + 4);
    }
}
