//! What fio's reports count and in which order and units they tell it, and what its jobs say when they fail.

use serde_json::Value;

use crate::support::User;

fn job(user: &User, line: &str) -> Value {
    user.fathom(&format!("as fio --name=x --size=256k --bs=4k --output-format=json {line}")).done().json()
        ["jobs"][0]
        .clone()
}

#[test]
fn flushes_behind_the_last_request_are_not_counted() {
    let user = User::new();
    let syncs = |line: &str| job(&user, line)["sync"]["total_ios"].as_u64().unwrap();
    assert_eq!(syncs("--rw=write --end_fsync=1"), 0);
    assert_eq!(syncs("--rw=write --fsync_on_close=1"), 0);
    assert!(syncs("--rw=write --fsync=8") >= 7);
}

#[test]
fn a_job_of_less_than_a_millisecond_has_a_rate() {
    let user = User::new();
    let write = &job(&user, "--rw=write --number_ios=2")["write"];
    assert!(write["runtime"].as_u64().unwrap() >= 1 && write["iops"].as_f64().unwrap() > 0.0, "{write}");
}

#[test]
fn formats_come_in_fios_order_and_terse_lines_are_appended_to_the_text() {
    let user = User::new();
    let places = |formats: &str| {
        let out = user.fathom(&format!("as fio --name=x --size=64k --rw=read {formats}")).done().out;
        ["3;fio-", "{\n", "x: (groupid="].map(|word| out.find(word).map_or(0, |at| at + 1))
    };
    let [terse, json, text] = places("--append-terse");
    assert!(0 < terse && terse < text && json == 0, "{terse} {json} {text}");
    for formats in ["normal,json,terse", "terse,normal,json+"] {
        let [terse, json, text] = places(&format!("--output-format={formats}"));
        assert!(0 < terse && terse < json && json < text, "{formats}: {terse} {json} {text}");
    }
}

#[test]
fn jobs_that_are_told_as_one_have_the_options_of_the_last() {
    let user = User::new();
    let line = "as fio --group_reporting --size=64k --output-format=json --name=a --rw=read --bs=4k --name=b \
                --rw=randwrite --bs=8k";
    let report = user.fathom(line).done().json();
    let only = &report["jobs"][0];
    assert_eq!((only["jobname"].as_str(), report["jobs"].as_array().unwrap().len()), (Some("a"), 1));
    let options = &only["job options"];
    assert_eq!((options["rw"].as_str(), options["bs"].as_str()), (Some("randwrite"), Some("8k")));
}

#[test]
fn terse_lines_have_a_direction_where_all_are_one_and_two_fields_of_errors() {
    let user = User::new();
    let fields = |more: &str| {
        let line = format!("as fio --name=x --size=64k --rw=randrw --disk_util=0 --minimal {more}");
        user.fathom(&line).done().out.trim_end().split(';').count()
    };
    let plain = fields("");
    assert_eq!(fields("--unified_rw_reporting=1"), plain - 41);
    assert_eq!(fields("--continue_on_error=all"), plain + 2);
    assert_eq!(fields("--terse-version=5 --unified_rw_reporting=1"), fields("--terse-version=5") - 2 * 47);
}

#[test]
fn rates_are_told_in_bits_and_percentiles_of_submissions_where_they_are_asked_for() {
    let user = User::new();
    let out = user.fathom("as fio --name=x --size=1m --rw=read --unit_base=1").done().out;
    assert!(out.contains("bit/s (") && !out.contains("B/s") && out.contains("io=1024KiB"), "{out}");
    user.fathom("as fio --name=x --size=1m --unit_base=2").with(1).saying(&["1 for bits"]);
    let slat = |engine: &str| {
        let line = format!("--rw=read --slat_percentiles=1 --percentile_list=50:99 --ioengine={engine}");
        job(&user, &line)["read"]["slat_ns"]["percentile"].clone()
    };
    assert_eq!(slat("psync"), Value::Null);
    assert_eq!(slat("libaio").as_object().unwrap().len(), 2);
    user.fathom("as fio --name=x --size=64k --rw=read --write_lat_log=l").done();
    let lines = |name: &str| std::fs::read_to_string(user.path(name)).unwrap().lines().count();
    assert_eq!((lines("l_slat.1.log"), lines("l_clat.1.log")), (0, 16));
}

#[test]
fn a_stream_that_skips_moves_all_of_its_size() {
    let user = User::new();
    assert_eq!(job(&user, "--rw=read:12k")["read"]["total_ios"], 64);
    let log = "as fio --name=y --size=64k --bs=4k --rw=read:12k --write_iolog=log";
    user.fathom(log).done();
    let log = std::fs::read_to_string(user.path("log")).unwrap();
    // As fio names the file, so that the log can be carried elsewhere.
    let asked: Vec<&str> = log.lines().filter(|line| line.contains(" read ")).collect();
    assert!(asked[0].contains("y.0.0 read 0 4096"), "{log}");
    let ends =
        |offset: &str| asked.iter().filter(|line| line.ends_with(&format!("read {offset} 4096"))).count();
    assert_eq!(["0", "16384", "32768", "49152"].map(ends), [4; 4], "{log}");
    assert!(!log.contains(&user.path("y.0.0").display().to_string()), "{log}");
}

#[test]
fn jobs_that_fail_say_why_in_fios_words_and_their_number_is_the_exit_code() {
    let user = User::new();
    user.fathom("as fio --name=w --filename=f --size=64k --bs=4k --rw=write --verify=md5 --do_verify=0")
        .done();
    let mut content = std::fs::read(user.path("f")).unwrap();
    content[20_000] ^= 0xff;
    content[32_768..32_770].copy_from_slice(&[0x58, 0xac]);
    std::fs::write(user.path("f"), content).unwrap();
    let read = "as fio --filename=f --size=64k --bs=4k --rw=read --verify=md5 --name=a --numjobs=2";
    user.fathom(read).with(2).saying(&[
        "md5: verify failed at file f offset 16384, length 4096 (requested block: offset=16384, length=4096)",
        "verify: bad magic header ac58, wanted acca at file f offset 32768, length 4096",
    ]);
    user.fathom("as fio --name=s --size=64k --rw=read --max_latency=1us")
        .with(1)
        .saying(&["nsec exceeds specified max (1000 nsec): s.0.0 read"]);
}

#[test]
fn a_job_file_is_set_in_fios_words_and_a_size_that_means_another_thing_is_refused() {
    let user = User::new();
    user.write("mix.fio", "[mix]\nrw=read\nbs=4k\nsize=1m\nnumjobs=2\n");
    user.fathom("run mix.fio --set size=8m").with(2).saying(&["`size` is the request size here (fio: bs)"]);
    user.fathom("run mix.fio --set rw=randwrite --set ioengine=psync --set direct=0 --set bs=8k -q").done();
    let run = user.last();
    let one = &run["points"].as_array().unwrap().last().unwrap()["workloads"][0];
    assert_eq!(one["engine"]["name"], "pread", "{one}");
    assert_eq!(one["classes"][0]["op"], "write");
    assert_eq!(one["classes"][0]["size_bytes"], 8192);
    let text = user.fathom("show last --format fio-text").done().out;
    assert_eq!(text.matches("\nmix: (groupid=").count(), 2, "clones have their job's name: {text}");
    user.fathom("run mix.fio --runtime=2").with(2).saying(&["--set runtime=2s", "fathom as fio"]);
}

#[test]
fn fill_device_with_a_size_writes_that_and_files_of_a_range_of_sizes_are_streamed() {
    let user = User::new();
    user.fathom("as fio --name=f --size=1m --fill_device=1 --rw=write --bs=64k").done();
    assert_eq!(std::fs::metadata(user.path("f.0.0")).unwrap().len(), 1 << 20);
    user.fathom("as fio --name=s --nrfiles=4 --filesize=4k-64k --rw=write --bs=4k").done();
    let sizes: Vec<u64> =
        (0..4).map(|file| std::fs::metadata(user.path(&format!("s.0.{file}"))).unwrap().len()).collect();
    assert!(sizes.iter().all(|size| (4096..=65536).contains(size)), "{sizes:?}");
}
