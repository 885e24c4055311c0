//! The keys of the working set.

use units::Bytes;

use super::some_bytes;
use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};
use crate::plan::text::{FILES, LAYOUTS, TargetList};
use crate::plan::tree::Value;

const SECTION: Section = Section("Working set");

pub(super) const ENTRIES: [Entry<Draft>; 7] = [
    Entry {
        doc: SECTION.key(
            "offset",
            Kind::Extent,
            "0B",
            [
                "Where the working set begins on the target.",
                "A part such as `25%` is rounded down to a multiple of the alignment.",
                "offset = \"25%\"",
            ],
        ),
        read: |d, n| n.read("1GiB or 25%").map(|offset| d.spec.offset = offset),
        write: |d| d.spec.offset.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "span",
            Kind::Extent,
            "auto",
            [
                "Working-set size, from the offset on.",
                "`auto` is all of a device or an existing file; a scratch file is made larger than the known caches, within the free space. fio: `size`.",
                "span = \"64GiB\"",
            ],
        ),
        read: |d, n| n.read("64GiB, 50% or auto").map(|span| d.spec.span = span),
        write: |d| d.spec.span.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "worker_offset",
            Kind::Size,
            "none",
            [
                "Each worker has a span of its own, so much further on the target than that of the worker before it.",
                "Without it, workers share one span. `span` then holds for each worker, and `auto` is all from its \
                 own offset to the end of the target; spans may overlap.",
                "worker_offset = \"1GiB\"",
            ],
        ),
        read: |d, n| n.optional(some_bytes).map(|step| d.spec.worker_offset = step),
        write: |d| or_none(d.spec.worker_offset, Bytes::exact),
    },
    Entry {
        doc: SECTION.key(
            "files",
            Kind::Choice(&FILES),
            "shared",
            [
                "How many files there are in a directory target, and who uses which.",
                "`shared`: one file for all workers. `per_worker(4)`: each worker has four of its own and visits \
                 them in turn. `workers_per_file(2)`: two workers share each file. Offset and span hold \
                 for each file.",
                "files = \"per_worker(1)\"",
            ],
        ),
        read: |d, n| n.read("shared").map(|files| d.spec.files = files),
        write: |d| d.spec.files.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "on",
            Kind::Text,
            "all",
            [
                "Which of several targets, each named with --on, are used.",
                "Their numbers, from 1, in the order in which they are named, or those of a virtual array's LUNs. With \
             it, several workloads of a phase can each have a target of their own.",
                "on = \"1,3-4\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Integer(_) => n.count32(1..=65_535).map(|number| d.spec.on = vec![number]),
            _ => n.read::<TargetList>("1,3-4").map(|list| d.spec.on = list.0),
        },
        write: |d| TargetList(d.spec.on.clone()).to_string(),
    },
    Entry {
        doc: SECTION.key(
            "luns",
            Kind::Choice(&LAYOUTS),
            "concatenated",
            [
                "How several targets, each named with --on, are used together.",
                "`concatenated`: one after the other in one address space. `striped(1MiB)`: in turn, so many bytes \
             each; no request may cross from one to the next.",
                "luns = \"striped(1MiB)\"",
            ],
        ),
        read: |d, n| n.read("concatenated").map(|luns| d.spec.luns = luns),
        write: |d| d.spec.luns.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "direct",
            Kind::Switch,
            "true",
            [
                "Direct I/O: bypass the page cache of the host (`O_DIRECT`).",
                "With `false` the page cache is measured too, and often nothing else. fio: `direct`.",
                "direct = false",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.direct = on),
        write: |d| d.spec.direct.to_string(),
    },
];
