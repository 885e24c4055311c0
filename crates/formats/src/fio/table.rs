//! Every option of fio: which of them are supported, which change nothing here, which are refused and why.
//!
//! **Invariant:** a name stands here once, aliases included. What changes the requests is supported or refused, never
//! dropped.
//!
//! Source of names and aliases: `fio --cmdhelp` of fio 3.33 and the manual of fio 3.42.

use Verdict::{Ignored, Supported, Unsupported};

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The plan says it.
    Supported,
    /// The requests are the same with and without it. The words are a note, where the user may expect more.
    Ignored(Option<&'static str>),
    /// It changes the requests or what surrounds them.
    Unsupported {
        /// Why not, and what comes nearest.
        why: &'static str,
        /// Values that ask for nothing, and so are accepted.
        idle: &'static [&'static str],
    },
}

/// One option.
#[derive(Debug)]
pub(super) struct Known {
    /// Its name in fio's own output.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Whether it may stand without a value, and then means yes.
    pub bare: bool,
    pub verdict: Verdict,
}

/// The option of that name or alias.
pub(super) fn find(name: &str) -> Option<&'static Known> {
    TABLE.iter().find(|known| known.name == name || known.aliases.contains(&name))
}

/// All names and aliases, to suggest from.
pub(super) fn names() -> Vec<&'static str> {
    TABLE.iter().flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied())).collect()
}

const fn supported(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: false, verdict: Supported }
}

const fn flag(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: true, verdict: Supported }
}

const fn ignored(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: true, verdict: Ignored(None) }
}

const fn noted(name: &'static str, aliases: &'static [&'static str], note: &'static str) -> Known {
    Known { name, aliases, bare: true, verdict: Ignored(Some(note)) }
}

const fn unsupported(name: &'static str, idle: &'static [&'static str], why: &'static str) -> Known {
    Known { name, aliases: &[], bare: true, verdict: Unsupported { why, idle } }
}

const REPEATS: &str =
    "what repeats are blocks that the worker wrote before, in the part that dedupe_percentage says";
const OFF: &[&str] = &["0"];
const ZBD: &str = "it goes with zonemode=zbd, and zoned devices are not supported";

const TABLE: &[Known] = &[
    // What is asked.
    supported("description", &[]),
    supported("name", &[]),
    supported("rw", &["readwrite"]),
    supported("rw_sequencer", &[]),
    supported("bs", &["blocksize"]),
    supported("ba", &["blockalign"]),
    supported("bsrange", &["blocksize_range"]),
    supported("bssplit", &[]),
    flag("bs_unaligned", &["blocksize_unaligned"]),
    unsupported("bs_is_seq_rand", OFF, "say sizes for reads and writes, or write two jobs"),
    supported("rwmixread", &[]),
    supported("rwmixwrite", &[]),
    noted("rwmixcycle", &[], "fio itself no longer heeds it"),
    supported("percentage_random", &[]),
    supported("random_distribution", &[]),
    unsupported("random_sequence_stride", &[], "it goes with random_distribution=sequence"),
    flag("norandommap", &[]),
    ignored("softrandommap", &[]),
    supported("random_generator", &[]),
    flag("randrepeat", &[]),
    flag("allrandrepeat", &[]),
    supported("randseed", &[]),
    unsupported("sprandom", OFF, "a `prepare` phase of a plan fills the target more than once"),
    unsupported("spr_op", &[], "a `prepare` phase of a plan fills the target more than once"),
    unsupported("spr_num_regions", &[], "a `prepare` phase of a plan fills the target more than once"),
    unsupported("spr_cs", &[], "a `prepare` phase of a plan fills the target more than once"),
    // Where.
    supported("filename", &[]),
    supported("directory", &[]),
    supported("filename_format", &[]),
    ignored("unique_filename", &[]),
    unsupported("opendir", &[], "name the files with `filename`, or write a plan of files and directories"),
    unsupported("filetype", &["file"], "what a target is, is looked up"),
    unsupported("lockfile", &["none"], "workers take no locks"),
    supported("size", &[]),
    supported("io_size", &["io_limit"]),
    supported("filesize", &[]),
    supported("nrfiles", &["nr_files"]),
    supported("openfiles", &[]),
    supported("file_service_type", &[]),
    supported("offset", &[]),
    supported("offset_increment", &[]),
    supported("offset_align", &[]),
    supported("number_ios", &[]),
    flag("fill_device", &["fill_fs"]),
    unsupported("file_append", OFF, "requests go where offset and size say"),
    noted("fallocate", &[], "files are written out before they are read, never only allocated"),
    noted("fadvise_hint", &["fadvise"], "no advice is given: the kernel finds out itself how a file is read"),
    unsupported("write_hint", &["none"], "writes carry no lifetime hint"),
    ignored("overwrite", &[]),
    flag("invalidate", &[]),
    unsupported(
        "pre_read",
        OFF,
        "a phase of its own with `direct = false` reads the span into the page cache",
    ),
    unsupported(
        "create_only",
        OFF,
        "files are laid out when they are measured; `fathom run --keep` lets them stay",
    ),
    ignored("create_on_open", &[]),
    ignored("create_serialize", &[]),
    ignored("create_fsync", &[]),
    flag("allow_file_create", &[]),
    noted(
        "allow_mounted_write",
        &[],
        "what may be written on is decided by --destroy, whatever the job says",
    ),
    flag("unlink", &[]),
    unsupported("unlink_each_loop", OFF, "files are laid out once"),
    unsupported("ioscheduler", &[], "set the scheduler of the device before; the record says which it was"),
    flag("direct", &[]),
    flag("buffered", &[]),
    unsupported("atomic", OFF, "no engine asks for untorn writes"),
    flag("sync", &[]),
    supported("fsync", &[]),
    supported("fdatasync", &[]),
    flag("end_fsync", &[]),
    flag("fsync_on_close", &[]),
    flag("end_syncfs", &[]),
    noted("write_barrier", &[], "none of fio's own engines heeds it"),
    supported("sync_file_range", &[]),
    // How much at once.
    supported("ioengine", &[]),
    supported("iodepth", &[]),
    supported("iodepth_batch", &["iodepth_batch_submit"]),
    supported("iodepth_batch_complete_min", &["iodepth_batch_complete"]),
    noted("iodepth_batch_complete_max", &[], "all requests that have ended are taken at once"),
    supported("iodepth_low", &[]),
    unsupported("serialize_overlap", OFF, "without norandommap no block is asked for twice before all were"),
    noted("io_submit_mode", &[], "a request is sent when it is due, whatever the ones before it do"),
    supported("numjobs", &[]),
    ignored("thread", &[]),
    supported("rate", &[]),
    supported("rate_iops", &[]),
    supported("rate_min", &["ratemin"]),
    supported("rate_iops_min", &[]),
    ignored("rate_cycle", &["ratecycle"]),
    supported("rate_process", &[]),
    flag("rate_ignore_thinktime", &[]),
    supported("thinktime", &[]),
    noted("thinktime_spin", &[], "think time is waited, not burnt"),
    supported("thinktime_blocks", &[]),
    supported("thinktime_blocks_type", &[]),
    supported("thinktime_iotime", &[]),
    unsupported("thinkcycles", OFF, "thinktime= is the nearest"),
    supported("latency_target", &[]),
    supported("latency_window", &[]),
    supported("latency_percentile", &[]),
    flag("latency_run", &[]),
    supported("max_latency", &[]),
    // When.
    supported("runtime", &["timeout"]),
    flag("time_based", &[]),
    supported("loops", &[]),
    supported("ramp_time", &[]),
    unsupported("ramp_size", OFF, "ramp_time= warms up by time"),
    supported("startdelay", &["start_delay"]),
    flag("stonewall", &["wait_for_previous"]),
    supported("wait_for", &[]),
    flag("exitall", &[]),
    supported("exit_what", &[]),
    ignored("exitall_on_error", &[]),
    flag("new_group", &[]),
    flag("group_reporting", &[]),
    noted("stats", &[], "every job is reported"),
    supported("flow", &[]),
    supported("flow_id", &[]),
    noted("flow_sleep", &[], "a job that has had its part looks again after 50 µs"),
    noted("flow_watermark", &[], "fio itself no longer heeds it"),
    supported("steadystate", &["ss"]),
    supported("steadystate_duration", &["ss_dur"]),
    supported("steadystate_ramp_time", &["ss_ramp"]),
    ignored("steadystate_check_interval", &["ss_interval"]),
    // What writes hold.
    flag("zero_buffers", &[]),
    ignored("refill_buffers", &[]),
    ignored("scramble_buffers", &[]),
    supported("buffer_pattern", &[]),
    supported("buffer_compress_percentage", &[]),
    noted("buffer_compress_chunk", &[], "what is asked for is reached within each 4 KiB"),
    supported("dedupe_percentage", &[]),
    noted("dedupe_mode", &[], REPEATS),
    noted("dedupe_working_set_percentage", &[], REPEATS),
    noted(
        "dedupe_global",
        &[],
        "each worker repeats blocks of its own, in the part that dedupe_percentage says",
    ),
    supported("verify", &[]),
    flag("do_verify", &[]),
    flag("verify_only", &[]),
    ignored("verify_fatal", &[]),
    noted("verify_dump", &[], "the record has the place of each block that was wrong"),
    ignored("verify_interval", &["verify_blocksize"]),
    ignored("verify_offset", &[]),
    supported("verify_pattern", &[]),
    unsupported("verify_pattern_interval", OFF, "a pattern begins with each request"),
    ignored("verify_async", &[]),
    ignored("verify_async_cpus", &[]),
    supported("verify_backlog", &[]),
    supported("verify_backlog_batch", &[]),
    ignored("verify_state_save", &[]),
    unsupported("verify_state_load", OFF, "what is read can be checked only in the run that wrote it"),
    unsupported("verify_policy", &[], "what is read can be checked only in the run that wrote it"),
    noted(
        "experimental_verify",
        &[],
        "what was written is always read back by the same stream, not from a log",
    ),
    ignored("verify_write_sequence", &[]),
    ignored("verify_header_seed", &[]),
    unsupported("trim_percentage", OFF, "rw=randtrim, or `trims` in a plan"),
    unsupported("trim_backlog", OFF, "rw=randtrim, or `trims` in a plan"),
    unsupported("trim_backlog_batch", OFF, "rw=randtrim, or `trims` in a plan"),
    unsupported("trim_verify_zero", OFF, "rw=randtrim, or `trims` in a plan"),
    // Zones and NVMe.
    supported("zonemode", &[]),
    supported("zonesize", &[]),
    supported("zonerange", &[]),
    supported("zoneskip", &[]),
    unsupported("zonecapacity", OFF, ZBD),
    unsupported("read_beyond_wp", OFF, ZBD),
    unsupported("max_open_zones", OFF, ZBD),
    unsupported("job_max_open_zones", OFF, ZBD),
    unsupported("ignore_zone_limits", OFF, ZBD),
    unsupported("recover_zbd_write_error", OFF, ZBD),
    unsupported("write_zone_remainder", OFF, ZBD),
    unsupported("zone_reset_threshold", OFF, ZBD),
    unsupported("zone_reset_frequency", OFF, ZBD),
    unsupported("fdp", OFF, "writes carry no placement hint"),
    unsupported("fdp_pli", &[], "writes carry no placement hint"),
    unsupported("dataplacement", &["none"], "writes carry no placement hint"),
    unsupported("plids", &[], "writes carry no placement hint"),
    unsupported("plid_select", &[], "writes carry no placement hint"),
    unsupported("dp_scheme", &[], "writes carry no placement hint"),
    unsupported("md_per_io_size", OFF, "requests carry no protection information"),
    unsupported("pi_act", &[], "requests carry no protection information"),
    unsupported("pi_chk", &[], "requests carry no protection information"),
    unsupported("apptag", &[], "requests carry no protection information"),
    unsupported("apptag_mask", &[], "requests carry no protection information"),
    // Replay.
    supported("read_iolog", &[]),
    ignored("read_iolog_chunked", &[]),
    flag("replay_no_stall", &[]),
    supported("replay_redirect", &[]),
    supported("replay_align", &[]),
    supported("replay_scale", &[]),
    supported("replay_time_scale", &[]),
    supported("replay_skip", &[]),
    unsupported("merge_blktrace_file", &[], "traces are not merged; give each a job of its own"),
    unsupported("merge_blktrace_scalars", &[], "traces are not merged; give each a job of its own"),
    unsupported("merge_blktrace_iters", &[], "traces are not merged; give each a job of its own"),
    supported("write_iolog", &[]),
    // Around the job.
    unsupported("exec_prerun", &[], "nothing is executed; run it before"),
    unsupported("exec_postrun", &[], "nothing is executed; run it afterwards"),
    unsupported("prio", OFF, "run `ionice` around fathom"),
    unsupported("prioclass", OFF, "run `ionice` around fathom"),
    unsupported("priohint", OFF, "requests carry no hint"),
    unsupported("cmdprio_percentage", OFF, "requests carry no priority"),
    unsupported("cmdprio_class", OFF, "requests carry no priority"),
    unsupported("cmdprio", OFF, "requests carry no priority"),
    unsupported("cmdprio_hint", OFF, "requests carry no priority"),
    unsupported("cmdprio_bssplit", &[], "requests carry no priority"),
    unsupported("nice", OFF, "run `nice` around fathom"),
    unsupported("uid", &[], "run fathom as that user"),
    unsupported("gid", &[], "run fathom as that group"),
    unsupported("cgroup", &[], "start fathom in the group"),
    unsupported("cgroup_weight", &[], "start fathom in the group"),
    ignored("cgroup_nodelete", &[]),
    ignored("comm", &[]),
    supported("cpus_allowed", &[]),
    supported("cpumask", &[]),
    supported("cpus_allowed_policy", &[]),
    supported("numa_cpu_nodes", &[]),
    supported("numa_mem_policy", &[]),
    supported("iomem", &["mem"]),
    ignored("iomem_align", &["mem_align"]),
    ignored("hugepage-size", &[]),
    unsupported("lockmem", OFF, "memory is left as it is; the record says how much there was"),
    ignored("clocksource", &[]),
    ignored("gtod_reduce", &[]),
    ignored("gtod_cpu", &[]),
    ignored("disable_lat", &[]),
    ignored("disable_clat", &[]),
    ignored("disable_slat", &[]),
    ignored("disable_bw_measurement", &["disable_bw"]),
    ignored("disk_util", &[]),
    ignored("job_start_clock_id", &[]),
    // Reports.
    flag("clat_percentiles", &[]),
    flag("lat_percentiles", &[]),
    ignored("slat_percentiles", &[]),
    supported("percentile_list", &[]),
    ignored("significant_figures", &[]),
    ignored("unit_base", &[]),
    supported("kb_base", &[]),
    unsupported("unified_rw_reporting", &["0", "none"], "reads and writes are reported apart"),
    ignored("bwavgtime", &[]),
    ignored("iopsavgtime", &[]),
    flag("write_bw_log", &[]),
    flag("write_lat_log", &[]),
    flag("write_iops_log", &[]),
    noted(
        "write_hist_log",
        &[],
        "no log of histograms is written; the record keeps one of each operation and size",
    ),
    supported("log_avg_msec", &[]),
    ignored("log_hist_msec", &[]),
    ignored("log_hist_coarseness", &[]),
    supported("log_max_value", &["log_window_value"]),
    flag("log_offset", &[]),
    ignored("log_prio", &[]),
    ignored("log_issue_time", &[]),
    ignored("log_entries", &[]),
    ignored("log_compression", &[]),
    ignored("log_compression_cpus", &[]),
    ignored("log_store_compressed", &[]),
    noted("log_unix_epoch", &[], "times in logs are from the start of the job"),
    noted("log_alternate_epoch", &[], "times in logs are from the start of the job"),
    ignored("log_alternate_epoch_clock_id", &[]),
    flag("per_job_logs", &[]),
    ignored("block_error_percentiles", &[]),
    noted(
        "continue_on_error",
        &[],
        "requests that fail are counted, and end the run where there are too many",
    ),
    noted("ignore_error", &[], "every request that fails is counted"),
    ignored("error_dump", &[]),
    unsupported("profile", &[], "`fathom plan list` has ready plans"),
    noted("threads", &[], "it belongs to fio's tiobench profile and does nothing in a job"),
    // Of engines.
    flag("hipri", &[]),
    unsupported("hipri_percentage", &["100"], "with hipri=1 all requests are polled for"),
    ignored("fixedbufs", &[]),
    ignored("registerfiles", &[]),
    flag("sqthread_poll", &[]),
    noted("sqthread_poll_cpu", &[], "the kernel chooses where its polling thread runs"),
    ignored("nonvectored", &[]),
    noted("force_async", &[], "the kernel decides which requests its own workers carry out"),
    unsupported("nowait", OFF, "requests may wait"),
    unsupported("uncached", OFF, "direct=1 is the nearest"),
    ignored("userspace_reap", &[]),
    ignored("libaio_vectored", &[]),
    supported("stat_type", &[]),
    unsupported("clustername", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("clientname", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("rbdname", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("pool", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("busy_poll", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("touch_objects", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("conf", &[], "it belongs to ioengine=rbd or rados, which is not supported"),
    unsupported("hostname", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("protocol", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("port", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("interface", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("ttl", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("nodelay", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("listen", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("pingpong", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("window_size", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("mss", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("verb", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("bindname", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported("serverip", &[], "it belongs to ioengine=net, rdma or librpma, which is not supported"),
    unsupported(
        "direct_write_to_pmem",
        &[],
        "it belongs to ioengine=net, rdma or librpma, which is not supported",
    ),
    unsupported(
        "busy_wait_polling",
        &[],
        "it belongs to ioengine=net, rdma or librpma, which is not supported",
    ),
    unsupported("uri", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not supported"),
    unsupported("nfs_url", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not supported"),
    unsupported(
        "libblkio_driver",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported("libblkio_path", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not supported"),
    unsupported(
        "libblkio_pre_connect_props",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_num_entries",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_queue_size",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_pre_start_props",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_vectored",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_write_zeroes_on_trim",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_wait_mode",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported(
        "libblkio_force_enable_completion_eventfd",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not supported",
    ),
    unsupported("cpuload", &[], "it belongs to ioengine=cpuio, which is not supported"),
    unsupported("cpuchunks", &[], "it belongs to ioengine=cpuio, which is not supported"),
    unsupported("cpumode", &[], "it belongs to ioengine=cpuio, which is not supported"),
    unsupported("exit_on_io_done", &[], "it belongs to ioengine=cpuio, which is not supported"),
    unsupported("donorname", &[], "it belongs to ioengine=e4defrag, which is not supported"),
    unsupported("inplace", &[], "it belongs to ioengine=e4defrag, which is not supported"),
    unsupported("program", &[], "it belongs to ioengine=exec, which is not supported"),
    unsupported("arguments", &[], "it belongs to ioengine=exec, which is not supported"),
    unsupported("grace_time", &[], "it belongs to ioengine=exec, which is not supported"),
    unsupported("std_redirect", &[], "it belongs to ioengine=exec, which is not supported"),
    unsupported("http_host", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_user", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_pass", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("https", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_mode", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_verbose", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_key", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_keyid", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_region", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_security_token", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_sse_customer_key", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_sse_customer_algorithm", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_s3_storage_class", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_swift_auth_token", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("http_object_mode", &[], "it belongs to ioengine=http, which is not supported"),
    unsupported("namenode", &[], "it belongs to ioengine=libhdfs, which is not supported"),
    unsupported("hdfsdirectory", &[], "it belongs to ioengine=libhdfs, which is not supported"),
    unsupported("chunk_size", &[], "it belongs to ioengine=libhdfs, which is not supported"),
    unsupported("single_instance", &[], "it belongs to ioengine=libhdfs, which is not supported"),
    unsupported("hdfs_use_direct", &[], "it belongs to ioengine=libhdfs, which is not supported"),
    unsupported("volume", &[], "it belongs to ioengine=gfapi, which is not supported"),
    unsupported("brick", &[], "it belongs to ioengine=gfapi, which is not supported"),
    unsupported("gpu_dev_ids", &[], "it belongs to ioengine=libcufile, which is not supported"),
    unsupported("cuda_io", &[], "it belongs to ioengine=libcufile, which is not supported"),
    unsupported("cont", &[], "it belongs to ioengine=dfs, which is not supported"),
    unsupported("object_class", &[], "it belongs to ioengine=dfs, which is not supported"),
    unsupported("svcl", &[], "it belongs to ioengine=dfs, which is not supported"),
    unsupported("skip_bad", &[], "it belongs to ioengine=mtd, which is not supported"),
    unsupported("sg_write_mode", &[], "it belongs to ioengine=sg, which is not supported"),
    unsupported("readfua", &[], "it belongs to ioengine=sg, which is not supported"),
    unsupported("writefua", &[], "it belongs to ioengine=sg, which is not supported"),
    unsupported("stream_id", &[], "it belongs to ioengine=sg, which is not supported"),
    unsupported("cmd_type", &[], "it belongs to ioengine=io_uring_cmd, which is not supported"),
    unsupported("write_mode", &[], "it belongs to ioengine=io_uring_cmd, which is not supported"),
    unsupported("verify_mode", &[], "it belongs to ioengine=io_uring_cmd, which is not supported"),
    unsupported("num_range", &["1"], "a trim is of one range"),
    unsupported("xnvme_async", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_sync", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_admin", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_dev_nsid", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_mem", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_be", &[], "it belongs to ioengine=xnvme, which is not supported"),
    unsupported("xnvme_iovec", &[], "it belongs to ioengine=xnvme, which is not supported"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_stands_once() {
        let mut all = names();
        all.sort_unstable();
        let before = all.len();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    #[test]
    fn old_spellings_lead_to_the_same_option() {
        for (old, new) in
            [("timeout", "runtime"), ("blocksize", "bs"), ("nr_files", "nrfiles"), ("ss", "steadystate")]
        {
            assert_eq!(find(old).map(|known| known.name), Some(new));
        }
    }
}
