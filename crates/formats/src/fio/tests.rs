//! Whole job files and command lines: what plan they come to, and what is refused.

mod around;
mod details;
mod lines;

use workload::plan::{Plan, Point};
use workload::spec::{Extent, Files, Pace, Pattern, Span, Verify, Workload, ZoneSize, Zones};

use super::{Command, JOB_FILE};
use crate::{JobEnvironment, Refusal, TranslatedJob};

fn translate(text: &str) -> TranslatedJob {
    (JOB_FILE.read)("x.fio", text, &JobEnvironment::NONE).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn refusal(text: &str) -> String {
    match (JOB_FILE.read)("x.fio", text, &JobEnvironment::NONE) {
        Ok(translated) => panic!("{}", translated.plan),
        Err(refusal) => refusal.to_string(),
    }
}

fn plan(translated: &TranslatedJob) -> Plan {
    Plan::parse("x.fio", &translated.plan, &Default::default())
        .unwrap_or_else(|error| panic!("{}\n{error:?}", translated.plan))
}

/// The workloads of each phase that loads.
fn phases(text: &str) -> Vec<Vec<Workload>> {
    let plan = plan(&translate(text));
    let loads = plan.points().iter().map(Point::workloads).map(<[Workload]>::to_vec);
    loads.filter(|workloads| !workloads.is_empty()).collect()
}

fn only(text: &str) -> Workload {
    let mut phases = phases(text);
    assert_eq!(phases.len(), 1);
    assert_eq!(phases[0].len(), 1);
    phases.remove(0).remove(0)
}

pub(super) fn command(line: &str) -> Result<Command, Refusal> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Command::parse(&words, &JobEnvironment::NONE)
}

const TIMED: &str = "size=64m\nruntime=3\ntime_based\n";

#[test]
fn a_random_read_job_asks_for_what_it_says() {
    let workload =
        only("[a]\nrw=randread\nbs=8k\niodepth=16\nioengine=libaio\ndirect=1\nsize=64m\nruntime=3\n");
    assert_eq!(workload.pattern, Pattern::Random);
    assert_eq!(workload.sizes.smallest().get(), 8192);
    assert_eq!((workload.depth, workload.workers, workload.direct), (16, 1, true));
    assert_eq!(workload.span, Span::Of(Extent::Bytes(units::Bytes::new(64 << 20))));
    assert_eq!(workload.stop.bytes, Some(units::Bytes::new(64 << 20)));
    assert_eq!(workload.stop.run, Some(units::Nanos::from_secs(3)));
}

#[test]
fn what_a_job_writes_with_verify_is_read_back_by_the_same_stream_behind_it() {
    let text = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\nend_fsync=1\nrate_iops=100\nrandseed=5\n";
    let phases = phases(text);
    let ([write], [read]) = (&phases[0][..], &phases[1][..]) else { panic!("{phases:?}") };
    assert_eq!((write.verify, read.verify), (Verify::Written, Verify::Written));
    assert!(write.writes() && !read.changes_data());
    assert_eq!((&write.name, write.seed, &write.pattern), (&read.name, 5, &read.pattern));
    assert_eq!((read.seed, read.pace, read.stop.run), (5, Pace::Closed, None));
    assert_eq!((read.stop.bytes, write.stop.bytes), (write.stop.bytes, Some(units::Bytes::MIB)));
    let count = |text: &str| super::tests::phases(text).len();
    assert_eq!(count("[a]\nrw=write\nsize=1m\nverify=md5\ndo_verify=0\n"), 1);
    assert_eq!(count("[a]\nrw=write\nsize=1m\nverify=0\n"), 1);
    let check = only(&format!("[a]\nrw=read\ndirect=1\nverify=crc32c\n{TIMED}"));
    assert_eq!(check.verify, Verify::All);
    assert_eq!(
        count("[a]\nrw=randwrite\nsize=1m\nbssplit=4k/50:8k/50\nverify=crc32c\n[b]\nrw=read\nsize=1m\n"),
        2
    );
}

#[test]
fn a_synchronous_engine_keeps_one_request_in_flight_and_says_so() {
    let translated = translate(&format!("[a]\nrw=randread\niodepth=64\n{TIMED}"));
    assert_eq!(plan(&translated).points().last().unwrap().workloads()[0].depth, 1);
    assert!(
        translated.notes.iter().any(|note| note.contains("iodepth=64 has no effect")),
        "{:?}",
        translated.notes
    );
}

#[test]
fn jobs_run_together_until_one_waits() {
    let text = format!("[global]\nrw=read\ndirect=1\n{TIMED}[a]\n[b]\n[c]\nstonewall\n[d]\n");
    let names: Vec<Vec<String>> =
        phases(&text).iter().map(|phase| phase.iter().map(|each| each.name.clone()).collect()).collect();
    assert_eq!(names, [["a", "b"], ["c", "d"]]);
    assert_eq!(translate(&text).targets, ["a.0.0", "b.0.0", "c.0.0", "d.0.0"]);
}

#[test]
fn a_global_section_holds_for_the_jobs_below_it() {
    let text = "[global]\nsize=1m\nbs=8k\n[a]\n[global]\nbs=16k\n[b]\nstonewall\nbs=32k\n[c]\nstonewall\n";
    let sizes: Vec<u64> = phases(text).iter().map(|phase| phase[0].sizes.smallest().get()).collect();
    assert_eq!(sizes, [8 << 10, 32 << 10, 16 << 10]);
}

#[test]
fn clones_that_are_reported_together_are_workers() {
    let text = format!("[a]\nrw=randread\nnumjobs=4\ngroup_reporting\nnrfiles=2\n{TIMED}");
    let workload = only(&text);
    assert_eq!((workload.workers, workload.files), (4, Files::PerWorker(2)));
    assert_eq!(translate(&text).targets.len(), 8);
    assert_eq!(workload.span, Span::Of(Extent::Bytes(units::Bytes::new(32 << 20))));
}

#[test]
fn clones_that_stream_through_one_file_each_pass_all_of_it() {
    let text =
        format!("[a]\nrw=read\nnumjobs=3\ngroup_reporting\nfilename=/dev/sdx\noffset_increment=16m\n{TIMED}");
    let phases = phases(&text);
    let offsets: Vec<Extent> = phases[0].iter().map(|workload| workload.offset).collect();
    assert_eq!(offsets, [0, 16 << 20, 32 << 20].map(|at| Extent::Bytes(units::Bytes::new(at))));
    assert!(phases[0].iter().all(|workload| workload.workers == 1));
}

#[test]
fn a_split_of_sizes_for_each_direction_is_a_mix() {
    let text = format!("[a]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:8k/40,64k\n{TIMED}");
    let workload = only(&text);
    assert_eq!(workload.lines.len(), 2);
    assert_eq!(workload.lines[0].weight, 70.0);
    assert_eq!(workload.lines[1].sizes.smallest().get(), 64 << 10);
    let workload = only(&format!("[a]\nrw=randrw\nrwmixwrite=20\nbssplit=512/25:1k/:2k/:4k/\n{TIMED}"));
    assert!((workload.mix.reads.get() - 0.8).abs() < 1e-9);
    assert_eq!(workload.sizes.0.len(), 4);
}

#[test]
fn rates_are_requests_a_second_of_all_clones() {
    let rate = |text: &str| match only(&format!("[a]\n{text}\n{TIMED}")).pace {
        Pace::Cap(rate) => rate.get(),
        Pace::Open(schedule) => schedule.rate.get(),
        pace => panic!("{pace:?}"),
    };
    assert_eq!(rate("rw=randread\nrate_iops=500"), 500.0);
    assert_eq!(rate("rw=randread\nrate_iops=500\nnumjobs=4\ngroup_reporting"), 2000.0);
    assert_eq!(rate("rw=randread\nbs=4k\nrate=4m"), 1024.0);
    assert_eq!(rate("rw=randrw\nrate_iops=300,100\nrate_process=poisson"), 400.0);
    let workload = only(&format!("[a]\nrw=randrw\nrate_iops=300,100\n{TIMED}"));
    assert!((workload.mix.reads.get() - 0.75).abs() < 1e-9);
}

#[test]
fn think_time_follows_each_burst() {
    let pace = |text: &str| only(&format!("[a]\nrw=randread\n{text}\n{TIMED}")).pace;
    assert_eq!(pace("thinktime=5ms"), Pace::Think(units::Nanos::from_millis(5)));
    let burst = Pace::Bursts { delay: units::Nanos::from_millis(5), requests: 8 };
    assert_eq!(pace("thinktime=5000\nthinktime_blocks=8"), burst);
}

#[test]
fn streams_may_skip_and_go_back() {
    let pattern = |rw: &str| only(&format!("[a]\nbs=8k\nrw={rw}\n{TIMED}")).pattern;
    let (step, run) = (units::Bytes::new(32 << 10), units::Bytes::new(8 << 10));
    assert_eq!(pattern("read:24k"), Pattern::StrideOf { step, run });
    assert_eq!(pattern("read:-16k"), Pattern::Reverse);
    assert_eq!(pattern("read:-64k"), Pattern::ReverseStride(units::Bytes::new(56 << 10)));
    assert!(refusal(&format!("[a]\nbs=8k\nrw=read:-4k\n{TIMED}")).starts_with("x.fio:3: `rw=read:-4k`"));
    let rows = only(&format!("[a]\nrw=randread:8\n{TIMED}"));
    assert_eq!((rows.pattern, rows.sequence.consecutive), (Pattern::Random, 8));
    assert_eq!(pattern("randread:1"), Pattern::Random);
    assert_eq!(pattern("randread\nrw_sequencer=identical"), Pattern::Random);
    let again = only(&format!("[a]\nrw=randread:8\nrw_sequencer=identical\n{TIMED}"));
    assert_eq!((again.sequence.consecutive, again.sequence.repeat_offset), (8, true));
    assert!(refusal(&format!("[a]\nrw=randread:8\nrw_sequencer=odd\n{TIMED}")).contains("x.fio:"));
}

#[test]
fn zones_are_strides() {
    let pattern = |zones: &str| only(&format!("[a]\nbs=8k\nrw=read\n{zones}\n{TIMED}")).pattern;
    let stride = |bytes: u64| Pattern::Stride(units::Bytes::new(bytes));
    assert_eq!(pattern("zonemode=strided\nzonesize=8k\nzoneskip=24k"), stride(32 << 10));
    assert_eq!(pattern("zonesize=8k\nzonerange=16k\nzoneskip=16k"), stride(32 << 10));
    assert_eq!(pattern("zonemode=strided\nzonesize=64k"), Pattern::Sequential);
    assert_eq!(pattern("zonemode=none\nzonesize=64k\nzoneskip=1m"), Pattern::Sequential);
    let (step, run) = (units::Bytes::new(1088 << 10), units::Bytes::new(64 << 10));
    assert_eq!(pattern("zonemode=strided\nzonesize=64k\nzoneskip=1m"), Pattern::StrideOf { step, run });
    for zones in [
        "zonemode=strided\nzonesize=60k\nzoneskip=1m",
        "zonemode=strided",
        "zonemode=zbd\nzonesize=256m",
        "rw=randread\nzonesize=8k\nzoneskip=24k",
    ] {
        let refused = refusal(&format!("[a]\nbs=8k\nrw=read\n{zones}\n{TIMED}"));
        assert!(refused.starts_with("x.fio:") && refused.contains("zone"), "{refused}");
    }
}

#[test]
fn engines_that_move_no_data_are_trees() {
    let text = "[global]\nioengine=filestat\nfilesize=4k\nnrfiles=200\ndirectory=/mnt/x\n[t0]\nnumjobs=3\n\
                group_reporting\n[t1]\nfile_service_type=random\nruntime=5\ntime_based\n";
    let text = text.replace("[t1]", "[t1]\nstonewall");
    let phases = phases(&text);
    let trees: Vec<_> = phases.iter().map(|phase| phase[0].tree.as_ref().expect("a tree")).collect();
    assert_eq!((trees[0].count, phases[0][0].workers, phases[0][0].stop.ops), (600, 3, Some(600)));
    assert_eq!((trees[1].count, phases[1][0].stop.ops), (200, None));
    assert_eq!(phases[1][0].stop.run, Some(units::Nanos::from_secs(5)));
    assert_eq!(translate(&text).targets, ["/mnt/x"]);
    let ops = |engine: &str| {
        let text = format!("[a]\nioengine={engine}\nfilesize=4k\nnrfiles=20\nunlink=0\nopenfiles=1\n");
        only(&text).tree.expect("a tree").op.to_string()
    };
    assert_eq!(
        ["filecreate", "filestat", "filedelete", "dircreate", "dirdelete"].map(ops),
        ["create", "stat", "delete", "mkdir", "rmdir"]
    );
    for (line, word) in [
        ("ioengine=filedelete\nloops=2", "loops"),
        ("ioengine=filestat\nstat_type=statx", "stat_type"),
        ("stat_type=stat\nsize=1m", "filestat"),
        ("ioengine=filestat\n[b]\nsize=1m\nioengine=psync", "beside them"),
        ("ioengine=filestat\ncpus_allowed=0", "processor"),
    ] {
        let refused = refusal(&format!("[a]\n{line}\n"));
        assert!(refused.starts_with("x.fio:") && refused.contains(word), "{refused}");
    }
}

#[test]
fn a_file_of_a_range_of_sizes_has_the_same_one_in_every_run() {
    let size = |more: &str| {
        let workload = only(&format!("[a]\nrw=randread\nbs=8k\nfilesize=1m-64m\n{more}\n"));
        let Span::Of(Extent::Bytes(span)) = workload.span else { panic!("{workload:?}") };
        assert_eq!(workload.stop.bytes, Some(span), "all of it is read");
        span.get()
    };
    let sizes: Vec<u64> = (0..20).map(|seed| size(&format!("randseed={seed}"))).collect();
    assert!(sizes.iter().all(|size| (1 << 20..=64 << 20).contains(size) && size % 8192 == 0), "{sizes:?}");
    let mut apart = sizes.clone();
    apart.sort_unstable();
    apart.dedup();
    assert!(apart.len() > 15, "{sizes:?}");
    assert_eq!(size("randseed=3"), sizes[3]);
}

#[test]
fn a_name_for_reports_does_not_name_the_files() {
    let text = format!("[global]\nname=all\nrw=read\n{TIMED}[a]\n[b]\n");
    let translated = translate(&text);
    assert_eq!(translated.targets, ["a.0.0", "b.0.0"]);
    let names: Vec<String> = phases(&text)[0].iter().map(|workload| workload.name.clone()).collect();
    // One of all jobs is none of a job's, and one of its own is.
    assert_eq!(names, ["a", "b"]);
    let names = |text: &str| phases(text)[0].iter().map(|each| each.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&format!("[global]\nname=all\nrw=read\n{TIMED}[a]\nname=mine\n[b]\n")), ["mine", "b"]);
}

#[test]
fn a_job_needs_no_name() {
    let phases = phases("[global]\nrw=randread\nsize=64k\n[]\n[ ]\n[ ]\nnumjobs=2\n");
    let names: Vec<&str> = phases.iter().flatten().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["(no name)", "(no name) (2)", "(no name).0", "(no name).1"]);
}

#[test]
fn jobs_of_one_name_are_told_apart_however_many_there_are() {
    let phases = self::phases("[global]\nrw=randread\nsize=64k\n[a]\n[a (2)]\n[a]\n[a]\n");
    let names: Vec<&str> = phases.iter().flatten().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["a", "a (2)", "a (3)", "a (4)"]);
}

#[test]
fn a_stream_that_reads_and_writes_tells_how_it_differs() {
    let notes = |rw: &str| translate(&format!("[a]\nrw={rw}\n{TIMED}")).notes.join("\n");
    assert!(notes("rw").contains("fio keeps one for each"));
    assert!(!notes("randrw").contains("fio keeps one for each"));
}

#[test]
fn spellings_of_real_job_files_are_read() {
    let each = [
        "rwmixcycle=40",
        "io_submit_mode=offload",
        "numa_cpu_nodes=0\nnuma_mem_policy=bind:0",
        "buffer_pattern=0xdeadbeef\nbuffer_compress_percentage=60",
        "num_range=1",
        "ratemin=0",
    ];
    for line in each {
        let _served = only(&format!("[a]\nrw=write\n{line}\n{TIMED}"));
    }
    for (line, word) in [
        ("clustername=ceph", "rbd or rados"),
        ("hostname=x", "rdma"),
        ("offset_increment=10%", "--on"),
        ("ss=cpu:10%\nss_dur=10", "iops, bw or lat"),
        ("startdelay=9-5", "less to more"),
        ("flow=x", "flow"),
        ("buffer_pattern=%o", "buffer_pattern"),
        ("numa_mem_policy=far", "interleave:NODES"),
        ("numa_cpu_nodes=x", "0-1"),
    ] {
        let refused = refusal(&format!("[a]\nrw=write\n{line}\n{TIMED}"));
        assert!(refused.starts_with("x.fio:") && refused.contains(word), "{refused}");
    }
    let environment = JobEnvironment { size_bytes: &|_| Some(100 << 20), ..JobEnvironment::NONE };
    let text = format!("[a]\nfilename=/dev/sdx\nnumjobs=2\noffset_increment=10%\ndirect=1\n{TIMED}");
    let translated =
        (JOB_FILE.read)("x.fio", &text, &environment).unwrap_or_else(|refusal| panic!("{refusal}"));
    let offset = plan(&translated).points()[0].workloads()[1].offset;
    assert_eq!(offset, Extent::Bytes(units::Bytes::new(10 << 20)));
}

#[test]
fn distributions_are_patterns() {
    let pattern =
        |text: &str| only(&format!("[a]\nrw=randread\nrandom_distribution={text}\n{TIMED}")).pattern;
    assert_eq!(pattern("zipf:1.2"), Pattern::Zipf(1.2));
    let part = |extent: Extent| match extent {
        Extent::Part(share) => (share.get() * 100.0).round(),
        Extent::Bytes(bytes) => panic!("{bytes}"),
    };
    assert!(matches!(pattern("normal:15"), Pattern::NormalScattered(_)));
    let Pattern::Zones(zones) = pattern("zoned:50/5:30/15:20/") else { panic!("zones") };
    let spans: Vec<f64> = zones.iter().map(|zone| part(zone.span)).collect();
    assert_eq!(spans, [5.0, 15.0, 80.0]);
    let Pattern::Zones(zones) = pattern("zoned_abs:60/16m:40/48m") else { panic!("zones") };
    assert_eq!(zones[0].span, Extent::Bytes(units::Bytes::new(16 << 20)));
    assert_eq!(pattern("pareto:0.2"), Pattern::Pareto(0.2));
}

#[test]
fn a_buffered_job_begins_with_an_empty_page_cache() {
    let plan = plan(&translate(&format!("[a]\nrw=read\n{TIMED}")));
    assert_eq!(plan.points().len(), 2);
    assert!(!plan.estimate().changes_data);
    let plan_of = |text: &str| self::plan(&translate(text)).points().len();
    assert_eq!(plan_of(&format!("[a]\nrw=read\ninvalidate=0\n{TIMED}")), 1);
    assert_eq!(plan_of(&format!("[a]\nrw=read\ndirect=1\n{TIMED}")), 1);
}

#[test]
fn zones_are_those_of_the_device_where_no_size_is_said() {
    let zones =
        |more: &str| only(&format!("[a]\nfilename=/dev/sdx\nsize=64m\nbs=64k\nzonemode=zbd\n{more}")).zones;
    let own = Zones { size: Some(ZoneSize::OfDevice), ..Zones::NONE };
    assert_eq!(zones("rw=write"), own);
    assert_eq!(zones("rw=write\nzonecapacity=3m"), own, "fio does not heed it there either");
    assert_eq!(zones("rw=write\njob_max_open_zones=2"), Zones { open_of_worker: Some(2), ..own });
    // Whether there is anything to read, the device knows.
    let four = ZoneSize::Of(units::Bytes::MIB * 4);
    assert_eq!(zones("rw=read\nzonesize=4m").size, Some(four));
    let refused = refusal("[a]\nfilename=x\nsize=64m\nbs=64k\nzonemode=zbd\nrw=read\nzonesize=4m\n");
    assert!(refused.contains("read_beyond_wp=1"), "{refused}");
}

#[test]
fn what_one_phase_cannot_say_is_refused_by_name_and_line() {
    let text = "[global]\nsize=1m\n[a]\nflow=1\n[b]\nflow=6\nflow_id=2\n";
    let refused = refusal(text);
    assert!(refused.starts_with("x.fio:7: ") && refused.contains("flow_id=2"), "{refused}");
    for (line, word) in [
        ("verify=pattern", "verify_pattern"),
        ("unlink_each_loop=1", "loops="),
        ("lockfile=exclusive\nnumjobs=2\nfilename=f", "do not wait"),
        ("lockfile=maybe", "readwrite"),
        ("verify=pattern\nverify_pattern=0xabcdef\nverify_pattern_interval=512", "multiple of the 3 bytes"),
        ("rw=randrw\nbs=4k,8k\nbs_is_seq_rand\npercentage_random=50", "two sizes"),
        ("ioengine=rbd", "ioengine"),
        ("zonemode=zbd\nzonesize=1000", "zonesize"),
        ("read_iolog=x", "read_iolog"),
        ("read_iolog=x:y", "a job for each"),
        ("read_iolog=x\nfilename=f\nreplay_skip=look", "replay_skip"),
        ("read_iolog=x\nfilename=f\nramp_time=1", "ramp_time"),
        ("read_iolog=x\nfilename=f\nramp_size=1m", "ramp_size"),
        ("ioengine=filestat\nramp_size=1m\nnrfiles=2\nfilesize=4k", "first file"),
        ("read_iolog=x\nfilename=f\nrate_iops=100", "at its own rate"),
        ("read_iolog=x\nfilename=f\nreplay_no_stall=1\nthinktime=5", "at its own rate"),
        ("latency_target=10ms\nlatency_percentile=99", "fathom search x.fio --slo 'p99<10ms'"),
        ("latency_target=10ms", "'p99.9<10ms'"),
        ("latency_target=10ms\nlatency_percentile=40", "'p40<10ms'"),
        ("latency_target=10ms\nlatency_percentile=0", "above 0"),
        ("bs=0", "bs"),
        ("bssplit=4k/50:4p/50", "below 2 GiB"),
        ("rw=sideways", "rw"),
        ("rw=randrw\nbs=4k,5k", "multiples of 4KiB and of writes at multiples of 5KiB"),
        ("nrfiles=99999999", "65535"),
    ] {
        let refused = refusal(&format!("[a]\nrw=write\n{line}\n{TIMED}"));
        assert!(refused.starts_with("x.fio:") && refused.contains(word), "{refused}");
    }
}

#[test]
fn jobs_that_run_together_have_times_of_their_own() {
    let text = "[global]\nsize=1g\ntime_based\n[a]\nruntime=5\nramp_time=1\n[b]\nruntime=6\nstartdelay=2\n";
    let phases = phases(text);
    let times = |index: usize| {
        let stop = phases[0][index].stop;
        (stop.start.as_secs_f64(), stop.warmup.as_secs_f64(), stop.run.unwrap().as_secs_f64())
    };
    assert_eq!((times(0), times(1)), ((0.0, 1.0, 5.0), (2.0, 0.0, 6.0)));
    // A range is drawn from by each clone, the same in each run.
    let text =
        "[a]\nsize=1g\nruntime=5\ntime_based\nnumjobs=8\nrw=randread\ngroup_reporting\nstartdelay=1-3\n";
    let starts = || phases_of_starts(text);
    assert!(starts().iter().all(|start| (1.0..=3.0).contains(start)), "{:?}", starts());
    assert_eq!(starts(), starts());
    assert!(starts().windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn a_ramp_by_bytes_is_of_each_clone_or_of_all_that_are_reported_together() {
    let ramps = |text: &str| {
        let text = format!("[global]\nrw=randread\nsize=1g\nruntime=5\ntime_based\nramp_size=12m\n{text}");
        let phases = phases(&text);
        phases[0].iter().map(|of| of.stop.warmup_bytes.unwrap().get() >> 20).collect::<Vec<_>>()
    };
    assert_eq!(ramps("[a]\nnumjobs=2\n[b]\n"), [12, 12, 12]);
    assert_eq!(ramps("[a]\nnumjobs=4\ngroup_reporting\n"), [12]);
    assert_eq!(ramps("[global]\ngroup_reporting\n[a]\nnumjobs=2\n[b]\n"), [8, 4]);
    assert_eq!(ramps("[global]\ngroup_reporting\n[a]\nnumjobs=2\n[b]\nnew_group\n"), [12, 12]);
    // A job whose reads alone have a rate is two workloads, and one entry.
    assert_eq!(ramps("[a]\nrw=randrw\nrate_iops=100,0\n"), [6, 6]);
}

fn phases_of_starts(text: &str) -> Vec<f64> {
    phases(text)[0].iter().map(|workload| workload.stop.start.as_secs_f64()).collect()
}

#[test]
fn a_flow_is_a_part_for_each_job_and_exitall_ends_all() {
    let phases =
        phases("[global]\nsize=1g\nexitall\n[a]\nflow=1\nflow_sleep=1000\n[b]\nflow=8\nrw=randread\n");
    let of = |index: usize| (phases[0][index].sequence.flow, phases[0][index].stop.exit_all);
    assert_eq!((of(0), of(1)), ((Some(1), true), (Some(8), true)));
}

#[test]
fn steadystate_ends_a_job_by_its_rolling_window() {
    let steady = |text: &str| only(&format!("[a]\nrw=randread\n{text}\n{TIMED}")).stop.steady;
    let said = |text: &str| steady(text).map(|steady| steady.to_string());
    assert_eq!(said("ss=iops:10%\nss_dur=30s\nss_ramp=10s").as_deref(), Some("iops(10%, 30s, 10s)"));
    assert_eq!(said("ss=bw_slope:0.3%\nss_dur=1m").as_deref(), Some("throughput_slope(0.3%, 60s)"));
    assert_eq!(said("steadystate=iops:800\nss_dur=5").as_deref(), Some("iops(800, 5s)"));
    assert_eq!(said("ss=iops:10%"), None, "without a duration fio looks at nothing");
}

#[test]
fn what_is_written_with_a_backlog_or_for_a_time_reads_itself_back() {
    let asked = |text: &str| only(&format!("[a]\nrw=write\n{text}\n"));
    let backlog = asked("size=1m\nverify=md5\nverify_backlog=8");
    assert_eq!((backlog.sequence.read_back, backlog.verify), (Some(8), Verify::Written));
    let timed = asked(&format!("verify=sha512\n{TIMED}"));
    assert_eq!(timed.sequence.read_back, Some(u32::MAX));
    let unread = asked(&format!("verify=sha512\ndo_verify=0\n{TIMED}"));
    assert_eq!(unread.sequence.read_back, None);
    // What an earlier run wrote is only read.
    let only_read = asked("size=1m\nverify=crc32c\nverify_only=1\ndirect=1");
    assert_eq!((only_read.writes(), only_read.verify), (false, Verify::All));
    // A state says how far the writer came: what it has not reached is not wrong.
    let stopped = asked("size=1m\nverify=crc32c\nverify_only=1\nverify_state_load=1\ndirect=1");
    assert_eq!((stopped.writes(), stopped.verify), (false, Verify::Written));
}

#[test]
fn patterns_are_content_and_what_is_read_may_be_held_against_them() {
    let asked = |text: &str| phases(&format!("[a]\nsize=1m\ndirect=1\n{text}\n"));
    let bytes = workload::spec::Content::Pattern(vec![0xde, 0xad, 0xfa, 0xce]);
    assert_eq!(asked("rw=write\nbuffer_pattern=0xdeadface")[0][0].content, bytes);
    let both = asked("rw=write\nverify=pattern\nverify_pattern=0xdeadface");
    assert_eq!((&both[0][0].content, &both[1][0].content), (&bytes, &bytes));
    assert_eq!((both[0][0].verify, both[1][0].verify), (Verify::Content, Verify::Content));
    let stamped = asked("rw=write\nverify=meta\nverify_pattern=0xdeadface");
    assert_eq!((&stamped[0][0].content, stamped[0][0].verify), (&bytes, Verify::Written));
}

#[test]
fn a_low_water_mark_lets_slots_wait() {
    let low =
        |text: &str| only(&format!("[a]\nioengine=libaio\niodepth=32\n{text}\n{TIMED}")).sequence.low_water;
    assert_eq!(low("iodepth_low=8"), Some(8));
    assert_eq!((low("iodepth_low=32"), low("iodepth_batch_complete=16"), low("bs=4k")), (None, None, None));
}

#[test]
fn requests_are_handed_over_and_taken_in_the_batches_that_fio_means() {
    let batches = |text: &str| {
        let engine = only(&format!("[a]\nioengine=libaio\niodepth=32\n{text}\n{TIMED}")).engine;
        (engine.submit_batch, engine.complete_batch)
    };
    assert_eq!(batches("bs=4k"), (1, 1), "fio's own defaults");
    assert_eq!(batches("iodepth_batch=8\niodepth_batch_complete_min=16"), (8, 16));
    assert_eq!(
        batches("iodepth_batch_submit=64\niodepth_batch_complete=64"),
        (32, 32),
        "no more than the depth"
    );
    assert_eq!(
        batches("iodepth_batch=0\niodepth_batch_complete_min=0"),
        (32, 1),
        "0 submits all that the depth allows"
    );
    assert_eq!(batches("ioengine=psync\niodepth_batch=8"), (1, 1), "one request in flight");
}

#[test]
fn a_new_file_needs_a_size_and_a_device_is_passed_once() {
    assert!(refusal("[a]\nrw=read\n").contains("add size="));
    // How large a device is may be seen when it is asked.
    let whole = only("[a]\nfilename=/dev/sdx\ndirect=1\nloops=2\n");
    assert_eq!((whole.span, whole.stop.loops), (Span::Auto, Some(2)));
    assert_eq!(only("[a]\nfilename=/dev/sdx\nruntime=2\ndirect=1\n").span, Span::Auto);
}

#[test]
fn targets_that_are_named_outside_take_the_place_of_the_files() {
    let targets = ["array:md3000".to_owned()];
    let environment = JobEnvironment { targets: &targets, ..JobEnvironment::NONE };
    let text = "[global]\nrw=randread\ndirect=1\nsize=1g\nruntime=1\ntime_based\n[a]\n[b]\n";
    let translated =
        (JOB_FILE.read)("x.fio", text, &environment).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(translated.targets, targets);
    let read = plan(&translated);
    let offsets: Vec<Extent> = read.points()[0].workloads().iter().map(|workload| workload.offset).collect();
    // What would be files of their own lies apart.
    assert_eq!(offsets, [0, 1 << 30].map(|at| Extent::Bytes(units::Bytes::new(at))));
    let text = "[a]\nrw=read\ndirect=1\nsize=1g\nruntime=1\ntime_based\nnumjobs=4\ngroup_reporting\n";
    let translated =
        (JOB_FILE.read)("x.fio", text, &environment).unwrap_or_else(|refusal| panic!("{refusal}"));
    let read = plan(&translated);
    let workload = &read.points()[0].workloads()[0];
    assert_eq!((workload.workers, workload.worker_offset), (4, Some(units::Bytes::new(1 << 30))));
}

#[test]
fn a_part_of_a_file_that_is_not_there_yet_is_that_of_nothing_as_in_fio() {
    for text in ["size=16m\noffset=25%", "size=50%\nfilesize=16m\noffset=25%"] {
        let workload = only(&format!("[a]\nrw=read\nfilename=new\n{text}\n"));
        assert_eq!(workload.offset, Extent::Bytes(units::Bytes::ZERO), "{text}");
        let bytes = if text.starts_with("size=16m") { 16 << 20 } else { 8 << 20 };
        assert_eq!(workload.stop.bytes, Some(units::Bytes::new(bytes)), "{text}");
    }
}

#[test]
fn a_rate_of_several_sizes_counts_the_smallest() {
    let text = format!("[a]\nrw=randread\nbssplit=4k/50:64k/50\nrate_iops=200\n{TIMED}");
    // 200 of 4 KiB are as many bytes as so many of 34 KiB on average.
    let pace = only(&text).pace.to_string();
    assert!(pace.starts_with("cap(23.5"), "{pace}");
    let notes = translate(&text).notes.join("\n");
    assert!(notes.contains("rate_iops=200 counts requests of the smallest size"), "{notes}");
}

#[test]
fn a_stream_that_skips_begins_again_unless_its_pass_ends_with_the_file() {
    let moved = |text: &str| only(&format!("[a]\nbs=4k\nsize=1m\n{text}")).stop.bytes.unwrap().get();
    // As fio 3.33 does, which passes 64 blocks four times, and 86 once.
    assert_eq!(moved("rw=read:12k\n"), 1 << 20);
    assert_eq!(moved("rw=read:-64k\n"), 1 << 20);
    assert_eq!(moved("rw=write:8k\n"), 86 * 4096);
    assert_eq!(moved("rw=write:8k\nio_size=2m\n"), 2 << 20);
}

#[test]
fn a_file_that_is_to_be_filled_has_the_size_that_is_said_or_is_refused() {
    let filled = only("[a]\nrw=write\nfill_device=1\nsize=1m\n");
    assert_eq!(filled.stop.bytes, Some(units::Bytes::MIB));
    assert!(refusal("[a]\nrw=write\nfill_device=1\n").contains("size="));
}

#[test]
fn a_plan_is_called_as_its_job_file_or_its_first_job() {
    let of_file = |name: &str| {
        let translated = (JOB_FILE.read)(name, "[db]\nrw=read\nsize=1m\n", &JobEnvironment::NONE).unwrap();
        plan(&translated).name
    };
    assert_eq!((of_file("jobs/small.fio"), of_file("x.job.ini")), ("small".into(), "x.job".into()));
    let of_line = command("--name=db --rw=read --size=1m").unwrap();
    assert_eq!(plan(of_line.translated()).name, "db");
}

#[test]
fn on_a_virtual_array_nothing_is_said_of_the_engine() {
    let on = ["array:md3000".to_owned()];
    let size = |_: &str| Some(1 << 40);
    let environment = JobEnvironment { targets: &on, size_bytes: &size, ..JobEnvironment::NONE };
    let text = "[a]\nrw=randread\nioengine=libaio\niodepth=8\nsize=1m\n";
    let notes = (JOB_FILE.read)("x.fio", text, &environment).unwrap().notes.join("\n");
    assert!(!notes.contains("runs on io_uring"), "{notes}");
    assert!(translate(text).notes.join("\n").contains("runs on io_uring"));
}
