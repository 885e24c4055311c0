//! A limit on what is outstanding, and who waits for it.
//!
//! **Invariant:** nobody waits while there is room, and those that wait pass in order of arrival, but for what may wait
//! longer: it lets others pass.

use std::collections::VecDeque;

/// A limit on what is outstanding, and who waits for it.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    inside: u32,
    waiting: VecDeque<u32>,
    /// Those that let others pass.
    patient: VecDeque<u32>,
    /// How many passed the first of them.
    passed: u32,
}

/// How many pass one that is patient before it is its turn.
///
/// Linux, Documentation/block/deadline-iosched.rst: two batches (`writes_starved`) of sixteen (`fifo_batch`) to one of
/// writes.
const PASS: u32 = 2;

impl Gate {
    /// Whether `request` may pass now; if not it waits.
    pub fn enter(&mut self, limit: u32, request: u32) -> bool {
        let passes = self.has_room(limit);
        if !passes {
            self.waiting.push_back(request);
        }
        passes
    }

    /// The same of one that nobody waits for: where there is no room, others pass it, two for each of its kind.
    pub fn enter_patiently(&mut self, limit: u32, request: u32) -> bool {
        let passes = self.has_room(limit);
        if !passes {
            self.patient.push_back(request);
        }
        passes
    }

    fn has_room(&mut self, limit: u32) -> bool {
        let passes = self.inside < limit.max(1);
        debug_assert!(
            !passes || self.waiting.len() + self.patient.len() == 0,
            "nobody may wait while there is room"
        );
        self.inside += u32::from(passes);
        passes
    }

    /// How many are inside, and how many of those that wait are waited for.
    pub fn counts(&self) -> [u64; 2] {
        [u64::from(self.inside), self.waiting.len() as u64]
    }

    /// How many are inside or wait.
    pub fn present(&self) -> usize {
        self.inside as usize + self.waiting.len() + self.patient.len()
    }

    /// One that was inside has left; the one that takes its place.
    pub fn leave(&mut self) -> Option<u32> {
        debug_assert!(self.inside > 0, "who leaves must have been inside");
        let patient = self.waiting.is_empty() || self.passed >= PASS && !self.patient.is_empty();
        self.passed = if patient || self.patient.is_empty() { 0 } else { self.passed + 1 };
        let next = if patient { self.patient.pop_front() } else { self.waiting.pop_front() };
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

    #[test]
    fn what_nobody_waits_for_lets_two_others_pass_and_then_has_its_turn() {
        let mut gate = Gate::default();
        assert!(gate.enter_patiently(1, 0));
        (10..13).for_each(|request| assert!(!gate.enter_patiently(1, request)));
        (20..25).for_each(|request| assert!(!gate.enter(1, request)));
        assert_eq!(gate.present(), 9);
        let order: Vec<u32> = std::iter::from_fn(|| gate.leave()).collect();
        assert_eq!(order, [20, 21, 10, 22, 23, 11, 24, 12]);
        assert_eq!(gate.present(), 0);
    }
}
