//! The keys of logs.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};

const SECTION: Section = Section("Logging");

pub(super) const ENTRIES: [Entry<Draft>; 1] = [Entry {
    doc: SECTION.key(
        "iolog",
        Kind::Text,
        "none",
        [
            "File that logs each request as it was issued.",
            "fio's iolog of version 3: its time in microseconds since the load began, its file, operation, offset \
                 and length, in the order of issue. fio replays it (`--read_iolog`), and so does \
                 `pattern = \"trace\"`. A path is taken from where the program runs. The file is overwritten each time the load begins, so that after repeats and sweeps it holds the last point; an existing file that is no such log is left alone. It goes with one worker of any `depth`, and not with `tree`.",
            "iolog = \"issued.iolog\"",
        ],
    ),
    read: |d, n| {
        n.optional(|n| n.scalar().ok_or_else(|| n.not("the name of a file", "issued.iolog")))
            .map(|file| d.spec.iolog = file.filter(|file| !file.is_empty()))
    },
    write: |d| or_none(d.spec.iolog.as_ref(), String::clone),
}];
