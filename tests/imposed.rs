//! A limit that somebody set, under a throttle of the kernel's.

use serde_json::Value;

use crate::support::{Ended, Loop, Throttled, User};

const PLAN: &str = r#"
name = "held"

[defaults]
span   = "32MiB"
reads  = "100%"
warmup = "500ms"
run    = "3s"

[[phase]]
name  = "q{depth}"
depth = { sweep = [1, 4, 16] }
"#;

/// The findings of the last run that say that somebody set the limit.
fn imposed(user: &User) -> Vec<String> {
    let run = user.last();
    let findings = run["findings"].as_array().unwrap().iter();
    let imposed = findings.filter(|finding| finding["code"] == "rate-limited");
    imposed.map(|finding| finding["sentence"].as_str().unwrap().to_owned()).collect()
}

/// Requests a second of the measured window of each point.
fn rates(run: &Value) -> Vec<f64> {
    let of = |point: &Value| {
        let workload = &point["workloads"][0];
        workload["classes"][0]["ops"].as_f64().unwrap() / (workload["measured_ns"].as_f64().unwrap() / 1e9)
    };
    run["points"].as_array().unwrap().iter().map(of).collect()
}

/// How often a plan is run anew whose points a busy machine held below the throttle, or the edges of whose windows do not fit its slices.
const TRIES: usize = 12;

#[test]
fn a_throttle_of_the_control_group_is_named_at_every_depth_and_by_what_it_limits() {
    let user = User::with_plan(PLAN);
    let Some(device) = Loop::make(&user, 64 << 20) else { return };
    for (limit, most, size, rate) in [("riops", 100, "4KiB", 100.0), ("rbps", 2 << 20, "64KiB", 32.0)] {
        let Some(group) = Throttled::make(&device, limit, most) else { return };
        let line = format!("run plan.toml --on {} --set size={size}", device.node);
        // What the machine has no time to ask for is no limit of the throttle's: only a run at the limit tells.
        let at_the_limit = (0..TRIES).any(|_| {
            Ended::of(&group.within(&user.command(&line)).output().unwrap()).done();
            // The kernel lets requests through by slices of a tenth of a second: one more or less is within the run.
            rates(&user.last()).iter().all(|found| (0.95..1.05).contains(&(found / rate)))
        });
        assert!(
            at_the_limit,
            "{limit}={most}: never reached in {TRIES} runs of {size}: {:?} a second",
            rates(&user.last())
        );
        let told = imposed(&user);
        assert_eq!(told.len(), 3, "{limit}={most}: {told:?}");
        let unit = if limit == "riops" { "requests" } else { "bytes" };
        let wanted = format!("of the {most} {unit} a second that it allows on {} ({limit})", device.name());
        for sentence in &told {
            assert!(sentence.contains(&wanted), "{sentence}");
        }
    }
}

#[test]
fn where_nobody_set_a_limit_none_is_said_to_be_imposed() {
    let user = User::with_plan(PLAN);
    let Some(device) = Loop::make(&user, 64 << 20) else { return };
    // Far above what three short points reach, so that the group is seen and holds nothing.
    let Some(group) = Throttled::make(&device, "riops", 1 << 30) else { return };
    let line = format!("run plan.toml --on {}", device.node);
    Ended::of(&group.within(&user.command(&line)).output().unwrap()).done();
    assert!(imposed(&user).is_empty(), "{:?}", imposed(&user));
    user.fathom(&line).done();
    assert!(imposed(&user).is_empty(), "{:?}", imposed(&user));
}
