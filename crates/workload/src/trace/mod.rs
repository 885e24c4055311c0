//! Recorded streams of requests: read from the texts of several tools, and asked again.
//!
//! **Invariant:** requests are in order of time, counted from the first of them; no text whatever makes a reader
//! panic, and what it cannot read is an error with its line.

mod alibaba;
mod blkparse;
mod blktrace;
mod csv;
mod cursor;
mod disksim;
mod iolog;
mod merge;
mod msr;
mod place;
mod reader;
mod spc;
mod telemetry;

pub(crate) use spec::trace::{Entry, MOST_FILES, Places, Room, asked};
pub use spec::trace::{MOST_SCALE, Replay, Trace, TraceRequest};

pub(crate) use cursor::{Arrivals, Cursor};
pub use iolog::{IologWriter, is_iolog};
pub use merge::{MergedBlktrace, merge_blktraces};
pub(crate) use place::specs;
pub use reader::{FORMATS, Recorded, TraceError, TraceFormat, TraceReader};

/// The most requests of a trace: 13 GB of them.
const MOST_REQUESTS: usize = 500_000_000;
/// The longest request, the kernel's own limit for one, in whole pages.
const LONGEST: u64 = (1 << 31) - 4096;
