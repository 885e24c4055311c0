//! Details of fio's options, each seen in the real one: what ends a job, what its logs hold, what it makes, what it prints.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::support::User;

/// Requests of one direction of the job number `index`.
fn requests(report: &Value, index: usize, direction: &str) -> u64 {
    report["jobs"][index][direction]["total_ios"].as_u64().unwrap()
}

#[test]
fn a_job_with_a_ramp_ends_with_its_size_which_counts_the_ramp() {
    let user = User::new();
    let line = "as fio --name=x --size=4m --rw=write --bs=4k --rate_iops=1000 --runtime=8 --ramp_time=500ms";
    let report = user.fathom(&format!("{line} --output-format=json")).done().json();
    let writes = requests(&report, 0, "write");
    assert!((400..=540).contains(&writes), "{writes} of 1024, of which the ramp takes some 500");
}

#[test]
fn a_job_that_ends_within_its_ramp_is_counted_whole_and_has_no_latencies() {
    let user = User::new();
    let counted = |job: &Value, direction: &str| {
        let of = &job[direction];
        assert!(of["runtime"].as_u64().unwrap() < 30_000, "{of}");
        assert_eq!(of["lat_ns"]["N"], 0, "{of}");
        assert_eq!(of["bw_samples"], 0, "{of}");
        (of["total_ios"].as_u64().unwrap(), of["io_bytes"].as_u64().unwrap())
    };
    let line = "as fio --ramp_time=100 --bs=4k --output-format=json --name=x --size=1m";
    let report = user.fathom(&format!("{line} --rw=write --write_lat_log=L --write_bw_log=L")).done().json();
    assert_eq!(counted(&report["jobs"][0], "write"), (256, 1 << 20));
    assert_eq!(report["jobs"][0]["iodepth_level"]["1"], 100.0);
    for name in ["L_clat.1.log", "L_bw.1.log"] {
        assert_eq!(std::fs::read_to_string(user.path(name)).unwrap(), "", "{name}");
    }
    let said = report["fathom"]["findings"].to_string();
    assert!(said.contains("within its warm-up of 100 s"), "{said}");
    // Of an array as of a file; jobs of a group beside it are measured, and its requests are added to theirs.
    let array = "--filename=array:md3000 --rw=randread";
    let report = user.fathom(&format!("{line} {array} --iodepth=4 --ioengine=libaio")).done().json();
    assert_eq!(counted(&report["jobs"][0], "read"), (256, 1 << 20));
    assert!(report["jobs"][0]["read"]["runtime"].as_u64().unwrap() > 5, "a disk takes its time");
    let line = format!("as fio --ramp_time=100ms --bs=4k {array} --group_reporting --output-format=json");
    let report = |jobs: &str| user.fathom(&format!("{line} {jobs}")).done().json();
    let alone = report("--name=y --size=1g --number_ios=200");
    let beside = report("--name=x --size=64k --name=y --size=1g --number_ios=200");
    assert_eq!([requests(&alone, 0, "read"), requests(&beside, 0, "read")], [200, 216]);
    // A plan's figures never hold a warm-up.
    user.write("plan.toml", "[[phase]]\nreads = '100%'\nops = 50\nwarmup = '100s'\n");
    user.fathom("run plan.toml --on array:md3000").with(4).saying(&["within its warm-up of 100 s"]);
}

#[test]
fn number_ios_counts_from_the_end_of_a_ramp_or_ends_the_job_within_it() {
    let user = User::new();
    let report = |more: &str| {
        let line = "as fio --name=x --rw=randread --bs=4k --size=16m --output-format=json";
        let report = user.fathom(&format!("{line} {more}")).done().json();
        let of = &report["jobs"][0]["read"];
        let last = user.last()["points"].as_array().unwrap().last().unwrap().clone();
        let completed = last["workloads"][0]["completed"].as_u64().unwrap();
        (of["total_ios"].as_u64().unwrap(), of["lat_ns"]["N"].as_u64().unwrap(), completed)
    };
    let (reported, timed, completed) = report("--filename=array:md3000 --number_ios=300 --ramp_time=100ms");
    assert_eq!((reported, timed), (300, 300));
    assert!(completed > 340, "{completed}, of which a disk answers some in the ramp");
    let (reported, timed, completed) =
        report("--filename=array:md3000 --number_ios=300 --ramp_size=200k --iodepth=8 --ioengine=libaio");
    assert_eq!((reported, timed, completed), (300, 300, 350));
    assert_eq!(report("--filename=array:md3000 --number_ios=30 --ramp_time=100"), (30, 0, 30));
    let (reported, _, completed) = report("--number_ios=500 --ramp_time=200ms --thinktime=1ms");
    assert!(reported == 500 && completed >= 500, "{reported} of {completed}");
}

#[test]
fn a_stream_through_several_files_of_one_name_asks_each_block_as_often() {
    let user = User::new();
    for (names, times) in [("--filename_format=one --nrfiles=3", 3), ("--filename=one:one", 2)] {
        let line = format!("as fio --name=s {names} --size=96k --bs=4k --rw=write --write_iolog=log");
        user.fathom(&line).done();
        let log = std::fs::read_to_string(user.path("log")).unwrap();
        let offsets = log.lines().filter(|line| line.contains(" write ")).map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            words[words.len() - 2].parse::<u64>().unwrap()
        });
        let expected: Vec<u64> = (0..24).map(|number| number / times * 4096).collect();
        assert_eq!(offsets.collect::<Vec<_>>(), expected, "{names}");
        std::fs::remove_file(user.path("one")).unwrap();
    }
}

#[test]
fn logs_begin_behind_the_ramp() {
    let user = User::new();
    let job = "--size=1m --rw=read --bs=64k --rate_iops=100 --time_based --runtime=1";
    let jobs = format!(
        "--name=L {job} --ramp_time=1 --write_bw_log=L --log_avg_msec=250 \
         --name=M {job} --ramp_time=1 --write_lat_log=M --name=O {job} --ramp_size=2m --write_lat_log=O --stonewall"
    );
    let report = user.fathom(&format!("as fio {jobs} --output-format=json")).done().json();
    let lines = |name: &str| -> Vec<u64> {
        let log = std::fs::read_to_string(user.path(name)).unwrap();
        log.lines().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
    };
    // Times with the ramp would end at 2000 ms; a stall of a busy machine takes a window or two.
    let windows = lines("L_bw.1.log");
    assert!(windows[0] <= 500 && *windows.last().unwrap() <= 1500, "{windows:?}");
    for (log, index) in [("M_clat.2.log", 1), ("O_clat.3.log", 2)] {
        let (times, reported) = (lines(log), requests(&report, index, "read"));
        assert!(times[0] <= 500 && *times.last().unwrap() <= 1500, "{log}: {times:?}");
        assert!(reported.abs_diff(times.len() as u64) <= 10, "{log}: {} of {reported}", times.len());
    }
}

#[test]
fn a_job_that_only_others_say_ends_all_ends_all() {
    let user = User::new();
    let line = "as fio --name=a --size=1m --rw=write --bs=64k \
                --name=b --exitall --size=8m --rw=read --bs=4k --rate_iops=100 --output-format=json";
    let report = user.fathom(line).done().json();
    assert_eq!(requests(&report, 0, "write"), 16);
    assert!(requests(&report, 1, "read") < 500, "{report}");
}

#[test]
fn a_readonly_command_makes_no_file_and_extends_none() {
    let user = User::new();
    let line = "as fio --readonly --name=x --size=1m --rw=read --filename=";
    user.fathom(&format!("{line}miss")).with(1).saying(&["miss"]);
    user.fathom(&format!("{line}sub/miss")).with(1);
    user.write("small", vec![0_u8; 4096]);
    user.fathom(&format!("{line}small")).with(1).saying(&["small has 4 KiB of the 1 MiB", "--readonly"]);
    assert_eq!(user.files(), ["small"]);
    assert!(!user.path("sub").exists());
    assert_eq!(std::fs::metadata(user.path("small")).unwrap().len(), 4096);
    user.write("whole", vec![0_u8; 1 << 20]);
    user.fathom(&format!("{line}whole")).done();
}

#[test]
fn a_file_of_a_size_does_not_grow_by_clones_that_begin_further_on() {
    let user = User::new();
    let line =
        "as fio --name=x --filename=dev --filesize=4m --bs=64k --rw=write --numjobs=2 --offset_increment=1m";
    let report = user.fathom(&format!("{line} --output-format=json")).done().json();
    assert_eq!([requests(&report, 0, "write"), requests(&report, 1, "write")], [64, 48]);
    assert_eq!(std::fs::metadata(user.path("dev")).unwrap().len(), 4 << 20);
}

#[test]
fn no_piece_is_smaller_than_the_smallest_size_where_blockalign_leaves_no_map() {
    let user = User::new();
    let line = "as fio --name=a --filename=tf --size=4m --bsrange=516k-1032k --blockalign=4k --rw=randwrite";
    user.fathom(&format!("{line} --write_iolog=log")).done();
    let log = std::fs::read_to_string(user.path("log")).unwrap();
    let sizes: Vec<u64> = log
        .lines()
        .filter(|line| line.contains(" write "))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|size| [516 << 10, 1032 << 10].contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn what_runtime_left_unwritten_is_not_read_back() {
    let user = User::new();
    let line = "as fio --name=x --size=4m --bs=4k --verify=crc32c --rw=randwrite --rate_iops=200 --runtime=1";
    let report = user.fathom(&format!("{line} --output-format=json")).done().json();
    let writes = requests(&report, 0, "write");
    assert!((150..=210).contains(&writes), "{writes}");
    assert_eq!(requests(&report, 0, "read"), 0);
    let verified = user.last()["points"][0]["workloads"][0]["verified"].clone();
    assert!(
        (verified["checked_bytes"].as_u64().unwrap() >> 12).abs_diff(writes) <= 1,
        "{verified} of {writes}"
    );
}

#[test]
fn folders_in_the_names_of_files_are_made_and_those_that_the_job_is_to_find_are_not() {
    let user = User::new();
    user.write(
        "sub.fio",
        "[e]\nrw=read\nfilesize=128k\nbs=128k\nnrfiles=3\nnumjobs=2\nfilename_format=$jobname.$jobnum/$filenum\n",
    );
    user.fathom("as fio sub.fio").done();
    for name in ["e.0/0", "e.0/2", "e.1/1"] {
        assert_eq!(std::fs::metadata(user.path(name)).unwrap().len(), 128 << 10, "{name}");
    }
    user.fathom("as fio --name=q --directory=none --size=1m --rw=write")
        .with(1)
        .saying(&["no directory none"]);
    assert!(!user.path("none").exists());
}

#[test]
fn clones_go_through_their_own_files_in_any_order() {
    let user = User::new();
    for order in ["random", "sequential", "roundrobin"] {
        let line = format!(
            "as fio --name=x --nrfiles=4 --size=1m --rw=randwrite --bs=4k --numjobs=2 --group_reporting \
             --file_service_type={order} --output-format=json"
        );
        let report = user.fathom(&line).done().json();
        assert_eq!(requests(&report, 0, "write"), 512, "{order}");
    }
}

#[test]
fn a_report_goes_to_a_device_of_characters_and_a_job_file_comes_from_a_pipe() {
    let user = User::new();
    let line = "as fio --name=a --size=64k --rw=write --output=";
    assert_eq!(user.fathom(&format!("{line}/dev/null")).done().out, "");
    user.fathom(&format!("{line}.")).with(1).saying(&["is a directory"]);
    let mut command = user.command("as fio - --output-format=json");
    let mut piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"[j]\nsize=64k\nrw=write\n").unwrap();
    let out = piped.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(requests(&report, 0, "write"), 16);
}

#[test]
fn the_report_has_the_times_that_the_job_says_are_taken() {
    let user = User::new();
    let report = |more: &str| {
        let line = format!("as fio --name=a --size=64k --rw=read {more} --output-format=json");
        user.fathom(&line).done().json()["jobs"][0]["read"].clone()
    };
    let both = report("--lat_percentiles=1");
    for key in ["clat_ns", "lat_ns"] {
        assert!(both[key]["percentile"].is_object(), "{key} of {both}");
    }
    let one = report("--lat_percentiles=1 --clat_percentiles=0");
    assert!(one["clat_ns"]["percentile"].is_null() && one["lat_ns"]["percentile"].is_object(), "{one}");
    let counts = |of: &Value| ["clat_ns", "lat_ns"].map(|key| of[key]["N"].as_u64().unwrap());
    assert_eq!(counts(&report("--gtod_reduce=1")), [0, 0]);
    assert_eq!(counts(&report("--disable_clat=1")), [0, 16]);
    let text = user.fathom("as fio --name=a --size=64k --rw=read --gtod_reduce=1").done().out;
    assert!(!text.contains("lat (") && !text.contains("percentiles"), "{text}");
}

#[test]
fn words_of_real_scripts_mean_what_they_mean_in_fio() {
    let user = User::new();
    let help = user.fathom("as fio --cmdhelp=zonemode").done().out;
    assert!(help.contains("zbd") && help.contains("strided"), "{help}");
    assert_eq!(user.fathom("as fio --parse-only --terse-version=4").done().out, "");
    for (words, requests) in [
        ("--rw=read --size=64k --number_ios=2*3", [2, 0]),
        ("--rw=write --size=128k --bs=4k-32k", [0, 4]),
        ("--rw=randread --size=64k --random_distribution=zipf", [16, 0]),
        ("--rw=read --size=64k --ioengine=mmap --direct=1", [16, 0]),
        ("--rw=randread --size=64k --bs_unaligned=1", [16, 0]),
        ("--rw=write --size=60k --bs_unaligned=1 --bsrange=3000-3000", [0, 20]),
    ] {
        let report = user.fathom(&format!("as fio --name=a {words} --output-format=json")).done().json();
        assert_eq!(["read", "write"].map(|op| self::requests(&report, 0, op)), requests, "{words}");
    }
}

#[test]
fn a_job_reads_the_file_that_another_one_before_it_writes() {
    let user = User::new();
    let prepare = "--name=prepare --filename=aa --size=1m --rw=write --bs=1M";
    let bench = "--filename=aa --rw=randread --bs=4k --allow_file_create=0 --output-format=json";
    user.fathom(&format!("as fio --name=bench --size=1m {bench}")).with(1).saying(&["aa: no such file"]);
    let report = user.fathom(&format!("as fio {prepare} --name=bench --stonewall {bench}")).done().json();
    assert_eq!((requests(&report, 0, "write"), requests(&report, 1, "read")), (1, 256));
}
