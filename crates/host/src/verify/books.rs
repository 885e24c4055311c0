//! Which write of each block ended last.
//!
//! One word a block, made as blocks are written, or in a file that a later run reads ([`super::kept`]): 1 MiB for each GiB
//! of blocks of 4 KiB. The highest bit of a word says that a write is in flight.
//!
//! **Invariant:** a word names a write only from the end of that write to the beginning of the next one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use units::Bytes;
use units::convert::narrow;

use super::kept::{KeptWords, Meaning};

/// Words that are made together.
const CHUNK: usize = 1 << 14;

/// A write is in flight. Alone: two of them overlapped.
const PENDING: u32 = 1 << 31;

/// The block was changed and nobody knows to what.
const UNKNOWN: u32 = PENDING - 1;

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The run has not touched it.
    Untouched,
    /// The write of that number.
    Written(u32),
    /// Nothing.
    Nothing,
}

impl Known {
    /// From the words before and after a read.
    pub fn between(before: u32, after: u32) -> Known {
        match after {
            _ if before != after || after & PENDING != 0 || after == UNKNOWN => Known::Nothing,
            0 => Known::Untouched,
            number => Known::Written(number),
        }
    }
}

/// The books of all files of a run.
#[derive(Debug)]
pub struct Books {
    /// In every stamp.
    pub(super) key: u64,
    /// Size of the blocks that are stamped.
    pub(super) block: u64,
    numbers: AtomicU32,
    ledgers: Mutex<BTreeMap<PathBuf, Arc<Ledger>>>,
    /// Where the words of all files are kept; `None` in memory.
    directory: Option<PathBuf>,
}

impl Books {
    /// Empty books of a run with that seed. `block` is a power of two from [`super::LEAST_BLOCK`] to
    /// [`super::MOST_BLOCK`].
    pub fn new(seed: u64, block: Bytes) -> Books {
        assert!(
            block.get().is_power_of_two() && block >= super::LEAST_BLOCK && block <= super::MOST_BLOCK,
            "blocks must be a power of two within the limits"
        );
        let key = workload::Streams::new(seed).key("stamps");
        Books {
            key,
            block: block.get(),
            numbers: AtomicU32::new(1),
            ledgers: Mutex::default(),
            directory: None,
        }
    }

    /// The same, kept in files of `directory`: what an earlier run of that seed has left there counts.
    pub fn kept_in(self, directory: PathBuf) -> Books {
        Books { directory: Some(directory), ..self }
    }

    /// The book of a file of that length; one and the same for every path that leads to it.
    ///
    /// Call it while nothing is in flight: overlaps of an earlier load, and what was in flight when an earlier run was
    /// killed, are settled. An error where books are kept and cannot be.
    pub fn ledger(&self, path: &Path, len: Bytes) -> io::Result<Arc<Ledger>> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let mut ledgers = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ledger) = ledgers.get(&path) {
            ledger.settle();
            return Ok(ledger.clone());
        }
        let ledger = Arc::new(self.open(&path, len.get() / self.block)?);
        ledger.settle();
        // Numbers of an earlier run are taken.
        self.numbers.fetch_max(ledger.latest() + 1, Ordering::Relaxed);
        ledgers.insert(path, ledger.clone());
        Ok(ledger)
    }

    fn open(&self, path: &Path, blocks: u64) -> io::Result<Ledger> {
        let Some(directory) = &self.directory else { return Ok(Ledger::new(narrow::<usize>(blocks))) };
        std::fs::create_dir_all(directory)?;
        let meaning = Meaning { key: self.key, block: self.block, blocks };
        let words = KeptWords::open(&directory.join(file_name(path)), meaning)?;
        Ok(Ledger { words: Words::Kept(words) })
    }

    /// A number that no other write of the run has, unless there are 2^31 between them.
    pub(super) fn next(&self) -> u32 {
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) & !PENDING;
            if number != 0 && number != UNKNOWN {
                return number;
            }
        }
    }
}

/// What the file is called that has the words of the one at `path`: its path, of which the end tells most.
fn file_name(path: &Path) -> String {
    /// Characters at most: names have room for 255 bytes.
    const MOST: usize = 60;
    let path: Vec<char> = path.to_string_lossy().trim_start_matches('/').replace('/', "%").chars().collect();
    let end: String = path[path.len().saturating_sub(MOST)..].iter().collect();
    format!("{end}.verify")
}

/// The book of one file.
#[derive(Debug)]
pub struct Ledger {
    words: Words,
}

#[derive(Debug)]
enum Words {
    /// In memory, as they are needed.
    Made(Vec<OnceLock<Box<[AtomicU32]>>>),
    /// In a file.
    Kept(KeptWords),
}

impl Ledger {
    fn new(blocks: usize) -> Ledger {
        let chunks = (0..blocks.div_ceil(CHUNK)).map(|_| OnceLock::new());
        Ledger { words: Words::Made(chunks.collect()) }
    }

    /// The word of a block; `None` behind the end of the file as it was.
    fn word(&self, block: u64) -> Option<&AtomicU32> {
        let at = narrow::<usize>(block);
        match &self.words {
            Words::Kept(kept) => kept.words().get(at),
            Words::Made(chunks) => {
                let chunk = chunks.get(at / CHUNK)?;
                let words = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU32::new(0)).collect());
                Some(&words[at % CHUNK])
            }
        }
    }

    /// The word as it is.
    pub(super) fn look(&self, block: u64) -> u32 {
        let at = narrow::<usize>(block);
        let chunks = match &self.words {
            Words::Kept(kept) => {
                return kept.words().get(at).map_or(UNKNOWN, |word| word.load(Ordering::SeqCst));
            }
            Words::Made(chunks) => chunks,
        };
        match chunks.get(at / CHUNK).map(OnceLock::get) {
            Some(Some(words)) => words[at % CHUNK].load(Ordering::SeqCst),
            Some(None) => 0,
            None => UNKNOWN,
        }
    }

    /// Write `number` begins.
    pub(super) fn begin(&self, block: u64, number: u32) {
        debug_assert!(
            number != 0 && number & PENDING == 0 && number != UNKNOWN,
            "a write must have a number of its own"
        );
        let Some(word) = self.word(block) else { return };
        if word.swap(PENDING | number, Ordering::SeqCst) & PENDING != 0 {
            word.store(PENDING, Ordering::SeqCst);
        }
    }

    /// Write `number` has ended, and `stamped` says whether its stamp is there now.
    pub(super) fn end(&self, block: u64, number: u32, stamped: bool) {
        let Some(word) = self.word(block) else { return };
        debug_assert!(
            number != 0 && number & PENDING == 0 && number != UNKNOWN,
            "a write must have a number of its own"
        );
        let known = if stamped { number } else { UNKNOWN };
        // Otherwise another write has begun since, and the word says so.
        let _overlapped = word.compare_exchange(PENDING | number, known, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Every word that is there.
    fn there(&self) -> Box<dyn Iterator<Item = &AtomicU32> + '_> {
        match &self.words {
            Words::Kept(kept) => Box::new(kept.words().iter()),
            Words::Made(chunks) => {
                Box::new(chunks.iter().filter_map(OnceLock::get).flat_map(|words| words.iter()))
            }
        }
    }

    /// The highest number that a write has; 0 before the first.
    fn latest(&self) -> u32 {
        let numbers = self.there().map(|word| word.load(Ordering::Relaxed) & !PENDING);
        numbers.filter(|number| *number != UNKNOWN).max().unwrap_or(0)
    }

    /// Nothing is in flight any more: what overlapped is only unknown.
    fn settle(&self) {
        for word in self.there() {
            if word.load(Ordering::Relaxed) & PENDING != 0 {
                word.store(UNKNOWN, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ledger: &Ledger, block: u64) -> Known {
        let word = ledger.look(block);
        Known::between(word, word)
    }

    #[test]
    fn a_write_is_known_from_its_end_to_the_next_beginning() {
        let ledger = Ledger::new(100);
        assert_eq!(known(&ledger, 7), Known::Untouched);
        ledger.begin(7, 3);
        assert_eq!(known(&ledger, 7), Known::Nothing);
        ledger.end(7, 3, true);
        assert_eq!(known(&ledger, 7), Known::Written(3));
        assert_eq!(known(&ledger, 8), Known::Untouched);
        ledger.begin(7, 4);
        ledger.end(7, 4, false);
        assert_eq!(known(&ledger, 7), Known::Nothing);
    }

    #[test]
    fn of_two_writes_at_once_nobody_knows_which_came_last() {
        let ledger = Ledger::new(1);
        ledger.begin(0, 1);
        ledger.begin(0, 2);
        ledger.end(0, 2, true);
        ledger.end(0, 1, true);
        assert_eq!(known(&ledger, 0), Known::Nothing);
        // Not even the next one, which might have begun before those ended.
        ledger.begin(0, 3);
        ledger.end(0, 3, true);
        assert_eq!(known(&ledger, 0), Known::Nothing);
        ledger.settle();
        ledger.begin(0, 4);
        ledger.end(0, 4, true);
        assert_eq!(known(&ledger, 0), Known::Written(4));
    }

    #[test]
    fn a_read_during_which_something_changed_tells_nothing() {
        let ledger = Ledger::new(1);
        let before = ledger.look(0);
        ledger.begin(0, 1);
        ledger.end(0, 1, true);
        assert_eq!(Known::between(before, ledger.look(0)), Known::Nothing);
    }

    #[test]
    fn one_file_has_one_book_and_no_book_reaches_behind_its_end() {
        let books = Books::new(1, Bytes::new(512));
        let one = books.ledger(Path::new("/dev/null"), Bytes::new(512)).unwrap();
        let other = books.ledger(Path::new("/dev/../dev/null"), Bytes::new(512)).unwrap();
        assert!(Arc::ptr_eq(&one, &other));
        one.begin(CHUNK as u64, 1);
        assert_eq!(known(&one, CHUNK as u64), Known::Nothing);
        let numbers: Vec<u32> = (0..3).map(|_| books.next()).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }

    fn kept(directory: &Path, seed: u64) -> io::Result<(Books, Arc<Ledger>)> {
        let books = Books::new(seed, Bytes::new(512)).kept_in(directory.to_owned());
        let ledger = books.ledger(Path::new("/dev/null"), Bytes::new(5120))?;
        Ok((books, ledger))
    }

    #[test]
    fn a_later_run_knows_what_had_ended_and_what_was_in_flight_when_the_writer_was_killed() {
        let directory = tempfile::tempdir().unwrap();
        {
            let (books, ledger) = kept(directory.path(), 1).unwrap();
            assert_eq!(books.next(), 1);
            ledger.begin(3, 1);
            ledger.end(3, 1, true);
            ledger.begin(4, 7);
            // A kill leaves the words as they are: so does the end of the process.
        }
        let (books, ledger) = kept(directory.path(), 1).unwrap();
        assert_eq!(known(&ledger, 3), Known::Written(1));
        assert_eq!(known(&ledger, 4), Known::Nothing);
        assert_eq!(known(&ledger, 5), Known::Untouched);
        assert_eq!(known(&ledger, 10), Known::Nothing, "behind the end");
        assert!(books.next() > 1, "a number is given once");
    }

    #[test]
    fn books_of_another_run_or_of_one_that_is_under_way_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let first = kept(directory.path(), 1).unwrap();
        let told = kept(directory.path(), 1).unwrap_err().to_string();
        assert!(told.contains("another run has it open"), "{told}");
        drop(first);
        let told = kept(directory.path(), 2).unwrap_err().to_string();
        assert!(told.contains("another seed"), "{told}");
    }
}
