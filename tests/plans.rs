//! Plans as they are typed, with mistakes and without.

use std::fs;

use crate::support::{SMALL, User, repository};

#[test]
fn every_mistake_in_a_plan_is_told_with_its_place_and_nothing_is_touched() {
    let user = User::with_plan(
        r#"
name = "wrong"

[[phase]]
name    = "one"
wrokers = 4
size    = "4 kb"
run     = 30

[[phase]]
reads = "70"
run   = "1s"
"#,
    );
    for line in ["run plan.toml --on .", "plan check plan.toml"] {
        user.fathom(line).with(2).saying(&[
            "plan.toml:6:1",
            "did you mean `workers`",
            "plan.toml:7:",
            "plan.toml:8:",
            "has no unit",
            "plan.toml:11:",
            "4 mistakes",
        ]);
    }
    assert_eq!(user.files(), ["plan.toml"]);
    assert!(!user.path(".local").exists());
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    let user = User::with_plan("name = \"x\"\n[[phase]\n");
    user.fathom("plan check plan.toml").with(2).saying(&["plan.toml:2:"]);
}

#[test]
fn a_plan_that_is_not_there_is_told_with_what_may_have_been_meant() {
    let user = User::new();
    user.fathom("run cornres --on .").with(2).saying(&["no plan `cornres`", "did you mean `corners`"]);
    user.fathom("run ./mine.toml --on .").with(2).saying(&["./mine.toml"]);
}

#[test]
fn a_change_on_the_command_line_is_checked_like_the_file() {
    let user = User::with_plan(SMALL);
    for (change, words) in [
        ("dept=4", "did you mean `depth`"),
        ("depth=0", "1 to 65536"),
        ("depth", "KEY=VALUE"),
        ("phase.2.depth=4", "phase"),
        ("run=30", "has no unit"),
    ] {
        user.fathom(&format!("run plan.toml --on null: --set {change}")).with(2).saying(&[words]);
    }
    user.fathom("run plan.toml --on null: --tag room").with(2).saying(&["--tag KEY=VALUE"]);
}

#[test]
fn changes_reach_the_workload_and_the_record() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on null: --set depth=7 --set phase.1.size=8KiB --tag room=3").done();
    let run = user.last();
    let spec = &run["points"][0]["workloads"][0]["spec"];
    assert_eq!((&spec["depth"], &spec["size"]), (&"7".into(), &"8KiB".into()));
    assert_eq!(run["tags"]["room"], "3");
    assert_eq!(run["plan"]["overrides"][0], "depth=7");
    assert_eq!(run["plan"]["text"], SMALL);
}

#[test]
fn every_ready_plan_is_listed_shown_and_checked() {
    let user = User::new();
    let list = user.fathom("plan list").done().out;
    let names: Vec<&str> = list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    for file in fs::read_dir(repository("plans")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(names.contains(&name), "{name} is not listed");
        assert_eq!(user.fathom(&format!("plan show {name}")).done().out, fs::read_to_string(&path).unwrap());
        user.fathom(&format!("plan check {name}")).done();
    }
}

#[test]
fn the_shortest_plan_reads_and_writes_nothing() {
    let user = User::with_plan("[[phase]]\nrun = \"100ms\"\n");
    let out = user.fathom("plan check plan.toml").done().out;
    assert!(out.contains("only reads") && out.contains("changes nothing"), "{out}");
}
