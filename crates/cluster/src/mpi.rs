//! MPI as a transport: one thread makes all calls of it.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, MatchedReceiveVec, Source};
use units::convert::narrow;

use crate::transport::Transport;

/// Ranks that `mpirun`, or another launcher, has started.
pub struct Mpi {
    rank: usize,
    size: usize,
    out: Mutex<Option<Sender<Order>>>,
    from: Mutex<Receiver<(usize, Vec<u8>)>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum Order {
    Send(usize, Vec<u8>),
    /// A message is to come at once.
    Expect,
    /// How often messages are looked for.
    LookEvery(Duration),
    /// Ends all ranks at once with that exit code, for one of them is dead and waited for otherwise.
    Abort(i32),
}

/// Most bytes of a message that go at once. Pieces of this size are sent eagerly by every transport below MPI (the
/// smallest limit is the 4 KiB of shared memory), so that what was probed for is there wholly: a rank that dies or stops
/// between the announcement of a message and its bytes would hold the receiver up for ever.
const PIECE: usize = 3 << 10;

/// Behind the bytes of a piece: whether more of the message follow.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// How long the end waits for what is on its way, in steps of [`STEP`].
const STEPS: u32 = 1000;
const STEP: Duration = Duration::from_millis(1);

/// How long ending all ranks may take, in steps of [`STEP`]: the thread may be held up by a rank that has gone.
const ABORTED: u32 = 2000;

/// How long ending together may take, in steps of [`STEP`].
const FINISHED: u32 = 4000;

/// How often messages are looked for unless told otherwise.
const LATER: Duration = Duration::from_millis(20);

/// How often where one is expected at once, and for how many looks: longer than [`LATER`], so that an answer to one who was late is
/// still awaited. Otherwise all answers after it would be late as well.
const SOON: Duration = Duration::from_micros(50);
const LOOKS: u32 = 500;
const _: () = assert!(SOON.as_micros() * LOOKS as u128 > LATER.as_micros());

impl Mpi {
    /// Joins the other ranks; `None` where MPI cannot be initialised.
    pub fn join() -> Option<Mpi> {
        let (out, orders) = channel();
        let (incoming, from) = channel();
        let (ready, known) = channel();
        let thread = std::thread::Builder::new().name("mpi".into()).spawn(move || {
            let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
                return;
            };
            let world = universe.world();
            let _gone = ready.send((narrow::<usize>(world.rank()), narrow::<usize>(world.size())));
            carry(&world, &orders, &incoming);
            // Dropping the universe waits for all others to come to the same.
        });
        let thread = thread.ok()?;
        let (rank, size) = known.recv().ok()?;
        Some(Mpi {
            rank,
            size,
            out: Mutex::new(Some(out)),
            from: Mutex::new(from),
            thread: Mutex::new(Some(thread)),
        })
    }

    fn order(&self, order: Order) {
        if let Some(out) = &*self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
            let _gone = out.send(order);
        }
    }

    /// Ends together with all other ranks, which do the same; whether they have in time. One that is stopped meanwhile would hold the
    /// others up for ever.
    pub fn finish(&self) -> bool {
        self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        // The others leave it to rank 0 to say so.
        let steps = if self.rank == 0 { FINISHED } else { FINISHED + FINISHED / 2 };
        (0..steps).take_while(|_| !self.has_ended()).for_each(|_| std::thread::park_timeout(STEP));
        self.has_ended()
    }

    fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends all ranks at once, this one as well, with that exit code. Comes back where MPI does not do it in time: who ends
    /// now with that code has the launcher end the others.
    pub fn abort(&self, code: u8) {
        self.order(Order::Abort(code.into()));
        (0..ABORTED).take_while(|_| !self.has_ended()).for_each(|_| std::thread::park_timeout(STEP));
    }
}

/// A piece of a message on its way. MPI reads the bytes until the request is done, which to a rank that has gone is never.
struct Sending {
    request: Request<'static, [u8], StaticScope>,
    bytes: *mut [u8],
}

impl Sending {
    fn begin(world: &SimpleCommunicator, to: usize, bytes: Vec<u8>) -> Sending {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: the bytes were allocated just now, and are freed in `on_its_way` alone, once the request is done.
        let sent: &'static [u8] = unsafe { &*bytes };
        Sending { request: world.process_at_rank(narrow::<i32>(to)).immediate_send(StaticScope, sent), bytes }
    }

    /// The same where it is still on its way.
    fn on_its_way(self) -> Option<Sending> {
        let Sending { request, bytes } = self;
        match request.test() {
            Ok(_) => {
                // SAFETY: they come from `Box::into_raw`, and the request, the only one that read them, is done.
                drop(unsafe { Box::from_raw(bytes) });
                None
            }
            Err(request) => Some(Sending { request, bytes }),
        }
    }
}

/// Messages of this rank that others have not taken yet, and parts of messages of others.
struct Traffic<'a> {
    world: &'a SimpleCommunicator,
    sending: Vec<Sending>,
    /// By rank: the pieces of a message that have come.
    begun: Vec<Vec<u8>>,
}

impl<'a> Traffic<'a> {
    fn new(world: &'a SimpleCommunicator) -> Traffic<'a> {
        Traffic { world, sending: Vec::new(), begun: vec![Vec::new(); narrow::<usize>(world.size())] }
    }

    fn send(&mut self, to: usize, bytes: &[u8]) {
        let mut left = bytes;
        loop {
            let (piece, rest) = left.split_at(left.len().min(PIECE));
            let mark = if rest.is_empty() { LAST } else { MORE };
            self.sending.push(Sending::begin(self.world, to, [piece, &[mark]].concat()));
            if rest.is_empty() {
                return;
            }
            left = rest;
        }
    }

    /// Takes in what has come; whole messages go to `incoming`.
    fn receive(&mut self, incoming: &Sender<(usize, Vec<u8>)>) {
        while let Some(piece) = self.world.any_process().immediate_matched_probe() {
            let (mut bytes, status) = piece.matched_receive_vec::<u8>();
            let from = narrow::<usize>(status.source_rank());
            let mark = bytes.pop();
            self.begun[from].append(&mut bytes);
            if mark != Some(MORE) {
                let _gone = incoming.send((from, std::mem::take(&mut self.begun[from])));
            }
        }
        self.sending =
            std::mem::take(&mut self.sending).into_iter().filter_map(Sending::on_its_way).collect();
    }

    /// Waits for a moment until all was taken; what was not then is left to those who will not take it.
    fn finish(mut self, incoming: &Sender<(usize, Vec<u8>)>) {
        for _ in 0..STEPS {
            self.receive(incoming);
            if self.sending.is_empty() {
                return;
            }
            std::thread::park_timeout(STEP);
        }
        std::mem::forget(self.sending);
    }
}

/// Carries messages until nobody sends any more. Nothing here waits for a single other rank, which may have gone.
fn carry(world: &SimpleCommunicator, orders: &Receiver<Order>, incoming: &Sender<(usize, Vec<u8>)>) {
    let (mut looks_left, mut every) = (LOOKS, LATER);
    let mut traffic = Traffic::new(world);
    loop {
        traffic.receive(incoming);
        let wait = if looks_left > 0 { SOON } else { every };
        match orders.recv_timeout(wait) {
            Ok(Order::Send(to, bytes)) => traffic.send(to, &bytes),
            Ok(Order::Expect) => looks_left = LOOKS,
            Ok(Order::LookEvery(wait)) => every = wait,
            Ok(Order::Abort(code)) => world.abort(code),
            Err(RecvTimeoutError::Timeout) => looks_left = looks_left.saturating_sub(1),
            Err(RecvTimeoutError::Disconnected) => return traffic.finish(incoming),
        }
    }
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        self.order(Order::Send(to, bytes));
    }

    fn expect(&self) {
        self.order(Order::Expect);
    }

    fn look_every(&self, wait: Duration) {
        self.order(Order::LookEvery(wait));
    }

    fn receive(&self, wait: Duration) -> Option<(usize, Vec<u8>)> {
        self.from.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv_timeout(wait).ok()
    }
}
