//! The state that a cell is about: set by a command, a person or a virtual array, read back, and void where it did not hold.

use std::process::Stdio;

use crate::support::Running;

use super::{FIRMWARE, cells, user};

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

    let user = super::user(&FIRMWARE.replace("set    = \"", "set    = \"echo flat battery >&2; exit 8; "));
    user.fathom("campaign campaign.toml")
        .with(1)
        .saying(&["`set` of firmware to 3.8", "says to end: exit status: 8: flat battery"]);
    let user = super::user(&FIRMWARE.replace("set    = \"", "set    = \"exit 3; "));
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
    let user = super::user(
        &campaign.replace("repeats = 1", "repeats = 1\nset = { run = \"4h\", pace = \"rate(1/s)\" }"),
    );
    user.fathom("campaign campaign.toml").with(4).saying(&[
        "void: block 1, state rebuilding",
        "the virtual array said rebuilt before the end of random read",
    ]);
}
