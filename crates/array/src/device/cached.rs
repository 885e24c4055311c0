//! Flash modules behind a large DRAM cache, as one device (the RamSan-500 kind).

use units::{Bytes, BytesPerSecond, Nanos};

/// The figures of a cached flash array.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedFlashParams {
    /// User capacity.
    pub capacity: Bytes,
    /// DRAM, battery-backed: reads hit what is in it, writes end in it.
    pub cache: Bytes,
    /// Bytes of a cache line: what a miss fetches and a destage writes.
    pub line: Bytes,
    /// A read or write in the cache.
    pub hit: Nanos,
    /// Flash regions that work at once.
    pub regions: u32,
    /// A line from flash: what a miss adds to a hit, and how long it holds a region.
    pub read: Nanos,
    /// How long destaging a line holds a region.
    pub write: Nanos,
    /// Each direction between cache and hosts.
    pub bandwidth: BytesPerSecond,
    /// Between flash and cache, sustained.
    pub flash_bandwidth: BytesPerSecond,
    /// Share of the cache that may wait to be written to flash.
    pub dirty_limit: units::Share,
}
