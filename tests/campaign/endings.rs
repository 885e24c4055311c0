//! Whatever ends a campaign, and how far it is: the next start goes on, and only one is under way.

use std::time::Duration;

use rustix::process::Signal;

use crate::support::wait_until;

use super::{FIRMWARE, QUEUES, every_cell_once, user};

#[test]
fn a_campaign_that_is_killed_at_any_moment_goes_on_and_measures_no_cell_twice() {
    let levels = "[\"queue-mm1\", \"queue-md1\", \"queue-mm4\"]\ndepth = [1, 4, 8, 64]";
    let on_array = QUEUES.replace("[\"queue-mm1\", \"queue-mm4\"]\ndepth = [1, 8]", levels);
    let on_disk = QUEUES
        .replace("array:queue", "disk")
        .replace("kind  = [\"queue-mm1\", \"queue-mm4\"]", "size  = [\"4KiB\", \"8KiB\"]")
        .replace("repeats = 2", "repeats = 2\nset = { span = \"4MiB\" }");
    for (campaign, cells, kills, step_ms) in [(on_array, 12, kills(20), 47), (on_disk, 4, kills(5), 731)] {
        let user = user(&campaign);
        user.directory("disk");
        for turn in 0..kills {
            let mut running = user.start("campaign campaign.toml --scratch 4MiB");
            running.stop_hearing();
            // At other moments of its start and of its runs each time.
            wait(Duration::from_millis(20 + step_ms * turn % (step_ms * 9)));
            running.kill_all();
            running.wait();
        }
        user.fathom("campaign campaign.toml --scratch 4MiB -q").done();
        every_cell_once(&user, 2, cells);
        assert_eq!(std::fs::read_dir(user.path("disk")).unwrap().count(), 0, "nothing is left behind");
    }
}

/// How often the program is killed; fewer where that is told.
fn kills(usual: u64) -> u64 {
    std::env::var("FATHOM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual).min(usual)
}

#[allow(
    clippy::disallowed_methods,
    reason = "the test interrupts another process, whose world has the real clock"
)]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[test]
fn an_interrupted_campaign_says_so_and_goes_on() {
    let user =
        user(&QUEUES.replace("plans   = [\"plan.toml\"]", "plans = \"plan.toml\"\nset = { run = \"3h\" }"));
    let mut running = user.start("campaign campaign.toml");
    running.wait_for("[1 of 8] block 1");
    running.signal(Signal::INT);
    let ended = running.end().with(130).saying(&["the runs so far are kept, and the next start resumes"]);
    assert!(!ended.err.contains("[2 of 8]"), "{}", ended.err);
}

#[test]
fn a_command_that_hangs_is_ended_by_an_interrupt_with_all_that_it_has_started() {
    for command in ["set    = \"", "check  = \""] {
        let user = user(&FIRMWARE.replace(command, &format!("{command}sleep 600 & echo $! > pid; wait; ")));
        let mut running = user.start("campaign campaign.toml");
        running.wait_for("setting firmware");
        let pid = || std::fs::read_to_string(user.path("pid")).unwrap_or_default();
        wait_until("it has begun", || pid().ends_with('\n'));
        running.signal(Signal::TERM);
        assert_eq!(running.wait(), Some(143), "{command}");
        let state = format!("/proc/{}/stat", pid().trim());
        wait_until("what it has started is gone", || {
            std::fs::read_to_string(&state).map_or(true, |state| state.contains(") Z "))
        });
        assert_eq!(
            user.fathom("ls --json").done().json().as_array().unwrap().len(),
            0,
            "no cell is void for it"
        );
    }
}

#[test]
fn a_campaign_whose_process_was_killed_is_taken_up_at_once() {
    // A person's command that will not end lets the process that measures end late: the first time alone, and when it may.
    let set =
        "set    = \"[ -e begun ] || { trap '' TERM; touch begun; until [ -e go ]; do sleep 0.05; done; }; ";
    let user = user(&FIRMWARE.replace("set    = \"", set));
    let running = user.start("campaign campaign.toml");
    // It says so before it begins; ended between the two, nobody would have to wait for it.
    wait_until("the command has begun", || user.path("begun").exists());
    running.signal(Signal::KILL);
    running.wait();
    let mut second = user.start("campaign campaign.toml -q");
    second.wait_for("is ending; waiting for it");
    user.write("go", "");
    second.end().done();
    every_cell_once(&user, 2, 2);
}

#[test]
fn a_campaign_goes_on_in_the_background_and_only_once() {
    let user =
        user(&QUEUES.replace("plans   = [\"plan.toml\"]", "plans = \"plan.toml\"\nset = { run = \"3h\" }"));
    let started = user.fathom("campaign campaign.toml --detach").done();
    let pid = started.out.split("process ").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    let running = || user.fathom("campaign campaign.toml --status").done().out.contains("; running");
    wait_until("it has begun", running);
    user.fathom("campaign campaign.toml").with(2).saying(&["is being measured by another process"]);
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    wait_until("it has ended", || !running());
}

#[test]
fn how_far_a_campaign_is_is_told_without_writing_beside_the_library() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml --status").done();
    let beside = std::fs::read_dir(user.path(".local/share/fathom")).into_iter().flatten();
    let names: Vec<_> = beside.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".lock")), "{names:?}");
}
