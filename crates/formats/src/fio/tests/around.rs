//! What stands around the requests of a job: logs, processors, priorities, commands.

use workload::spec::{Content, Pace, Pattern};

use super::{TIMED, command, only, plan, refusal};
use crate::JobEnvironment;
use crate::fio::{Command, JOB_FILE};

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
    let texts =
        |list: &[crate::fio::Execution]| list.iter().map(|one| one.command.clone()).collect::<Vec<_>>();
    // The last place that is said for its output holds, as in fio.
    let line = line.replace("--exec_prerun=sync", "--exec_prerun=sync>x");
    let apart = command(&line).unwrap().executions();
    assert_eq!(texts(&apart.before), ["sync>x > 'a.prerun.txt' 2>&1"]);
    assert!(texts(&all.before)[0].contains("sync"), "{all:?}");
    assert_eq!(texts(&all.beside), ["exec /bin/sleep 5"]);
    assert!(texts(&all.after)[0].contains("> 'a.postrun.txt' 2>&1"), "{all:?}");
    let later = "--name=a --rw=write --verify=md5 --size=1m --exec_postrun=ls --name=b --stonewall --size=1m \
                 --exec_prerun=sync --exec_postrun=date";
    let later = command(later).unwrap().executions();
    let of = |load: usize| {
        let between = later.between(load);
        between.map(|one| one.command.split_whitespace().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // What was written is read back by a load of its own before the job has ended.
    assert_eq!([of(0), of(1), of(2)], [vec![], vec!["ls".to_owned(), "sync".into()], vec!["date".into()]]);
    assert_eq!(later.first().count(), 0);
    assert!(refusal("[a]\nioengine=exec\nprogram=/bin/true\n").contains("runtime="));
}

#[test]
fn a_directory_gives_its_files_and_a_trigger_waits_for_its_own() {
    let below = |directory: &str| match directory {
        "/d" => Ok(vec!["/d/a".to_owned(), "/d/b/c".to_owned()]),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let environment =
        JobEnvironment { files_below: &below, size_bytes: &|_| Some(1 << 20), ..JobEnvironment::NONE };
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let read = |line: &str| Command::parse(&words(line), &environment);
    let command = read("--name=a --opendir=/d --rw=randread").unwrap();
    assert_eq!(command.translated().targets, ["/d/a", "/d/b/c"]);
    assert!(read("--name=a --opendir=/e --rw=read").unwrap_err().to_string().contains("opendir"));
    let armed = read("--trigger-timeout=2m --trigger=sync --name=a --size=1m").unwrap().wanted.trigger;
    assert_eq!((armed.command.as_deref(), armed.after_ns), (Some("sync"), Some(120_000_000_000)));
    assert!(armed.is_armed() && !read("--name=a --size=1m").unwrap().wanted.trigger.is_armed());
}
