//! Rebuilds: of virtual arrays, of btrfs on loop devices that the test makes, and through a command.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Loop, User, lacks, skipped};

const PLAN: &str = r#"
name = "life"

[defaults]
size  = "8KiB"
reads = "100%"
depth = 4
run   = "200ms"

[[phase]]
name = "before"

[[phase]]
state = "rebuild"
wait  = false

[[phase]]
name = "beside"

[[phase]]
state = "watch rebuild"

[[phase]]
name = "after"
"#;

/// Share done of every point that tells it, in order.
fn courses(run: &Value) -> Vec<Vec<f64>> {
    let points = run["points"].as_array().unwrap().iter();
    let series = points
        .flat_map(|point| point["series"].as_array().unwrap())
        .filter(|one| one["name"] == "rebuild done");
    series
        .map(|one| one["values"].as_array().unwrap().iter().map(|part| part.as_f64().unwrap()).collect())
        .collect()
}

#[test]
fn the_ready_plan_rebuilds_a_virtual_array_and_says_how_long_it_took() {
    let user = User::new();
    let ended = user.fathom("run rebuild --on array:md3000?raid=5 --set run=5s --set warmup=0s").done();
    assert!(ended.out.contains("rebuild: done in "), "{}", ended.out);
    assert!(ended.out.contains("since its beginning: 10 % "), "{}", ended.out);
    let run = user.last();
    let names: Vec<&str> =
        run["points"].as_array().unwrap().iter().map(|point| point["name"].as_str().unwrap()).collect();
    let expected =
        ["healthy", "fail disk 0", "degraded", "rebuild", "rebuilding", "watch rebuild", "rebuilt"];
    assert_eq!(names, expected);
    assert_eq!(courses(&run).last().unwrap().last(), Some(&1.0));
}

#[test]
fn a_rebuild_is_followed_through_a_command() {
    let user = User::with_plan(PLAN);
    let part = user.write("part", "0%\n");
    let begin = "for p in 10 40 70; do echo $p% > part; sleep 0.3; done; echo 100% > part";
    let line =
        ["run", "plan.toml", "--on", "null:1GiB", "--progress-cmd", "cat part", "--rebuild-cmd", begin];
    let ended = user.fathom_of(line).done();
    assert!(ended.out.contains("rebuild: done in "), "{}", ended.out);
    assert_eq!(fs::read_to_string(part).unwrap(), "100%\n");
    assert_eq!(courses(&user.last()).last().unwrap().last(), Some(&1.0));
}

#[test]
fn what_a_real_array_needs_is_told_before_anything_is_touched() {
    let user = User::with_plan(PLAN);
    let home = user.files();
    user.fathom("run plan.toml --on null:1GiB").with(2).saying(&["--rebuild-cmd", "array:NAME"]);
    user.fathom("run plan.toml --on null:1GiB --rebuild-cmd true").with(2).saying(&["--progress md:md0"]);
    user.fathom("run rebuild --on null:1GiB").with(2).saying(&["--fail-cmd"]);
    user.fathom("run rebuilding --on null:1GiB --progress raid:md0")
        .with(2)
        .saying(&["is not a source of progress"]);
    assert_eq!(user.files(), home);
}

fn tool(program: &str, arguments: &[&str]) -> bool {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    Command::new(program)
        .args(arguments)
        .env("PATH", path)
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Unmounts when dropped.
struct Mount<'a>(&'a Path);

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        tool("umount", &[self.0.to_str().unwrap()]);
    }
}

/// Three devices of one level, the third replaced by a fourth beneath the load.
fn replace_a_member(level: &str) {
    let users: [User; 5] = std::array::from_fn(|_| User::with_plan(PLAN));
    let loops: Vec<Loop> = users.iter().filter_map(|user| Loop::make(user, 256 << 20)).collect();
    let [members @ .., spare] = &loops[..] else { return };
    if loops.len() < users.len() {
        return;
    }
    let nodes: Vec<&str> = members.iter().map(|device| device.node.as_str()).collect();
    let options = ["-q", "-f", "-d", level, "-m", level];
    if !tool("mkfs.btrfs", &[&options[..], &nodes[..]].concat()) {
        return lacks("mkfs.btrfs", "needs mkfs.btrfs");
    }
    let user = &users[0];
    let point = user.directory("mnt");
    // No udev may be there to tell the kernel of the members.
    for node in &nodes {
        tool("btrfs", &["device", "scan", node]);
    }
    if !tool("mount", &[nodes[0], point.to_str().unwrap()]) {
        return skipped("needs a kernel with btrfs");
    }
    let mounted = Mount(&point);
    fs::write(point.join("data"), vec![0xA5; 48 << 20]).unwrap();
    let mnt = point.display().to_string();
    let begin = format!("btrfs replace start -f -B 3 {} {mnt}", spare.node);
    let progress = format!("btrfs-replace:{mnt}");
    let set = ["--set", "span=16MiB", "--scratch", "32MiB"];
    let line = ["run", "plan.toml", "--on", &mnt, "--progress", &progress, "--rebuild-cmd", &begin];
    let ended = user.fathom_of(line.into_iter().chain(set));
    // A set whose member is being replaced may answer from memory, which Fathom says with 4.
    assert!(matches!(ended.code, Some(0 | 4)), "{level}:\n{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("rebuild: "), "{level}:\n{}", ended.out);
    let run = user.last();
    the_new_device_is_counted(&run, spare.name(), level);
    let courses = courses(&run);
    assert_eq!(courses.last().unwrap().last(), Some(&1.0), "{level}: {courses:?}");
    assert!(tool("btrfs", &["scrub", "start", "-B", &mnt]), "{level}: the set is whole");
    assert!(fs::read(point.join("data")).unwrap().iter().all(|byte| *byte == 0xA5), "{level}");
    drop(mounted);
    for device in &loops {
        tool("btrfs", &["device", "scan", "--forget", &device.node]);
    }
}

/// Once the replacing has ended, the spare is one of the devices that answer, and what they did is what was asked.
fn the_new_device_is_counted(run: &Value, spare: &str, level: &str) {
    let after = run["points"].as_array().unwrap().last().unwrap();
    let devices = after["devices"].as_array().unwrap();
    let of_spare = devices.iter().find(|device| device["device"] == spare);
    let of_spare = of_spare.unwrap_or_else(|| panic!("{level}: {spare} is not among {devices:?}"));
    assert_eq!(of_spare["relation"], "target", "{level}");
    let is_late = |finding: &&Value| finding["point"] == after["index"] && finding["severity"] == "invalid";
    let wrong = run["findings"].as_array().unwrap().iter().find(is_late);
    assert!(wrong.is_none(), "{level}: {wrong:?}");
}

#[test]
fn a_member_of_a_btrfs_set_is_replaced_beneath_the_load_at_every_level() {
    for level in ["raid1", "raid5", "raid6", "raid10"] {
        replace_a_member(level);
    }
}
