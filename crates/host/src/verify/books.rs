//! Which write of each block ended last.
//!
//! One word a block, made as blocks are written, or in a file that a later run reads ([`super::kept`]): 1 MiB for each GiB
//! of blocks of 4 KiB. The highest bit of a word says that a write is in flight.
//!
//! **Invariant:** a word names a write only from the end of that write to the beginning of the next one.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use units::Bytes;
use units::convert::narrow;

use super::kept::{KeptWords, Meaning};
use super::others::{Others, Writer, WrittenRun};
use crate::unwinding::whole;

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
    /// A write of another process that writes to the same file.
    By(Writer),
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
    /// How often processes have told each other what they wrote.
    exchange: AtomicU32,
    /// The first number that no exchange has told of, and the first of those before that the last one told of.
    untold: AtomicU32,
    told: AtomicU32,
}

/// Whether a write can have that number.
fn is_of_a_write(number: u32) -> bool {
    number != 0 && number & PENDING == 0 && number != UNKNOWN
}

/// The file that a path leads to: books are kept by it.
fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
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
            exchange: AtomicU32::new(0),
            untold: AtomicU32::new(1),
            told: AtomicU32::new(1),
        }
    }

    /// Whether they outlive the run.
    pub fn are_kept(&self) -> bool {
        self.directory.is_some()
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
        let path = resolved(path);
        let mut ledgers = whole(self.ledgers.lock());
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
        Ok(Ledger::of(Words::Kept(words)))
    }

    /// The book of the file at `path`, where there is one.
    pub fn known(&self, path: &Path) -> Option<Arc<Ledger>> {
        whole(self.ledgers.lock()).get(&resolved(path)).cloned()
    }

    /// The numbers of the writes since this was called last, for other processes, which [`Ledger::written`] tells the blocks
    /// of. Call it while nothing is in flight.
    pub fn tell(&self) -> Range<u32> {
        let (from, until) = (self.untold.load(Ordering::Relaxed), self.numbers.load(Ordering::Relaxed));
        self.told.store(from, Ordering::Relaxed);
        self.untold.store(until, Ordering::Relaxed);
        from..until
    }

    /// An exchange is over, in which the writes of all processes had numbers up to `until`: those that come have others.
    pub fn heard(&self, until: u32) {
        let next = self.numbers.fetch_max(until, Ordering::Relaxed).max(until);
        self.untold.store(next, Ordering::Relaxed);
        self.exchange.fetch_add(1, Ordering::Relaxed);
    }

    /// Which exchange comes next.
    pub fn exchange(&self) -> u32 {
        self.exchange.load(Ordering::Relaxed)
    }

    /// The first number of the writes that [`Books::tell`] told of last.
    pub fn told_from(&self) -> u32 {
        self.told.load(Ordering::Relaxed)
    }

    /// Where other processes write in the load that comes, by file; nowhere else.
    pub fn set_busy(&self, busy: BTreeMap<PathBuf, Vec<Range<u64>>>) {
        let mut by_file: BTreeMap<PathBuf, Vec<Range<u64>>> = BTreeMap::new();
        for (path, ranges) in busy {
            by_file.entry(resolved(&path)).or_default().extend(ranges);
        }
        let ledgers = whole(self.ledgers.lock());
        for (path, ledger) in &*ledgers {
            ledger.set_busy(by_file.remove(path).unwrap_or_default());
        }
    }

    /// A number that no other write of the run has, unless there are 2^31 between them.
    pub(super) fn next(&self) -> u32 {
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) & !PENDING;
            if is_of_a_write(number) {
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
    let name = format!("{end}.verify");
    assert!(name.len() <= 255 && !name.contains('/'), "books must have a name that a directory can hold");
    name
}

/// The book of one file.
#[derive(Debug)]
pub struct Ledger {
    words: Words,
    /// Whether `others` says anything.
    hears_others: AtomicBool,
    /// What other processes have told.
    others: RwLock<Others>,
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
        Ledger::of(Words::Made((0..blocks.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect()))
    }

    fn of(words: Words) -> Ledger {
        Ledger { words, hears_others: AtomicBool::new(false), others: RwLock::default() }
    }

    /// What is known of a block of `size` bytes, whose word was `before` and is `after` a read.
    pub(super) fn known(&self, block: u64, size: u64, before: u32, after: u32) -> Known {
        let own = Known::between(before, after);
        if !self.hears_others.load(Ordering::Relaxed) {
            return own;
        }
        let others = whole(self.others.read());
        match own {
            _ if others.is_busy(&(block * size..(block + 1) * size)) => Known::Nothing,
            Known::Untouched => match others.of(block) {
                None => Known::Untouched,
                Some(None) => Known::Nothing,
                Some(Some(writer)) => Known::By(writer),
            },
            own => own,
        }
    }

    fn set_busy(&self, busy: Vec<Range<u64>>) {
        if !busy.is_empty() {
            self.hears_others.store(true, Ordering::Relaxed);
        }
        whole(self.others.write()).set_busy(busy);
    }

    /// The blocks that writes with a number of at least `from` have left, for the other ranks. A block whose contents are not known,
    /// as after a failed write, is in it once. `exchange` is the number of the exchange that follows.
    pub fn written(&self, from: u32, exchange: u32) -> Vec<WrittenRun> {
        self.settle();
        let mut runs: Vec<WrittenRun> = Vec::new();
        self.each_word(0..u64::MAX, &mut |block, word| {
            let number = word.load(Ordering::Relaxed);
            let is_stamped = number != UNKNOWN;
            if number < from {
                return;
            }
            if !is_stamped {
                word.store(0, Ordering::Relaxed);
            }
            match runs.last_mut() {
                Some(last) if last.range().end == block && last.is_stamped == is_stamped => last.blocks += 1,
                _ => runs.push(WrittenRun { first: block, blocks: 1, is_stamped }),
            }
        });
        let mut others = whole(self.others.write());
        for lost in runs.iter().filter(|run| !run.is_stamped) {
            self.hears_others.store(true, Ordering::Relaxed);
            others.lay(lost.range(), None, exchange);
        }
        runs
    }

    /// Process `rank` has told of these runs, by writes with those numbers. Own writes with a number from `own` on were made
    /// at the same time.
    pub fn hear(&self, rank: u32, numbers: &Range<u32>, runs: &[WrittenRun], own: u32, exchange: u32) {
        if runs.is_empty() {
            return;
        }
        self.hears_others.store(true, Ordering::Relaxed);
        let writer = Writer { rank, from: numbers.start, until: numbers.end.saturating_sub(1) };
        let mut others = whole(self.others.write());
        for run in runs {
            others.lay(run.range(), run.is_stamped.then_some(writer), exchange);
            self.each_word(run.range(), &mut |block, word| match word.load(Ordering::Relaxed) {
                0 => {}
                number => {
                    word.store(0, Ordering::Relaxed);
                    if number >= own {
                        others.lay(block..block + 1, None, exchange);
                    }
                }
            });
        }
    }

    /// The words of those blocks that are there.
    fn each_word(&self, blocks: Range<u64>, see: &mut dyn FnMut(u64, &AtomicU32)) {
        let Words::Made(chunks) = &self.words else { return };
        let size = CHUNK as u64;
        let end = blocks.end.div_ceil(size).min(chunks.len() as u64);
        for chunk in blocks.start / size..end {
            let Some(words) = chunks[narrow::<usize>(chunk)].get() else { continue };
            for (block, word) in (chunk * size..).zip(words) {
                if blocks.contains(&block) {
                    see(block, word);
                }
            }
        }
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
        debug_assert!(is_of_a_write(number), "a write must have a number of its own");
        let Some(word) = self.word(block) else { return };
        if word.swap(PENDING | number, Ordering::SeqCst) & PENDING != 0 {
            word.store(PENDING, Ordering::SeqCst);
        }
    }

    /// Write `number` has ended, and `stamped` says whether its stamp is there now.
    pub(super) fn end(&self, block: u64, number: u32, stamped: bool) {
        debug_assert!(is_of_a_write(number), "a write must have a number of its own");
        let Some(word) = self.word(block) else { return };
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
