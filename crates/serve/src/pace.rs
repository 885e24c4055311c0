//! When answers are given: when the modelled array would.
//!
//! One thread has the event loop of the model and drives it by the clock on the wall: a request enters the model when it
//! arrives, and its answer is let go when the model has completed it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use array::raid::GeometryError;
use array::sim::{Sim, Topology, WorkOrder};
use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Share};

use crate::clock::Clock;

/// What the model is told of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The LUN.
    pub lun: u32,
    /// What is done.
    pub op: Op,
    /// From where on.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

/// What is done, as far as it takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Data from members or cache.
    Read,
    /// Data to them.
    Write,
    /// Data of the cache to members.
    Flush,
    /// What no member hears of.
    Nothing,
}

/// The largest request that the model takes; one that is larger is several there, which arrive together.
const LARGEST: u64 = 1 << 30;

/// What is done with an answer whose time has come; `false` where the model's host has had none.
pub type Deliver = Box<dyn FnOnce(bool) + Send>;

/// What is done to the model.
type Act = Box<dyn FnOnce(&mut Sim) + Send>;

enum Message {
    Request(Duration, Asked, Deliver),
    Work(WorkOrder, Share),
    Act(Act),
    /// Another array takes the place of this one, which gives all its answers now.
    Restart(Box<Sim>),
    Share(Share),
    Stop,
}

/// A model in real time.
pub struct Pacer {
    send: Mutex<Sender<Message>>,
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
    lateness: Arc<Late>,
    progress: Arc<Progress>,
    seed: u64,
    /// Whether the model has ended by a mistake of its own.
    is_broken: Arc<AtomicBool>,
}

/// How far the model's work on each set is.
type Progress = Mutex<HashMap<u32, f64>>;

/// How long after the model had completed them answers were given.
#[derive(Debug, Default)]
pub struct Late {
    /// Until they began to be sent, which is when a device would raise its interrupt.
    pub sent: Lateness,
    /// Until they were in the hands of the system and whoever waits for them was woken, which takes longest where a processor slept.
    pub taken: Lateness,
}

/// Times after the model, of all answers.
#[derive(Debug)]
pub struct Lateness {
    count: AtomicU64,
    sum_ns: AtomicU64,
    /// Answers by how late they were, in microseconds: [`bucket`].
    buckets: [AtomicU64; BUCKETS],
}

/// Eight for each power of two, up to a second and more.
const BUCKETS: usize = 8 * 20;

/// Which bucket so many microseconds belong to: below 16 each has its own, and above it each power of two has eight.
fn bucket(micros: u64) -> usize {
    let octave = (64 - micros.leading_zeros()).saturating_sub(4);
    let at = u64::from(octave) * 8 + (micros >> octave);
    narrow::<usize>(at).min(BUCKETS - 1)
}

/// The first number of microseconds that is beyond a bucket.
fn beyond(bucket: usize) -> u64 {
    let at = bucket as u64 + 1;
    let octave = (at / 8).saturating_sub(1);
    (at - octave * 8) << octave
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            count: AtomicU64::default(),
            sum_ns: AtomicU64::default(),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

impl Lateness {
    fn add(&self, late: Duration) {
        let nanos = truncated::<u64>(late.as_secs_f64() * 1e9);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(nanos, Ordering::Relaxed);
        self.buckets[bucket(nanos / 1000)].fetch_add(1, Ordering::Relaxed);
    }

    /// How many answers, and their mean lateness.
    pub fn mean(&self) -> (u64, Duration) {
        let count = self.count.load(Ordering::Relaxed);
        (count, Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed) / count.max(1)))
    }

    /// A bound in microseconds that the share `share` of all answers is within, an eighth too high at most.
    pub fn quantile_us(&self, share: f64) -> u64 {
        let count = self.count.load(Ordering::Relaxed) as f64;
        let mut seen = 0;
        for (bucket, answers) in self.buckets.iter().enumerate() {
            seen += answers.load(Ordering::Relaxed);
            if seen as f64 >= count * share {
                return beyond(bucket);
            }
        }
        beyond(BUCKETS - 1)
    }
}

impl Pacer {
    /// Runs `sim` in real time, or `speed` times as fast.
    ///
    /// A model that takes its place is made with `seed`. Should the model end by a mistake of its own, `broken` is called once, and
    /// every request that waits or comes is answered as one that hosts get no answer to.
    pub fn start(
        mut sim: Sim,
        speed: f64,
        seed: u64,
        broken: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Pacer> {
        assert!(speed > 0.0 && speed.is_finite(), "a pace is a positive number");
        sim.admit();
        let (send, receive) = channel();
        let (clock, lateness) = (Clock::start(), Arc::new(Late::default()));
        let progress: Arc<Progress> = Arc::default();
        let mut running = Running {
            sim,
            speed,
            clock,
            waiting: HashMap::new(),
            free: Vec::new(),
            next: 0,
            lateness: lateness.clone(),
            works: Vec::new(),
            progress: progress.clone(),
            share: None,
            vigil: Vigil::new(clock.now()),
        };
        let is_broken: Arc<AtomicBool> = Arc::default();
        let ended = is_broken.clone();
        let thread = std::thread::Builder::new().name("fathom-model".into()).spawn(move || {
            keep_time_exactly();
            // What is half changed is not looked at again but for the answers that wait.
            if catch_unwind(AssertUnwindSafe(|| running.run(&receive))).is_err() {
                ended.store(true, Ordering::Release);
                broken();
                running.waiting.drain().for_each(|(_, deliver)| deliver(false));
                refuse_all(&receive, &running.progress);
            }
        })?;
        Ok(Pacer {
            send: Mutex::new(send),
            clock,
            thread: Mutex::new(Some(thread)),
            lateness,
            progress,
            seed,
            is_broken,
        })
    }

    /// Whether the model has ended by a mistake of its own: no request is answered any more.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    /// Has `deliver` be called when the model has completed the request.
    pub fn ask(&self, asked: Asked, deliver: Deliver) {
        self.tell(Message::Request(self.clock.now(), asked, deliver));
    }

    /// The disk of a slot fails in the model, or the one that is becoming its copy.
    pub fn fail_slot(&self, set: u32, slot: u16, is_copy: bool) {
        // One that has failed already stays failed.
        self.act(move |sim| drop(sim.fail_slot(set, slot, is_copy)));
    }

    /// A slot has its disk again in the model, which has missed nothing.
    pub fn take_back(&self, set: u32, slot: u16) {
        // One that has a disk keeps it.
        self.act(move |sim| drop(sim.take_back(set, slot)));
    }

    /// Does something to the model as it is now.
    pub fn act(&self, act: impl FnOnce(&mut Sim) + Send + 'static) {
        self.tell(Message::Act(Box::new(act)));
    }

    /// The model is another one from now on, at rest but for those slots, given with their sets, whose disks have failed.
    pub fn restart(&self, topology: &Topology, failed: &[(u32, u16)]) -> Result<(), GeometryError> {
        let mut sim = Sim::new(topology, self.seed)?;
        sim.admit();
        for &(set, slot) in failed {
            let _failed_now = sim.fail_slot(set, slot, false);
        }
        self.tell(Message::Restart(Box::new(sim)));
        Ok(())
    }

    /// Has work that begins from now on get that share of the members' time.
    pub fn set_share(&self, share: Share) {
        self.tell(Message::Share(share));
    }

    /// Background work begins in the model, as if the share `from` of it had been done.
    pub fn start_work(&self, order: WorkOrder, from: Share) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).insert(order.set, 0.0);
        self.tell(Message::Work(order, from));
    }

    /// The share that is done of the model's work on a set; `None` where there is none.
    pub fn progress(&self, set: u32) -> Option<f64> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).get(&set).copied()
    }

    /// How late answers were.
    pub fn lateness(&self) -> &Late {
        &self.lateness
    }

    fn tell(&self, message: Message) {
        // After the end nobody waits for answers any more.
        let _over = self.send.lock().unwrap_or_else(PoisonError::into_inner).send(message);
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.tell(Message::Stop);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // One that has panicked has ended as well.
            let _ended = thread.join();
        }
    }
}

/// Timers of this thread are not put together with others: by default the kernel takes 50 µs for that.
fn keep_time_exactly() {
    // SAFETY: a plain number is set for the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

struct Running {
    sim: Sim,
    speed: f64,
    clock: Clock,
    waiting: HashMap<u32, Deliver>,
    free: Vec<u32>,
    next: u32,
    lateness: Arc<Late>,
    /// Set and number of the work under way.
    works: Vec<(u32, u32)>,
    progress: Arc<Progress>,
    share: Option<Share>,
    vigil: Vigil,
}

impl Running {
    fn run(&mut self, receive: &Receiver<Message>) {
        loop {
            self.let_go();
            self.tell_progress();
            let due = self.sim.next_due();
            let message = if due == Instant::NEVER {
                receive.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                let at = Duration::from_nanos(truncated((due.nanos() as f64) / self.speed));
                self.wait(at, receive)
            };
            match message {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => self.catch_up(),
            }
        }
        self.waiting.drain().for_each(|(_, deliver)| deliver(true));
    }

    /// The first message until a time: asleep, but for the last of it.
    fn wait(&mut self, until: Duration, receive: &Receiver<Message>) -> Result<Message, RecvTimeoutError> {
        let now = self.clock.now();
        let awake = self.vigil.allowed(until.saturating_sub(now), now);
        match receive.recv_timeout(until.saturating_sub(now + awake)) {
            Err(RecvTimeoutError::Timeout) => {}
            other => return other,
        }
        let from = self.clock.now();
        let mut to = from;
        let mut first = Err(TryRecvError::Empty);
        while to < until && matches!(first, Err(TryRecvError::Empty)) {
            std::hint::spin_loop();
            first = receive.try_recv();
            to = self.clock.now();
        }
        self.vigil.spend(to.saturating_sub(from));
        first.map_err(|none| match none {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Request(at, asked, deliver) => {
                if asked.op == Op::Nothing {
                    return deliver(true);
                }
                if asked.len > LARGEST {
                    return self.take_in_pieces(at, asked, deliver);
                }
                let token = self.free.pop().unwrap_or_else(|| {
                    self.next += 1;
                    self.next - 1
                });
                let other = self.waiting.insert(token, deliver);
                debug_assert!(other.is_none(), "a number is of one request at a time");
                let request = workload_request(asked, token);
                let at = self.virtual_time(at).max(self.sim.now());
                self.sim.submit(at, request);
            }
            Message::Act(act) => {
                self.catch_up();
                act(&mut self.sim);
            }
            Message::Restart(sim) => {
                self.waiting.drain().for_each(|(_, deliver)| deliver(true));
                (self.free, self.next) = (Vec::new(), 0);
                self.sim = *sim;
            }
            Message::Share(share) => self.share = Some(share),
            Message::Work(order, from) => {
                self.catch_up();
                let params = self.sim.work_params(order.kind);
                let params = self.share.map_or(params, |share| params.at(share));
                let started = if from == Share::NONE {
                    self.sim.start_work_as(order, params)
                } else {
                    self.sim.start_work_from_as(order, params, from)
                };
                match started {
                    Ok(number) => self.works.push((order.set, number)),
                    // What the model has no members for takes no time in it.
                    Err(_) => {
                        self.progress.lock().unwrap_or_else(PoisonError::into_inner).remove(&order.set);
                    }
                }
            }
            Message::Stop => {}
        }
    }

    /// One answer once the model has completed each piece.
    fn take_in_pieces(&mut self, at: Duration, asked: Asked, deliver: Deliver) {
        let pieces = asked.len.div_ceil(LARGEST);
        let whole = Arc::new(Mutex::new((pieces, true, Some(deliver))));
        for piece in 0..pieces {
            let from = piece * LARGEST;
            let part = Asked { offset: asked.offset + from, len: LARGEST.min(asked.len - from), ..asked };
            let whole = whole.clone();
            let ended = move |is_answered| {
                let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
                whole.0 -= 1;
                whole.1 &= is_answered;
                if whole.0 == 0
                    && let Some(deliver) = whole.2.take()
                {
                    deliver(whole.1);
                }
            };
            self.take(Message::Request(at, part, Box::new(ended)));
        }
    }

    fn catch_up(&mut self) {
        let now = self.virtual_time(self.clock.now());
        self.sim.idle_until(now);
    }

    /// Tells how far work is.
    fn tell_progress(&mut self) {
        if self.works.is_empty() {
            return;
        }
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        self.works.retain(|&(set, number)| {
            let Some(now) = self.sim.work_progress(number).filter(|now| now.ended.is_none()) else {
                progress.remove(&set);
                return false;
            };
            progress.insert(set, now.done.get());
            true
        });
    }

    fn virtual_time(&self, at: Duration) -> Instant {
        let nanos = at.as_secs_f64() * 1e9 * self.speed;
        Instant::from_nanos(truncated(nanos)).max(self.sim.now())
    }

    /// Lets go what the model has completed.
    fn let_go(&mut self) {
        for done in self.sim.take_ended() {
            let token = done.token.0;
            if let Some(deliver) = self.waiting.remove(&token) {
                let due = Duration::from_nanos(truncated(done.finished_at.nanos() as f64 / self.speed));
                self.lateness.sent.add(self.clock.now().saturating_sub(due));
                deliver(done.outcome.result().is_ok());
                self.lateness.taken.add(self.clock.now().saturating_sub(due));
            }
            self.free.push(token);
        }
    }
}

/// How long a thread may wait for a time awake: a processor that sleeps takes 50 to 150 µs until it is at work again, and an answer
/// would be that late.
struct Vigil {
    /// What has been earned and is not spent.
    credit: Duration,
    earned_at: Duration,
}

impl Vigil {
    /// What a wake-up takes where the processor slept in a virtual machine, and a little more.
    const LONGEST: Duration = Duration::from_micros(200);
    /// One part of so many of the time by the clock may be spent awake.
    const PARTS: u32 = 10;
    /// What can be saved: so much for times when many answers are due.
    const MOST: Duration = Duration::from_millis(10);

    /// With nothing earned yet.
    fn new(now: Duration) -> Vigil {
        Vigil { credit: Duration::ZERO, earned_at: now }
    }

    /// How much of a wait of that length may be spent awake: the whole of a short one, [`Vigil::LONGEST`] at most, and no more than has
    /// been earned by `now`.
    fn allowed(&mut self, wait: Duration, now: Duration) -> Duration {
        let earned = now.saturating_sub(self.earned_at) / Vigil::PARTS;
        self.credit = (self.credit + earned).min(Vigil::MOST);
        self.earned_at = now;
        wait.min(Vigil::LONGEST).min(self.credit)
    }

    /// So much has been spent, which may be more than was allowed where the thread was held up.
    fn spend(&mut self, time: Duration) {
        self.credit = self.credit.saturating_sub(time);
    }
}

/// Until the end, every request is one without an answer, and work is as fast as it can be: no model holds it back.
fn refuse_all(receive: &Receiver<Message>, progress: &Progress) {
    let works = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    works().clear();
    while let Ok(message) = receive.recv() {
        match message {
            Message::Request(_, _, deliver) => deliver(false),
            Message::Stop => break,
            Message::Work(order, _) => drop(works().remove(&order.set)),
            Message::Act(_) | Message::Restart(_) | Message::Share(_) => {}
        }
    }
}

fn workload_request(asked: Asked, token: u32) -> array::sim::OutsideRequest {
    let Asked { lun, op, offset, len } = asked;
    assert!(len <= LARGEST, "a request of {len} bytes was to be divided");
    array::sim::OutsideRequest {
        offset: Bytes::new(offset),
        len: narrow::<u32>(len),
        token: array::sim::OutsideToken(token),
        file: narrow::<u16>(lun),
        op: match op {
            Op::Read => array::sim::OutsideOp::Read,
            Op::Write => array::sim::OutsideOp::Write,
            Op::Flush | Op::Nothing => array::sim::OutsideOp::Flush,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BUCKETS, Lateness, Vigil, beyond, bucket};

    #[test]
    fn a_tenth_of_the_time_at_most_is_waited_for_awake() {
        let [micro, milli] = [Duration::from_micros(1), Duration::from_millis(1)];
        let mut vigil = Vigil::new(Duration::ZERO);
        assert_eq!(vigil.allowed(milli, Duration::ZERO), Duration::ZERO, "nothing is earned yet");
        assert_eq!(vigil.allowed(5 * milli, milli), 100 * micro);
        let mut awake = Duration::ZERO;
        for step in 1..=10_000_u32 {
            let now = milli + step * 100 * micro;
            let spent = vigil.allowed(100 * micro, now);
            vigil.spend(spent);
            awake += spent;
        }
        assert!(awake <= 101 * milli && awake >= 99 * milli, "{awake:?} of a second");
        assert_eq!(vigil.allowed(Duration::from_secs(5), Duration::from_secs(100)), Vigil::LONGEST);
        assert_eq!(
            vigil.allowed(30 * micro, Duration::from_secs(101)),
            30 * micro,
            "a short wait is spent awake"
        );
    }

    #[test]
    fn a_bucket_holds_what_is_below_its_end_and_no_eighth_more() {
        for micros in (0..5000).chain([65_535, 65_536, 999_999]) {
            let end = beyond(bucket(micros));
            assert!(end > micros && end as f64 <= (micros + 1) as f64 * 1.125, "{micros}: {end}");
        }
        assert!((1..BUCKETS).all(|at| beyond(at) > beyond(at - 1)));
        let lateness = Lateness::default();
        (1..=1000).for_each(|micros| lateness.add(Duration::from_micros(micros)));
        assert!((990..1100).contains(&lateness.quantile_us(0.99)), "{}", lateness.quantile_us(0.99));
        assert_eq!(lateness.mean().0, 1000);
    }
}
