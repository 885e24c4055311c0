//! Writes that a device has taken, and puts on its media afterwards, die by die.
//!
//! **Invariant:** no die does two things at once; what a read waits for is what is under way, never what is queued.

use units::{Bytes, Instant, Nanos};

/// Dies that take turns.
#[derive(Clone, Debug)]
pub struct Programs {
    dies: Vec<Die>,
    next: usize,
    /// How long a die is at one thing; what is booked on it is one such after the other.
    program: Nanos,
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// Programs are booked until then.
    until: Instant,
    /// How long the latest of them takes.
    each: Nanos,
}

/// What one die programs at once: two planes of 8 KiB, or one page of 16 KiB.
const PIECE: Bytes = Bytes::new(16 << 10);

impl Programs {
    /// That many idle dies, at least one, of which a read waits for `program` at most.
    pub fn new(dies: u32, program: Nanos) -> Programs {
        let program = program.max(Nanos::new(1));
        Programs { dies: vec![Die::default(); dies.max(1) as usize], next: 0, program }
    }

    /// Spreads `work` for `bytes` over the dies whose turn it is; when the device has room for them.
    ///
    /// A die takes one piece while it programs another. The next writer waits.
    pub fn take(&mut self, now: Instant, work: Nanos, bytes: Bytes) -> Instant {
        let pieces = bytes.get().div_ceil(PIECE.get()).clamp(1, self.dies.len() as u64);
        let each = Nanos::new(work.get() / pieces);
        let mut room = now;
        for _ in 0..pieces {
            let turn = self.next;
            self.next = (turn + 1) % self.dies.len();
            let die = &mut self.dies[turn];
            room = room.max(Instant::from_nanos(die.until.nanos().saturating_sub(die.each.get())));
            *die = Die { until: die.until.max(now) + each, each };
        }
        room
    }

    /// How long a read waits that finds its data at `place`; what is queued there is put off by `read`.
    pub fn wait(&mut self, now: Instant, place: u64, read: Nanos) -> Nanos {
        let many = self.dies.len() as u64;
        let die = &mut self.dies[(place % many) as usize];
        let left = die.until.saturating_since(now).get();
        if left == 0 {
            return Nanos::ZERO;
        }
        die.until += read;
        match left % self.program.get() {
            0 => self.program,
            part => Nanos::new(part),
        }
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
        let mut programs = Programs::new(2, us(100));
        let now = Instant::START;
        let rooms: Vec<u64> = (0..6).map(|_| programs.take(now, us(100), SMALL).nanos() / 1_000).collect();
        assert_eq!(rooms, [0, 0, 0, 0, 100, 100]);
    }

    #[test]
    fn large_writes_are_the_work_of_several_dies_at_once() {
        let mut programs = Programs::new(4, us(100));
        programs.take(Instant::START, us(400), Bytes::new(64 << 10));
        let waits: Vec<Nanos> = (0..4).map(|place| programs.wait(Instant::START, place, us(1))).collect();
        assert_eq!(waits, [us(100); 4]);
    }

    #[test]
    fn a_read_waits_for_the_program_under_way_and_puts_the_others_off() {
        let mut programs = Programs::new(1, us(100));
        let now = Instant::START;
        for _ in 0..3 {
            programs.take(now, us(100), SMALL);
        }
        assert_eq!(programs.wait(now + us(30), 0, us(10)), us(70));
        // Two more programs and the read are left at 100 us, of which the second begins at 110.
        assert_eq!(programs.take(now + us(305), us(100), SMALL), now + us(305));
        assert_eq!(Programs::new(1, us(100)).wait(now, 7, us(10)), Nanos::ZERO);
    }
}
