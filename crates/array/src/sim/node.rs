//! A controller with its cache.

use crate::controller::ControllerParams;
use crate::raid::Geometry;

use super::cache::Cache;

/// A controller beside its engine.
pub struct Node {
    /// Its cache, if it has one.
    pub cache: Option<Cache>,
    /// Whether it works.
    pub alive: bool,
    /// Whether the tick of its cache is in the queue.
    pub ticking: bool,
}

impl Node {
    /// A working controller with an empty cache.
    pub fn new<'g>(params: &ControllerParams, sets: impl Iterator<Item = &'g Geometry>) -> Node {
        let cache = params.cache.as_ref().map(|cache| Cache::new(cache, sets));
        Node { cache, alive: true, ticking: false }
    }
}
