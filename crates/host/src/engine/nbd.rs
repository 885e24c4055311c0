//! Exports of NBD servers: requests over a socket, as many in flight as the job has slots.
//!
//! One thread does both directions: a socket that takes no more bytes is left for the one that has some, so that neither
//! side waits for the other. Replies come in any order.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::time::Duration;

use ::nbd::replies::{Replies, Requester};
use ::nbd::wire::{self, REQUEST_LEN, command, flag};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::Instant;
use units::convert::narrow;
use workload::spec::{EngineKind, OpenSync, RequestFlags, Workload};
use workload::{Completion, Errno, Op, Outcome, Request};

use super::payload::HasPayload;
use super::{Engine, EngineError, Payload, Wait};
use crate::clock::Clock;
use crate::nbd::{Connection, Export, NbdError, Uri};

/// Requests without data that go out in one call, at most.
const TOGETHER: usize = 64;

/// How long a socket is waited for before the clock is read again.
const LOOK: Duration = Duration::from_secs(1);

/// Says no to a workload that asks of an export what only files and devices have.
pub fn serves(workload: &Workload) -> Result<(), EngineError> {
    let engine = &workload.engine;
    let what = match () {
        () if engine.kind != EngineKind::Auto => "an `engine` of system calls",
        () if workload.sequence.reopen_every.is_some() => "file to open anew as `reopen_every` says",
        () if engine.sqpoll || engine.iopoll => "`sqpoll` or `iopoll`",
        () if engine.flags != RequestFlags::NONE => "`atomic`, `nowait`, `uncached` or `polled`",
        () if !engine.request_priority.0.is_empty() => "`request_priority`",
        () if engine.write_hint.is_some() => "`write_hint`",
        () => return Ok(()),
    };
    Err(EngineError::Unfit {
        engine: "nbd",
        why: format!("requests of an NBD export go over a socket, which has no {what}; leave it out"),
    })
}

/// A connection for each export, of one worker.
#[derive(Debug)]
pub struct Nbd {
    clock: Clock,
    payload: Payload,
    links: Vec<Link>,
    ended: Vec<(Request, Outcome, Instant)>,
    in_flight: usize,
}

/// One connection, what is to go out over it, and what is coming in.
#[derive(Debug)]
struct Link {
    uri: String,
    connection: Connection,
    /// Whether each write is to be on the media when it is answered.
    through: bool,
    waiting: VecDeque<Request>,
    /// Headers that are on their way, and how much of them and of `data` is sent.
    headers: Vec<u8>,
    sent: usize,
    /// The write whose data follows the headers.
    data: Option<Request>,
    replies: Replies<Request>,
}

/// Where data go, and what has ended.
struct Ends<'a> {
    payload: &'a mut Payload,
    ended: &'a mut Vec<(Request, Outcome, Instant)>,
}

impl Requester<Request> for Ends<'_> {
    fn place(&mut self, asked: &Request) -> &mut [u8] {
        match asked.op {
            Op::Read => self.payload.bytes(asked),
            Op::Write | Op::Trim | Op::Flush => &mut [],
        }
    }

    fn ended(&mut self, asked: Request, outcome: Result<(), u32>) {
        let outcome = match outcome {
            Ok(()) if asked.op == Op::Flush => Outcome::moved(0),
            Ok(()) => Outcome::moved(asked.len),
            // The protocol's numbers are those of Linux.
            Err(errno) => {
                let errno = i32::try_from(errno).ok().filter(|errno| *errno < 4096);
                Outcome::failed(Errno(errno.unwrap_or(libc::EIO)))
            }
        };
        self.ended.push((asked, outcome, Instant::START));
    }
}

impl Nbd {
    /// Connects to each of `uris`, as `workload` asks of them.
    pub fn connect(
        clock: Clock,
        uris: &[Uri],
        workload: &Workload,
        payload: Payload,
    ) -> Result<Nbd, EngineError> {
        assert!(!uris.is_empty(), "there must be an export to connect to");
        let links = uris.iter().map(|uri| Link::connect(uri, workload, payload.depth()));
        let links = links.collect::<Result<_, _>>()?;
        Ok(Nbd { clock, payload, links, ended: Vec::new(), in_flight: 0 })
    }

    /// Sends and receives as far as that goes without waiting; whether anything moved.
    fn step(&mut self) -> Result<bool, EngineError> {
        let mut moved = false;
        let before = self.ended.len();
        let Nbd { links, payload, ended, .. } = self;
        for link in links.iter_mut() {
            let sent = link.send(payload);
            let received = sent.and_then(|sent| {
                Ok(sent | link.replies.receive(&mut link.connection, &mut Ends { payload, ended })?)
            });
            moved |= received.map_err(|source| link.lost(source))?;
        }
        if ended.len() > before {
            let now = self.clock.now();
            ended[before..].iter_mut().for_each(|(_, _, at)| *at = now);
        }
        Ok(moved)
    }

    /// Waits until a socket can go on, or for so long.
    fn wait_for_sockets(&self, time: Duration) -> Result<(), EngineError> {
        let flags = |link: &Link| match link.has_to_send() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let mut sockets: Vec<PollFd<'_>> =
            self.links.iter().map(|link| PollFd::new(&link.connection, flags(link))).collect();
        let time = Timespec { tv_sec: narrow::<i64>(time.as_secs()), tv_nsec: time.subsec_nanos().into() };
        match poll(&mut sockets, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(EngineError::System { call: "poll", source: errno.into() }),
        }
    }
}

impl HasPayload for Nbd {
    fn payload(&mut self) -> &mut Payload {
        &mut self.payload
    }
}

impl Engine for Nbd {
    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            let link = &mut self.links[usize::from(request.file)];
            match link.refuses(request) {
                Some(errno) => self.ended.push((*request, Outcome::failed(errno), self.clock.now())),
                None => link.waiting.push_back(*request),
            }
            self.in_flight += 1;
        }
        debug_assert!(
            self.in_flight <= self.payload.depth(),
            "no more may be in flight than there are slots"
        );
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        let (least, due) = match wait {
            Wait::No => (0, None),
            Wait::For(least) => (least, None),
            Wait::Until(due, least) => (least, Some(due)),
        };
        if let (0, Some(due)) = (self.in_flight, due) {
            self.clock.sleep_until(due);
        }
        let least = self.in_flight.min(least as usize);
        loop {
            while self.step()? {}
            let left = due.map(|due| due.saturating_since(self.clock.now()));
            if self.ended.len() >= least || left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let time = left.map_or(LOOK, |left| LOOK.min(Duration::from_nanos(left.get())));
            self.wait_for_sockets(time)?;
        }
        debug_assert!(self.ended.len() <= self.in_flight, "a request must end once");
        self.in_flight -= self.ended.len();
        for (request, outcome, finished_at) in self.ended.drain(..) {
            done(Completion { token: request.token, outcome, finished_at });
            if request.op == Op::Write {
                self.payload.refill(request.token.0 as usize);
            }
        }
        Ok(self.clock.now())
    }
}

impl Link {
    fn connect(uri: &Uri, workload: &Workload, depth: usize) -> Result<Link, EngineError> {
        let connection = Connection::to(uri).map_err(EngineError::Nbd)?;
        let export = Export { uri: uri.clone(), offered: connection.offered };
        let through = workload.durability.open != OpenSync::None && workload.writes();
        can_do(&export, workload, through)?;
        connection.never_wait().map_err(|source| EngineError::System { call: "fcntl", source })?;
        Ok(Link {
            uri: uri.to_string(),
            connection,
            through,
            waiting: VecDeque::new(),
            headers: Vec::with_capacity(TOGETHER * REQUEST_LEN),
            sent: 0,
            data: None,
            replies: Replies::new(depth),
        })
    }

    /// That the connection is gone, in whatever was done with it.
    fn lost(&self, source: io::Error) -> EngineError {
        let what = "the connection broke in the middle of a load";
        EngineError::Nbd(NbdError::io(&self.uri, what)(source))
    }

    /// What the server said it does not do, which it is not asked for.
    fn refuses(&self, request: &Request) -> Option<Errno> {
        let needs = match request.op {
            Op::Trim => flag::SEND_TRIM,
            Op::Flush => flag::SEND_FLUSH,
            Op::Read | Op::Write => return None,
        };
        (!self.connection.offered.has(needs)).then_some(Errno(libc::EOPNOTSUPP))
    }

    fn has_to_send(&self) -> bool {
        !self.headers.is_empty() || !self.waiting.is_empty()
    }

    /// Sends what there is, as far as the socket takes it; whether it took any.
    fn send(&mut self, payload: &mut Payload) -> io::Result<bool> {
        let mut moved = false;
        loop {
            self.gather();
            if self.headers.is_empty() {
                return Ok(moved);
            }
            let data: &[u8] = match &self.data {
                Some(request) => payload.bytes(request),
                None => &[],
            };
            let whole = self.headers.len() + data.len();
            let headers = self.headers.get(self.sent..).unwrap_or_default();
            let data = data.get(self.sent.saturating_sub(self.headers.len())..).unwrap_or_default();
            match self.connection.write_vectored(&[IoSlice::new(headers), IoSlice::new(data)]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(taken) => {
                    self.sent += taken;
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(moved),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            debug_assert!(self.sent <= whole, "no more is sent than there is");
            if self.sent == whole {
                self.headers.clear();
                (self.sent, self.data) = (0, None);
            }
        }
    }

    /// Takes the next requests that can go out together: up to and with the first that has data.
    fn gather(&mut self) {
        while self.headers.len() < TOGETHER * REQUEST_LEN && self.data.is_none() && self.sent == 0 {
            let Some(request) = self.waiting.pop_front() else { return };
            let command = match request.op {
                Op::Read => command::READ,
                Op::Write => command::WRITE,
                Op::Trim => command::TRIM,
                Op::Flush => command::FLUSH,
            };
            let flags = if self.through && request.op == Op::Write { command::FUA } else { 0 };
            // A flush is of the whole export, and says so by neither place nor length.
            let (offset, len) = match request.op {
                Op::Flush => (0, 0),
                _ => (request.offset.get(), request.len.into()),
            };
            let slot = request.token.0;
            let asked = wire::Request { flags, command, cookie: slot.into(), offset, len };
            self.headers.extend(asked.header());
            debug_assert!(self.headers.len() <= TOGETHER * REQUEST_LEN, "what goes out together is limited");
            self.data = (request.op == Op::Write).then_some(request);
            self.replies.ask(slot as usize, request);
        }
    }
}

/// Says no before anything is asked to what the export does not take.
fn can_do(export: &Export, workload: &Workload, through: bool) -> Result<(), EngineError> {
    let offered = export.offered;
    let refused = |what, reason: String| {
        Err(EngineError::Incapable { path: export.uri.to_string().into(), what, reason })
    };
    if workload.changes_data() && offered.is_read_only() {
        return refused("writing", "the server exports it read-only".into());
    }
    if through && !offered.has(flag::SEND_FUA) {
        return refused("sync", "its server cannot write through (FUA); use `flush`, or leave it out".into());
    }
    let largest = workload.sizes.largest();
    if largest > offered.largest {
        return refused(
            "size",
            format!("its server takes at most {} in a request, not {largest}", offered.largest),
        );
    }
    if workload.workers > 1 && workload.changes_data() && !offered.takes_many() {
        return refused(
            "workers",
            "its server does not promise that several connections see the same data; use one worker and more `depth`".into(),
        );
    }
    Ok(())
}
