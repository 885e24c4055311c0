//! Independent simulations on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What `of` makes of each of `0..count`, in that order. The last begin first: in a sweep they are the longest.
pub(super) fn all<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(count);
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let work = || {
        while let Some(number) = count.checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) {
            let one = of(number);
            made.lock().unwrap_or_else(PoisonError::into_inner).push((number, one));
        }
    };
    thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_made_comes_back_in_order_whoever_made_it() {
        assert_eq!(
            super::all(100, |number| number * 2),
            (0..100).map(|number| number * 2).collect::<Vec<_>>()
        );
        assert_eq!(super::all(0, |number| number), Vec::<usize>::new());
    }
}
