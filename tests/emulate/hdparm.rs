//! hdparm, on a file, on a loop device and on a virtual array; and the read-ahead that its figures depend on.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use super::{masked, original};
use crate::support::{Ended, Loop, User, lacks, wait_until};

/// One line of hdparm's output.
#[derive(Debug)]
struct Timing {
    label: String,
    mib: u64,
    seconds: f64,
    rate: f64,
}

/// Reads devices and their timings, as scripts do.
fn read(out: &str) -> Vec<(String, Vec<Timing>)> {
    let mut devices: Vec<(String, Vec<Timing>)> = Vec::new();
    for line in out.lines() {
        match line.strip_prefix(" Timing ") {
            None if line.is_empty() => {}
            None => devices.push((line.strip_suffix(':').unwrap().into(), Vec::new())),
            Some(timing) => {
                let (label, figures) = timing.split_once(": ").unwrap();
                let words: Vec<&str> = figures.split_whitespace().collect();
                assert_eq!(
                    (words[1], words[2], words[4], words[5], words[7]),
                    ("MB", "in", "seconds", "=", "MB/sec")
                );
                devices.last_mut().unwrap().1.push(Timing {
                    label: label.into(),
                    mib: words[0].parse().unwrap(),
                    seconds: words[3].parse().unwrap(),
                    rate: words[6].parse().unwrap(),
                });
            }
        }
    }
    devices
}

fn agrees_with_the_record(timing: &Timing, run: &Value, phase: &str) {
    let points = run["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["name"] == phase).unwrap();
    let workload = &point["workloads"][0];
    let bytes = workload["classes"][0]["bytes"].as_u64().unwrap();
    let seconds = workload["measured_ns"].as_u64().unwrap() as f64 / 1e9;
    assert_eq!(workload["classes"][0]["size_bytes"], 2 << 20);
    assert_eq!(timing.mib, bytes >> 20);
    assert!((timing.seconds - seconds).abs() <= 0.005_001, "{timing:?} {seconds}");
    assert!((timing.rate - (bytes >> 20) as f64 / seconds).abs() <= 0.005_001, "{timing:?} {seconds}");
}

#[test]
fn hdparm_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let ended = user.fathom("as hdparm -tT array:md3000").done();
    let (run, devices) = (user.last(), read(&ended.out));
    let (name, timings) = &devices[0];
    assert_eq!((devices.len(), name.as_str()), (1, "array:md3000"));
    assert_eq!(
        timings.iter().map(|timing| timing.label.as_str()).collect::<Vec<_>>(),
        ["cached reads", "buffered disk reads"]
    );
    agrees_with_the_record(&timings[0], &run, "cached reads");
    agrees_with_the_record(&timings[1], &run, "disk reads");
    assert_eq!((timings[0].seconds, timings[1].seconds), (2.0, 3.0));
    assert!(ended.out.starts_with("\narray:md3000:\n Timing cached reads:   "), "{}", ended.out);
    assert!(ended.out.contains("\n Timing buffered disk reads: "), "{}", ended.out);
    // Written by any run that has such points, to the byte.
    assert_eq!(user.fathom("show last --format hdparm").done().out, ended.out);
}

#[test]
fn hdparm_prints_what_the_record_of_a_real_file_holds() {
    let user = User::new();
    user.write("disk", vec![7u8; 9 << 20]);
    let ended = user.fathom("as hdparm -t --direct disk").done();
    let devices = read(&ended.out);
    assert_eq!(devices[0].1[0].label, "O_DIRECT disk reads");
    assert_eq!(devices[0].1[0].mib, 8, "the last MiB is no whole read");
    agrees_with_the_record(&devices[0].1[0], &user.last(), "disk reads");
}

#[test]
fn devices_are_timed_in_their_order_and_from_the_offset() {
    let user = User::new();
    let ended = user.fathom("as hdparm -t --offset 10 array:md3000 array:ix2-200").done();
    let names: Vec<String> = read(&ended.out).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["array:md3000", "array:ix2-200"]);
    assert!(ended.out.contains(" Timing buffered disk reads (offset 10 GB): "), "{}", ended.out);
    let spec = &user.last()["points"][1]["workloads"][0]["spec"];
    assert_eq!(spec["offset"], "10GiB");
}

#[test]
fn every_line_is_that_of_the_hdparm_which_is_installed() {
    let user = User::new();
    let out = |line: &str| masked(&user.fathom(&format!("as hdparm {line} array:md3000")).done().out);
    assert_eq!(
        out("-tT"),
        "\narray:md#:\n Timing cached reads: # MB in # seconds = # MB/sec\n Timing buffered disk reads: # MB in # \
         seconds = # MB/sec\n"
    );
    assert_eq!(
        out("-t --direct --offset 10"),
        "\narray:md#:\n Timing O_DIRECT disk reads (offset # GB): # MB in # seconds = # MB/sec\n"
    );
    let Some(device) = Loop::make(&user, 16 << 20) else { return };
    for options in ["-tT", "-t --direct", "-T --direct"] {
        let mut arguments: Vec<&str> = options.split(' ').collect();
        arguments.push(&device.node);
        // Both wait for seconds between their timings, and figures are masked: they may wait together.
        let line = format!("as hdparm {options} {}", device.node);
        let (theirs, ours) = std::thread::scope(|scope| {
            let ours = scope.spawn(|| user.fathom(&line).done().out);
            (original(&user, "hdparm", &arguments), ours.join().unwrap())
        });
        let Some([theirs, _]) = theirs else {
            return lacks("hdparm", "needs hdparm, to print beside it");
        };
        assert_eq!(masked(&ours), masked(&theirs), "{options}\n{ours}\n{theirs}");
        // Fields are as wide, whatever the figures are.
        let label = |text: &str| {
            text.lines().map(|line| line.split(": ").next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(label(&ours), label(&theirs));
    }
}

#[test]
fn what_a_drive_is_asked_is_answered_as_by_the_hdparm_which_is_installed() {
    let user = User::new();
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    for options in [
        "",
        "-v",
        "-r",
        "-ra",
        "-r -g",
        "-c",
        "-m -d",
        "-Q",
        "-C",
        "-i",
        "-I",
        "-W -A -B -M",
        "-q -r",
        "-R",
        "-N",
        "-H",
        "--dco-identify",
        "--Istdout",
    ] {
        let mut arguments: Vec<&str> = options.split_whitespace().collect();
        arguments.push(&device.node);
        let ours = user.fathom(&format!("as hdparm {options} {}", device.node));
        let Some([out, err]) = original(&user, "hdparm", &arguments) else {
            return lacks("hdparm", "needs hdparm, to print beside it");
        };
        assert_eq!(ours.out, out, "{options}");
        let said: Vec<&str> = ours.err.lines().filter(|line| !line.starts_with("fathom: exit")).collect();
        assert_eq!(said.join("\n").trim(), err.trim(), "{options}");
        assert_eq!(
            ours.code == Some(0),
            options == "--dco-identify" || err.is_empty() && !out.contains("unknown"),
            "{options}: {:?}",
            ours.code
        );
    }
    // A file is asked in the same words, and says that it is none.
    user.write("plain", "x");
    user.fathom("as hdparm -r plain").with(25).saying(&["BLKROGET failed"]);
}

#[test]
fn a_sector_is_printed_and_a_file_is_placed_without_a_drive_that_answers() {
    let user = User::new();
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    let out = user.fathom(&format!("as hdparm --read-sector 3 {}", device.node)).done().out;
    assert!(out.contains("reading sector 3: succeeded\n"), "{out}");
    assert_eq!(out.lines().filter(|line| line.split(' ').count() == 8).count(), 32, "{out}");
    user.fathom("as hdparm --security-help").done().saying(&[]);
    let words = ["0040 3fff c837 0010 0000 0000 003f 0000\n"; 32].concat();
    let told = fed(&mut user.command("as hdparm --Istdin"), &words);
    assert!(told.contains("ATA device, with non-removable media"), "{told}");
    assert_eq!(fed(&mut user.command("as hdparm --Istdin"), "0040 3fff\n"), "", "256 words are wanted");
    user.write("placed", "x".repeat(1 << 20));
    let ended = user.fathom("as hdparm --fibmap placed");
    if let Some([theirs, error]) = original(&user, "hdparm", &["--fibmap", "placed"])
        && error.is_empty()
    {
        assert_eq!(ended.done().out, theirs);
    }
}

/// What a program prints that is given `text`.
fn fed(command: &mut std::process::Command, text: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn what_hdparm_sets_is_refused_by_name() {
    let user = User::new();
    for (line, words) in [
        ("-a 256 array:md3000", ["-a", "read-ahead"]),
        ("--security-erase x array:md3000", ["--security-erase", "not supported"]),
        ("-t --offset ten array:md3000", ["--offset", "GiB"]),
        ("-t --offset 900000 array:md3000", ["EOF", "too small"]),
        ("-t nowhere", ["nowhere", "neither a device nor a file"]),
        ("-W0 array:md3000", ["`-W0`", "changes the drive"]),
        ("array:md3000", ["-t", "-T"]),
    ] {
        user.fathom(&format!("as hdparm {line}")).with(2).saying(&words);
    }
    assert!(user.files().is_empty());
}

/// Where the kernel keeps the read-ahead of a loop device.
fn setting(device: &Loop) -> PathBuf {
    PathBuf::from(format!("/sys/block/{}/queue/read_ahead_kb", device.name()))
}

fn kib(device: &Loop) -> u64 {
    fs::read_to_string(setting(device)).unwrap().trim().parse().unwrap()
}

#[test]
fn read_ahead_is_set_for_the_sweep_and_put_back_after_it() {
    let user = User::new();
    let Some(device) = Loop::make(&user, 8 << 20) else { return };
    fs::write(setting(&device), "192").unwrap();
    let run = user.start(&format!("run read-ahead --on {} --set run=300ms", device.node));
    wait_until("it is set to the largest", || kib(&device) == 16 << 10);
    let ended: Ended = run.end().done();
    assert_eq!(kib(&device), 192, "{}", ended.err);
    assert_eq!(user.last()["ending"]["complete"], true);
}

#[test]
fn read_ahead_is_put_back_after_an_interrupt() {
    for signal in [Signal::INT, Signal::TERM] {
        let user = User::new();
        let Some(device) = Loop::make(&user, 8 << 20) else { return };
        fs::write(setting(&device), "192").unwrap();
        let run = user.start(&format!("run read-ahead --on {} --set run=1s", device.node));
        wait_until("it is set", || kib(&device) == 64);
        run.signal(signal);
        run.end();
        assert_eq!(kib(&device), 192);
    }
}
