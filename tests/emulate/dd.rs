//! dd, on files that it makes, on files that are there, and on a virtual array.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::original;
use crate::support::{Ended, User, lacks, skipped, wait_until};

/// What a reader of dd's output takes from it.
#[derive(Debug)]
struct Results {
    records_in: (u64, u64),
    records_out: (u64, u64),
    bytes: u64,
    sizes: String,
    seconds: f64,
    rate: f64,
}

impl Results {
    /// Reads the last three lines, as scripts do with `tail -n 3`.
    fn read(err: &str) -> Results {
        let lines: Vec<&str> = err.lines().filter(|line| !line.starts_with("fathom:")).collect();
        let [records_in, records_out, transfer] = lines[lines.len() - 3..] else { unreachable!() };
        let records = |line: &str, what: &str| {
            let (full, part) = line.strip_suffix(what).unwrap().split_once('+').unwrap();
            (full.parse().unwrap(), part.parse().unwrap())
        };
        let (amount, rest) = transfer.split_once(" copied, ").unwrap();
        let (bytes, sizes) = amount.split_once(" bytes").unwrap();
        let (seconds, rate) = rest.split_once(" s, ").unwrap();
        let (rate, unit) = rate.split_once(' ').unwrap();
        let factor = match unit {
            "kB/s" => 1e3,
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            "TB/s" => 1e12,
            _ => panic!("{unit}"),
        };
        Results {
            records_in: records(records_in, " records in"),
            records_out: records(records_out, " records out"),
            bytes: bytes.parse().unwrap(),
            sizes: sizes.into(),
            seconds: seconds.parse().unwrap(),
            rate: rate.parse::<f64>().unwrap() * factor,
        }
    }
}

fn agrees_with_the_record(run: &Value, ended: &Ended) -> Results {
    let results = Results::read(&ended.err);
    let (mut bytes, mut elapsed_ns) = (0, 0);
    for point in run["points"].as_array().unwrap() {
        let workload = &point["workloads"][0];
        elapsed_ns += workload["measured_ns"].as_u64().unwrap();
        for class in workload["classes"].as_array().unwrap() {
            bytes += class["bytes"].as_u64().unwrap();
        }
    }
    assert_eq!(results.bytes, bytes);
    let seconds = elapsed_ns as f64 / 1e9;
    assert!((results.seconds / seconds - 1.0).abs() < 1e-5, "{} {seconds}", results.seconds);
    assert!((results.rate / (bytes as f64 / seconds) - 1.0).abs() < 0.06, "{}", results.rate);
    results
}

#[test]
fn dd_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let ended = user.fathom("as dd if=array:md3000 of=/dev/null bs=1M count=1000 iflag=direct").done();
    assert_eq!(ended.out, "");
    let results = agrees_with_the_record(&user.last(), &ended);
    assert_eq!((results.records_in, results.records_out), ((1000, 0), (1000, 0)));
    assert_eq!(results.sizes, " (1.0 GB, 1000 MiB)");
    assert_eq!(ended.err.lines().count(), 3);

    let ended = user.fathom("as dd if=/dev/zero of=array:md3000 bs=192k count=77 conv=fdatasync").done();
    assert_eq!(agrees_with_the_record(&user.last(), &ended).records_out, (77, 0));
}

#[test]
fn a_new_file_is_left_behind_with_what_was_written_to_it_and_may_be_written_again() {
    let user = User::new();
    let ended = user.fathom("as dd if=/dev/zero of=zeros bs=64k count=17 conv=fsync").done();
    assert_eq!(fs::read(user.path("zeros")).unwrap(), vec![0u8; 17 << 16]);
    let results = agrees_with_the_record(&user.last(), &ended);
    assert_eq!((results.records_in, results.records_out, results.bytes), ((17, 0), (17, 0), 17 << 16));
    assert_eq!(user.last()["points"][0]["workloads"][0]["spec"]["flush_at_end"], true);

    user.fathom("as dd if=/dev/urandom of=noise bs=4k count=3 oflag=direct").done();
    let noise = fs::read(user.path("noise")).unwrap();
    assert_eq!(noise.len(), 12 << 10);
    assert!(noise.chunks(4096).all(|block| block.iter().filter(|byte| **byte == 0).count() < 100));

    // Its own file, as it left it: cut and written again, without anybody's consent.
    user.fathom("as dd if=/dev/zero of=noise bs=4k count=1 seek=1").done();
    let cut = fs::read(user.path("noise")).unwrap();
    assert_eq!((&cut[..4096], &cut[4096..]), (&noise[..4096], &[0u8; 4096][..]));
    user.fathom("as dd if=/dev/urandom of=noise bs=4k count=1 conv=notrunc").done();
    assert_eq!(fs::read(user.path("noise")).unwrap().len(), 8 << 10);
    user.fathom("as dd if=noise of=/dev/null bs=3000").done();
    assert_eq!(user.last()["points"].as_array().unwrap().len(), 2, "whole blocks, and the last one");
}

#[test]
fn a_file_of_the_user_is_written_with_consent_alone() {
    let user = User::new();
    let precious = user.write("precious", vec![7u8; 40_000]);
    user.fathom("as dd if=/dev/zero of=precious bs=4k count=1").with(3).saying(&["precious", "consent"]);
    assert_eq!(fs::read(&precious).unwrap(), vec![7u8; 40_000]);

    let consented =
        format!("as --destroy {} dd if=/dev/zero of=precious bs=4k count=2 seek=1", precious.display());
    user.fathom(&format!("{consented} conv=notrunc")).done();
    let mut expected = vec![7u8; 40_000];
    expected[4096..3 * 4096].fill(0);
    assert_eq!(fs::read(&precious).unwrap(), expected);
    user.fathom(&consented).done();
    assert_eq!(fs::read(&precious).unwrap(), expected[..3 * 4096]);
    user.fathom("as dd if=/dev/zero of=precious bs=4k count=1").with(3);

    // A file that dd made is the user's own once somebody has written to it.
    user.fathom("as dd if=/dev/zero of=made bs=4k count=1").done();
    fs::write(user.path("made"), "a letter").unwrap();
    user.fathom("as dd if=/dev/zero of=made bs=4k count=1").with(3);
    assert_eq!(fs::read(user.path("made")).unwrap(), b"a letter");
}

#[test]
fn a_last_block_that_is_shorter_is_a_partial_record() {
    let user = User::new();
    user.write("odd", vec![7u8; 2_500_001]);
    let ended = user.fathom("as dd if=odd of=/dev/null bs=1M").done();
    let results = agrees_with_the_record(&user.last(), &ended);
    assert_eq!((results.records_in, results.records_out), ((2, 1), (2, 1)));
    assert_eq!((results.bytes, results.sizes.as_str()), (2_500_001, " (2.5 MB, 2.4 MiB)"));

    let ended = user.fathom("as dd if=odd of=/dev/null ibs=1000 obs=4096 skip=2000 output=old").done();
    let results = agrees_with_the_record(&user.last(), &ended);
    assert_eq!((results.records_in, results.records_out), ((500, 1), (122, 1)));
    assert_eq!((results.bytes, results.sizes.as_str()), (500_001, " (500 kB)"));
}

#[test]
fn status_says_how_much_is_printed() {
    let user = User::new();
    let err =
        |line: &str| user.fathom(&format!("as dd if=array:md3000 of=/dev/null bs=1M {line}")).done().err;
    assert_eq!(err("count=5 status=none"), "");
    assert_eq!(err("count=5 status=noxfer"), "5+0 records in\n5+0 records out\n");
    let progress = err("count=5000 status=progress");
    let (first, rest) = progress.strip_prefix('\r').unwrap().split_once('\r').unwrap();
    assert!(first.contains(" copied, 1 s, ") && first.contains("iB)"), "{first}");
    assert!(rest.trim_end().lines().count() == 4, "{rest}");
}

#[test]
fn the_end_of_the_storage_is_told_as_dd_tells_it() {
    let user = User::new();
    user.fathom("as dd if=array:ix2-200 of=/dev/null bs=1M count=1").done();
    let size = user.last()["targets"][0]["size_bytes"].as_u64().unwrap();
    let (block, last) = (1_000_000, size / 1_000_000);
    let line = format!("as dd if=/dev/zero of=array:ix2-200 bs=1MB seek={}", last - 3);
    let ended =
        user.fathom(&line).with(5).saying(&["dd: error writing 'array:ix2-200': No space left on device"]);
    let results = Results::read(&ended.err);
    assert_eq!((results.records_in, results.records_out), ((4, 0), (3, 0)));
    assert_eq!(results.bytes, size - (last - 3) * block);
    user.fathom("as dd if=/dev/zero of=endless bs=1M").with(2).saying(&["count="]);
    user.fathom("as dd if=missing of=/dev/null").with(2).saying(&["missing", "no such file"]);
    user.fathom("as dd if=/dev/zero of=missing bs=1M count=1 conv=nocreat").with(2);
    assert!(!user.files().iter().any(|name| name == "endless" || name == "missing"));
}

#[test]
fn a_signal_prints_the_statistics_and_an_interrupt_ends_with_them() {
    let user = User::new();
    let mut dd = user.start("as dd if=/dev/zero of=big bs=4k count=100000 oflag=dsync");
    let length = || fs::metadata(user.path("big")).map_or(0, |stat| stat.len());
    wait_until("it writes", || length() > 0);
    dd.signal(Signal::USR1);
    dd.wait_for(" copied, ");
    dd.signal(Signal::INT);
    let ended = dd.end().with(130);
    let results = agrees_with_the_record(&user.last(), &ended);
    assert_eq!((results.bytes, results.records_out), (length(), (length() >> 12, 0)));
    assert_eq!(ended.err.matches("records out").count(), 2, "{}", ended.err);
}

#[test]
fn what_dd_does_beside_measuring_is_refused_by_name() {
    let user = User::new();
    for (line, words) in [
        ("if=here of=there", ["copying here to there", "of=/dev/null"]),
        ("if=/dev/zero of=new count=1 conv=ucase", ["conv=ucase", "not supported"]),
        ("if=/dev/zero of=new count=1 oflag=drect", ["drect", "did you mean `direct`"]),
        ("if=/dev/zero of=new count=some", ["count", "some"]),
    ] {
        user.fathom(&format!("as dd {line}")).with(2).saying(&words);
    }
    assert!(user.files().is_empty());
}

#[test]
fn any_run_can_be_written_as_dd_prints_it() {
    let user = User::new();
    user.fathom("as seeker array:md3000").done();
    let ended = user.fathom("show last --format dd").done();
    let class = &user.last()["points"][0]["workloads"][0]["classes"][0];
    let results = Results::read(&ended.out);
    assert_eq!(results.records_in, (class["ops"].as_u64().unwrap(), 0));
}

/// What dd printed, with the seconds and the rate as `#`.
fn lines(err: &str) -> Vec<String> {
    let line = |line: &str| match line.split_once(" copied, ") {
        Some((amount, rest)) => {
            let (seconds, rate) = rest.split_once(" s, ").unwrap();
            assert!(seconds.parse::<f64>().is_ok(), "{line}");
            let (figure, unit) = rate.split_once(' ').unwrap();
            assert!(figure.parse::<f64>().is_ok() && unit.ends_with("B/s"), "{line}");
            format!("{amount} copied, # s, # B/s")
        }
        None => line.to_owned(),
    };
    err.lines().filter(|line| !line.starts_with("fathom:")).map(line).collect()
}

#[test]
fn every_line_is_that_of_the_dd_which_is_installed() {
    let user = User::new();
    user.write("file", vec![7u8; 2_500_001]);
    for line in [
        "if=file of=/dev/null bs=1M",
        "if=file of=/dev/null bs=1000 count=7 skip=3",
        "if=file of=/dev/null bs=1 count=1",
        "if=file of=/dev/null bs=100 count=5",
        "if=file of=/dev/null bs=100 count=10",
        "if=file of=/dev/null bs=1023 count=1",
        "if=file of=/dev/null bs=1024 count=1",
        "if=file of=/dev/null bs=50K count=2 status=noxfer",
        "if=file of=/dev/null bs=50K count=2 status=none",
        "if=file of=/dev/null ibs=1000 obs=4096",
        "if=file of=/dev/null bs=10kB count=100kB iflag=count_bytes",
        "if=/dev/zero of=OUT bs=64k count=17 conv=fsync",
        "if=/dev/zero of=OUT bs=1M count=10 conv=fdatasync",
        "if=/dev/zero of=OUT bs=4k count=3 oflag=dsync",
    ] {
        let ours = user.fathom(&format!("as dd {}", line.replace("OUT", "ours"))).done();
        let theirs: Vec<String> = line.replace("OUT", "theirs").split(' ').map(str::to_owned).collect();
        let theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
        let Some([out, err]) = original(&user, "dd", &theirs) else {
            return lacks("dd", "needs dd, to print beside it");
        };
        if !err.is_empty() && !err.contains("records in") || err.contains("bytes transferred") {
            return skipped("the dd that is installed is not that of GNU");
        }
        assert_eq!((lines(&ours.err), ours.out.as_str()), (lines(&err), out.as_str()), "{line}");
        // Before 8.25 the size in SI units stands alone, and always.
        let old = user.fathom(&format!("as dd {} output=old", line.replace("OUT", "ours"))).done();
        let without_iec = |line: String| match line.split_once("iB)") {
            Some((before, after)) => format!("{}){after}", before.rsplit_once(", ").unwrap().0),
            None => line,
        };
        let always = |line: String| match line.split_once(" copied, ") {
            Some((amount, after)) if !amount.ends_with(')') => {
                format!("{amount} ({} B) copied, {after}", amount.split(' ').next().unwrap())
            }
            _ => line,
        };
        let expected: Vec<String> = lines(&err).into_iter().map(without_iec).map(always).collect();
        assert_eq!(lines(&old.err), expected, "{line} output=old");
    }
    assert_eq!(fs::read(user.path("ours")).unwrap(), fs::read(user.path("theirs")).unwrap());
}

#[test]
fn a_count_of_nothing_moves_nothing_and_makes_the_file() {
    let user = User::new();
    let ended = user.fathom("as dd if=/dev/zero of=made bs=4k count=0 seek=3").done();
    assert!(ended.err.contains("0+0 records in\n0+0 records out\n0 bytes copied"), "{}", ended.err);
    assert_eq!(fs::metadata(user.path("made")).unwrap().len(), 12_288);
    user.write("kept", "data");
    let refused = user.fathom("as dd if=/dev/zero of=kept count=0");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert_eq!(fs::read(user.path("kept")).unwrap(), b"data");
    user.fathom("as dd if=/dev/zero of=kept count=0 conv=notrunc").done();
}

#[test]
fn help_and_version_are_answered_on_stdout() {
    let user = User::new();
    for line in [
        "dd --version",
        "dd --help",
        "hdparm -V",
        "iozone -h",
        "iozone -v",
        "bonnie++ -h",
        "diskspd -?",
        "sqlio -?",
    ] {
        let ended = user.fathom(&format!("as {line}")).done();
        assert!(!ended.out.is_empty() && ended.err.is_empty(), "{line}: {}", ended.err);
    }
}
