//! The highest rate that keeps an SLO, from outside.

use rustix::process::Signal;

use crate::support::{Loop, User};

const READS: &str = r#"
name = "reads"

[[phase]]
pattern = "random"
size    = "4KiB"
run     = "1s"
"#;

/// Short and coarse: what is tested here is the way through, not how near it comes.
const COARSE: &str = "--tolerance 10% --trial 10s --max-trial 10s";

#[test]
fn a_search_prints_its_ladder_and_keeps_it() {
    let user = User::with_plan(READS);
    let ended = user.fathom_of(
        format!("search plan.toml --on array:queue --slo p99<5ms {COARSE}").split(' ').collect::<Vec<_>>(),
    );
    let ended = ended.done();
    assert!(ended.out.contains("Maximum sustained rate within p99<5ms: "), "{}", ended.out);
    assert!(ended.out.contains("fail: rate not reached"), "{}", ended.out);
    let run = user.last();
    let kept = run["search"]["met_per_s"].as_f64().unwrap();
    assert!((8_000.0..9_900.0).contains(&kept), "{kept}");
    assert_eq!(run["findings"][0]["code"], "slo-maximum");
    assert!(user.fathom("show last").done().out.contains("Maximum sustained rate within p99<5ms: "));
}

#[test]
fn a_promise_that_no_rate_keeps_ends_with_1() {
    let user = User::with_plan(READS);
    let line = format!("search plan.toml --on array:queue --slo p99<50us {COARSE}");
    let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.trim_end().ends_with("no rate meets p99<50us"), "{}", ended.err);
}

#[test]
fn a_search_that_cannot_be_is_refused_before_anything_is_touched() {
    let user = User::with_plan(READS);
    for (line, why) in [
        ("search plan.toml --on array:queue --slo p99", "neither `<` nor `>`"),
        ("search plan.toml --on array:queue --slo p99<5ms --trial 2s", "at least 10"),
        ("search random --on array:queue --slo p99<5ms", "--load NAME"),
        ("search plan.toml --on array:queue", "--slo"),
        ("search plan.toml --on array:queue --slo p99<5ms --from 900/s --to 800/s", "not below --to"),
        ("search plan.toml --on array:queue --slo p99<5ms --to 0.5/s", "no rates below 1/s"),
        ("search plan.toml --on array:queue --slo p99<5ms --to 800", "800/s"),
    ] {
        let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{line}: {}", ended.err);
        assert!(ended.err.contains(why), "{line}: {}", ended.err);
    }
    let line = "search plan.toml --on array:queue --slo p99<5ms --dry-run";
    let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>()).done();
    assert!(ended.out.contains("the maximum sustained rate with p99<5ms"), "{}", ended.out);
    assert_eq!(user.files(), ["plan.toml"]);
}

/// Two rates near each other and an SLO that every storage keeps: as short as a search in real time can be.
const NARROW: &str = "--slo p99<5s --tolerance 50% --trial 10s --max-trial 10s --from 60/s --to 80/s";

#[test]
fn a_search_on_real_storage_reads_a_scratch_file_within_its_bounds_and_keeps_the_ladder() {
    let user = User::with_plan(READS);
    let ended = user.fathom(&format!("search plan.toml --on . --scratch 64MiB {NARROW}")).done();
    assert!(
        ended.out.contains(
            "Maximum sustained rate within p99<5s: at least 80.0/s (confirmed), the highest rate allowed"
        ),
        "{}",
        ended.out
    );
    let run = user.last();
    assert_eq!((&run["world"], &run["search"]["complete"]), (&"host".into(), &true.into()));
    assert!(run["search"]["quiet_ns"].as_f64().unwrap() > 0.0);
    for rung in run["search"]["ladder"].as_array().unwrap() {
        assert!((60.0..=80.0).contains(&rung["rate_per_s"].as_f64().unwrap()), "{rung}");
    }
    for point in run["points"].as_array().unwrap() {
        let writes = point["workloads"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|each| each["classes"].as_array().unwrap());
        assert!(writes.into_iter().all(|class| class["op"] == "read"), "a plan that reads writes nothing");
    }
    assert_eq!(user.files(), ["plan.toml"], "the scratch file is gone");
}

#[test]
fn an_interrupted_search_keeps_the_ladder_so_far() {
    let user = User::with_plan(READS);
    let mut running = user.start(&format!("search plan.toml --on null: {NARROW}"));
    running.wait_for("grid: pass");
    running.signal(Signal::INT);
    running.end().with(130);
    let run = user.last();
    assert_eq!(run["search"]["complete"], false);
    assert!(!run["search"]["ladder"].as_array().unwrap().is_empty(), "{}", run["search"]);
    assert_eq!(run["ending"]["code"], 130);
}

#[test]
fn a_search_that_writes_asks_for_consent_as_any_run_does() {
    let user = User::with_plan(&READS.replace("[[phase]]", "[[phase]]\nreads = \"0%\""));
    let Some(device) = Loop::make(&user, 64 << 20) else { return };
    let before = std::fs::read(&device.image).unwrap();
    user.fathom(&format!("search plan.toml --on {} --slo p99<5ms", device.node)).with(3);
    assert!(std::fs::read(&device.image).unwrap() == before, "nothing was written");
}
