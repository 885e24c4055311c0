//! Ctrl-C, kill, and power gone: what was measured is kept.

use std::fs;

use rustix::process::Signal;

use crate::support::{Ended, Loop, Mounted, Running, SMALL, User, mkfs, skipped, wait_until};

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

/// Whether a run heeds `signal`: not a hangup where these tests were started by `nohup`, which runs inherit.
fn is_heeded(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    let is_heeded = signal != Signal::HUP || ignored & 1 == 0;
    if !is_heeded {
        skipped("the tests were started by nohup, so that runs heed no hangup");
    }
    is_heeded
}

#[test]
fn an_interrupt_keeps_a_valid_partial_run() {
    let all = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)];
    for (signal, code) in all.into_iter().filter(|(signal, _)| is_heeded(*signal)) {
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
fn trials_of_faster_parts_that_a_signal_ends_have_the_exit_code_of_that_signal() {
    let user = User::with_plan(&LONG.replace("60s", "5s"));
    user.fathom("run plan.toml --on array:md3000?raid=5").done();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let running = user.start("explain last --what-if --seeds 100");
        wait_until("it listens", || running.catches(signal));
        running.signal(signal);
        // What it says then depends on whether the trials have begun.
        running.end().with(code);
    }
}

#[test]
fn a_run_whose_process_is_killed_ends_as_if_it_were_interrupted() {
    let user = User::with_plan(LONG);
    let disk = user.directory("disk");
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[2/2] long");
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None, "it was killed");
    assert_eq!(fs::read_dir(disk).unwrap().count(), 0, "the scratch file is gone");
    let run = user.last();
    assert_eq!(run["points"].as_array().unwrap().len(), 2);
    assert_eq!(run["ending"]["complete"], false);
}

#[test]
fn a_run_of_which_nothing_is_left_alive_leaves_the_points_measured_so_far_and_the_next_run_puts_back() {
    let user = User::with_plan(LONG);
    let disk = user.directory("disk");
    user.fathom("run plan.toml --on null: --set run=100ms").done();
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[2/2] long");
    running.kill_all();
    assert_eq!(running.end().code, None, "it was killed");

    let run = user.last();
    assert_eq!(run["points"].as_array().unwrap().len(), 1);
    assert_eq!(run["points"][0]["name"], "short");
    assert_eq!(run["ending"]["complete"], false);
    assert_eq!(user.fathom("ls").done().out.lines().count(), 3, "a header and both runs");
    let scratch = disk.join("fathom-scratch-0.dat");
    assert!(scratch.exists(), "nobody was left to remove it");
    user.fathom("run plan.toml --on null: --set run=100ms")
        .done()
        .saying(&["restored", "disk/fathom-scratch-0.dat: removed"]);
    assert!(!scratch.exists());
    assert!(user.fathom("doctor --restore").done().out.contains("nothing to restore"));
}

#[test]
fn doctor_restores_what_is_still_what_it_was_and_says_why_the_rest_is_not() {
    let user = User::with_plan(LONG);
    let disk = user.directory("disk");
    let killed = || {
        let mut running = user.start("run plan.toml --on disk");
        running.wait_for("[2/2] long");
        running.kill_all();
        assert_eq!(running.end().code, None, "it was killed");
    };
    let scratch = disk.join("fathom-scratch-0.dat");
    killed();
    let away = user.path("away");
    fs::rename(&disk, &away).unwrap();
    let told = user.fathom("doctor --restore").with(5);
    assert!(told.out.contains("not restored") && told.out.contains("mounted"), "{}", told.out);
    fs::rename(&away, &disk).unwrap();
    let told = user.fathom("doctor --restore").done();
    assert!(told.out.starts_with("restored ") && told.out.contains("removed"), "{}", told.out);
    assert!(!scratch.exists());

    killed();
    let mut file = fs::OpenOptions::new().append(true).open(&scratch).unwrap();
    std::io::Write::write_all(&mut file, b"mine").unwrap();
    let told = user.fathom("doctor --restore").done();
    assert!(told.out.starts_with("left as it is ") && told.out.contains("mark"), "{}", told.out);
    assert!(scratch.exists(), "somebody has written to it");
    assert!(user.fathom("doctor --restore").done().out.contains("nothing to restore"));
}

#[test]
fn a_panic_says_what_to_do_about_it_and_keeps_the_points_that_were_finished() {
    let user = User::with_plan(LONG);
    let disk = user.directory("disk");
    // Of a phase of 200 ms the program hears a few times, of the next one ten times a second.
    for (fault, points) in [("panic main 20", 1), ("panic worker 20", 0), ("panic layout 1", 0)] {
        let mut command = user.command("run plan.toml --on disk");
        let ended = Ended::of(&command.env("FATHOM_FAULT", fault).output().unwrap()).with(8);
        ended.saying(&["internal error", "a bug in Fathom", "Report it", "attach", "fathom doctor"]);
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 0, "{fault}: the scratch file is gone");
        let run = user.last();
        assert_eq!(run["points"].as_array().unwrap().len(), points, "{fault}");
        assert_eq!(run["ending"]["code"], 8, "{fault}");
    }
    // A thread for each request, where one of them is left waiting for another.
    let pool = "run plan.toml --on disk --set engine=pread --set depth=4";
    let mut command = user.command(pool);
    Ended::of(&command.env("FATHOM_FAULT", "panic hand 20").output().unwrap()).with(8);
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn a_reader_of_events_that_goes_away_ends_the_run_and_one_of_a_result_does_not() {
    let user = User::with_plan(LONG);
    let disk = user.directory("disk");
    let mut running = user.start("run plan.toml --on disk --format jsonl");
    running.wait_for("[2/2] long");
    running.stop_reading();
    running.end().with(141);
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
    assert_eq!(user.last()["points"].as_array().unwrap().len(), 2);

    let mut running = user.start("run plan.toml --on disk --set run=200ms");
    running.stop_reading();
    running.end().done();

    // Of a line for a person nobody has to hear.
    let mut running = user.start("run plan.toml --on disk --set run=6s");
    running.wait_for("[1/2] short");
    running.stop_hearing();
    let ended = running.end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(user.last()["ending"]["complete"], true);
}

#[test]
fn nohup_is_heeded() {
    let user = User::with_plan(SMALL);
    let line =
        format!("trap '' HUP; exec {} run plan.toml --on null: --set run=2s", env!("CARGO_BIN_EXE_fathom"));
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(line).current_dir(user.path("")).env("HOME", user.path(""));
    let mut running = Running::of(&mut shell);
    running.wait_for("[1/1] read");
    running.signal(Signal::HUP);
    running.end().done();
}

/// So many random moments of each kind in the suite.
fn moments() -> u64 {
    std::env::var("FATHOM_SIGNALS").ok().and_then(|count| count.parse().ok()).unwrap_or(2)
}

/// A directory on a device of the test's own, whose read-ahead can be set; without root only the directory.
struct Place {
    user: User,
    device: Option<(Mounted, Loop)>,
    before: String,
}

const PREPARED: &str = r#"
name = "prepared"

[defaults]
span = "24MiB"

[[phase]]
name = "short"
run  = "200ms"

[[phase]]
name       = "ahead"
state      = "prepare"
read_ahead = "4MiB"
scheduler  = "mq-deadline"

[[phase]]
name = "long"
run  = "60s"
"#;

impl Place {
    fn make() -> Place {
        let user = User::with_plan(PREPARED);
        let point = user.directory("disk");
        let device = Loop::make(&user, 96 << 20).filter(mkfs);
        let device = device.and_then(|device| Some((Mounted::make(&device, &point)?, device)));
        let mut place = Place { user, device, before: String::new() };
        if place.device.is_none() {
            // The queue of whatever the home lies on is nobody's to set.
            let plan =
                PREPARED.replace("read_ahead = \"4MiB\"\n", "").replace("scheduler  = \"mq-deadline\"\n", "");
            place.user.write("plan.toml", plan);
        }
        place.before = place.queue();
        place
    }

    /// What is set of the device's queue.
    fn queue(&self) -> String {
        let Some((_, device)) = &self.device else { return String::new() };
        let setting =
            |name| fs::read_to_string(format!("/sys/block/{}/queue/{name}", device.name())).unwrap();
        ["read_ahead_kb", "scheduler"].map(setting).concat()
    }

    #[track_caller]
    fn is_as_before(&self, what: &str) {
        let left = fs::read_dir(self.user.path("disk")).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name != "lost+found").collect();
        assert!(left.is_empty(), "{what}: {left:?}");
        assert_eq!(self.queue(), self.before, "{what}");
        let journals = self.user.path(".local/share/fathom/runs.sqlite.restore");
        assert!(!journals.exists(), "{what}");
    }

    fn start(&self, fault: &str) -> Running {
        let mut command = self.user.command("run plan.toml --on disk");
        Running::of(command.env("FATHOM_FAULT", fault))
    }
}

/// Numbers below `most` that differ from run to run of the test.
fn random(most: u64) -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish() % most
}

/// Some moment of the second and a half in which a run begins: laying out, the first point, the setting, the last.
#[allow(clippy::disallowed_methods, reason = "any moment will do, and the run has the real clock")]
fn some_moment() -> u64 {
    let moment = random(1_500);
    std::thread::sleep(std::time::Duration::from_millis(moment));
    moment
}

#[test]
fn every_signal_that_can_be_caught_puts_back_what_was_changed_at_any_moment() {
    let place = Place::make();
    let all = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::XFSZ, Signal::PIPE];
    for signal in all.into_iter().filter(|signal| is_heeded(*signal)) {
        for _ in 0..moments() {
            let running = place.start("");
            if signal == Signal::PIPE {
                // Until the program listens, its language's runtime ignores this one.
                wait_until("the run listens", || running.catches(signal));
            }
            let what = format!("{signal:?} after {} ms", some_moment());
            running.signal(signal);
            let ended = running.end();
            // Before it could listen for signals it had changed nothing.
            let early = ended.code.is_none() && ended.err.is_empty();
            assert!(early || ended.code == Some(128 + signal.as_raw()), "{what}: {ended:?}");
            place.is_as_before(&what);
        }
    }
}

#[test]
fn two_interrupts_at_once_put_everything_back_and_keep_what_was_finished() {
    let place = Place::make();
    for _ in 0..moments() {
        let mut running = place.start("");
        running.wait_for("long");
        let what = format!("after {} ms", some_moment());
        running.signal(Signal::INT);
        running.signal(Signal::INT);
        running.end().with(130).saying(&["valid partial run"]);
        place.is_as_before(&what);
        assert_eq!(place.user.last()["points"][0]["name"], "short", "{what}");
    }
}

#[test]
fn whatever_ends_one_of_the_processes_the_other_puts_back_what_was_changed() {
    let place = Place::make();
    for signal in [Signal::KILL, Signal::ABORT] {
        for _ in 0..moments() {
            let running = place.start("");
            let what = format!("{signal:?} to the guard after {} ms", some_moment());
            running.signal(signal);
            assert_eq!(running.end().code, None, "{what}");
            place.is_as_before(&what);

            let running = place.start("");
            let what = format!("{signal:?} after {} ms", some_moment());
            let is_there = running.signal_worker(signal);
            if !is_there {
                running.signal(Signal::INT);
            }
            let code = running.end().code;
            let wanted = if signal == Signal::KILL { 137 } else { 8 };
            assert!(code == Some(wanted) || !is_there, "{what}: {code:?}");
            place.is_as_before(&what);
        }
    }
}

#[test]
fn whatever_ends_all_of_them_the_next_start_puts_back_what_was_changed() {
    let place = Place::make();
    for _ in 0..moments() {
        let running = place.start("");
        let what = format!("killed after {} ms", some_moment());
        running.kill_all();
        assert_eq!(running.end().code, None, "{what}");
        let told = place.user.fathom("doctor --restore").done();
        assert!(!told.out.contains("left as it is"), "{what}: {}", told.out);
        place.is_as_before(&what);
    }
}

#[test]
fn a_panic_or_an_abort_of_its_own_puts_back_what_was_changed_wherever_it_comes() {
    let place = Place::make();
    for (kind, at, most) in [
        ("panic", "main", 40),
        ("panic", "worker", 4_000),
        ("panic", "layout", 6),
        ("abort", "worker", 4_000),
    ] {
        for _ in 0..moments() {
            let fault = format!("{kind} {at} {}", 1 + random(most));
            place.start(&fault).end().with(8).saying(&["internal error", "Report it"]);
            place.is_as_before(&fault);
        }
    }
}

#[test]
fn a_scratch_file_that_somebody_has_put_behind_a_loop_device_is_not_removed_without_a_word() {
    let user = User::with_plan(&LONG.replace("60s", "3s"));
    let disk = user.directory("disk");
    let scratch = disk.join("fathom-scratch-0.dat");
    let mut running = user.start("run plan.toml --on disk");
    running.wait_for("[2/2] long");
    let Some(over) = Loop::over(&scratch) else { return };
    let node = over.node.clone();
    running.end().with(5).saying(&[
        "not restored",
        "fathom-scratch-0.dat is behind",
        &node,
        "losetup --detach",
    ]);
    assert!(scratch.exists());
    user.fathom("run plan.toml --on disk").with(3).saying(&["is behind", &node]);
    let told = user.fathom("doctor --restore").with(5);
    assert!(told.out.contains(&node), "{}", told.out);
    assert!(scratch.exists());
    drop(over);
    // The kernel lets go of a loop device when its last user has.
    wait_until("it can be removed", || {
        user.fathom("doctor --restore");
        !scratch.exists()
    });
}

#[test]
fn a_removal_that_fails_is_told_and_tried_again() {
    let user = User::with_plan(&LONG.replace("60s", "2s"));
    let Some(device) = Loop::make(&user, 64 << 20) else { return };
    let point = user.directory("disk");
    let Some(_mounted) = mkfs(&device).then(|| Mounted::make(&device, &point)).flatten() else { return };
    let disk = user.path("disk/folder");
    fs::create_dir(&disk).unwrap();
    let mut running = user.start("run plan.toml --on disk/folder");
    running.wait_for("[2/2] long");
    // Append-only (chattr(1)): nothing in it can be removed, by root neither.
    let chattr = |how: &str| std::process::Command::new("chattr").arg(how).arg(&disk).status();
    if !chattr("+a").is_ok_and(|status| status.success()) {
        return crate::support::skipped("needs chattr");
    }
    running.end().with(5).saying(&["not restored", "fathom-scratch-0.dat: cannot remove"]);
    user.fathom("doctor --restore").with(5);
    chattr("-a").unwrap();
    assert!(user.fathom("doctor --restore").done().out.contains("removed"));
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
}
