//! Ctrl-C, kill, and power gone: what was measured is kept.

use std::fs;

use rustix::process::Signal;

use crate::support::{User, wait_until};

const LONG: &str = r#"
name = "long"

[defaults]
span = "4MiB"

[[phase]]
name = "short"
run  = "200ms"

[[phase]]
name = "long"
run  = "60s"
"#;

#[test]
fn an_interrupt_keeps_a_valid_partial_run() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let user = User::with_plan(LONG);
        let disk = user.directory("disk");
        let mut running = user.start("run plan.toml --on disk -o result.json");
        running.wait_for("[2/2] long");
        running.signal(signal);
        let ended = running.end().with(code).saying(&["interrupted", "valid partial run"]);
        assert!(ended.out.contains("short"), "what was measured is shown:\n{}", ended.out);
        assert_eq!(fs::read_dir(disk).unwrap().count(), 0, "the scratch file is gone");

        let run = user.last();
        assert_eq!(run["ending"]["code"], code);
        assert_eq!(run["ending"]["complete"], false);
        let complete: Vec<bool> = run["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["complete"].as_bool().unwrap())
            .collect();
        assert_eq!(complete, [true, false]);
        assert!(user.path("result.json").exists());
        assert!(user.fathom("show last").done().out.contains("short"));
    }
}

#[test]
fn an_interrupt_while_the_scratch_file_is_laid_out_leaves_nothing_behind() {
    let user = User::with_plan(&LONG.replace("4MiB", "2GiB"));
    let disk = user.directory("disk");
    let running = user.start("run plan.toml --on disk");
    let scratch = disk.join("fathom-scratch-0.dat");
    wait_until("the scratch file is begun", || scratch.exists());
    running.signal(Signal::INT);
    running.end().with(130);
    assert_eq!(fs::read_dir(disk).unwrap().count(), 0);
}

#[test]
fn a_run_that_is_killed_leaves_the_points_measured_so_far() {
    let user = User::with_plan(LONG);
    user.fathom("run plan.toml --on null: --set run=100ms").done();
    let mut running = user.start("run plan.toml --on .");
    running.wait_for("[2/2] long");
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None, "it was killed");

    let run = user.last();
    assert_eq!(run["points"].as_array().unwrap().len(), 1);
    assert_eq!(run["points"][0]["name"], "short");
    assert_eq!(run["ending"]["complete"], false);
    assert_eq!(user.fathom("ls").done().out.lines().count(), 3, "a header and both runs");
    // What it left on the disk is known by its mark, and the next run replaces it.
    assert!(user.files().contains(&"fathom-scratch-0.dat".into()));
    user.fathom("run plan.toml --on . --set run=100ms").done();
    assert!(!user.files().contains(&"fathom-scratch-0.dat".into()));
}
