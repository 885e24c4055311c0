//! Campaigns, from outside: every cell once, states proven, resumed after any end, effects named.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Running, User};

const PLAN: &str = r#"
name = "reads"

[[phase]]
name    = "random read"
pattern = "random"
size    = "4KiB"
run     = "200ms"
warmup  = "0s"
depth   = 4
"#;

/// Two queues with other service times, and two depths.
pub const QUEUES: &str = r#"
name    = "queues"
on      = "array:queue"
plans   = ["plan.toml"]
repeats = 2

[factors]
kind  = ["queue-mm1", "queue-mm4"]
depth = [1, 8]
"#;

pub fn user(campaign: &str) -> User {
    let user = User::with_plan(PLAN);
    user.write("campaign.toml", campaign);
    user
}

/// The block, the levels and the completeness of every run that is kept.
fn cells(user: &User) -> Vec<(u64, Vec<String>, bool)> {
    let cell = |run: serde_json::Value| {
        let levels = run["cell"]["levels"].as_array().unwrap();
        let levels = levels.iter().map(|level| level["level"].as_str().unwrap().to_owned()).collect();
        (run["cell"]["block"].as_u64().unwrap(), levels, run["ending"]["complete"] == true)
    };
    let shown = (1..).map(|number| user.fathom(&format!("show {number} --format json")));
    shown.take_while(|ended| ended.code == Some(0)).map(|ended| cell(ended.json())).collect()
}

fn every_cell_once(user: &User, blocks: u64, cells_of_block: usize) {
    let complete: Vec<(u64, Vec<String>)> =
        cells(user).into_iter().filter(|one| one.2).map(|(block, levels, _)| (block, levels)).collect();
    let different: BTreeSet<_> = complete.iter().collect();
    assert_eq!(different.len(), complete.len(), "none twice: {complete:?}");
    for block in 1..=blocks {
        let own = complete.iter().filter(|one| one.0 == block).count();
        assert_eq!(own, cells_of_block, "block {block}: {complete:?}");
    }
}

#[test]
fn every_cell_is_measured_once_in_each_block_and_the_effects_are_named() {
    let user = user(QUEUES);
    let ended = user.fathom("campaign campaign.toml").done();
    assert!(ended.err.contains("queues: 8 runs") && ended.err.contains("[8 of 8"), "{}", ended.err);
    every_cell_once(&user, 2, 4);
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["kind queue-mm4 against kind queue-mm1: ×", "Effects", "Tested: 3 effects in"] {
        assert!(flat.contains(part), "no `{part}`: {}", ended.out);
    }
    let run = user.last();
    assert_eq!(run["tags"]["campaign"], "queues");
    assert_eq!(run["cell"]["proofs"][0]["found"], run["cell"]["levels"][0]["level"]);
    assert_eq!(
        run["targets"][0]["address"],
        format!("array:queue?kind={}", run["cell"]["levels"][0]["level"].as_str().unwrap())
    );

    // Nothing is left: nothing is measured, and the same is said.
    let again = user.fathom("campaign campaign.toml").done();
    assert_eq!(again.out, ended.out);
    assert_eq!(cells(&user).len(), 8);
    let status = user.fathom("campaign campaign.toml --status").done();
    assert!(status.out.contains("queues: 8 of 8 runs measured; not running"), "{}", status.out);
    // Another block is measured besides.
    user.fathom("campaign campaign.toml --repeats 3").done();
    every_cell_once(&user, 3, 4);
}

#[test]
fn each_run_on_a_virtual_array_has_a_seed_of_its_own_and_the_same_one_wherever_it_is_measured() {
    let seeds = || {
        let user = user(QUEUES);
        user.fathom("campaign campaign.toml -q").done();
        let seed = |number: u32| {
            let run = user.fathom(&format!("show {number} --format json")).done().json();
            run["points"][0]["workloads"][0]["spec"]["seed"].as_u64().expect("it has one")
        };
        (1..=8).map(seed).collect::<Vec<u64>>()
    };
    let own = seeds();
    assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), 8, "none is a copy of another: {own:?}");
    assert_eq!(own, seeds());
}

#[test]
fn how_far_a_campaign_is_is_told_without_writing_beside_the_library() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml --status").done();
    let beside = std::fs::read_dir(user.path(".local/share/fathom")).into_iter().flatten();
    let names: Vec<_> = beside.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".lock")), "{names:?}");
}

#[test]
fn virtual_cells_are_the_same_records_in_the_same_order_on_one_processor_and_on_several() {
    let (several, one) = (user(QUEUES), user(QUEUES));
    several.fathom("campaign campaign.toml --quiet").done();
    one.fathom_on_one_processor("campaign campaign.toml --quiet").done();
    for number in 1..=8 {
        let record = |user: &User| {
            let mut run = user.fathom(&format!("show {number} --format json")).done().json();
            // Who measured it when, and what the machine did besides.
            let run = run.as_object_mut().unwrap();
            ["id", "started", "ended", "command"].iter().for_each(|key| drop(run.remove(*key)));
            let environment = run["environment"].as_object_mut().expect("a record has an environment");
            let host = environment["facts"].as_object_mut().expect("and facts of the host");
            assert!(host.remove("load average at start").is_some(), "{host:?}");
            run.clone()
        };
        assert_eq!(record(&several), record(&one), "run {number}");
    }
}

#[test]
fn a_report_of_a_campaign_computes_its_effects_from_the_runs_in_it() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("report campaign:queues -o report.html -o report.xlsx -o report.md").done();
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert!(page.contains("<h2>Effects</h2>") && page.contains("<h2>Cells</h2>"));
    let verified = user.fathom("report --verify report.html").done();
    assert!(verified.out.contains("8 of 8 runs are in the library, unchanged"), "{}", verified.out);
    let at = page.find("data-at=\"8/figures/0/effects/0/changes/0/ratio\"").unwrap();
    let value = page[..at].rfind("<data ").unwrap();
    let digit = value + page[value..].find(|letter: char| letter.is_ascii_digit()).unwrap();
    let mut altered = page.clone().into_bytes();
    altered[digit] = if altered[digit] == b'9' { b'8' } else { altered[digit] + 1 };
    user.write("altered.html", altered);
    user.fathom("report --verify altered.html").with(6);
    user.fathom("report campaign:nothing").with(2).saying(&["no run of a campaign of this name"]);
}

/// Two figures that somebody published, one of which a model was fitted with, and an order.
pub const FIGURES: &str = r#"
about     = "what somebody published of queues"
source    = "a write-up (2001)"
tolerance = "25%"
array     = "queue?kind=queue-mm1"

case = [
  { id = "Q-1", plan = "one", value = 1000 },
  { id = "Q-2", plan = "one", array = "queue?kind=queue-mm4", value = 500, fits = "queue-mm4 service" },
  { id = "Q-3", plan = "one", order = [{ array = "queue?kind=queue-mm1" }, { array = "queue?kind=queue-mm4" }], about = "One fast server is better than four slow ones." },
]

[plan.one]
pattern = "random"
size    = "4KiB"
metric  = "iops"
warmup  = "0s"
run     = "2s"
"#;

#[test]
fn published_figures_stand_beside_those_of_the_virtual_arrays_and_every_digit_is_verified() {
    let user = user(&QUEUES.replace("repeats = 2", "repeats = 2\npublished = \"figures.toml\""));
    user.write("figures.toml", FIGURES);
    let ended = user.fathom("campaign campaign.toml -q").done();
    assert!(ended.err.contains("queues: 10 runs") && ended.err.contains("block 2: figures.toml"));
    // Published figures are runs, and of no turn.
    let dry = user.fathom("campaign campaign.toml --dry-run").done().out;
    assert!(dry.contains("8 are in the library, 0 are left"), "{dry}");
    assert!(
        ended.out.contains("figures.toml: ") && ended.out.contains("of 2 figures are within"),
        "{}",
        ended.out
    );
    // In the list they are what they are: nothing was measured, and nothing is graded.
    let listed = user.fathom("ls --width 120").done().out;
    let published: Vec<&str> = listed.lines().filter(|line| line.contains("published")).collect();
    assert_eq!(published.len(), 2, "{listed}");
    assert!(
        published.iter().all(|line| line.contains("virtual arrays") && !line.contains("good")),
        "{listed}"
    );
    // The cells are as they would be without them, and nothing is measured twice.
    let blocks = cells(&user).into_iter().filter(|(_, levels, _)| levels.is_empty()).count();
    assert_eq!((blocks, cells(&user).len()), (2, 10));
    assert_eq!(user.fathom("campaign campaign.toml -q").done().out, ended.out);
    assert_eq!(cells(&user).len(), 10);

    user.fathom("report campaign:queues -o report.html -o report.csv -o report.xlsx").done();
    let answers: Vec<f64> = (1..=10)
        .map(|number| user.fathom(&format!("show {number} --format json")).done().json())
        .filter_map(|run| run["cell"]["claims"][0]["case"]["modelled"].as_f64())
        .collect();
    assert_eq!(answers.len(), 2, "an answer in each block");
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    for part in [
        "<h2>Published figures: figures</h2>",
        "a write-up (2001)",
        "foretold",
        "fitted: queue-mm4 service",
        "One fast server is better than four slow ones.",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let ratio = (answers[0] * answers[1]).sqrt() / 1000.0;
    assert!(page.contains(&format!(">{ratio:.2}×</data>")), "no {ratio:.2}×");
    let csv = std::fs::read_to_string(user.path("report.csv")).unwrap();
    assert!(csv.contains("published/0/figures/0/published"), "{csv}");

    let verified = user.fathom("report --verify report.html").done().out;
    assert!(verified.contains("10 of 10 runs are in the library, unchanged"), "{verified}");
    let place = page.find("data-at=\"10/published/0/figures/0/published\"").unwrap();
    let shown = place + page[place..].find('>').unwrap() + 1;
    let mut altered = page.clone().into_bytes();
    assert_eq!(altered[shown], b'1', "1,000 IOPS were published");
    altered[shown] = b'2';
    user.write("altered.html", altered);
    user.fathom("report --verify altered.html").with(6);

    // Other figures are a question that was not put yet; figures that nobody has are none.
    user.write("figures.toml", FIGURES.replace("value = 500", "value = 501"));
    let other = user.fathom("campaign campaign.toml -q").done();
    assert!(other.err.contains("2 of 10 runs are left"), "{}", other.err);
    user.write("campaign.toml", QUEUES.replace("repeats = 2", "published = \"md300\""));
    user.fathom("campaign campaign.toml").with(2).saying(&["did you mean `md3000`?"]);
}

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

/// A firmware that a command sets and another prints.
const FIRMWARE: &str = r#"
name    = "firmware"
plans   = ["plan.toml"]
repeats = 2
on      = "array:queue"

[factors.firmware]
levels = ["3.86", "3.88"]
set    = "echo {level} > version; echo $FATHOM_FIRMWARE $FATHOM_BLOCK >> done"
check  = "cat version"
"#;

#[test]
fn what_is_set_is_read_back_before_and_after_each_run() {
    let user = user(FIRMWARE);
    let ended = user.fathom("campaign campaign.toml").done();
    assert!(ended.err.contains("setting firmware to 3.86: echo 3.86 > version"), "{}", ended.err);
    let run = user.last();
    let proofs = run["cell"]["proofs"].as_array().unwrap();
    let whens: Vec<&str> = proofs.iter().map(|proof| proof["when"].as_str().unwrap()).collect();
    assert_eq!(whens, ["before", "after"]);
    assert!(proofs.iter().all(|proof| proof["found"] == proof["expected"]), "{proofs:?}");
    assert_eq!(run["cell"]["levels"][0]["hard"], true);
    let set = std::fs::read_to_string(user.path("done")).unwrap();
    let mut lines: Vec<&str> = set.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["3.86 1", "3.86 2", "3.88 1", "3.88 2"], "once for each whole plot");
}

#[test]
fn a_level_is_set_anew_in_each_block_also_where_the_block_before_ended_with_it() {
    // Of eight blocks of two whole plots, some begin with the level that the one before ended with.
    let user = user(&FIRMWARE.replace("repeats = 2", "repeats = 8"));
    user.fathom("campaign campaign.toml -q").done();
    let set = std::fs::read_to_string(user.path("done")).unwrap();
    let mut levels: Vec<(&str, &str)> = set.lines().filter_map(|line| line.split_once(' ')).collect();
    assert!(levels.windows(2).any(|pair| pair[0].0 == pair[1].0), "no two plots in a row at a level: {set}");
    levels.sort_unstable();
    levels.dedup();
    assert_eq!((levels.len(), set.lines().count()), (16, 16), "{set}");
}

#[test]
fn a_record_and_its_report_have_the_file_of_the_campaign() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml -q").done();
    assert_eq!(user.last()["cell"]["toml"], QUEUES);
    user.fathom("report campaign:queues -o report.html").done();
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert_eq!(page.matches("<summary>The campaign's file").count(), 1);
    assert!(page.contains("kind  = [&quot;queue-mm1&quot;, &quot;queue-mm4&quot;]"), "its text");
    user.fathom("report --verify report.html").done();
}

#[test]
fn a_command_that_lies_voids_its_cells_and_the_next_start_measures_them() {
    let user = user(&FIRMWARE.replace("echo {level} > version;", "echo 3.86 > version;"));
    let ended = user.fathom("campaign campaign.toml").with(4);
    let ended = ended
        .saying(&["void: block 1, firmware 3.88", "firmware is to be 3.88, and `cat version` says 3.86"]);
    assert!(ended.err.contains("2 runs void"), "{}", ended.err);
    let measured = |cell: &&(u64, Vec<String>, bool)| cell.1 == ["3.88"] && cell.2;
    assert_eq!(cells(&user).iter().filter(measured).count(), 0, "nothing was measured");
    user.write("campaign.toml", FIRMWARE);
    // The commands are part of what is asked, so that all of it is measured again.
    user.fathom("campaign campaign.toml").done().saying(&["measures something else"]);
}

#[test]
fn void_and_skipped_cells_are_in_the_library_and_named_with_their_reason() {
    let lies = FIRMWARE.replace("echo {level} > version;", "echo 3.86 > version;");
    let skips =
        FIRMWARE.replace("set    = \"", "set    = \"[ {level} = 3.88 ] && echo no licence >&2 && exit 9; ");
    let void = ("void", "firmware is to be 3.88, and `cat version` says 3.86");
    let skipped = ("skipped", "`set` of firmware to 3.88 says to skip: exit status: 9: no licence");
    for (campaign, (kind, why)) in [(lies, void), (skips, skipped)] {
        let user = user(&campaign);
        let ended = user.fathom("campaign campaign.toml -q");
        let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let named = format!("2 runs {kind} (firmware 3.88, block 1; firmware 3.88, block 2): {why}.");
        assert!(flat.contains(&named), "no `{named}`: {}", ended.out);
        assert_eq!(cells(&user).iter().filter(|cell| !cell.2).count(), 2, "each is in the library");
        let status = user.fathom("campaign campaign.toml --status").done();
        assert!(
            status.out.contains(&format!("2 of 4 runs measured, 2 {kind}; not running")),
            "{}",
            status.out
        );
        user.fathom("report campaign:firmware -o report.md -o report.html").done();
        let report = std::fs::read_to_string(user.path("report.md")).unwrap();
        assert!(report.contains(&format!("2 runs {kind}")) && report.contains("says"), "{report}");
        user.fathom("report --verify report.html").done();
        // What is known is not told to the library again.
        user.fathom("campaign campaign.toml -q");
        assert_eq!(cells(&user).len(), 4);
    }
}

#[test]
fn an_aborted_cell_is_in_the_library_with_its_reason() {
    let user = user(&FIRMWARE.replace("set    = \"", "set    = \"[ {level} = 3.88 ] && exit 8; "));
    user.fathom("campaign campaign.toml -q").with(1);
    let status = user.fathom("campaign campaign.toml --status").done();
    assert!(status.out.contains(", 1 aborted; not running"), "{}", status.out);
}

#[test]
fn a_command_that_hangs_is_ended_by_an_interrupt_with_all_that_it_has_started() {
    for command in ["set    = \"", "check  = \""] {
        let user = user(&FIRMWARE.replace(command, &format!("{command}sleep 600 & echo $! > pid; wait; ")));
        let mut running = user.start("campaign campaign.toml");
        running.wait_for("setting firmware");
        let pid = || std::fs::read_to_string(user.path("pid")).unwrap_or_default();
        crate::support::wait_until("it has begun", || pid().ends_with('\n'));
        running.signal(Signal::TERM);
        assert_eq!(running.wait(), Some(143), "{command}");
        let state = format!("/proc/{}/stat", pid().trim());
        crate::support::wait_until("what it has started is gone", || {
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
    crate::support::wait_until("the command has begun", || user.path("begun").exists());
    running.signal(Signal::KILL);
    running.wait();
    let mut second = user.start("campaign campaign.toml -q");
    second.wait_for("is ending; waiting for it");
    user.write("go", "");
    second.end().done();
    every_cell_once(&user, 2, 2);
}

#[test]
fn a_state_that_changes_beneath_the_load_voids_the_cell() {
    // A stranger installs another version while the load runs: the second time that it is asked, the state is another.
    let campaign = FIRMWARE
        .replace("cat version", "cat version; echo changed > version")
        .replace("repeats = 2", "repeats = 1");
    let user = user(&campaign);
    let ended = user.fathom("campaign campaign.toml").with(4);
    ended.saying(&["void: block 1, firmware", "said changed (after)"]);
    let run = user.last();
    assert_eq!(run["findings"][0]["code"], "state-not-held");
    assert_eq!(run["ending"]["code"], 4);
    let status = user.fathom("campaign campaign.toml --status").done();
    assert!(status.out.contains("0 of 2 runs measured, 2 void"), "{}", status.out);
}

#[test]
fn a_command_may_skip_a_cell_or_end_the_campaign() {
    let user = user(&FIRMWARE.replace("set    = \"", "set    = \"[ {level} = 3.88 ] && exit 9; "));
    let ended = user.fathom("campaign campaign.toml").done();
    assert_eq!(ended.err.matches("skipped: block").count(), 2, "{}", ended.err);
    assert!(cells(&user).iter().filter(|cell| cell.2).all(|cell| cell.1 == ["3.86"]));

    let user = self::user(&FIRMWARE.replace("set    = \"", "set    = \"echo flat battery >&2; exit 8; "));
    user.fathom("campaign campaign.toml")
        .with(1)
        .saying(&["`set` of firmware to 3.8", "says to end: exit status: 8: flat battery"]);
    let user = self::user(&FIRMWARE.replace("set    = \"", "set    = \"exit 3; "));
    user.fathom("campaign campaign.toml")
        .with(4)
        .saying(&["`set` of firmware to 3.86 failed: exit status: 3"]);
}

#[test]
fn a_person_is_asked_and_asked_again_until_the_state_is_right() {
    let campaign = FIRMWARE.replace(
        "set    = \"echo {level} > version; echo $FATHOM_FIRMWARE $FATHOM_BLOCK >> done\"",
        "ask    = \"Install firmware {level}, then press Enter\"",
    );
    let user = user(&campaign.replace("repeats = 2", "repeats = 1"));
    // Nobody is there.
    user.fathom("campaign campaign.toml").with(1).saying(&["Install firmware 3.8", "no answer"]);
    // Somebody presses Enter and does nothing.
    user.write("version", "3.87");
    user.write("enters", "\n".repeat(20));
    let mut command = user.command("campaign campaign.toml");
    command.stdin(Stdio::from(std::fs::File::open(user.path("enters")).unwrap()));
    let ended = Running::of(&mut command).end().with(4);
    assert_eq!(ended.err.matches("firmware is 3.87, and should be 3.86").count(), 3, "{}", ended.err);
}

#[test]
fn a_rebuild_is_a_state_that_lasts_to_the_end_of_the_load_or_voids_the_cell() {
    let campaign = r#"
name    = "health"
on      = "array:md3000?raid=5&disks=4"
plans   = "plan.toml"
repeats = 1
[factors]
state = ["healthy", "degraded", "rebuilding"]
"#;
    let user = user(campaign);
    user.fathom("campaign campaign.toml").done();
    let runs = cells(&user);
    assert_eq!(runs.len(), 3);
    for number in 1..=3 {
        let run = user.fathom(&format!("show {number} --format json")).done().json();
        let proof = &run["cell"]["proofs"][0];
        assert_eq!(proof["found"], proof["expected"], "{proof}");
        assert_eq!(proof["found"], run["cell"]["levels"][0]["level"]);
    }
    // A load that lasts for longer than the rebuild.
    let user = self::user(
        &campaign.replace("repeats = 1", "repeats = 1\nset = { run = \"4h\", pace = \"rate(1/s)\" }"),
    );
    user.fathom("campaign campaign.toml").with(4).saying(&[
        "void: block 1, state rebuilding",
        "the virtual array said rebuilt before the end of random read",
    ]);
}

#[test]
fn what_an_array_does_beside_its_load_is_shown_with_what_the_load_got() {
    let campaign = r#"
name    = "rebuilds"
on      = "array:md3000?raid=5"
plans   = "plan.toml"
repeats = 1
set     = { run = "6m" }
[factors]
disks = [4, 6]
state = ["healthy", "rebuilding"]
[[theory]]
iops  = "100/s"
raid  = 5
where = { state = "healthy" }
"#;
    let user = user(campaign);
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("report campaign:rebuilds -o report.html -o done.svg --chart progress").done();
    let verified = user.fathom("report --verify report.html").done().out;
    assert!(verified.contains("4 of 4 runs are in the library, unchanged"), "{verified}");
    let picture = std::fs::read_to_string(user.path("done.svg")).unwrap();
    for words in [">done<", ">rate, IOPS<", ">p99 latency<", ">time<", "disks 4"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert!(page.contains("<h2>Progress</h2>") && page.contains("<h2>Latency over time</h2>"));
    // Theory of each cell: its disks × one disk.
    assert!(page.contains("disks × one disk") && page.contains(">400<") && page.contains(">600<"), "claims");
}

#[test]
fn a_cell_that_is_missing_is_named_and_its_block_does_not_count() {
    // One level cannot be set the second time.
    let user =
        user(&FIRMWARE.replace("set    = \"", "set    = \"[ {level}$FATHOM_BLOCK = 3.882 ] && exit 9; "));
    let ended = user.fathom("campaign campaign.toml").done();
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Block 2 lacks firmware 3.88 and does not count for effects"), "{}", ended.out);
    assert!(
        flat.contains("block 2 lacks firmware 3.88: the same command measures what is missing"),
        "{}",
        ended.out
    );
}

#[test]
fn targets_may_be_a_factor_and_real_directories_are_measured_on_scratch_files() {
    let user = user(
        "name = \"both\"\nplans = \"plan.toml\"\nset = { span = \"4MiB\" }\nrepeats = 1\n[factors]\non = [\"disk\", \"array:queue\"]\ndepth = [1, 2]\n",
    );
    user.directory("disk");
    user.fathom("campaign campaign.toml --scratch 4MiB").done();
    every_cell_once(&user, 1, 4);
    assert_eq!(std::fs::read_dir(user.path("disk")).unwrap().count(), 0, "nothing is left behind");
    let listed = user.fathom("ls --tag on=array:queue").done().out;
    assert_eq!(listed.matches("array:queue").count(), 2, "{listed}");
}

#[test]
fn a_dry_run_says_time_order_and_the_smallest_effect_and_measures_nothing() {
    let user = user(FIRMWARE);
    let ended = user.fathom("campaign campaign.toml --dry-run").done();
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "firmware: 2 cells × 1 plan × 2 blocks, 4 runs",
        "if runs deviate by 3.0 %",
        "set by: echo {level} > version",
        "hard to change: once for a whole plot",
        "read back by: cat version",
        "1 block 1, firmware 3.8",
    ] {
        assert!(flat.contains(part), "no `{part}`: {}", ended.out);
    }
    assert!(!user.path("done").exists() && !user.path(".local").exists(), "nothing was set or kept");
    // A rate and its 99th percentile.
    assert!(flat.contains("the smallest change of one figure of 2 that is found"), "{}", ended.out);
}

#[test]
fn a_dry_run_says_which_claims_are_about_points_that_no_plan_has() {
    let claim =
        |point: &str| format!("[[claim]]\nby = \"the vendor\"\npoint = \"{point}\"\niops = \"100/s\"\n");
    let dry = |point: &str| {
        let user = user(&(FIRMWARE.to_owned() + &claim(point)));
        let out = user.fathom("campaign campaign.toml --dry-run").done().out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = dry("rweads");
    assert!(
        told.contains(
            "The claim of the vendor is about no figure: no point has a name that begins with `rweads`"
        ),
        "{told}"
    );
    let named = told.split("the plans have `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert!(!dry(named).contains("about no figure"), "{named}");
    assert!(!dry("").contains("about no figure"), "any point");
}

#[test]
fn a_dry_run_prints_the_first_runs_of_the_order_and_all_of_them_where_that_is_asked_for() {
    let user = user(&FIRMWARE.replace("repeats = 2", "repeats = 20"));
    let few = user.fathom("campaign campaign.toml --dry-run").done().out;
    assert!(few.contains("… and 28 more; --order prints all") && !few.contains("\n    13  "), "{few}");
    let all = user.fathom("campaign campaign.toml --dry-run --order").done().out;
    assert!(all.contains("    40  block 20, firmware 3.8") && !all.contains("more;"), "{all}");
    user.fathom("campaign campaign.toml --order").with(2);
}

#[test]
fn a_campaign_is_cut_to_the_time_there_is_and_says_what_is_given_up() {
    let campaign = "name = \"cut\"\non = \"disk\"\nplans = \"plan.toml\"\nrepeats = 4\nset = { run = \"1m\", span = \"4MiB\", settle = \"none\" }\n\
                    [factors]\ndepth = [1, 2]\nsize = [\"4KiB\", \"8KiB\"]\nreads = [\"0%\", \"100%\"]\n";
    let user = user(campaign);
    user.directory("disk");
    let within = |time: &str| user.fathom(&format!("campaign campaign.toml --dry-run --within {time}"));
    assert!(within("32m").done().out.contains("8 cells × 1 plan × 4 blocks"));
    assert!(within("20m").done().out.contains("8 cells × 1 plan × 2 blocks"));
    let half = within("9m").done().out;
    assert!(half.contains("4 cells × 1 plan × 2 blocks"), "{half}");
    assert!(half.contains("depth cannot be told from size × reads"), "{half}");
    within("5m").with(2).saying(&["not even a fraction of the cells in two blocks fits"]);
    user.fathom("campaign campaign.toml --within 1h --on array:queue")
        .with(2)
        .saying(&["not known beforehand"]);
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_set() {
    for (campaign, words) in [
        (FIRMWARE.replace("name    = \"firmware\"\n", ""), "name"),
        (FIRMWARE.replace("on      = \"array:queue\"", ""), "no target is named"),
        (FIRMWARE.replace("plan.toml", "plam.toml"), "plam.toml"),
        (QUEUES.replace("queue-mm4", "queue-mm9"), "queue-mm9"),
        (
            QUEUES.replace("depth = [1, 8]", "depht = [1, 8]"),
            "factor `depht`: nothing says how it is changed",
        ),
        (QUEUES.replace("depth = [1, 8]", "depth = [1, \"many\"]"), "many"),
        (QUEUES.replace("array:queue", "array:nothing"), "nothing"),
        (
            QUEUES
                .replace("[factors]", "[factors]\nstate = [\"healthy\", \"degraded\"]")
                .replace("array:queue", "/tmp"),
            "on real storage a command",
        ),
    ] {
        let user = user(&campaign);
        let ended = user.fathom("campaign campaign.toml").with(2);
        assert!(ended.err.contains(words), "no `{words}`: {}", ended.err);
        assert!(!user.path("done").exists() && !user.path(".local").exists());
    }
    User::new().fathom("campaign nothing.toml").with(2).saying(&["the campaign cannot be read"]);
}

#[test]
fn a_campaign_goes_on_in_the_background_and_only_once() {
    let user =
        user(&QUEUES.replace("plans   = [\"plan.toml\"]", "plans = \"plan.toml\"\nset = { run = \"3h\" }"));
    let started = user.fathom("campaign campaign.toml --detach").done();
    let pid = started.out.split("process ").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    let running = || user.fathom("campaign campaign.toml --status").done().out.contains("; running");
    crate::support::wait_until("it has begun", running);
    user.fathom("campaign campaign.toml").with(2).saying(&["is being measured by another process"]);
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    crate::support::wait_until("it has ended", || !running());
}

#[test]
fn ready_campaigns_are_listed_shown_and_can_be_measured() {
    let user = User::new();
    let listed = user.fathom("campaign --list").done().out;
    for name in ["md3000", "esds", "dsi3500", "nas", "perc"] {
        assert!(listed.contains(&format!("{name} ")), "{listed}");
        let dry = user.fathom(&format!("campaign {name} --dry-run")).done().out;
        assert!(dry.starts_with(&format!("{name}: ")), "{dry}");
    }
    let shown = user.fathom("campaign perc --show").done().out;
    let cells = shown.lines().filter(|line| !line.starts_with("published")).collect::<Vec<_>>().join("\n");
    user.write("mine.toml", cells);
    user.fathom("campaign mine.toml -q --repeats 1 --fraction 1 --set run=100ms --set warmup=0s").done();
    assert!(
        user.fathom("campaign mine.toml --repeats 1 --set run=100ms --set warmup=0s --status")
            .done()
            .out
            .contains("12 of 12 runs measured")
    );
    user.fathom("campaign md300").with(2).saying(&["did you mean the ready campaign `md3000`?"]);
}
