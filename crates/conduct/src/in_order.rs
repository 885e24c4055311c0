//! Pieces of work that do not depend on each other: carried out on all processors, their results taken in order.
//!
//! Threads of its own suffice: pieces are few and long, and who calls takes part. A piece may call [`in_order`] itself;
//! all calls together have no more helpers than there are processors beside the one that began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// Who takes the results, on the thread that calls.
pub trait Taker<T> {
    /// The piece at `position` comes next. Its result, where it is carried out here and now; it may be where `is_free`
    /// says that nobody has begun it, as nobody has the first one.
    fn next(&mut self, _position: usize, _is_free: bool) -> Option<T> {
        None
    }

    /// The result of the piece at `position`, those before it having been taken; whether more are wanted.
    fn take(&mut self, position: usize, result: T) -> bool;
}

impl<T, F: FnMut(usize, T) -> bool> Taker<T> for F {
    fn take(&mut self, position: usize, result: T) -> bool {
        self(position, result)
    }
}

/// Helpers that are at work, over all calls.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Processors that this process may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Carries `work` out for each position below `count`, on at most `threads` threads at once with the one that calls,
/// and hands the results to `taker` in order, each as soon as those before it are there.
///
/// A result depends on its position alone, so that the results are the same for any number of threads. Once nothing more
/// is wanted no piece is begun, and what has been begun is finished and forgotten. A panic of `work` is one of this.
pub fn in_order<T: Send>(
    count: usize,
    threads: usize,
    work: &(dyn Fn(usize) -> T + Sync),
    taker: &mut dyn Taker<T>,
) {
    // The first piece is the caller's, whichever thread is the first to run.
    let (next, ended) = (AtomicUsize::new(count.min(1)), AtomicBool::new(false));
    let claim = || {
        let claimed = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            (next < count && !ended.load(Ordering::Relaxed)).then_some(next + 1)
        });
        claimed.ok()
    };
    let helpers = Helpers::of(threads.min(count).saturating_sub(1));
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..helpers.0 {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some(position) = claim() {
                    // Nobody listens any more where nothing more is wanted.
                    let _wanted = sender.send((position, work(position)));
                }
            });
        }
        drop(sender);
        // Whatever ends this, a panic too, helpers begin nothing more.
        let _end = End(&ended);
        Turn { count, work, claim: &claim, next: &next, results, early: BTreeMap::new() }.run(taker);
    });
}

/// Says at its end that nothing more is wanted.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the thread that calls does meanwhile.
struct Turn<'a, T> {
    count: usize,
    work: &'a (dyn Fn(usize) -> T + Sync),
    claim: &'a dyn Fn() -> Option<usize>,
    next: &'a AtomicUsize,
    results: Receiver<(usize, T)>,
    /// Results whose turn has not come.
    early: BTreeMap<usize, T>,
}

impl<T> Turn<'_, T> {
    fn run(&mut self, taker: &mut dyn Taker<T>) {
        for position in 0..self.count {
            let claimed =
                self.next.compare_exchange(position, position + 1, Ordering::Relaxed, Ordering::Relaxed);
            let is_free = position == 0 || claimed.is_ok();
            let result = match taker.next(position, is_free) {
                Some(result) => result,
                None if is_free => (self.work)(position),
                None => match self.awaited(position) {
                    Some(result) => result,
                    // A helper has panicked, which the end of the scope tells.
                    None => return,
                },
            };
            if !taker.take(position, result) {
                return;
            }
        }
    }

    /// The result of a piece that somebody else has begun; others are carried out meanwhile.
    fn awaited(&mut self, position: usize) -> Option<T> {
        loop {
            self.early.extend(self.results.try_iter());
            if let Some(result) = self.early.remove(&position) {
                return Some(result);
            }
            match (self.claim)() {
                Some(other) => drop(self.early.insert(other, (self.work)(other))),
                None => self.early.extend([self.results.recv().ok()?]),
            }
        }
    }
}

/// Helpers taken from those that there may be, until it is dropped.
struct Helpers(usize);

impl Helpers {
    /// As many as there are left, and no more than `wanted`.
    fn of(wanted: usize) -> Helpers {
        let most = processors().saturating_sub(1).max(LEAST);
        let mut taken = 0;
        let _ = HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |others| {
            taken = wanted.min(most.saturating_sub(others));
            Some(others + taken)
        });
        Helpers(taken)
    }
}

/// On one processor a helper is of no use but where a test asks for threads.
const LEAST: usize = 1;

impl Drop for Helpers {
    fn drop(&mut self) {
        let at_work = HELPERS.fetch_sub(self.0, Ordering::Relaxed);
        debug_assert!(at_work >= self.0, "none is given back that was not taken");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(count: usize, threads: usize, wanted: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        in_order(
            count,
            threads,
            &|position| {
                // The earlier ones take longer, so that later ones are there before them.
                let turns = (count - position) * 2_000;
                assert!((0..turns).fold(1u64, |sum, at| std::hint::black_box(sum ^ at as u64)) < u64::MAX);
                position * position
            },
            &mut |position: usize, result: usize| {
                assert_eq!(result, position * position);
                taken.push(position);
                taken.len() < wanted
            },
        );
        taken
    }

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for threads in [0, 1, 2, 7] {
            assert_eq!(collected(40, threads, 40), (0..40).collect::<Vec<_>>(), "{threads}");
        }
        assert!(collected(0, 4, 9).is_empty());
    }

    #[test]
    fn nothing_is_taken_once_nothing_more_is_wanted() {
        for threads in [1, 3] {
            assert_eq!(collected(40, threads, 5), [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn a_piece_may_have_pieces_of_its_own() {
        let mut sums = Vec::new();
        let work = |outer: usize| {
            let mut sum = 0;
            in_order(5, 4, &|inner| outer * inner, &mut |_: usize, one: usize| {
                sum += one;
                true
            });
            sum
        };
        in_order(4, 4, &work, &mut |_: usize, sum: usize| {
            sums.push(sum);
            true
        });
        assert_eq!(sums, [0, 10, 20, 30]);
    }

    #[test]
    fn the_first_piece_is_free_for_the_thread_that_calls_however_soon_helpers_are() {
        struct Here(Vec<bool>);
        impl Taker<()> for Here {
            fn next(&mut self, position: usize, is_free: bool) -> Option<()> {
                self.0.extend((position == 0).then_some(is_free));
                None
            }

            fn take(&mut self, _: usize, (): ()) -> bool {
                true
            }
        }
        let mut here = Here(Vec::new());
        for _ in 0..2_000 {
            in_order(2, 2, &|_| (), &mut here);
        }
        assert!(here.0.iter().all(|is_free| *is_free));
        assert_eq!(here.0.len(), 2_000);
    }

    #[test]
    fn a_panic_of_a_piece_is_one_of_the_whole() {
        let result = std::panic::catch_unwind(|| {
            in_order(6, 2, &|position| assert_ne!(position, 3), &mut |_: usize, ()| true);
        });
        assert!(result.is_err());
    }
}
