//! The keys that say what writes contain.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};

const SECTION: Section = Section("Data content and verification");

pub(super) const ENTRIES: [Entry<Draft>; 5] = [
    Entry {
        doc: SECTION.key(
            "content",
            Kind::Choice(&["random", "zeros", "pattern(deadbeef)"]),
            "random",
            [
                "Data that writes contain.",
                "`random` neither compresses nor repeats unless `compress` and `dedupe` say so. Many arrays store nothing for `zeros`. fio: `zero_buffers`, `buffer_pattern`. `pattern(deadbeef)` repeats these bytes, up to 512 of them, from \
                 the start of each request.",
                "content = \"random\"",
            ],
        ),
        read: |d, n| n.read("random").map(|content| d.content = content),
        write: |d| d.content.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "compress",
            Kind::Ratio,
            "1:1",
            [
                "Compression ratio of the data: size before over size after (fio: `buffer_compress_percentage`).",
                "1:1 to 1000:1. Reached within each 4 KiB.",
                "compress = \"2:1\"",
            ],
        ),
        read: |d, n| n.read("2:1").map(|ratio| d.compress = ratio),
        write: |d| d.compress.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "dedupe",
            Kind::Ratio,
            "1:1",
            ["Deduplication ratio: blocks over distinct blocks (fio: `dedupe_percentage`).", "1:1 to 1000:1.", "dedupe = \"3:1\""],
        ),
        read: |d, n| n.read("3:1").map(|ratio| d.dedupe = ratio),
        write: |d| d.dedupe.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "verify",
            Kind::Choice(&["none", "written", "all", "content"]),
            "none",
            [
                "Whether reads are verified against written data (fio: `verify`).",
                "With `written` each block that is written is stamped with its offset, the plan's `seed`, the number \
                 of the write and a checksum. A block that this run has written, in this phase or an earlier one, must \
                 come back with the stamp of its last write; one that it has not written is checked where it carries a \
                 stamp of the same seed, as when an earlier run has written it. With `all` every block that is read \
                 must carry a stamp. Blocks whose write is in flight, or was when another one began, are not checked, \
                 and neither is what a workload without `verify` has overwritten. `content` stamps nothing: whatever \
                 is read must be the zeros or the pattern that `content` says. A block is 4KiB, or the largest part of \
                 it, at least 512B, that divides all sizes and alignments. What is wrong counts as a failed request; \
                 the record says where, what was expected and what was found, and the program ends with code 6. On \
                 real storage only: a virtual array holds no data.",
                "verify = \"written\"",
            ],
        ),
        read: |d, n| n.read("written").map(|verify| d.spec.verify = verify),
        write: |d| d.spec.verify.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "read_back",
            Kind::Count,
            "none",
            [
                "After so many writes a worker reads them back, and the last ones at its end (fio: `verify_backlog`).",
                "With `verify` they are checked then. These reads are figures of their own beside the writes, in no \
                 count that ends the load; those at the end lie behind the measured time of a load that ends by \
                 `run`.",
                "read_back = 32",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.sequence.read_back = every),
        write: |d| or_none(d.spec.sequence.read_back, |every| every.to_string()),
    },
];
