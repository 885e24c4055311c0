//! Writes that a device has taken, and puts on its media afterwards, die by die.
//!
//! **Invariant:** no die does two things at once; what a read waits for is what is under way, never what is queued.

use units::{Bytes, Instant, Nanos};

use crate::device::write_buffer::WriteBuffer;

/// Dies that take turns.
#[derive(Clone, Debug)]
pub struct Programs {
    dies: Vec<Die>,
    next: usize,
    /// How long a die is at one thing; what is booked on it is one such after the other.
    program: Nanos,
    /// What is taken before it is put on a die; `None`: a die takes one piece while it programs another.
    buffer: Option<WriteBuffer>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// Programs are booked until then.
    until: Instant,
    /// How long the latest of them takes.
    each: Nanos,
    /// Reads for which one of them was put off are served until then.
    reads_until: Instant,
}

/// What one die reads or programs at once: two planes of 8 KiB, or one page of 16 KiB.
pub const PIECE: Bytes = Bytes::new(16 << 10);

impl Programs {
    /// That many idle dies, at least one, of which a read waits for `program` at most, behind an empty buffer of that
    /// size.
    pub fn new(dies: u32, program: Nanos, buffer: Bytes) -> Programs {
        Programs {
            dies: vec![Die::default(); dies.max(1) as usize],
            next: 0,
            program: program.max(Nanos::new(1)),
            buffer: (buffer > Bytes::ZERO).then(|| WriteBuffer::new(buffer)),
        }
    }

    /// Spreads `work` for `bytes` over the dies whose turn it is; when the device has room for them.
    ///
    /// The next writer waits.
    pub fn take(&mut self, now: Instant, work: Nanos, bytes: Bytes) -> Instant {
        let pieces = bytes.get().div_ceil(PIECE.get()).clamp(1, self.dies.len() as u64);
        let each = Nanos::new(work.get() / pieces);
        let mut room = self.buffer.as_mut().map_or(now, |buffer| buffer.room(now, bytes.get()));
        let (from, mut left) = (room, bytes.get());
        for piece in (1..=pieces).rev() {
            let turn = self.next;
            self.next = (turn + 1) % self.dies.len();
            let die = &mut self.dies[turn];
            let ready = Instant::from_nanos(die.until.nanos().saturating_sub(die.each.get()));
            *die = Die { until: die.until.max(from) + each, each, ..*die };
            match &mut self.buffer {
                None => room = room.max(ready),
                Some(buffer) => {
                    let part = left / piece;
                    left -= part;
                    buffer.hold(part, die.until);
                }
            }
        }
        room
    }

    /// How long a read of `bytes` waits whose first piece is at `place` and the others beside it; what is queued there
    /// is put off by `read`.
    ///
    /// A die that is left halfway goes on before it is left again, so that reads of one die wait for each other.
    pub fn wait(&mut self, now: Instant, place: u64, bytes: Bytes, read: Nanos) -> Nanos {
        let many = self.dies.len() as u64;
        let mut longest = now;
        for piece in 0..bytes.get().div_ceil(PIECE.get()).clamp(1, many) {
            let die = &mut self.dies[(place.wrapping_add(piece) % many) as usize];
            let start = now.max(die.reads_until);
            let left = die.until.saturating_since(start).get();
            if left == 0 {
                continue;
            }
            let in_front = match left % self.program.get() {
                0 => self.program,
                part => Nanos::new(part),
            };
            die.until += read;
            die.reads_until = start + in_front + read;
            longest = longest.max(start + in_front);
        }
        longest.saturating_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bytes = Bytes::new(4 << 10);

    fn us(micros: u64) -> Nanos {
        Nanos::from_micros(micros)
    }

    #[test]
    fn writers_wait_once_every_die_has_a_piece_and_one_more() {
        let mut programs = Programs::new(2, us(100), Bytes::ZERO);
        let now = Instant::START;
        let rooms: Vec<u64> = (0..6).map(|_| programs.take(now, us(100), SMALL).nanos() / 1_000).collect();
        assert_eq!(rooms, [0, 0, 0, 0, 100, 100]);
    }

    #[test]
    fn a_buffer_takes_what_no_die_is_ready_for_until_it_is_full() {
        let mut programs = Programs::new(2, us(100), Bytes::new(16 << 10));
        let now = Instant::START;
        let rooms: Vec<u64> = (0..8).map(|_| programs.take(now, us(100), SMALL).nanos() / 1_000).collect();
        assert_eq!(rooms, [0, 0, 0, 0, 100, 100, 200, 200]);
        // Half of it is on the media by then.
        assert_eq!(programs.take(now + us(300), us(100), SMALL), now + us(300));
    }

    #[test]
    fn large_writes_are_the_work_of_several_dies_at_once() {
        let mut programs = Programs::new(4, us(100), Bytes::ZERO);
        programs.take(Instant::START, us(400), Bytes::new(64 << 10));
        let waits: Vec<Nanos> =
            (0..4).map(|place| programs.wait(Instant::START, place, SMALL, us(1))).collect();
        assert_eq!(waits, [us(100); 4]);
    }

    #[test]
    fn a_read_waits_for_the_program_under_way_and_puts_the_others_off() {
        let mut programs = Programs::new(1, us(100), Bytes::ZERO);
        let now = Instant::START;
        for _ in 0..3 {
            programs.take(now, us(100), SMALL);
        }
        assert_eq!(programs.wait(now + us(30), 0, SMALL, us(10)), us(70));
        // Two more programs and the read are left at 100 us, of which the second begins at 110.
        assert_eq!(programs.take(now + us(305), us(100), SMALL), now + us(305));
        assert_eq!(Programs::new(1, us(100), Bytes::ZERO).wait(now, 7, SMALL, us(10)), Nanos::ZERO);
    }

    #[test]
    fn a_read_of_the_same_die_waits_for_the_one_before_it_and_a_program_more() {
        let mut programs = Programs::new(2, us(100), Bytes::ZERO);
        let now = Instant::START;
        for _ in 0..6 {
            programs.take(now, us(100), SMALL);
        }
        assert_eq!(programs.wait(now + us(30), 0, SMALL, us(10)), us(70));
        // The first is read until 110, and 200 us of programs are left from then on.
        assert_eq!(programs.wait(now + us(30), 0, SMALL, us(10)), us(80 + 100));
        assert_eq!(programs.wait(now + us(30), 1, SMALL, us(10)), us(70), "another die");
    }

    #[test]
    fn a_large_read_waits_for_the_last_of_its_dies() {
        let mut programs = Programs::new(4, us(100), Bytes::ZERO);
        programs.take(Instant::START, us(60), SMALL);
        programs.take(Instant::START, us(90), SMALL);
        assert_eq!(programs.wait(Instant::START, 0, Bytes::new(64 << 10), us(10)), us(90));
    }
}
