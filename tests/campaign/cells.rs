//! Which cells a campaign measures: each once in each block, as the same record wherever; those that lack are named.

use std::collections::BTreeSet;

use crate::support::User;

use super::{FIRMWARE, QUEUES, cells, every_cell_once, user};

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
