//! Every option of fio: which of them are served, which change nothing here, which are refused and why.
//!
//! **Invariant:** a name stands here once, aliases included. What changes the requests is served or refused, never
//! dropped.
//!
//! Source of names and aliases: `fio --cmdhelp` of fio 3.33 and the manual of fio 3.42.

use Verdict::{Moot, Refused, Served};

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The plan says it.
    Served,
    /// The requests are the same with and without it. The words are a note, where the user may expect more.
    Moot(Option<&'static str>),
    /// It changes the requests or what surrounds them.
    Refused {
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

const fn served(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: false, verdict: Served }
}

const fn flag(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: true, verdict: Served }
}

const fn moot(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases, bare: true, verdict: Moot(None) }
}

const fn noted(name: &'static str, aliases: &'static [&'static str], note: &'static str) -> Known {
    Known { name, aliases, bare: true, verdict: Moot(Some(note)) }
}

const fn refused(name: &'static str, idle: &'static [&'static str], why: &'static str) -> Known {
    Known { name, aliases: &[], bare: true, verdict: Refused { why, idle } }
}

const REPEATS: &str =
    "what repeats are blocks that the worker wrote before, in the part that dedupe_percentage says";
const OFF: &[&str] = &["0"];
const ZBD: &str = "it goes with zonemode=zbd, and zoned devices are not served";

const TABLE: &[Known] = &[
    // What is asked.
    served("description", &[]),
    served("name", &[]),
    served("rw", &["readwrite"]),
    served("rw_sequencer", &[]),
    served("bs", &["blocksize"]),
    served("ba", &["blockalign"]),
    served("bsrange", &["blocksize_range"]),
    served("bssplit", &[]),
    flag("bs_unaligned", &["blocksize_unaligned"]),
    refused("bs_is_seq_rand", OFF, "say sizes for reads and writes, or write two jobs"),
    served("rwmixread", &[]),
    served("rwmixwrite", &[]),
    noted("rwmixcycle", &[], "fio itself no longer heeds it"),
    served("percentage_random", &[]),
    served("random_distribution", &[]),
    refused("random_sequence_stride", &[], "it goes with random_distribution=sequence"),
    flag("norandommap", &[]),
    moot("softrandommap", &[]),
    served("random_generator", &[]),
    flag("randrepeat", &[]),
    flag("allrandrepeat", &[]),
    served("randseed", &[]),
    refused("sprandom", OFF, "a `prepare` phase of a plan fills the target more than once"),
    refused("spr_op", &[], "a `prepare` phase of a plan fills the target more than once"),
    refused("spr_num_regions", &[], "a `prepare` phase of a plan fills the target more than once"),
    refused("spr_cs", &[], "a `prepare` phase of a plan fills the target more than once"),
    // Where.
    served("filename", &[]),
    served("directory", &[]),
    served("filename_format", &[]),
    moot("unique_filename", &[]),
    refused("opendir", &[], "name the files with `filename`, or write a plan of files and directories"),
    refused("filetype", &["file"], "what a target is, is looked up"),
    refused("lockfile", &["none"], "workers take no locks"),
    served("size", &[]),
    served("io_size", &["io_limit"]),
    served("filesize", &[]),
    served("nrfiles", &["nr_files"]),
    served("openfiles", &[]),
    served("file_service_type", &[]),
    served("offset", &[]),
    served("offset_increment", &[]),
    served("offset_align", &[]),
    served("number_ios", &[]),
    flag("fill_device", &["fill_fs"]),
    refused("file_append", OFF, "requests go where offset and size say"),
    noted("fallocate", &[], "files are written out before they are read, never only allocated"),
    noted("fadvise_hint", &["fadvise"], "no advice is given: the kernel finds out itself how a file is read"),
    refused("write_hint", &["none"], "writes carry no lifetime hint"),
    moot("overwrite", &[]),
    flag("invalidate", &[]),
    refused("pre_read", OFF, "a phase of its own with `direct = false` reads the span into the page cache"),
    refused(
        "create_only",
        OFF,
        "files are laid out when they are measured; `fathom run --keep` lets them stay",
    ),
    moot("create_on_open", &[]),
    moot("create_serialize", &[]),
    moot("create_fsync", &[]),
    flag("allow_file_create", &[]),
    noted(
        "allow_mounted_write",
        &[],
        "what may be written on is decided by --destroy, whatever the job says",
    ),
    flag("unlink", &[]),
    refused("unlink_each_loop", OFF, "files are laid out once"),
    refused("ioscheduler", &[], "set the scheduler of the device before; the record says which it was"),
    flag("direct", &[]),
    flag("buffered", &[]),
    refused("atomic", OFF, "no engine asks for untorn writes"),
    flag("sync", &[]),
    served("fsync", &[]),
    served("fdatasync", &[]),
    flag("end_fsync", &[]),
    flag("fsync_on_close", &[]),
    flag("end_syncfs", &[]),
    noted("write_barrier", &[], "none of fio's own engines heeds it"),
    served("sync_file_range", &[]),
    // How much at once.
    served("ioengine", &[]),
    served("iodepth", &[]),
    served("iodepth_batch", &["iodepth_batch_submit"]),
    served("iodepth_batch_complete_min", &["iodepth_batch_complete"]),
    noted("iodepth_batch_complete_max", &[], "all requests that have ended are taken at once"),
    served("iodepth_low", &[]),
    refused("serialize_overlap", OFF, "without norandommap no block is asked for twice before all were"),
    noted("io_submit_mode", &[], "a request is sent when it is due, whatever the ones before it do"),
    served("numjobs", &[]),
    moot("thread", &[]),
    served("rate", &[]),
    served("rate_iops", &[]),
    served("rate_min", &["ratemin"]),
    served("rate_iops_min", &[]),
    moot("rate_cycle", &["ratecycle"]),
    served("rate_process", &[]),
    flag("rate_ignore_thinktime", &[]),
    served("thinktime", &[]),
    noted("thinktime_spin", &[], "think time is waited, not burnt"),
    served("thinktime_blocks", &[]),
    served("thinktime_blocks_type", &[]),
    served("thinktime_iotime", &[]),
    refused("thinkcycles", OFF, "thinktime= is the nearest"),
    served("latency_target", &[]),
    served("latency_window", &[]),
    served("latency_percentile", &[]),
    flag("latency_run", &[]),
    served("max_latency", &[]),
    // When.
    served("runtime", &["timeout"]),
    flag("time_based", &[]),
    served("loops", &[]),
    served("ramp_time", &[]),
    refused("ramp_size", OFF, "ramp_time= warms up by time"),
    served("startdelay", &["start_delay"]),
    flag("stonewall", &["wait_for_previous"]),
    served("wait_for", &[]),
    flag("exitall", &[]),
    served("exit_what", &[]),
    moot("exitall_on_error", &[]),
    flag("new_group", &[]),
    flag("group_reporting", &[]),
    noted("stats", &[], "every job is reported"),
    served("flow", &[]),
    served("flow_id", &[]),
    noted("flow_sleep", &[], "a job that has had its part looks again after 50 µs"),
    noted("flow_watermark", &[], "fio itself no longer heeds it"),
    served("steadystate", &["ss"]),
    served("steadystate_duration", &["ss_dur"]),
    served("steadystate_ramp_time", &["ss_ramp"]),
    moot("steadystate_check_interval", &["ss_interval"]),
    // What writes hold.
    flag("zero_buffers", &[]),
    moot("refill_buffers", &[]),
    moot("scramble_buffers", &[]),
    served("buffer_pattern", &[]),
    served("buffer_compress_percentage", &[]),
    noted("buffer_compress_chunk", &[], "what is asked for is reached within each 4 KiB"),
    served("dedupe_percentage", &[]),
    noted("dedupe_mode", &[], REPEATS),
    noted("dedupe_working_set_percentage", &[], REPEATS),
    noted(
        "dedupe_global",
        &[],
        "each worker repeats blocks of its own, in the part that dedupe_percentage says",
    ),
    served("verify", &[]),
    flag("do_verify", &[]),
    flag("verify_only", &[]),
    moot("verify_fatal", &[]),
    noted("verify_dump", &[], "the record has the place of each block that was wrong"),
    moot("verify_interval", &["verify_blocksize"]),
    moot("verify_offset", &[]),
    served("verify_pattern", &[]),
    refused("verify_pattern_interval", OFF, "a pattern begins with each request"),
    moot("verify_async", &[]),
    moot("verify_async_cpus", &[]),
    served("verify_backlog", &[]),
    served("verify_backlog_batch", &[]),
    moot("verify_state_save", &[]),
    refused("verify_state_load", OFF, "what is read can be checked only in the run that wrote it"),
    refused("verify_policy", &[], "what is read can be checked only in the run that wrote it"),
    noted(
        "experimental_verify",
        &[],
        "what was written is always read back by the same stream, not from a log",
    ),
    moot("verify_write_sequence", &[]),
    moot("verify_header_seed", &[]),
    refused("trim_percentage", OFF, "rw=randtrim, or `trims` in a plan"),
    refused("trim_backlog", OFF, "rw=randtrim, or `trims` in a plan"),
    refused("trim_backlog_batch", OFF, "rw=randtrim, or `trims` in a plan"),
    refused("trim_verify_zero", OFF, "rw=randtrim, or `trims` in a plan"),
    // Zones and NVMe.
    served("zonemode", &[]),
    served("zonesize", &[]),
    served("zonerange", &[]),
    served("zoneskip", &[]),
    refused("zonecapacity", OFF, ZBD),
    refused("read_beyond_wp", OFF, ZBD),
    refused("max_open_zones", OFF, ZBD),
    refused("job_max_open_zones", OFF, ZBD),
    refused("ignore_zone_limits", OFF, ZBD),
    refused("recover_zbd_write_error", OFF, ZBD),
    refused("write_zone_remainder", OFF, ZBD),
    refused("zone_reset_threshold", OFF, ZBD),
    refused("zone_reset_frequency", OFF, ZBD),
    refused("fdp", OFF, "writes carry no placement hint"),
    refused("fdp_pli", &[], "writes carry no placement hint"),
    refused("dataplacement", &["none"], "writes carry no placement hint"),
    refused("plids", &[], "writes carry no placement hint"),
    refused("plid_select", &[], "writes carry no placement hint"),
    refused("dp_scheme", &[], "writes carry no placement hint"),
    refused("md_per_io_size", OFF, "requests carry no protection information"),
    refused("pi_act", &[], "requests carry no protection information"),
    refused("pi_chk", &[], "requests carry no protection information"),
    refused("apptag", &[], "requests carry no protection information"),
    refused("apptag_mask", &[], "requests carry no protection information"),
    // Replay.
    served("read_iolog", &[]),
    moot("read_iolog_chunked", &[]),
    flag("replay_no_stall", &[]),
    served("replay_redirect", &[]),
    served("replay_align", &[]),
    served("replay_scale", &[]),
    served("replay_time_scale", &[]),
    served("replay_skip", &[]),
    refused("merge_blktrace_file", &[], "traces are not merged; give each a job of its own"),
    refused("merge_blktrace_scalars", &[], "traces are not merged; give each a job of its own"),
    refused("merge_blktrace_iters", &[], "traces are not merged; give each a job of its own"),
    served("write_iolog", &[]),
    // Around the job.
    refused("exec_prerun", &[], "nothing is executed; run it before"),
    refused("exec_postrun", &[], "nothing is executed; run it afterwards"),
    refused("prio", OFF, "run `ionice` around fathom"),
    refused("prioclass", OFF, "run `ionice` around fathom"),
    refused("priohint", OFF, "requests carry no hint"),
    refused("cmdprio_percentage", OFF, "requests carry no priority"),
    refused("cmdprio_class", OFF, "requests carry no priority"),
    refused("cmdprio", OFF, "requests carry no priority"),
    refused("cmdprio_hint", OFF, "requests carry no priority"),
    refused("cmdprio_bssplit", &[], "requests carry no priority"),
    refused("nice", OFF, "run `nice` around fathom"),
    refused("uid", &[], "run fathom as that user"),
    refused("gid", &[], "run fathom as that group"),
    refused("cgroup", &[], "start fathom in the group"),
    refused("cgroup_weight", &[], "start fathom in the group"),
    moot("cgroup_nodelete", &[]),
    moot("comm", &[]),
    served("cpus_allowed", &[]),
    served("cpumask", &[]),
    served("cpus_allowed_policy", &[]),
    served("numa_cpu_nodes", &[]),
    served("numa_mem_policy", &[]),
    served("iomem", &["mem"]),
    moot("iomem_align", &["mem_align"]),
    moot("hugepage-size", &[]),
    refused("lockmem", OFF, "memory is left as it is; the record says how much there was"),
    moot("clocksource", &[]),
    moot("gtod_reduce", &[]),
    moot("gtod_cpu", &[]),
    moot("disable_lat", &[]),
    moot("disable_clat", &[]),
    moot("disable_slat", &[]),
    moot("disable_bw_measurement", &["disable_bw"]),
    moot("disk_util", &[]),
    moot("job_start_clock_id", &[]),
    // Reports.
    flag("clat_percentiles", &[]),
    flag("lat_percentiles", &[]),
    moot("slat_percentiles", &[]),
    served("percentile_list", &[]),
    moot("significant_figures", &[]),
    moot("unit_base", &[]),
    served("kb_base", &[]),
    refused("unified_rw_reporting", &["0", "none"], "reads and writes are reported apart"),
    moot("bwavgtime", &[]),
    moot("iopsavgtime", &[]),
    flag("write_bw_log", &[]),
    flag("write_lat_log", &[]),
    flag("write_iops_log", &[]),
    noted(
        "write_hist_log",
        &[],
        "no log of histograms is written; the record keeps one of each operation and size",
    ),
    served("log_avg_msec", &[]),
    moot("log_hist_msec", &[]),
    moot("log_hist_coarseness", &[]),
    served("log_max_value", &["log_window_value"]),
    flag("log_offset", &[]),
    moot("log_prio", &[]),
    moot("log_issue_time", &[]),
    moot("log_entries", &[]),
    moot("log_compression", &[]),
    moot("log_compression_cpus", &[]),
    moot("log_store_compressed", &[]),
    noted("log_unix_epoch", &[], "times in logs are from the start of the job"),
    noted("log_alternate_epoch", &[], "times in logs are from the start of the job"),
    moot("log_alternate_epoch_clock_id", &[]),
    flag("per_job_logs", &[]),
    moot("block_error_percentiles", &[]),
    noted(
        "continue_on_error",
        &[],
        "requests that fail are counted, and end the run where there are too many",
    ),
    noted("ignore_error", &[], "every request that fails is counted"),
    moot("error_dump", &[]),
    refused("profile", &[], "`fathom plan list` has ready plans"),
    noted("threads", &[], "it belongs to fio's tiobench profile and does nothing in a job"),
    // Of engines.
    flag("hipri", &[]),
    refused("hipri_percentage", &["100"], "with hipri=1 all requests are polled for"),
    moot("fixedbufs", &[]),
    moot("registerfiles", &[]),
    flag("sqthread_poll", &[]),
    noted("sqthread_poll_cpu", &[], "the kernel chooses where its polling thread runs"),
    moot("nonvectored", &[]),
    noted("force_async", &[], "the kernel decides which requests its own workers carry out"),
    refused("nowait", OFF, "requests may wait"),
    refused("uncached", OFF, "direct=1 is the nearest"),
    moot("userspace_reap", &[]),
    moot("libaio_vectored", &[]),
    served("stat_type", &[]),
    refused("clustername", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("clientname", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("rbdname", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("pool", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("busy_poll", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("touch_objects", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("conf", &[], "it belongs to ioengine=rbd or rados, which is not served"),
    refused("hostname", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("protocol", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("port", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("interface", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("ttl", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("nodelay", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("listen", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("pingpong", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("window_size", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("mss", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("verb", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("bindname", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("serverip", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("direct_write_to_pmem", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("busy_wait_polling", &[], "it belongs to ioengine=net, rdma or librpma, which is not served"),
    refused("uri", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused("nfs_url", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused("libblkio_driver", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused("libblkio_path", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused(
        "libblkio_pre_connect_props",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not served",
    ),
    refused("libblkio_num_entries", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused("libblkio_queue_size", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused(
        "libblkio_pre_start_props",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not served",
    ),
    refused("libblkio_vectored", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused(
        "libblkio_write_zeroes_on_trim",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not served",
    ),
    refused("libblkio_wait_mode", &[], "it belongs to ioengine=nbd, nfs or libblkio, which is not served"),
    refused(
        "libblkio_force_enable_completion_eventfd",
        &[],
        "it belongs to ioengine=nbd, nfs or libblkio, which is not served",
    ),
    refused("cpuload", &[], "it belongs to ioengine=cpuio, which is not served"),
    refused("cpuchunks", &[], "it belongs to ioengine=cpuio, which is not served"),
    refused("cpumode", &[], "it belongs to ioengine=cpuio, which is not served"),
    refused("exit_on_io_done", &[], "it belongs to ioengine=cpuio, which is not served"),
    refused("donorname", &[], "it belongs to ioengine=e4defrag, which is not served"),
    refused("inplace", &[], "it belongs to ioengine=e4defrag, which is not served"),
    refused("program", &[], "it belongs to ioengine=exec, which is not served"),
    refused("arguments", &[], "it belongs to ioengine=exec, which is not served"),
    refused("grace_time", &[], "it belongs to ioengine=exec, which is not served"),
    refused("std_redirect", &[], "it belongs to ioengine=exec, which is not served"),
    refused("http_host", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_user", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_pass", &[], "it belongs to ioengine=http, which is not served"),
    refused("https", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_mode", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_verbose", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_key", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_keyid", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_region", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_security_token", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_sse_customer_key", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_sse_customer_algorithm", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_s3_storage_class", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_swift_auth_token", &[], "it belongs to ioengine=http, which is not served"),
    refused("http_object_mode", &[], "it belongs to ioengine=http, which is not served"),
    refused("namenode", &[], "it belongs to ioengine=libhdfs, which is not served"),
    refused("hdfsdirectory", &[], "it belongs to ioengine=libhdfs, which is not served"),
    refused("chunk_size", &[], "it belongs to ioengine=libhdfs, which is not served"),
    refused("single_instance", &[], "it belongs to ioengine=libhdfs, which is not served"),
    refused("hdfs_use_direct", &[], "it belongs to ioengine=libhdfs, which is not served"),
    refused("volume", &[], "it belongs to ioengine=gfapi, which is not served"),
    refused("brick", &[], "it belongs to ioengine=gfapi, which is not served"),
    refused("gpu_dev_ids", &[], "it belongs to ioengine=libcufile, which is not served"),
    refused("cuda_io", &[], "it belongs to ioengine=libcufile, which is not served"),
    refused("cont", &[], "it belongs to ioengine=dfs, which is not served"),
    refused("object_class", &[], "it belongs to ioengine=dfs, which is not served"),
    refused("svcl", &[], "it belongs to ioengine=dfs, which is not served"),
    refused("skip_bad", &[], "it belongs to ioengine=mtd, which is not served"),
    refused("sg_write_mode", &[], "it belongs to ioengine=sg, which is not served"),
    refused("readfua", &[], "it belongs to ioengine=sg, which is not served"),
    refused("writefua", &[], "it belongs to ioengine=sg, which is not served"),
    refused("stream_id", &[], "it belongs to ioengine=sg, which is not served"),
    refused("cmd_type", &[], "it belongs to ioengine=io_uring_cmd, which is not served"),
    refused("write_mode", &[], "it belongs to ioengine=io_uring_cmd, which is not served"),
    refused("verify_mode", &[], "it belongs to ioengine=io_uring_cmd, which is not served"),
    refused("num_range", &["1"], "a trim is of one range"),
    refused("xnvme_async", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_sync", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_admin", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_dev_nsid", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_mem", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_be", &[], "it belongs to ioengine=xnvme, which is not served"),
    refused("xnvme_iovec", &[], "it belongs to ioengine=xnvme, which is not served"),
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
