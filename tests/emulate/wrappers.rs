//! Scripts that run fio, by the command lines and job files that they use, on a file of a few MiB; what each looks up in the
//! answer is there.

use serde_json::Value;

use crate::support::User;

/// What bench-fio asks for, and what fio-plot takes of the answer.
#[test]
fn bench_fio_gets_its_json_and_its_logs() {
    let user = User::new();
    let job = "[global]\ndirect=${DIRECT}\nrandrepeat=0\nnorandommap\nioengine=${ENGINE}\niodepth=${IODEPTH}\n\
               numjobs=${NUMJOBS}\nrw=${MODE}\nbs=${BLOCK_SIZE}\nsize=${SIZE}\nfilename=${TARGET}\ntime_based\n\
               runtime=${RUNTIME}\ngroup_reporting\nlog_avg_msec=500\nwrite_bw_log=${OUTPUT}/bw\n\
               write_lat_log=${OUTPUT}/lat\nwrite_iops_log=${OUTPUT}/iops\nper_job_logs=1\ninvalidate=1\n\
               loops=1\n[job]\n";
    user.write("job.fio", job);
    let folder = user.directory("out");
    let mut command = user.command("as fio --output-format=json --output=out/result.json job.fio");
    for (name, value) in [
        ("DIRECT", "0"),
        ("ENGINE", "libaio"),
        ("IODEPTH", "4"),
        ("NUMJOBS", "1"),
        ("MODE", "randread"),
        ("BLOCK_SIZE", "4k"),
        ("SIZE", "4M"),
        ("TARGET", "data"),
        ("RUNTIME", "2"),
        ("OUTPUT", "out"),
    ] {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("result.json")).unwrap()).unwrap();
    for key in ["iops", "bw", "lat_ns/mean", "lat_ns/stddev", "clat_ns/percentile/99.000000"] {
        let found = answer.pointer(&format!("/jobs/0/read/{key}")).and_then(Value::as_f64);
        assert!(found.is_some_and(|found| found > 0.0), "{key}: {answer}");
    }
    for log in ["bw_bw.1.log", "lat_lat.1.log", "lat_clat.1.log", "iops_iops.1.log"] {
        let text = std::fs::read_to_string(folder.join(log)).unwrap();
        let fields = text.lines().next().map_or(0, |line| line.split(',').count());
        assert!(fields >= 4, "{log}: {text}");
    }
}

/// The terse line of which yabs cuts the eighth and the forty-ninth field.
#[test]
fn yabs_cuts_its_fields_out_of_terse_lines() {
    let user = User::new();
    let line = "as fio --name=setup --ioengine=libaio --rw=read --bs=64k --iodepth=64 --numjobs=2 --size=4M --runtime=1 \
                --gtod_reduce=1 --filename=test.fio --direct=0 --minimal";
    user.fathom(line).done();
    let line = "as fio --name=rand_rw_4k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=4k --iodepth=64 --numjobs=2 \
                --size=4M --runtime=1 --gtod_reduce=1 --direct=0 --filename=test.fio --group_reporting --minimal";
    let ended = user.fathom(line).done();
    let fields: Vec<&str> = ended.out.trim().split(';').collect();
    for field in [7, 8, 48, 49] {
        assert!(fields[field - 1].parse::<f64>().is_ok_and(|figure| figure > 0.0), "{field}: {fields:?}");
    }
}

/// Lines of dbench, which greps its figures out of the text.
#[test]
fn dbench_greps_its_figures_out_of_the_text() {
    let user = User::new();
    for (more, direction) in [
        ("--name=read_iops --bs=4K --iodepth=64 --readwrite=randread", "read:"),
        ("--name=write_bw --bs=128K --iodepth=64 --readwrite=randwrite", "write:"),
        (
            "--name=seq_read --bs=1M --iodepth=16 --readwrite=read --thread --numjobs=2 --offset_increment=4M",
            "read:",
        ),
        ("--name=rw_mix --bs=4k --iodepth=64 --readwrite=randrw --rwmixread=75", "write:"),
    ] {
        let line = format!(
            "as fio --randrepeat=0 --verify=0 --ioengine=libaio --direct=0 --gtod_reduce=1 --filename=fiotest \
             --size=8M --time_based --ramp_time=1s --runtime=1s {more}"
        );
        let text = user.fathom(&line).done().out;
        let found = text.lines().find(|line| line.trim_start().starts_with(direction));
        let found = found.unwrap_or_else(|| panic!("{direction} is not in\n{text}"));
        assert!(found.contains("IOPS=") && found.contains("BW="), "{found}");
    }
}

/// Job files as those of kbench, with the options of its line.
#[test]
fn kbench_gets_json_of_its_job_files() {
    let user = User::new();
    let job = "[global]\nioengine=libaio\ndirect=0\nrandrepeat=0\nnorandommap\nverify=0\nverify_fatal=0\n\
               gtod_reduce=0\nramp_time=0\nruntime=1\ntime_based\ngroup_reporting\n[rand-read-bandwidth]\nbs=128k\n\
               iodepth=16\nnumjobs=2\nrw=randread\n[rand-write-bandwidth]\nstonewall\nbs=128k\niodepth=16\n\
               numjobs=2\nrw=randwrite\n";
    user.write("bandwidth.fio", job);
    let line = "as fio bandwidth.fio --idle-prof=percpu --filename=volume --size=8M --output-format=json \
                --output=bandwidth.json";
    user.fathom(line).done();
    let text = std::fs::read_to_string(user.path("bandwidth.json")).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    for (job, direction) in [(0, "read"), (1, "write")] {
        let found = answer.pointer(&format!("/jobs/{job}/{direction}/bw")).and_then(Value::as_f64);
        assert!(found.is_some_and(|found| found > 0.0), "{answer}");
    }
}

/// The lines of cbt and of Perfkit, and a job file as mmtests makes them.
#[test]
fn cbt_perfkit_and_mmtests_get_what_they_read() {
    let user = User::new();
    let cbt = "as fio --ioengine=libaio --direct=0 --runtime=1 --ramp_time=1 --numjobs=1 --iodepth=16 --bs=4096B \
               --rw=randwrite --size=4M --end_fsync=0 --norandommap --time_based --invalidate=0 \
               --write_iops_log=cbt --write_bw_log=cbt --write_lat_log=cbt --log_avg_msec=100 \
               --output-format=json,normal --name=cbt --filename=cbt.0";
    let out = user.fathom(cbt).done().out;
    assert!(out.contains("\"jobs\"") && out.contains("Run status group 0"), "{out}");
    user.write("perfkit.fio", "[global]\nioengine=libaio\ninvalidate=1\ndirect=0\nruntime=1\ntime_based\nfilename=pkb\n\
                do_verify=0\nverify_fatal=0\ngroup_reporting=1\nrandrepeat=0\n[sequential_read-io-depth-1-num-jobs-1]\n\
                stonewall\nrw=read\nblocksize=512k\niodepth=1\nsize=4M\nnumjobs=1\n");
    let answer =
        user.fathom("as fio --output-format=json --random_generator=tausworthe64 perfkit.fio").done().json();
    let job = &answer["jobs"][0];
    assert_eq!(job["jobname"], "sequential_read-io-depth-1-num-jobs-1");
    for key in ["bw", "bw_min", "bw_max", "bw_mean", "bw_dev", "iops"] {
        assert!(job["read"][key].is_number(), "{key}: {job}");
    }
    user.write("mmtests.fio", "[global]\ndirectory=mm\nioengine=psync\nsize=4m\nfallocate=none\ninvalidate=1\n\
                create_on_open=0\nwrite_lat_log=mm/fio\nfsync_on_close=1\n[latency_read]\nrw=randread\nbs=4k\n");
    user.directory("mm");
    user.fathom("as fio --eta=never --output-format=json --output=mm/fio.json mmtests.fio").done();
    assert!(user.path("mm/fio_lat.1.log").exists() && user.path("mm/fio.json").exists());
}

#[test]
fn nothing_is_said_unless_something_is_wrong_and_answers_need_no_job() {
    let user = User::new();
    let ended = user
        .fathom("as fio --name=a --rw=read --bs 4k --size 1m --iodepth 8 --direct 1 --output-format=json");
    let ended = ended.done();
    assert_eq!(ended.err, "");
    let notes = ended.json()["fathom"]["notes"].clone();
    assert!(notes[0].as_str().unwrap().contains("iodepth=8 has no effect"), "{notes}");
    assert!(
        user.last()["plan"]["text"].as_str().unwrap().contains("# job `a`: ioengine=psync keeps one request")
    );
    assert_eq!(user.fathom("as fio --version").done().out, "fio-3.42\n");
    assert!(user.fathom("as fio --cmdhelp=rw").done().out.starts_with("rw "));
    assert!(user.fathom("as fio --cmdhelp").done().out.lines().count() > 200);
    assert!(user.fathom("as fio --enghelp").done().out.contains("io_uring"));
    assert!(user.fathom("as fio --help").done().out.contains("--output-format"));
    user.write("j.fio", "[global]\nrw=read\nthread\n[a]\nsize=1m\n");
    assert_eq!(
        user.fathom("as fio --showcmd j.fio").done().out,
        "fio --rw=read --thread --name=a --size=1m \n"
    );
    for wrong in ["--iodepth=0", "--rwmixread=150", "--filename=.", "--bogus"] {
        user.fathom(&format!("as fio --name=a --rw=randrw --size=1m {wrong}")).with(1);
    }
}

/// Command lines in the forms of wrappers that measure with fio and read what it prints.
#[test]
fn the_command_lines_of_wrappers_are_read() {
    let user = User::new();
    std::fs::create_dir(user.path("jobs")).unwrap();
    user.write(
        "jobs/common.inc",
        "direct=1\nrandrepeat=0\nverify=0\nioengine=libaio\ngtod_reduce=0\ncpus_allowed=0\n",
    );
    user.write(
        "jobs/iops.fio",
        "[global]\ninclude common.inc\n[rand-read]\nbs=4k\niodepth=128\nreadwrite=randread\n",
    );
    for line in [
        "--name=rand_rw_4k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=4k --iodepth=64 --numjobs=2 --size=2G \
         --runtime=30 --gtod_reduce=1 --direct=1 --filename=test.fio --group_reporting --minimal",
        "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=read_seq --filename=t --bs=1M \
         --iodepth=16 --size=2G --readwrite=read --time_based --ramp_time=2s --runtime=15s --thread --numjobs=4 \
         --offset_increment=500M",
        "jobs/iops.fio --idle-prof=percpu --filename=t --size=1g --output-format=json --output=o.json",
        "--directory=. --name=fio-scaling --ioengine=libaio --rw=randrw --size=1G --direct=1 --iodepth=1 --runtime=15 \
         --numjobs=4 --blocksize=4k --group_reporting --output-format=terse --terse-version=5",
        "--directory=. --minimal --write_lat_log log --name=x --size=1g",
        "--output-format=json --random_generator=tausworthe64 --ioengine=libaio --name=fill-device --filename=t \
         --blocksize=512k --iodepth=64 --rw=write --direct=1 --size=10g",
        "--ioengine=libaio --runtime=30 --time_based --ramp_time=10 --numjobs=1 --direct=1 --bs=4096B --iodepth=16 \
         --end_fsync=0 --write_iops_log=o --write_bw_log=o --write_lat_log=o --log_avg_msec=100 --size=1024M \
         --output-format=json,normal --name=cbt --rw=randwrite --filename=t --eta=never --status-interval 5",
    ] {
        let ended = user.fathom(&format!("as fio --parse-only {line}")).done();
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""), "{line}");
    }
}
