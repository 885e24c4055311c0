//! The keys of a plan and of a phase.

use super::{Entry, KeyDoc, Kind, Level, or_none};
use crate::plan::metric::Until;
use crate::plan::mistakes::Wrong;
use crate::plan::rounds::Rounds;
use crate::plan::settle::{PointOrder, Settle};
use crate::plan::tree::Node;

/// What the top of the file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// What the plan is called.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Where every random choice comes from.
    pub seed: u64,
}

/// What a phase says apart from its workloads.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseHead {
    /// With `{key}` still in it.
    pub name: Option<String>,
    /// What it is for.
    pub about: String,
    /// How often each point is measured.
    pub repeat: u32,
    /// When to leave the innermost sweep.
    pub until: Option<Until>,
    /// How often it is gone through.
    pub rounds: Rounds,
    /// What stands before each of its loads that follows another.
    pub settle: Settle,
    /// In which order its points are measured.
    pub order: PointOrder,
}

/// Keys at the top of the file.
pub(crate) static PLAN: [Entry<Head>; 3] = [
    Entry {
        doc: KeyDoc {
            key: "name",
            level: Level::Plan,
            section: "The plan",
            kind: Kind::Text,
            default: "",
            short: "What the plan is called.",
            long: "Left out, it is the name of the file.",
            example: "name = \"oltp\"",
        },
        read: |h, n| a_name(n).map(|text| h.name = text.into()),
        write: |h| h.name.clone(),
    },
    Entry {
        doc: KeyDoc {
            key: "about",
            level: Level::Plan,
            section: "The plan",
            kind: Kind::Text,
            default: "",
            short: "What it is for, in a sentence.",
            long: "Shown by `fathom plan list`.",
            example: "about = \"8 KiB random, two reads to a write\"",
        },
        read: |h, n| n.text("\"what it is for\"").map(|text| h.about = text.into()),
        write: |h| h.about.clone(),
    },
    Entry {
        doc: KeyDoc {
            key: "seed",
            level: Level::Plan,
            section: "The plan",
            kind: Kind::Count,
            default: "1",
            short: "Every random choice follows from this.",
            long: "The same seed and the same plan ask for the same requests, on every machine. Point i of the \
                   plan, counted from 0, uses seed + i.",
            example: "seed = 42",
        },
        read: |h, n| n.count(0..=u64::MAX).map(|seed| h.seed = seed),
        write: |h| h.seed.to_string(),
    },
];

/// Keys of a phase that are not its workloads'.
pub(crate) static PHASE: [Entry<PhaseHead>; 7] = [
    Entry {
        doc: KeyDoc {
            key: "name",
            level: Level::PhaseOnly,
            section: "Phases",
            kind: Kind::Text,
            default: "",
            short: "What the phase is called; `{key}` is filled in.",
            long: "`{workers}` becomes the value of `workers`, `{oltp.workers}` that of one workload of several; \
                   `{{` is a brace. What is swept and not named is added at the end. Left out, it is `phase 1` \
                   and so on.",
            example: "name = \"8k x{workers}\"",
        },
        read: |h, n| a_name(n).map(|text| h.name = Some(text.into())),
        write: |h| h.name.clone().unwrap_or_default(),
    },
    Entry {
        doc: KeyDoc {
            key: "about",
            level: Level::PhaseOnly,
            section: "Phases",
            kind: Kind::Text,
            default: "",
            short: "What the phase is for, in a sentence.",
            long: "",
            example: "about = \"what the front end can do\"",
        },
        read: |h, n| n.text("\"what it is for\"").map(|text| h.about = text.into()),
        write: |h| h.about.clone(),
    },
    Entry {
        doc: KeyDoc {
            key: "repeat",
            level: Level::Phase,
            section: "Phases",
            kind: Kind::Count,
            default: "1",
            short: "How often each point is measured.",
            long: "1 to 1000, one after the other. From three on, their spread says how far a single one can be \
                   trusted.",
            example: "repeat = 3",
        },
        read: |h, n| n.count32(1..=1000).map(|repeat| h.repeat = repeat),
        write: |h| h.repeat.to_string(),
    },
    Entry {
        doc: KeyDoc {
            key: "until",
            level: Level::Phase,
            section: "Phases",
            kind: Kind::Table,
            default: "none",
            short: "Leaves the innermost sweep once more load no longer pays, or is too much.",
            long: "`flat` is `throughput` or `iops`. The sweep ends when none of its last `points` points (3) is \
                   more than `within` (3%) above the best point before them. Repeats of a point count as one, \
                   by their mean. `slo = \"p99<5ms\"` ends it after the first point that breaks an slo (as \
                   `fathom search` takes them), `cpu = \"90%\"` where the processors are so busy, \
                   `errors = \"1%\"` where more than that part of the requests fails. Several may be given.",
            example: "until = { flat = \"throughput\", within = \"3%\", points = 3 }",
        },
        read: |h, n| Until::read(n).map(|until| h.until = until),
        write: |h| or_none(h.until, |until| until.to_string()),
    },
    Entry {
        doc: KeyDoc {
            key: "rounds",
            level: Level::Phase,
            section: "Phases",
            kind: Kind::Table,
            default: "1",
            short: "How often the phase is gone through, all its sweeps and repeats each time.",
            long: "A number, or a table whose `steady` names a figure: the rounds end when that is steady, after five \
                   of them at the earliest and after `most` (25) at the latest. `at` says of which point, by the \
                   values of its swept keys as they are written: `at = { size = \"4KiB\", reads = \"0%\" }`. Steady is \
                   what SNIA's PTS calls so: over five rounds the figure stays within 20% of its mean from end to end, \
                   and the line fitted through it rises or falls by no more than 10% of that. `round` is among the \
                   swept values of the points.",
            example: "rounds = { most = 25, steady = \"iops\" }",
        },
        read: |h, n| Rounds::read(n).map(|rounds| h.rounds = rounds),
        write: |h| h.rounds.to_string(),
    },
    Entry {
        doc: KeyDoc {
            key: "settle",
            level: Level::Phase,
            section: "Phases",
            kind: Kind::Choice(&["auto", "none", "60s"]),
            default: "auto",
            short: "Rest before a load that follows another, so that no point inherits the caches of the last.",
            long: "`auto` on a virtual array: in virtual time, until every write-back cache is clean, and then its read \
                   caches are emptied, so that a point gives the same figures alone and in its sweep. On real storage, \
                   after a load that writes: a flush, and 2s without I/O; reads leave nothing to wait for, and caches \
                   that no flush empties stay as they are (see the finding `carry-over`). A duration flushes and then \
                   waits for so long: give one where an array takes longer to empty its write cache. `none` continues at once. The result says what was done before each point and for how long. There is no rest before the \
                   first load, beside a state of the plan, and on `null:`.",
            example: "settle = \"60s\"",
        },
        read: |h, n| n.read("60s").map(|settle| h.settle = settle),
        write: |h| h.settle.to_string(),
    },
    Entry {
        doc: KeyDoc {
            key: "point_order",
            level: Level::Phase,
            section: "Phases",
            kind: Kind::Choice(&["as-written", "shuffled"]),
            default: "as-written",
            short: "The order in which the points of the phase are measured.",
            long: "`as-written`: the last swept key fastest, repeats one after the other. `shuffled`: an order that \
                   follows from `seed`, so that what drifts slowly does not look like an effect of the swept key; each \
                   repeat is a pass over all points, in an order of its own, and rounds stay one after the other. Each \
                   point uses the seed that it has as written. `until` needs the order as written.",
            example: "point_order = \"shuffled\"",
        },
        read: |h, n| n.read("shuffled").map(|order| h.order = order),
        write: |h| h.order.to_string(),
    },
];

/// A text that can stand in a table: not empty, and on one line.
pub(crate) fn a_name(node: &Node) -> Result<&str, Wrong> {
    match node.text("\"oltp\"")? {
        text if text.trim().is_empty() => {
            Err(Wrong::new("a name needs at least one letter", "or leave it out"))
        }
        text if text.contains(char::is_control) => {
            Err(Wrong::new("a name is one line", "write it without line breaks and tabs"))
        }
        text => Ok(text),
    }
}
