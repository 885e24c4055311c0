//! Transfers that take turns on one lane of a link, a quantum each, round after round.
//!
//! Between two changes of who is present the turns are known in closed form: who ends next, when, and how far the
//! others are then. So a lane costs work where somebody comes or ends, and none for a quantum.
//!
//! **Invariant:** the lane never rests while somebody is present, and what it did is what all have moved.

use units::convert::narrow;
/// Those present on one lane.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// In the order of their turns. Who comes waits for those who have not had theirs in the round under way.
    ring: Vec<Turn>,
    /// Whose turn it is.
    turn: usize,
    /// How much of it has passed.
    into: u64,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    who: u32,
    left: u64,
    /// Whether it goes between the turns of others.
    between: bool,
}

/// Who ends next, and after how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Until then, in nanoseconds.
    pub after: u64,
    index: usize,
}

impl Turns {
    /// How many are present.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether nobody is.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Has `who` join with `work` of at least one nanosecond; its first turn comes at the end of the present round.
    #[inline]
    pub fn join(&mut self, who: u32, work: u64) {
        debug_assert!(work > 0, "who joins must have work");
        self.ring.push(Turn { who, left: work, between: false });
    }

    /// The same for one that waits for no round: it follows the turn under way, and those that came like it.
    pub fn join_between(&mut self, who: u32, work: u64) {
        debug_assert!(work > 0, "who joins must have work");
        let mut at = (self.turn + 1).min(self.ring.len());
        while self.ring.get(at).is_some_and(|turn| turn.between) {
            at += 1;
        }
        self.ring.insert(at, Turn { who, left: work, between: true });
    }

    /// Those present and what each has left, in nanoseconds.
    pub fn each(&self) -> impl Iterator<Item = (u32, u64)> {
        self.ring.iter().map(|turn| (turn.who, turn.left))
    }

    /// Who ends next if nobody comes; `None` where nobody is present.
    #[inline]
    pub fn next(&self, quantum: u64) -> Option<Next> {
        match self.ring[..] {
            [] => None,
            [only] => Some(Next { after: only.left, index: 0 }),
            _ => self.next_of_several(quantum),
        }
    }

    fn next_of_several(&self, quantum: u64) -> Option<Next> {
        let (index, rounds, place) = self.first_to_end(quantum)?;
        let before: u64 = (0..self.ring.len())
            .filter(|&other| other != index)
            .map(|other| self.moved(other, rounds + u64::from(self.place(other) < place), quantum))
            .sum();
        Some(Next { after: before + self.ring[index].left, index })
    }

    /// Who ends first if nobody comes, after how many full rounds, and its place in a round.
    ///
    /// Rounds are counted of the one that has the least left: a division for each of those present would cost more than all
    /// the rest.
    fn first_to_end(&self, quantum: u64) -> Option<(usize, u64, usize)> {
        // One that has nothing left is on its way out already.
        if let Some(index) = self.ring.iter().position(|turn| turn.left == 0) {
            return Some((index, 0, 0));
        }
        let beyond = |index: usize| self.ring[index].left.saturating_sub(self.first_turn(index, quantum));
        let each = 0..self.ring.len();
        let rounds = each.clone().map(beyond).min()?.div_ceil(quantum);
        let ends = |&index: &usize| beyond(index) <= rounds.saturating_mul(quantum);
        let index = each.filter(ends).min_by_key(|&index| self.place(index))?;
        debug_assert_eq!(self.order(index, quantum), (rounds, self.place(index)), "it ends in that round");
        Some((index, rounds, self.place(index)))
    }

    /// Lets `time` pass, in which nobody ends.
    #[inline]
    pub fn pass(&mut self, time: u64, quantum: u64) {
        let count = self.ring.len();
        if count == 0 || time == 0 {
            return;
        }
        if let [only] = &mut self.ring[..] {
            only.left -= time;
            self.into = (self.into + time) % quantum;
            return;
        }
        // As if the turn under way began now, and its holder had yet to move what it has moved of it.
        self.ring[self.turn].left += self.into;
        let (round, time) = (quantum * count as u64, time + self.into);
        let (rounds, rest) = (time / round, time % round);
        let (ended, into) = (narrow::<usize>(rest / quantum), rest % quantum);
        for index in 0..count {
            let place = self.place(index);
            let last = if place < ended { quantum } else { into * u64::from(place == ended) };
            self.ring[index].left -= rounds * quantum + last;
        }
        (self.turn, self.into) = ((self.turn + ended) % count, into);
    }

    /// Carries out what [`Turns::next`] said: who has ended.
    #[inline]
    pub fn end(&mut self, next: Next, quantum: u64) -> u32 {
        debug_assert!(next.index < self.ring.len(), "who ends must be present");
        if let [only] = self.ring[..] {
            self.ring.clear();
            (self.turn, self.into) = (0, 0);
            return only.who;
        }
        let (rounds, place) = self.order(next.index, quantum);
        for other in (0..self.ring.len()).filter(|&other| other != next.index) {
            let moved = self.moved(other, rounds + u64::from(self.place(other) < place), quantum);
            self.ring[other].left -= moved;
        }
        let who = self.ring.remove(next.index).who;
        (self.turn, self.into) = (next.index % self.ring.len().max(1), 0);
        who
    }

    /// Takes out the one whose turn is farthest away, of two or more, with what it has left.
    pub fn give_up(&mut self) -> Option<(u32, u64)> {
        let count = self.ring.len();
        if count < 2 {
            return None;
        }
        let index = (self.turn + count - 1) % count;
        self.turn -= usize::from(index < self.turn);
        let Turn { who, left, .. } = self.ring.remove(index);
        Some((who, left))
    }

    /// Where in the rounds one ends if nobody comes: full rounds before its last turn, and its place in a round.
    #[inline]
    fn order(&self, index: usize, quantum: u64) -> (u64, usize) {
        if self.ring[index].left == 0 {
            return (0, 0);
        }
        let beyond = self.ring[index].left.saturating_sub(self.first_turn(index, quantum));
        (beyond.div_ceil(quantum), self.place(index))
    }

    /// How many are before it in the round that begins with the present turn.
    #[inline]
    fn place(&self, index: usize) -> usize {
        if index >= self.turn { index - self.turn } else { index + self.ring.len() - self.turn }
    }

    /// How long its next turn can be.
    #[inline]
    fn first_turn(&self, index: usize, quantum: u64) -> u64 {
        if index == self.turn { quantum - self.into } else { quantum }
    }

    /// What one that does not end moves in that many turns.
    #[inline]
    fn moved(&self, index: usize, turns: u64, quantum: u64) -> u64 {
        if turns == 0 { 0 } else { self.first_turn(index, quantum) + (turns - 1) * quantum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ends in order, where each joins at its instant with its work: the closed form.
    fn ends(joins: &[(u64, u64)], quantum: u64) -> Vec<(u32, u64)> {
        let (mut turns, mut now, mut ends) = (Turns::default(), 0, Vec::new());
        let mut joins = (0..).zip(joins).peekable();
        loop {
            let next = turns.next(quantum);
            let end = next.map_or(u64::MAX, |next| now + next.after);
            match (joins.peek(), next) {
                (Some(&(who, &(at, work))), _) if at < end => {
                    turns.pass(at - now, quantum);
                    (now, _) = (at, joins.next());
                    turns.join(who, work);
                }
                (_, Some(next)) => {
                    ends.push((turns.end(next, quantum), end));
                    now = end;
                }
                _ => return ends,
            }
        }
    }

    /// The same, nanosecond by nanosecond.
    fn ends_step_by_step(joins: &[(u64, u64)], quantum: u64) -> Vec<(u32, u64)> {
        let mut round = std::collections::VecDeque::new();
        let mut served: std::collections::VecDeque<(u32, u64)> = std::collections::VecDeque::new();
        let (mut into, mut ends) = (0, Vec::new());
        for now in 0.. {
            if round.is_empty() {
                // The round is over: those who have had their turn begin the next, in the order they came.
                round.extend(served.drain(..));
                round.make_contiguous().sort_unstable();
            }
            round.extend((0..).zip(joins).filter(|(_, join)| join.0 == now).map(|(who, join)| (who, join.1)));
            let Some((who, left)) = round.front_mut() else {
                if joins.iter().all(|join| join.0 < now) {
                    return ends;
                }
                continue;
            };
            (*left, into) = (*left - 1, into + 1);
            if *left == 0 {
                ends.push((*who, now + 1));
                (_, into) = (round.pop_front(), 0);
            } else if into == quantum {
                (_, into) = (round.pop_front().map(|turn| served.push_back(turn)), 0);
            }
        }
        ends
    }

    #[test]
    fn two_equal_transfers_end_a_quantum_apart_at_twice_the_time_of_one() {
        assert_eq!(ends(&[(0, 1_000), (0, 1_000)], 10), [(0, 1_990), (1, 2_000)]);
    }

    #[test]
    fn a_small_transfer_behind_a_large_one_waits_for_the_quantum_under_way() {
        assert_eq!(ends(&[(0, 1_000), (205, 3)], 10), [(1, 213), (0, 1_003)]);
    }

    #[test]
    fn what_is_no_longer_than_a_quantum_leaves_in_the_order_it_came() {
        assert_eq!(ends(&[(0, 9), (1, 10), (2, 3)], 10), [(0, 9), (1, 19), (2, 22)]);
    }

    #[test]
    fn one_that_comes_at_the_instant_of_an_end_does_not_delay_it() {
        let mut turns = Turns::default();
        turns.join(0, 10);
        turns.join(1, 30);
        turns.pass(10, 10);
        turns.join(2, 5);
        let next = turns.next(10).expect("three are present");
        assert_eq!((next.after, turns.end(next, 10)), (0, 0));
        let next = turns.next(10).expect("two are present");
        assert_eq!((next.after, turns.end(next, 10)), (15, 2));
    }

    #[test]
    fn one_that_goes_between_waits_for_the_turn_under_way_and_for_no_round() {
        let mut turns = Turns::default();
        (0..5).for_each(|who| turns.join(who, 100));
        turns.pass(13, 10);
        turns.join_between(7, 2);
        turns.join_between(8, 2);
        let ended = |turns: &mut Turns| {
            let next = turns.next(10).expect("some are present");
            (turns.end(next, 10), next.after)
        };
        // Seven of the second turn are left.
        assert_eq!((ended(&mut turns), ended(&mut turns)), ((7, 9), (8, 2)));
        assert_eq!(turns.each().map(|(_, left)| left).collect::<Vec<_>>(), [90, 90, 100, 100, 100]);
    }

    proptest! {
        #[test]
        fn the_closed_form_ends_each_transfer_when_its_last_quantum_has_moved(
            joins in proptest::collection::vec((0u64..300, 1u64..120), 1..12),
            quantum in 1u64..40,
        ) {
            let mut joins = joins;
            joins.sort_unstable_by_key(|join| join.0);
            prop_assert_eq!(ends(&joins, quantum), ends_step_by_step(&joins, quantum));
        }
    }
}
