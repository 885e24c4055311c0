//! seeker, on a file and on a virtual array.

use super::masked;
use crate::support::{Ended, User};

/// What a reader of seeker 2.0's output takes from it.
struct Results {
    size_mib: u64,
    dots: usize,
    seeks_per_second: u64,
    access_ms: f64,
}

impl Results {
    fn read(out: &str) -> Results {
        let mut lines = out.lines();
        assert!(lines.next().unwrap().starts_with("Seeker v2.0, 2007-01-15, http://"));
        let (bracketed, wait) = lines.next().unwrap().split_once("], wait 30 seconds").unwrap();
        let size = bracketed.rsplit_once('[').unwrap().1.strip_suffix("MB").unwrap();
        let result = lines.next().unwrap().strip_prefix("Results: ").unwrap();
        let (seeks, rest) = result.split_once(" seeks/second, ").unwrap();
        let ms = rest.strip_suffix(" ms random access time").unwrap();
        Results {
            size_mib: size.parse().unwrap(),
            dots: wait.chars().filter(|each| *each == '.').count(),
            seeks_per_second: seeks.parse().unwrap(),
            access_ms: ms.parse().unwrap(),
        }
    }
}

fn agrees_with_the_record(user: &User, ended: &Ended) {
    let (results, run) = (Results::read(&ended.out), user.last());
    let class = &run["points"][0]["workloads"][0]["classes"][0];
    assert_eq!((class["op"].as_str(), class["size_bytes"].as_u64()), (Some("read"), Some(512)));
    let reads = class["ops"].as_u64().unwrap();
    assert_eq!(results.seeks_per_second, reads / 30);
    assert!((results.access_ms - 30_000.0 / reads as f64).abs() <= 0.005_001, "{}", results.access_ms);
    assert_eq!(results.size_mib, run["targets"][0]["size_bytes"].as_u64().unwrap() >> 20);
    assert_eq!(results.dots, 30);
}

#[test]
fn seeker_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let ended = user.fathom("as seeker array:md3000").done();
    agrees_with_the_record(&user, &ended);
}

#[test]
fn seeker_prints_what_the_record_of_a_real_file_holds() {
    let user = User::new();
    user.write("disk", vec![7u8; 8 << 20]);
    let ended = user.fathom("as seeker disk").done();
    agrees_with_the_record(&user, &ended);
}

#[test]
fn every_line_of_both_versions_is_that_of_the_original() {
    let user = User::new();
    let dots = ".".repeat(30);
    let out = |line: &str| user.fathom(&format!("as seeker array:md3000 {line}")).done().out;
    assert_eq!(
        masked(&out("")),
        format!(
            "Seeker v#, #-#-#, http://www.linuxinsight.com/how_fast_is_your_disk.html\nBenchmarking array:md# [#MB], \
             wait # seconds{dots}\nResults: # seeks/second, # ms random access time\n"
        )
    );
    assert_eq!(
        masked(&out("4")),
        format!(
            "Seeker v#, #-#-#, http://www.linuxinsight.com/how_fast_is_your_disk.html\nBenchmarking array:md# \
             [# blocks, # bytes, # GB, # MB, # GiB, # MiB]\n[# logical sector size, # physical sector size]\n\
             [# threads]\nWait # seconds{dots}\nResults: # seeks/second, # ms random access time (# < offsets < #)\n"
        )
    );
    let version = |line: &str| out(line).lines().next().unwrap().split(", http").next().unwrap().to_owned();
    assert_eq!(
        (version(""), version("4")),
        ("Seeker v2.0, 2007-01-15".into(), "Seeker v3.0, 2009-06-17".into())
    );
}

#[test]
fn two_calls_of_seeker_ask_for_different_places() {
    let user = User::new();
    let digest = || {
        user.fathom("as seeker array:md3000").done();
        user.last()["points"][0]["workloads"][0]["digests"][0].as_str().unwrap().to_owned()
    };
    assert_ne!(digest(), digest());
}

#[test]
fn more_seekers_are_tried_until_they_no_longer_pay() {
    let user = User::new();
    let ended = user.fathom("as seeker array:md3000 auto").done();
    let results: Vec<u64> = ended
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("Results: ")?.split_once(" seeks")?.0.parse().ok())
        .collect();
    let (last, best) = (results[results.len() - 1], results.iter().copied().max().unwrap());
    assert!(results.len() > 3 && results.len() < 11, "{results:?}");
    assert!(last as f64 <= best as f64 * 1.05 && best > 5 * results[0], "{results:?}");
}

#[test]
fn a_link_called_seeker_is_seeker() {
    let user = User::new();
    let link = user.path("seeker");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let output =
        std::process::Command::new(&link).arg("array:md3000").env("HOME", user.path("")).output().unwrap();
    assert!(Ended::of(&output).done().out.starts_with("Seeker v2.0"));
}

#[test]
fn an_option_that_seeker_does_not_have_is_refused_by_name() {
    let user = User::new();
    user.fathom("as seeker --fast array:md3000").with(2).saying(&["seeker", "--fast"]);
    assert!(user.files().is_empty());
}
