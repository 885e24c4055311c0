//! Orion, on files and on virtual arrays. Its files are read as other programs read them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::{Loop, User};

/// Figures of a table by (small, large); rows without figures are there as well.
struct Table {
    columns: Vec<u32>,
    rows: Vec<u32>,
    cells: BTreeMap<(u32, u32), f64>,
}

impl Table {
    /// Skips whatever stands before the heading, as readers of 11.2 must.
    fn read(text: &str) -> Table {
        let numbers = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = text.lines().skip_while(|line| !line.starts_with("Large/Small"));
        let heading = lines.next().unwrap();
        let columns: Vec<u32> = numbers(heading)[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let (mut rows, mut cells) = (Vec::new(), BTreeMap::new());
        for line in lines {
            let row = numbers(line);
            let large = row[0].parse().unwrap();
            rows.push(large);
            for (small, cell) in columns.iter().zip(&row[1..]).filter(|(_, cell)| !cell.is_empty()) {
                cells.insert((*small, large), cell.parse().unwrap());
            }
        }
        Table { columns, rows, cells }
    }
}

/// What a summary says, by the words before `:` or `=`.
fn said(summary: &str) -> BTreeMap<String, String> {
    let lines = summary.lines().filter_map(|line| line.split_once([':', '=']));
    lines.map(|(what, value)| (what.to_owned(), value.trim().to_owned())).collect()
}

/// `value @ Small=s and Large=l`
fn best(said: &BTreeMap<String, String>, what: &str) -> (f64, (u32, u32)) {
    let (value, load) = said[what].split_once(" @ Small=").unwrap();
    let (small, large) = load.split_once(" and Large=").unwrap();
    (value.split(' ').next().unwrap().parse().unwrap(), (small.parse().unwrap(), large.parse().unwrap()))
}

/// IOPS and mean latency (ms) of small requests and MB/s of large ones, by (small, large), from the record alone.
#[derive(Default)]
struct Recorded {
    iops: BTreeMap<(u32, u32), f64>,
    ms: BTreeMap<(u32, u32), f64>,
    mbps: BTreeMap<(u32, u32), f64>,
}

impl Recorded {
    fn of(run: &Value) -> Recorded {
        let mut recorded = Recorded::default();
        for point in run["points"].as_array().unwrap() {
            let workloads = point["workloads"].as_array().unwrap();
            let of = |kind: &str| {
                let named = |one: &&Value| one["name"].as_str().unwrap().starts_with(kind);
                workloads.iter().filter(named).collect::<Vec<_>>()
            };
            let (small, large) = (of("small"), of("large"));
            let number = |one: &Value, key: &str| u32::try_from(one["spec"][key].as_u64().unwrap()).unwrap();
            let load = (
                small.iter().map(|one| number(one, "depth")).sum(),
                large
                    .iter()
                    .map(|one| match one["spec"]["pattern"].as_str().unwrap() {
                        "sequential" => number(one, "workers"),
                        _ => number(one, "depth"),
                    })
                    .sum(),
            );
            if let Some(one) = small.first() {
                let total = &one["summary"][0];
                recorded.iops.insert(load, total["ops_per_s"]["value"].as_f64().unwrap());
                recorded.ms.insert(load, total["response"]["mean_ns"].as_f64().unwrap() / 1e6);
            }
            if !large.is_empty() {
                let rates =
                    large.iter().map(|one| one["summary"][0]["bytes_per_s"]["value"].as_f64().unwrap());
                recorded.mbps.insert(load, rates.sum::<f64>() / f64::from(1 << 20));
            }
        }
        recorded
    }
}

/// The files of one test, without what their names begin with.
fn results(user: &User, begin: &str) -> BTreeMap<String, String> {
    let names = user.files().into_iter().filter(|name| name.starts_with(begin) && !name.ends_with(".lun"));
    names
        .map(|name| {
            let ending = name.rsplit('_').next().unwrap().to_owned();
            (ending, fs::read_to_string(user.path(&name)).unwrap())
        })
        .collect()
}

fn same(table: &BTreeMap<(u32, u32), f64>, recorded: &BTreeMap<(u32, u32), f64>, rounding: f64) {
    assert_eq!(table.keys().collect::<Vec<_>>(), recorded.keys().collect::<Vec<_>>());
    for (load, value) in table {
        assert!((value - recorded[load]).abs() <= rounding, "{load:?}: {value} and {}", recorded[load]);
    }
}

#[test]
fn a_second_test_of_the_same_minute_leaves_the_results_of_the_first() {
    let user = User::new();
    user.write("mytest.lun", "null:\n");
    for _ in 0..3 {
        let point = "-run advanced -type rand -matrix point -num_small 1 -num_large 0 -duration 1";
        user.fathom(&format!("as orion {point} -testname mytest -num_disks 1")).done();
    }
    let of_kind = |end: &str| user.files().iter().filter(|name| name.ends_with(end)).count();
    assert_eq!((of_kind("_summary.txt"), of_kind("_trace.txt")), (3, 3));
    assert!(!user.files().iter().any(|name| name.ends_with(".part")));
}

#[test]
fn a_simple_run_on_a_virtual_array_leaves_the_files_of_orion() {
    let user = User::new();
    user.write("mytest.lun", "array:md3000\n");
    let ended = user.fathom("as orion -run simple -testname mytest -num_disks 2 -duration 2").done();
    let begin =
        user.files().iter().find_map(|name| name.strip_suffix("_summary.txt").map(str::to_owned)).unwrap();
    let stamp = begin.strip_prefix("mytest_").unwrap();
    assert!(stamp.len() == 13 && stamp.as_bytes()[8] == b'_', "{stamp}");
    assert_eq!(
        ended.out,
        format!(
            "ORION: ORacle IO Numbers -- Version 11.1.0.7.0\n{begin}\nTest will take approximately 2 minutes\n\
             Larger caches may take longer\n"
        )
    );
    let files = results(&user, "mytest_");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["hist.txt", "iops.csv", "lat.csv", "mbps.csv", "summary.txt", "trace.txt"]);

    let recorded = Recorded::of(&user.last());
    let (iops, lat) = (Table::read(&files["iops.csv"]), Table::read(&files["lat.csv"]));
    assert_eq!((iops.columns.clone(), iops.rows.clone()), ((1..=10).collect(), (0..=4).collect::<Vec<_>>()));
    assert!(files["iops.csv"].ends_with("          1\n          2\n          3\n          4\n"));
    same(&iops.cells, &recorded.iops, 0.5);
    same(&lat.cells, &recorded.ms, 0.005_001);
    let mbps = Table::read(&files["mbps.csv"]);
    assert_eq!((mbps.columns, mbps.rows), ((0..=10).collect(), vec![1, 2, 3, 4]));
    same(&mbps.cells, &recorded.mbps, 0.005_001);

    let said = said(&files["summary.txt"]);
    for (what, value) in [
        ("Test", "mytest"),
        ("Small IO size", "8 KB"),
        ("Large IO size", "1024 KB"),
        ("IO Types", "Small Random IOs, Large Random IOs"),
        ("Simulated Array Type", "CONCAT"),
        ("Write", "0%"),
        ("Cache Size", "Not Entered"),
        ("Duration for each Data Point", "2 seconds"),
        ("Small Columns", ",      0"),
        ("Large Columns", ",      0,      1,      2,      3,      4"),
        ("Total Data Points", "15"),
    ] {
        assert_eq!(said[what], value, "{what}");
    }
    let size = user.last()["targets"][0]["size_bytes"].as_u64().unwrap();
    assert_eq!(said["Name"], format!("array:md3000\tSize: {size}"));
    assert!(files["summary.txt"].contains("\n1 FILEs found.\n"));
    for (what, table) in [("Maximum Large MBPS", &mbps.cells), ("Maximum Small IOPS", &iops.cells)] {
        let (value, load) = best(&said, what);
        assert_eq!(value, table[&load], "{what}");
        assert_eq!(table.values().copied().fold(0.0, f64::max), value, "{what}");
    }
    let (least, load) = best(&said, "Minimum Small Latency");
    assert_eq!((least, lat.cells.values().copied().fold(f64::MAX, f64::min)), (lat.cells[&load], least));

    // The same from the library.
    let again = |format: &str| user.fathom(&format!("show last --format {format}")).done().out;
    assert_eq!(again("orion-iops"), files["iops.csv"]);
    assert_eq!(again("orion-lat"), files["lat.csv"]);
    assert_eq!(again("orion-mbps"), files["mbps.csv"]);
    assert_eq!(again("orion-hist"), files["hist.txt"]);
    assert!(again("orion").contains(&format!("\nMaximum Small IOPS={}\n", said["Maximum Small IOPS"])));
}

#[test]
fn histograms_hold_every_request_of_each_data_point() {
    let user = User::new();
    user.write("h.lun", "array:md3000\n");
    let line =
        "as orion -run advanced -testname h -matrix max -num_small 2 -num_large 1 -duration 2 -write 30";
    let ended = user.fathom(&format!("{line} -shape 11.2 -verbose")).done();
    let files = results(&user, "h_");
    let run = user.last();
    let mut tables = 0;
    for table in files["hist.txt"].split("\n\n").filter(|table| !table.trim().is_empty()) {
        tables += 1;
        let mut lines = table.lines();
        let (kind, load) =
            lines.next().unwrap().split_once(" Read / Write Latency Histogram @ Small=").unwrap();
        let (small, large) = load.split_once(" and Large=").unwrap();
        assert_eq!(
            lines.next(),
            Some("        Latency:                         # of IOs (read)          # of IOs (write)")
        );
        let counts: Vec<[u64; 2]> = lines
            .map(|line| {
                let (range, cells) = line.split_once("us:").unwrap();
                let (from, to) = range.split_once(" - ").unwrap();
                assert!(from.trim().parse::<u64>().unwrap() < to.trim().parse::<u64>().unwrap());
                let mut cells = cells.split(" (").map(|cell| cell.rsplit(')').next().unwrap().trim());
                [(); 2].map(|()| cells.next().unwrap().parse().unwrap())
            })
            .collect();
        let name = match (small, large) {
            (small, "0") => format!("small {small}, large 0"),
            (small, large) => format!("small {small}, large {large}"),
        };
        let points = run["points"].as_array().unwrap();
        let point =
            points.iter().find(|point| point["name"] == name.as_str()).unwrap_or_else(|| panic!("{name}"));
        let workloads = point["workloads"].as_array().unwrap();
        let workload = workloads.iter().find(|one| one["name"] == kind.to_lowercase().as_str()).unwrap();
        for (column, op) in ["read", "write"].into_iter().enumerate() {
            let classes = workload["classes"].as_array().unwrap().iter().filter(|class| class["op"] == op);
            let count: u64 = classes.map(|class| class["response"]["count"].as_u64().unwrap()).sum();
            assert_eq!(counts.iter().map(|row| row[column]).sum::<u64>(), count, "{name} {op}");
            assert!(count > 0, "{name} {op}");
        }
    }
    assert_eq!(tables, 2 + 1 + 2 * 2, "small alone twice, large alone, both twice");

    // 11.2: microseconds, both operations, and all of it on the console too.
    let lat = Table::read(&files["lat.csv"]);
    assert!(!files["lat.csv"].starts_with("Large/Small"));
    let (least, load) = best(&said(&files["summary.txt"]), "Minimum Small Latency");
    assert_eq!(least, lat.cells[&load]);
    let recorded = Recorded::of(&run);
    assert!((least / 1e3 - recorded.ms[&load]).abs() < 1e-5 * least);
    assert!(files["summary.txt"].contains("\nSmall Write Latency: avg="));
    assert!(ended.out.contains("Calibration will take approximately"));
    assert!(ended.out.contains("usecs @ Small="));
    assert!(ended.out.contains("Small=2 and Large=1\n  small: "), "the log, as it is made:\n{}", ended.out);
    assert!(files["trace.txt"].contains("Small=2 and Large=1\n  small: "));
}

#[test]
fn two_files_are_one_striped_volume_and_small_stands_beside_large() {
    let user = User::new();
    user.write("a", vec![7u8; 16 << 20]);
    user.write("b", vec![7u8; 16 << 20]);
    user.write("two.lun", "a\nb\n");
    let line = "as orion -run advanced -testname two -matrix point -num_small 3 -num_large 2 -duration 1";
    user.fathom(&format!("{line} -simulate raid0 -stripe 2048 -shape 10.2")).done();
    let run = user.last();
    let workloads = run["points"][0]["workloads"].as_array().unwrap();
    let key = |of: usize, key: &str| workloads[of]["spec"][key].clone();
    assert_eq!((key(0, "size"), key(0, "depth")), ("8KiB".into(), 3.into()));
    assert_eq!((key(1, "size"), key(1, "depth")), ("1MiB".into(), 2.into()));
    assert!(key(0, "luns").as_str().unwrap().starts_with("striped(2"), "{}", key(0, "luns"));
    let files: Vec<String> = user.files().into_iter().filter(|name| name.starts_with("two_")).collect();
    assert_eq!(
        files,
        ["two_hist.txt", "two_iops.csv", "two_lat.csv", "two_mbps.csv", "two_summary.txt", "two_trace.txt"]
    );
    let summary = fs::read_to_string(user.path("two_summary.txt")).unwrap();
    assert!(summary.starts_with("ORION VERSION 10.2.0.1.0\n"));
    assert!(summary.contains("Simulated Array Type: RAID 0\nStripe Depth: 2048 KB\n"), "{summary}");
    assert!(
        summary.contains("Name: a\tSize: 16777216\nName: b\tSize: 16777216\n2 FILEs found.\n"),
        "{summary}"
    );
    let iops = fs::read_to_string(user.path("two_iops.csv")).unwrap();
    let value = Recorded::of(&run).iops[&(3, 2)];
    assert_eq!(iops, format!("Large/Small,      3\n          2,{value:7.0}\n"));
    assert_eq!(fs::read(user.path("a")).unwrap(), vec![7u8; 16 << 20], "nothing is written");

    // Its own results are written over, other files are not.
    user.fathom(&format!("{line} -shape 10.2")).done();
    user.write("two_lat.csv", "my own notes");
    user.fathom(&format!("{line} -shape 10.2")).with(2).saying(&["two_lat.csv", "-testname"]);
    assert_eq!(fs::read(user.path("two_lat.csv")).unwrap(), b"my own notes");
}

#[test]
fn streams_follow_random_requests_that_are_in_no_figure() {
    let user = User::new();
    user.write("s.lun", "array:md3000?luns=2\n");
    let line = "as orion -run advanced -testname s -type seq -matrix point -num_small 0 -num_large 4";
    user.fathom(&format!("{line} -write 25 -cache_size 300 -duration 3 -num_streamIO 2")).done();
    let run = user.last();
    let points = run["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    let warming = &points[0]["workloads"][0];
    let moved: u64 =
        warming["classes"].as_array().unwrap().iter().map(|class| class["bytes"].as_u64().unwrap()).sum();
    assert_eq!((moved, warming["spec"]["pattern"].as_str()), (300 << 20, Some("random(repeats)")));
    let streams = points[1]["workloads"].as_array().unwrap();
    let of = |at: usize, key: &str| streams[at]["spec"][key].as_u64().unwrap();
    assert_eq!((of(0, "workers"), of(1, "workers"), of(0, "depth")), (3, 1, 2));
    assert_eq!(
        (streams[0]["summary"][0]["op"].as_str(), streams[1]["summary"][0]["op"].as_str()),
        (Some("read"), Some("write"))
    );
    let files = results(&user, "s_");
    let mbps = Table::read(&files["mbps.csv"]);
    same(&mbps.cells, &Recorded::of(&run).mbps, 0.005_001);
    assert_eq!(mbps.cells.keys().collect::<Vec<_>>(), [&(0, 4)]);
    let said = said(&files["summary.txt"]);
    assert_eq!(said["IO Types"], "Small Random IOs, Large Sequential Streams");
    assert_eq!(said["Number of Concurrent IOs Per Stream"], "2");
    assert_eq!((said["Cache Size"].as_str(), said["Write"].as_str()), ("300 MB", "25%"));
    assert!(files["trace.txt"].contains("300 MB of random requests, not measured"), "{}", files["trace.txt"]);
    assert!(!files["summary.txt"].contains("Maximum Small"));
}

#[test]
fn what_orion_writes_to_wants_consent() {
    let user = User::new();
    let disk = user.write("disk", vec![7u8; 8 << 20]);
    user.write("w.lun", "disk\n");
    let words = "orion -run oltp -testname w -num_disks 1 -duration 1 -write 50";
    user.fathom(&format!("as {words}")).with(3).saying(&["consent"]);
    assert_eq!(fs::read(&disk).unwrap(), vec![7u8; 8 << 20]);
    assert_eq!(user.files(), ["disk", "w.lun"]);
    let point =
        "orion -run advanced -matrix point -num_small 2 -num_large 0 -testname w -duration 1 -write 50";
    user.fathom(&format!("as --destroy {} {point}", disk.display())).done();
    assert_ne!(fs::read(&disk).unwrap(), vec![7u8; 8 << 20]);
    let classes = user.last()["points"][0]["workloads"][0]["classes"].clone();
    let ops = |op: &str| {
        let mut found = classes.as_array().unwrap().iter().filter(|class| class["op"] == op);
        found.next().unwrap()["ops"].as_f64().unwrap()
    };
    let part = ops("write") / (ops("read") + ops("write"));
    assert!((0.4..=0.6).contains(&part), "{part}");

    // Several LUNs want several consents.
    let other = user.write("other", vec![7u8; 8 << 20]);
    user.write("w.lun", "disk\nother\n");
    let one = format!("as --destroy {} {point}", disk.display());
    user.fathom(&one).with(3).saying(&["other"]);
    assert_eq!(fs::read(&other).unwrap(), vec![7u8; 8 << 20]);
    user.fathom(&format!(
        "as --destroy {} --destroy {} {point} -simulate raid0",
        disk.display(),
        other.display()
    ))
    .done();
    assert_ne!(fs::read(&other).unwrap(), vec![7u8; 8 << 20]);
    assert_eq!(user.last()["consents"].as_array().unwrap().len(), 2);
}

/// Read requests and sectors that the kernel has completed.
/// Source: Documentation/block/stat.rst; merged requests were requests before they were merged.
fn counted(device: &Loop) -> [u64; 2] {
    let text = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().unwrap()).collect();
    [fields[0] + fields[1], fields[2]]
}

#[test]
fn the_kernel_counts_what_orion_asks_for() {
    let user = User::new();
    let Some(device) = Loop::make(&user, 32 << 20) else { return };
    user.write("k.lun", format!("{}\n", device.node));
    let before = counted(&device);
    let line = "as orion -run advanced -testname k -matrix point -num_small 4 -num_large 2 -duration 2";
    user.fathom(&format!("{line} -size_large 256")).done();
    let after = counted(&device);
    let run = user.last();
    let workloads = run["points"][0]["workloads"].as_array().unwrap();
    let total = |key: &str| -> u64 {
        workloads.iter().map(|workload| workload["totals"][0][key].as_u64().unwrap()).sum()
    };
    for (at, asked) in [total("ops"), total("bytes") / 512].into_iter().enumerate() {
        let share = (after[at] - before[at]) as f64 / asked as f64;
        assert!((share - 1.0).abs() <= 0.005, "the kernel {}, the record {asked}", after[at] - before[at]);
    }
    // Each keeps its own number in flight all the time.
    for (workload, depth) in workloads.iter().zip([4.0, 2.0]) {
        let in_flight = workload["mean_in_flight"].as_f64().unwrap();
        assert!((in_flight / depth - 1.0).abs() < 0.25, "{in_flight} of {depth}");
    }
}

#[test]
fn a_mistake_is_named_and_nothing_is_touched() {
    let user = User::new();
    user.directory("folder");
    user.write("small", vec![7u8; 4096]);
    for (list, words, told) in [
        ("", "-run simple", "t.lun:1"),
        ("small\n# a comment\n", "-run simple", "t.lun:2"),
        ("folder\n", "-run simple", "is a directory"),
        ("\nmissing\n", "-run simple", "t.lun:2: missing"),
        ("small\n", "-run simple", "1048576 bytes"),
        ("array:md3000\n", "-run fast", "`simple`, `normal`"),
        ("array:md3000\n", "-run simple -num_dsks 3", "did you mean `-num_disks`"),
        ("array:md3000\n", "-run advanced -storax asmlib", "not supported"),
        ("array:md3000\n", "-run simple -simulate raid0 -stripe 64", "within one stripe"),
        ("array:md3000\narray:ix2-200\n", "-run simple", "luns=2"),
        ("array:md3000\n", "-run advanced -matrix col", "-num_small"),
    ] {
        user.write("t.lun", list);
        user.fathom(&format!("as orion -testname t {words}")).with(2).saying(&[told]);
    }
    user.fathom("as orion -run simple -testname nowhere").with(2).saying(&["nowhere.lun"]);
    assert_eq!(user.files(), ["folder", "small", "t.lun"]);
    let help = user.fathom("as orion -help").done().out;
    assert!(help.contains("-num_streamIO") && help.contains("-hugenotneeded"));
}

#[test]
fn the_samples_have_the_shape_of_our_tables() {
    let Some(folder) = std::env::var_os("FATHOM_SAMPLES") else {
        crate::support::skipped("FATHOM_SAMPLES does not name a folder with real outputs of tools");
        return;
    };
    let samples = std::path::Path::new(&folder).join("orion");
    let user = User::new();
    user.write("mytest.lun", "array:md3000\n");
    user.fathom("as orion -run simple -testname mytest -num_disks 1 -duration 1").done();
    let ours = results(&user, "mytest_");
    // Digits are all that may differ: every comma, space and line end stands in its place.
    let shape = |text: &str| {
        let lines = text.lines().map(|line| {
            line.split(',').map(|cell| format!("{}", cell.chars().count())).collect::<Vec<_>>().join(",")
        });
        lines.collect::<Vec<_>>()
    };
    for name in ["iops.csv", "lat.csv", "mbps.csv"] {
        let real = fs::read_to_string(samples.join(format!("mytest_20190329_1057_{name}"))).unwrap();
        assert_eq!(shape(&ours[name]), shape(&real), "{name}");
        assert_eq!(ours[name].ends_with('\n'), real.ends_with('\n'), "{name}");
    }
    let real = fs::read_to_string(samples.join("mytest_20081111_1431_summary.txt")).unwrap();
    let words = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| line.split([':', '=', ',']).next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut ours = words(&ours["summary.txt"]);
    let mut real = words(&real);
    // The command line is another.
    ours[2].clear();
    real[2].clear();
    assert_eq!(ours, real);
}
