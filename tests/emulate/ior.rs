//! IOR, on files of its own names and on a virtual array, as readers of its three outputs see it.

use serde_json::Value;

use super::mdtest::operations;
use crate::support::{Ended, User};

/// A line of the table of phases.
#[derive(Debug)]
struct Line {
    access: String,
    mib_per_s: f64,
    iops: f64,
    block_kib: f64,
    transfer_kib: f64,
    total_s: f64,
    iteration: u32,
}

/// Finds the table by its head and splits each line at blanks, as the scripts around IOR do.
fn table(out: &str) -> Vec<Line> {
    let below = out.lines().skip_while(|line| !line.starts_with("access    bw(MiB/s)")).skip(2);
    let line = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 11, "{line}");
        let figure = |at: usize| cells[at].parse::<f64>().unwrap();
        Line {
            access: cells[0].into(),
            mib_per_s: figure(1),
            iops: figure(2),
            block_kib: figure(4),
            transfer_kib: figure(5),
            total_s: figure(9),
            iteration: cells[10].parse().unwrap(),
        }
    };
    below.take_while(|line| !line.is_empty()).map(line).collect()
}

/// Mean MiB/s of `operation`, by the names of the columns of the summary.
fn summary(out: &str, operation: &str) -> f64 {
    let mut lines = out.lines().skip_while(|line| !line.starts_with("Operation "));
    let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let at = head.iter().position(|name| *name == "Mean(MiB)").unwrap();
    let line = lines.find(|line| line.starts_with(operation)).unwrap();
    line.split_whitespace().nth(at).unwrap().parse().unwrap()
}

fn moved(point: &Value) -> u64 {
    let classes = point["workloads"][0]["classes"].as_array().unwrap();
    classes.iter().map(|class| class["bytes"].as_u64().unwrap()).sum()
}

#[test]
fn what_is_no_count_of_a_stonewall_is_never_overwritten_by_one() {
    let user = User::new();
    user.write("notes.txt", "not a count\n");
    let (path, status) = (user.path("worn"), user.path("notes.txt"));
    let tool = "as ior -w -k -b 64k -t 4k -s 100 -D 1 -O stoneWallingWearOut=1";
    let line = format!("{tool} -o {} -O stoneWallingStatusFile={}", path.display(), status.display());
    let ended = user.fathom(&line).with(8);
    ended.saying(&["notes.txt", "no count of a stone wall", "another file"]);
    assert_eq!(std::fs::read_to_string(&status).unwrap(), "not a count\n");
    assert!(!path.exists(), "it is told before anything is written");
}

#[test]
fn a_stonewall_of_ior_wears_out_and_a_later_call_reads_what_it_wrote() {
    let user = User::new();
    let (path, status) = (user.path("worn"), user.path("left.txt"));
    let both = format!(
        "-k -N 3 -b 64k -t 4k -s 100000 -o {} -O stoneWallingStatusFile={}",
        path.display(),
        status.display()
    );
    let ended = user.fathom(&format!("as ior -w -D 1 -O stoneWallingWearOut=1 {both}")).done();
    let of_tasks = |user: &User| -> Vec<u64> {
        let run = user.last();
        let workers = run["points"][0]["workloads"][0]["workers"].as_array().unwrap().clone();
        workers.iter().map(|worker| worker["ops"].as_u64().unwrap()).collect()
    };
    let each = of_tasks(&user)[0];
    assert!((2..1_600_000).contains(&each), "{each}");
    assert_eq!(of_tasks(&user), [each; 3]);
    assert_eq!(std::fs::read_to_string(&status).unwrap(), each.to_string());
    let columns: Vec<&str> = ended
        .out
        .lines()
        .find(|line| line.starts_with("write  ") && line.contains("POSIX"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(columns[10], "1.00", "{columns:?}");
    assert!(columns[11].parse::<f64>().unwrap() > 0.0, "{columns:?}");
    user.fathom(&format!("as ior -r {both}")).done();
    assert_eq!(of_tasks(&user), [each; 3]);
    user.fathom(&format!("as ior -r -k -N 3 -b 64k -t 4k -s 100000 -o {}", path.display()))
        .with(2)
        .saying(&["are read"]);
}

#[test]
fn ior_prints_what_the_record_holds_of_a_shared_file() {
    let user = User::new();
    let path = user.path("shared");
    let ended: Ended =
        user.fathom(&format!("as ior -N 2 -b 256k -t 64k -s 3 -i 2 -e -o {}", path.display())).done();
    let lines = table(&ended.out);
    let named: Vec<(&str, u32)> = lines.iter().map(|line| (line.access.as_str(), line.iteration)).collect();
    assert_eq!(named, [("write", 0), ("read", 0), ("write", 1), ("read", 1)]);
    let run = user.last();
    let points = run["points"].as_array().unwrap();
    let loads: Vec<&Value> = points.iter().filter(|point| point["kind"] == "load").collect();
    for (line, point) in lines.iter().zip(&loads) {
        assert_eq!(moved(point), 2 * 3 * 256 * 1024);
        let seconds = point["workloads"][0]["measured_ns"].as_u64().unwrap() as f64 / 1e9;
        let rate = moved(point) as f64 / 1_048_576.0 / seconds;
        assert!((line.mib_per_s / rate - 1.0).abs() < 0.01, "{line:?} {rate}");
        assert!((line.iops / (rate * 16.0) - 1.0).abs() < 0.01, "{line:?}");
        assert!((line.total_s - seconds).abs() < 0.01);
        assert_eq!((line.block_kib, line.transfer_kib), (256.0, 64.0));
    }
    let mean = (lines[1].mib_per_s + lines[3].mib_per_s) / 2.0;
    assert!((summary(&ended.out, "read") / mean - 1.0).abs() < 0.01);
    assert!(!path.exists(), "without -k the file goes");
}

#[test]
fn ior_keeps_a_file_for_each_task_and_reads_it_again() {
    let user = User::new();
    let path = user.path("each");
    let name = path.display();
    user.fathom(&format!("as ior -w -k -F -N 2 -b 128k -t 64k -o {name}")).done();
    for task in 0..2 {
        let file = path.with_file_name(format!("each.{task:08}"));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 128 * 1024);
    }
    let ended =
        user.fathom(&format!("as ior -r -k -F -N 2 -b 128k -t 64k -O summaryFormat=CSV -o {name}")).done();
    let mut lines = ended.out.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(head.len(), cells.len());
    let cell = |name: &str| cells[head.iter().position(|column| *column == name).unwrap()];
    assert_eq!((cell("access"), cell("numTasks"), cell("iter")), ("read", "2", "0"));
    assert!(cell("bw(MiB/s)").parse::<f64>().unwrap() > 0.0);
}

#[test]
fn ior_compares_what_it_has_written() {
    let user = User::new();
    let path = user.path("checked");
    let line = format!("as ior -w -W -r -R -N 2 -b 128k -t 64k -o {} -O summaryFormat=JSON", path.display());
    let ended = user.fathom(&line).done();
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let results = json["tests"][0]["Results"].as_array().unwrap();
    let accesses: Vec<&str> = results.iter().map(|row| row["access"].as_str().unwrap()).collect();
    assert_eq!(accesses, ["write", "read"]);
    assert!(json["summary"][1]["bwMeanMIB"].as_f64().unwrap() > 0.0);
    let run = user.last();
    let verified = |point: &Value| point["workloads"][0]["verified"]["checked_bytes"].as_u64();
    let points = run["points"].as_array().unwrap();
    assert_eq!(points.len(), 3, "write, check, read");
    assert!(
        points[1..].iter().all(|point| verified(point) == Some(256 << 10)),
        "{}",
        points[1]["workloads"][0]["verified"]
    );
}

#[test]
fn ior_does_not_overwrite_what_others_have_left() {
    let user = User::new();
    let path = user.write("mine", [7u8; 4096]);
    let ended = user.fathom(&format!("as ior -w -b 64k -t 64k -o {}", path.display()));
    ended.with(3);
    assert_eq!(std::fs::read(&path).unwrap(), [7u8; 4096]);
}

#[test]
fn ior_runs_on_a_virtual_array_whose_records_are_printed_as_its_own() {
    let user = User::new();
    let ended = user.fathom("as ior -N 4 -b 16m -t 1m -s 2 -C -o array:md3000").done();
    let lines = table(&ended.out);
    assert_eq!(lines.len(), 2);
    let shown = user.fathom("show last --format ior").done();
    let again = table(&shown.out);
    assert_eq!(again.len(), 2);
    assert!((again[0].mib_per_s - lines[0].mib_per_s).abs() < 0.02, "{again:?}");
}

#[test]
fn ior_repeats_as_often_as_it_is_told() {
    let user = User::new();
    let path = user.path("thrice");
    let ended = user.fathom(&format!("as ior -F -N 2 -b 64k -t 64k -i 3 -k -o {}", path.display())).done();
    let iterations: Vec<u32> = table(&ended.out).iter().map(|line| line.iteration).collect();
    assert_eq!(iterations, [0, 0, 1, 1, 2, 2]);
}

#[test]
fn ior_finds_what_was_changed_after_a_call_that_only_wrote() {
    let user = User::new();
    let path = user.path("later");
    let name = path.display();
    user.fathom(&format!("as ior -w -k -N 2 -b 128k -t 64k -o {name}")).done();
    let read = format!("as ior -r -R -k -N 2 -b 128k -t 64k -o {name}");
    user.fathom(&read).done();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(100 << 10)..(100 << 10) + 8].copy_from_slice(b"XXXXXXXX");
    std::fs::write(&path, &bytes).unwrap();
    let ended = user.fathom(&read);
    assert_eq!(ended.code, Some(6), "{}", ended.err);
    assert!(ended.err.contains("wrong data"), "{}", ended.err);
    // Nothing that IOR would take for its own.
    std::fs::write(&path, vec![0u8; 256 << 10]).unwrap();
    let ended = user.fathom(&read);
    assert_eq!(ended.code, Some(6), "{}", ended.err);
}

#[test]
fn ior_makes_a_directory_for_each_task_and_says_what_it_did_in_json() {
    let user = User::new();
    let path = user.path("apart");
    let line = format!("as ior -w -k -F -u -N 2 -b 64k -t 64k -O summaryFormat=JSON -o {}", path.display());
    let json: Value = serde_json::from_str(&user.fathom(&line).done().out).unwrap();
    for task in 0..2 {
        let file = path.with_file_name(format!("{task}")).join(format!("apart.{task:08}"));
        assert!(file.exists(), "{}", file.display());
    }
    let test = &json["tests"][0];
    let parameters = &test["Parameters"];
    let on = |key: &str| parameters[key].as_u64();
    let flags = ["readFile", "writeFile", "keepFile", "uniqueDir", "filePerProc"].map(on);
    assert_eq!(flags, [0, 1, 1, 1, 1].map(Some));
    assert!(test["Capacity"].as_str().is_some_and(|size| size.ends_with("iB")), "{test}");
    assert!(test["Path"].as_str().is_some_and(|path| path.ends_with("/0/apart.00000000")), "{test}");
}

#[test]
fn ior_says_of_a_file_that_is_to_be_read_and_is_not_there_that_it_does_not_exist() {
    let user = User::new();
    let name = user.path("absent").display().to_string();
    for (reads, file) in
        [("-r", name.clone()), ("-W", name.clone()), ("-r -F -N 2", format!("{name}.00000000"))]
    {
        let ended = user.fathom(&format!("as ior {reads} -b 128k -t 64k -o {name}"));
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        let said = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("{file} does not exist")), "{said}");
    }
}

#[test]
fn ior_reads_what_other_tasks_wrote_and_compares_it() {
    let user = User::new();
    for shape in ["", "-F ", "-s 2 "] {
        let path = user.path("drawn");
        let line = format!("as ior -w -r -R -Z -Z -X 3 -N 4 -b 128k -t 64k {shape}-o {}", path.display());
        let ended = user.fathom(&line).done();
        assert_eq!(table(&ended.out).len(), 2, "{}", ended.out);
        assert!(ended.out.contains(" 2    3 "), "the summary has reordrand and the seed: {}", ended.out);
        let run = user.last();
        let read = &run["points"][1]["workloads"];
        assert_eq!(read.as_array().map(Vec::len), Some(4));
        let checked = |at: usize| read[at]["verified"]["checked_bytes"].as_u64();
        assert!((0..4).all(|at| checked(at) > Some(0)), "{}", read[0]["verified"]);
    }
}

#[test]
fn ior_fills_a_file_before_random_writes_locks_ranges_and_holds_memory() {
    let user = User::new();
    let path = user.path("filled");
    let options = "-z --randomPrefill 256k --posix.rangelocks -M 4m -c -j 1000";
    let ended =
        user.fathom(&format!("as ior -w -k {options} -N 2 -b 512k -t 64k -o {}", path.display())).done();
    let lines = table(&ended.out);
    let run = user.last();
    let points = run["points"].as_array().unwrap();
    let seconds = |at: usize| points[at]["workloads"][0]["measured_ns"].as_u64().unwrap() as f64 / 1e9;
    assert_eq!([&points[0]["name"], &points[1]["name"]], ["prefill 0", "write 0"]);
    assert!(
        (lines[0].total_s - seconds(0) - seconds(1)).abs() < 1e-4,
        "filling is part of the time: {lines:?}"
    );
    assert_eq!(points[1]["workloads"][0]["engine"]["name"], "locked");
    assert!(ended.out.contains("memoryPerNode       : 4 MiB\n") && ended.out.contains(": collective\n"));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);
}

#[test]
fn ior_carries_out_nothing_where_it_is_told_so() {
    let user = User::new();
    let path = user.path("dry");
    let ended = user.fathom(&format!("as ior --dryRun -b 64k -t 64k -o {}", path.display())).done();
    assert!(
        ended.out.contains("dryRun              : 1\n") && ended.out.contains("Finished"),
        "{}",
        ended.out
    );
    assert!(table(&ended.out).is_empty() && !path.exists());
}

#[test]
fn ior_writes_a_line_for_each_transfer_of_each_task() {
    let user = User::new();
    let path = user.path("shared");
    user.fathom(&format!(
        "as ior -N 2 -b 256k -t 64k -s 3 -i 2 -w -o {} -O savePerOpDataCSV=ops",
        path.display()
    ))
    .done();
    for (repetition, task) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let lines = operations(&user, &format!("ops-{repetition}-{task:05}.csv"));
        assert_eq!(lines.len(), 12);
        assert!(lines.iter().all(|[_, took, tp]| (tp * took / 65536.0 - 1.0).abs() < 1e-5), "{lines:?}");
    }
}
