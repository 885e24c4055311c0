//! fio, on files and on a virtual array; its JSON read by keys that readers of it look for.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::support::{User, lacks};

/// What a reader such as fio-plot takes from one job and direction.
#[derive(Debug, PartialEq)]
struct Reader {
    rw: String,
    depth: u64,
    iops: f64,
    bw_bytes: f64,
    ios: u64,
    mean_ns: f64,
    p99_ns: u64,
}

impl Reader {
    /// Of the entry number `index` of a report, whose options are its own before those of all jobs.
    fn read(report: &Value, index: usize, direction: &str) -> Reader {
        let job = &report["jobs"][index];
        let (own, all, figures) = (&job["job options"], &report["global options"], &job[direction]);
        let option = |key: &str| own[key].as_str().or_else(|| all[key].as_str());
        let text = |key: &str| option(key).unwrap_or_else(|| panic!("no {key} in {own} or {all}"));
        let part = |path: &str| figures.pointer(path).unwrap_or_else(|| panic!("no {path} in {figures}"));
        Reader {
            rw: text("rw").into(),
            depth: text("iodepth").parse().unwrap(),
            iops: part("/iops").as_f64().unwrap(),
            bw_bytes: part("/bw_bytes").as_f64().unwrap(),
            ios: part("/total_ios").as_u64().unwrap(),
            mean_ns: part("/lat_ns/mean").as_f64().unwrap(),
            p99_ns: part("/clat_ns/percentile/99.000000").as_u64().unwrap(),
        }
    }
}

/// A reader's figures are those of the record's class.
fn agrees(reader: &Reader, workload: &Value, op: &str) {
    let classes = workload["classes"].as_array().unwrap();
    let of_op: Vec<&Value> = classes.iter().filter(|class| class["op"] == op).collect();
    let sum = |key: &str| of_op.iter().map(|class| class[key].as_u64().unwrap()).sum::<u64>();
    let seconds = workload["measured_ns"].as_f64().unwrap() / 1e9;
    assert_eq!(reader.ios, sum("ops"));
    // Times are whole milliseconds in fio's output, which its rates are taken from.
    let rounding = (0.001 / seconds).max(0.001);
    assert!((reader.iops - sum("ops") as f64 / seconds).abs() <= reader.iops * rounding, "{reader:?}");
    assert!(
        (reader.bw_bytes - sum("bytes") as f64 / seconds).abs() <= reader.bw_bytes * rounding,
        "{reader:?}"
    );
    let of = |key: &str| -> f64 { of_op.iter().map(|class| class["response"][key].as_f64().unwrap()).sum() };
    assert!((reader.mean_ns - of("sum_ns") / of("count")).abs() < 1.0, "{reader:?}");
    let summary = workload["summary"].as_array().unwrap().iter().find(|summary| summary["op"] == op).unwrap();
    let quantiles = summary["response"]["quantiles"].as_array().unwrap();
    let p99 = quantiles.iter().find(|quantile| quantile["q"] == 0.99).unwrap();
    assert_eq!(reader.p99_ns, p99["value_ns"].as_u64().unwrap());
}

const MIXED: &str =
    "--name=a --rw=randrw --rwmixread=70 --bs=4k --size=8m --direct=1 --ioengine=libaio --iodepth=4";

#[test]
fn fio_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let line =
        format!("as fio {MIXED} --filename=array:md3000 --runtime=5 --time_based --output-format=json");
    let out = user.fathom(&line).done().json();
    // Readers look for fio's own version; the program is named beside.
    assert_eq!((&out["fio version"], &out["fathom"]["program"]), (&"fio-3.42".into(), &"fathom".into()));
    let run = user.last();
    for op in ["read", "write"] {
        let reader = Reader::read(&out, 0, op);
        assert_eq!((reader.rw.as_str(), reader.depth), ("randrw", 4));
        agrees(&reader, &run["points"][0]["workloads"][0], op);
    }
    let reads = out["jobs"][0]["read"]["total_ios"].as_f64().unwrap();
    let writes = out["jobs"][0]["write"]["total_ios"].as_f64().unwrap();
    assert!((reads / (reads + writes) - 0.7).abs() < 0.05, "{reads} {writes}");
}

#[test]
fn fio_lays_its_file_out_transfers_its_size_and_leaves_the_file() {
    let user = User::new();
    let out = user.fathom(&format!("as fio {MIXED} --output-format=json")).done().json();
    let run = user.last();
    let job = &out["jobs"][0];
    agrees(&Reader::read(&out, 0, "read"), &run["points"][0]["workloads"][0], "read");
    let bytes = |op: &str| job[op]["io_bytes"].as_u64().unwrap();
    assert_eq!(bytes("read") + bytes("write"), 8 << 20);
    assert_eq!(user.files(), ["a.0.0"]);
    // The next call finds it, and may write it: it is ours.
    user.fathom(&format!("as fio {MIXED}")).done();
    user.fathom("as fio --name=b --rw=write --size=1m --unlink=1").done();
    assert_eq!(user.files(), ["a.0.0"]);
}

#[test]
fn jobs_of_a_file_run_in_groups_and_clones_are_reported_together_or_apart() {
    let user = User::new();
    let jobs = "[global]\nsize=1m\nioengine=psync\n[seq]\nrw=read\nbs=64k\n[rnd]\nstonewall\nrw=randwrite\n\
                numjobs=2\ngroup_reporting\n[each]\nstonewall\nrw=randread\nnumjobs=3\nnrfiles=2\n";
    user.write("jobs.fio", jobs);
    let out = user.fathom("as fio jobs.fio --output-format=json").done().json();
    let names: Vec<(&str, u64)> = out["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["jobname"].as_str().unwrap(), job["groupid"].as_u64().unwrap()))
        .collect();
    assert_eq!(names, [("seq", 0), ("rnd", 1), ("each", 2), ("each", 2), ("each", 2)]);
    assert_eq!(out["jobs"][0]["read"]["total_ios"], 16);
    assert_eq!(out["jobs"][1]["write"]["total_ios"], 512);
    assert_eq!(out["jobs"][2]["read"]["io_bytes"], 1 << 20);
    assert_eq!(user.files().len(), 1 + 1 + 2 + 6);
    // `fathom run` reads the same file, and any output can be written of it.
    user.fathom("run jobs.fio -q -o out.fio.json").done();
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(user.path("out.fio.json")).unwrap()).unwrap();
    assert_eq!(written["jobs"].as_array().unwrap().len(), 5);
}

#[test]
fn jobs_that_move_no_data_create_and_visit_files() {
    let user = User::new();
    let jobs = "[global]\nioengine=filestat\nfilesize=4k\nnrfiles=50\nunlink=1\n[t0]\n[t1]\nnumjobs=2\n\
                group_reporting\n[t2]\nstonewall\nioengine=filecreate\nrw=write\n";
    user.write("files.fio", jobs);
    let out = user.fathom("as fio files.fio --output-format=json").done().json();
    let of = |job: usize, direction: &str| out["jobs"][job][direction]["total_ios"].as_u64().unwrap();
    // The second job is counted together with the first, as group_reporting has it.
    assert_eq!((of(0, "read"), of(1, "read"), of(1, "write")), (150, 0, 50));
    agrees_in_time(&out["jobs"][1]["write"], &user.last()["points"][1]["workloads"][0]["classes"][0]);
    assert_eq!(user.files(), ["files.fio"]);
    user.fathom("run files.fio -q --on array:md3000 -o out.fio.json").done();
    let text = std::fs::read_to_string(user.path("out.fio.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["jobs"][1]["read"]["total_ios"], 100);
}

/// The mean of a direction is that of the record's class.
fn agrees_in_time(direction: &Value, class: &Value) {
    let response = &class["response"];
    let mean = response["sum_ns"].as_f64().unwrap() / response["count"].as_f64().unwrap();
    assert!((direction["lat_ns"]["mean"].as_f64().unwrap() - mean).abs() < 1.0, "{direction} {class}");
}

#[test]
fn every_format_has_the_same_figures() {
    let user = User::new();
    let line =
        "as fio --name=a --filename=array:md3000 --direct=1 --rw=randread --size=1g --runtime=2 --time_based";
    let formats = user.fathom(&format!("{line} --output-format=terse,normal")).done().out;
    let normal = formats.clone();
    let terse = formats.lines().find(|line| line.starts_with("3;")).unwrap();
    let fields: Vec<&str> = terse.split(';').collect();
    let ops = user.last()["points"][0]["workloads"][0]["classes"][0]["ops"].as_u64().unwrap();
    // The fields of terse version 3: version, tool, job, group, error, then KiB, KiB/s, IOPS and ms of reads.
    assert_eq!((fields[0], fields[2], fields[3], fields[4]), ("3", "a", "0", "0"));
    assert_eq!(fields[7], (ops / 2).to_string());
    assert_eq!(fields.len(), 121);
    assert!(normal.contains(&format!("issued rwts: total={ops},0,0,0")), "{normal}");
    assert!(normal.contains("clat percentiles (") && normal.contains("READ: bw="), "{normal}");
}

/// The counts are those of fio 3.33, less the nine of a disk.
#[test]
fn each_terse_version_has_as_many_fields_as_fio_s() {
    let user = User::new();
    let line =
        "as fio --name=a --filename=array:md3000 --rw=randread --size=1g --number_ios=50 --description=why";
    for (version, count) in [(2, 161), (3, 122), (4, 163), (5, 181)] {
        let said = user.fathom(&format!("{line} --output-format=terse --terse-version={version}")).done().out;
        let lines: Vec<&str> = said.lines().collect();
        let fields: Vec<&str> = lines[0].split(';').collect();
        assert_eq!((fields[0], fields.len()), (version.to_string().as_str(), count), "{said}");
        // The oldest describes the job on a line of its own.
        assert_eq!(
            if version == 2 { lines[1] } else { fields[count - 1] },
            if version == 2 { ";why" } else { "why" }
        );
        assert_eq!(lines.len(), if version == 2 { 2 } else { 1 });
        // A direction without requests has its percentiles, which are 0.
        assert_eq!(said.matches("99.990000%=0").count(), if version == 3 { 1 } else { 2 }, "{said}");
    }
}

#[test]
fn a_mistake_names_its_place_and_touches_nothing() {
    let user = User::new();
    user.write("bad.fio", "[a]\nrw=randread\nrwmixread=150\nsize=1m\n");
    user.fathom("as fio bad.fio").with(1).saying(&["bad.fio:3", "rwmixread=150"]);
    user.fathom("run bad.fio").with(2).saying(&["bad.fio:3", "rwmixread=150"]);
    // Whether it has zones is known once the target is.
    user.fathom("as fio --name=a --size=1m --rw=write --zonemode=zbd")
        .with(1)
        .saying(&["no zones", "zonesize="]);
    user.fathom("as fio --name=a --size=1m --iodeth=4").with(1).saying(&["iodeth", "did you mean `iodepth`"]);
    user.fathom("as fio --name=a --size=1m --ioengine=rbd").with(1).saying(&["ioengine=rbd"]);
    assert_eq!(user.files(), ["bad.fio"]);
}

#[test]
fn jobs_of_a_flow_keep_their_proportion_on_a_virtual_array() {
    let user = User::new();
    let jobs = "[global]\nfilename=array:md3000\ndirect=1\nioengine=libaio\niodepth=4\nsize=10g\nbs=8k\n\
                runtime=5\ntime_based\nflow_sleep=1000\n[one]\nrw=write\nflow=1\n[eight]\nrw=randread\nflow=8\n";
    user.write("flow.fio", jobs);
    let out = user.fathom("as fio flow.fio --output-format=json").done().json();
    let ios = |job: usize, op: &str| out["jobs"][job][op]["total_ios"].as_f64().unwrap();
    let proportion = ios(1, "read") / ios(0, "write");
    assert!((7.8..8.2).contains(&proportion), "{proportion}");
}

#[test]
fn a_ramp_by_bytes_comes_before_the_runtime() {
    let user = User::new();
    // 4096 requests of both jobs, of which each may issue 1000 a second, and then a second.
    let job = "--rw=randread --bs=4k --size=1g --rate_iops=1000 --numjobs=2 --group_reporting --ramp_size=16m \
               --runtime=1 --time_based --output-format=json";
    for target in ["--ioengine=null", "--filename=array:md3000 --direct=1 --bs=512 --ramp_size=2m"] {
        let out = user.fathom(&format!("as fio --name=a {job} {target}")).done().json();
        let (job, reads) = (&out["jobs"][0], &out["jobs"][0]["read"]);
        let figure = |of: &Value| of.as_u64().unwrap();
        assert!((3..=9).contains(&figure(&job["elapsed"])), "{job}");
        assert!((999..=1002).contains(&figure(&reads["runtime"])), "{reads}");
        assert!((1..=2100).contains(&figure(&reads["total_ios"])), "{reads}");
    }
}

#[test]
fn a_job_ends_once_it_is_steady_and_says_so() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --direct=1 --rw=randread --bs=8k --size=10g --runtime=600 \
                --time_based --ss=iops:20% --ss_dur=10s --ss_ramp=2s --output-format=json";
    let out = user.fathom(line).done().json();
    let job = &out["jobs"][0];
    assert!(job["read"]["runtime"].as_u64().unwrap() < 60_000, "{job}");
    let steady = &job["steadystate"];
    assert_eq!((&steady["attained"], &steady["duration"]), (&1.into(), &10.into()));
    assert_eq!(steady["ss"], "iops:20.000000%");
    let iops: Vec<f64> =
        steady["data"]["iops"].as_array().unwrap().iter().map(|each| each.as_f64().unwrap()).collect();
    let mean = iops.iter().sum::<f64>() / 10.0;
    assert!(iops.len() == 10 && iops.iter().all(|each| (each - mean).abs() < mean * 0.2 + 1.0), "{iops:?}");
}

#[test]
fn blocks_are_trimmed_and_written_and_halves_of_a_job_are_one() {
    let user = User::new();
    let of = |line: &str| {
        let line = format!("as fio --name=a --filename=array:md3000 --output-format=json --direct=1 {line}");
        user.fathom(&line).done().json()["jobs"].as_array().unwrap().clone()
    };
    let ios = |job: &Value, direction: &str| job[direction]["total_ios"].as_u64().unwrap();
    let jobs = of("--rw=randtrimwrite --bs=64k --size=8m");
    assert_eq!([ios(&jobs[0], "trim"), ios(&jobs[0], "write"), ios(&jobs[0], "read")], [128, 128, 0]);
    // One thread for each half: the writes keep their rate, whatever the reads do.
    let half = "--rw=randrw --bs=4k --size=1g --rate_iops=,50 --runtime=10 --time_based";
    let jobs = of(half);
    assert_eq!((jobs.len(), ios(&jobs[0], "write")), (1, 500));
    assert!(ios(&jobs[0], "read") > 500, "{jobs:?}");
    let jobs = of(&format!("{half} --numjobs=2"));
    assert_eq!(jobs.iter().map(|job| ios(job, "write")).collect::<Vec<_>>(), [500, 500]);
    let jobs = of(&format!("{half} --numjobs=2 --group_reporting"));
    assert_eq!((jobs.len(), ios(&jobs[0], "write")), (1, 1000));
    let asked =
        |more: &str| ios(&of(&format!("--rw=randread --size=1g --runtime=9 --time_based {more}"))[0], "read");
    let (busy, paused) = (asked(""), asked("--thinktime=2s --thinktime_iotime=1s"));
    assert!((2.5..3.5).contains(&(busy as f64 / paused as f64)), "a third of the time: {busy} {paused}");
}

#[test]
fn operations_told_as_one_are_the_sum_of_those_told_apart() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --direct=1 --rw=randrw --size=1g --runtime=5 --time_based \
                --output-format=json";
    let of = |more: &str| user.fathom(&format!("{line} {more}")).done().json()["jobs"][0].clone();
    let (both, mixed) = (of("--unified_rw_reporting=both"), of("--unified_rw_reporting=1"));
    let ios = |job: &Value, name: &str| job[name]["total_ios"].as_u64().unwrap();
    assert_eq!(ios(&both, "mixed"), ios(&both, "read") + ios(&both, "write"));
    assert!(ios(&mixed, "mixed") > 0 && mixed["read"].is_null() && mixed["sync"].is_null(), "{mixed}");
    let text = user.fathom(&line.replace("json", "normal --unified_rw_reporting=mixed")).done().out;
    assert!(text.contains("  mixed: IOPS=") && text.contains("  MIXED: bw="), "{text}");
    assert!(!text.contains("read: IOPS="), "{text}");
}

#[test]
fn files_may_be_laid_out_alone_and_jobs_be_nicer_than_others() {
    let user = User::new();
    let line = "as fio --name=a --rw=randwrite --size=1m --nrfiles=2 --verify=md5 --output-format=json";
    let out = user.fathom(&format!("{line} --create_only=1")).done().json();
    assert_eq!(
        (out["jobs"][0]["error"].as_u64(), out["jobs"][0]["write"]["total_ios"].as_u64()),
        (Some(0), Some(0))
    );
    assert_eq!(user.files(), ["a.0.0", "a.0.1"]);
    assert_eq!(std::fs::metadata(user.path("a.0.1")).unwrap().len(), 512 << 10);
    let out = user.fathom(&format!("{line} --nice=5")).done().json();
    assert_eq!(out["jobs"][0]["write"]["total_ios"], 256);
}

/// What lay in the file stays, and what the job writes lies behind it.
#[test]
fn a_file_is_appended_to_and_one_that_is_read_before_is_in_memory() {
    let user = User::new();
    user.fathom("as fio --name=a --filename=f --rw=write --bs=4k --size=64k --buffer_pattern=0xaa").done();
    user.fathom(
        "as fio --name=a --filename=f --rw=write --bs=4k --size=64k --buffer_pattern=0xbb --file_append=1",
    )
    .done();
    let bytes = std::fs::read(user.path("f")).unwrap();
    assert_eq!(bytes, [vec![0xaa; 65_536], vec![0xbb; 65_536]].concat());
    let out = user.fathom(
        "as fio --name=a --filename=f --rw=randread --bs=4k --size=128k --pre_read=1 --output-format=json",
    );
    let out = out.done().json();
    assert_eq!(
        (out["jobs"].as_array().unwrap().len(), &out["jobs"][0]["read"]["total_ios"]),
        (1, &32.into())
    );
    let run = user.last();
    let reads = |index: usize| run["points"][index]["workloads"][0]["classes"][0]["bytes"].clone();
    assert_eq!((reads(0), reads(1)), (131_072.into(), 131_072.into()), "a pass before, and the job");
}

#[test]
fn rates_are_kept_apart_and_latencies_count_from_the_issue() {
    let user = User::new();
    let line = "as fio --name=a --rw=randrw --size=4m --bs=4k --rate_iops=500,100 --time_based --runtime=2 \
                --iodepth=4 --ioengine=libaio --output-format=json";
    let out = user.fathom(line).done().json();
    let job = &out["jobs"][0];
    for (direction, asked) in [("read", 1000.0), ("write", 200.0)] {
        let of = &job[direction];
        let ended = of["total_ios"].as_f64().unwrap();
        assert!((ended / asked - 1.0).abs() < 0.02, "{direction}: {ended} of {asked}");
        assert_eq!(of["lat_ns"]["mean"], of["clat_ns"]["mean"]);
        assert_eq!(of["slat_ns"]["N"], 0);
    }
    let levels = job["iodepth_level"].as_object().unwrap().values();
    let sum: f64 = levels.map(|part| part.as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 0.01, "{sum}");
    assert_eq!(job["latency_depth"], 4);
    let out = user.fathom(&format!("{line} --rate_process=poisson")).done().json();
    assert_eq!(out["jobs"][0]["read"]["slat_ns"]["N"], 0);
}

#[test]
fn depths_and_batches_are_counted() {
    let user = User::new();
    let line =
        "as fio --name=a --rw=randread --size=8m --bs=4k --iodepth=32 --ioengine=null --output-format=json";
    let out =
        user.fathom(&format!("{line} --iodepth_batch=16 --iodepth_batch_complete_min=16")).done().json();
    let job = &out["jobs"][0];
    assert!(job["iodepth_submit"]["16"].as_f64().unwrap() > 90.0, "{}", job["iodepth_submit"]);
    assert!(job["iodepth_complete"]["16"].as_f64().unwrap() > 90.0, "{}", job["iodepth_complete"]);
    // What does nothing has ended as soon as a batch was handed over, whose last request finds all of it in flight.
    for (level, part) in [("1", 6.25), ("2", 12.5), ("4", 25.0), ("8", 50.0), ("16", 6.25), ("32", 0.0)] {
        assert_eq!(job["iodepth_level"][level], part, "{}", job["iodepth_level"]);
    }
}

#[test]
fn memory_that_jobs_lock_is_held_while_they_run() {
    let user = User::new();
    user.write(
        "job.fio",
        "[a]\nrw=read\nsize=1m\nnumjobs=2\nlockmem=1m\nexec_prerun=grep VmLck /proc/$PPID/status\n",
    );
    user.fathom("as fio job.fio").done();
    let told = std::fs::read_to_string(user.path("a.prerun.txt")).unwrap();
    let kib: u64 = told.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib >= 2048, "{told}");
    let plan = user.fathom("plan convert job.fio").done();
    assert!(format!("{}{}", plan.out, plan.err).contains("locks no memory"), "{}", plan.out);
}

#[test]
fn logs_have_a_line_for_each_second() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --direct=1 --rw=randrw --size=1g --runtime=5 --time_based \
                --write_bw_log=x --write_lat_log=x --log_avg_msec=1000 --write_iops_log";
    user.fathom(line).done();
    assert_eq!(user.files(), ["a_iops.1.log", "x_bw.1.log", "x_clat.1.log", "x_lat.1.log", "x_slat.1.log"]);
    let log = std::fs::read_to_string(user.path("a_iops.1.log")).unwrap();
    let rows: Vec<Vec<u64>> =
        log.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 10);
    let ops = |direction: u64| rows.iter().filter(|row| row[2] == direction).map(|row| row[1]).sum::<u64>();
    let classes = user.last()["points"][0]["workloads"][0]["classes"].clone();
    for (direction, op) in [(0, "read"), (1, "write")] {
        let class = classes.as_array().unwrap().iter().find(|class| class["op"] == op).unwrap();
        assert_eq!(ops(direction), class["ops"].as_u64().unwrap());
    }
}

#[test]
fn a_users_file_is_not_written_on_a_jobs_word() {
    let user = User::new();
    user.write("mine", vec![7u8; 1 << 20]);
    user.fathom("as fio --name=a --filename=mine --rw=write --size=1m").with(1);
    assert!(std::fs::read(user.path("mine")).unwrap().iter().all(|byte| *byte == 7));
    user.fathom("as fio --name=a --filename=mine --rw=randread --size=1m").done();
    user.fathom_of([
        "as",
        "--destroy",
        user.path("mine").to_str().unwrap(),
        "fio",
        "--name=a",
        "--filename=mine",
        "--rw=write",
        "--size=1m",
    ])
    .done();
    assert!(std::fs::read(user.path("mine")).unwrap().iter().any(|byte| *byte != 7));
}

/// Every key of an object and of the objects in it, with the kind of its value.
fn shape(value: &Value, path: &str, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Object(keys) => {
            keys.iter().for_each(|(key, value)| shape(value, &format!("{path}/{key}"), found));
            "object"
        }
        Value::Array(items) => {
            items.iter().for_each(|value| shape(value, &format!("{path}[]"), found));
            "list"
        }
        Value::Number(number) if number.is_f64() => "figure",
        Value::Number(_) => "count",
        Value::String(_) => "text",
        _ => "other",
    };
    found.insert(path.to_owned(), kind);
}

#[test]
fn the_json_has_every_key_of_the_real_fio() {
    let user = User::new();
    let arguments = [
        "--output-format=json",
        "--size=1m",
        "--fsync=8",
        "--name=a",
        "--rw=randrw",
        "--bs=4k",
        "--direct=0",
    ];
    let Ok(real) = Command::new("fio").args(arguments).current_dir(user.path("")).output() else {
        lacks("fio", "needs fio, to compare keys with");
        return;
    };
    std::fs::remove_file(user.path("a.0.0")).unwrap();
    let ours = user.fathom(&format!("as fio {}", arguments.join(" "))).done();
    let (mut wanted, mut found) = (BTreeMap::new(), BTreeMap::new());
    shape(&serde_json::from_slice(&real.stdout).unwrap(), "", &mut wanted);
    shape(&ours.json(), "", &mut found);
    // A short run of fio has counters of no disk.
    let expected = |path: &&String| !path.contains("/disk_util[]");
    for path in wanted.keys().filter(expected) {
        assert_eq!(found.get(path), wanted.get(path), "{path}");
    }
    let order = |text: &str| -> Vec<String> {
        let keys = text.lines().filter_map(|line| line.strip_prefix("      \"")?.split_once("\" : "));
        keys.map(|(key, _)| key.to_owned()).filter(|key| key != "job_start" && key != "name").collect()
    };
    let ours = order(&ours.out);
    let wanted = order(&String::from_utf8(real.stdout).unwrap());
    let common: Vec<&String> = ours.iter().filter(|key| wanted.contains(key)).collect();
    assert!(wanted.iter().filter(|key| ours.contains(key)).eq(common), "{wanted:?}\n{ours:?}");
}

#[test]
fn no_log_and_no_report_takes_the_place_of_what_a_job_measures() {
    let user = User::new();
    user.write("data", "x".repeat(65_536));
    std::fs::hard_link(user.path("data"), user.path("x_lat.1.log")).unwrap();
    for line in [
        "--filename=x_lat.1.log --rw=read --write_lat_log=x",
        "--filename=data --rw=read --output=./data",
        "--filename=new --rw=write --size=64k --unlink=1 --write_iolog=new",
    ] {
        let ended = user.fathom(&format!("as fio --name=x {line}"));
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.err);
        assert!(ended.err.contains("own file"), "{line}: {}", ended.err);
    }
    assert_eq!(std::fs::read(user.path("data")).unwrap(), "x".repeat(65_536).as_bytes());
    assert!(!user.path("new").exists());
}

#[test]
fn a_job_of_cpuio_burns_beside_others_and_reports_no_request() {
    let user = User::new();
    let out = user
        .fathom(
            "as fio --output-format=json --runtime=2 --time_based --name=burn --ioengine=cpuio --cpuload=50 --name=read \
             --rw=read --size=1m --rate_iops=50",
        )
        .done()
        .json();
    assert_eq!(out["jobs"][0]["read"]["total_ios"], 0);
    assert!(out["jobs"][1]["read"]["total_ios"].as_u64().unwrap() > 50);
    let busy = out["jobs"][0]["usr_cpu"].as_f64().unwrap() + out["jobs"][0]["sys_cpu"].as_f64().unwrap();
    assert!(busy > 5.0, "{busy} %");
}

#[test]
fn a_job_of_cpuio_ends_with_the_jobs_beside_it() {
    let user = User::new();
    let line = "as fio --output-format=json --name=burn --ioengine=cpuio --cpuload=20 --exit_on_io_done=1 --name=read \
                --rw=read --size=1m --number_ios=60 --rate_iops=50";
    let out = user.fathom(line).done().json();
    assert_eq!(out["jobs"][1]["read"]["total_ios"], 60);
    let ran = |job: usize| out["jobs"][job]["job_runtime"].as_u64().unwrap();
    assert!((900..5000).contains(&ran(0)), "{} ms beside {} ms", ran(0), ran(1));
    // Nobody is beside it.
    let alone = user.fathom("as fio --name=burn --ioengine=cpuio --cpuload=20 --exit_on_io_done=1").with(1);
    assert!(alone.err.contains("No request"), "it ends at once: {}", alone.err);
    let never = user.fathom("as fio --name=burn --ioengine=cpuio --cpuload=20");
    assert!(never.err.contains("exit_on_io_done=1"), "{}", never.err);
}

#[test]
fn commands_of_a_job_run_before_beside_and_after_it() {
    let user = User::new();
    let jobs = "[io]\nrw=read\nsize=1m\nruntime=2\ntime_based\nrate_iops=50\nexec_prerun=echo before\n\
                exec_postrun=ls io.0.0\n[beside]\nioengine=exec\nprogram=/bin/sh\nruntime=2\n\
                arguments=-c \"echo started && sleep 600\"\ngrace_time=0\n";
    user.write("jobs.fio", jobs);
    let out = user.fathom("as fio jobs.fio --output-format=json").done().json();
    assert_eq!(out["jobs"].as_array().map(Vec::len), Some(2));
    assert_eq!(out["jobs"][1]["read"]["total_ios"], 0, "a program asks for nothing");
    let said = |name: &str| std::fs::read_to_string(user.path(name)).unwrap();
    assert_eq!(said("io.prerun.txt").trim(), "before");
    assert_eq!(said("io.postrun.txt").trim(), "io.0.0");
    assert_eq!(said("beside.stdout").trim(), "started");
    // Between jobs that wait for each other, too.
    let jobs = "[global]\nsize=1m\nrw=read\n[one]\nexec_postrun=touch mark\n[two]\nstonewall\nexec_prerun=rm mark\n\
                exec_postrun=ls mark\n";
    user.write("turns.fio", jobs);
    let ended = user.fathom("as fio turns.fio").with(1);
    assert!(ended.err.contains("ls mark"), "{}", ended.err);
    assert!(said("two.prerun.txt").is_empty(), "there was a mark to remove");
    // A plan executes nothing, and says so.
    let plan = user.fathom("plan convert jobs.fio").done().out;
    assert!(plan.contains("a plan executes nothing"), "{plan}");
    let failed = user.fathom("as fio --name=a --size=1m --exec_prerun=false");
    assert_eq!(failed.code, Some(1), "{}", failed.err);
}

#[test]
fn requests_have_the_priorities_that_their_job_gives_them() {
    let user = User::new();
    let line = "as fio --name=a --rw=randread --size=4m --ioengine=libaio --iodepth=4 --direct=0 --prioclass=3 \
                --cmdprio_percentage=20 --cmdprio_class=2 --output-format=json";
    let out = user.fathom(line).done().json();
    assert_eq!(out["jobs"][0]["read"]["total_ios"], 1024);
    assert_eq!(out["jobs"][0]["error"], 0);
    // The first point empties the page cache.
    let asked = &user.last()["points"][1]["workloads"][0]["spec"];
    assert_eq!(asked["io_priority"], "idle/0", "{asked}");
    assert_eq!(asked["request_priority"], "20% of reads be/0");
}

#[test]
fn a_trigger_runs_its_command_once_beside_the_jobs() {
    let user = User::new();
    let (file, pulled, data) = (user.path("now"), user.path("pulled"), user.path("data"));
    std::fs::write(&file, "").unwrap();
    let line = format!(
        "as fio --trigger-file={} --trigger-timeout=1h --name=a --filename={} --size=1m --rw=randread --runtime=1 --time_based",
        file.display(),
        data.display()
    );
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words.insert(2, format!("--trigger=echo x >> {}", pulled.display()));
    user.fathom_of(&words).done();
    assert_eq!(std::fs::read_to_string(&pulled).unwrap(), "x\n");
    assert!(!file.exists(), "it is removed, as there");
    words[2] = "--trigger=false".into();
    words[4] = "--trigger-timeout=100ms".into();
    let ended = user.fathom_of(&words).with(1);
    assert!(ended.err.contains("--trigger `false`"), "{}", ended.err);
}

#[test]
fn a_job_reads_all_files_below_a_directory() {
    let user = User::new();
    let directory = user.directory("tree");
    std::fs::create_dir(directory.join("sub")).unwrap();
    for name in ["one", "sub/two"] {
        std::fs::write(directory.join(name), vec![7; 65536]).unwrap();
    }
    let line = format!("as fio --name=a --opendir={} --rw=read --bs=4k", directory.display());
    user.fathom(&line).done();
    let run = user.last();
    let loads = run["points"].as_array().unwrap().iter().filter(|point| point["kind"] == "load");
    let bytes: Vec<u64> =
        loads.map(|load| load["workloads"][0]["classes"][0]["bytes"].as_u64().unwrap()).collect();
    assert_eq!(bytes, [2 * 65536]);
}

#[test]
fn what_goes_nowhere_beside_a_direct_job_is_no_read_of_its_device() {
    let user = User::new();
    for idle in ["--ioengine=cpuio --cpuload=5", "--ioengine=null --rw=read --size=16T --bs=1m"] {
        let line = format!(
            "as fio --name=global --time_based --runtime=1 --name=r --filename=f --size=4m --rw=randread --direct=1 \
             --rate_iops=100 --name=idle {idle} --output-format=json"
        );
        let out = user.fathom(&line).done().json();
        assert!(out["jobs"][0]["read"]["total_ios"].as_u64().unwrap() > 50, "{idle}");
        let run = user.last();
        let findings = run["findings"].as_array().unwrap();
        let wrong = findings.iter().filter(|finding| finding["severity"] == "invalid");
        assert_eq!(wrong.count(), 0, "{idle}: {findings:?}");
    }
}

#[test]
fn a_status_interval_has_a_report_after_each_and_one_at_the_end() {
    let user = User::new();
    let line = "as fio --name=a --size=4m --rw=randread --rate_iops=100 --runtime=3 --time_based \
                --status-interval=1 --output-format=terse";
    let out = user.fathom(line).done().out;
    let moved: Vec<u64> = out.lines().map(|line| line.split(';').nth(5).unwrap().parse().unwrap()).collect();
    assert!(moved.len() >= 3 && moved.is_sorted_by(|one, next| one < next), "{out}");
    user.fathom(&format!("{line} --output=o.txt")).done();
    assert!(std::fs::read_to_string(user.path("o.txt")).unwrap().lines().count() >= 3);
    let once = line.replace("--status-interval=1", "");
    assert_eq!(user.fathom(&once).done().out.lines().count(), 1);
}

#[test]
fn a_report_has_the_units_that_kb_base_says_and_no_devices_where_none_are_wanted() {
    let user = User::new();
    let line = "as fio --kb_base=1000 --disk_util=0 --name=a --size=4m --bs=1m --rw=write";
    let out = user.fathom(line).done().out;
    for said in ["bs=(R) 1000kB-1000kB,", "MB/s (", "MiB/s)(4000kB/", "io=4000kB (3906KiB)"] {
        assert!(out.contains(said), "{said}: {out}");
    }
    assert!(!out.contains("Disk stats"), "{out}");
}

#[test]
fn a_file_of_zeros_is_written_without_consent_again_and_again_and_stays() {
    let user = User::new();
    let path = user.path("zeros.dat");
    std::fs::File::create(&path).unwrap().set_len(4 << 20).unwrap();
    let line = "as fio --name=a --filename=zeros.dat --rw=randwrite --bs=64k --size=4M --unlink=1";
    for _ in 0..2 {
        user.fathom(line).done();
        assert!(path.exists(), "Fathom has not made it");
    }
    // A plan of Fathom's own, too, and what it has written is still nobody else's.
    let plan = "[[phase]]\nrun = \"200ms\"\nreads = \"0%\"\ndirect = false\n";
    user.write("p.toml", plan);
    for _ in 0..2 {
        user.fathom("run p.toml --on zeros.dat").done();
    }
    user.fathom(line).done();
    // A later time alone makes it nobody's, a byte somebody's.
    let open = || std::fs::File::options().write(true).open(&path).unwrap();
    open().set_times(std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH)).unwrap();
    user.fathom(line).done();
    let file = open();
    std::os::unix::fs::FileExt::write_all_at(&file, b"x", 1 << 20).unwrap();
    drop(file);
    user.fathom(line).with(1).saying(&["a file that is not Fathom's own", "--destroy="]);
    user.fathom("run p.toml --on zeros.dat").with(3);
}
