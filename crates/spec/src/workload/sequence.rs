//! How a worker continues from one request to the next, and when it begins and ends.

use units::{Bytes, Nanos};

use crate::steady::Steady;

/// How a worker continues from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// So many requests follow each other from each place that the pattern draws; at least 1.
    pub consecutive: u32,
    /// They go to that place again and again, not on from it.
    pub repeat_offset: bool,
    /// Once all slots are taken, none is filled again before so few requests are in flight; below the depth.
    pub low_water: Option<u32>,
    /// Its part of the requests, in proportion to those of the phase's other workloads that have one; at least 1.
    pub flow: Option<u32>,
    /// After so many writes of a worker they are read back, and the last ones at the end; at least 1.
    pub read_back: Option<u32>,
    /// After so many requests of a worker, and once all of them have ended, it closes its files and opens them again; at
    /// least 1.
    pub reopen_every: Option<u32>,
    /// The page cache forgets a worker's files whenever it opens them again.
    pub reopen_cold: bool,
    /// Only those of its requests that write are asked, and they read; the others are left out.
    pub reread: bool,
    /// Operations come in their shares, spread evenly, and are not drawn.
    pub even_mix: bool,
}

impl Sequence {
    /// Nothing particular.
    pub const PLAIN: Sequence = Sequence {
        consecutive: 1,
        repeat_offset: false,
        low_water: None,
        flow: None,
        read_back: None,
        reopen_every: None,
        reopen_cold: false,
        reread: false,
        even_mix: false,
    };
}

/// When a workload begins and ends. Whatever is set first reached ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// The pause before its first request, beside others that have begun.
    pub start: Nanos,
    /// Load that is not counted, before.
    pub warmup: Nanos,
    /// In place of a time, the bytes of all workers together after which the measured time begins.
    pub warmup_bytes: Option<Bytes>,
    /// The measured time; `None` means until `ops` or `bytes` are done.
    pub run: Option<Nanos>,
    /// Once `run` is over, each worker goes on to as many requests as the one that had issued most; that is measured, too.
    pub wear_out: bool,
    /// Load that is not counted, after, so that the last measured requests meet the same company.
    pub cooldown: Nanos,
    /// Requests of all workers together, from the start.
    pub ops: Option<u64>,
    /// They are counted anew from the end of the warm-up; as many within it end the load, too.
    pub ops_after_warmup: bool,
    /// Bytes of all workers together, from the start.
    pub bytes: Option<Bytes>,
    /// So many times as many bytes of each worker as its files or span hold.
    pub loops: Option<u32>,
    /// The first of its workers that has done its part ends the load of all others, whichever workload they belong to.
    pub exit_all: bool,
    /// It ends once all workloads beside it that are not to end so have ended.
    pub with_others: bool,
    /// Ends the load of all once a figure of this workload is steady.
    pub steady: Option<Steady>,
}
