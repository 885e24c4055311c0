//! Slots by their numbers, over and over.

/// A list of slots, and where in it the next one is.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    listed: Vec<u64>,
    next: usize,
    /// Where the round begins.
    base: u64,
    /// From the start of a round to that of the next.
    step: u64,
    slots: u64,
}

impl Sequence {
    /// The list within so many slots; what lies beyond the last one begins again with the first.
    pub(super) fn new(listed: &[u64], moves: bool, slots: u64) -> Sequence {
        assert!(!listed.is_empty() && slots > 0, "a sequence has a slot");
        let step = if moves { listed.len() as u64 } else { 0 };
        Sequence { listed: listed.to_vec(), next: 0, base: 0, step, slots }
    }

    pub(super) fn next(&mut self) -> u64 {
        let slot = (self.base + self.listed[self.next] % self.slots) % self.slots;
        self.next += 1;
        if self.next == self.listed.len() {
            self.next = 0;
            self.base = (self.base + self.step) % self.slots;
        }
        slot
    }
}
