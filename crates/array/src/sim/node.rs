//! A controller with its surroundings: cache, what it accepts, the way to its partner.

use crate::controller::ControllerParams;
use crate::link::Link;
use crate::raid::Geometry;
use crate::wire::Wire;

use super::cache::Cache;
use super::host::Gate;

/// A controller beside its engine.
pub struct Node {
    /// Its cache, if it has one.
    pub cache: Option<Cache>,
    /// What it has accepted, and what waits outside.
    pub gate: Gate,
    /// The way to its partner.
    pub partner: Option<Link>,
    /// Whether it works.
    pub alive: bool,
    /// Whether the tick of its cache is in the queue.
    pub ticking: bool,
}

impl Node {
    /// A working controller with an empty cache; the way to its partner is laid among `wires`.
    pub fn new<'g>(
        params: &ControllerParams,
        sets: impl Iterator<Item = &'g Geometry>,
        wires: &mut Vec<Wire>,
    ) -> Node {
        Node {
            cache: params.cache.as_ref().map(|cache| Cache::new(cache, sets)),
            gate: Gate::default(),
            partner: params.partner.as_ref().map(|partner| Link::lay(partner, wires)),
            alive: true,
            ticking: false,
        }
    }
}
