//! What `fathom as fio` writes, and that it is what is read.

use std::process::Command;

use serde_json::Value;

use crate::support::{Loop, Running, User, lacks, skipped, wait_until};

#[test]
fn data_that_was_changed_behind_a_jobs_back_is_error_84() {
    let user = User::new();
    let line = "as fio --name=a --rw=write --bs=4k --size=1m --verify=crc32c";
    let out = user.fathom(&format!("{line} --output-format=json")).done().json();
    assert_eq!((&out["jobs"][0]["error"], &out["jobs"][0]["read"]["total_ios"]), (&0.into(), &256.into()));
    // One byte of the tenth block, behind the page cache's back.
    let file = std::fs::File::options().write(true).open(user.path("a.0.0")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"x", 10 * 4096 + 77).unwrap();
    file.sync_all().unwrap();
    let ended = user.fathom(&format!("{line} --verify_only=1 --output-format=json"));
    let out = ended.with(1).json();
    assert_eq!(out["jobs"][0]["error"], 84);
    assert_eq!(out["jobs"][0]["write"]["total_ios"], 0);
    let text = user.fathom(&format!("{line} --verify_only=1")).with(1).out;
    assert!(text.contains("err=84 (error=Invalid or incomplete multibyte or wide character)"), "{text}");
}

#[test]
fn a_backlog_is_checked_while_the_job_writes_and_a_pattern_is_what_is_read() {
    let user = User::new();
    let line = "as fio --name=a --rw=randwrite --bs=4k --size=1m --output-format=json";
    let out = user.fathom(&format!("{line} --verify=md5 --verify_backlog=32")).done().json();
    let ios = |out: &Value, op: &str| out["jobs"][0][op]["total_ios"].as_u64().unwrap();
    assert_eq!((ios(&out, "write"), ios(&out, "read")), (256, 256));
    assert_eq!(user.last()["points"][0]["workloads"][0]["verified"]["checked_bytes"], 1 << 20);
    let line = format!("{line} --verify=pattern --verify_pattern=0xdeadface");
    user.fathom(&line).done();
    let written = std::fs::read(user.path("a.0.0")).unwrap();
    assert!(written[..1 << 20].chunks_exact(4).all(|bytes| bytes == [0xde, 0xad, 0xfa, 0xce]));
}

#[test]
fn what_was_written_sets_out_after_so_many_writes_and_is_not_waited_for() {
    let user = User::new();
    let syncs = |more: &str| {
        let line = format!("as fio --name=a --rw=write --bs=64k --size=16m --output-format=json {more}");
        let out = user.fathom(&line).done().json();
        let sync = &out["jobs"][0]["sync"];
        (sync["total_ios"].as_u64().unwrap(), sync["lat_ns"]["mean"].as_f64().unwrap())
    };
    let (count, _) = syncs("--sync_file_range=write:8");
    // Of 256 writes; none after the last.
    assert_eq!(count, 31);
    assert_eq!(user.last()["points"][0]["workloads"][0]["spec"]["flush"], "sync_file_range");
    let array = "--filename=array:queue";
    let (waits, sets_out) =
        (syncs(&format!("{array} --fdatasync=8")), syncs(&format!("{array} --sync_file_range=write:8")));
    assert_eq!((waits.0, sets_out.0), (31, 31));
    assert!(sets_out.1 < waits.1 / 2.0, "{sets_out:?} {waits:?}");
}

/// What fio says of a file: whether it went well.
fn real_fio(user: &User, words: &str) -> Option<bool> {
    let output =
        Command::new("fio").args(words.split_whitespace()).current_dir(user.path("")).output().ok()?;
    Some(output.status.success())
}

#[test]
fn fio_verifies_what_fathom_has_stamped_and_the_other_way_round() {
    let user = User::new();
    if real_fio(&user, "--version").is_none() {
        lacks("fio", "needs fio, to verify what it wrote");
        return;
    }
    let kinds = [
        "crc32c", "md5", "sha256", "sha512", "sha1", "sha3-256", "xxhash", "crc64", "crc32", "crc16", "crc7",
        "meta",
    ];
    for (kind, more) in kinds.iter().zip(["", "--verify_interval=512", "--verify_offset=200"].iter().cycle())
    {
        let file = format!("--bs=4k --size=64k --verify={kind} {more}");
        let theirs = format!("--name=theirs --filename=theirs {file}");
        assert_eq!(real_fio(&user, &format!("{theirs} --rw=randwrite --do_verify=0")), Some(true), "{kind}");
        user.fathom(&format!("as fio {theirs} --rw=read")).done();
        user.fathom(&format!("as fio {theirs} --rw=randwrite --verify_only=1")).done();
        std::fs::remove_file(user.path("theirs")).unwrap();
        let ours = format!("--name=ours --filename=ours {file}");
        user.fathom(&format!("as fio {ours} --rw=randwrite")).done();
        assert_eq!(std::fs::metadata(user.path("ours")).unwrap().len(), 64 << 10, "as large as fio's");
        for how in ["--rw=read", "--rw=randwrite --verify_only=1"] {
            assert_eq!(real_fio(&user, &format!("{ours} {how}")), Some(true), "{kind} {more} {how}");
        }
        std::fs::remove_file(user.path("ours")).unwrap();
    }
}

#[test]
fn of_a_mix_of_reads_and_writes_what_was_written_alone_is_verified_now_and_later() {
    let user = User::new();
    for rw in ["rw", "randrw", "randrw --bssplit=4k/50:16k/50"] {
        let line = format!("as fio --name=a --rw={rw} --size=4m --verify=crc32c --output-format=json");
        let out = user.fathom(&line).done().json();
        let bytes = |op: &str| out["jobs"][0][op]["io_bytes"].as_u64().unwrap();
        // The reads of the job, and those of all that it wrote.
        assert_eq!(bytes("read"), 4 << 20, "{rw}");
        let only = user.fathom(&format!("{line} --verify_only=1")).done().json();
        assert_eq!(only["jobs"][0]["read"]["io_bytes"].as_u64(), Some(bytes("write")), "{rw}");
        std::fs::remove_file(user.path("a.0.0")).unwrap();
    }
}

#[test]
fn requests_of_several_sizes_cover_all_of_a_file() {
    let user = User::new();
    let line =
        "as fio --name=a --rw=randwrite --bssplit=4k/50:64k/50 --size=8m --log_offset=1 --write_bw_log=w";
    user.fathom(line).done();
    let log = std::fs::read_to_string(user.path("w_bw.1.log")).unwrap();
    let mut blocks = vec![0; 2048];
    for line in log.lines() {
        let fields: Vec<usize> = line.split(", ").map(|field| field.parse().unwrap()).collect();
        for visits in &mut blocks[fields[4] / 4096..(fields[4] + fields[3]) / 4096] {
            *visits += 1;
        }
    }
    assert!(blocks.iter().all(|visits| *visits == 1));
}

#[test]
fn a_log_that_is_stored_compressed_is_printed_alike_here_and_by_fio_before_3_38() {
    let user = User::new();
    let line = "as fio --name=a --rw=randrw --size=8m --bs=4k --log_offset=1 --write_lat_log=w --write_iops_log=s \
                --log_avg_msec=0 --log_store_compressed=1 --log_compression=10k";
    user.fathom(line).done();
    let stored = std::fs::read(user.path("w_clat.1.log.fz")).unwrap();
    let lines = user.fathom("as fio --inflate-log=w_clat.1.log.fz").done().out;
    assert_eq!(lines.lines().count(), 2048);
    assert!(stored.len() < lines.len() / 2, "{} of {} bytes", stored.len(), lines.len());
    let mut places: Vec<u64> =
        lines.lines().map(|line| line.split(", ").nth(4).unwrap().parse().unwrap()).collect();
    places.sort_unstable();
    assert!(places.iter().copied().eq((0..2048).map(|block| block * 4096)), "{places:?}");
    user.fathom("as fio --inflate-log=missing").with(1).saying(&["printing the log missing"]);
    let real = |arguments: &[&str]| Command::new("fio").args(arguments).current_dir(user.path("")).output();
    let Ok(version) = real(&["--version"]) else {
        return lacks("fio", "needs fio, to print what was stored");
    };
    let version = String::from_utf8(version.stdout).unwrap();
    let minor = version.trim().strip_prefix("fio-3.").and_then(|minor| minor.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor >= 38) {
        return skipped(&format!("{} has another layout of what it stores", version.trim()));
    }
    let theirs = real(&["--inflate-log=w_clat.1.log.fz"]).unwrap();
    assert_eq!(String::from_utf8(theirs.stdout).unwrap(), lines);
}

#[test]
fn a_scheduler_is_set_for_the_job_and_put_back_behind_it() {
    let user = User::new();
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    let scheduler =
        || std::fs::read_to_string(format!("/sys/block/{}/queue/scheduler", device.name())).unwrap();
    let before = scheduler();
    if before.contains("[mq-deadline]") || !before.contains("mq-deadline") {
        return skipped("loop devices here have no other scheduler to be set to");
    }
    let line = format!(
        "as fio --name=a --rw=randread --size=4m --filename={} --runtime=2 --time_based",
        device.node
    );
    let running = Running::of(&mut user.command(&format!("{line} --ioscheduler=deadline")));
    wait_until("the scheduler is set", || scheduler().contains("[mq-deadline]"));
    running.end().with(0);
    assert_eq!(scheduler(), before);
    user.fathom(&format!("{line} --ioscheduler=fastest"))
        .with(1)
        .saying(&["the device can have", "mq-deadline"]);
    user.fathom("as fio --name=a --rw=read --size=1m --filename=array:md3000 --ioscheduler=none").done();
    let two = format!(
        "{line} --ioscheduler=none --name=b --rw=read --size=4m --filename={} --ioscheduler=bfq",
        device.node
    );
    user.fathom(&two).with(1).saying(&["a job beside it has ioscheduler=none"]);
}

#[test]
fn a_part_of_direct_requests_is_polled_for() {
    let user = User::new();
    let line = "as fio --name=a --rw=randread --bs=4k --size=1m --ioengine=pvsync2 --direct=1 --hipri";
    for part in ["--hipri_percentage=30", ""] {
        user.fathom(&format!("{line} {part} --output-format=json")).done();
        let polled = user.last()["points"][0]["workloads"][0]["spec"]["polled"].clone();
        assert_eq!(polled, if part.is_empty() { "100%" } else { "30%" });
    }
    user.fathom(&format!("{line} --ioengine=psync")).with(1).saying(&["pvsync2"]);
}

#[test]
fn an_untorn_write_is_refused_where_the_file_takes_none_and_says_why() {
    let user = User::new();
    let line = "as fio --name=a --rw=randwrite --bs=4k --size=1m --ioengine=libaio --direct=1 --atomic=1";
    let ended = user.fathom(&format!("{line} --output-format=json"));
    if ended.code == Some(0) {
        assert!(largest_untorn(&user) > 0, "no device below takes an untorn write");
        assert_eq!(ended.json()["jobs"][0]["write"]["total_ios"], 256);
        let last = user.last();
        let points = last["points"].as_array().unwrap();
        assert_eq!(points.last().unwrap()["workloads"][0]["spec"]["atomic"], true);
        return;
    }
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(
        ended.err.contains("atomic was refused: ") && ended.err.contains("untorn writes"),
        "{}",
        ended.err
    );
}

/// The largest untorn write of the disk below the user's files, as the system tells it; 0 where it takes none, or where no
/// disk is below.
fn largest_untorn(user: &User) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let device = std::fs::metadata(user.path("")).unwrap().dev();
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    let of = |below: &str| {
        let file = format!("/sys/dev/block/{major}:{minor}/{below}queue/atomic_write_unit_max_bytes");
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    of("").or_else(|| of("../")).unwrap_or(0)
}
