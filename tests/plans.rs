//! Plans as they are typed, with mistakes and without.

use std::fs;

use crate::support::{Ended, SMALL, User, repository};

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
    assert_eq!((&spec["depth"], &spec["size"]), (&7.into(), &"8KiB".into()));
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
fn a_key_is_explained_at_the_command_line_and_a_word_of_fio_leads_to_it() {
    let user = User::new();
    let out = user.fathom("plan help depth").done().out;
    assert!(out.starts_with("depth: ") && out.contains("Default:  1"), "{out}");
    assert!(user.fathom("plan help").done().out.lines().any(|line| line.starts_with("  depth ")));
    assert_eq!(user.fathom("plan help iodepth").done().out, out);
    let ended = user.fathom("plan help queue_depth");
    assert!(ended.code == Some(2) && ended.err.contains("write `depth`"), "{}", ended.err);
}

#[test]
fn the_shortest_plan_reads_and_writes_nothing() {
    let user = User::with_plan("[[phase]]\nrun = \"100ms\"\n");
    let out = user.fathom("plan check plan.toml").done().out;
    assert!(out.contains("only reads") && out.contains("changes nothing"), "{out}");
}

#[test]
fn what_this_machine_has_no_room_for_is_refused_with_its_figures_before_anything_is_made() {
    let user = User::with_plan(SMALL);
    user.directory("d");
    for (changes, words) in [
        ("--set engine=pread --set depth=32768 --set workers=4", ["131076 threads", "vm.max_map_count"]),
        ("--set engine=pread --set depth=4 --set workers=40000", ["200000 threads", "room for"]),
        (
            "--set size=1GiB --set span=auto --set depth=4096 --set workers=64",
            ["256.00 TiB of memory", "smaller requests"],
        ),
        ("--set engine=io_uring --set depth=40000", ["32768", "more `workers`"]),
    ] {
        let ended = user.fathom(&format!("run plan.toml --on d --scratch 2GiB {changes}"));
        // A machine may have more mappings; what is left is then a run of a fifth of a second.
        if ended.code == Some(0) {
            continue;
        }
        ended.with(2).saying(&words);
        assert_eq!(std::fs::read_dir(user.path("d")).unwrap().count(), 0, "{changes}");
    }
    let dry = user.fathom("run plan.toml --on d --scratch 8MiB --dry-run").done();
    assert!(dry.out.contains("of memory and 1 thread of this machine"), "{}", dry.out);
}

#[test]
fn a_block_size_as_large_as_a_region_is_told_what_it_is_to_whoever_knows_fio() {
    let user = User::with_plan(SMALL);
    user.directory("d");
    let said = |size: &str| {
        user.fathom(&format!("run plan.toml --on d --dry-run --set span=auto --set size={size}")).done().err
    };
    let flat = said("64MiB").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("`size` is the block size (fio: `bs`), so each request moves up to 64"), "{flat}");
    assert!(!said("8MiB").contains("fio"), "requests of 8 MiB are nothing unusual");
}

#[test]
fn a_limit_of_the_address_space_is_told_before_anything_is_made() {
    let user = User::with_plan(SMALL);
    user.directory("d");
    let line = "run plan.toml --on d --scratch 1GiB --set size=8MiB --set span=auto --set depth=256";
    let program = user.command(line);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v 1500000; exec \"$0\" \"$@\""]);
    command
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(user.path(""))
        .env("HOME", user.path(""));
    let ended = Ended::of(&command.output().unwrap()).with(2);
    ended.saying(&["2.00 GiB of memory", "ulimit -v"]);
    assert_eq!(std::fs::read_dir(user.path("d")).unwrap().count(), 0);
}

#[test]
fn a_plan_from_a_stranger_cannot_command_the_terminal() {
    let user = User::new();
    let plan = "name = \"a\"\n[[phase]]\nrun = \"1s\"\npattern = \"\u{1b}[2J\u{202E}moor\" # \u{9b}2J\n\u{7}bad\u{2066} = 1\n";
    user.write("hostile.toml", plan);
    let ended = user.fathom("plan check hostile.toml").with(2);
    let hostile = |text: &str| text.chars().any(|c| units::name::is_hostile(c) && c != '\n');
    assert!(!hostile(&ended.err) && !hostile(&ended.out), "{:?}", ended.err);
}
