//! How bytes get from one rank to another.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Carries messages between ranks, each whole and in the order in which its sender sent them.
pub trait Transport: Send + Sync {
    /// Which rank this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends to that rank, and waits for nothing. What goes to one that has ended is lost.
    fn send(&self, to: usize, bytes: Vec<u8>);

    /// Messages are to come at once, and their time matters: one that looks for them now and then looks often for a moment.
    fn expect(&self) {}

    /// A message may be `wait` old before it is received: for one that looks for them now and then.
    fn look_every(&self, _wait: Duration) {}

    /// The next message and who sent it; `None` where none came within `wait`.
    fn receive(&self, wait: Duration) -> Option<(usize, Vec<u8>)>;
}

/// Ranks that are threads of one process.
pub struct Threads {
    rank: usize,
    to: Vec<Sender<(usize, Vec<u8>)>>,
    from: Mutex<Receiver<(usize, Vec<u8>)>>,
}

impl Threads {
    /// The ends of `size` ranks, in order.
    pub fn ranks(size: usize) -> Vec<Threads> {
        assert!(size > 0, "a plan has one rank at least");
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
        let end = |(rank, from)| Threads { rank, to: senders.clone(), from: Mutex::new(from) };
        receivers.into_iter().enumerate().map(end).collect()
    }
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        let _gone = self.to[to].send((self.rank, bytes));
    }

    fn receive(&self, wait: Duration) -> Option<(usize, Vec<u8>)> {
        let from = self.from.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        from.recv_timeout(wait).ok()
    }
}
