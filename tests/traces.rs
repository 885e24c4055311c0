//! Traces, from outside: what a user names, what is asked, what is said about bad ones.

use std::fmt::Write;
use std::process::Command;

use serde_json::Value;

use crate::support::{User, lacks};

const PLAN: &str = "name = \"again\"\n\n[[phase]]\npattern = \"trace\"\ntrace   = \"t.csv\"\nseed    = 1\n";

/// Reads of 4 to 64 KiB and a write after each, within 8 MiB, `gap_us` after one another.
fn recorded(count: u64, gap_us: u64) -> String {
    let mut text = "at_us,op,offset_bytes,size_bytes\n".to_owned();
    for number in 0..count {
        let (op, size) = (if number % 2 == 0 { "read" } else { "write" }, 4096 << (number % 5));
        let offset = number * 7_919 % 1_900 * 4096;
        writeln!(text, "{},{op},{offset},{size}", number * gap_us).unwrap();
    }
    text
}

fn workload(run: &Value) -> &Value {
    &run["points"][0]["workloads"][0]
}

#[test]
fn a_trace_is_asked_alike_of_files_of_nothing_and_of_arrays() {
    let user = User::with_plan(PLAN);
    user.write("t.csv", recorded(500, 100));
    let run =
        |more: &str| user.fathom(&format!("run plan.toml --format json --no-save {more}")).done().json();
    let expected = workload(&run("--on null:"))["digests"].clone();
    assert!(expected.is_array());
    for more in [
        "--on .",
        "--on . --set direct=false --set engine=mmap",
        "--on . --set pace=trace --set depth=4",
        "--on array:queue",
        "--on array:md3000 --set depth=16",
        "--on array:md3000 --set pace=trace --set trace_speed=0.1",
        "--on array:md3000 --set pace=rate(200/s)",
    ] {
        let run = run(more);
        let found = workload(&run);
        assert_eq!(found["digests"], expected, "{more}");
        assert_eq!(found["completed"], 500, "{more}");
        let moved: u64 =
            found["totals"].as_array().unwrap().iter().map(|total| total["bytes"].as_u64().unwrap()).sum();
        assert_eq!(moved, 100 * (4096 + 8192 + 16_384 + 32_768 + 65_536), "{more}");
        assert_eq!(found["spec"]["trace"], "t.csv");
        assert!(found["spec"].get("size").is_none() && found["spec"].get("reads").is_none());
    }
    assert_eq!(user.files(), ["plan.toml", "t.csv"], "scratch files are gone");
}

/// An event of blktrace of a request that was queued, in the byte order of this machine.
fn event(at_ns: u64, sector: u64, bytes: u32, category: u32, processor: u32) -> Vec<u8> {
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
    let queued = 1 | 1 << 20 | category;
    let mut event = words(&[0x6561_7407, 1]);
    event.extend([at_ns, sector].iter().flat_map(|number| number.to_ne_bytes()));
    event.extend(words(&[bytes, queued, 697, 8 << 20 | 16, processor, 0]));
    event
}

#[test]
fn what_blktrace_has_recorded_is_read_from_the_files_of_all_processors() {
    let user = User::with_plan(&PLAN.replace("t.csv", "sdb.blktrace.1"));
    let (read, write) = (1 << 16, 1 << 17);
    let mut processors = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..200u64 {
        let (bytes, op) = (4096 << (number % 3), if number % 2 == 0 { read } else { write });
        let processor = (number % 2) as u32 * 2;
        let event = event(1_000_000 + number * 100_000, number * 7_919 % 1_900 * 8, bytes, op, processor);
        processors[processor as usize].extend(event);
    }
    for (number, bytes) in processors.iter().enumerate() {
        user.write(&format!("sdb.blktrace.{number}"), bytes);
    }
    let digests = |more: &str| {
        let run = user.fathom(&format!("run plan.toml --format json --no-save {more}")).done().json();
        assert_eq!(workload(&run)["completed"], 200, "{more}");
        workload(&run)["digests"].clone()
    };
    let expected = digests("--on null:");
    assert_eq!(digests("--on array:md3000 --set pace=trace --set depth=8"), expected);
    // By one of its files, or by the name that blktrace was told.
    assert_eq!(digests("--on null: --set trace=sdb"), expected);
    user.fathom("run plan.toml --on null: --no-save --set trace=sdc.blktrace.0")
        .with(2)
        .saying(&["sdc.blktrace.0: the trace cannot be read"]);
    let Ok(text) =
        Command::new("blkparse").args(["-i", "sdb", "-o", "sdb.txt"]).current_dir(user.path(".")).output()
    else {
        return lacks("blkparse", "needs blkparse, to make text of the same events");
    };
    assert!(text.status.success());
    assert_eq!(digests("--on null: --set trace=sdb.txt"), expected);
}

/// Operation, offset and length of each call that `strace` saw on a file whose path ends with `name`.
fn calls(seen: &str, name: &str) -> Vec<(String, u64, u64)> {
    let call = |line: &str| {
        let (before, result) = line.rsplit_once(") = ")?;
        let (head, arguments) = before.split_once('(')?;
        let op = match head.rsplit(' ').next()? {
            "pread64" => "read",
            "pwrite64" => "write",
            _ => return None,
        };
        let (file, _) = arguments.split_once('>')?;
        let offset = arguments.rsplit(", ").next()?.parse().ok()?;
        file.ends_with(name).then(|| (op.to_owned(), offset, result.trim().parse().unwrap_or(0)))
    };
    seen.lines().filter_map(call).collect()
}

#[test]
fn a_file_is_asked_for_the_requests_of_the_trace_in_their_order_and_for_nothing_else() {
    let user = User::with_plan(PLAN);
    let text = recorded(300, 100);
    user.write("t.csv", &text);
    // Laid out by a run before, which leaves it.
    let line = "run plan.toml --on . --keep --no-save --set engine=pread --format json";
    let expected = workload(&user.fathom(line).done().json())["digests"].clone();
    let before = user.files();
    let file = before.iter().find(|name| !["plan.toml", "t.csv"].contains(&name.as_str()));
    let file = file.unwrap_or_else(|| panic!("no scratch file in {before:?}"));
    let fathom = user.command(line);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-e", "trace=pread64,pwrite64", "-e", "write=none", "-o", "seen"]);
    traced.arg(fathom.get_program()).args(fathom.get_args()).current_dir(user.path(""));
    for (key, value) in fathom.get_envs() {
        match value {
            Some(value) => traced.env(key, value),
            None => traced.env_remove(key),
        };
    }
    let Some(output) = traced.output().ok().filter(|output| output.status.success()) else {
        return lacks("strace", "needs strace, and leave to use it");
    };
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(workload(&run)["digests"], expected);
    let request = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[1].to_owned(), fields[2].parse().unwrap(), fields[3].parse().unwrap())
    };
    let wanted: Vec<(String, u64, u64)> = text.lines().skip(1).map(request).collect();
    let asked = calls(&std::fs::read_to_string(user.path("seen")).unwrap(), file);
    // Behind the data lies the mark by which a scratch file is known.
    let reach = wanted.iter().map(|(_, offset, len)| offset + len).max().unwrap();
    let of_data: Vec<_> = asked.into_iter().filter(|(_, offset, _)| *offset < reach).collect();
    assert_eq!(of_data, wanted);
}

#[test]
fn the_same_requests_are_the_same_load_in_every_format() {
    let texts = [
        (
            "a.iolog",
            "fio version 2 iolog\nf add\nf open\nf read 4096 8192\nf wait 250\nf write 65536 512\nf close\n",
        ),
        ("b.iolog", "fio version 3 iolog\n10 f add\n20 f read 4096 8192\n270 f write 65536 512\n"),
        (
            "c.txt",
            "  8,0  1  1  0.000000000  7  Q   R 8 + 16 [x]\n  8,0  1  2  0.000100000  7  D   R 8 + 16 [x]\n  \
             8,0  1  3  0.000250000  7  Q  WS 128 + 1 [x]\n",
        ),
        (
            "d.csv",
            "128166372003061629,usr,0,Read,4096,8192,413\n128166372003064129,usr,0,Write,65536,512,77\n",
        ),
        ("e.csv", "at_us,op,offset_bytes,size_bytes\n0,read,4096,8192\n250,write,65536,512\n"),
    ];
    let user = User::with_plan(PLAN);
    let run = |name: &str| {
        let line = "run plan.toml --on array:md3000 --format json --no-save --set pace=trace --set trace=";
        let run = user.fathom(&format!("{line}{name}")).done().json();
        let its = |key: &str| workload(&run)[key].clone();
        (its("digests"), its("totals"), its("classes"))
    };
    for (name, text) in texts {
        user.write(name, text);
    }
    let expected = run("e.csv");
    for (name, _) in texts {
        assert_eq!(run(name), expected, "{name}");
    }
}

#[test]
fn a_response_counts_from_when_the_trace_asked() {
    let user = User::with_plan(PLAN);
    // A hundred requests at once, a request at a time: the last waits for all others.
    let mut text = "at_s,op,offset_bytes,size_bytes\n".to_owned();
    (0..100).for_each(|number| writeln!(text, "0,read,{},4096", number * 4096).unwrap());
    text += "1,read,0,4096\n";
    user.write("t.csv", text);
    let line = "run plan.toml --on array:md3000 --format json --no-save --set pace=trace";
    let run = user.fathom(line).done().json();
    let class = &workload(&run)["classes"][0];
    let of = |what: &str, figure: &str| {
        class[what][figure].as_f64().unwrap_or_else(|| panic!("no {what} {figure} in {class}"))
    };
    assert_eq!(of("response", "count"), 101.0);
    let (served, longest) = (of("service", "sum_ns"), of("response", "max_ns"));
    assert!(longest > 0.5 * served && longest < 1.01 * served, "{longest} ns of {served} ns for all");
    assert!(of("lag", "max_ns") > 0.5 * served);
}

#[test]
fn a_bad_trace_is_told_with_file_and_line_before_anything_is_touched() {
    let user = User::with_plan(PLAN);
    let cases = [
        (
            "at_s,op,offset_bytes,size_bytes\n0,read,0,512\n0,look,0,512\n",
            "t.csv:3: `look` is not an operation",
        ),
        ("nothing known\n", "t.csv:1: `nothing known` begins no trace"),
        ("op,offset_bytes,size_bytes\n", "t.csv:1: the trace ends without a request"),
        (
            "op,offset_bytes,size_bytes\nread,3,512\n",
            "t.csv, line 2: 512 bytes at 3 are no multiple of 512 B",
        ),
        ("op,offset_bytes,size_bytes,file\nread,0,512,a\nread,0,512,b\n", "line 3: `b` is one of 2 files"),
    ];
    for (text, said) in cases {
        user.write("t.csv", text);
        for target in [".", "array:queue"] {
            user.fathom(&format!("run plan.toml --on {target}")).with(2).saying(&[said]);
        }
    }
    assert_eq!(user.files(), ["plan.toml", "t.csv"]);
    user.write("t.csv", "op,offset_bytes,size_bytes\nread,0,512\nread,109951162777600,512\n");
    user.fathom("run plan.toml --on array:queue").with(2).saying(&["line 3:", "trace_fold = true"]);
    user.fathom("run plan.toml --on array:queue --set trace_fold=true").done();
    user.fathom("run plan.toml --on array:queue --set trace=none.txt")
        .with(2)
        .saying(&["none.txt: the trace cannot be read"]);
    user.fathom("run plan.toml --on array:queue --set trace=/dev/zero")
        .with(2)
        .saying(&["/dev/zero:1: a line of"]);
    user.write("t.csv", "op,offset_bytes,size_bytes\nread,0,512\nread,512,512\n");
    user.fathom("run plan.toml --on array:queue --set pace=trace").with(2).saying(&["nothing of time"]);
}

#[test]
fn what_blktrace_has_recorded_of_several_devices_is_merged_by_time_and_asked_as_one() {
    let user = User::new();
    let (read, write) = (1 << 16, 1 << 17);
    user.write("one", [event(100_000, 8, 4096, read, 0), event(300_000, 16, 4096, read, 0)].concat());
    user.write("two", [event(200_000, 80, 4096, write, 0), event(350_000, 88, 4096, write, 0)].concat());
    let merge = "as fio --name=m --read_iolog=one:two --merge_blktrace_file=merged";
    let merged = |more: &str| -> Vec<(u64, u64)> {
        user.fathom(&format!("{merge} --merge-blktrace-only {more}")).done();
        let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
        let bytes = std::fs::read(user.path("merged")).unwrap();
        bytes.chunks(48).map(|event| (number(&event[8..16]) / 1000, number(&event[16..24]))).collect()
    };
    assert_eq!(merged(""), [(100, 8), (200, 80), (300, 16), (350, 88)]);
    let more = "--merge_blktrace_scalars=50:100 --merge_blktrace_iters=2:1";
    assert_eq!(merged(more), [(50, 8), (150, 16), (200, 8), (200, 80), (300, 16), (350, 88)]);
    let asked = user
        .fathom(&format!("{merge} --replay_redirect=array:queue --output-format=json {more}"))
        .done()
        .json();
    let ios = |op: &str| asked["jobs"][0][op]["total_ios"].as_u64();
    assert_eq!((ios("read"), ios("write")), (Some(4), Some(2)));
    for (more, word) in
        [("--merge_blktrace_scalars=50", "for each trace"), ("--merge_blktrace_file=two", "is to be written")]
    {
        let said = user.fathom(&format!("{merge} {more} --merge-blktrace-only"));
        assert!(said.code == Some(1) && said.err.contains(word), "{more}: {}", said.err);
    }
    // The real one takes the merged trace for what it recorded; its own merge reads no event in version 3.33.
    user.write("f", vec![0; 1 << 20]);
    let line = "--name=a --read_iolog=merged --replay_redirect=f --replay_no_stall=1 --output-format=json --output=out";
    match Command::new("fio").args(line.split_whitespace()).current_dir(user.path("")).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => return lacks("fio", "needs fio, to ask a merged trace again"),
    }
    let theirs: Value = serde_json::from_str(&std::fs::read_to_string(user.path("out")).unwrap()).unwrap();
    assert_eq!(theirs["jobs"][0]["read"]["total_ios"], 4);
}

#[test]
fn what_fio_has_recorded_is_asked_again_by_a_plan_and_by_its_own_job_file() {
    let user = User::new();
    let line = "--name=a --filename=f --size=1m --bs=4k --rw=randrw --ioengine=psync --number_ios=50 \
                --write_iolog=log --output=out";
    let fio = Command::new("fio").args(line.split_whitespace()).current_dir(user.path("")).output();
    if !fio.is_ok_and(|output| output.status.success()) {
        return lacks("fio", "needs fio, to record a trace");
    }
    let log = std::fs::read_to_string(user.path("log")).unwrap();
    let asked = log.lines().filter(|line| line.contains(" read ") || line.contains(" write ")).count();
    assert!(asked >= 50, "{log}");
    let plan = "[[phase]]\npattern = \"trace\"\ntrace = \"log\"\ndirect = false\n";
    user.write("plan.toml", plan);
    let run = user.fathom("run plan.toml --on array:md3000 --format json --no-save").done().json();
    let ops = |run: &Value| -> u64 {
        let totals = workload(run)["totals"].as_array().unwrap();
        totals.iter().filter(|total| total["op"] != "flush").map(|total| total["ops"].as_u64().unwrap()).sum()
    };
    assert_eq!(ops(&run), asked as u64);
    user.write(
        "again.fio",
        "[again]\nread_iolog=log\niodepth=4\nioengine=libaio\ndirect=1\nreplay_time_scale=200\n",
    );
    let again = user.fathom("run again.fio --on array:md3000 --format json --no-save").done().json();
    assert_eq!(workload(&again)["digests"], workload(&run)["digests"]);
    assert_eq!(workload(&again)["spec"]["pace"], "trace");
    assert_eq!(workload(&again)["spec"]["trace_speed"], 2.0);
    let line =
        "as fio --name=a --read_iolog=log --replay_redirect=array:md3000 --direct=1 --output-format=json";
    let job = user.fathom(line).done().json()["jobs"][0].clone();
    let ios = |way: &str| job[way]["total_ios"].as_u64().unwrap();
    assert_eq!(ios("read") + ios("write"), asked as u64);
    user.write("none.fio", "[again]\nread_iolog=log\ndirect=1\nreplay_no_stall=1\nreplay_skip=write\n");
    let reads = user.fathom("run none.fio --on array:md3000 --format json --no-save").done().json();
    assert_eq!(workload(&reads)["spec"]["pace"], "closed");
    assert!(ops(&reads) < asked as u64 && ops(&reads) > 0);
}

/// The requests of a log of fio: time in microseconds, file, operation, offset and length.
fn issued(log: &str) -> Vec<(u64, String, String, u64, u64)> {
    let mut lines = log.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    let fields = lines.map(|line| line.split(' ').collect::<Vec<_>>()).filter(|fields| fields.len() == 5);
    fields
        .map(|line| {
            let number = |index: usize| line[index].parse().unwrap();
            (number(0), line[1].to_owned(), line[2].to_owned(), number(3), number(4))
        })
        .collect()
}

#[test]
fn what_is_issued_is_written_down_and_asked_again_alike() {
    let user = User::new();
    let line = "as fio --name=a --rw=randrw --bs=4k --size=4m --direct=1 --ioengine=libaio --iodepth=8 --fsync=10 \
                --write_iolog=log";
    for (target, file) in [("", "a.0.0"), ("--filename=array:md3000", "LUN_0")] {
        user.fathom(&format!("{line} {target}")).done();
        let run = user.last();
        let log = std::fs::read_to_string(user.path("log")).unwrap();
        let requests = issued(&log);
        assert_eq!(requests.len() as u64, workload(&run)["completed"].as_u64().unwrap(), "{target}");
        assert!(requests.is_sorted_by_key(|request| request.0), "in the order of issue");
        assert!(requests.iter().all(|request| request.1 == file), "{file}: {:?}", requests[0]);
        let count = |op: &str| requests.iter().filter(|request| request.2 == op).count() as u64;
        for total in workload(&run)["totals"].as_array().unwrap() {
            let op = total["op"].as_str().unwrap().replace("flush", "sync");
            assert_eq!(Some(count(&op)), total["ops"].as_u64(), "{op}");
        }
        assert!(count("sync") > 0 && log.ends_with(&format!("{file} close\n")));
        // The same requests, in the same order, of whatever is asked again.
        let again = "run again.toml --no-save --format json --on array:queue";
        user.write("again.toml", "[[phase]]\npattern = \"trace\"\ntrace = \"log\"\ndirect = false\n");
        let again = user.fathom(again).done().json();
        assert_eq!(workload(&again)["digests"], workload(&run)["digests"]);
    }
    // A job file says the same to `fathom run`, and to the plan it is converted to.
    user.write("job.fio", "[a]\nrw=randread\nsize=1m\ndirect=1\nfilename=array:md3000\nwrite_iolog=of.run\n");
    user.fathom("run job.fio -q").done();
    assert_eq!(issued(&std::fs::read_to_string(user.path("of.run")).unwrap()).len(), 256);
    assert!(user.fathom("plan convert job.fio").done().out.contains("iolog   = \"of.run\""));
}

#[test]
fn the_real_fio_asks_a_log_again() {
    let user = User::new();
    let line =
        "as fio --name=a --rw=randrw --bs=4k --size=1m --fdatasync=16 --write_iolog=log --output-format=json";
    let ours = user.fathom(line).done().json();
    let line = "--name=again --read_iolog=log --replay_no_stall=1 --output-format=json --output=out";
    match Command::new("fio").args(line.split_whitespace()).current_dir(user.path("")).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => return lacks("fio", "needs fio, to ask a log again"),
    }
    let theirs: Value = serde_json::from_str(&std::fs::read_to_string(user.path("out")).unwrap()).unwrap();
    for op in ["read", "write"] {
        let of = |out: &Value| out["jobs"][0][op]["total_ios"].clone();
        assert_eq!(of(&theirs), of(&ours), "{op}");
    }
}

#[test]
fn a_log_that_would_be_no_log_or_mixed_is_refused_before_anything_is_touched() {
    let user = User::new();
    user.write("mine", "something else");
    let line = "as fio --name=a --rw=randwrite --bs=4k --size=1m";
    user.fathom(&format!("{line} --write_iolog=mine"))
        .with(1)
        .saying(&["iolog mine", "is not an iolog of fio"]);
    user.fathom(&format!("{line} --write_iolog=no/log")).with(1).saying(&["there is no directory no"]);
    user.fathom(&format!("{line} --write_iolog=.")).with(1).saying(&["it is not a file"]);
    user.fathom(&format!("{line} --write_iolog=log --name=b --rw=read --size=1m --write_iolog=log"))
        .with(1)
        .saying(&["another job writes the same log"]);
    user.fathom("as fio --name=a --ioengine=filestat --nrfiles=3 --write_iolog=log")
        .with(1)
        .saying(&["this engine works on files"]);
    user.write("plan.toml", "[[phase]]\nrun = \"1s\"\niolog = \"log\"\n");
    user.fathom("run plan.toml --on array:queue --against array:md3000")
        .with(2)
        .saying(&["both sides would write the iolog log"]);
    assert_eq!(user.files(), ["mine", "plan.toml"]);
    assert_eq!(std::fs::read_to_string(user.path("mine")).unwrap(), "something else");
}
