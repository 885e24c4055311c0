//! mdtest, on a directory and on a virtual array, as a reader of its table sees it.

use std::collections::BTreeMap;

use crate::support::User;

/// Max, Min, Mean and Std Dev by operation, as the scripts around mdtest cut its lines.
fn table(out: &str) -> BTreeMap<String, [f64; 4]> {
    let below = out.lines().skip_while(|line| !line.starts_with("   Operation")).skip(2);
    let row = |line: &str| {
        let (name, figures) = line.trim_start().split_at(22);
        let figures: Vec<f64> = figures.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        (name.trim().to_owned(), figures.try_into().unwrap())
    };
    below.take_while(|line| !line.starts_with("--")).map(row).collect()
}

#[test]
fn mdtest_prints_what_the_record_holds_of_files_in_a_tree() {
    let user = User::new();
    let directory = user.directory("md");
    let line =
        format!("as mdtest -I 5 -z 2 -b 2 -F -u --tasks 2 -w 100 -e 100 -i 2 -d {}", directory.display());
    let ended = user.fathom(&line).done();
    let table = table(&ended.out);
    let names: Vec<&str> = table.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["File creation", "File read", "File removal", "File stat", "Tree creation", "Tree removal"]
    );
    assert!(ended.out.contains("2 tasks, 70 files\n"), "{}", ended.out);
    let run = user.last();
    let of_stat = run["points"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|point| point["name"].as_str().unwrap().starts_with("File stat"));
    let rates: Vec<f64> = of_stat
        .map(|point| {
            let workload = &point["workloads"][0];
            let ops = workload["classes"][0]["ops"].as_u64().unwrap();
            assert_eq!(ops, 70);
            ops as f64 / (workload["measured_ns"].as_u64().unwrap() as f64 / 1e9)
        })
        .collect();
    let [most, least, mean, _] = table["File stat"];
    assert!((mean / (rates.iter().sum::<f64>() / 2.0) - 1.0).abs() < 1e-3, "{rates:?} {mean}");
    assert!(most >= mean && mean >= least && rates.len() == 2);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_stone_wall_of_mdtest_leaves_each_task_as_many_files_for_the_later_tests() {
    let user = User::new();
    let directory = user.directory("md");
    let more = "-F -n 1000000 --tasks 3 -W 1 -i 2 -x left.txt";
    for target in [directory.display().to_string(), "array:md3000".into()] {
        user.fathom(&format!("as mdtest {more} -d {target}")).done();
        let run = user.last();
        let points = run["points"].as_array().unwrap();
        let ops = |point: &serde_json::Value| -> Vec<u64> {
            let workers = point["workloads"][0]["workers"].as_array().unwrap();
            workers.iter().map(|worker| worker["ops"].as_u64().unwrap()).collect()
        };
        // Creation, stat, read and removal, twice.
        assert_eq!(points.len(), 8, "{run}");
        for repetition in points.chunks(4) {
            let each = ops(&repetition[0])[0];
            assert!((2..1_000_000).contains(&each), "{each}");
            for point in repetition {
                assert_eq!(ops(point), [each; 3], "{}", point["name"]);
                assert_eq!(point["workloads"][0]["errors"].as_u64().unwrap_or(0), 0);
            }
        }
        let left = std::fs::read_to_string(user.path("left.txt")).unwrap();
        assert_eq!(left, ops(&points[4])[0].to_string());
    }
}

#[test]
fn mdtest_tests_directories_and_files_side_by_side() {
    let user = User::new();
    let directory = user.directory("md");
    let ended = user.fathom(&format!("as mdtest -n 20 --tasks 2 -d {}", directory.display())).done();
    let table = table(&ended.out);
    assert!(table.contains_key("Directory creation") && table.contains_key("Directory removal"));
    let run = user.last();
    let ops = |at: usize| run["points"][at]["workloads"][0]["classes"][0]["ops"].as_u64().unwrap();
    assert!((0..8).all(|at| ops(at) == 40), "directories are made, statted, renamed and removed, then files");
    assert_eq!(table.len(), 8, "{table:?}");
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn mdtest_runs_on_a_virtual_array() {
    let user = User::new();
    let ended = user.fathom("as mdtest -n 50 -F -w 1k -d array:md3000").done();
    assert!(table(&ended.out)["File creation"][2] > 0.0);
    let shown = user.fathom("show last --format mdtest").done();
    assert!(shown.out.contains("   File removal "), "{}", shown.out);
}

#[test]
fn mdtest_compares_shares_shifts_and_locks_files() {
    let user = User::new();
    let directory = user.directory("md");
    for options in [
        "-N 1 -w 4k -e 4k -X --verify-write -y",
        "-N 1 -u -w 3901 -e 3901 -X --posix.rangelocks",
        "-S -w 1k -e 1k -X",
        "-c -w 5000 -e 5000 -X",
        "-k -Y",
        "-w 4k -e 4k --posix.odirect -X",
        "-c -u -R",
    ] {
        let line = format!("as mdtest -F -n 20 --tasks 3 {options} -d {}", directory.display());
        let ended = user.fathom(&line).done();
        let table = table(&ended.out);
        let tests = ["File creation", "File read", "File removal", "File stat"];
        assert!(tests.iter().all(|test| table[*test][2] > 0.0), "{options}: {}", ended.out);
        let run = user.last();
        let points = run["points"].as_array().unwrap();
        let failed = |point: &serde_json::Value| point["workloads"][0]["errors"].as_u64();
        assert!(points.iter().all(|point| failed(point) == Some(0)), "{options}");
        if options.contains("-X") {
            let read = points.iter().find(|point| point["name"] == "File read 0").unwrap();
            assert!(read["workloads"][0]["verified"]["checked_bytes"].as_u64() > Some(0), "{options}");
        }
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0, "{options}");
    }
}

#[test]
fn mdtest_prints_what_tasks_did_and_runs_commands_around_phases() {
    let user = User::new();
    let (directory, details, ran) = (user.directory("md"), user.path("details.csv"), user.path("ran"));
    let line = vec![
        "as",
        "mdtest",
        "-n",
        "30",
        "--tasks",
        "2",
        "-f",
        "1",
        "-l",
        "2",
        "-P",
        "--showRankStatistics",
        "--print-all-procs",
    ];
    let mut words: Vec<String> = line.into_iter().map(str::to_owned).collect();
    words.push(format!("--saveRankPerformanceDetails={}", details.display()));
    words.push(format!("--run-cmd-after-phase=echo x >> {}; sleep 0.02", ran.display()));
    words.extend(["-d".to_owned(), directory.display().to_string()]);
    let ended = user.fathom_of(&words).done();
    for said in [
        "1 tasks, 30 files/directories\n",
        "2 tasks, 60 files/directories\n",
        "SUMMARY time",
        "per Rank: Max",
    ] {
        assert!(ended.out.contains(said), "{said}: {}", ended.out);
    }
    assert_eq!(ended.out.matches("Per process result (rate):").count(), 2);
    let csv = std::fs::read_to_string(&details).unwrap();
    assert_eq!(csv.lines().count(), 1 + (1 + 1) + (1 + 2), "{csv}");
    assert_eq!(std::fs::read_to_string(&ran).unwrap().lines().count(), 8 + 16, "each task after each phase");
    let slow = csv.lines().nth(1).unwrap().split(',').nth(5).unwrap().parse::<f64>().unwrap();
    assert!(slow >= 0.02, "the command is part of the time: {slow}");
}

#[test]
fn mdtest_makes_as_many_items_as_a_stone_wall_has_left() {
    let user = User::new();
    let (directory, status) = (user.directory("md"), user.path("status"));
    std::fs::write(&status, "17\n").unwrap();
    let line = format!("as mdtest -F -T -n 40 -x {} -d {}", status.display(), directory.display());
    user.fathom(&line).done();
    assert_eq!(user.last()["points"][0]["workloads"][0]["classes"][0]["ops"], 17);
}

/// The lines of a file of `savePerOpDataCSV`: when each operation began, how long it took, and bytes a second.
pub fn operations(user: &User, name: &str) -> Vec<[f64; 3]> {
    let text = std::fs::read_to_string(user.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (head, lines) = text.split_once('\n').unwrap();
    assert_eq!(head, "time,runtime,tp");
    let figures = |line: &str| {
        let figures: Vec<f64> = line.split(',').map(|figure| figure.parse().unwrap()).collect();
        figures.try_into().unwrap()
    };
    let lines: Vec<[f64; 3]> = lines.lines().map(figures).collect();
    assert!(lines.is_sorted_by(|one, next| one[0] + one[1] <= next[0] + 1e-6), "one after the other: {text}");
    lines
}

#[test]
fn mdtest_writes_a_line_for_each_operation_on_a_file_of_each_task() {
    for on in ["dir", "array:md3000"] {
        let user = User::new();
        let directory = user.directory("md");
        let on = if on == "dir" { directory.display().to_string() } else { on.into() };
        let line = format!("as mdtest -n 30 --tasks 2 -w 4k -e 4k -i 2 -Y --savePerOpDataCSV ops -d {on}");
        let ended = user.fathom(&line).done();
        for (test, bytes) in [("creation", 4096.0), ("stat", 1.0), ("read", 4096.0), ("removal", 4096.0)] {
            let least = table(&ended.out)[&format!("File {test}")][1];
            for task in 0..2 {
                let lines = operations(&user, &format!("ops-File {test}-{task:05}.csv"));
                assert_eq!(lines.len(), 30, "of the last repetition alone, and no flush at its end");
                let slow = lines.iter().filter(|[_, took, tp]| (tp * took / bytes - 1.0).abs() > 1e-5);
                assert_eq!(slow.count(), 0, "{lines:?}");
                let [began, took, _] = lines[29];
                assert!(began + took <= 60.0 / least * 1.001, "{test}: {began} {took} {least}");
            }
        }
        let written = std::fs::read_dir(user.path(""))
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        assert_eq!(written.filter(|name| name.ends_with(".csv")).count(), 8, "none of directories");
    }
}

#[test]
fn a_directory_that_is_not_there_is_made_and_goes_again() {
    let user = User::new();
    let line = format!("as mdtest -n=10 -d {}", user.path("new").display());
    let ended = user.fathom(&line).done();
    assert!(table(&ended.out)["File creation"][0] > 0.0, "{}", ended.out);
    assert_eq!(user.files(), Vec::<String>::new(), "what mdtest has made it removes");
    // Without removing it stays, with what is in it; one above it is not made.
    user.fathom(&format!("{line} -C")).done();
    assert!(user.path("new").is_dir());
    let deep = user.path("none/new");
    user.fathom(&format!("as mdtest -n 10 -d {}", deep.display()))
        .with(2)
        .saying(&["no directory", "to create it in"]);
}
