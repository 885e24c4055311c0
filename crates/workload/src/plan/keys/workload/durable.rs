//! The keys that say what makes writes durable.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};

const SECTION: Section = Section("Durability");

pub(super) const ENTRIES: [Entry<Draft>; 4] = [
    Entry {
        doc: SECTION.key(
            "sync",
            Kind::Choice(&["none", "dsync", "sync"]),
            "none",
            [
                "Synchronous I/O: how the target is opened (fio: `sync`).",
                "`dsync` (O_DSYNC): data is durable when a write returns. `sync` (O_SYNC): data and metadata are.",
                "sync = \"dsync\"",
            ],
        ),
        read: |d, n| n.read("none").map(|open| d.spec.durability.open = open),
        write: |d| d.spec.durability.open.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "flush_every",
            Kind::Count,
            "none",
            [
                "A flush after so many writes of a worker (fio: `fsync`, `fdatasync`).",
                "Its time is counted apart from that of the writes.",
                "flush_every = 32",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.durability.every = every),
        write: |d| or_none(d.spec.durability.every, |every| every.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "flush_at_end",
            Kind::Switch,
            "false",
            [
                "A flush of every file after the last request, within the measured window.",
                "Each worker flushes the files that it uses, one after the other, and the measured time ends with the \
                 last of them, later than `run` says. There is no `cooldown` then. An interrupted run does not flush.",
                "flush_at_end = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.durability.at_end = on),
        write: |d| d.spec.durability.at_end.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "flush",
            Kind::Choice(&["fsync", "fdatasync", "sync_file_range"]),
            "fdatasync",
            [
                "Which call a flush is.",
                "It holds for `flushes`, `flush_every` and `flush_at_end`. `sync_file_range` is Linux's with \
                 SYNC_FILE_RANGE_WRITE: writeback of the file's pages begins, nothing waits for it, and nothing is durable; with `direct = true` there is nothing to write back.",
                "flush = \"fsync\"",
            ],
        ),
        read: |d, n| n.read("fdatasync").map(|kind| d.spec.durability.flush = kind),
        write: |d| d.spec.durability.flush.to_string(),
    },
];
