//! The keys that say how requests reach the kernel.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section};
use crate::plan::text::CpuList;
use crate::plan::tree::Value;

const SECTION: Section = Section("I/O engine");

pub(super) const ENTRIES: [Entry<Draft>; 8] = [
    Entry {
        doc: SECTION.key(
            "engine",
            Kind::Choice(&["auto", "io_uring", "pread", "preadv2", "mmap", "stdio", "null"]),
            "auto",
            [
                "I/O engine: how requests are submitted to the kernel.",
                "`auto`: pread at depth 1, io_uring where it is allowed, otherwise pread with a thread for each \
                 request in flight. `stdio` gathers calls of a few bytes in user space, 4 KiB for each file, as a \
                 program in C does with putc. `null` does nothing at all and shows what the tool itself can do.",
                "engine = \"io_uring\"",
            ],
        ),
        read: |d, n| n.read("auto").map(|kind| d.spec.engine.kind = kind),
        write: |d| d.spec.engine.kind.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "submit_batch",
            Kind::Count,
            "1",
            [
                "Requests submitted in one system call, at most.",
                "1 to 4096. With 1 each request is submitted as soon as its slot is free, so that `depth` requests are in the device. More are cheaper for the processor; those of a \
                 call share one reading of the clock, and the first of them waits for the last to be made. No \
                 request waits for one that is not due yet. A virtual array takes requests without a system call, \
                 and answers alike whatever this is.",
                "submit_batch = 32",
            ],
        ),
        read: |d, n| n.count32(1..=4096).map(|batch| d.spec.engine.submit_batch = batch),
        write: |d| d.spec.engine.submit_batch.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "complete_batch",
            Kind::Count,
            "1",
            [
                "Completions that a worker with nothing to submit waits for, at least.",
                "1 to 4096, or all that are in flight if they are fewer. With 1 \
                 each completion is taken, and its slot filled again, at once. More wake the worker less often; a \
                 response time then contains the wait for the others, and the device has between depth − batch and \
                 depth requests. A worker with a schedule waits no longer than until its next request is due. All completed requests are taken. A virtual host waits alike.",
                "complete_batch = 32",
            ],
        ),
        read: |d, n| n.count32(1..=4096).map(|batch| d.spec.engine.complete_batch = batch),
        write: |d| d.spec.engine.complete_batch.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "sqpoll",
            Kind::Switch,
            "false",
            [
                "A kernel thread polls for submissions (io_uring SQPOLL).",
                "It keeps a processor busy.",
                "sqpoll = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.sqpoll = on),
        write: |d| d.spec.engine.sqpoll.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "iopoll",
            Kind::Switch,
            "false",
            [
                "Completions are polled for, without interrupts (io_uring IOPOLL, direct I/O).",
                "The device must have polling queues.",
                "iopoll = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.iopoll = on),
        write: |d| d.spec.engine.iopoll.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "cpus",
            Kind::Text,
            "any",
            [
                "Processors on which workers run.",
                "Worker i runs on the i-th of these, from the start again at the end. `any` leaves it to the kernel.",
                "cpus = \"0-3,8\"",
            ],
        ),
        read: |d, n| n.read::<CpuList>("0-3,8").map(|list| d.spec.engine.cpus = list.0),
        write: |d| CpuList(d.spec.engine.cpus.clone()).to_string(),
    },
    Entry {
        doc: SECTION.key(
            "numa",
            Kind::Count,
            "any",
            [
                "The NUMA node on which buffers and workers stay.",
                "`any` leaves it to the kernel.",
                "numa = 0",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "any" => {
                d.spec.engine.numa_node = None;
                Ok(())
            }
            _ => n.count32(0..=1023).map(|node| d.spec.engine.numa_node = Some(node)),
        },
        write: |d| d.spec.engine.numa_node.map_or("any".into(), |node| node.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "huge_pages",
            Kind::Switch,
            "false",
            [
                "Buffers lie in huge pages.",
                "Enough of them must be reserved on the host.",
                "huge_pages = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.engine.huge_pages = on),
        write: |d| d.spec.engine.huge_pages.to_string(),
    },
];
