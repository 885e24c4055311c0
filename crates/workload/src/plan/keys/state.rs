//! The keys of a phase that brings the target into a state.

use document::{Node, Wrong};
use units::{Bytes, Nanos, Share};

use super::{Entry, KeyDoc, KeyValue, Level};
use crate::plan::state::StateWord;

/// What a state phase says.
#[derive(Clone, Debug)]
pub(crate) struct StateDraft {
    /// Which state.
    pub word: Option<StateWord>,
    /// How long, for `idle`.
    pub run: Option<Nanos>,
    /// Cut files to nothing before all else.
    pub empty: bool,
    /// First declare the span unused.
    pub trim: bool,
    /// Then write it so many times.
    pub fill: u32,
    /// Then let the page cache forget it.
    pub drop_caches: bool,
    /// And set the read-ahead.
    pub read_ahead: Option<Bytes>,
    /// And its scheduler.
    pub scheduler: Option<String>,
    /// The array's attention to its own work.
    pub rate: Option<Share>,
    /// Whether the next phase waits for its end.
    pub wait: bool,
}

impl Default for StateDraft {
    /// Before any key was read.
    fn default() -> StateDraft {
        StateDraft {
            word: None,
            run: None,
            empty: false,
            trim: false,
            fill: 1,
            drop_caches: true,
            read_ahead: None,
            scheduler: None,
            rate: None,
            wait: true,
        }
    }
}

/// Keys of a workload that `prepare` shares, because what is filled is what will be measured.
pub(crate) const PREPARE_SHARES: [&str; 5] = ["offset", "span", "content", "compress", "dedupe"];

/// Whether `key` says anything in that state.
pub(crate) fn fits(word: StateWord, key: &str) -> bool {
    match word {
        StateWord::Prepare => {
            ["empty", "trim", "fill", "drop_caches", "read_ahead", "scheduler"].contains(&key)
                || PREPARE_SHARES.contains(&key)
        }
        StateWord::Idle => key == "run",
        StateWord::FailDisk(_) => false,
        StateWord::Background(_) => key == "rate" || key == "wait",
        StateWord::Watch(_) => key == "wait",
    }
}

keys! {
    /// Keys of a state phase; `fits` says which state takes which.
    STATE: StateDraft, State;

    "States":
    state (
        Choice(&[
            "prepare", "idle", "fail disk 3", "rebuild",
            "initialise", "clone", "verify", "scrub", "watch rebuild",
        ]),
        "",
        "prepare"
    )
        [word]
        "Makes the phase a state of the target instead of a load."
        "`prepare` fills the span and empties caches. `idle` waits for `run`. The others are done by \
         virtual arrays: a disk fails (counted from 0), and the array rebuilds, initialises, clones, \
         verifies or scrubs. `watch rebuild` (or `watch scrub` and so on) starts nothing: it waits for the \
         end of such work that already runs. On real storage commands that you give fail the disk and start \
         the rebuild; `--progress` watches it."
    run (Duration, "", "60s") [run]
        "Duration of `idle`."
        "A device uses idle time to collect garbage, an array to empty its write cache."

    "States: prepare":
    empty (Switch, "false", true) [empty]
        "Truncates the files to length 0 first."
        "What is written next is then allocated anew, as in a file that was just made. Concerns files that \
         a classic tool makes under names of its own; scratch files, devices and virtual arrays stay as \
         they are."
    trim (Switch, "false", true) [trim]
        "Trims the whole span first."
        "A flash device then starts from a known condition. What was there is lost."
    fill (Count(0, 100), "1", 2) [fill]
        "Writes the whole span sequentially, this many times."
        "0 to 100. `content`, `compress` and `dedupe` say with what. Flash devices are commonly filled \
         twice before they are measured, so that garbage collection is at work."
    drop_caches (Switch, "true", false) [drop_caches]
        "Flushes the target, and drops it from the page cache."
        "Caches below the host are not affected."
    read_ahead (Size, "none", "4MiB") [read_ahead]
        "Sets the read-ahead of the block device for the phases that follow."
        "The run restores the old value at its end. Direct I/O is not affected, nor is a virtual array, which the record notes."
    scheduler (Text, "kept", "mq-deadline") [|d, n| a_scheduler(n).map(|name| d.scheduler = name)]
        "Sets the I/O scheduler of the block device for the phases that follow (fio: `ioscheduler`)."
        "A name of `/sys/block/DEVICE/queue/scheduler`: `none`, `mq-deadline`, `kyber`, `bfq`. The run restores the old one at \
         its end. A virtual array has none, which the record notes."

    "States: work of an array":
    rate (Share, "none", "30%") [rate]
        "Share of the array's capacity that the work may take."
        "`none` takes the array's own setting. Virtual arrays only."
    wait (Switch, "true", false) [wait]
        "Whether the next phase waits for the end of the work."
        "With `false` it runs beside the loads that follow."
}

/// A scheduler by the name that the kernel has for it; `None` for the one that the device has.
fn a_scheduler(node: &Node) -> Result<Option<String>, Wrong> {
    match node.text("\"mq-deadline\"")? {
        "kept" => Ok(None),
        name if !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) =>
        {
            Ok(Some(name.to_owned()))
        }
        _ => Err(Wrong::new(
            "a scheduler is a name of letters, digits and dashes",
            "write one of /sys/block/DEVICE/queue/scheduler, or `kept`",
        )),
    }
}
