//! `zonemode=zbd` of fio: zones of a file that are written in order.

use std::process::Command;

use units::convert::truncated;

use crate::support::{User, lacks};

const ZONES: &str = "--filename=f --size=16m --zonemode=zbd --zonesize=4m --bs=512k";

/// Operations, offsets and lengths of a log, the last two in units of 512 KiB.
fn asked(user: &User, log: &str) -> Vec<(String, f64, f64)> {
    let text = std::fs::read_to_string(user.path(log)).unwrap();
    let request = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, op, offset, len] = words[..] else { return None };
        let half = |bytes: &str| bytes.parse::<f64>().unwrap() / 524_288.0;
        Some((op.to_owned(), half(offset), half(len)))
    };
    text.lines().filter_map(request).collect()
}

/// What Fathom asks for, and how many zones it resets by its own word.
fn ours(user: &User, more: &str) -> (Vec<(String, f64, f64)>, u64) {
    for old in ["ours", "f"] {
        let _ = std::fs::remove_file(user.path(old));
    }
    let said = user.fathom(&format!("as fio --name=x {ZONES} --write_iolog=ours {more}")).done().out;
    let resets = said.split(" zone resets").next().and_then(|said| said.rsplit(' ').next());
    (asked(user, "ours"), resets.and_then(|resets| resets.parse().ok()).unwrap_or(0))
}

#[test]
fn streams_among_zones_ask_as_those_of_the_real_fio() {
    let user = User::new();
    for more in [
        "--rw=write",
        "--rw=write --loops=2",
        "--rw=write --zonecapacity=2560k",
        "--rw=write --zonecapacity=2560k --loops=2",
        "--rw=write --zoneskip=4m",
        "--rw=write --offset=1m",
        "--rw=write --offset=1z --size=2z",
        "--rw=write --max_open_zones=1",
        "--rw=read --read_beyond_wp=1",
        "--rw=read --read_beyond_wp=1 --zoneskip=4m",
    ] {
        let (own, resets) = ours(&user, more);
        // It makes no zones in a file that it would have to lay out.
        user.write("f", vec![0; 16 << 20]);
        // It adds to a log that is there.
        let _ = std::fs::remove_file(user.path("theirs"));
        let words = format!("--name=x {ZONES} --write_iolog=theirs {more}");
        let real = Command::new("fio").args(words.split(' ')).current_dir(user.path("")).output();
        let Ok(real) = real else {
            lacks("fio", "needs fio, to hold its requests against those of Fathom");
            return;
        };
        let said = String::from_utf8_lossy(&real.stdout).into_owned();
        assert_eq!(own, asked(&user, "theirs"), "{more}");
        if more.contains("write") {
            assert!(said.contains(&format!("; {resets} zone resets")), "{more}: {resets}, {said}");
        }
    }
}

#[test]
fn random_writes_keep_to_write_pointers_and_open_zones() {
    let user = User::new();
    for (more, open) in [("", 4), ("--max_open_zones=2", 2), ("--max_open_zones=3 --job_max_open_zones=1", 1)]
    {
        let (writes, resets) = ours(&user, &format!("--rw=randwrite --norandommap --io_size=64m {more}"));
        let mut written = [0.0; 4];
        let (mut most, mut started) = (0, 0);
        for (op, at, len) in &writes {
            let zone = truncated::<usize>(at / 8.0);
            assert_eq!(op, "write");
            let within = at - 8.0 * zone as f64;
            started += u64::from(within == 0.0 && written[zone] > 0.0);
            assert_eq!(within, written[zone] % 8.0, "{more}: {writes:?}");
            written[zone] = within + len;
            most = most.max(written.iter().filter(|written| ![0.0, 8.0].contains(*written)).count());
        }
        assert_eq!((writes.len(), most), (128, open), "{more}");
        assert_eq!(resets, started, "{more}");
        assert!(resets >= 12, "{more}: {resets}");
    }
}

#[test]
fn jobs_read_what_the_ones_before_have_written_of_each_zone() {
    let user = User::new();
    let write =
        "--name=w --filename=f --filesize=16m --zonemode=zbd --zonesize=4m --bs=512k --rw=write --io_size=6m";
    let read = "--name=r --stonewall --filename=f --size=16m --zonemode=zbd --zonesize=4m --bs=512k --write_iolog=ours";
    for rw in ["read", "randread"] {
        user.fathom(&format!("as fio {write} {read} --rw={rw}")).done();
        let reads = asked(&user, "ours");
        assert!(
            !reads.is_empty() && reads.iter().all(|(op, at, _)| op == "read" && *at < 12.0),
            "{rw}: {reads:?}"
        );
        assert_eq!(reads.len(), if rw == "read" { 12 } else { 32 }, "{rw}");
        std::fs::remove_file(user.path("ours")).unwrap();
    }
    let alone = user.fathom(&format!("as fio --name=r {ZONES} --rw=read"));
    assert_eq!(alone.code, Some(1));
    assert!(alone.err.contains("read_beyond_wp=1"), "{}", alone.err);
}

#[test]
fn what_is_written_in_zones_is_verified() {
    let user = User::new();
    let out = user
        .fathom(&format!(
            "as fio --name=x {ZONES} --rw=randwrite --norandommap --verify=crc32c --output-format=json"
        ))
        .done()
        .json();
    let bytes = |op: &str| out["jobs"][0][op]["io_bytes"].as_u64();
    assert_eq!((bytes("write"), bytes("read")), (Some(16 << 20), Some(16 << 20)));
}

#[test]
fn what_no_zones_can_do_is_refused_by_name() {
    let user = User::new();
    for (more, word) in [
        ("--rw=trim", "zone_reset_frequency"),
        ("--rw=rw", "rw=randrw"),
        ("--rw=write --bs=8m", "larger zonesize="),
        ("--rw=write --zonesize=0", "zonesize="),
        ("--rw=write --job_max_open_zones=1", "max_open_zones="),
        ("--rw=write --verify=crc32c --loops=2", "verified"),
        ("--rw=randwrite:8", "modifier"),
    ] {
        let said = user.fathom(&format!("as fio --name=x {ZONES} {more}"));
        assert_eq!(said.code, Some(1), "{more}");
        assert!(said.err.contains(word), "{more}: {}", said.err);
    }
}
