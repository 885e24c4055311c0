//! Locks by address on the members: two writers of a stripe exclude each other, and so do a reader and a writer.
//!
//! **Invariant:** whoever needs several takes them in ascending order, so no two wait for each other.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use units::convert::narrow;

const SHARDS: u64 = 256;

/// Locks over the addresses of a set's members.
#[derive(Debug)]
pub struct RowLocks {
    shards: Vec<RwLock<()>>,
    granule: u64,
}

/// Locks that are held.
pub enum RowGuard<G> {
    /// The usual.
    One(G),
    /// Of a request that spans several.
    Many(Vec<G>),
}

impl RowLocks {
    /// Locks for rows that are `height` sectors high: about a mebibyte of each member is one.
    pub fn new(height: u64) -> RowLocks {
        assert!(height > 0, "a row has sectors");
        let granule = height * (2048_u64.div_ceil(height));
        debug_assert!(granule.is_multiple_of(height), "no row is in two locks");
        RowLocks { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), granule }
    }

    /// Others may read between `from` and `to` meanwhile, and nobody writes.
    #[inline]
    pub fn shared(&self, from: u64, to: u64) -> RowGuard<RwLockReadGuard<'_, ()>> {
        self.held(from, to, |shard| shard.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nobody else reads or writes between `from` and `to` meanwhile.
    #[inline]
    pub fn exclusive(&self, from: u64, to: u64) -> RowGuard<RwLockWriteGuard<'_, ()>> {
        self.held(from, to, |shard| shard.write().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn held<'a, G>(&'a self, from: u64, to: u64, lock: impl Fn(&'a RwLock<()>) -> G) -> RowGuard<G> {
        debug_assert!(from <= to, "a range begins before it ends");
        let (first, last) = (from / self.granule, (to.max(from + 1) - 1) / self.granule);
        if first == last {
            return RowGuard::One(lock(&self.shards[narrow::<usize>(first % SHARDS)]));
        }
        let all = if last - first >= SHARDS - 1 { 0..SHARDS } else { first..last + 1 };
        RowGuard::Many(ascending(all).map(|shard| lock(&self.shards[shard])).collect())
    }
}

fn ascending(granules: Range<u64>) -> impl Iterator<Item = usize> {
    let mut shards: Vec<usize> = granules.map(|granule| narrow::<usize>(granule % SHARDS)).collect();
    shards.sort_unstable();
    debug_assert!(shards.windows(2).all(|two| two[0] < two[1]), "no lock is taken twice");
    shards.into_iter()
}
