//! Answers of one connection, which go out when a model says.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::limits;

/// What takes bytes without waiting, as far as it has room for them.
pub trait Sink: Send + Sync {
    /// How many of the bytes it has taken at once: none where it has no room or is broken.
    fn take_at_once(&self, bytes: &[u8]) -> usize;
    /// Takes all of them, and waits for room.
    fn take_all(&self, bytes: &[u8]) -> io::Result<()>;
    /// Nothing comes in or goes out any more.
    fn shut(&self);
}

/// Answers on their way to a client.
///
/// Who has the model gives each answer to the client itself, so that it is there when the model says and not one wake-up of a thread
/// later. What the client has no room for waits for [`Answers::send_all`], a thread of its own, so that a slow client holds nobody up.
pub struct Answers<S> {
    sink: S,
    state: Mutex<State>,
    /// A request may come in.
    room: Condvar,
    /// There is something to send, or nothing more to wait for.
    work: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests whose answers have not gone out.
    under_way: usize,
    /// What waits for room, in order.
    queue: Vec<u8>,
    /// How many answers end in it.
    queued: usize,
    /// Whether bytes before the queue are on their way.
    is_sending: bool,
    /// Whether no more requests come.
    is_closed: bool,
    /// Whether the client takes no answers any more.
    is_gone: bool,
}

impl<S: Sink> Answers<S> {
    /// Without an answer yet.
    pub fn to(sink: S) -> Arc<Answers<S>> {
        Arc::new(Answers { sink, state: Mutex::default(), room: Condvar::new(), work: Condvar::new() })
    }

    /// The right to one answer, once fewer than [`limits::IN_FLIGHT`] are under way.
    pub fn ticket(self: &Arc<Self>) -> Ticket<S> {
        let mut state = self.lock();
        while state.under_way >= limits::IN_FLIGHT {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way += 1;
        Ticket(Some(self.clone()))
    }

    /// No more requests come: [`Answers::send_all`] ends once the last answer has gone out.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.work.notify_all();
    }

    /// Sends what had no room at once, until the last answer has gone out or its ticket is dropped.
    pub fn send_all(&self) {
        let mut state = self.lock();
        loop {
            while state.queue.is_empty() && !(state.is_closed && state.under_way == 0) {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.queue.is_empty() {
                return;
            }
            let bytes = std::mem::take(&mut state.queue);
            let answers = std::mem::take(&mut state.queued);
            state.is_sending = true;
            drop(state);
            let sent = self.sink.take_all(&bytes);
            state = self.lock();
            state.is_sending = false;
            self.leave(&mut state, answers);
            if sent.is_err() {
                state.is_gone = true;
                state.queue.clear();
                let unsent = std::mem::take(&mut state.queued);
                self.leave(&mut state, unsent);
                self.sink.shut();
            }
        }
    }

    fn give(&self, answer: &[u8]) {
        let mut state = self.lock();
        if state.is_gone {
            return self.leave(&mut state, 1);
        }
        let is_next = state.queue.is_empty() && !state.is_sending;
        let sent = if is_next { self.sink.take_at_once(answer) } else { 0 };
        assert!(sent <= answer.len(), "no more goes out than there is");
        if sent == answer.len() {
            return self.leave(&mut state, 1);
        }
        state.queue.extend_from_slice(&answer[sent..]);
        state.queued += 1;
        self.work.notify_all();
    }

    fn leave(&self, state: &mut MutexGuard<'_, State>, answers: usize) {
        assert!(state.under_way >= answers + state.queued, "who leaves has entered, and so has who waits");
        debug_assert_eq!(state.queue.is_empty(), state.queued == 0, "there are bytes of what waits");
        state.under_way -= answers;
        if state.under_way == 0 && state.is_closed {
            self.work.notify_all();
        }
        self.room.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to one answer; dropped, there is none.
pub struct Ticket<S: Sink>(Option<Arc<Answers<S>>>);

impl<S: Sink> Ticket<S> {
    /// Has the answer go out: at once where the client has room for it.
    pub fn give(mut self, answer: &[u8]) {
        if let Some(answers) = self.0.take() {
            answers.give(answer);
        }
    }
}

impl<S: Sink> Drop for Ticket<S> {
    fn drop(&mut self) {
        if let Some(answers) = self.0.take() {
            answers.leave(&mut answers.lock(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// Has room for so many bytes at once, and for all of them whoever waits, unless it is broken.
    #[derive(Default)]
    struct Narrow {
        room: AtomicUsize,
        is_broken: AtomicBool,
        is_shut: AtomicBool,
        taken: Mutex<Vec<u8>>,
    }

    impl Sink for Arc<Narrow> {
        fn take_at_once(&self, bytes: &[u8]) -> usize {
            let count = bytes.len().min(self.room.load(Ordering::Relaxed));
            self.taken.lock().unwrap().extend_from_slice(&bytes[..count]);
            count
        }

        fn take_all(&self, bytes: &[u8]) -> io::Result<()> {
            if self.is_broken.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.taken.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn shut(&self) {
            self.is_shut.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn answers_go_out_whole_and_in_order_however_little_room_a_client_has() {
        for room in [0, 1, 3, 100] {
            let sink = Arc::new(Narrow { room: room.into(), ..Narrow::default() });
            let answers = Answers::to(sink.clone());
            std::thread::scope(|scope| {
                scope.spawn(|| answers.send_all());
                for number in 0..5000_u32 {
                    answers.ticket().give(&number.to_be_bytes());
                }
                answers.close();
            });
            let wanted: Vec<u8> = (0..5000_u32).flat_map(u32::to_be_bytes).collect();
            assert_eq!(*sink.taken.lock().unwrap(), wanted, "room for {room} bytes");
        }
    }

    #[test]
    fn no_more_requests_come_in_than_have_room_until_an_answer_is_out() {
        let answers = Answers::to(Arc::new(Narrow { room: 100.into(), ..Narrow::default() }));
        let mut tickets: Vec<_> = (0..limits::IN_FLIGHT).map(|_| answers.ticket()).collect();
        let has_come = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(answers.ticket());
                has_come.store(true, Ordering::SeqCst);
            });
            crate::clock::wait(std::time::Duration::from_millis(20));
            assert!(!has_come.load(Ordering::SeqCst));
            tickets.pop().unwrap().give(b"one");
        });
        assert!(has_come.load(Ordering::SeqCst));
    }

    #[test]
    fn a_client_that_is_gone_and_a_ticket_that_is_dropped_hold_nothing_up() {
        let sink = Arc::new(Narrow { is_broken: true.into(), ..Narrow::default() });
        let answers = Answers::to(sink.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| answers.send_all());
            (0..100).for_each(|_| answers.ticket().give(b"unwanted"));
            drop(answers.ticket());
            answers.close();
        });
        assert!(sink.is_shut.load(Ordering::Relaxed));
        assert_eq!(answers.lock().under_way, 0);
    }
}
