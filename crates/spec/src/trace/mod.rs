//! Recorded streams of requests, as they are asked again.
//!
//! **Invariant:** requests are in order of time, counted from the first of them.

mod places;
mod replay;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use units::convert::narrow;
use units::{Bytes, Nanos};

pub use self::places::{Places, Room};
pub use self::replay::{MOST_SCALE, Replay, asked};
use crate::Op;

/// The most files or devices of a trace.
pub const MOST_FILES: usize = 1 << 14;
const _: () = assert!(MOST_FILES * Op::ALL.len() == 1 << 16, "operation and file share sixteen bits");
const _: () = assert!(size_of::<Entry>() == 26, "a request takes what it says");

/// A recorded stream of requests. It takes 26 bytes of memory a request; copies share them.
#[derive(Clone, PartialEq)]
pub struct Trace {
    entries: Arc<Vec<Entry>>,
    files: Vec<String>,
    /// Where requests go; `None` where the trace says so itself.
    places: Option<Places>,
    /// How many requests there are of each operation and length.
    kinds: BTreeMap<(Op, u32), u64>,
    /// All bits that any offset has.
    offset_bits: u64,
    /// Whether times are sums of pauses, each from the end of a request to the next one.
    thinks: bool,
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// When it was asked, after the first request of the trace.
    pub at: Nanos,
    /// What was asked.
    pub op: Op,
    /// The number of the file or device, in order of appearance.
    pub file: u16,
    /// Where; zero for a flush.
    pub offset: Bytes,
    /// How much; zero for a flush alone.
    pub len: u32,
    /// The line of the text that says so, or the event of what blktrace has recorded, from 1.
    pub line: u32,
}

/// A request, packed: its fields follow each other without gaps, since a trace has millions of them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, packed(2))]
pub struct Entry {
    at_ns: u64,
    offset: u64,
    len: u32,
    line: u32,
    /// The operation in the upper two bits.
    what: u16,
}

impl Entry {
    /// The request, packed.
    pub fn of(request: TraceRequest) -> Entry {
        assert!(
            usize::from(request.file) < MOST_FILES,
            "file {} has no room beside the operation",
            request.file
        );
        let entry = Entry {
            at_ns: request.at.get(),
            offset: request.offset.get(),
            len: request.len,
            line: request.line,
            what: ((request.op as u16) << 14) | request.file,
        };
        debug_assert_eq!(entry.request(), request, "a request comes back as another");
        entry
    }

    /// The same request, that does something else.
    fn with_op(self, op: Op) -> Entry {
        Entry { what: ((op as u16) << 14) | (self.what & (narrow::<u16>(MOST_FILES) - 1)), ..self }
    }

    /// The request, taken apart.
    pub fn request(&self) -> TraceRequest {
        TraceRequest {
            at: Nanos::new(self.at_ns),
            op: Op::ALL[usize::from(self.what >> 14)],
            file: self.what & (narrow::<u16>(MOST_FILES) - 1),
            offset: Bytes::new(self.offset),
            len: self.len,
            line: self.line,
        }
    }
}

impl Trace {
    /// The trace of these requests, put in order of time, those of one instant as they come, and counted from the
    /// first; `files` are the names behind their numbers.
    pub fn new(requests: impl IntoIterator<Item = TraceRequest>, files: Vec<String>) -> Trace {
        Trace::packed(requests.into_iter().map(Entry::of).collect(), files)
    }

    /// The same of requests that are packed already.
    pub fn packed(mut entries: Vec<Entry>, files: Vec<String>) -> Trace {
        if !entries.is_sorted_by_key(|entry| entry.at_ns) {
            entries.sort_by_key(|entry| entry.at_ns);
        }
        debug_assert!(
            entries.iter().all(|entry| files.is_empty() || usize::from(entry.request().file) < files.len()),
            "a request of a file that has no name"
        );
        let first = entries.first().map_or(0, |entry| entry.at_ns);
        let mut kinds = BTreeMap::new();
        // Most requests are of the kind of the one before: one look-up for all of them.
        let mut run = (None, 0u64);
        let mut offset_bits = 0;
        for entry in &mut entries {
            entry.at_ns -= first;
            offset_bits |= entry.offset;
            let TraceRequest { op, len, .. } = entry.request();
            if run.0 == Some((op, len)) {
                run.1 += 1;
                continue;
            }
            if let (Some(kind), count) = std::mem::replace(&mut run, (Some((op, len)), 1)) {
                *kinds.entry(kind).or_insert(0) += count;
            }
        }
        if let (Some(kind), count) = run {
            *kinds.entry(kind).or_insert(0) += count;
        }
        debug_assert_eq!(kinds.values().sum::<u64>(), entries.len() as u64, "each request is of one kind");
        debug_assert!(
            entries.is_sorted_by_key(|entry| entry.at_ns),
            "requests are in the order of their times"
        );
        Trace { entries: Arc::new(entries), files, places: None, kinds, offset_bits, thinks: false }
    }

    /// The same, whose times are sums of pauses where `thinks` says so.
    pub fn with_thinks(mut self, thinks: bool) -> Trace {
        self.thinks = thinks;
        self
    }

    /// The same, whose requests go to these places. Each must have one.
    pub fn placed(&self, places: Places) -> Trace {
        Trace { places: Some(places), ..self.clone() }
    }

    /// Whether times are sums of pauses: each request was issued so long after the one before it had ended.
    pub fn thinks(&self) -> bool {
        self.thinks
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its requests in order.
    pub fn requests(&self) -> impl Iterator<Item = TraceRequest> {
        self.entries.iter().map(|entry| self.at_its_place(entry))
    }

    #[inline]
    fn at_its_place(&self, entry: &Entry) -> TraceRequest {
        let request = entry.request();
        match &self.places {
            None => request,
            Some(places) => places.place(request).expect("a trace is placed once each request has room"),
        }
    }

    /// The names of its files or devices, in order of appearance.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// From its first request to its last.
    pub fn duration(&self) -> Nanos {
        Nanos::new(self.entries.last().map_or(0, |entry| entry.at_ns))
    }

    /// How many requests there are of each operation and length.
    pub fn kinds(&self) -> impl Iterator<Item = (Op, u32, u64)> {
        self.kinds.iter().map(|((op, len), count)| (*op, *len, *count))
    }

    /// The largest power of two that all offsets are multiples of, at most 1 MiB.
    pub fn alignment(&self) -> Bytes {
        Bytes::new(1 << self.offset_bits.trailing_zeros().min(20))
    }

    /// What all its writes come to.
    pub fn written(&self) -> Bytes {
        let writes = self.kinds().filter(|(op, ..)| *op == Op::Write);
        Bytes::new(
            writes.map(|(_, len, count)| u64::from(len).saturating_mul(count)).fold(0, u64::saturating_add),
        )
    }

    /// The end of the request that reaches farthest into any of the files.
    pub fn extent(&self) -> Bytes {
        let ends = self.requests().map(|request| request.offset.get() + u64::from(request.len));
        Bytes::new(ends.max().unwrap_or(0))
    }

    /// Request number `index`, from 0; `None` behind the last.
    pub fn get(&self, index: usize) -> Option<TraceRequest> {
        self.entries.get(index).map(|entry| self.at_its_place(entry))
    }
}

impl fmt::Debug for Trace {
    /// What it comes to, not all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} requests of {} files in {})", self.len(), self.files.len(), self.duration())
    }
}
