//! The keys of queue depth and rate.

use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, or_none};
use crate::plan::text::PACES;

const SECTION: Section = Section("Queue depth and rate");

pub(super) const ENTRIES: [Entry<Draft>; 6] = [
    Entry {
        doc: SECTION.key(
            "workers",
            Kind::Count,
            "1",
            ["Threads that issue requests of this workload.", "1 to 65536.", "workers = 4"],
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
                "Queue depth: requests that each worker keeps outstanding.",
                "1 to 65536, with io_uring to 32768. In all, workers × depth are outstanding: each request that completes is followed by the next one at once, unless `submit_batch`, `complete_batch` or `low_water` say \
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
                "Once `depth` is reached, no request is issued until only so many are in flight.",
                "Below `depth`. Without it each request that completes is followed by the next one at once.",
                "low_water = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(0..=65_535)).map(|low| d.spec.sequence.low_water = low),
        write: |d| or_none(d.spec.sequence.low_water, |low| low.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "reopen_every",
            Kind::Count,
            "none",
            [
                "After so many requests a worker closes its files or devices and opens them again.",
                "It first waits until all of its requests have completed; the time to close and open is part of the next request's. A virtual array waits too, but its LUNs take no time to open. It goes with `depth = 1` or io_uring.",
                "reopen_every = 100",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|every| d.spec.sequence.reopen_every = every),
        write: |d| or_none(d.spec.sequence.reopen_every, |every| every.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "flow",
            Kind::Count,
            "none",
            [
                "Share of the requests, in proportion to the other workloads of the phase that have one.",
                "A workload with 8 issues eight times as many requests as one with 1, however fast each of them could be; one that is ahead waits for the others. A workload of several workers has one part for each. It needs a closed loop. fio: `flow`.",
                "flow = 8",
            ],
        ),
        read: |d, n| n.optional(|n| n.count32(1..=u32::MAX)).map(|flow| d.spec.sequence.flow = flow),
        write: |d| or_none(d.spec.sequence.flow, |flow| flow.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "pace",
            Kind::Choice(&PACES),
            "closed",
            [
                "Arrival process or rate limit: when the next request is due.",
                "`closed`: as soon as one completes (closed loop). `think(5ms)`: so long after one completes (fio: `thinktime`). \
                 `think(5ms, 8)`: eight requests of a worker, then a pause of so long once all of them have completed. \
                 `think(1s, 9s)`: whatever fits into nine seconds, and then nothing for one. \
                 `cap(500/s)` and `cap(100MB/s)`: as soon as one completes, but never more since the start than \
                 that rate allows, all workers together (fio: `rate_iops`, `rate`); after a slow stretch requests come faster until the rate has caught up, and response times count from the issue. \
                 `rate(500/s)`: an open loop at even intervals, all workers together; response times count from the instant a request was due, so that a stall counts in full. `rate(500/s, poisson)`: Poisson arrivals of that mean rate (fio: `rate_process=poisson`). \
                 `rate(500/s, onoff(2s, 8s))`: Poisson arrivals for two seconds, then none for eight, and so on. \
                 `trace`: when the trace says, counted from its first request; response times count from then. \
                 A request that falls due while all `depth` requests of each worker are in flight waits in the \
                 generator, which shows as lag; with `drop` at the end, as in `rate(500/s, poisson, drop)`, it is \
                 left out and counted. Requests that were due before the end of the load are issued for up to ten seconds after it.",
                "pace = \"rate(500/s)\"",
            ],
        ),
        read: |d, n| n.read("closed").map(|pace| d.spec.pace = pace),
        write: |d| d.spec.pace.to_string(),
    },
];
