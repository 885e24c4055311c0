//! One rank's end of the talk: messages out and in, and who still lives.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::ClusterError;
use crate::message::Message;
use crate::transport::Transport;

/// How often a rank says that it lives.
const BEAT: Duration = Duration::from_millis(250);

/// How old a message may be that comes while a load runs, and otherwise. A look costs some 70 µs of processor time where all rest.
const LOADED: Duration = Duration::from_millis(100);
const AT_REST: Duration = Duration::from_millis(20);

/// Without a sign of life for so many beats a rank is given up.
const PATIENCE: u64 = 14;
/// The same where whoever has started the ranks ends them all: those that do not speak now will not any more.
const IMPATIENCE: u64 = 4;
const _: () = assert!(
    IMPATIENCE < PATIENCE && PATIENCE as u128 * BEAT.as_millis() < 10_000,
    "whoever is silent is known within the ten seconds in which all have answered"
);

/// What a rank speaks and listens through. A thread of its own says now and then that the rank lives, whatever that does
/// meanwhile.
pub struct Link {
    transport: Arc<dyn Transport>,
    /// Heartbeats sent so far. Silence is counted in them and not in time: a process that was stopped must not take the
    /// others for lost when it goes on.
    beats: Arc<AtomicU64>,
    heard: Vec<AtomicU64>,
    /// Who will say no more, and may be silent.
    gone: Arc<Vec<AtomicBool>>,
    /// Whether whoever has started the ranks ends them all.
    is_ending: fn() -> bool,
    /// What the hosts of ranks are called, as far as they have told.
    hosts: Mutex<Vec<Option<String>>>,
    /// Came while something else was waited for.
    kept: Mutex<VecDeque<(usize, Message)>>,
    beating: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Link {
    /// Speaks through `transport`, and begins to beat. Rank 0 beats for all, the others for rank 0. `is_ending` says whether
    /// whoever has started the ranks ends them all: then a rank is given up sooner.
    pub fn new(transport: Arc<dyn Transport>, is_ending: fn() -> bool) -> Link {
        assert!(transport.rank() < transport.size(), "rank {} of {}", transport.rank(), transport.size());
        let beats = Arc::new(AtomicU64::new(0));
        let (ending, ended) = channel::<()>();
        let gone: Arc<Vec<AtomicBool>> =
            Arc::new((0..transport.size()).map(|_| AtomicBool::new(false)).collect());
        let (out, count, silent) = (transport.clone(), beats.clone(), gone.clone());
        let beat = move || {
            let to = if out.rank() == 0 { 1..out.size() } else { 0..1 };
            let bytes = Message::Beat.to_bytes();
            while ended.recv_timeout(BEAT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                count.fetch_add(1, Ordering::Relaxed);
                let living = to.clone().filter(|rank| !silent[*rank].load(Ordering::Relaxed));
                living.for_each(|rank| out.send(rank, bytes.clone()));
            }
        };
        // Without the thread the others would give this rank up: it is as if it were stopped.
        let beating = std::thread::Builder::new().spawn(beat).ok().map(|thread| (ending, thread));
        Link {
            beats,
            heard: gone.iter().map(|_| AtomicU64::new(0)).collect(),
            gone,
            is_ending,
            hosts: Mutex::new(vec![None; transport.size()]),
            kept: Mutex::default(),
            beating,
            transport,
        }
    }

    /// Whether the process that watches over this one has gone.
    pub(crate) fn is_bereft(&self) -> bool {
        (self.is_ending)()
    }

    /// Which rank this is.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    pub(crate) fn send(&self, to: usize, message: &Message) {
        debug_assert!(to != self.rank() && to < self.size(), "rank {} sends to rank {to}", self.rank());
        self.transport.send(to, message.to_bytes());
    }

    /// A message is to come at once, and its time matters.
    pub(crate) fn expect(&self) {
        self.transport.expect();
    }

    /// A message may be `wait` old before it is received.
    pub(crate) fn look_every(&self, wait: Duration) {
        self.transport.look_every(wait);
    }

    /// A load begins, whose processor time matters, or is over.
    pub(crate) fn is_loaded(&self, is_loaded: bool) {
        self.look_every(if is_loaded { LOADED } else { AT_REST });
    }

    /// Sends to each of the others that has not gone.
    pub(crate) fn send_all(&self, message: &Message) {
        self.others().for_each(|rank| self.send(rank, message));
    }

    /// The others that have not gone.
    pub(crate) fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.size()).filter(|rank| *rank != self.rank() && !self.gone[*rank].load(Ordering::Relaxed))
    }

    /// That rank has told its host.
    pub(crate) fn is_on(&self, rank: usize, host: &str) {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)[rank] = Some(host.to_owned());
    }

    /// Where that rank is: `host-b`, or `a host not yet known` before it has said so.
    pub(crate) fn host(&self, rank: usize) -> String {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts[rank].clone().unwrap_or_else(|| "a host not yet known".into())
    }

    /// That rank is waited for no more.
    pub(crate) fn forget(&self, rank: usize) {
        assert_ne!(rank, self.rank(), "a rank gives itself up");
        self.gone[rank].store(true, Ordering::Relaxed);
    }

    /// The next message that is no beat; `None` where none came within `wait`.
    pub(crate) fn receive(&self, wait: Duration) -> Result<Option<(usize, Message)>, ClusterError> {
        if let Some(kept) = self.kept().pop_front() {
            return Ok(Some(kept));
        }
        self.fresh(wait)
    }

    /// The same, without those that were put aside.
    fn fresh(&self, wait: Duration) -> Result<Option<(usize, Message)>, ClusterError> {
        loop {
            let Some((rank, bytes)) = self.transport.receive(wait) else { return Ok(None) };
            self.heard[rank].store(self.beats.load(Ordering::Relaxed), Ordering::Relaxed);
            match Message::from_bytes(&bytes) {
                Ok(Message::Beat) => {}
                Ok(message) => return Ok(Some((rank, message))),
                Err(why) => return Err(ClusterError::Garbled { rank, why }),
            }
        }
    }

    /// Puts a message aside for whoever receives next.
    pub(crate) fn keep(&self, from: usize, message: Message) {
        self.kept().push_back((from, message));
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, VecDeque<(usize, Message)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of those that are listened to that has shown no sign of life for too long, and for how many milliseconds.
    /// Ask once all that came was received.
    pub(crate) fn silent(&self) -> Option<(usize, u64)> {
        let now = self.beats.load(Ordering::Relaxed);
        let mut listened = self.others().filter(|rank| self.rank() == 0 || *rank == 0);
        let since = |rank: usize| now.saturating_sub(self.heard[rank].load(Ordering::Relaxed));
        let patience = if (self.is_ending)() { IMPATIENCE } else { PATIENCE };
        let rank = listened.find(|rank| since(*rank) >= patience)?;
        Some((rank, self.silence(rank)))
    }

    /// For how many milliseconds nothing was heard of that rank.
    fn silence(&self, rank: usize) -> u64 {
        let heard = self.heard[rank].load(Ordering::Relaxed);
        let beats = self.beats.load(Ordering::Relaxed).saturating_sub(heard);
        beats * units::convert::narrow::<u64>(BEAT.as_millis())
    }
}

/// On rank 0, once the others have been told that nothing more comes: waits until each has said that it leaves. On the others: says
/// so. An error where one shows no sign of life any more.
pub fn parted(link: &Link) -> Result<(), ClusterError> {
    if link.rank() > 0 {
        link.send(0, &Message::Leaves);
        return Ok(());
    }
    let gone = (1..link.size()).find(|rank| link.gone[*rank].load(Ordering::Relaxed));
    let mut lost =
        gone.map(|rank| ClusterError::Silent { rank, host: link.host(rank), millis: link.silence(rank) });
    while link.others().next().is_some() {
        match link.receive(PARTING)? {
            Some((rank, Message::Leaves)) => link.forget(rank),
            Some(_) => {}
            None => {
                if let Some((rank, millis)) = link.silent() {
                    link.forget(rank);
                    lost.get_or_insert(ClusterError::Silent { rank, host: link.host(rank), millis });
                }
            }
        }
    }
    lost.map_or(Ok(()), Err)
}

/// How long one look for those that leave may take.
const PARTING: Duration = Duration::from_millis(5);

impl Drop for Link {
    fn drop(&mut self) {
        if let Some((ending, thread)) = self.beating.take() {
            drop(ending);
            let _panicked = thread.join();
        }
    }
}
