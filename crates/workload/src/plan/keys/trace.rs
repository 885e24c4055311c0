//! The keys of trace replay.

use super::draft::Draft;
use super::{Entry, Kind, Section, or_none};
use crate::plan::text::{DataOp, Factor, OpList};
use crate::trace::MOST_SCALE;

const SECTION: Section = Section("Trace replay");

/// In the order of the reference page.
pub(super) const ENTRIES: [Entry<Draft>; 6] = [
    Entry {
        doc: SECTION.key(
            "trace",
            Kind::Text,
            "none",
            [
                "The file of the trace that `pattern = \"trace\"` replays.",
                "fio's iolog of version 2 or 3, what blktrace records, the text of blkparse, the CSV of MSR Cambridge, \
                 telemetry of IOzone, or a CSV with the columns `at_s,op,file,offset_bytes,size_bytes`, of which time \
                 and file may be left out. A path is taken from where the program runs. Operation, offset and size of \
                 each request come from the trace; `size`, `reads`, `trims` and `flushes` do not hold. The load ends \
                 with the trace, or earlier where `run`, `ops` or `bytes` say so. The files or devices that the trace \
                 names are the targets in the order of `--on`. Each request takes 32 bytes of memory.",
                "trace = \"database.iolog\"",
            ],
        ),
        read: |d, n| {
            n.optional(|n| n.scalar().ok_or_else(|| n.not("the name of a file", "database.iolog")))
                .map(|file| d.replay.file = file.unwrap_or_default())
        },
        write: |d| or_none(Some(&d.replay.file).filter(|file| !file.is_empty()), String::clone),
    },
    Entry {
        doc: SECTION.key(
            "trace_speed",
            Kind::Factor,
            "1",
            [
                "Replay speed: how many times faster than recorded (fio: `replay_time_scale`, in percent).",
                "It holds for `pace = \"trace\"`; from 0.001 to 1000.",
                "trace_speed = 2",
            ],
        ),
        read: |d, n| n.read::<Factor>("2").map(|factor| d.replay.speed = factor.0),
        write: |d| Factor(d.replay.speed).to_string(),
    },
    Entry {
        doc: SECTION.key(
            "trace_scale",
            Kind::Count,
            "1",
            [
                "Divisor of the offsets of the trace.",
                "It brings the trace of a large device onto a small one. The results are rounded down to multiples of \
                 `align`, where that is said.",
                "trace_scale = 10",
            ],
        ),
        read: |d, n| n.count32(1..=MOST_SCALE).map(|scale| d.replay.scale = scale),
        write: |d| d.replay.scale.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "trace_skip",
            Kind::Text,
            "none",
            [
                "Operations of the trace that are not replayed (fio: `replay_skip`).",
                "A list of read, write, trim and flush. With `write,trim` a trace changes nothing.",
                "trace_skip = \"write,trim\"",
            ],
        ),
        read: |d, n| n.read::<OpList>("write,trim").map(|list| d.replay.skip = list.0),
        write: |d| OpList(d.replay.skip.clone()).to_string(),
    },
    Entry {
        doc: SECTION.key(
            "trace_as",
            Kind::Choice(&["none", "read", "write", "trim"]),
            "none",
            [
                "Operation that all requests of the trace become.",
                "With `read` a trace changes nothing, whatever it did when it was recorded; with `write` the telemetry \
                 of IOzone, which says nothing of it, writes. `none` leaves each as it was. Flushes stay.",
                "trace_as = \"read\"",
            ],
        ),
        read: |d, n| n.optional(|n| n.read::<DataOp>("read")).map(|op| d.replay.as_op = op.map(|op| op.0)),
        write: |d| or_none(d.replay.as_op, |op| op.name().to_owned()),
    },
    Entry {
        doc: SECTION.key(
            "trace_fold",
            Kind::Switch,
            "false",
            [
                "Requests beyond the end of the target wrap around to its start.",
                "Files of the trace without a target of their own wrap around to the first targets. \
                 Without it both are errors, with the line of the trace.",
                "trace_fold = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.replay.fold = on),
        write: |d| d.replay.fold.to_string(),
    },
];
