//! Where what the model says of a request and its answer meet.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::lateness::{Late, Lateness};
use super::{LARGEST, ModelRequest};
use crate::clock::Clock;

/// What is done with an answer whose time has come; `false` where the model's host has had none.
pub type Deliver = Box<dyn FnOnce(bool) + Send>;

/// A request that the model has had since it came, while its data are on their way; dropped, it has no answer.
pub struct Pending(pub(super) Arc<Meeting>);

impl Pending {
    /// Has `deliver` be called when the model has completed the request: at once where it has already.
    pub fn answer(self, deliver: Deliver) {
        self.0.answer(deliver);
    }
}

/// Where what the model says of a request and its answer meet: the later of both has it go out.
pub(super) struct Meeting {
    sides: Mutex<Sides>,
    clock: Clock,
    lateness: Arc<Late>,
}

struct Sides {
    /// What of the request the model has not completed.
    pieces: u64,
    /// Whether the model's host has an answer to all that is completed.
    is_answered: bool,
    /// When the model had completed the last of it by the clock; `None` where it has had no time for it.
    due: Option<Duration>,
    answer: Option<Deliver>,
}

impl Meeting {
    /// Of one that nothing is known of yet.
    pub fn of(asked: &ModelRequest, clock: Clock, lateness: Arc<Late>) -> Arc<Meeting> {
        let pieces = asked.len.div_ceil(LARGEST).max(1);
        let sides = Sides { pieces, is_answered: true, due: None, answer: None };
        Arc::new(Meeting { sides: Mutex::new(sides), clock, lateness })
    }

    /// The model has completed a piece.
    pub fn complete(&self, is_answered: bool, due: Duration) {
        let mut sides = self.lock();
        debug_assert!(sides.pieces > 0, "a piece is completed once");
        sides.pieces = sides.pieces.saturating_sub(1);
        sides.is_answered &= is_answered;
        sides.due = Some(due);
        self.meet(sides);
    }

    /// Nothing more comes from the model.
    pub fn end(&self, is_answered: bool) {
        let mut sides = self.lock();
        if sides.pieces > 0 {
            (sides.pieces, sides.is_answered, sides.due) = (0, is_answered, None);
            self.meet(sides);
        }
    }

    fn answer(&self, deliver: Deliver) {
        let mut sides = self.lock();
        sides.answer = Some(deliver);
        self.meet(sides);
    }

    fn meet(&self, mut sides: MutexGuard<'_, Sides>) {
        let is_complete = sides.pieces == 0;
        let Some(deliver) = sides.answer.take_if(|_| is_complete) else { return };
        let Sides { is_answered, due, .. } = *sides;
        drop(sides);
        let late = |by: &Lateness| {
            if let Some(due) = due {
                by.add(self.clock.now().saturating_sub(due));
            }
        };
        late(&self.lateness.sent);
        deliver(is_answered);
        late(&self.lateness.taken);
    }

    fn lock(&self) -> MutexGuard<'_, Sides> {
        self.sides.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::pace::Op;

    fn meeting(len: u64) -> (Arc<Meeting>, Arc<Late>) {
        let late = Arc::new(Late::default());
        let asked = ModelRequest { lun: 0, op: Op::Write, offset: 0, len };
        (Meeting::of(&asked, Clock::start(), late.clone()), late)
    }

    fn answering(meeting: &Arc<Meeting>) -> Receiver<bool> {
        let (tell, told) = channel();
        Pending(meeting.clone()).answer(Box::new(move |is_answered| tell.send(is_answered).unwrap()));
        told
    }

    #[test]
    fn an_answer_goes_out_with_the_later_of_the_model_and_the_data_and_is_counted_once() {
        let (slow_model, late) = meeting(4096);
        let told = answering(&slow_model);
        assert!(told.try_recv().is_err(), "the model has not completed it");
        slow_model.complete(true, Duration::ZERO);
        assert_eq!(told.try_recv(), Ok(true));
        assert_eq!((late.sent.mean().0, late.taken.mean().0), (1, 1));

        let (slow_data, late) = meeting(4096);
        slow_data.complete(false, Duration::ZERO);
        assert_eq!(late.sent.mean().0, 0, "nothing is sent without data");
        assert_eq!(answering(&slow_data).try_recv(), Ok(false));
        assert_eq!(late.sent.mean().0, 1);
    }

    #[test]
    fn an_answer_waits_for_all_pieces_of_its_request() {
        let (large, _) = meeting(3 * LARGEST - 512);
        let told = answering(&large);
        large.complete(true, Duration::ZERO);
        large.complete(false, Duration::ZERO);
        assert!(told.try_recv().is_err());
        large.complete(true, Duration::ZERO);
        assert_eq!(told.try_recv(), Ok(false), "a piece without an answer is a request without one");
    }

    #[test]
    fn a_model_that_ends_answers_once_and_counts_no_time() {
        let (ended, late) = meeting(2 * LARGEST);
        let told = answering(&ended);
        ended.end(true);
        ended.end(false);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [true]);
        assert_eq!(late.sent.mean().0, 0);
        let (forgotten, _) = meeting(512);
        drop(Pending(forgotten.clone()));
        forgotten.complete(true, Duration::ZERO);
    }
}
