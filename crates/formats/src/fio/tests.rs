//! Whole job files and command lines: what plan they come to, and what is refused.

use workload::plan::{Plan, Point};
use workload::spec::{Content, Extent, Files, Pace, Pattern, Span, Verify, Workload};

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

fn command(line: &str) -> Result<Command, Refusal> {
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
    let text = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nruntime=9\nverify=crc32c\nend_fsync=1\nrate_iops=100\nrandseed=5\n";
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
    assert_eq!(pattern("read:24k"), Pattern::Stride(units::Bytes::new(32 << 10)));
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
    assert_eq!(names, ["all", "all (2)"]);
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
fn what_one_phase_cannot_say_is_refused_by_name_and_line() {
    let text = "[global]\nsize=1m\n[a]\nflow=1\n[b]\nflow=6\nflow_id=2\n";
    let refused = refusal(text);
    assert!(refused.starts_with("x.fio:7: ") && refused.contains("flow_id=2"), "{refused}");
    for (line, word) in [
        ("verify=pattern", "verify_pattern"),
        ("verify=crc32c\nfill_device=1", "fill_device"),
        ("unlink_each_loop=1", "unlink_each_loop"),
        ("ioengine=rbd", "ioengine"),
        ("zonemode=zbd", "zoned devices"),
        ("read_iolog=x", "read_iolog"),
        ("read_iolog=x:y", "a job for each"),
        ("read_iolog=x\nfilename=f\nreplay_skip=look", "replay_skip"),
        ("read_iolog=x\nfilename=f\nramp_time=1", "ramp_time"),
        ("read_iolog=x\nfilename=f\nrate_iops=100", "at its own rate"),
        ("read_iolog=x\nfilename=f\nreplay_no_stall=1\nthinktime=5", "at its own rate"),
        ("latency_target=10ms\nlatency_percentile=99", "fathom search x.fio --slo 'p99<10ms'"),
        ("latency_target=10ms", "'p99.9<10ms'"),
        ("latency_target=10ms\nlatency_percentile=40", "latency_percentile=99.9"),
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
fn a_command_line_is_jobs_and_files() {
    let read =
        command("--name=a --rw=randread --size=1m --bs 8k --direct=1 --name=b --rw=write --size=2m").unwrap();
    assert_eq!(read.jobs.len(), 2);
    assert_eq!(read.jobs[0].sizes[0], [(8192, 1.0)]);
    assert_eq!(read.translated().targets, ["a.0.0", "b.0.0"]);
    let environment = JobEnvironment {
        file: &|path| Ok(format!("[global]\nrw=read\n[{}]\n[x]\nbs=8k\n", path.trim_end_matches(".fio"))),
        ..JobEnvironment::NONE
    };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let read = Command::parse(&words("--size=1m one.fio --bs=16k"), &environment).unwrap();
    assert_eq!((&read.jobs[0].sizes[0], &read.jobs[1].sizes[0]), (&vec![(16_384, 1.0)], &vec![(8192, 1.0)]));
    // What the arguments say holds for the first file alone.
    let environment = JobEnvironment { file: &|_| Ok("[x]\nsize=1m\n".into()), ..JobEnvironment::NONE };
    let read = Command::parse(&words("--bs=16k one.fio two.fio"), &environment).unwrap();
    assert_eq!(read.phases().len(), 2);
    assert_eq!((&read.jobs[0].sizes[0], &read.jobs[1].sizes[0]), (&vec![(16_384, 1.0)], &vec![(4096, 1.0)]));
    let environment = JobEnvironment { file: &|_| Ok("[one]\n[x]\n".into()), ..JobEnvironment::NONE };
    let read = Command::parse(&words("--size=1m --section=x one.fio"), &environment).unwrap();
    assert_eq!(read.jobs.len(), 1);
}

#[test]
fn a_wrong_command_line_is_refused_by_name() {
    for (line, word) in [
        ("", "job file"),
        ("--nme=a", "--name"),
        ("--name=a --rw=wrong --size=1m", "wrong"),
        ("--name=a --rw=write --size=1m --readonly", "--readonly"),
        ("--server", "--server"),
        ("--name=a --output-format=xml --size=1m", "json"),
        ("--name=a --size=1m --ioengine=http", "ioengine=http"),
    ] {
        let refused = command(line).expect_err(line).to_string();
        assert!(refused.contains(word.trim_start_matches("--")), "{line}: {refused}");
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "what is skipped and what is refused is for whoever runs the test")]
fn every_job_file_of_a_collection_is_read_or_refused_with_its_line() {
    let Some(folder) = std::env::var_os("FATHOM_SAMPLES").map(|root| std::path::Path::new(&root).join("fio"))
    else {
        eprintln!("skipped: FATHOM_SAMPLES names no folder with samples");
        return;
    };
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} has no samples of fio", folder.display());
        return;
    };
    for path in entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "fio"))
    {
        let (name, text) = (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        match (JOB_FILE.read)(&name, &text, &JobEnvironment::NONE) {
            Ok(translated) => {
                let plan = Plan::parse(&name, &translated.plan, &Default::default());
                assert!(plan.is_ok(), "{name}: {}\n{:?}", translated.plan, plan.err());
                eprintln!("{name}: read");
            }
            Err(refusal) => {
                assert!(refusal.to_string().starts_with(&format!("{name}:")), "{refusal}");
                eprintln!("{refusal}");
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,200}", lines in proptest::collection::vec(LINE, 0..12)) {
        let _any = (JOB_FILE.read)("x.fio", &text, &JobEnvironment::NONE);
        let text = format!("[a]\n{}", lines.join("\n"));
        if let Ok(translated) = (JOB_FILE.read)("x.fio", &text, &JobEnvironment::NONE) {
            let plan = Plan::parse("x.fio", &translated.plan, &Default::default());
            // What a plan may not ask for is told by the plan; the language itself is spoken without a fault.
            let faults = plan.err().map(|errors| format!("{errors:?}")).unwrap_or_default();
            proptest::prop_assert!(!faults.contains("is not a key"), "{}\n{faults}", translated.plan);
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_command_line_makes_a_reader_panic(
        words in proptest::collection::vec("(-{0,2}[a-z_-]{0,12}(=\\PC{0,12})?|\\PC{0,16})", 0..10),
        said in proptest::collection::vec(WORD, 0..12),
    ) {
        let environment = JobEnvironment { file: &|_| Ok("[global]\nrw=read\n[x]\nsize=1m\n".into()), ..JobEnvironment::NONE };
        let _any = Command::parse(&words, &environment);
        match Command::parse(&said, &environment) {
            Ok(command) if !command.jobs.is_empty() => {
                let plan = Plan::parse("x.fio", &command.translated().plan, &Default::default());
                let faults = plan.err().map(|errors| format!("{errors:?}")).unwrap_or_default();
                proptest::prop_assert!(!faults.contains("is not a key"), "{}\n{faults}", command.translated().plan);
            }
            Ok(command) => proptest::prop_assert!(command.wanted.answer.is_some()),
            Err(refusal) => proptest::prop_assert!(!refusal.to_string().is_empty()),
        }
    }
}

/// An argument that is more often right than not.
const WORD: &str = "(--(name|section|output|description)=[ab]|--(rw|bs|size|runtime|numjobs|iodepth|nrfiles|filesize|loops|zonesize|zoneskip)(=| )(randrw|read|4k|1m|2|8|30|1g)|--(ioengine)=(psync|libaio|filestat|filecreate|null)|--(direct|thread|group_reporting|stonewall|time_based|readonly|minimal|version|parse-only)(=[01])?|--output-format=(json|terse,normal|xml)|x\\.fio|-[a-z]|--)";

const LINE: &str = "(rw|bs|size|rate|rate_iops|bssplit|bsrange|thinktime|numjobs|nrfiles|offset|runtime|iodepth|filesize|random_distribution|percentage_random|io_size|loops|ba|fsync|ioengine)=(randrw|read:8k|4k|1m|50%|4k/50:8k/50|1k-16k|zipf:1.1|zoned:60/10:40/|2|16|1g|psync|libaio|null|,8k|0x10)";

#[test]
fn a_job_with_a_log_asks_it_again() {
    let log = "fio version 2 iolog\n/dev/sdx add\n/dev/sdx open\n/dev/sdx wait 100\n/dev/sdx read 0 4096\n";
    let file = |name: &str| match name {
        "log" => Ok(log.to_owned()),
        "fast" => Ok(log.replace("/dev/sdx wait 100\n", "")),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let environment = JobEnvironment { file: &file, ..JobEnvironment::NONE };
    let read = |text: &str| {
        let translated =
            (JOB_FILE.read)("x.fio", text, &environment).unwrap_or_else(|refusal| panic!("{refusal}"));
        let plan = plan(&translated);
        let workloads: Vec<_> = plan.points().iter().flat_map(|point| point.workloads().to_vec()).collect();
        (translated.targets, workloads)
    };
    let (targets, workloads) = read("[a]\nread_iolog=log\nrw=write\nbs=1m\nsize=9g\ndirect=1\n");
    assert_eq!(targets, ["/dev/sdx"], "the log names its file");
    let [one] = &workloads[..] else { panic!("{workloads:?}") };
    assert_eq!((one.pace, one.stop.run, one.stop.bytes), (Pace::Trace, None, None));
    assert_eq!(one.replay().map(|replay| replay.file.as_str()), Some("log"));
    let (_, workloads) = read("[a]\nread_iolog=fast\nruntime=3\niodepth=8\nioengine=libaio\ndirect=1\n");
    let one = &workloads[0];
    assert_eq!((one.pace, one.depth), (Pace::Closed, 8), "a log that never waits has no pace");
    assert_eq!(one.stop.run, Some(units::Nanos::from_secs(3)));
    for named in ["replay_redirect", "filename"] {
        let (targets, _) = read(&format!("[a]\nread_iolog=log\n{named}=array:md3000?raid=10\n"));
        assert_eq!(targets, ["array:md3000?raid=10"], "an address is one name");
    }
    let (_, workloads) = read(
        "[a]\nread_iolog=log\nstartdelay=2\niodepth=8\niodepth_low=2\nioengine=libaio\n\
                               [b]\nread_iolog=log\nexitall=1\n",
    );
    assert_eq!(workloads[0].stop.start, units::Nanos::from_secs(2));
    assert_eq!((workloads[0].sequence.low_water, workloads[1].stop.exit_all), (Some(2), true));
    let (_, workloads) = read("[a]\nread_iolog=log\nzero_buffers=1\nend_fsync=1\nfsync=8\n");
    let (content, durability) = (&workloads[0].content, workloads[0].durability);
    assert_eq!((content, durability.at_end, durability.every), (&Content::Zeros, true, None));
    let text = "[a]\nread_iolog=log\nreplay_no_stall=1\nreplay_redirect=/dev/sdy\nreplay_scale=4\n\
                replay_align=4k\nreplay_skip=write,sync\nreplay_time_scale=50\nnumjobs=2\ndirect=1\n";
    let (targets, workloads) = read(text);
    assert_eq!((targets, workloads.len()), (vec!["/dev/sdy".to_owned()], 2), "each clone asks all of it");
    let replay = workloads[1].replay().expect("a trace");
    assert_eq!((replay.speed, replay.scale, replay.fold), (0.5, 4, true));
    assert_eq!(replay.skip, [workload::Op::Write, workload::Op::Flush]);
    assert_eq!((workloads[1].pace, workloads[1].align), (Pace::Closed, Some(units::Bytes::KIB * 4)));
}

#[test]
fn a_job_of_cpuio_burns_a_share_of_its_time_and_asks_no_storage() {
    let burns = only("[a]\nioengine=cpuio\ncpuload=20\ncpuchunks=10ms\nruntime=3\n");
    let time = |ms: u64| units::Nanos::from_millis(ms);
    assert_eq!(burns.pace, Pace::Spells { delay: time(40), busy: time(10) });
    assert_eq!(burns.engine.kind, workload::spec::EngineKind::Null);
    assert_eq!(only("[a]\nioengine=cpuio\ncpuload=100\nruntime=3\n").pace, Pace::Closed);
    assert!(refusal("[a]\nioengine=cpuio\nruntime=3\n").contains("cpuload"));
    assert!(refusal("[a]\nioengine=cpuio\ncpuload=50\n").contains("runtime"));
}

#[test]
fn time_based_without_runtime_has_no_effect_as_in_fio() {
    assert_eq!(
        only("[a]\nioengine=cpp_null\nsize=1g\ntime_based\n").stop.bytes,
        Some(units::Bytes::new(1 << 30))
    );
}

#[test]
fn every_file_that_a_command_writes_is_named_before_anything_runs() {
    let line =
        "--output=report --name=x --size=1m --numjobs=2 --write_lat_log=l --write_hist_log=h --write_iolog=i";
    let names = command(line).unwrap().writes();
    for name in ["report", "l_lat.1.log", "l_clat.2.log", "l_slat.1.log", "h_clat_hist.2.log", "i", "i.1"] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
}

#[test]
fn priorities_of_jobs_and_of_parts_of_their_requests_are_keys_of_the_plan() {
    let deep = |more: &str| only(&format!("[a]\nioengine=libaio\ndirect=1\n{more}\n{TIMED}")).engine;
    assert_eq!(deep("prioclass=3").io_priority.unwrap().to_string(), "idle/0");
    assert_eq!(deep("prio=7").io_priority.unwrap().to_string(), "be/7");
    assert_eq!(deep("prio=0").io_priority, None);
    let rules = |more: &str| deep(more).request_priority.to_string();
    assert_eq!(rules("rw=randrw\ncmdprio_percentage=20,0\ncmdprio=3"), "20% of reads rt/3");
    let split = "rw=randread\nbssplit=64k/40:1M/60\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2:1M/0";
    assert_eq!(rules(split), "25% of reads of 64KiB rt/1, 75% of reads of 64KiB idle/2");
    let hints = "rw=randread\nbs=1M\ncmdprio_bssplit=1M/10/2/0/1:1M/90/2/0/0";
    assert_eq!(rules(hints), "10% of reads of 1MiB be/0/1, 90% of reads of 1MiB be/0");
    for (more, word) in [
        ("ioengine=psync\ncmdprio_percentage=20", "libaio"),
        ("ioengine=libaio\ncmdprio_percentage=20\ncmdprio_bssplit=4k/50", "leave one"),
        ("ioengine=psync\natomic=1\ndirect=1\nrw=write", "pvsync2"),
        ("ioengine=libaio\natomic=1\nrw=write", "direct=1"),
        ("prioclass=4", "from 0 to 3"),
    ] {
        assert!(refusal(&format!("[a]\n{more}\n{TIMED}")).contains(word), "{more}");
    }
    let atomic = deep("rw=randwrite\natomic=1\nwrite_hint=long");
    assert!(atomic.flags.atomic && !atomic.flags.nowait && atomic.write_hint.is_some());
}

#[test]
fn a_sequence_and_a_pass_that_ages_a_device_are_patterns_of_the_plan() {
    let pattern = |more: &str| only(&format!("[a]\nioengine=null\nsize=48k\nio_size=24k\n{more}\n")).pattern;
    let sequence = |moves| Pattern::Sequence { blocks: vec![2, 0, 1], moves };
    assert_eq!(pattern("rw=randread\nrandom_distribution=sequence:2,0,1"), sequence(false));
    let strided = "rw=randread\nrandom_distribution=sequence:2,0,1\nrandom_sequence_stride=1";
    assert_eq!(pattern(strided), sequence(true));
    let aged =
        only("[a]\nrw=randwrite\nsize=100m\nsprandom=1\nspr_op=0.2\nspr_num_regions=50\nnorandommap\n");
    assert_eq!(aged.pattern.to_string(), "aged(20%, 50)");
    assert_eq!(aged.stop.bytes, Some(units::Bytes::MIB * 120));
    assert!(refusal("[a]\nrw=randread\nsize=1g\nsprandom=1\n").contains("randwrite"));
}

#[test]
fn what_jobs_have_executed_stands_apart_from_their_plan() {
    let line = "--name=a --size=1m --exec_prerun=sync --exec_postrun=ls --name=b --ioengine=exec --runtime=5 \
                --program=/bin/sleep --arguments=%r --std_redirect=0";
    let all = command(line).unwrap().executions();
    let texts = |list: &[super::Execution]| list.iter().map(|one| one.command.clone()).collect::<Vec<_>>();
    assert!(texts(&all.before)[0].contains("sync"), "{all:?}");
    assert_eq!(texts(&all.beside), ["exec /bin/sleep 5"]);
    assert!(texts(&all.after)[0].contains("> 'a.postrun.txt' 2>&1"), "{all:?}");
    let later = "--name=a --rw=write --verify=md5 --size=1m --exec_postrun=ls --name=b --stonewall --size=1m \
                 --exec_prerun=sync --exec_postrun=date";
    let later = command(later).unwrap().executions();
    let of = |load: usize| {
        let between = later.between(load);
        between.map(|one| one.command.split_whitespace().nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    // What was written is read back by a load of its own before the job has ended.
    assert_eq!([of(0), of(1), of(2)], [vec![], vec!["ls".to_owned(), "sync".into()], vec!["date".into()]]);
    assert_eq!(later.first().count(), 0);
    assert!(refusal("[a]\nioengine=exec\nprogram=/bin/true\n").contains("runtime="));
}
