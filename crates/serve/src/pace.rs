//! When answers are given: when the modelled array would.
//!
//! One thread has the event loop of the model and drives it by the clock on the wall: a request enters the model when it
//! arrives, and its answer is let go when the model has completed it and its data have been moved, whichever is later.

mod lateness;
mod meeting;
mod vigil;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use array::raid::GeometryError;
use array::sim::{Sim, Topology, WorkOrder};
use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Share};

use crate::clock::Clock;
use meeting::Meeting;
use vigil::Vigil;

pub use lateness::{Late, Lateness};
pub use meeting::{Deliver, Pending};

/// What the model is told of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRequest {
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

/// What is done to the model.
type Act = Box<dyn FnOnce(&mut Sim) + Send>;

enum Message {
    Request(Duration, ModelRequest, Arc<Meeting>),
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
                running.waiting.drain().for_each(|(_, request)| request.end(false));
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

    /// Shows the model a request that comes now, whose data may still be on their way.
    pub fn ask(&self, asked: ModelRequest) -> Pending {
        let meeting = Meeting::of(&asked, self.clock, self.lateness.clone());
        self.tell(Message::Request(self.clock.now(), asked, meeting.clone()));
        Pending(meeting)
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
    waiting: HashMap<u32, Arc<Meeting>>,
    free: Vec<u32>,
    next: u32,
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
        self.waiting.drain().for_each(|(_, request)| request.end(true));
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
            Message::Request(_, ModelRequest { op: Op::Nothing, .. }, meeting) => meeting.end(true),
            Message::Request(at, asked, meeting) => self.submit(at, asked, &meeting),
            Message::Act(act) => {
                self.catch_up();
                act(&mut self.sim);
            }
            Message::Restart(sim) => {
                self.waiting.drain().for_each(|(_, request)| request.end(true));
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

    /// Shows the model a request, in as many pieces as it needs.
    fn submit(&mut self, at: Duration, asked: ModelRequest, meeting: &Arc<Meeting>) {
        let at = self.virtual_time(at).max(self.sim.now());
        for piece in 0..asked.len.div_ceil(LARGEST).max(1) {
            let from = piece * LARGEST;
            let part =
                ModelRequest { offset: asked.offset + from, len: LARGEST.min(asked.len - from), ..asked };
            let token = self.free.pop().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            let other = self.waiting.insert(token, meeting.clone());
            debug_assert!(other.is_none(), "a number is of one request at a time");
            self.sim.submit(at, workload_request(part, token));
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
            if let Some(request) = self.waiting.remove(&token) {
                let due = Duration::from_nanos(truncated(done.finished_at.nanos() as f64 / self.speed));
                request.complete(done.outcome.result().is_ok(), due);
            }
            self.free.push(token);
        }
        debug_assert_eq!(
            self.waiting.len() + self.free.len(),
            self.next as usize,
            "a number is of a request that waits, or free"
        );
    }
}

/// Until the end, every request is one without an answer, and work is as fast as it can be: no model holds it back.
fn refuse_all(receive: &Receiver<Message>, progress: &Progress) {
    let works = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    works().clear();
    while let Ok(message) = receive.recv() {
        match message {
            Message::Request(_, _, request) => request.end(false),
            Message::Stop => break,
            Message::Work(order, _) => drop(works().remove(&order.set)),
            Message::Act(_) | Message::Restart(_) | Message::Share(_) => {}
        }
    }
}

fn workload_request(asked: ModelRequest, token: u32) -> array::sim::OutsideRequest {
    let ModelRequest { lun, op, offset, len } = asked;
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
