//! Iometer, on files and on a virtual array. The reader of results is written from Iometer's own results files.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::{User, skipped};

/// Two workers; the first has two disks and a mix, the second shares the first of them.
fn configuration(test_type: &str, record: &str) -> String {
    let worker = |name: &str, depth: u32, spec: &str, targets: &[&str]| {
        let targets: String = targets
            .iter()
            .map(|name| format!("'Target\n\t{name}\n'Target type\n\tDISK\n'End target\n"))
            .collect();
        format!(
            "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Default target settings for worker\n\
             'Number of outstanding IOs,test connection rate,transactions per connection\n\t{depth},DISABLED,1\n\
             'Disk maximum size,starting sector\n\t8192,16\n'End default target settings for worker\n\
             'Assigned access specs\n\t{spec}\n'End assigned access specs\n\
             'Target assignments\n{targets}'End target assignments\n'End worker\n"
        )
    };
    let text = format!(
        "Version 2006.07.27 \n'TEST SETUP ====\n'Test Description\n\tdoor, tested\n'Run Time\n\
         '\thours      minutes    seconds\n\t0          0          1\n'Ramp Up Time (s)\n\t0\n\
         'Record Results\n\t{record}\n'Queue Depth Cycling\n'\tstart      end        step       step type\n\
         \t1          4          4          EXPONENTIAL\n'Test Type\n\t{test_type}\n'END test setup\n\
         'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tfour kinds,NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n\t512,50,100,100,0,1,0,0\n\
         \t4096,30,0,100,0,1,4096,0\n\t65536,20,50,0,0,1,0,0\n\
         'Access specification name,default assignment\n\tpages,DISK\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,100,67,100,0,1,0,0\n\
         'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n\
         'Manager network address\n\t127.0.0.1\n{}{}'End manager\n'END manager list\nVersion 2006.07.27 \n",
        worker("Worker 1", 4, "four kinds", &["C: \"\"", "D: \"data\""]),
        worker("Worker 2", 2, "pages", &["C:"]),
    );
    text.replace('\n', "\r\n")
}

/// A row by the names of its columns.
type Row = BTreeMap<String, String>;

/// What a reader of a results file takes from it.
#[derive(Debug, Default)]
struct Results {
    head: Vec<(String, String)>,
    specs: Vec<String>,
    /// The rows of each test.
    tests: Vec<Vec<Row>>,
    /// Of single processors, which end with the columns of the processor.
    processors: Vec<Row>,
    columns: usize,
    ended: bool,
}

impl Results {
    fn read(text: &str) -> Results {
        assert!(text.ends_with("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']), "line endings");
        let mut results = Results::default();
        let mut names: Vec<String> = Vec::new();
        let mut lines = text.split_terminator("\r\n");
        while let Some(line) = lines.next() {
            match line {
                "'Test Type,Test Description" | "'Version" | "'Time Stamp" => {
                    results.head.push((line.into(), lines.next().unwrap().into()));
                }
                "'Access specifications" => {
                    results.specs.extend(
                        lines
                            .by_ref()
                            .take_while(|line| *line != "'End access specifications")
                            .map(str::to_owned),
                    );
                }
                "'Results" => {
                    names = lines.next().unwrap().split(',').map(str::to_owned).collect();
                    assert_eq!(names[0], "'Target Type");
                    results.columns = names.len();
                    results.tests.push(Vec::new());
                }
                "'End Test" => results.ended = true,
                row => {
                    let fields: Vec<&str> = row.split(',').collect();
                    if fields[0] == "PROCESSOR" {
                        assert_eq!(fields.len(), if names.len() == 80 { 59 } else { 56 }, "{row}");
                        let row = names.iter().cloned().zip(fields.into_iter().map(str::to_owned)).collect();
                        results.processors.push(row);
                        continue;
                    }
                    assert_eq!(fields.len(), names.len(), "{row}");
                    let row = names.iter().cloned().zip(fields.into_iter().map(str::to_owned)).collect();
                    results.tests.last_mut().unwrap().push(row);
                }
            }
        }
        results
    }

    fn kinds(&self, test: usize) -> Vec<&str> {
        self.tests[test].iter().map(|row| row["'Target Type"].as_str()).collect()
    }
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("`{}` in {column}", row[column]))
}

fn is_near(row: &Row, column: &str, expected: f64) {
    let found = number(row, column);
    assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{column}: {found} for {expected}");
}

/// A row holds what the classes of these workloads of the record hold; how many requests have ended.
fn agrees(row: &Row, workloads: &[&Value], binary: [&str; 2]) -> f64 {
    let mut of: BTreeMap<&str, (f64, f64, f64, f64, f64)> = BTreeMap::new();
    let mut timed: BTreeMap<&str, f64> = BTreeMap::new();
    // The longest of all was in flight at the end.
    let mut is_cut = false;
    for workload in workloads {
        let seconds = workload["measured_ns"].as_f64().unwrap() / 1e9;
        for class in workload["classes"].as_array().unwrap() {
            let response = &class["response"];
            *timed.entry(class["op"].as_str().unwrap()).or_default() += class["ops"].as_f64().unwrap();
            // What was in flight at the end is no I/O and in no bin.
            let after = |of: &str| class["after"][of].as_f64().unwrap_or(0.0);
            let sum = of.entry(class["op"].as_str().unwrap()).or_default();
            let (ops, bytes) = (class["ops"].as_f64().unwrap(), class["bytes"].as_f64().unwrap());
            sum.0 += ops;
            sum.1 += bytes;
            sum.2 += response["sum_ns"].as_f64().unwrap() - after("sum_ns");
            sum.3 = sum.3.max(response["max_ns"].as_f64().unwrap_or(0.0));
            is_cut |= after("max_ns") >= sum.3;
            sum.4 += 1.0 / seconds * ops;
        }
    }
    let mut total = 0.0;
    for (op, names, binary) in [
        (
            "read",
            [
                "Read IOps",
                "Bytes Read",
                "Read I/Os",
                "Average Read Response Time",
                "Maximum Read Response Time",
            ],
            binary[0],
        ),
        (
            "write",
            [
                "Write IOps",
                "Bytes Written",
                "Write I/Os",
                "Average Write Response Time",
                "Maximum Write Response Time",
            ],
            binary[1],
        ),
    ] {
        let (ops, bytes, sum_ns, max_ns, per_s) = of.get(op).copied().unwrap_or_default();
        is_near(row, names[0], per_s);
        is_near(row, names[1], bytes);
        is_near(row, names[2], ops);
        is_near(row, names[3], if ops > 0.0 { sum_ns / timed[op] / 1e6 } else { 0.0 });
        if is_cut {
            assert!(number(row, names[4]) <= max_ns / 1e6);
        } else {
            is_near(row, names[4], max_ns / 1e6);
        }
        if ops > 0.0 {
            is_near(row, binary, per_s / ops * bytes / 1_048_576.0);
        }
        total += per_s;
    }
    is_near(row, "IOps", total);
    is_near(row, "Transactions per Second", total);
    is_near(row, "Errors", 0.0);
    timed.values().sum()
}

const NEW_BINARY: [&str; 2] = ["Read MiBps (Binary)", "Write MiBps (Binary)"];

fn agrees_with_the_record(results: &Results, run: &Value) {
    let points = run["points"].as_array().unwrap();
    assert_eq!(results.tests.len(), points.len());
    for (rows, point) in results.tests.iter().zip(points) {
        let workloads: Vec<&Value> = point["workloads"].as_array().unwrap().iter().collect();
        assert_eq!(workloads.len(), 3);
        let of_row: [&[&Value]; 7] = [
            &workloads,
            &workloads,
            &workloads[..2],
            &workloads[..1],
            &workloads[1..2],
            &workloads[2..],
            &workloads[2..],
        ];
        let kinds: Vec<&str> = rows.iter().map(|row| row["'Target Type"].as_str()).collect();
        assert_eq!(kinds, ["ALL", "MANAGER", "WORKER", "DISK", "DISK", "WORKER", "DISK"]);
        for (row, own) in rows.iter().zip(of_row) {
            let timed = agrees(row, own, NEW_BINARY);
            let bins: f64 = row
                .iter()
                .filter(|(name, _)| name.contains(" to ") || name.contains(">="))
                .map(|(name, _)| number(row, name))
                .sum();
            assert_eq!(bins, timed);
        }
    }
}

#[test]
fn iometer_writes_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    user.write("a.icf", configuration("NORMAL", "ALL"));
    user.fathom("as iometer /c a.icf /r r.csv --on array:md3000?luns=2").done();
    let results = Results::read(&std::fs::read_to_string(user.path("r.csv")).unwrap());
    assert_eq!((results.columns, results.ended), (80, true));
    assert_eq!(results.head[0].1, "0,door- tested");
    assert_eq!(results.head[1].1, "1.1.0");
    assert_eq!(results.head[2].1.len(), "2023-03-25 03:05:43:661".len());
    assert_eq!(
        results.specs[1..4],
        [
            "four kinds,0",
            "'size,% of size,% reads,% random,delay,burst,align,reply",
            "512,50,100,100,0,1,0,0,"
        ]
    );
    agrees_with_the_record(&results, &user.last());
    let all = &results.tests[0][0];
    // What differs among workers is -1, what is the same is said.
    assert_eq!((all["Queue Depth"].as_str(), all["Starting Sector"].as_str()), ("-1", "16"));
    assert_eq!(
        (all["# Managers"].as_str(), all["# Workers"].as_str(), all["# Disks"].as_str()),
        ("1", "2", "3")
    );
    assert_eq!(all["Access Specification Name"], "");
    assert_eq!(results.tests[0][5]["Access Specification Name"], "pages");
    assert_eq!(results.tests[0][3]["Queue Depth"], "4");
}

#[test]
fn iometer_asks_for_the_sizes_mixes_and_depths_of_its_lines() {
    let user = User::new();
    user.write("a.icf", configuration("NORMAL", "ALL"));
    user.fathom("as iometer /c a.icf --on array:md3000?luns=2").done();
    let run = user.last();
    let workloads = run["points"][0]["workloads"].as_array().unwrap();
    let count = |workload: &Value, op: &str, size: u64| -> f64 {
        let classes = workload["classes"].as_array().unwrap().iter();
        classes
            .filter(|class| class["op"] == op && class["size_bytes"] == size)
            .map(|class| class["ops"].as_f64().unwrap())
            .sum()
    };
    let total: f64 =
        workloads[0]["classes"].as_array().unwrap().iter().map(|class| class["ops"].as_f64().unwrap()).sum();
    let share = |op: &str, size: u64| count(&workloads[0], op, size) / total;
    for (found, expected) in [
        (share("read", 512), 0.5),
        (share("write", 4096), 0.3),
        (share("read", 65_536) + share("write", 65_536), 0.2),
        (share("write", 512) + share("read", 4096), 0.0),
    ] {
        assert!((found - expected).abs() < 0.05, "{found} for {expected} of {total}");
    }
    for (workload, depth, on) in [(0, 4, "1"), (1, 4, "2"), (2, 2, "1")] {
        let spec = &workloads[workload]["spec"];
        assert_eq!((spec["depth"].as_u64(), spec["on"].as_str()), (Some(depth), Some(on)));
    }
}

#[test]
fn iometer_lays_out_its_file_in_a_directory_and_removes_it() {
    let user = User::new();
    user.directory("c");
    user.directory("d");
    user.write("a.icf", configuration("CYCLE_OUTSTANDING_IOS", "ALL"));
    user.fathom("as iometer -c a.icf -r r.csv --on c --on d").done();
    let results = Results::read(&std::fs::read_to_string(user.path("r.csv")).unwrap());
    assert_eq!(results.head[0].1, "6,door- tested");
    agrees_with_the_record(&results, &user.last());
    let depths: Vec<&str> = results.tests.iter().map(|rows| rows[0]["Queue Depth"].as_str()).collect();
    assert_eq!(depths, ["1", "4"]);
    // Each processor of this machine, in each test, with the shares that the record has of it.
    let run = user.last();
    let per_test = results.processors.len() / results.tests.len();
    for (point, rows) in results.processors.chunks(per_test).enumerate() {
        let series = run["points"][point]["series"].as_array().unwrap();
        let share = |name: String| -> f64 {
            let values =
                series.iter().find(|each| each["name"] == name.as_str()).unwrap()["values"].as_array();
            let values: Vec<f64> = values.unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
            100.0 * values.iter().sum::<f64>() / values.len() as f64
        };
        for (cpu, row) in rows.iter().enumerate() {
            assert_eq!(row["Target Name"], format!("CPU {cpu}"));
            let busy: f64 =
                ["user", "system", "irq"].iter().map(|state| share(format!("cpu.{cpu}.{state}"))).sum();
            let said = number(row, "% CPU Utilization");
            assert!((said - busy).abs() < 1e-5, "{said} of {busy}");
            assert!(row["IOps"].is_empty());
        }
    }
    assert!(user.files().iter().all(|file| !file.contains("iobw")), "{:?}", user.files());
}

#[test]
fn results_of_before_have_the_columns_of_before_and_are_appended() {
    let user = User::new();
    user.write("a.icf", configuration("NORMAL", "NO_WORKERS"));
    for _ in 0..2 {
        user.fathom("as iometer /c a.icf /r r.csv --results 2006.07.27 --on array:md3000?luns=2").done();
    }
    let results = Results::read(&std::fs::read_to_string(user.path("r.csv")).unwrap());
    assert_eq!((results.columns, results.tests.len()), (56, 2));
    assert_eq!(results.kinds(1), ["ALL", "MANAGER"]);
    let run = user.last();
    let workloads: Vec<&Value> = run["points"][0]["workloads"].as_array().unwrap().iter().collect();
    agrees(&results.tests[1][0], &workloads, ["Read MBps", "Write MBps"]);
}

#[test]
fn a_configuration_is_run_and_converted_like_a_plan() {
    let user = User::new();
    user.write("a.icf", configuration("NORMAL", "ALL"));
    user.fathom("run a.icf --on array:md3000?luns=2 -o x.iometer.csv").done();
    let results = Results::read(&std::fs::read_to_string(user.path("x.iometer.csv")).unwrap());
    assert_eq!(results.kinds(0), ["ALL", "MANAGER", "WORKER", "DISK", "WORKER", "DISK", "WORKER", "DISK"]);
    assert!(results.specs.contains(&"512,50,100,100,0,1,512,0,".to_owned()), "{:?}", results.specs);
    let converted = user.fathom("plan convert a.icf").done();
    assert!(converted.out.contains("# An Iometer configuration of version 2006.07.27"), "{}", converted.out);
    assert!(converted.err.contains("name 2 targets with --on"), "{}", converted.err);
    user.write("a.toml", &converted.out);
    user.fathom("plan check a.toml").done();
    // A drive's name in the old encoding of Windows.
    let bytes: Vec<u8> =
        configuration("NORMAL", "ALL").replace("data", "D\u{e4}ten").chars().map(|c| c as u8).collect();
    user.write("old.icf", bytes);
    assert!(user.fathom("plan convert old.icf").done().out.contains("D\u{e4}ten"));
}

#[test]
fn what_iometer_cannot_ask_here_is_refused_and_nothing_is_touched() {
    let user = User::new();
    let text = configuration("NORMAL", "ALL");
    user.write("a.icf", &text);
    user.write("net.icf", text.replacen("\tDISK\r\n'Default", "\tNETWORK,TCP\r\n'Default", 1));
    let before = user.files();
    user.fathom("as iometer /c a.icf /r r.csv").with(2).saying(&["--on", "`C: \"\"`, `D: \"data\"`"]);
    user.fathom("as iometer /c a.icf --on array:md3000 --on null:").with(2);
    user.fathom("as iometer /c net.icf /r r.csv --on null:").with(2).saying(&["net.icf:", "NETWORK,TCP"]);
    user.fathom("as iometer /c a.icf /q").with(2).saying(&["/q"]);
    user.fathom("as iometer /c none.icf").with(2).saying(&["none.icf"]);
    user.fathom("as dynamo -i host -m me").with(2).saying(&["dynamo", "iometer /c"]);
    user.fathom("run net.icf --on null:").with(2).saying(&["net.icf:", "NETWORK,TCP"]);
    assert_eq!(user.files(), before);
}

/// A drive's own file that somebody else wrote is asked only with consent.
#[test]
fn a_test_file_that_is_there_is_not_written_without_consent() {
    let user = User::new();
    user.directory("c");
    user.directory("d");
    user.write("c/iobw.tst", vec![7u8; 8 << 20]);
    user.write("d/iobw.tst", vec![7u8; 8 << 20]);
    user.write("a.icf", configuration("NORMAL", "ALL"));
    user.fathom("as iometer /c a.icf --on c --on d").with(3);
    assert!(std::fs::read(user.path("c/iobw.tst")).unwrap().iter().all(|byte| *byte == 7));
}

/// Files that others have made, from the folder that `FATHOM_SAMPLES` names.
#[test]
fn every_sample_is_converted_or_refused_with_its_reason() {
    let Ok(samples) = std::env::var("FATHOM_SAMPLES") else {
        return skipped("FATHOM_SAMPLES names no folder with an `iometer` in it");
    };
    let user = User::new();
    for file in std::fs::read_dir(Path::new(&samples).join("iometer")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "icf") {
            continue;
        }
        let ended = user.fathom_of(["plan", "convert", path.to_str().unwrap()]);
        match ended.code {
            Some(0) => {
                assert!(ended.out.contains("# An Iometer configuration"), "{}", path.display());
                user.write("x.toml", &ended.out);
                user.fathom("plan check x.toml").done();
            }
            code => {
                assert!(code == Some(2) && ended.err.contains(".icf"), "{}: {}", path.display(), ended.err);
            }
        }
    }
}

#[test]
fn a_target_is_opened_again_as_the_connection_rate_says() {
    let user = User::new();
    let text = configuration("NORMAL", "ALL").replace("1,DISABLED,1", "1,ENABLED,7");
    let text = text.replace("4,DISABLED,1", "4,ENABLED,7").replace("2,DISABLED,1", "2,ENABLED,7");
    user.write("a.icf", &text);
    let plan = user.fathom("plan convert a.icf").done();
    assert_eq!(plan.out.matches("reopen_every = 7").count(), 3, "{}", plan.out);
    user.directory("real");
    for on in ["array:md3000?luns=2", "real"] {
        let text = match on {
            // One directory is one target.
            "real" => {
                text.replace("'Target\r\n\tD: \"data\"\r\n'Target type\r\n\tDISK\r\n'End target\r\n", "")
            }
            _ => text.clone(),
        };
        user.write("b.icf", text);
        user.fathom(&format!("as iometer /c b.icf /r {}.csv --on {on}", on.len())).done();
        let results =
            Results::read(&std::fs::read_to_string(user.path(&format!("{}.csv", on.len()))).unwrap());
        for row in results.tests.iter().flatten() {
            assert_eq!(row["Transactions per Connection"], "7");
            let count = number(row, "Read I/Os") + number(row, "Write I/Os");
            assert!(count > 14.0, "{row:?}");
            assert_eq!(number(row, "Connections"), (count / 7.0).floor());
            is_near(row, "Connections per Second", number(row, "IOps") / 7.0);
        }
        assert_eq!(user.last()["points"][0]["workloads"][0]["spec"]["reopen_every"], 7);
    }
    user.write("c.icf", configuration("NORMAL", "ALL"));
    user.fathom("as iometer /c c.icf /r c.csv --on array:md3000?luns=2").done();
    let results = Results::read(&std::fs::read_to_string(user.path("c.csv")).unwrap());
    assert_eq!(results.tests[0][0]["Transactions per Connection"], "-1");
}
