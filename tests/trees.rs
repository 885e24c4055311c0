//! Files and directories: what a plan asks for is there while it runs, and nothing of it afterwards.

use std::fs;

use rustix::process::Signal;

use crate::support::{User, wait_until};

const PLAN: &str = r#"
[defaults]
count     = 300
file_size = "0B..20KiB"
levels    = 1
fanout    = 5
workers   = 3

[[phase]]
name = "create"
tree = "create"

[[phase]]
name  = "read"
tree  = "read"
order = "random"

[[phase]]
name  = "delete"
tree  = "delete"
fsync = "end"
"#;

/// Long enough to be met while it goes on.
const ENDLESS: &str = "count = 200\nfile_size = '1KiB'\ntree = 'stat'\nrun = '1h'\n";

#[test]
fn a_plan_of_files_is_carried_out_and_told_in_files_per_second() {
    let user = User::with_plan(PLAN);
    let disk = user.directory("disk");
    let run = user.fathom("run plan.toml --on disk --format json").done().json();
    let points = run["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for (point, op) in points.iter().zip(["create", "read", "delete"]) {
        let workload = &point["workloads"][0];
        assert_eq!(workload["classes"][0]["op"], op);
        assert_eq!(workload["classes"][0]["ops"], 300);
        assert_eq!(workload["errors"], 0);
        assert_eq!(workload["spec"]["tree"], op);
        assert!(workload["summary"][0]["ops_per_s"]["value"].as_f64().unwrap() > 0.0);
    }
    let bytes = |point: usize| points[point]["workloads"][0]["classes"][0]["bytes"].as_u64().unwrap();
    assert_eq!(bytes(0), bytes(1), "what was written is what was read");
    // Each worker has the file system written back once its share is done.
    let sync = &points[2]["workloads"][0]["classes"][1];
    assert_eq!((sync["op"].as_str(), sync["ops"].as_u64()), (Some("sync"), Some(3)));
    assert_eq!(fs::read_dir(disk).unwrap().count(), 0);
    let table = user.fathom("show last").done().out;
    assert!(table.contains("create") && table.contains("IOPS"), "{table}");
}

#[test]
fn a_run_that_is_killed_leaves_its_marked_folder_which_the_next_run_clears_and_says_so() {
    let user = User::with_plan(&format!("[[phase]]\n{ENDLESS}"));
    let disk = user.directory("disk");
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[1/1]");
    let folder = disk.join("fathom-tree");
    let last = folder.join("t0/f000-0000199");
    wait_until("all files are there", || last.exists());
    user.fathom("run plan.toml --on disk").with(2).saying(&["in use by another run"]);
    running.kill_all();
    assert_eq!(running.end().code, None, "it was killed");
    let left: Vec<_> = fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["fathom-tree"]);
    assert!(folder.join(".fathom-tree").exists());
    // With another library nothing is known of it but its mark.
    user.fathom("run plan.toml --on disk --set run=100ms --store elsewhere.sqlite")
        .done()
        .saying(&["disk/fathom-tree is left over from an earlier run and is cleared"]);
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn a_run_that_is_killed_has_its_folder_cleared_and_removed_by_the_next_one_wherever_that_measures() {
    let user = User::with_plan(&format!("[[phase]]\n{ENDLESS}"));
    let disk = user.directory("disk");
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[1/1]");
    wait_until("files are there", || disk.join("fathom-tree/t0/f000-0000199").exists());
    running.kill_all();
    assert_eq!(running.end().code, None, "it was killed");
    let told = user.fathom("run quick --on null: --set run=100ms --no-save").done();
    told.saying(&["restored", "disk/fathom-tree: cleared and removed"]);
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn an_interrupt_removes_the_files_and_keeps_the_record() {
    let user = User::with_plan(&format!("[[phase]]\n{ENDLESS}"));
    let disk = user.directory("disk");
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[1/1]");
    wait_until("files are there", || disk.join("fathom-tree/t0/f000-0000199").exists());
    running.signal(Signal::INT);
    running.end().with(130);
    assert_eq!(fs::read_dir(disk).unwrap().count(), 0);
}

#[test]
fn a_folder_of_that_name_without_the_mark_is_refused_and_not_touched() {
    let user = User::with_plan(PLAN);
    let disk = user.directory("disk");
    fs::create_dir(disk.join("fathom-tree")).unwrap();
    fs::write(disk.join("fathom-tree/precious"), "kept").unwrap();
    user.fathom("run plan.toml --on disk").with(3).saying(&["without Fathom's mark", "was not touched"]);
    assert_eq!(fs::read_to_string(disk.join("fathom-tree/precious")).unwrap(), "kept");
}

#[test]
fn files_are_asked_of_directories_alone() {
    let user = User::with_plan(PLAN);
    user.write("file", vec![0; 1 << 20]);
    user.fathom("run plan.toml --on file --destroy file").with(2).saying(&["give one directory as target"]);
    user.fathom("run plan.toml --on null:").with(2).saying(&["give one directory as target"]);
}

#[test]
fn files_that_are_to_be_kept_are_there_afterwards() {
    let user = User::with_plan(&PLAN[..PLAN.find("[[phase]]\nname  = \"delete\"").unwrap()]);
    let disk = user.directory("disk");
    user.fathom("run plan.toml --on disk --keep").done();
    let files =
        (1..=5).map(|node| fs::read_dir(disk.join(format!("fathom-tree/t0/d{node}"))).unwrap().count());
    assert_eq!(files.collect::<Vec<_>>(), [60; 5]);
}
