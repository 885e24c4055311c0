//! Storage that fails, fills up or goes away: counted, told, and nothing of the library lost.

use std::fs;
use std::io::Write;

use crate::support::{Loop, Mounted, SMALL, User, mkfs};

#[test]
fn a_device_that_returns_errors_ends_with_their_number_place_and_kind() {
    let user = User::with_plan(SMALL);
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    device.truncate(2 << 20);
    for engine in ["io_uring", "pread"] {
        user.fathom(&format!("run plan.toml --on {} --set engine={engine}", device.node)).with(5).saying(&[
            "requests failed",
            "a read of 4096 bytes at",
            &device.node,
            "Input/output error",
        ]);
        let run = user.last();
        let workload = &run["points"][0]["workloads"][0];
        assert!(workload["errors"].as_u64().unwrap() > 0);
        let sample = &workload["error_samples"][0];
        assert!(sample["offset_bytes"].as_u64().unwrap() >= 2 << 20, "{sample}");
        assert_eq!(run["ending"]["code"], 5);
    }
}

#[test]
fn a_file_that_is_truncated_meanwhile_gives_short_reads_that_are_counted() {
    let user = User::with_plan(&SMALL.replace("200ms", "1s"));
    let file = user.write("data", vec![3; 4 << 20]);
    for engine in ["io_uring", "pread", "mmap"] {
        fs::write(&file, vec![3; 4 << 20]).unwrap();
        let line = format!("run plan.toml --on data --set engine={engine} --set depth=1");
        let line = if engine == "mmap" { line + " --set direct=false" } else { line };
        let mut running = user.start(&line);
        running.wait_for("[1/1] read");
        fs::File::options().write(true).open(&file).unwrap().set_len(1 << 20).unwrap();
        running.end().with(5).saying(&["requests failed"]);
        assert!(user.last()["points"][0]["workloads"][0]["errors"].as_u64().unwrap() > 0, "{engine}");
    }
}

#[test]
fn a_target_that_vanishes_between_two_points_costs_only_what_comes_after() {
    let pause = "[[phase]]\nstate = \"idle\"\nrun = \"1s\"\n";
    let user = User::with_plan(&format!("{SMALL}\n{pause}\n[[phase]]\nname = \"again\"\n"));
    user.write("data", vec![3; 4 << 20]);
    let mut running = user.start("run plan.toml --on data");
    running.wait_for("[2/3]");
    fs::remove_file(user.path("data")).unwrap();
    running.end().with(5).saying(&["data", "No such file"]);
    let run = user.last();
    let names: Vec<&str> =
        run["points"].as_array().unwrap().iter().map(|point| point["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read", "idle"], "what was measured before is kept");
    assert_eq!(run["ending"]["complete"], false);
}

#[test]
fn a_file_system_with_too_little_room_is_told_with_what_would_fit() {
    let user = User::with_plan(SMALL);
    let Some(device) = Loop::make(&user, 16 << 20) else { return };
    let point = user.directory("mounted");
    let Some(_mounted) = mkfs(&device).then(|| Mounted::make(&device, &point)).flatten() else { return };
    user.fathom("run plan.toml --on mounted --set span=64MiB").with(2).saying(&["do not fit", "free"]);
    user.fathom("run quick --on mounted").with(2).saying(&["free", "16 MiB"]);
    let left: Vec<_> = fs::read_dir(&point).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["lost+found"]);
    user.fathom("run plan.toml --on mounted --set span=1MiB").done();
}

#[test]
fn a_library_that_cannot_be_written_any_more_does_not_cost_the_result() {
    let user = User::with_plan(&SMALL.replace("200ms", "1s"));
    let Some(device) = Loop::make(&user, 8 << 20) else { return };
    let point = user.directory("mounted");
    let Some(_mounted) = mkfs(&device).then(|| Mounted::make(&device, &point)).flatten() else { return };
    let mut running = user.start("run plan.toml --on null: --store mounted/runs.sqlite --format json");
    running.wait_for("[1/1] read");
    let mut filler = fs::File::create(point.join("filler")).unwrap();
    while filler.write_all(&[0; 4096]).is_ok() {}
    let ended = running.end().with(8).saying(&["could not be saved", "mounted/runs.sqlite"]);
    assert_eq!(ended.json()["points"].as_array().unwrap().len(), 1);
    assert_eq!(ended.json()["ending"]["code"], 0, "the measuring itself went well");
}

#[test]
fn a_plan_for_an_array_is_told_before_anything_is_measured() {
    let user = User::with_plan(&format!("{SMALL}\n[[phase]]\nstate = \"fail disk 3\"\n"));
    let ended = user.fathom("run plan.toml --on .").with(2).saying(&["virtual array"]);
    assert!(!ended.err.contains("[1/2]"), "{}", ended.err);
}
