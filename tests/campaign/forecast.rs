//! What is said before anything is measured: a dry run, a limit of time, and what cannot be measured at all.

use crate::support::User;

use super::{FIRMWARE, QUEUES, user};

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
