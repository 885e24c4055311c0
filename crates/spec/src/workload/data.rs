//! What writes contain, what makes them durable, and whether reads are held against them.

/// What makes writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durability {
    /// Flag given when the target is opened.
    pub open: OpenSync,
    /// A flush after every so many writes of a worker.
    pub every: Option<u32>,
    /// A flush of each file of a worker after its last request, within the measured time.
    pub at_end: bool,
    /// What a flush is.
    pub flush: FlushKind,
}

impl Durability {
    /// Nothing is flushed, and no write waits for more than the device's answer.
    pub const NONE: Durability =
        Durability { open: OpenSync::None, every: None, at_end: false, flush: FlushKind::Fdatasync };
}

/// Flag given when the target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSync {
    /// None.
    None,
    /// O_DSYNC: data is durable when a write returns.
    Dsync,
    /// O_SYNC: data and metadata are.
    Sync,
}

/// What a flush is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2) of a whole file with SYNC_FILE_RANGE_WRITE: what the page cache holds of it is on its way, and
    /// nothing is waited for.
    SyncFileRange,
}

impl FlushKind {
    /// The name of the call.
    pub const fn call(self) -> &'static str {
        match self {
            FlushKind::Fsync => "fsync",
            FlushKind::Fdatasync => "fdatasync",
            FlushKind::SyncFileRange => "sync_file_range",
        }
    }
}

/// What writes contain.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing but zero bytes.
    Zeros,
    /// Neither compresses nor repeats when both ratios are 1.
    Random {
        /// Size before over size after compression, at least 1.
        compress: f64,
        /// Blocks over distinct blocks, at least 1.
        dedupe: f64,
    },
    /// Random data made once for each request in flight, and written again and again: it does not compress, and repeats.
    Reused,
    /// These bytes from the start of each request, again and again; 1 to [`MOST_PATTERN`] of them.
    Pattern(Vec<u8>),
}

/// The longest pattern that writes repeat, in bytes.
pub const MOST_PATTERN: usize = 64 << 10;

/// Whether what is read is held against what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing is stamped or looked at.
    None,
    /// Writes are stamped. Of what is read, blocks are checked that the run has written, or that carry its stamp.
    Written,
    /// Likewise, and every block that is read must carry a stamp.
    All,
    /// Nothing is stamped: all that is read must be zeros, or the pattern that writes repeat.
    Content,
}
