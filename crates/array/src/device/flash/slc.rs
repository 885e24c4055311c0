//! Flash that takes writes with one bit a cell, and is emptied into the rest while the drive is idle.
//!
//! **Invariant:** it never holds more than its size.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Instant, Nanos};

use super::laid::Laid;
use super::{FlashParams, SlcParams, Written};

/// What such a cache took, of one drive or of several together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcUse {
    /// What it takes when it is empty.
    pub size: Bytes,
    /// What it holds, what was moved while the drive was idle taken off.
    pub held: Bytes,
    /// Programmed into it since the meters began.
    pub taken: Bytes,
    /// Programmed past it since then: it had no room.
    pub beyond: Bytes,
    /// What the flash behind it takes in order, which garbage collection makes less.
    pub behind: BytesPerSecond,
}

impl SlcUse {
    /// What several drives have together.
    pub fn and(self, other: SlcUse) -> SlcUse {
        SlcUse {
            size: self.size + other.size,
            held: self.held + other.held,
            taken: self.taken + other.taken,
            beyond: self.beyond + other.beyond,
            behind: BytesPerSecond::new(self.behind.get() + other.behind.get()),
        }
    }
}

/// How much it holds, and since when nothing is booked.
#[derive(Clone, Debug)]
pub struct SlcCache {
    params: SlcParams,
    held: u64,
    /// Taken, and not, since the meters began.
    asked: [u64; 2],
    /// Of what it holds, what was written at random.
    random: f64,
    idle_from: Instant,
    /// What of the drive lies in it, where the drive was fresh: of one that is full hardly anything does.
    laid: Option<Laid>,
}

impl SlcCache {
    /// The empty one of a drive; `None` where it has none.
    pub fn of(drive: &FlashParams) -> Option<SlcCache> {
        let params = drive.slc_cache?;
        let laid = (drive.state == Written::Fresh).then(|| Laid::new(drive.capacity, params.size));
        Some(SlcCache { params, held: 0, asked: [0; 2], random: 0.0, idle_from: Instant::START, laid })
    }

    /// How long a page at `offset` takes to read if it lies here; `None` where it lies in the rest of the flash. What is read
    /// for the first time was written before, and takes room.
    pub fn read(&mut self, offset: u64) -> Option<Nanos> {
        let laid = self.laid.as_mut()?;
        self.held = (self.held + laid.touch(offset)).min(self.params.size.get());
        self.time_at(offset)
    }

    /// How long a page at `offset` takes to read, as far as is known before it is.
    pub fn time_at(&self, offset: u64) -> Option<Nanos> {
        self.params.read_page.filter(|_| self.laid.as_ref().is_some_and(|laid| laid.is_in_cache(offset)))
    }

    /// Something is written at `offset`.
    pub fn written(&mut self, offset: u64) {
        if let Some(laid) = &mut self.laid {
            laid.touch(offset);
        }
    }

    /// Takes `bytes`, if it has room for them; how long a program of them takes then.
    pub fn take(&mut self, bytes: u64, sequential: bool) -> Option<Nanos> {
        if self.held + bytes > self.params.size.get() {
            self.asked[1] += bytes;
            return None;
        }
        self.asked[0] += bytes;
        self.held += bytes;
        self.random += if sequential { 0.0 } else { bytes as f64 };
        Some(self.params.program_page)
    }

    /// The drive works until then.
    pub fn is_busy_until(&mut self, end: Instant) {
        self.idle_from = self.idle_from.max(end);
    }

    /// How long it was idle before `now`, when work comes, beyond what it waits before it moves anything.
    pub fn idle(&mut self, now: Instant) -> Nanos {
        let idle = now.saturating_since(self.idle_from).saturating_sub(self.params.fold_after);
        self.is_busy_until(now);
        idle
    }

    /// Moves what it holds for `time`, at `rate` bytes a second where each byte is programmed once. What was written at
    /// random is programmed `amplification` times, with the garbage collection that it causes.
    pub fn fold(&mut self, time: Nanos, rate: f64, amplification: f64) {
        if self.held == 0 || time.is_zero() {
            return;
        }
        let programs = 1.0 + (amplification - 1.0) * self.random / self.held as f64;
        let moved = (rate * time.as_secs_f64() / programs).min(self.held as f64);
        self.random *= 1.0 - moved / self.held as f64;
        self.held -= truncated::<u64>(moved);
        self.laid.iter_mut().for_each(|laid| laid.moved(truncated(moved)));
        debug_assert!(
            self.random <= self.held as f64 + 1.0,
            "what was written at random is a part of what it holds"
        );
    }

    /// Begins to count.
    pub fn restart(&mut self) {
        self.asked = [0; 2];
    }

    /// What it took, in front of flash that takes `behind` in order.
    pub fn seen(&self, behind: BytesPerSecond) -> SlcUse {
        let [taken, beyond] = self.asked.map(Bytes::new);
        SlcUse { size: self.params.size, held: Bytes::new(self.held), taken, beyond, behind }
    }

    /// Bytes that it holds.
    #[cfg(test)]
    pub fn held(&self) -> u64 {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 MB.
    fn small() -> SlcCache {
        let params = SlcParams {
            size: Bytes::new(1_000_000),
            program_page: Nanos::from_micros(200),
            read_page: None,
            fold_after: Nanos::from_millis(10),
        };
        let idle_from = Instant::START;
        SlcCache { params, held: 0, asked: [0; 2], random: 0.0, idle_from, laid: None }
    }

    #[test]
    fn what_finds_no_room_is_counted_apart_and_what_was_moved_is_not_held() {
        let mut cache = small();
        let mut taken = |count: u32| {
            let found = (0..count).filter(|_| cache.take(100_000, true).is_some()).count();
            (found, cache.seen(BytesPerSecond::new(160e6)))
        };
        let (found, seen) = taken(8);
        assert_eq!((found, seen.held.get(), seen.taken.get(), seen.beyond.get()), (8, 800_000, 800_000, 0));
        let (found, seen) = taken(8);
        assert_eq!(
            (found, seen.held.get(), seen.taken.get(), seen.beyond.get()),
            (2, 1_000_000, 1_000_000, 600_000)
        );
        cache.restart();
        cache.fold(Nanos::from_secs(1), 400e3, 1.0);
        let seen = cache.seen(BytesPerSecond::new(160e6));
        assert_eq!((seen.held.get(), seen.taken.get(), seen.beyond.get()), (600_000, 0, 0));
        assert_eq!(seen.and(seen).behind, BytesPerSecond::new(320e6));
    }

    #[test]
    fn it_takes_its_size_and_moves_what_it_holds_in_idle_time_beyond_its_patience() {
        let mut cache = small();
        let taken = (0..20).filter(|_| cache.take(100_000, false).is_some()).count();
        assert_eq!((taken, cache.held()), (10, 1_000_000));
        cache.is_busy_until(Instant::from_nanos(5_000_000));
        assert_eq!(cache.idle(Instant::from_nanos(14_000_000)), Nanos::ZERO);
        // From 14 ms on it waits anew: 30 ms idle, 20 of them beyond its patience.
        let idle = cache.idle(Instant::from_nanos(44_000_000));
        assert_eq!(idle, Nanos::from_millis(20));
        cache.fold(idle, 20e6, 4.0);
        assert_eq!(cache.held(), 900_000, "20 ms of 20 MB/s, four programs a byte");
        cache.fold(Nanos::from_millis(1_000), 20e6, 4.0);
        assert_eq!(cache.held(), 0);
        assert!(cache.take(100_000, true).is_some());
        cache.fold(Nanos::from_millis(5), 20e6, 4.0);
        assert_eq!(cache.held(), 0, "what was written in sequence is programmed once");
    }
}
