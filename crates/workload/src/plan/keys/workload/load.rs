//! The keys that say how much is asked at once, and how fast.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};
use crate::plan::text::PACES;

const SECTION: Section = Section("How much at once, and how fast");

pub(super) const ENTRIES: [Entry<Draft>; 6] = [
    Entry {
        doc: SECTION.key(
            "workers",
            Kind::Count,
            "1",
            ["Identical workers, each a thread of its own on a real host.", "1 to 65536.", "workers = 4"],
        ),
        read: |d, n| n.count32(1..=65_536).map(|workers| d.spec.workers = workers),
        write: |d| d.spec.workers.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "depth",
            Kind::Count,
            "1",
            [
                "Requests each worker keeps in flight.",
                "1 to 65536, with io_uring to 32768. All together there are workers × depth in flight: each request that \
                 ends is followed by the next one at once, unless `submit_batch`, `complete_batch` or `low_water` say \
                 otherwise.",
                "depth = 32",
            ],
        ),
        read: |d, n| n.count32(1..=65_536).map(|depth| d.spec.depth = depth),
        write: |d| d.spec.depth.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "low_water",
            Kind::Count,
            "none",
            [
                "Once `depth` is reached, nothing more is asked before so few requests are in flight.",
                "Below `depth`. Without it each request that ends is followed by the next one at once.",
                "low_water = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(0..=65_535)).map(|low| d.spec.habits.low_water = low),
        write: |d| or_none(d.spec.habits.low_water, |low| low.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "reopen_every",
            Kind::Count,
            "none",
            [
                "After so many requests a worker closes its files or devices and opens them again.",
                "It first waits until all of its requests have ended, and asks nothing meanwhile; what closing and \
                 opening take is part of the next request's time. Of a virtual array the waiting is left: its LUNs do \
                 not see that they are opened. It goes with `depth = 1` or io_uring.",
                "reopen_every = 100",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.habits.reopen_every = every),
        write: |d| or_none(d.spec.habits.reopen_every, |every| every.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "flow",
            Kind::Count,
            "none",
            [
                "Its part of the requests, in proportion to the other workloads of the phase that have one.",
                "A workload with 8 asks for eight times as many requests as one with 1, however fast each of them \
                 could go; one that is ahead waits for the others. A workload of several workers has one part for \
                 each. It goes with a closed pace.",
                "flow = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|flow| d.spec.habits.flow = flow),
        write: |d| or_none(d.spec.habits.flow, |flow| flow.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "pace",
            Kind::Choice(&PACES),
            "closed",
            [
                "When the next request is due.",
                "`closed`: as soon as one completes. `think(5ms)`: so long after one completes. \
                 `think(5ms, 8)`: eight requests of a worker, and so long nothing once all of them have ended. \
                 `think(1s, 9s)`: whatever fits into nine seconds, and then nothing for one. \
                 `cap(500/s)` and `cap(100MB/s)`: as soon as one completes, but never more since the start than \
                 that rate allows, all workers together; a target that was slow is asked faster until it has \
                 caught up, and response times count from the issue. \
                 `rate(500/s)`: at \
                 even distances, all workers together; response times count from the due instant, so that a stall \
                 is charged to the target. `rate(500/s, poisson)`: at random instants of that mean rate. \
                 `rate(500/s, onoff(2s, 8s))`: at random instants for two seconds, then none for eight, and so on. \
                 `trace`: when the trace says, counted from its first request; response times count from then. \
                 A request that falls due while all `depth` requests of each worker are in flight waits in the \
                 generator, which shows as lag; with `drop` at the end, as in `rate(500/s, poisson, drop)`, it is \
                 left out and counted. What is due before the end of the load is issued for up to ten seconds \
                 after it.",
                "pace = \"rate(500/s)\"",
            ],
        ),
        read: |d, n| n.read("closed").map(|pace| d.spec.pace = pace),
        write: |d| d.spec.pace.to_string(),
    },
];
