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
fn mdtest_tests_directories_and_files_side_by_side() {
    let user = User::new();
    let directory = user.directory("md");
    let ended = user.fathom(&format!("as mdtest -n 20 --tasks 2 -d {}", directory.display())).done();
    let table = table(&ended.out);
    assert!(table.contains_key("Directory creation") && table.contains_key("Directory removal"));
    let run = user.last();
    let ops = |at: usize| run["points"][at]["workloads"][0]["classes"][0]["ops"].as_u64().unwrap();
    assert_eq!((ops(0), ops(1), ops(2)), (40, 40, 40), "directories made, removed, files made");
}

#[test]
fn mdtest_runs_on_a_virtual_array() {
    let user = User::new();
    let ended = user.fathom("as mdtest -n 50 -F -w 1k -d array:md3000").done();
    assert!(table(&ended.out)["File creation"][2] > 0.0);
    let shown = user.fathom("show last --format mdtest").done();
    assert!(shown.out.contains("   File removal "), "{}", shown.out);
}
