//! Writes that a device has taken, and puts on its media afterwards, die by die.
//!
//! **Invariant:** no die does two things at once; what a read waits for is what is under way, never what is queued.

use units::convert::narrow;
use units::{Bytes, Instant, Nanos};

use crate::device::write_buffer::WriteBuffer;
use crate::least::first_of_least;

/// Dies, of which each piece goes to the one that is free first.
///
/// Dies that took turns whatever each has to do would have some of them idle: of a write of many pieces that come in
/// the same order again and again the slow ones would be always those of the same dies.
#[derive(Clone, Debug)]
pub struct Programs {
    dies: Vec<Die>,
    /// How long a read waits for what is booked on its die at most.
    program: Nanos,
    /// What a die reads at once.
    piece: u64,
    /// What is taken before it is put on a die; `None`: a die takes one piece while it programs another.
    buffer: Option<WriteBuffer>,
    /// Bytes that are no piece yet, and the work for them.
    gathered: u64,
    owed: DieWork,
}

/// What dies have to do for a write.
#[derive(Clone, Copy, Debug, Default)]
pub struct DieWork {
    /// How long a page takes to be written.
    pub program: Nanos,
    /// To copy what lies where room is made for it: done later, a whole block at a time.
    pub copies: Nanos,
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// Programs are booked until then.
    until: Instant,
    /// How long the latest of them takes.
    each: Nanos,
    /// Nanoseconds of copies that it has not begun.
    copies: u64,
    /// Reads for which one of them was put off are served until then.
    reads_until: Instant,
}

/// What one die programs at once: two planes of 8 KiB, or one page of 16 KiB.
pub const PIECE: Bytes = Bytes::new(16 << 10);

impl Programs {
    /// That many idle dies, at least one, that read `piece` at once and of which a read waits for `program` at most,
    /// behind an empty buffer of that size.
    pub fn new(dies: u32, program: Nanos, piece: Bytes, buffer: Bytes) -> Programs {
        Programs {
            dies: vec![Die::default(); dies.max(1) as usize],
            program,
            piece: piece.get().max(1),
            buffer: (buffer > Bytes::ZERO).then(|| WriteBuffer::new(buffer)),
            gathered: 0,
            owed: DieWork::default(),
        }
    }

    /// Has dies `work` for `bytes`; when the device has room for them.
    ///
    /// What is less than a piece waits until others have made it one: small writes share programs.
    pub fn take(&mut self, now: Instant, work: DieWork, bytes: Bytes) -> Instant {
        let mut room = self.buffer.as_mut().map_or(now, |buffer| buffer.room(now, bytes.get()));
        let from = room;
        self.gathered += bytes.get();
        self.owed.program += work.program;
        self.owed.copies += work.copies;
        let pieces = self.gathered / PIECE.get();
        for _ in 0..pieces {
            let DieWork { program, copies } = self.owed.of_piece(self.gathered);
            self.gathered -= PIECE.get();
            self.owed = DieWork { program: self.owed.program - program, copies: self.owed.copies - copies };
            let die = self.free_first();
            let ready = Instant::from_nanos(die.until.nanos().saturating_sub(die.each.get()));
            let programmed = die.until.max(from) + program;
            die.book(programmed, program, copies);
            match &mut self.buffer {
                None => room = room.max(ready),
                Some(buffer) => buffer.hold(PIECE.get(), programmed),
            }
        }
        debug_assert!(self.gathered < PIECE.get(), "what has become a piece must be programmed");
        debug_assert!(
            self.gathered > 0 || self.owed.program.is_zero() && self.owed.copies.is_zero(),
            "work must be for bytes"
        );
        room
    }

    /// When all that is booked on them has ended.
    pub fn until(&self) -> Instant {
        self.dies.iter().map(|die| die.until).max().unwrap_or(Instant::START)
    }

    fn free_first(&mut self) -> &mut Die {
        let index = first_of_least(self.dies.iter().map(|die| die.until.nanos())).unwrap_or(0);
        &mut self.dies[index]
    }

    /// How long a read of `bytes` waits whose first piece is at `place` and the others beside it; what is queued there
    /// is put off by `read`.
    ///
    /// A die that is left halfway goes on before it is left again, so that reads of one die wait for each other.
    pub fn wait(&mut self, now: Instant, place: u64, bytes: Bytes, read: Nanos) -> Nanos {
        let many = self.dies.len() as u64;
        let mut longest = now;
        for piece in 0..bytes.get().div_ceil(self.piece).max(1) {
            let die = &mut self.dies[narrow::<usize>(place.wrapping_add(piece) % many)];
            let start = now.max(die.reads_until);
            let left = die.until.saturating_since(start).get();
            if left == 0 {
                continue;
            }
            let in_front = Nanos::new(left.min(self.program.get()));
            die.until += read;
            die.reads_until = start + in_front + read;
            longest = longest.max(start + in_front);
        }
        longest.saturating_since(now)
    }
}

impl Die {
    /// A program that ends at `programmed`, and the copies that it leaves behind once they are a block's.
    fn book(&mut self, programmed: Instant, program: Nanos, copies: Nanos) {
        self.copies += copies.get();
        let begun = if self.copies >= BLOCK_NS { std::mem::take(&mut self.copies) } else { 0 };
        self.each = program + Nanos::new(begun);
        self.until = programmed + Nanos::new(begun);
    }
}

impl DieWork {
    /// The part of it that a piece of its `bytes` is.
    fn of_piece(self, bytes: u64) -> DieWork {
        let part = |work: Nanos| {
            Nanos::new(narrow(u128::from(work.get()) * u128::from(PIECE.get()) / u128::from(bytes)))
        };
        DieWork { program: part(self.program), copies: part(self.copies) }
    }
}

/// Copying what is still valid in a block: some hundred programs of one to two milliseconds each.
///
/// Meanwhile reads that find their die at it queue up, and those of the other dies wait for nothing.
const BLOCK_NS: u64 = 150_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Nanos {
        Nanos::from_micros(micros)
    }

    /// Programs of 100 us on so many dies, of which reads wait for as long at most.
    fn programs(dies: u32, buffer: Bytes) -> Programs {
        Programs::new(dies, us(100), PIECE, buffer)
    }

    fn program(micros: u64) -> DieWork {
        DieWork { program: us(micros), copies: Nanos::ZERO }
    }

    #[test]
    fn writers_wait_once_every_die_has_a_piece_and_one_more() {
        let mut programs = programs(2, Bytes::ZERO);
        let now = Instant::START;
        let rooms: Vec<u64> =
            (0..6).map(|_| programs.take(now, program(100), PIECE).nanos() / 1_000).collect();
        assert_eq!(rooms, [0, 0, 0, 0, 100, 100]);
    }

    #[test]
    fn a_buffer_takes_what_no_die_is_ready_for_until_it_is_full() {
        let mut programs = programs(2, PIECE * 4);
        let now = Instant::START;
        let rooms: Vec<u64> =
            (0..8).map(|_| programs.take(now, program(100), PIECE).nanos() / 1_000).collect();
        assert_eq!(rooms, [0, 0, 0, 0, 100, 100, 200, 200]);
        // Half of it is on the media by then.
        assert_eq!(programs.take(now + us(300), program(100), PIECE), now + us(300));
    }

    #[test]
    fn small_writes_share_a_program() {
        let mut programs = programs(1, Bytes::ZERO);
        let now = Instant::START;
        for _ in 0..3 {
            programs.take(now, program(25), Bytes::KIB * 4);
        }
        assert_eq!(programs.wait(now, 0, PIECE, us(1)), Nanos::ZERO, "less than a piece");
        programs.take(now, program(25), Bytes::KIB * 4);
        assert_eq!(programs.wait(now, 0, PIECE, us(1)), us(100));
    }

    #[test]
    fn a_piece_goes_to_the_die_that_is_free_first() {
        let mut programs = programs(2, Bytes::ZERO);
        let now = Instant::START;
        // The long one keeps its die until 300 us, and three short ones are done on the other by then.
        let rooms = [300, 100, 100, 100, 100]
            .map(|micros| programs.take(now, program(micros), PIECE).nanos() / 1_000);
        assert_eq!(rooms, [0, 0, 0, 100, 0]);
    }

    #[test]
    fn copies_are_begun_once_they_are_a_blocks() {
        let mut programs = programs(1, PIECE * 100);
        let now = Instant::START;
        let copying = DieWork { program: us(100), copies: Nanos::new(BLOCK_NS / 2) };
        programs.take(now, copying, PIECE);
        assert_eq!(programs.wait(now + us(100), 0, PIECE, us(1)), Nanos::ZERO, "not yet");
        programs.take(now, copying, PIECE);
        // A die that copies is left for a read as one that programs is.
        let later = now + us(1_000);
        assert_eq!(programs.wait(later, 0, PIECE, us(1)), us(100));
        let copied = now + us(300) + Nanos::new(BLOCK_NS);
        assert_eq!(programs.wait(copied, 0, PIECE, us(1)), Nanos::ZERO);
    }

    #[test]
    fn large_writes_are_the_work_of_several_dies_at_once() {
        let mut programs = programs(4, Bytes::ZERO);
        programs.take(Instant::START, program(400), PIECE * 4);
        let waits: Vec<Nanos> =
            (0..4).map(|place| programs.wait(Instant::START, place, PIECE, us(1))).collect();
        assert_eq!(waits, [us(100); 4]);
    }

    #[test]
    fn a_read_waits_for_the_program_under_way_and_puts_the_others_off() {
        let mut programs = programs(1, Bytes::ZERO);
        let now = Instant::START;
        programs.take(now, program(100), PIECE);
        assert_eq!(programs.wait(now + us(30), 0, PIECE, us(10)), us(70));
        // The program and the read are done at 110.
        assert_eq!(programs.wait(now + us(110), 0, PIECE, us(10)), Nanos::ZERO);
        programs.take(now + us(200), program(500), PIECE);
        assert_eq!(programs.wait(now + us(230), 0, PIECE, us(10)), us(100), "it is left for the read");
    }

    #[test]
    fn a_read_of_the_same_die_waits_for_the_one_before_it_and_a_program_more() {
        let mut programs = programs(2, Bytes::ZERO);
        let now = Instant::START;
        for _ in 0..6 {
            programs.take(now, program(100), PIECE);
        }
        assert_eq!(programs.wait(now + us(30), 0, PIECE, us(10)), us(100));
        // The first is read until 140, and it is long until all programs are done.
        assert_eq!(programs.wait(now + us(30), 0, PIECE, us(10)), us(110 + 100));
        assert_eq!(programs.wait(now + us(30), 1, PIECE, us(10)), us(100), "another die");
    }

    #[test]
    fn a_large_read_waits_for_the_last_of_its_dies() {
        let mut programs = programs(4, Bytes::ZERO);
        programs.take(Instant::START, program(60), PIECE);
        programs.take(Instant::START, program(90), PIECE);
        assert_eq!(programs.wait(Instant::START, 0, PIECE * 4, us(10)), us(90));
    }

    #[test]
    fn all_is_done_when_the_last_die_is() {
        let mut programs = programs(2, PIECE * 4);
        assert_eq!(programs.until(), Instant::START);
        programs.take(Instant::START, program(100), PIECE);
        programs.take(Instant::START, program(70), PIECE);
        assert_eq!(programs.until(), Instant::START + us(100));
    }
}
