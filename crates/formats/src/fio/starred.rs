//! The forty features that storage engineers use most, each with the plan it comes to or the words it is refused with.
//!
//! Source of the ranks: options in 349 public job files and scripts, the last eight by judgement.

use workload::plan::Plan;

use super::{Command, Format, JOB_FILE};
use crate::{JobEnvironment, Refusal, TranslatedJob};

/// What must be so of a job.
enum Want {
    /// These stand in the plan, with one blank between words.
    Has(&'static [&'static str]),
    /// This does not stand in the plan.
    Lacks(&'static str),
    /// The plan is that of the job without the option.
    Same,
    /// A note has these words.
    Notes(&'static str),
    /// It is refused with the line, the option, and these words.
    Refused(&'static str),
}

use Want::{Has, Lacks, Notes, Refused, Same};

/// Rank, what else the job says, the option, what must be so.
const CASES: &[(u8, &str, &str, Want)] = &[
    (1, "", "ioengine=psync", Has(&["engine = \"pread\""])),
    (1, "", "ioengine=sync", Has(&["engine = \"pread\""])),
    (1, "", "ioengine=pvsync2", Has(&["engine = \"preadv2\""])),
    (1, "iodepth=8", "ioengine=libaio", Has(&["engine = \"auto\"", "depth = 8"])),
    (1, "iodepth=8", "ioengine=libaio", Notes("runs on io_uring")),
    (1, "iodepth=8", "ioengine=io_uring", Has(&["engine = \"io_uring\"", "depth = 8"])),
    (1, "", "ioengine=mmap", Has(&["engine = \"mmap\""])),
    (1, "filename=/dev/sdx\niodepth=8", "ioengine=sg", Has(&["engine = \"sg\"", "direct = true"])),
    (1, "filename=/dev/sdx\niodepth=8", "ioengine=sg", Notes("iodepth=8 has no effect")),
    (1, "filename=/dev/sg1\niodepth=8", "ioengine=sg", Has(&["engine = \"sg\"", "depth = 8"])),
    (1, "ioengine=sg", "readfua=1", Has(&["read_fua = true"])),
    (1, "ioengine=sg\nrw=write", "writefua=1", Has(&["write_fua = true"])),
    (1, "ioengine=sg\nrw=write", "readfua=1", Same),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=write", Same),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=verify", Has(&["write_command = \"write_and_verify\""])),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=same", Has(&["write_command = \"write_same\""])),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=write_same_ndob", Has(&["write_command = \"write_zeroes\""])),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=verify_bytchk_00", Has(&["write_command = \"verify\""])),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=verify_bytchk_01", Has(&["write_command = \"compare\""])),
    (
        1,
        "ioengine=sg\nrw=write",
        "sg_write_mode=verify_bytchk_11",
        Has(&["write_command = \"compare_same\""]),
    ),
    (1, "ioengine=sg\nrw=write\nwritefua=1", "sg_write_mode=same", Notes("writefua is ignored")),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=write_stream", Refused("drive with streams")),
    (1, "ioengine=sg\nrw=write", "sg_write_mode=x", Refused("write_and_verify")),
    (1, "ioengine=sg\nrw=write\nverify=crc32c", "sg_write_mode=same", Refused("stores the data")),
    (
        1,
        "ioengine=sg\nrw=write\nverify=crc32c\nwritefua=1",
        "sg_write_mode=verify",
        Notes("writefua is ignored"),
    ),
    (1, "ioengine=sg\nrw=write", "sync=1", Refused("writefua=1")),
    (1, "ioengine=sg\nrw=write", "write_hint=short", Refused("no lifetime")),
    (1, "ioengine=sg\nrw=write", "sync_file_range=write:8", Refused("no page cache")),
    (1, "ioengine=sg", "stream_id=3", Refused("drive with streams")),
    (1, "ioengine=sg", "hipri", Notes("does not poll")),
    (
        1,
        "filename=/dev/ng0n1\niodepth=8",
        "ioengine=io_uring_cmd",
        Has(&["engine = \"nvme\"", "depth = 8", "direct = true"]),
    ),
    (1, "ioengine=io_uring_cmd", "cmd_type=nvme", Same),
    (1, "ioengine=io_uring_cmd", "cmd_type=bsg", Refused("ioengine=sg")),
    (1, "ioengine=io_uring_cmd", "hipri", Has(&["iopoll = true"])),
    (1, "ioengine=io_uring_cmd", "readfua=1", Has(&["read_fua = true"])),
    (1, "ioengine=io_uring_cmd\nrw=write", "write_mode=write", Same),
    (
        1,
        "ioengine=io_uring_cmd\nrw=write",
        "write_mode=uncor",
        Has(&["write_command = \"write_uncorrectable\""]),
    ),
    (1, "ioengine=io_uring_cmd\nrw=write", "write_mode=zeroes", Has(&["write_command = \"write_zeroes\""])),
    (1, "ioengine=io_uring_cmd\nrw=write", "write_mode=verify", Has(&["write_command = \"verify\""])),
    (1, "ioengine=io_uring_cmd\nrw=write", "write_mode=same", Refused("uncor, zeroes")),
    (1, "ioengine=io_uring_cmd\nrw=write\nverify=md5", "verify_mode=read", Same),
    (
        1,
        "ioengine=io_uring_cmd\nrw=write\nverify=md5",
        "verify_mode=compare",
        Refused("read back and compared"),
    ),
    (1, "ioengine=sg", "write_mode=write", Refused("ioengine=io_uring_cmd")),
    (1, "ioengine=psync", "readfua=1", Refused("ioengine=sg or io_uring_cmd")),
    (1, "", "ioengine=null", Has(&["engine = \"null\""])),
    (1, "", "ioengine=rbd", Refused("rbd map")),
    (1, "", "ioengine=nonesuch", Refused("io_uring, libaio")),
    (1, "", "ioengine=external:/opt/x.so", Refused("plug-in")),
    (2, "", "rw=read", Has(&["pattern = \"sequential\"", "size = \"4KiB\""])),
    (2, "", "rw=write", Has(&["pattern = \"sequential\"", "reads = \"0%\""])),
    (2, "", "rw=trim", Has(&["pattern = \"sequential\"", "trims = \"100%\""])),
    (2, "", "rw=randread", Has(&["pattern = \"random\""])),
    (2, "", "rw=randwrite", Has(&["pattern = \"random\"", "reads = \"0%\""])),
    (2, "", "rw=randtrim", Has(&["pattern = \"random\"", "trims = \"100%\""])),
    (2, "", "rw=rw", Has(&["pattern = \"sequential\"", "reads = \"50%\""])),
    (2, "", "rw=trimwrite", Has(&["trims = \"100%\"", "rewrites = \"100%\"", "bytes = \"128MiB\""])),
    (2, "", "rw=randtrimwrite", Has(&["pattern = \"random\"", "reads = \"0%\"", "rewrites = \"100%\""])),
    (2, "bs=4k,8k,16k", "rw=trimwrite", Has(&["size = \"16KiB\"", "rewrites = \"100%\""])),
    (2, "verify=md5", "rw=trimwrite", Refused("rw=write")),
    (2, "", "rw=randrw", Has(&["pattern = \"random\"", "reads = \"50%\""])),
    (2, "rw=randread:8", "rw_sequencer=identical", Has(&["consecutive = 8", "repeat_offset = true"])),
    (3, "", "size=1g", Has(&["span = \"1GiB\"", "bytes = \"1GiB\""])),
    (3, "filename=/dev/sdx", "size=25%", Has(&["span = \"25%\""])),
    (3, "", "size=8z", Refused("8z")),
    (4, "", "bs=16k", Has(&["size = \"16KiB\""])),
    (
        4,
        "rw=randrw",
        "bs=8k,32k",
        Has(&["size = \"8KiB\", reads = \"100%\"", "size = \"32KiB\", reads = \"0%\""]),
    ),
    (4, "rw=randread\nbs=8k,32k", "bs_is_seq_rand=1", Has(&["size = \"32KiB\""])),
    (4, "rw=write\nbs=8k,32k", "bs_is_seq_rand=1", Has(&["size = \"8KiB\""])),
    (4, "rw=randrw", "bs=8k,32k", Has(&["align = \"8KiB\" }", "align = \"32KiB\" }"])),
    (5, "ioengine=io_uring", "iodepth=64", Has(&["depth = 64"])),
    (5, "", "iodepth=64", Notes("iodepth=64 has no effect")),
    (6, "", "direct=1", Has(&["direct = true"])),
    (6, "", "buffered=1", Has(&["direct = false"])),
    (6, "rw=write", "sync=dsync", Has(&["sync = \"dsync\""])),
    (6, "rw=write", "sync=1", Has(&["sync = \"sync\""])),
    (7, "", "filename=/dev/sdx", Lacks("on = ")),
    (7, "direct=1", "filename=/dev/sdx:/dev/sdy", Has(&["files = \"per_worker(2)\""])),
    (7, "", "filename=-", Refused("stdout")),
    (8, "rw=randread\ngroup_reporting", "numjobs=4", Has(&["workers = 4"])),
    (8, "", "numjobs=3", Has(&["name = \"a.0\"", "name = \"a.1\"", "name = \"a.2\""])),
    (9, "", "runtime=30", Has(&["run = \"30s\"", "bytes = \"64MiB\""])),
    (9, "", "runtime=2m", Has(&["run = \"120s\""])),
    (10, "rw=randread\nnumjobs=2", "group_reporting=1", Has(&["workers = 2"])),
    (10, "", "new_group=1", Same),
    (11, "runtime=30", "time_based", Lacks("bytes = ")),
    (12, "", "invalidate=1", Has(&["state = \"prepare\"\nfill = 0"])),
    (12, "", "invalidate=0", Lacks("state = \"prepare\"")),
    (12, "", "pre_read=1", Lacks("state = \"prepare\"")),
    (12, "", "pre_read=1", Has(&["name = \"1: a, read before\"", "loops = 1"])),
    (12, "ioengine=null", "pre_read=1", Lacks("read before")),
    (13, "", "percentile_list=50:99:99.9", Same),
    (13, "", "percentile_list=50:x", Refused("0 to 100")),
    (14, "rw=randread", "norandommap", Has(&["pattern = \"random(repeats)\""])),
    (14, "rw=randread", "softrandommap=1", Same),
    (15, "", "randrepeat=0", Has(&["seed = 7"])),
    (15, "", "randseed=99", Has(&["seed = 99"])),
    (16, "", "loops=3", Has(&["bytes = \"192MiB\""])),
    (17, "runtime=30\ntime_based", "ramp_time=10", Has(&["warmup = \"10s\"", "run = \"30s\""])),
    (17, "runtime=30\ntime_based", "ramp_size=1g", Has(&["warmup_bytes = \"1GiB\"", "run = \"30s\""])),
    (17, "ramp_time=1", "ramp_size=1g", Refused("either")),
    (17, "latency_target=1ms", "ramp_size=1g", Refused("ramp_time=")),
    (18, "rw=randread", "percentage_random=30", Has(&["random = \"30%\""])),
    (
        18,
        "rw=randrw",
        "percentage_random=100,0",
        Has(&["reads = \"100%\", random = \"100%\"", "reads = \"0%\", random = \"0%\""]),
    ),
    (19, "rw=randread", "random_generator=tausworthe64", Same),
    (19, "rw=randread\nnorandommap", "random_generator=lfsr", Has(&["pattern = \"random\""])),
    (19, "rw=randread", "random_generator=dice", Refused("lfsr")),
    (20, "rw=randread", "bssplit=4k/60:64k/40", Has(&["size = { \"4KiB\" = 60, \"64KiB\" = 40 }"])),
    (20, "rw=randread", "bssplit=4k/60:64k/60", Refused("more than 100")),
    (21, "", "thinktime=5ms", Has(&["pace = \"think(5ms)\""])),
    (21, "", "thinkcycles=20000", Has(&["pace = \"think(10us)\""])),
    (21, "thinktime=5us", "thinkcycles=20000", Notes("10.0 µs at 2000 MHz")),
    (21, "thinktime=5000", "thinktime_blocks=8", Has(&["pace = \"think(5ms, 8)\""])),
    (21, "thinktime=5000", "thinktime_blocks_type=issue", Same),
    (21, "thinktime=1s", "thinktime_iotime=9s", Has(&["pace = \"think(1s, 9s)\""])),
    (21, "thinktime=1s\nthinktime_blocks=4", "thinktime_iotime=9s", Refused("leave it or")),
    (21, "thinktime=5000", "thinktime_spin=1000", Notes("waited, not burnt")),
    (22, "rw=randread", "blockalign=64k", Has(&["align = \"64KiB\""])),
    (
        22,
        "rw=randrw",
        "ba=8k,16k",
        Has(&["reads = \"100%\", align = \"8KiB\"", "reads = \"0%\", align = \"16KiB\""]),
    ),
    (23, "", "offset=1g", Has(&["offset = \"1GiB\""])),
    (23, "offset=5000", "offset_align=4k", Has(&["offset = \"8KiB\""])),
    (23, "numjobs=2", "offset_increment=1g", Has(&["offset = \"1GiB\""])),
    (24, "", "nrfiles=4", Has(&["files = \"per_worker(4)\"", "span = \"16MiB\""])),
    (24, "nrfiles=4", "filesize=2m", Has(&["span = \"2MiB\""])),
    (24, "nrfiles=4", "filesize=1m-2m", Notes("one after the other")),
    (24, "nrfiles=4\nrw=randread", "filesize=1m-2m", Lacks("per_worker")),
    (24, "nrfiles=4\nrw=randread", "filesize=1m-2m", Notes("in proportion")),
    (24, "nrfiles=4\nfile_service_type=sequential", "filesize=1m-2m", Lacks("per_worker")),
    (24, "numjobs=2", "filesize=1m:2m", Has(&["span"])),
    (24, "", "filesize=2m-1m", Refused("from less to more")),
    (24, "ioengine=filestat\nnrfiles=9", "filesize=4k-64k", Has(&["file_size = \"4KiB..64KiB\""])),
    (24, "nrfiles=4", "openfiles=2", Notes("stay open")),
    (24, "", "lockfile=exclusive", Same),
    (24, "numjobs=2\nfilename=f", "lockfile=readwrite", Lacks("lock")),
    (24, "", "filetype=file", Same),
    (24, "", "unlink_each_loop=1", Same),
    (25, "[b]\nsize=1m", "stonewall", Has(&["name = \"1: a\"", "name = \"2: b\""])),
    (26, "rw=randread", "rate_iops=500", Has(&["pace = \"cap(500/s)\""])),
    (26, "rw=randread", "rate=4m", Has(&["pace = \"cap(1024/s)\""])),
    (
        26,
        "rw=randrw",
        "rate_iops=300,100",
        Has(&["pace = \"cap(400/s)\"", "reads = \"75%\"", "even_mix = true"]),
    ),
    (
        26,
        "rw=randrw\nruntime=9\ntime_based",
        "rate_iops=,100",
        Has(&["name = \"a\"", "name = \"a, writes\"", "pace = \"cap(100/s)\""]),
    ),
    (26, "rw=randrw\nruntime=9\ntime_based", "rate=,1m", Notes("have iodepth= of their own")),
    (26, "rw=randrw", "rate=,1m", Refused("time_based")),
    (27, "rw=write", "verify=crc32c", Has(&["verify = \"written\"", "1: a, read back"])),
    (27, "rw=write", "verify=sha3-256", Has(&["verify = \"written\"", "stamp = \"fio(sha3-256)\""])),
    (27, "rw=write\nverify=md5", "verify_interval=512", Has(&["stamp = \"fio(md5, every 512B)\""])),
    (27, "rw=write", "verify=md6", Refused("crc32c")),
    (27, "rw=write\nverify=pattern\nverify_pattern=0xabcd", "verify_pattern_interval=512", Same),
    (27, "rw=write\nverify=md5", "do_verify=0", Lacks("read back")),
    (27, "rw=write\nverify=md5", "verify_only", Has(&["verify = \"all\""])),
    (27, "rw=write\nverify=md5", "verify_fatal=1", Same),
    (27, "rw=write\nverify=md5", "verify_dump=1", Notes("place of each block")),
    (28, "", "directory=/mnt/x", Same),
    (29, "", "startdelay=5", Has(&["state = \"idle\"\nrun = \"5s\""])),
    (29, "numjobs=2", "startdelay=5-9", Has(&["start = "])),
    (30, "rw=write", "zero_buffers", Has(&["content = \"zeros\""])),
    (30, "rw=write", "buffer_pattern=0xdeadface", Has(&["content = \"pattern(deadface)\""])),
    (30, "rw=write", "refill_buffers", Same),
    (30, "rw=write", "scramble_buffers=0", Same),
    (30, "rw=write", "buffer_compress_percentage=50", Has(&["compress = \"2:1\""])),
    (30, "rw=write", "dedupe_percentage=75", Has(&["dedupe = \"4:1\""])),
    (
        30,
        "rw=write\ndedupe_percentage=75",
        "dedupe_mode=working_set",
        Notes("blocks that the worker wrote before"),
    ),
    (31, "", "thread", Same),
    (32, "rw=randrw", "rwmixread=70", Has(&["reads = \"70%\""])),
    (32, "rw=randrw", "rwmixwrite=70", Has(&["reads = \"30%\""])),
    (33, "", "write_bw_log=x", Same),
    (33, "write_lat_log=x", "log_avg_msec=1000", Same),
    (33, "write_iops_log=x", "log_window_value=max", Same),
    (34, "rw=write", "fsync=8", Has(&["flush_every = 8", "flush = \"fsync\""])),
    (34, "rw=write", "fdatasync=1", Has(&["flush_every = 1"])),
    (34, "rw=write", "end_fsync=1", Has(&["flush_at_end = true"])),
    (34, "rw=write", "fsync_on_close=1", Has(&["flush_at_end = true"])),
    (34, "rw=write", "sync_file_range=write:8", Has(&["flush = \"sync_file_range\"", "flush_every = 8"])),
    (34, "rw=write", "sync_file_range=wait_before,write:8", Refused("fdatasync=N waits")),
    (34, "rw=write\nfsync=4", "sync_file_range=write:8", Refused("one kind of flush")),
    (34, "rw=write\nend_fsync=1", "sync_file_range=write:8", Refused("the flush at the end")),
    (34, "rw=write", "sync_file_range=8", Refused("such as write:8")),
    (34, "rw=write", "sync_file_range=later:8", Refused("none of write")),
    (37, "runtime=60", "steadystate=iops:5%\nss_dur=10", Has(&["steady = \"iops(5%, 10s)\""])),
    (38, "rw=randread", "random_distribution=zipf:1.2", Has(&["pattern = \"zipf(1.2)\""])),
    (38, "rw=randread", "random_distribution=pareto:0.2", Has(&["pattern = \"pareto(0.2)\""])),
    (38, "rw=randread", "random_distribution=normal:15", Has(&["pattern = \"normal(15%, scattered)\""])),
    (38, "rw=randread", "random_distribution=zoned:60/10:40/", Has(&["hot(60% in 10%, 40% in 90%)"])),
    (38, "rw=randread", "random_distribution=sequence:2,0,1", Has(&["sequence(2, 0, 1)"])),
    (38, "rw=randread", "random_distribution=zipf:1.2:0.5", Has(&["pattern = \"zipf(1.2)\""])),
    (38, "rw=randread", "random_distribution=normal:5:-1", Notes("as fio scatters them")),
    (38, "rw=randread", "random_distribution=pareto:0.2:7", Refused("a centre from 0 to 1")),
    (39, "", "cpus_allowed=0-3", Has(&["cpus = \"0-3\""])),
    (39, "", "cpumask=5", Has(&["cpus = \"0,2\""])),
    (39, "cpus_allowed=0-3", "cpus_allowed_policy=shared", Notes("a processor of its own")),
    (39, "", "numa_cpu_nodes=1", Has(&["numa = 1"])),
    (39, "", "numa_cpu_nodes=0-1", Notes("may run anywhere")),
    (39, "", "numa_mem_policy=interleave:0-1", Notes("where the worker runs")),
    (12, "direct=1", "ioscheduler=kyber", Has(&["drop_caches = false\nscheduler = \"kyber\""])),
    (
        12,
        "rw=read\nbuffered=1",
        "ioscheduler=none",
        Has(&["fill = 0\nspan = \"100%\"\nscheduler = \"none\""]),
    ),
    (31, "write_lat_log=x", "log_store_compressed=1", Same),
    (31, "write_hist_log=x", "log_store_compressed=1", Refused("histograms are lines")),
    (31, "write_lat_log=x\nlog_issue_time=1", "log_store_compressed=1", Refused("no time of issue")),
    (40, "direct=1", "hipri", Refused("ioengine=io_uring or pvsync2")),
    (40, "ioengine=pvsync2\ndirect=1", "hipri", Has(&["polled = \"100%\""])),
    (40, "ioengine=pvsync2\ndirect=1\nhipri", "hipri_percentage=30", Has(&["polled = \"30%\""])),
    (40, "ioengine=pvsync2", "hipri", Refused("direct=1")),
    (40, "ioengine=pvsync2\ndirect=1", "hipri_percentage=30", Refused("hipri=1")),
    (40, "ioengine=io_uring", "hipri", Refused("direct=1")),
    (40, "ioengine=io_uring\ndirect=1", "hipri", Has(&["iopoll = true"])),
    (40, "ioengine=io_uring", "sqthread_poll", Has(&["sqpoll = true"])),
    (40, "ioengine=io_uring", "fixedbufs", Same),
    (40, "ioengine=io_uring", "registerfiles=1", Same),
    (40, "ioengine=io_uring", "nonvectored=1", Same),
    (40, "ioengine=io_uring", "force_async=4", Same),
    (40, "ioengine=io_uring", "force_async=4", Notes("the kernel decides")),
    (
        40,
        "ioengine=io_uring\nhipri=1\ndirect=1",
        "hipri_percentage=50",
        Refused("all requests are polled for"),
    ),
    (40, "ioengine=io_uring\nhipri=1\ndirect=1", "hipri_percentage=100", Same),
    (40, "rw=randread", "fadvise_hint=1", Notes("mmap advises by the pattern")),
    (40, "ioengine=io_uring", "nowait=1", Has(&["nowait = true"])),
    (40, "ioengine=io_uring", "uncached=1", Has(&["uncached = true"])),
    (40, "ioengine=io_uring", "cmdprio_percentage=10", Has(&["request_priority = \"10% of reads rt/0\""])),
    (40, "ioengine=io_uring\niodepth=32", "iodepth_batch=16", Has(&["submit_batch = 16"])),
    (40, "ioengine=io_uring\niodepth=32", "iodepth_batch_complete_min=8", Has(&["complete_batch = 8"])),
    (40, "ioengine=io_uring\niodepth=32", "iodepth_low=4", Has(&["low_water = 4"])),
];

/// What the job comes to, of which `option` is the last line of its section.
fn read(more: &str, option: &str) -> Result<TranslatedJob, Refusal> {
    // A section after the job stays behind it.
    let (more, behind) = match more.split_once('[') {
        Some((more, behind)) => (more, format!("[{behind}")),
        None => (more, String::new()),
    };
    let option =
        if behind.is_empty() { format!("{option}\n") } else { String::new() + &behind + "\n" + option };
    let text = format!("[a]\nsize=64m\n{more}\n{option}");
    (JOB_FILE.read)("x.fio", &text, &JobEnvironment { salt: 7, ..JobEnvironment::NONE })
}

/// The plan with one blank between words.
fn plan_text(translated: &TranslatedJob) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    translated.plan.lines().filter(|text| !text.starts_with('#')).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_of_the_starred_options_comes_to_its_plan_or_is_refused_by_name() {
    for (rank, more, option, want) in CASES {
        let case = format!("*{rank} {option} ({more})");
        let name = option.split('=').next().unwrap_or(option);
        let translated = match (read(more, option), want) {
            (Err(refusal), Refused(words)) => {
                let said = refusal.to_string();
                assert!(said.starts_with("x.fio:"), "{case}: {said}");
                assert!(said.contains(name) && said.contains(words), "{case}: {said}");
                continue;
            }
            (Ok(translated), Refused(_)) => panic!("{case}:\n{}", translated.plan),
            (Err(refusal), _) => panic!("{case}: {refusal}"),
            (Ok(translated), _) => translated,
        };
        let errors = Plan::parse("x.fio", &translated.plan, &Default::default()).err();
        assert!(errors.is_none(), "{case}:\n{}\n{errors:?}", translated.plan);
        let plan = plan_text(&translated);
        match want {
            Has(words) => {
                for words in *words {
                    assert!(plan.contains(words), "{case}: {words}\n{plan}");
                }
            }
            Lacks(words) => assert!(!plan.contains(words), "{case}:\n{plan}"),
            Same => {
                let without = read(more, "").unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
                assert_eq!(plan, plan_text(&without), "{case}");
            }
            Notes(words) => {
                assert!(
                    translated.notes.iter().any(|note| note.contains(words)),
                    "{case}: {:?}",
                    translated.notes
                );
            }
            Refused(_) => unreachable!("taken above"),
        }
    }
}

#[test]
fn every_rank_has_a_case() {
    // 35 and 36 are asked below: they are no options of a job.
    for rank in (1..=40).filter(|rank| ![35, 36].contains(rank)) {
        assert!(CASES.iter().any(|(case, ..)| *case == rank), "*{rank}");
    }
}

#[test]
fn rank_35_output_formats_are_told_apart() {
    let formats = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Command::parse(&words, &JobEnvironment::NONE).map(|command| command.wanted.formats)
    };
    let job = ["--name=a", "--size=1m"];
    let of = |format: &str| formats(&[job[0], job[1], &format!("--output-format={format}")]);
    assert_eq!(of("json").unwrap(), [Format::Json]);
    assert_eq!(of("normal,terse").unwrap(), [Format::Normal, Format::Terse]);
    assert!(of("xml").unwrap_err().to_string().contains("json"));
}

#[test]
fn rank_36_sections_variables_and_command_lines_make_one_job() {
    let environment = JobEnvironment {
        variable: &|name| (name == "SIZE").then(|| "8m".to_owned()),
        file: &|_| {
            Ok("[global]\nbs=8k\n[a]\nrw=randread\nsize=${SIZE}\n[global]\nbs=16k\n[b]\nsize=1m${UNSET}\n"
                .into())
        },
        ..JobEnvironment::NONE
    };
    let words = ["--bs=4k", "--iodepth=2", "x.fio", "--direct=1"].map(str::to_owned);
    let command = Command::parse(&words, &environment).unwrap();
    let plan = plan_text(command.translated());
    for words in
        ["span = \"8MiB\"", "size = \"8KiB\"", "size = \"16KiB\"", "span = \"1MiB\"", "direct = true"]
    {
        assert!(plan.contains(words), "{words}\n{plan}");
    }
    let line = ["--name=global", "--rw=randwrite", "--name=a", "--size=1m", "--name=b", "--size=2m"]
        .map(str::to_owned);
    let plan = plan_text(Command::parse(&line, &JobEnvironment::NONE).unwrap().translated());
    assert_eq!(plan.matches("pattern = \"random\"").count(), 2, "{plan}");
}

#[test]
fn two_dashes_end_the_options() {
    let line = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(Command::parse(&line("--name=a --size=1m --"), &JobEnvironment::NONE).is_ok());
    let missing =
        Command::parse(&line("-- --odd.fio"), &JobEnvironment::NONE).expect_err("there is no such file");
    assert!(missing.to_string().contains("--odd.fio"), "{missing}");
}
