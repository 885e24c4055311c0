//! Stamps the writes of one worker and holds what it reads against the books.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use units::Bytes;
use units::convert::narrow;
use workload::spec::{Content, Header, HeaderKind, Stamp as Marks, Verify, Workload};
use workload::{JobSpec, Op, Outcome, Request, Verified, Wrong};

use super::Verification;
use super::books::{Known, Ledger};
use super::header::{self, HeaderFlaw, Sum};
use super::others::Writer;
use super::stamp::{self, Flaw, Stamp};
use crate::unwinding::whole;

/// Wrong blocks that are kept, as many as a job keeps failures.
const WRONG_MOST: usize = 16;

/// All that the checkers of one worker have in common.
#[derive(Debug)]
pub struct Checks {
    known: Verification,
    verify: Verify,
    /// Blocks in the largest request.
    blocks: usize,
    /// What everything that is read repeats, where it is no stamp that is looked for.
    pattern: Option<Arc<[u8]>>,
    headers: Option<Headers>,
    found: Arc<CheckCounts>,
}

/// Blocks carry headers of fio's in place of Fathom's stamps.
#[derive(Clone, Debug)]
struct Headers {
    header: Header,
    /// Whether all requests are as long as the largest, so that sums are known before they are planned.
    is_one_size: bool,
    /// What lies behind a header that says nothing of it; otherwise empty.
    body: Arc<[u8]>,
}

impl Headers {
    /// The length of a block in a request of that length.
    fn len(&self, request: usize) -> usize {
        self.header.every.map_or(request, |every| narrow::<usize>(every.get())).min(request)
    }

    /// Whether a block has room for one.
    fn fits(&self, block: usize) -> bool {
        block >= narrow::<usize>(self.header.at.get()) + self.header.kind.bytes()
    }

    fn sum(&self, block: &[u8]) -> Sum {
        Sum::of(self.header.kind, &block[self.header.kind.bytes()..])
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct CheckCounts {
    checked: AtomicU64,
    unknown: AtomicU64,
    corrupt: AtomicU64,
    wrong: Mutex<Vec<Wrong>>,
}

impl Checks {
    /// For one worker of `workload`, with the books of its files.
    pub fn new(known: &Verification, workload: &Workload, job: &JobSpec) -> Checks {
        let blocks = narrow::<usize>(job.sizes.largest().get() / known.books.block);
        let pattern = match (workload.verify, &workload.content) {
            (Verify::Content, Content::Pattern(bytes)) => Some(bytes.as_slice().into()),
            (Verify::Content, _) => Some([0].as_slice().into()),
            _ => None,
        };
        let headers = match workload.stamp {
            Marks::Fio(header) if pattern.is_none() => {
                let body: &[u8] = match (&workload.content, header.kind) {
                    (Content::Pattern(bytes), HeaderKind::PatternHeader) => bytes,
                    _ => &[],
                };
                let is_one_size = job.sizes.0.len() == 1;
                Some(Headers { header, is_one_size, body: body.into() })
            }
            _ => None,
        };
        let verify = workload.verify;
        Checks { known: known.clone(), verify, blocks, pattern, headers, found: Arc::default() }
    }

    /// A checker for so many requests in flight.
    pub fn checker(&self, depth: u32) -> Checker {
        let slot = || SlotBuffers {
            number: 0,
            before: vec![0; self.blocks + 1],
            sums: vec![0; self.blocks],
            header_sums: Vec::new(),
        };
        Checker {
            headers: self.headers.clone(),
            known: self.known.clone(),
            verify: self.verify,
            pattern: self.pattern.clone(),
            slots: (0..depth).map(|_| slot()).collect(),
            found: self.found.clone(),
        }
    }

    /// What its checkers have found.
    pub fn verified(&self) -> Verified {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let wrong = whole(self.found.wrong.lock()).clone();
        let corrupt = count(&self.found.corrupt);
        assert!(wrong.len() as u64 <= corrupt, "what was wrong is of reads that are counted");
        let (checked, unknown) = (count(&self.found.checked), count(&self.found.unknown));
        Verified { checked: Bytes::new(checked), unknown: Bytes::new(unknown), corrupt, wrong }
    }
}

/// One worker's, or that of one thread which works for it.
#[derive(Debug)]
pub struct Checker {
    known: Verification,
    verify: Verify,
    pattern: Option<Arc<[u8]>>,
    headers: Option<Headers>,
    slots: Vec<SlotBuffers>,
    found: Arc<CheckCounts>,
}

/// What belongs to one request in flight.
#[derive(Debug)]
struct SlotBuffers {
    /// Of its write.
    number: u32,
    /// The words of the blocks it reads, as they were before.
    before: Vec<u32>,
    /// The sums of the blocks it will write.
    sums: Vec<u32>,
    /// The same for headers of fio's, where they are known beforehand.
    header_sums: Vec<Sum>,
}

impl Checker {
    /// Takes the sums of what the next write of a slot contains.
    pub fn renew(&mut self, slot: usize, content: &[u8]) {
        if !self.stamps() {
            return;
        }
        debug_assert!(slot < self.slots.len(), "the job must have the slot");
        if let Some(headers) = &self.headers {
            let blocks = content.chunks(headers.len(content.len())).filter(|block| headers.fits(block.len()));
            let known = blocks.filter(|_| headers.is_one_size).map(|block| headers.sum(block));
            self.slots[slot].header_sums.clear();
            self.slots[slot].header_sums.extend(known);
            return;
        }
        let blocks = content.chunks_exact(narrow::<usize>(self.known.books.block));
        self.slots[slot].sums.iter_mut().zip(blocks).for_each(|(sum, block)| *sum = stamp::sum_of(block));
    }

    /// Call before a request is handed over. `bytes` is its data; empty where it has none.
    #[inline]
    pub fn prepare(&mut self, request: &Request, bytes: &mut [u8]) {
        match request.op {
            Op::Read if self.verify != Verify::None => self.note(request),
            Op::Write | Op::Trim => self.enter(request, bytes),
            Op::Read | Op::Flush => {}
        }
    }

    /// Call when it has ended, and before its data changes. Gives the outcome back, or that the data was wrong.
    #[inline]
    pub fn conclude(&mut self, request: &Request, outcome: Outcome, bytes: &[u8]) -> Outcome {
        match request.op {
            Op::Read if self.verify != Verify::None => self.check(request, outcome, bytes),
            Op::Write | Op::Trim => {
                self.close(request, outcome);
                outcome
            }
            Op::Read | Op::Flush => outcome,
        }
    }

    /// Whether writes carry stamps.
    fn stamps(&self) -> bool {
        matches!(self.verify, Verify::Written | Verify::All)
    }

    fn ledger(&self, request: &Request) -> Arc<Ledger> {
        self.known.files[usize::from(request.file)].clone()
    }

    /// The blocks that lie within the request whole, and those that it touches.
    fn blocks(&self, request: &Request) -> (std::ops::Range<u64>, std::ops::Range<u64>) {
        let block = self.known.books.block;
        let (from, until) = (request.offset.get(), request.offset.get() + u64::from(request.len));
        let (whole, touched) = (from.div_ceil(block)..until / block, from / block..until.div_ceil(block));
        debug_assert!(
            touched.start <= whole.start && whole.end <= touched.end,
            "a block within a request must be touched by it"
        );
        (whole, touched)
    }

    fn note(&mut self, request: &Request) {
        let ledger = self.ledger(request);
        let (whole, _) = self.blocks(request);
        let before = &mut self.slots[request.token.0 as usize].before;
        debug_assert!(
            whole.end.saturating_sub(whole.start) <= before.len() as u64,
            "a block that is read has no word"
        );
        whole.zip(before).for_each(|(block, word)| *word = ledger.look(block));
    }

    fn enter(&mut self, request: &Request, bytes: &mut [u8]) {
        let (ledger, number) = (self.ledger(request), self.known.books.next());
        let (block, key) = (self.known.books.block, self.known.books.key);
        let (_, touched) = self.blocks(request);
        touched.for_each(|block| ledger.begin(block, number));
        let is_stamped = self.is_stamped(request);
        let slot = &mut self.slots[request.token.0 as usize];
        slot.number = number;
        if !is_stamped {
            return;
        }
        if let Some(headers) = &self.headers {
            let len = headers.len(bytes.len());
            let offsets = (request.offset.get()..).step_by(len);
            let blocks = bytes.chunks_mut(len).zip(offsets).filter(|(block, _)| headers.fits(block.len()));
            for (index, (block, offset)) in blocks.enumerate() {
                let known = slot.header_sums.get(index).copied();
                let sum = known.unwrap_or_else(|| headers.sum(block));
                header::put(block, headers.header, offset, number, &sum);
            }
            return;
        }
        debug_assert!(
            bytes.len() as u64 / block <= slot.sums.len() as u64,
            "a block that is written has no sum"
        );
        let offsets = (request.offset.get()..).step_by(narrow::<usize>(block));
        for ((bytes, sum), offset) in
            bytes.chunks_exact_mut(narrow::<usize>(block)).zip(&slot.sums).zip(offsets)
        {
            stamp::put(bytes, key, Stamp { offset, number }, *sum);
        }
    }

    /// Whether a request leaves stamps. One that does not begin on a block has no sums.
    fn is_stamped(&self, request: &Request) -> bool {
        let begins_on_block = request.offset.get().is_multiple_of(self.known.books.block);
        request.op == Op::Write && self.stamps() && begins_on_block
    }

    fn close(&mut self, request: &Request, outcome: Outcome) {
        let ledger = self.ledger(request);
        let number = self.slots[request.token.0 as usize].number;
        let is_there = self.is_stamped(request) && outcome.result() == Ok(request.len);
        let (whole, touched) = self.blocks(request);
        touched.for_each(|block| ledger.end(block, number, is_there && whole.contains(&block)));
    }

    fn check(&mut self, request: &Request, outcome: Outcome, bytes: &[u8]) -> Outcome {
        if outcome.result() != Ok(request.len) {
            return outcome;
        }
        let (ledger, size) = (self.ledger(request), self.known.books.block);
        let (whole, _) = self.blocks(request);
        let before = &self.slots[request.token.0 as usize].before;
        if let Some(headers) = &self.headers {
            return self.told(request, outcome, self.check_headers(headers, request, bytes));
        }
        let mut held = ReadVerdict::default();
        for (block, before) in whole.clone().zip(before) {
            let offset = block * size;
            let start = narrow::<usize>(offset - request.offset.get());
            let known = ledger.known(block, size, *before, ledger.look(block));
            let content = &bytes[start..][..narrow::<usize>(size)];
            let verdict = match &self.pattern {
                Some(pattern) => judge_content(pattern, known, start, content),
                None => judge(self.verify, self.known.books.key, known, offset, content),
            };
            held.add(request.file, offset, size, verdict);
        }
        self.told(request, outcome, held)
    }

    /// Holds a read against headers.
    fn check_headers(&self, headers: &Headers, request: &Request, bytes: &[u8]) -> ReadVerdict {
        let (ledger, size) = (self.ledger(request), self.known.books.block);
        let before = &self.slots[request.token.0 as usize].before;
        let (whole, _) = self.blocks(request);
        let len = headers.len(bytes.len());
        debug_assert!(len > 0, "a read that is checked must have data");
        let mut held = ReadVerdict::default();
        for (start, block) in (0..).step_by(len).zip(bytes.chunks(len)) {
            let offset = request.offset.get() + start as u64;
            let touched = offset / size..(offset + block.len() as u64).div_ceil(size);
            if !headers.fits(block.len()) || touched.start < whole.start || touched.end > whole.end {
                continue;
            }
            let word = |block: u64| {
                let before = before[narrow::<usize>(block - whole.start)];
                ledger.known(block, size, before, ledger.look(block))
            };
            // Where only a part was written since, the header no longer holds.
            let first = word(touched.start);
            let known =
                if touched.clone().all(|block| word(block) == first) { first } else { Known::Nothing };
            let verdict = judge_header(self.verify, headers, known, (start, offset), block);
            held.add(request.file, offset, block.len() as u64, verdict);
        }
        held
    }

    /// Counts what was checked of a read, and keeps what was wrong.
    fn told(
        &self,
        request: &Request,
        outcome: Outcome,
        ReadVerdict { checked, wrong }: ReadVerdict,
    ) -> Outcome {
        assert!(checked <= u64::from(request.len), "no more can be checked than was read");
        self.found.checked.fetch_add(checked, Ordering::Relaxed);
        self.found.unknown.fetch_add(u64::from(request.len) - checked, Ordering::Relaxed);
        let Some(wrong) = wrong else { return outcome };
        self.found.corrupt.fetch_add(1, Ordering::Relaxed);
        let mut kept = whole(self.found.wrong.lock());
        if kept.len() < WRONG_MOST {
            kept.push(wrong);
        }
        assert!(kept.len() <= WRONG_MOST, "what is wrong must not fill the memory");
        Outcome::corrupt()
    }
}

/// What is to be said of a block.
#[derive(Debug, PartialEq, Eq)]
enum BlockVerdict {
    Right,
    Unknown,
    Wrong { expected: String, found: String },
}

/// How a read stands against what had been written: bytes that could be checked, and the first block that was wrong.
#[derive(Default)]
struct ReadVerdict {
    checked: u64,
    wrong: Option<Wrong>,
}

impl ReadVerdict {
    /// One block of the read, of `len` bytes at `offset`.
    fn add(&mut self, file: u16, offset: u64, len: u64, verdict: BlockVerdict) {
        self.checked += if verdict == BlockVerdict::Unknown { 0 } else { len };
        if let BlockVerdict::Wrong { expected, found } = verdict
            && self.wrong.is_none()
        {
            let (offset, len) = (Bytes::new(offset), Bytes::new(len));
            self.wrong = Some(Wrong { file, offset, len, expected, found });
        }
    }
}

/// Whether a block repeats `pattern`, which began `start` bytes before it. A write in flight may be half there.
fn judge_content(pattern: &[u8], known: Known, start: usize, bytes: &[u8]) -> BlockVerdict {
    assert!(!pattern.is_empty(), "a pattern must have a byte to repeat");
    let phase = start % pattern.len();
    let wrong =
        bytes.iter().zip(pattern.iter().cycle().skip(phase)).position(|(found, wanted)| found != wanted);
    match (known, wrong) {
        (_, None) => BlockVerdict::Right,
        (Known::Nothing, Some(_)) => BlockVerdict::Unknown,
        (_, Some(at)) => BlockVerdict::Wrong {
            expected: format!("byte {:02x} of the pattern", pattern[(phase + at) % pattern.len()]),
            found: format!("{:02x} at byte {at} of the block", bytes[at]),
        },
    }
}

/// The same by a header of fio's. `start` is where the block begins in its request, and in the file.
fn judge_header(
    verify: Verify,
    headers: &Headers,
    known: Known,
    (start, offset): (usize, u64),
    block: &[u8],
) -> BlockVerdict {
    if known == Known::Nothing {
        return BlockVerdict::Unknown;
    }
    let wanted = match known {
        Known::Written(number) => format!("the header of write {number} of this run, of byte {offset}"),
        Known::By(Writer { rank, .. }) => format!("the header of a write of rank {rank}, of byte {offset}"),
        _ => format!("a header of fio's ({}) of byte {offset}", headers.header.kind.name()),
    };
    let found = match (known, header::read(block, headers.header, offset)) {
        (Known::Written(number), Ok(seed)) if seed != u64::from(number) => format!("that of write {seed}"),
        (Known::By(of), Ok(seed)) if !(u64::from(of.from)..=u64::from(of.until)).contains(&seed) => {
            format!("that of write {seed}")
        }
        (_, Ok(_)) => {
            let body = &headers.body;
            // Those at another place have the pattern's beginning under them.
            let begins = if headers.header.at.is_zero() { headers.header.kind.bytes() } else { block.len() };
            return match body.is_empty() {
                true => BlockVerdict::Right,
                false => judge_content(body, known, start + begins, &block[begins..]),
            };
        }
        (Known::Untouched, Err(HeaderFlaw::None | HeaderFlaw::Other(_))) if verify == Verify::Written => {
            return BlockVerdict::Unknown;
        }
        (_, Err(HeaderFlaw::None)) => unmarked("header", block),
        (_, Err(HeaderFlaw::Other(found) | HeaderFlaw::Changed(found))) => found,
    };
    BlockVerdict::Wrong { expected: wanted, found }
}

fn judge(verify: Verify, key: u64, known: Known, offset: u64, bytes: &[u8]) -> BlockVerdict {
    let stamp = match known {
        Known::Nothing => return BlockVerdict::Unknown,
        Known::Untouched | Known::Written(_) | Known::By(_) => stamp::read(bytes, key),
    };
    let expected = match (known, stamp) {
        (Known::Written(number), Ok(stamp)) if stamp == (Stamp { offset, number }) => {
            return BlockVerdict::Right;
        }
        (Known::Written(number), _) => format!("write {number} of this run, of byte {offset}"),
        (Known::By(of), Ok(stamp))
            if stamp.offset == offset && (of.from..=of.until).contains(&stamp.number) =>
        {
            return BlockVerdict::Right;
        }
        (Known::By(Writer { rank, .. }), _) => format!("a write of rank {rank}, of byte {offset}"),
        (_, Ok(stamp)) if stamp.offset == offset => return BlockVerdict::Right,
        (_, Err(Flaw::None | Flaw::OtherKey)) if verify == Verify::Written => return BlockVerdict::Unknown,
        _ => format!("a stamp of this seed, of byte {offset}"),
    };
    BlockVerdict::Wrong { expected, found: found(stamp, offset, bytes) }
}

/// What a block holds that has not even the beginning of a `mark`, in words.
fn unmarked(mark: &str, block: &[u8]) -> String {
    if block.iter().all(|byte| *byte == 0) {
        return "zeros".into();
    }
    let start: String = block.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("no {mark}; it begins with {start}")
}

/// What a block holds instead, in words.
fn found(stamp: Result<Stamp, Flaw>, offset: u64, bytes: &[u8]) -> String {
    match stamp {
        Ok(stamp) => format!("write {}, of byte {}", stamp.number, stamp.offset),
        Err(Flaw::None) => unmarked("stamp", bytes),
        Err(Flaw::OtherKey) => "the stamp of a run with another seed".into(),
        Err(Flaw::Checksum(stamp)) if stamp.offset == offset => {
            format!("write {}, of byte {offset}, with a content or stamp that was changed", stamp.number)
        }
        Err(Flaw::Checksum(stamp)) => {
            format!("a changed stamp or content; it names byte {} and write {}", stamp.offset, stamp.number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 5;

    fn block(offset: u64, number: u32) -> Vec<u8> {
        let mut block = vec![7; 512];
        let sum = stamp::sum_of(&block);
        stamp::put(&mut block, KEY, Stamp { offset, number }, sum);
        block
    }

    fn verdict(verify: Verify, known: Known, block: &[u8]) -> Option<bool> {
        match judge(verify, KEY, known, 1024, block) {
            BlockVerdict::Right => Some(true),
            BlockVerdict::Wrong { .. } => Some(false),
            BlockVerdict::Unknown => None,
        }
    }

    #[test]
    fn of_what_the_run_wrote_only_the_last_write_is_right() {
        let written = |block: &[u8]| verdict(Verify::Written, Known::Written(3), block);
        assert_eq!(written(&block(1024, 3)), Some(true));
        assert_eq!(written(&block(1024, 2)), Some(false), "a write that was lost");
        assert_eq!(written(&block(2048, 3)), Some(false), "a write that went elsewhere");
        assert_eq!(written(&[0; 512]), Some(false));
    }

    #[test]
    fn what_nobody_knows_is_wrong_only_where_all_must_carry_a_stamp() {
        let noise = [9; 512];
        assert_eq!(verdict(Verify::Written, Known::Untouched, &noise), None);
        assert_eq!(verdict(Verify::All, Known::Untouched, &noise), Some(false));
        assert_eq!(verdict(Verify::All, Known::Nothing, &noise), None);
        for verify in [Verify::Written, Verify::All] {
            assert_eq!(verdict(verify, Known::Untouched, &block(1024, 9)), Some(true));
            assert_eq!(verdict(verify, Known::Untouched, &block(512, 9)), Some(false));
            let mut flipped = block(1024, 9);
            flipped[100] ^= 1;
            assert_eq!(verdict(verify, Known::Untouched, &flipped), Some(false));
        }
    }

    #[test]
    fn what_repeats_a_pattern_is_right_wherever_the_request_began() {
        let pattern = [1, 2, 3];
        assert_eq!(judge_content(&pattern, Known::Untouched, 4, &[2, 3, 1, 2]), BlockVerdict::Right);
        let wrong = judge_content(&pattern, Known::Written(1), 4, &[2, 3, 9, 2]);
        let (expected, found) = ("byte 01 of the pattern".into(), "09 at byte 2 of the block".into());
        assert_eq!(wrong, BlockVerdict::Wrong { expected, found });
        assert_eq!(judge_content(&pattern, Known::Nothing, 0, &[0; 4]), BlockVerdict::Unknown);
    }

    #[test]
    fn what_was_found_is_said_in_words() {
        let said = |block: &[u8]| match judge(Verify::All, KEY, Known::Written(3), 1024, block) {
            BlockVerdict::Wrong { expected, found } => format!("{expected} | {found}"),
            other => format!("{other:?}"),
        };
        assert_eq!(said(&block(1024, 2)), "write 3 of this run, of byte 1024 | write 2, of byte 1024");
        assert_eq!(said(&[0; 512]), "write 3 of this run, of byte 1024 | zeros");
        assert!(said(&[9; 512]).ends_with("no stamp; it begins with 0909090909090909"));
    }
}
