//! What each key of a workload is for, in one line: the line of `fathom plan help`, of the reference page, and of the
//! record's schema.

/// Every key with its line, in the order of the reference page.
const ABOUT: [(&str, &str); 96] = [
    ("pattern", "Access pattern: the address of the next request (fio: `rw`, `random_distribution`)."),
    ("size", "Block size: bytes of one request (fio: `bs`; what fio calls `size` is `span`)."),
    ("reads", "Share of requests that read (fio: `rwmixread`)."),
    ("trims", "Share of requests that trim."),
    ("flushes", "Share of requests that flush."),
    (
        "random",
        "Share of requests whose address is drawn at random (fio: `percentage_random`; diskspd: `-rs`).",
    ),
    (
        "consecutive",
        "Requests in a sequential run from each address that the pattern draws (fio: `rw=randread:8`).",
    ),
    (
        "repeat_offset",
        "Requests of a run repeat the drawn address instead of continuing from it (fio: `rw_sequencer=identical`).",
    ),
    ("mix", "Requests of several kinds, as the lines of an Iometer access specification."),
    ("even_mix", "Operations come in exactly their shares, spread evenly, instead of drawn."),
    (
        "rewrites",
        "Share of reads (of trims, where nothing is read) that is followed by a write of the same block.",
    ),
    ("align", "Alignment: every offset is a multiple of this."),
    ("seed", "Seed of all random choices, together with the workload's name and the worker's number."),
    ("offset", "Where the working set begins on the target (fio: `offset`)."),
    ("span", "Working-set size, from `offset` on (fio: `size`)."),
    ("worker_offset", "Distance between the working sets of successive workers."),
    ("files", "Number of files in a directory target, and which workers use which (fio: `nrfiles`)."),
    ("on", "Which targets are used, of several given with --on."),
    ("luns", "How several targets, each given with --on, are laid out as one address space."),
    (
        "zone_size",
        "Zones of this size, each written in order from its start, as on a zoned device (fio: `zonemode=zbd`, `zonesize`).",
    ),
    ("zone_capacity", "Bytes of each zone that can be written (fio: `zonecapacity`)."),
    ("zone_skip", "Bytes that a stream leaves out after each zone (fio: `zoneskip`)."),
    (
        "open_zones",
        "Zones that are written in part at a time, by all workers on a target (fio: `max_open_zones`).",
    ),
    ("worker_open_zones", "Zones that each worker writes in part at a time (fio: `job_max_open_zones`)."),
    ("read_beyond_wp", "Reads go past the write pointer of a zone, too (fio: `read_beyond_wp`)."),
    ("zone_resets", "Share of writes before which their zone is reset (fio: `zone_reset_frequency`)."),
    (
        "zone_resets_above",
        "Share of the span that must be written before `zone_resets` begins (fio: `zone_reset_threshold`).",
    ),
    ("direct", "Direct I/O: bypass the page cache of the host (`O_DIRECT`; fio: `direct`)."),
    ("workers", "Threads that issue requests of this workload (fio: `numjobs`)."),
    (
        "hosts_on",
        "Over the ranks of `mpirun`: each rank drives the workers of a rank so many hosts on (IOR: `-C -Q`).",
    ),
    ("depth", "Queue depth: requests that each worker keeps outstanding (fio: `iodepth`)."),
    (
        "low_water",
        "Once `depth` is reached, no request is issued until no more than this many are in flight.",
    ),
    ("reopen_every", "A worker closes and reopens its files or devices after this many requests."),
    (
        "reopen_cold",
        "Drops the files from the page cache whenever they are opened again (fio: `invalidate`).",
    ),
    ("flow", "Ratio of this workload's requests to those of the others that have a `flow` (fio: `flow`)."),
    ("pace", "Arrival process or rate limit: when the next request is due."),
    ("start", "Delay before the first request."),
    ("warmup", "Warm-up: load before the measured window, not counted (fio: `ramp_time`)."),
    ("warmup_bytes", "Warm-up by bytes in place of time, all workers together (fio: `ramp_size`)."),
    ("run", "Duration of the measured window (fio: `runtime`)."),
    (
        "wear_out",
        "After `run`, each worker continues to as many requests as the furthest one had issued (IOR: `stoneWallingWearOut`; \
         mdtest: `-W`).",
    ),
    ("cooldown", "Cool-down: load after the measured window, not counted."),
    ("ops", "Stops after this many requests, all workers together."),
    ("ops_after_warmup", "Counts `ops` anew once the warm-up is over (fio: `number_ios` with `ramp_time`)."),
    ("bytes", "Stops after this many bytes, all workers together (fio: `io_size`, there of each job)."),
    ("loops", "Stops once each worker has moved this many times the bytes of its working set."),
    ("exit_all", "Stops all workers as soon as the first one has completed its share."),
    ("end_with_others", "Ends once all workloads beside it have ended (fio: `exit_on_io_done`)."),
    (
        "steady",
        "Stops all workloads once the rate or latency of this one meets this criterion (fio: `steadystate`).",
    ),
    ("sync", "Synchronous I/O: how the target is opened (fio: `sync`)."),
    ("flush_every", "Flushes after this many writes of a worker (fio: `fsync`, `fdatasync`)."),
    ("flush_at_end", "Flushes every file after the last request, within the measured window."),
    ("flush", "System call that a flush makes."),
    ("content", "Data that writes contain (fio: `zero_buffers`, `buffer_pattern`)."),
    (
        "compress",
        "Compression ratio of the data: size before over size after (fio: `buffer_compress_percentage`).",
    ),
    ("dedupe", "Deduplication ratio: blocks over distinct blocks (fio: `dedupe_percentage`)."),
    ("verify", "Whether reads are verified against written data (fio: `verify`)."),
    ("stamp", "Header that marks written blocks: Fathom's own or fio's (fio: `verify`, `verify_interval`)."),
    (
        "read_back",
        "Reads back the writes of a worker after this many, and the last ones at its end (fio: `verify_backlog`).",
    ),
    ("reread", "Reads what the same workload would write, and leaves its reads out (fio: `verify_only`)."),
    ("engine", "I/O engine: how requests are submitted to the kernel."),
    ("submit_batch", "Maximum number of requests submitted in one system call."),
    ("complete_batch", "Minimum number of completions that a worker with nothing to submit waits for."),
    ("sqpoll", "A kernel thread polls for submissions (io_uring SQPOLL)."),
    ("iopoll", "Completions are polled for, without interrupts (io_uring IOPOLL, direct I/O)."),
    ("cpus", "Processors on which workers run."),
    ("numa", "NUMA node of buffers and workers (fio: `numa_cpu_nodes`, `numa_mem_policy`)."),
    ("huge_pages", "Buffers in huge pages (fio: `iomem=mmaphuge`)."),
    ("io_priority", "I/O priority of the requests (fio: `prioclass`, `prio`)."),
    (
        "request_priority",
        "I/O priorities of parts of the requests (fio: `cmdprio_percentage`, `cmdprio_bssplit`).",
    ),
    ("atomic", "Untorn writes: a write that the device cannot take as a whole fails (`RWF_ATOMIC`)."),
    ("nowait", "Requests that would wait fail at once (`RWF_NOWAIT`)."),
    ("uncached", "Buffered I/O that leaves nothing in the page cache (`RWF_DONTCACHE`)."),
    (
        "polled",
        "Part of the requests whose completion the calling thread polls for (`RWF_HIPRI`; fio: `hipri` and \
         `hipri_percentage` of pvsync2).",
    ),
    (
        "write_hint",
        "Expected lifetime of written data, told to the file system and the device (fio: `write_hint`).",
    ),
    (
        "write_command",
        "Command that a write is sent as, past the block layer (fio: `sg_write_mode`, `write_mode`).",
    ),
    ("read_fua", "Reads pass by the cache of the device: force unit access (fio: `readfua`)."),
    ("write_fua", "Writes are on the medium when they end: force unit access (fio: `writefua`)."),
    ("iolog", "File that logs each request in the order of issue."),
    ("trace", "File of the trace that `pattern = \"trace\"` replays."),
    (
        "trace_speed",
        "Replay speed: how many times faster than recorded (fio: `replay_time_scale`, in percent).",
    ),
    ("trace_scale", "Divisor of the offsets of the trace."),
    ("trace_skip", "Operations of the trace that are not replayed (fio: `replay_skip`)."),
    ("trace_as", "Operation that all requests of the trace become."),
    ("trace_fold", "Requests beyond the end of the target wrap around to its start."),
    (
        "tree",
        "What is done to each file or directory of a tree, instead of I/O to blocks (fio: `ioengine=filecreate` …).",
    ),
    ("count", "Files of a tree, all workers together (fio: `nrfiles`, there of each job)."),
    ("file_size", "Size of the files of a tree (fio: `filesize`)."),
    ("levels", "Levels of directories below the top of a tree."),
    ("fanout", "Directories in each directory that has any."),
    ("files_in", "Which directories of a tree hold files."),
    ("unique_dirs", "Each worker has a tree of its own."),
    ("visitors", "Which worker visits which names of a tree."),
    ("order", "Order in which the names of a tree are visited."),
    ("fsync", "When changes to a tree are made durable."),
    ("direct_files", "Content of the files of a tree goes past the page cache."),
];

/// How many keys there are.
pub(crate) const KEYS: usize = ABOUT.len();

/// What `key` is for, in one line that ends with a full stop.
///
/// # Panics
///
/// Panics for what is no key of a workload; in a constant, as the tables of keys are, that ends the build.
pub const fn about(key: &str) -> &'static str {
    let mut at = 0;
    while at < ABOUT.len() {
        if is_same(ABOUT[at].0.as_bytes(), key.as_bytes()) {
            return ABOUT[at].1;
        }
        at += 1;
    }
    panic!("no key of a workload");
}

/// `==`, which constants do not have for slices.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
