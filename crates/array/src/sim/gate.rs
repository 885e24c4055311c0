//! A limit on what is outstanding, and who waits for it.
//!
//! **Invariant:** nobody waits while there is room, and those that wait pass in order of arrival.

use std::collections::VecDeque;

/// A limit on what is outstanding, and who waits for it.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    inside: u32,
    waiting: VecDeque<u32>,
}

impl Gate {
    /// Whether `request` may pass now; if not it waits.
    pub fn enter(&mut self, limit: u32, request: u32) -> bool {
        let passes = self.inside < limit.max(1);
        if passes {
            debug_assert!(self.waiting.is_empty(), "no waiting request may be overtaken");
            self.inside += 1;
        } else {
            self.waiting.push_back(request);
        }
        passes
    }

    /// How many are inside or wait.
    pub fn present(&self) -> usize {
        self.inside as usize + self.waiting.len()
    }

    /// One that was inside has left; the one that takes its place.
    pub fn leave(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        debug_assert!(self.inside > 0, "who leaves must have been inside");
        if next.is_none() {
            self.inside -= 1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_lets_through_its_limit_and_then_one_for_one() {
        let mut gate = Gate::default();
        assert!(gate.enter(2, 10) && gate.enter(2, 11) && !gate.enter(2, 12));
        assert_eq!(gate.leave(), Some(12));
        assert_eq!(gate.leave(), None);
        assert!(gate.enter(2, 13) && !gate.enter(2, 14));
    }
}
