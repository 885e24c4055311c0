//! One connection: requests in, answers out.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use ::nbd::wire::{
    EINVAL, EIO, ENOSPC, EOVERFLOW, EPERM, EXTENDED_REPLY, EXTENDED_REQUEST_LEN, HOLE_AND_ZERO, REQUEST_LEN,
    Request, STRUCTURED_REPLY, chunk, command, simple_reply,
};
use units::SECTOR_BYTES;
use units::convert::narrow;

use super::handshake::{ALLOCATION_ID, Agreed, Export, Negotiated, Security, agree};
use super::limits;
use super::stream::{Incoming, Outgoing};
use crate::machine::Machine;
use crate::pace::{ModelRequest, Op, Pacer, Pending};
use crate::set::{Fault, Scratch};

/// What `offset` and `len` of requests that change parts of sectors exclude each other by.
static UNALIGNED: Mutex<()> = Mutex::new(());

/// Bytes from which on what is read goes to the client from where members have it.
const LENT: u64 = 64 << 10;

/// Takes one answer to its client.
pub type Reply = Box<dyn FnOnce(Vec<u8>) + Send>;

/// How a conversation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client is gone, or sent away.
    Over,
    /// TLS begins with the next byte; the handshake continues inside it as [`Security::Established`].
    Tls(u32),
}

/// Where answers go that wait for a model: to it, together with what each ticket gives, which is called with the answer
/// once its time has come.
pub type Pacing<'a> = (&'a Pacer, &'a dyn Fn() -> Reply);

/// Talks to one client until it goes. `exports` are the LUNs of `machine`, in order; `began` is called before the first
/// request.
pub fn serve<R: Read, W: Write>(
    machine: &Machine,
    exports: &[Export],
    security: Security,
    input: R,
    output: W,
    pacing: Option<Pacing<'_>>,
    began: impl FnOnce(),
) -> io::Result<Ended> {
    let (mut input, mut output) = (Incoming::new(input), Outgoing::new(output));
    let agreed = match agree(exports, security, &mut input, &mut output)? {
        Negotiated::Transmission(agreed) => agreed,
        Negotiated::Tls(flags) => return Ok(Ended::Tls(flags)),
        Negotiated::End => return Ok(Ended::Over),
    };
    began();
    let lun = narrow::<u32>(agreed.export);
    let mut session = Session {
        machine,
        lun,
        bytes: exports[agreed.export].bytes,
        agreed,
        output,
        scratch: Scratch::default(),
        payload: Vec::new(),
        edge: Vec::new(),
        is_paced: pacing.is_some(),
        losses: machine.told(lun),
    };
    session.answer_all(&mut input, pacing)?;
    session.output.send()?;
    Ok(Ended::Over)
}

struct Session<'a, W> {
    machine: &'a Machine,
    lun: u32,
    bytes: u64,
    agreed: Agreed,
    output: Outgoing<W>,
    scratch: Scratch,
    payload: Vec<u8>,
    edge: Vec<u8>,
    /// Whether answers wait for a model: then they are copies.
    is_paced: bool,
    /// The losses of the write cache that the client has been told of.
    losses: AtomicU64,
}

impl<W: Write> Session<'_, W> {
    fn answer_all<R: Read>(&mut self, input: &mut Incoming<R>, pacing: Option<Pacing<'_>>) -> io::Result<()> {
        let header = self.header_len();
        while let Some(request) = self.next(input)? {
            if request.command == command::DISCONNECT {
                break;
            }
            let Some((pacer, ticket)) = pacing else {
                self.execute(input, request)?;
                if self.output.is_full() || !input.has(header) {
                    self.output.send()?;
                }
                continue;
            };
            // The model has the request when it comes, and not when its data are in the members: an array takes no longer for them.
            let deliver = ticket();
            let pending = pacer.ask(self.asked(request));
            self.execute(input, request)?;
            self.answer_in_time(request, pending, deliver);
        }
        Ok(())
    }

    /// The request as the model has it. One that will be refused costs the model nothing.
    fn asked(&self, request: Request) -> ModelRequest {
        let Request { command, offset, len, .. } = request;
        let is_inside = len > 0 && offset.checked_add(len).is_some_and(|end| end <= self.bytes);
        let op = match command {
            command::READ if is_inside => Op::Read,
            command::WRITE | command::WRITE_ZEROES if is_inside => Op::Write,
            command::FLUSH => Op::Flush,
            _ => Op::Nothing,
        };
        ModelRequest { lun: self.lun, op, offset, len }
    }

    /// Has the answer go out when the model says, or that there is none where its host gets none.
    fn answer_in_time(&mut self, request: Request, pending: Pending, deliver: Reply) {
        let answer = self.output.take();
        self.fail(request, EIO, "no path to a working controller is left");
        let refusal = self.output.take();
        pending.answer(Box::new(move |is_answered| deliver(if is_answered { answer } else { refusal })));
    }

    /// Bytes of a request without its data.
    fn header_len(&self) -> usize {
        if self.agreed.is_extended { EXTENDED_REQUEST_LEN } else { REQUEST_LEN }
    }

    fn next<R: Read>(&mut self, input: &mut Incoming<R>) -> io::Result<Option<Request>> {
        let Some(header) = input.take(self.header_len())? else { return Ok(None) };
        let request = Request::of(header, self.agreed.is_extended);
        let strange =
            || io::Error::new(io::ErrorKind::InvalidData, "a request does not begin with its magic");
        request.ok_or_else(strange).map(Some)
    }

    fn execute<R: Read>(&mut self, input: &mut Incoming<R>, request: Request) -> io::Result<()> {
        let Request { flags, command, offset, len, .. } = request;
        let has_payload =
            command == command::WRITE || (self.agreed.is_extended && flags & command::PAYLOAD_LEN != 0);
        if has_payload && len > limits::PAYLOAD.into() {
            // What follows cannot be told from requests any more, unless all of it is waited for.
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a request carries more than 32 MiB"));
        }
        if has_payload {
            let len = narrow::<usize>(len);
            if self.payload.len() < len || self.payload.len() > 4 * len.max(1 << 20) {
                self.payload = vec![0; len];
            }
            input.fill(&mut self.payload[..len])?;
        }
        let allowed = match command {
            command::READ => command::DF,
            command::WRITE | command::TRIM => command::FUA,
            command::WRITE_ZEROES => command::FUA | command::NO_HOLE,
            command::BLOCK_STATUS => command::REQ_ONE,
            command::FLUSH | command::CACHE => command::FUA,
            _ => u16::MAX,
        };
        let allowed = allowed | if self.agreed.is_extended { command::PAYLOAD_LEN } else { 0 };
        if flags & !allowed != 0 || (has_payload && command != command::WRITE) {
            self.fail(request, EINVAL, "the request has a flag that it cannot have");
            return Ok(());
        }
        let is_inside = offset.checked_add(len).is_some_and(|end| end <= self.bytes);
        if command != command::FLUSH && !is_inside {
            let beyond =
                if command == command::WRITE || command == command::WRITE_ZEROES { ENOSPC } else { EINVAL };
            self.fail(request, beyond, "the request reaches beyond the end of the export");
            return Ok(());
        }
        let is_of_bytes = matches!(
            command,
            command::READ | command::WRITE | command::TRIM | command::WRITE_ZEROES | command::CACHE
        );
        if len == 0 && is_of_bytes {
            self.done(request);
            return Ok(());
        }
        match command {
            command::READ => self.read(request),
            command::WRITE => {
                let payload = std::mem::take(&mut self.payload);
                let done = self.write(offset, &payload[..narrow::<usize>(len)]);
                self.payload = payload;
                self.end(request, done);
            }
            command::FLUSH => {
                let done = self.machine.flush_telling(self.lun, &self.losses);
                self.end(request, done);
            }
            command::TRIM => {
                let done = self.trim(offset, len);
                self.end(request, done);
            }
            command::WRITE_ZEROES => {
                let done = self.zeros(offset, len, flags & command::NO_HOLE != 0);
                self.end(request, done);
            }
            // Nothing is read ahead.
            command::CACHE => self.done(request),
            command::BLOCK_STATUS => self.status(request),
            _ => self.fail(request, EINVAL, "the command is not known"),
        }
        Ok(())
    }

    fn read(&mut self, request: Request) {
        let Request { offset, len, .. } = request;
        if len > limits::PAYLOAD.into() {
            return self.fail(request, EOVERFLOW, "a read is at most 32 MiB");
        }
        if len >= LENT
            && !self.is_paced
            && offset.is_multiple_of(SECTOR_BYTES)
            && len.is_multiple_of(SECTOR_BYTES)
            && let Some(lent) = self.machine.lend(&mut self.scratch, self.lun, offset, len)
        {
            self.read_header(request);
            return self.output.lend(lent);
        }
        debug_assert!(offset + len <= self.bytes, "a read lies in its export");
        let len = narrow::<usize>(len);
        let mark = self.output.mark();
        self.read_header(request);
        let into = self.output.room(len);
        let is_aligned = offset.is_multiple_of(SECTOR_BYTES) && (len as u64).is_multiple_of(SECTOR_BYTES);
        let read = if is_aligned {
            self.machine.read(&mut self.scratch, self.lun, offset, into)
        } else {
            let from = offset / SECTOR_BYTES * SECTOR_BYTES;
            let to = (offset + len as u64).next_multiple_of(SECTOR_BYTES);
            self.edge.resize(narrow::<usize>(to - from), 0);
            let read = self.machine.read(&mut self.scratch, self.lun, from, &mut self.edge);
            into.copy_from_slice(&self.edge[narrow::<usize>(offset - from)..][..len]);
            read
        };
        if let Err(fault) = read {
            self.output.back_to(mark);
            self.fail(request, errno(fault), &fault.to_string());
        }
    }

    fn read_header(&mut self, request: Request) {
        if self.agreed.is_structured {
            self.chunk_header(request, chunk::DONE, chunk::OFFSET_DATA, 8 + request.len);
            self.output.put(&request.offset.to_be_bytes());
        } else {
            self.simple_header(request, 0);
        }
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), Fault> {
        let end = offset + from.len() as u64;
        assert!(end <= self.bytes, "a write lies in its export");
        if offset.is_multiple_of(SECTOR_BYTES) && end.is_multiple_of(SECTOR_BYTES) {
            return self.machine.write(&mut self.scratch, self.lun, offset, from);
        }
        let _alone = UNALIGNED.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, last) = (offset / SECTOR_BYTES * SECTOR_BYTES, end.next_multiple_of(SECTOR_BYTES));
        self.edge.resize(narrow::<usize>(last - first), 0);
        self.machine.read(&mut self.scratch, self.lun, first, &mut self.edge)?;
        self.edge[narrow::<usize>(offset - first)..][..from.len()].copy_from_slice(from);
        self.machine.write(&mut self.scratch, self.lun, first, &self.edge)
    }

    fn zeros(&mut self, offset: u64, len: u64, keeps_room: bool) -> Result<(), Fault> {
        let end = offset + len;
        let first = offset.next_multiple_of(SECTOR_BYTES).min(end);
        let last = (end / SECTOR_BYTES * SECTOR_BYTES).max(first);
        assert!(
            offset <= first && first <= last && last <= end && end <= self.bytes,
            "zeros stay within the request"
        );
        for (from, to) in [(offset, first), (last, end)] {
            if from < to {
                self.write(from, &vec![0; narrow::<usize>(to - from)])?;
            }
        }
        if first == last {
            return Ok(());
        }
        self.machine.write_zeros(&mut self.scratch, self.lun, first, last - first, keeps_room)
    }

    fn trim(&mut self, offset: u64, len: u64) -> Result<(), Fault> {
        assert!(offset + len <= self.bytes, "what is forgotten lies in its export");
        let first = offset.next_multiple_of(SECTOR_BYTES);
        let last = (offset + len) / SECTOR_BYTES * SECTOR_BYTES;
        if first >= last {
            return Ok(());
        }
        self.machine.trim(&mut self.scratch, self.lun, first, last - first)
    }

    fn status(&mut self, request: Request) {
        let Request { offset, len, flags, .. } = request;
        if !self.agreed.has_status {
            return self.fail(request, EINVAL, "base:allocation was not agreed on");
        }
        if len == 0 {
            return self.fail(request, EINVAL, "block status of no bytes");
        }
        let most = if flags & command::REQ_ONE != 0 { 1 } else { limits::EXTENTS };
        let first = offset / SECTOR_BYTES * SECTOR_BYTES;
        let last = (offset + len).next_multiple_of(SECTOR_BYTES).min(self.bytes);
        let mut runs = match self.machine.extents(self.lun, first, last - first, most) {
            Ok(runs) => runs,
            Err(fault) => return self.fail(request, errno(fault), &fault.to_string()),
        };
        // What is asked for need not begin and end at a sector.
        if let Some(run) = runs.first_mut() {
            run.0 -= offset - first;
        }
        debug_assert!(runs.len() <= most, "an answer has no more extents than it may have");
        let told: u64 = runs.iter().map(|run| run.0).sum();
        if let Some(run) = runs.last_mut().filter(|_| told > len) {
            run.0 -= told - len;
        }
        let descriptor = |is_hole: bool| if is_hole { HOLE_AND_ZERO } else { 0 };
        if self.agreed.is_extended {
            let data = 8 + 16 * runs.len() as u64;
            self.chunk_header(request, chunk::DONE, chunk::BLOCK_STATUS_EXT, data);
            self.output.put(&ALLOCATION_ID.to_be_bytes());
            self.output.put(&narrow::<u32>(runs.len()).to_be_bytes());
            for (bytes, is_hole) in runs {
                self.output.put(&bytes.to_be_bytes());
                self.output.put(&u64::from(descriptor(is_hole)).to_be_bytes());
            }
            return;
        }
        self.chunk_header(request, chunk::DONE, chunk::BLOCK_STATUS, 4 + 8 * runs.len() as u64);
        self.output.put(&ALLOCATION_ID.to_be_bytes());
        for (bytes, is_hole) in runs {
            self.output.put(&narrow::<u32>(bytes).to_be_bytes());
            self.output.put(&descriptor(is_hole).to_be_bytes());
        }
    }

    /// Ends a request that gives no data back, on stable storage where that was wanted.
    fn end(&mut self, request: Request, done: Result<(), Fault>) {
        let is_durable = request.flags & command::FUA != 0;
        match done.and_then(|()| if is_durable { self.machine.flush(self.lun) } else { Ok(()) }) {
            Ok(()) => self.done(request),
            Err(fault) => self.fail(request, errno(fault), &fault.to_string()),
        }
    }

    fn done(&mut self, request: Request) {
        if self.agreed.is_extended || (self.agreed.is_structured && request.command == command::READ) {
            self.chunk_header(request, chunk::DONE, chunk::NONE, 0);
        } else {
            self.simple_header(request, 0);
        }
    }

    fn fail(&mut self, request: Request, error: u32, why: &str) {
        if !self.agreed.is_structured {
            return self.simple_header(request, error);
        }
        let why = &why.as_bytes()[..why.len().min(200)];
        self.chunk_header(request, chunk::DONE, chunk::ERROR, 6 + why.len() as u64);
        self.output.put(&error.to_be_bytes());
        self.output.put(&narrow::<u16>(why.len()).to_be_bytes());
        self.output.put(why);
    }

    fn simple_header(&mut self, request: Request, error: u32) {
        self.output.put(&simple_reply(error, request.cookie));
    }

    fn chunk_header(&mut self, request: Request, flags: u16, kind: u16, len: u64) {
        let is_extended = self.agreed.is_extended;
        let magic = if is_extended { EXTENDED_REPLY } else { STRUCTURED_REPLY };
        self.output.put(&magic.to_be_bytes());
        self.output.put(&flags.to_be_bytes());
        self.output.put(&kind.to_be_bytes());
        self.output.put(&request.cookie.to_be_bytes());
        if is_extended {
            self.output.put(&request.offset.to_be_bytes());
            self.output.put(&len.to_be_bytes());
        } else {
            self.output.put(&narrow::<u32>(len).to_be_bytes());
        }
    }
}

fn errno(fault: Fault) -> u32 {
    match fault {
        Fault::Lost | Fault::CacheLost | Fault::NoPath | Fault::Journal => EIO,
        Fault::OutOfRange => EINVAL,
        Fault::NoSpace => ENOSPC,
        Fault::ReadOnly => EPERM,
    }
}
