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
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its name in fio's own output.
    pub name: &'static str,
    /// Whether it may stand without a value, and then means yes.
    pub bare: bool,
    /// Whether an argument behind it is never its value, as fio reads a command line.
    pub is_switch: bool,
    pub verdict: Verdict,
}

/// Options whose value is only one that stands in the same argument. All others of fio's have theirs in the next one where
/// there is no `=` (`required_argument` of getopt).
///
/// Source: what fio 3.33 tells of types by `--cmdhelp` and `--enghelp`, "empty or boolean value".
const SWITCHES: &str = "bs_unaligned norandommap thread time_based stonewall exitall new_group group_reporting exitall_on_error \
                        zero_buffers verify_only refill_buffers threads hipri fixedbufs registerfiles sqthread_poll \
                        userspace_reap listen pingpong";

/// Options of which the same becomes.
struct Row {
    /// With blanks between them; other spellings of an option behind its name: `rw=readwrite`.
    names: &'static str,
    bare: bool,
    verdict: Verdict,
}

/// The option of that name or alias.
pub(super) fn find(name: &str) -> Option<Known> {
    TABLE.iter().find_map(|row| {
        let spelled =
            row.names.split(' ').find(|option| option.split('=').any(|spelling| spelling == name))?;
        let name = spelled.split('=').next()?;
        let is_switch = SWITCHES.split(' ').any(|switch| switch == name);
        Some(Known { name, bare: row.bare, is_switch, verdict: row.verdict })
    })
}

/// All spellings of options that are not refused.
pub(super) fn spellings() -> impl Iterator<Item = &'static str> {
    let served = TABLE.iter().filter(|row| !matches!(row.verdict, Unsupported { .. }));
    served.flat_map(|row| row.names.split([' ', '=']))
}

/// What becomes of the option of that name, in the form of fio's `--cmdhelp`; of all of them for `all` or nothing. `None`
/// where there is none.
pub(super) fn told(name: &str) -> Option<String> {
    let line = |name: &str, verdict: Verdict| {
        let what = match verdict {
            Supported => "supported".to_owned(),
            Ignored(None) => "changes nothing here".into(),
            Ignored(Some(note)) => format!("changes nothing here: {note}"),
            Unsupported { why, .. } => format!("not supported: {why}"),
        };
        format!("{name:24}: {what}\n")
    };
    if !matches!(name, "" | "all") {
        let known = find(name)?;
        let values = VALUES.iter().find(|(option, _)| *option == known.name).map_or("", |(_, values)| values);
        let values = values.split_whitespace().enumerate().map(|(number, value)| match number {
            0 => format!("{:24}: {value}\n", "valid values"),
            _ => format!("{:24}: {value}\n", ""),
        });
        return Some(line(known.name, known.verdict) + &values.collect::<String>());
    }
    let all = TABLE.iter().flat_map(|row| row.names.split(' ').map(|option| (option, row.verdict)));
    Some(all.map(|(option, verdict)| line(option.split('=').next().unwrap_or(option), verdict)).collect())
}

/// Words that options take, which scripts look for in fio's own help.
const VALUES: &[(&str, &str)] = &[
    ("rw", "read write trim randread randwrite randtrim rw readwrite randrw trimwrite randtrimwrite"),
    ("zonemode", "none strided zbd"),
    ("random_generator", "tausworthe lfsr tausworthe64"),
    ("random_distribution", "random zipf pareto normal zoned zoned_abs sequence"),
    ("file_service_type", "random roundrobin sequential"),
    ("rw_sequencer", "sequential identical"),
    ("rate_process", "linear poisson"),
    ("sync", "none 0 sync 1 dsync"),
];

/// All names and aliases, to suggest from.
pub(super) fn names() -> Vec<&'static str> {
    TABLE.iter().flat_map(|row| row.names.split([' ', '='])).collect()
}

const fn supported(names: &'static str) -> Row {
    Row { names, bare: false, verdict: Supported }
}

const fn flags(names: &'static str) -> Row {
    Row { names, bare: true, verdict: Supported }
}

const fn ignored(names: &'static str) -> Row {
    Row { names, bare: true, verdict: Ignored(None) }
}

const fn noted(names: &'static str, note: &'static str) -> Row {
    Row { names, bare: true, verdict: Ignored(Some(note)) }
}

const fn unsupported(names: &'static str, idle: &'static [&'static str], why: &'static str) -> Row {
    Row { names, bare: true, verdict: Unsupported { why, idle } }
}

const REPEATS: &str =
    "what repeats are blocks that the worker wrote before, in the part that dedupe_percentage says";
const OFF: &[&str] = &["0"];

const TABLE: &[Row] = &[
    // Access pattern.
    supported(
        "description name rw=readwrite rw_sequencer bs=blocksize ba=blockalign bsrange=blocksize_range \
         bssplit rwmixread rwmixwrite percentage_random random_distribution random_generator randseed",
    ),
    flags("bs_unaligned=blocksize_unaligned norandommap randrepeat allrandrepeat"),
    flags("random_sequence_stride"),
    flags("bs_is_seq_rand"),
    noted("rwmixcycle", "fio itself no longer heeds it"),
    ignored("softrandommap"),
    flags("sprandom"),
    supported("spr_op spr_num_regions"),
    noted("spr_cs", "what is written again is known without a cache"),
    // Where.
    supported(
        "filename directory opendir filename_format size io_size=io_limit filesize nrfiles=nr_files openfiles \
         file_service_type offset offset_increment offset_align number_ios fsync fdatasync \
         sync_file_range",
    ),
    flags("overwrite create_on_open"),
    ignored("unique_filename create_serialize create_fsync"),
    noted("filetype", "what a target is, is looked up"),
    supported("lockfile"),
    flags(
        "create_only fill_device=fill_fs invalidate allow_file_create unlink direct buffered sync end_fsync \
         fsync_on_close end_syncfs",
    ),
    flags("file_append"),
    supported("fallocate"),
    noted(
        "fadvise_hint=fadvise",
        "mmap advises by the pattern, as fio does; of other engines the kernel finds out itself how a file is read",
    ),
    supported("write_hint"),
    flags("pre_read"),
    noted("allow_mounted_write", "what may be written on is decided by --destroy, whatever the job says"),
    flags("unlink_each_loop"),
    supported("ioscheduler"),
    flags("atomic nowait uncached"),
    noted("write_barrier", "none of fio's own engines heeds it"),
    // Queue depth and rate.
    supported(
        "ioengine iodepth iodepth_batch=iodepth_batch_submit \
         iodepth_batch_complete_min=iodepth_batch_complete iodepth_low numjobs rate rate_iops \
         rate_min=ratemin rate_iops_min rate_process thinktime thinktime_blocks thinktime_blocks_type \
         thinkcycles thinktime_iotime latency_target latency_window latency_percentile max_latency",
    ),
    noted("iodepth_batch_complete_max", "all requests that have ended are taken at once"),
    noted("io_submit_mode", "a request is sent when it is due, whatever the ones before it do"),
    ignored("thread rate_cycle=ratecycle"),
    flags("rate_ignore_thinktime latency_run serialize_overlap"),
    noted("thinktime_spin", "think time is waited, not burnt"),
    // When.
    supported(
        "runtime=timeout loops ramp_time ramp_size startdelay=start_delay wait_for exit_what flow flow_id \
         steadystate=ss steadystate_duration=ss_dur steadystate_ramp_time=ss_ramp",
    ),
    flags("time_based stonewall=wait_for_previous exitall new_group group_reporting"),
    ignored("exitall_on_error steadystate_check_interval=ss_interval"),
    noted("stats", "every job is reported"),
    noted("flow_sleep", "a job that has had its part looks again after 50 µs"),
    noted("flow_watermark", "fio itself no longer heeds it"),
    // What writes hold.
    flags("zero_buffers do_verify verify_only"),
    ignored(
        "refill_buffers scramble_buffers verify_fatal verify_async verify_async_cpus verify_write_sequence \
         verify_header_seed",
    ),
    supported("verify_interval=verify_blocksize verify_offset"),
    flags("verify_state_load verify_state_save"),
    supported(
        "buffer_pattern buffer_compress_percentage dedupe_percentage verify verify_pattern verify_backlog \
         verify_backlog_batch",
    ),
    noted("buffer_compress_chunk", "the ratio is reached within each 4 KiB"),
    noted("dedupe_mode dedupe_working_set_percentage", REPEATS),
    noted("dedupe_global", "each worker repeats blocks of its own, in the part that dedupe_percentage says"),
    noted("verify_dump", "the record has the place of each block that was wrong"),
    supported("verify_pattern_interval"),
    noted("verify_policy", "what carries a header is checked"),
    noted("experimental_verify", "what was written is always read back by the same stream, not from a log"),
    noted(
        "trim_percentage trim_backlog trim_backlog_batch trim_verify_zero",
        "of what verify= reads back a part is trimmed, and of nothing else; with verify= it is refused, as fio 3.33 aborts there",
    ),
    // Zones and NVMe.
    supported("zonemode zonesize zonerange zoneskip zonecapacity"),
    supported("max_open_zones job_max_open_zones zone_reset_threshold zone_reset_frequency"),
    flags("read_beyond_wp write_zone_remainder=write_zone_remainders"),
    noted(
        "ignore_zone_limits",
        "a file, and a device that is not zoned, has no limit of its own, and that of a zoned device is kept to",
    ),
    noted(
        "recover_zbd_write_error",
        "after a write that failed a zoned device reports where the write pointer is, and emulated ones move on whatever becomes of it",
    ),
    unsupported("fdp", OFF, "needs an NVMe drive with placement: writes carry no placement hint"),
    unsupported(
        "fdp_pli plids plid_select dp_scheme",
        &[],
        "needs an NVMe drive with placement: writes carry no placement hint",
    ),
    unsupported(
        "dataplacement",
        &["none"],
        "needs an NVMe drive with placement: writes carry no placement hint",
    ),
    unsupported("md_per_io_size", OFF, "needs an NVMe drive: requests carry no protection information"),
    unsupported(
        "pi_act pi_chk apptag apptag_mask",
        &[],
        "needs an NVMe drive: requests carry no protection information",
    ),
    // Replay.
    supported(
        "read_iolog replay_redirect replay_align replay_scale replay_time_scale replay_skip write_iolog",
    ),
    ignored("read_iolog_chunked"),
    flags("replay_no_stall"),
    supported("merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters"),
    // Around the job.
    supported(
        "exec_prerun exec_postrun nice prio prioclass priohint cmdprio_percentage cmdprio_class cmdprio cmdprio_hint \
         cmdprio_bssplit",
    ),
    unsupported("uid", &[], "run fathom as that user"),
    unsupported("gid", &[], "run fathom as that group"),
    unsupported("cgroup cgroup_weight", &[], "start fathom in the group"),
    ignored(
        "cgroup_nodelete comm iomem_align=mem_align hugepage-size clocksource gtod_cpu \
         disable_bw_measurement=disable_bw disk_util job_start_clock_id",
    ),
    flags("gtod_reduce disable_lat disable_clat disable_slat"),
    supported("cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy iomem=mem"),
    supported("lockmem"),
    // Reports.
    flags(
        "slat_percentiles clat_percentiles lat_percentiles write_bw_log write_lat_log write_iops_log log_offset \
         per_job_logs write_hist_log log_prio log_issue_time unified_rw_reporting",
    ),
    ignored(
        "significant_figures bwavgtime iopsavgtime log_entries log_compression \
         log_compression_cpus log_alternate_epoch_clock_id block_error_percentiles error_dump",
    ),
    flags("log_store_compressed"),
    supported(
        "percentile_list kb_base unit_base log_avg_msec log_max_value=log_window_value log_hist_msec log_hist_coarseness",
    ),
    noted("log_unix_epoch log_alternate_epoch", "times in logs are from the start of the job"),
    noted("continue_on_error", "requests that fail are counted, and end the run where there are too many"),
    noted("ignore_error", "every request that fails is counted"),
    unsupported("profile", &[], "`fathom plan list` has ready plans"),
    noted("threads", "it belongs to fio's tiobench profile and does nothing in a job"),
    // Of engines.
    flags("hipri sqthread_poll"),
    supported("hipri_percentage"),
    ignored("fixedbufs registerfiles nonvectored userspace_reap libaio_vectored"),
    noted("sqthread_poll_cpu", "the kernel chooses where its polling thread runs"),
    noted("force_async", "the kernel decides which requests its own workers run"),
    supported("stat_type"),
    unsupported(
        "clustername clientname rbdname pool busy_poll touch_objects conf",
        &[],
        "needs Ceph: it belongs to ioengine=rbd or rados, which is not supported",
    ),
    unsupported(
        "hostname protocol port interface ttl nodelay listen pingpong window_size mss verb bindname \
         serverip direct_write_to_pmem busy_wait_polling",
        &[],
        "needs a network: it belongs to ioengine=net, rdma or librpma, which is not supported",
    ),
    unsupported(
        "nfs_url libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries \
         libblkio_queue_size libblkio_pre_start_props libblkio_vectored libblkio_write_zeroes_on_trim \
         libblkio_wait_mode libblkio_force_enable_completion_eventfd",
        &[],
        "needs a network or a driver in user space: it belongs to ioengine=nfs or libblkio, which is not supported",
    ),
    supported("uri"),
    supported("cpuload cpuchunks cpumode"),
    flags("exit_on_io_done"),
    unsupported("donorname inplace", &[], super::engine::DEFRAG),
    supported("program arguments grace_time std_redirect"),
    unsupported(
        "http_host http_user http_pass https http_mode http_verbose http_s3_key http_s3_keyid \
         http_s3_region http_s3_security_token http_s3_sse_customer_key http_s3_sse_customer_algorithm \
         http_s3_storage_class http_swift_auth_token http_object_mode",
        &[],
        "needs a network: it belongs to ioengine=http, which is not supported",
    ),
    unsupported(
        "namenode hdfsdirectory chunk_size single_instance hdfs_use_direct",
        &[],
        "needs Hadoop: it belongs to ioengine=libhdfs, which is not supported",
    ),
    unsupported("volume brick", &[], "needs Gluster: it belongs to ioengine=gfapi, which is not supported"),
    unsupported(
        "gpu_dev_ids cuda_io",
        &[],
        "needs a GPU: it belongs to ioengine=libcufile, which is not supported",
    ),
    unsupported(
        "cont object_class svcl",
        &[],
        "needs DAOS: it belongs to ioengine=dfs, which is not supported",
    ),
    unsupported(
        "skip_bad",
        &[],
        "needs a bare flash chip: it belongs to ioengine=mtd, which is not supported",
    ),
    supported("sg_write_mode cmd_type write_mode verify_mode"),
    flags("readfua writefua"),
    unsupported("stream_id", OFF, "needs a drive with streams, to which no WRITE STREAM is sent"),
    unsupported("num_range", &["1"], "needs an NVMe drive: a trim is of one range"),
    unsupported(
        "xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_mem xnvme_be xnvme_iovec",
        &[],
        "needs an NVMe driver in user space: it belongs to ioengine=xnvme, which is not supported",
    ),
];

/// How many job options are supported, change nothing, and are refused.
#[cfg(test)]
pub(crate) fn counts() -> [usize; 3] {
    let mut counts = [0; 3];
    for row in TABLE {
        let place = match row.verdict {
            Supported => 0,
            Ignored(_) => 1,
            Unsupported { .. } => 2,
        };
        counts[place] += row.names.split(' ').filter(|name| !name.is_empty()).count();
    }
    counts
}

/// How many of those that are refused are for other hardware, networks or systems.
#[cfg(test)]
pub(crate) fn elsewhere() -> usize {
    let needs = crate::options::guide::NEEDS;
    let is_it = |row: &&Row| matches!(row.verdict, Unsupported { why, .. } if why.starts_with(needs));
    TABLE.iter().filter(is_it).map(|row| row.names.split(' ').count()).sum()
}

/// The table of the guide.
#[cfg(test)]
pub(crate) fn markdown() -> String {
    let row = |row: &Row| {
        let options = row.names.split(' ').map(|option| format!("`{}`", option.replace('=', "` = `")));
        let about = match row.verdict {
            Supported => "supported".into(),
            Ignored(None) => "changes nothing".into(),
            Ignored(Some(note)) => format!("changes nothing: {note}"),
            Unsupported { why, .. } => format!("not supported: {why}"),
        };
        format!("| {} | {about} |\n", options.collect::<Vec<_>>().join(", "))
    };
    format!("| | |\n|---|---|\n{}", TABLE.iter().map(row).collect::<String>())
}

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
    fn every_switch_is_an_option_that_may_stand_alone() {
        for name in SWITCHES.split(' ') {
            let known = find(name).unwrap_or_else(|| panic!("{name}"));
            assert!(known.is_switch && known.bare, "{name}");
        }
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
