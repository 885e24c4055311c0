//! Locks of stripes: who changes the parity of a stripe does so alone.
//!
//! Between the read of the old parity and the write of the new one nobody else may change it, or one of the two changes
//! is lost. So an update of parity locks its stripe; a read that reconstructs what a lost member held shares the lock
//! with others of its kind, because all members must belong together while they are read. A read of a member that is
//! well asks for no lock. Those that must wait do so in order of arrival, and nobody passes one that it conflicts with:
//! the rule of RAIDframe, `rf_stripelocks.c`.
//!
//! **Invariant:** no two that conflict hold a stripe at once, and who holds one never waits for another: a request over
//! several stripes asks for each on its own, in ascending order, so that nobody can wait for ever.

use units::convert::narrow;
use units::{Bytes, Instant, SECTOR_BYTES};

use crate::meter::{Class, Meter};
use crate::raid::{Method, Stripe};

/// Lists that the stripes are spread over by hash: so few that they stay in the processor's cache, so many that a
/// thousand updates under way hardly meet in one.
const LISTS: usize = 1024;

const NONE: u32 = u32::MAX;

/// Which part of which stripe is asked for, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    row: u64,
    set: u32,
    group: u32,
    /// Sectors of the row's strips.
    from: u32,
    to: u32,
    /// Parts of one operation do not wait for each other.
    operation: u32,
    shared: bool,
}

impl Claim {
    /// What `stripe` of an operation on a set asks for; `None` where its parity is neither changed nor used.
    ///
    /// `block` is what is locked at least; without it, all of the stripe.
    pub fn of(stripe: &Stripe, set: u32, operation: u32, block: Option<Bytes>) -> Option<Claim> {
        let shared = match stripe.method {
            Method::Recover => true,
            Method::FullStripe
            | Method::ReadModifyWrite
            | Method::ReconstructWrite
            | Method::RecoverAndWrite => false,
            Method::WithoutParity | Method::Zero | Method::Copy | Method::Rebuild { .. } | Method::Verify => {
                return None;
            }
        };
        let (from, to) = match block {
            None => (0, u32::MAX),
            Some(block) => {
                let block = (block.get() / SECTOR_BYTES).max(1);
                let end = stripe.to.0.div_ceil(block) * block;
                (narrow::<u32>(stripe.from.0 / block * block), u32::try_from(end).unwrap_or(u32::MAX))
            }
        };
        Some(Claim { row: stripe.row, set, group: stripe.group, from, to, operation, shared })
    }

    fn is_same_stripe(&self, other: &Claim) -> bool {
        (self.row, self.set, self.group) == (other.row, other.set, other.group)
    }

    fn conflicts(&self, other: &Claim) -> bool {
        self.is_same_stripe(other)
            && !(self.shared && other.shared)
            && self.from < other.to
            && other.from < self.to
            && self.operation != other.operation
    }

    fn list(&self) -> usize {
        // Multiplying scatters neighbouring rows over the lists (Fibonacci hashing, Knuth 6.4).
        let number = self.row ^ u64::from(self.set) << 48 ^ u64::from(self.group) << 32;
        narrow::<usize>(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LISTS.ilog2()))
    }
}

/// Who holds a stripe or waits for it.
#[derive(Clone, Copy, Debug, Default)]
struct LockEntry {
    claim: Claim,
    next: u32,
    /// Since when it waits, and as what.
    waits: Option<(Instant, Class)>,
}

/// The locks of all stripes of an array.
///
/// Whoever asks is known by a small number of its own, that of a chain.
pub struct StripeLocks {
    /// By the number of who asks.
    places: Vec<LockEntry>,
    /// The first and the last of each list, in order of arrival.
    lists: Vec<(u32, u32)>,
    waiting: u32,
}

impl StripeLocks {
    /// Nobody holds anything.
    pub fn new() -> StripeLocks {
        StripeLocks { places: Vec::new(), lists: vec![(NONE, NONE); LISTS], waiting: 0 }
    }

    /// Whether `who` has what it claims at `now`; if not it waits, and [`StripeLocks::leave`] tells when it has.
    pub fn enter(&mut self, now: Instant, who: u32, claim: Claim, class: Class, meter: &mut Meter) -> bool {
        debug_assert!(claim.from < claim.to, "a claim must be of something");
        let list = claim.list();
        let free = !self.is_claimed(list, NONE, &claim);
        if self.places.len() <= who as usize {
            self.places.resize(who as usize + 1, LockEntry::default());
        }
        let waits = (!free).then_some((now, class));
        self.places[who as usize] = LockEntry { claim, next: NONE, waits };
        let (first, last) = &mut self.lists[list];
        match *last {
            NONE => *first = who,
            last => self.places[last as usize].next = who,
        }
        *last = who;
        if !free {
            self.waiting += 1;
            meter.arrive(now);
        }
        free
    }

    /// `who` leaves what it holds; those that have theirs by it go to `granted`, in order of arrival.
    pub fn leave(&mut self, now: Instant, who: u32, granted: &mut Vec<u32>, meter: &mut Meter) {
        let LockEntry { claim, next, .. } = self.places[who as usize];
        debug_assert!(self.places[who as usize].waits.is_none(), "who leaves must have had what it claimed");
        let list = claim.list();
        self.unlink(list, who);
        if self.waiting == 0 {
            return;
        }
        // Only those that came later can have waited for it.
        let mut at = next;
        while at != NONE {
            let LockEntry { claim: other, next, waits } = self.places[at as usize];
            if let Some((since, class)) = waits
                && other.is_same_stripe(&claim)
                && !self.is_claimed(list, at, &other)
            {
                debug_assert!(self.waiting > 0, "who waits must have been counted");
                self.places[at as usize].waits = None;
                self.waiting -= 1;
                meter.begin(now);
                meter.leave(now, since, now, class);
                granted.push(at);
            }
            at = next;
        }
    }

    /// Who waits: since when, and as what.
    pub fn waiting(&self) -> impl Iterator<Item = (Instant, Class)> {
        self.places.iter().filter_map(|place| place.waits)
    }

    /// Whether anybody in `list` before `until` conflicts with `claim`.
    fn is_claimed(&self, list: usize, until: u32, claim: &Claim) -> bool {
        let mut at = self.lists[list].0;
        while at != until {
            let place = &self.places[at as usize];
            if place.claim.conflicts(claim) {
                return true;
            }
            at = place.next;
        }
        false
    }

    fn unlink(&mut self, list: usize, who: u32) {
        let next = self.places[who as usize].next;
        let (first, last) = self.lists[list];
        if first == who {
            self.lists[list] = (next, if last == who { NONE } else { last });
            return;
        }
        let mut before = first;
        while self.places[before as usize].next != who {
            before = self.places[before as usize].next;
        }
        self.places[before as usize].next = next;
        if last == who {
            self.lists[list].1 = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Stream;

    fn write(row: u64, from: u32, to: u32, operation: u32) -> Claim {
        Claim { row, set: 0, group: 0, from, to, operation, shared: false }
    }

    fn read(row: u64, operation: u32) -> Claim {
        Claim { shared: true, ..write(row, 0, u32::MAX, operation) }
    }

    const NOBODY: [u32; 0] = [];

    /// Who asks for what.
    type Claims = Vec<(u32, Claim)>;

    /// The locks with their meter.
    struct Bench {
        locks: StripeLocks,
        meter: Meter,
    }

    impl Bench {
        fn new() -> Bench {
            Bench { locks: StripeLocks::new(), meter: Meter::default() }
        }

        fn enter(&mut self, now: u64, who: u32, claim: Claim) -> bool {
            self.locks.enter(Instant::from_nanos(now), who, claim, Class::HostWrite, &mut self.meter)
        }

        fn leave(&mut self, now: u64, who: u32) -> Vec<u32> {
            let mut granted = Vec::new();
            self.locks.leave(Instant::from_nanos(now), who, &mut granted, &mut self.meter);
            granted
        }
    }

    #[test]
    fn writers_of_a_stripe_have_it_one_after_the_other_in_order_of_arrival() {
        let mut bench = Bench::new();
        assert!(bench.enter(0, 0, write(7, 0, 100, 0)));
        assert!(!bench.enter(10, 1, write(7, 0, 100, 1)));
        assert!(!bench.enter(20, 2, write(7, 0, 100, 2)));
        assert!(bench.enter(20, 3, write(8, 0, 100, 3)), "another stripe is free");
        assert_eq!(bench.leave(100, 0), [1]);
        assert_eq!(bench.leave(100, 3), NOBODY);
        assert_eq!(bench.leave(250, 1), [2]);
        assert_eq!(bench.leave(260, 2), NOBODY);
        bench
            .meter
            .close(Instant::from_nanos(300), bench.locks.waiting().map(|(at, class)| (at, None, class)));
        let visits = bench.meter.visits(Class::HostWrite);
        assert_eq!((visits.count, visits.wait_ns, visits.service_ns), (2, 90 + 230, 0));
        assert_eq!(bench.meter.little_gap(), Some(0.0));
    }

    #[test]
    fn reads_that_reconstruct_share_a_stripe_and_do_not_pass_a_write_that_waits() {
        let mut bench = Bench::new();
        assert!(bench.enter(0, 0, read(7, 0)) && bench.enter(0, 1, read(7, 1)));
        assert!(!bench.enter(0, 2, write(7, 0, 8, 2)));
        assert!(!bench.enter(0, 3, read(7, 3)) && !bench.enter(0, 4, read(7, 4)));
        assert_eq!(bench.leave(1, 1), NOBODY);
        assert_eq!(bench.leave(2, 0), [2]);
        assert_eq!(bench.leave(3, 2), [3, 4]);
    }

    #[test]
    fn parts_of_a_stripe_that_have_nothing_in_common_are_locked_apart() {
        let mut bench = Bench::new();
        assert!(bench.enter(0, 0, write(7, 0, 8, 0)));
        assert!(bench.enter(0, 1, write(7, 8, 16, 1)));
        assert!(!bench.enter(0, 2, write(7, 4, 12, 2)));
        assert!(!bench.enter(0, 3, write(7, 0, 4, 3).shift(4)), "it would pass the one before it");
        assert!(bench.enter(0, 4, write(7, 16, 24, 4)));
        assert_eq!(bench.leave(1, 0), NOBODY);
        assert_eq!(bench.leave(2, 1), [2]);
        assert_eq!(bench.leave(3, 2), [3]);
    }

    #[test]
    fn parts_of_one_operation_do_not_wait_for_each_other() {
        let mut bench = Bench::new();
        assert!(bench.enter(0, 0, write(7, 0, 8, 5)) && bench.enter(0, 1, write(7, 0, 8, 5)));
        assert!(!bench.enter(0, 2, write(7, 0, 8, 6)));
        assert_eq!(bench.leave(1, 0), NOBODY);
        assert_eq!(bench.leave(2, 1), [2]);
    }

    impl Claim {
        fn shift(self, by: u32) -> Claim {
            Claim { from: self.from + by, to: self.to + by, ..self }
        }
    }

    #[test]
    fn whatever_is_asked_conflicts_never_hold_together_order_is_kept_and_everybody_has_a_turn() {
        let mut draws = Stream::open(11, "locks");
        let mut bench = Bench::new();
        let (mut held, mut queue) = (Claims::new(), Claims::new());
        let mut free: Vec<u32> = (0..64).collect();
        for now in 0..200_000 {
            let asks = draws.below(2) == 0;
            if asks && let Some(who) = free.pop() {
                let from = narrow::<u32>(draws.below(64));
                let claim = Claim {
                    // Many rows of which some meet in a list, and few of which much meets.
                    row: if draws.below(2) == 0 { draws.below(3) } else { draws.below(1 << 40) },
                    set: narrow::<u32>(draws.below(2)),
                    group: narrow::<u32>(draws.below(2)),
                    from,
                    to: from + 1 + narrow::<u32>(draws.below(64)),
                    operation: narrow::<u32>(now),
                    shared: draws.below(3) == 0,
                };
                let waits = held.iter().chain(&queue).any(|(_, other)| other.conflicts(&claim));
                assert_eq!(bench.enter(now, who, claim), !waits);
                if waits { queue.push((who, claim)) } else { held.push((who, claim)) }
            } else if !held.is_empty() {
                let (who, _) = held.swap_remove(narrow::<usize>(draws.below(held.len() as u64)));
                free.push(who);
                // Who goes now: each that nobody before it holds up, in order of arrival.
                let (mut go, mut stay) = (Claims::new(), Claims::new());
                for &(who, claim) in &queue {
                    let blocked =
                        held.iter().chain(&go).chain(&stay).any(|(_, other)| other.conflicts(&claim));
                    if blocked { stay.push((who, claim)) } else { go.push((who, claim)) }
                }
                let granted = bench.leave(now, who);
                assert_eq!(granted, go.iter().map(|(who, _)| *who).collect::<Vec<_>>());
                held.extend(go);
                queue = stay;
            }
        }
        while let Some((who, _)) = held.pop() {
            for who in bench.leave(200_000, who) {
                let at = queue.iter().position(|(other, _)| *other == who).expect("it waited");
                held.push(queue.swap_remove(at));
            }
        }
        assert!(queue.is_empty() && bench.locks.waiting().next().is_none());
    }
}
