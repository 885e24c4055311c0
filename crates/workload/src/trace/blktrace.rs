//! What the block layer of Linux was asked, as blktrace records it: events of fixed shape, a file for each processor.
//!
//! An event is a head of 48 bytes in the byte order of the machine that wrote it, and so many bytes of data as its head
//! says. Which events are requests is the same as in the text that blkparse makes of them, see [`blkparse`].
//!
//! Source: `struct blk_io_trace` of Linux, `include/uapi/linux/blktrace_api.h`; blkparse's `fill_rwbs`.

use units::convert::narrow;

use super::blkparse::{self, SECTOR_BYTES};
use super::reader::Gathered;
use crate::Op;

/// The head of an event.
pub(super) const HEAD: usize = 48;
/// What each begins with, without the version in the lowest byte.
pub(super) const MAGIC: u32 = 0x6561_7400;
/// The version that is read. The next one has a longer head, and is written only where a program asks for it.
pub(super) const VERSION: u32 = 7;

/// Of an action: queued, and issued to the driver.
pub(super) const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
/// Beside the action: the event says which control group asked.
pub(super) const OF_GROUP: u32 = 1 << 8;

/// Categories, in the upper half of an action.
pub(super) const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSED_THROUGH: u32 = 1 << 25;
pub(super) const NOTICE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// Whether bytes begin with the mark of an event, in either byte order.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    order(bytes).is_some()
}

/// How numbers lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// Whether it is that of this machine.
    pub(super) fn is_native(self) -> bool {
        (self == Order::Big) == cfg!(target_endian = "big")
    }
}

pub(super) fn order(bytes: &[u8]) -> Option<Order> {
    let mark = *bytes.first_chunk::<4>()?;
    let is_mark = |mark: u32| mark & !0xff == MAGIC;
    match (is_mark(u32::from_le_bytes(mark)), is_mark(u32::from_be_bytes(mark))) {
        (true, _) => Some(Order::Little),
        (_, true) => Some(Order::Big),
        _ => None,
    }
}

/// The events of one or several files.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// Bytes of an event that is not complete yet.
    rest: Vec<u8>,
    events: u32,
    asked: blkparse::Events,
}

impl Stream {
    /// Takes the next bytes of a file, in pieces of any length.
    pub fn take(&mut self, bytes: &[u8], to: &mut Gathered) -> Result<(), String> {
        self.rest.extend_from_slice(bytes);
        let rest = std::mem::take(&mut self.rest);
        let mut left = &rest[..];
        while let Some(length) = self.event(left, to)? {
            left = &left[length..];
        }
        self.rest = left.to_vec();
        Ok(())
    }

    /// The file has ended, and another may begin. An event that was cut off is an error: what else is missing nobody
    /// knows.
    pub fn end_of_file(&mut self) -> Result<(), String> {
        match std::mem::take(&mut self.rest).len() {
            0 => Ok(()),
            bytes => Err(format!(
                "the file ends within this event, after {bytes} of its bytes; copy it again, or cut them off with \
                 `truncate -s -{bytes}` if the events before them are enough"
            )),
        }
    }

    /// How many events there were.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// The requests.
    pub fn finish(self, queued: Vec<super::Entry>) -> Vec<super::Entry> {
        self.asked.finish(queued)
    }

    /// Takes one event off the front, if it is complete, and says how long it is.
    fn event(&mut self, bytes: &[u8], to: &mut Gathered) -> Result<Option<usize>, String> {
        let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok(None) };
        let Some(order) = order(head) else {
            return Err(
                "no event of blktrace begins here; the file is damaged, or not all of it is a trace".into()
            );
        };
        let head = Head { bytes: head, order };
        let version = head.word(0) & 0xff;
        if version != VERSION {
            return Err(format!(
                "an event of version {version}; version {VERSION} is read, and the text that `blkparse` makes of others"
            ));
        }
        let length = HEAD + usize::from(head.half(46));
        if bytes.len() < length {
            return Ok(None);
        }
        self.events = self.events.checked_add(1).ok_or("a trace has at most 4,294,967,295 events")?;
        to.set_line(self.events);
        self.request(&head, to)?;
        Ok(Some(length))
    }

    /// The request that an event stands for, if it does.
    fn request(&mut self, head: &Head<'_>, to: &mut Gathered) -> Result<(), String> {
        let action = head.word(28);
        let is_queued = match action & 0xffff & !OF_GROUP {
            QUEUED => true,
            ISSUED => false,
            _ => return Ok(()),
        };
        if action & (NOTICE | PASSED_THROUGH) != 0 || !self.asked.wants(is_queued) {
            return Ok(());
        }
        let (sector, len) = (head.long(16), u64::from(head.word(24)));
        let op = match () {
            () if len == 0 => None,
            () if action & DISCARD != 0 => Some(Op::Trim),
            () if action & WRITE != 0 => Some(Op::Write),
            () => Some(Op::Read),
        };
        let (op, sector) = match op {
            Some(op) => (op, sector),
            None if action & FLUSH != 0 => (Op::Flush, 0),
            None => return Ok(()),
        };
        let offset = sector.checked_mul(SECTOR_BYTES).ok_or("a sector beyond any storage")?;
        let device = head.word(36);
        let device = format!("{},{}", device >> 20, device & 0xf_ffff);
        self.asked.request(is_queued, head.long(8), &device, (op, offset, len), to)
    }
}

/// The head of an event: words at their places.
pub(super) struct Head<'a> {
    pub bytes: &'a [u8; HEAD],
    pub order: Order,
}

impl Head<'_> {
    fn number<const N: usize>(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&self.bytes[at..at + N]);
        if self.order == Order::Big {
            bytes[..N].reverse();
        }
        u64::from_le_bytes(bytes)
    }

    pub fn half(&self, at: usize) -> u16 {
        narrow::<u16>(self.number::<2>(at))
    }

    pub fn word(&self, at: usize) -> u32 {
        narrow::<u32>(self.number::<4>(at))
    }

    pub fn long(&self, at: usize) -> u64 {
        self.number::<8>(at)
    }
}
