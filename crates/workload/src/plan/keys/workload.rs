//! The keys of a workload.

use document::{Node, Value, Wrong};
use units::{Bytes, Share};

use super::draft::Draft;
use super::{Entry, KeyDoc, KeyValue, Level};
use crate::plan::text::{
    CpuList, DataOp, FILES, Factor, LAYOUTS, OpList, PACES, PATTERNS, TargetList, own_lines, sizes_of,
};
use crate::spec::SizeSplit;
use crate::trace::MOST_SCALE;
use crate::tree::FileSizes;

const MOST_U32: u64 = u32::MAX as u64;

keys! {
    /// Keys that are the specification of a workload, in the order of the reference page. They may be swept, and are
    /// kept in the record.
    WORKLOAD: Draft, Workload;

    "Access pattern":
    pattern (Choice(&PATTERNS), "random", "hot(90% in 10%)") [spec.pattern] _
        "`sequential` and `reverse`: each worker reads or writes its own share of the span from end to end, \
         and starts again. `stride(1MiB)` does so in steps of that size from start to start, \
         `reverse(1MiB)` downwards; `stride(1GiB, 64MiB)` covers the first 64 MiB of each GiB, \
         `columns(128KiB, 32KiB)` takes one request of every 128 KiB, then the one beside each, until 32 \
         KiB of each are covered. `random` visits each block once before any repeats, in another order each time, as fio does with its \
         random map; `random(repeats)` draws independently (fio: `norandommap`), from all offsets that \
         `align` allows. `zipf(1.2)`: the block of rank r is accessed in proportion to 1/r^1.2; ranks are \
         scattered over the span. `pareto(0.2)`: four fifths of the requests go to a fifth of the blocks, \
         and so on within that fifth; blocks are scattered too. `normal(10%)` is bell-shaped about the \
         middle, with a standard deviation of that part of the span; `normal(10%, scattered)` scatters its \
         blocks. `hot(50% in 5%, 30% in 15%)` sends half of the requests to the first 5% of the span, 30% \
         to the next 15%, and the rest to the rest; a zone may be a size, as in `hot(50% in 10GiB)`. \
         `sequential(interlocked)` is one stream for all workers, who take its requests in turn. `sequence(2, 0, \
         1)` repeats blocks of the largest size by their numbers, every worker for itself; with `moving` each \
         round begins as many blocks further as it has. `aged(15%, 100)` brings a flash device with 15% of \
         spare room to where long random writes would bring it, in one pass of 1.15 times the span, in 100 \
         parts. `trace` replays a recorded trace, see `trace`; workers take its requests in turn."
    size (Sizes, "4KiB", { "4KiB" = 60, "64KiB" = 40 }) [spec.sizes] _
        "One size, or up to 64 with their weights, which need not sum to 100. Each is drawn independently."
    reads (Share, "rest", "2/3") [reads] _
        "What is neither read, trim nor flush is a write. Left out (`rest`), nothing is written: all that \
         is neither trim nor flush reads, so that a plan changes data only where it says so."
    trims (Share, "0%", "10%") [spec.mix.trims] _
        "Also called discard, unmap or deallocate. The data there is lost. A trim of a regular file punches a hole in it \
         (`fallocate`): its file system frees the blocks, and the device hears of it only where that is mounted with `discard`."
    flushes (Share, "0%", "1%") [spec.mix.flushes] _
        "`flush` says by which call. See `flush_every` for a flush after every so many writes."
    random (Share, "auto", "70%") [spec.random] _
        "The others continue where the last request of the same worker ended, and from the start of the \
         span after its end. `auto` leaves it to the pattern: all of them for a random one, none for \
         `sequential`. A random pattern draws these addresses by its own rule; with `sequential` they are drawn \
         independently from the whole span."
    consecutive (Count(1, MOST_U32), "1", 8) [spec.sequence.consecutive] _
        "For random patterns: 8 is one request to a drawn address and seven that continue where it ended. With `random`, its share goes to drawn addresses, and each of these starts \
         a run."
    repeat_offset (Switch, "false", true) [spec.sequence.repeat_offset] _
        "A repeated address is mostly in a cache by then: with `consecutive = 2` every second request \
         repeats the one before. Of `sequential` each request is issued `consecutive` times."
    mix (
        Lines,
        "none",
        ("mix = [{ share = 60, size = \"4KiB\", reads = \"80%\" }, \
          { share = 40, size = \"64KiB\", reads = \"0%\", random = \"0%\" }]")
    )
        [|d, n| own_lines(n).map(|lines| d.lines = lines)] _
        "Each line has a `share`, its weight among the lines, which need not sum to 100, and may have its \
         own `size`, `reads`, `trims`, `flushes`, `random` and `align`; what it does not say holds from the \
         workload. Each request draws a line. `burst = 8` lets so many requests follow from the line once \
         it is drawn, and `delay = \"5ms\"` waits so long before them, counted from when the worker has a \
         free slot; a line with a burst is drawn by its share among the bursts. At most 100 lines and 64 \
         different sizes."
    even_mix (Switch, "false", true) [spec.sequence.even_mix] _
        "With `reads = \"75%\"`, exactly every fourth request of a worker writes. By default each operation is \
         drawn, and over a few hundred requests the share is some percent off. With `mix`, each line spreads its own."
    rewrites (Share, "0%", "10%") [spec.rewrites] _
        "The write begins when the read or trim has ended, in its place among the requests in flight, and \
         counts as a request of its own. They are spread evenly: of `10%` every tenth read of a worker is \
         followed. `100%` is what Bonnie++ calls a rewrite. One that fails is not followed."
    align (Size, "auto", "4KiB") [spec.align] _
        "`auto` is the smallest size of the workload, counted from `offset` where that is a size. Direct \
         I/O needs at least the block size of the device."
    seed (Count(0, u64::MAX), "auto", 7)
        [|d, n| n.unless("auto", a_seed).map(|seed| d.spec.seed = seed.unwrap_or(d.spec.seed))] _
        "`auto` is the plan's own `seed` plus the number of the point, so that no two points access the \
         same addresses, which a cache would then already hold. A number makes points repeat one another."

    "Working set":
    offset (Extent, "0B", "25%") [spec.offset] _
        "A part such as `25%` is rounded down to a multiple of the alignment."
    span (Extent, "auto", "64GiB") [spec.span] _
        "`auto` is all of a device or an existing file; a scratch file is made larger than the known \
         caches, within the free space."
    worker_offset (Size, "none", "1GiB")
        [|d, n| n.optional(some_bytes).map(|step| d.spec.worker_offset = step)] _
        "Without it, workers share one span. `span` then holds for each worker, and `auto` is all from its \
         own offset to the end of the target; spans may overlap."
    files (Choice(&FILES), "shared", "per_worker(1)") [spec.files] _
        "`shared`: one file for all workers. `per_worker(4)`: each worker has four of its own and visits \
         them in turn. `workers_per_file(2)`: two workers share each file. Offset and span hold for each \
         file."
    on (Text, "all", "1,3-4") [|d, n| targets(n).map(|on| d.spec.on = on)] _
        "Their numbers, from 1, in the order in which they are named, or those of a virtual array's LUNs. \
         With it, several workloads of a phase can each have a target of their own."
    luns (Choice(&LAYOUTS), "concatenated", "striped(1MiB)") [spec.luns] _
        "`concatenated`: one after the other in one address space. `striped(1MiB)`: in turn, so many bytes \
         each; no request may cross from one to the next."
    zone_size (Size, "none", "256MiB") [spec.zones.size] _
        "`device`: the zones of a zoned device (SMR, ZNS), with their capacities, write pointers and limits; a size must \
         then be theirs. They are as the device reports before each load. A file and a conventional device emulate zones \
         of the size: all are empty when the run begins, and resets reach no device. \
         A write goes to the write pointer of the zone of its address; a full zone is reset and written from its \
         start again. `sequential` takes the zones in turn. All workloads and phases on a target share them. \
         While one worker has requests in flight in a zone, others wait; a zone of a device has one write in flight. \
         Zones without a write pointer are read and written anywhere. With `verify` zones are reset before the load and \
         not in it, and a load ends once all are full. The span is rounded to whole zones. Writes to a zoned device need \
         `direct`, and the consent to destroy its data covers resets."
    zone_capacity (Size, "none", "200MiB")
        [|d, n| n.optional(some_bytes).map(|size| d.spec.zones.capacity = size)] _
        "`none`: all of it. The rest of each zone is neither written nor read. A zoned device says it itself."
    zone_skip (Size, "none", "256MiB") [|d, n| n.optional(some_bytes).map(|size| d.spec.zones.skip = size)] _
        "With `sequential`; a multiple of `zone_size`."
    open_zones (Count(1, 4096), "none", 32) [spec.zones.open] _
        "1 to 4096. Once so many are open, writes go to these alone; a full zone closes, and another may open. \
         `none`: any number, and as many as a zoned device allows. Zones of it that are written in part before the \
         load are among them."
    worker_open_zones (Count(1, 4096), "none", 4) [spec.zones.open_of_worker] _
        "It goes with `open_zones`, or with the limit of a zoned device."
    read_beyond_wp (Switch, "false", true) [spec.zones.reads_beyond] _
        "With `false` a read stays below the write pointer of its zone, or of the nearest zone with data; where \
         nothing is written a load ends, or with `run` waits."
    zone_resets (Share, "none", "12.5%") [|d, n| n.optional(a_share).map(|part| d.spec.zones.resets = part)] _
        "`12.5%`: every eighth write, as the garbage collection of an application would."
    zone_resets_above (Share, "none", "70%")
        [|d, n| n.optional(a_share).map(|part| d.spec.zones.resets_above = part)] _
        "It goes with `zone_resets`. `none`: from the start."
    direct (Switch, "true", false) [spec.direct] _
        "With `false` the page cache is measured too, and often nothing else."

    "Queue depth and rate":
    workers (Count(1, 65_536), "1", 4) [spec.workers] _
        "1 to 65536."
    hosts_on (Count(1, 65_535), "none", 1) [spec.hosts_on] _
        "A phase that reads what another has written reads with it what another host has written, which no page cache of \
         its own holds. Without `mpirun`, on one host and with `--file-per-rank` it changes nothing."
    depth (Count(1, 65_536), "1", 32) [spec.depth] _
        "1 to 65536, with io_uring to 32768. In all, workers × depth are outstanding: each request that \
         completes is followed by the next one at once, unless `submit_batch`, `complete_batch` or \
         `low_water` say otherwise."
    low_water (Count(0, 65_535), "none", 8) [spec.sequence.low_water] _
        "Below `depth`. Without it each request that completes is followed by the next one at once."
    reopen_cold (Switch, "false", true) [spec.sequence.reopen_cold] _
        "It goes with `reopen_every`, and with `direct = false`: what was not written back yet stays."
    reopen_every (Count(1, MOST_U32), "none", 100) [spec.sequence.reopen_every] _
        "It first waits until all of its requests have completed; the time to close and open is part of the \
         next request's. A virtual array waits too, but its LUNs take no time to open. It needs `depth = 1` \
         or io_uring."
    flow (Count(1, MOST_U32), "none", 8) [spec.sequence.flow] _
        "A workload with 8 issues eight times as many requests as one with 1, however fast each of them \
         could be; one that is ahead waits for the others. A workload of several workers has one part for \
         each. It needs a closed loop."
    pace (Choice(&PACES), "closed", "rate(500/s)") [spec.pace] _
        "`closed`: as soon as one completes (closed loop). `think(5ms)`: so long after one completes (fio: \
         `thinktime`). `think(5ms, 8)`: eight requests of a worker, then a pause of so long once all of \
         them have completed. `think(1s, 9s)`: whatever fits into nine seconds, and then nothing for one. \
         `cap(500/s)` and `cap(100MB/s)`: as soon as one completes, but never more since the start than \
         that rate allows, all workers together (fio: `rate_iops`, `rate`); after a slow stretch requests \
         come faster until the rate has caught up, and response times count from the issue. `rate(500/s)`: \
         an open loop at even intervals, all workers together; response times count from the instant a \
         request was due, so that a stall counts in full. `rate(500/s, poisson)`: Poisson arrivals of that \
         mean rate (fio: `rate_process=poisson`). `rate(500/s, onoff(2s, 8s))`: Poisson arrivals for two \
         seconds, then none for eight, and so on. `trace`: when the trace says, counted from its first \
         request; response times count from then. A request that falls due while all `depth` requests of \
         each worker are in flight waits in the generator, which shows as lag; with `drop` at the end, as \
         in `rate(500/s, poisson, drop)`, it is left out and counted. Requests that were due before the end \
         of the load are issued for up to ten seconds after it."

    "Duration":
    start (Duration, "0s", "10s") [spec.stop.start] _
        "For a workload that joins others that already run. Its warm-up and run begin then."
    warmup (Duration, "0s", "5s") [spec.stop.warmup] _
        "Workloads that run together mostly share it."
    warmup_bytes (Size, "none", "10GiB")
        [|d, n| n.optional(some_bytes).map(|bytes| d.spec.stop.warmup_bytes = bytes)] _
        "The measured window of all workers begins with the completion that makes it so many bytes, and `run` lasts from then. \
         It goes with `warmup = \"0s\"`. Each host of a team counts its own part of the bytes; `fathom search` warms up by time."
    run (Duration, "none", "30s") [spec.stop.run] _
        "Always exactly this long, as with fio's `time_based`. `none` needs `ops`, `bytes` or `loops`. \
         Workloads that run together may have times of their own; the figures of those that last longer \
         then include the time without the others."
    wear_out (Switch, "false", true) [spec.stop.wear_out] _
        "The measured window ends with the last of these requests. In a tree it goes with `create` and `mknod`: later phases \
         find so many files of each worker. It counts the workers of one process."
    cooldown @ Phase (Duration, "0s", "1s") [spec.stop.cooldown] _
        "The last measured requests then compete with the same load as the others."
    ops (Count(1, u64::MAX), "none", 100_000) [spec.stop.ops] _
        "Counted from the start, hence without a warm-up, unless `ops_after_warmup` says so. With `run` too, whatever is \
         reached first ends it."
    ops_after_warmup (Switch, "false", true) [spec.stop.ops_after_warmup] _
        "Each worker has its part of `ops` once more then, those in flight among them; one that has issued its part before ends \
         within the warm-up, and measures nothing."
    bytes (Size, "none", "10GiB") [|d, n| n.optional(some_bytes).map(|bytes| d.spec.stop.bytes = bytes)] _
        "Counted from the start, hence without a warm-up."
    loops (Count(1, MOST_U32), "none", 1) [spec.stop.loops] _
        "Where a worker has several files, as all of them together hold. How large the target is need not \
         be known beforehand."
    exit_all (Switch, "false", true) [spec.stop.exit_all] _
        "Each worker has an equal part of `ops` or `bytes`; a load that ends by time alone is not changed. \
         Without it the last figures come from slow workers without the load of the others."
    end_with_others (Switch, "false", true) [spec.stop.with_others] _
        "For a load that is there for the sake of others. It needs no `run`, `ops` or `bytes` then; of these, whatever is \
         reached first ends it. Workloads that end so themselves are not waited for."
    steady (
        Choice(&["iops(10%, 30s)", "throughput(10%, 30s)", "latency_slope(1%, 30s, 10s)"]),
        "none",
        "iops_slope(1%, 60s)"
    )
        [spec.stop.steady] _
        "`iops(10%, 30s)`: in a window of 30 seconds no second lies further than 10 % from the mean of the \
         window. `iops_slope(1%, 30s)`: the line fitted through them rises or falls by less than 1 % of it \
         a second. A third time, as in `iops(10%, 30s, 10s)`, is left out before the first window. \
         `throughput` counts bytes, `latency` is the mean response time; a limit may also be a value, such \
         as `latency(50us, 30s)`. For rounds until SNIA's steady state see `rounds`."

    "Durability":
    sync (Choice(&["none", "dsync", "sync"]), "none", "dsync") [spec.durability.open] _
        "`dsync` (O_DSYNC): data is durable when a write returns. `sync` (O_SYNC): data and metadata are."
    flush_every (Count(1, MOST_U32), "none", 32) [spec.durability.every] _
        "Its time is counted apart from that of the writes."
    flush_at_end (Switch, "false", true) [spec.durability.at_end] _
        "Each worker flushes the files that it uses, one after the other, and the measured time ends with \
         the last of them, later than `run` says. There is no `cooldown` then. An interrupted run does not \
         flush."
    flush (Choice(&["fsync", "fdatasync", "sync_file_range"]), "fdatasync", "fsync") [spec.durability.flush] _
        "It holds for `flushes`, `flush_every` and `flush_at_end`. `sync_file_range` is Linux's with \
         SYNC_FILE_RANGE_WRITE: writeback of the file's pages begins, nothing waits for it, and nothing is \
         durable; with `direct = true` there is nothing to write back."

    "Data content and verification":
    content (Choice(&["random", "reused", "zeros", "pattern(deadbeef)"]), "random", "random") [content] _
        "`random` neither compresses nor repeats unless `compress` and `dedupe` say so, and is made anew for each \
         write, between requests and in no latency. `reused` is made once for each request in flight and written again and again, as IOzone \
         and many programs do: it costs no time, does not compress, and repeats, so that an array that deduplicates \
         stores little of it. Many arrays store \
         nothing for `zeros`. `pattern(deadbeef)` repeats these \
         bytes, up to 512 of them, from the start of each request."
    compress (Ratio, "1:1", "2:1") [compress] _
        "1:1 to 1000:1. Reached within each 4 KiB."
    dedupe (Ratio, "1:1", "3:1") [dedupe] _
        "1:1 to 1000:1."
    verify (Choice(&["none", "written", "all", "content"]), "none", "written") [spec.verify] _
        "With `written` each block that is written is stamped with its offset, the plan's `seed`, the \
         number of the write and a checksum. A block that this run has written, in this phase or an earlier \
         one, must come back with the stamp of its last write; one that it has not written is checked where \
         it carries a stamp of the same seed, as when an earlier run has written it. With `all` every block \
         that is read must carry a stamp. Blocks whose write is in flight, or was when another one began, \
         are not checked, and neither is what a workload without `verify` has overwritten. `content` stamps \
         nothing: whatever is read must be the zeros or the pattern that `content` says. A block is 4KiB, \
         or the largest part of it, at least 512B, that divides all sizes and alignments. What is wrong \
         counts as a failed request; the record says where, what was expected and what was found, and the \
         program ends with code 6. On real storage only: a virtual array holds no data."
    stamp (Choice(&["fathom", "fio(crc32c)", "fio(md5, every 4KiB, at 100B)"]), "fathom", "fio(crc32c)")
        [spec.stamp] _
        "With `verify`. `fathom`: 32 bytes in each block. `fio(crc32c)`: the header that fio writes at the \
         beginning of each request with `verify=crc32c`, so that fio reads what was written here and the other \
         way round. Of its kinds there are meta, md5, crc64, crc32, crc32c, crc16, crc7, sha256, sha512, \
         sha3-224, sha3-256, sha3-384, sha3-512, xxhash, sha1 and pattern_hdr. `every 4KiB` writes a header for \
         each so many bytes of a request (fio: `verify_interval`), `at 100B` moves it into them \
         (`verify_offset`). Headers say nothing of the plan's `seed`. A header holds for the requests that \
         wrote it: what is read must begin there and be as long, or `every` must divide both."
    read_back (Count(1, MOST_U32), "none", 32) [spec.sequence.read_back] _
        "With `verify` they are checked then. These reads are figures of their own beside the writes, in no \
         count that ends the load; those at the end lie behind the measured time of a load that has a \
         `run`."
    reread (Switch, "false", true) [spec.sequence.reread] _
        "With the keys of a workload that has written, its `seed` among them, and `verify`: the blocks that it \
         has written are read, in the same order, and no others. What it has read counts towards `bytes`, \
         `ops` and `loops` as it did there. It changes nothing."

    "I/O engine":
    engine (Choice(&["auto", "io_uring", "pread", "preadv2", "mmap", "stdio", "fallocate", "ftruncate", "splice", "locked", "sg", "nvme", "null"]), "auto", "io_uring")
        [spec.engine.kind] _
        "`auto`: pread at depth 1, io_uring where it is allowed, otherwise pread with a thread for each \
         request in flight. `mmap` advises the kernel whether a file is read at random or in order (fio: \
         `fadvise_hint`). `stdio` gathers calls of a few bytes in user space, 4 KiB for each file, as a \
         program in C does with putc. `fallocate` and `ftruncate` move no data: a write allocates its range, or \
         cuts the file where it would begin, in files alone. `splice` moves data through a pipe. `locked` \
         is pread and pwrite, each with its bytes locked (fcntl) for as long as it takes: reads share a lock, a write has it \
         alone. `sg` sends a SCSI disk the commands READ, WRITE, UNMAP and SYNCHRONIZE CACHE by SG_IO, past the \
         block layer; it answers to /dev/sdX and to /dev/sgN, with a thread for each request in flight. \
         `nvme` sends a namespace the commands Read, Write, Dataset Management and Flush through io_uring \
         (IORING_OP_URING_CMD, Linux 6.1); it answers to /dev/nvmeXnY and to /dev/ngXnY. `null` does nothing at all and shows what the tool itself can do."
    submit_batch (Count(1, 4096), "1", 32) [spec.engine.submit_batch] _
        "1 to 4096. With 1 each request is submitted as soon as its slot is free, so that `depth` requests \
         are in the device. More are cheaper for the processor; those of a call share one reading of the \
         clock, and the first of them waits for the last to be made. No request waits for one that is not \
         due yet. A virtual array takes requests without a system call, and answers alike whatever this is."
    complete_batch (Count(1, 4096), "1", 32) [spec.engine.complete_batch] _
        "1 to 4096, or all that are in flight if they are fewer. With 1 each completion is taken, and its \
         slot filled again, at once. More wake the worker less often; a response time then contains the \
         wait for the others, and the device has between depth − batch and depth requests. A worker with a \
         schedule waits no longer than until its next request is due. All completed requests are taken. A \
         virtual host waits alike."
    sqpoll (Switch, "false", true) [spec.engine.sqpoll] _
        "It keeps a processor busy."
    iopoll (Switch, "false", true) [spec.engine.iopoll] _
        "The device must have polling queues."
    cpus (Text, "any", "0-3,8") [spec.engine.cpus as CpuList] _
        "Worker i runs on the i-th of these, from the start again at the end. `any` leaves it to the \
         kernel."
    numa (Count(0, 1023), "any", 0) [spec.engine.numa_node] _
        "`any` leaves it to the kernel."
    huge_pages (Switch, "false", true) [spec.engine.huge_pages] _
        "Enough of them must be reserved on the host."
    io_priority (Text, "none", "be/4") [spec.engine.io_priority] _
        "A class and a level from 0, the highest, to 7: `rt/0`, `be/4`, `idle`; `be/0/3` adds a hint, which \
         a device with command duration limits takes as the number of a limit. `rt` needs a privilege. Only \
         some schedulers and devices heed it, and those only direct I/O. `none` leaves what the process has. \
         A virtual array knows no priorities."
    request_priority (Text, "none", "20% of reads rt/0") [spec.engine.request_priority] _
        "A share of the requests, `of reads` or `of writes` and of a size where not all are meant, and \
         their priority; several of them with commas: `25% of reads of 64KiB rt/1, 75% of reads of 64KiB \
         idle`. Which requests they are is drawn from the seed. The others have `io_priority`. It needs \
         io_uring. Results are not divided by priority."
    atomic (Switch, "false", true) [spec.engine.flags.atomic] _
        "Writes alone, and only of sizes that the file system and the device take so; for others the \
         refusal says which it takes. It needs `direct = true`, and an engine that passes flags: io_uring or preadv2."
    nowait (Switch, "false", true) [spec.engine.flags.nowait] _
        "They count as failed requests. It needs an engine that passes flags: io_uring or preadv2."
    uncached (Switch, "false", true) [spec.engine.flags.uncached] _
        "It needs Linux 6.14, a file system that can, `direct = false`, and an engine that passes flags: \
         io_uring or preadv2."
    polled (Share, "0%", "50%") [spec.engine.flags.polled] _
        "It needs `direct = true` and the engine preadv2; with io_uring all requests are polled for or none (`iopoll`). \
         A device without polling queues answers as without it."
    write_hint (Choice(&["none", "short", "medium", "long", "extreme"]), "none", "long") [spec.engine.write_hint] _
        "Set on each file as it is opened (fcntl, F_SET_RW_HINT); `none` sets nothing."
    write_command (Choice(&["write", "write_and_verify", "write_same", "write_zeroes", "write_uncorrectable", "verify", "compare", "compare_same"]), "write", "write_and_verify")
        [spec.engine.commands.write] _
        "Of both engines that send commands, `sg` and `nvme`: `write_zeroes` writes zeros without data (WRITE SAME with NDOB, \
         Write Zeroes), `verify` and `compare` change nothing: the device reads its medium, and compares it with the data \
         (VERIFY with BYTCHK 00 and 01, Verify, Compare). Of `sg` alone: `write_and_verify` has the device read its medium \
         after it has written (WRITE AND VERIFY), `write_same` writes the first block of the data to the whole range (WRITE \
         SAME), `compare_same` compares with it (BYTCHK 11). Of `nvme` alone: `write_uncorrectable` has reads fail from then \
         on (Write Uncorrectable). All count as writes, and need the same consent."
    read_fua (Switch, "false", true) [spec.engine.commands.read_fua] _
        "With `engine = \"sg\"` and `engine = \"nvme\"`. A device may refuse it."
    write_fua (Switch, "false", true) [spec.engine.commands.write_fua] _
        "With `engine = \"sg\"` and `engine = \"nvme\"`, and `write_command = \"write\"` alone."

    "Logging":
    iolog (Text, "none", "issued.iolog")
        [|d, n| n.optional(a_file).map(|file| d.spec.iolog = file.filter(|file| !file.is_empty()))] _
        "fio's iolog of version 3: its time in microseconds since the load began, its file, operation, \
         offset and length, in the order of issue. fio replays it (`--read_iolog`), and so does `pattern = \
         \"trace\"`. A path is taken from where the program runs. The file is overwritten each time the \
         load begins, so that after repeats and sweeps it holds the last point; an existing file that is no \
         such log is left alone. It needs one worker, of any `depth`, and no `tree`."

    "Trace replay":
    trace (Text, "none", "database.iolog")
        [|d, n| n.optional(a_file).map(|file| d.replay.file = file.unwrap_or_default())] _
        "Its format is recognised by what it begins with: iolog, blktrace, blkparse, msr, csv, disksim-validation, \
         disksim, spc, alibaba or telemetry; `fathom formats` says what each is. Of the columns of a csv, \
         `at_s,op,file,offset_bytes,size_bytes`, time and file may be left out. A path is taken from where the program runs. Operation, \
         offset and size of each request come from the trace; `size`, `reads`, `trims` and `flushes` do not \
         hold. The load ends with the trace, or earlier where `run`, `ops` or `bytes` say so. The files or \
         devices that the trace names are the targets in the order of `--on`. Each request takes 32 bytes \
         of memory."
    trace_speed (Factor, "1", 2) [replay.speed as Factor] _
        "It holds for `pace = \"trace\"`; from 0.001 to 1000."
    trace_scale (Count(1, MOST_SCALE as u64), "1", 10) [replay.scale] _
        "It brings the trace of a large device onto a small one. The results are rounded down to multiples \
         of `align`, where that is said."
    trace_skip (Text, "none", "write,trim") [replay.skip as OpList] _
        "A list of read, write, trim and flush. With `write,trim` a trace changes nothing."
    trace_as (Choice(&["none", "read", "write", "trim"]), "none", "read")
        [|d, n| n.optional(|n| n.read::<DataOp>("read")).map(|op| d.replay.as_op = op.map(|op| op.0))] _
        "With `read` a trace changes nothing, whatever it did when it was recorded; with `write` the \
         telemetry of IOzone, which says nothing of it, writes. `none` leaves each as it was. Flushes stay."
    trace_fold (Switch, "false", true) [replay.fold] _
        "Files of the trace without a target of their own wrap around to the first targets. Without it both \
         are errors, with the line of the trace."

    "Files and directories":
    tree (
        Choice(&[
            "none", "mkdir", "statdir", "renamedir", "create", "mknod", "write", "stat", "open",
            "read", "link", "symlink", "rename", "readdir", "delete", "rmdir",
        ]),
        "none",
        "create"
    )
        [file_op] _
        "`create` makes a file and writes all of it; `write` and `read` open a file and move all of it; \
         `open` opens and closes it; `stat` gets its attributes; `link` and `symlink` give it a second \
         name, `rename` another one; `mknod` makes a file that stays empty. `mkdir`, `statdir`, `readdir` and `rmdir` \
         concern the directories; `renamedir` gives each the name of the one before it. What is \
         missing for it is made before, and what is in its way is removed, without being measured; so \
         phases with the same tree work on the same files, one after the other. `write`, `stat`, `statdir`, `open`, \
         `read` and `readdir` repeat until `run` is over or `ops` are done, or visit each once where \
         neither is said; the others visit each once, however long it takes. Files are read and written \
         through the page cache, unless `direct_files`; of the other keys `workers`, `seed`, `content`, `compress`, \
         `dedupe` and `flush` hold, `engine = \"locked\"` locks a file while its content moves, and with `verify` (`written`) \
         what `create` and `write` write follows from the seed and the name, and is what `read` must find; with `all` a \
         `create` or `write` reads it back at once."
    count (Count(1, 1_000_000_000), "1000", 10_000) [tree.count] _
        "1 to 1,000,000,000. Each worker has its own share of them."
    file_size (Sizes, "0B", "1KiB..64KiB") [tree.sizes] _
        "One size, a range such as `1KiB..64KiB` in which every size is as likely, or up to 64 sizes with \
         their weights. At most 1 GiB. The record keeps a few sizes apart; those of a range are one class."
    levels (Count(0, 20), "0", 2) [tree.levels] _
        "0 to 20. With 0 all files are in one directory; with 1 there are `fanout` directories of files. \
         There may be 1,048,576 directories in all."
    fanout (Count(1, 1_000_000), "10", 4) [tree.fanout] _
        "1 to 1,000,000. Says nothing where `levels` is 0."
    files_in (Choice(&["leaves", "all"]), "leaves", "all") [tree.files_in] _
        "`leaves`: those of the lowest level. `all`: every directory, the top too. Each of them holds as \
         many."
    unique_dirs (Switch, "false", true) [tree.unique_dirs] _
        "Otherwise all workers have their files in the same directories and may wait for one another there."
    visitors (Choice(&["own", "shifted(1)", "first", "all"]), "own", "first") [tree.visitors] _
        "`own`: each worker its own share. `shifted(2)`: each that of the second worker after it. `first`: the first \
         worker visits those of all, the others nothing. `all`: every worker visits all of them, so that they meet in the \
         same files; only what may be done more than once to a name, and `create`, which then opens a file that is there."
    order (Choice(&["sequential", "random"]), "sequential", "random") [tree.order] _
        "`sequential`: in the order of the names, one directory after the other. `random`: each once before \
         any comes again, and every operation in an order of its own."
    fsync (Choice(&["none", "each", "end"]), "none", "each") [tree.fsync] _
        "`each`: every operation that changes something flushes the file, then the directory that names it, \
         before it counts as done; `flush` says by which call. `end`: each worker has the whole file system \
         written back once its share is done; that is measured too and counts as `sync`."
    direct_files (Switch, "false", true) [tree.direct] _
        "Content is moved by direct I/O in one request of up to 1 MiB, so `file_size` is a multiple of what the file system \
         wants, 512B or 4KiB."
}

keys! {
    /// Keys of a workload that say something about its place among others.
    MEMBER: Draft, Workload;

    "Phases":
    headline (Choice(&["iops", "mb_per_s", "mean", "max", "p99"]), "iops", "mb_per_s") [headline]
        "Figure that is shown first."
        "Any percentile of the response time may be named, such as `p50` or `p99.9`. The others are \
         measured and kept as well."

    "Several workloads together":
    share @ WorkloadOnly (Share, "", "60%") [|d, n| some_share(n).map(|share| d.share = Some(share))]
        "This workload's share of the phase's rate."
        "The phase says `pace = \"rate(...)\"`; each of its workloads issues its share of it. Either all of \
         them have one or none, and the parts sum to at most 100%."
}

/// A size, or a table of sizes and weights.
impl KeyValue for SizeSplit {
    fn read(node: &Node, _: &KeyDoc) -> Result<SizeSplit, Wrong> {
        sizes_of(node)
    }
}

impl KeyValue for FileSizes {
    fn read(node: &Node, _: &KeyDoc) -> Result<FileSizes, Wrong> {
        let sizes = match node.table() {
            None => return node.read("4KiB"),
            Some(_) => FileSizes::Split(sizes_of(node)?),
        };
        sizes.checked().map_err(|error| Wrong::from(error).at(&node.place))
    }
}

fn some_bytes(node: &Node) -> Result<Bytes, Wrong> {
    match node.read::<Bytes>("10GiB")? {
        Bytes::ZERO => {
            Err(Wrong::new("0 bytes would issue no requests", "for example 10GiB").at(&node.place))
        }
        bytes => Ok(bytes),
    }
}

fn some_share(node: &Node) -> Result<Share, Wrong> {
    match node.read("60%")? {
        Share::NONE => Err(Wrong::new("a share of 0 % issues no requests", "leave the workload out")),
        share => Ok(share),
    }
}

fn a_share(node: &Node) -> Result<Share, Wrong> {
    node.read("12.5%")
}

fn a_seed(node: &Node) -> Result<u64, Wrong> {
    node.count(0..=u64::MAX)
}

fn a_file(node: &Node) -> Result<String, Wrong> {
    node.scalar().ok_or_else(|| node.not("the name of a file", "requests.iolog"))
}

/// Numbers of targets; a single one may stand without quotes.
fn targets(node: &Node) -> Result<Vec<u32>, Wrong> {
    match node.value {
        Value::Integer(_) => Ok(vec![node.count32(1..=65_535)?]),
        _ => node.read::<TargetList>("1,3-4").map(|list| list.0),
    }
}
