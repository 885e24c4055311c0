//! IOzone, on files that it makes, on files that are there, and on a virtual array.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use units::convert::truncated;

use crate::support::{Ended, User};

/// The columns, by where figures end in a line, as the tool's own output has them.
const COLUMNS: [(usize, &str); 13] = [
    (34, "write"),
    (44, "rewrite"),
    (54, "read"),
    (64, "reread"),
    (74, "random read"),
    (84, "random write"),
    (94, "backward read"),
    (105, "record rewrite"),
    (116, "stride read"),
    (126, "fwrite"),
    (136, "frewrite"),
    (146, "fread"),
    (156, "freread"),
];

/// File size, record size and column.
type Place = (u64, u64, &'static str);

/// Reads the lines between header and end.
fn table(out: &str) -> BTreeMap<Place, u64> {
    let (_, lines) = out.split_once("frewrite     fread   freread\n").unwrap();
    let (lines, _) = lines.split_once("\n\niozone test complete.\n").unwrap();
    let mut table = BTreeMap::new();
    for line in lines.lines() {
        let number = |from: usize, to: usize| line.get(from..to.min(line.len())).unwrap_or("").trim().parse();
        let (file, record): (u64, u64) = (number(0, 16).unwrap(), number(16, 24).unwrap());
        let mut from = 24;
        for (end, name) in COLUMNS {
            if let Ok(figure) = number(from, end) {
                table.insert((file, record, name), figure);
            }
            from = end;
        }
    }
    table
}

/// What the record has for the same: bytes over measured time, in KiB a second, and the bytes.
fn recorded(run: &Value) -> BTreeMap<(u64, u64, String), (u64, u64)> {
    let mut figures = BTreeMap::new();
    for point in run["points"].as_array().unwrap() {
        let name = point["name"].as_str().unwrap();
        let Some((sizes, pass)) = name.split_once(": ").filter(|(sizes, _)| sizes.ends_with(" kB")) else {
            continue;
        };
        let Some((file, record)) = sizes.split_once(", ") else { continue };
        let kib = |text: &str| text.strip_suffix(" kB").and_then(|text| text.parse().ok());
        let (Some(file), Some(record)) = (kib(file), kib(record)) else { continue };
        let workload = &point["workloads"][0];
        let classes = workload["classes"].as_array().unwrap();
        let bytes: u64 = classes.iter().map(|class| class["bytes"].as_u64().unwrap()).sum();
        let rate = bytes as f64 / 1024.0 / (workload["measured_ns"].as_f64().unwrap() / 1e9);
        figures.insert((file, record, pass.to_owned()), (truncated::<u64>(rate), bytes));
    }
    figures
}

fn agrees_with_the_record(user: &User, ended: &Ended) -> BTreeMap<Place, u64> {
    let (table, recorded) = (table(&ended.out), recorded(&user.last()));
    assert_eq!(table.len(), recorded.len());
    for ((file, record, pass), figure) in &table {
        let (rate, bytes) = recorded[&(*file, *record, (*pass).to_owned())];
        assert_eq!(bytes, ((file / record) * record) << 10, "{file} {record} {pass}");
        assert!(figure.abs_diff(rate) <= 1, "{file} {record} {pass}: {figure} {rate}");
    }
    table
}

#[test]
fn the_automatic_grid_on_a_virtual_array_is_what_the_record_holds() {
    let user = User::new();
    let ended = user.fathom("as iozone -a -n 256k -g 1m -q 512k -I -f array:md3000").done();
    let table = agrees_with_the_record(&user, &ended);
    // Records of 4 to 256 KiB, 4 to 512, 4 to 512: 7 + 8 + 8 lines of 13 figures.
    assert_eq!(table.len(), (7 + 8 + 8) * 13);
    for line in
        ["\tAuto Mode\n", "\tO_DIRECT feature enabled\n", "\tUsing maximum file size of 1024 kilobytes.\n"]
    {
        assert!(ended.out.contains(line), "{}", ended.out);
    }
    assert!(ended.out.contains("\tCommand line used: iozone -a -n 256k -g 1m -q 512k -I -f array:md3000\n"));
    assert!(
        ended
            .out
            .starts_with("\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.508 $\n")
    );
}

#[test]
fn a_file_is_made_measured_and_removed() {
    let user = User::new();
    let ended = user.fathom("as iozone -s 2m -r 64k -r 100k -e").done();
    let table = agrees_with_the_record(&user, &ended);
    assert_eq!(table.len(), 2 * 13);
    assert!(user.files().is_empty(), "{:?}", user.files());
    let run = user.last();
    let first = &run["points"][0]["workloads"][0];
    assert_eq!((first["spec"]["flush_at_end"].as_bool(), first["errors"].as_u64()), (Some(true), Some(0)));
    assert!(run["points"].as_array().unwrap().iter().all(|point| point["complete"] == true));
}

#[test]
fn a_file_that_is_kept_is_read_by_the_next_call_and_has_the_size_of_the_last_pair() {
    let user = User::new();
    user.fathom("as iozone -s 4m -s 1m -r 128k -i 0 -w -f kept").done();
    assert_eq!(fs::metadata(user.path("kept")).unwrap().len(), 1 << 20);
    let ended = user.fathom("as iozone -s 1m -r 32k -i 1 -i 3 -f kept -w").done();
    let table = agrees_with_the_record(&user, &ended);
    let passes: Vec<&str> = table.keys().map(|(.., pass)| *pass).collect();
    assert_eq!(passes, ["backward read", "read", "reread"]);
    user.fathom("as iozone -s 2m -r 32k -i 1 -f kept").with(2).saying(&["kept", "2097152", "-i 0"]);
    user.fathom("as iozone -s 2m -r 32k -i 1 -f missing").with(2).saying(&["missing", "no such file"]);
    assert_eq!(user.files(), ["kept"]);
}

#[test]
fn a_file_of_the_user_is_written_with_consent_alone_and_never_removed() {
    let user = User::new();
    let precious = user.write("precious", vec![7u8; 1 << 20]);
    user.fathom("as iozone -s 1m -r 64k -f precious").with(3).saying(&["precious", "consent"]);
    assert_eq!(fs::read(&precious).unwrap(), vec![7u8; 1 << 20]);
    user.fathom("as iozone -s 1m -r 64k -i 1 -f precious").done();
    assert_eq!(fs::read(&precious).unwrap(), vec![7u8; 1 << 20]);
    let line = format!("as --destroy {} iozone -s 1m -r 64k -i 0 -f precious", precious.display());
    user.fathom(&line).done();
    let written = fs::read(&precious).unwrap();
    assert_eq!(written.len(), 1 << 20);
    assert!(written.chunks(4096).all(|block| block.iter().filter(|byte| **byte == 7).count() < 100));
}

#[test]
fn reports_of_excel_say_what_the_table_says() {
    let user = User::new();
    let line = "as iozone -Raz -n 64k -g 128k -i 0 -i 2 -+n -f array:md3000 -b book.xls";
    let ended = user.fathom(line).done();
    let table = agrees_with_the_record(&user, &ended);
    let (_, reports) = ended.out.split_once("\nExcel output is below:\n").unwrap();
    let mut seen = 0;
    for report in reports.trim_start().split("\n\n") {
        let mut lines = report.lines();
        let name = match lines.next().unwrap() {
            "\"Writer report\"" => "write",
            "\"Random read report\"" => "random read",
            "\"Random write report\"" => "random write",
            other => panic!("{other}"),
        };
        let sizes = |line: &str| -> Vec<u64> {
            line.split_whitespace().map(|word| word.trim_matches('"').parse().unwrap()).collect()
        };
        let records = sizes(lines.next().unwrap());
        assert_eq!((records.len(), records[0], records[12]), (13, 4, 16_384));
        for line in lines {
            assert!(line.ends_with(' '));
            let values = sizes(line);
            for (figure, record) in values[1..].iter().zip(&records) {
                assert_eq!(table[&(values[0], *record, name)], *figure);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, table.len());
    let book = fs::read(user.path("book.xls")).unwrap();
    assert_eq!(book[..8], [9, 0, 4, 0, 2, 0, 16, 0], "a worksheet of BIFF2");
    assert_eq!(book[book.len() - 4..], [10, 0, 0, 0]);
    user.fathom(line).with(2).saying(&["book.xls is there"]);
}

/// What the lines of a throughput test say, by the words before the equals sign, counts and blanks left out.
fn tests(out: &str) -> Vec<(String, BTreeMap<String, f64>)> {
    let mut tests: Vec<(String, BTreeMap<String, f64>)> = Vec::new();
    for line in out.lines() {
        let Some((words, figure)) = line.split_once('=') else { continue };
        let words: Vec<&str> = words.split_whitespace().collect();
        let Some(figure) = figure.split_whitespace().next().and_then(|text| text.parse().ok()) else {
            continue;
        };
        if let ["Children", "see", "throughput", "for", _, label @ ..] = &words[..] {
            tests.push((label.join(" "), BTreeMap::new()));
        }
        if let Some((_, figures)) = tests.last_mut() {
            figures.insert(words[..2].join(" "), figure);
        }
    }
    tests
}

fn children_agree_with_the_record(user: &User, ended: &Ended, children: usize) -> Vec<String> {
    let run = user.last();
    let tests = tests(&ended.out);
    for (label, figures) in &tests {
        let points = run["points"].as_array().unwrap();
        let point = points.iter().find(|point| point["name"] == format!("{children} {label}")).unwrap();
        let workloads = point["workloads"].as_array().unwrap();
        assert_eq!(workloads.len(), children);
        let sum = |workload: &Value| {
            let classes = workload["classes"].as_array().unwrap();
            classes.iter().map(|class| class["bytes"].as_u64().unwrap()).sum::<u64>() as f64 / 1024.0
        };
        let kib: Vec<f64> = workloads.iter().map(sum).collect();
        let time = |workload: &Value, key: &str| workload[key].as_f64().unwrap() / 1e9;
        let rates: Vec<f64> =
            workloads.iter().zip(&kib).map(|(workload, kib)| kib / time(workload, "measured_ns")).collect();
        let from = workloads.iter().map(|each| time(each, "measured_from_ns")).fold(f64::MAX, f64::min);
        let until = workloads
            .iter()
            .map(|each| time(each, "measured_from_ns") + time(each, "measured_ns"))
            .fold(0.0, f64::max);
        let is = |what: &str, expected: f64| {
            let found = figures[what];
            assert!(
                (found - expected).abs() <= 0.006 + expected * 1e-6,
                "{label}, {what}: {found} {expected}"
            );
        };
        let total: f64 = rates.iter().sum();
        is("Children see", total);
        is("Parent sees", kib.iter().sum::<f64>() / (until - from));
        is("Min throughput", rates.iter().copied().fold(f64::MAX, f64::min));
        is("Max throughput", rates.iter().copied().fold(0.0, f64::max));
        is("Avg throughput", total / children as f64);
        is("Min xfer", kib.iter().copied().fold(f64::MAX, f64::min));
    }
    tests.into_iter().map(|(label, _)| label).collect()
}

#[test]
fn children_of_a_virtual_array_have_a_part_each_and_the_first_ends_the_test() {
    let user = User::new();
    let ended = user.fathom("as iozone -t 3 -s 8m -r 64k -I -R -f array:md3000").done();
    let labels = children_agree_with_the_record(&user, &ended, 3);
    assert_eq!(labels.len(), 13, "{labels:?}");
    assert!(
        ended.out.contains("\tThroughput test with 3 processes\n\tEach process writes a 8192 kByte file in")
    );
    for row in ["\"  Initial write \" ", "\" Mixed workload \" ", "\"          Fread \" "] {
        assert!(ended.out.contains(&format!("\n\n{row}")), "{row}");
    }
    let run = user.last();
    let mixed =
        run["points"].as_array().unwrap().iter().find(|point| point["name"] == "3 mixed workload").unwrap();
    let bytes: Vec<u64> = mixed["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| {
            child["classes"].as_array().unwrap().iter().map(|class| class["bytes"].as_u64().unwrap()).sum()
        })
        .collect();
    let (most, least) = (bytes.iter().max().unwrap(), bytes.iter().min().unwrap());
    assert_eq!(*most, 8 << 20, "one child came to its end");
    assert!(least < most, "and stopped the others: {bytes:?}");
    let ended = user.fathom("as iozone -t 3 -s 8m -r 64k -I -x -i 0 -i 8 -f array:md3000").done();
    children_agree_with_the_record(&user, &ended, 3);
    assert!(ended.out.matches("=    8192.00 kB\n").count() == 3, "{}", ended.out);
}

#[test]
fn children_of_a_file_system_have_a_file_each() {
    let user = User::new();
    let ended = user.fathom("as iozone -l 1 -u 2 -s 2m -r 64k -C -F one two").done();
    assert!(user.files().is_empty(), "{:?}", user.files());
    let (first, second) = ended.out.split_once("\tThroughput test with 2 processes\n").unwrap();
    assert!(first.contains("\tThroughput test with 1 process\n") && first.contains("\tMin process = 1 \n"));
    let second = Ended { out: second.into(), ..Ended { code: None, out: String::new(), err: String::new() } };
    children_agree_with_the_record(&user, &second, 2);
    assert_eq!(second.out.matches("\tChild[1] xfer count = ").count(), 13);
    let run = user.last();
    assert_eq!(run["targets"].as_array().unwrap().len(), 2);
    let errors = |point: &Value| {
        point["workloads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|each| each["errors"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(run["points"].as_array().unwrap().iter().map(errors).sum::<u64>(), 0);
}

#[test]
fn operations_and_microseconds_are_other_units_of_the_same() {
    let user = User::new();
    let mut figures = Vec::new();
    for unit in ["", "-O", "-N"] {
        let ended =
            user.fathom(&format!("as iozone -s 1m -r 64k -i 0 -i 2 -I -f array:md3000 {unit}")).done();
        figures.push(table(&ended.out)[&(1024, 64, "random read")] as f64);
    }
    assert!((figures[0] / 64.0 - figures[1]).abs() <= 1.0, "{figures:?}");
    assert!((1e6 / figures[1] - figures[2]).abs() <= 1e6 / figures[1] / figures[1] + 1.0, "{figures:?}");
}

#[test]
fn what_iozone_does_beside_measuring_is_refused_by_name() {
    let user = User::new();
    for (line, words) in [
        ("", ["-a", "-s 1g"]),
        ("-a -+m hosts", ["-+m", "one machine"]),
        ("-t 2 -s 1m -r 64k -Q", ["-Q", "single stream"]),
        ("-a -J 5 -k 4", ["-J", "contradict"]),
        ("-a -t 2", ["-a", "-t"]),
        ("-t 2 -s 1m -r 64k -F one", ["-F", "1 files"]),
        ("-s 1m -r 3x", ["-r", "3x"]),
        ("-s 1m -f .", ["directory", "iozone.tmp"]),
        ("-s 900t -f array:md3000", ["array:md3000", "are needed"]),
    ] {
        user.fathom(&format!("as iozone {line}")).with(2).saying(&words);
    }
    assert!(user.files().is_empty());
}

#[test]
fn any_run_can_be_written_as_iozone_prints_it() {
    let user = User::new();
    user.fathom("run iozone --on array:md3000 --set span=8MiB --set bytes=8MiB -o x.iozone.txt").done();
    let text = fs::read_to_string(user.path("x.iozone.txt")).unwrap();
    let table = table(&text);
    let run = user.last();
    let point = |name: &str| {
        let points = run["points"].as_array().unwrap();
        let workload = &points.iter().find(|point| point["name"] == name).unwrap()["workloads"][0];
        truncated::<u64>(8192.0 / (workload["measured_ns"].as_f64().unwrap() / 1e9))
    };
    for (place, name) in [
        ((8192, 4, "write"), "write 4KiB"),
        ((8192, 4, "rewrite"), "rewrite 4KiB"),
        ((8192, 1024, "reread"), "reread 1MiB"),
        ((8192, 4096, "random write"), "random write 4MiB"),
        ((8192, 64, "backward read"), "backward read 64KiB"),
        ((8192, 64, "record rewrite"), "record rewrite"),
        ((8192, 16, "stride read"), "stride read 16KiB"),
    ] {
        assert!(table[&place].abs_diff(point(name)) <= 1, "{place:?} {name}");
    }
    let excel = user.fathom("show last --format iozone-excel").done().out;
    assert!(excel.contains("\"Stride read report\"\n        \"4\"  \"16\" "), "{excel}");
    user.fathom("as iozone -t 2 -s 1m -r 64k -i 0 -f array:md3000").done();
    user.fathom("show last --format iozone").with(2).saying(&["iozone", "fathom run iozone"]);
}

/// The lines of an offset and latency file: offset in KiB, microseconds, bytes.
fn latencies(text: &str) -> Vec<(u64, u64, u64)> {
    let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_record = fields.filter(|fields| fields.len() == 3 && fields[0].parse::<u64>().is_ok());
    of_record
        .map(|fields| (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[2].parse().unwrap()))
        .collect()
}

#[test]
fn offsets_and_latencies_of_writes_and_reads_go_to_files() {
    let user = User::new();
    for (file, is_real) in [("mine", true), ("array:md3000", false)] {
        user.fathom(&format!("as iozone -s 1m -r 64k -i 0 -i 1 -i 2 -I -Q -f {file}")).done();
        assert_eq!(user.files(), ["rol.dat", "rrol.dat", "rwol.dat", "wol.dat"]);
        let run = user.last();
        let points = run["points"].as_array().unwrap();
        for (name, pass) in
            [("wol.dat", "write"), ("rwol.dat", "rewrite"), ("rol.dat", "read"), ("rrol.dat", "reread")]
        {
            let text = fs::read_to_string(user.path(name)).unwrap();
            assert!(
                text.starts_with("Offset in kBytes   Latency in microseconds  Transfer size in bytes\n"),
                "{text}"
            );
            assert!(text.ends_with("  (seconds)\n") && text.contains("\nSystem time "), "{text}");
            let lines = latencies(&text);
            let offsets: Vec<u64> = lines.iter().map(|line| line.0).collect();
            assert_eq!(offsets, (0..16).map(|record| record * 64).collect::<Vec<u64>>());
            assert!(lines.iter().all(|line| line.2 == 65_536));
            // The same latencies as in the record, rounded to microseconds.
            let point =
                points.iter().find(|point| point["name"] == format!("1024 kB, 64 kB: {pass}")).unwrap();
            let sum_ns = point["workloads"][0]["classes"][0]["response"]["sum_ns"].as_f64().unwrap();
            let sum_us = lines.iter().map(|line| line.1).sum::<u64>() as f64;
            assert!((sum_us - sum_ns / 1000.0).abs() <= 16.0 * 0.5 + 1.0, "{pass}: {sum_us} {sum_ns}");
            assert!(is_real || text.contains("User time      0.000"), "no time of a simulation: {text}");
        }
        for name in user.files() {
            fs::remove_file(user.path(&name)).unwrap();
        }
    }
    // A second call adds to them.
    user.fathom("as iozone -s 64k -r 64k -i 0 -Q -f array:queue").done();
    user.fathom("as iozone -s 64k -r 64k -i 0 -Q -f array:queue").done();
    assert_eq!(latencies(&fs::read_to_string(user.path("wol.dat")).unwrap()).len(), 2);
    user.fathom("as iozone -t 2 -s 1m -r 64k -Q").with(2).saying(&["-Q", "single stream"]);
}

#[test]
fn the_records_of_a_telemetry_file_are_what_is_written_and_read() {
    let user = User::new();
    user.write("writes", "0 65536 0\n3145728 131072 0\n65536 4096 0\n");
    user.write("reads", "3145728 8192\n0 512\n");
    for file in ["mine", "array:md3000"] {
        let line = format!("as iozone -s 1m -r 64k -i 0 -i 1 -X writes -Y reads -f {file}");
        let ended = user.fathom(&line).done();
        assert!(ended.out.contains("\tUsing write telemetry file \"writes\"\n"), "{}", ended.out);
        let run = user.last();
        let moved = |pass: &str| {
            let points = run["points"].as_array().unwrap();
            let point =
                points.iter().find(|point| point["name"] == format!("1024 kB, 64 kB: {pass}")).unwrap();
            let total = &point["workloads"][0]["totals"][0];
            (total["op"].as_str().unwrap().to_owned(), total["ops"].clone(), total["bytes"].clone())
        };
        for (pass, op, ops, bytes) in [
            ("write", "write", 3, 200_704),
            ("rewrite", "write", 3, 200_704),
            ("read", "read", 2, 8704),
            ("reread", "read", 2, 8704),
        ] {
            assert_eq!(moved(pass), (op.to_owned(), ops.into(), bytes.into()), "{file} {pass}");
        }
        assert_eq!(user.files(), ["reads", "writes"]);
    }
    user.write("slow", "0 4096 0\n4096 4096 3\n");
    user.fathom("as iozone -s 1m -r 64k -X slow")
        .with(2)
        .saying(&["slow: the request at 4096 follows a pause"]);
    user.fathom("as iozone -s 1m -r 64k -Y none").with(2).saying(&["none: the trace cannot be read"]);
}

#[test]
fn children_write_files_that_are_not_there_by_pwrite() {
    let user = User::new();
    let ended = user.fathom("as iozone -t 4 -i 9 -i 10 -r 1k -s 1m").done();
    for line in ["for 4 pwrite writers \t=", "for 4 pread readers \t="] {
        assert!(ended.out.contains(&format!("Children see throughput {line}")), "{}", ended.out);
    }
    let ended = user.fathom("as iozone -t 2 -i 11 -i 12 -r 4k -r 64k -s 1m elsewhere").done();
    assert!(ended.out.contains("\tSelected test not available on the version.\n"), "{}", ended.out);
    assert!(ended.out.contains("Each process writes a 1024 kByte file in 64 kByte records"), "{}", ended.out);
    assert!(ended.out.contains("for  2 initial writers"), "{}", ended.out);
    assert_eq!(user.files(), Vec::<String>::new());
}
