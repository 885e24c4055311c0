//! Bonnie++ of both versions, on a directory and on a virtual array, and as its own converters read it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Ended, User, lacks, skipped};

/// One figure of a line: a rate and processor time in per cent.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Skipped,
    TooFast,
    Figure(f64, Option<u64>),
}

fn cell(rate: &str, cpu: &str) -> Cell {
    match (rate, cpu) {
        ("", "") => Cell::Skipped,
        ("+++++", "+++") => Cell::TooFast,
        (rate, "+++") => Cell::Figure(rate.parse().unwrap(), None),
        (rate, cpu) => Cell::Figure(rate.parse().unwrap(), Some(cpu.parse().unwrap())),
    }
}

/// A line of either version, its columns named as in the documents.
struct Line {
    name: String,
    size: String,
    files: String,
    cells: Vec<Cell>,
    latencies: Vec<String>,
}

impl Line {
    fn read(text: &str) -> Line {
        let columns: Vec<&str> = text.split(',').collect();
        let cells = |from: usize| (from..from + 12).step_by(2).map(|at| cell(columns[at], columns[at + 1]));
        match columns.len() {
            27 => Line {
                name: columns[0].into(),
                size: columns[1].into(),
                files: columns[14].into(),
                cells: cells(2).chain(cells(15)).collect(),
                latencies: Vec::new(),
            },
            50 => {
                assert_eq!(columns[..2], ["1.98", "2.00a"]);
                Line {
                    name: columns[2].into(),
                    size: columns[5].into(),
                    files: columns[21].into(),
                    cells: cells(9).chain(cells(26)).collect(),
                    latencies: columns[38..].iter().map(|text| (*text).into()).collect(),
                }
            }
            other => panic!("{other} columns: {text}"),
        }
    }
}

/// What of the record each cell is about: its phase, the operation that counts, and whether bytes are counted.
const PHASES: [(&str, &str, bool); 12] = [
    ("write characters", "write", true),
    ("write blocks", "write", true),
    ("rewrite", "read", true),
    ("read characters", "read", true),
    ("read blocks", "read", true),
    ("seeks", "read", false),
    ("create", "create", false),
    ("stat", "stat", false),
    ("delete", "delete", false),
    ("create in random order", "create", false),
    ("stat in random order", "stat", false),
    ("delete in random order", "delete", false),
];

/// Holds every cell to the record. Returns how many figures there were.
fn agrees_with_the_record(line: &Line, run: &Value) -> usize {
    let mut figures = 0;
    for (number, ((phase, op, of_bytes), cell)) in PHASES.into_iter().zip(&line.cells).enumerate() {
        let point = run["points"].as_array().unwrap().iter().find(|point| point["phase"] == phase);
        let Some(point) = point else {
            assert_eq!(*cell, Cell::Skipped, "{phase}");
            continue;
        };
        let workload = &point["workloads"][0];
        let seconds = workload["measured_ns"].as_u64().unwrap() as f64 / 1e9;
        let classes: Vec<&Value> = workload["classes"].as_array().unwrap().iter().collect();
        let sum = |key: &str| -> u64 {
            classes
                .iter()
                .filter(|class| class["op"] == op || (class["op"] == "read" && op == "stat"))
                .map(|class| class[key].as_u64().unwrap())
                .sum()
        };
        let rate = if of_bytes { sum("bytes") as f64 / 1024.0 } else { sum("ops") as f64 } / seconds;
        if let Some(text) = line.latencies.get(number) {
            let asked = classes.iter().filter(|class| class["op"] != "flush" && class["op"] != "sync");
            let longest = asked.map(|class| class["response"]["max_ns"].as_u64().unwrap()).max().unwrap();
            let (text, unit) = match (text.strip_suffix("us"), text.strip_suffix("ms")) {
                (Some(text), _) => (text, 1000),
                (_, Some(text)) => (text, 1_000_000),
                _ => (text.strip_suffix('s').unwrap(), 1_000_000_000),
            };
            assert_eq!(text.parse::<u64>().unwrap(), longest / unit, "{phase}");
        }
        match *cell {
            Cell::Skipped => panic!("{phase} is not told"),
            Cell::TooFast => assert!(seconds < 0.5, "{phase} took {seconds}"),
            Cell::Figure(told, cpu) => {
                figures += 1;
                assert!(seconds >= 0.5 && (told - rate).abs() <= 1.0, "{phase}: {told} and {rate}");
                let used = point["cpu"].as_object().map(|cpu| {
                    let part = |key: &str| cpu[key].as_f64().unwrap();
                    (part("user_s") + part("system_s")) / seconds * 100.0
                });
                assert_eq!(cpu.is_some(), used.is_some());
                if let (Some(cpu), Some(used)) = (cpu, used) {
                    assert!((cpu as f64 - used).abs() <= 1.0, "{phase}: {cpu} % and {used} %");
                }
            }
        }
    }
    figures
}

fn last_line(ended: &Ended) -> &str {
    ended.out.lines().last().unwrap()
}

/// Reads the rows of a table by their columns: 19 for the name, then six of ten.
fn rows(out: &str) -> Vec<[String; 6]> {
    let lines: Vec<&str> = out.lines().collect();
    let heads = lines.iter().enumerate().filter(|(_, line)| line.contains("/sec %CP"));
    heads
        .map(|(at, head)| {
            assert_eq!(head.len(), 79, "{head}");
            let row = lines[at + 1];
            std::array::from_fn(|column| row[19 + 10 * column..29 + 10 * column].trim().to_owned())
        })
        .collect()
}

#[test]
fn version_2_on_a_virtual_array_prints_what_its_record_holds() {
    let user = User::new();
    let ended = user.fathom("as bonnie++ -d array:md3000 -s 8g:64k -n 8:20000:100:3 -m host -z 7").done();
    let line = Line::read(last_line(&ended));
    assert_eq!((line.name.as_str(), line.size.as_str(), line.files.as_str()), ("host", "8G", "8"));
    assert!(agrees_with_the_record(&line, &user.last()) >= 4, "{}", ended.out);
    assert!(ended.out.starts_with("Version 2.00a       ------Sequential Output------ "), "{}", ended.out);
    assert!(ended.out.contains("\nhost         8G:64k "), "{}", ended.out);
    assert!(ended.out.contains("\n      8:20000:100/3 "), "{}", ended.out);
    assert_eq!(rows(&ended.out).len(), 2);
    for words in ["Writing a byte at a time...done\n", "start 'em...done...done...done...done...done...\n"] {
        assert!(ended.err.contains(words), "{}", ended.err);
    }
    // The same seed asks for the same.
    let digests = |run: &Value| -> Vec<Value> {
        let points = run["points"].as_array().unwrap().iter();
        points
            .flat_map(|point| point["workloads"].as_array().unwrap())
            .map(|each| each["digests"].clone())
            .collect()
    };
    let before = digests(&user.last());
    user.fathom("as bonnie++ -d array:md3000 -s 8g:64k -n 8:20000:100:3 -m host -z 7 -q").done();
    assert_eq!(digests(&user.last()), before);
}

#[test]
fn version_1_03_on_a_virtual_array_prints_what_its_record_holds() {
    let user = User::new();
    let ended = user.fathom("as bonnie -d array:md3000 -s 4096 -n 0 -m raid5").done();
    let line = Line::read(last_line(&ended));
    assert_eq!((line.name.as_str(), line.size.as_str(), line.files.as_str()), ("raid5", "4G", ""));
    assert!(agrees_with_the_record(&line, &user.last()) >= 2, "{}", ended.out);
    assert!(
        ended.out.contains("\nMachine        Size K/sec %CP K/sec %CP")
            && ended.err.contains("getc()...done")
    );
    assert!(ended.out.contains("\nraid5            4G "), "{}", ended.out);
    // Rates of more than five digits push the columns to the right, as in the original.
    let row = ended.out.lines().find(|line| line.starts_with("raid5 ")).unwrap();
    let words: Vec<&str> = row.split_whitespace().skip(2).collect();
    for (words, told) in words.chunks(2).zip(&line.cells) {
        match told {
            Cell::Figure(told, None) => {
                assert!((words[0].parse::<f64>().unwrap() - told).abs() < 1.0 && words[1] == "+++", "{row}");
            }
            other => assert_eq!((other, words), (&Cell::TooFast, ["+++++", "+++"].as_slice()), "{row}"),
        }
    }
}

#[test]
fn both_versions_work_in_a_directory_and_leave_nothing_behind() {
    let user = User::new();
    let directory = user.directory("disk");
    for tool in ["bonnie++", "bonnie"] {
        let line = format!("as {tool} -d disk -s 8 -r 0 -n 1:3000:10:2 -u root -m host");
        let ended = user.fathom(&line).done();
        let run = user.last();
        agrees_with_the_record(&Line::read(last_line(&ended)), &run);
        let bytes = |phase: &str| -> u64 {
            let points = run["points"].as_array().unwrap();
            let point = points.iter().find(|point| point["phase"] == phase).unwrap();
            point["workloads"][0]["classes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|class| class["bytes"].as_u64().unwrap())
                .sum()
        };
        let characters = if tool == "bonnie" { 8 << 20 } else { 3 << 20 };
        assert_eq!((bytes("write characters"), bytes("read characters")), (characters, characters), "{tool}");
        assert_eq!(
            (bytes("write blocks"), bytes("read blocks"), bytes("rewrite")),
            (8 << 20, 8 << 20, 16 << 20)
        );
        let left: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_file_of_random_numbers_repeats_a_test_and_is_named_in_the_line() {
    let user = User::new();
    user.write("numbers", "any bytes");
    let mut seeds = Vec::new();
    for _ in 0..2 {
        let ended = user.fathom("as bonnie++ -d array:md3000 -s 64m -r 0 -n 0 -f -q -Z numbers").done();
        assert_eq!(last_line(&ended).split(',').nth(4), Some("numbers"));
        seeds.push(user.last()["points"][0]["workloads"][0]["spec"]["seed"].clone());
    }
    assert_eq!(seeds[0], seeds[1]);
    user.fathom("as bonnie++ -d array:md3000 -s 64m -Z /dev/urandom").with(2).saying(&["not a regular file"]);
}

#[test]
fn quiet_puts_the_table_aside_and_several_runs_print_lines_alone() {
    let user = User::new();
    user.directory("disk");
    let ended = user.fathom("as bonnie -qf -d disk -s 0 -n 1 -u root").done();
    assert_eq!(ended.out.lines().count(), 1);
    assert!(ended.err.contains("Sequential Create") && !ended.err.contains("done."), "{}", ended.err);
    let ended = user.fathom("as bonnie++ -f -d disk -s 0 -n 1 -x 2 -m a,b").done();
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("format_version,bonnie_version,name,") && lines[0].split(',').count() == 48);
    for line in &lines[1..] {
        assert_eq!(Line::read(line).name, "a_b");
    }
    let ended = user.fathom("as bonnie -f -d disk -s 0 -n 1 -x 1").done();
    assert_eq!(ended.out.lines().count(), 1);
    assert_eq!(Line::read(last_line(&ended)).cells[..6], [const { Cell::Skipped }; 6]);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let user = User::new();
    user.directory("disk");
    user.write("file", "a letter");
    for (line, words) in [
        ("-d disk -s 1 -u root", "File size should be double RAM for good results"),
        ("-d missing -s 0", "Can't change to directory \"missing\""),
        ("-d file -s 0", "Can't change to directory \"file\""),
        ("-d disk -y s -s 0", "-p COPIES"),
        ("-d disk -n 1:-1", "tree = \"link\""),
        ("-d disk -s 1:100 -r 0", "power of two"),
        ("-d disk --fast", "--fast"),
    ] {
        user.fathom(&format!("as bonnie++ {line}")).with(2).saying(&[words]);
    }
    let files = user.files();
    assert!(!files.iter().any(|name| name.contains("Bonnie") || name.contains("fathom-tree")), "{files:?}");
    assert_eq!(std::fs::read(user.path("file")).unwrap(), b"a letter");
}

#[test]
fn copies_wait_for_each_other_before_each_test() {
    // One key for all of the machine, as in the original: left alone where somebody is using it.
    let in_use = std::fs::read_to_string("/proc/sysvipc/sem")
        .is_ok_and(|sets| sets.lines().any(|line| line.split_whitespace().next() == Some("4711")));
    if in_use {
        return skipped("somebody uses Bonnie++'s semaphores");
    }
    let user = User::new();
    user.directory("disk");
    user.fathom("as bonnie++ -p 2").done().saying(&["Creating semaphore for 2 procs."]);
    let ends = std::thread::scope(|scope| {
        let one = || user.fathom("as bonnie++ -ys -f -d array:md3000 -s 300 -n 1 -m a").done();
        let (first, second) = (scope.spawn(one), scope.spawn(one));
        [first.join().unwrap(), second.join().unwrap()]
    });
    for ended in ends {
        assert_eq!(Line::read(last_line(&ended)).size, "300M");
    }
    user.fathom("as bonnie++ -p -1").done().saying(&["Semaphore removed."]);
    user.fathom("as bonnie++ -ys -d array:md3000").with(2).saying(&["Can't get semaphore"]);
}

/// What a converter of Debian's bonnie++ makes of `line`; `None` where it is not installed.
fn converted(program: &str, line: &str) -> Option<String> {
    let child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        lacks(program, &format!("needs {program} of the package bonnie++"));
        return None;
    };
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn bonnies_own_converters_read_the_line() {
    // With a seed: a rate of 100 MiB/s is a column wider in both tables, and some draws come to just that.
    let user = User::new();
    let ended =
        user.fathom("as bonnie++ -d array:md3000 -s 8g:64k:4000:2 -n 8:20000:100:3 -m host -z 7").done();
    let line = Line::read(last_line(&ended));
    let Some(text) = converted("bon_csv2txt", last_line(&ended)) else { return };
    let (own, theirs) = (rows(&ended.out), rows(&text));
    // What cannot be told is printed by the converter as no rate at all.
    for (own, theirs) in own[0].iter().zip(&theirs[0]).filter(|(own, _)| !own.starts_with("+++++")) {
        assert_eq!(own, theirs, "{text}");
    }
    assert_eq!(own[1], theirs[1], "{text}");
    assert!(text.contains("8G:64k:4000:2") && text.contains("8:20000:100:3"), "{text}");
    for latency in &line.latencies {
        assert!(text.contains(latency.as_str()), "{latency}: {text}");
    }
    let Some(html) = converted("bon_csv2html", last_line(&ended)) else { return };
    let told = line.cells.iter().skip(6).filter_map(|cell| match cell {
        Cell::Figure(rate, _) => Some(format!("<td>{rate:.0}</td>")),
        _ => None,
    });
    for cell in told.chain([">host<".to_owned()]) {
        assert!(html.contains(&cell), "{cell} is not in\n{html}");
    }
}

#[test]
fn any_run_of_such_loads_can_be_written_as_bonnie_writes() {
    let user = User::with_plan(
        "[[phase]]\nname = \"read blocks\"\npattern = \"sequential\"\nsize = \"64KiB\"\nspan = \"1GiB\"\nrun = \"2s\"\n\
         [[phase]]\nname = \"seeks\"\npattern = \"random(repeats)\"\nreads = \"100%\"\nspan = \"1GiB\"\nrun = \"2s\"\n",
    );
    user.fathom("run plan.toml --on array:md3000 -o x.bonnie.csv -o x.bonnie-1.03.csv -o x.bonnie.txt")
        .done();
    for name in ["x.bonnie.csv", "x.bonnie-1.03.csv"] {
        let text = std::fs::read_to_string(user.path(name)).unwrap();
        let line = Line::read(text.trim_end());
        assert_eq!(agrees_with_the_record(&line, &user.last()), 2);
        assert!(line.size.starts_with("1G"), "{}", line.size);
    }
    assert_eq!(rows(&std::fs::read_to_string(user.path("x.bonnie.txt")).unwrap()).len(), 1);
}
