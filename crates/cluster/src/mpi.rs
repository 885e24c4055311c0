//! MPI as a transport: one thread makes all calls of it.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

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

/// How often messages are looked for unless told otherwise. A look costs some 30 µs of processor time, which ranks that measure would have for their
/// requests; what they tell each other meanwhile, beats and news, waits well.
const LATER: Duration = Duration::from_millis(20);

/// How often where one is expected at once, and for how many looks.
const SOON: Duration = Duration::from_micros(50);
const LOOKS: u32 = 60;

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

    /// Ends together with all other ranks, which do the same.
    pub fn finish(&self) {
        self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            let _panicked = thread.join();
        }
    }

    /// Ends all ranks at once, this one as well, with that exit code.
    pub fn abort(&self, code: u8) {
        self.order(Order::Abort(code.into()));
        self.finish();
    }
}

/// Carries messages until nobody sends any more.
fn carry(world: &SimpleCommunicator, orders: &Receiver<Order>, incoming: &Sender<(usize, Vec<u8>)>) {
    let (mut looks_left, mut every) = (LOOKS, LATER);
    loop {
        while let Some(message) = world.any_process().immediate_matched_probe() {
            let (bytes, status) = message.matched_receive_vec::<u8>();
            let _gone = incoming.send((narrow::<usize>(status.source_rank()), bytes));
        }
        let wait = if looks_left > 0 { SOON } else { every };
        match orders.recv_timeout(wait) {
            Ok(Order::Send(to, bytes)) => world.process_at_rank(narrow::<i32>(to)).send(&bytes[..]),
            Ok(Order::Expect) => looks_left = LOOKS,
            Ok(Order::LookEvery(wait)) => every = wait,
            Ok(Order::Abort(code)) => world.abort(code),
            Err(RecvTimeoutError::Timeout) => looks_left = looks_left.saturating_sub(1),
            Err(RecvTimeoutError::Disconnected) => return,
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
